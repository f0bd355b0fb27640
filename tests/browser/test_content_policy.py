"""The content security policy, as a browser obeys it: only what the program serves runs."""

from __future__ import annotations

import pytest
from tests.browser.conftest import FIFTY, Tab, in_both

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]
FORBIDDEN = {
    "inline script": """
        const made = document.createElement('script'); made.textContent = 'window.ran = true';
        document.head.append(made);""",
    "handler in an attribute": """
        const made = document.createElement('img'); made.setAttribute('onerror', 'window.ran = true');
        made.src = 'data:image/png;base64,none'; document.body.append(made);""",
    "link that is code": """
        const made = document.createElement('a'); made.href = 'javascript:window.ran = true';
        document.body.append(made); made.click();""",
}


@in_both
@pytest.mark.parametrize("what", FORBIDDEN)
async def test_code_that_the_program_did_not_serve_does_not_run(tab: Tab, what: str) -> None:
    page = await tab.open(f"/runs/{FIFTY}#overview")
    await page.evaluate(f"() => {{ {FORBIDDEN[what]} }}")
    await page.wait_for_timeout(300)
    assert await page.evaluate("() => window.ran === undefined")
    tab.complaints.clear()  # the browser says that it refused
