"""Types and shapes as operators combine them: common types, broadcasting, reduced dimensions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy

Arguments = Mapping[str, Any]
BOOL, LONG, FLOAT, DOUBLE = (numpy.dtype(name) for name in ("?", "i8", "f4", "f8"))
ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}  # the wider kind has the higher number; bfloat16 has kind V
SOLE = ("u2", "u4", "u8")  # types that have no common type with any other


class Refused(ValueError):
    """Raised for arguments that an operator cannot take; has the reason and the advice."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.reason, self.advice = reason, advice


class Spec(NamedTuple):
    """The shape and type of an output to be allocated."""

    shape: tuple[int, ...]
    dtype: Any


# One for each required output, or for the first outputs of all, where None is an optional one that is left out.
Specs = list[Union[Spec, list[Spec], None]]
Rule = Callable[[Arguments, "list[Any]"], Specs]


# --- Types


def meet(one: Any, other: Any) -> Any:
    """Return the common type of the elements of two arrays."""
    if one == other:
        return one
    low, high = sorted((one, other), key=lambda kind: ORDER[kind.kind])
    ranks = ORDER[low.kind], ORDER[high.kind]
    if any(kind.str[1:] in SOLE for kind in (one, other)):
        raise Refused(f"{one} and {other} have no common type", "convert one of them: acl.nn.cast(array, dtype)")
    if ranks[0] == ranks[1]:
        if ranks[0] == 1 and low.kind != high.kind and low.itemsize == high.itemsize:
            return numpy.dtype("i2")  # of int8 and uint8
        if ranks[0] == 1 and low.kind != high.kind:
            return low if low.kind == "i" else high  # the signed one is wider
        if low.itemsize == high.itemsize:
            return FLOAT  # of float16 and bfloat16
        return low if low.itemsize > high.itemsize else high
    if ranks[1] == 3 and low == DOUBLE:
        return numpy.dtype("c16")
    return high


def type_of_number(value: Any) -> Any:
    """Return the type with which a number is passed to operators."""
    if isinstance(value, numpy.generic):
        return value.dtype
    kinds = {bool: "?", int: "i8", float: "f8", complex: "c16"}
    return numpy.dtype(kinds.get(type(value), "f8"))


def meet_number(kind: Any, value: Any) -> Any:
    """Return the common type of an array's elements and a number."""
    number = type_of_number(value)
    if ORDER[number.kind] <= ORDER[kind.kind]:
        return kind
    if number.kind == "c":
        return numpy.dtype("c16" if kind == DOUBLE else "c8")
    return FLOAT if ORDER[number.kind] == 2 else number


def floating(kind: Any) -> Any:
    """Return the type of fractional results: float32 for integers and bool, otherwise the type itself."""
    return FLOAT if ORDER[kind.kind] < 2 else kind


def met(arrays: Sequence[Any]) -> Any:
    """Return the common type of arrays."""
    kind = arrays[0].dtype
    for array in arrays[1:]:
        kind = meet(kind, array.dtype)
    return kind


def asked(a: Arguments, usual: Any) -> Any:
    """Return the type that ``dtype=`` names."""
    wanted = a.get("dtype")
    return usual if wanted is None else wanted


# --- Shapes


def stretch(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape to which arrays are broadcast."""
    try:
        return numpy.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise Refused(f"{shapes} cannot be broadcast together", "reshape them, or use dimensions of 1") from None


def axis_of(value: Any, rank: int, name: str = "dim") -> int:
    """Return the index of a dimension, which may be counted from the end."""
    most = max(rank, 1)
    if not isinstance(value, (int, numpy.integer)) or not -most <= value < most:
        raise Refused(f"{name} is {value!r}, expected {-most} to {most - 1}")
    return int(value) % most


def _dims(a: Arguments) -> Any:
    """Return the value of the parameter that names dimensions, under any of its names."""
    return next((a[name] for name in ("dim", "dims", "axes") if name in a), None)


def reduced(a: Arguments, array: Any) -> tuple[int, ...]:
    """Return the shape after a reduction over the dimensions that are given, or over all."""
    given = _dims(a)
    given = () if given is None else given if isinstance(given, (list, tuple)) else (given,)
    rank = len(array.shape)
    gone = {axis_of(value, rank) for value in given}
    if not gone and not a.get("noop_with_empty_dims") and not a.get("noop_with_empty_axes"):
        gone = set(range(rank))
    keeps = any(a.get(name) for name in ("keep_dim", "keep_dims", "keepdim"))
    return tuple(1 if place in gone else size for place, size in enumerate(array.shape) if keeps or place not in gone)


def gradient_mask(a: Arguments) -> list[bool]:
    """Return which of the gradients of an input, a weight and a bias are asked for."""
    mask = a["output_mask"]
    if not isinstance(mask, (list, tuple)) or len(mask) != 3:
        raise Refused(f"output_mask is {mask!r}, expected 3 truth values")
    return [bool(wanted) for wanted in mask]
