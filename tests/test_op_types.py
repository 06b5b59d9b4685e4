"""Single operators by type have the inputs, attributes and defaults documented for the type, not those of aclnn."""

import numpy
import pytest
from helpers.expect import refused
from helpers.single import HWCN, NCHW, NHWC, Single, convolved, image, kind_of, operands
from helpers.tensors import CODES

import acl

op = acl.op
A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
POSITIVE = numpy.array([[2, 2, 3], [1, 5, 0.5]], "f4")
CUBE = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
INDEX = numpy.array([[0, 1], [1, 1]], "i8")
PICKED = numpy.array([2, 0], "i4")
CHOSEN = numpy.eye(3, dtype="f4")[PICKED]
CHANCES = numpy.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], "f4")
ONE, ZERO, LONE = numpy.array(1, "f4"), numpy.array(0, "f4"), CUBE.reshape(1, 24, 1)
IMAGE = numpy.arange(50, dtype="f4").reshape(1, 2, 5, 5)  # NCHW
SIDE = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "data_format": "NCHW"}


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def pooled(image, size, stride, pads=(0, 0, 0, 0), average=False):
    """Return the windows' greatest elements or averages of an NCHW array, without the padding."""
    top, bottom, left, right = pads
    edges = ((0, 0), (0, 0), (top, bottom), (left, right))
    image = numpy.pad(image.astype("f8"), edges, constant_values=numpy.nan)
    windows = numpy.lib.stride_tricks.sliding_window_view(image, size, (2, 3))[:, :, ::stride, ::stride]
    return (numpy.nanmean if average else numpy.nanmax)(windows, (-1, -2)).astype("f4")


def elu(x, alpha=1.0, scale=1.0, input_scale=1.0):
    """Return the documented formula."""
    return numpy.where(x > 0, scale * x, alpha * scale * numpy.expm1(input_scale * x))


def log1p_exp(x):
    """Return the softplus of numbers."""
    return numpy.log1p(numpy.exp(x, dtype="f8"))


# Type, inputs, attributes, result.
CASES = {
    "Slice": ([CUBE, [0, 1, 1], [2, 2, 2]], {}, CUBE[:, 1:3, 1:3]),
    "Slice to the end": ([A, [1, 0], [-1, -1]], {}, A[1:]),
    "SliceD": ([CUBE], {"offsets": [1, 0, 2], "size": [1, -1, 2]}, CUBE[1:, :, 2:]),
    "Elu": ([A], {}, elu(A)),
    "Elu numbers": ([A], {"alpha": 0.5, "scale": 2.0, "input_scale": 3.0}, elu(A, 0.5, 2, 3)),
    "Softplus": ([A * 10], {}, log1p_exp(A * 10)),
    "SoftplusV2": ([A], {}, log1p_exp(A)),
    "SoftplusV2 numbers": ([A], {"beta": 2.0, "threshold": 5.0}, numpy.where(A > 2.5, A, log1p_exp(2 * A) / 2)),
    "Swish": ([A], {}, A / (1 + numpy.exp(-A))),
    "Exp": ([A], {}, numpy.exp(A)),
    "Exp numbers": ([A], {"base": 2.0, "scale": 0.5, "shift": 1.0}, 2 ** (0.5 * A + 1)),
    "Exp shift": ([A], {"shift": 1.0}, numpy.exp(A + 1)),
    "Log": ([POSITIVE], {}, numpy.log(POSITIVE)),
    "Log numbers": ([POSITIVE], {"base": 10.0, "scale": 3.0, "shift": 0.5}, numpy.log10(3 * POSITIVE + 0.5)),
    "Power": ([A], {}, A),
    "Power numbers": ([A], {"power": 2.0, "scale": 0.5, "shift": 1.0}, (0.5 * A + 1) ** 2),
    "BitwiseAnd": ([INDEX, INDEX[::-1].copy()], {}, INDEX & INDEX[::-1]),
    "BitwiseOr": ([INDEX, INDEX[::-1].copy()], {}, INDEX | INDEX[::-1]),
    "BitwiseXor": ([INDEX, INDEX[::-1].copy()], {}, INDEX ^ INDEX[::-1]),
    "Invert": ([INDEX], {}, ~INDEX),
    "Flatten": ([CUBE], {}, CUBE.reshape(2, 12)),
    "Flatten axis": ([CUBE], {"axis": 2}, CUBE.reshape(6, 4)),
    "Flatten all": ([CUBE], {"axis": 0}, CUBE.reshape(1, 24)),
    "FlattenV2": ([CUBE], {}, CUBE.reshape(2, 12)),
    "FlattenV2 axes": ([CUBE], {"axis": 0, "end_axis": -2}, CUBE.reshape(6, 4)),
    "Reshape": ([CUBE, [4, -1]], {}, CUBE.reshape(4, 6)),
    "Reshape keeps": ([CUBE, [0, 12]], {}, CUBE.reshape(2, 12)),
    "ExpandDims": ([A, [1]], {}, A[:, None]),
    "Unsqueeze": ([A], {"axes": [0, -1]}, A[None, :, :, None]),
    "Squeeze": ([LONE], {}, LONE.reshape(24)),
    "Squeeze axis": ([LONE], {"axis": [-1]}, LONE[..., 0]),
    "ReduceSum none": ([A, numpy.zeros(0, "i8")], {}, A),
    "ReduceSum all": ([A, []], {"noop_with_empty_axes": False}, A.sum()),
    "ReduceProd none": ([A, []], {}, A),
    "ReduceProd many": ([CUBE + 1, [0, 2]], {}, (CUBE + 1).prod((0, 2))),
    "ReduceProd kept": ([CUBE + 1, [0, 2]], {"keep_dims": True}, (CUBE + 1).prod((0, 2), keepdims=True)),
    "ReduceProdD": ([A], {"axes": [0, 1]}, A.prod()),
    "ReduceMax all": ([A, []], {"noop_with_empty_axes": False}, A.max()),
    "ArgMaxV2": ([A, [0]], {}, A.argmax(0)),
    "ArgMin": ([A, [1]], {}, A.argmin(1)),
    "ArgMinD": ([A], {"dimension": 0}, A.argmin(0)),
    "Cumsum": ([A, [0]], {}, A.cumsum(0)),
    "Cumsum exclusive": ([A, [1]], {"exclusive": True}, numpy.array([[0, 1, -1], [0, 4, 9]], "f4")),
    "Cumsum reverse": ([A, [1]], {"reverse": True}, A[:, ::-1].cumsum(1)[:, ::-1]),
    "CumsumD": ([INDEX], {"axis": 0}, INDEX.cumsum(0)),
    "Concat": ([[0], A, POSITIVE], {"N": 2}, numpy.concatenate([A, POSITIVE])),
    "ConcatV2": ([A, POSITIVE, [-1]], {"N": 2}, numpy.concatenate([A, POSITIVE], 1)),
    "Gather": ([A, INDEX], {}, A[INDEX]),
    "GatherElements": ([A, INDEX], {"dim": 1}, numpy.take_along_axis(A, INDEX, 1)),
    "GatherV2": ([A, INDEX, [0]], {}, A[INDEX]),
    "OneHot": ([INDEX, [3], ONE, ZERO], {}, numpy.eye(3, dtype="f4")[INDEX]),
    "OneHot axis": ([INDEX, [2], ONE, ZERO], {"axis": 0}, numpy.moveaxis(numpy.eye(2, dtype="f4")[INDEX], -1, 0)),
    "OneHotD": ([INDEX + 1, ONE, ZERO], {"depth": 2}, (INDEX[..., None] + 1 == [0, 1]).astype("f4")),
    "Range": ([[3], [10], [2]], {}, numpy.arange(3, 10, 2)),
    "Range down": ([[3], [-3], [-2]], {}, numpy.arange(3, -3, -2)),
    "AddV2": ([A, POSITIVE], {}, A + POSITIVE),
    "Addcmul": ([A, POSITIVE, A[0], numpy.array(0.5, "f4")], {}, A + POSITIVE * A[0] / 2),
    "AxpyV2": ([A, POSITIVE[0], numpy.array([-3], "f4")], {}, A - 3 * POSITIVE[0]),
    "Addcdiv": ([A, A[0], POSITIVE, numpy.array([2], "f4")], {}, A + 2 * A[0] / POSITIVE),
    "ReluGrad": ([POSITIVE, A], {}, POSITIVE * (A > 0)),
    "SigmoidGrad": ([CHANCES, A], {}, CHANCES * (1 - CHANCES) * A),
    "TanhGrad": ([CHANCES, A], {}, (1 - CHANCES**2) * A),
    "SoftmaxGrad": ([CHANCES, A], {"axes": [-1]}, CHANCES * (A - (A * CHANCES).sum(1, keepdims=True))),
    "LogSoftmaxGrad": ([A, numpy.log(CHANCES)], {}, A - CHANCES * A.sum(1, keepdims=True)),
    "LogSoftmaxGrad axis": ([A, numpy.log(A * 0 + 0.5)], {"axis": [0]}, A - A.sum(0) / 2),
    "NLLLossGrad": ([A, ONE, PICKED, POSITIVE[0], numpy.array(4, "f4")], {"reduction": "sum"}, -CHOSEN * POSITIVE[0]),
    "NLLLossGrad mean": ([A, ONE, PICKED, POSITIVE[0], numpy.array(4, "f4")], {}, -CHOSEN * POSITIVE[0] / 4),
    "FloorDiv": ([INDEX - 7, INDEX + 2], {}, (INDEX - 7) // (INDEX + 2)),
    "LeakyRelu": ([A], {}, A.clip(0)),
    "LeakyRelu slope": ([A], {"negative_slope": 0.5}, numpy.where(A > 0, A, A / 2)),
    "Swish scale": ([A], {"scale": 2.0}, A / (1 + numpy.exp(-2 * A))),
    "Relu6": ([A * 2], {}, (A * 2).clip(0, 6)),
    "HardSwish": ([A], {}, A * (A + 3).clip(0, 6) / 6),
    "Sigmoid": ([A], {}, 1 / (1 + numpy.exp(-A))),
    "Tanh": ([A], {}, numpy.tanh(A)),
    "ClipByValue": ([A, numpy.array(-1, "f4"), numpy.array(4, "f4")], {}, A.clip(-1, 4)),
    "ClipByValue rows": ([INDEX, numpy.array([[1], [0]]), numpy.array([[1], [0]])], {}, numpy.array([[1, 1], [0, 0]])),
    "MaskedFill": ([A, A > 3, ZERO], {}, numpy.where(A > 3, 0, A)),
    "Select": ([numpy.array([True, False]), A, POSITIVE], {}, numpy.stack([A[0], POSITIVE[1]])),
    "Select all": ([A > 0, A, POSITIVE], {}, numpy.where(A > 0, A, POSITIVE)),
    "SelectV2": ([numpy.array([True, False, True]), A, ONE], {}, numpy.where([True, False, True], A, 1)),
    "BiasAdd": ([A, POSITIVE[0]], {}, A + POSITIVE[0]),
    "BiasAdd first": ([IMAGE, POSITIVE[0, :2]], {"data_format": "NCHW"}, IMAGE + 2),
    "Unsqueeze none": ([A], {}, A),
    "StridedSlice": ([CUBE, [0, 1, 0], [2, 3, 4], [1, 1, 2]], {}, CUBE[:, 1:3, ::2]),
    "StridedSlice short": ([CUBE, [1], [2], [1]], {}, CUBE[1:2]),
    "StridedSlice back": ([CUBE, [1, -1], [-9, 0], [-1, -2]], {}, CUBE[1::-1, -1:0:-2]),
    "StridedSlice none": ([A, [1], [1], [1]], {}, A[1:1]),
    "StridedSlice masks": ([CUBE, [9, 1], [9, 9], [1, 1]], {"begin_mask": 1, "end_mask": 3}, CUBE[:, 1:]),
    "StridedSlice shrink": ([CUBE, [-1, 1], [0, 2], [1, 1]], {"shrink_axis_mask": 1}, CUBE[-1, 1:2]),
    "StridedSlice ellipsis": (
        [CUBE, [0, 0, 1], [0, 0, 2], [1, 1, 1]], {"ellipsis_mask": 2, "new_axis_mask": 1, "shrink_axis_mask": 4},
        CUBE[None, ..., 1],
    ),
    "StridedSliceD": (
        [CUBE], {"begin": [0, 2], "end": [2, 0], "strides": [1, -1], "begin_mask": 1}, CUBE[:2, 2:0:-1],
    ),
    "Pack": ([A, POSITIVE], {}, numpy.stack([A, POSITIVE])),
    "Pack last": ([A, POSITIVE, A], {"axis": -1, "N": 3}, numpy.stack([A, POSITIVE, A], -1)),
    "Pad": ([A, [[1, 0], [0, 2]]], {}, numpy.pad(A, [(1, 0), (0, 2)])),
    "PadD": ([A], {"paddings": [[0, 1], [2, 10]]}, numpy.pad(A, [(0, 1), (2, 10)])),
    "PadV2": ([A, [[1, 0], [0, 2]], ONE], {}, numpy.pad(A, [(1, 0), (0, 2)], constant_values=1)),
    "PadV3": ([A, [1, 0, 0, 2]], {"mode": "constant"}, numpy.pad(A, [(1, 0), (0, 2)])),
    "PadV3 value": ([A, [1, 0, 0, 2], ONE], {}, numpy.pad(A, [(1, 0), (0, 2)], constant_values=1)),
    "PadV3 apart": ([A, [1, 2, 3, 4]], {"paddings_contiguous": False}, numpy.pad(A, [(1, 3), (2, 4)])),
    "GatherNd": ([CUBE, numpy.array([[0, 1], [1, 2]])], {}, CUBE[[0, 1], [1, 2]]),
    "GatherNd elements": ([A, numpy.array([[[0, 1]], [[1, 2]]], "i4")], {}, A[[[0], [1]], [[1], [2]]]),
    "MatMul": ([A, POSITIVE], {"transpose_x2": True}, A @ POSITIVE.T),
    "BatchMatMul": ([CUBE, CUBE], {"adj_x1": True}, CUBE.transpose(0, 2, 1) @ CUBE),
    "MaxPool": ([IMAGE], {**SIDE, "padding": "VALID"}, pooled(IMAGE, (2, 2), 2)),
    "MaxPool same": ([IMAGE], {**SIDE, "padding": "SAME"}, pooled(IMAGE, (2, 2), 2, (0, 1, 0, 1))),
    "AvgPool": ([IMAGE], {**SIDE, "padding": "SAME"}, pooled(IMAGE, (2, 2), 2, (0, 1, 0, 1), True)),
    "MaxPoolV3": ([IMAGE], {**SIDE, "pads": [1, 0, 0, 1]}, pooled(IMAGE, (2, 2), 2, (1, 0, 0, 1))),
    "MaxPoolV3 ceil": ([IMAGE], {**SIDE, "ceil_mode": True}, pooled(IMAGE, (2, 2), 2, (0, 1, 0, 1))),
    "MaxPoolV3 all": ([IMAGE], {**SIDE, "global_pooling": True}, IMAGE.max((2, 3), keepdims=True)),
    "AvgPoolV2": ([IMAGE], {**SIDE, "pads": [1, 0, 0, 1]}, pooled(IMAGE, (2, 2), 2, (1, 0, 0, 1), True)),
    "AvgPoolV2 pads": (
        [IMAGE],
        {**SIDE, "pads": [1, 0, 0, 1], "exclusive": False},
        pooled(numpy.pad(IMAGE, ((0, 0), (0, 0), (1, 0), (0, 1))), (2, 2), 2, average=True),
    ),
    "AvgPoolV2 ceil": ([IMAGE], {**SIDE, "ceil_mode": True}, pooled(IMAGE, (2, 2), 2, (0, 1, 0, 1), True)),
    "AvgPoolV2 ceil pads": (
        [IMAGE],
        {**SIDE, "pads": [2, 0, 2, 0], "ksize": [1, 1, 4, 4], "ceil_mode": True, "exclusive": False},
        pooled(numpy.pad(IMAGE, ((0, 0), (0, 0), (2, 0), (2, 0))), (4, 4), 2, (0, 1, 0, 1), True),
    ),
    "AvgPoolV2 divisor": (
        [IMAGE], {**SIDE, "divisor_override": 2}, pooled(IMAGE, (2, 2), 2, average=True) * 2,
    ),
    "GlobalAveragePool": ([IMAGE], {}, IMAGE.mean((2, 3), keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_type_has_its_own_arguments_and_defaults(name, single):
    inputs, values, result = CASES[name]
    result = numpy.asarray(result)
    found = single.run(name.split()[0], operands(single, inputs), result.shape, kind_of(result), **values)
    numpy.testing.assert_allclose(found, result, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_shape_of_the_output_follows(name, single):
    inputs, values, result = CASES[name]
    given = operands(single, inputs)
    out = single.desc([-2], kind_of(numpy.asarray(result)))
    descs, buffers = [one[0] for one in given], [one[1] for one in given]
    ret = op.infer_shape(name.split()[0], descs, buffers, 1, [out], single.attr(**values))
    assert ret == 0, acl.get_recent_err_msg()
    assert shape_of(out) == numpy.shape(result)


def shape_of(desc):
    """Return the dimensions of a description."""
    return tuple(acl.get_tensor_desc_dim_v2(desc, place)[0] for place in range(acl.get_tensor_desc_num_dims(desc)))


# Type, inputs, attributes, results.
PARTED = {
    "Split": ([[1], CUBE], {"num_split": 3}, numpy.split(CUBE, 3, 1)),
    "SplitD": ([CUBE], {"split_dim": -1, "num_split": 2}, numpy.split(CUBE, 2, -1)),
    "SplitV": ([CUBE, [1, -1], [2]], {"num_split": 2}, numpy.split(CUBE, [1], 2)),
    "SplitVD": ([CUBE], {"size_splits": [2, 0, 1], "split_dim": 1, "num_split": 3}, numpy.split(CUBE, [2, 2], 1)),
    "Unpack": ([CUBE], {"num": 2}, list(CUBE)),
    "Unpack last": ([CUBE], {"num": 4, "axis": -1}, [CUBE[..., place] for place in range(4)]),
}  # fmt: skip


class TestSeveralOutputs:
    """Each output has its own shape, and LayerNorm tells the variance where aclnnLayerNorm tells its inverse root."""

    def lines(self, single, op_type, values, inputs, shapes, kinds):
        outputs = [single.take(shape, kind) for shape, kind in zip(shapes, kinds)]
        assert single.call(op_type, inputs, outputs, **values) == 0, acl.get_recent_err_msg()
        return [out[2]() for out in outputs]

    @pytest.mark.parametrize(("op_type", "epsilon"), [("LayerNorm", 1e-7), ("LayerNormV3", 1e-5)])
    @pytest.mark.parametrize("axis", [None, 1, -1])
    def test_layer_norm(self, op_type, epsilon, axis, single):
        values = {} if axis is None else {"begin_norm_axis": axis, "begin_params_axis": axis}
        first = (axis or 0) % 3
        over, x = tuple(range(first, 3)), CUBE / 1000  # the default epsilon shows
        gamma, beta = x[(0,) * first] + 2, x[(0,) * first] - 1
        mean, variance = x.mean(over, keepdims=True), x.var(over, keepdims=True)
        inputs = [single.give(one) for one in (x, gamma, beta)]
        y, *told = self.lines(single, op_type, values, inputs, [x.shape, mean.shape, mean.shape], ["f4"] * 3)
        numpy.testing.assert_allclose(y, (x - mean) / numpy.sqrt(variance + epsilon) * gamma + beta, rtol=2e-4)
        numpy.testing.assert_allclose(told[0], mean, rtol=2e-4)
        rest = variance if op_type == "LayerNorm" else 1 / numpy.sqrt(variance + epsilon)
        numpy.testing.assert_allclose(told[1], rest, rtol=2e-4)

    def test_layer_norm_tells_all_shapes(self, single):
        given = [single.give(one) for one in (CUBE, CUBE[0, 0], CUBE[0, 0])]
        outs = [single.desc([-2], "f4") for _ in range(3)]
        attr = single.attr(begin_norm_axis=2, begin_params_axis=2)
        assert op.infer_shape("LayerNorm", [one[0] for one in given], [one[1] for one in given], 3, outs, attr) == 0
        assert [shape_of(out) for out in outs] == [(2, 3, 4), (2, 3, 1), (2, 3, 1)]

    def test_rms_norm(self, single):
        gamma = POSITIVE[0]
        inputs = [single.give(A), single.give(gamma)]
        y, rstd = self.lines(single, "RmsNorm", {}, inputs, [(2, 3), (2, 1)], ["f4", "f4"])
        expected = 1 / numpy.sqrt((A * A).mean(1, keepdims=True) + 1e-6)
        numpy.testing.assert_allclose(rstd, expected, rtol=1e-5)
        numpy.testing.assert_allclose(y, A * expected * gamma, rtol=1e-5)

    @pytest.mark.parametrize(("op_type", "pick"), [("ArgMaxWithValue", "max"), ("ArgMinWithValue", "min")])
    def test_places_come_before_values(self, op_type, pick, single):
        places, values = self.lines(single, op_type, {"dimension": 1}, [single.give(A)], [(2,), (2,)], ["i4", "f4"])
        numpy.testing.assert_array_equal(places, getattr(A, f"arg{pick}")(1))
        numpy.testing.assert_array_equal(values, getattr(A, pick)(1))

    @pytest.mark.parametrize(("reduction", "shape"), [("none", (2,)), ("sum", ()), ("mean", ())])
    def test_loss_of_classes(self, reduction, shape, single):
        given = [single.give(one) for one in (A, PICKED, POSITIVE[0])]
        loss, weight = self.lines(single, "NLLLoss", {"reduction": reduction}, given, [shape, ()], ["f4", "f4"])
        losses = (-A * CHOSEN * POSITIVE[0]).sum(1)
        expected = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / 5}[reduction]
        numpy.testing.assert_allclose(loss, expected, rtol=1e-6)
        assert weight == 5
        assert single.shapes("NLLLoss", given, ["f4", "f4"], reduction=reduction) == [shape, ()]

    @pytest.mark.parametrize("op_type", PARTED)
    def test_parts(self, op_type, single):
        inputs, values, parts = PARTED[op_type]
        given = operands(single, inputs)
        shapes = [part.shape for part in parts]
        found = self.lines(single, op_type.split()[0], values, given, shapes, ["f4"] * len(parts))
        for one, part in zip(found, parts):
            numpy.testing.assert_array_equal(one, part)
        outs = [single.desc([-2], "f4") for _ in parts]
        attr = single.attr(**values)
        descs, buffers = [one[0] for one in given], [one[1] for one in given]
        ret = op.infer_shape(op_type.split()[0], descs, buffers, len(parts), outs, attr)
        assert ret == 0, acl.get_recent_err_msg()
        assert [shape_of(out) for out in outs] == shapes

    def test_the_number_of_outputs_is_that_of_the_type(self, single):
        given = [single.give(one) for one in (A, A[0], A[0])]
        refused(single.call("LayerNorm", given, [single.take((2, 3), "f4")]), 100022, "numOutputs is 1, expected 3")


class TestConvolution:
    WEIGHTS = numpy.arange(-12, 24, dtype="f4").reshape(2, 2, 3, 3)[:2]

    @pytest.mark.parametrize(("layout", "filter_layout"), [(NCHW, NCHW), (NHWC, HWCN), (NHWC, NHWC)])
    @pytest.mark.parametrize("bias", [False, True])
    def test_layouts(self, layout, filter_layout, bias, single):
        given = [image(single, IMAGE, layout), image(single, self.WEIGHTS, filter_layout)]
        expected = convolved(IMAGE, self.WEIGHTS, 2, (1, 1, 1, 1))
        if bias:
            given.append(single.give(numpy.array([5, 7], "f4")))
            expected = expected + numpy.array([5, 7], "f4")[:, None, None]
        strides = [1, 1, 2, 2] if layout == NCHW else [1, 2, 2, 1]
        expected = expected if layout == NCHW else expected.transpose(0, 2, 3, 1)
        found = single.run("Conv2D", given, expected.shape, "f4", strides=strides, pads=[1, 1, 1, 1])
        numpy.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_dilations_and_groups(self, single):
        weights = self.WEIGHTS[:, :1]
        given = [image(single, IMAGE, NCHW), image(single, weights, NCHW)]
        values = {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1, 2, 2], "groups": 2}
        expected = convolved(IMAGE, weights, apart=2, groups=2)
        numpy.testing.assert_allclose(single.run("Conv2D", given, expected.shape, "f4", **values), expected, rtol=1e-6)

    def test_the_shape_follows(self, single):
        given = [image(single, IMAGE, NCHW), image(single, self.WEIGHTS, NCHW)]
        out, attr = single.desc([-2], "f4"), single.attr(strides=[1, 1, 2, 2], pads=[1, 1, 1, 1])
        assert op.infer_shape("Conv2D", [one[0] for one in given], [one[1] for one in given], 1, [out], attr) == 0
        assert shape_of(out) == (1, 2, 3, 3)

    def test_channels_that_do_not_fit(self, single):
        given = [image(single, IMAGE, NCHW), image(single, self.WEIGHTS[:, :1], NCHW)]
        out = single.take((1, 2, 3, 3), "f4")
        code = single.call("Conv2D", given, [out], strides=[1, 1, 1, 1], pads=[0, 0, 0, 0])
        text = acl.get_recent_err_msg()
        assert code == 100024 and "x has 2 channels, filter has 1 and groups is 1" in text, text


def test_the_layout_of_max_pool_is_channels_last_by_default(single):
    moved = numpy.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))
    values = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    found = single.run("MaxPool", [single.give(moved)], (1, 2, 2, 2), "f4", **values)
    numpy.testing.assert_array_equal(found, pooled(IMAGE, (2, 2), 2).transpose(0, 2, 3, 1))


def test_a_nan_is_the_greatest_of_a_window(single):
    spoilt = IMAGE.copy()
    spoilt[0, 0, 0, 0] = numpy.nan
    found = single.run("MaxPool", [single.give(spoilt)], (1, 2, 2, 2), "f4", padding="VALID", **SIDE)
    assert numpy.isnan(found).sum() == 1 and numpy.isnan(found[0, 0, 0, 0])


def test_the_range_is_counted_when_it_runs(single):
    given = [single.give(numpy.array(one, "f4")) for one in (0, 1, 0.25)]
    numpy.testing.assert_array_equal(single.run("Range", given, (4,), "f4"), [0, 0.25, 0.5, 0.75])
    assert single.call("Range", given, [single.take((5,), "f4")]) == 0
    assert acl.rt.synchronize_stream(single.npu.stream) == 507015


def test_an_index_of_gather_nd_that_is_out_of_range(single):
    given = [single.give(A), single.give(numpy.array([[0, 0], [1, 3]]))]
    assert single.call("GatherNd", given, [single.take((2,), "f4")]) == 0
    assert acl.rt.synchronize_stream(single.npu.stream) == 507015
    text = acl.get_recent_err_msg()
    assert not acl.is_simulator or "indices has 3 for dimension 1 of x, expected 0 to 2" in text, text


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_the_shape_of_a_range_of_floats_follows_from_host_memory(kind, single):
    given, out = [single.constant(one, kind) for one in (0, 1, 0.25)], single.desc([-1], kind)
    assert op.infer_shape("Range", [one[0] for one in given], [one[1] for one in given], 1, [out], single.attr()) == 0
    assert shape_of(out) == (4,)


@pytest.mark.parametrize("kind", ["i4", "f2"])
def test_sums_of_other_types(kind, single):
    many = numpy.ones((3, 700), kind)
    found = single.run("CumsumD", [single.give(many)], (3, 700), kind, axis=1)
    numpy.testing.assert_array_equal(found, many.cumsum(1).astype(kind))


# Type, inputs, attributes, shape of the output, code, words of the messages.
MISFITS = [
    ("Slice", [A, [0, 0], [3, 1]], {}, (3, 1), 100024, "takes 3 elements from 0 on of dimension 0 of x, which is 2"),
    ("Slice", [A, [0], [1]], {}, (1, 3), 100024, "need a number for each dimension of x"),
    ("Slice", [A], {"offsets": [0, 0], "size": [1, 1]}, (1, 1), 100021, "numInputs is 1"),
    ("SliceD", [A], {"offsets": [0, 0]}, (1, 1), 100023, "SliceD needs attribute size, which is missing"),
    ("Conv2D", [IMAGE, IMAGE], {"strides": [1] * 4, "pads": [0] * 4, "padding_mode": "SAME"}, (1, 1, 1, 1), 100023,
     "Conv2D has no attribute padding_mode"),
    ("Conv2D", [IMAGE, IMAGE], {"strides": [1] * 4, "pads": [0] * 4, "offset_w": 0}, (1, 1, 1, 1), 100023,
     "Conv2D has no attribute offset_w"),
    ("MatMul", [A, A], {"offset_x": 0}, (2, 2), 100023, "MatMul has no attribute offset_x"),
    ("BatchMatMul", [A, A], {"offset_x": 0}, (2, 2), 100023, "BatchMatMul has no attribute offset_x"),
    ("BiasAdd", [A, A[:, 0].copy()], {}, (2, 3), 100024, "bias must have one dimension, and one element per channel"),
    ("BiasAdd", [A, A[0]], {"data_format": "ND"}, (2, 3), 100023, "data_format of BiasAdd is ND, expected NCHW"),
    ("Select", [CUBE > 0, A, A], {}, (2, 3), 100024, "condition has more dimensions than x1"),
    ("StridedSlice", [A, [0], [1], [0]], {}, (1, 3), 100024, "strides of StridedSlice has 0 for dimension 0"),
    ("StridedSlice", [A, [0], [1], [1, 1]], {}, (1, 3), 100024, "begin, end and strides have different lengths"),
    ("StridedSlice", [A, [0] * 3, [1] * 3, [1] * 3], {}, (1, 1), 100024, "begin is for more dimensions than x has"),
    ("StridedSlice", [A, [2], [3], [1]], {"shrink_axis_mask": 1}, (3,), 100024, "is 2 for dimension 0 of x, which"),
    ("StridedSlice", [A, [0], [1], [1]], {}, (2, 3), 100022, "outputs[0] of StridedSlice has 2 dimensions"),
    ("StridedSlice", [A], {"begin": [0], "end": [1], "strides": [1]}, (1, 3), 100021, "numInputs is 1"),
    ("StridedSliceD", [A], {"begin": [0], "end": [1]}, (1, 3), 100023, "needs attribute strides, which is missing"),
    ("Split", [[0], A], {"num_split": 2}, (1, 3), 100023, "num_split of Split is 2, expected numOutputs, 1"),
    ("SplitD", [A], {"split_dim": 2, "num_split": 1}, (2, 3), 100023, "SplitD splits dimension 2 of x, which has 2"),
    ("SplitVD", [A], {"size_splits": [3], "split_dim": 0, "num_split": 1}, (3, 3), 100024, "of size_splits is larger"),
    ("SplitVD", [A], {"size_splits": [1], "split_dim": 0, "num_split": 1}, (1, 3), 100024, "sizes leaves 1 of"),
    ("SplitVD", [A], {"size_splits": [1, 1], "split_dim": 0, "num_split": 1}, (1, 3), 100024, "one number per"),
    ("Unpack", [A], {"num": 1}, (3,), 100024, "Unpack makes 1 tensors of dimension 0 of x, which is 2"),
    ("Pack", [A], {"axis": 3}, (1, 2, 3), 100023, "attribute axis of Pack is 3, expected -3 to 2"),
    ("Pad", [A, [1, 2]], {}, (3, 3), 100024, "paddings needs two numbers for each dimension of x"),
    ("Pad", [A, [[-1, 0], [0, 0]]], {}, (1, 3), 100024, "pads has -1 and 0 for dimension 0, expected 0 or more"),
    ("PadD", [A], {"paddings": [1, 0, 0, 0]}, (3, 3), 100023, "needs attribute paddings, a list of lists"),
    ("PadV3", [A, [0] * 4], {"mode": "mirror"}, (2, 3), 100023, 'mode of PadV3 is "mirror", expected constant'),
    ("PadV2", [A, [0] * 4, A], {}, (2, 3), 100024, "value has"),
    ("GatherNd", [A, numpy.zeros((1, 3), "i8")], {}, (1,), 100024, "dimension of indices is 3, expected at most 2"),
    ("Elu", [A], {"inputScale": 1.0}, (2, 3), 100023, "Elu has no attribute inputScale"),
    ("Softplus", [A], {"beta": 1.0}, (2, 3), 100023, "Softplus has no attribute beta"),
    ("Log", [A], {"base": -2.0}, (2, 3), 100024, "base is -2, expected a number above 0, or -1 for e"),
    ("Flatten", [CUBE], {"axis": 4}, (24, 1), 100023, "axis of Flatten is 4, expected -3 to 3"),
    ("Flatten", [CUBE], {}, (6, 4), 100022, "expected the 2 dimensions that follow from the 96 bytes"),
    ("FlattenV2", [CUBE], {"axis": 2, "end_axis": 0}, (24,), 100024, "end_axis comes before axis"),
    ("FlattenV2", [CUBE], {"end_axis": 3}, (24,), 100023, "axis of FlattenV2 is 3, expected -3 to 2"),
    ("Reshape", [A, [5, -1]], {}, (5, 1), 100022, "outputs[0] of Reshape has 2 dimensions and 20 bytes"),
    ("Reshape", [A, [-1, -1]], {}, (2, 3), 100024, "a negative number other than a single -1"),
    ("Unsqueeze", [A], {"axes": [0, 0]}, (1, 2, 3), 100024, "or is repeated"),
    ("Squeeze", [A], {"axis": [0]}, (3,), 100024, "a dimension to remove is not 1"),
    ("ConcatV2", [], {}, (2, 3), 100021, "numInputs is 0, expected more for ConcatV2"),
    ("GeluV2", [A], {"approximate": "erf"}, (2, 3), 100023, 'approximate of GeluV2 is "erf", expected none or tanh'),
    ("NLLLossGrad", [A, ONE, PICKED, A[0], ONE], {"reduction": "all"}, (2, 3), 100023, "expected none, mean or sum"),
    ("OneHot", [INDEX, [2], ONE, ZERO], {"axis": 5}, (2, 2, 2), 100024, "axis is 5, expected -1 to 2"),
    ("MaxPool", [IMAGE], {**SIDE, "padding": "FULL"}, (1, 2, 2, 2), 100023, '"FULL", expected SAME or VALID'),
    ("MaxPool", [IMAGE], SIDE, (1, 2, 2, 2), 100023, 'attribute padding of MaxPool is "", expected SAME or VALID'),
    ("MaxPool", [IMAGE], {"padding": "VALID"}, (1, 2, 2, 2), 100023, "MaxPool needs attribute ksize, which is missing"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "divisor_override": 2}, (1, 2, 2, 2), 100023, "no attribute divisor_override"),
    ("MaxPool", [A], {**SIDE, "padding": "VALID"}, (1, 1), 100024, "inputs[0] of MaxPool has 2 dimensions, expected 4"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "pads": [1, 2]}, (1, 2, 2, 2), 100023, "pads of MaxPoolV3 has 2 numbers"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "pads": [-1, 0, 0, 0]}, (1, 2, 2, 2), 100023, "pads of MaxPoolV3 has -1"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "data_format": "CHWN"}, (1, 2, 2, 2), 100023, "is CHWN, expected NCHW or NHWC"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "ksize": [2, 2, 1, 1]}, (1, 2, 2, 2), 100023, "expected 1 for the batch"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "ksize": [1, 1, 2]}, (1, 2, 2, 2), 100023, "ksize of MaxPoolV3 has 3 numbers"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "strides": [1, 1, 0, 1]}, (1, 2, 2, 2), 100023, "size 2, stride 0 and dilation 1"),
    ("MaxPoolV3", [IMAGE], {**SIDE, "ksize": [1, 1, 9, 9]}, (1, 2, 1, 1), 100024, "is shorter than the window"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "values", "shape", "code", "words"), MISFITS)
def test_what_does_not_fit_the_type(op_type, inputs, values, shape, code, words, single):
    out = single.take(shape, kind_of(numpy.zeros(0, "i8")) if op_type == "Range" else "f4")
    assert single.call(op_type, operands(single, inputs), [out], **values) == code
    text = acl.get_recent_err_msg()
    assert not acl.is_simulator or words in text, text


PAIRS = A.astype("c8") + 1j
# Type, inputs, attributes, type of the output, words of the messages.
TYPES = [
    ("Div", [INDEX, INDEX + 1], {}, "i8", "the quotient is float32, which cannot be cast to int64"),
    ("Div", [A, A], {}, "i4", "the quotient is float32, which cannot be cast to int32"),
    ("RealDiv", [INDEX.astype("i4"), INDEX.astype("i4")], {}, "i4", "which cannot be cast to int32"),
    ("Div", [PAIRS, PAIRS], {}, "f4", "the quotient is complex64, which cannot be cast to float32"),
    ("Relu", [PAIRS], {}, "c8", "16, complex64, expected"),
    ("Swish", [PAIRS], {}, "c8", "16, complex64, expected"),
    ("LeakyRelu", [PAIRS], {}, "c8", "16, complex64, expected"),
    ("SoftmaxV2", [PAIRS], {}, "c8", "16, complex64, expected"),
    ("MaxPool", [IMAGE.astype("c8")], {**SIDE, "padding": "VALID"}, "c8", "16, complex64, expected"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "values", "kind", "words"), TYPES)
def test_types_of_elements_that_do_not_fit(op_type, inputs, values, kind, words, single):
    shape = (1, 2, 2, 2) if op_type == "MaxPool" else inputs[0].shape
    assert single.call(op_type, operands(single, inputs), [single.take(shape, kind)], **values) == 100024
    text = acl.get_recent_err_msg()
    assert not acl.is_simulator or words in text, text


@pytest.mark.parametrize(
    ("op_type", "function"), [("Add", numpy.add), ("Mul", numpy.multiply), ("RealDiv", numpy.divide)]
)
def test_complex_numbers(op_type, function, single):
    found = single.run(op_type, [single.give(PAIRS), single.give(PAIRS[::-1])], PAIRS.shape, "c8")
    numpy.testing.assert_allclose(found, function(PAIRS, PAIRS[::-1]), rtol=1e-6)


@pytest.mark.parametrize("op_type", ["Permute", "Sum", "Amax", "SliceV2", "Matmul", "ReduceNansum", "LogSumExp"])
def test_an_aclnn_operator_with_attributes_is_no_type(op_type, single):
    words = f"does not know the attributes of operator {op_type}, which are not the arguments of aclnn{op_type}"
    refused(single.call(op_type, [single.give(A)], [single.take((2, 3), "f4")]), 100024, words)


@pytest.mark.needs_sim
def test_a_kernel_of_the_users_goes_before_the_type(single):
    @acl.sim.kernel("MaxPool")
    def pool(inputs, outputs, attributes):
        outputs[0][...] = attributes["ksize"]

    try:
        found = single.run("MaxPool", [single.give(IMAGE)], (4,), "f4", ksize=[1, 2, 3, 4])
    finally:
        acl.sim.kernel("MaxPool")(None)
    assert found.tolist() == [1, 2, 3, 4]


def test_data_types_of_attributes_may_be_given(single):
    attr = single.attr()
    assert op.set_attr_data_type(attr, "dtype", CODES["i8"]) == (attr, 0)
    (x, x_buffer), (dim, dim_buffer), out = single.give(A), single.constant([1]), single.take((2,), "i8")
    code = op.execute_v2("ArgMaxV2", [x, dim], [x_buffer, dim_buffer], [out[0]], [out[1]], attr, single.npu.stream)
    assert code == 0, acl.get_recent_err_msg()
    numpy.testing.assert_array_equal(out[2](), A.argmax(1))
