"""Cat, Flip, Permute, Repeat, Slice, SliceV2 and Stack against NumPy: types, strides, refusals."""

import functools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    ORDER,
    SETTINGS,
    any_shape,
    any_view,
    blank,
    casts,
    check_written,
    exact,
    meet,
    moved,
    stored,
)
from helpers.tables import every
from helpers.tensors import CODES, storage
from hypothesis import given
from hypothesis import strategies as st

TOO_MANY = 561103


def from_either_end(draw, dim, rank):
    """Return a dimension as it is or counted from the end."""
    return dim - rank if draw(st.booleans()) else dim


@SETTINGS
@given(data=st.data())
def test_permute(npu, data):
    axes = []

    def permute(view):
        axes.extend(data.draw(st.permutations(range(view.ndim))))
        return view.transpose(axes)

    self, out, expected = moved(data.draw, npu, permute)
    dims = [from_either_end(data.draw, axis, len(axes)) for axis in axes]
    assert npu.call("permute", self, npu.integers(dims), out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_flip(npu, data):
    axes = []

    def flip(view):
        axes.extend(data.draw(st.lists(st.integers(0, view.ndim - 1), unique=True)))
        return numpy.flip(view, axes)

    self, out, expected = moved(data.draw, npu, flip, least=1)
    dims = [from_either_end(data.draw, axis, expected.ndim) for axis in axes]
    assert npu.call("flip", self, npu.integers(dims), out) == 0
    check_written(npu, out, expected)


ENDS = st.one_of(st.integers(-7, 7), st.sampled_from([-(2**63), 2**63 - 1, -600, 600]))
STEPS = st.one_of(st.integers(1, 4), st.just(2**63 - 1))


@SETTINGS
@given(data=st.data(), start=ENDS, end=ENDS, step=STEPS)
def test_slice(npu, data, start, end, step):
    dims = []

    def cut(view):
        dims.append(data.draw(st.integers(0, view.ndim - 1)))
        return view[(*[slice(None)] * dims[0], slice(start, end, step))]

    self, out, expected = moved(data.draw, npu, cut, least=1)
    dim = from_either_end(data.draw, dims[0], expected.ndim)
    assert npu.call("slice", self, dim, start, end, step, out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_slice_v2(npu, data):
    cuts = {}

    def cut(view):
        for axis in data.draw(st.lists(st.integers(0, view.ndim - 1), unique=True)):
            cuts[axis] = tuple(data.draw(each) for each in (ENDS, ENDS, STEPS))
        return view[tuple(slice(*cuts.get(axis, (None,))) for axis in range(view.ndim))]

    self, out, expected = moved(data.draw, npu, cut, least=1)
    starts, ends, steps = ([cut[i] for cut in cuts.values()] for i in range(3))
    axes = [from_either_end(data.draw, axis, expected.ndim) for axis in cuts]
    assert npu.call("slice_v2", self, *map(npu.integers, (starts, ends, axes, steps)), out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_repeat(npu, data):
    repeats = []

    def repeat(view):
        count = data.draw(st.integers(view.ndim, 6))
        repeated = data.draw(st.lists(st.integers(0, max(count - 1, 0)), unique=True, max_size=min(count, 3)))
        repeats.extend(data.draw(st.integers(0, 3)) if i in repeated else 1 for i in range(count))
        return numpy.tile(view, repeats)

    self, out, expected = moved(data.draw, npu, repeat)
    assert npu.call("repeat", self, npu.integers(repeats), out) == 0
    check_written(npu, out, expected)


@st.composite
def cats(draw):
    """Draw the kinds and views of some members, whose shapes differ in one dimension, and of the result."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shape = any_shape(draw, least=1)
    dim = draw(st.integers(0, len(shape) - 1))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    if draw(st.booleans()):
        kinds = kinds[:1] * len(kinds)
    kind = functools.reduce(meet, kinds)
    out_kind = draw(st.sampled_from([one for one in KINDS if casts(kind, one)]))
    views = []
    for one in kinds:
        shape[dim] = draw(st.integers(0, 4))
        nothing = views and draw(st.integers(0, 5)) == 0
        views.append(any_view(draw, generator, [0] if nothing else shape, one))
    shape[dim] = sum(view.shape[dim] for _, view in views if view.shape != (0,))
    return kinds, kind, out_kind, views, any_view(draw, generator, shape, out_kind), dim


def cast_through(values, one, kind, out_kind):
    """Return values of a kind as they come out of the kind that all members meet in."""
    values = exact(values, one)
    return stored(values.astype(kind) if ORDER[kind] < 2 else values, out_kind)


@SETTINGS
@given(case=cats(), data=st.data())
def test_cat(npu, case, data):
    kinds, kind, out_kind, views, result, dim = case
    members = npu.list([npu.view(*view, one) for view, one in zip(views, kinds)])
    out = npu.view(*result, out_kind)
    assert npu.call("cat", members, from_either_end(data.draw, dim, result[1].ndim), out) == 0
    parts = [cast_through(view, one, kind, out_kind) for (_, view), one in zip(views, kinds)]
    parts = [part for part in parts if part.shape != (0,)] or [numpy.zeros(0, storage(out_kind))]
    check_written(npu, out, numpy.concatenate(parts, dim))


@SETTINGS
@given(data=st.data())
def test_stack(npu, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shape, kinds = any_shape(draw), draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    kind = functools.reduce(meet, kinds)
    out_kind = draw(st.sampled_from([one for one in KINDS if casts(kind, one)]))
    views = [any_view(draw, generator, shape, one) for one in kinds]
    parts = [cast_through(view, one, kind, out_kind) for (_, view), one in zip(views, kinds)]
    dim = draw(st.integers(0, len(shape)))
    expected = numpy.stack(parts, dim)
    out = npu.view(*any_view(draw, generator, expected.shape, out_kind), out_kind)
    members = npu.list([npu.view(*view, one) for view, one in zip(views, kinds)])
    assert npu.call("stack", members, from_either_end(draw, dim, expected.ndim), out) == 0
    check_written(npu, out, expected)


@pytest.mark.parametrize("kind", ["u2", "u4", "u8"])
def test_wide_unsigned_types_are_moved(npu, kind):
    array = numpy.arange(6, dtype=kind).reshape(2, 3) + numpy.array(2 ** (array_bits(kind) - 1), kind)
    self, out = npu.tensor(array), npu.tensor(numpy.zeros((3, 2), kind))
    assert npu.call("permute", self, npu.integers([1, 0]), out) == 0
    assert numpy.array_equal(npu.get(out), array.T)
    whole = npu.tensor(numpy.zeros((4, 3), kind))
    assert npu.call("cat", npu.list([self, self]), 0, whole) == 0
    assert numpy.array_equal(npu.get(whole), numpy.concatenate([array, array]))
    for other in (npu.tensor(numpy.zeros((2, 3), "i8")), npu.tensor(numpy.zeros((2, 3), "f4"))):
        refused(npu.call("cat", npu.list([self, other]), 0, whole), INVALID, "no common type")


def array_bits(kind):
    return 8 * numpy.dtype(kind).itemsize


def test_elements_are_moved_bit_by_bit(npu):
    """A NaN keeps its bits, and a bool that is neither 0 nor 1 its byte."""
    for kind, bits in (("f4", [0x7FA00001, 0x80000000]), ("f2", [0x7D01, 0x8000]), ("?", [7, 0])):
        array = numpy.array(bits, f"u{storage(kind).itemsize}").view(storage(kind))
        self, out = npu.tensor(array, kind), blank(npu, kind, 2)
        assert npu.call("flip", self, npu.integers([0]), out) == 0
        assert npu.get(out).tobytes() == array[::-1].tobytes()


def test_long_and_wide_moves(npu):
    """More elements than a block, and dimensions that only together are contiguous."""
    array = numpy.arange(40 * 33 * 7, dtype="i4").reshape(40, 33, 7)
    out = npu.tensor(numpy.zeros((7, 40, 33), "i4"))
    assert npu.call("permute", npu.tensor(array), npu.integers([2, 0, 1]), out) == 0
    assert numpy.array_equal(npu.get(out), array.transpose(2, 0, 1))
    for kind in ("i4", "i8", "f4"):
        joined = npu.tensor(numpy.zeros((80, 33, 7), kind))
        assert npu.call("cat", npu.list([npu.tensor(array), npu.tensor(array)]), 0, joined) == 0
        assert numpy.array_equal(npu.get(joined), numpy.concatenate([array] * 2))


def test_strides_of_single_elements_mean_nothing(npu):
    """A dimension of 1 may have any stride, also one whose products fit no number."""
    array = numpy.arange(3, dtype="f4")
    huge = numpy.lib.stride_tricks.as_strided(array, (1, 3, 1), (2**62, 4, -(2**62)))
    self, out = npu.view(array, huge, "f4"), npu.tensor(numpy.zeros((1, 3, 1), "f4"))
    assert npu.call("flip", self, npu.integers([0, 1, 2]), out) == 0
    assert npu.get(out).ravel().tolist() == [2, 1, 0]
    assert npu.call("slice", self, 2, 0, 1, 2**63 - 1, out) == 0
    assert npu.get(out).ravel().tolist() == [0, 1, 2]
    assert npu.call("cat", npu.list([out]), 0, self) == 0
    assert npu.get(self).ravel().tolist() == [0, 1, 2]
    assert npu.call("repeat", self, npu.integers([1, 1, 1]), out) == 0
    assert npu.get(out).ravel().tolist() == [0, 1, 2]


# --- refusals


def calls(npu, self, out, dims=(0, 1)):
    """Return calls that would fit: a matrix of 2 x 2 to another one."""
    dims, ones = npu.integers(dims), npu.integers([1, 1])
    return {
        "permute": (self, dims, out),
        "flip": (self, dims, out),
        "slice": (self, 0, 0, 2, 1, out),
        "slice_v2": (self, npu.integers([0, 0]), npu.integers([2, 2]), dims, ones, out),
        "repeat": (self, ones, out),
    }


@pytest.fixture
def square(npu):
    return npu.tensor(numpy.arange(4, dtype="f4").reshape(2, 2))


MOVES = ["permute", "flip", "slice", "slice_v2", "repeat"]


@pytest.mark.parametrize("name", MOVES)
def test_what_fits_is_taken(npu, square, name):
    assert npu.call(name, *calls(npu, square, npu.tensor(numpy.zeros((2, 2), "f4")))[name]) == 0


@pytest.mark.strict
@pytest.mark.parametrize("name", MOVES)
def test_moves_refuse(npu, square, name, monkeypatch):
    fits = calls(npu, square, square)[name]
    for place, argument in enumerate(fits):
        if argument is not square and isinstance(argument, int) and name == "slice":
            continue
        given = list(fits)
        given[place] = 0
        refused(npu.call(name, *given), NULLPTR, "is NULL")
    other = npu.tensor(numpy.zeros((2, 2), "f8"))
    refused(npu.call(name, *calls(npu, square, other)[name]), INVALID, "out has data type 11, float64, expected float")
    wide = npu.tensor(numpy.zeros((2, 3), "f4"))
    refused(npu.call(name, *calls(npu, square, wide)[name]), INVALID, "out has shape [2, 3], expected [2, 2]")
    deep = npu.tensor(numpy.zeros((2, 2, 1), "f4"))
    refused(npu.call(name, *calls(npu, square, deep)[name]), INVALID, "out has shape [2, 2, 1], expected [2, 2]")
    monkeypatch.setitem(CODES, "odd", 34)
    odd = npu.view(*[numpy.zeros((2, 2), "u1")] * 2, "odd")
    refused(npu.call(name, *calls(npu, odd, odd)[name]), INVALID, "self has data type 34, a type without arithmetic")


@pytest.mark.strict
@pytest.mark.parametrize(("name", "array"), [("permute", "dims"), ("flip", "dims"), ("slice_v2", "axes")])
def test_arrays_of_dimensions_that_do_not_fit(npu, square, name, array):
    for dims, words in [
        ([0, 2], f"{array}[1] is 2, expected -2 to 1 for 2 dimensions"),
        ([-3, 0], f"{array}[0] is -3, expected -2 to 1"),
        ([1, -1], f"{array}[1] is -1, expected each dimension once"),
    ]:
        refused(npu.call(name, *calls(npu, square, square, dims)[name]), INVALID, words)
    if name != "flip":
        refused(npu.call(name, *calls(npu, square, square, [0])[name]), INVALID, "elements, expected")


@pytest.mark.strict
def test_scalars_that_have_no_dimension_to_move_along(npu):
    scalar = npu.tensor(numpy.array(1, "f4"))
    refused(npu.call("flip", scalar, npu.integers([]), scalar), INVALID, "self has 0 dimensions, expected 1 to 8")
    refused(npu.call("slice", scalar, 0, 0, 1, 1, scalar), INVALID, "self has 0 dimensions, expected 1 to 8")
    refused(npu.call("cat", npu.list([scalar]), 0, scalar), INVALID, "tensors[0] has 0 dimensions")


@pytest.mark.strict
def test_slices_that_do_not_fit(npu, square):
    for dim in (2, -3):
        refused(npu.call("slice", square, dim, 0, 2, 1, square), INVALID, f"dim is {dim}, expected -2 to 1")
    for step in (0, -1):
        refused(npu.call("slice", square, 0, 0, 2, step, square), INVALID, f"step is {step}, expected 1 or more")
        steps = [npu.integers(values) for values in ([0], [2], [0], [step])]
        refused(npu.call("slice_v2", square, *steps, square), INVALID, f"steps[0] is {step}, expected 1 or more")


@pytest.mark.strict
@pytest.mark.parametrize(
    ("repeats", "code", "words"),
    [
        ([1], INVALID, "repeats has 1 elements, expected 2 (the number of dimensions of self) to 8"),
        ([1] * 9, INVALID, "repeats has 9 elements"),
        ([1, -1], INVALID, "repeats[1] is -1, expected 0 or more"),
        ([2**62, 1], INVALID, "repeats[0] is 4611686018427387904"),
        ([2, 2, 2, 2, 2], TOO_MANY, "repeats has 5 elements that are not 1, expected at most 4"),
        ([1, 2, 2, 2, 2], TOO_MANY, "repeats has 4 elements that are not 1, expected at most 3"),
    ],
)
def test_repeats_that_do_not_fit(npu, square, repeats, code, words):
    refused(npu.call("repeat", square, npu.integers(repeats), square), code, words)


def test_as_many_repeats_as_the_documents_allow(npu, square):
    for repeats in ([2, 2, 1, 2, 2], [1, 2, 2, 1, 2]):
        expected = numpy.tile(square.view, repeats)
        out = npu.tensor(numpy.zeros(expected.shape, "f4"))
        assert npu.call("repeat", square, npu.integers(repeats), out) == 0
        assert numpy.array_equal(npu.get(out), expected)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("shapes", "dim", "out", "words"),
    [
        ([(2, 3), (2, 4)], 0, (4, 3), "tensors[1] has shape [2, 4], expected [2, 3], that of the other"),
        ([(2, 3), (3,)], 0, (4, 3), "tensors[1] has 1 dimensions, expected 2"),
        ([(2, 3), (2, 3)], 2, (4, 3), "dim is 2, expected -2 to 1"),
        ([(2, 3), (2, 3)], -3, (4, 3), "dim is -3, expected -2 to 1"),
        ([(2, 3), (2, 3)], 0, (3, 3), "out has shape [3, 3], expected [4, 3]"),
        ([(0,), (2, 3), (2, 4)], 0, (4, 3), "tensors[2] has shape [2, 4], expected [2, 3], that of the other"),
        ([], 0, (1,), "tensors is empty"),
    ],
)
def test_cats_that_do_not_fit(npu, shapes, dim, out, words):
    members = [npu.tensor(numpy.zeros(shape, "f4")) for shape in shapes]
    refused(npu.call("cat", npu.list(members), dim, npu.tensor(numpy.zeros(out, "f4"))), INVALID, words)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("shapes", "dim", "out", "words"),
    [
        ([(2, 3), (2, 4)], 0, (2, 2, 3), "tensors[1] has shape [2, 4], expected [2, 3], that of the other tensors"),
        ([(2, 3), (3,)], 0, (2, 2, 3), "tensors[1] has shape [3], expected [2, 3]"),
        ([(1,) * 8], 0, (1,), "tensors[0] has 8 dimensions, expected 0 to 7"),
        ([(2, 3), (2, 3)], 3, (2, 3, 2), "dim is 3, expected -3 to 2"),
        ([(2, 3), (2, 3)], 2, (2, 2, 3), "out has shape [2, 2, 3], expected [2, 3, 2]"),
        ([], 0, (1,), "tensors is empty"),
    ],
)
def test_stacks_that_do_not_fit(npu, shapes, dim, out, words):
    members = [npu.tensor(numpy.zeros(shape, "f4")) for shape in shapes]
    refused(npu.call("stack", npu.list(members), dim, npu.tensor(numpy.zeros(out, "f4"))), INVALID, words)


@pytest.mark.strict
def test_the_types_of_a_stack(npu):
    pair = [npu.tensor(numpy.zeros(2, kind)) for kind in ("f4", "i4")]
    whole = npu.tensor(numpy.zeros((2, 2), "i4"))
    refused(npu.call("stack", npu.list(pair), 0, whole), INVALID, "the common type of the tensors is float32")
    pair = [npu.tensor(numpy.zeros(2, kind)) for kind in ("u2", "i4")]
    refused(npu.call("stack", npu.list(pair), 0, whole), INVALID, "tensors has no common type")


@pytest.mark.strict
@pytest.mark.parametrize("one", KINDS)
@every(other=KINDS)
def test_the_types_of_a_cat(npu, one, other):
    """Every result type that the type of all can be cast to is taken, every other one refused."""
    members = [blank(npu, kind, 1) for kind in (one, other)]
    for out in KINDS:
        ret = npu.call("cat", npu.list(members), 0, npu.tensor(numpy.ones(2, storage(out)), out))
        if casts(meet(one, other), out):
            assert ret == 0
        else:
            refused(ret, INVALID, "the common type of the tensors is", "cannot be cast to")


@pytest.mark.strict
def test_members_of_a_cat_are_named(npu, square, monkeypatch):
    monkeypatch.setitem(CODES, "odd", 34)
    odd = npu.view(*[numpy.zeros((2, 2), "u1")] * 2, "odd")
    refused(npu.call("cat", npu.list([square, odd]), 0, square), INVALID, "tensors[1] has data type 34")
    refused(npu.call("cat", npu.list([square]), 0, odd), INVALID, "out has data type 34")
    one = numpy.zeros(1, "f4")
    huge = npu.view(one, numpy.lib.stride_tricks.as_strided(one, (2**60,), (0,)), "f4")
    refused(npu.call("cat", npu.list([huge] * 8), 0, square), INVALID, "dimension 0 of tensors is too large in total")
    refused(npu.call("cat", 0, 0, square), NULLPTR, "tensors is NULL")
    refused(npu.call("cat", npu.list([square]), 0, 0), NULLPTR, "out is NULL")
