"""Solutions, determinants, decompositions and further products of matrices against NumPy in double: types, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    PARTS,
    SETTINGS,
    any_view,
    blank,
    casts,
    close,
    exact,
    meet,
    near,
    stored,
    stretched,
)
from helpers.pointwise import COMPLEX, REAL, SINGLE
from hypothesis import given
from hypothesis import strategies as st

KEEP = 0
UNIT = 2.0**-24  # of the float that products are summed in
SOLVED = ["f4", "f8", "c8", "c16"]
DECOMPOSED = [*SOLVED, "f2"]


def entries(generator, shape, kind):
    """Return random numbers of a few units."""
    values = generator.normal(0, 1, shape)
    return stored(values + 1j * generator.normal(0, 1, shape) if kind[0] == "c" else values, kind)


def agree(found, expected, kind, size=None):
    """Compare with a result in double; the error is relative to ``size``, by default that of the largest element."""
    size = numpy.abs(expected).max(initial=0) if size is None else size
    assert found.shape == numpy.shape(expected)
    least = 2.0**-24 if kind == "f2" else 0  # the smallest distance of two numbers
    close(exact(found, kind), expected, (64 if kind in ("f8", "c16") else 1) * PARTS[kind] * size + least)


def view_of(draw, kind, shape, fill=None):
    """Return a contiguous array and a view of it, whose elements ``fill`` computes from random ones."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    base, view = any_view(draw, generator, list(shape), kind, entries)
    if fill is not None:
        view[...] = stored(fill(exact(view, kind)), kind)
    return base, view


def dominant(values):
    """Return matrices whose diagonals are so large that their inverses are exact enough to be compared."""
    return values / 8 + 2 * numpy.eye(values.shape[-1]) * numpy.where(values.real < 0, -1, 1)


def shapes_of(draw, rows, columns):
    batches = draw(st.lists(st.integers(0, 3), max_size=2))
    return (*batches, rows, columns), tuple(batches)


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(SOLVED), size=st.integers(0, 5), columns=st.integers(0, 3))
def test_triangular_solve(npu, data, kind, size, columns):
    draw = data.draw
    upper, transpose, unit = (draw(st.booleans()) for _ in range(3))
    batches = draw(st.lists(st.integers(0, 3), max_size=2))
    parts = [stretched(draw, batches) for _ in "bA"]
    whole = list(numpy.broadcast_shapes(*map(tuple, parts)))

    def triangle(values):
        """Fill what is not read with NaN."""
        values = dominant(values)
        read = numpy.triu(numpy.ones((size, size))) if upper else numpy.tril(numpy.ones((size, size)))
        values[..., read == 0] = numpy.nan
        if unit:
            values[..., numpy.eye(size, dtype=bool)] = numpy.nan
        return values

    views = [
        view_of(draw, kind, [*parts[0], size, columns]),
        view_of(draw, kind, [*parts[1], size, size], triangle),
        view_of(draw, kind, [*whole, size, columns]),
        view_of(draw, kind, [*whole, size, size]),
    ]
    tensors = [npu.view(*view, kind) for view in views]
    assert npu.call("triangular_solve", *tensors[:2], upper, transpose, unit, *tensors[2:]) == 0
    sides, matrix = (exact(view, kind) for _, view in views[:2])
    read = numpy.where(numpy.isnan(matrix), 0, matrix) + (numpy.eye(size) if unit else 0)
    read = read.swapaxes(-1, -2) if transpose else read
    expected = numpy.linalg.inv(read) @ sides if size else numpy.zeros((*whole, size, columns))
    expected = numpy.broadcast_to(expected, (*whole, size, columns))
    agree(npu.get(tensors[2]), expected, kind)
    copy = numpy.broadcast_to(views[1][1], (*whole, size, size))
    assert numpy.array_equal(npu.get(tensors[3]), copy, equal_nan=True)


def test_a_division_by_zero_when_solving(npu):
    sides, matrix = numpy.array([[1, -1, 0]], "f4"), numpy.zeros((1, 1), "f4")
    out, copy = blank(npu, "f4", (1, 3)), blank(npu, "f4", (1, 1))
    assert npu.call("triangular_solve", npu.tensor(sides), npu.tensor(matrix), True, False, False, out, copy) == 0
    assert numpy.array_equal(npu.get(out), [[numpy.inf, -numpy.inf, numpy.nan]], equal_nan=True)


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(["f4", "f2"]), size=st.integers(1, 6))
def test_inverse(npu, data, kind, size):
    batches = data.draw(st.lists(st.integers(1, 3), max_size=2))
    base, view = view_of(data.draw, kind, [*batches, size, size], dominant)
    out = npu.view(*view_of(data.draw, kind, view.shape), kind)
    assert npu.call("inverse", npu.view(base, view, kind), out) == 0
    agree(npu.get(out), numpy.linalg.inv(exact(view, kind)), kind)


def test_an_inverse_that_needs_other_rows_first(npu):
    out = blank(npu, "f4", (2, 2))
    assert npu.call("inverse", npu.tensor(numpy.array([[0, 2], [4, 0]], "f4")), out) == 0
    assert npu.get(out).tolist() == [[0, 0.25], [0.5, 0]]


def test_the_inverse_of_a_singular_matrix_is_not_finite(npu):
    out = blank(npu, "f4", (2, 2))
    assert npu.call("inverse", npu.tensor(numpy.ones((2, 2), "f4")), out) == 0
    assert not numpy.isfinite(npu.get(out)).all()


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(SOLVED), size=st.integers(0, 6))
def test_determinants(npu, data, kind, size):
    shape, batches = shapes_of(data.draw, size, size)
    base, view = view_of(data.draw, kind, shape)
    self = npu.view(base, view, kind)
    signs, logs, out = (npu.view(*view_of(data.draw, kind, batches), kind) for _ in range(3))
    assert npu.call("slogdet", self, signs, logs) == 0
    assert npu.call("logdet", self, out) == 0
    values = exact(view, kind)
    sign, log = numpy.linalg.slogdet(values)
    condition = numpy.linalg.cond(values).max(initial=1) if values.size else 1
    tolerance = {"f8": condition, "c16": condition}.get(kind, 1) * (4 + size + numpy.abs(log))
    agree(npu.get(signs), sign, kind, tolerance)
    agree(npu.get(logs), log, kind, tolerance)
    with numpy.errstate(invalid="ignore"):
        whole = log + 1j * numpy.angle(sign) if kind[0] == "c" else numpy.where(sign < 0, numpy.nan, log)
    agree(npu.get(out), whole, kind, tolerance)


def test_determinants_without_batches(npu):
    self = npu.tensor(numpy.array([[0, 2], [3, 0]], "f4"))
    for shape in ((), (1,)):
        sign, log = blank(npu, "f4", shape), blank(npu, "f4", shape)
        assert npu.call("slogdet", self, sign, log) == 0
        assert (npu.get(sign).item(), npu.get(log).item()) == (-1, numpy.log(numpy.float32(6)))


def test_special_determinants(npu):
    nan, inf = numpy.nan, numpy.inf
    matrices = numpy.array([numpy.zeros((2, 2)), numpy.ones((2, 2)), [[1, nan], [0, 1]], [[-1, 0], [0, 1]]], "f4")
    self, sign, log, out = npu.tensor(matrices), *(blank(npu, "f4", (4,)) for _ in range(3))
    assert npu.call("slogdet", self, sign, log) == 0
    assert npu.call("logdet", self, out) == 0
    assert numpy.array_equal(npu.get(sign), [0, 0, nan, -1], equal_nan=True)
    assert numpy.array_equal(npu.get(log), [-inf, -inf, nan, 0], equal_nan=True)
    assert numpy.array_equal(npu.get(out), [-inf, -inf, nan, nan], equal_nan=True)


@SETTINGS
@given(
    data=st.data(),
    kind=st.sampled_from(DECOMPOSED),
    rows=st.integers(0, 5),
    columns=st.integers(0, 5),
    mode=st.integers(0, 2),
)
def test_qr(npu, data, kind, rows, columns, mode):
    shape, batches = shapes_of(data.draw, rows, columns)
    base, view = view_of(data.draw, kind, shape)
    self = npu.view(base, view, kind)
    wide = rows if mode == 1 else min(rows, columns)
    q = npu.view(*view_of(data.draw, kind, (*batches, rows, wide) if mode < 2 else (0,)), kind)
    r = npu.view(*view_of(data.draw, kind, (*batches, wide, columns)), kind)
    if mode < 2 and data.draw(st.booleans()):
        assert npu.call("qr", self, mode == 0, q, r) == 0
    else:
        assert npu.call("linalg_qr", self, mode, q, r) == 0
    found = [npu.get(q), npu.get(r)]
    for place in numpy.ndindex(batches):
        values = exact(view[place], kind)
        one, other = numpy.linalg.qr(values, "complete" if mode == 1 else "reduced")
        condition = numpy.linalg.cond(values) if kind in ("f8", "c16") and values.size else 1
        if mode < 2:
            agree(found[0][place], one, kind, condition)
        agree(found[1][place], other, kind, condition * rows * numpy.abs(values).max(initial=0))


def test_the_q_of_zeros_is_an_identity_matrix(npu):
    q, r = blank(npu, "f4", (3, 3)), blank(npu, "f4", (3, 2))
    assert npu.call("linalg_qr", blank(npu, "f4", (3, 2)), 1, q, r) == 0
    assert npu.get(q).tolist() == numpy.eye(3).tolist()
    assert not npu.get(r).any()


# --- products


def scaled_sum(npu, draw, total, optional):
    """Return two scalars that can be cast to a type, beta and alpha, and their values; they may be absent."""
    kind = draw(st.sampled_from([kind for kind in ("?", "i1", "i8", "f4", "f8") if casts(kind, total)]))
    values = [draw(st.sampled_from([0, 1] if kind == "?" else [0, 1, -3])) for _ in "ba"]
    handles = [npu.scalar(value, kind) for value in values]
    for place in range(2):
        if optional and draw(st.booleans()):
            handles[place], values[place] = 0, 1
    return handles, values


def check_sum(npu, out, kind, total, self, product, size, numbers):
    """Compare with beta * self + alpha * product; ``size`` is how far off the product may be."""
    beta, alpha = numbers
    if casts("f2", total):
        error = (size + UNIT * numpy.abs(product)) * abs(alpha) + 2 * UNIT * abs(beta) * numpy.abs(self)
        near(npu.get(out), beta * self + alpha * product, kind, error)
        return
    whole = beta * self.astype("i8") + alpha * product.astype("i8")
    with numpy.errstate(over="ignore"):
        assert numpy.array_equal(npu.get(out), stored(whole != 0 if total == "?" else whole.astype(total), kind))


def operands(npu, draw, shapes, kinds):
    """Return tensors over views of any strides, and their values in wide types."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    views = [any_view(draw, generator, list(shape), kind) for shape, kind in zip(shapes, kinds)]
    wide = [exact(view, kind) for (_, view), kind in zip(views, kinds)]
    wide = [values.astype("i8") if values.dtype.kind in "biu" else values for values in wide]
    return [npu.view(*view, kind) for view, kind in zip(views, kinds)], wide


@SETTINGS
@given(data=st.data(), rows=st.integers(0, 20), columns=st.integers(0, 20), in_place=st.booleans())
def test_addr(npu, data, rows, columns, in_place):
    draw = data.draw
    kinds = [draw(st.sampled_from(REAL)) for _ in range(3)]
    total = meet(meet(kinds[1], kinds[2]), kinds[0])
    kinds[0] = total if in_place else kinds[0]
    kinds.append(draw(st.sampled_from([kind for kind in REAL if casts(total, kind)])))
    shapes = [[rows, columns] if in_place else stretched(draw, [rows, columns]), [rows], [columns], [rows, columns]]
    (self, one, other, out), (added, *vectors, _) = operands(npu, draw, shapes, kinds)
    handles, values = scaled_sum(npu, draw, total, optional=True)
    if in_place:
        assert npu.call("inplace_addr", self, one, other, *handles) == 0
        out, kinds[3] = self, total
    else:
        assert npu.call("addr", self, one, other, *handles, out) == 0
    product = numpy.multiply.outer(*vectors)
    added = numpy.broadcast_to(added, product.shape)
    check_sum(npu, out, kinds[3], total, added, product, UNIT * numpy.abs(product), values)


@SETTINGS
@given(data=st.data(), rows=st.integers(0, 20), columns=st.integers(0, 20))
def test_ger(npu, data, rows, columns):
    draw, kinds = data.draw, [data.draw(st.sampled_from([*REAL, *COMPLEX])) for _ in range(2)]
    total = meet(*kinds)
    (one, other, out), (*vectors, _) = operands(npu, draw, [[rows], [columns], [rows, columns]], [*kinds, total])
    assert npu.call("ger", one, other, out) == 0
    product, found = numpy.multiply.outer(*vectors), npu.get(out)
    if casts("f2", total):
        agree(found, product, total, numpy.abs(product) + 2.0**-24)
    else:
        assert numpy.array_equal(found, product != 0 if total == "?" else product.astype(total))


@SETTINGS
@given(data=st.data(), in_place=st.booleans())
def test_addbmm(npu, data, in_place):
    draw = data.draw
    batch, rows, depth, columns = (draw(st.integers(0, 9)) for _ in range(4))
    kinds = [draw(st.sampled_from(SINGLE)) for _ in range(4)]
    whole = [rows, columns]
    shapes = [whole if in_place else stretched(draw, whole), [batch, rows, depth], [batch, depth, columns], whole]
    (self, one, other, out), (added, *factors, _) = operands(npu, draw, shapes, kinds)
    handles, values = scaled_sum(npu, draw, "f4", optional=False)
    if in_place:
        assert npu.call("inplace_addbmm", self, one, other, *handles, KEEP) == 0
        out, kinds[3] = self, kinds[0]
    else:
        assert npu.call("addbmm", self, one, other, *handles, out, KEEP) == 0
    product = numpy.matmul(*factors).sum(0)
    size = (batch * depth + 2) * UNIT * numpy.matmul(*map(numpy.abs, factors)).sum(0)
    check_sum(npu, out, kinds[3], "f4", numpy.broadcast_to(added, whole), product, size, values)


@SETTINGS
@given(data=st.data(), alpha=st.sampled_from([0, 1, -0.5]), beta=st.sampled_from([0, 1, 2.5]))
def test_gemm(npu, data, alpha, beta):
    draw = data.draw
    rows, depth, columns = (draw(st.integers(0, 9)) for _ in range(3))
    kinds = [draw(st.sampled_from(SINGLE)) for _ in range(4)]
    turned = [draw(st.booleans()) for _ in "AB"]
    shapes = [[rows, depth], [depth, columns], [rows, columns], [rows, columns]]
    shapes = [shape[::-1] if turn else shape for shape, turn in zip(shapes, [*turned, False, False])]
    (one, other, added, out), (*factors, self, _) = operands(npu, draw, shapes, kinds)
    assert npu.call("gemm", one, other, added, float(alpha), float(beta), *map(int, turned), out, KEEP) == 0
    factors = [values.T if turn else values for values, turn in zip(factors, turned)]
    product = numpy.matmul(*factors)
    size = (depth + 2) * UNIT * numpy.matmul(*map(numpy.abs, factors))
    check_sum(npu, out, kinds[3], "f4", self, product, size, (beta, alpha))


@pytest.mark.strict
def test_math_types_of_bfloat16_batches(npu):
    """The factors are exact in float32, so no math type may round them again."""
    values, out = numpy.full((1, 1, 1), 2.0**100), blank(npu, "f4", (1, 1))
    one, unit = npu.tensor(stored(values, "b2"), "b2"), npu.tensor(stored(numpy.ones((1, 1, 1)), "b2"), "b2")
    assert npu.call("addbmm", out, one, unit, npu.scalar(0), npu.scalar(1), out, 2) == 0
    assert npu.get(out).item() == 2.0**100


def test_an_empty_factor_takes_no_memory(npu):
    """Its other dimensions may be larger than any memory."""
    self, out = npu.tensor(numpy.ones((2, 3), "f4")), blank(npu, "f4", (2, 3))
    one, other = (npu.tensor(numpy.zeros(shape, "f4")) for shape in ((2**45, 2, 0), (2**45, 0, 3)))
    assert npu.call("addbmm", self, one, other, npu.scalar(2), npu.scalar(1), out, KEEP) == 0
    assert (npu.get(out) == 2).all()


# --- refusals


@pytest.mark.strict
def test_products_that_do_not_fit(npu):
    line, square, cube, batch = (blank(npu, "f4", shape) for shape in ((2,), (2, 2), (2, 3, 2), (3, 2, 2)))
    one, pairs, whole = npu.scalar(1), blank(npu, "c8", (2,)), blank(npu, "i4", (2,))
    call = npu.call
    refused(call("ger", square, line, square), INVALID, "self has 2 dimensions, expected 1")
    refused(call("ger", line, line, cube), INVALID, "out has shape [2, 3, 2], expected [2, 2], that of the product")
    refused(call("ger", line, pairs, square), INVALID, "the product is complex64, which cannot be cast to float32")
    refused(call("addr", square, line, square, one, one, square), INVALID, "vec2 has 2 dimensions, expected 1")
    refused(call("addr", line, pairs, line, one, one, square), INVALID, "vec1 has data type 16, complex64")
    refused(call("addr", cube, line, line, one, one, square), INVALID, "self has 3 dimensions, expected 0 to 2")
    refused(call("inplace_addr", line, line, line, one, one), INVALID, "selfRef has shape [2], expected [2, 2]")
    refused(call("addr", whole, whole, whole, one, one, square), INVALID, "betaOptional is float32, which cannot")
    refused(call("addbmm", square, cube, batch, one, one, square, KEEP), INVALID, "dimension 0 of batch1 is 2")
    refused(call("addbmm", square, cube, cube, one, one, square, KEEP), INVALID, "dimension 1 of batch2 is 3")
    refused(call("addbmm", square, square, cube, one, one, square, KEEP), INVALID, "batch1 has 2 dimensions, expect")
    refused(call("addbmm", square, batch, batch, one, one, square, 4), INVALID, "cubeMathType is 4, expected 0")
    refused(call("gemm", line, square, square, 1.0, 1.0, 0, 0, square, KEEP), INVALID, "A has 1 dimensions, expected 2")
    refused(call("gemm", square, square, cube, 1.0, 1.0, 0, 0, square, KEEP), INVALID, "C has 3 dimensions")


@pytest.mark.strict
def test_systems_that_do_not_fit(npu):
    side, square, wide, half = (blank(npu, kind, shape) for kind, shape in (
        ("f4", (2, 3)), ("f4", (2, 2)), ("f8", (2, 3)), ("f2", (2, 3))))  # fmt: skip

    def call(*tensors):
        return npu.call("triangular_solve", *tensors[:2], True, False, False, *tensors[2:])

    refused(call(half, square, side, square), INVALID, "self has data type 1, float16, expected float32, float64")
    refused(call(wide, square, wide, square), INVALID, "A has data type 0, float32, expected float64, that of self")
    refused(call(side, side, side, square), INVALID, "A has matrices of 2 by 3, expected square ones")
    refused(call(blank(npu, "f4", (3, 2)), square, side, square), INVALID, "self has matrices of 3 rows, expected 2")
    refused(call(side, square, square, square), INVALID, "xOut has shape [2, 2], expected [2, 3]")
    refused(call(side, square, side, side), INVALID, "mOut has shape [2, 3], expected [2, 2]")
    sides, squares = blank(npu, "f4", (2, 2, 3)), blank(npu, "f4", (3, 2, 2))
    refused(call(sides, squares, side, square), INVALID, "a batch dimension of self is 2 and that of A is 3")


@pytest.mark.strict
def test_inverses_that_do_not_fit(npu):
    square, line = blank(npu, "f4", (2, 2)), blank(npu, "f4", (2,))
    wide, none, side = blank(npu, "f8", (2, 2)), blank(npu, "f4", (0, 0)), blank(npu, "f4", (2, 3))
    refused(npu.call("inverse", wide, wide), INVALID, "self has data type 11, float64, expected float32 or float16")
    refused(npu.call("inverse", square, wide), INVALID, "out has data type 11, float64, expected float32")
    refused(npu.call("inverse", line, line), INVALID, "self has 1 dimensions, expected 2 to 8")
    refused(npu.call("inverse", side, side), INVALID, "self has matrices of 2 by 3, expected square ones")
    refused(npu.call("inverse", none, none), INVALID, "self has no elements")
    refused(npu.call("inverse", square, side), INVALID, "out has shape [2, 3], expected [2, 2]")


@pytest.mark.strict
def test_determinants_that_do_not_fit(npu):
    square, one, pairs = blank(npu, "f4", (2, 2)), blank(npu, "f4", ()), blank(npu, "c8", (2, 2))
    half, side = blank(npu, "f2", (2, 2)), blank(npu, "f4", (2, 3))
    refused(npu.call("slogdet", half, one, one), INVALID, "self has data type 1, float16")
    refused(npu.call("slogdet", side, one, one), INVALID, "self has matrices of 2 by 3, expected square ones")
    refused(npu.call("slogdet", square, square, one), INVALID, "signOut has shape [2, 2], expected [] or [1]")
    refused(npu.call("slogdet", square, one, square), INVALID, "logOut has shape [2, 2], expected [] or [1]")
    refused(npu.call("logdet", blank(npu, "f4", (3, 2, 2)), one), INVALID, "out has shape [], expected [3]")
    refused(npu.call("logdet", pairs, one), INVALID, "the determinant is complex64, which cannot be cast to float32")


@pytest.mark.strict
def test_decompositions_that_do_not_fit(npu):
    side, square, wide = blank(npu, "f4", (2, 3)), blank(npu, "f4", (2, 2)), blank(npu, "f8", (2, 2))
    bits = blank(npu, "b2", (2, 2))
    refused(npu.call("linalg_qr", side, 3, square, side), INVALID, "mode is 3, expected 0 (reduced), 1 (complete) or 2")
    refused(npu.call("linalg_qr", bits, 0, bits, bits), INVALID, "self has data type 27, bfloat16")
    refused(npu.call("linalg_qr", side, 0, wide, side), INVALID, "Q has data type 11, float64, expected float32")
    refused(npu.call("linalg_qr", side, 0, side, side), INVALID, "Q has shape [2, 3], expected [2, 2]")
    refused(npu.call("qr", side, False, square, square), INVALID, "R has shape [2, 2], expected [2, 3]")
