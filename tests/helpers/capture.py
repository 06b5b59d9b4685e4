"""Helpers for tests of captures: words of device memory that tasks set, copy and count up, and captures of tasks."""

import contextlib

import numpy

import acl
from acl import nnop

from .expect import in_thread

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2
SYNC, EXTERNAL = 1, 0x20
HEAD, NOT_HEAD, PERSISTENT = 0, 0x7FFFFFFF, 4
DEVICE_TO_HOST, DEVICE_TO_DEVICE = 2, 3
INT32, ND = 3, 2


class Words:
    """Numbered int32 words of device memory, 0 at first."""

    def __init__(self, count=8):
        self.count = count
        self.address, ret = acl.rt.malloc(4 * count, 0)
        assert ret == 0
        self.clear()
        one = numpy.array([1], "i4").tobytes()
        self.one = acl.create_scalar(acl.util.bytes_to_ptr(one), INT32)

    def at(self, place):
        """Return the address of a word."""
        return self.address + 4 * place

    def set(self, stream, place, value):
        """Queue setting a word's four bytes to ``value``; return ret."""
        return acl.rt.memset_async(self.at(place), 4, value, 4, stream)

    def copy(self, stream, target, source):
        """Queue the copy of one word to another; return ret."""
        return acl.rt.memcpy_async(self.at(target), 4, self.at(source), 4, DEVICE_TO_DEVICE, stream)

    def count_up(self, stream, place, times=1):
        """Queue additions of 1 to a word, each a kernel; return the first code that is not 0."""
        tensor = acl.create_tensor([1], INT32, [1], place, ND, [self.count], self.address)
        codes = []
        for _ in range(times):
            size, executor, ret = nnop.inplace_adds_get_workspace_size(tensor, self.one, self.one)
            codes.append(ret or nnop.inplace_adds(0, size, executor, stream))
        acl.destroy_tensor(tensor)
        return next((code for code in codes if code), 0)

    def clear(self):
        """Set all words to 0 at once."""
        assert acl.rt.memset(self.address, 4 * self.count, 0, 4 * self.count) == 0

    def numbers(self):
        """Return the values of all words."""
        with relaxed():
            host = numpy.empty(self.count, "u4")
            assert acl.rt.memcpy(host.ctypes.data, host.nbytes, self.address, host.nbytes, DEVICE_TO_HOST) == 0
        return host.tolist()

    def read(self):
        """Return all words: the byte that was set, if all bytes of a word are equal, otherwise the number."""
        return [word & 0xFF if word == (word & 0xFF) * 0x01010101 else word for word in self.numbers()]

    def close(self):
        """Free the words."""
        acl.destroy_scalar(self.one)
        acl.rt.free(self.address)


@contextlib.contextmanager
def relaxed():
    """Allow this thread calls that cannot be captured, such as synchronous copies, in the ``with`` block."""
    mode, ret = acl.mdl.ri_capture_thread_exchange_mode(RELAXED)
    assert ret == 0
    try:
        yield
    finally:
        acl.mdl.ri_capture_thread_exchange_mode(mode)


def begin(stream, mode=RELAXED):
    """Begin a capture."""
    assert acl.mdl.ri_capture_begin(stream, mode) == 0, acl.get_recent_err_msg()


def end(stream):
    """End a capture that must succeed; return the instance."""
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0, acl.get_recent_err_msg()
    assert instance != 0
    return instance


def run(instance, stream, times=1):
    """Replay the instance and wait."""
    for _ in range(times):
        assert acl.mdl.ri_execute_async(instance, stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0, acl.get_recent_err_msg()


def status(stream):
    """Return the status of the stream's capture."""
    found, instance, ret = acl.mdl.ri_capture_get_info(stream)
    assert ret == 0 and (instance != 0) == (found != NONE)
    return found


def ex_event():
    """Return an event that can be recorded and waited for in captures."""
    event, ret = acl.rt.create_event_ex_with_flag(SYNC)
    assert ret == 0
    return event


def fork(event, stream, *others):
    """Record on one stream and let the others wait."""
    assert acl.rt.record_event(event, stream) == 0, acl.get_recent_err_msg()
    for other in others:
        assert acl.rt.stream_wait_event(other, event) == 0, acl.get_recent_err_msg()


def check_free(words, *streams):
    """Assert that no stream is captured: work runs at once, and a new capture of each succeeds and can be replayed."""
    for place, stream in enumerate(streams):
        assert status(stream) == NONE
        assert words.set(stream, place, 0xA0 + place) == 0
        assert acl.rt.synchronize_stream(stream) == 0, acl.get_recent_err_msg()
        assert words.read()[place] == 0xA0 + place
        begin(stream)
        assert words.set(stream, place, 0xB0 + place) == 0
        instance = end(stream)
        assert words.read()[place] == 0xA0 + place
        run(instance, stream)
        assert words.read()[place] == 0xB0 + place
        assert acl.mdl.ri_destroy(instance) == 0


def check_unharmed(words, stream, place=0):
    """Assert that the stream's capture is still valid: add a task, end the capture and replay it."""
    assert status(stream) == ACTIVE
    assert words.set(stream, place, 0xC1) == 0
    instance = end(stream)
    assert words.read()[place] != 0xC1
    run(instance, stream)
    assert words.read()[place] == 0xC1
    assert acl.mdl.ri_destroy(instance) == 0
    check_free(words, stream)


def give_up(stream, code):
    """End a capture that must fail with this code."""
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert (instance, ret) == (0, code), acl.get_recent_err_msg()
    assert status(stream) == NONE


def invalidate(stream, other):
    """Begin a capture on each of two streams and invalidate both, by an event that both captures use."""
    event = ex_event()
    begin(stream)
    begin(other)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.stream_wait_event(other, event) == 107032
    assert (status(stream), status(other)) == (INVALIDATED, INVALIDATED)
    assert acl.rt.destroy_event(event) == 0


@contextlib.contextmanager
def building(*flags):
    """Yield an instance to be built, and a persistent stream bound to it per flag; all are destroyed at the end."""
    instance, ret = acl.mdl.ri_build_begin(0)
    assert ret == 0, acl.get_recent_err_msg()
    streams = [acl.rt.create_stream_with_config(0, PERSISTENT)[0] for _ in flags]
    for stream, flag in zip(streams, flags):
        assert acl.mdl.ri_bind_stream(instance, stream, flag) == 0, acl.get_recent_err_msg()
    yield instance, streams
    for stream in streams:
        acl.mdl.ri_unbind_stream(instance, stream)
    assert acl.mdl.ri_destroy(instance) == 0
    for stream in streams:
        acl.rt.destroy_stream(stream)


def in_other_context(function):
    """Return the result of a function in a thread whose current context is a new one of device 0."""

    def start():
        context, ret = acl.rt.create_context(0)
        assert ret == 0
        result = function()
        acl.rt.destroy_context(context)
        return result

    return in_thread(start)
