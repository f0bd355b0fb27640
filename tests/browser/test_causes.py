"""Why a line of code is in the algorithm, cause by cause, and what became of an answer of the model."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect
from tests.browser.conftest import FIFTY, HOSTILE_RUN, Tab, panel_in_both

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]
STANDINGS = "in the algorithm|in its pool|no longer in its pool|in the graph|no longer in the graph"


@panel_in_both
async def test_a_line_leads_to_its_edit_to_the_call_and_to_the_event(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#algorithm")
    evolved = page.locator("details:has(a.line)").first
    await evolved.locator("summary").click()
    line = evolved.locator("a.line").first
    seq = (await line.get_attribute("href") or "").removeprefix("#code-of-")
    assert f"event {seq}" in (await line.get_attribute("title") or "")
    await line.click()
    await expect(page.locator("#tab-lineage")).to_have_attribute("aria-selected", "true")
    await expect(page.locator(f"#code-of-{seq}")).to_be_visible()
    edit = page.locator(f"#edit-{seq}")
    call = edit.locator("a[data-panel=calls]")
    number = (await call.get_attribute("data-open") or "").removeprefix("call-")
    await call.click()
    await expect(page.locator("#tab-calls")).to_have_attribute("aria-selected", "true")
    opened = page.locator(f"#call-{number}")
    await expect(opened).to_have_attribute("open", "")
    prompt, answer = opened.locator("pre").nth(0), opened.locator("pre").nth(1)
    await expect(prompt).to_be_visible()
    await expect(answer).to_contain_text("def run")
    await opened.locator(f".became a[href='#code-of-{seq}']").click()
    await edit.locator(f"a[data-panel=events][data-seq='{seq}']").click()
    await tab.shows("events", int(seq))
    await expect(page.locator("#panel h3")).to_contain_text(f"Event {seq}, Implementation")


@panel_in_both
async def test_a_call_says_what_became_of_its_answer(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#calls")
    accepted = page.locator("details[id^=call-]:has(.became)")
    assert await accepted.count() > 0
    for told in await accepted.locator(".became").all_text_contents():
        assert re.fullmatch(rf"What became of it: generation \d+, .+; ({STANDINGS})\.", told), told
    page = await tab.open(f"/runs/{HOSTILE_RUN}#calls")
    rejected = page.locator("details[id^=call-]").filter(has=page.locator("summary", has_text=", rejected"))
    await rejected.first.locator("summary").click()
    assert await rejected.first.locator("p:not(.soft)").first.inner_text()  # why
    assert await rejected.first.locator(".became").count() == 0


@panel_in_both
async def test_code_of_an_operator_is_highlighted(tab: Tab) -> None:
    page = await tab.open(f"/runs/{FIFTY}#graph")
    await page.locator("a[data-operator]").nth(1).press("Enter")
    await page.locator("#operator summary").first.click()
    names = page.locator("#operator pre.code").first.locator(".nf")
    await expect(names.filter(has_text=re.compile("^run$")).first).to_be_visible()
