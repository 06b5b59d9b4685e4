"""Streams: order, waiting, default streams, failures, stopping, and what destroying does with queued work."""

import pytest
from helpers.expect import NULL, RunningTask, Task, codes_of_waiters, in_thread, latches, pointer

import acl
from acl._lib import ffi, lib

COMPLETE, NOT_READY = 0, 1
CREATE_POST, DESTROY_PRE = 1, 2
STOP = 1


@pytest.fixture
def states():
    """Give the list of (stream, state) that a registered callback is told."""
    told = []

    @ffi.callback("aclrtStreamStateCallback")
    def note(stream, state, data):
        assert data == pointer(7)
        told.append((int(ffi.cast("uintptr_t", stream)), state))

    # The context of an earlier test may have opened the device; a reset closes it.
    assert acl.rt.set_device(0) == 0 and acl.rt.reset_device_force(0) == 0
    assert lib.aclrtRegStreamStateCallback(b"states", note, pointer(7)) == 0
    yield told
    assert lib.aclrtRegStreamStateCallback(b"states", NULL, NULL) == 0


def test_create_and_destroy(device):
    streams = [acl.rt.create_stream() for _ in range(50)]
    assert {ret for _, ret in streams} == {0}
    assert len({stream for stream, _ in streams} | {0}) == 51
    for stream, _ in streams:
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.strict
def test_handles_are_not_given_out_again(device):
    seen = set()
    for _ in range(100):
        stream, _ = acl.rt.create_stream()
        seen.add(stream)
        assert acl.rt.destroy_stream(stream) == 0
    assert len(seen) == 100


def test_ids_tell_live_streams_apart(device):
    streams = [acl.rt.create_stream()[0] for _ in range(20)]
    default, _ = acl.rt.ctx_get_current_default_stream()
    ids = [acl.rt.stream_get_id(stream) for stream in (*streams, default)]
    assert {ret for _, ret in ids} == {0}
    assert len(set(ids)) == 21
    assert acl.rt.stream_get_id(0) == acl.rt.stream_get_id(default)
    for stream in streams:
        assert acl.rt.destroy_stream(stream) == 0


def test_plain_streams_have_priority_and_flags_0(stream):
    value = ffi.new("uint32_t *")
    for handle in (stream, 0):
        for call in (lib.aclrtStreamGetPriority, lib.aclrtStreamGetFlags):
            value[0] = 77
            assert (call(pointer(handle), value), value[0]) == (0, 0)


@pytest.mark.parametrize(
    ("priority", "flag", "kept", "known"),
    [(0, 0, 0, 0), (7, 1, 7, 1), (8, 2, 7, 2), (2**32 - 1, 3, 0, 3), (3, 0xFFFFFF40, 3, 0), (0, 0xFFFFFF44, 0, 4)],
)
def test_priorities_are_clamped_and_flags_that_nobody_knows_left_out(device, priority, flag, kept, known):
    value = ffi.new("uint32_t *")
    stream, ret = acl.rt.create_stream_with_config(priority, flag)
    assert ret == 0
    assert (lib.aclrtStreamGetPriority(pointer(stream), value), value[0]) == (0, kept)
    assert (lib.aclrtStreamGetFlags(pointer(stream), value), value[0]) == (0, known)
    assert acl.rt.destroy_stream(stream) == 0


def test_available_streams_go_down_and_up(device):
    before, ret = acl.rt.get_stream_available_num()
    assert ret == 0
    stream, _ = acl.rt.create_stream()
    assert acl.rt.get_stream_available_num() == (before - 1, 0)
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.get_stream_available_num() == (before, 0)


@pytest.mark.needs_sim
def test_documented_number_of_streams(run_script):
    code = """
import acl
acl.rt.set_device(0)
assert acl.rt.get_stream_available_num() == (1983, 0)
streams = [acl.rt.create_stream() for _ in range(1983)]
assert {ret for _, ret in streams} == {0}
assert acl.rt.get_stream_available_num() == (0, 0)
assert acl.rt.create_stream() == (0, 207008)
text = acl.get_recent_err_msg()
assert "aclrtCreateStream" in text and "1984" in text, text
assert acl.rt.destroy_stream(streams.pop()[0]) == 0
assert acl.rt.create_stream()[1] == 0
"""
    done = run_script(code, {"ACL_SIM_LIMITS": "documented", "ACL_SIM_SOC": None})
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_tasks_run_in_order(stream):
    order = []
    tasks = [Task(stream, lambda number=number: order.append(number)) for number in range(100)]
    assert acl.rt.synchronize_stream(stream) == 0
    assert order == list(range(len(tasks)))


def test_query_and_synchronize(stream):
    assert acl.rt.stream_query(stream) == (COMPLETE, 0)
    with latches(stream) as held:
        held.hold()
        assert acl.rt.stream_query(stream) == (NOT_READY, 0)
        assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
        assert acl.rt.stream_query(stream) == (NOT_READY, 0)
        held.release()
        assert acl.rt.synchronize_stream_with_timeout(stream, 10000) == 0
        assert acl.rt.stream_query(stream) == (COMPLETE, 0)
        assert acl.rt.synchronize_stream_with_timeout(stream, -1) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_streams_do_not_wait_for_one_another(stream):
    other, _ = acl.rt.create_stream()
    with latches(stream) as held:
        held.hold()
        event, _ = acl.rt.create_event()
        for handle in (other, 0):
            assert acl.rt.record_event(event, handle) == 0
            assert acl.rt.synchronize_stream(handle) == 0
            assert acl.rt.query_event_status(event) == (1, 0)
        assert acl.rt.stream_query(stream) == (NOT_READY, 0)
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.destroy_stream(other) == 0


def test_waiting_for_a_stream_of_another_context(device, stream):
    context, _ = acl.rt.create_context(0)
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.synchronize_stream_with_timeout(stream, 100) == 0
    assert acl.rt.stream_query(stream) == (COMPLETE, 0)
    assert acl.rt.stream_get_id(stream)[1] == 0
    assert acl.rt.get_context() == (context, 0)
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0


@pytest.mark.needs_sim
def test_destroying_waits_for_queued_tasks(device):
    order = []
    stream, _ = acl.rt.create_stream()
    task = RunningTask(stream)
    end = Task(stream, lambda: order.append("task"))

    @ffi.callback("aclrtStreamStateCallback")
    def on_state(handle, state, data):
        task.finish()

    assert lib.aclrtRegStreamStateCallback(b"waits", on_state, NULL) == 0
    assert acl.rt.destroy_stream(stream) == 0
    order.append("destroyed")
    assert lib.aclrtRegStreamStateCallback(b"waits", NULL, NULL) == 0
    assert order == ["task", "destroyed"]
    del end


@pytest.mark.needs_sim
def test_forced_destruction_discards_queued_tasks(device):
    ran = []
    stream, _ = acl.rt.create_stream()
    acl.sim.hold(stream)
    task = Task(stream, lambda: ran.append(1))
    event, _ = acl.rt.create_event()
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.destroy_stream_force(stream) == 0
    assert ran == []
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.synchronize_device() == 0
    assert acl.rt.destroy_event(event) == 0
    del task


@pytest.mark.needs_sim
def test_destroying_loses_the_error(device):
    stream, _ = acl.rt.create_stream()
    task = Task(stream, lambda: 507015)
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.synchronize_device() == 0
    del task


@pytest.mark.needs_sim
def test_a_stream_goes_on_after_a_failed_task(stream):
    ran = []
    tasks = [Task(stream, lambda: 507015), Task(stream, lambda: ran.append(1)), Task(stream, lambda: 507018)]
    assert acl.rt.synchronize_stream(stream) == 507015
    assert ran == [1]
    text = acl.get_recent_err_msg()
    assert "aclsimLaunchTask" in text and "507015 ACL_ERROR_RT_AICORE_EXCEPTION" in text
    assert acl.rt.get_last_error(0) == 507015
    assert acl.rt.synchronize_stream(stream) == 0
    tasks.append(Task(stream, lambda: ran.append(2)))
    assert acl.rt.synchronize_stream(stream) == 0
    assert ran == [1, 2]


@pytest.mark.needs_sim
def test_a_query_leaves_the_error_to_the_next_synchronisation(stream):
    task = RunningTask(stream)
    event, _ = acl.rt.create_event()
    assert acl.rt.record_event(event, stream) == 0
    task.finish(507015)
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.stream_query(stream) == (COMPLETE, 0)
    assert acl.rt.peek_at_last_error(0) != 507015
    assert acl.rt.synchronize_stream(stream) == 507015
    assert acl.rt.destroy_event(event) == 0


@pytest.mark.needs_sim
def test_an_error_belongs_to_its_stream(device, stream):
    other, _ = acl.rt.create_stream()
    task = Task(stream, lambda: 507015)
    assert acl.rt.synchronize_stream(other) == 0
    assert in_thread(lambda: (acl.rt.set_device(0), acl.rt.synchronize_stream(stream))) == (0, 507015)
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_stream(other) == 0
    del task


@pytest.mark.needs_sim
def test_stop_mode_fails_the_whole_context(device):
    context, _ = acl.rt.create_context(0)
    stream, _ = acl.rt.create_stream()
    other, _ = acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    ran = []
    assert acl.rt.set_stream_failure_mode(stream, STOP) == 0
    assert acl.rt.set_stream_failure_mode(stream, STOP) == 0
    acl.sim.hold(other)
    tasks = [Task(other, lambda: ran.append("other"))]
    acl.sim.hold(stream)
    tasks += [Task(stream, lambda: 507015), Task(stream, lambda: ran.append("after"))]
    acl.sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == 507015
    for _ in range(2):
        assert acl.rt.synchronize_stream(other) == 507015
        assert acl.rt.stream_query(other)[1] == 507015
        assert acl.rt.record_event(event, other) == 507015
        assert acl.rt.synchronize_device() == 507015
    assert "stops on failure" in acl.get_recent_err_msg()
    assert ran == []

    assert acl.rt.set_device(0) == 0
    assert acl.rt.synchronize_device() == 0
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.destroy_context(context) == 0
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    stream, _ = acl.rt.create_stream()
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_stream(stream) == acl.rt.destroy_context(context) == 0
    assert len(tasks) == 3


@pytest.mark.needs_sim
def test_stop_mode_ends_with_the_device():
    assert acl.rt.set_device(0) == 0
    assert acl.rt.set_stream_failure_mode(0, STOP) == 0
    task = Task(0, lambda: 507015)
    assert acl.rt.synchronize_stream(0) == 507015
    assert acl.rt.synchronize_stream(0) == 507015
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.reset_device(0) == 0
    del task


def test_continue_mode_is_the_first_one(stream):
    assert acl.rt.set_stream_failure_mode(stream, 0) == 0
    assert acl.rt.set_stream_failure_mode(stream, 0xFFFFFFFE) == 0


@pytest.mark.needs_sim
def test_stopping_gives_up_the_running_task_only(stream):
    ran = []
    acl.sim.hold(stream)
    task = Task(stream, lambda: ran.append(1))
    assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
    assert lib.aclrtStreamStop(pointer(stream)) == 0
    assert acl.rt.synchronize_stream_with_timeout(stream, 10000) == 0
    assert ran == [1]
    del task


def test_stopping_an_idle_stream(stream):
    assert lib.aclrtStreamStop(pointer(stream)) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_states_are_told(states):
    assert acl.rt.set_device(0) == 0
    default, _ = acl.rt.ctx_get_current_default_stream()
    assert states == [(default, CREATE_POST)]
    stream, _ = acl.rt.create_stream()
    assert states.pop() == (stream, CREATE_POST)
    assert acl.rt.destroy_stream(stream) == 0
    assert states.pop() == (stream, DESTROY_PRE)
    forced, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream_force(forced) == 0
    assert states.pop() == (forced, DESTROY_PRE)
    states.clear()
    context, _ = acl.rt.create_context(0)
    own, _ = acl.rt.ctx_get_current_default_stream()
    assert states == [(own, CREATE_POST)]
    assert acl.rt.destroy_context(context) == 0
    assert states == [(own, CREATE_POST), (own, DESTROY_PRE)]
    assert acl.rt.reset_device(0) == 0
    assert states[2:] == [(default, DESTROY_PRE)]


def test_the_handle_works_in_the_callback_that_announces_its_end(device):
    codes = []

    @ffi.callback("aclrtStreamStateCallback")
    def on_state(stream, state, data):
        codes.append((state, lib.aclrtSynchronizeStream(stream)))

    assert lib.aclrtRegStreamStateCallback(b"uses", on_state, NULL) == 0
    stream, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(stream) == 0
    assert lib.aclrtRegStreamStateCallback(b"uses", NULL, NULL) == 0
    assert codes == [(CREATE_POST, 0), (DESTROY_PRE, 0)]


def test_waiting_threads_all_return(stream):
    with latches(stream) as held:
        held.hold()
        codes = codes_of_waiters(held, lambda: acl.rt.synchronize_stream(stream))
    assert codes == [0] * 4
