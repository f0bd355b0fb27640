"""Plants, what an episode costs, and what is no episode."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.domains.drawn import drawing_of

from dga2d.domains.budget import Budget
from dga2d.domains.control import DOMAIN
from dga2d.domains.control.oracle import RunningPlant, make_oracle, own_environment, own_oracle
from dga2d.domains.control.plants import DT, MODELS, STEPS, SYSTEMS, draw
from dga2d.domains.control.verifier import own_verdict, score, verify_episode
from dga2d.domains.core.contract import InstanceRef, State
from dga2d.domains.core.errors import InstanceFormatError, OracleRefusedError
from dga2d.domains.core.oracle import with_record
from dga2d.domains.drawing import Line
from dga2d.domains.execution import execute


def plant(system: str, number: int = 0) -> tuple[RunningPlant, dict[str, Any]]:
    data = draw(system, 7, number).data()
    return make_oracle(data), data


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_plant_obeys_its_equations(system: str) -> None:
    running, data = plant(system)
    rates = MODELS[SYSTEMS[system].model](data["parameters"].tolist())
    inputs = np.array([1.0, -4.0, 3.0, 0.5] * 5)
    x = data["x0"].tolist()
    for u in inputs:
        found = solve_ivp(lambda t, y, u=u: rates(tuple(y), u), (0.0, DT), x, rtol=1e-11, atol=1e-12)
        x = found.y[:, -1].tolist()
    after = running.answer(inputs[:, None])[-1, :-1]
    assert after - x == pytest.approx(2.0 * np.pi * np.round((after - x) / (2.0 * np.pi)), abs=1e-6)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_cost_is_the_papers_and_inputs_are_cut(system: str) -> None:
    running, data = plant(system, 1)
    bound = SYSTEMS[system].bound
    states = np.vstack([data["x0"], running.answer(np.array([[1e9], [-0.5]]))[:, :-1]])
    expected = (states[:2] ** 2).sum() + 0.01 * (bound**2 + 0.25)
    assert running.record()["cost"] == pytest.approx(expected)
    assert running.record()["course"][:, -1].tolist() == [bound, -0.5]


def test_a_pole_that_hangs_for_a_hundred_seconds_costs_what_the_paper_reports() -> None:
    """-4.69 and -4.71 of its table are 5000 steps of π²: its T counts seconds."""
    hanging = np.array([0.0, -math.pi, 0.0, 0.0])
    nominal = np.array(SYSTEMS["cart_pole"].nominal)
    running = make_oracle({"system": "cart_pole", "parameters": nominal, "x0": hanging})
    running.answer(np.zeros((STEPS, 1)))
    assert verify_episode(with_record(State(), running.record()), STEPS).objective == pytest.approx(
        -4.69, abs=0.01
    )


def test_what_is_no_input_ends_the_episode_and_is_named() -> None:
    running, _ = plant("pendulum")
    for nonsense in (np.zeros((1, 2)), np.zeros((0, 1)), np.zeros(3), np.array([[0.0, math.nan, 0.0, 0.0]])):
        with pytest.raises(OracleRefusedError, match="an input"):
            running.answer(nonsense)
    running.answer(np.zeros((3, 1)))
    for u in (math.nan, 0.0):
        with pytest.raises(OracleRefusedError, match="the input of step 3 is nan"):
            running.answer(np.array([[u]]))
    verdict = verify_episode(with_record(State(), running.record()), STEPS)
    assert (verdict.objective, verdict.violation) == (None, "the input of step 3 is nan")


def test_a_law_that_is_held_is_applied_in_every_step() -> None:
    (one, data), (other, _) = plant("cart_pole", 2), plant("cart_pole", 2)
    gain, x = np.array([1.0, -9.0, 0.5, 2.0]), data["x0"]
    for _ in range(7):
        x = one.answer(np.array([[0.25 - gain @ x]]))[0, :-1]
    held = other.answer(np.array([[0.25, 7.0, *gain]]))
    assert held[0, :-1] == pytest.approx(x, abs=1e-12)
    assert held[0, -1] == other.record()["cost"] == pytest.approx(one.record()["cost"])
    with pytest.raises(OracleRefusedError, match="the input of step 7 is nan"):
        other.answer(np.array([[0.0, 3.0, math.nan, 0.0, 0.0, 0.0]]))


def test_an_episode_has_no_more_steps_than_it_has() -> None:
    running, _ = plant("double_integrator")
    running.answer(np.zeros((STEPS, 1)))
    with pytest.raises(OracleRefusedError, match="the episode of 5000 steps is over"):
        running.answer(np.zeros((1, 1)))
    assert running.record()["steps"] == STEPS


@pytest.mark.parametrize(
    "function",
    [lambda x, u: x * 1e3 + 1.0, lambda x, u: np.array([math.nan, 0.0]), lambda x, u: np.array([1 / 0, 0])],
)
def test_a_plant_of_ones_own_that_diverges_is_named(function: Callable[..., Any]) -> None:
    task = own_environment([1.0, 0.0], 5.0, parameters=[0, 1, 0, 0, 0, 1], steps=50)
    running = own_oracle(task, function)
    with pytest.raises(OracleRefusedError, match="the plant diverged in step"):
        running.answer(np.zeros((50, 1)))
    verdict = own_verdict(task, with_record(State(), running.record()), function)
    assert "the plant diverged in step" in (verdict.violation or "")


def test_a_plant_of_another_shape_is_refused() -> None:
    task = own_environment([1.0, 0.0], 5.0, parameters=[0, 1, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="must return 2 numbers"):
        own_oracle(task, lambda x, u: 3.0).answer(np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"x0": [1.0]}, "2 coordinates, x0 1"),
        ({"model": "rocket"}, "model must be one of"),
        ({"parameters": [1.0, 2.0, 3.0]}, "n \\* n \\+ n"),
        ({"model": "pendulum", "parameters": [1.0, -2.0, 3.0]}, "must be above 0"),
        ({"x0": [1.0, math.nan]}, "must be finite"),
        ({"bound": 0.0}, "bound, dt, steps and input_weight"),
    ],
)
def test_fields_of_a_task_of_ones_own_are_checked(fields: dict[str, Any], said: str) -> None:
    good: dict[str, Any] = {"x0": [1.0, 0.0], "bound": 5.0, "parameters": [0, 1, 0, 0, 0, 1]}
    with pytest.raises(ValueError, match=said):
        own_environment(**(good | fields))


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({}, "nobody measured"),
        ({"cost": 0.0, "steps": 10, "fault": ""}, "ended after 10 of 5000"),
        ({"cost": math.inf, "steps": STEPS, "fault": ""}, "cost of the episode is inf"),
        ({"cost": 1, "steps": STEPS, "fault": ""}, "nobody measured"),
    ],
)
def test_what_is_no_episode_is_named(record: dict[str, Any], said: str) -> None:
    assert said in (verify_episode(with_record(State(), record), STEPS).violation or "")
    assert verify_episode(None, STEPS).objective is None


def test_instances_differ_from_what_is_told_by_at_most_a_fifth() -> None:
    refs = DOMAIN.generated()
    assert sorted({ref.group for ref in refs}) == sorted(SYSTEMS)
    for group, known in SYSTEMS.items():
        parts = [ref.part for ref in refs if ref.group == group]
        assert (parts.count("train"), parts.count("test")) == (1, 30)
        instance = next(DOMAIN.load(ref) for ref in refs if ref.group == group)
        told = DOMAIN.environment(instance)
        assert told["parameters"].tolist() == list(known.nominal)
        changed = np.flatnonzero(instance.data["parameters"] != told["parameters"])
        assert changed.tolist() == list(known.perturbed)
        assert (
            np.abs(instance.data["parameters"][changed] / told["parameters"][changed] - 1.0).max(initial=0.0)
            < 0.2
        )
    assert set(told) == set(DOMAIN.card.environment)


def episode(*laws: Callable[..., State]) -> State:
    """What laws come to in the smoke instance, in this process."""

    def start(env_data: Any, state: State, score_of: Any) -> State:
        state.metadata["x"] = env_data["x0"].copy()
        state.metadata["u"] = 0.0
        return state

    instance = DOMAIN.smoke_instance()
    running = make_oracle(DOMAIN.oracle_data(instance))  # type: ignore[attr-defined]
    environment, budget = DOMAIN.environment(instance), Budget(STEPS, "work", 1 + len(laws))
    decoder, rng = DOMAIN.decoder(environment), np.random.default_rng(0)
    ended = execute([start, *laws], environment, decoder, budget, rng, running.answer)
    return with_record(ended.state, running.record())


def push(u: Any, **forged: Any) -> Callable[..., State]:
    def law(env_data: Any, state: State, score_of: Any) -> State:
        state.metadata["u"] = u
        state.metadata.update(forged)
        return state

    return law


@pytest.fixture(scope="module")
def pushed() -> State:
    return episode(push(np.full(700, 0.1)))


def test_inputs_for_several_steps_are_applied_and_a_forged_record_changes_nothing(pushed: State) -> None:
    forged = {"x": np.zeros(2), "t": STEPS, "measured_cost": 0.0, "measured_steps": STEPS}
    once, many = episode(push(0.1, **forged)).metadata, pushed.metadata
    assert once["measured_cost"] == many["measured_cost"] > 0.0
    assert (once["t"], many["t"], once["u_last"]) == (STEPS, STEPS, 0.1)
    verdict = DOMAIN.verify(DOMAIN.smoke_instance(), pushed)
    assert verdict.objective == score(many["measured_cost"])


@pytest.mark.parametrize("u", ["x", [], [[1.0], [1.0, 2.0]]])
def test_an_input_that_is_none_is_refused(u: Any) -> None:
    with pytest.raises(ValueError, match="metadata\\['u'\\]"):
        episode(push(u))


@pytest.mark.parametrize("fields", [{"gain": np.zeros(3)}, {"gain": np.zeros(2), "hold": 0}, {"hold": "x"}])
def test_a_law_that_does_not_fit_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="metadata"):
        episode(push(0.0, **fields))


def test_the_clock_cannot_be_left_out() -> None:
    def hurried(env_data: Any, state: State, score_of: Any) -> State:
        while hasattr(score_of, "__closure__"):  # the decoder is within what is called
            score_of = next(c.cell_contents for c in score_of.__closure__ if callable(c.cell_contents))
        score_of._t = STEPS
        return state

    verdict = DOMAIN.verify(DOMAIN.smoke_instance(), episode(hurried, push(0.1)))
    assert verdict.violation == "the episode ended after 0 of 5000 steps"


def test_a_picture_shows_states_inputs_and_the_phase_plane(pushed: State) -> None:
    drawing = drawing_of(DOMAIN, DOMAIN.smoke_instance(), pushed)
    states, _, phase = drawing.panels
    assert [shape.name for shape in states.shapes if isinstance(shape, Line)] == ["", "position", "velocity"]
    assert phase.x.words == "position"
    assert drawing.title.startswith("smoke/smoke: cost ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read as JSON"),
        ('{"system": "rocket"}', "one of double_integrator, pendulum, cart_pole"),
        ('{"system": "pendulum", "x0": [1]}', '"x0" must be a list of 2 numbers'),
        ('{"system": "pendulum", "x0": [1, "a"]}', '"x0" must be a finite number'),
        ('{"system": "pendulum", "x0": [1, 0], "mass": 0}', '"mass" must be above 0'),
        ('{"system": "double_integrator", "x0": [1, 0], "mass": 1}', '"mass" is no parameter'),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_fault(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(InstanceFormatError, match=said):
        DOMAIN.load(InstanceRef("control", "file", "mine", tmp_path / "mine.json"))


def test_an_episode_of_ones_own_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"system": "pendulum", "x0": [4.0, 0.0], "mass": 1.5}))
    instance = DOMAIN.load(InstanceRef("control", "file", "mine", tmp_path / "mine.json"))
    assert instance.data["parameters"].tolist() == [1.5, *SYSTEMS["pendulum"].nominal[1:]]
    assert instance.data["x0"][0] == pytest.approx(4.0 - 2.0 * math.pi)


def test_the_score_is_the_papers_formula() -> None:
    assert (score(0.0), score(99.0)) == (0.0, -2.0)
