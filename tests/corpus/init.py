"""Programs that read device memory which nothing has written. The name of a program says what is read."""

import numpy
from helpers import object_models, vmm
from helpers.condition import ASSIGN, IF, body, queued

import acl
from acl._lib import ffi, lib

from . import Table, transparent

nn = acl.nn
TABLE = Table()
D2H, D2D = 2, 3


@ffi.callback("aclError(void *)")
def quiet(argument):
    """Stand for a kernel."""
    return 0


def program(reader, argument="", level="error"):
    """Add a program: the call that reads, the argument if it is an operator, and the level of the finding."""
    text = f" of {argument} that nothing has written" if argument else ""
    return TABLE.program("uninitialised-read", f"{reader} reads ", text, level=level)


@transparent
def fresh(*shape, dtype="f4"):
    return acl.DeviceArray(shape, dtype)


@transparent
def full(*shape, value=1, dtype="f4"):
    return acl.DeviceArray.from_numpy(numpy.full(shape, value, dtype))


@transparent
def zeroed(right, *shape, dtype="f4"):
    """Return an array that is written only in the right program."""
    return full(*shape, dtype=dtype) if right else fresh(*shape, dtype=dtype)


@transparent
def launch(stream, *written):
    """Launch a kernel that declares the ranges that it writes, as (address, size)."""
    ranges = ffi.new("aclsimRange[]", [(ffi.cast("void *", address), size, 1) for address, size in written])
    queue = ffi.cast("aclrtStream", stream.handle)
    assert lib.aclsimLaunchTask(queue, quiet, ffi.NULL, ranges if written else ffi.NULL, len(written), 0) == 0


# --- Operators


@program("aclnnAdd", "self")
def an_operand(stream, right):
    nn.add(zeroed(right, 4), full(4), stream=stream)  # first


@program("aclnnAdd", "other")
def a_broadcast_operand(stream, right):
    nn.add(full(3, 4), zeroed(right, 4), stream=stream)  # first


@program("aclnnExp", "self")
def the_operand_of_a_function(stream, right):
    nn.exp(zeroed(right, 1000), stream=stream)  # first


@program("aclnnMatmul", "mat2")
def a_matrix(stream, right):
    nn.matmul(full(3, 4), zeroed(right, 4, 5), stream=stream)  # first


@program("aclnnReduceSum", "self")
def a_reduced_array(stream, right):
    nn.reduce_sum(zeroed(right, 3, 4), [1], stream=stream)  # first


@program("aclnnSoftmax", "self")
def a_row_of_softmax(stream, right):
    array = fresh(3, 4)  # first
    array[: 3 if right else 2].fill(1, stream=stream)
    nn.softmax(array, -1, stream=stream)  # second


@program("aclnnSort", "self")
def a_sorted_array(stream, right):
    nn.sort(zeroed(right, 7), True, 0, False, stream=stream)  # first


@program("aclnnLayerNorm", "weightOptional")
def an_optional_input(stream, right):
    nn.layer_norm(full(2, 3), 3, zeroed(right, 3), full(3), stream=stream)  # first


@program("aclnnIndexSelect", "index")
def an_index(stream, right):
    nn.index_select(full(4, 3), 0, zeroed(right, 2, dtype="i8"), stream=stream)  # first


@program("aclnnCat", "tensors")
def a_part_of_a_concatenation(stream, right):
    nn.cat([full(2, 3), zeroed(right, 1, 3)], 0, stream=stream)  # first


@program("aclnnInplaceAdd", "selfRef")
def an_array_that_is_changed_in_place(stream, right):
    nn.inplace_add(zeroed(right, 4), full(4), 1, stream=stream)  # first


@program("aclnnInplaceMuls", "selfRef")
def an_array_that_is_scaled_in_place(stream, right):
    nn.inplace_muls(zeroed(right, 4), 2.0, stream=stream)  # first


@program("aclnnNeg", "self")
def the_result_of_an_operator_that_was_never_called(stream, right):
    result = fresh(4)  # first
    if right:
        nn.exp(full(4), out=result, stream=stream)
    nn.neg(result, stream=stream)  # second


# --- Views


@program("aclnnNeg", "self")
def interleaved_columns(stream, right):
    array = fresh(6, 4)  # first
    array[:, ::2].fill(1, stream=stream)
    nn.neg(array[:, (0 if right else 1) :: 2], stream=stream)  # second


@program("aclnnNeg", "self")
def the_row_after_the_written_ones(stream, right):
    array = fresh(6, 4)  # first
    array[:3].fill(1, stream=stream)
    nn.neg(array[2 if right else 3], stream=stream)  # second


@program("aclnnNeg", "self")
def a_transposed_view(stream, right):
    array = fresh(4, 4)  # first
    array[:2].fill(1, stream=stream)
    nn.neg(array.T[:, : 2 if right else 3], stream=stream)  # second


@program("aclnnNeg", "self")
def what_a_strided_output_leaves_out(stream, right):
    array = fresh(5, 6)  # first
    nn.exp(full(5, 3), out=array[:, ::2], stream=stream)
    nn.neg(array[:, ::2] if right else array, stream=stream)  # second


@program("aclnnNeg", "self")
def one_element(stream, right):
    array = fresh(1000)  # first
    array[:499].fill(1, stream=stream)
    array[499 if right else 500 :].fill(1, stream=stream)
    nn.neg(array, stream=stream)  # second


@program("aclnnNeg", "self")
def the_last_byte_of_a_large_array(stream, right):
    array = fresh(200_001, dtype="i1")  # first
    array[: 200_000 + right].fill(1, stream=stream)
    nn.neg(array, stream=stream)  # second


@program("aclnnNeg", "self")
def a_view_that_runs_backwards(stream, right):
    array = fresh(8)  # first
    array[:4].fill(1, stream=stream)
    nn.neg(array[3::-1] if right else array[::-1][:4], stream=stream)  # second


# --- Copies and sets


@program("aclnnNeg", "self")
def a_copy_of_what_is_not_written(stream, right):
    nn.neg(zeroed(right, 9).copy(stream=stream), stream=stream)  # first


@program("aclnnNeg", "self")
def the_unwritten_half_of_a_copy(stream, right):
    array, copy = fresh(10), fresh(10)  # first
    array[:5].fill(1, stream=stream)
    copy.copy_from(array, stream=stream)
    nn.neg(copy[:5] if right else copy[5:], stream=stream)  # second


@program("aclnnNeg", "self")
def a_copy_by_an_operator(stream, right):
    array, copy = fresh(3, 4), fresh(4, 3)  # first
    array[:, :2].fill(1, stream=stream)
    nn.inplace_copy(copy.T, array, stream=stream)
    nn.neg(copy[1 if right else 2], stream=stream)  # second


@program("aclnnNeg", "self")
def what_a_copy_of_unwritten_bytes_overwrites(stream, right):
    array = full(4)  # first
    array.copy_from(zeroed(right, 4), stream=stream)
    nn.neg(array, stream=stream)  # second


@program("aclnnNeg", "self")
def the_end_of_a_short_memset(stream, right):
    array = fresh(16)  # first
    assert acl.rt.memset_async(array.handle, 64, 0, 64 if right else 16, stream.handle) == 0
    nn.neg(array, stream=stream)  # second


@program("aclnnNeg", "self")
def the_gaps_of_a_copy_in_two_dimensions(stream, right):
    source, target = full(4, 4), fresh(4, 8)  # first
    assert acl.rt.memcpy2d_async(target.handle, 32, source.handle, 16, 16, 4, D2D, stream.handle) == 0
    nn.neg(target[:, :4] if right else target, stream=stream)  # second
    stream.synchronize()


@program("aclrtMemcpy")
def what_the_host_reads(stream, right):
    zeroed(right, 4).to_numpy()  # first


@program("aclrtMemcpy", level="warning")
def a_part_of_what_the_host_reads(stream, right):
    array = fresh(8)  # first
    array[: 8 if right else 6].fill(1, stream=stream)
    stream.synchronize()
    array.to_numpy()  # second


@program("aclrtMemcpyAsync")
def what_a_copy_to_pinned_memory_reads(stream, right):
    with acl.Buffer(16, kind="host") as host:
        zeroed(right, 4).copy_to(host, stream=stream)  # first
        stream.synchronize()


@program("aclrtMemcpy2d")
def rows_that_the_host_reads(stream, right):
    array, host = fresh(4, 4), numpy.zeros((4, 2), "f4")  # first
    array[:, :2].fill(1, stream=stream)
    stream.synchronize()
    assert acl.rt.memcpy2d(host.ctypes.data, 8, array.handle + (0 if right else 8), 16, 8, 4, D2H) == 0  # second


# --- Mappings of physical memory


@program("aclrtMemcpyAsync")
def a_mapping_that_nothing_wrote(stream, right):
    with acl.Buffer(64, kind="host") as host, vmm.memory() as physical:
        _, address = physical.mapped()
        if right:
            assert acl.rt.memset_async(address, vmm.HUGE, 0, vmm.HUGE, stream.handle) == 0
        assert acl.rt.memcpy_async(host.handle, 64, address + 64, 64, D2H, stream.handle) == 0  # first
        stream.synchronize()


# --- Pools, graphs, models, kernels


@program("aclnnNeg", "self")
def a_later_life_of_pool_memory(stream, right):
    with acl.MemoryPool(keep=1 << 30) as pool:
        first = acl.DeviceArray.from_buffer(pool.allocate(1024, stream=stream), 256)
        first.fill(1, stream=stream)
        del first
        second = acl.DeviceArray.from_buffer(pool.allocate(1024, stream=stream), 256)  # first
        if right:
            second.fill(1, stream=stream)
        nn.neg(second, stream=stream)  # second
        stream.synchronize()
        del second


@program("aclnnNeg", "self")
def memory_that_was_freed_and_allocated_again(stream, right):
    full(64)
    nn.neg(zeroed(right, 64), stream=stream)  # first


@program("aclnnNeg", "self")
def the_input_of_a_replay(stream, right):
    array, result = fresh(4), fresh(4)  # first
    with acl.capture(stream) as graph:
        nn.neg(array, out=result, stream=stream)  # second
    if right:
        array.fill(1, stream=stream)
    graph.replay(stream)
    stream.synchronize()
    graph.close()


@program("aclnnExp", "self")
def what_a_step_of_a_graph_should_have_written(stream, right):
    array, between, result = full(4), fresh(4), fresh(4)  # first
    with acl.capture(stream) as graph:
        if right:
            nn.neg(array, out=between, stream=stream)
        nn.exp(between, out=result, stream=stream)  # second
    graph.replay(stream)
    graph.replay(stream)
    stream.synchronize()
    graph.close()


@program("aclmdlExecuteAsync", "an input")
def the_input_of_a_model(stream, right):
    with object_models.load("affine") as model:
        model(zeroed(right, 2), stream=stream)  # first
        stream.synchronize()


@program("aclnnNeg", "self")
def what_a_kernel_does_not_declare_to_write(stream, right):
    array = fresh(4)  # first
    launch(stream, (array.handle, 16 if right else 8))
    nn.neg(array, stream=stream)  # second


@program("aclnnNeg", "self")
def what_replaces_a_freed_block_after_an_unknown_kernel(stream, right):
    launch(stream)
    stream.synchronize()
    nn.neg(zeroed(right, 4), stream=stream)  # first


@program("aclnnNeg", "self")
def what_a_body_has_not_written(stream, right):
    """The body of the conditional task runs in the right program only."""
    array, result = fresh(4), fresh(4)  # first
    with acl.Stream() as other, acl.capture(stream) as graph:
        condition = queued(stream.handle, IF, 1, int(right), ASSIGN)
        with body(other.handle, condition.bodies[0]):
            assert acl.rt.memset_async(array.handle, 16, 0, 16, other.handle) == 0
        nn.neg(array, out=result, stream=stream)  # second
    graph.replay(stream)
    stream.synchronize()
    graph.close()


@program("aclrtMemcpyAsync")
def what_a_body_reads(stream, right):
    array = zeroed(right, 4)  # first
    with acl.Buffer(16, kind="host") as host, acl.Stream() as other:
        with acl.capture(stream) as graph:
            condition = queued(stream.handle, IF, 1, 1, ASSIGN)
            with body(other.handle, condition.bodies[0]):
                assert acl.rt.memcpy_async(host.handle, 16, array.handle, 16, D2H, other.handle) == 0  # second
        graph.replay(stream)
        stream.synchronize()
        graph.close()


# --- Scratch memory as clients of operators use it


@program("aclnnNeg", "self")
def statistics_in_one_scratch_area(stream, right):
    """Mean and rstd of GroupNorm share an area that is larger than both; gamma and beta are absent."""
    scratch = fresh(256)  # first
    out = fresh(1, 32, 4), scratch[:32].reshape(1, 32), scratch[32:64].reshape(1, 32)
    result, _, _ = nn.group_norm(full(1, 32, 4), None, None, 1, 32, 4, 32, 1e-6, out=out, stream=stream)
    nn.neg(result, stream=stream)
    nn.neg(scratch[: 64 if right else 65], stream=stream)  # second


@program("aclnnNeg", "self")
def scratch_of_a_gated_activation(stream, right):
    out = fresh(2, 4), fresh(2, 4)  # first
    if right:
        nn.ge_glu_v3(full(2, 8), 1, 1, True, out=out, stream=stream)
    nn.neg(out[0], stream=stream)  # second


@program("aclnnExp", "self")
def the_border_of_a_padded_input(stream, right):
    """Clients fill a padded copy with the lowest number and then copy the rows into its middle."""
    padded = fresh(6, 6)  # first
    if right:
        padded.fill(-3.0e38, stream=stream)
    padded[1:5, 1:5].copy_from(full(4, 4), stream=stream)
    nn.exp(padded, stream=stream)  # second


@program("aclnnNeg", "self")
def the_rest_of_rotated_rows(stream, right):
    """Only the first numbers of each row are rotated: a strided input and output."""
    rows = fresh(3, 8)  # first
    nn.exp(full(3, 8)[:, :4], out=rows[:, :4], stream=stream)
    if right:
        rows[:, 4:].copy_from(full(3, 4), stream=stream)
    nn.neg(rows, stream=stream)  # second
