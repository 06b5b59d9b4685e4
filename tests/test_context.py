"""Contexts: which one is current for a thread, what each owns, what ends with it."""

import threading

import pytest
from helpers.expect import NULL, RunningTask, Task, in_thread, latches

import acl
from acl._lib import ffi, lib

DESTROY_PRE = 2


def current():
    context, ret = acl.rt.get_context()
    return context if ret == 0 else None


def test_create_makes_current(device):
    primary = current()
    context, ret = acl.rt.create_context(0)
    assert (ret, current()) == (0, context)
    assert context not in (0, primary)
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.destroy_context(context) == 0
    assert current() is None


def test_set_switches(device):
    primary = current()
    contexts = [acl.rt.create_context(0)[0] for _ in range(3)]
    assert len({primary, *contexts}) == 4
    for context in (*contexts, primary, contexts[1], contexts[1]):
        assert acl.rt.set_context(context) == 0
        assert current() == context
    for context in contexts:
        assert acl.rt.destroy_context(context) == 0


def test_set_device_goes_back_to_the_primary_context(device):
    primary = current()
    context, _ = acl.rt.create_context(0)
    assert acl.rt.set_device(0) == 0
    assert current() == primary
    assert acl.rt.set_context(context) == 0
    assert acl.rt.destroy_context(context) == 0


def test_threads_start_without_one_and_may_share_one(context):
    def second():
        before = current()
        assert acl.rt.set_context(context) == 0
        return before, current()

    assert in_thread(second) == (None, context)
    assert current() == context


def test_the_primary_context_may_be_handed_to_a_thread(device, stream):
    primary = current()

    def second():
        assert acl.rt.set_context(primary) == 0
        event, ret = acl.rt.create_event()
        return ret, acl.rt.record_event(event, stream), acl.rt.synchronize_stream(stream), acl.rt.destroy_event(event)

    assert in_thread(second) == (0, 0, 0, 0)


def test_each_context_has_its_default_stream(device):
    default, ret = acl.rt.ctx_get_current_default_stream()
    assert (ret, default != 0) == (0, True)
    context, _ = acl.rt.create_context(0)
    own, ret = acl.rt.ctx_get_current_default_stream()
    assert ret == 0
    assert own not in (0, default)
    assert acl.rt.ctx_get_current_default_stream() == (own, 0)
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.ctx_get_current_default_stream() == (default, 0)


def test_null_is_the_default_stream(context):
    default, _ = acl.rt.ctx_get_current_default_stream()
    event, _ = acl.rt.create_event()
    with latches(default) as held:
        held.hold()
        assert acl.rt.record_event(event, 0) == 0
        assert acl.rt.query_event_status(event) == (0, 0)
        assert acl.rt.stream_query(0) == (1, 0)
        held.release()
        assert acl.rt.synchronize_stream(0) == 0
        assert acl.rt.query_event_status(event) == (1, 0)
    assert acl.rt.destroy_event(event) == 0


@pytest.mark.strict
def test_destroying_ends_its_streams(device):
    context, _ = acl.rt.create_context(0)
    stream, _ = acl.rt.create_stream()
    default, _ = acl.rt.ctx_get_current_default_stream()
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.synchronize_stream(stream) == 107017
    assert acl.rt.synchronize_stream(default) == 107017
    assert acl.rt.set_context(context) == 107000


@pytest.mark.strict
def test_handles_are_never_given_out_again(device):
    handles = set()
    for _ in range(100):
        context, _ = acl.rt.create_context(0)
        handles.add(context)
        assert acl.rt.destroy_context(context) == 0
    assert len(handles) == 100


@pytest.mark.needs_sim
def test_destroying_waits_for_tasks(device):
    order = []
    context, _ = acl.rt.create_context(0)
    stream, _ = acl.rt.create_stream()
    task = RunningTask(stream)
    end = Task(stream, lambda: order.append("task"))

    @ffi.callback("aclrtStreamStateCallback")
    def on_state(handle, state, data):
        if int(ffi.cast("uintptr_t", handle)) == stream and state == DESTROY_PRE:
            task.finish()

    assert lib.aclrtRegStreamStateCallback(b"waits", on_state, NULL) == 0
    assert acl.rt.destroy_context(context) == 0
    order.append("context")
    assert lib.aclrtRegStreamStateCallback(b"waits", NULL, NULL) == 0
    assert order == ["task", "context"]
    del end


def test_any_thread_may_destroy(device):
    context, _ = acl.rt.create_context(0)
    assert in_thread(lambda: acl.rt.destroy_context(context)) == 0
    assert current() is None
    assert acl.rt.create_stream()[1] == 107002
    assert current() is None


def test_holders_of_a_destroyed_context_have_none(device):
    context, _ = acl.rt.create_context(0)
    bound, destroyed = threading.Event(), threading.Event()
    seen = []

    def second():
        assert acl.rt.set_device(0) == 0
        assert acl.rt.set_context(context) == 0
        bound.set()
        destroyed.wait()
        seen.extend([acl.rt.create_stream()[1], current(), acl.rt.set_device(0)])

    thread = threading.Thread(target=second)
    thread.start()
    bound.wait()
    assert acl.rt.destroy_context(context) == 0
    destroyed.set()
    thread.join()
    assert seen == [107002, None, 0]


def test_events_outlive_their_context(device):
    context, _ = acl.rt.create_context(0)
    event, _ = acl.rt.create_event()
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.query_event_status(event) == (1, 0)
    assert acl.rt.set_device(0) == 0
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.destroy_event(event) == 0


def test_primary_state():
    assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_primary_ctx_state(0) == (1, 0, 0)
    assert in_thread(lambda: acl.rt.get_primary_ctx_state(0)) == (1, 0, 0)
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)
    assert acl.rt.get_primary_ctx_state(63) == (0, 0, 0)


def test_creating_does_not_retain_the_primary_context():
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    assert acl.rt.get_primary_ctx_state(0) == (0, 0, 0)
    assert acl.rt.reset_device(0) == 507007
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.destroy_context(context) == 0


@pytest.mark.needs_sim
def test_the_first_create_brings_up_the_primary_stream_too(run_script):
    code = """
import acl
context, ret = acl.rt.create_context(0)
assert acl.rt.get_stream_available_num() == (1984 - 2, 0), acl.rt.get_stream_available_num()
assert acl.rt.set_device(0) == 0
assert acl.rt.get_stream_available_num() == (1984 - 2, 0), acl.rt.get_stream_available_num()
"""
    done = run_script(code, {"ACL_SIM_LIMITS": "documented", "ACL_SIM_SOC": None})
    assert done.returncode == 0, done.stderr


@pytest.mark.strict
@pytest.mark.finds("leaked-object", count=2)
def test_a_reset_leaves_explicit_contexts_inactive():
    assert acl.rt.set_device(0) == 0
    context, _ = acl.rt.create_context(0)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.create_stream()[1] == 107002
    assert acl.rt.set_context(context) == 107000
    assert acl.rt.set_device(0) == 0
    assert acl.rt.set_context(context) == 107000
    assert acl.rt.synchronize_stream(stream) == 107017
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.destroy_context(context) == 107002
    assert acl.rt.reset_device(0) == 0


@pytest.mark.needs_sim
def test_a_context_switches_the_device():
    acl.sim.reset()
    acl.sim.configure(devices=2)
    contexts = [acl.rt.create_context(number)[0] for number in (0, 1)]
    for number in (0, 1):
        assert acl.rt.set_context(contexts[number]) == 0
        assert acl.rt.get_device() == (number, 0)
    acl.sim.reset()
