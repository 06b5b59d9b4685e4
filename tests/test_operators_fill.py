"""InplaceMaskedFillScalar, InplaceMaskedFillTensor and InplaceFillDiagonal against NumPy: types, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    SETTINGS,
    any_shape,
    any_view,
    casts,
    check_written,
    exact,
    numbers,
    stored,
    stretched,
)
from helpers.tables import every
from helpers.tensors import from_bfloat, storage
from hypothesis import given
from hypothesis import strategies as st


def fill(npu, self, mask, value, kind, by_tensor):
    """Fill where the mask is true with a value of a kind, given as it is in memory."""
    if by_tensor:
        return npu.call("inplace_masked_fill_tensor", self, mask, npu.tensor(value, kind))
    value = from_bfloat(value) if kind == "b2" else value
    return npu.call("inplace_masked_fill_scalar", self, mask, npu.scalar(value, kind))


@SETTINGS
@given(data=st.data(), by_tensor=st.booleans())
def test_masked_fill(npu, data, by_tensor):
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind = data.draw(st.sampled_from(KINDS))
    value_kind = data.draw(st.sampled_from([one for one in KINDS if casts(one, kind)]))
    shape = any_shape(data.draw)
    base, view = any_view(data.draw, generator, shape, kind)
    mask = any_view(data.draw, generator, stretched(data.draw, shape), "?")
    value = numbers(generator, (1,) if data.draw(st.booleans()) and by_tensor else (), value_kind)
    self = npu.view(base, view, kind)
    assert fill(npu, self, npu.view(*mask, "?"), value, value_kind, by_tensor) == 0
    check_written(npu, self, numpy.where(mask[1], stored(exact(value, value_kind), kind), view))


@pytest.mark.parametrize("by_tensor", [False, True])
def test_values_are_rounded_once(npu, by_tensor):
    self, mask = npu.tensor(numpy.zeros(2, "f2")), npu.tensor(numpy.array([0, 1], "?"))
    assert fill(npu, self, mask, numpy.float64(1 + 2**-11 + 2**-40), "f8", by_tensor) == 0
    assert npu.get(self).tolist() == [0, 1 + 2**-10]
    self = npu.tensor(numpy.zeros(2, "u2"), "b2")
    assert fill(npu, self, mask, numpy.int64(2**40 + 2**32 + 1), "i8", by_tensor) == 0  # float32 would make it a tie
    assert from_bfloat(npu.get(self)).tolist() == [0, 2**40 + 2**33]


@pytest.mark.strict
@every(kind=KINDS, value_kind=KINDS)
def test_the_types_of_fills(npu, kind, value_kind):
    self, mask = npu.tensor(numpy.ones(2, storage(kind)), kind), npu.tensor(numpy.ones(2, "?"))
    for by_tensor in (False, True):
        ret = fill(npu, self, mask, numpy.zeros((), storage(value_kind)), value_kind, by_tensor)
        if casts(value_kind, kind):
            assert ret == 0
            assert not npu.get(self).any()
        else:
            refused(ret, INVALID, "value is", "cannot be cast to", "the type of selfRef")


@pytest.mark.strict
def test_fills_refuse(npu):
    self, mask = npu.tensor(numpy.ones((2, 3), "f4")), npu.tensor(numpy.ones((2, 3), "?"))
    scalar, zero = npu.scalar(1), npu.tensor(numpy.zeros((), "f4"))
    for name, value in (("inplace_masked_fill_scalar", scalar), ("inplace_masked_fill_tensor", zero)):
        assert npu.call(name, self, mask, value) == 0
        refused(npu.call(name, 0, mask, value), NULLPTR, "selfRef is NULL")
        refused(npu.call(name, self, 0, value), NULLPTR, "mask is NULL")
        refused(npu.call(name, self, mask, 0), NULLPTR, "value is NULL")
        refused(npu.call(name, self, zero, value), INVALID, "mask has data type 0, float32, expected bool")
        odd = npu.tensor(numpy.ones((2, 3), "u2"))
        refused(npu.call(name, odd, mask, value), INVALID, "selfRef has data type 7, uint16, expected float32")
        deep = npu.tensor(numpy.ones((1, 2, 3), "?"))
        refused(npu.call(name, self, deep, value), INVALID, "selfRef has 2 dimensions, expected 3")
        wide = npu.tensor(numpy.ones((2, 2), "?"))
        refused(npu.call(name, self, wide, value), INVALID, "dimension 1 of mask is 2")
    for shape, words in (
        ((2,), "value has shape [2], expected [] or [1]"),
        ((1, 1), "value has shape [1, 1], expected [] or [1]"),
    ):
        many = npu.tensor(numpy.zeros(shape, "f4"))
        refused(npu.call("inplace_masked_fill_tensor", self, mask, many), INVALID, words)
    odd = npu.tensor(numpy.zeros((), "u2"))
    refused(npu.call("inplace_masked_fill_tensor", self, mask, odd), INVALID, "value has data type 7")


# --- diagonals


@SETTINGS
@given(data=st.data(), wrap=st.booleans())
def test_fill_diagonal(npu, data, wrap):
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind = data.draw(st.sampled_from([one for one in KINDS if one != "c16"]))
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=2, max_size=2)))
    shape = data.draw(st.sampled_from([shape, (3, 3, 3), (2,) * 8]))
    base, view = any_view(data.draw, generator, shape, kind)
    self, expected = npu.view(base, view, kind), numpy.array(view)
    if expected.size:
        numpy.fill_diagonal(expected, stored(numpy.array(1.0), kind), wrap and len(shape) == 2)
    assert npu.call("inplace_fill_diagonal", self, npu.scalar(1, "?" if kind == "?" else "i8"), wrap) == 0
    check_written(npu, self, expected)


@pytest.mark.strict
def test_diagonals_refuse(npu):
    self, one = npu.tensor(numpy.ones((2, 3), "f4")), npu.scalar(1)
    refused(npu.call("inplace_fill_diagonal", 0, one, False), NULLPTR, "selfRef is NULL")
    refused(npu.call("inplace_fill_diagonal", self, 0, False), NULLPTR, "fillValue is NULL")
    for array, words in (
        (numpy.ones(3, "f4"), "selfRef has 1 dimensions, expected 2 to 8"),
        (numpy.ones((2, 2, 3), "f4"), "dimension 2 of selfRef is 3, expected 2"),
        (numpy.ones((2, 2), "c16"), "selfRef has data type 17, complex128"),
    ):
        refused(npu.call("inplace_fill_diagonal", npu.tensor(array), one, False), INVALID, words)
    whole = npu.tensor(numpy.ones((2, 2), "i4"))
    refused(npu.call("inplace_fill_diagonal", whole, npu.scalar(1, "f4"), False), INVALID, "cannot be cast to")
