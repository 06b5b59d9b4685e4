"""Physical memory that processes share by handles."""

import contextlib
import os
from pathlib import Path

import pytest
from helpers.expect import NULL, pointer, refused
from helpers.processes import Process
from helpers.vmm import HOST, HUGE, MEM_NORMAL, free_bytes, get, memory, put

import acl
from acl._lib import ffi, lib

rt = acl.rt
NUMBER, HANDLE = ffi.new("uint64_t *"), ffi.new("aclrtDrvMemHandle *")
FABRIC = ffi.new("aclrtMemFabricHandle *")
PID = ffi.new("int32_t *", os.getpid())

SETUP = """
import sys
sys.path.insert(0, {tests!r})
from helpers.vmm import *

def start_anew(options):
    global made
    acl.sim.reset()
    acl.sim.configure(**options)
    made = Memory()
    return [acl.rt.set_device(device) for device in reversed(range(acl.rt.get_device_count()[0]))]
"""


class Other(Process):
    """Another process, with what makes memory there."""

    def __init__(self):
        super().__init__()
        self(SETUP.format(tests=str(Path(__file__).resolve().parent)))

    def opens(self, number, device=0):
        """Import a number there, map it, and return the handle and the address."""
        handle, ret = self(f"rt.mem_import_from_shareable_handle({number}, {device})")
        assert ret == 0, self("acl.get_recent_err_msg()")
        return handle, self(f"made.map(made.reserve(), {handle})")


@pytest.fixture(scope="module")
def pool():
    """Give a list of other processes, which starting takes longer than all that the tests do with them."""
    processes = []
    yield processes
    for process in processes:
        process.close()


@pytest.fixture
def world(configure, pool):
    """Give ``world(others=1, **options)``: what makes memory here, and other processes of the same chip."""
    with contextlib.ExitStack() as ends:

        def make(others=1, **options):
            configure(**options)
            for device in range(rt.get_device_count()[0]):
                assert rt.set_device(device) == 0
            assert rt.set_device(0) == 0
            made = ends.enter_context(memory())
            while len(pool) < others:
                pool.append(Other())
            for process in pool[:others]:
                assert set(process(f"start_anew({options!r})")) == {0}
            return (made, *pool[:others])

        yield make
        pool[:] = [process for process in pool if process.program.poll() is None]


def export(handle, flags=0):
    number, ret = rt.mem_export_to_shareable_handle(handle, 0, flags)
    assert ret == 0, acl.get_recent_err_msg()
    return number


pytestmark = pytest.mark.needs_sim


def test_two_processes_see_the_same_bytes(world):
    made, other = world()
    handle, address = made.mapped()
    assert put(address, b"here") == 0
    number = export(handle)
    assert rt.mem_set_pid_to_shareable_handle(number, [other.pid]) == 0
    _, there = other.opens(number)
    assert other(f"get({there}, 4).decode()") == "here"
    assert other(f"put({there} + HUGE - 5, b'there')") == 0
    assert get(address + HUGE - 5, 5) == b"there"


def test_queued_work_on_imported_memory(world):
    made, other = world()
    handle, address = made.mapped()
    _, there = other.opens(export(handle, 1))
    assert other(f"rt.memset_async({there}, HUGE, 6, HUGE, 0) or rt.synchronize_stream(0)") == 0
    assert set(get(address, HUGE)) == {6}
    assert other(f"rt.pointer_get_attributes({there})[0]['location']") == {"id": 0, "type": 1}
    assert other(f"access({there}), extent({there} + 1)") == [[3, 0], [there, HUGE, 0]]


def test_only_the_processes_that_were_named(world):
    made, first, second = world(2)
    number = export(made.physical())
    text = f"rt.mem_import_from_shareable_handle({number}, 0)[1]"
    assert [one(text) for one in (first, second)] == [207006, 207006]
    assert rt.mem_set_pid_to_shareable_handle(number, [first.pid]) == 0
    assert [one(text) for one in (first, second)] == [0, 207006]
    second.refused(text, 207006, f"shareableHandle ({number:#x})")


def kept_by_all(made, others):
    """Return the handle and the address of memory made here that says "kept", and each other process with its own."""
    handle, address = made.mapped()
    assert put(address, b"kept") == 0
    number = export(handle, 1)
    return handle, address, [(one, *one.opens(number)) for one in others]


def give_back_one_by_one(handles, before):
    for one, theirs, there in handles:
        assert before - free_bytes() == HUGE
        assert one(f"get({there}, 4).decode()") == "kept"
        assert one(f"rt.unmap_mem({there}) or rt.free_physical({theirs})") == 0
    assert free_bytes() == before


def test_memory_lives_until_all_have_freed_it(world):
    made, *others = world(2)
    before = free_bytes()
    handle, address, handles = kept_by_all(made, others)
    assert rt.unmap_mem(address) == rt.free_physical(handle) == 0
    assert before - free_bytes() == HUGE
    fresh = made.mapped()[1]
    assert rt.memset(fresh, HUGE, 0, HUGE) == rt.unmap_mem(fresh) == rt.free_physical(made.handles[-1]) == 0
    give_back_one_by_one(handles, before)


@pytest.mark.parametrize("end", ["kill", "close"])
def test_the_end_of_an_importer_gives_memory_back(world, end):
    made, other = world()
    before = free_bytes()
    handle = made.physical()
    other.opens(export(handle, 1))
    assert rt.free_physical(handle) == 0
    assert before - free_bytes() == HUGE
    if end == "kill":
        other.kill()
    other.close()
    assert free_bytes() == before


def test_memory_outlives_the_process_that_made_it(world):
    made, maker, other = world(2)
    handle, address = maker("made.mapped()")
    number, ret = maker(f"rt.mem_export_to_shareable_handle({handle}, 0, 1)")
    assert (ret, maker(f"put({address}, b'left')")) == (0, 0)
    _, there = other.opens(number)
    mine, ret = rt.mem_import_from_shareable_handle(number, 0)
    assert ret == 0
    made.handles.append(mine)
    maker.close()
    assert other(f"get({there}, 4).decode()") == "left"
    assert get(made.map(made.reserve(), mine), 4) == b"left"


@pytest.mark.parametrize("is_freed", [True, pytest.param(False, marks=pytest.mark.finds("leaked-memory"))])
def test_memory_outlives_a_reset_of_its_device(world, is_freed):
    made, *others = world(2)
    before = free_bytes()
    handle, address, handles = kept_by_all(made, others)
    if is_freed:
        assert rt.unmap_mem(address) == rt.free_physical(handle) == 0
    assert rt.reset_device_force(0) == rt.set_device(0) == 0
    assert before - free_bytes() == HUGE
    for fresh in [made.mapped()[1] for _ in range(4)]:
        assert rt.memset(fresh, HUGE, 0, HUGE) == 0
    made.close()
    give_back_one_by_one(handles, before)


def test_an_importer_may_end_while_the_device_is_reset(world):
    made, other = world()
    before = free_bytes()
    handle = made.physical()
    theirs, there = other.opens(export(handle, 1))
    assert rt.reset_device_force(0) == 0
    assert other(f"rt.unmap_mem({there}) or rt.free_physical({theirs})") == 0
    assert rt.set_device(0) == 0
    assert free_bytes() == before


def test_freed_memory_can_not_be_imported(world):
    made, other = world()
    handle = made.physical()
    number = export(handle, 1)
    assert rt.free_physical(handle) == 0
    other.refused(f"rt.mem_import_from_shareable_handle({number}, 0)[1]", 107000, "has closed it or never made it")
    refused(rt.mem_set_pid_to_shareable_handle(number, [1]), 107000, "shareableHandle", "not made by this process")


def test_one_handle_has_one_number(world):
    made, other = world()
    handle = made.physical()
    number = export(handle, 1)
    refused(rt.mem_export_to_shareable_handle(handle, 0, 1)[1], 107000, "handle was exported already")
    refused(rt.mem_import_from_shareable_handle(number, 0)[1], 107000, "shareableHandle")
    theirs, there = other.opens(number)
    text = f"rt.mem_import_from_shareable_handle({number}, 0)[1]"
    other.refused(text, 107000, "was imported already")
    other.refused(f"rt.mem_export_to_shareable_handle({theirs}, 0, 1)[1]", 107000, "handle was imported")
    assert other(f"rt.unmap_mem({there}) or rt.free_physical({theirs}) or {text}") == 0


def test_a_range_has_memory_of_one_origin(world):
    made, other = world()
    theirs, there = other.opens(export(made.physical(), 1))
    other.refused(f"rt.map_mem({there} + HUGE, HUGE, 0, made.physical(), 0)", 107000, "only imported memory or none")


def test_another_device_needs_peer_access(world):
    made, other = world(devices=2)
    number = export(made.physical(), 1)
    text = f"rt.mem_import_from_shareable_handle({number}, 1)"
    other.refused(text, 107000, "deviceId is 1 and shareableHandle is memory of device 0")
    assert other("rt.set_device(1) or rt.device_enable_peer_access(0, 0)") == 0
    handle, ret = other(text)
    assert ret == 0
    assert other(f"rt.pointer_get_attributes(made.map(made.reserve(), {handle}))[0]['location']['id']") == 1


def test_numbers_for_other_servers(world):
    made, other = world(soc="Ascend910_9392")
    handle, address = made.mapped()
    assert put(address, b"far") == 0
    assert lib.aclrtMemExportToShareableHandleV2(pointer(handle), 0, 2, FABRIC) == 0
    assert lib.aclrtMemSetPidToShareableHandleV2(FABRIC, 2, ffi.new("int32_t *", other.pid), 1) == 0
    data = bytes(ffi.buffer(FABRIC))
    there = other(
        f"(lambda out: (lib.aclrtMemImportFromShareableHandleV2(ffi.from_buffer({data!r}), 2, 0, out), "
        "int(ffi.cast('uintptr_t', out[0]))))(ffi.new('aclrtDrvMemHandle *'))"
    )
    assert there[0] == 0
    assert other(f"get(made.map(made.reserve(), {there[1]}), 3).decode()") == "far"
    wrong = ffi.new("aclrtMemFabricHandle *")
    ffi.buffer(wrong)[:] = data[:100] + b"x" + data[101:]
    refused(lib.aclrtMemImportFromShareableHandleV2(wrong, 2, 0, HANDLE), 107000, "shareableHandle is not one that")


def test_the_second_version_of_a_number(world):
    made, other = world()
    handle = made.physical()
    assert lib.aclrtMemExportToShareableHandleV2(pointer(handle), 1, 1, NUMBER) == 0
    assert lib.aclrtMemSetPidToShareableHandleV2(NUMBER, 1, PID, 1) == 0
    assert other.opens(NUMBER[0])[1] != 0


ERRORS = [  # call with a handle of a device and one of the host, code, words
    (lambda d, h: lib.aclrtMemExportToShareableHandle(NULL, 0, 0, NUMBER), 100000, "handle is NULL"),
    (lambda d, h: lib.aclrtMemExportToShareableHandle(pointer(d), 0, 0, NULL), 100000, "shareableHandle is NULL"),
    (lambda d, h: lib.aclrtMemExportToShareableHandle(pointer(d), 2, 0, NUMBER), 100000, "handleType is 2"),
    (lambda d, h: lib.aclrtMemExportToShareableHandle(pointer(d), 0, 2, NUMBER), 107000, "flags is 0x2"),
    (
        lambda d, h: lib.aclrtMemExportToShareableHandle(pointer(h), 0, 0, NUMBER),
        207000,
        "handle is memory of the host",
    ),
    (lambda d, h: lib.aclrtMemExportToShareableHandleV2(NULL, 0, 1, NUMBER), 100000, "handle is NULL"),
    (lambda d, h: lib.aclrtMemExportToShareableHandleV2(pointer(d), 0, 1, NULL), 100000, "shareableHandle is NULL"),
    (lambda d, h: lib.aclrtMemExportToShareableHandleV2(pointer(d), 4, 1, NUMBER), 107000, "flags is 0x4"),
    (lambda d, h: lib.aclrtMemExportToShareableHandleV2(pointer(d), 0, 3, NUMBER), 107000, "shareType is 3"),
    (lambda d, h: lib.aclrtMemExportToShareableHandleV2(pointer(d), 0, 2, FABRIC), 207000, "between servers"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandle(1, NULL, 1), 100000, "pid is NULL"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandle(1, PID, 0), 100000, "pidNum is 0"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandle(1, PID, 1), 107000, "shareableHandle"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandle(1, PID, 2**40), 107000, "is 1099511627776"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandle(1, ffi.new("int32_t *", -1), 1), 107000, "pid[0] is -1"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandleV2(NULL, 1, PID, 1), 100000, "shareableHandle is NULL"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandleV2(NUMBER, 1, NULL, 1), 100000, "pid is NULL"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandleV2(NUMBER, 1, PID, 0), 100000, "pidNum is 0"),
    (lambda d, h: lib.aclrtMemSetPidToShareableHandleV2(NUMBER, 9, PID, 1), 107000, "shareType is 9"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandle(1, 0, NULL), 100000, "handle is NULL"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandle(1, 9, HANDLE), 107001, "deviceId is 9"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandle(0, 0, HANDLE), 107000, "shareableHandle"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandle(2**64 - 1, 0, HANDLE), 107000, "shareableHandle"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandleV2(NULL, 1, 0, HANDLE), 100000, "shareableHandle is NULL"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandleV2(NUMBER, 1, 0, NULL), 100000, "handle is NULL"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandleV2(NUMBER, 1, 1, HANDLE), 100000, "flags is 0x1"),
    (lambda d, h: lib.aclrtMemImportFromShareableHandleV2(NUMBER, 0, 0, HANDLE), 107000, "shareType is 0"),
]


@pytest.mark.parametrize(("call", "code", "word"), ERRORS)
def test_refusals(device, call, code, word):
    with memory() as made:
        handle, host = made.physical(), made.physical(4096, kind=HOST, attr=MEM_NORMAL)
        NUMBER[0] = 1
        refused(call(handle, host), code, word)


def test_numbers_are_kept_in_host_memory(device):
    with memory() as made:
        handle, address = made.mapped()
        place = pointer(address)
        for call in (
            lambda: lib.aclrtMemExportToShareableHandleV2(pointer(handle), 0, 1, place),
            lambda: lib.aclrtMemSetPidToShareableHandleV2(place, 1, PID, 1),
            lambda: lib.aclrtMemImportFromShareableHandleV2(place, 1, 0, HANDLE),
        ):
            refused(call(), 107000, f"shareableHandle is {address:#x}, an address that the host cannot reach")


def test_the_second_version_wants_a_context(configure):
    configure()
    refused(lib.aclrtMemImportFromShareableHandleV2(NUMBER, 1, 0, HANDLE), 107002, "no current context")
