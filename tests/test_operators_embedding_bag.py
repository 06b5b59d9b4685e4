"""EmbeddingBag against NumPy: modes, weights of samples, padding, refusals, indices and offsets out of range."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, INDICES, any_indices, failing
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from hypothesis import given
from hypothesis import strategies as st

import acl

SUM, MEAN, MAX = 0, 1, 2


def bags(weight, index, ends, mode, samples, padding):
    """Return the results of the bags that end there, the bag of each index, the sizes, and where the greatest are."""
    out = numpy.zeros((len(ends), weight.shape[1]))
    numbers, sizes, places = numpy.zeros(len(index)), numpy.zeros(len(ends)), numpy.zeros(out.shape)
    start = 0
    for bag, end in enumerate(ends):
        numbers[start:end] = bag
        taken = [place for place in range(start, end) if index[place] != padding]
        sizes[bag], start = len(taken), end
        if not taken:
            continue
        rows = weight[index[taken]] * samples[taken, None]
        out[bag] = {SUM: rows.sum, MEAN: rows.mean, MAX: rows.max}[mode](0)
        places[bag] = index[taken][rows.argmax(0)]
    return out, numbers, sizes, places


@SETTINGS
@given(data=st.data())
def test_bags(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, width, length = draw(st.integers(1, 6)), draw(st.sampled_from([0, 1, 3, 300])), draw(st.integers(0, 9))
    mode, has_last = draw(st.sampled_from([SUM, MEAN, MAX, MAX + 5])), draw(st.booleans())
    weight, table = case.take((count, width))
    base, index, kind = any_indices(draw, case.generator, [length], count)
    cuts = sorted(case.generator.integers(0, length + 1, draw(st.integers(0, 3))).tolist())
    starts = [0, *cuts] if draw(st.booleans()) or has_last else []
    ends = [*starts[1:], length] if starts else []
    offset_kind = draw(st.sampled_from(INDICES))
    given_offsets = numpy.array([*starts, length] if has_last else starts, offset_kind)
    sampled, samples = case.take_or_none((length,)) if mode == SUM else (0, None)
    padding = draw(st.integers(-1, count))
    whole = kind if offset_kind == "i4" else "i8"
    shapes = [(len(ends), width), (length,), (len(ends),), (len(ends), width) if mode >= MAX else (len(ends),)]
    outs = [case.take(shape, each)[0] for shape, each in zip(shapes, (case.kind, whole, whole, whole))]
    operands = npu.view(base, index, kind), npu.tensor(given_offsets), False, mode, False, sampled, has_last, padding
    assert npu.call("embedding_bag", weight, *operands, *outs) == 0
    factors = numpy.ones(length) if samples is None else samples
    expected = bags(table, index.astype("i8"), ends, min(mode, MAX), factors, padding)
    if not ends:
        return
    near(npu.get(outs[0]), expected[0], case.kind, 1e-9)
    assert numpy.array_equal(npu.get(outs[1]), expected[1])
    assert numpy.array_equal(npu.get(outs[2]), expected[2])
    assert numpy.array_equal(npu.get(outs[3]), expected[3] if mode >= MAX else numpy.zeros(len(ends)))


def test_the_bags_of_a_sum_may_be_left_out(npu):
    """PyTorch passes an empty tensor where it does not need them."""
    given = arguments(npu)
    given[0], given[10] = npu.tensor(numpy.array([[1, 2], [3, 4], [5, 6]], "f4")), blank(npu, "i8", (0,))
    assert npu.call("embedding_bag", *given) == 0
    assert npu.get(given[9]).tolist() == [[6, 8], [3, 4]]
    assert npu.get(given[11]).tolist() == [2, 1]
    given[4] = MEAN
    refused(npu.call("embedding_bag", *given), INVALID, "offset2bag has shape [0], expected [3], that of indices")


def arguments(npu):
    """Return the arguments of a call that is accepted."""
    index, offsets = npu.tensor(numpy.array([0, 2, 1])), npu.tensor(numpy.array([0, 2]))
    outs = blank(npu, "f4", (2, 2)), blank(npu, "i8", (3,)), blank(npu, "i8", (2,)), blank(npu, "i8", (2,))
    return [blank(npu, "f4", (3, 2)), index, offsets, False, SUM, False, 0, False, -1, *outs]


@pytest.mark.strict
def test_refusals(npu):
    fits = arguments(npu)

    def call(place=None, value=None, mode=SUM):
        changed = [value if k == place else x for k, x in enumerate(fits)]
        changed[4] = mode
        return npu.call("embedding_bag", *changed)

    assert call() == 0
    for place in (0, 1, 2, 9, 10, 11, 12):
        refused(call(place, 0), NULLPTR, "is NULL")
    refused(call(0, blank(npu, "f8", (3, 2))), INVALID, "weight has data type 11, float64, expected")
    refused(call(1, blank(npu, "i2", (3,))), INVALID, "indices has data type 6, int16, expected int32 or int64")
    refused(call(1, blank(npu, "i8", (3, 1))), INVALID, "indices has 2 dimensions, expected 1")
    refused(call(3, True), INVALID, "scaleGradByFreq is true, expected false")
    refused(call(5, True), INVALID, "sparse is true, expected false")
    refused(call(6, blank(npu, "f2", (3,))), INVALID, "perSampleWeights", "float16, expected float32, that of weight")
    refused(call(6, blank(npu, "f4", (2,))), INVALID, "perSampleWeights", "expected [3], that of indices")
    refused(call(6, blank(npu, "f4", (3,)), mode=MEAN), INVALID, "mode is 1, expected 0 (sum) with perSampleWeights")
    refused(call(7, True), INVALID, "output has shape [2, 2], expected [1, 2], one row per bag")
    refused(call(11, blank(npu, "i4", (2,))), INVALID, "bagSize has data type 3, int32, expected int64")
    refused(call(mode=MAX), INVALID, "maxIndices has shape [2], expected [2, 2], that of this mode")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("place", "values", "words"),
    [
        (1, [0, 3, 1], "indices[1] is 3, expected 0 to 2 for dimension 0 of weight"),
        (1, [0, -1, 1], "indices[1] is -1, expected 0 to 2"),
        (2, [1, 2], "offsets[0] is 1, expected 0 to 0"),
        (2, [0, 4], "offsets[1] is 4, expected 0 to 3"),
    ],
)
def test_a_number_out_of_range_fails_the_task(place, values, words):
    with failing() as fresh:
        changed = arguments(fresh)
        changed[place] = fresh.tensor(numpy.array(values))
        assert fresh.call("embedding_bag", *changed) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
