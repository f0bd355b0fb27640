"""Reads and checks a proposed implementation, up to what can be told without running it."""

from __future__ import annotations

from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.extraction import python_block
from dga2d.agents.proposing.normalisation import normalised_ast_digest
from dga2d.agents.proposing.tasks import ImplementTask
from dga2d.domains.source_rules import check_source

MAX_VIOLATIONS = 10
"""Violations of the source rules named in one diagnostic."""


def parse_implementation(text: str, task: ImplementTask) -> str:
    """The source text of an answer, ending in one line end.

    Raises
    ------
    ProposalError
        ``size``, ``code_block``, ``encoding``, ``no_variation``: see `python_block`; ``syntax``: not
        Python; ``signature``: no ``def run(env_data, state, calc_makespan_fn)``; ``source_rules``:
        another breach of `check_source`; ``duplicate``: runs like an implementation of the pool
        (`normalised_ast_digest`).
    """
    source = python_block(text).strip("\n") + "\n"
    digest = normalised_ast_digest(source)
    _require_source_rules(source)
    for entry in task.pool:
        if normalised_ast_digest(entry.source) == digest:
            raise ProposalError("duplicate", f"the code runs exactly like {entry.id}, which is in the pool")
    return source


def _require_source_rules(source: str) -> None:
    violations = check_source(source)
    if violations:
        stage = violations[0].rule if violations[0].rule in ("syntax", "signature") else "source_rules"
        lines = [f"line {v.line}: {v.message}" if v.line else v.message for v in violations[:MAX_VIOLATIONS]]
        raise ProposalError(stage, "\n".join(lines))
