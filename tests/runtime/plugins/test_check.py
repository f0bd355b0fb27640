"""What ``domains check`` sees of a domain of a user's own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from tests.runtime.plugins.skeletons import skeleton

from dga2d.agents.ports import EvaluationReply
from dga2d.domains.core.contract import Domain
from dga2d.domains.core.plugins import digest_of
from dga2d.domains.core.registry import get_domain
from dga2d.events.payloads import PositionTrace
from dga2d.runtime.plugins import Finding, check_domain, elsewhere, runs
from dga2d.runtime.plugins.findings import UnsoundError
from dga2d.runtime.runs.config import make_settings


def findings(name: str) -> list[Finding]:
    settings = make_settings({}, {"evaluators": 1})

    async def collect() -> list[Finding]:
        return [finding async for finding in check_domain(name, None, settings)]

    return anyio.run(collect)


RANDOM = "library/random_order.py"
IMPORTS = "import numpy as np"
LINE = "library:random_order.py:"
WRONG: dict[str, list[tuple[str, str, str, str]]] = {
    "the environment has the keys of the card": [
        ("reader.py", '"capacity": int', '"size": int', "the card promises ['capacity']"),
        ("reader.py", "items.values.copy()", "items.values", "the array 'values' is read-only"),
    ],
    "the library is described completely": [
        ("library.toml", '"local_search"', '"searching"', "swap_descent: category 'searching'"),
        ("library.toml", 'source = "folklore"', 'source = ""', "random_order has no source"),
    ],
    "operators obey the source rules": [
        (RANDOM, IMPORTS, f"{IMPORTS}\nimport os", f"{LINE}9: import of os is not allowed"),
        (RANDOM, "TRIES = 5 ", "TRIES = 500 ", f"{LINE}10: TRIES = 500 is outside its range"),
        (RANDOM, "# tunable: int 1..50", "# tunable: 1-50", f"{LINE}10: expected NAME = VALUE"),
    ],
    "baselines are made of the library": [
        (
            "domain.py",
            'BASIC_PIPELINE = ("density_order", "swap_descent")',
            'BASIC_PIPELINE = ("density_order", "annealing")',
            "basic_baseline uses an operator that is not of the basic tier",
        ),
        (
            "domain.py",
            'SAFE_PIPELINE = ("density_order", ',
            'SAFE_PIPELINE = ("annealing", ',
            "safe_baseline: an initialiser belongs at its first place",
        ),
    ],
    "instances can be had and have references": [
        (
            "generator.py",
            "np.random.Philox([n, index])",
            "np.random.Philox()",
            "differs from one time to the next in ['capacity'",
        ),
    ],
    "no split is empty": [
        (
            "generator.py",
            "N_INSTANCES: Final = 10",
            "N_INSTANCES: Final = 2",
            "the validation split is empty",
        ),
    ],
    "no data means no published instances": [
        (
            "domain.py",
            "return list_instances(self.name, data_dir / self.name, SUFFIXES)",
            "return generated_refs()",
            "published() finds instances in an empty folder",
        ),
    ],
}
"""Claim → what is changed (file, old and new text) and the detail of the claim that fails for it."""
CASES = [(claim, row) for claim, rows in WRONG.items() for row in rows]


@pytest.mark.parametrize("case", range(len(CASES)), ids=[row[-1] for _, row in CASES])
def test_the_check_sees_what_a_domain_says_wrongly(own: Path, case: int) -> None:
    claim, (file, old, new, detail) = CASES[case]
    name = f"wrong{case}"
    skeleton(own, name, (file, old, new))
    found = findings(name)
    (failed,) = [finding for finding in found if finding.holds is False]
    assert failed.claim == claim
    assert detail in failed.detail
    assert [finding.holds for finding in found].count(None) == 10


DRAWN = (RANDOM, IMPORTS, f"{IMPORTS}\nfrom parts.draws import drawn")


def test_parts_of_a_plugin_are_in_its_texts_and_its_digest(own: Path) -> None:
    folder = skeleton(own, "partbag", DRAWN)
    part = folder / "library" / "parts" / "draws.py"
    part.parent.mkdir()
    part.write_text("def drawn(n, rng):\n    return rng.permutation(n)\n", encoding="utf-8")
    before = digest_of(folder)
    texts = {
        i.origin: i.source for operator in get_domain("partbag").operators() for i in operator.implementations
    }
    assert "def drawn(n, rng):" in texts["library:random_order.py"]
    assert "parts" not in texts["library:random_order.py"]
    assert "drawn" not in texts["library:swap_descent.py"]
    part.write_text("def drawn(n, rng):\n    return rng.permutation(n)[::-1]\n", encoding="utf-8")
    assert digest_of(folder) != before


def test_the_check_names_file_and_line_of_a_part_that_is_missing(own: Path) -> None:
    folder = skeleton(own, "gapbag", DRAWN)
    failed = [finding for finding in findings("gapbag") if finding.holds is False]
    assert "the library is described completely" in [finding.claim for finding in failed]
    line = f"{folder}/library/random_order.py:9: there is no parts.draws; parts/ holds nothing"
    assert {finding.detail for finding in failed} == {line}


def test_the_program_s_own_domains_say_nothing_wrong(own: Path) -> None:
    from dga2d.runtime.plugins.soundness import SAYS
    from dga2d.runtime.runs.problem import Problem

    problem = Problem.open("tsp", None)
    quick = [examine for claim, examine in SAYS if claim != "instances can be had and have references"]
    assert all(examine(problem) for examine in quick)


def traced(score_after: float, work: int) -> tuple[PositionTrace]:
    return (PositionTrace(score_before=-80.0, score_after=score_after, elapsed_s=0.1, work=work),)


def trial(domain: Domain, operator: str, **changes: Any) -> runs.Tried:
    chosen = next(op for op in domain.operators() if op.id == operator)
    result = EvaluationReply(90.0, None, "", 0.1, 50, traced(-90.0, 50), b'{"sequence": []}')
    again = replace(result, **changes.pop("again", {}))
    first = replace(result, **changes)
    return runs.Tried(chosen, chosen.implementations[0], domain.smoke_instance(), first, again)


WORSE = traced(-70.0, 50)
DEAR = {"trace": traced(-90.0, 51)}
CONTRADICTIONS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "failure": (runs.valid, {"failure": "crashed", "diagnostic": "line 3"}, "crashed: line 3"),
    "broken": (runs.valid, {"trace": traced(999_999_999.0, 50)}, "leaves a broken state"),
    "worse": (runs.never_worse, {"trace": WORSE}, "score -80.0 became -70.0"),
    "other solution": (
        runs.deterministic,
        {"again": {"solution": b"{}"}},
        "two runs with one seed and work budget differ",
    ),
    "other work": (runs.deterministic, {"again": DEAR}, r"charged \[50\] and \[51\] work units"),
    "too good": (runs.unbeaten, {"objective": 101.0}, "beats the optimal reference 100"),
}


@pytest.mark.parametrize(
    ("examine", "changes", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys()
)
def test_the_check_sees_what_operators_do_wrongly(
    own: Path, examine: Any, changes: dict[str, Any], message: str
) -> None:
    skeleton(own, "trialbag")
    domain = get_domain("trialbag")
    assert examine(domain, (trial(domain, "annealing"),))
    with pytest.raises(UnsoundError, match=message):
        examine(domain, (trial(domain, "annealing", **changes),))


def test_a_perturbation_may_worsen(own: Path) -> None:
    skeleton(own, "trialbag2")
    domain = get_domain("trialbag2")
    assert runs.never_worse(domain, (trial(domain, "move_to_front", trace=WORSE),)).startswith("0 runs")


DISAGREEMENTS = {
    "a decoder that lets items occur twice": (
        ("decoder.py", " or seen[item]", ""),
        "the decoder says score .*, the verifier says item . occurs twice",
    ),
    "a verifier that counts the capacity wrongly": (
        ("verifier.py", "weights[item] <= left", "weights[item] < left"),
        "order two solutions otherwise than their objectives do",
    ),
    "a verifier that believes everything of the right length": (
        (
            "verifier.py",
            "    if violation is not None:\n        return",
            "    if violation == '':\n        return",
        ),
        "decoder or verifier raises IndexError",
    ),
    "a decoder that takes a list": (
        ("decoder.py", "type(sequence) is not np.ndarray or sequence.shape", "np.shape(sequence)"),
        "the decoder raises AttributeError when the sequence is a list",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("change", "message"), DISAGREEMENTS.values(), ids=DISAGREEMENTS.keys())
def test_the_check_sees_where_decoder_and_verifier_disagree(
    own: Path, change: tuple[str, str, str], message: str
) -> None:
    name = "differ" + str(list(DISAGREEMENTS.values()).index((change, message)))
    skeleton(own, name, change, ("domain.py", "[6, 5, 5, 4, 3, 2]", "[6, 5, 5, 4, 3, 4]"))
    start = {"sequence": np.arange(6, dtype=np.int32), "metadata": {}}
    place = elsewhere.Place.of(get_domain(name))
    said = "\n".join(elsewhere.examine_decoder(place, None, [start]).contradictions)
    assert re.search(message, said), said


@pytest.mark.slow
def test_the_check_sees_bad_manners(own: Path, tmp_path: Path) -> None:
    skeleton(
        own,
        "rudebag",
        ("library/move_to_front.py", "    state.sequence = np.conc", "    state.sequence[:] = np.conc"),
        (
            "library/random_order.py",
            "        if budget.exhausted():\n            break\n",
            "        budget.exhausted()\n",
        ),
        ("library/random_order.py", "TRIES = 5 ", "TRIES = 50 "),
        (
            "library/density_order.py",
            "    state.sequence",
            '    env_data["weights"][0] = 1\n    state.sequence',
        ),
    )
    place = elsewhere.Place.of(get_domain("rudebag"))
    start = {"sequence": np.arange(6, dtype=np.int32), "metadata": {}}
    outcome = elsewhere.examine_manners(place, start, tmp_path / "cache")
    assert outcome.tried == 6
    said = "\n".join(outcome.contradictions)
    assert "library:density_order.py changes env_data['weights']" in said
    assert "library:move_to_front.py writes into the array it is given" in said
    assert "library:random_order.py goes on after its share is spent" in said
    assert "annealing" not in said
