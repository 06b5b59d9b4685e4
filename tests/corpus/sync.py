"""Programs whose host code changes memory that a queued copy still uses. Streams are held until it has done so."""

import mmap

import numpy
from helpers.expect import pointer

import acl
from acl import rt
from acl._lib import ffi, lib

from . import Table, transparent

TABLE = Table()
H2D, D2H = 1, 2
SIZE = 4096
HALF = SIZE // 2


class Setting:
    """Two streams, pinned memory as an array of bytes, and a block of device memory; all of it ends with close."""

    def __init__(self):
        assert rt.set_device(0) == 0
        self.one, self.two = (rt.create_stream()[0] for _ in range(2))
        self.block, _ = rt.malloc(SIZE, 0)
        assert rt.memset(self.block, SIZE, 0, SIZE) == 0
        self.pinned, _ = rt.malloc_host(SIZE)
        self.host = numpy.frombuffer(ffi.buffer(pointer(self.pinned), SIZE), "u1")
        self.host[:] = 0
        self.event, _ = rt.create_event()

    @transparent
    def upload(self, stream=None, first=0, size=SIZE):
        """Queue a copy of the pinned bytes to the device."""
        ret = rt.memcpy_async(self.block, SIZE, self.pinned + first, size, H2D, stream or self.one)
        assert ret == 0, acl.get_recent_err_msg()

    @transparent
    def download(self, stream=None, first=0, size=SIZE):
        """Queue a copy of bytes of the device to the pinned memory."""
        ret = rt.memcpy_async(self.pinned + first, size, self.block, size, D2H, stream or self.one)
        assert ret == 0, acl.get_recent_err_msg()

    def hold(self, *streams):
        for stream in streams or [self.one]:
            acl.sim.hold(stream)

    def release(self, *streams):
        """Let the work begin, and wait for it."""
        for stream in streams or [self.one]:
            acl.sim.release(stream)
            assert rt.synchronize_stream(stream) == 0

    def close(self):
        assert rt.synchronize_device() == 0
        rt.destroy_event(self.event)
        rt.free_host(self.pinned)
        rt.free(self.block)
        rt.destroy_stream(self.one)
        rt.destroy_stream(self.two)


def source(*words):
    """Add a program that changes the source of a copy."""
    return TABLE.program("host-write-before-copy", "the host changed the source of ", *words)


def target(*words):
    """Add a program that changes the destination of a copy."""
    return TABLE.program("host-write-to-destination", "the host changed the destination of ", *words)


# ---- sources


@source("aclrtMemcpyAsync", f"{SIZE} bytes")
def an_input_that_is_filled_again(p, right):
    p.hold()
    p.upload()  # first
    if not right:
        p.host[:] = 1
    p.release()
    p.host[:] = 2


@source()
def the_last_byte_of_an_input(p, right):
    p.hold()
    p.upload(size=100)  # first
    p.host[100 if right else 99] = 1
    p.release()


@source()
def the_first_bytes_of_an_input(p, right):
    p.hold()
    p.upload(first=100, size=100)  # first
    p.host[: 100 if right else 101] = 1
    p.release()


@source()
def a_wait_for_the_wrong_stream(p, right):
    p.hold(p.two)
    p.upload(p.two)  # first
    if right:
        acl.sim.release(p.two)
    rt.synchronize_stream(p.two if right else p.one)
    p.host[:] = 1
    if not right:
        p.release(p.two)


@source()
def an_event_recorded_before_the_copy(p, right):
    if not right:
        assert rt.record_event(p.event, p.one) == 0
    p.hold()
    p.upload()  # first
    if right:
        assert rt.record_event(p.event, p.one) == 0
        acl.sim.release(p.one)
    assert rt.synchronize_event(p.event) == 0
    p.host[:] = 1
    if not right:
        p.release()


@source()
def a_query_whose_answer_is_not_heeded(p, right):
    p.hold()
    p.upload()  # first
    if right:
        acl.sim.release(p.one)
    while rt.stream_query(p.one)[0] != 0 and right:
        pass
    p.host[:] = 1
    if not right:
        p.release()


@source()
def one_staging_buffer_for_all_steps(p, right):
    """Two halves may take turns if the one that is filled has been copied."""
    for step in range(4):
        part = HALF * (step % 2)
        if right and step >= 2:
            assert rt.synchronize_stream(p.one) == 0
        p.host[part : part + HALF] = step + 1
        if step == 2 or not right:
            p.hold()
        p.upload(first=part, size=HALF)  # first
        if not right:
            p.host[part] = 99
        if step == 2 or not right:
            p.release()


@source("aclrtMemcpy2dAsync")
def a_row_of_a_matrix(p, right):
    """Rows of 32 bytes, every 64 bytes."""
    p.hold()
    assert rt.memcpy2d_async(p.block, 32, p.pinned, 64, 32, 8, H2D, p.one) == 0  # first
    p.host[5 * 64 + (32 if right else 31)] = 1
    p.release()


@source()
def memory_that_the_program_has_registered(p, right):
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    address = int(ffi.cast("uintptr_t", ffi.from_buffer(pages)))
    assert lib.aclrtHostRegisterV2(pointer(address), SIZE, 0x10000002) == 0, acl.get_recent_err_msg()
    p.hold()
    assert rt.memcpy_async(p.block, 64, address, 64, H2D, p.one) == 0  # first
    pages[64 if right else 63] = 1
    p.release()
    assert lib.aclrtHostUnregister(pointer(address)) == 0


@source()
def a_copy_by_objects(p, right):
    stream = acl.Stream.from_handle(p.one)
    with acl.Buffer(64, kind="host") as host, acl.Buffer(64) as device:
        view = host.numpy()  # each later call would wait for the copy
        p.hold()
        device.copy_from(host, stream=stream)  # first
        if not right:
            view[3] = 1
        p.release()
        view[4] = 1


@source()
def what_an_earlier_copy_still_reads(p, right):
    """The second copy would have read the new bytes."""
    p.hold()
    p.upload(size=64)  # first
    p.upload(first=64, size=64)
    p.host[128 if right else 10] = 1
    p.release()


# ---- destinations


@target("aclrtMemcpyAsync")
def a_result_that_is_cleared_too_late(p, right):
    if right:
        p.host[:] = 1
    p.hold()
    p.download()  # first
    if not right:
        p.host[:] = 1
    p.release()


@target()
def a_note_in_the_last_byte_of_a_result(p, right):
    p.hold()
    p.download(size=100)  # first
    p.host[100 if right else 99] = 1
    p.release()


@target("aclrtMemcpy2dAsync")
def a_column_beside_a_result(p, right):
    p.hold()
    assert rt.memcpy2d_async(p.pinned, 64, p.block, 32, 32, 8, D2H, p.one) == 0  # first
    p.host[64 * 2 + (32 if right else 0)] = 1
    p.release()


@target()
def results_of_two_streams(p, right):
    p.hold(p.one, p.two)
    p.download(p.one, size=HALF)
    p.download(p.two, first=HALF, size=HALF)  # first
    if right:
        acl.sim.release(p.two)
        assert rt.synchronize_stream(p.two) == 0
    p.host[HALF:] += 1
    p.release(p.one, *([] if right else [p.two]))
