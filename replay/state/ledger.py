"""The ledger of language-model calls: reserved before they are sent, settled or abandoned after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from immutables import Map

from dga2d.events import BlobDigest
from dga2d.events.payloads import CallPurpose

CallStatus = Literal["reserved", "settled", "abandoned"]


@dataclass(frozen=True)
class Call:
    """One call and what became of it."""

    number: int
    purpose: CallPurpose
    agent: str
    generation: int | None
    subject: str
    attempt: int
    model: str
    reserved_seq: int
    prompt: BlobDigest
    status: CallStatus = "reserved"
    ended_seq: int | None = None
    response: BlobDigest | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    verdict: Literal["accepted", "rejected"] | None = None
    """What the asking agent made of the answer; ``None`` until it has spoken."""
    judged_seq: int | None = None
    diagnostic: str | None = None
    """Why the answer was rejected."""


@dataclass(frozen=True)
class Ledger:
    """All calls of a run by number, with totals."""

    limit: int = 0
    calls: Map[int, Call] = Map()
    by_subject: Map[str, tuple[int, ...]] = Map()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def used(self) -> int:
        """Calls charged so far, whatever became of them."""
        return len(self.calls)

    @property
    def left(self) -> int:
        return self.limit - self.used

    def calls_for(self, subject: str) -> tuple[Call, ...]:
        """Calls made for one edit, in order."""
        return tuple(self.calls[number] for number in self.by_subject.get(subject, ()))

    def reserved(self, call: Call) -> Ledger:
        """The ledger after a reservation."""
        numbers = self.by_subject.get(call.subject, ())
        return replace(
            self,
            calls=self.calls.set(call.number, call),
            by_subject=self.by_subject.set(call.subject, (*numbers, call.number)),
        )

    def ended(self, call: Call) -> Ledger:
        """The ledger after a call was settled or abandoned."""
        return replace(
            self,
            calls=self.calls.set(call.number, call),
            prompt_tokens=self.prompt_tokens + call.prompt_tokens,
            completion_tokens=self.completion_tokens + call.completion_tokens,
            cost_usd=self.cost_usd + call.cost_usd,
        )

    def judged(
        self, number: int, seq: int, verdict: Literal["accepted", "rejected"], diagnostic: str | None = None
    ) -> Ledger:
        """The ledger after event `seq`, with which the asking agent judged an answer."""
        call = replace(self.calls[number], verdict=verdict, judged_seq=seq, diagnostic=diagnostic)
        return replace(self, calls=self.calls.set(number, call))
