"""Queues: bytes in and out in order, waiting on both sides, attributes, devices."""

import pytest
from helpers.expect import NULL, Task, in_thread, pointer
from helpers.queues import IMPORTS, attributes, create, put, take, waiter

import acl
from acl._lib import ffi, lib

EMPTY, FULL, GONE = 207013, 207014, 100032


@pytest.fixture
def queue(device):
    """Make a queue that holds two elements."""
    queue = create(2)
    yield queue
    lib.acltdtDestroyQueue(queue)


def test_bytes_come_out_in_order(queue):
    assert [put(queue, b"first"), put(queue, b"second")] == [0, 0]
    assert [take(queue), take(queue)] == [b"first", b"second"]
    assert put(queue, b"third") == 0
    assert take(queue) == b"third"
    assert take(queue) == EMPTY


def test_a_full_queue_takes_nothing(queue):
    assert [put(queue, each) for each in (b"1", b"2", b"3", b"4")] == [0, 0, FULL, FULL]
    assert put(queue, b"5", timeout=1) == FULL
    assert [take(queue), take(queue), take(queue, timeout=1)] == [b"1", b"2", EMPTY]


def test_private_bytes_go_along(queue):
    assert put(queue, b"data", user=bytes(range(96))) == 0
    assert take(queue, user=96) == (b"data", bytes(range(96)))
    assert put(queue, b"data", user=b"abc") == 0
    assert take(queue, user=5) == (b"data", b"abc\0\0")
    assert put(queue, b"data") == 0
    assert take(queue, user=2) == (b"data", b"\0\0")


def test_device_memory_on_both_sides(queue):
    block, _ = acl.rt.malloc(64, 0)
    assert acl.rt.memset(block, 64, 7, 64) == 0
    assert lib.acltdtEnqueueData(queue, pointer(block), 64, NULL, 0, 0, 0) == 0
    assert take(queue) == bytes([7]) * 64
    assert put(queue, b"from host") == 0
    size = ffi.new("size_t *")
    assert lib.acltdtDequeueData(queue, pointer(block), 64, size, NULL, 0, 0) == 0
    out = bytes(64)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(out), 64, block, 64, 2) == 0
    assert (size[0], out) == (9, b"from host" + bytes([7]) * 55)
    assert acl.rt.free(block) == 0


@pytest.mark.strict
def test_what_does_not_fit_stays(queue):
    assert put(queue, b"0123456789") == 0
    data, size = ffi.new("char[]", 9), ffi.new("size_t *")
    assert lib.acltdtDequeueData(queue, data, 9, size, NULL, 0, 0) == 100000
    assert size[0] == 10 and ffi.buffer(data)[:] == bytes(9)
    assert take(queue, room=10) == b"0123456789"


@pytest.mark.parametrize("timeout", [-1, -7, 60000])
def test_taking_waits_for_a_put(queue, timeout):
    taken = waiter(lambda: take(queue, timeout))
    assert put(queue, b"late") == 0
    assert taken.result() == b"late"


@pytest.mark.parametrize("timeout", [-1, 60000])
def test_putting_waits_for_room(queue, timeout):
    assert [put(queue, b"1"), put(queue, b"2")] == [0, 0]
    done = waiter(lambda: put(queue, b"3", timeout))
    assert [take(queue, -1) for _ in range(3)] == [b"1", b"2", b"3"]
    assert done.result() == 0


def test_many_takers_share_what_comes(queue):
    takers = [waiter(lambda: take(queue, -1)) for _ in range(6)]
    for number in range(6):
        assert put(queue, b"%d" % number, timeout=-1) == 0
    assert sorted(each.result() for each in takers) == [b"%d" % number for number in range(6)]
    assert take(queue) == EMPTY


@pytest.mark.strict
def test_destroying_wakes_who_waits(queue):
    taken = waiter(lambda: take(queue, -1))
    assert lib.acltdtDestroyQueue(queue) == 0
    assert taken.result() == GONE
    assert put(queue, b"x") == GONE


@pytest.mark.strict
def test_a_later_queue_has_another_id(queue):
    others = [create() for _ in range(10)]
    assert len({queue, *others}) == 11
    assert [lib.acltdtDestroyQueue(other) for other in others] == [0] * 10
    again = [create() for _ in range(10)]
    assert not set(again) & {queue, *others}
    assert [lib.acltdtDestroyQueue(other) for other in again] == [0] * 10


def test_a_queue_without_attributes_holds_eight(device):
    place = ffi.new("uint32_t *")
    assert lib.acltdtCreateQueue(NULL, place) == 0
    assert [put(place[0], b"x") for _ in range(9)] == [0] * 8 + [FULL]
    assert lib.acltdtDestroyQueue(place[0]) == 0


def test_attributes_can_be_read():
    depth, size, text = ffi.new("uint32_t *"), ffi.new("size_t *"), ffi.new("char **")
    with attributes() as attr:
        assert lib.acltdtGetQueueAttr(attr, 1, 4, size, depth) == 0
        assert (size[0], depth[0]) == (4, 8)
        assert lib.acltdtGetQueueAttr(attr, 0, 8, size, text) == 0
        assert (size[0], ffi.string(text[0])) == (8, b"")
    with attributes(77, b"n" * 127) as attr:
        assert lib.acltdtGetQueueAttr(attr, 1, 4, size, depth) == 0
        assert lib.acltdtGetQueueAttr(attr, 0, 8, size, text) == 0
        assert (depth[0], ffi.string(text[0])) == (77, b"n" * 127)
    with attributes() as attr:  # nothing is left of the former
        assert lib.acltdtGetQueueAttr(attr, 0, 8, size, text) == 0
        assert ffi.string(text[0]) == b""


@pytest.mark.needs_sim
def test_queues_belong_to_a_device():
    acl.sim.reset()
    acl.sim.configure(devices=2)
    assert acl.rt.set_device(0) == 0
    queue = create()
    assert acl.rt.set_device(1) == 0
    assert put(queue, b"x") == GONE
    assert "device 0" in acl.get_recent_err_msg()
    assert acl.rt.set_device(0) == 0
    assert put(queue, b"x") == 0
    acl.sim.reset()
    assert acl.rt.set_device(0) == 0
    assert take(queue) == GONE
    assert acl.rt.reset_device(0) == 0


@pytest.mark.needs_sim
def test_a_task_never_waits_at_a_queue(stream, queue):
    codes = []
    task = Task(stream, lambda: codes.append(take(queue, -1)))
    assert acl.rt.synchronize_stream(stream) == 0
    assert codes == [507000]
    del task


def test_a_child_of_a_fork_has_no_queues(run_script):
    code = """
import os
import acl
from helpers.queues import create, put, take
acl.rt.set_device(0)
queue = create()
assert put(queue, b"parent") == 0
child = os.fork()
if child == 0:
    acl.rt.set_device(0)
    own = create()
    os._exit(0 if put(queue, b"x") == 100032 and put(own, b"child") == 0 and take(own) == b"child" else 1)
assert os.waitpid(child, 0)[1] == 0
assert take(queue) == b"parent"
"""
    done = run_script(code, IMPORTS)
    assert done.returncode == 0, done.stderr


def test_without_a_device():
    place = ffi.new("uint32_t *")
    assert in_thread(lambda: lib.acltdtCreateQueue(NULL, place)) == 107002
