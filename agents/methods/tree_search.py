"""Tree search over complete programs: nodes are programs, edges rewrite one component.

In the manner that the paper ascribes to A2DEPT: from the library's own program down, the node to rewrite is
chosen by UCT over the best improvement below it; one component of it is rewritten, the others stay. One call
per program. What is not said there, how many rewrites a node gets before its children are preferred, is a
power of its visits.

References
----------
L. Kocsis, C. Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006 (UCT). R. Coulom, "Computing Elo
ratings of move patterns in the game of Go", ICGA Journal 2007 (progressive widening).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from dga2d.agents.methods.contract import Ask, Plan, Population, Search, Variation
from dga2d.agents.methods.mcts_ahd import ROOT, children_of
from dga2d.agents.methods.shared import fittest
from dga2d.events import ImplementationId
from dga2d.events.payloads import TreeNode

SIZE = 10
"""Programs that are validated, where nothing else is set."""
EXPLORATION = 0.5
"""Weight of exploration in UCT, where values lie between 0 and 1."""
WIDENING = 0.5
"""A node is rewritten again while it has fewer children than this power of its visits."""
_KEEP = "Leave all other parts of it as they are."
COMPONENTS = {
    "construction": "Rewrite how the program above constructs its first solution.",
    "neighbourhood": "Rewrite the moves by which the program above improves a solution.",
    "acceptance": "Rewrite when the program above accepts a changed solution and how it goes on.",
    "perturbation": "Rewrite how the program above leaves local optima; give it a way if it has none.",
    "allocation": "Rewrite how the program above shares its time over its phases.",
}
"""Component → what a rewrite of it is asked for."""


class ProgramTreeSearch:
    """UCT over complete programs."""

    variations: Mapping[str, Variation] = {
        name: Variation(f"{text} {_KEEP}", shows_library=True) for name, text in COMPONENTS.items()
    }

    def plan(self, search: Search) -> Plan | None:
        if not search.tree:
            return None
        names, draws = list(COMPONENTS), search.draws()
        node = chosen_node(search)
        tried = [search.programs[child].variation for child in children_of(search.tree, node)]
        fewest = min(tried.count(name) for name in names)
        waiting = [name for name in names if tried.count(name) == fewest]
        return Plan("rewrite", (Ask(waiting[int(draws.integers(len(waiting)))], (node,)),))

    def update(self, search: Search) -> Population:
        tree, changed = dict(search.tree), dict[ImplementationId, TreeNode]()
        for program in search.latest:
            if program.failed or program.id in tree:
                # a rewrite that fails is a visit that brought nothing
                for name in _upwards(tree, program.parents[:1]):
                    node = tree[name]
                    changed[name] = tree[name] = node.model_copy(update={"visits": node.visits + 1})
                continue
            parent = program.parents[0] if program.parents else None
            new = TreeNode(program=program.id, parent=parent, value=program.score, visits=1)
            changed[program.id] = tree[program.id] = new
            for name in _upwards(tree, program.parents[:1]):
                node = tree[name]
                best = max(node.value, program.score)
                changed[name] = tree[name] = node.model_copy(
                    update={"visits": node.visits + 1, "value": best}
                )
        size = search.size or SIZE
        return Population(fittest((*search.members, *search.latest), size), nodes=tuple(changed.values()))

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        return ()


def _upwards(
    tree: Mapping[ImplementationId, TreeNode], start: tuple[ImplementationId, ...]
) -> list[ImplementationId]:
    """Return a node and those above it."""
    path = []
    name = start[0] if start else None
    while name is not None:
        path.append(name)
        name = tree[name].parent
    return path


def chosen_node(search: Search) -> ImplementationId:
    """Return the node to be rewritten: down from the root by UCT to the first with room for a child."""
    tree, programs = search.tree, search.programs
    scores = [programs[name].score for name in tree]
    lowest, width = min(scores), max(scores) - min(scores)

    def value(name: ImplementationId, visits: int) -> float:
        node = tree[name]
        worth = (node.value - lowest) / width if width > 0.0 else 0.0
        return worth + EXPLORATION * math.sqrt(math.log(visits + 1) / node.visits)

    def best_of(names: list[ImplementationId], visits: int) -> ImplementationId:
        order = sorted(names, key=lambda name: programs[name].number)
        return max(order, key=lambda name: value(name, visits))

    node = best_of(children_of(tree, ROOT), sum(tree[name].visits for name in children_of(tree, ROOT)))
    while children := children_of(tree, node):
        if len(children) < math.floor(tree[node].visits ** WIDENING):
            break
        node = best_of(children, tree[node].visits)
    return node
