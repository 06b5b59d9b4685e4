"""ApplyAdamWV2 and ApplyFusedEmaAdam against NumPy."""

import numpy
import pytest
from helpers.adam import any_state, same_state, step
from helpers.expect import refused
from helpers.norms import Case, positive
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_shape, blank
from hypothesis import given
from hypothesis import strategies as st

BETAS = 0.9, 0.984375


@SETTINGS
@given(data=st.data())
def test_decoupled_decay(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    shape, keeps, maximize = any_shape(draw), draw(st.booleans()), draw(st.booleans())
    tensors, state = any_state(case, shape)
    greatest, largest = case.take(shape, values=positive)
    number = draw(st.integers(1, 20))
    count = npu.tensor(numpy.array([number - 1], draw(st.sampled_from(["i8", "f4"]))))
    first, second = (float(numpy.float32(beta)) for beta in BETAS)
    numbers = 0.125, first, second, 0.25, 0.0078125
    operands = *tensors[:3], greatest if keeps else 0, tensors[3], count
    assert npu.call("apply_adam_wv2", *operands, *numbers, keeps, maximize) == 0
    powers = first**number, second**number
    kept = largest if keeps else None
    expected = step(state, 0.125, (first, second), powers, 0.25, 0.0078125, kept, maximize)
    same_state(npu, case, [*tensors[:3], *([greatest] if keeps else [])], expected)


@SETTINGS
@given(data=st.data())
def test_moving_average(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    shape, mode, corrects = any_shape(draw), draw(st.integers(0, 1)), draw(st.booleans())
    tensors, (variable, mean, square, slope) = any_state(case, shape)
    average, averages = case.take(shape)
    number, rate, kept, decay, epsilon = draw(st.integers(1, 20)), 0.125, 0.75, 0.25, 0.0078125
    operands = tensors[3], *tensors[:3], average, npu.tensor(numpy.array([number]))
    assert npu.call("apply_fused_ema_adam", *operands, rate, kept, *BETAS, epsilon, mode, corrects, decay) == 0
    slope = slope + (0 if mode else decay * variable)
    mean, square = BETAS[0] * mean + (1 - BETAS[0]) * slope, BETAS[1] * square + (1 - BETAS[1]) * slope**2
    means, squares = (1 - beta**number if corrects else 1 for beta in BETAS)
    update = mean / means / (numpy.sqrt(square / squares) + epsilon)
    variable = variable - rate * (update + (decay * variable if mode else 0))
    expected = variable, mean, square, kept * averages + (1 - kept) * variable
    same_state(npu, case, [*tensors[:3], average], expected)


@pytest.mark.strict
def test_refusals(npu):
    fits = [blank(npu, "f4", (2, 3)) for _ in range(4)]
    step = npu.tensor(numpy.array([1]))

    def call(tensors=fits, step=step, greatest=0, keeps=False):
        return npu.call(
            "apply_adam_wv2", *tensors[:3], greatest, tensors[3], step, 0.1, 0.9, 0.99, 0.0, 1e-8, keeps, False
        )

    assert call() == 0
    refused(call(keeps=True), NULLPTR, "maxGradNorm", "is NULL")
    refused(call(step=0), NULLPTR, "step is NULL")
    refused(call([0, *fits[1:]]), NULLPTR, "varRef is NULL")
    refused(call([*fits[:3], blank(npu, "f2", (2, 3))]), INVALID, "grad has data type 1, float16, expected float32")
    refused(call([blank(npu, "f8", (2, 3)), *fits[1:]]), INVALID, "varRef has data type 11, float64, expected")
    refused(call([fits[0], blank(npu, "f4", (3, 2)), *fits[2:]]), INVALID, "mRef has shape [3, 2], expected [2, 3]")
    refused(call(step=npu.tensor(numpy.array([1, 2]))), INVALID, "step has 2 elements, expected 1")
    refused(call(step=npu.tensor(numpy.array([1], "i4"))), INVALID, "step has data type 3, int32, expected")
    ret = npu.call("apply_fused_ema_adam", *fits, fits[3], step, 0.1, 0.9, 0.9, 0.99, 1e-8, 2, True, 0.0)
    refused(ret, INVALID, "mode is 2, expected 0 or 1")
