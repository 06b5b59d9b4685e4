"""Softmax of scaled and masked scores, its gradient, and softmax with a mask and a bias added, against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from hypothesis import given
from hypothesis import strategies as st


def softmax(values):
    """Return the softmax of rows."""
    powers = numpy.exp(values - values.max(-1, keepdims=True, initial=-numpy.inf))
    return powers / powers.sum(-1, keepdims=True)


def masked_case(case, draw):
    """Return a shape, a mask that is broadcast to it, whether its triangle is used instead, and what is masked."""
    shape = [draw(st.integers(0 if place < 2 else 1, most)) for place, most in enumerate((3, 3, 5, 40))]
    narrow = [1 if place < 2 and draw(st.booleans()) else size for place, size in enumerate(shape)]
    mask, hidden = case.take(narrow, "?")
    triangle = draw(st.booleans())
    if triangle:
        hidden = numpy.triu(numpy.ones(shape[2:]), 1)
    return shape, mask, triangle, numpy.broadcast_to(hidden != 0, shape)


@SETTINGS
@given(data=st.data())
def test_scaled_masked_softmax(npu, data):
    case = Case(npu, data.draw)
    shape, mask, triangle, hidden = masked_case(case, data.draw)
    (x, values), (y, _) = case.take(shape), case.take(shape)
    assert npu.call("scaled_masked_softmax", x, mask, 0.125, triangle, y) == 0
    agree(npu, y, softmax(numpy.where(hidden, -10000, values * 0.125)))


@SETTINGS
@given(data=st.data())
def test_gradient(npu, data):
    case = Case(npu, data.draw)
    shape, mask, triangle, hidden = masked_case(case, data.draw)
    (gradient, slopes), (y, results), (out, _) = (case.take(shape) for _ in "gyo")
    assert npu.call("scaled_masked_softmax_backward", gradient, y, mask, 0.5, triangle, out) == 0
    inner = (slopes - (slopes * results).sum(-1, keepdims=True)) * results * 0.5
    agree(npu, out, numpy.where(hidden, 0, inner), numpy.abs(slopes).sum() * numpy.abs(results).max(initial=0) ** 2)


@SETTINGS
@given(data=st.data())
def test_a_mask_and_a_bias(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    batch, windows, heads, rows, columns = (draw(st.integers(1, most)) for most in (2, 3, 3, 4, 20))
    shape = draw(st.sampled_from([[batch, windows, heads, rows, columns], [batch * windows, heads, rows, columns]]))
    (x, values), (out, _) = case.take(shape), case.take(shape)
    lead = draw(st.sampled_from([[windows], [windows, 1], [1, windows, 1]]))
    mask, added = case.take_or_none([*lead, rows, columns])
    bias, biases = case.take([*[1] * draw(st.integers(0, 2)), heads, rows, columns])
    assert npu.call("masked_softmax_with_rel_pos_bias", x, mask, bias, 0.25, 0, out) == 0
    scores = values.reshape(batch, windows, heads, rows, columns) * 0.25 + biases.reshape(heads, rows, columns)
    if added is not None:
        scores = scores + added.reshape(windows, 1, rows, columns)
    agree(npu, out, softmax(scores).reshape(shape))


@pytest.mark.strict
def test_refusals(npu):
    x, y, mask = blank(npu, "f2", (2, 3, 4, 5)), blank(npu, "f2", (2, 3, 4, 5)), blank(npu, "?", (2, 1, 4, 5))

    def call(x=x, mask=mask, y=y):
        return npu.call("scaled_masked_softmax", x, mask, 1.0, False, y)

    assert call() == 0
    for name in ("x", "mask", "y"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(x=blank(npu, "f8", (2, 3, 4, 5))), INVALID, "x has data type 11, float64, expected")
    refused(call(mask=y), INVALID, "mask has data type 1, float16, expected bool")
    refused(call(x=blank(npu, "f2", (4, 5))), INVALID, "x has 2 dimensions, expected 4")
    refused(call(mask=blank(npu, "?", (2, 2, 4, 5))), INVALID, "dimension 1 of mask is 2, expected 3 or 1")
    refused(call(mask=blank(npu, "?", (2, 3, 4, 1))), INVALID, "dimension 3 of mask is 1, expected 5")
    refused(call(y=blank(npu, "f2", (2, 3, 4, 4))), INVALID, "y has shape [2, 3, 4, 4], expected [2, 3, 4, 5]")
    ret = npu.call("scaled_masked_softmax_backward", x, blank(npu, "f2", (2, 3, 4, 4)), mask, 1.0, False, y)
    refused(ret, INVALID, "y has shape [2, 3, 4, 4], expected [2, 3, 4, 5]")

    bias, windows = blank(npu, "f2", (3, 4, 5)), blank(npu, "f2", (2, 4, 5))

    def biased(mask=windows, bias=bias):
        return npu.call("masked_softmax_with_rel_pos_bias", x, mask, bias, 1.0, 0, y)

    assert biased() == 0
    refused(biased(bias=0), NULLPTR, "relativePosBias is NULL")
    refused(biased(bias=windows), INVALID, "relativePosBias has 2 matrices, expected 3")
    refused(biased(bias=blank(npu, "f2", (3, 4, 4))), INVALID, "dimension 2 of relativePosBias is 4, expected 5")
    refused(biased(bias=blank(npu, "f4", (3, 4, 5))), INVALID, "float32, expected float16, that of x")
    refused(biased(mask=bias), INVALID, "attenMaskOptional has 3 windows, expected a divisor of 2, dimension 0 of x")
