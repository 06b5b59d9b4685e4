"""Resizing of images against NumPy: the nearest element, interpolation, antialiasing, gradients, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, SETTINGS, blank, numbers
from helpers.planes import Case
from helpers.pointwise import FLOATS, SINGLE
from hypothesis import given
from hypothesis import strategies as st

import acl

# The operator, its directions, its method, the types of it and of its gradient, the name of the latter, and whether it
# takes scales.
OPERATORS = [
    ("nearest1d", 1, "nearest", [*FLOATS, "u1"], None, None, False),
    ("nearest2d", 2, "nearest", [*FLOATS, "u1"], None, None, False),
    ("nearest1d_v2", 1, "nearest", [*FLOATS, "u1"], FLOATS, "nearest1d_backward", True),
    ("nearest2d_v2", 2, "nearest", [*FLOATS, "u1"], SINGLE, "nearest2d_backward", True),
    ("nearest3d", 3, "nearest", [*FLOATS, "u1"], FLOATS, "nearest3d_backward", True),
    ("nearest_exact1d", 1, "exact", [*SINGLE, "u1"], SINGLE, "nearest_exact1d_backward", True),
    ("nearest_exact2d", 2, "exact", [*SINGLE, "u1"], SINGLE, "nearest_exact2d_backward", True),
    ("nearest_exact3d", 3, "exact", SINGLE, SINGLE, "nearest_exact3d_backward", True),
    ("linear1d", 1, "linear", SINGLE, SINGLE, "linear1d_backward", True),
    ("bilinear2d", 2, "linear", FLOATS, SINGLE, "bilinear2d_backward", True),
    ("bilinear2d", 2, "linear", FLOATS, SINGLE, "bilinear2d_backward_v2", True),
    ("trilinear3d", 3, "linear", FLOATS, FLOATS, "trilinear3d_backward", True),
    ("bicubic2d", 2, "cubic", SINGLE, SINGLE, "bicubic2d_backward", True),
    ("bilinear2d_aa", 2, "smooth linear", SINGLE, SINGLE, "bilinear2d_aa_backward", True),
    ("bicubic2d_aa", 2, "smooth cubic", SINGLE, SINGLE, "bicubic2d_aa_grad", True),
]


def cubic(x, a):
    x = numpy.abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * x * a - 4 * a
    return numpy.where(x <= 1, near, numpy.where(x < 2, far, 0))


def weights(size, out, method, aligns, scale):
    """Return the matrix that resizes a direction: a row of weights per element of the result."""
    matrix, at = numpy.zeros((out, size)), numpy.arange(out)
    step = 1 / scale if scale > 0 else size / out
    if aligns:
        step = (size - 1) / (out - 1) if out > 1 else 0.0
    if method in ("nearest", "exact"):
        short = numpy.float32(1 / scale) if scale > 0 else numpy.float32(size) / numpy.float32(out)
        place = at.astype("f4") * short if method == "nearest" else ((at + 0.5) * numpy.float64(short)).astype("f4")
        matrix[at, numpy.minimum(numpy.floor(place).astype("i8"), size - 1)] = 1
    elif method in ("linear", "cubic"):
        place = step * at if aligns else step * (at + 0.5) - 0.5
        if method == "linear":
            place = place.clip(0, size - 1)
        first = numpy.floor(place).astype("i8")
        for away in (0, 1) if method == "linear" else (-1, 0, 1, 2):
            far = place - first - away
            part = 1 - numpy.abs(far) if method == "linear" else cubic(far, -0.75)
            numpy.add.at(matrix, (at, (first + away).clip(0, size - 1)), part)
    else:
        wide = max(step, 1)
        support = wide * (2 if method == "smooth cubic" else 1)
        for row in range(out):
            center = step * (row + 0.5)
            inside = numpy.arange(max(int(center - support + 0.5), 0), min(int(center + support + 0.5), size))
            far = (inside - center + 0.5) / wide
            parts = cubic(far, -0.5) if method == "smooth cubic" else (1 - numpy.abs(far)).clip(0)
            matrix[row, inside] = parts / (parts.sum() or 1)
    return matrix


def apply(matrices, values):
    """Multiply each of the last directions by its matrix."""
    for axis, matrix in enumerate(matrices, -len(matrices)):
        values = numpy.moveaxis(numpy.moveaxis(values, axis, -1) @ matrix.T, -1, axis)
    return values


@pytest.mark.parametrize("row", OPERATORS, ids=lambda row: row[5] or row[0])
def test_resizing(npu, row):
    name, dims, method, kinds, gradient_kinds, backward, scaled = row

    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw = data.draw
        sizes, wanted = ([draw(st.integers(1, 7)) for _ in range(dims)] for _ in range(2))
        lead = [draw(st.integers(1, 2)), draw(st.integers(1, 2))]
        scales = [draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.5, 2.0])) for _ in range(dims)] if scaled else []
        aligns = draw(st.booleans()) and method not in ("nearest", "exact")
        more = [*([aligns] if method not in ("nearest", "exact") else []), *scales]
        matrices = [
            weights(size, out, method, aligns, scale)
            for size, out, scale in zip(sizes, wanted, scales or [0.0] * dims)
        ]
        case = Case(draw, npu, kinds, [numbers])
        self, values = case.given([*lead, *sizes])
        out = case.out([*lead, *wanted])
        assert npu.call(f"upsample_{name}", self, npu.integers(wanted), *more, out) == 0
        case.check(out, apply(matrices, values))
        if backward:
            case = Case(draw, npu, gradient_kinds, [numbers])
            gradient, values = case.given([*lead, *wanted])
            out = case.out([*lead, *sizes])
            shapes = npu.integers(wanted), npu.integers([*lead, *sizes])
            assert npu.call(f"upsample_{backward}", gradient, *shapes, *more, out) == 0
            case.check(out, apply([matrix.T for matrix in matrices], values))

    run_case()


def test_odd_values(npu):
    nan, inf = numpy.nan, numpy.inf
    self = npu.tensor(numpy.array([[[1, nan, inf, 2]]], "f4"))
    near, wide = blank(npu, "f4", (1, 1, 8)), blank(npu, "f4", (1, 1, 7))
    assert npu.call("upsample_nearest1d", self, npu.integers([8]), near) == 0
    assert numpy.array_equal(npu.get(near), [[[1, 1, nan, nan, inf, inf, 2, 2]]], equal_nan=True)
    assert npu.call("upsample_linear1d", self, npu.integers([7]), True, 0.0, wide) == 0
    assert numpy.array_equal(npu.get(wide), [[[nan, nan, nan, nan, inf, inf, 2]]], equal_nan=True)


def test_places_are_computed_in_float(npu):
    """The sizes are such that a computation in double finds other elements."""
    for size, out in ((2, 82), (3, 123)):
        self = npu.tensor(numpy.arange(size, dtype="f4").reshape(1, 1, size))
        to = blank(npu, "f4", (1, 1, out))
        assert npu.call("upsample_nearest1d", self, npu.integers([out]), to) == 0
        step = numpy.float32(size) / numpy.float32(out)
        assert npu.get(to).ravel().tolist() == numpy.floor(numpy.arange(out, dtype="f4") * step).tolist()


def test_an_empty_batch(npu):
    self, out = npu.tensor(numpy.zeros((0, 1, 2, 2), "f4")), npu.tensor(numpy.zeros((0, 1, 4, 4), "f4"))
    assert npu.call("upsample_nearest2d_v2", self, npu.integers([4, 4]), 2.0, 2.0, out) == 0


@SETTINGS
@given(data=st.data())
def test_resize(npu, data):
    draw = data.draw
    case, mode = Case(draw, npu, SINGLE, [numbers]), draw(st.sampled_from(["nearest", "bilinear"]))
    sizes = [draw(st.integers(2, 6)) for _ in range(2)]
    scales = [draw(st.sampled_from([0.5, 1.0, 1.5, 2.75])) for _ in range(2)]
    wanted = [int(size * scale) for size, scale in zip(sizes, scales)]
    method = "nearest" if mode == "nearest" else "linear"
    matrices = [weights(size, out, method, False, scale) for size, out, scale in zip(sizes, wanted, scales)]
    self, values = case.given([2, 1, *sizes])
    out = case.out([2, 1, *wanted])
    factors = acl.create_float_array([1.0, 1.0, *scales])
    assert npu.call("resize", self, factors, mode, out) == 0
    case.check(out, apply(matrices, values))
    acl.destroy_float_array(factors)


@pytest.mark.strict
@pytest.mark.parametrize("sizes", [(0.7, 6, 7), (1.1, 11, 10), (0.3, 3, 2), (0.1, 1, 2)])
def test_sizes_are_products_in_double(npu, sizes):
    """A scale is a float32: 0.7 becomes a little less, and 0.3 a little more."""
    scale, fits, other = sizes
    self, factors = blank(npu, "f4", (1, 1, 10, 1)), acl.create_float_array([1.0, 1.0, scale, 1.0])
    assert npu.call("resize", self, factors, "nearest", blank(npu, "f4", (1, 1, fits, 1))) == 0
    ret = npu.call("resize", self, factors, "nearest", blank(npu, "f4", (1, 1, other, 1)))
    refused(ret, INVALID, f"expected [1, 1, {fits}, 1], that of the resized images")
    acl.destroy_float_array(factors)


# --- Refusals


@pytest.mark.strict
@pytest.mark.parametrize(
    ("shape", "sizes", "out", "words"),
    [
        ((1, 1, 2), [4, 4], (1, 1, 4), "self has 3 dimensions, expected 4"),
        ((0, 1, 2, 2), [4, 4], (0, 1, 4, 4), "dimension 0 of self is 0, expected 1 or more"),
        ((1, 1, 2, 2), [4], (1, 1, 4, 4), "outputSize has 1 numbers, expected 2"),
        ((1, 1, 2, 2), [4, 0], (1, 1, 4, 4), "outputSize[1] is 0, expected 1 to"),
        ((1, 1, 2, 2), [4, 4], (1, 1, 4, 5), "out has shape [1, 1, 4, 5], expected [1, 1, 4, 4], that of the resized"),
    ],
)
def test_sizes_that_do_not_fit(npu, shape, sizes, out, words):
    self, to = npu.tensor(numpy.zeros(shape, "f4")), npu.tensor(numpy.zeros(out, "f4"))
    refused(npu.call("upsample_bilinear2d", self, npu.integers(sizes), False, 0.0, 0.0, to), INVALID, words)


@pytest.mark.strict
def test_types_and_gradients_that_do_not_fit(npu):
    whole, small, large = blank(npu, "i4", (1, 1, 2)), blank(npu, "f4", (1, 1, 2)), blank(npu, "f4", (1, 1, 4))
    four, half = npu.integers([4]), blank(npu, "f2", (1, 1, 4))
    refused(npu.call("upsample_nearest1d", whole, four, large), INVALID, "self has data type 3, int32")
    refused(npu.call("upsample_nearest1d", small, four, half), INVALID, "out has data type 1, float16")
    shape = npu.integers([1, 1, 2])
    assert npu.call("upsample_linear1d_backward", large, four, shape, False, 0.0, small) == 0
    words = "gradOut has shape [1, 1, 2], expected [1, 1, 4], that of inputSize resized to outputSize"
    refused(npu.call("upsample_linear1d_backward", small, four, shape, False, 0.0, small), INVALID, words)
    words = "out has shape [1, 1, 4], expected [1, 1, 2], inputSize"
    refused(npu.call("upsample_linear1d_backward", large, four, shape, False, 0.0, large), INVALID, words)
    refused(npu.call("upsample_linear1d_backward", large, four, four, False, 0.0, small), INVALID, "inputSize has 1")
    image, wide = blank(npu, "f4", (1, 1, 2, 2)), blank(npu, "f4", (1, 1, 4, 4))
    factors = acl.create_float_array([1.0, 1.0, 2.0, 2.0])
    refused(npu.call("resize", image, factors, "cubic", wide), INVALID, 'mode is "cubic", expected "nearest" or')
    refused(npu.call("resize", image, factors, "nearest", image), INVALID, "out has shape [1, 1, 2, 2]")
    acl.destroy_float_array(factors)
