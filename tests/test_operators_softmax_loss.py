"""SoftmaxCrossEntropyWithLogits against NumPy in double."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from hypothesis import given
from hypothesis import strategies as st


@SETTINGS
@given(data=st.data())
def test_losses_and_gradients(npu, data):
    case = Case(npu, data.draw)
    shape = data.draw(st.integers(0, 5)), data.draw(st.sampled_from([1, 2, 7, 300]))
    (features, values), (labels, targets) = case.take(shape), case.take(shape)
    (loss, _), (gradient, _) = case.take(shape[:1]), case.take(shape)
    assert npu.call("softmax_cross_entropy_with_logits", features, labels, loss, gradient) == 0
    lower = values - values.max(-1, keepdims=True, initial=-numpy.inf)
    sums = numpy.exp(lower).sum(-1, keepdims=True)
    terms = targets * (lower - numpy.log(sums))
    near(npu.get(loss), -terms.sum(-1), case.kind, 1e-12 * numpy.abs(terms).sum(-1))
    near(npu.get(gradient), numpy.exp(lower) / sums - targets, case.kind, 1e-12)


def test_infinities(npu):
    features = npu.tensor(numpy.array([[-numpy.inf, 0, 0], [numpy.inf, 0, 0], [numpy.nan, 0, 0]], "f4"))
    labels, loss, gradient = blank(npu, "f4", (3, 3)), blank(npu, "f4", (3,)), blank(npu, "f4", (3, 3))
    assert npu.call("softmax_cross_entropy_with_logits", features, labels, loss, gradient) == 0
    assert numpy.isnan(npu.get(loss)).all()
    assert numpy.array_equal(npu.get(gradient)[0], numpy.array([0, 0.5, 0.5], "f4"))
    assert numpy.isnan(npu.get(gradient)[1:]).any(-1).all()


@pytest.mark.strict
def test_refusals(npu):
    fits = [blank(npu, "f4", shape) for shape in ((2, 3), (2, 3), (2,), (2, 3))]

    def call(place=None, value=None):
        changed = [value if k == place else x for k, x in enumerate(fits)]
        return npu.call("softmax_cross_entropy_with_logits", *changed)

    assert call() == 0
    for place in range(4):
        refused(call(place, 0), NULLPTR, "is NULL")
        refused(call(place, blank(npu, "f8", (2, 3))), INVALID, "float64, expected float32")
    refused(call(0, blank(npu, "f4", (2,))), INVALID, "features has 1 dimensions, expected 2")
    refused(call(1, blank(npu, "f4", (2, 4))), INVALID, "labels has shape [2, 4], expected [2, 3], that of features")
    refused(call(2, blank(npu, "f4", (3,))), INVALID, "loss has shape [3], expected [2], one loss per row")
    refused(call(3, blank(npu, "f4", (3, 2))), INVALID, "backprop has shape [3, 2], expected [2, 3]")
