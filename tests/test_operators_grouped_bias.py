"""GroupedBiasAddGrad and V2 against NumPy: groups of one size, by their ends and by their sizes."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, INDICES, failing
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from hypothesis import given
from hypothesis import strategies as st

import acl

WIDTHS = [1, 3, 300]


@SETTINGS
@given(data=st.data())
def test_groups_of_one_size(npu, data):
    case = Case(npu, data.draw)
    shape = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4)), data.draw(st.sampled_from(WIDTHS))
    slope, slopes = case.take(shape)
    out, _ = case.take((shape[0], shape[2]))
    assert npu.call("grouped_bias_add_grad", slope, 0, out) == 0
    near(npu.get(out), slopes.sum(1), case.kind, 1e-12 * numpy.abs(slopes).sum(1))


@SETTINGS
@given(data=st.data())
def test_groups_of_any_size(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, rows, width, sizes_given = (
        draw(st.integers(1, 4)), draw(st.integers(0, 9)), draw(st.sampled_from(WIDTHS)), draw(st.integers(0, 1)),
    )  # fmt: skip
    sizes = case.generator.multinomial(rows, numpy.ones(count + 1) / (count + 1))[:count]
    slope, slopes = case.take((rows, width))
    index = npu.tensor((sizes if sizes_given else numpy.cumsum(sizes)).astype(draw(st.sampled_from(INDICES))))
    out, _ = case.take((count, width))
    if sizes_given or draw(st.booleans()):
        ret = npu.call("grouped_bias_add_grad_v2", slope, index, sizes_given, out)
    else:
        ret = npu.call("grouped_bias_add_grad", slope, index, out)
    assert ret == 0
    parts = numpy.split(slopes, numpy.cumsum(sizes))[:count]
    error = 1e-12 * numpy.stack([numpy.abs(part).sum(0) for part in parts])
    near(npu.get(out), numpy.stack([part.sum(0) for part in parts]), case.kind, error)


@pytest.mark.strict
def test_refusals(npu):
    slope, out, index = blank(npu, "f4", (4, 3)), blank(npu, "f4", (2, 3)), npu.tensor(numpy.array([1, 4]))

    def call(slope=slope, index=index, kind=0, out=out):
        return npu.call("grouped_bias_add_grad_v2", slope, index, kind, out)

    assert call() == 0
    refused(call(slope=0), NULLPTR, "gradY is NULL")
    refused(call(slope=blank(npu, "f8", (4, 3))), INVALID, "gradY has data type 11, float64, expected")
    refused(call(index=slope), INVALID, "groupIdx", "float32, expected int32 or int64")
    refused(call(index=0), INVALID, "gradY has 2 dimensions, expected 3")
    refused(call(kind=2), INVALID, "groupIdxType is 2, expected 0 or 1")
    refused(call(out=blank(npu, "f4", (3, 3))), INVALID, "out has shape [3, 3], expected [2, 3], one row per group")


@pytest.mark.needs_sim
@pytest.mark.parametrize("ends", [[2, 1], [1, 5]])
def test_ends_out_of_range_fail_the_task(ends):
    with failing() as fresh:
        slope, out, index = blank(fresh, "f4", (4, 3)), blank(fresh, "f4", (2, 3)), fresh.tensor(numpy.array(ends))
        assert fresh.call("grouped_bias_add_grad", slope, index, out) == 0
        words = f"ends its group at row {ends[1]}, expected {ends[0]} to 4"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, "element 1 of groupIdx", words)
