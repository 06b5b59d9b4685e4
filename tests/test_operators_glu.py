"""Gated linear units and Prelu, with their gradients, against NumPy: types, dimensions, strides, refusals."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, any_shape, any_view, blank, exact
from helpers.pointwise import ALL, FEWER, FLOATS, SINGLE, compare
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("ignore:overflow")
erfc = numpy.vectorize(math.erfc, otypes=["f8"])
FACTOR = numpy.sqrt(2 / numpy.pi)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def gelu(x, mode):
    inner = FACTOR * (x + 0.044715 * x**3)
    return x * sigmoid(2 * inner) if mode else 0.5 * x * erfc(-x / numpy.sqrt(2))


def slope_of_gelu(x, mode):
    inner, part = FACTOR * (x + 0.044715 * x**3), FACTOR * (1 + 3 * 0.044715 * x * x)
    if mode:
        return sigmoid(2 * inner) + 2 * x * part * sigmoid(2 * inner) * sigmoid(-2 * inner)
    return 0.5 * erfc(-x / numpy.sqrt(2)) + x * numpy.exp(-x * x / 2) / numpy.sqrt(2 * numpy.pi)


class Tensors:
    """Tensors of one kind, drawn at random: some with the shape of the whole, others with that of one half."""

    def __init__(self, npu, draw, kinds, ranks=1, last=False):
        self.npu, self.draw = npu, draw
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind = draw(st.sampled_from(kinds))
        self.half = any_shape(draw, ranks)
        self.half = [2] * (ranks - len(self.half)) + self.half
        self.dim = len(self.half) - 1 if last else draw(st.integers(0, len(self.half) - 1))
        self.whole = [2 * size if place == self.dim else size for place, size in enumerate(self.half)]

    def make(self, shape):
        """Return a tensor, and its values in a wide type."""
        base, view = any_view(self.draw, self.generator, shape, self.kind)
        return self.npu.view(base, view, self.kind), exact(view, self.kind)

    def signed_dim(self):
        """Return the dimension, counted from the start or from the end."""
        return self.draw(st.sampled_from([self.dim, self.dim - len(self.half)]))

    def check(self, tensor, expected, slack=0.0):
        """Compare a result; ``slack`` widens the tolerance where numbers cancel."""
        compare(self.npu.get(tensor), expected, self.kind, self.kind, numpy.abs(expected) + slack)


def slack_of(*arrays):
    """Return the slack for the roots of a smooth function of these arrays."""
    return 2.0**-40 * math.prod(1 + numpy.abs(array).max(initial=0) for array in arrays)


@pytest.mark.parametrize(
    ("name", "kinds", "function"),
    [
        ("glu", FLOATS, lambda a, b: a / (1 + numpy.exp(-b))),
        ("swi_glu", SINGLE, lambda a, b: a * sigmoid(a) * b),
    ],
)
@FEWER
@given(data=st.data())
def test_gate(npu, name, kinds, function, data):
    tensors = Tensors(npu, data.draw, kinds)
    (self, x), (out, _) = tensors.make(tensors.whole), tensors.make(tensors.half)
    assert npu.call(name, self, tensors.signed_dim(), out) == 0
    tensors.check(out, function(*numpy.split(x, 2, tensors.dim)))


@pytest.mark.parametrize(
    ("name", "kinds", "left", "right"),
    [
        (
            "glu_backward",
            FLOATS,
            lambda g, a, b: g / (1 + numpy.exp(-b)),
            lambda g, a, b: g * a / (1 + numpy.exp(-b)) / (1 + numpy.exp(b)),
        ),
        (
            "swi_glu_grad",
            SINGLE,
            lambda g, a, b: g * b * (sigmoid(a) + a * sigmoid(a) * sigmoid(-a)),
            lambda g, a, b: g * a * sigmoid(a),
        ),
    ],
)
@FEWER
@given(data=st.data())
def test_gradient_of_a_gate(npu, name, kinds, left, right, data):
    tensors = Tensors(npu, data.draw, kinds)
    (gradient, g), (self, x), (out, _) = map(tensors.make, (tensors.half, tensors.whole, tensors.whole))
    assert npu.call(name, gradient, self, tensors.signed_dim(), out) == 0
    parts = numpy.split(x, 2, tensors.dim)
    tensors.check(out, numpy.concatenate([left(g, *parts), right(g, *parts)], tensors.dim), slack_of(g, x))


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("activates_left", [None, False, True])
@FEWER
@given(data=st.data())
def test_geglu(npu, activates_left, mode, data):
    tensors = Tensors(npu, data.draw, SINGLE)
    (self, x), (out, _), (active, _) = map(tensors.make, (tensors.whole, tensors.half, tensors.half))
    third = () if activates_left is None else (activates_left,)
    name = "ge_glu_v3" if third else "ge_glu"
    assert npu.call(name, self, tensors.signed_dim(), mode, *third, out, active) == 0
    a, b = numpy.split(x, 2, tensors.dim)
    a, b = (b, a) if activates_left else (a, b)
    tensors.check(out, a * gelu(b, mode))
    tensors.check(active, gelu(b, mode))


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("activates_left", [None, False, True])
@FEWER
@given(data=st.data())
def test_gradient_of_geglu(npu, activates_left, mode, data):
    tensors = Tensors(npu, data.draw, SINGLE)
    shapes = tensors.half, tensors.whole, tensors.half, tensors.whole
    (gradient, g), (self, x), (active, saved), (out, _) = map(tensors.make, shapes)
    third = () if activates_left is None else (activates_left,)
    name = "ge_glu_v3_backward" if third else "ge_glu_backward"
    assert npu.call(name, gradient, self, active, tensors.signed_dim(), mode, *third, out) == 0
    a, b = numpy.split(x, 2, tensors.dim)
    a, b = (b, a) if activates_left else (a, b)
    parts = [g * saved, g * a * slope_of_gelu(b, mode)]
    tensors.check(out, numpy.concatenate(parts[::-1] if activates_left else parts, tensors.dim), slack_of(g, x))


@pytest.mark.parametrize(("text", "mode"), [(0, 0), ("none", 0), ("tanh", 1)])
@FEWER
@given(data=st.data())
def test_gelu_mul(npu, text, mode, data):
    tensors = Tensors(npu, data.draw, SINGLE, 2, last=True)
    (self, x), (out, _) = tensors.make(tensors.whole), tensors.make(tensors.half)
    assert npu.call("gelu_mul", self, text, out) == 0
    a, b = numpy.split(x, 2, -1)
    tensors.check(out, gelu(a, mode) * b)


@FEWER
@given(data=st.data())
def test_fatrelu_mul(npu, data):
    tensors = Tensors(npu, data.draw, SINGLE, 2, last=True)
    (self, x), (out, _) = tensors.make(tensors.whole), tensors.make(tensors.half)
    threshold, edge = tensors.make(data.draw(st.sampled_from([[], [1]])))
    assert npu.call("fatrelu_mul", self, threshold, out) == 0
    a, b = numpy.split(x, 2, -1)
    tensors.check(out, numpy.where(a <= edge, 0, a) * b)


# --- Prelu


def weights_for(tensors):
    """Return a weight of one element, or of one element for each index of dimension 1, and how it is broadcast.

    PyTorch's weight has as many dimensions as self.
    """
    shape, many = tensors.whole, tensors.draw(st.booleans())
    channels = shape[1] if len(shape) > 1 else 1
    long = [channels if place == 1 and many else 1 for place in range(len(shape))]
    weight, w = tensors.make(tensors.draw(st.sampled_from([[channels], long] if many else [[], [1], long])))
    spread = w.reshape([-1 if place == 1 else 1 for place in range(len(shape))]) if w.size == channels != 1 else w
    return weight, w, spread


@FEWER
@given(data=st.data())
def test_prelu(npu, data):
    tensors = Tensors(npu, data.draw, SINGLE)
    (self, x), (out, _) = tensors.make(tensors.whole), tensors.make(tensors.whole)
    weight, _, spread = weights_for(tensors)
    assert npu.call("prelu", self, weight, out) == 0
    tensors.check(out, numpy.where(x > 0, x, spread * x))


@FEWER
@given(data=st.data())
def test_gradient_of_prelu(npu, data):
    tensors = Tensors(npu, data.draw, SINGLE)
    (gradient, g), (self, x), (out, _) = map(tensors.make, [tensors.whole] * 3)
    weight, w, spread = weights_for(tensors)
    slopes, _ = tensors.make(w.shape)
    assert npu.call("prelu_backward", gradient, self, weight, out, slopes) == 0
    tensors.check(out, numpy.where(x > 0, g, spread * g))
    parts = numpy.where(x > 0, 0, g * x)
    sums = parts.sum() if w.size == 1 else parts.sum(tuple(place for place in range(x.ndim) if place != 1))
    tensors.check(slopes, numpy.reshape(sums, w.shape), 2.0**-20 * numpy.abs(parts).sum())


def test_a_scalar_tensor(npu):
    self, weight, out = (npu.tensor(numpy.array(value, "f4")) for value in (-4, 0.5, 0))
    assert npu.call("prelu", self, weight, out) == 0
    assert npu.get(out) == -2


# --- Refusals


# By name: the shapes of tensors, and lists of numbers.
CALLS = {
    "glu": ((4, 6), [1], (4, 3)),
    "swi_glu": ((4, 6), [1], (4, 3)),
    "glu_backward": ((4, 3), (4, 6), [1], (4, 6)),
    "swi_glu_grad": ((4, 3), (4, 6), [1], (4, 6)),
    "ge_glu": ((4, 6), [1, 0], (4, 3), (4, 3)),
    "ge_glu_v3": ((4, 6), [1, 1, True], (4, 3), (4, 3)),
    "ge_glu_backward": ((4, 3), (4, 6), (4, 3), [1, 0], (4, 6)),
    "ge_glu_v3_backward": ((4, 3), (4, 6), (4, 3), [1, 1, True], (4, 6)),
    "gelu_mul": ((4, 6), [0], (4, 3)),
    "fatrelu_mul": ((4, 6), (1,), (4, 3)),
    "prelu": ((4, 6), (6,), (4, 6)),
    "prelu_backward": ((4, 6), (4, 6), (6,), (4, 6), (6,)),
}


def call(npu, name, kind, place=None, other_kind=None, shape=None):
    """Call an operator with tensors of a kind, the one at ``place`` of another kind or shape."""
    values = []
    for here, part in enumerate(CALLS[name]):
        if isinstance(part, list):
            values += part
        elif here == place:
            values.append(blank(npu, other_kind or kind, shape or part))
        else:
            values.append(blank(npu, kind, part))
    return npu.call(name, *values)


@pytest.mark.strict
@pytest.mark.parametrize("name", CALLS)
def test_types(npu, name):
    """All tensors have one of the documented types, and the same."""
    for kind in ALL:
        fits = kind in (FLOATS if name.startswith("glu") else SINGLE)
        assert call(npu, name, kind) == (0 if fits else INVALID), kind
    for place, part in enumerate(CALLS[name]):
        if not isinstance(part, list) and name != "prelu":
            assert call(npu, name, "f4", place, "f2") == INVALID, place


@pytest.mark.strict
@pytest.mark.parametrize("name", CALLS)
def test_shapes(npu, name):
    for place, part in enumerate(CALLS[name]):
        if not isinstance(part, list):
            assert call(npu, name, "f4", place, shape=(4, 5)) == INVALID, place


def test_kinds_of_prelu(npu):
    """The weight may have another type than self, and the result too."""
    slope, out = numpy.float32(0.1), blank(npu, "f4", (1,))
    assert npu.call("prelu", npu.tensor(numpy.array([-4], "f2")), npu.tensor(numpy.array([slope])), out) == 0
    assert npu.get(out).tolist() == [-4 * float(slope)]


@pytest.mark.strict
def test_refused(npu):
    whole, half, odd = blank(npu, "f4", (2, 6)), blank(npu, "f4", (2, 3)), blank(npu, "f4", (2, 5))
    refused(npu.call("glu", whole, 2, half), INVALID, "dim is 2, expected -2 to 1 for 2 dimensions")
    refused(npu.call("swi_glu", odd, -1, half), INVALID, "dimension 1 of x is 5, expected an even number")
    refused(npu.call("glu", whole, 1, whole), INVALID, "out has shape [2, 6], expected [2, 3], that of one half")
    refused(npu.call("glu", blank(npu, "f4", ()), 0, half), INVALID, "self has 0 dimensions, expected 1 to 8")
    refused(npu.call("ge_glu", whole, 1, 2, half, half), INVALID, "approximate is 2, expected 0 to 1")
    refused(npu.call("gelu_mul", whole, "erf", half), INVALID, 'approximateOptional is "erf", expected none or tanh')
    ret = npu.call("gelu_mul", blank(npu, "f4", (6,)), "none", half)
    refused(ret, INVALID, "input has 1 dimensions, expected 2 to 8")
    refused(npu.call("fatrelu_mul", whole, half, half), INVALID, "threshold has shape [2, 3], expected [] or [1]")
    refused(npu.call("prelu", whole, blank(npu, "f4", (3,)), whole), INVALID, "weight has 3 elements, expected 1 or 6")
    refused(npu.call("prelu", whole, half, whole), INVALID, "weight has 2 dimensions with another size")
