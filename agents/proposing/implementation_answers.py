"""Reads and checks a proposed implementation, up to what can be told without running it."""

from __future__ import annotations

import ast

from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.extraction import python_block
from dga2d.agents.proposing.normalisation import normalised_ast_digest, parsed
from dga2d.agents.proposing.tasks import ImplementTask

PARAMETERS = ("env_data", "state", "calc_makespan_fn")


def parse_implementation(text: str, task: ImplementTask) -> str:
    """The source text of an answer, ending in one line end.

    Raises
    ------
    ProposalError
        ``size``, ``code_block``, ``encoding``, ``no_variation``: see `python_block`; ``syntax``: not
        Python; ``signature``: no ``def run(env_data, state, calc_makespan_fn)``; ``duplicate``: runs
        like an implementation of the pool (`normalised_ast_digest`).
    """
    source = python_block(text).strip("\n") + "\n"
    _require_signature(parsed(source))
    digest = normalised_ast_digest(source)
    for entry in task.pool:
        if normalised_ast_digest(entry.source) == digest:
            raise ProposalError("duplicate", f"the code runs exactly like {entry.id}, which is in the pool")
    return source


def _require_signature(tree: ast.Module) -> None:
    wanted = f"def run({', '.join(PARAMETERS)})"
    runs = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "run"]
    if len(runs) != 1:
        raise ProposalError("signature", f"expected one top-level {wanted}, found {len(runs)}")
    run = runs[0]
    names = tuple(arg.arg for arg in run.args.args)
    extra = (run.args.vararg, run.args.kwarg, *run.args.posonlyargs, *run.args.kwonlyargs, *run.args.defaults)
    if names != PARAMETERS or any(extra):
        raise ProposalError("signature", f"run must be declared exactly as {wanted}")
    if run.decorator_list:
        raise ProposalError("signature", "run must not be decorated; decorate the functions it calls")
