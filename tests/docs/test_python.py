"""The tutorial on Python and the notebook do what they show."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.docs.following import LEFT_OUT, ROOT, TUTORIALS, blocks, substituted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SMALLER = (
    'budget="300 work", preset="none", library="basic", operator_limit=4, policy="uniform", pipelines=3, '
    "batch_size=2, evaluators=1, validation_instances=1, test_instances=1"
)
"""Instead of a budget of 20,000 work units: seconds of a run."""


def test_every_block_of_the_tutorial_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", reader)
    text = substituted(TUTORIALS / "python.md", {'budget="20000 work"': SMALLER, "work=20000": "work=300"})
    printed, found = "", blocks(text)
    assert len(found) > 10
    for block in found:
        if block.language == "text":
            lines, there = block.text.splitlines(), printed.splitlines()
            assert len(lines) == len(there), printed
            pairs = zip(lines, there, strict=True)
            assert all(line in (LEFT_OUT, real) for line, real in pairs), printed
        else:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, "python.md", "exec", dont_inherit=True), reader.__dict__)
            printed = out.getvalue()


@pytest.mark.long
def test_the_notebook_runs(tmp_path: Path) -> None:
    import nbclient
    import nbformat

    notebook: Any = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "stored without outputs"
    for cell in notebook.cells:
        cell.source = cell.source.replace('budget="20000 work"', SMALLER)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
    assert any("<progress" in html for html in shown), "progress"
    assert any("Verdict:" in html and "<svg" in html for html in shown), "the run shows itself"
