"""What a run achieved: figures with intervals, and one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from immutables import Map
from tests.runtime.run_states import BEGUN, STEPS, event, header

from dga2d.events import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events import payloads as p
from dga2d.replay.state.outcomes import Outcome, Outcomes
from dga2d.replay.state.run_state import RunState, ScoredProgram, TestState
from dga2d.replay.state.work_rates import WorkRates
from dga2d.runtime.inspection.pairs import Gaps, TestedPairs, conclusion, interval, pair_gaps
from dga2d.runtime.inspection.validations import ValidationRecord
from dga2d.runtime.inspection.verdict import (
    Achievement,
    achievement_of,
    compare,
    estimate_gap,
)
from dga2d.runtime.inspection.views import figure_text, results_view

KEYS = tuple(InstanceKey(f"g/{i}") for i in range(4))
EVOLVED = (p.Step(operator=OperatorId("two_opt"), implementation=ImplementationId("two_opt.1")),)


def gaps(*values: float | None) -> Gaps:
    return dict(zip(KEYS, values, strict=False))


def test_an_interval_is_students() -> None:
    """Differences 1, 0.5 and 1: mean 5/6, deviation 0.288675, t = 4.302653 for two degrees of freedom."""
    mean, low, high = interval([1.0, 0.5, 1.0])
    assert mean == pytest.approx(5 / 6)
    assert low == pytest.approx(5 / 6 - 4.302653 * 0.288675 / 3**0.5, abs=1e-5)
    assert high == pytest.approx(5 / 6 + 4.302653 * 0.288675 / 3**0.5, abs=1e-5)
    assert interval([2.0]) == (2.0, None, None)


@pytest.mark.parametrize(
    ("evolved", "baseline", "sentence"),
    [
        pytest.param(
            gaps(1.0, 2.0, 3.0),
            gaps(2.0, 2.5, 4.0),
            "improved by 0.83 points on 3 held-out instances (95 % interval 0.12 to 1.55, 3 won, 0 lost)",
            id="improved",
        ),
        pytest.param(
            gaps(1.0, 2.0, 3.0),
            gaps(2.0, 1.5, 3.0),
            "no clear improvement: 0.17 points better, within the noise, on 3 held-out instances "
            "(95 % interval -1.73 to 2.06, 1 won, 1 lost)",
            id="noise",
        ),
        pytest.param(
            gaps(2.0, 2.5, 4.0),
            gaps(1.0, 2.0, 3.0),
            "not improved: 0.83 points worse on 3 held-out instances "
            "(95 % interval -1.55 to -0.12, 0 won, 3 lost)",
            id="worse",
        ),
        pytest.param(
            gaps(1.0, 2.0),
            gaps(1.0, 2.0),
            "not improved: no difference on 2 held-out instances (95 % interval 0.00 to 0.00, 0 won, 0 lost)",
            id="equal",
        ),
        pytest.param(
            gaps(1.0),
            gaps(2.0),
            "no clear improvement: 1.00 points better, within the noise, on 1 held-out instance "
            "(1 won, 0 lost)",
            id="one instance shows nothing",
        ),
        pytest.param(
            gaps(1.0, 2.0, None),
            gaps(2.0, 3.0, 4.0),
            "not improved: 1.00 points better on 3 held-out instances (95 % interval 1.00 to 1.00, "
            "2 won, 1 lost, failed on 1, the start on 0)",
            id="a failure more",
        ),
        pytest.param(
            gaps(1.0, 2.0, 3.0),
            gaps(None, None, None),
            "improved: 3 fewer failed, else no difference on 3 held-out instances "
            "(3 won, 0 lost, failed on 0, the start on 3)",
            id="only the baseline fails",
        ),
        pytest.param(
            gaps(1.0, 2.0, 3.0),
            gaps(2.0, 1.5, None),
            "improved: 1 fewer failed, else 0.25 points better, within the noise, on 3 held-out instances "
            "(95 % interval -9.28 to 9.78, 2 won, 1 lost, failed on 0, the start on 1)",
            id="a failure less",
        ),
    ],
)
def test_the_verdict_follows_from_the_pairs(evolved: Gaps, baseline: Gaps, sentence: str) -> None:
    assert compare("test", evolved, baseline).sentence == sentence


def test_a_verdict_on_validation_says_that_these_instances_chose_the_algorithm() -> None:
    sentence = compare("validation", gaps(1.0, 2.0), gaps(2.0, 3.0)).sentence
    assert sentence.startswith("improved by 1.00 points on 2 validation instances (")
    assert sentence.endswith("; these chose the algorithm, `dga2d test` compares on held-out ones")


def test_a_figure_names_its_interval_and_its_instances() -> None:
    assert figure_text(estimate_gap(gaps(1.0, 2.0, 3.0)).view()) == (
        "2.00 % (95 % interval -0.48 to 4.48, 3 instances)"
    )
    assert figure_text(estimate_gap(gaps(1.0)).view()) == "1.00 % (1 instance)"
    assert figure_text(estimate_gap(gaps(1.0, None)).view()) == "failed on 1 of 2 instances"


def validated(program: tuple[p.Step, ...]) -> tuple[RunState, ValidationRecord]:
    """A run whose checkpoint is `program`, validated in generation 2 after the baseline in generation 1."""
    entries = tuple(p.InstanceEntry(key=key, reference=100.0) for key in KEYS)
    splits = p.SplitManifest(train=entries[:1], validation=entries, test=entries, digest="d")
    record = ValidationRecord()
    for generation, steps, objective in ((1, STEPS, 110.0), (2, EVOLVED, 105.0)):
        decoded = p.PipelinesDecoded(generation=generation, pipelines=(steps,), log_probabilities=(0.0,))
        record.record_event(event(decoded))
        for number, key in enumerate(KEYS):
            record.record_event(event(evaluated("validation", generation, key, objective + number)))
        record.record_event(event(p.ValidationScored(generation=generation, scores=(-0.1,))))
    state = replace(
        BEGUN,
        started=header().model_copy(update={"splits": splits}),
        checkpoint=ScoredProgram(2, -1, -0.065, program),
    )
    return state, record


def evaluated(split: str, generation: int, key: InstanceKey, objective: float) -> p.EvaluationRecorded:
    return p.EvaluationRecorded.model_validate(
        {
            "split": split,
            "generation": generation,
            "candidate": 0,
            "instance": key,
            "objective": objective,
            "failure": None,
            "diagnostic": "",
            "elapsed_s": 0.0,
            "work": 0,
            "trace": (),
            "solution": None,
        }
    )


def test_before_a_test_the_checkpoint_is_compared_with_the_baseline_s_validation() -> None:
    state, record = validated(EVOLVED)
    view = results_view(state, achievement_of(state, record))
    assert view["checkpoint"]["instances"] == 4
    assert view["checkpoint"]["interval_percent"] == [4.4457, 8.5543]  # 6.5 ± 3.182446 × 1.290994 / 2
    assert view["verdict"]["outcome"] == "improved"
    assert (view["verdict"]["split"], view["verdict"]["points"]) == ("validation", 5.0)


def test_evaluations_outside_of_validations_are_not_taken_for_them() -> None:
    state, record = validated(EVOLVED)
    record.record_event(event(evaluated("validation", 2, KEYS[0], 999.0)))  # after its end: no such log holds
    record.record_event(event(evaluated("train", 2, KEYS[1], 999.0)))
    assert record.gaps(state.header, EVOLVED, 2) == pytest.approx(gaps(5.0, 6.0, 7.0, 8.0))
    assert record.gaps(state.header, EVOLVED, 1) == {}


def after_test(
    state: RunState, pipelines: dict[str, tuple[p.Step, ...]], time_limit_s: float | None = None
) -> RunState:
    """The state after a test under the run's own budget and, if a limit is given, under one of seconds."""
    candidates = tuple(
        p.TestCandidate.model_validate({"label": label, "pipeline": steps, "time_limit_s": limit})
        for limit in ((None,) if time_limit_s is None else (None, time_limit_s))
        for label, steps in pipelines.items()
    )
    objectives = {"evolved": 101.0, "baseline": 103.0, "hand_tuned": 100.5}
    outcomes = {
        (number, key): Outcome(objectives[candidate.label] + 5.0 * (candidate.time_limit_s is not None), None)
        for number, candidate in enumerate(candidates)
        for key in KEYS
    }
    means = tuple(objectives[candidate.label] / 100.0 - 1.0 for candidate in candidates)
    test = TestState(9, 1, False, candidates, KEYS, Outcomes.of(outcomes), 9, means)
    return replace(state, test=test)


def test_held_out_instances_decide_once_they_were_used() -> None:
    state, record = validated(EVOLVED)
    done = after_test(state, {"evolved": EVOLVED, "baseline": STEPS})
    view = results_view(done, achievement_of(done, record))
    assert (view["verdict"]["split"], view["verdict"]["points"], view["verdict"]["won"]) == ("test", 2.0, 4)
    assert view["test"]["gap_percent"] == {"evolved": 1.0, "baseline": 3.0}
    assert view["test"]["interval_percent"] == {"evolved": [1.0, 1.0], "baseline": [3.0, 3.0]}


def test_under_work_the_sentence_compares_in_equal_seconds_too() -> None:
    state, record = validated(EVOLVED)
    done = after_test(state, {"evolved": EVOLVED, "baseline": STEPS}, time_limit_s=2.0)
    view = results_view(done, achievement_of(done, record))
    assert view["test"]["gap_percent"] == {"evolved": 1.0, "baseline": 3.0}
    pairs = "on 4 held-out instances (95 % interval 2.00 to 2.00, 4 won, 0 lost)"
    assert view["verdict"]["sentence"] == (
        f"improved by 2.00 points {pairs}; in equal seconds (2 s): improved by 2.00 points {pairs}"
    )
    assert view["verdict"]["own_sentence"] == f"improved by 2.00 points {pairs}"
    assert view["verdict"]["in_seconds"]["points"] == view["verdict"]["in_seconds"]["limit_s"] == 2.0


def test_a_test_of_an_earlier_checkpoint_says_nothing_of_the_present_one() -> None:
    state, record = validated(EVOLVED)
    other = (p.Step(operator=OperatorId("or_opt"), implementation=ImplementationId("or_opt.1")),)
    done = after_test(state, {"evolved": other, "baseline": STEPS})
    verdict = achievement_of(done, record).verdict
    assert verdict is not None
    assert verdict.split == "validation"


@pytest.mark.parametrize("labels", [("baseline",), ("evolved", "baseline")], ids=["one arm", "two arms"])
def test_a_checkpoint_that_is_the_baseline_is_no_improvement(labels: tuple[str, ...]) -> None:
    state, record = validated(STEPS)
    done = after_test(state, dict.fromkeys(labels, STEPS))
    view = results_view(done, achievement_of(done, record))
    assert view["verdict"]["outcome"] == "baseline kept"
    assert view["verdict"]["sentence"] == "not improved: the start was kept"
    assert view["test"]["gap_percent"]["baseline"] == 3.0
    assert set(view["test"]["gap_percent"]) == {"evolved", "baseline"}


HAND_TUNED = (p.Step(operator=OperatorId("lin_kernighan"), implementation=ImplementationId("lk.1")),)


def test_the_last_sentence_says_what_was_gained_by_what_and_what_is_missing() -> None:
    state, record = validated(EVOLVED)
    arms: dict[str, tuple[p.Step, ...]] = {"evolved": EVOLVED, "baseline": STEPS, "hand_tuned": HAND_TUNED}
    view = results_view(*told(record, after_test(state, arms)))
    assert view["verdict"]["conclusion"] == (
        "Evolved beats the start by 2.00 ± 0.00 points on 4 held-out instances (95 % interval), by evolved "
        "code in position 1 of 1 (two_opt), and stands 0.50 ± 0.00 points behind the hand-tuned baseline."
    )
    assert view["verdict"]["hand_tuned"] == {
        "points": -0.5,
        "interval_points": [-0.5, -0.5],
        "instances": 4,
        "won": 0,
        "lost": 4,
        "failures": 0,
        "their_failures": 0,
    }
    assert view["test"]["gap_percent"] == {"evolved": 1.0, "baseline": 3.0, "hand_tuned": 0.5}


def test_the_last_sentence_of_a_kept_baseline_and_of_equal_seconds() -> None:
    state, record = validated(EVOLVED)
    arms: dict[str, tuple[p.Step, ...]] = {"evolved": EVOLVED, "baseline": STEPS, "hand_tuned": HAND_TUNED}
    sentence = results_view(*told(record, after_test(state, arms, 2.0)))["verdict"]["conclusion"]
    assert sentence.endswith(
        "baseline. In equal seconds it beats the start by 2.00 ± 0.00 points, and stands 0.50 ± 0.00 points "
        "behind the hand-tuned baseline."
    )
    kept, record = validated(STEPS)
    without: dict[str, tuple[p.Step, ...]] = {"baseline": STEPS, "hand_tuned": HAND_TUNED}
    sentence = results_view(*told(record, after_test(kept, without, 2.0)))["verdict"]["conclusion"]
    assert sentence == (
        "Nothing evolved was better than the start beyond doubt, so the start was kept, and stands "
        "2.50 ± 0.00 points behind the hand-tuned baseline."
    )


def test_the_last_sentence_tells_failures_and_noise() -> None:
    state, _ = validated(EVOLVED)
    start = pair_gaps(gaps(1.0, 2.0, None, 4.0), gaps(1.5, 2.0, 3.0, 5.0))
    hand_tuned = pair_gaps(gaps(1.0, 2.0, None, 4.0), gaps(None, None, None, None))
    assert conclusion(state, EVOLVED, TestedPairs(start, hand_tuned)) == (
        "Evolved is 0.50 ± 1.24 points ahead of the start, within the noise (it failed on 1, the other on 0) "
        "on 4 held-out instances (95 % interval), and solves no instance that the hand-tuned baseline solves "
        "(it failed on 1, the other on 4)."
    )


def test_hand_tuned_code_whose_work_could_not_be_measured_is_not_compared_in_work() -> None:
    """Its own units may be worth any time."""
    state, record = validated(EVOLVED)
    arms = {"evolved": EVOLVED, "baseline": STEPS, "hand_tuned": HAND_TUNED}
    done = after_test(state, dict(arms), 2.0)
    brought = p.LibraryOperator(
        id=OperatorId("lin_kernighan"),
        category="local_search",
        requires="complete",
        provides="complete",
        tier="advanced",
        implementations=(p.LibraryImplementation(id=ImplementationId("lk.1"), source=BlobDigest("0" * 64)),),
    )
    assert done.test is not None
    points = tuple(
        p.WorkRatePoint(instance=key, size=9, work=work, cpu_s=0.003 * work)
        for key, work in zip(KEYS[:3], (0, 0, 1), strict=True)
    )
    rates = WorkRates(measured=Map({"lk.1": points}))
    failed = replace(done, test=replace(done.test, hand_tuned=(brought,)), work_rates=rates)
    verdict = results_view(*told(record, failed))["verdict"]
    assert verdict["hand_tuned"] is None
    assert (
        "; the work of the hand-tuned baseline could not be measured, so it is not compared. In"
        in (verdict["conclusion"])
    )
    assert verdict["conclusion"].endswith("behind the hand-tuned baseline.")


def told(record: ValidationRecord, done: RunState) -> tuple[RunState, Achievement]:
    """A finished test and what is said of it."""
    return done, achievement_of(done, record)


def test_nothing_is_said_before_the_first_validation() -> None:
    assert achievement_of(BEGUN, ValidationRecord()).verdict is None
