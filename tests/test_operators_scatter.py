"""Scatter, ScatterAdd, ScatterReduce, IndexAdd, IndexCopy, IndexFill, IndexFillTensor and their forms against NumPy:
types, strides, equal indices, refusals, indices out of range."""

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
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    stored,
)
from helpers.pointwise import FEWER
from helpers.tensors import from_bfloat
from hypothesis import given
from hypothesis import strategies as st

import acl

LINES = ["index_add", "index_copy", "inplace_index_copy"]
ELEMENTS = ["scatter", "inplace_scatter", "scatter_value", "inplace_scatter_value", "scatter_add"]
REDUCTIONS = ["scatter_reduce", "inplace_scatter_reduce"]
FILLS = ["index_fill_tensor", "inplace_index_fill_tensor", "index_fill", "inplace_index_fill"]
MODES = ["replace", "add", "multiply", "maximum", "minimum", "mean"]
REAL = [kind for kind in KINDS if ORDER[kind] < 3]
FILLED = ["?", "i4", "i8", "f2", "b2", "f4"]
# A number of each kind, exact in all types: the type of the scalar and the value.
NUMBERS = {0: ("?", True), 1: ("i8", 3), 2: ("f4", -0.5), 3: ("f4", 2.5)}


class Case:
    """A view that is written at indices into one dimension; a scalar counts as a line of one element."""

    def __init__(self, draw, npu, kinds):
        self.generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        self.draw, self.npu, self.kind = draw, npu, draw(st.sampled_from(kinds))
        self.shape = any_shape(draw)
        self.axis = draw(st.integers(0, max(len(self.shape) - 1, 0)))
        if self.shape:
            self.shape[self.axis] = max(self.shape[self.axis], 1)
        self.base, self.view = any_view(draw, self.generator, self.shape, self.kind)
        self.length = self.shape[self.axis] if self.shape else 1
        self.dim = self.axis - max(len(self.shape), 1) if draw(st.booleans()) else self.axis

    def place(self, at, index):
        """Return the position ``at`` with the index in place of the indexed dimension."""
        return (*at[: self.axis], index, *at[self.axis + 1 :]) if self.shape else ()

    def run(self, name, expected, *arguments):
        self_ = self.npu.view(self.base, self.view, self.kind)
        if name.startswith("inplace"):
            assert self.npu.call(name, self_, self.dim, *arguments) == 0
            check_written(self.npu, self_, expected)
            return
        out = self.npu.view(*any_view(self.draw, self.generator, self.shape, self.kind), self.kind)
        assert self.npu.call(name, self_, self.dim, *arguments, out) == 0
        check_written(self.npu, out, expected)


@pytest.mark.parametrize("name", ELEMENTS)
@SETTINGS
@given(data=st.data())
def test_scatter(npu, name, data):
    draw, mode = data.draw, "add" if name == "scatter_add" else data.draw(st.sampled_from(MODES[:3]))
    case = Case(draw, npu, REAL if mode == "multiply" else KINDS)
    shape = [draw(st.integers(0, min(dim, 4))) for dim in case.shape]
    if shape:
        shape[case.axis] = draw(st.integers(0, 6))
    index = any_indices(draw, case.generator, shape, case.length)
    if "value" in name:
        number, value = NUMBERS[ORDER[case.kind]]
        source, values = npu.scalar(value, number), numpy.full(shape, stored(value, case.kind))
    else:
        base, values = any_view(draw, case.generator, [dim + draw(st.integers(0, 1)) for dim in shape], case.kind)
        source = npu.view(base, values, case.kind)
    changes = [(case.place(at, index[1][at]), values[at]) for at in numpy.ndindex(*shape)]
    expected = updated(case.view, case.kind, mode, changes)
    modes = () if name == "scatter_add" else (MODES.index(mode),)
    base, view, kind = index
    case.run(name, expected, npu.view(base, view, kind), source, *modes)


def reduced(values, kind, mode, changes, includes_self):
    """Return values after a reduction, in which the first change of an element replaces a self that is left out."""
    values, counts = values.copy(), numpy.full(values.shape, int(includes_self))
    for position, other in changes:
        step = "replace" if counts[position] == 0 else {"mean": "add"}.get(mode, mode)
        values = updated(values, kind, step, [(position, other)])
        counts[position] += 1
    if mode != "mean":
        return values
    sums, counts = exact(values, kind), numpy.maximum(counts, 1)
    if ORDER[kind] == 3:
        return stored(sums.real / counts + 1j * (sums.imag / counts), kind)
    return stored(sums // counts if ORDER[kind] == 1 else sums / counts, kind)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("mode", MODES)
@FEWER
@given(data=st.data(), includes_self=st.booleans())
def test_scatter_reduce(npu, name, mode, data, includes_self):
    draw = data.draw
    case = Case(draw, npu, KINDS[1:] if mode == "mean" else KINDS if mode in MODES[:2] else REAL)
    shape = [draw(st.integers(0, min(dim, 4))) for dim in case.shape]
    if shape:
        shape[case.axis] = draw(st.integers(0, 6))
    base, view, kind = any_indices(draw, case.generator, shape, case.length)
    from_base, values = any_view(draw, case.generator, [dim + draw(st.integers(0, 1)) for dim in shape], case.kind)
    changes = [(case.place(at, view[at]), values[at]) for at in numpy.ndindex(*shape)]
    expected = reduced(case.view, case.kind, mode, changes, includes_self)
    arguments = npu.view(base, view, kind), npu.view(from_base, values, case.kind), MODES.index(mode), includes_self
    case.run(name, expected, *arguments)


@pytest.mark.parametrize(("mode", "expected"), [(3, [7, 9, 5]), (4, [-4, 9, 5]), (2, [-28, 9, 5]), (5, [1, 9, 5])])
def test_self_is_left_out_of_a_reduction(npu, mode, expected):
    """Elements without an index stay, and the mean of integers is rounded down."""
    self, index = npu.tensor(numpy.array([100, 9, 8])), npu.tensor(numpy.array([0, 0, 2], "i4"))
    source = npu.tensor(numpy.array([7, -4, 5]))
    assert npu.call("inplace_scatter_reduce", self, 0, index, source, mode, False) == 0
    assert npu.get(self).tolist() == expected
    with_self = npu.tensor(numpy.array([-8, 9, 8]))
    assert npu.call("inplace_scatter_reduce", with_self, 0, index, source, 5, True) == 0
    assert npu.get(with_self).tolist() == [-2, 9, 6]


def test_the_result_of_a_reduction_may_be_self(npu):
    """PyTorch passes a copy of self as both."""
    self, index = npu.tensor(numpy.array([1, 2, 3], "f4")), npu.tensor(numpy.array([1, 1]))
    assert npu.call("scatter_reduce", self, 0, index, npu.tensor(numpy.array([5, 6], "f4")), 1, True, self) == 0
    assert npu.get(self).tolist() == [1, 13, 3]


@pytest.mark.parametrize("mode", [3, 4])
def test_nan_is_an_extreme_of_a_reduction(npu, mode):
    nan = numpy.nan
    self, index = npu.tensor(numpy.array([nan, 1, 1], "f2")), npu.tensor(numpy.arange(3))
    source = npu.tensor(numpy.array([1, nan, 1], "f2"))
    assert npu.call("inplace_scatter_reduce", self, 0, index, source, mode, True) == 0
    assert numpy.array_equal(npu.get(self), numpy.array([nan, nan, 1], "f2"), equal_nan=True)


@pytest.mark.parametrize("name", LINES)
@SETTINGS
@given(data=st.data())
def test_slices(npu, name, data):
    draw = data.draw
    case = Case(draw, npu, REAL if name == "index_add" else KINDS)
    shape = draw(st.sampled_from([[], [1], [0], [3], [7]])) if case.shape else draw(st.sampled_from([[], [1]]))
    index = any_indices(draw, case.generator, shape, case.length)
    lines = index[1].reshape(-1)
    base, values = any_view(draw, case.generator, list(case.place(case.shape, len(lines))), case.kind)
    arguments, factor, mode = (), 1, "replace"
    if name == "index_add":
        number, factor = NUMBERS[ORDER[case.kind]]
        arguments, mode = (npu.scalar(factor, number),), "add"
    with numpy.errstate(over="ignore"):
        added = stored(exact(values, case.kind) * exact(stored(factor, case.kind), case.kind), case.kind)
    sources, whole = values if mode == "replace" else added, [slice(None)] * len(case.shape)
    changes = [(case.place(whole, line), sources[case.place(whole, at)]) for at, line in enumerate(lines)]
    expected = updated(case.view, case.kind, mode, changes)
    base_of, view, kind = index
    case.run(name, expected, npu.view(base_of, view, kind), npu.view(base, values, case.kind), *arguments)


@pytest.mark.parametrize("name", FILLS)
@SETTINGS
@given(data=st.data())
def test_index_fill(npu, name, data):
    case = Case(data.draw, npu, FILLED)
    lines = data.draw(st.lists(st.integers(-case.length, case.length - 1), max_size=5))
    if "tensor" in name:
        index = npu.integers(lines)
    else:  # a tensor may also be a scalar, and what it has beyond self is left out
        base, view, kind = any_indices(data.draw, case.generator, data.draw(st.sampled_from([[], [0], [3]])), 1)
        view[...] = case.generator.integers(-case.length - 2, case.length + 2, view.shape)
        index, lines = npu.view(base, view, kind), [at for at in view.flat if -case.length <= at < case.length]
    number, value = NUMBERS[ORDER[case.kind]]
    expected = case.view.copy()
    for line in lines:
        expected[case.place([slice(None)] * len(case.shape), line)] = stored(value, case.kind)
    case.run(name, expected, index, npu.scalar(value, number))


def test_complex_numbers_are_multiplied(npu):
    self, index = npu.tensor(numpy.array([1 + 2j, 3], "c8")), npu.tensor(numpy.array([0, 0]))
    source = npu.tensor(numpy.array([3 - 1j, 2j], "c8"))
    assert npu.call("inplace_scatter", self, 0, index, source, 2) == 0
    assert npu.get(self).tolist() == [(1 + 2j) * (3 - 1j) * 2j, 3]


@pytest.mark.parametrize("name", ["inplace_scatter_value", "inplace_index_fill_tensor"])
def test_values_are_rounded_once(npu, name):
    self = npu.tensor(numpy.zeros(2, "u2"), "b2")
    value = npu.scalar(2**40 + 2**32 + 1, "i8")  # float32 would make it a tie
    if name == "inplace_scatter_value":
        assert npu.call(name, self, 0, npu.tensor(numpy.array([1])), value, 0) == 0
    else:
        assert npu.call(name, self, 0, npu.integers([1]), value) == 0
    assert from_bfloat(npu.get(self)).tolist() == [0, 2**40 + 2**33]


def test_sums_of_odd_numbers(npu):
    inf, nan = numpy.inf, numpy.nan
    self, index = npu.tensor(numpy.array([inf, nan, 1, inf], "f4")), npu.tensor(numpy.arange(4))
    source = npu.tensor(numpy.array([-inf, 1, nan, 1], "f4"))
    out = blank(npu, "f4", (4,))
    assert npu.call("scatter_add", self, 0, index, source, out) == 0
    assert numpy.array_equal(npu.get(out), numpy.array([nan, nan, nan, inf], "f4"), equal_nan=True)


# --- refusals


def arguments_of(npu, self, index, source, out, dim=0, mode=0, value=None):
    """Return the arguments of each operator."""
    value = value or npu.scalar(1.0)
    return {
        "scatter": (self, dim, index, source, mode, out),
        "inplace_scatter": (self, dim, index, source, mode),
        "scatter_value": (self, dim, index, value, mode, out),
        "inplace_scatter_value": (self, dim, index, value, mode),
        "scatter_add": (self, dim, index, source, out),
        "scatter_reduce": (self, dim, index, source, mode, True, out),
        "inplace_scatter_reduce": (self, dim, index, source, mode, True),
        "index_add": (self, dim, index, source, value, out),
        "index_copy": (self, dim, index, source, out),
        "inplace_index_copy": (self, dim, index, source),
        "index_fill_tensor": (self, dim, npu.integers([0, 2]), value, out),
        "inplace_index_fill_tensor": (self, dim, npu.integers([0, 2]), value),
        "index_fill": (self, dim, index, value, out),
        "inplace_index_fill": (self, dim, index, value),
    }


class Fits:
    """Arguments that fit; :meth:`call` replaces some of them."""

    def __init__(self, npu, name):
        self.npu, self.name = npu, name
        self.shape = (2,) if name in LINES + FILLS else (2, 2)
        self.parts = {
            "self": blank(npu, "f4", (3, 2)),
            "index": blank(npu, "i8", self.shape),
            "source": blank(npu, "f4", (2, 2)),
            "out": blank(npu, "f4", (3, 2)),
        }

    def call(self, /, **changed):
        return self.npu.call(self.name, *arguments_of(self.npu, **{**self.parts, **changed})[self.name])


@pytest.mark.strict
@pytest.mark.parametrize("name", ELEMENTS + REDUCTIONS + LINES + FILLS)
def test_scatters_refuse(npu, name):
    fits = Fits(npu, name)
    arguments = arguments_of(npu, **fits.parts)[name]
    assert fits.call() == 0
    for place, argument in enumerate(arguments):
        if not isinstance(argument, int):
            refused(npu.call(name, *arguments[:place], 0, *arguments[place + 1 :]), NULLPTR, "is NULL")
    for dim in (2, -3):
        refused(fits.call(dim=dim), INVALID, f"dim is {dim}, expected -2 to 1")
    if "inplace" not in name:
        refused(fits.call(out=blank(npu, "f4", (2, 2))), INVALID, "has shape [2, 2], expected [3, 2], that of self")
        refused(fits.call(out=blank(npu, "i4", (3, 2))), INVALID, "int32, expected float32, that of self")
    if "index_fill_tensor" not in name:
        refused(fits.call(index=blank(npu, "i2", fits.shape)), INVALID, "index has data type 6, int16, expected int32")
    if name not in FILLS:
        empty = blank(npu, "f4", (0, 2))
        words = "dimension 0 of self", " is 0, expected 1 or more because the index is not empty"
        refused(fits.call(self=empty, out=empty), INVALID, *words)
    if name not in FILLS and "value" not in name:
        refused(fits.call(source=blank(npu, "f2", (2, 2))), INVALID, "float16, expected float32, that of self")
        refused(fits.call(source=blank(npu, "f4", (1, 2))), INVALID)
    if "value" in name or name in FILLS or name == "index_add":
        value = npu.scalar(1, "c8")
        refused(fits.call(value=value), INVALID, "is complex64, which cannot be cast to float32, the type of self")


@pytest.mark.strict
@pytest.mark.parametrize("name", ELEMENTS + REDUCTIONS)
def test_shapes_of_single_indices_that_do_not_fit(npu, name):
    fits = Fits(npu, name)
    refused(fits.call(index=blank(npu, "i8", (2,))), INVALID, "index has 1 dimensions, expected 2")
    words = "dimension 1 of index is 3, expected at most 2, the size in self"
    refused(fits.call(index=blank(npu, "i8", (2, 3))), INVALID, words)
    if name in REDUCTIONS:
        words = "reduce is 6, expected 0 (replace), 1 (add), 2 (multiply), 3 (maximum), 4 (minimum) or 5 (mean)"
        refused(fits.call(mode=6), INVALID, words)
    elif name != "scatter_add":
        refused(fits.call(mode=3), INVALID, "reduce is 3, expected 0 (replace), 1 (add) or 2 (multiply)")
    if "value" not in name:
        words = "dimension 0 of index is 3, expected at most 2, the size in src"
        refused(fits.call(index=blank(npu, "i8", (3, 2))), INVALID, words)


@pytest.mark.strict
@pytest.mark.parametrize("name", LINES)
def test_lines_of_indices_that_do_not_fit(npu, name):
    fits = Fits(npu, name)
    refused(fits.call(index=blank(npu, "i8", (2, 1))), INVALID, "index has 2 dimensions, expected 0 to 1")
    words = "source has shape [2, 2], expected [3, 2], one slice of self per index"
    refused(fits.call(index=blank(npu, "i8", (3,))), INVALID, words)
    scalar = blank(npu, "f4", ())
    words = "index has 2 elements, expected 1 because self"
    refused(fits.call(self=scalar, out=scalar), INVALID, words)


@pytest.mark.strict
@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_types_of_reductions(npu, name):
    fits = Fits(npu, name)
    for kind, modes in (("c8", (3, 4)), ("?", (5,))):
        self, source, out = (blank(npu, kind, shape) for shape in ((3, 2), (2, 2), (3, 2)))
        for mode in range(6):
            ret = fits.call(self=self, source=source, out=out, mode=mode)
            assert ret == (INVALID if mode in modes else 0), (kind, mode)


@pytest.mark.strict
@pytest.mark.parametrize("name", FILLS[2:])
def test_a_matrix_of_indices_to_fill(npu, name):
    fits = Fits(npu, name)
    refused(fits.call(index=blank(npu, "i8", (2, 1))), INVALID, "index has 2 dimensions, expected 0 to 1")


@pytest.mark.strict
@pytest.mark.parametrize("line", [3, -4])
def test_an_index_to_fill_that_is_out_of_range(npu, line):
    self = blank(npu, "f4", (3, 2))
    words = f"index[1] is {line}, expected -3 to 2 for dimension 0 of selfRef"
    refused(npu.call("inplace_index_fill_tensor", self, 0, npu.integers([0, line]), npu.scalar(1.0)), INVALID, words)


# --- indices out of range: the task fails, and what follows the first one is not written


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [3, -1, 2**62, -(2**63)])
@pytest.mark.parametrize("name", ELEMENTS + REDUCTIONS + LINES)
def test_an_index_out_of_range_fails_the_task(name, wrong):
    with failing() as fresh:
        values = numpy.array([1, wrong, 0])
        index = fresh.tensor(values if name in LINES else numpy.stack([values, values], -1))
        self, out = blank(fresh, "f4", (3, 2)), blank(fresh, "f4", (3, 2))
        source = fresh.tensor(numpy.ones((3, 2), "f4"))
        assert fresh.call(name, *arguments_of(fresh, self, index, source, out)[name]) == 0
        where = "[1]" if name in LINES else "[1, 0]"
        whose = "selfRef" if "inplace" in name or "copy" in name else "self"
        words = f"index{where} is {wrong}, expected 0 to 2 for dimension 0 of {whose}"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
        found, written = numpy.full((3, 2), 7, "f4"), self if "inplace" in name else out
        assert acl.rt.memcpy(found.ctypes.data, found.nbytes, written.address, found.nbytes, 2) == 0
        assert found.tolist() == [[0, 0], [1, 1], [0, 0]]
