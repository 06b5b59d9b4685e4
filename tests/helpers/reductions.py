"""Random cases of reductions: a view, the dimensions that are reduced, and the results."""

import numpy
from hypothesis import strategies as st

from helpers.operands import ORDER, any_shape, any_view, casts, exact, stored


class Case:
    """A view to reduce, the dimensions that go, and the shape that is left."""

    def __init__(self, draw, kinds, single=False, some=False):
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.draw, self.kind = draw, draw(st.sampled_from(kinds))
        shape = any_shape(draw)
        rank = len(shape)
        self.axes = draw(st.lists(st.integers(0, rank - 1), unique=True, max_size=rank)) if rank else []
        if single:
            self.axes = [draw(st.integers(0, rank - 1))] if rank else []
        self.reduced = tuple(self.axes) if self.axes else tuple(range(rank))
        if some:
            shape = [max(dim, 1) if axis in self.reduced else dim for axis, dim in enumerate(shape)]
        self.keep = draw(st.booleans())
        self.base, self.view = any_view(draw, self.generator, shape, self.kind)
        self.dims = [axis - rank if draw(st.booleans()) else axis for axis in self.axes]
        self.dim = self.dims[0] if self.dims else draw(st.sampled_from([0, -1]))

    def out(self, npu, shape, kind):
        return npu.view(*any_view(self.draw, self.generator, shape, kind), kind)

    def self(self, npu):
        return npu.view(self.base, self.view, self.kind)

    def wide(self):
        return exact(self.view, self.kind)

    def over(self, function, values=None, **options):
        values = self.wide() if values is None else values
        return numpy.asarray(function(values, axis=self.reduced, keepdims=self.keep, **options))


def wrapped(values, kind):
    """Return integers as a type keeps them; others as they are."""
    return values.astype(kind) if ORDER[kind] < 2 else values


def sums(case, kind, values=None):
    """Return sums over integers of 64 bits, or over numbers wide enough, and the size of the summands."""
    whole = ORDER[kind] < 2
    values = case.wide() if values is None else values
    values = wrapped(values, kind).astype("i8") if whole else values
    total = case.over(numpy.sum, values, dtype="i8" if whole else "c16" if ORDER[kind] == 3 else "f8")
    return total, case.over(numpy.sum, numpy.abs(values.astype("c16")))


def kinds_between(draw, case, kinds):
    """Return a type that self can be cast to, and one that this can be cast to."""
    kind = draw(st.sampled_from([one for one in kinds if casts(case.kind, one)]))
    fits = [one for one in kinds if casts(kind, one)]
    return kind, draw(st.sampled_from([one for one in fits if case.view.size or ORDER[one] < 3] or [None]))


def extreme_values(case):
    """Put some NaNs where there can be any."""
    if ORDER[case.kind] == 2 and case.draw(st.booleans()):
        holes = case.generator.integers(0, 9, case.base.shape) == 0
        case.base[...] = numpy.where(holes, stored(numpy.nan, case.kind), case.base)
