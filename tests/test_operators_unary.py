"""Functions of one operand and activations against NumPy: types, strides, in place, special values."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, ORDER, blank, casts, exact, numbers, stored
from helpers.pointwise import ALL, COMPLEX, FEWER, FLOATS, REAL, SINGLE, cases, compare, place
from helpers.tables import every
from helpers.tensors import CODES
from hypothesis import given
from hypothesis import strategies as st

erfc = numpy.vectorize(math.erfc, otypes=["f8"])


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def gelu(x):
    return 0.5 * x * erfc(-x / numpy.sqrt(2))


def gelu_tanh(x):
    return 0.5 * x * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))


FRACTIONS = [*FLOATS, *COMPLEX]
NEGATED = ["i1", "i4", "i8", *FLOATS, *COMPLEX]
RECTIFIED = ["u1", "i1", "i4", "i8", *SINGLE]
# By name: the function, the kinds that are taken, the kinds that may come out; None: the kind that went in.
FUNCTIONS = {
    "neg": (numpy.negative, NEGATED, NEGATED),
    "abs": (numpy.abs, REAL, None),
    "relu": (lambda x: numpy.maximum(x, 0), RECTIFIED, None),
    "exp": (numpy.exp, ["?", "i8", *FRACTIONS], FRACTIONS),
    "log": (numpy.log, KINDS, FRACTIONS),
    "sqrt": (numpy.sqrt, KINDS, FRACTIONS),
    "rsqrt": (lambda x: 1 / numpy.sqrt(x), KINDS, FRACTIONS),
    "sigmoid": (sigmoid, KINDS, FRACTIONS),
    "tanh": (numpy.tanh, [*(kind for kind in KINDS if ORDER[kind] < 2), *SINGLE], SINGLE),
    "gelu": (gelu_tanh, SINGLE, None),
    "silu": (lambda x: x * sigmoid(x), SINGLE, None),
}
IN_PLACE = [name for name in FUNCTIONS if name not in ("abs", "gelu", "silu")]


def outs(name, kind):
    """Return the kinds that the result may have."""
    kinds = FUNCTIONS[name][2]
    if kinds is None:
        return [kind]
    if name == "exp" and ORDER[kind] < 2:
        kinds = FLOATS
    return [one for one in kinds if casts(kind, one)]


def mild(generator, shape, kind):
    """Return random values whose functions are no larger than any type."""
    if ORDER[kind] < 2:
        return numbers(generator, shape, kind) // 8 if ORDER[kind] else numbers(generator, shape, kind)
    values = generator.normal(0, 2, shape)
    return stored(values + 1j * generator.normal(0, 2, shape) if kind in COMPLEX else values, kind)


def apply(name, values, kind):
    """Return the function, computed in the widest type like this one, and the size of what is rounded on the way."""
    with numpy.errstate(all="ignore"):
        if ORDER[kind] > 1:
            values = values.astype("c16" if kind in COMPLEX else "f8")
        expected = FUNCTIONS[name][0](values)
        size = numpy.abs(expected) * (8 if kind in COMPLEX else 1)
        if name == "sigmoid" and kind in COMPLEX:  # 1 + exp(-x) cancels near a pole: the rounding of exp(-x) grows
            size *= 1 + numpy.abs(1 - expected)
        return expected, size + numpy.abs(values) if name in ("gelu", "silu") else size


@pytest.mark.parametrize("name", FUNCTIONS)
@FEWER
@given(data=st.data())
def test_function(npu, name, data):
    case = data.draw(cases([FUNCTIONS[name][1]], lambda kind: outs(name, kind), values=mild))
    keeps = FUNCTIONS[name][2] is None or name == "neg" or ORDER[case.kinds[0]] > 1
    kind = case.kinds[0] if keeps else case.out_kind
    (self,), out = place(npu, case)
    assert npu.call(name, self, out) == 0
    expected, size = apply(name, exact(case.views[0][1], case.kinds[0]), kind)
    found = npu.get(out)
    if case.out_kind in COMPLEX:  # what is infinite or no number has no agreed form
        finite = numpy.isfinite(expected)
        found, expected, size = found[finite], expected[finite], size[finite]
    compare(found, expected, kind, case.out_kind, size)


@pytest.mark.parametrize("name", IN_PLACE)
@FEWER
@given(data=st.data())
def test_function_in_place(npu, name, data):
    kinds = FUNCTIONS[name][2] or FUNCTIONS[name][1]
    case = data.draw(cases([kinds], None, in_place=True, values=mild))
    kind = case.kinds[0]
    (self,), out = place(npu, case, in_place=True)
    assert npu.call(f"inplace_{name}", self) == 0
    expected, size = apply(name, exact(case.views[0][1], kind), kind)
    compare(npu.get(out), expected, kind, kind, size)


@pytest.mark.parametrize(("mode", "function"), [(0, gelu), (1, gelu_tanh)])
@FEWER
@given(data=st.data())
def test_gelu_v2(npu, mode, function, data):
    case = data.draw(cases([SINGLE], lambda kind: [kind], values=mild))
    (x,), y = place(npu, case)
    assert npu.call("gelu_v2", x, mode, y) == 0
    values = exact(case.views[0][1], case.kinds[0])
    compare(npu.get(y), function(values), case.out_kind, case.out_kind, 2 * numpy.abs(values))


def test_the_tails_of_activations(npu):
    """Nothing cancels where the result is small."""
    values = numpy.array([-9, -6, -4, 4, 9, 100, -100], "f4")

    def by_tanh(x):
        return x * sigmoid(2 * numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3))

    for call, function in ((("gelu",), by_tanh), (("gelu_v2", 0), gelu), (("gelu_v2", 1), by_tanh)):
        out = blank(npu, "f4", (7,))
        assert npu.call(call[0], npu.tensor(values), *call[1:], out) == 0
        with numpy.errstate(over="ignore", under="ignore"):
            expected = function(values.astype("f8"))
        assert numpy.allclose(npu.get(out), expected, rtol=1e-4, atol=1e-38)


def test_special_values(npu):
    nan, inf = numpy.nan, numpy.inf
    values = numpy.array([nan, inf, -inf, 0.0, -0.0, -1], "f4")
    for name, expected in {
        "neg": [nan, -inf, inf, 0, 0, 1],
        "abs": [nan, inf, inf, 0, 0, 1],
        "relu": [nan, inf, 0, 0, 0, 0],
        "exp": [nan, inf, 0, 1, 1, numpy.exp(numpy.float32(-1))],
        "log": [nan, inf, nan, -inf, -inf, nan],
        "sqrt": [nan, inf, nan, 0, 0, nan],
        "rsqrt": [nan, 0, nan, inf, -inf, nan],
        "sigmoid": [nan, 1, 0, 0.5, 0.5, 1 / (1 + numpy.exp(numpy.float32(1)))],
        "tanh": [nan, 1, -1, 0, 0, numpy.tanh(numpy.float32(-1))],
    }.items():
        out = blank(npu, "f4", (6,))
        assert npu.call(name, npu.tensor(values), out) == 0
        assert numpy.allclose(npu.get(out), numpy.array(expected, "f4"), rtol=1e-6, atol=0, equal_nan=True), name


def test_the_least_integer_has_no_negative(npu):
    for kind in ("i1", "i4", "i8"):
        least = numpy.iinfo(kind).min
        self, out = npu.tensor(numpy.array([least, 5], kind)), blank(npu, kind, (2,))
        for name in ("neg", "abs"):
            assert npu.call(name, self, out) == 0
            assert npu.get(out).tolist() == [least, -5 if name == "neg" else 5]


def test_the_absolute_value_of_complex_numbers_is_real(npu):
    self, out = npu.tensor(numpy.array([3 + 4j, -1, 0], "c8")), blank(npu, "f4", (3,))
    assert npu.call("abs", self, out) == 0
    assert npu.get(out).tolist() == [5, 1, 0]
    refused(npu.call("abs", self, blank(npu, "f8", (3,))), INVALID, "out has data type 11, float64, expected float32")
    refused(npu.call("abs", self, blank(npu, "c8", (3,))), INVALID, "out has data type 16")


def test_complex_functions_of_real_numbers(npu):
    """What has fractions is computed in the type that goes in; integers go in as the type that comes out."""
    whole, real = npu.tensor(numpy.array([-4], "i4")), npu.tensor(numpy.array([-4], "f4"))
    for self, expected in ((whole, 2j), (real, numpy.nan)):
        out = blank(npu, "c8", (1,))
        assert npu.call("sqrt", self, out) == 0
        assert numpy.array_equal(npu.get(out).real, [numpy.real(expected)], equal_nan=True)
        assert npu.get(out).imag.tolist() == [numpy.imag(expected)]


@pytest.mark.strict
@pytest.mark.parametrize("name", FUNCTIONS)
@every(kind=ALL)
def test_types(npu, name, kind):
    """All and only the documented pairs of types are taken."""
    for out_kind in ALL:
        ret = npu.call(name, blank(npu, kind), blank(npu, out_kind))
        fits = kind in FUNCTIONS[name][1] and out_kind in outs(name, kind)
        if name == "abs" and kind == "c8":
            fits = out_kind == "f4"
        assert ret == (0 if fits else INVALID), out_kind
        if kind not in FUNCTIONS[name][1] and (name, kind) != ("abs", "c8"):
            refused(ret, INVALID, f"self has data type {CODES[kind]}, ", "expected ")
    if name in IN_PLACE:
        kinds = FUNCTIONS[name][2] or FUNCTIONS[name][1]
        assert npu.call(f"inplace_{name}", blank(npu, kind)) == (0 if kind in kinds else INVALID)


@pytest.mark.strict
def test_refused(npu):
    whole = blank(npu, "i8")
    refused(npu.call("exp", whole, blank(npu, "c8")), INVALID, "self is int64 and out is complex64", "real")
    refused(npu.call("neg", blank(npu, "f4"), whole), INVALID, "the negative is float32, which cannot be cast to int64")
    refused(npu.call("log", blank(npu, "c8"), blank(npu, "f4")), INVALID, "the result is complex64", "cast to float32")
    floats = blank(npu, "f4")
    refused(npu.call("gelu_v2", floats, 2, floats), INVALID, "approximate is 2, expected 0 to 1")
    refused(npu.call("silu", floats, blank(npu, "f4", (3, 2))), INVALID, "dimension 0 of self is 2", "of out is 3")
