"""ConstantPadNd, the pads that copy elements, Im2col and its gradient against NumPy: types, strides, refusals."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, blank, check_written, moved, stored
from helpers.planes import Case
from helpers.pointwise import FLOATS, SINGLE
from helpers.tensors import storage
from hypothesis import given
from hypothesis import strategies as st

MODES = {"reflection": "reflect", "replication": "edge", "circular": "wrap"}
EDGES = [
    *[("reflection", dims) for dims in (1, 2, 3)],
    *[("replication", dims) for dims in (1, 2, 3)],
    *[("circular", dims) for dims in (2, 3)],
]
TYPES = {"reflection": KINDS, "replication": KINDS[1:], "circular": ["f2", "b2", "f4", "i1", "i4"]}


def pairs(pads, rank):
    """Return pairs for all dimensions from numbers that begin with the last one."""
    given = [tuple(pads[place : place + 2]) for place in range(0, len(pads), 2)]
    return [*[(0, 0)] * (rank - len(given)), *reversed(given)]


def padded(view, pads, mode, **options):
    """Return the array after the removal for negative numbers and the padding for positive ones."""
    if view.ndim == 0:
        return view
    both = pairs(pads, view.ndim)
    ends = [slice(max(-before, 0), size + min(after, 0)) for (before, after), size in zip(both, view.shape)]
    return numpy.pad(view[tuple(ends)], [(max(before, 0), max(after, 0)) for before, after in both], mode, **options)


@SETTINGS
@given(data=st.data())
def test_constant_pad(npu, data):
    draw, pads = data.draw, []
    kind, value_kind = draw(st.sampled_from(KINDS)), draw(st.sampled_from(KINDS))
    value = draw(st.integers(0, 1 if value_kind == "?" else 100))

    def pad(view):
        for size in reversed(view.shape[draw(st.integers(0, view.ndim)) :]):
            before = draw(st.integers(-size, 3))
            pads.extend([before, draw(st.integers(-(size + min(before, 0)), 3))])
        return padded(view, pads, "constant", constant_values=stored(numpy.array(value), kind))

    self, out, expected = moved(draw, npu, pad, kinds=[kind])
    assert npu.call("constant_pad_nd", self, npu.integers(pads), npu.scalar(value, value_kind), out) == 0
    check_written(npu, out, expected)


def test_a_constant_where_all_elements_are_removed(npu):
    out = blank(npu, "f4", (4,))
    self = npu.tensor(numpy.arange(2, dtype="f4"))
    assert npu.call("constant_pad_nd", self, npu.integers([-3, 5]), npu.scalar(7.0), out) == 0
    assert npu.get(out).tolist() == [7] * 4
    empty = npu.tensor(numpy.zeros((0, 3), "f4"))
    rows = blank(npu, "f4", (2, 3))
    assert npu.call("constant_pad_nd", empty, npu.integers([0, 0, 1, 1]), npu.scalar(2.0), rows) == 0
    assert npu.get(rows).tolist() == [[2] * 3] * 2


def test_constants_are_cast_once(npu):
    out = blank(npu, "f2", (2,))
    self = npu.tensor(numpy.zeros(1, "f2"))
    assert npu.call("constant_pad_nd", self, npu.integers([0, 1]), npu.scalar(1 + 2**-11 + 2**-40, "f8"), out) == 0
    assert npu.get(out).tolist() == [0, 1 + 2**-10]
    whole, one = blank(npu, "i4", (2,)), npu.tensor(numpy.zeros(1, "i4"))
    assert npu.call("constant_pad_nd", one, npu.integers([1, 0]), npu.scalar(2.9), whole) == 0
    assert npu.get(whole).tolist() == [2, 0]


def fitting_pads(draw, name, sizes):
    """Return numbers of elements to add to or remove from the ends of dimensions, the last one first."""
    pads = []
    for size in reversed(sizes):
        before = draw(st.integers(1 - size, 4))
        left = size + min(before, 0)
        after = draw(st.integers(1 - left, 4))
        left += min(after, 0)
        most = 4 if name == "replication" else left - 1
        pads.extend([min(before, most), min(after, most)])
    return pads


@pytest.mark.parametrize(("name", "dims"), EDGES, ids=[f"{name}{dims}d" for name, dims in EDGES])
def test_edges(npu, name, dims):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw, lead = data.draw, data.draw(st.integers(1, 2))
        shape = [draw(st.integers(2 - lead, 3)), draw(st.integers(1, 3))][:lead]
        shape += [draw(st.integers(1, 5)) for _ in range(dims)]
        pads = fitting_pads(draw, name, shape[lead:])
        self, out, expected = moved(
            draw, npu, lambda view: padded(view, pads, MODES[name]), kinds=TYPES[name], shape=shape
        )
        assert npu.call(f"{name}_pad{dims}d", self, npu.integers(pads), out) == 0
        check_written(npu, out, expected)

    run_case()


@pytest.mark.parametrize(("name", "dims"), EDGES, ids=[f"{name}{dims}d" for name, dims in EDGES])
def test_gradients_of_edges(npu, name, dims):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case = Case(data.draw, npu, SINGLE if name == "circular" else FLOATS)
        case.lead = case.lead if len(case.lead) == 2 else [1]
        shape = [*case.lead, *(data.draw(st.integers(1, 5)) for _ in range(dims))]
        pads = fitting_pads(data.draw, name, shape[-dims:])
        # A padded tensor of indices tells where each element of the gradient is added.
        places = padded(numpy.arange(math.prod(shape)).reshape(shape), pads, MODES[name])
        gradient, values = case.given(places.shape)
        sums = numpy.zeros(math.prod(shape))
        with numpy.errstate(invalid="ignore"):
            numpy.add.at(sums, places.ravel(), values.ravel())
        self, out = case.out(shape), case.out(shape)
        assert npu.call(f"{name}_pad{dims}d_backward", gradient, self, npu.integers(pads), out) == 0
        case.check(out, sums.reshape(shape))

    run_case()


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_complex_gradients_of_edges(npu, kind):
    gradient = npu.tensor(numpy.array([[1 + 1j, 2, 3j, 4 - 2j, 5]], kind))
    self, out = blank(npu, kind, (1, 3)), blank(npu, kind, (1, 3))
    assert npu.call("reflection_pad1d_backward", gradient, self, npu.integers([0, 2]), out) == 0
    assert npu.get(out).tolist() == [[6 + 1j, 6 - 2j, 3j]]
    assert npu.call("replication_pad1d_backward", gradient, self, npu.integers([2, 0]), out) == 0
    assert npu.get(out).tolist() == [[3 + 4j, 4 - 2j, 5]]


def columns(view, kernel, dilation, padding, stride):
    """Return the windows of images as columns."""
    images = view.reshape(-1, *view.shape[-3:])
    images = numpy.pad(images, [(0, 0), (0, 0), *[(number, number) for number in padding]])
    counts = [(images.shape[2 + k] - dilation[k] * (kernel[k] - 1) - 1) // stride[k] + 1 for k in range(2)]
    parts = [
        images[
            :,
            :,
            i * dilation[0] : i * dilation[0] + (counts[0] - 1) * stride[0] + 1 : stride[0],
            j * dilation[1] : j * dilation[1] + (counts[1] - 1) * stride[1] + 1 : stride[1],
        ]
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    shape = (*view.shape[:-3], view.shape[-3] * math.prod(kernel), math.prod(counts))
    return numpy.stack(parts, 2).reshape(shape)


def images_with_windows(draw):
    """Return a shape, and numbers that describe windows."""
    shape = [draw(st.integers(0, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 7)), draw(st.integers(1, 7))]
    kernel, dilation, padding, stride = windows = [[], [], [], []]
    for size in shape[2:]:
        padding.append(draw(st.integers(0, 3)))
        kernel.append(draw(st.integers(1, min(3, size + 2 * padding[-1]))))
        whole = size + 2 * padding[-1] - 1
        dilation.append(draw(st.integers(1, max(1, min(3, whole // max(kernel[-1] - 1, 1))))))
        stride.append(draw(st.integers(1, 3)))
    return shape[draw(st.integers(0, 1)) :], windows


@SETTINGS
@given(data=st.data())
def test_im2col(npu, data):
    shape, windows = images_with_windows(data.draw)
    self, out, expected = moved(data.draw, npu, lambda view: columns(view, *windows), kinds=[*SINGLE, "?"], shape=shape)
    assert npu.call("im2col", self, *map(npu.integers, windows), out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_im2col_backward(npu, data):
    shape, windows = images_with_windows(data.draw)
    case = Case(data.draw, npu)
    # The columns of an image that holds its indices tell where each element of the gradient is added; 0: nowhere.
    places = columns(numpy.arange(1, math.prod(shape) + 1).reshape(shape), *windows)
    gradient, values = case.given(places.shape)
    sums = numpy.zeros(math.prod(shape) + 1)
    with numpy.errstate(invalid="ignore"):
        numpy.add.at(sums, places, values)
    out = case.out(shape)
    arrays = [npu.integers(each) for each in (shape[-2:], *windows)]
    assert npu.call("im2col_backward", gradient, *arrays, out) == 0
    case.check(out, sums[1:].reshape(shape))


# --- refusals


@pytest.mark.strict
@pytest.mark.parametrize(
    ("pad", "out", "words"),
    [
        ([1], (2, 3), "pad has 1 numbers, expected an even number up to 4, two for each dimension of self"),
        ([0] * 6, (2, 3), "pad has 6 numbers, expected an even number up to 4"),
        ([-2, -2], (2, 0), "pad has -2 and -2 for dimension 1 of self, expected to leave 0 or more of its 3 elements"),
        ([2**63 - 1, 1], (2, 3), "expected to leave 0 or more"),
        ([1, 1], (2, 4), "out has shape [2, 4], expected [2, 5], that of self with the padding"),
    ],
)
def test_constant_pads_that_do_not_fit(npu, pad, out, words):
    self, to = blank(npu, "f4"), blank(npu, "f4", out)
    refused(npu.call("constant_pad_nd", self, npu.integers(pad), npu.scalar(0), to), INVALID, words)


@pytest.mark.strict
def test_the_types_of_constant_pads(npu):
    self, pad = blank(npu, "f4", (2,)), npu.integers([0, 0])
    other = npu.tensor(numpy.zeros(2, "f8"))
    refused(npu.call("constant_pad_nd", self, pad, npu.scalar(0), other), INVALID, "out has data type 11, float64")
    wide = npu.tensor(numpy.zeros(2, "u2"))
    refused(npu.call("constant_pad_nd", wide, pad, npu.scalar(0), wide), INVALID, "self is uint16 and value is float32")
    assert npu.call("constant_pad_nd", wide, pad, npu.scalar(0, "u2"), npu.tensor(numpy.zeros(2, "u2"))) == 0


@pytest.mark.strict
@pytest.mark.parametrize(("name", "dims"), EDGES, ids=[f"{name}{dims}d" for name, dims in EDGES])
def test_edges_that_do_not_fit(npu, name, dims):
    call, shape, size = f"{name}_pad{dims}d", (3,) * (dims + 2), 2 * dims
    self, none = blank(npu, "f4", shape), npu.integers([0] * size)
    assert npu.call(call, self, none, blank(npu, "f4", shape)) == 0
    words = f"padding has 1 numbers, expected {size}"
    refused(npu.call(call, self, npu.integers([1]), blank(npu, "f4", shape)), INVALID, words)
    refused(npu.call(call, self, none, blank(npu, "f4", (*shape[:-1], 4))), INVALID, "out has shape")
    for rank in (dims, dims + 3):
        flat = blank(npu, "f4", (3,) * rank)
        refused(npu.call(call, flat, none, flat), INVALID, f"self has {rank} dimensions, expected {dims + 1} to")
    hollow = npu.tensor(numpy.zeros((3, 0, *shape[2:]), "f4"))
    refused(npu.call(call, hollow, none, hollow), INVALID, "dimension 1 of self has 0 elements, expected more than")
    empty = npu.tensor(numpy.zeros((0, *shape[1:]), "f4"))
    assert npu.call(call, empty, none, npu.tensor(numpy.zeros((0, *shape[1:]), "f4"))) == 0
    less = npu.integers([-2, -1, *[0] * (size - 2)])
    refused(npu.call(call, self, less, blank(npu, "f4", (*shape[:-1], 0))), INVALID, "more than the 3 that padding")
    if name != "replication":
        more = npu.integers([3, 0, *[0] * (size - 2)])
        words = f"padding has 3 and 0 for dimension {dims + 1} of self, expected less than 3"
        refused(npu.call(call, self, more, blank(npu, "f4", (*shape[:-1], 6))), INVALID, words)
    for kind in ("u2", "c16", "?"):
        odd = npu.tensor(numpy.zeros(shape, storage(kind)), kind)
        taken = kind in TYPES[name]
        ret = npu.call(call, odd, none, npu.tensor(numpy.zeros(shape, storage(kind)), kind))
        assert ret == (0 if taken else INVALID)


@pytest.mark.strict
def test_gradients_of_edges_that_do_not_fit(npu):
    self, wide = blank(npu, "f4", (2, 3)), blank(npu, "f4", (2, 5))
    pads, call = npu.integers([1, 1]), "reflection_pad1d_backward"
    assert npu.call(call, wide, self, pads, self) == 0
    words = "gradOutput has shape [2, 3], expected [2, 5], that of self with the padding"
    refused(npu.call(call, self, self, pads, self), INVALID, words)
    refused(npu.call(call, wide, self, pads, wide), INVALID, "gradInput has shape [2, 5], expected [2, 3]")
    refused(npu.call(call, wide, self, npu.integers([3, 0]), self), INVALID, "padding has 3 and 0 for dimension 1")
    double, whole = blank(npu, "f8", (2, 3)), blank(npu, "i4", (2, 3))
    refused(npu.call(call, wide, self, pads, double), INVALID, "gradInput has data type 11, float64")
    refused(npu.call(call, wide, double, pads, double), INVALID, "gradOutput has data type 0, float32")
    refused(npu.call(call, whole, whole, npu.integers([0, 0]), whole), INVALID, "self has data type 3, int32")
    for place, words in enumerate(("gradOutput", "self", "padding", "gradInput")):
        given = [wide, self, pads, self]
        given[place] = 0
        refused(npu.call(call, *given), NULLPTR, f"{words} is NULL")


@pytest.mark.strict
@pytest.mark.parametrize(
    ("place", "numbers", "words"),
    [
        (0, [2], "kernelSize has 1 numbers, expected 2"),
        (0, [0, 1], "kernelSize[0] is 0, expected 1 to"),
        (1, [1, 0], "dilation[1] is 0, expected 1 to"),
        (2, [-1, 0], "padding[0] is -1, expected 0 to"),
        (3, [1, 2**40], "stride[1] is 1099511627776, expected 1 to"),
        (0, [5, 1], "dimension 1 of self is 4, which is shorter than the window even with padding"),
    ],
)
def test_windows_that_do_not_fit(npu, place, numbers, words):
    given = [[1, 1], [1, 1], [0, 0], [1, 1]]
    given[place] = numbers
    arrays = [npu.integers(each) for each in given]
    refused(npu.call("im2col", blank(npu, "f4", (2, 4, 4)), *arrays, blank(npu, "f4", (2, 16))), INVALID, words)


@pytest.mark.strict
def test_images_that_do_not_fit(npu):
    arrays = [npu.integers(each) for each in ([1, 1], [1, 1], [0, 0], [1, 1])]
    flat, image = blank(npu, "f4", (4, 4)), blank(npu, "f4", (2, 4, 4))
    refused(npu.call("im2col", flat, *arrays, flat), INVALID, "self has 2 dimensions, expected 3 to 4")
    refused(npu.call("im2col", image, *arrays, flat), INVALID, "out has shape [4, 4], expected [2, 16]")
    whole = blank(npu, "i4", (2, 4, 4))
    refused(npu.call("im2col", whole, *arrays, flat), INVALID, "self has data type 3, int32")


@pytest.mark.strict
def test_columns_that_do_not_fit(npu):
    arrays = [npu.integers(each) for each in ([4, 4], [1, 1], [1, 1], [0, 0], [1, 1])]
    image, columns = blank(npu, "f4", (2, 4, 4)), blank(npu, "f4", (2, 16))
    assert npu.call("im2col_backward", columns, *arrays, image) == 0
    other = blank(npu, "f4", (2, 15))
    words = "gradOutput has shape [2, 15], expected [2, 16], that of the columns of out"
    refused(npu.call("im2col_backward", other, *arrays, image), INVALID, words)
    refused(npu.call("im2col_backward", image, *arrays, image), INVALID, "out has 3 dimensions, expected 4")
    large = [npu.integers([5, 4]), *arrays[1:]]
    words = "out has shape [2, 4, 4], expected [2, 5, 4], images of the size inputSize"
    refused(npu.call("im2col_backward", columns, *large, image), INVALID, words)
    wide = [arrays[0], npu.integers([1, 5]), *arrays[2:]]
    words = "dimension 1 of inputSize is 4, which is shorter than the window even with padding"
    refused(npu.call("im2col_backward", columns, *wide, image), INVALID, words)
