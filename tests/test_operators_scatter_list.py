"""ScatterList against NumPy: types, strides, positions and lengths, masks, refusals, positions out of range."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, INDICES, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, check_written
from hypothesis import given
from hypothesis import strategies as st

import acl

KINDS = ["u1", "i1", "i2", "i4", "u2", "u4", "f2", "b2", "f4"]


@SETTINGS
@given(data=st.data())
def test_scatter_list(npu, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, count = draw(st.sampled_from(KINDS)), draw(st.integers(1, 4))
    slice_shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis, pairs = draw(st.integers(0, len(slice_shape) - 1)), draw(st.booleans())
    lengths = generator.integers(0, slice_shape[axis] + 1, count) if pairs else [slice_shape[axis]] * count
    members, starts = [], []
    for length in lengths:
        shape = list(slice_shape)
        shape[axis] += draw(st.integers(0, 4))
        members.append(any_view(draw, generator, shape, kind))
        starts.append(draw(st.integers(0, shape[axis] - int(length))))
    source, values = any_view(draw, generator, [count, *slice_shape], kind)
    index = numpy.array([starts, lengths]).T if pairs else numpy.array(starts)
    flags = generator.integers(0, 2, count).astype("u1") if draw(st.booleans()) else None
    tensors, expected = [npu.view(*each, kind) for each in members], [view.copy() for _, view in members]
    for place, (start, length) in enumerate(zip(starts, lengths)):
        if flags is None or flags[place]:
            before = (slice(None),) * axis
            expected[place][(*before, slice(start, start + length))] = values[place][(*before, slice(0, length))]
    operands = (
        npu.list(tensors),
        npu.tensor(index.astype(draw(st.sampled_from(INDICES)))),
        npu.view(source, values, kind),
    )
    dim = draw(st.sampled_from([axis, axis - len(slice_shape)]))
    mask = 0 if flags is None else npu.tensor(flags)
    assert npu.call("scatter_list", *operands, mask, draw(st.sampled_from([0, "update"])), dim) == 0
    for tensor, wanted in zip(tensors, expected):
        check_written(npu, tensor, wanted)


@pytest.mark.strict
def test_refusals(npu):
    members, index, updates = (
        [blank(npu, "f4", (3, 8, 2)) for _ in "ab"],
        blank(npu, "i4", (2,)),
        blank(npu, "f4", (2, 3, 1, 2)),
    )

    def call(members=members, index=index, updates=updates, mask=0, reduce="update", axis=-2):
        return npu.call("scatter_list", npu.list(members), index, updates, mask, reduce, axis)

    assert call() == 0
    refused(npu.call("scatter_list", 0, index, updates, 0, "update", -2), NULLPTR, "varRef is NULL")
    refused(call(index=0), NULLPTR, "indice is NULL")
    refused(call(updates=0), NULLPTR, "updates is NULL")
    refused(call(updates=blank(npu, "f8", (2, 3, 1, 2))), INVALID, "updates has data type 11, float64, expected")
    refused(
        call(updates=blank(npu, "f2", (2, 3, 1, 2))), INVALID, "varRef[0] has data type 0, float32, expected float16"
    )
    refused(call(reduce="add"), INVALID, 'reduceOptional is "add", expected update')
    refused(call(axis=3), INVALID, "axis is 3, expected -3 to 2")
    refused(call(members=members[:1]), INVALID, "varRef has 1 tensors, expected 2, the size of dimension 0 of updates")
    refused(call(members=[members[0], blank(npu, "f4", (8, 2))]), INVALID, "varRef[1] has 2 dimensions, expected 3")
    refused(call(members=[members[0], blank(npu, "f4", (2, 8, 2))]), INVALID, "varRef[1] has shape [2, 8, 2]")
    refused(call(updates=blank(npu, "f4", (2, 3, 9, 2))), INVALID, "dimension 1 of varRef[0] is 8, expected 9 or more")
    refused(call(index=blank(npu, "i4", (3,))), INVALID, "indice has shape [3], expected [2], one position per tensor")
    refused(call(index=blank(npu, "i4", (2, 3))), INVALID, "indice has shape [2, 3], expected [2, 2]")
    refused(call(mask=index), INVALID, "maskOptional has data type 3, int32, expected uint8")


@pytest.mark.needs_sim
@pytest.mark.parametrize(("index", "start", "length"), [([0, 4], 4, 1), ([-1, 0], -1, 1), ([[0, 1], [0, 2]], 0, 2)])
def test_a_position_out_of_range_fails_the_task(index, start, length):
    with failing() as fresh:
        members, updates = [blank(fresh, "f4", (3, 4)) for _ in "ab"], blank(fresh, "f4", (2, 3, 1))
        operands = fresh.list(members), fresh.tensor(numpy.array(index)), updates
        assert fresh.call("scatter_list", *operands, 0, "update", -1) == 0
        words = f"indice has position {start} and length {length} for tensor"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
