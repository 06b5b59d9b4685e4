"""BatchNorm, its gradient and its steps across devices against NumPy in double: shapes, strides, types, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, gradient, mask, positive, unchanged
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, blank
from helpers.pointwise import SINGLE
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def shapes(draw, least=0):
    if draw(st.integers(0, 3)):
        return draw(st.lists(st.integers(least, 4), min_size=2, max_size=5))
    return [draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 600))]


def across(numbers, rank):
    """Return numbers per channel in a shape that is broadcast to an input of this rank."""
    return numpy.asarray(numbers, "f8").reshape(1, -1, *[1] * (rank - 2))


def others(rank):
    return 0, *range(2, rank)


@SETTINGS
@given(data=st.data())
def test_batch_norm(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    training = data.draw(st.booleans())
    channels, rank = shape[1:2], len(shape)
    take = case.take_or_none if training else case.take
    x, values = case.take(shape)
    weight, factor = case.take_or_none(channels, case.beside())
    bias, summand = case.take_or_none(channels, case.beside())
    means, old_mean = take(channels, case.beside())
    variances, old_variance = take(channels, case.beside(), positive)
    out, save_mean, save_rstd = case.take(shape)[0], *(case.take(channels, case.beside())[0] for _ in "ab")
    epsilon, momentum = data.draw(st.sampled_from([1e-5, 1.0])), data.draw(st.sampled_from([0.0, 0.1, 1.0]))
    given_too = x, weight, bias, means, variances
    assert npu.call("batch_norm", *given_too, training, momentum, epsilon, out, save_mean, save_rstd) == 0
    if not values.size:
        return
    count = values.size // shape[1]
    mean, variance = (values.mean(others(rank)), values.var(others(rank))) if training else (old_mean, old_variance)
    rstd = 1 / numpy.sqrt(variance + epsilon)
    factor = numpy.ones(channels) if factor is None else factor
    summand = numpy.zeros(channels) if summand is None else summand
    plain = (values - across(mean, rank)) * across(rstd * factor, rank)
    agree(npu, out, plain + across(summand, rank), numpy.abs(plain).max())
    if not training:
        for tensor in (means, variances, save_mean, save_rstd):
            unchanged(npu, tensor)
        return
    agree(npu, save_mean, mean, 100)
    agree(npu, save_rstd, rstd)
    moved = variance * count / max(count - 1, 1)
    for tensor, old, new in ((means, old_mean, mean), (variances, old_variance, moved)):
        if tensor:
            agree(npu, tensor, (1 - momentum) * old + momentum * new, 100)


@SETTINGS
@given(data=st.data())
def test_batch_norm_backward(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    training = data.draw(st.booleans())
    channels, rank, axes = shape[1:2], len(shape), others(len(shape))
    slopes, above = case.take(shape)
    x, values = case.take(shape)
    weight, factor = case.take_or_none(channels, case.beside())
    used = case.take(channels, case.beside()), case.take(channels, case.beside(), positive)
    unused = (0, None), (0, None)
    (means, mean), (deviations, deviation) = used
    statistics = [tensor for tensor, _ in ((*unused, *used) if training else (*used, *unused))]
    flags, array = case.mask()
    outs = [case.take(one, kind)[0] for one, kind in ((shape, None), (channels, case.beside()), (channels, None))]
    passed = [out if flag or data.draw(st.booleans()) else 0 for flag, out in zip(flags, outs)]
    epsilon = data.draw(st.sampled_from([1e-5, 1.0]))
    assert npu.call("batch_norm_backward", slopes, x, weight, *statistics, training, epsilon, array, *passed) == 0
    rstd = across(deviation if training else 1 / numpy.sqrt(deviation + epsilon), rank)
    factor = across(numpy.ones(channels) if factor is None else factor, rank)
    below, plain, size = gradient(above, values, across(mean, rank), rstd, factor, axes, through=training)
    terms = (above * plain).sum(axes), above.sum(axes)
    sizes = size, numpy.abs(above * plain).sum(), numpy.abs(above).sum()
    for flag, out, expected, each in zip(flags, outs, (below, *terms), sizes):
        if flag:
            agree(npu, out, expected, each)
        else:
            unchanged(npu, out)


def test_batch_norm_of_values_that_are_not_numbers(npu):
    values = numpy.array([[1, 1, 1], [3, numpy.nan, numpy.inf]], "f4")
    out, mean, rstd = npu.tensor(values), npu.tensor(numpy.zeros(3, "f4")), npu.tensor(numpy.zeros(3, "f4"))
    assert npu.call("batch_norm", npu.tensor(values), 0, 0, 0, 0, True, 0.1, 0.0, out, mean, rstd) == 0
    assert npu.get(out)[:, 0].tolist() == [-1, 1] and numpy.isnan(npu.get(out)[:, 1]).all()
    assert numpy.isnan(npu.get(out)[:, 2]).all()
    assert numpy.array_equal(npu.get(mean), numpy.array([2, numpy.nan, numpy.inf], "f4"), equal_nan=True)
    assert npu.get(rstd)[0] == 1


def test_batch_norm_in_place(npu):
    values = numpy.random.default_rng(2).normal(3, 2, (4, 3, 5)).astype("f4")
    x, save = npu.tensor(values), [npu.tensor(numpy.zeros(3, "f4")) for _ in "ab"]
    assert npu.call("batch_norm", x, 0, 0, 0, 0, True, 0.1, 1e-5, x, *save) == 0
    wide = values.astype("f8")
    mean, variance = wide.mean((0, 2), keepdims=True), wide.var((0, 2), keepdims=True)
    agree(npu, x, (wide - mean) / numpy.sqrt(variance + 1e-5))


# --- the steps across devices


@SETTINGS
@given(data=st.data())
def test_batch_norm_stats(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    x, values = case.take(shape)
    mean, rstd = (case.take(shape[1:2], "f4")[0] for _ in "ab")
    assert npu.call("batch_norm_stats", x, 1e-3, mean, rstd) == 0
    if not values.size:
        unchanged(npu, mean)
        return
    agree(npu, mean, values.mean(others(len(shape))), 100)
    agree(npu, rstd, 1 / numpy.sqrt(values.var(others(len(shape))) + 1e-3))


@SETTINGS
@given(data=st.data())
def test_batch_norm_elemt(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    channels, rank = shape[1:2], len(shape)
    x, values = case.take(shape)
    weight, factor = case.take_or_none(channels, case.beside())
    bias, summand = case.take_or_none(channels, case.beside())
    mean, shift = case.take(channels, case.beside())
    rstd, slope = case.take(channels, case.beside(), positive)
    out = case.take(shape)[0]
    assert npu.call("batch_norm_elemt", x, weight, bias, mean, rstd, 1e-5, out) == 0
    plain = (values - across(shift, rank)) * across(slope if factor is None else slope * factor, rank)
    expected = plain if summand is None else plain + across(summand, rank)
    agree(npu, out, expected, numpy.abs(plain).max(initial=0.0))


@SETTINGS
@given(data=st.data())
def test_batch_norm_reduce_backward(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    channels, rank, axes = shape[1:2], len(shape), others(len(shape))
    slopes, above = case.take(shape)
    x, values = case.take(shape)
    mean, shift = case.take(channels, case.beside())
    rstd, slope = case.take(channels, case.beside(), positive)
    flags, _ = case.mask()
    outs = [case.take(channels, case.beside())[0] for _ in "abcd"]
    assert npu.call("batch_norm_reduce_backward", slopes, x, mean, rstd, 0, *flags, *outs) == 0
    terms = above * (values - across(shift, rank))
    sums = above.sum(axes), terms.sum(axes), terms.sum(axes) * slope, above.sum(axes)
    for flag, out, expected in zip([flags[0], *flags], outs, sums):
        if flag:
            agree(npu, out, expected, (numpy.abs(above) + numpy.abs(terms)).sum() * (1 + slope.max(initial=0.0)))
        else:
            unchanged(npu, out)


@SETTINGS
@given(data=st.data())
def test_batch_norm_elemt_backward(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    channels, rank = shape[1:2], len(shape)
    slopes, above = case.take(shape)
    x, values = case.take(shape)
    mean, shift = case.take(channels, case.beside())
    rstd, slope = case.take(channels, case.beside(), positive)
    weight, factor = case.take_or_none(channels, case.beside())
    (sums, total), (moments, moment) = (case.take(channels, case.beside()) for _ in "ab")
    counts = numpy.array([3, 0, 5], data.draw(st.sampled_from(["i4", "f4", "f2"])))
    out = case.take(shape)[0]
    given_too = slopes, x, mean, rstd, weight, sums, moments, npu.tensor(counts)
    assert npu.call("batch_norm_elemt_backward", *given_too, out) == 0
    slant = (values - across(shift, rank)) * across(slope**2 * moment, rank)
    scale = across(slope if factor is None else slope * factor, rank)
    size = (numpy.abs(above) + numpy.abs(slant) + numpy.abs(across(total, rank))).max(initial=0.0)
    expected = (above - (across(total, rank) + slant) / 8) * scale
    agree(npu, out, expected, size * numpy.abs(scale).max(initial=0.0))


@SETTINGS
@given(data=st.data())
def test_batch_norm_gather_stats(npu, data):
    case = Case(npu, data.draw)
    devices, channels = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    means, mean = case.take([devices, channels])
    rstds, rstd = case.take([devices, channels], "f4", positive)
    (running, old_mean), (variances, old_variance) = (case.take_or_none([channels], values=positive) for _ in "ab")
    sizes = numpy.array([4, 2, 7, 1], "f4")[:devices]
    total, total_rstd = (case.take([channels], "f4")[0] for _ in "ab")
    given_too = case.take([2, channels])[0], means, rstds, running, variances, 0.25, 1e-5, npu.tensor(sizes)
    assert npu.call("batch_norm_gather_stats_with_counts", *given_too, total, total_rstd) == 0
    share = (sizes / sizes.sum(dtype="f8"))[:, None]
    whole = (mean * share).sum(0)
    variance = ((1 / rstd**2 - 1e-5 + (mean - whole) ** 2) * share).sum(0)
    agree(npu, total, whole, 100)
    agree(npu, total_rstd, 1 / numpy.sqrt(variance + 1e-5))
    count = sizes.sum(dtype="f8")
    for tensor, old, new in (
        (running, old_mean, whole),
        (variances, old_variance, variance * count / max(count - 1, 1)),
    ):
        if tensor:
            agree(npu, tensor, 0.75 * old + 0.25 * new, 100)


# --- types and refusals


def test_the_types_of_batch_norm(npu):
    for kind in KINDS:
        for other in KINDS:
            x, out = blank(npu, kind), blank(npu, kind)
            weight = blank(npu, other, (3,))
            expected = 0 if kind in SINGLE and other in (kind, "f4") else INVALID
            beside = npu.call("batch_norm", x, weight, 0, 0, 0, True, 0.1, 1e-5, out, 0, 0)
            assert beside == expected, (kind, other)
            like = npu.call("batch_norm", x, 0, 0, 0, 0, True, 0.1, 1e-5, blank(npu, other), 0, 0)
            assert like == (0 if kind in SINGLE and kind == other else INVALID), (kind, other)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"input": (3,)}, INVALID, "input has 1 dimensions, expected 2 to 8"),
        ({"output": (3, 2)}, INVALID, "output has shape [3, 2], expected [2, 3], that of input"),
        ({"weight": (2,)}, INVALID, "weight has shape [2], expected [3], one number per channel"),
        ({"bias": (3, 1)}, INVALID, "bias has shape [3, 1], expected [3], one number per channel"),
        ({"runningMean": (1,)}, INVALID, "runningMean has shape [1], expected [3], one number per channel"),
        ({"saveMean": (0,)}, INVALID, "saveMean has shape [0], expected [3], one number per channel"),
        ({"training": False, "runningVar": None}, NULLPTR, "runningVar is NULL"),
        ({"training": False, "runningMean": None}, NULLPTR, "runningMean is NULL"),
        ({"input": None}, NULLPTR, "input is NULL"),
        ({"output": None}, NULLPTR, "output is NULL"),
    ],
)
def test_batch_norm_refusals(npu, changed, code, words):
    names = ["input", "weight", "bias", "runningMean", "runningVar", "output", "saveMean", "saveInvstd"]
    shapes = {name: (2, 3) if name in ("input", "output") else (3,) for name in names}
    shapes.update(changed)
    tensors = [0 if shapes[name] is None else blank(npu, "f4", shapes[name]) for name in names]
    training = changed.get("training", True)
    refused(npu.call("batch_norm", *tensors[:5], training, 0.1, 1e-5, *tensors[5:]), code, words)


def test_what_is_saved_may_be_empty_unless_training(npu):
    x, (mean, variance) = blank(npu, "f4"), (blank(npu, "f4", (3,)) for _ in "ab")
    empty, other = (blank(npu, "f4", (0,)) for _ in "ab")
    assert npu.call("batch_norm", x, 0, 0, mean, variance, False, 0.1, 1e-5, x, empty, other) == 0


@pytest.mark.strict
def test_batch_norm_backward_refusals(npu):
    x, out, array = blank(npu, "f4"), blank(npu, "f4"), mask(npu, [1, 1, 1])
    channels, first, second = (blank(npu, "f4", (3,)) for _ in "abc")

    def call(slopes=x, saved=(channels, channels), array=array, outs=(out, first, second)):
        return npu.call("batch_norm_backward", slopes, x, 0, 0, 0, *saved, True, 1e-5, array, *outs)

    assert call() == 0
    refused(call(slopes=blank(npu, "f2")), INVALID, "gradOut has data type 1, float16, expected float32")
    refused(call(slopes=blank(npu, "f4", (3, 2))), INVALID, "gradOut has shape [3, 2], expected [2, 3]")
    refused(call(saved=(0, channels)), NULLPTR, "saveMean is NULL")
    refused(call(saved=(channels, x)), INVALID, "saveInvstd has shape [2, 3], expected [3]")
    refused(call(array=mask(npu, [1, 1])), INVALID, "outputMask has 2 numbers, expected 3")
    refused(call(outs=(0, first, second)), NULLPTR, "gradInput is NULL")
    refused(call(outs=(out, first, x)), INVALID, "gradBias has shape [2, 3], expected [3]")
    assert call(array=mask(npu, [0, 1, 0]), outs=(0, first, 0)) == 0
