"""Which endpoint a run's settings name, with which key, and how the key stays out of what is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
from pydantic import SecretStr

from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.protocols import AnthropicMessages, ChatProtocol, OpenAIChat

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

    def without_key(self, text: str) -> str:
        """Return `text` with the endpoint's key masked."""
        return without_key(text, self.key)


def endpoint_of(settings: RunSettings, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint of ``openai:MODEL`` or ``anthropic:MODEL``.

    Raises
    ------
    SettingsError
        The model has no name, the URL is invalid or has credentials, or a provider's own endpoint has no key.
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
    """Return a base URL without its last slash; what is wrong with one is said without showing it."""
    try:
        url = httpx.URL(text)
        host = url.host
    except (httpx.InvalidURL, UnicodeError):  # the latter for hosts that only look like encoded names
        raise SettingsError("setting llm_base_url: is not a URL") from None
    if url.scheme not in ("http", "https") or not host:
        raise SettingsError("setting llm_base_url: expected http://HOST… or https://HOST…")
    if url.userinfo or url.query or url.fragment:
        raise SettingsError(
            "setting llm_base_url: must not hold a name, a password or a query, because it is recorded; "
            f"a key belongs into {KEY_VARIABLE} or a file"
        )
    return text.rstrip("/")


def _length_field(base_url: str) -> str:
    """Return the field that limits an answer; OpenAI's newer models refuse the one that all others know."""
    return "max_completion_tokens" if httpx.URL(base_url).host == "api.openai.com" else "max_tokens"


MASK = "[key]"
SHORTEST_SECRET = 8
"""Shorter keys are placeholders that local servers ask for; hiding them would tear words apart."""

LONGEST_SHOWN_PART = 11
"""Characters of a key in a row that may remain visible, as in providers' own messages (``sk-…1234``)."""


def find_key(
    key_file: str | None, variables: Sequence[str], environment: Mapping[str, str]
) -> SecretStr | None:
    """Return the key in a file or, without one, in the first variable that is set; ``None`` if there is none.

    Raises
    ------
    SettingsError
        The file cannot be read, or what was found is not one line of printable ASCII characters.
    """
    if key_file is not None:
        try:
            text = Path(key_file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "is not text"
            raise SettingsError(f"setting llm_key_file: {key_file}: {reason}") from None
        return _check_key(text, f"the file {key_file}")
    for name in variables:
        if value := environment.get(name, "").strip():
            return _check_key(value, f"the variable {name}")
    return None


def _check_key(text: str, where: str) -> SecretStr:
    """Return `text` as a key; a message about a bad one must not show it."""
    if re.fullmatch(r"[\x21-\x7e]{1,4096}", text) is None:
        raise SettingsError(f"{where} holds no key: expected one line of printable characters without spaces")
    return SecretStr(text)


def without_key(text: str, key: SecretStr | None) -> str:
    """Return `text` with the key, and every longer part of it, masked: providers' messages may quote it."""
    secret = "" if key is None else key.get_secret_value()
    if len(secret) < SHORTEST_SECRET:
        return text
    text = text.replace(secret, MASK)
    size = min(len(secret), LONGEST_SHOWN_PART + 1)
    for start in range(len(secret) - size + 1):
        text = text.replace(secret[start : start + size], MASK)
    return text
