"""Random images in any memory layout for tests of operators on images, and comparisons of their results."""

import numpy
from hypothesis import strategies as st

from helpers.operands import any_view, exact, near, numbers, stored
from helpers.pointwise import SINGLE

WHOLE = {"u1", "i1", "i2", "i4", "i8"}
ONE = 1e-12  # more than the rounding errors of sums in double


def wild(generator, shape, kind):
    """Return random values, many of them equal, with NaNs and infinities."""
    return stored(generator.choice([-numpy.inf, numpy.inf, numpy.nan, *range(-3, 4)], shape), kind)


class Case:
    """Random tensors of one kind; ``lead`` is the shape before the images."""

    def __init__(self, draw, npu, kinds=SINGLE, pools=(numbers, wild)):
        self.draw, self.npu = draw, npu
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind = draw(st.sampled_from(kinds))
        self.values = draw(st.sampled_from(pools))
        self.lead = [draw(st.integers(0, 2)), draw(st.integers(1, 2))][draw(st.integers(0, 1)) :]

    def given(self, shape, values=None):
        """Return a tensor of random values, and these as doubles."""
        base, view = any_view(self.draw, self.generator, shape, self.kind, values or self.values)
        return self.npu.view(base, view, self.kind), exact(view, self.kind).astype("f8")

    def out(self, shape, kind=None):
        """Return a tensor for a result."""
        kind = kind or self.kind
        return self.npu.view(*any_view(self.draw, self.generator, shape, kind), kind)

    def check(self, out, expected):
        """Compare a result: integers exactly, and floats after one rounding."""
        found = self.npu.get(out)
        if out.kind in WHOLE:
            assert numpy.array_equal(found, expected)
            return
        odd = [numpy.where(numpy.isfinite(each), 0, each) for each in (exact(found, out.kind), expected)]
        assert numpy.array_equal(*odd, equal_nan=True)
        near(found, expected, out.kind, ONE * (1 + numpy.abs(numpy.nan_to_num(expected))))
