"""A run's log and its readers: what is kept, who is told that he is too late (A26, A32)."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from copilot_core.errors import ChatError
from copilot_core.event_log import MOST_AT_ONCE, EventLog, ReaderTooSlow

# Timers of a busy machine come late, never early.
LATE = 0.6


async def test_a_reader_gets_all_that_waits_in_order() -> None:
    log = EventLog(max_bytes=1000)
    log.append(b"a")
    async with log.subscribe() as reader:
        log.append(b"b")
        assert await reader.next(1) == b"ab"
        log.append(b"c")
        log.close()
        assert await reader.next(1) == b"c"
        with pytest.raises(StopAsyncIteration):
            await reader.next(1)


async def test_a_reader_that_is_too_slow_is_told() -> None:
    log = EventLog(max_bytes=10)
    async with log.subscribe() as reader:
        for _ in range(4):
            log.append(b"12345")
        with pytest.raises(ReaderTooSlow):
            await reader.next(1)


async def test_a_reader_that_comes_back_too_late_has_to_resync() -> None:
    log = EventLog(max_bytes=10)
    for _ in range(4):
        log.append(b"12345")
    assert log.first == 3
    for position in (0, 1, 5):
        with pytest.raises(ChatError) as refused:
            log.subscribe(position)
        assert refused.value.code == "resync_required"
    for position, left in ((2, b"1234512345"), (3, b"12345")):
        async with log.subscribe(position) as reader:
            assert await reader.next(1) == left


async def test_the_newest_event_is_kept_however_big_it_is() -> None:
    log = EventLog(max_bytes=10)
    log.append(b"small")
    log.append(b"x" * 100)
    async with log.subscribe(1) as reader:
        assert await reader.next(1) == b"x" * 100


async def test_one_send_is_bounded_and_nothing_is_lost_by_that() -> None:
    log = EventLog(max_bytes=100 * MOST_AT_ONCE)
    blocks = [b"%06d" % n + b"x" * 1018 for n in range(1000)]
    for block in blocks:
        log.append(block)
    log.close()
    got: list[bytes] = []
    async with log.subscribe() as reader:
        for _ in range(20):
            try:
                got.append(await reader.next(1) or b"")
            except StopAsyncIteration:
                break
    assert b"".join(got) == b"".join(blocks)
    assert max(map(len, got)) <= MOST_AT_ONCE + 1024


async def test_silence_is_told_once_each_time_and_not_late() -> None:
    log = EventLog(max_bytes=1000)
    clock = asyncio.get_running_loop().time
    async with log.subscribe() as reader:
        for _ in range(3):
            before = clock()
            assert await reader.next(0.1) is None
            assert 0.1 <= clock() - before + 0.01 < 0.1 + LATE


async def test_an_event_puts_the_next_heartbeat_off() -> None:
    """The timer that an earlier wait has armed makes no later one early or late."""
    log = EventLog(max_bytes=1000)
    loop = asyncio.get_running_loop()
    async with log.subscribe() as reader:
        for _ in range(3):
            loop.call_later(0.1, log.append, b"event")
            assert await reader.next(0.2) == b"event"
        before = loop.time()
        assert await reader.next(0.2) is None
        assert 0.2 <= loop.time() - before + 0.01 < 0.2 + LATE
        # A shorter wait than the one that armed the timer.
        loop.call_later(0.01, log.append, b"event")
        assert await reader.next(60) == b"event"
        before = loop.time()
        assert await reader.next(0.1) is None
        assert loop.time() - before < 0.1 + LATE


async def test_a_cancelled_wait_loses_nothing() -> None:
    """A26: also when the event comes in the moment of the cancellation."""
    log = EventLog(max_bytes=100_000)
    got = b""
    async with log.subscribe() as reader:
        for n in range(100):
            waiting = asyncio.create_task(reader.next(5))
            for _ in range(n % 4):
                await asyncio.sleep(0)
            log.append(b"%d;" % n)
            for _ in range(n % 3):
                await asyncio.sleep(0)
            waiting.cancel()
            try:
                got += await waiting or b""
            except asyncio.CancelledError:
                got += await reader.next(5) or b""
    assert got == b"".join(b"%d;" % n for n in range(100))


async def test_readers_at_any_pace_see_the_same() -> None:
    log = EventLog(max_bytes=1 << 20)
    chance = random.Random(7)

    async def read(pause: float) -> bytes:
        got = b""
        async with log.subscribe() as reader:
            while True:
                try:
                    got += await reader.next(0.01) or b""
                except StopAsyncIteration:
                    return got
                await asyncio.sleep(pause)

    readers = [asyncio.create_task(read(pause)) for pause in (0, 0, 0.005, 0.03)]
    for n in range(300):
        log.append(b"%d;" % n)
        if chance.random() < 0.3:
            await asyncio.sleep(chance.random() * 0.004)
    log.close()
    everything = b"".join(b"%d;" % n for n in range(300))
    assert await asyncio.gather(*readers) == [everything] * 4


async def test_the_last_reader_to_leave_is_noticed() -> None:
    log = EventLog(max_bytes=1000)
    left: list[int] = []
    log.on_abandoned = lambda: left.append(log.readers)
    async with log.subscribe(), log.subscribe():
        assert log.readers == 2
    assert left == [0]


async def test_an_event_between_the_wake_and_the_reader_wakes_nobody_twice() -> None:
    """A reader that has just been woken takes what came meanwhile; its next wait is undisturbed."""
    log = EventLog(max_bytes=1000)
    async with log.subscribe() as reader:
        waiting = asyncio.create_task(reader.next(5))
        await asyncio.sleep(0)
        log.append(b"one")
        reader._release()  # as the gathering timer does
        log.append(b"two")
        assert await waiting == b"onetwo"
        begin = time.monotonic()
        assert await reader.next(0.2) is None
        assert time.monotonic() - begin >= 0.19
