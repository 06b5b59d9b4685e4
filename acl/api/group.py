"""Groups of cores."""

from acl._lib import ffi, lib
from acl.api import values


def get_group_info_detail(info, index, attribute):
    """Return ``(numbers, 0)``; a failure raises RuntimeError, unlike every other call."""
    numbers = ffi.new("int32_t[]", values.KEY_LIMIT)
    used = ffi.new("size_t *")
    ret = lib.aclrtGetGroupInfoDetail(values.pointer(info), index, attribute, numbers, ffi.sizeof(numbers), used)
    if ret != 0:
        raise RuntimeError(f"acl.rt.get_group_info_detail() failed with {ret} for group {index}, attribute {attribute}")
    return list(numbers[0 : used[0] // ffi.sizeof("int32_t")]), ret
