"""NpuFormatCast and the shapes of formats: elements are copied, shapes consist of whole blocks."""

import ctypes
import os

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_shape, blank, check_written, moved
from hypothesis import given
from hypothesis import strategies as st

import acl

ND, NZ = 2, 29
NO_TYPE, INT8 = -1, 2
KINDS = ["f2", "b2", "f4", "i1", "u1", "i4", "u4"]


@SETTINGS
@given(data=st.data())
def test_elements_are_copied(npu, data):
    shape = any_shape(data.draw)
    source, target, expected = moved(data.draw, npu, numpy.array, kinds=KINDS, shape=shape)
    assert npu.call("npu_format_cast", source, target) == 0
    check_written(npu, target, expected)


@pytest.fixture
def calculate():
    """Return the code, the shape and the format of a tensor in a format: the function belongs to C programs."""
    simulator = ctypes.CDLL(os.path.join(acl.get_lib(), "libacl_sim.so"))

    def ask(tensor, form, kind=NO_TYPE):
        shape, length, found = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64(), ctypes.c_int(-1)
        handle = ctypes.c_void_p(tensor.handle if tensor else None)
        outs = ctypes.byref(shape), ctypes.byref(length), ctypes.byref(found)
        ret = simulator.aclnnNpuFormatCastCalculateSizeAndFormat(handle, form, kind, *outs)
        return ret, shape[: length.value] if ret == 0 else None, found.value

    return ask


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("kind", "shape", "form", "added", "expected"),
    [
        ("f2", (30, 40), NZ, NO_TYPE, [3, 2, 16, 16]),
        ("i1", (3, 30, 40), NZ, NO_TYPE, [3, 2, 2, 16, 32]),
        ("f4", (16, 8), NZ, NO_TYPE, [1, 1, 16, 8]),
        ("f4", (16, 33), NZ, INT8, [2, 1, 16, 32]),
        ("f2", (0, 40), NZ, NO_TYPE, [3, 0, 16, 16]),
        ("b2", (30, 40), ND, NO_TYPE, [30, 40]),
    ],
)
def test_shapes(npu, calculate, kind, shape, form, added, expected):
    assert calculate(blank(npu, kind, shape), form, added) == (0, expected, form)


@pytest.mark.needs_sim
def test_refusals(npu, calculate):
    tensor = blank(npu, "f4", (2, 3))
    refused(npu.call("npu_format_cast", 0, tensor), NULLPTR, "srcTensor is NULL")
    refused(npu.call("npu_format_cast", tensor, 0), NULLPTR, "dstTensor is NULL")
    refused(npu.call("npu_format_cast", tensor, blank(npu, "f2", (2, 3))), INVALID, "dstTensor has data type 1")
    refused(npu.call("npu_format_cast", tensor, blank(npu, "f4", (3, 2))), INVALID, "that of srcTensor")
    refused(calculate(None, NZ)[0], NULLPTR, "srcTensor is NULL")
    refused(calculate(tensor, 4)[0], INVALID, "dstFormat is 4, expected 2 (ND) or 29 (FRACTAL_NZ)")
    refused(calculate(tensor, NZ, 9)[0], INVALID, "additionalDtype has data type 9, int64, expected")
    refused(calculate(blank(npu, "f4", (3,)), NZ)[0], INVALID, "srcTensor has 1 dimensions, expected 2 to 6")
