"""Keys of providers: where they come from, and how they are kept out of everything that is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

from dga2d.runtime.errors import SettingsError

MASK = "[key]"
SHORTEST_SECRET = 8
"""Shorter keys are placeholders that local servers ask for; hiding them would tear words apart."""

LONGEST_SHOWN_PART = 11
"""Characters of a key in a row that may remain visible, as in providers' own messages (``sk-…1234``)."""


def find_key(
    key_file: str | None, variables: Sequence[str], environment: Mapping[str, str]
) -> SecretStr | None:
    """The key in a file or, without one, in the first variable that is set; ``None`` if there is none.

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
        return _checked(text, f"the file {key_file}")
    for name in variables:
        if value := environment.get(name, "").strip():
            return _checked(value, f"the variable {name}")
    return None


def _checked(text: str, where: str) -> SecretStr:
    """`text` as a key; a message about a bad one must not show it."""
    if re.fullmatch(r"[\x21-\x7e]{1,4096}", text) is None:
        raise SettingsError(f"{where} holds no key: expected one line of printable characters without spaces")
    return SecretStr(text)


def without_key(text: str, key: SecretStr | None) -> str:
    """`text` with the key, and every longer part of it, masked: providers' messages may quote it."""
    secret = "" if key is None else key.get_secret_value()
    if len(secret) < SHORTEST_SECRET:
        return text
    text = text.replace(secret, MASK)
    size = min(len(secret), LONGEST_SHOWN_PART + 1)
    for start in range(len(secret) - size + 1):
        text = text.replace(secret[start : start + size], MASK)
    return text
