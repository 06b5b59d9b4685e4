"""Medians, k-th values, Equal, histograms and counts against NumPy: types, strides, equal elements, NaNs, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    NULLPTR,
    ORDER,
    SETTINGS,
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    stored,
)
from helpers.pointwise import INTEGERS, REAL, SINGLE, compare, few
from helpers.reductions import Case, extreme_values
from helpers.tensors import Device
from hypothesis import given
from hypothesis import strategies as st

import acl

AICORE_EXCEPTION = 507015
ORDERED = [*INTEGERS, *SINGLE]


# --- elements at a position in ascending order


def some_equal(case):
    """Fill the case with numbers many of which are equal, and with some NaNs."""
    if case.draw(st.booleans()):
        case.base[...] = few(case.generator, case.base.shape, case.kind)
    extreme_values(case)


def places_in_order(values, axis, skips_nans, k=None):
    """Return the indices of the medians, or of the k-th values, with a size of 1 along the axis."""
    nans = numpy.isnan(values).sum(axis=axis, keepdims=True)
    size = values.shape[axis] - nans
    position = numpy.maximum(size - 1, 0) // 2
    if k is not None:
        position = numpy.full_like(size, k - 1)
    elif not skips_nans:
        position = numpy.where(nans != 0, size, position)
    return numpy.take_along_axis(numpy.argsort(values, axis=axis, kind="stable"), position, axis)


def same(found, expected, kind):
    assert numpy.array_equal(exact(found, kind), expected, equal_nan=ORDER[kind] == 2)


@pytest.mark.parametrize("name", ["median_dim", "nan_median_dim", "kthvalue"])
@SETTINGS
@given(data=st.data())
def test_elements_in_order(npu, name, data):
    case = Case(data.draw, ORDERED, single=True, some=True)
    some_equal(case)
    values = case.wide().reshape(case.view.shape or (1,))
    axis = case.axes[0] if case.axes else 0
    k = data.draw(st.integers(1, values.shape[axis])) if name == "kthvalue" else None
    places = places_in_order(values, axis, name == "nan_median_dim", k)
    expected = numpy.take_along_axis(values, places, axis)
    if not (case.keep and case.axes):
        places, expected = places.squeeze(axis), expected.squeeze(axis)
    out, indices = case.out(npu, places.shape, case.kind), case.out(npu, places.shape, "i8")
    options = () if k is None else (k,)
    assert npu.call(name, case.self(npu), *options, case.dim, case.keep, out, indices) == 0
    check_written(npu, indices, places)
    found = npu.get(out)
    check_written(npu, out, found)
    same(found, expected, case.kind)


@pytest.mark.parametrize("name", ["median", "nan_median"])
@SETTINGS
@given(data=st.data(), flat=st.booleans())
def test_medians_of_all(npu, name, data, flat):
    case = Case(data.draw, ORDERED)
    some_equal(case)
    values = case.wide().reshape(-1)
    if values.size:
        expected = values[places_in_order(values, 0, name == "nan_median")]
    else:
        expected = numpy.array([numpy.nan if ORDER[case.kind] == 2 else 0])
    shape = (1,) if flat else ()
    out = case.out(npu, shape, case.kind)
    assert npu.call(name, case.self(npu), out) == 0
    same(npu.get(out), expected.reshape(shape), case.kind)


def test_medians_of_special_values(npu):
    infinity, nan = numpy.inf, numpy.nan
    rows = [[infinity, -infinity, 1], [0.0, -0.0, 0.0], [nan, 3, nan], [nan, nan, nan], [2, nan, -1]]
    self = npu.tensor(numpy.array(rows, "f4"))
    for name, values, places in (
        ("median_dim", [1, 0, nan, nan, nan], [2, 1, 0, 0, 1]),
        ("nan_median_dim", [1, 0, 3, nan, -1], [2, 1, 1, 0, 2]),
    ):
        out, indices = blank(npu, "f4", (5,)), blank(npu, "i8", (5,))
        assert npu.call(name, self, 1, False, out, indices) == 0
        same(npu.get(out), values, "f4")
        assert npu.get(indices).tolist() == places


def test_large_integers_keep_their_order(npu):
    values = numpy.array([2**62 + 1, -(2**63), 2**62, 2**63 - 1, 2**62 + 2], "i8")
    out = blank(npu, "i8", ())
    assert npu.call("median", npu.tensor(values), out) == 0
    assert npu.get(out) == 2**62 + 1


@pytest.mark.strict
@pytest.mark.parametrize("name", ["median_dim", "nan_median_dim", "kthvalue"])
def test_refusals_of_elements_in_order(npu, name):
    options = (1,) if name == "kthvalue" else ()
    self, out, indices = blank(npu, "f4"), blank(npu, "f4", (2,)), blank(npu, "i8", (2,))
    assert npu.call(name, self, *options, 1, False, out, indices) == 0
    wide, odd = blank(npu, "f4", (3,)), blank(npu, "f8", (2,))
    for given_self, dim, values, places, code, words in (
        (0, 1, out, indices, NULLPTR, "self is NULL"),
        (self, 1, 0, indices, NULLPTR, "valuesOut is NULL"),
        (self, 1, out, 0, NULLPTR, "indicesOut is NULL"),
        (blank(npu, "?"), 1, out, indices, INVALID, "self has data type 12, bool"),
        (self, 1, odd, indices, INVALID, "valuesOut has data type 11, float64"),
        (self, 1, out, blank(npu, "i4", (2,)), INVALID, "indicesOut has data type 3, int32, expected int64"),
        (self, 2, out, indices, INVALID, "dim is 2, expected -2 to 1"),
        (self, 1, wide, indices, INVALID, "valuesOut has shape [3], expected [2]"),
        (self, 1, out, blank(npu, "i8", (3,)), INVALID, "indicesOut has shape [3], expected [2]"),
        (blank(npu, "f4", (2, 0)), 1, out, indices, INVALID, "dimension 1 of self is 0"),
    ):
        refused(npu.call(name, given_self, *options, dim, False, values, places), code, words)
    for k in (0, 4, -1) if name == "kthvalue" else ():
        ret = npu.call(name, self, k, 1, False, out, indices)
        refused(ret, INVALID, f"k is {k}, expected 1 to 3, the size of dimension 1")


@pytest.mark.strict
@pytest.mark.parametrize("name", ["median", "nan_median"])
def test_refusals_of_medians_of_all(npu, name):
    self = blank(npu, "f4")
    refused(npu.call(name, self, blank(npu, "f4", (2,))), INVALID, "has shape [2], expected [] or [1]")
    refused(npu.call(name, self, blank(npu, "f2", ())), INVALID, "has data type 1, float16, expected float32")
    refused(npu.call(name, blank(npu, "f8"), blank(npu, "f8", ())), INVALID, "self has data type 11, float64")


# --- equality


@SETTINGS
@given(data=st.data(), differs=st.booleans())
def test_equal(npu, data, differs):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shape, kinds = any_shape(draw), [draw(st.sampled_from(REAL)) for _ in range(2)]
    if draw(st.integers(0, 4)) == 0:
        kinds = [draw(st.sampled_from(["u2", "u4", "u8"]))] * 2
    values = numpy.asarray(generator.integers(0, 2, shape))
    differs = differs and values.size != 0
    views = [any_view(draw, generator, shape, kind) for kind in kinds]
    for (_, view), kind in zip(views, kinds):
        view[...] = stored(values, kind)
        if differs:
            place = tuple(generator.integers(0, size) for size in shape)
            values = values.copy()
            values[place] = 1 - values[place]
    tensors = [npu.view(*view, kind) for view, kind in zip(views, kinds)]
    out = blank(npu, "?", draw(st.sampled_from([(), (1,)])))
    assert npu.call("equal", *tensors, out) == 0
    assert bool(npu.get(out)) is not differs


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (numpy.array([numpy.nan], "f4"), numpy.array([numpy.nan], "f4"), False),
        (numpy.array([0.0], "f4"), numpy.array([-0.0], "f2"), True),
        (numpy.array([numpy.inf], "f4"), numpy.array([numpy.inf], "f8"), True),
        (numpy.array([2**53 + 1], "i8"), numpy.array([2.0**53], "f8"), True),
        (numpy.array([2**53 + 1], "i8"), numpy.array([2**53], "i8"), False),
        (numpy.array([2**64 - 1], "u8"), numpy.array([2**64 - 2], "u8"), False),
        (numpy.array([2**24 + 1], "i4"), numpy.array([2**24], "f4"), True),
        (numpy.zeros((2, 3), "f4"), numpy.zeros((3, 2), "f4"), False),
        (numpy.zeros((1, 3), "f4"), numpy.zeros(3, "f4"), False),
        (numpy.zeros((0, 3), "f4"), numpy.zeros((0, 3), "i4"), True),
        (numpy.zeros((0, 3), "f4"), numpy.zeros((3, 0), "f4"), False),
    ],
)
def test_what_is_equal(npu, one, other, expected):
    out = blank(npu, "?", ())
    assert npu.call("equal", npu.tensor(one), npu.tensor(other), out) == 0
    assert bool(npu.get(out)) is expected


@pytest.mark.strict
def test_refusals_of_equal(npu):
    self, out = blank(npu, "f4"), blank(npu, "?", ())
    refused(npu.call("equal", blank(npu, "c8"), self, out), INVALID, "self has data type 16")
    refused(npu.call("equal", self, blank(npu, "c8"), out), INVALID, "other has data type 16")
    refused(npu.call("equal", self, self, blank(npu, "u1", ())), INVALID, "out has data type 4")
    refused(npu.call("equal", self, self, blank(npu, "?", (2,))), INVALID, "out has shape [2], expected [] or [1]")
    ret = npu.call("equal", self, blank(npu, "u4"), out)
    refused(ret, INVALID, "self is float32 and other is uint32, expected types with a common type")


# --- histograms

COUNTED = [*INTEGERS, "f2", "f4"]


def histogram(values, bins, least, most):
    """Return the counts; a value that is not an integer is computed in float32."""
    kind = "f4" if values.dtype.kind == "f" else "f8"
    values, counts = values.reshape(-1).astype(kind), numpy.zeros(bins)
    if least == most:
        if not values.size:
            return counts
        least, most = values.min(), values.max()
    if least == most:
        least, most = least - 1, most + 1
    least, most = (numpy.asarray(bound, kind) for bound in (least, most))
    inside = values[(values >= least) & (values <= most)]
    places = ((inside - least) * numpy.asarray(bins, kind) / (most - least)).astype("i8")
    numpy.add.at(counts, numpy.minimum(places, bins - 1), 1)
    return counts


@SETTINGS
@given(data=st.data(), bins=st.integers(1, 12), bounds=st.sampled_from([(0, 0), (0, 50), (7, 7), (-10, 10)]))
def test_histc(npu, data, bins, bounds):
    case = Case(data.draw, COUNTED)
    whole = ORDER[case.kind] == 1
    if whole and bounds[0] < 0:
        bounds = (1, 8)
    out_kind = data.draw(st.sampled_from(["f4", case.kind] if case.kind not in ("u1", "i1") else ["f4", "i4"]))
    scalars = [npu.scalar(bound, "i8" if whole else "f4") for bound in bounds]
    values = case.view if whole else case.view.astype("f4")
    out = case.out(npu, (bins,), out_kind)
    assert npu.call("histc", case.self(npu), bins, *scalars, out) == 0
    same(npu.get(out), histogram(values, bins, *bounds), out_kind)


@pytest.mark.parametrize(
    ("values", "bounds", "expected"),
    [
        ([0.0, 0.7, 1.0, 1.5, -0.5], (0, 1), [1, 0, 1, 1]),
        ([numpy.nan, 0, 4], (0, 4), [1, 0, 0, 1]),
        ([numpy.inf, 0, 4], (0, 4), [1, 0, 0, 1]),
        ([5, 5, 5], (0, 0), [0, 0, 3, 0]),
        ([numpy.nan], (0, 0), [0, 0, 0, 0]),
        ([], (0, 0), [0, 0, 0, 0]),
    ],
)
def test_histograms_of_special_values(npu, values, bounds, expected):
    out = blank(npu, "f4", (4,))
    self = npu.tensor(numpy.array(values, "f4"))
    assert npu.call("histc", self, 4, *[npu.scalar(bound) for bound in bounds], out) == 0
    assert npu.get(out).tolist() == expected


def test_bounds_of_histc_that_integers_have(npu):
    self, out = npu.tensor(numpy.array([3, 0, 1, 3, 2, 7], "i4")), blank(npu, "i4", (4,))
    assert npu.call("histc", self, 4, npu.scalar(0.0, "f8"), npu.scalar(3.0, "f8"), out) == 0
    assert npu.get(out).tolist() == [1, 1, 1, 2]


@pytest.mark.strict
def test_refusals_of_histc(npu):
    self, out, low, high = blank(npu, "f4"), blank(npu, "f4", (4,)), npu.scalar(0), npu.scalar(1)
    assert npu.call("histc", self, 4, low, high, out) == 0
    for arguments, words in (
        ((blank(npu, "b2"), 4, low, high, out), "self has data type 27"),
        ((self, 4, low, high, blank(npu, "f8", (4,))), "out has data type 11"),
        ((self, 4, low, high, blank(npu, "i4", (4,))), "self is float32, which cannot be cast to int32"),
        ((blank(npu, "i4"), 4, npu.scalar(0.5), high, out), "min is float32, which cannot be cast to int32"),
        ((self, 0, low, high, out), "bins is 0, expected 1 or more"),
        ((self, 3, low, high, out), "out has shape [4], expected [3], one number per bin"),
        ((self, 4, high, low, out), "min is 1 and max is 0, expected finite numbers"),
        ((self, 4, low, npu.scalar(numpy.inf), out), "min is 0 and max is inf, expected finite numbers"),
    ):
        refused(npu.call("histc", *arguments), INVALID, words)


# --- counts of integers


def small(generator, shape, kind):
    """Return random numbers from 0 to 9."""
    return numpy.asarray(generator.integers(0, 10, shape)).astype(kind)


@SETTINGS
@given(data=st.data(), least=st.integers(0, 15), weighted=st.booleans())
def test_bincount(npu, data, least, weighted):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(INTEGERS)), [draw(st.integers(0, 600))]
    base, view = any_view(draw, generator, shape, kind, small)
    weights, sizes = 0, None
    if weighted:
        weight_kind = draw(st.sampled_from([one for one in REAL if one != "b2"]))
        weight_base, weight_view = any_view(draw, generator, shape, weight_kind)
        weights, sizes = npu.view(weight_base, weight_view, weight_kind), weight_view.astype("f8")
    expected = numpy.bincount(view.astype("i8"), sizes, least)
    out_kind = draw(st.sampled_from(["f4", "f8"] if weighted else ["i4", "i8"]))
    out = npu.view(*any_view(draw, generator, expected.shape, out_kind), out_kind)
    assert npu.call("bincount", npu.view(base, view, kind), weights, least, out) == 0
    size = numpy.bincount(view.astype("i8"), numpy.abs(sizes), least) if weighted else None
    compare(npu.get(out), expected, out_kind, out_kind, size)


@pytest.mark.strict
def test_refusals_of_bincount(npu):
    self, out = blank(npu, "i4", (3,)), blank(npu, "i8", (5,))
    weights, sums = blank(npu, "f4", (3,)), blank(npu, "f4", (5,))
    assert npu.call("bincount", self, 0, 5, out) == npu.call("bincount", self, weights, 0, sums) == 0
    for arguments, words in (
        ((blank(npu, "f4", (3,)), 0, 0, out), "self has data type 0"),
        ((blank(npu, "i4"), 0, 0, out), "self has 2 dimensions, expected 1"),
        ((self, 0, 0, sums), "out has data type 0, float32, expected int32 or int64"),
        ((self, weights, 0, out), "out has data type 9, int64, expected float32 or float64"),
        ((self, blank(npu, "b2", (3,)), 0, sums), "weights has data type 27"),
        ((self, blank(npu, "f4", (4,)), 0, sums), "weights has shape [4], expected [3], that of self"),
        ((self, 0, -1, out), "minlength is -1, expected 0 or more"),
        ((self, 0, 6, out), "dimension 0 of out is 5, expected 6 or more, as minlength says"),
        ((self, 0, 0, blank(npu, "i8")), "out has 2 dimensions, expected 1"),
    ):
        refused(npu.call("bincount", *arguments), INVALID, words)


@pytest.fixture
def fresh():
    """Make a device that may fail."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [-1, 5, 2**62])
def test_an_integer_without_a_bin_fails_the_task(fresh, wrong):
    self, out = fresh.tensor(numpy.array([0, 1, 1, wrong], "i8")), blank(fresh, "i8", (5,))
    assert fresh.call("bincount", self, 0, 0, out) == 0
    words = f"aclnnBincount failed because self[3] is {wrong}, expected 0 or more, and less than 5"
    refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
