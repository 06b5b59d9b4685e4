"""Single operators that train: gradients, losses, activations of frameworks, and what picks and places elements."""

import numpy
import pytest
from helpers.single import Single, kind_of, operands

import acl

RANDOM = numpy.random.default_rng(11)
X = RANDOM.normal(size=(2, 3, 4)).astype("f4") * 2
G = RANDOM.normal(size=(2, 3, 4)).astype("f4")
ABOVE = numpy.abs(X) + numpy.float32(0.1)
CHANCES = RANDOM.uniform(0.1, 0.9, size=(4, 3)).astype("f4")
WANTED = RANDOM.uniform(0.1, 0.9, size=(4, 3)).astype("f4")
WEIGHTS = numpy.array([1, 2, 0.5], "f4")
CLASSES = numpy.array([2, 0, 1, 2], "i8")
STEPS = numpy.arange(12, dtype="f4").reshape(3, 4)


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def slope(function, x=X, grad=G):
    """Return the gradient of an elementwise function."""
    x, away = x.astype("f8"), 1e-5
    return grad * (function(x + away) - function(x - away)) / (2 * away)


def gelu(x):
    return x / 2 * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))


def elu(x, alpha, scale=1.0, input_scale=1.0):
    return scale * numpy.where(x > 0, x, alpha * (numpy.exp(x * input_scale) - 1))


def leaky(x, by):
    return numpy.where(x > 0, x, by * x)


def softplus(x, beta=1.0):
    return numpy.log1p(numpy.exp(beta * x)) / beta


def soft_shrink(x, by):
    return numpy.sign(x) * numpy.maximum(numpy.abs(x) - by, 0)


def softmax(x, axis):
    powers = numpy.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def glu(x, axis):
    left, right = numpy.split(x, 2, axis)
    return left * sigmoid(right)


def glu_grad(grad, x, axis):
    left, right = numpy.split(x, 2, axis)
    part = sigmoid(right)
    return numpy.concatenate([grad * part, grad * left * part * (1 - part)], axis)


SOFT = softmax(X, 1).astype("f4")
LOGS = numpy.log(softmax(X, 2)).astype("f4")
HALF_GRAD = G[:, :, :2].copy()
CROSS = -(WANTED * numpy.log(CHANCES) + (1 - WANTED) * numpy.log(1 - CHANCES))
APART = numpy.abs(CHANCES - WANTED)
TAKEN = -numpy.log(CHANCES)[range(4), CLASSES] * WEIGHTS[CLASSES]
SHARE = WEIGHTS[CLASSES].sum()
ONE_HOT = numpy.eye(3, dtype="f4")[CLASSES] * WEIGHTS
INDICES = numpy.array([[2, 0, 1, 1], [0, 1, 2, 0]], "i8")
NEW = -STEPS[:2] - 1
PLACED = STEPS.copy()
numpy.put_along_axis(PLACED, INDICES, NEW, 0)
ADDED = STEPS.copy()
numpy.add.at(ADDED, (INDICES, numpy.arange(4)), NEW)
BY_ROWS = STEPS.copy()
numpy.add.at(BY_ROWS, [2, 0, 2], NEW[[0, 1, 0]])
EMBEDDED = numpy.zeros((5, 4), "f4")
numpy.add.at(EMBEDDED, INDICES.ravel()[:6], G.reshape(6, 4))
PUT = STEPS.copy()
PUT[:, 3] = NEW[0, 0]
ADDED_TWICE = STEPS.copy()
ADDED_TWICE[1] += 2 * NEW[0]
IRREGULAR = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 2], "f4")
REST = numpy.array([7.5, -7.5, 3.0, -3.0], "f4"), numpy.array([2, 2, -2, -2], "f4")

# Type, inputs, attributes, result.
CASES = {
    "TanhGrad": ([numpy.tanh(X), G], {}, slope(numpy.tanh)),
    "SigmoidGrad": ([sigmoid(X), G], {}, slope(sigmoid)),
    "SiluGrad": ([G, X], {}, slope(lambda x: x * sigmoid(x))),
    "MishGrad": ([G, X], {}, slope(lambda x: x * numpy.tanh(softplus(x)))),
    "HardSwishGrad": ([G, X], {}, slope(lambda x: x * numpy.clip(x + 3, 0, 6) / 6)),
    "HardSigmoidGrad": ([G, X], {}, slope(lambda x: numpy.clip(x + 3, 0, 6) / 6)),
    "ReluGrad": ([G, X], {}, G * (X > 0)),
    "ThresholdGradV2D": ([G, X], {"threshold": 0.5}, G * (X > 0.5)),
    "HardtanhGrad": ([X, G], {"min_val": -0.5, "max_val": 1.5}, G * (X > -0.5) * (X < 1.5)),
    "LeakyReluGrad": ([G, X], {"negative_slope": 0.25}, slope(lambda x: leaky(x, 0.25))),
    "LogSigmoidGrad": ([G, X], {}, slope(lambda x: -softplus(-x))),
    "SoftplusV2Grad": ([G, X], {"beta": 2.0, "threshold": 20.0}, slope(lambda x: softplus(x, 2))),
    "HardShrinkGrad": ([G, X], {"lambd": 0.75}, G * (numpy.abs(X) > 0.75)),
    "SoftShrinkGrad": ([G, X], {}, G * (numpy.abs(X) > 0.5)),
    "GeluGrad": ([G, X, gelu(X)], {}, slope(gelu)),
    "EluGradV2": ([G, X], {"alpha": 0.5}, slope(lambda x: elu(x, 0.5))),
    "EluGradV2 of the result": (
        [G, elu(X, 1.5, 2.0)], {"alpha": 1.5, "scale": 2.0, "is_result": True}, slope(lambda x: elu(x, 1.5, 2.0)),
    ),
    "SoftmaxGrad": ([SOFT, G], {"axes": [1]}, (G - (G * SOFT).sum(1, keepdims=True)) * SOFT),
    "LogSoftmaxGrad": ([G, LOGS], {"axis": [-1]}, G - numpy.exp(LOGS) * G.sum(2, keepdims=True)),
    "GLU": ([X], {"dim": 2}, glu(X, 2)),
    "GLUGrad": ([HALF_GRAD, X], {}, glu_grad(HALF_GRAD, X, -1)),
    "PRelu": ([X, WEIGHTS], {}, leaky(X, WEIGHTS.reshape(3, 1))),
    "HardShrink": ([X], {}, X * (numpy.abs(X) > 0.5)),
    "SoftShrink": ([X], {"lambd": 0.25}, soft_shrink(X, 0.25)),
    "HardSigmoid": ([X], {}, numpy.clip(X + 3, 0, 6) / 6),
    "CeluV2": ([X], {"alpha": 0.5}, elu(X, 0.5, 1.0, 2.0)),
    "ThresholdV2D": ([X], {"threshold": 0.5, "value": 20.0}, numpy.where(X > 0.5, X, 20)),
    "NanToNum": ([IRREGULAR], {"nan": 0.5, "posinf": 9.0, "neginf": -9.0}, numpy.array([0.5, 9, -9, 2])),
    "ClipByValueV2": ([X, numpy.float32([-1]), numpy.float32([0.5])], {}, numpy.clip(X, -1, 0.5)),
    "FloorMod": ([*REST], {}, numpy.mod(*REST)),
    "Mod": ([*REST], {}, numpy.fmod(*REST)),
    "Xlogy": ([X, ABOVE], {}, X * numpy.log(ABOVE)),
    "TensorEqual": ([X, X + 0], {}, numpy.array(True)),
    "IsClose": ([X, X + numpy.float32(1e-3) * (G > 0)], {"rtol": 0.0, "atol": 1e-4}, G <= 0),
    "LogAddExp": ([X, G], {"base": -1.0}, numpy.logaddexp(X, G)),
    "LogAddExp two": ([X, G], {"base": 2.0}, numpy.logaddexp2(X, G)),
    "Tril": ([X], {"diagonal": -1}, numpy.tril(X, -1)),
    "Triu": ([X], {}, numpy.triu(X)),
    "Roll": ([X], {"shifts": [1, -2], "dims": [0, 2]}, numpy.roll(X, (1, -2), (0, 2))),
    "Cumprod": ([X, [1]], {}, numpy.cumprod(X, 1)),
    "ReduceAny": ([X > 2, [0, 2]], {"keep_dims": True}, (X > 2).any((0, 2), keepdims=True)),
    "ReduceAll": ([X > -1, [1]], {}, (X > -1).all(1)),
    "ReduceLogSumExp": ([X, [2]], {}, numpy.log(numpy.exp(X).sum(2))),
    "ReduceStdV2Update": ([X, X], {"dim": [1], "if_std": True}, X.std(1, ddof=1)),
    "ReduceStdV2Update variance": ([X, X], {"dim": [0, 2], "unbiased": False, "keepdim": True},
                                   X.var((0, 2), keepdims=True)),
    "AsStrided": ([STEPS, [2, 3], [1, 4], [1]], {}, STEPS.T[1:3]),
    "AsStrided once more": ([STEPS, [2, 2], [0, 1], [10]], {}, STEPS[[2, 2], 2:]),
    "ScatterElements": ([STEPS, INDICES, NEW], {"axis": 0}, PLACED),
    "ScatterElements add": ([STEPS, INDICES, NEW], {"reduction": "add"}, ADDED),
    "InplaceIndexAdd": ([STEPS, numpy.array([2, 0, 2]), NEW[[0, 1, 0]]], {"axis": 0}, BY_ROWS),
    "IndexPutV2": ([STEPS, NEW[:1, :1], [0, 1], [0, 1], numpy.array([3])], {}, PUT),
    "IndexPutV2 added": ([STEPS, NEW[0], [1], [1], numpy.array([1, 1])], {"accumulate": True}, ADDED_TWICE),
    "LpNormReduceV2": ([X], {"p": 2.0, "axes": [1], "keepdim": True}, (X**2).sum(1, keepdims=True)),
    "LpNormReduceV2 cubes": ([X], {"p": 3.0, "axes": [0, 2]}, (numpy.abs(X) ** 3).sum((0, 2))),
    "LpNormReduceV2 greatest": ([X], {"p": 2147483648.0, "axes": [2]}, numpy.abs(X).max(2)),
    "LpNormReduceV2 least": ([X], {"p": -2147483648.0, "axes": [2]}, numpy.abs(X).min(2)),
    "LpNormUpdateV2": ([ABOVE], {"p": 2.0}, numpy.sqrt(ABOVE)),
    "LpNormUpdateV2 cubes": ([ABOVE], {"p": 3.0}, numpy.cbrt(ABOVE)),
    "LpNormUpdateV2 sizes": ([ABOVE], {"p": 1.0}, ABOVE),
    "Round": ([X], {"decimals": 1}, X.round(1)),
    "Round to integers": ([X], {"decimals": 0}, X.round()),
    "Cross": ([CHANCES, WANTED], {"dim": 1}, numpy.cross(CHANCES, WANTED)),
    "ShuffleChannel": (
        [X.reshape(1, 6, 2, 2)], {"group": 2}, X.reshape(1, 2, 3, 2, 2).swapaxes(1, 2).reshape(1, 6, 2, 2),
    ),
    "ArgMaxV2": ([X, [1]], {"keep_dims": True}, X.argmax(1)[:, None]),
    "IndexFillD": ([X, numpy.float32(G > 0), numpy.float32(G < 0) * 5], {"dim": 1}, numpy.where(G > 0, X, 5)),
    "EmbeddingDenseGrad": ([G.reshape(6, 4), INDICES.ravel()[:6].copy()], {"num_weights": 5}, EMBEDDED),
    "MseLoss": ([CHANCES, WANTED], {"reduction": "sum"}, (APART**2).sum()),
    "LpLoss": ([CHANCES, WANTED], {"p": 1}, APART.mean()),
    "SmoothL1LossV2": ([CHANCES, WANTED], {"sigma": 0.25, "reduction": "none"},
                       numpy.where(APART < 0.25, APART**2 * 2, APART - 0.125)),
    "SoftMarginLoss": ([X, numpy.sign(G)], {}, numpy.log1p(numpy.exp(-X * numpy.sign(G))).mean()),
    "KLDiv": ([CHANCES, WANTED], {"reduction": "batchmean"}, (WANTED * (numpy.log(WANTED) - CHANCES)).sum() / 4),
    "BinaryCrossEntropy": ([CHANCES, WANTED], {"reduction": "none"}, CROSS),
    "BinaryCrossEntropy weighted": ([CHANCES, WANTED, APART], {}, (CROSS * APART).mean()),
    "SigmoidCrossEntropyWithLogitsV2": ([X, sigmoid(G)], {"reduction": "none"},
                                        softplus(X) - X * sigmoid(G)),
    "SigmoidCrossEntropyWithLogitsV2 weighted": (
        [X, sigmoid(G), ABOVE, ABOVE[0, 0]], {"reduction": "sum"},
        (ABOVE * ((1 - sigmoid(G)) * X + (1 + (ABOVE[0, 0] - 1) * sigmoid(G)) * softplus(-X))).sum(),
    ),
    "SigmoidCrossEntropyWithLogitsGradV2": ([X, sigmoid(G), ABOVE], {"reduction": "none"},
                                            ABOVE * (sigmoid(X) - sigmoid(G))),
    "SoftMarginLossGrad": ([X, numpy.sign(G), ABOVE], {"reduction": "none"},
                           -ABOVE * numpy.sign(G) * sigmoid(-X * numpy.sign(G))),
    "SmoothL1LossGradV2": ([CHANCES, WANTED, APART], {"reduction": "none", "sigma": 0.25},
                           APART * numpy.clip((CHANCES - WANTED) / 0.25, -1, 1)),
    "BinaryCrossEntropyGrad": ([CHANCES, WANTED, APART], {"reduction": "none"},
                               APART * (CHANCES - WANTED) / (CHANCES * (1 - CHANCES))),
    "BinaryCrossEntropyGrad weighted": ([CHANCES, WANTED, numpy.float32(3), APART], {"reduction": "sum"},
                                        3 * APART * (CHANCES - WANTED) / (CHANCES * (1 - CHANCES))),
    "KlDivLossGrad": ([numpy.float32(2), CHANCES, WANTED], {"reduction": "batchmean"}, -WANTED * 2 / 4),
    "MseLossGrad": ([CHANCES, WANTED, numpy.float32(3)], {"reduction": "mean"}, (CHANCES - WANTED) * 2 / 12 * 3),
    "L1LossGrad": ([APART, CHANCES, WANTED], {"reduction": "none"}, APART * numpy.sign(CHANCES - WANTED)),
    "NLLLossGrad": ([CHANCES, numpy.float32([2]), CLASSES, WEIGHTS, numpy.float32([SHARE])], {"reduction": "mean"},
                    -ONE_HOT * 2 / SHARE),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_shape(name, single):
    inputs, values, result = CASES[name]
    result = numpy.asarray(result)
    op_type, kind = name.split()[0], kind_of(result)
    given = operands(single, [one if isinstance(one, list) else numpy.ascontiguousarray(one) for one in inputs])
    given = [single.give(numpy.asarray(one)) if isinstance(one, numpy.generic) else one for one in given]
    found = single.run(op_type, given, result.shape, kind, **values)
    numpy.testing.assert_allclose(found, result, rtol=2e-5, atol=2e-6)
    assert single.shapes(op_type, given, [kind], **values) == [result.shape]


# What is passed as a constant of one number.
NUMBERS = {
    "AxpyV2": lambda x, y, z, number: x + number * y,
    "Addcmul": lambda x, y, z, number: x + number * y * z,
    "Addcdiv": lambda x, y, z, number: x + number * y / z,
}


@pytest.mark.parametrize("kind", ["f4", "f2", "i4"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_a_constant(name, kind, single):
    inputs = [X, G, ABOVE][: 2 if name == "AxpyV2" else 3]
    for number in (1, 3 if kind == "i4" else 1.5):
        given = [*operands(single, inputs), single.constant(number, kind)]
        found = single.run(name, given, X.shape, "f4")
        numpy.testing.assert_allclose(found, NUMBERS[name](X, G, ABOVE, number), rtol=1e-5, atol=1e-6)


def test_rows_are_added_by_a_number(single):
    given = [*operands(single, [STEPS, numpy.array([2, 0, 2], "i4"), NEW[[0, 1, 0]]]), single.constant(-2, "f4")]
    found = single.run("InplaceIndexAdd", given, (3, 4), "f4", axis=0)
    assert numpy.array_equal(found, STEPS - 2 * (BY_ROWS - STEPS))


def test_running_extremes_have_indices(single):
    for name, function in (("Cummax", numpy.maximum), ("Cummin", numpy.minimum)):
        axis = {"dim" if name == "Cummax" else "axis": 1}
        values, places = single.run_all(name, [single.give(X)], [X.shape] * 2, ["f4", "i4"], **axis)
        assert numpy.array_equal(values, function.accumulate(X, 1))
        assert numpy.array_equal(numpy.take_along_axis(X, places, 1), values)


@pytest.mark.parametrize("kind", ["i4", "i8"])
def test_a_sort_has_indices(kind, single):
    values, places = single.run_all("Sort", [single.give(X)], [X.shape] * 2, ["f4", kind], axis=1, descending=True)
    assert numpy.array_equal(values, -numpy.sort(-X, 1)) and numpy.array_equal(places, numpy.argsort(-X, 1))


def test_a_slope_has_a_gradient(single):
    given = operands(single, [G, X, WEIGHTS])
    found, weights = single.run_all("PReluGrad", given, [X.shape, (3,)], ["f4", "f4"])
    numpy.testing.assert_allclose(found, slope(lambda x: leaky(x, WEIGHTS.reshape(3, 1))), rtol=1e-5, atol=1e-6)
    numpy.testing.assert_allclose(weights, (G * numpy.minimum(X, 0)).sum((0, 2)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_a_likelihood_has_a_total_weight(reduction, single):
    expected = {"none": TAKEN, "mean": TAKEN.sum() / SHARE, "sum": TAKEN.sum()}[reduction]
    given = operands(single, [numpy.log(CHANCES), CLASSES, WEIGHTS])
    shapes = [numpy.shape(expected), ()]
    found, total = single.run_all("NLLLoss", given, shapes, ["f4", "f4"], reduction=reduction)
    numpy.testing.assert_allclose(found, expected, rtol=1e-5)
    if reduction != "none":
        numpy.testing.assert_allclose(total, SHARE)


def test_a_normalization_has_gradients(single):
    mean, variance = X.mean(2, keepdims=True), X.var(2, keepdims=True)
    gamma = numpy.array([1, -2, 0.5, 3], "f4")
    given = operands(single, [G, X, variance, mean, gamma])
    found = single.run_all("LayerNormGrad", given, [X.shape, (4,), (4,)], ["f4"] * 3)
    normal, slopes = (X - mean) / numpy.sqrt(variance), G * gamma
    inner = slopes - slopes.mean(2, keepdims=True) - normal * (slopes * normal).mean(2, keepdims=True)
    for one, expected in zip(found, (inner / numpy.sqrt(variance), (G * normal).sum((0, 1)), G.sum((0, 1)))):
        numpy.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-5)
    assert single.shapes("LayerNormGrad", given, ["f4"] * 3) == [X.shape, (4,), (4,)]


def test_elements_are_picked_by_dimension(single):
    given = operands(single, [STEPS, [0, 1], [0, 1], numpy.array([3, 0])])
    assert numpy.array_equal(single.run("Index", given, (3, 2), "f4"), STEPS[:, [3, 0]])
    given = operands(single, [STEPS, [1, 1], [1, 1], numpy.array([2, 0]), numpy.array([1, 3])])
    assert numpy.array_equal(single.run("Index", given, (2,), "f4"), STEPS[[2, 0], [1, 3]])


def test_a_line_of_numbers(single):
    given = [single.constant(-1.5, "f4"), single.constant(2, "f4"), single.constant([8], "i4")]
    assert numpy.allclose(single.run("LinSpace", given, (8,), "f4"), numpy.linspace(-1.5, 2, 8))
    assert single.shapes("LinSpace", given, ["f4"]) == [(8,)]


# Type, inputs, attributes, the largest shape, result.
SIZED = {
    "NonZero": ([X > 1], {"transpose": False}, (24, 3), numpy.argwhere(X > 1)),
    "NonZero columns": ([X > 1], {"transpose": True}, (3, 24), numpy.argwhere(X > 1).T),
    "NonZero nothing": ([X > 99], {}, (24, 3), numpy.zeros((0, 3), "i8")),
    "MaskedSelect": ([X, X > 1], {}, (24,), X[X > 1]),
}


@pytest.mark.parametrize("name", SIZED)
def test_the_program_gets_a_size_that_the_kernel_finds(name, single):
    inputs, values, shape, result = SIZED[name]
    out = single.take(shape, kind_of(result))
    assert single.call(name.split()[0], operands(single, inputs), [out], **values) == 0, acl.get_recent_err_msg()
    dims = [acl.get_tensor_desc_dim_v2(out[0], place)[0] for place in range(acl.get_tensor_desc_num_dims(out[0]))]
    assert tuple(dims) == result.shape
    assert numpy.array_equal(out[2]().ravel()[: result.size], result.ravel())


def test_a_size_that_nobody_gets_is_refused(single):
    (desc, buffer), out, attr = single.give(X > 1), single.take((24, 3), "i8"), single.attr()
    assert acl.op.execute("NonZero", [desc], [buffer], [out[0]], [out[1]], attr, single.npu.stream) == 100024
    assert "NonZero finds the size of its output when it runs" in acl.get_recent_err_msg()


def test_a_view_is_copied_into_a_view(single):
    into, values = single.take((3, 4), "f4"), single.give(STEPS)
    view = [[2, 3], [1, 4], [1]]  # of columns 1 and 2
    given = [into[:2], *operands(single, view), values, *operands(single, [[2, 3], [4, 1], [4]])]
    assert single.call("ViewCopy", given, [into]) == 0, acl.get_recent_err_msg()
    expected = numpy.zeros((3, 4), "f4")
    expected[:, 1:3] = STEPS[1:, :3].T
    assert numpy.array_equal(into[2](), expected)


def test_a_diagonal_has_ones(single):
    assert numpy.array_equal(single.run("Eye", [], (3, 4), "f4", num_rows=3, num_columns=4), numpy.eye(3, 4))
    assert single.shapes("Eye", [], ["f4"], num_rows=3) == [(3, 3)]


# Type, inputs, shape of the output, attributes, words of the message.
WRONG = {
    "a view beyond the end": ("AsStrided", [STEPS, [2, 3], [4, 4], [1]], (2, 3), {}, "12 elements beyond its end"),
    "a part of another tensor": (
        "ViewCopy",
        [STEPS, [4], [1], [0], STEPS, [4], [1], [0]],
        (3, 4),
        {},
        "expected the address of inputs[0]",
    ),
    "no indices": ("Index", [STEPS, [1, 1], [1, 1], INDICES[0]], (4,), {}, "the indices of dimension 1, is missing"),
    "a negative stride": ("AsStrided", [STEPS, [2], [-1], [3]], (2,), {}, "beyond its end"),
    "fewer strides": ("AsStrided", [STEPS, [2, 3], [1], [0]], (2, 3), {}, "2 sizes, 1 strides and 1 offsets"),
    "an unknown reduction": ("MseLoss", [X, G], (), {"reduction": "median"}, 'is "median", expected none, mean or sum'),
    "another exponent": ("LpLoss", [X, G], (), {"p": 2}, "attribute p of LpLoss is 2"),
    "a dimension that x lacks": ("GLU", [X], (2, 3, 2), {"dim": 3}, "dim"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(name, single):
    op_type, inputs, shape, values, words = WRONG[name]
    assert single.call(op_type, operands(single, inputs), [single.take(shape, "f4")], **values) != 0
    assert words in acl.get_recent_err_msg()
