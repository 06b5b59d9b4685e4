"""Inputs of single operators in host memory: every type takes them, read by the call itself."""

import numpy
import pytest
from helpers.expect import latches, refused
from helpers.single import Single
from helpers.tensors import CODES

import acl

op = acl.op
HOST, HOST_INDEPENDENT = 1, 2
A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
B = numpy.array([[2, 2, 3], [1, 5, 0.5]], "f4")


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


@pytest.mark.parametrize("place", [HOST, HOST_INDEPENDENT])
@pytest.mark.parametrize(
    ("op_type", "result"),
    [("Add", A + B), ("Mul", A * B), ("Maximum", numpy.maximum(A, B)), ("Greater", A > B), ("ConcatD", None)],
)
def test_every_type_reads_the_host(op_type, result, place, single):
    values = {"concat_dim": 0} if op_type == "ConcatD" else {}
    result = numpy.concatenate([A, B]) if result is None else result
    for inputs in (
        [single.constant(A, "f4", place), single.give(B)],
        [single.give(A), single.constant(B, "f4", place)],
        [single.constant(A, "f4", place), single.constant(B, "f4", place)],
    ):
        found = single.run(op_type, inputs, result.shape, "?" if result.dtype == bool else "f4", **values)
        numpy.testing.assert_array_equal(found, result)


def test_one_input_is_two_operands(single):
    given = single.constant(A, "f4")
    numpy.testing.assert_array_equal(single.run("Add", [given, given], (2, 3), "f4"), A + A)


def test_it_is_read_before_the_call_returns(single):
    array, out = A.copy(), single.take((2, 3), "f4")
    desc = single.host(A.shape, "f4")
    with latches(single.npu.stream) as held:
        held.hold()
        assert single.call("Neg", [(desc, single.buffer(array.ctypes.data, array.nbytes))], [out]) == 0
        array[...] = 0
        held.release()
    numpy.testing.assert_array_equal(out[2](), -A)


def test_an_unknown_output_is_told_its_shape(single):
    _, buffer, read = single.take((2, 3), "f4")
    desc = single.desc([-1, -1], "f4")
    assert single.call("Add", [single.constant(A, "f4"), single.constant(B[0], "f4")], [(desc, buffer)]) == 0
    numpy.testing.assert_array_equal(read(), A + B[0])
    assert [acl.get_tensor_desc_dim_v2(desc, place)[0] for place in range(2)] == [2, 3]


def test_a_constant_is_its_own_buffer(single):
    values = numpy.array([5, 6, 7], "f4")
    desc = single.desc([3], "f4")
    assert acl.set_tensor_const(desc, values.ctypes.data, values.nbytes) == 0
    values[...] = 0
    given = [single.give(A), (desc, single.buffer(0, 0))]
    numpy.testing.assert_array_equal(single.run("Add", given, (2, 3), "f4"), A + [5, 6, 7])


def test_a_buffer_goes_before_a_constant(single):
    values = numpy.array([5, 6, 7], "f4")
    desc, buffer = single.give(B[0])
    assert acl.set_tensor_const(desc, values.ctypes.data, values.nbytes) == 0
    numpy.testing.assert_array_equal(single.run("Add", [single.give(A), (desc, buffer)], (2, 3), "f4"), A + B[0])


def test_an_empty_input_is_nowhere(single):
    given = [single.constant(numpy.zeros((0, 3)), "f4"), single.give(A)]
    numpy.testing.assert_array_equal(single.run("ConcatD", given, (2, 3), "f4", concat_dim=0), A)


def test_the_copies_go_back(single):
    big = numpy.ones(1 << 24, "f4")
    out = single.take((1,), "f4")
    given = [single.constant(big, "f4"), single.constant([0])]
    assert single.call("ReduceSum", given, [out], keep_dims=True) == 0, acl.get_recent_err_msg()
    assert out[2]().tolist() == [big.size]
    free = acl.rt.get_mem_info(1)[0]
    for _ in range(3):
        assert single.call("ReduceSum", given, [out], keep_dims=True) == 0
    assert out[2]().tolist() == [big.size]
    assert acl.rt.get_mem_info(1)[0] > free - big.nbytes


@pytest.mark.strict
def test_addresses_that_are_not_the_hosts(single):
    desc, buffer = single.give(A)
    assert acl.set_tensor_place_ment(desc, HOST) == 0
    out = single.take((2, 3), "f4")
    refused(single.call("Neg", [(desc, buffer)], [out]), 100000, "inputs[0] is placed in host memory and lies at")
    refused(single.call("Neg", [(desc, single.buffer(8, 24))], [out]), 100000, "inputs[0] lies at 0x8, expected an")
    refused(single.call("ReduceSum", [single.give(A), (single.host((1,), "i8"), single.buffer(8, 8))], [out]), 100000,
            "inputs[1] lies at 0x8")  # fmt: skip


def test_a_description_of_device_memory_stays_that(single):
    buffer = single.buffer(A.ctypes.data, A.nbytes)
    refused(single.call("Neg", [(single.desc(A.shape, "f4"), buffer)], [single.take((2, 3), "f4")]), 107000, "self")


def test_it_is_too_short(single):
    desc = single.host(A.shape, "f4")
    given = [(desc, single.buffer(A.ctypes.data, A.nbytes - 1))]
    refused(single.call("Neg", given, [single.take((2, 3), "f4")]), 100000, "inputs[0] has 23 bytes")


def test_a_capture_does_not_read_it_again(single):
    stream, out = single.npu.stream, single.take((2, 3), "f4")
    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    refused(single.call("Neg", [single.constant(A, "f4")], [out]), 207000, "Neg has inputs in host memory")
    assert single.call("ReduceMax", [single.give(A), single.constant([1])], [single.take((2,), "f4")]) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0, acl.get_recent_err_msg()
    assert acl.mdl.ri_destroy(instance) == 0


def test_the_default_data_type_is_that_of_the_description(single):
    halves = A.astype("f2")
    found = single.run("Cast", [single.constant(halves, "f2")], (2, 3), "f4", dst_type=CODES["f4"])
    numpy.testing.assert_array_equal(found, A)
