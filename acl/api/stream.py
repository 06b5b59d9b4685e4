"""Stream attributes."""

from acl._lib import ffi, lib
from acl.api import values

# The member of aclrtStreamAttrValue, a union, that each attribute uses.
MEMBERS = {
    lib.ACL_STREAM_ATTR_FAILURE_MODE: "failureMode",
    lib.ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: "overflowSwitch",
    lib.ACL_STREAM_ATTR_USER_CUSTOM_TAG: "userCustomTag",
}


def set_stream_attribute(stream, attribute, value):
    """Set one attribute from a dict with its key."""
    slot = ffi.new("aclrtStreamAttrValue *")
    values.fill(slot, value)
    return lib.aclrtSetStreamAttribute(values.pointer(stream), attribute, slot)


def get_stream_attribute(stream, attribute):
    """Return ``({key: value}, ret)``."""
    slot = ffi.new("aclrtStreamAttrValue *")
    ret = lib.aclrtGetStreamAttribute(values.pointer(stream), attribute, slot)
    member = MEMBERS.get(attribute, "reserve")
    return ({member: values.record(slot)[member]} if ret == 0 else {}), ret
