"""Capture from its begin to its end: what joins, what is recorded, what a run does, and that all is free afterwards.

Docstrings name the public cases of a sister runtime that a test transposes (helpers/capture_cases.txt lists them all).
"""

import json

import pytest
from helpers.capture import (
    ACTIVE,
    GLOBAL,
    NONE,
    RELAXED,
    THREAD_LOCAL,
    begin,
    check_free,
    check_unharmed,
    end,
    fork,
    give_up,
    in_other_context,
    run,
    status,
)
from helpers.expect import latches, refused

import acl

mdl, rt = acl.mdl, acl.rt
FAST_LAUNCH, FAST_SYNC, HUGE = 1, 2, 8


def states(*several):
    """Return the states of streams."""
    return [status(stream) for stream in several]


# --- one stream


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED])
@pytest.mark.parametrize(("priority", "flag"), [(0, 0), (7, 0), (0, FAST_LAUNCH), (3, FAST_SYNC), (0, HUGE)])
def test_basic(streams, words, mode, priority, flag):
    """Transposes Unit_hipStreamBeginCapture_Basic, Unit_hipStreamBeginCapture_Positive_Basic,
    Unit_hipStreamBeginCapture_BasicFunctional, Unit_hipStreamBeginCapture_Positive_Functional,
    Unit_hipGraphInstantiateWithFlags_StreamCapture, Unit_hipGraphInstantiateWithParams_StreamCapture,
    Unit_hipGraphAddKernelNode_moduleLoadKernelFn_streamCapture and Unit_hipStreamCapture_ExtModuleLaunchKernel:
    sets, copies and kernels, in every mode, on streams of every kind; an instance needs no instantiation.
    """
    (stream,) = streams(1, priority, flag)
    begin(stream, mode)
    assert words.set(stream, 0, 0) == 0
    assert words.count_up(stream, 0, 5) == 0
    assert words.copy(stream, 1, 0) == 0
    assert status(stream) == ACTIVE
    instance = end(stream)
    assert status(stream) == NONE
    assert words.read()[:2] == [0, 0]
    for _ in range(3):
        run(instance, stream)
        assert words.read()[:2] == [5, 5]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED])
def test_states_throughout_a_capture(stream, other, words, mode):
    """Transposes Unit_hipStreamGetCaptureInfo_CaptureStatus_Througout_Capture,
    Unit_hipStreamGetCaptureInfo_BasicFunctional, Unit_hipStreamGetCaptureInfo_Positive_Functional,
    Unit_hipStreamGetCaptureInfo_v2_BasicFunctional and Unit_hipStreamGetCaptureInfo_v2_Positive_Functional.
    """
    assert mdl.ri_capture_get_info(stream) == (NONE, 0, 0)
    begin(stream, mode)
    found = [mdl.ri_capture_get_info(stream)]
    for place in range(3):
        assert words.set(stream, place, place + 1) == 0
        found.append(mdl.ri_capture_get_info(stream))
    assert mdl.ri_capture_get_info(other) == (NONE, 0, 0)
    instance = end(stream)
    assert found == [(ACTIVE, instance, 0)] * 4  # the handle is the one that the end returns
    assert mdl.ri_capture_get_info(stream) == (NONE, 0, 0)
    run(instance, other)
    assert words.read()[:3] == [1, 2, 3]
    assert mdl.ri_capture_get_info(other) == (NONE, 0, 0)
    assert mdl.ri_destroy(instance) == 0


def test_every_capture_has_a_handle_of_its_own(stream, other, words):
    """Transposes Unit_hipStreamGetCaptureInfo_UniqueID, Unit_hipStreamGetCaptureInfo_Positive_UniqueID,
    Unit_hipStreamGetCaptureInfo_v2_UniqueID and Unit_hipStreamGetCaptureInfo_v2_Positive_UniqueID.
    """
    seen = []
    for _ in range(20):
        begin(stream)
        begin(other)
        seen += [mdl.ri_capture_get_info(each)[1] for each in (stream, other)]
        assert [end(stream), end(other)] == seen[-2:]
        assert [mdl.ri_destroy(instance) for instance in seen[-2:]] == [0, 0]
    assert len(set(seen)) == 40
    check_free(words, stream, other)


def test_information_about_the_default_stream(stream, words):
    """Transposes Unit_hipStreamGetCaptureInfo_Nullstream_CaptureInfo: NULL is refused, its handle captures nothing."""
    default, _ = rt.ctx_get_current_default_stream()
    begin(stream)
    assert mdl.ri_capture_get_info(0)[2] == 100000
    assert mdl.ri_capture_get_info(default) == (NONE, 0, 0)
    check_unharmed(words, stream)


def test_nothing_captured(streams, words, ex):
    """Transposes Unit_hipStreamBeginCapture_captureEmptyStreams and
    Unit_hipStreamBeginCapture_Positive_captureEmptyStreams: streams that only fork and join, and one without a task.
    """
    first, second, third = streams(3)
    begin(first)
    event = ex()
    fork(event, first, second, third)
    fork(ex(), second, first)
    fork(ex(), third, first)
    assert states(first, second, third) == [ACTIVE] * 3
    instance = end(first)
    begin(first)
    empty = end(first)
    for each in (instance, empty):
        run(each, second, 2)
        assert words.read() == [0] * 8
        assert mdl.ri_destroy(each) == 0
    check_free(words, first, second, third)


def test_several_instances_from_one_stream(stream, other, words):
    """Transposes Unit_hipStreamBeginCapture_CapturingMultGraphsFrom1Strm and
    Unit_hipStreamBeginCapture_Positive_CapturingMultGraphsFrom1Strm: one after another, each keeps its own tasks.
    """
    instances = []
    for place in range(3):
        begin(stream, GLOBAL)
        assert words.count_up(stream, place, place + 1) == 0
        instances.append(end(stream))
    run(instances[2], stream)
    assert words.read()[:3] == [0, 0, 3]
    for each in instances:
        assert mdl.ri_execute_async(each, stream) == 0
        assert mdl.ri_execute_async(each, other) == 0
    assert rt.synchronize_device() == 0
    assert words.read()[:3] == [2, 4, 9]
    assert mdl.ri_destroy(instances[1]) == 0
    run(instances[0], stream)
    assert words.read()[:3] == [3, 4, 9]
    assert [mdl.ri_destroy(each) for each in (instances[0], instances[2])] == [0, 0]
    check_free(words, stream, other)


def test_work_before_and_after(stream, words):
    """Transposes Unit_hipStreamBeginCapture_streamReuse and Unit_hipStreamBeginCapture_Positive_streamReuse: what was
    queued before the capture runs while it is open, what follows it runs at once, and the stream captures again.
    """
    with latches(stream) as held:
        held.hold()
        assert words.set(stream, 0, 1) == 0
        begin(stream)
        assert words.set(stream, 1, 2) == 0
        held.release()
        instance = end(stream)
        assert words.set(stream, 2, 3) == 0
        assert rt.synchronize_stream(stream) == 0
    assert words.read()[:3] == [1, 0, 3]
    begin(stream)
    assert words.copy(stream, 3, 1) == 0
    second = end(stream)
    run(second, stream)
    assert words.read()[:4] == [1, 0, 3, 0]
    run(instance, stream)
    run(second, stream)
    assert words.read()[:4] == [1, 2, 3, 2]
    assert [mdl.ri_destroy(instance), mdl.ri_destroy(second)] == [0, 0]
    check_free(words, stream)


def test_an_instance_destroyed_at_once(stream, words):
    """Transposes Unit_hipStreamEndCapture_Positive_GraphDestroy: unused, and with runs still queued."""
    for runs in (0, 1, 3):
        begin(stream)
        assert words.count_up(stream, 0) == 0
        instance = end(stream)
        for _ in range(runs):
            assert mdl.ri_execute_async(instance, stream) == 0
        assert mdl.ri_destroy(instance) == 0
    assert words.read()[0] == 4  # destroying has waited
    check_free(words, stream)


def test_host_functions(stream, other, words):
    """Transposes cupy_launch_host_func: called in every run, between the tasks around it, never while capturing."""
    seen = []
    host, _ = rt.malloc_host(4)
    begin(stream)
    assert words.count_up(stream, 0) == 0
    assert rt.memcpy_async(host, 4, words.at(0), 4, 2, stream) == 0
    assert rt.launch_host_func(stream, lambda data: seen.append((data, acl.util.ptr_to_bytes(host, 4)[0])), "a") == 0
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    assert rt.synchronize_stream(stream) == 0
    assert seen == []
    run(instance, other, 3)
    assert seen == [("a", 1), ("a", 3), ("a", 5)]
    assert words.read()[0] == 6
    assert mdl.ri_destroy(instance) == 0
    assert rt.free_host(host) == 0


# --- several streams


def test_fork_and_join(streams, words, ex):
    """Transposes cupy_fork_join, Unit_hipStreamGetCaptureInfo_ParentAndForkedStrm_CaptureStatus and
    Unit_hipStreamBeginCapture_InterStrmEventSync_defaultflag: a forked stream says what its origin says.
    """
    first, second, third = streams(3)
    begin(first, GLOBAL)
    assert words.set(first, 0, 4) == 0
    assert states(first, second, third) == [ACTIVE, NONE, NONE]
    fork(ex(), first, second, third)
    found = [mdl.ri_capture_get_info(stream) for stream in (first, second, third)]
    assert found == [found[0]] * 3 and found[0][::2] == (ACTIVE, 0)
    assert words.copy(second, 1, 0) == 0
    assert words.copy(third, 2, 0) == 0
    fork(ex(), second, first)
    fork(ex(), third, first)
    assert words.copy(first, 3, 1) == 0
    assert words.copy(first, 4, 2) == 0
    instance = end(first)
    assert states(first, second, third) == [NONE] * 3
    assert words.read() == [0] * 8
    run(instance, first)
    assert words.read()[:5] == [4] * 5
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second, third)


def test_nested_forks(streams, words, ex):
    """Transposes Unit_hipStreamBeginCapture_nestedStreamCapture and
    Unit_hipStreamBeginCapture_Positive_nestedStreamCapture: a fork of a fork joins where it came from.
    """
    first, second, third, fourth = streams(4)
    begin(first)
    assert words.set(first, 0, 2) == 0
    fork(ex(), first, second)
    assert words.copy(second, 1, 0) == 0
    fork(ex(), second, third)
    assert words.copy(third, 2, 1) == 0
    fork(ex(), third, fourth)
    assert words.copy(fourth, 3, 2) == 0
    assert states(first, second, third, fourth) == [ACTIVE] * 4
    fork(ex(), fourth, third)
    fork(ex(), third, second)
    fork(ex(), second, first)
    assert words.copy(first, 4, 3) == 0
    instance = end(first)
    run(instance, fourth)
    assert words.read()[:5] == [2] * 5
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second, third, fourth)


KINDS = [
    ((0, 0), (0, 0)), ((0, 0), (7, 0)), ((7, 0), (0, 0)), ((3, 0), (4, 0)), ((0, FAST_LAUNCH), (0, 0)),
    ((0, 0), (0, FAST_SYNC)), ((0, FAST_LAUNCH | FAST_SYNC), (7, FAST_LAUNCH)), ((0, HUGE), (0, HUGE)),
]  # fmt: skip


@pytest.mark.parametrize(("origin", "joined"), KINDS)
def test_events_between_streams_of_all_kinds(streams, words, ex, origin, joined):
    """Transposes Unit_hipStreamBeginCapture_InterStrmEventSync_blockingflag,
    Unit_hipStreamBeginCapture_InterStrmEventSync_diffflags, Unit_hipStreamBeginCapture_InterStrmEventSync_diffprio,
    Unit_hipStreamBeginCapture_Positive_InterStrmEventSync_Flags and
    Unit_hipStreamBeginCapture_Positive_InterStrmEventSync_Priority.
    """
    (first,), (second,) = streams(1, *origin), streams(1, *joined)
    begin(first)
    assert words.count_up(first, 0) == 0
    fork(ex(), first, second)
    assert words.copy(second, 1, 0) == 0
    assert words.count_up(second, 1) == 0
    fork(ex(), second, first)
    assert words.copy(first, 2, 1) == 0
    assert words.count_up(first, 2) == 0
    instance = end(first)
    for number in range(1, 4):
        run(instance, second)
        assert words.read()[:3] == [number, number + 1, number + 2]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second)


@pytest.mark.parametrize(("one", "two"), KINDS)
def test_two_captures_side_by_side(streams, words, one, two):
    """Transposes Unit_hipStreamBeginCapture_ColligatedStrmCapture_func,
    Unit_hipStreamBeginCapture_Positive_ColligatedStrmCaptureFunc,
    Unit_hipStreamBeginCapture_ColligatedStrmCapture_defaultflag,
    Unit_hipStreamBeginCapture_ColligatedStrmCapture_blockingflag,
    Unit_hipStreamBeginCapture_ColligatedStrmCapture_diffflags,
    Unit_hipStreamBeginCapture_ColligatedStrmCapture_diffprio,
    Unit_hipStreamBeginCapture_Positive_ColligatedStrmCapture_Flags and
    Unit_hipStreamBeginCapture_Positive_ColligatedStrmCapture_Prio: the tasks of two open captures do not mix.
    """
    (first,), (second,) = streams(1, *one), streams(1, *two)
    begin(first, GLOBAL)
    begin(second, GLOBAL)
    assert mdl.ri_capture_get_info(first)[1] != mdl.ri_capture_get_info(second)[1]
    for _ in range(2):
        assert words.count_up(first, 0) == 0
        assert words.count_up(second, 1) == 0
    left = end(first)
    assert states(first, second) == [NONE, ACTIVE]
    assert words.count_up(second, 1) == 0
    right = end(second)
    run(left, second)
    assert words.read()[:2] == [2, 0]
    run(right, first)
    assert words.read()[:2] == [2, 3]
    assert [mdl.ri_destroy(left), mdl.ri_destroy(right)] == [0, 0]
    check_free(words, first, second)


def test_captures_inside_one_another(streams, words):
    """Transposes Unit_hipStreamBeginCapture_CapturingFromWithinStrms and
    Unit_hipStreamBeginCapture_Positive_CapturingFromWithinStrms: whole captures while another one is open.
    """
    outer, *inner = streams(3)
    begin(outer)
    assert words.count_up(outer, 0) == 0
    instances = []
    for place, stream in enumerate(inner, 1):
        begin(stream)
        assert words.count_up(stream, place) == 0
        instances.append(end(stream))
        run(instances[-1], stream)  # a stream that captures no more runs while the outer one captures on
        assert words.read()[place] == 1
        assert words.count_up(outer, 0) == 0
    instances.append(end(outer))
    assert words.read()[0] == 0
    run(instances[-1], outer)
    assert words.read()[:3] == [3, 1, 1]
    assert {mdl.ri_destroy(each) for each in instances} == {0}
    check_free(words, outer, *inner)


def test_many_streams_each_its_capture(streams, words):
    """Transposes Unit_hipStreamBeginCapture_multiplestrms and Unit_hipStreamBeginCapture_Positive_Multiplestrms."""
    several = streams(8)
    for stream in several:
        begin(stream)
    for times in range(3):
        for place, stream in enumerate(several):
            assert words.count_up(stream, place, place if times == 0 else 1) == 0
    instances = [end(stream) for stream in several]
    assert words.read() == [0] * 8
    for place, instance in enumerate(instances):
        assert mdl.ri_execute_async(instance, several[place - 1]) == 0
    assert rt.synchronize_device() == 0
    assert words.read() == [place + 2 for place in range(8)]
    assert {mdl.ri_destroy(each) for each in instances} == {0}
    check_free(words, *several)


def test_a_complex_graph(streams, words, ex):
    """Transposes Unit_hipStreamBeginCapture_captureComplexGraph,
    Unit_hipStreamBeginCapture_Positive_captureComplexGraph and Unit_hipStreamBeginCaptureToGraph_ComplexGraph: four
    streams that exchange results in rounds, an event recorded anew in each.
    """
    several = streams(4)
    events = [ex() for _ in several]
    begin(several[0])
    fork(events[0], several[0], *several[1:])
    for _ in range(3):
        for place, stream in enumerate(several):
            assert words.count_up(stream, place) == 0
            assert rt.record_event(events[place], stream) == 0
        for place, stream in enumerate(several):  # each waits for its neighbour and takes its count along
            neighbour = (place + 1) % 4
            assert rt.stream_wait_event(stream, events[neighbour]) == 0
            assert words.copy(stream, 4 + place, neighbour) == 0
            assert rt.record_event(events[place], stream) == 0
        for place, stream in enumerate(several):  # nobody counts on before the neighbour has its copy
            assert rt.stream_wait_event(stream, events[place - 1]) == 0
    for stream in several[1:]:
        fork(ex(), stream, several[0])
    instance = end(several[0])
    assert states(*several) == [NONE] * 4
    for number in range(1, 4):
        run(instance, several[3])
        assert words.read() == [3 * number] * 8
    assert mdl.ri_destroy(instance) == 0
    check_free(words, *several)


def test_an_event_recorded_again(streams, words, ex):
    """Waits are bound to the newest record before them; later records leave them alone."""
    first, second, third = streams(3)
    event = ex()
    begin(first)
    assert words.count_up(first, 0) == 0
    fork(event, first, second)
    assert words.copy(second, 1, 0) == 0
    fork(ex(), second, first)
    assert words.count_up(first, 0) == 0
    fork(event, first, third)
    assert words.copy(third, 2, 0) == 0
    fork(ex(), third, first)
    instance = end(first)
    run(instance, first)
    assert words.read()[:3] == [2, 1, 2]
    assert mdl.ri_destroy(instance) == 0


def test_a_wait_before_its_record(streams, words, ex):
    """An event that was never recorded may be waited for first; the record that follows gives the wait its meaning."""
    first, second = streams(2)
    event = ex()
    begin(first)
    fork(ex(), first, second)
    assert rt.stream_wait_event(second, event) == 0
    assert words.copy(second, 1, 0) == 0
    assert words.set(first, 0, 6) == 0
    assert rt.record_event(event, first) == 0
    fork(ex(), second, first)
    instance = end(first)
    run(instance, first)
    assert words.read()[:2] == [6, 6]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second)


def test_waits_in_a_circle(stream, other, words, ex):
    """Each stream waits for what the other records afterwards: no order fits, and the end says so."""
    events = ex(), ex()
    begin(stream)
    fork(ex(), stream, other)
    assert rt.stream_wait_event(stream, events[1]) == 0
    assert rt.stream_wait_event(other, events[0]) == 0
    assert rt.record_event(events[0], stream) == 0
    assert rt.record_event(events[1], other) == 0
    give_up(stream, 107024)
    check_free(words, stream, other)


# --- events and streams afterwards


@pytest.mark.parametrize("outcome", ["instance", "failure"])
def test_events_are_used_again(stream, other, words, ex, outcome):
    """Transposes the events of Unit_hipStreamBeginCapture_streamReuse: outside, and in the next capture."""
    event, back = ex(), ex()
    begin(stream)
    fork(event, stream, other)
    if outcome == "instance":
        fork(back, other, stream)
        instance = end(stream)
    else:
        give_up(stream, 107025)
    assert rt.query_event_status(event) == (1, 0)  # never recorded, as far as the outside knows
    assert rt.synchronize_event(event) == 0
    with latches(stream) as held:  # outside: a record is waited for
        held.hold()
        assert words.set(stream, 0, 2) == 0
        fork(event, stream, other)
        assert words.copy(other, 1, 0) == 0
        assert rt.query_event_status(event) == (0, 0)
        assert words.read()[:2] == [0, 0]
        held.release()
        assert rt.synchronize_stream(other) == 0
    assert words.read()[:2] == [2, 2]
    fresh = ex()
    begin(other)  # the roles of the streams are exchanged
    fork(fresh, other, stream)
    assert words.set(stream, 2, 5) == 0
    fork(back, stream, other)
    second = end(other)
    run(second, stream)
    assert words.read()[2] == 5
    assert mdl.ri_destroy(second) == 0
    assert outcome == "failure" or mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_events_may_be_destroyed_while_they_are_captured(stream, other, words):
    event, back = (rt.create_event_ex_with_flag(1)[0] for _ in range(2))
    begin(stream)
    assert words.set(stream, 0, 3) == 0
    fork(event, stream, other)
    assert rt.destroy_event(event) == 0
    assert words.copy(other, 1, 0) == 0
    fork(back, other, stream)
    assert rt.destroy_event(back) == 0
    instance = end(stream)
    run(instance, stream)
    assert words.read()[:2] == [3, 3]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_a_change_of_contexts(stream, words):
    """Transposes Unit_hipGraphInstantiateWithFlags_StreamCaptureDeviceContextChg."""
    begin(stream)
    assert words.count_up(stream, 0) == 0
    in_other_context(lambda: refused(mdl.ri_capture_end(stream)[1], 107003, "aclmdlRICaptureEnd", "another context"))
    assert status(stream) == ACTIVE
    instance = end(stream)
    in_other_context(lambda: refused(mdl.ri_execute_async(instance, 0), 107004, "aclmdlRIExecuteAsync"))
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0


@pytest.mark.needs_sim
def test_two_devices(run_script):
    """Transposes Unit_hipStreamBeginCapture_MultiGPU and Unit_hipStreamBeginCapture_Positive_MultiGPU."""
    code = """
import acl
from acl.mdl import ri_capture_begin, ri_capture_end, ri_capture_get_info, ri_execute_async, ri_destroy
places = []
for device in (0, 1):
    assert acl.rt.set_device(device) == 0
    stream, _ = acl.rt.create_stream()
    word, _ = acl.rt.malloc(4, 0)
    assert acl.rt.memset(word, 4, 0, 4) == 0
    places.append((device, stream, word, acl.rt.get_context()[0]))
instances = []
for device, stream, word, context in places:  # both captures are open at once, each in its own device's context
    acl.rt.set_context(context)
    assert ri_capture_begin(stream, 0) == 0
    assert acl.rt.memset_async(word, 4, 7 + device, 4, stream) == 0
event, _ = acl.rt.create_event_ex_with_flag(1)
assert acl.rt.stream_wait_event(places[0][1], event) == 107003  # a stream of the other device
for device, stream, word, context in places:
    acl.rt.set_context(context)
    instance, ret = ri_capture_end(stream)
    assert ret == 0
    assert ri_execute_async(instance, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    host, _ = acl.rt.malloc_host(4)
    assert acl.rt.memcpy(host, 4, word, 4, 2) == 0
    assert acl.util.ptr_to_bytes(host, 4) == bytes([7 + device] * 4)
    instances.append(instance)
assert ri_execute_async(instances[0], places[1][1]) == 107004
assert [ri_destroy(instance) for instance in instances] == [0, 0]
"""
    done = run_script(code, {"ACL_SIM_DEVICES": "2"})
    assert done.returncode == 0, done.stderr


# --- what an instance holds


def test_lists_of_streams_and_tasks(streams, words, ex, tmp_path):
    """Transposes Unit_hipGraphGetNodes_CapturedStream, Unit_hipGraphGetNodes_Positive_CapturedStream,
    Unit_hipGraphGetRootNodes_CapturedStream, Unit_hipGraphGetRootNodes_Positive_CapturedStream,
    Unit_hipGraphGetEdges_Positive_CapturedStream and cupy_debug_dot: tasks in order, the origin's first; edges are
    the numbers that records and waits share in the print.
    """
    kernel, record, wait, rest = 1, 2, 3, 0
    first, second = streams(2)
    begin(first)
    assert words.count_up(first, 0) == 0
    fork(ex(), first, second)
    assert words.set(second, 1, 1) == 0
    fork(ex(), second, first)
    during = mdl.ri_get_streams(mdl.ri_capture_get_info(first)[1])
    instance = end(first)
    own, ret = mdl.ri_get_streams(instance)
    assert (own, ret) == during and len(own) == 2 and not set(own) & {first, second}
    tasks = [mdl.ri_get_tasks_by_stream(each)[0] for each in own]
    assert tasks == [mdl.ri_get_tasks_by_stream(each)[0] for each in own]
    assert len({task for branch in tasks for task in branch}) == 6
    assert [[mdl.ri_task_get_type(task)[0] for task in branch] for branch in tasks] == [
        [kernel, record, wait], [wait, rest, record],
    ]  # fmt: skip
    assert [[mdl.ri_task_get_seq_id(task)[0] for task in branch] for branch in tasks] == [[0, 1, 2]] * 2
    path = tmp_path / "instance.json"
    assert mdl.ri_debug_json_print(instance, str(path), 0) == 0
    names = [task["name"] for task in json.loads(path.read_text())]
    assert names[1:3] == ["EVENT_RECORD_0", "EVENT_WAIT_1"] and names[3::2] == ["EVENT_WAIT_0", "EVENT_RECORD_1"]
    run(instance, first)
    assert words.read()[:2] == [1, 1]
    assert mdl.ri_destroy(instance) == 0
