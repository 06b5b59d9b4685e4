"""Pools against NumPy: averages and maxima of windows, regular and adaptive, their backward forms, refusals."""

import itertools
import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, SETTINGS, blank, numbers
from helpers.planes import Case
from helpers.pointwise import FLOATS, SINGLE
from helpers.tensors import Device, storage
from hypothesis import given
from hypothesis import strategies as st

import acl

AICORE_EXCEPTION = 507015

# --- Windows: for each direction a list of (elements inside of the image, elements with padding, elements skipped)


def regular(size, kernel, stride, before, after, ceil):
    """Return the windows in one direction."""
    span = size + before + after - kernel
    count = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (count - 1) * stride >= size + before:
        count -= 1
    windows = []
    for start in range(-before, count * stride - before, stride):
        inside = list(range(max(start, 0), min(start + kernel, size)))
        windows.append((inside, min(start + kernel, size + after) - start, max(-start, 0)))
    return windows


def adaptive(size, count):
    """Return windows that share a size evenly."""
    bounds = [(place * size // count, -(-(place + 1) * size // count)) for place in range(count)]
    return [(list(range(start, end)), end - start, 0) for start, end in bounds]


class Geometry:
    """Random regular windows: the arguments, the shape of the image, and the windows."""

    def __init__(self, draw, dims):
        one = draw(st.booleans())
        self.ceil, self.sizes, self.windows = draw(st.booleans()), [], []
        self.kernel, self.stride, self.padding = [], [], []
        steps = draw(st.booleans())
        for place in range(dims):
            if place == 0 or not one:
                self.kernel.append(draw(st.integers(1, 4)))
                self.padding.append(draw(st.integers(0, self.kernel[-1] // 2)))
                if steps:
                    self.stride.append(draw(st.integers(1, 3)))
            kernel, padding = self.kernel[-1], self.padding[-1]
            size = draw(st.integers(max(1, kernel - 2 * padding), 8))
            self.sizes.append(size)
            stride = self.stride[-1] if steps else kernel
            self.windows.append(regular(size, kernel, stride, padding, padding, self.ceil))


def places(windows):
    """Return, for each window, its index in the result, its elements, and its parts of the directions."""
    for index in itertools.product(*(range(len(each)) for each in windows)):
        parts = [each[place] for each, place in zip(windows, index)]
        yield (..., *index), (..., *numpy.ix_(*(part[0] for part in parts))), parts


def counts(windows):
    return [len(each) for each in windows]


# --- Averages


def divisor_of(parts, counts_pads, divisor):
    return divisor or math.prod(part[1] if counts_pads else len(part[0]) for part in parts)


def averages(values, windows, counts_pads=False, divisor=0):
    """Return the average of each window."""
    out = numpy.zeros((*values.shape[: -len(windows)], *counts(windows)))
    with numpy.errstate(invalid="ignore"):
        for index, inside, parts in places(windows):
            total = values[inside].sum(tuple(range(-len(windows), 0)))
            out[index] = total / divisor_of(parts, counts_pads, divisor)
    return out


def shared(gradient, windows, shape, counts_pads=False, divisor=0):
    """Return the gradient of averages: each window gives its elements equal parts."""
    out = numpy.zeros(shape)
    with numpy.errstate(invalid="ignore"):
        for index, inside, parts in places(windows):
            part = gradient[index] / divisor_of(parts, counts_pads, divisor)
            out[inside] += part[(..., *[None] * len(windows))]
    return out


@pytest.mark.parametrize("dims", [2, 3])
def test_averages(npu, dims):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case, shape = Case(data.draw, npu), Geometry(data.draw, dims)
        counts_pads, divisor = data.draw(st.booleans()), data.draw(st.sampled_from([0, 0, 3, -2]))
        if dims == 2:  # the documents exclude empty batches here only
            case.lead[0] = max(case.lead[0], 1)
        more = [shape.ceil, counts_pads, divisor, *[0] * (dims == 2)]
        arrays = [npu.integers(each) for each in (shape.kernel, shape.stride, shape.padding)]
        self, values = case.given([*case.lead, *shape.sizes])
        expected = averages(values, shape.windows, counts_pads, divisor)
        out = case.out(expected.shape)
        assert npu.call(f"avg_pool{dims}d", self, *arrays, *more, out) == 0
        case.check(out, expected)
        gradient, parts = case.given(expected.shape)
        out = case.out(values.shape)
        assert npu.call(f"avg_pool{dims}d_backward", gradient, self, *arrays, *more, out) == 0
        case.check(out, shared(parts, shape.windows, values.shape, counts_pads, divisor))

    run_case()


@pytest.mark.parametrize("dims", [2, 3])
def test_adaptive_averages(npu, dims):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case = Case(data.draw, npu)
        sizes = [data.draw(st.integers(1, 7)) for _ in range(dims)]
        wanted = [data.draw(st.integers(1, 8)) for _ in range(dims)]
        windows = [adaptive(*each) for each in zip(sizes, wanted)]
        self, values = case.given([*case.lead, *sizes])
        out = case.out([*case.lead, *wanted])
        assert npu.call(f"adaptive_avg_pool{dims}d", self, npu.integers(wanted), out) == 0
        case.check(out, averages(values, windows))
        gradient, parts = case.given([*case.lead, *wanted])
        out = case.out(values.shape)
        assert npu.call(f"adaptive_avg_pool{dims}d_backward", gradient, self, out) == 0
        case.check(out, shared(parts, windows, values.shape))

    run_case()


# --- Maxima


def maxima(values, windows):
    """Return the maximum of each window, the index in the image of the chosen element, and that in the window."""
    lead, image = values.shape[: -len(windows)], values.shape[-len(windows) :]
    out = numpy.zeros((*lead, *counts(windows)))
    indices, cells = numpy.zeros(out.shape, "i8"), numpy.zeros(out.shape, "i8")
    for index, inside, parts in places(windows):
        lengths = [len(part[0]) for part in parts]
        flat = values[inside].reshape(*lead, math.prod(lengths))
        nan = numpy.isnan(flat)
        last = flat.shape[-1] - 1 - numpy.argmax(nan[..., ::-1], -1)
        best = numpy.where(nan.any(-1), last, numpy.argmax(flat, -1))
        out[index] = numpy.take_along_axis(flat, best[..., None], -1)[..., 0]
        at = numpy.unravel_index(best, lengths)
        where = [numpy.array(part[0])[each] for part, each in zip(parts, at)]
        indices[index] = numpy.ravel_multi_index(tuple(where), image)
        cells[index] = sum((each + part[2]) * step for part, each, step in zip(parts, at, (10, 1)))
    return out, indices, cells


def scattered(gradient, indices, shape, dims):
    """Return the gradient of maxima: each window gives all to one element."""
    lead, out = shape[:-dims], numpy.zeros(shape)
    flat = out.reshape(math.prod(lead), math.prod(shape[-dims:]))
    sums, at = (each.reshape(math.prod(lead), math.prod(each.shape[-dims:])) for each in (gradient, indices))
    with numpy.errstate(invalid="ignore"):
        for image in range(len(flat)):
            numpy.add.at(flat[image], at[image], sums[image])
    return out


@pytest.mark.parametrize(
    ("name", "dims", "kinds"),
    [("max_pool2d_with_indices", 2, ["i4", "i8"]), ("max_pool3d_with_argmax", 3, ["i4"])],
)
def test_maxima_with_indices(npu, name, dims, kinds):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case, shape = Case(data.draw, npu), Geometry(data.draw, dims)
        arrays = [npu.integers(each) for each in (shape.kernel, shape.stride, shape.padding, [1])]
        self, values = case.given([*case.lead, *shape.sizes])
        expected, indices, _ = maxima(values, shape.windows)
        out, found = case.out(expected.shape), case.out(expected.shape, data.draw(st.sampled_from(kinds)))
        assert npu.call(name, self, *arrays, shape.ceil, out, found) == 0
        case.check(out, expected)
        case.check(found, indices)
        gradient, parts = case.given(expected.shape)
        out = case.out(values.shape)
        assert npu.call(f"{name}_backward", gradient, self, found, *arrays, shape.ceil, out) == 0
        case.check(out, scattered(parts, indices, values.shape, dims))

    run_case()


def test_windows_with_gaps(npu):
    values = numpy.array([[[5, 9, 1, 9, 2, 7]]], "f4")
    out, indices = blank(npu, "f4", (1, 1, 2)), blank(npu, "i4", (1, 1, 2))
    arrays = [npu.integers(each) for each in ([1, 3], [1, 1], [0, 0], [1, 2])]
    assert npu.call("max_pool2d_with_indices", npu.tensor(values), *arrays, False, out, indices) == 0
    assert npu.get(out).tolist() == [[[5, 9]]] and npu.get(indices).tolist() == [[[0, 1]]]


@SETTINGS
@given(data=st.data())
def test_maxima_with_masks(npu, data):
    case, shape = Case(data.draw, npu), Geometry(data.draw, 2)
    arrays = [npu.integers(each) for each in (shape.kernel, shape.stride, shape.padding, [1])]
    self, values = case.given([*case.lead, *shape.sizes])
    expected, indices, cells = maxima(values, shape.windows)
    rows, columns = (shape.kernel * 2)[:2]
    windows = math.prod(expected.shape[-2:])
    bits = numpy.zeros((*case.lead, rows * columns, (-(-windows // 16) + 1) * 256), "?")
    chosen = (cells // 10 * columns + cells % 10).reshape(*case.lead, 1, windows)
    numpy.put_along_axis(bits[..., :windows], chosen, True, -2)
    out, mask = case.out(expected.shape), case.out([*bits.shape[:-1], bits.shape[-1] // 8], "i1")
    assert npu.call("max_pool2d_with_mask", self, *arrays, shape.ceil, out, mask) == 0
    case.check(out, expected)
    case.check(mask, numpy.packbits(bits, -1, "little").view("i1"))
    gradient, parts = case.given(expected.shape)
    out = case.out(values.shape)
    assert npu.call("max_pool2d_with_mask_backward", gradient, self, mask, *arrays, shape.ceil, out) == 0
    case.check(out, scattered(parts, indices, values.shape, 2))


@SETTINGS
@given(data=st.data())
def test_max_pool(npu, data):
    draw = data.draw
    case = Case(draw, npu, ["f4", "f2"])
    sizes, kernel, stride = ([draw(st.integers(low, high)) for _ in range(2)] for low, high in ((4, 7), (1, 4), (1, 3)))
    pads = [draw(st.integers(0, number // 2)) for number in kernel] * 2
    ceil, form = draw(st.integers(0, 1)), draw(st.sampled_from(["none", "one", "two", "four"]))
    if form == "four":
        pads[2:] = [draw(st.integers(0, number // 2)) for number in kernel]
    elif form != "two":
        pads = [min(pads) if form == "one" else 0] * 4
    given = {"none": [], "one": pads[:1], "two": pads[:2], "four": pads}[form]
    steps = draw(st.booleans())
    windows = [
        regular(sizes[k], kernel[k], stride[k] if steps else 1, pads[k], pads[2 + k], ceil) for k in range(2)
    ]
    self, values = case.given([*case.lead, *sizes])
    expected = maxima(values, windows)[0]
    out = case.out(expected.shape)
    arrays = [npu.integers(kernel), npu.integers(stride if steps else []), 0]
    dilations = npu.integers(draw(st.sampled_from([[], [1], [1, 1], [1] * 4])))
    assert npu.call("max_pool", self, *arrays, npu.integers(given), dilations, ceil, out) == 0
    case.check(out, expected)


@pytest.mark.parametrize(("dims", "index", "kinds"), [(2, "i8", [*SINGLE, "f8"]), (3, "i4", SINGLE)])
def test_adaptive_maxima(npu, dims, index, kinds):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case = Case(data.draw, npu, kinds)
        sizes = [data.draw(st.integers(1, 7)) for _ in range(dims)]
        wanted = [data.draw(st.integers(1, 8)) for _ in range(dims)]
        self, values = case.given([*case.lead, *sizes])
        expected, indices, _ = maxima(values, [adaptive(*each) for each in zip(sizes, wanted)])
        out, found = case.out(expected.shape), case.out(expected.shape, index)
        assert npu.call(f"adaptive_max_pool{dims}d", self, npu.integers(wanted), out, found) == 0
        case.check(out, expected)
        case.check(found, indices)
        if case.kind != "f8":
            gradient, parts = case.given(expected.shape)
            out = case.out(values.shape)
            assert npu.call(f"adaptive_max_pool{dims}d_backward", gradient, self, found, out) == 0
            case.check(out, scattered(parts, indices, values.shape, dims))

    run_case()


# --- Whole images, and the way back from indices


@SETTINGS
@given(data=st.data())
def test_global_pools(npu, data):
    draw = data.draw
    shape = [draw(st.integers(0, 2)), *[draw(st.integers(1, 3)) for _ in range(draw(st.integers(3, 5)))]]
    case = Case(draw, npu, FLOATS)
    self, values = case.given(shape)
    axes = tuple(range(2, len(shape)))
    with numpy.errstate(invalid="ignore"):
        expected = values.mean(axes, keepdims=True)
    out = case.out(expected.shape)
    assert npu.call("global_average_pool", self, out) == 0
    case.check(out, expected)
    if case.kind != "b2":
        out = case.out(expected.shape)
        assert npu.call("global_max_pool", self, out) == 0
        case.check(out, values.max(axes, keepdims=True))


@pytest.mark.parametrize("dims", [2, 3])
def test_unpooling(npu, dims):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw = data.draw
        kinds = ["f4", "f2", "i1", "u1", "i2", "i4", "i8"]
        case = Case(draw, npu, kinds, [numbers])
        large = [draw(st.integers(1, 4)) for _ in range(dims)]
        small = [draw(st.integers(1, size)) for size in large]
        count = math.prod(small)
        images = math.prod(case.lead)
        at = [case.generator.permutation(math.prod(large))[:count] for _ in range(images)]
        places = numpy.array(at, "i8").reshape(*case.lead, *small)
        indices = npu.tensor(places if dims == 3 else places.astype(draw(st.sampled_from(["i4", "i8"]))))
        sizes = [npu.integers(each) for each in (large, [1] * dims, [0] * dims)[: 1 if dims == 2 else 3]]
        self, values = case.given([*case.lead, *small])
        out = case.out([*case.lead, *large])
        assert npu.call(f"max_unpool{dims}d", self, indices, *sizes, out) == 0
        expected = numpy.zeros((images, math.prod(large)))
        for image in range(images):
            expected[image, at[image]] = values.reshape(images, count)[image]
        case.check(out, expected.reshape(*case.lead, *large))
        gradient, parts = case.given([*case.lead, *large])
        out = case.out(values.shape)
        assert npu.call(f"max_unpool{dims}d_backward", gradient, self, indices, *sizes, out) == 0
        parts = parts.reshape(images, math.prod(large))
        taken = [parts[image, at[image]] for image in range(images)]
        case.check(out, numpy.array(taken).reshape(values.shape))

    run_case()


# --- Refusals


def average_call(npu, shape=(1, 4, 4), out=(1, 2, 2), kinds=("f4", "f4"), **given):
    """Call AvgPool2d with these numbers instead of those that fit."""
    arrays = [npu.integers(given.get(name, usual)) for name, usual in (("kernel", [2]), ("stride", []), ("pad", [0]))]
    tensors = [blank(npu, kind, each) for kind, each in zip(kinds, (shape, out))]
    return npu.call("avg_pool2d", tensors[0], *arrays, False, True, 0, 0, tensors[1])


@pytest.mark.strict
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kinds": ("f8", "f8")}, "self has data type 11, float64, expected float32, float16 or bfloat16"),
        ({"kinds": ("f4", "f2")}, "out has data type 1, float16, expected float32, that of self"),
        ({"shape": (4, 4)}, "self has 2 dimensions, expected 3 to 4"),
        ({"out": (1, 1, 2, 2)}, "out has 4 dimensions, expected 3"),
        ({"out": (1, 2, 3)}, "out has shape [1, 2, 3], expected [1, 2, 2], that of the windows"),
        ({"shape": (0, 1, 4, 4), "out": (0, 1, 2, 2)}, "dimension 0 of self is 0, expected 1 or more"),
        ({"kernel": []}, "kernelSize has 0 numbers, expected 2"),
        ({"kernel": [2, 0]}, "kernelSize[1] is 0, expected 1 to"),
        ({"stride": [0]}, "strides[0] is 0, expected 1 to"),
        ({"stride": [1, 1, 1]}, "strides has 3 numbers, expected 2"),
        ({"pad": [2]}, "paddings[0] is 2, expected at most half of the 2 of kernelSize"),
        ({"kernel": [5]}, "dimension 1 of self is 4, which is shorter than the window even with padding"),
    ],
)
def test_averages_that_do_not_fit(npu, given, words):
    refused(average_call(npu, **given), INVALID, words)


@pytest.mark.strict
def test_maxima_that_do_not_fit(npu):
    self, out = blank(npu, "f4", (1, 4, 4)), blank(npu, "f4", (1, 2, 2))
    arrays = [npu.integers(each) for each in ([2], [2], [0], [1])]
    mask = blank(npu, "i1", (1, 4, 64))
    assert npu.call("max_pool2d_with_mask", self, *arrays, False, out, mask) == 0
    short = blank(npu, "i1", (1, 4, 32))
    words = "indices has shape [1, 4, 32], expected [1, 4, 64], that of the mask"
    refused(npu.call("max_pool2d_with_mask", self, *arrays, False, out, short), INVALID, words)
    refused(npu.call("max_pool2d_with_mask", self, *arrays, False, out, out), INVALID, "indices has data type 0")
    apart = [*arrays[:3], npu.integers([1, 2])]
    words = "dilation[1] is 2, expected 1"
    refused(npu.call("max_pool2d_with_mask", self, *apart, False, out, mask), INVALID, words)
    words = "indices has shape [1, 4, 64], expected [1, 2, 2]"
    wide = blank(npu, "i4", (1, 4, 64))
    refused(npu.call("max_pool2d_with_indices", self, *arrays, False, out, wide), INVALID, words)
    more = [npu.integers(each) for each in ([2], [2], [0], [1])]
    refused(npu.call("max_pool", self, *more[:2], 1, *more[2:], 0, out), INVALID, "autoPad is 1, expected 0")
    three = npu.integers([0, 0, 0])
    refused(npu.call("max_pool", self, *more[:2], 0, three, more[3], 0, out), INVALID, "pads has 3 numbers")
    whole = npu.tensor(numpy.zeros((1, 4, 4), storage("b2")), "b2")
    half = npu.tensor(numpy.zeros((1, 2, 2), storage("b2")), "b2")
    refused(npu.call("max_pool", whole, *more[:2], 0, *more[2:], 0, half), INVALID, "self has data type 27, bfloat16")


@pytest.mark.strict
def test_global_pools_that_do_not_fit(npu):
    self, out = blank(npu, "f4", (1, 2, 3, 4)), blank(npu, "f4", (1, 2, 1, 1))
    assert npu.call("global_max_pool", self, out) == 0
    words = "out has shape [1, 2, 3, 4], expected [1, 2, 1, 1], one element per channel of self"
    refused(npu.call("global_average_pool", self, self), INVALID, words)
    flat = blank(npu, "f4", (2, 3, 4))
    refused(npu.call("global_max_pool", flat, flat), INVALID, "self has 3 dimensions, expected 4 to 8")
    whole = blank(npu, "i4", (1, 2, 3, 4))
    refused(npu.call("global_max_pool", whole, out), INVALID, "self has data type 3, int32")


@pytest.mark.strict
def test_unpooling_that_does_not_fit(npu):
    self, out, size = blank(npu, "f4", (1, 2, 2)), blank(npu, "f4", (1, 4, 4)), npu.integers([4, 4])
    indices = npu.tensor(numpy.arange(4).reshape(1, 2, 2))
    assert npu.call("max_unpool2d", self, indices, size, out) == 0
    refused(npu.call("max_unpool2d", self, self, size, out), INVALID, "indices has data type 0, float32")
    refused(npu.call("max_unpool2d", self, indices, size, self), INVALID, "out has shape [1, 2, 2], expected [1, 4, 4]")
    refused(npu.call("max_unpool2d", self, indices, npu.integers([4]), out), INVALID, "outputSize has 1 numbers")
    short = npu.tensor(numpy.arange(2).reshape(1, 1, 2))
    words = "indices has shape [1, 1, 2], expected [1, 2, 2]"
    refused(npu.call("max_unpool2d", self, short, size, out), INVALID, words)


# --- The last tests, because the device fails and is reset


@pytest.fixture
def fresh():
    """Make a device that may fail."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [4, -1, 2**31 - 1])
@pytest.mark.parametrize("name", ["max_pool2d_with_indices_backward", "max_unpool2d"])
def test_an_index_out_of_range_fails_the_task(fresh, name, wrong):
    pooled, whole = blank(fresh, "f4", (1, 1, 1)), blank(fresh, "f4", (1, 2, 2))
    indices = fresh.tensor(numpy.full((1, 1, 1), wrong, "i4"))
    if name == "max_unpool2d":
        ret = fresh.call(name, pooled, indices, fresh.integers([2, 2]), whole)
    else:
        arrays = [fresh.integers(each) for each in ([2], [2], [0], [1])]
        ret = fresh.call(name, pooled, whole, indices, *arrays, False, blank(fresh, "f4", (1, 2, 2)))
    assert ret == 0
    words = f"indices has the element {wrong}, expected 0 to 3"
    refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
