"""SwiGlu in its clipped forms, with results in floats and in int8, against NumPy in double."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("ignore:overflow")
PLAIN, INTERLEAVED, HALVED = range(3)  # forms of DequantSwigluQuantV2


def clipped(active, passive, limit, alpha, bias):
    """Return the documented formula."""
    active, passive = numpy.minimum(active, limit), numpy.clip(passive, -limit, limit)
    return active / (1 + numpy.exp(-alpha * active)) * (passive + bias)


def parts(rows, interleaved):
    """Return the active and the passive part of rows."""
    half = rows.shape[-1] // 2
    return (rows[..., ::2], rows[..., 1::2]) if interleaved else (rows[..., :half], rows[..., half:])


@SETTINGS
@given(data=st.data())
def test_clipped_swiglu(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    half = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    dim, interleaved, groups = draw(st.integers(0, len(half) - 1)), draw(st.booleans()), draw(st.booleans())
    whole = [size * 2 if place == dim else size for place, size in enumerate(half)]
    (x, values), (out, _) = case.take(whole), case.take(half)
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    index = npu.tensor(numpy.array(counts, "i8")) if groups else 0
    numbers = 1.5, 6.0, 0.25  # alpha, limit, bias
    axis = draw(st.sampled_from([dim, dim - len(half)]))
    assert npu.call("clipped_swiglu", x, index, axis, *numbers, interleaved, out) == 0
    rows = values.reshape(int(numpy.prod(whole[:dim])), -1) if values.size else values.reshape(0, 2)
    expected = clipped(*parts(rows, interleaved), numbers[1], numbers[0], numbers[2])
    if groups:
        expected[sum(counts) :] = 0
    agree(npu, out, expected.reshape(half))


@pytest.mark.parametrize("form", [PLAIN, INTERLEAVED, HALVED])
@SETTINGS
@given(data=st.data())
def test_forms_with_integer_results(npu, form, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, width, left = draw(st.integers(1, 5)), draw(st.sampled_from([1, 3, 70])), draw(st.booleans())
    x, values = case.take((rows, 2 * width), draw(st.sampled_from(["f2", "b2", "i4"])))
    outs = case.take((rows, width), "i1")[0], case.take((rows,), "f4")[0]
    more = 2, draw(st.sampled_from([0, "rint"])), draw(st.sampled_from([1, -1])), form, 50.0, 0.5, 2.0
    assert npu.call("dequant_swiglu_quant_v2", x, *[0] * 6, left, "dynamic", *more, *outs) == 0
    active, passive = parts(values, form == INTERLEAVED)
    if not left and form != INTERLEAVED:
        active, passive = passive, active
    gated = active / (1 + numpy.exp(-active)) * passive if form == PLAIN else clipped(active, passive, 50, 0.5, 2)
    scale = numpy.abs(gated).max(-1) / 127
    agree(npu, outs[1], scale)
    found = npu.get(outs[0]).astype("f8")
    assert (numpy.abs(found - gated / (scale + (scale == 0))[:, None]) <= 0.5 + 2.0**-20).all()


@pytest.mark.parametrize("counts", [False, True])
def test_groups_are_ends_or_counts(npu, counts):
    x = npu.tensor(numpy.array([[1, 2], [1, 2], [1, 2], [1, 2]], "f4"))
    smooth, offset = npu.tensor(numpy.array([[1], [3]], "f4")), npu.tensor(numpy.array([[0], [10]], "f4"))
    index = npu.tensor(numpy.array([1, 2] if counts else [1, 3], "i4"))
    y, scale = npu.tensor(numpy.full((4, 1), 9, "i1")), blank(npu, "f4", (4,))
    assert npu.call("swi_glu_quant_v2", x, smooth, offset, index, True, "static", int(counts), 2, y, scale) == 0
    gated = 2 / (1 + numpy.exp(-1))
    assert npu.get(y).ravel().tolist() == [round(gated), *[round(3 * gated + 10)] * 2, 0]


@pytest.mark.strict
def test_refusals(npu):
    x, out, y, scale = (blank(npu, *each) for each in (("f2", (2, 4)), ("f2", (2, 2)), ("i1", (2, 2)), ("f4", (2,))))

    def clip(x=x, index=0, dim=-1, out=out):
        return npu.call("clipped_swiglu", x, index, dim, 1.0, 7.0, 1.0, True, out)

    assert clip() == 0
    refused(clip(x=0), NULLPTR, "x is NULL")
    refused(clip(x=blank(npu, "f8", (2, 4))), INVALID, "x has data type 11, float64, expected")
    refused(clip(x=blank(npu, "f2", (2, 3))), INVALID, "dimension 1 of x is 3, expected an even number")
    refused(clip(dim=2), INVALID, "dim is 2, expected -2 to 1")
    refused(clip(index=blank(npu, "i4", (2,))), INVALID, "groupIndexOptional has data type 3, int32, expected int64")
    refused(clip(out=x), INVALID, "out has shape [2, 4], expected [2, 2], that of one half")

    def gate(group_type=0, kind=2):
        return npu.call("swi_glu_quant_v2", x, 0, 0, 0, True, "dynamic", group_type, kind, y, scale)

    assert gate() == 0
    refused(gate(group_type=2), INVALID, "groupListType is 2, expected 0 or 1")
    refused(gate(kind=29), INVALID, "dstType is 29, expected 2, int8")

    def dequantise(kind=2, mode="rint", dim=-1, form=1, limit=7.0):
        more = kind, mode, dim, form, limit, 1.702, 1.0
        return npu.call("dequant_swiglu_quant_v2", x, *[0] * 6, True, "dynamic", *more, y, scale)

    assert dequantise() == 0
    refused(dequantise(kind=35), INVALID, "dstType is 35, expected 2, int8")
    refused(dequantise(mode="floor"), INVALID, 'roundModeOptional is "floor", expected rint')
    refused(dequantise(dim=0), INVALID, "activateDim is 0, expected the last dimension of x")
    refused(dequantise(form=3), INVALID, "swigluMode is 3, expected 0 to 2")
    refused(dequantise(limit=0.0), INVALID, "clampLimit is 0, expected a number above 0")
