"""Custom kernels: a program loads a binary and launches its functions.

``acl.Kernel(binary, name)(blocks, *arguments, stream=stream)`` launches a kernel. Arguments are passed as bytes, so
each needs a size: an array or a buffer is passed as its address, NumPy scalars and ctypes values by value, each at a
multiple of its alignment. Python numbers have no size; they are allowed if the kernel was created with ``parameters``.

A binary stays loaded while it has a holder: the object, its kernels, and launches that are queued or captured. A launch
registers its stream with the binary, as it does with memory (:mod:`acl.objects.memory_block`), and the binary is
unloaded by the same rule. Like arrays, a binary and its kernels need not be closed: the garbage collector does that.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from sys import is_finalizing
from typing import Any, Optional, Union

import numpy

from acl import rt
from acl._lib import _acl, ffi, lib
from acl.errors import AclError, error_of
from acl.objects import resource
from acl.objects.array import DeviceArray
from acl.objects.context_current import call_in, current_handle
from acl.objects.memory import Buffer
from acl.objects.memory_block import Block, refuse, tell
from acl.objects.resource import Opening, Resource, current_opening, stream_handle
from acl.objects.stream import Stream

launch_kernel, pack_arguments = _acl.launch_kernel, _acl.pack_arguments
MOST_BLOCKS = 2**32 - 1
ADDRESS = struct.Struct("P")
LETTERS = "PQqIiHhBbfd?"  # the types of parameters, as in the struct module
# Of a form of arguments, which acl/launch.h packs: one place, and the most arguments and bytes.
PLACE, MOST_SHARED, LONGEST_SHARED = struct.Struct("=IHcx"), 32, 512
# The letters of types of which a conversion keeps each value exactly: NaNs of shorter types can change.
EXACT: dict[type, str] = {
    numpy.int8: "b", numpy.int16: "h", numpy.int32: "i", numpy.int64: "q", numpy.uint8: "B", numpy.uint16: "H",
    numpy.uint32: "I", numpy.uint64: "Q", numpy.float64: "d", numpy.bool_: "?", int: "", float: "", bool: "",
}  # fmt: skip
VOID = ffi.typeof("void *")
DEFAULT_STREAM = ffi.cast(VOID, 0)
SIZED = "give it a size: numpy.int32(x), ctypes.c_float(x), or Kernel(..., parameters='...')"


# --- Shared by operators and kernels


def check_place(block: Block, name: str, opening: Opening, function: str) -> None:
    """Raise an error for memory that the thread's device cannot access."""
    if block.kind == "host":
        raise refuse(function, f"{name} is in host memory", "copy it to the device: array.copy()")
    if block.opening is not opening:
        there, here = block.opening.device_id, opening.device_id
        advice = f"launch on that device, `with acl.Device({there}):`, or copy it"
        raise refuse(function, f"{name} is on device {there}, the thread's device is {here}", advice)


def finish(blocks: Iterable[Block], function: str) -> None:
    """Wait for the work that was just queued on the default stream."""
    try:
        ret = rt.synchronize_stream(0)
    except BaseException:  # Ctrl-C: the work still runs
        tell(blocks, Stream.default())
        raise
    if ret != 0:
        raise error_of(ret, function)


# --- Binaries


class _Loaded:
    """A binary on the device, unloaded when its last holder is gone."""

    def __init__(self, handle: int, opening: Opening, context: int) -> None:
        self.handle = handle
        self.opening = opening
        self.context = context

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:
        if self.opening.live and not is_finalizing():
            try:
                call_in(self.context, rt.binary_unload, self.handle)
            except AclError:  # its context was destroyed, and the binary with it
                pass


class BinaryHolder(Resource):
    """A holder of a binary, which may have other holders; closing the last one releases the binary."""

    __slots__ = ("_block",)
    _released_by = "aclrtBinaryUnLoad"
    _is_value = True

    _block: Optional[Block]

    def _release(self, handle: int, opening: Opening) -> int:
        return 0

    def close(self) -> None:
        """Release the binary; closing again does nothing."""
        super().close()
        self._block = None


class Binary(BinaryHolder):
    """A binary with kernels, on the thread's device.

    Parameters
    ----------
    source
        The path of the file, or its bytes.

    Raises
    ------
    InvalidArgumentError
        The source is neither, is empty, or is not a binary of kernels.

    Notes
    -----
    Wraps ``aclrtBinaryLoadFromFile`` and ``aclrtBinaryLoadFromData``. A closed binary is unloaded
    (``aclrtBinaryUnLoad``) when its kernels are closed too and the work that uses them is done.
    """

    __slots__ = ("_source",)

    _source: str

    def __init__(self, source: "Union[str, os.PathLike[str], bytes]") -> None:
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            if not data:
                raise refuse("Binary", "source has no bytes", "pass the contents of a binary, or its path")
            self._source = f"{len(data)} bytes"
            content = ffi.from_buffer(data)
            handle, ret = rt.binary_load_from_data(int(ffi.cast("uintptr_t", content)), len(data), [])
            function = "aclrtBinaryLoadFromData"
        elif isinstance(source, (str, os.PathLike)):
            self._source = os.fspath(source)
            handle, ret = rt.binary_load_from_file(self._source, [])
            function = "aclrtBinaryLoadFromFile"
        else:
            raise refuse("Binary", f"source is a {type(source).__name__}", "pass the path of a binary, or its bytes")
        if ret != 0:
            raise error_of(ret, function)
        opening = current_opening()
        # A block without memory: work is registered with it, and the binary is released by the rule of memory.
        self._block = Block(0, 0, "device", opening, False, _Loaded(handle, opening, current_handle()))
        self._own(handle, opening)

    def share(self) -> Block:
        """Return the block for another holder of the binary."""
        block = self._block
        if block is None:
            self._handle.__index__()  # raises if it is closed
        assert block is not None
        block.check()
        return block

    def kernel(self, name: str, *, parameters: Optional[str] = None) -> "Kernel":
        """Return one of its kernels."""
        return Kernel(self, name, parameters=parameters)

    def _describe(self) -> str:
        return self._source


# --- Kernels


class Kernel(BinaryHolder):
    """A kernel, launched by calling it.

    Parameters
    ----------
    binary
        A :class:`acl.Binary`, the path of a file, or its bytes.
    name
        The kernel's name in the binary.
    parameters
        A letter of the :mod:`struct` module for each parameter, such as ``"PPI"``: ``P`` is an address, ``I`` a 32-bit
        number. With it Python numbers can be passed, and the number of arguments is checked. With None each argument
        needs a size.

    Raises
    ------
    InvalidArgumentError
        The binary has no such kernel.

    Notes
    -----
    Wraps ``aclrtBinaryGetFunction`` and ``aclrtLaunchKernelWithHostArgs``.

    Examples
    --------
    ::

        add = acl.Kernel("vector_add.o", "vector_add")
        add(4, x, y, z, numpy.uint64(8), stream=stream)
    """

    __slots__ = ("_name", "_pointer", "_letters", "_form")

    _name: str
    _pointer: Any
    _letters: Optional[str]
    # How arguments of the types of the last ones are packed, for C (acl/launch.h): the function, the binary's block,
    # the number of bytes, the types, and the place of each argument.
    _form: Optional[tuple[int, Block, int, tuple[Any, ...], bytes]]

    def __init__(
        self,
        binary: "Union[Binary, str, os.PathLike[str], bytes]",
        name: str,
        *,
        parameters: Optional[str] = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise refuse("Kernel", f"name is {name!r}", "pass the name of a kernel of the binary")
        if not isinstance(parameters, (str, type(None))):
            raise TypeError(f"acl.Kernel: parameters is {parameters!r}, expected a str such as 'PPQ'")
        wrong = [letter for letter in parameters or "" if letter not in LETTERS]
        if wrong:
            raise refuse("Kernel", f"parameters has {wrong[0]!r}, expected letters of {LETTERS}")
        loaded = binary if isinstance(binary, Binary) else Binary(binary)
        block = loaded.share()
        handle, ret = rt.binary_get_function(loaded.handle, name)
        if ret != 0:
            raise error_of(ret, "aclrtBinaryGetFunction")
        self._block, self._name, self._letters, self._form = block, name, parameters, None
        self._pointer = ffi.cast("void *", handle)
        self._own(handle, block.opening)

    @property
    def name(self) -> str:
        """Its name in the binary."""
        return self._name

    def __call__(self, blocks: int, *arguments: Any, stream: Optional[Stream] = None) -> None:
        """Launch it.

        Parameters
        ----------
        blocks
            The number of blocks, 1 or more.
        *arguments
            Arrays and buffers of the thread's device, NumPy scalars, ctypes values; also Python numbers if the kernel
            was created with ``parameters``.
        stream
            The stream on which it is queued or captured. Without one, the call waits for the work that is registered
            with its memory, and for the kernel.

        Raises
        ------
        InvalidArgumentError
            If an argument has no size or is on another device, or if the number of arguments is wrong.
        TaskError
            If it failed; with a stream, the next synchronise raises this.
        """
        block, form = self._block, self._form
        if block is None:
            self._handle.__index__()  # raises if it is closed
        assert block is not None
        opening = resource.single or current_opening()
        if form is not None and stream is not None and block.opening is opening:
            ret = launch_kernel(form, blocks, opening, stream, arguments)
            if ret == 0:
                return
            if ret is not None:
                raise error_of(ret, "aclrtLaunchKernelWithHostArgs")
        if block.opening is not opening:
            block.check()
            check_place(block, "the kernel", opening, "Kernel")
        if not isinstance(blocks, (int, numpy.integer)) or not 1 <= blocks <= MOST_BLOCKS:
            raise refuse("Kernel", f"{self._name}: blocks is {blocks!r}, expected 1 to {MOST_BLOCKS}")
        packed = None if form is None else pack_arguments(form, opening, arguments)
        content, used = packed or self._check_and_pack(arguments, opening, block)
        target = DEFAULT_STREAM
        if stream is None:
            for memory in used:
                if memory.uses:
                    memory.settle()
        else:
            target = ffi.cast(VOID, stream_handle(stream))
        ret = lib.aclrtLaunchKernelWithHostArgs(
            self._pointer, blocks, target, ffi.NULL, content, len(content), ffi.NULL, 0
        )
        if ret != 0:
            raise error_of(ret, "aclrtLaunchKernelWithHostArgs")
        if stream is None:
            finish(used, self._name)
        else:
            tell(used, stream)

    def close(self) -> None:
        """Release the binary; closing again does nothing."""
        super().close()
        self._form = None

    def _check_and_pack(self, arguments: tuple[Any, ...], opening: Opening, own: Block) -> tuple[bytes, list[Block]]:
        """Return the bytes of any arguments, and the blocks that the launch uses.

        The form is kept if other arguments of their types can share it.
        """
        letters = self._letters
        if letters is not None and len(letters) != len(arguments):
            reason = f"{self._name}: {len(arguments)} arguments, expected {len(letters)}, one for each of {letters!r}"
            raise refuse("Kernel", reason)
        content, used, places, shared = bytearray(), [own], [], 0 < len(arguments) <= MOST_SHARED
        for place, argument in enumerate(arguments):
            letter = "" if letters is None else letters[place]
            size, data = self._bytes_of(argument, letter, place, opening, used)
            content += bytes(-len(content) % size)
            kind = type(argument)
            memory = kind is DeviceArray or kind is Buffer
            shared &= memory or kind in EXACT or (letters is None and issubclass(kind, numpy.number))
            if shared:
                letter = "M" if memory else "Q" if letter == "P" else letter or EXACT.get(kind) or "s"
                places.append(PLACE.pack(len(content), len(data), letter.encode()))
            content += data
        if shared and len(content) <= LONGEST_SHARED:
            kinds = tuple(map(type, arguments))
            self._form = int(self._handle), own, len(content), kinds, b"".join(places)
        return bytes(content) or bytes(8), used  # C refuses a size of 0

    def _bytes_of(
        self, argument: Any, letter: str, place: int, opening: Opening, used: list[Block]
    ) -> tuple[int, bytes]:
        """Return the alignment and the bytes of one argument."""
        name = f"{self._name}: argument {place}"
        if isinstance(argument, (DeviceArray, Buffer)):
            if letter not in ("", "P"):
                raise refuse("Kernel", f"{name} is memory, expected a number ({letter!r})")
            address = argument.handle
            block = argument._live()
            block.check()
            check_place(block, name, opening, "Kernel")
            if block not in used:
                used.append(block)
            return 8, ADDRESS.pack(address)
        if letter:
            value = getattr(argument, "value", argument)
            form = struct.Struct(letter)
            try:
                return form.size, form.pack(value if letter != "?" else bool(value))
            except (struct.error, TypeError, OverflowError) as error:
                what = "memory or an address" if letter == "P" else "a number"
                raise refuse("Kernel", f"{name} is {_shown(argument)}, expected {what} ({letter!r}: {error})") from None
        if isinstance(argument, (numpy.number, numpy.bool_)):
            return argument.dtype.alignment, argument.tobytes()
        if isinstance(argument, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)):
            if isinstance(argument, (ctypes.c_char_p, ctypes.c_wchar_p)):
                advice = "copy the string to an acl.Buffer"
                raise refuse("Kernel", f"{name} is a pointer to a string in host memory", advice)
            return ctypes.alignment(argument), bytes(argument)
        if isinstance(argument, numpy.ndarray):
            raise refuse("Kernel", f"{name} is an array in host memory", "copy it: acl.DeviceArray.from_numpy(array)")
        advice = SIZED if isinstance(argument, (bool, int, float)) else "pass an array, a buffer or a NumPy scalar"
        raise refuse("Kernel", f"{name} is {_shown(argument)}, which has no size", advice)

    def _describe(self) -> str:
        return self._name


def _shown(value: Any) -> str:
    """Return a value as a text for messages; arrays and other objects only by their class."""
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else f"a {type(value).__name__}"
