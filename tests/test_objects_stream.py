"""Streams as objects: order, waiting, callbacks and what they raise, asyncio, closing."""

import asyncio
import gc
import threading
import traceback

import pytest
from helpers.expect import in_thread
from helpers.objects import fresh_stream, held, raises

import acl

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream


def test_work_runs_in_order(stream):
    with acl.Buffer(64) as cell, acl.Buffer(256) as places:
        cells = acl.DeviceArray.from_buffer(places, (4, 64), "u1")
        for step in range(4):
            cell.fill(step + 1, stream=stream)
            cells[step].copy_from(acl.DeviceArray.from_buffer(cell, 64, "u1"), stream=stream)
        assert cells.to_numpy()[:, 0].tolist() == [1, 2, 3, 4]


def test_options_are_properties():
    # A context of its own: one that had a stream that stops on failure stops all its streams from then on.
    fast = {"priority": 3, "fast_launch": True, "fast_sync": True}
    with acl.Context(), acl.Stream(**fast) as stream, acl.Stream(stop_on_failure=True) as other:
        assert stream.priority == 3 and other.priority == 0
        assert stream.id != other.id and not stream.capturing and stream.device is acl.Device()
        assert f"{stream.handle:#x}" in repr(stream)


def test_a_held_stream_is_not_done(stream):
    with held(stream):
        assert not stream.query()
        with raises(acl.TimedOutError, "507046"):
            stream.synchronize(timeout=0.001)
    stream.synchronize(timeout=60)
    assert stream.query()


@pytest.mark.parametrize("by", ["event", "stream"])
def test_a_stream_waits_for_another(stream, by):
    with acl.Stream() as first, acl.Event() as event:
        with held(first) as latch:
            stream.wait(first.record(event) if by == "event" else first)
            assert not stream.query()
            latch.release()
            stream.synchronize()
        assert by == "stream" or event.query()


def test_options_are_truth_values(monkeypatch):
    made = []
    monkeypatch.setattr(
        acl.rt, "create_stream_with_config", lambda *given: made.append(given) or acl.rt.create_stream()
    )
    for options in ({"fast_launch": 2, "fast_sync": "yes"}, {"fast_launch": True, "fast_sync": True}):
        acl.Stream(**options).close()
    acl.Stream(fast_sync=0, persistent=None).close()
    assert made == [(0, 3), (0, 3)]


def test_a_borrowed_stream_is_not_destroyed():
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    with acl.Stream.from_handle(handle) as borrowed:
        assert borrowed.handle == handle and not borrowed.owned and "borrowed" in repr(borrowed)
        borrowed.record().close()
    assert borrowed.closed and acl.rt.synchronize_stream(handle) == 0
    assert acl.rt.destroy_stream(handle) == 0


def test_handles_go_to_pyacl_and_stay_the_objects(stream):
    with acl.Event() as event:
        assert acl.rt.record_event(event.handle, stream.handle) == 0
        assert acl.rt.synchronize_event(event.handle) == 0


def test_the_default_stream_can_be_used():
    stream = acl.Stream.default()
    stream.record().close()
    stream.synchronize()
    assert not stream.owned


# --- Callbacks


def test_callbacks_run_in_order_with_their_arguments(stream):
    seen = []
    for number in range(5):
        stream.call(seen.append, number)
    stream.synchronize()
    assert seen == [0, 1, 2, 3, 4]


def fail_here(text):
    raise KeyError(text)


@pytest.mark.parametrize("wait", ["stream", "device", "close", "with", "asyncio"])
def test_what_a_callback_raised_surfaces_with_its_own_traceback(opened, wait):
    stream = acl.Stream()
    stream.call(fail_here, "first")
    with pytest.raises(KeyError, match="first") as caught:
        if wait == "asyncio":
            asyncio.run(stream.synchronize_async())
        elif wait == "with":
            with stream:
                pass
        else:
            {"stream": stream.synchronize, "device": opened.synchronize, "close": stream.close}[wait]()
    assert "fail_here" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    stream.close()


def test_exceptions_of_callbacks_surface_one_at_a_time(stream):
    for text in ("first", "second"):
        stream.call(fail_here, text)
    for text in ("first", "second"):
        with pytest.raises(KeyError, match=text):
            stream.synchronize()
    stream.synchronize()


def test_the_exception_of_a_block_is_not_hidden_by_that_of_a_callback():
    with pytest.raises(ValueError, match="of the block"), acl.Stream() as stream:
        stream.call(fail_here, "hidden")
        raise ValueError("of the block")
    assert stream.closed


@pytest.mark.needs_sim
def test_a_failed_task_surfaces_at_close():
    from helpers.expect import Task

    stream = acl.Stream()
    task = Task(stream.handle, lambda: 507015)
    with raises(acl.TaskError, "507015"):
        stream.close()
    assert stream.closed and task
    stream.close()


# --- asyncio


def test_asyncio_goes_on_while_streams_and_events_are_awaited():
    order = []
    with acl.Stream() as other, acl.Event() as event:
        gate = threading.Event()
        other.call(gate.wait)
        other.record(event)

        async def ordered():
            waiters = [asyncio.ensure_future(wait()) for wait in (other.synchronize_async, event._wait_async)]
            await asyncio.sleep(0)
            order.append("loop")
            gate.set()
            await asyncio.gather(*waiters)
            order.append("done")

        asyncio.run(ordered())
    assert order == ["loop", "done"]


def test_await_event_that_is_done_or_was_never_recorded(stream):
    async def main():
        with acl.Event() as event, acl.Event() as never:
            stream.record(event).synchronize()
            await event
            await never

    asyncio.run(main())


def test_await_says_what_a_stream_that_is_captured_cannot(stream):
    assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
    with raises(acl.CaptureError, "end the capture first"):
        stream.synchronize()
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0 and acl.mdl.ri_destroy(instance) == 0


def test_a_cancelled_wait_does_no_harm(stream):
    async def main():
        gate = threading.Event()
        stream.call(gate.wait)
        with acl.Event() as event:
            stream.record(event)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(event, 0.001)
            gate.set()
            await event

    asyncio.run(main())


# --- The end


def test_closing_waits_for_the_work():
    gate, seen = threading.Event(), []
    stream = acl.Stream()
    stream.call(gate.wait)
    stream.call(seen.append, 1)
    gate.set()
    stream.close()
    stream.close()
    assert seen == [1] and stream.closed and repr(stream) == "<acl.Stream closed>"


@pytest.mark.needs_sim
def test_a_discarded_stream_runs_nothing_more():
    stream = acl.Stream()
    buffer = acl.Buffer(4)
    buffer.fill(1)
    acl.sim.hold(stream.handle)
    buffer.fill(2, stream=stream)
    stream.discard()
    assert bytes(buffer) == b"\1\1\1\1"
    buffer.close()


@pytest.mark.parametrize(
    "make", [acl.Stream, acl.Event, lambda: acl.Buffer(8), acl.Context], ids=["stream", "event", "buffer", "context"]
)
def test_what_is_dropped_is_freed_and_reported(make):
    before = acl.rt.get_stream_available_num(), acl.Device().memory_info()
    thing = make()
    text = repr(thing)
    with pytest.warns(ResourceWarning) as caught:
        del thing
        gc.collect()
    assert [str(warning.message) for warning in caught] == [f"unclosed {text}: call close() or use `with`"]
    if acl.rt.get_context()[1] != 0:
        acl.Device(0).use()
    assert (acl.rt.get_stream_available_num(), acl.Device().memory_info()) == before


def test_the_line_that_made_it_is_reported(run_script):
    done = run_script(
        "import acl, tracemalloc, warnings\nwarnings.simplefilter('always')\ntracemalloc.start()\n"
        "with acl.Device(0):\n    thing = acl.Stream()\n    del thing\n"
    )
    assert "ResourceWarning: unclosed <acl.Stream" in done.stderr and "lineno 5" in done.stderr, done.stderr


def test_the_end_of_the_process_says_nothing(run_script):
    code = "import acl\nd = acl.Device(0).use()\nkept = acl.Stream(), acl.Event(), acl.Buffer(8), acl.DeviceArray(3)\n"
    done = run_script(code + "kept[0].call(print, 'called')\nkept[0].synchronize()\nprint('end')")
    assert (done.stdout, done.returncode) == ("called\nend\n", 0)
    assert "Error" not in done.stderr and "Warning" not in done.stderr


def test_a_child_process_destroys_nothing_of_its_parent(run_script):
    code = """
import os, warnings, acl
warnings.simplefilter("error")
with acl.Device(0):
    stream = acl.Stream()
    if os.fork() == 0:
        stream.close()
        os._exit(3 if stream.closed else 4)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    stream.synchronize()
    stream.close()
"""
    done = run_script(code)
    assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr


CLOSED = (
    ("record", lambda stream, event: stream.record(event)),
    ("wait", lambda stream, event: stream.wait(event)),
    ("wait for a stream", lambda stream, event: stream.wait(stream)),
    ("call", lambda stream, event: stream.call(print)),
    ("query", lambda stream, event: stream.query()),
    ("synchronize", lambda stream, event: stream.synchronize()),
    ("timed synchronize", lambda stream, event: stream.synchronize(1)),
    ("asyncio", lambda stream, event: asyncio.run(stream.synchronize_async())),
    ("abort", lambda stream, event: stream.abort()),
    ("with", lambda stream, event: stream.__enter__()),
    ("handle", lambda stream, event: stream.handle),
    ("id", lambda stream, event: stream.id),
    ("priority", lambda stream, event: stream.priority),
    ("capturing", lambda stream, event: stream.capturing),
    ("fill", lambda stream, event: acl.DeviceArray(4).fill(0, stream=stream)),
    ("copy", lambda stream, event: acl.DeviceArray.from_numpy([1.0], stream=stream)),
    ("query an event", lambda stream, event: event.query()),
    ("synchronize an event", lambda stream, event: event.synchronize()),
    ("await an event", lambda stream, event: asyncio.run(event._wait_async())),
    ("reset an event", lambda stream, event: event.reset(stream)),
    ("time", lambda stream, event: event - event),
)


@pytest.mark.parametrize("call", [row[1] for row in CLOSED], ids=[row[0] for row in CLOSED])
def test_a_closed_object_is_refused(call):
    stream, event = acl.Stream(), acl.Event()
    stream.close()
    event.close()
    with raises(acl.InvalidHandleError, "is closed", "make a new one"):
        call(stream, event)


@pytest.mark.parametrize("call", [row[1] for row in CLOSED[:2]], ids=[row[0] for row in CLOSED[:2]])
def test_a_closed_event_is_refused_by_a_live_stream(call, stream):
    event = acl.Event()
    event.close()
    with raises(acl.InvalidHandleError, "acl.Event is closed"):
        call(stream, event)


WRONG = (
    ("priority", lambda: acl.Stream(priority=-1), ValueError, ("priority is -1", "expected 0")),
    ("device only and more", lambda: acl.Stream(device_only=True, fast_sync=True), acl.AclError, ("107000",)),
    ("record no event", lambda: acl.Stream.default().record(7), TypeError, ("7 is not an acl.Event", "from_handle()")),
    ("unknown option", lambda: acl.Stream(fast=True), TypeError, ("fast",)),
)


@pytest.mark.parametrize("call, kind, words", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_arguments(call, kind, words):
    with raises(kind, *words):
        call()


def test_other_threads_need_the_context(stream):
    def work():
        with raises(acl.ContextError, "with acl.Device(0)"):
            stream.record()
        acl.Device(0).use()
        stream.record().close()

    in_thread(work)
