"""What tests of captures need: words of device memory that tasks set, copy and count up, and captures around them."""

import contextlib

import numpy

import acl
from acl import nnop

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2
SYNC, EXTERNAL = 1, 0x20
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
        tensor = acl.create_tensor([1], INT32, [1], 0, ND, [1], self.at(place))
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
        """Return all words as they are."""
        with relaxed():
            host = numpy.empty(self.count, "u4")
            assert acl.rt.memcpy(host.ctypes.data, host.nbytes, self.address, host.nbytes, DEVICE_TO_HOST) == 0
        return host.tolist()

    def read(self):
        """Return all words, as bytes that were set or numbers that were counted: a word of equal bytes is the byte."""
        return [word & 0xFF if word == (word & 0xFF) * 0x01010101 else word for word in self.numbers()]

    def close(self):
        """Free the words."""
        acl.destroy_scalar(self.one)
        acl.rt.free(self.address)


@contextlib.contextmanager
def relaxed():
    """Let this thread make unsafe calls meanwhile."""
    mode, ret = acl.mdl.ri_capture_thread_exchange_mode(RELAXED)
    assert ret == 0
    yield
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
    """Run the instance and wait."""
    for _ in range(times):
        assert acl.mdl.ri_execute_async(instance, stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0, acl.get_recent_err_msg()


def status(stream):
    """Return what the stream says of its capture."""
    found, instance, ret = acl.mdl.ri_capture_get_info(stream)
    assert ret == 0 and (instance != 0) == (found != NONE)
    return found


def ex_event():
    """Return an event that ties the streams of a capture together."""
    event, ret = acl.rt.create_event_ex_with_flag(SYNC)
    assert ret == 0
    return event


def fork(event, stream, *others):
    """Record on one stream and let the others wait."""
    assert acl.rt.record_event(event, stream) == 0, acl.get_recent_err_msg()
    for other in others:
        assert acl.rt.stream_wait_event(other, event) == 0, acl.get_recent_err_msg()
