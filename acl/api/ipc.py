"""Memory shared with other processes."""

from acl._lib import lib
from acl.api import values


def ipc_mem_get_export_key(dev_ptr, size, length, flags):
    """Return ``(key, ret)``."""
    if length >= values.KEY_LIMIT:
        raise ValueError(f"acl.rt.ipc_mem_get_export_key() argument 3 must be below 1024, not {length}")
    return values.out_text(length, lib.aclrtIpcMemGetExportKey, values.pointer(dev_ptr), size, None, length, flags)
