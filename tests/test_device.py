"""Devices: who is current, how set and reset pair, what a reset ends, what synchronising a device waits for."""

import pytest
from helpers.expect import NULL, RunningTask, Task, in_thread, latches

import acl
from acl._lib import ffi, lib

SET_PRE, SET_POST, RESET_PRE, RESET_POST = range(4)
NORMAL_MEMORY = 2


@pytest.fixture
def two_devices():
    acl.sim.reset()
    acl.sim.configure(devices=2)
    yield
    acl.sim.reset()


@pytest.fixture
def states():
    """Give the list of (device, state) that a registered callback is told."""
    told = []

    @ffi.callback("aclrtDeviceStateCallback")
    def note(device, state, data):
        assert data == ffi.cast("void *", 7)
        told.append((device, state))

    assert lib.aclrtRegDeviceStateCallback(b"states", note, ffi.cast("void *", 7)) == 0
    yield told
    assert lib.aclrtRegDeviceStateCallback(b"states", NULL, NULL) == 0


def test_set_makes_current():
    assert acl.rt.get_device()[1] == 107002
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_device()[1] == 107002


def test_threads_share_the_primary_context(device):
    def second():
        assert acl.rt.get_device()[1] == 107002
        assert acl.rt.set_device(0) == 0
        return acl.rt.get_context()[0], acl.rt.ctx_get_current_default_stream()[0]

    assert in_thread(second) == (acl.rt.get_context()[0], acl.rt.ctx_get_current_default_stream()[0])


def test_each_set_wants_one_reset():
    for _ in range(3):
        assert acl.rt.set_device(0) == 0
    context, _ = acl.rt.get_context()
    for _ in range(2):
        assert acl.rt.reset_device(0) == 0
        assert acl.rt.get_context() == (context, 0)
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_context()[1] == 107002
    assert acl.rt.reset_device(0) == 507007


@pytest.mark.parametrize(
    ("calls", "last"),
    [
        ("set set force", 0),
        ("set set reset force", 0),
        ("set reset", 0),
        ("set force force", 507007),
        ("set force reset", 507007),
        ("set reset force", 507007),
        ("set force set reset", 0),
    ],
)
def test_pairs(calls, last):
    call = {"set": acl.rt.set_device, "reset": acl.rt.reset_device, "force": acl.rt.reset_device_force}
    *before, final = calls.split()
    assert [call[name](0) for name in before] == [0] * len(before)
    assert call[final](0) == last


def test_two_threads_set_and_force(device):
    assert in_thread(lambda: (acl.rt.set_device(0), acl.rt.reset_device_force(0))) == (0, 0)
    assert acl.rt.reset_device_force(0) == 507007
    assert acl.rt.get_device()[1] == 107002


def test_any_thread_may_reset():
    assert acl.rt.set_device(0) == 0
    assert in_thread(lambda: acl.rt.reset_device(0)) == 0
    assert acl.rt.get_device()[1] == 107002
    assert acl.rt.create_stream()[1] == 107002


@pytest.mark.finds("leaked-object")
def test_a_device_comes_back_after_its_reset():
    assert acl.rt.set_device(0) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.reset_device(0) == 0


@pytest.mark.strict
@pytest.mark.finds("invalid-free", "leaked-memory", "leaked-object")
def test_the_last_reset_ends_streams_and_memory():
    assert acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    default, _ = acl.rt.ctx_get_current_default_stream()
    memory, ret = acl.rt.malloc(4096, NORMAL_MEMORY)
    assert ret == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.synchronize_stream(stream) == 107017
    assert acl.rt.synchronize_stream(default) == 107017
    assert acl.rt.free(memory) == 107000
    assert acl.rt.reset_device(0) == 0


@pytest.mark.parametrize("reset", [acl.rt.reset_device, acl.rt.reset_device_force])
@pytest.mark.needs_sim
@pytest.mark.finds("leaked-object")
def test_a_reset_waits_for_tasks(reset):
    order = []
    assert acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    task = RunningTask(stream)
    end = Task(stream, lambda: order.append("task"))

    @ffi.callback("aclrtDeviceStateCallback")
    def on_state(device, state, data):
        if state == RESET_PRE:
            task.finish()

    assert lib.aclrtRegDeviceStateCallback(b"waits", on_state, NULL) == 0
    assert reset(0) == 0
    order.append("reset")
    assert lib.aclrtRegDeviceStateCallback(b"waits", NULL, NULL) == 0
    assert order == ["task", "reset"]
    del end


@pytest.mark.needs_sim
@pytest.mark.finds("leaked-object")
def test_setting_another_device_keeps_the_first(two_devices):
    assert acl.rt.set_device(0) == 0
    first, _ = acl.rt.get_context()
    stream, _ = acl.rt.create_stream()
    assert acl.rt.set_device(1) == 0
    assert acl.rt.get_device() == (1, 0)
    assert acl.rt.get_context()[0] != first
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_context() == (first, 0)
    assert acl.rt.reset_device(1) == 0
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_device()[1] == 107002


def test_states_are_told(states):
    for call in (acl.rt.set_device, acl.rt.set_device, acl.rt.reset_device, acl.rt.reset_device):
        assert call(0) == 0
    assert states == [(0, SET_PRE), (0, SET_POST), (0, SET_POST), (0, RESET_PRE), (0, RESET_POST)]
    states.clear()
    assert acl.rt.set_device(0) == 0
    assert acl.rt.reset_device_force(0) == 0
    assert states == [(0, SET_PRE), (0, SET_POST), (0, RESET_PRE), (0, RESET_POST)]


def test_states_are_told_no_more_once_unregistered(states):
    assert lib.aclrtRegDeviceStateCallback(b"states", NULL, NULL) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.reset_device(0) == 0
    assert states == []


def test_a_state_callback_may_call_the_runtime():
    seen = []

    @ffi.callback("aclrtDeviceStateCallback")
    def on_state(device, state, data):
        if state == SET_POST:
            stream, ret = acl.rt.create_stream()
            seen.append((ret, acl.rt.destroy_stream(stream)))

    assert lib.aclrtRegDeviceStateCallback(b"calls", on_state, NULL) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.reset_device(0) == 0
    assert lib.aclrtRegDeviceStateCallback(b"calls", NULL, NULL) == 0
    assert seen == [(0, 0)]


def test_synchronize_waits_for_every_stream_of_the_context(device, stream):
    other, _ = acl.rt.create_stream()
    with latches(stream) as one, latches(other) as two:
        one.hold()
        two.hold()
        assert acl.rt.synchronize_device_with_timeout(1) == 507046
        one.release()
        assert acl.rt.synchronize_device_with_timeout(1) == 507046
        two.release()
        assert acl.rt.synchronize_device() == 0
        assert acl.rt.stream_query(stream) == (0, 0)
        assert acl.rt.stream_query(other) == (0, 0)
    assert acl.rt.destroy_stream(other) == 0


@pytest.mark.needs_sim
def test_synchronize_waits_for_the_default_stream(device):
    task = RunningTask(0)
    assert acl.rt.synchronize_device_with_timeout(1) == 507046
    task.finish()
    assert acl.rt.synchronize_device_with_timeout(-1) == 0


def test_synchronize_leaves_other_contexts_alone(device, stream):
    with latches(stream) as held:
        held.hold()
        context, ret = acl.rt.create_context(device)
        assert ret == 0
        assert acl.rt.synchronize_device() == 0
        assert acl.rt.destroy_context(context) == 0
        assert acl.rt.set_device(0) == 0
        assert acl.rt.synchronize_device_with_timeout(1) == 507046


@pytest.mark.needs_sim
def test_synchronize_waits_for_all_and_gives_the_first_error(device, stream):
    done = []
    other, _ = acl.rt.create_stream()
    tasks = [Task(stream, lambda: 507015), Task(other, lambda: done.append(1)), Task(stream, lambda: done.append(2))]
    assert acl.rt.synchronize_device() == 507015
    assert sorted(done) == [1, 2]
    assert acl.rt.synchronize_device() == 0
    assert len(tasks) == 3
    assert acl.rt.destroy_stream(other) == 0
