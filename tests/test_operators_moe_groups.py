"""Gates with groups of experts, and routing to a range of experts, against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, positive
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, near
from hypothesis import given
from hypothesis import strategies as st

CONFLICT = 561002
BY_END, BY_EXPERT, BY_PAIR = 0, 1, 2


def softmax(values):
    """Return the softmax of rows."""
    powers = numpy.exp(values - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def best(values, count):
    """Return the places of the greatest elements of each row, the greatest first."""
    return numpy.argsort(-values, -1, kind="stable")[:, :count]


@SETTINGS
@given(data=st.data())
def test_gates_with_groups(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, groups, each = draw(st.integers(0, 5)), draw(st.integers(1, 4)), draw(st.integers(2, 9))
    kept, two, experts = draw(st.integers(1, groups)), draw(st.integers(0, 1)), groups * each
    k, renorm, sigmoid, whole = draw(st.integers(1, kept * each)), draw(st.integers(0, 1)), *draw_two(draw)
    (x, values), (bias, biases) = case.take((rows, experts)), case.take_or_none((experts,), case.beside())
    (y, _), (expert, _), (out, _) = (
        case.take(*each) for each in (((rows, k),), ((rows, k), "i4"), ((rows, experts), "f4"))
    )
    operands = x, bias, k, kept, groups, two, renorm, int(sigmoid), whole, 2.5, 1e-20
    assert npu.call("moe_gating_top_k", *operands, y, expert, out) == 0
    if rows == 0:
        return
    scores = 1 / (1 + numpy.exp(-values)) if sigmoid else softmax(values)
    biased = scores + (0 if biases is None else biases)
    if groups > 1:
        sorts = numpy.sort(biased.reshape(rows, groups, each), -1)
        worth = sorts[..., -1] + (sorts[..., -2] if two else 0)
        chosen = numpy.zeros((rows, groups), bool)
        numpy.put_along_axis(chosen, best(worth, kept), True, -1)
        biased = numpy.where(numpy.repeat(chosen, each, -1), biased, -numpy.inf)
    places = best(biased, k)
    taken = numpy.take_along_axis(scores, places, -1)
    if sigmoid or renorm:
        taken = taken / (taken.sum(-1, keepdims=True) + 1e-20)
    assert numpy.array_equal(npu.get(expert), places)
    near(npu.get(y), taken * 2.5, case.kind, 1e-12)
    if whole:
        agree(npu, out, scores)


def draw_two(draw):
    """Return two truth values."""
    return draw(st.booleans()), draw(st.booleans())


@pytest.mark.strict
def test_gates_refuse(npu):
    x, y, expert, out = blank(npu, "f4", (2, 8)), *(blank(npu, *each) for each in (("f4", (2, 3)), ("i4", (2, 3)))), 0
    out = blank(npu, "f4", (2, 8))

    def call(x=x, bias=0, k=3, kept=2, groups=4, two=0, renorm=0, norm=1, flag=True, y=y, expert=expert, out=out):
        operands = x, bias, k, kept, groups, two, renorm, norm, flag, 1.0, 1e-20
        return npu.call("moe_gating_top_k", *operands, y, expert, out)

    assert call() == 0
    for name in ("x", "y", "expert", "out"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(x=blank(npu, "f8", (2, 8))), INVALID, "x has data type 11, float64, expected")
    refused(call(expert=y), INVALID, "expertIdxOut has data type 0, float32, expected int32")
    refused(call(bias=y), CONFLICT, "biasOptional has 2 dimensions, expected 1")
    refused(call(groups=3), CONFLICT, "groupCount is 3, expected a divisor of 8, the number of experts")
    refused(call(kept=5), CONFLICT, "kGroup is 5, expected 1 to 4")
    refused(call(k=5), CONFLICT, "k is 5, expected 1 to 4")
    refused(call(groups=8, two=1), CONFLICT, "groupSelectMode is 1 and a group has 1 experts, expected 2 or more")
    refused(call(renorm=2), CONFLICT, "renorm is 2, expected 0 to 1")
    refused(call(norm=2), CONFLICT, "normType is 2, expected 0 to 1")
    refused(call(y=blank(npu, "f4", (2, 2))), CONFLICT, "dimension 1 of yOut is 2, expected the shape 2 x 3")
    refused(call(out=blank(npu, "f4", (2, 7))), CONFLICT, "dimension 1 of outOut is 7, expected the shape 2 x 8")


@SETTINGS
@given(data=st.data())
def test_gradients_of_gates(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, experts = draw(st.integers(1, 4)), draw(st.integers(2, 9))
    k = draw(st.integers(1, experts))
    (scores, values), (grad, grads) = case.take((rows, experts), "f4", positive), case.take((rows, k))
    places = numpy.array([case.generator.permutation(experts)[:k] for _ in range(rows)])
    base, view = any_view(draw, case.generator, [rows, k], "i4")
    view[...] = places
    chosen, out = npu.view(base, view, "i4"), case.take((rows, experts))[0]
    assert npu.call("moe_gating_top_k_backward", scores, grad, chosen, 0, 1, 2.5, 1e-3, out) == 0
    expected = numpy.zeros((rows, experts))
    for row in range(rows):
        mine = values[row, places[row]]
        total = mine.sum() + 1e-3
        slopes = 2.5 * (numpy.eye(k) / total - mine[:, None] / total**2)  # of result i to score j
        expected[row, places[row]] = grads[row] @ slopes * mine * (1 - mine)
    agree(npu, out, expected, numpy.abs(expected).max() + 1e3)


@pytest.mark.strict
def test_gradients_of_gates_refuse(npu):
    scores, grad, chosen, out = (
        blank(npu, *each) for each in (("f4", (2, 8)), ("f2", (2, 3)), ("i4", (2, 3)), ("f2", (2, 8)))
    )

    def call(scores=scores, grad=grad, chosen=chosen, renorm=0, norm=1, out=out):
        return npu.call("moe_gating_top_k_backward", scores, grad, chosen, renorm, norm, 1.0, 1e-20, out)

    assert call() == 0
    for name in ("scores", "grad", "chosen", "out"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(scores=out), INVALID, "xNorm has data type 1, float16, expected float32")
    refused(call(out=scores), INVALID, "out has data type 0, float32, expected float16")
    refused(call(chosen=grad), INVALID, "expertIdx has data type 1, float16, expected int32")
    refused(call(grad=blank(npu, "f2", (2, 9))), CONFLICT, "gradY has 2 rows and 9 columns, expected 1 or more, and at")
    refused(call(grad=blank(npu, "f2", (2, 0))), CONFLICT, "gradY has 2 rows and 0 columns, expected 1 or more")
    refused(call(grad=blank(npu, "f2", (3, 3))), CONFLICT, "dimension 0 of gradY is 3, expected")
    refused(call(chosen=blank(npu, "i4", (2, 2))), CONFLICT, "dimension 1 of expertIdx is 2, expected the shape 2 x 3")
    refused(call(out=blank(npu, "f2", (2, 7))), CONFLICT, "dimension 1 of out is 7, expected the shape 2 x 8")
    refused(call(renorm=1), CONFLICT, "renorm is 1, expected 0")
    refused(call(norm=0), CONFLICT, "normType is 0, expected 1")


def counted(flat, first, end, kind, number):
    """Return how many tokens each expert of a range has."""
    counts = numpy.array([(flat == expert).sum() for expert in range(first, end)])
    if kind != BY_PAIR:
        return counts.cumsum() if kind == BY_END else counts
    pairs = numpy.zeros((number, 2), int)
    full = [(expert, count) for expert, count in zip(range(first, end), counts) if count]
    pairs[: len(full)] = numpy.array(full).reshape(-1, 2)
    return pairs


def dynamic(rows):
    """Return rows divided by their scales, and the scales."""
    scales = numpy.abs(rows).max(-1) / 127
    return rows / (scales + (scales == 0))[:, None], scales


@SETTINGS
@given(data=st.data())
def test_routing_to_a_range(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, width, each, number = (draw(st.integers(1, most)) for most in (6, 5, 3, 6))
    first = draw(st.integers(0, number - 1))
    end, quant = draw(st.integers(first + 1, number)), draw(st.integers(-1, 1))
    kind, by_pair, active = draw(st.integers(0, 2)), draw(st.booleans()), draw(st.sampled_from([-1, 0, 2]))
    if quant == -1 and draw(st.booleans()):
        case.kind = "i1"
    x, values = case.take((rows, width))
    experts = case.generator.integers(0, number, (rows, each)).astype("i4")
    scale_shape = {-1: (rows,), 0: (1,), 1: (draw(st.sampled_from([1, end - first])), width)}[quant]
    scale, scales = (
        case.take(scale_shape, "f4", positive) if quant == 0 else case.take_or_none(scale_shape, "f4", positive)
    )
    offset, offsets = case.take((1,), "f4") if quant == 0 else (0, None)
    count, flat = rows * each, experts.reshape(-1)
    to = case.take((count, width), case.kind if quant == -1 else "i1")[0]
    places, counts = (
        case.take((count,), "i4")[0],
        case.take((number, 2) if kind == BY_PAIR else (end - first,), "i8")[0],
    )
    expanded = case.take((count,), "f4")[0]
    operands = x, npu.tensor(experts), scale, offset, active, 0, number, 0, kind, True, quant
    ends = npu.integers([first, end]), int(by_pair)
    assert npu.call("moe_init_routing_v3", *operands, *ends, to, places, counts, expanded) == 0
    inside = (flat >= first) & (flat < end)
    order = numpy.argsort(numpy.where(flat < first, 2**31 - 1, flat), kind="stable")
    if by_pair:
        assert numpy.array_equal(npu.get(places), order)
    else:
        where = numpy.full(count, -1)
        where[order[: inside.sum()]] = numpy.arange(inside.sum())
        assert numpy.array_equal(npu.get(places), where)
    assert numpy.array_equal(npu.get(counts), counted(flat, first, end, kind, number))
    kept = min(active, inside.sum()) if active > 0 else inside.sum()
    tokens, chosen = order[:kept] // each, flat[order[:kept]] - first
    taken, whole = values[tokens], numpy.zeros((count, width))
    if quant == 0:
        taken = numpy.rint(taken * scales[0] + offsets[0])
    elif quant == 1:
        taken, found = dynamic(taken * (1 if scales is None else scales[chosen if len(scales) > 1 else 0]))
    if quant == -1:
        whole[:kept] = taken
        assert (
            numpy.array_equal(npu.get(to).astype("f8"), whole) if case.kind == "i1" else agree(npu, to, whole) is None
        )
    else:
        assert (numpy.abs(npu.get(to)[:kept] - numpy.clip(taken, -128, 127)) <= (0.5 if quant else 0) + 2.0**-20).all()
    if quant == 1:
        agree(npu, expanded, numpy.concatenate([found, numpy.zeros(count - kept)]))
    elif quant == -1 and scales is not None:
        agree(npu, expanded, numpy.concatenate([scales[tokens], numpy.zeros(count - kept)]))


def test_routing_with_a_capacity(npu):
    x = npu.tensor(numpy.array([[1], [2], [3], [4]], "f4"))
    experts = npu.tensor(numpy.array([[0], [1], [0], [0]], "i4"))
    to, places, counts = blank(npu, "f4", (3, 2, 1)), blank(npu, "i4", (4,)), blank(npu, "i8", (3,))
    operands = x, experts, 0, 0, 0, 2, 3, 1, BY_EXPERT, True, -1, 0, 0
    assert npu.call("moe_init_routing_v3", *operands, to, places, counts, blank(npu, "f4", (6,))) == 0
    assert npu.get(to).ravel().tolist() == [1, 3, 2, 0, 0, 0]
    assert npu.get(places).tolist() == [0, 2, 1, -1]
    assert npu.get(counts).tolist() == [3, 1, 0]


@pytest.mark.strict
def test_routing_refuses(npu):
    x, experts, to, places = (
        blank(npu, *each) for each in (("f4", (2, 3)), ("i4", (2, 2)), ("f4", (4, 3)), ("i4", (4,)))
    )
    counts, scales = blank(npu, "i8", (5,)), blank(npu, "f4", (4,))

    def call(x=x, scale=0, capacity=0, number=5, mode=0, kind=1, quant=-1, ends=None, pairs=0, to=to, counts=counts):
        ends = npu.integers(ends) if ends else 0
        operands = x, experts, scale, 0, 0, capacity, number, mode, kind, True, quant, ends, pairs
        return npu.call("moe_init_routing_v3", *operands, to, places, counts, scales)

    assert call() == 0
    refused(call(x=blank(npu, "f8", (2, 3))), INVALID, "x has data type 11, float64, expected")
    refused(call(ends=[3, 3]), CONFLICT, "activeExpertRangeOptional is 3 to 3, expected a part of 0 to 5, the experts")
    refused(call(ends=[0, 6]), CONFLICT, "is 0 to 6, expected a part of 0 to 5")
    refused(call(ends=[0, 1, 2]), INVALID, "activeExpertRangeOptional has 3 numbers, expected 2")
    refused(
        call(mode=1, capacity=1, ends=[0, 2]), CONFLICT, "is 0 to 2, expected all experts, because dropPadMode is 1"
    )
    refused(call(mode=1), CONFLICT, "expertCapacity is 0, expected 1 to 2147483647")
    refused(call(mode=1, capacity=1, pairs=1), CONFLICT, "rowIdxType is 1, expected 0 to 0")
    refused(call(kind=3), CONFLICT, "expertTokensNumType is 3, expected 0 to 2")
    refused(call(quant=2), CONFLICT, "quantMode is 2, expected -1 to 1")
    whole = blank(npu, "i1", (4, 3))
    refused(call(quant=0, to=whole), NULLPTR, "scale or offset is NULL, expected both for a static quantisation")
    refused(call(quant=1), INVALID, "expandedXOut has data type 0, float32, expected int8")
    words = "dimension 0 of scaleOptional is 2, expected 1 or 5, the number of experts"
    refused(call(quant=1, to=whole, scale=blank(npu, "f4", (2, 3))), CONFLICT, words)
    refused(call(x=blank(npu, "i1", (2, 3)), quant=1, to=whole), INVALID, "x has data type int8 and quantMode is 1")
    refused(call(to=blank(npu, "f4", (3, 3))), CONFLICT, "dimension 0 of expandedXOut is 3, expected 4, the pairs")
    refused(call(counts=blank(npu, "i8", (4,))), CONFLICT, "expected the shape 5")


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_later_sums(npu, version):
    rows, places = npu.tensor(numpy.arange(8, dtype="f4").reshape(4, 2)), npu.tensor(numpy.array([0, 2, 1, 3], "i4"))
    scales, out = npu.tensor(numpy.array([[1, 2], [3, 4]], "f4")), blank(npu, "f4", (2, 2))
    last = (1,) if version == "v4" else ()

    def call(scales=scales, ranges=(0, 0, 0), last=last):
        operands = rows, places, 0, 0, 0, scales, 0, 0, 0, 0, 0, 0
        return npu.call(f"moe_finalize_routing_{version}", *operands, *ranges, *last, out)

    assert call() == 0
    assert npu.get(out).tolist() == [[4, 7], [36, 43]]
    assert call(ranges=(npu.integers([-1, -1]), 0, npu.integers([]))) == 0
    refused(call(ranges=(0, npu.integers([1, 2]), 0)), CONFLICT, "copyExpertRange has 1, expected negative numbers")
    if version == "v4":
        assert call(0, last=(2,)) == 0
        assert npu.get(out).tolist() == [[2, 4], [10, 12]]
        refused(call(0, last=(0,)), CONFLICT, "k is 0, expected 1 to 2147483647")
        refused(call(0), CONFLICT, "dimension 0 of expandedRowIdx is 4, expected the shape 2")
