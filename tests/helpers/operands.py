"""Operands for tests of operators: element types and their common types, random values and views, comparisons."""

import functools
import os

import numpy
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from helpers.tensors import from_bfloat, storage, to_bfloat

NULLPTR, INVALID = 161001, 161002
KINDS = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "b2", "f4", "f8", "c8", "c16"]
# The common type of two types: a row per type, columns in the order of KINDS.
MEET = {
    "?": "? u1 i1 i2 i4 i8 f2 b2 f4 f8 c8 c16",
    "u1": "u1 u1 i2 i2 i4 i8 f2 b2 f4 f8 c8 c16",
    "i1": "i1 i2 i1 i2 i4 i8 f2 b2 f4 f8 c8 c16",
    "i2": "i2 i2 i2 i2 i4 i8 f2 b2 f4 f8 c8 c16",
    "i4": "i4 i4 i4 i4 i4 i8 f2 b2 f4 f8 c8 c16",
    "i8": "i8 i8 i8 i8 i8 i8 f2 b2 f4 f8 c8 c16",
    "f2": "f2 f2 f2 f2 f2 f2 f2 f4 f4 f8 c8 c16",
    "b2": "b2 b2 b2 b2 b2 b2 f4 b2 f4 f8 c8 c16",
    "f4": "f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c8 c16",
    "f8": "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c16 c16",
    "c8": "c8 c8 c8 c8 c8 c8 c8 c8 c8 c16 c8 c16",
    "c16": "c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16",
}
ORDER = {"?": 0, "u1": 1, "i1": 1, "i2": 1, "i4": 1, "i8": 1, "f2": 2, "b2": 2, "f4": 2, "f8": 2, "c8": 3, "c16": 3}
UNSIGNED = ["u2", "u4", "u8"]  # few operators take them, and they have no common type with others
ORDER.update(dict.fromkeys(UNSIGNED, 1))
# The tolerated relative error of a result that is computed from many operands.
PARTS = {"f2": 2**-10, "b2": 2**-7, "f4": 2**-22, "f8": 2**-50, "c8": 2**-21, "c16": 2**-50}
# The relative error of one rounding to the type: half the distance of neighbouring numbers.
ROUNDING = {"f2": 2**-11, "b2": 2**-8, "f4": 2**-24, "f8": 2**-53}
FLOAT16_END = 65520.0  # from here on float16 rounds to infinity

# How many random examples a test draws; ACL_EXAMPLES sets a larger number for long runs.
EXAMPLES = int(os.environ.get("ACL_EXAMPLES", "25"))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def meet(one, other):
    return MEET[one].split()[KINDS.index(other)]


def meet_scalar(tensor, scalar):
    if (tensor, scalar) == ("c8", "f8"):
        return "c16"
    if ORDER[scalar] <= ORDER[tensor]:
        return tensor
    if ORDER[scalar] == 3:
        return "c16" if tensor == "f8" else "c8"
    return "f4" if ORDER[scalar] == 2 else scalar


def casts(one, other):
    return ORDER[one] <= ORDER[other] or ORDER[one] == ORDER[other] == 1


def exact(values, kind):
    """Return values in a type that is wide enough for computations."""
    if kind == "b2":
        return from_bfloat(values).astype("f8")
    return values if ORDER[kind] < 2 else values.astype("c16" if ORDER[kind] == 3 else "f8")


def stored(values, kind):
    """Return wide values in the type that is stored in memory: bit patterns for bfloat16; integers wrap."""
    with numpy.errstate(over="ignore", invalid="ignore"):
        return to_bfloat(values) if kind == "b2" else numpy.asarray(values).astype(kind)


def rounded(values, kind):
    """Return wide values after rounding to a type."""
    return exact(stored(values, kind), kind)


def close(found, expected, error):
    """Assert that floats differ by at most ``error``."""
    with numpy.errstate(invalid="ignore"):
        within = numpy.abs(found - expected) <= error
    assert numpy.all(within | (found == expected) | (numpy.isnan(found) & numpy.isnan(expected)))


def near(found, expected, out_kind, error):
    """Compare floats with exact ones, allowing one rounding to the type and an ``error``, which may be per element."""
    found, expected = exact(found, out_kind), numpy.asarray(expected, "f8")
    size, smallest = numpy.abs(expected), 2.0**-24 if out_kind == "f2" else 2.0**-126
    if out_kind == "f2":
        infinite = numpy.copysign(numpy.inf, expected)
        expected = numpy.where((found == infinite) & (size + error >= FLOAT16_END), infinite, expected)
    close(found, expected, ROUNDING[out_kind] * size * 1.001 + error + smallest)


def numbers(generator, shape, kind):
    """Return random values in the type that is stored in memory."""
    if ORDER[kind] == 0:
        return numpy.asarray(generator.integers(0, 2, shape)).astype("?")
    if ORDER[kind] == 1:
        return numpy.asarray(generator.integers(-100, 100, shape)).astype(kind)
    values = generator.normal(0, 8, shape)
    return stored(values + 1j * generator.normal(0, 8, shape) if ORDER[kind] == 3 else values, kind)


@functools.cache  # hypothesis checks each new strategy, which takes longer than to draw from it
def layouts(rank):
    """Return a strategy for the order of an array's axes in memory, and for the step along each."""
    return st.tuples(st.permutations(range(rank)), st.tuples(*[st.sampled_from([1, 1, 2, 3, -1, -2])] * rank))


def any_view(draw, generator, shape, kind, values=numbers):
    """Return a contiguous array and a view of it with this shape, its axes in any order and direction, with gaps."""
    axes, steps = draw(layouts(len(shape)))
    sizes = [dim * abs(step) for dim, step in zip(shape, steps)]
    base = numpy.asarray(values(generator, [sizes[axis] for axis in axes], kind))
    view = base.transpose(numpy.argsort(axes)) if shape else base
    if shape:
        view = view[tuple(slice(None, None, step) for step in steps)]
    return base, view


def moved(draw, npu, expect, least=0, kinds=KINDS, shape=None):
    """Return self, the result as a tensor, and what it should hold: what ``expect`` makes of an array."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(kinds))
    base, view = any_view(draw, generator, any_shape(draw, least) if shape is None else shape, kind)
    expected = expect(view)
    return npu.view(base, view, kind), npu.view(*any_view(draw, generator, expected.shape, kind), kind), expected


def check_written(npu, tensor, values):
    """Assert that a tensor holds exactly these values, and that nothing around them has changed."""
    whole = tensor.base.copy()
    first = tensor.view.ctypes.data - tensor.base.ctypes.data if tensor.view.size else 0
    numpy.ndarray(tensor.view.shape, whole.dtype, whole.data if whole.nbytes else None, first, tensor.view.strides)[
        ...
    ] = values
    assert numpy.array_equal(npu.get(tensor._replace(view=tensor.base)), whole, equal_nan=whole.dtype.kind in "fc")


def any_shape(draw, least=0):
    """Return a shape of few dimensions, or one of a single longer dimension."""
    if draw(st.booleans()):
        return draw(st.lists(st.integers(0, 4), min_size=least, max_size=4))
    return [draw(st.integers(1, 600))]


def stretched(draw, shape):
    """Return a shape that is broadcast to this one."""
    return [1 if draw(st.integers(0, 3)) == 0 else dim for dim in shape][draw(st.integers(0, len(shape))) :]


def blank(npu, kind, shape=(2, 3)):
    """Return a tensor of zeros."""
    return npu.tensor(numpy.zeros(shape, storage(kind)), kind)
