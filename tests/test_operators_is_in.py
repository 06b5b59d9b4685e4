"""IsInTensorScalar and IsInScalarTensor against NumPy: types, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    ORDER,
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    meet_scalar,
    rounded,
)
from helpers.pointwise import ALL, FEWER, few
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = {0: ("?", True), 1: ("i8", 2), 2: ("f4", 0.5), 3: ("c8", 1j)}


@FEWER
@given(data=st.data(), invert=st.booleans(), unique=st.booleans())
def test_is_in(npu, data, invert, unique):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(KINDS)), any_shape(draw)
    base, view = any_view(draw, generator, shape, kind, few)
    scalar, number = NUMBERS[draw(st.integers(0, 3))]
    if ORDER[kind] and draw(st.booleans()):
        scalar, number = "i8", int(draw(st.integers(-2, 2)))
    met = meet_scalar(kind, scalar)
    equal = rounded(exact(view, kind), met) == rounded(numpy.array(number), met)
    self, scalar = npu.view(base, view, kind), npu.scalar(number, scalar)
    out = npu.view(*any_view(draw, generator, shape, "?"), "?")
    assert npu.call("is_in_tensor_scalar", self, scalar, unique, invert, out) == 0
    check_written(npu, out, equal ^ invert)
    one = blank(npu, "?", ())
    assert npu.call("is_in_scalar_tensor", scalar, self, unique, invert, one) == 0
    assert npu.get(one).item() == (bool(equal.any()) ^ invert)


def test_nan_is_not_found(npu):
    values, out, one = npu.tensor(numpy.array([numpy.nan, 1], "f4")), blank(npu, "?", (2,)), blank(npu, "?", ())
    nan = npu.scalar(numpy.nan)
    assert npu.call("is_in_tensor_scalar", values, nan, False, False, out) == 0
    assert npu.call("is_in_scalar_tensor", nan, values, False, True, one) == 0
    assert npu.get(out).tolist() == [False, False] and npu.get(one).item()


@pytest.mark.strict
def test_refused(npu):
    whole, out, one, number = blank(npu, "f4"), blank(npu, "?"), blank(npu, "?", ()), npu.scalar(1.0)
    for kind in ALL:
        expected = 0 if kind in [*KINDS, "u2"] else INVALID
        scalar = npu.scalar(1, kind)
        assert npu.call("is_in_tensor_scalar", blank(npu, kind), scalar, False, False, out) == expected, kind
        assert npu.call("is_in_scalar_tensor", scalar, blank(npu, kind), False, False, one) == expected, kind
        expected = 0 if kind == "?" else INVALID
        assert npu.call("is_in_tensor_scalar", whole, number, False, False, blank(npu, kind)) == expected, kind
        assert npu.call("is_in_scalar_tensor", number, whole, False, False, blank(npu, kind, ())) == expected, kind
    refused(npu.call("is_in_tensor_scalar", whole, number, False, False, one), INVALID, "out has ")
    words = "out has 1 dimensions, expected 0"
    refused(npu.call("is_in_scalar_tensor", number, whole, False, False, blank(npu, "?", (1,))), INVALID, words)
    refused(npu.call("is_in_tensor_scalar", whole, 0, False, False, out), NULLPTR, "testElement is NULL")
    refused(npu.call("is_in_scalar_tensor", number, 0, False, False, one), NULLPTR, "testElements is NULL")
