"""What all operations of a communicator need: checked arguments, a stream, the submission.

Operations without a stream use one of the communicator, which is created at the first of them. It waits for the work
that is registered with their memory, so that the calling thread waits only for the result.
"""

import threading
from types import TracebackType
from typing import Any, ClassVar, Optional

import numpy

from acl._lib import ffi, lib
from acl.errors import AclError, ContextError, InvalidHandleError, codes
from acl.objects import resource
from acl.objects.array import DeviceArray
from acl.objects.hccl_group import done
from acl.objects.hccl_library import check, failure
from acl.objects.kernel import check_place
from acl.objects.memory_block import Block, refuse
from acl.objects.resource import INVALID_HANDLE, Closed, Opening, Resource, current_opening, integer, stream_handle
from acl.objects.stream import Stream

VOID = ffi.typeof("void *")
NULL = ffi.NULL
NOT_FOUND: int = lib.HCCL_E_NOT_FOUND
STREAM_CONTEXT = codes.ACL_ERROR_RT_STREAM_CONTEXT


class OwnStream(Stream):
    """The stream of a communicator for operations without one."""

    __slots__ = ()
    _is_value = True


class Uncreated(Closed):
    """The placeholder for the handle of a communicator that is created when a group ends."""

    __slots__ = ()

    def __index__(self) -> int:
        text = f"acl.{self.kind}: it was not created: its group has not ended, or has failed"
        raise InvalidHandleError(INVALID_HANDLE, f"acl.{self.kind}", text, "leave the `with` block of the group first")


UNCREATED = Uncreated("Communicator")


def place(array: DeviceArray) -> Any:
    """Return the address of an array for C."""
    return ffi.cast(VOID, array.handle)


class Rank(Resource):
    """A handle of a communicator, and its device."""

    __slots__ = ("_pointer", "_home", "_stream", "_rank", "_size")
    _released_by = "HcclCommDestroy"
    _making: ClassVar[Any] = threading.Lock()

    _pointer: Any
    _home: Opening
    _stream: Optional[Stream]
    _rank: int
    _size: int

    def _expect(self, opening: Opening) -> None:
        """Set what is known before the communicator exists."""
        self._home, self._stream, self._rank, self._size = opening, None, 0, 0
        self._handle, self._opening = UNCREATED, None

    def _begin(self, pointer: Any) -> None:
        """Become the owner of a communicator, unless its creation has failed."""
        if pointer:
            self._own(int(ffi.cast("uintptr_t", pointer)), self._home)
            self._ask(pointer)

    def _ask(self, pointer: Any) -> None:
        """Get its numbers from the library."""
        self._pointer = pointer
        slot = ffi.new("uint32_t *")
        check(lib.HcclGetRankId(pointer, slot), "HcclGetRankId")
        self._rank = int(slot[0])
        check(lib.HcclGetRankSize(pointer, slot), "HcclGetRankSize")
        self._size = int(slot[0])

    @property
    def closed(self) -> bool:
        """Whether it was closed, or does not exist yet because its group has not ended."""
        return isinstance(self._handle, Closed)

    # --- Arguments

    def _ready(self, function: str) -> Opening:
        """Return the opening of the device; raise an error if it is not current, or the communicator is closed."""
        self._handle.__index__()
        home, opening = self._home, resource.single or current_opening()
        if opening is home:
            return opening
        if not home.live:
            text = f"acl.{function}: device {home.device_id} was closed, and the communicator with it"
            advice = "close communicators before their device, and create a new group"
            raise InvalidHandleError(INVALID_HANDLE, f"acl.{function}", text, advice)
        text = f"acl.{function}: the communicator is on device {home.device_id}, the thread's device is "
        advice = f"call it on that device: `with acl.Device({home.device_id}):`"
        raise ContextError(STREAM_CONTEXT, f"acl.{function}", f"{text}{opening.device_id}", advice)

    def _peer(self, rank: Any, function: str, name: str) -> int:
        """Return a rank that an argument names."""
        return integer(rank, f"acl.{function}: {name}", 0, self._size - 1)

    @staticmethod
    def _block_of(array: Any, name: str, function: str, opening: Opening) -> Block:
        """Return the block of an array that the device can exchange, or raise an error."""
        if not isinstance(array, DeviceArray):
            advice = "pass an acl.DeviceArray"
            if isinstance(array, numpy.ndarray):
                advice = "copy it to the device: acl.DeviceArray.from_numpy(array)"
            raise refuse(function, f"{name} is a {type(array).__name__}, expected an acl.DeviceArray", advice)
        block = array._live()
        check_place(block, name, opening, function)
        if not array.is_contiguous:
            raise refuse(function, f"{name} is not contiguous", "copy it first: array.copy()")
        return block

    def _split(self, array: DeviceArray, function: str) -> tuple[int, ...]:
        """Return the shape of a block of an array that has one block for each rank."""
        shape = array.shape
        if shape[:1] != (self._size,):
            reason = f"array has the shape {shape}, expected ({self._size}, ...): one block for each rank"
            raise refuse(function, reason, f"array.reshape({self._size}, -1) has equal blocks")
        return shape[1:]

    def _out(
        self,
        out: Optional[DeviceArray],
        shape: tuple[int, ...],
        dtype: "numpy.dtype[Any]",
        function: str,
        opening: Opening,
        blocks: list[Block],
    ) -> DeviceArray:
        """Return the array for a result, checked or new, and add its block to the others."""
        if out is None:
            out = DeviceArray(shape, dtype)
            blocks.append(out._live())
            return out
        blocks.append(self._block_of(out, "out", function, opening))
        if out.shape != shape or out.dtype != dtype:
            raise refuse(function, f"out is {out.shape} {out.dtype}, expected {shape} {dtype}")
        return out

    # --- Submission

    def _queue(self, name: str, blocks: list[Block], stream: Optional[Stream], *arguments: Any) -> None:
        """Queue an operation; ``arguments`` are those of the C function before the communicator and the stream."""
        target = self._own_stream() if stream is None else stream
        handle = stream_handle(target)
        if stream is None:
            for block in blocks:
                block.lead(target)
        check(getattr(lib, name)(*arguments, self._pointer, ffi.cast(VOID, handle)), name)
        done(tuple(blocks), target, stream is None)

    def _own_stream(self) -> Stream:
        """Return the stream for operations without one."""
        with self._making:
            found = self._stream
            if found is None:
                found = self._stream = OwnStream()
        return found

    # --- The end

    def _release(self, handle: int, opening: Opening) -> int:
        result = int(lib.HcclCommDestroy(self._pointer))
        return INVALID_HANDLE if result == NOT_FOUND else result

    def _failure(self, ret: int) -> AclError:
        return failure(ret, self._released_by)

    def close(self) -> None:
        """Destroy it; closing again does nothing. Operations that are still queued fail, on all ranks."""
        super().close()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.close()
        except AclError:
            if error is None:  # otherwise the exception of the block was most likely the cause of this one
                raise

    def _describe(self) -> str:
        return f"rank {self._rank} of {self._size} on device {self._home.device_id}"
