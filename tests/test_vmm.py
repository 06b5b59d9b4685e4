"""Virtual memory: reserved addresses, physical memory, and what can be done with a mapping."""

import numpy
import pytest
from helpers.expect import TASK_WORKER, Task, pointer, refused
from helpers.processes import processes
from helpers.programs import sanitized
from helpers.vectors import COUNT, Vectors, register
from helpers.vmm import (
    BETWEEN,
    DEVICE,
    GIB,
    HBM_HUGE,
    HOST,
    HOST_NUMA,
    HUGE,
    MEM_NORMAL,
    MIB,
    P2P_HUGE,
    TO_DEVICE,
    TO_HOST,
    access,
    c_prop,
    extent,
    free_bytes,
    get,
    give_access,
    memory,
    prop,
    put,
    retain,
)

import acl
from acl._lib import ffi, lib

rt = acl.rt
TIB = 1 << 40


@pytest.fixture
def made(device):
    """Give what makes physical memory, ranges and mappings."""
    with memory() as made:
        yield made


@pytest.fixture
def two(configure):
    """Open two devices, of which device 0 is current, and give what makes memory."""
    configure(devices=2)
    assert rt.set_device(1) == rt.set_device(0) == 0
    with memory() as made:
        yield made


# ---- copies and sets ----


def test_bytes_of_a_mapping_are_kept(made):
    handle, address = made.mapped()
    assert put(address + 100, b"abcdef") == 0
    assert get(address + 100, 6) == b"abcdef"
    assert rt.memset(address, HUGE, 7, HUGE) == 0
    assert set(get(address, HUGE)) == {7}


def test_two_mappings_of_a_handle_are_the_same_bytes(made):
    handle, first = made.mapped()
    second = made.map(made.reserve(), handle)
    assert put(first, b"first") == 0
    assert get(second, 5) == b"first"
    assert put(second + HUGE - 4, b"last") == 0
    assert get(first + HUGE - 4, 4) == b"last"


def test_bytes_outlive_a_mapping(made):
    handle, address = made.mapped()
    assert put(address, b"kept") == 0
    assert rt.unmap_mem(address) == 0
    assert get(made.map(made.reserve(), handle), 4) == b"kept"


def test_handles_do_not_share_bytes(made):
    places = [made.mapped()[1] for _ in range(4)]
    for number, address in enumerate(places):
        assert rt.memset(address, HUGE, number + 1, HUGE) == 0
    assert [set(get(address, HUGE)) for address in places] == [{1}, {2}, {3}, {4}]


def test_queued_work_on_mappings(made, stream):
    source, target = made.mapped()[1], made.mapped()[1]
    assert rt.memset_async(source, HUGE, 9, HUGE, stream) == 0
    assert rt.memcpy_async(target, HUGE, source, HUGE, BETWEEN, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert set(get(target, HUGE)) == {9}


def test_mappings_side_by_side_are_one_block(made, stream):
    """Allocators grow a range by mapping handle after handle, and tensors lie across them."""
    start = made.reserve()
    for place in range(3):
        made.map(start + place * HUGE, made.physical())
    other = made.mapped(3 * HUGE)[1]
    assert rt.memset(start, 3 * HUGE, 5, 3 * HUGE) == 0
    assert rt.memcpy_async(other, 3 * HUGE, start + 1, 3 * HUGE - 1, BETWEEN, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert set(get(other, 3 * HUGE - 1)) == {5}
    too_many = 3 * HUGE + 1
    refused(rt.memset(start, too_many, 5, too_many), 107000, "count", f"{start:#x}", f"block of {HUGE} bytes")


def test_kernels_run_on_mappings(made, configure):
    configure()
    register()
    assert rt.set_device(0) == 0
    stream, _ = rt.create_stream()
    with memory() as fresh:
        vectors = Vectors(stream)
        start = fresh.reserve()
        for place in range(2):
            fresh.map(start + place * HUGE, fresh.physical())
        vectors.blocks[1] = start + HUGE - 8  # half of it in each mapping
        vectors.put(vectors.blocks[1], 10 * numpy.arange(COUNT, dtype="f4"))
        assert vectors.launch() == 0
        assert vectors.result() == 11


def test_values_are_waited_for_in_a_mapping(made, stream):
    other, _ = rt.create_stream()
    address = made.mapped()[1]
    assert rt.memset(address, 8, 0, 8) == 0
    assert rt.value_wait(address, 3, 1, other) == 0
    assert rt.value_write(address, 3, 0, stream) == 0
    assert rt.synchronize_stream(other) == 0
    assert rt.destroy_stream(other) == 0


@pytest.mark.needs_sim
@pytest.mark.finds("use-after-free")
def test_a_captured_copy_runs_on_what_is_mapped_then(made, stream):
    source, target = made.mapped()[1], made.mapped()[1]
    assert acl.mdl.ri_capture_begin(stream, 0) == 0
    assert rt.memcpy_async(target, 4, source, 4, BETWEEN, stream) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    assert put(source, b"once") == 0
    assert acl.mdl.ri_execute_async(instance, stream) == rt.synchronize_stream(stream) == 0
    assert get(target, 4) == b"once"
    assert rt.unmap_mem(source) == 0
    refused(
        acl.mdl.ri_execute_async(instance, stream) or rt.synchronize_stream(stream), 507053, "unmapped before it ran"
    )
    assert acl.mdl.ri_destroy(instance) == 0


# ---- tasks that come too late ----


@pytest.mark.needs_sim
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_a_task_after_the_unmapping_fails(made, stream, again):
    handle, address = made.mapped()
    assert put(address, b"kept") == 0
    acl.sim.hold(stream)
    assert rt.memset_async(address, HUGE, 1, HUGE, stream) == 0
    assert rt.unmap_mem(address) == 0
    if again:
        made.map(address, handle)
    acl.sim.release(stream)
    words = ["unmapped before it ran, by thread"] + ["mapped again since"] * again
    refused(rt.synchronize_stream(stream), 507053, "aclrtMemsetAsync", f"{address:#x}", *words)
    assert get(made.map(made.reserve(), handle), 4) == b"kept"


@pytest.mark.needs_sim
@pytest.mark.finds("use-after-free")
def test_a_task_over_several_mappings_misses_one(made, stream):
    start = made.reserve()
    for place in range(3):
        made.map(start + place * HUGE, made.physical())
    assert rt.memset(start, 3 * HUGE, 0, 3 * HUGE) == 0
    acl.sim.hold(stream)
    assert rt.memset_async(start, 3 * HUGE, 1, 3 * HUGE, stream) == 0
    assert rt.unmap_mem(start + HUGE) == 0
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507053, f"{3 * HUGE} bytes at {start:#x}", "unmapped before it ran; task")
    assert set(get(start, HUGE)) == {0}


@pytest.mark.needs_sim
def test_unmapping_under_a_running_task_harms_nobody(made, stream):
    """The task goes on in memory that nobody sees."""
    handle, address = made.mapped()
    assert put(address, b"kept") == 0
    codes = []

    def run():
        place = lib.aclsimTranslate(pointer(address))
        codes.append(rt.unmap_mem(address))
        ffi.memmove(place, b"lost", 4)

    tasks = [Task(stream, run, TASK_WORKER)]
    assert rt.synchronize_stream(stream) == 0
    assert codes == [0] * len(tasks)
    assert get(made.map(made.reserve(), handle), 4) == b"kept"


@pytest.mark.needs_sim
@pytest.mark.finds("leaked-memory", "use-after-free")
def test_the_last_reset_ends_memory_and_mappings(made):
    handle, address = made.mapped()
    assert rt.reset_device_force(0) == 0
    assert rt.set_device(0) == 0
    refused(put(address, b"gone"), 107000, "dst", "reserved address space without mapped memory")
    refused(rt.map_mem(address, HUGE, 0, handle, 0), 107017, "a destroyed physical memory")
    assert put(made.map(address, made.physical()), b"anew") == 0


# ---- counts ----


def test_memory_is_accounted(made):
    before = free_bytes()
    handle, address = made.mapped(3 * HUGE)
    assert before - free_bytes() == 3 * HUGE
    second = made.map(made.reserve(), handle, 3 * HUGE)
    assert before - free_bytes() == 3 * HUGE
    assert rt.free_physical(handle) == rt.unmap_mem(address) == 0
    assert before - free_bytes() == 3 * HUGE
    assert rt.unmap_mem(second) == 0
    assert free_bytes() == before


@pytest.mark.parametrize("order", ["free", "unmap"])
def test_memory_stays_while_it_is_held_or_mapped(made, order):
    before = free_bytes()
    handle, address = made.mapped()
    steps = [lambda: rt.free_physical(handle), lambda: rt.unmap_mem(address)]
    for step in steps if order == "free" else reversed(steps):
        assert before - free_bytes() == HUGE
        assert step() == 0
    assert free_bytes() == before
    assert rt.release_mem_address(address) == 0


def test_a_retained_handle_wants_its_own_free(made):
    before = free_bytes()
    handle, address = made.mapped()
    assert [retain(address + 5) for _ in range(2)] == [(handle, 0)] * 2
    assert rt.unmap_mem(address) == 0
    for _ in range(2):
        assert rt.free_physical(handle) == 0
        assert before - free_bytes() == HUGE
    assert rt.free_physical(handle) == 0
    assert free_bytes() == before


@pytest.mark.strict
def test_a_freed_handle_is_dead_until_it_is_retained(made):
    handle, address = made.mapped()
    assert rt.free_physical(handle) == 0
    refused(rt.free_physical(handle), 107017, f"handle is {handle:#x}, a destroyed physical memory")
    assert put(address, b"alive") == 0
    again, ret = retain(address)
    assert ret == 0
    assert get(made.map(made.reserve(), again), 5) == b"alive"
    assert rt.free_physical(again) == 0


def test_memory_of_two_handles_is_not_given_to_blocks(made):
    """Physical memory and blocks of aclrtMalloc come from one device."""
    addresses = [made.mapped()[1] for _ in range(3)]
    blocks = [rt.malloc(HUGE - 32, 0)[0] for _ in range(3)]
    for number, address in enumerate(addresses + blocks):
        assert rt.memset(address, HUGE - 32, number, HUGE - 32) == 0
    assert [set(get(address, HUGE - 32)) for address in addresses + blocks] == [{number} for number in range(6)]
    for block in blocks:
        assert rt.free(block) == 0


@pytest.mark.needs_sim
def test_a_device_runs_out_of_physical_memory(configure):
    configure(memory="16Mi")
    assert rt.set_device(0) == 0
    with memory() as made:
        handles = [made.physical() for _ in range(free_bytes() // HUGE - 1)]
        handle, ret = rt.malloc_physical(2 * HUGE, prop(), 0)
        refused(ret, 207001, f"size is {2 * HUGE}", "device 0", "pages of 2097152")
        assert rt.free_physical(handles.pop()) == 0
        made.physical()


# ---- questions ----


def test_a_mapping_is_device_memory_to_questions(made):
    handle, address = made.mapped(2 * HUGE)
    attributes, ret = rt.pointer_get_attributes(address + 3)
    assert ret == 0
    assert (attributes["location"], attributes["page_size"]) == ({"id": 0, "type": DEVICE}, HUGE)
    assert extent(address + HUGE + 1) == (address, 2 * HUGE, 0)


def test_the_range_of_other_memory(device):
    block, _ = rt.malloc(100, 0)
    start, size, ret = extent(block + 50)
    assert (start, ret) == (block, 0)
    assert 100 <= size <= 4096
    host, _ = rt.malloc_host(100)
    assert extent(host + 127) == (host, 128, 0)
    size = ffi.new("size_t *")
    assert lib.aclrtMemGetAddressRange(pointer(block), ffi.NULL, size) == 0
    assert size[0] >= 100
    assert rt.free(block) == rt.free_host(host) == 0


@pytest.mark.parametrize(
    ("described", "attr", "granularity"),
    [
        ({"attr": HBM_HUGE}, HBM_HUGE, HUGE),
        ({"attr": 5}, HBM_HUGE, HUGE),
        ({"attr": 13}, HBM_HUGE, HUGE),
        ({"attr": MEM_NORMAL}, HBM_HUGE, HUGE),
        ({"attr": 15}, P2P_HUGE, HUGE),
        ({"attr": 10}, 10, GIB),
        ({"kind": HOST, "attr": MEM_NORMAL}, 3, 4096),
        ({"kind": HOST, "attr": 2}, 2, HUGE),
        ({"kind": HOST_NUMA, "attr": 7}, 3, 4096),
    ],
)
def test_properties_and_granularity(made, described, attr, granularity):
    for option in (0, 1):
        assert rt.mem_get_allocation_granularity(prop(**described), option) == (granularity, 0)
    handle = made.physical(granularity, **described)
    told = ffi.new("aclrtPhysicalMemProp *")
    assert lib.aclrtMemGetAllocationPropertiesFromHandle(pointer(handle), told) == 0
    kind = DEVICE if described.get("kind", DEVICE) == DEVICE else HOST
    assert ffi.buffer(told)[:] == ffi.buffer(c_prop(kind=kind, attr=attr))[:]


# ---- addresses ----


def test_ranges_do_not_overlap_and_come_back(made):
    sizes = [1, HUGE, 5 * HUGE + 1, GIB, 3 * GIB]
    starts = [made.reserve(size) for size in sizes]
    assert [start % (GIB if size >= GIB else HUGE) for start, size in zip(starts, sizes)] == [0] * 5
    taken = sorted(zip(starts, sizes))
    assert all(start + size <= after for (start, size), (after, _) in zip(taken, taken[1:]))
    assert rt.release_mem_address(starts[2]) == 0
    assert made.reserve(sizes[2]) == starts[2]


def test_a_range_can_be_larger_than_the_device(made):
    start = made.reserve(TIB // 2)
    address = made.map(start + TIB // 2 - HUGE, made.physical())
    assert put(address + HUGE - 3, b"end") == 0
    assert get(address + HUGE - 3, 3) == b"end"


RESERVE = "acl.rt.reserve_mem_address({}, 0, {}, 0)"
NO_UC = 'lib.aclrtReserveMemAddressNoUCMemory(place, 1 << 30, 0, ffi.cast("void *", {}), 0)'


@pytest.mark.needs_sim
def test_a_wanted_address():
    """In a process where nobody but a sanitizer may have these addresses."""
    wanted = 20 * TIB + 4 * HUGE
    with processes(1) as [fresh]:
        if sanitized():
            fresh.refused(RESERVE.format(3 * HUGE, wanted), 107000, f"expectPtr is {wanted:#x}", "not free")
            return
        assert fresh(RESERVE.format(3 * HUGE, wanted)) == [wanted, 0]
        fresh(f"handle, ret = acl.rt.malloc_physical({HUGE}, {prop()}, 0)")
        assert fresh(f"acl.rt.map_mem({wanted + 2 * HUGE}, {HUGE}, 0, handle, 0)") == 0
        assert fresh(f"fill({wanted + 2 * HUGE}, 4, 5)") == 0
        assert fresh(f"device_bytes({wanted + 2 * HUGE}, 4)") == "05" * 4
        for place in (wanted, wanted + 2 * HUGE, wanted - HUGE):
            fresh.refused(RESERVE.format(2 * HUGE, place), 107000, f"expectPtr is {place:#x}", "not free")
        assert fresh(RESERVE.format(HUGE, wanted - HUGE)) == [wanted - HUGE, 0]


@pytest.mark.needs_sim
def test_addresses_without_uncached_memory():
    """In a process where nobody but a sanitizer may have these addresses."""
    wanted = 40 * TIB
    with processes(1, ACL_SIM_SOC="Ascend910_9392") as [fresh]:
        fresh('place = ffi.new("void **")')
        ret = fresh(NO_UC.format(wanted))
        if sanitized() and ret == 107000:
            assert "not free" in fresh("acl.get_recent_err_msg()")
            return
        assert ret == 0
        assert fresh('int(ffi.cast("uintptr_t", place[0]))') == wanted
        assert fresh(f"acl.rt.release_mem_address({wanted})") == 0


# ---- access ----


def test_its_device_has_access_at_once(made):
    address = made.mapped()[1]
    assert access(address) == access(address + HUGE - 1) == (3, 0)
    assert access(address, HOST) == (0, 0)
    assert give_access(address, HUGE, (DEVICE, 0)) == 0
    assert access(address) == (3, 0)


@pytest.mark.needs_sim
@pytest.mark.finds("use-after-free", count=2)
def test_nobody_may_use_what_was_mapped_without_access(made, stream):
    handle = made.physical()
    address = made.map_closed(made.reserve(), handle)
    assert access(address) == (0, 0)
    closed = "without access to it yet"
    refused(put(address, b"x"), 107000, "dst", closed)
    refused(rt.memset_async(address, 1, 1, 1, stream), 107000, "devPtr", closed)
    refused(rt.pointer_get_attributes(address)[1], 107000, closed)
    assert extent(address) == (address, HUGE, 0)
    assert give_access(address, HUGE, (DEVICE, 0)) == 0
    assert access(address) == (3, 0)
    assert put(address, b"open") == 0
    assert get(address, 4) == b"open"


@pytest.mark.needs_sim
def test_another_device_gets_access_by_peer_access(two):
    handle, address = two.mapped()
    refused(give_access(address, HUGE, (DEVICE, 1)), 107000, "desc names device 1", "aclrtDeviceEnablePeerAccess")
    assert access(address, DEVICE, 1) == (0, 0)
    assert rt.set_device(1) == 0
    assert rt.device_enable_peer_access(0, 0) == 0
    assert give_access(address, HUGE, (DEVICE, 0), (DEVICE, 1)) == 0
    assert access(address, DEVICE, 1) == (3, 0)
    block, _ = rt.malloc(64, 0)
    assert put(address, b"peer") == 0
    assert rt.memcpy_async(block, 4, address, 4, BETWEEN, 0) == rt.synchronize_stream(0) == 0
    assert get(block, 4) == b"peer"


@pytest.mark.needs_sim
def test_memory_of_another_device_needs_peer_access(two):
    address = two.mapped(number=1)[1]
    assert rt.pointer_get_attributes(address)[0]["location"] == {"id": 1, "type": DEVICE}
    block, _ = rt.malloc(64, 0)
    refused(rt.memcpy_async(block, 4, address, 4, BETWEEN, 0), 107000, "src lies on device 1 and dst on device 0")


@pytest.mark.needs_sim
def test_the_host_sees_device_memory_that_it_was_given(made):
    address = made.mapped()[1]
    assert put(address, b"shown") == 0
    assert give_access(address, HUGE, (HOST, 0)) == 0
    assert access(address, HOST) == (3, 0)
    seen = ffi.buffer(ffi.cast("char *", address), HUGE)
    assert seen[:5] == b"shown"
    seen[:5] = b"wrote"
    assert get(address, 5) == b"wrote"


# ---- memory of the host ----


@pytest.mark.needs_sim
@pytest.mark.parametrize("size", [4096, 3 * HUGE])
def test_host_memory_is_mapped_for_both(made, stream, size):
    handle, address = made.mapped(size, kind=HOST, attr=MEM_NORMAL)
    host = ffi.buffer(ffi.cast("char *", address), size)
    host[:4] = b"host"
    block, _ = rt.malloc(64, 0)
    assert rt.memcpy_async(block, 4, address, 4, TO_DEVICE, stream) == 0
    assert rt.memcpy_async(address + size - 4, 4, block, 4, TO_HOST, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert host[-4:] == b"host"
    assert rt.pointer_get_attributes(address)[0]["location"] == {"id": 0, "type": HOST}
    assert extent(address + 7) == (address, size, 0)
    assert access(address, HOST) == (3, 0)
    refused(lib.aclrtHostUnregister(pointer(address)), 507911, f"{address:#x}")
    assert rt.free(block) == 0


@pytest.mark.needs_sim
def test_host_memory_in_small_pieces(made):
    start = made.reserve()
    for place in range(3):
        made.map(start + place * 4096, made.physical(4096, kind=HOST, attr=MEM_NORMAL), 4096)
    assert rt.memset(start, 12288, 5, 12288) == 0
    assert bytes(ffi.buffer(ffi.cast("char *", start), 12288)) == bytes([5]) * 12288
    assert rt.unmap_mem(start + 4096) == 0
    refused(rt.memset(start, 12288, 5, 12288), 107000, "block of 4096 bytes")


@pytest.mark.needs_sim
def test_the_child_of_a_fork_starts_afresh(run_script):
    done = run_script(
        "import os, acl\n"
        "from acl._lib import ffi\n"
        "P = {'memAttr': 4, 'location': {'id': 0, 'type': 1}}\n"
        "def use():\n"
        "    assert acl.rt.set_device(0) == 0\n"
        "    handle, ret = acl.rt.malloc_physical(2 << 20, P, 0)\n"
        "    address, code = acl.rt.reserve_mem_address(2 << 20, 0, 0, 0)\n"
        "    assert (ret, code, acl.rt.map_mem(address, 2 << 20, 0, handle, 0)) == (0, 0, 0)\n"
        "    assert acl.rt.memset(address, 8, 1, 8) == 0\n"
        "    return address, handle\n"
        "address, handle = use()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    assert acl.rt.unmap_mem(address) == 107000\n"
        "    assert acl.rt.free_physical(handle) == 107017\n"
        "    assert use()[0] != address\n"
        "    os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
        "assert acl.rt.unmap_mem(address) == 0\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_a_link_is_chosen_by_mapping_again(configure):
    configure(soc="Ascend910_9392")
    assert rt.set_device(0) == 0
    with memory() as made:
        handle, source = made.mapped()
        target = made.reserve(HUGE)
        assert lib.aclrtMemMapSetLink(pointer(handle), 0) == lib.aclrtMemMapSetLink(pointer(handle), 1) == 0
        refused(lib.aclrtMemMapSetLink(pointer(handle), 2), 207021, "adviceLink is 2", "0 (SIO) or 1 (HCCS)")
        assert lib.aclrtMemMapSelectedLink(pointer(target), HUGE, pointer(source), 1) == 0
        made.mappings.append(target)
        assert put(source, b"link") == 0
        assert get(target, 4) == b"link"
        refused(lib.aclrtMemMapSelectedLink(pointer(target + HUGE), HUGE, pointer(source), 0), 107000, "virPtrDst")
        refused(lib.aclrtMemMapSelectedLink(pointer(target), HUGE, pointer(source + 1), 0), 107000, "virPtrSrc")


def test_sizes_below_a_unit_reserve_a_whole_one(made):
    start = made.reserve(1)
    assert put(made.map(start, made.physical()), b"x" * 100) == 0
    assert start % (2 * MIB) == 0


# ---- without a current device ----


@pytest.mark.needs_sim
@pytest.mark.parametrize("described", [{"number": 1}, {"kind": HOST, "attr": MEM_NORMAL}], ids=["device", "host"])
def test_no_call_needs_a_current_device(configure, described):
    configure(devices=2)
    unit, ret = rt.mem_get_allocation_granularity(prop(**described), 0)
    assert (unit in (4096, HUGE), ret) == (True, 0)
    address, ret = rt.reserve_mem_address(HUGE, 0, 0, 0)
    assert ret == 0, acl.get_recent_err_msg()
    handle, ret = rt.malloc_physical(HUGE, prop(**described), 0)
    assert ret == 0, acl.get_recent_err_msg()
    assert rt.map_mem(address, HUGE, 0, handle, 0) == 0
    location = (described.get("kind", DEVICE), described.get("number", 0))
    assert access(address, *location) == (3, 0)
    assert give_access(address, HUGE, location) == 0
    assert retain(address) == (handle, 0)
    assert rt.free_physical(handle) == 0
    assert extent(address) == (address, HUGE, 0)
    assert rt.get_device()[1] == 107002  # the calls have set none
    assert rt.set_device(1) == 0
    put(address, b"kept across aclrtSetDevice")
    assert get(address, 26) == b"kept across aclrtSetDevice"
    assert rt.free_physical(handle) == 0
    assert rt.unmap_mem(address) == 0
    assert rt.release_mem_address(address) == 0


@pytest.mark.needs_sim
def test_memory_of_a_device_that_nobody_has_set_counts_as_its_own(configure):
    configure(devices=2)
    handle, ret = rt.malloc_physical(8 * HUGE, prop(number=1), 0)
    assert ret == 0
    assert rt.set_device(1) == 0
    less = free_bytes()
    assert rt.free_physical(handle) == 0
    assert free_bytes() == less + 8 * HUGE


@pytest.mark.needs_sim
def test_memory_of_a_node_needs_a_current_device(configure):
    configure(devices=2)
    refused(rt.malloc_physical(HUGE, prop(kind=HOST_NUMA, attr=MEM_NORMAL), 0)[1], 107002, "no current context")
    refused(rt.malloc_physical(HUGE, prop(number=2), 0)[1], 107001, "deviceId is 2")
