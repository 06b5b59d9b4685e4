"""SplitTensor and SplitWithSize against NumPy: types, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, any_view, blank, check_written
from hypothesis import given
from hypothesis import strategies as st


@SETTINGS
@given(data=st.data())
def test_split(npu, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from([*KINDS, "u4"])), draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    base, view = any_view(draw, generator, shape, kind)
    self, dim = npu.view(base, view, kind), draw(st.integers(-len(shape), len(shape) - 1))
    length = shape[dim]
    if draw(st.booleans()):
        size = draw(st.one_of(st.integers(1, 7), st.just(2**64 - 1), st.just(0) if length == 0 else st.just(1)))
        ends = list(range(size, length, size)) if size else []
        call = "split_tensor", self, size, dim
    else:
        ends = sorted(draw(st.lists(st.integers(0, length), max_size=3)))
        sizes = numpy.diff([0, *ends, length]).tolist()
        call = "split_with_size", self, npu.integers(sizes), dim
    parts = numpy.split(view, ends, dim)
    outs = [npu.view(*any_view(draw, generator, part.shape, kind), kind) for part in parts]
    assert npu.call(*call, npu.list(outs)) == 0
    for out, part in zip(outs, parts):
        check_written(npu, out, part)


@pytest.mark.strict
def test_splits_that_do_not_fit(npu):
    def parts(*lengths):
        return npu.list([blank(npu, "f4", (2, length)) for length in lengths])

    self = blank(npu, "f4", (2, 5))
    for call, size, dim, out, words in (
        ("split_tensor", 0, 1, (5,), "splitSections is 0, expected 1 or more"),
        ("split_tensor", 2, 1, (2, 3), "out has 2 tensors, expected 3: the dimension has 5 elements, each part 2"),
        ("split_tensor", 2, 1, (2, 1, 2), "out[1] has shape [2, 1], expected [2, 2], that of the part"),
        ("split_tensor", 2, 2, (2, 2, 1), "dim is 2, expected -2 to 1"),
        ("split_with_size", [2, 3], 1, (2, 3, 0), "splitSize has 2 numbers, expected 3"),
        ("split_with_size", [6], 1, (6,), "splitSize[0] is 6, expected 0 to 5, the rest of dimension 1 of self"),
        ("split_with_size", [-1, 6], 1, (0, 6), "splitSize[0] is -1, expected 0 to 5"),
        ("split_with_size", [2, 2], 1, (2, 2), "splitSize leaves 1 of dimension 1 of self over"),
    ):
        given = npu.integers(size) if isinstance(size, list) else size
        refused(npu.call(call, self, given, dim, parts(*out)), INVALID, words)
    whole = npu.list([blank(npu, "i4", (2, 5))])
    refused(npu.call("split_tensor", self, 5, 1, whole), INVALID, "out[0] has data type 3, int32")
    refused(npu.call("split_tensor", blank(npu, "f4", ()), 1, 0, whole), INVALID, "self has 0 dimensions")
    for place, words in ((0, "self is NULL"), (3, "out is NULL")):
        arguments = [self, 5, 1, parts(5)]
        arguments[place] = 0
        refused(npu.call("split_tensor", *arguments), NULLPTR, words)
    refused(npu.call("split_with_size", self, 0, 1, parts(5)), NULLPTR, "splitSize is NULL")
