"""Elu, Softplus, Cumsum, CumsumV2 and OneHot against NumPy: shapes, strides, types, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    PARTS,
    SETTINGS,
    any_shape,
    any_view,
    blank,
    check_written,
    close,
    exact,
    near,
    stored,
)
from helpers.pointwise import SINGLE
from helpers.tensors import CODES
from hypothesis import given
from hypothesis import strategies as st

import acl

FLOATS = ["f2", "b2", "f4", "f8"]
SUMMED = ["u1", "i1", "i2", "i4", "i8", *FLOATS, "c8", "c16"]


def views(draw, shape, *kinds):
    """Return views of random numbers."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    return [any_view(draw, generator, shape, kind) for kind in kinds]


def elu(x, alpha, scale, input_scale):
    return numpy.where(x > 0, scale * x, alpha * scale * numpy.expm1(numpy.minimum(input_scale * x, 0)))


def softplus(x, beta, threshold):
    return numpy.where(beta * x > threshold, x, numpy.logaddexp(0, beta * x) / beta)


@pytest.mark.parametrize(
    ("name", "numbers", "expected"),
    [
        ("elu", (1.0, 1.0, 1.0), elu),
        ("elu", (0.5, 2.0, 0.25), elu),
        ("softplus", (1.0, 20.0), softplus),
        ("softplus", (2.0, 4.0), softplus),
        ("fast_gelu", (), lambda x: x / (1 + numpy.exp(-1.702 * x))),
    ],
)
def test_activations(npu, name, numbers, expected):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        kind, out_kind = data.draw(st.sampled_from(FLOATS)), data.draw(st.sampled_from(FLOATS))
        if name == "fast_gelu":
            kind = out_kind = data.draw(st.sampled_from(SINGLE))
        self, out = views(data.draw, any_shape(data.draw), kind, out_kind)
        to = npu.view(*out, out_kind)
        scalars = [npu.scalar(number) for number in numbers]
        assert npu.call(name, npu.view(*self, kind), *scalars, to) == 0, acl.get_recent_err_msg()
        result = expected(exact(self[1], kind), *numbers)
        near(npu.get(to), result, out_kind, 2.0**-40 * numpy.abs(result))

    run_case()


def summed(values, dim, exclusive, reverse):
    """Return sums along a dimension in a wide type."""
    values = values.reshape(values.shape or (1,))
    values = numpy.flip(values, dim) if reverse else values
    sums = values.cumsum(dim) - (values if exclusive else 0)
    return numpy.flip(sums, dim) if reverse else sums


@SETTINGS
@given(data=st.data())
def test_sums_along_a_dimension(npu, data):
    draw = data.draw
    kind, shape = draw(st.sampled_from(SUMMED)), any_shape(draw)
    rank = max(len(shape), 1)
    dim, exclusive, reverse = draw(st.integers(-rank, rank - 1)), draw(st.booleans()), draw(st.booleans())
    self, out = views(draw, shape, kind, kind)
    to = npu.view(*out, kind)
    wide = exact(self[1], kind)
    wide = wide.astype("i8" if wide.dtype.kind in "iu" else wide.dtype)
    expected = summed(wide, dim, exclusive, reverse).reshape(shape)
    assert npu.call("cumsum_v2", npu.view(*self, kind), dim, exclusive, reverse, to) == 0, acl.get_recent_err_msg()
    if wide.dtype.kind == "i":
        check_written(npu, to, stored(expected, kind))
        return
    if wide.dtype.kind == "c":
        found = exact(npu.get(to), kind)
        close(found, expected, PARTS[kind] * numpy.abs(expected) + 2.0**-40 * (numpy.abs(wide).sum() + 1))
        return
    near(npu.get(to), expected, kind, 2.0**-40 * (numpy.abs(wide).sum() + 1))


def test_sums_in_another_type(npu):
    values = numpy.array([[True, False, True], [True, True, True]])
    to = blank(npu, "i8")
    assert npu.call("cumsum", npu.tensor(values), -1, CODES["i8"], to) == 0, acl.get_recent_err_msg()
    numpy.testing.assert_array_equal(npu.get(to), values.cumsum(-1))
    pairs = blank(npu, "c8")
    assert npu.call("cumsum", npu.tensor(values), -1, CODES["c8"], pairs) == 0
    numpy.testing.assert_array_equal(npu.get(pairs), values.cumsum(-1))


@SETTINGS
@given(data=st.data())
def test_one_hot(npu, data):
    draw = data.draw
    kind, shape, depth = draw(st.sampled_from(["u1", "i4", "i8"])), draw(st.lists(st.integers(0, 4), max_size=4)), 3
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    base, view = any_view(draw, generator, shape, kind, lambda g, dims, kind: g.integers(0, 5, dims).astype(kind))
    axis, out_kind = draw(st.integers(-1, len(shape))), draw(st.sampled_from(["?", "i1", "f2", "f4", "f8", "c16"]))
    place = len(shape) if axis == -1 else axis
    expected = numpy.where(numpy.moveaxis(view[..., None] == numpy.arange(depth), -1, place), 1, 0).astype(out_kind)
    to = npu.view(*any_view(draw, generator, expected.shape, out_kind), out_kind)
    ones = [npu.tensor(numpy.array(value, out_kind)) for value in (1, 0)]
    assert npu.call("one_hot", npu.view(base, view, kind), depth, *ones, axis, to) == 0, acl.get_recent_err_msg()
    check_written(npu, to, expected)


def test_refusals(npu):
    one, whole, table = npu.scalar(1.0), blank(npu, "i4"), blank(npu, "f4")
    refused(npu.call("elu", whole, one, one, one, whole), INVALID, "self has data type 3, int32")
    refused(npu.call("elu", table, one, one, one, whole), INVALID, "out has data type 3, int32")
    refused(npu.call("elu", table, one, one, one, blank(npu, "f4", (3, 2))), INVALID, "out has shape")
    refused(npu.call("elu", table, npu.scalar(1j, "c8"), one, one, table), INVALID, "alpha has data type 16, complex64")
    refused(npu.call("softplus", table, one, one, blank(npu, "f4", (6,))), INVALID, "out has shape")
    refused(npu.call("cumsum_v2", table, 2, False, False, table), INVALID, "dim is 2")
    refused(npu.call("cumsum_v2", table, 0, False, False, whole), INVALID, "out has data type 3, int32")
    refused(npu.call("cumsum_v2", table, 0, False, False, blank(npu, "f4", (3, 2))), INVALID, "out has shape")
    refused(npu.call("cumsum", table, 0, CODES["i4"], blank(npu, "f4")), INVALID, "out has data type 0, float32")
    refused(npu.call("cumsum", table, 0, CODES["i4"], whole), INVALID, "self is float32, which cannot be cast to int32")
    flags = blank(npu, "?")
    refused(npu.call("cumsum_v2", flags, 0, False, False, flags), INVALID, "self has data type 12, bool")


def test_refusals_of_one_hot(npu):
    index, one, out = blank(npu, "i4"), npu.tensor(numpy.array(1, "f4")), blank(npu, "f4", (2, 3, 4))
    refused(npu.call("one_hot", out, 4, one, one, -1, out), INVALID, "self has data type 0, float32")
    refused(npu.call("one_hot", index, 4, index, one, -1, out), INVALID, "out has data type 0, float32, expected int32")
    refused(npu.call("one_hot", index, 4, out, one, -1, out), INVALID, "onValue has shape")
    refused(npu.call("one_hot", index, 4, one, one, 3, out), INVALID, "axis is 3, expected -1 to 2")
    refused(npu.call("one_hot", index, -1, one, one, -1, out), INVALID, "numClasses is -1, expected 0 or more")
    refused(npu.call("one_hot", index, 5, one, one, -1, out), INVALID, "out has shape")
