"""Domains of a user's own: how they are found, what a broken one says, and what the check sees."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from click.testing import CliRunner

from dga2d.domains.contract import Domain
from dga2d.domains.errors import PluginClashError, PluginError, UnknownDomainError
from dga2d.domains.execution import PositionTrace
from dga2d.domains.plugins import digest_of, load_again, load_folder, use_domain_path
from dga2d.domains.registry import domain_names, get_domain, loaded_plugin, standalone_module
from dga2d.runtime.cli.app import app
from dga2d.runtime.code_version import code_version, plugin_mark
from dga2d.runtime.config import make_settings
from dga2d.runtime.errors import UsageError
from dga2d.runtime.evaluation import EvaluationResult
from dga2d.runtime.plugins import Finding, check_domain, elsewhere, runs, write_skeleton
from dga2d.runtime.plugins.findings import UnsoundError
from dga2d.runtime.solver_file.bundle import bundle

Sabotage = Callable[..., str]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A folder on the domain path."""
    folder = tmp_path / "own"
    folder.mkdir()
    use_domain_path([folder])
    yield folder
    use_domain_path([])


def skeleton(folder: Path, name: str, *changes: tuple[str, str, str]) -> Path:
    """A skeleton domain with `changes` (file, old text, new text)."""
    write_skeleton(name, folder)
    for file, old, new in changes:
        path = folder / name / file
        text = path.read_text(encoding="utf-8")
        assert old in text, (file, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    return folder / name


# -------------------------------------------------------------------- finding and loading


def test_a_package_on_the_path_is_a_domain_like_any_other(own: Path) -> None:
    skeleton(own, "bagful")
    assert "bagful" in domain_names()
    domain = get_domain("bagful")
    assert domain is get_domain("bagful")
    assert domain.name == "bagful"
    assert standalone_module("bagful") == "dga2d_plugin_bagful.standalone"
    assert standalone_module("tsp") == "dga2d.domains.tsp.standalone"
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
    assert plugin.standalone == "entrybag.standalone"
    skeleton(own, "elsebag")
    (own / "elsebag").rename(own / "entrybag")
    with pytest.raises(
        PluginClashError, match=r"entrybag' already \(entry point entrybag of entrybag-domain 1.0\)"
    ):
        get_domain("entrybag")


def installed(folder: Path, name: str) -> Path:
    """A folder as pip would leave it: a package and the metadata of its distribution."""
    site = folder / "site"
    skeleton(site, name)
    metadata = site / f"{name}_domain-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-domain\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[dga2d.domains]\n{name} = {name}:DOMAIN\n")
    return site


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


# -------------------------------------------------------------------- identity


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
    assert code_version() in code_version() + plugin_mark("versbag")


def test_another_process_refuses_files_that_were_changed_meanwhile(own: Path) -> None:
    skeleton(own, "wirebag")
    plugin = loaded_plugin("wirebag")
    assert plugin is not None
    assert load_again(plugin.address()) is plugin.domain
    with pytest.raises(PluginError, match="was changed while it was in use"):
        load_again({**plugin.address(), "digest": "0" * 64})


def test_relative_imports_can_be_bundled(own: Path) -> None:
    skeleton(own, "bundlebag")
    collected = bundle([(standalone_module("bundlebag"), "environment_of_file")])
    text = "\n".join(collected.definitions)
    assert "class Items" in text
    assert "def integer_lines" in text
    assert not re.search(r"^from (\.|dga2d)", "\n".join(collected.imports), re.MULTILINE)


# -------------------------------------------------------------------- the skeleton


def test_the_skeleton_carries_its_new_name_only(own: Path) -> None:
    folder = skeleton(own, "renamed")
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}
    assert len(texts) == len(set(texts)) >= 20
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


# -------------------------------------------------------------------- the check


def findings(name: str) -> list[Finding]:
    settings = make_settings({}, {"evaluators": 1})

    async def collect() -> list[Finding]:
        return [finding async for finding in check_domain(name, None, settings)]

    return anyio.run(collect)


WRONG = {
    "a key the card does not know": (
        ("environment.py", '"capacity": int', '"size": int'),
        "the environment has the keys of the card",
        "the card promises ['capacity']",
    ),
    "an array shared by all": (
        ("environment.py", "items.values.copy()", "items.values"),
        "the environment has the keys of the card",
        "the array 'values' is read-only",
    ),
    "an unknown category": (
        ("library.toml", '"local_search"', '"searching"'),
        "the library is described completely",
        "swap_descent: category 'searching'",
    ),
    "an operator without a source": (
        ("library.toml", 'source = "folklore"', 'source = ""'),
        "the library is described completely",
        "random_order has no source",
    ),
    "a forbidden import": (
        ("library/random_order.py", "import numpy as np", "import numpy as np\nimport os"),
        "operators obey the source rules",
        "library:random_order.py:9: import of os is not allowed",
    ),
    "a tunable out of its range": (
        ("library/random_order.py", "TRIES = 5 ", "TRIES = 500 "),
        "operators obey the source rules",
        "library:random_order.py:10: the value of TRIES is not in its range",
    ),
    "a malformed tunable": (
        ("library/random_order.py", "# tunable: int 1..50", "# tunable: 1-50"),
        "operators obey the source rules",
        "library:random_order.py:10: expected NAME = VALUE",
    ),
    "an advanced operator in the basic baseline": (
        (
            "domain.py",
            'BASIC_PIPELINE = ("density_order", "swap_descent")',
            'BASIC_PIPELINE = ("density_order", "annealing")',
        ),
        "baselines are made of the library",
        "basic_baseline uses an operator that is not of the basic tier",
    ),
    "a baseline that begins with no initialiser": (
        ("domain.py", 'SAFE_PIPELINE = ("density_order", ', 'SAFE_PIPELINE = ("annealing", '),
        "baselines are made of the library",
        "safe_baseline: an initialiser belongs at its first place",
    ),
    "instances that differ each time": (
        ("generator.py", "np.random.Philox([n, index])", "np.random.Philox()"),
        "instances can be had and have references",
        "differs from one time to the next in ['capacity'",
    ),
    "too few instances": (
        ("generator.py", "N_INSTANCES: Final = 10", "N_INSTANCES: Final = 2"),
        "no split is empty",
        "the validation split is empty",
    ),
    "published instances out of nothing": (
        (
            "domain.py",
            "return list_instances(self.name, data_dir / self.name, SUFFIXES)",
            "return generated_refs()",
        ),
        "no data means no published instances",
        "published() finds instances in an empty folder",
    ),
}


@pytest.mark.parametrize(("change", "claim", "detail"), WRONG.values(), ids=WRONG.keys())
def test_the_check_sees_what_a_domain_says_wrongly(
    own: Path, change: tuple[str, str, str], claim: str, detail: str
) -> None:
    name = "wrong" + str(list(WRONG.values()).index((change, claim, detail)))
    skeleton(own, name, change)
    found = findings(name)
    (failed,) = [finding for finding in found if finding.holds is False]
    assert failed.claim == claim
    assert detail in failed.detail
    assert [finding.holds for finding in found].count(None) == 10


def test_the_program_s_own_domains_say_nothing_wrong(own: Path) -> None:
    from dga2d.runtime.plugins.soundness import SAYS
    from dga2d.runtime.problem import Problem

    problem = Problem.open("tsp", None)
    quick = [examine for claim, examine in SAYS if claim != "instances can be had and have references"]
    assert all(examine(problem) for examine in quick)


def trial(domain: Domain, operator: str, **changes: Any) -> runs.Tried:
    chosen = next(op for op in domain.operators() if op.id == operator)
    result = EvaluationResult(
        "k", 90.0, None, "", 0.1, 50, (PositionTrace(-80.0, -90.0, 0.1, 50),), b'{"sequence": []}'
    )
    again = replace(result, **changes.pop("again", {}))
    first = replace(result, **changes)
    return runs.Tried(chosen, chosen.implementations[0], domain.smoke_instance(), first, again)


WORSE = (PositionTrace(-80.0, -70.0, 0.1, 50),)
CONTRADICTIONS: dict[str, tuple[Any, str, dict[str, Any], str]] = {
    "failure": (runs.valid, "annealing", {"failure": "crashed", "diagnostic": "line 3"}, "crashed: line 3"),
    "broken": (
        runs.valid,
        "annealing",
        {"trace": (PositionTrace(-80.0, 999_999_999.0, 0.1, 50),)},
        "leaves a broken state",
    ),
    "worse": (runs.never_worse, "annealing", {"trace": WORSE}, "score -80.0 became -70.0"),
    "other solution": (
        runs.deterministic,
        "annealing",
        {"again": {"solution": b"{}"}},
        "two runs with one seed and work budget differ",
    ),
    "other work": (
        runs.deterministic,
        "annealing",
        {"again": {"trace": (PositionTrace(-80.0, -90.0, 0.1, 51),)}},
        r"charged \[50\] and \[51\] work units",
    ),
    "too good": (runs.unbeaten, "annealing", {"objective": 101.0}, "beats the optimal reference 100"),
}


@pytest.mark.parametrize(
    ("examine", "operator", "changes", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys()
)
def test_the_check_sees_what_operators_do_wrongly(
    own: Path, examine: Any, operator: str, changes: dict[str, Any], message: str
) -> None:
    skeleton(own, "trialbag")
    domain = get_domain("trialbag")
    assert examine(domain, (trial(domain, operator),))
    with pytest.raises(UnsoundError, match=message):
        examine(domain, (trial(domain, operator, **changes),))


def test_a_perturbation_may_worsen(own: Path) -> None:
    skeleton(own, "trialbag2")
    domain = get_domain("trialbag2")
    assert runs.never_worse(domain, (trial(domain, "move_to_front", trace=WORSE),)).startswith("0 runs")


DISAGREEMENTS = {
    "a decoder that lets items occur twice": (
        ("decoder.py", " or seen[item]", ""),
        "the decoder says score .*, the verifier says item . occurs twice",
    ),
    "a verifier that counts the capacity wrongly": (
        ("verifier.py", "weights[item] <= left", "weights[item] < left"),
        "order two solutions otherwise than their objectives do",
    ),
    "a verifier that believes everything of the right length": (
        (
            "verifier.py",
            "    if violation is not None:\n        return",
            "    if violation == '':\n        return",
        ),
        "decoder or verifier raises IndexError",
    ),
    "a decoder that takes a list": (
        ("decoder.py", "type(sequence) is not np.ndarray or sequence.shape", "np.shape(sequence)"),
        "the decoder raises AttributeError when the sequence is a list",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("change", "message"), DISAGREEMENTS.values(), ids=DISAGREEMENTS.keys())
def test_the_check_sees_where_decoder_and_verifier_disagree(
    own: Path, change: tuple[str, str, str], message: str
) -> None:
    name = "differ" + str(list(DISAGREEMENTS.values()).index((change, message)))
    skeleton(own, name, change, ("generator.py", "[6, 5, 5, 4, 3, 2]", "[6, 5, 5, 4, 3, 4]"))
    start = {"sequence": np.arange(6, dtype=np.int32), "metadata": {}}
    place = elsewhere.Place.of(get_domain(name))
    said = "\n".join(elsewhere.examine_decoder(place, None, [start]).contradictions)
    assert re.search(message, said), said


@pytest.mark.slow
def test_the_check_sees_bad_manners(own: Path, tmp_path: Path) -> None:
    skeleton(
        own,
        "rudebag",
        ("library/move_to_front.py", "    state.sequence = np.conc", "    state.sequence[:] = np.conc"),
        (
            "library/random_order.py",
            "        if budget.exhausted():\n            break\n",
            "        budget.exhausted()\n",
        ),
        ("library/random_order.py", "TRIES = 5 ", "TRIES = 50 "),
        (
            "library/density_order.py",
            "    state.sequence",
            '    env_data["weights"][0] = 1\n    state.sequence',
        ),
    )
    place = elsewhere.Place.of(get_domain("rudebag"))
    start = {"sequence": np.arange(6, dtype=np.int32), "metadata": {}}
    outcome = elsewhere.examine_manners(place, start, tmp_path / "cache")
    assert outcome.tried == 6
    said = "\n".join(outcome.contradictions)
    assert "library:density_order.py changes env_data['weights']" in said
    assert "library:move_to_front.py writes into the array it is given" in said
    assert "library:random_order.py goes on after its share is spent" in said
    assert "annealing" not in said


# -------------------------------------------------------------------- the program as a user starts it


def dga2d(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    url = f"sqlite+aiosqlite:///{folder / 'log.db'}"
    return subprocess.run(
        [sys.executable, "-P", "-m", "dga2d", *arguments],
        cwd=folder,
        env={**os.environ, "DGA2D_STORE": url, **environment},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


SMALL = (
    *("--policy", "uniform", "--generations", "1", "--pipelines", "2", "--batch-size", "2", "--work", "300"),
    *("--validation-instances", "1", "--llm-calls", "20", "--evaluators", "1", "--quiet", "--no-report"),
)


@pytest.mark.slow
def test_a_skeleton_is_sound_and_passes_its_own_tests(own: Path) -> None:
    made = dga2d(own, "domains", "new", "sound")
    assert made.returncode == 0, made.stderr
    checked = dga2d(own, "domains", "check", "sound", "--domain-path", ".", "--json")
    assert checked.returncode == 0, checked.stdout
    assert {finding["holds"] for finding in json.loads(checked.stdout)} == {True}
    tested = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "sound/tests"],
        cwd=own,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout


@pytest.mark.slow
def test_the_check_ends_with_1_and_leaves_out_what_rests_on_it(own: Path) -> None:
    skeleton(own, "unsound", ("library/move_to_front.py", "(moved, rest)", "(moved, moved)"))
    checked = dga2d(own, "domains", "check", "unsound", "--domain-path", ".")
    assert checked.returncode == 1, checked.stderr
    lines = checked.stdout.splitlines()
    (failed,) = [line for line in lines if line.startswith("FAILED  operators give valid solutions")]
    assert "library:move_to_front.py on" in failed
    assert lines[-1].startswith("-       a run evolves and can be replayed: not tried")


@pytest.mark.slow
def test_resume_refuses_a_changed_plugin_and_replay_does_not_need_it(own: Path) -> None:
    folder = skeleton(own, "resbag")
    begun = dga2d(own, "evolve", "resbag", "--domain-path", ".", "--run-id", "r", *SMALL)
    assert begun.returncode == 0, begun.stderr
    shown = json.loads(dga2d(own, "show", "r", "--json").stdout)
    assert shown["code_version"].endswith(f" resbag+{digest_of(folder)[:12]}")
    more = ("resume", "r", "--generations", "2", "--quiet", "--no-report", "--domain-path", ".")
    with (folder / "card.py").open("a", encoding="utf-8") as stream:
        stream.write("# a thought\n")
    refused = dga2d(own, *more)
    assert refused.returncode == 2
    assert f"written by dga2d {shown['code_version']}, this is" in refused.stderr
    accepted = dga2d(own, *more, "--accept-code-change")
    assert accepted.returncode == 0, accepted.stderr
    resumed = json.loads(dga2d(own, "log", "r", "--type", "RunResumed", "--json").stdout)
    assert resumed["payload"]["code_version"].endswith(f" resbag+{digest_of(folder)[:12]}")
    for command in ("replay", "audit", "report"):
        alone = dga2d(own, command, "r")
        assert alone.returncode == 0, alone.stderr
    gone = dga2d(own, "resume", "r", "--generations", "3")
    assert gone.returncode == 2
    assert gone.stderr.startswith("error: no domain is called 'resbag'")


@pytest.mark.slow
def test_an_installed_domain_reaches_the_evaluation_processes(tmp_path: Path) -> None:
    site = installed(tmp_path, "shipped")
    solved = dga2d(
        tmp_path, "solve", "shipped", "correlated00", "--work", "500", "--json", PYTHONPATH=str(site)
    )
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["objective"] > 0


@pytest.mark.slow
def test_the_solver_file_of_a_plugin_computes_what_solve_computes(own: Path) -> None:
    skeleton(own, "filebag")
    path = {"DGA2D_DOMAIN_PATH": str(own)}
    assert dga2d(own, "evolve", "filebag", "--run-id", "r", *SMALL, **path).returncode == 0
    taken = dga2d(own, "solver", "r", "-o", "solver.py", **path)
    assert taken.returncode == 0, taken.stderr
    (own / "four.txt").write_text("4 10\n7 6\n5 5\n5 5\n1 2\n", encoding="utf-8")
    options = ("four.txt", "--work", "500", "-o")
    solved = dga2d(own, "solve", "filebag", *options[:-1], "-o", "solve.txt", "--run", "r", **path)
    assert solved.returncode == 0, solved.stderr
    alone = subprocess.run(
        [sys.executable, "-P", "solver.py", *options, "alone.txt"],
        cwd=own,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (alone.stdout, alone.stderr) == ("objective 10\n", "")
    assert (own / "alone.txt").read_bytes() == (own / "solve.txt").read_bytes()
