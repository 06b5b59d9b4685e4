"""CtcLoss and its gradient against the sum over all paths: targets in rows and in one line, types, refusals."""

import itertools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, any_view, blank, exact, stored
from helpers.pointwise import FEWER, FLOATS
from helpers.tensors import Device
from hypothesis import given
from hypothesis import strategies as st

import acl

AICORE_EXCEPTION = 507015
# How far a result may be from the exact one; the gradient reads a rounded logAlpha.
NEAR = {"f2": 2e-2, "b2": 2e-1, "f4": 1e-5, "f8": 1e-12}


def collapse(path, none):
    """Return a path of symbols without repetitions and blanks."""
    return [symbol for symbol, _ in itertools.groupby(path) if symbol != none]


def likelihood(probs, target, none):
    """Return the probability of a target, and the part of it in which a time has a class."""
    times, classes = probs.shape
    total, parts = 0.0, numpy.zeros(probs.shape)
    for path in itertools.product(range(classes), repeat=times):
        if collapse(path, none) == list(target):
            weight = numpy.prod(probs[range(times), path])
            total += weight
            parts[range(times), path] += weight
    return total, parts


class Batch:
    """Random logarithms of probabilities, and targets of several lengths."""

    def __init__(self, npu, draw, kinds, target_kinds):
        self.npu, self.draw = npu, draw
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind, target_kind = draw(st.sampled_from(kinds)), draw(st.sampled_from(target_kinds))
        self.times, self.count, classes = draw(st.integers(1, 4)), draw(st.integers(0, 3)), draw(st.integers(2, 3))
        self.none = draw(st.integers(0, classes - 1))
        self.shape = [self.times, self.count, classes]
        base, view = any_view(draw, self.generator, self.shape, self.kind, self.logarithms)
        self.probs, self.y = npu.view(base, view, self.kind), exact(view, self.kind)
        self.lengths = self.generator.integers(1, 3, self.count).tolist()
        self.steps = self.generator.integers(1, self.times + 1, self.count).tolist()
        symbols = [one for one in range(classes) if one != self.none]
        rows = self.generator.choice(symbols, (self.count, 2))
        self.rows = [row[:length] for row, length in zip(rows, self.lengths)]
        flat = numpy.concatenate([*self.rows, []]) if draw(st.booleans()) else rows
        self.targets = npu.tensor(flat.astype(target_kind))

    @staticmethod
    def logarithms(generator, shape, kind):
        return stored(-generator.uniform(0.1, 2, shape), kind)

    def make(self, shape):
        """Return a tensor and its values in a wide type."""
        base, view = any_view(self.draw, self.generator, shape, self.kind)
        return self.npu.view(base, view, self.kind), exact(view, self.kind)

    def arrays(self):
        """Return the lengths as arguments."""
        return self.npu.integers(self.steps), self.npu.integers(self.lengths)

    def forward(self, zero):
        """Call the operator; return the tensors of the loss and of logAlpha."""
        (loss, _), (alpha, _) = self.make([self.count]), self.make([self.count, self.times, 8])
        rest = *self.arrays(), self.none, zero, loss, alpha
        assert self.npu.call("ctc_loss", self.probs, self.targets, *rest) == 0
        return loss, alpha

    def exact(self):
        """Yield the probability of each target and its parts, for the times that count."""
        for place, (row, steps) in enumerate(zip(self.rows, self.steps)):
            yield likelihood(numpy.exp(self.y[:steps, place]), row, self.none)


@FEWER
@given(data=st.data())
def test_loss(npu, data):
    batch, zero = Batch(npu, data.draw, FLOATS, ["i8", "i4", "f4", "f2"]), data.draw(st.booleans())
    loss, _ = batch.forward(zero)
    with numpy.errstate(divide="ignore"):
        expected = numpy.array([-numpy.log(total) for total, _ in batch.exact()])
    expected[numpy.isinf(expected) & zero] = 0
    found = exact(npu.get(loss), batch.kind)
    assert numpy.allclose(found, expected, rtol=NEAR[batch.kind], atol=NEAR[batch.kind])


@FEWER
@given(data=st.data())
def test_gradient(npu, data):
    """Targets without a path have a gradient of 0, or NaN."""
    batch, zero = Batch(npu, data.draw, FLOATS, ["i8", "i4"]), data.draw(st.booleans())
    loss, alpha = batch.forward(zero)  # zero stores 0 for an infinite loss
    (gradient, g), (out, _) = batch.make([batch.count]), batch.make(batch.shape)
    rest = *batch.arrays(), loss, alpha, batch.none, zero, out
    assert npu.call("ctc_loss_backward", gradient, batch.probs, batch.targets, *rest) == 0
    expected = numpy.zeros(batch.shape)
    for place, (total, parts) in enumerate(batch.exact()):
        steps = batch.steps[place]
        if total > 0:
            expected[:steps, place] = g[place] * (numpy.exp(batch.y[:steps, place]) - parts / total)
        elif not zero:
            expected[:steps, place] = numpy.nan
    error = NEAR[batch.kind] * (1 + numpy.abs(g).max(initial=0))
    assert numpy.allclose(exact(npu.get(out), batch.kind), expected, rtol=0, atol=error, equal_nan=True)


def test_alpha(npu):
    """Each row begins with the blank or the first symbol; what does not exist has the probability 0."""
    y = numpy.log(numpy.array([[[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25]], [[0.2, 0.3, 0.5]]], "f4"))
    loss, alpha = blank(npu, "f4", (1,)), blank(npu, "f4", (1, 3, 4))
    lengths = npu.integers([2]), npu.integers([1])
    assert npu.call("ctc_loss", npu.tensor(y), npu.tensor(numpy.array([[1]])), *lengths, 0, False, loss, alpha) == 0
    expected = [[0.5, 0.25, 0, 0], [0.125, 0.375, 0.0625, 0], [0, 0, 0, 0]]
    assert numpy.allclose(numpy.exp(npu.get(alpha)[0]), expected, rtol=1e-6)
    assert numpy.allclose(numpy.exp(-npu.get(loss)), [0.4375], rtol=1e-6)


@pytest.mark.strict
def test_refused(npu):
    def ask(y=("f4", (4, 2, 3)), targets=("i8", (2, 2)), steps=(4, 3), lengths=(1, 2), none=0, loss=("f4", (2,)),
            alpha=("f4", (2, 4, 5))):  # fmt: skip
        rest = npu.integers(steps), npu.integers(lengths), none, False, blank(npu, *loss), blank(npu, *alpha)
        return npu.call("ctc_loss", blank(npu, *y), blank(npu, *targets), *rest)

    assert ask() == ask(targets=("i8", (3,))) == ask(alpha=("f4", (2, 4, 8))) == ask(targets=("?", (2, 2))) == 0
    refused(ask(none=3), INVALID, "blank is 3, expected 0 to 2")
    refused(ask(steps=(4,)), INVALID, "inputLengths has 1 numbers, expected 2")
    refused(ask(steps=(4, 5)), INVALID, "inputLengths[1] is 5, expected 1 to 4")
    refused(ask(lengths=(0, 2)), INVALID, "targetlengths[0] is 0, expected 1 to 2")
    refused(ask(targets=("i8", (4,))), INVALID, "targets has shape [4], expected [3], the sum of the lengths")
    refused(ask(alpha=("f4", (2, 4, 4))), INVALID, "dimension 2 of logAlphaOut is 4, expected 1 more than twice 2, ")
    for wrong in (
        {"y": ("i4", (4, 2, 3))},
        {"y": ("f4", (4, 3))},
        {"y": ("f2", (4, 2, 3))},
        {"targets": ("u1", (2, 2))},
        {"targets": ("i8", (3, 2))},
        {"loss": ("f4", (1,))},
        {"loss": ("f2", (2,))},
        {"alpha": ("f4", (4, 2, 5))},
        {"alpha": ("f2", (2, 4, 5))},
    ):
        assert ask(**wrong) == INVALID, wrong


@pytest.mark.strict
def test_refusals_of_the_gradient(npu):
    def ask(place=None, kind="f4", shape=(2, 3)):
        usual = [("f4", (2,)), ("f4", (4, 2, 3)), ("i8", (2, 2)), ("f4", (2,)), ("f4", (2, 4, 5)), ("f4", (4, 2, 3))]
        tensors = [blank(npu, *((kind, shape) if here == place else one)) for here, one in enumerate(usual)]
        lengths = npu.integers([4, 3]), npu.integers([1, 2])
        return npu.call("ctc_loss_backward", *tensors[:3], *lengths, *tensors[3:5], 0, False, tensors[5])

    assert ask() == 0
    for place, shape in enumerate([(2,), (4, 2, 3), (2, 2), (2,), (2, 4, 5), (4, 2, 3)]):
        assert ask(place, "f2", shape) == INVALID, place
        assert ask(place, "i8" if place == 2 else "f4", (7, 3)) == INVALID, place


@pytest.fixture
def fresh():
    """Make a device that may fail. Its end closes the device of the module: these tests are last."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [3, -1])
def test_a_target_that_is_not_a_class_fails_the_task(fresh, wrong):
    loss, alpha = blank(fresh, "f4", (1,)), blank(fresh, "f4", (1, 4, 5))
    rest = fresh.integers([4]), fresh.integers([2]), 0, False, loss, alpha
    assert fresh.call("ctc_loss", blank(fresh, "f4", (4, 1, 3)), fresh.tensor(numpy.array([[1, wrong]])), *rest) == 0
    words = f"aclnnCtcLoss failed because targets has an element {wrong}, expected a class from 0 to 2"
    refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
