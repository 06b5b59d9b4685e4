"""Events and capture: which classes a capturing stream takes, and who may do what with a captured event."""

import pytest
from helpers.capture import (
    ACTIVE,
    NONE,
    SYNC,
    begin,
    check_free,
    check_unharmed,
    end,
    fork,
    in_other_context,
    run,
    status,
)
from helpers.expect import in_thread, pointer, refused

import acl
from acl._lib import lib

mdl, rt = acl.mdl, acl.rt
PROGRESS, TIME_LINE, DEVICE_ONLY, EXTERNAL = 2, 8, 0x10, 0x20

ON_HOST = {
    "aclrtSynchronizeEvent": lambda e: rt.synchronize_event(e),
    "aclrtSynchronizeEventWithTimeout": lambda e: rt.synchronize_event_with_timeout(e, 1000),
    "aclrtQueryEventStatus": lambda e: rt.query_event_status(e)[1],
    "aclrtQueryEventWaitStatus": lambda e: rt.query_event_wait_status(e)[1],
    "aclrtEventGetTimestamp": lambda e: rt.event_get_timestamp(e)[1],
    "aclrtEventElapsedTime": lambda e: rt.event_elapsed_time(e, e)[1],
}


# --- captured events on the host


@pytest.mark.parametrize("name", ON_HOST)
@pytest.mark.parametrize("flag", [SYNC, SYNC | TIME_LINE, SYNC | PROGRESS])
def test_hosts_and_captured_events(stream, words, make_event, flag, name):
    """Transposes Unit_hipStreamBeginCapture_CheckingSyncDuringCapture and cupy_capture_failure5, for events."""
    event = make_event("ex", flag)
    begin(stream)
    assert rt.record_event(event, stream) == 0
    refused(ON_HOST[name](event), 107028, name, "recorded in a capture", "aclmdlRICaptureEnd")
    in_thread(lambda: refused(ON_HOST[name](event), 107028, name, "recorded in a capture"))
    assert rt.get_last_error(0) == 107028
    check_unharmed(words, stream)
    after = {"aclrtQueryEventWaitStatus": 207000, "aclrtEventGetTimestamp": 507000, "aclrtEventElapsedTime": 507000}
    assert ON_HOST[name](event) == after.get(name, 0)  # as of an event that was never recorded
    if flag & TIME_LINE:
        assert rt.record_event(event, stream) == 0
        assert rt.synchronize_event(event) == 0
        assert rt.event_get_timestamp(event)[1] == 0


@pytest.mark.parametrize("name", ON_HOST)
def test_hosts_and_external_flag_events(stream, words, make_event, name):
    event = make_event("flag", EXTERNAL)
    begin(stream)
    assert rt.stream_wait_event(stream, event) == 0
    refused(ON_HOST[name](event), 207000, name, "ACL_EVENT_EXTERNAL")
    instance = end(stream)
    refused(ON_HOST[name](event), 207000, name, "ACL_EVENT_EXTERNAL")
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


def test_a_captured_event_comes_before_an_external_one(stream, make_event):
    captured, external = make_event("ex", SYNC), make_event("flag", EXTERNAL)
    begin(stream)
    assert rt.record_event(captured, stream) == 0
    refused(rt.event_elapsed_time(external, captured)[1], 107028, "aclrtEventElapsedTime", "recorded in a capture")
    assert mdl.ri_destroy(end(stream)) == 0
    refused(rt.event_elapsed_time(external, captured)[1], 207000, "aclrtEventElapsedTime", "ACL_EVENT_EXTERNAL")


# --- classes of events in a capturing stream


@pytest.mark.parametrize(("kind", "flag"), [("default", 0), ("flag", SYNC), ("flag", SYNC | TIME_LINE)])
def test_plain_events_are_not_captured(stream, other, words, make_event, kind, flag):
    event = make_event(kind, flag)
    assert rt.record_event(event, other) == 0
    assert rt.synchronize_event(event) == 0
    begin(stream)
    rt.get_last_error(0)
    for name, call in {
        "aclrtRecordEvent": lambda: rt.record_event(event, stream),
        "aclrtStreamWaitEvent": lambda: rt.stream_wait_event(stream, event),
        "aclrtResetEvent": lambda: rt.reset_event(event, stream),
    }.items():
        refused(call(), 207000, name, "being captured", "aclrtCreateEventExWithFlag")
    assert rt.get_last_error(0) == 0
    assert rt.record_event(event, other) == 0  # outside it goes on as before
    assert rt.synchronize_event(event) == 0
    check_unharmed(words, stream)


@pytest.mark.parametrize("flag", [TIME_LINE, PROGRESS, TIME_LINE | PROGRESS])
def test_events_without_the_sync_flag(stream, other, words, make_event, flag):
    """Recording one does nothing, not even on another stream; waiting for one is refused."""
    event = make_event("ex", flag)
    begin(stream)
    assert rt.record_event(event, stream) == 0
    assert rt.query_event_status(event) == (1, 0)  # neither captured nor recorded
    refused(rt.stream_wait_event(stream, event), 207000, "aclrtStreamWaitEvent", "ACL_EVENT_SYNC")
    refused(rt.stream_wait_event(other, event), 207000, "aclrtStreamWaitEvent", "ACL_EVENT_SYNC")
    assert status(other) == NONE
    assert words.set(stream, 0, 1) == 0
    own = mdl.ri_get_streams(mdl.ri_capture_get_info(stream)[1])[0][0]
    assert len(mdl.ri_get_tasks_by_stream(own)[0]) == 1
    check_unharmed(words, stream)


def test_ex_events_are_not_reset(stream, words, make_event):
    event = make_event("ex", SYNC)
    begin(stream)
    assert rt.record_event(event, stream) == 0
    for target in (stream, 0):
        refused(rt.reset_event(event, target), 207000, "aclrtResetEvent", "aclrtCreateEventExWithFlag")
    check_unharmed(words, stream)


def test_events_for_the_device_alone(stream, words, make_event):
    event = make_event("flag", DEVICE_ONLY)
    begin(stream)
    refused(rt.record_event(event, stream), 107000, "aclrtRecordEvent", "ACL_EVENT_DEVICE_USE_ONLY")
    refused(rt.stream_wait_event(stream, event), 107000, "aclrtStreamWaitEvent", "ACL_EVENT_DEVICE_USE_ONLY")
    check_unharmed(words, stream)


@pytest.mark.parametrize("timeout", [0, 5])
def test_a_wait_with_a_timeout_is_one_without(stream, other, words, make_event, timeout):
    event, back = make_event("ex", SYNC), make_event("ex", SYNC)
    begin(stream)
    assert words.set(stream, 0, 2) == 0
    assert rt.record_event(event, stream) == 0
    assert lib.aclrtStreamWaitEventWithTimeout(pointer(other), pointer(event), timeout) == 0
    assert status(other) == ACTIVE
    assert words.copy(other, 1, 0) == 0
    fork(back, other, stream)
    instance = end(stream)
    run(instance, stream)
    assert words.read()[:2] == [2, 2]
    assert mdl.ri_destroy(instance) == 0


# --- inside and outside


def test_an_event_recorded_outside(stream, other, words, make_event):
    """A capture is isolated: it does not wait for what was recorded outside, and goes on."""
    event = make_event("ex", SYNC)
    assert words.set(other, 1, 4) == 0
    assert rt.record_event(event, other) == 0
    begin(stream)
    refused(rt.stream_wait_event(stream, event), 107024, "aclrtStreamWaitEvent", "recorded outside", "flag 1")
    assert status(stream) == ACTIVE
    assert rt.synchronize_event(event) == 0
    refused(rt.stream_wait_event(stream, event), 107024, "aclrtStreamWaitEvent", "recorded outside")
    assert rt.record_event(event, stream) == 0  # from here on it is the capture's
    refused(rt.synchronize_event(event), 107028, "aclrtSynchronizeEvent", "recorded in a capture")
    assert rt.stream_wait_event(stream, event) == 0
    check_unharmed(words, stream)
    assert words.read()[1] == 4
    assert rt.synchronize_event(event) == 0
    assert rt.query_event_status(event) == (1, 0)


def test_a_record_outside_takes_the_event_out(stream, other, words, make_event):
    event = make_event("ex", SYNC)
    begin(stream)
    assert rt.record_event(event, stream) == 0
    assert words.set(other, 1, 6) == 0
    assert rt.record_event(event, other) == 0
    assert status(other) == NONE
    assert rt.synchronize_event(event) == 0
    assert words.read()[1] == 6
    refused(rt.stream_wait_event(stream, event), 107024, "aclrtStreamWaitEvent", "recorded outside")
    check_unharmed(words, stream)


@pytest.mark.parametrize("handle", [False, True])
@pytest.mark.parametrize("name", ["aclrtStreamWaitEvent", "aclrtRecordEvent"])
def test_the_default_stream_does_not_join(stream, words, make_event, name, handle):
    """Transposes cupy_capture_failure6: work on the default stream runs, but it takes no part in a capture."""
    event = make_event("ex", SYNC)
    default = rt.ctx_get_current_default_stream()[0]
    target = default if handle else 0
    begin(stream)
    assert rt.record_event(event, stream) == 0
    ret = rt.stream_wait_event(target, event) if "Wait" in name else rt.record_event(event, target)
    refused(ret, 107031, name, "default stream", "cannot join")
    assert status(default) == NONE
    assert words.set(target, 1, 7) == 0
    assert rt.synchronize_stream(target) == 0
    assert words.read()[1] == 7
    check_unharmed(words, stream)
    assert (rt.record_event(event, target), rt.stream_wait_event(target, event)) == (0, 0)


@pytest.mark.parametrize("flag", [0x10, 0x20])
def test_streams_of_a_kind_that_never_joins(stream, words, make_event, flag):
    event = make_event("ex", SYNC)
    odd, _ = rt.create_stream_with_config(0, flag)
    begin(stream)
    assert rt.record_event(event, stream) == 0
    refused(rt.stream_wait_event(odd, event), 507000, "aclrtStreamWaitEvent", f"flag {flag:#x}")
    assert status(odd) == NONE
    check_unharmed(words, stream)
    assert rt.destroy_stream(odd) == 0


def test_streams_of_another_context_do_not_join(stream, words, make_event):
    event = make_event("ex", SYNC)
    begin(stream)
    assert rt.record_event(event, stream) == 0

    def elsewhere():
        own, _ = rt.create_stream()
        refused(rt.stream_wait_event(stream, event), 107003, "aclrtStreamWaitEvent", "another context")
        refused(rt.stream_wait_event(own, event), 107003, "aclrtStreamWaitEvent", "another context")
        assert status(own) == NONE
        assert rt.synchronize_stream(own) == 0

    in_other_context(elsewhere)
    check_unharmed(words, stream)


def test_bound_streams_do_not_join(stream, words, make_event):
    event = make_event("ex", SYNC)
    built, _ = mdl.ri_build_begin(0)
    bound, _ = rt.create_stream_with_config(0, 4)
    assert mdl.ri_bind_stream(built, bound, 0) == 0
    begin(stream)
    assert rt.record_event(event, stream) == 0
    refused(rt.stream_wait_event(bound, event), 207000, "aclrtStreamWaitEvent", "bound to a model running instance")
    refused(rt.record_event(event, bound), 207000, "aclrtRecordEvent", "bound to a model running instance")
    check_unharmed(words, stream)
    assert mdl.ri_unbind_stream(built, bound) == 0
    assert mdl.ri_destroy(built) == 0
    assert rt.destroy_stream(bound) == 0
