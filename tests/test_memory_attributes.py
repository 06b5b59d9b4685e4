"""Memory that is allocated with attributes, on the device and on the host."""

import numpy
import pytest
from helpers.expect import NULL, refused
from helpers.memory import TO_DEVICE, read, write

import acl
from acl._lib import ffi, lib

HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY = 0, 1, 2
HUGE, NORMAL = 2, 3  # kinds of pages of aclrtGetMemInfo
MIB = 1 << 20


def free(kind):
    """Return the free bytes of a kind of pages."""
    free, _, ret = acl.rt.get_mem_info(kind)
    assert ret == 0
    return free


@pytest.mark.parametrize("malloc", ["malloc_with_cfg", "malloc_for_task_scheduler"])
@pytest.mark.parametrize("attrs", [[], [{"attr": 1, "value": 3}, {"attr": 2, "value": 0}]])
def test_blocks_with_attributes(device, malloc, attrs):
    cfg = {"attrs": attrs, "numAttrs": len(attrs)} if attrs else {}
    for policy in range(6):
        address, ret = getattr(acl.rt, malloc)(100, policy, cfg)
        assert ret == 0
        write(address, numpy.arange(100, dtype=numpy.uint8))
        assert read(address, 100).tolist() == list(range(100))
        assert acl.rt.free(address) == 0


@pytest.mark.strict
@pytest.mark.parametrize("hints", [0, 0x100, 0x1000, 0x100000, 0x101000])
@pytest.mark.parametrize(
    "policy, size, normal, huge",
    [
        (HUGE_FIRST, 4096, 4096, 0),
        (HUGE_FIRST, 2 * MIB, 0, 2 * MIB),
        (HUGE_ONLY, 1, 0, 2 * MIB),
        (NORMAL_ONLY, 2 * MIB, 2 * MIB, 0),
        (3, 2 * MIB, 0, 2 * MIB),
        (4, 1, 0, 2 * MIB),
        (5, 2 * MIB, 2 * MIB, 0),
        (6, 1, 0, 1 << 30),
        (7, 1, 0, 1 << 30),
    ],
)
def test_hints_of_a_policy_change_no_page(device, policy, size, normal, huge, hints):
    """There is no padding, and policies for peers take huge pages, other than those of aclrtMalloc."""
    before = free(NORMAL), free(HUGE)
    address, ret = acl.rt.malloc_with_cfg(size, policy | hints, {})
    assert ret == 0
    assert (before[0] - free(NORMAL), before[1] - free(HUGE)) == (normal, huge)
    assert acl.rt.free(address) == 0


@pytest.mark.parametrize("attrs", [[], [{"attr": 1, "value": 3}, {"attr": 2, "value": 0}, {"attr": 3, "value": 1}]])
def test_pinned_memory_with_attributes(block, attrs):
    cfg = {"attrs": attrs, "numAttrs": len(attrs)} if attrs else {}
    host, ret = acl.rt.malloc_host_with_cfg(100, cfg)
    found, code = acl.rt.pointer_get_attributes(host)
    assert ret == code == 0 and found["location"] == {"id": 0, "type": 0}
    assert acl.rt.memset(host, 100, 7, 100) == 0
    target = block(100)
    assert acl.rt.memcpy(target, 100, host, 100, TO_DEVICE) == 0
    assert (read(target, 100) == 7).all()
    assert acl.rt.free_host(host) == 0


# ---- what they refuse ----

CONFIGURED = ["aclrtMallocWithCfg", "aclrtMallocForTaskScheduler"]


def config(*attributes, count=None):
    """Return an aclrtMallocConfig with attributes (kind, value)."""
    array = ffi.new("aclrtMallocAttribute[]", [{"attr": kind, "value": {"deviceId": n}} for kind, n in attributes])
    made = ffi.new("aclrtMallocConfig *", {"attrs": array, "numAttrs": len(attributes) if count is None else count})
    return made, array


@pytest.mark.parametrize("name", CONFIGURED)
def test_malloc_with_attributes(device, name):
    out = ffi.new("void **")

    def call(*attributes, size=1):
        made, array = config(*attributes)  # the library reads the array through the other
        return getattr(lib, name)(out, size, 0, made if attributes else NULL)

    def call_without_array(count):
        return getattr(lib, name)(out, 1, 0, ffi.new("aclrtMallocConfig *", {"attrs": NULL, "numAttrs": count}))

    refused(getattr(lib, name)(NULL, 1, 0, NULL), 100000, name, "devPtr is NULL")
    refused(call(size=0), 100000, name, "size is 0")
    refused(call(size=2**64 - 1), 100000, name, f"size is {2**64 - 1}")
    refused(call(size=2**45), 207001, name, f"size is {2**45}")
    refused(call_without_array(1), 100000, name, "cfg->attrs is NULL with cfg->numAttrs 1")
    refused(call_without_array(0), 107000, name, "cfg->attrs is NULL")
    refused(call((lib.ACL_RT_MEM_ATTR_DEVICE_ID, 5)), 107000, "deviceId is 5, expected the current device, 0")
    for kind in (lib.ACL_RT_MEM_ATTR_RSV, lib.ACL_RT_MEM_ATTR_VA_FLAG, 9):
        refused(call((lib.ACL_RT_MEM_ATTR_MODULE_ID, 1), (kind, 0)), 107000, f"cfg->attrs[1].attr is {kind}")
    assert out[0] == NULL
    acl.rt.reset_device(device)
    refused(call(), 107002, name)


def test_malloc_host_with_attributes(device):
    out, name = ffi.new("void **"), "aclrtMallocHostWithCfg"

    def call(*attributes):
        made, array = config(*attributes)  # the library reads the array through the other
        return lib.aclrtMallocHostWithCfg(out, 1, made)

    refused(lib.aclrtMallocHostWithCfg(NULL, 1, NULL), 100000, name, "ptr is NULL")
    refused(lib.aclrtMallocHostWithCfg(out, 0, NULL), 100000, name, "size is 0")
    refused(lib.aclrtMallocHostWithCfg(out, 2**50, NULL), 207001, name, f"size is {2**50}")
    for count in (0, 1):
        without = ffi.new("aclrtMallocConfig *", {"attrs": NULL, "numAttrs": count})
        refused(lib.aclrtMallocHostWithCfg(out, 1, without), 107000, name, "cfg->attrs is NULL")
    refused(call((lib.ACL_RT_MEM_ATTR_DEVICE_ID, 5)), 107000, "deviceId is 5, expected the current device, 0")
    refused(call((lib.ACL_RT_MEM_ATTR_VA_FLAG, 2)), 107000, "cfg->attrs[0].value.vaFlag is 2, expected 0, or 1")
    for kind in (lib.ACL_RT_MEM_ATTR_RSV, 9):
        refused(call((kind, 0)), 107000, f"cfg->attrs[0].attr is {kind}", "or ACL_RT_MEM_ATTR_VA_FLAG (3)")
    assert out[0] == NULL
    acl.rt.reset_device(device)
    refused(lib.aclrtMallocHostWithCfg(out, 1, NULL), 107002, name)
