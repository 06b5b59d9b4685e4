"""Memory: what each call does, by values."""

import mmap

import numpy
import pytest
from helpers.expect import pointer
from helpers.memory import read, write

import acl
from acl._lib import ffi, lib

HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY = 0, 1, 2
H2H, H2D, D2H, D2D, DEFAULT, STAGED = range(6)
MIB = 1 << 20
POLICIES = [HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY]


@pytest.fixture
def pages():
    """4 pages of ordinary memory, as (address, mapping)."""
    mapping = mmap.mmap(-1, 4 * mmap.PAGESIZE)
    yield int(ffi.cast("uintptr_t", ffi.from_buffer(mapping))), mapping


def info(attr=1):
    free, total, ret = acl.rt.get_mem_info(attr)
    assert ret == 0
    return free, total


def location(address):
    attributes = ffi.new("aclrtPtrAttributes *")
    assert lib.aclrtPointerGetAttributes(pointer(address), attributes) == 0
    return attributes.location.type, attributes.location.id, attributes.pageSize


# ---- allocation ----


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("size", [1, 31, 256, 4096, 65536, MIB, 2 * MIB + 1])
@pytest.mark.parametrize("malloc", ["malloc", "malloc_align32", "malloc_cached"])
def test_device_blocks_hold_what_was_written(device, malloc, size, policy):
    address, ret = getattr(acl.rt, malloc)(size, policy)
    assert ret == 0
    assert address % 64 == 0
    values = numpy.arange(size, dtype=numpy.uint64).astype(numpy.uint8)
    write(address, values)
    assert (read(address, size) == values).all()
    assert acl.rt.free(address) == 0


def test_blocks_do_not_overlap(block):
    addresses = [block(size) for size in (1, 100, 512, 5000, 70000, 3 * MIB) for _ in range(20)]
    for number, address in enumerate(addresses):
        assert acl.rt.memset(address, 1, number, 1) == 0
    assert [int(read(address, 1)[0]) for address in addresses] == list(range(len(addresses)))


def test_memory_of_one_context_is_usable_from_another(memory):
    address = memory.block(64)
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    assert acl.rt.memset(address, 64, 9, 64) == 0
    assert (read(address, 64) == 9).all()
    assert acl.rt.destroy_context(context) == 0
    assert memory.free(address) == 0, "no current context is needed"
    assert acl.rt.set_device(0) == 0


def test_free_info_moves_with_each_block(device):
    before, total = info()
    assert 0 < before <= total
    small, ret = acl.rt.malloc(256, HUGE_FIRST)
    large, ret = acl.rt.malloc(8 * MIB, HUGE_FIRST)
    assert info()[0] <= before - 8 * MIB
    assert acl.rt.free(small) == acl.rt.free(large) == 0
    assert info() == (before, total)


@pytest.mark.strict
@pytest.mark.parametrize(
    "size, policy, normal, huge",
    [
        (1, HUGE_FIRST, 4096, 0),
        (4096 - 32, HUGE_FIRST, 4096, 0),
        (4096, HUGE_FIRST, 8192, 0),
        (MIB - 32, HUGE_FIRST, MIB, 0),
        (MIB, HUGE_FIRST, 0, 2 * MIB),
        (2 * MIB, HUGE_FIRST, 0, 4 * MIB),
        (1, HUGE_ONLY, 0, 2 * MIB),
        (4 * MIB, NORMAL_ONLY, 4 * MIB + 4096, 0),
        (4 * MIB, 3, 4 * MIB + 4096, 0),
        (4 * MIB, 4, 4 * MIB + 4096, 0),
        (4 * MIB, 5, 4 * MIB + 4096, 0),
        (4 * MIB, 99, 0, 6 * MIB),
        (4 * MIB, 0x100, 0, 6 * MIB),
        (1, 6, 0, 1 << 30),
    ],
)
def test_pages_by_policy(device, size, policy, normal, huge):
    attrs = {"normal": (3, 5, 12), "huge": (2, 4, 13), "all": (0, 1)}
    before = {attr: info(attr)[0] for group in attrs.values() for attr in group}
    address, ret = acl.rt.malloc(size, policy)
    assert ret == 0
    taken = {attr: free - info(attr)[0] for attr, free in before.items()}
    assert {taken[attr] for attr in attrs["normal"]} == {normal}
    assert {taken[attr] for attr in attrs["huge"]} == {huge}
    assert {taken[attr] for attr in attrs["all"]} == {normal + huge}
    assert acl.rt.free(address) == 0
    assert {attr: info(attr)[0] for attr in before} == before


@pytest.mark.strict
@pytest.mark.parametrize("policy", [3, 4, 5, 7, 99, 0x100, 0x1000])
def test_cached_memory_knows_four_policies(device, policy):
    """Others are as HUGE_FIRST."""
    before = info(3)[0], info(2)[0]
    address, ret = acl.rt.malloc_cached(4 * MIB, policy)
    assert ret == 0
    assert (before[0] - info(3)[0], before[1] - info(2)[0]) == (0, 6 * MIB)
    assert acl.rt.free(address) == 0


@pytest.mark.strict
def test_addresses_are_multiples_of_512(block):
    assert all(block(size) % 512 == 0 for size in (1, 33, 600, 5000, 40000, 100000, 3 * MIB))


@pytest.mark.strict
def test_free_is_immediate_and_the_address_is_reused(device):
    first, _ = acl.rt.malloc(5 * MIB, HUGE_FIRST)
    assert acl.rt.free(first) == 0
    second, _ = acl.rt.malloc(5 * MIB, HUGE_FIRST)
    assert acl.rt.free(second) == 0
    assert first == second


def test_free_with_device_sync_waits_for_tasks(stream, block, pinned):
    source, (address, view) = block(64), pinned(64)
    gone, _ = acl.rt.malloc(64, HUGE_FIRST)
    assert acl.rt.memset_async(source, 64, 3, 64, stream) == 0
    assert acl.rt.memcpy_async(address, 64, source, 64, D2H, stream) == 0
    assert lib.aclrtFreeWithDevSync(pointer(gone)) == 0
    assert (view == 3).all()
    other, ret = acl.rt.malloc_host(64)
    assert acl.rt.memset_async(source, 64, 4, 64, stream) == 0
    assert acl.rt.memcpy_async(address, 64, source, 64, D2H, stream) == 0
    assert lib.aclrtFreeHostWithDevSync(pointer(other)) == 0
    assert (view == 4).all()


def test_flush_and_invalidate(block):
    address = block(64)
    write(address, numpy.full(64, 5, numpy.uint8))
    assert acl.rt.mem_flush(address, 64) == 0
    assert acl.rt.mem_invalidate(address, 64) == 0
    assert (read(address, 64) == 5).all()


def test_pointer_attributes(block, pinned):
    small, huge, (host, _) = block(100), block(100, HUGE_ONLY), pinned(100)
    ordinary = numpy.zeros(4)
    assert location(small) == (1, 0, 4096)
    assert location(small + 99) == (1, 0, 4096)
    assert location(huge)[2] == 2 * MIB
    assert location(host)[:2] == (0, 0)
    assert location(ordinary.ctypes.data)[0] == 2


def test_pinned_memory_is_host_memory(pinned):
    address, view = pinned(1000)
    assert address % 64 == 0
    view[:] = 7
    assert acl.rt.memset(address, 1000, 1, 500) == 0
    assert view.sum() == 500 + 7 * 500


# ---- synchronous copies ----


@pytest.mark.parametrize("kind", [H2H, H2D, D2H, D2D, DEFAULT, STAGED])
def test_the_addresses_decide_the_direction(request, block, kind):
    if kind < DEFAULT:
        request.applymarker(pytest.mark.finds("copy-direction", count=3))
    a, b = block(64), block(64)
    values, out = numpy.arange(64, dtype=numpy.uint8), numpy.zeros(64, numpy.uint8)
    assert acl.rt.memcpy(a, 64, values.ctypes.data, 64, kind) == 0
    assert acl.rt.memcpy(b, 64, a, 64, kind) == 0
    assert acl.rt.memcpy(out.ctypes.data, 64, b, 64, kind) == 0
    assert (out == values).all()
    other = numpy.zeros(64, numpy.uint8)
    assert acl.rt.memcpy(other.ctypes.data, 64, out.ctypes.data, 64, kind) == 0
    assert (other == values).all()


def test_copies_of_parts(block):
    address = block(100)
    write(address, numpy.zeros(100, numpy.uint8))
    write(address + 10, numpy.full(5, 1, numpy.uint8))
    assert acl.rt.memcpy(address + 50, 50, address + 8, 8, D2D) == 0
    expected = numpy.zeros(100, numpy.uint8)
    expected[10:15] = expected[52:57] = 1
    assert (read(address, 100) == expected).all()


def test_nothing_to_do_succeeds_before_any_check(device):
    assert acl.rt.memcpy(0, 0, 0, 0, 99) == 0
    assert acl.rt.memcpy_async(0, 0, 0, 0, 99, 12345) == 0
    assert acl.rt.memcpy_async_with_condition(0, 0, 0, 0, 99, 12345) == 0
    assert acl.rt.memset(0, 0, 0, 0) == 0
    assert acl.rt.memset_async(0, 0, 0, 0, 12345) == 0
    assert acl.rt.memcpy2d(0, 0, 0, 0, 0, 5, 99) == 0
    assert acl.rt.memcpy2d(0, 0, 0, 0, 5, 0, 99) == 0
    assert acl.rt.memcpy2d_async(0, 0, 0, 0, 0, 5, 99, 12345) == 0
    assert lib.aclrtMemsetD32(ffi.NULL, 0, 1, 0) == 0
    assert lib.aclrtMemsetD32Async(ffi.NULL, 0, 1, 0, pointer(12345)) == 0


def test_copy_to_itself(block):
    address = block(64)
    assert acl.rt.memcpy(address, 64, address, 64, D2D) == 0
    assert acl.rt.memcpy_async(address, 64, address, 64, D2D, 0) == 0


@pytest.mark.parametrize("value, stored", [(0, 0), (1, 1), (255, 255), (256, 0), (-1, 255), (0x1234, 0x34)])
def test_memset_takes_the_low_byte(block, value, stored):
    address = block(64)
    assert acl.rt.memset(address, 64, value, 64) == 0
    assert (read(address, 64) == stored).all()
    assert acl.rt.memset_async(address, 64, value + 1, 64, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert (read(address, 64) == (stored + 1) % 256).all()


def test_memset_d32(stream, block, pinned):
    address, (host, view) = block(64), pinned(64)
    assert acl.rt.memset(address, 64, 0, 64) == 0
    assert lib.aclrtMemsetD32(pointer(address), 64, 0x01020304, 3) == 0
    words = read(address, 64).view(numpy.uint32)
    assert (words[:3] == 0x01020304).all() and (words[3:] == 0).all()
    assert lib.aclrtMemsetD32Async(pointer(address), 64, 0xFFFF0000, 16, pointer(stream)) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert (read(address, 64).view(numpy.uint32) == 0xFFFF0000).all()
    assert lib.aclrtMemsetD32(pointer(host), 64, 77, 16) == 0
    assert (view.view(numpy.uint32) == 77).all()


def test_2d_copies_leave_the_rest_of_each_row_alone(stream, block):
    host = numpy.arange(60, dtype=numpy.uint8).reshape(6, 10)
    address, other = block(48), block(48)
    for target in (address, other):
        assert acl.rt.memset(target, 48, 0, 48) == 0
    assert acl.rt.memcpy2d(address, 8, host.ctypes.data, 10, 5, 6, H2D) == 0
    rows = read(address, 48).reshape(6, 8)
    assert (rows[:, :5] == host[:, :5]).all() and (rows[:, 5:] == 0).all()
    assert acl.rt.memcpy2d_async(other, 8, address, 8, 4, 6, D2D, stream) == 0
    back = numpy.full((6, 10), 99, numpy.uint8)
    assert acl.rt.memcpy2d_async(back.ctypes.data, 10, other, 8, 5, 6, D2H, stream) == 0
    assert (back[:, :4] == host[:, :4]).all() and (back[:, 4] == 0).all() and (back[:, 5:] == 99).all()
    again = numpy.zeros((6, 5), numpy.uint8)
    assert acl.rt.memcpy2d(again.ctypes.data, 5, address, 8, 5, 6, DEFAULT) == 0
    assert (again == host[:, :5]).all()


# ---- asynchronous copies ----


@pytest.mark.parametrize("copy", [acl.rt.memcpy_async, acl.rt.memcpy_async_with_condition])
def test_pinned_copies_run_in_stream_order(stream, block, pinned, copy):
    a, b, (source, values), (target, out) = block(4096), block(4096), pinned(4096), pinned(4096)
    values[:] = numpy.arange(4096) % 251
    assert copy(a, 4096, source, 4096, H2D, stream) == 0
    assert copy(b, 4096, a, 4096, D2D, stream) == 0
    assert acl.rt.memset_async(b, 4096, 200, 100, stream) == 0
    assert copy(target, 4096, b, 4096, D2H, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert (out[100:] == values[100:]).all() and (out[:100] == 200).all()


@pytest.mark.parametrize("copy", [acl.rt.memcpy_async, acl.rt.memcpy_async_with_condition])
def test_pageable_copies_are_done_on_return(stream, block, copy):
    address, values = block(MIB), numpy.random.default_rng(1).integers(0, 256, MIB, dtype=numpy.uint8)
    out = numpy.zeros(MIB, numpy.uint8)
    assert acl.rt.memset_async(address, MIB, 1, MIB, stream) == 0
    assert copy(address, MIB // 2, values.ctypes.data, MIB // 2, H2D, stream) == 0
    assert copy(out.ctypes.data, MIB, address, MIB, D2H, stream) == 0
    assert (out[: MIB // 2] == values[: MIB // 2]).all() and (out[MIB // 2 :] == 1).all()


@pytest.mark.needs_sim
@pytest.mark.finds("host-write-before-copy")
def test_pinned_sources_are_read_when_the_task_runs_and_staged_ones_at_once(stream, block, pinned):
    late, early, (source, values) = block(64), block(64), pinned(64)
    values[:] = 1
    acl.sim.hold(stream)
    assert acl.rt.memcpy_async(late, 64, source, 64, H2D, stream) == 0
    assert acl.rt.memcpy_async_with_condition(early, 64, source, 64, STAGED, stream) == 0
    values[:] = 2
    acl.sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert (read(late, 64) == 2).all() and (read(early, 64) == 1).all()


@pytest.mark.needs_sim
@pytest.mark.finds("race", count=None)
def test_synchronous_copies_wait_for_no_stream(stream, block):
    address = block(64)
    acl.sim.hold(stream)
    assert acl.rt.memset_async(address, 64, 2, 64, stream) == 0
    assert acl.rt.memset(address, 64, 1, 64) == 0
    assert (read(address, 64) == 1).all()
    acl.sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert (read(address, 64) == 2).all()


@pytest.mark.strict
def test_device_to_device_with_an_ordinary_side_is_asynchronous(stream, block):
    address, values = block(64), numpy.full(64, 6, numpy.uint8)
    assert acl.rt.memcpy_async(address, 64, values.ctypes.data, 64, D2D, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert (read(address, 64) == 6).all()


@pytest.mark.needs_sim
def test_async_sets_of_host_memory_run_at_once(stream, pinned):
    address, view = pinned(64)
    view[:] = 0
    acl.sim.hold(stream)
    assert acl.rt.memset_async(address, 64, 5, 64, stream) == 0
    assert (view == 5).all()
    acl.sim.release(stream)


# ---- registered memory ----


@pytest.mark.needs_sim
@pytest.mark.parametrize("pinning", [True, False])
def test_registering_as_pinned_makes_copies_asynchronous(request, stream, block, pages, pinning):
    address, mapping = pages
    target = block(64)
    assert acl.rt.host_register_v2(address, 8192, 0x10000002 if pinning else 2) == 0
    assert location(address + 100)[0] == (0 if pinning else 2)
    mapping[:64] = bytes([1]) * 64
    if pinning:
        request.applymarker(pytest.mark.finds("host-write-before-copy"))
        acl.sim.hold(stream)
    assert acl.rt.memcpy_async(target, 64, address, 64, H2D, stream) == 0
    mapping[:64] = bytes([2]) * 64
    if pinning:
        acl.sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert (read(target, 64) == (2 if pinning else 1)).all()
    assert acl.rt.host_unregister(address) == 0
    assert location(address)[0] == 2


def test_device_pointer_of_registered_memory(device, pages):
    address, _ = pages
    mapped, ret = acl.rt.host_register(address, 8192, 0)
    assert ret == 0 and mapped != 0
    assert acl.rt.host_get_device_pointer(address, 0) == (mapped, 0)
    assert acl.rt.host_get_device_pointer(address + 5000, 0) == (mapped + 5000, 0)
    assert acl.rt.host_unregister(address) == 0
