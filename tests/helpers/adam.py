"""State of the optimiser Adam, and a step of it with decoupled weight decay, for tests."""

import numpy

from helpers.norms import positive
from helpers.operands import near


def any_state(case, shape):
    """Return tensors of a variable, its moments and a gradient, and their values."""
    kinds = (None, None, positive, None)
    made = [case.take(shape) if values is None else case.take(shape, values=values) for values in kinds]
    return [tensor for tensor, _ in made], [values for _, values in made]


def step(state, rate, betas, powers, decay, epsilon, greatest=None, maximize=False):
    """Return the variable, the moments and the greatest squares after a step; ``powers`` are those of the betas."""
    variable, mean, square, slope = state
    slope = -slope if maximize else slope
    mean, square = betas[0] * mean + (1 - betas[0]) * slope, betas[1] * square + (1 - betas[1]) * slope**2
    greatest = square if greatest is None else numpy.maximum(greatest, square)
    update = mean / (1 - powers[0]) / (numpy.sqrt(greatest / (1 - powers[1])) + epsilon)
    return variable * (1 - rate * decay) - rate * update, mean, square, greatest


def same_state(npu, case, tensors, expected):
    """Compare tensors with values that are rounded once."""
    for tensor, values in zip(tensors, expected):
        near(npu.get(tensor), values, case.kind, 1e-9 * (1 + numpy.abs(values)))
