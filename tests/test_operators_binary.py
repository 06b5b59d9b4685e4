"""Functions of two operands against NumPy: whole quotients, remainders, divisors, angles, logarithms, closeness."""

import functools
import itertools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
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
from helpers.pointwise import ALL, FEWER, FLOATS, INTEGERS, REAL, SINGLE, cases, compare, few, place
from helpers.tables import every
from hypothesis import given
from hypothesis import strategies as st
from test_operators_arithmetic import scalar_of, whole_quotient, wide

CUT = ["u1", "i1", "i4", "i8", *FLOATS]
DOWN = ["i4", "i8", *FLOATS]
FACTORS = ["?", *INTEGERS, *SINGLE]
SUMMED = [*REAL, *UNSIGNED]
LEAST = -(2**63)


def floor_divide(a, b, kind):
    return whole_quotient(a, b, kind, 2)


def remainder(function):
    """Return the remainder that NumPy's function computes, and for integers divided by 0 the dividend."""

    def apply(a, b, kind):
        a, b = numpy.broadcast_arrays(wide(a, kind), wide(b, kind))
        with numpy.errstate(all="ignore"):
            if ORDER[kind] == 2:
                return function(a, b)
            return numpy.where(b == 0, a, function(a, numpy.where(b == 0, 1, b)))

    return apply


def plain(function):
    """Return NumPy's function, without its warnings."""

    def apply(a, b, kind):
        with numpy.errstate(all="ignore"):
            return function(wide(a, kind), wide(b, kind))

    return apply


def x_log_y(a, b):
    return numpy.where((a == 0) & ~numpy.isnan(b), 0, a * numpy.log(b))


# By name: the function, the kinds that are taken, those that come out, and whether integers are computed in float32.
FUNCTIONS = {
    "floor_divide": (floor_divide, REAL, KINDS[1:], False),
    "fmod_tensor": (remainder(numpy.fmod), CUT, CUT, False),
    "remainder_tensor_tensor": (remainder(numpy.mod), DOWN, KINDS[1:], False),
    "gcd": (plain(numpy.gcd), INTEGERS, [*INTEGERS, *UNSIGNED], False),
    "atan2": (plain(numpy.arctan2), REAL, FLOATS, True),
    "log_add_exp": (plain(numpy.logaddexp), SUMMED, SINGLE, True),
    "log_add_exp2": (plain(numpy.logaddexp2), SUMMED, SINGLE, True),
    "x_log_y_tensor": (plain(x_log_y), FACTORS, FACTORS, True),
}
IN_PLACE = ["floor_divide", "fmod_tensor", "remainder_tensor_tensor", "atan2", "x_log_y_tensor"]
# By name of a form with a scalar: the form with two tensors, and whether the scalar is the first operand.
SCALAR = {
    "floor_divides": ("floor_divide", False),
    "fmod_scalar": ("fmod_tensor", False),
    "remainder_tensor_scalar": ("remainder_tensor_tensor", False),
    "remainder_scalar_tensor": ("remainder_tensor_tensor", True),
    "x_log_y_scalar_other": ("x_log_y_tensor", False),
    "x_log_y_scalar_self": ("x_log_y_tensor", True),
}


def computed(name, kind):
    """Return the kind in which operands of a common kind are computed."""
    return "f4" if FUNCTIONS[name][3] and ORDER[kind] < 2 else kind


def outs(name, kind):
    """Return the kinds that the result may have, for the common kind of the operands."""
    return [one for one in FUNCTIONS[name][2] if casts(computed(name, kind), one)]


def apply(name, case):
    """Return the kind of the computation and the wide result."""
    kind = computed(name, meet(*case.kinds))
    values = (rounded(exact(view, one), kind) for (_, view), one in zip(case.views, case.kinds))
    return kind, FUNCTIONS[name][0](*values, kind)


@pytest.mark.parametrize("name", FUNCTIONS)
@FEWER
@given(data=st.data())
def test_function(npu, name, data):
    kinds = [kind for kind in FUNCTIONS[name][1] if kind not in UNSIGNED]
    case = data.draw(cases([kinds, kinds], lambda *given: outs(name, meet(*given))))
    tensors, out = place(npu, case)
    assert npu.call(name, *tensors, out) == 0
    kind, expected = apply(name, case)
    compare(npu.get(out), expected, kind, case.out_kind)


@pytest.mark.parametrize("name", IN_PLACE)
@FEWER
@given(data=st.data())
def test_function_in_place(npu, name, data):
    kinds = FUNCTIONS[name][1]
    case = data.draw(cases([kinds, kinds], None, in_place=True))
    tensors, out = place(npu, case, in_place=True)
    ret = npu.call(f"inplace_{name}", *tensors)
    kind, expected = apply(name, case)
    if casts(kind, case.out_kind):
        assert ret == 0
        compare(npu.get(out), expected, kind, case.out_kind)
    else:
        refused(ret, INVALID, "expected" if name == "atan2" else "cannot be cast to")


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("tensor", REAL)
@every(scalar=REAL)
def test_scalar(npu, name, tensor, scalar):
    like, first = SCALAR[name]
    kinds = FUNCTIONS[like][1]
    kind = computed(like, meet_scalar(tensor, scalar))
    generator = numpy.random.default_rng(17)
    base, value = numbers(generator, (3, 5), tensor), scalar_of(generator, scalar)
    self, number, out = npu.tensor(base, tensor), npu.scalar(value, scalar), blank(npu, kind, (3, 5))
    ret = npu.call(name, *((number, self) if first else (self, number)), out)
    if tensor not in kinds or (scalar not in kinds and like != "x_log_y_tensor"):
        refused(ret, INVALID, " has data type ")
        return
    assert ret == 0
    operands = [rounded(exact(base, tensor), kind), rounded(value, kind)]
    expected = FUNCTIONS[like][0](*(reversed(operands) if first else operands), kind)
    compare(npu.get(out), expected, kind, kind)
    if first:
        return
    ret = npu.call(f"inplace_{name}", self, number)
    if casts(kind, tensor):
        assert ret == 0
        compare(npu.get(self), expected, kind, tensor)
    else:
        refused(ret, INVALID, "cannot be cast to")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "gcd"])
@pytest.mark.parametrize("kind", ["f2", "b2", "f4", "f8"])
def test_special_values(npu, name, kind):
    if kind not in FUNCTIONS[name][1]:
        return
    values = [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5]
    case = numpy.array(list(itertools.product(values, values))).T
    self, other = (npu.tensor(stored(row, kind), kind) for row in case)
    out_kind = kind if kind in FUNCTIONS[name][2] else "f4"
    out = blank(npu, out_kind, (case.shape[1],))
    assert npu.call(name, self, other, out) == 0
    compare(npu.get(out), FUNCTIONS[name][0](*case, kind), kind, out_kind)


@pytest.mark.parametrize("name", ["log_add_exp", "log_add_exp2", "atan2"])
def test_far_ends(npu, name):
    """Powers that no type has, and summands that cancel."""
    a = numpy.array([1e4, -1e4, 3e38, -0.6931472, -1, -0.5, 1e-30], "f4")
    b = numpy.array([1e4, -1e4, -3e38, -0.6931472, -1, -1.5, 1e-30], "f4")
    out = blank(npu, "f4", a.shape)
    assert npu.call(name, npu.tensor(a), npu.tensor(b), out) == 0
    compare(npu.get(out), FUNCTIONS[name][0](a, b, "f4"), "f4", "f4")


@pytest.mark.parametrize("kind", UNSIGNED)
@pytest.mark.parametrize("name", ["log_add_exp", "log_add_exp2"])
def test_unsigned_numbers(npu, name, kind):
    a, b = numpy.array([1, 2, 3], kind), numpy.array([3, 2, 0], kind)
    self, other, out = npu.tensor(a), npu.tensor(b), blank(npu, "f4", (3,))
    assert npu.call(name, self, other, out) == 0
    compare(npu.get(out), FUNCTIONS[name][0](a.astype("f8"), b.astype("f8"), "f4"), "f4", "f4")
    refused(npu.call(name, self, blank(npu, "f4", (3,)), out), INVALID, "expected types with a common type")


@pytest.mark.strict
def test_integers_that_no_machine_divides(npu):
    self = npu.tensor(numpy.array([5, LEAST, LEAST, -1, 1]))
    other, out = npu.tensor(numpy.array([0, -1, 0, LEAST, LEAST])), blank(npu, "i8", (5,))
    for name, expected in {
        "fmod_tensor": [5, 0, LEAST, -1, 1],
        "remainder_tensor_tensor": [5, 0, LEAST, -1, 1 + LEAST],
        "floor_divide": [0, LEAST, 0, 0, -1],
        "gcd": [5, 1, LEAST, 1, 1],
    }.items():
        assert npu.call(name, self, other, out) == 0
        assert npu.get(out).tolist() == expected, name


@pytest.mark.strict
@pytest.mark.parametrize("name", FUNCTIONS)
@every(kind=ALL)
def test_types(npu, name, kind):
    """All and only the documented pairs of types are taken."""
    for out_kind in ALL:
        ret = npu.call(name, blank(npu, kind), blank(npu, kind), blank(npu, out_kind))
        fits = kind in FUNCTIONS[name][1] and out_kind in outs(name, kind)
        assert ret == (0 if fits else INVALID), out_kind


# --- closeness


@FEWER
@given(data=st.data())
def test_is_close(npu, data):
    kind = data.draw(st.sampled_from(REAL))
    case = data.draw(cases([[kind], [kind]], lambda *kinds: ["?"], values=few))
    tolerances = [data.draw(st.sampled_from([0.0, 0.25, 1.0])) for _ in range(2)]
    tensors, out = place(npu, case)
    assert npu.call("is_close", *tensors, *tolerances, False, out) == 0
    values = [exact(view, kind).astype("f8") for _, view in case.views]
    assert numpy.array_equal(npu.get(out), numpy.isclose(*values, *tolerances))


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("tolerances", [(0.0, 0.0), (1e-5, 1e-8), (numpy.inf, 1.0)])
def test_close_special_values(npu, tolerances, equal_nan):
    values = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 0, 1, 1 + 1e-6, 1.5], "f4")
    a, b = (numpy.ascontiguousarray(each) for each in numpy.meshgrid(values, values))
    out = blank(npu, "?", a.shape)
    assert npu.call("is_close", npu.tensor(a), npu.tensor(b), *tolerances, equal_nan, out) == 0
    a, b = a.astype("f8"), b.astype("f8")
    with numpy.errstate(invalid="ignore"):
        near = numpy.isfinite(a - b) & (numpy.abs(a - b) <= tolerances[1] + tolerances[0] * numpy.abs(b))
    both = numpy.isnan(a) & numpy.isnan(b) & equal_nan
    assert numpy.array_equal(npu.get(out), near | both | (a == b))


@pytest.mark.strict
def test_refused_closeness(npu):
    floats, whole, out = blank(npu, "f4"), blank(npu, "i4"), blank(npu, "?")
    refused(npu.call("is_close", floats, floats, -1.0, 0.0, False, out), INVALID, "rtol is -1, expected 0 or more")
    refused(npu.call("is_close", floats, floats, 0.0, -0.5, False, out), INVALID, "atol is -0.5, expected 0 or more")
    refused(npu.call("is_close", floats, whole, 0.0, 0.0, False, out), INVALID, "other has data type 3, int32", "self")
    refused(npu.call("is_close", floats, floats, 0.0, 0.0, False, floats), INVALID, "out has data type 0", "bool")
    pairs = blank(npu, "c8")
    refused(npu.call("is_close", pairs, pairs, 0.0, 0.0, False, out), INVALID, "self has data type 16")
    turned = blank(npu, "?", (3, 2))
    refused(npu.call("is_close", floats, floats, 0.0, 0.0, False, turned), INVALID, "dimension 0 of self is 2")


# --- maximum and minimum of lists

LISTED = ["i1", "i4", "i8", *SINGLE]
EXTREMES = [("max_n", numpy.maximum), ("min_n", numpy.minimum)]


@pytest.mark.parametrize(("name", "function"), EXTREMES)
@FEWER
@given(data=st.data())
def test_extreme_of_a_list(npu, name, function, data):
    kind, count = data.draw(st.sampled_from(LISTED)), data.draw(st.integers(1, 5))
    case = data.draw(cases([[kind]] * count, lambda *kinds: [kind]))
    tensors, out = place(npu, case)
    assert npu.call(name, npu.list(tensors), out) == 0
    compare(npu.get(out), functools.reduce(function, [exact(view, kind) for _, view in case.views]), kind, kind)


@pytest.mark.parametrize(("name", "function"), EXTREMES)
def test_an_extreme_of_a_list_in_the_place_of_a_member(npu, name, function):
    values = [numpy.array(row, "f4") for row in ([1, numpy.nan, 3], [2, 2, numpy.inf], [0, 5, 4])]
    tensors = [npu.tensor(row) for row in values]
    assert npu.call(name, npu.list(tensors), tensors[1]) == 0
    assert numpy.array_equal(npu.get(tensors[1]), functools.reduce(function, values), equal_nan=True)


@pytest.mark.strict
def test_refused_lists(npu):
    floats, halves, turned, double = (blank(npu, *each) for each in (("f4",), ("f2",), ("f4", (3, 2)), ("f8",)))
    refused(npu.call("max_n", npu.list([floats, halves]), floats), INVALID, "out has data type 0", "of tensors[1]")
    refused(npu.call("max_n", npu.list([double]), double), INVALID, "tensors[0] has data type 11, float64")
    refused(npu.call("min_n", npu.list([floats, turned]), floats), INVALID, "dimension 0 of tensors[1] is 3")


# --- rectified sums

RECTIFIED = [*INTEGERS, *SINGLE]


@FEWER
@given(data=st.data())
def test_add_relu(npu, data):
    in_place = data.draw(st.booleans())
    case = data.draw(cases([RECTIFIED, RECTIFIED], lambda *kinds: [meet(*kinds)], in_place))
    kind = meet(*case.kinds)
    tensors, out = place(npu, case, in_place)
    alpha = npu.scalar(2, "i4")
    ret = npu.call("inplace_add_relu", *tensors, alpha) if in_place else npu.call("add_relu", *tensors, alpha, out)
    if not casts(kind, case.out_kind):
        refused(ret, INVALID, "the sum is", "cannot be cast to")
        return
    assert ret == 0
    a, b = (wide(rounded(exact(view, one), kind), kind) for (_, view), one in zip(case.views, case.kinds))
    total = rounded(rounded(a + 2 * b, kind), case.out_kind)
    compare(npu.get(out), numpy.maximum(total, 0), kind, case.out_kind, numpy.abs(a) + 2 * numpy.abs(b))


@pytest.mark.strict
def test_add_relu_keeps_nan_and_refuses(npu):
    self, other = npu.tensor(numpy.array([numpy.nan, -numpy.inf, 3], "f4")), npu.tensor(numpy.array([1, 1, -1], "f4"))
    assert npu.call("inplace_add_relu", self, other, npu.scalar(1)) == 0
    assert numpy.array_equal(npu.get(self), [numpy.nan, 0, 2], equal_nan=True)
    for kind in ("?", "f8", "c8"):
        odd = blank(npu, kind)
        refused(npu.call("add_relu", odd, odd, npu.scalar(1), odd), INVALID, "self has data type ")
    whole = blank(npu, "i4")
    refused(npu.call("add_relu", whole, whole, npu.scalar(1), whole), INVALID, "alpha is float32", "cast to int32")
