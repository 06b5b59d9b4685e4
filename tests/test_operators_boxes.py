"""How far boxes overlap, against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, exact, stored
from hypothesis import given
from hypothesis import strategies as st


def take_boxes(case, count):
    """Return a tensor of boxes with positive sides, and their values."""
    base, view = any_view(case.draw, case.generator, [count, 4], case.kind)
    corners = case.generator.integers(0, 9, (count, 2))
    sides = case.generator.integers(1, 9, corners.shape)
    view[...] = stored(numpy.concatenate([corners, corners + sides], -1), case.kind)
    return case.npu.view(base, view, case.kind), exact(view, case.kind).astype("f8")


def overlaps(one, other, eps, over_other):
    """Return the shares of the intersection, for arrays of boxes that are broadcast."""
    low, high = numpy.maximum(one[..., :2], other[..., :2]), numpy.minimum(one[..., 2:], other[..., 2:])
    shared = numpy.maximum(high - low + eps, 0).prod(-1)
    areas = [(box[..., 2:] - box[..., :2] + eps).prod(-1) for box in (one, other)]
    return shared / (areas[1] if over_other else areas[0] + areas[1] - shared)


@pytest.mark.parametrize("mode", ["iou", "iof"])
@SETTINGS
@given(data=st.data())
def test_iou(npu, mode, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, more, aligned = draw(st.integers(0, 5)), draw(st.integers(0, 5)), draw(st.booleans())
    (one, left), (other, right) = (take_boxes(case, size) for size in (count, count if aligned else more))
    out, eps = case.take((count, 1 if aligned else more))[0], draw(st.sampled_from([0.0, 0.5, 1.0]))
    assert npu.call("iou", one, other, mode, eps, aligned, out) == 0
    pairs = (left, right) if aligned else (left[:, None], right)
    agree(npu, out, overlaps(*pairs, eps, mode == "iof"))


@pytest.mark.strict
def test_refusals(npu):
    boxes, others, out = blank(npu, "f4", (2, 4)), blank(npu, "f4", (3, 4)), blank(npu, "f4", (2, 3))

    def call(boxes=boxes, others=others, mode="iou", eps=0.0, aligned=False, out=out):
        return npu.call("iou", boxes, others, mode, eps, aligned, out)

    assert call() == 0
    for name in ("boxes", "others", "out"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(boxes=blank(npu, "f8", (2, 4))), INVALID, "bBoxes has data type 11, float64, expected")
    refused(call(others=blank(npu, "f2", (3, 4))), INVALID, "gtBoxes has data type 1, float16, expected float32")
    refused(
        call(boxes=blank(npu, "f4", (2, 5))), INVALID, "bBoxes has shape [2, 5], expected [2, 4], 4 numbers per box"
    )
    refused(call(mode="giou"), INVALID, 'mode is "giou", expected iou or iof')
    refused(call(eps=-1.0), INVALID, "eps is -1, expected 0 or more")
    refused(call(aligned=True), INVALID, "gtBoxes has shape [3, 4], expected [2, 4], that of bBoxes")
    refused(
        call(out=blank(npu, "f4", (3, 2))), INVALID, "overlap has shape [3, 2], expected [2, 3], one number per pair"
    )
