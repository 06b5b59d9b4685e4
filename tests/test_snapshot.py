"""Snapshots: the process's states, what is held back while it is locked, and the functions called on the way."""

import os
import threading

import pytest
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

LOCK, UNLOCK = lib.aclrtSnapShotProcessLock, lib.aclrtSnapShotProcessUnlock
BACKUP, RESTORE = lib.aclrtSnapShotProcessBackup, lib.aclrtSnapShotProcessRestore
CALLS = {"lock": LOCK, "backup": BACKUP, "restore": RESTORE, "unlock": UNLOCK}
REFUSALS = {"lock": 507906, "unlock": 507907, "backup": 507908, "restore": 507909}
WAYS = {"running": [], "locked": ["lock"], "backed up": ["lock", "backup"]}
ALLOWED = {"running": ["lock"], "locked": ["backup", "unlock"], "backed up": ["restore", "unlock"]}
STAGES = range(6)  # before locking, before and after a backup, before and after restoring, after unlocking
PID = os.getpid()


@pytest.fixture
def opened(configure):
    """Open two of three devices; the process is unlocked at the end."""
    configure(devices=3, memory="1Gi")  # three fit beside a sanitizer
    for device in (2, 0):
        assert acl.rt.set_device(device) == 0


@pytest.fixture
def on_stage(opened):
    """Give ``on_stage(stage, function)``; what ``function(device)`` returns decides, and 0 goes on."""
    kept = []

    def register(stage, function):
        call = ffi.callback("aclrtSnapShotCallBack", lambda device, data: function(device) or 0)
        kept.append((stage, call))
        assert lib.aclrtSnapShotCallbackRegister(stage, call, NULL) == 0

    yield register
    for stage, call in kept:
        assert lib.aclrtSnapShotCallbackUnregister(stage, call) == 0


def go(*names):
    for name in names:
        assert CALLS[name](PID, NULL) == 0, acl.get_recent_err_msg()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("state", WAYS)
def test_states(opened, state, name):
    go(*WAYS[state])
    if name in ALLOWED[state]:
        go(name)
    else:
        refused(CALLS[name](PID, NULL), REFUSALS[name], f"the process is {state}")
        go(ALLOWED[state][0])  # it is where it was


def test_a_whole_round_and_another(opened):
    for _ in range(2):
        go("lock", "backup", "restore", "backup", "restore", "unlock")


def test_memory_is_as_it_was(opened):
    block, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    assert acl.rt.memset_async(block, 64, 7, 64, 0) == 0
    go("lock", "backup", "restore", "unlock")
    data = bytes(64)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 64, block, 64, 2) == 0
    assert data == bytes([7]) * 64


def test_calls_wait_until_the_process_is_unlocked(opened):
    stream, _ = acl.rt.create_stream()
    doomed, _ = acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    block, _ = acl.rt.malloc(192, 0)  # each call has bytes of its own
    lost, _ = acl.rt.malloc(64, 0)
    pinned, _ = acl.rt.malloc_host(64)
    context, _ = acl.rt.get_context()
    spare, _ = acl.rt.create_context(0)
    assert acl.rt.set_context(context) == 0
    calls = {
        "set": lambda: acl.rt.set_device(0),
        "reset": lambda: acl.rt.reset_device(2),
        "malloc": lambda: acl.rt.malloc(64, 0)[1],
        "malloc_host": lambda: acl.rt.malloc_host(64)[1],
        "free": lambda: acl.rt.free(lost),
        "free_host": lambda: acl.rt.free_host(pinned),
        "memcpy": lambda: acl.rt.memcpy(block, 32, block + 32, 32, 3),
        "memset": lambda: acl.rt.memset(block + 64, 64, 1, 64),
        "memset_async": lambda: acl.rt.memset_async(block + 128, 64, 1, 64, stream),
        "record": lambda: acl.rt.record_event(event, stream),
        "create_stream": lambda: acl.rt.create_stream()[1],
        "destroy_stream": lambda: acl.rt.destroy_stream(doomed),
        "create_event": lambda: acl.rt.create_event()[1],
        "create_context": lambda: acl.rt.create_context(0)[1],
        "destroy_context": lambda: acl.rt.destroy_context(spare),
    }
    unlocked, seen = threading.Event(), {}
    started = threading.Barrier(len(calls) + 1)

    def run(name):
        assert acl.rt.set_context(context) == 0
        started.wait()
        seen[name] = (calls[name](), unlocked.is_set())

    go("lock")
    threads = [threading.Thread(target=run, args=(name,)) for name in calls]
    for thread in threads:
        thread.start()
    started.wait()
    go("backup", "restore")
    threads[0].join(0.05)  # time enough for a call that does not wait
    unlocked.set()
    go("unlock")
    for thread in threads:
        thread.join()
    assert seen == dict.fromkeys(calls, (0, True))


def test_functions_are_called_for_each_open_device_in_order(on_stage):
    seen = []
    for stage in STAGES:
        on_stage(stage, lambda device, stage=stage: seen.append((stage, device)))
    go("lock", "backup", "restore", "unlock")
    assert seen == [(stage, device) for stage in STAGES for device in (0, 2)]


STAGE_CALLS = ["lock", "backup", "backup", "restore", "restore", "unlock"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_function_that_fails_stops_the_step(on_stage, stage):
    failing = [True]
    on_stage(stage, lambda device: failing[0] and 5)
    call = STAGE_CALLS[stage]
    go(*["lock", "backup", "restore"][: ["lock", "backup", "restore", "unlock"].index(call)])
    refused(CALLS[call](PID, NULL), 507912, f"returned 5 in stage {stage}")
    failing[0] = False
    if call == "unlock":  # the process runs by then
        assert acl.rt.malloc(64, 0)[1] == 0
        refused(UNLOCK(PID, NULL), 507907)
    else:
        go(call)


@pytest.mark.parametrize("name", CALLS)
def test_arguments(opened, name):
    refused(CALLS[name](PID + 1, NULL), 100000, f"pid is {PID + 1}, expected {PID}")
    refused(CALLS[name](PID, pointer(16)), 100000, "is 0x10, expected NULL")


@pytest.mark.parametrize("soc", ["Ascend310B1", "Ascend310P3", "Ascend910A"])
@pytest.mark.parametrize("name", CALLS)
def test_chips_without_snapshots(configure, soc, name):
    configure(soc=soc)
    refused(CALLS[name](PID, NULL), 207000, soc)


def test_no_device_need_be_open(configure):
    go("lock", "backup", "restore", "unlock")
    assert in_thread(lambda: acl.rt.set_device(0)) == 0
