"""Managed memory: one address for host and device, copies in order, and what is kept of advice and prefetches."""

import ctypes

import pytest
from helpers.expect import NULL, in_thread, pointer, refused
from helpers.processes import processes
from helpers.programs import sanitized

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

PAGE = 2 << 20
BASE, MOST = 0x90000000000, 3 << 40
DEFAULT, TO_DEVICE, TO_HOST = 4, 1, 2
READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFERRED_TYPE, PREFERRED_ID = range(1, 6)
PREFETCHED, PREFETCHED_TYPE, PREFETCHED_ID = range(6, 9)
SET_READ_MOSTLY, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED, UNSET_ACCESSED = range(6)
DEVICE, HOST, NUMA, NUMA_CURRENT = range(1, 5)
NOWHERE = -2
PA3, P950 = "Ascend910_9392", "Ascend910_95"


def managed(size):
    """Return the address of managed memory."""
    place = ffi.new("void **")
    assert lib.aclrtMemAllocManaged(place, size, 1) == 0, acl.get_recent_err_msg()
    return int(ffi.cast("uintptr_t", place[0]))


@pytest.fixture
def block(configure):
    """Make four pages on a library with two devices; device 0 is current."""
    configure(devices=2)
    assert acl.rt.set_device(0) == 0
    return managed(4 * PAGE)


def location(kind, number=0):
    return ffi.new("aclrtMemManagedLocation *", (kind, number))[0]


def advise(address, size, advice, kind=0, number=0):
    return lib.aclrtMemManagedAdvise(pointer(address), size, advice, location(kind, number))


def attribute(which, address, size, count=1):
    """Return one attribute of a range, as a list for more than one number."""
    found = ffi.new("int32_t[]", [77] * count)
    assert lib.aclrtMemManagedGetAttr(which, pointer(address), size, found, 4 * count) == 0, acl.get_recent_err_msg()
    return found[0] if count == 1 else list(found)


def prefetch(address, size, kind, number, stream):
    return lib.aclrtMemManagedPrefetchAsync(pointer(address), size, location(kind, number), 0, pointer(stream))


def content(address, size):
    return ctypes.string_at(address, size)


def test_addresses_are_in_their_range():
    """They are, in a process where nobody but a sanitizer has these addresses."""
    with processes(1) as [fresh]:
        fresh('place = ffi.new("void **")')
        assert fresh("lib.aclrtMemAllocManaged(place, 1, 1)") == 0
        assert (fresh('int(ffi.cast("uintptr_t", place[0]))') == BASE) is not sanitized()


def test_blocks_are_whole_pages(block):
    one, big = managed(1), managed(1 << 34)
    assert all(address % PAGE == 0 for address in (block, one, big))
    assert len({block, one, big}) == 3
    assert one >= block + 4 * PAGE
    free = acl.rt.get_mem_info(1)[0]
    assert acl.rt.free(big) == 0
    assert acl.rt.get_mem_info(1)[0] == free
    assert managed(PAGE) == big
    assert acl.rt.free(one) == 0


def test_pointers_are_told_as_managed(block):
    attributes, ret = acl.rt.pointer_get_attributes(block + 5)
    assert ret == 0
    assert attributes["location"] == {"id": 0, "type": 3}
    assert attributes["page_size"] == PAGE
    assert acl.rt.free(block) == 0
    refused(acl.rt.pointer_get_attributes(block)[1], 107000, "not allocated (any more)")


def test_the_device_is_the_one_that_was_current(block):
    assert acl.rt.set_device(1) == 0
    other = managed(PAGE)
    assert acl.rt.pointer_get_attributes(other)[0]["location"] == {"id": 1, "type": 3}
    assert acl.rt.free(other) == 0


def test_what_the_host_writes_a_copy_reads_and_the_other_way_round(block):
    ctypes.memmove(block, b"written by the host", 19)
    device, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    assert acl.rt.memcpy(device, 64, block, 19, DEFAULT) == 0
    assert acl.rt.memset(block, 64, 0, 64) == 0
    assert acl.rt.memcpy(block + PAGE, 64, device, 19, DEFAULT) == 0
    assert content(block + PAGE, 19) == b"written by the host"
    assert content(block, 4) == bytes(4)


def test_a_device_task_writes_what_the_host_reads(block, stream):
    seen = []

    @ffi.callback("aclError (void *)")
    def task(argument):
        seen.append(content(block, 1))
        ctypes.memset(block + 1, 9, 1)
        return 0

    ranges = ffi.new("aclsimRange[1]", [{"address": pointer(block), "size": PAGE, "write": 1}])
    ctypes.memset(block, 7, 1)
    assert lib.aclsimLaunchTask(pointer(stream), task, NULL, ranges, 1, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [b"\x07"]
    assert content(block, 2) == b"\x07\x09"


def test_copies_and_sets_take_their_turn(block, stream):
    """Also with ordinary host memory on the other side, which elsewhere the caller would wait for."""
    ordinary = ctypes.create_string_buffer(b"ordinary", 8)
    place = ctypes.addressof(ordinary)
    assert acl.rt.memset(block, PAGE, 0, PAGE) == 0
    assert lib.aclsimStreamHold(pointer(stream)) == 0
    assert acl.rt.memcpy_async(block, PAGE, place, 8, TO_DEVICE, stream) == 0
    assert acl.rt.memset_async(block + 8, PAGE, 1, 4, stream) == 0
    assert acl.rt.memcpy_async(block + PAGE, PAGE, block, 12, DEFAULT, stream) == 0
    assert content(block, 12) == bytes(12)
    assert lib.aclsimStreamRelease(pointer(stream)) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert content(block + PAGE, 12) == b"ordinary\1\1\1\1"


def test_copies_are_captured_and_run_again(block, stream):
    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    assert acl.rt.memcpy_async(block + PAGE, PAGE, block, 4, DEFAULT, stream) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    for word in (b"once", b"more"):
        ctypes.memmove(block, word, 4)
        assert acl.mdl.ri_execute_async(instance, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert content(block + PAGE, 4) == word
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_a_task_on_freed_memory_fails(block, stream):
    doomed = managed(PAGE)
    assert lib.aclsimStreamHold(pointer(stream)) == 0
    assert acl.rt.memset_async(doomed, PAGE, 1, PAGE, stream) == 0
    assert acl.rt.free(doomed) == 0
    assert lib.aclsimStreamRelease(pointer(stream)) == 0
    refused(acl.rt.synchronize_stream(stream), 507053, f"{doomed:#x}", "were freed before it ran")


def test_freed_memory_is_zero_when_it_comes_back(block):
    first = managed(PAGE)
    ctypes.memset(first, 5, 64)
    assert acl.rt.free(first) == 0
    assert managed(PAGE) == first
    assert content(first, 64) == bytes(64)


def test_without_advice_nothing_is_told(block):
    places = PREFERRED, PREFERRED_ID, PREFETCHED, PREFETCHED_ID
    assert [attribute(which, block, PAGE) for which in places] == [NOWHERE] * 4
    assert [attribute(which, block, PAGE) for which in (READ_MOSTLY, PREFERRED_TYPE, PREFETCHED_TYPE)] == [0] * 3
    assert attribute(ACCESSED_BY, block, PAGE, 3) == [NOWHERE] * 3


def test_read_mostly_holds_where_it_was_set(block):
    assert advise(block + PAGE, 2 * PAGE, SET_READ_MOSTLY) == 0
    pages = [attribute(READ_MOSTLY, block + i * PAGE, PAGE) for i in range(4)]
    assert pages == [0, 1, 1, 0]
    assert attribute(READ_MOSTLY, block + PAGE, 2 * PAGE) == 1
    assert attribute(READ_MOSTLY, block, 4 * PAGE) == 0
    assert attribute(READ_MOSTLY, block + PAGE - 1, 2) == 0  # a byte of each page
    assert advise(block + PAGE, PAGE, UNSET_READ_MOSTLY, HOST) == 0
    assert [attribute(READ_MOSTLY, block + i * PAGE, PAGE) for i in range(4)] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("kind", "number", "told"), [(DEVICE, 1, (1, DEVICE)), (HOST, 5, (-1, HOST)), (NUMA, 0, (0, NUMA))]
)
def test_preferred_location(block, kind, number, told):
    assert advise(block, 2 * PAGE, SET_PREFERRED, kind, number) == 0
    assert (attribute(PREFERRED, block, 2 * PAGE), attribute(PREFERRED_TYPE, block, 2 * PAGE)) == told
    assert attribute(PREFERRED_ID, block, PAGE) == told[0]
    assert (attribute(PREFERRED, block, 3 * PAGE), attribute(PREFERRED_TYPE, block, 3 * PAGE)) == (NOWHERE, 0)
    assert advise(block, PAGE, UNSET_PREFERRED) == 0
    assert attribute(PREFERRED, block, PAGE) == NOWHERE
    assert attribute(PREFERRED, block + PAGE, PAGE) == told[0]


def test_the_current_node_becomes_a_node(block):
    assert advise(block, PAGE, SET_PREFERRED, NUMA_CURRENT, 1234) == 0
    assert attribute(PREFERRED_TYPE, block, PAGE) == NUMA
    assert attribute(PREFERRED, block, PAGE) >= 0


def test_accessed_by_lists_who_accesses_all_pages(block):
    assert advise(block, 2 * PAGE, SET_ACCESSED, DEVICE, 1) == 0
    assert advise(block, PAGE, SET_ACCESSED, DEVICE, 0) == 0
    assert advise(block, 2 * PAGE, SET_ACCESSED, HOST) == 0
    assert attribute(ACCESSED_BY, block, PAGE, 4) == [0, 1, -1, NOWHERE]
    assert attribute(ACCESSED_BY, block, 2 * PAGE, 4) == [1, -1, NOWHERE, NOWHERE]
    assert attribute(ACCESSED_BY, block, PAGE, 2) == [0, 1]
    assert advise(block, 2 * PAGE, UNSET_ACCESSED, DEVICE, 1) == 0
    assert advise(block, 2 * PAGE, UNSET_ACCESSED, HOST) == 0
    assert attribute(ACCESSED_BY, block, PAGE, 2) == [0, NOWHERE]


def test_several_attributes_at_once(block):
    assert advise(block, PAGE, SET_PREFERRED, DEVICE, 1) == 0
    found = ffi.new("int32_t[4]")
    which = ffi.new("aclrtMemManagedRangeAttribute[]", [PREFERRED, ACCESSED_BY, PREFERRED_TYPE])
    data, sizes = ffi.new("void *[]", [found, found + 1, found + 3]), ffi.new("size_t[]", [4, 8, 4])
    assert lib.aclrtMemManagedGetAttrs(which, 3, pointer(block), PAGE, data, sizes) == 0
    assert list(found) == [1, NOWHERE, NOWHERE, DEVICE]
    sizes[2] = 8
    found[0] = 77
    ret = lib.aclrtMemManagedGetAttrs(which, 3, pointer(block), PAGE, data, sizes)
    refused(ret, 107000, "dataSize is 8 with attribute 4", "expected 4")
    assert found[0] == 77


def test_a_prefetch_is_told_when_its_turn_has_come(block, stream):
    assert lib.aclsimStreamHold(pointer(stream)) == 0
    assert prefetch(block, 2 * PAGE, DEVICE, 1, stream) == 0
    assert prefetch(block, PAGE, HOST, 0, stream) == 0
    assert attribute(PREFETCHED, block, PAGE) == NOWHERE
    assert lib.aclsimStreamRelease(pointer(stream)) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    told = [(attribute(PREFETCHED, block + i * PAGE, PAGE), attribute(PREFETCHED_TYPE, block + i * PAGE, PAGE))
            for i in range(3)]  # fmt: skip
    assert told == [(-1, HOST), (1, DEVICE), (NOWHERE, 0)]
    assert attribute(PREFETCHED_ID, block, 2 * PAGE) == NOWHERE


def batch(addresses, places, firsts, stream, **changed):
    given = {
        "ptrs": ffi.new("void *[]", [pointer(address) for address in addresses]),
        "sizes": ffi.new("size_t[]", [PAGE] * len(addresses)),
        "count": len(addresses),
        "locations": ffi.new("aclrtMemManagedLocation[]", places),
        "indexes": ffi.new("size_t[]", firsts),
        "number": len(places),
        "flags": 0,
        **changed,
    }
    return lib.aclrtMemManagedPrefetchBatchAsync(*given.values(), pointer(stream))


def test_a_batch_gives_each_range_the_place_before_it(block, stream):
    pages = [block + i * PAGE for i in range(4)]
    assert batch(pages, [(DEVICE, 1), (HOST, 0), (DEVICE, 0)], [0, 2, 3], stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert [attribute(PREFETCHED, page, PAGE) for page in pages] == [1, 1, -1, 0]


def test_a_batch_that_is_refused_does_nothing(block, stream):
    refused(batch([block, 4096], [(HOST, 0)], [0], stream), 107000, "ptrs[1] is 0x1000", "multiple of 2 MiB")
    assert acl.rt.synchronize_stream(stream) == 0
    assert attribute(PREFETCHED, block, PAGE) == NOWHERE


BATCH_ERRORS = [  # what is changed; code; words
    ({"ptrs": NULL}, 100000, "ptrs is NULL"),
    ({"sizes": NULL}, 100000, "sizes is NULL"),
    ({"count": 0}, 100000, "count is 0"),
    ({"locations": NULL}, 100000, "prefetchLocs is NULL"),
    ({"indexes": NULL}, 100000, "prefetchLocIdxs is NULL"),
    ({"number": 0}, 100000, "numPrefetchLocs is 0"),
    ({"number": 3}, 100000, "numPrefetchLocs is 3"),
    ({"flags": 1}, 100000, "flags is 0x1"),
    ({"indexes": [1, 2]}, 107000, "prefetchLocIdxs[0] is 1"),
    ({"indexes": [0, 0]}, 107000, "prefetchLocIdxs[1] is 0"),
    ({"indexes": [0, 2]}, 107000, "prefetchLocIdxs[1] is 2"),
    ({"locations": [(HOST, 0), (DEVICE, 2)]}, 107000, "prefetchLocs[1].id is 2"),
    ({"sizes": [PAGE, 0]}, 100000, "sizes[1] is 0"),
    ({"sizes": [PAGE, 5]}, 107000, "size is 5"),
    ({"count": 65537}, 107000, "count is 65537"),
]
ARRAYS = {"sizes": "size_t[]", "indexes": "size_t[]", "locations": "aclrtMemManagedLocation[]"}


@pytest.mark.parametrize("row", range(len(BATCH_ERRORS)))
def test_errors_of_batches(block, stream, row):
    change, code, words = BATCH_ERRORS[row]
    change = {
        name: ffi.new(ARRAYS[name], value) if isinstance(value, list) else value for name, value in change.items()
    }
    refused(batch([block, block + PAGE], [(HOST, 0), (DEVICE, 0)], [0, 1], stream, **change), code, words)


def on_device(call):
    """Return what a call returns that gets the address of device memory."""
    address, _ = acl.rt.malloc(4, 0)
    ret = call(pointer(address))
    assert acl.rt.free(address) == 0
    return ret


PLACE, NUMBER = ffi.new("void **"), ffi.new("int32_t[4]")
ERRORS = [  # call with a block of four pages and a stream; code; words
    (lambda block, stream: lib.aclrtMemAllocManaged(NULL, 1, 1), 100000, "ptr is NULL"),
    (lambda block, stream: lib.aclrtMemAllocManaged(PLACE, 1, 0), 100000, "flag is 0"),
    (lambda block, stream: lib.aclrtMemAllocManaged(PLACE, 1, 2), 100000, "flag is 2"),
    (lambda block, stream: lib.aclrtMemAllocManaged(PLACE, 0, 1), 107000, "size is 0"),
    (lambda block, stream: lib.aclrtMemAllocManaged(PLACE, MOST, 1), 207001, f"size is {MOST}"),
    (lambda block, stream: lib.aclrtMemAllocManaged(PLACE, MOST + 1, 1), 207001, "expected at most"),
    (lambda block, stream: lib.aclrtMemAllocManaged(PLACE, 2**64 - 1, 1), 207001, "expected at most"),
    (lambda block, stream: in_thread(lambda: lib.aclrtMemAllocManaged(PLACE, 1, 1)), 107002, None),
    (lambda block, stream: advise(0, PAGE, 0), 100000, "ptr is NULL"),
    (lambda block, stream: advise(block, 0, 0), 100000, "size is 0"),
    (lambda block, stream: advise(block, PAGE, 6), 107000, "advise is 6"),
    (lambda block, stream: advise(block, PAGE, SET_PREFERRED, DEVICE, 2), 107000, "location.id is 2"),
    (lambda block, stream: advise(block, PAGE, SET_PREFERRED, DEVICE, -1), 107000, "location.id is -1"),
    (lambda block, stream: advise(block, PAGE, SET_ACCESSED, 0), 107000, "location.type is 0"),
    (lambda block, stream: advise(block, PAGE, SET_ACCESSED, 5), 107000, "location.type is 5"),
    (lambda block, stream: advise(block, PAGE, UNSET_ACCESSED, NUMA, 1000), 107000, "location.id is 1000"),
    (lambda block, stream: advise(block, PAGE + 1, 0), 107000, "size is"),
    (lambda block, stream: advise(block + 512, PAGE, 0), 107000, "expected a multiple of 2 MiB"),
    (lambda block, stream: advise(block, 5 * PAGE, 0), 107000, "expected at most"),
    (lambda block, stream: advise(PAGE, PAGE, 0), 107000, "ordinary host memory"),
    (lambda block, stream: advise(block + (1 << 29), PAGE, 0), 107000, "not allocated"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(1, NULL, 1, NUMBER, 4), 100000, "ptr is NULL"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(1, pointer(block), 0, NUMBER, 4), 100000, "size is 0"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(1, pointer(block), 1, NULL, 4), 100000, "data is NULL"),
    (
        lambda block, stream: on_device(lambda data: lib.aclrtMemManagedGetAttr(1, pointer(block), 1, data, 4)),
        100000,
        "data is",
    ),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(0, pointer(block), 1, NUMBER, 4), 107000, "attribute is 0"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(9, pointer(block), 1, NUMBER, 4), 107000, "attribute is 9"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(1, pointer(block), 1, NUMBER, 8), 107000, "dataSize is 8"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(3, pointer(block), 1, NUMBER, 0), 107000, "dataSize is 0"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(3, pointer(block), 1, NUMBER, 6), 107000, "dataSize is 6"),
    (lambda block, stream: lib.aclrtMemManagedGetAttr(1, NUMBER, 1, NUMBER, 4), 107000, "ordinary host memory"),
    (lambda block, stream: lib.aclrtMemManagedGetAttrs(NULL, 1, NULL, 0, NULL, NULL), 100000, "attributes is NULL"),
    (lambda block, stream: prefetch(0, PAGE, HOST, 0, stream), 100000, "ptr is NULL"),
    (lambda block, stream: prefetch(block, 0, HOST, 0, stream), 100000, "size is 0"),
    (
        lambda block, stream: lib.aclrtMemManagedPrefetchAsync(
            pointer(block), PAGE, location(HOST), 1, pointer(stream)
        ),
        100000,
        "flags is 0x1",
    ),
    (lambda block, stream: prefetch(block, PAGE, HOST, 0, 4097), 107017, "stream is 0x1001"),
    (lambda block, stream: prefetch(block, PAGE, DEVICE, 2, stream), 107000, "location.id is 2"),
    (lambda block, stream: prefetch(block, PAGE, 0, 0, stream), 107000, "location.type is 0"),
    (lambda block, stream: prefetch(block, 5, HOST, 0, stream), 107000, "size is 5"),
    (lambda block, stream: in_thread(lambda: prefetch(block, PAGE, HOST, 0, 0)), 107002, None),
    (lambda block, stream: acl.rt.free(block + PAGE), 107000, "into a block of managed memory"),
    (lambda block, stream: acl.rt.memcpy(block, 8 * PAGE, block, 4 * PAGE + 1, DEFAULT), 0, None),
    (lambda block, stream: acl.rt.memset(block, 8 * PAGE, 0, 4 * PAGE + 1), 107000, "expected at most"),
    (lambda block, stream: lib.aclrtMemsetD32(pointer(block), 4, 0, 1), 100000, "managed memory"),
    (lambda block, stream: lib.aclrtValueWrite(pointer(block), 0, 0, NULL), 107000, "managed memory"),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(request, block, stream, row):
    call, code, words = ERRORS[row]
    if words == "into a block of managed memory":
        request.applymarker(pytest.mark.finds("invalid-free"))
    ret = call(block, stream)
    if words is None:  # no message on this thread
        assert ret == code
    else:
        refused(ret, code, words)


@pytest.mark.parametrize(("soc", "code"), [(PA3, 0), (P950, 207000)])
def test_products(configure, soc, code):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    assert lib.aclrtMemAllocManaged(PLACE, 1, 1) == code


def test_a_fork_does_not_get_its_parents_addresses(run_script):
    done = run_script(
        """
import os, acl
from acl._lib import ffi, lib
def managed():
    place = ffi.new("void **")
    assert lib.aclrtMemAllocManaged(place, 1, 1) == 0
    return int(ffi.cast("uintptr_t", place[0]))
acl.rt.set_device(0)
mine = managed()
if os.fork() == 0:
    acl.rt.set_device(0)
    os._exit(acl.rt.free(mine) != 107000 or managed() <= mine)
print(os.wait()[1], acl.rt.free(mine))
"""
    )
    assert done.stdout.split() == ["0", "0"], done.stderr
