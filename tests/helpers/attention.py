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


def with_sinks(soft, sinks):
    """Return the same with one more key per head, which has no value."""
    sinks = sinks[:, None]
    most = numpy.maximum(soft.most, sinks)
    kept = soft.total * numpy.exp(soft.most - most)
    total = kept + numpy.exp(sinks - most)
    return Soft(soft.weights * (kept / total)[..., None], most, total)


def mix(weights, value):
    """Return the weighted values, and the sum of their absolute terms."""
    value = grouped(value, weights.shape[-3])
    return weights @ value, numpy.abs(weights) @ numpy.abs(value)


def lse_of(soft):
    """Return the logarithms of the sums; infinity where all keys are masked."""
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.where(soft.total == 0, numpy.inf, soft.most + numpy.log(soft.total))


def factor_of(most):
    """Return the relative error of sums of exponentials of floats: it grows with the scores.

    ``most`` are the greatest scores of the rows, or the logarithms of the sums.
    """
    return 1e-5 + 2.0**-22 * numpy.abs(most[numpy.abs(most) < 1e30]).max(initial=0)


def agree(npu, tensor, expected, size=1.0, factor=1e-5):
    """Compare a result, with infinity in the same places; ``size`` is that of the terms of a sum."""
    found, infinite = npu.get(tensor), numpy.isinf(expected)
    assert numpy.array_equal(numpy.isinf(exact(found, tensor.kind)), infinite)
    error = numpy.broadcast_to(factor * numpy.asarray(size), expected.shape)
    near(found[~infinite], expected[~infinite], tensor.kind, error[~infinite])


# --- FlashAttentionScore and its gradient


def total_over_groups(values, heads):
    """Return the sums over the query heads that share a head of the keys."""
    return values.reshape(heads, len(values) // heads, *values.shape[1:]).sum(1)


class Training:
    """Operands of a call; ``ends`` are those of packed batches, as two lists, and ``rope`` the rotary columns."""

    def __init__(self, case, layout, ends=None, rope=0):
        self.case, self.layout, self.ends, self.rope = case, layout, ends, rope
        self.kv_heads = case.pick(1, 2)
        self.heads = self.kv_heads * case.pick(1, 2)
        self.columns, self.width = case.pick((5, 5), (24, 7))
        if ends is None:
            self.batches, rows, keys = case.pick(1, 2), case.pick(1, 4, 18), case.pick(1, 6, 70)
            self.parts = [(b, slice(0, rows), slice(0, keys)) for b in range(self.batches)]
        else:
            self.batches, rows, keys = 1, max(ends[0], default=0) + 1, max(ends[1], default=0) + 1
            starts = [[0, *each[:-1]] for each in ends]
            self.parts = [
                (0, *(slice(start if end else 0, end) for start, end in zip(start_pair, end_pair)))
                for start_pair, end_pair in zip(zip(*starts), zip(*ends))
            ]
        self.rows, self.keys = rows, keys
        self.scale, self.keep = case.pick(1.0, 0.5), 1.0
        self.hidden = self.shift = self.kept = self.sinks = None
        self.shift_first, self.extra = True, {}
        self.query, self.q = self.take(self.heads, rows, self.columns)
        self.key, self.k = self.take(self.kv_heads, keys, self.columns)
        self.value, self.v = self.take(self.kv_heads, keys, self.width)
        if rope:
            self.query_rope, more = self.take(self.heads, rows, rope)
            self.q = numpy.concatenate([self.q, more], -1)
            self.key_rope, more = self.take(self.kv_heads, keys, rope)
            self.k = numpy.concatenate([self.k, more], -1)

    def take(self, heads, rows, columns):
        """Return an operand of the call's layout, and its heads."""
        return self.case.heads(self.layout, self.batches, heads, rows, columns)

    def drop(self):
        """Drop some weights; a mask has one bit per weight."""
        self.keep = self.case.pick(0.5, 0.9)
        sizes = [(self.heads, rows.stop - rows.start, keys.stop - keys.start) for _, rows, keys in self.parts]
        self.kept = [self.case.generator.random(size) < self.keep for size in sizes]
        bits = numpy.concatenate([each.reshape(-1) for each in self.kept])
        mask = numpy.zeros(-(-bits.size // 128) * 16, "u1")
        packed = numpy.packbits(bits, bitorder="little")
        mask[: packed.size] = packed
        self.extra.update(dropMask=self.case.npu.tensor(mask), keepProb=self.keep)

    def sink(self, name):
        """Add sinks, the argument of this name."""
        self.extra[name], self.sinks = self.case.take((self.heads,), "f4")

    def given(self):
        """Return the arguments that the operator and its gradient share, except the key."""
        found = {"query": self.query, "value": self.value, "headNum": self.heads, "inputLayout": self.layout,
                 "scaleValue": self.scale, **self.extra}  # fmt: skip
        return found if self.ends is None else {**found, "actualSeqQLen": self.ends[0], "actualSeqKvLen": self.ends[1]}

    def batch(self, number):
        """Return query, key and value of a batch, its weights before dropout, and the factors of dropout."""
        place, rows, keys = self.parts[number]
        query, key, value = self.q[place][:, rows], self.k[place][:, keys], self.v[place][:, keys]
        size = query.shape[1], key.shape[1]
        hidden = None if self.hidden is None else self.hidden(number, *size)
        shift = None if self.shift is None else self.shift(number, *size)
        soft = soften(query, key, self.scale, shift, hidden, self.shift_first)
        soft = soft if self.sinks is None else with_sinks(soft, self.sinks)
        return query, key, value, soft, 1.0 if self.kept is None else self.kept[number] / self.keep

    def forward(self):
        """Return the result, the sizes of its terms, the greatest scores and the sums, as heads."""
        out = numpy.zeros((*self.q.shape[:-1], self.width))
        size, most, total = numpy.zeros_like(out), numpy.zeros(out.shape[:-1]), numpy.zeros(out.shape[:-1])
        for number, (place, rows, _) in enumerate(self.parts):
            _, _, value, soft, factors = self.batch(number)
            out[place][:, rows], size[place][:, rows] = mix(soft.weights * factors, value)
            most[place][:, rows] = numpy.maximum(soft.most, numpy.finfo("f4").min)
            total[place][:, rows] = soft.total
        return out, size, most, total

    def backward(self, upper, out):
        """Return the gradients of query, key and value, and the sizes of their terms, as heads."""
        found = [numpy.zeros_like(each) for each in (self.q, self.k, self.v)]
        sizes = [numpy.zeros_like(each) for each in found]
        for number, (place, rows, keys) in enumerate(self.parts):
            query, key, value, soft, factors = self.batch(number)
            given = upper[place][:, rows], out[place][:, rows]
            for results, one in ((found, lambda values: values), (sizes, numpy.abs)):
                query, key, value, slope, mine = (one(each) for each in (query, key, value, *given))
                inner = (slope @ numpy.swapaxes(grouped(value, self.heads), 1, 2)) * factors
                both = (slope * mine).sum(-1, keepdims=True)
                scores = soft.weights * (inner + both if results is sizes else inner - both) * self.scale
                results[0][place][:, rows] = scores @ grouped(key, self.heads)
                results[1][place][:, keys] = total_over_groups(numpy.swapaxes(scores, 1, 2) @ query, self.kv_heads)
                weights = numpy.swapaxes(soft.weights * factors, 1, 2)
                results[2][place][:, keys] = total_over_groups(weights @ slope, self.kv_heads)
        return found, sizes

    def sink_slopes(self, upper, out):
        """Return the gradients of the sinks, and the sizes of their terms."""
        found = numpy.zeros((2, self.heads))
        for number, (place, rows, _) in enumerate(self.parts):
            soft = self.batch(number)[3]
            shares = numpy.exp(self.sinks[:, None] - soft.most) / soft.total
            terms = shares * (upper[place][:, rows] * out[place][:, rows]).sum(-1)
            found += -terms.sum(-1), numpy.abs(terms).sum(-1)
        return found

    def statistic(self, numbers, like_input=False):
        """Return numbers of rows as the operator stores them: 8 times; packed batches have one head after another."""
        copies = numpy.repeat(numbers[..., None], 8, -1)
        if self.ends is None:
            return copies
        if like_input:
            return copies[0].transpose(1, 0, 2)
        batches = [copies[0][:, rows].reshape(-1) for _, rows, _ in self.parts]
        stored = numpy.concatenate(batches)
        return numpy.concatenate([stored, numpy.zeros(copies.size - stored.size)]).reshape(-1, self.heads, 8)
