"""Tokens sorted by expert and back, by a map of the experts of each token, and the gradients, against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.norms import Case, agree
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from hypothesis import given
from hypothesis import strategies as st

import acl

CONFLICT = 561002


class Routing:
    """A random map, with links: the token, the sorted row and the expert of each."""

    def __init__(self, case, draw):
        self.tokens, self.experts, self.width = (
            draw(st.integers(1, 6)),
            draw(st.integers(1, 5)),
            draw(st.integers(1, 5)),
        )
        self.padded = draw(st.booleans())
        self.each = draw(st.integers(1, self.tokens if self.padded else self.experts))  # rows per expert or per token
        order = case.generator.permuted(numpy.tile(numpy.arange(self.experts), (self.tokens, 1)), axis=1)
        self.map = order < (draw(st.integers(0, self.experts)) if self.padded else self.each)
        if self.padded:
            places = numpy.argsort(~self.map.T, axis=-1, kind="stable")[:, : self.each]
            self.sorted = places.reshape(-1)
            self.token, self.row = self.sorted, numpy.arange(self.sorted.size)
            self.expert = numpy.repeat(numpy.arange(self.experts), self.each)
        else:
            tokens = numpy.nonzero(self.map.T)[1]
            self.sorted = numpy.argsort(tokens, kind="stable")
            self.token, self.expert = numpy.nonzero(self.map)
            self.row = self.sorted
        self.count = self.sorted.size

    def tensors(self, case, npu):
        """Return the map and the sorted indices as tensors."""
        kind = case.draw(st.sampled_from(["?", "i1"]))
        return npu.tensor(self.map.astype(kind), kind), npu.tensor(self.sorted.astype("i4"))


@SETTINGS
@given(data=st.data())
def test_permute(npu, data):
    case = Case(npu, data.draw)
    routing = Routing(case, data.draw)
    (tokens, values), (probs, chances) = (
        case.take((routing.tokens, routing.width)),
        case.take_or_none((routing.tokens, routing.experts), case.beside()),
    )
    out, order = case.take((routing.count, routing.width))[0], case.take((routing.count,), "i4")[0]
    picked = case.take((routing.count,), probs.kind)[0] if probs else 0
    more = data.draw(st.integers(0, (routing.experts if routing.padded else routing.tokens) - 1))
    asked = min(routing.count + more, routing.tokens * routing.experts)
    mapped, _ = routing.tensors(case, npu)
    name = "moe_token_permute_with_routing_map"
    assert npu.call(name, tokens, mapped, probs, asked, routing.padded, out, picked, order) == 0
    assert numpy.array_equal(npu.get(order), routing.sorted)
    expected, wanted = numpy.empty((routing.count, routing.width)), numpy.empty(routing.count)
    expected[routing.row] = values[routing.token]
    agree(npu, out, expected)
    if probs:
        wanted[routing.row] = chances[routing.token, routing.expert]
        agree(npu, picked, wanted)


@SETTINGS
@given(data=st.data())
def test_unpermute(npu, data):
    case = Case(npu, data.draw)
    routing = Routing(case, data.draw)
    (rows, values), (probs, chances) = (
        case.take((routing.count, routing.width)),
        case.take_or_none((routing.tokens, routing.experts), case.beside()),
    )
    mapped, indices = routing.tensors(case, npu)
    out = case.take((routing.tokens, routing.width))[0]
    order, tokens = case.take((routing.count,), "i4")[0], case.take((routing.count,), "i4")[0]
    picked = case.take((routing.count,), probs.kind)[0] if probs else blank(npu, "f4", (0,))
    restored = npu.integers([routing.tokens, routing.width])
    operands = rows, indices, mapped, probs, routing.padded, restored, out, order, tokens, picked
    assert npu.call("moe_token_unpermute_with_routing_map", *operands) == 0
    factors = numpy.ones(routing.count) if chances is None else chances[routing.token, routing.expert]
    expected = numpy.zeros((routing.tokens, routing.width))
    numpy.add.at(expected, routing.token, values[routing.row] * factors[:, None])
    agree(npu, out, expected, 1e4)
    if probs:
        agree(npu, picked, factors)
    if routing.padded:
        assert numpy.array_equal(npu.get(order), numpy.argsort(routing.sorted, kind="stable"))
        assert numpy.array_equal(npu.get(tokens), numpy.sort(routing.sorted))


@SETTINGS
@given(data=st.data())
def test_gradient_of_permute(npu, data):
    case = Case(npu, data.draw)
    routing = Routing(case, data.draw)
    slopes, values = case.take((routing.count, routing.width))
    slants, numbers = case.take_or_none((routing.count,), case.beside())
    mapped, indices = routing.tensors(case, npu)
    tokens = case.take((routing.tokens, routing.width))[0]
    probs = case.take((routing.tokens, routing.experts), slants.kind)[0] if slants else 0
    sizes = routing.experts, routing.tokens, routing.padded
    name = "moe_token_permute_with_routing_map_grad"
    assert npu.call(name, slopes, slants, indices, mapped, *sizes, tokens, probs) == 0
    expected = numpy.zeros((routing.tokens, routing.width))
    numpy.add.at(expected, routing.token, values[routing.row])
    agree(npu, tokens, expected, 1e3)
    if slants:
        wanted = numpy.zeros((routing.tokens, routing.experts))
        wanted[routing.token, routing.expert] = numbers[routing.row]
        agree(npu, probs, wanted)


@SETTINGS
@given(data=st.data())
def test_gradient_of_unpermute(npu, data):
    case = Case(npu, data.draw)
    routing = Routing(case, data.draw)
    slopes, values = case.take((routing.tokens, routing.width))
    probs, chances = case.take_or_none((routing.tokens, routing.experts), case.beside())
    rows, saved = case.take((routing.count, routing.width)) if probs else (0, None)
    mapped, indices = routing.tensors(case, npu)
    tokens = indices
    if routing.padded:
        indices = npu.tensor(numpy.argsort(routing.sorted, kind="stable").astype("i4"))
        tokens = npu.tensor(numpy.sort(routing.sorted).astype("i4"))
    out = case.take((routing.count, routing.width))[0]
    slants = case.take((routing.tokens, routing.experts), case.beside())[0] if probs else 0
    operands = slopes, indices, tokens, mapped, rows, probs, routing.padded, 0, out, slants
    assert npu.call("moe_token_unpermute_with_routing_map_grad", *operands) == 0
    factors = numpy.ones(routing.count) if chances is None else chances[routing.token, routing.expert]
    expected = numpy.zeros((routing.count, routing.width))
    expected[routing.row] = values[routing.token] * factors[:, None]
    agree(npu, out, expected)
    if probs:
        wanted = numpy.zeros((routing.tokens, routing.experts))
        wanted[routing.token, routing.expert] = (values[routing.token] * saved[routing.row]).sum(-1)
        agree(npu, slants, wanted, 1e4)


def test_a_row_may_be_left_out(npu):
    rows, indices = npu.tensor(numpy.array([[1], [2]], "f4")), npu.tensor(numpy.array([1, -1], "i4"))
    out, more = blank(npu, "f4", (2, 1)), [blank(npu, "i4", (2,)) for _ in "ab"]
    operands = rows, indices, 0, 0, False, 0, out, *more, blank(npu, "f4", (0,))
    assert npu.call("moe_token_unpermute_with_routing_map", *operands) == 0
    assert npu.get(out).tolist() == [[2], [0]]


@pytest.mark.strict
def test_refusals(npu):
    x, chart, out, order = (blank(npu, *each) for each in (("f4", (4, 3)), ("?", (4, 2)), ("f4", (4, 3)), ("i4", (4,))))

    def permute(x=x, chart=chart, probs=0, count=5, out=out, picked=0, order=order):
        return npu.call("moe_token_permute_with_routing_map", x, chart, probs, count, False, out, picked, order)

    assert permute() == 0
    for name in ("x", "chart", "out", "order"):
        refused(permute(**{name: 0}), NULLPTR, "is NULL")
    refused(permute(x=blank(npu, "f8", (4, 3))), INVALID, "tokens has data type 11, float64, expected")
    refused(permute(chart=blank(npu, "i4", (4, 2))), INVALID, "routingMap has data type 3, int32, expected")
    refused(permute(count=9), CONFLICT, "numOutTokens is 9, expected 0 to 8")
    refused(permute(count=8), CONFLICT, "dimension 0 of permuteTokensOut is 4, expected the shape 8 x 3")
    refused(permute(probs=blank(npu, "f4", (4, 2))), NULLPTR, "permuteProbsOutOptional is NULL")

    chances = blank(npu, "f4", (4,))

    def unpermute(x=x, chart=chart, probs=0, restored=0, out=out):
        operands = x, order, chart, probs, False, restored, out, order, order, chances
        return npu.call("moe_token_unpermute_with_routing_map", *operands)

    refused(unpermute(restored=npu.integers([4, 2])), CONFLICT, "restoreShapeOptional[1] is 2, expected 3")
    refused(unpermute(chart=0, probs=blank(npu, "f4", (4, 2))), NULLPTR, "routingMapOptional is NULL")
    three = blank(npu, "f4", (3, 3))
    words = "sortedIndices has 4 elements, expected a multiple of 3, the number of tokens"
    refused(unpermute(chart=blank(npu, "?", (3, 2)), out=three), CONFLICT, words)


@pytest.mark.needs_sim
def test_a_row_out_of_range_fails_the_task():
    with failing() as fresh:
        x, out, indices = (
            blank(fresh, "f4", (2, 3)),
            blank(fresh, "f4", (2, 3)),
            fresh.tensor(numpy.array([0, 2], "i4")),
        )
        more = [blank(fresh, "i4", (2,)) for _ in "ab"]
        operands = x, indices, 0, 0, False, 0, out, *more, blank(fresh, "f4", (0,))
        assert fresh.call("moe_token_unpermute_with_routing_map", *operands) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, "sortedIndices", "is 2, expected -1 to 1")


@pytest.mark.needs_sim
def test_a_map_that_does_not_fit_fails_the_task():
    with failing() as fresh:
        x, out, chart = (
            blank(fresh, "f4", (2, 3)),
            blank(fresh, "f4", (2, 3)),
            fresh.tensor(numpy.ones((2, 2), "?"), "?"),
        )
        name = "moe_token_permute_with_routing_map"
        assert fresh.call(name, x, chart, 0, 2, False, out, 0, blank(fresh, "i4", (2,))) == 0
        words = "routingMap has 4 elements that are set, expected 2, one per row"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
