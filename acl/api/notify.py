"""Notifies: time-outs outside the C type, keys shared with other processes."""

from acl._lib import lib
from acl.api import values


def wait_and_reset_notify(notify, stream, timeout):
    """Wait on the stream; raise an error for a time-out of more than 32 bits, instead of wrapping it."""
    if timeout > 0xFFFFFFFF:
        raise TypeError("acl.rt.wait_and_reset_notify() argument 3 must be an int from 0 to 4294967295")
    return lib.aclrtWaitAndResetNotify(values.pointer(notify), values.pointer(stream), timeout)


def notify_get_export_key(notify, length, flags):
    """Return ``(key, ret)``."""
    if length >= values.KEY_LIMIT:
        raise ValueError(f"acl.rt.notify_get_export_key() argument 2 must be below 1024, not {length}")
    return values.out_text(length, lib.aclrtNotifyGetExportKey, values.pointer(notify), None, length, flags)
