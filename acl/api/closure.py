"""Function pointers over Python functions."""

from acl._calls import guarded, raised, text_of
from acl._lib import _acl, ffi, is_simulator, lib


def closure(c_type, function, origin, failed):
    """Return a C function pointer that calls ``function``, and returns ``failed`` to C after an exception.

    The simulator gets the text of the exception as the reason of the failure.
    """

    def report(error):
        _acl.unraisable(error, origin)
        if is_simulator:
            text = text_of(error)
            raised.append((text, error))
            lib.aclsimSetReason(text.encode(errors="replace"))

    # Only a result of a wrong type reaches cffi's error handling.
    return ffi.callback(
        c_type, guarded(function, failed, report), error=failed, onerror=lambda kind, error, trace: report(error)
    )
