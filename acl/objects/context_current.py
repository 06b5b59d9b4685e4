"""The calling thread's current context: reading it, changing it, and calls in another one.

A thread has at most one current context. It starts with none, and cannot go back to none. Making a device current makes
its default context current. A stream can be used only while the context in which it was created is current; events and
memory belong to the device alone. The objects never change the program's context, except inside a call that has to run
in another one and restores it before it returns (:func:`call_in`), such as a finalizer, which runs on any thread.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Callable, TypeVar

from acl import mdl, rt
from acl._lib import lib
from acl.errors import ContextError, error_of
from acl.objects.resource import Opening, current_opening

T = TypeVar("T")
RELAXED = lib.ACL_MODEL_RI_CAPTURE_MODE_RELAXED  # lets a thread make synchronous calls during captures

# Streams end with their explicit context as they do with a device, so each such context has an opening of its own.
explicit: dict[int, Opening] = {}


def current_handle() -> int:
    """Return the handle of the thread's current context."""
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
    """Return the opening with which the streams of the current context end; ``handle`` is that context."""
    return explicit.get(handle) or current_opening()


def call_in(handle: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function while a context is current, and restore the thread's context."""
    before, ret = rt.get_context()
    if ret == 0 and before == handle:
        return function(*arguments)
    if ret == 0:
        make_current(handle)
        try:
            return function(*arguments)
        finally:
            rt.set_context(before)
    return call_in_thread(handle, function, *arguments)  # this thread could not go back to having no context


def call_in_thread(handle: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function in another thread, in which a context is current, and wait for it."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            make_current(handle)
            results.append(function(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)  # if the wait is interrupted, the process can end
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextlib.contextmanager
def relaxed() -> Iterator[None]:
    """Allow the thread synchronous calls while a stream may be captured; they are not part of the capture."""
    before, ret = mdl.ri_capture_thread_exchange_mode(RELAXED)
    try:
        yield
    finally:
        if ret == 0:  # versions without the call have no captures
            mdl.ri_capture_thread_exchange_mode(before)
