"""Blocks of memory: which work uses them, and when they are freed.

A :class:`Block` is one allocation, which buffers, arrays and views of pinned memory share
(:mod:`acl.objects.memory`).

The rule of release: **memory is never freed while queued work that was registered with it may still use it.** Every
queued copy, set, operator and launch of the objects registers its stream with the blocks that it uses
(:meth:`Block.use`); work that pyACL or C queues is registered by :meth:`Buffer.used_on`. When the last holder releases
a block, an event is recorded on each registered stream that is not idle, and the memory is freed when all these events
are done. No thread waits for that: ``resource.sweep`` checks when memory is allocated, and when a stream, an event or a
device is synchronised. It waits for the events only when memory has run out, and before the device is closed. On a
stream that is being captured no event can be recorded: the next sweep tries again.

The blocks that captured work uses are held by the instance, and released when the instance is destroyed.

Memory of a pool is freed in the order of its stream instead (:mod:`acl.objects.pool`).

A synchronous copy waits for the streams that are registered with both sides, so that it does not read too early. If
another thread captures such a stream, the copy waits for the work that was queued before the capture.

Work is registered when it is queued. A thread that has waited for a user of a block removes it only if nothing was
registered with the block since the wait began: the lock `telling` makes check and removal one step. It is reentrant,
because a finalizer may run while the thread holds it.
"""

import threading
import weakref
from collections.abc import Iterable
from sys import is_finalizing
from typing import Any, Optional, Protocol, cast

from acl import mdl, rt
from acl._calls import in_call
from acl._hooks import instance_destroyed
from acl._lib import _acl, ffi, lib
from acl.errors import (
    AclError,
    ContextError,
    InvalidArgumentError,
    InvalidHandleError,
    OutOfMemoryError,
    codes,
    error_of,
)
from acl.objects import resource
from acl.objects.context_current import call_in
from acl.objects.resource import (
    INVALID,
    INVALID_HANDLE,
    MOST,
    Opening,
    current_opening,
    retired,
    stream_handle,
    sweep,
)
from acl.objects.stream import Stream

POLICIES = {
    "huge_first": lib.ACL_MEM_MALLOC_HUGE_FIRST,
    "huge_only": lib.ACL_MEM_MALLOC_HUGE_ONLY,
    "normal_only": lib.ACL_MEM_MALLOC_NORMAL_ONLY,
}
OUT_OF_MEMORY = codes.ACL_ERROR_RT_MEMORY_ALLOCATION
SYNC = lib.ACL_EVENT_SYNC
ATTACH_GLOBAL = lib.ACL_RT_MEM_ATTACH_GLOBAL
MANY = 16  # with more users than this, a block removes those that were destroyed


def refuse(function: str, reason: str, advice: str = "") -> InvalidArgumentError:
    """Return the error for an argument that is refused before the library is called."""
    return InvalidArgumentError(INVALID, f"acl.{function}", f"acl.{function}: {reason}", advice)


def one_of(value: Any, choices: Iterable[str], function: str, name: str) -> str:
    """Return an argument that is one of some words, or raise an error."""
    if not isinstance(value, str) or value not in choices:
        raise refuse(function, f"{name} is {value!r}, expected one of {', '.join(choices)}")
    return value


# --- Release


class Unused:
    """Memory without a holder, and the work for which its release still waits."""

    __slots__ = ("address", "kind", "opening", "keeps", "streams", "events")

    def __init__(self, block: "Block") -> None:
        self.address = block.address if block.owned else 0
        self.keeps = block.keeps
        self.kind = block.kind
        self.opening = block.opening
        # Streams on which no event is recorded yet, and the events at the end of the work of the others.
        self.streams = streams_of(block)
        self.events: list[int] = []

    def record(self) -> None:
        """Record an event on each stream that is not idle, except where the stream is being captured."""
        left = []
        for stream in self.streams:
            if stream.closed:
                continue  # its work ended when it was destroyed
            handle = stream.handle
            status, ret = rt.stream_query(handle)
            if ret == INVALID_HANDLE or (ret == 0 and status == 0):
                continue
            if captured_into(handle):
                left.append(stream)
                continue
            try:
                self.events.append(call_in(stream._context, _end_of, handle))
            except ContextError:  # the context was destroyed, and the stream with it
                pass
            except AclError:
                left.append(stream)
        self.streams = left

    def done(self, wait: bool) -> bool:
        """Free it if no work uses it any more, and return whether it was freed."""
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


def streams_of(block: "Block") -> "list[Stream]":
    """Return the streams that may use a block without a holder: its users do not include graphs, which are holders."""
    return [cast("Stream", user) for user in block.uses.values() if not user.closed]


def _free(address: int, kind: str, opening: Opening) -> None:
    # Errors are ignored: memory that the library no longer knows was freed with its device, by a C library.
    if kind == "host":
        rt.free_host(address)
    elif opening.live:
        rt.free(address)


def _free_in_order(block: "Block", home: "Stream") -> bool:
    """Queue the release of a pool's memory on a stream, after all its uses; return whether it was queued."""
    if not block.opening.live:
        return True
    if home.closed or captured_into(home.handle):
        return False
    try:
        for stream in streams_of(block):
            if stream is home:
                continue
            if captured_into(stream.handle):
                return False
            end = call_in(stream._context, _end_of, stream.handle)
            ret = call_in(home._context, rt.stream_wait_event, home.handle, end)
            rt.destroy_event(end)  # the queued wait stays valid without it
            if ret != 0:
                return False
        address = ffi.cast("void *", block.address)
        ret = call_in(home._context, lib.aclrtMemPoolFreeAsync, address, ffi.cast("void *", home.handle))
    except AclError:
        return False
    return int(ret) == 0


def _end_of(stream: int) -> int:
    """Return a new event, recorded after the work that is queued on a stream of the current context."""
    event, ret = rt.create_event_ex_with_flag(SYNC)
    if ret != 0:
        raise error_of(ret, "aclrtCreateEventExWithFlag")
    ret = rt.record_event(event, stream)
    if ret != 0:
        rt.destroy_event(event)
        raise error_of(ret, "aclrtRecordEvent")
    return event


captured: dict[int, list["Block"]] = {}
# The streams on which a task group is being updated, and the key in `captured` for the update's blocks.
updating: dict[int, int] = {}


def captured_into(stream: int) -> int:
    """Return the instance into which a stream is captured, or 0."""
    if stream in updating:
        return updating[stream]
    status, instance, ret = mdl.ri_capture_get_info(stream)
    return instance if ret == 0 and status != 0 else 0


@instance_destroyed.register
def forget_captured(instance: int) -> None:
    """Release the blocks that a destroyed instance held."""
    captured.pop(instance, None)


# --- Blocks


# Live pinned memory, so that a copy from or to a view of it finds its block.
pinned: "dict[int, weakref.ref[Block]]" = {}


telling = threading.RLock()


class User(Protocol):
    """A user of a block: a stream, or all streams on which a graph is replayed."""

    @property
    def closed(self) -> bool:
        """Whether it was destroyed, so that none of its work is left."""

    def _settle(self) -> None:
        """Wait for its work."""

    def _lead(self, stream: "Stream") -> None:
        """Make later work on a stream wait for its work."""


class Block:
    """One allocation, freed when it has no holder and no work uses it."""

    __slots__ = (
        "address", "size", "kind", "policy", "opening", "owned", "uses", "told", "keeps", "home", "__weakref__",
    )  # fmt: skip

    def __init__(self, address: int, size: int, kind: str, opening: Opening, owned: bool, keeps: Any = None) -> None:
        self.address = address
        self.size = size
        self.kind = kind
        # The page policy of device memory.
        self.policy = ""
        self.opening = opening
        self.uses: dict[int, User] = {}
        self.told = 0  # how many uses were registered
        # The owner of borrowed memory, which is kept alive.
        self.keeps = keeps
        self.owned = owned
        # The stream on which the release of a pool's memory is queued.
        self.home: Optional[Stream] = None
        if kind == "host" and (owned or address not in pinned):
            pinned[address] = weakref.ref(self)

    @classmethod
    def allocate(cls, size: int, kind: str, policy: str) -> "Block":
        """Allocate memory for the thread's device."""
        if size > MOST:  # pyACL would wrap it
            text = f"acl.Buffer: {size} bytes are more than any device has"
            raise OutOfMemoryError(OUT_OF_MEMORY, "acl.Buffer", text, "make it smaller")
        if retired:
            sweep()
        address, ret, function = cls._try(size, kind, POLICIES[policy])
        if ret != 0:
            address = cls.try_again(size, kind, policy, ret, function)
        self = cls(address, size, kind, resource.single or current_opening(), True)
        if kind == "device":
            self.policy = policy
        return self

    @classmethod
    def try_again(cls, size: int, kind: str, policy: str, ret: int, function: str) -> int:
        """Return the address of memory after waiting for the release of other memory, or raise the error."""
        address = 0
        if ret == OUT_OF_MEMORY and retired:
            sweep(wait=True)
            address, ret, function = cls._try(size, kind, POLICIES[policy])
        if ret != 0:
            error = error_of(ret, function)
            if isinstance(error, OutOfMemoryError):
                error.advice = f"{size} bytes were requested; {error.advice}"
            raise error
        return address

    @staticmethod
    def _try(size: int, kind: str, policy: int) -> tuple[int, int, str]:
        """Allocate memory; return its address, the status code, and the name of the function."""
        if kind == "device":
            address, ret = rt.malloc(size, policy)
            return address, ret, "aclrtMalloc"
        if kind == "host":
            return (*rt.malloc_host(size), "aclrtMallocHost")
        slot = ffi.new("void **")
        ret = int(lib.aclrtMemAllocManaged(slot, size, ATTACH_GLOBAL))
        return int(ffi.cast("uintptr_t", slot[0])), ret, "aclrtMemAllocManaged"

    def use(self, stream: "Stream") -> int:
        """Register work of a stream that uses the memory, and return the stream's handle."""
        handle = stream_handle(stream)
        tell((self,), stream)
        return handle

    def check(self) -> None:
        """Raise an error if the memory was freed with its device."""
        if not self.opening.live:
            text = "acl.Buffer: its device was closed, which freed the memory"
            raise InvalidHandleError(INVALID_HANDLE, "acl.Buffer", text, "close buffers and arrays before their device")

    def settle(self) -> None:
        """Wait for all work that is registered with the memory."""
        self.check()
        for handle, user in list(self.uses.items()):
            told = self.told
            if not user.closed:
                user._settle()
            with telling:
                if self.told == told:
                    self.uses.pop(handle, None)

    def lead(self, stream: "Stream") -> None:
        """Make later work on a stream wait for all work that is registered with the memory."""
        for user in list(self.uses.values()):
            if not user.closed:
                user._lead(stream)

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:  # a default: at exit the module may be cleared
        if is_finalizing() or not hasattr(self, "home"):  # __init__ has failed
            return
        if self.kind == "host":
            known = pinned.get(self.address)
            if known is not None and known() in (self, None):
                pinned.pop(self.address, None)
        if not self.owned and self.keeps is None:
            return
        if in_call():
            retired.append(Unused(self))
        elif self.home is not None and _free_in_order(self, self.home):
            pass
        elif self.uses or self.keeps is not None:
            item = Unused(self)
            if not item.done(False):
                retired.append(item)
        else:
            _free(self.address, self.kind, self.opening)


def tell_any(blocks: Iterable[Block], stream: "Stream") -> None:
    """Do the work of :func:`tell` for any arguments, also while the stream is being captured."""
    handle = stream_handle(stream)
    instance = captured_into(handle)
    with telling:
        if instance:
            held = captured.setdefault(instance, [])
            held += [block for block in dict.fromkeys(blocks) if block not in held]
            return
        note(blocks, handle, stream)


# Registers the work that was just queued on a stream with the blocks that it uses: ``tell(blocks, stream)``. It is in C
# (acl/launch.h), because every queued operation calls it.
tell = _acl.tell


def note(blocks: Iterable[Block], handle: int, user: User) -> None:
    """Register a user of blocks, with :data:`telling` held."""
    for block in blocks:
        uses = block.uses
        uses[handle] = user
        block.told += 1
        if len(uses) > MANY:
            prune(block)


def prune(block: Block) -> None:
    """Remove the users that were destroyed, with :data:`telling` held."""
    block.uses = {handle: user for handle, user in block.uses.items() if not user.closed}
