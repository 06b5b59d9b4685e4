"""Notifies: flags, and numbers, that streams set and wait for."""

import json

import pytest
from helpers.capture import HEAD, begin, building, end, run
from helpers.expect import latches, pointer, refused

import acl
from acl._lib import ffi, lib

NOT_READY = 1
FOREVER = 0


@pytest.fixture
def notifies(device):
    """Give ``notifies(count)``; they are destroyed at the end."""
    made = []

    def create(count):
        fresh = [acl.rt.create_notify(0) for _ in range(count)]
        assert {ret for _, ret in fresh} == {0}
        made.extend(notify for notify, _ in fresh)
        return [notify for notify, _ in fresh]

    yield create
    for notify in made:
        acl.rt.destroy_notify(notify)


@pytest.fixture
def notify(notifies):
    """Make a notify."""
    return notifies(1)[0]


def waits(stream):
    """Tell that the stream has not got past its wait."""
    return acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046


def test_a_wait_holds_its_stream_back_until_the_record_runs(notify, stream, other):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_notify(notify, stream) == 0
        assert acl.rt.wait_and_reset_notify(notify, other, FOREVER) == 0
        assert acl.rt.stream_query(other) == (NOT_READY, 0)
        assert waits(other)
        held.release()
        assert acl.rt.synchronize_stream(other) == 0


@pytest.mark.finds("race", count=None)
def test_a_record_is_remembered_for_one_wait(notify, stream, other, words):
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.record_notify(notify, stream) == 0  # the flag is set already
    assert acl.rt.synchronize_stream(stream) == 0
    for place in range(2):
        assert acl.rt.wait_and_reset_notify(notify, other, FOREVER) == 0
        assert words.set(other, place, 1) == 0
    assert waits(other)
    assert words.read()[:2] == [1, 0]
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert words.read()[:2] == [1, 1]


def test_a_record_lets_exactly_one_of_two_streams_pass(notifies, streams, stream):
    flag, passed = notifies(2)
    first, second, witness = streams(3)
    for one in (first, second):
        assert acl.rt.wait_and_reset_notify(flag, one, FOREVER) == 0
        assert acl.rt.record_notify(passed, one) == 0
    assert acl.rt.wait_and_reset_notify(passed, witness, FOREVER) == 0
    assert acl.rt.record_notify(flag, stream) == 0
    assert acl.rt.synchronize_stream(witness) == 0
    assert (NOT_READY, 0) in (acl.rt.stream_query(first), acl.rt.stream_query(second))
    assert acl.rt.record_notify(flag, stream) == 0
    assert [acl.rt.synchronize_stream(one) for one in (first, second)] == [0, 0]


def test_many_streams_pass_one_after_another(notify, streams, stream):
    waiting = streams(8)
    for one in waiting:
        assert acl.rt.wait_and_reset_notify(notify, one, FOREVER) == 0
        assert acl.rt.record_notify(notify, one) == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert {acl.rt.synchronize_stream(one) for one in waiting} == {0}


def test_a_wait_runs_out_of_time(notify, stream):
    assert acl.rt.wait_and_reset_notify(notify, stream, 1) == 0
    refused(acl.rt.synchronize_stream(stream), 107020, "aclrtWaitAndResetNotify", "timed out")
    assert acl.rt.synchronize_stream(stream) == 0


def test_the_greatest_time_is_no_limit(notify, stream, other):
    assert acl.rt.wait_and_reset_notify(notify, other, 0xFFFFFFFF) == 0
    assert waits(other)
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0


def test_ids_tell_live_notifies_apart(notifies):
    found = [acl.rt.get_notify_id(notify) for notify in notifies(20)]
    assert {ret for _, ret in found} == {0}
    assert len({number for number, _ in found}) == 20


def test_batch_reset_clears_flags(notifies, stream, other):
    both = notifies(2)
    for notify in both:
        assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.notify_batch_reset(both) == 0
    for notify in both:
        assert acl.rt.wait_and_reset_notify(notify, other, FOREVER) == 0
        assert waits(other)
        assert acl.rt.record_notify(notify, stream) == 0
        assert acl.rt.synchronize_stream(other) == 0


@pytest.mark.strict
def test_a_batch_stops_at_the_first_that_is_wrong(notifies, stream, other):
    cleared, kept = notifies(2)
    for notify in (cleared, kept):
        assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    refused(acl.rt.notify_batch_reset([cleared, 8, kept]), 107017, "aclrtNotifyBatchReset", "notify is 0x8")
    assert acl.rt.wait_and_reset_notify(kept, other, FOREVER) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.wait_and_reset_notify(cleared, other, FOREVER) == 0
    assert waits(other)
    assert acl.rt.record_notify(cleared, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0


@pytest.mark.strict
def test_what_waits_for_a_notify_fails_when_that_is_destroyed(device, stream):
    notify, _ = acl.rt.create_notify(0)
    assert acl.rt.wait_and_reset_notify(notify, stream, FOREVER) == 0
    assert waits(stream)
    assert acl.rt.destroy_notify(notify) == 0
    refused(acl.rt.synchronize_stream(stream), 107017, "aclrtWaitAndResetNotify", "destroyed")


@pytest.mark.strict
def test_a_record_queued_before_its_notify_was_destroyed_fails(device, stream):
    notify, _ = acl.rt.create_notify(0)
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_notify(notify, stream) == 0
        assert acl.rt.destroy_notify(notify) == 0
        held.release()
        refused(acl.rt.synchronize_stream(stream), 107017, "aclrtRecordNotify", "destroyed")


@pytest.mark.needs_sim
def test_a_dropped_wait_leaves_the_flag_alone(notify, stream, other):
    assert acl.rt.wait_and_reset_notify(notify, other, FOREVER) == 0
    assert waits(other)
    assert lib.aclrtStreamStop(pointer(other)) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, other, FOREVER) == 0
    assert acl.rt.synchronize_stream(other) == 0


def test_captured_waits_and_records_take_place_in_each_run(notifies, stream, other, words):
    enter, leave = notifies(2)
    begin(stream)
    assert acl.rt.wait_and_reset_notify(enter, stream, FOREVER) == 0
    assert words.count_up(stream, 0) == 0
    assert acl.rt.record_notify(leave, stream) == 0
    instance = end(stream)
    for count in (1, 2):
        assert acl.mdl.ri_execute_async(instance, stream) == 0
        assert waits(stream)
        assert words.read()[0] == count - 1
        assert acl.rt.record_notify(enter, other) == 0
        assert acl.rt.wait_and_reset_notify(leave, other, FOREVER) == 0
        assert acl.rt.synchronize_stream(other) == 0
        assert words.read()[0] == count
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.mdl.ri_destroy(instance) == 0


def test_streams_of_a_built_instance_wait_for_one_another(notify, stream, words):
    with building(HEAD, HEAD) as (instance, (first, second)):
        assert acl.rt.wait_and_reset_notify(notify, first, FOREVER) == 0
        assert words.copy(first, 1, 0) == 0
        assert words.set(second, 0, 7) == 0
        assert acl.rt.record_notify(notify, second) == 0
        assert acl.mdl.ri_end_task(instance, first) == 0
        assert acl.mdl.ri_build_end(instance) == 0
        run(instance, stream)
        assert words.read()[:2] == [7, 7]


def test_pictures_name_the_notify(notify, stream, tmp_path):
    begin(stream)
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, stream, FOREVER) == 0
    instance = end(stream)
    path = tmp_path / "modelRI.json"
    assert acl.mdl.ri_debug_json_print(instance, str(path), 0) == 0
    number, _ = acl.rt.get_notify_id(notify)
    names = [task["name"] for task in json.loads(path.read_text())]
    assert names == [f"NOTIFY_RECORD_{number}", f"NOTIFY_WAIT_{number}"]
    assert acl.mdl.ri_destroy(instance) == 0


def test_the_synchronisation_address_is_device_memory_that_stays(device):
    place = ffi.new("void *[2]")
    assert [lib.aclrtGetHardwareSyncAddr(place + index) for index in range(2)] == [0, 0]
    assert place[0] == place[1] != ffi.NULL
    if acl.is_simulator:
        assert acl.rt.memset(int(ffi.cast("uintptr_t", place[0])), 64, 0, 64) == 0


COUNTING = """
import acl
from acl._lib import ffi, lib
LESS, EQUAL, BIGGER, BIGGER_OR_EQUAL, BITS = range(5)
SET, ADD, OR, AND = 0, 1, 2, 4
acl.rt.set_device(0)
(first, _), (second, _) = acl.rt.create_stream(), acl.rt.create_stream()
first, second = ffi.cast("void *", first), ffi.cast("void *", second)
place = ffi.new("aclrtCntNotify *")
assert lib.aclrtCntNotifyCreate(place, 0) == 0
notify = place[0]

def record(mode, value):
    assert lib.aclrtCntNotifyRecord(notify, first, ffi.new("aclrtCntNotifyRecordInfo *", [mode, value])) == 0

def wait(mode, value, clear=0, seconds=0):
    info = ffi.new("aclrtCntNotifyWaitInfo *", [mode, value, seconds, clear, [0, 0, 0]])
    assert lib.aclrtCntNotifyWaitWithTimeout(notify, second, info) == 0

def passes():
    assert lib.aclrtSynchronizeStream(first) == 0
    return lib.aclrtSynchronizeStream(second) == 0

def stays():
    assert lib.aclrtSynchronizeStream(first) == 0
    return lib.aclrtSynchronizeStreamWithTimeout(second, 1) == 507046
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("records", "number"),
    [
        ([], 0),
        (["SET 5"], 5),
        (["SET 5", "ADD 3"], 8),
        (["SET 4294967295", "ADD 2"], 1),
        (["SET 6", "OR 9"], 15),
        (["SET 6", "AND 3"], 2),
    ],
)
def test_counting_notifies_compute(run_script, records, number):
    lines = [f"record({line.replace(' ', ', ')})" for line in records]
    code = "\n".join([COUNTING, *lines, f"wait(EQUAL, {number})", "assert passes()"])
    done = run_script(code, {"ACL_SIM_SOC": "Ascend910_95"})
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_counting_waits_are_for_conditions(run_script):
    code = (
        COUNTING
        + """
for mode, value, before, after in [
    (LESS, 3, 3, 2), (EQUAL, 3, 4, 3), (BIGGER, 3, 3, 4), (BIGGER_OR_EQUAL, 3, 2, 3), (BITS, 6, 5, 7),
]:
    record(SET, before)
    assert lib.aclrtSynchronizeStream(first) == 0
    wait(mode, value)
    assert stays(), mode
    record(SET, after)
    assert passes(), mode
record(SET, 9)
wait(EQUAL, 9, clear=1)
wait(EQUAL, 0)
assert passes()
record(SET, 9)
assert lib.aclrtCntNotifyReset(notify, first) == 0
assert lib.aclrtSynchronizeStream(first) == 0
wait(EQUAL, 0)
assert passes()
wait(EQUAL, 1, seconds=1)
assert lib.aclrtSynchronizeStream(second) == 107020
number = ffi.new("uint32_t *")
assert lib.aclrtCntNotifyGetId(notify, number) == 0
wait(EQUAL, 1)
assert stays()
assert lib.aclrtCntNotifyDestroy(notify) == 0
assert lib.aclrtSynchronizeStream(second) == 107017
"""
    )
    done = run_script(code, {"ACL_SIM_SOC": "Ascend910_95"})
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_notifies_are_set_and_waited_for_at_once_without_workers(run_script):
    code = """
import acl
acl.rt.set_device(0)
(first, _), (second, _), (notify, _) = acl.rt.create_stream(), acl.rt.create_stream(), acl.rt.create_notify(0)
assert acl.rt.wait_and_reset_notify(notify, first, 0) == 0
assert acl.rt.stream_query(first) == (1, 0)
assert acl.rt.record_notify(notify, second) == 0
assert acl.rt.stream_query(first) == (0, 0)
"""
    done = run_script(code, {"ACL_SIM_SCHEDULE": "eager"})
    assert done.returncode == 0, done.stderr
