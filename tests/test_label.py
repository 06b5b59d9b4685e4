"""Streams of a built instance that start one another, jump to labels, and go on with other streams."""

import json

import numpy
import pytest
from helpers.capture import HEAD, NOT_HEAD, PERSISTENT, building, run
from helpers.expect import Task, needs_workers, pointer, refused

import acl
from acl._lib import ffi, lib

EQ, NE, GT, GE, LT, LE = range(6)
INT32, INT64 = 0, 1


@pytest.fixture
def labels(device):
    """Give ``labels(count)``: a list of labels and the handles of these; all are destroyed at the end."""
    made = []

    def create(count):
        place = ffi.new("aclrtLabel[]", count)
        for index in range(count):
            assert lib.aclrtCreateLabel(place + index) == 0
        group = ffi.new("aclrtLabelList *")
        assert lib.aclrtCreateLabelList(place, count, group) == 0
        made.append((group[0], list(place)))
        return group[0], list(place)

    yield create
    for group, members in made:
        assert lib.aclrtDestroyLabelList(group) == 0
        assert {lib.aclrtDestroyLabel(label) for label in members} == {0}


@pytest.fixture
def numbers(device):
    """Give ``numbers(dtype, *values)``, the device address of these values."""
    made = []

    def create(dtype, *values):
        array = numpy.array(values, dtype)
        address, ret = acl.rt.malloc(array.nbytes, 0)
        made.append(address)
        assert ret == 0 and acl.rt.memcpy(address, array.nbytes, array.ctypes.data, array.nbytes, 1) == 0
        return address

    yield create
    for address in made:
        acl.rt.free(address)


def finish(instance, bound):
    """End the last stream and the instance."""
    assert acl.mdl.ri_end_task(instance, bound) == 0
    assert acl.mdl.ri_build_end(instance) == 0, acl.get_recent_err_msg()


def switch(left, cond, right, kind, to, stream):
    """Queue going on with another stream; return ret."""
    return lib.aclrtSwitchStream(pointer(left), cond, pointer(right), kind, pointer(to), ffi.NULL, pointer(stream))


def test_an_activated_stream_runs_after_what_activates_it(stream, words):
    first, ret = acl.rt.create_stream_with_config(0, PERSISTENT)
    second, ret = acl.rt.create_stream_with_config(0, PERSISTENT)
    assert ret == 0
    instance, ret = acl.mdl.ri_build_begin(0)
    assert ret == 0
    assert acl.mdl.ri_bind_stream(instance, first, HEAD) == 0
    assert acl.mdl.ri_bind_stream(instance, second, NOT_HEAD) == 0
    assert words.copy(second, 1, 0) == 0
    assert words.set(first, 0, 3) == 0
    assert acl.rt.active_stream(second, first) == 0
    assert words.set(first, 2, 4) == 0
    finish(instance, first)
    assert words.read()[:3] == [0, 0, 0]
    run(instance, stream)
    assert words.read()[:3] == [3, 3, 4]
    for one in (first, second):
        assert acl.mdl.ri_unbind_stream(instance, one) == 0
    assert acl.mdl.ri_destroy(instance) == 0
    for one in (first, second):
        assert acl.rt.destroy_stream(one) == 0


@pytest.mark.parametrize("kind", [INT32, INT64])
@pytest.mark.parametrize(
    ("cond", "held", "failed"),
    [
        (EQ, [(3, 3)], [(3, 4)]),
        (NE, [(3, 4)], [(3, 3)]),
        (GT, [(4, 3), (0, -1)], [(3, 3), (-1, 0)]),
        (GE, [(3, 3), (4, 3)], [(2, 3)]),
        (LT, [(2, 3), (-1, 0)], [(3, 3)]),
        (LE, [(3, 3), (2, 3)], [(4, 3)]),
    ],
)
def test_a_switch_goes_on_with_the_other_stream_when_its_condition_holds(
    stream, words, numbers, kind, cond, held, failed
):
    size = 8 if kind == INT64 else 4
    left, right = numbers(f"i{size}", 0), numbers(f"i{size}", 0)
    with building(HEAD, NOT_HEAD) as (instance, (main, other)):
        assert words.set(main, 0, 1) == 0
        assert switch(left, cond, right, kind, other, main) == 0
        assert words.set(main, 1, 2) == 0
        assert words.set(other, 2, 3) == 0
        finish(instance, main)
        for pair, wanted in [(pair, [1, 0, 3]) for pair in held] + [(pair, [1, 2, 0]) for pair in failed]:
            for address, value in zip((left, right), pair):
                array = numpy.array([value], f"i{size}")
                assert acl.rt.memcpy(address, size, array.ctypes.data, size, 1) == 0
            words.clear()
            run(instance, stream)
            assert words.read()[:3] == wanted, pair


def test_two_switches_may_share_a_stream_and_an_empty_one_ends_the_run(stream, words, numbers):
    zero, one = numbers("i4", 0), numbers("i4", 1)
    with building(HEAD, NOT_HEAD, NOT_HEAD) as (instance, (main, other, empty)):
        assert switch(zero, EQ, one, INT32, other, main) == 0
        assert switch(zero, NE, one, INT32, other, main) == 0
        assert words.set(main, 0, 1) == 0
        assert words.count_up(other, 1) == 0
        assert switch(zero, LT, one, INT32, empty, other) == 0
        assert words.set(other, 2, 1) == 0
        finish(instance, main)
        run(instance, stream, times=3)
        assert words.read()[:3] == [0, 3, 0]


@pytest.mark.parametrize(("index", "wanted"), [(0, [1, 2, 3]), (1, [0, 2, 3]), (2, [0, 0, 3]), (9, [0, 0, 3])])
def test_an_index_chooses_the_label_to_go_on_at(stream, words, numbers, labels, index, wanted):
    place = numbers("u4", index)
    group, members = labels(3)
    with building(HEAD, NOT_HEAD) as (instance, (main, other)):
        for number, label in enumerate(members):
            assert lib.aclrtSetLabel(label, pointer(other)) == 0
            assert words.set(other, number, number + 1) == 0
        assert lib.aclrtSwitchLabelByIndex(pointer(place), 3, group, pointer(main)) == 0
        assert words.set(main, 3, 9) == 0
        finish(instance, main)
        run(instance, stream)
        assert words.read()[:4] == [*wanted, 0]


def test_fewer_labels_may_be_named_than_the_list_has(stream, words, numbers, labels):
    group, members = labels(2)
    with building(HEAD) as (instance, (main,)):
        assert lib.aclrtSwitchLabelByIndex(pointer(numbers("u4", 1)), 1, group, pointer(main)) == 0
        assert words.set(main, 0, 1) == 0
        assert lib.aclrtSetLabel(members[0], pointer(main)) == 0  # ahead of the switch
        assert words.set(main, 1, 1) == 0
        finish(instance, main)
        run(instance, stream)
        assert words.read()[:2] == [0, 1]


def test_a_loop_jumps_back_until_its_counter_is_there(stream, words, numbers, labels):
    group, members = labels(1)
    zero, limit = numbers("u4", 0), numbers("i4", 5)
    with building(HEAD, NOT_HEAD, NOT_HEAD) as (instance, (main, out, back)):
        assert lib.aclrtSetLabel(members[0], pointer(main)) == 0
        assert words.count_up(main, 0) == 0
        assert switch(words.at(0), LT, limit, INT32, back, main) == 0
        assert acl.rt.active_stream(out, main) == 0
        assert lib.aclrtSwitchLabelByIndex(pointer(zero), 1, group, pointer(back)) == 0
        assert words.copy(out, 1, 0) == 0
        finish(instance, main)
        for _ in range(2):
            words.clear()
            run(instance, stream)
            assert words.numbers()[:2] == [5, 5]


@pytest.mark.needs_sim
def test_an_endless_loop_ends_with_its_stream(stream, other, words, numbers, labels):
    needs_workers()
    group, members = labels(1)
    reached = []
    with building(HEAD) as (instance, (main,)):
        assert lib.aclrtSetLabel(members[0], pointer(main)) == 0
        task = Task(main, lambda: reached.append(1))
        assert lib.aclrtSwitchLabelByIndex(pointer(numbers("u4", 0)), 1, group, pointer(main)) == 0
        finish(instance, main)
        assert acl.mdl.ri_execute_async(instance, other) == 0
        while len(reached) < 3:
            assert acl.rt.stream_query(other) == (1, 0)
        assert acl.rt.destroy_stream_force(other) == 0
        count = len(reached)
        assert acl.rt.synchronize_stream(stream) == 0
        assert len(reached) == count
    del task


@pytest.mark.needs_sim
def test_a_loop_without_workers_lets_other_streams_run(run_script):
    code = """
import numpy
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
(stream, _), (other, _), (block, _) = acl.rt.create_stream(), acl.rt.create_stream(), acl.rt.malloc(64, 0)
notify, _ = acl.rt.create_notify(0)
main, back = (ffi.cast("void *", acl.rt.create_stream_with_config(0, 4)[0]) for _ in range(2))
numbers = numpy.array([0, 1, 0, 0], "i4")
assert acl.rt.memcpy(block, 16, numbers.ctypes.data, 16, 1) == 0
at = lambda place: ffi.cast("void *", block + 4 * place)
instance, _ = acl.mdl.ri_build_begin(0)
assert lib.aclmdlRIBindStream(ffi.cast("void *", instance), main, 0) == 0
assert lib.aclmdlRIBindStream(ffi.cast("void *", instance), back, 0x7FFFFFFF) == 0
label, group = ffi.new("aclrtLabel *"), ffi.new("aclrtLabelList *")
assert lib.aclrtCreateLabel(label) == 0
assert lib.aclrtCreateLabelList(label, 1, group) == 0
assert lib.aclrtRecordNotify(ffi.cast("void *", notify), main) == 0
assert lib.aclrtSetLabel(label[0], main) == 0
assert lib.aclrtSwitchStream(at(0), 1, at(1), 0, back, ffi.NULL, main) == 0
assert lib.aclrtSwitchLabelByIndex(at(2), 1, group[0], back) == 0
assert lib.aclmdlRIEndTask(ffi.cast("void *", instance), main) == 0
assert acl.mdl.ri_build_end(instance) == 0
assert acl.rt.wait_and_reset_notify(notify, other, 0) == 0
assert acl.rt.memset_async(block, 1, 1, 1, other) == 0
assert acl.mdl.ri_execute_async(instance, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
"""
    done = run_script(code, {"ACL_SIM_SCHEDULE": "eager"})
    assert done.returncode == 0, done.stderr


def test_labels_are_free_again_when_their_instance_is_gone(stream, words, labels):
    group, members = labels(1)
    for _ in range(2):
        with building(HEAD) as (_, (main,)):
            assert lib.aclrtSetLabel(members[0], pointer(main)) == 0
            refused(lib.aclrtSetLabel(members[0], pointer(main)), 507000, "aclrtSetLabel", "is set already")


def test_a_cleared_stream_can_be_filled_anew(stream, words, numbers, labels):
    group, members = labels(1)
    with building(HEAD, NOT_HEAD) as (instance, (main, other)):
        assert words.set(other, 0, 1) == 0
        assert words.set(main, 1, 1) == 0
        assert acl.rt.active_stream(other, main) == 0
        assert lib.aclrtSetLabel(members[0], pointer(main)) == 0
        assert lib.aclrtPersistentTaskClean(pointer(main)) == 0
        assert words.set(main, 2, 1) == 0
        assert acl.rt.active_stream(other, main) == 0
        assert lib.aclrtSetLabel(members[0], pointer(main)) == 0
        finish(instance, main)
        run(instance, stream)
        assert words.read()[:3] == [1, 0, 1]
        refused(lib.aclrtPersistentTaskClean(pointer(main)), 507011, "aclrtPersistentTaskClean", "built already")
        assert acl.mdl.ri_unbind_stream(instance, main) == 0
        assert lib.aclrtPersistentTaskClean(pointer(main)) == 0
        run(instance, stream)


def test_pictures_show_labels_and_switches(stream, words, numbers, labels, tmp_path):
    group, members = labels(1)
    with building(HEAD) as (instance, (main,)):
        assert lib.aclrtSwitchLabelByIndex(pointer(numbers("u4", 0)), 1, group, pointer(main)) == 0
        assert lib.aclrtSetLabel(members[0], pointer(main)) == 0
        finish(instance, main)
        path = tmp_path / "modelRI.json"
        assert acl.mdl.ri_debug_json_print(instance, str(path), 0) == 0
        assert [task["name"] for task in json.loads(path.read_text())] == ["STREAM_SWITCH", "LABEL_SET"]
