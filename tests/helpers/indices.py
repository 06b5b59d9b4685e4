"""Random indices for tests of operators, and devices on which a task fails because of one."""

from contextlib import contextmanager

import numpy
from hypothesis import strategies as st

import acl
from helpers.operands import any_view, exact, stored
from helpers.tensors import Device

AICORE_EXCEPTION = 507015
INDICES = ["i4", "i8"]


def any_indices(draw, generator, shape, length, negative=False):
    """Return a contiguous array and a view of it with indices into a dimension, and their type."""
    kind = draw(st.sampled_from(INDICES))
    base, view = any_view(draw, generator, shape, kind)
    base[...] = generator.integers(-length if negative else 0, length, base.shape)
    return base, view, kind


def updated(values, kind, mode, changes):
    """Return values after changes, pairs of a position and what updates it, each rounded to the type."""
    values = values.copy()
    for position, other in changes:
        if mode == "replace":
            values[position] = other
        else:
            with numpy.errstate(over="ignore", invalid="ignore"):
                combine = getattr(numpy, mode)
                values[position] = stored(combine(exact(values[position], kind), exact(other, kind)), kind)
    return values


@contextmanager
def failing():
    """Make a device whose tasks may fail, and reset the simulator at the end."""
    try:
        yield Device()
    finally:
        acl.sim.reset()
