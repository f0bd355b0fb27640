"""What the functions of a problem's file print goes to stderr, results are alone on stdout; and a word there
where they take long.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

SLOW_S = 10.0
"""Seconds after which a function of a file is said to be still running."""
_one_at_a_time = threading.RLock()
"""Threads that redirected and restored crosswise would leave stdout redirected."""


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Let what is printed inside go to stderr. Other threads that want the same wait."""
    with _one_at_a_time, redirect_stdout(sys.stderr):
        yield


@contextmanager
def telling_if_slow(what: str) -> Iterator[None]:
    """Say on stderr that `what` is still running after `SLOW_S` seconds: it may never end."""
    said = f"{what} has run for {SLOW_S:g} s by now; it may be without end (Ctrl-C, twice, stops it)"
    timer = threading.Timer(SLOW_S, print, (said,), {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
