"""Calls of pointwise operators: operands that are broadcast, and what becomes of values on their way."""

from collections import namedtuple

import numpy
from hypothesis import settings
from hypothesis import strategies as st

from helpers.operands import KINDS, ORDER, SETTINGS, UNSIGNED, any_view, check, exact, meet, numbers
from helpers.tensors import storage, to_bfloat

FEWER = settings(SETTINGS, max_examples=60)
FLOATS = [kind for kind in KINDS if ORDER[kind] == 2]
INTEGERS = [kind for kind in KINDS if ORDER[kind] == 1]
COMPLEX = ["c8", "c16"]
SINGLE = ["f4", "f2", "b2"]
REAL = ["?", *INTEGERS, *FLOATS]
ALL = [*KINDS, *UNSIGNED]
# The smallest step of a type.
LEAST = {"f2": 2.0**-24, "b2": 2.0**-133, "f4": 2.0**-149, "c8": 2.0**-148}

Case = namedtuple("Case", "kinds views out_kind out")


def few(generator, shape, kind):
    """Return random values of which many are equal."""
    values = numpy.asarray(generator.integers(-3, 4, shape))
    return to_bfloat(values).reshape(shape) if kind == "b2" else values.astype(kind)


@st.composite
def cases(draw, pools, out_kinds, in_place=False, values=numbers):
    """Draw a :class:`Case`: operands of kinds from the pools, and a result of the shape that they broadcast to.

    ``out_kinds(*kinds)`` are the kinds to draw that of the result from; in place it is the first operand.
    """
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.integers(0, 4), max_size=4)) if draw(st.booleans()) else [draw(st.integers(1, 600))]
    kinds = [draw(st.sampled_from(pool)) for pool in pools]
    shapes = [[1 if draw(st.integers(0, 3)) == 0 else dim for dim in shape] for _ in pools]
    shapes = [dims[draw(st.integers(0, len(shape))) :] for dims in shapes]
    if in_place:
        shapes[0] = shape
        out_kind = kinds[0]
    else:
        shape = list(numpy.broadcast_shapes(*shapes))
        out_kind = draw(st.sampled_from(out_kinds(*kinds)))
    views = [any_view(draw, generator, *each, values) for each in zip(shapes, kinds)]
    return Case(kinds, views, out_kind, any_view(draw, generator, shape, out_kind))


def rounded(values, kind):
    """Return wide values as a type keeps them, in a type of NumPy's wide enough; integers wrap."""
    with numpy.errstate(over="ignore", invalid="ignore"):
        if kind == "b2":
            return as_bfloat(numpy.asarray(values, "f8"))
        values = numpy.asarray(values)
        return exact((values != 0) if kind == "?" else values.astype(kind), kind)


def as_bfloat(values):
    """Return doubles rounded to bfloat16, at once: through float32 some would become ties."""
    step = numpy.maximum(numpy.frexp(values)[1] - 8, -133)
    whole = numpy.ldexp(numpy.rint(numpy.ldexp(values, -step)), step)
    return numpy.where(numpy.abs(whole) >= 2.0**128, numpy.copysign(numpy.inf, values), whole)


def joint(case):
    """Return the kind that the first two operands meet in, and all values as it keeps them."""
    kind = meet(*case.kinds[:2])
    return kind, [rounded(exact(view, one), kind) for (_, view), one in zip(case.views, case.kinds)]


def compare(found, expected, kind, out_kind, size=None, parts=1):
    """Compare with the wide result of a computation in ``kind``; ``size`` is as in :func:`check`, default the result.

    ``parts`` widens the tolerance of operators whose error is not that of one rounding.
    """
    expected = rounded(rounded(expected, kind) if ORDER[kind] < 2 else expected, out_kind)
    with numpy.errstate(invalid="ignore", over="ignore"):
        size = numpy.abs(expected) if size is None else size
        size = numpy.where(numpy.isfinite(size), size, 0)
        check(found, expected, kind, out_kind, parts * size, LEAST.get(out_kind, 2.0**-1074))


def place(npu, case, in_place=False):
    """Return the tensors of a case: the operands, and the result."""
    tensors = [npu.view(*view, kind) for view, kind in zip(case.views, case.kinds)]
    return tensors, tensors[0] if in_place else npu.view(*case.out, case.out_kind)


def blank(npu, kind, shape=(2, 3)):
    """Return a tensor of zeros."""
    return npu.tensor(numpy.zeros(shape, storage(kind)), kind)
