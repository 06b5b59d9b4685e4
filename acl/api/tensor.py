"""Tensors: the call whose result is an array that the library has allocated."""

import ctypes

from acl._lib import ffi, lib
from acl.api import values

# The library allocates with malloc, or with new[], which ends in it.
free = ctypes.CDLL(None).free
free.argtypes, free.restype = [ctypes.c_void_p], None


def get_view_shape(tensor):
    """Return ``(the view's dimensions, ret)``."""
    dims, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
    ret = lib.aclGetViewShape(values.pointer(tensor), dims, count)
    if ret != 0:
        return [], ret
    found = ffi.unpack(dims[0], count[0])
    free(values.address(dims[0]))
    return found, ret
