"""References and calls for tests of attention, in double; heads are arrays (..., N, S, D)."""

from collections import namedtuple
from pathlib import Path

import numpy
from hypothesis import strategies as st

from acl import abi, nnop
from helpers.operands import any_view, exact, near, stored

FAR = 2**31 - 1
ROWS = abi.rows(Path(__file__).resolve().parents[2] / "simulator" / "ops" / "rows")
# What a call passes for parameters that a test does not name; 0 for all others.
DEFAULTS = {"scaleValue": 1.0, "keepProb": 1.0, "preTokens": FAR, "nextTokens": FAR, "pseType": 1}

Soft = namedtuple("Soft", "weights most total")


def plain_name(parameter):
    """Return the name of a parameter without the suffix that only some versions of an operator have."""
    return parameter.name.removesuffix("Optional")


def parameters(name):
    """Return the names of an operator's parameters."""
    return [plain_name(parameter) for parameter in ROWS[nnop._operators()[name]["name"]].params]


def call(npu, name, **given):
    """Call an operator with arguments by name; arrays of integers are lists."""
    values = []
    for parameter in parameters(name):
        value = given.pop(parameter, DEFAULTS.get(parameter, 0))
        if isinstance(value, list):
            value = npu.list(value) if value and hasattr(value[0], "handle") else npu.integers(value)
        values.append(value)
    assert not given, f"{name} lacks {sorted(given)}"
    return npu.call(name, *values)


# --- Layouts


def shape_of(layout, batches, heads, rows, columns):
    """Return the shape of an operand; H are the columns of all heads."""
    sizes = {"B": batches, "N": heads, "S": rows, "T": rows, "D": columns, "H": heads * columns}
    return [sizes[letter] for letter in layout]


def to_heads(values, layout, heads):
    """Return an operand as (B, N, S, D); without a batch B is 1."""
    if "H" in layout:
        values, layout = values.reshape(*values.shape[:-1], heads, -1), layout.replace("H", "ND")
    if "B" not in layout:
        values, layout = values[None], f"B{layout}"
    return values.transpose([layout.replace("T", "S").index(letter) for letter in "BNSD"])


def from_heads(values, layout):
    """Return the inverse."""
    letters = layout.replace("H", "ND").replace("T", "S")
    values = values.transpose(["BNSD".index(letter) for letter in f"{'' if 'B' in letters else 'B'}{letters}"])
    values = values if "B" in letters else values[0]
    return values.reshape(*values.shape[:-2], -1) if "H" in layout else values


def ordinary(generator, shape, kind):
    """Return random values of usual size."""
    return stored(generator.normal(0, 1, shape), kind)


class Case:
    """Random operands of one call."""

    def __init__(self, npu, draw, kinds):
        self.npu, self.draw = npu, draw
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind = draw(st.sampled_from(kinds))

    def pick(self, *values):
        """Draw one of the values."""
        return self.draw(st.sampled_from(values))

    def take(self, shape, kind=None, values=ordinary):
        """Return a tensor, a view with any strides, and its exact values."""
        kind = kind or self.kind
        base, view = any_view(self.draw, self.generator, list(shape), kind, values)
        return self.npu.view(base, view, kind), exact(view, kind)

    def heads(self, layout, batches, heads, rows, columns, kind=None):
        """Return an operand in a layout, and its heads."""
        tensor, values = self.take(shape_of(layout, batches, heads, rows, columns), kind)
        return tensor, to_heads(values, layout, heads)

    def mask(self, shape, kinds=("?", "u1")):
        """Return a mask, and where it is not 0."""
        tensor, values = self.take(shape, self.pick(*kinds), lambda generator, sizes, kind: stored(
            generator.integers(0, 2, sizes), kind))  # fmt: skip
        return tensor, values != 0


# --- References


def band(queries, keys, mode, before=FAR, after=FAR):
    """Return which keys a sparse mode from 0 to 4 hides from each query."""
    apart = numpy.arange(keys) - numpy.arange(queries)[:, None]
    if mode in (3, 4):
        apart = apart - (keys - queries)
    if mode in (0, 4):
        return (apart > after) | (apart < -before)
    return apart > (FAR if mode == 1 else 0)


def grouped(values, heads):
    """Repeat the heads of keys or values for the query heads."""
    return numpy.repeat(values, heads // values.shape[-3], -3)


def soften(query, key, scale, shift=None, hidden=None, shift_first=False):
    """Return the weights of keys, and the greatest score and the sum of powers of each row."""
    scores = query @ numpy.swapaxes(grouped(key, query.shape[-3]), -1, -2)
    shift = 0.0 if shift is None else shift
    scores = (scores + shift) * scale if shift_first else scores * scale + shift
    scores = scores if hidden is None else numpy.where(hidden, -numpy.inf, scores)
    most = scores.max(-1, initial=-numpy.inf)
    powers = numpy.exp(scores - numpy.where(numpy.isneginf(most), 0, most)[..., None])
    total = powers.sum(-1)
    return Soft(powers / numpy.where(total == 0, 1, total)[..., None], most, total)


def mix(weights, value):
    """Return the weighted values, and the sum of their absolute terms."""
    value = grouped(value, weights.shape[-3])
    return weights @ value, numpy.abs(weights) @ numpy.abs(value)


def lse_of(soft):
    """Return the logarithms of the sums; infinity where all keys are masked."""
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.where(soft.total == 0, numpy.inf, soft.most + numpy.log(soft.total))


def agree(npu, tensor, expected, size=1.0, factor=1e-5):
    """Compare a result, with infinity in the same places; ``size`` is that of the terms of a sum."""
    found, infinite = npu.get(tensor), numpy.isinf(expected)
    assert numpy.array_equal(numpy.isinf(exact(found, tensor.kind)), infinite)
    error = numpy.broadcast_to(factor * numpy.asarray(size), expected.shape)
    near(found[~infinite], expected[~infinite], tensor.kind, error[~infinite])
