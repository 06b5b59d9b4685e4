"""What virtual memory refuses, and what it says."""

import pytest
from helpers.expect import NULL, in_thread, pointer, refused
from helpers.vmm import (
    DEVICE,
    GIB,
    HOST,
    HOST_NUMA,
    HUGE,
    MEM_NORMAL,
    access,
    c_prop,
    give_access,
    memory,
    prop,
    retain,
)

import acl
from acl._lib import ffi, lib

rt = acl.rt
TIB = 1 << 40
PLACE, SIZE, FLAG = ffi.new("void **"), ffi.new("size_t *"), ffi.new("uint64_t *")
HERE = ffi.new("aclrtMemLocation *", {"id": 0, "type": DEVICE})
PROP = c_prop()
DESC = ffi.new("aclrtMemAccessDesc *")


class World:
    """A handle, its mapping at the start of a range of eight units, and one handle that is not mapped."""

    def __init__(self, made):
        self.made = made
        self.free = made.physical()
        self.handle = made.physical()
        self.address = made.map(made.reserve(), self.handle)


@pytest.fixture
def world(device):
    """Give a :class:`World`."""
    with memory() as made:
        yield World(made)


def allocate(size=HUGE, flags=0, **described):
    return rt.malloc_physical(size, prop(**described), flags)[1]


def granularity(option=0, **described):
    return rt.mem_get_allocation_granularity(prop(**described), option)[1]


def reserve(size=HUGE, alignment=0, wanted=0, flags=0):
    return rt.reserve_mem_address(size, alignment, wanted, flags)[1]


def map_at(world, address, size=HUGE, offset=0, handle=None, flags=0):
    return rt.map_mem(address, size, offset, world.free if handle is None else handle, flags)


def described(**fields):
    """Give access by one description with these fields."""

    def call(world):
        desc = ffi.new("aclrtMemAccessDesc *", {"flags": 3, "location": {"id": 0, "type": DEVICE}, **fields})
        return lib.aclrtMemSetAccess(pointer(world.address), HUGE, desc, 1)

    return call


PROPS = [  # of both functions that take properties
    ({"kind": 2}, 100000, "prop->location.type is 2"),
    ({"kind": 3}, 100000, "prop->location.type is 3"),
    ({"kind": 5}, 100000, "prop->location.type is 5"),
    *(({"attr": attr}, 100000, f"prop->memAttr is {attr}, an ACL_DDR_MEM_*") for attr in (2, 3, 6, 7)),
    *(
        ({"attr": attr}, 100000, f"prop->memAttr is {attr}, expected one of")
        for attr in (0, 1, 8, 9, 11, 18, 2**31 - 1)
    ),
    ({"attr": 17}, 207000, "prop->memAttr is 17, and Ascend910B3 has no such pages of 1 GiB"),
    ({"number": 1 << 20}, 107001, "deviceId is 1048576"),
]
CALLS = [  # function, call, code, words
    ("aclrtMallocPhysical", lambda w: lib.aclrtMallocPhysical(NULL, HUGE, PROP, 0), 100000, "handle is NULL"),
    ("aclrtMallocPhysical", lambda w: lib.aclrtMallocPhysical(PLACE, HUGE, NULL, 0), 100000, "prop is NULL"),
    ("aclrtMallocPhysical", lambda w: allocate(0), 100000, "size is 0"),
    ("aclrtMallocPhysical", lambda w: allocate(flags=1), 100000, "flags is 0x1"),
    ("aclrtMallocPhysical", lambda w: allocate(handleType=2), 100000, "prop->handleType is 2"),
    ("aclrtMallocPhysical", lambda w: allocate(allocationType=1), 100000, "prop->allocationType is 1"),
    ("aclrtMallocPhysical", lambda w: allocate(HUGE + 1), 107000, f"size is {HUGE + 1}, expected a multiple of {HUGE}"),
    ("aclrtMallocPhysical", lambda w: allocate(HUGE, attr=10), 107000, f"expected a multiple of {GIB}"),
    (
        "aclrtMallocPhysical",
        lambda w: allocate(5000, kind=HOST, attr=MEM_NORMAL),
        107000,
        "expected a multiple of 4096",
    ),
    ("aclrtMallocPhysical", lambda w: allocate(1 << 45), 207001, f"size is {1 << 45}"),
    ("aclrtMallocPhysical", lambda w: allocate(1 << 62, kind=HOST), 207001, f"size is {1 << 62}"),
    (
        "aclrtMallocPhysical",
        lambda w: allocate(kind=HOST_NUMA, number=1),
        107000,
        "prop->location.id is 1, expected node 0",
    ),
    (
        "aclrtMemGetAllocationGranularity",
        lambda w: lib.aclrtMemGetAllocationGranularity(NULL, 0, SIZE),
        100000,
        "prop is",
    ),
    (
        "aclrtMemGetAllocationGranularity",
        lambda w: lib.aclrtMemGetAllocationGranularity(PROP, 0, NULL),
        100000,
        "granularity is NULL",
    ),
    ("aclrtMemGetAllocationGranularity", lambda w: granularity(2), 107000, "option is 2"),
    ("aclrtFreePhysical", lambda w: rt.free_physical(0), 100000, "handle is NULL"),
    ("aclrtReserveMemAddress", lambda w: lib.aclrtReserveMemAddress(NULL, 1, 0, NULL, 0), 100000, "virPtr is NULL"),
    ("aclrtReserveMemAddress", lambda w: reserve(0), 100000, "size is 0"),
    ("aclrtReserveMemAddress", lambda w: reserve(flags=2), 100000, "flags is 0x2"),
    ("aclrtReserveMemAddress", lambda w: reserve(alignment=4096), 107000, "alignment is 4096"),
    ("aclrtReserveMemAddress", lambda w: reserve(wanted=16 * TIB - HUGE), 107000, "between 16 and 24 TiB"),
    ("aclrtReserveMemAddress", lambda w: reserve(2 * HUGE, wanted=24 * TIB - HUGE), 107000, "between 16 and 24 TiB"),
    ("aclrtReserveMemAddress", lambda w: reserve(wanted=20 * TIB + 4096), 107000, "expected a multiple of 0x200000"),
    (
        "aclrtReserveMemAddress",
        lambda w: reserve(GIB, wanted=20 * TIB + HUGE),
        107000,
        "expected a multiple of 0x40000000",
    ),
    ("aclrtReserveMemAddress", lambda w: reserve(2**64 - 1), 207001, f"size is {2**64 - 1}"),
    ("aclrtReserveMemAddress", lambda w: reserve(1 << 50), 207001, f"size is {1 << 50}"),
    ("aclrtReleaseMemAddress", lambda w: rt.release_mem_address(0), 100000, "virPtr is NULL"),
    (
        "aclrtReleaseMemAddress",
        lambda w: rt.release_mem_address(w.address + HUGE),
        107000,
        "the start of a reserved range",
    ),
    ("aclrtReleaseMemAddress", lambda w: rt.release_mem_address(64), 107000, "virPtr is 0x40"),
    ("aclrtReleaseMemAddress", lambda w: rt.release_mem_address(w.address), 107000, "still has 1 mappings"),
    ("aclrtMapMem", lambda w: map_at(w, 0), 100000, "virPtr is NULL"),
    ("aclrtMapMem", lambda w: map_at(w, w.address, handle=0), 100000, "handle is NULL"),
    ("aclrtMapMem", lambda w: map_at(w, w.address, 0), 100000, "size is 0"),
    ("aclrtMapMem", lambda w: map_at(w, w.address, flags=1), 100000, "flags is 0x1"),
    ("aclrtMapMem", lambda w: map_at(w, w.address, offset=HUGE), 107000, f"offset is {HUGE}, expected 0"),
    ("aclrtMapMem", lambda w: map_at(w, w.address + HUGE, 2 * HUGE), 107000, f"size is {2 * HUGE}, expected that of"),
    ("aclrtMapMem", lambda w: map_at(w, w.address), 107000, f"overlaps the mapping of {HUGE} bytes at {{0:#x}}"),
    ("aclrtMapMem", lambda w: map_at(w, w.address + 4096), 107000, f"expected a multiple of the granularity, {HUGE}"),
    (
        "aclrtMapMem",
        lambda w: map_at(w, 1 << 21),
        107000,
        "virPtr is 0x200000, expected an address in a reserved range",
    ),
    (
        "aclrtMapMem",
        lambda w: map_at(w, w.address + 7 * HUGE, 2 * HUGE, handle=w.made.physical(2 * HUGE)),
        107000,
        f"size is {2 * HUGE}, expected at most the {HUGE} bytes",
    ),
    (
        "aclrtMapMem",
        lambda w: map_at(w, w.address + HUGE, handle=w.made.physical(kind=HOST, attr=2)),
        107000,
        "handle is memory of device -1 and the range of virPtr has memory of device 0",
    ),
    ("aclrtUnmapMem", lambda w: rt.unmap_mem(0), 100000, "virPtr is NULL"),
    ("aclrtUnmapMem", lambda w: rt.unmap_mem(w.address + 1), 107000, "expected the start of a mapping"),
    ("aclrtUnmapMem", lambda w: rt.unmap_mem(w.address + HUGE), 107000, "expected the start of a mapping"),
    ("aclrtMemSetAccess", lambda w: lib.aclrtMemSetAccess(NULL, HUGE, DESC, 1), 107000, "virPtr is NULL"),
    ("aclrtMemSetAccess", lambda w: lib.aclrtMemSetAccess(pointer(w.address), HUGE, NULL, 1), 107000, "desc is NULL"),
    ("aclrtMemSetAccess", lambda w: give_access(w.address, HUGE), 107000, "count is 0"),
    (
        "aclrtMemSetAccess",
        lambda w: lib.aclrtMemSetAccess(pointer(w.address), HUGE, DESC, 2**40),
        107000,
        "count is 1099",
    ),
    ("aclrtMemSetAccess", lambda w: give_access(w.address + HUGE, HUGE, (DEVICE, 0)), 107000, "the start of a mapping"),
    ("aclrtMemSetAccess", lambda w: give_access(w.address + 1, HUGE, (DEVICE, 0)), 107000, "the start of a mapping"),
    (
        "aclrtMemSetAccess",
        lambda w: give_access(w.address, 4096, (DEVICE, 0)),
        107000,
        "size is 4096, expected that of",
    ),
    *(
        (
            "aclrtMemSetAccess",
            described(flags=flags),
            107000,
            f"desc[0].flags is {flags}, expected ACL_RT_MEM_ACCESS_FLAGS_",
        )
        for flags in (0, 1, 2)
    ),
    ("aclrtMemSetAccess", described(location={"id": 0, "type": 4}), 107000, "type in desc[0] is 4"),
    ("aclrtMemSetAccess", described(location={"id": 99, "type": 1}), 107001, "deviceId is 99"),
    ("aclrtMemSetAccess", described(rsv=[0, 7]), 107000, "desc[0].rsv[1] is 7"),
    ("aclrtMemGetAccess", lambda w: lib.aclrtMemGetAccess(NULL, HERE, FLAG), 100000, "virPtr is NULL"),
    ("aclrtMemGetAccess", lambda w: lib.aclrtMemGetAccess(pointer(1), NULL, FLAG), 100000, "location is NULL"),
    ("aclrtMemGetAccess", lambda w: lib.aclrtMemGetAccess(pointer(1), HERE, NULL), 100000, "flag is NULL"),
    ("aclrtMemGetAccess", lambda w: access(w.address, 2)[1], 107000, "type in location[0] is 2"),
    ("aclrtMemGetAccess", lambda w: access(w.address, DEVICE, 99)[1], 107001, "deviceId is 99"),
    ("aclrtMemGetAccess", lambda w: access(w.address + HUGE)[1], 107000, "expected an address in a mapping"),
    (
        "aclrtMemRetainAllocationHandle",
        lambda w: lib.aclrtMemRetainAllocationHandle(NULL, PLACE),
        100000,
        "virPtr is NULL",
    ),
    (
        "aclrtMemRetainAllocationHandle",
        lambda w: lib.aclrtMemRetainAllocationHandle(pointer(1), NULL),
        100000,
        "handle is NULL",
    ),
    (
        "aclrtMemRetainAllocationHandle",
        lambda w: retain(w.address + HUGE)[1],
        107000,
        "expected an address in a mapping",
    ),
    (
        "aclrtMemGetAllocationPropertiesFromHandle",
        lambda w: lib.aclrtMemGetAllocationPropertiesFromHandle(NULL, PROP),
        100000,
        "handle is NULL",
    ),
    (
        "aclrtMemGetAllocationPropertiesFromHandle",
        lambda w: lib.aclrtMemGetAllocationPropertiesFromHandle(pointer(w.handle), NULL),
        100000,
        "prop is NULL",
    ),
    ("aclrtMemGetAddressRange", lambda w: lib.aclrtMemGetAddressRange(NULL, PLACE, SIZE), 100000, "ptr is NULL"),
    (
        "aclrtMemGetAddressRange",
        lambda w: lib.aclrtMemGetAddressRange(pointer(w.address), NULL, NULL),
        107000,
        "pbase and",
    ),
    (
        "aclrtMemGetAddressRange",
        lambda w: lib.aclrtMemGetAddressRange(SIZE, PLACE, SIZE),
        107000,
        "ordinary host memory",
    ),
    (
        "aclrtMemGetAddressRange",
        lambda w: lib.aclrtMemGetAddressRange(pointer(w.address + HUGE), PLACE, SIZE),
        107000,
        "reserved address space without mapped memory",
    ),
    ("aclrtFree", lambda w: rt.free(w.address), 107000, "devPtr"),
    ("aclrtReserveMemAddressNoUCMemory", lambda w: no_uc(), 207000, "Ascend910B3 cannot reserve addresses without"),
]


def no_uc(size=GIB, wanted=40 * TIB):
    return lib.aclrtReserveMemAddressNoUCMemory(PLACE, size, 0, pointer(wanted), 0)


@pytest.mark.needs_sim
@pytest.mark.parametrize(("name", "call", "code", "word"), CALLS)
def test_refusals(request, world, name, call, code, word):
    if name == "aclrtFree":
        request.applymarker(pytest.mark.finds("invalid-free"))
    rt.get_last_error(0)
    refused(call(world), code, name, word.format(world.address))
    assert rt.peek_at_last_error(0) == (0 if code in (100000, 207000) else code)
    assert access(world.address) == (3, 0)
    assert rt.map_mem(world.address + HUGE, HUGE, 0, world.free, 0) == 0
    assert rt.unmap_mem(world.address + HUGE) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize(("described", "code", "word"), PROPS)
def test_properties(device, described, code, word):
    refused(allocate(**described), code, "aclrtMallocPhysical", word)
    refused(granularity(**described), code, "aclrtMemGetAllocationGranularity", word)


HANDLED = {
    "aclrtFreePhysical": lambda world, handle: rt.free_physical(handle),
    "aclrtMapMem": lambda world, handle: map_at(world, world.address + HUGE, handle=handle),
    "aclrtMemMapNoAccess": lambda world, handle: lib.aclrtMemMapNoAccess(
        pointer(world.address + HUGE), HUGE, 0, pointer(handle), 0
    ),
    "aclrtMemGetAllocationPropertiesFromHandle": lambda world, handle: lib.aclrtMemGetAllocationPropertiesFromHandle(
        pointer(handle), PROP
    ),
    "aclrtMemExportToShareableHandle": lambda world, handle: rt.mem_export_to_shareable_handle(handle, 0, 0)[1],
}


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["freed", "event", "garbage"])
@pytest.mark.parametrize("name", list(HANDLED))
def test_dead_and_foreign_handles(world, event, name, kind):
    freed = world.made.physical()
    assert rt.free_physical(freed) == 0
    handle = {"freed": freed, "event": event, "garbage": 0xDEADBEEF12345678}[kind]
    what = {"freed": "a destroyed physical memory", "event": "a live event"}.get(kind, "not a handle")
    refused(HANDLED[name](world, handle), 107017, name, f"handle is {handle:#x}, {what}, expected live physical memory")


@pytest.mark.needs_sim
def test_a_range_keeps_to_one_device(configure):
    configure(devices=2)
    assert rt.set_device(1) == rt.set_device(0) == 0
    with memory() as made:
        start = made.reserve()
        made.map(start, made.physical())
        other = made.physical(number=1)
        refused(rt.map_mem(start + HUGE, HUGE, 0, other, 0), 107000, "handle is memory of device 1", "of device 0")
        assert rt.unmap_mem(start) == 0
        made.map(start + HUGE, other)


@pytest.mark.strict
def test_a_context_is_needed_for_nodes_alone(world):
    def work():
        refused(allocate(kind=HOST_NUMA), 107002, "no current context")
        start, ret = rt.reserve_mem_address(HUGE, 0, 0, 0)
        assert ret == 0
        assert rt.map_mem(start, HUGE, 0, world.free, 0) == 0
        assert access(start) == (3, 0)
        return rt.unmap_mem(start) or rt.release_mem_address(start)

    assert in_thread(work) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "call", "code", "words"),
    [
        ("Ascend910_95", lambda: reserve(wanted=20 * TIB), 107000, ["expected NULL on Ascend910_95"]),
        ("Ascend910_95", lambda: allocate(attr=14), 207000, ["memAttr is 14"]),
        ("Ascend910_95", lambda: granularity(attr=10), 0, []),
        ("Ascend310P3", lambda: granularity(attr=10), 207000, ["Ascend310P3 has no such pages"]),
        ("Ascend910_9392", lambda: granularity(attr=17), 0, []),
        ("Ascend910_9392", lambda: no_uc(GIB + HUGE), 107000, ["expected a multiple of 1 GiB"]),
        ("Ascend910_9392", lambda: no_uc(wanted=0), 107000, ["expectPtr is (nil)"]),
        ("Ascend910_9392", lambda: no_uc(wanted=40 * TIB + HUGE), 107000, ["expected a multiple of 1 GiB"]),
        ("Ascend910_9392", lambda: no_uc(wanted=200 * TIB), 107000, ["not free"]),
    ],
)
def test_by_chip(configure, soc, call, code, words):
    configure(soc=soc)
    assert rt.set_device(0) == 0
    refused(call(), code, *words) if code else None
    assert code or call() == 0
