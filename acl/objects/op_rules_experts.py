"""The rules for the outputs of mixtures of experts."""

import math
from typing import Any

import numpy

from acl.objects.op_types import FLOAT, Arguments, Refused, Rule, Spec, Specs

INT, BYTE = numpy.dtype("i4"), numpy.dtype("i1")
ROUTING = (  # parameters of MoeInitRoutingV2 that other operators share
    "active_num", "expert_capacity", "expert_num", "drop_pad_mode", "expert_tokens_count_or_cumsum_flag",
    "expert_tokens_before_capacity_flag",
)  # fmt: skip


def _gate(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the probabilities of the chosen experts, and these; the first version also says where each one goes."""
    shape = (*arrays[0].shape[:-1], a["k"])
    specs: Specs = [Spec(shape, arrays[0].dtype), Spec(shape, INT)]
    return specs if "renorm" in a else [*specs, Spec(shape, INT)]


def _first_routing(a: Arguments, arrays: list[Any]) -> Specs:
    x, pairs = arrays[0], arrays[2].shape
    if len(x.shape) != 2 or len(pairs) != 2:
        raise Refused(f"{x.shape} and {pairs} are not both matrices", "use arrays of 2 dimensions")
    kind = BYTE if "scale" in a else x.dtype
    count = math.prod(pairs)
    return [Spec((min(x.shape[0], a["active_num"]) * pairs[1], x.shape[1]), kind), *[Spec((count,), INT)] * 2]


def _second_routing(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the spread tokens, where each pair went, and the counts per expert: of all pairs, or of those in excess."""
    x, pairs = arrays[0], math.prod(arrays[1].shape)
    places, counts = Spec((pairs,), INT), Spec((a["expert_num_optional"],), INT)
    if a["drop_pad_mode_optional"] == 1:
        spread = (*counts.shape, a["expert_capacity_optional"], x.shape[-1])
        before = a["expert_tokens_before_capacity_flag_optional"]
        return [Spec(spread, x.dtype), places, None, counts if before else None]
    rows = min(a["active_num_optional"] or pairs, pairs)
    counted = a["expert_tokens_count_or_cumsum_flag_optional"] > 0
    return [Spec((rows, x.shape[-1]), x.dtype), places, counts if counted else None]


def _second_quantized(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the same for tokens that are quantised, and a scale per spread token if the quantisation is dynamic."""
    given = {f"{name}_optional": a[name] for name in ROUTING}
    spread, *others = _second_routing(given, arrays)
    assert isinstance(spread, Spec)
    missing = [None] * (3 - len(others))  # optional ones at the end
    scales = Spec((math.prod(spread.shape[:-1]),), FLOAT) if a["quant_mode"] == 1 else None
    return [Spec(spread.shape, BYTE), *others, *missing, scales]


def _third_routing(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the spread tokens, where each pair went, the counts of the experts of a range, and a scale per token."""
    x, pairs, number = arrays[0], math.prod(arrays[1].shape), a["expert_num"]
    first, end = a["active_expert_range_optional"] or (0, number)
    spread: tuple[int, ...] = (number, a["expert_capacity"], x.shape[-1])
    if a["drop_pad_mode"] != 1:
        spread = (min(a["active_num"], pairs) if a["active_num"] > 0 else pairs, x.shape[-1])
    counts = (number, 2) if a["expert_tokens_num_type"] == 2 else (end - first,)
    kind = x.dtype if a["quant_mode"] == -1 else BYTE
    scales = Spec((math.prod(spread[:-1]),), FLOAT)
    return [Spec(spread, kind), Spec((pairs,), INT), Spec(counts, numpy.dtype("i8")), scales]


def _gate_of_groups(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the scores of the chosen experts, these, and all scores."""
    x, shape = arrays[0], (*arrays[0].shape[:-1], a["k"])
    return [Spec(shape, x.dtype), Spec(shape, INT), Spec(x.shape, FLOAT)]


def _finalized(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the sums per token; the scales have a row per token; without them each token has one pair, or k."""
    scales = a["scales_optional"]
    tokens = arrays[1].shape[0] // a.get("k", 1) if scales is None else scales.shape[0]
    return [Spec((tokens, arrays[0].shape[-1]), arrays[0].dtype)]


def _permuted(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the sorted tokens, and where each pair of a token and an expert went."""
    tokens, pairs = arrays[0], math.prod(arrays[1].shape)
    asked = a["num_out_tokens"]
    rows = min(asked, pairs) if asked > 0 else max(0, pairs + asked)
    return [Spec((rows, *tokens.shape[1:]), tokens.dtype), Spec((pairs,), INT)]


def _unpermuted(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the sums per token; each token has as many rows as it has weights."""
    weights = a["probs_optional"]
    each = 1 if weights is None else weights.shape[1]
    return [Spec((arrays[1].shape[0] // each, *arrays[0].shape[1:]), arrays[0].dtype)]


def _unpermuted_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of the rows and of the weights, which are not computed without weights."""
    weights = a["probs_optional"]
    found = Spec((0,), arrays[0].dtype) if weights is None else Spec(weights.shape, weights.dtype)
    return [Spec(arrays[0].shape, arrays[0].dtype), found]


def _mapped(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the tokens sorted by a map, their probabilities, which are optional, and where each pair went."""
    tokens, (rows, experts), probs = arrays[0], arrays[1].shape, a["probs_optional"]
    parts = experts if a["drop_and_pad"] else rows
    count = a["num_out_tokens"] // parts * parts if parts else 0
    picked = None if probs is None else Spec((count,), probs.dtype)
    return [Spec((count, tokens.shape[1]), tokens.dtype), picked, Spec((count,), INT)]


def _unmapped(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the sums per token, the rows sorted by token with their tokens, and the probabilities."""
    rows, restored, probs = arrays[0], a["restore_shape_optional"], a["probs_optional"]
    known = [each.shape[0] for each in (a["routing_map_optional"], probs) if each is not None]
    if not restored and not known:
        raise Refused("the number of tokens does not follow from the arguments", "pass restore_shape_optional or out=")
    order = Spec(rows.shape[:1], INT)
    picked = Spec((0,), rows.dtype) if probs is None else Spec(rows.shape[:1], probs.dtype)
    return [Spec(tuple(restored or (known[0], rows.shape[1])), rows.dtype), order, order, picked]


def _mapped_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of the tokens and, if those of the sorted ones are given, of their probabilities."""
    slopes, slants = arrays[0], a["permuted_probs_output_grad_optional"]
    probs = None if slants is None else Spec((a["tokens_num"], a["num_experts"]), slants.dtype)
    return [Spec((a["tokens_num"], slopes.shape[1]), slopes.dtype), probs]


def _unmapped_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of the sorted rows and of the probabilities."""
    slopes, probs = arrays[0], a["probs_optional"]
    slants = None if probs is None else Spec(probs.shape, probs.dtype)
    return [Spec((*arrays[1].shape, slopes.shape[1]), slopes.dtype), slants]


def _grouped(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the products of groups of rows and their weights: one array, or one for each weight."""
    factors, weights = a["x"], a["weight"]
    kind = factors[0].dtype
    if kind == BYTE or INT in (kind, weights[0].dtype) or a.get("group_type", 0) == 2:  # int32 holds eight integers
        raise Refused("the type of y, or its groups of columns, do not follow from the arguments", "pass out=[array]")
    if a["split_item"] < 2:
        if len(factors) != len(weights):
            raise Refused(f"y has {len(weights)} arrays, whose rows the groups determine", "pass out=[array, ...]")
        return [[Spec((*x.shape[:-1], weight.shape[-1]), kind) for x, weight in zip(factors, weights)]]
    return [[Spec((sum(x.shape[0] for x in factors), weights[0].shape[-1]), kind)]]


def _per_token(number: str) -> Rule:
    """Return the rule of sums of as many rows per token as the argument says."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        if a[number] < 1:
            raise Refused(f"{number} is {a[number]}, expected 1 or more")
        return [Spec((arrays[1].shape[0] // a[number], arrays[0].shape[-1]), arrays[0].dtype)]

    return rule


TABLE: dict[Rule, str] = {
    _gate: "moe_gating_top_k_softmax moe_gating_top_k_softmax_v2",
    _first_routing: "moe_init_routing moe_init_routing_quant",
    lambda a, arrays: [Spec((a["num_experts"],), INT)]: "moe_compute_expert_tokens",
    lambda a, arrays: [Spec(arrays[1].shape, arrays[1].dtype)]: "moe_finalize_routing",
    _second_routing: "moe_init_routing_v2",
    _second_quantized: "moe_init_routing_quant_v2",
    _third_routing: "moe_init_routing_v3",
    _gate_of_groups: "moe_gating_top_k",
    lambda a, arrays: [Spec(arrays[0].shape, arrays[1].dtype)]: "moe_gating_top_k_backward",
    _mapped: "moe_token_permute_with_routing_map",
    _unmapped: "moe_token_unpermute_with_routing_map",
    _mapped_gradients: "moe_token_permute_with_routing_map_grad",
    _unmapped_gradients: "moe_token_unpermute_with_routing_map_grad",
    _unpermuted_gradients: "moe_token_unpermute_grad",
    _finalized: "moe_finalize_routing_v2 moe_finalize_routing_v3 moe_finalize_routing_v4",
    _grouped: "grouped_matmul grouped_matmul_v2 grouped_matmul_v3 grouped_matmul_v4 grouped_matmul_v5",
    _permuted: "moe_token_permute",
    _unpermuted: "moe_token_unpermute",
    _per_token("num_topk"): "moe_token_permute_grad",
    _per_token("top_k"): "moe_init_routing_v2_grad",
}
