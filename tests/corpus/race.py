"""Programs in which nothing orders two accesses of the same bytes."""

import threading

import numpy
from helpers.capture import ex_event
from helpers.expect import pointer

import acl
from acl import nnop, rt
from acl._lib import ffi, lib

from . import Table, transparent

TABLE = Table()

H2D, D2H, D2D = 1, 2, 3
FLOAT, ND = 0, 2
SIZE = 4096


class Setting:
    """Two streams, a host buffer and blocks that a program uses; everything is released at the end."""

    def __init__(self):
        assert rt.set_device(0) == 0
        self.one, self.two, self.three = (rt.create_stream()[0] for _ in range(3))
        self.a, self.b, self.c = (rt.malloc(SIZE, 0)[0] for _ in range(3))
        for block in self.a, self.b, self.c:
            assert rt.memset(block, SIZE, 0, SIZE) == 0
        self.pinned, _ = rt.malloc_host(SIZE)
        self.plain = numpy.zeros(SIZE, "u1")
        self.event, _ = rt.create_event()

    @transparent
    def set(self, stream, block=None, first=0, size=SIZE):
        """Write bytes of a block."""
        assert rt.memset_async((block or self.a) + first, size, 7, size, stream) == 0, acl.get_recent_err_msg()

    @transparent
    def copy(self, stream, target, source, size=SIZE, kind=D2D):
        """Copy bytes from one block to another."""
        assert rt.memcpy_async(target, size, source, size, kind, stream) == 0, acl.get_recent_err_msg()

    @transparent
    def follow(self, later, earlier, event=None):
        """Let one stream wait for the work queued on another."""
        event = event or self.event
        assert rt.record_event(event, earlier) == 0
        assert rt.stream_wait_event(later, event) == 0

    @transparent
    def fetch(self, source, size=SIZE):
        """Copy to the host at once."""
        assert rt.memcpy(self.plain.ctypes.data, size, source, size, D2H) == 0, acl.get_recent_err_msg()

    @transparent
    def store(self, target, size=SIZE):
        """Copy from the host at once."""
        assert rt.memcpy(target, size, self.plain.ctypes.data, size, H2D) == 0

    @transparent
    def negate(self, stream, target, source, shape, strides, first=(0, 0)):
        """Run an operator on views of two blocks; the offsets of their first elements are ``first``."""
        tensors = [
            acl.create_tensor(shape, FLOAT, strides, offset, ND, [SIZE // 4], block)
            for block, offset in ((source, first[0]), (target, first[1]))
        ]
        size, executor, ret = nnop.neg_get_workspace_size(*tensors)
        assert ret == 0, acl.get_recent_err_msg()
        assert size == 0
        assert nnop.neg(0, size, executor, stream) == 0, acl.get_recent_err_msg()
        for tensor in tensors:
            acl.destroy_tensor(tensor)

    def finish(self):
        """Wait for everything."""
        assert rt.synchronize_device() == 0, acl.get_recent_err_msg()


# ---- two streams and events ----


@TABLE.program("race", "reads bytes 0 to 4095", "still write")
def write_then_read(p, right):
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "writes bytes 0 to 4095", "still read")
def read_then_write(p, right):
    p.copy(p.one, p.b, p.a)  # first
    if right:
        p.follow(p.two, p.one)
    p.set(p.two)  # second


@TABLE.program("race", "writes bytes", "still write")
def write_twice(p, right):
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one)
    p.set(p.two)  # second


@TABLE.program("race", "writes bytes 1000 to 1009")
def overlap_of_ten_bytes(p, right):
    p.set(p.one, p.a, 0, 1010)  # first
    p.set(p.two, p.a, 1010 if right else 1000, 500)  # second


@TABLE.program("race", "still write")
def record_before_the_task(p, right):
    if not right:
        rt.record_event(p.event, p.one)
    p.set(p.one)  # first
    if right:
        rt.record_event(p.event, p.one)
    rt.stream_wait_event(p.two, p.event)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still write")
def wait_behind_the_task(p, right):
    p.set(p.one)  # first
    rt.record_event(p.event, p.one)
    if right:
        rt.stream_wait_event(p.two, p.event)
    p.copy(p.two, p.b, p.a)  # second
    if not right:
        rt.stream_wait_event(p.two, p.event)


@TABLE.program("race", "still write")
def wait_on_the_wrong_stream(p, right):
    p.set(p.one)  # first
    p.follow(p.two if right else p.three, p.one)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still write")
def chain_of_three_streams(p, right):
    p.set(p.one)  # first
    p.follow(p.two, p.one)
    if right:
        p.follow(p.three, p.two)
    p.copy(p.three, p.b, p.a)  # second


@TABLE.program("race", "still write")
def chain_recorded_too_early(p, right):
    between, _ = rt.create_event()
    if not right:
        rt.record_event(between, p.two)
    p.set(p.one)  # first
    p.follow(p.two, p.one)
    if right:
        rt.record_event(between, p.two)
    rt.stream_wait_event(p.three, between)
    p.copy(p.three, p.b, p.a)  # second


@TABLE.program("race", "still write")
def default_stream_is_a_stream(p, right):
    p.set(0)  # first
    if right:
        p.follow(p.two, 0)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still read")
def double_buffers(p, right):
    """The producer must wait until the consumer has read the buffer that it fills again."""
    ready, free = ([rt.create_event()[0] for _ in range(2)] for _ in range(2))
    for step in range(8):
        buffer = (p.a, p.b)[step % 2]
        if step >= 2 and right:
            rt.stream_wait_event(p.one, free[step % 2])
        p.set(p.one, buffer)  # first
        rt.record_event(ready[step % 2], p.one)
        rt.stream_wait_event(p.two, ready[step % 2])
        p.copy(p.two, p.c, buffer)  # second
        rt.record_event(free[step % 2], p.two)


@TABLE.program("race", "still write")
def ex_events(p, right):
    event = ex_event()
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one, event)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still write")
def flag_events(p, right):
    event, _ = rt.create_event_with_flag(1)
    if not right:
        rt.record_event(event, p.one)
    p.set(p.one)  # first
    if right:
        rt.record_event(event, p.one)
    rt.stream_wait_event(p.two, event)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still write")
def destroyed_event(p, right):
    event, _ = rt.create_event()
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one, event)
    rt.destroy_event(event)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still write")
def notifies(p, right):
    notify, _ = rt.create_notify(0)
    if not right:
        rt.record_notify(notify, p.one)
    p.set(p.one)  # first
    if right:
        rt.record_notify(notify, p.one)
    assert rt.wait_and_reset_notify(notify, p.two, 0) == 0
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "still write")
def values(p, right):
    rt.memset(p.c, SIZE, 0, SIZE)
    if not right:
        assert rt.value_write(p.c, 1, 0, p.one) == 0
    p.set(p.one)  # first
    if right:
        assert rt.value_write(p.c, 1, 0, p.one) == 0
    assert rt.value_wait(p.c, 1, 1, p.two) == 0
    p.copy(p.two, p.b, p.a)  # second


# ---- the host ----


@TABLE.program("race", "the host reads bytes", "still write")
def results_without_synchronise(p, right):
    p.set(p.one)  # first
    if right:
        rt.synchronize_stream(p.one)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host writes bytes", "still read")
def inputs_replaced_too_early(p, right):
    p.copy(p.one, p.b, p.a)  # first
    if right:
        rt.synchronize_stream(p.one)
    p.store(p.a)  # second


@TABLE.program("race", "the host")
def wrong_stream_synchronised(p, right):
    p.set(p.one)  # first
    p.set(p.two, p.b)
    rt.synchronize_stream(p.one if right else p.two)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def synchronised_before_the_task(p, right):
    if not right:
        rt.synchronize_stream(p.one)
    p.set(p.one)  # first
    if right:
        rt.synchronize_stream(p.one)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def event_recorded_before_the_task(p, right):
    if not right:
        rt.record_event(p.event, p.one)
    p.set(p.one)  # first
    if right:
        rt.record_event(p.event, p.one)
    rt.synchronize_event(p.event)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def synchronise_through_another_stream(p, right):
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one)
    p.set(p.two, p.b)
    rt.synchronize_stream(p.two)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def idle_stream_that_waits_for_another(p, right):
    """The wait is over at once if its record has passed: then nothing is queued on the stream."""
    rt.synchronize_stream(p.two)
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one)
    rt.synchronize_stream(p.two)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def device_synchronised(p, right):
    p.set(p.one)  # first
    if right:
        rt.synchronize_device()
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def event_queried(p, right):
    p.set(p.one)  # first
    rt.record_event(p.event, p.one)
    while right and rt.query_event_status(p.event)[0] != 1:
        pass
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def stream_queried(p, right):
    p.set(p.one)  # first
    while right and rt.stream_query(p.one)[0] != 0:
        pass
    p.fetch(p.a)  # second


@TABLE.program("race", "still write")
def pageable_memory_waits_for_its_stream(p, right):
    """A copy to pageable memory waits for its own stream only."""
    p.set(p.one)  # first
    p.copy(p.one if right else p.two, p.plain.ctypes.data, p.a, kind=D2H)  # second


@TABLE.program("race", "still write")
def host_between_two_streams(p, right):
    p.set(p.one)  # first
    if right:
        rt.synchronize_stream(p.one)
    rt.synchronize_stream(p.three)
    p.copy(p.two, p.b, p.a)  # second


@TABLE.program("race", "the host")
def stream_destroyed(p, right):
    stream, _ = rt.create_stream()
    p.set(stream)  # first
    if right:
        rt.destroy_stream(stream)
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def stream_aborted(p, right):
    p.set(p.one)  # first
    if right:
        assert rt.stream_abort(p.one) == 0
    p.fetch(p.a)  # second


@TABLE.program("race", "the host")
def host_memset(p, right):
    p.copy(p.one, p.b, p.a)  # first
    if right:
        rt.synchronize_stream(p.one)
    rt.memset(p.a, SIZE, 0, SIZE)  # second


@TABLE.program("race", "the host")
def another_thread_reads(p, right):
    def read():
        rt.set_device(0)
        p.fetch(p.a)  # first

    p.set(p.one)  # second
    if right:
        rt.synchronize_stream(p.one)
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()


# ---- strided views ----


@TABLE.program("race", "still write")
def columns_of_a_matrix(p, right):
    """Each stream writes every second column of 1,024 rows of 4 bytes."""
    p.negate(p.one, p.a, p.b, [512], [2], (0, 0))  # first
    p.negate(p.two, p.a, p.b, [512], [2], (1, 1 if right else 0))  # second


@TABLE.program("race", "writes bytes")
def halves_of_rows(p, right):
    p.negate(p.one, p.a, p.b, [32, 16], [32, 1], (0, 0))  # first
    p.negate(p.two, p.a, p.b, [32, 16], [32, 1], (16, 16 if right else 15))  # second


@TABLE.program("race", "reads bytes")
def column_against_a_row(p, right):
    p.negate(p.one, p.a, p.b, [512], [2], (0, 0))  # first
    p.negate(p.two, p.c, p.a, [1], [1], (33 if right else 32, 0))  # second


@TABLE.program("race", "still write")
def rectangles(p, right):
    """Copies of the left and the right half of 8 rows of 64 bytes."""
    assert rt.memcpy2d_async(p.a, 64, p.b, 64, 32, 8, D2D, p.one) == 0  # first
    assert rt.memcpy2d_async(p.a + (32 if right else 31), 64, p.c, 64, 32, 8, D2D, p.two) == 0  # second


@TABLE.program("race", "the host")
def rectangle_of_the_host(p, right):
    p.set(p.one, p.a, 0, 32)  # first
    assert rt.memcpy2d(p.plain.ctypes.data, 64, p.a + (32 if right else 31), 64, 32, 8, D2H) == 0  # second


@TABLE.program("race", "reads bytes")
def operators(p, right):
    p.negate(p.one, p.a, p.b, [1024], [1])  # first
    if right:
        p.follow(p.two, p.one)
    p.negate(p.two, p.c, p.a, [1024], [1])  # second


# ---- scratch memory ----


@TABLE.program("race", "rstdOut of aclnnRmsNorm")
def statistics_that_nobody_reads(p, right):
    """Clients of RmsNorm often pass one scratch area for rstd, which they never read, to all calls."""
    one, two = (acl.Stream.from_handle(stream) for stream in (p.one, p.two))
    x, gamma = (acl.DeviceArray.from_numpy(numpy.ones(shape, "f4")) for shape in ((4, 8), 8))
    scratch, results = acl.DeviceArray((4,), "f4"), [acl.DeviceArray((4, 8), "f4") for _ in range(2)]
    acl.nn.rms_norm(x, gamma, 1e-6, out=(results[0], scratch), stream=one)  # first
    if right:
        p.follow(p.two, p.one)
    acl.nn.rms_norm(x, gamma, 1e-6, out=(results[1], scratch), stream=two)  # second
    p.finish()


# ---- kernels and models ----


@ffi.callback("aclError(void *)")
def succeed(_):
    return 0


@transparent
def launch(stream, *ranges):
    """Queue a kernel with declared ranges: (address, size, writes)."""
    declared = ffi.new("aclsimRange[]", [{"address": pointer(at), "size": size, "write": w} for at, size, w in ranges])
    assert lib.aclsimLaunchTask(pointer(stream), succeed, ffi.NULL, declared, len(ranges), 0) == 0


@TABLE.program("race", "aclsimLaunchTask")
def kernels_with_declared_ranges(p, right):
    launch(p.one, (p.a, 64, 1), (p.b, SIZE, 0))  # first
    launch(p.two, (p.a + (64 if right else 60), 64, 1), (p.b, SIZE, 0))  # second


@TABLE.program("race", "still write")
def kernel_and_copy(p, right):
    launch(p.one, (p.a, SIZE, 1))  # first
    if right:
        p.follow(p.two, p.one)
    p.copy(p.two, p.b, p.a)  # second


# ---- pools ----


@transparent
def take(pool, stream):
    place = ffi.new("void **")
    assert lib.aclrtMemPoolMallocAsync(place, SIZE, pool, pointer(stream)) == 0, acl.get_recent_err_msg()
    return int(ffi.cast("uintptr_t", place[0]))


def pool_of():
    place = ffi.new("aclrtMemPool *")
    settings = ffi.new("aclrtMemPoolProps *", {"location": {"id": 0, "type": 1}})
    assert lib.aclrtMemPoolCreate(place, settings) == 0
    return place[0]


@TABLE.program("race", "allocate")
def used_before_its_allocation(p, right):
    block = take(pool_of(), p.one)  # first
    if right:
        p.follow(p.two, p.one)
    p.set(p.two, block)  # second


@TABLE.program("race", "frees", "still write")
def freed_beside_its_use(p, right):
    block = take(pool_of(), p.one)
    p.follow(p.two, p.one)
    p.set(p.two, block)  # first
    if right:
        p.follow(p.one, p.two)
    assert lib.aclrtMemPoolFreeAsync(pointer(block), pointer(p.one)) == 0  # second


# ---- callbacks ----


@TABLE.program("race")  # of the thread of host functions and this one, either may be first
def host_function_between_streams(p, right):
    """A blocking host function is behind the work queued before it, and before the work queued behind it."""
    done = threading.Event()
    if not right:
        assert rt.launch_host_func(p.one, lambda _: done.set(), None) == 0
    p.set(p.one)  # first
    if right:
        assert rt.launch_host_func(p.one, lambda _: done.set(), None) == 0
    assert done.wait(60)
    p.copy(p.two, p.b, p.a)  # second
