"""Events as objects: recording, waiting, timing, gates."""

import asyncio
import inspect
import threading

import pytest
from helpers.objects import fresh_stream, held, raises

import acl

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream


def test_an_event_is_done_with_the_work_before_it(stream):
    with held(stream) as latch:
        with stream.record() as event:
            assert not event.query()
            with raises(acl.TimedOutError, "507047"):
                event.synchronize(timeout=0.001)
            latch.release()
            event.synchronize(timeout=60)
            assert event.query()


def test_an_event_is_recorded_again(stream):
    with acl.Event() as event:
        stream.record(event).synchronize()
        with held(stream) as latch:
            stream.record(event)
            assert not event.query()
            latch.release()
            event.synchronize()


def test_never_recorded_holds_nobody_up(stream):
    with acl.Event() as event:
        assert event.query()
        event.synchronize()
        stream.wait(event)
        stream.synchronize()


def test_options_are_those_of_the_signature():
    assert list(inspect.signature(acl.Event).parameters) == ["timing", "gate", "interprocess"]
    assert all(value.kind is value.KEYWORD_ONLY for value in inspect.signature(acl.Event).parameters.values())


def test_two_threads_that_close_one_event_destroy_it_once():
    before = acl.rt.get_event_avail_num()
    for _ in range(50):
        event, start = acl.Event(), threading.Barrier(2)
        threads = [threading.Thread(target=lambda: (start.wait(), event.close())) for _ in range(2)]  # noqa: B023
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert acl.rt.get_event_avail_num() == before


def test_time_between_two_events(stream):
    with acl.Event() as start, acl.Event() as end:
        stream.record(start)
        stream.record(end)
        stream.synchronize()
        assert end - start == start.elapsed_time(end) == -(start - end) >= 0


def test_a_gate_holds_up_until_it_is_recorded(stream):
    with acl.Stream() as opener, acl.Event(gate=True) as gate:
        stream.wait(gate)
        assert not stream.query()
        opener.record(gate)
        stream.synchronize()
        gate.reset(stream)
        stream.wait(gate)
        assert not stream.query()
        opener.record(gate)
        stream.synchronize()


def test_closing_leaves_waits_that_are_queued(stream):
    with acl.Stream() as first, held(first) as latch:
        event = first.record()
        stream.wait(event)
        event.close()
        event.close()
        assert event.closed and not stream.query()
        latch.release()
        stream.synchronize()


def test_a_borrowed_event_is_not_destroyed(stream):
    handle, ret = acl.rt.create_event_ex_with_flag(1)
    assert ret == 0
    with acl.Event.from_handle(handle) as event:
        stream.record(event).synchronize()
        assert "borrowed" in repr(event)
    assert acl.rt.query_event_status(handle) == (1, 0)
    assert acl.rt.destroy_event(handle) == 0


def test_awaiting_events_one_after_another_uses_one_stream(stream):
    async def main():
        for _ in range(20):
            with held(stream) as latch:
                with stream.record() as event:
                    waiting = asyncio.ensure_future(event._wait_async())
                    await asyncio.sleep(0)
                    latch.release()
                    await waiting
            acl.Device.current().synchronize()  # the one that waited has called back, and is idle

    asyncio.run(main())
    before = acl.rt.get_stream_available_num()
    asyncio.run(main())
    assert acl.rt.get_stream_available_num() == before


def test_events_are_awaited_side_by_side(stream):
    """The one that is done first is not behind the other."""

    async def main():
        with acl.Stream() as other, held(stream) as latch, held(other) as quick:
            with stream.record() as late, other.record() as early:
                waiting = [asyncio.ensure_future(event._wait_async()) for event in (late, early)]
                await asyncio.sleep(0)
                quick.release()
                await waiting[1]
                assert not waiting[0].done()
                latch.release()
                await waiting[0]

    asyncio.run(main())


def time_too_early(plain, timed, stream):
    with acl.Event() as end, held(stream):
        stream.record(timed)
        stream.record(end)
        end - timed  # noqa: B018


WRONG = (
    ("time of one without", lambda a, b, s: s.record(a) - s.record(b), acl.AclError, ("107006", "timing=True")),
    ("time before it is done", time_too_early, acl.AclError, ("107006", "synchronise the event first")),
    ("never recorded", lambda a, b, s: a - b, acl.AclError, ("507000",)),
    ("no event", lambda a, b, s: a - 3, TypeError, ()),
    ("reset of no gate", lambda a, b, s: b.reset(s), acl.NotSupportedError, ("207000",)),
)


@pytest.mark.parametrize("call, kind, words", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_use(call, kind, words, stream):
    with acl.Event(timing=False) as plain, acl.Event() as timed:
        with raises(kind, *words):
            call(plain, timed, stream)
