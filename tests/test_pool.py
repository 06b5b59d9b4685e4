"""Memory pools: lives of blocks in the order of streams, who may have a block next, and what pools count and keep."""

import pytest
from helpers.expect import pointer, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

SIZE = 4 << 20
FOLLOW, OPPORTUNISTIC, INTERNAL, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = range(1, 9)
TO_DEVICE, TO_HOST = 1, 2
taken = set()


def properties(limit=0, device=0):
    return ffi.new("aclrtMemPoolProps *", {"location": {"id": device, "type": 1}, "maxSize": limit})


def create(limit=0, device=0):
    """Return a pool."""
    place = ffi.new("aclrtMemPool *")
    assert lib.aclrtMemPoolCreate(place, properties(limit, device)) == 0, acl.get_recent_err_msg()
    return place[0]


def take(pool, stream, size=SIZE):
    """Allocate and return the address."""
    place = ffi.new("void **")
    assert lib.aclrtMemPoolMallocAsync(place, size, pool, pointer(stream)) == 0, acl.get_recent_err_msg()
    address = int(ffi.cast("uintptr_t", place[0]))
    taken.add(address)
    return address


def free_taken():
    """Free what a test has allocated by ``take`` and has not freed."""
    while taken:
        acl.rt.free(taken.pop())


def refuse(pool, stream, size=SIZE):
    """Return the code of an allocation that leaves its result alone."""
    place = ffi.new("void **", pointer(77))
    ret = lib.aclrtMemPoolMallocAsync(place, size, pool, pointer(stream))
    assert place[0] == pointer(77)
    return ret


def give(address, stream):
    taken.discard(address)
    return lib.aclrtMemPoolFreeAsync(pointer(address), pointer(stream))


def give_at_once(address):
    taken.discard(address)
    return acl.rt.free(address)


def get(pool, attribute):
    value = ffi.new("uint32_t *" if attribute <= INTERNAL else "uint64_t *")
    assert lib.aclrtMemPoolGetAttr(pool, attribute, value) == 0
    return value[0]


def put(pool, attribute, number):
    value = ffi.new("uint32_t *" if attribute <= INTERNAL else "uint64_t *", number)
    return lib.aclrtMemPoolSetAttr(pool, attribute, value)


def only(pool, *attributes):
    """Let the pool rely on these orders alone."""
    for attribute in (FOLLOW, OPPORTUNISTIC, INTERNAL):
        assert put(pool, attribute, int(attribute in attributes)) == 0


def hold(stream):
    assert lib.aclsimStreamHold(pointer(stream)) == 0


def release(stream):
    assert lib.aclsimStreamRelease(pointer(stream)) == 0


def byte(address):
    """Return the first byte of a block."""
    data = bytes(1)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 1, address, 1, TO_HOST) == 0, acl.get_recent_err_msg()
    return data[0]


def wait_for(stream, event, recorded):
    assert acl.rt.record_event(event, recorded) == 0
    assert acl.rt.stream_wait_event(stream, event) == 0


@pytest.fixture
def pool(stream):
    """Make a pool that keeps everything, so that what it has does not depend on who synchronises."""
    pool = create()
    assert put(pool, THRESHOLD, 1 << 40) == 0
    yield pool
    free_taken()
    lib.aclrtMemPoolDestroy(pool)


# ---- lives ----


@pytest.mark.finds("uninitialised-read", "use-after-free")
@pytest.mark.finds("race", count=None)
def test_memory_can_be_used_at_once_and_until_its_free(pool, stream):
    address = take(pool, stream)
    assert address % 512 == 0
    hold(stream)
    assert acl.rt.memset_async(address, SIZE, 7, SIZE, stream) == 0
    assert give(address, stream) == 0
    assert byte(address) in range(256)  # the free has not run
    release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    refused(acl.rt.memset(address, SIZE, 0, 1), 107000, "not allocated (any more)")


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_a_task_behind_the_free_fails(pool, stream):
    address = take(pool, stream)
    hold(stream)
    assert give(address, stream) == 0
    assert acl.rt.memset_async(address, SIZE, 7, SIZE, stream) == 0
    release(stream)
    refused(acl.rt.synchronize_stream(stream), 507053, f"{address:#x}", "were freed before it ran")


def test_sizes_are_bounds(pool, stream):
    address = take(pool, stream, 1000)
    refused(acl.rt.memset(address, 2000, 0, 1025), 107000, "a block of 1024 bytes (1000 requested)")
    assert give(address, stream) == 0
    assert take(pool, stream, 600) == address
    refused(acl.rt.memset(address, 2000, 0, 609), 107000, "a block of 608 bytes (600 requested)")


def test_the_same_stream_gets_memory_again_before_its_free_has_run(pool, stream):
    hold(stream)
    first = take(pool, stream)
    assert acl.rt.memset_async(first, SIZE, 1, SIZE, stream) == 0
    kept, ret = acl.rt.malloc(SIZE, 0)
    assert ret == 0
    assert acl.rt.memcpy_async(kept, SIZE, first, SIZE, 3, stream) == 0
    assert give(first, stream) == 0
    again = take(pool, stream)
    assert again == first
    assert acl.rt.memset_async(again, SIZE, 2, SIZE, stream) == 0
    assert get(pool, USED) == SIZE
    release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert (byte(kept), byte(again)) == (1, 2)
    assert acl.rt.free(kept) == 0
    assert get(pool, USED) == SIZE


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_a_task_between_two_lives_fails(pool, stream):
    hold(stream)
    first = take(pool, stream)
    assert acl.rt.memset_async(first, SIZE, 1, 1, stream) == 0
    assert give(first, stream) == 0
    assert acl.rt.memset_async(first, SIZE, 3, 1, stream) == 0  # this one
    assert take(pool, stream) == first
    assert acl.rt.memset_async(first, SIZE, 2, 1, stream) == 0
    release(stream)
    refused(acl.rt.synchronize_stream(stream), 507053, "were freed before it ran", "allocated again since")
    assert byte(first) == 2


def test_many_lives_wait_in_one_queue(pool, stream):
    hold(stream)
    addresses = set()
    for _ in range(20):
        address = take(pool, stream)
        addresses.add(address)
        assert acl.rt.memset_async(address, SIZE, 5, 1, stream) == 0
        assert give(address, stream) == 0
    release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert len(addresses) == 1
    assert (get(pool, USED), get(pool, RESERVED)) == (0, SIZE)


@pytest.mark.finds("use-after-free")
def test_discarded_work_gives_its_memory_back(pool, stream):
    hold(stream)
    address = take(pool, stream)
    assert give(address, stream) == 0
    assert acl.rt.stream_abort(stream) == 0
    assert (get(pool, USED), get(pool, RESERVED)) == (0, SIZE)
    refused(acl.rt.memset(address, SIZE, 0, 1), 107000, "not allocated (any more)")


def test_rt_free_returns_memory_to_the_pool_at_once(pool, stream):
    address = take(pool, stream)
    assert give_at_once(address) == 0
    assert (get(pool, USED), get(pool, RESERVED)) == (0, SIZE)
    refused(give_at_once(address), 107000, "was freed already")
    refused(give(address, stream), 107000, "was freed already")
    assert take(pool, stream) == address


def test_memory_is_freed_once(pool, stream):
    address = take(pool, stream)
    hold(stream)
    assert give(address, stream) == 0
    refused(give(address, stream), 107000, "was freed already")
    refused(give_at_once(address), 107000, "was freed already")
    release(stream)
    refused(give(address + 512, stream), 107000, "expected the address of a block made by aclrtMemPoolMallocAsync")


# ---- who may have a block next ----


@pytest.fixture
def freed(pool, stream):
    """Free a block in a stream that is held; it is released at the end."""
    hold(stream)
    address = take(pool, stream)
    assert give(address, stream) == 0
    yield address
    release(stream)


def test_another_stream_gets_other_memory(pool, freed, other):
    assert take(pool, other) != freed


def test_a_stream_that_waits_for_the_free_gets_it(pool, freed, stream, other, event):
    only(pool, FOLLOW)
    wait_for(other, event, stream)
    assert take(pool, other) == freed


def test_so_does_one_that_waits_for_that_one(pool, freed, stream, other, streams, make_event):
    third, fourth = streams(2)
    wait_for(other, make_event("default"), stream)
    wait_for(third, make_event("default"), other)
    assert take(pool, fourth) != freed
    assert take(pool, third) == freed


def test_an_event_recorded_before_the_free_does_not_do(pool, stream, other, event):
    hold(stream)
    address = take(pool, stream)
    wait_for(other, event, stream)
    assert give(address, stream) == 0
    assert take(pool, other) != address
    release(stream)


def test_events_do_not_count_where_they_are_switched_off(pool, freed, stream, other, event):
    only(pool, OPPORTUNISTIC)
    wait_for(other, event, stream)
    assert take(pool, other) != freed


def test_what_ran_is_given_to_anybody(pool, stream, other):
    address = take(pool, stream)
    assert give(address, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert take(pool, other) == address


def test_unless_that_is_switched_off(pool, stream, other):
    only(pool, FOLLOW)
    address = take(pool, stream)
    assert give(address, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert take(pool, other) != address
    assert take(pool, stream) == address


def test_without_other_memory_a_stream_waits_for_the_free(stream, other):
    pool = create(SIZE)
    hold(stream)
    address = take(pool, stream)
    assert acl.rt.memset_async(address, SIZE, 1, SIZE, stream) == 0
    assert give(address, stream) == 0
    only(pool, FOLLOW, OPPORTUNISTIC)
    refused(refuse(pool, other), 207001, f"size is {SIZE}", f"{SIZE} of the {SIZE} bytes of its maxSize")
    only(pool, INTERNAL)
    assert take(pool, other) == address
    assert acl.rt.memset_async(address, SIZE, 2, SIZE, other) == 0
    assert acl.rt.stream_query(other) == (1, 0)
    release(stream)
    assert acl.rt.synchronize_stream(other) == 0
    assert byte(address) == 2
    free_taken()
    assert lib.aclrtMemPoolDestroy(pool) == 0


def discard_one(pool, address, stream, event, other):
    assert take(pool, other) == address


def discard_several(pool, address, stream, event, other):
    for _ in range(3):
        assert take(pool, other) == address
        assert give(address, other) == 0


def discard_the_wait_for_the_free(pool, address, stream, event, other):
    wait_for(other, event, stream)
    only(pool, FOLLOW, INTERNAL)
    assert take(pool, other) == address


@pytest.mark.parametrize(
    "discard",
    [
        discard_one,
        pytest.param(discard_several, marks=pytest.mark.finds("use-after-free")),
        discard_the_wait_for_the_free,
    ],
)
def test_an_allocation_that_is_discarded_brings_nothing_forward(stream, other, event, discard):
    """Memory whose former life lasts is nobody's after the abort; who gets it next waits for that life."""
    pool = create(SIZE)
    only(pool, INTERNAL)
    hold(stream)
    address = take(pool, stream)
    assert acl.rt.memset_async(address, SIZE, 1, SIZE, stream) == 0
    assert give(address, stream) == 0
    discard(pool, address, stream, event, other)
    assert acl.rt.stream_abort(other) == 0
    assert get(pool, USED) == 0
    refused(acl.rt.memset(address, SIZE, 0, 1), 107000, "not allocated (any more)")
    refused(give(address, other), 107000, "was freed already")
    assert take(pool, other) == address
    assert acl.rt.memset_async(address, SIZE, 2, SIZE, other) == 0
    assert acl.rt.stream_query(other) == (1, 0)
    release(stream)
    assert acl.rt.synchronize_stream(stream) == acl.rt.synchronize_stream(other) == 0
    assert byte(address) == 2
    free_taken()
    assert lib.aclrtMemPoolDestroy(pool) == 0


def test_the_smallest_block_that_fits_is_taken(pool, stream):
    sizes = [SIZE * 2, SIZE, SIZE + (2 << 20)]
    blocks = [take(pool, stream, size) for size in sizes]
    for address in blocks:
        assert give(address, stream) == 0
    assert take(pool, stream, SIZE - 100) == blocks[1]
    assert take(pool, stream, SIZE) == blocks[2]
    assert take(pool, stream, SIZE) == blocks[0]
    assert take(pool, stream, 1000) not in blocks


# ---- what pools count and keep ----


def test_attributes_have_defaults_and_are_kept(stream):
    pool = create()
    assert [get(pool, attribute) for attribute in range(1, 9)] == [1, 1, 1, 0, 0, 0, 0, 0]
    for attribute in (FOLLOW, OPPORTUNISTIC, INTERNAL):
        assert put(pool, attribute, 0) == 0
        assert get(pool, attribute) == 0
    assert put(pool, THRESHOLD, 5 << 40) == 0
    assert get(pool, THRESHOLD) == 5 << 40
    assert lib.aclrtMemPoolDestroy(pool) == 0


def test_marks_stay_high_until_they_are_set_back(pool, stream):
    blocks = [take(pool, stream), take(pool, stream, 1000)]
    for address in blocks:
        assert give(address, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert [get(pool, which) for which in (RESERVED, RESERVED_HIGH, USED, USED_HIGH)] == [
        SIZE + 4096, SIZE + 4096, 0, SIZE + 1024
    ]  # fmt: skip
    assert lib.aclrtMemPoolTrimTo(pool, 0) == 0
    assert (get(pool, RESERVED), get(pool, RESERVED_HIGH)) == (0, SIZE + 4096)
    assert put(pool, RESERVED_HIGH, 0) == 0
    assert put(pool, USED_HIGH, 0) == 0
    assert (get(pool, RESERVED_HIGH), get(pool, USED_HIGH)) == (0, 0)


def test_what_a_pool_has_is_not_free_on_its_device(pool, stream):
    def free():
        return acl.rt.get_mem_info(1)[0]

    before = free()
    blocks = [take(pool, stream, size) for size in (SIZE, 100, SIZE + 1)]
    assert before - free() == get(pool, RESERVED) == SIZE + 4096 + SIZE + (2 << 20)
    for address in blocks:
        assert give(address, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert before - free() == get(pool, RESERVED)
    assert lib.aclrtMemPoolTrimTo(pool, 0) == 0
    assert before == free()


@pytest.mark.parametrize("wait", ["stream", "stream with a limit", "device", "device with a limit", "event"])
def test_synchronising_gives_back_what_is_above_the_threshold(pool, stream, event, wait):
    waits = {
        "stream": lambda: acl.rt.synchronize_stream(stream),
        "stream with a limit": lambda: acl.rt.synchronize_stream_with_timeout(stream, 60000),
        "device": lambda: acl.rt.synchronize_device(),
        "device with a limit": lambda: lib.aclrtSynchronizeDeviceWithTimeout(60000),
        "event": lambda: acl.rt.synchronize_event(event),
    }
    assert put(pool, THRESHOLD, SIZE) == 0
    blocks = [take(pool, stream) for _ in range(3)]
    for address in blocks[1:]:
        assert give(address, stream) == 0
    assert acl.rt.record_event(event, stream) == 0
    assert waits[wait]() == 0
    assert get(pool, RESERVED) == 2 * SIZE  # one in use, one kept
    assert put(pool, THRESHOLD, 0) == 0
    assert waits[wait]() == 0
    assert get(pool, RESERVED) == SIZE
    assert acl.rt.memset(blocks[0], SIZE, 0, SIZE) == 0


@pytest.mark.parametrize(("keep", "left"), [(0, 1), (SIZE, 1), (2 * SIZE, 2), (2 * SIZE + 1, 3), (9 * SIZE, 4)])
def test_trimming_keeps_what_is_used_and_what_was_asked_for(pool, stream, keep, left):
    blocks = [take(pool, stream) for _ in range(4)]
    for address in blocks[1:]:
        assert give_at_once(address) == 0
    assert lib.aclrtMemPoolTrimTo(pool, keep) == 0
    assert get(pool, RESERVED) == left * SIZE


def test_what_is_being_freed_is_not_trimmed(pool, freed):
    assert lib.aclrtMemPoolTrimTo(pool, 0) == 0
    assert get(pool, RESERVED) == SIZE


def test_a_device_that_is_full_takes_what_pools_do_not_use(configure):
    configure(memory="64M")
    assert acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    pool = create()
    assert put(pool, THRESHOLD, 1 << 40) == 0
    address = take(pool, stream, 40 << 20)
    assert acl.rt.malloc(40 << 20, 0)[1] == 207001
    assert give_at_once(address) == 0
    block, ret = acl.rt.malloc(40 << 20, 0)
    assert ret == 0
    assert get(pool, RESERVED) == 0
    refused(refuse(pool, stream, 40 << 20), 207001, "nor its device has enough free memory")
    assert give_at_once(block) == 0


def test_a_limit_is_kept_by_giving_back_what_is_not_used(stream):
    pool = create(2 * SIZE)
    first, second = take(pool, stream), take(pool, stream)
    refused(refuse(pool, stream), 207001, "maxSize")
    refused(refuse(pool, stream, 3 * SIZE), 207001, "maxSize")
    assert give_at_once(first) == 0
    assert give_at_once(second) == 0
    take(pool, stream, 2 * SIZE)
    assert get(pool, RESERVED) == 2 * SIZE
    free_taken()
    assert lib.aclrtMemPoolDestroy(pool) == 0


# ---- ends ----


@pytest.mark.finds("race", count=None)
def test_a_destroyed_pool_lives_on_in_what_is_used(pool, stream):
    free = acl.rt.get_mem_info(1)[0]
    used, idle = take(pool, stream), take(pool, stream)
    assert give_at_once(idle) == 0
    assert lib.aclrtMemPoolDestroy(pool) == 0
    assert free - acl.rt.get_mem_info(1)[0] == SIZE
    refused(refuse(pool, stream), 107017, "a destroyed memory pool", "expected a live memory pool")
    assert acl.rt.memset(used, SIZE, 1, SIZE) == 0
    assert give(used, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.get_mem_info(1)[0] == free


def test_a_destroyed_pool_waits_for_all_lives(pool, stream):
    free = acl.rt.get_mem_info(1)[0]
    hold(stream)
    address = take(pool, stream)
    assert give(address, stream) == 0
    assert take(pool, stream) == address
    assert give_at_once(address) == 0
    assert lib.aclrtMemPoolDestroy(pool) == 0
    assert free - acl.rt.get_mem_info(1)[0] == SIZE
    release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.get_mem_info(1)[0] == free


@pytest.mark.finds("invalid-free", "leaked-memory", "leaked-object")
def test_pools_end_with_their_device(device):
    stream, _ = acl.rt.create_stream()
    pool = create()
    address = take(pool, stream)
    assert give(take(pool, stream), stream) == 0
    assert acl.rt.reset_device_force(0) == 0
    assert acl.rt.set_device(0) == 0
    refused(lib.aclrtMemPoolTrimTo(pool, 0), 107017, "a destroyed memory pool")
    refused(give_at_once(address), 107000)


def test_captures_refuse_both(pool, stream, other):
    address = take(pool, stream)
    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    refused(refuse(pool, stream), 207000, "aclrtMemPoolMallocAsync cannot be recorded")
    refused(give(address, stream), 207000, "aclrtMemPoolFreeAsync cannot be recorded")
    assert acl.mdl.ri_capture_end(stream)[1] == 0
    assert get(pool, USED) == SIZE
    assert give(address, stream) == 0


@pytest.mark.parametrize("schedule", ["parallel", "eager"])
def test_every_schedule(configure, schedule):
    configure(schedule=schedule)
    assert acl.rt.set_device(0) == 0
    queues = [acl.rt.create_stream()[0] for _ in range(3)]
    pool = create()
    for i in range(30):
        stream = queues[i % 3]
        address = take(pool, stream, 4096)
        assert acl.rt.memset_async(address, 4096, i, 4096, stream) == 0
        assert give(address, stream) == 0
    assert acl.rt.synchronize_device() == 0
    assert (get(pool, USED), get(pool, RESERVED)) == (0, 0)
