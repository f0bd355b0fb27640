"""Answers that were recorded for other prompts: found by the kind of request and the operator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.made_up_library import CARD

from dga2d.agents.proposing.errors import ModelUnavailableError
from dga2d.agents.proposing.models import Completion, CompletionRequest, Quote
from dga2d.agents.proposing.prompts import Prompt
from dga2d.agents.proposing.tasks import ImplementTask, OperatorContract, PoolEntry
from dga2d.agents.work_calibration import NOTHING_KNOWN, KnownRates
from dga2d.events import ImplementationId, OperatorId, blob_digest
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.recorded import RecordedCall, RecordedModel, Recording

if TYPE_CHECKING:
    from tests.runtime.gateway.conftest import Conversation


async def test_a_recording_answers_requests_of_its_kind_each_once() -> None:
    """What replacements made is given whole; what was asked word for word is given as it was."""
    graph, diff, edge = (call_of(n, text) for n, text in enumerate(("{}", "FIND", '{"edges": []}'), 1))
    code = replace(diff, ending=replace(answered("FIND"), text="```python\npass\n```\n"))
    recording = Recording(
        "first",
        "imaginary",
        {("implement/1/0", 0): diff},
        KnownRates("first", {"baseline": ()}),
        {("initialize", ""): (graph,), ("implement", "build"): (code,), ("connect", ""): (edge,)},
    )
    model = RecordedModel(recording, matches_tasks=True)
    assert model.recording.rates == NOTHING_KNOWN
    asked = implement_request("implement/7/1", "build")
    assert model.quote(asked).model == "recorded:first by task"
    for _ in range(2):  # a request that comes again gets the same
        assert (await model.complete(asked)).text == "```python\npass\n```\n"
    for other in (implement_request("implement/7/2", "build"), implement_request("implement/7/3", "climb")):
        assert model.quote(other).model == ""
        with pytest.raises(ModelUnavailableError, match=r"holds no further answer to a request to implement"):
            await model.complete(other)
    exact = RecordedModel(recording)
    with pytest.raises(ModelUnavailableError, match="holds no answer to implement/7/1"):
        await exact.complete(asked)


def answered(text: str) -> Completion:
    return Completion(text, 1, 1, is_estimated=False, cost_usd=0.0)


def call_of(number: int, text: str) -> RecordedCall:
    return RecordedCall(number, blob_digest(b"asked"), Quote(9, 0.0), answered(text))


def implement_request(subject: str, operator: str) -> CompletionRequest:
    contract = OperatorContract(OperatorId(operator), "", "", "initialisation", "none", "complete")
    parent = PoolEntry(ImplementationId(f"{operator}.1"), "pass\n", 0.0)
    task = ImplementTask(card=CARD, operator=contract, mode="add", pool=(parent,), parent=parent)
    return CompletionRequest(Prompt("another", "implement@3"), task, (1,), subject)


@pytest.mark.parametrize(
    ("llm", "said"),
    [
        ("recorded:first,match=prompt", "expected match=task, got match=prompt"),
        ("recorded:first,match=", "expected match=task, got match="),
        ("recorded:none.zip,match=task", "there is no such file"),
    ],
)
def test_another_way_to_match_is_refused(conversation: Conversation, llm: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        conversation.hold("good", run="second", llm=llm)
