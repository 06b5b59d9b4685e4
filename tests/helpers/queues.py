"""Queues of bytes and their attributes, for tests."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import acl
from acl._lib import ffi, lib
from helpers.expect import NULL

ROOM = 64
IMPORTS = {"PYTHONPATH": str(Path(__file__).parents[1])}  # lets scripts import this module


@contextlib.contextmanager
def attributes(depth=None, name=None):
    """Yield a set of queue attributes."""
    attr = lib.acltdtCreateQueueAttr()
    assert attr != NULL
    if depth is not None:
        assert lib.acltdtSetQueueAttr(attr, 1, 4, ffi.new("uint32_t *", depth)) == 0
    if name is not None:
        text = ffi.new("char[]", name)
        assert lib.acltdtSetQueueAttr(attr, 0, 8, ffi.new("char **", text)) == 0
    yield attr
    assert lib.acltdtDestroyQueueAttr(attr) == 0


def create(depth=8):
    """Return the id of a new queue of the current device."""
    place = ffi.new("uint32_t *")
    with attributes(depth) as attr:
        assert lib.acltdtCreateQueue(attr, place) == 0
    return place[0]


def put(queue, data, timeout=0, user=b""):
    """Copy bytes into a queue; return the code."""
    return lib.acltdtEnqueueData(queue, data, len(data), user or NULL, len(user), timeout, 0)


def take(queue, timeout=0, room=ROOM, user=0):
    """Copy bytes out of a queue; return the bytes (with ``user`` bytes of private data), or a code that is not 0."""
    data, private, size = ffi.new("char[]", room), ffi.new("char[]", user or 1), ffi.new("size_t *")
    ret = lib.acltdtDequeueData(queue, data, room, size, private if user else NULL, user, timeout)
    if ret != 0:
        return ret
    found = ffi.buffer(data, size[0])[:]
    return (found, ffi.buffer(private, user)[:]) if user else found


def waiter(function):
    """Start a thread that calls a function with device 0 set; return its future."""

    def run():
        assert acl.rt.set_device(0) == 0
        return function()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(run)
    pool.shutdown(wait=False)
    return future
