"""Functions of float32 that are computed without the C library, against float64: bounds of their errors, by units in
the last place; NaN, infinities, denormals; halves; softmax and sums of long lines."""

import math

import numpy
import pytest
from helpers.operands import blank
from helpers.tensors import CODES

UNITS = 4
DENSE = 20000
erfc = numpy.vectorize(math.erfc, otypes=["f8"])


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def gelu(x):
    return 0.5 * x * erfc(-x / numpy.sqrt(2))


def gelu_tanh(x):
    return x * sigmoid(2 * numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3))


FUNCTIONS = {
    ("exp",): numpy.exp,
    ("sigmoid",): sigmoid,
    ("silu",): lambda x: x * sigmoid(x),
    ("tanh",): numpy.tanh,
    ("gelu",): gelu_tanh,
    ("gelu_v2", 0): gelu,
    ("gelu_v2", 1): gelu_tanh,
}


def inputs():
    """Return values of all sizes: any bits, all that functions differ for, and special ones."""
    generator = numpy.random.default_rng(20)
    bits = generator.integers(0, 2**32, DENSE, "u4").view("f4")
    special = numpy.array([0, 1e-45, 1e-40, 2.0**-126, 2.0**-24, 88.72, 88.73, 103.97, 104, 110, 3.4e38, numpy.inf])
    steps = numpy.linspace(-0.01, 0.01, 2001)
    parts = [bits, generator.uniform(-120, 120, DENSE), generator.normal(0, 3, DENSE), special, -special, steps]
    return numpy.concatenate([part.astype("f4") for part in parts] + [numpy.array([numpy.nan], "f4")])


def units(found, expected):
    """Return errors in units in the last place of float32, those of denormals for small results."""
    size = numpy.spacing(numpy.abs(expected).astype("f4")).astype("f8")
    return numpy.abs(found.astype("f8") - expected) / size


@pytest.mark.parametrize("call", FUNCTIONS, ids=str)
def test_errors(npu, call):
    values = inputs()
    out = blank(npu, "f4", values.shape)
    assert npu.call(call[0], npu.tensor(values), *call[1:], out) == 0
    found = npu.get(out)
    with numpy.errstate(all="ignore"):
        expected = FUNCTIONS[call](values.astype("f8"))
        single = expected.astype("f4")
    finite = numpy.isfinite(single) & numpy.isfinite(found)
    assert numpy.array_equal(found[~finite], single[~finite], equal_nan=True)
    assert units(found[finite], expected[finite]).max() <= UNITS
    signed = finite & ((single != 0) | (values == 0))
    assert numpy.array_equal(numpy.signbit(found[signed]), numpy.signbit(expected[signed]))


@pytest.mark.parametrize("call", FUNCTIONS, ids=str)
def test_the_place_of_a_value_does_not_matter(npu, call):
    """Elements after the last whole vector have the same results as the others."""
    values = numpy.random.default_rng(21).normal(0, 3, 300).astype("f4")
    outs = []
    for count in (300, *range(1, 35)):
        out = blank(npu, "f4", (count,))
        assert npu.call(call[0], npu.tensor(values[:count]), *call[1:], out) == 0
        outs.append(npu.get(out))
    assert all(numpy.array_equal(out, outs[0][: len(out)]) for out in outs)


def test_halves(npu):
    """Floats are rounded to float16 as by NumPy, wherever they are in a line, and every float16 becomes its float."""
    values = inputs()
    with numpy.errstate(all="ignore"):
        expected = values.astype("f2")
    for count in (len(values), *range(1, 35)):
        out = blank(npu, "f2", (count,))
        assert npu.call("cast", npu.tensor(values[:count]), CODES["f2"], out) == 0
        assert numpy.array_equal(npu.get(out), expected[:count], equal_nan=True)
    halves = numpy.arange(2**16, dtype="u2").view("f2")
    out = blank(npu, "f4", halves.shape)
    assert npu.call("cast", npu.tensor(halves), CODES["f4"], out) == 0
    assert numpy.array_equal(npu.get(out), halves.astype("f4"), equal_nan=True)


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 255, 257, 1000, 5003])
def test_lines(npu, count):
    generator = numpy.random.default_rng(count)
    values = (generator.normal(0, 1, (6, count)) * [[0], [1], [10], [40], [1e-40], [1e30]]).astype("f4")
    wide = values.astype("f8")
    lower = wide - wide.max(-1, keepdims=True)
    total = numpy.exp(lower).sum(-1, keepdims=True)
    x, out, sums = npu.tensor(values), blank(npu, "f4", values.shape), blank(npu, "f4", (6,))
    assert npu.call("softmax", x, 1, out) == 0
    expected = numpy.exp(lower) / total
    # The difference from the greatest element is rounded to float32: a relative error of the exponential.
    part = (UNITS - numpy.maximum(lower, -110)) * 2.0**-24
    assert (numpy.abs(npu.get(out) - expected) <= part * expected + 2.0**-149).all()
    assert npu.call("log_softmax", x, 1, out) == 0
    expected = lower - numpy.log(total)
    size = numpy.abs(lower) + numpy.log(total)
    assert (numpy.abs(npu.get(out) - expected) <= 2.0**-23 * size + UNITS * 2.0**-24).all()
    assert npu.call("reduce_sum", x, npu.integers([1]), False, 0, sums) == 0
    expected = wide.sum(-1)
    near = numpy.spacing(numpy.abs(expected).astype("f4")) + 2.0**-50 * numpy.abs(wide).sum(-1)
    assert (numpy.abs(npu.get(sums) - expected) <= near).all()
    for name, extreme in (("amax", values.max), ("amin", values.min)):
        assert npu.call(name, x, npu.integers([1]), False, sums) == 0
        assert numpy.array_equal(npu.get(sums), extreme(-1))


@pytest.mark.parametrize("place", [0, 5, 40, 99])
def test_special_values_in_lines(npu, place):
    """A NaN or a greatest infinity makes a line NaN, wherever it is; negative infinities are 0."""
    values = numpy.zeros((4, 100), "f4")
    values[:3, place] = numpy.nan, numpy.inf, -numpy.inf
    values[3] = -numpy.inf
    x, out, sums = npu.tensor(values), blank(npu, "f4", values.shape), blank(npu, "f4", (4,))
    for name, least in (("softmax", 0), ("log_softmax", -numpy.inf)):
        assert npu.call(name, x, 1, out) == 0
        found = npu.get(out)
        assert numpy.isnan(found[[0, 1, 3]]).all()
        assert found[2, place] == least
        assert numpy.isfinite(numpy.delete(found[2], place)).all()
    assert npu.call("reduce_sum", x, npu.integers([1]), False, 0, sums) == 0
    assert numpy.array_equal(npu.get(sums), [numpy.nan, numpy.inf, -numpy.inf, -numpy.inf], equal_nan=True)
    for name, extreme in (("amax", values.max), ("amin", values.min)):
        assert npu.call(name, x, npu.integers([1]), False, sums) == 0
        assert numpy.array_equal(npu.get(sums), extreme(-1), equal_nan=True)
