"""Events that tie an instance's runs to streams outside: of the older flag, and of the newer records and waits."""

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
    give_up,
    run,
    status,
)
from helpers.expect import latches, pointer, refused

import acl
from acl._lib import lib

mdl, rt = acl.mdl, acl.rt
EXTERNAL, TIME_LINE = 0x20, 8
NOT_READY = (1, 0)  # of aclrtStreamQuery


def record(event, stream, flag=1):
    """Record with a flag, 1: for the outside."""
    return lib.aclrtRecordEventWithFlag(pointer(event), pointer(stream), flag)


def wait(event, stream, flag=1, timeout=0):
    """Wait with a flag, 1: for the outside."""
    return lib.aclrtStreamWaitEventWithFlag(pointer(stream), pointer(event), timeout, flag)


@pytest.fixture
def flag_event(device):
    """Make an event of the older form."""
    event, ret = rt.create_event_with_flag(EXTERNAL)
    assert ret == 0
    yield event
    rt.destroy_event(event)


# --- the older form: events of the external flag are tasks of the run


@pytest.fixture
def waiting(stream, words, flag_event):
    """Make an instance that waits for the event, resets it and copies word 0 to word 1."""
    begin(stream)
    assert rt.stream_wait_event(stream, flag_event) == 0
    assert rt.reset_event(flag_event, stream) == 0
    assert words.copy(stream, 1, 0) == 0
    assert words.count_up(stream, 2) == 0
    instance = end(stream)
    yield instance
    mdl.ri_destroy(instance)


def test_each_round_waits_for_its_record(stream, other, words, flag_event, waiting):
    for value in range(1, 5):
        assert mdl.ri_execute_async(waiting, stream) == 0
        assert rt.stream_query(stream) == NOT_READY
        assert words.read()[2] == value - 1
        assert words.set(other, 0, value) == 0
        assert rt.record_event(flag_event, other) == 0
        assert rt.synchronize_stream(stream) == 0
        assert words.read()[:3] == [value, value, value]


def test_rounds_queued_ahead(stream, other, words, ex, flag_event, waiting):
    """The reset inside keeps a record from serving two rounds."""
    done = [ex() for _ in range(3)]
    for event in done:
        assert mdl.ri_execute_async(waiting, stream) == 0
        assert rt.record_event(event, stream) == 0
    for number, event in enumerate(done, 1):
        assert words.read()[2] == number - 1
        assert rt.query_event_status(event) == (0, 0)
        assert words.set(other, 0, number) == 0
        assert rt.record_event(flag_event, other) == 0
        assert rt.synchronize_event(event) == 0
        assert words.read()[:3] == [number] * 3
    assert rt.synchronize_stream(stream) == 0


def test_a_record_before_the_run_is_remembered(stream, other, words, flag_event, waiting):
    assert words.set(other, 0, 5) == 0
    assert rt.record_event(flag_event, other) == 0
    assert rt.synchronize_stream(other) == 0
    run(waiting, stream)
    assert words.read()[:3] == [5, 5, 1]


def test_without_a_reset_one_record_is_enough(stream, other, words, flag_event):
    begin(stream)
    assert rt.stream_wait_event(stream, flag_event) == 0
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    assert mdl.ri_execute_async(instance, stream) == 0
    assert rt.stream_query(stream) == NOT_READY
    assert rt.record_event(flag_event, other) == 0
    run(instance, stream, 3)
    assert words.read()[0] == 4
    assert rt.reset_event(flag_event, other) == 0
    assert rt.synchronize_stream(other) == 0
    assert mdl.ri_execute_async(instance, stream) == 0
    assert rt.stream_query(stream) == NOT_READY
    assert rt.record_event(flag_event, other) == 0
    assert rt.synchronize_stream(stream) == 0
    assert words.read()[0] == 5
    assert mdl.ri_destroy(instance) == 0


def test_flag_events_join_no_streams(stream, other, words, flag_event):
    """The event does not belong to the capture: other streams and captures may use it, and none of them joins."""
    begin(stream)
    assert rt.stream_wait_event(stream, flag_event) == 0
    assert rt.record_event(flag_event, other) == 0
    assert rt.stream_wait_event(other, flag_event) == 0
    assert (status(stream), status(other)) == (ACTIVE, NONE)
    assert rt.synchronize_stream(other) == 0
    begin(other)
    assert rt.reset_event(flag_event, other) == 0
    assert (status(stream), status(other)) == (ACTIVE, ACTIVE)
    reset = end(other)
    check_unharmed(words, stream)
    run(reset, other)
    assert mdl.ri_destroy(reset) == 0
    check_free(words, stream, other)


def test_only_the_branch_that_waits_is_held(stream, other, words, ex, flag_event):
    """Another branch of the run, and work on the streams it was captured from, goes on."""
    event = ex()
    begin(stream)
    fork(event, stream, other)
    assert rt.stream_wait_event(other, flag_event) == 0
    assert words.set(other, 0, 1) == 0
    assert words.set(stream, 1, 2) == 0
    done, _ = rt.create_event_ex_with_flag(SYNC)
    assert record(done, stream) == 0
    fork(ex(), other, stream)
    instance = end(stream)
    runner, _ = rt.create_stream()
    assert mdl.ri_execute_async(instance, runner) == 0
    assert rt.stream_wait_event(stream, done) == 0
    assert words.set(other, 3, 4) == 0
    assert rt.synchronize_stream(stream) == 0
    assert rt.synchronize_stream(other) == 0
    assert words.read()[:4] == [0, 2, 0, 4]
    assert rt.stream_query(runner) == NOT_READY
    assert rt.record_event(flag_event, other) == 0
    assert rt.synchronize_stream(runner) == 0
    assert words.read()[:4] == [1, 2, 0, 4]
    assert mdl.ri_destroy(instance) == 0
    assert (rt.destroy_event(done), rt.destroy_stream(runner)) == (0, 0)


@pytest.mark.strict
def test_a_captured_record_of_a_flag_event(stream, other, words, flag_event):
    """A run records the event when it reaches it, for a wait that was queued before."""
    begin(stream)
    assert words.set(stream, 0, 6) == 0
    assert rt.record_event(flag_event, stream) == 0
    instance = end(stream)
    assert rt.stream_wait_event(other, flag_event) == 0
    assert words.copy(other, 1, 0) == 0
    assert rt.stream_query(other) == NOT_READY
    assert mdl.ri_execute_async(instance, stream) == 0
    assert rt.synchronize_stream(other) == 0
    assert words.read()[:2] == [6, 6]
    assert mdl.ri_destroy(instance) == 0


# --- the newer form: records and waits with flag 1


@pytest.fixture
def recording(stream, words, ex):
    """Make an instance that counts word 0 up and records an event for the outside; and the event."""
    event = ex()
    begin(stream)
    assert words.count_up(stream, 0) == 0
    assert record(event, stream) == 0, acl.get_recent_err_msg()
    assert words.count_up(stream, 1) == 0
    instance = end(stream)
    yield instance, event
    mdl.ri_destroy(instance)


def test_a_record_is_visible_from_the_call_on(stream, other, words, recording):
    """Nothing is recorded by the capture; the call that queues the run publishes the record, the run reaches it."""
    instance, event = recording
    assert rt.query_event_status(event) == (1, 0)
    for number in range(1, 4):
        with latches(stream) as held:
            held.hold()
            assert mdl.ri_execute_async(instance, stream) == 0
            assert rt.query_event_status(event) == (0, 0)
            assert rt.stream_wait_event(other, event) == 0
            assert words.copy(other, 2, 0) == 0
            assert rt.stream_query(other) == NOT_READY
            assert words.read()[:3] == [number - 1] * 3
            held.release()
            assert rt.synchronize_stream(other) == 0
            assert rt.synchronize_stream(stream) == 0
            assert words.read()[:3] == [number] * 3
        assert rt.synchronize_event(event) == 0
        assert rt.query_event_status(event) == (1, 0)
    assert status(other) == NONE


def test_waits_are_bound_to_the_run_before_them(stream, other, words, ex, recording):
    """A wait after the first of two calls is for the first run."""
    instance, event = recording
    first = ex()
    with latches(stream) as held:
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.record_event(first, stream) == 0
        assert rt.stream_wait_event(other, event) == 0
        assert words.copy(other, 2, 0) == 0
        held.hold()
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.synchronize_stream(other) == 0  # the second run is held
        assert rt.synchronize_event(first) == 0
        assert words.read()[:3] == [1, 1, 1]
        held.release()
    assert words.read()[:2] == [2, 2]


@pytest.mark.needs_sim
def test_a_run_that_is_discarded_lets_the_outside_go(stream, other, words, recording):
    instance, event = recording
    runner, _ = rt.create_stream()
    acl.sim.hold(runner)
    assert mdl.ri_execute_async(instance, runner) == 0
    assert rt.stream_wait_event(other, event) == 0
    assert words.set(other, 2, 3) == 0
    assert rt.stream_query(other) == NOT_READY
    assert rt.destroy_stream_force(runner) == 0
    assert rt.synchronize_stream(other) == 0
    assert words.read()[:3] == [0, 0, 3]
    run(instance, stream)
    assert words.read()[:2] == [1, 1]
    assert rt.synchronize_event(event) == 0


@pytest.fixture
def bound(stream, words, ex):
    """Make an instance that waits for an event from the outside and copies word 0 to word 1; and the event."""
    event = ex()
    begin(stream)
    assert wait(event, stream) == 0, acl.get_recent_err_msg()
    assert words.copy(stream, 1, 0) == 0
    instance = end(stream)
    yield instance, event
    mdl.ri_destroy(instance)


def test_a_wait_for_nothing_passes(stream, words, bound):
    instance, _ = bound
    assert words.set(stream, 0, 9) == 0
    run(instance, stream)
    assert words.read()[:2] == [9, 9]


def test_a_wait_is_for_the_newest_record_at_the_call(stream, other, words, bound):
    instance, event = bound
    with latches(other) as held:
        held.hold()
        assert words.set(other, 0, 1) == 0
        assert rt.record_event(event, other) == 0
        assert mdl.ri_execute_async(instance, stream) == 0
        held.hold()
        assert words.set(other, 0, 2) == 0
        assert rt.record_event(event, other) == 0  # after the call: this run does not wait for it
        assert rt.stream_query(stream) == NOT_READY
        assert words.read()[:2] == [0, 0]
        held.release()
        assert rt.synchronize_stream(stream) == 0
        assert words.read()[:2] == [1, 1]
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.stream_query(stream) == NOT_READY
        held.release()
        assert rt.synchronize_stream(stream) == 0
        assert words.read()[:2] == [2, 2]


def test_a_destroyed_event_holds_nothing_up(stream, words):
    event, _ = rt.create_event_ex_with_flag(SYNC)
    begin(stream)
    assert wait(event, stream) == 0
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    assert rt.destroy_event(event) == 0
    run(instance, stream, 2)
    assert words.read()[0] == 2
    assert mdl.ri_destroy(instance) == 0


def test_two_instances_hand_over(stream, other, words, ex):
    """One instance records, another one waits: the order of the calls decides."""
    event = ex()
    begin(stream)
    assert words.count_up(stream, 0) == 0
    assert record(event, stream) == 0
    first = end(stream)
    begin(other)
    assert wait(event, other) == 0
    assert words.copy(other, 1, 0) == 0
    second = end(other)
    with latches(stream) as held:
        for number in range(1, 4):
            held.hold()
            assert mdl.ri_execute_async(first, stream) == 0
            assert mdl.ri_execute_async(second, other) == 0
            assert rt.stream_query(other) == NOT_READY
            held.release()
            assert rt.synchronize_stream(other) == 0
            assert words.read()[:2] == [number, number]
    assert [mdl.ri_destroy(each) for each in (first, second)] == [0, 0]
    check_free(words, stream, other)


# --- what the newer form refuses

FORMS = {"aclrtRecordEventWithFlag": record, "aclrtStreamWaitEventWithFlag": wait}


@pytest.mark.parametrize("name", FORMS)
def test_once_for_one_thing(stream, words, ex, name):
    """An event is recorded or waited for, once in a capture; another capture may use it anew."""
    event = ex()
    begin(stream)
    assert FORMS[name](event, stream) == 0
    for again in FORMS:
        refused(FORMS[again](event, stream), 107000, again, "external event of this capture already", "once")
    check_unharmed(words, stream)
    begin(stream)
    assert FORMS[name](event, stream) == 0
    check_unharmed(words, stream)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", FORMS)
def test_the_first_flag_stays(stream, other, words, ex, name, first):
    """Even when the call failed, and for records and waits apart."""
    event = ex()
    call = FORMS[name]
    if first == 1:
        refused(call(event, other), 107029, name, "flag is 1 (external)", "stream that is being captured")
    else:
        assert call(event, other, 0) == 0
    begin(stream)
    refused(call(event, stream, 1 - first), 107000, name, f"flag is {1 - first}", f"expected {first}")
    other_name = next(each for each in FORMS if each != name)
    assert FORMS[other_name](event, stream, 1) == 0
    check_unharmed(words, stream)


@pytest.mark.parametrize("name", FORMS)
def test_bad_calls(stream, other, words, ex, name):
    call = FORMS[name]
    wrong = [
        rt.create_event()[0],
        rt.create_event_with_flag(SYNC)[0],
        rt.create_event_with_flag(EXTERNAL)[0],
        rt.create_event_ex_with_flag(SYNC | TIME_LINE)[0],
        rt.create_event_ex_with_flag(TIME_LINE)[0],
    ]
    begin(stream)
    for event in wrong:
        refused(call(event, stream), 207000, name, "flag is 1 (external)", "ACL_EVENT_SYNC alone")
        refused(call(event, other), 207000, name, "flag is 1 (external)")  # before the stream is asked
        assert rt.destroy_event(event) == 0
    event = ex()
    refused(call(event, stream, 2), 100000, name, "flag is 2", "0 or 1")
    if name == "aclrtStreamWaitEventWithFlag":
        refused(wait(event, stream, 1, 3), 100000, name, "timeout is 3", "expected 0")
    assert call(event, stream) == 0
    check_unharmed(words, stream)
    check_free(words, other)


def test_external_events_do_not_bring_a_stream_back(stream, other, words, ex):
    event = ex()
    begin(stream)
    fork(ex(), stream, other)
    assert record(event, other) == 0
    assert rt.stream_wait_event(stream, ex()) == 0
    give_up(stream, 107025)
    check_free(words, stream, other)


def test_a_group_takes_no_external_events(stream, words, ex):
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    for name, call in FORMS.items():
        refused(call(ex(), stream), 507009, name, "task group is open")
    assert mdl.ri_capture_task_grp_end(stream)[1] == 0
    check_unharmed(words, stream)


def test_kinds_of_tasks(stream, other, words, ex, flag_event):
    """What lists say of external events: records, waits and resets, with the events and their flags."""
    recorded, waited = ex(), ex()
    begin(stream)
    assert record(recorded, stream) == 0
    assert wait(waited, stream) == 0
    assert rt.stream_wait_event(stream, flag_event) == 0
    assert rt.reset_event(flag_event, stream) == 0
    instance = end(stream)
    tasks = mdl.ri_get_tasks_by_stream(mdl.ri_get_streams(instance)[0][0])[0]
    found = [mdl.ri_task_get_params(task) for task in tasks]
    assert {ret for _, ret in found} == {0}
    keys = ("type", "event", "event_flag", "flag")
    assert [tuple(params[key] for key in keys) for params, _ in found] == [
        (2, recorded, SYNC, 1),
        (3, waited, SYNC, 1),
        (3, flag_event, EXTERNAL, 0),
        (4, flag_event, EXTERNAL, 0),
    ]
    for task in tasks:
        refused(mdl.ri_task_set_params(task, {"type": 2}), 107000, "aclmdlRITaskSetParams", "expected a kernel")
    assert rt.record_event(flag_event, other) == 0
    run(instance, stream)
    assert mdl.ri_destroy(instance) == 0
