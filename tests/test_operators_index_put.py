"""Index and IndexPutImpl against NumPy: several tensors of indices, masks, whole dimensions, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, any_indices, failing, updated
from helpers.operands import INVALID, KINDS, NULLPTR, ORDER, SETTINGS, any_view, blank, check_written, stretched
from hypothesis import given
from hypothesis import strategies as st

import acl

REAL = [kind for kind in KINDS if ORDER[kind] < 3]


def any_key(draw, npu, generator, shape, kind):
    """Return a list of tensors of indices into an array of this shape and kind, and the same as a key for NumPy."""
    common = draw(st.lists(st.integers(1, 4), max_size=2))
    tensors, key, dim, selects = [], [], 0, False
    while dim < len(shape) and (not selects or draw(st.integers(0, 4))):
        whole = ["whole"] * (selects or dim + 1 < len(shape))
        width, what = 1, draw(st.sampled_from(["indices", "indices", "mask", *whole]))
        selects = selects or what != "whole"
        if what == "mask":
            width = draw(st.integers(1, len(shape) - dim))
            base, mask = any_view(draw, generator, shape[dim : dim + width], "?")
            # One true element is broadcast together with any other indices.
            base[...] = False
            mask[tuple(0 for _ in range(width))] = True
            tensors.append(npu.view(base, mask, "?"))
            key.append(mask)
        elif what == "indices":
            base, view, chosen = any_indices(draw, generator, stretched(draw, common), shape[dim], negative=True)
            tensors.append(npu.view(base, view, chosen))
            key.append(view)
        else:
            tensors.append(blank(npu, kind, (0,)))
            key.append(slice(None))
        dim += width
    return npu.list(tensors), tuple(key)


class Case:
    """A view, and the tensors of indices that select some of its elements."""

    def __init__(self, draw, npu):
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind = draw(st.sampled_from(REAL))
        shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
        self.base, self.view = any_view(draw, self.generator, shape, self.kind)
        self.self = npu.view(self.base, self.view, self.kind)
        self.list, self.key = any_key(draw, npu, self.generator, shape, self.kind)


@SETTINGS
@given(data=st.data())
def test_index(npu, data):
    case = Case(data.draw, npu)
    expected = case.view[case.key]
    out = npu.view(*any_view(data.draw, case.generator, expected.shape, case.kind), case.kind)
    assert npu.call("index", case.self, case.list, out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_index_put(npu, data):
    case, accumulate = Case(data.draw, npu), data.draw(st.booleans())
    numbers = numpy.arange(case.view.size).reshape(case.view.shape)[case.key]
    base, values = any_view(data.draw, case.generator, stretched(data.draw, numbers.shape), case.kind)
    sources = numpy.broadcast_to(values, numbers.shape)
    changes = [
        (numpy.unravel_index(numbers[at], case.view.shape), sources[at]) for at in numpy.ndindex(*numbers.shape)
    ]
    expected = updated(case.view, case.kind, "add" if accumulate else "replace", changes)
    given_values = npu.view(base, values, case.kind)
    assert npu.call("index_put_impl", case.self, case.list, given_values, accumulate, data.draw(st.booleans())) == 0
    check_written(npu, case.self, expected)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_masks(npu, count):
    values, mask = numpy.arange(12, dtype="f4").reshape(3, 4), numpy.arange(12).reshape(3, 4) % 12 < count
    self, out = npu.tensor(values), blank(npu, "f4", (count,))
    assert npu.call("index", self, npu.list([npu.tensor(mask)]), out) == 0
    assert npu.get(out).tolist() == values[mask].tolist()
    other = npu.tensor(numpy.full(count, 50, "f4"))
    assert npu.call("index_put_impl", self, npu.list([npu.tensor(mask)]), other, True, False) == 0
    assert npu.get(self).tolist() == (values + 50 * mask).tolist()


# --- refusals


@pytest.mark.strict
@pytest.mark.parametrize("name", ["index", "index_put_impl"])
def test_selections_refuse(npu, name):
    self, other = blank(npu, "f4", (3, 2)), blank(npu, "f4", (2, 2))
    more = (True, False) if name == "index_put_impl" else ()

    def call(*shapes, self=self, other=other, kind="i8"):
        return npu.call(name, self, npu.list([blank(npu, kind, shape) for shape in shapes]), other, *more)

    assert call((2,)) == 0
    refused(call((2,), self=0), NULLPTR, "is NULL")
    refused(call((2,), other=0), NULLPTR, "is NULL")
    refused(call((2,), other=blank(npu, "f2", (2, 2))), INVALID, "float16, expected float32, that of self")
    refused(call((2,), self=blank(npu, "c8", (3, 2))), INVALID, "complex64, expected")
    refused(call((2,), kind="f4"), INVALID, "indices[0] has data type 0, float32, expected")
    refused(call((2,), (3,)), INVALID, "indices[1] cannot be broadcast together with the other tensors in indices")
    refused(call((2,), (2,), (2,)), INVALID, "indices has indices for more than 2 dimensions")
    refused(call((), kind="?"), INVALID, "indices[0] is a scalar, expected a mask of 1 dimension or more")
    refused(call((3, 1), kind="?"), INVALID, "dimension 1 of the mask indices[0] is 1, expected 2, the size in self")
    words = "cannot be broadcast to the shape of" if more else "out has shape [2, 2], expected [3, 2]"
    refused(call((3,)), INVALID, words)


def test_empty_tensors_of_indices(npu):
    """One of the type of self stands for a whole dimension, and one of indices selects nothing, if both fit."""
    values = numpy.arange(6, dtype="f4").reshape(3, 2)
    self, none, whole = npu.tensor(values), blank(npu, "i8", (0,)), blank(npu, "f4", (0,))
    one = npu.tensor(numpy.array([1]))
    for first in (whole, none):
        out = blank(npu, "f4", (3, 1))
        assert npu.call("index", self, npu.list([first, one]), out) == 0
        assert numpy.array_equal(npu.get(out), values[:, 1:])
    for indices, shape in (([none], (0, 2)), ([whole, none], (3, 0)), ([none, none], (0,)), ([none, one], (0,))):
        assert npu.call("index", self, npu.list(indices), blank(npu, "f4", shape)) == 0
        for other in (blank(npu, "f4", shape), npu.tensor(numpy.array(7, "f4"))):
            assert npu.call("index_put_impl", self, npu.list(indices), other, False, False) == 0
            assert numpy.array_equal(npu.get(self), values)
    for other in ((3, 1), (1,)):
        nines = npu.tensor(numpy.full(other, 9, "f4"))
        assert npu.call("index_put_impl", self, npu.list([whole, one]), nines, False, False) == 0
    assert npu.get(self).tolist() == [[0, 9], [2, 9], [4, 9]]
    column = npu.tensor(numpy.full((3, 1), 8, "f4"))  # which does not fit an empty selection
    assert npu.call("index_put_impl", self, npu.list([none, one]), column, False, False) == 0
    assert npu.get(self).tolist() == [[0, 8], [2, 8], [4, 8]]


@pytest.mark.parametrize(
    ("shape", "count", "result"),
    [((3, 4), 1, (0, 4)), ((3, 4), 2, (0,)), ((3, 4), 2, (3, 0)), ((0, 4), 2, (0, 0)), ((0, 4), 2, (0,))],
)
def test_empty_tensors_of_indices_of_the_type_of_self(npu, shape, count, result):
    """The shape of the result tells whole dimensions from indices that select nothing."""
    self, none, out = blank(npu, "i8", shape), blank(npu, "i8", (0,)), blank(npu, "i8", result)
    assert npu.call("index", self, npu.list([none] * count), out) == 0
    values = npu.tensor(numpy.arange(6).reshape(3, 2))
    assert npu.call("index_put_impl", values, npu.list([none] * count), npu.tensor(numpy.array(7)), False, False) == 0
    assert npu.get(values).tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [2, -3, 2**62, -(2**63)])
@pytest.mark.parametrize("name", ["index", "index_put_impl"])
def test_an_index_out_of_range_fails_the_task(name, wrong):
    with failing() as fresh:
        self, other = blank(fresh, "f4", (3, 2)), blank(fresh, "f4", (2, 2))
        lists = fresh.list([fresh.tensor(numpy.array([0, 1])), fresh.tensor(numpy.array([[0, 1], [wrong, 0]]))])
        more = (False, False) if name == "index_put_impl" else ()
        assert fresh.call(name, self, lists, other, *more) == 0
        words = f"indices[1][1, 0] is {wrong}, expected -2 to 1 for dimension 1 of self"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", ["index", "index_put_impl"])
def test_masks_that_select_another_number_of_elements(name):
    with failing() as fresh:
        self, other = blank(fresh, "f4", (3, 2)), blank(fresh, "f4", (2, 2))
        lists = fresh.list([fresh.tensor(numpy.ones(3, "?"))])
        more = (False, False) if name == "index_put_impl" else ()
        assert fresh.call(name, self, lists, other, *more) == 0
        words = "does not fit the number of elements that the masks select"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
