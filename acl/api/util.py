"""Addresses of NumPy arrays and bytes, and the threads of pyACL. These have no C function."""

import atexit
import errno
import operator
import os
import threading
import warnings

from acl._lib import ffi, lib

LOWEST, HIGHEST = 1 << 16, 1 << 63  # a program has memory only from LOWEST on and below HIGHEST
# By thread id. The system may reuse the id of a thread that has ended; the oldest thread comes first.
threads: dict[int, list["_Thread"]] = {}


def _array(function, data):
    """Return an argument, or raise an error unless it is a NumPy array."""
    import numpy

    if not isinstance(data, numpy.ndarray):
        raise ValueError(f"acl.util.{function}() argument 1 must be numpy.ndarray, not '{type(data).__name__}'")
    return data


def _index(function, position, value):
    """Return an argument as an int, or raise an error."""
    try:
        return operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"acl.util.{function}() argument {position} must be int, not '{kind}'") from None


def _host_memory(function, ptr, size):
    """Return host memory at an address that the program gives; refuse addresses that cannot be valid."""
    address = _index(function, 1, ptr)
    if size < 0:
        raise ValueError(f"acl.util.{function}() cannot read {size} bytes, expected 0 or more")
    if size and not LOWEST <= address < HIGHEST:
        raise ValueError(
            f"acl.util.{function}() argument 1 is {address:#x}, expected the address of {size} bytes of host memory"
        )
    return ffi.buffer(ffi.cast("char *", address), size)


def _deprecated(function, advice):
    warnings.warn(f"acl.util.{function}() is deprecated, use {advice}", Warning, stacklevel=3)


def numpy_to_ptr(data, /):
    """Return the address of an array's data; the caller keeps the array alive."""
    _deprecated("numpy_to_ptr", "acl.util.bytes_to_ptr(array.tobytes())")
    array = _array("numpy_to_ptr", data)
    if not array.flags.c_contiguous:
        warnings.warn("acl.util.numpy_to_ptr() got an array that is not contiguous", Warning, stacklevel=2)
    return int(array.ctypes.data)


def numpy_contiguous_to_ptr(data, /):
    """Return ``(address, array)``; the array keeps the memory alive, and is a copy if the data is not contiguous."""
    import numpy

    _deprecated("numpy_contiguous_to_ptr", "acl.util.bytes_to_ptr(array.tobytes())")
    array = numpy.ascontiguousarray(_array("numpy_contiguous_to_ptr", data))
    return int(array.ctypes.data), array


def ptr_to_numpy(ptr, shape, npy_type, /):
    """Return a writable view of host memory, which it does not own; the type is a NumPy type number."""
    import numpy

    _deprecated("ptr_to_numpy", "numpy.frombuffer(acl.util.ptr_to_bytes(ptr, size), dtype)")
    if not isinstance(shape, tuple):
        raise TypeError(f"acl.util.ptr_to_numpy() argument 2 must be tuple, not '{type(shape).__name__}'")
    number = _index("ptr_to_numpy", 3, npy_type)
    kind = next((dtype for dtype in map(numpy.dtype, numpy.sctypeDict.values()) if dtype.num == number), None)
    if kind is None or kind.itemsize == 0:
        raise ValueError(f"acl.util.ptr_to_numpy() argument 3 must be a NumPy type number (float32: 11), not {number}")
    size = kind.itemsize
    for extent in shape:
        if _index("ptr_to_numpy", 2, extent) < 0:
            raise ValueError(f"acl.util.ptr_to_numpy() argument 2 is {shape}, expected no negative dimension")
        size *= operator.index(extent)
    return numpy.frombuffer(_host_memory("ptr_to_numpy", ptr, size), dtype=kind).reshape(shape)


def bytes_to_ptr(data, /):
    """Return the address of the bytes object's storage, valid as long as the object exists."""
    if type(data) is not bytes:
        raise ValueError(f"acl.util.bytes_to_ptr() argument 1 must be bytes, not '{type(data).__name__}'")
    return int(ffi.cast("uintptr_t", ffi.from_buffer(data)))


def ptr_to_bytes(ptr, size, /):
    """Return a copy of host memory."""
    return bytes(_host_memory("ptr_to_bytes", ptr, _index("ptr_to_bytes", 2, size)))


class _Thread(threading.Thread):
    """A thread that keeps the exception of its function, which Python prints at once."""

    def __init__(self, function, arguments):
        super().__init__(daemon=True, name=getattr(function, "__name__", None))
        self.call = function, arguments
        self.error = None

    def run(self):
        function, arguments = self.call
        try:
            function() if arguments is None else function(arguments)
        except BaseException as error:
            self.error = error
            raise


def start_thread(function, arguments, /):
    """Run ``function(arguments)`` on a new thread, or ``function()`` if arguments is None.

    Returns
    -------
    tuple
        ``(thread_id, ret)``: the id that :func:`acl.rt.subscribe_report` takes; ret is a pthread error number.
    """
    if not callable(function):
        raise TypeError(f"acl.util.start_thread() argument 1 must be callable, not '{type(function).__name__}'")
    thread = _Thread(function, arguments)
    try:
        thread.start()
    except RuntimeError:
        return 0, errno.EAGAIN
    threads.setdefault(thread.ident, []).append(thread)
    return thread.ident, 0


def stop_thread(thread_id, /):
    """Wait until a thread has ended; raise RuntimeError if its function raised an exception."""
    number = _index("stop_thread", 1, thread_id)
    if number == threading.get_ident():
        return errno.EDEADLK
    found = threads.get(number)
    if not found:
        return errno.ESRCH
    found[0].join()
    thread = found.pop(0)
    if not found:
        threads.pop(number, None)
    if thread.error is not None and not isinstance(thread.error, SystemExit):
        raise RuntimeError(f"the function of thread {number} raised {thread.error!r}") from thread.error
    return 0


def _stop_all():
    """End the report threads before the interpreter: a callback after its end would crash."""
    lib.acl_pycall_exit()
    for thread in [thread for found in threads.values() for thread in found]:
        thread.join(timeout=1)


atexit.register(_stop_all)
os.register_at_fork(after_in_child=threads.clear)
