"""Single operators on images with their channels in the second dimension, beside formulas of NumPy.

The gradient of a linear function is computed from the function itself: :func:`adjoint` applies it to unit vectors.
"""

import numpy
import pytest
from helpers.single import Single, convolved, kind_of, operands

import acl

RANDOM = numpy.random.default_rng(17)


def normal(*shape):
    """Return random floats."""
    return RANDOM.normal(size=shape).astype("f4")


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def adjoint(function, shape, grad):
    """Return the gradient of a linear function's argument."""
    units = numpy.eye(int(numpy.prod(shape)))
    return numpy.array([(function(unit.reshape(shape)) * grad).sum() for unit in units]).reshape(shape)


def windows(x, size, step, pad, value=0.0):
    """Return the windows of the last dimensions, which come last."""
    axes = tuple(range(2, x.ndim))
    x = numpy.pad(x, [(0, 0), (0, 0), *[(each, each) for each in pad]], constant_values=value)
    found = numpy.lib.stride_tricks.sliding_window_view(x, size, axes)
    return found[(slice(None), slice(None), *[slice(None, None, each) for each in step])]


def deep(x, filters, step, pad):
    """Return a convolution in three directions."""
    return numpy.einsum("ncdhwijk,ocijk->nodhw", windows(x, filters.shape[2:], step, pad), filters)


def means(x, size, step, pad):
    """Return the means of windows, in which padding counts."""
    return windows(x, size, step, pad).mean(tuple(range(-len(size), 0)))


def greatest(x, size, step, pad):
    """Return the greatest elements of windows."""
    return windows(x, size, step, pad, -numpy.inf).max(tuple(range(-len(size), 0)))


def greatest_grad(x, grad, size, step, pad):
    """Return the gradient of that, for different elements."""
    found = numpy.zeros(x.shape)
    best = greatest(x, size, step, pad)
    for place in numpy.ndindex(best.shape):
        found[x == best[place]] += grad[place]
    return found


def adaptive(x):
    """Return the means of 2 x 3 overlapping parts of 5 x 4 images."""
    rows, columns = [slice(0, 3), slice(2, 5)], [slice(0, 2), slice(1, 3), slice(2, 4)]
    return numpy.stack([numpy.stack([x[..., r, c].mean((-2, -1)) for c in columns], -1) for r in rows], -2)


def between(x, axis, size, aligned):
    """Resize one dimension by linear interpolation."""
    length = x.shape[axis]
    if aligned:
        places = numpy.arange(size) * (length - 1) / (size - 1)
    else:
        places = numpy.clip((numpy.arange(size) + 0.5) * length / size - 0.5, 0, length - 1)
    low = places.astype(int)
    high, part = numpy.minimum(low + 1, length - 1), places - low
    part = part.reshape([-1 if place == axis else 1 for place in range(x.ndim)])
    return numpy.take(x, low, axis) * (1 - part) + numpy.take(x, high, axis) * part


def linear(x, sizes, aligned=False):
    """Resize the last dimensions by linear interpolation."""
    for axis, size in zip(range(2, x.ndim), sizes):
        x = between(x, axis, size, aligned)
    return x


def nearest(x, sizes):
    """Resize images by the nearest element."""
    rows, columns = (numpy.arange(size) * length // size for size, length in zip(sizes, x.shape[2:]))
    return x[..., rows, :][..., columns]


def columns_of(x):
    """Return the columns of 2 x 2 windows with padding 1."""
    found = windows(x, (2, 2), (1, 1), (1, 1))
    return found.transpose(0, 1, 4, 5, 2, 3).reshape(x.shape[0], x.shape[1] * 4, -1)


def cubic(x, sizes):
    """Resize images by cubic interpolation."""

    def weight(away):
        away = abs(away)
        return (1.25 * away - 2.25) * away**2 + 1 if away <= 1 else ((-0.75 * away + 3.75) * away - 6) * away + 3

    for axis, size in zip((2, 3), sizes):
        length, lines = x.shape[axis], []
        for place in (numpy.arange(size) + 0.5) * length / size - 0.5:
            first = int(numpy.floor(place))
            near = range(first - 1, first + 3)
            taken = numpy.take(x, numpy.clip(near, 0, length - 1), axis)
            lines.append(numpy.tensordot(taken, [weight(place - each) for each in near], (axis, 0)))
        x = numpy.stack(lines, axis)
    return x


X, FILTER = normal(2, 2, 5, 4), normal(3, 2, 3, 2)
G = normal(2, 3, 3, 3)  # of their convolution with stride 2 and padding 1, 1
VOLUME, DEEP = normal(1, 2, 3, 4, 3), normal(2, 2, 2, 2, 2)
DEEP_G, POOL_G = normal(1, 2, 2, 3, 2), normal(2, 2, 3, 2)
SCALE, OFFSET, MEAN = normal(2), normal(2), normal(2)
VARIANCE = numpy.abs(normal(2)) + numpy.float32(0.5)
ROOT = numpy.sqrt(VARIANCE + 1e-3).reshape(2, 1, 1)
CONV = {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1], "groups": 1, "data_format": "NCHW"}
CONV3 = {"strides": [1] * 5, "pads": [0] * 6, "dilations": [1] * 5, "groups": 1, "data_format": "NCDHW"}
POOL = {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "pads": [1, 1, 0, 0], "padding_mode": "CALCULATED"}
POOL3 = {"ksize": [2, 2, 2], "strides": [1, 1, 1], "pads": [0] * 6, "data_format": "NCDHW"}
WINDOWS3 = {"ksize": [1, 1, 2, 2, 2], "strides": [1] * 5, "pads": [0] * 6, "padding": "CALCULATED"}
SQUARE = (3, 2), (2, 2), (1, 0)  # what POOL says
CUBE = (2, 2, 2), (1, 1, 1), (0, 0, 0)
ONES2, ONES4 = [1, 1], [1, 1, 1, 1]


def convolve(x, filters=FILTER):
    return convolved(x, filters, 2, (1, 1, 1, 1))


def normalized(x):
    return (x - MEAN.reshape(2, 1, 1)) / ROOT


SUMS = X.sum((0, 2, 3)), (X.astype("f8") ** 2).sum((0, 2, 3))
GRADS = normal(*X.shape)
DIFFS = ((GRADS * normalized(X)).sum((0, 2, 3)).astype("f4"), GRADS.sum((0, 2, 3)))
SPREAD = X.var((0, 2, 3))
THETA = normal(2, 2, 3)


def grid_of(theta, rows, columns):
    """Return the rows of coordinates of AffineGrid."""
    y, x = ((numpy.arange(size) * 2 + 1) / size - 1 for size in (rows, columns))
    places = numpy.stack([*numpy.meshgrid(x, y), numpy.ones((rows, columns))], -1).reshape(-1, 3)
    return places @ theta.transpose(0, 2, 1)


# Type, inputs (lists are constants), results, attributes.
CASES = {
    "Conv2DBackpropInput": (
        [[2, 2, 5, 4], FILTER, G], [adjoint(convolve, X.shape, G)], CONV),
    "Conv2DBackpropFilter": (
        [X, [3, 2, 3, 2], G], [adjoint(lambda filters: convolve(X, filters), FILTER.shape, G)], CONV),
    "Conv3D": ([VOLUME, DEEP, SCALE], [deep(VOLUME, DEEP, *CUBE[1:]) + SCALE.reshape(2, 1, 1, 1)], CONV3),
    "Conv3DTranspose": (
        [[1, 2, 3, 4, 3], DEEP_G, DEEP], [adjoint(lambda x: deep(x, DEEP, *CUBE[1:]), VOLUME.shape, DEEP_G)], CONV3),
    "Conv3DBackpropInput": (
        [[1, 2, 3, 4, 3], DEEP, DEEP_G], [adjoint(lambda x: deep(x, DEEP, *CUBE[1:]), VOLUME.shape, DEEP_G)], CONV3),
    "Conv3DBackpropFilter": (
        [VOLUME, [2] * 5, DEEP_G], [adjoint(lambda f: deep(VOLUME, f, *CUBE[1:]), DEEP.shape, DEEP_G)], CONV3),
    "AvgPoolV2Grad": (
        [[2, 2, 5, 4], POOL_G], [adjoint(lambda x: means(x, *SQUARE), X.shape, POOL_G)], {**POOL, "exclusive": False}),
    "AvgPool3D": ([VOLUME], [means(VOLUME, *CUBE)], {**POOL3, "count_include_pad": True}),
    "AvgPool3DGrad": ([[1, 2, 3, 4, 3], DEEP_G], [adjoint(lambda x: means(x, *CUBE), VOLUME.shape, DEEP_G)], POOL3),
    "AdaptiveAvgPool2dGrad": (
        [POOL_G.transpose(0, 1, 3, 2).copy()],
        [adjoint(adaptive, X.shape, POOL_G.transpose(0, 1, 3, 2))],
        {"orig_input_shape": [2, 2, 5, 4]}),
    "MaxPool3D": ([VOLUME], [greatest(VOLUME, *CUBE)], {**WINDOWS3, "dilation": [1] * 5, "data_format": "NCDHW"}),
    "MaxPool3DGrad": (
        [VOLUME, greatest(VOLUME, *CUBE), DEEP_G], [greatest_grad(VOLUME, DEEP_G, *CUBE)], WINDOWS3),
    "BNTrainingReduce": ([X], [*SUMS], {"epsilon": 1e-3}),
    "BNTrainingUpdate": (
        [X, *(each.astype("f4") for each in SUMS), SCALE, OFFSET, MEAN, VARIANCE],
        [
            (X - X.mean((0, 2, 3), keepdims=True)) / numpy.sqrt(SPREAD.reshape(2, 1, 1) + 1e-3)
            * SCALE.reshape(2, 1, 1) + OFFSET.reshape(2, 1, 1),
            MEAN * 0.75 + X.mean((0, 2, 3)) * 0.25, VARIANCE * 0.75 + SPREAD * 40 / 39 * 0.25,
            X.mean((0, 2, 3)), SPREAD,
        ],
        {"factor": 0.25, "epsilon": 1e-3}),
    "BNTrainingUpdateGrad": ([GRADS, X, MEAN, VARIANCE], [*DIFFS], {"epsilon": 1e-3}),
    "BNTrainingReduceGrad": (
        [GRADS, X, *DIFFS, SCALE, MEAN, VARIANCE],
        [SCALE.reshape(2, 1, 1) / ROOT * (GRADS - (
            DIFFS[1].reshape(2, 1, 1) + normalized(X) * DIFFS[0].reshape(2, 1, 1)) / 40)],
        {"epsilon": 1e-3}),
    "BNInferGrad": ([GRADS, SCALE, VARIANCE], [GRADS * SCALE.reshape(2, 1, 1) / ROOT], {"epsilon": 1e-3}),
    "ResizeNearestNeighborV2": ([X, [7, 6]], [nearest(X, (7, 6))], {}),
    "ResizeNearestNeighborV2Grad": (
        [normal(1, 1, 7, 6) * 0 + 2, [5, 4]],
        [adjoint(lambda x: nearest(x, (7, 6)), (1, 1, 5, 4), 2)], {"align_corners": False}),
    "ResizeBilinearV2": ([X, [7, 6]], [linear(X, (7, 6))], {"half_pixel_centers": True}),
    "ResizeBilinearV2 corners": ([X, [7, 6]], [linear(X, (7, 6), True)], {"align_corners": True}),
    "ResizeBilinearV2Grad": (
        [POOL_G, X], [adjoint(lambda x: linear(x, (3, 2)), X.shape, POOL_G)], {"half_pixel_centers": True}),
    "ResizeD": ([X], [cubic(X, (7, 6))], {"sizes": [7, 6], "mode": "cubic", "cubic_coeff_a": -0.75, "roi": [0.0]}),
    "ResizeD lines": ([X[:, :, :1]], [linear(X[:, :, 0], (6,))], {"sizes": [6], "mode": "linear"}),
    "ResizeGradD lines": (
        [POOL_G[:, :, :1]], [adjoint(lambda x: linear(x, (2,)), (2, 2, 5), POOL_G[:, :, 0])],
        {"original_size": [2, 2, 5], "mode": "linear"}),
    "UpsampleTrilinear3d": ([VOLUME], [linear(VOLUME, (4, 5, 6))], {"output_size": [4, 5, 6]}),
    "UpsampleTrilinear3dGrad": (
        [DEEP_G], [adjoint(lambda x: linear(x, (2, 3, 2), True), VOLUME.shape, DEEP_G)],
        {"input_size": [1, 2, 3, 4, 3], "output_size": [2, 3, 2], "align_corners": True}),
    "AffineGrid": ([THETA, [2, 1, 3, 4]], [grid_of(THETA, 3, 4)], {"align_corners": False}),
    "Im2col": ([X], [columns_of(X)], {"ksizes": [2, 2], "strides": ONES2, "dilations": ONES2, "pads": ONES4}),
    "Col2im": (
        [columns_of(X).reshape(2, 2, 4, 30).astype("f4"), [5, 4]], [adjoint(columns_of, X.shape, columns_of(X))],
        {"kernel_size": [2, 2], "stride": ONES2, "dilation": ONES2, "padding": ONES2}),
    "MirrorPad": (
        [X, [0, 0, 0, 0, 2, 1, 0, 3]], [numpy.pad(X, [(0, 0)] * 2 + [(2, 1), (0, 3)], "reflect")], {"mode": "REFLECT"}),
    "PadV3Grad reflect": (
        [G, [0, 0, 0, 0, 1, 0, 0, 1]],
        [adjoint(lambda x: numpy.pad(x, [(0, 0)] * 2 + [(1, 0), (0, 1)], "reflect"), (2, 3, 2, 2), G)],
        {"mode": "reflect"}),
    "PadV3Grad edge": (
        [G, [1, 0, 0, 0, 1, 0, 0, 2]],
        [adjoint(lambda x: numpy.pad(x, [(1, 0), (0, 0), (1, 0), (0, 2)], "edge"), (1, 3, 2, 1), G)],
        {"mode": "edge", "paddings_contiguous": True}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name, single):
    inputs, results, values = CASES[name]
    shapes, kinds = [result.shape for result in results], [kind_of(result) for result in results]
    found = single.run_all(name.split()[0], operands(single, inputs), shapes, kinds, **values)
    for one, result in zip(found, results):
        numpy.testing.assert_allclose(one, result, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("words", [2, 32], ids=["words", "blocks"])
def test_a_pool_with_a_mask_has_a_gradient(words, single):
    values = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "pads": [1, 1, 0, 1], "dilation": ONES4}
    values["ceil_mode"] = False
    x, out, mask = single.give(X), single.take((2, 2, 3, 2), "f4"), single.take((2, 2, 6, words), "u2")
    assert single.call("MaxPoolWithArgmaxV1", [x], [out, mask], **values) == 0, acl.get_recent_err_msg()
    assert numpy.array_equal(out[2](), greatest(X, *SQUARE))
    found = single.run("MaxPoolGradWithArgmaxV1", [x, single.give(POOL_G), mask[:2]], X.shape, "f4", **values)
    numpy.testing.assert_allclose(found, greatest_grad(X, POOL_G, *SQUARE), rtol=1e-6)


@pytest.mark.parametrize("layout", ["NCHW", "HWNC", "NHWC"])
def test_a_resized_image_has_a_gradient(layout, single):
    """ResizeGradD: the result lies in the layout of the gradient, described as NCHW."""
    order = ["NCHW".index(letter) for letter in layout]
    values = {"original_size": [2, 2, 5, 4], "mode": "cubic", "data_format": layout}
    found = single.run("ResizeGradD", [single.give(POOL_G.transpose(order).copy())], X.shape, "f4", **values)
    wanted = adjoint(lambda x: cubic(x, (3, 2)), X.shape, POOL_G).transpose(order)
    numpy.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=2e-5, atol=2e-5)


def test_groups_are_normalized(single):
    x, gamma, beta = normal(2, 4, 3), normal(4), normal(4)
    parts = x.reshape(2, 2, 6)
    mean, rstd = parts.mean(2), 1 / numpy.sqrt(parts.var(2) + 1e-5)
    plain = ((parts - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    expected = plain * gamma[:, None] + beta[:, None]
    values = {"num_groups": 2, "eps": 1e-5, "activate_swish": False}
    found = single.run_all("GroupNormSwish", operands(single, [x, gamma, beta]), [x.shape, (2, 2), (2, 2)], ["f4"] * 3,
                           **values)  # fmt: skip
    for one, result in zip(found, (expected, mean, rstd)):
        numpy.testing.assert_allclose(one, result, rtol=1e-4, atol=1e-5)


def test_images_are_sampled(single):
    grid = numpy.stack(numpy.meshgrid([-0.5, 0.5], [-0.8, 0.0, 0.8]), -1)[None].repeat(2, 0).astype("f4")
    expected = linear(X[:, :, [0, 2, 4]], (3, 2))
    values = {"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": False}
    found = single.run("GridSampler2D", operands(single, [X, grid]), expected.shape, "f4", **values)
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    grad = normal(*expected.shape)
    found, _ = single.run_all("GridSampler2DGrad", operands(single, [grad, X, grid]), [X.shape, grid.shape],
                              ["f4"] * 2, **values)  # fmt: skip
    wanted = adjoint(lambda x: linear(x[:, :, [0, 2, 4]], (3, 2)), X.shape, grad)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


# Type, inputs, shape of the output, attributes, words of the message.
WRONG = {
    "another padding at each end": (
        "Conv2DBackpropFilter", [X, [3, 2, 3, 2], G], FILTER.shape, {**CONV, "pads": [1, 0, 1, 1]}, "1 and 0 for"),
    "channels last": (
        "AvgPoolV2Grad", [[2, 2, 5, 4], POOL_G], X.shape, {**POOL, "data_format": "NHWC"}, "expected NCHW or NCDHW"),
    "a padding that is derived": (
        "MaxPool3D", [VOLUME], (1, 2, 2, 3, 2), {**WINDOWS3, "padding": "SAME"}, "expected CALCULATED"),
    "too few numbers": ("AvgPool3D", [VOLUME], (1, 2, 2, 3, 2), {**POOL3, "ksize": [2]}, "has 1 numbers, expected 3"),
    "places that are neither": ("ResizeBilinearV2", [X, [7, 6]], (2, 2, 7, 6), {}, "expected one of them"),
    "an unknown interpolation": (
        "GridSampler2D", [X, normal(2, 3, 2, 2)], (2, 2, 3, 2), {"interpolation_mode": "sharp"},
        'is "sharp", expected bilinear, nearest or bicubic'),
    "a filter without elements": (
        "Conv2DBackpropInput", [[2, 2, 5, 4], FILTER, G[:0]], X.shape, CONV, "inputs[2] has no elements"),
    "numbers of fewer channels": ("BNInferGrad", [GRADS, normal(3), VARIANCE], X.shape, {}, "scale"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused(name, single):
    op_type, inputs, shape, values, words = WRONG[name]
    assert single.call(op_type, operands(single, inputs), [single.take(shape, "f4")], **values) != 0
    assert words in acl.get_recent_err_msg()
