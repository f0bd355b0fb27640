"""The prompt of the pipeline policy: our wording of the paper's Template II (Appendix C.2)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from dga2d.agents.policy.aliases import AliasPool
from dga2d.agents.policy.contract import PolicyContext

TEMPLATE = "context_v1.txt"
"""Versioned: a change of wording is a new file, because recorded updates depend on it."""


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8").rstrip())


def render_prompt(context: PolicyContext, aliases: AliasPool) -> str:
    """Text before the first alias of a walk; depends on the operators of the graph, not on its edges.

    Raises
    ------
    PolicyContextError
        The graph has more operators than there are aliases.
    """
    assigned = aliases.assign(context.graph.operators)
    rows = [
        f"{aliases.words[index]} {context.titles.get(operator, operator)}"
        for operator, index in assigned.items()
    ]
    return _template().substitute(
        domain_summary=context.domain_summary.strip(),
        instance_summary=context.instance_summary.strip(),
        aliases="\n".join(rows),
        max_length=context.max_length,
    )
