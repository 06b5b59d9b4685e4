"""Clamping against NumPy: bounds that are scalars, tensors or absent, types, NaN, refusals."""

import functools
import itertools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, blank, casts, exact, meet, numbers, rounded
from helpers.pointwise import ALL, FEWER, FLOATS, INTEGERS, cases, compare, place
from helpers.tables import every
from hypothesis import given
from hypothesis import strategies as st
from test_operators_arithmetic import scalar_of, wide

CLAMPED = [*INTEGERS, *FLOATS]
BOUNDS = ["?", *CLAMPED]
# By name of an operator with one bound: the function.
ONE = {"clamp_min": numpy.maximum, "clamp_max": numpy.minimum}


def clamp(values, least=None, most=None):
    """Return the clamped values; the upper bound wins, and NaN stays."""
    raised = values if least is None else numpy.maximum(values, least)
    return raised if most is None else numpy.minimum(raised, most)


def outs(*kinds):
    return [kind for kind in CLAMPED if casts(functools.reduce(meet, kinds), kind)]


def joint(case):
    """Return the common kind of the operands, and their values rounded to it."""
    kind = functools.reduce(meet, case.kinds)
    return kind, [rounded(exact(view, one), kind) for (_, view), one in zip(case.views, case.kinds)]


# --- bounds that are tensors


@FEWER
@given(case=cases([CLAMPED, BOUNDS, BOUNDS], outs))
def test_tensors(npu, case):
    tensors, out = place(npu, case)
    assert npu.call("clamp_tensor", *tensors, out) == 0
    kind, values = joint(case)
    compare(npu.get(out), clamp(*values), kind, case.out_kind)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("form", ["absent", "named", "in place"])
@FEWER
@given(data=st.data())
def test_one_tensor(npu, name, form, data):
    case = data.draw(cases([CLAMPED, BOUNDS], outs, form == "in place"))
    (self, bound), out = place(npu, case, form == "in place")
    kind, values = joint(case)
    if form == "in place":
        ret = npu.call(f"inplace_{name}_tensor", self, bound)
    elif form == "named":
        ret = npu.call(f"{name}_tensor", self, bound, out)
    else:
        ret = npu.call("clamp_tensor", self, *((bound, 0) if name == "clamp_min" else (0, bound)), out)
    if casts(kind, case.out_kind):
        assert ret == 0
        compare(npu.get(out), ONE[name](*values), kind, case.out_kind)
    else:
        refused(ret, INVALID, "the clamped value is", "cannot be cast to")


# --- bounds that are scalars


@FEWER
@given(data=st.data())
def test_scalars(npu, data):
    case = data.draw(cases([CLAMPED], outs))
    kind = case.kinds[0]
    generator = numpy.random.default_rng(data.draw(st.integers(0, 99)))
    bounds = [data.draw(st.sampled_from([None, *(one for one in BOUNDS if casts(one, kind))])) for _ in range(2)]
    values = [None if one is None else scalar_of(generator, one) for one in bounds]
    (self,), out = place(npu, case)
    scalars = [0 if one is None else npu.scalar(value, one) for one, value in zip(bounds, values)]
    ret = npu.call("clamp", self, *scalars, out)
    if bounds == [None, None]:
        refused(ret, NULLPTR, "clipValueMin and clipValueMax are NULL, expected at least one valid pointer")
        return
    assert ret == 0
    limits = [None if value is None else wide(value, kind) for value in values]
    compare(npu.get(out), clamp(wide(exact(case.views[0][1], kind), kind), *limits), kind, case.out_kind)


@pytest.mark.parametrize("name", ONE)
@every(tensor=CLAMPED, scalar=BOUNDS)
def test_one_scalar(npu, name, tensor, scalar):
    generator = numpy.random.default_rng(19)
    base, value = numbers(generator, (4, 5), tensor), scalar_of(generator, scalar)
    self, bound, out = npu.tensor(base, tensor), npu.scalar(value, scalar), blank(npu, tensor, (4, 5))
    ret = npu.call(name, self, bound, out)
    if not casts(scalar, tensor):
        refused(ret, INVALID, "clipValue", "cannot be cast to")
        return
    assert ret == 0
    expected = ONE[name](wide(exact(base, tensor), tensor), wide(value, tensor))
    compare(npu.get(out), expected, tensor, tensor)
    if name == "clamp_max":
        assert npu.call("inplace_clamp_max", self, bound) == 0
        compare(npu.get(self), expected, tensor, tensor)


# --- values of their own


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_nan_and_infinity(npu, kind):
    values = [numpy.nan, numpy.inf, -numpy.inf, 0.0, 2.0]
    columns = numpy.array(list(itertools.product(values, repeat=3)), kind).T
    self, least, most = (npu.tensor(numpy.ascontiguousarray(column)) for column in columns)
    out = blank(npu, kind, columns[0].shape)
    assert npu.call("clamp_tensor", self, least, most, out) == 0
    assert numpy.array_equal(npu.get(out), clamp(*columns), equal_nan=True)
    for low, high in itertools.product([numpy.nan, -numpy.inf, 1.0], [numpy.nan, numpy.inf, -1.0]):
        assert npu.call("clamp", self, npu.scalar(low), npu.scalar(high, "f8"), out) == 0
        assert numpy.array_equal(npu.get(out), clamp(columns[0], low, high), equal_nan=True)


def test_large_integers(npu):
    """Bounds are compared in 64 bits, without a loss of digits."""
    values = numpy.array([-(2**63), 2**53 + 1, 2**63 - 1])
    self, out = npu.tensor(values), blank(npu, "i8", (3,))
    assert npu.call("clamp", self, npu.scalar(2**53 + 3, "i8"), npu.scalar(2**63 - 2, "i8"), out) == 0
    assert npu.get(out).tolist() == [2**53 + 3, 2**53 + 3, 2**63 - 2]


@pytest.mark.strict
def test_refused(npu):
    floats, whole, one = blank(npu, "f4"), blank(npu, "i4"), npu.scalar(1)
    refused(npu.call("clamp_tensor", floats, 0, 0, floats), NULLPTR, "clipValueMin and clipValueMax are NULL")
    refused(npu.call("clamp_min_tensor", floats, 0, floats), NULLPTR, "clipValueMin is NULL")
    refused(npu.call("clamp", whole, one, 0, whole), INVALID, "clipValueMin is float32", "cast to int32", "computation")
    refused(npu.call("clamp", floats, 0, npu.scalar(1, "c8"), floats), INVALID, "clipValueMax has data type 16")
    refused(npu.call("clamp", floats, one, 0, whole), INVALID, "the clamped value is float32", "cast to int32")
    refused(npu.call("clamp", floats, one, one, blank(npu, "f4", (3, 2))), INVALID, "dimension 0 of self is 2")
    refused(npu.call("clamp_tensor", floats, blank(npu, "f4", (4,)), 0, floats), INVALID, "of clipValueMin is 4")


@pytest.mark.strict
@pytest.mark.parametrize("kind", ALL)
def test_types(npu, kind):
    """All and only the documented types are taken; a bound may also be bool."""
    self, bound = blank(npu, kind), blank(npu, kind)
    one = npu.scalar(1, kind)
    wanted = 0 if kind in CLAMPED else INVALID
    for name, arguments in {
        "clamp": (self, one, one, self),
        "clamp_min": (self, one, self),
        "clamp_max": (self, one, self),
        "clamp_tensor": (self, bound, bound, self),
        "clamp_min_tensor": (self, bound, self),
        "clamp_max_tensor": (self, bound, self),
    }.items():
        assert npu.call(name, *arguments) == wanted, name
    floats = blank(npu, "f4")
    bounded = npu.call("clamp_min_tensor", floats, bound, blank(npu, "f8"))
    assert bounded == (0 if kind in BOUNDS else INVALID)
