"""The floor of `evaluate.py`: a small evaluation in forks of a process that is as warm as a worker.

    python benchmarks/warm_fork.py REPEATS FILE

The file holds decoder, program and instance, as `evaluate.py` writes them. Printed are seconds, one for each
fork: it reads text and instance, decodes and answers, with no seal, supervision, verifier or event loop.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dga2d.runtime.evaluation import memory_image

memory_image.import_numba()

from dga2d.runtime.evaluation import child, numba_cache, serving, wire  # noqa: E402
from dga2d.runtime.evaluation.decoders import load_make_decoder  # noqa: E402

ORDER = child.Order(1, 100, "work", (1,), (), (), (), False, 1.0)


def in_a_fork(work: Callable[[], bytes]) -> float:
    """Return the seconds until a fork of this process has done its work and all its answer is read."""
    start = time.perf_counter()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, work())
        os._exit(0)
    os.close(writer)
    while os.read(reader, 1 << 16):
        pass
    os.close(reader)
    os.waitpid(pid, 0)
    return time.perf_counter() - start


def main() -> None:
    """Warm up as a worker does, then fork and print."""
    numba_cache.cache_implementations()
    child.seed_compiled_code(0)
    given = wire.decode(Path(sys.argv[2]).read_bytes())
    make_decoder = load_make_decoder(given["decoder"])
    assert make_decoder is not None
    serving.Decoding(make_decoder, given["instance"], None, b"")
    numba_cache.use_memory()
    memory_image.settle()

    def evaluate() -> bytes:
        pipeline = [child.PipelinePosition.from_message(given["program"])]
        return child.evaluate(ORDER, pipeline, time.perf_counter, lambda: given["instance"], make_decoder)

    print(*[in_a_fork(evaluate) for _ in range(int(sys.argv[1]))])


if __name__ == "__main__":
    main()
