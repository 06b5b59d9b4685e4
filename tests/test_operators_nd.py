"""GatherNd, ScatterNd and ScatterNdUpdate against NumPy: types, strides, refusals, positions out of range."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, INDICES, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_view, blank, check_written
from hypothesis import given
from hypothesis import strategies as st

import acl

KINDS = {
    "gather_nd": ["?", "u1", "i1", "i4", "i8", "f2", "b2", "f4"],
    "scatter_nd": ["?", "f2", "b2", "f4"],
    "scatter_nd_update": ["?", "i1", "i8", "f2", "b2", "f4"],
}


class Case:
    """A view, positions in its first dimensions, and the parts that belong to them."""

    def __init__(self, draw, npu, name, negative=False):
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind, self.draw = draw(st.sampled_from(KINDS[name])), draw
        shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
        self.base, self.view = any_view(draw, self.generator, shape, self.kind)
        self.self = npu.view(self.base, self.view, self.kind)
        depth, outer = draw(st.integers(0, len(shape))), draw(st.lists(st.integers(0, 4), max_size=2))
        kind = draw(st.sampled_from(INDICES))
        base, view = any_view(draw, self.generator, [*outer, depth], kind)
        for k in range(depth):
            view[..., k] = self.generator.integers(-shape[k] if negative else 0, shape[k], outer)
        self.index = npu.view(base, view, kind)
        self.positions = [tuple(view[at]) for at in numpy.ndindex(*outer)]
        self.parts = any_view(draw, self.generator, [*outer, *shape[depth:]], self.kind)
        self.outer = outer


@SETTINGS
@given(data=st.data())
def test_gather_nd(npu, data):
    negative = data.draw(st.booleans())
    case = Case(data.draw, npu, "gather_nd", negative)
    expected = numpy.empty_like(case.parts[1])
    for at, position in zip(numpy.ndindex(*case.outer), case.positions):
        expected[at] = case.view[position]
    out = npu.view(*case.parts, case.kind)
    assert npu.call("gather_nd", case.self, case.index, negative, out) == 0
    check_written(npu, out, expected)


@pytest.mark.parametrize("name", ["scatter_nd", "scatter_nd_update"])
@SETTINGS
@given(data=st.data())
def test_scatter_nd(npu, name, data):
    case = Case(data.draw, npu, name)
    expected, out = case.view.copy(), case.self
    for at, position in zip(numpy.ndindex(*case.outer), case.positions):
        expected[position] = case.parts[1][at]
    arguments = [case.self, case.index, npu.view(*case.parts, case.kind)]
    if name == "scatter_nd":
        out = npu.view(*any_view(data.draw, case.generator, case.view.shape, case.kind), case.kind)
        arguments.append(out)
    assert npu.call(name, *arguments) == 0
    check_written(npu, out, expected)


def arguments_of(self, index, parts, out):
    return {
        "gather_nd": (self, index, False, parts),
        "scatter_nd": (self, index, parts, out),
        "scatter_nd_update": (self, index, parts),
    }


@pytest.mark.strict
@pytest.mark.parametrize("name", list(KINDS))
def test_positions_refuse(npu, name):
    fits = {
        "self": blank(npu, "f4", (3, 2)),
        "index": blank(npu, "i8", (4, 1)),
        "parts": blank(npu, "f4", (4, 2)),
        "out": blank(npu, "f4", (3, 2)),
    }

    def call(**changed):
        return npu.call(name, *arguments_of(**{**fits, **changed})[name])

    assert call() == 0
    for part in ("self", "index", "parts"):
        refused(call(**{part: 0}), NULLPTR, "is NULL")
    refused(call(self=blank(npu, "c8", (3, 2))), INVALID, "complex64, expected")
    refused(call(index=blank(npu, "f4", (4, 1))), INVALID, "indices has data type 0, float32, expected int32 or int64")
    refused(call(index=blank(npu, "i8", ())), INVALID, "indices has 0 dimensions, expected 1 to 8")
    words = "the last dimension of indices is 3, expected at most 2, the number of dimensions of"
    refused(call(index=blank(npu, "i8", (4, 3))), INVALID, words)
    refused(call(parts=blank(npu, "f4", (3, 2))), INVALID, "has shape [3, 2], expected [4, 2]")
    refused(call(parts=blank(npu, "f2", (4, 2))), INVALID, "float16, expected float32, that of")
    if name == "scatter_nd":
        refused(call(out=blank(npu, "f4", (3, 3))), INVALID, "out has shape [3, 3], expected [3, 2]")
        refused(call(out=blank(npu, "f2", (3, 2))), INVALID, "float16, expected float32, that of data")


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", list(KINDS))
@pytest.mark.parametrize("wrong", [2, -1])
def test_a_position_out_of_range_fails_the_task(name, wrong):
    with failing() as fresh:
        self, index = blank(fresh, "f4", (3, 2)), fresh.tensor(numpy.array([[0, 1], [2, wrong]]))
        parts, out = blank(fresh, "f4", (2,)), blank(fresh, "f4", (3, 2))
        assert fresh.call(name, *arguments_of(self, index, parts, out)[name]) == 0
        whose = {"gather_nd": "self", "scatter_nd": "data", "scatter_nd_update": "varRef"}[name]
        words = f"indices has {wrong} for dimension 1 of {whose}, expected 0 to 1"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
