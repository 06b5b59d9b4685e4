"""Attention of inference against NumPy in double: layouts, masks, lengths, blocks, prefixes, int8 caches, refusals."""

import numpy
import pytest
from helpers.attention import (
    FAR,
    Case,
    agree,
    band,
    call,
    factor_of,
    from_heads,
    lse_of,
    mix,
    parameters,
    shape_of,
    soften,
    to_heads,
)
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, stored
from hypothesis import given, settings
from hypothesis import strategies as st

import acl

FEW = settings(SETTINGS, max_examples=15)
HALF = ["f2", "b2"]
FUSED = [f"fused_infer_attention_score{version}" for version in ("", "_v2", "_v3")]
PROMPT = [f"prompt_flash_attention{version}" for version in ("", "_v2", "_v3")]
STEP = [f"incre_flash_attention{version}" for version in ("", "_v2", "_v3", "_v4")]
LAYOUTS = ["BSH", "BSND", "BNSD", "BNSD_BSND"]
LATER = ["BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"]


class Plain:
    """Operands of batches: query, keys, values, result."""

    def __init__(self, case, layout, rows=(1, 2, 5, 18), keys=(1, 3, 70, 130), widths=(16, 32)):
        self.case, self.layout = case, layout
        self.batches, self.kv_heads = case.pick(1, 2, 3), case.pick(1, 2)
        self.number = self.kv_heads * case.pick(1, 2, 3)
        self.columns, self.width = case.pick(*widths), case.pick(*widths)
        self.rows, self.keys = case.pick(*rows), case.pick(*keys)
        first, _, last = layout.partition("_")
        self.out_layout = last or first
        self.query, self.q = case.heads(first, self.batches, self.number, self.rows, self.columns)
        self.key, self.k = case.heads(first, self.batches, self.kv_heads, self.keys, self.columns)
        self.value, self.v = case.heads(first, self.batches, self.kv_heads, self.keys, self.width)
        shape = shape_of(self.out_layout, self.batches, self.number, self.rows, self.width)
        self.out = case.take(shape)[0]
        self.lse = case.take((self.batches, self.number, self.rows, 1), "f4")[0]
        self.q_lengths, self.kv_lengths = [self.rows] * self.batches, [self.keys] * self.batches
        self.hidden, self.shift = None, None
        self.scale = case.pick(1.0, 0.25)
        self.given = {
            "query": self.query, "key": self.key, "value": self.value, "attentionOut": self.out,
            "numHeads": self.number, "numKeyValueHeads": self.kv_heads, "scaleValue": self.scale,
            "inputLayout": layout,
        }  # fmt: skip

    def lengths(self, most):
        """Return random lengths as an argument, or 0, and those of all batches."""
        form = self.case.pick("absent", "one", "all")
        if form == "absent":
            return 0, [most] * self.batches
        found = [int(self.case.generator.integers(0, most + 1)) for _ in range(self.batches)]
        found = [found[0]] * self.batches if form == "one" else found
        return found[:1] if form == "one" else found, found

    def expect(self):
        """Return the result, the sizes of its terms, and the logarithms of sums."""
        shape = (self.batches, self.number, self.rows)
        out, size = (numpy.zeros((*shape, self.width)) for _ in "ab")
        lse = numpy.full(shape, numpy.inf)
        for b, (rows, keys) in enumerate(zip(self.q_lengths, self.kv_lengths)):
            hidden = None if self.hidden is None else self.hidden(b, rows, keys)
            shift = None if self.shift is None else self.shift[b if len(self.shift) > 1 else 0, :, :rows, :keys]
            soft = soften(self.q[b, :, :rows], self.k[b, :, :keys], self.scale, shift, hidden)
            out[b, :, :rows], size[b, :, :rows] = mix(soft.weights, self.v[b, :, :keys])
            lse[b, :, :rows] = lse_of(soft)
        return from_heads(out, self.out_layout), from_heads(size, self.out_layout), lse[..., None]

    def check(self, npu, name, **more):
        """Call the operator and compare its results."""
        given = {**self.given, **more}
        asks = "softmaxLse" in parameters(name) and self.case.pick(True, False)
        if asks:
            given.update(softmaxLse=self.lse, softmaxLseFlag=True)
        if name in FUSED + STEP:
            given = {part: [value] if part in ("key", "value") and not isinstance(value, list) else value
                     for part, value in given.items()}  # fmt: skip
        assert call(npu, name, **given) == 0, acl.get_recent_err_msg()
        out, size, lse = self.expect()
        agree(npu, self.out, out, size, factor_of(lse))
        if asks:
            agree(npu, self.lse, lse, 1 + numpy.where(numpy.isinf(lse), 0, numpy.abs(lse)))


def add_mask(plain, mode, compressed):
    """Return arguments with a mask for a sparse mode, and let the reference hide the same keys."""
    case, rows, keys = plain.case, plain.rows, plain.keys
    before, after = case.pick(FAR, 0, 2), case.pick(FAR, 0, 1)
    single, mask, hides = rows == 1, 0, None
    if mode < 2 and case.pick(True, False):
        tall, wide = rows + case.pick(0, 2), keys + case.pick(0, 3)
        shape = case.pick((tall, wide), (plain.batches, tall, wide), (1, tall, wide), (plain.batches, 1, tall, wide))
        if single:
            shape = case.pick((plain.batches, wide), (plain.batches, 1, wide), (plain.batches, 1, 1, wide))
        mask, values = case.mask(shape, ("?", "i1", "u1"))
        values = values.reshape(-1, 1 if single else tall, wide)
        hides = numpy.broadcast_to(values, (plain.batches, *values.shape[1:]))

    def hidden(b, rows, keys):
        covered = numpy.zeros((rows, keys), "?") if hides is None else hides[b, :rows, :keys]
        if single or mode == 1 or (mode == 0 and hides is None):
            return covered
        return covered | band(rows, keys, mode, before, after)

    plain.hidden = hidden
    return {
        "attenMask": compressed if mode >= 2 else mask, "sparseMode": mode, "preTokens": before, "nextTokens": after,
    }  # fmt: skip


@pytest.fixture(scope="module")
def compressed(npu):
    """Make the mask that sparse modes 2 to 4 take."""
    return npu.tensor(numpy.triu(numpy.ones((2048, 2048), "?"), 1))


@pytest.mark.parametrize("name", FUSED)
def test_fused(npu, compressed, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        case = Case(npu, data.draw, HALF)
        plain = Plain(case, case.pick(*LAYOUTS, *(LATER if name.endswith("v3") else [])))
        more = add_mask(plain, case.pick(0, 0, 1, 2, 3, 4), compressed)
        given_rows, q_lengths = plain.lengths(plain.rows)
        plain.q_lengths = q_lengths if plain.rows > 1 else plain.q_lengths  # ignored for one row
        given_keys, plain.kv_lengths = plain.lengths(plain.keys)
        if case.pick(True, False):
            shape = (case.pick(1, plain.batches), plain.number, plain.rows, plain.keys)
            more["pseShift"], plain.shift = case.take(shape, case.pick(*HALF))
        plain.check(npu, name, actualSeqLengths=given_rows, actualSeqLengthsKv=given_keys, **more)

    run_case()


def test_a_shift_as_the_mask_of_a_client(npu):
    """The ggml backend passes its mask as a shift that is broadcast to all heads, and views of swapped axes."""
    generator = numpy.random.default_rng(7)
    rows, keys, number, columns = 6, 40, 4, 64
    arrays = [generator.normal(0, 1, (number, size, columns)).astype("f2") for size in (rows, keys, keys)]
    tensors = [npu.view(array, array[None].transpose(0, 2, 1, 3), "f2") for array in arrays]
    mask = numpy.where(band(rows, keys, 3), -numpy.inf, 0).astype("f2")
    shift = npu.view(mask, numpy.broadcast_to(mask, (1, number, rows, keys)), "f2")
    out = blank(npu, "f2", (1, rows, number, columns))
    given_too = {"numHeads": number, "scaleValue": 0.125, "preTokens": 65535, "nextTokens": 65535,
                 "inputLayout": "BSND", "numKeyValueHeads": number, "innerPrecise": 2}  # fmt: skip
    ret = call(npu, FUSED[1], query=tensors[0], key=[tensors[1]], value=[tensors[2]], pseShift=shift,
               attentionOut=out, **given_too)  # fmt: skip
    assert ret == 0
    query, key, value = (array.astype("f8") for array in arrays)
    expected, size = mix(soften(query, key, 0.125, mask.astype("f8")).weights, value)
    agree(npu, out, from_heads(expected[None], "BSND"), from_heads(size[None], "BSND"))


@FEW
@given(data=st.data())
def test_fused_with_lists(npu, data):
    """Each batch has keys of its own length."""
    case = Case(npu, data.draw, HALF)
    plain = Plain(case, case.pick(*LAYOUTS))
    first = plain.layout.split("_")[0]
    plain.kv_lengths = [case.pick(1, 5, 66) for _ in range(plain.batches)]
    keys, values = ([case.heads(first, 1, plain.kv_heads, rows, columns) for rows in plain.kv_lengths]
                    for columns in (plain.columns, plain.width))  # fmt: skip
    plain.k = numpy.zeros((plain.batches, plain.kv_heads, 66, plain.columns))
    plain.v = numpy.zeros((plain.batches, plain.kv_heads, 66, plain.width))
    for b, rows in enumerate(plain.kv_lengths):
        plain.k[b, :, :rows], plain.v[b, :, :rows] = keys[b][1][0], values[b][1][0]
    lists = ([tensor for tensor, _ in each] for each in (keys, values))
    plain.check(npu, case.pick(*FUSED), **dict(zip(("key", "value"), lists)))


@FEW
@given(data=st.data())
def test_fused_in_blocks(npu, data):
    case = Case(npu, data.draw, HALF)
    plain = Plain(case, case.pick(*LAYOUTS[:3]), rows=(1, 2, 7))
    size, pages = (16, 9) if plain.rows == 1 else (128, 2)
    blocks = plain.batches * pages + 2
    layout = case.pick("BSH", "BNSD")
    key, k = case.heads(layout, blocks, plain.kv_heads, size, plain.columns)
    value, v = case.heads(layout, blocks, plain.kv_heads, size, plain.width)
    table = case.generator.permutation(blocks)[: plain.batches * pages].reshape(plain.batches, pages).astype("i4")
    plain.kv_lengths = [int(case.generator.integers(0, size * pages + 1)) for _ in range(plain.batches)]
    plain.k, plain.v = (
        numpy.stack([numpy.concatenate(list(cache[row]), -2) for row in table]) for cache in (k, v)
    )  # fmt: skip
    for row, length in zip(table, plain.kv_lengths):
        row[-(-length // size) :] = -7  # not read
    name = case.pick(*FUSED, *(STEP[2:] if plain.rows == 1 else []))
    names = ("blocktable", "actualSeqLengths") if name in STEP else ("blockTable", "actualSeqLengthsKv")
    given_too = dict(zip(names, (npu.tensor(table), plain.kv_lengths)))
    plain.check(npu, name, key=key, value=value, blockSize=size, **given_too)


@FEW
@given(data=st.data())
def test_fused_after_padding(npu, data):
    case = Case(npu, data.draw, HALF)
    plain = Plain(case, case.pick(*LAYOUTS[:3]), rows=(6,), keys=(9,))
    paddings = [case.pick(-3, 0, 2), case.pick(-1, 0, 4)]
    plain.q_lengths = [case.pick(0, 1, 4) for _ in range(plain.batches)]
    plain.kv_lengths = [case.pick(0, 2, 5) for _ in range(plain.batches)]
    given_too = {"queryPaddingSize": npu.tensor(numpy.array([paddings[0]])),
                 "kvPaddingSize": npu.tensor(numpy.array([paddings[1]])),
                 "actualSeqLengths": plain.q_lengths, "actualSeqLengthsKv": plain.kv_lengths}  # fmt: skip
    starts = [[rows - max(padding, 0) - length for length in lengths] for rows, padding, lengths in (
        (6, paddings[0], plain.q_lengths), (9, paddings[1], plain.kv_lengths))]  # fmt: skip
    for b in range(plain.batches):
        plain.q[b] = numpy.roll(plain.q[b], -starts[0][b], -2)
        plain.k[b], plain.v[b] = (numpy.roll(each[b], -starts[1][b], -2) for each in (plain.k, plain.v))
    plain_expect = plain.expect

    def expect():
        out, size, lse = plain_expect()
        out, size = (to_heads(each, plain.out_layout, plain.number).copy() for each in (out, size))
        for each in (out, size, lse):
            for b in range(plain.batches):
                each[b] = numpy.roll(each[b], starts[0][b], -2)
        return from_heads(out, plain.out_layout), from_heads(size, plain.out_layout), lse

    plain.expect = expect
    plain.check(npu, case.pick(*FUSED), **given_too)


@FEW
@given(data=st.data())
def test_fused_behind_a_prefix(npu, data):
    case = Case(npu, data.draw, HALF)
    plain = Plain(case, case.pick(*LAYOUTS[:3]))
    key, k = case.heads(plain.layout, 1, plain.kv_heads, 5, plain.columns)
    value, v = case.heads(plain.layout, 1, plain.kv_heads, 5, plain.width)
    length, given_too = case.pick(2, 5), {}
    given_keys, lengths = plain.lengths(plain.keys)
    if length != 5 or case.pick(True, False):
        given_too["actualSharedPrefixLen"] = [length]
    plain.k, plain.v = (
        numpy.concatenate([numpy.repeat(before[:, :, :length], plain.batches, 0), each], -2)
        for before, each in ((k, plain.k), (v, plain.v))
    )
    plain.kv_lengths = [length + rows for rows in lengths]
    plain.check(npu, case.pick(*FUSED[1:]), keySharedPrefix=key, valueSharedPrefix=value,
                actualSeqLengthsKv=given_keys, **given_too)  # fmt: skip


@FEW
@given(data=st.data())
def test_fused_with_rotary_parts(npu, data):
    case = Case(npu, data.draw, HALF)
    plain = Plain(case, case.pick("BSH", "BSND", "BNSD"))
    query, q = case.heads(plain.layout, plain.batches, plain.number, plain.rows, 64)
    key, k = case.heads(plain.layout, plain.batches, plain.kv_heads, plain.keys, 64)
    plain.q, plain.k = numpy.concatenate([plain.q, q], -1), numpy.concatenate([plain.k, k], -1)
    plain.scale = 0.25
    plain.check(npu, FUSED[2], queryRope=query, keyRope=key, scaleValue=0.25)


@FEW
@given(data=st.data())
def test_batches_of_different_lengths(npu, data):
    """TND: the arguments hold where batches end."""
    case, name = Case(npu, data.draw, HALF), data.draw(st.sampled_from([FUSED[2], PROMPT[2]]))
    layout = case.pick("TND", "NTD", "TND_NTD", "NTD_TND") if name == FUSED[2] else "TND"
    first, _, last = layout.partition("_")
    number, kv_heads, columns = 4, case.pick(1, 2), 16
    lengths = [[case.pick(0, 1, 3, 18) for _ in range(3)], [case.pick(0, 2, 70) for _ in range(3)]]
    ends = [[int(end) for end in numpy.cumsum(each)] for each in lengths]
    rows, keys = (each[-1] + 1 for each in ends)  # and a row without a batch
    query, q = case.heads(first, 1, number, rows, columns)
    key, k = case.heads(first, 1, kv_heads, keys, columns)
    value, v = case.heads(first, 1, kv_heads, keys, columns)
    out = case.take(shape_of(last or first, 1, number, rows, columns))[0]
    given_too = {} if name == PROMPT[2] else {"softmaxLse": case.take((rows, number, 1), "f4")[0], "softmaxLseFlag": 1}
    lists = [key, value] if name == PROMPT[2] else [[key], [value]]
    ret = call(npu, name, query=query, key=lists[0], value=lists[1], attentionOut=out, numHeads=number,
               numKeyValueHeads=kv_heads, inputLayout=layout, actualSeqLengths=ends[0], actualSeqLengthsKv=ends[1],
               scaleValue=0.25, **given_too)  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    expected, size = numpy.zeros_like(q), numpy.zeros_like(q)
    lse = numpy.full((rows, number, 1), numpy.inf)
    for b in range(3):
        mine, theirs = (slice(each[b - 1] if b else 0, each[b]) for each in ends)
        soft = soften(q[0, :, mine], k[0, :, theirs], 0.25)
        expected[0, :, mine], size[0, :, mine] = mix(soft.weights, v[0, :, theirs])
        lse[mine, :, 0] = lse_of(soft).T
    agree(npu, out, from_heads(expected, last or first), from_heads(size, last or first), factor_of(lse))
    if given_too:
        agree(npu, given_too["softmaxLse"], lse, 1 + numpy.where(numpy.isinf(lse), 0, numpy.abs(lse)))


# --- int8


def small(generator, shape, kind):
    return stored(generator.integers(-9, 10, shape), kind)


def positive(generator, shape, kind):
    return stored(0.05 + numpy.abs(generator.normal(0, 0.05, shape)), kind)


def antiquant_shape(plain, mode, columns, single):
    """Return the shape of a scale, and its axes as (B, N, S, D)."""
    n, b, s = plain.kv_heads, plain.batches, plain.keys
    shapes = {
        0: [((1, n, 1, columns), (1, n, 1, columns)), ((1, n, columns), (1, n, 1, columns)),
            ((1, n * columns), (1, n, 1, columns)), ((1,), (1, 1, 1, 1))],
        1: [((1, b, s) if single else (b, s), (b, 1, s, 1))],
        2: [((n,), (1, n, 1, 1))],
        3: [((b, n, s), (b, n, s, 1))],
    }  # fmt: skip
    return plain.case.pick(*shapes[mode])


@FEW
@given(data=st.data())
def test_fused_with_an_int8_cache(npu, data):
    case = Case(npu, data.draw, HALF)
    plain = Plain(case, case.pick(*LAYOUTS[:3]))
    more = {}
    modes = [case.pick(0, 1, 2, 3)] * 2
    for place, (part, columns) in enumerate((("key", plain.columns), ("value", plain.width))):
        shape = shape_of(plain.layout, plain.batches, plain.kv_heads, plain.keys, columns)
        more[part], values = case.take(shape, "i1", small)
        values = to_heads(values, plain.layout, plain.kv_heads).astype("f8")
        shape, axes = antiquant_shape(plain, modes[place], columns, plain.rows == 1)
        kind = "f4" if modes[place] in (1, 3) else case.kind
        more[f"{part}AntiquantScale"], scale = case.take(shape, kind, positive)
        if case.pick(True, False):
            more[f"{part}AntiquantOffset"], offset = case.take(shape, kind)
            values = values + offset.reshape(axes)
        more[f"{part}AntiquantMode"] = modes[place]
        setattr(plain, part[0], values * scale.reshape(axes).astype("f8"))
    plain.check(npu, case.pick(*FUSED[1:]), **more)


@FEW
@given(data=st.data())
def test_one_parameter_for_keys_and_values(npu, data):
    case, name = Case(npu, data.draw, HALF), data.draw(st.sampled_from([*FUSED, *STEP[2:]]))
    plain = Plain(case, case.pick(*LAYOUTS[:3]), rows=(1,) if name in STEP else (1, 4), widths=(16,))
    n, columns = plain.kv_heads, plain.columns
    shape, axes = case.pick(
        ((2, n, 1, columns), (2, 1, n, 1, columns)), ((2, n, columns), (2, 1, n, 1, columns)),
        ((2, n * columns), (2, 1, n, 1, columns)), ((2,), (2, 1, 1, 1, 1)),
    )  # fmt: skip
    more = {}
    more["antiquantScale"], scale = case.take(shape, None, positive)
    more["antiquantOffset"], offset = case.take(shape)
    for place, part in enumerate(("key", "value")):
        more[part], values = case.take(shape_of(plain.layout, plain.batches, n, plain.keys, columns), "i1", small)
        values = to_heads(values, plain.layout, n).astype("f8") + offset.reshape(axes)[place]
        setattr(plain, part[0], values * scale.reshape(axes)[place])
    plain.check(npu, name, **more)


@FEW
@given(data=st.data())
def test_an_int8_result(npu, data):
    case, name = Case(npu, data.draw, HALF), data.draw(st.sampled_from([*FUSED, *PROMPT[1:], *STEP[1:]]))
    plain = Plain(case, case.pick(*LAYOUTS[:3]), rows=(1,) if name in STEP else (1, 4))
    scale, factor = case.take(case.pick((1,), (plain.number * plain.width,), (plain.number, plain.width)), "f4")
    out = case.take(shape_of(plain.out_layout, plain.batches, plain.number, plain.rows, plain.width), "i1")[0]
    given_too = {**plain.given, "attentionOut": out, "quantScale2": scale}
    offset = 0.0
    if case.pick(True, False):
        given_too["quantOffset2"], offset = case.take((1,), "f4")
    if name not in PROMPT:
        given_too.update(key=[plain.key], value=[plain.value])
    assert call(npu, name, **given_too) == 0, acl.get_recent_err_msg()
    expected, _, _ = plain.expect()
    heads = to_heads(expected, plain.out_layout, plain.number)
    factor = factor if factor.size == 1 else factor.reshape(plain.number, 1, plain.width)
    wanted = numpy.clip(from_heads(heads * factor + offset, plain.out_layout), -128, 127)
    assert (numpy.abs(npu.get(out) - wanted) <= 0.5 + 2.0**-10).all()


def test_a_scale_with_the_most_dimensions(npu):
    given_too = one_head(npu, 2, 3)
    given_too.update(attentionOut=blank(npu, "i1", (1, 2, 16)), quantScale2=npu.tensor(numpy.full((1,) * 8, 3, "f4")))
    assert call(npu, FUSED[1], **given_too) == 0, acl.get_recent_err_msg()
    assert (npu.get(given_too["attentionOut"]) == 3).all()


# --- PromptFlashAttention, IncreFlashAttention


@pytest.mark.parametrize("name", PROMPT)
def test_prompt(npu, compressed, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        case = Case(npu, data.draw, HALF)
        plain = Plain(case, case.pick(*LAYOUTS))
        takes = parameters(name)
        more = add_mask(plain, case.pick(0, 1, 3, 4) if "sparseMode" in takes else 0, compressed)
        given_rows, q_lengths = plain.lengths(plain.rows)
        plain.q_lengths = q_lengths if plain.rows > 1 else plain.q_lengths
        more["actualSeqLengths"] = given_rows
        if "actualSeqLengthsKv" in takes:
            more["actualSeqLengthsKv"], plain.kv_lengths = plain.lengths(plain.keys)
        plain.check(npu, name, **{part: value for part, value in more.items() if part in takes})

    run_case()


@pytest.mark.parametrize("name", STEP)
def test_step(npu, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        case = Case(npu, data.draw, HALF)
        plain = Plain(case, case.pick(*LAYOUTS[:3]), rows=(1,))
        more = add_mask(plain, 1, 0)
        given_keys, plain.kv_lengths = plain.lengths(plain.keys)
        if case.pick(True, False):
            more["pseShift"], plain.shift = case.take((case.pick(1, plain.batches), plain.number, 1, plain.keys))
        plain.check(npu, name, attenMask=more["attenMask"], actualSeqLengths=given_keys,
                    **{part: value for part, value in more.items() if part == "pseShift"})  # fmt: skip

    run_case()


# --- Edges


def one_head(npu, rows, keys, columns=16, kind="f2"):
    """Return arguments of a call of FusedInferAttentionScoreV2 with ones."""
    tensors = [npu.tensor(numpy.ones((1, size, columns), kind)) for size in (rows, keys, keys)]
    return {
        "query": tensors[0], "key": [tensors[1]], "value": [tensors[2]], "numHeads": 1, "inputLayout": "BSH",
        "attentionOut": npu.tensor(numpy.full((1, rows, columns), 9, kind)),
    }  # fmt: skip


def test_without_keys_the_result_is_zero(npu):
    given_too = one_head(npu, 3, 0)
    lse = npu.tensor(numpy.zeros((1, 1, 3, 1), "f4"))
    assert call(npu, FUSED[1], **given_too, softmaxLse=lse, softmaxLseFlag=True) == 0
    assert not npu.get(given_too["attentionOut"]).any() and numpy.isposinf(npu.get(lse)).all()


def test_without_queries_nothing_is_written(npu):
    assert call(npu, FUSED[1], **one_head(npu, 0, 3)) == 0
    given_too = one_head(npu, 2, 3)
    given_too.update(query=blank(npu, "f2", (0, 2, 16)), attentionOut=blank(npu, "f2", (0, 2, 16)))
    given_too.update(key=[blank(npu, "f2", (0, 3, 16))], value=[blank(npu, "f2", (0, 3, 16))])
    assert call(npu, FUSED[1], **given_too) == 0


def test_numbers_that_are_not_finite(npu):
    """A NaN reaches all rows that see its key, and no row that does not."""
    given_too = one_head(npu, 3, 3)
    keys, values = (numpy.ones((1, 3, 16), "f2") for _ in "kv")
    keys[0, 2] = numpy.nan
    values[0, 1, 4] = numpy.nan
    mask = npu.tensor(numpy.triu(numpy.ones((3, 3), "?"), 1))
    given_too.update(key=[npu.tensor(keys)], value=[npu.tensor(values)], attenMask=mask, sparseMode=1)
    assert call(npu, FUSED[1], **given_too) == 0
    found = npu.get(given_too["attentionOut"])[0]
    assert (found[0] == 1).all() and numpy.isnan(found[2]).all()
    assert numpy.isnan(found[1]).tolist() == [place == 4 for place in range(16)]


def test_scores_that_are_large(npu):
    given_too = one_head(npu, 1, 2)
    keys = numpy.stack([numpy.full(16, 60000), numpy.full(16, -60000)])[None].astype("f2")
    values = numpy.stack([numpy.full(16, 3), numpy.full(16, 5)])[None].astype("f2")
    given_too.update(key=[npu.tensor(keys)], value=[npu.tensor(values)])
    assert call(npu, FUSED[1], **given_too) == 0
    assert (npu.get(given_too["attentionOut"]) == 3).all()


@pytest.mark.strict
def test_refusals(npu):
    fits = one_head(npu, 4, 6)
    fits["attenMask"] = blank(npu, "?", (4, 6))

    def call_with(**changed):
        return call(npu, FUSED[1], **{**fits, **changed})

    assert call_with() == 0
    for part in ("query", "key", "value", "attentionOut"):
        refused(call_with(**{part: 0}), NULLPTR, f"{part} is NULL")
    many = blank(npu, "f2", (1, 4, 130 * 16))
    table = {"blockTable": blank(npu, "i4", (1, 2)), "actualSeqLengthsKv": [3]}
    ones, one = npu.tensor(numpy.ones(1, "f4")), numpy.ones((1, 1, 16), "f2")
    for changed, words in (
        ({"query": blank(npu, "f4", (1, 4, 16))}, "query has data type 0, float32, expected float16 or bfloat16"),
        ({"query": blank(npu, "f2", (4, 16))}, "query has 2 dimensions, expected 3 for layout BSH"),
        ({"query": blank(npu, "f2", (1, 4, 8))}, "query has heads of 8 columns, expected a multiple of 16 up to 512"),
        ({"key": [blank(npu, "b2", (1, 6, 16))]}, "key has data type 27, bfloat16, expected float16 or int8"),
        ({"key": [npu.view(one, numpy.broadcast_to(one, (1, 2**41, 16)), "f2")]}, "key has 2199023255552 rows"),
        ({"key": [blank(npu, "f2", (2, 6, 16))]}, "key[0] has 2 batches, expected 1"),
        ({"key": [blank(npu, "f2", (1, 6, 32))]}, "key has heads of 32 columns, expected 16, those of query"),
        ({"value": [blank(npu, "f2", (1, 5, 16))]}, "value has 1 batches of 5 rows, expected 1 of 6, those of key"),
        ({"value": [blank(npu, "b2", (1, 6, 16))]}, "value has data type 27, bfloat16, expected float16, that of key"),
        ({"key": [fits["key"][0]] * 2}, "key has 2 tensors, expected 1 or, without blocks, 1, one per batch"),
        ({"attentionOut": blank(npu, "f4", (1, 4, 16))}, "attentionOut has data type 0, float32, expected"),
        ({"attentionOut": blank(npu, "f2", (1, 5, 16))}, "attentionOut has 1 batches of 5 rows, expected 1 of 4"),
        ({"attentionOut": blank(npu, "i1", (1, 4, 16))}, "attentionOut is int8 and quantScale2 is absent"),
        ({"quantScale2": ones}, "attentionOut is float16 and quantScale2 is given"),
        ({"deqScale1": ones}, "deqScale1 is given, but the simulator does not support products of int8"),
        ({"inputLayout": "SBH"}, 'inputLayout is "SBH", expected one of BSH BSND BNSD BNSD_BSND'),
        ({"inputLayout": "BSH BSND"}, 'inputLayout is "BSH BSND", expected one of BSH BSND BNSD BNSD_BSND'),
        ({"inputLayout": ""}, 'inputLayout is "", expected one of BSH BSND BNSD BNSD_BSND'),
        ({"numHeads": 0}, "numHeads is 0, expected 1 or more"),
        ({"numHeads": 3}, "dimension 2 of query is 16, expected a multiple of 3, the number of heads"),
        ({"numKeyValueHeads": 2}, "numKeyValueHeads is 2, expected 0 or a divisor of numHeads, 1"),
        ({"query": many, "numHeads": 130, "numKeyValueHeads": 2}, "numKeyValueHeads is 2, expected at least 1 per 64"),
        ({"sparseMode": 5}, "sparseMode is 5, expected 0 to 4"),
        ({"sparseMode": 3, "attenMask": 0}, "attenMask is absent, expected a mask of 2048 x 2048 for sparseMode 3"),
        ({"sparseMode": 3}, "dimension 0 of attenMask is 4, expected a mask of 2048 x 2048 for sparseMode 3"),
        ({"attenMask": blank(npu, "f2", (4, 6))}, "attenMaskOptional has data type 1, float16, expected int8"),
        ({"attenMask": blank(npu, "?", (4, 5))}, "attenMask has 4 rows of 5, expected at least 4 of 6"),
        ({"attenMask": blank(npu, "?", (2, 4, 6))}, "attenMask has 2 batches, expected 1 or 1"),
        ({"pseShift": blank(npu, "f4", (1, 1, 4, 6))}, "pseShiftOptional has data type 0, float32, expected"),
        ({"pseShift": blank(npu, "f2", (1, 2, 4, 6))}, "dimension 1 of pseShiftOptional is 2, expected 1"),
        ({"pseShift": blank(npu, "f2", (1, 1, 3, 6))}, "pseShift has 3 rows of 6, expected at least 4 of 6"),
        ({"actualSeqLengths": [5]}, "actualSeqLengthsOptional[0] is 5, expected 0 to 4"),
        ({"actualSeqLengthsKv": [-1]}, "actualSeqLengthsKvOptional[0] is -1, expected 0 to 6"),
        ({**table, "actualSeqLengthsKv": 0}, "the lengths of the keys are absent"),
        ({**table, "blockSize": 16}, "blockSize is 16, expected a multiple of 128 up to 512"),
        ({**table, "blockSize": 128}, "key has blocks of 6 rows, expected 128, the blockSize"),
        ({"keySharedPrefix": fits["key"][0]}, "valueSharedPrefix is absent, expected prefixes of both"),
        ({"softmaxLseFlag": True}, "softmaxLse is NULL, expected a tensor, as softmaxLseFlag is set"),
        ({"softmaxLseFlag": True, "softmaxLse": ones}, "softmaxLse has shape [1], expected [1, 1, 4, 1]"),
        ({"key": [blank(npu, "i1", (1, 6, 16))], "value": [blank(npu, "i1", (1, 6, 16))]}, "key is int8, expected"),
    ):  # fmt: skip
        refused(call_with(**changed), INVALID, words)
    more = {**fits, "actualSeqLengths": 0, "attenMask": 0}
    refused(call(npu, STEP[0], **more), INVALID, "query has 4 rows per batch, expected 1")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[2, 0]], "blockTableOptional[0, 0] is 2, expected 0 to 1, the last block of key"),
        ([[1, -1]], "blockTableOptional[0, 1] is -1, expected 0 to 1, the last block of key"),
    ],
)
def test_a_block_out_of_range_fails_the_task(table, words):
    with failing() as fresh:
        given_too = one_head(fresh, 1, 3)
        caches = [blank(fresh, "f2", (2, 16, 16)) for _ in "kv"]
        given_too.update(key=caches[:1], value=caches[1:], blockSize=16, actualSeqLengthsKv=[17])
        assert call(fresh, FUSED[1], **given_too, blockTable=fresh.tensor(numpy.array(table, "i4"))) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)


@pytest.mark.needs_sim
def test_a_padding_out_of_range_fails_the_task():
    with failing() as fresh:
        given_too = one_head(fresh, 1, 3)
        padding = fresh.tensor(numpy.array([2]))
        assert call(fresh, FUSED[1], **given_too, actualSeqLengthsKv=[2], kvPaddingSize=padding) == 0
        words = "kvPaddingSizeOptional is 2, expected at most 1 for 2 of 3 rows"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
