"""Convolutions and their gradients against NumPy in double: directions, groups, padding, types, strides, refusals.

A convolution relates three arrays. The wide one has the windows, the narrow one has one position per window, and the
weight has the shape (narrow channels, wide channels of a group, kernel...). A transposed convolution computes the wide
array; all references are sums over the elements of the kernel.
"""

from itertools import product

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, exact, near, numbers
from helpers.pointwise import SINGLE
from hypothesis import given
from hypothesis import strategies as st

import acl
from acl import nnop

KEEP, ALLOW, HALF, HF32 = range(4)
UNIT = 2.0**-24  # of the float that products are summed in


class Windows:
    """The numbers of a convolution, with one entry per direction."""

    def __init__(self, kernel, steps, apart, pads, groups, narrow):
        self.kernel, self.steps, self.apart, self.pads = kernel, steps, apart, pads
        self.groups, self.narrow = groups, narrow

    def cells(self):
        """Return the elements of the kernel, and where all windows have each of them in the padded wide array."""
        for element in product(*map(range, self.kernel)):
            starts = [index * apart for index, apart in zip(element, self.apart)]
            yield (
                (..., *element),
                (
                    ...,
                    *(
                        slice(start, start + (count - 1) * step + 1, step)
                        for start, step, count in zip(starts, self.steps, self.narrow)
                    ),
                ),
            )

    def grouped(self, array, axis=1):
        """Return an array whose axis of channels is split into groups and channels."""
        shape = array.shape
        return array.reshape(*shape[:axis], self.groups, shape[axis] // self.groups, *shape[axis + 1 :])

    def padded(self, wide):
        return numpy.pad(wide, [(0, 0), (0, 0), *self.pads])

    def to_narrow(self, wide, weight):
        wide = self.padded(wide)
        total = numpy.zeros((len(wide), self.groups, len(weight) // self.groups, *self.narrow))
        for element, cell in self.cells():
            total += numpy.einsum("ngc...,gfc->ngf...", self.grouped(wide[cell]), self.grouped(weight[element], 0))
        return total.reshape(len(wide), len(weight), *self.narrow)

    def to_wide(self, narrow, weight, shape):
        total = self.padded(numpy.zeros(shape))
        for element, cell in self.cells():
            part = numpy.einsum("ngf...,gfc->ngc...", self.grouped(narrow), self.grouped(weight[element], 0))
            total[cell] += part.reshape(total[cell].shape)
        inside = [slice(before, size - after) for (before, after), size in zip(self.pads, total.shape[2:])]
        return total[(..., *inside)]

    def to_weight(self, wide, narrow, shape):
        wide, total = self.padded(wide), numpy.zeros(shape)
        for element, cell in self.cells():
            part = self.grouped(wide[cell])
            flat = part.reshape(*part.shape[:3], int(numpy.prod(self.narrow)))
            other = self.grouped(narrow)
            other = other.reshape(*other.shape[:3], flat.shape[3])
            total[element] = numpy.einsum("ngcp,ngfp->gfc", flat, other).reshape(shape[:2])
        return total


@st.composite
def convolutions(draw, transposed=False, directions=None, groups=None, most_pads=2):
    """Return the numbers of a convolution, the shapes of its arrays, and the arguments padding and outputPadding."""
    count = directions or draw(st.integers(1, 3))
    several = lambda low, high: [draw(st.integers(low, high)) for _ in range(count)]  # noqa: E731
    kernel, steps, apart, narrow = several(1, 3), several(1, 3), several(1, 2), several(1, 4)
    if count < 3 and draw(st.booleans()):
        padding = [draw(st.integers(0, most_pads)) for _ in range(2 * count)]
        pads = list(zip(padding[::2], padding[1::2]))
    else:
        padding = several(0, most_pads)
        pads = [(pad, pad) for pad in padding]
    wide, extra = [], []
    for k in range(count):
        extra.append(draw(st.integers(0, (max(steps[k], apart[k]) if transposed else steps[k]) - 1)))
        length = (narrow[k] - 1) * steps[k] + (kernel[k] - 1) * apart[k] + 1 - sum(pads[k]) + extra[k]
        while length < 1:
            length, narrow[k] = length + steps[k], narrow[k] + 1
        wide.append(length)
    batch, groups = draw(st.integers(0, 2)), groups or draw(st.integers(1, 3))
    wide_channels, narrow_channels = draw(st.integers(0, 3)), draw(st.integers(1, 3))
    shapes = {
        "wide": (batch, groups * wide_channels, *wide),
        "narrow": (batch, groups * narrow_channels, *narrow),
        "weight": (groups * narrow_channels, wide_channels, *kernel),
    }
    return Windows(kernel, steps, apart, pads, groups, narrow), shapes, padding, extra


def tensors_of(npu, draw, shapes, kinds):
    """Return tensors over views of any strides, and their wide values."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    views = [any_view(draw, generator, list(shape), kind) for shape, kind in zip(shapes, kinds)]
    return [npu.view(*view, kind) for view, kind in zip(views, kinds)], [
        exact(view, kind).astype("f8") for (_, view), kind in zip(views, kinds)
    ]


def check(npu, tensor, kind, function, one, other, *more, added=0):
    """Compare with a sum of products, and with what is added to it."""
    expected = function(one, other, *more) + added
    size = function(numpy.abs(one), numpy.abs(other), *more) + numpy.abs(added)
    terms = function(numpy.ones_like(one), numpy.ones_like(other), *more).max(initial=0)
    near(npu.get(tensor), expected, kind, (terms + 3) * UNIT * size)


def check_result(npu, tensor, kind, windows, shapes, transposed, one, weight, **added):
    """Compare with a convolution, or with a transposed one."""
    if transposed:
        check(npu, tensor, kind, windows.to_wide, one, weight, shapes["wide"], **added)
    else:
        check(npu, tensor, kind, windows.to_narrow, one, weight, **added)


def along_channels(bias, shape):
    """Return one number per channel as an array of this shape."""
    return numpy.broadcast_to(bias.reshape(-1, *[1] * (len(shape) - 2)), shape)


def any_case(draw, transposed, count):
    """Return a convolution, the names of its input and its result, and kinds for this many tensors."""
    names = ("narrow", "wide") if transposed else ("wide", "narrow")
    return (*draw(convolutions(transposed)), *names, [draw(st.sampled_from(SINGLE)) for _ in range(count)])


def booleans(npu, values):
    handle = acl.create_bool_array(values)
    assert handle != 0
    npu.ends.append((acl.destroy_bool_array, handle))
    return handle


@pytest.mark.parametrize("transposed", [False, True])
def test_convolution(npu, transposed):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw = data.draw
        windows, shapes, padding, extra, source, result, kinds = any_case(draw, transposed, 4)
        (input_, weight, bias, out), values = tensors_of(
            npu, draw, [shapes[source], shapes["weight"], shapes[result][1:2], shapes[result]], kinds
        )
        with_bias = draw(st.booleans())
        arrays = map(npu.integers, (windows.steps, padding, windows.apart))
        extra = npu.integers(extra if transposed else [9] * draw(st.integers(0, 3)))
        bias = bias if with_bias else 0
        ret = npu.call("convolution", input_, weight, bias, *arrays, transposed, extra, windows.groups, out, KEEP)
        assert ret == 0, acl.get_recent_err_msg()
        added = along_channels(values[2] * with_bias, shapes[result])
        check_result(npu, out, kinds[3], windows, shapes, transposed, *values[:2], added=added)

    run_case()


@pytest.mark.parametrize("filters", [3, 20, 70])
@pytest.mark.parametrize(
    ("kernel", "steps", "apart", "pad", "image"),
    [((3, 3), (1, 1), (1, 1), 1, (30, 21)), ((1, 1), (1, 1), (1, 1), 0, (20, 27))]
    + [((7, 7), (2, 2), (1, 1), 3, (40, 33)), ((2, 3), (3, 2), (2, 3), 4, (12, 700))]
    + [((1, 1), (2, 2), (1, 1), 0, (9, 11)), ((2, 2), (5, 3), (1, 1), 0, (9, 8))]
    + [((5, 6), (1, 1), (1, 1), 0, (5, 6))],  # a single window
)
def test_convolutions_of_many_channels(npu, filters, kernel, steps, apart, pad, image):
    groups, channels = 2, 9
    narrow = [(size + 2 * pad - (k - 1) * a - 1) // s + 1 for size, k, s, a in zip(image, kernel, steps, apart)]
    windows = Windows(kernel, steps, apart, [(pad, pad)] * 2, groups, narrow)
    shapes = (2, groups * channels, *image), (groups * filters, channels, *kernel), (2, groups * filters, *narrow)
    generator = numpy.random.default_rng(filters)
    wide, weight = (numbers(generator, shape, "f4") for shape in shapes[:2])
    out = npu.tensor(numpy.full(shapes[2], numpy.nan, "f4"))
    arrays = map(npu.integers, (steps, [pad, pad], apart))
    extra = npu.integers([0, 0])
    assert npu.call("convolution", *map(npu.tensor, (wide, weight)), 0, *arrays, False, extra, groups, out, KEEP) == 0
    # The windows may end before the last elements of the image.
    wide = numpy.pad(wide, [(0, 0), (0, 0), *[(0, s * k) for s, k in zip(steps, kernel)]]).astype("f8")
    check(npu, out, "f4", windows.to_narrow, wide, weight.astype("f8"))


def check_gradients(npu, found, kinds, windows, shapes, gradient, input_, weight, transposed):
    """Compare the gradients that are not None."""
    wide, narrow = (gradient, input_) if transposed else (input_, gradient)
    if found[0]:
        check_result(npu, found[0], kinds[0], windows, shapes, not transposed, gradient, weight)
    if found[1]:
        check(npu, found[1], kinds[1], windows.to_weight, wide, narrow, shapes["weight"])
    if found[2]:
        axes = (0, *range(2, gradient.ndim))
        near(npu.get(found[2]), gradient.sum(axes), kinds[2], 2 * UNIT * numpy.abs(gradient).sum(axes))


@pytest.mark.parametrize("transposed", [False, True])
def test_convolution_backward(npu, transposed):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw = data.draw
        windows, shapes, padding, extra, source, result, kinds = any_case(draw, transposed, 6)
        like = [shapes[source], shapes["weight"], shapes[result][1:2]]
        tensors, values = tensors_of(npu, draw, [shapes[result], *like[:2], *like], kinds)
        mask = [draw(st.booleans()) for _ in "iwb"]
        extra = extra if transposed else [0] * len(extra)
        unused = [draw(st.sampled_from([tensor, 0])) for tensor in tensors[3:]]
        outputs = [tensor if wanted else other for wanted, tensor, other in zip(mask, tensors[3:], unused)]
        sizes = draw(st.sampled_from([0, npu.integers(like[2])]))
        ret = npu.call(
            "convolution_backward", *tensors[:3], sizes,
            *map(npu.integers, (windows.steps, padding, windows.apart)), transposed, npu.integers(extra),
            windows.groups, booleans(npu, mask), KEEP, *outputs,
        )  # fmt: skip
        assert ret == 0, acl.get_recent_err_msg()
        found = [tensor if wanted else None for wanted, tensor in zip(mask, tensors[3:])]
        check_gradients(npu, found, kinds[3:], windows, shapes, *values[:3], transposed)

    run_case()


@SETTINGS
@given(data=st.data())
def test_conv_depthwise2d(npu, data):
    draw = data.draw
    windows, shapes, padding, _ = draw(convolutions(directions=2))
    batch, _, *wide = shapes["wide"]
    shapes["wide"] = (batch, windows.groups, *wide)
    shapes["weight"] = (shapes["weight"][0], 1, *windows.kernel)
    kinds = [draw(st.sampled_from(SINGLE)) for _ in range(4)]
    (self, weight, bias, out), values = tensors_of(
        npu, draw, [shapes["wide"], shapes["weight"], shapes["narrow"][1:2], shapes["narrow"]], kinds
    )
    with_bias = draw(st.booleans())
    numbers_of = map(npu.integers, (windows.steps, padding, windows.apart))
    ret = npu.call(
        "conv_depthwise2d", self, weight, npu.integers(windows.kernel), bias if with_bias else 0, *numbers_of, out, KEEP
    )
    assert ret == 0, acl.get_recent_err_msg()
    added = along_channels(values[2] * with_bias, shapes["narrow"])
    check(npu, out, kinds[3], windows.to_narrow, values[0], values[1], added=added)


@SETTINGS
@given(data=st.data(), pad=st.integers(0, 2))
def test_conv_tbc(npu, data, pad):
    draw = data.draw
    kernel, length, batch, inputs, outputs = (draw(st.integers(low, 4)) for low in (1, 1, 0, 0, 1))
    length = max(length, kernel - 2 * pad)
    after = length + 2 * pad - kernel + 1
    windows = Windows([kernel], [1], [1], [(pad, pad)], 1, [after])
    shapes = {"wide": (batch, inputs, length), "weight": (outputs, inputs, kernel)}
    given_shapes = [(length, batch, inputs), (kernel, inputs, outputs), (outputs,), (after, batch, outputs)]
    kinds = [draw(st.sampled_from(SINGLE)) for _ in range(7)]
    tensors, values = tensors_of(npu, draw, given_shapes + given_shapes[:3], kinds)
    images, weight = [values[0].transpose(1, 2, 0), values[3].transpose(1, 2, 0)], values[1].transpose(2, 1, 0)
    self, factors, bias, out, *gradients = tensors
    assert npu.call("conv_tbc_backward", out, self, factors, bias, pad, KEEP, *gradients) == 0
    assert npu.call("conv_tbc", self, factors, bias, pad, out, KEEP) == 0
    turned = [
        tensor._replace(view=tensor.view.transpose(order))
        for tensor, order in zip([out, *gradients[:2]], [(1, 2, 0), (1, 2, 0), (2, 1, 0)])
    ]
    added = along_channels(values[2], (batch, outputs, after))
    check(npu, turned[0], kinds[3], windows.to_narrow, images[0], weight, added=added)
    check_gradients(
        npu, [*turned[1:], gradients[2]], kinds[4:], windows, shapes, images[1], images[0], weight, transposed=False
    )


@pytest.mark.parametrize("transposed", [False, True])
def test_more_positions_than_one_piece_has(npu, transposed):
    """The matrix of columns has at most 2**20 elements: here 200 rows and 6400 positions."""
    windows = Windows([5, 5], [1, 1], [1, 1], [(2, 2), (2, 2)], 1, [80, 80])
    shapes = {"wide": (2, 8, 80, 80), "narrow": (2, 3, 80, 80), "weight": (3, 8, 5, 5)}
    source, result = ("narrow", "wide") if transposed else ("wide", "narrow")
    generator = numpy.random.default_rng(4)
    gradient, input_, weight = (numbers(generator, shapes[name], "f4") for name in (result, source, "weight"))
    one, two, none = (npu.integers([number] * 2) for number in (1, 2, 0))
    tensors = [npu.tensor(values) for values in (gradient, input_, weight)]
    out = blank(npu, "f4", shapes[result])
    assert npu.call("convolution", tensors[1], tensors[2], 0, one, two, one, transposed, none, 1, out, KEEP) == 0
    gradient, input_, weight = (values.astype("f8") for values in (gradient, input_, weight))
    check_result(npu, out, "f4", windows, shapes, transposed, input_, weight)
    found = [blank(npu, "f4", shape) for shape in (shapes[source], shapes["weight"], shapes[result][1:2])]
    ret = npu.call(
        "convolution_backward", *tensors, 0, one, two, one, transposed, none, 1, booleans(npu, [True] * 3), KEEP, *found
    )
    assert ret == 0
    check_gradients(npu, found, ["f4"] * 3, windows, shapes, gradient, input_, weight, transposed)


def test_special_values_stay_where_windows_meet_them(npu):
    values = numpy.arange(12, dtype="f4").reshape(1, 1, 12)
    values[0, 0, 3], values[0, 0, 8], values[0, 0, 10] = numpy.nan, numpy.inf, -numpy.inf
    out = blank(npu, "f4", (1, 1, 12))
    one = npu.integers([1])
    weight = npu.tensor(numpy.ones((1, 1, 3), "f4"))
    assert npu.call("convolution", npu.tensor(values), weight, 0, one, one, one, False, one, 1, out, KEEP) == 0
    padded = numpy.pad(values[0, 0], 1)
    with numpy.errstate(invalid="ignore"):
        expected = padded[:-2] + padded[1:-1] + padded[2:]
    assert numpy.array_equal(npu.get(out)[0, 0], expected, equal_nan=True)


def test_float16_sums_are_kept_in_float(npu):
    """4096 times 1 + 1/1024: in float16 the sum would stop to grow."""
    one, none = npu.integers([1]), npu.integers([0])
    input_, weight = npu.tensor(numpy.full((1, 4096, 1), 1 + 2**-10, "f2")), npu.tensor(numpy.ones((1, 4096, 1), "f2"))
    out = blank(npu, "f2", (1, 1, 1))
    assert npu.call("convolution", input_, weight, 0, one, none, one, False, none, 1, out, KEEP) == 0
    assert npu.get(out) == 4100


@pytest.mark.strict
@pytest.mark.parametrize(("math", "value"), [(KEEP, 1 + 2**-13), (ALLOW, 1), (HALF, 1), (HF32, 1)])
def test_what_float32_is_rounded_to(npu, math, value):
    one, none = npu.integers([1]), npu.integers([0])
    input_, weight = npu.tensor(numpy.full((1, 1, 1), 1 + 2**-13, "f4")), npu.tensor(numpy.ones((1, 1, 1), "f4"))
    out = blank(npu, "f4", (1, 1, 1))
    assert npu.call("convolution", input_, weight, 0, one, none, one, False, none, 1, out, math) == 0
    assert npu.get(out) == value


# --- refusals


def call_forward(npu, **changed):
    """Call a convolution of 4 channels in 2 groups, with some arguments changed."""
    given = {
        "input": ("f4", (2, 4, 5, 5)), "weight": ("f4", (6, 2, 3, 3)), "bias": ("f4", (6,)), "stride": [1, 1],
        "padding": [0, 0], "dilation": [1, 1], "transposed": False, "outputPadding": [0, 0], "groups": 2,
        "output": ("f4", (2, 6, 3, 3)), "cubeMathType": KEEP, **changed,
    }  # fmt: skip
    placed = [
        blank(npu, *value) if isinstance(value, tuple) else npu.integers(value) if isinstance(value, list) else value
        for value in given.values()
    ]
    return npu.call("convolution", *placed)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"input": ("i4", (2, 4, 5, 5))}, "input has data type 3, int32, expected float32, float16 or bfloat16"),
        ({"weight": ("f8", (6, 2, 3, 3))}, "weight has data type 11, float64"),
        ({"bias": ("i4", (6,))}, "bias has data type 3, int32"),
        ({"output": ("f8", (2, 6, 3, 3))}, "output has data type 11, float64"),
        ({"input": ("f4", (4, 5))}, "input has 2 dimensions, expected 3 to 5"),
        ({"weight": ("f4", (6, 2, 3))}, "weight has 3 dimensions, expected 4"),
        ({"bias": ("f4", (4,))}, "bias has shape [4], expected [6], one number per output channel"),
        ({"output": ("f4", (2, 6, 3, 2))}, "output has shape [2, 6, 3, 2], expected [2, 6, 3, 3], that of the conv"),
        ({"stride": [1]}, "stride has 1 numbers, expected 2"),
        ({"stride": [1, 0]}, "stride[1] is 0, expected 1 to"),
        ({"dilation": [0, 1]}, "dilation[0] is 0, expected 1 to"),
        ({"padding": [0, -1]}, "padding[1] is -1, expected 0 to"),
        ({"padding": [0, 0, 0]}, "padding has 3 numbers, expected 2"),
        ({"groups": 0}, "groups is 0, expected 1 to 65535"),
        ({"groups": 4}, "groups is 4 and weight has 6 filters, expected a divisor of the filters"),
        ({"groups": 3}, "input has 4 channels, expected 6, those of weight in 3 groups"),
        ({"dilation": [3, 1]}, "input has length 5 in direction 0, which is shorter than the window even with padding"),
        ({"weight": ("f4", (6, 2, 3, 0))}, "the kernel of weight has size 0 in direction 1, expected 1 to"),
        ({"cubeMathType": 4}, "cubeMathType is 4, expected 0 (KEEP_DTYPE) to 3 (USE_HF32)"),
        ({"transposed": True}, "input has 4 channels, expected 6, those of weight in 2 groups"),
        (
            {"transposed": True, "input": ("f4", (2, 6, 5, 5)), "outputPadding": [0, 1]},
            "outputPadding[1] is 1, expected less than stride[1] or dilation[1]",
        ),
    ],
)
def test_convolutions_that_do_not_fit(npu, changed, words):
    refused(call_forward(npu, **changed), INVALID, words)


def test_the_convolution_that_is_changed_fits(npu):
    assert call_forward(npu) == 0
    assert call_forward(npu, transposed=True, input=("f4", (2, 6, 5, 5)), bias=0, output=("f4", (2, 4, 7, 7))) == 0


@pytest.mark.strict
def test_gradients_that_do_not_fit(npu):
    one, none, mask = npu.integers([1]), npu.integers([0]), booleans(npu, [True] * 3)
    gradient, input_, weight = (blank(npu, "f4", shape) for shape in ((1, 2, 3), (1, 1, 3), (2, 1, 1)))
    bias = blank(npu, "f4", (2,))

    def call(extra=none, sizes=0, mask=mask, outputs=(input_, weight, bias), gradient=gradient):
        return npu.call("convolution_backward", gradient, input_, weight, sizes, one, none, one, False, extra, 1, mask,
                        KEEP, *outputs)  # fmt: skip

    refused(call(extra=one), INVALID, "outputPadding[0] is 1, expected 0 unless the convolution is transposed")
    refused(call(sizes=one), INVALID, "biasSizes[0] is 1, expected 2, the output channels")
    refused(call(mask=booleans(npu, [True])), INVALID, "outputMask has 1 numbers, expected 3")
    refused(call(outputs=(0, weight, bias)), NULLPTR, "gradInput is NULL, expected a valid pointer")
    refused(call(outputs=(weight, weight, bias)), INVALID, "gradInput has shape [2, 1, 1], expected [1, 1, 3]")
    refused(call(outputs=(input_, input_, bias)), INVALID, "gradWeight has shape [1, 1, 3], expected [2, 1, 1]")
    refused(call(outputs=(input_, weight, weight)), INVALID, "gradBias has shape [2, 1, 1], expected [2]")
    refused(call(gradient=input_), INVALID, "gradOutput has shape [1, 1, 3], expected [1, 2, 3]")


@pytest.mark.strict
def test_other_convolutions_that_do_not_fit(npu):
    one, none, size = npu.integers([1, 1]), npu.integers([0, 0]), npu.integers([1, 2])
    image, weight, line = blank(npu, "f4", (1, 2, 3, 3)), blank(npu, "f4", (2, 1, 1, 1)), blank(npu, "f4", (2, 3, 4))
    call = npu.call
    words = "kernelSize[1] is 2, expected 1, dimension 3 of weight"
    refused(call("conv_depthwise2d", image, weight, size, 0, one, none, one, image, KEEP), INVALID, words)
    refused(call("conv_depthwise2d", line, weight, one, 0, one, none, one, image, KEEP), INVALID, "self has 3 dimens")
    bias = blank(npu, "f4", (4,))
    refused(call("conv_tbc", image, line, bias, 0, line, KEEP), INVALID, "self has 4 dimensions, expected 3")
    refused(call("conv_tbc", line, line, bias, 0, line, KEEP), INVALID, "self has 4 channels, expected 3")
    refused(call("conv_tbc", line, blank(npu, "f4", (1, 4, 4)), bias, -1, line, KEEP), INVALID, "pad[0] is -1")


@pytest.mark.parametrize("place", [0, 1, 3, 4, 5, 7, 9])
def test_null(npu, place):
    one = blank(npu, "f4", (1, 1, 1)).handle
    numbers_ = npu.integers([1])
    given = [one, one, 0, numbers_, numbers_, numbers_, False, numbers_, 1, one, KEEP]
    given[place] = 0
    name = "input weight bias stride padding dilation transposed outputPadding groups output".split()[place]
    refused(nnop.convolution_get_workspace_size(*given)[2], NULLPTR, f"{name} is NULL")
