"""RingAttentionUpdate against NumPy in double: two results on different keys become that on all keys."""

import numpy
import pytest
from helpers.attention import Case, agree, from_heads, mix, shape_of, soften
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, exact, stored
from hypothesis import given, settings
from hypothesis import strategies as st

FEW = settings(SETTINGS, max_examples=20)


@FEW
@given(data=st.data())
def test_results_are_joined(npu, data):
    case = Case(npu, data.draw, ["f4", "f2", "b2"])
    layout = case.pick("SBH", "TND")
    batches, heads, rows, columns = case.pick(1, 2) if layout == "SBH" else 1, case.pick(1, 3), case.pick(1, 5), 64
    shape = shape_of(layout, batches, heads, rows, columns)
    stats = [batches, heads, rows, 8] if layout == "SBH" else [rows, heads, 8]
    query, key, value = (case.generator.normal(0, 1, (batches, heads, size, columns)) for size in (rows, 9, 9))
    whole = soften(query, key, 0.25)
    given_too = []
    for part in (slice(0, 4), slice(4, 9)):
        soft = soften(query, key[..., part, :], 0.25)
        arrays = [from_heads(mix(soft.weights, value[..., part, :])[0], layout)]
        for numbers in (soft.most, soft.total):
            copies = numpy.repeat(numbers[..., None], 8, -1)
            arrays.append(copies if layout == "SBH" else copies[0].transpose(1, 0, 2))
        given_too += [put(case, values, kind) for values, kind in zip(arrays, (case.kind, "f4", "f4"))]
    outs = [case.take(shape)[0], case.take(stats, "f4")[0], case.take(stats, "f4")[0]]
    tensors = [tensor for tensor, _ in given_too]
    assert npu.call("ring_attention_update", *tensors, 0, layout, *outs) == 0
    # the operands were rounded to their type, and so is what is expected of them
    (one, m, s), (two, n, t) = ([values for _, values in given_too[place : place + 3]] for place in (0, 3))
    top = numpy.maximum(m, n)
    left, right = s * numpy.exp(m - top), t * numpy.exp(n - top)
    shares = [shared(each / (left + right), layout, columns) for each in (left, right)]
    size = numpy.abs(one * shares[0]) + numpy.abs(two * shares[1])
    agree(npu, outs[0], one * shares[0] + two * shares[1], size, 1e-6)
    agree(npu, outs[1], top, numpy.abs(top) + 1, 1e-6)
    agree(npu, outs[2], left + right, left + right, 1e-6)
    expected = mix(whole.weights, value)[0]
    near_enough = {"f4": 1e-5, "f2": 1e-2, "b2": 1e-1}[case.kind]
    assert numpy.allclose(one * shares[0] + two * shares[1], from_heads(expected, layout), atol=near_enough)


def put(case, values, kind):
    """Return a tensor with these values and any strides, and the values rounded to the type."""
    base, view = any_view(case.draw, case.generator, list(values.shape), kind)
    view[...] = stored(values, kind)
    return case.npu.view(base, view, kind), exact(view, kind)


def shared(shares, layout, columns):
    """Return the shares of rows, one per number of the result."""
    if layout == "TND":
        return shares[..., :1]
    return from_heads(numpy.repeat(shares[..., :1], columns, -1), layout)


@pytest.mark.parametrize("layout", ["SBH", "TND"])
def test_queries_without_keys(npu, layout):
    """Two maxima of -inf: no key in either call. One such maximum: the other result stays."""
    inf, result, stats = numpy.inf, (3, 1, 64), (1, 1, 3, 8) if layout == "SBH" else (3, 1, 8)

    def put_rows(*values):
        return npu.tensor(numpy.repeat(numpy.array(values, "f4"), 8).reshape(stats))

    given_too = []
    for value, most, sums in ((2, (-inf, -inf, 1), (0, 0, 4)), (3, (-inf, 1, -inf), (0, 4, 0))):
        given_too += [npu.tensor(numpy.full(result, value, "f4")), put_rows(*most), put_rows(*sums)]
    outs = [blank(npu, "f4", shape) for shape in (result, stats, stats)]
    assert npu.call("ring_attention_update", *given_too, 0, layout, *outs) == 0
    expected = (0, 3, 2), (-inf, 1, 1), (0, 4, 4)
    for out, values in zip(outs, expected):
        assert npu.get(out).reshape(3, -1).tolist() == [[value] * (out.view.size // 3) for value in values]


@pytest.mark.strict
def test_refusals(npu):
    result, stats = blank(npu, "f4", (4, 2, 6)), blank(npu, "f4", (2, 3, 4, 8))
    outs = [blank(npu, "f4", (4, 2, 6)), *(blank(npu, "f4", (2, 3, 4, 8)) for _ in "ms")]
    fits = [result, stats, stats, result, stats, stats, 0, "SBH", *outs]

    def call(place, value):
        return npu.call("ring_attention_update", *fits[:place], value, *fits[place + 1 :])

    assert call(7, "SBH") == 0
    for place in (0, 1, 2, 3, 4, 5, 8, 9, 10):
        refused(call(place, 0), NULLPTR, "is NULL")
    refused(call(7, "BSH"), INVALID, 'is "BSH", expected SBH or TND')
    refused(call(3, blank(npu, "f2", (4, 2, 6))), INVALID, "curAttnOut has data type 1, float16, expected float32")
    refused(call(3, blank(npu, "f4", (4, 2, 3))), INVALID, "curAttnOut has shape [4, 2, 3], expected [4, 2, 6]")
    refused(call(4, blank(npu, "f4", (2, 3, 4, 1))), INVALID, "curSoftmaxMax has shape [2, 3, 4, 1], expected [2, 3")
    refused(
        call(5, blank(npu, "f2", (2, 3, 4, 8))), INVALID, "curSoftmaxSum has data type 1, float16, expected float32"
    )
