"""Programs that read device memory which nothing has written, each with its corrected twin.

A program is a function of a stream and of ``wrong``: whether it makes its mistake. Its name says what is read.
"""

import numpy

import acl
from acl._lib import ffi, lib
from helpers import object_models

nn = acl.nn
PROGRAMS = {}
D2H, D2D = 2, 3


@ffi.callback("aclError(void *)")
def quiet(argument):
    """Stand for a kernel."""
    return 0


def program(reader, argument="", level="error"):
    """Add a program: who reads, the argument if it is an operator, and the level of the finding."""

    def add(function):
        PROGRAMS[function.__name__] = (function, reader, argument, level)
        return function

    return add


def fresh(*shape, dtype="f4"):
    return acl.DeviceArray(shape, dtype)


def full(*shape, value=1, dtype="f4"):
    return acl.DeviceArray.from_numpy(numpy.full(shape, value, dtype))


def zeroed(wrong, *shape, dtype="f4"):
    """Return an array that is written only in the right program."""
    return fresh(*shape, dtype=dtype) if wrong else full(*shape, dtype=dtype)


def launch(stream, *written):
    """Launch a kernel that declares the ranges that it writes, as (address, size)."""
    ranges = ffi.new("aclsimRange[]", [(ffi.cast("void *", address), size, 1) for address, size in written])
    queue = ffi.cast("aclrtStream", stream.handle)
    assert lib.aclsimLaunchTask(queue, quiet, ffi.NULL, ranges if written else ffi.NULL, len(written), 0) == 0


# --- Operators


@program("aclnnAdd", "self")
def an_operand(stream, wrong):
    nn.add(zeroed(wrong, 4), full(4), stream=stream)


@program("aclnnAdd", "other")
def a_broadcast_operand(stream, wrong):
    nn.add(full(3, 4), zeroed(wrong, 4), stream=stream)


@program("aclnnExp", "self")
def the_operand_of_a_function(stream, wrong):
    nn.exp(zeroed(wrong, 1000), stream=stream)


@program("aclnnMatmul", "mat2")
def a_matrix(stream, wrong):
    nn.matmul(full(3, 4), zeroed(wrong, 4, 5), stream=stream)


@program("aclnnReduceSum", "self")
def a_reduced_array(stream, wrong):
    nn.reduce_sum(zeroed(wrong, 3, 4), [1], stream=stream)


@program("aclnnSoftmax", "self")
def a_row_of_softmax(stream, wrong):
    array = fresh(3, 4)
    array[: 2 if wrong else 3].fill(1, stream=stream)
    nn.softmax(array, -1, stream=stream)


@program("aclnnSort", "self")
def a_sorted_array(stream, wrong):
    nn.sort(zeroed(wrong, 7), True, 0, False, stream=stream)


@program("aclnnLayerNorm", "weightOptional")
def an_optional_input(stream, wrong):
    nn.layer_norm(full(2, 3), 3, zeroed(wrong, 3), full(3), stream=stream)


@program("aclnnIndexSelect", "index")
def an_index(stream, wrong):
    nn.index_select(full(4, 3), 0, zeroed(wrong, 2, dtype="i8"), stream=stream)


@program("aclnnCat", "tensors")
def a_part_of_a_concatenation(stream, wrong):
    nn.cat([full(2, 3), zeroed(wrong, 1, 3)], 0, stream=stream)


@program("aclnnInplaceAdd", "selfRef")
def an_array_that_is_changed_in_place(stream, wrong):
    nn.inplace_add(zeroed(wrong, 4), full(4), 1, stream=stream)


@program("aclnnInplaceMuls", "selfRef")
def an_array_that_is_scaled_in_place(stream, wrong):
    nn.inplace_muls(zeroed(wrong, 4), 2.0, stream=stream)


@program("aclnnNeg", "self")
def the_result_of_an_operator_that_was_never_called(stream, wrong):
    result = fresh(4)
    if not wrong:
        nn.exp(full(4), out=result, stream=stream)
    nn.neg(result, stream=stream)


# --- Views


@program("aclnnNeg", "self")
def interleaved_columns(stream, wrong):
    array = fresh(6, 4)
    array[:, ::2].fill(1, stream=stream)
    nn.neg(array[:, (1 if wrong else 0) :: 2], stream=stream)


@program("aclnnNeg", "self")
def the_row_after_the_written_ones(stream, wrong):
    array = fresh(6, 4)
    array[:3].fill(1, stream=stream)
    nn.neg(array[3 if wrong else 2], stream=stream)


@program("aclnnNeg", "self")
def a_transposed_view(stream, wrong):
    array = fresh(4, 4)
    array[:2].fill(1, stream=stream)
    nn.neg(array.T[:, : 3 if wrong else 2], stream=stream)


@program("aclnnNeg", "self")
def what_a_strided_output_leaves_out(stream, wrong):
    array = fresh(5, 6)
    nn.exp(full(5, 3), out=array[:, ::2], stream=stream)
    nn.neg(array if wrong else array[:, ::2], stream=stream)


@program("aclnnNeg", "self")
def one_element(stream, wrong):
    array = fresh(1000)
    array[:499].fill(1, stream=stream)
    array[500 if wrong else 499 :].fill(1, stream=stream)
    nn.neg(array, stream=stream)


@program("aclnnNeg", "self")
def the_last_byte_of_a_large_array(stream, wrong):
    array = fresh(200_001, dtype="i1")
    array[: 200_000 + (not wrong)].fill(1, stream=stream)
    nn.neg(array, stream=stream)


@program("aclnnNeg", "self")
def a_view_that_runs_backwards(stream, wrong):
    array = fresh(8)
    array[:4].fill(1, stream=stream)
    nn.neg(array[::-1][:4] if wrong else array[3::-1], stream=stream)


# --- Copies and sets


@program("aclnnNeg", "self")
def a_copy_of_what_is_not_written(stream, wrong):
    nn.neg(zeroed(wrong, 9).copy(stream=stream), stream=stream)


@program("aclnnNeg", "self")
def the_unwritten_half_of_a_copy(stream, wrong):
    array, copy = fresh(10), fresh(10)
    array[:5].fill(1, stream=stream)
    copy.copy_from(array, stream=stream)
    nn.neg(copy[5:] if wrong else copy[:5], stream=stream)


@program("aclnnNeg", "self")
def a_copy_by_an_operator(stream, wrong):
    array, copy = fresh(3, 4), fresh(4, 3)
    array[:, :2].fill(1, stream=stream)
    nn.inplace_copy(copy.T, array, stream=stream)
    nn.neg(copy[2 if wrong else 1], stream=stream)


@program("aclnnNeg", "self")
def what_a_copy_of_unwritten_bytes_overwrites(stream, wrong):
    array = full(4)
    array.copy_from(zeroed(wrong, 4), stream=stream)
    nn.neg(array, stream=stream)


@program("aclnnNeg", "self")
def the_end_of_a_short_memset(stream, wrong):
    array = fresh(16)
    assert acl.rt.memset_async(array.handle, 64, 0, 16 if wrong else 64, stream.handle) == 0
    nn.neg(array, stream=stream)


@program("aclnnNeg", "self")
def the_gaps_of_a_copy_in_two_dimensions(stream, wrong):
    source, target = full(4, 4), fresh(4, 8)
    assert acl.rt.memcpy2d_async(target.handle, 32, source.handle, 16, 16, 4, D2D, stream.handle) == 0
    nn.neg(target if wrong else target[:, :4], stream=stream)
    stream.synchronize()


@program("aclrtMemcpy")
def what_the_host_reads(stream, wrong):
    zeroed(wrong, 4).to_numpy()


@program("aclrtMemcpy", level="warning")
def a_part_of_what_the_host_reads(stream, wrong):
    array = fresh(8)
    array[: 6 if wrong else 8].fill(1, stream=stream)
    stream.synchronize()
    array.to_numpy()


@program("aclrtMemcpyAsync")
def what_a_copy_to_pinned_memory_reads(stream, wrong):
    with acl.Buffer(16, kind="host") as host:
        zeroed(wrong, 4).copy_to(host, stream=stream)
        stream.synchronize()


@program("aclrtMemcpy2d")
def rows_that_the_host_reads(stream, wrong):
    array, host = fresh(4, 4), numpy.zeros((4, 2), "f4")
    array[:, :2].fill(1, stream=stream)
    stream.synchronize()
    assert acl.rt.memcpy2d(host.ctypes.data, 8, array.handle + (8 if wrong else 0), 16, 8, 4, D2H) == 0


# --- Pools, graphs, models, kernels


@program("aclnnNeg", "self")
def a_later_life_of_pool_memory(stream, wrong):
    with acl.MemoryPool(keep=1 << 30) as pool:
        first = acl.DeviceArray.from_buffer(pool.allocate(1024, stream=stream), 256)
        first.fill(1, stream=stream)
        del first
        second = acl.DeviceArray.from_buffer(pool.allocate(1024, stream=stream), 256)
        if not wrong:
            second.fill(1, stream=stream)
        nn.neg(second, stream=stream)
        stream.synchronize()
        del second


@program("aclnnNeg", "self")
def memory_that_was_freed_and_allocated_again(stream, wrong):
    full(64)
    nn.neg(zeroed(wrong, 64), stream=stream)


@program("aclnnNeg", "self")
def the_input_of_a_replay(stream, wrong):
    array, result = fresh(4), fresh(4)
    with acl.capture(stream) as graph:
        nn.neg(array, out=result, stream=stream)
    if not wrong:
        array.fill(1, stream=stream)
    graph.replay(stream)
    stream.synchronize()
    graph.close()


@program("aclnnExp", "self")
def what_a_step_of_a_graph_should_have_written(stream, wrong):
    array, between, result = full(4), fresh(4), fresh(4)
    with acl.capture(stream) as graph:
        if not wrong:
            nn.neg(array, out=between, stream=stream)
        nn.exp(between, out=result, stream=stream)
    graph.replay(stream)
    graph.replay(stream)
    stream.synchronize()
    graph.close()


@program("aclmdlExecuteAsync", "an input")
def the_input_of_a_model(stream, wrong):
    with object_models.load("affine") as model:
        model(zeroed(wrong, 2), stream=stream)
        stream.synchronize()


@program("aclnnNeg", "self")
def what_a_kernel_does_not_declare_to_write(stream, wrong):
    array = fresh(4)
    launch(stream, (array.handle, 16 if not wrong else 8))
    nn.neg(array, stream=stream)


@program("aclnnNeg", "self")
def what_replaces_a_freed_block_after_an_unknown_kernel(stream, wrong):
    launch(stream)
    stream.synchronize()
    nn.neg(zeroed(wrong, 4), stream=stream)
