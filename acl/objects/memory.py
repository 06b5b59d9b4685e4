"""Memory: blocks of the device, pinned blocks of the host and managed ones, and when they are given back.

A :class:`Block` is one allocation. :class:`Buffer`, the arrays on it and views of pinned memory share it; it is given
back when the last of them is closed or dropped. Closing one of them never takes memory from the others.

The rule of giving back: **no memory is freed while work that it was told of may use it.** Every queued copy, set,
operator and launch of the objects tells the blocks it touches of its stream (:meth:`Block.use`); work that pyACL or C
queues is told of by :meth:`Buffer.used_on`. When a block is given back, the streams it knows that are not idle get an
event recorded at that point, and the block waits until these are done. No thread waits for that: ``resource.sweep``
looks when memory is allocated, and when a stream, event or device is synchronised. Where memory has run out, and before
the device is closed, the events are waited for. A stream that is being captured when the block is given back cannot
record: it is asked again by the next sweep.

What a capture took in (a use told of while the stream is captured) is held by the instance, and given back when that
is destroyed. Reading pinned memory through a view is the program's to order: :meth:`Buffer.view` waits for the work
that is known then.

Memory of a pool goes back in the order of its stream instead (:mod:`acl.objects.pool`).

A synchronous copy waits for the streams that both sides were told of, so that nothing is read too early.
"""

import weakref
from collections.abc import Iterable
from sys import is_finalizing
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Protocol, Union

from acl import mdl, rt
from acl._lib import ffi, lib
from acl.errors import AclError, ContextError, InvalidArgumentError, InvalidHandleError, OutOfMemoryError, error_of
from acl.objects import resource
from acl.objects.context import call_in
from acl.objects.resource import (
    INVALID_HANDLE,
    Opening,
    Resource,
    current_opening,
    handle_of,
    in_callback,
    integer,
    retired,
    sweep,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

    from acl.objects.array import DeviceArray
    from acl.objects.stream import Stream

POLICIES = {"huge_first": 0, "huge_only": 1, "normal_only": 2}
KINDS = ("device", "host", "managed")
INVALID, OUT_OF_MEMORY = 107000, 207001
HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT = range(5)
DIRECTIONS = {
    ("host", "host"): HOST_TO_HOST, ("host", "device"): HOST_TO_DEVICE,
    ("device", "host"): DEVICE_TO_HOST, ("device", "device"): DEVICE_TO_DEVICE,
}  # fmt: skip
SYNC = 1
MANY = 16  # streams that a block remembers before it looks which have ended


def refuse(function: str, reason: str, advice: str = "") -> InvalidArgumentError:
    """Return the error for what is refused before the library is asked."""
    return InvalidArgumentError(INVALID, f"acl.{function}", f"acl.{function}: {reason}", advice)


def stream_handle(stream: "Stream") -> int:
    """Return the handle of an argument that is a stream."""
    try:
        return stream.handle
    except AttributeError:
        from acl.objects.stream import Stream

        return handle_of(stream, Stream)


# --- Giving back


class Unused:
    """Memory that nobody has any more, and what it still waits for."""

    __slots__ = ("address", "kind", "opening", "keeps", "streams", "events")

    def __init__(self, block: "Block") -> None:
        self.address = block.address if block.owned else 0
        self.keeps = block.keeps
        self.kind = block.kind
        self.opening = block.opening
        # Streams that are still to be asked, and the ends of their work where they were.
        self.streams = list(block.uses.values())
        self.events: list[int] = []

    def record(self) -> None:
        """Record an event on each stream that is not idle, where that can be done now."""
        left = []
        for stream in self.streams:
            if stream.closed:
                continue  # its end was the end of its work
            handle = stream.handle
            status, ret = rt.stream_query(handle)
            if ret == INVALID_HANDLE or (ret == 0 and status == 0):
                continue
            if _captured_into(handle):
                left.append(stream)
                continue
            try:
                self.events.append(call_in(stream._context, _end_of, handle))
            except ContextError:  # it has ended, and the stream with it
                pass
            except AclError:
                left.append(stream)
        self.streams = left

    def done(self, wait: bool) -> bool:
        """Free it when nothing uses it any more; tell whether it was."""
        if self.opening.live:
            if self.streams:
                self.record()
            while self.events:
                if wait:
                    rt.synchronize_event(self.events[-1])
                elif rt.query_event_status(self.events[-1]) == (0, 0):
                    return False
                rt.destroy_event(self.events.pop())
            if self.streams:
                return False
        self.keeps = None
        if self.address:
            _free(self.address, self.kind, self.opening)
        return True


def _free(address: int, kind: str, opening: Opening) -> None:
    # What the library does not know any more went with its device, by pyACL calls: there is nothing to say.
    if kind == "host":
        rt.free_host(address)
    elif opening.live:
        rt.free(address)


def _free_in_order(block: "Block", home: "Stream") -> bool:
    """Queue the release of a pool's memory on a stream, behind all its uses; tell whether that could be done."""
    if not block.opening.live:
        return True
    if home.closed or _captured_into(home.handle):
        return False
    try:
        for stream in block.uses.values():
            if stream is home or stream.closed:
                continue
            if _captured_into(stream.handle):
                return False
            end = call_in(stream._context, _end_of, stream.handle)
            ret = call_in(home._context, rt.stream_wait_event, home.handle, end)
            rt.destroy_event(end)  # the wait outlives it
            if ret != 0:
                return False
        address = ffi.cast("void *", block.address)
        ret = call_in(home._context, lib.aclrtMemPoolFreeAsync, address, ffi.cast("void *", home.handle))
    except AclError:
        return False
    return int(ret) == 0


def _end_of(stream: int) -> int:
    """Return a fresh event at the end of a stream of the current context."""
    event, ret = rt.create_event_ex_with_flag(SYNC)
    if ret != 0:
        raise error_of(ret, "aclrtCreateEventExWithFlag")
    ret = rt.record_event(event, stream)
    if ret != 0:
        rt.destroy_event(event)
        raise error_of(ret, "aclrtRecordEvent")
    return event


captured: dict[int, list["Block"]] = {}
# The streams on which a group of tasks is being updated, and what stands for the instance in `captured` meanwhile.
updating: dict[int, int] = {}


def _captured_into(stream: int) -> int:
    """Return the instance that takes in what is queued on a stream, or 0."""
    if stream in updating:
        return updating[stream]
    status, instance, ret = mdl.ri_capture_get_info(stream)
    return instance if ret == 0 and status != 0 else 0


def forget_captured(instance: int) -> None:
    """Let go of what an instance that is gone has held."""
    captured.pop(instance, None)


# --- Blocks


# Live pinned memory, so that a copy from or to a view of it finds its block.
pinned: "weakref.WeakValueDictionary[int, Block]" = weakref.WeakValueDictionary()


class Block:
    """One allocation, given back when nobody holds it."""

    __slots__ = ("address", "size", "kind", "opening", "owned", "uses", "keeps", "home", "__weakref__")

    def __init__(self, address: int, size: int, kind: str, opening: Opening, owned: bool, keeps: Any = None) -> None:
        self.address = address
        self.size = size
        self.kind = kind
        self.opening = opening
        self.uses: dict[int, Stream] = {}
        # What borrowed memory belongs to.
        self.keeps = keeps
        self.owned = owned
        # The stream in whose order memory of a pool goes back.
        self.home: Optional[Stream] = None
        if kind == "host":
            pinned[address] = self

    @classmethod
    def allocate(cls, size: int, kind: str, policy: str) -> "Block":
        """Return fresh memory of the thread's device."""
        if retired:
            sweep()
        address, ret, function = cls._try(size, kind, POLICIES[policy])
        if ret == OUT_OF_MEMORY and retired:
            sweep(wait=True)
            address, ret, function = cls._try(size, kind, POLICIES[policy])
        if ret != 0:
            error = error_of(ret, function)
            if isinstance(error, OutOfMemoryError):
                error.advice = f"{size} bytes were asked for; {error.advice}"
            raise error
        return cls(address, size, kind, resource.single or current_opening(), True)

    @staticmethod
    def _try(size: int, kind: str, policy: int) -> tuple[int, int, str]:
        if kind == "device":
            return (*rt.malloc(size, policy), "aclrtMalloc")
        if kind == "host":
            return (*rt.malloc_host(size), "aclrtMallocHost")
        slot = ffi.new("void **")
        ret = int(lib.aclrtMemAllocManaged(slot, size, 1))
        return int(ffi.cast("uintptr_t", slot[0])), ret, "aclrtMemAllocManaged"

    def use(self, stream: "Stream") -> int:
        """Note that work of a stream uses the memory, and return the stream's handle."""
        handle = stream_handle(stream)
        self._note(stream, handle, _captured_into(handle))
        return handle

    def _note(self, stream: "Stream", handle: int, instance: int) -> None:
        if instance:
            held = captured.setdefault(instance, [])
            if self not in held:
                held.append(self)
        else:
            self.uses[handle] = stream
            if len(self.uses) > MANY:
                self.uses = {other: user for other, user in self.uses.items() if not user.closed}

    def check(self) -> None:
        """Refuse what is gone with its device."""
        if not self.opening.live:
            text = "acl.Buffer: its device was closed, and the memory is gone"
            raise InvalidHandleError(INVALID_HANDLE, "acl.Buffer", text, "close buffers and arrays before their device")

    def settle(self) -> None:
        """Wait for all work that is known to use the memory."""
        self.check()
        for handle, stream in list(self.uses.items()):
            if not stream.closed:
                stream.synchronize()
            self.uses.pop(handle, None)

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:  # the module may be gone by then
        try:
            if not self.owned and self.keeps is None:
                return
        except AttributeError:  # never made
            return
        if is_finalizing():
            return
        if in_callback():
            retired.append(Unused(self))
        elif self.home is not None and _free_in_order(self, self.home):
            pass
        elif self.uses or self.keeps is not None:
            item = Unused(self)
            if not item.done(False):
                retired.append(item)
        else:
            _free(self.address, self.kind, self.opening)


class HostMemory(Protocol):
    """What has the buffer protocol: bytes, memoryview, NumPy arrays."""

    def __len__(self) -> int: ...


Memory = Union["Buffer", "DeviceArray", HostMemory]


class Span(NamedTuple):
    """The bytes that an argument stands for."""

    address: int
    size: int
    kind: str
    block: Optional[Block]
    # What keeps memory of others alive.
    keep: Any


def span_of(memory: Any, function: str, writable: bool = False) -> Span:
    """Return the contiguous memory that an argument stands for."""
    if isinstance(memory, Resource):
        handle = memory.handle  # raises when it is closed
        block = getattr(memory, "_block", None)
        if isinstance(block, Block):
            if not getattr(memory, "is_contiguous", True):
                raise refuse(function, f"{memory!r} is not contiguous", "copy it first: array.copy()")
            return Span(handle, memory.nbytes, block.kind, block, memory)  # type: ignore[attr-defined]
    try:
        view = ffi.from_buffer(memory, require_writable=writable)
    except (TypeError, BufferError, ValueError) as error:
        what = "writable memory" if writable else "memory"
        plain = "a bytearray" if writable else "bytes"
        advice = f"pass a Buffer, a DeviceArray, a NumPy array (numpy.ascontiguousarray) or {plain}"
        raise refuse(function, f"{type(memory).__name__} is no contiguous {what} ({error})", advice) from None
    address, size = int(ffi.cast("uintptr_t", view)), len(view)
    for block in list(pinned.values()):
        if block.address <= address < block.address + block.size:
            return Span(address, size, "host", block, view)
    return Span(address, size, "host", None, view)


def copy(target: Any, source: Any, size: Optional[int], stream: "Optional[Stream]", function: str) -> None:
    """Copy between contiguous memory of any kind: queued, or at once after what both sides were told of."""
    to = span_of(target, function, writable=True)
    come = span_of(source, function)
    size = come.size if size is None else size
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
    finally:  # what was queued before a failure runs all the same
        if stream is not None:
            tell(blocks, stream)


def tell(blocks: Iterable[Block], stream: "Stream") -> None:
    """Note that what was just queued on a stream uses these blocks."""
    handle = stream_handle(stream)
    instance = _captured_into(handle)
    for block in blocks:
        block._note(stream, handle, instance)


# --- Buffers


class BlockHolder(Resource):
    """What holds a block, perhaps with others. Closing it gives the memory back if nobody else does."""

    __slots__ = ("_block",)
    _released_by = "aclrtFree"

    _block: Optional[Block]

    def _live(self) -> Block:
        block = self._block
        if block is None:
            self._handle.__index__()  # says that it is closed
        assert block is not None
        return block

    @property
    def owned(self) -> bool:
        """Whether the memory is freed when nobody has it any more: False when it is borrowed, or closed."""
        block = self._block
        return block is not None and block.owned

    def used_on(self, stream: "Stream") -> None:
        """Say that work which pyACL or C queued on a stream uses the memory: it is not freed before that is done."""
        self._live().use(stream)

    def close(self) -> None:
        """Let go of the memory; closing again does nothing.

        It is freed (``aclrtFree``) when nothing else holds it and the work that it was told of is done.
        """
        self._handle, self._opening, self._block = self._closed, None, None


class Buffer(BlockHolder):
    """Bytes on the device, or pinned on the host.

    Parameters
    ----------
    size
        How many bytes.
    kind
        ``"device"``; ``"host"`` for pinned memory, which copies of a capture and truly asynchronous ones need; or
        ``"managed"`` for memory with one address for both.
    policy
        The pages of device memory: ``"huge_first"``, ``"huge_only"`` or ``"normal_only"``.

    Notes
    -----
    With ``stream=`` a copy or a set is queued; without, it waits for the work that the memory was told of and is done
    when the call returns.

    Stands on ``aclrtMalloc``, ``aclrtMallocHost`` or ``aclrtMemAllocManaged``, and for its contents on ``aclrtMemcpy``,
    ``aclrtMemset`` and their ``Async`` forms.

    Raises
    ------
    InvalidArgumentError
        The size, the kind or the policy is none.
    OutOfMemoryError
        There is not as much memory, even after what is given back was waited for.
    """

    __slots__ = ("nbytes",)

    nbytes: int

    def __init__(self, size: int, *, kind: str = "device", policy: str = "huge_first") -> None:
        if kind not in KINDS:
            raise refuse("Buffer", f"kind is {kind!r}, expected one of {', '.join(KINDS)}")
        if policy not in POLICIES:
            raise refuse("Buffer", f"policy is {policy!r}, expected one of {', '.join(POLICIES)}")
        if integer(size, "acl.Buffer: size") <= 0:
            raise refuse("Buffer", f"size is {size}, expected 1 byte or more")
        self._hold(Block.allocate(size, kind, policy), size)

    def _hold(self, block: Block, size: int) -> None:
        self._block = block
        self.nbytes = size
        self._own(block.address, block.opening)

    @classmethod
    def from_handle(cls, address: int, size: int, *, kind: str = "device", keep: Any = None) -> "Buffer":
        """Return an object for memory that something else owns; ``keep`` is kept alive with it."""
        if integer(size, "acl.Buffer: size") < 0 or (integer(address, "acl.Buffer: address") <= 0 and size):
            reason = f"{size} bytes at {address:#x} are no memory"
            raise refuse("Buffer.from_handle", reason, "pass the address and the size of a block")
        self = cls.__new__(cls)
        self._hold(Block(address, size, kind, current_opening(), False, keep), size)
        self._opening = None
        return self

    @classmethod
    def _over(cls, block: Block, size: int) -> "Buffer":
        self = cls.__new__(cls)
        self._hold(block, size)
        return self

    def share(self) -> Block:
        """Return the block, for something that holds it as well."""
        block = self._live()
        self._opening = None  # it is not lost any more when the buffer is dropped
        return block

    @property
    def kind(self) -> str:
        """``"device"``, ``"host"`` or ``"managed"``."""
        return self._live().kind

    def __len__(self) -> int:
        return self.nbytes

    def fill(self, value: int = 0, *, stream: "Optional[Stream]" = None) -> None:
        """Set every byte."""
        fill(self, self._live(), value, stream, "Buffer.fill")

    def copy_from(self, source: Memory, *, size: Optional[int] = None, stream: "Optional[Stream]" = None) -> None:
        """Copy from another buffer, an array, or host memory such as bytes; all of it, or ``size`` bytes."""
        copy(self, source, size, stream, "Buffer.copy_from")

    def copy_to(self, target: Memory, *, size: Optional[int] = None, stream: "Optional[Stream]" = None) -> None:
        """Copy to another buffer, an array, or writable host memory; all of it, or ``size`` bytes."""
        copy(target, self, size, stream, "Buffer.copy_to")

    def __bytes__(self) -> bytes:
        """Return a copy of the contents, once the work that the memory was told of is done."""
        result = bytearray(self.nbytes)
        self.copy_to(result)
        return bytes(result)

    def view(self) -> memoryview:
        """Return pinned or managed memory as a writable view, which keeps it alive; waits for known work first."""
        block = self._live()
        if block.kind == "device":
            raise refuse("Buffer.view", "the host cannot reach device memory", "copy it: bytes(buffer) or copy_to()")
        block.settle()
        self.share()
        pointer = ffi.gc(ffi.cast("char *", block.address), lambda _, block=block: None)
        return memoryview(ffi.buffer(pointer, self.nbytes))

    def __buffer__(self, flags: int) -> memoryview:
        return self.view()

    def numpy(self, dtype: "DTypeLike" = "u1", shape: Optional[tuple[int, ...]] = None) -> "np.ndarray[Any, Any]":
        """Return pinned or managed memory as a NumPy array, without a copy."""
        import numpy

        kind = numpy.dtype(dtype)
        flat = numpy.frombuffer(self.view(), kind, count=self.nbytes // kind.itemsize)
        if shape is None:
            return flat
        count = 1
        for extent in shape:
            count *= extent
        if count > flat.size:
            raise refuse("Buffer.numpy", f"{shape} of {kind} are {count * kind.itemsize} bytes, of {self.nbytes}")
        return flat[:count].reshape(shape)

    def __array__(self, dtype: "Optional[DTypeLike]" = None, copy: Optional[bool] = None) -> "np.ndarray[Any, Any]":
        import numpy

        return numpy.array(self.numpy(), dtype=dtype, copy=copy) if copy else numpy.asarray(self.numpy(), dtype=dtype)

    def _describe(self) -> str:
        block = self._block
        return "" if block is None else f"{block.kind} {self.nbytes} bytes"


def fill(
    memory: "Union[Buffer, DeviceArray]", block: Block, value: int, stream: "Optional[Stream]", function: str
) -> None:
    """Set every byte of memory."""
    if not 0 <= integer(value, f"acl.{function}: value") <= 255:
        raise refuse(function, f"value is {value}, expected a byte, 0 to 255")
    handle, size = memory._handle.__index__(), memory.nbytes
    block.check()
    if stream is None:
        block.settle()
        ret, called = rt.memset(handle, size, value, size), "aclrtMemset"
    elif block.kind == "host":
        raise refuse(function, "sets of host memory are not queued", "leave stream= out, or use stream.call()")
    else:
        ret, called = rt.memset_async(handle, size, value, size, stream_handle(stream)), "aclrtMemsetAsync"
    if ret != 0:
        raise error_of(ret, called)
    if stream is not None:
        tell((block,), stream)
