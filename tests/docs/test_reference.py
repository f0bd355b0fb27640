"""The generated reference is that of the code: pages cannot fall behind models, fold and contract."""

from __future__ import annotations

import re

import pytest
from reference_pages import contract_page, events_page
from reference_pages.pages import MARK, PAGES, REFERENCE, page_text
from reference_pages.refusals import refusals

from dga2d.domains.core.contract import Domain
from dga2d.domains.source_rules import ALLOWED_IMPORTS
from dga2d.events.payloads import PAYLOAD_TYPES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    written = (REFERENCE / name).read_text(encoding="utf-8")
    assert written == page_text(name), f"docs/reference/{name} is out of date: make reference"


def test_every_event_type_and_every_field_is_told() -> None:
    page = (REFERENCE / "events.md").read_text(encoding="utf-8")
    for name, model in PAYLOAD_TYPES.items():
        (section,) = re.findall(rf"^### {name}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(model.model_fields)


def test_a_type_or_a_field_nobody_describes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(events_page.GROUPS, "The run as a whole", ("RunStarted",))
    with pytest.raises(ValueError, match=r"differ in .*'RunPaused'"):
        events_page.generated()
    monkeypatch.undo()
    monkeypatch.setattr(events_page, "_meanings", lambda: {"common": {}})
    with pytest.raises(ValueError, match=r"RunStarted\.domain has no meaning"):
        events_page.generated()


def test_a_meaning_that_no_field_needs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    meanings = {
        **events_page._meanings(),
        "RunStarted": {**events_page._meanings()["RunStarted"], "sed": "?"},
    }
    monkeypatch.setattr(events_page, "_meanings", lambda: meanings)
    with pytest.raises(ValueError, match=r"no field needs \[\('RunStarted', 'sed'\)\]"):
        events_page.generated()


def test_reasons_of_a_refusal_come_from_helpers_too() -> None:
    assert refusals("EdgesKept") == [
        "the run is …",
        "no generation is open",
        "speaks of generation … while generation … is open",
        "the credits have not been updated",
        "there is no slot …",
        "the slot has its verdict",
    ]
    assert "step … leaves the graph" in refusals("PipelineSampled")
    assert refusals("RunPaused") == []


def test_every_member_of_a_domain_is_told() -> None:
    page = contract_page.generated()
    told = re.findall(r"^### Domain\.(\w+)$", page, re.MULTILINE)
    assert told == [name for name in vars(Domain) if name.islower() and not name.startswith("_")]
    assert "- raises `ImportError`: It is drawn by matplotlib, and there is none." in page


def test_the_contract_names_every_module_an_implementation_may_import() -> None:
    page, _, _ = (REFERENCE / "domain-contract.md").read_text(encoding="utf-8").partition(MARK)
    assert [name for name in ALLOWED_IMPORTS - {"__future__"} if f"`{name}`" not in page] == []
