"""Python functions that C calls: stream callbacks and exception callbacks.

An exception of a callback is passed to :data:`sys.unraisablehook` at once, and the call in C continues. Callbacks that
are still queued when the interpreter exits are never called; a line on stderr names them.
"""

import atexit
import functools
import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from acl._calls import enter, leave
from acl._hooks import instance_destroyed
from acl._lib import _acl, ffi, lib
from acl.api import capture, values

# Launched callbacks by the number that C passes back as their user data. Each runs once and is removed, unless a
# capture has recorded it: then it stays until the instance is destroyed.
launched: dict[int, tuple[Callable[[Any], Any], Any]] = {}
captured: dict[int, set[int]] = {}
numbers = itertools.count(1)
exception_callbacks: list[Callable[[int], Any]] = []


@ffi.def_extern(onerror=lambda kind, error, trace: _acl.unraisable(error, launch_callback))
def acl_on_callback(number):
    """Run a launched callback on the thread that is in process_report."""
    enter()
    function = data = None
    try:
        number = values.address(number)
        function, data = launched[number] if captured and is_captured(number) else launched.pop(number)
        function(data)
    except BaseException as error:
        _acl.unraisable(error, function)
    finally:
        # These may hold the last reference to the stream, whose finalizer must run while the call is counted.
        del function, data
        leave()


@ffi.def_extern(onerror=lambda kind, error, trace: _acl.unraisable(error, set_exception_info_callback))
def acl_on_exception(info):
    """Pass the information about a failed task to the registered function."""
    enter()
    try:
        for function in exception_callbacks[-1:]:
            try:
                function(values.address(info))
            except BaseException as error:
                _acl.unraisable(error, function)
    finally:
        function = None
        leave()


def is_captured(number):
    """Return whether a capture has recorded a callback, which can then be called again."""
    return any(number in numbers for numbers in captured.values())


def launch(function, data, stream, *block_type):
    """Queue ``function(data)``: without a block type for the callback thread of the context."""
    number = next(numbers)
    launched[number] = function, data
    instance = capture.recorded_by(stream)
    if instance:
        captured.setdefault(instance, set()).add(number)
    ret = _acl.launch(number, stream, *block_type)
    if ret != 0:
        launched.pop(number, None)
        captured.get(instance, set()).discard(number)
    return ret


def launch_callback(function, data, block_type, stream):
    """Queue ``function(data)``; the function gets the same object as data."""
    return launch(function, data, stream, block_type)


def launch_host_func(stream, function, data):
    """Queue ``function(data)`` for the callback thread of the context."""
    return launch(function, data, stream)


@instance_destroyed.register
def forget_captured(instance):
    """Discard the functions that a destroyed instance would have called."""
    for number in captured.pop(instance, ()):
        launched.pop(number, None)


def set_exception_info_callback(function):
    """Call ``function(info)`` when a task fails; None removes the function."""
    previous = exception_callbacks[:]
    exception_callbacks[:] = [] if function is None else [function]
    ret = lib.aclrtSetExceptionInfoCallback(ffi.NULL if function is None else lib.acl_on_exception)
    if ret != 0:
        exception_callbacks[:] = previous
    return ret


def name_of(function):
    """Return the name of a callback; a partial function is named after the function that it wraps."""
    while isinstance(function, functools.partial):
        function = next(filter(callable, function.args), function.func)
    return getattr(function, "__qualname__", None) or repr(function)


@atexit.register
def _report_queued():
    """Report the callbacks that are still registered and will not be called."""
    waiting = [name_of(function) for number, (function, _) in launched.copy().items() if not is_captured(number)]
    if waiting:
        names = ", ".join(waiting[:4]) + (", ..." if len(waiting) > 4 else "")
        count = "1 callback was" if len(waiting) == 1 else f"{len(waiting)} callbacks were"
        print(
            f"acl: {count} queued and not called: {names}; synchronise their streams before the program ends or "
            "destroys them by force",
            file=sys.stderr,
        )


os.register_at_fork(after_in_child=launched.clear)
os.register_at_fork(after_in_child=captured.clear)
