"""What a child's pipe says, and when its time is up; the clock is an argument."""

from __future__ import annotations

import io
import math
import os
from dataclasses import replace

import pytest

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.off_heap import OffHeapFile
from dga2d.runtime.evaluation.supervise import Deadlines, Watch

DEADLINES = Deadlines(5.0, 10.0, total_s=30.0, cpu_s=31.0, run_cpu_s=None, excludes_compiler=False)
PREPARING = replace(DEADLINES, excludes_compiler=True)
ANSWER = wire.encode({"kind": "solution"})


def watch(deadlines: Deadlines = DEADLINES, sink: io.BytesIO | None = None) -> Watch:
    return Watch(deadlines, 1000, sink or io.BytesIO(), now=100.0)


def test_the_deadline_is_that_of_the_phase() -> None:
    seen = watch()
    assert seen.deadline() == 105.0
    seen.feed(b"RS", 102.0)
    assert seen.deadline() == 112.0


def test_a_second_start_mark_buys_no_time() -> None:
    seen = watch()
    seen.feed(b"RS", 102.0)
    seen.feed(b"S", 111.0)
    assert seen.deadline() == 112.0


def test_compilation_stops_the_clock_of_a_preparation_only_and_within_the_total() -> None:
    seen, evaluated = watch(PREPARING), watch()
    for each in (seen, evaluated):
        each.feed(b"RSC", 101.0)
    assert seen.deadline() == 130.0
    assert evaluated.deadline() == 111.0
    seen.feed(b"c", 107.0)
    assert seen.deadline() == 117.0
    seen.feed(b"C", 110.0)
    seen.feed(b"c", 125.0)
    assert seen.deadline() == 130.0


def test_an_answer_is_complete_with_its_last_byte_and_what_follows_is_not_read() -> None:
    sink = io.BytesIO()
    seen = watch(sink=sink)
    seen.feed(b"RSA" + ANSWER[:-1], 103.0)
    assert not seen.is_complete
    seen.feed(ANSWER[-1:] + b"more", 104.0)
    assert seen.is_complete
    ending = seen.ending("answered", 0, 104.0, 0.5)
    assert sink.getvalue()[: ending.answer_bytes] == ANSWER
    assert (ending.elapsed_s, ending.cpu_s, ending.is_sealed, ending.has_started) == (1.0, 0.5, True, True)


@pytest.mark.parametrize(("size", "is_oversized"), [(1000, False), (1001, True)])
def test_the_limit_of_the_answer_counts_its_bytes(size: int, is_oversized: bool) -> None:
    seen = watch()
    seen.feed(b"A" + b"\xff" * size, 101.0)
    assert seen.is_oversized is is_oversized
    assert not seen.is_complete


def test_noise_before_the_answer_has_a_limit_too() -> None:
    seen = watch()
    seen.feed(b"x" * (1 << 16), 101.0)
    assert not seen.is_oversized
    seen.feed(b"x", 101.0)
    assert seen.is_oversized


@pytest.mark.parametrize(
    ("marks", "has_compiled"), [(b"RS", False), (b"RCcS", False), (b"RSCc", True), (b"RSC", True)]
)
def test_compiling_counts_from_the_start_mark(marks: bytes, has_compiled: bool) -> None:
    seen = watch()
    seen.feed(marks, 101.0)
    assert seen.ending("timeout", 0, 102.0, 0.5).has_compiled == has_compiled


def test_what_is_left_of_the_processor_time_counts_from_the_start_mark() -> None:
    seen = watch(replace(DEADLINES, run_cpu_s=2.0))
    seen.feed(b"R", 101.0)
    assert seen.cpu_left(50.0) == math.inf
    seen.feed(b"S", 102.0, cpu_s=0.5)
    assert seen.cpu_left(1.0) == 1.5
    assert seen.cpu_left(3.0) == -0.5
    assert watch().cpu_left(3.0) == math.inf


def test_processor_time_counts_from_the_start_mark_like_the_clock() -> None:
    seen = watch()
    seen.feed(b"R", 101.0, cpu_s=0.2)
    seen.feed(b"S", 102.0, cpu_s=0.9)
    seen.feed(b"S", 103.0, cpu_s=2.0)
    ending = seen.ending("timeout", 0, 112.0, cpu_s=9.4)
    assert (ending.elapsed_s, ending.cpu_s) == (10.0, 8.5)
    assert watch().ending("died", 0, 112.0, cpu_s=9.4).cpu_s == 0.0


def test_no_more_of_an_answer_is_passed_on_than_was_announced() -> None:
    """What follows an answer would be read as the zygote's own words about the next evaluation."""
    file = OffHeapFile()
    file.write(b"answer" + b"forged" * 50_000)
    reader, writer = os.pipe()
    file.send_all(writer, 6)
    os.close(writer)
    assert os.read(reader, 100) == b"answer"
    os.close(reader)
    file.close()
