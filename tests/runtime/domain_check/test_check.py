"""What ``domains check`` sees of a domain of a user's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from tests.runtime.domain_check.skeletons import half_edited, skeleton

from dga2d.domains.claims import OPERATOR_CLAIMS, Examination, Trial, TrialOutcome, examine
from dga2d.domains.core.contract import Domain, State
from dga2d.domains.core.plugins import digest_of
from dga2d.domains.core.registry import get_domain
from dga2d.domains.execution import PositionEffect
from dga2d.runtime.domain_check import Finding, check_descriptions, check_domain
from dga2d.runtime.domain_check.trials import Arrays, DomainAddress, examine_scoring, misconduct
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.problem import Problem


def described(name: str) -> list[Finding]:
    return list(check_descriptions(Problem.open(name, None)))


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
        ("reader.py", '"capacity": int', '"budget": int', "has ['budget'], under which operators find"),
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
            'basic_pipeline = ("density_order", "swap_descent")',
            'basic_pipeline = ("density_order", "annealing")',
            "basic_baseline uses an operator that is not of the basic tier",
        ),
        (
            "domain.py",
            'safe_pipeline = ("density_order", ',
            'safe_pipeline = ("annealing", ',
            "safe_baseline: an initialiser belongs at its first place",
        ),
    ],
    "instances can be had, twice alike": [
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
            "    def smoke_instance",
            "    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:\n"
            "        return generated_refs()\n\n    def smoke_instance",
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
    (failed,) = [finding for finding in described(name) if finding.holds is False]
    assert failed.claim == claim
    assert detail in failed.detail


def test_everything_that_contradicts_a_claim_is_said_at_once(own: Path) -> None:
    skeleton(
        own,
        "manybag",
        ("library.toml", '"local_search"', '"searching"'),
        ("library.toml", 'source = "folklore"', 'source = ""'),
        (RANDOM, IMPORTS, f"{IMPORTS}\nimport os\nimport sys"),
    )
    failed = {finding.claim: finding.contradictions for finding in described("manybag") if not finding.holds}
    library = failed["the library is described completely"]
    assert "random_order has no source" in library
    assert any("swap_descent: category 'searching'" in said for said in library)
    assert len(failed["operators obey the source rules"]) == 2


def test_without_what_they_need_claims_are_not_tried(own: Path) -> None:
    skeleton(own, "emptybag", ("library.toml", 'source = "folklore"', 'source = ""'))
    found = findings("emptybag")
    assert [finding.claim for finding in found if finding.holds is False] == [
        "the library is described completely"
    ]
    assert [finding.holds for finding in found].count(None) == 14
    assert found[-1].detail.startswith("not tried")


@pytest.mark.slow
def test_what_is_left_of_the_skeleton_is_named(own: Path) -> None:
    """Another problem's data, and everything that knows the knapsack left as it was."""
    half_edited(own, "halfbag")
    failed = {finding.claim: finding.contradictions for finding in findings("halfbag") if not finding.holds}
    left = "\n".join(failed["nothing of the skeleton's problem is left"])
    for part in ("picture.py", "cp_sat.py", "library/annealing.py", "library/density_order.py", "'title'"):
        assert part in left
    assert "density_order" in failed["operators give valid solutions"][0]
    assert "safe baseline" in failed["baselines solve their instances"][0]
    assert re.search(r"picture .* KeyError: 'values' .*picture\.py:\d+", failed["a picture can be drawn"][0])
    assert re.search(r"OR-Tools .* 'values' .*cp_sat\.py:\d+", failed["OR-Tools gives solutions"][0])
    assert not any("Traceback" in said for contradictions in failed.values() for said in contradictions)


def test_a_skeleton_without_picture_and_model_describes_itself(own: Path) -> None:
    folder = skeleton(own, "plainbag")
    (folder / "picture.py").unlink()
    (folder / "cp_sat.py").unlink()
    assert {finding.holds for finding in described("plainbag")} == {True}


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
    failed = [finding for finding in described("gapbag") if finding.holds is False]
    assert "the library is described completely" in [finding.claim for finding in failed]
    line = f"{folder}/library/random_order.py:9: there is no parts.draws; parts/ holds nothing"
    assert {finding.detail for finding in failed} == {line}


def trial(domain: Domain, operator: str, first: dict[str, Any], again: dict[str, Any]) -> Trial:
    chosen = next(op for op in domain.operators() if op.id == operator)
    good = TrialOutcome(None, 90.0, State(np.arange(6, dtype=np.int32)), traced(-90.0, 50))
    outcomes = replace(good, **first), replace(good, **again)
    return Trial(chosen, chosen.implementations[0], domain.smoke_instance(), *outcomes)


def traced(score_after: float, work: int) -> tuple[PositionEffect]:
    return (PositionEffect(score_before=-80.0, score_after=score_after, elapsed_s=0.1, work=work),)


def tried(domain: Domain, title: str, trials: Sequence[Trial]) -> Examination:
    (check,) = [claim.check for claim in OPERATOR_CLAIMS if claim.title == title]
    return examine(check, domain, trials)


VALID = "operators give valid solutions"
NEVER_WORSE = "operators never worsen a solution"
REPEATABLE = "operators are deterministic under a work budget"
WORSE = {"trace": traced(-70.0, 50)}
FAILED = {"failure": "crashed: line 3", "objective": None, "solution": None, "trace": ()}
CONTRADICTIONS: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "failure": (VALID, FAILED, FAILED, "crashed: line 3 (2 runs fail like this)"),
    "broken": (VALID, {"trace": traced(999_999_999.0, 50)}, {}, "leaves a broken state"),
    "worse": (NEVER_WORSE, WORSE, WORSE, "score -80.0 became -70.0"),
    "other solution": (
        REPEATABLE,
        {},
        {"solution": State(np.arange(6, dtype=np.int32)[::-1])},
        "two runs with one seed and work budget differ",
    ),
    "other work": (REPEATABLE, {}, {"trace": traced(-90.0, 51)}, "charged [50] and [51] work units"),
    "too good": (
        "no solution beats an optimal reference",
        {"objective": 101.0},
        {},
        "objective 101 beats the optimal reference 100",
    ),
}


@pytest.mark.parametrize(
    ("title", "first", "again", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys()
)
def test_the_check_sees_what_operators_do_wrongly(
    own: Path, title: str, first: dict[str, Any], again: dict[str, Any], message: str
) -> None:
    skeleton(own, "trialbag")
    domain = get_domain("trialbag")
    assert tried(domain, title, [trial(domain, "annealing", {}, {})]).contradictions == ()
    (said,) = tried(domain, title, [trial(domain, "annealing", first, again)]).contradictions
    assert message in said
    assert said.startswith("library:annealing.py on smoke/six")


def test_a_perturbation_may_worsen(own: Path) -> None:
    skeleton(own, "trialbag2")
    domain = get_domain("trialbag2")
    seen = tried(domain, NEVER_WORSE, [trial(domain, "move_to_front", WORSE, WORSE)])
    assert seen == Examination("0 runs of operators that improve", ())


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
        "decoder or verifier raises .*IndexError",
    ),
    "a decoder that takes a list": (
        (
            "decoder.py",
            "int32_array(state.sequence, (size,), size)",
            "state.sequence if np.shape(state.sequence) == (size,) else None",
        ),
        r"the decoder raises TypingError: .* when the sequence is a list",
    ),
    "a decoder that keeps no copies": (
        (
            "decoder.py",
            '(np.array(environment[key], dtype=np.int64) for key in ("values", "weights"))',
            '(environment[key] for key in ("values", "weights"))',
        ),
        "writing into the environment's arrays changes the decoder's scores",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("change", "message"), DISAGREEMENTS.values(), ids=DISAGREEMENTS.keys())
def test_the_check_sees_where_decoder_and_verifier_disagree(
    own: Path, change: tuple[str, str, str], message: str
) -> None:
    name = "differ" + str(list(DISAGREEMENTS.values()).index((change, message)))
    skeleton(own, name, change, ("domain.py", "[6, 5, 5, 4, 3, 2]", "[6, 5, 5, 4, 3, 4]"))
    start: Arrays = (np.arange(6, dtype=np.int32), {})
    said = "\n".join(examine_scoring(DomainAddress.of(get_domain(name)), None, [start]).contradictions)
    assert re.search(message, said), said


@pytest.mark.slow
def test_the_check_sees_misconduct_in_the_sandbox(own: Path, tmp_path: Path) -> None:
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
            "library/swap_descent.py",
            "    state.sequence",
            '    env_data["weights"][0] = 1\n    state.sequence',
        ),
    )
    domain = get_domain("rudebag")

    async def watch() -> Examination:
        async with EvaluatorPool("rudebag", workers=1, cache_dir=tmp_path / "cache") as pool:
            return await misconduct(pool, domain, domain.operators())

    seen = anyio.run(watch)
    assert seen.tried == "6 implementations"
    said = "\n".join(seen.contradictions)
    assert "library:swap_descent.py changes env_data['weights']" in said
    assert "library:move_to_front.py writes into the array it is given" in said
    assert "library:random_order.py goes on after its share is spent" in said
    assert "annealing" not in said
