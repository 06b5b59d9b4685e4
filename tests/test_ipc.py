"""Memory and events of several processes; notifies of several are in test_notify_ipc.py."""

import os
from pathlib import Path

import pytest
from helpers.processes import processes

LATCH = 507046  # a stream that does not get on


def export(process, size=512, flags=1):
    """Have a process make memory; return its key."""
    assert process(f"memory := acl.rt.malloc({size}, 0)")[1] == 0
    key, ret = process(f"acl.rt.ipc_mem_get_export_key(memory[0], {size}, 65, {flags})")
    assert ret == 0
    return key


def imports(process, key, flags=0):
    """Have a process open memory, as ``there``."""
    assert process(f"opened := acl.rt.ipc_mem_import_by_key({key!r}, {flags})")[1] == 0


@pytest.fixture
def pair():
    """Start two processes."""
    with processes(2) as two:
        yield two


# ---- memory ----


@pytest.mark.parametrize("size", [512, 1024, 40000, 3 << 20, 5 << 20])
def test_bytes_of_one_process_are_those_of_the_other(pair, size):
    owner, other = pair
    owner("spare = [acl.rt.malloc(512, 0) for _ in range(3)]")
    key = export(owner, size)
    imports(other, key)
    assert owner(f"fill(memory[0], {size}, 7)") == 0
    assert other(f"device_bytes(opened[0] + {size} - 4, 4)") == "07070707"
    assert other(f"acl.rt.memset_async(opened[0] + 4, {size} - 4, 9, {size} - 4, stream)") == 0
    assert other("acl.rt.synchronize_stream(stream)") == 0
    assert owner("device_bytes(memory[0], 8)") == "0707070709090909"
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    assert owner(f"acl.rt.ipc_mem_close({key!r})") == 0
    assert owner("acl.rt.free(memory[0])") == 0


def test_opened_memory_is_device_memory(pair):
    owner, other = pair
    imports(other, export(owner, 64 << 10))
    attributes, ret = other("acl.rt.pointer_get_attributes(opened[0])")
    assert (attributes["location"]["type"], attributes["location"]["id"], ret) == (1, 0, 0)
    other("own, ret = acl.rt.malloc(65536, 0)")
    assert owner("fill(memory[0], 65536, 5)") == 0
    assert other("acl.rt.memcpy_async(own, 65536, opened[0], 65536, 3, stream)") == 0
    assert other("acl.rt.synchronize_stream(stream)") == 0
    assert other("device_bytes(own + 65532, 4)") == "05050505"


@pytest.mark.strict
@pytest.mark.parametrize("size", [512, 40000, 3 << 20])
def test_opened_memory_ends_where_the_exported_bytes_end(pair, size):
    owner, other = pair
    imports(other, export(owner, size))
    other.refused(f"fill(opened[0], {size} + 32, 1)", 107000, "count")
    other.refused(f"fill(opened[0] + {(size + 31) // 32 * 32}, 1, 1)", 107000)
    other.refused("fill(opened[0] - 1, 1, 1)", 107000)


@pytest.mark.strict
def test_opened_memory_is_closed_not_freed(pair):
    owner, other = pair
    key = export(owner)
    imports(other, key)
    other.refused("acl.rt.free(opened[0])", 107000, "aclrtIpcMemClose")
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    other.refused("fill(opened[0], 4, 1)", 107000)
    other.refused(f"acl.rt.ipc_mem_close({key!r})", 107000, "has not opened")
    assert owner("fill(memory[0], 4, 1)") == 0


@pytest.mark.needs_sim
def test_work_that_comes_after_the_closing_fails(pair):
    owner, other = pair
    key = export(owner)
    imports(other, key)
    other("acl.sim.hold(stream)")
    assert other("acl.rt.memset_async(opened[0], 512, 1, 512, stream)") == 0
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    other("acl.sim.release(stream)")
    other.refused("acl.rt.synchronize_stream(stream)", 507053, "freed before it ran")
    assert owner("device_bytes(memory[0], 2)") != "0101"


@pytest.mark.strict
def test_memory_opened_twice_is_closed_twice(pair):
    owner, other = pair
    key = export(owner)
    imports(other, key)
    assert other(f"acl.rt.ipc_mem_import_by_key({key!r}, 0) == opened")
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    assert other("fill(opened[0], 4, 3)") == 0
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    other.refused("fill(opened[0], 4, 3)", 107000)


@pytest.mark.strict
def test_addresses_of_closed_memory_are_given_out_again(pair):
    owner, other = pair
    key = export(owner, 3 << 20)
    assert owner("fill(memory[0], 16, 7)") == 0
    imports(other, key)
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    other("own = acl.rt.malloc(3 << 20, 0)[0]")
    assert other("own == opened[0]")
    assert other("fill(own, 16, 8)") == 0
    assert owner("device_bytes(memory[0], 2)") == "0707"


@pytest.mark.strict
def test_a_device_reset_closes_what_was_opened_and_clears_nothing_of_it(pair):
    owner, other = pair
    key = export(owner, 3 << 20)
    assert owner("fill(memory[0], 16, 7)") == 0
    imports(other, key)
    assert other("acl.rt.reset_device(0)") == 0
    assert other("acl.rt.set_device(0)") == 0
    other.refused(f"acl.rt.ipc_mem_close({key!r})", 107000)
    assert owner("device_bytes(memory[0], 2)") == "0707"
    imports(other, key)
    assert other("device_bytes(opened[0], 2)") == "0707"


def test_only_listed_processes_open_memory(pair):
    owner, other = pair
    key = export(owner, flags=0)
    other.refused(f"acl.rt.ipc_mem_import_by_key({key!r}, 0)", 207006, "has not allowed this process to open it")
    assert owner(f"acl.rt.ipc_mem_set_import_pid({key!r}, [1, {other.pid}])") == 0
    imports(other, key)


def test_four_processes_see_each_others_bytes():
    with processes(4) as four:
        keys = [export(process, 4096) for process in four]
        for number, process in enumerate(four):
            process("there = {}")
            for owner, key in enumerate(keys):
                if owner != number:
                    assert process(f"there.setdefault({owner}, acl.rt.ipc_mem_import_by_key({key!r}, 0))")[1] == 0
                    assert process(f"fill(there[{owner}][0] + {number}, 1, {number + 1})") == 0
        for number, process in enumerate(four):
            text = bytes.fromhex(process("device_bytes(memory[0], 4)"))
            assert [text[i] for i in range(4) if i != number] == [i + 1 for i in range(4) if i != number]


@pytest.mark.strict
def test_memory_outlives_its_owner_where_it_is_open(pair):
    owner, other = pair
    key = export(owner)
    assert owner("fill(memory[0], 16, 7)") == 0
    imports(other, key)
    owner.kill()
    assert other("device_bytes(opened[0], 2)") == "0707"
    assert other(f"acl.rt.ipc_mem_close({key!r})") == 0
    other.refused(f"acl.rt.ipc_mem_import_by_key({key!r}, 0)", 107000, "has exited or belongs to another user")


@pytest.mark.needs_sim
def test_nothing_is_left_of_processes_that_were_killed():
    def left():
        return {name for name in os.listdir("/dev/shm") if "acl" in name or "ascend" in name}

    before = left()
    with processes(2) as pair:
        owner, other = pair
        imports(other, export(owner, 3 << 20))
        pid = owner.pid
        assert f"/{pid}\n" in Path("/proc/net/unix").read_text()
        owner.kill()
        other.kill()
    assert left() == before
    assert f"/{pid}\n" not in Path("/proc/net/unix").read_text()


@pytest.mark.needs_sim
def test_a_fork_is_another_process(pair):
    owner = pair[0]
    key = export(owner)
    assert owner("fill(memory[0], 4, 7)") == 0
    owner(f"""
import os
def child():
    child = os.fork()
    if child == 0:
        good = acl.rt.set_device(0) == 0 and acl.rt.ipc_mem_close({key!r}) == 107000
        address, ret = acl.rt.ipc_mem_import_by_key({key!r}, 0)
        os._exit(0 if good and ret == 0 and device_bytes(address, 2) == "0707" else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
""")
    assert owner("child()") == 0
    imports(pair[1], key)


@pytest.mark.needs_sim
def test_memory_of_another_device_is_for_some_copies_only():
    with processes(1, ACL_SIM_DEVICES=2) as owners, processes(1, device=1, ACL_SIM_DEVICES=2) as others:
        owner, other = owners[0], others[0]
        imports(other, export(owner))
        other("own, ret = acl.rt.malloc(512, 0)")
        copy = "acl.rt.memcpy_async(own, 512, opened[0], 512, 3, stream)"
        other.refused(copy, 107000, "peer access")
        assert other("acl.rt.device_enable_peer_access(0, 0)") == 0
        assert other(copy) == 0
        assert other("acl.rt.synchronize_stream(stream)") == 0
        other.refused("acl.rt.memcpy_async(own, 512, opened[0], 512, 4, stream)", 107000, "ACL_MEMCPY_DEFAULT")
        other.refused("acl.rt.memcpy(own, 512, opened[0], 512, 3)", 107000, "expected aclrtMemcpyAsync")
        other.refused("device_bytes(opened[0], 4)", 107000, "the other side is ordinary host memory")
        other.refused("fill(opened[0], 4, 1)", 107000, "dst is memory of another process")


# ---- events ----


def share_event(maker, other):
    """Have one process make an event and another one open it, as ``event``."""
    maker('e = ffi.new("void **"); ret = lib.aclrtCreateEventExWithFlag(e, 0x40)')
    assert maker("ret") == 0
    maker('event = int(ffi.cast("uintptr_t", e[0]))')
    handle, ret = maker("event_handle(event)")
    assert ret == 0
    other(f"event, ret = open_event({handle!r})")
    assert other("ret") == 0


@pytest.fixture
def shared(pair):
    """Two processes with one event, as ``event``."""
    share_event(*pair)
    return pair


WAITS = "acl.rt.synchronize_stream_with_timeout(stream, 1)"
WAIT = "acl.rt.stream_wait_event(stream, event)"
RECORD = "acl.rt.record_event(event, stream)"
QUERY = "acl.rt.query_event_status(event)"


def record_held(process):
    """Have a process record the event where its stream does not get on yet."""
    process("acl.sim.hold(stream)")
    assert process(RECORD) == 0


BOTH_WAYS = pytest.mark.parametrize("first", [0, 1], ids=["maker_records", "opener_records"])


@pytest.mark.needs_sim
@BOTH_WAYS
def test_a_stream_waits_for_a_record_of_another_process(shared, first):
    recorder, waiter = shared[first], shared[1 - first]
    record_held(recorder)
    assert waiter(WAIT) == 0
    assert waiter(QUERY) == [0, 0]
    assert waiter(WAITS) == LATCH
    recorder("acl.sim.release(stream)")
    assert waiter("acl.rt.synchronize_stream(stream)") == 0
    assert waiter(QUERY) == recorder(QUERY) == [1, 0]


@pytest.mark.needs_sim
@BOTH_WAYS
def test_a_host_waits_for_a_record_of_another_process(shared, first):
    recorder, waiter = shared[first], shared[1 - first]
    record_held(recorder)
    waiter.refused("acl.rt.synchronize_event_with_timeout(event, 1)", 507047, "1 ms")
    waiter.begin("acl.rt.synchronize_event(event)")
    recorder("acl.sim.release(stream)")
    assert waiter.end() == 0


@pytest.mark.needs_sim
def test_a_wait_is_bound_to_the_record_that_was_newest(shared):
    recorder, waiter = shared
    recorder("other, ret = acl.rt.create_stream()")
    record_held(recorder)
    assert recorder("acl.rt.record_event(event, other)") == 0
    assert waiter(WAIT) == 0
    assert waiter("acl.rt.synchronize_stream(stream)") == 0
    assert recorder(RECORD) == 0
    assert waiter(QUERY) == [0, 0]
    recorder("acl.sim.release(stream)")
    assert waiter("acl.rt.synchronize_event(event)") == 0


@pytest.mark.needs_sim
def test_events_of_several_processes_without_workers():
    with processes(2, ACL_SIM_SCHEDULE="eager") as pair:
        maker, other = pair
        share_event(maker, other)
        record_held(other)
        assert maker(WAIT) == 0
        maker.begin("acl.rt.synchronize_stream(stream)")
        other("acl.sim.release(stream)")
        assert other("acl.rt.synchronize_stream(stream)") == 0
        assert maker.end() == 0


def test_a_wait_for_an_event_without_record_is_nothing(shared):
    for process in shared:
        assert process(QUERY) == [1, 0]
        assert process(WAIT) == 0
        assert process("acl.rt.synchronize_event(event)") == 0
        assert process("acl.rt.synchronize_stream(stream)") == 0


@pytest.mark.needs_sim
@BOTH_WAYS
def test_who_waits_for_a_process_that_is_gone_is_told(shared, first):
    recorder, waiter = shared[first], shared[1 - first]
    record_held(recorder)
    assert waiter(WAIT) == 0
    waiter.begin("acl.rt.synchronize_stream(stream)")
    recorder.kill()
    assert waiter.end() == 507901
    waiter.refused("acl.rt.synchronize_event(event)", 507901, "ended before the record")
    waiter.refused(QUERY, 507901)


@pytest.mark.needs_sim
def test_a_wait_has_a_limit(shared):
    recorder, waiter = shared
    record_held(recorder)
    assert waiter('lib.aclrtStreamWaitEventWithTimeout(ffi.cast("void *", stream), ffi.cast("void *", event), 1)') == 0
    waiter.refused("acl.rt.synchronize_stream(stream)", 107020, "timed out")
    recorder("acl.sim.release(stream)")


@pytest.mark.needs_sim
def test_many_open_records_pass_in_the_end(shared):
    recorder, waiter = shared
    recorder("acl.sim.hold(stream)")
    recorder("assert all(acl.rt.record_event(event, stream) == 0 for _ in range(2500))")
    assert waiter(WAIT) == 0
    assert waiter(WAITS) == LATCH
    recorder("acl.sim.release(stream)")
    assert waiter("acl.rt.synchronize_stream(stream)") == 0


@pytest.mark.needs_sim
def test_four_processes_pass_an_event_on():
    with processes(4) as four:
        for process in four:
            process('e = ffi.new("void **"); ret = lib.aclrtCreateEventExWithFlag(e, 0x40)')
            process('event = int(ffi.cast("uintptr_t", e[0]))')
        handles = [process("event_handle(event)")[0] for process in four]
        for number in range(1, 4):
            four[number](f"before, ret = open_event({handles[number - 1]!r})")
        four[0]("acl.sim.hold(stream)")
        assert four[0](RECORD) == 0
        for process in four[1:]:
            assert process("acl.rt.stream_wait_event(stream, before)") == 0
            assert process(RECORD) == 0
        assert [process(QUERY)[0] for process in four] == [0, 0, 0, 0]
        four[0]("acl.sim.release(stream)")
        for process in reversed(four):
            assert process("acl.rt.synchronize_event(event)") == 0


def test_each_side_destroys_its_own_event(shared):
    maker, other = shared
    assert maker(RECORD) == 0
    assert maker("acl.rt.destroy_event(event)") == 0
    assert other("acl.rt.synchronize_event(event)") == 0
    assert other(RECORD) == 0
    assert other("acl.rt.synchronize_event(event)") == 0
    assert other("acl.rt.destroy_event(event)") == 0
