"""The gradient of KlDiv for its target against NumPy: reductions, types, broadcasting, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, any_shape, any_view, blank, exact, near, stored, stretched
from helpers.pointwise import ALL, FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st

NAME = "kl_div_target_backward"


@FEWER
@given(data=st.data(), reduction=st.integers(0, 3), of_logarithms=st.booleans())
def test_gradient(npu, data, reduction, of_logarithms):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))

    def make(shape, kind, low=-2.0):
        """Return a tensor and its values in a wide type."""
        base, view = any_view(
            draw, generator, shape, kind, lambda rng, dims, kind: stored(rng.uniform(low, 2, dims), kind)
        )
        return npu.view(base, view, kind), exact(view, kind)

    shape, kind = any_shape(draw), draw(st.sampled_from(SINGLE))
    other_kinds = draw(st.sampled_from(SINGLE)), draw(st.sampled_from(SINGLE))
    gradient, g = make(stretched(draw, shape), other_kinds[0])
    self, x = make(stretched(draw, shape), other_kinds[1])
    target, t = make(shape, kind, -2.0 if of_logarithms else 0.1)
    out, _ = make(shape, kind)
    assert npu.call(NAME, gradient, self, target, reduction, of_logarithms, out) == 0
    slope = numpy.exp(t) * (t - x + 1) if of_logarithms else numpy.log(t) - x + 1
    with numpy.errstate(all="ignore"):
        divisor = {1: t.size, 3: x.shape[0] if x.ndim else 1}.get(reduction, 1)
        result = g * slope / divisor
    near(npu.get(out), numpy.broadcast_to(result, t.shape), kind, 2.0**-40 * 100)


def test_a_target_of_zero(npu):
    self, target = npu.tensor(numpy.zeros(2, "f4")), npu.tensor(numpy.array([0, 1], "f4"))
    gradient, out = npu.tensor(numpy.array([2, 2], "f4")), blank(npu, "f4", (2,))
    assert npu.call(NAME, gradient, self, target, 0, False, out) == 0
    assert npu.get(out).tolist() == [-numpy.inf, 2]
    assert npu.call(NAME, gradient, self, target, 0, True, out) == 0
    assert numpy.allclose(npu.get(out), [2, 4 * numpy.e])


@pytest.mark.strict
def test_refused(npu):
    whole, half, wide = blank(npu, "f4", (2, 3)), blank(npu, "f2", (2, 3)), blank(npu, "f4", (4, 2, 3))
    for kind in ALL:
        same = blank(npu, kind, (2, 3))
        assert npu.call(NAME, same, same, same, 0, False, same) == (0 if kind in SINGLE else INVALID), kind
    words = "gradTarget has data type 0, float32, expected float16, that of target"
    refused(npu.call(NAME, whole, whole, half, 0, False, whole), INVALID, words)
    words = "gradTarget has shape [4, 2, 3], expected [2, 3], that of target"
    refused(npu.call(NAME, whole, whole, whole, 0, False, wide), INVALID, words)
    refused(npu.call(NAME, whole, wide, whole, 0, False, whole), INVALID, "expected 3 or more, as many as self")
    refused(npu.call(NAME, whole, whole, whole, 4, False, whole), INVALID, "reduction is 4, expected 0 to 3")
    for place in (0, 1, 2, 5):
        arguments = [whole, whole, whole, 0, False, whole]
        arguments[place] = 0
        refused(npu.call(NAME, *arguments), NULLPTR, "is NULL")
