"""Events: points in streams that other streams, the host and asyncio tasks can wait for, and that can be timed.

An event is recorded again as often as needed; a wait means the newest record at the time it is queued. An event that
was never recorded holds nobody up. The exception is a gate (``gate=True``): it is closed until it is recorded, and
after a reset until it is recorded again, for whoever waits, before or after.
"""

import inspect
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Optional

import acl
from acl import rt
from acl._lib import EventOwner
from acl.errors import error_of
from acl.objects.resource import Resource, current_opening, handle_of, milliseconds, retired, sweep

if TYPE_CHECKING:
    from acl.objects.stream import Stream

COMPLETE = 1


class Event(EventOwner, Resource):
    """A point in a stream, set by :meth:`Stream.record`.

    Parameters
    ----------
    timing
        Keep the time of each record, for differences: ``end - start``.
    gate
        Make it a gate, which can be reset. A gate is no part of a capture.
    interprocess
        Make one that other processes can open; it has no time.

    Raises
    ------
    ContextError
        The thread has no device.
    ResourceError
        There are too many events.

    Notes
    -----
    Stands on ``aclrtCreateEventExWithFlag``; a gate on ``aclrtCreateEventWithFlag``. Closing it
    (``aclrtDestroyEvent``) leaves the waits for it that are queued.
    """

    __slots__ = ()
    _released_by = "aclrtDestroyEvent"
    # CPython 3.9 keeps no signature of a type in C.
    __signature__ = inspect.signature(lambda *, timing=True, gate=False, interprocess=False: None)

    @classmethod
    def from_handle(cls, handle: int) -> "Event":
        """Return an object for an event that something else made and will destroy."""
        self = cls.__new__(cls)
        self._borrow(handle)
        return self

    def query(self) -> bool:
        """Tell whether the work before its newest record is done (``aclrtQueryEventStatus``)."""
        status, ret = rt.query_event_status(self._handle)
        if ret != 0:
            raise error_of(ret, "aclrtQueryEventStatus")
        return status == COMPLETE

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Wait for its newest record.

        Parameters
        ----------
        timeout
            The longest to wait, in seconds; :class:`acl.TimedOutError` when it is over.
        """
        if timeout is None:
            ret = rt.synchronize_event(self._handle)
        else:
            ret = rt.synchronize_event_with_timeout(self._handle, milliseconds(timeout))
        if ret != 0:
            raise error_of(ret, "aclrtSynchronizeEvent")
        if retired:
            sweep()

    def reset(self, stream: "Stream") -> None:
        """Queue the closing of a gate (``aclrtResetEvent``)."""
        ret = rt.reset_event(self._handle, handle_of(stream, acl.Stream))
        if ret != 0:
            raise error_of(ret, "aclrtResetEvent")

    def __await__(self) -> Generator[Any, None, None]:
        """Wait for its newest record in an asyncio task; the loop goes on meanwhile, no thread waits."""
        return self._wait_async().__await__()

    async def _wait_async(self) -> None:
        if self.query():
            return
        # A stream waits in our place. One that was used before is used again once it is idle.
        watchers = current_opening().keep.setdefault("watchers", [])
        watcher = next(
            (stream for stream in watchers if stream._context == rt.get_context()[0] and stream.query()), None
        )
        if watcher is None:
            watcher = acl.Stream()
            watchers.append(watcher)
        watcher.wait(self)
        await watcher._announce()

    def elapsed_time(self, end: "Event") -> float:
        """Return the milliseconds from this record to that of another event, both done (``aclrtEventElapsedTime``)."""
        elapsed, ret = rt.event_elapsed_time(self._handle, handle_of(end, Event))
        if ret != 0:
            raise error_of(ret, "aclrtEventElapsedTime")
        return elapsed

    def __sub__(self, start: "Event") -> float:
        """Return the milliseconds since another event."""
        if not isinstance(start, Event):
            return NotImplemented
        return start.elapsed_time(self)


CLOSED = Event._closed  # for acl/owner.h
