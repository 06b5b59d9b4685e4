"""Data types, half precision, data buffers and tensor descriptions."""

import math
import struct

import numpy
import pytest

import acl
from acl._lib import ffi, lib

INVALID_PARAM = 100000
FLOAT, FLOAT16, INT8, INT32, INT64, STRING, COMPLEX128, INT4, UINT1 = 0, 1, 2, 3, 9, 13, 17, 29, 30
ND = 2
UNKNOWN_RANK = 0xFFFFFFFFFFFFFFFE
SIZES = {-1: 0, 0: 4, 1: 2, 2: 1, 3: 4, 4: 1, 6: 2, 7: 2, 8: 4, 9: 8, 10: 8, 11: 8, 12: 1, 13: 0, 16: 8, 17: 16, 27: 2}


@pytest.fixture
def describe():
    """Give ``describe(dims, data_type=FLOAT)``, which creates a description and destroys it in the end."""
    made = []

    def create(dims, data_type=FLOAT, layout=ND):
        made.append(acl.create_tensor_desc(data_type, dims, layout))
        assert made[-1] != 0
        return made[-1]

    yield create
    for desc in made:
        acl.destroy_tensor_desc(desc)


@pytest.mark.parametrize(("data_type", "size"), SIZES.items())
def test_type_sizes(data_type, size):
    assert acl.data_type_size(data_type) == size


@pytest.mark.strict
@pytest.mark.parametrize(
    ("data_type", "size"),
    [(29, 1), (30, 1), (33, 4), (34, 1), (35, 1), (36, 1), (37, 1), (38, 1), (40, 1), (5, 0), (99, 0)],
)
def test_type_sizes_that_are_ours(data_type, size):
    assert acl.data_type_size(data_type) == size


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (0.0, 0),
        (-0.0, 0x8000),
        (1.0, 0x3C00),
        (-2.0, 0xC000),
        (65504.0, 0x7BFF),
        (65519.0, 0x7BFF),
        (65520.0, 0x7C00),
        (math.inf, 0x7C00),
        (2.0**-24, 1),
        (2.0**-25, 0),
        (2.0**-25 * 1.5, 1),
        (2.0**-14, 0x0400),
        (1.0 + 2.0**-11, 0x3C00),
        (1.0 + 3 * 2.0**-11, 0x3C02),
    ],
)
def test_half_values(value, bits):
    assert acl.float_to_float16(value) == bits


def test_half_agrees_with_numpy():
    patterns = numpy.arange(0x10000, dtype=numpy.uint16)
    expected = patterns.view(numpy.float16).astype(numpy.float32)
    got = numpy.array([acl.float16_to_float(int(one)) for one in patterns[::7]], dtype=numpy.float32)
    assert numpy.array_equal(got, expected[::7], equal_nan=True)
    random = numpy.random.default_rng(1).integers(0, 1 << 32, 20000, dtype=numpy.uint32).view(numpy.float32)
    random = random[~numpy.isnan(random)]
    with numpy.errstate(over="ignore"):
        halves = random.astype(numpy.float16).view(numpy.uint16)
    assert [acl.float_to_float16(float(one)) for one in random] == halves.tolist()


def test_half_nan():
    assert math.isnan(acl.float16_to_float(0x7E00))
    bits = acl.float_to_float16(struct.unpack("f", struct.pack("I", 0x7F800001))[0])
    assert bits & 0x7C00 == 0x7C00
    assert bits & 0x3FF != 0


def test_data_buffer():
    buffer = acl.create_data_buffer(0x1000, 24)
    assert buffer != 0
    assert acl.get_data_buffer_addr(buffer) == 0x1000
    assert acl.get_data_buffer_size(buffer) == 24
    assert acl.get_data_buffer_size_v2(buffer) == 24
    assert acl.update_data_buffer(buffer, 0x2000, (1 << 32) + 8) == 0
    assert acl.get_data_buffer_addr(buffer) == 0x2000
    assert acl.get_data_buffer_size_v2(buffer) == (1 << 32) + 8
    assert acl.get_data_buffer_size(buffer) == 8
    assert acl.destroy_data_buffer(buffer) == 0


def test_empty_data_buffer():
    buffer = acl.create_data_buffer(0, 0)
    assert buffer != 0
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)) == (0, 0)
    assert acl.destroy_data_buffer(buffer) == 0


def test_null_data_buffer():
    assert acl.destroy_data_buffer(0) == INVALID_PARAM
    assert acl.update_data_buffer(0, 0x1000, 1) == INVALID_PARAM
    assert acl.get_data_buffer_addr(0) == 0
    assert acl.get_data_buffer_size(0) == 0
    assert acl.get_data_buffer_size_v2(0) == 0


@pytest.mark.strict
@pytest.mark.parametrize("handle", [1, 0x7FFF00001000, 2**64 - 1])
def test_garbage_data_buffer(handle):
    assert acl.get_data_buffer_size_v2(handle) == 0
    assert acl.destroy_data_buffer(handle) == INVALID_PARAM
    message = acl.get_recent_err_msg()
    assert "aclDestroyDataBuffer failed because dataBuffer is not a handle" in message
    assert f"{handle:#x}" in message


@pytest.mark.strict
def test_destroyed_data_buffer():
    buffer = acl.create_data_buffer(0x1000, 24)
    assert acl.destroy_data_buffer(buffer) == 0
    other = acl.create_data_buffer(0x2000, 8)
    assert acl.destroy_data_buffer(buffer) == INVALID_PARAM
    assert "dataBuffer is a destroyed data buffer" in acl.get_recent_err_msg()
    assert acl.get_data_buffer_size_v2(buffer) == 0
    assert acl.get_data_buffer_size_v2(other) == 8
    assert acl.destroy_data_buffer(other) == 0


@pytest.mark.parametrize(
    ("dims", "data_type", "elements", "size"),
    [
        ([2, 3], FLOAT, 6, 24),
        ([2, 3], FLOAT16, 6, 12),
        ([], INT64, 1, 8),
        ([4, 0, 5], INT32, 0, 0),
        ([1] * 8, COMPLEX128, 1, 16),
    ],
)
def test_shape(describe, dims, data_type, elements, size):
    desc = describe(dims, data_type, 0)
    assert acl.get_tensor_desc_type(desc) == data_type
    assert acl.get_tensor_desc_format(desc) == 0
    assert acl.get_tensor_desc_num_dims(desc) == len(dims)
    assert acl.get_tensor_desc_element_count(desc) == elements
    assert acl.get_tensor_desc_size(desc) == size
    assert [acl.get_tensor_desc_dim_v2(desc, place) for place in range(len(dims))] == [(dim, 0) for dim in dims]
    assert [acl.get_tensor_desc_dim(desc, place) for place in range(len(dims))] == dims


@pytest.mark.strict
@pytest.mark.parametrize(
    ("dims", "data_type", "elements", "size"),
    [
        ([3], INT4, 3, 2),
        ([9], UINT1, 9, 2),
        ([3], STRING, 3, 0),
        ([-1, 3], FLOAT, 0, 0),
        ([2**40, 2**40], FLOAT, 0, 0),
        ([2**62], FLOAT, 2**62, 0),
    ],
)
def test_odd_sizes(describe, dims, data_type, elements, size):
    desc = describe(dims, data_type)
    assert acl.get_tensor_desc_element_count(desc) == elements
    assert acl.get_tensor_desc_size(desc) == size


def test_index_out_of_range(describe):
    desc = describe([2, 3])
    assert acl.get_tensor_desc_dim_v2(desc, 2)[1] == INVALID_PARAM
    assert acl.get_tensor_desc_dim(desc, 2) == -1
    assert acl.get_tensor_desc_dim_range(desc, 2, 2) == (None, INVALID_PARAM)


@pytest.mark.strict
def test_index_out_of_range_is_named(describe):
    acl.get_tensor_desc_dim_v2(describe([2, 3]), 7)
    assert "aclGetTensorDescDimV2 failed because index is 7, expected less than 2" in acl.get_recent_err_msg()


def test_unknown_rank(describe):
    desc = describe([-2])
    assert acl.get_tensor_desc_num_dims(desc) == UNKNOWN_RANK
    assert acl.get_tensor_desc_dim_v2(desc, 0)[1] == INVALID_PARAM
    assert acl.get_tensor_desc_dim_range(desc, 0, 2) == (None, INVALID_PARAM)


def test_ranges(describe):
    desc = describe([-1, 4, -1])
    assert acl.get_tensor_desc_dim_v2(desc, 0) == (-1, 0)
    assert acl.get_tensor_desc_dim_range(desc, 0, 2) == ([1, -1], 0)
    assert acl.set_tensor_shape_range(desc, [[1, 16], [4, 4], [2, 8]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 0, 2)[0][:2] == [1, 16]
    assert acl.get_tensor_desc_dim_range(desc, 2, 2)[0][:2] == [2, 8]
    assert acl.get_tensor_desc_dim_range(desc, 0, 1) == (None, INVALID_PARAM)
    assert acl.set_tensor_value_range(desc, [[0, 1]]) == 0


@pytest.mark.strict
def test_range_of_a_fixed_dimension(describe):
    desc = describe([-1, 4])
    assert acl.get_tensor_desc_dim_range(desc, 1, 2) == ([4, 4], 0)
    assert acl.set_tensor_shape_range(desc, [[1, 16]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 1, 2) == ([4, 4], 0)


def test_name(describe):
    desc = describe([1])
    assert acl.get_tensor_desc_name(desc) == ""
    assert acl.set_tensor_desc_name(desc, "input:0") is None
    assert acl.get_tensor_desc_name(desc) == "input:0"
    acl.set_tensor_desc_name(desc, "")
    assert acl.get_tensor_desc_name(desc) == ""


def test_setters_leave_the_logical_shape(describe):
    desc = describe([2, 3])
    assert acl.set_tensor_format(desc, 29) == 0
    assert acl.set_tensor_shape(desc, [1, 1, 16, 16]) == 0
    assert acl.set_tensor_storage_format(desc, 29) == 0
    assert acl.set_tensor_storage_shape(desc, [1, 1, 16, 16]) == 0
    assert acl.set_tensor_origin_format(desc, 0) == 0
    assert acl.set_tensor_origin_shape(desc, []) == 0
    assert acl.set_tensor_dynamic_input(desc, "x") == 0
    eight = bytes(8)
    assert acl.set_tensor_const(desc, acl.util.bytes_to_ptr(eight), len(eight)) == 0
    assert [acl.set_tensor_place_ment(desc, kind) for kind in (0, 1, 2)] == [0, 0, 0]
    assert acl.get_tensor_desc_format(desc) == ND
    assert acl.get_tensor_desc_num_dims(desc) == 2
    assert acl.get_tensor_desc_size(desc) == 24


def test_by_index_and_address(describe):
    desc = describe([1])
    assert acl.get_tensor_desc_by_index(desc, 0) == desc
    assert acl.get_tensor_desc_address(desc) == 0


@pytest.mark.strict
def test_by_index_past_the_end(describe):
    assert acl.get_tensor_desc_by_index(describe([1]), 1) == 0
    assert "index is 1, expected 0" in acl.get_recent_err_msg()


@pytest.mark.strict
def test_reserved_conversion(describe):
    assert acl.trans_tensor_desc_format(describe([1]), 0) == (0, 200001)
    assert acl.trans_tensor_desc_format(0, 0) == (0, INVALID_PARAM)


def handle(desc):
    return ffi.cast("aclTensorDesc *", desc)


@pytest.mark.strict
def test_bad_arguments(describe):
    desc = handle(describe([1]))
    dims = ffi.new("int64_t[]", [1] * 200)
    pairs = ffi.cast("int64_t(*)[2]", dims)
    assert lib.aclCreateTensorDesc(FLOAT, -1, dims, ND) == ffi.NULL
    assert "numDims is -1, expected 0 to 128" in acl.get_recent_err_msg()
    assert lib.aclCreateTensorDesc(FLOAT, 129, dims, ND) == ffi.NULL
    assert lib.aclCreateTensorDesc(FLOAT, 1, ffi.NULL, ND) == ffi.NULL
    assert "dims is NULL" in acl.get_recent_err_msg()
    for name in ("aclSetTensorShape", "aclSetTensorStorageShape", "aclSetTensorOriginShape"):
        assert getattr(lib, name)(desc, -1, dims) == INVALID_PARAM
        assert getattr(lib, name)(desc, 129, dims) == INVALID_PARAM
        assert getattr(lib, name)(desc, 1, ffi.NULL) == INVALID_PARAM
    assert lib.aclSetTensorShapeRange(desc, 1, ffi.NULL) == INVALID_PARAM
    assert lib.aclSetTensorShapeRange(desc, 129, pairs) == INVALID_PARAM
    assert lib.aclSetTensorValueRange(desc, 1, ffi.NULL) == INVALID_PARAM
    assert lib.aclSetTensorValueRange(desc, 2**63, pairs) == INVALID_PARAM
    assert lib.aclSetTensorDynamicInput(desc, ffi.NULL) == INVALID_PARAM
    assert lib.aclSetTensorConst(desc, ffi.NULL, 8) == INVALID_PARAM
    assert lib.aclSetTensorConst(desc, dims, 0) == INVALID_PARAM
    assert lib.aclSetTensorPlaceMent(desc, 3) == INVALID_PARAM
    assert "memType is 3" in acl.get_recent_err_msg()
    assert lib.aclGetTensorDescDimV2(desc, 0, ffi.NULL) == INVALID_PARAM
    assert lib.aclGetTensorDescDimRange(desc, 0, 2, ffi.NULL) == INVALID_PARAM
    assert lib.aclTransTensorDescFormat(desc, 0, ffi.NULL) == INVALID_PARAM
    lib.aclSetTensorDescName(desc, ffi.NULL)
    assert "name is NULL" in acl.get_recent_err_msg()


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["null", "garbage", "destroyed", "buffer"])
def test_other_handles(kind):
    desc = {"null": 0, "garbage": 0x7FFF00001000}.get(kind)
    if kind == "destroyed":
        desc = acl.create_tensor_desc(FLOAT, [1], ND)
        acl.destroy_tensor_desc(desc)
    elif kind == "buffer":
        desc = acl.create_data_buffer(0, 0)
    acl.get_recent_err_msg()
    acl.destroy_tensor_desc(desc)
    assert (acl.get_recent_err_msg() is None) == (kind == "null")
    assert acl.get_tensor_desc_type(desc) == -1
    assert acl.get_tensor_desc_format(desc) == -1
    assert acl.get_tensor_desc_size(desc) == 0
    assert acl.get_tensor_desc_element_count(desc) == 0
    assert acl.get_tensor_desc_num_dims(desc) == 0
    assert acl.get_tensor_desc_dim(desc, 0) == -1
    assert acl.get_tensor_desc_dim_v2(desc, 0)[1] == INVALID_PARAM
    assert acl.get_tensor_desc_dim_range(desc, 0, 2) == (None, INVALID_PARAM)
    assert acl.get_tensor_desc_name(desc) == ""
    assert acl.get_tensor_desc_by_index(desc, 0) == 0
    assert acl.get_tensor_desc_address(desc) == 0
    acl.set_tensor_desc_name(desc, "x")
    assert "expected a live tensor description" in acl.get_recent_err_msg()
    setters = [
        acl.set_tensor_format(desc, 0),
        acl.set_tensor_storage_format(desc, 0),
        acl.set_tensor_origin_format(desc, 0),
        acl.set_tensor_shape(desc, [1]),
        acl.set_tensor_storage_shape(desc, [1]),
        acl.set_tensor_origin_shape(desc, [1]),
        acl.set_tensor_shape_range(desc, [[1, 2]]),
        acl.set_tensor_value_range(desc, [[1, 2]]),
        acl.set_tensor_dynamic_input(desc, "x"),
        acl.set_tensor_const(desc, 0x1000, 1),
        acl.set_tensor_place_ment(desc, 0),
    ]
    assert setters == [INVALID_PARAM] * 11
    if kind == "buffer":
        assert acl.destroy_data_buffer(desc) == 0
