"""``report --figures``: figures for a paper, the same ones every time; and the report as Markdown."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
import pytest

from dga2d.runtime.report.evaluations import HeatMap
from dga2d.runtime.report.figures import (
    Drawable,
    convergence_figure,
    credit_figure,
    graph_figure,
    read_drawable,
    write_figures,
)

NAMES = ("convergence", "graph", "credit", "incumbent")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawable(finished: Any) -> Drawable:
    return anyio.run(read_drawable, finished.url, "done")


@pytest.fixture(scope="module")
def folder(finished: Any) -> Path:
    """Where the program wrote the figures of the finished run."""
    told = finished.run("report", "done", "--figures", "made/figures", "--json")
    assert told.code == 0, told.err
    assert told.json == {
        "run": "done",
        "report": None,
        "format": None,
        "figures": [f"made/figures/{name}.{kind}" for name in NAMES for kind in ("png", "svg")],
        "head_hash": finished.rows("done")[-1].hash.hex(),
    }
    assert not (finished.folder / "done.html").exists()
    return Path(finished.folder) / "made" / "figures"


def texts(drawing: Path) -> list[str]:
    """What is written in a drawing."""
    return ["".join(text.itertext()).strip() for text in ElementTree.parse(drawing).iter(f"{SVG}text")]


def test_every_figure_is_a_picture_in_both_formats(folder: Path) -> None:
    for name in NAMES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n")
        assert ElementTree.parse(folder / f"{name}.svg").getroot().tag == f"{SVG}svg"


def test_the_figures_show_the_operators_the_generations_and_the_instance(
    folder: Path, drawable: Drawable
) -> None:
    assert {"generation", "best so far", "validation"} <= set(texts(folder / "convergence.svg"))
    assert {*drawable.state.pools, "credit", "generation"} <= set(texts(folder / "credit.svg"))
    assert {"START", "END", *drawable.state.pools} <= set(texts(folder / "graph.svg"))
    assert any(drawable.data.incumbents[0].instance in text for text in texts(folder / "incumbent.svg"))


@pytest.mark.slow
def test_the_same_run_gives_the_same_bytes(folder: Path, drawable: Drawable, tmp_path: Path) -> None:
    again = write_figures(drawable, tmp_path)
    assert again.faults == []
    assert [file.read_bytes() for file in again.files] == [
        (folder / file.name).read_bytes() for file in again.files
    ]


def test_an_incumbent_that_cannot_be_drawn_is_said_and_the_rest_is_there(
    drawable: Drawable, tmp_path: Path
) -> None:
    header = drawable.state.header.model_copy(update={"domain": "gone"})
    drawn = write_figures(drawable._replace(state=replace(drawable.state, started=header)), tmp_path)
    assert {file.stem for file in drawn.files} == {"convergence", "graph", "credit"}
    (fault,) = drawn.faults
    assert fault.startswith("no picture of the incumbent: no domain is called 'gone'")


def test_what_there_is_nothing_to_draw_of_is_left_out() -> None:
    failed = {"generation": 1, "best_so_far_percent": None, "best_gap_percent": None}
    assert convergence_figure([{**failed, "validation_gap_percent": None}]) is None
    assert convergence_figure([]) is None
    assert credit_figure(HeatMap((), (1,), {})) is None


def test_the_heat_map_puts_each_credit_at_its_operator_and_generation() -> None:
    values = {("a", 2): 0.5, ("b", 1): -0.25}
    figure = credit_figure(HeatMap(("a", "b"), (1, 2), values))
    assert figure is not None
    (image,) = figure.axes[0].images
    shown = image.get_array()
    assert shown is not None
    assert shown.tolist() == [[None, 0.5], [-0.25, None]]
    assert image.get_clim() == (-0.5, 0.5)


def test_removed_edges_are_not_drawn(drawable: Drawable) -> None:
    from dga2d.runtime.report.graph_drawing import draw_graph

    credits = {(a, b): credit for a, b, credit in drawable.data.edges}
    picture = draw_graph(
        drawable.state.header, drawable.state, drawable.state, credits, drawable.data.first_edges
    )
    gone = replace(picture, links=tuple(replace(link, change="removed") for link in picture.links))
    nodes = len(picture.nodes)
    assert len(graph_figure(picture).axes[0].patches) == nodes + 2 * len(picture.links) > nodes
    assert len(graph_figure(gone).axes[0].patches) == nodes


def test_without_matplotlib_the_extra_is_named(
    finished: Any, command: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    outcome = command("report", "done", "--figures", str(tmp_path / "none"), program=finished)
    assert outcome.code == 2
    assert outcome.error == "error: --figures needs matplotlib: pip install 'dga2d[figures]'"
    assert not (tmp_path / "none").exists()


def test_a_file_in_the_place_of_the_folder_is_named(finished: Any, command: Any, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    outcome = command("report", "done", "--figures", str(tmp_path / "taken"), program=finished)
    assert outcome.code == 2
    assert outcome.error.startswith(f"error: cannot write {tmp_path}/taken: File exists")


@pytest.mark.slow
def test_a_report_is_written_too_where_it_is_asked_for(finished: Any, command: Any, tmp_path: Path) -> None:
    asked = ("report", "done", "--figures", str(tmp_path / "f"), "-o", str(tmp_path / "told.md"))
    outcome = command(*asked, program=finished)
    assert outcome.code == 0, outcome.err
    first, *others = outcome.out.splitlines()
    assert (first, len(others)) == (str(tmp_path / "told.md"), 8)
    assert (tmp_path / "told.md").read_text(encoding="utf-8").startswith("# done\n")


def test_a_report_in_markdown_has_the_name_of_the_run(finished: Any, command: Any) -> None:
    outcome = command("report", "done", "--format", "md", "--json", program=finished)
    assert outcome.code == 0, outcome.err
    told = outcome.json
    assert (told["report"], told["format"], told["figures"]) == ("done.md", "md", None)
    page = (finished.folder / "done.md").read_text(encoding="utf-8")
    assert f"head `{told['head_hash']}`" in page
    assert "## The algorithm" in page
