"""Reductions against NumPy: sums, means, products, extremes and where these are; types, strides, NaNs, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    ORDER,
    SETTINGS,
    blank,
    casts,
    check_written,
    exact,
    rounded,
    stored,
)
from helpers.pointwise import REAL, compare
from helpers.reductions import Case, extreme_values, kinds_between, sums, wrapped
from helpers.tables import every
from helpers.tensors import CODES, storage
from hypothesis import given
from hypothesis import strategies as st

RANKED = REAL[1:]
UNDEFINED = -1


@SETTINGS
@given(data=st.data())
def test_reduce_sum(npu, data):
    case = Case(data.draw, KINDS)
    kind, out_kind = kinds_between(data.draw, case, KINDS)
    if out_kind is None:
        return
    total, size = sums(case, kind)
    out = case.out(npu, total.shape, out_kind)
    assert npu.call("reduce_sum", case.self(npu), npu.integers(case.dims), case.keep, CODES[kind], out) == 0
    compare(npu.get(out), wrapped(total, kind), kind, out_kind, size)


def means(case, kind):
    total, size = sums(case, kind)
    count = int(numpy.prod([case.view.shape[axis] for axis in case.reduced]))
    if ORDER[kind] == 1:
        whole = numpy.sign(total) * (numpy.abs(total) // max(count, 1))
        return wrapped(whole, kind), size
    with numpy.errstate(invalid="ignore"):
        return total / numpy.float64(count), size / max(count, 1)


AVERAGED = KINDS[1:]


@SETTINGS
@given(data=st.data())
def test_mean(npu, data):
    case = Case(data.draw, AVERAGED)
    kind, out_kind = kinds_between(data.draw, case, AVERAGED)
    if out_kind is None:
        return
    mean, size = means(case, kind)
    out = case.out(npu, mean.shape, out_kind)
    assert npu.call("mean", case.self(npu), npu.integers(case.dims), case.keep, CODES[kind], out) == 0
    compare(npu.get(out), mean, kind, out_kind, size)


@SETTINGS
@given(data=st.data(), noop=st.booleans())
def test_mean_v2(npu, data, noop):
    case = Case(data.draw, AVERAGED)
    if noop and not case.dims:
        case.reduced = ()
    if not case.view.size and ORDER[case.kind] == 3:
        return
    fits = [one for one in AVERAGED if casts(case.kind, one) and (case.view.size or ORDER[one] < 3)]
    out_kind = data.draw(st.sampled_from(fits))
    kind = out_kind if ORDER[case.kind] == 1 else case.kind
    mean, size = means(case, kind)
    out = case.out(npu, mean.shape, out_kind)
    assert npu.call("mean_v2", case.self(npu), npu.integers(case.dims), case.keep, noop, out) == 0
    compare(npu.get(out), mean, kind, out_kind, size)


def simple_factors(case):
    """Fill the case with numbers whose products are exact."""
    factors = [1, 1, -1, 0.5, 2, -2] if ORDER[case.kind] > 1 else [0, 1, 1, 1, 1, 3]
    if ORDER[case.kind] == 3:
        factors = [1, -1, 1j, -1j, 2, 0.5]
    case.base[...] = stored(case.generator.choice(factors, case.base.shape), case.kind)


def products(case, kind):
    whole = ORDER[kind] < 2
    values = wrapped(case.wide(), kind).astype("i8") if whole else case.wide()
    with numpy.errstate(over="ignore", under="ignore"):
        return wrapped(case.over(numpy.prod, values, dtype="i8" if whole else None), kind)


@SETTINGS
@given(data=st.data(), single=st.booleans())
def test_prod(npu, data, single):
    case = Case(data.draw, KINDS, single)
    simple_factors(case)
    kinds = [one for one in KINDS if casts(case.kind, one) and (case.view.size or ORDER[one] < 3)]
    if not kinds:
        return
    kind = data.draw(st.sampled_from(kinds))
    if not single:
        case.reduced, case.keep = tuple(range(case.view.ndim)), False
    product = products(case, kind)
    out_kind = data.draw(st.sampled_from([one for one in kinds if casts(kind, one)]))
    out = case.out(npu, product.shape, out_kind)
    options = (case.dim, case.keep) if single else ()
    assert npu.call("prod_dim" if single else "prod", case.self(npu), *options, CODES[kind], out) == 0
    compare(npu.get(out), product, kind, out_kind, numpy.abs(product))


EXTREMES = {"amax": numpy.max, "amin": numpy.min, "max": numpy.max, "min": numpy.min, "max_v2": numpy.max}


@pytest.mark.parametrize("name", EXTREMES)
@SETTINGS
@given(data=st.data(), noop=st.booleans())
def test_extremes(npu, name, data, noop):
    case = Case(data.draw, REAL, some=True)
    extreme_values(case)
    options = (npu.integers(case.dims), case.keep)
    if name == "max_v2":
        options += (noop,)
        if noop and not case.dims:
            case.reduced = ()
    if name in ("max", "min"):
        if not case.view.size:
            return
        options, case.reduced, case.keep = (), tuple(range(case.view.ndim)), False
    expected = case.over(EXTREMES[name]) if case.reduced or case.view.ndim == 0 else case.wide()
    out_kind = case.kind
    if name in ("max", "min"):
        out_kind = data.draw(st.sampled_from([one for one in REAL if casts(case.kind, one)]))
    out = case.out(npu, expected.shape, out_kind)
    assert npu.call(name, case.self(npu), *options, out) == 0
    found = npu.get(out)
    check_written(npu, out, found)
    assert numpy.array_equal(exact(found, out_kind), rounded(expected, out_kind), equal_nan=ORDER[out_kind] == 2)


@pytest.mark.parametrize("name", ["arg_max", "arg_min", "max_dim", "min_dim"])
@SETTINGS
@given(data=st.data())
def test_places_of_extremes(npu, name, data):
    with_values = name.endswith("dim")
    case = Case(data.draw, REAL if with_values else RANKED, single=True, some=True)
    extreme_values(case)
    wide = case.wide().reshape(case.view.shape or (1,))
    axis = case.axes[0] if case.axes else 0
    places = (numpy.argmax if "max" in name else numpy.argmin)(wide, axis)
    values = numpy.take_along_axis(wide, numpy.expand_dims(places, axis), axis)
    if case.keep and case.axes:
        places = numpy.expand_dims(places, axis)
    values = values.reshape(places.shape)
    index_kind = data.draw(st.sampled_from(["i4", "i8", "i2", "f4", "c16"] if with_values else ["i4", "i8"]))
    indices, out = case.out(npu, places.shape, index_kind), case.out(npu, places.shape, case.kind)
    results = (out, indices) if with_values else (indices,)
    assert npu.call(name, case.self(npu), case.dim, case.keep, *results) == 0
    check_written(npu, indices, places.astype(index_kind))
    if with_values:
        found = npu.get(out)
        check_written(npu, out, found)
        assert numpy.array_equal(exact(found, case.kind), values, equal_nan=ORDER[case.kind] == 2)


# --- what random values do not show


@pytest.mark.parametrize(("shape", "axis"), [((4, 700), 0), ((700, 4), 1), ((700, 4), 0), ((4, 700), 1), ((37, 41), 0)])
@pytest.mark.parametrize("kind", ["f2", "b2", "f4"])
def test_sums_are_made_in_doubles(npu, shape, axis, kind):
    """What a shorter sum would lose is there: a large number that comes and goes, and ones."""
    array = numpy.ones(shape)
    large = 2.0**15 if kind == "f2" else 2.0**38
    for places, value in ((0, large), (2, -large)):
        array[(slice(None), places) if axis else places] = value
    array[(slice(None), 1) if axis else 1] = 2.0**-13
    expected = array.sum(axis)
    left = [dim for place, dim in enumerate(shape) if place != axis]
    self, out = npu.tensor(stored(array, kind), kind), npu.tensor(numpy.zeros(left, "f8"))
    assert npu.call("reduce_sum", self, npu.integers([axis]), False, CODES[kind], out) == 0
    assert numpy.array_equal(npu.get(out), expected)


def test_integers_wrap_in_the_type_of_the_sum(npu):
    self = npu.tensor(numpy.array([[100, 100], [-128, -128]], "i1"))
    for kind, expected in (("i1", [-56, 0]), ("i2", [200, -256]), ("?", None)):
        out = npu.tensor(numpy.zeros(2, "i8"))
        ret = npu.call("reduce_sum", self, npu.integers([1]), False, CODES[kind], out)
        if expected is None:
            refused(ret, INVALID, "self is int8, which cannot be cast to bool, dtype")
        else:
            assert ret == 0
            assert npu.get(out).tolist() == expected
    most = npu.tensor(numpy.full(3, 2**63 - 1, "i8"))
    for name in ("reduce_sum", "mean"):
        out = npu.tensor(numpy.zeros((), "i8"))
        assert npu.call(name, most, npu.integers([]), False, CODES["i8"], out) == 0
        assert npu.get(out) == (2**63 - 3 if name == "reduce_sum" else (2**63 - 3) // 3)
    least = npu.tensor(numpy.full(2, -(2**63), "i8"))
    out = npu.tensor(numpy.ones((), "i8"))
    assert npu.call("prod", least, CODES["i8"], out) == 0
    assert npu.get(out) == 0


def test_sums_of_bools(npu):
    self = npu.tensor(numpy.array([[0, 1, 1], [0, 0, 0]], "?"))
    for kind, expected in (("?", [True, False]), ("i4", [2, 0]), ("f2", [2, 0])):
        out = npu.tensor(numpy.ones(2, kind))
        assert npu.call("reduce_sum", self, npu.integers([1]), False, CODES[kind], out) == 0
        assert npu.get(out).tolist() == expected


@pytest.mark.parametrize("keep", [False, True])
def test_nothing_to_reduce(npu, keep):
    """The sum of nothing is 0, the product 1, the mean a NaN; where there is none, 0."""
    self, shape = npu.tensor(numpy.zeros((0, 3), "f4")), (1, 3) if keep else (3,)
    for name, dims, expected in (
        ("reduce_sum", npu.integers([0]), 0),
        ("mean", npu.integers([0]), numpy.nan),
        ("prod_dim", 0, 1),
    ):
        out = npu.tensor(numpy.full(shape, 7, "f4"))
        assert npu.call(name, self, dims, keep, CODES["f4"], out) == 0
        assert numpy.array_equal(npu.get(out), numpy.full(shape, expected, "f4"), equal_nan=True)
    out = npu.tensor(numpy.full((), 7, "i4"))
    assert npu.call("mean_v2", npu.tensor(numpy.zeros((0, 3), "i4")), npu.integers([]), False, False, out) == 0
    assert npu.get(out) == 0
    for name in ("amax", "amin"):
        refused(npu.call(name, self, npu.integers([0]), keep, out), INVALID)
        fine = npu.tensor(numpy.zeros((0, 1) if keep else (0,), "f4"))
        assert npu.call(name, self, npu.integers([1]), keep, fine) == 0
    complex_out = npu.tensor(numpy.zeros(shape, "c8"))
    ret = npu.call("reduce_sum", self, npu.integers([0]), keep, CODES["c8"], complex_out)
    refused(ret, INVALID, "out is complex64 and self is empty, expected a real type")


def test_infinities(npu):
    values = numpy.array([[-numpy.inf, -numpy.inf], [numpy.inf, 1], [-0.0, 0.0]], "f4")
    self = npu.tensor(values)
    for name, function in (("amax", numpy.max), ("amin", numpy.min)):
        out = npu.tensor(numpy.zeros(3, "f4"))
        assert npu.call(name, self, npu.integers([1]), False, out) == 0
        assert npu.get(out).tolist() == function(values, 1).tolist()
    out, indices = npu.tensor(numpy.zeros(3, "f4")), npu.tensor(numpy.ones(3, "i8"))
    assert npu.call("max_dim", self, 1, False, out, indices) == 0
    assert npu.get(indices).tolist() == [0, 0, 0]
    self = npu.tensor(numpy.array([1, numpy.nan, 5, numpy.nan], "f4"))
    for name in ("arg_max", "arg_min"):
        place = npu.tensor(numpy.zeros((), "i4"))
        assert npu.call(name, self, 0, False, place) == 0
        assert npu.get(place) == 1


def test_a_scalar_result_may_have_one_dimension(npu):
    self = npu.tensor(numpy.arange(6, dtype="f4").reshape(2, 3))
    for name, options, expected in (
        ("max", (), 5),
        ("min", (), 0),
        ("reduce_sum", (npu.integers([]), False, CODES["f4"]), 15),
        ("prod", (CODES["f4"],), 0),
    ):
        out = npu.tensor(numpy.full(1, 7, "f4"))
        assert npu.call(name, self, *options, out) == 0
        assert npu.get(out).tolist() == [expected]
        two = npu.tensor(numpy.zeros(2, "f4"))
        refused(npu.call(name, self, *options, two), INVALID, "out has shape [2], expected [] or [1]")


def test_strides_of_single_elements_mean_nothing(npu):
    array = numpy.arange(3, dtype="f4")
    huge = numpy.lib.stride_tricks.as_strided(array, (1, 3, 1), (2**62, 4, -(2**62)))
    self = npu.view(array, huge, "f4")
    for dims, expected in (([0, 2], [0, 1, 2]), ([1], [3]), ([], [3])):
        out = npu.tensor(numpy.zeros(3 if len(expected) == 3 else (1, 1) if dims else (), "f4"))
        assert npu.call("reduce_sum", self, npu.integers(dims), False, CODES["f4"], out) == 0
        assert npu.get(out).ravel().tolist() == expected
    out = npu.tensor(numpy.ones((3, 1), "i8"))
    assert npu.call("arg_max", self, 0, False, out) == 0
    assert npu.get(out).ravel().tolist() == [0, 0, 0]


# --- refusals


@pytest.fixture
def matrix(npu):
    return npu.tensor(numpy.ones((2, 3), "f4"))


def calls(npu, self, out, dims=(1,), kind="f4"):
    """Return calls of all reductions that would fit: a matrix of 2 x 3 to a line of 2; self and out are to be first."""
    dim, dims, code = dims[0], npu.integers(dims), CODES.get(kind, kind)
    indices = npu.tensor(numpy.zeros(2, "i8"))
    return {
        "reduce_sum": (self, dims, False, code, out),
        "mean": (self, dims, False, code, out),
        "mean_v2": (self, dims, False, False, out),
        "prod_dim": (self, dim, False, code, out),
        "amax": (self, dims, False, out),
        "amin": (self, dims, False, out),
        "max_v2": (self, dims, False, False, out),
        "max_dim": (self, dim, False, out, indices),
        "min_dim": (self, dim, False, out, indices),
        "arg_max": (self, dim, False, out),
        "arg_min": (self, dim, False, out),
    }


NAMES = [
    "reduce_sum",
    "mean",
    "mean_v2",
    "prod_dim",
    "amax",
    "amin",
    "max_v2",
    "max_dim",
    "min_dim",
    "arg_max",
    "arg_min",
]
PLACES = ("arg_max", "arg_min")


def line(npu, name, length=2):
    return npu.tensor(numpy.zeros(length, "i8" if name in PLACES else "f4"))


@pytest.mark.strict
@pytest.mark.parametrize("name", NAMES)
def test_reductions_refuse(npu, matrix, name, monkeypatch):
    fits = calls(npu, matrix, line(npu, name))[name]
    assert npu.call(name, *fits) == 0
    for place, argument in enumerate(fits):
        if not isinstance(argument, int) or (place == 1 and "dim" not in name and name not in PLACES):
            refused(npu.call(name, *fits[:place], 0, *fits[place + 1 :]), NULLPTR, "is NULL")
    refused(npu.call(name, *calls(npu, matrix, line(npu, name, 3))[name]), INVALID, "out has shape [3], expected [2]")
    deep = npu.tensor(numpy.zeros((2, 1), "i8" if name in PLACES else "f4"))
    refused(npu.call(name, *calls(npu, matrix, deep)[name]), INVALID, "out has shape [2, 1], expected [2]")
    for dim in (2, -3):
        refused(
            npu.call(name, *calls(npu, matrix, line(npu, name), [dim])[name]), INVALID, f"is {dim}, expected -2 to 1"
        )
    if name[:4] not in ("prod", "arg_", "max_", "min_"):
        twice = calls(npu, matrix, line(npu, name), [1, -1])[name]
        refused(npu.call(name, *twice), INVALID, "[1] is -1, expected each dimension once")
    monkeypatch.setitem(CODES, "odd", 34)
    odd = npu.view(*[numpy.zeros((2, 3), "u1")] * 2, "odd")
    refused(npu.call(name, *calls(npu, odd, line(npu, name))[name]), INVALID, "self has data type 34, a type without")
    odd = npu.view(*[numpy.zeros(2, "u1")] * 2, "odd")
    refused(npu.call(name, *calls(npu, matrix, odd)[name]), INVALID, "out has data type 34")


@pytest.mark.strict
@pytest.mark.parametrize("name", ["max", "min", "prod"])
def test_reductions_of_all_refuse(npu, matrix, name):
    options = (CODES["f4"],) if name == "prod" else ()
    out = npu.tensor(numpy.zeros((), "f4"))
    assert npu.call(name, matrix, *options, out) == 0
    refused(npu.call(name, 0, *options, out), NULLPTR, "self is NULL")
    refused(npu.call(name, matrix, *options, 0), NULLPTR, "out is NULL")
    refused(npu.call(name, matrix, *options, npu.tensor(numpy.zeros((1, 1), "f4"))), INVALID, "out has shape [1, 1]")
    wrong = npu.tensor(numpy.zeros((), "i4"))
    words = f"{'dtype' if options else 'self'} is float32, which cannot be cast to int32, the type of the output"
    refused(npu.call(name, matrix, *options, wrong), INVALID, words)


@pytest.mark.strict
@pytest.mark.parametrize("name", ["amax", "amin", "max_v2", "max_dim", "min_dim", *PLACES])
def test_nothing_has_no_extreme(npu, name):
    empty = npu.tensor(numpy.zeros((2, 0), "f4"))
    ret = npu.call(name, *calls(npu, empty, line(npu, name))[name])
    refused(ret, INVALID, "dimension 1 of self is 0, expected 1 or more where it is reduced")


@pytest.mark.strict
def test_types_that_have_no_order_or_mean(npu):
    for kind, names in (
        ("c8", ["amax", "amin", "max_v2", "max_dim", "min_dim", *PLACES]),
        ("?", ["mean", "mean_v2", *PLACES]),
    ):
        self, out = npu.tensor(numpy.zeros((2, 3), kind)), npu.tensor(numpy.zeros(2, kind))
        for name in names:
            given = out if name not in PLACES else line(npu, name)
            refused(
                npu.call(name, *calls(npu, self, given, kind=kind)[name]), INVALID, f"self has data type {CODES[kind]}"
            )


@pytest.mark.strict
@pytest.mark.parametrize("name", ["reduce_sum", "mean", "prod_dim"])
@pytest.mark.parametrize("code", [7, 34, UNDEFINED, 1000])
def test_dtypes_that_nothing_is_computed_in(npu, matrix, name, code):
    ret = npu.call(name, *calls(npu, matrix, line(npu, name), kind=code)[name])
    refused(ret, INVALID, f"dtype has data type {code}, ", "expected float32")


@pytest.mark.strict
@pytest.mark.parametrize("one", KINDS)
@every(other=KINDS)
def test_the_types_of_reductions(npu, one, other):
    """Sums, means and products may be cast twice; most extremes are what they are."""
    self, out = blank(npu, one), npu.tensor(numpy.ones(2, storage(other)), other)
    code = CODES[one]
    assert npu.call("reduce_sum", self, npu.integers([1]), False, code, out) == (0 if casts(one, other) else INVALID)
    ret = npu.call("reduce_sum", self, npu.integers([1]), False, CODES[other], out)
    assert ret == (0 if casts(one, other) else INVALID)
    assert npu.call("prod_dim", self, 1, False, CODES[other], out) == (0 if casts(one, other) else INVALID)
    assert npu.call("prod_dim", self, 1, False, code, out) == (0 if casts(one, other) else INVALID)
    averaged = "?" not in (one, other)
    assert npu.call("mean", self, npu.integers([1]), False, code, out) == (
        0 if averaged and casts(one, other) else INVALID
    )
    assert npu.call("mean_v2", self, npu.integers([1]), False, False, out) == (
        0 if averaged and casts(one, other) else INVALID
    )
    whole = npu.tensor(numpy.zeros((), storage(other)), other)
    for name in ("max", "min"):
        ordered = ORDER[one] < 3 and ORDER[other] < 3
        assert npu.call(name, self, whole) == (0 if ordered and casts(one, other) else INVALID)
    same = one == other and ORDER[one] < 3
    assert npu.call("amax", self, npu.integers([1]), False, out) == (0 if same else INVALID)


@pytest.mark.strict
def test_indices_that_do_not_fit(npu, matrix):
    out = npu.tensor(numpy.zeros(2, "f4"))
    wide = npu.tensor(numpy.zeros(3, "i8"))
    refused(npu.call("max_dim", matrix, 1, False, out, wide), INVALID, "indices has shape [3], expected [2]")
    odd = npu.tensor(numpy.zeros(2, "u2"))
    refused(npu.call("max_dim", matrix, 1, False, out, odd), INVALID, "indices has data type 7, uint16, expected ")
    refused(npu.call("arg_max", matrix, 1, False, out), INVALID, "out has data type 0, float32, expected int32 or ")
    refused(npu.call("max_dim", matrix, 1, False, out, 0), NULLPTR, "indices is NULL")
