"""The program that a prompt shows: which it is, and what its positions get and account for."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import open_basis
from dga2d.agents.gate import gate_program
from dga2d.agents.pool_edits import contribution, edit_to_ask, parent_of
from dga2d.agents.work_calibration import is_calibrated, rated, work_on
from dga2d.domains.budget import bounded_shares
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step, shares_of
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import RatePoint

FOURTH = 4
"""Edition from which prompts show the operator asked for in its program, and what each position gets."""
SIXTH = 6
"""Edition from which prompts say where measured programs stand, and what became of code that joined."""
SEVENTH = 7
"""Edition from which prompts tell ranges of values, and why a sound answer did not join."""
NINTH = 9
"""Edition from which the first prompts say, too, that work is made comparable."""
TENTH = 10
"""Edition from which prompts tell the time of each position."""


def shown_program(state: RunState, slot: int) -> tuple[Step, ...]:
    """Return the program that a prompt for code of a slot shows.

    It is the incumbent; from the fourth edition on, where the incumbent does without the operator that is
    asked for, the nearest walk that passes it, in which the answer is measured.
    """
    program, edit = incumbent(state), edit_to_ask(state, slot)
    is_part = any(step.operator == edit.operator for step in program)
    if is_part or state.settings.prompt_edition < FOURTH:
        return program
    basis, longest = open_basis(state)[1], state.settings.max_length
    if edit.operator not in basis.graph.on_walks(longest):
        return program
    return gate_program(state, edit.operator, parent_of(basis, edit, state.settings.epsilon))


def program_rows(
    state: RunState, program: Sequence[Step], operator: OperatorId | None = None
) -> tuple[str, ...]:
    """Return the positions of a program with what they account for; those of `operator` are marked."""
    is_fourth = state.settings.prompt_edition >= FOURTH
    parts = bounded_shares(shares_of(program)) or (1.0 / len(program),) * len(program)
    rows = []
    for number, (step, part) in enumerate(zip(program, parts, strict=True), start=1):
        found = state.contributions.get(step.implementation)
        if is_fourth:
            found = contribution(state, step.implementation)
        told = [f"gets {100 * part:.0f} % of the budget{_time(state, part)}"] if is_fourth else []
        if found is not None and found.runs:
            told.append(
                f"{100 * found.effort / found.runs:.0f} % of the effort and "
                f"{100 * found.gain / found.runs:.0f} % of the improvement of the pipelines it was part of"
            )
        elif is_fourth:
            told.append("not evaluated yet")
        mark = "   <- the operator in question" if step.operator == operator else ""
        rows.append(f"{number}. {step.implementation}{': ' if told else ''}{'; '.join(told)}{mark}")
    return tuple(rows)


def _time(state: RunState, part: float) -> str:
    """Return what a part of the budget comes to on an instance of middle size, from the tenth edition on;
    empty where no rate is known."""
    if state.settings.prompt_edition < TENTH:
        return ""
    (amount, unit), middle = state.settings.budget, state.work_rates.middle
    if unit == "s":
        return f", {1000 * part * amount:.3g} ms"
    if middle is None:
        return ""
    return f", about {1000 * part * work_on(state, middle.size) / middle.rate:.3g} ms"


def neighbours(program: Sequence[Step], operator: OperatorId) -> list[Step]:
    """Return the steps of other operators beside each position of an operator; the last ones where it is not
    part of the program."""
    places = [i for i, step in enumerate(program) if step.operator == operator]
    beside = [i + d for i in places for d in (-1, 1)] if places else range(len(program) - 2, len(program))
    steps = [program[i] for i in beside if 0 <= i < len(program)]
    return list(dict.fromkeys(step for step in steps if step.operator != operator))


def budget_text(state: RunState, positions: int, parent: ImplementationId | None = None) -> str:
    """Return in words the budget per instance of a pipeline with `positions` operators.

    From the fourth edition of the prompts on, the text also says what a unit of work is worth, and what the
    code of `parent` charges.
    """
    is_fourth = state.settings.prompt_edition >= FOURTH
    where = "that program" if is_fourth and parent is not None else "the incumbent"
    whole = f"{amount_text(state)} for the whole pipeline, of {positions} positions in {where}"
    told = (
        f"{whole}. Each position gets its part of what is left when it begins, so what it leaves goes to "
        "those behind it; compilation is not counted. The result is the best complete state after a position."
    )
    return f"{told} {_charge(state, parent)}" if is_fourth else told


def amount_text(state: RunState) -> str:
    """Return in words the budget per instance."""
    amount, unit = state.settings.budget
    if unit == "s":
        return f"{amount:g} seconds per instance"
    amounts = {work_on(state, point.size) for point in state.work_rates.first_reference}
    if not state.settings.sizes_work or len(amounts) < 2:
        return f"{amount:g} work units per instance"
    return (
        f"{amount:g} work units on an instance of middle size, {min(amounts)} to {max(amounts)} on others, "
        "which take the known algorithm as long,"
    )


def _charge(state: RunState, parent: ImplementationId | None) -> str:
    """Return what `budget.charge(1)` takes from the budget."""
    if state.settings.work is None:
        return "The clock alone counts: `budget.charge` reports what was done and takes nothing."
    reference, middle = state.work_rates.reference, state.work_rates.middle
    if is_calibrated(state) and middle is None and state.settings.prompt_edition >= NINTH:
        whose = "the code that charges it" if state.settings.prompt_edition >= TENTH else "that code"
        return f"What `budget.charge(n)` takes is n times the measured cost of a unit of {whose}."
    if not is_calibrated(state) or middle is None:
        return "`budget.charge(n)` takes n of these units, whatever it cost to do what they stand for."
    told = (
        f"The units stand for {_seconds(state, reference)}. What `budget.charge(n)` takes is n times the "
        "measured cost of a unit of your code, so the processor time counts, not how finely it is reported."
    )
    if parent is None:
        return told
    scale = state.work_rates.scale(rated(state, parent), middle.size)
    call = state.work_rates.call_cost(rated(state, parent), middle.size)
    besides = f", and each call of it {call:.3g} besides" if call else ""
    return f"{told} A unit of {parent} takes {scale:.3g} of them on an instance of middle size{besides}."


def _seconds(state: RunState, reference: Sequence[RatePoint]) -> str:
    found = [work_on(state, point.size) / point.rate for point in reference]
    least, most = f"{min(found):.2g}", f"{max(found):.2g}"
    return f"{least} seconds of the processor" if least == most else f"{least} to {most} seconds, by size"
