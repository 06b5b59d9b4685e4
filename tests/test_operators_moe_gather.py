"""Rows that experts have computed, put together per token, against NumPy: final sums, permutations and gradients."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from hypothesis import given
from hypothesis import strategies as st

import acl

CONFLICT = 561002


def gathered(rows, places, factors, bias=None, experts=None):
    """Return the sums of rows per token; a place without row adds zeros."""
    known = (places >= 0) & (places < len(rows))
    found = numpy.where(known[..., None], rows[numpy.where(known, places, 0)] if len(rows) else 0, 0)
    if bias is not None:
        found = found + bias[experts]
    return (factors[..., None] * found).sum(1), (factors[..., None] * numpy.abs(found)).sum(1)


@SETTINGS
@given(data=st.data())
def test_final_sums(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    tokens, width, each, number = (draw(st.integers(1, most)) for most in (5, 70, 3, 4))
    first, mode = draw(st.booleans()), draw(st.integers(0, 3))
    mode = 0 if first else mode
    total = tokens * each
    shape = (number, -(-total // number)) if mode % 2 else (total,)
    expanded, rows = case.take((*shape, width))
    places = case.generator.permutation(total).reshape(tokens, each)
    if mode % 2:
        places = numpy.where(case.generator.random(places.shape) < 0.3, -1, places)
    where = npu.tensor((places.T if mode < 2 else places).reshape(-1).astype("i4"))
    experts = case.generator.integers(0, number, (tokens, each)).astype("i4")
    (x1, one), (x2, other) = case.take((tokens, width)), case.take_or_none((tokens, width))
    bias, biases = case.take((number, width)) if first else case.take_or_none((number, width))
    scales, factors = case.take((tokens, each))
    if each == 1 and not first and draw(st.booleans()):
        scales, factors = 0, numpy.ones((tokens, 1))
    out, _ = case.take((tokens, width))
    index = npu.tensor(experts)
    if first:
        ret = npu.call("moe_finalize_routing", expanded, x1, x2, bias, scales, where, index, out)
    else:
        ret = npu.call("moe_finalize_routing_v2", expanded, where, x1, x2, bias, scales, index, mode, out)
    assert ret == 0
    expected, size = gathered(rows.reshape(-1, width), places, factors, biases, experts)
    added = one + (0 if other is None else other)
    near(npu.get(out), expected + added, case.kind, 1e-12 * (numpy.abs(size) + numpy.abs(added) + 1) * 100)


@SETTINGS
@given(data=st.data())
def test_permutation_and_its_gradient(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    tokens, width, each = (draw(st.integers(1, most)) for most in (6, 70, 3))
    total = tokens * each
    number = draw(st.integers(-total // 2, total + 2))
    kept = min(number, total) if number > 0 else total + number
    kind = draw(st.sampled_from([case.kind, "i1"]))
    x, values = case.take((tokens, width), kind)
    experts = case.generator.integers(0, 4, (tokens, each)).astype(draw(st.sampled_from(["i4", "i8"])))
    out, where = case.take((kept, width), kind)[0], case.take((total,), "i4")[0]
    assert npu.call("moe_token_permute", x, npu.tensor(experts), number, False, out, where) == 0
    order = numpy.argsort(experts.reshape(-1), kind="stable")
    places = numpy.argsort(order, kind="stable")
    assert numpy.array_equal(npu.get(where), places)
    expected = values[order[:kept] // each]
    if kind == "i1":
        assert numpy.array_equal(npu.get(out), expected)
    else:
        near(npu.get(out), expected, kind, 0)
    slope, slopes = case.take((kept, width))
    result, _ = case.take((tokens, width))
    assert npu.call("moe_token_permute_grad", slope, npu.tensor(places.astype("i4")), each, False, result) == 0
    sums, size = gathered(slopes, places.reshape(tokens, each), numpy.ones((tokens, each)))
    near(npu.get(result), sums, case.kind, 1e-10 * size)


@SETTINGS
@given(data=st.data())
def test_inverse_permutation_and_its_gradient(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    tokens, width, each = (draw(st.integers(1, most)) for most in (6, 70, 3))
    total = tokens * each
    x, values = case.take((total, width))
    places = case.generator.permutation(total).reshape(tokens, each)
    where = npu.tensor(places.reshape(-1).astype("i4"))
    weight, weights = case.take((tokens, each), case.beside())
    if each == 1 and draw(st.booleans()):
        weight, weights = 0, numpy.ones((tokens, 1))
    out, _ = case.take((tokens, width))
    assert npu.call("moe_token_unpermute", x, where, weight, False, 0, out) == 0
    expected, size = gathered(values, places, weights)
    near(npu.get(out), expected, case.kind, 1e-10 * numpy.abs(size) + 1e-10)
    slope, slopes = case.take((tokens, width))
    rows, _ = case.take((total, width))
    sums, _ = case.take((tokens, each), weight.kind if weight else case.kind)
    assert npu.call("moe_token_unpermute_grad", x, slope, where, weight, False, 0, rows, sums) == 0
    expected = numpy.empty((total, width))
    expected[places] = slopes[:, None] * weights[..., None]
    near(npu.get(rows), expected, case.kind, 0)
    if weight:
        terms = slopes[:, None] * values[places]
        near(npu.get(sums), terms.sum(-1), weight.kind, 1e-10 * numpy.abs(terms).sum(-1))


@SETTINGS
@given(data=st.data())
def test_gradient_of_routing(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    tokens, width, each, number = (draw(st.integers(1, most)) for most in (5, 70, 3, 4))
    total, drops = tokens * each, draw(st.integers(0, 1))
    active = 0 if drops else draw(st.integers(0, total))
    shape = (number, -(-total // number), width) if drops else (active or total, width)
    slope, slopes = case.take(shape)
    places = case.generator.permutation(total).reshape(tokens, each)
    if drops:
        places = numpy.where(case.generator.random(places.shape) < 0.3, -1, places)
    where = npu.tensor(places.reshape(-1).astype("i4"))
    out, _ = case.take((tokens, width))
    assert npu.call("moe_init_routing_v2_grad", slope, where, each, drops, active, out) == 0
    expected, size = gathered(slopes.reshape(-1, width), places, numpy.ones(places.shape))
    near(npu.get(out), expected, case.kind, 1e-10 * size)


@pytest.mark.strict
def test_refusals(npu):
    rows, places, x = blank(npu, "f4", (6, 4)), blank(npu, "i4", (6,)), blank(npu, "f4", (3, 4))
    scales, bias, experts = blank(npu, "f4", (3, 2)), blank(npu, "f4", (5, 4)), blank(npu, "i4", (3, 2))

    def final(rows=rows, places=places, x1=x, x2=0, bias=bias, scales=scales, experts=experts, mode=0, out=None):
        result = blank(npu, "f4", (3, 4)) if out is None else out
        return npu.call("moe_finalize_routing_v2", rows, places, x1, x2, bias, scales, experts, mode, result)

    assert final() == 0
    refused(final(rows=0), NULLPTR, "expandedX is NULL")
    refused(final(places=rows), INVALID, "expandedRowIdx has data type 0, float32, expected int32")
    refused(final(bias=blank(npu, "f2", (5, 4))), INVALID, "bias", "float16, expected float32, that of expandedX")
    refused(final(mode=4), CONFLICT, "dropPadMode is 4, expected 0 to 3")
    refused(final(mode=1), CONFLICT, "expandedX has 2 dimensions, expected 3")
    refused(final(scales=0), CONFLICT, "dimension 0 of expandedRowIdx is 6, expected the shape 3")
    refused(final(x1=0, x2=x), CONFLICT, "x2", "is NULL, expected both or only the second one")
    refused(final(experts=0), CONFLICT, "bias", "is NULL, expected both")
    refused(
        final(bias=rows, rows=blank(npu, "f4", (6, 3))), CONFLICT, "the last dimension of expandedX is 3, expected 4"
    )
    ret = npu.call("moe_token_permute", x, experts, 0, True, rows, places)
    refused(ret, CONFLICT, "paddedMode is 1, expected 0 to 0")
    refused(npu.call("moe_token_permute", x, experts, 0, False, x, places), CONFLICT, "does not have 6 rows")
    refused(npu.call("moe_token_permute_grad", rows, places, 0, False, x), CONFLICT, "numTopk is 0, expected 1 to")
    refused(npu.call("moe_token_permute_grad", rows, places, 3, False, x), CONFLICT, "expected the shape 9")
    ret = npu.call("moe_token_unpermute", rows, places, blank(npu, "f4", (2, 2)), False, 0, x)
    refused(ret, CONFLICT, "dimension 0 of probs", "expected the shape 3 x any size")
    ret = npu.call("moe_token_unpermute_grad", rows, x, places, scales, False, 0, rows, x)
    refused(ret, CONFLICT, "dimension 1 of probsGradOut is 4, expected the shape 3 x 2")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("place", "expert", "words"), [(7, 0, "of expandedRowIdx is 7, expected 0 to 5"), (0, 9, "is 9")]
)
def test_numbers_out_of_range_fail_the_task(place, expert, words):
    with failing() as fresh:
        places, experts = numpy.array([0, 1, 2, 3, 4, place], "i4"), numpy.full((3, 2), expert, "i4")
        x, out, bias = (blank(fresh, "f4", shape) for shape in ((6, 4), (3, 4), (5, 4)))
        operands = x, fresh.tensor(places), 0, 0, bias, blank(fresh, "f4", (3, 2)), fresh.tensor(experts), 0, out
        assert fresh.call("moe_finalize_routing_v2", *operands) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
