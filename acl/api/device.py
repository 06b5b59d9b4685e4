"""Calls that close a device, and device facts that come as records."""

from acl._hooks import device_closed
from acl._lib import ffi, lib, present
from acl.api import values


def reset_device(device_id):
    """Undo one ``set_device``; the last one closes the device, which CANN 8.1 has no call to ask for."""
    ret = lib.aclrtResetDevice(device_id)
    if ret == 0 and present("aclrtGetPrimaryCtxState"):
        active = ffi.new("int32_t *")
        if lib.aclrtGetPrimaryCtxState(device_id, ffi.NULL, active) == 0 and not active[0]:
            device_closed(device_id)
    return ret


def reset_device_force(device_id):
    """Close the device."""
    ret = lib.aclrtResetDeviceForce(device_id)
    if ret == 0:
        device_closed(device_id)
    return ret


def get_device_utilization_rate(device_id):
    """Return ``(dict of rates, ret)``."""
    return values.out_record("aclrtUtilizationInfo", lib.aclrtGetDeviceUtilizationRate, device_id, rename=values.snake)


def device_get_uuid(device_id):
    """Return ``({"bytes": 16 numbers}, ret)``."""
    slot = values.ffi.new("aclrtUuid *")
    ret = lib.aclrtDeviceGetUuid(device_id, slot)
    return ({"bytes": list(values.ffi.buffer(slot)[0:16])} if ret == 0 else {}), ret
