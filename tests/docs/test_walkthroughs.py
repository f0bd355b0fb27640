"""README and tutorials do what they say: every shell block is run, in order, in a fresh folder.

What takes minutes there is smaller here; SMALLER lists every difference, and each must still apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.following import ROOT, TUTORIALS, blocks, follow, substituted
from tests.fakes.endpoint import serving
from tests.fakes.obliging import obliging

pytestmark = pytest.mark.timeout(600)

README = ROOT / "README.md"
LITTLE = (
    "--preset none --library basic --operator-limit 4 --policy uniform --pipelines 3 --batch-size 2 "
    "--work 300 --evaluators 1 --validation-instances 1 --test-instances 1"
)
"""Instead of a time limit: seconds of a run."""
SHOWN_DEMO = str(
    re.findall(r"^run +(demo-\d{8}-\d{6})\b", README.read_text(encoding="utf-8"), re.MULTILINE)[0]
)
"""The run of `make demo` that the README shows."""
SERVED = """\
dga2d serve --port 0 --json > served.json & page=$!
until address=$(python -c 'import json; print(json.load(open("served.json"))["address"])' 2> /dev/null); do
  kill -0 $page; sleep 0.1
done
python -c "
from urllib.request import HTTPCookieProcessor, build_opener
build_opener(HTTPCookieProcessor()).open('$address').read()
" && answered=1 || answered=
kill $page
test "$answered"
"""
"""A page that answers once, with a cookie for its token if it has one, and is then ended."""

KILLED = """\
dga2d evolve jsp --config night.toml --seed 7 --run-id night 2> night.log & run=$!
until dga2d log night --type GenerationCompleted --json 2> /dev/null | grep -q seq; do kill -0 $run; done
kill -9 $run
wait $run || true
"""
"""A night that ends early, once a generation has closed."""
CLOSED = """\
dga2d show night --json > night.json
export closed=$(python -c 'import json; print(json.load(open("night.json"))["completed_generations"])')
"""
"""How far the killed run came."""

SMALLER: dict[Path, dict[str, str]] = {
    README: {
        "make demo ": f"make --dry-run -C {ROOT} demo > demo.txt; dga2d evolve jsp {LITTLE} "
        "--bank shipped --generations 2 --seed 1 --run-id demo --test --hand-tuned; "
        "dga2d replay demo --verify ",
        "make test ": f"make --dry-run -C {ROOT} test ",
        " RUN": " demo",
        " DIR": " figures",
        SHOWN_DEMO: "demo",
        "--generation 2 ": "--generation 1 ",
        "dga2d resume demo ": "dga2d resume demo --generations 3 ",
        "dga2d serve  ": SERVED,
        "dga2d serve --act ": SERVED.replace("--port", "--act --port").replace("served", "acting"),
    },
    TUTORIALS / "first-run.md": {
        "make setup\n. .venv/bin/activate": f"make --dry-run -C {ROOT} setup\nls -d {ROOT}/Makefile",
        "--generations 5 --time-limit 0.25 --seed 1 --test-instances 8": (
            f"--generations 2 {LITTLE} --seed 1"
        ),
        "--time-limit 2\n": "--work 300\n",
        "--run first --time-limit 1": "--run first --work 300",
        "four-jobs.txt --time-limit 1\n": "four-jobs.txt --work 300\n",
    },
    TUTORIALS / "own-solver.md": {
        "--time-limit 10": "--work 300",
        "--time-limit 1 ": "--work 300 ",
    },
    TUTORIALS / "unattended.md": {
        "--time-limit 30": LITTLE,
        "dga2d evolve jsp --config night.toml --seed 7 --run-id night 2> night.log": KILLED,
        "dga2d resume night\n": f"{CLOSED}dga2d resume night --generations $((closed + 1))\n",
        "--generations 100": "--generations $((closed + 2))",
    },
    TUTORIALS / "bank.md": {
        "--work 20000": "--work 2000 --set race_contenders=0 --set validation_instances=2"
    },
    TUTORIALS / "audit.md": {
        "dga2d audit night --against": "cp calls.csv usage.csv\ndga2d audit night --against",
    },
    ROOT / "docs" / "reference" / "configuration.md": {
        "dga2d evolve jsp": f"dga2d evolve jsp --generations 1 {LITTLE} --llm-timeout 20",
        "KEY=…": "KEY=none",
    },
}
"""Page → text of the page → what stands in its place here."""


def do(page: Path, folder: Path, **more: str) -> None:
    """Follow a page in `folder`, where the repository's examples are at hand."""
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    follow(substituted(page, {**SMALLER[page], **more}), folder)


@pytest.fixture(scope="module")
def after_the_first_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody did what the first tutorial says."""
    folder = tmp_path_factory.mktemp("first-run")
    do(TUTORIALS / "first-run.md", folder)
    return folder


@pytest.fixture(scope="module")
def after_the_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody did what the tutorial on a night says."""
    folder = tmp_path_factory.mktemp("night")
    do(TUTORIALS / "unattended.md", folder)
    return folder


@pytest.mark.slow
def test_the_first_run_leaves_a_report_a_schedule_and_a_solver(after_the_first_run: Path) -> None:
    made = {path.name for path in after_the_first_run.iterdir()}
    assert {"dga2d.db", "first.html", "schedule.txt", "solver.py"} <= made


@pytest.mark.long
def test_a_solver_is_taken_away_as_the_tutorial_says(after_the_first_run: Path) -> None:
    do(TUTORIALS / "own-solver.md", after_the_first_run)
    assert (after_the_first_run / "ta01.txt").is_file()


@pytest.mark.long
def test_a_bank_is_used_and_made_as_the_tutorial_says(tmp_path: Path) -> None:
    do(TUTORIALS / "bank.md", tmp_path)
    assert (tmp_path / "dga2d-bank.jsonl").is_file()


@pytest.mark.slow
def test_a_night_unattended_goes_as_the_tutorial_says(after_the_night: Path) -> None:
    assert "generations = 50\n" in (after_the_night / "night.toml").read_text(encoding="utf-8")
    assert (after_the_night / "so-far.html").is_file()


@pytest.mark.slow
def test_an_audit_is_read_as_the_tutorial_says(after_the_night: Path) -> None:
    do(TUTORIALS / "audit.md", after_the_night)
    assert (after_the_night / "calls.csv").read_text(encoding="utf-8").startswith("call,purpose,")


@pytest.mark.slow
def test_the_readme_works_as_it_is_written(tmp_path: Path) -> None:
    do(README, tmp_path)
    demo = (tmp_path / "demo.txt").read_text(encoding="utf-8")
    assert "bin/dga2d evolve jsp --library basic --bank shipped --generations 4 --work 60000 --seed 1" in demo
    assert {"run.html", "figures", "solver.py"} <= {path.name for path in tmp_path.iterdir()}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Address of an endpoint that answers whatever it is asked."""
    with serving({"obliging": obliging}) as server:
        yield server.url("obliging")


@pytest.mark.slow
def test_the_settings_of_an_endpoint_are_those_that_work(tmp_path: Path, endpoint: str) -> None:
    page = ROOT / "docs" / "reference" / "configuration.md"
    do(page, tmp_path, **{"https://api.deepseek.com/v1": endpoint})
    assert list(tmp_path.glob("*.html"))


def test_no_page_is_left_out() -> None:
    pages = {README, *TUTORIALS.glob("*.md")} - {TUTORIALS / "python.md"}  # tests/docs/test_python.py
    own = {TUTORIALS / "own-problem.md", TUTORIALS / "own-domain.md"}  # tests/docs/test_own_problem.py
    own |= {TUTORIALS / "own-method.md"}  # tests/docs/test_own_method.py
    own |= {TUTORIALS / "cluster.md"}  # tests/system/test_cluster.py
    own |= {TUTORIALS / "study.md"}  # tests/runtime/test_study_plan.py, tests/system/test_study.py
    own |= {TUTORIALS / "postgresql.md"}  # tests/system/test_postgresql.py
    assert pages - set(SMALLER) == own
    for page in pages:
        languages = {block.language for block in blocks(page.read_text(encoding="utf-8"))}
        more = ("python", "toml", "bash", "yaml") if page in own else ()  # tried elsewhere
        assert languages <= {"sh", "text", "diff", *more}, page
