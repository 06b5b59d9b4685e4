"""Rotary positions since CANN 8.5 against NumPy in double: all modes, gradients, refusals."""

import numpy
import pytest
from helpers.attention import Case
from helpers.expect import refused
from helpers.norms import agree, unchanged
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from helpers.rotary import regrouped, rotate, rotate_back, same, turned
from hypothesis import given, settings
from hypothesis import strategies as st

FEW = settings(SETTINGS, max_examples=30)
SINGLE = ["f4", "f2", "b2"]
SHAPE = 561002


def any_shapes(case, mode):
    """Return the shape of x, and one of cosines and sines that is broadcast to it."""
    columns = case.pick(4, 12, 128)
    shape = [case.pick(0, 1, 2, 3), case.pick(1, 4), case.pick(1, 5), columns][case.pick(0, 0, 1) :]
    return shape, [*(case.pick(1, size) for size in shape[:-1]), columns]


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_rotary_position(npu, mode):
    @FEW
    @given(data=st.data())
    def run_case(data):
        case = Case(npu, data.draw, SINGLE)
        shape, table = any_shapes(case, mode)
        (x, values), (cosines, c), (sines, s) = (case.take(each) for each in (shape, table, table))
        out = case.take(shape)[0]
        assert npu.call("rotary_position_embedding", x, cosines, sines, mode, out) == 0
        same(npu, out, *rotate(values, c, s, mode))
        other = blank(npu, out.kind, shape)
        assert npu.call("rotary_position_embedding_v2", x, cosines, sines, mode, 0, other) == 0
        assert numpy.array_equal(npu.get(other), npu.get(out), equal_nan=out.kind != "b2")

    run_case()


def test_part_of_each_row(npu):
    """The ggml backend passes the first columns of each row as a view, with tables for the rows."""
    generator = numpy.random.default_rng(5)
    base = generator.normal(0, 1, (1, 6, 2, 80)).astype("f4")
    x = npu.view(base, base[..., :32], "f4")
    cosines, sines = (npu.tensor(generator.normal(0, 1, (1, 6, 1, 32)).astype("f4")) for _ in "cs")
    out = blank(npu, "f4", (1, 6, 2, 32))
    assert npu.call("rotary_position_embedding", x, cosines, sines, 0, out) == 0
    same(npu, out, *rotate(x.view.astype("f8"), cosines.view.astype("f8"), sines.view.astype("f8"), 0))


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_gradient(npu, mode):
    @FEW
    @given(data=st.data())
    def run_case(data):
        case = Case(npu, data.draw, SINGLE)
        shape, table = any_shapes(case, mode)
        (upper, slopes), (cosines, c), (sines, s) = (case.take(each) for each in (shape, table, table))
        x, values = case.take(shape) if case.pick(True, False) else (0, None)
        outs = [case.take(each)[0] for each in (shape, table, table)]
        assert npu.call("rotary_position_embedding_grad", upper, cosines, sines, x, mode, *outs) == 0
        if not slopes.size:
            return
        same(npu, outs[0], *rotate_back(slopes, c, s, mode))
        if values is None:
            unchanged(npu, outs[1])
            unchanged(npu, outs[2])
            return
        values, kind = (regrouped(values), 0) if mode == 3 else (values, mode)
        axes = tuple(place for place, size in enumerate(table) if size != shape[place])
        for out, each in zip(outs[1:], (values, turned(values, kind))):
            terms = slopes * each
            agree(npu, out, terms.sum(axes, keepdims=True), numpy.abs(terms).sum() * 2.0**17)

    run_case()


@pytest.mark.parametrize(
    ("shape", "table"),
    [
        ((0, 3, 2, 4), (1, 3, 1, 4)),
        ((2, 0, 4), (1, 1, 4)),
        ((0, 3, 2, 4), (0, 3, 1, 4)),
        ((2, 3, 2, 0), (1, 3, 1, 0)),
    ],
)
def test_gradient_of_nothing(npu, shape, table):
    """The gradients of tables are sums over no rows: 0."""
    tensors = [blank(npu, "f4", each) for each in (shape, table, table, shape)]
    outs = [npu.tensor(numpy.full(each, 7, "f4")) for each in (shape, table, table)]
    assert npu.call("rotary_position_embedding_grad", *tensors, 3, *outs) == 0
    assert not any(npu.get(out).any() for out in outs)


@FEW
@given(data=st.data())
def test_apply_with_a_mode(npu, data):
    case = Case(npu, data.draw, SINGLE)
    mode, layout = case.pick(0, 1, 2), case.pick(1, 2, 3)
    shape, heads = [case.pick(1, 2), case.pick(1, 3), case.pick(1, 2), case.pick(4, 64)], 1 if layout == 3 else 2
    tables = [*shape]
    tables[heads] = 1
    other = [*shape]
    other[heads] = case.pick(1, 4)
    (query, q), (key, k), (cosines, c), (sines, s) = (case.take(each) for each in (shape, other, tables, tables))
    name = ("half", "interleave", "quarter")[mode]
    assert npu.call("apply_rotary_pos_emb_v2", query, key, cosines, sines, layout, name) == 0
    same(npu, query, *rotate(q, c, s, mode))
    same(npu, key, *rotate(k, c, s, mode))


@pytest.mark.strict
def test_refusals(npu):
    x, table, odd = blank(npu, "f4", (2, 3, 4, 6)), blank(npu, "f4", (1, 3, 1, 6)), blank(npu, "f2", (2, 3, 4, 6))

    def call(x=x, cosines=table, sines=table, mode=0, out=x):
        return npu.call("rotary_position_embedding", x, cosines, sines, mode, out)

    assert call() == 0
    for part, name in (("x", "x"), ("cosines", "cos"), ("sines", "sin"), ("out", "out")):
        refused(call(**{part: 0}), NULLPTR, f"{name} is NULL")
        if part != "x":
            refused(call(**{part: odd}), INVALID, f"{name} has data type 1, float16, expected float32, that of x")
    refused(call(x=blank(npu, "i4", (2, 3, 4, 6))), INVALID, "x has data type 3, int32, expected float32, float16")
    refused(call(mode=4), SHAPE, "mode is 4, expected 0 to 3")
    refused(call(mode=2), SHAPE, "dimension 3 of x is 6, expected a multiple of 4 up to 1024")
    refused(call(x=blank(npu, "f4", (3, 6))), SHAPE, "x has 2 dimensions, expected 3 or 4")
    refused(call(cosines=blank(npu, "f4", (1, 2, 1, 6))), SHAPE, "dimension 1 of cos is 2, expected 1 or 3")
    refused(call(cosines=blank(npu, "f4", (1, 3, 1, 1))), SHAPE, "dimension 3 of cos is 1, expected 6")
    refused(call(sines=x), SHAPE, "sin has another shape than cos, expected the same")
    refused(call(out=table), SHAPE, "out has another shape than x, expected the same")
    turns = npu.call("rotary_position_embedding_v2", x, table, table, 0, blank(npu, "f4", (6, 6)), x)
    refused(turns, INVALID, "rotate is given, which the simulator does not support, expected NULL")
    outs = blank(npu, "f4", (2, 3, 4, 6)), x, blank(npu, "f4", (1, 3, 1, 6))
    ret = npu.call("rotary_position_embedding_grad", x, table, table, x, 0, *outs)
    refused(ret, SHAPE, "dcosOut has another shape than cos, expected the same")
    small = [blank(npu, "f4", (1, 1, 1, 4)) for _ in range(4)]
    refused(npu.call("apply_rotary_pos_emb_v2", *small, 4, "half"), INVALID, "layout is 4, expected 1 to 3")
    refused(npu.call("apply_rotary_pos_emb_v2", *small, 1, "third"), INVALID, 'is "third", expected half, interleave')
