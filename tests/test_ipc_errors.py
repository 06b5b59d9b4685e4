"""What keys, handles and lists of processes are refused for, and what is said then."""

import contextlib
import os

import pytest
from helpers.expect import NULL, pointer, refused
from helpers.processes import processes

import acl
from acl._lib import ffi, lib

KEY = b"aclsim_memory_0000000100000001"
PIDS = ffi.new("int32_t[]", [1])
PLACE = ffi.new("void **")
TEXT = ffi.new("char[]", 65)


@pytest.fixture
def block(memory):
    """Make 512 bytes."""
    return memory.block(512)


@pytest.fixture
def key(block):
    """Export them."""
    key, ret = acl.rt.ipc_mem_get_export_key(block, 512, 65, 0)
    assert ret == 0
    yield key
    acl.rt.ipc_mem_close(key)


@pytest.fixture
def notify(device):
    """Make a notify."""
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    yield notify
    acl.rt.destroy_notify(notify)


@pytest.fixture
def event(device):
    """Make an event for several processes."""
    assert lib.aclrtCreateEventExWithFlag(PLACE, 0x40) == 0
    event = int(ffi.cast("uintptr_t", PLACE[0]))
    yield event
    acl.rt.destroy_event(event)


@pytest.mark.parametrize(
    ("name", "argument", "call"),
    [
        ("aclrtDeviceGetBareTgid", "pid", lambda: lib.aclrtDeviceGetBareTgid(NULL)),
        ("aclrtIpcMemGetExportKey", "devPtr", lambda: lib.aclrtIpcMemGetExportKey(NULL, 1, TEXT, 65, 0)),
        ("aclrtIpcMemGetExportKey", "key", lambda: lib.aclrtIpcMemGetExportKey(pointer(1), 1, NULL, 65, 0)),
        ("aclrtIpcMemSetImportPid", "key", lambda: lib.aclrtIpcMemSetImportPid(NULL, PIDS, 1)),
        ("aclrtIpcMemSetImportPid", "pid", lambda: lib.aclrtIpcMemSetImportPid(KEY, NULL, 1)),
        ("aclrtIpcMemImportByKey", "devPtr", lambda: lib.aclrtIpcMemImportByKey(NULL, KEY, 0)),
        ("aclrtIpcMemImportByKey", "key", lambda: lib.aclrtIpcMemImportByKey(PLACE, NULL, 0)),
        ("aclrtIpcMemClose", "key", lambda: lib.aclrtIpcMemClose(NULL)),
        ("aclrtIpcGetEventHandle", "event", lambda: lib.aclrtIpcGetEventHandle(NULL, ffi.new("aclrtIpcEventHandle *"))),
        ("aclrtIpcGetEventHandle", "handle", lambda: lib.aclrtIpcGetEventHandle(pointer(1), NULL)),
        ("aclrtIpcOpenEventHandle", "event", lambda: lib.aclrtIpcOpenEventHandle([b""], NULL)),
        ("aclrtNotifyGetExportKey", "notify", lambda: lib.aclrtNotifyGetExportKey(NULL, TEXT, 65, 0)),
        ("aclrtNotifyGetExportKey", "key", lambda: lib.aclrtNotifyGetExportKey(pointer(1), NULL, 65, 0)),
        ("aclrtNotifySetImportPid", "notify", lambda: lib.aclrtNotifySetImportPid(NULL, PIDS, 1)),
        ("aclrtNotifySetImportPid", "pid", lambda: lib.aclrtNotifySetImportPid(pointer(1), NULL, 1)),
        ("aclrtNotifyImportByKey", "notify", lambda: lib.aclrtNotifyImportByKey(NULL, KEY, 0)),
        ("aclrtNotifyImportByKey", "key", lambda: lib.aclrtNotifyImportByKey(PLACE, NULL, 0)),
    ],
)
def test_null_is_named(device, name, argument, call):
    refused(call(), 100000, name, f"{argument} is NULL")


@pytest.mark.parametrize(
    ("size", "length", "flags", "said"),
    [
        (0, 65, 0, "size is 0"),
        (512, 0, 0, "len is 0, expected 65"),
        (512, 64, 0, "len is 64"),
        (512, 65, 2, "flags is 0x2"),
        (1 << 20, 65, 0, "size is 1048576, expected at most"),
    ],
)
def test_values_of_an_export(block, size, length, flags, said):
    ret = acl.rt.ipc_mem_get_export_key(block, size, length, flags)[1]
    refused(ret, 107000, "aclrtIpcMemGetExportKey", said)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (lambda block: block + 64, "not where its block starts"),
        (lambda block: acl.rt.malloc_host(64)[0], "pinned host memory"),
        (lambda block: 64, "ordinary host memory"),
    ],
)
def test_only_the_start_of_a_block_is_exported(block, address, said):
    refused(acl.rt.ipc_mem_get_export_key(address(block), 32, 65, 0)[1], 107000, "devPtr", said)


@pytest.mark.parametrize("text", ["", "a", "aclsim_memory_12", "aclsim_event_0000000100000001", "x" * 500])
def test_what_is_no_key(device, text):
    for call in (
        lambda: acl.rt.ipc_mem_import_by_key(text, 0)[1],
        lambda: acl.rt.ipc_mem_close(text),
        lambda: acl.rt.ipc_mem_set_import_pid(text, [1]),
    ):
        refused(call(), 107000, "key is", "aclrtIpcMemGetExportKey")
    refused(acl.rt.notify_import_by_key(text, 0)[1], 107000, "key is", "aclrtNotifyGetExportKey")


def test_a_key_of_this_very_process_is_refused(key):
    refused(acl.rt.ipc_mem_import_by_key(key, 0)[1], 107000, "this very process")


def test_a_closed_key(key):
    assert acl.rt.ipc_mem_close(key) == 0
    refused(acl.rt.ipc_mem_close(key), 107000, "closed")
    refused(acl.rt.ipc_mem_set_import_pid(key, [1]), 107000, "closed")


def test_lists_of_processes(key, notify):
    refused(acl.rt.ipc_mem_set_import_pid(key, []), 107000, "num is 0")
    refused(acl.rt.ipc_mem_set_import_pid(key, [1, 0]), 107000, "pid[1] is 0")
    refused(acl.rt.notify_set_import_pid(notify, [1]), 107000, "was not exported")


def test_values_of_a_notifys_export(notify):
    for length, flags, said in ((0, 0, "len is 0"), (64, 0, "len is 64"), (65, 1, "flags is 0x1"), (65, 3, "0x3")):
        refused(acl.rt.notify_get_export_key(notify, length, flags)[1], 107000, said)
    assert acl.rt.notify_get_export_key(notify, 65, 0)[1] == 0
    refused(acl.rt.notify_get_export_key(notify, 65, 0)[1], 507000, "was exported before")
    assert acl.rt.notify_set_import_pid(notify, [1]) == 0


@pytest.mark.parametrize("flags", [2, 1 << 40])
def test_flags_of_imports(device, flags):
    refused(acl.rt.ipc_mem_import_by_key(KEY.decode(), flags)[1], 107000, "flags is")
    refused(acl.rt.notify_import_by_key("aclsim_notify_0000000100000001", flags + 2)[1], 107000, "flags is")


def test_an_event_for_this_process_alone_has_no_handle(device, event):
    handle = ffi.new("aclrtIpcEventHandle *")
    plain, ret = acl.rt.create_event()
    refused(lib.aclrtIpcGetEventHandle(pointer(plain), handle), 107000, "ACL_EVENT_IPC")
    assert acl.rt.destroy_event(plain) == 0
    assert lib.aclrtIpcGetEventHandle(pointer(event), handle) == 0
    first = bytes(ffi.buffer(handle))
    assert lib.aclrtIpcGetEventHandle(pointer(event), handle) == 0
    assert bytes(ffi.buffer(handle)) == first
    assert set(first[8:]) == {0}


def test_a_wrong_event_handle(event):
    handle = ffi.new("aclrtIpcEventHandle *")
    refused(lib.aclrtIpcOpenEventHandle(handle[0], PLACE), 107017, "all zeros")
    assert lib.aclrtIpcGetEventHandle(pointer(event), handle) == 0
    refused(lib.aclrtIpcOpenEventHandle(handle[0], PLACE), 107017, "this very process")
    ffi.buffer(handle)[:8] = bytes([255] * 8)
    refused(lib.aclrtIpcOpenEventHandle(handle[0], PLACE), 107017, "has exited or belongs to another user")


def test_what_an_event_of_several_processes_is_not_for(event, stream):
    number = ffi.new("uint32_t *")
    plain, ret = acl.rt.create_event()
    for call in (
        lambda: acl.rt.reset_event(event, stream),
        lambda: acl.rt.query_event(event)[1],
        lambda: acl.rt.query_event_wait_status(event)[1],
        lambda: acl.rt.event_elapsed_time(event, plain)[1],
        lambda: acl.rt.event_get_timestamp(event)[1],
        lambda: lib.aclrtGetEventId(pointer(event), number),
    ):
        refused(call(), 207000, "the event was created")
    assert acl.rt.destroy_event(plain) == 0


def test_an_event_of_several_processes_is_not_captured(event, stream):
    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    refused(acl.rt.record_event(event, stream), 207000, "captured")
    refused(acl.rt.stream_wait_event(stream, event), 207000, "captured")
    acl.mdl.ri_destroy(acl.mdl.ri_capture_end(stream)[0])


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "call"),
    [
        ("Ascend310B1", lambda: acl.rt.ipc_mem_import_by_key(KEY.decode(), 0)[1]),
        ("Ascend310B1", lambda: acl.rt.notify_import_by_key(KEY.decode(), 0)[1]),
        ("Ascend310P3", lambda: lib.aclrtCreateEventExWithFlag(PLACE, 0x40)),
        ("Ascend910B3", lambda: lib.aclrtIpcMemSetAttr(KEY, 0, 0)),
        ("Ascend910B3", lambda: lib.aclrtIpcMemImportPidInterServer(KEY, NULL, 0)),
        ("Ascend910B3", lambda: lib.aclrtNotifySetImportPidInterServer(NULL, NULL, 0)),
    ],
)
def test_chips_without(configure, soc, call):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    refused(call(), 207000, soc)


@pytest.fixture
def servers(configure):
    """Use a chip of a server of several, and export a block."""
    configure(soc="Ascend910_9392")
    assert acl.rt.set_device(0) == 0
    block, ret = acl.rt.malloc(512, 0)
    key, ret = acl.rt.ipc_mem_get_export_key(block, 512, 65, 0)
    assert ret == 0
    return key.encode()


@pytest.mark.needs_sim
def test_attributes_of_a_key(servers):
    for attribute in (0, 1):
        assert lib.aclrtIpcMemSetAttr(servers, 0, attribute) == 0
    refused(lib.aclrtIpcMemSetAttr(NULL, 0, 0), 107000, "key is NULL")
    refused(lib.aclrtIpcMemSetAttr(servers, 1, 0), 107000, "type is 1")
    refused(lib.aclrtIpcMemSetAttr(servers, 0, 4), 107000, "attr is 4")
    refused(lib.aclrtIpcMemSetAttr(servers, 0, 2), 207021, "attr is 2")
    refused(lib.aclrtIpcMemSetAttr(KEY, 0, 0), 107000, "was not made by this process")


@pytest.mark.needs_sim
def test_processes_of_servers(servers):
    pids = ffi.new("aclrtServerPid[]", 1)
    refused(lib.aclrtIpcMemImportPidInterServer(NULL, pids, 1), 107000, "key is NULL")
    refused(lib.aclrtIpcMemImportPidInterServer(servers, NULL, 1), 107000, "serverPids is NULL")
    refused(lib.aclrtIpcMemImportPidInterServer(servers, pids, 0), 107000, "num is 0")
    refused(lib.aclrtIpcMemImportPidInterServer(servers, pids, 1), 107000, "serverPids[0].pid is NULL")
    with processes(1, ACL_SIM_SOC="Ascend910_9392") as others:
        other = others[0]
        other.refused(f"acl.rt.ipc_mem_import_by_key({servers.decode()!r}, 0)", 207006)
        mine = ffi.new("int32_t[]", [other.pid])
        pids[0].pid, pids[0].num = mine, 1
        assert lib.aclrtIpcMemImportPidInterServer(servers, pids, 1) == 0
        assert other(f"acl.rt.ipc_mem_import_by_key({servers.decode()!r}, 0)")[1] == 0


def test_the_number_of_this_process():
    assert acl.rt.device_get_bare_tgid() == (os.getpid(), 0)


@pytest.mark.strict
def test_memory_freed_by_its_owner_is_opened_no_more(block):
    key, ret = acl.rt.ipc_mem_get_export_key(block, 512, 65, 1)
    with processes(1) as others:
        assert acl.rt.free(block) == 0
        others[0].refused(f"acl.rt.ipc_mem_import_by_key({key!r}, 0)", 107000, "closed it or never made it")
        again, ret = acl.rt.malloc(512, 0)
        others[0].refused(f"acl.rt.ipc_mem_import_by_key({key!r}, 0)", 107000)
    with contextlib.suppress(Exception):
        acl.rt.ipc_mem_close(key)
