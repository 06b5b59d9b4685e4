"""The rules for the outputs of normalizations."""

from collections.abc import Callable
from typing import Any

import numpy

from acl.objects.op_rules import _lines
from acl.objects.op_types import FLOAT, Arguments, Rule, Spec, Specs, gradient_mask, met


def _sum_norm(names: str) -> Rule:
    """Return a rule for a norm of the sum of the first two arrays; ``names`` are its outputs."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        whole = Spec(arrays[0].shape, met(arrays[:2]))
        number = Spec(_lines(arrays[0], len(arrays[2].shape)), FLOAT)  # the third one is gamma or beta
        return [number if name in ("mean", "rstd") else whole for name in names.split()]

    return rule


def _group_norm(a: Arguments, arrays: list[Any]) -> Specs:
    x = arrays[0]
    number = Spec((*x.shape[:1], a["num_groups"] if "num_groups" in a else a["group"]), x.dtype)
    return [Spec(x.shape, x.dtype), number, number]


def _batch_norm(a: Arguments, arrays: list[Any]) -> Specs:
    """Return the result, and in training the statistics of the batch, which the gradient needs."""
    number = Spec(arrays[0].shape[1:2], FLOAT)
    return [Spec(arrays[0].shape, arrays[0].dtype), *([number] * 2 if a["training"] else [])]


def _instance_norm(a: Arguments, arrays: list[Any]) -> Specs:
    x, kept = arrays[0], (0, 3) if a["data_format"] == "NHWC" else (0, 1)
    number = Spec(tuple(size if place in kept else 1 for place, size in enumerate(x.shape)), x.dtype)
    return [Spec(x.shape, x.dtype), number, number]


def _alike(*places: int, sums: int = 0) -> Rule:
    """Return a rule for outputs like the arrays at some places; the last ``sums`` ones are float32."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        first = len(places) - sums
        return [
            Spec(arrays[place].shape, arrays[place].dtype if number < first else FLOAT)
            for number, place in enumerate(places)
        ]

    return rule


def _quantized(a: Arguments, arrays: list[Any]) -> Specs:
    x, small = arrays[0], Spec(arrays[0].shape, numpy.dtype("i1"))
    return [small, small, Spec(x.shape, x.dtype)]


def _masked(count: Callable[[Arguments], tuple[int, ...]], weight: str) -> Rule:
    """Return the rule of the gradients that a mask asks for: of the input, the weight and the bias.

    ``count`` returns the shape of the last two; their type is that of the weight, or the input's without one.
    """

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        x, scale = a["input"], a[weight]
        number = Spec(count(a), x.dtype if scale is None else scale.dtype)
        specs = [Spec(x.shape, x.dtype), number, number]
        return [spec if wanted else None for spec, wanted in zip(specs, gradient_mask(a))]

    return rule


def _dims(value: Any) -> tuple[int, ...]:
    """Return a shape that is given as a list or, for one dimension, as a number."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _reduced_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the sums per channel that the gradients of a batch norm on several devices need."""
    sums = Spec(a["input"].shape[1:2], a["mean"].dtype)
    kind = sums.dtype if a["weight"] is None else a["weight"].dtype
    number = Spec(sums.shape, kind)
    wanted = a["input_g"], a["input_g"], a["weight_g"], a["bias_g"]
    return [spec if asked else None for spec, asked in zip([sums, sums, number, number], wanted)]


TABLE: dict[Rule, str] = {
    _alike(0): "batch_norm_elemt batch_norm_elemt_backward",
    _batch_norm: "batch_norm",
    _masked(lambda a: a["input"].shape[1:2], "weight"): "batch_norm_backward",
    _masked(lambda a: (a["c"],), "gamma"): "group_norm_backward",
    _masked(lambda a: _dims(a["normalized_shape"]), "weight_optional"): "layer_norm_backward",
    _reduced_gradients: "batch_norm_reduce_backward",
    lambda a, arrays: [Spec(arrays[0].shape[1:2], FLOAT)] * 2: """
        batch_norm_stats batch_norm_gather_stats_with_counts""",
    _group_norm: "group_norm group_norm_silu group_norm_silu_v2 group_norm_swish",
    _instance_norm: "instance_norm",
    _sum_norm("y rstd x"): "add_rms_norm",
    lambda a, arrays: [Spec(arrays[0].shape, FLOAT), *_sum_norm("y rstd x")(a, arrays)]: "add_rms_norm_cast",
    _sum_norm("rstd"): "inplace_add_rms_norm",
    _quantized: "add_rms_norm_quant add_rms_norm_quant_v2",
    lambda a, arrays: [*_quantized(a, arrays), *[Spec(arrays[0].shape[:-1], FLOAT)] * 2]: """
        add_rms_norm_dynamic_quant add_rms_norm_dynamic_quant_v2""",
    lambda a, arrays: [Spec(arrays[0].shape, numpy.dtype("i1"))]: "rms_norm_quant",
    _sum_norm("y mean rstd x"): "add_layer_norm",
    _sum_norm("mean rstd y"): "deep_norm",
    _alike(3, 4, 5): "group_norm_swish_grad",
    _alike(0, 3, sums=1): "rms_norm_grad",
    _alike(0, 5, 5, sums=2): "add_layer_norm_grad",
    _alike(0, 0, 3, 3, sums=2): "deep_norm_grad",
}
