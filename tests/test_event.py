"""Events: what a record captures, what a wait binds to, what hosts are told, and the three classes."""

import pytest
from helpers.expect import RunningTask, Task, codes_of_waiters, in_thread, latches, pointer

import acl
from acl._lib import lib

SYNC, PROGRESS, TIME_LINE = 1, 2, 8
COMPLETE, NOT_READY = 0, 1  # aclrtQueryEvent, aclrtQueryEventWaitStatus
RECORDED, UNRECORDED = 1, 0  # aclrtQueryEventStatus
CREATE = {
    "default": acl.rt.create_event,
    "flag": lambda: acl.rt.create_event_with_flag(SYNC | TIME_LINE),
    "ex": lambda: acl.rt.create_event_ex_with_flag(SYNC | TIME_LINE),
}


@pytest.fixture(params=list(CREATE))
def any_event(request, device):
    """Make an event of each class."""
    event, ret = CREATE[request.param]()
    assert ret == 0
    yield event
    acl.rt.destroy_event(event)


@pytest.fixture(params=["default", "ex"])
def moving_event(request, device):
    """Make an event of each class whose waits bind to a record."""
    event, ret = CREATE[request.param]()
    assert ret == 0
    yield event
    acl.rt.destroy_event(event)


def test_record_is_complete_when_what_came_before_is(any_event, stream):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        held.hold()
        assert acl.rt.query_event_status(any_event) == (UNRECORDED, 0)
        assert acl.rt.synchronize_event_with_timeout(any_event, 1) == 507047
        held.release()
        assert acl.rt.synchronize_event(any_event) == 0
        assert acl.rt.query_event_status(any_event) == (RECORDED, 0)
        assert acl.rt.stream_query(stream) == (1, 0)


@pytest.mark.needs_sim
def test_effects_are_visible_once_synchronized(any_event, stream):
    done = []
    tasks = [Task(stream, lambda number=number: done.append(number)) for number in range(10)]
    assert acl.rt.record_event(any_event, stream) == 0
    assert acl.rt.synchronize_event(any_event) == 0
    assert done == list(range(len(tasks)))


def test_never_recorded():
    assert acl.rt.set_device(0) == 0
    for name, create in CREATE.items():
        event, _ = create()
        assert acl.rt.synchronize_event(event) == 0
        assert acl.rt.synchronize_event_with_timeout(event, 1) == 0
        assert acl.rt.query_event_status(event) == ((RECORDED if name == "ex" else UNRECORDED), 0)
        if name != "ex":
            assert acl.rt.query_event(event) == (COMPLETE, 0)
            assert acl.rt.query_event_wait_status(event) == (COMPLETE, 0)
        assert acl.rt.destroy_event(event) == 0
    assert acl.rt.reset_device(0) == 0


def test_deprecated_query(event, stream):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.query_event(event) == (NOT_READY, 0)
        held.release()
        assert acl.rt.synchronize_event(event) == 0
        assert acl.rt.query_event(event) == (COMPLETE, 0)


def test_recording_anew_moves_what_hosts_wait_for(any_event, stream):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        held.release()
        assert acl.rt.synchronize_event_with_timeout(any_event, 1) == 507047
        assert acl.rt.query_event_status(any_event) == (UNRECORDED, 0)
        held.release()
        assert acl.rt.synchronize_event(any_event) == 0


def test_recording_on_another_stream_moves_it_too(any_event, stream, other):
    assert acl.rt.record_event(any_event, stream) == 0
    assert acl.rt.synchronize_event(any_event) == 0
    with latches(other) as held:
        held.hold()
        assert acl.rt.record_event(any_event, other) == 0
        assert acl.rt.query_event_status(any_event) == (UNRECORDED, 0)
        assert acl.rt.synchronize_stream(stream) == 0
        held.release()
        assert acl.rt.synchronize_event(any_event) == 0


def test_a_wait_holds_back_later_tasks_of_its_stream(any_event, stream, other):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        assert acl.rt.stream_wait_event(other, any_event) == 0
        assert acl.rt.stream_query(other) == (1, 0)
        assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
        held.release()
        assert acl.rt.synchronize_stream(other) == 0


def test_many_streams_wait_for_one_record(any_event, stream):
    waiting = [acl.rt.create_stream()[0] for _ in range(20)]
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        for handle in waiting:
            assert acl.rt.stream_wait_event(handle, any_event) == 0
        assert [acl.rt.stream_query(handle) for handle in waiting] == [(1, 0)] * 20
        held.release()
        assert [acl.rt.synchronize_stream(handle) for handle in waiting] == [0] * 20
    for handle in waiting:
        assert acl.rt.destroy_stream(handle) == 0


def test_a_wait_binds_to_the_record_it_was_issued_after(moving_event, stream, other):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(moving_event, stream) == 0
        assert acl.rt.stream_wait_event(other, moving_event) == 0
        held.hold()
        assert acl.rt.record_event(moving_event, stream) == 0
        held.release()
        assert acl.rt.synchronize_stream(other) == 0
        assert acl.rt.query_event_status(moving_event) == (UNRECORDED, 0)


def test_a_wait_for_a_complete_event_costs_nothing(moving_event, stream, other):
    assert acl.rt.record_event(moving_event, stream) == 0
    assert acl.rt.synchronize_event(moving_event) == 0
    with latches(stream) as held:
        held.hold()
        assert acl.rt.stream_wait_event(other, moving_event) == 0
        assert acl.rt.synchronize_stream(other) == 0


def test_a_wait_on_the_recording_stream_costs_nothing(any_event, stream):
    assert acl.rt.record_event(any_event, stream) == 0
    assert acl.rt.stream_wait_event(stream, any_event) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_ex_events_never_recorded_are_not_waited_for(stream):
    event, _ = CREATE["ex"]()
    assert acl.rt.stream_wait_event(stream, event) == 0
    assert acl.rt.stream_query(stream) == (0, 0)
    assert acl.rt.destroy_event(event) == 0


def test_flag_events_are_levels(stream, other):
    event, _ = CREATE["flag"]()
    assert acl.rt.stream_wait_event(other, event) == 0
    assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.stream_wait_event(other, event) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.reset_event(event, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.stream_wait_event(other, event) == 0
    assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.destroy_event(event) == 0


def test_default_events_may_be_reset(event, stream):
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.reset_event(event, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.query_event_status(event) == (UNRECORDED, 0)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.query_event_status(event) == (RECORDED, 0)


def test_a_wait_bound_before_the_reset_is_not_moved(event, stream, other):
    """The flow of older programs: record, several waits, one reset after them."""
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.stream_wait_event(other, event) == 0
        assert acl.rt.reset_event(event, other) == 0
        assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
        held.release()
        assert acl.rt.synchronize_stream(other) == 0


def test_wait_status(event, stream, other):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.query_event_wait_status(event) == (COMPLETE, 0)
        assert acl.rt.stream_wait_event(other, event) == 0
        assert acl.rt.query_event_wait_status(event) == (NOT_READY, 0)
        held.release()
        assert acl.rt.synchronize_stream(other) == 0
        assert acl.rt.query_event_wait_status(event) == (COMPLETE, 0)


def test_destroying_does_not_wait_and_waits_go_on(any_event, stream, other):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        assert acl.rt.stream_wait_event(other, any_event) == 0
        assert acl.rt.destroy_event(any_event) == 0
        assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
        held.release()
        assert acl.rt.synchronize_stream(other) == 0
        assert acl.rt.synchronize_stream(stream) == 0


def test_hosts_need_no_context(any_event, stream):
    assert acl.rt.record_event(any_event, stream) == 0

    def fresh():
        return (
            acl.rt.synchronize_event(any_event),
            acl.rt.synchronize_event_with_timeout(any_event, 100),
            acl.rt.query_event_status(any_event),
        )

    assert in_thread(fresh) == (0, 0, (RECORDED, 0))


def test_destroying_needs_no_context(device):
    event, _ = acl.rt.create_event()
    assert in_thread(lambda: acl.rt.destroy_event(event)) == 0


def test_events_belong_to_the_device(event, stream):
    context, _ = acl.rt.create_context(0)
    own, _ = acl.rt.create_stream()
    assert acl.rt.record_event(event, own) == 0
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.stream_wait_event(stream, event) == 0
    assert acl.rt.synchronize_stream(stream) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend310P3", "Ascend910A"])
@pytest.mark.parametrize("kind", CREATE)
def test_a_stream_waits_for_an_event_of_another_device(configure, soc, kind):
    configure(devices=2, soc=soc)
    order = []
    assert acl.rt.set_device(1) == 0
    waiting, _ = acl.rt.create_stream()
    assert acl.rt.set_device(0) == 0
    recording, _ = acl.rt.create_stream()
    event, ret = CREATE[kind]()
    assert ret == 0
    for _ in range(2):  # later records are waited for as the first one is
        acl.sim.hold(recording)
        tasks = [Task(recording, lambda: order.append("recorded"))]
        assert acl.rt.record_event(event, recording) == 0
        assert acl.rt.set_device(1) == 0
        assert acl.rt.stream_wait_event(waiting, event) == 0, acl.get_recent_err_msg()
        tasks.append(Task(waiting, lambda: order.append("waited")))
        assert acl.rt.synchronize_stream_with_timeout(waiting, 1) == 507046
        assert order == []
        assert acl.rt.set_device(0) == 0
        acl.sim.release(recording)
        assert acl.rt.set_device(1) == 0
        assert acl.rt.synchronize_stream(waiting) == 0
        assert order == ["recorded", "waited"]
        order.clear()
        if kind == "flag":
            assert acl.rt.reset_event(event, waiting) == 0
            assert acl.rt.synchronize_stream(waiting) == 0
        assert acl.rt.set_device(0) == 0
    assert acl.rt.destroy_event(event) == 0


@pytest.mark.needs_sim
def test_errors_of_tasks_stay_with_the_stream(event, stream):
    task = Task(stream, lambda: 507015)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.synchronize_stream(stream) == 507015
    del task


@pytest.mark.needs_sim
def test_a_failed_context_fails_its_events(device):
    context, _ = acl.rt.create_context(0)
    event, _ = acl.rt.create_event()
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.set_stream_failure_mode(0, 1) == 0
    task = Task(0, lambda: 507015)
    assert acl.rt.synchronize_stream(0) == 507015
    assert acl.rt.query_event_status(event)[1] == 507015
    assert acl.rt.query_event(event)[1] == 507015
    assert acl.rt.synchronize_event(event) == 507015
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.destroy_context(context) == 0
    del task


@pytest.mark.needs_sim
def test_time_goes_on_between_events(event, stream):
    """The second event is reached after a task that lasts until a measured time has passed."""
    first, _ = acl.rt.create_event()
    assert acl.rt.record_event(first, stream) == 0
    assert acl.rt.synchronize_event(first) == 0
    before, ret = acl.rt.event_get_timestamp(first)
    assert ret == 0
    task = RunningTask(stream)
    assert acl.rt.record_event(event, stream) == 0
    task.end.wait(0.02)
    task.finish()
    assert acl.rt.synchronize_event(event) == 0
    after, _ = acl.rt.event_get_timestamp(event)
    milliseconds, ret = acl.rt.event_elapsed_time(first, event)
    assert ret == 0
    assert milliseconds == pytest.approx((after - before) / 1000, abs=0.01)
    assert 20 <= milliseconds < 5000
    assert acl.rt.event_elapsed_time(event, first) == (-milliseconds, 0)
    assert acl.rt.event_elapsed_time(event, event) == (0.0, 0)
    assert acl.rt.destroy_event(first) == 0


@pytest.mark.parametrize("kind", ["default", "flag", "ex"])
def test_timed_classes(stream, kind):
    start, end = CREATE[kind]()[0], CREATE[kind]()[0]
    for event in (start, end):
        assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    milliseconds, ret = acl.rt.event_elapsed_time(start, end)
    assert ret == 0 and milliseconds >= 0
    assert acl.rt.event_get_timestamp(start)[0] <= acl.rt.event_get_timestamp(end)[0]
    for event in (start, end):
        assert acl.rt.destroy_event(event) == 0


def test_progress_alone_is_recorded_and_synchronized(stream):
    for create in (acl.rt.create_event_with_flag, acl.rt.create_event_ex_with_flag):
        event, ret = create(PROGRESS)
        assert ret == 0
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.synchronize_event(event) == 0
        assert acl.rt.query_event_status(event) == (RECORDED, 0)
        assert acl.rt.destroy_event(event) == 0


@pytest.mark.parametrize("flag", [1, 2, 3, 4, 8, 9, 10, 11, 15])
def test_flags(device, flag):
    for create in (acl.rt.create_event_with_flag, acl.rt.create_event_ex_with_flag):
        event, ret = create(flag)
        assert (event != 0, ret) == (True, 0)
        assert acl.rt.destroy_event(event) == 0


@pytest.mark.parametrize("flag", [0x10, 0x20])
def test_flags_that_stand_alone(device, flag):
    event, ret = acl.rt.create_event_with_flag(flag)
    assert (event != 0, ret) == (True, 0)
    assert acl.rt.destroy_event(event) == 0


def test_ids(stream):
    flag, _ = CREATE["flag"]()
    assert acl.rt.get_event_id(flag)[1] == 0
    events = [CREATE[kind]()[0] for kind in ("default", "ex", "default")]
    for event in events:
        assert acl.rt.record_event(event, stream) == 0
    ids = [acl.rt.get_event_id(event) for event in (flag, *events)]
    assert {ret for _, ret in ids} == {0}
    assert acl.rt.synchronize_stream(stream) == 0
    for event in (flag, *events):
        assert acl.rt.destroy_event(event) == 0


def test_flag_events_are_counted(device):
    before, ret = acl.rt.get_event_avail_num()
    assert ret == 0
    flag, _ = CREATE["flag"]()
    assert acl.rt.get_event_avail_num() == (before - 1, 0)
    ex, _ = CREATE["ex"]()
    assert acl.rt.get_event_avail_num() == (before - 1, 0)
    assert acl.rt.destroy_event(flag) == 0
    assert acl.rt.get_event_avail_num() == (before, 0)
    assert acl.rt.destroy_event(ex) == 0


def test_record_with_flag_0_is_a_record(event, stream):
    assert lib.aclrtRecordEventWithFlag(pointer(event), pointer(stream), 0) == 0
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.query_event_status(event) == (RECORDED, 0)


@pytest.mark.parametrize("timeout", [0, 60, 2**32 - 1])
def test_wait_with_flag_0_is_a_wait(event, stream, other, timeout):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert lib.aclrtStreamWaitEventWithFlag(pointer(other), pointer(event), timeout, 0) == 0
        assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
        held.release()
        assert acl.rt.synchronize_stream(other) == 0


@pytest.mark.parametrize("timeout", [0, 60])
def test_wait_with_timeout_that_is_not_reached(event, stream, other, timeout):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert lib.aclrtStreamWaitEventWithTimeout(pointer(other), pointer(event), timeout) == 0
        assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
        held.release()
        assert acl.rt.synchronize_stream(other) == 0


def test_hosts_on_many_threads_wait_for_one_record(any_event, stream):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(any_event, stream) == 0
        codes = codes_of_waiters(held, lambda: acl.rt.synchronize_event(any_event))
    assert codes == [0] * 4
