"""Tensors, scalars, arrays and lists: what operators are called with."""

import ctypes

import numpy
import pytest
from helpers.expect import NULL, refused

import acl
from acl._lib import ffi, lib

FLOAT, FLOAT16, INT8, INT32, STRING, COMPLEX128, INT4, ND, NCHW = 0, 1, 2, 3, 13, 17, 29, 2, 0
NULLPTR, INVALID = 161001, 161002

FREE = ctypes.CDLL(None).free
FREE.argtypes = [ctypes.c_void_p]


def shape_of(call, tensor):
    """Return the numbers that a getter gives out in an array of its own, and free that."""
    numbers, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
    assert call(tensor, numbers, count) == 0
    found = list(numbers[0][0 : count[0]])
    FREE(int(ffi.cast("uintptr_t", numbers[0])))
    return found


def create(dims, strides=None, offset=0, storage=None, data=0, kind=FLOAT):
    strides = ffi.new("int64_t[]", strides) if strides is not None else NULL
    storage = dims if storage is None else storage
    tensor = lib.aclCreateTensor(
        dims, len(dims), kind, strides, offset, ND, storage, len(storage), ffi.cast("void *", data)
    )
    assert tensor != NULL
    return tensor


def value(call, handle, ctype):
    out = ffi.new(f"{ctype} *")
    assert call(handle, out) == 0
    return out[0]


@pytest.mark.parametrize(
    ("dims", "strides"), [([], []), ([5], [1]), ([2, 3, 4], [12, 4, 1]), ([2, 0, 4], [0, 4, 1]), ([1] * 12, [1] * 12)]
)
def test_strides_default_to_a_full_view(dims, strides):
    tensor = create(dims)
    assert shape_of(lib.aclGetViewShape, tensor) == dims
    assert shape_of(lib.aclGetViewStrides, tensor) == strides
    assert shape_of(lib.aclGetStorageShape, tensor) == dims
    assert lib.aclDestroyTensor(tensor) == 0


def test_a_view_keeps_what_it_was_made_of():
    tensor = create([3, 2], [-1, 7], 5, [40], 0x1000, FLOAT16)
    assert shape_of(lib.aclGetViewShape, tensor) == [3, 2]
    assert shape_of(lib.aclGetViewStrides, tensor) == [-1, 7]
    assert shape_of(lib.aclGetStorageShape, tensor) == [40]
    assert value(lib.aclGetViewOffset, tensor, "int64_t") == 5
    assert value(lib.aclGetFormat, tensor, "aclFormat") == ND
    assert value(lib.aclGetDataType, tensor, "aclDataType") == FLOAT16
    assert int(ffi.cast("uintptr_t", value(lib.aclGetRawTensorAddr, tensor, "void *"))) == 0x1000
    assert lib.aclDestroyTensor(tensor) == 0


def test_the_numbers_are_copied():
    dims = ffi.new("int64_t[]", [2, 3])
    tensor = lib.aclCreateTensor(dims, 2, FLOAT, NULL, 0, ND, dims, 2, NULL)
    dims[0] = 9
    assert shape_of(lib.aclGetViewShape, tensor) == [2, 3]
    assert lib.aclDestroyTensor(tensor) == 0


def test_init_gives_new_properties():
    tensor = create([2, 3])
    assert lib.aclInitTensor(tensor, [4], 1, INT8, [2], 1, NCHW, [9], 1, ffi.cast("void *", 0x2000)) == 0
    assert shape_of(lib.aclGetViewShape, tensor) == [4]
    assert shape_of(lib.aclGetViewStrides, tensor) == [2]
    assert value(lib.aclGetFormat, tensor, "aclFormat") == NCHW
    assert acl.get_raw_tensor_addr(int(ffi.cast("uintptr_t", tensor))) == (0x2000, 0)
    assert lib.aclDestroyTensor(tensor) == 0


def test_the_address_may_be_set_later():
    tensor = acl.create_tensor([2], FLOAT, [1], 0, ND, [2], 0)
    assert acl.get_raw_tensor_addr(tensor) == (0, 0)
    assert acl.set_raw_tensor_addr(tensor, 0x3000) == 0
    assert acl.get_raw_tensor_addr(tensor) == (0x3000, 0)
    assert acl.destroy_tensor(tensor) == 0


def test_missing_numbers_make_no_tensor():
    assert lib.aclCreateTensor(NULL, 2, FLOAT, NULL, 0, ND, [2], 1, NULL) == NULL
    assert lib.aclCreateTensor([2], 1, FLOAT, NULL, 0, ND, NULL, 1, NULL) == NULL


@pytest.mark.strict
def test_absurd_numbers():
    assert lib.aclCreateTensor([1], 1 << 40, FLOAT, NULL, 0, ND, [1], 1, NULL) == NULL
    refused(NULLPTR, NULLPTR)
    assert lib.aclCreateTensor([1], 1, FLOAT, NULL, 0, ND, [1], 129, NULL) == NULL
    assert "storageDims has 129 elements, expected at most 128" in acl.get_recent_err_msg()
    tensor = create([2**62, 2**62], None, -(2**63))
    assert shape_of(lib.aclGetViewStrides, tensor) == [2**62, 1]
    assert lib.aclDestroyTensor(tensor) == 0


# --- scalars and arrays


@pytest.mark.parametrize("kind", [FLOAT, FLOAT16, INT8, INT32, 9, 11, 12, 16, COMPLEX128, 27])
def test_scalars(kind):
    held = ffi.new("char[16]")
    scalar = lib.aclCreateScalar(held, kind)
    assert scalar != NULL
    assert lib.aclDestroyScalar(scalar) == 0


@pytest.mark.parametrize("kind", [STRING, -1])
def test_no_scalar_of_an_unsuitable_type(kind):
    assert lib.aclCreateScalar(ffi.new("char[16]"), kind) == NULL


def test_no_scalar_of_nothing():
    assert lib.aclCreateScalar(NULL, FLOAT) == NULL


@pytest.mark.strict
def test_no_scalar_of_device_memory(device):
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    assert acl.create_scalar(address, FLOAT) == 0
    assert f"value is {address:#x}, which is device memory" in acl.get_recent_err_msg()
    acl.rt.free(address)


ARRAYS = ["Int", "Float", "Bool"]
ELEMENT = {"Int": "int64_t", "Float": "float", "Bool": "bool"}


def array_calls(kind):
    return [getattr(lib, name.format(kind)) for name in ("aclCreate{}Array", "aclGet{}ArraySize", "aclDestroy{}Array")]


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_arrays(kind, count):
    make, size, destroy = array_calls(kind)
    array = make(ffi.new(f"{ELEMENT[kind]}[]", count), count)
    assert value(size, array, "uint64_t") == count
    assert destroy(array) == 0


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_nothing(kind):
    make, size, destroy = array_calls(kind)
    empty = make(NULL, 0)
    assert value(size, empty, "uint64_t") == 0
    assert destroy(empty) == 0
    assert make(NULL, 1) == NULL
    assert destroy(NULL) == 0


@pytest.mark.strict
@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_of_another_kind(kind):
    make, _, destroy = array_calls(kind)
    array = make(ffi.new(f"{ELEMENT[kind]}[]", 1), 1)
    other = ARRAYS[ARRAYS.index(kind) - 1]
    cast = ffi.cast(f"acl{other}Array *", array)
    refused(getattr(lib, f"aclGet{other}ArraySize")(cast, ffi.new("uint64_t *")), INVALID, "array is an array of")
    refused(getattr(lib, f"aclDestroy{other}Array")(cast), INVALID, "expected one of")
    assert destroy(array) == 0


# --- lists


@pytest.mark.strict
def test_a_tensor_list_owns_its_members():
    members = [create([2]) for _ in range(3)]
    tensors = lib.aclCreateTensorList(members, 3)
    assert value(lib.aclGetTensorListSize, tensors, "uint64_t") == 3
    assert lib.aclDestroyTensorList(tensors) == 0
    for member in members:
        refused(lib.aclDestroyTensor(member), INVALID, "tensor is a destroyed tensor")
    refused(lib.aclDestroyTensorList(tensors), INVALID, "array is a destroyed list")


@pytest.mark.strict
def test_a_scalar_list_owns_its_members():
    scalar = lib.aclCreateScalar(ffi.new("float *", 1), FLOAT)
    scalars = lib.aclCreateScalarList([scalar], 1)
    assert value(lib.aclGetScalarListSize, scalars, "uint64_t") == 1
    refused(
        lib.aclGetTensorListSize(ffi.cast("aclTensorList *", scalars), ffi.new("uint64_t *")), INVALID, "of scalars"
    )
    assert lib.aclDestroyScalarList(scalars) == 0
    refused(lib.aclDestroyScalar(scalar), INVALID, "destroyed scalar")


@pytest.mark.strict
def test_a_member_that_is_gone_is_left_alone():
    gone, kept = create([2]), create([2])
    tensors = lib.aclCreateTensorList([gone, kept], 2)
    assert lib.aclDestroyTensor(gone) == 0
    assert lib.aclDestroyTensorList(tensors) == 0
    refused(lib.aclDestroyTensor(kept), INVALID)


@pytest.mark.strict
def test_a_list_takes_live_members_only():
    scalar = lib.aclCreateScalar(ffi.new("float *", 1), FLOAT)
    assert lib.aclCreateTensorList([ffi.cast("aclTensor *", scalar)], 1) == NULL
    assert "value[0] is a live scalar" in acl.get_recent_err_msg()
    assert lib.aclCreateTensorList(NULL, 1) == NULL
    assert lib.aclDestroyScalar(scalar) == 0


def test_empty_lists():
    for make, size, destroy in (
        (lib.aclCreateTensorList, lib.aclGetTensorListSize, lib.aclDestroyTensorList),
        (lib.aclCreateScalarList, lib.aclGetScalarListSize, lib.aclDestroyScalarList),
    ):
        made = make(NULL, 0)
        assert value(size, made, "uint64_t") == 0
        assert destroy(made) == 0
        assert destroy(NULL) == 0


# --- errors of all


GETTERS = [
    (lib.aclGetViewShape, 2), (lib.aclGetViewStrides, 2), (lib.aclGetStorageShape, 2), (lib.aclGetViewOffset, 1),
    (lib.aclGetFormat, 1), (lib.aclGetDataType, 1), (lib.aclGetRawTensorAddr, 1),
]  # fmt: skip


@pytest.mark.parametrize(("getter", "outputs"), GETTERS)
def test_null_for_a_getter(getter, outputs):
    tensor = create([2])
    room = [ffi.cast("void *", ffi.addressof(ROOM, place)) for place in range(outputs)]
    assert getter(NULL, *room) == NULLPTR
    for place in range(outputs):
        assert getter(tensor, *room[:place], NULL, *room[place + 1 :]) == NULLPTR
    assert lib.aclDestroyTensor(tensor) == 0


ROOM = ffi.new("uint64_t[2]")


@pytest.mark.strict
@pytest.mark.parametrize(("getter", "outputs"), GETTERS)
@pytest.mark.parametrize("handle", [1, 0x7F0000001000, 2**64 - 1])
def test_garbage_for_a_getter(getter, outputs, handle):
    room = [ffi.cast("void *", ffi.addressof(ROOM, place)) for place in range(outputs)]
    refused(getter(ffi.cast("aclTensor *", handle), *room), INVALID, "tensor is not a handle", hex(handle))


def test_null_for_a_setter():
    assert lib.aclSetRawTensorAddr(NULL, NULL) == NULLPTR
    assert lib.aclInitTensor(NULL, [1], 1, FLOAT, NULL, 0, ND, [1], 1, NULL) == NULLPTR
    assert acl.destroy_tensor(0) == 0
    assert acl.destroy_scalar(0) == 0
    for size in ("IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList"):
        assert getattr(lib, f"aclGet{size}Size")(NULL, ffi.new("uint64_t *")) == NULLPTR


@pytest.mark.strict
def test_a_refused_init_leaves_the_tensor():
    tensor = create([2, 3])
    refused(lib.aclInitTensor(tensor, NULL, 1, FLOAT, NULL, 0, ND, [1], 1, NULL), NULLPTR, "viewDims is NULL")
    assert shape_of(lib.aclGetViewShape, tensor) == [2, 3]
    assert lib.aclDestroyTensor(tensor) == 0
    refused(lib.aclDestroyTensor(tensor), INVALID, "destroyed tensor")
    refused(lib.aclSetRawTensorAddr(tensor, NULL), INVALID, "destroyed tensor")


def test_operators_may_be_initialised():
    assert lib.aclnnInit(NULL) == 0
    assert lib.aclnnFinalize() == 0


def test_pyacl_style():
    """Lists become C arrays, handles are ints."""
    tensor = acl.create_tensor([2, 3], FLOAT, [3, 1], 0, ND, [2, 3], 0)
    two = numpy.float32(2).tobytes()
    scalar = acl.create_scalar(acl.util.bytes_to_ptr(two), FLOAT)
    arrays = [acl.create_int_array([-1, 2]), acl.create_float_array([0.5]), acl.create_bool_array([1, 0])]
    assert all(isinstance(handle, int) and handle != 0 for handle in (tensor, scalar, *arrays))
    assert acl.get_view_shape(tensor) == ([2, 3], 0)
    assert value(lib.aclGetIntArraySize, ffi.cast("aclIntArray *", arrays[0]), "uint64_t") == 2
    assert acl.destroy_int_array(arrays[0]) == 0
    assert acl.destroy_float_array(arrays[1]) == 0
    assert acl.destroy_bool_array(arrays[2]) == 0
    assert acl.destroy_tensor_list(acl.create_tensor_list([tensor])) == 0
    assert acl.destroy_scalar_list(acl.create_scalar_list([scalar])) == 0
    assert acl.get_view_shape(tensor) == ([], INVALID)  # destroyed with its list
    assert acl.get_view_shape(0) == ([], NULLPTR)
    with pytest.raises(ValueError, match="of the same length"):
        acl.create_tensor([2, 3], FLOAT, [1], 0, ND, [2, 3], 0)
    assert "An extension" in acl.create_tensor.__doc__
