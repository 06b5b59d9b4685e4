"""Memory pools: memory that is allocated and freed in the order of a stream, without a stop of anything.

What a pool allocates is a :class:`acl.Buffer` like any other, and an array can be made over it
(:meth:`acl.DeviceArray.from_buffer`). It is there from that point of its stream on: another stream waits for that point
(:meth:`acl.Stream.wait`) before it uses the memory. When the last holder lets go, the release is queued on the same
stream, which waits there for the other streams that the memory was told of. So nobody waits on the host, and the next
allocation on the stream can have the same memory at once.

Where a release cannot be queued, because its stream has ended or is being captured, the memory is given back as all
other is, by the rule of :mod:`acl.objects.memory_block`. A pool that is closed lives on in what is still in use.
"""

from typing import Any, NamedTuple, Optional, Union

from acl._lib import ffi, lib
from acl.errors import OutOfMemoryError, error_of
from acl.objects.device import Device
from acl.objects.memory import Buffer
from acl.objects.memory_block import OUT_OF_MEMORY, Block, refuse, stream_handle
from acl.objects.resource import Opening, Resource, current_opening, integer, opening_of, retired, sweep
from acl.objects.stream import Stream

FOLLOW_EVENTS, OPPORTUNISTIC, WAIT, KEEP, RESERVED, RESERVED_HIGH, USED, USED_HIGH = range(1, 9)


class PoolStatistics(NamedTuple):
    """Bytes that a pool has of its device, those of them that are in use, and the most there ever were of both."""

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
        The most bytes that it may have of the device; 0 sets no limit.
    keep
        How many bytes that are not in use it keeps when a stream, an event or the device is synchronised.
    follow_events
        Give memory that another stream is about to free to a stream that waits for this by an event.
    opportunistic
        Give memory that another stream has freed by now to any stream.
    wait
        Where there is no other memory, let a stream wait for the release on another one.

    Raises
    ------
    NotSupportedError
        The chip or the version has no pools.

    Notes
    -----
    Stands on ``aclrtMemPoolCreate`` and ``aclrtMemPoolDestroy``.
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
        wanted = ffi.new("aclrtMemPoolProps *", {"location": {"id": self._device_id, "type": 1}, "maxSize": limit})
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
        """Return an object for a pool of the current device that something else made and will destroy."""
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
        """Return memory that work queued on a stream from here on can use.

        Parameters
        ----------
        size
            How many bytes.
        stream
            The stream, made on the pool's device. The memory goes back to the pool in its order, too.

        Raises
        ------
        OutOfMemoryError
            The pool has reached its limit, or its device has no more.

        Notes
        -----
        Stands on ``aclrtMemPoolMallocAsync``.
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
                error.advice = f"{size} bytes were asked for; close buffers, trim() other pools or raise the limit"
            raise error
        block = Block(address, size, "device", self._opening or current_opening(), True)
        block.home = stream
        block.use(stream)
        return Buffer._over(block, size)

    def _try(self, size: int, stream: Stream) -> tuple[int, int]:
        slot = ffi.new("void **")
        ret = int(lib.aclrtMemPoolMallocAsync(slot, size, self._pool(), ffi.cast("void *", stream_handle(stream))))
        return int(ffi.cast("uintptr_t", slot[0])), ret

    def free(self, buffer: Buffer, *, stream: Optional[Stream] = None) -> None:
        """Close a buffer, with its memory going back at this point of a stream: by default that of its allocation.

        The stream waits there for the others that the memory was told of. Where arrays share the memory, it goes back
        when the last of them is gone.

        Notes
        -----
        Stands on ``aclrtMemPoolFreeAsync``.
        """
        if not isinstance(buffer, Buffer):
            raise TypeError(f"acl.MemoryPool.free: {buffer!r} is no acl.Buffer")
        block = buffer._live()
        if block.home is None:
            raise refuse("MemoryPool.free", f"{buffer!r} is not of a pool", "close it: buffer.close()")
        if stream is not None:
            block.use(stream)
            block.home = stream
        buffer.close()

    def trim(self, keep: int = 0) -> None:
        """Give what is not in use back to the device, but for some bytes (``aclrtMemPoolTrimTo``)."""
        keep = integer(keep, "acl.MemoryPool.trim: keep", 0)
        ret = int(lib.aclrtMemPoolTrimTo(self._pool(), keep))
        if ret != 0:
            raise error_of(ret, "aclrtMemPoolTrimTo")

    # --- What it is

    @property
    def device(self) -> Device:
        """The device from which its memory comes."""
        return Device(self._device_id)

    @property
    def keep(self) -> int:
        """How many bytes that are not in use it keeps at a synchronisation; can be set."""
        return self._get(KEEP)

    @keep.setter
    def keep(self, size: int) -> None:
        self._set(KEEP, "uint64_t *", integer(size, "acl.MemoryPool: keep", 0))

    def statistics(self) -> PoolStatistics:
        """Return what it has and what of that is in use, in bytes."""
        return PoolStatistics(*(self._get(attribute) for attribute in (RESERVED, RESERVED_HIGH, USED, USED_HIGH)))

    def reset_statistics(self) -> None:
        """Let the highest figures begin anew at the present ones."""
        for attribute in (RESERVED_HIGH, USED_HIGH):
            self._set(attribute, "uint64_t *", 0)

    def _release(self, handle: int, opening: Opening) -> int:
        return int(lib.aclrtMemPoolDestroy(ffi.cast("aclrtMemPool", handle)))

    def _describe(self) -> str:
        return f"device {self._device_id}"
