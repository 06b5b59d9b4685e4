"""Cumprod, Cummax, Cummin and LinalgCross against NumPy: types, strides, NaNs, equal elements, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    ORDER,
    SETTINGS,
    UNSIGNED,
    any_shape,
    any_view,
    blank,
    casts,
    exact,
    rounded,
    stored,
)
from helpers.pointwise import FLOATS, INTEGERS, REAL, compare, few
from helpers.tensors import CODES
from hypothesis import given
from hypothesis import strategies as st

MULTIPLIED = [*FLOATS, *INTEGERS, *UNSIGNED]
CROSSED = KINDS[1:]
UNDEFINED = -1


def near_one(generator, shape, kind):
    """Return random values whose products stay small."""
    if ORDER[kind] == 1:
        return numpy.asarray(generator.integers(1, 4, shape)).astype(kind)
    return stored(generator.uniform(0.6, 1.6, shape) * generator.choice([-1, 1], shape), kind)


def some_dim(draw, shape):
    """Return a dimension of a shape, which may count from the end."""
    rank = max(len(shape), 1)
    return draw(st.integers(-rank, rank - 1))


def along(function, values, dim):
    """Apply a function to an array whose dimension comes first; a single number is an array of one."""
    lines = numpy.moveaxis(values.reshape(values.shape or (1,)), dim, 0)
    return [numpy.moveaxis(result, 0, dim).reshape(values.shape) for result in function(lines)]


@SETTINGS
@given(data=st.data(), in_place=st.booleans(), named=st.booleans())
def test_cumprod(npu, data, in_place, named):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(MULTIPLIED)), any_shape(draw)
    out_kind = kind
    if named and not in_place:
        out_kind = draw(st.sampled_from([one for one in MULTIPLIED if casts(kind, one)]))
    base, view = any_view(draw, generator, shape, kind, near_one)
    dim, self = some_dim(draw, shape), npu.view(base, view, kind)
    out = npu.view(*any_view(draw, generator, shape, out_kind), out_kind)
    scalar = npu.scalar(dim, draw(st.sampled_from(["i4", "i8"])))
    if in_place:
        out = self
        assert npu.call("inplace_cumprod", self, scalar) == 0
    else:
        dtype = CODES[out_kind] if named else UNDEFINED
        assert npu.call("cumprod", self, scalar, dtype, out) == 0
    wide = rounded(exact(view, kind), out_kind)
    wide = wide.astype("i8" if ORDER[out_kind] == 1 else "f8")
    (expected,) = along(lambda lines: [lines.cumprod(0)], wide, dim)
    compare(npu.get(out), expected.astype(out_kind) if ORDER[out_kind] == 1 else expected, out_kind, out_kind)


def test_a_product_over_several_blocks(npu):
    values = numpy.ones(1000, "f4")
    values[300], values[700], values[800] = 2, numpy.inf, numpy.nan
    out = blank(npu, "f4", (1000,))
    assert npu.call("cumprod", npu.tensor(values), npu.scalar(0, "i4"), CODES["f4"], out) == 0
    assert numpy.array_equal(npu.get(out), values.cumprod(), equal_nan=True)


def test_elements_are_cast_before_they_are_added(npu):
    out = blank(npu, "f2", (2,))
    assert npu.call("cumsum", npu.tensor(numpy.array([2049, 1], "f4")), 0, CODES["f2"], out) == 0
    assert npu.get(out).tolist() == [2048, 2048]


def with_nans(generator, shape, kind):
    """Return few different values, among them NaNs and infinities where the type has these."""
    values = few(generator, shape, kind)
    if ORDER[kind] < 2:
        return values
    odd = numpy.choose(generator.integers(0, 12, shape), [numpy.nan, numpy.inf, -numpy.inf] + [0.0] * 9)
    return stored(exact(values, kind) + odd, kind)


def best(lines, least):
    """Return the best elements so far and their last indices; a NaN is better than any number."""
    values, places = lines.copy(), numpy.zeros(lines.shape, "i8")
    for k in range(1, len(lines)):
        with numpy.errstate(invalid="ignore"):
            ahead = lines[k] <= values[k - 1] if least else lines[k] >= values[k - 1]
        better = numpy.isnan(lines[k]) | ahead
        values[k] = numpy.where(better, lines[k], values[k - 1])
        places[k] = numpy.where(better, k, places[k - 1])
    return values, places


@SETTINGS
@given(data=st.data(), least=st.booleans(), index=st.sampled_from(["i4", "i8"]))
def test_best_so_far(npu, data, least, index):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(REAL)), any_shape(draw)
    base, view = any_view(draw, generator, shape, kind, with_nans)
    dim, self = some_dim(draw, shape), npu.view(base, view, kind)
    values = npu.view(*any_view(draw, generator, shape, kind), kind)
    indices = npu.view(*any_view(draw, generator, shape, index), index)
    assert npu.call("cummin" if least else "cummax", self, dim, values, indices) == 0
    expected, places = along(lambda lines: best(lines, least), exact(view, kind), dim)
    assert numpy.array_equal(exact(npu.get(values), kind), expected, equal_nan=ORDER[kind] == 2)
    assert numpy.array_equal(npu.get(indices), places)


@SETTINGS
@given(data=st.data())
def test_linalg_cross(npu, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(CROSSED)), any_shape(draw)
    place = draw(st.integers(0, len(shape)))
    shape.insert(place, 3)
    shapes = [[1 if draw(st.integers(0, 3)) == 0 else dim for dim in shape] for _ in range(2)]
    for each in shapes:
        each[place] = 3
    shape = list(numpy.broadcast_shapes(*shapes))
    views = [any_view(draw, generator, each, kind) for each in shapes]
    out = npu.view(*any_view(draw, generator, shape, kind), kind)
    tensors = [npu.view(*view, kind) for view in views]
    assert npu.call("linalg_cross", *tensors, draw(st.sampled_from([place, place - len(shape)])), out) == 0
    one, other = (exact(view, kind) for _, view in views)
    one, other = (values.astype("i8") if ORDER[kind] == 1 else values for values in (one, other))
    products = [
        numpy.take(one, [(k + step) % 3 for k in range(3)], place)
        * numpy.take(other, [(k + 3 - step) % 3 for k in range(3)], place)
        for step in (1, 2)
    ]
    expected = products[0] - products[1]
    size = numpy.abs(products[0]) + numpy.abs(products[1])
    compare(npu.get(out), expected.astype(kind) if ORDER[kind] == 1 else expected, kind, kind, size)


def test_a_cross_product_with_infinity(npu):
    one, other = numpy.array([[numpy.inf, 1, 0], [0, 0, 1]], "f4")
    out = blank(npu, "f4", (3,))
    assert npu.call("linalg_cross", npu.tensor(one), npu.tensor(other), -1, out) == 0
    with numpy.errstate(invalid="ignore"):
        assert numpy.array_equal(npu.get(out), numpy.cross(one, other), equal_nan=True)


def test_a_cross_product_in_the_place_of_a_factor(npu):
    one, other = npu.tensor(numpy.array([1, 2, 3], "f4")), npu.tensor(numpy.array([4, 5, 6], "f4"))
    assert npu.call("linalg_cross", one, other, 0, one) == 0
    assert npu.get(one).tolist() == [-3, 6, -3]


# --- refusals


@pytest.mark.strict
def test_products_that_do_not_fit(npu):
    self, dim = blank(npu, "f4"), npu.scalar(0, "i4")
    refused(npu.call("cumprod", self, npu.scalar(2, "i4"), UNDEFINED, self), INVALID, "dim is 2, expected -2 to 1")
    refused(npu.call("inplace_cumprod", self, npu.scalar(-3, "i4")), INVALID, "dim is -3, expected -2 to 1")
    refused(npu.call("cumprod", self, npu.scalar(1.0), UNDEFINED, self), INVALID, "dim has data type 0, float32")
    refused(npu.call("cumprod", self, dim, CODES["f8"], self), INVALID, "out has data type 0", "expected float64")
    refused(npu.call("cumprod", self, dim, UNDEFINED, blank(npu, "f2")), INVALID, "out has data type 1, float16")
    whole = blank(npu, "i4")
    refused(npu.call("cumprod", self, dim, CODES["i4"], whole), INVALID, "input is float32, which cannot be cast")
    refused(npu.call("cumprod", self, dim, UNDEFINED, blank(npu, "f4", (3, 2))), INVALID, "out has shape [3, 2]")
    for kind in ("?", "c8"):
        odd = blank(npu, kind)
        refused(npu.call("cumprod", odd, dim, UNDEFINED, odd), INVALID, "input has data type")
        refused(npu.call("inplace_cumprod", odd, dim), INVALID, "input has data type")


@pytest.mark.strict
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_best_elements_that_do_not_fit(npu, name):
    self, values, indices = blank(npu, "f4"), blank(npu, "f4"), blank(npu, "i8")
    refused(npu.call(name, self, 2, values, indices), INVALID, "dim is 2, expected -2 to 1")
    refused(npu.call(name, self, 0, blank(npu, "f8"), indices), INVALID, "valuesOut has data type 11, float64")
    refused(npu.call(name, self, 0, values, blank(npu, "i2")), INVALID, "indicesOut has data type 6, int16")
    refused(npu.call(name, self, 0, blank(npu, "f4", (3, 2)), indices), INVALID, "valuesOut has shape [3, 2]")
    refused(npu.call(name, self, 0, values, blank(npu, "i8", (3, 2))), INVALID, "indicesOut has shape [3, 2]")
    pairs = blank(npu, "c8")
    refused(npu.call(name, pairs, 0, pairs, indices), INVALID, "self has data type 16, complex64")


@pytest.mark.strict
def test_cross_products_that_do_not_fit(npu):
    self, line = blank(npu, "f4"), blank(npu, "f4", (3,))
    refused(npu.call("linalg_cross", self, self, 0, self), INVALID, "dimension 0 of self is 2, expected 3")
    refused(npu.call("linalg_cross", self, line, 1, self), INVALID, "other has 1 dimensions, expected 2")
    refused(npu.call("linalg_cross", self, self, 2, self), INVALID, "dim is 2, expected -2 to 1")
    refused(npu.call("linalg_cross", self, self, 1, blank(npu, "f4", (3, 3))), INVALID, "dimension 0 of")
    refused(npu.call("linalg_cross", self, blank(npu, "f8"), 1, self), INVALID, "other has data type 11, float64")
    refused(npu.call("linalg_cross", self, self, 1, blank(npu, "f8")), INVALID, "out has data type 11, float64")
    flags = blank(npu, "?")
    refused(npu.call("linalg_cross", flags, flags, 1, flags), INVALID, "self has data type 12, bool")
