"""Choosing experts and routing tokens to them, against NumPy: gates, sorted tokens, capacities, quantised tokens."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.norms import Case, agree, positive
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from hypothesis import given
from hypothesis import strategies as st

import acl

CONFLICT = 561002
NO_COUNTS, CUMULATIVE, COUNTS = 0, 1, 2


def softmax(values):
    """Return the softmax of rows."""
    powers = numpy.exp(values - values.max(-1, keepdims=True, initial=-numpy.inf))
    return powers / powers.sum(-1, keepdims=True)


@SETTINGS
@given(data=st.data())
def test_gates(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, experts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=2)), draw(st.sampled_from([1, 4, 70]))
    k, second, renorm = draw(st.integers(0, min(experts, 6))), draw(st.booleans()), draw(st.integers(0, 1))
    x, values = case.take((*rows, experts))
    finished, ended = case.take_or_none(rows, "?")
    y, _ = case.take((*rows, k))
    expert, row, whole = (
        case.take((*rows, k), "i4")[0],
        case.take((*rows, k), "i4")[0],
        case.take(values.shape, "f4")[0],
    )
    flag = draw(st.booleans())
    if second:
        ret = npu.call("moe_gating_top_k_softmax_v2", x, finished, k, renorm, flag, y, expert, whole)
    else:
        ret, renorm = npu.call("moe_gating_top_k_softmax", x, finished, k, y, expert, row), 0
    assert ret == 0
    values = values.reshape(-1, experts)
    chosen = numpy.argsort(-values, -1, kind="stable")[:, :k]
    taken = numpy.take_along_axis(values if renorm else softmax(values), chosen, -1)
    near(npu.get(y), (softmax(taken) if renorm else taken).reshape(*rows, k), case.kind, 1e-12)
    if ended is not None:
        chosen = numpy.where(ended.reshape(-1, 1) != 0, experts, chosen)
    assert numpy.array_equal(npu.get(expert), chosen.reshape(*rows, k))
    if not second:
        places = numpy.arange(k) * len(values) + numpy.arange(len(values))[:, None]
        assert numpy.array_equal(npu.get(row), places.reshape(*rows, k))
    elif flag and not renorm:
        agree(npu, whole, softmax(values))


@pytest.mark.strict
def test_gates_refuse(npu):
    x, y, expert = blank(npu, "f4", (2, 4)), blank(npu, "f4", (2, 3)), blank(npu, "i4", (2, 3))

    def call(x=x, k=3, y=y, expert=expert, renorm=0, finished=0):
        return npu.call("moe_gating_top_k_softmax_v2", x, finished, k, renorm, False, y, expert, 0)

    assert call() == 0
    refused(call(x=0), NULLPTR, "x is NULL")
    refused(call(x=blank(npu, "f8", (2, 4))), INVALID, "x has data type 11, float64, expected")
    refused(call(expert=y), INVALID, "expertIdxOut has data type 0, float32, expected int32")
    refused(call(x=blank(npu, "f4", (4,))), CONFLICT, "x has 1 dimensions, expected 2 or 3")
    refused(call(k=5), CONFLICT, "k is 5, expected 0 to 4")
    refused(call(k=-1), CONFLICT, "k is -1, expected 0 to 4")
    refused(call(renorm=2), CONFLICT, "renorm is 2, expected 0 to 1")
    refused(call(y=blank(npu, "f4", (2, 2))), CONFLICT, "dimension 1 of yOut is 2, expected the shape 2 x 3")
    refused(call(finished=blank(npu, "?", (3,))), CONFLICT, "finished", "does not have one element per row of x")


@SETTINGS
@given(data=st.data())
def test_first_routing(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, width, each = draw(st.integers(1, 6)), draw(st.sampled_from([1, 5, 70])), draw(st.integers(1, 3))
    active, quantises = draw(st.integers(0, 8)), draw(st.booleans())
    x, values = case.take((rows, width))
    experts = case.generator.integers(0, 4, (rows, each)).astype("i4")
    places = (numpy.arange(each) * rows + numpy.arange(rows)[:, None]).astype("i4")
    kept = min(rows, active) * each
    expanded, _ = case.take((kept, width), "i1" if quantises else case.kind)
    where, which = case.take((rows * each,), "i4")[0], case.take((rows * each,), "i4")[0]
    operands = x, npu.tensor(places), npu.tensor(experts), active
    if quantises:
        ret = npu.call("moe_init_routing_quant", *operands, 2.5, -3.0, expanded, where, which)
    else:
        ret = npu.call("moe_init_routing", *operands, expanded, where, which)
    assert ret == 0
    order = numpy.argsort(experts.reshape(-1), kind="stable")
    carried = places.reshape(-1)[order]
    expected = numpy.empty(rows * each)
    expected[carried] = numpy.arange(rows * each)
    assert numpy.array_equal(npu.get(where), expected)
    assert numpy.array_equal(npu.get(which), experts.reshape(-1)[order])
    tokens = values[carried % rows][:kept]
    if quantises:
        assert numpy.array_equal(npu.get(expanded), numpy.clip(numpy.rint(tokens * 2.5 - 3), -128, 127))
    else:
        near(npu.get(expanded), tokens, case.kind, 0)


def routed(values, experts, number, capacity):
    """Return the token of each row of the result (-1: none), and where each pair went."""
    each, flat = experts.shape[1], experts.reshape(-1)
    order = numpy.argsort(flat, kind="stable")
    where = numpy.full(flat.size, -1)
    if not capacity:
        where[order] = numpy.arange(flat.size)
        return order // each, where
    rows, used = numpy.full(number * capacity, -1), numpy.zeros(number, int)
    for pair in order:
        if used[flat[pair]] < capacity:
            where[pair] = flat[pair] * capacity + used[flat[pair]]
            rows[where[pair]] = pair // each
        used[flat[pair]] += 1
    return rows, where


@SETTINGS
@given(data=st.data())
def test_second_routing(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, width, each, number = (draw(st.integers(1, most)) for most in (6, 5, 3, 4))
    capacity, flag, before = draw(st.integers(0, rows)), draw(st.integers(0, 2)), draw(st.booleans())
    drops, quantises = int(capacity > 0), draw(st.sampled_from(["no", "static", "dynamic"]))
    active = draw(st.sampled_from([0, 2, 100]))
    x, values = case.take((rows, width))
    experts = case.generator.integers(0, number, (rows, each)).astype("i4")
    tokens, where = routed(values, experts, number, capacity)
    kept = len(tokens) if drops or not active else min(active, len(tokens))
    shape = (number, capacity, width) if drops else (kept, width)
    expanded, _ = case.take(shape, case.kind if quantises == "no" else "i1")
    places, counts, earlier = (case.take((size,), "i4")[0] for size in (rows * each, number, number))
    numbers = active, capacity, number, drops, flag, before
    owners = numpy.full(len(tokens), 0)
    owners[where[where >= 0]] = experts.reshape(-1)[where >= 0]
    plain = numpy.where(tokens[:, None] >= 0, values[tokens], 0)[:kept]
    if quantises == "no":
        ret = npu.call("moe_init_routing_v2", x, npu.tensor(experts), *numbers, expanded, places, counts, earlier)
    else:
        dynamic = quantises == "dynamic"
        size = draw(st.sampled_from([(1, width), (number, width)])) if dynamic else (1,)
        scale, scales = case.take_or_none(size, "f4", positive) if dynamic else case.take(size, "f4", positive)
        (offset, offsets), (row_scale, _) = case.take((1,), "f4"), case.take((kept,), "f4")
        outs = expanded, places, counts, earlier, row_scale if dynamic else 0
        added = 0 if dynamic else offset
        ret = npu.call("moe_init_routing_quant_v2", x, npu.tensor(experts), scale, added, *numbers, int(dynamic), *outs)
    assert ret == 0
    assert numpy.array_equal(npu.get(places), where)
    found = npu.get(expanded).reshape(-1, width)
    if quantises == "no":
        near(found, plain, case.kind, 0)
    elif quantises == "static":
        whole = numpy.clip(numpy.rint(plain * scales + offsets), -128, 127)
        assert (numpy.abs(found - numpy.where(tokens[:kept, None] >= 0, whole, 0)) <= 1).all()
    else:
        factors = 1 if scales is None else scales[owners[:kept] if len(scales) > 1 else [0] * kept]
        most = numpy.abs(plain * factors).max(-1) / 127
        agree(npu, row_scale, most)
        whole = numpy.rint(plain * factors / numpy.where(most == 0, 1, most)[:, None])
        assert (numpy.abs(found - whole) <= 1).all()
    totals = numpy.bincount(experts.reshape(-1), minlength=number)
    if drops and before:
        assert numpy.array_equal(npu.get(earlier), totals)
    if not drops and flag != NO_COUNTS:
        assert numpy.array_equal(npu.get(counts), totals if flag == COUNTS else numpy.cumsum(totals))


@SETTINGS
@given(data=st.data())
def test_expert_tokens(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    number = draw(st.integers(1, 6))
    experts = numpy.sort(case.generator.integers(0, number, draw(st.integers(0, 20)))).astype("i4")
    out, _ = case.take((number,), "i4")
    assert npu.call("moe_compute_expert_tokens", npu.tensor(experts), number, out) == 0
    assert numpy.array_equal(npu.get(out), numpy.searchsorted(experts, numpy.arange(number), "right"))


@pytest.mark.strict
def test_routing_refuses(npu):
    x, pairs, places = blank(npu, "f4", (3, 4)), blank(npu, "i4", (3, 2)), blank(npu, "i4", (6,))
    expanded, counts = blank(npu, "f4", (6, 4)), blank(npu, "i4", (5,))

    def first(x=x, rows=pairs, experts=pairs, active=3, expanded=expanded):
        return npu.call("moe_init_routing", x, rows, experts, active, expanded, places, blank(npu, "i4", (6,)))

    refused(first(x=0), NULLPTR, "x is NULL")
    refused(first(x=blank(npu, "f8", (3, 4))), INVALID, "x has data type 11, float64, expected")
    refused(first(rows=x), INVALID, "rowIdx has data type 0, float32, expected int32")
    refused(first(rows=blank(npu, "i4", (3, 1))), CONFLICT, "dimension 1 of rowIdx is 1, expected the shape 3 x 2")
    refused(first(experts=blank(npu, "i4", (2, 2))), CONFLICT, "dimension 0 of expertIdx is 2, expected the shape 3 x")
    refused(first(active=-1), CONFLICT, "activeNum is -1, expected 0 to")
    refused(first(active=2), CONFLICT, "dimension 0 of expandedXOut is 6, expected the shape 4 x 4")

    def second(capacity=0, number=5, mode=0, flag=COUNTS, expanded=expanded, counts=counts):
        numbers = 0, capacity, number, mode, flag, True
        return npu.call("moe_init_routing_v2", x, pairs, *numbers, expanded, places, counts, 0)

    assert second() == 0
    refused(second(mode=2), CONFLICT, "dropPadMode", "is 2, expected 0 to 1")
    refused(second(flag=3), CONFLICT, "expertTokensCountOrCumsumFlag", "is 3, expected 0 to 2")
    refused(second(number=0), CONFLICT, "expertNum", "is 0, expected 1 to")
    refused(second(mode=1), CONFLICT, "expertCapacity", "is 0, expected 1 to 3")
    refused(second(mode=1, capacity=2), CONFLICT, "expandedXOut has 2 dimensions, expected 3")
    refused(second(counts=0), NULLPTR, "expertTokensCountOrCumsumOut", "is NULL")
    refused(second(counts=places), CONFLICT, "dimension 0 of expertTokensCountOrCumsumOut", "expected the shape 5")
    outs = blank(npu, "i1", (6, 4)), places, 0, 0, blank(npu, "f4", (6,))
    ret = npu.call("moe_init_routing_quant_v2", x, pairs, blank(npu, "f4", (0,)), 0, *[0] * 5, False, 1, *outs)
    refused(ret, CONFLICT, "scale", "has 0 elements, expected one per column, for one or all experts")
    refused(npu.call("moe_compute_expert_tokens", places, 0, places), CONFLICT, "numExperts is 0, expected 1 to")


@pytest.mark.needs_sim
def test_experts_and_rows_out_of_range_fail_the_task():
    with failing() as fresh:
        x, experts, counts = (
            blank(fresh, "f4", (2, 4)),
            fresh.tensor(numpy.array([[1], [3]], "i4")),
            blank(fresh, "i4", (3,)),
        )
        outs = blank(fresh, "f4", (2, 4)), blank(fresh, "i4", (2,)), counts, 0
        assert fresh.call("moe_init_routing_v2", x, experts, 0, 0, 3, 0, COUNTS, False, *outs) == 0
        words = "element 1 of expertIdx is 3, expected 0 to 2"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
    with failing() as fresh:
        x, experts, rows = (
            blank(fresh, "f4", (2, 4)),
            blank(fresh, "i4", (2, 1)),
            fresh.tensor(numpy.array([[0], [2]], "i4")),
        )
        outs = blank(fresh, "f4", (2, 4)), blank(fresh, "i4", (2,)), blank(fresh, "i4", (2,))
        assert fresh.call("moe_init_routing", x, rows, experts, 2, *outs) == 0
        words = "element 1 of rowIdx is 2, expected 0 to 1"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)


@pytest.mark.needs_sim
def test_a_gradient_of_an_expert_out_of_range_fails_the_task():
    with failing() as fresh:
        scores, grad, out = (blank(fresh, "f4", shape) for shape in ((2, 4), (2, 1), (2, 4)))
        experts = fresh.tensor(numpy.array([[1], [4]], "i4"))
        assert fresh.call("moe_gating_top_k_backward", scores, grad, experts, 0, 1, 1.0, 1e-20, out) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, "of expertIdx is 4, expected 0 to 3")
