"""What the columns of a schedule file mean.

The text starts with comment lines (``#``: the instance, the meaning of the rows), then a line
``jobs machines makespan``, then one line per job with the start times of its operations on machines
0, 1, …, m − 1: row by row the counterpart of the instance format.
"""

from __future__ import annotations

START_TIMES = "its start times on machines 0, 1, ..."
