"""Take, InplacePut, InplaceMaskedScatter and SearchSorted against NumPy: types, strides, order, refusals."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, any_indices, failing, updated
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    ORDER,
    SETTINGS,
    UNSIGNED,
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    stretched,
)
from hypothesis import given
from hypothesis import strategies as st

import acl

REAL = [kind for kind in KINDS if ORDER[kind] < 3]
SEARCHED = ["u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


class Case:
    """A view whose elements are counted."""

    def __init__(self, draw, npu, kinds, least=0):
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.kind, self.shape = draw(st.sampled_from(kinds)), any_shape(draw)
        self.shape = [max(dim, least) for dim in self.shape]
        self.base, self.view = any_view(draw, self.generator, self.shape, self.kind)
        self.self = npu.view(self.base, self.view, self.kind)


@SETTINGS
@given(data=st.data())
def test_take(npu, data):
    case = Case(data.draw, npu, KINDS + UNSIGNED, least=1)
    index = any_indices(data.draw, case.generator, any_shape(data.draw), case.view.size, negative=True)
    out = npu.view(*any_view(data.draw, case.generator, index[1].shape, case.kind), case.kind)
    assert npu.call("take", case.self, npu.view(*index), out) == 0
    check_written(npu, out, case.view.reshape(-1)[index[1]])


@SETTINGS
@given(data=st.data())
def test_put(npu, data):
    case, accumulate = Case(data.draw, npu, KINDS, least=1), data.draw(st.booleans())
    shape = data.draw(st.sampled_from([[], [0], [1], [2, 3], [6]]))
    index = any_indices(data.draw, case.generator, shape, case.view.size, negative=True)
    base, values = any_view(data.draw, case.generator, [6, 1] if shape == [2, 3] else shape, case.kind)
    changes = list(zip(index[1].reshape(-1), values.reshape(-1)))
    expected = updated(case.view.reshape(-1), case.kind, "add" if accumulate else "replace", changes)
    assert npu.call("inplace_put", case.self, npu.view(*index), npu.view(base, values, case.kind), accumulate) == 0
    check_written(npu, case.self, expected.reshape(case.shape))


@SETTINGS
@given(data=st.data())
def test_masked_scatter(npu, data):
    case, kind = Case(data.draw, npu, REAL), data.draw(st.sampled_from(["?", "u1"]))
    base, mask = any_view(data.draw, case.generator, stretched(data.draw, case.shape), kind)
    base[...] = base % 2 if kind == "u1" else base
    whole = numpy.broadcast_to(mask, case.shape) != 0
    source, values = any_view(data.draw, case.generator, [whole.sum() + data.draw(st.integers(0, 2))], case.kind)
    expected = case.view.copy()
    expected[whole] = values[: whole.sum()]
    arguments = npu.view(base, mask, kind), npu.view(source, values, case.kind)
    assert npu.call("inplace_masked_scatter", case.self, *arguments) == 0
    check_written(npu, case.self, expected)


# --- SearchSorted


def places_of(lines, values, right):
    """Return where values belong in sorted lines, each line with its own values."""
    side, shape = "right" if right else "left", values.shape
    if lines.ndim == 1:
        return numpy.searchsorted(lines, values, side)
    values, lines = values.reshape(-1, shape[-1]), lines.reshape(math.prod(shape[:-1]), -1)
    return numpy.array([numpy.searchsorted(*pair, side) for pair in zip(lines, values)]).reshape(shape)


@SETTINGS
@given(data=st.data())
def test_search(npu, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, other = draw(st.sampled_from(SEARCHED)), draw(st.sampled_from(SEARCHED))
    outer = draw(st.lists(st.integers(1, 3), max_size=2))
    values_shape = [*(outer or draw(st.lists(st.integers(1, 3), max_size=2))), draw(st.integers(1, 6))]
    lines = [*outer, draw(st.sampled_from([0, 1, 5, 300]))]
    base, view = any_view(draw, generator, lines, kind)
    sorts = draw(st.booleans())
    order = numpy.argsort(view, -1, kind="stable")
    if not sorts:
        view[...] = numpy.take_along_axis(view, order, -1)
    own, values = any_view(draw, generator, values_shape, other)
    narrow, right = draw(st.booleans()), draw(st.booleans())
    result = "i4" if narrow else "i8"
    out = npu.view(*any_view(draw, generator, values_shape, result), result)
    sorter = npu.tensor(order.astype("i8")) if sorts else 0
    sequence, self_ = npu.view(base, view, kind), npu.view(own, values, other)
    assert npu.call("search_sorted", sequence, self_, narrow, right, sorter, out) == 0
    check_written(npu, out, places_of(exact(numpy.sort(view, -1), kind), exact(values, other), right))


@pytest.mark.parametrize("right", [False, True])
def test_search_for_one_number(npu, right):
    sequence = npu.tensor(numpy.array([1, 2, 2, numpy.inf], "f4"))
    for number, left in ((2, 1), (0.5, 0), (numpy.inf, 3), (numpy.nan, 4)):
        out = blank(npu, "i8", ())
        assert npu.call("search_sorteds", sequence, npu.scalar(number), False, right, 0, out) == 0
        assert npu.get(out) == left + {2: 2 * right, numpy.inf: right}.get(number, 0)


# --- refusals


@pytest.mark.strict
def test_counted_elements_refuse(npu):
    self, index, out = blank(npu, "f4", (3, 2)), blank(npu, "i8", (2,)), blank(npu, "f4", (2,))
    assert npu.call("take", self, index, out) == npu.call("inplace_put", self, index, out, False) == 0
    refused(npu.call("take", self, 0, out), NULLPTR, "is NULL")
    refused(npu.call("inplace_put", self, index, 0, False), NULLPTR, "is NULL")
    short, wrong = blank(npu, "f4", (3,)), blank(npu, "i4", (2,))
    refused(npu.call("take", self, index, short), INVALID, "out has shape [3], expected [2], that of index")
    refused(npu.call("take", self, index, wrong), INVALID, "int32, expected float32, that of self")
    refused(npu.call("take", self, short, out), INVALID, "index has data type 0, float32, expected int32 or int64")
    words = "source has 3 elements, expected 2, as many as index"
    refused(npu.call("inplace_put", self, index, short, False), INVALID, words)
    refused(npu.call("inplace_put", self, index, wrong, False), INVALID, "int32, expected float32, that of self")
    words = "selfRef has no elements, expected 1 or more because index is not empty"
    refused(npu.call("inplace_put", blank(npu, "f4", (0,)), index, out, False), INVALID, words)
    mask = blank(npu, "?", (2,))
    assert npu.call("inplace_masked_scatter", self, mask, out) == 0
    refused(npu.call("inplace_masked_scatter", self, mask, 0), NULLPTR, "is NULL")
    refused(npu.call("inplace_masked_scatter", self, mask, wrong), INVALID, "int32, expected float32, that of self")
    refused(npu.call("inplace_masked_scatter", self, index, out), INVALID, "mask has data type 9, int64, expected")
    refused(npu.call("inplace_masked_scatter", self, blank(npu, "?", (3,)), out), INVALID)


@pytest.mark.strict
def test_search_refuses(npu):
    lines, self, out = blank(npu, "f4", (2, 3)), blank(npu, "f4", (2, 4)), blank(npu, "i8", (2, 4))

    def call(lines=lines, self=self, out=out, sorter=0, narrow=False):
        return npu.call("search_sorted", lines, self, narrow, False, sorter, out)

    assert call() == 0
    refused(call(self=0), NULLPTR, "is NULL")
    refused(call(lines=blank(npu, "b2")), INVALID, "sortedSequence has data type 27, bfloat16, expected")
    refused(call(narrow=True), INVALID, "out has data type 9, int64, expected int32")
    refused(call(sorter=blank(npu, "i8", (3,))), INVALID, "sorter has shape [3], expected [2, 3]")
    refused(call(sorter=blank(npu, "i4", (2, 3))), INVALID, "int32, expected int64")
    refused(call(self=blank(npu, "f4", (4,))), INVALID, "self has 1 dimensions, expected 2")
    refused(call(self=blank(npu, "f4", (3, 4))), INVALID, "dimension 0 of self is 3, expected 2, the size in sorted")
    refused(call(out=blank(npu, "i8", (2, 3))), INVALID, "out has shape [2, 3], expected [2, 4], that of self")


# --- tasks that fail


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("take", "index[1] is 7, expected -6 to 5 for all elements of self"),
        ("inplace_put", "index[1] is 7, expected -6 to 5 for all elements of selfRef"),
        ("inplace_masked_scatter", "source has 2 elements, expected 1 for each element that the mask selects"),
        ("search_sorted", "sorter[1] is 7, expected 0 to 1 for dimension 0 of sortedSequence"),
    ],
)
def test_tasks_that_fail(name, words):
    with failing() as fresh:
        self, index, two = blank(fresh, "f4"), fresh.tensor(numpy.array([0, 7])), blank(fresh, "f4", (2,))
        arguments = {
            "take": (self, index, two),
            "inplace_put": (self, index, two, False),
            "inplace_masked_scatter": (self, fresh.tensor(numpy.ones(3, "?")), two),
            "search_sorted": (two, two, False, True, index, blank(fresh, "i8", (2,))),
        }
        assert fresh.call(name, *arguments[name]) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
