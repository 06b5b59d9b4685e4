"""The rules for the outputs of pools, and of resizing and sampling of images."""

import math
from typing import Any

import numpy

from acl.objects.op_types import Arguments, Refused, Rule, Spec, Specs


def _images(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the images that Im2colBackward makes of columns."""
    shape, elements = arrays[0].shape, math.prod(a["kernel_size"])
    if len(shape) not in (2, 3) or elements < 1:
        raise Refused(f"{shape} has no columns of windows {a['kernel_size']!r}", "use 2 or 3 dimensions")
    return [Spec((*shape[:-2], shape[-2] // elements, *a["input_size"]), arrays[0].dtype)]


def _sizes(value: Any, dims: int) -> list[int]:
    """Return the numbers of an argument that has one for each dimension of an image, or one for all."""
    numbers = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return numbers * dims if len(numbers) == 1 else numbers


def _windows(a: Arguments, array: Any, dims: int) -> tuple[list[int], list[int]]:
    """Return the sizes of the windows of a pool and, in each direction, the number of windows."""
    shape = array.shape
    kernel, stride, pads = (
        _sizes(next(a[name] for name in names.split() if name in a), dims)
        for names in ("kernel_size kernel_shape", "stride strides", "padding paddings pads")
    )
    stride = stride or ([1] * dims if "kernel_shape" in a else kernel)
    pads = pads or [0] * dims
    pads = pads if len(pads) == 2 * dims else pads * 2
    dilation = _sizes(a.get("dilation"), dims) or [1] * dims
    fits = len(kernel) == len(stride) == len(dilation) == dims and len(pads) == 2 * dims
    if not fits or min(*kernel, *stride) < 1 or len(shape) not in (dims + 1, dims + 2):
        raise Refused(f"{shape} has no windows {kernel!r}", f"use {dims + 1} or {dims + 2} dimensions, sizes above 0")
    counts = []
    for size, length, step, apart, before, after in zip(shape[-dims:], kernel, stride, dilation, pads, pads[dims:]):
        span = size + before + after - apart * (length - 1) - 1
        count = (-(-span // step) if a["ceil_mode"] else span // step) + 1
        counts.append(count - 1 if a["ceil_mode"] and (count - 1) * step >= size + before else count)
    if min(counts) < 1:
        raise Refused(f"{shape} with the padding is smaller than the window")
    return kernel, counts


def _pooled(dims: int, index: Any = None) -> Rule:
    """Return the rule of a pool, which also returns indices if a type of these is given."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        shape = (*arrays[0].shape[:-dims], *_windows(a, arrays[0], dims)[1])
        specs: Specs = [Spec(shape, arrays[0].dtype)]
        return specs if index is None else [*specs, Spec(shape, numpy.dtype(index))]

    return rule


def _pooled_with_mask(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the maxima of windows, and a line of bits per element of the window."""
    lead = arrays[0].shape[:-2]
    kernel, counts = _windows(a, arrays[0], 2)
    mask = (*lead, math.prod(kernel), (-(-math.prod(counts) // 16) + 1) * 32)
    return [Spec((*lead, *counts), arrays[0].dtype), Spec(mask, numpy.dtype("i1"))]


def _resized(*kinds: Any) -> Rule:
    """Return a rule for outputs of these types (None: the array's own) whose images have the size that is given."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        sizes = _sizes(a["output_size"], 1)
        lead = arrays[0].shape[: -len(sizes)]
        if not sizes or not lead:
            raise Refused(f"{arrays[0].shape} has no images of {len(sizes)} dimensions")
        return [Spec((*lead, *sizes), arrays[0].dtype if kind is None else numpy.dtype(kind)) for kind in kinds]

    return rule


def _sampled(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer images whose elements are read at the places of a grid."""
    return [Spec((*arrays[0].shape[:2], *arrays[1].shape[1:-1]), arrays[0].dtype)]


def _scaled(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the result of Resize, whose scales are passed as float32."""
    scales = [float(numpy.float32(scale)) for scale in a["scales"]]
    shape = arrays[0].shape
    if len(scales) != len(shape):
        raise Refused(f"scales has {len(scales)} numbers, expected {len(shape)}, one per dimension of {shape}")
    return [Spec(tuple(math.floor(size * scale) for size, scale in zip(shape, scales)), arrays[0].dtype)]


def _overlaps(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer a number per pair of boxes, or per box if they are aligned."""
    boxes, others = arrays[:2]
    return [Spec((boxes.shape[0], 1 if a["aligned"] else others.shape[0]), boxes.dtype)]


TABLE: dict[Rule, str] = {
    _overlaps: "iou",
    _images: "im2col_backward",
    lambda a, arrays: [Spec((*arrays[0].shape[:2], *[1] * (len(arrays[0].shape) - 2)), arrays[0].dtype)]: """
        global_average_pool global_max_pool""",
    _scaled: "resize",
    _sampled: "grid_sampler2_d grid_sampler3_d",
    lambda a, arrays: [Spec((a["size"][0], *a["size"][2:], len(a["size"]) - 2), arrays[0].dtype)]: "affine_grid",
    lambda a, arrays: [Spec(array.shape, array.dtype) for array in arrays[1:3]]: """
        grid_sampler2_d_backward grid_sampler3_d_backward""",
    _pooled(2): "avg_pool2d max_pool",
    _pooled(3): "avg_pool3d",
    _pooled(2, "i8"): "max_pool2d_with_indices",
    _pooled(3, "i4"): "max_pool3d_with_argmax",
    _pooled_with_mask: "max_pool2d_with_mask",
    _resized(None): """
        adaptive_avg_pool2d adaptive_avg_pool3d max_unpool2d max_unpool3d
        upsample_nearest1d upsample_nearest1d_v2 upsample_nearest2d upsample_nearest2d_v2 upsample_nearest3d
        upsample_nearest_exact1d upsample_nearest_exact2d upsample_nearest_exact3d upsample_linear1d
        upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d upsample_bilinear2d_aa upsample_bicubic2d_aa""",
    lambda a, arrays: [Spec(tuple(a["input_size"]), arrays[0].dtype)]: """
        upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward
        upsample_nearest_exact1d_backward upsample_nearest_exact2d_backward upsample_nearest_exact3d_backward
        upsample_linear1d_backward upsample_bilinear2d_backward upsample_bilinear2d_backward_v2
        upsample_trilinear3d_backward upsample_bicubic2d_backward upsample_bilinear2d_aa_backward
        upsample_bicubic2d_aa_grad""",
    _resized(None, "i8"): "adaptive_max_pool2d",
    _resized(None, "i4"): "adaptive_max_pool3d",
    lambda a, arrays: [Spec(arrays[1].shape, arrays[0].dtype)]: """
        avg_pool2d_backward avg_pool3d_backward adaptive_avg_pool2d_backward adaptive_avg_pool3d_backward
        adaptive_max_pool3d_backward max_pool2d_with_indices_backward max_pool2d_with_mask_backward
        max_pool3d_with_argmax_backward max_unpool2d_backward max_unpool3d_backward""",
}
