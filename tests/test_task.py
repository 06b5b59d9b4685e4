"""Single tasks: values that are written and waited for, reductions, cache operations, and what is kept with tasks."""

import json

import numpy
import pytest
from helpers.capture import HEAD, begin, building, end, run
from helpers.expect import latches, pointer, refused

import acl
from acl._lib import ffi, lib

AT_LEAST, EQUAL, AND, NOR = range(4)
TO_DEVICE, TO_HOST = 1, 2
SUM, MAX, MIN = 10, 11, 12
FLOAT, FLOAT16, INT8, INT32, INT16, BF16 = 0, 1, 2, 3, 6, 27
ALL = 2**64 - 1


class Memory:
    """Device memory that NumPy arrays go to and come from."""

    def __init__(self, size=4096):
        self.address, ret = acl.rt.malloc(size, 0)
        assert ret == 0

    def put(self, array, at=0):
        """Copy an array to an offset; return its device address."""
        array = numpy.ascontiguousarray(array)
        assert acl.rt.memcpy(self.address + at, array.nbytes, array.ctypes.data, array.nbytes, TO_DEVICE) == 0
        return self.address + at

    def get(self, dtype, count, at=0):
        """Return an array from an offset."""
        array = numpy.empty(count, dtype)
        assert acl.rt.memcpy(array.ctypes.data, array.nbytes, self.address + at, array.nbytes, TO_HOST) == 0
        return array


@pytest.fixture
def memory(device):
    """Make a block of device memory full of zeros."""
    memory = Memory()
    memory.put(numpy.zeros(4096, "u1"))
    yield memory
    acl.rt.free(memory.address)


def waits(stream):
    """Tell that the stream has not got past its wait."""
    return acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046


# --- values


def test_a_value_is_written_in_order(memory, stream):
    with latches(stream) as held:
        held.hold()
        assert acl.rt.value_write(memory.address + 8, 2**63 + 5, 0, stream) == 0
        assert memory.get("u8", 3).tolist() == [0, 0, 0]
        held.release()
        assert acl.rt.synchronize_stream(stream) == 0
    assert memory.get("u8", 3).tolist() == [0, 2**63 + 5, 0]


@pytest.mark.parametrize(
    ("flag", "value", "before", "after"),
    [
        (AT_LEAST, 5, 4, 5),
        (AT_LEAST, 5, 4, 9),
        (AT_LEAST, 1, 2**63 + 2, 2**63),  # the difference counts, as a signed number
        (EQUAL, 5, 6, 5),
        (AND, 6, 9, 2),
        (NOR, 1, ALL, ALL - 2),
    ],
)
def test_a_wait_is_for_a_condition(memory, stream, other, flag, value, before, after):
    memory.put(numpy.array([before], "u8"))
    assert acl.rt.value_wait(memory.address, value, flag, other) == 0
    assert acl.rt.value_write(memory.address + 64, after, 0, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert waits(other)
    assert acl.rt.value_write(memory.address, after, 0, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0


def test_a_condition_that_holds_costs_no_wait(memory, stream):
    memory.put(numpy.array([7], "u8"))
    for flag, value in ((AT_LEAST, 7), (AT_LEAST, 6), (EQUAL, 7), (AND, 4), (NOR, 8)):
        assert acl.rt.value_wait(memory.address, value, flag, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_whatever_writes_the_memory_ends_the_wait(memory, stream, other):
    one = numpy.ones(1, "u8")
    source = memory.put(one, 128)
    writers = {
        "a set on a stream": lambda: acl.rt.memset_async(memory.address, 8, 1, 8, stream),
        "a copy on a stream": lambda: acl.rt.memcpy_async(memory.address, 8, source, 8, 3, stream),
        "a copy by the host": lambda: acl.rt.memcpy(memory.address, 8, one.ctypes.data, 8, TO_DEVICE),
        "a set by the host": lambda: acl.rt.memset(memory.address, 8, 1, 8),
        "a pageable copy": lambda: acl.rt.memcpy_async(memory.address, 8, one.ctypes.data, 8, TO_DEVICE, stream),
        "a 2-D copy": lambda: acl.rt.memcpy2d(memory.address, 8, one.ctypes.data, 8, 8, 1, TO_DEVICE),
    }
    for name, write in writers.items():
        memory.put(numpy.zeros(1, "u8"))
        assert acl.rt.value_wait(memory.address, 1, AND, other) == 0
        assert waits(other), name
        assert write() == 0, name
        assert acl.rt.synchronize_stream(other) == 0, name


def test_many_streams_wait_for_one_value(memory, streams, stream):
    waiting = streams(20)
    for number, one in enumerate(waiting):
        assert acl.rt.value_wait(memory.address, number % 2 + 1, AT_LEAST, one) == 0
    assert acl.rt.value_write(memory.address, 1, 0, stream) == 0
    assert {acl.rt.synchronize_stream(one) for one in waiting[::2]} == {0}
    assert all(acl.rt.stream_query(one) == (1, 0) for one in waiting[1::2])
    assert acl.rt.value_write(memory.address, 2, 0, stream) == 0
    assert {acl.rt.synchronize_stream(one) for one in waiting[1::2]} == {0}


def test_streams_hand_a_value_to_and_fro(memory, stream, other):
    for turn in range(50):
        assert acl.rt.value_wait(memory.address, 2 * turn, EQUAL, stream) == 0
        assert acl.rt.value_write(memory.address, 2 * turn + 1, 0, stream) == 0
        assert acl.rt.value_wait(memory.address, 2 * turn + 1, EQUAL, other) == 0
        assert acl.rt.value_write(memory.address, 2 * turn + 2, 0, other) == 0
    assert [acl.rt.synchronize_stream(one) for one in (stream, other)] == [0, 0]
    assert memory.get("u8", 1).tolist() == [100]


@pytest.mark.strict
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_a_wait_for_memory_that_is_freed_fails(stream, other, words):
    block, _ = acl.rt.malloc(64, 0)
    assert acl.rt.memset(block, 64, 0, 64) == 0
    assert acl.rt.value_wait(block, 1, EQUAL, other) == 0
    assert waits(other)
    assert acl.rt.free(block) == 0
    assert words.set(stream, 0, 1) == 0  # anything that runs
    assert acl.rt.synchronize_stream(stream) == 0
    refused(acl.rt.synchronize_stream(other), 507053, "aclrtValueWait", "freed before it ran")


@pytest.mark.needs_sim
def test_a_wait_that_was_dropped_is_forgotten(memory, stream, other):
    assert acl.rt.value_wait(memory.address, 1, EQUAL, other) == 0
    assert waits(other)
    assert lib.aclrtStreamStop(pointer(other)) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert acl.rt.value_wait(memory.address, 2, EQUAL, other) == 0
    assert acl.rt.value_write(memory.address, 1, 0, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert waits(other)
    assert acl.rt.value_write(memory.address, 2, 0, stream) == 0
    assert acl.rt.synchronize_stream(other) == 0


def test_captured_values_are_waited_for_in_each_run(memory, stream, other, words):
    begin(stream)
    assert acl.rt.value_wait(memory.address, 1, EQUAL, stream) == 0
    assert words.count_up(stream, 0) == 0
    assert acl.rt.value_write(memory.address, 0, 0, stream) == 0
    instance = end(stream)
    for count in (1, 2):
        assert acl.mdl.ri_execute_async(instance, stream) == 0
        assert waits(stream)
        assert acl.rt.value_write(memory.address, 1, 0, other) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert words.read()[0] == count
        assert memory.get("u8", 1).tolist() == [0]
    assert acl.mdl.ri_destroy(instance) == 0


def test_captured_values_are_shown_and_changed(memory, stream):
    begin(stream)
    assert acl.rt.value_write(memory.address, 5, 0, stream) == 0
    assert acl.rt.value_wait(memory.address, 5, AT_LEAST, stream) == 0
    instance = end(stream)
    (own,), _ = acl.mdl.ri_get_streams(instance)
    (write, wait), _ = acl.mdl.ri_get_tasks_by_stream(own)
    assert [acl.mdl.ri_task_get_type(task)[0] for task in (write, wait)] == [5, 6]
    params, ret = acl.mdl.ri_task_get_params(write)
    assert (params["dev_addr"], params["value"], ret) == (memory.address, 5, 0)
    params, ret = acl.mdl.ri_task_get_params(wait)
    assert (params["dev_addr"], params["value"], params["flag"], ret) == (memory.address, 5, AT_LEAST, 0)
    changed = {"type": 5, "dev_addr": memory.address + 8, "value": 9}
    assert acl.mdl.ri_task_set_params(write, changed) == 0
    assert acl.mdl.ri_task_set_params(wait, {"type": 6, "dev_addr": memory.address + 8, "value": 9, "flag": EQUAL}) == 0
    refused(acl.mdl.ri_task_set_params(wait, changed), 107000, "params.type is 5")
    refused(acl.mdl.ri_task_set_params(write, {**changed, "dev_addr": 12}), 107008, "devAddr")
    assert acl.mdl.ri_update(instance) == 0
    run(instance, stream)
    assert memory.get("u8", 2).tolist() == [0, 9]
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.needs_sim
def test_values_without_workers(run_script):
    code = """
import acl
acl.rt.set_device(0)
(first, _), (second, _), (block, _) = acl.rt.create_stream(), acl.rt.create_stream(), acl.rt.malloc(64, 0)
for write in (lambda: acl.rt.value_write(block, 1, 0, second), lambda: acl.rt.memset(block, 8, 1, 8)):
    assert acl.rt.memset(block, 64, 0, 64) == 0
    assert acl.rt.value_wait(block, 1, 2, first) == 0
    assert acl.rt.stream_query(first) == (1, 0)
    assert write() == 0
    assert acl.rt.stream_query(first) == (0, 0)
"""
    done = run_script(code, {"ACL_SIM_SCHEDULE": "eager"})
    assert done.returncode == 0, done.stderr


# --- reductions


def bfloat(numbers):
    """Return numbers, which bfloat16 has, as its bits."""
    return (numpy.asarray(numbers, "f4").view("u4") >> 16).astype("u2")


NUMBERS = [3, -2, 0, 100, -100, 7.5]
OTHERS = [1, 5, -1, 100, -100, 7]


@pytest.mark.parametrize(("kind", "combine"), [(SUM, numpy.add), (MAX, numpy.maximum), (MIN, numpy.minimum)])
@pytest.mark.parametrize(
    ("code", "dtype"), [(FLOAT, "f4"), (FLOAT16, "f2"), (INT8, "i1"), (INT16, "i2"), (INT32, "i4"), (BF16, None)]
)
def test_reductions(memory, stream, code, dtype, kind, combine):
    if dtype is None:
        ours, theirs = bfloat(NUMBERS), bfloat(OTHERS)
        wanted = bfloat(combine(numpy.array(NUMBERS, "f4"), numpy.array(OTHERS, "f4")))
    else:
        ours, theirs = numpy.array(NUMBERS).astype(dtype), numpy.array(OTHERS).astype(dtype)
        wanted = combine(ours, theirs)
    dst, src = memory.put(ours), memory.put(theirs, 512)
    assert acl.rt.reduce_async(dst, src, ours.nbytes, kind, code, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert memory.get(ours.dtype, len(ours)).tolist() == wanted.tolist()
    assert memory.get(ours.dtype, len(ours), 512).tolist() == theirs.tolist()


def test_sums_that_overflow_follow_ieee(memory, stream):
    dst, src = memory.put(numpy.array([60000], "f2")), memory.put(numpy.array([60000], "f2"), 512)
    assert acl.rt.reduce_async(dst, src, 2, SUM, FLOAT16, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert numpy.isinf(memory.get("f2", 1))[0]


@pytest.mark.needs_sim
def test_sums_of_older_chips_saturate(run_script):
    code = """
import numpy
import acl
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
block, _ = acl.rt.malloc(64, 0)
numbers = numpy.array([60000, -60000, 60000, -60000], "f2")
assert acl.rt.memcpy(block, 8, numbers.ctypes.data, 8, 1) == 0
assert acl.rt.reduce_async(block, block + 4, 4, 10, 1, stream, 0) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.memcpy(numbers.ctypes.data, 8, block, 8, 2) == 0
assert numbers.tolist() == [65504, -65504, 60000, -60000], numbers
"""
    done = run_script(code, {"ACL_SIM_SOC": "Ascend310P3"})
    assert done.returncode == 0, done.stderr


def test_captured_reductions_add_up(memory, stream):
    dst, src = memory.put(numpy.zeros(1000, "f4")), memory.put(numpy.ones(20, "f4"), 4000)
    begin(stream)
    assert acl.rt.reduce_async(dst, src, 80, SUM, FLOAT, stream, 0) == 0
    instance = end(stream)
    run(instance, stream, times=3)
    assert memory.get("f4", 21).tolist() == [3] * 20 + [0]
    assert acl.mdl.ri_destroy(instance) == 0


# --- cache operations


def test_prefetching_leaves_memory_as_it_is(memory, stream):
    memory.put(numpy.arange(8, dtype="u1"))
    assert acl.rt.cmo_async(memory.address, 4096, 0, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert memory.get("u1", 8).tolist() == list(range(8))


def test_descriptions_are_read_when_the_task_runs(memory, stream):
    size = ffi.new("size_t *")
    assert lib.aclrtCmoGetDescSize(size) == 0
    desc = pointer(memory.address + 1024)
    assert size[0] >= 16
    assert lib.aclrtCmoSetDesc(desc, pointer(memory.address), 1024) == 0
    assert lib.aclrtCmoAsyncWithDesc(desc, 0, pointer(stream), ffi.NULL) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    with latches(stream) as held:
        held.hold()
        assert lib.aclrtCmoAsyncWithDesc(desc, 0, pointer(stream), ffi.NULL) == 0
        memory.put(numpy.zeros(size[0], "u1"), 1024)
        held.release()
        refused(acl.rt.synchronize_stream(stream), 507053, "aclrtCmoAsyncWithDesc", "memory that is not device memory")


# --- what is kept with tasks


def test_operator_information_stays_with_its_task(memory, stream):
    begin(stream)
    assert acl.rt.value_write(memory.address, 1, 0, stream) == 0
    assert acl.rt.value_write(memory.address, 2, 0, stream) == 0
    assert lib.aclrtCacheLastTaskOpInfo(b"first", 5) == 0
    assert lib.aclrtCacheLastTaskOpInfo(b"second one", 10) == 0
    instance = end(stream)
    (own,), _ = acl.mdl.ri_get_streams(instance)
    tasks, _ = acl.mdl.ri_get_tasks_by_stream(own)
    found = []
    for task in tasks:
        struct = ffi.new("aclmdlRITaskParams *")
        assert lib.aclmdlRITaskGetParams(pointer(task), struct) == 0
        found.append(bytes(ffi.buffer(struct.opInfoPtr, struct.opInfoSize)) if struct.opInfoSize else None)
    assert found == [None, b"second one"]
    assert acl.mdl.ri_destroy(instance) == 0


def test_texts_stand_in_pictures(memory, stream, tmp_path):
    text = '{"name": "a \\"b\\" \\n c"}'
    begin(stream)
    assert acl.rt.value_write(memory.address, 1, 0, stream) == 0
    assert lib.aclrtCacheLastTaskExtendInfo(text.encode(), len(text)) == 0
    assert acl.rt.value_wait(memory.address, 1, EQUAL, stream) == 0
    assert lib.aclrtCacheLastTaskExtendInfo(b"x" * 5000, 5000) == 0
    instance = end(stream)
    path = tmp_path / "modelRI.json"
    assert acl.mdl.ri_debug_json_print(instance, str(path), 0) == 0
    tasks = json.loads(path.read_text())
    assert [task["args"]["ExtendInfo"] for task in tasks] == [text, "x" * 4096]
    assert [task["name"] for task in tasks] == [f"MEM_{what}_VALUE_{memory.address}" for what in ("WRITE", "WAIT")]
    assert acl.mdl.ri_destroy(instance) == 0


def test_tasks_of_bound_streams_are_numbered(memory):
    number = ffi.new("uint32_t *")
    with building(HEAD) as (instance, (bound,)):
        for wanted in range(3):
            assert acl.rt.value_write(memory.address, wanted, 0, bound) == 0
            assert lib.aclrtGetThreadLastTaskId(number) == 0
            assert number[0] == wanted
        assert lib.aclrtCacheLastTaskExtendInfo(b"text", 4) == 0
