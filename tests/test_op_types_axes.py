"""Single operators over several dimensions: softmax, LayerNorm, the modes of PadV3, TopK, products with a bias."""

import numpy
import pytest
from helpers.single import Single, kind_of, operands

import acl

A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
RANDOM = numpy.random.default_rng(5)
CUBE = RANDOM.normal(size=(2, 3, 4)).astype("f4")
WIDE = RANDOM.normal(size=(2, 1, 3, 4)).astype("f4")
TALL = RANDOM.normal(size=(5, 4, 3)).astype("f4")
TIES = numpy.array([[3, 1, 3, 2], [2, 2, 0, 2]], "f4")


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def softmax(x, axes):
    """Return the softmax over several dimensions."""
    powers = numpy.exp(x.astype("f8") - x.max(axes, keepdims=True))
    return powers / powers.sum(axes, keepdims=True)


# Type, inputs, attributes, result.
CASES = {
    "SoftmaxV2 two": ([CUBE], {"axes": [0, 2]}, softmax(CUBE, (0, 2))),
    "SoftmaxV2 all": ([CUBE], {"axes": [-1, 1, 0]}, softmax(CUBE, (0, 1, 2))),
    "SoftmaxV2 one": ([CUBE], {"axes": [1]}, softmax(CUBE, (1,))),
    "SoftmaxV2 none": ([CUBE], {}, softmax(CUBE, (2,))),
    "SoftmaxV2 far": ([CUBE + 1000], {"axes": [1, 2]}, softmax(CUBE + 1000, (1, 2))),
    "SoftmaxV2 empty": ([CUBE[:, :0].copy()], {"axes": [0, 1]}, CUBE[:, :0]),
    "LogSoftmaxV2 two": ([CUBE], {"axes": [1, -1]}, numpy.log(softmax(CUBE, (1, 2)))),
    "PadV3 reflect": (
        [A, [1, 1, 2, 1]], {"mode": "reflect"}, numpy.pad(A, [(1, 1), (2, 1)], mode="reflect"),
    ),
    "PadV3 edge": ([A, [3, 0, 0, 4]], {"mode": "edge"}, numpy.pad(A, [(3, 0), (0, 4)], mode="edge")),
    "PadV3 circular": ([A, [2, 1, 0, 3]], {"mode": "circular"}, numpy.pad(A, [(2, 1), (0, 3)], mode="wrap")),
    "PadV3 ignores the value": (
        [CUBE, [0, 0, 1, 2, 0, 3], numpy.array(7, "f4")],
        {"mode": "reflect"},
        numpy.pad(CUBE, [(0, 0), (1, 2), (0, 3)], mode="reflect"),
    ),
    "PadV3 apart": (
        [A, [1, 2, 0, 1]],
        {"mode": "edge", "paddings_contiguous": False},
        numpy.pad(A, [(1, 0), (2, 1)], mode="edge"),
    ),
    "PadV3 none": ([A, [0] * 4], {"mode": "circular"}, A),
    "PadV3 empty": ([A[:0], [0, 0, 1, 1]], {"mode": "reflect"}, numpy.zeros((0, 5), "f4")),
    "PadV3 integers": (
        [A.astype("i8"), [1, 1, 1, 1]], {"mode": "reflect"}, numpy.pad(A.astype("i8"), 1, mode="reflect"),
    ),
    "BatchMatMulV2": ([WIDE, TALL, A[0]], {}, WIDE @ TALL + A[0]),
    "BatchMatMulV2 rows": ([TALL, TALL, TALL[:, 0, :1].reshape(5, 1, 1).copy()], {"adj_x1": True, "offset_x": 0},
                           TALL.transpose(0, 2, 1) @ TALL + TALL[:, :1, :1]),
    "BatchMatMulV2 turned": ([WIDE, WIDE, A[:, :1].copy().reshape(2, 1, 1, 1)], {"adj_x2": True},
                             WIDE @ WIDE.transpose(0, 1, 3, 2) + A[:, :1].reshape(2, 1, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_shape(name, single):
    inputs, values, result = CASES[name]
    op_type, given, kind = name.split()[0], operands(single, inputs), kind_of(numpy.asarray(result))
    found = single.run(op_type, given, result.shape, kind, **values)
    numpy.testing.assert_allclose(found, result, rtol=1e-5, atol=1e-6)
    assert single.shapes(op_type, given, [kind], **values) == [result.shape]


def test_a_softmax_of_halves_over_two_dimensions(single):
    x = CUBE.astype("f2")
    found = single.run("SoftmaxV2", [single.give(x)], x.shape, "f2", axes=[0, 1])
    numpy.testing.assert_allclose(found, softmax(x.astype("f4"), (0, 1)), rtol=1e-3)


@pytest.mark.parametrize("op_type", ["SoftmaxV2", "LogSoftmaxV2"])
def test_a_nan_spoils_its_line_alone(op_type, single):
    x = CUBE.copy()
    x[1, 2, 3] = numpy.nan
    found = single.run(op_type, [single.give(x)], x.shape, "f4", axes=[1, 2])
    assert numpy.isnan(found[1]).all() and not numpy.isnan(found[0]).any()


def test_inputs_in_host_memory(single):
    x = single.constant(A, "f4")
    numpy.testing.assert_allclose(
        single.run("SoftmaxV2", [x], A.shape, "f4", axes=[0, 1]), softmax(A, (0, 1)), rtol=1e-6
    )
    found = single.run("PadV3", [x, single.constant([0, 0, 1, 1], "i4")], (2, 5), "f4", mode="edge")
    numpy.testing.assert_array_equal(found, numpy.pad(A, [(0, 0), (1, 1)], mode="edge"))


class TestLayerNorm:
    """gamma and beta have the dimensions of x from begin_params_axis on, and are broadcast."""

    @pytest.mark.parametrize(("norm", "params"), [(1, 2), (1, -1), (0, 2), (2, 0), (2, 1), (1, 0), (0, 0)])
    def test_axes(self, norm, params, single):
        over, first = tuple(range(norm, 3)), params % 3
        gamma, beta = (RANDOM.normal(size=CUBE.shape[first:]).astype("f4") for _ in range(2))
        mean, variance = CUBE.mean(over, keepdims=True), CUBE.var(over, keepdims=True)
        given = [single.give(one) for one in (CUBE, gamma, beta)]
        values = {"begin_norm_axis": norm, "begin_params_axis": params, "epsilon": 1e-3}
        shapes = [CUBE.shape, mean.shape, mean.shape]
        y, *told = single.run_all("LayerNorm", given, shapes, ["f4"] * 3, **values)
        expected = (CUBE - mean) / numpy.sqrt(variance + 1e-3) * gamma + beta
        numpy.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
        numpy.testing.assert_allclose(told[0], mean, rtol=1e-5, atol=1e-6)
        numpy.testing.assert_allclose(told[1], variance, rtol=1e-5)
        assert single.shapes("LayerNorm", given, ["f4"] * 3, **values) == shapes


class TestCdistGrad:
    """The inputs have their documented shapes, or, as torch_npu passes them, are expanded to a common one."""

    X1, X2, GRAD = (RANDOM.normal(size=shape).astype("f4") for shape in ((2, 5, 3), (2, 4, 3), (2, 5, 4)))

    @pytest.mark.parametrize("expands", [False, True])
    @pytest.mark.parametrize("p", [0.5, 2.0, 3.0, -1.0])
    def test_values(self, expands, p, single):
        apart = self.X1[:, :, None] - self.X2[:, None].astype("f8")
        sizes = numpy.abs(apart)
        whole = sizes.max(-1) if p == -1 else (sizes**p).sum(-1) ** (1 / p)
        parts = sizes == whole[..., None] if p == -1 else (sizes / whole[..., None]) ** (p - 1)
        expected = (self.GRAD[..., None] * numpy.sign(apart) * parts).sum(-2)
        inputs = [self.GRAD, self.X1, self.X2, whole.astype("f4")]
        if expands:
            inputs = [self.GRAD[..., None], self.X1[:, :, None], self.X2[:, None], whole.astype("f4")[..., None]]
            inputs = [numpy.broadcast_to(one, apart.shape).copy() for one in inputs]
        given = [single.give(one) for one in inputs]
        found = single.run("CdistGrad", given, expected.shape, "f4", **({} if p == 2 else {"p": p}))
        numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_the_shape_of_an_output(self, single):
        """It tells the forms apart, if its rank is known."""
        given = [single.give(one) for one in (self.GRAD, self.X1, self.X2, self.GRAD)]
        assert single.shapes("CdistGrad", given, ["f4"]) == [(2, 5, 3)]
        attr, cubes, lines = single.attr(), [single.give(CUBE)] * 4, [single.give(A[0])] * 4
        for given, open_dims, code in ((cubes, [-1, -1], 0), (lines, [-2], 148050)):
            out, (descs, buffers) = single.desc(open_dims, "f4"), zip(*given)
            assert acl.op.infer_shape("CdistGrad", list(descs), list(buffers), 1, [out], attr) == code
            if code == 0:
                assert [acl.get_tensor_desc_dim_v2(out, place)[0] for place in range(2)] == [2, 4]

    def test_an_input_without_vectors(self, single):
        given = [single.give(numpy.ones((2, 0, 3), "f4")) for _ in range(4)]
        assert single.run("CdistGrad", given, (2, 3), "f4").tolist() == [[0] * 3] * 2


class TestTopK:
    """TopK and TopKV2 take k as an input, TopKD as an attribute; equal elements stay in their order."""

    def run(self, single, op_type, x, k, shape, kinds=("f4", "i4"), **values):
        given = [single.give(x)]
        given.append(single.give(numpy.arange(8, dtype="f2")) if op_type == "TopKD" else single.constant([k], "i4"))
        values = {**values, "k": k} if op_type == "TopKD" else values
        assert single.shapes(op_type, given, kinds, **values) == [shape, shape]
        return single.run_all(op_type, given, [shape, shape], kinds, **values)

    @pytest.mark.parametrize("op_type", ["TopK", "TopKV2", "TopKD"])
    def test_the_greatest_of_the_last_dimension(self, op_type, single):
        values, indices = self.run(single, op_type, TIES, 3, (2, 3))
        order = numpy.argsort(-TIES, 1, kind="stable")[:, :3]
        numpy.testing.assert_array_equal(indices, order)
        numpy.testing.assert_array_equal(values, numpy.take_along_axis(TIES, order, 1))

    @pytest.mark.parametrize("kind", ["i4", "i8"])
    def test_the_smallest_of_another_dimension(self, kind, single):
        found = self.run(single, "TopKV2", CUBE, 2, (2, 2, 4), ("f4", kind), dim=1, largest=False, sorted=False)
        order = numpy.argsort(CUBE, 1, kind="stable")[:, :2]
        numpy.testing.assert_array_equal(found[1], order)
        numpy.testing.assert_array_equal(found[0], numpy.take_along_axis(CUBE, order, 1))

    def test_nan_is_the_greatest(self, single):
        x = numpy.array([1, numpy.nan, numpy.inf, 2], "f4")
        values, indices = self.run(single, "TopK", x, 2, (2,))
        assert numpy.isnan(values[0]) and values[1] == numpy.inf and indices.tolist() == [1, 2]

    def test_none(self, single):
        assert self.run(single, "TopK", TIES, 0, (2, 0))[1].shape == (2, 0)


# Type, inputs, attributes, shapes and types of the outputs, code, words of the messages.
MISFITS = [
    ("SoftmaxV2", [A], {"axes": [0, 0]}, [((2, 3), "f4")], 100024, "axes[1] is 0, expected each dimension once"),
    ("SoftmaxV2", [A], {"axes": [0, 2]}, [((2, 3), "f4")], 100024, "axes[1] is 2, expected -2 to 1"),
    ("SoftmaxV2", [A], {"axes": [0, 1]}, [((3, 2), "f4")], 100024, "y has shape [3, 2]"),
    ("SoftmaxV2", [A], {"axes": "0"}, [((2, 3), "f4")], 100023, "attribute axes of SoftmaxV2 has another type"),
    ("SoftmaxV2", [numpy.ones((2, 3), "i4")], {"axes": [0, 1]}, [((2, 3), "f4")], 100024, "x has data type"),
    ("PadV3", [A, [2, 0, 0, 0]], {"mode": "reflect"}, [((4, 3), "f4")], 100024,
     "pads has 2 and 0 for dimension 0 of x, expected 0 to 1 in this mode"),
    ("PadV3", [A, [0, 3, 0, 0]], {"mode": "circular"}, [((5, 3), "f4")], 100024, "expected 0 to 2 in this mode"),
    ("PadV3", [A[:0], [1, 0, 0, 0]], {"mode": "edge"}, [((1, 3), "f4")], 100024, "expected 0 to 0 in this mode"),
    ("PadV3", [A, [0, -1, 0, 0]], {"mode": "edge"}, [((1, 3), "f4")], 100024, "pads has 0 and -1 for dimension 0"),
    ("PadV3", [A, [0, 1, 0, 0]], {"mode": "edge"}, [((2, 3), "f4")], 100024, "y has shape [2, 3]"),
    ("TopK", [A, [4]], {}, [((2, 4), "f4"), ((2, 4), "i4")], 100024, "k is 4, expected 0 to 3, the size of dimension"),
    ("TopK", [A, [1]], {"dim": 2}, [((2, 1), "f4"), ((2, 1), "i4")], 100024, "dim is 2, expected -2 to 1"),
    ("TopK", [A, [1]], {}, [((2, 1), "f4"), ((2, 1), "i2")], 100024, "indices has data type"),
    ("TopK", [A, [1]], {"k": 1}, [((2, 1), "f4"), ((2, 1), "i4")], 100023, "TopK has no attribute k"),
    ("TopK", [A, [1]], {}, [((2, 1), "f4")], 100022, "numOutputs is 1, expected 2 for TopK"),
    ("TopKD", [A, A], {}, [((2, 1), "f4"), ((2, 1), "i4")], 100023, "TopKD needs attribute k, which is missing"),
    ("TopK", [A], {}, [((2, 1), "f4"), ((2, 1), "i4")], 100021, "numInputs is 1"),
    ("TopK", [A, A], {}, [((2, 1), "f4"), ((2, 1), "i4")], 100021, "inputs[1] of TopK is not a constant"),
    ("CdistGrad", [A, A, A, A[:1]], {}, [((3,), "f4")], 100024, "cdist has shape [1, 3], expected [2, 3]"),
    ("CdistGrad", [A, A, A, A], {}, [((2,), "f4")], 100024, "y has shape [2], expected [3]"),
    ("CdistGrad", [A[0]] * 4, {}, [((), "f4")], 100024, "grad has 1 dimensions, expected 2 to 8"),
    ("CdistGrad", [A] * 3, {}, [((3,), "f4")], 100021, "numInputs is 3"),
    ("LayerNorm", [A, A, A], {"begin_norm_axis": 1, "begin_params_axis": 1},
     [((2, 3), "f4"), ((2, 1), "f4"), ((2, 1), "f4")], 100024, "inputs[1] of LayerNorm has 2 dimensions, expected 1"),
    ("LayerNorm", [A, A[0, :2].copy(), A[0]], {"begin_norm_axis": 0, "begin_params_axis": 1},
     [((2, 3), "f4"), ((1, 1), "f4"), ((1, 1), "f4")], 100024, "gamma has shape [2]"),
    ("LayerNormV3", [A, A, A], {"begin_norm_axis": 1}, [((2, 3), "f4"), ((2, 1), "f4"), ((2, 1), "f4")], 100023,
     "begin_params_axis of LayerNormV3 is 0, which the simulator does not support, expected that of begin_norm"),
    ("BatchMatMulV2", [TALL, TALL, A], {"adj_x1": True}, [((5, 3, 3), "f4")], 100024, "dimension 0 of bias is 2 and"),
    ("BatchMatMulV2", [TALL, TALL, A[0]], {}, [((5, 4, 3), "f4")], 100024, "of x1 is 3 and dimension 1 of x2 is 4"),
    ("BatchMatMul", [TALL, TALL, A[0]], {"adj_x1": True}, [((5, 3, 3), "f4")], 100021, "numInputs is 3"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "values", "outs", "code", "words"), MISFITS)
def test_what_does_not_fit(op_type, inputs, values, outs, code, words, single):
    taken = [single.take(shape, kind) for shape, kind in outs]
    found = single.call(op_type, operands(single, inputs), taken, **values)
    text = acl.get_recent_err_msg()
    assert found == code, text
    assert not acl.is_simulator or words in text, text
