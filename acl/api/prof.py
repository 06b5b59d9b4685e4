"""Profiling results with texts."""

from typing import Any

from acl._lib import ffi, lib
from acl.api import values

# C uses the address of the file descriptor as long as its configuration exists.
descriptors: dict[int, Any] = {}


def create_subscribe_config(switch, metrics, descriptor):
    """Return the configuration's handle, 0 on failure."""
    slot = ffi.new("int32_t *", ffi.cast("int32_t", descriptor))
    handle = values.address(lib.aclprofCreateSubscribeConfig(switch, metrics, slot))
    if handle:
        descriptors[handle] = slot
    return handle


def read(function, info, size, index, length):
    """Return ``(text, ret)`` for a length that the caller gives."""
    if length > values.LONGEST:
        return "", values.INVALID_PARAM
    return values.out_text(length, function, values.pointer(info), size, index & 0xFFFFFFFF, None, length)


def read_whole(measure, function, info, size, index):
    """Return ``(text or None, ret)``, asking for the length first."""
    length = ffi.new("size_t *")
    ret = measure(values.pointer(info), size, index & 0xFFFFFFFF, length)
    return (None, ret) if ret != 0 else read(function, info, size, index, length[0])


def get_op_type(info, size, index, length):
    """Return ``(type, ret)``."""
    return read(lib.aclprofGetOpType, info, size, index, length)


def get_op_name(info, size, index, length):
    """Return ``(name, ret)``."""
    return read(lib.aclprofGetOpName, info, size, index, length)


def get_op_type_v2(info, size, index):
    """Return ``(type, ret)`` without a length."""
    return read_whole(lib.aclprofGetOpTypeLen, lib.aclprofGetOpType, info, size, index)


def get_op_name_v2(info, size, index):
    """Return ``(name, ret)`` without a length."""
    return read_whole(lib.aclprofGetOpNameLen, lib.aclprofGetOpName, info, size, index)
