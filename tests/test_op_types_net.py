"""Single operators of networks for images: depthwise and transposed convolution, batch normalization, pools."""

import numpy
import pytest
from helpers.single import HWCN, NCHW, NHWC, Single, convolved, image, operands

import acl

RANDOM = numpy.random.default_rng(11)
IMAGE = RANDOM.integers(-4, 5, (2, 4, 5, 6)).astype("f4")  # NCHW
ORDERS = {NCHW: (0, 1, 2, 3), NHWC: (0, 2, 3, 1)}
PLAIN = {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0]}


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def moved(array, layout):
    """Return an NCHW array in a layout."""
    return numpy.ascontiguousarray(array.transpose(ORDERS[layout]))


def listed(pair, layout):
    """Return the height's and the width's number as a list of four."""
    return [1, 1, *pair] if layout == NCHW else [1, *pair, 1]


class TestDepthwise:
    """Each channel has filters of its own, which follow each other in the output."""

    @pytest.mark.parametrize("multiplier", [1, 3])
    @pytest.mark.parametrize("biased", [False, True])
    def test_a_filter_with_the_channels_before_the_multiplier(self, multiplier, biased, single):
        weights = RANDOM.integers(-3, 4, (3, 2, 4, multiplier)).astype("f4")  # HWCN
        bias = numpy.arange(4 * multiplier, dtype="f4")
        given = [image(single, IMAGE, NHWC), (single.desc(weights.shape, "f4", HWCN), single.give(weights)[1])]
        as_groups = weights.transpose(2, 3, 0, 1).reshape(-1, 1, 3, 2)
        expected = convolved(IMAGE, as_groups, 2, (1, 1, 0, 0), groups=4)
        if biased:
            given.append(single.give(bias))
            expected = expected + bias[:, None, None]
        values = {"strides": [1, 2, 2, 1], "pads": [1, 1, 0, 0]}
        assert single.shapes("DepthwiseConv2D", given, ["f4"], **values) == [moved(expected, NHWC).shape]
        found = single.run("DepthwiseConv2D", given, moved(expected, NHWC).shape, "f4", **values)
        numpy.testing.assert_allclose(found, moved(expected, NHWC), rtol=1e-6)

    @pytest.mark.parametrize("shape", [(1, 4, 2, 2), (4, 1, 2, 2), (8, 1, 2, 2)])
    def test_a_filter_with_the_multiplier_first(self, shape, single):
        weights = RANDOM.integers(-3, 4, shape).astype("f4")
        given = [image(single, IMAGE, NCHW), image(single, weights, NCHW), single.omitted()]
        expected = convolved(IMAGE, weights.reshape(-1, 1, 2, 2), apart=2, groups=4)
        values = {**PLAIN, "dilations": [1, 1, 2, 2], "data_format": "NCHW"}
        found = single.run("DepthwiseConv2D", given, expected.shape, "f4", **values)
        numpy.testing.assert_allclose(found, expected, rtol=1e-6)


def spread(x, weights, shape, stride, pads, apart=1, groups=1):
    """Return the transposed convolution of NCHW arrays; `shape` has the height and width of the result."""
    top, bottom, left, right = pads
    outputs = weights.shape[1]
    result = numpy.zeros((len(x), groups * outputs, shape[0] + top + bottom, shape[1] + left + right))
    rows, columns = ((size - 1) * stride + 1 for size in x.shape[2:])
    for group, part in enumerate(zip(numpy.split(x, groups, 1), numpy.split(weights, groups, 0))):
        for i, k in numpy.ndindex(weights.shape[2:]):
            where = result[:, group * outputs : (group + 1) * outputs, i * apart :, k * apart :]
            where[:, :, :rows:stride, :columns:stride] += numpy.einsum(
                "nchw,co->nohw", part[0], part[1][:, :, i, k], dtype="f8"
            )
    return result[:, :, top : top + shape[0], left : left + shape[1]]


class TestTransposed:
    """The filter of Conv2DTranspose has the channels of x first, and those of a group of y second."""

    @pytest.mark.parametrize("op_type", ["Conv2DTransposeD", "Conv2DTranspose"])
    @pytest.mark.parametrize("layout", [NCHW, NHWC])
    @pytest.mark.parametrize(
        ("stride", "pads", "apart", "groups", "shape"),
        [
            (1, (0, 0, 0, 0), 1, 1, (7, 7)),
            (2, (1, 1, 0, 1), 1, 2, (9, 11)),
            (2, (1, 1, 0, 1), 1, 1, (10, 12)),
            (3, (0, 0, 2, 0), 2, 4, (17, 16)),
        ],
    )
    def test_values(self, op_type, layout, stride, pads, apart, groups, shape, single):
        weights = RANDOM.integers(-3, 4, (4, 3, 3, 2)).astype("f4")
        expected = moved(spread(IMAGE, weights, shape, stride, pads, apart, groups), layout)
        bias = numpy.arange(3 * groups, dtype="f4")
        expected = expected + (bias[:, None, None] if layout == NCHW else bias)
        given = [image(single, IMAGE, layout), image(single, weights, NCHW), single.give(bias)]
        values = {
            "strides": listed([stride] * 2, layout),
            "pads": list(pads),
            "dilations": listed([apart] * 2, layout),
            "groups": groups,
        }
        if op_type == "Conv2DTransposeD":
            values["input_size"] = list(expected.shape)
        else:
            given.insert(0, single.constant(list(expected.shape), "i4"))
        assert single.shapes(op_type, given, ["f4"], **values) == [expected.shape]
        found = single.run(op_type, given, expected.shape, "f4", **values)
        numpy.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_the_shape_without_input_size(self, single):
        weights = RANDOM.integers(-3, 4, (4, 3, 3, 3)).astype("f4")
        given = [image(single, IMAGE, NCHW), image(single, weights, NCHW)]
        values = {"input_size": [0] * 4, "strides": [1, 1, 2, 2], "pads": [1] * 4, "output_padding": [0, 0, 1, 0]}
        assert single.shapes("Conv2DTransposeD", given, ["f4"], **values) == [(2, 3, 10, 11)]
        found = single.run("Conv2DTransposeD", given, (2, 3, 10, 11), "f4", **values)
        numpy.testing.assert_allclose(found, spread(IMAGE, weights, (10, 11), 2, (1, 1, 1, 1)), rtol=1e-6)

    def test_halves(self, single):
        weights = RANDOM.integers(-3, 4, (4, 1, 2, 2)).astype("f2")
        given = [
            (single.desc(IMAGE.shape, "f2", NCHW), single.give(IMAGE.astype("f2"))[1]),
            (single.desc(weights.shape, "f2", NCHW), single.give(weights)[1]),
        ]
        found = single.run("Conv2DTransposeD", given, (2, 1, 6, 7), "f2", input_size=[2, 1, 6, 7], **PLAIN)
        numpy.testing.assert_allclose(found, spread(IMAGE, weights, (6, 7), 1, (0,) * 4), rtol=1e-3)


class TestBatchNorm:
    """Numbers per channel are those of dimension 1, or of the last dimension for NHWC."""

    SCALE, OFFSET, MEAN = (RANDOM.normal(size=4).astype("f4") for _ in range(3))
    VARIANCE = RANDOM.uniform(0.5, 2, 4).astype("f4")

    def normal(self, mean, variance, epsilon, scale=1, offset=0):
        """Return the normalized image."""
        numbers = [numpy.broadcast_to(one, 4)[:, None, None] for one in (mean, variance, scale, offset)]
        return (IMAGE.astype("f8") - numbers[0]) / numpy.sqrt(numbers[1] + epsilon) * numbers[2] + numbers[3]

    @pytest.mark.parametrize("layout", [NCHW, NHWC])
    @pytest.mark.parametrize("outputs", [5, 6])
    @pytest.mark.parametrize("share", [None, 0.25])
    def test_training(self, layout, outputs, share, single):
        mean, variance = IMAGE.mean((0, 2, 3), dtype="f8"), IMAGE.var((0, 2, 3), dtype="f8")
        given = [image(single, IMAGE, layout), single.give(self.SCALE), single.give(self.OFFSET)]
        values, part = {}, 1
        if share is not None:
            given += [single.give(self.MEAN), single.give(self.VARIANCE)]
            values, part = {"exponential_avg_factor": share}, share
        y = moved(self.normal(mean, variance, 1e-4, self.SCALE, self.OFFSET), layout)
        shapes, kinds = [y.shape] + [(4,)] * (outputs - 1), ["f4"] * outputs
        assert single.shapes("BatchNorm", given, kinds, **values) == shapes
        found = single.run_all("BatchNorm", given, shapes, kinds, **values)
        numpy.testing.assert_allclose(found[0], y, rtol=1e-5, atol=1e-5)
        unbiased = variance * 60 / 59
        numpy.testing.assert_allclose(found[1], (1 - part) * self.MEAN + part * mean, rtol=1e-5, atol=1e-6)
        numpy.testing.assert_allclose(found[2], (1 - part) * self.VARIANCE + part * unbiased, rtol=1e-5)
        numpy.testing.assert_allclose(found[3], mean, rtol=1e-5, atol=1e-6)
        numpy.testing.assert_allclose(found[4], variance, rtol=1e-5)

    def test_inference(self, single):
        numbers = [self.SCALE, self.OFFSET, self.MEAN, self.VARIANCE]
        given = [image(single, IMAGE, NCHW), *(single.constant(one, "f4") for one in numbers)]
        values = {"is_training": False, "epsilon": 0.5}
        found = single.run_all("BatchNorm", given, [IMAGE.shape] + [(4,)] * 4, ["f4"] * 5, **values)
        y = self.normal(self.MEAN, self.VARIANCE, 0.5, self.SCALE, self.OFFSET)
        numpy.testing.assert_allclose(found[0], y, rtol=1e-5, atol=1e-5)
        for one, expected in zip(found[1:], [self.MEAN, self.VARIANCE] * 2):
            numpy.testing.assert_array_equal(one, expected)

    def test_the_channels_are_last_by_default(self, single):
        given = [single.give(one) for one in (IMAGE[:, :, 0, :4], self.SCALE, self.OFFSET, self.MEAN, self.VARIANCE)]
        found = single.run_all("BatchNorm", given, [(2, 4, 4)] + [(4,)] * 4, ["f4"] * 5, is_training=False)
        expected = (IMAGE[:, :, 0, :4] - self.MEAN) / numpy.sqrt(self.VARIANCE + 1e-4) * self.SCALE + self.OFFSET
        numpy.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("layout", [NCHW, NHWC])
    def test_bn_infer(self, layout, single):
        numbers = [self.SCALE, self.OFFSET, self.MEAN, self.VARIANCE]
        given = [image(single, IMAGE, layout), *(single.give(one) for one in numbers)]
        y = moved(self.normal(self.MEAN, self.VARIANCE, 0.125, self.SCALE, self.OFFSET), layout)
        found = single.run("BNInfer", given, y.shape, "f4", epsilon=0.125)
        numpy.testing.assert_allclose(found, y, rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("momentum", [0.5, 0])
    @pytest.mark.parametrize("scaled", [False, True])
    def test_bn_inference(self, momentum, scaled, single):
        numbers = [self.MEAN, self.VARIANCE, numpy.array([momentum], "f4")]
        given = [single.give(one) for one in [IMAGE, *numbers, *([self.SCALE, self.OFFSET] if scaled else [])]]
        share = 0 if momentum == 0 else 1 / momentum
        scales = (self.SCALE, self.OFFSET) if scaled else (1, 0)
        found = single.run("BNInference", given, IMAGE.shape, "f4", mode=1)
        y = self.normal(self.MEAN * share, self.VARIANCE * share, 1e-5, *scales)
        numpy.testing.assert_allclose(found, y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op_type", ["MaxPoolV2", "MaxPoolExt2"])
def test_other_forms_of_max_pool(op_type, single):
    x = moved(IMAGE, NHWC)
    sizes = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
    given = [single.give(x)]
    if op_type == "MaxPoolV2":
        given += [single.constant(one, "i4") for one in sizes.values()]
        sizes = {}
    expected = x[:, :4].reshape(2, 2, 2, 3, 2, 4).max((2, 4))
    values = {**sizes, "padding": "VALID"}
    assert single.shapes(op_type, given, ["f4"], **values) == [expected.shape]
    numpy.testing.assert_array_equal(single.run(op_type, given, expected.shape, "f4", **values), expected)


@pytest.mark.parametrize("size", [(2, 3), (5, 6), (1, 1), (4, 7)])
def test_adaptive_pool(size, single):
    def bounds(length, count):
        return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]

    rows, columns = bounds(5, size[0]), bounds(6, size[1])
    expected = numpy.array([[IMAGE[:, :, a:b, c:d].mean((2, 3)) for c, d in columns] for a, b in rows])
    expected = expected.transpose(2, 3, 0, 1)
    assert single.shapes("AdaptiveAvgPool2d", [single.give(IMAGE)], ["f4"], output_size=list(size)) == [expected.shape]
    found = single.run("AdaptiveAvgPool2d", [single.give(IMAGE)], expected.shape, "f4", output_size=list(size))
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


FILTER = numpy.ones((4, 1, 2, 2), "f4")
LINE, MATRIX = numpy.ones(4, "f4"), numpy.ones((2, 4), "f4")
SIZED = {**PLAIN, "data_format": "NCHW"}
# Type, inputs, attributes, shapes of the outputs, code, words of the messages.
MISFITS = [
    ("DepthwiseConv2D", [IMAGE, numpy.ones((2, 4, 2, 2), "f4")], SIZED, [(2, 8, 4, 5)], 100024,
     "the filter of DepthwiseConv2D has 4 channels with 2 filters each and x has 4 channels"),
    ("DepthwiseConv2D", [IMAGE, numpy.ones((1, 3, 2, 2), "f4")], SIZED, [(2, 3, 4, 5)], 100024, "has 3 channels with"),
    ("DepthwiseConv2D", [IMAGE, numpy.ones((6, 1, 2, 2), "f4")], SIZED, [(2, 6, 4, 5)], 100024,
     "groups is 4 and filter has 6 output channels"),
    ("DepthwiseConv2D", [IMAGE, FILTER], {**SIZED, "groups": 4}, [(2, 4, 4, 5)], 100023, "has no attribute groups"),
    ("DepthwiseConv2D", [MATRIX, FILTER], SIZED, [(2, 4)], 100024, "inputs[0] of DepthwiseConv2D has 2 dimensions"),
    ("DepthwiseConv2D", [IMAGE], SIZED, [(2, 4, 4, 5)], 100021, "numInputs is 1"),
    ("Conv2DTransposeD", [IMAGE, FILTER], SIZED, [(2, 1, 6, 7)], 100023, "needs attribute input_size, which is"),
    ("Conv2DTransposeD", [IMAGE, FILTER], {**SIZED, "input_size": [2, 1, 6]}, [(2, 1, 6, 7)], 100023,
     "input_size of Conv2DTransposeD has 3 numbers, expected 4"),
    ("Conv2DTransposeD", [IMAGE, FILTER], {**SIZED, "input_size": [2, 1, 6, 7]}, [(2, 1, 6, 8)], 100024,
     "y has shape [2, 1, 6, 8], expected [2, 1, 6, 7], input_size"),
    ("Conv2DTransposeD", [IMAGE, FILTER], {**SIZED, "input_size": [2, 1, 7, 7]}, [(2, 1, 7, 7)], 100024,
     "x has shape [2, 4, 5, 6], expected [2, 4, 6, 6]"),
    ("Conv2DTransposeD", [IMAGE, FILTER[:3].copy()], {**SIZED, "input_size": [2, 1, 6, 7]}, [(2, 1, 6, 7)], 100024,
     "x has 4 channels and filter has 3"),
    ("Conv2DTransposeD", [IMAGE, FILTER], {**SIZED, "input_size": [2, 2, 6, 7]}, [(2, 2, 6, 7)], 100024,
     "y has 2 channels, filter has 1 and groups is 1"),
    ("Conv2DTranspose", [IMAGE, IMAGE, FILTER], SIZED, [(2, 1, 6, 7)], 100021, "inputs[0] of Conv2DTranspose is not"),
    ("Conv2DTranspose", [[2, 1, 6, 7], MATRIX, FILTER], SIZED, [(2, 1, 6, 7)], 100024,
     "inputs[1] of Conv2DTranspose has 2 dimensions"),
    ("BNInfer", [IMAGE, LINE, LINE, LINE, LINE], {}, [IMAGE.shape], 100023, "BNInfer needs attribute epsilon"),
    ("BNInfer", [IMAGE, LINE, LINE, LINE, MATRIX], {"epsilon": 1e-5}, [IMAGE.shape], 100024, "variance has shape"),
    ("BNInfer", [LINE] * 5, {"epsilon": 1e-5}, [LINE.shape], 100024, "x has 1 dimension"),
    ("BNInfer", [IMAGE, LINE, LINE], {"epsilon": 1e-5}, [IMAGE.shape], 100021, "numInputs is 3"),
    ("BNInference", [IMAGE, LINE, LINE, LINE], {}, [IMAGE.shape], 100024, "momentum has shape [4], expected [] or [1]"),
    ("BNInference", [IMAGE, LINE, LINE, LINE[:1]], {"use_global_stats": False}, [IMAGE.shape], 100023,
     "use_global_stats of BNInference is 0, which the simulator does not support"),
    ("BatchNorm", [MATRIX, LINE, LINE], {"is_training": False}, [(2, 4)] + [(4,)] * 4, 100024, "mean is NULL"),
    ("BatchNorm", [MATRIX, LINE, LINE], {"exponential_avg_factor": 0.5}, [(2, 4)] + [(4,)] * 4, 100024, "mean is NULL"),
    ("BatchNorm", [MATRIX, LINE, LINE], {"data_format": "CN"}, [(2, 4)] + [(4,)] * 4, 100023, "data_format of Batch"),
    ("AdaptiveAvgPool2d", [IMAGE], {}, [(2, 4, 1, 1)], 100023, "AdaptiveAvgPool2d needs attribute output_size"),
    ("BatchNorm", [MATRIX, LINE, LINE], {}, [(2, 4)], 100022, "numOutputs is 1, expected 5 for BatchNorm"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "values", "shapes", "code", "words"), MISFITS)
def test_what_does_not_fit(op_type, inputs, values, shapes, code, words, single):
    taken = [single.take(shape, "f4") for shape in shapes]
    found = single.call(op_type, operands(single, inputs), taken, **values)
    text = acl.get_recent_err_msg()
    assert found == code, text
    assert not acl.is_simulator or words in text, text
