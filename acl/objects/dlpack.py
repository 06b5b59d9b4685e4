"""DLPack: exchange of device memory with other libraries, without a copy.

The device type is 12, DLPack's number for accelerators that it does not list by name. A capsule keeps the array's block
alive until its consumer calls the deleter. Imported memory is released when the last array over it is gone.
"""

import ctypes
import itertools
import math
import operator
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy

from acl._lib import _acl
from acl.objects.memory_block import Block, refuse
from acl.objects.resource import current_opening
from acl.objects.stream import Stream

if TYPE_CHECKING:
    from acl.objects.array import DeviceArray

CPU, ACCELERATOR = 1, 12
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
READ_ONLY, IS_COPY = 1, 2  # flags of a versioned record
VERSION = 1, 1
READING = "copy it by array.to_numpy() or numpy.from_dlpack(array, device='cpu')"


class Tensor(ctypes.Structure):
    """The description of an array in both kinds of records."""

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
    )


class Plain(ctypes.Structure):
    """The record of a capsule for consumers that do not pass a version."""

    _fields_ = (("tensor", Tensor), ("number", ctypes.c_void_p), ("deleter", ctypes.c_void_p))
    name = b"dltensor"


class Versioned(ctypes.Structure):
    """The record of a capsule since version 1.0, which says whether the memory may be written."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("number", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )
    name = b"dltensor_versioned"


# A capsule refers to its name by address, so these texts must stay alive.
USED = {kind: b"used_" + kind.name for kind in (Plain, Versioned)}
Record = Union[Plain, Versioned]
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))

# Exported records with the objects that they keep alive, by the number in the record.
lent: dict[int, tuple[Record, Any, Any]] = {}
numbers = itertools.count(1)


def _deleter_of(kind: type[Record]) -> Any:
    """Return the deleter that a consumer calls when it is done with a record."""

    @_Deleter
    def on_done(address: int) -> None:
        lent.pop(kind.from_address(address).number, None)

    return on_done


_deleters = {kind: _deleter_of(kind) for kind in (Plain, Versioned)}


def device_of(array: "DeviceArray") -> tuple[int, int]:
    """Return DLPack's device type, and the number of the device."""
    block = array._live()
    return (CPU, 0) if block.kind == "host" else (ACCELERATOR, block.opening.device_id)


def _order(array: "DeviceArray", stream: Any) -> None:
    """Make the consumer's stream wait for the work that is registered with the memory."""
    block = array._live()
    if stream is None:
        block.settle()
    elif stream != -1:
        consumer = stream if isinstance(stream, Stream) else Stream.from_handle(stream)
        block.lead(consumer)
        block.use(consumer)


def give(
    array: "DeviceArray",
    stream: Any,
    max_version: Optional[tuple[int, int]],
    dl_device: Optional[tuple[int, int]],
    copy: Optional[bool],
) -> Any:
    """Return a capsule over the memory of an array, or over a copy of it."""
    home = device_of(array)
    if not isinstance(dl_device, (tuple, type(None))):
        raise TypeError(
            f"acl.DeviceArray: dl_device is {dl_device!r}, expected DLPack's kind and number, such as (1, 0)"
        )
    versioned = _is_versioned(max_version)
    if dl_device is not None and tuple(dl_device) != home:
        if tuple(dl_device) != (CPU, 0):
            raise BufferError(f"acl.DeviceArray: the array is on DLPack device {home}, not on {tuple(dl_device)}")
        if copy is False:
            raise BufferError("acl.DeviceArray: the host cannot use device memory without a copy")
        return _of_host(array.to_numpy(), versioned)
    if copy:
        array = array.copy()
    if array.dtype.kind not in KINDS:
        raise BufferError(f"acl.DeviceArray: DLPack does not support dtype {array.dtype}")
    _order(array, stream)
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    tensor = Tensor(
        array.handle, *home, array.ndim, KINDS[array.dtype.kind], array.itemsize * 8, 1, shape, strides, 0
    )  # fmt: skip
    number, kind = next(numbers), Versioned if versioned else Plain
    deleter = ctypes.cast(_deleters[kind], ctypes.c_void_p)
    record: Record = Plain(tensor, number, deleter)
    if versioned:
        record = Versioned(*VERSION, number, deleter, IS_COPY if copy else 0, tensor)
    lent[number] = record, (shape, strides), array._live()
    advice = None if home[0] == CPU else f"{array!r} is not on the CPU: {READING}"
    return _acl.capsule(ctypes.addressof(record), versioned, advice)


def _is_versioned(max_version: Any) -> bool:
    """Return whether a consumer supports the versioned record."""
    if max_version is None:
        return False
    try:
        major, _ = (operator.index(number) for number in max_version)
    except (TypeError, ValueError):
        text = f"acl.DeviceArray: max_version is {max_version!r}, expected two ints, such as (1, 0)"
        raise TypeError(text) from None
    return major >= 1


def _of_host(array: "numpy.ndarray[Any, Any]", versioned: bool) -> Any:
    """Return NumPy's capsule over a host array, versioned if that was requested and NumPy supports it."""
    if versioned and numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":
        return array.__dlpack__(max_version=VERSION)  # type: ignore[call-arg,unused-ignore]
    return array.__dlpack__()


class Taken:
    """Another library's memory; its record is released when no array uses it."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __del__(self, address_of: Any = ctypes.addressof, call: Any = _Deleter) -> None:
        if self.record.deleter:
            call(self.record.deleter)(address_of(self.record))


def take(kind_of_array: "type[DeviceArray]", source: Any) -> "DeviceArray":
    """Return an array over the memory that another library offers."""
    if not hasattr(source, "__dlpack__"):
        advice = "pass an array of a library with DLPack, or use from_numpy()"
        raise refuse("DeviceArray.from_dlpack", f"{type(source).__name__} has no __dlpack__", advice)
    kind, device_id = source.__dlpack_device__()
    if kind == CPU:
        return kind_of_array.from_numpy(numpy.from_dlpack(source))
    opening = current_opening()
    if (kind, device_id) != (ACCELERATOR, opening.device_id):
        advice = "make its device current, or copy it to the host first"
        reason = f"it is on DLPack device ({kind}, {device_id}), not on device {opening.device_id}"
        raise refuse("DeviceArray.from_dlpack", reason, advice)
    try:
        capsule = source.__dlpack__(max_version=VERSION)
    except TypeError:  # the library is older than versioned records
        capsule = source.__dlpack__()
    kind_of_record = Versioned if _is_valid(capsule, Versioned.name) else Plain
    record = kind_of_record.from_address(_pointer(capsule, kind_of_record.name))
    if isinstance(record, Versioned) and (record.major != VERSION[0] or record.flags & READ_ONLY):
        what = "read-only memory" if record.major == VERSION[0] else f"version {record.major}.{record.minor} of DLPack"
        reason = f"{type(source).__name__} offers {what}, which is not supported: copy it first"
        raise BufferError(f"acl.DeviceArray: {reason}")
    tensor = record.tensor
    letter = {code: letter for letter, code in KINDS.items()}.get(tensor.code)
    if letter is None or tensor.lanes != 1:
        reason = f"DLPack type ({tensor.code}, {tensor.bits}, {tensor.lanes}) is not supported"
        raise BufferError(f"acl.DeviceArray: {reason}")
    dtype = numpy.dtype(f"{letter}{tensor.bits // 8}")
    shape = tuple(tensor.shape[place] for place in range(tensor.ndim))
    strides = tuple(math.prod(shape[place + 1 :]) for place in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[place] for place in range(tensor.ndim))
    _rename(capsule, USED[kind_of_record])
    first = (tensor.data or 0) + tensor.byte_offset
    block = Block(first, 0, "device", opening, False, Taken(record))
    return kind_of_array._over(block, 0, shape, dtype, tuple(stride * dtype.itemsize for stride in strides))
