"""Tensor descriptions."""

from acl._lib import ffi, lib
from acl.api import values


def get_tensor_desc_dim_range(desc, index, count):
    """Return ``(list of bounds, ret)``; None in place of the list on failure."""
    if count > values.LONGEST:
        return None, values.INVALID_PARAM
    bounds = ffi.new("int64_t[]", max(count, 2))
    ret = lib.aclGetTensorDescDimRange(values.pointer(desc), index, count, bounds)
    return (list(bounds[0:count]) if ret == 0 else None), ret
