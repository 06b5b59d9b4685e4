"""Losses and their gradients against NumPy: reductions, types, broadcasting, strides, special values, refusals."""

from collections import namedtuple

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, any_shape, any_view, blank, exact, near, stored, stretched
from helpers.pointwise import ALL, FEWER, SINGLE
from helpers.tensors import Device
from hypothesis import given
from hypothesis import strategies as st

import acl

AICORE_EXCEPTION = 507015
ABSENT = 0
NONE, MEAN, SUM, BATCH_MEAN = range(4)
NAN, INF = numpy.nan, numpy.inf


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def log_sigmoid(x):
    return numpy.minimum(x, 0) - numpy.log1p(numpy.exp(-numpy.abs(x)))


def smooth(x, t, n, p):
    d = numpy.abs(x - t)
    return numpy.where(d < n, 0.5 * d * d / (n or 1), d - 0.5 * n)


def smooth_slope(x, t, n, p):
    d = x - t
    return numpy.where((numpy.abs(d) >= n) & (d != 0), numpy.sign(d), d / (n or 1))


def entropy(x, t, n, p):
    return (t - 1) * numpy.maximum(numpy.log1p(-x), -100) - t * numpy.maximum(numpy.log(x), -100)


def logits_entropy(x, t, n, p):
    return (1 - t) * x - (1 + (p - 1) * t) * log_sigmoid(x)


def divergence(x, t, n, p):
    return numpy.exp(t) * (t - x) if n else numpy.where(t == 0, 0, t * numpy.log(t)) - t * x


# The function takes x, the target, the number after the reduction, and the weight of positive targets.
Loss = namedtuple(
    "Loss", "function numbers weights alike as_self xs ts reductions", defaults=[(), 0, "", False, (-2, 2), (-2, 2), 3]
)
UNIT = (0.02, 0.98)
OUT, TARGET, GRADIENT = "out", "target", "gradient"
EVERY = (OUT, TARGET, GRADIENT, "weight")
LOSSES = {
    "mse_loss": Loss(lambda x, t, n, p: (x - t) ** 2),
    "mse_loss_out": Loss(lambda x, t, n, p: (x - t) ** 2),
    "l1_loss": Loss(lambda x, t, n, p: numpy.abs(x - t)),
    "smooth_l1_loss": Loss(smooth, (0.0, 0.5, 2.0)),
    "soft_margin_loss": Loss(lambda x, t, n, p: numpy.log1p(numpy.exp(-x * t))),
    "kl_div": Loss(divergence, (False, True), ts=(0, 2), reductions=4),
    "binary_cross_entropy": Loss(entropy, weights=1, alike=EVERY, xs=UNIT, ts=(0, 1)),
    "binary_cross_entropy_with_logits": Loss(logits_entropy, weights=2, alike=EVERY, ts=(0, 1)),
}
GRADIENTS = {
    "mse_loss_backward": Loss(lambda x, t, n, p: 2 * (x - t), alike=(TARGET, GRADIENT)),
    "l1_loss_backward": Loss(lambda x, t, n, p: 1.0 * (x > t) - (x < t)),
    "smooth_l1_loss_backward": Loss(smooth_slope, (0.0, 0.5, 2.0)),
    "soft_margin_loss_backward": Loss(lambda x, t, n, p: -t / (1 + numpy.exp(x * t))),
    "kl_div_backward": Loss(lambda x, t, n, p: -(numpy.exp(t) if n else t), (False, True), as_self=True,
                            alike=(OUT,), reductions=4),
    "binary_cross_entropy_backward": Loss(lambda x, t, n, p: (x - t) / numpy.maximum((1 - x) * x, 1e-12), weights=1,
                                          alike=EVERY, as_self=True, xs=UNIT, ts=(0, 1)),
    "binary_cross_entropy_with_logits_backward": Loss(
        lambda x, t, n, p: (p * t + 1 - t) * sigmoid(x) - p * t, weights=2, alike=(OUT, TARGET, "weight"),
        as_self=True, ts=(0, 1)),
    "binary_cross_entropy_with_logits_target_backward": Loss(
        lambda x, t, n, p: log_sigmoid(-x) - p * log_sigmoid(x), weights=2, as_self=True, ts=(0, 1)),
}  # fmt: skip
BOTH = {**LOSSES, **GRADIENTS}


class Tensors:
    """Tensors with random values, of the kinds that a loss accepts."""

    def __init__(self, npu, draw, loss):
        self.npu, self.draw, self.loss = npu, draw, loss
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind = draw(st.sampled_from(SINGLE))

    def make(self, role, shape, span=(-2, 2)):
        """Return a tensor, its values in a wide type, and its kind."""
        kind = self.kind if role in (*self.loss.alike, "self") else self.draw(st.sampled_from(SINGLE))
        base, view = any_view(
            self.draw, self.generator, shape, kind, lambda rng, dims, kind: stored(rng.uniform(*span, dims), kind)
        )
        return self.npu.view(base, view, kind), exact(view, kind), kind

    def make_weights(self, shape):
        """Return weights for the shape as arguments, and as two arrays; those that are absent are 1."""
        arguments, values = [], [1.0, 1.0]
        for place in range(self.loss.weights):
            if self.draw(st.booleans()):
                tensor, values[place], _ = self.make("weight", stretched(self.draw, shape))
                arguments.append(tensor)
            else:
                arguments.append(ABSENT)
        return arguments, *values


def number_of(draw, loss):
    """Return the number after the reduction as a list of arguments, and as the function takes it."""
    numbers = [draw(st.sampled_from(loss.numbers))] if loss.numbers else []
    return numbers, (numbers or [0])[0]


def divisor(reduction, result, x):
    """Return by what a reduction divides the sum."""
    return {MEAN: result.size, BATCH_MEAN: x.shape[0] if x.ndim else 1}.get(reduction, 1)


@pytest.mark.parametrize("name", LOSSES)
@FEWER
@given(data=st.data())
def test_loss(npu, name, data):
    loss = LOSSES[name]
    tensors, shape = Tensors(npu, data.draw, loss), any_shape(data.draw)
    self, x, _ = tensors.make("self", stretched(data.draw, shape), loss.xs)
    target, t, _ = tensors.make(TARGET, stretched(data.draw, shape), loss.ts)
    shape = list(numpy.broadcast_shapes(x.shape, t.shape))
    weights, w, p = tensors.make_weights(shape)
    numbers, n = number_of(data.draw, loss)
    reduction = data.draw(st.integers(0, loss.reductions - 1))
    out, _, out_kind = tensors.make(OUT, shape if reduction == NONE else data.draw(st.sampled_from([[], [1]])))
    assert npu.call(name, self, target, *weights, reduction, *numbers, out) == 0
    with numpy.errstate(all="ignore"):
        values = numpy.asarray(w * loss.function(x, t, n, p))
        error = 2.0**-40 * (numpy.abs(values).sum() + 1)
        result = values if reduction == NONE else values.sum() / divisor(reduction, values, x)
    near(npu.get(out), result, out_kind, error)


@pytest.mark.parametrize("name", GRADIENTS)
@FEWER
@given(data=st.data())
def test_gradient(npu, name, data):
    loss, draw = GRADIENTS[name], data.draw
    tensors, shape = Tensors(npu, draw, loss), any_shape(draw)
    reduction = draw(st.integers(0, loss.reductions - 1))
    ones = [[], [1]] if shape else [[]]
    gradient, g, _ = tensors.make(
        GRADIENT, stretched(draw, shape) if reduction == NONE else draw(st.sampled_from(ones))
    )
    self, x, _ = tensors.make("self", shape if loss.as_self else stretched(draw, shape), loss.xs)
    target, t, _ = tensors.make(TARGET, stretched(draw, shape), loss.ts)
    weights, w, p = tensors.make_weights(shape)
    numbers, n = number_of(draw, loss)
    out, whole, out_kind = tensors.make(OUT, list(numpy.broadcast_shapes(g.shape, x.shape, t.shape)))
    assert npu.call(name, gradient, self, target, *weights, reduction, *numbers, out) == 0
    with numpy.errstate(all="ignore"):
        result = g * w * loss.function(x, t, n, p) / divisor(reduction, whole, x)
    near(npu.get(out), result, out_kind, 2.0**-40 * (numpy.abs(result) + 1))


@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
@pytest.mark.parametrize("out_kind", ["i8", "f4"])
def test_loss_of_integers(npu, reduction, out_kind):
    """Differences and sums are exact. A mean is cut off in an integer type, and computed in double for another."""
    x, t = numpy.array([2**60 + 1, -5, 7], "i8"), numpy.array([2**60, 3, 7], "i8")
    out = blank(npu, out_kind, (3,) if reduction == NONE else ())
    assert npu.call("l1_loss", npu.tensor(x), npu.tensor(t), reduction, out) == 0
    mean = 3 if out_kind == "i8" else float(numpy.float32(8 / 3))  # a double lacks the last bit of 2**60 + 1
    expected = {NONE: [1, 8, 0], MEAN: mean, SUM: 9}[reduction]
    assert npu.get(out).tolist() == expected


def test_sums_of_nothing(npu):
    nothing = npu.tensor(numpy.zeros((0, 2), "f4"))
    for name, reduction, expected in (
        ("mse_loss", SUM, 0),
        ("mse_loss", MEAN, NAN),
        ("l1_loss", SUM, 0),
        ("l1_loss", MEAN, NAN),
    ):
        out = blank(npu, "f4", ())
        assert npu.call(name, nothing, nothing, reduction, out) == 0
        assert numpy.array_equal(npu.get(out), expected, equal_nan=True), name


@pytest.mark.parametrize("name", BOTH)
def test_special_values(npu, name):
    """NaN and infinities are where the formulas of PyTorch have them."""
    loss = BOTH[name]
    xs = [0, 0.5, 1, NAN] if loss.xs == UNIT else [NAN, INF, -INF, 0, 1, -1]
    ts = [0, 0.5, 1, NAN] if loss.ts != (-2, 2) else [NAN, INF, -INF, 0, 1, -1]
    x, t = (numpy.array(values, "f4").ravel() for values in numpy.meshgrid(xs, ts))
    tensors = [npu.tensor(values) for values in ([numpy.full(x.shape, 2, "f4")] if name in GRADIENTS else []) + [x, t]]
    for number in loss.numbers or (0,):
        out = blank(npu, "f4", x.shape)
        numbers = [number] if loss.numbers else []
        assert npu.call(name, *tensors, *[ABSENT] * loss.weights, NONE, *numbers, out) == 0
        with numpy.errstate(all="ignore"):
            expected = (2 if name in GRADIENTS else 1) * loss.function(x.astype("f8"), t.astype("f8"), number, 1.0)
        assert numpy.allclose(npu.get(out), expected, rtol=1e-6, atol=1e-7, equal_nan=True), (number, x, t)


def test_losses_do_not_overflow(npu):
    x, t, out = (npu.tensor(numpy.array(values, "f4")) for values in ([200, -200], [-1, 1], [0, 0]))
    assert npu.call("soft_margin_loss", x, t, NONE, out) == 0
    assert npu.get(out).tolist() == [200, 200]
    assert npu.call("soft_margin_loss_backward", x, x, t, NONE, out) == 0
    assert npu.get(out).tolist() == [200, 200]
    assert npu.call("binary_cross_entropy_with_logits", x, t, ABSENT, ABSENT, NONE, out) == 0
    assert npu.get(out).tolist() == [400, 200]


# --- Negative log likelihood

INDICES = ["i8", "i4", "u1"]


class Classes:
    """Values per class, targets and weights for NLLLoss or NLLLoss2d."""

    def __init__(self, npu, draw, name):
        self.npu, self.draw = npu, draw
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind, self.reduction = draw(st.sampled_from(SINGLE)), draw(st.sampled_from([NONE, MEAN, SUM]))
        self.ignored, count = draw(st.sampled_from([-100, 1])), draw(st.integers(1, 5))
        self.outer = [draw(st.integers(0, 4)) for _ in range(3 if "2d" in name else draw(st.integers(0, 1)))]
        self.axis = min(1, len(self.outer))
        self.shape = [*self.outer[: self.axis], count, *self.outer[self.axis :]]
        kind = draw(st.sampled_from(INDICES))
        base, self.t = any_view(
            draw,
            self.generator,
            self.outer,
            kind,
            lambda rng, dims, kind: numpy.asarray(rng.integers(0, count, dims)).astype(kind),
        )
        self.target = npu.view(base, self.t, kind)
        self.weight, self.w = self.make([count], 0.5)
        self.used = self.t.astype("i8") != self.ignored
        self.place = numpy.where(self.used, self.t, 0).astype("i8")
        self.each = numpy.where(self.used, self.w[self.place], 0)

    def make(self, shape, least=-2.0):
        """Return a tensor and its values in a wide type."""
        base, view = any_view(
            self.draw,
            self.generator,
            shape,
            self.kind,
            lambda rng, dims, kind: stored(rng.uniform(least, 2, dims), kind),
        )
        return self.npu.view(base, view, self.kind), exact(view, self.kind)

    def one(self):
        """Return a shape of one element."""
        return self.draw(st.sampled_from([[], [1]]))


@pytest.mark.parametrize("name", ["nll_loss", "nll_loss2d"])
@FEWER
@given(data=st.data())
def test_likelihood(npu, name, data):
    classes = Classes(npu, data.draw, name)
    (self, x), (total, _) = classes.make(classes.shape), classes.make(classes.one())
    out, _ = classes.make(classes.outer if classes.reduction == NONE else classes.one())
    rest = classes.reduction, classes.ignored, out, total
    assert npu.call(name, self, classes.target, classes.weight, *rest) == 0
    picked = numpy.take_along_axis(numpy.moveaxis(x, classes.axis, -1), classes.place[..., None], -1)[..., 0]
    losses, weights = -classes.each * picked, classes.each.sum()
    with numpy.errstate(all="ignore"):
        result = {NONE: losses, SUM: losses.sum(), MEAN: losses.sum() / weights}[classes.reduction]
    near(npu.get(out), result, classes.kind, 2.0**-40 * numpy.abs(losses).sum())
    near(npu.get(total), weights, classes.kind, 2.0**-40 * weights)


@pytest.mark.parametrize("name", ["nll_loss_backward", "nll_loss2d_backward"])
@FEWER
@given(data=st.data())
def test_gradient_of_likelihood(npu, name, data):
    classes = Classes(npu, data.draw, name)
    (self, _), (out, whole), (total, weights) = (
        classes.make(classes.shape),
        classes.make(classes.shape),
        classes.make(classes.one(), 1.0),
    )
    gradient, g = classes.make(classes.outer if classes.reduction == NONE else classes.one())
    rest = classes.reduction, classes.ignored, total, out
    assert npu.call(name, gradient, self, classes.target, classes.weight, *rest) == 0
    scale = weights.reshape(()) if classes.reduction == MEAN else 1
    slopes = numpy.asarray(-classes.each * (g if g.ndim == len(classes.outer) else g.reshape(())) / scale)
    expected = numpy.zeros([*classes.outer, whole.shape[classes.axis]])
    numpy.put_along_axis(expected, classes.place[..., None], slopes[..., None], -1)
    near(npu.get(out), numpy.moveaxis(expected, -1, classes.axis), classes.kind, 0)


def test_nothing_to_average(npu):
    self, target = npu.tensor(numpy.ones((2, 3), "f4")), npu.tensor(numpy.array([1, 1]))
    weight, out, total = npu.tensor(numpy.ones(3, "f4")), blank(npu, "f4", (1,)), blank(npu, "f4", (1,))
    assert npu.call("nll_loss", self, target, weight, MEAN, 1, out, total) == 0
    assert numpy.isnan(npu.get(out)).all() and npu.get(total).tolist() == [0]


# --- Cross entropy

WORDS = {NONE: "none", MEAN: "mean", SUM: "sum"}


def log_softmax(x):
    x = x - x.max(-1, keepdims=True, initial=-INF)
    return x - numpy.log(numpy.exp(x).sum(-1, keepdims=True))


class Rows:
    """Rows of classes, with targets and weights for CrossEntropyLoss."""

    def __init__(self, npu, draw, target_kinds):
        self.npu, self.draw = npu, draw
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind, self.reduction = draw(st.sampled_from(SINGLE)), draw(st.sampled_from([NONE, MEAN, SUM]))
        self.ignored, self.smoothing = draw(st.sampled_from([-100, 1])), draw(st.sampled_from([0.0, 0.25, 1.0]))
        self.shape = [draw(st.integers(0, 6)), draw(st.sampled_from([1, 3, 300]))]
        target = self.generator.integers(0, self.shape[1], self.shape[0]).astype(draw(st.sampled_from(target_kinds)))
        self.target, self.w, self.weight = npu.tensor(target), numpy.ones(self.shape[1]), ABSENT
        if draw(st.booleans()):
            base, view = any_view(draw, self.generator, self.shape[1:], "f4")
            base[...] = self.generator.uniform(0.5, 2, base.shape)
            self.weight, self.w = npu.view(base, view, "f4"), view.astype("f8")
        self.used = target.astype("i8") != self.ignored
        self.factors = -self.smoothing / self.shape[1] * numpy.tile(self.w, (self.shape[0], 1))
        self.factors[range(len(target)), target] -= (1 - self.smoothing) * self.w[target]
        self.factors[~self.used] = 0
        self.total = self.w[target[self.used]].sum()

    def make(self, shape):
        """Return a tensor and its values in a wide type."""
        base, view = any_view(self.draw, self.generator, shape, self.kind)
        return self.npu.view(base, view, self.kind), exact(view, self.kind)

    def losses(self):
        """Return a shape for the losses or their gradients."""
        return self.shape[:1] if self.reduction == NONE else self.draw(st.sampled_from([[], [1]]))

    def word(self):
        """Return the reduction as an argument; without a text it is the mean."""
        return ABSENT if self.reduction == MEAN and self.draw(st.booleans()) else WORDS[self.reduction]


@FEWER
@given(data=st.data())
def test_cross_entropy(npu, data):
    rows = Rows(npu, data.draw, ["i8", "i4"])
    (self, x), (out, _), (logarithms, _) = (rows.make(shape) for shape in (rows.shape, rows.losses(), rows.shape))
    unused = [blank(npu, rows.kind, rows.shape[:1]) for _ in range(2)]
    rest = rows.ignored, rows.smoothing, 0.0, False, out, logarithms, *unused
    assert npu.call("cross_entropy_loss", self, rows.target, rows.weight, rows.word(), *rest) == 0
    with numpy.errstate(all="ignore"):
        expected = log_softmax(x)
        losses = (rows.factors * expected).sum(-1)
        result = {NONE: losses, SUM: losses.sum(), MEAN: losses.sum() / rows.total}[rows.reduction]
    near(npu.get(logarithms), expected, rows.kind, 2.0**-40)
    near(npu.get(out), result, rows.kind, 2.0**-40 * numpy.abs(losses).sum())


@FEWER
@given(data=st.data())
def test_gradient_of_cross_entropy(npu, data):
    rows = Rows(npu, data.draw, ["i8"])
    (gradient, g), (logarithms, y), (out, _) = (rows.make(shape) for shape in (rows.losses(), rows.shape, rows.shape))
    y = numpy.minimum(y, 0)
    logarithms = npu.tensor(stored(y, rows.kind), rows.kind)
    rest = rows.word(), rows.ignored, rows.smoothing, 0.0, out
    ret = npu.call("cross_entropy_loss_grad", gradient, logarithms, rows.target, rows.weight, ABSENT, ABSENT, *rest)
    assert ret == 0
    each = g.reshape(-1, 1) / (rows.total or 1 if rows.reduction == MEAN else 1)
    expected = each * (rows.factors - numpy.exp(y) * rows.factors.sum(-1, keepdims=True))
    near(npu.get(out), expected, rows.kind, 2.0**-40 * (1 + numpy.abs(expected).max(initial=0)))


@pytest.mark.strict
def test_refusals_of_cross_entropy(npu):
    rows, target, one = blank(npu, "f4", (2, 3)), blank(npu, "i8", (2,)), blank(npu, "f4", (1,))
    result = blank(npu, "f4", (2, 3))
    unused = blank(npu, "f4", (1,)), blank(npu, "f4", (1,))

    def ask(x=rows, target=target, weight=ABSENT, word="mean", smoothing=0.0, scale=0.0, out=one, logarithms=result):
        rest = word, -100, smoothing, scale, False, out, logarithms, *unused
        return npu.call("cross_entropy_loss", x, target, weight, *rest)

    def ask_gradient(gradient=one, y=rows, target=target, word="mean", out=rows):
        rest = ABSENT, ABSENT, ABSENT, word, -100, 0.0, 0.0, out
        return npu.call("cross_entropy_loss_grad", gradient, y, target, *rest)

    assert ask() == ask_gradient() == 0
    words = 'reductionOptional is "average", expected none, mean or sum'
    refused(ask(word="average"), INVALID, words)
    refused(ask_gradient(word="average"), INVALID, words)
    refused(ask(smoothing=1.5), INVALID, "labelSmoothing is 1.5, expected 0 to 1")
    refused(ask(scale=1.0), INVALID, "lseSquareScaleForZloss is 1, expected 0 or more, and less than 1")
    refused(ask(word="none"), INVALID, "lossOut has shape [1], expected [2], one loss per row")
    refused(ask(x=blank(npu, "f4", (2, 0))), INVALID, "dimension 1 of input is 0, expected 1 class or more")
    refused(ask(target=blank(npu, "i8", (3,))), INVALID, "target has shape [3], expected [2], one class per row")
    for wrong in (
        {"x": blank(npu, "f8", (2, 3))},
        {"x": blank(npu, "f2", (2, 3))},
        {"x": target},
        {"target": blank(npu, "u1", (2,))},
        {"weight": blank(npu, "f2", (3,))},
        {"weight": blank(npu, "f4", (2,))},
        {"out": blank(npu, "f2", (1,))},
        {"logarithms": one},
    ):
        assert ask(**wrong) == INVALID, wrong
    for wrong in (
        {"gradient": blank(npu, "f2", (1,))},
        {"gradient": target},
        {"y": blank(npu, "f2", (2, 3))},
        {"target": blank(npu, "i4", (2,))},
        {"out": one},
        {"word": "none"},
    ):
        assert ask_gradient(**wrong) == INVALID, wrong


# --- Several classes per row


@FEWER
@given(data=st.data())
def test_multilabel_margin(npu, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, target_kind = draw(st.sampled_from(SINGLE)), draw(st.sampled_from(["i4", "i8"]))
    reduction, count = draw(st.sampled_from([NONE, MEAN, SUM])), draw(st.sampled_from([1, 4, 7]))
    outer = draw(st.sampled_from([[], [0], [1], [5]]))
    losses = outer if reduction == NONE else draw(st.sampled_from([[], [1]]))
    self, out, marks = (any_view(draw, generator, shape, kind) for shape in ([*outer, count], losses, [*outer, count]))
    base, target = any_view(draw, generator, [*outer, count], target_kind)
    base[...] = generator.integers(-1, count, base.shape)
    tensors = [npu.view(*view, kind) for view in (self, out, marks)]
    rest = npu.view(base, target, target_kind), reduction, *tensors[1:]
    assert npu.call("multilabel_margin_loss", tensors[0], *rest) == 0
    x, results, marked = exact(self[1], kind).reshape(-1, count), [], numpy.zeros([*outer, count]).reshape(-1, count)
    for row, classes, mark in zip(x, target.reshape(-1, count), marked):
        classes = classes[: (list(classes) + [-1]).index(-1)]
        mark[classes] = 1
        results.append(sum(numpy.maximum(0, 1 - row[one] + row[mark == 0]).sum() for one in classes) / count)
    total = numpy.sum(results)
    with numpy.errstate(invalid="ignore"):
        result = {NONE: numpy.reshape(results, outer), SUM: total, MEAN: total / numpy.float64(len(x))}[reduction]
    near(npu.get(tensors[1]), result, kind, 2.0**-40 * total)
    assert numpy.array_equal(exact(npu.get(tensors[2]), kind), marked.reshape([*outer, count]))


@pytest.mark.strict
def test_refusals_of_multilabel_margin(npu):
    rows, target, one = blank(npu, "f4", (2, 3)), blank(npu, "i8", (2, 3)), blank(npu, "f4", (1,))

    def ask(x=rows, target=target, reduction=SUM, out=one, marks=rows):
        return npu.call("multilabel_margin_loss", x, target, reduction, out, marks)

    assert ask() == 0
    refused(ask(reduction=3), INVALID, "reduction is 3, expected 0 to 2")
    refused(ask(reduction=NONE), INVALID, "out has shape [1], expected [2], one loss per row")
    refused(ask(x=blank(npu, "f4", (2, 0))), INVALID, "dimension 1 of self is 0, expected 1 class or more")
    for wrong in (
        {"x": blank(npu, "f8", (2, 3))},
        {"x": blank(npu, "f4", (2, 3, 4))},
        {"target": blank(npu, "u1", (2, 3))},
        {"target": blank(npu, "i8", (2, 2))},
        {"out": blank(npu, "f2", (1,))},
        {"out": rows},
        {"marks": target},
        {"marks": one},
    ):
        assert ask(**wrong) == INVALID, wrong


# --- Refusals


def call(npu, name, reduction=NONE, number=None, **others):
    """Call a loss with tensors of float32 and one shape, except for those of another kind and shape."""
    loss = BOTH[name]

    def make(role):
        return blank(npu, *others.get(role, ("f4", (2, 3))))

    first = [make(GRADIENT)] if name in GRADIENTS else []
    numbers = [loss.numbers[0] if number is None else number] if loss.numbers else []
    weights = [make("weight")] * loss.weights
    return npu.call(name, *first, make("self"), make(TARGET), *weights, reduction, *numbers, make(OUT))


@pytest.mark.strict
@pytest.mark.parametrize("name", BOTH)
def test_types(npu, name):
    """All tensors have one of the documented types; some must have that of self."""
    roles = ["self", TARGET, OUT] + [GRADIENT] * (name in GRADIENTS) + ["weight"] * (BOTH[name].weights > 0)
    for kind in ALL:
        fits = kind in SINGLE or (kind == "i8" and name == "l1_loss")
        every = {role: (kind, (2, 3)) for role in roles}
        assert call(npu, name, **every) == (0 if fits else INVALID), kind
    for role in roles[1:]:
        expected = INVALID if role in BOTH[name].alike else 0
        assert call(npu, name, **{role: ("f2", (2, 3))}) == expected, role
        assert call(npu, name, **{role: ("f8", (2, 3))}) == INVALID, role


@pytest.mark.strict
@pytest.mark.parametrize("name", BOTH)
def test_shapes(npu, name):
    for role in ("self", TARGET, OUT):
        assert call(npu, name, **{role: ("f4", (2, 2))}) == INVALID, role
    assert call(npu, name, out=("f4", (1, 2, 3))) == INVALID
    for reduction in (-1, BOTH[name].reductions):
        refused(call(npu, name, reduction), INVALID, f"reduction is {reduction}, expected 0 to ")
    if name in LOSSES:
        refused(call(npu, name, SUM), INVALID, " has shape [2, 3], expected [] or [1]")


@pytest.mark.strict
def test_refused(npu):
    for name in ("smooth_l1_loss", "smooth_l1_loss_backward"):
        refused(call(npu, name, number=-0.5), INVALID, "beta is -0.5, expected 0 or more")
        assert call(npu, name, number=NAN) == INVALID
    ret = call(npu, "l1_loss", self=("i8", (2, 3)), target=("i8", (2, 3)), out=("f4", (2, 3)))
    assert ret == 0
    ret = call(npu, "l1_loss", out=("i8", (2, 3)))
    refused(ret, INVALID, "the result is float32, which cannot be cast to int64, the type of the output")
    ret = call(npu, "binary_cross_entropy", weight=("f4", (5, 2, 3)))
    refused(ret, INVALID, "the result has 2 dimensions, expected 3 or more, as many as weight")
    ret = call(npu, "kl_div_backward", target=("f4", (5, 2, 3)))
    refused(ret, INVALID, "out has 2 dimensions, expected 3 or more, as many as target")


LIKELIHOODS = {
    "nll_loss": ((2, 3), (2,), (3,), (2,), (1,)),
    "nll_loss2d": ((2, 3, 4, 5), (2, 4, 5), (3,), (2, 4, 5), (1,)),
    "nll_loss_backward": ((2,), (2, 3), (2,), (3,), (1,), (2, 3)),
    "nll_loss2d_backward": ((2, 4, 5), (2, 3, 4, 5), (2, 4, 5), (3,), (1,), (2, 3, 4, 5)),
}


@pytest.mark.strict
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_refusals_of_likelihoods(npu, name):
    shapes = LIKELIHOODS[name]
    target = 2 if "backward" in name else 1

    def ask(place=None, kind="f4", shape=None):
        tensors = [
            blank(npu, (kind if here == place else "i8" if here == target else "f4"),
                  (shape if here == place and shape is not None else usual))
            for here, usual in enumerate(shapes)
        ]  # fmt: skip
        return npu.call(name, *tensors[: target + 2], NONE, -100, *tensors[target + 2 :])

    assert ask() == 0
    for place, _ in enumerate(shapes):
        assert ask(place, "f8") == INVALID, place
        assert ask(place, "i8" if place == target else "f4", (4, 7)) == INVALID, place
        for kind in INDICES if place == target else []:
            assert ask(place, kind) == 0


# --- Targets that are not classes. These tests end the device of the module, so they are last.


@pytest.fixture
def fresh():
    """Make a device that may fail."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [3, -1, 2**62, -(2**63)])
def test_a_target_that_is_not_a_class_fails_the_task(fresh, wrong):
    self, target = fresh.tensor(numpy.ones((2, 3), "f4")), fresh.tensor(numpy.array([0, wrong]))
    weight, out, total = fresh.tensor(numpy.ones(3, "f4")), blank(fresh, "f4", ()), blank(fresh, "f4", ())
    assert fresh.call("nll_loss", self, target, weight, SUM, -100, out, total) == 0
    words = f"aclnnNLLLoss failed because target has an element {wrong}, expected a class from 0 to 2, or -100 for none"
    refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
