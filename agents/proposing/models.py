"""The port to a language model: one request, one completed answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dga2d.agents.proposing.prompts import Prompt
from dga2d.agents.proposing.tasks import Task


@dataclass(frozen=True)
class CompletionRequest:
    """A call that has already been charged."""

    prompt: Prompt
    task: Task
    """What the prompt was rendered from; a remote model sees only the text."""
    seed: tuple[int, ...]
    """``(run seed, *spawn key)`` of the call's random stream."""
    subject: str = ""
    """What the call is for, as the ledger names it, e.g. ``implement/3/0``."""


@dataclass(frozen=True)
class Quote:
    """The most a call can use; held from the reservation on until what it did use is known."""

    tokens: int
    """Prompt and answer together."""
    cost_usd: float
    model: str = ""
    """Who answers, where a source of answers passes the request on; empty for itself."""


@dataclass(frozen=True)
class Completion:
    """An answer and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool
    """The token counts are ours, not the provider's."""
    cost_usd: float
    reasoning: str = ""
    """What the model wrote before its answer; kept, never parsed."""
    refused_attempts: int = 0
    """Attempts the endpoint did not accept before this one."""
    response_id: str | None = None
    """The provider's own name of the answer; ``None`` when it gave none."""


@dataclass(frozen=True)
class ModelPool:
    """Several models by the names that settings have for them; a caller takes one of them for each call."""

    models: Mapping[str, LanguageModel]

    @property
    def name(self) -> str:
        """All their names."""
        return ", ".join(model.name for model in self.models.values())


class LanguageModel(Protocol):
    """A source of answers. All methods may be awaited many times at once; cancellation is re-raised.

    A caller first waits for `ready`, then reserves what `quote` says, and only then asks for the answer.
    """

    @property
    def name(self) -> str:
        """How reports and ledgers name the model, e.g. ``openai:gpt-x`` or ``offline``."""
        ...

    async def ready(self) -> None:
        """Return when a call has a chance: at once, or when an endpoint that did not work is back.

        Raises
        ------
        ModelUnavailableError
            It did not come back within the time set for that.
        """
        ...

    def quote(self, request: CompletionRequest) -> Quote:
        """Return the most `request` can use; what `complete` reports is never above."""
        ...

    async def complete(self, request: CompletionRequest) -> Completion:
        """Return the answer to one call.

        At most one request that may be charged for is sent; attempts that the endpoint did not accept
        (no connection, too many requests, temporarily unavailable) are repeated. Never deduplicated.

        Raises
        ------
        CallLostError
            The request may have been charged for and there is no usable answer.
        ModelUnavailableError
            No call can succeed until somebody acts, or the endpoint did not come back in time.
        """
        ...


Models = LanguageModel | ModelPool
"""What a run asks: one model, or one of several."""
