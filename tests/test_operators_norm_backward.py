"""Gradients of LayerNorm and its kin, and norms of sums of two tensors, against NumPy in double."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, gradient, mask, positive, unchanged
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, rounded
from helpers.pointwise import SINGLE
from hypothesis import given
from hypothesis import strategies as st

ALPHA = 0.5  # of DeepNorm
CONFLICT = 561002  # of shapes, in some operators


class Lines(Case):
    """A shape whose last dimensions are normalized."""

    def __init__(self, npu, draw):
        super().__init__(npu, draw)
        if draw(st.integers(0, 3)):
            self.shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
        else:
            self.shape = draw(st.permutations([draw(st.integers(1, 600)), draw(st.integers(1, 3))]))
        rank = draw(st.integers(1, len(self.shape)))
        self.rows, self.tail = self.shape[: len(self.shape) - rank], self.shape[len(self.shape) - rank :]
        self.ones = [*self.rows, *[1] * rank]
        self.axes = tuple(range(len(self.rows), len(self.shape)))

    def number_shape(self):
        """Return a shape of rstd: with or without the dimensions of 1."""
        return self.draw(st.sampled_from([self.rows, self.ones]))

    def expect(self, above, values, mean, rstd, weight, centred=True):
        """Return the gradients of input, weight and bias, each with the size of its terms."""
        mean, rstd = (numpy.reshape(numbers, self.ones) for numbers in (mean, rstd))
        below, plain, size = gradient(above, values, mean, rstd, weight, self.axes, centred)
        terms, axes = above * plain, tuple(range(len(self.rows)))
        return (
            (below, size),
            (terms.sum(axes), numpy.abs(terms).sum()),
            (above.sum(axes), numpy.abs(above).sum()),
        )


@SETTINGS
@given(data=st.data())
def test_layer_norm_backward(npu, data):
    case = Lines(npu, data.draw)
    slopes, above = case.take(case.shape)
    x, values = case.take(case.shape)
    mean, center = case.take(case.ones, case.beside())
    rstd, slope = case.take(case.ones, case.beside(), positive)
    weight, factor = case.take_or_none(case.tail, case.beside())
    bias, _ = case.take_or_none(case.tail, case.beside())
    flags, array = case.mask()
    outs = [case.take(*each)[0] for each in ((case.shape,), (case.tail, case.beside()), (case.tail, case.beside()))]
    shape = npu.integers(case.tail)
    passed = [out if flag or data.draw(st.booleans()) else 0 for flag, out in zip(flags, outs)]
    assert npu.call("layer_norm_backward", slopes, x, shape, mean, rstd, weight, bias, array, *passed) == 0
    factor = numpy.ones(case.tail) if factor is None else factor
    for flag, out, expected in zip(flags, outs, case.expect(above, values, center, slope, factor)):
        if flag:
            agree(npu, out, *expected)
        else:
            unchanged(npu, out)


@SETTINGS
@given(data=st.data())
def test_rms_norm_grad(npu, data):
    case = Lines(npu, data.draw)
    slopes, above = case.take(case.shape)
    x, values = case.take(case.shape)
    rstd, slope = case.take(case.number_shape(), "f4", positive)
    gamma, factor = case.take(case.tail, case.beside())
    below, scales = case.take(case.shape)[0], case.take(case.tail, "f4")[0]
    assert npu.call("rms_norm_grad", slopes, x, rstd, gamma, below, scales) == 0
    expected = case.expect(above, values, numpy.zeros(case.ones), slope, factor, False)
    agree(npu, below, *expected[0])
    agree(npu, scales, *expected[1])


@pytest.mark.parametrize("name", ["add_layer_norm_grad", "deep_norm_grad"])
def test_gradients_of_a_norm_of_a_sum(npu, name):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        case, is_deep = Lines(npu, data.draw), name == "deep_norm_grad"
        (slopes, above), (x1, one), (x2, two) = (case.take(case.shape) for _ in "abc")
        (mean, center), (rstd, slope) = (case.take(case.number_shape(), "f4", values) for values in (positive,) * 2)
        gamma, factor = case.take(case.tail, case.beside())
        more, extra = (0, None) if is_deep else case.take_or_none(case.shape)
        dx1, dx2 = (case.take(case.shape)[0] for _ in "ab")
        dgamma, dbeta = (case.take(case.tail, "f4")[0] for _ in "ab")
        if is_deep:
            assert npu.call(name, slopes, x1, x2, gamma, mean, rstd, ALPHA, dx1, dx2, dbeta, dgamma) == 0
        else:
            assert npu.call(name, slopes, x1, x2, rstd, mean, gamma, more, dx1, dgamma, dbeta) == 0
        values = ALPHA * one + two if is_deep else one + two
        (below, size), *sums = case.expect(above, values, center, slope, factor)
        agree(npu, dx1, ALPHA * below if is_deep else below if extra is None else below + extra, size)
        if is_deep:
            agree(npu, dx2, below, size)
        for tensor, expected in zip((dgamma, dbeta), sums):
            agree(npu, tensor, *expected)

    run_case()


# --- norms of a sum


def normalize(case, values, epsilon, centred):
    """Return the normalized values, mean and rstd."""
    mean = values.mean(case.axes, keepdims=True) if centred else numpy.zeros(case.ones)
    rstd = 1 / numpy.sqrt(((values - mean) ** 2).mean(case.axes, keepdims=True) + epsilon)
    return (values - mean) * rstd, mean, rstd


@SETTINGS
@given(data=st.data())
def test_add_rms_norm(npu, data):
    case = Lines(npu, data.draw)
    (x1, one), (x2, two), (gamma, factor) = (case.take(shape) for shape in (case.shape, case.shape, case.tail))
    (y, _), (x, _), (rstd, _) = case.take(case.shape), case.take(case.shape), case.take(case.number_shape(), "f4")
    assert npu.call("add_rms_norm", x1, x2, gamma, 1e-6, y, rstd, x) == 0
    if not one.size:
        return
    total = rounded(one + two, case.kind).astype("f8")
    agree(npu, x, total)
    plain, _, slope = normalize(case, total, 1e-6, False)
    agree(npu, y, plain * factor, numpy.abs(factor).max())
    agree(npu, rstd, slope)


@SETTINGS
@given(data=st.data())
def test_gemma_rms_norm(npu, data):
    case = Lines(npu, data.draw)
    (x, values), (gamma, factor) = (case.take(shape) for shape in (case.shape, case.tail))
    (y, _), (rstd, _) = case.take(case.shape), case.take(case.number_shape(), "f4")
    assert npu.call("gemma_rms_norm", x, gamma, 1e-6, y, rstd) == 0
    if values.size:
        plain, _, slope = normalize(case, values, 1e-6, False)
        agree(npu, y, plain * (1 + factor), 1 + numpy.abs(factor).max())
        agree(npu, rstd, slope)


@SETTINGS
@given(data=st.data())
def test_add_layer_norm(npu, data):
    case = Lines(npu, data.draw)
    kinds = data.draw(st.sampled_from([(case.kind, case.kind), (case.kind, "f4"), ("f4", case.kind)]))
    case.kind = kinds[0] if kinds[0] == kinds[1] else "f4"
    (x1, one), (x2, two) = (case.take(case.shape, kind) for kind in kinds)
    (gamma, factor), (beta, summand) = (case.take(case.tail, case.beside()) for _ in "ab")
    bias, extra = case.take_or_none(data.draw(st.sampled_from([case.tail, case.shape])))
    (y, _), (x, _) = case.take(case.shape), case.take(case.shape)
    (mean, _), (rstd, _) = (case.take(case.number_shape(), "f4") for _ in "ab")
    keeps = data.draw(st.booleans())
    ret = npu.call("add_layer_norm", x1, x2, gamma, beta, bias, 1e-3, keeps, y, mean, rstd, x)
    if not one.size:
        refused(ret, CONFLICT, "x1 has no elements, expected 1 or more")
        return
    assert ret == 0
    total = one + two if extra is None else one + two + extra
    if keeps:
        agree(npu, x, total)
    else:
        unchanged(npu, x)
    plain, center, slope = normalize(case, total, 1e-3, True)
    agree(npu, y, plain * factor + summand, 1e3 * numpy.abs(plain * factor).max())
    agree(npu, mean, center, 100)
    agree(npu, rstd, slope)


@SETTINGS
@given(data=st.data())
def test_deep_norm(npu, data):
    case = Lines(npu, data.draw)
    (x, one), (gx, two) = (case.take(case.shape) for _ in "ab")
    (gamma, factor), (beta, summand) = (case.take(case.tail) for _ in "ab")
    (mean, _), (rstd, _) = (case.take(case.number_shape(), "f4") for _ in "ab")
    y = case.take(case.shape)[0]
    assert npu.call("deep_norm", x, gx, beta, gamma, ALPHA, 1e-3, mean, rstd, y) == 0
    if not one.size:
        return
    plain, center, slope = normalize(case, ALPHA * one + two, 1e-3, True)
    agree(npu, y, plain * factor + summand, 1e3 * numpy.abs(plain * factor).max())
    agree(npu, mean, center, 100)
    agree(npu, rstd, slope)


def test_the_sum_of_half_precision_is_rounded_before_it_is_normalized(npu):
    one, two = numpy.array([[2048, 1]], "f2"), numpy.array([[1, 0]], "f2")
    y, x, rstd = blank(npu, "f2", (1, 2)), blank(npu, "f2", (1, 2)), blank(npu, "f4", (1, 1))
    assert npu.call("add_rms_norm", npu.tensor(one), npu.tensor(two), blank(npu, "f2", (2,)), 0.0, y, rstd, x) == 0
    assert npu.get(x).tolist() == [[2048, 1]]
    agree(npu, rstd, [[1 / numpy.sqrt((2048.0**2 + 1) / 2)]])


@SETTINGS
@given(data=st.data())
def test_add_rms_norm_without_results(npu, data):
    """Without rstd the type is a half; without the sum, too, gamma is one line."""
    case = Lines(npu, data.draw)
    case.kind, keeps = data.draw(st.sampled_from(["f2", "b2"])), data.draw(st.booleans())
    if not keeps:
        case.axes, case.ones, case.tail = (-1,), [*case.shape[:-1], 1], [1, case.shape[-1]]
    (x1, one), (x2, two), (gamma, factor) = (case.take(shape) for shape in (case.shape, case.shape, case.tail))
    (y, _), (x, _) = case.take(case.shape), case.take(case.shape)
    assert npu.call("add_rms_norm", x1, x2, gamma, 1e-6, y, 0, x if keeps else 0) == 0
    if not one.size:
        return
    total = rounded(one + two, case.kind).astype("f8")
    if keeps:
        agree(npu, x, total)
    plain, _, _ = normalize(case, total, 1e-6, False)
    agree(npu, y, plain * (factor if keeps else factor[0]), numpy.abs(factor).max())


def test_the_sum_may_replace_an_operand(npu):
    one, two = (numpy.random.default_rng(seed).normal(0, 2, (3, 40)).astype("f4") for seed in (3, 4))
    x1, x2, rstd = npu.tensor(one), npu.tensor(two), blank(npu, "f4", (3, 1))
    gamma = npu.tensor(numpy.ones(40, "f4"))
    assert npu.call("add_rms_norm", x1, x2, gamma, 1e-6, x1, rstd, x2) == 0
    total = (one + two).astype("f8")
    assert numpy.array_equal(npu.get(x2), one + two)
    agree(npu, x1, total / numpy.sqrt((total**2).mean(1, keepdims=True) + 1e-6))


# --- types and refusals

LINE, TAIL, ONE = (2, 3), (3,), (2, 1)
# Each operator's arguments: the shape of a tensor and whether it is float32 in any case; other values as they are.
CALLS = {
    "add_rms_norm": [LINE, LINE, TAIL, 1e-6, LINE, (ONE, "f4"), LINE],
    "gemma_rms_norm": [LINE, TAIL, 1e-6, LINE, (ONE, "f4")],
    "deep_norm": [LINE, LINE, TAIL, TAIL, 0.5, 1e-6, (ONE, "f4"), (ONE, "f4"), LINE],
    "add_layer_norm": [LINE, LINE, TAIL, TAIL, 0, 1e-6, True, LINE, (ONE, "f4"), (ONE, "f4"), LINE],
    "rms_norm_grad": [LINE, LINE, (ONE, "f4"), TAIL, LINE, (TAIL, "f4")],
    "add_layer_norm_grad": [
        *[LINE] * 3, (ONE, "f4"), (ONE, "f4"), TAIL, 0, LINE, (TAIL, "f4"), (TAIL, "f4"),
    ],
    "deep_norm_grad": [
        *[LINE] * 3, TAIL, (ONE, "f4"), (ONE, "f4"), 0.5, LINE, LINE, (TAIL, "f4"), (TAIL, "f4"),
    ],
}  # fmt: skip


def place(npu, kind, one):
    """Return an argument of a call in this type."""
    if not isinstance(one, tuple):
        return one
    return blank(npu, one[1], one[0]) if isinstance(one[0], tuple) else blank(npu, kind, one)


@pytest.mark.parametrize("name", CALLS)
def test_types(npu, name):
    for kind in ("f4", "f2", "b2", "f8", "i4", "?"):
        expected = 0 if kind in SINGLE else INVALID
        assert npu.call(name, *(place(npu, kind, one) for one in CALLS[name])) == expected, kind


@pytest.mark.parametrize("name", CALLS)
def test_each_tensor_is_checked(npu, name):
    """A tensor that is missing, has too few elements, or is of type float64 is refused."""
    for index, one in enumerate(CALLS[name]):
        if not isinstance(one, tuple):
            continue
        arguments = [place(npu, "f2", each) for each in CALLS[name]]
        shape = one[0] if isinstance(one[0], tuple) else one
        expected = 0 if (name, index) == ("add_rms_norm", 5) else NULLPTR  # rstd is optional; the sum only without it
        assert npu.call(name, *arguments[:index], 0, *arguments[index + 1 :]) == expected, index
        code = CONFLICT if name == "add_layer_norm" else INVALID
        for kind, dims, expected in (("f8", shape, INVALID), (arguments[index].kind, (*shape[:-1], 7), code)):
            wrong = blank(npu, kind, dims)
            assert npu.call(name, *arguments[:index], wrong, *arguments[index + 1 :]) == expected, index


@pytest.mark.strict
def test_layer_norm_backward_refusals(npu):
    x, out, mean, weight, first, second = (blank(npu, "f4", one) for one in (LINE, LINE, ONE, TAIL, TAIL, TAIL))

    def call(slopes=x, shape=(3,), mean=mean, weight=weight, flags=(1, 1, 1), outs=(out, first, second)):
        given_too = slopes, x, npu.integers(shape), mean, mean, weight, 0, mask(npu, flags)
        return npu.call("layer_norm_backward", *given_too, *outs)

    assert call() == 0
    assert call(flags=(0, 0, 0), outs=(0, 0, 0)) == 0
    refused(call(slopes=blank(npu, "f2", LINE)), INVALID, "gradOut has data type 1, float16, expected float32")
    refused(call(slopes=weight), INVALID, "gradOut has shape [3], expected [2, 3], that of input")
    refused(call(shape=(2,)), INVALID, "element 0 of normalizedShape is 2 and dimension 1 of input is 3")
    refused(call(mean=weight), INVALID, "mean has shape [3], expected [2, 1], one number per normalized slice")
    refused(call(weight=mean), INVALID, "weightOptional has shape [2, 1], expected [3], normalizedShape")
    refused(call(flags=(1,)), INVALID, "outputMask has 1 numbers, expected 3")
    refused(call(outs=(out, first, 0)), NULLPTR, "gradBiasOut is NULL")
    refused(call(outs=(out, x, second)), INVALID, "gradWeightOut has shape [2, 3], expected [3], normalizedShape")


@pytest.mark.strict
def test_refusals_of_a_norm_of_a_sum(npu):
    x, y, other, gamma, rstd = (blank(npu, "f4", one) for one in (LINE, LINE, LINE, TAIL, ONE))
    half, odd = blank(npu, "f2", LINE), blank(npu, "b2", LINE)
    ret = npu.call("add_rms_norm", x, half, gamma, 1e-6, y, rstd, other)
    refused(ret, INVALID, "x2 has data type 1, float16, expected float32")
    ret = npu.call("add_rms_norm", x, x, rstd, 1e-6, y, rstd, other)
    refused(ret, INVALID, "gamma has shape [2, 1], expected [2, 3], the last dimensions of x1")
    line = blank(npu, "f2", TAIL)
    ret = npu.call("add_rms_norm", x, x, gamma, 1e-6, y, rstd, 0)
    refused(ret, NULLPTR, "xOut is NULL, expected a valid pointer")
    ret = npu.call("add_rms_norm", x, x, gamma, 1e-6, y, 0, other)
    refused(ret, INVALID, "x1 has data type 0, float32, expected float16 or bfloat16")
    ret = npu.call("add_rms_norm", half, half, line, 1e-6, half, 0, 0)
    refused(ret, INVALID, "gamma has shape [3], expected [1, 3], one line, as there is no sum and no rstd")
    ret = npu.call("add_layer_norm", half, odd, gamma, gamma, 0, 1e-6, True, y, rstd, rstd, other)
    refused(ret, INVALID, "x2 has data type 27, bfloat16, expected float32 or float16")
    ret = npu.call("add_layer_norm", x, x, gamma, gamma, rstd, 1e-6, True, y, rstd, rstd, other)
    refused(ret, CONFLICT, "biasOptional has shape [2, 1], expected [2, 3], that of x1")
    for wrong, words in ((blank(npu, "f4", ()), "gamma has 0 dimensions, expected 1 to 2, the number of x1"),
                         (rstd, "gamma has shape [2, 1], expected [2, 3], the last dimensions of x1")):  # fmt: skip
        ret = npu.call("add_layer_norm", x, x, wrong, gamma, 0, 1e-6, True, y, rstd, rstd, other)
        refused(ret, CONFLICT, words)
    ret = npu.call("add_layer_norm", x, x, gamma, gamma, 0, 1e-6, True, y, gamma, rstd, other)
    refused(ret, CONFLICT, "meanOut has shape [3], expected [2, 1], one number per normalized slice")
