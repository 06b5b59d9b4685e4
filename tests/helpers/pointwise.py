"""Calls of pointwise operators: operands that are broadcast, and the conversions and rounding of their values."""

from collections import namedtuple

import numpy
from hypothesis import settings
from hypothesis import strategies as st

from helpers.operands import (
    EXAMPLES,
    KINDS,
    ORDER,
    PARTS,
    SETTINGS,
    UNSIGNED,
    any_shape,
    any_view,
    close,
    exact,
    meet,
    numbers,
    rounded,
    stored,
    stretched,
)

FEWER = settings(SETTINGS, max_examples=min(EXAMPLES, 60))
FLOATS = [kind for kind in KINDS if ORDER[kind] == 2]
INTEGERS = [kind for kind in KINDS if ORDER[kind] == 1]
COMPLEX = ["c8", "c16"]
SINGLE = ["f4", "f2", "b2"]
REAL = ["?", *INTEGERS, *FLOATS]
ALL = [*KINDS, *UNSIGNED]
# The smallest distance of two numbers of a type.
LEAST = {"f2": 2.0**-24, "b2": 2.0**-133, "f4": 2.0**-149, "c8": 2.0**-148}

Case = namedtuple("Case", "kinds views out_kind out")


def few(generator, shape, kind):
    """Return random values, many of them equal."""
    return stored(generator.integers(-3, 4, shape), kind)


@st.composite
def cases(draw, pools, out_kinds, in_place=False, values=numbers):
    """Draw a :class:`Case`: operands of kinds from the pools, and a result of the shape that they broadcast to.

    The kind of the result is drawn from ``out_kinds(*kinds)``; with ``in_place`` the result is the first operand.
    """
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shape = any_shape(draw)
    kinds = [draw(st.sampled_from(pool)) for pool in pools]
    shapes = [stretched(draw, shape) for _ in pools]
    if in_place:
        shapes[0] = shape
        out_kind = kinds[0]
    else:
        shape = list(numpy.broadcast_shapes(*shapes))
        out_kind = draw(st.sampled_from(out_kinds(*kinds)))
    views = [any_view(draw, generator, *each, values) for each in zip(shapes, kinds)]
    return Case(kinds, views, out_kind, any_view(draw, generator, shape, out_kind))


def joint(case):
    """Return the common type of the first two operands, and all values rounded to it."""
    kind = meet(*case.kinds[:2])
    return kind, [rounded(exact(view, one), kind) for (_, view), one in zip(case.views, case.kinds)]


def compare(found, expected, kind, out_kind, size=None, parts=1):
    """Compare with the wide result of a computation in ``kind``.

    The error is relative to ``size``: the size of the summands if they can cancel, by default that of the result.
    ``parts`` widens the tolerance for operators with more than one rounding.
    """
    found = exact(found, out_kind)
    expected = rounded(rounded(expected, kind) if ORDER[kind] < 2 else expected, out_kind)
    if ORDER[out_kind] < 2:
        assert numpy.array_equal(found, expected)
        return
    with numpy.errstate(invalid="ignore", over="ignore"):
        size = numpy.abs(expected) if size is None else size
        size = numpy.where(numpy.isfinite(size), size, 0)
    part = parts * max(PARTS[out_kind], PARTS.get(kind, 0))
    close(found, expected, part * size + LEAST.get(out_kind, 2.0**-1074))


def place(npu, case, in_place=False):
    """Return the tensors of a case: the list of the operands, and the result."""
    tensors = [npu.view(*view, kind) for view, kind in zip(case.views, case.kinds)]
    return tensors, tensors[0] if in_place else npu.view(*case.out, case.out_kind)
