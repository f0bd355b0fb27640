"""What happens on kernels that lack a layer of the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dga2d.runtime.evaluation import worker_pool as worker_pool_module
from dga2d.runtime.evaluation.errors import SandboxUnavailableError
from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluation.sandbox.seal import LAYERS, NEEDS
from dga2d.runtime.evaluation.worker import build_filter

pytestmark = pytest.mark.skipif("sys.platform != 'linux'", reason="the sandbox needs Linux")
DOMAIN_FILE = Path(__file__).with_name("line_domain.py")
WHY = "not in this kernel"
READS = "def run(env_data, state, calc_makespan_fn):\n    open({path!r}{mode}).close()\n    return state\n"


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Takes layers away from the workers that are started from now on."""

    def lack(*layers: str) -> None:
        def without(limits: EvaluationLimits) -> tuple[bytes, dict[str, str]]:
            program, missing = build_filter(limits)
            return program, {**missing, **dict.fromkeys(layers, WHY)}

        monkeypatch.setattr(worker_pool_module, "build_filter", without)

    return lack


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
async def test_a_missing_layer_is_told_and_refused_by_strict(
    layer: str, lacking: Any, line: Any, cache_dir: Path
) -> None:
    lacking(layer)
    async with EvaluatorPool("line", 1, cache_dir=cache_dir, domain_file=DOMAIN_FILE) as pool:
        needed = {name: f"needs the layer {layer}" for name in LAYERS if NEEDS.get(name) == layer}
        expected = {**dict.fromkeys(LAYERS, "active"), layer: WHY, **needed}
        assert pool.sandbox_status == expected
        assert (await pool.evaluate(line.task())).failure is None
    with pytest.raises(SandboxUnavailableError, match=f"{layer}: {WHY}"):
        async with EvaluatorPool("line", 1, None, "strict", cache_dir, domain_file=DOMAIN_FILE):
            pass


@pytest.mark.parametrize("missing", [("landlock",), pytest.param(("empty_root",), marks=pytest.mark.slow)])
async def test_files_stay_closed_when_one_of_two_layers_is_missing(
    missing: tuple[str, ...], lacking: Any, line: Any, cache_dir: Path, tmp_path: Path
) -> None:
    lacking(*missing)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    attempts = [
        (str(secret), ""),
        (str(secret), ", 'w'"),
        (str(tmp_path / "new"), ", 'w'"),
        ("/etc/passwd", ""),
    ]
    pool = EvaluatorPool("line", 1, cache_dir=cache_dir, domain_file=DOMAIN_FILE, has_source_rules=False)
    async with pool:
        for path, mode in attempts:
            program = line.program(READS.format(path=str(path), mode=mode))
            reply = await pool.evaluate(line.task(line.order, program))
            assert reply.failure == "forbidden", (path, mode, reply)
    assert secret.read_text() == "secret"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
