"""References, other instances and the program itself are out of reach, however the program was installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
DOMAINS = ("tsp", "mis", "clp3d", "fjsp")
DRIVER = '''
"""Throws programs at domains of the installed package; prints what became of each."""
import json
import sys
from pathlib import Path

import anyio

import dga2d
from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.registry import get_domain
from dga2d.runtime.evaluation.pool import EvaluatorPool

RUN = """

def run(env_data, state, calc_makespan_fn):
    return attack(env_data, state, calc_makespan_fn)
"""
package = Path(dga2d.__file__).parent
outcomes = {}


async def main(cache, names, programs):
    for name in names:
        domain = get_domain(name)
        refs = domain.generated()
        instance = domain.load(refs[-1])
        targets = {
            "PACKAGE": package,
            "NAMES": "|".join(sorted({text for ref in refs for text in (ref.name, ref.key)})),
            "DATABASE": cache,
            "FORBIDDEN_FOLDER": cache,
        }
        operator = domain.safe_baseline()[0].implementation.operator
        async with EvaluatorPool(name, 1, None, "best-effort", cache, has_source_rules=False) as pool:
            for path in programs:
                text = path.read_text(encoding="utf-8")
                for target, value in targets.items():
                    text = text.replace(f"@{target}@", str(value))
                program = Implementation(operator, text + RUN, "attack")
                reply = await pool.evaluate(EvaluationRequest("attack", instance, (program,), (1,), 100))
                outcomes[f"{name} {path.stem}"] = [reply.failure, reply.diagnostic[-300:]]


anyio.run(main, Path(sys.argv[1]), sys.argv[2].split(","), [Path(argument) for argument in sys.argv[3:]])
print(json.dumps({"package": str(package), "outcomes": outcomes}))
'''
NAMES_IN_MEMORY = '''
"""Looks for names of instances in what it was given and in what it inherited."""
import gc

NAMES = frozenset("@NAMES@".split("|"))


def attack(env_data, state, calc_makespan_fn):
    found = [value for value in env_data.values() if isinstance(value, str)]
    for thing in gc.get_objects():
        if thing is NAMES:
            continue
        if type(thing) is dict:
            found += [text for text in (*thing, *thing.values()) if type(text) is str and text in NAMES]
        elif type(thing) in (list, tuple, set, frozenset):
            found += [text for text in thing if type(text) is str and text in NAMES]
    if found:
        raise SystemExit(str(found)[:500])
    return state
'''
EXPECTED = {
    "reads_references": "infeasible",
    "stats_host_paths": "forbidden",
    "names_in_memory": "infeasible",
}
"""``infeasible``: the program found nothing and went on to return no solution."""


@pytest.fixture(scope="session")
def installed_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Interpreter with the program in its own site-packages, and the dependencies by a path file."""
    folder = tmp_path_factory.mktemp("installed")
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests", "docs")
    shutil.copytree(ROOT, tree, symlinks=True, ignore=left_out)
    build = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    subprocess.run([sys.executable, *build, str(tree)], check=True, timeout=300, capture_output=True)
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    query = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
    answer = subprocess.run([python, "-c", query], check=True, capture_output=True, text=True, timeout=60)
    site = Path(answer.stdout)
    (wheel,) = folder.glob("dga2d-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif("sys.platform != 'linux'", reason="the sandbox needs Linux")
@pytest.mark.parametrize("install", [pytest.param("editable", marks=pytest.mark.long), "site-packages"])
def test_references_and_names_of_instances_are_out_of_reach(
    install: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    python = sys.executable if install == "editable" else request.getfixturevalue("installed_python")
    (tmp_path / "names_in_memory.py").write_text(NAMES_IN_MEMORY, encoding="utf-8")
    folders = {"names_in_memory": tmp_path}
    programs = [folders.get(name, HERE / "programs") / f"{name}.py" for name in EXPECTED]
    run = subprocess.run(
        [python, "-P", "-c", DRIVER, tmp_path / "cache", ",".join(DOMAINS), *programs],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
        timeout=840,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert ("site-packages" in report["package"]) is (install == "site-packages")
    outcomes = {name: failure for name, (failure, _) in report["outcomes"].items()}
    expected = {f"{domain} {name}": kind for domain in DOMAINS for name, kind in EXPECTED.items()}
    assert outcomes == expected, report["outcomes"]
