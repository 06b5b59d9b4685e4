"""Streams: queues of work that runs in order.

Work can be queued on a stream in threads whose current context is the one in which it was created
(:mod:`acl.objects.context_current`). Waiting for it and querying it work in any context, and closing it also without
one. The next synchronise raises the errors of its work, and the exceptions of its callbacks with their own tracebacks,
one at a time. Closing waits for the work and raises them too.
"""

import functools
from types import TracebackType
from typing import Any, Callable, Optional, Union

from acl import mdl, rt
from acl._lib import ffi, lib
from acl.errors import AclError, CaptureError, ContextError, InvalidHandleError, error_of
from acl.objects.context_current import call_in, current_handle, make_current, opening_of_context
from acl.objects.device import Device
from acl.objects.event import Event
from acl.objects.resource import (
    INVALID_HANDLE,
    LONGEST,
    Opening,
    Resource,
    current_opening,
    future_of_loop,
    handle_of,
    integer,
    milliseconds,
    retired,
    stream_handle,
    sweep,
)
from acl.rt import record_event

FAST_LAUNCH, FAST_SYNC, PERSISTENT = lib.ACL_STREAM_FAST_LAUNCH, lib.ACL_STREAM_FAST_SYNC, lib.ACL_STREAM_PERSISTENT
CPU_SCHEDULE, DEVICE_ONLY = lib.ACL_STREAM_CPU_SCHEDULE, lib.ACL_STREAM_DEVICE_USE_ONLY
STOP_ON_FAILURE = lib.ACL_STOP_ON_FAILURE


class Mark(Event):
    """An event that a stream uses internally, and that is destroyed with it."""

    __slots__ = ()
    _is_value = True


class Stream(Resource):
    """A queue of work in the thread's current context.

    Parameters
    ----------
    priority
        0 is the most urgent. A number above the range in :attr:`acl.Device.stream_priorities` means the least urgent.
    fast_launch, fast_sync
        Use more device resources for faster launches, or for faster synchronisation.
    persistent
        Keep tasks for a model instead of running them.
    cpu_scheduled, device_only
        For queues that the device itself schedules, or uses.
    stop_on_failure
        Stop all work of the context at the first failure, instead of continuing with the next task.

    Raises
    ------
    InvalidArgumentError
        The priority is negative.
    ContextError
        The thread has no device.
    ResourceError
        The device has no more streams.

    Notes
    -----
    Wraps ``aclrtCreateStream``, or ``aclrtCreateStreamWithConfig`` if an option is set.
    """

    __slots__ = ("_ahead", "_context", "_errors")
    _released_by = "aclrtDestroyStream"

    # Recorded after the work that was queued before the newest capture.
    _ahead: Optional["Mark"]
    _context: int
    _errors: list[BaseException]

    def __init__(
        self,
        *,
        priority: int = 0,
        fast_launch: bool = False,
        fast_sync: bool = False,
        persistent: bool = False,
        cpu_scheduled: bool = False,
        device_only: bool = False,
        stop_on_failure: bool = False,
    ) -> None:
        flags = bool(fast_launch) * FAST_LAUNCH | bool(fast_sync) * FAST_SYNC | bool(persistent) * PERSISTENT
        flags |= bool(cpu_scheduled) * CPU_SCHEDULE | bool(device_only) * DEVICE_ONLY
        priority = min(integer(priority, "acl.Stream: priority", 0), 2**32 - 1)
        if priority or flags:
            handle, ret = rt.create_stream_with_config(priority, flags)
        else:
            handle, ret = rt.create_stream()
        if ret != 0:
            raise error_of(ret, "aclrtCreateStream")
        self._ahead, self._errors = None, []
        try:
            self._context = current_handle()
            opening = opening_of_context(self._context)
        except AclError:
            rt.destroy_stream(handle)
            raise
        self._own(handle, opening)
        if stop_on_failure:
            ret = rt.set_stream_failure_mode(handle, STOP_ON_FAILURE)
            if ret != 0:
                error = error_of(ret, "aclrtSetStreamFailureMode")
                self.close()
                raise error

    @classmethod
    def from_handle(cls, handle: int) -> "Stream":
        """Return an object for a stream of the current context that it does not own: it never destroys it.

        0 is the context's default stream.
        """
        self = cls.__new__(cls)
        handle = integer(handle, "acl.Stream: handle", 0, LONGEST)
        self._ahead, self._errors = None, []
        self._context = current_handle()
        if handle == 0:
            default, ret = rt.ctx_get_current_default_stream()
            handle = default if ret == 0 else 0  # older versions have no handle for it
        self._borrow(handle)
        if handle != 0 and self._ended():
            text = f"acl.Stream: handle is {handle:#x}, which is not a live stream"
            raise InvalidHandleError(
                INVALID_HANDLE, "acl.Stream.from_handle", text, "pass the handle of a stream that is not destroyed"
            )
        return self

    @classmethod
    def default(cls) -> "Stream":
        """Return the default stream of the current context, which cannot be captured."""
        return cls.from_handle(0)

    # --- What it is

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return Device(call_in(self._context, rt.get_device)[0])

    @property
    def id(self) -> int:
        """Its number on the device (``aclrtStreamGetId``)."""
        number, ret = rt.stream_get_id(self._handle)
        if ret != 0:
            raise error_of(ret, "aclrtStreamGetId")
        return number

    @property
    def priority(self) -> int:
        """Its priority, 0 being the most urgent (``aclrtStreamGetPriority``)."""
        value = ffi.new("uint32_t *")
        ret = lib.aclrtStreamGetPriority(ffi.cast("void *", self.handle), value)
        if ret != 0:
            raise error_of(ret, "aclrtStreamGetPriority")
        return int(value[0])

    @property
    def capturing(self) -> bool:
        """Whether its work is being captured instead of run."""
        status, _, ret = mdl.ri_capture_get_info(self._handle)
        if ret != 0:
            raise error_of(ret, "aclmdlRICaptureGetInfo")
        return status != 0

    def use_context(self) -> "Stream":
        """Make the context in which it was created the thread's current one, and return the stream."""
        make_current(self._context)
        return self

    # --- What is queued

    def record(self, event: Optional[Event] = None) -> Event:
        """Queue a record of an event, or of a new one, and return the event (``aclrtRecordEvent``)."""
        given = event
        if event is None:
            event = Event()
        if event.__class__ is not Event:  # a device would accept any handle
            handle_of(event, Event)
        ret = record_event(event._handle, self._handle)
        if ret != 0:
            if given is None:
                event.close()
            raise error_of(ret, "aclrtRecordEvent")
        return event

    def wait(self, other: "Union[Event, Stream]") -> None:
        """Make later work of this stream wait for an event or another stream (``aclrtStreamWaitEvent``)."""
        if isinstance(other, Stream):
            stream_handle(other)
            with Event(timing=False) as event:  # the queued wait stays valid without it
                self.wait(other.record(event))
            return
        ret = rt.stream_wait_event(self._handle, handle_of(other, Event))
        if ret != 0:
            raise error_of(ret, "aclrtStreamWaitEvent")

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Queue a call of a Python function on the host; later work of the stream waits until it has returned.

        The next synchronise raises its exception. It must not call the runtime. The functions of all streams of a
        context are called by one thread. A captured call is repeated at every replay.
        """
        if not callable(function):
            raise TypeError(f"acl.Stream.call: function is {function!r}, expected a callable")
        opening = self._opening
        pending = (opening if opening is not None and opening.live else current_opening()).errors
        pending[id(self._errors)] = self._errors
        self._launch(functools.partial(_guarded, self._errors, function, arguments))

    def _launch(self, function: Callable[[Any], Any]) -> None:
        """Queue a call of a function on the host."""
        ret = rt.launch_host_func(self._handle, function, None)
        if ret != 0:
            raise error_of(ret, "aclrtLaunchHostFunc")

    # --- Waiting

    def query(self) -> bool:
        """Return whether all its work is done (``aclrtStreamQuery``)."""
        status, ret = rt.stream_query(self._handle)
        if ret != 0:
            raise error_of(ret, "aclrtStreamQuery")
        return status == 0

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Wait until all its work is done, and raise the error of work that failed.

        Parameters
        ----------
        timeout
            The longest wait in seconds; after that :class:`acl.TimedOutError` is raised, and the work continues.

        Raises
        ------
        AclError
            If work of the stream failed.
        Exception
            The exception of a callback.
        """
        if timeout is None:
            ret = rt.synchronize_stream(self._handle)
        else:
            ret = rt.synchronize_stream_with_timeout(self._handle, milliseconds(timeout))
        if ret != 0:
            raise error_of(ret, "aclrtSynchronizeStream")
        if retired:
            sweep()
        if self._errors:
            raise self._errors.pop(0)

    def _before_capture(self) -> None:
        """Record an event after the work that is queued so far, on which threads can wait during the capture."""
        if not self.capturing:
            if self._ahead is None:
                self._ahead = Mark(timing=False)
            self.record(self._ahead)

    def _ended(self) -> bool:
        """Return whether it was destroyed, also by pyACL or C, which ended its work."""
        return self.closed or rt.stream_get_id(self._handle)[1] == INVALID_HANDLE

    def _settle(self) -> None:
        """Wait for all its work; if it is being captured, for the work that was queued before the capture."""
        try:
            if self._ahead is None or not self.capturing:
                self.synchronize()
                return
        except InvalidHandleError:
            if not self._ended():
                raise
            return
        except CaptureError:  # the capture began during the wait
            if self._ahead is None:
                raise
        self._ahead.synchronize()

    def _lead(self, stream: "Stream") -> None:
        """Make later work on another stream wait for its work."""
        if stream._handle == self._handle:
            return
        try:
            stream.wait(self._ahead if self._ahead is not None and self.capturing else self)
        except InvalidHandleError:
            if not self._ended():
                raise

    def _announce(self) -> Any:
        """Return a future of the running loop that is done when the stream reaches this point of its queue."""
        future, call = future_of_loop()
        self._launch(call)
        return future

    async def synchronize_async(self) -> None:
        """Wait in an asyncio task until the queued work is done, and raise the error of work that failed.

        The event loop is not blocked: a callback on the stream wakes it. The error of failed work is raised here, or by
        the next synchronise if more work has been queued by then.
        """
        with Event(timing=False) as end:
            called = self._announce()
            self.record(end)
            await called
            end.synchronize()  # the callback that woke us is about to return
        if self.query():
            self.synchronize()
        elif self._errors:
            raise self._errors.pop(0)

    def abort(self) -> None:
        """Stop the running task and discard queued work; the stream can be used again (``aclrtStreamAbort``)."""
        ret = rt.stream_abort(self._handle)
        if ret != 0:
            raise error_of(ret, "aclrtStreamAbort")

    # --- The end

    def close(self) -> None:
        """Wait for the work, destroy the stream, and raise the error of failed work. Closing again does nothing."""
        opening = self._opening
        super().close()
        self._report(opening)

    def discard(self) -> None:
        """Destroy the stream at once, without running its queued work (``aclrtDestroyStreamForce``)."""
        self._refuse_waiting("discard")
        handle, opening = self._handle, self._opening
        if opening is not None and opening.live:
            ret = call_in(self._context, rt.destroy_stream_force, handle)
            if ret not in (0, INVALID_HANDLE):
                raise error_of(ret, "aclrtDestroyStreamForce")
        self._opening = None
        super().close()
        self._report(opening)

    def _report(self, opening: Optional[Opening]) -> None:
        """Raise the first exception of its callbacks; the opening no longer reports them."""
        if opening is not None:
            opening.errors.pop(id(self._errors), None)
        if self._errors:
            raise self._errors.pop(0)

    def _busy(self) -> bool:
        try:
            status, ret = call_in(self._context, rt.stream_query, self._handle)
        except ContextError:  # the context was destroyed, and the stream with it
            return False
        return ret == 0 and status != 0

    def _release(self, handle: int, opening: Opening) -> int:
        try:
            return call_in(self._context, self._finish, handle)
        except ContextError:  # the context was destroyed, and the stream with it
            return INVALID_HANDLE

    def _finish(self, handle: int) -> int:
        """Wait for the work and destroy the stream; keep the error of failed work for :meth:`_report`."""
        ret = rt.synchronize_stream(handle)
        failed = None if ret in (0, INVALID_HANDLE) else error_of(ret, "aclrtSynchronizeStream")
        ret = rt.destroy_stream(handle)
        if ret == 0 and failed is not None:
            self._errors.insert(0, failed)
        return ret

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.close()
        except Exception:
            if error is None:  # otherwise the exception of the block was most likely the cause of this one
                raise


def _guarded(
    errors: list[BaseException], function: Callable[..., Any], arguments: tuple[Any, ...], _data: object
) -> None:
    """Call a function, and keep its exception for the next synchronise."""
    try:
        function(*arguments)
    except BaseException as error:
        errors.append(error)
