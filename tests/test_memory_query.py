"""Memory: what it is used for, of which type addresses are, and what devices can do with host memory."""

import pytest
from helpers.expect import NULL, pointer, refused

import acl
from acl._lib import ffi, lib

rt = acl.rt

DEV, DVPP, RESERVED = 2, 8, 16
MIB = 1 << 20
P950, P310B, P310P, P910, PA2, PA3 = (
    "Ascend910_95", "Ascend310B1", "Ascend310P3", "Ascend910A", "Ascend910B3", "Ascend910_9392"
)  # fmt: skip
SOCS = [P950, PA3, PA2, P310B, P310P, P910]


def usage(room=4):
    """Return (name, now, peak) of each component."""
    found, count = ffi.new("aclrtMemUsageInfo[]", room), ffi.new("size_t *")
    assert lib.aclrtGetMemUsageInfo(0, found, room, count) == 0
    return [(ffi.string(one.name).decode(), one.curMemSize, one.memPeakSize) for one in found[0 : count[0]]]


def test_usage_of_components_follows_what_is_allocated(device):
    def in_use():
        parts = usage()
        assert [now for _, now, _ in parts] == sorted((now for _, now, _ in parts), reverse=True)
        assert all(name and now <= peak for name, now, peak in parts)
        return sum(now for _, now, _ in parts), sum(peak for _, _, peak in parts)

    before, _ = in_use()
    block, ret = rt.malloc(64 * MIB, 0)
    assert ret == 0
    now, _ = in_use()
    assert now >= before + 64 * MIB
    assert rt.free(block) == 0
    after, peak = in_use()
    assert after < now and peak >= before + 64 * MIB


@pytest.mark.strict
def test_usage_is_what_is_not_free(device):
    assert rt.reset_device_force(device) == rt.set_device(device) == 0
    assert usage() == [("APP", 0, 0)]
    small, _ = rt.malloc(1, 0)
    large, _ = rt.malloc(4 * MIB, 0)
    free, total, _ = rt.get_mem_info(1)
    ((name, now, peak),) = usage(1)
    assert (name, now) == ("APP", total - free)
    assert now <= peak <= now + 8 * MIB
    assert rt.free(small) == rt.free(large) == 0
    assert usage() == [("APP", 0, peak)]
    assert rt.reset_device(device) == rt.set_device(device) == 0
    assert usage() == [("APP", 0, 0)]


@pytest.mark.needs_sim
def test_usage_of_each_device(configure):
    configure(devices=2)
    found, count = ffi.new("aclrtMemUsageInfo *"), ffi.new("size_t *")
    assert lib.aclrtGetMemUsageInfo(1, found, 1, count) == 0, "before any device is open"
    assert (count[0], found.curMemSize, found.memPeakSize) == (1, 0, 0)
    assert rt.set_device(0) == 0
    assert rt.malloc(3 * MIB, 0)[1] == 0
    for device, now in ((0, 4 * MIB), (1, 0)):
        assert lib.aclrtGetMemUsageInfo(device, found, 1, count) == 0
        assert found.curMemSize == now


def types(addresses, kind):
    """Return whether all addresses are of the types."""
    found = ffi.new("uint32_t *", 7)
    ret = lib.aclrtCheckMemType([pointer(address) for address in addresses], len(addresses), kind, found, 0)
    assert ret == 0
    return found[0]


def test_types_of_memory(block, pinned):
    one, other, (host, _) = block(64), block(4 * MIB), pinned(64)
    assert types([one], DEV) == types([one, other + MIB], DEV | DVPP | RESERVED) == 1
    assert types([one], RESERVED) == 0
    assert types([one, host], DEV) == types([host], DEV | DVPP | RESERVED) == 0
    assert types([ffi.cast("uintptr_t", ffi.addressof(ffi.new("int[1]")))], DEV) == 0


@pytest.mark.strict
def test_freed_memory_has_no_type(memory):
    gone = memory.block(64)
    assert memory.free(gone) == 0
    assert types([gone], DEV) == types([0], DEV) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", SOCS)
def test_media_memory(configure, soc):
    """The newest chips treat it as any other."""
    configure(soc=soc)
    assert rt.set_device(0) == 0
    block, _ = rt.malloc(64, 0)
    assert types([block], DVPP) == (1 if soc == P950 else 0)


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", SOCS)
def test_engines_that_reach_host_memory(configure, soc):
    configure(soc=soc)
    found, reached = ffi.new("aclrtHostMemMapCapability *"), []
    for engine in range(10):
        assert lib.aclrtHostMemMapCapabilities(0, engine, found) == 0
        reached.append(found[0])
    assert reached == {P950: [1] * 10, PA2: [1] * 8 + [0] * 2, PA3: [1] * 8 + [0] * 2}.get(soc, [0] * 10)


def test_no_operation_on_host_memory_is_atomic(device):
    operations = ffi.new("aclrtAtomicOperation[]", [0, 12, 30, 44])
    capabilities = ffi.new("uint32_t[]", [7] * 4)
    assert lib.aclrtDeviceGetHostAtomicCapabilities(capabilities, operations, 4, 0) == 0
    if acl.is_simulator:
        assert list(capabilities) == [0] * 4


INFO, COUNT, WORD = ffi.new("aclrtMemUsageInfo[4]"), ffi.new("size_t *"), ffi.new("uint32_t *")
LIST, ENGINE = ffi.new("void *[4]"), ffi.new("aclrtHostMemMapCapability *")
OPERATION, NUMBER = ffi.new("aclrtAtomicOperation *"), ffi.new("int *", 13)
UNKNOWN = ffi.cast("aclrtAtomicOperation *", NUMBER)
REFUSED = [  # call, code, what is said
    (lambda: lib.aclrtGetMemUsageInfo(0, NULL, 1, COUNT), 100000, "memUsageInfo is NULL"),
    (lambda: lib.aclrtGetMemUsageInfo(0, INFO, 1, NULL), 100000, "outputNum is NULL"),
    (lambda: lib.aclrtGetMemUsageInfo(0, INFO, 0, COUNT), 107000, "inputNum is 0"),
    (lambda: lib.aclrtGetMemUsageInfo(-1, INFO, 1, COUNT), 107001, "deviceId is -1"),
    (lambda: lib.aclrtGetMemUsageInfo(99, INFO, 1, COUNT), 107001, "deviceId is 99"),
    (lambda: lib.aclrtCheckMemType(NULL, 1, DEV, WORD, 0), 100000, "addrList is NULL"),
    (lambda: lib.aclrtCheckMemType(LIST, 1, DEV, NULL, 0), 100000, "checkResult is NULL"),
    (lambda: lib.aclrtCheckMemType(LIST, 0, DEV, WORD, 0), 107000, "size is 0"),
    *(
        (lambda kind=kind: lib.aclrtCheckMemType(LIST, 1, kind, WORD, 0), 107000, f"memType is {kind:#x}")
        for kind in (0x1, 0x4, 0x20, 0x80000002)
    ),
    (lambda: lib.aclrtCheckMemType(LIST, 1, 0, WORD, 0), 107000, "memType is 0, expected"),
    (lambda: lib.aclrtCheckMemType(LIST, 1, DEV, WORD, 1), 107000, "reserve is 1"),
    (lambda: lib.aclrtHostMemMapCapabilities(0, 0, NULL), 100000, "capabilities is NULL"),
    (lambda: lib.aclrtHostMemMapCapabilities(99, 0, ENGINE), 107001, "deviceId is 99"),
    (lambda: lib.aclrtHostMemMapCapabilities(2**32 - 1, 0, ENGINE), 107001, f"deviceId is {2**32 - 1}"),
    (lambda: lib.aclrtHostMemMapCapabilities(0, 10, ENGINE), 107000, "hacType is 10"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(NULL, OPERATION, 1, 0), 107000, "capabilities is NULL"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(WORD, NULL, 1, 0), 107000, "operations is NULL"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(WORD, OPERATION, 0, 0), 107000, "count is 0"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(WORD, OPERATION, 1025, 0), 107000, "count is 1025"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(WORD, UNKNOWN, 1, 0), 107000, "operations[0] is 13"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(WORD, OPERATION, 1, 99), 107001, "deviceId is 99"),
    (lambda: lib.aclrtDeviceGetHostAtomicCapabilities(WORD, OPERATION, 1, -1), 107001, "deviceId is -1"),
]


@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_arguments(device, row):
    call, code, said = REFUSED[row]
    refused(call(), code, said)


@pytest.mark.needs_sim
def test_the_newest_chips_do_not_count_by_components(configure):
    configure(soc=P950)
    refused(lib.aclrtGetMemUsageInfo(0, INFO, 1, COUNT), 207000, P950)
