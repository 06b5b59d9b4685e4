"""ConfusionTranspose against NumPy: types, strides, both orders of the two steps, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, check_written
from hypothesis import given
from hypothesis import strategies as st

KINDS = ["?", "u1", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "b2", "f4", "f8"]


def regrouped(draw, shape):
    """Return another shape of as many elements: neighbours joined, and dimensions of 1 added."""
    found = []
    for size in shape:
        if found and draw(st.booleans()):
            found[-1] *= size
        else:
            found.append(size)
    return [1] * draw(st.integers(0, 1)) + found


@pytest.mark.parametrize("is_first", [False, True])
@SETTINGS
@given(data=st.data())
def test_confusion_transpose(npu, is_first, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(KINDS)), draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    if is_first:
        perm = draw(st.permutations(range(len(shape))))
        target = regrouped(draw, [shape[axis] for axis in perm])
    else:
        target = regrouped(draw, shape)
        perm = draw(st.permutations(range(len(target))))
    base, view = any_view(draw, generator, shape, kind)
    expected = view.transpose(perm).reshape(target) if is_first else view.reshape(target).transpose(perm)
    out_base, out_view = any_view(draw, generator, list(expected.shape), kind)
    out = npu.view(out_base, out_view, kind)
    signed = [axis - len(perm) if draw(st.booleans()) else axis for axis in perm]
    operands = npu.view(base, view, kind), npu.integers(signed), npu.integers(target)
    assert npu.call("confusion_transpose", *operands, is_first, out) == 0
    check_written(npu, out, expected)


@pytest.mark.strict
def test_refusals(npu):
    x, out = blank(npu, "f4", (2, 3)), blank(npu, "f4", (3, 2))

    def call(x=x, perm=(1, 0), shape=(3, 2), out=out):
        return npu.call("confusion_transpose", x, npu.integers(perm), npu.integers(shape), True, out)

    assert call() == 0
    refused(call(x=0), NULLPTR, "x is NULL")
    refused(call(out=0), NULLPTR, "out is NULL")
    refused(call(x=blank(npu, "c8", (2, 3))), INVALID, "x has data type 16, complex64, expected")
    refused(call(out=blank(npu, "i4", (3, 2))), INVALID, "int32, expected float32")
    refused(call(perm=(1, 1)), INVALID, "perm")
    refused(call(perm=(0,)), INVALID, "perm has 1 numbers, expected 2")
    refused(call(shape=(4, 2)), INVALID, "shape has 2 numbers, expected a shape of 6 elements, those of x")
    refused(call(shape=(-3, -2)), INVALID, "shape has 2 numbers, expected a shape of 6 elements, those of x")
    refused(call(shape=(6,)), INVALID, "out has shape [3, 2], expected [6], that of the result")
