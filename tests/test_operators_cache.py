"""Caches of keys and values since CANN 8.5, against NumPy: ScatterPaKvCache, RecurrentGatedDeltaRule."""

import numpy
import pytest
from helpers.attention import Case, ordinary
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, check_written, near
from hypothesis import given, settings
from hypothesis import strategies as st

import acl

FEW = settings(SETTINGS, max_examples=20)


@FEW
@given(data=st.data())
def test_scatter(npu, data):
    case = Case(npu, data.draw, ["f4", "f2", "b2", "i1", "u1", "i2", "i4"])
    draw, generator, kind = case.draw, case.generator, case.kind
    tokens, heads, blocks, size = case.pick(1, 3), case.pick(1, 2), 3, case.pick(1, 4)
    form, width = case.pick("Norm", "split", "deep"), 4
    slots = generator.permutation(blocks * size)[:tokens]
    slots[generator.random(len(slots)) < 0.2] = -1
    arguments, caches = [], []
    for columns in (case.pick(4, 8), case.pick(4, 12)):
        base, rows = any_view(draw, generator, [len(slots), heads, columns], kind)
        parts = columns // width
        shape = {"Norm": [blocks, size, heads, columns], "split": [blocks, heads * parts, size, width],
                 "deep": [blocks, heads, parts, size, width]}[form]  # fmt: skip
        cache_base, cache = any_view(draw, generator, shape, kind)
        expected = cache.copy()
        for row, slot in zip(rows, slots):
            if slot >= 0 and form == "Norm":
                expected[slot // size, slot % size] = row
            elif slot >= 0:
                expected[slot // size, ..., slot % size, :] = row.reshape(expected[0, ..., 0, :].shape)
        arguments.append(npu.view(base, rows, kind))
        caches.append((npu.view(cache_base, cache, kind), expected))
    places = npu.tensor(slots.astype(case.pick("i4", "i8")))
    mode = "Norm" if form == "Norm" else "PA_NZ"
    none = npu.integers([1, 1])
    ret = npu.call("scatter_pa_kv_cache", arguments[0], caches[0][0], places, arguments[1], caches[1][0], 0, 0, 0,
                   mode, "None", none, none)  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    for tensor, expected in caches:
        check_written(npu, tensor, expected)


def scatter(npu, **changed):
    """Call with arguments that fit, except some."""
    fits = {"key": blank(npu, "f2", (2, 3, 8)), "cache": blank(npu, "f2", (4, 5, 3, 8)),
            "slots": blank(npu, "i8", (2,)), "value": blank(npu, "f2", (2, 3, 8)),
            "values": blank(npu, "f2", (4, 5, 3, 8)), "lens": 0, "offsets": 0, "sequences": 0,
            "mode": "Norm", "scatter": "None", "strides": npu.integers([1, 1]),
            "starts": npu.integers([0, 0])}  # fmt: skip
    return npu.call("scatter_pa_kv_cache", *{**fits, **changed}.values())


@pytest.mark.strict
def test_scatter_refuses(npu):
    assert scatter(npu) == 0
    for part, name in (("key", "key"), ("cache", "keyCacheRef"), ("slots", "slotMapping"), ("value", "value")):
        refused(scatter(npu, **{part: 0}), NULLPTR, f"{name} is NULL")
    for changed, words in (
        ({"key": blank(npu, "f8", (2, 3, 8))}, "key has data type 11, float64, expected"),
        ({"cache": blank(npu, "f4", (4, 5, 3, 8))}, "keyCacheRef has data type 0, float32, expected float16"),
        ({"cache": blank(npu, "f2", (4, 5, 2, 8))}, "keyCacheRef has shape [4, 5, 2, 8], expected [4, 5, 3, 8]"),
        ({"slots": blank(npu, "i2", (2,))}, "slotMapping has data type 6, int16, expected int32 or int64"),
        ({"slots": blank(npu, "i8", (3,))}, "dimension 0 of key is 2, expected 3, one token per slot"),
        ({"value": blank(npu, "f4", (2, 3, 8))}, "value has data type 0, float32, expected float16, that of key"),
        ({"mode": "NZ"}, 'is "NZ", expected Norm or PA_NZ'),
        ({"scatter": "Alibi"}, 'is "Alibi", but the simulator supports only None'),
        ({"mode": "PA_NZ"}, "keyCacheRef has shape [4, 5, 3, 8], expected [4, 3, 3, 8]"),
    ):
        refused(scatter(npu, **changed), INVALID, words)


# --- RecurrentGatedDeltaRule


def small(generator, shape, kind):
    return ordinary(generator, shape, kind) if kind != "f4" else generator.uniform(-1, 0, shape).astype("f4")


@FEW
@given(data=st.data())
def test_delta_rule(npu, data):
    case = Case(npu, data.draw, ["b2"])
    group, key_heads, depth, width = case.pick(1, 2), case.pick(1, 2), case.pick(1, 8), case.pick(1, 5)
    heads, lengths = group * key_heads, [case.pick(1, 2, 3) for _ in range(case.pick(1, 2))]
    tokens, blocks = sum(lengths), sum(lengths) + 2
    places = case.generator.permutation(blocks)[:tokens].astype("i4")
    accepted = [case.pick(*range(1, length + 1)) for length in lengths] if case.pick(True, False) else None
    (query, q), (key, k) = (case.take((tokens, key_heads, depth)) for _ in "qk")
    (value, v), (beta, b) = case.take((tokens, heads, width)), case.take((tokens, heads))
    state, old = case.take((blocks, heads, width, depth), case.pick("b2", "f4"))
    decay, g = case.take((tokens, heads), "f4", small) if case.pick(True, False) else (0, numpy.zeros((tokens, heads)))
    decays, gk = case.take((tokens, heads, depth), "f4", small) if case.pick(True, False) else (0, 0.0)
    out = case.take((tokens, heads, width))[0]
    numbers = npu.tensor(numpy.array(accepted or [1] * len(lengths), "i4"))
    ret = npu.call("recurrent_gated_delta_rule", query, key, value, beta, state, npu.tensor(numpy.array(lengths, "i4")),
                   npu.tensor(places), decay, decays, numbers, 0.5, out)  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    k, q = (numpy.repeat(each, group, 1) for each in (k, q))
    new, expected, sizes, first = old.copy(), numpy.zeros((tokens, heads, width)), numpy.zeros_like(old), 0
    terms = numpy.zeros_like(expected)
    for length, count in zip(lengths, accepted or [1] * len(lengths)):
        now = old[places[first + count - 1]].copy()
        size = numpy.abs(now)
        for t in range(first, first + length):
            factor = numpy.exp(g[t][:, None, None] + (gk[t][:, None] if decays else 0))
            now, size = now * factor, size * factor
            step = k[t][:, None] * b[t][:, None, None]
            known = (now * k[t][:, None]).sum(-1, keepdims=True)
            size = size + numpy.abs(step) * (
                numpy.abs(v[t][..., None]) + (size * numpy.abs(k[t][:, None])).sum(-1, keepdims=True)
            )
            now = now + step * (v[t][..., None] - known)
            expected[t] = (now * q[t][:, None]).sum(-1) * 0.5
            terms[t] = (size * numpy.abs(q[t][:, None])).sum(-1) * 0.5
            new[places[t]], sizes[places[t]] = now, size
        first += length
    near(npu.get(out), expected, "b2", 1e-5 * terms)
    near(npu.get(state), new, state.kind, 1e-5 * sizes)


@pytest.mark.strict
def test_delta_rule_refuses(npu):
    shapes = ((3, 1, 4), (3, 1, 4), (3, 2, 5), (3, 2), (6, 2, 5, 4))
    fits = [*(blank(npu, "b2", shape) for shape in shapes), blank(npu, "i4", (2,)), blank(npu, "i4", (3,)), 0, 0,
            npu.tensor(numpy.ones(2, "i4")), 1.0, blank(npu, "b2", (3, 2, 5))]  # fmt: skip

    def call(place=10, value=1.0):
        return npu.call("recurrent_gated_delta_rule", *fits[:place], value, *fits[place + 1 :])

    assert call() == 0
    names = "query key value beta stateRef actualSeqLengths ssmStateIndices".split()
    for place, name in enumerate(names):
        refused(call(place, 0), NULLPTR, f"{name} is NULL")
        if place != 5:
            refused(call(place, blank(npu, "f2", fits[place].view.shape)), INVALID, f"{name} has data type 1, float16")
    refused(call(3, blank(npu, "b2", (3, 1))), INVALID, "beta has shape [3, 1], expected [3, 2]")
    refused(call(2, blank(npu, "b2", (3, 2, 6))), INVALID, "stateRef has shape [6, 2, 5, 4], expected [6, 2, 6, 4]")
    refused(call(11, blank(npu, "b2", (3, 2, 4))), INVALID, "out has shape [3, 2, 4], expected [3, 2, 5]")


# --- Tasks that fail: these tests reset the simulator, which ends the device of the other tests


@pytest.mark.needs_sim
def test_a_state_out_of_range_fails_the_task():
    with failing() as fresh:
        shapes = ((2, 1, 4), (2, 1, 4), (2, 1, 4), (2, 1), (3, 1, 4, 4))
        tensors = [blank(fresh, "b2", shape) for shape in shapes]
        numbers = [fresh.tensor(numpy.array(each, "i4")) for each in ([2], [1, 3], [1])]
        out = blank(fresh, "b2", (2, 1, 4))
        arguments = *tensors, *numbers[:2], 0, 0, numbers[2], 1.0, out
        assert fresh.call("recurrent_gated_delta_rule", *arguments) == 0
        words = "ssmStateIndices[1] is 3, expected 0 to 2"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)


@pytest.mark.needs_sim
def test_a_slot_out_of_range_fails_the_task():
    with failing() as fresh:
        assert scatter(fresh, slots=fresh.tensor(numpy.array([19, 20]))) == 0
        words = "slotMapping[1] is 20, expected less than 4 blocks of 5 rows in keyCacheRef"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
