"""Devices: opened once for the process, made current for each thread, closed at the end.

``Device(0)`` is the same object everywhere, and creating it does not open the device. :meth:`Device.use` makes it
current in the calling thread, and opens it the first time. ``with Device(0):`` does the same, and closes the device
when the last such block of the process ends, unless :meth:`Device.use` was called outside of these blocks: then it
stays open until :meth:`Device.close`. A block restores the context that was current before.

The objects hold one reference to an open device. If pyACL calls hold more (``acl.rt.set_device``), it stays open after
:meth:`Device.close` until they are released; :meth:`Device.reset` closes it at once and destroys everything on it.

Opening the first device initialises the library, unless that was done before; closing the last one finalises it again.
"""

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NamedTuple, Optional, Union

import acl
from acl import rt
from acl._lib import lib
from acl.errors import AclError, ContextError, InvalidArgumentError, codes, error_of
from acl.objects import resource
from acl.objects.context_current import call_in
from acl.objects.resource import (
    NO_CONTEXT,
    current_opening,
    end_opening,
    html_table,
    integer,
    milliseconds,
    opening_of,
    openings,
    refuse_in_call,
    retired,
    sweep,
)

if TYPE_CHECKING:
    from acl.objects.stream import Stream

NOT_OPEN = codes.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR
INVALID_DEVICE = codes.ACL_ERROR_RT_INVALID_DEVICEID
REPEATED = codes.ACL_ERROR_REPEAT_INITIALIZE
HBM: int = lib.ACL_HBM_MEM
MEMORY: dict[str, int] = {
    "DDR": lib.ACL_DDR_MEM,
    "HBM": HBM,
    "DDR huge pages": lib.ACL_DDR_MEM_HUGE,
    "DDR normal pages": lib.ACL_DDR_MEM_NORMAL,
    "HBM huge pages": lib.ACL_HBM_MEM_HUGE,
    "HBM normal pages": lib.ACL_HBM_MEM_NORMAL,
}
CORES: dict[str, int] = {
    "ai_cores": lib.ACL_DEV_ATTR_AICORE_CORE_NUM,
    "cube_cores": lib.ACL_DEV_ATTR_CUBE_CORE_NUM,
    "vector_cores": lib.ACL_DEV_ATTR_VECTOR_CORE_NUM,
}
RUN_MODES = {lib.ACL_DEVICE: "device", lib.ACL_HOST: "host"}


class MemoryInfo(NamedTuple):
    """Bytes of device memory."""

    free: int
    total: int


class Device:
    """One device.

    Parameters
    ----------
    id
        Its number; None takes the thread's current device.
    """

    __slots__ = ("id", "_withs", "_kept")

    id: int
    _known: ClassVar[dict[int, "Device"]] = {}
    _lock: ClassVar[Any] = threading.RLock()
    _thread: ClassVar[Any] = threading.local()

    def __new__(cls, id: Optional[int] = None) -> "Device":
        """Return the one object for a device."""
        if id is None:
            id = current_opening().device_id
        found = cls._known.get(id) if id.__class__ is int else None
        if found is None or id not in openings:  # after a reset, the simulator may have fewer devices
            id = integer(id, "acl.Device: id", None, None)
            count = cls.count()
            if not 0 <= id < count:
                known = "no device is" if count == 0 else "1 device is" if count == 1 else f"{count} devices are"
                range_of = f" (0 to {count - 1})" if count > 1 else " (0)" * count
                text = f"no device {id}: {known} available{range_of}"
                raise InvalidArgumentError(INVALID_DEVICE, "acl.Device", f"acl.Device: {text}")
            with cls._lock:
                found = cls._known.get(id)
                if found is None:
                    found = cls._known[id] = super().__new__(cls)
                    found.id, found._withs, found._kept = id, 0, False
        return found

    @staticmethod
    def count() -> int:
        """Return the number of devices (``aclrtGetDeviceCount``)."""
        count, ret = rt.get_device_count()
        if ret != 0:
            raise error_of(ret, "aclrtGetDeviceCount")
        return count

    @classmethod
    def _number_of(cls, device: "Union[Device, int, None]") -> int:
        """Return the number of a device, given as a number, as an object, or as None for the current one."""
        return device.id if isinstance(device, Device) else cls(device).id

    @classmethod
    def current(cls) -> "Device":
        """Return the thread's current device."""
        return cls()

    # --- Opening and closing

    def use(self) -> "Device":
        """Make it current in this thread, open it if it is not open, and return it."""
        self._use()
        if not self._withs:
            self._kept = True
        return self

    def _use(self) -> None:
        """Make the device current in this thread, and open it if it is not open."""
        with self._lock:
            opening = openings.get(self.id)
            if opening is not None and opening.context:
                if rt.set_context(opening.context) == 0:
                    return
                end_opening(self.id)  # it was reset by pyACL or C
            self._withs, self._kept = 0, False
            self._open()

    def _open(self) -> None:
        """Open the device; before the first device, initialise the library."""
        if not any(opening.context for opening in list(openings.values())):
            ret = acl.init()
            if ret not in (0, REPEATED):
                raise error_of(ret, "aclInit")
            resource.initialised = resource.initialised or ret == 0
        ret = rt.set_device(self.id)
        if ret != 0:
            self._finalise()
            raise error_of(ret, "aclrtSetDevice")
        opening_of(self.id).context = rt.get_context()[0]

    @staticmethod
    def _finalise() -> None:
        """Finalise the library if the objects have initialised it and have no device open."""
        if resource.initialised and not any(opening.context for opening in list(openings.values())):
            resource.initialised = False
            acl.finalize()

    @property
    def is_open(self) -> bool:
        """Whether it is open in this process."""
        return bool(rt.get_primary_ctx_state(self.id)[0])

    def close(self) -> None:
        """Wait for the work on the device and close it; closing it again does nothing."""
        self._end(rt.reset_device, "aclrtResetDevice")

    def reset(self) -> None:
        """Close the device at once and destroy everything on it, also if pyACL calls hold references."""
        self._end(rt.reset_device_force, "aclrtResetDeviceForce")

    def _end(self, end: Callable[[int], int], function: str) -> None:
        """Close the device by ``end``, after releasing what waited for its work."""
        if self.id in openings:
            refuse_in_call("Device.close" if end is rt.reset_device else "Device.reset")
        with self._lock:
            forced = end is rt.reset_device_force
            opening = openings.get(self.id)
            self._withs, self._kept = 0, False
            if opening is None or not opening.context:
                self._finalise()  # pyACL may have closed the device
                if not forced:
                    return
            else:
                try:
                    call_in(opening.context, sweep, True, opening)
                except ContextError:  # pyACL or C has reset the device
                    pass
            ret = end(self.id)
            if ret not in (0, NOT_OPEN):
                raise error_of(ret, function)
            if opening is not None:
                opening.context = 0
            if forced or not self.is_open:
                end_opening(self.id)
            self._finalise()

    def __enter__(self) -> "Device":
        before, ret = rt.get_context()
        with self._lock:
            self._use()
            self._withs += 1
        stack = self._thread.__dict__.setdefault("stack", [])
        stack.append(before if ret == 0 else 0)
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        before = self._thread.stack.pop()
        try:
            with self._lock:
                if self._withs:
                    self._withs -= 1
                    if self._withs == 0 and not self._kept:
                        self.close()
        finally:
            if before:
                rt.set_context(before)  # it may have ended with the device: then no context is current

    # --- What runs on it

    def _here(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function that uses the current device, while this one is current."""
        device_id, ret = rt.get_device()
        if ret == 0 and device_id == self.id:
            return function(*arguments)
        opening = openings.get(self.id)
        if opening is None or not opening.context:
            raise error_of(NO_CONTEXT, "acl.Device", f"open device {self.id} first: `with acl.Device({self.id}):`")
        return call_in(opening.context, function, *arguments)

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Wait for all streams of the device's current context.

        Parameters
        ----------
        timeout
            The longest wait in seconds; after that :class:`acl.TimedOutError` is raised.

        Raises
        ------
        Exception
            The exception of a callback of one of its streams; one at a time.
        """
        if timeout is None:
            ret = self._here(rt.synchronize_device)
        else:
            ret = self._here(rt.synchronize_device_with_timeout, milliseconds(timeout))
        if ret != 0:
            raise error_of(ret, "aclrtSynchronizeDevice")
        if retired:
            sweep()
        opening = openings.get(self.id)
        for errors in list(opening.errors.values()) if opening is not None else ():
            if errors:
                raise errors.pop(0)

    def memory_info(self, attribute: int = HBM) -> MemoryInfo:
        """Return the free and the total memory in bytes, of all device memory or of one ``aclrtMemAttr``."""
        attribute = integer(attribute, "acl.Device.memory_info: attribute", 0, 2**31 - 1)
        free, total, ret = self._here(rt.get_mem_info, attribute)
        if ret != 0:
            raise error_of(ret, "aclrtGetMemInfo")
        return MemoryInfo(free, total)

    def memory(self) -> dict[str, MemoryInfo]:
        """Return the free and the total memory in bytes of each memory type; both are 0 for a missing type."""
        return {name: self.memory_info(attribute) for name, attribute in MEMORY.items()}

    @property
    def default_stream(self) -> "Stream":
        """The default stream of its current context."""
        stream: Stream = self._here(acl.Stream.default)
        return stream

    @property
    def stream_priorities(self) -> range:
        """The priorities that a stream can have, the most urgent first (``aclrtDeviceGetStreamPriorityRange``)."""
        least, greatest, ret = self._here(rt.device_get_stream_priority_range)
        if ret != 0:
            raise error_of(ret, "aclrtDeviceGetStreamPriorityRange")
        return range(greatest, least + 1)

    # --- Properties

    @property
    def name(self) -> str:
        """The chip, such as ``Ascend910B3``; all devices of a process have the same."""
        return acl.get_soc_name() or ""

    @property
    def run_mode(self) -> str:
        """Where this program runs: ``"host"``, or ``"device"``, which needs no host memory (``aclrtGetRunMode``)."""
        mode, ret = rt.get_run_mode()
        if ret != 0:
            raise error_of(ret, "aclrtGetRunMode")
        return RUN_MODES[mode]

    def info(self, attribute: int) -> int:
        """Return one value of ``aclrtDevAttr`` (``aclrtGetDeviceInfo``)."""
        value, ret = rt.get_device_info(self.id, integer(attribute, "acl.Device.info: attribute", 0, 2**31 - 1))
        if ret != 0:
            raise error_of(ret, "aclrtGetDeviceInfo")
        return value

    @property
    def cores(self) -> dict[str, int]:
        """The number of its cores of each kind."""
        return {name: self.info(attribute) for name, attribute in CORES.items()}

    def can_access(self, other: "Union[Device, int]") -> bool:
        """Return whether it can access the other device's memory (``aclrtDeviceCanAccessPeer``)."""
        able, ret = rt.device_can_access_peer(self.id, self._number_of(other))
        if ret != 0:
            raise error_of(ret, "aclrtDeviceCanAccessPeer")
        return bool(able)

    def enable_access(self, other: "Union[Device, int]") -> None:
        """Enable access to the other device's memory (``aclrtDeviceEnablePeerAccess``)."""
        ret = self._here(rt.device_enable_peer_access, self._number_of(other), 0)
        if ret != 0:
            raise error_of(ret, "aclrtDeviceEnablePeerAccess")

    def __repr__(self) -> str:
        return f"<acl.Device {self.id} {self.name}{'' if self.is_open else ' not open'}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        rows: dict[str, object] = {"chip": self.name, "open": "yes" if self.is_open else "no"}
        try:
            free, total = self.memory_info()
            rows["memory"] = f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free"
        except AclError:  # only a device that the objects have opened can be queried
            pass
        rows.update({name.replace("_", " "): count for name, count in self.cores.items()})
        return html_table(f"acl.Device {self.id}", rows)

    def __reduce__(self) -> tuple[type["Device"], tuple[int]]:
        return Device, (self.id,)
