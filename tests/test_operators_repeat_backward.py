"""RepeatInterleaveGrad against NumPy: types, strides, refusals, repetitions that do not fit."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, INDICES, failing
from helpers.norms import Case, agree
from helpers.operands import INVALID, KINDS, NULLPTR, blank
from helpers.pointwise import FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st

import acl

NAME = "repeat_interleave_grad"


@FEWER
@given(data=st.data())
def test_gradient(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    shape = [draw(st.integers(0, 3)) for _ in range(draw(st.integers(1, 4)))]
    axis = draw(st.integers(0, len(shape) - 1))
    shape[axis] = draw(st.integers(1, 4))
    one = shape[axis] == 1 or draw(st.booleans())
    repeats = [draw(st.integers(1, 3))] if one else [draw(st.integers(0, 3)) for _ in range(shape[axis])]
    places = numpy.repeat(numpy.arange(shape[axis]), repeats * shape[axis] if len(repeats) == 1 else repeats)
    gradient, values = case.take([*shape[:axis], len(places), *shape[axis + 1 :]])
    sums = numpy.zeros(shape)
    numpy.add.at(sums, (slice(None),) * axis + (places,), values)
    flat = one and draw(st.booleans())
    kind = draw(st.sampled_from(INDICES))
    count = npu.tensor(numpy.array(repeats[0] if flat else repeats, kind))
    out, _ = case.take(shape)
    assert npu.call(NAME, gradient, count, axis - len(shape) if draw(st.booleans()) else axis, out) == 0
    agree(npu, out, sums, 100.0)


def test_the_result_may_have_another_shape(npu):
    out = blank(npu, "f4", (2, 1, 3))
    gradient = npu.tensor(numpy.arange(12, dtype="f4").reshape(4, 3))
    assert npu.call(NAME, gradient, npu.tensor(numpy.array([1, 3])), 0, out) == 0
    assert npu.get(out).tolist() == [[[0, 1, 2]], [[18, 21, 24]]]
    scalar, one = npu.tensor(numpy.array(5, "f4")), blank(npu, "f4", ())
    assert npu.call(NAME, scalar, npu.tensor(numpy.array(1)), 0, one) == 0
    assert npu.get(one) == 5


@pytest.mark.strict
def test_refused(npu):
    gradient, repeats, out = blank(npu, "f4", (4, 3)), npu.tensor(numpy.array([2, 2])), blank(npu, "f4", (2, 3))
    for kind in KINDS:
        ret = npu.call(NAME, blank(npu, kind, (4, 3)), repeats, 0, blank(npu, kind, (2, 3)))
        assert ret == (0 if kind in SINGLE else INVALID), kind
        if kind not in INDICES:
            refused(npu.call(NAME, gradient, blank(npu, kind, (2,)), 0, out), INVALID, "repeats has data type")
    refused(npu.call(NAME, gradient, repeats, 0, blank(npu, "f2", (2, 3))), INVALID, "float16, expected float32")
    refused(npu.call(NAME, gradient, repeats, 2, out), INVALID, "axis is 2, expected -2 to 1")
    refused(npu.call(NAME, gradient, blank(npu, "i8", (1, 2)), 0, out), INVALID, "repeats has 2 dimensions")
    refused(npu.call(NAME, gradient, blank(npu, "i8", (0,)), 0, out), 561002, "repeats has no elements")
    words = "out has 9 elements, expected 3 for each index of axis"
    refused(npu.call(NAME, gradient, repeats, 0, blank(npu, "f4", (3, 3))), INVALID, words)
    refused(npu.call(NAME, gradient, 0, 0, out), NULLPTR, "repeats is NULL")
    refused(npu.call(NAME, 0, repeats, 0, out), NULLPTR, "yGrad is NULL")


@pytest.mark.needs_sim
@pytest.mark.parametrize("repeats", [[2, 3], [5, -1], [-4, 8]])
def test_repetitions_that_do_not_add_up(repeats):
    with failing() as fresh:
        gradient, out = blank(fresh, "f4", (4, 2)), blank(fresh, "f4", (2, 2))
        assert fresh.call(NAME, gradient, fresh.tensor(numpy.array(repeats)), 0, out) == 0
        words = f"repeats adds up to {sum(repeats)}, expected 4, the size of the axis"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
