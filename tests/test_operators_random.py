"""Random numbers: the words of Philox, distributions in every type, moments, masks bit by bit, choices, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    ORDER,
    SETTINGS,
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    near,
    rounded,
    stored,
)
from helpers.pointwise import FLOATS, INTEGERS, REAL, SINGLE
from helpers.tensors import Device
from hypothesis import given
from hypothesis import strategies as st

import acl
from acl import nnop

FAILED = 507015
SEEDS = st.one_of(st.integers(0, 9), st.integers(-(2**63), 2**63 - 1))
LOW = numpy.uint64(2**32 - 1)
HALF = numpy.uint64(32)
MANY = 20000


def philox(counter, seed):
    """Return the words that Philox 4x32-10 makes of a counter: four arrays of 32 bits in uint64."""
    words = [numpy.asarray(word, "u8") for word in counter]
    keys = [seed % 2**32, (seed >> 32) % 2**32]
    for _ in range(10):
        first, second = numpy.uint64(0xD2511F53) * words[0], numpy.uint64(0xCD9E8D57) * words[2]
        high = [(second >> HALF) ^ words[1] ^ numpy.uint64(keys[0]), (first >> HALF) ^ words[3] ^ numpy.uint64(keys[1])]
        words = [high[0], second & LOW, high[1], first & LOW]
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return words


def drawn(shape, seed, offset):
    """Return two random words of 64 bits for each element of an array."""
    index = numpy.arange(int(numpy.prod(shape)), dtype="u8")
    halves = [numpy.full_like(index, part) for part in (offset % 2**32, (offset >> 32) % 2**32)]
    words = philox([*halves, index & LOW, index >> HALF], seed)
    return [(words[k] | (words[k + 1] << HALF)).reshape(shape) for k in (0, 2)]


def fraction(words):
    """Return numbers in [0, 1)."""
    return (words >> numpy.uint64(11)).astype("f8") * 2.0**-53


def fractions(shape, seed, offset):
    return fraction(drawn(shape, seed, offset)[0])


def normals(shape, seed, offset):
    """Return numbers of the standard normal distribution."""
    one, other = map(fraction, drawn(shape, seed, offset))
    return numpy.sqrt(-2 * numpy.log(1 - one)) * numpy.cos(2 * numpy.pi * other)


def uniforms(shape, low, high, kind, seed, offset):
    """Return numbers from ``low`` up to, and without, ``high``, rounded to a type."""
    values = rounded(low + (high - low) * fractions(shape, seed, offset), kind)
    return numpy.where(values < high, values, rounded(numpy.float64(low), kind))


def target(draw, npu, kinds, shape=None):
    """Return the kind and the tensor of a view that holds other values."""
    generator, kind = numpy.random.default_rng(draw(st.integers(0, 99))), draw(st.sampled_from(kinds))
    shape = any_shape(draw) if shape is None else shape
    return kind, npu.view(*any_view(draw, generator, shape, kind), kind)


def test_the_generator():
    """The words are those of the known answers that the authors of Philox give."""
    assert philox([0, 0, 0, 0], 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    counter = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
    assert philox(counter, 0x299F31D0A4093822) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


# --- distributions


@SETTINGS
@given(data=st.data(), seed=st.integers(0, 2**64 - 1), offset=st.integers(0, 2**64 - 1))
def test_uniform(npu, data, seed, offset):
    kind, self = target(data.draw, npu, [*INTEGERS, *FLOATS])
    low, high = data.draw(st.sampled_from([(0.0, 1.0), (0.0, 100.0), (2.0, 2.0), (1.0, 3.5)]))
    assert npu.call("inplace_uniform", self, low, high, seed, offset) == 0
    check_written(npu, self, stored(uniforms(self.view.shape, low, high, kind, seed, offset), kind))


@SETTINGS
@given(data=st.data(), seed=SEEDS, offset=SEEDS)
def test_integers(npu, data, seed, offset):
    kind, self = target(data.draw, npu, KINDS)
    wide = [(0, 2**31), (-(2**63), 2**63 - 1)] if ORDER[kind] == 1 else []
    low, high = data.draw(st.sampled_from([(0, 2), (-5, 100), (7, 8), *wide]))
    assert npu.call("inplace_random", self, low, high, seed, offset) == 0
    steps = drawn(self.view.shape, seed, offset)[0] % numpy.uint64(high - low)
    values = (numpy.asarray(steps).reshape(-1) + numpy.uint64(low % 2**64)).view("i8")
    check_written(npu, self, stored(values.reshape(self.view.shape), kind))


NORMALS = ("normal_tensor_tensor", "normal_tensor_float", "normal_float_tensor", "normal_float_float", "inplace_normal")


@pytest.mark.parametrize("name", NORMALS)
@SETTINGS
@given(data=st.data(), seed=SEEDS, offset=SEEDS)
def test_normal(npu, name, data, seed, offset):
    shapes = {"normal_tensor_tensor": [[3, 1, 4], [2, 1], [3, 2, 4]]}.get(name)
    kind, out = target(data.draw, npu, FLOATS, shapes and shapes[-1])
    arguments, values = [], []
    for place, number in enumerate((0.5, 2.0)):
        if "tensor" in name.split("_")[1 + place : 2 + place]:
            shape = shapes[place] if shapes else out.view.shape
            generator = numpy.random.default_rng(place)
            base, view = any_view(data.draw, generator, shape, kind, lambda g, s, k: stored(g.uniform(0.5, 4, s), k))
            arguments.append(npu.view(base, view, kind))
            values.append(exact(view, kind))
        else:
            arguments.append(number)
            values.append(number)
    arguments = [out, *arguments, seed, offset] if name == "inplace_normal" else [*arguments, seed, offset, out]
    assert npu.call(name, *arguments) == 0
    near(npu.get(out), values[0] + values[1] * normals(out.view.shape, seed, offset), kind, 1e-12)


@pytest.mark.parametrize("in_place", [False, True])
@SETTINGS
@given(data=st.data(), seed=SEEDS, offset=SEEDS, prob=st.sampled_from([0, 0.25, 0.5, 1]))
def test_bernoulli(npu, in_place, data, seed, offset, prob):
    kind, out = target(data.draw, npu, REAL)
    scalar = npu.scalar(prob, data.draw(st.sampled_from(FLOATS)))
    if in_place:
        assert npu.call("inplace_bernoulli", out, scalar, seed, offset) == 0
    else:
        assert npu.call("bernoulli", blank(npu, kind, out.view.shape), scalar, seed, offset, out) == 0
    check_written(npu, out, stored(fractions(out.view.shape, seed, offset) < prob, kind))


@pytest.mark.parametrize("in_place", [False, True])
@SETTINGS
@given(data=st.data(), seed=SEEDS, offset=SEEDS)
def test_bernoulli_with_a_tensor(npu, in_place, data, seed, offset):
    kind, out = target(data.draw, npu, [one for one in REAL if one != "b2"] if in_place else FLOATS)
    shape = out.view.shape[data.draw(st.integers(0, len(out.view.shape))) :]
    of_prob = data.draw(st.sampled_from(["f2", "f4", "f8"]))
    prob = numpy.random.default_rng(5).choice([0, 0.25, 0.5, 1, numpy.nan, -1, 2], shape).astype(of_prob)
    if in_place:
        assert npu.call("inplace_bernoulli_tensor", out, npu.tensor(prob), seed, offset) == 0
    else:
        self = blank(npu, kind, out.view.shape)
        assert npu.call("bernoulli_tensor", self, npu.tensor(prob), seed, offset, out) == 0
    check_written(npu, out, stored(fractions(out.view.shape, seed, offset) < prob.astype("f8"), kind))


def test_bernoulli_in_the_place_of_its_probabilities(npu):
    prob = numpy.random.default_rng(3).random(300, "f4")
    self = npu.tensor(prob)
    assert npu.call("inplace_bernoulli_tensor", self, self, 1, 2) == 0
    check_written(npu, self, (fractions(300, 1, 2) < prob).astype("f4"))


@pytest.mark.parametrize(
    ("name", "arguments", "mean", "deviation"),
    [
        ("inplace_uniform", (-1.0, 3.0), 1, 4 / 12**0.5),
        ("inplace_normal", (3.0, 0.5), 3, 0.5),
        ("inplace_random", (0, 11), 5, 10**0.5),
    ],
)
def test_moments(npu, name, arguments, mean, deviation):
    for kind in ("f4", "f2", "b2"):
        found = {}
        for seed, offset in ((1, 0), (1, 4), (2, 0), (1, 0)):
            self = blank(npu, kind, MANY)
            assert npu.call(name, self, *arguments, seed, offset) == 0
            values = exact(npu.get(self), kind)
            assert abs(values.mean() - mean) < 0.1 and abs(values.std() - deviation) < 0.1
            again = found.setdefault((seed, offset), values)
            assert numpy.array_equal(again, values)
        assert all((found[1, 0] != found[key]).mean() > 0.5 for key in ((1, 4), (2, 0)))


def test_ends(npu):
    """In a type with few digits, many numbers round up to the end, which is not part of the range."""
    for kind in ("b2", "f2"):
        self = blank(npu, kind, MANY)
        assert npu.call("inplace_uniform", self, 0.0, 1.0, 3, 0) == 0
        values = exact(npu.get(self), kind)
        assert values.min() >= 0 and values.max() < 1
    self = blank(npu, "f4", 100)
    assert npu.call("inplace_normal", self, 1.5, 0.0, 3, 0) == 0
    assert (npu.get(self) == 1.5).all()


# --- RReluWithNoise


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("in_place", [False, True])
@SETTINGS
@given(data=st.data(), seed=SEEDS, offset=SEEDS)
def test_rrelu(npu, training, in_place, data, seed, offset):
    kind, out = target(data.draw, npu, SINGLE)
    shape = out.view.shape
    noise = npu.view(*any_view(data.draw, numpy.random.default_rng(1), shape, kind), kind)
    view = out.view if in_place else any_view(data.draw, numpy.random.default_rng(2), shape, kind)[1].copy()
    x = exact(view, kind)
    bounds = [npu.scalar(0.125, "f4"), npu.scalar(0.5, "f8")]
    if in_place:
        assert npu.call("inplace_r_relu_with_noise", out, noise, *bounds, training, seed, offset) == 0
    else:
        self = npu.tensor(view, kind)
        assert npu.call("r_relu_with_noise", self, noise, *bounds, training, seed, offset, out) == 0
    slopes = numpy.where(x <= 0, uniforms(shape, 0.125, 0.5, kind, seed, offset) if training else 0.3125, 1)
    check_written(npu, noise, stored(slopes, kind) if training else noise.view)
    check_written(npu, out, stored(x * slopes, kind))


def test_rrelu_of_special_values(npu):
    self = npu.tensor(numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0], "f4"))
    noise, out, bounds = blank(npu, "f4", 5), blank(npu, "f4", 5), [npu.scalar(0.5), npu.scalar(0.5)]
    for training in (True, False):
        assert npu.call("r_relu_with_noise", self, noise, *bounds, training, 0, 0, out) == 0
        assert numpy.array_equal(npu.get(out), self.view, equal_nan=True)
        assert npu.get(noise).tolist() == [1, 1, 0.5, 0.5, 0.5]


# --- dropout


def mask_of(kept):
    """Return the bytes of a mask for an array of bools: 16 bytes for each 128 elements."""
    bits = numpy.zeros(-(-kept.size // 128) * 128, "?")
    bits[: kept.size] = kept.reshape(-1)
    return numpy.packbits(bits, bitorder="little")


def masked(x, kept, factor, out_kind):
    """Return the kept elements times a factor, and 0 for the others."""
    return stored(numpy.where(kept, x * numpy.float64(factor), 0), out_kind)


@SETTINGS
@given(
    shape=st.lists(st.integers(0, 9), max_size=3),
    prob=st.sampled_from([0.0, 0.25, 0.9, 1.0]),
    code=st.sampled_from([None, 0, 1, 27]),
    seed=SEEDS,
    offset=SEEDS,
)
def test_masks(npu, shape, prob, code, seed, offset):
    expected = mask_of(fractions(shape, seed, offset) >= prob)
    base = numpy.full(2 * expected.size, 7, "u1")
    out = npu.view(base, base[::2], "u1")
    name, more = ("dropout_gen_mask", []) if code is None else ("dropout_gen_mask_v2", [code])
    assert npu.call(name, npu.integers(shape), prob, seed, offset, *more, out) == 0
    check_written(npu, out, expected)


def placed(draw, npu):
    """Return the tensor of an input with NaN, which elements a mask keeps, this mask, and the tensor of the result."""
    generator = numpy.random.default_rng(draw(st.integers(0, 99)))
    kind, out_kind = draw(st.sampled_from(SINGLE)), draw(st.sampled_from(SINGLE))
    shape = any_shape(draw)
    base, view = any_view(
        draw, generator, shape, kind, lambda g, s, k: stored(g.choice([-1.5, numpy.nan, 0, 3, 8], s), k)
    )
    kept = generator.random(shape) < 0.5
    mask = mask_of(numpy.asarray(kept))
    apart = numpy.repeat(mask, 3)
    out = npu.view(*any_view(draw, generator, shape, out_kind), out_kind)
    return npu.view(base, view, kind), kept, npu.view(apart, apart[::3], "u1"), out


@SETTINGS
@given(data=st.data(), prob=st.sampled_from([0.0, 0.5, 0.75, 1.0]))
def test_do_mask(npu, data, prob):
    self, kept, mask, out = placed(data.draw, npu)
    assert npu.call("dropout_do_mask", self, mask, prob, out) == 0
    kept = {0: True, 1: False}.get(prob, kept)
    check_written(npu, out, masked(exact(self.view, self.kind), kept, 1 / (1 - prob) if prob < 1 else 0, out.kind))


@SETTINGS
@given(data=st.data(), scale=st.sampled_from([0.0, 1.0, 2.0, 1 / 0.7]))
def test_dropout_backward(npu, data, scale):
    self, kept, mask, out = placed(data.draw, npu)
    assert npu.call("dropout_backward", self, mask, scale, out) == 0
    kept = kept if scale else False
    check_written(npu, out, masked(exact(self.view, self.kind), kept, scale, out.kind))


@SETTINGS
@given(data=st.data(), prob=st.sampled_from([0.0, 0.5, 0.75, 1.0]), train=st.booleans(), seed=SEEDS, offset=SEEDS)
def test_dropout(npu, data, prob, train, seed, offset):
    self, _, mask, out = placed(data.draw, npu)
    assert npu.call("dropout", self, prob, train, seed, offset, out, mask) == 0
    is_drawn = train and 0 < prob < 1
    kept = fractions(self.view.shape, seed, offset) >= (prob if train else 0)
    factor = 1 / (1 - prob) if is_drawn else 1
    check_written(npu, out, masked(exact(self.view, self.kind), kept, factor, out.kind))
    check_written(npu, mask, mask_of(kept) if is_drawn else mask.view)


def test_dropout_in_place(npu):
    self, mask = npu.tensor(numpy.ones((20, 10), "f4")), blank(npu, "u1", 32)
    assert npu.call("dropout", self, 0.5, True, 3, 4, self, mask) == 0
    kept = fractions((20, 10), 3, 4) >= 0.5
    check_written(npu, self, 2.0 * kept)
    assert npu.call("dropout_do_mask", self, npu.tensor(mask_of(~kept)), 0.5, self) == 0
    assert not npu.get(self).any()


def test_a_mask_with_more_bytes_and_any_shape(npu):
    self = npu.tensor(numpy.arange(1, 4, dtype="f4"))
    mask = npu.tensor(numpy.full((3, 16), 0b101, "u1"))
    assert npu.call("dropout_backward", self, mask, 1.0, self) == 0
    assert npu.get(self).tolist() == [1, 0, 3]


# --- choices


def shuffled(n, seed, offset):
    """Return the numbers below n in random order: each one changes places with one before it, or with itself."""
    order = list(range(n))
    for i, word in enumerate(drawn(n, seed, offset)[0].tolist()):
        place = word % (i + 1)
        order[i], order[place] = order[place], order[i]
    return numpy.array(order, "i8")


@SETTINGS
@given(data=st.data(), n=st.integers(0, 128), seed=SEEDS, offset=SEEDS)
def test_permutations(npu, data, n, seed, offset):
    kind, out = target(data.draw, npu, [*INTEGERS, *FLOATS], [n])
    assert npu.call("randperm", n, seed, offset, out) == 0
    expected = shuffled(n, seed, offset)
    assert sorted(expected) == list(range(n))
    check_written(npu, out, stored(expected, kind))


@pytest.mark.strict
@pytest.mark.parametrize(("kind", "most"), [("i1", 128), ("u1", 256), ("i2", 32768), ("f2", 2048), ("b2", 256)])
def test_the_largest_permutation_of_a_type(npu, kind, most):
    out = blank(npu, kind, most)
    assert npu.call("randperm", most, 1, 2, out) == 0
    assert sorted(exact(npu.get(out), kind).tolist()) == list(range(most))
    refused(npu.call("randperm", most + 1, 1, 2, blank(npu, kind, most + 1)), INVALID, f"expected at most {most} for")


def test_each_number_is_at_each_place_equally_often(npu):
    counts, out = numpy.zeros((4, 4)), blank(npu, "i8", 4)
    for seed in range(400):
        assert npu.call("randperm", 4, seed, 0, out) == 0
        counts[numpy.arange(4), npu.get(out)] += 1
    assert numpy.abs(counts - 100).max() < 40  # the standard deviation is less than 9


def with_replacement(weights, count, seed, offset):
    sums = numpy.cumsum(weights, -1)
    parts = fractions((*weights.shape[:-1], count), seed, offset) * sums[..., -1:]
    return (parts[..., None] >= sums[..., None, :]).sum(-1)


def without_replacement(weights, count, seed, offset):
    with numpy.errstate(divide="ignore", invalid="ignore"):
        times = -numpy.log(1 - fractions(weights.shape, seed, offset)) / weights
    return numpy.argsort(numpy.where(weights > 0, times, numpy.inf), -1, kind="stable")[..., :count]


@pytest.mark.parametrize("replacement", [True, False])
@SETTINGS
@given(data=st.data(), shape=st.lists(st.integers(1, 40), min_size=1, max_size=2), seed=SEEDS, offset=SEEDS)
def test_multinomial(npu, replacement, data, shape, seed, offset):
    kind, count = data.draw(st.sampled_from(FLOATS)), data.draw(st.integers(1, shape[-1]))
    generator = numpy.random.default_rng(data.draw(st.integers(0, 99)))

    def weights(g, s, k):
        return stored(g.integers(0, 4, s) + 0.25, k)

    base, view = any_view(data.draw, generator, shape, kind, weights)
    out = npu.view(*any_view(data.draw, generator, [*shape[:-1], count], "i8"), "i8")
    assert npu.call("multinomial", npu.view(base, view, kind), count, replacement, seed, offset, out) == 0
    expect = with_replacement if replacement else without_replacement
    check_written(npu, out, expect(exact(view, kind), count, seed, offset))


def test_how_often_weights_are_chosen(npu):
    weights = numpy.array([0, 1, 0, 3, 4, 0], "f4")
    out = blank(npu, "i8", MANY)
    assert npu.call("multinomial", npu.tensor(weights), MANY, True, 5, 0, out) == 0
    shares = numpy.bincount(npu.get(out), minlength=6) / MANY
    assert numpy.abs(shares - weights / 8).max() < 0.02 and not shares[weights == 0].any()
    rows, out = npu.tensor(numpy.tile(weights, (MANY, 1))), blank(npu, "i8", (MANY, 4))
    assert npu.call("multinomial", rows, 4, False, 5, 0, out) == 0
    found = npu.get(out)
    assert (numpy.sort(found[:, :3], -1) == [1, 3, 4]).all() and (found[:, 3] == 0).all()
    assert abs((found[:, 0] == 3).mean() - 3 / 8) < 0.02
    assert abs((found[found[:, 0] == 4][:, 1] == 3).mean() - 3 / 4) < 0.02


def test_no_row_of_weights(npu):
    assert npu.call("multinomial", blank(npu, "f4", (0, 3)), 2, True, 0, 0, blank(npu, "i8", (0, 2))) == 0


# --- refusals


@pytest.mark.strict
def test_distributions_that_do_not_fit(npu):
    floats, flags, pairs = blank(npu, "f4"), blank(npu, "?"), blank(npu, "c8")
    for low, high in ((2.0, 1.0), (0.0, numpy.inf), (-numpy.inf, 0.0), (numpy.nan, 1.0), (-1.7e308, 1.7e308)):
        words = f"to is {high:g}, expected finite numbers"
        refused(npu.call("inplace_uniform", floats, low, high, 0, 0), INVALID, words)
    refused(npu.call("inplace_uniform", flags, 0.0, 1.0, 0, 0), INVALID, "selfRef has data type 12, bool")
    for low, high in ((1, 1), (2, 1)):
        refused(npu.call("inplace_random", floats, low, high, 0, 0), INVALID, f"is {low} and to is {high}, expected")
    refused(npu.call("inplace_random", blank(npu, "u4"), 0, 1, 0, 0), INVALID, "selfRef has data type 8, uint32")
    for std in (-1.0, numpy.nan):
        refused(npu.call("inplace_normal", floats, 0.0, std, 0, 0), INVALID, f"std is {std:g}, expected 0 or more")
    refused(npu.call("inplace_normal", blank(npu, "i4"), 0.0, 1.0, 0, 0), INVALID, "selfRef has data type 3, int32")
    halves, line = blank(npu, "f2"), blank(npu, "f4", (4,))
    refused(npu.call("normal_tensor_float", halves, 1.0, 0, 0, floats), INVALID, "mean has data type 1, float16")
    refused(npu.call("normal_float_tensor", 0.0, line, 0, 0, floats), INVALID, "out has 2 dimensions, expected 1")
    refused(npu.call("normal_tensor_tensor", line, floats, 0, 0, floats), INVALID, "dimension 0 of mean is 4")
    refused(npu.call("normal_float_float", 0.0, 1.0, 0, 0, pairs), INVALID, "out has data type 16, complex64")


@pytest.mark.strict
def test_probabilities_that_do_not_fit(npu):
    floats, halves, line = blank(npu, "f4"), blank(npu, "f2"), blank(npu, "f4", (4,))
    for prob in (-0.5, 1.5, numpy.nan):
        words = f"prob is {prob:g}, expected 0 to 1"
        refused(npu.call("bernoulli", floats, npu.scalar(prob), 0, 0, floats), INVALID, words)
        refused(npu.call("inplace_bernoulli", floats, npu.scalar(prob), 0, 0), INVALID, words)
    one = npu.scalar(1)
    refused(npu.call("bernoulli", floats, npu.scalar(1, "i4"), 0, 0, floats), INVALID, "prob has data type 3, int32")
    refused(npu.call("bernoulli", floats, one, 0, 0, halves), INVALID, "out has data type 1, float16, expected float32")
    refused(npu.call("bernoulli", floats, one, 0, 0, line), INVALID, "out has shape [4], expected [2, 3]")
    whole = blank(npu, "i4")
    refused(npu.call("bernoulli_tensor", whole, floats, 0, 0, whole), INVALID, "self has data type 3, int32")
    refused(npu.call("inplace_bernoulli_tensor", floats, whole, 0, 0), INVALID, "prob has data type 3, int32")
    refused(npu.call("inplace_bernoulli_tensor", floats, line, 0, 0), INVALID, "dimension 0 of prob is 4")


@pytest.mark.strict
def test_rrelu_that_does_not_fit(npu):
    floats, doubles, line = blank(npu, "f4"), blank(npu, "f8"), blank(npu, "f4", (4,))
    low, high = npu.scalar(0.25), npu.scalar(0.5)

    def call(self, noise, *bounds, out=floats):
        return npu.call("r_relu_with_noise", self, noise, *bounds, True, 0, 0, out)

    refused(call(floats, floats, high, low, out=blank(npu, "f4")), INVALID, "lower is 0.5 and upper is 0.25")
    refused(call(doubles, doubles, low, high), INVALID, "self has data type 11, float64")
    refused(call(floats, blank(npu, "f2"), low, high), INVALID, "noise has data type 1, float16, expected float32")
    refused(call(floats, line, low, high), INVALID, "noise has shape [4], expected [2, 3], that of self")
    refused(call(floats, blank(npu, "f4"), low, high, out=line), INVALID, "out has shape [4], expected [2, 3]")
    refused(npu.call("inplace_r_relu_with_noise", floats, line, low, high, True, 0, 0), INVALID, "noise has shape [4]")


@pytest.mark.strict
def test_masks_that_do_not_fit(npu):
    mask, floats = blank(npu, "u1", 16), blank(npu, "f4")
    shape = npu.integers([2, 3])
    for prob in (-0.5, 1.5, numpy.nan):
        words = f" is {prob:g}, expected 0 to 1"
        refused(npu.call("dropout_gen_mask", shape, prob, 0, 0, mask), INVALID, "prob" + words)
        refused(npu.call("dropout_do_mask", floats, mask, prob, floats), INVALID, "prob" + words)
        refused(npu.call("dropout", floats, prob, True, 0, 0, floats, mask), INVALID, "p" + words)
    short = "expected [16], 16 bytes for each 128 elements"
    refused(npu.call("dropout_gen_mask", shape, 0.5, 0, 0, blank(npu, "u1", 15)), INVALID, "has shape [15]", short)
    refused(npu.call("dropout", floats, 0.5, True, 0, 0, floats, blank(npu, "u1", 15)), INVALID, "maskOut", short)
    refused(npu.call("dropout_gen_mask", shape, 0.5, 0, 0, blank(npu, "i1", 16)), INVALID, "out has data type 2, int8")
    refused(npu.call("dropout_gen_mask", npu.integers([-1]), 0.5, 0, 0, mask), INVALID, "shape[0] is -1, expected 0")
    refused(npu.call("dropout_gen_mask", npu.integers([2**62, 2]), 0.5, 0, 0, mask), INVALID, "shape has more than")
    for code in (3, 11, 99, -1):
        refused(npu.call("dropout_gen_mask_v2", shape, 0.5, 0, 0, code, mask), INVALID, f"has data type {code}, ")


@pytest.mark.strict
def test_dropout_that_does_not_fit(npu):
    mask, floats, doubles, line = blank(npu, "u1", 16), blank(npu, "f4"), blank(npu, "f8"), blank(npu, "f4", 4)
    for name, number in (("dropout_do_mask", 0.5), ("dropout_backward", 2.0)):
        refused(npu.call(name, doubles, mask, number, floats), INVALID, "has data type 11, float64")
        refused(npu.call(name, floats, mask, number, doubles), INVALID, "out has data type 11, float64")
        refused(npu.call(name, floats, mask, number, line), INVALID, "out has shape [4], expected [2, 3]")
        refused(npu.call(name, floats, floats, number, floats), INVALID, "mask has data type 0, float32")
        few = blank(npu, "u1", (3, 5))
        refused(npu.call(name, floats, few, number, floats), INVALID, "mask has 15 elements, expected 16 or more")
    for scale in (0.5, -1.0, numpy.nan):
        refused(npu.call("dropout_backward", floats, mask, scale, floats), INVALID, f"scale is {scale:g}, expected 0")
    refused(npu.call("dropout", floats, 0.5, True, 0, 0, line, mask), INVALID, "out has shape [4], expected [2, 3]")


@pytest.mark.strict
def test_dropout_of_more_elements_than_63_bits_count(npu):
    """No mask is large enough, so that the kernel would read behind any."""
    floats, mask = blank(npu, "f4", 1), blank(npu, "u1", 16)
    handle = acl.create_tensor([2**32, 2**32], 0, [0, 0], 0, 2, [1], floats.address)
    npu.ends.append((acl.destroy_tensor, handle))
    words = "has more than 2^63 elements, expected fewer"
    for name, *arguments in (
        ("dropout_do_mask", handle, mask, 0.5, handle),
        ("dropout_backward", handle, mask, 2.0, handle),
        ("dropout", handle, 0.5, True, 0, 0, handle, mask),
    ):
        plain = [getattr(argument, "handle", argument) for argument in arguments]
        refused(getattr(nnop, f"{name}_get_workspace_size")(*plain)[-1], INVALID, words)


@pytest.mark.strict
def test_choices_that_do_not_fit(npu):
    out, weights = blank(npu, "i8", 4), blank(npu, "f4", 4)
    refused(npu.call("randperm", -1, 0, 0, out), INVALID, "n is -1, expected 0 or more")
    refused(npu.call("randperm", 3, 0, 0, out), INVALID, "out has shape [4], expected [3]")
    refused(npu.call("randperm", 2**63 - 1, 0, 0, out), INVALID, f"n is {2**63 - 1}, expected at most")
    refused(npu.call("randperm", 4, 0, 0, blank(npu, "?", 4)), INVALID, "out has data type 12, bool")

    def call(self, count, replacement=True, out=out):
        return npu.call("multinomial", self, count, replacement, 0, 0, out)

    refused(call(weights, 0), INVALID, "numsamples is 0, expected 1 or more")
    refused(call(weights, 5, False), INVALID, "numsamples is 5, expected at most 4")
    refused(call(weights, 5), INVALID, "out has shape [4], expected [5]")
    refused(call(weights, 4, out=weights), INVALID, "out has data type 0, float32, expected int64")
    refused(call(out, 4), INVALID, "self has data type 9, int64")
    refused(call(blank(npu, "f4", 0), 4), INVALID, "the last dimension of self is 0, expected 1 or more")
    refused(call(blank(npu, "f4", (1, 2, 4)), 4), INVALID, "self has 3 dimensions, expected 1 to 2")


@pytest.fixture
def fresh():
    """Make a device that may fail."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("wrong", [-1, numpy.nan, numpy.inf, 0])
def test_weights_that_are_wrong_when_the_operator_runs(fresh, wrong, replacement):
    weights = numpy.ones((2, 3), "f4")
    weights[1, 1 if wrong else slice(None)] = wrong
    out = fresh.tensor(numpy.zeros((2, 2), "i8"))
    assert fresh.call("multinomial", fresh.tensor(weights), 2, replacement, 0, 0, out) == 0
    words = "aclnnMultinomial failed because row 1 of self has the sum "
    refused(acl.rt.synchronize_stream(fresh.stream), FAILED, words)
