"""Drawings: everything is in them once and at its place, and no name in them is more than a name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dga2d.domains.drawing import (
    FILLS,
    Axis,
    Bar,
    Dots,
    Drawing,
    Line,
    Panel,
    Segments,
    Task,
    align_axes,
    boxes_panel,
    gantt_panel,
    look_of,
)
from dga2d.domains.drawing.frames import spans_of, ticks_of
from dga2d.domains.drawing.layout import SMALL, Frame, laid_out
from dga2d.domains.drawing.looks import HATCHES
from dga2d.domains.drawing.shapes import back_to_front
from dga2d.domains.drawing.svg import MOST_EXPLAINED, STYLE, svg_element, svg_file
from dga2d.domains.shared.shops.domain import shop_panel

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title></svg><script>x</script><img src=y onerror='z'>\"&\u202e\x07"
LARGEST_BYTES = 1_000_000


def chart(tasks: Sequence[Task], n_rows: int = 3, **given: object) -> Drawing:
    return Drawing("a chart", ((gantt_panel(tasks, list(map(str, range(n_rows))), "time", "row", **given),),))  # type: ignore[arg-type]


def rectangles(drawing: Drawing) -> list[tuple[str, tuple[float, ...]]]:
    """Words and left, top, width and height of each bar."""
    root = ElementTree.fromstring(svg_file(drawing))
    found = []
    for path in root.iter(f"{SVG}path"):
        place = re.fullmatch(r"M(\S+) (\S+)h(\S+)v(\S+)h-\3z", path.get("d") or "")
        title = path.find(f"{SVG}title")
        if place is not None and title is not None:
            found.append((title.text or "", tuple(map(float, place.groups()))))
    return found


TASKS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 500), st.integers(1, 60), st.integers(0, 90)),
    min_size=1,
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(TASKS)
def test_every_task_has_one_bar_from_its_start_to_its_end(drawn: list[tuple[int, int, int, int]]) -> None:
    tasks = [
        Task(row, start, start + length, kind, f"task {number}")
        for number, (row, start, length, kind) in enumerate(drawn)
    ]
    drawing = chart(tasks)
    (frame,) = laid_out(drawing).frames
    unit = frame.width / (frame.across[1] - frame.across[0])
    found = dict(rectangles(drawing))
    assert len(found) == len(rectangles(drawing)) == len(tasks)
    for number, task in enumerate(tasks):
        left, top, width, height = found[f"task {number}"]
        assert left == pytest.approx(frame.x + unit * task.start, abs=0.01)
        assert width == pytest.approx(unit * (task.end - task.start), abs=0.01)
        row = (top + height / 2 - frame.y) / frame.height * 3 - 0.5
        assert row == pytest.approx(task.row, abs=0.01)


def test_a_shop_of_ten_thousand_operations_stays_small_and_says_what_it_merged() -> None:
    rng = np.random.default_rng(1)
    machines = rng.permuted(np.tile(np.arange(100), (100, 1)), axis=1)
    times = rng.integers(1, 100, (100, 100))
    starts = np.cumsum(times, axis=1) - times
    drawing = Drawing("ta/large: makespan", ((shop_panel(machines, times, starts, 9900.0),),))
    assert sum(isinstance(shape, Bar) for shape in drawing.shapes) == 10_000
    text = svg_element(drawing)
    assert len(text) < LARGEST_BYTES
    assert f"More than {MOST_EXPLAINED} items" in text
    assert text.count("(100 bars)") == 100
    assert len(re.findall(r"h\S+v\S+h-", text)) == 10_000


def test_a_tour_of_twenty_thousand_places_stays_small() -> None:
    points = np.random.default_rng(1).random((20_000, 2))
    words = [f"city {i}" for i in range(20_000)]
    panel = Panel((Line(points, 0, "the tour"), Dots(points, "limit", words)), is_equal=True)
    assert len(svg_element(Drawing("a tour", ((panel,),)))) < LARGEST_BYTES


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=30))
@example("00000\t00000000000000000000")  # so long a title has two lines
def test_hostile_names_are_only_text(more: str) -> None:
    name = HOSTILE + more
    points = np.array([[0.0, 1.0], [2.0, 3.0]])
    shapes = (
        Bar(0, 3, 0, 3, 11, name, name),
        Line(points, 0, name, name),
        Dots(points, 1, [name, name], name, [name, name]),
        Dots(points, 1, [name, name], name, shape="ring"),
        Segments(points.reshape(1, 2, 2), "soft", name, name),
    )
    y = Axis(name, ticks=((0.0, name),))
    panel = Panel(shapes, Axis(name), y, name, categories=tuple(name for _ in range(12)))
    solids = boxes_panel(np.zeros((1, 3)), np.ones((1, 3)), (1, 1, 1), [0], [name], name)
    text = svg_file(Drawing(name, ((panel, solids),), (name,)))
    root = ElementTree.fromstring(text)
    shapes_of_svg = {"defs", "pattern", "rect", "path", "g", "circle"}
    allowed = {"svg", "desc", "style", "title", "text", "tspan"} | shapes_of_svg
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    for element in root.iter():
        assert not {key for key in element.attrib if key.startswith("on") or key in ("style", "href")}
    assert "\u202e" not in text
    assert "<script" not in text


def test_looks_repeat_only_after_all_colours_and_patterns() -> None:
    most = len(FILLS) * len(HATCHES)
    assert len({look_of(category) for category in range(most)}) == most
    assert look_of(most) == look_of(0)


def test_each_of_twenty_jobs_looks_different_in_the_gantt_chart() -> None:
    text = svg_element(chart([Task(0, 10 * job, 10 * job + 10, job, f"job {job}") for job in range(20)]))
    assert len(set(re.findall(r'<g class="items"><g ((?:class|fill)="[^"]+")>', text))) == 20
    patterns = set(re.findall(r'<pattern id="([^"]+)"', text))
    assert set(re.findall(r'fill="url\(#([^)]+)\)"', text)) == patterns
    assert len(patterns) == 11  # those of the second and third round of nine colours


def test_a_drawing_says_in_words_what_it_shows() -> None:
    text = svg_element(chart([Task(0, job, job + 1, job, f"job {job}") for job in range(50)]))
    said = re.search("<desc>(.*)</desc>", text)
    assert said is not None
    assert "50 bars" in said[1]
    assert ": job 0; job 1; " in said[1]
    assert said[1].endswith("job 39; and 10 more.")


def test_names_of_categories_are_in_the_legend_if_they_are_not_too_many() -> None:
    few, many = ([Task(0, job, job + 1, job, "x") for job in range(n)] for n in (5, 25))
    assert "job 4</text>" in svg_element(chart(few, categories=[f"job {job}" for job in range(5)]))
    assert "job 4</text>" not in svg_element(chart(many, categories=[f"job {job}" for job in range(25)]))


def test_the_axes_of_a_row_of_pictures_are_the_same() -> None:
    steps = [chart([Task(0, 0, end, 0, "x")], limit=(end, "makespan")) for end in (90.0, 70.0, 80.0)]
    framed = align_axes(steps)
    assert {spans_of(drawing.panels[0])[0][1] for drawing in framed} == {90.0 * 1.004}
    assert len({laid_out(drawing).frames[0].across for drawing in framed}) == 1
    ends = [rectangles(drawing)[0][1][2] for drawing in framed]
    assert ends[1] == pytest.approx(ends[0] * 7 / 9, abs=0.02)


def test_a_picture_with_fewer_panels_is_filled_up() -> None:
    one, two = (Panel((Bar(0, 1, 0, 1, 0, "x"),), title=f"bin {i}") for i in range(2))
    framed = align_axes([Drawing("two", ((one, two), (one,))), Drawing("one", ((one,),))])
    assert [[len(row) for row in drawing.rows] for drawing in framed] == [[2, 1], [2, 1]]
    assert len({laid_out(drawing).height for drawing in framed}) == 1
    assert svg_element(framed[1]).count(">bin ") == 2  # its title, and in words


def test_a_unit_is_as_long_across_as_upwards_where_it_must_be() -> None:
    panel = Panel((Line(np.array([[0.0, 0.0], [10.0, 1.0]]), 0, "x"),), is_equal=True, height=300.0)
    (frame,) = laid_out(Drawing("x", ((panel,),))).frames
    (a, b) = frame.at(np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert b[0] - a[0] == pytest.approx(a[1] - b[1])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=12, unique=True))
def test_nearer_boxes_are_painted_later(cells: list[tuple[int, int, int]]) -> None:
    low = np.array(cells)
    order = back_to_front(low, low + 1)
    assert sorted(order) == list(range(len(cells)))
    place = {item: number for number, item in enumerate(order)}
    for a, cell in enumerate(cells):
        for b, other in enumerate(cells):
            step = np.array(other) - np.array(cell)
            if a != b and (step == step[0]).all() and step[0] > 0:  # behind each other on the line of sight
                assert place[a] < place[b]


def test_boxes_that_hide_each_other_in_a_circle_are_painted_all_the_same() -> None:
    low = np.array([[0, 1, 0], [0, 0, 2], [2, 0, 0]])
    high = np.array([[3, 2, 1], [1, 3, 3], [3, 1, 3]])
    assert sorted(back_to_front(low, high)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("axis", "span", "texts"),
    [
        (Axis(), (0.0, 10.0), ["0", "2", "4", "6", "8", "10"]),
        (Axis(is_whole=True), (0.5, 3.5), ["1", "2", "3"]),
        (Axis(is_log=True), (1e-3, 1e2), ["1e-3", "1e-2", "1e-1", "1e0", "1e1", "1e2"]),
        (Axis(ticks=((0.0, "a"), (9.0, "b"))), (0.0, 5.0), ["a"]),
    ],
)
def test_ticks_are_round_and_inside(axis: Axis, span: tuple[float, float], texts: list[str]) -> None:
    assert [text for _, text in ticks_of(axis, span, 5)] == texts


def test_places_on_logarithmic_and_downward_axes() -> None:
    panel = Panel(y=Axis(is_log=True), is_downward=True)
    frame = Frame(panel, 10.0, 20.0, 100.0, 50.0, (0.0, 1.0), (1.0, 100.0))
    assert frame.at(np.array([0.5, 10.0])).tolist() == [60.0, 45.0]


def test_the_style_asks_for_nothing_and_knows_dark_and_light() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert "prefers-color-scheme: dark" in STYLE


def test_a_small_drawing_keeps_its_title_axes_and_says_what_its_key_leaves_out() -> None:
    tasks = [Task(job % 3, 10 * job, 10 * job + 10, job, f"job {job}") for job in range(20)]
    named = chart(tasks, categories=[f"job {job}" for job in range(20)])
    named = replace(named, title="a schedule whose title is too long for a single line of a column")
    text = svg_element(named, SMALL)
    assert f'viewBox="0 0 {SMALL.width:g} ' in text
    title = re.search(r'<text class="title"[^>]*>(.*?)</text>', text)
    assert title is not None
    assert "<tspan" in title[1]
    assert re.sub("<[^>]+>", "", title[1]) == named.title
    assert "Colours and patterns: job 0 to job 19; pointing at one names it.</text>" in text
    assert laid_out(named, SMALL).frames[0].height <= SMALL.room
    few = chart(tasks[:5], categories=[f"job {job}" for job in range(5)])
    assert "job 4</text>" in svg_element(few, SMALL)
    assert "pointing at one" not in svg_element(few, SMALL)
