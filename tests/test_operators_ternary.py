"""Sums with a product or a quotient, and interpolation, against NumPy: types, strides, in place, refusals."""

import functools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, any_shape, any_view, blank, casts, exact, meet, rounded, stored
from helpers.pointwise import ALL, FEWER, FLOATS, REAL, SINGLE, cases, compare, place
from hypothesis import given
from hypothesis import strategies as st
from test_operators_arithmetic import scalar_of, wide

# By name: what is added to self, and the kinds that are taken.
SUMS = {
    "addcmul": (lambda value, one, other: value * one * other, ["u1", "i1", "i4", "i8", *FLOATS]),
    "addcdiv": (lambda value, one, other: value * one / other, ["i8", *FLOATS]),
}


def common(*kinds):
    return functools.reduce(meet, kinds)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("name", SUMS)
@FEWER
@given(data=st.data())
def test_sum(npu, name, in_place, data):
    function, kinds = SUMS[name]
    case = data.draw(cases([kinds] * 3, lambda *each: [one for one in kinds if casts(common(*each), one)], in_place))
    kind = common(*case.kinds)
    value_kind = data.draw(st.sampled_from([one for one in kinds if casts(one, kind)]))
    value = scalar_of(numpy.random.default_rng(data.draw(st.integers(0, 99))), value_kind)
    tensors, out = place(npu, case, in_place)
    arguments = *tensors, npu.scalar(value, value_kind)
    ret = npu.call(f"inplace_{name}", *arguments) if in_place else npu.call(name, *arguments, out)
    if not casts(kind, case.out_kind):
        refused(ret, INVALID, "the sum is", "cannot be cast to")
        return
    if name == "addcdiv" and case.kinds[1] == case.kinds[2] == "i8":
        refused(ret, INVALID, "tensor1 and tensor2 are both int64, expected a floating-point type")
        return
    assert ret == 0
    values = [wide(rounded(exact(view, one), kind), kind) for (_, view), one in zip(case.views, case.kinds)]
    factor = wide(rounded(value, "f4" if kind in SINGLE else kind), kind)
    with numpy.errstate(all="ignore"):
        added = function(factor, *values[1:])
        expected = values[0] + added
        compare(npu.get(out), expected, kind, case.out_kind, numpy.abs(values[0]) + numpy.abs(added))


def test_special_sums(npu):
    nan, inf = numpy.nan, numpy.inf
    self = npu.tensor(numpy.array([0, inf, 1, 1, nan, 2], "f4"))
    one = npu.tensor(numpy.array([inf, inf, 1, 0, 1, 3], "f4"))
    other, out = npu.tensor(numpy.array([0, -1, 0, 0, 1, inf], "f4")), blank(npu, "f4", (6,))
    assert npu.call("addcmul", self, one, other, npu.scalar(1), out) == 0
    assert numpy.array_equal(npu.get(out), [nan, nan, 1, 1, nan, inf], equal_nan=True)
    assert npu.call("addcdiv", self, one, other, npu.scalar(-1), out) == 0
    assert numpy.array_equal(npu.get(out), [-inf, inf, -inf, nan, nan, 2], equal_nan=True)
    small = npu.tensor(numpy.array([100, -128], "i1"))
    assert npu.call("inplace_addcmul", small, small, small, npu.scalar(2, "i4")) == 0
    assert npu.get(small).tolist() == [-124, -128]


@pytest.mark.strict
@pytest.mark.parametrize("name", SUMS)
def test_types_of_sums(npu, name):
    for kind in ALL:
        tensor, value = blank(npu, kind), npu.scalar(1, kind)
        fits = kind in SUMS[name][1] and (name, kind) != ("addcdiv", "i8")
        assert npu.call(name, *[tensor] * 3, value, tensor) == (0 if fits else INVALID), kind
    floats, whole = blank(npu, "f4"), blank(npu, "i8")
    assert npu.call(name, whole, floats, whole, npu.scalar(1), floats) == 0
    refused(npu.call(name, floats, floats, floats, npu.scalar(1), whole), INVALID, "the sum is float32", "int64")
    if name == "addcmul":
        refused(npu.call(name, whole, whole, whole, npu.scalar(1), whole), INVALID, "value is float32", "cast to int64")


# --- interpolation


def weights(generator, shape, kind):
    """Return random numbers, a weight of which is often one of the ends."""
    values = numpy.asarray(generator.normal(0, 2, shape))
    return stored(numpy.where(generator.integers(0, 3, shape) == 0, numpy.rint(values), values), kind)


def interpolate(start, end, weight):
    return start + weight * (end - start)


@pytest.mark.parametrize("in_place", [False, True])
@FEWER
@given(data=st.data())
def test_lerp(npu, in_place, data):
    kind = data.draw(st.sampled_from(SINGLE))
    case = data.draw(cases([[kind]] * 3, lambda *kinds: [kind], in_place, values=weights))
    tensors, out = place(npu, case, in_place)
    ret = npu.call("inplace_lerp", *tensors) if in_place else npu.call("lerp", *tensors, out)
    assert ret == 0
    compare(npu.get(out), interpolate(*(exact(view, kind) for _, view in case.views)), kind, kind)


@pytest.mark.parametrize("in_place", [False, True])
@FEWER
@given(data=st.data())
def test_lerps(npu, in_place, data):
    kind, weight_kind = data.draw(st.sampled_from(SINGLE)), data.draw(st.sampled_from(REAL))
    case = data.draw(cases([[kind]] * 2, lambda *kinds: FLOATS, in_place))
    weight = scalar_of(numpy.random.default_rng(data.draw(st.integers(0, 99))), weight_kind)
    tensors, out = place(npu, case, in_place)
    arguments = *tensors, npu.scalar(weight, weight_kind)
    assert (npu.call("inplace_lerps", *arguments) if in_place else npu.call("lerps", *arguments, out)) == 0
    start, end = (exact(view, kind) for _, view in case.views)
    compare(npu.get(out), interpolate(start, end, rounded(weight, "f4")), kind, case.out_kind)


def test_the_ends_of_interpolation(npu):
    """The weights 0 and 1 give exactly the ends, and an infinite distance times 0 is NaN."""
    nan, inf = numpy.nan, numpy.inf
    start, end = npu.tensor(numpy.array([1e30, 3, 1, 1, nan], "f4")), npu.tensor(numpy.array([1, 7, inf, inf, 1], "f4"))
    weight, out = npu.tensor(numpy.array([1, 0, 0.5, 0, 0], "f4")), blank(npu, "f4", (5,))
    assert npu.call("lerp", start, end, weight, out) == 0
    assert numpy.array_equal(npu.get(out), [1, 3, nan, nan, nan], equal_nan=True)


@pytest.mark.strict
def test_refused_interpolation(npu):
    floats, halves, double = blank(npu, "f4"), blank(npu, "f2"), blank(npu, "f8")
    one = npu.scalar(1)
    refused(npu.call("lerp", floats, halves, floats, floats), INVALID, "end has data type 1, float16", "that of self")
    refused(npu.call("lerp", floats, floats, halves, floats), INVALID, "weight has data type 1, float16", "of self")
    refused(npu.call("lerp", floats, floats, floats, halves), INVALID, "out has data type 1", "the interpolated value")
    refused(npu.call("lerps", floats, halves, one, floats), INVALID, "end has data type 1, float16, expected float32")
    refused(npu.call("inplace_lerps", halves, floats, one), INVALID, "end has data type 0, float32", "that of selfRef")
    refused(npu.call("lerps", double, double, one, double), INVALID, "self has data type 11, float64")
    refused(npu.call("lerps", floats, floats, npu.scalar(1, "c8"), floats), INVALID, "weight has data type 16")
    refused(npu.call("lerps", floats, floats, one, blank(npu, "i4")), INVALID, "out has data type 3, int32")


# --- Scale


@FEWER
@given(data=st.data())
def test_scale(npu, data):
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, shape = data.draw(st.sampled_from(SINGLE)), any_shape(data.draw, 1)
    axis = data.draw(st.integers(0, len(shape) - 1))
    count, from_blob = data.draw(st.integers(0, len(shape) - axis)), data.draw(st.booleans())
    number = data.draw(st.sampled_from([-1, count]) if count == len(shape) - axis else st.just(count))
    if not from_blob:
        number = data.draw(st.integers(-1, 9))  # it is not read
    part = shape[axis : axis + count] if count else data.draw(st.sampled_from([(), (1,)]))
    x, scale, bias, y = (any_view(data.draw, generator, each, kind) for each in (shape, part, part, shape))
    has_bias = data.draw(st.booleans())
    axis -= data.draw(st.sampled_from([0, len(shape)]))
    out = npu.view(*y, kind)
    first, second, third = (npu.view(*each, kind) for each in (x, scale, bias))
    assert npu.call("scale", first, second, third if has_bias else 0, axis, number, from_blob, out) == 0
    aligned = (*part, *[1] * (len(shape) - axis % len(shape) - count)) if count else ()
    values, factor, shift = (exact(view, kind) for _, view in (x, scale, bias))
    product = values * factor.reshape(aligned)
    expected = product + shift.reshape(aligned) if has_bias else product
    compare(npu.get(out), expected, kind, kind, numpy.abs(product) + numpy.abs(expected))


@pytest.mark.strict
def test_refused_scales(npu):
    x, two, six, halves = (blank(npu, *each) for each in (("f4",), ("f4", (2,)), ("f4", (2, 3)), ("f2", (2, 3))))
    for arguments, words in (
        ((x, two, 0, 0, 2, True, x), "scale has shape [2], expected [2, 3]"),
        ((x, two, 0, 1, 1, True, x), "scale has shape [2], expected [3]"),
        ((x, six, 0, 1, 5, False, x), "scale would have 2 dimensions, expected at most 1"),
        ((x, six, 0, 0, 3, True, x), "scale would have 3 dimensions, expected at most 2"),
        ((x, six, 0, 0, -2, True, x), "numAxes is -2, expected -1 or more"),
        ((x, six, 0, 2, -1, True, x), "axis is 2, expected -2 to 1"),
        ((x, two, 0, 0, 0, True, x), "scale has shape [2], expected [] or [1]"),
        ((x, six, two, 0, -1, True, x), "bias has shape [2], expected [2, 3], that of scale"),
        ((x, halves, 0, 0, 2, True, x), "scale has data type 1, float16, expected float32, that of x"),
        ((x, six, halves, 0, 2, True, x), "bias has data type 1, float16, expected float32, that of x"),
        ((x, six, 0, 0, 2, True, halves), "y has data type 1, float16, expected float32"),
        ((x, six, 0, 0, 2, True, blank(npu, "f4", (3, 2))), "dimension 0 of x is 2"),
    ):
        refused(npu.call("scale", *arguments), INVALID, words)
