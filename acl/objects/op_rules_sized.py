"""The largest shapes and the types of outputs whose size is known only when the operator has run.

``acl.nn`` allocates such an output with its largest shape, waits for the operator, and returns the part that is the
result. An output that was not asked for has the shape ``(0,)``.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy

from acl.objects.op_types import LONG, Arguments, Refused, Rule, Spec, Specs, axis_of, stretch

FLAT = 1000  # as a dimension of UniqueConsecutive: the elements are compared


def _indices(by_element: bool) -> Rule:
    """Return the rule of Nonzero, one row of indices per element, or of NonzeroV2, one column per element."""

    def rule(a: Arguments, arrays: list[Any]) -> Specs:
        shape = arrays[0].shape
        sizes = math.prod(shape), max(len(shape), 1)
        return [Spec(sizes if by_element else sizes[::-1], LONG)]

    return rule


def _selected(a: Arguments, arrays: list[Any]) -> Specs:
    return [Spec((math.prod(stretch(arrays)),), arrays[0].dtype)]


def _numbers(shape: Sequence[int], wanted: Any) -> Spec:
    """Return an output of indices or counts, which is empty if it is not wanted."""
    return Spec(tuple(shape) if wanted else (0,), LONG)


def _unique(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the different elements, the inverse, and the counts; with counts, the inverse is computed as well."""
    shape, kind = arrays[0].shape, arrays[0].dtype
    every, counts = (math.prod(shape),), a.get("return_counts", False)
    specs: Specs = [Spec(every, kind), _numbers(shape, a["return_inverse"] or counts)]
    return [*specs, _numbers(every, counts)] if "return_counts" in a else specs


def _unique_dim(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer the different slices along a dimension, the inverse, and the counts, which UniqueDim always returns."""
    shape, kind = arrays[0].shape, arrays[0].dtype
    if not shape:
        raise Refused("an array without dimensions has no slices", "use acl.nn.unique2")
    size = (shape[axis_of(a["dim"], len(shape))],)
    counts = a.get("return_counts", True)
    wanted = a["return_inverse"] or ("return_counts" in a and counts)
    return [Spec(shape, kind), _numbers(size, wanted), _numbers(size, counts)]


def _unique_consecutive(a: Arguments, arrays: list[Any]) -> Specs:
    return (_unique if a["dim"] == FLAT else _unique_dim)(a, arrays)


def _suppressed(a: Arguments, arrays: list[Any]) -> Specs:
    """Infer three indices for each box that may be selected: at most so many for each class of each image."""
    images, classes, boxes = arrays[1].shape if len(arrays[1].shape) == 3 else (0, 0, 0)
    most = a["max_output_boxes_per_class"]
    most = most[0] if isinstance(most, (list, tuple)) else most
    return [Spec((images * classes * max(0, min(most, boxes)), 3), numpy.dtype("i4"))]


TABLE: dict[Rule, str] = {
    _indices(True): "nonzero",
    _indices(False): "nonzero_v2",
    _selected: "masked_select",
    _suppressed: "non_max_suppression",
    _unique: "unique unique2",
    _unique_dim: "unique_dim",
    _unique_consecutive: "unique_consecutive",
}
