"""What devices that are only faked get wrong, one test (or more) for each mistake, by its name."""

import signal
import threading

import pytest
from helpers.expect import RunningTask, Task, latches, refused

import acl

HUGE_FIRST, NORMAL = 0, 2
TO_DEVICE, TO_HOST, BETWEEN = 1, 2, 3
SIZE = 4096


@pytest.fixture
def block(device):
    """Give the address of a block of device memory, full of ones."""
    address, ret = acl.rt.malloc(SIZE, NORMAL)
    assert ret == 0
    assert acl.rt.memset(address, SIZE, 1, SIZE) == 0
    yield address
    acl.rt.free(address)


@pytest.fixture
def pinned(device):
    """Give the address of pinned host memory, full of twos."""
    address, ret = acl.rt.malloc_host(SIZE)
    assert ret == 0
    assert acl.rt.memset(address, SIZE, 2, SIZE) == 0
    yield address
    acl.rt.free_host(address)


def bytes_of(block, size=SIZE):
    """Return the set of the values in a block of device memory."""
    host = bytes(size)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(host), size, block, size, TO_HOST) == 0
    return set(host)


@pytest.mark.needs_sim
def test_query_says_done_while_the_last_task_runs(stream, event):
    task = RunningTask(stream)
    assert acl.rt.record_event(event, stream) == 0
    for _ in range(100):
        assert acl.rt.stream_query(stream) == (1, 0)
        assert acl.rt.query_event_status(event) == (0, 0)
    task.finish()
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.stream_query(stream) == (0, 0)
    assert acl.rt.query_event_status(event) == (1, 0)


@pytest.mark.needs_sim
def test_query_says_done_while_only_the_last_task_runs(stream):
    """No task follows the running one that could hide the mistake."""
    task = RunningTask(stream)
    assert acl.rt.stream_query(stream) == (1, 0)
    assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
    task.finish()
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.stream_query(stream) == (0, 0)


def test_synchronize_returns_after_the_first_of_two_records(stream, event, block):
    with latches(stream) as held:
        assert acl.rt.record_event(event, stream) == 0
        held.hold()
        assert acl.rt.memset_async(block, SIZE, 9, SIZE, stream) == 0
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.synchronize_event_with_timeout(event, 1) == 507047
        assert acl.rt.query_event_status(event) == (0, 0)
        held.release()
        assert acl.rt.synchronize_event(event) == 0
        assert bytes_of(block) == {9}


@pytest.mark.parametrize("create", [acl.rt.create_event, lambda: acl.rt.create_event_ex_with_flag(1)])
def test_a_wait_binds_to_a_later_record(stream, other, create):
    """The later record comes after the waiting stream's own work: binding to it would be a deadlock."""
    event, ret = create()
    assert ret == 0
    back, _ = acl.rt.create_event()
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.stream_wait_event(other, event) == 0
        assert acl.rt.record_event(back, other) == 0
        assert acl.rt.stream_wait_event(stream, back) == 0
        assert acl.rt.record_event(event, stream) == 0
        held.release()
        assert acl.rt.synchronize_stream_with_timeout(other, 10000) == 0
        assert acl.rt.synchronize_stream_with_timeout(stream, 10000) == 0
    for made in (event, back):
        assert acl.rt.destroy_event(made) == 0


@pytest.mark.strict
def test_a_copy_past_the_allocation(block, pinned):
    second, _ = acl.rt.malloc(SIZE, NORMAL)
    granted = 1 << 30  # more than any rounding of the sizes grants
    wide = bytes(64)
    said = "aclrtMemcpy", f"{granted}", "expected at most", f"{block:#x}"
    refused(acl.rt.memcpy(block, granted, second, granted, BETWEEN), 107000, *said)
    refused(acl.rt.memcpy(pinned, granted, block, granted, TO_HOST), 107000, "aclrtMemcpy", f"{granted}")
    refused(acl.rt.memset(block, granted, 5, granted), 107000, "aclrtMemset", f"{granted}", f"{block:#x}")
    inside = block + SIZE - 1
    refused(
        acl.rt.memcpy(inside, granted, acl.util.bytes_to_ptr(wide), granted, TO_DEVICE),
        107000, "aclrtMemcpy", f"{granted}", f"{inside:#x}",
    )  # fmt: skip
    assert bytes_of(block) == {1}
    assert acl.rt.free(second) == 0


@pytest.mark.strict
def test_a_queued_copy_past_the_allocation(block, stream):
    granted = 1 << 30
    second, _ = acl.rt.malloc(SIZE, NORMAL)
    ret = acl.rt.memcpy_async(block, granted, second, granted, BETWEEN, stream)
    refused(ret, 107000, "aclrtMemcpyAsync", f"{granted}", "expected at most")
    ret = acl.rt.memset_async(block, granted, 5, granted, stream)
    refused(ret, 107000, "aclrtMemsetAsync", f"{granted}", f"{block:#x}")
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(block) == {1}
    assert acl.rt.free(second) == 0


@pytest.mark.needs_sim
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_freeing_memory_under_a_queued_copy_loses_the_write_in_silence(stream, block, pinned):
    target, _ = acl.rt.malloc(SIZE, NORMAL)
    acl.sim.hold(stream)
    assert acl.rt.memcpy_async(target, SIZE, block, SIZE, BETWEEN, stream) == 0
    assert acl.rt.memset_async(block, SIZE, 3, SIZE, stream) == 0
    assert acl.rt.free(target) == 0
    acl.sim.release(stream)
    refused(
        acl.rt.synchronize_stream(stream), 507053, "aclrtMemcpyAsync", f"{SIZE} bytes at {target:#x}", "writes",
        "freed before it ran", f"by thread {threading.get_native_id()} at ",
        f"submitted by thread {threading.get_native_id()} at ",
    )  # fmt: skip
    assert bytes_of(block) == {3}
    assert acl.rt.synchronize_stream(stream) == 0


@pytest.mark.needs_sim
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_freeing_and_allocating_again_under_a_queued_copy(stream, block):
    """The next owner of the same addresses is not written to."""
    target, _ = acl.rt.malloc(SIZE, NORMAL)
    acl.sim.hold(stream)
    assert acl.rt.memset_async(target, SIZE, 4, SIZE, stream) == 0
    assert acl.rt.free(target) == 0
    owners = [acl.rt.malloc(SIZE, NORMAL)[0] for _ in range(64)]
    for owner in owners:
        assert acl.rt.memset(owner, SIZE, 6, SIZE) == 0
    acl.sim.release(stream)
    refused(acl.rt.synchronize_stream(stream), 507053, "aclrtMemsetAsync", f"{target:#x}", "freed before it ran")
    for owner in owners:
        assert bytes_of(owner) == {6}
        assert acl.rt.free(owner) == 0


@pytest.mark.strict
def test_using_a_destroyed_stream_hangs(device, event, block):
    stream, _ = acl.rt.create_stream()
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.destroy_stream(stream) == 0
    calls = [
        lambda: acl.rt.synchronize_stream(stream),
        lambda: acl.rt.synchronize_stream_with_timeout(stream, -1),
        lambda: acl.rt.stream_query(stream)[1],
        lambda: acl.rt.record_event(event, stream),
        lambda: acl.rt.stream_wait_event(stream, event),
        lambda: acl.rt.memset_async(block, SIZE, 1, SIZE, stream),
        lambda: acl.rt.memcpy_async(block, SIZE, block, SIZE, BETWEEN, stream),
        lambda: acl.rt.destroy_stream(stream),
        lambda: acl.rt.destroy_stream_force(stream),
        lambda: acl.rt.launch_callback(print, None, 1, stream),
        lambda: acl.rt.subscribe_report(threading.get_ident(), stream),
    ]
    for call in calls:
        refused(call(), 107017, f"stream is {stream:#x}", "a destroyed stream")
    fresh, _ = acl.rt.create_stream()
    assert fresh != stream
    for call in calls:
        refused(call(), 107017, "a destroyed stream")
    assert acl.rt.synchronize_event(event) == 0
    assert acl.rt.destroy_stream(fresh) == 0


@pytest.mark.needs_sim
def test_a_failing_task_aborts_the_process(stream, other, block):
    failing = [Task(handle, lambda: 507015) for handle in (stream, other)]
    assert acl.rt.memset_async(block, SIZE, 8, SIZE, stream) == 0
    refused(acl.rt.synchronize_stream(stream), 507015, "aclsimLaunchTask", "submitted by thread")
    refused(acl.rt.synchronize_stream(other), 507015, "aclsimLaunchTask")
    assert bytes_of(block) == {8}
    assert len(failing) == 2


@pytest.mark.strict
def test_out_of_memory_gives_a_generic_code(device):
    free, total, ret = acl.rt.get_mem_info(1)
    assert ret == 0
    acl.rt.get_last_error(0)
    for policy in (HUGE_FIRST, NORMAL):
        size = 1 << 45
        refused(acl.rt.malloc(size, policy)[1], 207001, "aclrtMalloc", f"size is {size}", "expected at most")
    assert acl.rt.get_last_error(0) == 207001
    assert acl.rt.get_mem_info(1) == (free, total, 0)
    block, ret = acl.rt.malloc(SIZE, NORMAL)
    assert ret == 0
    assert acl.rt.free(block) == 0


@pytest.mark.needs_sim
def test_out_of_memory_comes_where_the_memory_ends(run_script):
    code = """
import acl
acl.rt.set_device(0)
blocks = []
while True:
    block, ret = acl.rt.malloc(4 << 20, 2)
    if ret:
        break
    blocks.append(block)
assert ret == 207001
assert 14 <= len(blocks) <= 16, len(blocks)
for block in blocks:
    assert acl.rt.memset(block, 4 << 20, 1, 4 << 20) == 0
assert acl.rt.free(blocks.pop()) == 0
assert acl.rt.malloc(4 << 20, 2)[1] == 0
"""
    done = run_script(code, {"ACL_SIM_MEMORY": "64M"})
    assert done.returncode == 0, done.stderr


@pytest.mark.strict
@pytest.mark.parametrize("access", ["acl.util.ptr_to_bytes(block, 8)", "ctypes.memset(block, 1, 8)"])
def test_the_host_can_reach_device_memory(run_script, access):
    code = f"""
import acl, ctypes
acl.rt.set_device(0)
block, ret = acl.rt.malloc(4096, 2)
print("ready", flush=True)
{access}
print("reached")
"""
    done = run_script(code)
    assert done.stdout == "ready\n"
    assert done.returncode == -signal.SIGSEGV


def test_callbacks_are_missing(stream, block, pinned):
    """They run in stream order, on the subscribed thread, and see what ran before them."""
    seen = []
    context, _ = acl.rt.get_context()
    bound, done = threading.Event(), threading.Event()

    def serve():
        acl.rt.set_context(context)
        bound.wait()
        while not done.is_set():
            acl.rt.process_report(1000)

    def look(data):
        seen.append((data, threading.get_ident(), set(acl.util.ptr_to_bytes(pinned, SIZE))))

    thread = threading.Thread(target=serve)
    thread.start()
    assert acl.rt.subscribe_report(thread.ident, stream) == 0
    bound.set()
    assert acl.rt.memcpy_async(pinned, SIZE, block, SIZE, TO_HOST, stream) == 0
    assert acl.rt.launch_callback(look, "first", 1, stream) == 0
    assert acl.rt.memset_async(block, SIZE, 7, SIZE, stream) == 0
    assert acl.rt.memcpy_async(pinned, SIZE, block, SIZE, TO_HOST, stream) == 0
    assert acl.rt.launch_callback(look, "second", 1, stream) == 0
    assert acl.rt.launch_callback(lambda data: done.set(), None, 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    thread.join()
    assert acl.rt.unsubscribe_report(thread.ident, stream) == 0
    assert seen == [("first", thread.ident, {1}), ("second", thread.ident, {7})]
