"""Operands and references for tests of normalizations."""

import numpy
from hypothesis import strategies as st

import acl
from helpers.operands import any_view, exact, near, numbers, stored
from helpers.pointwise import SINGLE


class Case:
    """Random tensors of one call; the exact values of each are remembered as doubles."""

    def __init__(self, npu, draw):
        self.npu, self.draw = npu, draw
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind = draw(st.sampled_from(SINGLE))

    def beside(self):
        """Return the type of a tensor with statistics or weights: the input's or float32."""
        return self.draw(st.sampled_from([self.kind, "f4"]))

    def take(self, shape, kind=None, values=numbers):
        """Return a tensor and its exact values."""
        kind = kind or self.kind
        base, view = any_view(self.draw, self.generator, list(shape), kind, values)
        return self.npu.view(base, view, kind), exact(view, kind).astype("f8")

    def take_or_none(self, shape, kind=None, values=numbers):
        """Return the same, or 0 and None."""
        return self.take(shape, kind, values) if self.draw(st.booleans()) else (0, None)

    def mask(self):
        """Return an output mask and its handle."""
        flags = [self.draw(st.booleans()) for _ in range(3)]
        return flags, mask(self.npu, flags)


def mask(npu, flags):
    """Return an array of booleans."""
    handle = acl.create_bool_array([int(flag) for flag in flags])
    assert handle != 0
    npu.ends.append((acl.destroy_bool_array, handle))
    return handle


def positive(generator, shape, kind):
    """Return random values that are suitable as variances and as reciprocals of deviations."""
    return stored(0.1 + numpy.abs(generator.normal(0, 2, shape)), kind)


def agree(npu, tensor, expected, size=0.0):
    """Compare a result, which is rounded once; ``size`` is that of intermediate values that may cancel."""
    expected = numpy.asarray(expected, "f8")
    if expected.size:
        error = 2.0**-40 * (size + numpy.max(numpy.abs(expected), initial=0.0))
        near(npu.get(tensor), expected.reshape(tensor.view.shape), tensor.kind, error)


def unchanged(npu, tensor):
    """Assert that a tensor holds the values that it was made with."""
    assert numpy.array_equal(npu.get(tensor), tensor.view)


def gradient(slopes, values, mean, rstd, weight, axes, centred=True, through=True):
    """Return the gradient of the input of a normalization, the normalized values, and the size of its terms.

    ``mean``, ``rstd`` and ``weight`` are broadcast to the values; ``axes`` are those of a slice.
    """
    plain = (values - mean) * rstd
    scaled = slopes * weight
    if not values.size:
        return scaled, plain, 0.0
    shift = scaled.mean(axis=axes, keepdims=True) if through and centred else 0.0
    slant = plain * (scaled * plain).mean(axis=axes, keepdims=True) if through else 0.0
    size = numpy.max(numpy.abs(scaled), initial=0.0) * (1 + numpy.max(numpy.abs(plain), initial=0.0)) ** 2
    return (scaled - shift - slant) * rstd, plain, size * (1 + numpy.max(rstd, initial=0.0))
