"""Changing captured kernels: task groups and their updates, single tasks, and when a change is in force."""

import pytest
from helpers.capture import (
    ACTIVE,
    INVALIDATED,
    NONE,
    begin,
    check_free,
    check_unharmed,
    end,
    fork,
    give_up,
    run,
    status,
)
from helpers.expect import latches, refused

import acl
from acl import nnop

mdl, rt = acl.mdl, acl.rt
EXTERNAL = 0x20
KERNEL, RECORD = 1, 2


def group_of(stream, words, *places):
    """Capture a group of kernels that count these words up; return its handle."""
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    for place in places:
        assert words.count_up(stream, place) == 0
    group, ret = mdl.ri_capture_task_grp_end(stream)
    assert ret == 0, acl.get_recent_err_msg()
    return group


def update(group, stream, words, *places):
    """Let the group's kernels count other words up."""
    assert mdl.ri_capture_task_update_begin(stream, group) == 0, acl.get_recent_err_msg()
    for place in places:
        assert words.count_up(stream, place) == 0
    assert mdl.ri_capture_task_update_end(stream) == 0, acl.get_recent_err_msg()


def add(words, stream, place):
    """Queue another kernel than count_up does; return the runtime's code, which the operator's own message quotes."""
    tensor = acl.create_tensor([1], 3, [1], place, 2, [words.count], words.address)
    size, executor, ret = nnop.inplace_add_get_workspace_size(tensor, tensor, words.one)
    assert ret == 0
    ret = nnop.inplace_add(0, size, executor, stream)
    acl.destroy_tensor(tensor)
    return rt.get_last_error(0) if ret else 0


# --- groups while capturing


@pytest.mark.parametrize("kind", ["set", "copy", "host function", "record", "wait", "external wait"])
def test_groups_take_kernels_alone(stream, words, ex, kind):
    external, _ = rt.create_event_with_flag(EXTERNAL)
    calls = {
        "set": lambda: words.set(stream, 1, 1),
        "copy": lambda: words.copy(stream, 1, 0),
        "host function": lambda: rt.launch_host_func(stream, print, "never"),
        "record": lambda: rt.record_event(ex(), stream),
        "wait": lambda: rt.stream_wait_event(stream, ex()),
        "external wait": lambda: rt.stream_wait_event(stream, external),
    }
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    assert words.count_up(stream, 0) == 0
    refused(calls[kind](), 507009, "task group is open", "accepts only kernels")
    assert status(stream) == ACTIVE
    assert words.count_up(stream, 0) == 0
    group, ret = mdl.ri_capture_task_grp_end(stream)
    assert ret == 0
    instance = end(stream)
    update(group, stream, words, 2, 3)  # the group has the two kernels
    run(instance, stream)
    assert words.read()[:4] == [0, 0, 1, 1]
    assert mdl.ri_destroy(instance) == 0
    assert rt.destroy_event(external) == 0
    check_free(words, stream)


@pytest.mark.parametrize("how", ["set", "kernel", "record", "wait", "join"])
def test_an_interrupted_group(streams, words, ex, how):
    """A task of another stream of the same capture makes it invalid; all that is left is its end."""
    first, second, third = streams(3)
    event = ex()
    begin(first)
    fork(event, first, second)
    assert mdl.ri_capture_task_grp_begin(first) == 0
    assert words.count_up(first, 0) == 0
    calls = {
        "set": lambda: words.set(second, 1, 1),
        "kernel": lambda: words.count_up(second, 1) and rt.peek_at_last_error(0),
        "record": lambda: rt.record_event(ex(), second),
        "wait": lambda: rt.stream_wait_event(second, event),
        "join": lambda: rt.stream_wait_event(third, event),
    }
    assert calls[how]() == 107034
    assert [status(stream) for stream in (first, second, third)] == [INVALIDATED, INVALIDATED, NONE]
    assert words.count_up(first, 0) != 0
    assert rt.peek_at_last_error(0) == 507903
    refused(mdl.ri_capture_task_grp_end(first)[1], 107034, "aclmdlRICaptureTaskGrpEnd", "interrupted")
    give_up(first, 507903)
    assert words.read()[:2] == [0, 0]
    check_free(words, first, second, third)


def test_another_capture_does_not_interrupt(stream, other, words):
    begin(stream)
    begin(other)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    assert mdl.ri_capture_task_grp_begin(other) == 0
    assert words.count_up(stream, 0) == 0
    assert words.count_up(other, 1) == 0
    groups = [mdl.ri_capture_task_grp_end(each) for each in (stream, other)]
    assert [ret for _, ret in groups] == [0, 0]
    instances = [end(stream), end(other)]
    update(groups[1][0], stream, words, 2)
    for instance in instances:
        run(instance, stream)
        assert mdl.ri_destroy(instance) == 0
    assert words.read()[:3] == [1, 0, 1]


# --- updates


def test_an_update_changes_later_runs(stream, other, words):
    """The same kernels with other addresses, any number of times, by any stream."""
    begin(stream)
    assert words.count_up(stream, 6) == 0
    group = group_of(stream, words, 0, 1)
    assert words.count_up(stream, 7) == 0
    instance = end(stream)
    run(instance, stream)
    assert words.read() == [1, 1, 0, 0, 0, 0, 1, 1]
    for number, updater in enumerate((other, stream, other), 2):
        update(group, updater, words, number, number + 1)
        assert rt.synchronize_stream(updater) == 0
        run(instance, stream)
    assert words.read() == [1, 1, 1, 2, 2, 1, 4, 4]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_several_groups(stream, other, words, ex):
    """Groups follow one another, on any stream of the capture, and are updated apart, even at the same time."""
    begin(stream)
    first = group_of(stream, words, 0)
    second = group_of(stream, words, 1, 1)
    fork(ex(), stream, other)
    third = group_of(other, words, 2)
    fork(ex(), other, stream)
    instance = end(stream)
    assert len({first, second, third}) == 3
    assert mdl.ri_capture_task_update_begin(stream, second) == 0
    assert mdl.ri_capture_task_update_begin(other, third) == 0
    assert words.count_up(other, 5) == 0
    assert words.count_up(stream, 3) == 0
    assert words.count_up(stream, 4) == 0
    assert mdl.ri_capture_task_update_end(other) == 0
    assert mdl.ri_capture_task_update_end(stream) == 0
    assert rt.synchronize_device() == 0
    run(instance, stream)
    assert words.read() == [1, 0, 0, 1, 1, 1, 0, 0]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_a_group_without_kernels(stream, words):
    begin(stream)
    group = group_of(stream, words)
    instance = end(stream)
    update(group, stream, words)
    run(instance, stream)
    assert words.read() == [0] * 8
    assert mdl.ri_capture_task_update_begin(stream, group) == 0
    assert words.count_up(stream, 0) != 0
    assert rt.get_last_error(0) == 507000
    assert mdl.ri_capture_task_update_end(stream) == 0
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


@pytest.mark.parametrize("launched", [0, 1])
def test_fewer_launches_than_kernels(stream, words, launched):
    """The end says so and the stream is free again; those that were launched are updated."""
    begin(stream)
    group = group_of(stream, words, 0, 1)
    instance = end(stream)
    assert mdl.ri_capture_task_update_begin(stream, group) == 0
    for _ in range(launched):
        assert words.count_up(stream, 2) == 0
    ret = mdl.ri_capture_task_update_end(stream)
    refused(ret, 507000, "aclmdlRICaptureTaskUpdateEnd", f"{launched} kernels", "group of 2")
    refused(mdl.ri_capture_task_update_end(stream), 107033, "aclmdlRICaptureTaskUpdateEnd", "updates no task group")
    run(instance, stream)
    assert words.read()[:3] == [1 - launched, 1, launched]
    update(group, stream, words, 3, 3)
    run(instance, stream)
    assert words.read()[:4] == [1 - launched, 1, launched, 2]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


def test_more_launches_than_kernels(stream, words):
    begin(stream)
    group = group_of(stream, words, 0)
    instance = end(stream)
    assert mdl.ri_capture_task_update_begin(stream, group) == 0
    assert words.count_up(stream, 1) == 0
    assert words.count_up(stream, 2) != 0
    refused(rt.get_last_error(0), 507000, "the group has 1 tasks")
    assert mdl.ri_capture_task_update_end(stream) == 0
    run(instance, stream)
    assert words.read()[:3] == [0, 1, 0]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


def test_other_kernels(stream, words):
    begin(stream)
    group = group_of(stream, words, 0)
    instance = end(stream)
    assert mdl.ri_capture_task_update_begin(stream, group) == 0
    refused(add(words, stream, 1), 507000, "aclnnInplaceAdds, expected that kernel, not aclnnInplaceAdd")
    assert words.count_up(stream, 1) == 0  # the place was not used up
    assert mdl.ri_capture_task_update_end(stream) == 0
    run(instance, stream)
    assert words.read()[:2] == [0, 1]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


@pytest.mark.parametrize("kind", ["set", "copy", "host function", "record", "wait"])
def test_what_no_update_takes(stream, other, words, ex, kind):
    event = ex()
    assert rt.record_event(event, other) == 0
    assert rt.synchronize_event(event) == 0
    calls = {
        "set": lambda: words.set(stream, 1, 1),
        "copy": lambda: words.copy(stream, 1, 0),
        "host function": lambda: rt.launch_host_func(stream, print, "never"),
        "record": lambda: rt.record_event(event, stream),
        "wait": lambda: rt.stream_wait_event(stream, event),
    }
    begin(stream)
    group = group_of(stream, words, 0)
    instance = end(stream)
    assert mdl.ri_capture_task_update_begin(stream, group) == 0
    refused(calls[kind](), 507009, "the stream updates")
    assert words.count_up(stream, 2) == 0
    assert mdl.ri_capture_task_update_end(stream) == 0
    run(instance, stream)
    assert words.read()[:3] == [0, 0, 1]
    assert rt.query_event_status(event) == (1, 0)
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_launches_of_an_update_are_not_run(stream, words):
    begin(stream)
    group = group_of(stream, words, 0)
    instance = end(stream)
    update(group, stream, words, 1)
    assert rt.synchronize_stream(stream) == 0
    assert words.read()[:2] == [0, 0]
    run(instance, stream)
    assert words.read()[:2] == [0, 1]
    assert mdl.ri_destroy(instance) == 0


def test_updates_follow_their_stream(stream, other, words):
    """While what was queued before it holds the updating stream up, runs go on with the old arguments."""
    begin(stream)
    group = group_of(stream, words, 0)
    instance = end(stream)
    with latches(other) as held:
        held.hold()
        update(group, other, words, 1)
        run(instance, stream)
        assert words.read()[:2] == [1, 0]
        held.release()
        assert rt.synchronize_stream(other) == 0
    run(instance, stream)
    assert words.read()[:2] == [1, 1]
    assert mdl.ri_destroy(instance) == 0


def test_a_run_held_by_an_external_event(stream, other, words):
    """The loop that groups are made for: the run waits, inside, until the update of each round was made."""
    external, _ = rt.create_event_with_flag(EXTERNAL)
    begin(stream)
    assert rt.stream_wait_event(stream, external) == 0
    assert rt.reset_event(external, stream) == 0
    group = group_of(stream, words, 0)
    instance = end(stream)
    for place in range(1, 6):
        assert mdl.ri_execute_async(instance, stream) == 0
        assert words.read()[place] == 0
        assert rt.stream_query(stream) == (1, 0)
        update(group, other, words, place)
        assert rt.record_event(external, other) == 0
        assert rt.synchronize_stream(stream) == 0
        assert words.read() == [0] + [1] * place + [0] * (7 - place)
    assert mdl.ri_destroy(instance) == 0
    assert rt.destroy_event(external) == 0
    check_free(words, stream, other)


@pytest.mark.parametrize("queued", [False, True])
def test_an_instance_destroyed_during_an_update(stream, other, words, queued):
    """The stream is let go; what is still queued finds nothing to update."""
    begin(stream)
    group = group_of(stream, words, 0)
    instance = end(stream)
    with latches(other) as held:
        held.hold()
        assert mdl.ri_capture_task_update_begin(other, group) == 0
        assert words.count_up(other, 1) == 0
        if queued:
            assert mdl.ri_capture_task_update_end(other) == 0
        assert mdl.ri_destroy(instance) == 0
        if not queued:
            refused(mdl.ri_capture_task_update_end(other), 107033, "TaskUpdateEnd", "updates no task group")
        held.release()
        assert rt.synchronize_stream(other) == 0
    assert words.read()[:2] == [0, 0]
    check_free(words, stream, other)


# --- single tasks


def tasks_of(instance):
    """Return the tasks of the instance's first stream."""
    return mdl.ri_get_tasks_by_stream(mdl.ri_get_streams(instance)[0][0])[0]


@pytest.fixture
def three(stream, words, ex):
    """Make an instance: a kernel on word 0 in a group, a set of word 1, a record, a kernel on word 2; and its tasks."""
    begin(stream)
    group = group_of(stream, words, 0)
    assert words.set(stream, 1, 4) == 0
    event = ex()
    assert rt.record_event(event, stream) == 0
    assert words.count_up(stream, 2) == 0
    instance = end(stream)
    yield instance, tasks_of(instance), group, event
    mdl.ri_destroy(instance)


def test_parameters(words, three):
    _, tasks, group, event = three
    assert [mdl.ri_task_get_type(task) for task in tasks] == [(KERNEL, 0), (0, 0), (RECORD, 0), (KERNEL, 0)]
    kernel, ret = mdl.ri_task_get_params(tasks[0])
    assert ret == 0
    assert kernel == {"type": KERNEL, "task_grp": group, "args": [words.at(0)], "num_blocks": 1}
    refused(mdl.ri_task_get_params(tasks[1])[1], 107000, "aclmdlRITaskGetParams", "aclrtMemsetAsync", "no parameters")
    record = {"type": RECORD, "task_grp": 0, "event": event, "event_flag": 1, "flag": 0}
    assert mdl.ri_task_get_params(tasks[2]) == (record, 0)
    assert mdl.ri_task_get_params(tasks[3])[0]["task_grp"] == 0


def test_new_addresses_and_their_update(stream, words, three):
    instance, tasks, _, _ = three
    assert mdl.ri_update(instance) == 0  # nothing was changed
    assert mdl.ri_task_set_params(tasks[0], {"type": KERNEL, "args": [words.at(5)]}) == 0
    refused(mdl.ri_execute_async(instance, stream), 507011, "aclmdlRIExecuteAsync", "changed tasks", "aclmdlRIUpdate")
    assert mdl.ri_task_set_params(tasks[3], {"type": KERNEL, "args": [words.at(6)]}) == 0
    assert mdl.ri_task_set_params(tasks[0], {"type": KERNEL, "args": [words.at(4)]}) == 0
    assert words.read() == [0] * 8
    assert mdl.ri_update(instance) == 0
    run(instance, stream)
    assert words.read() == [0, 4, 0, 0, 1, 0, 1, 0]
    assert mdl.ri_task_get_params(tasks[0])[0]["args"] == [words.at(4)]
    run(instance, stream)
    assert words.read() == [0, 4, 0, 0, 2, 0, 2, 0]


def test_a_disabled_task_is_left_out(stream, words, three):
    instance, tasks, _, _ = three
    assert mdl.ri_task_disable(tasks[0]) == 0
    refused(mdl.ri_execute_async(instance, stream), 507011, "aclmdlRIExecuteAsync", "aclmdlRIUpdate")
    assert mdl.ri_update(instance) == 0
    run(instance, stream)
    assert words.read()[:3] == [0, 4, 1]
    assert mdl.ri_task_get_type(tasks[0]) == (KERNEL, 0)
    assert tasks_of(instance) == tasks


@pytest.mark.parametrize("disables", [False, True])
def test_changes_at_the_wrong_time(stream, other, words, three, disables):
    """107040 while the instance runs or is captured: nothing is changed."""
    instance, tasks, _, _ = three

    def change(task):
        name = "aclmdlRITaskDisable" if disables else "aclmdlRITaskSetParams"
        params = {"type": KERNEL, "args": [words.at(7)]}
        return name, mdl.ri_task_disable(task) if disables else mdl.ri_task_set_params(task, params)

    with latches(other) as held:
        held.hold()
        assert mdl.ri_execute_async(instance, other) == 0
        name, ret = change(tasks[0])
        refused(ret, 107040, name, "runs")
        refused(mdl.ri_update(instance), 107040, "aclmdlRIUpdate", "runs")
        held.release()
        assert rt.synchronize_stream(other) == 0
    assert words.read()[:3] == [1, 4, 1]
    begin(stream)
    assert words.count_up(stream, 3) == 0
    capturing = mdl.ri_capture_get_info(stream)[1]
    name, ret = change(tasks_of(capturing)[0])
    refused(ret, 107040, name, "still being captured")
    refused(mdl.ri_update(capturing), 107040, "aclmdlRIUpdate", "still being captured")
    check_unharmed(words, stream, 4)
    assert words.read()[3] == 1
    run(instance, stream)
    assert words.read()[2] == 2 and words.read()[7] == 0


def test_tasks_that_cannot_be_changed(stream, words, three):
    instance, tasks, _, _ = three
    for task in tasks[1:3]:
        ret = mdl.ri_task_set_params(task, {"type": KERNEL, "args": [words.at(7)]})
        refused(ret, 107000, "aclmdlRITaskSetParams", "expected a kernel")
    run(instance, stream)
    assert words.read()[:3] == [1, 4, 1]


@pytest.mark.parametrize("params", ["another type", "too few", "too many", "not memory"])
def test_parameters_that_do_not_fit(stream, words, three, params):
    instance, tasks, _, _ = three
    wrong = {
        "another type": {"type": 5, "args": [words.at(7)]},
        "too few": {"type": KERNEL, "args": []},
        "too many": {"type": KERNEL, "args": [words.at(7)] * 2},
        "not memory": {"type": KERNEL, "args": [0x10]},
    }[params]
    refused(mdl.ri_task_set_params(tasks[0], wrong), 107000, "aclmdlRITaskSetParams")
    run(instance, stream)
    assert words.read() == [1, 4, 1, 0, 0, 0, 0, 0]


def test_a_group_is_updated_after_a_change(stream, words, three):
    """Both ways to change a kernel go together; the later one counts."""
    instance, tasks, group, _ = three
    assert mdl.ri_task_set_params(tasks[0], {"type": KERNEL, "args": [words.at(5)]}) == 0
    assert mdl.ri_update(instance) == 0
    update(group, stream, words, 6)
    run(instance, stream)
    assert (words.read()[0], words.read()[5], words.read()[6]) == (0, 0, 1)
    assert mdl.ri_task_get_params(tasks[0])[0]["args"] == [words.at(6)]
    assert mdl.ri_task_disable(tasks[3]) == 0
    assert mdl.ri_update(instance) == 0
    run(instance, stream)
    assert (words.read()[2], words.read()[6]) == (1, 2)
