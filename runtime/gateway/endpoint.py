"""Which endpoint a run's settings name, and with which key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from pydantic import SecretStr

from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.anthropic_messages import AnthropicMessages
from dga2d.runtime.gateway.chat import ChatProtocol
from dga2d.runtime.gateway.keys import find_key
from dga2d.runtime.gateway.openai_chat import OpenAIChat

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com/v1"
KEY_VARIABLE = "DGA2D_LLM_KEY"


@dataclass(frozen=True)
class Endpoint:
    """A model behind a URL; its representation hides the key."""

    protocol: ChatProtocol
    name: str
    """As the settings name it, e.g. ``openai:MODEL``."""
    model: str
    base_url: str
    key: SecretStr | None

    @property
    def place(self) -> str:
        """Host and port, for messages."""
        return httpx.URL(self.base_url).netloc.decode()


def endpoint_of(settings: RunSettings, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint of ``openai:MODEL`` or ``anthropic:MODEL``.

    Raises
    ------
    SettingsError
        The model has no name, the URL is none or holds credentials, or a provider's own endpoint lacks a key.
    """
    kind, _, model = settings.llm.partition(":")
    if not model:
        raise SettingsError(f"setting llm = {settings.llm!r}: name a model, as in {kind}:MODEL")
    is_openai = kind == "openai"
    own_url, own_variable = (
        (OPENAI_URL, "OPENAI_API_KEY") if is_openai else (ANTHROPIC_URL, "ANTHROPIC_API_KEY")
    )
    base_url = _checked_url(settings.llm_base_url or own_url)
    key = find_key(settings.llm_key_file, (KEY_VARIABLE, own_variable), environment)
    if key is None and settings.llm_base_url is None:
        raise SettingsError(
            f"setting llm = {settings.llm!r} needs a key: set {own_variable} or {KEY_VARIABLE}, "
            "or name a file with --llm-key-file"
        )
    protocol = OpenAIChat(_length_field(base_url)) if is_openai else AnthropicMessages()
    return Endpoint(protocol, settings.llm, model, base_url, key)


def _checked_url(text: str) -> str:
    """A base URL without its last slash; what is wrong with one is said without showing it."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        raise SettingsError("setting llm_base_url: is not a URL") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise SettingsError("setting llm_base_url: expected http://HOST… or https://HOST…")
    if url.userinfo or url.query or url.fragment:
        raise SettingsError(
            "setting llm_base_url: must not hold a name, a password or a query, because it is recorded; "
            f"a key belongs into {KEY_VARIABLE} or a file"
        )
    return text.rstrip("/")


def _length_field(base_url: str) -> str:
    """OpenAI's own newer models refuse the field that all others know."""
    return "max_completion_tokens" if httpx.URL(base_url).host == "api.openai.com" else "max_tokens"
