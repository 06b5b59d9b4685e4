"""Cdist, CdistBackward, Pdist and PdistForward against NumPy in double: orders, types, strides, batches, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, PARTS, SETTINGS, any_view, blank, check_written, close, exact, stored
from hypothesis import given
from hypothesis import strategies as st

SINGLE = ["f4", "f2", "b2"]
INF = numpy.inf
ORDERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF]


def halves(generator, shape, kind):
    """Return few different numbers, so that some vectors have equal elements."""
    return stored(generator.integers(-4, 5, shape) / 2, kind)


def view_of(draw, kind, shape):
    """Return a contiguous array and a view of it."""
    return any_view(draw, numpy.random.default_rng(draw(st.integers(0, 2**32))), list(shape), kind, halves)


def distances(one, other, p):
    """Return the distances of all rows of one matrix, or batch of matrices, to those of another."""
    sizes = numpy.abs(one[..., :, None, :] - other[..., None, :, :])
    if p == INF:
        return sizes.max(-1, initial=0)
    return (sizes > 0).sum(-1) if p == 0 else (sizes**p).sum(-1) ** (1 / p)


def check(npu, out, expected):
    """Assert that a result is exact except for its rounding."""
    kind = out.kind
    close(exact(npu.get(out), kind), expected, PARTS[kind] * numpy.abs(expected))


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(SINGLE), p=st.sampled_from(ORDERS), mode=st.integers(0, 2))
def test_cdist(npu, data, kind, p, mode):
    draw = data.draw
    rows, columns, length = (draw(st.integers(0, 4)) for _ in range(3))
    batches = draw(st.lists(st.integers(0, 3), max_size=2))
    parts = [[1 if draw(st.booleans()) else dim for dim in batches][draw(st.integers(0, len(batches))) :] for _ in "12"]
    views = [view_of(draw, kind, [*part, size, length]) for part, size in zip(parts, (rows, columns))]
    whole = numpy.broadcast_shapes(*map(tuple, parts))
    out = npu.view(*view_of(draw, kind, [*whole, rows, columns]), kind)
    assert npu.call("cdist", *(npu.view(*view, kind) for view in views), p, mode, out) == 0
    check(npu, out, distances(*(exact(view, kind) for _, view in views), p))


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(["f4", "f2"]), p=st.sampled_from(ORDERS), forward=st.booleans())
def test_pdist(npu, data, kind, p, forward):
    rows, length = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 4))
    base, view = view_of(data.draw, kind, [rows, length])
    self, out = npu.view(base, view, kind), npu.view(*view_of(data.draw, kind, [rows * max(rows - 1, 0) // 2]), kind)
    if forward:
        assert npu.call("pdist_forward", self, npu.scalar(p, "f4"), out) == 0
    else:
        assert npu.call("pdist", self, p, out) == 0
    check(npu, out, distances(exact(view, kind), exact(view, kind), p)[numpy.triu_indices(rows, 1)])


def test_the_order_of_pairs(npu):
    self, out = npu.tensor(numpy.array([[0], [1], [3], [7]], "f4")), blank(npu, "f4", (6,))
    assert npu.call("pdist_forward", self, npu.scalar(1, "i8"), out) == 0
    check_written(npu, out, [1, 3, 7, 2, 6, 4])


@pytest.mark.parametrize("p", ORDERS)
def test_distances_of_nan_are_nan(npu, p):
    one, other = numpy.array([[1, numpy.nan, 0]], "f4"), numpy.zeros((2, 3), "f4")
    out = blank(npu, "f4", (1, 2))
    assert npu.call("cdist", npu.tensor(one), npu.tensor(other), p, 0, out) == 0
    assert numpy.isnan(npu.get(out)).all()


def test_distances_do_not_overflow(npu):
    one, out = numpy.array([[3e30, 4e30]], "f4"), blank(npu, "f4", (1, 1))
    assert npu.call("cdist", npu.tensor(one), blank(npu, "f4", (1, 2)), 2.0, 0, out) == 0
    assert numpy.allclose(npu.get(out), 5e30)


def gradient(grad, one, other, whole, p):
    """Return the gradient of the first vectors: none where a distance is 0, which has no derivative there."""
    apart = one[..., :, None, :] - other[..., None, :, :]
    grad, whole = grad[..., None], whole[..., None]
    if p == 0 or 0 in apart.shape:
        return numpy.zeros(numpy.broadcast_shapes(one.shape, (*apart.shape[:-3], *one.shape[-2:])))
    if p == INF:
        return (grad * numpy.sign(apart) * (numpy.abs(apart) == numpy.abs(apart).max(-1, keepdims=True))).sum(-2)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        parts = grad * numpy.sign(apart) * (numpy.abs(apart) / whole) ** (p - 1)
    return numpy.where((whole == 0) | (apart == 0), 0, parts).sum(-2)


@SETTINGS
@given(data=st.data(), kind=st.sampled_from(SINGLE), p=st.sampled_from(ORDERS))
def test_gradients_of_distances(npu, data, kind, p):
    draw = data.draw
    rows, columns, length = (draw(st.integers(0, 4)) for _ in range(3))
    batches = draw(st.lists(st.integers(0, 3), max_size=2))
    others = [1 if draw(st.booleans()) else dim for dim in batches]
    grad, one, other, whole, out = (view_of(draw, kind, shape) for shape in (
        [*batches, rows, columns], [*batches, rows, length], [*others, columns, length], [*batches, rows, columns],
        [*batches, rows, length]))  # fmt: skip
    whole[1][...] = stored(distances(exact(one[1], kind), exact(other[1], kind), p), kind)
    tensors = [npu.view(*view, kind) for view in (grad, one, other, whole)]
    out = npu.view(*out, kind)
    assert npu.call("cdist_backward", *tensors, p, out) == 0
    values = [exact(view, kind) for _, view in (grad, one, other, whole)]
    expected, found = gradient(*values, p), exact(npu.get(out), kind)
    close(found, expected, PARTS[kind] * numpy.abs(expected) + 2.0**-20)


def test_the_gradient_of_the_largest_difference(npu):
    """A distance that was rounded equals no difference. PyTorch passes -1 for infinity."""
    one, other = numpy.array([[1, 2.0009765625]], "f2"), numpy.array([[0, -1024.0]], "f2")
    whole, grad = numpy.array([[1026.0]], "f2"), numpy.array([[3]], "f2")
    for p in (INF, -1.0):
        out = blank(npu, "f2", (1, 2))
        assert npu.call("cdist_backward", *map(npu.tensor, (grad, one, other, whole)), p, out) == 0
        check_written(npu, out, [[0, 3]])


def test_equal_vectors_have_no_gradient(npu):
    ones, zeros, out = npu.tensor(numpy.ones((1, 1), "f4")), blank(npu, "f4", (1, 1)), blank(npu, "f4", (1, 1))
    for p in ORDERS:
        assert npu.call("cdist_backward", ones, ones, ones, zeros, p, out) == 0
        check_written(npu, out, [[0]])


@pytest.mark.strict
def test_vectors_that_do_not_fit(npu):
    x1, x2, out, line, wide = (blank(npu, kind, shape) for kind, shape in (
        ("f4", (2, 3)), ("f4", (4, 3)), ("f4", (2, 4)), ("f4", (3,)), ("f8", (2, 3))))  # fmt: skip

    def call(one, other, p, out):
        return npu.call("cdist", one, other, p, 0, out)

    refused(call(wide, wide, 1.0, wide), INVALID, "x1 has data type 11, float64, expected float32, float16 or bfloat16")
    refused(call(x1, blank(npu, "f2", (4, 3)), 1.0, out), INVALID, "x2 has data type 1, float16, expected float32")
    refused(call(x1, x2, 1.0, blank(npu, "f2", (2, 4))), INVALID, "out has data type 1, float16, expected float32")
    refused(call(line, x2, 1.0, out), INVALID, "x1 has 1 dimensions, expected 2 to 8")
    refused(call(x1, line, 1.0, out), INVALID, "x2 has 1 dimensions, expected 2 to 8")
    refused(call(x1, blank(npu, "f4", (4, 2)), 1.0, out), INVALID, "x2 has vectors of 2 elements, expected 3, as x1")
    refused(call(blank(npu, "f4", (2, 2, 3)), blank(npu, "f4", (3, 4, 3)), 1.0, out), INVALID,
            "a batch dimension of x1 is 2 and that of x2 is 3, expected the same or 1")  # fmt: skip
    refused(call(x1, x2, -1.0, out), INVALID, "p is -1, expected 0 or more")
    refused(call(x1, x2, numpy.nan, out), INVALID, "p is nan, expected 0 or more")
    refused(call(x1, x2, 1.0, x2), INVALID, "out has shape [4, 3], expected [2, 4]")
    refused(call(x1, x2, 1.0, 0), NULLPTR, "out")


@pytest.mark.strict
def test_rows_that_do_not_fit(npu):
    self, out, bits = blank(npu, "f4", (3, 2)), blank(npu, "f4", (3,)), blank(npu, "b2", (3, 2))
    refused(npu.call("pdist", bits, 1.0, bits), INVALID, "self has data type 27, bfloat16, expected float32 or float16")
    refused(npu.call("pdist", self, 1.0, blank(npu, "f2", (3,))), INVALID, "out has data type 1, float16")
    refused(npu.call("pdist", out, 1.0, out), INVALID, "self has 1 dimensions, expected 2")
    refused(npu.call("pdist", self, 1.0, self), INVALID, "out has shape [3, 2], expected [3], one distance per pair")
    refused(npu.call("pdist", self, -0.5, out), INVALID, "p is -0.5, expected 0 or more")
    refused(npu.call("pdist_forward", self, npu.scalar(-2, "i8"), out), INVALID, "pScalar is -2, expected 0 or more")
    refused(npu.call("pdist_forward", self, npu.scalar(2, "c8"), out), INVALID, "pScalar has data type 16, complex64")
    many = npu.tensor(numpy.zeros((2**40, 0), "f4"))
    refused(npu.call("pdist", many, 1.0, out), INVALID, "self has 1099511627776 rows, expected so few that the number")
    refused(npu.call("pdist_forward", self, 0, out), NULLPTR, "pScalar")


@pytest.mark.strict
def test_gradients_that_do_not_fit(npu):
    grad, x1, x2 = (blank(npu, "f4", shape) for shape in ((2, 5, 4), (2, 5, 3), (1, 4, 3)))
    flat, half = blank(npu, "f4", (5, 3)), blank(npu, "f2", (2, 5, 3))

    def call(grad, x1, x2, whole, out):
        return npu.call("cdist_backward", grad, x1, x2, whole, 2.0, out)

    assert call(grad, x1, x2, grad, x1) == 0
    refused(call(blank(npu, "f8"), x1, x2, grad, x1), INVALID, "grad has data type 11, float64, expected float32")
    refused(call(grad, half, x2, grad, x1), INVALID, "x1 has data type 1, float16, expected float32")
    refused(call(grad, x1, x2, grad, half), INVALID, "out has data type 1, float16, expected float32")
    refused(call(blank(npu, "f4", (4,)), x1, x2, grad, x1), INVALID, "grad has 1 dimensions, expected 2 to 7")
    refused(call(grad, flat, x2, grad, x1), INVALID, "x1 has 2 dimensions, expected 3")
    refused(call(grad, x1, flat, grad, x1), INVALID, "x2 has 2 dimensions, expected 3")
    refused(call(grad, x1, x2, x1, x1), INVALID, "cdist has shape [2, 5, 3], expected [2, 5, 4], that of grad")
    refused(call(grad, x2, x2, grad, x2), INVALID, "x1 has shape [1, 4, 3], expected [2, 5, 3], that of grad except")
    refused(call(grad, x1, x2, grad, x2), INVALID, "out has shape [1, 4, 3], expected [2, 5, 3], that of x1")
    refused(call(grad, x1, blank(npu, "f4", (3, 4, 3)), grad, x1), INVALID, "x2 has shape [3, 4, 3], expected [2,")
