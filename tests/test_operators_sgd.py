"""FusedSgd against NumPy: momentum, decay, scale, types, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case
from helpers.operands import INVALID, KINDS, NULLPTR, any_shape, blank, near
from helpers.pointwise import FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st

NAME = "fused_sgd"
DECAY, MOMENTUM, RATE, DAMPENING = 0.25, 0.5, 0.125, 0.0625


@FEWER
@given(data=st.data(), nesterov=st.booleans(), maximize=st.booleans(), first=st.booleans())
def test_step(npu, data, nesterov, maximize, first):
    draw, case = data.draw, Case(npu, data.draw)
    shapes = [any_shape(draw) for _ in range(draw(st.integers(1, 3)))]
    shapes = [[dim or 1 for dim in shape] for shape in shapes]
    lists = [[case.take(shape) for shape in shapes] for _ in range(3)]
    buffered, scaled = draw(st.booleans()), draw(st.booleans())
    none = npu.list([blank(npu, case.kind, (0,))]) if draw(st.booleans()) else npu.list([])
    handles = [npu.list([tensor for tensor, _ in each]) for each in lists]
    scale = npu.tensor(numpy.array([4], "f4")) if scaled else 0
    arguments = handles[0], handles[1], handles[2] if buffered else none, scale
    assert npu.call(NAME, *arguments, DECAY, MOMENTUM, RATE, DAMPENING, nesterov, maximize, first) == 0
    for (variable, p), (gradient, g), (buffer, v) in zip(*lists):
        g = g / 4 if scaled else g
        slope = (-g if maximize else g) + DECAY * p
        moved = slope if first else MOMENTUM * v + (1 - DAMPENING) * slope
        near(npu.get(gradient), g, case.kind, 1e-12)
        near(npu.get(buffer), moved if buffered else v, case.kind, 1e-12)
        if buffered:
            slope = slope + MOMENTUM * moved if nesterov else moved
        near(npu.get(variable), p - RATE * slope, case.kind, 1e-12)


# --- refusals


@pytest.mark.strict
def test_types(npu):
    for kind in KINDS:
        lists = [npu.list([blank(npu, kind)]) for _ in range(3)]
        ret = npu.call(NAME, *lists, 0, DECAY, MOMENTUM, RATE, DAMPENING, False, False, True)
        assert ret == (0 if kind in SINGLE else INVALID), kind


@pytest.mark.strict
def test_refused(npu):
    fits = [npu.list([blank(npu, "f4"), blank(npu, "f4", (2,))]) for _ in range(3)]

    def call(place=None, given=0, scale=0, numbers=(DECAY, MOMENTUM, RATE, DAMPENING)):
        lists = [given if here == place else each for here, each in enumerate(fits)]
        return npu.call(NAME, *lists, scale, *numbers, False, False, True)

    assert call() == 0
    for place, name in enumerate(("paramsRef", "gradsRef", "momentumBufferListOptionalRef")):
        refused(call(place), NULLPTR, f"{name} is NULL")
        wrong = npu.list([blank(npu, "f4"), blank(npu, "f2", (2,))])
        words = f"{name}[1] has data type 1, float16, expected float32, that of the first parameter"
        refused(call(place, wrong), INVALID, words)
    for place, name in enumerate(("gradsRef", "momentumBufferListOptionalRef"), 1):
        refused(call(place, npu.list([blank(npu, "f4")])), INVALID, f"{name} has length 1, expected 2")
        wrong = npu.list([blank(npu, "f4"), blank(npu, "f4", (3,))])
        refused(call(place, wrong), INVALID, f"{name}[1] has shape [3], expected [2], that of the parameter")
    refused(call(0, npu.list([])), INVALID, "paramsRef is empty")
    refused(call(scale=blank(npu, "f4", (2,))), INVALID, "gradScaleOptional has shape [2], expected [] or [1]")
    refused(call(scale=blank(npu, "i4", (1,))), INVALID, "gradScaleOptional has data type 3, int32")
    for place, name in enumerate(("weightDecay", "momentum", "lr", "dampening")):
        numbers = [-1.0 if here == place else 0.5 for here in range(4)]
        refused(call(numbers=numbers), INVALID, f"{name} is -1, expected 0 or more")
