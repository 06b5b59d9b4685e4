"""GroupNorm, its kin with swish, InstanceNorm, and their gradients against NumPy in double."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, gradient, mask, positive, unchanged
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, blank
from helpers.pointwise import SINGLE
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def groups(draw):
    """Return a shape and the number of groups of its channels."""
    group, each = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    rest = draw(st.sampled_from([[], [1], [300], [0], [2, 3], [3, 1, 2]]))
    return [draw(st.integers(0, 3)), group * each, *rest], group


def grouped(values, group):
    """Return values as [N, group, elements]; there are some."""
    return values.reshape(values.shape[0], group, -1)


def across(numbers, values):
    """Return numbers per channel in a shape that is broadcast to the values."""
    return numbers.reshape(1, -1, *[1] * (values.ndim - 2))


def normalized(values, group, epsilon):
    """Return the normalized values, the means and the reciprocals of the deviations."""
    parts = grouped(values, group)
    mean, rstd = parts.mean(-1), 1 / numpy.sqrt(parts.var(-1) + epsilon)
    return ((parts - mean[..., None]) * rstd[..., None]).reshape(values.shape), mean, rstd


def sigmoid(values):
    with numpy.errstate(over="ignore"):
        return 1 / (1 + numpy.exp(-values))


FORWARD = ["group_norm", "group_norm_silu", "group_norm_silu_v2", "group_norm_swish"]


@pytest.mark.parametrize("name", FORWARD)
def test_group_norm(npu, name):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case, (shape, group) = Case(npu, data.draw), data.draw(groups())
        take = case.take if name == "group_norm_swish" else case.take_or_none
        x, values = case.take(shape)
        gamma, factor = take(shape[1:2])
        beta, summand = take(shape[1:2])
        out, mean, rstd = case.take(shape)[0], *(case.take([shape[0], group])[0] for _ in "ab")
        epsilon, activates, scale = 1e-3, data.draw(st.booleans()), 1.0
        sizes = shape[0], shape[1], int(numpy.prod(shape[2:], dtype=int))
        if name == "group_norm":
            more, activates = [*sizes, group, epsilon], False
        elif name == "group_norm_silu":
            more, activates = [group, epsilon], True
        elif name == "group_norm_silu_v2":
            more = [group, epsilon, activates]
        else:
            scale = data.draw(st.sampled_from([1.0, 0.5]))
            more = [group, "NCHW", epsilon, activates, scale]
        assert npu.call(name, x, gamma, beta, *more, out, mean, rstd) == 0
        if not values.size:
            unchanged(npu, mean)
            return
        plain, wanted_mean, wanted_rstd = normalized(values, group, epsilon)
        whole = plain if factor is None else plain * across(factor, plain)
        size = numpy.abs(whole).max()
        whole = whole if summand is None else whole + across(summand, whole)
        agree(npu, out, whole * sigmoid(scale * whole) if activates else whole, 10 * size)
        agree(npu, mean, wanted_mean, 100)
        agree(npu, rstd, wanted_rstd)

    run_case()


@SETTINGS
@given(data=st.data())
def test_group_norm_backward(npu, data):
    case, (shape, group) = Case(npu, data.draw), data.draw(groups())
    channels = shape[1:2]
    slopes, above = case.take(shape)
    x, values = case.take(shape)
    statistics = data.draw(st.sampled_from([[shape[0], group], [shape[0] * group]]))
    mean, center = case.take(statistics, case.beside())
    rstd, slope = case.take(statistics, case.beside(), positive)
    gamma, factor = case.take_or_none(channels, case.beside())
    flags, array = case.mask()
    outs = [case.take(one, kind)[0] for one, kind in ((shape, None), (channels, case.beside()), (channels, None))]
    sizes = shape[0], shape[1], int(numpy.prod(shape[2:], dtype=int))
    assert npu.call("group_norm_backward", slopes, x, mean, rstd, gamma, *sizes, group, array, *outs) == 0
    expected = backward(above, values, center, slope, factor, group)
    for flag, out, (wanted, size) in zip(flags, outs, expected):
        if flag:
            agree(npu, out, wanted, size)
        else:
            unchanged(npu, out)


def backward(above, values, mean, rstd, factor, group):
    """Return the gradients of input, gamma and beta, each with the size of its terms."""
    if not values.size:
        return (values, 0), (numpy.zeros(values.shape[1]), 0), (numpy.zeros(values.shape[1]), 0)
    mean, rstd = (numbers.reshape(values.shape[0], group, 1) for numbers in (mean, rstd))
    factor = numpy.ones(values.shape[1]) if factor is None else factor
    weight = grouped(numpy.broadcast_to(across(factor, values), values.shape), group)
    below, plain, size = gradient(grouped(above, group), grouped(values, group), mean, rstd, weight, -1)
    terms, axes = above * plain.reshape(values.shape), (0, *range(2, values.ndim))
    sums = (terms.sum(axes), numpy.abs(terms).sum()), (above.sum(axes), numpy.abs(above).sum())
    return ((below.reshape(values.shape), size), *sums)


@SETTINGS
@given(data=st.data())
def test_group_norm_swish_grad(npu, data):
    case, (shape, group) = Case(npu, data.draw), data.draw(groups())
    channels, scale = shape[1:2], data.draw(st.sampled_from([1.0, 0.5]))
    slopes, above = case.take(shape)
    x, values = case.take(shape)
    mean, center = case.take([shape[0], group])
    rstd, slope = case.take([shape[0], group], None, positive)
    (gamma, factor), (beta, summand) = case.take(channels), case.take(channels)
    outs = [case.take(one)[0] for one in (shape, channels, channels)]
    flags = [True, data.draw(st.booleans()), data.draw(st.booleans())]
    given_too = slopes, mean, rstd, x, gamma, beta, group, "NCHW", scale, *flags[1:]
    assert npu.call("group_norm_swish_grad", *given_too, *outs) == 0
    if values.size:
        parts = (grouped(values, group) - center[..., None]) * slope[..., None]
        outputs = parts.reshape(shape) * across(factor, values) + across(summand, values)
        part = sigmoid(scale * outputs)
        above = above * (part + scale * outputs * part * (1 - part))
    # the slope of swish is computed with another formula, whose error is relative to its terms
    for flag, out, (wanted, size) in zip(flags, outs, backward(above, values, center, slope, factor, group)):
        if flag:
            agree(npu, out, wanted, 100 * size)
        else:
            unchanged(npu, out)


@SETTINGS
@given(data=st.data())
def test_instance_norm(npu, data):
    case, shape = Case(npu, data.draw), [data.draw(st.integers(0, 3)) for _ in range(4)]
    case.kind = data.draw(st.sampled_from(["f4", "f2"]))
    last = data.draw(st.booleans())
    axes, channels = ((1, 2), shape[3:]) if last else ((2, 3), shape[1:2])
    ones = [1 if axis in axes else size for axis, size in enumerate(shape)]
    x, values = case.take(shape)
    (gamma, factor), (beta, summand) = case.take(channels), case.take(channels)
    out, mean, variance = case.take(shape)[0], case.take(ones)[0], case.take(ones)[0]
    form = "NHWC" if last else "NCHW"
    assert npu.call("instance_norm", x, gamma, beta, form, 1e-3, out, mean, variance) == 0
    if not values.size:
        return
    center, spread = values.mean(axes, keepdims=True), values.var(axes, keepdims=True)
    factor, summand = (numbers.reshape(channels if last else [-1, 1, 1]) for numbers in (factor, summand))
    plain = (values - center) / numpy.sqrt(spread + 1e-3) * factor
    agree(npu, out, plain + summand, numpy.abs(plain).max())
    agree(npu, mean, center, 100)
    agree(npu, variance, spread)


def test_a_value_that_is_not_a_number_stays_in_its_group(npu):
    values = numpy.array([[1, 3, numpy.nan, 4]], "f4")
    out, mean, rstd = (npu.tensor(numpy.zeros(shape, "f4")) for shape in ((1, 4), (1, 2), (1, 2)))
    assert npu.call("group_norm", npu.tensor(values), 0, 0, 1, 4, 1, 2, 1e-12, out, mean, rstd) == 0
    assert numpy.allclose(npu.get(out)[0, :2], [-1, 1]) and numpy.isnan(npu.get(out)[0, 2:]).all()
    assert npu.get(mean)[0, 0] == 2 and numpy.isnan(npu.get(mean)[0, 1]) and numpy.isnan(npu.get(rstd)[0, 1])


def test_the_types_of_group_norm(npu):
    for kind in KINDS:
        for other in KINDS:
            for place in range(5):
                kinds = [other if place == one else kind for one in range(5)]
                shapes = (2, 4), (4,), (2, 4), (2, 2), (2, 2)
                x, gamma, out, mean, rstd = (blank(npu, *each) for each in zip(kinds, shapes))
                fits = kind in SINGLE and other == kind
                ret = npu.call("group_norm", x, gamma, 0, 2, 4, 1, 2, 1e-5, out, mean, rstd)
                assert ret == (0 if fits else INVALID), (kinds,)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"self": (8,)}, INVALID, "self has 1 dimensions, expected 2 to 8"),
        ({"out": (2, 2, 2)}, INVALID, "out has shape [2, 2, 2], expected [2, 4], that of the input"),
        ({"gamma": (2,)}, INVALID, "gamma has shape [2], expected [4], one number per channel"),
        ({"beta": (4, 1)}, INVALID, "beta has shape [4, 1], expected [4], one number per channel"),
        ({"meanOut": (4,)}, INVALID, "meanOut has shape [4], expected [2, 2], one number per batch index and group"),
        ({"rstdOut": (2, 1)}, INVALID, "rstdOut has shape [2, 1], expected [2, 2]"),
        ({"sizes": (2, 4, 2)}, INVALID, "self has 8 elements, expected 2 * 4 * 2, the product of N, C and HxW"),
        ({"sizes": (2, -4, 1)}, INVALID, "C is -4, expected 0 or more"),
        ({"group": 3}, INVALID, "group is 3, expected a divisor of 4, the number of channels"),
        ({"group": 0}, INVALID, "group is 0, expected 1 or more"),
        ({"eps": 0.0}, INVALID, "eps is 0, expected more than 0"),
        ({"self": None}, NULLPTR, "self is NULL"),
        ({"meanOut": None}, NULLPTR, "meanOut is NULL"),
    ],
)
def test_group_norm_refusals(npu, changed, code, words):
    shapes = {"self": (2, 4), "gamma": (4,), "beta": (4,), "out": (2, 4), "meanOut": (2, 2), "rstdOut": (2, 2)}
    tensors = [
        0 if shape is None else blank(npu, "f4", shape)
        for shape in (changed.get(name, default) for name, default in shapes.items())
    ]
    sizes, group, eps = changed.get("sizes", (2, 4, 1)), changed.get("group", 2), changed.get("eps", 1e-5)
    refused(npu.call("group_norm", *tensors[:3], *sizes, group, eps, *tensors[3:]), code, words)


@pytest.mark.strict
def test_group_norm_backward_refusals(npu):
    x, out = blank(npu, "f4", (2, 4)), blank(npu, "f4", (2, 4))
    statistics, channels, first, second = (blank(npu, "f4", shape) for shape in ((2, 2), (4,), (4,), (4,)))

    def call(slopes=x, mean=statistics, gamma=channels, group=2, flags=(1, 1, 1), outs=(out, first, second)):
        given_too = slopes, x, mean, statistics, gamma, 2, 4, 1, group, mask(npu, flags)
        return npu.call("group_norm_backward", *given_too, *outs)

    assert call() == 0
    assert call(flags=(0, 0, 1), outs=(0, 0, second)) == 0
    refused(call(slopes=blank(npu, "f2", (2, 4))), INVALID, "gradOut has data type 1, float16, expected float32")
    refused(call(slopes=statistics), INVALID, "gradOut has 4 elements, expected 2 * 4 * 1")
    refused(call(mean=x), INVALID, "mean has 8 elements, expected 2 * 2, one per batch index and group")
    refused(call(gamma=statistics), INVALID, "gamma has shape [2, 2], expected [4]")
    refused(call(group=3), INVALID, "group is 3, expected a divisor of 4")
    refused(call(flags=(1, 1)), INVALID, "outputMask has 2 numbers, expected 3")
    refused(call(outs=(out, 0, second)), NULLPTR, "gradGammaOut is NULL")
    refused(call(outs=(statistics, first, second)), INVALID, "gradInput has shape [2, 2], expected [2, 4]")


@pytest.mark.strict
def test_formats(npu):
    x, y = (blank(npu, "f4", (1, 2, 3, 3)) for _ in "ab")
    channels, other = (blank(npu, "f4", (2,)) for _ in "ab")
    first, second = (blank(npu, "f4", (1, 2)) for _ in "ab")
    given_too = x, channels, other, 2, "NHWC", 1e-5, True, 1.0, y, first, second
    refused(npu.call("group_norm_swish", *given_too), INVALID, 'dataFormatOptional is "NHWC", expected NCHW')
    mean, variance = (blank(npu, "f4", (1, 2, 1, 1)) for _ in "ab")
    ret = npu.call("instance_norm", x, channels, other, "ND", 1e-5, y, mean, variance)
    refused(ret, INVALID, 'dataFormat is "ND", expected NCHW or NHWC')
    ret = npu.call("instance_norm", x, channels, other, "NHWC", 1e-5, y, mean, variance)
    refused(ret, INVALID, "gamma has shape [2], expected [3]")
