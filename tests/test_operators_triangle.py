"""Eye, Triu, Tril, Diag, DiagFlat and Trace against NumPy: types, strides, diagonals beyond the matrix, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    ORDER,
    SETTINGS,
    UNSIGNED,
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    moved,
    stored,
)
from helpers.pointwise import compare
from helpers.tensors import storage
from hypothesis import given
from hypothesis import strategies as st

DIAGONALS = st.one_of(st.integers(-6, 6), st.sampled_from([-(2**63), 2**63 - 1, -600, 600]))
NEAR = st.integers(-6, 6)
HALVES = {"triu": numpy.triu, "tril": numpy.tril}
CUT = [*KINDS[:-1], *UNSIGNED]
DIAGONAL = KINDS[:-1]


def half(name, view, diagonal):
    """Return the triangle; beyond these limits nothing changes, and NumPy's own numbers would overflow."""
    return HALVES[name](view, max(-1000, min(diagonal, 1000)))


@SETTINGS
@given(data=st.data(), diagonal=DIAGONALS, name=st.sampled_from(sorted(HALVES)), in_place=st.booleans())
def test_triangles(npu, data, diagonal, name, in_place):
    shape = any_shape(data.draw, 2)
    if len(shape) == 1:
        shape = [*shape, 2]
    self, out, expected = moved(data.draw, npu, lambda view: half(name, view, diagonal), kinds=CUT, shape=shape)
    if in_place:
        assert npu.call(f"inplace_{name}", self, diagonal) == 0
        check_written(npu, self, expected)
    else:
        assert npu.call(name, self, diagonal, out) == 0
        check_written(npu, out, expected)


def test_a_triangle_in_the_place_of_its_matrix(npu):
    self = npu.tensor(numpy.arange(9, dtype="f4").reshape(3, 3))
    assert npu.call("triu", self, 0, self) == 0
    assert npu.get(self).tolist() == [[0, 1, 2], [0, 4, 5], [0, 0, 8]]


@pytest.mark.parametrize("kind", ["f4", "f2", "b2", "i1", "u1", "i2", "i4", "i8", "?"])
def test_eye(npu, kind):
    for n, m in ((0, 0), (1, 1), (3, 3), (2, 300), (300, 2), (0, 4), (4, 0)):
        base = numpy.full((n, 2 * m), 7).astype(storage(kind))
        out = npu.view(base, base[:, ::2], kind)
        assert npu.call("eye", n, m, out) == 0
        check_written(npu, out, stored(numpy.eye(n, m), kind))


@SETTINGS
@given(data=st.data(), diagonal=NEAR)
def test_diag(npu, data, diagonal):
    shape = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=2))
    self, out, expected = moved(data.draw, npu, lambda view: numpy.diag(view, diagonal), kinds=DIAGONAL, shape=shape)
    assert npu.call("diag", self, diagonal, out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data(), diagonal=NEAR)
def test_diag_flat(npu, data, diagonal):
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    self, out, expected = moved(
        data.draw, npu, lambda view: numpy.diagflat(view, diagonal), kinds=DIAGONAL, shape=shape
    )
    assert npu.call("diag_flat", self, diagonal, out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data())
def test_trace(npu, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(KINDS))
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 5, 300]), min_size=2, max_size=2))
    base, view = any_view(draw, generator, shape, kind)
    out_kind = "i8" if ORDER[kind] < 2 else kind
    out = npu.view(*any_view(draw, generator, [1] * draw(st.integers(0, 1)), out_kind), out_kind)
    assert npu.call("trace", npu.view(base, view, kind), out) == 0
    line = numpy.diagonal(exact(view, kind))
    line = line.astype("i8") if out_kind == "i8" else line
    compare(npu.get(out).reshape(()), line.sum(), out_kind, out_kind, numpy.abs(line).sum())


def test_a_trace_with_a_nan(npu):
    matrix = numpy.full((3, 3), numpy.nan, "f4")
    out = blank(npu, "f4", ())
    for line, expected in ([1, numpy.inf, 2], numpy.inf), ([numpy.inf, -numpy.inf, 0], numpy.nan):
        numpy.fill_diagonal(matrix, line)
        assert npu.call("trace", npu.tensor(matrix), out) == 0
        assert numpy.array_equal(npu.get(out), numpy.float32(expected), equal_nan=True)


# --- refusals


@pytest.mark.strict
def test_triangles_that_do_not_fit(npu):
    square, line = blank(npu, "f4", (2, 2)), blank(npu, "f4", (2,))
    for name in HALVES:
        refused(npu.call(name, line, 0, line), INVALID, "self has 1 dimensions, expected 2 to 8")
        refused(npu.call(f"inplace_{name}", line, 0), INVALID, "selfRef has 1 dimensions, expected 2 to 8")
        refused(npu.call(name, square, 0, blank(npu, "f4", (2, 3))), INVALID, "out has shape [2, 3], expected [2, 2]")
        refused(npu.call(name, square, 0, blank(npu, "i4", (2, 2))), INVALID, "out has data type 3, int32")
        pairs = blank(npu, "c16", (2, 2))
        refused(npu.call(name, pairs, 0, pairs), INVALID, "self has data type 17, complex128")


@pytest.mark.strict
def test_eyes_that_do_not_fit(npu):
    out = blank(npu, "f4", (2, 3))
    refused(npu.call("eye", 2, 2, out), INVALID, "out has shape [2, 3], expected [2, 2]")
    refused(npu.call("eye", -1, 2, out), INVALID, "n is -1, expected 0 or more")
    refused(npu.call("eye", 2, -3, out), INVALID, "m is -3, expected 0 or more")
    refused(npu.call("eye", 2, 3, blank(npu, "f8")), INVALID, "out has data type 11, float64")


@pytest.mark.strict
def test_diagonals_that_do_not_fit(npu):
    square, line, cube = blank(npu, "f4", (2, 2)), blank(npu, "f4", (2,)), blank(npu, "f4", (2, 2, 2))
    refused(npu.call("diag", cube, 0, line), INVALID, "self has 3 dimensions, expected 1 to 2")
    refused(npu.call("diag", square, 1, line), INVALID, "out has shape [2], expected [1], that of the diagonal")
    refused(npu.call("diag", line, -1, square), INVALID, "out has shape [2, 2], expected [3, 3]")
    refused(npu.call("diag_flat", square, 0, square), INVALID, "out has shape [2, 2], expected [4, 4]")
    for diagonal in (2**63 - 1, -(2**63)):
        refused(npu.call("diag", line, diagonal, square), INVALID, f"diagonal is {diagonal}, expected a matrix")
    refused(npu.call("diag", square, 0, blank(npu, "f8", (2,))), INVALID, "out has data type 11, float64")


@pytest.mark.strict
def test_traces_that_do_not_fit(npu):
    square, whole, one = blank(npu, "f4", (2, 2)), blank(npu, "i4", (2, 2)), blank(npu, "f4", ())
    refused(npu.call("trace", square, square), INVALID, "out has shape [2, 2], expected [] or [1]")
    refused(npu.call("trace", one, one), INVALID, "self has 0 dimensions, expected 2")
    refused(npu.call("trace", whole, one), INVALID, "out has data type 0, float32, expected int64, that of the sum")
    refused(npu.call("trace", square, blank(npu, "f8", ())), INVALID, "out has data type 11, float64, expected float32")
