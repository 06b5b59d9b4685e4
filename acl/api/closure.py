"""Function pointers over Python functions."""

from acl._lib import _acl, ffi, is_simulator, lib


def closure(c_type, function, origin, failed):
    """Return a C function pointer over ``function``; it answers ``failed`` when that raises.

    Where the simulator asks for a reason, it gets the exception.
    """

    def report(kind, error, trace):
        _acl.unraisable(error, origin)
        if is_simulator:
            lib.aclsimSetReason(f"{type(error).__name__}: {error}".encode(errors="replace"))

    return ffi.callback(c_type, function, error=failed, onerror=report)
