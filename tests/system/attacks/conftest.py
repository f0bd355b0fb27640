"""The attack programs, what they may meet, and a pool to throw them at."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from tests.system.attacks.containment import open_pool

import dga2d
from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, Instance, InstanceRef
from dga2d.runtime.evaluation.decoders import load_domain_file
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool

HERE = Path(__file__).parent
DOMAIN_FILE = HERE.parents[1] / "runtime" / "evaluation" / "line_domain.py"
LIMITS = EvaluationLimits(
    work_wall_s=4.0, load_s=8.0, prepare_run_s=4.0, prepare_s=30.0, memory_bytes=1 << 28, answer_bytes=1 << 22
)
HARNESS = """

def run(env_data, state, calc_makespan_fn):
    import numpy as np

    state.sequence = np.arange(env_data["n"], dtype=np.int32)
    if env_data["n"] <= {harmless_up_to}:
        return state
    return attack(env_data, state, calc_makespan_fn)
"""


@dataclass(frozen=True)
class Attack:
    """One program and what must become of it."""

    name: str
    text: str
    outcomes: frozenset[str]
    """Failure kinds of which the sandbox alone must give one; ``none``: the program does no harm."""
    is_refused: bool
    """Whether the static rules refuse it."""

    def source(self, harmless_up_to: int) -> str:
        """The program, which behaves on instances of up to that many points."""
        return self.text + HARNESS.format(harmless_up_to=harmless_up_to)


def _read(path: Path) -> Attack:
    text = path.read_text(encoding="utf-8")
    sandbox, rules = (re.search(rf"^# {key}: (.+)$", text, re.M) for key in ("sandbox", "rules"))
    assert sandbox is not None
    assert rules is not None
    return Attack(path.stem, text, frozenset(sandbox[1].split()), rules[1] == "forbidden")


ATTACKS = {path.stem: _read(path) for path in sorted((HERE / "programs").glob("*.py"))}


WAITING = {
    *("blocks_signals", "evil_str", "ignores_sigterm", "loop_at_import", "native_loop", "patches_budget"),
    *("reads_its_instance_early", "sleeps", "starts_before_it_is_ready"),
}
"""Attacks that only a time limit ends, and that differ from `endless_loop` in how they try to outlast it."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests each attack: every third strikes at first sight, the others later; the reverse is slow."""
    if "attack" in metafunc.fixturenames:
        is_run = "pool" in metafunc.fixturenames
        is_first_sight = "first_sight" in metafunc.function.__name__
        cases = [
            pytest.param(
                attack,
                id=name,
                marks=[pytest.mark.slow]
                if is_run and (name in WAITING or (number % 3 == 0) is not is_first_sight)
                else [],
            )
            for number, (name, attack) in enumerate(ATTACKS.items())
        ]
        metafunc.parametrize("attack", cases)


@dataclass(frozen=True)
class Host:
    """What attacks would like to reach."""

    folder: Path
    domain: Domain
    competitor: Implementation

    @property
    def database(self) -> Path:
        return self.folder / "run.db"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def competitor_code(self) -> Path:
        """File of the competitor's machine code, once it was evaluated."""
        found = list((self.cache / "machine-code").glob(f"{self.competitor.digest}-*"))
        return found[0] if found else self.cache / "machine-code" / "not-yet"

    def aim(self, source: str) -> str:
        """`source` with its targets filled in."""
        targets = {
            "HOME": os.path.expanduser("~"),
            "DATABASE": self.database,
            "FORBIDDEN_FOLDER": self.folder,
            "OTHER_CANDIDATE": self.competitor_code,
            "OTHER_CACHE": self.cache / "machine-code",
            "PACKAGE": Path(dga2d.__file__).parent,
            "DECODER_FOLDER": DOMAIN_FILE.parent,
        }
        for name, value in targets.items():
            source = source.replace(f"@{name}@", str(value))
        return source

    def instance(self) -> Instance:
        return self.domain.load(InstanceRef("line", "line", "line20-1", None))

    def task(self, program: Implementation) -> EvaluationRequest:
        return EvaluationRequest(program.id, self.instance(), (program,), (3,), 100, cpu_limit_s=1.5)

    def snapshot(self) -> dict[str, object]:
        """State of the host that no attack may change."""
        watched = [self.database, self.competitor_code]
        return {
            "files": {str(path): path.read_bytes() for path in watched if path.is_file()},
            "folder": sorted(path.name for path in self.folder.iterdir()),
            "decoder": sorted(p.name for p in (DOMAIN_FILE.parent / "__pycache__").glob("evil*")),
            "shared": [p for p in ("/tmp/dga2d-attack", "/dev/shm/dga2d-attack") if os.path.exists(p)],
        }


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    domain = load_domain_file(DOMAIN_FILE)
    host = Host(folder, domain, domain.safe_baseline()[0].implementation)
    host.database.write_bytes(b"the log")
    os.environ["DGA2D_TEST_KEY"] = "sk-secret"
    yield host
    del os.environ["DGA2D_TEST_KEY"]


@pytest.fixture(scope="session")
def all_attacks() -> dict[str, Attack]:
    return ATTACKS


@pytest.fixture(scope="session")
def domain_file() -> Path:
    return DOMAIN_FILE


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(host: Host) -> AsyncIterator[EvaluatorPool]:
    """A strict pool without the static rules, so that the sandbox has to hold alone."""
    async with open_pool(host, "strict", DOMAIN_FILE, LIMITS) as running:
        yield running
