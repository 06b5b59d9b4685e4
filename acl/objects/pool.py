"""Memory pools: memory that is allocated and freed in the order of a stream, without synchronising.

A pool allocates :class:`acl.Buffer` objects, and an array can use their memory (:meth:`acl.DeviceArray.from_buffer`).
The memory can be used from that point of its stream on: another stream has to wait for that point
(:meth:`acl.Stream.wait`) before it uses the memory. When the last holder releases it, the release is queued on the same
stream, which waits there for the other streams that are registered with the memory. So the host does not wait, and the
next allocation on the stream can have the same memory at once.

If a release cannot be queued, because its stream was destroyed or is being captured, the memory is freed by the rule
for all other memory (:mod:`acl.objects.memory_block`). A closed pool exists until all its memory is freed.
"""

from typing import Any, NamedTuple, Optional, Union

from acl._lib import ffi, lib
from acl.errors import OutOfMemoryError, error_of
from acl.objects.device import Device
from acl.objects.memory import Buffer
from acl.objects.memory_block import OUT_OF_MEMORY, Block, refuse
from acl.objects.resource import Opening, Resource, current_opening, integer, opening_of, retired, stream_handle, sweep
from acl.objects.stream import Stream

ON_DEVICE = lib.ACL_MEM_LOCATION_TYPE_DEVICE
FOLLOW_EVENTS = lib.ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES
OPPORTUNISTIC = lib.ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC
WAIT = lib.ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES
KEEP = lib.ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD
RESERVED = lib.ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT
RESERVED_HIGH = lib.ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH
USED = lib.ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT
USED_HIGH = lib.ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH


class PoolStatistics(NamedTuple):
    """The bytes that a pool has reserved on its device, the bytes in use, and the highest values of both."""

    reserved: int
    reserved_high: int
    used: int
    used_high: int


class MemoryPool(Resource):
    """A pool of device memory.

    Parameters
    ----------
    device
        The device or its number; None takes the thread's current device.
    limit
        The most bytes that it may reserve on the device; 0 sets no limit.
    keep
        The unused bytes that it keeps reserved when a stream, an event or the device is synchronised.
    follow_events
        Let a stream reuse memory that another stream will free, if it waits for that stream by an event.
    opportunistic
        Let any stream reuse memory that another stream has already freed.
    wait
        If no other memory is free, make the stream wait for a release on another stream.

    Raises
    ------
    NotSupportedError
        The chip or the CANN version does not support pools.

    Notes
    -----
    Wraps ``aclrtMemPoolCreate`` and ``aclrtMemPoolDestroy``.
    """

    __slots__ = ("_device_id",)
    _released_by = "aclrtMemPoolDestroy"

    _device_id: int

    def __init__(
        self,
        device: Union[Device, int, None] = None,
        *,
        limit: int = 0,
        keep: int = 0,
        follow_events: bool = True,
        opportunistic: bool = True,
        wait: bool = True,
    ) -> None:
        limit, keep = integer(limit, "acl.MemoryPool: limit", 0), integer(keep, "acl.MemoryPool: keep", 0)
        self._device_id = Device._number_of(device)
        place = ffi.new("aclrtMemPool *")
        location = {"id": self._device_id, "type": ON_DEVICE}
        wanted = ffi.new("aclrtMemPoolProps *", {"location": location, "maxSize": limit})
        ret = int(lib.aclrtMemPoolCreate(place, wanted))
        if ret != 0:
            raise error_of(ret, "aclrtMemPoolCreate")
        self._own(int(ffi.cast("uintptr_t", place[0])), opening_of(self._device_id))
        for attribute, allowed in ((FOLLOW_EVENTS, follow_events), (OPPORTUNISTIC, opportunistic), (WAIT, wait)):
            if not allowed:
                self._set(attribute, "uint32_t *", 0)
        if keep:
            self.keep = keep

    @classmethod
    def from_handle(cls, handle: int) -> "MemoryPool":
        """Return an object for a pool of the current device that it does not own: it never destroys it."""
        self = cls.__new__(cls)
        self._device_id = current_opening().device_id
        self._borrow(handle)
        return self

    def _pool(self) -> Any:
        return ffi.cast("aclrtMemPool", self.handle)

    def _get(self, attribute: int) -> int:
        value = ffi.new("uint64_t *")
        ret = int(lib.aclrtMemPoolGetAttr(self._pool(), attribute, value))
        if ret != 0:
            raise error_of(ret, "aclrtMemPoolGetAttr")
        return int(value[0])

    def _set(self, attribute: int, kind: str, number: int) -> None:
        ret = int(lib.aclrtMemPoolSetAttr(self._pool(), attribute, ffi.new(kind, number)))
        if ret != 0:
            raise error_of(ret, "aclrtMemPoolSetAttr")

    # --- Memory

    def allocate(self, size: int, *, stream: Stream) -> Buffer:
        """Return memory that later work on a stream can use.

        Parameters
        ----------
        size
            The number of bytes.
        stream
            The stream, created on the pool's device. The memory is also freed in its order.

        Raises
        ------
        OutOfMemoryError
            The pool has reached its limit, or its device has no more.

        Notes
        -----
        Wraps ``aclrtMemPoolMallocAsync``.
        """
        size = integer(size, "acl.MemoryPool.allocate: size", 1)
        if retired:
            sweep()
        address, ret = self._try(size, stream)
        if ret == OUT_OF_MEMORY and retired:
            sweep(wait=True)
            address, ret = self._try(size, stream)
        if ret != 0:
            error = error_of(ret, "aclrtMemPoolMallocAsync")
            if isinstance(error, OutOfMemoryError):
                error.advice = f"{size} bytes were requested; close buffers, trim() other pools or raise the limit"
            raise error
        block = Block(address, size, "device", self._opening or current_opening(), True)
        block.home = stream
        block.use(stream)
        return Buffer._over(block, size)

    def _try(self, size: int, stream: Stream) -> tuple[int, int]:
        """Allocate memory in the order of a stream; return its address and the status code."""
        slot = ffi.new("void **")
        ret = int(lib.aclrtMemPoolMallocAsync(slot, size, self._pool(), ffi.cast("void *", stream_handle(stream))))
        return int(ffi.cast("uintptr_t", slot[0])), ret

    def free(self, buffer: Buffer, *, stream: Optional[Stream] = None) -> None:
        """Close a buffer and free its memory at this point of a stream: by default the stream of its allocation.

        The stream waits there for the other streams that are registered with the memory. If arrays share the memory, it
        is freed when the last of them is closed.

        Notes
        -----
        Wraps ``aclrtMemPoolFreeAsync``.
        """
        if not isinstance(buffer, Buffer):
            raise TypeError(f"acl.MemoryPool.free: {buffer!r} is not an acl.Buffer")
        block = buffer._live()
        if block.home is None:
            raise refuse("MemoryPool.free", f"{buffer!r} was not allocated from a pool", "close it: buffer.close()")
        if stream is not None:
            block.use(stream)
            block.home = stream
        buffer.close()

    def trim(self, keep: int = 0) -> None:
        """Release memory that is not in use to the device, except ``keep`` bytes (``aclrtMemPoolTrimTo``)."""
        keep = integer(keep, "acl.MemoryPool.trim: keep", 0)
        ret = int(lib.aclrtMemPoolTrimTo(self._pool(), keep))
        if ret != 0:
            raise error_of(ret, "aclrtMemPoolTrimTo")

    # --- Properties

    @property
    def device(self) -> Device:
        """The device from which its memory comes."""
        return Device(self._device_id)

    @property
    def keep(self) -> int:
        """The unused bytes that it keeps reserved at a synchronisation; can be set."""
        return self._get(KEEP)

    @keep.setter
    def keep(self, size: int) -> None:
        self._set(KEEP, "uint64_t *", integer(size, "acl.MemoryPool: keep", 0))

    def statistics(self) -> PoolStatistics:
        """Return the bytes that it has reserved and the bytes in use."""
        return PoolStatistics(*(self._get(attribute) for attribute in (RESERVED, RESERVED_HIGH, USED, USED_HIGH)))

    def reset_statistics(self) -> None:
        """Set the highest values to the present ones."""
        for attribute in (RESERVED_HIGH, USED_HIGH):
            self._set(attribute, "uint64_t *", 0)

    def _release(self, handle: int, opening: Opening) -> int:
        return int(lib.aclrtMemPoolDestroy(ffi.cast("aclrtMemPool", handle)))

    def _describe(self) -> str:
        return f"device {self._device_id}"
