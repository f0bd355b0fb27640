"""Every event type has its writers, and nobody else may write it."""

from __future__ import annotations

import pytest

from dga2d.events import (
    AGENT_NAMES,
    OWNERS,
    PAYLOAD_TYPES,
    OwnershipError,
    UnknownEventTypeError,
    check_owner,
)


def test_every_type_has_an_owner_and_every_owned_type_exists() -> None:
    assert set(OWNERS) == set(PAYLOAD_TYPES)
    assert all(owners and set(owners) <= set(AGENT_NAMES) for owners in OWNERS.values())


def test_only_language_model_calls_have_more_than_one_writer() -> None:
    shared = {name for name, owners in OWNERS.items() if len(owners) > 1}
    assert shared == {"LLMCallReserved", "LLMCallSettled", "LLMCallAbandoned", "LLMCallRefused"}


@pytest.mark.parametrize("type_name", sorted(PAYLOAD_TYPES))
def test_exactly_the_owners_may_write(type_name: str) -> None:
    for agent in AGENT_NAMES:
        if agent in OWNERS[type_name]:
            check_owner(agent, type_name)
        else:
            with pytest.raises(OwnershipError, match=f"{agent} may not write {type_name}"):
                check_owner(agent, type_name)


def test_a_type_nobody_owns_is_unknown() -> None:
    with pytest.raises(UnknownEventTypeError):
        check_owner("conductor", "Nonsense")
