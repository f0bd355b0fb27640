"""A program that starts conversations and kills them, again and again, at moments of chance.

``python -P chaos.py ROOT FOLDER BASE_URL LLM RUNS SEED LIMIT``: run r asks the behaviour ``run-r`` of the
server at BASE_URL, as the model LLM, and writes the database ``FOLDER/r.db``. Each process is killed after a
random time, up to four times, and then left to end. Prints the number of kills that met a living process.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import sys
import time
import traceback

LONGEST_LIFE_S = 0.5
PATIENCE_S = 120.0
"""For the last process of a run."""


def main(root: str, folder: str, base_url: str, llm: str, runs: int, seed: int, limit: int) -> int:
    """Do all runs and return how many processes were killed."""
    sys.path.append(root)
    import anyio
    from tests.fakes.conversation import HASTE, KEY, converse

    for late in ("dga2d.runtime.gateway.remote", "dga2d.store._store"):  # once, not in every child
        importlib.import_module(late)
    from dga2d.replay.settings import RunSettings
    from dga2d.runtime.terminal.diagnostics import configure

    configure(0, as_json=False)
    rng, kills = random.Random(seed), 0
    for run in range(runs):
        settings = RunSettings(
            llm=llm,
            llm_base_url=f"{base_url}/run-{run}/v1",
            llm_calls=limit,
            attempts_per_edit=limit + 2,
            llm_timeout=20.0,
            llm_max_tokens=100,
        )
        url = f"sqlite+aiosqlite:///{folder}/{run}.db"
        for life in range(5):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    anyio.run(converse, url, "run", settings, {"DGA2D_LLM_KEY": KEY}, HASTE)
                    code = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(code)
            if life < 4:
                kills += _kill_after(child, rng.uniform(0.0, LONGEST_LIFE_S))
            elif _kill_after(child, PATIENCE_S):
                raise SystemExit(f"run {run} did not come to its end")
    return kills


def _kill_after(child: int, life_s: float) -> int:
    """1 if the process was killed, 0 if it had ended by itself; raises SystemExit if it failed."""
    end = time.monotonic() + life_s
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if status:
            raise SystemExit(f"a process ended with status {status}")
        if ended:
            return 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 1


if __name__ == "__main__":
    _root, _folder, _base_url, _llm, *_numbers = sys.argv[1:]
    print(main(_root, _folder, _base_url, _llm, *map(int, _numbers)))
