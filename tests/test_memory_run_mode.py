"""Chips whose programs run on the device itself (Ascend310B): device memory is theirs, and copies are the device's."""

import numpy
import pytest
from helpers.expect import pointer, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

ON_DEVICE = ["Ascend310B1", "Ascend310B2", "Ascend310B3", "Ascend310B4"]
NULL = ffi.NULL
UNSUPPORTED = 207000


@pytest.fixture
def npu(configure):
    """Device 0 of an Ascend310B1, with a stream."""
    configure(soc=ON_DEVICE[0])
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    yield stream
    acl.rt.destroy_stream(stream)
    acl.rt.reset_device(0)


@pytest.fixture
def memory(npu):
    address, ret = acl.rt.malloc(4096, 0)
    assert ret == 0
    yield address
    acl.rt.free(address)


def bytes_at(address, size):
    return numpy.frombuffer(ffi.buffer(pointer(address), size), numpy.uint8)


@pytest.mark.parametrize(
    "soc, mode", [*((soc, 0) for soc in ON_DEVICE), ("Ascend310", 1), ("Ascend310P3", 1), ("Ascend910B3", 1)]
)
def test_run_mode(configure, soc, mode):
    configure(soc=soc, memory="1Gi")
    assert acl.rt.get_run_mode() == (mode, 0)


def test_the_program_reads_and_writes_device_memory(npu, memory):
    assert acl.rt.memset(memory, 4096, 7, 4096) == 0
    seen = bytes_at(memory, 4096)
    assert (seen == 7).all()
    seen[:] = 9
    back = numpy.zeros(4096, numpy.uint8)
    assert acl.rt.memcpy(back.ctypes.data, 4096, memory, 4096, 2) == 0
    assert (back == 9).all()


@pytest.mark.finds("invalid-free")
def test_it_is_still_device_memory(npu):
    memory, _ = acl.rt.malloc(4096, 0)
    attributes = ffi.new("aclrtPtrAttributes *")
    assert lib.aclrtPointerGetAttributes(pointer(memory), attributes) == 0
    assert (attributes.location.type, attributes.location.id) == (1, 0)
    refused(acl.rt.memset(memory, 8192, 0, 8192), 107000, "8192")
    assert acl.rt.free(memory) == 0
    assert acl.rt.free(memory) == 107000


@pytest.mark.parametrize("kind", range(5))
def test_every_asynchronous_copy_is_queued(npu, memory, kind):
    """Whatever its kind says: ordinary memory is read when the task runs, not when it is submitted."""
    source = numpy.full(64, 1, numpy.uint8)
    acl.sim.hold(npu)
    assert acl.rt.memcpy_async(memory, 64, source.ctypes.data, 64, kind, npu) == 0, acl.get_recent_err_msg()
    source[:] = 2
    acl.sim.release(npu)
    assert acl.rt.synchronize_stream(npu) == 0
    assert (bytes_at(memory, 64) == 2).all()


@pytest.mark.parametrize("kind", range(5))
def test_between_host_buffers_too(npu, kind):
    source, target = numpy.full(64, 1, numpy.uint8), numpy.zeros(64, numpy.uint8)
    pinned, ret = acl.rt.malloc_host(64)
    assert ret == 0
    assert acl.rt.memcpy_async(pinned, 64, source.ctypes.data, 64, kind, npu) == 0, acl.get_recent_err_msg()
    assert acl.rt.memcpy_async(target.ctypes.data, 64, pinned, 64, kind, npu) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(npu) == 0
    assert (target == 1).all()


def test_a_staged_copy_has_read_its_source(npu, memory):
    source = numpy.full(64, 1, numpy.uint8)
    acl.sim.hold(npu)
    assert acl.rt.memcpy_async(memory, 64, source.ctypes.data, 64, 5, npu) == 0
    source[:] = 2
    acl.sim.release(npu)
    assert acl.rt.synchronize_stream(npu) == 0
    assert (bytes_at(memory, 64) == 1).all()


def test_copies_of_objects_may_forget_their_array(npu, monkeypatch):
    """A queued copy of ordinary memory has read it when it returns: nothing keeps that memory alive afterwards."""
    source, wait, held = numpy.full(1024, 3, numpy.uint8), acl.rt.synchronize_stream, []

    def let_go_and_wait(handle):
        while held:
            acl.sim.release(held.pop())
        return wait(handle)

    with acl.Stream() as stream, acl.Buffer(1024) as made:
        acl.sim.hold(stream.handle)
        held.append(stream.handle)
        monkeypatch.setattr(acl.rt, "synchronize_stream", let_go_and_wait)
        made.copy_from(source, stream=stream)
        source[:] = 4
        let_go_and_wait(stream.handle)  # a copy that did not wait reads its source only now
        assert (bytes_at(made.handle, 1024) == 3).all()


VMM = {
    "aclrtMallocPhysical": lambda prop: lib.aclrtMallocPhysical(ffi.new("aclrtDrvMemHandle *"), 2 << 20, prop, 0),
    "aclrtMemGetAllocationGranularity": lambda prop: lib.aclrtMemGetAllocationGranularity(prop, 0, ffi.new("size_t *")),
    "aclrtReserveMemAddress": lambda prop: lib.aclrtReserveMemAddress(ffi.new("void **"), 2 << 20, 0, NULL, 0),
    "aclrtReleaseMemAddress": lambda prop: lib.aclrtReleaseMemAddress(pointer(1 << 44)),
    "aclrtMapMem": lambda prop: lib.aclrtMapMem(pointer(1 << 44), 2 << 20, 0, pointer(1), 0),
    "aclrtUnmapMem": lambda prop: lib.aclrtUnmapMem(pointer(1 << 44)),
    "aclrtFreePhysical": lambda prop: lib.aclrtFreePhysical(pointer(1)),
    "aclrtMemSetAccess": lambda prop: lib.aclrtMemSetAccess(
        pointer(1 << 44), 2 << 20, ffi.new("aclrtMemAccessDesc *"), 1
    ),
    "aclrtMemGetAccess": lambda prop: lib.aclrtMemGetAccess(
        pointer(1 << 44), ffi.new("aclrtMemLocation *"), ffi.new("uint64_t *")
    ),
    "aclrtMemRetainAllocationHandle": lambda prop: lib.aclrtMemRetainAllocationHandle(
        pointer(1 << 44), ffi.new("aclrtDrvMemHandle *")
    ),
    "aclrtMemExportToShareableHandle": lambda prop: lib.aclrtMemExportToShareableHandle(
        pointer(1), 0, 0, ffi.new("uint64_t *")
    ),
    "aclrtMemImportFromShareableHandle": lambda prop: lib.aclrtMemImportFromShareableHandle(
        1, 0, ffi.new("aclrtDrvMemHandle *")
    ),
}


@pytest.mark.parametrize("name", VMM)
def test_there_is_no_virtual_memory_management(npu, name):
    prop = ffi.new("aclrtPhysicalMemProp *", {"memAttr": lib.ACL_HBM_MEM_HUGE, "location": {"type": 1, "id": 0}})
    refused(VMM[name](prop), UNSUPPORTED, name, "Ascend310B1", "run mode is ACL_DEVICE")


def test_there_are_no_2d_copies(npu, memory):
    source = numpy.zeros(64, numpy.uint8).ctypes.data
    refused(lib.aclrtMemcpy2d(pointer(memory), 8, pointer(source), 8, 8, 2, 1), UNSUPPORTED, "2-D", "ACL_DEVICE")
    refused(lib.aclrtMemcpy2dAsync(pointer(memory), 8, pointer(source), 8, 8, 2, 1, pointer(npu)), UNSUPPORTED, "2-D")
    assert lib.aclrtMemcpy2d(NULL, 8, NULL, 8, 0, 2, 1) == 0
    assert lib.aclrtMemcpy2d(NULL, 8, pointer(source), 8, 8, 2, 1) == 100000


def test_a_child_of_a_fork_has_no_device_memory(run_script):
    code = """
import os, acl
assert acl.rt.set_device(0) == 0
address, ret = acl.rt.malloc(64, 0)
child = os.fork()
if child == 0:
    os._exit(0 if acl.rt.free(address) != 0 and acl.rt.set_device(0) == 0 and acl.rt.malloc(64, 0)[1] == 0 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), acl.rt.free(address))
"""
    assert run_script(code, env={"ACL_SIM_SOC": "Ascend310B1", "ACL_BACKEND": "sim"}).stdout.split() == ["0", "0"]
