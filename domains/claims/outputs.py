"""Claims about what a domain gives out: solution files, pictures, OR-Tools' solutions, solver files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from dga2d.domains.claims.examination import Contradictions
from dga2d.domains.claims.scoring import broken_states
from dga2d.domains.core.contract import Domain, Instance, State
from dga2d.domains.core.errors import InvalidSolutionError, NotOfferedError, describe_error
from dga2d.domains.core.optional_parts import draw_picture, run_cp_sat
from dga2d.domains.core.registry import solver_entries
from dga2d.domains.drawing import Drawing, Picture
from dga2d.domains.drawing.svg import svg_file

CP_SAT_S = 2.0
"""Seconds OR-Tools gets on a small instance."""


def writing_claim(domain: Domain, instance: Instance, states: Sequence[State]) -> Contradictions:
    """Solutions can be written; of broken states nothing is."""
    for state in states:
        if not domain.write_solution(instance, state).strip():
            yield f"the solution file of {instance.key} is empty"
    yield from _broken_are_refused("write_solution", domain, domain.write_solution, instance, states[0])
    return f"{len(states)} solution files of {instance.key}"


def picture_claim(domain: Domain, instance: Instance, state: State) -> Contradictions:
    """The picture of a solution can be drawn, that of a broken state cannot; a domain may have none."""
    try:
        picture = draw_picture(domain, instance, state)
    except NotOfferedError:
        return "it has none"
    except ImportError as error:
        return f"not tried: {error}"
    n_axes = count_axes(picture)
    yield from _broken_are_refused("picture", domain, domain.picture, instance, state)
    return f"{n_axes} axes"


def count_axes(picture: Picture) -> int:
    """Render a picture, and return how many systems of axes it has."""
    if isinstance(picture, Drawing):
        svg_file(picture)
        return len(picture.panels)
    picture.savefig(io.BytesIO(), format="svg")
    return len(picture.axes)


def _broken_are_refused(
    name: str, domain: Domain, call: Callable[[Instance, State], Any], instance: Instance, state: State
) -> Iterator[str]:
    for what, broken in broken_states(domain, instance, state):
        try:
            call(instance, broken)
        except InvalidSolutionError:
            continue
        except Exception as error:  # the claim is that it is InvalidSolutionError
            yield f"{name}() raises {describe_error(error)} when the sequence is {what}"
            continue
        yield f"{name}() takes {what} for a solution; it must raise InvalidSolutionError"


def cp_sat_claim(domain: Domain, instance: Instance) -> Contradictions:
    """What OR-Tools finds is a solution and beats no optimal reference; a domain may lack a model."""
    try:
        state = run_cp_sat(domain, instance, CP_SAT_S, 1)
    except NotOfferedError:
        return "it has no model"
    except ImportError as error:
        return f"not tried: {error}"
    if state is None:
        return f"no solution in {CP_SAT_S:g} s"
    verdict = domain.verify(instance, state)
    if verdict.objective is None:
        yield f"OR-Tools' solution of {instance.key} is none: {verdict.violation}"
        return ""
    reference = instance.reference
    if reference is not None and reference.kind == "optimal":
        sign = 1 if domain.sense == "min" else -1
        if sign * verdict.objective < sign * reference.value:
            yield (
                f"OR-Tools' objective {verdict.objective:g} on {instance.key} beats the optimal reference "
                f"{reference.value:g}"
            )
    return f"objective {verdict.objective:g} on {instance.key}"


def solver_functions_claim(domain: Domain, instance: Instance, states: Sequence[State]) -> Contradictions:
    """The functions of a solver file say what the domain says."""
    functions: Mapping[str, Any] = {
        name: getattr(import_module(module), name) for module, name in solver_entries(domain.name)
    }
    if hasattr(domain, "oracle_data"):  # they are given a function of the user's own
        return f"{len(functions)} functions for a function of one's own"
    environment = domain.environment(instance)
    decode, theirs = domain.decoder(environment), functions["make_decoder"](environment)
    for state in states:
        verdict, said = domain.verify(instance, state), functions["verified_objective"](environment, state)
        if said.objective != verdict.objective:
            yield f"verified_objective() gives {said.objective} where verify() gives {verdict.objective}"
        if theirs(state) != decode(state):
            yield f"make_decoder() scores {theirs(state)} where decoder() scores {decode(state)}"
        if not functions["solution_text"](instance.name, environment, state, said.objective).strip():
            yield "solution_text() gives an empty file"
    return f"{len(states)} solutions of {instance.key}"
