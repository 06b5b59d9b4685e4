"""The rules for the outputs of attention and rotary positions."""

from typing import Any

import numpy

from acl.objects.op_rules_norm import _alike
from acl.objects.op_types import FLOAT, Arguments, Refused, Rule, Spec, Specs

TABLES = ("block_table", "block_table_optional", "blocktable")  # names of the table of a paged cache
SCALES = ("quant_scale2", "quant_scale2_optional")  # names of the scale of an int8 output
COPIES = 8  # of each statistic of a row


def _sizes(layout: str, shape: tuple[int, ...]) -> dict[str, int]:
    """Return the sizes of dimensions by their letters."""
    if len(layout) != len(shape):
        raise Refused(f"{shape} has {len(shape)} dimensions, expected {len(layout)} for layout {layout}")
    return dict(zip(layout, shape))


def _divided(size: int, count: int, name: str) -> int:
    """Return the size of each of ``count`` equal parts."""
    if count < 1 or size % count:
        raise Refused(f"{name} is {count}, expected a divisor of {size}")
    return size // count


def _inference(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the output of attention: its columns are those of the values, all else is the query's."""
    layout, _, to = (a["input_layout"] or "BSH").partition("_")  # optional in V4
    value = a["value"][0] if isinstance(a["value"], (list, tuple)) else a["value"]
    heads, sizes = a["num_heads"], _sizes(layout, arrays[0].shape)
    paged = any(a.get(name) is not None for name in TABLES)
    is_line = len(value.shape) == 3 if paged else "H" in layout
    width = value.shape[-1]
    if is_line:
        width = _divided(width, a["num_key_value_heads"] or heads, "num_key_value_heads")
    sizes.update(N=heads, D=width, H=heads * width)
    scaled = any(a.get(name) is not None for name in SCALES)
    kind = numpy.dtype("i1") if scaled else arrays[0].dtype
    return [Spec(tuple(sizes[letter] for letter in to or layout), kind)]


def _training(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the statistics and the output of FlashAttentionScore."""
    layout, heads = a["input_layout"], a["head_num"]
    query, key, value = (a[name] for name in ("query", "key", "value"))
    sizes, others = _sizes(layout, query.shape), _sizes(layout, value.shape)
    width = others.get("D", 0)
    if "H" in layout:
        columns = _divided(sizes["H"], heads, "head_num")
        width = _divided(others["H"], _divided(key.shape[-1], columns, "the number of columns"), "the number of heads")
    rows = (sizes["T"], heads) if "T" in layout else (sizes["B"], heads, sizes["S"])
    statistic = Spec((*rows, COPIES), FLOAT)
    sizes.update(D=width, H=heads * width)
    return [statistic, statistic, Spec(tuple(sizes[letter] for letter in layout), query.dtype)]


def _rotated_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of query, key, value and their rotated columns, where these were passed."""
    operands = (a[name] for name in ("query", "query_rope", "key_in", "key_in_rope", "value"))
    return [Spec((0,) if each is None else each.shape, arrays[0].dtype) for each in operands]


def _gradients_with_sinks(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of query, key, value and of one sink per head."""
    operands = (a[name] for name in ("query", "key_in", "value"))
    return [*(Spec(each.shape, each.dtype) for each in operands), Spec((a["head_num"],), FLOAT)]


def _rotary_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of a rotated array and of its tables; without that array, the latter are not computed."""
    upper, *tables = arrays[:3]
    found = [Spec((0,) if a["x_optional"] is None else each.shape, each.dtype) for each in tables]
    return [Spec(upper.shape, upper.dtype), *found]


TABLE: dict[Rule, str] = {
    _inference: """
        fused_infer_attention_score fused_infer_attention_score_v2 fused_infer_attention_score_v3
        fused_infer_attention_score_v4 fused_infer_attention_score_v5
        prompt_flash_attention prompt_flash_attention_v2 prompt_flash_attention_v3
        incre_flash_attention incre_flash_attention_v2 incre_flash_attention_v3 incre_flash_attention_v4""",
    _training: """
        flash_attention_score flash_attention_score_v2 flash_attention_score_v3
        flash_attention_var_len_score flash_attention_var_len_score_v2
        flash_attention_var_len_score_v3 flash_attention_var_len_score_v4 flash_attention_var_len_score_v5""",
    _alike(0, 1, 2): """
        flash_attention_score_grad flash_attention_score_grad_v2
        flash_attention_unpadding_score_grad flash_attention_unpadding_score_grad_v2
        flash_attention_unpadding_score_grad_v4""",
    _gradients_with_sinks: "flash_attention_score_grad_v3 flash_attention_unpadding_score_grad_v5",
    _rotated_gradients: "flash_attention_unpadding_score_grad_v3",
    _alike(0, 1, 2): "ring_attention_update ring_attention_update_v2",
    _alike(1, 2): "rope_with_sin_cos_cache rope_with_sin_cos_cache_v2",
    lambda a, arrays: [Spec(a["local_out"][0].shape, a["local_out"][0].dtype)]: "attention_update",
    _alike(0): "rotary_position_embedding rotary_position_embedding_v2",
    _rotary_gradients: "rotary_position_embedding_grad",
    lambda a, arrays: [Spec(a["value"].shape, a["value"].dtype)]: "recurrent_gated_delta_rule",
}
