"""ApplyAdam and ApplyAdamW, whose numbers are tensors, against NumPy."""

import numpy
import pytest
from helpers.adam import any_state, same_state, step
from helpers.expect import refused
from helpers.norms import Case, positive
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_shape, blank, exact, stored
from hypothesis import given
from hypothesis import strategies as st


def numbers(npu, kind, values):
    """Return tensors of one element, and the numbers that they hold."""
    arrays = [stored(numpy.array([value]), kind) for value in values]
    return [npu.tensor(array, kind) for array in arrays], [float(exact(array, kind)[0]) for array in arrays]


@SETTINGS
@given(data=st.data())
def test_adam(npu, data):
    case, shape, ahead = Case(npu, data.draw), any_shape(data.draw), data.draw(st.booleans())
    tensors, (variable, mean, square, slope) = any_state(case, shape)
    given_numbers, (power, other, rate, first, second, epsilon) = numbers(
        npu, "f4", (0.5, 0.75, 0.125, 0.9, 0.99, 0.01)
    )
    assert npu.call("apply_adam", *tensors[:3], *given_numbers, tensors[3], False, ahead) == 0
    mean, square = first * mean + (1 - first) * slope, second * square + (1 - second) * slope**2
    upcoming = first * mean + (1 - first) * slope if ahead else mean
    rate *= numpy.sqrt(1 - other) / (1 - power)
    same_state(npu, case, tensors[:3], (variable - rate * upcoming / (numpy.sqrt(square) + epsilon), mean, square))


@SETTINGS
@given(data=st.data())
def test_adam_with_decay(npu, data):
    case, shape = Case(npu, data.draw), any_shape(data.draw)
    keeps, maximize = data.draw(st.booleans()), data.draw(st.booleans())
    tensors, state = any_state(case, shape)
    greatest, largest = case.take(shape, values=positive)
    values = 0.5, 0.75, 0.125, 0.25, 0.9, 0.99, 0.01
    given_numbers, (power, other, rate, decay, first, second, epsilon) = numbers(npu, case.kind, values)
    operands = *tensors[:3], *given_numbers, tensors[3], greatest if keeps else 0
    assert npu.call("apply_adam_w", *operands, keeps, maximize) == 0
    powers = power * first, other * second
    expected = step(state, rate, (first, second), powers, decay, epsilon, largest if keeps else None, maximize)
    same_state(npu, case, tensors[:3], expected)


@pytest.mark.strict
def test_refusals(npu):
    fits, one = [blank(npu, "f4", (2, 3)) for _ in range(4)], blank(npu, "f4", (1,))
    ret = npu.call("apply_adam", *fits[:3], *[one] * 5, fits[0], fits[3], False, False)
    refused(ret, INVALID, "epsilon has shape [2, 3], expected [] or [1]")
    ret = npu.call("apply_adam_w", *fits[:3], *[one] * 7, fits[3], 0, True, False)
    refused(ret, NULLPTR, "maxGradNorm", "is NULL")
    ret = npu.call("apply_adam_w", *fits[:3], *[one] * 6, blank(npu, "f2", (1,)), fits[3], 0, False, False)
    refused(ret, INVALID, "eps has data type 1, float16, expected float32")
