"""Single operators that only PyTorch's NPU backend calls: boxes, masked softmax, permuted shapes, gradients."""

import numpy
import pytest
from helpers.single import Single, operands
from test_op_types import shape_of

import acl

A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
CUBE = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
BOXES = numpy.array([[0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42]], "f4")
OTHERS = numpy.array([[0, 0, 10, 20], [0, 10, 10, 20]], "f4")
SCORES = numpy.arange(16, dtype="f4").reshape(1, 1, 4, 4)
MASK = numpy.eye(4, dtype=bool)[None, None]
PLAIN = {"means": [0.0] * 4, "stds": [1.0] * 4}
NARROW = {"means": [0.0] * 4, "stds": [0.1, 0.1, 0.2, 0.2]}


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def softmax(values):
    """Return the softmax of rows."""
    powers = numpy.exp(values - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def gradient(slopes, results, hidden, scale):
    """Return the gradient of a masked softmax."""
    inner = (slopes - (slopes * results).sum(-1, keepdims=True)) * results * scale
    return numpy.where(hidden, 0, inner)


def slope_of_mish(x):
    """Return the slope of x * tanh(softplus(x))."""
    inner = numpy.tanh(numpy.log1p(numpy.exp(x, dtype="f8")))
    return inner + x * (1 - inner**2) / (1 + numpy.exp(-x))


SIGMOID = 1 / (1 + numpy.exp(-A))
RESULTS = softmax(SCORES)
OVERLAPS = numpy.array([[0.5, 0, 0], [0, 0, 0]])
# Type, inputs, attributes, result.
CASES = {
    "ScaledMaskedSoftmax": ([SCORES, MASK], {}, softmax(numpy.where(MASK, -10000, SCORES))),
    "ScaledMaskedSoftmax scale": (
        [SCORES, MASK], {"scale": 0.5, "fixed_triu_mask": False}, softmax(numpy.where(MASK, -10000, SCORES / 2)),
    ),
    "ScaledMaskedSoftmaxGrad": (
        [SCORES, RESULTS, MASK], {"scale": 0.5, "fixed_triu_mask": False}, gradient(SCORES, RESULTS, MASK, 0.5),
    ),
    "ConfusionTransposeD": (
        [CUBE], {"perm": [1, 0, 2], "shape": [3, 8], "transpose_first": True}, CUBE.transpose(1, 0, 2).reshape(3, 8),
    ),
    "ConfusionTransposeD last": (
        [CUBE], {"perm": [1, 0], "shape": [6, 4], "transpose_first": False}, CUBE.reshape(6, 4).T,
    ),
    "Iou": ([BOXES, OTHERS], {"mode": "iou", "eps": 0.0}, OVERLAPS),
    "Iou of the true box": ([OTHERS, BOXES], {"mode": "iof", "eps": 0.0}, numpy.array([[1, 0], [0, 0], [0, 0]])),
    "Iou aligned": ([BOXES[:2], OTHERS], {"mode": "iof", "eps": 1.0, "aligned": True}, [[121 / 231], [11 / 121]]),
    "BoundingBoxDecode": (
        [numpy.array([[1, 2, 3, 4], [3, 4, 5, 6]], "f4"), numpy.array([[5, 6, 7, 8], [7, 8, 9, 6]], "f4")],
        {**PLAIN, "max_shape": [10, 10], "wh_ratio_clip": 0.1},
        [[2.5, 6.5, 9, 9], [9, 9, 9, 9]],
    ),
    "BoundingBoxEncode": (
        [numpy.array([[1, 2, 3, 4], [3, 4, 5, 6]], "f4"), numpy.array([[5, 6, 7, 8], [7, 8, 9, 11]], "f4")],
        NARROW,
        [[40 / 3, 40 / 3, 0, 0], [40 / 3, 15, 0, numpy.log(4 / 3) * 5]],
    ),
    "MishGrad": ([A, A[::-1].copy()], {}, A * slope_of_mish(A[::-1])),
    "SwishGrad": ([A, A, A], {}, A * (SIGMOID + A * SIGMOID * (1 - SIGMOID))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_type_has_its_own_arguments_and_defaults(name, single):
    inputs, values, result = CASES[name]
    result = numpy.asarray(result, "f4")
    found = single.run(name.split()[0], operands(single, arrays(inputs)), result.shape, "f4", **values)
    numpy.testing.assert_allclose(found, result, rtol=2e-6, atol=1e-6)


def arrays(inputs):
    """Return the inputs, with truth values in the type that a tensor has."""
    return [numpy.ascontiguousarray(one) for one in inputs]


@pytest.mark.parametrize("name", CASES)
def test_the_shape_of_the_output_follows(name, single):
    inputs, values, result = CASES[name]
    given, out = operands(single, arrays(inputs)), single.desc([-2], "f4")
    descs, buffers = [one[0] for one in given], [one[1] for one in given]
    ret = acl.op.infer_shape(name.split()[0], descs, buffers, 1, [out], single.attr(**values))
    assert ret == 0, acl.get_recent_err_msg()
    assert shape_of(out) == numpy.shape(result)


# Type, inputs, attributes, shape of the output, code, words of the messages.
MISFITS = [
    ("Iou", [BOXES, OTHERS], {}, (2, 3), 100023, "Iou needs attribute mode, which is missing"),
    ("Iou", [BOXES, OTHERS], {"mode": "giou"}, (2, 3), 100024, 'mode is "giou", expected iou or iof'),
    ("Iou", [A, OTHERS], {"mode": "iou"}, (2, 3), 100024, "bboxes has shape [2, 3], expected [2, 4]"),
    ("Iou", [BOXES, OTHERS], {"mode": "iou"}, (3, 2), 100024, "overlap has shape [3, 2], expected [2, 3]"),
    ("ConfusionTransposeD", [A], {"perm": [1, 0], "shape": [6]}, (6,), 100023, "needs attribute transpose_first"),
    ("BoundingBoxEncode", [BOXES, BOXES], {"means": [0.0], "stds": [1.0] * 4}, (3, 4), 100024, "means has 1 numbers"),
    ("BoundingBoxDecode", [BOXES, BOXES], {**PLAIN, "max_shape": [9], "wh_ratio_clip": 0.1}, (3, 4), 100024,
     "max_shape has 1 numbers, expected 2"),
    ("BoundingBoxDecode", [BOXES, BOXES], {**PLAIN, "max_shape": [9, 9], "wh_ratio_clip": -1.0}, (3, 4), 100024,
     "wh_ratio_clip is -1, expected a number above 0"),
    ("SwishGrad", [A, A, A], {"scale": 2.0}, (2, 3), 100023, "scale"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "values", "shape", "code", "words"), MISFITS)
def test_what_does_not_fit_the_type(op_type, inputs, values, shape, code, words, single):
    out = single.take(shape, "f4")
    assert single.call(op_type, operands(single, arrays(inputs)), [out], **values) == code
    assert words in acl.get_recent_err_msg()
