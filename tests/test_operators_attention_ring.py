"""RingAttentionUpdate against NumPy in double: two results on different keys become that on all keys."""

import numpy
import pytest
from helpers.attention import Case, agree, from_heads, mix, shape_of, soften, to_heads
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, exact, stored
from hypothesis import given, settings
from hypothesis import strategies as st

import acl

FEW = settings(SETTINGS, max_examples=20)


def layouts(draw):
    """Return an operator, the layouts that it is given, and whether statistics have the order of the results."""
    return draw(
        st.sampled_from(
            [("", ["SBH"], False), ("", ["TND"], False), ("_v2", ["SBH", ""], False), ("_v2", ["TND", "SBH"], False),
             ("_v2", ["TND", ""], False), ("_v2", ["TND", "TND"], True)]
        )
    )  # fmt: skip


def ordered(numbers, ends, like_results):
    """Return statistics of heads in the order of the operator: each batch of TND has one head after another."""
    copies = numpy.repeat(numbers[..., None], 8, -1)
    if ends is None:
        return copies
    if like_results:
        return copies[0].transpose(1, 0, 2)
    batches = [copies[0][:, start:end].reshape(-1) for start, end in zip(ends, ends[1:])]
    return numpy.concatenate(batches).reshape(-1, len(numbers[0]), 8)


@FEW
@given(data=st.data())
def test_results_are_joined(npu, data):
    case = Case(npu, data.draw, ["f4", "f2", "b2"])
    version, texts, like_results = layouts(data.draw)
    layout, heads, columns = texts[0], case.pick(1, 3), 64
    ends = [0, *numpy.cumsum([case.pick(0, 1, 5), case.pick(1, 3)])] if layout == "TND" else None
    batches, rows = (case.pick(1, 2), case.pick(1, 5)) if ends is None else (1, int(ends[-1]))
    query, key, value = (case.generator.normal(0, 1, (batches, heads, size, columns)) for size in (rows, 9, 9))
    whole = soften(query, key, 0.25)
    given_too, numbers = [], []
    for part in (slice(0, 4), slice(4, 9)):
        soft = soften(query, key[..., part, :], 0.25)
        most, total = (each.astype("f4") for each in (soft.most, soft.total))
        out, rounded = put(case, from_heads(mix(soft.weights, value[..., part, :])[0], layout), case.kind)
        given_too += [out, *(put(case, ordered(each, ends, like_results), "f4")[0] for each in (most, total))]
        numbers.append((to_heads(rounded, layout, heads), most.astype("f8"), total.astype("f8")))
    stats = list(ordered(whole.most, ends, like_results).shape)
    outs = [case.take(shape_of(layout, batches, heads, rows, columns))[0], *(case.take(stats, "f4")[0] for _ in "ms")]
    lengths = 0 if ends is None else npu.tensor(numpy.array(ends, "i8"))
    assert npu.call(f"ring_attention_update{version}", *given_too, lengths, *texts, *outs) == 0
    # the operands were rounded to their type, and so is what is expected of them
    (one, m, s), (two, n, t) = numbers
    top = numpy.maximum(m, n)
    left, right = s * numpy.exp(m - top), t * numpy.exp(n - top)
    kept, share = ((each / (left + right))[..., None] for each in (left, right))
    size = numpy.abs(one * kept) + numpy.abs(two * share)
    agree(npu, outs[0], from_heads(one * kept + two * share, layout), from_heads(size, layout), 1e-6)
    for out, each in zip(outs[1:], (top, left + right)):
        agree(npu, out, ordered(each, ends, like_results), ordered(numpy.abs(each) + 1, ends, like_results), 1e-6)
    near_enough = {"f4": 1e-5, "f2": 1e-2, "b2": 1e-1}[case.kind]
    assert numpy.allclose(one * kept + two * share, mix(whole.weights, value)[0], atol=near_enough)


def put(case, values, kind):
    """Return a tensor with these values and any strides, and the values rounded to the type."""
    base, view = any_view(case.draw, case.generator, list(values.shape), kind)
    view[...] = stored(values, kind)
    return case.npu.view(base, view, kind), exact(view, kind)


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
    lengths = npu.tensor(numpy.array([0, 3], "i8"))
    assert npu.call("ring_attention_update", *given_too, lengths, layout, *outs) == 0
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
    packed, stats, lengths = blank(npu, "f4", (4, 2, 64)), blank(npu, "f4", (4, 2, 8)), blank(npu, "i8", (2,))
    fits = [packed, stats, stats, packed, stats, stats, lengths, "TND", "TND", packed, stats, stats]

    def call_packed(place, value):
        return npu.call("ring_attention_update_v2", *fits[:place], value, *fits[place + 1 :])

    refused(call_packed(6, 0), INVALID, "actualSeqQlenOptional is NULL, expected the ends of the batches of TND")
    refused(call_packed(6, blank(npu, "i4", (2,))), INVALID, "actualSeqQlenOptional has data type 3, int32, expected")
    refused(call_packed(6, blank(npu, "i8", (2, 1))), INVALID, "actualSeqQlenOptional has 2 dimensions, expected 1")
    refused(call_packed(6, blank(npu, "i8", (1,))), INVALID, "actualSeqQlenOptional has 1 elements, expected 2 or more")
    refused(call_packed(8, "BSH"), 561002, 'inputSoftmaxLayoutOptional is "BSH", expected "", SBH or TND')


@pytest.mark.parametrize("ends, said", [([1, 3], "[0] is 1, expected 0 to 0"), ([0, 4, 3], "[1] is 4, expected 0 to 3"),
                                        ([0, 2, 1, 3], "[2] is 1, expected 2 to 3"),
                                        ([0, 2], "[1] is 2, expected 3 to 3")])  # fmt: skip
@pytest.mark.needs_sim
def test_ends_that_do_not_fit(ends, said):
    with failing() as fresh:
        results = [blank(fresh, "f4", (3, 2, 64)) for _ in "abc"]
        stats = [blank(fresh, "f4", (3, 2, 8)) for _ in "abcdef"]
        lengths = fresh.tensor(numpy.array(ends, "i8"))
        given_too = results[0], *stats[:2], results[1], *stats[2:4], lengths, "TND", results[2], *stats[4:]
        assert fresh.call("ring_attention_update", *given_too) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, f"actualSeqQlenOptional{said}")
