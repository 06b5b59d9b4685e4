"""Operators that find the size of their output, against NumPy: values, the shape of the tensor, replays, refusals."""

import math

import numpy
import pytest
from helpers.capture import DEVICE_TO_DEVICE, begin, end, run
from helpers.expect import refused
from helpers.models import Model, initialise, load
from helpers.operands import (
    INVALID,
    NULLPTR,
    ORDER,
    SETTINGS,
    UNSIGNED,
    any_shape,
    any_view,
    blank,
    exact,
    stored,
    stretched,
)
from helpers.pointwise import COMPLEX, REAL, few
from hypothesis import given
from hypothesis import strategies as st

import acl

FLAT = 1000
SCALES = [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1.0, 2.5]


def repeated(generator, shape, kind):
    """Return values of which many are equal, with both zeros, infinities and NaN among the floats."""
    if ORDER[kind] < 2:
        return few(generator, shape, kind)
    values = generator.choice(SCALES, shape)
    if ORDER[kind] == 3:
        values = numpy.asarray(values, "c16") + 1j * generator.choice([0.0, -0.0, 1.0], shape)
    return stored(values, kind)


def check(npu, tensor, values):
    """Assert that a tensor got the shape of these values, holds them from its start on, and that nothing else changed.

    They are contiguous if the tensor was; otherwise its strides stay.
    """
    assert acl.rt.synchronize_stream(npu.stream) == 0, acl.get_recent_err_msg()
    assert acl.get_view_shape(tensor.handle) == (list(values.shape), 0)
    whole, view = tensor.base.copy(), tensor.view
    if values.size:
        strides = numpy.empty(values.shape, view.dtype).strides if view.flags.c_contiguous else view.strides
        first = view.ctypes.data - tensor.base.ctypes.data
        numpy.ndarray(values.shape, whole.dtype, whole, first, strides)[...] = values
    found = npu.get(tensor._replace(view=tensor.base))
    assert numpy.array_equal(found, whole, equal_nan=whole.dtype.kind in "fc")


def drawn(draw, npu, generator, shape, kind):
    """Return a tensor of any strides and its values."""
    base, view = any_view(draw, generator, shape, kind, repeated)
    return npu.view(base, view, kind), view


def room(draw, npu, generator, shape, kind):
    """Return an output of any strides."""
    return npu.view(*any_view(draw, generator, shape, kind), kind)


# --- which elements are not 0


@pytest.mark.parametrize("name", ["nonzero", "nonzero_v2"])
@SETTINGS
@given(data=st.data())
def test_nonzero(npu, name, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(REAL if name == "nonzero" else [*REAL, *UNSIGNED]))
    self, view = drawn(draw, npu, generator, any_shape(draw), kind)
    values = exact(view, kind)
    places = numpy.argwhere((values if values.ndim else values.reshape(1)) != 0).astype("i8")
    shape = [view.size, max(view.ndim, 1)]
    out = room(draw, npu, generator, shape if name == "nonzero" else shape[::-1], "i8")
    assert npu.call(name, self, out) == 0
    check(npu, out, places if name == "nonzero" else places.T)


@pytest.mark.parametrize("name", ["nonzero", "nonzero_v2"])
@pytest.mark.parametrize("value", [0, 3])
def test_a_scalar_may_have_no_index(npu, name, value):
    """PyTorch passes an output without room: its size says whether the scalar is 0."""
    shapes = [(1, 0), (int(value != 0), 0)]
    out = blank(npu, "i8", shapes[0] if name == "nonzero" else shapes[0][::-1])
    assert npu.call(name, npu.tensor(numpy.array(value, "f4")), out) == 0
    assert acl.rt.synchronize_stream(npu.stream) == 0
    assert acl.get_view_shape(out.handle) == (list(shapes[1] if name == "nonzero" else shapes[1][::-1]), 0)


@SETTINGS
@given(data=st.data())
def test_masked_select(npu, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shape, kind, mask_kind = any_shape(draw), draw(st.sampled_from(REAL)), draw(st.sampled_from(["?", "u1"]))
    self, view = drawn(draw, npu, generator, stretched(draw, shape), kind)
    mask, chosen = drawn(draw, npu, generator, stretched(draw, shape), mask_kind)
    wide, marks = numpy.broadcast_arrays(view, chosen)
    out = room(draw, npu, generator, [wide.size], kind)
    assert npu.call("masked_select", self, mask, out) == 0
    check(npu, out, wide[marks != 0])


# --- different elements and slices


def grouped(values, sorts):
    """Return the first row of each group of equal rows, the group of each row, and the sizes of the groups.

    A row with a NaN is equal to none, and NaN follows all numbers. Without sorting, only neighbours form a group.
    """
    rows = values.reshape(len(values), math.prod(values.shape[1:])).tolist()
    keys = [[(value != value, 0 if value != value else value) for value in row] for row in rows]
    order = sorted(range(len(keys)), key=keys.__getitem__) if sorts else range(len(keys))
    first, inverse, counts = [], [0] * len(keys), []
    for place, row in enumerate(order):
        if place == 0 or keys[order[place - 1]] != keys[row] or any(is_nan for is_nan, _ in keys[row]):
            first.append(row)
            counts.append(0)
        counts[-1] += 1
        inverse[row] = len(first) - 1
    return [numpy.array(numbers, "i8") for numbers in (first, inverse, counts)]


def slices_shape(draw):
    """Return a shape and a dimension, the only one that may be 0."""
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape) - 1))
    shape[axis] = draw(st.integers(0, 12))
    return shape, axis


@pytest.mark.parametrize("name", ["unique", "unique2", "unique_dim", "unique_consecutive"])
@SETTINGS
@given(data=st.data())
def test_unique(npu, name, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    consecutive = name == "unique_consecutive"
    kind = draw(st.sampled_from([*REAL, *UNSIGNED, *COMPLEX] if consecutive else [*REAL, *UNSIGNED]))
    flat = name in ("unique", "unique2") or (consecutive and draw(st.booleans()))
    shape, axis = (any_shape(draw), 0) if flat else slices_shape(draw)
    self, view = drawn(draw, npu, generator, shape, kind)
    values = exact(view, kind).reshape(-1) if flat else numpy.moveaxis(exact(view, kind), axis, 0)
    first, inverse, counts = grouped(values, not consecutive)
    expected = view.reshape(-1)[first] if flat else numpy.take(view, first, axis)
    inverse = inverse.reshape(view.shape) if flat else inverse

    sorts, with_inverse, with_counts = (draw(st.booleans()) for _ in range(3))
    index = draw(st.sampled_from(["i4", "i8"])) if consecutive else "i8"
    value = room(draw, npu, generator, [view.size] if flat else shape, kind)
    inverse_out = room(draw, npu, generator, inverse.shape, index)
    counts_out = room(draw, npu, generator, [len(values)], index)
    dim = FLAT if flat else axis - view.ndim if draw(st.booleans()) else axis
    arguments = {
        "unique": (sorts, with_inverse, value, inverse_out),
        "unique2": (sorts, with_inverse, with_counts, value, inverse_out, counts_out),
        "unique_dim": (sorts, with_inverse, dim, value, inverse_out, counts_out),
        "unique_consecutive": (with_inverse, with_counts, dim, value, inverse_out, counts_out),
    }[name]
    assert npu.call(name, self, *arguments) == 0
    check(npu, value, expected)
    if name in ("unique2", "unique_consecutive"):
        with_inverse = with_inverse or with_counts  # computed, and there is room for it
    check(npu, inverse_out, inverse if with_inverse else inverse_out.view)
    if name != "unique":
        check(npu, counts_out, counts if with_counts or name == "unique_dim" else counts_out.view)


def test_unique_as_numpy(npu):
    values = numpy.array([[3, 1, 3], [2, 2, 1]], "i4")
    expected = numpy.unique(values, return_inverse=True, return_counts=True)
    outs = blank(npu, "i4", (6,)), blank(npu, "i8"), blank(npu, "i8", (6,))
    assert npu.call("unique2", npu.tensor(values), True, True, True, *outs) == 0
    for out, each in zip(outs, expected):
        check(npu, out, each.reshape(2, 3) if each.size == 6 else each)


def test_unique_rows_as_numpy(npu):
    values = numpy.array([[1, 2], [0, 9], [1, 2], [0, -9]], "f4")
    expected = numpy.unique(values, return_counts=True, axis=0)
    outs = blank(npu, "f4", (4, 2)), blank(npu, "i8", (0,)), blank(npu, "i8", (4,))
    assert npu.call("unique_dim", npu.tensor(values), True, False, 0, *outs) == 0
    check(npu, outs[0], expected[0])
    check(npu, outs[2], expected[1])


@pytest.mark.parametrize("with_counts", [False, True])
def test_outputs_that_are_not_wanted(npu, with_counts):
    """They have no room; counts alone need no inverse."""
    self, value, none = npu.tensor(numpy.array([2, 1, 2], "f4")), blank(npu, "f4", (3,)), blank(npu, "i8", (0,))
    counts = blank(npu, "i8", (3,)) if with_counts else none
    assert npu.call("unique2", self, True, False, with_counts, value, none, counts) == 0
    check(npu, value, numpy.array([1, 2], "f4"))
    check(npu, counts, numpy.array([1, 2] if with_counts else [], "i8"))


# --- boxes without those that overlap a better one


def shared_part(box, other, centred):
    """Return the common part of two boxes as a fraction of both together."""
    if centred:
        box, other = ([*(b[:2] - b[2:] / 2), *(b[:2] + b[2:] / 2)] for b in (box, other))
    shared, area, other_area = 1.0, 1.0, 1.0
    for first, second, other_first, other_second in zip(box[:2], box[2:], other[:2], other[2:]):
        limits, others = sorted((first, second)), sorted((other_first, other_second))
        shared *= max(0.0, min(limits[1], others[1]) - max(limits[0], others[0]))
        area, other_area = area * (limits[1] - limits[0]), other_area * (others[1] - others[0])
    return shared / (area + other_area - shared) if shared else 0.0


def best_boxes(boxes, scores, most, overlap, threshold, centred):
    """Return image, class and number of each selected box."""
    found = []
    for image, classes in enumerate(scores):
        for place, line in enumerate(classes):
            kept = []
            for box in sorted(numpy.flatnonzero(line > threshold).tolist(), key=lambda i: -line[i]):
                parts = (shared_part(boxes[image, box], boxes[image, other], centred) for other in kept)
                if len(kept) < most and not any(part > overlap for part in parts):
                    kept.append(box)
            found += [[image, place, box] for box in kept]
    return numpy.array(found, "i4").reshape(-1, 3)


@SETTINGS
@given(data=st.data(), most=st.integers(0, 5), centred=st.booleans())
def test_non_max_suppression(npu, data, most, centred):
    draw = data.draw
    generator, kind = numpy.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(["f4", "f2"]))
    images, classes, count = (draw(st.integers(0, size)) for size in (2, 3, 12))
    boxes_base, boxes = any_view(draw, generator, [images, count, 4], kind)
    boxes[...] = generator.integers(0, 7, boxes.shape)
    scores_base, scores = any_view(draw, generator, [images, classes, count], kind)
    scores[...] = generator.integers(0, 5, scores.shape) / 4
    fractions = draw(st.sampled_from([0.0, 0.3, 0.5])), draw(st.sampled_from([0.0, 0.3, 0.5]))
    overlap, threshold = (float(numpy.float32(fraction)) for fraction in fractions)
    expected = best_boxes(boxes.astype("f8"), scores.astype("f8"), most, overlap, threshold, centred)
    out = room(draw, npu, generator, [images * classes * min(most, count), 3], "i4")
    handles = acl.create_int_array([most]), *(acl.create_float_array([fraction]) for fraction in fractions)
    given = npu.view(boxes_base, boxes, kind), npu.view(scores_base, scores, kind)
    assert npu.call("non_max_suppression", *given, *handles, int(centred), out) == 0
    assert acl.destroy_int_array(handles[0]) == 0
    assert [acl.destroy_float_array(handle) for handle in handles[1:]] == [0, 0]
    check(npu, out, expected)


# --- the shape of the tensor


def test_each_replay_sets_the_shape(npu):
    values = numpy.array([0, 1, 0, 2], "f4")
    self, out = npu.tensor(values), blank(npu, "i8", (4, 1))
    begin(npu.stream)
    assert npu.call("nonzero", self, out) == 0
    instance = end(npu.stream)
    assert acl.get_view_shape(out.handle) == ([4, 1], 0)
    for changed in (values, values * 0, values + 1, values):
        assert acl.rt.memcpy(self.address, changed.nbytes, changed.ctypes.data, changed.nbytes, 1) == 0
        run(instance, npu.stream)
        places = numpy.argwhere(changed)
        assert acl.get_view_shape(out.handle) == (list(places.shape), 0)
        assert npu.get(out)[: len(places)].tolist() == places.tolist()
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.needs_sim
def test_a_saved_model_keeps_what_is_behind_the_result(npu, tmp_path):
    initialise()
    self, out = npu.tensor(numpy.zeros(4, "f4")), npu.tensor(numpy.full((4, 1), 7, "i8"))
    copied = blank(npu, "i8", (4,))
    begin(npu.stream)
    assert npu.call("nonzero", self, out) == 0
    assert acl.rt.memcpy_async(copied.address, 32, out.address, 32, DEVICE_TO_DEVICE, npu.stream) == 0
    instance = end(npu.stream)
    acl.sim.save(instance, tmp_path / "places.om", [(self.address, (4,), "f4")], [(copied.address, (4,), "i8")])
    model = Model(load(tmp_path / "places.om"))
    model.inputs.put(0, numpy.array([0, 1, 0, 2], "f4"))
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert model.outputs.get(0, (4,), "i8").tolist() == [1, 3, 7, 7]
    model.close()
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.strict
def test_a_destroyed_tensor_gets_its_data(npu):
    self, out = npu.tensor(numpy.array([5, 0, 7], "i4")), blank(npu, "i8", (3, 1))
    assert npu.call("nonzero", self, out) == 0
    npu.ends.remove((acl.destroy_tensor, out.handle))
    assert acl.destroy_tensor(out.handle) == 0
    assert npu.get(out).tolist() == [[0], [2], [0]]
    assert acl.get_view_shape(out.handle) == ([], INVALID)


# --- refusals


@pytest.mark.strict
def test_refusals_of_nonzero(npu):
    self, out = blank(npu, "f4"), blank(npu, "i8", (6, 2))
    for name, given_self, given_out, code, words in (
        ("nonzero", 0, out, NULLPTR, "self is NULL"),
        ("nonzero", self, 0, NULLPTR, "out is NULL"),
        ("nonzero", blank(npu, "c8"), out, INVALID, "self has data type 16"),
        ("nonzero", blank(npu, "u4"), out, INVALID, "self has data type 8"),
        ("nonzero", self, blank(npu, "i4", (6, 2)), INVALID, "out has data type 3, int32, expected int64"),
        ("nonzero", self, blank(npu, "i8", (5, 2)), INVALID, "out has shape [5, 2], expected [6, 2]"),
        ("nonzero_v2", self, out, INVALID, "out has shape [6, 2], expected [2, 6]"),
        ("nonzero_v2", blank(npu, "c8"), out, INVALID, "self has data type 16"),
    ):
        refused(npu.call(name, given_self, given_out), code, words)


@pytest.mark.strict
def test_refusals_of_masked_select(npu):
    self, mask, out = blank(npu, "f4"), blank(npu, "?"), blank(npu, "f4", (6,))
    for arguments, code, words in (
        ((0, mask, out), NULLPTR, "self is NULL"),
        ((self, 0, out), NULLPTR, "mask is NULL"),
        ((self, mask, 0), NULLPTR, "out is NULL"),
        ((blank(npu, "c8"), mask, out), INVALID, "self has data type 16"),
        ((self, blank(npu, "f4"), out), INVALID, "mask has data type 0"),
        ((self, mask, blank(npu, "f2", (6,))), INVALID, "out has data type 1, float16, expected float32"),
        ((self, blank(npu, "?", (2,)), out), INVALID, "self and mask cannot be broadcast together"),
        ((self, mask, blank(npu, "f4", (5,))), INVALID, "out has shape [5], expected [6]"),
        ((self, mask, blank(npu, "f4")), INVALID, "out has shape [2, 3], expected [6]"),
    ):
        refused(npu.call("masked_select", *arguments), code, words)


@pytest.mark.strict
def test_refusals_of_non_max_suppression(npu):
    boxes, scores, out = blank(npu, "f4", (1, 5, 4)), blank(npu, "f4", (1, 2, 5)), blank(npu, "i4", (6, 3))
    most, less, part, much = npu.integers([3]), npu.integers([-1]), acl.create_float_array([0.5]), npu.integers([1, 2])
    high = acl.create_float_array([1.5])
    npu.ends += [(acl.destroy_float_array, part), (acl.destroy_float_array, high)]
    for arguments, code, words in (
        ((0, scores, most, part, part, 0, out), NULLPTR, "boxes is NULL"),
        ((boxes, 0, most, part, part, 0, out), NULLPTR, "scores is NULL"),
        ((boxes, scores, most, part, part, 0, 0), NULLPTR, "selectedIndices is NULL"),
        ((blank(npu, "f8", (1, 5, 4)), scores, most, part, part, 0, out), INVALID, "boxes has data type 11"),
        ((boxes, blank(npu, "f2", (1, 2, 5)), most, part, part, 0, out), INVALID, "scores has data type 1"),
        ((boxes, scores, most, part, part, 0, blank(npu, "i8", (6, 3))), INVALID, "selectedIndices has data type 9"),
        ((boxes, blank(npu, "f4", (2, 5)), most, part, part, 0, out), INVALID, "scores has 2 dimensions, expected 3"),
        ((boxes, blank(npu, "f4", (1, 2, 6)), most, part, part, 0, out), INVALID, "boxes has shape [1, 5, 4]"),
        ((boxes, scores, most, part, part, 0, blank(npu, "i4", (6, 2))), INVALID, "has shape [6, 2], expected [6, 3]"),
        ((boxes, scores, much, part, part, 0, out), INVALID, "maxOutputBoxesPerClass has 2 numbers, expected 1"),
        ((boxes, scores, less, part, part, 0, out), INVALID, "maxOutputBoxesPerClass[0] is -1, expected 0 or more"),
        ((boxes, scores, most, high, part, 0, out), INVALID, "iouThreshold[0] is 1.5, expected 0 to 1"),
        ((boxes, scores, most, part, high, 0, out), INVALID, "scoreThreshold[0] is 1.5, expected 0 to 1"),
        ((boxes, scores, most, part, part, 2, out), INVALID, "centerPointBox is 2, expected 0 or 1"),
    ):
        refused(npu.call("non_max_suppression", *arguments), code, words)


@pytest.mark.strict
def test_refusals_of_unique(npu):
    self, value, inverse, counts = blank(npu, "f4"), blank(npu, "f4", (6,)), blank(npu, "i8"), blank(npu, "i8", (6,))
    wrong = blank(npu, "i8", (5,))
    for arguments, code, words in (
        ((0, True, True, True, value, inverse, counts), NULLPTR, "self is NULL"),
        ((self, True, True, True, 0, inverse, counts), NULLPTR, "valueOut is NULL"),
        ((self, True, True, True, value, 0, counts), NULLPTR, "inverseOut is NULL"),
        ((self, True, True, True, value, inverse, 0), NULLPTR, "countsOut is NULL"),
        ((blank(npu, "c8"), True, True, True, value, inverse, counts), INVALID, "self has data type 16"),
        ((self, True, True, True, blank(npu, "f8", (6,)), inverse, counts), INVALID, "valueOut has data type 11"),
        ((self, True, True, True, blank(npu, "f4"), inverse, counts), INVALID, "valueOut has shape [2, 3], expected"),
        ((self, True, True, True, value, wrong, counts), INVALID, "inverseOut has shape [5], expected [2, 3]"),
        ((self, True, False, True, value, wrong, counts), INVALID, "inverseOut has shape [5], expected [2, 3]"),
        ((self, True, True, True, value, inverse, wrong), INVALID, "countsOut has shape [5], expected [6]"),
        ((self, True, True, True, value, blank(npu, "i4"), counts), INVALID, "inverseOut has data type 3, int32"),
    ):
        refused(npu.call("unique2", *arguments), code, words)


@pytest.mark.strict
def test_refusals_of_unique_slices(npu):
    self, value, numbers = blank(npu, "f4"), blank(npu, "f4"), blank(npu, "i8", (2,))
    scalar, hollow = blank(npu, "f4", ()), blank(npu, "f4", (2, 0))
    for arguments, words in (
        ((self, True, True, 2, value, numbers, numbers), "dim is 2, expected -2 to 1"),
        ((self, True, True, FLAT, value, numbers, numbers), "dim is 1000, expected -2 to 1"),
        ((self, True, True, 1, value, numbers, numbers), "inverseOut has shape [2], expected [3]"),
        ((scalar, True, True, 0, scalar, numbers, numbers), "self has 0 dimensions, expected 1 to 8"),
        ((hollow, True, True, 0, hollow, numbers, numbers), "dimension 1 of self is 0"),
        ((self, True, True, 0, blank(npu, "f4", (2, 2)), numbers, numbers), "valueOut has shape [2, 2], expected"),
    ):
        refused(npu.call("unique_dim", *arguments), INVALID, words)
    refused(npu.call("unique_consecutive", self, True, True, -3, value, numbers, numbers), INVALID, "dim is -3")
