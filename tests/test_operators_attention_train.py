"""FlashAttentionScore, its packed forms and their gradients against NumPy in double; refusals."""

import numpy
import pytest
from helpers.attention import FAR, Case, Training, agree, band, call, factor_of, from_heads, parameters, to_heads
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, exact, stored
from hypothesis import given, settings
from hypothesis import strategies as st

import acl

FEW = settings(SETTINGS, max_examples=15)
SINGLE = ["f4", "f2", "b2"]
LAYOUTS = ["BSH", "SBH", "BSND", "BNSD"]
SCORES = ["flash_attention_score", "flash_attention_score_v2"]
PACKED = ["flash_attention_var_len_score", "flash_attention_var_len_score_v2"]
GRADS = ["flash_attention_score_grad", "flash_attention_score_grad_v2"]
PACKED_GRADS = ["flash_attention_unpadding_score_grad", "flash_attention_unpadding_score_grad_v2"]


@pytest.fixture(scope="module")
def masks(npu):
    """Make the masks that sparse modes take in place of full ones, by the mode."""
    triangle = npu.tensor(numpy.triu(numpy.ones((2048, 2048), "?"), 1))
    return {**dict.fromkeys((2, 3, 4, 7, 8), triangle), 6: npu.tensor(numpy.zeros((3072, 2048), "u1"))}


def add_mask(training, mode, masks):
    """Mask keys by a sparse mode."""
    case, before, after = training.case, training.case.pick(FAR, 0, 2), training.case.pick(FAR, 0, 1)
    sizes = [(rows.stop - rows.start, keys.stop - keys.start) for _, rows, keys in training.parts]
    prefix = [case.pick(*range(max(0, keys - rows), keys + 1)) for rows, keys in sizes]
    live = [number for number, (rows, keys) in enumerate(sizes) if rows and keys]
    full = None
    if mode in (0, 1, 5):
        tall, wide = (max(each) for each in zip(*sizes))
        leading = case.pick((), (1, 1), (len(sizes), 1), (len(sizes), training.heads))
        mask, full = case.mask((*leading, tall, wide))
        full = numpy.broadcast_to(full, (len(sizes), training.heads, tall, wide))
    else:
        mask = masks[mode]
    if mode in (5, 6):
        training.extra["prefix"] = prefix
    training.extra.update(attenMask=mask, sparseMode=mode, preTokens=before, nextTokens=after)

    def hidden(number, rows, keys):
        if mode in (5, 6):
            return band(rows, keys, 3) & (numpy.arange(keys) >= prefix[number])
        special = mode in (7, 8) and number == live[-1 if mode == 7 else 0]
        covered = band(rows, keys, 4 if special else {7: 3, 8: 2}.get(mode, mode), before, after)
        return covered if full is None else covered | full[number, :, :rows, :keys]

    training.hidden = hidden


def add_shift(training, name, gradient=False):
    """Add a shift, or slopes, of a type that the operator has."""
    case, kind = training.case, training.case.pick(0, 1, 2, 3) if name.endswith("v2") else 1
    part = "pseShift" if gradient else "realShift"
    if name.endswith("v2"):
        training.extra["pseType"] = kind
    training.shift_first = kind == 1
    batches = case.pick(1, training.batches)
    if kind < 2:
        shape = (batches, training.heads, case.pick(1, training.rows), training.keys)
        training.extra[part], values = case.take(shape)
        training.shift = lambda number, rows, keys: values[number if batches > 1 else 0]
        return
    shape = case.pick((training.heads,), (training.batches, training.heads))
    training.extra[part], slopes = case.take(shape, "f4")
    starts = [case.pick(0, 3), case.pick(0, -2)]
    training.extra.update(qStartIdx=starts[:1], kvStartIdx=starts[1:])

    def shift(number, rows, keys):
        apart = numpy.abs(starts[0] + numpy.arange(rows)[:, None] - starts[1] - numpy.arange(keys)).astype("f8")
        slope = slopes if slopes.ndim == 1 else slopes[number]
        return -slope[:, None, None] * (numpy.sqrt(apart) if kind == 3 else apart)

    training.shift = shift


def check_forward(npu, name, training, like_input=False):
    out, size, most, total = training.forward()
    shape = from_heads(out, training.layout).shape
    packed = training.ends is not None
    stats = [numpy.full(training.statistic(most).shape, 9, "f4") for _ in "ab"]
    results = [npu.tensor(each) for each in stats]
    found = training.case.take(shape)[0]
    ret = call(npu, name, **training.given(), key=training.key, attentionOutOut=found, softmaxMaxOut=results[0],
               softmaxSumOut=results[1], softmaxOutOut=blank(npu, training.case.kind, (0,)))  # fmt: skip
    assert ret == 0, acl.get_recent_err_msg()
    agree(npu, found, from_heads(out, training.layout), from_heads(size, training.layout), factor_of(most))
    most, total = (training.statistic(each, like_input and packed) for each in (most, total))
    agree(npu, results[0], most, 1 + numpy.abs(most))
    agree(npu, results[1], total, total, factor_of(most))


def check_backward(npu, name, training, like_input=False):
    case, layout = training.case, training.layout
    upper, slopes = training.take(training.heads, training.rows, training.width)
    out, _, most, total = training.forward()
    result = npu.tensor(stored(from_heads(out, layout), case.kind), case.kind)
    rounded = to_heads(exact(result.view, case.kind), layout, training.heads)
    expected, sizes = training.backward(slopes, rounded)
    plain = [each[..., : training.columns] for each in expected[:2]] + [expected[2]]
    places = [case.take(from_heads(each, layout).shape)[0] for each in plain]
    given_too = {**training.given(), "keyIn": training.key, "dy": upper, "attentionIn": result}
    for part, numbers in (("softmaxMax", most), ("softmaxSum", total)):
        given_too[part] = npu.tensor(training.statistic(numbers, like_input).astype("f4"))
    given_too.update(zip(("dqOut", "dkOut", "dvOut"), places))
    if training.rope:
        ropes = [case.take(from_heads(each[..., training.columns :], layout).shape)[0] for each in expected[:2]]
        given_too.update(zip(("dqRopeOut", "dkRopeOut"), ropes))
        for tensor, each, size in zip(ropes, expected, sizes):
            places.append(tensor)
            plain.append(each[..., training.columns :])
            sizes.append(size[..., training.columns :])
    if training.sinks is not None:
        given_too["dsinkOut"] = case.take((training.heads,), "f4")[0]
    assert call(npu, name, **given_too) == 0, acl.get_recent_err_msg()
    if training.sinks is not None:
        slope, size = training.sink_slopes(slopes, rounded)
        agree(npu, given_too["dsinkOut"], slope, size + numpy.abs(slopes).sum(), factor_of(most))
    for tensor, each, size in zip(places, plain, sizes):
        size = from_heads(size[..., : each.shape[-1]], layout)
        agree(npu, tensor, from_heads(each, layout), size, factor_of(most))


def any_training(npu, draw, name, masks, gradient=False):
    case = Case(npu, draw, SINGLE)
    training = Training(case, case.pick(*LAYOUTS))
    if case.pick(True, False):
        add_mask(training, case.pick(0, 1, 2, 3, 4, 5, 6), masks)
    if case.pick(True, False):
        add_shift(training, name, gradient)
    if case.pick(True, False):
        training.drop()
    return training


@pytest.mark.parametrize("name", SCORES)
def test_score(npu, masks, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        check_forward(npu, name, any_training(npu, data.draw, name, masks))

    run_case()


@pytest.mark.parametrize("name", GRADS)
def test_gradient(npu, masks, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        check_backward(npu, name, any_training(npu, data.draw, name, masks, True))

    run_case()


def any_packed(npu, draw, masks, rope=0):
    case = Case(npu, draw, SINGLE)
    ends = [[int(end) for end in numpy.cumsum([case.pick(*sizes) for _ in range(3)])]
            for sizes in ((1, 3, 18), (2, 5, 66))]  # fmt: skip
    if case.pick(True, False):  # a batch that is not used
        ends = [[*each, 0] for each in ends]
    training = Training(case, "TND", ends, rope)
    if case.pick(True, False):
        add_mask(training, case.pick(0, 1, 2, 3, 4, 5, 6, 7, 8), masks)
    if case.pick(True, False):
        training.drop()
    return training


@pytest.mark.parametrize("name", PACKED)
def test_packed_score(npu, masks, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        check_forward(npu, name, any_packed(npu, data.draw, masks))

    run_case()


@pytest.mark.parametrize("name", PACKED_GRADS)
def test_packed_gradient(npu, masks, name):
    @FEW
    @given(data=st.data())
    def run_case(data):
        check_backward(npu, name, any_packed(npu, data.draw, masks))

    run_case()


def test_a_row_without_keys_has_no_gradient(npu):
    """All keys of the first query are masked."""
    ones = numpy.ones((1, 2, 1, 4), "f4")
    mask = npu.tensor(numpy.array([[1, 1], [0, 1]], "u1"))
    plain = {"query": npu.tensor(ones), "value": npu.tensor(ones), "headNum": 1, "inputLayout": "BSND",
             "attenMask": mask, "sparseMode": 1}  # fmt: skip
    out, most, total = blank(npu, "f4", (1, 2, 1, 4)), blank(npu, "f4", (1, 1, 2, 8)), blank(npu, "f4", (1, 1, 2, 8))
    ret = call(npu, SCORES[0], **plain, key=npu.tensor(ones), attentionOutOut=out, softmaxMaxOut=most,
               softmaxSumOut=total)  # fmt: skip
    assert ret == 0
    assert npu.get(out)[0, :, 0].tolist() == [[0] * 4, [1] * 4]
    assert npu.get(most)[0, 0].tolist() == [[float(numpy.finfo("f4").min)] * 8, [4] * 8]
    assert npu.get(total)[0, 0].tolist() == [[0] * 8, [1] * 8]
    places = [npu.tensor(ones * 9) for _ in "qkv"]
    ret = call(npu, GRADS[0], **plain, keyIn=npu.tensor(ones), dy=npu.tensor(ones), attentionIn=out, softmaxMax=most,
               softmaxSum=total, dqOut=places[0], dkOut=places[1], dvOut=places[2])  # fmt: skip
    assert ret == 0
    assert [npu.get(place)[0, :, 0, 0].tolist() for place in places] == [[0, 0], [0, 0], [1, 0]]


def test_masked_keys_that_are_not_finite(npu):
    """A NaN in a masked key or value reaches no result and no gradient."""
    ones = numpy.ones((1, 2, 1, 4), "f4")
    bad = ones.copy()
    bad[:, 1] = numpy.nan
    mask = npu.tensor(numpy.array([[0, 1], [0, 1]], "u1"))
    plain = {"query": npu.tensor(ones), "value": npu.tensor(bad), "headNum": 1, "inputLayout": "BSND",
             "attenMask": mask, "sparseMode": 1}  # fmt: skip
    out, most, total = blank(npu, "f4", (1, 2, 1, 4)), blank(npu, "f4", (1, 1, 2, 8)), blank(npu, "f4", (1, 1, 2, 8))
    ret = call(npu, SCORES[0], **plain, key=npu.tensor(bad), attentionOutOut=out, softmaxMaxOut=most,
               softmaxSumOut=total)  # fmt: skip
    assert ret == 0 and (npu.get(out) == 1).all()
    places = [npu.tensor(ones * 9) for _ in "qkv"]
    ret = call(npu, GRADS[0], **plain, keyIn=npu.tensor(bad), dy=npu.tensor(ones), attentionIn=out, softmaxMax=most,
               softmaxSum=total, dqOut=places[0], dkOut=places[1], dvOut=places[2])  # fmt: skip
    assert ret == 0
    assert [npu.get(place)[0, :, 0, 0].tolist() for place in places] == [[0, 0], [0, 0], [2, 0]]


@pytest.mark.strict
def test_refusals(npu):
    def plain(heads=2):
        tensors = [blank(npu, "f4", (2, 3, heads, 8)) for _ in range(4)]
        stats = [blank(npu, "f4", (2, heads, 3, 8)) for _ in "ms"]
        return {"query": tensors[0], "key": tensors[1], "value": tensors[2], "attentionOutOut": tensors[3],
                "softmaxMaxOut": stats[0], "softmaxSumOut": stats[1], "headNum": heads,
                "inputLayout": "BSND"}  # fmt: skip

    fits = plain()
    odd, wide = blank(npu, "f2", (2, 3, 2, 8)), blank(npu, "f4", (2, 3, 2, 16))
    mask = blank(npu, "?", (3, 3))
    assert call(npu, SCORES[0], **fits) == 0
    for part in ("query", "key", "value", "attentionOutOut", "softmaxMaxOut", "softmaxSumOut"):
        refused(call(npu, SCORES[0], **{**fits, part: 0}), NULLPTR, f"{part} is NULL")
    for changed, words in (
        ({"query": blank(npu, "i4", (2, 3, 2, 8))}, "query has data type 3, int32, expected float32, float16 or bfl"),
        ({"key": odd}, "key has data type 1, float16, expected float32, that of query"),
        ({"key": wide}, "key has 2 batches and heads of 16 columns, expected 2 and 8, as query"),
        ({"value": wide}, "value has 2 batches of 3 rows of 16, expected 2 of 3 of 1 to 8"),
        ({"key": blank(npu, "f4", (2, 3, 3, 8))}, "dimension 2 of key is 3, expected that of a divisor of the 2 heads"),
        ({"attentionOutOut": wide}, "attentionOutOut has 2 batches of 3 rows of 16, expected 2 of 3 of 8"),
        ({"softmaxMaxOut": blank(npu, "f4", (2, 2, 3, 1))}, "softmaxMaxOut has shape [2, 2, 3, 1], expected [2, 2, 3"),
        ({"softmaxSumOut": odd}, "softmaxSumOut has data type 1, float16, expected float32"),
        ({"headNum": 0}, "headNum is 0, expected 1 or more"),
        ({"headNum": 3}, "query has 2 heads, expected 3, the number of heads"),
        ({"inputLayout": "TND"}, 'inputLayout is "TND", expected one of BSH SBH BSND BNSD'),
        ({"inputLayout": "BSH SBH"}, 'inputLayout is "BSH SBH", expected one of BSH SBH BSND BNSD'),
        ({"inputLayout": "BSH"}, "query has 4 dimensions, expected 3 for layout BSH"),
        ({"keepProb": 0.0}, "keepProb is 0, expected more than 0, at most 1"),
        ({"keepProb": 1.5}, "keepProb is 1.5, expected more than 0, at most 1"),
        ({"keepProb": 0.5, "dropMask": blank(npu, "u1", (15,))}, "has 15 bytes, expected 16 per 128 of the 36 weights"),
        ({"attenMask": mask, "sparseMode": 7}, "sparseMode is 7, expected 0 to 6 for layout BSND"),
        ({"attenMask": mask, "sparseMode": 2}, "has 3 rows of 3, expected 2048 of 2048 for sparseMode 2"),
        ({"attenMask": mask, "sparseMode": 5}, "prefix has 0 numbers, expected 2, one per batch, for sparseMode 5"),
        ({"attenMask": mask, "sparseMode": 5, "prefix": [0, 4]}, "prefix[1] is 4, expected 0 to 3"),
        ({"attenMask": blank(npu, "?", (3, 2))}, "has 3 rows of 2, expected 3 of 3"),
        ({"attenMask": blank(npu, "f4", (3, 3))}, "has data type 0, float32, expected uint8 or bool"),
        ({"realShift": blank(npu, "f4", (1, 2, 2, 3))}, "has 2 rows of 3, expected 1 or 3 of 3"),
        ({"realShift": blank(npu, "f4", (1, 1, 3, 3))}, "has 1 batches of 1 heads, expected 1 or 2 of 2"),
    ):  # fmt: skip
        refused(call(npu, SCORES[0], **{**fits, **changed}), INVALID, words)
    refused(call(npu, SCORES[1], **fits, **{"pseType": 4}), INVALID, "pseType is 4, expected 0 to 3")
    refused(call(npu, SCORES[1], **fits, **{"pseType": 2}), INVALID, "the slopes are absent, expected one per head")
    for name in PACKED:
        packed = {**fits, "inputLayout": "TND"}
        for part in ("query", "key", "value", "attentionOutOut"):
            packed[part] = blank(npu, "f4", (6, 2, 8))
        for part in ("softmaxMaxOut", "softmaxSumOut"):
            packed[part] = blank(npu, "f4", (6, 2, 8))
        assert call(npu, name, **packed, actualSeqQLen=[2, 6], actualSeqKvLen=[3, 6]) == 0
        words = "actualSeqQLen and actualSeqKvLen have 2 and 1 numbers, expected the ends of the same batches"
        refused(call(npu, name, **packed, actualSeqQLen=[2, 6], actualSeqKvLen=[6]), INVALID, words)
        ret = call(npu, name, **packed, actualSeqQLen=[2, 7], actualSeqKvLen=[3, 6])
        refused(ret, INVALID, "actualSeqQLenOptional[1] is 7, expected 2 to 6")
        ret = call(npu, name, **packed, actualSeqQLen=[2, 6], actualSeqKvLen=[3, 1])
        refused(ret, INVALID, "actualSeqKvLenOptional[1] is 1, expected 3 to 6")
        assert call(npu, name, **packed, actualSeqQLen=[0, 2, 2, 6, 0], actualSeqKvLen=[3, 3, 6, 0, 0]) == 0
        ret = call(npu, name, **packed, actualSeqQLen=[2, 0, 6], actualSeqKvLen=[2, 2, 6])
        refused(ret, INVALID, "actualSeqQLenOptional[2] is 6, expected 0, as the end before it is 0")
        ret = call(npu, name, **packed, actualSeqQLen=[2, 4, 6], actualSeqKvLen=[2, 0, 1])
        refused(ret, INVALID, "actualSeqKvLenOptional[2] is 1, expected 0, as the end before it is 0")


@pytest.mark.strict
@pytest.mark.parametrize("name", GRADS)
def test_gradient_refusals(npu, name):
    fits = {part: blank(npu, "f4", (2, 3, 16)) for part in ("query", "keyIn", "value", "dy", "attentionIn", "dqOut",
                                                            "dkOut", "dvOut")}  # fmt: skip
    fits.update({part: blank(npu, "f4", (2, 2, 3, 8)) for part in ("softmaxMax", "softmaxSum")})
    fits.update(headNum=2, inputLayout="BSH")
    assert call(npu, name, **fits) == 0
    for part in ("query", "keyIn", "value", "dy", "softmaxMax", "softmaxSum", "attentionIn", "dqOut", "dkOut", "dvOut"):
        refused(call(npu, name, **{**fits, part: 0}), NULLPTR, f"{part} is NULL")
    for part in ("dy", "attentionIn", "dqOut", "dkOut", "dvOut"):
        shape = blank(npu, "f4", (2, 4, 16))
        refused(call(npu, name, **{**fits, part: shape}), INVALID, part, "has 2 batches of 4 rows of 8, expected 2 of")
        ret = call(npu, name, **{**fits, part: blank(npu, "f2", (2, 3, 16))})
        refused(ret, INVALID, part, "has data type 1, float16, expected float32, that of query")
    assert "pseType" in parameters(GRADS[1])
