"""Memory of tensors beside an inaccessible page: ``ACL_TEST_EDGE=last`` or ``first`` says which byte touches it.

With this variable, :class:`helpers.tensors.Device` takes the memory of its tensors from here: host memory that is
mapped for the device. A kernel that reads or writes beyond that byte gets a SIGSEGV, which ends the tests' process. Of
an array, only the bytes between the first and the last element of the tensor's view are in this memory.
"""

import ctypes
import mmap
import os

import acl

EDGE = os.environ.get("ACL_TEST_EDGE", "")
called = set()  # the operators whose second phase was called, by their names in acl.nn
MAPPED = 2
NO_ACCESS = 0
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def allocate(size, edge):
    """Return the address of mapped memory whose last or first byte touches the inaccessible page, and its release."""
    assert edge in ("last", "first"), f"ACL_TEST_EDGE is {edge!r}, expected last or first"
    pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    access, kind = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANON
    start = LIBC.mmap(None, pages + mmap.PAGESIZE, access, kind, -1, 0)
    assert start not in (None, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())
    usable, closed = (start, start + pages) if edge == "last" else (start + mmap.PAGESIZE, start)
    assert LIBC.mprotect(closed, mmap.PAGESIZE, NO_ACCESS) == 0
    assert acl.rt.host_register_v2(usable, pages, MAPPED) == 0, acl.get_recent_err_msg()

    def release(_):
        acl.rt.host_unregister(usable)  # fails after a reset, which forgets registrations
        assert LIBC.munmap(start, pages + mmap.PAGESIZE) == 0

    return (closed - size if edge == "last" else usable), release


def bounds(base, view):
    """Return where the bytes of a view begin and end in its contiguous array."""
    place = view.ctypes.data - base.ctypes.data
    ways = [(size - 1) * stride for size, stride in zip(view.shape, view.strides)]
    return place + sum(min(way, 0) for way in ways), place + sum(max(way, 0) for way in ways) + view.itemsize


def write_called():
    """Append the names of the operators to the file that ACL_TEST_CALLED names; every process of the tests does so."""
    path = os.environ.get("ACL_TEST_CALLED")
    if path and called:
        with open(path, "a", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in sorted(called)))
