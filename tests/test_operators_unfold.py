"""UnfoldGrad against NumPy: types, strides, steps, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, any_view, blank, exact, near
from helpers.pointwise import FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st

TILING = 561002


def folded(gradient, shape, axis, step):
    """Return the sums of the elements of all views."""
    sums = numpy.zeros(shape)
    for view in range(gradient.shape[axis]):
        part = numpy.moveaxis(gradient.take(view, axis), -1, axis)
        sums[(slice(None),) * axis + (slice(view * step, view * step + gradient.shape[-1]),)] += part
    return sums


@FEWER
@given(data=st.data())
def test_unfold_grad(npu, data):
    draw = data.draw
    generator, kind = numpy.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(SINGLE))
    shape = [draw(st.integers(0, 3)) for _ in range(draw(st.integers(1, 4)))]
    axis = draw(st.integers(max(0, len(shape) - 2), len(shape) - 1))
    shape[axis] = draw(st.sampled_from([1, 2, 5, 9, 60]))
    size, step = draw(st.integers(1, shape[axis])), draw(st.integers(1, 7))
    views = (shape[axis] - size) // step + 1
    base, view = any_view(draw, generator, [*shape[:axis], views, *shape[axis + 1 :], size], kind)
    out = npu.view(*any_view(draw, generator, shape, kind), kind)
    dim = axis - len(shape) if draw(st.booleans()) else axis
    arguments = npu.integers(shape), dim, size, step, out
    assert npu.call("unfold_grad", npu.view(base, view, kind), *arguments) == 0
    wide = exact(view, kind)
    near(npu.get(out), folded(wide, shape, axis, step), kind, 1e-12)


def test_views_of_more_than_a_block(npu):
    gradient = numpy.arange(2 * 300, dtype="f4").reshape(2, 300)
    out = blank(npu, "f4", (301,))
    assert npu.call("unfold_grad", npu.tensor(gradient), npu.integers([301]), 0, 300, 1, out) == 0
    assert npu.get(out).tolist() == folded(gradient, (301,), 0, 1).tolist()


# --- refusals


@pytest.mark.strict
def test_the_types_of_unfold_grad(npu):
    for kind in KINDS:
        arguments = blank(npu, kind, (2, 2)), npu.integers([3]), 0, 2, 1, blank(npu, kind, (3,))
        assert npu.call("unfold_grad", *arguments) == (0 if kind in SINGLE else INVALID), kind
    arguments = npu.integers([3]), 0, 2, 1, blank(npu, "f4", (3,))
    refused(npu.call("unfold_grad", blank(npu, "f2", (2, 2)), *arguments), INVALID, "float32, expected float16")


@pytest.mark.strict
@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"sizes": [4, 5]}, INVALID, "inputSizes has 2 numbers, expected 3"),
        ({"sizes": [4, 5, 7]}, INVALID, "gradIn has shape [4, 5, 6], expected [4, 5, 7], that of inputSizes"),
        ({"dim": 3}, INVALID, "dim is 3, expected -3 to 2"),
        ({"dim": 0}, TILING, "dim is 0, expected one of the last two dimensions of inputSizes"),
        ({"size": 0}, TILING, "size is 0, expected 1 to 5"),
        ({"size": 6}, TILING, "size is 6, expected 1 to 5"),
        ({"step": 0}, TILING, "step is 0, expected 1 to 88"),
        ({"step": 89}, TILING, "step is 89, expected 1 to 88"),
        ({"dim": 2, "step": 49089}, TILING, "step is 49089, expected 1 to 49088"),
        ({"step": 1}, TILING, "gradOut has shape [4, 2, 6, 2], expected [4, 4, 6, 2], that of the unfolded input"),
    ],
)
def test_unfold_grad_refuses(npu, changed, code, words):
    parts = {"sizes": [4, 5, 6], "dim": 1, "size": 2, "step": 3}
    gradient, out = blank(npu, "f4", (4, 2, 6, 2)), blank(npu, "f4", (4, 5, 6))
    sizes, *numbers = parts.values()
    assert npu.call("unfold_grad", gradient, npu.integers(sizes), *numbers, out) == 0
    refused(npu.call("unfold_grad", 0, npu.integers(sizes), *numbers, out), NULLPTR, "gradOut is NULL")
    refused(npu.call("unfold_grad", gradient, 0, *numbers, out), NULLPTR, "inputSizes is NULL")
    sizes, *numbers = {**parts, **changed}.values()
    refused(npu.call("unfold_grad", gradient, npu.integers(sizes), *numbers, out), code, words)


@pytest.mark.strict
def test_half_precision_has_smaller_windows(npu):
    gradient, out = blank(npu, "f2", (1, 2, 1)), blank(npu, "f2", (2, 2))
    refused(npu.call("unfold_grad", gradient, npu.integers([2, 2]), 0, 1, 73, out), TILING, "expected 1 to 72")
    refused(npu.call("unfold_grad", gradient, npu.integers([2, 2]), 1, 1, 32721, out), TILING, "expected 1 to 32720")
