"""Programs that use memory wrongly."""

import contextlib

import numpy
from helpers.models import F4, Dataset, load_bytes
from helpers.object_models import content

import acl
from acl import mdl, nnop, rt
from acl.sim import om

from . import Table, transparent

TABLE = Table()
program = TABLE.program
H2H, H2D, D2H, D2D = range(4)
FLOAT, ND = 0, 2
BEYOND, AFTER, IN_USE = "beyond-requested-size", "use-after-free", "freed-in-use"
INVALID, DIRECTION, SIZES = "invalid-free", "copy-direction", "buffer-size"


class Setting:
    """A stream and memory that programs use; a reset of the simulator frees all of it."""

    def __init__(self):
        assert acl.init() in (0, 100002) and rt.set_device(0) == 0
        self.stream, _ = rt.create_stream()
        self.other, _ = rt.malloc(4096, 0)
        self.host, _ = rt.malloc_host(4096)
        self.array = numpy.zeros(4096, "u1")
        self.plain = self.array.ctypes.data
        rt.memset(self.other, 4096, 0, 4096)

    def sync(self):
        """Wait for the stream; it returns the error of a task that used freed memory."""
        rt.synchronize_stream(self.stream)

    @contextlib.contextmanager
    def held(self):
        """Let queued work begin at the end of the block."""
        acl.sim.hold(self.stream)
        yield
        acl.sim.release(self.stream)
        self.sync()


@transparent
def negate(p, source, target, count, stride=1, offset=0):
    """Run an operator on a view of the source."""
    tensors = [
        acl.create_tensor([count], FLOAT, [stride], offset, ND, [count * stride + offset], source),
        acl.create_tensor([count], FLOAT, [1], 0, ND, [count], target),
    ]
    size, executor, ret = nnop.neg_get_workspace_size(*tensors)
    assert ret == 0, acl.get_recent_err_msg()
    nnop.neg(0, size, executor, p.stream)
    for tensor in tensors:
        acl.destroy_tensor(tensor)


@transparent
def malloc(size, value=0):
    """Return memory that has been written."""
    block, _ = rt.malloc(size, 0)
    rt.memset(block, size, value, size)
    return block


# ---- bytes behind the requested ones


@program(BEYOND, level="warning")
def a_set(p, right):
    block = malloc(100)  # first
    rt.memset(block, 120, 0, 100 if right else 101)  # second


@program(BEYOND, level="warning")
def a_queued_set(p, right):
    block = malloc(100)  # first
    rt.memset_async(block, 128, 0, 100 if right else 128, p.stream)  # second
    p.sync()


@program(BEYOND, level="warning")
def the_target_of_a_copy(p, right):
    block = malloc(100)  # first
    rt.memcpy(block, 112, p.host, 100 if right else 112, H2D)  # second


@program(BEYOND, also=("uninitialised-read",), level="warning")
def the_source_of_a_copy(p, right):
    block = malloc(100)  # first
    rt.memset(block, 120, 0, 100)
    rt.memcpy(p.host, 4096, block, 96 if right else 104, D2H)  # second


@program(BEYOND, level="warning")
def the_end_of_a_queued_copy(p, right):
    block = malloc(100)  # first
    rt.memcpy_async(block + 4, 99, p.host, 96 if right else 97, H2D, p.stream)  # second
    p.sync()


@program(BEYOND, level="warning")
def the_source_of_a_queued_copy(p, right):
    block = malloc(100)  # first
    rt.memcpy_async(p.other, 4096, block, 100 if right else 101, D2D, p.stream)  # second
    p.sync()


@program(BEYOND, level="warning")
def pinned_memory(p, right):
    small, _ = rt.malloc_host(10)  # first
    rt.memcpy_async(p.other, 4096, small, 10 if right else 11, H2D, p.stream)  # second
    p.sync()


@program(BEYOND, also=("uninitialised-read",), level="warning")
def the_last_element_of_a_strided_view(p, right):
    block = malloc(40)  # first
    negate(p, block, p.other, 4, 3, 0 if right else 1)  # second
    p.sync()


@program(BEYOND, level="warning")
def an_output_that_is_too_short(p, right):
    block = malloc(64 if right else 60)  # first
    negate(p, p.other, block, 16)  # second
    p.sync()


@program(BEYOND, level="warning")
def rows_of_a_copy_in_two_dimensions(p, right):
    block = malloc(100)  # first
    rt.memcpy2d_async(block, 32, p.other, 32, 4 if right else 5, 4, D2D, p.stream)  # second
    p.sync()


# ---- memory that was freed


@program(AFTER)
def a_set_of_freed_memory(p, right):
    block = malloc(100)
    if right:
        rt.memset(block, 100, 0, 100)
    rt.free(block)  # first
    if not right:
        rt.memset(block, 100, 0, 100)  # second


@program(AFTER)
def a_copy_from_freed_memory(p, right):
    block = malloc(100)
    if right:
        rt.memcpy(p.host, 4096, block, 8, D2H)
    rt.free(block)  # first
    if not right:
        rt.memcpy(p.host, 4096, block, 8, D2H)  # second


@program(AFTER)
def a_copy_from_freed_pinned_memory(p, right):
    host, _ = rt.malloc_host(64)
    if right:
        rt.memcpy(p.other, 4096, host, 8, H2D)
    rt.free_host(host)  # first
    if not right:
        rt.memcpy(p.other, 4096, host, 8, H2D)  # second


@program(AFTER)
def a_queued_set_of_freed_memory(p, right):
    block = malloc(100)
    if right:
        rt.memset_async(block + 8, 50, 0, 8, p.stream)
        p.sync()
    rt.free(block)  # first
    if not right:
        rt.memset_async(block + 8, 50, 0, 8, p.stream)  # second


@program(AFTER)
def memory_of_a_closed_buffer(p, right):
    buffer = acl.Buffer(64)
    address = buffer.handle
    if right:
        rt.memset(address, 64, 0, 64)
    buffer.close()  # first
    if not right:
        rt.memset(address, 64, 0, 64)  # second


@program(IN_USE, also=(AFTER,))
def a_free_under_a_queued_set(p, right):
    block = malloc(100)
    with p.held():
        rt.memset_async(block, 99, 1, 99, p.stream)  # first
        if not right:
            rt.free(block)  # second
    if right:
        rt.free(block)


@program(IN_USE, also=(AFTER,))
def pinned_memory_freed_under_a_queued_copy(p, right):
    host, _ = rt.malloc_host(99)
    with p.held():
        rt.memcpy_async(p.other, 99, host, 99, H2D, p.stream)  # first
        if not right:
            rt.free_host(host)  # second
    if right:
        rt.free_host(host)


@program(IN_USE, also=(AFTER,))
def the_target_freed_under_a_queued_copy(p, right):
    host, _ = rt.malloc_host(99)
    with p.held():
        rt.memcpy_async(host, 9, p.other, 9, D2H, p.stream)  # first
        if not right:
            rt.free_host(host)  # second


@program(IN_USE, also=(AFTER,))
def the_source_freed_under_a_copy_on_the_device(p, right):
    block = malloc(64)
    with p.held():
        rt.memcpy_async(p.other, 9, block, 9, D2D, p.stream)  # first
        if not right:
            rt.free(block)  # second


@program(IN_USE, also=(AFTER,))
def an_input_freed_under_a_queued_operator(p, right):
    block = malloc(64)
    with p.held():
        negate(p, block, p.other, 16)  # first
        if not right:
            rt.free(block)  # second


@program(IN_USE, also=(AFTER,))
def memory_freed_after_another_stream_was_synchronised(p, right):
    block = malloc(64)
    other, _ = rt.create_stream()
    with p.held():
        rt.memset_async(block, 64, 1, 64, p.stream)  # first
        rt.synchronize_stream(other)
        if not right:
            rt.free(block)  # second


# ---- wrong frees


@program(INVALID)
def a_second_free(p, right):
    block = malloc(100)
    rt.free(block)  # first
    if not right:
        rt.free(block)  # second


@program(INVALID)
def a_second_free_of_pinned_memory(p, right):
    host, _ = rt.malloc_host(64)
    rt.free_host(host)  # first
    if not right:
        rt.free_host(host)  # second


@program(INVALID)
def a_free_inside_a_block(p, right):
    block = malloc(100)  # first
    rt.free(block if right else block + 32)  # second


@program(INVALID)
def pinned_memory_freed_as_device_memory(p, right):
    host, _ = rt.malloc_host(64)  # first
    (rt.free_host if right else rt.free)(host)  # second


@program(INVALID)
def device_memory_freed_as_pinned_memory(p, right):
    block = malloc(100)  # first
    (rt.free if right else rt.free_host)(block)  # second


@program(INVALID)
def a_free_of_ordinary_memory(p, right):
    rt.free(malloc(100) if right else p.plain)  # first


@program(INVALID)
def a_free_inside_freed_memory(p, right):
    block = malloc(100)
    rt.free(block)  # first
    if not right:
        rt.free(block + 64)  # second


# ---- directions


@program(DIRECTION, level="warning")
def to_the_host_is_said_and_from_it_meant(p, right):
    rt.memcpy(p.other, 100, p.plain, 100, H2D if right else D2H)  # first


@program(DIRECTION, level="warning")
def from_the_host_is_said_and_to_it_meant(p, right):
    rt.memcpy(p.plain, 100, p.other, 100, D2H if right else H2D)  # first


@program(DIRECTION, level="warning")
def from_the_host_is_said_of_a_copy_on_the_device(p, right):
    block = malloc(100)
    rt.memcpy(p.other, 100, block, 100, D2D if right else H2D)  # first


@program(DIRECTION, level="warning")
def on_the_device_is_said_of_pinned_memory(p, right):
    rt.memcpy(p.other, 100, p.host, 100, H2D if right else D2D)  # first


@program(DIRECTION, level="warning")
def to_the_device_is_said_of_a_copy_on_the_host(p, right):
    rt.memcpy(p.host, 100, p.host + 2048, 100, H2H if right else H2D)  # first


@program(DIRECTION, level="warning")
def a_queued_copy_from_the_host(p, right):
    rt.memcpy_async(p.other, 100, p.host, 100, H2D if right else D2H, p.stream)  # first
    p.sync()


@program(DIRECTION, level="warning")
def a_queued_copy_on_the_device(p, right):
    block = malloc(100)
    rt.memcpy_async(p.other, 100, block, 100, D2D if right else D2H, p.stream)  # first
    p.sync()


@program(DIRECTION, level="warning")
def a_queued_copy_to_the_host(p, right):
    rt.memcpy_async(p.host, 100, p.other, 100, D2H if right else D2D, p.stream)  # first
    p.sync()


# ---- tensors, replays, models


@program("unaligned-tensor", level="warning")
def a_tensor_in_the_middle(p, right):
    """A view with an offset is right."""
    block = malloc(128)  # first
    negate(p, block if right else block + 4, p.other, 16, 1, 1 if right else 0)  # second
    p.sync()


def _captured(p, block):
    assert mdl.ri_capture_begin(p.stream, 0) == 0
    assert rt.memset_async(block, 4096, 1, 4096, p.stream) == 0
    return mdl.ri_capture_end(p.stream)[0]


transparent(_captured)


@program("stale-replay")
def a_replay_whose_memory_was_freed_and_allocated_again(p, right):
    block = malloc(4096)
    graph = _captured(p, block)  # first
    mdl.ri_execute_async(graph, p.stream)
    p.sync()
    if not right:
        rt.free(block)  # second
        again = malloc(4096)
        assert again == block
    mdl.ri_execute_async(graph, p.stream)
    p.sync()


@program(AFTER)
def a_replay_whose_memory_was_freed(p, right):
    block = malloc(4096)
    graph = _captured(p, block)  # first
    if not right:
        rt.free(block)  # second
    mdl.ri_execute_async(graph, p.stream)
    p.sync()


def _execute(given, taken):
    acl.sim.model("corpus")(lambda x: 2 * x + 1)
    model, ret = load_bytes(content("corpus", [om.Tensor("x", (2,), F4)], [om.Tensor("y", (2,), F4)]))
    assert ret == 0, acl.get_recent_err_msg()
    inputs, outputs = Dataset([given]), Dataset([taken])
    inputs.put(0, numpy.zeros(given // 4, "f4"))
    mdl.execute(model, inputs.handle, outputs.handle)
    assert mdl.unload(model) == 0


transparent(_execute)


@program(SIZES, "input 0 (x)", level="warning")
def an_input_that_is_too_long(p, right):
    _execute(8 if right else 32, 8)  # first


@program(SIZES, "output 0 (y)", level="warning")
def an_output_buffer_that_is_too_long(p, right):
    _execute(8, 8 if right else 32)  # first


@program(SIZES, "input 0 (x)", level="warning")
def an_input_that_is_too_short(p, right):
    _execute(8 if right else 4, 8)  # first


@program(SIZES, "output 0 (y)", also=(BEYOND,), level="warning")
def an_output_buffer_that_is_too_short(p, right):
    _execute(8, 8 if right else 4)  # first
