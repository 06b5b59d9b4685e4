"""Memory: what is refused, with which code, and that the message says which argument had which value."""

import signal

import numpy
import pytest

import acl
from acl._lib import ffi, lib

HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY = 0, 1, 2
H2H, H2D, D2H, D2D, DEFAULT, STAGED = range(6)
INVALID, PARAM, CONTEXT_NULL, STREAM_CONTEXT, WRONG_TYPE, HANDLE = 100000, 107000, 107002, 107003, 107016, 107017
UNSUPPORTED, NO_MEMORY, MEMORY_FAULT, REGISTERED, NOT_REGISTERED = 207000, 207001, 507053, 507910, 507911
NULL = ffi.NULL
PAGE = 4096


def pointer(address):
    return ffi.cast("void *", address)


@pytest.fixture
def address(memory):
    """64 addressable bytes of device memory, of which 32 were asked for."""
    return memory.block(32)


@pytest.fixture
def pinned(memory):
    """64 bytes of pinned host memory."""
    return memory.pinned(64)[0]


@pytest.fixture
def host():
    """Give the address of 16 KiB of ordinary memory that begins a page."""
    array = numpy.zeros(5 * PAGE, numpy.uint8)
    yield -(-array.ctypes.data // PAGE) * PAGE
    del array


@pytest.fixture
def other_stream(device):
    """Make a stream of another context than the current one."""
    home, _ = acl.rt.get_context()
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.set_context(home) == 0
    yield stream
    assert acl.rt.destroy_context(context) == 0


def refused(ret, code, *texts):
    """Check a code and, on the simulator, its message."""
    code_of = ret[-1] if isinstance(ret, tuple) else ret
    said = acl.get_recent_err_msg()
    assert code_of == code, said
    if acl.is_simulator:
        for text in texts:
            assert text in said


# ---- allocation ----

MALLOCS = ["malloc", "malloc_align32", "malloc_cached"]
RAW = ["aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached"]


@pytest.mark.parametrize("name", RAW)
def test_malloc_arguments(device, name):
    out = ffi.new("void **")
    refused(getattr(lib, name)(NULL, 1, 0), INVALID, name, "devPtr is NULL")
    refused(getattr(lib, name)(out, 0, 0), INVALID, name, "size is 0")
    assert out[0] == NULL


@pytest.mark.strict
@pytest.mark.parametrize("size", [2**64 - 1, 2**64 - 32])
def test_malloc_of_a_size_that_cannot_be_padded(device, size):
    refused(acl.rt.malloc(size, HUGE_FIRST), INVALID, "aclrtMalloc", f"size is {size}")


@pytest.mark.parametrize("size", [2**63, 2**45, 65 << 30])
@pytest.mark.parametrize("name", MALLOCS)
def test_malloc_of_more_than_there_is(device, name, size):
    code = PARAM if name == "malloc_cached" and size > 2**50 else NO_MEMORY
    refused(getattr(acl.rt, name)(size, HUGE_FIRST), code, f"size is {size}")


@pytest.mark.parametrize("name", MALLOCS)
def test_malloc_without_a_context(name, device):
    acl.rt.reset_device(device)
    refused(getattr(acl.rt, name)(1, HUGE_FIRST), CONTEXT_NULL)
    refused(acl.rt.malloc_host(1), CONTEXT_NULL)


def test_malloc_host_arguments(device):
    out = ffi.new("void **")
    refused(lib.aclrtMallocHost(NULL, 1), INVALID, "hostPtr is NULL")
    refused(lib.aclrtMallocHost(out, 0), INVALID, "size is 0")
    refused(acl.rt.malloc_host(2**50), NO_MEMORY, "aclrtMallocHost", f"size is {2**50}")
    refused(acl.rt.malloc_host(2**64 - 1), NO_MEMORY, f"size is {2**64 - 1}")


FREES = [("aclrtFree", "devPtr"), ("aclrtFreeWithDevSync", "devPtr")]
HOST_FREES = [("aclrtFreeHost", "hostPtr"), ("aclrtFreeHostWithDevSync", "hostPtr")]


@pytest.mark.parametrize("name, argument", FREES + HOST_FREES)
def test_free_of_null(device, name, argument):
    refused(getattr(lib, name)(NULL), INVALID, name, f"{argument} is NULL")


@pytest.mark.strict
@pytest.mark.parametrize("name, argument", FREES)
@pytest.mark.finds("invalid-free", count=5)
def test_free_of_what_is_no_block(device, pinned, host, name, argument):
    free = getattr(lib, name)
    for size in (32, 100000, 5 << 20):
        block, _ = acl.rt.malloc(size, HUGE_FIRST)
        refused(free(pointer(block + 32)), PARAM, name, f"{argument} is {block + 32:#x}, 32 bytes into a block")
        assert free(pointer(block)) == 0
        refused(free(pointer(block)), PARAM, f"{argument} is {block:#x}", "not allocated (any more)")
    refused(free(pointer(pinned)), PARAM, "pinned host memory")
    refused(free(pointer(host)), PARAM, f"{argument} is {host:#x}", "ordinary host memory")
    refused(free(pointer(12345)), PARAM, "0x3039")


@pytest.mark.strict
@pytest.mark.parametrize("name, argument", HOST_FREES)
@pytest.mark.finds("invalid-free", count=4)
def test_free_host_of_what_is_no_block(address, host, name, argument):
    free = getattr(lib, name)
    block, _ = acl.rt.malloc_host(1000)
    refused(free(pointer(block + 8)), PARAM, name, f"{argument} is {block + 8:#x}, 8 bytes into a block")
    assert free(pointer(block)) == 0
    refused(free(pointer(block)), PARAM, "not allocated (any more)")
    refused(free(pointer(address)), PARAM, "device memory")
    refused(free(pointer(host)), PARAM, "ordinary host memory")


def test_free_with_sync_needs_a_context(address):
    home, _ = acl.rt.get_context()
    host, _ = acl.rt.malloc_host(8)
    context, _ = acl.rt.create_context(0)
    assert acl.rt.destroy_context(context) == 0
    refused(lib.aclrtFreeWithDevSync(pointer(address)), CONTEXT_NULL)
    refused(lib.aclrtFreeHostWithDevSync(pointer(host)), CONTEXT_NULL)
    assert acl.rt.set_context(home) == 0
    assert acl.rt.memset(address, 32, 0, 32) == 0, "it was not freed"
    assert acl.rt.free_host(host) == 0


@pytest.mark.needs_sim
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_free_with_sync_returns_the_error_of_a_task_and_frees_nothing(stream, address):
    gone, _ = acl.rt.malloc(32, HUGE_FIRST)
    acl.sim.hold(stream)
    assert acl.rt.memset_async(gone, 32, 0, 32, stream) == 0
    assert acl.rt.free(gone) == 0
    acl.sim.release(stream)
    refused(lib.aclrtFreeWithDevSync(pointer(address)), MEMORY_FAULT)
    assert acl.rt.memset(address, 32, 0, 32) == 0


@pytest.mark.strict
@pytest.mark.finds("invalid-free", "leaked-memory")
def test_last_reset_ends_all_device_memory():
    assert acl.rt.set_device(0) == 0
    block, _ = acl.rt.malloc(1000, HUGE_FIRST)
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.set_device(0) == 0
    refused(acl.rt.free(block), PARAM, f"{block:#x}")
    refused(acl.rt.memset(block, 1, 0, 1), PARAM, f"devPtr is {block:#x}", "not allocated (any more)")
    assert acl.rt.reset_device(0) == 0


# ---- asking ----


def test_get_mem_info(device):
    value = ffi.new("size_t *")
    refused(lib.aclrtGetMemInfo(1, NULL, value), INVALID, "free is NULL")
    refused(lib.aclrtGetMemInfo(1, value, NULL), INVALID, "total is NULL")
    for attr in (18, 100):
        refused(acl.rt.get_mem_info(attr), WRONG_TYPE, f"attr is {attr}")
    acl.rt.reset_device(device)
    refused(acl.rt.get_mem_info(1), CONTEXT_NULL)


@pytest.mark.parametrize("name", ["aclrtMemFlush", "aclrtMemInvalidate"])
def test_flush_and_invalidate(address, name):
    refused(getattr(lib, name)(NULL, 1), INVALID, name, "devPtr is NULL")
    refused(getattr(lib, name)(pointer(address), 0), INVALID, name, "size is 0")


def test_pointer_attributes(address):
    attributes = ffi.new("aclrtPtrAttributes *")
    refused(lib.aclrtPointerGetAttributes(NULL, attributes), INVALID, "ptr is NULL")
    refused(lib.aclrtPointerGetAttributes(pointer(address), NULL), INVALID, "attributes is NULL")


def test_pointer_attributes_need_no_context(address):
    attributes = ffi.new("aclrtPtrAttributes *")
    context, _ = acl.rt.create_context(0)
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.get_context()[1] == CONTEXT_NULL
    assert lib.aclrtPointerGetAttributes(pointer(address), attributes) == 0
    assert attributes.location.type == 1
    assert acl.rt.set_device(0) == 0


@pytest.mark.strict
def test_pointer_attributes_of_freed_memory(device):
    block, _ = acl.rt.malloc(32, HUGE_FIRST)
    assert acl.rt.free(block) == 0
    attributes = ffi.new("aclrtPtrAttributes *")
    refused(lib.aclrtPointerGetAttributes(pointer(block), attributes), PARAM, f"ptr is {block:#x}")


# ---- copies ----


def test_memcpy_arguments(address, host):
    refused(acl.rt.memcpy(0, 8, host, 8, H2D), INVALID, "aclrtMemcpy", "dst is NULL")
    refused(acl.rt.memcpy(address, 8, 0, 8, H2D), INVALID, "src is NULL")
    for kind in (6, 7, 100):
        refused(acl.rt.memcpy(address, 8, host, 8, kind), INVALID, f"kind is {kind}")
    refused(acl.rt.memcpy(address, 8, host, 9, H2D), PARAM, "count is 9, expected at most destMax, 8")
    refused(acl.rt.memcpy(address, 0, host, 1, H2D), PARAM, "count is 1, expected at most destMax, 0")


@pytest.mark.strict
@pytest.mark.finds("beyond-requested-size")
def test_memcpy_stays_inside_blocks(address, pinned, host):
    end = "lies 0 bytes into a block of 64 bytes"
    refused(acl.rt.memcpy(address, 300, host, 300, H2D), PARAM, "count is 300, expected at most 64: dst", end)
    refused(acl.rt.memcpy(host, 300, address, 300, D2H), PARAM, "count is 300, expected at most 64: src", end)
    refused(acl.rt.memcpy(host, 65, pinned, 65, H2H), PARAM, "count is 65, expected at most 64: src")
    refused(acl.rt.memcpy(address + 60, 5, host, 5, H2D), PARAM, "at most 4", f"{address + 60:#x} lies 60 bytes")
    assert acl.rt.memcpy(address + 60, 4, host, 4, H2D) == 0
    refused(acl.rt.memset(address, 65, 1, 65), PARAM, "aclrtMemset", "count is 65, expected at most 64: devPtr")
    refused(acl.rt.memset_async(address, 65, 1, 65, 0), PARAM, "aclrtMemsetAsync", "expected at most 64: devPtr")
    refused(acl.rt.memcpy_async(address, 99, host, 99, H2D, 0), PARAM, "aclrtMemcpyAsync", "expected at most 64: dst")
    refused(acl.rt.memcpy2d(address, 16, host, 16, 8, 5, H2D), PARAM, "aclrtMemcpy2d", "is 72, expected at most 64")
    refused(acl.rt.memcpy2d_async(address, 16, host, 16, 8, 5, H2D, 0), PARAM, "aclrtMemcpy2dAsync", "is 72")


@pytest.mark.strict
@pytest.mark.finds("use-after-free", count=2)
def test_freed_memory_is_no_memory(device, host):
    block, _ = acl.rt.malloc(64, HUGE_FIRST)
    gone, _ = acl.rt.malloc_host(64)
    assert acl.rt.free(block) == acl.rt.free_host(gone) == 0
    refused(acl.rt.memcpy(block, 8, host, 8, H2D), PARAM, f"dst is {block:#x}", "not allocated (any more)")
    refused(acl.rt.memcpy(host, 8, gone, 8, H2H), PARAM, f"src is {gone:#x}", "not allocated (any more)")


def test_set_arguments(address, stream):
    refused(acl.rt.memset(0, 8, 1, 8), INVALID, "aclrtMemset", "devPtr is NULL")
    refused(acl.rt.memset(address, 8, 1, 9), PARAM, "count is 9, expected at most maxCount, 8")
    refused(acl.rt.memset_async(0, 8, 1, 8, stream), INVALID, "aclrtMemsetAsync", "devPtr is NULL")
    refused(acl.rt.memset_async(address, 8, 1, 9, stream), PARAM, "count is 9, expected at most maxCount, 8")


def test_calls_without_a_context(address, host):
    context, _ = acl.rt.create_context(0)
    assert acl.rt.destroy_context(context) == 0
    target = pointer(address)
    refused(acl.rt.memcpy(address, 8, host, 8, H2D), CONTEXT_NULL)
    refused(acl.rt.memset(address, 8, 1, 8), CONTEXT_NULL)
    refused(acl.rt.memset_async(address, 8, 1, 8, 0), CONTEXT_NULL)
    refused(acl.rt.memcpy2d(address, 8, host, 8, 8, 1, H2D), CONTEXT_NULL)
    refused(acl.rt.memcpy2d_async(address, 8, host, 8, 8, 1, H2D, 0), CONTEXT_NULL)
    refused(lib.aclrtMemsetD32(target, 8, 1, 2), CONTEXT_NULL)
    refused(lib.aclrtMemsetD32Async(target, 8, 1, 2, NULL), CONTEXT_NULL)
    refused(acl.rt.host_register_v2(host, PAGE, 2), CONTEXT_NULL)
    refused(acl.rt.host_register(host, PAGE, 0), CONTEXT_NULL)
    refused(acl.rt.host_unregister(host), CONTEXT_NULL)
    refused(acl.rt.host_get_device_pointer(host, 0), CONTEXT_NULL)
    assert acl.rt.set_device(0) == 0


def test_streams_of_another_context(address, host, other_stream):
    refused(acl.rt.memset_async(address, 8, 1, 8, other_stream), STREAM_CONTEXT)
    refused(acl.rt.memcpy2d_async(address, 8, host, 8, 8, 1, H2D, other_stream), STREAM_CONTEXT)
    refused(lib.aclrtMemsetD32Async(pointer(address), 8, 1, 2, pointer(other_stream)), STREAM_CONTEXT)


@pytest.mark.strict
def test_streams_that_are_gone(address, host):
    stream, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(stream) == 0
    refused(acl.rt.memset_async(address, 8, 1, 8, stream), HANDLE)
    refused(acl.rt.memcpy2d_async(address, 8, host, 8, 8, 1, H2D, stream), HANDLE)
    refused(lib.aclrtMemsetD32Async(pointer(address), 8, 1, 2, pointer(stream)), HANDLE)


ASYNC_COPIES = [
    (acl.rt.memcpy_async, "aclrtMemcpyAsync"),
    (acl.rt.memcpy_async_with_condition, "aclrtMemcpyAsyncWithCondition"),
]


@pytest.mark.parametrize("copy, name", ASYNC_COPIES)
def test_memcpy_async_arguments(address, pinned, stream, copy, name):
    refused(copy(0, 8, pinned, 8, H2D, stream), INVALID, name, "dst is NULL")
    refused(copy(address, 8, 0, 8, H2D, stream), INVALID, name, "src is NULL")
    for kind in (6, 7, 8):
        refused(copy(address, 8, pinned, 8, kind, stream), INVALID, name, f"kind is {kind}")
    refused(copy(address, 8, pinned, 9, H2D, stream), PARAM, name, "count is 9, expected at most destMax, 8")
    refused(copy(address, 0, pinned, 1, H2D, stream), PARAM, name, "count is 1, expected at most destMax, 0")


@pytest.mark.strict
@pytest.mark.parametrize("copy, name", ASYNC_COPIES)
def test_memcpy_async_streams(address, pinned, other_stream, copy, name):
    refused(copy(address, 8, pinned, 8, H2D, other_stream), STREAM_CONTEXT, name)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(stream) == 0
    refused(copy(address, 8, pinned, 8, H2D, stream), HANDLE, name)
    refused(copy(address, 8, pinned, 9, H2D, stream), HANDLE, name)  # found before the wrong count
    context, _ = acl.rt.create_context(0)
    assert acl.rt.destroy_context(context) == 0
    refused(copy(address, 8, pinned, 8, H2D, 0), CONTEXT_NULL, name)
    assert acl.rt.set_device(0) == 0


# (source, target, kinds that are taken; anything else of the first five is 107000)
KINDS = [
    ("address", "pinned", {H2H, H2D, D2H, D2D, DEFAULT}),
    ("pinned", "address", {H2H, H2D, D2H, D2D, DEFAULT}),
    ("host", "address", {H2D, D2D, DEFAULT}),
    ("address", "host", {D2H, D2D, DEFAULT}),
    ("pinned", "host", {H2D}),
    ("host", "pinned", {D2H}),
    ("host", "host", {H2D, D2H, D2D}),
]
HOST_TO_HOST = {
    ("pinned", "host"): {H2H, DEFAULT},
    ("host", "pinned"): {H2H, DEFAULT},
    ("host", "host"): {H2H, DEFAULT},
}


@pytest.mark.strict
@pytest.mark.parametrize("copy, name", ASYNC_COPIES)
@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("source, target, taken", KINDS)
def test_kinds_of_asynchronous_copies(request, stream, source, target, taken, kind, copy, name):
    src, dst = request.getfixturevalue(source), request.getfixturevalue(target)
    if src == dst:
        dst += 64
    if source == "address":
        assert acl.rt.memset(src, 8, 0, 8) == 0
    ret = copy(dst, 8, src, 8, kind, stream)
    if kind in taken:
        assert ret == 0
        assert acl.rt.synchronize_stream(stream) == 0
        if "host" not in (source, target) and kind not in (DEFAULT, H2D if target == "address" else D2H):
            request.applymarker(pytest.mark.finds("copy-direction"))
    elif kind in HOST_TO_HOST.get((source, target), ()):
        refused(ret, UNSUPPORTED, name, "from host to host")
    else:
        refused(ret, PARAM, name, "kind is ACL_MEMCPY_", "expected ACL_MEMCPY_")


@pytest.mark.strict
@pytest.mark.parametrize("kind", range(5))
def test_pinned_to_pinned_is_not_asynchronous(stream, pinned, kind):
    refused(acl.rt.memcpy_async(pinned, 8, pinned + 8, 8, kind, stream), UNSUPPORTED, "from host to host")


@pytest.mark.strict
@pytest.mark.parametrize("copy, name", ASYNC_COPIES)
def test_staged_copies_go_from_host_to_device(stream, address, pinned, copy, name):
    kind = "kind is ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE"
    refused(copy(address, 8, address + 8, 8, STAGED, stream), PARAM, name, kind)
    refused(copy(pinned, 8, pinned + 8, 8, STAGED, stream), PARAM, name, kind)


@pytest.mark.strict
@pytest.mark.parametrize("copy, name", ASYNC_COPIES)
def test_staged_copies_are_not_for_streams_bound_to_an_instance(device, address, pinned, copy, name):
    stream, _ = acl.rt.create_stream_with_config(0, lib.ACL_STREAM_PERSISTENT)
    instance, ret = acl.mdl.ri_build_begin(0)
    assert ret == acl.mdl.ri_bind_stream(instance, stream, 0) == 0
    refused(copy(address, 8, pinned, 8, STAGED, stream), PARAM, name, "bound to a model running instance")
    assert copy(address, 8, pinned, 8, H2D, stream) == 0
    assert acl.mdl.ri_destroy(instance) == acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("tail", [(), (0,)])
def test_2d_arguments(address, host, tail):
    copy = acl.rt.memcpy2d_async if tail else acl.rt.memcpy2d
    refused(copy(0, 8, host, 8, 8, 1, H2D, *tail), INVALID, "dst is NULL")
    refused(copy(address, 8, 0, 8, 8, 1, H2D, *tail), INVALID, "src is NULL")
    refused(copy(address, 7, host, 8, 8, 1, H2D, *tail), INVALID, "width is 8, expected at most dpitch, 7")
    refused(copy(address, 8, host, 7, 8, 1, H2D, *tail), INVALID, "spitch, 7")
    for kind in (0, 5, 6):
        refused(copy(address, 8, host, 8, 8, 1, kind, *tail), INVALID, f"kind is {kind}")
    refused(copy(address, 8, host, 8, 8, 5242881, H2D, *tail), PARAM, "height is 5242881")
    refused(copy(address, 6000000, host, 6000000, 5000001, 1, H2D, *tail), PARAM, "width is 5000001")


@pytest.mark.strict
def test_2d_directions(address, host, pinned, stream):
    refused(acl.rt.memcpy2d(address, 8, address + 32, 8, 8, 1, D2D), UNSUPPORTED, "from device to device")
    refused(acl.rt.memcpy2d(host, 8, pinned, 8, 8, 1, DEFAULT), PARAM, "expected device memory on one side")
    refused(acl.rt.memcpy2d_async(pinned, 8, pinned + 32, 8, 8, 1, DEFAULT, stream), UNSUPPORTED, "from host to host")
    refused(acl.rt.memcpy2d_async(address, 8, host, 8, 8, 1, D2H, stream), PARAM, "kind is ACL_MEMCPY_DEVICE_TO_HOST")
    refused(acl.rt.memcpy2d(address, 2**63, host, 8, 8, 3, H2D), PARAM, f"dpitch is {2**63}")


@pytest.mark.parametrize("tail", [(), (NULL,)])
def test_memset_d32_arguments(address, host, tail):
    fill = lib.aclrtMemsetD32Async if tail else lib.aclrtMemsetD32
    refused(fill(NULL, 8, 1, 2, *tail), INVALID, "ptr is NULL")
    refused(fill(pointer(address + 2), 8, 1, 1, *tail), INVALID, f"ptr is {address + 2:#x}, expected a multiple of 4")
    refused(fill(pointer(address), 8, 1, 3, *tail), INVALID, "N is 3, expected at most memSize / 4, 2")
    refused(fill(pointer(address), 8, 1, 2**62, *tail), INVALID, f"N is {2**62}")
    refused(fill(pointer(host), 8, 1, 2, *tail), INVALID, "ordinary host memory")


# ---- tasks on memory that is gone ----


@pytest.mark.needs_sim
@pytest.mark.parametrize("size", [64, 100000, 5 << 20])
@pytest.mark.parametrize("reused", [False, True])
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_memory_freed_under_a_queued_copy(stream, pinned, size, reused):
    block, _ = acl.rt.malloc(size, HUGE_FIRST)
    acl.sim.hold(stream)
    assert acl.rt.memcpy_async(block, 64, pinned, 64, H2D, stream) == 0
    assert acl.rt.memset_async(pinned, 64, 1, 64, stream) == 0
    assert acl.rt.free(block) == 0
    if reused:
        again, _ = acl.rt.malloc(size, HUGE_FIRST)
        assert again == block
    acl.sim.release(stream)
    ret = acl.rt.synchronize_stream(stream)
    both = ("aclrtMemcpyAsync failed", f"the 64 bytes at {block:#x}, which it writes, were freed", "by thread")
    refused(ret, MEMORY_FAULT, *both, "submitted by thread", *(["allocated again since"] if reused else []))
    assert acl.rt.synchronize_stream(stream) == 0, "reported once"
    if reused:
        assert acl.rt.free(again) == 0


@pytest.mark.needs_sim
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_pinned_memory_freed_under_a_queued_copy(stream, address):
    source, _ = acl.rt.malloc_host(64)
    acl.sim.hold(stream)
    assert acl.rt.memcpy_async(address, 64, source, 64, H2D, stream) == 0
    assert acl.rt.free_host(source) == 0
    acl.sim.release(stream)
    refused(acl.rt.synchronize_stream(stream), MEMORY_FAULT, f"{source:#x}, which it reads, were freed")


@pytest.mark.needs_sim
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_pageable_copies_return_the_stream_s_error(stream, address, host):
    block, _ = acl.rt.malloc(64, HUGE_FIRST)
    acl.sim.hold(stream)
    assert acl.rt.memset_async(block, 64, 1, 64, stream) == 0
    assert acl.rt.free(block) == 0
    acl.sim.release(stream)
    refused(acl.rt.memcpy_async(address, 8, host, 8, H2D, stream), MEMORY_FAULT, "aclrtMemsetAsync failed")
    assert acl.rt.memcpy_async(address, 8, host, 8, H2D, stream) == 0


# ---- registered memory ----


def test_host_register_arguments(device, host):
    out = ffi.new("void **")
    refused(lib.aclrtHostRegister(NULL, 1, 0, out), INVALID, "ptr is NULL")
    refused(lib.aclrtHostRegister(pointer(host), 1, 0, NULL), INVALID, "devPtr is NULL")
    refused(lib.aclrtHostRegister(pointer(host), 0, 0, out), INVALID, "size is 0")
    refused(lib.aclrtHostRegister(pointer(host), PAGE, 1, out), UNSUPPORTED, "type is 1")
    refused(acl.rt.host_register_v2(0, 1, 2), INVALID, "ptr is NULL")
    refused(acl.rt.host_register_v2(host, 0, 2), INVALID, "size is 0")
    for flag in (0, 1, 0x20):
        refused(acl.rt.host_register_v2(host, PAGE, flag), PARAM, f"flag is {'0x' if flag else ''}{flag:x}")


@pytest.mark.strict
def test_host_register_of_what_cannot_be(address, pinned, host):
    refused(acl.rt.host_register_v2(host + 1, PAGE, 2), PARAM, f"ptr is {host + 1:#x}, expected a multiple of 4096")
    refused(acl.rt.host_register_v2(host, 2**64 - 1, 2), PARAM, f"size is {2**64 - 1}")
    block, _ = acl.rt.malloc(PAGE, HUGE_ONLY)
    whole = -(-block // PAGE) * PAGE
    refused(acl.rt.host_register_v2(whole, PAGE, 2), PARAM)
    assert acl.rt.free(block) == 0


def test_host_register_twice(device, host):
    assert acl.rt.host_register_v2(host, 2 * PAGE, 2) == 0
    for start, size in ((host, PAGE), (host + PAGE, 2 * PAGE), (host, 2 * PAGE)):
        refused(acl.rt.host_register_v2(start, size, 2), REGISTERED, f"ptr {start:#x}", "overlaps")
        refused(acl.rt.host_register(start, size, 0), REGISTERED)
    assert acl.rt.host_register_v2(host + 2 * PAGE, PAGE, 2) == 0
    refused(acl.rt.host_unregister(host + PAGE), NOT_REGISTERED, f"ptr is {host + PAGE:#x}")
    assert acl.rt.host_unregister(host) == acl.rt.host_unregister(host + 2 * PAGE) == 0
    refused(acl.rt.host_unregister(host), NOT_REGISTERED)
    refused(acl.rt.host_unregister(0), INVALID, "ptr is NULL")


def test_pinning_pinned_memory(device):
    block, _ = acl.rt.malloc_host(3 * PAGE)
    start = -(-block // PAGE) * PAGE
    refused(acl.rt.host_register_v2(start, PAGE, 0x10000000), REGISTERED, "pinned already")
    assert acl.rt.free_host(block) == 0


def test_device_pointer_of_what_is_not_mapped(device, host, pinned):
    refused(acl.rt.host_get_device_pointer(0, 0), INVALID, "pHost is NULL")
    refused(acl.rt.host_get_device_pointer(host, 1), INVALID, "flag is 0x1")
    refused(lib.aclrtHostGetDevicePointer(pointer(host), NULL, 0), INVALID, "pDevice is NULL")
    refused(acl.rt.host_get_device_pointer(host, 0), PARAM, f"pHost is {host:#x}")
    refused(acl.rt.host_get_device_pointer(pinned, 0), PARAM)
    assert acl.rt.host_register_v2(host, PAGE, 0x10000000) == 0
    refused(acl.rt.host_get_device_pointer(host, 0), PARAM, "registered as mapped")
    assert acl.rt.host_unregister(host) == 0


# ---- objects that nothing makes yet ----


@pytest.mark.strict
def test_physical_memory_and_buffers(device, host):
    some = pointer(host)
    refused(lib.aclrtMemMapNoAccess(NULL, 1, 0, some, 0), INVALID, "virPtr is NULL")
    refused(lib.aclrtMemMapNoAccess(some, 1, 0, NULL, 0), INVALID, "handle is NULL")
    refused(lib.aclrtMemMapNoAccess(some, 0, 0, some, 0), INVALID, "size is 0")
    refused(lib.aclrtMemMapNoAccess(some, 1, 0, some, 1), INVALID, "flags is 0x1")
    refused(lib.aclrtMemMapNoAccess(some, 1, 0, some, 0), HANDLE, f"handle is {host:#x}")
    refused(lib.aclrtMemMapSetLink(NULL, 0), INVALID, "handle is NULL")
    refused(lib.aclrtMemMapSetLink(some, 0), HANDLE, f"handle is {host:#x}")
    refused(lib.aclrtMemMapSelectedLink(NULL, 1, some, 0), INVALID, "virPtrDst is NULL")
    refused(lib.aclrtMemMapSelectedLink(some, 1, NULL, 0), INVALID, "virPtrSrc is NULL")
    refused(lib.aclrtMemMapSelectedLink(some, 0, some, 0), INVALID, "size is 0")
    refused(lib.aclrtMemMapSelectedLink(some, 1, some, 2), INVALID, "linkIdx is 2")
    refused(lib.aclrtMemMapSelectedLink(some, 1, some, 1), UNSUPPORTED, "Ascend910B3")
    refused(lib.aclrtFreeBuf(NULL), INVALID, "buf is NULL")
    refused(lib.aclrtFreeBuf(some), UNSUPPORTED, "aclrtFreeBuf")


@pytest.mark.parametrize("access", ["ffi.buffer(pointer, 1)[0]", "ffi.memmove(pointer, b'x', 1)"])
def test_the_host_cannot_reach_device_memory(run_script, access):
    done = run_script(
        "import acl\n"
        "from acl._lib import ffi\n"
        "assert acl.rt.set_device(0) == 0\n"
        "pointer = ffi.cast('char *', acl.rt.malloc(4096, 0)[0])\n"
        f"{access}\n"
    )
    assert done.returncode == -signal.SIGSEGV
