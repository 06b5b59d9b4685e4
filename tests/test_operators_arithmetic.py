"""Differences, products, quotients, extremes and powers against NumPy: types, broadcasting, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    ORDER,
    UNSIGNED,
    blank,
    casts,
    exact,
    meet,
    meet_scalar,
    numbers,
    rounded,
    stored,
)
from helpers.pointwise import COMPLEX, FEWER, FLOATS, REAL, cases, compare, joint, place
from helpers.tables import every
from helpers.tensors import from_bfloat
from hypothesis import given
from hypothesis import strategies as st


def casting(*kinds):
    return [kind for kind in KINDS if casts(meet(*kinds), kind)]


def real_casting(*kinds):
    return [kind for kind in casting(*kinds) if kind in REAL]


def quotient_casting(*kinds):
    return [kind for kind in KINDS if casts(quotient_kind(meet(*kinds)), kind)]


def quotient_kind(kind):
    return "f4" if ORDER[kind] < 2 else kind


def scalar_of(generator, kind):
    """Return a random scalar, and its value."""
    value = numbers(generator, (), kind)
    return from_bfloat(value) if kind == "b2" else value


def wide(values, kind):
    """Return values in the type that NumPy computes in for a test."""
    return numpy.asarray(values).astype(["i8", "i8", "f8", "c16"][ORDER[kind]])


# Sums and differences, of self, other and alpha.
FACTORS = {
    "add": lambda self, other, alpha: self + alpha * other,
    "sub": lambda self, other, alpha: self - alpha * other,
    "rsub": lambda self, other, alpha: other - alpha * self,
}


def with_factor(draw, in_place=False):
    """Return a case, its type and values, and a scalar and its type."""
    case = draw(cases([KINDS, KINDS], casting, in_place))
    kind, values = joint(case)
    alpha_kind = draw(st.sampled_from([one for one in KINDS if casts(one, kind)]))
    alpha = scalar_of(numpy.random.default_rng(draw(st.integers(0, 99))), alpha_kind)
    return case, kind, [wide(one, kind) for one in (*values, alpha)], alpha, alpha_kind


def size_of(self, other, alpha):
    return (1 + numpy.abs(alpha * 1.0)) * (numpy.abs(self * 1.0) + numpy.abs(other * 1.0))


# --- with a factor


@pytest.mark.parametrize("name", FACTORS)
@FEWER
@given(data=st.data())
def test_with_factor(npu, name, data):
    case, kind, values, alpha, alpha_kind = with_factor(data.draw)
    tensors, out = place(npu, case)
    assert npu.call(name, *tensors, npu.scalar(alpha, alpha_kind), out) == 0
    compare(npu.get(out), FACTORS[name](*values), kind, case.out_kind, size_of(*values))


@pytest.mark.parametrize("name", ["add", "sub"])
@FEWER
@given(data=st.data())
def test_with_factor_in_place(npu, name, data):
    case, kind, values, alpha, alpha_kind = with_factor(data.draw, in_place=True)
    tensors, out = place(npu, case, in_place=True)
    ret = npu.call(f"inplace_{name}", *tensors, npu.scalar(alpha, alpha_kind))
    if casts(kind, case.out_kind):
        assert ret == 0
        compare(npu.get(out), FACTORS[name](*values), kind, case.out_kind, size_of(*values))
    else:
        refused(ret, INVALID, "the sum is" if name == "add" else "the difference is", "cannot be cast to")


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("tensor", KINDS)
@every(scalar=KINDS)
def test_scalar_with_factor(npu, name, tensor, scalar):
    generator = numpy.random.default_rng(3)
    kind = meet_scalar(tensor, scalar)
    base, value = numbers(generator, (3, 5), tensor), scalar_of(generator, scalar)
    self, out = npu.tensor(base, tensor), blank(npu, kind, (3, 5))
    assert npu.call(f"{name}s", self, npu.scalar(value, scalar), npu.scalar(1, "?"), out) == 0
    values = wide(rounded(exact(base, tensor), kind), kind), wide(rounded(value, kind), kind), 1
    compare(npu.get(out), FACTORS[name](*values), kind, kind, size_of(*values))
    if name == "rsub":
        return
    ret = npu.call(f"inplace_{name}s", self, npu.scalar(value, scalar), npu.scalar(1, "?"))
    if casts(kind, tensor):
        assert ret == 0
        compare(npu.get(self), FACTORS[name](*values), kind, tensor, size_of(*values))
    else:
        refused(ret, INVALID, "cannot be cast to")


# --- products


@FEWER
@given(case=cases([KINDS, KINDS], casting))
def test_mul(npu, case):
    kind, (a, b) = joint(case)
    tensors, out = place(npu, case)
    assert npu.call("mul", *tensors, out) == 0
    compare(npu.get(out), wide(a, kind) * wide(b, kind), kind, case.out_kind, numpy.abs(a * 1.0) * numpy.abs(b * 1.0))


@FEWER
@given(case=cases([KINDS, KINDS], None, in_place=True).filter(lambda c: casts(meet(*c.kinds), c.kinds[0])))
def test_inplace_mul(npu, case):
    kind, (a, b) = joint(case)
    tensors, out = place(npu, case, in_place=True)
    assert npu.call("inplace_mul", *tensors) == 0
    compare(npu.get(out), wide(a, kind) * wide(b, kind), kind, case.out_kind, numpy.abs(a * 1.0) * numpy.abs(b * 1.0))


@pytest.mark.parametrize("tensor", KINDS)
@every(scalar=KINDS)
def test_muls(npu, tensor, scalar):
    generator = numpy.random.default_rng(7)
    kind = meet_scalar(tensor, scalar)
    base, value = numbers(generator, (4, 3), tensor), scalar_of(generator, scalar)
    self, out = npu.tensor(base, tensor), blank(npu, kind, (4, 3))
    assert npu.call("muls", self, npu.scalar(value, scalar), out) == 0
    expected = wide(rounded(exact(base, tensor), kind), kind) * wide(rounded(value, kind), kind)
    compare(npu.get(out), expected, kind, kind)
    ret = npu.call("inplace_muls", self, npu.scalar(value, scalar))
    if casts(kind, tensor):
        assert ret == 0
        compare(npu.get(self), expected, kind, tensor)
    else:
        refused(ret, INVALID, "the product is", "cannot be cast to")


# --- quotients


def quotient(a, b, kind):
    with numpy.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return wide(a, kind) / wide(b, kind)


@FEWER
@given(case=cases([KINDS, KINDS], quotient_casting))
def test_div(npu, case):
    kind, (a, b) = joint(case)
    kind = quotient_kind(kind)
    tensors, out = place(npu, case)
    assert npu.call("div", *tensors, out) == 0
    if kind in COMPLEX:  # what is infinite or no number has no agreed form
        finite = numpy.broadcast_to(numpy.abs(b) != 0, case.out[1].shape)
        compare(npu.get(out)[finite], quotient(a, b, kind)[finite], kind, case.out_kind, parts=2)
    else:
        compare(npu.get(out), quotient(a, b, kind), kind, case.out_kind)


@pytest.mark.parametrize("tensor", KINDS)
@every(scalar=KINDS)
def test_divs(npu, tensor, scalar):
    generator = numpy.random.default_rng(11)
    met = meet_scalar(tensor, scalar)
    kind = quotient_kind(met)
    base, value = numbers(generator, (2, 9), tensor), numpy.asarray(1 if scalar == "?" else 3)
    self, out = npu.tensor(base, tensor), blank(npu, kind, (2, 9))
    assert npu.call("divs", self, npu.scalar(value, scalar), out) == 0
    expected = quotient(rounded(exact(base, tensor), met), rounded(value, met), kind)
    compare(npu.get(out), expected, kind, kind, parts=2)
    ret = npu.call("inplace_divs", self, npu.scalar(value, scalar))
    if casts(kind, tensor):
        assert ret == 0
        compare(npu.get(self), expected, kind, tensor, parts=2)
    else:
        refused(ret, INVALID, "the quotient is", "cannot be cast to")


def whole_quotient(a, b, kind, mode):
    """Return the quotient, rounded as the mode says, computed in the very type that the operator computes in."""
    if ORDER[kind] == 2:
        narrow = "f8" if kind == "f8" else "f4"
        with numpy.errstate(all="ignore"):
            a, b = a.astype(narrow), b.astype(narrow)
            return numpy.array(numpy.trunc(a / b) if mode == 1 else numpy.floor_divide(a, b), "f8")
    a, b = numpy.broadcast_arrays(wide(a, kind), wide(b, kind))
    divisor = numpy.where(b == 0, 1, b)
    down = a // divisor
    return numpy.where(b == 0, 0, numpy.where((mode == 1) & (down < 0) & (down * divisor != a), down + 1, down))


@pytest.mark.parametrize("mode", [1, 2])
@FEWER
@given(case=cases([REAL, REAL], real_casting))
def test_div_mod(npu, mode, case):
    kind, (a, b) = joint(case)
    tensors, out = place(npu, case)
    assert npu.call("div_mod", *tensors, mode, out) == 0
    compare(npu.get(out), whole_quotient(a, b, kind, mode), kind, case.out_kind)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_every_form_of_a_quotient(npu, mode):
    values, other = numpy.array([7, -7, 8, 0], "f4"), numpy.array([2, 2, -3, 5], "f4")
    self, that, out = npu.tensor(values), npu.tensor(other), blank(npu, "f4", (4,))
    expected = values / other if mode == 0 else whole_quotient(values, other, "f4", mode)
    assert npu.call("div_mod", self, that, mode, out) == 0
    compare(npu.get(out), expected, "f4", "f4")
    assert npu.call("div_mods", self, npu.scalar(2), mode, out) == 0
    by_two = values / 2 if mode == 0 else whole_quotient(values, numpy.full(4, 2, "f4"), "f4", mode)
    compare(npu.get(out), by_two, "f4", "f4")
    assert npu.call("inplace_div_mod", self, that, mode) == 0
    compare(npu.get(self), expected, "f4", "f4")
    self = npu.tensor(values)
    assert npu.call("inplace_div_mods", self, npu.scalar(2), mode) == 0
    compare(npu.get(self), by_two, "f4", "f4")
    if mode == 0:
        self = npu.tensor(values)
        assert npu.call("inplace_div", self, that) == 0
        compare(npu.get(self), expected, "f4", "f4")


@pytest.mark.strict
def test_integers_that_no_machine_divides(npu):
    least = -(2**63)
    self, other = npu.tensor(numpy.array([5, least, least, -1])), npu.tensor(numpy.array([0, -1, 0, least]))
    for mode in (1, 2):
        out = blank(npu, "i8", (4,))
        assert npu.call("div_mod", self, other, mode, out) == 0
        assert npu.get(out).tolist() == [0, least, 0, 0]


@pytest.mark.strict
def test_refused_quotients(npu):
    floats, pairs, whole = blank(npu, "f4"), blank(npu, "c8"), blank(npu, "i4")
    refused(npu.call("div_mod", floats, floats, 3, floats), INVALID, "mode is 3, expected 0 to 2")
    refused(npu.call("inplace_div_mod", floats, floats, -1), INVALID, "mode is -1, expected 0 to 2")
    for mode in (1, 2):
        refused(npu.call("div_mod", floats, pairs, mode, pairs), INVALID, "other has data type 16")
    refused(npu.call("div", whole, whole, whole), INVALID, "the quotient is float32", "cast to int32")
    refused(npu.call("div_mod", whole, whole, 0, whole), INVALID, "the quotient is float32", "cast to int32")


# --- the greater and the lesser


@pytest.mark.parametrize(("name", "function"), [("maximum", numpy.maximum), ("minimum", numpy.minimum)])
@FEWER
@given(data=st.data())
def test_extreme(npu, name, function, data):
    case = data.draw(cases([REAL, REAL], real_casting))
    kind, values = joint(case)
    tensors, out = place(npu, case)
    assert npu.call(name, *tensors, out) == 0
    compare(npu.get(out), function(*values), kind, case.out_kind)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_an_extreme_with_nan_is_nan(npu, kind):
    nan, inf = numpy.nan, numpy.inf
    self = npu.tensor(numpy.array([nan, 1, nan, inf, -inf], kind))
    other = npu.tensor(numpy.array([1, nan, nan, 1, 1], kind))
    for name, last in (("maximum", [inf, 1]), ("minimum", [1, -inf])):
        out = blank(npu, kind, (5,))
        assert npu.call(name, self, other, out) == 0
        assert numpy.array_equal(npu.get(out).astype("f8"), [nan, nan, nan, *last], equal_nan=True)


# --- powers


def small(generator, shape, kind):
    """Return random bases and exponents: whole ones from -3 to 5, and positive ones with fractions."""
    if ORDER[kind] < 2:
        return numpy.asarray(generator.integers(-3 if kind[0] == "i" else 0, 6, shape)).astype(kind)
    values = numpy.asarray(generator.uniform(0.25, 3, shape))
    return stored(values * (1 + 0.5j) if kind in COMPLEX else values, kind)


def integer_power(base, exponent):
    base, exponent = int(base), int(exponent)
    if exponent < 0:
        return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
    return (base**exponent + 2**63) % 2**64 - 2**63


def powers(a, b, kind):
    if ORDER[kind] < 2:
        return numpy.vectorize(integer_power, otypes=["i8"])(a, b)
    with numpy.errstate(all="ignore"):
        return numpy.power(wide(a, kind), wide(b, kind))


def loss(a, b, kind):
    """Return by how much the power of complex numbers is less exact: it goes through a logarithm."""
    return 4 * (2 + numpy.abs(b * numpy.log(a.astype("c16") + (a == 0)))) if kind in COMPLEX else 1


@FEWER
@given(case=cases([KINDS, KINDS], casting, values=small))
def test_pow_tensor_tensor(npu, case):
    kind, (a, b) = joint(case)
    tensors, out = place(npu, case)
    ret = npu.call("pow_tensor_tensor", *tensors, out)
    if kind == "?":
        refused(ret, INVALID, "self and exponent are both bool")
        return
    assert ret == 0
    expected = powers(a, b, kind)
    compare(npu.get(out), expected, kind, case.out_kind, numpy.abs(rounded(expected, case.out_kind)) * loss(a, b, kind))


@FEWER
@given(
    case=cases([KINDS[1:], KINDS], None, in_place=True, values=small).filter(
        lambda c: casts(meet(*c.kinds), c.kinds[0])
    )
)
def test_inplace_pow_tensor_tensor(npu, case):
    kind, (a, b) = joint(case)
    tensors, out = place(npu, case, in_place=True)
    assert npu.call("inplace_pow_tensor_tensor", *tensors) == 0
    expected = powers(a, b, kind)
    compare(npu.get(out), expected, kind, case.out_kind, numpy.abs(expected) * loss(a, b, kind))


@pytest.mark.parametrize("tensor", KINDS)
@every(scalar=KINDS)
def test_pow_with_scalar(npu, tensor, scalar):
    generator = numpy.random.default_rng(13)
    kind = meet_scalar(tensor, scalar)
    base = small(generator, (3, 4), tensor)
    value = numpy.asarray(1 if scalar == "?" else 3)
    self, out, number = npu.tensor(base, tensor), blank(npu, kind, (3, 4)), npu.scalar(value, scalar)
    a, b = rounded(exact(base, tensor), kind), rounded(value, kind)
    ret = npu.call("pow_tensor_scalar", self, number, out)
    if kind == "?":
        refused(ret, INVALID, "self and exponent are both bool")
    else:
        assert ret == 0
        expected = powers(a, b, kind)
        compare(npu.get(out), expected, kind, kind, numpy.abs(expected) * loss(a, b, kind))
    ret = npu.call("pow_scalar_tensor", number, self, out)
    if "?" in (tensor, scalar):
        refused(ret, INVALID, "has data type 12")
    else:
        assert ret == 0
        expected = powers(b, a, kind)
        compare(npu.get(out), expected, kind, kind, numpy.abs(expected) * loss(b, a, kind))
    if casts(kind, tensor) and kind != "?":
        assert npu.call("inplace_pow_tensor_scalar", self, number) == 0
        expected = powers(a, b, kind)
        compare(npu.get(self), expected, kind, tensor, numpy.abs(expected) * loss(a, b, kind))


@pytest.mark.parametrize("kind", UNSIGNED)
def test_powers_that_become_unsigned(npu, kind):
    base, exponent = numpy.array([2, 3, -2, 7]), numpy.array([10, 4, 3, 2])
    self, other, out = npu.tensor(base), npu.tensor(exponent), blank(npu, kind, (4,))
    assert npu.call("pow_tensor_tensor", self, other, out) == 0
    assert npu.get(out).tolist() == (base**exponent).astype(kind).tolist()
    assert npu.call("pow_tensor_scalar", self, npu.scalar(3, "i4"), out) == 0
    assert npu.get(out).tolist() == (base**3).astype(kind).tolist()
    assert npu.call("pow_scalar_tensor", npu.scalar(3, "i4"), other, out) == 0
    assert npu.get(out).tolist() == (3**exponent).astype(kind).tolist()
    ret = npu.call("pow_tensor_scalar", self, npu.scalar(0.5), out)
    refused(ret, INVALID, "the power is float32, which cannot be cast to uint")


@pytest.mark.parametrize("kind", ["i1", "i4", "f2", "b2", "f4"])
def test_a_number_plus_a_tensor(npu, kind):
    """The number, to which the product of the tensor and alpha is added, takes part in promotion like a scalar."""
    values = stored(numpy.array([[1, -2, 3], [0, 5, -6]]), kind)
    other, out = npu.view(values, values[:, ::2], kind), blank(npu, kind, (2, 2))
    assert npu.call("add_v3", npu.scalar(7, "i4"), other, npu.scalar(2, "i4"), out) == 0
    assert exact(npu.get(out), kind).tolist() == [[9, 13], [7, -5]]
    assert npu.call("inplace_add_v3", npu.scalar(7, "i4"), other, npu.scalar(2, "i4")) == 0
    assert exact(npu.get(other), kind).tolist() == [[9, 13], [7, -5]]


@pytest.mark.strict
def test_a_number_plus_a_tensor_refuses(npu):
    whole, one = blank(npu, "i4"), npu.scalar(1, "i4")
    refused(npu.call("add_v3", npu.scalar(0.5), whole, one, whole), INVALID, "the sum is float32", "cast to int32")
    refused(npu.call("add_v3", one, whole, npu.scalar(0.5), whole), INVALID, "alpha is float32", "cast to int32")
    refused(npu.call("add_v3", one, whole, one, blank(npu, "i4", (1, 2, 3))), INVALID)
    refused(npu.call("add_v3", 0, whole, one, whole), NULLPTR, "self is NULL")
    refused(npu.call("inplace_add_v3", one, 0, one), NULLPTR, "other is NULL")


@pytest.mark.parametrize("kind", FLOATS)
def test_powers_with_a_half(npu, kind):
    """As a number, 0.5 takes the square root, unlike in a tensor."""
    self = npu.tensor(stored(numpy.array([-0.0, -numpy.inf, numpy.inf, 4]), kind), kind)
    out = blank(npu, kind, (4,))
    for exponent, expected in ((0.5, [-0.0, numpy.nan, numpy.inf, 2]), (-0.5, [-numpy.inf, numpy.nan, 0, 0.5])):
        assert npu.call("pow_tensor_scalar", self, npu.scalar(exponent), out) == 0
        assert numpy.array_equal(exact(npu.get(out), kind), expected, equal_nan=True)


def test_powers_at_the_edge(npu):
    self, exponent = npu.tensor(numpy.array([2, 3, -1, 0, 0])), npu.tensor(numpy.array([63, 41, -(2**63), 0, -1]))
    out = blank(npu, "i8", (5,))
    assert npu.call("pow_tensor_tensor", self, exponent, out) == 0
    assert npu.get(out).tolist() == [-(2**63), integer_power(3, 41), 1, 1, 0]
    self, out = npu.tensor(numpy.array([0, 0, 2], "c16")), blank(npu, "c16", (3,))
    exponent = npu.tensor(numpy.array([0, 2, 0], "c16"))
    assert npu.call("pow_tensor_tensor", self, exponent, out) == 0
    assert npu.get(out).tolist() == [1, 0, 1]


@pytest.mark.strict
def test_exponents_that_no_type_has(npu):
    bytes_, halves, brains = blank(npu, "i1"), blank(npu, "f2"), blank(npu, "b2")
    assert npu.call("pow_tensor_scalar", bytes_, npu.scalar(127, "i8"), bytes_) == 0
    refused(npu.call("pow_tensor_scalar", bytes_, npu.scalar(128, "i8"), bytes_), INVALID, "exponent is 128", "int8")
    refused(npu.call("pow_tensor_scalar", bytes_, npu.scalar(-1, "i8"), bytes_), INVALID, "exponent is -1", "int8")
    assert npu.call("pow_tensor_scalar", halves, npu.scalar(65504), halves) == 0
    assert npu.call("pow_tensor_scalar", halves, npu.scalar(numpy.inf), halves) == 0
    refused(npu.call("pow_tensor_scalar", halves, npu.scalar(70000), halves), INVALID, "exponent is 70000", "float16")
    assert npu.call("pow_tensor_scalar", brains, npu.scalar(1e38), brains) == 0
    refused(npu.call("inplace_pow_tensor_scalar", brains, npu.scalar(1e39, "f8")), INVALID, "1e+39", "bfloat16")
    floats = blank(npu, "f4")
    refused(npu.call("pow_tensor_scalar", floats, npu.scalar(-1e39, "f8"), floats), INVALID, "-1e+39", "float32")
    assert npu.call("pow_tensor_scalar", blank(npu, "c8"), npu.scalar(1e39, "f8"), blank(npu, "c8")) == 0
