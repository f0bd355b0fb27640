"""The warm process that forks evaluation children: ``python -P -m dga2d.runtime.evaluation.zygote``.

It is started by exec with a clean environment and speaks :mod:`~dga2d.runtime.evaluation.wire` on stdin and
stdout. The first message configures it; its answer tells which layers of the sandbox hold. Then each request
is one evaluation (:mod:`~dga2d.runtime.evaluation.serving`). It ends when stdin does, and with it everything
it started.
"""

from __future__ import annotations

import os
import signal
import sys

from dga2d.runtime.evaluation.sandbox import namespaces, privileges


def main(mode: str) -> int:
    """Serve as a zygote; `mode` is a :data:`~dga2d.runtime.evaluation.limits.SandboxMode`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    refusal = "switched off" if mode == "off" else namespaces.refusal()
    if refusal is None:
        namespaces.become_init()
    elif sys.platform == "linux":
        privileges.adopt_orphans()
    from dga2d.runtime.evaluation import memory_image

    memory_image.import_numba()  # in the new namespaces
    from dga2d.runtime.evaluation import serving

    channel = serving.Channel()
    try:
        zygote = serving.start(channel, refusal)
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        zygote.serve()
    except serving.Hangup:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
