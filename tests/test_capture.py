"""Capture and model running instances: what is recorded, what a run does, and how runs follow one another."""

import json
import threading

import pytest
from helpers.capture import ACTIVE, GLOBAL, NONE, begin, end, ex_event, fork, run, status
from helpers.expect import Task, latches, refused

import acl


def test_nothing_runs_until_the_instance_does(stream, words):
    begin(stream, GLOBAL)
    assert words.set(stream, 0, 7) == 0
    assert words.copy(stream, 1, 0) == 0
    assert status(stream) == ACTIVE
    assert words.read()[:2] == [0, 0]
    instance = end(stream)
    assert status(stream) == NONE
    assert words.read()[:2] == [0, 0]
    run(instance, stream)
    assert words.read()[:2] == [7, 7]
    assert acl.mdl.ri_destroy(instance) == 0


def test_what_was_queued_before_runs_at_once(stream, words):
    with latches(stream) as held:
        held.hold()
        assert words.set(stream, 0, 1) == 0
        begin(stream)
        assert words.set(stream, 1, 2) == 0
        instance = end(stream)
        assert words.set(stream, 2, 3) == 0
        held.release()
        assert acl.rt.synchronize_stream(stream) == 0
    assert words.read()[:3] == [1, 0, 3]
    run(instance, stream)
    assert words.read()[:3] == [1, 2, 3]
    assert acl.mdl.ri_destroy(instance) == 0


def test_runs_repeat_and_follow_one_another(stream, words):
    begin(stream)
    assert words.count_up(stream, 0, 3) == 0
    instance = end(stream)
    run(instance, stream, 10)
    assert words.read()[0] == 30
    assert acl.mdl.ri_destroy(instance) == 0


def test_an_instance_runs_on_any_stream(stream, other, words):
    begin(stream)
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    for _ in range(50):
        assert acl.mdl.ri_execute_async(instance, stream) == 0
        assert acl.mdl.ri_execute_async(instance, other) == 0
        assert acl.mdl.ri_execute_async(instance, 0) == 0
    assert acl.rt.synchronize_device() == 0
    assert words.read()[0] == 150
    assert acl.mdl.ri_destroy(instance) == 0


def test_streams_may_be_destroyed_before_the_instance(device, words):
    streams = [acl.rt.create_stream()[0] for _ in range(3)]
    event = ex_event()
    begin(streams[0])
    fork(event, streams[0], streams[1])
    assert words.set(streams[1], 0, 5) == 0
    fork(event, streams[1], streams[0])
    instance = end(streams[0])
    assert acl.rt.destroy_event(event) == 0
    for stream in streams[:2]:
        assert acl.rt.destroy_stream(stream) == 0
    run(instance, streams[2])
    assert words.read()[0] == 5
    assert acl.mdl.ri_destroy(instance) == 0
    assert acl.rt.destroy_stream(streams[2]) == 0


def test_fork_and_join(stream, other, words):
    events = [ex_event() for _ in range(2)]
    begin(stream)
    assert words.set(stream, 0, 1) == 0
    fork(events[0], stream, other)
    assert status(other) == ACTIVE
    assert words.copy(other, 1, 0) == 0
    assert words.set(stream, 2, 9) == 0
    fork(events[1], other, stream)
    assert words.copy(stream, 3, 1) == 0
    instance = end(stream)
    assert (status(stream), status(other)) == (NONE, NONE)
    assert words.set(other, 4, 6) == 0  # runs at once
    run(instance, stream)
    assert acl.rt.synchronize_stream(other) == 0
    assert words.read()[:5] == [1, 1, 9, 1, 6]
    assert acl.mdl.ri_destroy(instance) == 0
    for event in events:
        assert acl.rt.destroy_event(event) == 0


def test_an_empty_capture_runs(stream, words):
    begin(stream)
    instance = end(stream)
    run(instance, stream, 3)
    assert acl.mdl.ri_destroy(instance) == 0


def test_callbacks_are_made_in_every_run(stream, words):
    seen = []
    with latches(stream):
        begin(stream)
        for number in range(2):
            assert acl.rt.launch_callback(seen.append, number, 1, stream) == 0
        instance = end(stream)
        assert seen == []
        run(instance, stream, 3)
        assert seen == [0, 1] * 3
        assert acl.mdl.ri_destroy(instance) == 0


def test_host_functions_are_made_in_every_run(stream, other):
    seen = []
    begin(stream)
    assert acl.rt.launch_host_func(stream, seen.append, "a") == 0
    instance = end(stream)
    run(instance, other, 3)
    assert seen == ["a"] * 3
    assert acl.mdl.ri_destroy(instance) == 0


def test_the_trace_has_one_object_a_task(stream, other, words, tmp_path):
    event = ex_event()
    begin(stream)
    fork(event, stream, other)
    assert words.set(other, 0, 1) == 0
    fork(event, other, stream)
    assert words.count_up(stream, 1) == 0
    instance = end(stream)
    path = tmp_path / "modelRI.json"
    assert acl.mdl.ri_debug_json_print(instance, str(path), 0) == 0
    tasks = json.loads(path.read_text())
    assert [task["args"]["Task Type"] for task in tasks] == [
        "EVENT_RECORD",
        "EVENT_WAIT",
        "KERNEL_AIVEC",
        "EVENT_WAIT",
        "MEMCPY_ASYNC_SET",
        "EVENT_RECORD",
    ]
    assert len({task["tid"] for task in tasks}) == 2
    assert acl.mdl.ri_destroy(instance) == 0
    assert acl.rt.destroy_event(event) == 0


def test_kernels_have_default_attributes(stream, words):
    begin(stream)
    assert words.count_up(stream, 0) == 0
    assert words.set(stream, 1, 1) == 0
    instance = end(stream)
    (own,), ret = acl.mdl.ri_get_streams(instance)
    assert ret == 0
    (kernel, other), ret = acl.mdl.ri_get_tasks_by_stream(own)
    assert ret == 0
    for attribute in range(1, 10):
        value, ret = acl.mdl.ri_kernel_task_get_attribute(kernel, attribute)
        assert ret == 0 and not value["schemMode"]
    for attribute in (0, 10):
        refused(acl.mdl.ri_kernel_task_get_attribute(kernel, attribute)[1], 107000, f"attrId is {attribute}")
    refused(acl.mdl.ri_kernel_task_get_attribute(other, 1)[1], 107000, "expected a kernel")
    refused(acl.mdl.ri_kernel_task_get_attribute(0, 1)[1], 107000, "task is NULL")
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.needs_sim
def test_a_callback_that_is_waited_for_outlives_a_failure_beside_it(stream, other):
    """It is ended in its own run, and made again in the next."""
    seen, event = [], ex_event()
    started, failed = threading.Event(), threading.Event()

    def beside(data):
        seen.append(data)
        started.set()
        failed.wait(10)

    assert acl.rt.set_exception_info_callback(lambda info: failed.set()) == 0
    with latches(stream):
        begin(stream)
        fork(event, stream, other)
        assert acl.rt.launch_callback(beside, "beside", 1, stream) == 0
        assert acl.rt.launch_callback(seen.append, "after", 1, stream) == 0
        assert acl.rt.launch_host_func(other, lambda data: started.wait(10), None) == 0
        task = Task(other, lambda: 507015)
        fork(event, other, stream)
        instance = end(stream)
        for made in (1, 2, 3):
            started.clear()
            failed.clear()
            assert acl.mdl.ri_execute_async(instance, stream) == 0
            refused(acl.rt.synchronize_stream(stream), 507015, "aclsimLaunchTask")
            assert seen.count("beside") == made
        assert acl.mdl.ri_destroy(instance) == 0
    assert acl.rt.set_exception_info_callback(None) == 0
    assert task.function and acl.rt.destroy_event(event) == 0
