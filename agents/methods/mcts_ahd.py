"""MCTS-AHD: a tree of programs, searched by UCT with progressive widening.

Every program that runs is a node. Four programs begin the tree; then iterations go down from the root to the
child of the highest UCT value, put in one more child where a node has too few for its visits, and expand the
node they reach by six prompts. Every program is described in a call of its own before it is evaluated, and
prompts show this description: two calls per evaluation.

References
----------
Z. Zheng, Z. Xie, Z. Wang, B. Hooi, "Monte Carlo Tree Search for Comprehensive Exploration in LLM-Based
Automatic Heuristic Design", ICML 2025; the authors' code, zz1358m/MCTS-AHD-master, commit ee9c4f4. What
differs here: `docs/explanation/methods.md`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import NamedTuple

from dga2d.agents.methods.contract import Ask, Plan, Population, Search, Variation, is_seeding
from dga2d.agents.methods.shared import DIGITS, E1, I1, M1, M2, fittest, select_by_rank
from dga2d.events import ImplementationId
from dga2d.events.payloads import TreeNode
from dga2d.replay.state.search_state import ProgramRecord

SIZE = 10
"""Programs of the elite where nothing else is set."""
FIRST = ("i1", "e1", "e1", "e1")
"""Variations that begin the tree."""
EXPANSION = ("e2", "m1", "m1", "m2", "m2", "s1")
"""Variations of the node that an iteration reaches."""
EXPLORATION = 0.1
"""λ₀: weight of exploration at the beginning; it falls to 0 with the calls that are left."""
WIDENING = 0.5
"""α: a node may have as many children as this power of its visits, and those of its expansions."""
MOST_DEPTH = 10
MOST_TRIES, MOST_FIRST_TRIES = 3, 10
"""Evaluations for one child, if all fail; the second for those that begin the tree."""
MOST_SHOWN = 5
"""Programs that e1 is shown."""
ROOT = ""
"""Name of the root in the memory; it is no program."""

Tree = Mapping[ImplementationId, TreeNode]


class Memory(NamedTuple):
    """What the search has to remember between rounds."""

    queue: list[list[str]]
    """Children to be asked for: node and variation."""
    cursor: str
    """Where the descent goes on when the queue is empty."""
    tries: int = 0
    """Evaluations of the first of the queue that failed."""
    is_first: bool = False
    """Whether the queue is that with which the tree begins."""


class TreeOfHeuristics:
    """MCTS-AHD."""

    variations: Mapping[str, Variation] = {
        "i1": I1,
        "e1": Variation(E1.instruction, shows_library=True, shows_scores=True),
        "e2": Variation(
            "The first program is a reference, the second the one to improve. Write a program in the form of "
            "the second that takes over what makes the first one good.",
            shows_scores=True,
        ),
        "m1": M1,
        "m2": M2,
        "s1": Variation(
            "The programs above were written one after the other and are listed from the worst to the best. "
            "Find what helped on the way and write a program that combines it.",
            shows_scores=True,
        ),
        "describe": Variation(
            "Describe in at most three sentences what the program above does and how.", max_words=80
        ),
    }

    def plan(self, search: Search) -> Plan | None:
        memory = _recall(search.memory)
        if search.calls_left < 2 or not memory.queue:
            return None
        node, variation = memory.queue[0]
        ask = Ask(variation, _parents(search, node, variation))
        return Plan("expansion" if node else "root", (ask, Ask("describe", purpose="describe", after=0)))

    def update(self, search: Search) -> Population:
        size = search.size or SIZE
        if is_seeding(search):
            nodes = [p for p in search.latest if not p.failed]
            tree = {p.id: TreeNode(program=p.id, parent=None, value=p.score, visits=1) for p in nodes}
            elite = fittest(nodes, size)
            memory = Memory([[ROOT, variation] for variation in FIRST], ROOT, is_first=True)
            return Population(elite, elite, tuple(tree.values()), json.dumps(memory))
        memory = _recall(search.memory)
        node = memory.queue[0][0]
        new = next((p for p in search.latest if _is_node(search, p, node)), None)
        grown, changed = dict(search.tree), {}
        if new is not None:
            changed = add_child(grown, new.id, ImplementationId(node) if node else None, new.score)
            grown.update(changed)
        elite = search.archive if new is None else fittest([*_records(search, search.archive), new], size)
        memory = _advance(search, grown, memory, is_done=new is not None)
        return Population(elite, elite, tuple(changed.values()), json.dumps(memory))

    def notes(self, search: Search, ask: Ask) -> tuple[str, ...]:
        return ()


def _recall(memory: str) -> Memory:
    return Memory(*json.loads(memory))


def _records(search: Search, names: tuple[ImplementationId, ...]) -> list[ProgramRecord]:
    return [search.programs[name] for name in names]


def _is_node(search: Search, program: ProgramRecord, node: str) -> bool:
    """Return whether a program becomes a node: it runs, and as a child of the root it has another objective
    than those there."""
    if program.failed or program.id in search.tree:
        return False
    if node:
        return True
    known = {round(search.programs[n].score, DIGITS) for n in children_of(search.tree, ROOT)}
    return round(program.score, DIGITS) not in known


def _advance(search: Search, tree: Tree, memory: Memory, *, is_done: bool) -> Memory:
    """Return what is asked for next after the first of the queue was `is_done` or failed."""
    limit = MOST_FIRST_TRIES if memory.is_first else MOST_TRIES
    if not is_done and memory.tries + 1 < limit:
        return memory._replace(tries=memory.tries + 1)
    queue = memory.queue[1:]
    if queue:
        return memory._replace(queue=queue, tries=0)
    share = search.calls_left / max(search.calls_limit, 1)
    scores = [program.score for program in search.programs.values() if program.id in tree]
    return descend(tree, memory.cursor, EXPLORATION * share, scores, search.programs)


# ------------------------------------------------------------ the tree


def children_of(tree: Tree, node: str) -> list[ImplementationId]:
    """Return the children of a node, or of the root, in the order of the tree's map."""
    parent = node or None
    return [name for name, entry in tree.items() if entry.parent == parent]


def add_child(
    tree: Tree, new: ImplementationId, parent: ImplementationId | None, score: float
) -> dict[ImplementationId, TreeNode]:
    """Return the nodes that are new or changed when a program becomes a child of `parent`.

    A new node is worth its score; after that every ancestor, from below, is worth as much as its best child,
    and was visited once more.
    """
    changed = {new: TreeNode(program=new, parent=parent, value=score, visits=1)}
    name = parent
    while name is not None:
        node, known = tree[name], {**tree, **changed}
        best = max(known[child].value for child in children_of(known, name))
        changed[name] = node.model_copy(update={"value": best, "visits": node.visits + 1})
        name = node.parent
    return changed


def path_to(tree: Tree, node: str) -> list[ImplementationId]:
    """Return the nodes from a node up to the root, which is left out."""
    path = []
    name: ImplementationId | None = ImplementationId(node) if node else None
    while name is not None:
        path.append(name)
        name = tree[name].parent
    return path


def uct(
    tree: Tree, child: ImplementationId, parent_visits: int, weight: float, lowest: float, highest: float
) -> float:
    """Return the UCT value of a node: its worth between the `lowest` and the `highest` score of all nodes,
    and `weight` times how little it was visited."""
    node, width = tree[child], highest - lowest
    worth = (node.value - lowest) / width if width > 0.0 else 0.0
    return worth + weight * math.sqrt(math.log(parent_visits + 1) / node.visits)


def descend(
    tree: Tree,
    cursor: str,
    weight: float,
    scores: list[float],
    programs: Mapping[ImplementationId, ProgramRecord],
) -> Memory:
    """Return what is asked for next, going down from `cursor`: one more child of a node that has too few,
    with the place where the descent goes on, or the expansion of the node it ends at."""
    if not tree:
        return Memory([], ROOT)
    lowest, highest = min(scores), max(scores)
    while True:
        children = sorted(children_of(tree, cursor), key=lambda name: programs[name].number)
        if not children or len(path_to(tree, cursor)) >= MOST_DEPTH:
            break
        visits = tree[ImplementationId(cursor)].visits if cursor else len(tree)
        values = {c: uct(tree, c, visits, weight, lowest, highest) for c in children}
        chosen = max(children, key=lambda name: values[name])  # of equal ones the oldest
        if math.floor(visits**WIDENING) > len(children):
            return Memory([[cursor, "e2" if cursor else "e1"]], chosen)
        cursor = chosen
    steps = [v for v in EXPANSION if v != "s1" or len(path_to(tree, cursor)) > 1]
    return Memory([[cursor, variation] for variation in steps], ROOT)


def _parents(search: Search, node: str, variation: str) -> tuple[ImplementationId, ...]:
    """Return the programs that a prompt shows."""
    draws, tree = search.draws(), search.tree
    if variation == "i1":
        return ()
    if variation == "e1":
        tops = sorted(children_of(tree, ROOT), key=lambda name: search.programs[name].number)
        below = [[n for n in sorted(tree) if path_to(tree, n)[-1] == top] for top in tops]
        found = [names[int(draws.integers(len(names)))] for names in below]
        count = int(draws.integers(2, MOST_SHOWN + 1)) if len(found) > 1 else 1
        picked = dict.fromkeys(found[int(i)] for i in draws.integers(len(found), size=count))
        return tuple(picked)
    father = ImplementationId(node)
    if variation == "e2":
        others = [p for p in _records(search, search.archive) if p.id != father]
        return (*(select_by_rank(others, 1, draws) if others else ()), father)
    if variation == "s1":
        path = _records(search, tuple(path_to(tree, node)))
        return tuple(program.id for program in sorted(path, key=lambda p: (p.score, p.number)))
    return (father,)
