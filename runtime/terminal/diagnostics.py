"""Log lines for people on stderr. They may be lost: what must last is an event.

They never contain a key, a prompt or a candidate's code.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import structlog

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""By the number of ``-v`` flags."""


def configure(verbosity: int, as_json: bool) -> None:
    """Send log lines to stderr, readable or as one JSON object per line."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty() and not os.environ.get("NO_COLOR"))
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[min(verbosity, len(LEVELS) - 1)]),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),  # today's stream: tests replace it
        cache_logger_on_first_use=False,
    )


def logger(**context: Any) -> Any:
    """Return a logger that adds `context` to its lines; commands without ``-v`` show warnings alone."""
    if not structlog.is_configured():
        configure(0, as_json=False)
    return structlog.get_logger(**context)
