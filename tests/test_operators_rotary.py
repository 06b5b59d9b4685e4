"""Rotary positions against NumPy in double, and AdvanceStep: values, strides, refusals, numbers out of range."""

import numpy
import pytest
from helpers.attention import Case
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from helpers.rotary import rotate, same
from hypothesis import given, settings
from hypothesis import strategies as st

import acl

FEW = settings(SETTINGS, max_examples=20)
SINGLE = ["f4", "f2", "b2"]
SHAPE = 561002


@FEW
@given(data=st.data())
def test_apply(npu, data):
    case = Case(npu, data.draw, SINGLE)
    batches, rows = case.pick(1, 2), case.pick(1, 3)
    query, q = case.take((batches, rows, case.pick(1, 3), 128))
    key, k = case.take((batches, rows, case.pick(1, 2), 128))
    (cosines, c), (sines, s) = (case.take((batches, rows, 1, 128)) for _ in "cs")
    assert npu.call("apply_rotary_pos_emb", query, key, cosines, sines, 1) == 0
    same(npu, query, *rotate(q, c, s, 0))
    same(npu, key, *rotate(k, c, s, 0))


@pytest.mark.strict
def test_apply_refuses(npu):
    shape, one = (2, 3, 2, 128), (2, 3, 1, 128)
    fits = [blank(npu, "f4", each) for each in (shape, shape, one, one)]

    def call(place=0, tensor=None, layout=1):
        given_too = [*fits[:place], tensor, *fits[place + 1 :]] if tensor is not None else fits
        return npu.call("apply_rotary_pos_emb", *given_too, layout)

    assert call() == 0
    for place, name in enumerate(("queryRef", "keyRef", "cos", "sin")):
        refused(call(place, 0), NULLPTR, f"{name} is NULL")
        refused(call(place, blank(npu, "i4", shape)), INVALID, f"{name} has data type 3, int32, expected float32")
        refused(call(place, blank(npu, "f4", (2, 0, 2, 128))), INVALID, f"{name} has no elements, expected 1 or more")
        refused(call(place, blank(npu, "f4", (3, 128))), INVALID, f"{name} has 2 dimensions, expected 4")
    refused(call(2, blank(npu, "f4", shape)), INVALID, "cos has shape [2, 3, 2, 128], expected [2, 3, 1, 128]")
    refused(call(1, blank(npu, "f4", (2, 4, 2, 128))), INVALID, "keyRef has shape [2, 4, 2, 128], expected [2, 3, 2")
    refused(call(layout=2), INVALID, "layout is 2, expected 1")
    small = [blank(npu, "f4", (1, 1, 1, 64)) for _ in range(4)]
    refused(npu.call("apply_rotary_pos_emb", *small, 1), INVALID, "dimension 3 of queryRef is 64, expected 128")


@FEW
@given(data=st.data())
def test_interleaved_elements(npu, data):
    case = Case(npu, data.draw, SINGLE)
    batches, heads, rows = case.pick(0, 1, 2), case.pick(1, 3), case.pick(1, 4)
    x, values = case.take((batches, heads, rows, 64))
    places = case.pick(1, rows)
    (cosines, c), (sines, s) = (case.take((batches, 1, places, 64)) for _ in "cs")
    out = case.take((batches, heads, rows, 64))[0]
    assert npu.call("interleave_rope", x, cosines, sines, out) == 0
    same(npu, out, *rotate(values, c, s, 3))


@pytest.mark.strict
def test_interleaved_elements_refuse(npu):
    x, cosines, sines, out = (blank(npu, "f4", (2, heads, 4, 64)) for heads in (3, 1, 1, 3))

    def call(x=x, cosines=cosines, sines=sines, out=out):
        return npu.call("interleave_rope", x, cosines, sines, out)

    assert call() == 0
    for name in ("x", "cosines", "sines", "out"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(x=blank(npu, "f8", (2, 3, 4, 64))), INVALID, "x has data type 11, float64, expected")
    refused(call(sines=blank(npu, "f2", (2, 1, 4, 64))), INVALID, "sin has data type 1, float16, expected float32")
    refused(call(x=blank(npu, "f4", (2, 3, 4, 32))), INVALID, "x has shape [2, 3, 4, 32], expected [2, 3, 4, 64]")
    refused(call(cosines=x), INVALID, "cos has shape [2, 3, 4, 64], expected [2, 1, 4, 64], that of x with one head")
    refused(call(cosines=blank(npu, "f4", (2, 1, 2, 64))), INVALID, "cos has shape [2, 1, 2, 64]")
    refused(call(sines=blank(npu, "f4", (2, 1, 1, 64))), INVALID, "sin has shape [2, 1, 1, 64], expected [2, 1, 4, 64]")
    refused(call(out=blank(npu, "f4", (2, 3, 4, 32))), INVALID, "out has shape [2, 3, 4, 32], expected [2, 3, 4, 64]")


@FEW
@given(data=st.data())
def test_rope_with_a_cache(npu, data):
    case = Case(npu, data.draw, SINGLE)
    tokens, length, is_neox = case.pick(0, 1, 5), case.pick(1, 9), case.pick(True, False)
    size, columns = case.pick((8, 8), (10, 8), (300, 16))
    heads = case.pick(1, 3), case.pick(1, 2)
    sections = case.pick([0, 0, 0], [1, columns // 2 - 1, 0], [2, 1, columns // 2 - 3])
    by_section = sections != [0, 0, 0]
    shape = (3, tokens) if by_section else (tokens,)
    positions, places = case.take(shape, "i8", lambda generator, each, kind: generator.integers(0, length, each))
    cache, numbers = case.take((length, columns))
    ins = [case.take((tokens, count * size)) for count in heads]
    outs = [case.take((tokens, count * size))[0] for count in heads]
    arguments = positions, ins[0][0], ins[1][0], cache, npu.integers(sections), size, is_neox
    if case.pick(False, True):
        ret = npu.call("rope_with_sin_cos_cache_v2", *arguments, 0, *outs)
    else:
        ret = npu.call("rope_with_sin_cos_cache", *arguments, *outs)
    assert ret == 0, acl.get_recent_err_msg()
    half = columns // 2
    line = numpy.repeat(numpy.arange(3), sections) if by_section else numpy.zeros(half, int)
    rows = places.reshape(3 if by_section else 1, tokens)[line].T  # the row of the cache for each token and column
    found = [numbers[rows, numpy.arange(half) + first] for first in (0, half)]
    cosines, sines = (
        (numpy.concatenate([each, each], -1) if is_neox else numpy.repeat(each, 2, -1))[:, None] for each in found
    )
    for (_, values), out, count in zip(ins, outs, heads):
        values = values.reshape(tokens, count, size)
        mine, terms = rotate(values[..., :columns], cosines, sines, 0 if is_neox else 1)
        expected, terms = (
            numpy.concatenate([each, values[..., columns:]], -1).reshape(tokens, count * size) for each in (mine, terms)
        )
        same(npu, out, expected, numpy.abs(terms))


@pytest.mark.strict
def test_rope_with_a_cache_refuses(npu):
    fits = [blank(npu, "i8", (4,)), *(blank(npu, "f4", (4, 16)) for _ in "qk"), blank(npu, "f4", (9, 8)),
            npu.integers([0, 0, 0]), 8, True, *(blank(npu, "f4", (4, 16)) for _ in "qk")]  # fmt: skip

    def call(**changed):
        return npu.call("rope_with_sin_cos_cache", *[changed.get(f"at{place}", one) for place, one in enumerate(fits)])

    assert call() == 0
    for place, name in ((0, "positions"), (1, "queryIn"), (2, "keyIn"), (3, "cosSinCache"), (7, "queryOut")):
        refused(call(**{f"at{place}": 0}), NULLPTR, f"{name} is NULL")
    refused(call(at0=blank(npu, "f4", (4,))), INVALID, "positions has data type 0, float32, expected int64")
    refused(call(at0=blank(npu, "i8", (3, 4))), INVALID, "positions has 2 dimensions, expected 1")
    refused(call(at2=blank(npu, "f2", (4, 16))), INVALID, "keyIn has data type 1, float16, expected float32")
    refused(call(at1=blank(npu, "f4", (4, 12))), INVALID, "queryIn has shape [4, 12], expected [4, a multiple of 8]")
    refused(call(at3=blank(npu, "f4", (9, 7))), INVALID, "dimension 1 of cosSinCache is 7, expected an even number")
    refused(call(at5=6), INVALID, "dimension 1 of cosSinCache is 8, expected an even number up to headSize, 6")
    refused(call(at7=blank(npu, "f4", (4, 8))), INVALID, "queryOut has shape [4, 8], expected [4, 16], queryIn")
    refused(call(at4=npu.integers([1, 1, 1])), INVALID, "mropeSection has the sum 3, expected 4, half of the columns")
    refused(call(at4=npu.integers([2, 2])), INVALID, "mropeSection has 2 numbers, expected 0 or 3")
    refused(call(at4=npu.integers([5, 0, 0])), INVALID, "mropeSection[0] is 5, expected 0 to 4")
    refused(call(at4=npu.integers([2, 1, 1])), INVALID, "positions has 1 dimensions, expected 3 lines")
    ret = npu.call("rope_with_sin_cos_cache_v2", *fits[:7], 1, *fits[7:])
    refused(ret, INVALID, "cacheMode is 1, expected 0")


# --- AdvanceStep


def step(npu, sequences, queries, size, lengths, tables):
    """Return the arguments of a call."""
    numbers = [numpy.arange(sequences), 100 + numpy.arange(queries)[:, None], numpy.zeros(sequences, "i8"), lengths,
               numpy.full(sequences, 7), tables]  # fmt: skip
    return [*(npu.tensor(numpy.asarray(each, "i8")) for each in numbers), sequences, queries, size]


def test_advance_step(npu):
    generator = numpy.random.default_rng(3)
    for sequences, queries, size in ((2, 1, 4), (7, 5, 16)):
        lengths = generator.integers(0, 3 * size, sequences)
        tables = generator.integers(0, 50, (sequences, 3))
        given_too = step(npu, sequences, queries, size, lengths, tables)
        assert npu.call("advance_step", *given_too) == 0
        tokens, _, positions, after, slots = (npu.get(tensor) for tensor in given_too[:5])
        old, padding = lengths[:queries], [0] * (sequences - queries)
        assert tokens.tolist() == [*range(100, 100 + queries), *padding]
        assert positions.tolist() == [*old, *padding]
        assert after.tolist() == [*(old + 1), *lengths[queries:]]
        found = tables[numpy.arange(queries), old // size] * size + old % size
        assert slots.tolist() == [*found, *[-1] * (sequences - queries)]


def test_the_largest_position_wraps(npu):
    given_too = step(npu, 2, 1, 2**62, [2**63 - 1, 0], numpy.ones((2, 2)))
    assert npu.call("advance_step", *given_too) == 0
    positions, after, slots = (npu.get(tensor).tolist() for tensor in given_too[2:5])
    assert (positions, after, slots) == ([2**63 - 1, 0], [-(2**63), 0], [2**63 - 1, -1])


@pytest.mark.strict
def test_advance_step_refuses(npu):
    fits = step(npu, 3, 2, 4, [0, 1, 2], numpy.zeros((3, 2)))
    names = ("inputTokens", "sampledTokenIds", "inputPositions", "seqLens", "slotMapping", "blockTables")

    def call(**changed):
        return npu.call("advance_step", *[changed.get(f"at{place}", one) for place, one in enumerate(fits)])

    assert call() == 0
    for place, name in enumerate(names):
        refused(call(**{f"at{place}": 0}), NULLPTR, f"{name} is NULL")
        wrong = blank(npu, "i4", (3, 2))
        refused(call(**{f"at{place}": wrong}), INVALID, f"{name} has data type 3, int32, expected int64")
        refused(call(**{f"at{place}": blank(npu, "i8", (5, 1))}), SHAPE, f"dimension 0 of {name} is 5, expected")
    refused(call(at7=3), SHAPE, "numQueries is 3 and numSeqs 3, expected 1 query or more, and more sequences")
    refused(call(at7=0), SHAPE, "numQueries is 0")
    refused(call(at8=0), SHAPE, "blockSize is 0, expected 1 or more")
    refused(call(at5=blank(npu, "i8", (3,))), SHAPE, "blockTables has 1 dimensions and 3 elements, expected 2")


# --- Tasks that fail: these tests reset the simulator, which ends the device of the other tests


@pytest.mark.needs_sim
def test_a_sequence_without_a_block_fails_the_task():
    with failing() as fresh:
        assert fresh.call("advance_step", *step(fresh, 3, 2, 4, [0, 8, 2], numpy.zeros((3, 2)))) == 0
        words = "seqLens[1] is 8, expected 0 or more, and less than 2 blocks of 4"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)


@pytest.mark.needs_sim
def test_a_position_out_of_range_fails_the_task():
    with failing() as fresh:
        positions = fresh.tensor(numpy.array([0, 9]))
        tensors = [blank(fresh, "f4", (2, 8)) for _ in range(4)]
        arguments = positions, *tensors[:2], blank(fresh, "f4", (9, 8)), fresh.integers([0, 0, 0]), 8, True
        assert fresh.call("rope_with_sin_cos_cache", *arguments, *tensors[2:]) == 0
        words = "positions[1] is 9, expected 0 to 8 for dimension 0 of cosSinCache"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
