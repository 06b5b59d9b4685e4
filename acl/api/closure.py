"""Function pointers over Python functions."""

from acl._calls import guarded, raised, text_of
from acl._lib import _acl, ffi, is_simulator, lib


def closure(c_type, function, origin, failed):
    """Return a C function pointer over ``function``; it returns ``failed`` to C when that raises.

    Where the simulator asks for a reason, it gets the exception.
    """

    def report(error):
        _acl.unraisable(error, origin)
        if is_simulator:
            text = text_of(error)
            raised.append((text, error))
            lib.aclsimSetReason(text.encode(errors="replace"))

    # What is left to cffi is a result of a wrong type.
    return ffi.callback(
        c_type, guarded(function, failed, report), error=failed, onerror=lambda kind, error, trace: report(error)
    )
