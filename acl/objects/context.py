"""Contexts: whose streams a thread may use, and which device it works on.

A thread has at most one current context, and starts with none; it cannot be made to have none again. Making a device
current makes its default context current. A stream may be used while the context it was made in is current; events and
memory belong to the device alone. The objects never switch behind the program's back, but for an operation that must
run elsewhere and is over when the call returns (:func:`call_in`), such as a finalizer on whatever thread it runs.
"""

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

from acl import mdl, rt
from acl.errors import ContextError, error_of
from acl.objects.resource import (
    INVALID_HANDLE,
    LONGEST,
    NO_CONTEXT,
    Opening,
    Resource,
    current_opening,
    integer,
    opening_of,
)

if TYPE_CHECKING:
    from acl.objects.device import Device

T = TypeVar("T")
RELAXED = 2  # the mode of a capture

# The end of an explicit context is the end of its streams, as for a device: each has an opening of its own.
explicit: dict[int, Opening] = {}


def current_handle() -> int:
    """Return the handle of the thread's context."""
    handle, ret = rt.get_context()
    if ret != 0:
        raise error_of(ret, "aclrtGetCurrentContext")
    return handle


def make_current(handle: int) -> None:
    """Make a context the thread's current one."""
    ret = rt.set_context(handle)
    if ret != 0:
        error = error_of(ret, "aclrtSetCurrentContext")
        raise ContextError(ret, error.function, error.message, "the context was closed, or its device: make a new one")


def opening_of_context(handle: int) -> Opening:
    """Return what the streams of the current context, which this is, end with."""
    return explicit.get(handle) or current_opening()


def call_in(handle: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function while a context is current, and leave the thread as it was."""
    before, ret = rt.get_context()
    if ret == 0 and before == handle:
        return function(*arguments)
    if ret == 0:
        make_current(handle)
        try:
            return function(*arguments)
        finally:
            rt.set_context(before)
    # A thread without a context stays one: another takes its place.
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            make_current(handle)
            results.append(function(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextlib.contextmanager
def relaxed() -> Iterator[None]:
    """Let the thread make synchronous calls that are not part of a capture, while one may be going on."""
    before, ret = mdl.ri_capture_thread_exchange_mode(RELAXED)
    try:
        yield
    finally:
        if ret == 0:  # versions without the call have no captures
            mdl.ri_capture_thread_exchange_mode(before)


class Context(Resource):
    """A context of its own beside the device's default one; it is current in the thread that makes it.

    Parameters
    ----------
    device
        The device or its number; None takes the thread's current device.

    Notes
    -----
    Closing it ends its streams. The thread then goes back to the context that was current before.
    """

    __slots__ = ("_device_id", "_before", "_streams")
    _released_by = "aclrtDestroyContext"

    _device_id: int
    _before: int
    _streams: Opening

    def __init__(self, device: "Union[Device, int, None]" = None) -> None:
        from acl.objects.device import Device

        before, ret = rt.get_context()
        self._before = before if ret == 0 else 0
        self._device_id = Device._number_of(device)
        handle, ret = rt.create_context(self._device_id)
        if ret != 0:
            raise error_of(ret, "aclrtCreateContext")
        self._streams = explicit[handle] = Opening(self._device_id)
        self._own(handle, opening_of(self._device_id))

    @classmethod
    def from_handle(cls, handle: int) -> "Context":
        """Return an object for a context that something else made and will destroy."""
        self = cls.__new__(cls)
        handle = integer(handle, "acl.Context: handle", 0, LONGEST)
        self._before, self._streams = 0, explicit.get(handle) or Opening(-1)
        self._device_id = call_in(handle, rt.get_device)[0]
        self._borrow(handle)
        return self

    @classmethod
    def current(cls) -> "Context":
        """Return the thread's current context."""
        return cls.from_handle(current_handle())

    @property
    def device(self) -> "Device":
        """The device that it works on."""
        from acl.objects.device import Device

        return Device(self._device_id)

    def use(self) -> "Context":
        """Make it the thread's current context, and return it (``aclrtSetCurrentContext``)."""
        make_current(self._handle)
        return self

    def synchronize(self) -> None:
        """Wait for all streams of the context (``aclrtSynchronizeDevice``)."""
        ret = call_in(self.handle, rt.synchronize_device)
        if ret != 0:
            raise error_of(ret, "aclrtSynchronizeDevice")

    def close(self) -> None:
        """Wait for its streams, end them and itself; the thread goes back to the context before."""
        handle, owned = self._handle, self.owned
        if owned:
            now, ret = rt.get_context()
        super().close()
        if owned:
            explicit.pop(handle, None)
            self._streams.live = False
            if ret == 0 and now == handle and self._before:
                rt.set_context(self._before)  # which may be gone by now: then there is none

    def _busy(self) -> bool:
        return True  # its streams are not known

    def _release(self, handle: int, opening: Opening) -> int:
        ret = rt.destroy_context(handle)
        return INVALID_HANDLE if ret == NO_CONTEXT else ret  # something else has destroyed it

    def __enter__(self) -> "Context":
        if self._handle != rt.get_context()[0]:
            self._before = rt.get_context()[0]
        return self.use()

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self.owned or self.closed:
            self.close()
        elif self._before:
            make_current(self._before)

    def _describe(self) -> str:
        return f"device {self._device_id}"
