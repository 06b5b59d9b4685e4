"""QuantMatmulV5 against NumPy: scales per row and per column, results as floats and as quantised integers."""

import pytest
from helpers.expect import refused
from helpers.norms import Case
from helpers.operands import INVALID, SETTINGS, blank, near
from helpers.packed import any_integers, small
from hypothesis import given
from hypothesis import strategies as st


@SETTINGS
@given(data=st.data())
def test_products(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    form, kind = draw(st.sampled_from(["i1", "int4"])), draw(st.sampled_from(["f2", "b2"]))
    rows, depth, columns = (draw(st.sampled_from([2, 8, 30])) for _ in "mkn")
    (x1, left), (x2, right) = any_integers(case, (rows, depth), form), any_integers(case, (depth, columns), form)
    per_row, row_scales = case.take_or_none((rows,), "f4", small)
    scale, scales = case.take((columns,), "f4", small)
    bias, biases = case.take_or_none((columns,), "f4")
    y, _ = case.take((rows, columns), kind)
    none = draw(st.sampled_from([0, blank(npu, "f4", (0,))]))  # a client passes tensors without elements
    operands = x1, x2, per_row, scale, 0, none, 0, none, bias, False, False, 0
    assert npu.call("quant_matmul_v5", *operands, y) == 0
    expected = left @ right * scales * (1 if row_scales is None else row_scales[:, None])
    near(npu.get(y), expected + (0 if biases is None else biases), kind, 1e-9)


@pytest.mark.strict
def test_scales_per_group_are_refused(npu):
    x1, x2, y = blank(npu, "i1", (2, 3)), blank(npu, "i1", (3, 4)), blank(npu, "f2", (2, 4))
    ret = npu.call("quant_matmul_v5", x1, x2, 0, blank(npu, "f4", (4,)), 0, 0, 0, 0, 0, False, False, 32, y)
    refused(ret, INVALID, "groupSize is 32, expected 0")
