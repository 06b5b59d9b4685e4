"""Function pointers over Python functions."""

from acl._lib import _acl, ffi


def closure(c_type, function, origin, failed):
    """Return a C function pointer over ``function``; it answers ``failed`` when that raises."""

    def report(kind, error, trace):
        _acl.unraisable(error, origin)

    return ffi.callback(c_type, function, error=failed, onerror=report)
