"""Functions of one operand against NumPy: trigonometry, logarithms, rounding, signs, tests for infinity."""

import math
from statistics import NormalDist

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, ORDER, UNSIGNED, blank, casts, exact, numbers, rounded, stored
from helpers.pointwise import ALL, COMPLEX, FEWER, FLOATS, INTEGERS, REAL, SINGLE, cases, compare, few, place
from helpers.tables import every
from hypothesis import given
from hypothesis import strategies as st
from test_operators_unary import mild

NAN, INF = numpy.nan, numpy.inf
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 1.5, 2.5]


def each(function):
    """Return a function of arrays from one of numbers."""
    return numpy.vectorize(function, otypes=["f8"])


def erfinv(y):
    if not abs(y) < 1:
        return y * INF if abs(y) == 1 else NAN
    return math.copysign(NormalDist().inv_cdf((1 + abs(y)) / 2) / math.sqrt(2), y)


def lgamma(x):
    return INF if x <= 0 and x.is_integer() else math.lgamma(x)


def sign(x):
    return numpy.where(x == 0, 0, x / numpy.abs(x))


FRACTIONS = [*FLOATS, *COMPLEX]
NO_BFLOAT = [kind for kind in FLOATS if kind != "b2"]
REAL_IN = ["?", *INTEGERS, *NO_BFLOAT]
ERROR_IN = ["?", "i8", *NO_BFLOAT]
INDEX = ["i4", "i8"]
# By name: the function, the kinds that are taken, the kinds that may come out. Integers are computed in float32.
FUNCTIONS = {
    "sin": (numpy.sin, KINDS, FRACTIONS),
    "cos": (numpy.cos, KINDS, FRACTIONS),
    "tan": (numpy.tan, KINDS, FRACTIONS),
    "asin": (numpy.arcsin, REAL_IN, NO_BFLOAT),
    "acos": (numpy.arccos, REAL_IN, NO_BFLOAT),
    "atan": (numpy.arctan, REAL, FLOATS),
    "sinc": (numpy.sinc, REAL, FLOATS),
    "sinh": (numpy.sinh, KINDS, FRACTIONS),
    "cosh": (numpy.cosh, NO_BFLOAT, NO_BFLOAT),
    "asinh": (numpy.arcsinh, REAL_IN, NO_BFLOAT),
    "acosh": (numpy.arccosh, NO_BFLOAT, NO_BFLOAT),
    "atanh": (numpy.arctanh, REAL_IN, NO_BFLOAT),
    "reciprocal": (lambda x: 1 / x, KINDS, FRACTIONS),
    "exp2": (numpy.exp2, REAL, FLOATS),
    "expm1": (numpy.expm1, ["?", "i8", *SINGLE], FLOATS),
    "log2": (numpy.log2, KINDS, FRACTIONS),
    "log10": (numpy.log10, KINDS, FRACTIONS),
    "log1p": (numpy.log1p, REAL, FLOATS),
    "erf": (each(math.erf), ERROR_IN, NO_BFLOAT),
    "erfc": (each(math.erfc), ERROR_IN, NO_BFLOAT),
    "erfinv": (each(erfinv), ["?", *INTEGERS, *SINGLE], SINGLE),
}
# Functions that keep the kind, and what they make of integers.
ROUNDINGS = {
    "ceil": (numpy.ceil, None, FLOATS),
    "floor": (numpy.floor, lambda x: x, [*INTEGERS, *UNSIGNED, *FLOATS]),
    "round": (numpy.rint, lambda x: x, [*INDEX, *FLOATS]),
    "trunc": (numpy.trunc, None, SINGLE),
    "frac": (lambda x: x - numpy.trunc(x), lambda x: x - x, [*INTEGERS, *SINGLE]),
}
TESTS = {
    "is_finite": (numpy.isfinite, FLOATS),
    "is_inf": (numpy.isinf, REAL),
    "is_pos_inf": (numpy.isposinf, FLOATS),
    "is_neg_inf": (numpy.isneginf, FLOATS),
    "signbit": (numpy.signbit, [*REAL, *UNSIGNED]),
}
SIGNED = ["?", *INDEX, *FRACTIONS]
REPLACED = ["?", *INTEGERS, *SINGLE]
DECIMAL = [*INDEX, *FLOATS]
NUMBERS = {"nan_to_num": (7.0, 100.0, -100.5), "round_decimals": (1,), "logit": (-1.0,)}
# By name: the kinds that are taken, and those that may come out; None: the kind that went in.
TYPES = {
    **{name: (taken, possible) for name, (_, taken, possible) in FUNCTIONS.items()},
    **{name: (taken, None) for name, (_, _, taken) in ROUNDINGS.items()},
    **{name: (taken, ["?"]) for name, (_, taken) in TESTS.items()},
    "sign": (SIGNED, None),
    "lgamma": (NO_BFLOAT, None),
    "nan_to_num": (REPLACED, None),
    "round_decimals": (DECIMAL, None),
    "logit": (SINGLE, None),
}
ONE_FORM = [*TESTS, "sign", "lgamma", "logit"]


def outs(name, kind):
    """Return the kinds that the result may have."""
    possible = TYPES[name][1]
    if possible is None:
        return [kind]
    computed = "f4" if ORDER[kind] < 2 else kind
    return [one for one in possible if name in TESTS or casts(computed, one)]


def kept(name):
    """Return the kinds that the form in place takes."""
    taken = SINGLE if name == "sin" else TYPES[name][0]
    return [kind for kind in taken if kind in outs(name, kind)]


def same(found, expected, kind):
    """Assert that all elements are exactly the expected ones, rounded to the kind."""
    assert numpy.array_equal(exact(found, kind), rounded(expected, kind), equal_nan=ORDER[kind] > 1)


# --- functions with fractions


def check(name, found, values, kind, out_kind):
    """Compare with the function of exact values, which were stored in a kind."""
    whole = ORDER[kind] < 2
    if whole:
        values, kind = rounded(values, "f4"), "f4"
    with numpy.errstate(all="ignore"):
        expected = FUNCTIONS[name][0](values)
        if whole:  # it is computed in float32, where small results are 0, also if the output has more bits
            expected = rounded(expected, kind)
        size = numpy.abs(expected) * (8 if kind in COMPLEX else 1)
    if name == "sinc" and kind == "f8":  # pi * x is rounded before its sine is taken
        size = size + 1
    if out_kind in COMPLEX:  # infinities and NaN have no agreed form
        finite = numpy.isfinite(expected)
        found, expected, size = found[finite], expected[finite], size[finite]
    compare(found, expected, kind, out_kind, size)


@pytest.mark.parametrize("name", FUNCTIONS)
@FEWER
@given(data=st.data())
def test_function(npu, name, data):
    case = data.draw(cases([FUNCTIONS[name][1]], lambda kind: outs(name, kind), values=mild))
    (self,), out = place(npu, case)
    assert npu.call(name, self, out) == 0
    check(name, npu.get(out), exact(case.views[0][1], case.kinds[0]), case.kinds[0], case.out_kind)


@pytest.mark.parametrize("name", FUNCTIONS)
@FEWER
@given(data=st.data())
def test_function_in_place(npu, name, data):
    case = data.draw(cases([kept(name)], None, in_place=True, values=mild))
    (self,), out = place(npu, case, in_place=True)
    assert npu.call(f"inplace_{name}", self) == 0
    check(name, npu.get(out), exact(case.views[0][1], case.out_kind), case.out_kind, case.out_kind)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(npu, name):
    for kind in [kind for kind in FLOATS if kind in kept(name) or (name == "sin" and kind == "f8")]:
        base = stored(numpy.array(SPECIAL), kind)
        out = blank(npu, kind, base.shape)
        assert npu.call(name, npu.tensor(base, kind), out) == 0
        found, values = npu.get(out), exact(base, kind)
        check(name, found, values, kind, kind)
        with numpy.errstate(all="ignore"):
            zero = rounded(FUNCTIONS[name][0](values), kind)
        where = zero == 0
        assert numpy.array_equal(numpy.signbit(exact(found, kind))[where], numpy.signbit(zero)[where]), kind


def test_integers_are_computed_in_float32(npu):
    """Also where the result has a type that cannot hold them, or that could hold more digits of the result."""
    values = npu.tensor(numpy.array([2049, 2**24 + 1], "i4"))
    for out_kind in ("f2", "f8"):
        out = blank(npu, out_kind, (2,))
        assert npu.call("sin", values, out) == 0
        compare(npu.get(out), numpy.sin(numpy.array([2049.0, 2**24])), "f4", out_kind)


@pytest.mark.parametrize("kind", SINGLE)
def test_inverse_of_the_error_function(npu, kind):
    """Small operands keep their digits, and those next to 1 have a finite result."""
    below = {"f2": 2.0**-11, "b2": 2.0**-8, "f4": 2.0**-24}[kind]
    values = numpy.array([1 - below, below - 1, 2.0**-14, -(2.0**-14), 0.25, -0.75])
    out = blank(npu, kind, values.shape)
    assert npu.call("erfinv", npu.tensor(stored(values, kind), kind), out) == 0
    compare(npu.get(out), each(erfinv)(values), kind, kind)


@FEWER
@given(case=cases([NO_BFLOAT], lambda kind: [kind], values=mild))
def test_lgamma(npu, case):
    (self,), out = place(npu, case)
    assert npu.call("lgamma", self, out) == 0
    expected = each(lgamma)(exact(case.views[0][1], case.kinds[0]))
    slack = 8 if case.out_kind == "f8" else 0  # Python's own rounding
    compare(npu.get(out), expected, case.out_kind, case.out_kind, numpy.abs(expected) + slack)


def test_special_values_of_lgamma(npu):
    values = numpy.array([NAN, INF, -INF, 0.0, -0.0, -1, -2, 1, 2], "f4")
    out = blank(npu, "f4", values.shape)
    assert npu.call("lgamma", npu.tensor(values), out) == 0
    same(npu.get(out), numpy.array([NAN, INF, INF, INF, INF, INF, INF, 0, 0]), "f4")


def chances(generator, shape, kind):
    """Return random values, most of them from 0 to 1."""
    return stored(generator.uniform(-0.2, 1.2, shape), kind)


def logit(x, eps):
    """Return the logit in double, of values clamped to bounds in float32."""
    low = numpy.float32(eps)
    x = x if eps < 0 else numpy.clip(x, float(low), float(1 - low))
    with numpy.errstate(all="ignore"):
        return numpy.log(x / (1 - x))


@pytest.mark.parametrize("eps", [-1.0, 0.0, 0.25, 1e-3])
def test_logit(npu, eps):
    @FEWER
    @given(case=cases([SINGLE], lambda kind: [kind], values=chances))
    def run_case(case):
        (self,), out = place(npu, case)
        assert npu.call("logit", self, eps, out) == 0
        compare(npu.get(out), logit(exact(case.views[0][1], case.kinds[0]), eps), case.out_kind, case.out_kind)

    run_case()


@pytest.mark.parametrize("eps", [-1.0, 0.0, 0.25])
def test_special_values_of_logit(npu, eps):
    values = numpy.array([*SPECIAL, 0.5 + 2.0**-20], "f4")
    out = blank(npu, "f4", values.shape)
    assert npu.call("logit", npu.tensor(values), eps, out) == 0
    compare(npu.get(out), logit(values.astype("f8"), eps), "f4", "f4")


# --- functions that keep the kind


def halves(generator, shape, kind):
    """Return random values, many of them in the middle of two integers."""
    return numbers(generator, shape, kind) if ORDER[kind] < 2 else stored(generator.integers(-20, 20, shape) / 4, kind)


@pytest.mark.parametrize("name", ROUNDINGS)
@FEWER
@given(data=st.data())
def test_rounding(npu, name, data):
    function, of_integers, taken = ROUNDINGS[name]
    case = data.draw(cases([taken], lambda kind: [kind], values=halves))
    kind = case.out_kind
    (self,), out = place(npu, case)
    assert npu.call(name, self, out) == 0
    expected = (of_integers if ORDER[kind] < 2 else function)(exact(case.views[0][1], kind))
    same(npu.get(out), expected, kind)
    assert npu.call(f"inplace_{name}", self) == 0
    same(npu.get(self), expected, kind)


@pytest.mark.parametrize("name", ROUNDINGS)
def test_special_values_of_roundings(npu, name):
    for kind in [kind for kind in ROUNDINGS[name][2] if kind in FLOATS]:
        base = stored(numpy.array([*SPECIAL, -0.25, 0.25, -3]), kind)
        out = blank(npu, kind, base.shape)
        assert npu.call(name, npu.tensor(base, kind), out) == 0
        with numpy.errstate(invalid="ignore"):
            same(npu.get(out), ROUNDINGS[name][0](exact(base, kind)), kind)


def test_large_integers_stay(npu):
    for kind, value in (("i8", 2**63 - 1), ("i8", -(2**63)), ("u8", 2**64 - 1), ("u4", 2**32 - 1), ("i4", -(2**31))):
        self, out = npu.tensor(numpy.array([value], kind)), blank(npu, kind, (1,))
        assert npu.call("floor", self, out) == 0
        assert npu.get(out).tolist() == [value]


@FEWER
@given(
    case=cases(
        [SIGNED],
        lambda kind: [kind],
        values=lambda g, shape, kind: numbers(g, shape, kind) if kind in COMPLEX else few(g, shape, kind),
    )
)
def test_sign(npu, case):
    (self,), out = place(npu, case)
    assert npu.call("sign", self, out) == 0
    with numpy.errstate(invalid="ignore"):
        compare(npu.get(out), sign(exact(case.views[0][1], case.kinds[0])), case.out_kind, case.out_kind)


def test_special_values_of_sign(npu):
    """The sign of NaN is 0, as in PyTorch."""
    for kind in FLOATS:
        values, out = stored(numpy.array([NAN, INF, -INF, 0.0, -0.0, 1e-5, -1e-5]), kind), blank(npu, kind, (7,))
        assert npu.call("sign", npu.tensor(values, kind), out) == 0
        same(npu.get(out), numpy.array([0, 1, -1, 0, 0, 1, -1.0]), kind)
    pairs, out = npu.tensor(numpy.array([0, 3 + 4j, -2j], "c8")), blank(npu, "c8", (3,))
    assert npu.call("sign", pairs, out) == 0
    assert numpy.allclose(npu.get(out), [0, 0.6 + 0.8j, -1j])


def odd(generator, shape, kind):
    """Return random values, among them NaN, infinities and both zeros."""
    return numbers(generator, shape, kind) if ORDER[kind] < 2 else stored(generator.choice(SPECIAL, shape), kind)


@FEWER
@given(case=cases([REPLACED], lambda kind: [kind], values=odd))
def test_nan_to_num(npu, case):
    (self,), out = place(npu, case)
    assert npu.call("nan_to_num", self, *NUMBERS["nan_to_num"], out) == 0
    values = exact(case.views[0][1], case.out_kind)
    expected = values if ORDER[case.out_kind] < 2 else numpy.nan_to_num(values, True, *NUMBERS["nan_to_num"])
    same(npu.get(out), expected, case.out_kind)
    assert npu.call("inplace_nan_to_num", self, *NUMBERS["nan_to_num"]) == 0
    same(npu.get(self), expected, case.out_kind)


def test_what_replaces_nan_is_rounded(npu):
    out = blank(npu, "f2", (3,))
    assert npu.call("nan_to_num", npu.tensor(numpy.array([NAN, INF, -INF], "f2")), 0.1, 1e6, NAN, out) == 0
    same(npu.get(out), numpy.array([0.1, INF, NAN]), "f2")


def round_decimals(values, kind, decimals):
    """Return rounded values; fractions are computed in float32, or in double for double."""
    if ORDER[kind] < 2:
        return numpy.array([round(int(value), decimals) for value in values.flat], "i8").reshape(values.shape)
    wide = numpy.dtype("f8" if kind == "f8" else "f4")
    values, scale = values.astype(wide), wide.type(10.0 ** abs(decimals))
    found = numpy.rint(values / scale) * scale if decimals < 0 else numpy.rint(values * scale) / scale
    return numpy.asarray(found, "f8")


@pytest.mark.parametrize("decimals", [-25, -2, -1, 0, 1, 3])
def test_round_decimals(npu, decimals):
    @FEWER
    @given(case=cases([DECIMAL], lambda kind: [kind]))
    def run_case(case):
        (self,), out = place(npu, case)
        assert npu.call("round_decimals", self, decimals, out) == 0
        expected = round_decimals(exact(case.views[0][1], case.out_kind), case.out_kind, decimals)
        same(npu.get(out), expected, case.out_kind)
        assert npu.call("inplace_round_decimals", self, decimals) == 0
        same(npu.get(self), expected, case.out_kind)

    run_case()


def test_decimals_of_large_integers(npu):
    values = numpy.array([2**62, -(2**62), 15, 25, -15, -25, 5, -5, 4, 6], "i8")
    self, out = npu.tensor(values), blank(npu, "i8", values.shape)
    for decimals in (-1, -18, -19, 2):
        assert npu.call("round_decimals", self, decimals, out) == 0
        assert npu.get(out).tolist() == [round(value, decimals) for value in values.tolist()]


def test_special_values_of_round_decimals(npu):
    out = blank(npu, "f4", (3,))
    for decimals in (-1, 0, 2):
        assert npu.call("round_decimals", npu.tensor(numpy.array([NAN, INF, -INF], "f4")), decimals, out) == 0
        same(npu.get(out), numpy.array([NAN, INF, -INF]), "f4")


# --- tests


@pytest.mark.parametrize("name", TESTS)
@FEWER
@given(data=st.data())
def test_tests(npu, name, data):
    function, taken = TESTS[name]
    case = data.draw(cases([taken], lambda kind: ["?"], values=odd))
    (self,), out = place(npu, case)
    assert npu.call(name, self, out) == 0
    same(npu.get(out), function(exact(case.views[0][1], case.kinds[0])), "?")


# --- refusals


@pytest.mark.strict
@pytest.mark.parametrize("name", TYPES)
@every(kind=ALL)
def test_types(npu, name, kind):
    """All and only the documented pairs of types are taken."""
    taken, numbers_of = kind in TYPES[name][0], NUMBERS.get(name, ())
    for out_kind in ALL:
        ret = npu.call(name, blank(npu, kind), *numbers_of, blank(npu, out_kind))
        assert ret == (0 if taken and out_kind in outs(name, kind) else INVALID), out_kind
    if name not in ONE_FORM:
        assert npu.call(f"inplace_{name}", blank(npu, kind), *numbers_of) == (0 if kind in kept(name) else INVALID)


@pytest.mark.strict
def test_refused(npu):
    floats, half, pairs, turned = blank(npu, "f4"), blank(npu, "f2"), blank(npu, "c8"), blank(npu, "f4", (3, 2))
    refused(npu.call("acos", pairs, floats), INVALID, "input has data type 16, complex64, expected float32, float16")
    refused(npu.call("sin", pairs, floats), INVALID, "the result is complex64, which cannot be cast to float32")
    refused(npu.call("inplace_sin", pairs), INVALID, "selfRef has data type 16, complex64, expected float32, float16")
    refused(npu.call("is_inf", floats, half), INVALID, "out has data type 1, float16, expected bool")
    wrong = "out has data type 1, float16, expected float32, that of"
    refused(npu.call("ceil", floats, half), INVALID, f"{wrong} the input")
    refused(npu.call("logit", floats, 0.5, half), INVALID, f"{wrong} input")
    for name in ("cos", "floor", "nan_to_num", "round_decimals"):
        ret = npu.call(name, floats, *NUMBERS.get(name, ()), turned)
        refused(ret, INVALID, " is 2 and dimension 0 of out is 3, expected the same or 1")
