"""The rules for the outputs of mixtures of experts."""

import math
from typing import Any

import numpy

from acl.objects.op_types import Arguments, Refused, Rule, Spec, Specs

INT, BYTE = numpy.dtype("i4"), numpy.dtype("i1")


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
    _permuted: "moe_token_permute",
    _unpermuted: "moe_token_unpermute",
    _per_token("num_topk"): "moe_token_permute_grad",
    _per_token("top_k"): "moe_init_routing_v2_grad",
}
