"""Device facts that come as records."""

from acl._lib import lib
from acl.api import values


def get_device_utilization_rate(device_id):
    """Return ``(dict of rates, ret)``."""
    return values.out_record("aclrtUtilizationInfo", lib.aclrtGetDeviceUtilizationRate, device_id, rename=values.snake)


def device_get_uuid(device_id):
    """Return ``({"bytes": 16 numbers}, ret)``."""
    slot = values.ffi.new("aclrtUuid *")
    ret = lib.aclrtDeviceGetUuid(device_id, slot)
    return ({"bytes": list(values.ffi.buffer(slot)[0:16])} if ret == 0 else {}), ret
