"""References of rotary positions, in double; both return the sizes of the terms as well."""

import numpy

from helpers.operands import near


def turned(x, mode):
    """Return what is multiplied by the sine: mode 0 half, 1 interleaved pairs, 2 quarters."""
    count = x.shape[-1]
    parts = x.reshape(*x.shape[:-1], *{0: (1, 2, count // 2), 1: (count // 2, 2, 1), 2: (2, 2, count // 4)}[mode])
    return numpy.stack([-parts[..., 1, :], parts[..., 0, :]], -2).reshape(x.shape)


def regrouped(x):
    """Return the elements with even indices, then those with odd ones."""
    return numpy.concatenate([x[..., ::2], x[..., 1::2]], -1)


def rotate(x, cosines, sines, mode):
    """Return x at its positions; mode 3 regroups x and turns halves."""
    x, mode = (regrouped(x), 0) if mode == 3 else (x, mode)
    other = turned(x, mode)
    return x * cosines + other * sines, numpy.abs(x * cosines) + numpy.abs(other * sines)


def rotate_back(slopes, cosines, sines, mode):
    """Return the gradient of x."""
    other = turned(sines * slopes, 0 if mode == 3 else mode)
    found = [cosines * slopes - other, numpy.abs(cosines * slopes) + numpy.abs(other)]
    if mode == 3:
        half = slopes.shape[-1] // 2
        found = [numpy.stack([each[..., :half], each[..., half:]], -1).reshape(slopes.shape) for each in found]
    return found


def same(npu, tensor, expected, size):
    """Compare a sum of two products, computed in float and rounded once."""
    near(npu.get(tensor), expected, tensor.kind, 2.0**-22 * size)
