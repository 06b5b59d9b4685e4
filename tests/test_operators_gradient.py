"""Gradients of activations against NumPy: types, broadcasting, strides, numbers, special values."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    ORDER,
    any_shape,
    any_view,
    blank,
    casts,
    exact,
    meet,
    near,
    numbers,
    stored,
    stretched,
)
from helpers.pointwise import ALL, COMPLEX, FEWER, FLOATS, SINGLE, Case, cases, compare, few, place
from helpers.tables import every
from helpers.tensors import CODES
from hypothesis import given
from hypothesis import strategies as st

erfc = numpy.vectorize(math.erfc, otypes=["f8"])
SCALE, ALPHA = 1.0507009873554804934, 1.6732632423543772848  # of Selu
FACTOR = numpy.sqrt(2 / numpy.pi)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def swish(g, x, beta=1.0):
    return g * (sigmoid(beta * x) + beta * x * sigmoid(beta * x) * sigmoid(-beta * x))


def mish(g, x):
    tangent = numpy.tanh(numpy.logaddexp(0, x))
    return g * (tangent + x * sigmoid(x) / numpy.cosh(numpy.logaddexp(0, x)) ** 2)


def gelu(g, x):
    return g * (0.5 * erfc(-x / numpy.sqrt(2)) + x * numpy.exp(-x * x / 2) / numpy.sqrt(2 * numpy.pi))


def gelu_tanh(g, x):
    part = sigmoid(2 * FACTOR * (x + 0.044715 * x**3))
    rest = sigmoid(-2 * FACTOR * (x + 0.044715 * x**3))
    return g * (part + 2 * x * part * rest * FACTOR * (1 + 3 * 0.044715 * x * x))


def elu(g, x, alpha, scale, input_scale):
    return g * numpy.where(x > 0, scale, alpha * scale * input_scale * numpy.exp(input_scale * numpy.minimum(x, 0)))


def elu_of_result(g, y, alpha, scale, input_scale):
    return g * numpy.where(y > 0, scale, input_scale * (y + alpha * scale))


def softplus(g, x, beta, threshold):
    return numpy.where(x * beta > threshold, g, g * sigmoid(x * beta))


def hardswish(g, x):
    return numpy.where(x <= -3, 0, numpy.where(x < 3, g * (x / 3 + 0.5), g))


def fast_gelu(g, x):
    part = sigmoid(1.702 * x)
    return g * (part + 1.702 * x * part * sigmoid(-1.702 * x))


# What the types must be: all the same, or those of the operands the same, or such that their common type can be cast.
SAME, ALIKE, ANY = "same", "alike", "any"
WHOLE = ["i4", "i1", "u1"]
# By name: the function of the gradient, x and numbers; the kinds of the gradient, and of x if others; the rule of the
# types; whether the operands are broadcast; the numbers.
GRADIENTS = {
    "tanh": (lambda g, y: g * (1 - y) * (1 + y), FLOATS, None, SAME, True, ()),
    "selu": (lambda g, y: SCALE * g * numpy.where(y > 0, 1, y / SCALE + ALPHA), [*SINGLE, "i4", "i1"], None, ANY,
             False, ()),
    "hardsigmoid": (lambda g, x: numpy.where(numpy.abs(x) < 3, g / 6, 0), SINGLE, None, ANY, False, ()),
    "fast_gelu": (fast_gelu, SINGLE, None, SAME, False, ()),
    "hardswish": (hardswish, SINGLE, None, SAME, False, ()), "hardswish v2": (hardswish, SINGLE, None, SAME, False, ()),
    "hardtanh": (lambda g, x, low, high: numpy.where((x <= low) | (x >= high), 0, g), SINGLE, None, SAME, False,
                 (-2, 1)),
    "threshold": (lambda g, x, edge: numpy.where(x <= edge, 0, g), [*SINGLE, *WHOLE], None, SAME, True, (1,)),
    "hardshrink": (lambda g, x, gap: numpy.where(numpy.abs(x) <= gap, 0, g), SINGLE, None, SAME, True, (1,)),
    "softshrink": (lambda g, x, gap: numpy.where(numpy.abs(x) <= gap, 0, g), SINGLE, None, SAME, True, (2,)),
    "softplus": (softplus, FLOATS, [kind for kind in KINDS if ORDER[kind] < 3], ANY, True, (0.5, 3.0)),
    "silu": (swish, SINGLE, None, SAME, True, ()),
    "swish": (swish, SINGLE, None, SAME, False, (1.5,)),
    "mish": (mish, SINGLE, None, ANY, True, ()),
    "gelu": (gelu_tanh, SINGLE, None, ANY, True, ()),
    "leaky_relu": (lambda g, x, slope: numpy.where(x > 0, g, slope * g), FLOATS, None, ANY, True, (0.3,)),
    "log_sigmoid": (lambda g, x: g * sigmoid(-x), SINGLE, None, SAME, False, ()),
    "elu": (elu, SINGLE, None, ALIKE, False, (0.5, 2.0, 1.5)),
    "elu of the result": (elu_of_result, SINGLE, None, ALIKE, False, (0.5, 2.0, 1.5)),
    "gelu none": (gelu, SINGLE, None, ANY, True, ()),
    "gelu tanh": (gelu_tanh, SINGLE, None, ANY, True, ()),
}  # fmt: skip


def call(npu, name, gradient, x, params, out):
    """Call the gradient of an activation; the parameters of some have an order of their own."""
    params = [npu.scalar(value, "i8" if isinstance(value, int) else "f8") for value in params]
    name, _, variant = name.partition(" ")
    if name == "elu":
        return npu.call("elu_backward", gradient, *params, variant != "", x, out)
    if name == "leaky_relu":
        return npu.call("leaky_relu_backward", gradient, x, *params, False, out)
    if name == "log_sigmoid":
        return npu.call("log_sigmoid_backward", gradient, x, blank(npu, x.kind, x.view.shape), out)
    if variant == "v2":
        return npu.call(f"{name}_backward_v2", gradient, x, out)
    if variant:
        return npu.call("gelu_backward_v2", gradient, x, variant, out)
    return npu.call(f"{name}_backward", gradient, x, *params, out)


def outs(name, kind, other):
    """Return the kinds that the result may have for those of the operands."""
    _, kinds, others, rule, _, _ = GRADIENTS[name]
    if kind not in kinds or other not in (others or kinds) or (rule != ANY and kind != other):
        return []
    return [kind] if rule == SAME else [one for one in kinds if casts(meet(kind, other), one)]


@st.composite
def operands(draw, name):
    """Draw a gradient, x and the result."""
    _, kinds, others, rule, broadcasts, _ = GRADIENTS[name]
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    values = few if name == "selu" else draw(st.sampled_from([numbers, few]))
    kind = draw(st.sampled_from(kinds))
    other = draw(st.sampled_from([one for one in others or kinds if outs(name, kind, one)]))
    shape = any_shape(draw)
    shapes = [stretched(draw, shape) if broadcasts else shape for _ in range(2)]
    views = [any_view(draw, generator, *each, values) for each in zip(shapes, (kind, other))]
    out_kind = draw(st.sampled_from(outs(name, kind, other)))
    out = any_view(draw, generator, list(numpy.broadcast_shapes(*shapes)), out_kind)
    return Case([kind, other], views, out_kind, out)


@pytest.mark.parametrize("name", GRADIENTS)
@FEWER
@given(data=st.data())
def test_gradient(npu, name, data):
    case = data.draw(operands(name))
    (gradient, x), out = place(npu, case)
    function, params = GRADIENTS[name][0], GRADIENTS[name][-1]
    assert call(npu, name, gradient, x, params, out) == 0
    wide = [exact(view, kind).astype("f8") for (_, view), kind in zip(case.views, case.kinds)]
    with numpy.errstate(all="ignore"):
        result = function(*wide, *params)
        size = numpy.abs(result) + 2.0**-40 * numpy.abs(wide[0])  # the slope of a smooth function cancels at its roots
    compare(npu.get(out), result, case.out_kind, case.out_kind, size)


@FEWER
@given(data=st.data())
def test_gradient_of_sigmoid(npu, data):
    """Complex numbers are taken too, and the slope is conjugated."""
    kinds = [*FLOATS, *COMPLEX]
    case = data.draw(cases([kinds, kinds], lambda *pair: [one for one in kinds if casts(meet(*pair), one)]))
    (gradient, output), out = place(npu, case)
    assert npu.call("sigmoid_backward", gradient, output, out) == 0
    wide, y = (exact(view, kind) for (_, view), kind in zip(case.views, case.kinds))
    result = wide * numpy.conj((1 - y) * y)
    compare(npu.get(out), result, meet(*case.kinds), case.out_kind, numpy.abs(wide) * (1 + numpy.abs(y)) ** 2)


def test_special_values(npu):
    nan, inf = numpy.nan, numpy.inf
    values = npu.tensor(numpy.array([nan, inf, -inf, 0], "f4"))
    gradient = npu.tensor(numpy.array([2, 2, 2, 2], "f4"))
    for name, params, results in (
        ("sigmoid", (), [nan, -inf, -inf, 0]),
        ("tanh", (), [nan, -inf, -inf, 2]),
        ("selu", (), [nan, 2 * SCALE, -inf, 2 * SCALE * ALPHA]),
        ("hardsigmoid", (), [0, 0, 0, 1 / 3]),
        ("hardswish", (), [2, 2, 0, 1]),
        ("hardswish v2", (), [2, 2, 0, 1]),
        ("hardtanh", (-1.0, 1.0), [2, 0, 0, 2]),
        ("leaky_relu", (0.5,), [1, 2, 1, 1]),
        ("threshold", (0.0,), [2, 2, 0, 0]),
        ("hardshrink", (1.0,), [2, 2, 2, 0]),
        ("softshrink", (1.0,), [2, 2, 2, 0]),
        ("elu", (1.0, 1.0, 1.0), [nan, 2, 0, 2]),
        ("softplus", (1.0, 20.0), [nan, 2, 0, 1]),
        ("silu", (), [nan, nan, nan, 1]),
        ("swish", (1.0,), [nan, nan, nan, 1]),
        ("mish", (), [nan, nan, nan, 1.2]),
        ("log_sigmoid", (), [nan, 0, 2, 1]),
        ("gelu", (), [nan, nan, nan, 1]),
        ("gelu tanh", (), [nan, nan, nan, 1]),
    ):
        out = blank(npu, "f4", (4,))
        assert call(npu, name, gradient, values, params, out) == 0
        assert numpy.allclose(npu.get(out), numpy.array(results, "f4"), rtol=1e-6, atol=0, equal_nan=True), name


def test_the_tails_of_gradients(npu):
    """Nothing overflows where x is large."""
    values = npu.tensor(numpy.array([-3e38, -800, 41, 800, 3e38], "f4"))
    ones, out = npu.tensor(numpy.ones(5, "f4")), blank(npu, "f4", (5,))
    for name in ("silu", "mish", "gelu", "gelu tanh"):
        assert call(npu, name, ones, values, (), out) == 0
        assert npu.get(out).tolist() == [0, 0, 1, 1, 1], name


def test_ends_of_lines(npu):
    values = npu.tensor(numpy.array([-3, -1, 0, 1, 3], "f4"))
    for name, params, results in (
        ("hardsigmoid", (), [0, 1 / 6, 1 / 6, 1 / 6, 0]),
        ("hardswish", (), [0, 1 / 6, 0.5, 5 / 6, 1]),
        ("hardtanh", (-1.0, 1.0), [0, 0, 1, 0, 0]),
        ("hardshrink", (1.0,), [1, 0, 0, 0, 1]),
        ("threshold", (1.0,), [0, 0, 0, 0, 1]),
        ("leaky_relu", (0.5,), [0.5, 0.5, 0.5, 1, 1]),
    ):
        out = blank(npu, "f4", (5,))
        assert call(npu, name, npu.tensor(numpy.ones(5, "f4")), values, params, out) == 0
        assert numpy.allclose(npu.get(out), numpy.array(results, "f4"), rtol=1e-6, atol=0), name


@pytest.mark.parametrize(("eps", "low", "high"), [(-1.0, 0, 1), (0.0, 0, 1), (0.25, 0.25, 0.75)])
@pytest.mark.parametrize("kind", SINGLE)
def test_gradient_of_logit(npu, kind, eps, low, high):
    """Outside the ends the gradient is 0, or NaN if there are no ends. x precedes the gradient."""
    x = stored(numpy.array([-0.5, 0.125, 0.25, 0.5, 0.625, 0.875, 1.5, numpy.nan]), kind)
    gradient, out = stored(numpy.arange(1.0, 9), kind), blank(npu, kind, (8,))
    assert npu.call("logit_grad", npu.tensor(x, kind), npu.tensor(gradient, kind), eps, out) == 0
    wide, inside = exact(x, kind), exact(gradient, kind)
    with numpy.errstate(all="ignore"):
        expected = numpy.where((wide < low) | (wide > high), numpy.nan if eps < 0 else 0, inside / (wide * (1 - wide)))
    compare(npu.get(out), expected, kind, kind)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@FEWER
@given(data=st.data())
def test_gradient_of_softmax(npu, name, data):
    draw, shape = data.draw, any_shape(data.draw)
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, out_kind, rank = draw(st.sampled_from(SINGLE)), draw(st.sampled_from(SINGLE)), max(len(shape), 1)
    views = [
        any_view(draw, generator, shape, one, lambda rng, dims, kind: stored(rng.uniform(-3, 1, dims), kind))
        for one in (kind, kind, out_kind)
    ]
    gradient, output, out = (npu.view(*view, one) for view, one in zip(views, (kind, kind, out_kind)))
    dim = draw(st.integers(-rank, rank - 1))
    assert npu.call(f"{name}_backward", gradient, output, dim, out) == 0
    g, y = (exact(view, kind).astype("f8") for _, view in views[:2])
    axis = dim if shape else None
    if name == "softmax":
        result = y * (g - (g * y).sum(axis, keepdims=True))
    else:
        result = g - numpy.exp(y) * g.sum(axis, keepdims=True)
    near(npu.get(out), result, out_kind, 2.0**-45 * numpy.abs(g).sum())


@pytest.mark.strict
def test_refusals_of_the_gradient_of_softmax(npu):
    floats, half, doubles, turned = (blank(npu, *one) for one in (["f4"], ["f2"], ["f8"], ["f4", (3, 2)]))
    for name in ("softmax_backward", "log_softmax_backward"):
        refused(npu.call(name, floats, floats, 2, floats), INVALID, "dim is 2, expected -2 to 1 for 2 dimensions")
        refused(npu.call(name, floats, half, 0, floats), INVALID, "output has data type 1, float16, expected float32")
        refused(npu.call(name, doubles, doubles, 0, floats), INVALID, "gradOutput has data type 11, float64, expected ")
        refused(npu.call(name, floats, turned, 0, floats), INVALID, "output has shape [3, 2], expected [2, 3]")
        refused(npu.call(name, floats, floats, 0, turned), INVALID, "out has shape [3, 2], expected [2, 3]")


def test_an_absent_beta_is_1(npu):
    x = npu.tensor(numpy.array([-2, 0, 3], "f4"))
    ones, out = npu.tensor(numpy.ones(3, "f4")), blank(npu, "f4", (3,))
    assert npu.call("swish_backward", ones, x, 0, out) == 0
    assert numpy.allclose(npu.get(out), swish(1, x.view.astype("f8")), rtol=1e-6)


def test_in_the_place_of_the_gradient(npu):
    gradient, x = npu.tensor(numpy.array([[1, 2], [3, 4]], "f4")), npu.tensor(numpy.array([1, -1], "f4"))
    assert call(npu, "threshold", gradient, x, (0,), gradient) == 0
    assert npu.get(gradient).tolist() == [[1, 0], [3, 0]]


@pytest.mark.strict
@pytest.mark.parametrize("name", GRADIENTS)
@every(kind=ALL)
def test_types(npu, name, kind):
    """All and only the documented types are taken."""
    tensors = {one: blank(npu, one) for one in ALL}
    for other in ALL:
        for out_kind in {"i4", "f4", "f2", "c8", kind, other}:
            ret = call(npu, name, tensors[kind], tensors[other], GRADIENTS[name][-1], tensors[out_kind])
            assert ret == (0 if out_kind in outs(name, kind, other) else INVALID), (other, out_kind)


@pytest.mark.strict
def test_refused(npu):
    floats, half, turned = blank(npu, "f4"), blank(npu, "f2"), blank(npu, "f4", (3, 2))
    one, minus = npu.scalar(1.0), npu.scalar(-1.0)
    for name, (_, _, _, _, broadcasts, params) in GRADIENTS.items():
        words = " is 3 and dimension 0 of " if broadcasts else "has shape [3, 2], expected [2, 3], that of the first "
        refused(call(npu, name, floats, turned, params, floats), INVALID, words)
        assert call(npu, name, floats, floats, params, turned) == INVALID
    ret = npu.call("elu_backward", floats, minus, one, one, True, floats, floats)
    refused(ret, INVALID, "alpha is -1, expected 0 or more")
    assert npu.call("elu_backward", floats, minus, one, one, False, floats, floats) == 0
    ret = npu.call("elu_backward", floats, one, one, one, True, half, floats)
    refused(ret, INVALID, "selfOrResult has data type 1, float16, expected float32, that of gradOutput")
    refused(npu.call("softshrink_backward", floats, floats, minus, floats), INVALID, "lambda is -1, expected 0 or more")
    ret = npu.call("gelu_backward_v2", floats, floats, "erf", floats)
    refused(ret, INVALID, 'approximate is "erf", expected none or tanh')
    ret = npu.call("softplus_backward", blank(npu, "i4"), floats, one, one, floats)
    refused(ret, INVALID, f"gradOutput has data type {CODES['i4']}, int32, expected ")
    refused(npu.call("silu_backward", floats, half, floats), INVALID, "self has data type 1, float16, expected float32")
    for shape, code in (((0,), 0), ((2, 3), 0), ((3, 2), INVALID)):
        assert npu.call("log_sigmoid_backward", floats, floats, blank(npu, "f4", shape), floats) == code
    assert npu.call("log_sigmoid_backward", floats, floats, half, floats) == INVALID
