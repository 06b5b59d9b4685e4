"""Forms of the attention operators that came after CANN 8.1, against NumPy in double."""

import numpy
import pytest
from helpers.attention import Case, agree, call, factor_of, from_heads, grouped, soften, with_sinks
from helpers.expect import refused
from helpers.operands import INVALID, blank
from hypothesis import given
from hypothesis import strategies as st
from test_operators_attention import HALF, Plain, one_head
from test_operators_attention_train import FEW, any_packed, any_training, check_backward, check_forward, masks

import acl

__all__ = ["masks"]  # a fixture


@FEW
@given(data=st.data())
def test_rotary_parts(npu, masks, data):
    training = any_packed(npu, data.draw, masks, 8)
    training.extra.update(queryRope=training.query_rope, keyRope=training.key_rope)
    check_forward(npu, "flash_attention_var_len_score_v3", training)


@FEW
@given(data=st.data())
def test_gradient_of_rotary_parts(npu, masks, data):
    training = any_packed(npu, data.draw, masks, 8)
    training.extra.update(queryRope=training.query_rope, keyInRope=training.key_rope)
    check_backward(npu, "flash_attention_unpadding_score_grad_v3", training)


@pytest.mark.parametrize("like_input", [False, True])
def test_order_of_statistics(npu, masks, like_input):
    @FEW
    @given(data=st.data())
    def run_case(data):
        layout = "same_as_input" if like_input else ""
        training = any_packed(npu, data.draw, masks)
        training.extra["softmaxOutLayout"] = layout
        check_forward(npu, "flash_attention_var_len_score_v4", training, like_input)
        del training.extra["softmaxOutLayout"]
        training.extra["softmaxInLayout"] = layout
        check_backward(npu, "flash_attention_unpadding_score_grad_v4", training, like_input)

    run_case()


@pytest.mark.parametrize(
    "names",
    [
        ("flash_attention_score_v3", "flash_attention_score_grad_v3"),
        ("flash_attention_var_len_score_v5", "flash_attention_unpadding_score_grad_v5"),
    ],
)
def test_sinks_of_training(npu, masks, names):
    @FEW
    @given(data=st.data())
    def run_case(data):
        if names[0].endswith("v3"):
            training = any_training(npu, data.draw, "plain", masks)
        else:
            training = any_packed(npu, data.draw, masks)
        training.sink("sink")
        check_forward(npu, names[0], training)
        training.extra["sinkIn"] = training.extra.pop("sink")
        if "realShift" in training.extra:
            training.extra["pseShift"] = training.extra.pop("realShift")
        check_backward(npu, names[1], training)

    run_case()


def one_batch(npu):
    """Return arguments of the packed forms with 6 rows of 2 heads."""
    parts = "query", "key", "value", "attentionOutOut", "softmaxMaxOut", "softmaxSumOut"
    packed = {part: blank(npu, "f4", (6, 2, 8)) for part in parts}
    return {**packed, "actualSeqQLen": [6], "actualSeqKvLen": [6], "headNum": 2, "inputLayout": "TND"}


@pytest.mark.strict
def test_refused_sinks(npu):
    for sink, words in ((blank(npu, "f2", (2,)), "sink"), (blank(npu, "f4", (3,)), "one number per head")):
        refused(call(npu, "flash_attention_var_len_score_v5", **one_batch(npu), sink=sink), INVALID, words)


@pytest.mark.strict
def test_refused_order(npu):
    ret = call(npu, "flash_attention_var_len_score_v4", **one_batch(npu), softmaxOutLayout="TND")
    refused(ret, INVALID, 'softmaxOutLayout is "TND", expected "" or "same_as_input"')


@pytest.mark.parametrize("version", [4, 5])
def test_sinks_and_slopes(npu, version):
    @FEW
    @given(data=st.data())
    def run_case(data):
        case = Case(npu, data.draw, HALF)
        plain = Plain(case, case.pick("BSH", "BNSD_BSND", *(["BSND_BNSD"] if version == 5 else [])))
        sink, sinks = case.take((plain.number,), "b2")
        given_too, shift = {"pseType": 0} if version == 5 else {}, None
        if version == 5 and case.pick(True, False):
            kind = case.pick(2, 3)
            given_too["pseShift"], slopes = case.take((plain.number,), "f4")
            apart = numpy.abs(3 + numpy.arange(plain.rows)[:, None] - numpy.arange(plain.keys)).astype("f8")
            shift = -slopes[:, None, None] * (numpy.sqrt(apart) if kind == 3 else apart)
            given_too.update(pseType=kind, qStartIdx=[3])
        arguments = {**plain.given, **given_too, "key": [plain.key], "value": [plain.value]}
        ret = call(npu, f"fused_infer_attention_score_v{version}", **arguments, learnableSink=sink,
                   softmaxLse=plain.lse, softmaxLseFlag=True)  # fmt: skip
        assert ret == 0, acl.get_recent_err_msg()
        soft = soften(plain.q, plain.k, plain.scale, shift)
        soft = with_sinks(soft, sinks)
        values = grouped(plain.v, plain.number)
        size = from_heads(soft.weights @ numpy.abs(values), plain.out_layout)
        lse = (soft.most + numpy.log(soft.total))[..., None]
        agree(npu, plain.out, from_heads(soft.weights @ values, plain.out_layout), size, factor_of(soft.most))
        agree(npu, plain.lse, lse, 1 + numpy.abs(lse))

    run_case()


def test_without_a_layout_it_is_bsh(npu):
    """The layout of version 4 is optional."""
    given_too = one_head(npu, 3, 2)
    del given_too["inputLayout"]
    assert call(npu, "fused_infer_attention_score_v4", **given_too) == 0, acl.get_recent_err_msg()
    assert (npu.get(given_too["attentionOut"]) == 1).all()


@pytest.mark.strict
@pytest.mark.parametrize(
    "name", [*(f"fused_infer_attention_score_v{version}" for version in (3, 4, 5)), "prompt_flash_attention_v3"]
)
def test_ends_of_batches(npu, name):
    """An end may be repeated; it is not less than the one before, and not more than the rows."""
    query, key, value, out = (blank(npu, "f2", (6, 1, 16)) for _ in "qkvo")
    lists = [[key], [value]] if name.startswith("fused") else [key, value]
    more = {"pseType": 0} if name.endswith("v5") else {}

    def ask(ends, kv_ends):
        return call(npu, name, query=query, key=lists[0], value=lists[1], attentionOut=out, numHeads=1,
                    numKeyValueHeads=1, inputLayout="TND", actualSeqLengths=ends, actualSeqLengthsKv=kv_ends,
                    scaleValue=1.0, **more)  # fmt: skip

    assert ask([0, 2, 2, 6], [3, 3, 3, 5]) == 0
    for ends, words in (
        ([2, 0, 6], "[1] is 0, expected 2 to 6"),
        ([2, 7, 6], "[1] is 7, expected 2 to 6"),
        ([2, 6, 0], "[2] is 0, expected 6 to 6"),
        ([-1, 2, 6], "[0] is -1, expected 0 to 6"),
    ):
        refused(ask(ends, [2, 4, 6]), INVALID, "actualSeqLengths", words)
        refused(ask([2, 4, 6], ends), INVALID, "actualSeqLengthsKv", words)
