"""One writer per run: busy, fenced, taken over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import psutil
import pytest

from dga2d.events import Draft, RunId
from dga2d.store import EventStore, LeaseLostError, RunBusyError, StaleVersionError, open_store
from dga2d.store._contract import ProcessIdentity, host_name, this_process
from dga2d.store._runs import LEASE_US

Drafter = Callable[[object], Draft]

HOLDER = textwrap.dedent("""
    import asyncio, sys
    from dga2d.store import open_store

    async def main():
        async with open_store(sys.argv[1]) as store, store.write("run-1", holder="child", create=True):
            print("ready", flush=True)
            await asyncio.sleep(60)

    asyncio.run(main())
""")


@contextmanager
def child_writer(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lease of run-1."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, url], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            yield child
        finally:
            child.kill()


async def test_a_second_writer_is_refused_and_told_by_whom(
    store: EventStore, url: str, run_id: RunId
) -> None:
    async with store.write(run_id, holder="first", create=True), open_store(url) as other:
        for second in (store, other):
            with pytest.raises(RunBusyError, match=f"first \\(pid {os.getpid()}"):
                async with second.write(run_id, holder="second"):
                    pass


async def test_another_process_is_refused_until_it_is_killed(
    store: EventStore, url: str, run_id: RunId, note: Drafter
) -> None:
    with child_writer(url) as child:
        with pytest.raises(RunBusyError) as caught:
            async with store.write(run_id):
                pass
        assert f"child (pid {child.pid}" in caught.value.holder
        [summary] = await store.runs()
        assert summary.is_leased
        child.send_signal(signal.SIGKILL)
        child.wait()
        async with store.write(run_id) as writer:
            assert writer.epoch == 2
            await writer.append([note("after the crash")])


async def test_a_stalled_writer_is_fenced_once_another_took_over(
    url: str, run_id: RunId, note: Drafter
) -> None:
    now = [1_000_000]
    async with open_store(url, clock=lambda: now[0]) as store, open_store(url, clock=lambda: now[0]) as other:
        async with store.write(run_id, create=True) as stalled:
            await stalled.append([note("in time")])
            now[0] += LEASE_US - 1
            with pytest.raises(RunBusyError):
                async with other.write(run_id):
                    pass
            now[0] += 1
            async with other.write(run_id) as writer:
                await writer.append([note("taken over")])
                with pytest.raises(LeaseLostError) as caught:
                    await stalled.append([note("too late")], [b"too late"])
                assert (caught.value.run_id, caught.value.epoch) == (run_id, 1)
                with pytest.raises(LeaseLostError):
                    await stalled.append([note("again")])
                await writer.append([note("goes on")])
        assert (await store.verify(run_id)).seq == 3
        # the fenced writer's end did not release the lease of the one that followed
        async with other.write(run_id) as writer:
            assert writer.epoch == 3


async def test_an_expired_but_unclaimed_lease_still_writes(url: str, run_id: RunId, note: Drafter) -> None:
    now = [0]
    async with open_store(url, clock=lambda: now[0]) as store, store.write(run_id, create=True) as writer:
        now[0] += 10 * LEASE_US
        [event] = await writer.append([note("x")])
        assert await store.head(run_id) == (1, event.hash)


async def test_the_lease_is_renewed_in_the_background(
    url: str, run_id: RunId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dga2d.store._writer.RENEWAL_S", 0.01)
    now = [0]
    async with open_store(url, clock=lambda: now[0]) as store, store.write(run_id, create=True):
        now[0] += LEASE_US - 1
        await anyio.sleep(0.2)
        now[0] += LEASE_US - 1
        with pytest.raises(RunBusyError):
            async with store.write(run_id):
                pass


async def test_a_write_past_the_lease_is_noticed(
    store: EventStore, run_id: RunId, note: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writers that both believe in the same epoch: the head gives the second one away."""
    monkeypatch.setattr("dga2d.store._runs.LeaseState.is_live", lambda *_: False)
    async with store.write(run_id, create=True) as writer, store.write(run_id) as intruder:
        monkeypatch.setattr(writer, "epoch", intruder.epoch)
        await writer.append([note("a")])
        with pytest.raises(StaleVersionError) as caught:
            await intruder.append([note("b")])
        assert (caught.value.expected, caught.value.actual) == (0, 1)
    assert (await store.verify(run_id)).seq == 1


def test_a_process_is_gone_when_its_number_is_free_or_belongs_to_a_later_one() -> None:
    me = this_process()
    assert not me.is_gone()
    assert not ProcessIdentity(me.host, me.pid, me.started - 1000).is_gone()  # the clock was set
    assert ProcessIdentity(me.host, me.pid, me.started - 60_000).is_gone()
    free = next(pid for pid in range(2**22 - 1, 0, -1) if not psutil.pid_exists(pid))
    assert ProcessIdentity(host_name(), free, me.started).is_gone()
    assert not ProcessIdentity("elsewhere", free, me.started).is_gone()


def test_a_process_that_waits_to_be_collected_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = round(psutil.Process(child.pid).create_time() * 1000)
        identity = ProcessIdentity(host_name(), child.pid, started)
        assert not identity.is_gone()
        child.kill()
        while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
            pass
        assert identity.is_gone()
