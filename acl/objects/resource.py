"""The base of all objects with a handle: closing once, ``with``, and a finalizer that reports unclosed objects.

An object owns its handle or borrows it. The handle of an owner is destroyed by :meth:`Resource.close`, which may be
called any number of times. An owner that is garbage-collected before that is closed by its finalizer, which warns
(``ResourceWarning``, with the line that created the object if tracemalloc is on). A borrowed handle is never destroyed.

A handle is valid only until its device is closed. So an owner keeps the *opening* of its device at the time of its
creation. After the objects have closed or reset the device, the handle is already invalid, and no library function is
called for it. In a child process after a fork, all openings are over. A device that was reset by pyACL alone is
recognised by the code that the library returns (107017).

The handle of a closed object is a :class:`Closed`. Every builtin that is given one raises an
:class:`InvalidHandleError` that says what to do, so that methods need no check, and calls of open objects cost none.

A callback of a stream must not wait. A finalizer that runs in one therefore leaves the object to :func:`sweep` in a
thread that may wait, and :meth:`Resource.close` raises an error there if it would wait (:meth:`Resource._busy`).

Closing one object from two threads at once is a race of the program, as it is for files.

The slots of an object, its finalizer, and the creation and destruction of events and of buffers without a block are in
C (``acl/owner.h``), because in Python they would cost more than the library's own work.

Nothing here relies on the interpreter's lock. Threads share dicts and lists, and change them by single calls
(``setdefault``, ``append``, ``pop``), each of which is atomic in CPython with the lock and without it. A thread that
iterates over one iterates over a copy, and an item of a list belongs to the thread whose ``remove`` found it. Opening
and closing a device takes several steps, under a separate lock (``Device._lock``).
"""

import atexit
import operator
import os
import warnings
from html import escape
from numbers import Real
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NoReturn, Optional, Protocol, TypeVar

import acl
from acl import rt
from acl._calls import in_call
from acl._hooks import counting_live, device_closed, simulator_reset
from acl._lib import Owner, _acl
from acl.errors import AclError, InvalidArgumentError, InvalidHandleError, codes, error_of

if TYPE_CHECKING:
    from acl.objects.stream import Stream

Self = TypeVar("Self", bound="Resource")
INVALID = codes.ACL_ERROR_RT_PARAM_INVALID
NO_CONTEXT = codes.ACL_ERROR_RT_CONTEXT_NULL
INVALID_HANDLE = codes.ACL_ERROR_RT_INVALID_HANDLE
IN_CALLBACK = codes.ACL_ERROR_RT_INTERNAL_ERROR
LEAST, MOST, LONGEST = -(2**63), 2**63 - 1, 2**64 - 1  # of a number, and of a handle


class Opening:
    """The time from opening a device to closing it; handles that are created in it are invalid afterwards."""

    __slots__ = ("device_id", "context", "live", "errors", "keep")

    def __init__(self, device_id: int) -> None:
        self.device_id = device_id
        # The default context, once the objects have opened the device themselves; else 0.
        self.context = 0
        self.live = True
        # Exceptions of callbacks of its streams that no synchronise has raised yet, by the id of the stream's list.
        self.errors: dict[int, list[BaseException]] = {}
        # Objects that are kept until the opening ends, by a key of the module that needs them.
        self.keep: dict[str, Any] = {}


openings: dict[int, Opening] = {}
# The opening of the only device, which saves a query of the current one; None if there are several devices.
single: Optional[Opening] = None
# Whether the objects have initialised the library, and so have to finalise it.
initialised = False


def opening_of(device_id: int) -> Opening:
    """Return the present opening of a device, which pyACL calls may have opened."""
    global single
    found = openings.get(device_id)
    if found is None:
        # Two threads may be here at the same time: the opening of the first one is kept.
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


@device_closed.register
def end_opening(device_id: int) -> None:
    """End the opening of a device: its handles are no longer valid."""
    global single
    found = openings.pop(device_id, None)
    single = None
    if found is not None:
        found.live = False
        found.keep.clear()
        report(found)


def report(opening: Opening) -> None:
    """Pass exceptions of callbacks that no synchronise has raised to :data:`sys.unraisablehook`."""
    for errors in list(opening.errors.values()):
        while errors:
            where = f"a callback on a stream of device {opening.device_id}, whose error no synchronise reported"
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
    """A resource without an owner that cannot be released yet."""

    opening: Opening

    def done(self, wait: bool) -> bool:
        """Release it if that is possible now, or after waiting; return whether it was released."""


# The resources that :func:`sweep` tries to release. It takes an item out meanwhile, so that no other thread and no
# finalizer tries the same one.
retired: list[Retired] = []


def refuse_in_call(function: str, advice: str = "call it in another thread, or after the synchronise") -> None:
    """Raise an error in a callback of a stream, for a call that waits for streams: it would wait for itself."""
    if in_call():
        text = f"acl.{function}: it was called inside a callback, which must not wait for the work of a stream"
        raise AclError(IN_CALLBACK, f"acl.{function}", text, advice)


def sweep(wait: bool = False, opening: Optional[Opening] = None) -> None:
    """Release what can be released now, of one opening or of all; do nothing in a callback, which must not wait."""
    if in_call():
        return
    for item in retired[:]:
        if opening is not None and item.opening is not opening:
            continue
        try:
            retired.remove(item)
        except ValueError:  # another thread has taken it
            continue
        done = False
        try:
            done = item.done(wait)
        finally:
            if not done:
                retired.append(item)


counting_live.register(sweep)


class Dropped:
    """An object that was garbage-collected in a callback, where it could not be closed."""

    def __init__(self, resource: "Resource", opening: Opening) -> None:
        self.resource = resource
        self.opening = opening

    def done(self, wait: bool) -> bool:
        """Close it, if closing it does not wait or the caller may wait."""
        if not wait and self.opening.live and self.resource._busy():
            return False
        self.resource.close()
        return True


os.register_at_fork(after_in_child=forget_all)


def integer(value: Any, what: str, least: Optional[int] = None, most: Optional[int] = MOST) -> int:
    """Return an integer, also a NumPy one, that is in a range: pyACL would wrap one that is too large for C.

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
    """Return a time-out in the range that all functions accept: not negative, and finite."""
    if not isinstance(timeout, Real) or timeout != timeout:
        raise TypeError(f"timeout is {timeout!r}, expected seconds as a number")
    return min(max(timeout, 0), (2**31 - 1) / 1000)


def milliseconds(timeout: float) -> int:
    """Return a time-out in seconds as the milliseconds that C takes, at least 1."""
    return max(1, int(seconds(timeout) * 1000))


def future_of_loop() -> tuple[Any, Callable[[object], None]]:
    """Return a future of the running asyncio loop, and a callback that ends it from any thread."""
    import asyncio

    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle() -> None:
        if not future.done():  # it may have been cancelled
            future.set_result(None)

    def call(_data: object) -> None:
        try:
            loop.call_soon_threadsafe(settle)
        except RuntimeError:  # the loop was closed, and nothing waits for the future
            pass

    return future, call


def object_of(value: Any, kind: type[Self]) -> Self:
    """Return an argument that has to be an object of a class: a device would accept any number as its handle."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise TypeError(f"{value!r} is not an acl.{name}; wrap a handle of pyACL with acl.{name}.from_handle()")
    return value


def handle_of(value: Any, kind: type["Resource"]) -> int:
    """Return the handle of an argument that has to be an object of a class."""
    return object_of(value, kind).handle


def stream_handle(stream: "Stream") -> int:
    """Return the handle of a stream; raise an error for other objects, whose handles the library might accept.

    Every function of the objects that takes a stream calls this, or tells the type by itself where a call of Python
    would cost too much (``Graph.replay``).
    """
    handle = stream._handle if isinstance(stream, acl.Stream) else handle_of(stream, acl.Stream)
    return handle if handle.__class__ is int else handle.__index__()


def check_stream(stream: "Optional[Stream]") -> None:
    """Raise an error for an optional argument that is neither None nor a stream, where its handle is not used."""
    if stream is not None:
        stream_handle(stream)


class Closed:
    """The placeholder for the handle of a closed object; using it raises an error."""

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

    A class that owns handles defines ``_release`` and ``_released_by``, the name of its C function. Its ``__init__``
    calls ``_own`` when the handle exists, or sets the two slots itself, ``_opening`` last. ``_opening`` is None if the
    handle is borrowed or closed; otherwise the finalizer calls ``_drop``.
    """

    __slots__ = ()

    _opening: Optional[Opening]
    # Whether a program may leave it to the garbage collector, as it does arrays; other objects cause a warning.
    _is_value: ClassVar[bool] = False
    _released_by: ClassVar[str] = ""
    _closed: ClassVar[Closed] = Closed("Resource")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._closed = Closed(cls.__name__)

    def _own(self, handle: int, opening: Opening) -> None:
        """Become the owner of a handle, which is valid until the opening ends."""
        self._handle = handle
        self._opening = opening

    def _borrow(self, handle: int) -> None:
        """Use a handle that another owner destroys."""
        self._handle = integer(handle, f"acl.{type(self).__name__}: handle", 0, LONGEST)
        self._opening = None

    def _release(self, handle: int, opening: Opening) -> int:
        """Destroy the handle and return the status code."""
        raise NotImplementedError

    @property
    def handle(self) -> int:
        """The handle, as pyACL and C take it; this object still owns it."""
        handle = self._handle
        return handle if handle.__class__ is int else handle.__index__()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.__class__ is Closed

    @property
    def owned(self) -> bool:
        """Whether closing destroys the handle: False if it is borrowed, or closed."""
        return self._opening is not None

    def _busy(self) -> bool:
        """Return whether closing it would wait for work."""
        return False

    def _refuse_waiting(self, method: str) -> None:
        """Raise an error in a callback, for a method that waits for the object's work."""
        opening = self._opening
        if in_call() and opening is not None and opening.live and self._busy():
            refuse_in_call(f"{type(self).__name__}.{method}")

    def close(self) -> None:
        """Destroy the handle, unless it is borrowed; closing again does nothing."""
        self._refuse_waiting("close")
        handle, opening = self._handle, self._opening
        self._opening, self._handle = None, self._closed
        if opening is not None and opening.live:
            ret = self._release(handle, opening)
            if ret != 0 and ret != INVALID_HANDLE:
                # It still exists: a later close tries again.
                self._handle, self._opening = handle, opening
                raise self._failure(ret)

    def _failure(self, ret: int) -> AclError:
        """Return the error for a status code of :meth:`_release`."""
        return error_of(ret, self._released_by)

    def __enter__(self: Self) -> Self:
        self._handle.__index__()
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _drop(self) -> None:
        """Close an object that is garbage-collected unclosed, and warn."""
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
        """Return the part of the repr after the class and the handle."""
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
