"""What all objects with a handle have in common: closing once, ``with``, and a finalizer that reports what was dropped.

An object owns its handle or borrows it. An owner's handle is destroyed by :meth:`Resource.close`, which may be called
any number of times; one that is dropped without it is closed by its finalizer, which warns (``ResourceWarning``, with
the line that made it when tracemalloc is on). A borrowed handle is never destroyed.

Handles end with their device. So an owner keeps the *opening* that its device had when it was made; after the device
was closed or reset by the objects, nothing is called any more: the handles are gone already. In a child after a fork
every opening is over. A device that is reset by pyACL alone is seen by the library's answer (107017).

The handle of a closed object is a :class:`Closed`, which every builtin refuses by an :class:`InvalidHandleError` with a
text that says what to do. So using a closed object needs no check of its own, and calls of live ones cost none.

A finalizer that runs in a callback of a stream, which must not wait, leaves the closing to :func:`sweep` in a thread
that may. There, :meth:`Resource.close` is refused for an object whose closing would wait (:meth:`Resource._busy`).

Closing one object from two threads at once is the program's race, as with files.

The slots of an object, its finalizer, and the life of an event are in C (``acl/owner.h``): in Python they would cost
more than the library's own part.

Nothing here relies on the interpreter's lock. What threads share are dicts and lists that are changed by single calls
(``setdefault``, ``append``, ``pop``), each of which CPython keeps whole with the lock and without it; whoever goes
through one goes through a copy; an item of a list is taken by the one thread whose ``remove`` finds it. Opening and
closing devices, where several steps belong together, is done under a lock of its own (``Device._lock``).
"""

import atexit
import operator
import os
import warnings
from html import escape
from numbers import Real
from types import TracebackType
from typing import Any, ClassVar, NoReturn, Optional, Protocol, TypeVar

from acl import rt
from acl._calls import in_call
from acl._hooks import simulator_reset
from acl._lib import Owner, _acl
from acl.errors import AclError, InvalidArgumentError, InvalidHandleError, codes, error_of

Self = TypeVar("Self", bound="Resource")
INVALID = codes.ACL_ERROR_RT_PARAM_INVALID
NO_CONTEXT = codes.ACL_ERROR_RT_CONTEXT_NULL
INVALID_HANDLE = codes.ACL_ERROR_RT_INVALID_HANDLE
IN_CALLBACK = codes.ACL_ERROR_RT_INTERNAL_ERROR
LEAST, MOST, LONGEST = -(2**63), 2**63 - 1, 2**64 - 1  # of a number, and of a handle


class Opening:
    """One time that a device is open: what is made on it lives no longer."""

    __slots__ = ("device_id", "context", "live", "errors", "keep")

    def __init__(self, device_id: int) -> None:
        self.device_id = device_id
        # The default context, once the objects have opened the device themselves; else 0.
        self.context = 0
        self.live = True
        # What callbacks of its streams raised and nobody has heard of yet, by the id of the stream's list.
        self.errors: dict[int, list[BaseException]] = {}
        # What ends with the opening and not before, by the module that needs it.
        self.keep: dict[str, Any] = {}


openings: dict[int, Opening] = {}
# The opening of the only device there is, so that nobody needs to ask which is current; None when there are more.
single: Optional[Opening] = None
# Whether the objects have initialised the library, and are to finalise it.
initialised = False


def opening_of(device_id: int) -> Opening:
    """Return the present opening of a device, which pyACL calls may have opened."""
    global single
    found = openings.get(device_id)
    if found is None:
        # Two threads may come here at once: the first one's stays.
        found = openings.setdefault(device_id, Opening(device_id))
        single = found if rt.get_device_count() == (1, 0) else None
    return found


def current_opening() -> Opening:
    """Return the opening of the calling thread's device."""
    device_id, ret = rt.get_device()
    if ret != 0:
        raise error_of(ret, "aclrtGetDevice")
    return opening_of(device_id)


def fail(code: int, function: str) -> NoReturn:
    """Raise the error for a status code."""
    raise error_of(code, function)


def end_opening(device_id: int) -> None:
    """Make everything that was made on a device known as gone."""
    global single
    found = openings.pop(device_id, None)
    single = None
    if found is not None:
        found.live = False
        found.keep.clear()
        report(found)


def report(opening: Opening) -> None:
    """Give what callbacks raised, and no synchronise has reported, to :data:`sys.unraisablehook`."""
    for errors in list(opening.errors.values()):
        while errors:
            where = f"a callback of a stream of device {opening.device_id}, which no synchronise reported"
            _acl.unraisable(errors.pop(0), where)


@atexit.register
def _report_all() -> None:
    for opening in list(openings.values()):
        report(opening)


@simulator_reset.register
def forget_all() -> None:
    """Mark every opening as over, without calling the library."""
    global initialised
    initialised = False
    for device_id in list(openings):
        end_opening(device_id)
    retired.clear()


class Retired(Protocol):
    """Something that nobody has any more and that cannot be given back yet."""

    opening: Opening

    def done(self, wait: bool) -> bool:
        """Give it back if that can be done now, or after waiting; tell whether it was."""


# What :func:`sweep` asks. An item is taken out while it is asked, so that no other thread, and no finalizer that comes
# in between, asks it too.
retired: list[Retired] = []


def refuse_in_call(function: str, advice: str = "call it in another thread, or after the synchronise") -> None:
    """Refuse, in a callback of a stream, a call that waits for streams: it would wait for itself."""
    if in_call():
        text = f"acl.{function}: it was called inside a callback, which must not wait for the work of a stream"
        raise AclError(IN_CALLBACK, f"acl.{function}", text, advice)


def sweep(wait: bool = False, opening: Optional[Opening] = None) -> None:
    """Give back what can be by now, of one opening of a device or of all; nothing in a callback, which may not wait."""
    if in_call():
        return
    for item in retired[:]:
        if opening is not None and item.opening is not opening:
            continue
        try:
            retired.remove(item)
        except ValueError:  # somebody else has it
            continue
        done = False
        try:
            done = item.done(wait)
        finally:
            if not done:
                retired.append(item)


class Dropped:
    """An object that was dropped where it could not be closed."""

    def __init__(self, resource: "Resource", opening: Opening) -> None:
        self.resource = resource
        self.opening = opening

    def done(self, wait: bool) -> bool:
        """Close it, if closing does not wait or the caller may wait."""
        if not wait and self.opening.live and self.resource._busy():
            return False
        self.resource.close()
        return True


os.register_at_fork(after_in_child=forget_all)


def integer(value: Any, what: str, least: Optional[int] = None, most: Optional[int] = MOST) -> int:
    """Return a whole number, of NumPy's kinds as well, that is in a range: pyACL wraps what is longer than C's.

    ``what`` is ``acl.Class.method: argument``.
    """
    try:
        number = int(operator.index(value))
    except TypeError:
        raise TypeError(f"{what} is {value!r}, expected an int") from None
    if (least is not None and number < least) or (most is not None and number > most):
        expected = f"at most {most}" if least is None else f"{least} to {most}"
        if most == MOST and number < most:
            expected = f"{least} or more"
        raise InvalidArgumentError(INVALID, what.partition(":")[0], f"{what} is {number}, expected {expected}")
    return number


def seconds(timeout: float) -> float:
    """Return a time-out that everything takes: 0 when it is over already, and finite."""
    if not isinstance(timeout, Real) or timeout != timeout:
        raise TypeError(f"timeout is {timeout!r}, expected seconds as a number")
    return min(max(timeout, 0), (2**31 - 1) / 1000)


def milliseconds(timeout: float) -> int:
    """Return a time-out in seconds as C takes it: not zero."""
    return max(1, int(seconds(timeout) * 1000))


def object_of(value: Any, kind: type[Self]) -> Self:
    """Return an argument that is an object of a class: a device would take any number for its handle."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise TypeError(f"{value!r} is no acl.{name}; a handle of pyACL becomes one by acl.{name}.from_handle()")
    return value


def handle_of(value: Any, kind: type["Resource"]) -> int:
    """Return the handle of an argument that is an object of a class."""
    return object_of(value, kind).handle


class Closed:
    """Stands in the place of a closed object's handle."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __index__(self) -> int:
        raise InvalidHandleError(
            INVALID_HANDLE, f"acl.{self.kind}", f"acl.{self.kind} is closed", "make a new one, or close it later"
        )

    def __repr__(self) -> str:
        return "closed"


class Resource(Owner):
    """A handle that is destroyed once.

    A class that owns handles gives ``_release`` and ``_released_by``, the name of its C function; its ``__init__``
    calls ``_own`` (or sets the two slots itself, ``_opening`` last) when the handle is there. ``_opening`` is None when
    the handle is borrowed or closed; else the finalizer calls ``_drop``.
    """

    __slots__ = ()

    _opening: Optional[Opening]
    # Whether it is dropped when it is used up, as an array is; the loss of all else is reported.
    _is_value: ClassVar[bool] = False
    _released_by: ClassVar[str] = ""
    _closed: ClassVar[Closed] = Closed("Resource")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._closed = Closed(cls.__name__)

    def _own(self, handle: int, opening: Opening) -> None:
        self._handle = handle
        self._opening = opening

    def _borrow(self, handle: int) -> None:
        self._handle = integer(handle, f"acl.{type(self).__name__}: handle", 0, LONGEST)
        self._opening = None

    def _release(self, handle: int, opening: Opening) -> int:
        """Destroy the handle and return the status code."""
        raise NotImplementedError

    @property
    def handle(self) -> int:
        """The handle, as pyACL and C take it; it stays this object's to destroy."""
        handle = self._handle
        return handle if handle.__class__ is int else handle.__index__()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.__class__ is Closed

    @property
    def owned(self) -> bool:
        """Whether closing destroys the handle: False when it is borrowed, or closed."""
        return self._opening is not None

    def _busy(self) -> bool:
        """Whether closing it would wait for work."""
        return False

    def _refuse_waiting(self, method: str) -> None:
        """Refuse, in a callback, a method that waits for the object's work."""
        opening = self._opening
        if in_call() and opening is not None and opening.live and self._busy():
            refuse_in_call(f"{type(self).__name__}.{method}")

    def close(self) -> None:
        """Destroy the handle, if it is owned; closing again does nothing."""
        self._refuse_waiting("close")
        handle, opening = self._handle, self._opening
        self._opening, self._handle = None, self._closed
        if opening is not None and opening.live:
            ret = self._release(handle, opening)
            if ret != 0 and ret != INVALID_HANDLE:
                # It is still there: let a later close try again.
                self._handle, self._opening = handle, opening
                raise error_of(ret, self._released_by)

    def __enter__(self: Self) -> Self:
        self._handle.__index__()
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _drop(self) -> None:
        """Close what was dropped without being closed, and say so."""
        opening = self._opening
        if opening is None or not opening.live:
            return
        text = "" if self._is_value else repr(self)
        try:
            if in_call():
                retired.append(Dropped(self, opening))
            else:
                self.close()
        finally:
            if text:
                warnings.warn(f"unclosed {text}: call close() or use `with`", ResourceWarning, 2, source=self)

    def _describe(self) -> str:
        """Return what stands in the repr behind the class and the handle."""
        return ""

    def __repr__(self) -> str:
        if self.closed:
            return f"<acl.{type(self).__name__} closed>"
        more = self._describe()
        borrowed = "" if self.owned else " borrowed"
        return f"<acl.{type(self).__name__} {self._handle:#x}{borrowed}{' ' + more if more else ''}>"


def html_table(title: str, rows: dict[str, object]) -> str:
    """Return a table for notebooks."""
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"
