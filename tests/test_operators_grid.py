"""Sampling of images at the places of a grid against NumPy: methods, places beyond the image, gradients, refusals."""

import itertools
import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, numbers, stored
from helpers.planes import Case
from helpers.pointwise import FLOATS
from hypothesis import given
from hypothesis import strategies as st

import acl

LINEAR, NEAREST, CUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
NAMES = {2: "grid_sampler2_d", 3: "grid_sampler3_d"}


def coordinates(generator, shape, kind):
    """Return random coordinates, also beyond the image, which extends from -1 to 1."""
    return stored(generator.uniform(-2, 2, shape), kind)


def cubic(x):
    x, a = abs(x), -0.75
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, (((x - 5) * x + 8) * x - 4) * a
    return near if x <= 1 else far if x < 2 else 0


def inside(place, size, beyond, aligns):
    """Move a place into the image, unless the elements beyond it are 0."""
    if beyond == REFLECTION:
        low, span = (0, size - 1) if aligns else (-0.5, size)
        place = low + span - abs((place - low) % (2 * span) - span) if span else 0
    return place if beyond == ZEROS else min(max(place, 0), size - 1)


def taps(coordinate, size, method, beyond, aligns):
    """Return the elements in one direction with their weights."""
    place = (coordinate + 1) / 2 * (size - 1) if aligns else ((coordinate + 1) * size - 1) / 2
    if method == CUBIC:
        first = math.floor(place)
        found = [(inside(first + away, size, beyond, aligns), cubic(place - first - away)) for away in (-1, 0, 1, 2)]
    else:
        place = inside(place, size, beyond, aligns)
        first = math.floor(place)
        found = [(round(place), 1)] if method == NEAREST else [(first, 1 - (place - first)), (first + 1, place - first)]
    return [(int(index), weight) for index, weight in found if 0 <= index < size]


def reads(shape, grid, *options):
    """Return all that is read: the index of the image and place, the index of the element, and its weight."""
    sizes = shape[2:]
    for index in numpy.ndindex(*grid.shape[:-1]):
        lists = [taps(float(grid[index][-1 - k]), size, *options) for k, size in enumerate(sizes)]
        for combination in itertools.product(*lists):
            element = tuple(at for at, _ in combination)
            yield (index[0], slice(None), *index[1:]), (index[0], slice(None), *element), math.prod(
                weight for _, weight in combination
            )


def sampled(values, grid, *options):
    """Return the images read at the places of the grid."""
    out = numpy.zeros((*values.shape[:2], *grid.shape[1:-1]))
    for place, element, weight in reads(values.shape, grid, *options):
        out[place] += weight * values[element]
    return out


def returned(gradient, shape, grid, *options):
    """Return the gradient of the images."""
    out = numpy.zeros(shape)
    for place, element, weight in reads(shape, grid, *options):
        out[element] += weight * gradient[place]
    return out


def options_of(draw, dims):
    method = draw(st.sampled_from([LINEAR, NEAREST, CUBIC][: 3 if dims == 2 else 2]))
    return method, draw(st.sampled_from([ZEROS, BORDER, REFLECTION])), draw(st.booleans())


@pytest.mark.parametrize("dims", [2, 3])
def test_sampling(npu, dims):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw, options = data.draw, options_of(data.draw, dims)
        case = Case(draw, npu, FLOATS, [numbers])
        shape, places = (
            [draw(st.integers(1, most)) for most in (2, 2, 4, 4, 4)[: dims + 2]],
            [draw(st.integers(1, 3)) for _ in range(dims)],
        )
        self, values = case.given(shape)
        grid, at = case.given([shape[0], *places, dims], coordinates)
        out = case.out([*shape[:2], *places])
        assert npu.call(NAMES[dims], self, grid, *options, out) == 0
        case.check(out, sampled(values, at, *options))
        gradient, parts = case.given([*shape[:2], *places])
        outs = case.out(shape), case.out(at.shape)
        mask = acl.create_bool_array([1, 0])
        assert npu.call(f"{NAMES[dims]}_backward", gradient, self, grid, *options, mask, *outs) == 0
        case.check(outs[0], returned(parts, shape, at, *options))
        assert numpy.array_equal(npu.get(outs[1]), outs[1].view, equal_nan=outs[1].view.dtype.kind == "f")
        acl.destroy_bool_array(mask)

    run_case()


@pytest.mark.parametrize("dims", [2, 3])
def test_gradients_of_coordinates(npu, dims):
    """Compares with differences of results, at places where these have a derivative."""

    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        draw, options = data.draw, options_of(data.draw, dims)
        generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
        shape, step = [2, 2, *[draw(st.integers(2, 4)) for _ in range(dims)]], 1e-5
        sizes = numpy.array(shape[:1:-1], "f8")  # that of the width first
        place = generator.integers(-3, 7, (2, 1, *[2] * (dims - 1), dims)) + generator.uniform(0.1, 0.4, dims)
        at = 2 * place / (sizes - 1) - 1 if options[2] else (2 * place + 1) / sizes - 1
        values = generator.normal(0, 1, shape)
        gradient = generator.normal(0, 1, (*shape[:2], *at.shape[1:-1]))
        expected = numpy.zeros(at.shape)
        for k in range(dims):
            away = numpy.zeros(dims)
            away[k] = step
            change = sampled(values, at + away, *options) - sampled(values, at - away, *options)
            expected[..., k] = (change * gradient).sum(1) / (2 * step)
        outs, mask = (blank(npu, "f8", shape), blank(npu, "f8", at.shape)), acl.create_bool_array([0, 1])
        given = [npu.tensor(each) for each in (gradient, values, at)]
        assert npu.call(f"{NAMES[dims]}_backward", *given, *options, mask, *outs) == 0
        assert numpy.allclose(npu.get(outs[1]), expected, 1e-5, 1e-6)
        assert not npu.get(outs[0]).any()
        acl.destroy_bool_array(mask)

    run_case()


@pytest.mark.parametrize("aligns", [False, True])
@pytest.mark.parametrize(
    ("dims", "methods", "beyond", "expected"),
    [
        (2, [LINEAR, CUBIC], ZEROS, [math.nan] * 3),
        (2, [NEAREST], ZEROS, [0, 0, 0]),
        (2, [LINEAR, NEAREST], BORDER, [1, 3, 1]),
        (2, [LINEAR, NEAREST], REFLECTION, [1, 1, 1]),
        (2, [CUBIC], BORDER, [math.nan] * 3),
        (2, [CUBIC], REFLECTION, [math.nan] * 3),
        (3, [LINEAR, NEAREST], ZEROS, [0, 0, 0]),
        (3, [LINEAR, NEAREST], BORDER, [3, 3, 1]),
        (3, [LINEAR, NEAREST], REFLECTION, [3, 3, 3]),
    ],
)
def test_odd_places(npu, dims, methods, beyond, expected, aligns):
    """Results for NaN and infinities are those of PyTorch on a CPU, whose rules differ between images and volumes."""
    self = npu.tensor(numpy.array([1, 2, 3], "f4").reshape(1, 1, *[1] * (dims - 1), 3))
    places = numpy.zeros((1, *[1] * (dims - 1), 3, dims), "f4")
    places[..., 0] = [numpy.nan, numpy.inf, -numpy.inf]
    for method in methods:
        out = blank(npu, "f4", (1, 1, *places.shape[1:-1]))
        assert npu.call(NAMES[dims], self, npu.tensor(places), method, beyond, aligns, out) == 0
        assert numpy.array_equal(npu.get(out).ravel(), numpy.array(expected, "f4"), equal_nan=True)


def test_gradients_of_odd_places(npu):
    """A place that is NaN is outside of a volume when gradients are computed; one beyond it is at its border."""
    for dims, expected in ((2, [2, 0, 1]), (3, [1, 0, 1])):
        shape = (1, 1, *[1] * (dims - 1), 3)
        places = numpy.zeros((*shape[1:], dims), "f4")
        places[..., 0] = [numpy.nan, numpy.inf, -numpy.inf]
        ones, outs = npu.tensor(numpy.ones(shape, "f4")), (blank(npu, "f4", shape), blank(npu, "f4", places.shape))
        mask = acl.create_bool_array([1, 1])
        given_too = ones, ones, npu.tensor(places), NEAREST, BORDER, True, mask
        assert npu.call(f"{NAMES[dims]}_backward", *given_too, *outs) == 0
        assert npu.get(outs[0]).ravel().tolist() == expected and not npu.get(outs[1]).any()
        acl.destroy_bool_array(mask)


# --- AffineGrid


@SETTINGS
@given(data=st.data(), aligns=st.booleans())
def test_affine_grid(npu, data, aligns):
    case = Case(data.draw, npu, pools=(numbers,))
    sizes = [data.draw(st.integers(1, 5)) for _ in range(data.draw(st.integers(2, 3)))]
    count, dims = data.draw(st.integers(1, 3)), len(sizes)
    theta, matrices = case.given((count, dims, dims + 1))
    lines = [(2 * numpy.arange(size) - (size - 1)) / max(size - 1 if aligns else size, 1) for size in sizes]
    places = numpy.stack([*reversed(numpy.meshgrid(*lines, indexing="ij")), numpy.ones(sizes)], -1)
    out = case.out((count, *sizes, dims))
    assert npu.call("affine_grid", theta, npu.integers([count, 7, *sizes]), aligns, out) == 0
    case.check(out, numpy.einsum("nij,...j->n...i", matrices, places))


@pytest.mark.strict
def test_affine_grids_refuse(npu):
    theta, out, size = blank(npu, "f4", (1, 2, 3)), blank(npu, "f4", (1, 4, 5, 2)), npu.integers([1, 3, 4, 5])
    assert npu.call("affine_grid", theta, size, True, out) == 0
    for place, words in ((0, "theta is NULL"), (1, "size is NULL"), (3, "out is NULL")):
        given = [theta, size, True, out]
        given[place] = 0
        refused(npu.call("affine_grid", *given), NULLPTR, words)
    for numbers_of_size, words in (
        ([1, 3, 4], "size has 3 numbers, expected 4 or 5"),
        ([1, 3, 0, 5], "size[2] is 0, expected 1 to 100000"),
        ([1, 3, 4, 100001], "size[3] is 100001, expected 1 to 100000"),
        ([2, 3, 4, 5], "theta has shape [1, 2, 3], expected [2, 2, 3], a matrix for each image of size"),
        ([1, 3, 4, 6], "out has shape [1, 4, 5, 2], expected [1, 4, 6, 2]"),
    ):
        refused(npu.call("affine_grid", theta, npu.integers(numbers_of_size), True, out), INVALID, words)
    double = blank(npu, "f8", (1, 2, 3))
    refused(npu.call("affine_grid", double, size, True, out), INVALID, "theta has data type 11, float64")


# --- Refusals


@pytest.mark.strict
@pytest.mark.parametrize(
    ("shape", "grid", "out", "options", "words"),
    [
        ((1, 2, 2), (1, 3, 3, 2), (1, 1, 3, 3), (0, 0), "input has 3 dimensions, expected 4"),
        ((1, 1, 2, 0), (1, 3, 3, 2), (1, 1, 3, 3), (0, 0), "dimension 3 of input is 0, expected 1 or more"),
        ((1, 1, 2, 2), (1, 3, 3, 3), (1, 1, 3, 3), (0, 0), "grid has shape [1, 3, 3, 3], expected [1, 3, 3, 2]"),
        ((1, 1, 2, 2), (2, 3, 3, 2), (1, 1, 3, 3), (0, 0), "grid has shape [2, 3, 3, 2], expected [1, 3, 3, 2]"),
        ((1, 1, 2, 2), (1, 3, 3, 2), (1, 1, 3, 2), (0, 0), "out has shape [1, 1, 3, 2], expected [1, 1, 3, 3]"),
        ((1, 1, 2, 2), (1, 3, 3, 2), (1, 1, 3, 3), (3, 0), "interpolationMode is 3, expected 0 to 2"),
        ((1, 1, 2, 2), (1, 3, 3, 2), (1, 1, 3, 3), (0, -1), "paddingMode is -1, expected 0 to 2"),
    ],
)
def test_samples_that_do_not_fit(npu, shape, grid, out, options, words):
    tensors = [npu.tensor(numpy.zeros(each, "f4")) for each in (shape, grid, out)]
    refused(npu.call("grid_sampler2_d", *tensors[:2], *options, False, tensors[2]), INVALID, words)


@pytest.mark.strict
def test_types_and_masks_that_do_not_fit(npu):
    image, grid, wide = (blank(npu, "f4", shape) for shape in ((1, 1, 2, 2), (1, 3, 3, 2), (1, 1, 3, 3)))
    whole, double = blank(npu, "i4", (1, 1, 2, 2)), blank(npu, "f8", (1, 3, 3, 2))
    refused(npu.call("grid_sampler2_d", whole, grid, 0, 0, False, wide), INVALID, "input has data type 3, int32")
    refused(npu.call("grid_sampler2_d", image, double, 0, 0, False, wide), INVALID, "grid has data type 11, float64")
    cube, places, far = (blank(npu, "f4", shape) for shape in ((1, 1, 2, 2, 2), (1, 3, 3, 3, 3), (1, 1, 3, 3, 3)))
    words = "interpolationMode is 2, expected 0 to 1"
    refused(npu.call("grid_sampler3_d", cube, places, CUBIC, 0, False, far), INVALID, words)
    short = acl.create_bool_array([1])
    call = "grid_sampler2_d_backward", wide, image, grid, 0, 0, False
    refused(npu.call(*call, short, image, grid), INVALID, "outputMask has 1 numbers, expected 2")
    acl.destroy_bool_array(short)
