"""Blocks of memory: what uses them, and when they are given back.

A :class:`Block` is one allocation, which buffers, arrays and views of pinned memory share
(:mod:`acl.objects.memory`).

The rule of giving back: **no memory is freed while work that it was told of may use it.** Every queued copy, set,
operator and launch of the objects tells the blocks it touches of its stream (:meth:`Block.use`); work that pyACL or C
queues is told of by :meth:`Buffer.used_on`. When a block is given back, the streams it knows that are not idle get an
event recorded at that point, and the block waits until these are done. No thread waits for that: ``resource.sweep``
looks when memory is allocated, and when a stream, event or device is synchronised. Where memory has run out, and before
the device is closed, the events are waited for. A stream that is being captured when the block is given back cannot
record: it is asked again by the next sweep.

What a capture took in (a use told of while the stream is captured) is held by the instance, and given back when that
is destroyed.

Memory of a pool goes back in the order of its stream instead (:mod:`acl.objects.pool`).

A synchronous copy waits for the streams that both sides were told of, so that nothing is read too early. Of a stream
that another thread captures meanwhile, it waits for what was queued before.

Work is told of when it is queued. Who has waited for a user of a block forgets it only when the block was told of
nothing since the waiting began; `telling` makes that one step. Finalizers may come while it is held: it is reentrant.
"""

import threading
import weakref
from collections.abc import Iterable
from sys import is_finalizing
from typing import Any, Optional, Protocol, cast

from acl import mdl, rt
from acl._calls import in_call
from acl._hooks import instance_destroyed
from acl._lib import ffi, lib
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
    handle_of,
    retired,
    sweep,
)
from acl.objects.stream import Stream

POLICIES = {"huge_first": 0, "huge_only": 1, "normal_only": 2}
OUT_OF_MEMORY = codes.ACL_ERROR_RT_MEMORY_ALLOCATION
SYNC = 1
MANY = 16  # users that a block remembers before it looks which have ended


def refuse(function: str, reason: str, advice: str = "") -> InvalidArgumentError:
    """Return the error for what is refused before the library is asked."""
    return InvalidArgumentError(INVALID, f"acl.{function}", f"acl.{function}: {reason}", advice)


def one_of(value: Any, choices: Iterable[str], function: str, name: str) -> str:
    """Return an argument that is one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise refuse(function, f"{name} is {value!r}, expected one of {', '.join(choices)}")
    return value


def stream_handle(stream: Stream) -> int:
    """Return the handle of an argument that is a stream: a device would take that of anything for one."""
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
        self.streams = streams_of(block)
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
            if captured_into(handle):
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


def streams_of(block: "Block") -> "list[Stream]":
    """Return the streams that may use a block which nobody has: a graph that is not gone would have it."""
    return [cast("Stream", user) for user in block.uses.values() if not user.closed]


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


def captured_into(stream: int) -> int:
    """Return the instance that takes in what is queued on a stream, or 0."""
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
    """What a block is told of: a stream, or all streams on which a graph is replayed."""

    @property
    def closed(self) -> bool:
        """Whether it has ended, and all its work."""

    def _settle(self) -> None:
        """Wait for its work."""

    def _lead(self, stream: "Stream") -> None:
        """Let what is queued on a stream from here on come after its work."""


class Block:
    """One allocation, given back when nobody holds it."""

    __slots__ = (
        "address", "size", "kind", "policy", "opening", "owned", "uses", "told", "keeps", "home", "__weakref__",
    )  # fmt: skip

    def __init__(self, address: int, size: int, kind: str, opening: Opening, owned: bool, keeps: Any = None) -> None:
        self.address = address
        self.size = size
        self.kind = kind
        # The pages that memory of the device was asked of.
        self.policy = ""
        self.opening = opening
        self.uses: dict[int, User] = {}
        self.told = 0  # how often
        # What borrowed memory belongs to.
        self.keeps = keeps
        self.owned = owned
        # The stream in whose order memory of a pool goes back.
        self.home: Optional[Stream] = None
        if kind == "host" and (owned or address not in pinned):
            pinned[address] = weakref.ref(self)

    @classmethod
    def allocate(cls, size: int, kind: str, policy: str) -> "Block":
        """Return fresh memory of the thread's device."""
        if size > MOST:  # which pyACL would wrap
            text = f"acl.Buffer: {size} bytes are more than any device has"
            raise OutOfMemoryError(OUT_OF_MEMORY, "acl.Buffer", text, "make it smaller")
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
        self = cls(address, size, kind, resource.single or current_opening(), True)
        if kind == "device":
            self.policy = policy
        return self

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
        tell((self,), stream)
        return handle

    def note(self, handle: int, user: User) -> None:
        """Note that work uses the memory, with :data:`telling` held."""
        self.uses[handle] = user
        self.told += 1
        if len(self.uses) > MANY:
            self.uses = {other: known for other, known in self.uses.items() if not known.closed}

    def check(self) -> None:
        """Refuse what is gone with its device."""
        if not self.opening.live:
            text = "acl.Buffer: its device was closed, and the memory is gone"
            raise InvalidHandleError(INVALID_HANDLE, "acl.Buffer", text, "close buffers and arrays before their device")

    def settle(self) -> None:
        """Wait for all work that is known to use the memory."""
        self.check()
        for handle, user in list(self.uses.items()):
            told = self.told
            if not user.closed:
                user._settle()
            with telling:
                if self.told == told:
                    self.uses.pop(handle, None)

    def lead(self, stream: "Stream") -> None:
        """Let what is queued on a stream from here on come after all work that is known to use the memory."""
        for user in list(self.uses.values()):
            if not user.closed:
                user._lead(stream)

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:  # the module may be gone by then
        if is_finalizing() or not hasattr(self, "home"):  # it was never made
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


def tell(blocks: Iterable[Block], stream: "Stream") -> None:
    """Note that what was just queued on a stream uses these blocks."""
    handle = stream_handle(stream)
    instance = captured_into(handle)
    with telling:
        if instance:
            held = captured.setdefault(instance, [])
            held += [block for block in dict.fromkeys(blocks) if block not in held]
            return
        for block in blocks:
            block.note(handle, stream)
