"""Single operators by type: what they compute, how they are ordered, handles, shapes, and types of the user's."""

import numpy
import pytest
from helpers.expect import latches, refused
from helpers.single import Single, attributes, kind_of, operands
from helpers.tensors import CODES, ND

import acl

op = acl.op
A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
B = numpy.array([[2, 2, 3], [1, 5, 0.5]], "f4")
ROW = numpy.array([10, 20, 30], "f4")
EACH = numpy.array([[0, 2], [1, 1]], "i8")


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


# Type, inputs, attributes, result.
CASES = {
    "Add": ([A, B], {}, A + B),
    "Add broadcast": ([A, ROW], {}, A + ROW),
    "Add bool": ([A > 0, B > 2], {}, (A > 0) | (B > 2)),
    "Sub": ([A, ROW], {}, A - ROW),
    "Mul": ([A, B], {}, A * B),
    "Div": ([A, B], {}, A / B),
    "RealDiv": ([A, B], {}, A / B),
    "Pow": ([B, numpy.full((2, 3), 2, "f4")], {}, B * B),
    "Maximum": ([A, B], {}, numpy.maximum(A, B)),
    "Minimum": ([A, B], {}, numpy.minimum(A, B)),
    "Equal": ([A, numpy.abs(A)], {}, numpy.abs(A) == A),
    "NotEqual": ([A, numpy.abs(A)], {}, numpy.abs(A) != A),
    "Greater": ([A, B], {}, A > B),
    "GreaterEqual": ([A, A], {}, A >= A),
    "Less": ([A, B], {}, A < B),
    "LessEqual": ([A, B], {}, A <= B),
    "LogicalAnd": ([A > 0, B > 2], {}, (A > 0) & (B > 2)),
    "LogicalNot": ([A > 0], {}, A <= 0),
    "Axpy": ([A, B], {"alpha": 0.5}, A + 0.5 * B),
    "Adds": ([A], {"value": 0.5}, A + 0.5),
    "Muls": ([A], {"value": -2.0}, A * -2),
    "Muls integers": ([numpy.array([1, 2, 3], "i4")], {"value": 3}, numpy.array([3, 6, 9], "i4")),
    "Abs": ([A], {}, numpy.abs(A)),
    "Neg": ([A], {}, -A),
    "Relu": ([A], {}, numpy.maximum(A, 0)),
    "Square": ([A], {}, A * A),
    "Sqrt": ([B], {}, numpy.sqrt(B)),
    "Exp": ([A], {"base": -1.0}, numpy.exp(A)),
    "Log": ([B], {"base": -1.0, "scale": 1.0, "shift": 0.0}, numpy.log(B)),
    "Select": ([A > 0, A, B], {}, numpy.where(A > 0, A, B)),
    "SelectV2": ([A > 0, A, B], {}, numpy.where(A > 0, A, B)),
    "Identity": ([A], {}, A),
    "TensorMove": ([A], {}, A),
    "ZerosLike": ([A], {}, numpy.zeros_like(A)),
    "OnesLike": ([A], {}, numpy.ones_like(A)),
    "BroadcastTo": ([ROW, [2, 3]], {}, numpy.broadcast_to(ROW, (2, 3))),
    "Fill": ([[2, 3], numpy.array(7, "f4")], {}, numpy.full((2, 3), 7, "f4")),
    "SoftmaxV2": ([A], {"axes": [0]}, numpy.exp(A) / numpy.exp(A).sum(0)),
    "LogSoftmaxV2": ([A], {"axes": [-1]}, A - numpy.log(numpy.exp(A).sum(-1, keepdims=True))),
    "ReduceSum": ([A, [0]], {"keep_dims": True}, A.sum(0, keepdims=True)),
    "ReduceSumD": ([A], {"axes": [0, 1]}, A.sum()),
    "ReduceMean": ([A, [1]], {}, A.mean(1)),
    "ReduceMeanD": ([A], {"axes": [-1]}, A.mean(1)),
    "ReduceProd": ([A, [1]], {}, A.prod(1)),
    "ReduceProdD": ([A], {"axes": [0]}, A.prod(0)),
    "ReduceMax": ([A, [1]], {"keep_dims": True}, A.max(1, keepdims=True)),
    "ReduceMaxD": ([A], {"axes": [1]}, A.max(1)),
    "ReduceMin": ([A, [0]], {}, A.min(0)),
    "ReduceMinD": ([A], {"axes": [0]}, A.min(0)),
    "ArgMaxV2": ([A, [1]], {}, A.argmax(1)),
    "ArgMaxD": ([A], {"dimension": 0}, A.argmax(0)),
    "MatMul": ([A, B.T.copy()], {}, A @ B.T),
    "MatMul turned": ([A, B], {"transpose_x1": True, "transpose_x2": False}, A.T @ B),
    "MatMul bias": ([A, B, numpy.array([1, 2], "f4")], {"transpose_x2": True}, A @ B.T + [1, 2]),
    "MatMulV2": ([A, B], {"transpose_x2": True, "offset_x": 0}, A @ B.T),
    "MatMulV2 bias": ([A, B.T.copy(), numpy.array([1, 2], "f4")], {}, A @ B.T + [1, 2]),
    "BatchMatMul": ([numpy.stack([A, B]), numpy.stack([B, A])], {"adj_x2": True}, numpy.stack([A @ B.T, B @ A.T])),
    "BatchMatMulV2": ([numpy.stack([A, B]), B], {"adj_x1": True}, numpy.stack([A.T @ B, B.T @ B])),
    "Transpose": ([A, [1, 0]], {}, A.T),
    "TransposeD": ([A], {"perm": [1, 0]}, A.T),
    "Tile": ([A, [2, 1]], {}, numpy.tile(A, (2, 1))),
    "TileD": ([ROW], {"multiples": [2, 2]}, numpy.tile(ROW, (2, 2))),
    "ReverseV2": ([A, [0]], {}, A[::-1]),
    "ReverseV2D": ([A], {"axis": [1]}, A[:, ::-1]),
    "ConcatD": ([A, B, A], {"concat_dim": 0, "N": 3}, numpy.concatenate([A, B, A])),
    "ConcatV2D": ([A, B], {"concat_dim": -1}, numpy.concatenate([A, B], -1)),
    "GatherV2": ([A, EACH, [1]], {}, A[:, EACH]),
    "GatherV2D": ([A, numpy.array([1, 1, 0], "i8")], {"axis": 0}, A[[1, 1, 0]]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_type_computes(name, single):
    inputs, values, result = CASES[name]
    result = numpy.asarray(result)
    kind = kind_of(result)
    found = single.run(name.split()[0], operands(single, inputs), result.shape, kind, **values)
    numpy.testing.assert_allclose(found, result, rtol=2e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_shape_of_the_output_is_inferred(name, single):
    inputs, values, result = CASES[name]
    given = operands(single, inputs)
    out = single.desc([-1], kind_of(numpy.asarray(result)))
    descs, buffers = [one[0] for one in given], [one[1] for one in given]
    ret = op.infer_shape(name.split()[0], descs, buffers, 1, [out], single.attr(**values))
    assert ret == 0, acl.get_recent_err_msg()
    count = acl.get_tensor_desc_num_dims(out)
    assert tuple(acl.get_tensor_desc_dim_v2(out, place)[0] for place in range(count)) == numpy.shape(result)


def test_an_open_output_is_told_its_shape(single):
    desc, buffer, read = single.take((2, 3), "f4")
    desc = single.desc([-1, -1], "f4")
    assert single.call("Add", [single.give(A), single.give(ROW)], [(desc, buffer)]) == 0, acl.get_recent_err_msg()
    assert [acl.get_tensor_desc_dim_v2(desc, place) for place in range(2)] == [(2, 0), (3, 0)]
    numpy.testing.assert_array_equal(read(), A + ROW)


def test_half_precision_and_cast(single):
    halves = single.run("Cast", [single.give(A)], (2, 3), "f2", dst_type=CODES["f2"])
    numpy.testing.assert_array_equal(halves, A.astype("f2"))
    desc, buffer = single.give(numpy.array([1.75, -1.75, 3e9], "f4"))
    out = single.take((3,), "i4")
    assert op.cast(desc, buffer, out[0], out[1], 0, single.npu.stream) == 0
    numpy.testing.assert_array_equal(out[2](), [1, -1, 2**31 - 1])
    handle, ret = op.create_handle_for_cast(desc, out[0], 1)
    assert ret == 0
    assert op.execute_with_handle(handle, [buffer], [out[1]], single.npu.stream) == 0
    numpy.testing.assert_array_equal(out[2](), [1, -1, 2**31 - 1])
    assert op.destroy_handle(handle) is None


def test_a_constant_is_given_with_its_description(single):
    axes = numpy.array([1], "i4")
    desc = single.desc([1], "i4")
    assert acl.set_tensor_const(desc, axes.ctypes.data, axes.nbytes) == 0
    axes[0] = 0  # the description has a copy
    found = single.run("ReduceSum", [single.give(A), (desc, single.buffer(0, 4))], (2,), "f4")
    numpy.testing.assert_array_equal(found, A.sum(1))


def test_an_optional_input_is_left_out(single):
    absent = acl.create_tensor_desc(-1, [], -1), single.buffer(0, 0)
    given = [single.give(A), single.give(B), absent]
    numpy.testing.assert_array_equal(single.run("MatMul", given, (2, 2), "f4", transpose_x2=True), A @ B.T)
    acl.destroy_tensor_desc(absent[0])


def test_hints_are_no_attributes(single):
    numpy.testing.assert_array_equal(single.run("Neg", [single.give(A)], (2, 3), "f4", _hint="x"), -A)


def test_an_empty_output_queues_nothing(single):
    empty = numpy.zeros((0, 3), "f4")
    assert single.run("Relu", [single.give(empty)], (0, 3), "f4").shape == (0, 3)


def test_operators_follow_the_order_of_the_stream(single):
    out = single.take((2, 3), "f4")
    with latches(single.npu.stream) as held:
        held.hold()
        assert single.call("Add", [single.give(A), single.give(B)], [out]) == 0
        assert single.call("Mul", [out, out], [out]) == 0
        assert acl.rt.stream_query(single.npu.stream) == (1, 0)
        held.release()
    numpy.testing.assert_array_equal(out[2](), (A + B) ** 2)


def test_everything_but_memory_may_go_once_the_call_has_returned(npu):
    single = Single(npu)
    out = single.take((2,), "f4")
    with latches(npu.stream) as held:
        held.hold()
        assert single.call("ReduceSum", [single.give(A), single.constant([1])], [out], keep_dims=False) == 0
        single.close()
        held.release()
    numpy.testing.assert_array_equal(out[2](), A.sum(1))


@pytest.mark.parametrize("execute", [op.execute, op.execute_v2])
def test_both_calls_and_the_default_stream(execute, single):
    (x, x_buffer), (y, y_buffer) = single.give(A), single.give(B)
    out = single.take((2, 3), "f4")
    assert execute("Add", [x, y], [x_buffer, y_buffer], [out[0]], [out[1]], 0, 0) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(0) == 0
    numpy.testing.assert_array_equal(out[2](), A + B)


def test_a_handle_runs_often(single):
    (x, x_buffer), (y, y_buffer), out = single.give(A), single.give(B), single.take((2, 2), "f4")
    attr = attributes({"transpose_x2": True})
    handle, ret = op.create_handle("MatMul", [x, y], [out[0]], attr)
    assert ret == 0, acl.get_recent_err_msg()
    assert op.destroy_attr(attr) is None
    assert op.execute_with_handle(handle, [x_buffer, y_buffer], [out[1]], single.npu.stream) == 0
    numpy.testing.assert_allclose(out[2](), A @ B.T)
    assert op.execute_with_handle(handle, [y_buffer, y_buffer], [out[1]], single.npu.stream) == 0
    numpy.testing.assert_allclose(out[2](), B @ B.T)
    assert op.destroy_handle(handle) is None


def test_attributes_are_set_anew(single):
    attr = attributes({"value": 1.5, "other": 2})
    assert op.set_attr_float(attr, "value", 4.0) == 0
    desc, buffer = single.give(A)
    out = single.take((2, 3), "f4")
    arguments = [desc], [buffer], [out[0]], [out[1]], attr, single.npu.stream
    refused(op.execute_v2("Muls", *arguments), 100023, "aclopExecuteV2", "Muls has no attribute other")
    op.destroy_attr(attr)
    numpy.testing.assert_array_equal(single.run("Muls", [(desc, buffer)], (2, 3), "f4", value=4.0), 4 * A)


@pytest.mark.needs_sim
class TestTypesOfTheUser:
    @pytest.fixture(autouse=True)
    def forgotten(self):
        """Take the kernel back."""
        yield
        acl.sim.kernel("AddCustom")(None)

    def test_a_kernel_in_numpy_runs_a_type(self, single):
        seen = []

        @acl.sim.kernel("AddCustom")
        def add(inputs, outputs, attributes):
            seen.append(attributes)
            outputs[0][...] = inputs[0] + attributes["scale"] * inputs[1]
            outputs[1][...] = len(inputs)

        first, second = single.take((2, 3), "f4"), single.take((), "i4")
        absent = acl.create_tensor_desc(-1, [], -1), single.buffer(0, 0)
        values = {
            "scale": 0.5, "count": 3, "is_set": True, "text": 'a"b\\\n', "flags": [True, False], "dims": [1, -2],
            "factors": [0.25, 1.5], "names": ["x", "y"], "pads": [[1, 2], [3]],
        }  # fmt: skip
        given = [single.give(A), absent, single.give(B)]
        assert single.call("AddCustom", given, [first, second], **values) == 0, acl.get_recent_err_msg()
        numpy.testing.assert_array_equal(first[2](), A + 0.5 * B)
        assert second[2]() == 2
        assert seen == [{**values, "is_set": 1}]
        acl.destroy_tensor_desc(absent[0])

    def test_data_types_are_numbers(self, single):
        seen = []

        @acl.sim.kernel("AddCustom")
        def run(inputs, outputs, attributes):
            seen.append(attributes)

        attr, out = single.attr(), single.take((2,), "f4")
        assert op.set_attr_data_type(attr, "kind", CODES["i8"]) == (attr, 0)
        assert op.set_attr_list_data_type(attr, "kinds", [CODES["f2"], CODES["f4"]]) == (attr, 0)
        assert op.execute_v2("AddCustom", [], [], [out[0]], [out[1]], attr, single.npu.stream) == 0
        assert acl.rt.synchronize_stream(single.npu.stream) == 0
        assert seen == [{"kind": 9, "kinds": [1, 0]}]

    def test_workspace_comes_from_the_device_and_goes_back(self, single):
        free = acl.rt.get_mem_info(1)[0]
        seen = []

        @acl.sim.kernel("AddCustom", plan=lambda inputs, outputs, attributes: 1 << 20)
        def run(inputs, outputs, attributes):
            seen.append(acl.rt.get_mem_info(1)[0])
            outputs[0][...] = 1

        assert single.run("AddCustom", [], (2,), "f4").tolist() == [1, 1]
        assert len(seen) == 1 and free - seen[0] >= 1 << 20
        stream, ret = acl.rt.create_stream()
        assert acl.rt.get_mem_info(1)[0] >= free - (1 << 20)
        acl.rt.destroy_stream(stream)

    def test_without_a_kernel_it_is_unknown_again(self, single):
        out = single.take((2,), "f4")
        refused(single.call("AddCustom", [], [out]), 100024, "aclopExecuteV2", 'acl.sim.kernel("AddCustom")')


def test_the_blocks_of_a_storage_format_are_not_visible(single):
    numbers = numpy.arange(-3, 3, dtype="f4").reshape(2, 3)
    given, out = single.give(numbers), single.take((2, 3), "f4")
    for desc in (given[0], out[0]):
        assert acl.set_tensor_storage_format(desc, 29) == 0
        assert acl.set_tensor_storage_shape(desc, [1, 1, 16, 16]) == 0
    assert single.call("Relu", [given], [out]) == 0, acl.get_recent_err_msg()
    numpy.testing.assert_array_equal(out[2](), numbers.clip(0))


def test_formats_in_blocks_are_refused(single):
    desc = acl.create_tensor_desc(0, [1, 1, 16, 16], 29)
    _, buffer = single.give(numpy.zeros((1, 1, 16, 16), "f4"))
    out = single.take((1, 1, 16, 16), "f4")
    refused(single.call("Relu", [(desc, buffer)], [out]), 100024, "inputs[0] has format 29")
    assert acl.get_tensor_desc_format(out[0]) == ND
    acl.destroy_tensor_desc(desc)
