"""Physical memory described by a dict."""

from acl._lib import ffi, lib
from acl.api import values


def properties(prop):
    """Return an ``aclrtPhysicalMemProp *`` from a dict."""
    struct = ffi.new("aclrtPhysicalMemProp *")
    values.fill(struct, prop)
    return struct


def malloc_physical(size, prop, flags):
    """Return ``(handle, ret)``."""
    return values.out_pointer(lib.aclrtMallocPhysical, None, size, properties(prop), flags)


def mem_get_allocation_granularity(prop, option):
    """Return ``(bytes, ret)``."""
    granularity = ffi.new("size_t *")
    ret = lib.aclrtMemGetAllocationGranularity(properties(prop), option, granularity)
    return granularity[0], ret
