"""Quantisation by rows against NumPy: DynamicQuant and SwiGlu with a quantised result."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, positive
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from helpers.packed import any_out, same_integers, small
from helpers.pointwise import SINGLE
from hypothesis import given
from hypothesis import strategies as st

FORMS = ["i1", "int4", "carrier"]
LONG = ["i4", "i8"]


def by_rows(values, most, asymmetric=False):
    """Return the integers, scales and offsets of rows."""
    high, low = values.max(-1), values.min(-1)
    scales = (high - low) / (2 * most + 1) if asymmetric else numpy.abs(values).max(-1) / most
    whole = numpy.where(scales == 0, 1, scales)
    offsets = most - high / whole if asymmetric else numpy.zeros_like(scales)
    return numpy.rint(values / whole[..., None] + offsets[..., None]), scales, offsets


@SETTINGS
@given(data=st.data())
def test_dynamic_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind, form, version = draw(st.sampled_from(["f2", "b2"])), draw(st.sampled_from(FORMS)), draw(st.booleans())
    shape = *draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)), draw(st.sampled_from([8, 304]))
    rows = int(numpy.prod(shape[:-1]))
    groups = version and draw(st.booleans())
    x, values = case.take(shape)
    smooth, factors = case.take_or_none((3, shape[-1]) if groups else shape[-1:], values=positive)
    index = 0
    if groups:
        ends = numpy.sort(case.generator.integers(0, rows + 1, 3))
        index = npu.tensor(ends.astype(draw(st.sampled_from(LONG))))
        if factors is not None:
            every = numpy.vstack([factors, numpy.ones_like(factors[:1])])  # rows behind the last group stay
            factors = every[numpy.searchsorted(ends, numpy.arange(rows), "right")].reshape(shape)
    y, kind = any_out(case, shape, form)
    (scale, _), (offset, _) = case.take(shape[:-1], "f4"), case.take(shape[:-1], "f4")
    asymmetric = version and draw(st.booleans())
    if version:
        ret = npu.call("dynamic_quant_v2", x, smooth, index, kind, y, scale, offset if asymmetric else 0)
    else:
        ret = npu.call("dynamic_quant", x, smooth, y, scale)
    assert ret == 0
    whole, scales, offsets = by_rows(
        values * (1 if factors is None else factors), 127 if form == "i1" else 7, asymmetric
    )
    same_integers(npu, y, form, whole)
    agree(npu, scale, scales)
    if asymmetric:
        agree(npu, offset, offsets)


@pytest.mark.parametrize("version", [3, 4])
@SETTINGS
@given(data=st.data())
def test_dynamic_quant_by_mode(npu, version, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind, form = draw(st.sampled_from(["f2", "b2"])), draw(st.sampled_from(FORMS))
    mode = draw(st.sampled_from(["pertoken", "pertensor", "perchannel"]))
    shape = *draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)), draw(st.sampled_from([8, 16]))
    x, values = case.take(shape)
    by_channel, symmetric = mode == "perchannel", draw(st.booleans())
    smooth, factors = case.take_or_none(shape[-2:-1] if by_channel else shape[-1:], values=positive)
    values = values * (1 if factors is None else factors[:, None] if by_channel else factors)
    numbers = {"pertoken": shape[:-1], "pertensor": (1,), "perchannel": (*shape[:-2], shape[-1])}[mode]
    y, kind = any_out(case, shape, form)
    (scale, _), (offset, _) = case.take(numbers, "f4"), case.take(numbers, "f4")
    more = [0.0] if version == 4 else []
    ret = npu.call(f"dynamic_quant_v{version}", x, smooth, 0, kind, symmetric, mode, *more, y, scale,
                   0 if symmetric else offset)  # fmt: skip
    assert ret == 0
    rows = {"pertoken": values, "pertensor": values.reshape(1, -1), "perchannel": numpy.swapaxes(values, -1, -2)}[mode]
    whole, scales, offsets = by_rows(rows, 127 if form == "i1" else 7, not symmetric)
    whole = numpy.swapaxes(whole, -1, -2) if by_channel else whole.reshape(shape)
    same_integers(npu, y, form, whole)
    agree(npu, scale, scales)
    if not symmetric:
        agree(npu, offset, offsets)


@pytest.mark.strict
def test_refused_modes(npu):
    x, y, scale = blank(npu, "f2", (2, 4)), blank(npu, "i1", (2, 4)), blank(npu, "f4", (2,))

    def call(mode="pertoken", symmetric=True, most=0.0, index=0, scale=scale):
        return npu.call("dynamic_quant_v4", x, 0, index, 2, symmetric, mode, most, y, scale, 0)

    assert call() == 0
    refused(call(mode="perrow"), INVALID, 'quantMode is "perrow", expected pertoken, pertensor or perchannel')
    refused(call(symmetric=False), INVALID, "isSymmetrical is false, expected true without offsetOut")
    refused(call(most=1.75), INVALID, "dstTypeMax is 1.75, expected 0 for integers")
    index = blank(npu, "i4", (2,))
    refused(call(mode="pertensor", index=index), INVALID, "groupIndexOptional is a tensor, expected NULL unless")
    refused(call(mode="pertensor"), INVALID, "expected [1], one number")
    refused(call(mode="perchannel"), INVALID, "expected [4], one number per channel")


def test_rows_without_range_and_nan(npu):
    x = npu.tensor(numpy.array([[0, 0], [3, numpy.nan], [2, 2]], "f2"))
    y, scale, offset = blank(npu, "i1", (3, 2)), blank(npu, "f4", (3,)), blank(npu, "f4", (3,))
    assert npu.call("dynamic_quant", x, 0, y, scale) == 0
    assert npu.get(y).tolist() == [[0, 0], [0, 0], [127, 127]]
    assert numpy.array_equal(npu.get(scale), numpy.array([0, numpy.nan, 2 / 127], "f4"), equal_nan=True)
    assert npu.call("dynamic_quant_v2", x, 0, 0, 2, y, scale, offset) == 0
    assert npu.get(y).tolist() == [[127, 127], [0, 0], [127, 127]]
    assert numpy.array_equal(npu.get(offset), numpy.array([127, numpy.nan, 125], "f4"), equal_nan=True)


def gated(values, left):
    """Return SwiGlu of the halves of the last dimension."""
    one, other = numpy.split(values, 2, -1)
    active, passive = (one, other) if left else (other, one)
    return active / (1 + numpy.exp(-active)) * passive


def quantised(npu, outs, values, mode, factors, offsets):
    """Compare the outputs of both operators with values after the activation."""
    y, scale = outs
    values = values * (1 if factors is None else factors)
    if mode == "dynamic":
        whole, scales, _ = by_rows(values, 127)
        agree(npu, scale, scales)
    else:
        whole = numpy.rint(values + (0 if offsets is None else offsets))
    same_integers(npu, y, "i1", whole)


@SETTINGS
@given(data=st.data())
def test_swi_glu_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, width = draw(st.integers(1, 6)), draw(st.sampled_from([1, 3, 300]))
    mode, left, groups = draw(st.sampled_from(["static", "dynamic"])), draw(st.booleans()), draw(st.integers(0, 3))
    x, values = case.take((rows, 2 * width))
    shape = draw(st.sampled_from([(groups, width), (groups,)])) if groups else (1, width)
    smooth, factors = case.take_or_none(shape, "f4", small)
    offset, offsets = case.take_or_none(shape, "f4")
    index, sizes = 0, numpy.array([rows])
    if groups:
        sizes = case.generator.multinomial(rows, numpy.ones(groups) / groups)
        index = npu.tensor(numpy.cumsum(sizes).astype("i4"))
    outs = case.take((rows, width), "i1")[0], case.take((rows,), "f4")[0]
    assert npu.call("swi_glu_quant", x, smooth, offset, index, left, mode, *outs) == 0

    def spread(numbers):
        return None if numbers is None else numpy.repeat(numbers.reshape(len(sizes), -1), sizes, 0)

    quantised(npu, outs, gated(values, left), mode, spread(factors), spread(offsets))


@SETTINGS
@given(data=st.data())
def test_dequant_swiglu_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, width = draw(st.integers(1, 6)), draw(st.sampled_from([1, 3, 300]))
    mode, left, whole = draw(st.sampled_from(["static", "dynamic"])), draw(st.booleans()), draw(st.booleans())
    x, values = case.take((rows, 2 * width), "i4" if whole else draw(st.sampled_from(["f2", "b2"])))
    weight, weights = case.take_or_none((2 * width,), "f4", small)
    row, factors = case.take_or_none((rows,), "f4", positive)
    bias, biases = case.take_or_none((2 * width,), draw(st.sampled_from([*SINGLE, "i4"])), small)
    smooth, smooths = case.take_or_none((width,), "f4", small)
    offset, offsets = case.take_or_none((width,), "f4")
    outs = case.take((rows, width), "i1")[0], case.take((rows,), "f4")[0]
    operands = x, weight, row, bias, smooth, offset, 0, left, mode
    assert npu.call("dequant_swiglu_quant", *operands, *outs) == 0
    early = bias and bias.kind == "i4"
    added = 0 if biases is None else biases
    dequantised = (values + (added if early else 0)) * (1 if weights is None else weights)
    dequantised = dequantised * (1 if factors is None else factors[:, None]) + (0 if early else added)
    with numpy.errstate(over="ignore"):
        quantised(npu, outs, gated(dequantised, left), mode, smooths, offsets)


@pytest.mark.strict
def test_refusals(npu):
    x, y, scale, wide = (
        blank(npu, "f2", (2, 4)),
        blank(npu, "i1", (2, 4)),
        blank(npu, "f4", (2,)),
        blank(npu, "f4", (4,)),
    )

    def dynamic(x=x, smooth=0, y=y, scale=scale):
        return npu.call("dynamic_quant", x, smooth, y, scale)

    assert dynamic() == 0
    for name in ("x", "y", "scale"):
        refused(dynamic(**{name: 0}), NULLPTR, "is NULL")
    refused(dynamic(x=blank(npu, "f4", (2, 4))), INVALID, "x has data type 0, float32, expected float16 or bfloat16")
    refused(dynamic(x=blank(npu, "f2", (4,))), INVALID, "x has 1 dimensions, expected 2 to 8")
    refused(dynamic(smooth=wide), INVALID, "smoothScales", "float32, expected float16, that of x")
    refused(dynamic(smooth=blank(npu, "f2", (2,))), INVALID, "expected [4], the last dimension of x")
    refused(dynamic(y=blank(npu, "i1", (2, 3))), INVALID, "yOut has shape [2, 3], expected [2, 4]")
    refused(dynamic(scale=wide), INVALID, "scaleOut has shape [4], expected [2], one number per row")
    ret = npu.call("dynamic_quant_v2", x, 0, 0, 29, y, scale, 0)
    refused(ret, INVALID, "dstType is 29, expected 2, the data type of yOut")
    half = blank(npu, "i1", (2, 2))

    def gate(x=x, smooth=0, mode="dynamic", y=half, scale=scale):
        return npu.call("swi_glu_quant", x, smooth, 0, 0, True, mode, y, scale)

    assert gate() == 0
    refused(gate(x=blank(npu, "f2", (2, 3))), INVALID, "the last dimension of x is 3, expected an even number")
    refused(gate(mode="dynamic_msd"), INVALID, 'is "dynamic_msd", expected static or dynamic')
    refused(gate(smooth=wide), INVALID, "smoothScales", "has 4 elements, expected 1 or 2, numbers per group")
    refused(gate(y=y), INVALID, "yOut has shape [2, 4], expected [2, 2], that of one half")
    refused(gate(scale=wide), INVALID, "scaleOut has shape [4], expected [2], one number per row")
    ret = npu.call("dequant_swiglu_quant", x, 0, wide, 0, 0, 0, 0, True, "dynamic", half, scale)
    refused(ret, INVALID, "activationScale", "has 4 elements, expected 2, one per row")
