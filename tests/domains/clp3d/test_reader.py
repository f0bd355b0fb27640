"""The readers of container loading instances take thpack and JSON files and refuse everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dga2d.domains.clp3d import DOMAIN
from dga2d.domains.clp3d.generator import CONTAINER, TYPES, generate
from dga2d.domains.clp3d.reader import BoxType, Problem, parse_json, parse_problems, read_problems
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.splits import split

GOOD = "2\n1 99\n10 8 6\n2\n1 5 0 4 1 3 1 2\n2 6 1 6 1 6 1 1\n7 98\n10 8 6\n1\n1 5 0 4 0 3 1 4\n"
JSON = '{"container": [10, 8, 6], "boxes": [{"sides": [5, 4, 3], "upright": [0, 1, 1], "quantity": 2}]}'


def thpack_text(problems: list[Problem]) -> str:
    """A file of the published format."""
    lines = [str(len(problems))]
    for problem in problems:
        lines += [f"{problem.number} {problem.seed}", " ".join(map(str, problem.data.bin_size.tolist()))]
        lines.append(str(len(problem.types)))
        for index, box in enumerate(problem.types, start=1):
            sides = " ".join(f"{s} {u}" for s, u in zip(box.sides, box.upright, strict=True))
            lines.append(f"{index} {sides} {box.quantity}")
    return "\n".join(lines) + "\n"


def test_a_thpack_text_is_read() -> None:
    first, second = parse_problems(GOOD, "good.txt")
    assert (first.number, first.seed, second.number) == (1, 99, 7)
    assert first.types == (BoxType((5, 4, 3), (0, 1, 1), 2), BoxType((6, 6, 6), (1, 1, 1), 1))
    assert first.data.item_sizes.tolist() == [[5, 4, 3], [5, 4, 3], [6, 6, 6]]
    assert first.data.orientation_allowed.tolist() == [[1, 1, 1, 0, 1, 0]] * 2 + [[1] * 6]
    assert not first.data.item_sizes.flags.writeable


def test_a_json_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(JSON)
    (problem,) = read_problems(path)
    assert problem.data.bin_size.tolist() == [10, 8, 6]
    assert problem.types == (BoxType((5, 4, 3), (0, 1, 1), 2),)


BAD = {
    "empty": ("", "the number of problems"),
    "no problems": ("0\n", "no problem"),
    "truncated": (GOOD[: GOOD.rindex("1 5")], "the file ends"),
    "trailing": (GOOD + "1 2\n", "data after the last of 2"),
    "word": (GOOD.replace("99", "x"), "expected an integer"),
    "nan": (GOOD.replace("99", "nan"), "expected an integer"),
    "fraction": (GOOD.replace(" 5 0", " 5.0 0"), "expected an integer"),
    "huge": (GOOD.replace("10 8 6", "99999999999999 8 6", 1), "expected an integer"),
    "zero side": (GOOD.replace("1 5 0 4 1", "1 0 0 4 1"), "is not in 1.."),
    "flag": (GOOD.replace("1 5 0 4 1", "1 5 2 4 1"), "flags are 0 or 1"),
    "never upright": (GOOD.replace("1 5 0 4 1 3 1 2", "1 5 0 4 0 3 0 2"), "at least one is 1"),
    "no quantity": (GOOD.replace("3 1 2\n", "3 1 0\n"), "a quantity is not in"),
    "seven numbers": (GOOD.replace("3 1 2\n", "3 1\n"), "a box type"),
    "wrong index": (GOOD.replace("2 6 1", "3 6 1"), "expected box type 2"),
    "number twice": (GOOD.replace("7 98", "1 98"), "out of turn"),
    "too many boxes": (GOOD.replace("6 1 1\n", "6 1 5000\n"), "the number of boxes"),
    "two container sides": (GOOD.replace("10 8 6", "10 8", 1), "the container's sides"),
}


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD.keys())
def test_a_bad_text_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InstanceFormatError, match=reason):
        parse_problems(text, "bad.txt")


BAD_JSON = {
    "no json": ("{", "cannot be read as JSON"),
    "a list": ("[]", "keys 'container' and 'boxes'"),
    "no boxes": (
        JSON.replace('[{"sides": [5, 4, 3], "upright": [0, 1, 1], "quantity": 2}]', "[]"),
        "number of",
    ),
    "another key": (JSON.replace('"quantity"', '"number"'), "alone"),
    "a fraction": (JSON.replace("[5, 4, 3]", "[5, 4, 3.0]"), "is not in 1.."),
    "nan": (JSON.replace("[5, 4, 3]", "[5, 4, NaN]"), "is not in 1.."),
    "a truth value": (JSON.replace("[0, 1, 1]", "[0, true, 1]"), "three flags"),
    "text": (JSON.replace('"quantity": 2', '"quantity": "2"'), "a quantity"),
}


@pytest.mark.parametrize(("text", "reason"), BAD_JSON.values(), ids=BAD_JSON.keys())
def test_a_bad_json_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InstanceFormatError, match=reason):
        parse_json(text, "bad.json")


def test_files_of_the_suite_have_the_ep_ff_references(tmp_path: Path) -> None:
    folder = tmp_path / "clp3d" / "BR"
    folder.mkdir(parents=True)
    (folder / "BR2.txt").write_text(thpack_text([generate(2, 1), generate(2, 77)]))
    (folder / "mine.txt").write_text(GOOD)
    refs = {ref.key: ref for ref in DOMAIN.published(tmp_path)}
    assert list(refs) == ["BR2/001", "BR2/077", "mine/001", "mine/007"]
    made = {ref.key: ref for ref in DOMAIN.generated()}
    assert refs["BR2/001"].reference == made["BR2/001"].reference
    assert refs["BR2/077"].reference is not None
    assert refs["mine/007"].reference is None
    assert len(DOMAIN.load(refs["mine/007"]).data["item_sizes"]) == 4


def test_the_suite_is_split_as_in_the_papers_table() -> None:
    parts = split(DOMAIN.generated())
    assert tuple(map(len, parts)) == (90, 30, 30)


def test_the_generator_equals_the_published_files(data_dir: Path) -> None:
    count = 0
    for path in sorted((data_dir / "clp3d" / "BR").glob("BR*.txt")):
        br_class = int(path.stem.removeprefix("BR"))
        for problem in read_problems(path):
            made = generate(br_class, problem.number)
            assert (made.seed, made.types) == (problem.seed, problem.types)
            assert problem.data.bin_size.tolist() == list(CONTAINER)
            count += 1
    assert count == 150
    assert len(TYPES) == 15


def test_the_first_problem_has_the_published_numbers() -> None:
    assert generate(1, 1).types == (
        BoxType((108, 76, 30), (0, 0, 1), 40),
        BoxType((110, 43, 25), (0, 1, 1), 33),
        BoxType((92, 81, 55), (1, 1, 1), 39),
    )
