"""Contexts that a program creates beside the default context of a device (:mod:`acl.objects.context_current`)."""

from types import TracebackType
from typing import Optional, Union

from acl import rt
from acl.errors import error_of
from acl.objects.context_current import call_in, current_handle, explicit, make_current
from acl.objects.device import Device
from acl.objects.resource import INVALID_HANDLE, LONGEST, NO_CONTEXT, Opening, Resource, integer, opening_of


class Context(Resource):
    """A context in addition to the device's default one; it becomes current in the thread that creates it.

    Parameters
    ----------
    device
        The device or its number; None takes the thread's current device.

    Notes
    -----
    Closing it destroys its streams, and makes the previous context current again.
    """

    __slots__ = ("_device_id", "_before", "_streams")
    _released_by = "aclrtDestroyContext"

    _device_id: int
    _before: int
    _streams: Opening

    def __init__(self, device: Union[Device, int, None] = None) -> None:
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
        """Return an object for a context that it does not own: it never destroys it."""
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
    def device(self) -> Device:
        """Its device."""
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
        """Wait for its streams, destroy them and the context, and make the previous context current again."""
        handle, owned = self._handle, self.owned
        if owned:
            now, ret = rt.get_context()
        super().close()
        if owned:
            explicit.pop(handle, None)
            self._streams.live = False
            if ret == 0 and now == handle and self._before:
                rt.set_context(self._before)  # if that was destroyed, no context is current

    def _busy(self) -> bool:
        return True  # its streams, which it does not know, may have work

    def _release(self, handle: int, opening: Opening) -> int:
        ret = rt.destroy_context(handle)
        return INVALID_HANDLE if ret == NO_CONTEXT else ret  # pyACL or C has destroyed it

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
