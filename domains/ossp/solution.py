"""What the columns of a schedule file mean.

The text starts with comment lines (``#``: the instance, the meaning of the rows), then a line
``jobs machines makespan``, then one line per job with the start times of its operations by machine: row by
row the counterpart of the published instance format.
"""

from __future__ import annotations

START_TIMES = "the start time of its operation on each machine"
