"""The rules for the outputs of quantisation, quantised products and operators on bags of embeddings."""

import math
from typing import Any

import numpy

from acl.objects.op_types import BOOL, FLOAT, Arguments, Refused, Rule, Spec, Specs

BYTE = numpy.dtype("i1")
_INT8, _INT32_PACKED, _FLOAT16, _BFLOAT16 = 2, 3, 1, 27  # codes of data types


def _weight_product(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the product of a matrix and a quantised weight; scales of the result quantise it too."""
    x, weight = arrays[:2]
    if len(x.shape) != 2 or len(weight.shape) != 2:
        raise Refused(f"{x.shape} and {weight.shape} are not both matrices", "use arrays of 2 dimensions")
    columns = weight.shape[1]
    if weight.dtype != BYTE and weight.shape[0] == x.shape[1]:
        columns *= 8  # an int32 element holds eight integers
    return [Spec((x.shape[0], columns), x.dtype if a["quant_scale_optional"] is None else BYTE)]


def _bags(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the results of the bags, the bag of each index, the sizes of the bags, and where the greatest are."""
    weight, indices, offsets = arrays[:3]
    if len(weight.shape) != 2 or len(offsets.shape) != 1:
        raise Refused(f"{weight.shape} and {offsets.shape} are not a matrix and a vector")
    shape = offsets.shape[0] - bool(a["include_last_offset"]), weight.shape[1]
    kind = max(indices.dtype, offsets.dtype, key=lambda kind: kind.itemsize)
    where = shape if a["mode"] not in (0, 1) else shape[:1]
    return [Spec(shape, weight.dtype), *(Spec(each, kind) for each in (indices.shape, shape[:1], where))]


def _integers(shape: tuple[int, ...], code: int) -> Spec:
    """Return the output of integers of a type; those of 4 bits are packed in int32."""
    if code in (_INT8, _INT32_PACKED):
        packed = code == _INT32_PACKED
        return Spec((*shape[:-1], shape[-1] // 8) if packed else shape, numpy.dtype("i4") if packed else BYTE)
    raise Refused(f"dst_type is {code}, which NumPy has no type for", "use 2 (int8) or 3 (int32)")


def _quantized(a: Arguments, arrays: list[Any]) -> Specs:
    return [_integers(arrays[0].shape, a["dst_type"])]


def _dynamic(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the integers and the scales of rows; offsets are optional and not allocated."""
    shape = arrays[0].shape
    return [_integers(shape, a.get("dst_type", _INT8)), Spec(shape[:-1], FLOAT)]


def _dynamic_by(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the integers, and the scales of rows, of channels or of the whole array."""
    shape, mode = arrays[0].shape, a["quant_mode"]
    scales = {"pertensor": (1,), "perchannel": (*shape[:-2], *shape[-1:])}.get(mode, shape[:-1])
    return [_integers(shape, a["dst_type"]), Spec(scales, FLOAT)]


def _grouped_gated(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the integers and the scales of SwiGlu of grouped products; an int32 element of a weight holds eight."""
    rows = a["x"].shape[0]
    weight = a["weight"][0] if isinstance(a["weight"], (list, tuple)) else a["weight"]
    columns = weight.shape[-1] * (1 if weight.dtype == BYTE else 8)
    return [Spec((rows, columns // 2), BYTE), Spec((rows,), FLOAT)]


def _gated(a: Arguments, arrays: list[Any]) -> Specs:
    shape = arrays[0].shape
    return [Spec((*shape[:-1], shape[-1] // 2), BYTE), Spec(shape[:-1], FLOAT)]


def _scales(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer scales of the cube unit, as many as there are scales or offsets."""
    return [Spec((max(math.prod(array.shape) for array in arrays),), numpy.dtype("u8"))]


def _named(code: int) -> Any:
    """Return the type of fractions for the code of a data type."""
    if code not in (_FLOAT16, _BFLOAT16):
        raise Refused(f"the type is {code}, expected {_FLOAT16} (float16) or {_BFLOAT16} (bfloat16)")
    return numpy.dtype("f2" if code == _FLOAT16 else "bfloat16")


def _fractions(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the fractions for integers; an int32 element holds eight of these."""
    shape = arrays[0].shape
    return [Spec(shape if arrays[0].dtype == BYTE else (*shape[:-1], shape[-1] * 8), _named(a["dst_type"]))]


TABLE: dict[Rule, str] = {
    _quantized: "ascend_quant ascend_quant_v3 group_quant",
    _dynamic: "dynamic_quant dynamic_quant_v2",
    _dynamic_by: "dynamic_quant_v3 dynamic_quant_v4",
    _grouped_gated: """
        grouped_matmul_swiglu_quant grouped_matmul_swiglu_quant_v2 grouped_matmul_swiglu_quant_weight_nz
        grouped_matmul_swiglu_quant_weight_nz_v2""",
    _gated: "swi_glu_quant swi_glu_quant_v2 dequant_swiglu_quant dequant_swiglu_quant_v2",
    _fractions: "ascend_anti_quant",
    lambda a, arrays: [Spec(arrays[0].shape, _named(a["output_dtype"]))]: "dequant_bias",
    lambda a, arrays: [_integers(arrays[0].shape, _INT32_PACKED)]: "convert_weight_to_int4_pack",
    _scales: "trans_quant_param_v2 trans_quant_param_v3",
    lambda a, arrays: [Spec(arrays[0].shape, arrays[0].dtype), Spec(arrays[0].shape, BOOL)]: """
        fake_quant_per_tensor_affine_cachemask fake_quant_per_channel_affine_cachemask""",
    _weight_product: "weight_quant_batch_matmul_v2 weight_quant_batch_matmul_v3",
    _bags: "embedding_bag",
}
