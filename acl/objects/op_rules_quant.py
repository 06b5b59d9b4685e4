"""The rules for the outputs of quantised products and of operators on bags of embeddings."""

from typing import Any

import numpy

from acl.objects.op_types import Arguments, Refused, Rule, Spec, Specs

BYTE = numpy.dtype("i1")


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


TABLE: dict[Rule, str] = {
    _weight_product: "weight_quant_batch_matmul_v2 weight_quant_batch_matmul_v3",
    _bags: "embedding_bag",
}
