"""Activations of one operand against NumPy: types, strides, in place, numbers, special values."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, ORDER, blank, casts, exact
from helpers.pointwise import ALL, FEWER, FLOATS, INTEGERS, SINGLE, cases, compare, place
from helpers.tables import every
from helpers.tensors import CODES
from hypothesis import given
from hypothesis import strategies as st

SCALE, ALPHA = 1.0507009873554804934, 1.6732632423543772848  # of Selu


def ramp(x):
    return numpy.clip((x + 3) / 6, 0, 1)


def shrink(x, gap, bias):
    return numpy.where(x > gap, x - bias, numpy.where(x < -gap, x + bias, x * 0))


def celu(x, alpha):
    return numpy.where(x > 0, x, alpha * numpy.expm1(numpy.where(x > 0, 0, x) / alpha))


def mish(x):
    return x * numpy.tanh(numpy.logaddexp(0, x))


def swish(x, beta=1.0):
    return x / (1 + numpy.exp(-beta * x))


# By name: the function of x and numbers, the kinds that are taken, whether the result has the kind of x, the numbers.
FUNCTIONS = {
    "hardsigmoid": (ramp, [*SINGLE, "i4"], True, ()),
    "hardswish": (lambda x: x * ramp(x), SINGLE, False, ()),
    "leaky_relu": (lambda x, slope: numpy.where(x > 0, x, slope * x), FLOATS, False, (0.01,)),
    "hardtanh": (lambda x, low, high: numpy.minimum(numpy.maximum(x, low), high), [*INTEGERS, *FLOATS], True, (1, 9)),
    "threshold": (lambda x, edge, value: numpy.where(x <= edge, value, x), [*INTEGERS, *SINGLE], False, (2, 7)),
    "hardshrink": (lambda x, gap: numpy.where(numpy.abs(x) <= gap, 0, x), SINGLE, False, (2.5,)),
    "softshrink": (lambda x, gap: shrink(x, gap, gap), SINGLE, False, (0.1,)),
    "shrink": (shrink, ["f4", "f2"], False, (2.0, 0.3)),
    "celu": (celu, SINGLE, False, (0.7,)),
    "selu": (lambda x: SCALE * numpy.where(x > 0, x, ALPHA * celu(x, 1)), [*SINGLE, "i4", "i1"], False, ()),
    "mish": (mish, SINGLE, True, ()),
    "swish": (swish, SINGLE, True, (1.5,)),
    "log_sigmoid": (lambda x: -numpy.logaddexp(0, -x), SINGLE, True, ()),
}
IN_PLACE = [name for name in FUNCTIONS if not name.endswith("shrink") and name not in ("swish", "log_sigmoid")]


def scalars(npu, values):
    """Return scalars that hold the numbers exactly."""
    return [npu.scalar(value, "i8" if isinstance(value, int) else "f8") for value in values]


def outs(name, kind):
    """Return the kinds that the result may have."""
    _, kinds, keeps, _ = FUNCTIONS[name]
    return [kind] if keeps else [one for one in kinds if casts(kind, one)]


def expected(name, values, kind):
    """Return the function of stored values in a wide type."""
    with numpy.errstate(all="ignore"):
        return FUNCTIONS[name][0](exact(values, kind).astype("i8" if ORDER[kind] < 2 else "f8"), *FUNCTIONS[name][3])


@pytest.mark.parametrize("name", FUNCTIONS)
@FEWER
@given(data=st.data())
def test_function(npu, name, data):
    case = data.draw(cases([FUNCTIONS[name][1]], lambda kind: outs(name, kind)))
    (self,), out = place(npu, case)
    assert npu.call(name, self, *scalars(npu, FUNCTIONS[name][3]), out) == 0
    compare(npu.get(out), expected(name, case.views[0][1], case.kinds[0]), case.out_kind, case.out_kind)


@pytest.mark.parametrize("name", IN_PLACE)
@FEWER
@given(data=st.data())
def test_function_in_place(npu, name, data):
    case = data.draw(cases([FUNCTIONS[name][1]], None, in_place=True))
    (self,), out = place(npu, case, in_place=True)
    assert npu.call(f"inplace_{name}", self, *scalars(npu, FUNCTIONS[name][3])) == 0
    compare(npu.get(out), expected(name, case.views[0][1], case.kinds[0]), case.out_kind, case.out_kind)


@FEWER
@given(data=st.data())
def test_elu_in_place(npu, data):
    case = data.draw(cases([FLOATS], None, in_place=True))
    (self,), out = place(npu, case, in_place=True)
    assert npu.call("inplace_elu", self, *scalars(npu, (0.5, 2.0, 0.25))) == 0
    x = exact(case.views[0][1], case.kinds[0])
    result = numpy.where(x > 0, 2 * x, numpy.expm1(0.25 * numpy.minimum(x, 0)))
    compare(npu.get(out), result, case.out_kind, case.out_kind)


def test_special_values(npu):
    nan, inf = numpy.nan, numpy.inf
    values = numpy.array([nan, inf, -inf, 0, 3, -3], "f4")
    for name, params, results in (
        ("hardsigmoid", (), [nan, 1, 0, 0.5, 1, 0]),
        ("hardswish", (), [nan, inf, nan, 0, 3, 0]),
        ("leaky_relu", (0.5,), [nan, inf, -inf, 0, 3, -1.5]),
        ("hardtanh", (-1.0, 1.0), [nan, 1, -1, 0, 1, -1]),
        ("hardtanh", (1.0, -1.0), [nan, -1, -1, -1, -1, -1]),
        ("threshold", (3.0, 7.0), [nan, inf, 7, 7, 7, 7]),
        ("hardshrink", (3.0,), [nan, inf, -inf, 0, 0, 0]),
        ("hardshrink", (-1.0,), [nan, inf, -inf, 0, 3, -3]),
        ("softshrink", (1.0,), [nan, inf, -inf, 0, 2, -2]),
        ("shrink", (1.0, 0.5), [nan, inf, -inf, 0, 2.5, -2.5]),
        ("celu", (2.0,), [nan, inf, -2, 0, 3, 2 * math.expm1(-1.5)]),
        ("selu", (), [nan, inf, -SCALE * ALPHA, 0, 3 * SCALE, SCALE * ALPHA * math.expm1(-3)]),
        ("mish", (), [nan, inf, nan, 0, mish(3.0), mish(-3.0)]),
        ("swish", (1.0,), [nan, inf, nan, 0, swish(3.0), swish(-3.0)]),
        ("log_sigmoid", (), [nan, 0, -inf, -math.log(2), -math.log1p(math.exp(-3)), -3 - math.log1p(math.exp(-3))]),
    ):
        out = blank(npu, "f4", (6,))
        assert npu.call(name, npu.tensor(values), *scalars(npu, params), out) == 0
        assert numpy.allclose(npu.get(out), numpy.array(results, "f4"), rtol=1e-6, atol=0, equal_nan=True), name


def test_the_tails_of_activations(npu):
    """Nothing cancels or overflows where the result is small or the operand is large."""
    values = numpy.array([-80, -20, -1e-6, 1e-6, 30, 200, 3e38], "f4")
    wide = values.astype("f8")
    with numpy.errstate(all="ignore"):
        for name, results in {
            "mish": [*mish(wide[:5]), 200, wide[6]],
            "log_sigmoid": -numpy.logaddexp(0, -wide),
            "hardswish": [0, 0, -0.5e-6, 0.5e-6, 30, 200, wide[6]],
        }.items():
            out = blank(npu, "f4", (7,))
            assert npu.call(name, npu.tensor(values), out) == 0
            assert numpy.allclose(npu.get(out), numpy.array(results, "f4"), rtol=1e-6, atol=0), name


def test_an_absent_beta_is_1(npu):
    values = numpy.array([-2, 0, 3], "f4")
    out = blank(npu, "f4", (3,))
    assert npu.call("swish", npu.tensor(values), 0, out) == 0
    assert numpy.allclose(npu.get(out), swish(values.astype("f8")), rtol=1e-6)


def test_the_buffer_of_log_sigmoid(npu):
    """The second output may have any shape."""
    values = numpy.array([-2, 0, 3], "f4")
    out = blank(npu, "f4", (3,))
    for shape in ((3,), (0,)):
        assert npu.call("log_sigmoid_forward", npu.tensor(values), out, blank(npu, "f4", shape)) == 0
        assert numpy.allclose(npu.get(out), expected("log_sigmoid", values, "f4"), rtol=1e-6)


def test_large_integers_are_exact(npu):
    values = numpy.array([2**53 + 1, 2**62 + 1, -5], "i8")
    for name, params, results in (
        ("hardtanh", (-(2**60), 2**60 + 1), [2**53 + 1, 2**60 + 1, -5]),
        ("threshold", (0, 2**61 + 1), [2**53 + 1, 2**62 + 1, 2**61 + 1]),
    ):
        self = npu.tensor(values)
        assert npu.call(f"inplace_{name}", self, *scalars(npu, params)) == 0
        assert npu.get(self).tolist() == results


def test_a_fraction_as_the_threshold_of_integers(npu):
    whole, floats = npu.tensor(numpy.array([1, 2, 3], "i4")), blank(npu, "f4", (3,))
    assert npu.call("threshold", whole, *scalars(npu, (1.5, 0.25)), floats) == 0
    assert npu.get(floats).tolist() == [0.25, 2, 3]
    ret = npu.call("threshold", whole, *scalars(npu, (1.5, 0.25)), blank(npu, "i4", (3,)))
    refused(ret, INVALID, "the result is float32, which cannot be cast to int32")


@pytest.mark.strict
@pytest.mark.parametrize("name", FUNCTIONS)
@every(kind=ALL)
def test_types(npu, name, kind):
    """All and only the documented pairs of types are taken."""
    kinds, params = FUNCTIONS[name][1], scalars(npu, FUNCTIONS[name][3])
    for out_kind in ALL:
        ret = npu.call(name, blank(npu, kind), *params, blank(npu, out_kind))
        fits = kind in kinds and out_kind in outs(name, kind)
        assert ret == (0 if fits else INVALID), out_kind
        if kind not in kinds:
            refused(ret, INVALID, f"self has data type {CODES[kind]}, ", "expected ")
    if name in IN_PLACE:
        assert npu.call(f"inplace_{name}", blank(npu, kind), *params) == (0 if kind in kinds else INVALID)


@pytest.mark.strict
def test_refused(npu):
    floats, whole, turned = blank(npu, "f4"), blank(npu, "i4"), blank(npu, "f4", (3, 2))
    one, zero, minus, pair = npu.scalar(1.0), npu.scalar(0.0), npu.scalar(-1.0), npu.scalar(1j, "c8")
    for name in FUNCTIONS:
        ret = npu.call(name, floats, *scalars(npu, FUNCTIONS[name][3]), turned)
        refused(ret, INVALID, "out has shape [3, 2], expected [2, 3], that of the first input")
    refused(npu.call("celu", floats, zero, floats), INVALID, "alpha is 0, expected another number")
    refused(npu.call("softshrink", floats, minus, floats), INVALID, "lambd is -1, expected 0 or more")
    refused(npu.call("shrink", floats, minus, one, floats), INVALID, "lambd is -1, expected 0 or more")
    refused(npu.call("leaky_relu", floats, pair, floats), INVALID, "negativeSlope has data type 16, complex64")
    ret = npu.call("hardtanh", whole, npu.scalar(1, "i8"), one, whole)
    refused(ret, INVALID, "clipValueMax is float32, which cannot be cast to int32, the type of the input")
    refused(npu.call("mish", floats, blank(npu, "f2")), INVALID, "out has data type 1, float16, expected float32")
