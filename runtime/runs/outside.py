"""Settings that reach out of a run: a log of others must not choose them for whoever goes on with it.

They name endpoints, keys and files, spend money, or switch the sandbox off. What this user once named for a
run is noted in the user's own data folder, away from any database; whatever else a log names has to be named
again before it is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from dga2d.events import RunId, canonical_bytes
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError

HARMLESS: Mapping[str, tuple[Any, ...]] = {
    "bank": ("none", "shipped"),
    "evaluators": (),
    "llm": ("offline", "offline:constants", "offline:library"),
    "llm_base_url": (None,),
    "llm_edges": (None, "offline", "offline:constants", "offline:library"),
    "llm_key_file": (None,),
    "llm_others": ((),),
    "policy": ("embedded", "uniform"),
    "sandbox": ("strict", "best-effort"),
}
"""Setting → values that reach nowhere; of `evaluators` all but the name of a cluster."""


def outside_values(settings: RunSettings) -> dict[str, Any]:
    """Return the settings that reach out of a run, with their values."""
    found = {name: getattr(settings, name) for name in HARMLESS}
    return {
        name: value
        for name, value in found.items()
        if (isinstance(value, str) if name == "evaluators" else value not in HARMLESS[name])
    }


def note_chosen(run_id: RunId, state: RunState, settings: RunSettings) -> None:
    """Note that this user named what reaches out of a run; where nothing is kept it is asked for again."""
    if values := outside_values(settings):
        path = _note(run_id, state, values)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)


def refuse_unchosen(run_id: RunId, state: RunState, named: Collection[str] = ()) -> None:
    """Raise if the log of a run names something outside that this user did not, neither now nor earlier.

    `named` are the settings that are given now.

    Raises
    ------
    RunStateError
        It does; says what, and what to do.
    """
    if told := _unchosen(run_id, state, named):
        rows = ", ".join(f"{name} = {value!r}" for name, value in told.items())
        again = " ".join(f"--set {name}=…" for name in told)
        raise RunStateError(
            f"run {run_id}: its log names {rows}, and nothing on this machine shows that you chose that (a "
            f"log of others could send your key elsewhere). Name it again, or something else: {again}"
        )


def without_unchosen(run_id: RunId, state: RunState) -> RunSettings:
    """Return the settings of a run with the sandbox and evaluators of this machine where its log names
    others that this user did not choose; a line of diagnostics says so."""
    safe = {"sandbox": "best-effort", "evaluators": None}
    told = {name: value for name, value in _unchosen(run_id, state, ()).items() if name in safe}
    if told:
        from dga2d.runtime.terminal.diagnostics import logger  # structlog; most runs do without

        logger(run=run_id).warning("what the log names and you did not choose is not used", **told)
    return state.settings.model_copy(update={name: safe[name] for name in told})


def _unchosen(run_id: RunId, state: RunState, named: Collection[str]) -> dict[str, Any]:
    values = outside_values(state.settings)
    told = {name: value for name, value in values.items() if name not in named}
    return told if told and not _note(run_id, state, values).exists() else {}


def _note(run_id: RunId, state: RunState, values: Mapping[str, Any]) -> Path:
    """Return the file whose existence says that these values were chosen for the run."""
    header = state.header.model_dump(mode="json")
    digest = hashlib.sha256(canonical_bytes([run_id, header, dict(values)])).hexdigest()
    return user_data_path("dga2d") / "chosen" / digest
