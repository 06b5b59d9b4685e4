"""LinalgCholesky and Svd against NumPy in double: types, strides, special matrices, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, PARTS, SETTINGS, any_view, blank, check_written, close, exact, stored
from hypothesis import given
from hypothesis import strategies as st

SINGULAR = ["f4", "f8", "c8", "c16"]
REALS = {"c8": "f4", "c16": "f8"}


def entries(generator, shape, kind):
    """Return random numbers of a few units."""
    values = generator.normal(0, 1, shape)
    return stored(values + 1j * generator.normal(0, 1, shape) if kind[0] == "c" else values, kind)


def view_of(draw, kind, shape):
    """Return a contiguous array and a view of it with random numbers."""
    return any_view(draw, numpy.random.default_rng(draw(st.integers(0, 2**32))), list(shape), kind, entries)


def error_of(kind):
    return PARTS[kind] * (64 if kind in ("f8", "c16") else 1)


# --- Cholesky


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(["f4", "b2"]), size=st.integers(0, 6), upper=st.booleans())
def test_cholesky(npu, data, kind, size, upper):
    batches = data.draw(st.lists(st.integers(0, 3), max_size=2))
    base, view = view_of(data.draw, kind, [*batches, size, size])
    values = exact(view, kind)
    values = values @ values.swapaxes(-1, -2) + numpy.eye(size)
    triangle = (numpy.triu if upper else numpy.tril)(numpy.ones((size, size)))
    view[...] = stored(numpy.where(triangle, values, numpy.nan), kind)  # the other triangle is not read
    out = npu.view(*view_of(data.draw, kind, view.shape), kind)
    assert npu.call("linalg_cholesky", npu.view(base, view, kind), upper, out) == 0
    values = exact(view, kind)
    values = numpy.where(triangle, values, values.swapaxes(-1, -2))
    expected = numpy.linalg.cholesky(values) if values.size else values
    expected = expected.swapaxes(-1, -2) if upper else expected
    found = exact(npu.get(out), kind)
    close(found, expected, 16 * PARTS[kind] * numpy.abs(values).max(initial=1))
    assert not found[..., triangle == 0].any()


def test_a_cholesky_factor_of_whole_numbers(npu):
    self, out = npu.tensor(numpy.array([[4, 9, 9], [2, 5, 9], [6, 7, 26]], "f4")), blank(npu, "f4", (3, 3))
    assert npu.call("linalg_cholesky", self, False, out) == 0
    check_written(npu, out, [[2, 0, 0], [1, 2, 0], [3, 2, numpy.sqrt(numpy.float32(13))]])


def test_a_matrix_that_is_not_positive_definite_has_no_cholesky_factor(npu):
    out = blank(npu, "f4", (2, 2))
    assert npu.call("linalg_cholesky", npu.tensor(numpy.array([[1, 2], [2, 1]], "f4")), False, out) == 0
    assert numpy.array_equal(npu.get(out), [[1, 0], [2, numpy.nan]], equal_nan=True)


@pytest.mark.strict
def test_matrices_without_cholesky_factors(npu):
    square, line, side = blank(npu, "f4", (2, 2)), blank(npu, "f4", (2,)), blank(npu, "f4", (2, 3))
    half, bits = blank(npu, "f2", (2, 2)), blank(npu, "b2", (2, 2))
    call = npu.call
    refused(call("linalg_cholesky", half, False, half), INVALID, "self has data type 1, float16, expected float32 or b")
    refused(call("linalg_cholesky", square, False, bits), INVALID, "out has data type 27, bfloat16, expected float32")
    refused(call("linalg_cholesky", line, False, line), INVALID, "self has 1 dimensions, expected 2 to 8")
    refused(call("linalg_cholesky", side, False, side), INVALID, "self has matrices of 2 by 3, expected square ones")
    refused(call("linalg_cholesky", square, False, side), INVALID, "out has shape [2, 3], expected [2, 2]")


# --- Svd


def outputs(make, kind, shape, full, sigma=None):
    """Return sigma, u and v for matrices of this shape, made by a function of kind and shape."""
    *batches, rows, columns = shape
    least = min(rows, columns)
    return [
        make(sigma or kind, [*batches, least]),
        make(kind, [*batches, rows, rows if full else least]),
        make(kind, [*batches, columns, columns if full else least]),
    ]


def decompose(npu, values, kind, full=False):
    """Return the singular values and both sides' vectors of an array."""
    self = npu.tensor(stored(values, kind))
    made = outputs(lambda kind, shape: blank(npu, kind, shape), kind, numpy.shape(values), full)
    assert npu.call("svd", self, full, True, *made) == 0
    return [npu.get(one) for one in made]


def check_factors(values, sigma, u, v, error):
    """Assert that the product of the factors is the matrix, and that the vectors are orthogonal, of length 1."""
    least = sigma.shape[-1]
    whole = (u[..., :least] * sigma[..., None, :]) @ v[..., :least].swapaxes(-1, -2)
    close(whole, values, error * numpy.abs(values).max(initial=0))
    for side in (u, v):
        unit = numpy.broadcast_to(numpy.eye(side.shape[-1]), (*side.shape[:-2], side.shape[-1], side.shape[-1]))
        close(side.conj().swapaxes(-1, -2) @ side, unit, error)


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(SINGULAR), full=st.booleans(), real=st.booleans())
def test_svd(npu, data, kind, full, real):
    draw = data.draw
    shape = [*draw(st.lists(st.integers(1, 3), max_size=2)), draw(st.integers(1, 6)), draw(st.integers(1, 6))]
    base, view = view_of(draw, kind, shape)
    made = outputs(
        lambda kind, shape: npu.view(*view_of(draw, kind, shape), kind),
        kind, shape, full, sigma=REALS.get(kind) if real else None,
    )  # fmt: skip
    assert npu.call("svd", npu.view(base, view, kind), full, True, *made) == 0
    sigma, u, v = (npu.get(one).astype("c16" if kind[0] == "c" else "f8") for one in made)
    values, error = exact(view, kind), 64 * error_of(kind)
    close(sigma, numpy.linalg.svd(values, compute_uv=False), error * numpy.abs(values).max())
    check_factors(values, sigma, u, v, error)
    assert numpy.array_equal(sigma, -numpy.sort(-sigma.real, axis=-1))


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(SINGULAR))
def test_singular_values_alone(npu, data, kind):
    """The vectors that are not wanted have any shape, and are not written."""
    shape = [data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))]
    base, view = view_of(data.draw, kind, shape)
    sigma, u, v = blank(npu, kind, (min(shape),)), blank(npu, kind, (0,)), npu.tensor(numpy.full((2, 2), 7, kind))
    assert npu.call("svd", npu.view(base, view, kind), True, False, sigma, u, v) == 0
    values = exact(view, kind)
    close(npu.get(sigma), numpy.linalg.svd(values, compute_uv=False), 64 * error_of(kind) * numpy.linalg.norm(values))
    assert (npu.get(v) == 7).all()


@pytest.mark.parametrize("full", [False, True])
def test_singular_vectors_of_matrices_without_full_rank(npu, full):
    one = numpy.outer([1, 2, 3, 4], [1, -1, 2])
    for values in (numpy.zeros((3, 2)), numpy.ones((2, 4)), one, one.T, numpy.diag([0, 3, 0]), [[0.0]]):
        sigma, u, v = decompose(npu, values, "f8", full)
        check_factors(numpy.asarray(values, "f8"), sigma, u, v, 2**-46)
        close(sigma, numpy.linalg.svd(values, compute_uv=False), 2**-46 * numpy.linalg.norm(values))


def test_singular_values_of_any_size(npu):
    """No square overflows or vanishes."""
    values = numpy.array([[3, 4], [0, 5], [1, 2]], "f8")
    for size in (1e-300, 1e300):
        sigma, u, v = decompose(npu, values * size, "f8")
        check_factors(values, sigma / size, u, v, 2**-46)
    sigma, u, v = decompose(npu, numpy.diag([1, 1e-9, 1e-18]), "f8")
    assert sigma.tolist() == [1, 1e-9, 1e-18]


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf])
def test_an_element_that_is_not_finite_has_no_singular_values(npu, value):
    found = decompose(npu, [[1, 2], [value, 3], [4, 5]], "f4")
    assert all(numpy.isnan(one).all() for one in found)


@pytest.mark.strict
def test_matrices_without_singular_values(npu):
    side, line, none, half = (blank(npu, kind, shape) for kind, shape in (
        ("f4", (2, 3)), ("f4", (2,)), ("f4", (0, 3)), ("f2", (2, 3))))  # fmt: skip
    u, v, wide, pairs = (blank(npu, kind, shape) for kind, shape in (
        ("f4", (2, 2)), ("f4", (3, 2)), ("f8", (2,)), ("c8", (2,))))  # fmt: skip

    def call(*tensors, full=False):
        return npu.call("svd", tensors[0], full, True, *tensors[1:])

    refused(call(half, line, u, v), INVALID, "input has data type 1, float16, expected float32, float64")
    refused(call(side, wide, u, v), INVALID, "sigma has data type 11, float64, expected float32")
    refused(call(side, pairs, u, v), INVALID, "sigma has data type 16, complex64, expected float32")
    refused(call(side, line, wide, v), INVALID, "u has data type 11, float64, expected float32")
    refused(call(side, line, u, wide), INVALID, "v has data type 11, float64, expected float32")
    refused(call(line, line, u, v), INVALID, "input has 1 dimensions, expected 2 to 8")
    refused(call(none, line, u, v), INVALID, "input has no elements")
    refused(call(side, side, u, v), INVALID, "sigma has shape [2, 3], expected [2]")
    refused(call(side, line, v, v), INVALID, "u has shape [3, 2], expected [2, 2]")
    refused(call(side, line, u, u), INVALID, "v has shape [2, 2], expected [3, 2]")
    refused(call(side, line, u, v, full=True), INVALID, "v has shape [3, 2], expected [3, 3]")
