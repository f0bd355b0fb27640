"""Every event type is declared in one place, completely; what its class says is what the program does."""

from __future__ import annotations

from typing import Any

import pytest

from dga2d.events import (
    AGENT_NAMES,
    PAYLOAD_TYPES,
    BlobDigest,
    DeclarationError,
    OwnershipError,
    Payload,
    RecordedEvent,
    RunId,
    UnknownEventTypeError,
    check_owner,
    referenced_blobs,
)
from dga2d.events._payload import collect_types
from dga2d.events.payloads import LLMCallSettled, RunStarted
from dga2d.replay.state.fold import check_rules
from dga2d.replay.state.handler import RULES, folds


class Family(Payload):
    """Base of types that are declared for a test; not one itself."""

    generation: int
    is_final: bool


DECLARED: list[type] = []
"""Keeps the classes alive: a class knows its subclasses by weak references."""


def declare(name: str, base: type[Payload] = Family, **declaration: Any) -> type[Payload]:
    """Declare a type with a field of its own, below a base of its own that nobody else collects."""
    group = type(f"{name}Base", (base,), {"__module__": __name__})
    fields = {"__module__": __name__, "__annotations__": {"text": str}}
    DECLARED.append(type(name, (group,), fields, **declaration))
    assert issubclass(group, Payload)
    return group


def test_every_type_has_owners_that_are_agents() -> None:
    for name, model in PAYLOAD_TYPES.items():
        assert model.__name__ == name
        assert model.owners
        assert set(model.owners) <= set(AGENT_NAMES)


def test_a_complete_declaration_is_collected() -> None:
    base = declare(
        "Complete", owner="validator", operation="done/{generation}/{text}", completes_if="is_final"
    )
    [(name, model)] = collect_types(base).items()
    assert (name, model.owners) == ("Complete", ("validator",))
    assert model(generation=2, is_final=True, text="a").operation() == "done/2/a"  # type: ignore[call-arg]
    assert model(generation=2, is_final=False, text="a").operation() is None  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        ({}, "event type Wrong has no owner"),
        ({"owner": "nobody"}, "event type Wrong is owned by nobody, which is no agent"),
        ({"owner": ()}, "event type Wrong has no owner"),
        ({"owner": "validator", "operation": "done/{generations}"}, "Wrong has no field generations"),
        ({"owner": "validator", "operation": "a", "completes_if": "final"}, "Wrong has no field final"),
        ({"owner": "validator", "completes_if": "is_final"}, "Wrong has no operation that is_final could"),
    ],
)
def test_an_incomplete_declaration_is_an_import_error(declaration: dict[str, Any], reason: str) -> None:
    base = declare("Wrong", **declaration)
    with pytest.raises(DeclarationError, match=reason) as caught:
        collect_types(base)
    assert isinstance(caught.value, ImportError)


def test_a_name_twice_is_an_import_error() -> None:
    class Twins(Family):
        pass

    declare("Twin", Twins, owner="validator")
    declare("Twin", Twins, owner="validator")
    with pytest.raises(DeclarationError, match="Twin is declared twice"):
        collect_types(Twins)


def test_a_type_without_a_handler_or_with_two_is_an_import_error() -> None:
    rules = {name: rule for name, rule in RULES.items() if name != "RunPaused"}
    with pytest.raises(DeclarationError, match="RunPaused has no handler in the fold"):
        check_rules(rules)
    check_rules(RULES)
    with pytest.raises(DeclarationError, match="RunStarted has two handlers"):
        folds(RunStarted)(RULES["RunStarted"].handler)


def test_only_language_model_calls_have_more_than_one_writer() -> None:
    shared = {name for name, model in PAYLOAD_TYPES.items() if len(model.owners) > 1}
    assert shared == {"LLMCallReserved", "LLMCallSettled", "LLMCallAbandoned", "LLMCallRefused"}


@pytest.mark.parametrize("type_name", sorted(PAYLOAD_TYPES))
def test_exactly_the_owners_may_write(type_name: str) -> None:
    for agent in AGENT_NAMES:
        if agent in PAYLOAD_TYPES[type_name].owners:
            check_owner(agent, type_name)
        else:
            with pytest.raises(OwnershipError, match=f"{agent} may not write {type_name}"):
                check_owner(agent, type_name)


def test_a_type_nobody_owns_is_unknown() -> None:
    with pytest.raises(UnknownEventTypeError):
        check_owner("conductor", "Nonsense")


def test_blobs_are_found_by_the_fields_that_name_them() -> None:
    payload = LLMCallSettled(
        call=1,
        response=BlobDigest("a" * 64),
        prompt_tokens=1,
        completion_tokens=1,
        is_estimated=False,
        cost_usd=0.0,
        elapsed_s=0.0,
        reasoning=BlobDigest("b" * 64),
        response_id="c" * 64,
    )
    data = payload.model_dump_json().encode()
    event = RecordedEvent(
        RunId("r"), 1, "", "LLMCallSettled", 1, "initializer", None, None, 0, data, b"", b""
    )
    assert list(referenced_blobs(event)) == ["a" * 64, "b" * 64]
