"""DLPack with others: TVM's, one that is written here over the protocol alone, and NumPy. Nothing is copied."""

import ctypes
import gc

import numpy
import pytest
import tvm_ffi
from helpers.objects import free_memory, held

import acl
from acl.objects import dlpack

pytestmark = pytest.mark.usefixtures("opened")
HOST = numpy.arange(24, dtype="i4").reshape(2, 3, 4)
OLD_NUMPY = numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0"
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Header(ctypes.Structure):
    """DLManagedTensor, as the protocol lays it out."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32), ("type", ctypes.c_uint8 * 4), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )  # fmt: skip


def python(name, result, *arguments):
    function = ctypes.PYFUNCTYPE(result, *arguments)
    return function((name, ctypes.pythonapi))


get_pointer = python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
set_name = python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
new = python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Foreign:
    """An array of the other library: takes what has DLPack, and gives it on."""

    def __init__(self, source):
        capsule = source.__dlpack__()
        self.address = get_pointer(capsule, b"dltensor")
        set_name(capsule, b"used_dltensor")
        self.header = Header.from_address(self.address)
        self.given = 0

    @property
    def shape(self):
        return tuple(self.header.shape[: self.header.ndim])

    @property
    def strides(self):
        return tuple(self.header.strides[: self.header.ndim])

    def __dlpack_device__(self):
        return tuple(self.header.device)

    def __dlpack__(self, stream=None):
        self.given += 1
        self.lent = Header.from_buffer_copy(self.header)
        self.deleter = CALL(self.take_back)
        self.lent.deleter = ctypes.cast(self.deleter, ctypes.c_void_p)
        return new(ctypes.addressof(self.lent), b"dltensor", None)

    def take_back(self, address):
        assert address == ctypes.addressof(self.lent)
        self.given -= 1

    def close(self):
        CALL(self.header.deleter)(self.address)


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2, 1:3]], ids=["it", "turned", "part"])
def test_a_round_trip_through_another_library_copies_nothing(view):
    before, array = free_memory(), acl.DeviceArray.from_numpy(HOST)
    part = view(array)
    foreign = Foreign(part)
    assert foreign.header.data + foreign.header.offset == part.handle
    assert (foreign.shape, foreign.strides) == (part.shape, tuple(stride // 4 for stride in part.strides))
    assert list(foreign.header.type) == [0, 32, 1, 0] and foreign.__dlpack_device__() == (12, 0)
    back = acl.DeviceArray.from_dlpack(foreign)
    assert back.handle == part.handle and foreign.given == 1 and not back.owned
    array.close()
    del array, part
    gc.collect()
    assert numpy.array_equal(back.to_numpy(), view(HOST))
    back.close()
    assert foreign.given == 0
    foreign.close()
    assert not dlpack.lent and free_memory() == before


@pytest.mark.parametrize("kind", ["device", "host"])
def test_a_tensor_of_tvm_is_the_same_memory(kind):
    memory = acl.Buffer(96, kind=kind)
    array = acl.DeviceArray.from_buffer(memory, HOST.shape, "i4")
    array.copy_from(HOST)
    tensor = tvm_ffi.from_dlpack(array[:, ::2])
    assert (tensor.shape, str(tensor.dtype)) == ((2, 2, 4), "int32")
    assert str(tensor.device) == ("ext_dev:0" if kind == "device" else "cpu:0")
    back = acl.DeviceArray.from_dlpack(tensor) if kind == "device" else numpy.from_dlpack(tensor)
    address = back.handle if kind == "device" else back.__array_interface__["data"][0]
    assert address == array.handle and back.strides == (48, 32, 4)
    array.close()
    memory.close()
    del array, tensor
    gc.collect()
    assert numpy.array_equal(back.to_numpy() if kind == "device" else back, HOST[:, ::2])
    del back
    gc.collect()
    assert not dlpack.lent


def test_what_was_taken_stays_while_a_view_of_it_does():
    foreign = Foreign(acl.DeviceArray.from_numpy(HOST))
    part = acl.DeviceArray.from_dlpack(foreign)[1]
    gc.collect()
    assert foreign.given == 1 and numpy.array_equal(part.to_numpy(), HOST[1])
    del part
    assert foreign.given == 0
    foreign.close()


def test_memory_that_was_taken_is_given_back_when_queued_work_is_done():
    foreign = Foreign(acl.DeviceArray.from_numpy(HOST))
    with acl.Stream() as stream, held(stream) as latch:
        array = acl.DeviceArray.from_dlpack(foreign)
        array.fill(0, stream=stream)
        del array
        assert foreign.given == 1
        latch.release()
        stream.synchronize()
        assert foreign.given == 0
    foreign.close()


def test_pinned_memory_and_numpy_share_an_address():
    with acl.Buffer(16, kind="host") as pinned:
        array = acl.DeviceArray.from_buffer(pinned, 4, "i4")
        assert array.__dlpack_device__() == (1, 0)
        taken = numpy.from_dlpack(array)
        assert taken.__array_interface__["data"][0] == pinned.handle == array.handle


def test_a_copy_is_made_where_it_is_asked_for():
    array = acl.DeviceArray.from_numpy(HOST)
    capsule = array.__dlpack__(copy=True)
    tensor = Header.from_address(get_pointer(capsule, b"dltensor"))
    assert tensor.data != array.handle
    del capsule
    assert not dlpack.lent


# --- Consumers of the CPU


def test_numpy_refuses_memory_of_the_device_with_advice(opened):
    array = acl.DeviceArray.zeros(4)
    with pytest.raises(BufferError, match=r"is not on the CPU: copy it by array\.to_numpy\(\)") as caught:
        numpy.from_dlpack(array)
    assert isinstance(caught.value.__cause__, (RuntimeError, BufferError))  # the latter since NumPy 2.5
    assert not dlpack.lent and array.to_numpy().tolist() == [0] * 4


def test_an_exception_that_drops_a_capsule_stays_as_it_was(opened):
    array = acl.DeviceArray.zeros(4)

    def consume():
        capsule = array.__dlpack__()
        raise RuntimeError(f"of the consumer {type(capsule).__name__}")

    with pytest.raises(RuntimeError, match="of the consumer PyCapsule") as caught:
        consume()
    assert not isinstance(caught.value, BufferError)
    del caught
    gc.collect()
    assert not dlpack.lent


@pytest.mark.skipif(OLD_NUMPY, reason="NumPy has no versioned capsules before 2.1")
def test_a_view_of_pinned_memory_can_be_written(opened):
    with acl.Buffer(16, kind="host") as buffer:
        array = acl.DeviceArray.from_buffer(buffer, 4, "f4")
        view = numpy.from_dlpack(array)
        view[:] = [1, 2, 3, 4]
        assert buffer.numpy("f4").tolist() == [1, 2, 3, 4] and len(dlpack.lent) == 1
        del view
        assert not dlpack.lent


@pytest.mark.parametrize("version, name", [(None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned")])
@pytest.mark.parametrize("device", [None, (1, 0)])
def test_capsules_have_the_version_that_the_consumer_takes(opened, version, name, device):
    if device is not None and OLD_NUMPY:
        name = "dltensor"
    capsule = acl.DeviceArray.zeros(4).__dlpack__(max_version=version, dl_device=device)
    assert f'"{name}"' in repr(capsule)
    del capsule
    assert not dlpack.lent


@pytest.mark.parametrize("version", [1, "1.0", (1,), (1.5, 0)])
def test_a_version_that_is_none_is_refused(opened, version):
    with pytest.raises(TypeError, match="expected two ints"):
        acl.DeviceArray.zeros(4).__dlpack__(max_version=version)


@pytest.mark.parametrize(
    "flags, major, text", [(dlpack.READ_ONLY, 1, "read-only memory"), (0, 2, "version 2.1 of DLPack")]
)
def test_what_an_array_cannot_be_over_is_refused(opened, flags, major, text):
    array = acl.DeviceArray.zeros(4)

    class Changed:
        def __dlpack_device__(self):
            return array.__dlpack_device__()

        def __dlpack__(self, **options):
            capsule = array.__dlpack__(**options)
            record = next(iter(dlpack.lent.values()))[0]
            record.flags, record.major = flags, major
            return capsule

    with pytest.raises(BufferError, match=f"Changed offers {text}, which is not supported: copy it first"):
        acl.DeviceArray.from_dlpack(Changed())
    assert not dlpack.lent


def test_a_copy_says_that_it_is_one(opened):
    capsule = acl.DeviceArray.zeros(4).__dlpack__(max_version=(1, 0), copy=True)
    assert [record.flags for record, _, _ in dlpack.lent.values()] == [dlpack.IS_COPY]
    del capsule
