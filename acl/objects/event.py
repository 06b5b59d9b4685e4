"""Events: points in streams that other streams, the host and asyncio tasks can wait for, and that can be timed.

An event can be recorded any number of times; a wait refers to the newest record at the time when it is queued. A wait
for an event that was never recorded returns at once. A gate (``gate=True``) is different: it is closed until it is
recorded, and after a reset until it is recorded again, for all waits, whether they were queued before or after.
"""

import inspect
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Optional

import acl
from acl import rt
from acl._lib import EventOwner, lib
from acl.errors import error_of
from acl.objects.resource import Resource, current_opening, handle_of, milliseconds, retired, stream_handle, sweep

if TYPE_CHECKING:
    from acl.objects.stream import Stream

COMPLETE: int = lib.ACL_EVENT_RECORDED_STATUS_COMPLETE


class Event(EventOwner, Resource):
    """A point in a stream, set by :meth:`Stream.record`.

    Parameters
    ----------
    timing
        Keep the time of each record, for time differences: ``end - start``.
    gate
        Create a gate, which can be reset. A gate cannot be captured.
    interprocess
        Create an event that other processes can open; it has no time.

    Raises
    ------
    ContextError
        The thread has no device.
    ResourceError
        The device has no more events.

    Notes
    -----
    Wraps ``aclrtCreateEventExWithFlag``, or ``aclrtCreateEventWithFlag`` for a gate. Waits that are queued stay valid
    when it is closed (``aclrtDestroyEvent``).
    """

    __slots__ = ()
    _released_by = "aclrtDestroyEvent"
    # CPython 3.9 has no signature for a type in C.
    __signature__ = inspect.signature(lambda *, timing=True, gate=False, interprocess=False: None)

    @classmethod
    def from_handle(cls, handle: int) -> "Event":
        """Return an object for an event that it does not own: it never destroys it."""
        self = cls.__new__(cls)
        self._borrow(handle)
        return self

    def query(self) -> bool:
        """Return whether the work before its newest record is done (``aclrtQueryEventStatus``)."""
        status, ret = rt.query_event_status(self._handle)
        if ret != 0:
            raise error_of(ret, "aclrtQueryEventStatus")
        return status == COMPLETE

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Wait for its newest record.

        Parameters
        ----------
        timeout
            The longest wait in seconds; after that :class:`acl.TimedOutError` is raised.
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
        """Queue a reset, which closes a gate (``aclrtResetEvent``)."""
        ret = rt.reset_event(self._handle, stream_handle(stream))
        if ret != 0:
            raise error_of(ret, "aclrtResetEvent")

    def __await__(self) -> Generator[Any, None, None]:
        """Wait for its newest record in an asyncio task, without blocking the event loop or a thread."""
        return self._wait_async().__await__()

    async def _wait_async(self) -> None:
        if self.query():
            return
        # A stream waits for the event, and calls the loop back. Idle streams of earlier waits are used again.
        watchers = current_opening().keep.setdefault("watchers", [])
        watcher = next(
            (stream for stream in watchers if stream._context == rt.get_context()[0] and stream.query()), None
        )
        if watcher is None:
            watcher = acl.Stream()
            watchers.append(watcher)
        watcher.wait(self)
        await watcher._announce()
        self.query()  # so that the checkers and the clock of the simulator see that this thread has waited

    def elapsed_time(self, end: "Event") -> float:
        """Return the milliseconds from its record to that of another event, both done (``aclrtEventElapsedTime``)."""
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
