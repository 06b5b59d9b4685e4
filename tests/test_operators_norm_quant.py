"""AddRmsNorm and RmsNorm with int8 results against NumPy in double."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, positive, unchanged
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, rounded
from hypothesis import given
from hypothesis import strategies as st


def normalized(case, one, two, factor):
    """Return the rounded sum, and its normalized values."""
    total = rounded(one + two, case.kind).astype("f8")
    return total, total / numpy.sqrt((total**2).mean(-1, keepdims=True) + 1e-6) * factor


def same_integers(npu, tensor, expected):
    """Compare with numbers before they are rounded and clamped; a tie may be rounded either way."""
    found, expected = npu.get(tensor).astype("f8"), numpy.clip(expected, -128, 127)
    assert (numpy.abs(found - expected) <= 0.5 + 2.0**-20).all()


@st.composite
def shapes(draw):
    return [*draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)), draw(st.sampled_from([1, 3, 300]))]


@SETTINGS
@given(data=st.data())
def test_add_rms_norm_quant(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    tail, divides = shape[-1:], data.draw(st.booleans())
    (x1, one), (x2, two), (gamma, factor) = (case.take(each) for each in (shape, shape, tail))
    first, scale = case.take(tail, case.beside(), positive)
    second, other = case.take_or_none(tail, case.beside(), positive)
    zero_kind = data.draw(st.sampled_from(["i4", case.kind]))
    zeros = [case.take_or_none(tail, zero_kind) for _ in "ab"]
    (y1, _), (y2, _), (x, _) = case.take(shape, "i1"), case.take(shape, "i1"), case.take(shape)
    given_too = x1, x2, gamma, first, second, zeros[0][0], zeros[1][0], -1, 1e-6, divides
    assert npu.call("add_rms_norm_quant", *given_too, y1, y2, x) == 0
    if not one.size:
        return
    total, values = normalized(case, one, two, factor)
    agree(npu, x, total)
    for tensor, each, (_, zero) in zip((y1, y2), (scale, other), zeros):
        if each is None:
            unchanged(npu, tensor)
        else:
            same_integers(npu, tensor, (values / each if divides else values * each) + (0 if zero is None else zero))


@SETTINGS
@given(data=st.data())
def test_rms_norm_quant(npu, data):
    case, shape = Case(npu, data.draw), [max(1, size) for size in data.draw(shapes())]
    case.kind = data.draw(st.sampled_from(["f2", "b2"]))
    tail = data.draw(st.sampled_from([shape[-1:], [1, shape[-1]]]))
    (x, values), (gamma, factor), (beta, bias) = (case.take(each) for each in (shape, tail, tail))
    (scale, scales), (offset, offsets), (y, _) = case.take([1]), case.take([1], "i1"), case.take(shape, "i1")
    assert npu.call("rms_norm_quant", x, gamma, beta, scale, offset, 1e-6, y) == 0
    normal = values / numpy.sqrt((values**2).mean(-1, keepdims=True) + 1e-6)
    same_integers(npu, y, (normal * factor.reshape(-1) + bias.reshape(-1)) * scales + offsets)


@pytest.mark.strict
def test_rms_norm_quant_refuses(npu):
    x, tail, one, zero, y = (blank(npu, *each) for each in (
        ("f2", (2, 3)), ("f2", (3,)), ("f2", (1,)), ("i1", (1,)), ("i1", (2, 3)),
    ))  # fmt: skip
    fits = [x, tail, tail, one, zero, 1e-6, y]

    def call(place, value):
        return npu.call("rms_norm_quant", *fits[:place], value, *fits[place + 1 :])

    assert call(1, tail) == 0
    for place in (0, 1, 2, 3, 4, 6):
        refused(call(place, 0), NULLPTR, "is NULL")
    refused(call(0, blank(npu, "f4", (2, 3))), INVALID, "x has data type 0, float32, expected float16 or bfloat16")
    refused(call(0, blank(npu, "f2", (0, 3))), INVALID, "x has no elements, expected 1 or more")
    refused(call(0, blank(npu, "f2", ())), INVALID, "x has 0 dimensions, expected 1 to 8")
    refused(call(1, blank(npu, "b2", (3,))), INVALID, "gamma has data type 27, bfloat16, expected float16")
    refused(call(1, blank(npu, "f2", (2,))), INVALID, "gamma has shape [2], expected [3], the last dimension of x")
    refused(call(1, blank(npu, "f2", (3, 1))), INVALID, "gamma has shape [3, 1], expected [1, 3], the last dimension")
    refused(call(2, blank(npu, "f2", (1, 3))), INVALID, "beta has shape [1, 3], expected [3], that of gamma")
    refused(call(3, tail), INVALID, "scale has shape [3], expected [1], one number")
    refused(call(4, one), INVALID, "offset has data type 1, float16, expected int8")
    refused(call(4, blank(npu, "i1", (3,))), INVALID, "offset has shape [3], expected [1], that of scale")
    refused(call(6, blank(npu, "i4", (2, 3))), INVALID, "y has data type 3, int32, expected int8")
    refused(call(6, blank(npu, "i1", (2, 2))), INVALID, "y has shape [2, 2], expected [2, 3]")


def test_a_row_with_nan_has_no_scale(npu):
    x1 = npu.tensor(numpy.array([[1, numpy.nan], [3, 4]], "f2"))
    x2, gamma = npu.tensor(numpy.zeros((2, 2), "f2")), npu.tensor(numpy.ones(2, "f2"))
    x, y, other = npu.tensor(numpy.zeros((2, 2), "f2")), blank(npu, "i1", (2, 2)), blank(npu, "i1", (2, 2))
    scales, more = blank(npu, "f4", (2,)), blank(npu, "f4", (2,))
    assert npu.call("add_rms_norm_dynamic_quant", x1, x2, gamma, 0, 0, 1e-6, y, other, x, scales, more) == 0
    assert numpy.isnan(npu.get(scales)[0]) and numpy.isfinite(npu.get(scales)[1])
    assert npu.get(y)[1].tolist() == [95, 127]


@SETTINGS
@given(data=st.data())
def test_add_rms_norm_dynamic_quant(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    case.kind, tail = data.draw(st.sampled_from(["f2", "b2"])), shape[-1:]
    (x1, one), (x2, two), (gamma, factor) = (case.take(each) for each in (shape, shape, tail))
    smooths = case.take_or_none(tail, values=positive), case.take_or_none(tail, values=positive)
    outs = [(case.take(shape, "i1")[0], case.take(shape[:-1], "f4")[0]) for _ in "ab"]
    x = case.take(shape)[0]
    given_too = x1, x2, gamma, smooths[0][0], smooths[1][0], 1e-6
    assert npu.call("add_rms_norm_dynamic_quant", *given_too, outs[0][0], outs[1][0], x, outs[0][1], outs[1][1]) == 0
    if not one.size:
        return
    total, values = normalized(case, one, two, factor)
    agree(npu, x, total)
    for place, ((y, scales), (_, smooth)) in enumerate(zip(outs, smooths)):
        if place == 1 and smooth is None:
            unchanged(npu, y)
            continue
        scaled = values if smooth is None else values * smooth
        scale = numpy.abs(scaled).max(-1) / 127
        agree(npu, scales, scale)
        whole = scale[..., None] + (scale[..., None] == 0)
        same_integers(npu, y, scaled / whole)


@pytest.mark.strict
def test_refusals(npu):
    x, y, other, sums, tail = (blank(npu, *each) for each in (
        ("f2", (2, 3)), ("i1", (2, 3)), ("i1", (2, 3)), ("f2", (2, 3)), ("f2", (3,)),
    ))  # fmt: skip
    scales, narrow, wide = blank(npu, "f4", (3,)), blank(npu, "f4", (2,)), blank(npu, "f8", (3,))

    def call(scale=scales, axis=-1, y=y):
        return npu.call("add_rms_norm_quant", x, x, tail, scale, 0, 0, 0, axis, 1e-6, True, y, other, sums)

    assert call() == 0
    refused(call(scale=narrow), INVALID, "scales1 has shape [2], expected [3], that of gamma")
    refused(call(scale=wide), INVALID, "scales1 has data type 11, float64, expected float32, float16 or bfloat16")
    refused(call(axis=0), INVALID, "axis is 0, expected -1")
    refused(call(y=blank(npu, "f2", (2, 3))), INVALID, "y1Out has data type 1, float16, expected int8")
    ret = npu.call("add_rms_norm_dynamic_quant", x, x, tail, 0, 0, 1e-6, y, other, sums, scales, narrow)
    refused(ret, INVALID, "scale1Out has shape [3], expected [2], one number per line")
    ret = npu.call("add_rms_norm_dynamic_quant", scales, x, tail, 0, 0, 1e-6, y, other, sums, scales, narrow)
    refused(ret, INVALID, "x1 has data type 0, float32, expected float16 or bfloat16")
