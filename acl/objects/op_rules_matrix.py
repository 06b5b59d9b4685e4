"""The rules for the outputs of products, convolutions and linear algebra."""

from collections.abc import Sequence
from typing import Any

import numpy

from acl.objects.op_types import Arguments, Refused, Rule, Spec, Specs, gradient_mask, meet, met


def _batches(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common dimensions before the matrices."""
    try:
        return numpy.broadcast_shapes(one[:-2], other[:-2])
    except ValueError:
        raise Refused(
            f"{one[:-2]} and {other[:-2]}, the dimensions before the matrices, cannot be broadcast together"
        ) from None


def _matmul(a: Arguments, arrays: list[Any]) -> Specs:
    one, other = arrays[:2]
    if not one.shape or not other.shape:
        raise Refused(f"{one.shape} and {other.shape} cannot be multiplied", "use arrays of 1 dimension or more")
    left, right = one.shape, other.shape
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] != inner:
        raise Refused(f"the last dimension of {left} is {left[-1]}, the matching one of {right} is {inner}")
    shape = (*_batches(left, right), *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return [Spec(shape, meet(one.dtype, other.dtype))]


def _added_product(a: Arguments, arrays: list[Any]) -> Specs:
    product = _matmul(a, arrays[1:3])[0]
    assert isinstance(product, Spec)
    return [Spec(product.shape, meet(arrays[0].dtype, product.dtype))]


def _convolution(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a convolution; the weight of a transposed one begins with the channels of the input."""
    shape, weight = arrays[0].shape, arrays[1].shape
    count = len(shape) - 2
    steps, dilation, padding = a["stride"], a["dilation"], a["padding"]
    if len(padding) == 2 * count and count < 3:
        pads = [before + after for before, after in zip(padding[::2], padding[1::2])]
    else:
        pads = [2 * pad for pad in padding]
    if count < 1 or len(weight) != count + 2 or any(len(numbers) != count for numbers in (steps, dilation, pads)):
        raise Refused(f"{weight} with {len(steps)} strides is not the weight of a convolution of {shape}")
    if min(steps) < 1:
        raise Refused(f"stride is {steps!r}, expected numbers of 1 or more")
    extents = [gap * (size - 1) + 1 for gap, size in zip(dilation, weight[2:])]
    if a.get("transposed"):
        channels, extra = weight[1] * a["groups"], a["output_padding"]
        lengths = [
            (size - 1) * step - pad + extent + more
            for size, step, pad, extent, more in zip(shape[2:], steps, pads, extents, extra)
        ]
    else:
        channels = weight[0]
        lengths = [
            (size + pad - extent) // step + 1 for size, step, pad, extent in zip(shape[2:], steps, pads, extents)
        ]
    if min(lengths) < 1:
        raise Refused(f"{shape} with the padding is smaller than the window")
    return [Spec((shape[0], channels, *lengths), meet(arrays[0].dtype, arrays[1].dtype))]


def _convolution_tbc(a: Arguments, arrays: list[Any]) -> Specs:
    shape, weight = arrays[0].shape, arrays[1].shape
    if len(shape) != 3 or len(weight) != 3:
        raise Refused(f"{shape} and {weight} cannot be convolved", "use 3 dimensions for both")
    length = shape[0] + 2 * a["pad"] - weight[0] + 1
    if length < 1:
        raise Refused(f"{shape} with the padding is shorter than the window")
    return [Spec((length, shape[1], weight[2]), meet(arrays[0].dtype, arrays[1].dtype))]


def _matrices(arrays: Sequence[Any]) -> None:
    """Refuse arrays that are not batches of matrices."""
    for array in arrays:
        if len(array.shape) < 2:
            raise Refused(f"{array.shape} has {len(array.shape)} dimensions, expected 2 or more")


def _triangular_solve(a: Arguments, arrays: list[Any]) -> Specs:
    _matrices(arrays)
    side, matrix = (array.shape for array in arrays)
    batch = _batches(side, matrix)
    return [Spec((*batch, *shape[-2:]), arrays[0].dtype) for shape in (side, matrix)]


def _determinant(count: int) -> Rule:
    """Return a rule for ``count`` outputs with one number per matrix."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        _matrices(arrays)
        return [Spec(arrays[0].shape[:-2], arrays[0].dtype)] * count

    return rule


def _qr(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer Q and R; in mode 2, Q is not computed."""
    _matrices(arrays)
    *batch, rows, columns = arrays[0].shape
    mode = a["mode"] if "mode" in a else 0 if a["some"] else 1
    wide = rows if mode == 1 else min(rows, columns)
    q = (0,) if mode == 2 else (*batch, rows, wide)
    return [Spec(q, arrays[0].dtype), Spec((*batch, wide, columns), arrays[0].dtype)]


def _svd(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the singular values and vectors; vectors that are not computed are empty."""
    _matrices(arrays)
    (*batch, rows, columns), kind = arrays[0].shape, arrays[0].dtype
    least, wanted, full = min(rows, columns), a["compute_uv"], a["full_matrices"]
    sides = [(*batch, size, size if full else least) if wanted else (0,) for size in (rows, columns)]
    return [Spec((*batch, least), kind), *(Spec(side, kind) for side in sides)]


def _cdist(a: Arguments, arrays: list[Any]) -> Specs:
    _matrices(arrays)
    one, other = (array.shape for array in arrays)
    return [Spec((*_batches(one, other), one[-2], other[-2]), arrays[0].dtype)]


def _pdist(a: Arguments, arrays: list[Any]) -> Specs:
    _matrices(arrays)
    rows = arrays[0].shape[0]
    return [Spec((rows * (rows - 1) // 2,), arrays[0].dtype)]


def _outer(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the product of two vectors, the last two arrays, to which another one may be added."""
    one, other = arrays[-2:]
    if len(one.shape) != 1 or len(other.shape) != 1:
        raise Refused(f"{one.shape} and {other.shape} are not both vectors", "use arrays of 1 dimension")
    return [Spec((one.shape[0], other.shape[0]), met(arrays))]


def _added_batches(a: Arguments, arrays: list[Any]) -> Specs:
    product = _matmul(a, arrays[1:3])[0]
    assert isinstance(product, Spec)
    if len(product.shape) != 3:
        raise Refused(f"{arrays[1].shape} and {arrays[2].shape} are not both batches", "use arrays of 3 dimensions")
    return [Spec(product.shape[1:], meet(arrays[0].dtype, product.dtype))]


def _gemm(a: Arguments, arrays: list[Any]) -> Specs:
    one, other = arrays[:2]
    if len(one.shape) != 2 or len(other.shape) != 2:
        raise Refused(f"{one.shape} and {other.shape} are not both matrices", "use arrays of 2 dimensions")
    shape = (one.shape[1 if a["trans_a"] else 0], other.shape[0 if a["trans_b"] else 1])
    return [Spec(shape, met(arrays))]


def _convolution_gradients(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the gradients of the input, the weight and the bias that the mask asks for."""
    upper, x, weight = arrays[:3]
    specs = [Spec(x.shape, x.dtype), Spec(weight.shape, weight.dtype), Spec(upper.shape[1:2], upper.dtype)]
    return [spec if wanted else None for spec, wanted in zip(specs, gradient_mask(a))]


def _turned(shape: tuple[int, ...], turns: bool) -> tuple[int, ...]:
    """Return the shape of matrices that may be stored transposed."""
    return (*shape[:-2], shape[-1], shape[-2]) if turns else shape


def _half_product(*flags: str) -> Rule:
    """Return the rule of a product of quantised matrices as float16; ``flags`` say which one is transposed."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        _matrices(arrays[:2])
        turns = [bool(a[flag]) for flag in flags] or [False, False]
        one, other = (_turned(array.shape, turn) for array, turn in zip(arrays, turns))
        batch = numpy.broadcast_shapes(one[:-2], other[:-2])
        return [Spec((*batch, one[-2], other[-1]), numpy.dtype("f2"))]

    return rule


TABLE: dict[Rule, str] = {
    _matmul: "matmul mm batch_mat_mul mv dot matmul_weight_nz batch_mat_mul_weight_nz",
    _added_product: "addmm addmv baddbmm addmm_weight_nz",
    _convolution: "convolution conv_depthwise2d",
    _convolution_tbc: "conv_tbc",
    lambda a, arrays: [Spec(array.shape, array.dtype) for array in arrays[1:4]]: "conv_tbc_backward",
    lambda a, arrays: [Spec(arrays[0].shape, arrays[0].dtype)]: "inverse linalg_cholesky",
    lambda a, arrays: [Spec(arrays[1].shape, arrays[1].dtype)]: "cdist_backward",
    _triangular_solve: "triangular_solve",
    _determinant(1): "logdet",
    _determinant(2): "slogdet",
    _qr: "qr linalg_qr",
    _svd: "svd",
    _cdist: "cdist",
    _pdist: "pdist pdist_forward",
    _outer: "ger addr",
    _added_batches: "addbmm",
    _gemm: "gemm",
    _convolution_gradients: "convolution_backward",
    lambda a, arrays: [Spec((*arrays[0].shape[:-1], arrays[2].shape[-1]), arrays[0].dtype)]: "ffn ffnv2",
    _half_product(): "quant_matmul",
    _half_product("adj_x1", "adj_x2"): "quant_matmul_v2",
    _half_product("transpose_x1", "transpose_x2"): "weight_quant_batch_matmul",
}
