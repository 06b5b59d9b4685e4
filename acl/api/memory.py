"""Allocation with attributes, and the attributes of an address."""

from acl._lib import ffi, lib
from acl.api import values


def config(cfg, call, position):
    """Return ``(aclrtMallocConfig * or NULL, the memory it points to)`` from a dict; {} means no attributes."""
    if not cfg:
        return ffi.NULL, None
    items = cfg.get("attrs")
    attributes = values.fill_array("aclrtMallocAttribute", items if isinstance(items, list) else [], call, position)
    struct = ffi.new("aclrtMallocConfig *")
    values.fill(struct, {"numAttrs": cfg.get("numAttrs")})
    struct.attrs = attributes
    return struct, attributes


def malloc_with_cfg(size, policy, cfg):
    """Return ``(device address, ret)``."""
    struct, attributes = config(cfg, "acl.rt.malloc_with_cfg", 3)
    return values.out_pointer(lib.aclrtMallocWithCfg, None, size, policy, struct)


def malloc_for_task_scheduler(size, policy, cfg):
    """Return ``(device address, ret)``."""
    struct, attributes = config(cfg, "acl.rt.malloc_for_task_scheduler", 3)
    return values.out_pointer(lib.aclrtMallocForTaskScheduler, None, size, policy, struct)


def malloc_host_with_cfg(size, cfg):
    """Return ``(host address, ret)``."""
    struct, attributes = config(cfg, "acl.rt.malloc_host_with_cfg", 2)
    return values.out_pointer(lib.aclrtMallocHostWithCfg, None, size, struct)


def pointer_get_attributes(ptr):
    """Return ``({"location": {"id", "type"}, "page_size", "rsv"}, ret)``."""
    return values.out_record(
        "aclrtPtrAttributes", lib.aclrtPointerGetAttributes, values.pointer(ptr), rename=values.snake
    )
