"""What the bank offers: code of earlier runs, before a model is asked.

The entries are part of ``RunStarted``, best first, so every choice follows from the log. An offer goes
through what an answer goes through: the rules of source texts, trial runs, the gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from dga2d.agents.agent import Duty
from dga2d.agents.calls import JudgeAnswer
from dga2d.agents.ports import BlobSource
from dga2d.agents.proposing.answers import idea_of
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.operator_answers import edges_beside_incumbent, operator_answer
from dga2d.agents.proposing.prompts import fence
from dga2d.agents.proposing.tasks import OperatorContract, OperatorTask
from dga2d.events import OperatorId
from dga2d.events.payloads import BankEntry, LibraryOperator, OperatorProposed, RunStarted
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.run_state import RunState


class Origin(TypedDict):
    """Where new code comes from: one of the two is ``None``."""

    call: int | None
    offer: int | None


@dataclass(frozen=True)
class JudgeOffer(Duty):
    """Try an entry of the bank for a slot, and record the verdict or that it is to be measured."""

    slot: int
    offer: int
    """Place of the entry in the run's bank."""


@dataclass(frozen=True)
class JudgeOperatorOffer(Duty):
    """Try an entry of the bank as an operator of its own, and record the verdict or that it is to be
    measured."""

    offer: int
    """Place of the entry in the run's bank."""


def origin_of(source: JudgeAnswer | JudgeOffer | JudgeOperatorOffer | Proposal | OperatorProposed) -> Origin:
    """Return where the code comes from that is judged, or was proposed."""
    match source:
        case JudgeAnswer():
            return {"call": source.call, "offer": None}
        case JudgeOffer() | JudgeOperatorOffer():
            return {"call": None, "offer": source.offer}
    return {"call": source.call, "offer": source.offer}


def next_offer(state: RunState, operator: OperatorId) -> int | None:
    """Return the entry to be offered next for an operator; ``None`` where no more is offered.

    At most ``bank_offers`` are made for an operator in a run: first of what was written for it in this
    domain, then for other operators of its role, then in other domains.
    """
    made = {offer.entry for offer in state.offers if offer.operator == operator}
    if len(made) >= state.settings.bank_offers:
        return None
    return next((entry for entry in suited_entries(state, operator) if entry not in made), None)


def suited_entries(state: RunState, operator: OperatorId) -> Iterator[int]:
    """Return the places of the entries that have the role of an operator: what was written for it in this
    domain, then for other operators, then in other domains; the best first."""
    bank, domain = state.header.bank or (), state.header.domain
    target = _role(state, operator)
    ranked = sorted(
        (entry.domain != domain, entry.operator != operator, number)
        for number, entry in enumerate(bank)
        if has_role(entry, target)
    )
    return (number for _, _, number in ranked)


def _role(state: RunState, operator: OperatorId) -> LibraryOperator | OperatorProposed:
    if (joined := state.operators.get(operator)) is not None:
        return joined
    match state.header:
        case RunStarted(library=operators):
            return next(o for o in operators if o.id == operator)


def has_role(entry: BankEntry, operator: LibraryOperator | OperatorProposed) -> bool:
    """Return whether an entry takes and leaves what an operator does, for a purpose of the same kind."""
    mine = (entry.category, entry.requires, entry.provides)
    return mine == (operator.category, operator.requires, operator.provides)


async def read_offer(state: RunState, entry: int, blobs: BlobSource) -> str:
    """Return an entry of the run's bank in the form of an answer."""
    return fence(await _text(state, entry, blobs), "python") + "\n"


async def read_operator_offer(state: RunState, entry: int, task: OperatorTask, blobs: BlobSource) -> str:
    """Return an entry of the run's bank in the form of an answer that proposes it as an operator, joined to
    those of the incumbent."""
    offered, source = (state.header.bank or ())[entry], await _text(state, entry, blobs)
    title = offered.operator.replace("_", " ")
    try:
        summary = idea_of(source) or title
    except ProposalError:  # whoever reads the answer refuses it, and says why
        summary = title
    contract = OperatorContract(
        offered.operator, title, summary, offered.category, offered.requires, offered.provides
    )
    return operator_answer(contract, edges_beside_incumbent(contract, task), source)


async def _text(state: RunState, entry: int, blobs: BlobSource) -> str:
    return (await blobs.get_blob((state.header.bank or ())[entry].source)).decode()
