"""Forms of FlashAttentionScore that CANN 8.5 added, against NumPy in double."""

import pytest
from helpers.attention import call
from helpers.expect import refused
from helpers.operands import INVALID, blank
from hypothesis import given
from hypothesis import strategies as st
from test_operators_attention_train import FEW, any_packed, check_backward, check_forward, masks

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


@pytest.mark.strict
def test_refused_order(npu):
    packed = {part: blank(npu, "f4", (6, 2, 8)) for part in ("query", "key", "value", "attentionOutOut",
                                                             "softmaxMaxOut", "softmaxSumOut")}  # fmt: skip
    ret = call(npu, "flash_attention_var_len_score_v4", **packed, actualSeqQLen=[6], actualSeqKvLen=[6], headNum=2,
               inputLayout="TND", softmaxOutLayout="TND")  # fmt: skip
    refused(ret, INVALID, 'softmaxOutLayout is "TND", expected "" or "same_as_input"')
