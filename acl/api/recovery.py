"""Memory faults that cannot be corrected."""

from acl._lib import ffi, lib
from acl.api import values


def get_mem_uce_info(device_id, size):
    """Return ``(list of dicts, ret)``."""
    if size > values.LONGEST:
        return [], values.INVALID_PARAM
    array = ffi.new("aclrtMemUceInfo[]", max(size, 1))
    found = ffi.new("size_t *")
    ret = lib.aclrtGetMemUceInfo(device_id, array, size, found)
    return ([values.record(array[place]) for place in range(found[0])] if ret == 0 else []), ret


def mem_uce_repair(device_id, infos):
    """Repair the listed faults."""
    array = values.fill_array("aclrtMemUceInfo", infos, "acl.rt.mem_uce_repair", 2)
    return lib.aclrtMemUceRepair(device_id, array, len(infos))
