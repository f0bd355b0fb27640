"""What ``dga2d doctor`` says of the sandbox."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.errors import WireError, WorkerStartError
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.worker import ZygoteSettings, zygote_command, zygote_environment
from dga2d.runtime.evaluation.worker_pool import build_filter

_START_LIMIT_S = 60.0


def probe_sandbox(
    mode: SandboxMode = "best-effort", limits: EvaluationLimits | None = None
) -> dict[str, str]:
    """Each layer of the sandbox → ``active``, proven by a self-test, or why it is not. Blocks about a second.

    Raises
    ------
    WorkerStartError
        No evaluation worker comes up at all.
    """
    limits = limits or EvaluationLimits()
    seccomp_filter, missing = build_filter(limits) if mode != "off" else (b"", {})
    with tempfile.TemporaryDirectory(prefix="dga2d-doctor-") as folder:
        settings = ZygoteSettings(mode, limits, Path(folder), missing=missing, seccomp_filter=seccomp_filter)
        try:
            run = subprocess.run(
                zygote_command(mode),
                env=zygote_environment(settings.cache),
                cwd=folder,
                input=settings.message(),
                capture_output=True,
                timeout=_START_LIMIT_S,
                check=False,
                start_new_session=True,
            )
            sandbox_status = wire.decode(run.stdout)["sandbox_status"]
        except (subprocess.TimeoutExpired, WireError) as error:
            raise WorkerStartError(str(error)) from error
    return dict(sandbox_status)
