"""MaskedScale against NumPy: types, strides, refusals."""

import pytest
from helpers.expect import refused
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, any_shape, blank, near, numbers
from helpers.pointwise import ALL, FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st

MASKS = ["u1", "i1", "f2", "f4"]


@FEWER
@given(data=st.data())
def test_masked_scale(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    shape = any_shape(draw)
    self, values = case.take(shape)
    mask, kept = case.take(shape, draw(st.sampled_from(MASKS)), numbers)
    out, _ = case.take(shape)
    assert npu.call("masked_scale", self, mask, 1.25, out) == 0
    near(npu.get(out), values * kept * 1.25, case.kind, 1e-9)


@pytest.mark.strict
def test_refused(npu):
    whole, mask = blank(npu, "f4"), blank(npu, "u1")
    for kind in ALL:
        same = blank(npu, kind)
        assert npu.call("masked_scale", same, mask, 2.0, same) == (0 if kind in SINGLE else INVALID), kind
        assert npu.call("masked_scale", whole, same, 2.0, whole) == (0 if kind in MASKS else INVALID), kind
    refused(npu.call("masked_scale", whole, mask, 2.0, blank(npu, "f2")), INVALID, "float16, expected float32")
    refused(npu.call("masked_scale", whole, blank(npu, "u1", (3,)), 2.0, whole), INVALID, "mask has shape [3]")
    refused(npu.call("masked_scale", whole, mask, 2.0, blank(npu, "f4", (3, 2))), INVALID, "out has shape [3, 2]")
    refused(npu.call("masked_scale", whole, 0, 2.0, whole), NULLPTR, "mask is NULL")
