"""DLPack: device memory given to other libraries and taken from them, without a copy.

The device kind is 12, DLPack's number for accelerators that it does not list by name. A capsule keeps the array's block
alive until its consumer says that it is done; memory that was taken stays with its owner until the last array over it
is gone.
"""

import ctypes
import itertools
import math
from typing import TYPE_CHECKING, Any, Optional

import numpy

from acl.objects.memory_block import Block, refuse
from acl.objects.resource import current_opening
from acl.objects.stream import Stream

if TYPE_CHECKING:
    from acl.objects.array import DeviceArray

CPU, ACCELERATOR = 1, 12
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
NAME, USED = b"dltensor", b"used_dltensor"


class Tensor(ctypes.Structure):
    """What a capsule leads to, up to what its owner needs."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("number", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))

# What is lent, by the number in its record.
lent: dict[int, tuple[Tensor, Any, Any]] = {}
numbers = itertools.count(1)


@_Deleter
def _on_done(address: int) -> None:
    lent.pop(Tensor.from_address(address).number, None)


@_Destructor
def _on_capsule_end(capsule: int) -> None:
    if _is_valid(capsule, NAME):  # nobody took it
        _on_done(_pointer(capsule, NAME))


def device_of(array: "DeviceArray") -> tuple[int, int]:
    """Return DLPack's kind of device, and the number."""
    block = array._live()
    return (CPU, 0) if block.kind == "host" else (ACCELERATOR, block.opening.device_id)


def _order(array: "DeviceArray", stream: Any) -> None:
    """Let the consumer's stream come after the work that is known to use the memory."""
    block = array._live()
    if stream is None:
        block.settle()
    elif stream != -1:
        consumer = stream if isinstance(stream, Stream) else Stream.from_handle(stream)
        block.lead(consumer)
        block.use(consumer)


def give(array: "DeviceArray", stream: Any, dl_device: Optional[tuple[int, int]], copy: Optional[bool]) -> Any:
    """Return a capsule."""
    home = device_of(array)
    if not isinstance(dl_device, (tuple, type(None))):
        raise TypeError(
            f"acl.DeviceArray: dl_device is {dl_device!r}, expected DLPack's kind and number, such as (1, 0)"
        )
    if dl_device is not None and tuple(dl_device) != home:
        if tuple(dl_device) != (CPU, 0):
            raise BufferError(f"acl.DeviceArray: is on {home} of DLPack, not on {tuple(dl_device)}")
        if copy is False:
            raise BufferError("acl.DeviceArray: the host has device memory only as a copy")
        return array.to_numpy().__dlpack__()
    if copy:
        array = array.copy()
    if array.dtype.kind not in KINDS:
        raise BufferError(f"acl.DeviceArray: DLPack has no {array.dtype}")
    _order(array, stream)
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    number = next(numbers)
    tensor = Tensor(
        array.handle, *home, array.ndim, KINDS[array.dtype.kind], array.itemsize * 8, 1, shape, strides, 0, number,
        ctypes.cast(_on_done, ctypes.c_void_p),
    )  # fmt: skip
    lent[number] = tensor, (shape, strides), array._live()
    return _new(ctypes.addressof(tensor), NAME, _on_capsule_end)


class Taken:
    """Another library's memory; given back when nobody holds it."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self, tensor_at: Any = Tensor.from_address, call: Any = _Deleter) -> None:
        deleter = tensor_at(self.address).deleter
        if deleter:
            call(deleter)(self.address)


def take(source: Any) -> "DeviceArray":
    """Return an array over what another library offers."""
    from acl.objects.array import DeviceArray

    if not hasattr(source, "__dlpack__"):
        advice = "pass an array of a library with DLPack, or use from_numpy()"
        raise refuse("DeviceArray.from_dlpack", f"{type(source).__name__} has no __dlpack__", advice)
    kind, device_id = source.__dlpack_device__()
    if kind == CPU:
        return DeviceArray.from_numpy(numpy.from_dlpack(source))
    opening = current_opening()
    if (kind, device_id) != (ACCELERATOR, opening.device_id):
        advice = "make its device current, or copy it to the host first"
        reason = f"it is on ({kind}, {device_id}) of DLPack, not on device {opening.device_id}"
        raise refuse("DeviceArray.from_dlpack", reason, advice)
    capsule = source.__dlpack__()
    address = _pointer(id(capsule), NAME)
    tensor = Tensor.from_address(address)
    letter = {code: letter for letter, code in KINDS.items()}.get(tensor.code)
    if letter is None or tensor.lanes != 1:
        raise BufferError(f"acl.DeviceArray: no type for DLPack's ({tensor.code}, {tensor.bits}, {tensor.lanes})")
    dtype = numpy.dtype(f"{letter}{tensor.bits // 8}")
    shape = tuple(tensor.shape[place] for place in range(tensor.ndim))
    strides = tuple(math.prod(shape[place + 1 :]) for place in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[place] for place in range(tensor.ndim))
    _rename(capsule, USED)
    first = (tensor.data or 0) + tensor.byte_offset
    block = Block(first, 0, "device", opening, False, Taken(address))
    return DeviceArray._over(block, 0, shape, dtype, tuple(stride * dtype.itemsize for stride in strides))
