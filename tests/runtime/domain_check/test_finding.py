"""Domains of a user's own: how they are found and identified, what a broken one says, how one begins."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.runtime.domain_check.skeletons import dga2d, installed, skeleton

from dga2d.domains.core.errors import PluginClashError, PluginError, UnknownDomainError
from dga2d.domains.core.plugins import digest_of, load_again, load_folder, use_domain_path
from dga2d.domains.core.registry import domain_names, get_domain, loaded_plugin, solver_entries
from dga2d.runtime.cli.app import app
from dga2d.runtime.domain_check import write_skeleton
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.code_version import code_version, plugin_mark, present_version
from dga2d.runtime.solver_export.bundle import bundle


def test_a_package_on_the_path_is_a_domain_like_any_other(own: Path) -> None:
    skeleton(own, "bagful")
    assert "bagful" in domain_names()
    domain = get_domain("bagful")
    assert domain is get_domain("bagful")
    assert domain.name == "bagful"
    assert solver_entries("bagful")[0] == ("dga2d_plugin_bagful.reader", "environment_of_file")
    assert solver_entries("tsp")[3] == ("dga2d.domains.tsp.verifier", "solution_text")
    assert loaded_plugin("tsp") is None


def test_the_environment_variable_names_folders_too(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skeleton(own, "envbag")
    monkeypatch.setenv("DGA2D_DOMAIN_PATH", os.pathsep.join([str(own), str(own.parent)]))
    listed = CliRunner().invoke(app, ["domains", "--json"])
    assert "envbag" in [row["domain"] for row in json.loads(listed.stdout)]
    monkeypatch.delenv("DGA2D_DOMAIN_PATH")
    assert "envbag" not in CliRunner().invoke(app, ["domains"]).stdout


def test_the_path_can_stand_before_and_behind_a_subcommand(own: Path) -> None:
    skeleton(own, "placebag")
    for arguments in (["--domain-path", str(own), "placebag"], ["placebag", "--domain-path", str(own)]):
        shown = CliRunner().invoke(app, ["domains", *arguments])
        assert shown.exit_code == 0, shown.exception
        assert shown.stdout.startswith("0/1 Knapsack Problem (placebag)")


def test_of_many_instances_the_text_names_the_first_and_counts_the_others() -> None:
    shown, machine = (CliRunner().invoke(app, ["domains", "salbp1", *flags]) for flags in ([], ["--json"]))
    keys = json.loads(machine.stdout)["instances"]["train"]
    line = next(line for line in shown.stdout.splitlines() if line.startswith("  train: "))
    assert line == f"  train: {' '.join(keys[:40])} and {len(keys) - 40} more (--json names all)"


def test_packages_that_are_no_domains_are_passed_over(own: Path) -> None:
    (own / "tests").mkdir()
    (own / "tests" / "__init__.py").write_text("HELP = 1\n", encoding="utf-8")
    assert "tests" not in domain_names()


def test_an_entry_point_is_a_domain(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = installed(tmp_path, "entrybag")
    monkeypatch.syspath_prepend(site)
    assert "entrybag" in domain_names()
    plugin = loaded_plugin("entrybag")
    assert plugin is not None
    assert plugin.files == site / "entrybag"
    assert plugin.package == "entrybag"
    skeleton(own, "elsebag")
    (own / "elsebag").rename(own / "entrybag")
    with pytest.raises(
        PluginClashError, match=r"entrybag' already \(entry point entrybag of entrybag-domain 1.0\)"
    ):
        get_domain("entrybag")


def test_a_name_of_the_program_cannot_be_taken(own: Path) -> None:
    skeleton(own, "ours")
    (own / "ours").rename(own / "jsp")
    for ask in (domain_names, lambda: get_domain("jsp")):
        with pytest.raises(
            PluginClashError, match=r"own/jsp: there is a domain 'jsp' already \(a part of dga2d"
        ):
            ask()
    assert get_domain("tsp").name == "tsp"


def test_two_folders_with_one_name_clash(own: Path, tmp_path: Path) -> None:
    skeleton(own, "twobag")
    other = tmp_path / "other"
    other.mkdir()
    use_domain_path([own, other, own])
    assert "twobag" in domain_names()
    (other / "twobag").symlink_to(own / "twobag")
    for ask in (domain_names, lambda: get_domain("twobag")):
        with pytest.raises(PluginClashError, match="other/twobag: there is a domain 'twobag' already"):
            ask()


BROKEN = {
    "syntax": (
        ("card.py", "CARD = Card(", "CARD = = Card("),
        r"card.py:\d+: cannot be imported: SyntaxError",
    ),
    "name error": (("domain.py", "= NAME\n", "= NAMES\n"), r"domain.py:\d+: cannot be imported: NameError"),
    "other name": (("card.py", '= "broken"', '= "unbroken"'), "calls itself 'unbroken', not 'broken'"),
    "no DOMAIN": (
        ("__init__.py", "DOMAIN = Problem()", "OTHER = Problem()"),
        "__init__.py: defines no DOMAIN",
    ),
    "no verifier": (("domain.py", "def verify(", "def verified("), "__init__.py: DOMAIN has no verify"),
    "missing import": (("reader.py", "integer_lines,", "integer_line,"), r"reader.py:\d+: .*ImportError"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_plugin_names_its_file(own: Path, change: tuple[str, str, str], message: str) -> None:
    folder = skeleton(own, "broken", change)
    with pytest.raises(PluginError, match=message) as caught:
        load_folder(folder)
    assert str(folder) in str(caught.value)


def test_a_broken_plugin_is_one_line_and_exit_code_2(own: Path) -> None:
    skeleton(own, "torn", ("card.py", "CARD = Card(", "CARD = = Card("))
    ended = dga2d(own, "domains", "--domain-path", ".")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.fullmatch(
        r"error: \S+/own/torn/card.py:\d+: cannot be imported: SyntaxError: .*\n", ended.stderr
    )


def test_one_broken_plugin_does_not_take_other_domains_with_it(own: Path) -> None:
    skeleton(own, "torn", ("card.py", "CARD = Card(", "CARD = = Card("))
    assert get_domain("tsp").name == "tsp"


@pytest.mark.parametrize(
    ("folder", "message"),
    [("absent", "names a folder that is not there"), ("own/bag", "is a package itself")],
)
def test_a_wrong_path_is_named(own: Path, folder: str, message: str) -> None:
    skeleton(own, "bag")
    use_domain_path([own.parent / folder])
    with pytest.raises(PluginError, match=f"{folder}: .*{message}"):
        domain_names()


def test_an_unknown_name_says_how_to_add_one(own: Path) -> None:
    with pytest.raises(UnknownDomainError, match="--domain-path DIR adds others"):
        get_domain("knapsak")


def test_a_digest_covers_every_file_but_caches_and_tests(own: Path) -> None:
    folder = skeleton(own, "digbag")
    before = digest_of(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    (folder / "tests" / "test_digbag.py").write_text("", encoding="utf-8")
    (folder / ".notes").write_text("x", encoding="utf-8")
    assert digest_of(folder) == before
    for file in ("library/annealing.py", "card.py", "instances.dat"):
        with (folder / file).open("a", encoding="utf-8") as stream:
            stream.write("\n")
        assert digest_of(folder) != before
        before = digest_of(folder)


def test_the_version_a_log_records_holds_the_digest_of_a_plugin(own: Path) -> None:
    folder = skeleton(own, "versbag")
    assert plugin_mark("versbag") == f" versbag+{digest_of(folder)[:12]}"
    assert plugin_mark("tsp") == ""
    assert present_version("versbag") == code_version() + plugin_mark("versbag")
    assert present_version("tsp") == code_version()


def test_another_process_refuses_files_that_were_changed_meanwhile(own: Path) -> None:
    skeleton(own, "wirebag")
    plugin = loaded_plugin("wirebag")
    assert plugin is not None
    assert load_again(plugin.address()) is plugin.domain
    with pytest.raises(PluginError, match="was changed while it was in use"):
        load_again({**plugin.address(), "digest": "0" * 64})


def test_relative_imports_can_be_bundled(own: Path) -> None:
    skeleton(own, "bundlebag")
    collected = bundle(solver_entries("bundlebag")[:1])
    text = "\n".join(collected.definitions)
    assert "class Items" in text
    assert "def integer_lines" in text
    assert not re.search(r"^from (\.|dga2d)", "\n".join(collected.imports), re.MULTILINE)


def test_the_skeleton_carries_its_new_name_only(own: Path) -> None:
    folder = skeleton(own, "renamed")
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}
    assert len(texts) >= 18
    for path, text in texts.items():
        assert "skeleton" not in text, path
        assert "TODO" not in text, path
    assert (folder / "tests" / "test_renamed.py").is_file()
    assert (folder / "library" / "annealing.py").is_file()


@pytest.mark.parametrize("name", ["Bag", "1bag", "bag-2", "class", "check", "show", "x" * 32, "jsp"])
def test_a_skeleton_needs_a_name_of_its_own(own: Path, name: str) -> None:
    with pytest.raises(UsageError):
        write_skeleton(name, own)
    assert list(own.iterdir()) == []


def test_a_skeleton_overwrites_nothing(own: Path) -> None:
    (own / "bag").mkdir()
    with pytest.raises(UsageError, match="bag is there already"):
        write_skeleton("bag", own)
    assert list((own / "bag").iterdir()) == []
