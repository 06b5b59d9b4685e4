"""Sort, Argsort and Topk against NumPy: types, equal elements, NaN, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, ORDER, SETTINGS, any_shape, any_view, blank, check_written, exact, stored
from hypothesis import given
from hypothesis import strategies as st

SELECTED = ["u1", "i1", "i2", "i4", "i8", "f2", "b2", "f4"]
SORTED = [*SELECTED, "u2", "u4", "u8"]
KINDS = {"argsort": SORTED, "sort": [*SORTED, "?"], "topk": [*SELECTED, "f8"]}


def values(generator, shape, kind):
    """Return values of which many are equal: the limits of the type, both zeros, infinities and NaN are among them."""
    if kind == "?":
        return numpy.asarray(generator.integers(0, 2, shape)).astype("?")
    if ORDER[kind] == 1:
        limits = numpy.iinfo(kind)
        return generator.choice(numpy.array([limits.min, limits.max, 0, 1, 2, 3, limits.max - 1], kind), shape)
    odd = [numpy.inf, -numpy.inf, numpy.nan, -numpy.nan, 0.0, -0.0]
    return stored(generator.choice([*odd, *generator.normal(0, 8, 9)], shape), kind)


def places_of(line, axis, descending):
    """Return the stable order. NumPy, too, puts NaN at the end, and so at the beginning of the opposite order."""
    if not descending:
        return numpy.argsort(line, axis, kind="stable")
    return line.shape[axis] - 1 - numpy.flip(numpy.argsort(numpy.flip(line, axis), axis, kind="stable"), axis)


@pytest.mark.parametrize("name", ["argsort", "sort", "topk"])
@SETTINGS
@given(data=st.data())
def test_orders(npu, name, data):
    draw = data.draw
    generator, kind = numpy.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(KINDS[name]))
    shape, descending = any_shape(draw), draw(st.booleans())
    axis = draw(st.integers(0, max(len(shape) - 1, 0)))
    base, view = any_view(draw, generator, shape, kind, values)
    line = view.reshape(shape or [1])
    places = places_of(exact(line, kind), axis, descending)
    count = draw(st.integers(0, line.shape[axis])) if name == "topk" and shape else line.shape[axis]
    places = numpy.take(places, numpy.arange(count), axis)
    found = numpy.take_along_axis(line, places, axis)
    if not shape:
        found, places = found.reshape(()), places.reshape(())
    dim = axis - max(len(shape), 1) if draw(st.booleans()) else axis
    out = npu.view(*any_view(draw, generator, found.shape, kind), kind)
    indices = npu.view(*any_view(draw, generator, places.shape, "i8"), "i8")
    arguments = {
        "argsort": (dim, descending, indices),
        "sort": (draw(st.booleans()), dim, descending, out, indices),
        "topk": (count, dim, descending, draw(st.booleans()), out, indices),
    }[name]
    assert npu.call(name, npu.view(base, view, kind), *arguments) == 0
    check_written(npu, indices, places)
    if name != "argsort":
        check_written(npu, out, found)


def calls(self, out, indices, dim=1, count=2):
    return {
        "argsort": (self, dim, False, indices),
        "sort": (self, True, dim, False, out, indices),
        "topk": (self, count, dim, True, True, out, indices),
    }


@pytest.mark.strict
@pytest.mark.parametrize("name", ["argsort", "sort", "topk"])
def test_orders_refuse(npu, name):
    shape = (3, 2) if name == "topk" else (3, 4)
    self, out, indices = blank(npu, "f4", (3, 4)), blank(npu, "f4", shape), blank(npu, "i8", shape)
    fits = calls(self, out, indices)[name]
    assert npu.call(name, *fits) == 0
    for place in [0, len(fits) - 1]:
        refused(npu.call(name, *fits[:place], 0, *fits[place + 1 :]), NULLPTR, "is NULL")
    for dim in (2, -3):
        refused(npu.call(name, *calls(self, out, indices, dim)[name]), INVALID, f"dim is {dim}, expected -2 to 1")
    wrong = blank(npu, "c8", (3, 4))
    refused(npu.call(name, *calls(wrong, out, indices)[name]), INVALID, "self has data type 16, complex64, expected")
    wrong = blank(npu, "i4", shape)
    refused(npu.call(name, *calls(self, out, wrong)[name]), INVALID, "has data type 3, int32, expected int64")
    wrong = blank(npu, "i8", (3, 5))
    refused(npu.call(name, *calls(self, out, wrong)[name]), INVALID, "has shape [3, 5], expected [3, ")
    if name != "argsort":
        wrong = blank(npu, "f2", shape)
        refused(npu.call(name, *calls(self, wrong, indices)[name]), INVALID, "float16, expected float32, that of self")
    if name == "topk":
        for count in (-1, 5):
            words = f"k is {count}, expected 0 to 4, the size of dimension 1 of self"
            refused(npu.call(name, *calls(self, out, indices, count=count)[name]), INVALID, words)
