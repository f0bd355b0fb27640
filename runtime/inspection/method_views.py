"""What a method of complete programs has found, for people and for JSON."""

from __future__ import annotations

from typing import Any

from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import ProgramRecord


def search_view(state: RunState) -> dict[str, Any] | None:
    """Return population, archive, programs and reflections; ``None`` for a run that evolves pipelines."""
    if state.settings.evolves_pipelines:
        return None
    search = state.search
    programs = sorted(search.programs.values(), key=lambda program: program.number)
    return {
        "method": state.settings.method,
        "population": list(search.population),
        "archive": list(search.archive),
        "nodes": len(search.tree),
        "programs": [_program(state, program) for program in programs],
        "reflections": [
            {"round": r.round, "slot": r.slot, "variation": r.variation, "text": r.text}
            for r in search.reflections
        ],
    }


def _program(state: RunState, program: ProgramRecord) -> dict[str, Any]:
    return {
        "id": program.id,
        "number": program.number,
        "round": program.round,
        "slot": program.slot,
        "variation": program.variation,
        "parents": list(program.parents),
        "gap_percent": None if program.failed else -100.0 * program.score,
        "effort": program.effort,
        "idea": program.idea,
        "description": program.description,
        "is_in_population": program.id in state.search.population,
    }
