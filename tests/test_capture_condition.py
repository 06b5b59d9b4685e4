"""Conditional tasks: which body a run takes, how often, and what conditions and bodies refuse."""

import numpy
import pytest
from helpers.capture import (
    ACTIVE,
    GLOBAL,
    HEAD,
    NONE,
    RELAXED,
    THREAD_LOCAL,
    begin,
    building,
    check_free,
    check_unharmed,
    end,
    fork,
    give_up,
    run,
    status,
)
from helpers.condition import ASSIGN, IF, SWITCH, WHILE, Condition, body, queued
from helpers.expect import NULL, Task, in_thread, latches, pointer, refused

import acl
from acl._lib import ffi, lib

mdl, rt = acl.mdl, acl.rt


def choose(stream, other, words, kind, size):
    """Return an instance and its condition: body n counts word n up, word 7 counts the runs."""
    begin(stream)
    condition = queued(stream, kind, size)
    assert words.count_up(stream, 7) == 0
    for place, each in enumerate(condition.bodies):
        with body(other, each):
            assert words.count_up(other, place) == 0
    return end(stream), condition


# --- which body runs


@pytest.mark.parametrize(("kind", "size"), [(IF, 1), (IF, 2), (SWITCH, 1), (SWITCH, 4)])
def test_the_value_chooses(stream, other, words, kind, size):
    """Transposes Unit_hipStreamBeginCaptureToGraph_BasicFunctional and
    Unit_hipStreamBeginCaptureToGraph_CaptureIndepGraph: a capture into an instance that exists is one into a body.
    """
    instance, condition = choose(stream, other, words, kind, size)
    expected = [0] * 8
    for value in (0, 1, 2, 3, 4, 255):
        condition.write(stream, value)
        run(instance, stream)
        taken = (0 if value else 1) if kind == IF else value
        if taken < size:
            expected[taken] += 1
        expected[7] += 1
        assert words.read() == expected
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


@pytest.mark.parametrize("kind", [IF, SWITCH])
def test_all_64_bits_count(stream, other, words, kind):
    instance, condition = choose(stream, other, words, kind, 2)
    assert rt.memset_async(condition.address, 8, 0, 8, stream) == 0
    assert rt.memset_async(condition.address + 4, 4, 1, 1, stream) == 0  # 2 to the power of 32
    run(instance, stream)
    assert words.read() == [1 if kind == IF else 0] + [0] * 6 + [1]
    assert mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("times", [0, 1, 5, 200])
def test_a_loop(stream, other, words, times):
    """The value is read again before each turn, the first one too."""
    begin(stream)
    condition = Condition(stream, WHILE, 1)
    condition.write(stream, times)
    assert words.count_up(stream, 1) == 0
    condition.queue(stream)
    assert words.copy(stream, 2, 0) == 0
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
        condition.count_down(other)
    instance = end(stream)
    for number in range(1, 4):
        run(instance, stream)
        assert words.read()[:3] == [times * number, number, times * number]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_conditions_inside_conditions(streams, words):
    """Transposes Unit_hipStreamBeginCaptureToGraph_CaptureChildpGraph and
    Unit_hipStreamBeginCaptureToGraph_CaptureDepGraph: a loop whose body switches, one of whose bodies is a choice.
    """
    first, second, third, fourth = streams(4)
    begin(first)
    loop = Condition(first, WHILE, 1)
    loop.write(first, 3)
    loop.queue(first)
    with body(second, loop.bodies[0]):
        switch = Condition(second, SWITCH, 4)
        assert rt.memcpy_async(switch.address, 8, loop.address, 8, 3, second) == 0
        switch.queue(second)
        loop.count_down(second)
        for place in (1, 2, 3):
            with body(third, switch.bodies[place]):
                assert words.count_up(third, place) == 0
                if place == 2:
                    choice = Condition(third, IF, 2)
                    choice.write(third, 1)
                    choice.queue(third)
                    with body(fourth, choice.bodies[0]):
                        assert words.count_up(fourth, 4) == 0
                    with body(fourth, choice.bodies[1]):
                        assert words.count_up(fourth, 5) == 0
    instance = end(first)
    for number in range(1, 4):
        run(instance, fourth)
        assert words.read() == [0, number, number, number, number, 0, 0, 0]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second, third, fourth)


def test_bodies_with_forks_and_host_functions(streams, words, ex):
    """Transposes Unit_hipStreamBeginCaptureToGraph_ComplexGraph: a body is a whole capture of its own."""
    first, second, third = streams(3)
    seen = []
    begin(first)
    loop = Condition(first, WHILE, 1)
    loop.write(first, 2)
    loop.queue(first)
    with body(second, loop.bodies[0]):
        assert words.count_up(second, 0) == 0
        fork(ex(), second, third)
        assert mdl.ri_capture_get_info(third)[1] == loop.bodies[0]
        assert words.copy(third, 1, 0) == 0
        assert rt.launch_host_func(second, seen.append, "turn") == 0
        loop.count_down(second)
        fork(ex(), third, second)
        assert words.copy(second, 2, 1) == 0
    instance = end(first)
    run(instance, first)
    assert words.read()[:3] == [2, 2, 2]
    assert seen == ["turn"] * 2
    run(instance, first)
    assert words.read()[:3] == [4, 4, 4]
    assert seen == ["turn"] * 4
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second, third)


def test_a_body_that_was_never_captured_does_nothing(stream, words):
    begin(stream)
    condition = Condition(stream, SWITCH, 3)
    condition.write(stream, 1)
    condition.queue(stream)
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    run(instance, stream, 2)
    assert words.read()[0] == 2
    assert mdl.ri_destroy(instance) == 0


def test_branches_wait_for_a_condition_like_for_any_task(stream, other, words, ex):
    begin(stream)
    condition = Condition(stream, IF, 1)
    condition.write(stream, 1)
    condition.queue(stream)
    third, _ = rt.create_stream()
    with body(third, condition.bodies[0]):
        assert words.set(third, 0, 3) == 0
    fork(ex(), stream, other)
    assert words.copy(other, 1, 0) == 0
    fork(ex(), other, stream)
    assert words.copy(stream, 2, 1) == 0
    instance = end(stream)
    run(instance, third)
    assert words.read()[:3] == [3, 3, 3]
    assert mdl.ri_destroy(instance) == 0
    assert rt.destroy_stream(third) == 0


# --- default values


def slot(condition):
    """Return the value."""
    array = numpy.zeros(1, "u8")
    assert rt.memcpy(array.ctypes.data, 8, condition.address, 8, 2) == 0
    return int(array[0])


def test_a_default_is_assigned_by_every_run(stream, other, words):
    """What was written before the call is overwritten, also when the last run left another value."""
    begin(stream)
    condition = queued(stream, WHILE, 1, 3, ASSIGN)
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
        condition.count_down(other)
    instance = end(stream)
    assert slot(condition) == 0
    for number in range(1, 4):
        condition.write(stream, 100 * (number % 2))
        run(instance, stream)
        assert words.read()[0] == 3 * number
        assert slot(condition) == 0
    assert mdl.ri_destroy(instance) == 0


def test_a_default_of_32_bits(stream, other, words):
    begin(stream)
    condition = queued(stream, IF, 1, 2**32 - 1, ASSIGN)
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
    instance = end(stream)
    run(instance, stream)
    assert slot(condition) == 2**32 - 1
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0


def test_without_the_flag_the_value_stays(stream, other, words):
    """It is zero at first, whatever the default says."""
    begin(stream)
    condition = queued(stream, IF, 1, 5)
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
    instance = end(stream)
    run(instance, stream)
    assert (words.read()[0], slot(condition)) == (0, 0)
    condition.write(stream, 9)
    run(instance, stream, 2)
    assert (words.read()[0], slot(condition)) == (2, 9)
    assert mdl.ri_destroy(instance) == 0


def test_inner_defaults_are_assigned_once_a_run(streams, words):
    """The run assigns them before it starts, not each turn of the loop around them."""
    first, second, third = streams(3)
    begin(first)
    loop = queued(first, WHILE, 1, 3, ASSIGN)
    with body(second, loop.bodies[0]):
        inner = queued(second, WHILE, 1, 2, ASSIGN)
        loop.count_down(second)
        with body(third, inner.bodies[0]):
            assert words.count_up(third, 0) == 0
            inner.count_down(third)
    instance = end(first)
    for number in (1, 2):
        run(instance, first)
        assert words.read()[0] == 2 * number
    assert mdl.ri_destroy(instance) == 0


# --- capturing into bodies


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED])
def test_modes_of_bodies(stream, other, words, mode):
    """Transposes Unit_hipStreamBeginCaptureToGraph_MultipleFlags: the capture of a body counts like any other."""
    begin(stream, RELAXED)
    condition = queued(stream, IF, 1, 1, ASSIGN)
    assert mdl.ri_capture_to_model_ri_begin(other, condition.bodies[0], mode) == 0
    assert words.count_up(other, 0) == 0
    assert rt.memset(words.at(1), 4, 1, 4) == (0 if mode == RELAXED else 107030)
    ended = in_thread(lambda: rt.set_device(0) or mdl.ri_capture_end(other))
    if mode == RELAXED:
        assert ended == (condition.bodies[0], 0)
    else:
        assert ended == (0, 107038)
        with body(other, condition.bodies[0], mode):  # the body is empty again
            assert words.count_up(other, 0) == 0
    instance = end(stream)
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_states_while_a_body_is_captured(stream, other, words):
    """Transposes Unit_hipStreamBeginCaptureToGraph_StateTesting and
    Unit_hipStreamBeginCaptureToGraph_GetCaptureInfo: the body's stream says the body, the parent's the parent.
    """
    begin(stream)
    parent = mdl.ri_capture_get_info(stream)[1]
    condition = queued(stream, IF, 2, 1, ASSIGN)
    assert status(other) == NONE
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
        assert mdl.ri_capture_get_info(stream) == (ACTIVE, parent, 0)
        assert mdl.ri_capture_get_info(other) == (ACTIVE, condition.bodies[0], 0)
        assert words.count_up(stream, 1) == 0
    instance = end(stream)
    assert instance == parent
    run(instance, other)
    assert words.read()[:2] == [1, 1]
    assert mdl.ri_destroy(instance) == 0


def test_a_body_is_captured_once(stream, other, words):
    """Transposes Unit_hipStreamBeginCaptureToGraph_CaptureTwice: no second capture adds to a body, open or ended."""
    third, _ = rt.create_stream()
    name = "aclmdlRICaptureToModelRIBegin"
    begin(stream)
    condition = queued(stream, IF, 1, 1, ASSIGN)
    with body(other, condition.bodies[0]):
        ret = mdl.ri_capture_to_model_ri_begin(third, condition.bodies[0], RELAXED)
        refused(ret, 107026, name, "already captured into", "empty body")
        refused(mdl.ri_capture_to_model_ri_begin(other, condition.bodies[0], RELAXED), 107027, name, "being captured")
        refused(mdl.ri_capture_to_model_ri_begin(stream, condition.bodies[0], RELAXED), 107027, name)
        assert words.count_up(other, 0) == 0
    ret = mdl.ri_capture_to_model_ri_begin(other, condition.bodies[0], RELAXED)
    refused(ret, 107026, name, "already captured into")
    instance = end(stream)
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other, third)
    assert rt.destroy_stream(third) == 0


def test_what_is_no_body(stream, other, words):
    """Transposes Unit_hipStreamBeginCaptureToGraph_Negative."""
    name = "aclmdlRICaptureToModelRIBegin"
    begin(stream)
    assert words.count_up(stream, 0) == 0
    open_one = mdl.ri_capture_get_info(stream)[1]
    refused(mdl.ri_capture_to_model_ri_begin(other, open_one, RELAXED), 107000, name, "not a body of a conditional")
    instance = end(stream)
    refused(mdl.ri_capture_to_model_ri_begin(other, instance, RELAXED), 107000, name, "not a body of a conditional")
    with building(HEAD) as (built, _):
        refused(mdl.ri_capture_to_model_ri_begin(other, built, RELAXED), 107000, name, "not a body")
    refused(mdl.ri_capture_to_model_ri_begin(other, instance, 3), 107000, name, "mode is 3")
    assert status(other) == NONE
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


def test_a_body_ends_without_a_place(stream, other, words):
    begin(stream)
    condition = queued(stream, IF, 1, 1, ASSIGN)
    assert mdl.ri_capture_to_model_ri_begin(other, condition.bodies[0], RELAXED) == 0
    assert words.count_up(other, 0) == 0
    assert lib.aclmdlRICaptureEnd(pointer(other), NULL) == 0
    assert status(other) == NONE
    instance = end(stream)
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0


def test_a_body_whose_end_fails_is_empty_again(streams, words, ex):
    first, second, third = streams(3)
    begin(first)
    condition = queued(first, IF, 1, 1, ASSIGN)
    assert mdl.ri_capture_to_model_ri_begin(second, condition.bodies[0], RELAXED) == 0
    assert words.count_up(second, 0) == 0
    fork(ex(), second, third)
    give_up(second, 107025)
    assert [status(stream) for stream in (first, second, third)] == [ACTIVE, NONE, NONE]
    with body(third, condition.bodies[0]):
        assert words.count_up(third, 1) == 0
    instance = end(first)
    run(instance, first)
    assert words.read()[:2] == [0, 1]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second, third)


def test_a_parent_that_ends_before_its_body(stream, other, words):
    """Transposes Unit_hipStreamBeginCaptureToGraph_EndingWhileCaptureInProgress: both are given up."""
    begin(stream)
    condition = queued(stream, IF, 1)
    assert mdl.ri_capture_to_model_ri_begin(other, condition.bodies[0], RELAXED) == 0
    instance, ret = mdl.ri_capture_end(stream)
    refused(ret, 107045, "aclmdlRICaptureEnd", "a body", "still being captured")
    assert (instance, status(stream), status(other)) == (0, NONE, NONE)
    refused(mdl.ri_capture_end(other)[1], 107029, "aclmdlRICaptureEnd", "not being captured")
    check_free(words, stream, other)


# --- refusals

ON_BODY = {
    "aclmdlRIExecuteAsync": lambda ri, s: mdl.ri_execute_async(ri, s),
    "aclmdlRIExecute": lambda ri, s: mdl.ri_execute(ri, -1),
    "aclmdlRIDestroy": lambda ri, s: mdl.ri_destroy(ri),
    "aclmdlRIAbort": lambda ri, s: mdl.ri_abort(ri),
    "aclmdlRIUpdate": lambda ri, s: mdl.ri_update(ri),
    "aclmdlRIGetStreams": lambda ri, s: mdl.ri_get_streams(ri)[1],
    "aclmdlRIDestroyRegisterCallback": lambda ri, s: mdl.ri_destroy_register_callback(ri, print, 0),
    "aclmdlRIDestroyUnregisterCallback": lambda ri, s: mdl.ri_destroy_unregister_callback(ri, print),
}


@pytest.mark.parametrize("state", ["empty", "capturing", "captured", "parent ready"])
@pytest.mark.parametrize("name", ON_BODY)
def test_what_a_body_refuses(stream, other, words, name, state):
    third, _ = rt.create_stream()
    begin(stream)
    condition = queued(stream, IF, 1, 1, ASSIGN)
    (target,) = condition.bodies

    def refuse():
        told = "only one that was built" if name == "aclmdlRIAbort" else "a body of a conditional task"
        refused(ON_BODY[name](target, third), 207000, name, told)

    if state == "empty":
        refuse()
    with body(other, target):
        assert words.count_up(other, 0) == 0
        if state == "capturing":
            refuse()
            (task,), _ = mdl.ri_get_tasks_by_stream(other)
            params = {"type": 1, "args": [words.at(1)]}
            refused(mdl.ri_task_set_params(task, params), 207000, "aclmdlRITaskSetParams", "a body")
            refused(mdl.ri_task_disable(task), 207000, "aclmdlRITaskDisable", "a body")
    if state == "captured":
        refuse()
    instance = end(stream)
    if state == "parent ready":
        refuse()
    assert words.read()[0] == 0
    run(instance, third)
    assert words.read()[:2] == [1, 0]
    assert mdl.ri_destroy(instance) == 0
    assert rt.destroy_stream(third) == 0


def test_a_body_takes_no_external_events(stream, other, words, ex):
    begin(stream)
    condition = queued(stream, IF, 1, 1, ASSIGN)
    with body(other, condition.bodies[0]):
        ret = lib.aclrtRecordEventWithFlag(pointer(ex()), pointer(other), 1)
        refused(ret, 207000, "aclrtRecordEventWithFlag", "body of a conditional task")
        ret = lib.aclrtStreamWaitEventWithFlag(pointer(other), pointer(ex()), 0, 1)
        refused(ret, 207000, "aclrtStreamWaitEventWithFlag", "body of a conditional task")
        assert words.count_up(other, 0) == 0
    instance = end(stream)
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0


def test_conditions_belong_to_open_captures(stream, words):
    name = "aclmdlRICondHandleCreate"
    begin(stream)
    owner = mdl.ri_capture_get_info(stream)[1]
    refused(mdl.ri_cond_handle_create(owner, 0, 2)[1], 107000, name, "flag is 2", "ASSIGN_DEFAULT (1)")
    check_unharmed(words, stream)
    begin(stream)
    instance = end(stream)
    refused(mdl.ri_cond_handle_create(instance, 0, 2)[1], 107000, name, "not being captured")
    with building(HEAD) as (built, _):
        refused(mdl.ri_cond_handle_create(built, 0, 2)[1], 207000, name, "built without capture")
    assert mdl.ri_destroy(instance) == 0


def added(params, stream, flags=0):
    """Return the code of adding a conditional task."""
    return mdl.ri_add_cond_task(params, stream, flags)[1]


def test_tasks_that_are_not_added(stream, other, words):
    """Each check before the next; the capture has no task afterwards."""
    name = "aclmdlRIAddCondTask"
    begin(stream)
    begin(other)
    mine = Condition(stream, IF, 1)
    foreign = Condition(other, IF, 1)
    good = mine.params
    refused(added({"handle": 0, "type": 3, "size": 0}, other, 1), 107000, name, "params.type is 3")
    refused(added({"handle": 0, "type": IF, "size": 0}, other, 1), 107000, name, "flags is 1")
    refused(added({"handle": 0, "type": IF, "size": 0}, other), 107000, name, "params.handle is NULL")
    struct = ffi.new("aclmdlRICondTaskParams *", {"handle": pointer(mine.handle), "size": 1})
    ret = lib.aclmdlRIAddCondTask(struct[0], pointer(stream), 0)
    refused(ret, 107000, name, "params.modelRIArray is NULL")
    refused(added(foreign.params, stream), 107000, name, "belongs to another modelRI")
    free, _ = rt.create_stream()
    refused(added({**good, "size": 0}, free), 107029, name, "not being captured")
    for kind, size in ((IF, 0), (IF, 3), (WHILE, 0), (WHILE, 2), (SWITCH, 0)):
        refused(added({**good, "type": kind, "size": size}, stream), 107000, name, f"params.size is {size}")
    assert mdl.ri_get_tasks_by_stream(stream) == ([], 0)
    mine.queue(stream)
    refused(added(good, stream), 107000, name, "has a conditional task already")
    assert len(mdl.ri_get_tasks_by_stream(stream)[0]) == 1
    for each in (stream, other):
        check_unharmed(words, each)
    assert rt.destroy_stream(free) == 0


@pytest.mark.strict
def test_a_condition_that_is_no_live_one(stream, words):
    begin(stream)
    refused(added({"handle": stream, "type": IF, "size": 1}, stream), 107000, "aclmdlRIAddCondTask", "live condition")
    check_unharmed(words, stream)


def test_a_group_takes_no_conditions(stream, words):
    begin(stream)
    condition = Condition(stream, IF, 1)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    refused(added(condition.params, stream), 507009, "aclmdlRIAddCondTask", "task group is open")
    assert mdl.ri_capture_task_grp_end(stream)[1] == 0
    check_unharmed(words, stream)


@pytest.mark.strict
def test_conditions_and_bodies_go_with_their_parent(stream, other, words):
    begin(stream)
    condition = queued(stream, IF, 1)
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
    assert mdl.ri_destroy(end(stream)) == 0
    refused(mdl.ri_cond_handle_get_cond_ptr(condition.handle)[1], 107017, "GetCondPtr", "expected a live condition")
    refused(mdl.ri_execute_async(condition.bodies[0], stream), 107017, "aclmdlRIExecuteAsync", "expected a live")
    assert mdl.ri_destroy(condition.bodies[0]) == 0  # unknown by now
    check_free(words, stream, other)


def test_the_slots_of_bodies_are_used_again(stream, other, words):
    """A body's runs are its parent's: an instance that takes the body's place later counts its own from the start."""
    begin(stream)
    loop = queued(stream, WHILE, 1, 20, ASSIGN)
    with body(other, loop.bodies[0]):
        loop.count_down(other)
    instance = end(stream)
    run(instance, stream, 2)
    assert mdl.ri_destroy(instance) == 0
    instances = []
    for _ in range(3):
        begin(stream)
        assert words.count_up(stream, 0) == 0
        instances.append(end(stream))
    with latches(stream) as held:
        held.hold()
        for each in instances:
            assert mdl.ri_execute_async(each, stream) == 0
            refused(mdl.ri_update(each), 107040, "aclmdlRIUpdate", "runs")
        held.release()
        assert rt.synchronize_stream(stream) == 0
    for each in instances:
        assert mdl.ri_update(each) == 0
        assert mdl.ri_destroy(each) == 0
    assert words.read()[0] == 3


# --- failures


@pytest.mark.needs_sim
@pytest.mark.parametrize("kind", [IF, WHILE, SWITCH])
def test_a_failing_task_of_a_body(stream, other, words, kind):
    """The rest of the run is left out, a loop turns no more, and the next run starts anew."""
    codes = [507015]
    begin(stream)
    condition = queued(stream, kind, 1, 2 if kind == WHILE else int(kind == IF), ASSIGN)
    with body(other, condition.bodies[0]):
        assert words.count_up(other, 0) == 0
        condition.count_down(other)
        task = Task(other, lambda: codes[0])
        assert words.count_up(other, 1) == 0
    assert words.count_up(stream, 2) == 0
    instance = end(stream)
    assert mdl.ri_execute_async(instance, stream) == 0
    assert words.count_up(stream, 3) == 0
    refused(rt.synchronize_stream(stream), 507015, "aclsimLaunchTask")
    assert words.read()[:4] == [1, 0, 0, 1]
    codes[0] = 0
    run(instance, stream)
    turns = 2 if kind == WHILE else 1
    assert words.read()[:4] == [1 + turns, turns, 1, 1]
    assert mdl.ri_destroy(instance) == 0
    del task
