"""Variances, norms, sums and tests of elements against NumPy: types, strides, special values, refusals."""

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
    rounded,
    stored,
    stretched,
)
from helpers.pointwise import INTEGERS, REAL, SINGLE, compare
from helpers.reductions import Case, extreme_values, kinds_between, sums, wrapped
from helpers.tensors import CODES
from hypothesis import given
from hypothesis import strategies as st

INFINITY = numpy.inf
FRACTIONS = ["?", *INTEGERS, *SINGLE]


def count(case):
    """Return the number of elements of one result."""
    return numpy.float64(numpy.prod([case.view.shape[axis] for axis in case.reduced]))


# --- variances


def spread(case, correction):
    """Return the variance and the mean."""
    values = case.wide()
    with numpy.errstate(divide="ignore", invalid="ignore"):
        means = values.sum(axis=case.reduced, keepdims=True) / count(case)
        squares = case.over(numpy.sum, (values - means) ** 2)
        return squares / numpy.float64(max(0, count(case) - correction)), case.over(numpy.sum) / count(case)


SPREADS = {
    "var": (False, False),
    "var_correction": (False, False),
    "var_mean": (False, True),
    "std": (True, False),
    "std_mean_correction": (True, True),
}


@pytest.mark.parametrize("name", SPREADS)
@SETTINGS
@given(data=st.data())
def test_spreads(npu, name, data):
    root, with_mean = SPREADS[name]
    case = Case(data.draw, SINGLE)
    correction = data.draw(st.booleans() if name == "var" else st.sampled_from([0, 1, 2, -3, 1000]))
    variance, mean = spread(case, correction)
    expected = numpy.sqrt(variance) if root else variance
    outs = [case.out(npu, expected.shape, case.kind) for _ in range(1 + with_mean)]
    assert npu.call(name, case.self(npu), npu.integers(case.dims), correction, case.keep, *outs) == 0
    compare(npu.get(outs[0]), expected, case.kind, case.kind)
    if with_mean:
        size = case.over(numpy.sum, numpy.abs(case.wide())) / max(count(case), 1)
        compare(npu.get(outs[1]), mean, case.kind, case.kind, size)


def test_spreads_of_special_values(npu):
    rows = [[INFINITY, 1, 1], [numpy.nan, 1, 2], [1e30, 1e30, 1e30], [3e38, -3e38, 3e38]]
    out = blank(npu, "f4", (4,))
    assert npu.call("std", npu.tensor(numpy.array(rows, "f4")), npu.integers([1]), 0, False, out) == 0
    found = npu.get(out)
    assert numpy.isnan(found[:2]).all()
    assert found[2] == 0
    assert found[3] == pytest.approx(numpy.std(numpy.array(rows[3])), rel=1e-6)


@pytest.mark.parametrize("name", SPREADS)
def test_spreads_without_dimensions(npu, name):
    """NULL as the dimensions means all of them."""
    root, with_mean = SPREADS[name]
    values = numpy.array([[1, 2, 4], [7, 9, 12]], "f4")
    outs = [blank(npu, "f4", ()) for _ in range(1 + with_mean)]
    assert npu.call(name, npu.tensor(values), 0, 1, False, *outs) == 0
    expected = values.astype("f8").var(ddof=1)
    assert npu.get(outs[0]) == pytest.approx(numpy.sqrt(expected) if root else expected, rel=1e-6)
    if with_mean:
        assert npu.get(outs[1]) == pytest.approx(values.mean(dtype="f8"), rel=1e-6)


def test_the_variance_of_one_element(npu):
    self, out = npu.tensor(numpy.array([2, 4], "f4")), blank(npu, "f4", ())
    for correction, expected in ((0, 1), (1, 2), (2, INFINITY), (3, INFINITY)):
        assert npu.call("var_correction", self, npu.integers([]), correction, False, out) == 0
        assert npu.get(out) == expected
    single = npu.tensor(numpy.array([2], "f4"))
    assert npu.call("var", single, npu.integers([0]), True, False, out) == 0
    assert numpy.isnan(npu.get(out))


# --- norms

ORDERS = [0, 1, 2, 3, 0.5, -1, -2.5, INFINITY, -INFINITY]


def norm(values, order, axis, keep):
    """Return norms in float64."""
    sizes, options = numpy.abs(values), {"axis": axis, "keepdims": keep}
    with numpy.errstate(divide="ignore", over="ignore"):
        if order == 0:
            return numpy.asarray(numpy.sum(sizes != 0, dtype="f8", **options))
        if numpy.isinf(order):
            function, initial = (numpy.max, 0) if order > 0 else (numpy.min, INFINITY)
            return numpy.asarray(function(sizes, initial=initial, **options))
        return numpy.asarray(numpy.sum(sizes**order, **options) ** (1 / order))


@pytest.mark.parametrize("name", ["norm", "linalg_vector_norm"])
@SETTINGS
@given(data=st.data(), order=st.sampled_from(ORDERS))
def test_norms(npu, name, data, order):
    case = Case(data.draw, SINGLE)
    fits = SINGLE if name == "norm" else [case.kind, "f4"]
    out_kind = data.draw(st.sampled_from(fits))
    expected = norm(case.wide(), order, case.reduced, case.keep)
    out = case.out(npu, expected.shape, out_kind)
    options = (npu.scalar(order), npu.integers(case.dims), case.keep)
    if name == "linalg_vector_norm":
        options += (CODES[out_kind],)
    assert npu.call(name, case.self(npu), *options, out) == 0
    compare(npu.get(out), expected, out_kind, out_kind)


@pytest.mark.parametrize("order", ORDERS)
def test_norms_of_special_values(npu, order):
    self = npu.tensor(numpy.array([[0, numpy.nan, 2], [INFINITY, -1, -2]], "f4"))
    out = blank(npu, "f4", (2,))
    assert npu.call("norm", self, npu.scalar(order), npu.integers([1]), False, out) == 0
    expected = {0: [2, 3], -1: [numpy.nan, 1 / 1.5], -2.5: [numpy.nan, (1 + 2**-2.5) ** -0.4]}
    expected[-INFINITY] = [numpy.nan, 1]
    compare(npu.get(out), numpy.array(expected.get(order, [numpy.nan, INFINITY])), "f4", "f4")


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "i8", "?"])
def test_an_order_may_have_any_real_type(npu, kind):
    out = blank(npu, "f4", ())
    self = npu.tensor(numpy.array([3, -4], "f4"))
    assert npu.call("norm", self, npu.scalar(1, kind), npu.integers([]), False, out) == 0
    assert npu.get(out) == 7


@SETTINGS
@given(data=st.data(), order=st.sampled_from([0, 0.5, 1, 2, 3, INFINITY]), in_place=st.booleans())
def test_renorm(npu, data, order, in_place):
    draw = data.draw
    generator, kind = numpy.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(SINGLE))
    shape = draw(st.lists(st.integers(0, 4), min_size=2, max_size=4))
    base, view = any_view(draw, generator, shape, kind)
    values, axis, most = exact(view, kind), draw(st.integers(0, len(shape) - 1)), draw(st.sampled_from([0, 1, 5, 30]))
    norms = norm(values, order, tuple(place for place in range(len(shape)) if place != axis), True)
    expected = values * numpy.where(norms > most, most / (norms + 1e-7), 1)
    self = npu.view(base, view, kind)
    arguments = (self, npu.scalar(order), axis - draw(st.sampled_from([0, len(shape)])), npu.scalar(most))
    if in_place:
        out = self
        assert npu.call("inplace_renorm", *arguments) == 0
    else:
        out = npu.view(*any_view(draw, generator, shape, kind), kind)
        assert npu.call("renorm", *arguments, out) == 0
    found = npu.get(out)
    check_written(npu, out, found)
    compare(found, expected, kind, kind)


@pytest.mark.strict
def test_refusals_of_renorm(npu):
    self, two, less = blank(npu, "f4"), npu.scalar(2), npu.scalar(-1)
    out = blank(npu, "f4")
    assert npu.call("renorm", self, two, 0, two, out) == 0
    for arguments, words in (
        ((blank(npu, "f8"), two, 0, two, out), "self has data type 11"),
        ((self, two, 0, two, blank(npu, "f2")), "out has data type 1, float16, expected float32, that of self"),
        ((self, two, 0, two, blank(npu, "f4", (3, 2))), "out has shape [3, 2], expected [2, 3], that of self"),
        ((blank(npu, "f4", (3,)), two, 0, two, blank(npu, "f4", (3,))), "self has 1 dimensions, expected 2 to 8"),
        ((self, two, 2, two, out), "dim is 2, expected -2 to 1"),
        ((self, less, 0, two, out), "p is -1, expected 0 or more"),
        ((self, two, 0, less, out), "maxNorm is -1, expected 0 or more"),
        ((self, npu.scalar(1, "c8"), 0, two, out), "p has data type 16"),
    ):
        refused(npu.call("renorm", *arguments), INVALID, words)


# --- logarithms of sums


@SETTINGS
@given(data=st.data())
def test_log_sum_exp(npu, data):
    case = Case(data.draw, FRACTIONS)
    out_kind = data.draw(st.sampled_from(SINGLE))
    values = case.wide().astype("f8")
    with numpy.errstate(divide="ignore"):
        most = values.max(axis=case.reduced, keepdims=True, initial=-1000)
        total = case.over(numpy.sum, numpy.exp(values - most))
        expected = numpy.log(total) + most.reshape(total.shape)
    out = case.out(npu, expected.shape, out_kind)
    assert npu.call("log_sum_exp", case.self(npu), npu.integers(case.dims), case.keep, out) == 0
    compare(npu.get(out), expected, out_kind, out_kind)


def test_log_sum_exp_of_special_values(npu):
    rows = [[INFINITY, 1], [-INFINITY, -INFINITY], [-INFINITY, 5], [numpy.nan, INFINITY], [3e38, 3e38], [-3e38, 0]]
    out = blank(npu, "f4", (6,))
    assert npu.call("log_sum_exp", npu.tensor(numpy.array(rows, "f4")), npu.integers([-1]), False, out) == 0
    expected = numpy.array([INFINITY, -INFINITY, 5, numpy.nan, 3e38, 0], "f4")
    assert numpy.array_equal(npu.get(out), expected, equal_nan=True)


@SETTINGS
@given(data=st.data(), noop=st.booleans())
def test_reduce_log_sum(npu, data, noop):
    case = Case(data.draw, ["f2", "f4"])
    if noop and not case.dims:
        case.reduced = ()
    values = case.wide()
    with numpy.errstate(divide="ignore", invalid="ignore"):
        expected = numpy.log(case.over(numpy.sum, values) if case.reduced else values)
    out = case.out(npu, expected.shape, case.kind)
    assert npu.call("reduce_log_sum", case.self(npu), npu.integers(case.dims), case.keep, noop, out) == 0
    compare(npu.get(out), expected, case.kind, case.kind)


# --- sums without NaNs, tests of elements, both extremes

SUMMED = [kind for kind in REAL if kind != "f8"]


@SETTINGS
@given(data=st.data())
def test_reduce_nansum(npu, data):
    case = Case(data.draw, SUMMED)
    extreme_values(case)
    kind, out_kind = kinds_between(data.draw, case, SUMMED)
    values = case.wide()
    total, size = sums(case, kind, numpy.where(numpy.isnan(values), 0, values))
    out = case.out(npu, total.shape, out_kind)
    assert npu.call("reduce_nansum", case.self(npu), npu.integers(case.dims), case.keep, CODES[kind], out) == 0
    compare(npu.get(out), wrapped(total, kind), kind, out_kind, size)


@pytest.mark.parametrize("name", ["all", "any"])
@SETTINGS
@given(data=st.data())
def test_all_and_any(npu, name, data):
    case = Case(data.draw, REAL)
    values = data.draw(st.sampled_from([[0, 0, 0, 1], [1, 1, 1, 1, 0], [0], [1]]))
    if ORDER[case.kind] == 2:
        values = [numpy.nan if value and data.draw(st.booleans()) else value * 2.0**-14 for value in values]
    case.base[...] = stored(case.generator.choice(values, case.base.shape), case.kind)
    expected = case.over(getattr(numpy, name), case.wide() != 0)
    out_kind = data.draw(st.sampled_from(["?", "u1"] if name == "all" else ["?"]))
    out = case.out(npu, expected.shape, out_kind)
    assert npu.call(name, case.self(npu), npu.integers(case.dims), case.keep, out) == 0
    check_written(npu, out, expected.astype(out_kind))


@pytest.mark.parametrize("name", ["aminmax", "aminmax_dim", "aminmax_all"])
@SETTINGS
@given(data=st.data())
def test_both_extremes(npu, name, data):
    case = Case(data.draw, REAL, single=name == "aminmax_dim", some=True)
    extreme_values(case)
    options = (case.dim if name == "aminmax_dim" else npu.integers(case.dims), case.keep)
    if name == "aminmax_all":
        if not case.view.size:
            return
        options, case.reduced, case.keep = (), tuple(range(case.view.ndim)), False
    expected = [case.over(function) for function in (numpy.min, numpy.max)]
    outs = [case.out(npu, each.shape, case.kind) for each in expected]
    assert npu.call(name, case.self(npu), *options, *outs) == 0
    for out, values in zip(outs, expected):
        found = npu.get(out)
        check_written(npu, out, found)
        assert numpy.array_equal(exact(found, case.kind), rounded(values, case.kind), equal_nan=ORDER[case.kind] == 2)


# --- sums of lists

ADDED = ["f2", "f4", "i1", "u1", "i4"]


@SETTINGS
@given(data=st.data(), count=st.integers(1, 4))
def test_the_sum_of_a_list(npu, data, count):
    draw = data.draw
    generator, kind = numpy.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(ADDED))
    shape = any_shape(draw)
    views = [any_view(draw, generator, stretched(draw, shape), kind) for _ in range(count)]
    values = [numpy.broadcast_to(exact(view, kind).astype("f8"), shape) for _, view in views]
    out = npu.view(*any_view(draw, generator, shape, kind), kind)
    assert npu.call("sum", npu.list([npu.view(*view, kind) for view in views]), out) == 0
    found = npu.get(out)
    check_written(npu, out, found)
    total = sum(values)
    compare(found, total.astype("i8") if ORDER[kind] == 1 else total, kind, kind, sum(abs(each) for each in values))


@pytest.mark.strict
def test_refusals_of_sums_of_lists(npu):
    self, out = blank(npu, "f4"), blank(npu, "f4")
    for members, result, words in (
        ([blank(npu, "b2")], blank(npu, "b2"), "tensors[0] has data type 27"),
        ([self, blank(npu, "f2")], out, "out has data type 0, float32, expected float16, that of tensors[1]"),
        ([self], blank(npu, "f2"), "out has data type 1"),
        ([self, blank(npu, "f4", (3, 2))], out, "dimension 0 of tensors[1] is 3 and dimension 0 of out is 2"),
    ):
        refused(npu.call("sum", npu.list(members), result), INVALID, words)


# --- refusals

# Per operator: the options before the dimensions, those after them, the number of results, and a type that it lacks.
CALLS = {
    "std": ((), (1, False), 1, "f8"),
    "var": ((), (True, False), 1, "i4"),
    "var_correction": ((), (1, False), 1, "c8"),
    "var_mean": ((), (1, False), 2, "i4"),
    "std_mean_correction": ((), (1, False), 2, "f8"),
    "norm": ((2.0,), (False,), 1, "i4"),
    "linalg_vector_norm": ((2.0,), (False, CODES["f4"]), 1, "f8"),
    "log_sum_exp": ((), (False,), 1, "f8"),
    "reduce_log_sum": ((), (False, False), 1, "b2"),
    "reduce_nansum": ((), (False, CODES["f4"]), 1, "f8"),
    "all": ((), (False,), 1, "c8"),
    "any": ((), (False,), 1, "u4"),
    "aminmax": ((), (False,), 2, "c8"),
}


def arguments(npu, name, self, outs, dims=(1,)):
    """Return the arguments of a call."""
    before, after, _, _ = CALLS[name]
    return (self, *[npu.scalar(number) for number in before], npu.integers(dims), *after, *outs)


@pytest.mark.strict
@pytest.mark.parametrize("name", CALLS)
def test_refusals(npu, name):
    results, odd = CALLS[name][2:]
    kind = "?" if name in ("all", "any") else "f4"
    self = blank(npu, "f4")
    fine = [blank(npu, kind, (2,)) for _ in range(results)]
    assert npu.call(name, *arguments(npu, name, self, fine)) == 0
    refused(npu.call(name, *arguments(npu, name, 0, fine)), NULLPTR, "is NULL")
    for dims, words in (([2], "is 2, expected -2 to 1"), ([1, -1], "[1] is -1, expected each dimension once")):
        refused(npu.call(name, *arguments(npu, name, self, fine, dims)), INVALID, words)
    refused(npu.call(name, *arguments(npu, name, blank(npu, odd), fine)), INVALID, f"has data type {CODES[odd]}")
    for place in range(results):
        outs = list(fine)
        outs[place] = blank(npu, kind, (3,))
        refused(npu.call(name, *arguments(npu, name, self, outs)), INVALID, "has shape [3], expected [2]")
        outs[place] = blank(npu, odd, (2,))
        refused(npu.call(name, *arguments(npu, name, self, outs)), INVALID, f"has data type {CODES[odd]}")


@pytest.mark.strict
@pytest.mark.parametrize("one", SINGLE)
@pytest.mark.parametrize("other", SINGLE)
def test_a_norm_is_not_narrower_than_its_elements(npu, one, other):
    options = (npu.scalar(2), npu.integers([1]), False)
    self, out = blank(npu, one), blank(npu, other, (2,))
    assert npu.call("norm", self, *options, out) == 0
    ret = npu.call("linalg_vector_norm", self, *options, CODES[other], out)
    if other in (one, "f4"):
        assert ret == 0
    else:
        refused(ret, INVALID, "expected float32 or the type of self")


@pytest.mark.strict
def test_results_that_do_not_fit(npu):
    out = blank(npu, "i4", (2,))
    ret = npu.call("log_sum_exp", blank(npu, "i4"), npu.integers([1]), False, out)
    refused(ret, INVALID, "the result is float32, which cannot be cast to int32")
    refused(npu.call("norm", blank(npu, "f4"), npu.scalar(1, "c8"), npu.integers([1]), False, out), INVALID, "pScalar")
    empty = npu.tensor(numpy.zeros((2, 0), "f4"))
    fine = [blank(npu, "f4", (2,)) for _ in range(2)]
    ret = npu.call("aminmax_dim", empty, 1, False, *fine)
    refused(ret, INVALID, "dimension 1 of self is 0, expected 1 or more where it is reduced")
