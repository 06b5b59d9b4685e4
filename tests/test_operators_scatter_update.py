"""InplaceScatterUpdate against NumPy: types, strides, lines and pairs of indices, refusals, indices out of range."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, INDICES, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, check_written
from hypothesis import given
from hypothesis import strategies as st

import acl

KINDS = ["u1", "i1", "i4", "f2", "b2", "f4"]


@SETTINGS
@given(data=st.data())
def test_scatter_update(npu, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, index_kind = draw(st.sampled_from(KINDS)), draw(st.sampled_from(INDICES))
    shape = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    axis, rank = draw(st.integers(1, len(shape) - 1)), draw(st.integers(0, 2))
    count, length = [1, draw(st.integers(1, shape[0])), 3][rank], draw(st.integers(1, shape[axis]))
    base, view = any_view(draw, generator, shape, kind)
    part = [count, *shape[1:axis], length, *shape[axis + 1 :]]
    source, values = any_view(draw, generator, part, kind)
    index_base, index = any_view(draw, generator, [[], [count], [count, 2]][rank], index_kind)
    index[...] = generator.integers(0, shape[axis] - length + 1, index.shape)
    if rank == 2:
        index[:, 0] = generator.integers(0, shape[0], count)
    places = index if rank == 2 else [(row, place) for row, place in enumerate(index.reshape(-1))]
    expected = view.copy()
    for value, (row, place) in zip(values, places):
        expected[row][(slice(None),) * (axis - 1) + (slice(place, place + length),)] = value
    self = npu.view(base, view, kind)
    arguments = npu.view(index_base, index, index_kind), npu.view(source, values, kind)
    dim = axis - len(shape) if draw(st.booleans()) else axis
    assert npu.call("inplace_scatter_update", self, *arguments, dim) == 0
    check_written(npu, self, expected)


@pytest.mark.strict
def test_scatter_update_refuses(npu):
    fits = {
        "self": blank(npu, "f4", (2, 3, 4)),
        "index": blank(npu, "i8", (2,)),
        "updates": blank(npu, "f4", (2, 3, 1)),
        "axis": 2,
    }

    def call(**changed):
        return npu.call("inplace_scatter_update", *{**fits, **changed}.values())

    assert call() == 0
    for part in ("self", "index", "updates"):
        refused(call(**{part: 0}), NULLPTR, "is NULL")
    refused(call(self=blank(npu, "f8", (2, 3, 4))), INVALID, "data has data type 11, float64, expected")
    refused(call(updates=blank(npu, "f2", (2, 3, 1))), INVALID, "float16, expected float32, that of data")
    refused(call(index=blank(npu, "i2", (2,))), INVALID, "indices has data type 6, int16, expected int32 or int64")
    refused(call(index=blank(npu, "i8", (2, 2, 2))), INVALID, "indices has 3 dimensions, expected 0 to 2")
    refused(call(index=blank(npu, "i8", (2, 3))), INVALID, "dimension 1 of indices is 3, expected 2")
    refused(call(index=blank(npu, "i8", (0,))), INVALID, "indices has no elements, expected 1 or more")
    refused(call(axis=0), INVALID, "axis is 0, expected another dimension than the first")
    refused(call(axis=3), INVALID, "axis is 3, expected -3 to 2")
    refused(call(updates=blank(npu, "f4", (2, 3))), INVALID, "updates has 2 dimensions, expected 3")
    refused(call(updates=blank(npu, "f4", (2, 2, 1))), INVALID, "updates has shape [2, 2, 1], expected [2, 3, 1]")
    words = "dimension 2 of updates is 5, expected at most 4, the size in data"
    refused(call(updates=blank(npu, "f4", (2, 3, 5))), INVALID, words)
    more = {"index": blank(npu, "i8", (3,)), "updates": blank(npu, "f4", (3, 3, 1))}
    refused(call(**more), INVALID, "dimension 0 of updates is 3, expected at most 2, the size in data")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("index", "words"),
    [
        ([0, 3], "indices has 3 for dimension 1 of data, expected 0 to 2 for slice 1"),
        ([-1, 0], "indices has -1 for dimension 1 of data, expected 0 to 2 for slice 0"),
        ([[0, 0], [2, 0]], "indices has 2 for dimension 0 of data, expected 0 to 1 for slice 1"),
    ],
)
def test_an_index_out_of_range_fails_the_task(index, words):
    with failing() as fresh:
        self, updates = blank(fresh, "f4", (2, 4)), blank(fresh, "f4", (2, 2))
        assert fresh.call("inplace_scatter_update", self, fresh.tensor(numpy.array(index)), updates, 1) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
