"""Instances built without capture: persistent streams, what they record, and runs that are waited for or aborted."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
from helpers.capture import (
    HEAD,
    NOT_HEAD,
    PERSISTENT,
    SYNC,
    begin,
    building,
    check_free,
    check_unharmed,
    end,
    in_other_context,
    run,
    status,
)
from helpers.condition import ASSIGN, IF, body, queued
from helpers.expect import in_thread, latches, pointer, refused

import acl
from acl._lib import ffi, lib

mdl, rt = acl.mdl, acl.rt
FAST_LAUNCH, DEVICE_ONLY = 1, 0x20
TO_DEVICE, TO_HOST, DEFAULT = 1, 2, 4
COMPLETE = (0, 0)  # of aclrtStreamQuery


def finish(instance, stream):
    """Name the last task and end the building."""
    assert mdl.ri_end_task(instance, stream) == 0, acl.get_recent_err_msg()
    assert mdl.ri_build_end(instance) == 0, acl.get_recent_err_msg()


# --- what is built and run


def test_nothing_runs_until_the_instance_does(stream, words):
    with building(HEAD) as (built, (bound,)):
        assert words.set(bound, 0, 7) == 0
        assert words.count_up(bound, 1) == 0
        assert words.copy(bound, 2, 0) == 0
        assert rt.synchronize_stream(bound) == 0  # the queue is never run by itself
        assert rt.stream_query(bound) == COMPLETE
        assert words.read() == [0] * 8
        finish(built, bound)
        assert words.read() == [0] * 8
        for number in range(1, 4):
            assert mdl.ri_execute(built, -1) == 0, acl.get_recent_err_msg()
            assert words.read()[:3] == [7, number, 7]
        run(built, stream, 2)
        assert words.read()[:3] == [7, 5, 7]
        assert mdl.ri_execute(built, 10000) == 0
        assert words.read()[:3] == [7, 6, 7]


def test_streams_tied_by_flag_events(stream, words, make_event):
    """Records, waits and resets are tasks of every run."""
    event, back = make_event("flag", SYNC), make_event("flag", SYNC)
    with building(HEAD, HEAD) as (built, (first, second)):
        assert rt.stream_wait_event(second, event) == 0
        assert rt.reset_event(event, second) == 0
        assert words.copy(second, 1, 0) == 0
        assert rt.record_event(back, second) == 0
        assert words.count_up(first, 0) == 0
        assert rt.record_event(event, first) == 0
        assert rt.stream_wait_event(first, back) == 0
        assert rt.reset_event(back, first) == 0
        assert words.copy(first, 2, 1) == 0
        finish(built, first)
        for number in range(1, 4):
            assert mdl.ri_execute(built, -1) == 0
            assert words.read()[:3] == [number] * 3
    check_free(words, stream)


def test_streams_that_are_activated(stream, words):
    """A stream without the head flag starts where another one activates it, or never."""
    with building(HEAD, NOT_HEAD, NOT_HEAD, NOT_HEAD) as (built, (head, second, third, never)):
        assert words.copy(second, 1, 0) == 0
        assert words.count_up(second, 1) == 0
        assert rt.active_stream(third, second) == 0
        assert words.copy(third, 2, 1) == 0
        assert words.set(never, 3, 9) == 0
        assert words.set(head, 0, 0) == 0
        assert words.count_up(head, 0) == 0
        assert rt.active_stream(second, head) == 0
        assert words.count_up(head, 4) == 0
        finish(built, head)
        for number in (1, 2):
            assert mdl.ri_execute(built, -1) == 0
            assert words.read()[:5] == [1, 2, 2, 0, number]
    check_free(words, stream)


def test_activating(stream, words):
    name = "aclrtActiveStream"
    with building(HEAD, NOT_HEAD) as (built, (head, second)), building(NOT_HEAD) as (_, (foreign,)):
        refused(rt.active_stream(0, head), 100000, name, "activeStream is NULL")
        refused(rt.active_stream(second, 0), 100000, name, "stream is NULL")
        refused(rt.active_stream(second, stream), 107005, name, "stream is not bound")
        refused(rt.active_stream(stream, head), 107005, name, "not bound to modelRI")
        refused(rt.active_stream(foreign, head), 107005, name, "not bound to modelRI")
        refused(rt.active_stream(head, head), 107005, name, "starts with modelRI")
        refused(rt.active_stream(second, second), 107005, name)
        assert rt.active_stream(second, head) == 0
        in_thread(lambda: refused(rt.active_stream(second, head), 107002, name, "no current context"))
        in_other_context(lambda: refused(rt.active_stream(second, head), 107003, name, "another context"))
        assert words.set(second, 0, 3) == 0
        finish(built, head)
        refused(rt.active_stream(second, head), 507011, name, "has been built")
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[0] == 3


def test_several_streams_activate_one(stream, words):
    """It runs once for each of them, also where one comes while it runs."""
    with building(HEAD, HEAD, NOT_HEAD) as (built, (first, second, third)):
        event, _ = rt.create_event_with_flag(SYNC)
        assert words.count_up(third, 0) == 0
        assert words.copy(third, 1, 0) == 0
        assert rt.record_event(event, third) == 0
        assert rt.active_stream(third, first) == 0
        assert rt.stream_wait_event(second, event) == 0
        assert words.copy(second, 2, 1) == 0
        assert rt.reset_event(event, second) == 0
        assert rt.active_stream(third, second) == 0
        finish(built, first)
        for number in (1, 2):
            assert mdl.ri_execute(built, -1) == 0, acl.get_recent_err_msg()
            assert words.read()[:3] == [2 * number, 2 * number, 2 * number - 1]
            assert rt.reset_event(event, stream) == 0
            assert rt.synchronize_stream(stream) == 0
        assert rt.destroy_event(event) == 0
    check_free(words, stream)


# Nine streams share three words.
@pytest.mark.parametrize("count", [2, pytest.param(9, marks=pytest.mark.finds("race", count=None))])
def test_a_stream_runs_as_often_as_it_is_activated(stream, words, count):
    with building(NOT_HEAD, *[HEAD] * count) as (built, (activated, *heads)):
        assert words.count_up(activated, 0) == 0
        assert words.copy(activated, 1, 0) == 0
        for place, head in enumerate(heads):
            assert words.count_up(head, 2 + place % 3) == 0
            assert rt.active_stream(activated, head) == 0
        assert rt.active_stream(activated, heads[0]) == 0
        finish(built, heads[0])
        for number in range(1, 21):
            assert mdl.ri_execute(built, -1) == 0, acl.get_recent_err_msg()
            assert words.read()[:2] == [number * (count + 1)] * 2
    check_free(words, stream)


def test_streams_that_activate_one_another_in_a_circle(stream):
    with building(HEAD, NOT_HEAD, NOT_HEAD) as (built, (head, second, third)):
        assert rt.active_stream(second, head) == 0
        assert rt.active_stream(third, second) == 0
        assert rt.active_stream(second, third) == 0
        assert mdl.ri_end_task(built, head) == 0
        refused(mdl.ri_build_end(built), 107024, "aclmdlRIBuildEnd", "activate one another in a cycle")


@pytest.mark.needs_sim
def test_an_instance_whose_streams_are_activated_twice_is_not_saved(stream, words, tmp_path):
    with building(HEAD, HEAD, NOT_HEAD) as (built, (first, second, third)):
        assert words.set(third, 0, 1) == 0
        assert rt.active_stream(third, first) == rt.active_stream(third, second) == 0
        finish(built, first)
        place = ffi.new("size_t *")
        span = ffi.new("aclsimRange *", {"address": pointer(words.at(0)), "size": 4})
        ret = lib.aclsimSaveInstance(pointer(built), span, 1, span, 1, ffi.NULL, place)
        refused(ret, 207000, "activated by 2 tasks", "at most one")


@pytest.mark.needs_sim
def test_a_chip_without_activation(run_script):
    code = """
import acl
acl.rt.set_device(0)
streams = [acl.rt.create_stream_with_config(0, 4)[0] for _ in range(2)]
assert acl.rt.active_stream(*streams) == 207000
assert "aclrtActiveStream" in acl.get_recent_err_msg()
"""
    assert run_script(code, {"ACL_SIM_SOC": "Ascend910_9391"}).returncode == 0


def test_host_functions(words):
    seen = []
    with building(HEAD) as (built, (bound,)):
        assert rt.launch_host_func(bound, seen.append, "a") == 0
        finish(built, bound)
        assert seen == []
        assert mdl.ri_execute(built, -1) == 0
        assert mdl.ri_execute(built, -1) == 0
    assert seen == ["a", "a"]


@pytest.mark.parametrize("how", ["captured", "body", "built"])
def test_host_functions_leave_with_their_instance(stream, other, how):
    """Python keeps what a run may call as long as there can be a run."""

    class Called:
        times = 0

        def __call__(self, data):
            Called.times += 1

    function = Called()
    gone = weakref.ref(function)
    if how == "built":
        persistent, _ = rt.create_stream_with_config(0, PERSISTENT)
        instance, _ = mdl.ri_build_begin(0)
        assert mdl.ri_bind_stream(instance, persistent, HEAD) == 0
        assert rt.launch_host_func(persistent, function, 0) == 0
        finish(instance, persistent)
        assert mdl.ri_unbind_stream(instance, persistent) == 0
        assert rt.destroy_stream(persistent) == 0
    else:
        begin(stream)
        if how == "body":
            with body(other, queued(stream, IF, 1, 1, ASSIGN).bodies[0]):
                assert rt.launch_host_func(other, function, 0) == 0
        else:
            assert rt.launch_host_func(stream, function, 0) == 0
        instance = end(stream)
    del function
    run(instance, stream, 3)
    assert Called.times == 3
    assert gone() is not None
    assert mdl.ri_destroy(instance) == 0
    gc.collect()
    assert gone() is None


def test_building_restricts_nobody(stream, other, words):
    """Synchronous calls, other streams and a capture go on beside it."""
    with building(HEAD) as (built, (bound,)):
        assert words.set(bound, 0, 1) == 0
        assert rt.memset(words.at(1), 4, 2, 4) == 0
        assert words.set(stream, 2, 3) == 0
        assert rt.synchronize_device() == 0
        begin(other)
        assert words.set(other, 3, 4) == 0
        captured = end(other)
        finish(built, bound)
        assert words.read()[:4] == [0, 2, 3, 0]
        run(captured, stream)
        run(built, other)
        assert words.read()[:4] == [1, 2, 3, 4]
        assert mdl.ri_destroy(captured) == 0


def test_lists_names_and_numbers(words):
    with building(HEAD, NOT_HEAD) as (built, streams):
        assert words.count_up(streams[0], 0) == 0
        assert words.set(streams[1], 1, 1) == 0
        assert rt.active_stream(streams[1], streams[0]) == 0
        finish(built, streams[0])
        own, ret = mdl.ri_get_streams(built)
        assert ret == 0 and len(own) == 2 and not set(own) & set(streams)
        tasks = [mdl.ri_get_tasks_by_stream(each)[0] for each in own]
        assert [[mdl.ri_task_get_type(task)[0] for task in branch] for branch in tasks] == [[1, 0], [0]]
        assert mdl.ri_set_name(built, "by hand") == 0
        assert mdl.ri_get_name(built, 100) == ("by hand", 0)
        assert mdl.ri_task_set_params(tasks[0][0], {"type": 1, "args": [words.at(5)]}) == 0
        refused(mdl.ri_execute(built, -1), 507011, "aclmdlRIExecute", "changed tasks", "aclmdlRIUpdate")
        assert mdl.ri_update(built) == 0
        assert mdl.ri_execute(built, -1) == 0
        assert words.read() == [0, 1, 0, 0, 0, 1, 0, 0]


# --- waiting and aborting


def test_a_run_takes_too_long(stream, words, make_event):
    """The run goes on after the time is over."""
    event = make_event("flag", SYNC)
    with building(HEAD) as (built, (bound,)):
        assert rt.stream_wait_event(bound, event) == 0
        assert words.count_up(bound, 0) == 0
        finish(built, bound)
        refused(mdl.ri_execute(built, 20), 507046, "aclmdlRIExecute", "timeout is 20 ms")
        assert words.read()[0] == 0
        assert rt.record_event(event, stream) == 0
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[0] == 2  # the earlier one came first


def test_runs_of_several_threads(words):
    with building(HEAD) as (built, (bound,)):
        assert words.count_up(bound, 0) == 0
        assert words.copy(bound, 1, 0) == 0
        finish(built, bound)

        def execute(number):
            assert rt.set_device(0) == 0
            return [mdl.ri_execute(built, -1) for _ in range(10)]

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(execute, range(4))) == [[0] * 10] * 4
        assert words.read()[:2] == [40, 40]


def test_a_run_that_is_aborted(stream, words, make_event):
    """The waiting call answers 507023, what was not run is left out, and the instance runs again."""
    event, reached = make_event("flag", SYNC), threading.Event()
    with building(HEAD) as (built, (bound,)):
        assert mdl.ri_abort(built) == 0  # nothing to stop
        assert words.count_up(bound, 0) == 0
        assert rt.launch_host_func(bound, lambda data: reached.set(), 0) == 0
        assert rt.stream_wait_event(bound, event) == 0
        assert words.count_up(bound, 1) == 0
        finish(built, bound)

        def execute():
            assert rt.set_device(0) == 0
            refused(mdl.ri_execute(built, -1), 507023, "aclmdlRIExecute", "aclmdlRIAbort")
            return True

        with ThreadPoolExecutor(1) as pool:
            waiter = pool.submit(execute)
            reached.wait()
            assert mdl.ri_abort(built) == 0
            assert waiter.result()
        assert words.read()[:2] == [1, 0]
        assert rt.record_event(event, stream) == 0
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[:2] == [2, 1]
        assert mdl.ri_abort(built) == 0
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[:2] == [3, 2]


# --- refusals


@pytest.mark.parametrize("flag", [1, 2**32 - 1])
def test_the_reserved_flag(device, flag):
    refused(mdl.ri_build_begin(flag)[1], 107000, "aclmdlRIBuildBegin", f"flag is {flag}", "expected 0")


def test_without_a_context(words):
    in_thread(lambda: refused(mdl.ri_build_begin(0)[1], 107002, "aclmdlRIBuildBegin", "no current context"))
    with building(HEAD) as (built, (bound,)):
        calls = {
            "aclmdlRIBindStream": lambda: mdl.ri_bind_stream(built, bound, HEAD),
            "aclmdlRIEndTask": lambda: mdl.ri_end_task(built, bound),
            "aclmdlRIUnbindStream": lambda: mdl.ri_unbind_stream(built, bound),
            "aclmdlRIBuildEnd": lambda: mdl.ri_build_end(built),
        }
        for name, call in calls.items():
            in_thread(lambda name=name, call=call: refused(call(), 107002, name, "no current context"))
            code = 107004 if name == "aclmdlRIBuildEnd" else 107003
            in_other_context(lambda name=name, call=call, code=code: refused(call(), code, name, "another context"))
        assert words.set(bound, 0, 1) == 0
        finish(built, bound)
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[0] == 1


def test_streams_that_are_not_bound(stream, words):
    name = "aclmdlRIBindStream"
    made = {flag: rt.create_stream_with_config(0, flag)[0] for flag in (FAST_LAUNCH | PERSISTENT, DEVICE_ONLY, 4)}
    stops, _ = rt.create_stream_with_config(0, PERSISTENT)
    begin(stream)
    captured = end(stream)
    with building(HEAD) as (built, (bound,)), building() as (other, _):
        for flag in (1, 2, 0x7FFFFFFE):
            refused(mdl.ri_bind_stream(built, made[PERSISTENT], flag), 107000, name, f"flag is {flag:#x}")
        refused(mdl.ri_bind_stream(captured, made[PERSISTENT], HEAD), 107000, name, "was captured")
        refused(mdl.ri_bind_stream(built, stream, HEAD), 107000, name, "flag 0", "ACL_STREAM_PERSISTENT")
        refused(mdl.ri_bind_stream(built, made[FAST_LAUNCH | PERSISTENT], HEAD), 207000, name, "FAST_LAUNCH")
        refused(mdl.ri_bind_stream(built, made[DEVICE_ONLY], HEAD), 507000, name, "DEVICE_USE_ONLY")
        refused(mdl.ri_bind_stream(built, bound, HEAD), 107005, name, "bound to a model running instance")
        refused(mdl.ri_bind_stream(other, bound, HEAD), 107005, name, "bound to a model running instance")
        finish(built, bound)
        refused(mdl.ri_bind_stream(built, made[PERSISTENT], HEAD), 507011, name, "built already")
    assert mdl.ri_destroy(captured) == 0
    check_free(words, stream)
    for each in (*made.values(), stops):
        assert rt.destroy_stream(each) == 0


@pytest.mark.strict
def test_streams_that_stop_on_failure_are_not_bound(context):
    """A context of its own: all of it is in that mode from then on."""
    stops, _ = rt.create_stream_with_config(0, PERSISTENT)
    assert rt.set_stream_failure_mode(stops, 1) == 0
    with building() as (built, _):
        refused(mdl.ri_bind_stream(built, stops, HEAD), 207000, "aclmdlRIBindStream", "stops on failure")
    assert rt.destroy_stream(stops) == 0


def test_other_instances_streams(stream, words):
    begin(stream)
    captured = end(stream)
    plain, _ = rt.create_stream_with_config(0, PERSISTENT)
    with building(HEAD) as (built, (bound,)), building(HEAD) as (other, (foreign,)):
        for target in (stream, plain, foreign):
            refused(mdl.ri_end_task(built, target), 107005, "aclmdlRIEndTask", "not bound to modelRI")
            refused(mdl.ri_unbind_stream(built, target), 107005, "aclmdlRIUnbindStream", "not bound to modelRI")
        refused(mdl.ri_end_task(captured, bound), 107000, "aclmdlRIEndTask", "was captured")
        refused(mdl.ri_build_end(captured), 107000, "aclmdlRIBuildEnd", "was captured")
        for each, target, place in ((built, bound, 0), (other, foreign, 1)):
            assert words.set(target, place, 5) == 0
            finish(each, target)
            assert mdl.ri_execute(each, -1) == 0
    assert words.read()[:2] == [5, 5]
    assert mdl.ri_destroy(captured) == 0
    assert rt.destroy_stream(plain) == 0


def test_an_end_too_early_and_twice(stream, words):
    name = "aclmdlRIBuildEnd"
    with building(HEAD, HEAD) as (built, (first, second)):
        assert words.set(first, 0, 1) == 0
        refused(lib.aclmdlRIBuildEnd(pointer(built), pointer(built)), 100000, name, "reserve is", "expected NULL")
        refused(mdl.ri_build_end(built), 507011, name, "aclmdlRIEndTask")
        refused(mdl.ri_execute(built, -1), 507011, "aclmdlRIExecute", "still being built")
        refused(mdl.ri_execute_async(built, stream), 507011, "aclmdlRIExecuteAsync", "still being built")
        finish(built, second)
        refused(mdl.ri_build_end(built), 507011, name, "built already")
        refused(mdl.ri_end_task(built, first), 507011, "aclmdlRIEndTask", "built already")
        refused(words.set(first, 1, 1), 107005, "aclrtMemsetAsync", "has been built")
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[:2] == [1, 0]


def test_building_without_streams(device):
    with building() as (built, _):
        refused(mdl.ri_build_end(built), 507011, "aclmdlRIBuildEnd", "aclmdlRIEndTask")
    with building(HEAD) as (built, (bound,)):
        assert mdl.ri_end_task(built, bound) == 0
        assert mdl.ri_unbind_stream(built, bound) == 0
        refused(mdl.ri_build_end(built), 107005, "aclmdlRIBuildEnd", "no stream is bound")


def test_a_persistent_stream_alone(words):
    """It runs nothing, synchronising it returns at once, and it is bound after its last instance let it go."""
    persistent, _ = rt.create_stream_with_config(0, PERSISTENT)
    assert rt.synchronize_stream(persistent) == 0
    assert rt.stream_query(persistent) == COMPLETE
    refused(words.set(persistent, 0, 1), 107005, "aclrtMemsetAsync", "ACL_STREAM_PERSISTENT", "aclmdlRIBindStream")
    for place in (0, 1):
        built, _ = mdl.ri_build_begin(0)
        assert mdl.ri_bind_stream(built, persistent, HEAD) == 0
        refused(rt.destroy_stream(persistent), 107005, "aclrtDestroyStream", "aclmdlRIUnbindStream")
        assert words.set(persistent, place, 6) == 0
        finish(built, persistent)
        assert mdl.ri_execute(built, -1) == 0
        assert mdl.ri_unbind_stream(built, persistent) == 0
        refused(mdl.ri_unbind_stream(built, persistent), 107005, "aclmdlRIUnbindStream", "not bound")
        refused(words.set(persistent, 0, 1), 107005, "aclrtMemsetAsync", "aclmdlRIBindStream")
        assert mdl.ri_execute(built, -1) == 0  # it needs the stream no more
        assert mdl.ri_destroy(built) == 0
    assert words.read()[:2] == [6, 6]
    assert rt.destroy_stream(persistent) == 0


def test_what_a_bound_stream_refuses(stream, words, ex):
    """Events that tie captures together, captures and groups; a task afterwards is recorded."""
    default, _ = rt.create_event()
    event = ex()
    assert rt.record_event(default, stream) == 0
    with building(HEAD) as (built, (bound,)):
        for each in (default, event):
            refused(rt.record_event(each, bound), 207000, "aclrtRecordEvent", "bound to a model running instance")
            refused(rt.stream_wait_event(bound, each), 207000, "aclrtStreamWaitEvent", "bound to a model running")
        refused(rt.reset_event(default, bound), 207000, "aclrtResetEvent", "bound to a model running instance")
        refused(mdl.ri_capture_task_grp_begin(bound), 107029, "aclmdlRICaptureTaskGrpBegin", "not being captured")
        refused(mdl.ri_capture_begin(bound, 0), 107005, "aclmdlRICaptureBegin")
        assert words.set(bound, 0, 2) == 0
        finish(built, bound)
        assert mdl.ri_execute(built, -1) == 0
    assert words.read()[:2] == [2, 0]
    assert rt.destroy_event(default) == 0


@pytest.mark.parametrize("kind", [TO_DEVICE, DEFAULT])
def test_ordinary_memory_is_copied_at_once(stream, words, kind):
    """Such a copy is not recorded, even between recorded tasks."""
    host = numpy.array([5], "i4")
    with building(HEAD) as (built, (bound,)):
        assert words.count_up(bound, 0) == 0
        assert rt.memcpy_async(words.at(1), 4, host.ctypes.data, 4, kind, bound) == 0, acl.get_recent_err_msg()
        assert words.copy(bound, 2, 1) == 0
        assert words.read()[:3] == [0, 5, 0]
        assert rt.memcpy_async(host.ctypes.data, 4, words.at(0), 4, TO_HOST, bound) == 0
        assert host[0] == 0
        finish(built, bound)
        assert words.set(stream, 1, 6) == 0
        run(built, stream)
        assert words.read()[:3] == [1, 6, 6]  # nothing was copied again
        host[0] = 7
        assert rt.memcpy_async(words.at(1), 4, host.ctypes.data, 4, kind, bound) == 0
        run(built, stream)
        assert words.read()[:3] == [2, 7, 7]


def test_ordinary_memory_is_set_and_copied_by_rows_at_once(stream, words):
    host = numpy.zeros(8, "u1")
    with building(HEAD) as (built, (bound,)):
        assert words.set(stream, 0, 3) == 0
        assert rt.synchronize_stream(stream) == 0
        assert rt.memcpy2d_async(host.ctypes.data, 4, words.at(0), 4, 4, 1, TO_HOST, bound) == 0
        assert host[0] == words.read()[0] == 3
        assert list(host[4:]) == [0] * 4
        assert rt.memset_async(host.ctypes.data, 8, 9, 8, bound) == 0
        assert list(host) == [9] * 8
        assert words.count_up(bound, 0) == 0
        finish(built, bound)
        run(built, stream)
        assert words.read()[0] % 256 == 4
    assert list(host) == [9] * 8


def test_copies_of_ordinary_memory_are_refused_while_another_stream_captures(stream, words):
    host = numpy.array([5], "i4")
    with building(HEAD) as (_, (bound,)):
        begin(stream, 0)
        ret = rt.memcpy_async(words.at(1), 4, host.ctypes.data, 4, TO_DEVICE, bound)
        refused(ret, 107041, "aclrtMemcpyAsync", "is being captured")
        assert mdl.ri_destroy(end(stream)) == 0
    assert words.read()[1] == 0


def test_an_instance_that_is_destroyed_while_it_is_built(stream, words):
    """Its stream is let go."""
    built, _ = mdl.ri_build_begin(0)
    persistent, _ = rt.create_stream_with_config(0, PERSISTENT)
    assert mdl.ri_bind_stream(built, persistent, HEAD) == 0
    assert words.set(persistent, 0, 1) == 0
    assert mdl.ri_destroy(built) == 0
    again, _ = mdl.ri_build_begin(0)
    assert mdl.ri_bind_stream(again, persistent, HEAD) == 0
    assert words.set(persistent, 1, 2) == 0
    finish(again, persistent)
    assert mdl.ri_execute(again, -1) == 0
    assert words.read()[:2] == [0, 2]
    assert mdl.ri_destroy(again) == 0
    assert rt.destroy_stream(persistent) == 0
    begin(stream)
    check_unharmed(words, stream)
    assert status(stream) == 0


def test_runs_follow_their_stream(stream, words):
    with building(HEAD) as (built, (bound,)):
        assert words.copy(bound, 1, 0) == 0
        finish(built, bound)
        with latches(stream) as held:
            held.hold()
            assert words.set(stream, 0, 4) == 0
            assert mdl.ri_execute_async(built, stream) == 0
            assert words.copy(stream, 2, 1) == 0
            assert words.read()[:3] == [0, 0, 0]
            held.release()
            assert rt.synchronize_stream(stream) == 0
        assert words.read()[:3] == [4, 4, 4]
