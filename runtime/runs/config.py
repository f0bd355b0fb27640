"""Settings: the values that a user does not name (presets), and those from a TOML file and from flags.

An unknown key is an error that names the nearest known one. `docs/explanation/method.md` has the presets side
by side, with reasons.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from dga2d.events import fits_64_bits
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.store import LLM_CALLS, LLM_MICROUSD, LLM_TOKENS

PAPER: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "policy": "Qwen/Qwen2.5-0.5B-Instruct",
        "generations": 50,
        "pipelines": 4,
        "batch_size": 3,
        "max_length": 10,
        "credit_rate": 0.1,
        "pool_limit": 10,
        "temperature": 0.7,
        "learning_rate": 1e-4,
        "max_gradient_norm": 1.0,
        "epsilon": 1e-8,
        "failure_reward": -5.0,
        "llm_calls": 500,
        "validation_interval": 5,
        "beam_width": 4,
        "time_limit": 90.0,
        # one edit of either kind in a generation, asked for by credit alone
        "edits_per_generation": 1,
        "edit_lag": 0,
        "edit_scope": "graph",
        "edge_edit": "replace",
        "min_samples": 0,
        "trial_samples": 0,
        "last_edits": True,
        "no_change": False,
        "configurations": False,
        "near_copy_lines": 0,
        "incumbent_edits": 0,
        "gate_instances": 0,
        "call_plan": "fixed",
        "prompt_edition": 1,
        "bank_examples": 0,
        "bank_operators": 0,
        "answers_per_edit": 1,
        "edge_smoke": False,
        "new_operators": 0,
        "kernels": "off",
        "turns": 1,
        "answer_form": "whole",
        "rejection_limit": 0,
        "race_contenders": 0,
        "policy_focus": 0.0,
        "policy_entropy": 0.0,
        "policy_replay": 0.0,
        # the highest mean of the beam on the complete validation split
        "checkpoint_margin": 0.0,
        "validation_instances": None,
    }
)
"""Table of hyperparameters in Appendix E.1 of the paper, and what its text says of the rest."""
DEFAULT: Final[Mapping[str, Any]] = MappingProxyType(
    {
        # calls go where the best program is, and only where they can be seen to help
        "edit_scope": "walks",
        "min_samples": 3,
        "trial_samples": 1,
        "last_edits": False,
        "no_change": True,
        "no_change_rest": 3,
        "configurations": True,
        "near_copy_lines": 3,
        "incumbent_edits": 2,
        "gate_instances": 8,
        "gate_patience": 1.0,
        "gate_rivals": "edit",
        "prompt_edition": 10,
        "prompt_tokens": 24_000,
        "bank_operators": 4,
        "edge_smoke": True,
        "race_contenders": 12,
        "race_error": 0.5,
        "race_returns": 2,
        "race_credit": "ahead",
        "race_behind": "stay",
        "race_ties": True,
        "race_evidence": True,
        "race_memory": 4,
        "race_shrinkage": 8.0,
        "race_blocks": 2,
        "race_drops": 1,
        "race_assemblies": 1,
        "race_children": 6,
        "race_opening": 20,
        "solved_share": 0.25,
        "screen_functions": 3,
        "screen_instances": 8,
        "screen_interval": 4,
        "screen_levels": 3,
        "screen_patience": 3,
        "screen_stretch": 3.0,
        "race_substitutes": 1,
        "share_effort": 0.05,
        "policy_focus": 0.6,
        "checkpoint_rule": "pooled",
        "validation_instances": 33,
        "last_validation": 2,
        "checkpoint_unit": "instance",
        "checkpoint_against": "baseline",
        "error_spending": "late",
        "checkpoint_test": "joint",
        "checkpoint_family": "run",
        "beam_width": 1,
        # equal work is equal time on large instances, and with other constants
        "work_by_size": True,
        "calibrate_constants": True,
        "call_costs": True,
    }
)
"""What did better in short runs, and what makes equal work equal time (``docs/explanation/method.md``); not
ablated one by one yet."""
PRESETS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {"default": DEFAULT, "paper": PAPER, "none": MappingProxyType({})}
)


def read_settings_file(path: Path) -> dict[str, Any]:
    """Return the keys and values of a settings file.

    Raises
    ------
    SettingsError
        The file is missing, is not UTF-8 text or not TOML, or holds an unknown key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not text (byte {error.start} is not UTF-8)") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: {error}") from error
    for key in values:
        check_key(key, str(path))
    return values


_WORK = frozenset({"work", "work_seconds"})


def make_settings(
    file_values: Mapping[str, Any],
    flag_values: Mapping[str, Any],
    domain_values: Mapping[str, Any] = MappingProxyType({}),
) -> RunSettings:
    """Return the effective settings: flags win over the file, the file over the domain's own defaults, these
    over the preset that is named, or over the preset ``default``.

    Raises
    ------
    SettingsError
        A value is out of range, of the wrong type, or too large for a log.
    """
    given = {**file_values, **{k: v for k, v in flag_values.items() if v is not None}}
    given = {"preset": "default", **given}
    if given.keys() & {"time_limit", *_WORK}:  # in place of the domain's
        domain_values = {key: value for key, value in domain_values.items() if key not in _WORK}
    given = {**PRESETS.get(str(given["preset"]), {}), **domain_values, **given}
    try:
        settings = RunSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # settings that do not go together
            raise SettingsError(f"settings: {first['msg'].removeprefix('Value error, ')}") from error
        name = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"setting {name} = {first['input']!r}: {first['msg']}") from error
    for name, value in settings:
        if isinstance(value, int) and not fits_64_bits(value):
            raise SettingsError(f"setting {name} = {value}: does not fit in 64 bits")
    _check_method(settings)
    return settings


def _check_method(settings: RunSettings) -> None:
    """Raise SettingsError if there is no such method."""
    if settings.evolves_pipelines:
        return
    from dga2d.agents.methods import MethodError, get_method  # runs of dga2d do without

    try:
        get_method(settings.method)
    except MethodError as error:
        raise SettingsError(f"setting {error}") from error


def parse_assignments(assignments: list[str]) -> dict[str, Any]:
    """Return the settings of ``key=value`` flags (``--set``), values in TOML notation or plain text.

    Raises
    ------
    SettingsError
        An item has no ``=`` or names an unknown key.
    """
    values: dict[str, Any] = {}
    for item in assignments:
        key, separator, text = item.partition("=")
        if not separator:
            raise SettingsError(f"--set {item!r}: expected key=value")
        check_key(key.strip(), "--set")
        try:
            values[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            values[key.strip()] = text.strip()
    return values


def check_key(key: str, where: str) -> None:
    """Raise SettingsError, which names the nearest one, if there is no setting `key`."""
    known = list(RunSettings.model_fields)
    if key in known:
        return
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known settings: {', '.join(known)}"
    raise SettingsError(f"{where}: unknown setting {key!r}{hint}")


def call_quotas(settings: RunSettings) -> dict[str, int]:
    """Return what the store lets language-model calls use, by kind; no entry is no limit."""
    limits = {
        LLM_CALLS: settings.llm_calls,
        LLM_TOKENS: settings.llm_tokens,
        LLM_MICROUSD: settings.llm_microusd,
    }
    return {kind: amount for kind, amount in limits.items() if amount is not None}
