"""What events refuse, and what they say."""

import pytest
from helpers.expect import NULL, in_thread, latches, pointer, refused

import acl
from acl._lib import lib

SYNC, PROGRESS, TIME_LINE, DEVICE_ONLY, EXTERNAL, IPC = 1, 2, 8, 0x10, 0x20, 0x40

# Every call that takes an event, and the current stream where one is needed.
HOST = {
    "aclrtDestroyEvent": lambda event: acl.rt.destroy_event(event),
    "aclrtQueryEvent": lambda event: acl.rt.query_event(event)[1],
    "aclrtQueryEventStatus": lambda event: acl.rt.query_event_status(event)[1],
    "aclrtQueryEventWaitStatus": lambda event: acl.rt.query_event_wait_status(event)[1],
    "aclrtSynchronizeEvent": lambda event: acl.rt.synchronize_event(event),
    "aclrtSynchronizeEventWithTimeout": lambda event: acl.rt.synchronize_event_with_timeout(event, 1),
    "aclrtEventGetTimestamp": lambda event: acl.rt.event_get_timestamp(event)[1],
    "aclrtGetEventId": lambda event: acl.rt.get_event_id(event)[1],
}
QUEUED = {
    "aclrtRecordEvent": lambda event, stream: acl.rt.record_event(event, stream),
    "aclrtRecordEventWithFlag": lambda event, stream: lib.aclrtRecordEventWithFlag(pointer(event), pointer(stream), 0),
    "aclrtResetEvent": lambda event, stream: acl.rt.reset_event(event, stream),
    "aclrtStreamWaitEvent": lambda event, stream: acl.rt.stream_wait_event(stream, event),
    "aclrtStreamWaitEventWithTimeout": lambda event, stream: lib.aclrtStreamWaitEventWithTimeout(
        pointer(stream), pointer(event), 1
    ),
    "aclrtStreamWaitEventWithFlag": lambda event, stream: lib.aclrtStreamWaitEventWithFlag(
        pointer(stream), pointer(event), 0, 0
    ),
}


@pytest.fixture
def make(device):
    """Give ``make(kind, flag)``, whose events are destroyed at the end."""
    made = []

    def create(kind="default", flag=0):
        if kind == "default":
            event, ret = acl.rt.create_event()
        elif kind == "flag":
            event, ret = acl.rt.create_event_with_flag(flag)
        else:
            event, ret = acl.rt.create_event_ex_with_flag(flag)
        assert ret == 0
        made.append(event)
        return event

    yield create
    for event in made:
        acl.rt.destroy_event(event)


@pytest.mark.parametrize(
    ("name", "argument", "call"),
    [
        ("aclrtCreateEvent", "event", lambda: lib.aclrtCreateEvent(NULL)),
        ("aclrtCreateEventWithFlag", "event", lambda: lib.aclrtCreateEventWithFlag(NULL, SYNC)),
        ("aclrtCreateEventExWithFlag", "event", lambda: lib.aclrtCreateEventExWithFlag(NULL, SYNC)),
        ("aclrtGetEventAvailNum", "eventCount", lambda: lib.aclrtGetEventAvailNum(NULL)),
        *((name, "event", lambda call=call: call(0)) for name, call in HOST.items()),
        *(
            (name, "event", lambda call=call: call(0, 0))
            for name, call in QUEUED.items()
            if name != "aclrtStreamWaitEventWithTimeout"
        ),
        ("aclrtEventElapsedTime", "startEvent", lambda: acl.rt.event_elapsed_time(0, 0)[1]),
    ],
)
def test_null_is_named(device, name, argument, call):
    acl.rt.get_last_error(0)
    refused(call(), 100000, name, f"{argument} is NULL")
    assert acl.rt.peek_at_last_error(0) == 0


def test_null_of_the_wait_with_timeout_has_its_own_code(device):
    ret = lib.aclrtStreamWaitEventWithTimeout(NULL, NULL, 1)
    refused(ret, 107000, "aclrtStreamWaitEventWithTimeout", "event is NULL")
    assert acl.rt.get_last_error(0) == 107000


@pytest.mark.parametrize(
    "name", ["aclrtQueryEvent", "aclrtQueryEventStatus", "aclrtQueryEventWaitStatus", "aclrtGetEventId"]
)
def test_null_places_are_named(make, name):
    argument = "eventId" if name == "aclrtGetEventId" else "status"
    refused(getattr(lib, name)(pointer(make()), NULL), 100000, name, f"{argument} is NULL")


def test_null_places_of_times_come_first(make):
    refused(lib.aclrtEventGetTimestamp(NULL, NULL), 100000, "aclrtEventGetTimestamp", "timestamp is NULL")
    refused(lib.aclrtEventElapsedTime(NULL, NULL, NULL), 100000, "aclrtEventElapsedTime", "ms is NULL")
    event = make()
    refused(acl.rt.event_elapsed_time(event, 0)[1], 100000, "aclrtEventElapsedTime", "endEvent is NULL")


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["destroyed", "stream", "context", "garbage"])
@pytest.mark.parametrize("name", [*HOST, *QUEUED, "aclrtEventElapsedTime"])
def test_dead_and_foreign_handles(stream, make, name, kind):
    destroyed = make()
    assert acl.rt.destroy_event(destroyed) == 0
    context, _ = acl.rt.get_context()
    handle = {"destroyed": destroyed, "stream": stream, "context": context, "garbage": 0xDEADBEEF12345678}[kind]
    what = {"destroyed": "a destroyed event", "stream": "a live stream", "context": "a live context"}.get(kind, "")
    acl.rt.get_last_error(0)
    if name in HOST:
        ret = HOST[name](handle)
    elif name in QUEUED:
        ret = QUEUED[name](handle, stream)
    else:
        ret = acl.rt.event_elapsed_time(make(), handle)[1]
    refused(ret, 107017, name, "vent is", hex(handle), what, "expected a live event")
    assert acl.rt.peek_at_last_error(0) == 107017


@pytest.mark.strict
@pytest.mark.parametrize("name", list(QUEUED))
def test_dead_streams(stream, make, name):
    event = make()
    assert acl.rt.record_event(event, stream) == 0
    dead, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(dead) == 0
    refused(QUEUED[name](event, dead), 107017, name, f"stream is {dead:#x}", "a destroyed stream")


@pytest.mark.parametrize("name", list(QUEUED))
def test_streams_of_another_context(stream, make, name):
    event = make()
    assert acl.rt.record_event(event, stream) == 0
    context, _ = acl.rt.create_context(0)
    refused(QUEUED[name](event, stream), 107003, name, f"stream {stream:#x}", "another context")
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0


@pytest.mark.parametrize("name", list(QUEUED))
def test_without_a_context(stream, make, name):
    event = make()
    assert acl.rt.record_event(event, stream) == 0

    def fresh():
        refused(QUEUED[name](event, stream), 107002, name, "no current context", "aclrtSetDevice")
        refused(QUEUED[name](event, 0), 107002, name, "no current context")

    in_thread(fresh)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("aclrtCreateEvent", lambda: acl.rt.create_event()[1]),
        ("aclrtCreateEventWithFlag", lambda: acl.rt.create_event_with_flag(SYNC)[1]),
        ("aclrtCreateEventExWithFlag", lambda: acl.rt.create_event_ex_with_flag(SYNC)[1]),
        ("aclrtGetEventAvailNum", lambda: acl.rt.get_event_avail_num()[1]),
    ],
)
def test_creating_without_a_context(name, call):
    in_thread(lambda: refused(call(), 107002, name, "no current context"))


@pytest.mark.parametrize("flag", [0, 0x40, 0x41, 0x80, 0xFFFFFFFF, 0x11, 0x21, 0x30])
def test_flags(device, flag):
    acl.rt.get_last_error(0)
    ret = acl.rt.create_event_with_flag(flag)[1]
    refused(ret, 107000, "aclrtCreateEventWithFlag", f"flag is {flag:#x}" if flag else "flag is 0", "ACL_EVENT_")
    assert acl.rt.peek_at_last_error(0) == 107000


@pytest.mark.parametrize("flag", [0, 0x10, 0x20, 0x41, 0x80, 0xFFFFFFFF, 0x11])
def test_ex_flags(device, flag):
    ret = acl.rt.create_event_ex_with_flag(flag)[1]
    refused(ret, 107000, "aclrtCreateEventExWithFlag", f"flag is {flag:#x}" if flag else "flag is 0", "ACL_EVENT_SYNC")


@pytest.mark.needs_sim
def test_flag_events_run_out(run_script):
    code = """
import acl
acl.rt.set_device(0)
left, _ = acl.rt.get_event_avail_num()
assert left == 1023, left
events = [acl.rt.create_event_with_flag(1) for _ in range(left)]
assert {ret for _, ret in events} == {0}
assert acl.rt.create_event_with_flag(1)[1] == 207007
text = acl.get_recent_err_msg()
assert "aclrtCreateEventWithFlag" in text and "1023" in text, text
assert acl.rt.create_event()[1] == 0
assert acl.rt.create_event_ex_with_flag(1)[1] == 0
assert acl.rt.destroy_event(events[0][0]) == 0
assert acl.rt.create_event_with_flag(1)[1] == 0
"""
    done = run_script(code, {"ACL_SIM_LIMITS": "documented", "ACL_SIM_SOC": "Ascend310P3"})
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_older_chips_have_no_events_for_the_device_alone(run_script):
    code = """
import acl
acl.rt.set_device(0)
assert acl.rt.create_event_with_flag(0x10)[1] == 207000
assert "aclrtCreateEventWithFlag" in acl.get_recent_err_msg()
"""
    assert run_script(code, {"ACL_SIM_SOC": "Ascend910A"}).returncode == 0


@pytest.mark.parametrize("name", list(QUEUED))
def test_events_for_the_device_alone(stream, make, name):
    event = make("flag", DEVICE_ONLY)
    refused(QUEUED[name](event, stream), 107000, name, "ACL_EVENT_DEVICE_USE_ONLY")


@pytest.mark.parametrize(
    "name",
    ["aclrtQueryEvent", "aclrtQueryEventStatus", "aclrtQueryEventWaitStatus", "aclrtSynchronizeEvent",
     "aclrtSynchronizeEventWithTimeout", "aclrtEventGetTimestamp"],
)  # fmt: skip
def test_external_events_on_the_host(make, name):
    acl.rt.get_last_error(0)
    refused(HOST[name](make("flag", EXTERNAL)), 207000, name, "ACL_EVENT_EXTERNAL")
    assert acl.rt.peek_at_last_error(0) == 0


def test_external_events_have_no_times(make, stream):
    plain = make()
    assert acl.rt.record_event(plain, stream) == 0
    for pair in ((make("flag", EXTERNAL), plain), (plain, make("flag", EXTERNAL))):
        refused(acl.rt.event_elapsed_time(*pair)[1], 207000, "aclrtEventElapsedTime", "ACL_EVENT_EXTERNAL")


@pytest.mark.parametrize("name", ["aclrtQueryEvent", "aclrtQueryEventWaitStatus"])
def test_ex_events_and_deprecated_queries(make, name):
    refused(HOST[name](make("ex", SYNC)), 207000, name, "aclrtCreateEventExWithFlag")


def test_ex_events_are_not_reset(make, stream):
    refused(acl.rt.reset_event(make("ex", SYNC), stream), 207000, "aclrtResetEvent", "aclrtCreateEventExWithFlag")


@pytest.mark.parametrize("kind", ["flag", "ex"])
@pytest.mark.parametrize("flag", [PROGRESS, TIME_LINE])
def test_waiting_wants_the_sync_flag(make, stream, kind, flag):
    event = make(kind, flag)
    assert acl.rt.record_event(event, stream) == 0
    acl.rt.get_last_error(0)
    for name in ("aclrtStreamWaitEvent", "aclrtStreamWaitEventWithTimeout", "aclrtStreamWaitEventWithFlag"):
        refused(QUEUED[name](event, stream), 207000, name, f"flag {flag:#x}", "ACL_EVENT_SYNC")
    if kind == "flag":
        refused(acl.rt.reset_event(event, stream), 207000, "aclrtResetEvent", f"flag {flag:#x}", "ACL_EVENT_SYNC")
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.parametrize(
    "name", ["aclrtStreamWaitEvent", "aclrtStreamWaitEventWithTimeout", "aclrtStreamWaitEventWithFlag"]
)
def test_default_events_are_recorded_before_they_are_waited_for(make, stream, name):
    refused(QUEUED[name](make(), stream), 107000, name, "never recorded", "aclrtRecordEvent")


@pytest.mark.parametrize(("timeout", "last"), [(-1, 0), (-(2**31), 0)])
def test_timeouts_of_waits(make, stream, timeout, last):
    acl.rt.get_last_error(0)
    ret = lib.aclrtStreamWaitEventWithTimeout(pointer(stream), pointer(make()), timeout)
    refused(ret, 107000, "aclrtStreamWaitEventWithTimeout", f"timeout is {timeout}")
    assert acl.rt.peek_at_last_error(0) == last


@pytest.mark.parametrize(("timeout", "last"), [(-2, 0), (-(2**31), 0), (0, 107000)])
def test_timeouts_of_hosts(make, timeout, last):
    acl.rt.get_last_error(0)
    ret = acl.rt.synchronize_event_with_timeout(make(), timeout)
    refused(ret, 107000, "aclrtSynchronizeEventWithTimeout", f"timeout is {timeout}", "-1")
    assert acl.rt.peek_at_last_error(0) == last


def test_timeouts_are_checked_before_null():
    assert acl.rt.synchronize_event_with_timeout(0, -2) == 107000
    assert acl.rt.synchronize_event_with_timeout(0, 0) == 100000


def test_time_runs_out(make, stream):
    event = make()
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        ret = acl.rt.synchronize_event_with_timeout(event, 1)
        refused(ret, 507047, "aclrtSynchronizeEventWithTimeout", "timeout is 1 ms")
        assert acl.rt.get_last_error(0) == 507047


def test_a_wait_runs_out_of_time(make, stream):
    other, _ = acl.rt.create_stream()
    event = make()
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert lib.aclrtStreamWaitEventWithTimeout(pointer(other), pointer(event), 1) == 0
        refused(acl.rt.synchronize_stream_with_timeout(other, 10000), 107020, "aclrtStreamWaitEvent", "task")
        assert acl.rt.get_last_error(0) == 107020
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.destroy_stream(other) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910A"])
def test_older_chips_wait_without_a_limit(run_script, soc):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
(stream, _), (other, _), (event, _) = acl.rt.create_stream(), acl.rt.create_stream(), acl.rt.create_event()
acl.sim.hold(stream)
assert acl.rt.record_event(event, stream) == 0
assert lib.aclrtStreamWaitEventWithTimeout(ffi.cast("void *", other), ffi.cast("void *", event), 1) == 0
assert acl.rt.synchronize_stream_with_timeout(other, 1100) == 507046
acl.sim.release(stream)
assert acl.rt.synchronize_stream(other) == 0
"""
    done = run_script(code, {"ACL_SIM_SOC": soc})
    assert done.returncode == 0, done.stderr


def test_times_of_events_never_recorded(make, stream):
    event, recorded = make(), make()
    assert acl.rt.record_event(recorded, stream) == 0
    assert acl.rt.synchronize_event(recorded) == 0
    refused(acl.rt.event_get_timestamp(event)[1], 507000, "aclrtEventGetTimestamp", "event was never recorded")
    for pair, name in (((event, recorded), "startEvent"), ((recorded, event), "endEvent")):
        refused(acl.rt.event_elapsed_time(*pair)[1], 507000, "aclrtEventElapsedTime", f"{name} was never recorded")


def test_times_of_events_not_reached(make, stream):
    event, reached = make(), make()
    assert acl.rt.record_event(reached, stream) == 0
    assert acl.rt.synchronize_event(reached) == 0
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        refused(acl.rt.event_get_timestamp(event)[1], 107006, "aclrtEventGetTimestamp", "not been reached")
        ret = acl.rt.event_elapsed_time(reached, event)[1]
        refused(ret, 107006, "aclrtEventElapsedTime", "endEvent", "aclrtSynchronizeEvent")


@pytest.mark.parametrize("kind", ["flag", "ex"])
def test_times_of_events_that_keep_none(make, stream, kind):
    event = make(kind, SYNC)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_event(event) == 0
    refused(acl.rt.event_get_timestamp(event)[1], 107006, "aclrtEventGetTimestamp", "flag 0x1", "ACL_EVENT_TIME_LINE")
    refused(acl.rt.event_elapsed_time(event, event)[1], 107006, "aclrtEventElapsedTime", "startEvent", "flag 0x1")


@pytest.mark.parametrize(("kind", "flag"), [("default", 0), ("ex", SYNC), ("flag", TIME_LINE), ("ex", TIME_LINE)])
def test_events_without_an_id(make, kind, flag):
    refused(acl.rt.get_event_id(make(kind, flag))[1], 507000, "aclrtGetEventId", "no id", "ACL_EVENT_SYNC")


def test_record_flags(make, stream):
    event = make("ex", SYNC)
    for flag in (2, 2**32 - 1):
        ret = lib.aclrtRecordEventWithFlag(pointer(event), pointer(stream), flag)
        refused(ret, 100000, "aclrtRecordEventWithFlag", f"flag is {flag}", "0 or 1")
    ret = lib.aclrtRecordEventWithFlag(pointer(event), pointer(stream), 1)
    refused(ret, 107029, "aclrtRecordEventWithFlag", "flag is 1")
    ret = lib.aclrtRecordEventWithFlag(pointer(event), pointer(stream), 0)
    refused(ret, 107000, "aclrtRecordEventWithFlag", "flag is 0", "expected 1")
    ret = lib.aclrtRecordEventWithFlag(pointer(make()), pointer(stream), 1)
    refused(ret, 207000, "aclrtRecordEventWithFlag", "aclrtCreateEventExWithFlag")


def test_wait_flags(make, stream):
    event = make("ex", SYNC)

    def wait(handle, timeout, flag):
        return lib.aclrtStreamWaitEventWithFlag(pointer(stream), pointer(handle), timeout, flag)

    refused(wait(event, 0, 2), 100000, "aclrtStreamWaitEventWithFlag", "flag is 2", "0 or 1")
    refused(wait(event, 5, 1), 100000, "aclrtStreamWaitEventWithFlag", "timeout is 5", "expected 0")
    refused(wait(event, 0, 1), 107029, "aclrtStreamWaitEventWithFlag", "flag is 1")
    refused(wait(event, 0, 0), 107000, "aclrtStreamWaitEventWithFlag", "flag is 0", "expected 1")
    refused(wait(make(), 0, 1), 207000, "aclrtStreamWaitEventWithFlag", "aclrtCreateEventExWithFlag")


@pytest.mark.needs_sim
def test_events_of_another_device_are_not_recorded():
    acl.sim.reset()
    acl.sim.configure(devices=2)
    assert acl.rt.set_device(0) == 0
    event, _ = acl.rt.create_event()
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.set_device(1) == 0
    refused(acl.rt.record_event(event, 0), 107000, "aclrtRecordEvent", "device 0", "device 1")
    assert acl.rt.synchronize_event(event) == 0
    acl.sim.reset()
