"""Quantisation with given scales against NumPy: AscendQuant, AscendAntiQuant, Quantize, GroupQuant, DequantBias,
fake quantisation and the conversions to packed types."""

import ctypes
import os

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.norms import Case, positive
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from helpers.packed import any_integers, any_out, cube_scale, int4, same_integers, small, unpack
from helpers.pointwise import SINGLE
from hypothesis import given
from hypothesis import strategies as st

import acl

FORMS = ["i1", "int4", "carrier"]
ROUNDINGS = {"round": numpy.rint, "floor": numpy.floor, "ceil": numpy.ceil, "trunc": numpy.trunc}


def shapes(draw, form, least=1):
    """Return a shape; the last dimension suits integers of 4 bits."""
    last = draw(st.sampled_from([1, 3, 300] if form == "i1" else [8, 304]))
    return (*draw(st.lists(st.integers(0, 4), min_size=least - 1, max_size=3)), last)


@SETTINGS
@given(data=st.data())
def test_ascend_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    form, mode, square = draw(st.sampled_from(FORMS)), draw(st.sampled_from(list(ROUNDINGS))), draw(st.booleans())
    shape = shapes(draw, form, 2)
    axis = draw(st.sampled_from([None, -1, -2]))
    across = [size if place == (axis or -1) % len(shape) else 1 for place, size in enumerate(shape)]
    numbers = [1] if draw(st.booleans()) else across
    x, values = case.take(shape)
    scale, scales = case.take(numbers, case.beside(), positive)
    offset, offsets = case.take_or_none(numbers, case.beside())
    y, kind = any_out(case, shape, form)
    extra, name = ([], "ascend_quant") if axis is None else ([axis], "ascend_quant_v3")
    assert npu.call(name, x, scale, offset, square, mode, kind, *extra, y) == 0
    scaled = values * scales * (scales if square else 1) + (0 if offsets is None else offsets)
    same_integers(npu, y, form, ROUNDINGS[mode](scaled))


@SETTINGS
@given(data=st.data())
def test_ascend_anti_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    form, square, kind = draw(st.sampled_from(FORMS)), draw(st.booleans()), draw(st.sampled_from(["f2", "b2"]))
    shape = shapes(draw, form)
    x, values = any_integers(case, shape, form)
    numbers = draw(st.sampled_from([(1,), shape[-1:]]))
    scale, scales = case.take(numbers, values=small)
    offset, offsets = case.take_or_none(numbers)
    y, _ = case.take(shape, kind)
    assert npu.call("ascend_anti_quant", x, scale, offset, {"f2": 1, "b2": 27}[kind], square, y) == 0
    expected = (values + (0 if offsets is None else offsets)) * scales * (scales if square else 1)
    near(npu.get(y), expected, kind, 1e-12)


@SETTINGS
@given(data=st.data())
def test_quantize(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    shape, kind = shapes(draw, "i1"), draw(st.sampled_from(["i1", "u1", "i4"]))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    numbers = draw(st.sampled_from([(1,), (shape[axis],)]))
    x, values = case.take(shape)
    scale, scales = case.take(numbers, values=positive)
    zero, zeros = case.take_or_none(numbers, draw(st.sampled_from(["i4", "i1", "f4"])))
    out, _ = case.take(shape, kind)
    assert npu.call("quantize", x, scale, zero, {"i1": 2, "u1": 4, "i4": 3}[kind], axis, out) == 0
    beside = [-1 if place == axis % len(shape) else 1 for place in range(len(shape))]
    expected = numpy.rint(values / scales.reshape(beside)) + (0 if zeros is None else zeros.reshape(beside))
    limits = numpy.iinfo(kind)
    assert (numpy.abs(npu.get(out).astype("f8") - numpy.clip(expected, limits.min, limits.max)) <= 1).all()


@SETTINGS
@given(data=st.data())
def test_group_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    form, rows = draw(st.sampled_from(FORMS)), draw(st.integers(0, 6))
    width = shapes(draw, form)[-1]
    sizes = case.generator.multinomial(rows, numpy.ones(3) / 3)
    x, values = case.take((rows, width))
    scale, scales = case.take((3, width), values=positive)
    offset, offsets = case.take_or_none((1,))
    index = npu.tensor(numpy.cumsum(sizes).astype(draw(st.sampled_from(["i4", "i8"]))))
    y, kind = any_out(case, (rows, width), form)
    assert npu.call("group_quant", x, scale, index, offset, kind, y) == 0
    scaled = values * numpy.repeat(scales, sizes, 0) + (0 if offsets is None else offsets)
    same_integers(npu, y, form, numpy.rint(scaled))


def test_no_groups_write_nothing(npu):
    x, scale, index = blank(npu, "f4", (2, 3)), blank(npu, "f4", (0, 3)), blank(npu, "i4", (0,))
    y = npu.tensor(numpy.full((2, 3), 9, "i1"))
    assert npu.call("group_quant", x, scale, index, 0, 2, y) == 0
    assert (npu.get(y) == 9).all()


@SETTINGS
@given(data=st.data())
def test_dequant_bias(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    shape, kind = (draw(st.integers(0, 4)), draw(st.sampled_from([1, 3, 300]))), draw(st.sampled_from(["f2", "b2"]))
    x, values = case.take(shape, "i4")
    scale, scales = case.take(shape[1:], draw(st.sampled_from(["f4", "b2"])), small)
    factor, factors = case.take_or_none(shape[:1], "f4", positive)
    bias, biases = case.take_or_none(shape[1:], draw(st.sampled_from([*SINGLE, "i4"])))
    out, _ = case.take(shape, kind)
    assert npu.call("dequant_bias", x, scale, factor, bias, {"f2": 1, "b2": 27}[kind], out) == 0
    early = biases if bias and bias.kind == "i4" else 0
    late = 0 if biases is None or bias.kind == "i4" else biases
    expected = (values + early) * scales * (1 if factors is None else factors[:, None]) + late
    near(npu.get(out), expected, kind, 1e-9)


@SETTINGS
@given(data=st.data())
def test_fake_quant(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind = draw(st.sampled_from(["f2", "f4"]))
    shape, least, most = shapes(draw, "i1"), draw(st.sampled_from([-128, 0])), draw(st.sampled_from([15, 127]))
    channels, enabled = draw(st.booleans()), draw(st.sampled_from([1.0, 0.0]))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    count = shape[axis] if channels else 1
    self, values = case.take(shape)
    scale, scales = case.take((count,), values=positive)
    zero, zeros = case.take((count,), "i4")
    (out, _), (mask, _) = case.take(shape), case.take(shape, "?")
    name = "fake_quant_per_channel_affine_cachemask" if channels else "fake_quant_per_tensor_affine_cachemask"
    assert npu.call(name, self, scale, zero, axis if channels else enabled, least, most, out, mask) == 0
    beside = [-1 if channels and place == axis % len(shape) else 1 for place in range(len(shape))]
    scales, zeros = scales.reshape(beside), zeros.reshape(beside)
    ratios = values.astype("f4") * (numpy.float32(1) / scales.astype("f4"))
    whole, expected = zeros + numpy.rint(ratios.astype("f8")), values
    inside = (whole >= least) & (whole <= most)
    if not channels and enabled < 1:
        inside = numpy.ones(shape, bool)
    else:
        expected = (numpy.clip(whole, least, most) - zeros) * scales
    near(npu.get(out), expected, case.kind, 1e-12)
    assert numpy.array_equal(npu.get(mask), inside)


def test_nan_is_not_in_range(npu):
    self, one = npu.tensor(numpy.array([numpy.nan, 1], "f4")), npu.tensor(numpy.ones(1, "f4"))
    zero, out, mask = npu.tensor(numpy.zeros(1, "i4")), blank(npu, "f4", (2,)), blank(npu, "?", (2,))
    assert npu.call("fake_quant_per_tensor_affine_cachemask", self, one, zero, 1.0, -8, 7, out, mask) == 0
    assert npu.get(out).tolist() == [-8, 1]
    assert npu.get(mask).tolist() == [False, True]


@SETTINGS
@given(data=st.data())
def test_trans_quant_param(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count = draw(st.integers(1, 9))
    scale, scales = case.take(draw(st.sampled_from([(count,), (1, count), (1,)])), "f4")
    offset, offsets = case.take_or_none((count,), "f4")
    total = max(scales.size, 1 if offsets is None else count)
    out, _ = case.take((total,), draw(st.sampled_from(["u8", "i8"])))
    assert npu.call("trans_quant_param_v2", scale, offset, out) == 0
    spread = numpy.broadcast_to(scales.reshape(-1), total)
    assert numpy.array_equal(npu.get(out).astype("u8"), cube_scale(spread, 0 if offsets is None else offsets))
    for mode in (0, 1):  # the scale is cut off, or rounded to 11 bits, ties to even
        assert npu.call("trans_quant_param_v3", scale, offset, mode, out) == 0
        bits = numpy.ascontiguousarray(spread, "f4").view("u4").astype("u8")
        bits += mode * (0xFFF + (bits >> 13 & 1))
        rounded = (bits & 0xFFFFE000).astype("u4").view("f4")
        assert numpy.array_equal(npu.get(out).astype("u8"), cube_scale(rounded, 0 if offsets is None else offsets))
    refused(npu.call("trans_quant_param_v3", scale, offset, 2, out), INVALID, "roundMode is 2, expected 0 or 1")


@pytest.mark.needs_sim
def test_trans_quant_param_on_the_host():
    simulator = ctypes.CDLL(os.path.join(acl.get_lib(), "libacl_sim.so"))
    scales, offsets = (ctypes.c_float * 3)(0.1, -2.5, 7), (ctypes.c_float * 1)(-3.7)
    found, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()

    def call(scales, length, offsets, offset_length):
        outs = ctypes.byref(found), ctypes.byref(count)
        lengths = [ctypes.c_uint64(number) for number in (length, offset_length)]
        return simulator.aclnnTransQuantParam(scales, lengths[0], offsets, lengths[1], *outs)

    assert call(scales, 3, offsets, 1) == 0
    assert found[: count.value] == cube_scale([0.1, -2.5, 7], -3.7).tolist()
    assert call(scales, 3, None, 0) == 0
    assert found[: count.value] == cube_scale([0.1, -2.5, 7]).tolist()
    refused(call(None, 3, None, 0), NULLPTR, "scaleArray is NULL")
    refused(call(scales, 2, (ctypes.c_float * 3)(), 3), INVALID, "scaleSize is 2, expected 1 or 3 numbers")
    refused(call(scales, 2**20 + 1, None, 0), INVALID, "scaleSize is 1048577, expected at most 1048576 numbers")


@SETTINGS
@given(data=st.data())
def test_weights_are_packed(npu, data):
    case = Case(npu, data.draw)
    form = data.draw(st.sampled_from(["int4", "carrier"]))
    shape = *data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=2)), data.draw(st.sampled_from([8, 24]))
    weight, values = case.take(shape, "i4", lambda generator, dims, kind: generator.integers(-8, 8, dims, "i4"))
    packed, _ = any_out(case, shape, form)
    assert npu.call("convert_weight_to_int4_pack", weight, packed) == 0
    assert numpy.array_equal(unpack(npu.get(packed)), values)


@pytest.mark.strict
def test_refusals(npu):
    x, y, scale, bad = (
        blank(npu, "f4", (2, 3)),
        blank(npu, "i1", (2, 3)),
        blank(npu, "f4", (1,)),
        blank(npu, "f8", (1,)),
    )
    two, whole = blank(npu, "f4", (2,)), blank(npu, "i4", (2, 3))

    def quant(x=x, scale=scale, mode="round", kind=2, y=y):
        return npu.call("ascend_quant", x, scale, 0, False, mode, kind, y)

    assert quant() == 0
    refused(quant(x=0), NULLPTR, "x is NULL")
    refused(quant(scale=bad), INVALID, "scale has data type 11, float64, expected float32, float16 or bfloat16")
    refused(quant(scale=two), INVALID, "scale has 2 elements, expected 1 or 3, along one dimension")
    refused(quant(mode="even"), INVALID, 'roundMode is "even", expected round, floor, ceil or trunc')
    refused(quant(kind=29), INVALID, "dstType is 29, expected 2, the data type of y")
    refused(quant(y=int4(npu, numpy.zeros((2, 4)))), INVALID, "the last dimension of x is 3, expected a multiple of 2")
    refused(quant(y=blank(npu, "i1", (3, 2))), INVALID, "y has shape [3, 2], expected [2, 3]")
    ret = npu.call("ascend_quant_v3", x, scale, 0, False, "round", 2, 0, y)
    refused(ret, INVALID, "axis is 0, expected -1 or -2 for 2 dimensions")
    ret = npu.call("ascend_anti_quant", y, scale, 0, 1, False, x)
    refused(ret, INVALID, "y has data type 0, float32, expected float16 or bfloat16")
    ret = npu.call("ascend_anti_quant", y, scale, two, 1, False, blank(npu, "f2", (2, 3)))
    refused(ret, INVALID, "offset has 2 elements, expected 1 or 3")
    refused(npu.call("quantize", x, scale, 0, 3, 2, whole), INVALID, "axis is 2, expected -2 to 1")
    refused(npu.call("quantize", x, scale, 0, 2, 0, whole), INVALID, "dtype is 2, expected 3, the data type of out")
    index, scales = npu.tensor(numpy.array([1, 2])), blank(npu, "f4", (2, 3))
    refused(npu.call("group_quant", x, x, npu.tensor(numpy.array([2])), 0, 2, y), INVALID, "one row per group")
    refused(npu.call("group_quant", x, scales, index, two, 2, y), INVALID, "offset", "has 2 elements, expected 1")
    ret = npu.call("dequant_bias", whole, two, 0, 0, 1, blank(npu, "f2", (2, 3)))
    refused(ret, INVALID, "weightScale has shape [2], expected [3], one number per column")
    zero, mask = blank(npu, "i4", (1,)), blank(npu, "?", (2, 3))
    ret = npu.call("fake_quant_per_tensor_affine_cachemask", x, scale, zero, 1.0, 3, 2, scales, mask)
    refused(ret, INVALID, "quantMin is 3, expected at most 2, the value of quantMax")
    ret = npu.call("fake_quant_per_channel_affine_cachemask", x, scale, zero, 1, 0, 2, scales, mask)
    refused(ret, INVALID, "scale has shape [1], expected [3], one number per channel")
    refused(npu.call("trans_quant_param_v2", two, 0, blank(npu, "u8", (3,))), INVALID, "out has 3 elements, expected 2")
    ret = npu.call("convert_weight_to_int4_pack", whole, int4(npu, numpy.zeros((2, 4))))
    refused(ret, INVALID, "the last dimension of weight is 3, expected a multiple of 2")
    refused(npu.call("convert_weight_to_int4_pack", whole, y), INVALID, "int8, expected int32 or int4")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("ends", "words"), [([2, 1], "[1] is 1, expected 2 to 2"), ([3, 2], "[0] is 3, expected 0 to 2")]
)
def test_ends_of_groups_that_are_out_of_range_fail_the_task(ends, words):
    with failing() as fresh:
        x, scale, y = blank(fresh, "f4", (2, 3)), blank(fresh, "f4", (2, 3)), blank(fresh, "i1", (2, 3))
        assert fresh.call("group_quant", x, scale, fresh.tensor(numpy.array(ends)), 0, 2, y) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, "groupIndex" + words)
