"""Opens the language model that a run's settings name."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from dga2d.agents.model_choice import models_of
from dga2d.agents.proposing.models import LanguageModel, ModelPool, Models
from dga2d.agents.proposing.offline import OFFLINE_WAYS, OfflineModel
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.retries import OutageListener, RetryPolicy

BACKENDS = (
    f"{', '.join(OFFLINE_WAYS)}, openai:MODEL, anthropic:MODEL, local:PATH, recorded:RUN, recorded:FILE, "
    "or one of the last two with ,match=task, ,then= and another of these, or both in this order"
)


@asynccontextmanager
async def open_models(
    settings: RunSettings, store_url: str, listener: OutageListener
) -> AsyncIterator[Models]:
    """Open all models that the settings name, until the block ends; several make a pool. Raises
    as `open_model`."""
    async with AsyncExitStack() as stack:
        models = {
            name: await stack.enter_async_context(
                open_model(settings.model_copy(update={"llm": name}), store_url, listener)
            )
            for name in models_of(settings)
        }
        yield ModelPool(models) if len(models) > 1 else models[settings.llm]


@asynccontextmanager
async def open_model(
    settings: RunSettings,
    store_url: str,
    listener: OutageListener,
    environment: Mapping[str, str] | None = None,
    retry_policy: RetryPolicy | None = None,
) -> AsyncIterator[LanguageModel]:
    """Open the model named by ``settings.llm`` until the block ends.

    Parameters
    ----------
    store_url
        Database in which a recorded run is looked up.
    listener
        Records when an endpoint goes down and comes back.
    environment
        Where keys are looked up; the process's own if ``None``.
    retry_policy
        How long to wait for an endpoint; by the settings if ``None``.

    Raises
    ------
    SettingsError
        There is no such backend, or it lacks something; before anything is sent.
    """
    kind, _, rest = settings.llm.partition(":")
    if settings.llm_microusd is not None and kind in ("openai", "anthropic"):
        _require_prices(settings)
    if settings.llm in OFFLINE_WAYS:
        yield OfflineModel(settings.llm)
    elif kind in ("openai", "anthropic"):
        from dga2d.runtime.gateway.endpoint import endpoint_of
        from dga2d.runtime.gateway.remote import open_remote

        endpoint = endpoint_of(settings, os.environ if environment is None else environment)
        policy = retry_policy or RetryPolicy(settings.llm_outage_limit)
        async with open_remote(endpoint, settings, policy, listener) as model:
            yield model
    elif kind == "local" and rest:
        from dga2d.runtime.gateway.local import LocalModel

        yield LocalModel(settings, rest)
    elif kind == "recorded" and rest:
        from dga2d.runtime.gateway.recorded import FALLBACK, MATCH, RecordedModel, read_recording

        named, has_fallback, other = rest.partition(FALLBACK)
        source, matches, by = named.partition(MATCH)
        if matches and by != "task":
            raise SettingsError(f"setting llm = {settings.llm!r}: expected match=task, got match={by}")
        recording = await read_recording(store_url, source)
        if not has_fallback:
            yield RecordedModel(recording, matches_tasks=bool(matches))
            return
        next_settings = settings.model_copy(update={"llm": other})
        async with open_model(next_settings, store_url, listener, environment, retry_policy) as fallback:
            yield RecordedModel(recording, fallback, matches_tasks=bool(matches))
    else:
        raise SettingsError(f"setting llm = {settings.llm!r}: expected {BACKENDS}")


def _require_prices(settings: RunSettings) -> None:
    if not settings.llm_price_prompt and not settings.llm_price_answer:
        raise SettingsError(
            "setting llm_money_usd needs prices: set llm_price_prompt and llm_price_answer (US dollars per "
            "million tokens), or limit llm_tokens instead"
        )
