"""Memory: buffers of the device, pinned ones of the host and managed ones, and copies between them.

A :class:`Buffer`, the arrays on it and views of pinned memory share a block. It is freed by the rule of
:mod:`acl.objects.memory_block` when the last of them is closed or garbage-collected; closing one of them leaves the
memory to the others. A buffer of the usual device memory creates its block when something needs one: an array, or work
that is registered with it. :meth:`Buffer.view` waits for the work that is registered at that time; the program has to
synchronise before it reads the results of later work through the view.
"""

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Protocol, Union

from acl import rt
from acl._lib import BufferOwner, ffi, lib
from acl.errors import error_of
from acl.objects.memory_block import POLICIES, Block, one_of, pinned, refuse, tell, telling
from acl.objects.resource import LONGEST, MOST, Resource, current_opening, integer, stream_handle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

    from acl.objects.array import DeviceArray
    from acl.objects.stream import Stream

DEVICE, HUGE_FIRST = "device", "huge_first"
KINDS = (DEVICE, "host", "managed")
HUGE = POLICIES[HUGE_FIRST]
HOST_TO_HOST, HOST_TO_DEVICE = lib.ACL_MEMCPY_HOST_TO_HOST, lib.ACL_MEMCPY_HOST_TO_DEVICE
DEVICE_TO_HOST, DEVICE_TO_DEVICE = lib.ACL_MEMCPY_DEVICE_TO_HOST, lib.ACL_MEMCPY_DEVICE_TO_DEVICE
DEFAULT = lib.ACL_MEMCPY_DEFAULT
RUNS_ON_DEVICE = lib.ACL_DEVICE
DIRECTIONS = {
    ("host", "host"): HOST_TO_HOST, ("host", "device"): HOST_TO_DEVICE,
    ("device", "host"): DEVICE_TO_HOST, ("device", "device"): DEVICE_TO_DEVICE,
}  # fmt: skip


class HostMemory(Protocol):
    """An object with the buffer protocol: bytes, a memoryview, a NumPy array."""

    def __len__(self) -> int: ...


Memory = Union["Buffer", "DeviceArray", HostMemory]
Shape = Union[int, Sequence[int]]


def extents_of(shape: Shape, function: str) -> tuple[int, ...]:
    """Return a shape as a tuple of dimensions, or raise an error if it is not a shape."""
    if shape.__class__ is int and 0 <= shape <= MOST:
        return (shape,)
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    what = f"acl.{function}: a dimension"
    extents = tuple([integer(extent, what) for extent in given])
    if min(extents, default=0) < 0:
        raise refuse(function, f"shape is {extents}, expected no negative dimension")
    return extents


class Span(NamedTuple):
    """The address range of an argument."""

    address: int
    size: int
    kind: str
    block: Optional[Block]
    # Keeps memory alive that belongs to another object.
    keep: Any


def span_of(memory: Any, function: str, writable: bool = False) -> Span:
    """Return the contiguous memory of an argument."""
    if isinstance(memory, Resource):
        handle = memory.handle  # raises if it is closed
        block = getattr(memory, "_block", None)
        if isinstance(block, Block) and hasattr(memory, "nbytes"):
            if not getattr(memory, "is_contiguous", True):
                raise refuse(function, f"{memory!r} is not contiguous", "copy it first: array.copy()")
            return Span(handle, memory.nbytes, block.kind, block, memory)
    try:
        view = ffi.from_buffer(memory, require_writable=writable)
    except (TypeError, BufferError, ValueError) as error:
        what = "writable memory" if writable else "memory"
        plain = "a bytearray" if writable else "bytes"
        advice = f"pass a Buffer, a DeviceArray, a NumPy array (numpy.ascontiguousarray) or {plain}"
        raise refuse(function, f"{type(memory).__name__} is not contiguous {what} ({error})", advice) from None
    address, size = int(ffi.cast("uintptr_t", view)), len(view)
    for known in list(pinned.values()):
        block = known()
        if block is not None and block.address <= address < block.address + block.size:
            return Span(address, size, "host", block, view)
    return Span(address, size, "host", None, view)


def copy(target: Any, source: Any, size: Optional[int], stream: "Optional[Stream]", function: str) -> None:
    """Copy between contiguous memory of any kind: queued, or at once after the work registered with both sides."""
    to = span_of(target, function, writable=True)
    come = span_of(source, function)
    size = come.size if size is None else integer(size, f"acl.{function}: size")
    if size < 0 or size > come.size or size > to.size:
        raise refuse(function, f"{size} bytes do not fit: the source has {come.size}, the target {to.size}")
    transfer(to, come, [(0, 0)], size, stream)


def transfer(to: Span, come: Span, pieces: Iterable[tuple[int, int]], size: int, stream: "Optional[Stream]") -> None:
    """Copy pieces of one size, given by their offsets in the target and in the source."""
    kind = DIRECTIONS.get((come.kind, to.kind), DEFAULT)
    blocks = [block for block in (to.block, come.block) if block is not None]
    handle = 0
    if stream is None:
        for block in blocks:
            block.settle()
    else:
        handle = stream_handle(stream)
        for block in blocks:
            block.check()
    try:
        for there, here in pieces:
            if stream is None:
                ret = rt.memcpy(to.address + there, size, come.address + here, size, kind)
            else:
                ret = rt.memcpy_async(to.address + there, size, come.address + here, size, kind, handle)
            if ret != 0:
                raise error_of(ret, "aclrtMemcpy" if stream is None else "aclrtMemcpyAsync")
        pageable = any(span.kind == "host" and span.block is None for span in (to, come))
        if stream is not None and pageable and rt.get_run_mode()[0] == RUNS_ON_DEVICE:
            ret = rt.synchronize_stream(handle)  # the copy is queued, and nothing else keeps ordinary memory alive
            if ret != 0:
                raise error_of(ret, "aclrtSynchronizeStream")
    finally:  # pieces that were queued before a failure still run
        if stream is not None:
            tell(blocks, stream)


# --- Buffers


class BlockHolder(Resource):
    """A holder of a block, which may have other holders; closing the last one releases the memory.

    ``_block`` is None if it is closed.
    """

    __slots__ = ()
    _released_by = "aclrtFree"

    _block: Optional[Block]

    def _live(self) -> Block:
        """Return the block, or raise an error if this object is closed."""
        block = self._block
        if block is None:
            self._handle.__index__()  # raises if it is closed
        assert block is not None
        return block

    @property
    def owned(self) -> bool:
        """Whether the memory is freed when its last holder is closed: False if it is borrowed, or this is closed."""
        block = self._block
        return block is not None and block.owned

    def used_on(self, stream: "Stream") -> None:
        """Register work that pyACL or C queued on a stream: the memory is not freed before that work is done."""
        self._live().use(stream)

    def close(self) -> None:
        """Release the memory; closing again does nothing.

        It is freed (``aclrtFree``) when it has no other holder and the work that is registered with it is done.
        """
        self._handle, self._opening, self._block = self._closed, None, None


class Buffer(BufferOwner, BlockHolder):
    """Bytes on the device, or pinned on the host.

    Parameters
    ----------
    size
        The number of bytes.
    kind
        ``"device"``; ``"host"`` for pinned memory, which copies of a capture and truly asynchronous ones need; or
        ``"managed"`` for memory that host and device use at the same address.
    policy
        The pages of device memory: ``"huge_first"``, ``"huge_only"`` or ``"normal_only"``.

    Notes
    -----
    With ``stream=`` a copy or a fill is queued. Without it, the call waits for the work that is registered with the
    memory, and the copy or fill is done when the call returns.

    Wraps ``aclrtMalloc``, ``aclrtMallocHost`` or ``aclrtMemAllocManaged``; its contents are copied and set by
    ``aclrtMemcpy``, ``aclrtMemset`` and their ``Async`` forms.

    Raises
    ------
    InvalidArgumentError
        The size is less than 1, or the kind or the policy is unknown.
    OutOfMemoryError
        There is not enough memory, even after waiting for the release of memory that work still used.
    """

    __slots__ = ()

    # The block, which is created when an array, a stream or a copy needs it: None before, and when it is closed.
    _shared: Optional[Block]
    nbytes: int

    def _make(self, size: int, *, kind: str = DEVICE, policy: str = HUGE_FIRST) -> None:
        """Do the work of ``__init__`` for any arguments; it is in C for the usual ones."""
        kind, policy = one_of(kind, KINDS, "Buffer", "kind"), one_of(policy, POLICIES, "Buffer", "policy")
        size = integer(size, "acl.Buffer: size", 1, LONGEST)
        self._hold(Block.allocate(size, kind, policy), size)

    # The name in the messages about wrong arguments, which CPython 3.9 takes from the code, and the signature, which it
    # does not know of a type in C.
    _make.__name__, _make.__qualname__ = "__init__", "Buffer.__init__"
    _make.__code__ = _make.__code__.replace(co_name="__init__")
    __signature__ = inspect.Signature([*inspect.signature(_make).parameters.values()][1:])

    @staticmethod
    def _again(size: int, ret: int) -> int:
        """Return the address of memory after waiting for the release of other memory, or raise the error."""
        return Block.try_again(size, DEVICE, HUGE_FIRST, ret, "aclrtMalloc")

    def _hold(self, block: Block, size: int) -> None:
        """Become a holder of a block."""
        self._shared = block
        self.nbytes = size
        self._own(block.address, block.opening)

    @property
    def _block(self) -> Optional[Block]:  # type: ignore[override]
        block, opening = self._shared, self._opening
        if block is None and opening is not None:
            with telling:  # another thread may be here at the same time
                block = self._shared
                if block is None:
                    block = self._shared = Block(self._handle, self.nbytes, DEVICE, opening, True)
                    block.policy = HUGE_FIRST
        return block

    @classmethod
    def from_handle(cls, address: int, size: int, *, kind: str = "device", keep: Any = None) -> "Buffer":
        """Return an object for memory that it does not own; it keeps ``keep`` alive."""
        kind = one_of(kind, KINDS, "Buffer.from_handle", "kind")
        size = integer(size, "acl.Buffer.from_handle: size", 0)
        address = integer(address, "acl.Buffer.from_handle: address", 0, LONGEST)
        if size and not address:
            reason = f"address is {address:#x}, expected the address of {size} bytes"
            raise refuse("Buffer.from_handle", reason, "pass the address and the size of a block")
        self = cls.__new__(cls)
        self._hold(Block(address, size, kind, current_opening(), False, keep), size)
        self._opening = None
        return self

    @classmethod
    def _over(cls, block: Block, size: int) -> "Buffer":
        """Return a buffer over the start of a block."""
        self = cls.__new__(cls)
        self._hold(block, size)
        return self

    def share(self) -> Block:
        """Return the block for another holder."""
        block = self._live()
        self._opening = None  # no leak if the buffer is not closed: the other holder releases the block
        return block

    @property
    def kind(self) -> str:
        """``"device"``, ``"host"`` or ``"managed"``."""
        return self._live().kind

    def __len__(self) -> int:
        return self.nbytes

    def _close(self) -> None:
        """Close it if it has a block, or while a callback runs: its block leaves the release to another thread."""
        self._block  # noqa: B018
        self._handle, self._opening, self._shared = self._closed, None, None

    def fill(self, value: int = 0, *, stream: "Optional[Stream]" = None) -> None:
        """Set every byte to a value from 0 to 255."""
        opening = self._opening
        if (
            stream is None and self._shared is None and opening is not None and opening.live
            and value.__class__ is int and 0 <= value <= 255
        ):  # fmt: skip
            # No work uses the memory, because it has no block with which work is registered.
            ret = rt.memset(self._handle, self.nbytes, value, self.nbytes)
            if ret != 0:
                raise error_of(ret, "aclrtMemset")
            return
        fill(self, self._live(), value, stream, "Buffer.fill")

    def copy_from(self, source: Memory, *, size: Optional[int] = None, stream: "Optional[Stream]" = None) -> None:
        """Copy from another buffer, an array, or host memory such as bytes; all of it, or ``size`` bytes."""
        copy(self, source, size, stream, "Buffer.copy_from")

    def copy_to(self, target: Memory, *, size: Optional[int] = None, stream: "Optional[Stream]" = None) -> None:
        """Copy to another buffer, an array, or writable host memory; all of it, or ``size`` bytes."""
        copy(target, self, size, stream, "Buffer.copy_to")

    def __bytes__(self) -> bytes:
        """Return a copy of the contents, after the work that is registered with the memory."""
        result = bytearray(self.nbytes)
        self.copy_to(result)
        return bytes(result)

    def view(self) -> memoryview:
        """Return pinned or managed memory as a writable view that keeps it alive, after its registered work."""
        block = self._live()
        if block.kind == "device":
            raise refuse("Buffer.view", "the host cannot reach device memory", "copy it: bytes(buffer) or copy_to()")
        block.settle()
        self.share()
        pointer = ffi.gc(ffi.cast("char *", block.address), lambda _, block=block: None)
        return memoryview(ffi.buffer(pointer, self.nbytes))

    def __buffer__(self, flags: int) -> memoryview:
        return self.view()

    def numpy(self, dtype: "DTypeLike" = "u1", shape: Optional[Shape] = None) -> "np.ndarray[Any, Any]":
        """Return pinned or managed memory as a NumPy array, without a copy."""
        import numpy

        kind = numpy.dtype(dtype)
        if not kind.itemsize or kind.hasobject:
            raise refuse("Buffer.numpy", f"{kind} has no size in memory", "use a type of numbers")
        flat = numpy.frombuffer(self.view(), kind, count=self.nbytes // kind.itemsize)
        if shape is None:
            return flat
        extents = extents_of(shape, "Buffer.numpy")
        count = math.prod(extents)
        if count > flat.size:
            reason = f"{extents} of {kind} takes {count * kind.itemsize} bytes, and the buffer has {self.nbytes}"
            raise refuse("Buffer.numpy", reason)
        return flat[:count].reshape(extents)

    def __array__(self, dtype: "Optional[DTypeLike]" = None, copy: Optional[bool] = None) -> "np.ndarray[Any, Any]":
        import numpy

        return numpy.array(self.numpy(), dtype=dtype, copy=copy) if copy else numpy.asarray(self.numpy(), dtype=dtype)

    def _describe(self) -> str:
        block = self._block
        if block is None:
            return ""
        return f"{block.kind} {self.nbytes} bytes{f' {block.policy}' if block.policy else ''}"


def fill(
    memory: "Union[Buffer, DeviceArray]", block: Block, value: int, stream: "Optional[Stream]", function: str
) -> None:
    """Set every byte of a buffer or an array."""
    value = integer(value, f"acl.{function}: value", 0, 255)
    handle, size = memory._handle.__index__(), memory.nbytes
    block.check()
    if stream is None:
        block.settle()
        ret, called = rt.memset(handle, size, value, size), "aclrtMemset"
    elif block.kind == "host":
        raise refuse(function, "host memory cannot be set on a stream", "omit stream=, or use stream.call()")
    else:
        ret, called = rt.memset_async(handle, size, value, size, stream_handle(stream)), "aclrtMemsetAsync"
    if ret != 0:
        raise error_of(ret, called)
    if stream is not None:
        tell((block,), stream)
