"""The ledger of language-model calls: reserved before they are sent, settled or abandoned after."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from immutables import Map

from dga2d.events import BlobDigest
from dga2d.events.payloads import CallPurpose, LimitKind, Ticket, microusd

NO_FAULT = ("no_change:", "gate:", "stale:")
"""How diagnostics begin of answers with code that were sound and not taken."""
BY_TASK = " by task"
"""How the name of a model ends whose answers were recorded for other prompts of the same kind."""
CODE = ("implement", "program")
"""Purposes of calls that ask for nothing but code."""
LONGEST_REASON = 200
"""Characters of a diagnostic that are said in a sentence."""
CallStatus = Literal["reserved", "settled", "abandoned"]


@dataclass(frozen=True)
class Call:
    """One call, from its reservation to the verdict on its answer."""

    number: int
    purpose: CallPurpose
    agent: str
    generation: int | None
    subject: str
    attempt: int
    model: str
    reserved_seq: int
    prompt: BlobDigest
    reserved_tokens: int = 0
    """Most tokens it could use."""
    reserved_microusd: int = 0
    """Most it could cost, in millionths of a US dollar."""
    choice: str | None = None
    """Of several models the one chosen, as the settings name it; ``None`` where there was a single one."""
    ticket: Ticket | None = None
    """What the answer is for, where a later generation takes it; ``None`` where it is waited for."""
    landed: int | None = None
    """Generation that took it; ``None`` while it is in flight, and for calls without a ticket."""
    status: CallStatus = "reserved"
    ended_seq: int | None = None
    response: BlobDigest | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_estimated: bool = False
    """The provider did not report its token counts, or reported impossible ones."""
    cost_usd: float = 0.0
    elapsed_s: float | None = None
    """From reservation to answer; ``None`` while there is none."""
    refused_attempts: int = 0
    response_id: str | None = None
    reason: str | None = None
    """Why it was abandoned."""
    verdict: Literal["accepted", "rejected"] | None = None
    """The asking agent's verdict on the answer; ``None`` until there is one."""
    judged_seq: int | None = None
    diagnostic: str | None = None
    """Why the answer was rejected."""
    bought: tuple[str, ...] = ()
    """What was accepted: an implementation, or edges as ``SOURCE>TARGET``."""

    @property
    def is_in_flight(self) -> bool:
        """Whether a later generation takes the answer, whether or not it has come."""
        return self.ticket is not None and self.landed is None

    @property
    def place(self) -> tuple[int, int]:
        """Generation and slot that first asked for the edit, by which its random stream is named."""
        _, generation, slot = self.subject.split("/")
        return int(generation), int(slot)

    @property
    def taken_in(self) -> int | None:
        """Generation in which the answer is judged; ``None`` while it is in flight, and before the first."""
        return self.generation if self.ticket is None else self.landed

    @property
    def charged_tokens(self) -> int:
        """What counts against the limit: what was used or, while that is unknown, all that was reserved."""
        return (
            self.prompt_tokens + self.completion_tokens if self.status == "settled" else self.reserved_tokens
        )

    @property
    def charged_microusd(self) -> int:
        """What counts against the limit, in millionths of a US dollar."""
        return microusd(self.cost_usd) if self.status == "settled" else self.reserved_microusd


@dataclass(frozen=True)
class RefusedCall:
    """A reservation that the store did not take."""

    seq: int
    purpose: CallPurpose
    agent: str
    generation: int | None
    subject: str
    attempt: int
    limit: LimitKind
    reason: str


class Rejections(NamedTuple):
    """Answers with code that were rejected one after the other, up to the last one."""

    in_a_row: int
    commonest: str
    """The first line of the commonest diagnostic, as it came last; empty where there is none."""
    commonest_count: int
    """How many of them were rejected for it, whatever numbers it names."""

    @property
    def sentence(self) -> str:
        """What a person should know."""
        answers = f"the last {self.in_a_row} answers with code were all rejected"
        return f"{answers}, most often ({self.commonest_count}): {self.commonest}"


def _judging_order(call: Call) -> tuple[int, tuple[int, int], int]:
    """Return the place of a judged call: verdicts on answers that land together come in any order."""
    if call.landed is None:
        return 0, (0, 0), call.judged_seq or 0
    return call.landed, call.place, call.attempt


@dataclass(frozen=True)
class Ledger:
    """All calls of a run by number, with totals."""

    limit: int = 0
    token_limit: int | None = None
    """Most tokens; ``None`` for no limit."""
    microusd_limit: int | None = None
    """Most money in millionths of a US dollar; ``None`` for no limit."""
    calls: Map[int, Call] = Map()
    by_subject: Map[str, tuple[int, ...]] = Map()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    charged_tokens: int = 0
    """Counted against the limit: used by settled calls, reserved for all others."""
    charged_microusd: int = 0
    refusals: Map[str, RefusedCall] = Map()
    """Subject → the reservation for it that was not taken."""
    in_flight: tuple[int, ...] = ()
    """Calls whose answers later generations take, in the order of their numbers."""

    @property
    def used(self) -> int:
        """Number of calls charged so far, answered or not."""
        return len(self.calls)

    @property
    def left(self) -> int:
        return self.limit - self.used

    @property
    def spent_reason(self) -> str | None:
        """Why no further call can be made; ``None`` while one can, or an answer is still to be taken."""
        if self.in_flight:
            return None
        if self.left <= 0:
            return f"all {self.limit} model calls spent"
        if self.refusals:
            return min(self.refusals.values(), key=lambda refused: refused.seq).reason
        return None

    @property
    def rejections(self) -> Rejections:
        """Answers with code rejected since the last one that was accepted."""
        judged = [c for c in self.calls.values() if c.purpose in CODE and c.judged_seq is not None]
        judged = [c for c in judged if not (c.diagnostic or "").startswith(NO_FAULT)]
        judged.sort(key=_judging_order)
        after = 1 + max((i for i, call in enumerate(judged) if call.verdict == "accepted"), default=-1)
        reasons = [(call.diagnostic or "").partition("\n")[0] for call in judged[after:]]
        if not reasons:
            return Rejections(0, "", 0)
        kinds = [re.sub(r"\d+", "#", reason) for reason in reasons]
        kind, count = Counter(kinds).most_common(1)[0]
        last = max(i for i, other in enumerate(kinds) if other == kind)
        return Rejections(len(reasons), reasons[last][:LONGEST_REASON], count)

    def calls_for(self, subject: str) -> tuple[Call, ...]:
        """Return the calls made for one edit, in order."""
        return tuple(self.calls[number] for number in self.by_subject.get(subject, ()))

    def reserve(self, call: Call) -> Ledger:
        """Return the ledger after a reservation."""
        numbers = self.by_subject.get(call.subject, ())
        in_flight = (*self.in_flight, call.number) if call.is_in_flight else self.in_flight
        return replace(
            self,
            in_flight=in_flight,
            calls=self.calls.set(call.number, call),
            by_subject=self.by_subject.set(call.subject, (*numbers, call.number)),
            charged_tokens=self.charged_tokens + call.charged_tokens,
            charged_microusd=self.charged_microusd + call.charged_microusd,
        )

    def end(self, call: Call) -> Ledger:
        """Return the ledger after a call was settled or abandoned."""
        return replace(
            self,
            calls=self.calls.set(call.number, call),
            prompt_tokens=self.prompt_tokens + call.prompt_tokens,
            completion_tokens=self.completion_tokens + call.completion_tokens,
            cost_usd=self.cost_usd + call.cost_usd,
            charged_tokens=self.charged_tokens + call.charged_tokens - call.reserved_tokens,
            charged_microusd=self.charged_microusd + call.charged_microusd - call.reserved_microusd,
        )

    def land(self, numbers: Iterable[int], generation: int) -> Ledger:
        """Return the ledger after a generation took the answers to calls in flight, come or not."""
        calls, landed = self.calls, set(numbers)
        for number in landed:
            calls = calls.set(number, replace(calls[number], landed=generation))
        return replace(self, calls=calls, in_flight=tuple(n for n in self.in_flight if n not in landed))

    def refuse(self, refused: RefusedCall) -> Ledger:
        """Return the ledger after the store did not take a reservation."""
        return replace(self, refusals=self.refusals.set(refused.subject, refused))

    def judge(
        self,
        number: int,
        seq: int,
        verdict: Literal["accepted", "rejected"],
        diagnostic: str | None = None,
        bought: tuple[str, ...] = (),
    ) -> Ledger:
        """Return the ledger after event `seq`, with which the asking agent judged an answer."""
        call = self.calls[number]
        call = replace(call, verdict=verdict, judged_seq=seq, diagnostic=diagnostic, bought=bought)
        return replace(self, calls=self.calls.set(number, call))
