"""The paper's instance sets by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from dga2d.domains.core.contract import own_score_of
from dga2d.domains.core.paper_suite import (
    IncompleteSuiteError,
    NoSuiteError,
    _table,
    expand_names,
    paper_files,
    paper_refs,
)
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.core.splits import part_sizes, split

SPLITS = {
    "binpack3d": (432, 144, 144),
    "clp3d": (90, 30, 30),
    "cvrp": (81, 25, 36),
    "fjsp": (199, 66, 71),
    "fssp": (66, 22, 22),
    "jsp": (96, 33, 33),
    "maxcut": (24, 8, 9),
    "ossp": (36, 12, 12),
    "rcpsp": (288, 96, 96),
    "salbp1": (315, 105, 105),
}
"""As the paper's table has them; it does not name its instances of tsp and mis."""
MADE = ("binpack3d", "clp3d", "fssp", "maxcut", "ossp")


def test_names_are_expanded() -> None:
    assert expand_names("la{01-03} k{9-11} x{a,b}-{1-2}") == [
        *("la01", "la02", "la03", "k9", "k10", "k11"),
        *("xa-1", "xa-2", "xb-1", "xb-2"),
    ]


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_again_has_the_papers_splits(name: str) -> None:
    assert tuple(map(len, split(paper_refs(get_domain(name), None)))) == SPLITS[name]


@pytest.mark.parametrize("name", sorted({*SPLITS} - {*MADE}))
def test_files_are_as_many_as_the_papers_splits(name: str) -> None:
    groups = [len(names) for names in paper_files(name).values()]
    groups += [80] if name == "jsp" else []  # Taillard's are made again
    parts = zip(*map(part_sizes, groups), strict=True)
    assert tuple(map(sum, parts)) == SPLITS[name]
    for names in paper_files(name).values():
        assert len({*names}) == len(names)


def test_there_is_a_suite_of_every_problem_of_the_paper() -> None:
    assert {*_table()} == {name for name in domain_names() if own_score_of(get_domain(name)) is None}
    with pytest.raises(NoSuiteError, match="the paper has no instances of ode"):
        paper_refs(get_domain("ode"), None)


def test_files_are_chosen_by_name_and_missing_ones_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "fjsp" / "kacem"
    folder.mkdir(parents=True)
    (tmp_path / "fjsp" / "bks.json").write_text("{}")
    for name in ("k1", "K2", "other"):
        (folder / f"{name}.txt").write_text("1 1\n1 1 0 5\n")
    with pytest.raises(IncompleteSuiteError) as raised:
        paper_refs(get_domain("fjsp"), tmp_path)
    missing = raised.value.missing
    assert len(missing) == 336 - 2
    assert "kacem/k3" in missing
    assert not {"kacem/k1", "kacem/k2"} & {*missing}
    assert "\n  hurink/edata-la01\n" in str(raised.value)
