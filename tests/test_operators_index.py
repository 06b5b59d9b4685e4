"""Embedding, Gather, GatherV2 and IndexSelect against NumPy: types, strides, refusals, indices out of range."""

import numpy
import pytest
from helpers.capture import begin, end, run
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, any_indices
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, any_shape, any_view, check_written
from helpers.tensors import CODES, Device
from hypothesis import given
from hypothesis import strategies as st

import acl


class Case:
    """A view with elements along the dimension that is indexed."""

    def __init__(self, draw, rank=None):
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.draw, self.kind = draw, draw(st.sampled_from(KINDS))
        shape = any_shape(draw) if rank is None else [draw(st.integers(0, 300)) for _ in range(rank)]
        self.axis = draw(st.integers(0, len(shape) - 1)) if shape and rank is None else 0
        if shape:
            shape[self.axis] = max(shape[self.axis], 1)
        self.base, self.view = any_view(draw, self.generator, shape, self.kind)
        self.line = self.view.reshape(shape or (1,))
        self.dim = self.axis - max(len(shape), 1) if draw(st.booleans()) else self.axis

    def run(self, npu, name, index, expected, *dim):
        self_, (base, view, kind) = npu.view(self.base, self.view, self.kind), index
        out = npu.view(*any_view(self.draw, self.generator, expected.shape, self.kind), self.kind)
        assert npu.call(name, self_, *dim, npu.view(base, view, kind), out) == 0
        check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_index_select(npu, data):
    case = Case(data.draw)
    shape = data.draw(st.sampled_from([[], [0], [1], [3], [300]]))
    index = any_indices(data.draw, case.generator, shape, case.line.shape[case.axis])
    case.run(npu, "index_select", index, numpy.take(case.line, index[1].reshape(-1), case.axis), case.dim)


@SETTINGS
@given(data=st.data())
def test_gather_v2(npu, data):
    case = Case(data.draw)
    shape = data.draw(st.lists(st.integers(0, 4), max_size=4))
    index = any_indices(data.draw, case.generator, shape, case.line.shape[case.axis], negative=True)
    case.run(npu, "gather_v2", index, numpy.take(case.line, index[1].reshape(shape or (1,)), case.axis), case.dim)


@SETTINGS
@given(data=st.data())
def test_embedding(npu, data):
    case = Case(data.draw, rank=2)
    index = any_indices(data.draw, case.generator, any_shape(data.draw), case.view.shape[0])
    case.run(npu, "embedding", index, numpy.take(case.view, index[1], 0))


@SETTINGS
@given(data=st.data())
def test_gather(npu, data):
    case = Case(data.draw)
    shape = [data.draw(st.integers(0, dim)) for dim in case.view.shape]
    if shape:
        shape[case.axis] = data.draw(st.integers(0, 5))
    index = any_indices(data.draw, case.generator, shape, case.line.shape[case.axis])
    part = case.line[tuple(slice(None if k == case.axis else dim) for k, dim in enumerate(shape or (1,)))]
    expected = numpy.take_along_axis(part, index[1].reshape(shape or (1,)), case.axis).reshape(shape)
    case.run(npu, "gather", index, expected, case.dim)


# --- refusals


def calls(npu, self, index, out, dim=0):
    return {
        "index_select": (self, dim, index, out),
        "gather_v2": (self, dim, index, out),
        "embedding": (self, index, out),
        "gather": (self, dim, index, out),
    }


PICKS = ["index_select", "gather_v2", "embedding", "gather"]


@pytest.fixture
def table(npu):
    return npu.tensor(numpy.arange(6, dtype="f4").reshape(3, 2))


def index_of(npu, name, values=(0, 2)):
    """Return indices of rows: for Gather two a row."""
    values = numpy.array(values, "i8")
    return npu.tensor(numpy.stack([values, values], -1) if name == "gather" else values)


@pytest.mark.strict
@pytest.mark.parametrize("name", PICKS)
def test_picks_refuse(npu, table, name, monkeypatch):
    index, out = index_of(npu, name), npu.tensor(numpy.zeros((2, 2), "f4"))
    fits = calls(npu, table, index, out)[name]
    assert npu.call(name, *fits) == 0
    assert npu.get(out).tolist() == [[0, 1], [4, 5]]
    for place, argument in enumerate(fits):
        if not isinstance(argument, int):
            refused(npu.call(name, *fits[:place], 0, *fits[place + 1 :]), NULLPTR, "is NULL")
    if name != "embedding":
        for dim in (2, -3):
            refused(
                npu.call(name, *calls(npu, table, index, out, dim)[name]), INVALID, f"dim is {dim}, expected -2 to 1"
            )
    for shape, words in (((2, 3), "out has shape [2, 3], expected [2, 2]"), ((2,), "out has shape [2]")):
        wrong = npu.tensor(numpy.zeros(shape, "f4"))
        refused(npu.call(name, *calls(npu, table, index, wrong)[name]), INVALID, words)
    wrong = npu.tensor(numpy.zeros((2, 2), "i4"))
    refused(npu.call(name, *calls(npu, table, index, wrong)[name]), INVALID, "int32, expected float32, that of")
    wrong = npu.tensor(numpy.zeros(index.view.shape, "i2"))
    refused(npu.call(name, *calls(npu, table, wrong, out)[name]), INVALID, "int16, expected int32 or int64")
    monkeypatch.setitem(CODES, "odd", 34)
    odd = npu.view(*[numpy.zeros((3, 2), "u1")] * 2, "odd")
    refused(npu.call(name, *calls(npu, odd, index, out)[name]), INVALID, "has data type 34, a type without")


@pytest.mark.strict
def test_shapes_of_indices_that_do_not_fit(npu, table):
    out, deep = npu.tensor(numpy.zeros((2, 2), "f4")), npu.tensor(numpy.zeros((2, 2, 1), "i8"))
    refused(npu.call("index_select", table, 0, deep, out), INVALID, "index has 3 dimensions, expected 0 to 1")
    refused(npu.call("gather", table, 0, deep, out), INVALID, "index has 3 dimensions, expected 2")
    wide = npu.tensor(numpy.zeros((2, 3), "i8"))
    words = "dimension 1 of index is 3, expected at most 2, the size in self"
    refused(npu.call("gather", table, 0, wide, npu.tensor(numpy.zeros((2, 3), "f4"))), INVALID, words)
    row = npu.tensor(numpy.zeros(2, "f4"))
    refused(npu.call("embedding", row, deep, out), INVALID, "weight has 1 dimensions, expected 2")
    many = npu.tensor(numpy.zeros([1] * 8, "i8"))
    refused(npu.call("gather_v2", table, 0, many, out), INVALID, "out has shape [2, 2], expected [1, ")
    empty, index = npu.tensor(numpy.zeros((0, 2), "f4")), npu.tensor(numpy.zeros((2, 2), "i8"))
    words = "dimension 0 of self is 0, expected 1 or more because the index is not empty"
    refused(npu.call("gather", empty, 0, index, out), INVALID, words)
    none = npu.tensor(numpy.zeros((0, 2), "f4"))
    assert npu.call("gather", empty, 0, npu.tensor(numpy.zeros((0, 2), "i8")), none) == 0


# --- indices out of range: the task fails, and what follows the first one is not written


@pytest.fixture
def fresh():
    """Make a device that may fail."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [3, -1, -4, 2**62, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("name", PICKS)
def test_an_index_out_of_range_fails_the_task(fresh, name, wrong):
    self = fresh.tensor(numpy.arange(1, 7, dtype="f4").reshape(3, 2))
    out = fresh.tensor(numpy.zeros((3, 2), "f4"))
    index = index_of(fresh, name, [1, wrong, 0])
    assert fresh.call(name, *calls(fresh, self, index, out)[name]) == 0
    if name == "gather_v2" and wrong == -1:  # counts from the end
        assert fresh.get(out).tolist() == [[3, 4], [5, 6], [1, 2]]
        return
    tensors = ("indices", "weight") if name == "embedding" else ("index", "self")
    where, least = ("[1, 0]" if name == "gather" else "[1]"), (-3 if name == "gather_v2" else 0)
    words = f"{tensors[0]}{where} is {wrong}, expected {least} to 2 for dimension 0 of {tensors[1]}"
    operator = "aclnn" + name.title().replace("_", "")
    refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, f"{operator} failed because {words}")
    found = numpy.full((3, 2), 7, "f4")
    assert acl.rt.memcpy(found.ctypes.data, found.nbytes, out.address, found.nbytes, 2) == 0
    assert found[1:].tolist() == [[0, 0], [0, 0]]


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", PICKS)
def test_an_index_out_of_range_fails_a_replay(fresh, name):
    """The indices are those that lie there when the instance runs."""
    self = fresh.tensor(numpy.arange(1, 7, dtype="f4").reshape(3, 2))
    out, index = fresh.tensor(numpy.zeros((2, 2), "f4")), index_of(fresh, name, [2, 0])
    begin(fresh.stream)
    assert fresh.call(name, *calls(fresh, self, index, out)[name]) == 0
    instance = end(fresh.stream)
    run(instance, fresh.stream)
    assert fresh.get(out).tolist() == [[5, 6], [1, 2]]
    wrong = index.base.copy()
    wrong[1] = 7
    assert acl.rt.memcpy(index.address, wrong.nbytes, wrong.ctypes.data, wrong.nbytes, 1) == 0
    assert acl.mdl.ri_execute_async(instance, fresh.stream) == 0
    operator = "aclnn" + name.title().replace("_", "")
    where = ("indices" if name == "embedding" else "index") + ("[1, 0]" if name == "gather" else "[1]")
    refused(
        acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, operator, f"{where} is 7, expected ", " to 2 for"
    )


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", ["index_select", "gather_v2", "embedding"])
def test_no_index_is_in_range_of_nothing(fresh, name):
    self, out = fresh.tensor(numpy.zeros((0, 2), "f4")), fresh.tensor(numpy.zeros((1, 2), "f4"))
    index = fresh.tensor(numpy.zeros(1, "i4"))
    assert fresh.call(name, *calls(fresh, self, index, out)[name]) == 0
    words = "[0] is 0, expected no index, as dimension 0 of "
    refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
