"""Host memory that is mapped for devices: every task takes its address, until it is unregistered."""

import mmap

import numpy
import pytest
from helpers.capture import begin, end
from helpers.expect import pointer, refused
from helpers.memory import read
from helpers.models import affine_bytes, initialise, load_bytes

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

MAPPED, PINNED = 2, 0x10000000
SUM, FLOAT = 10, 0
PAGE = mmap.PAGESIZE
REFUSED, FREED = 107000, 507053


class Mapped:
    """Four pages of the host's that devices may use."""

    def __init__(self, flags):
        self.mapping = mmap.mmap(-1, 4 * PAGE)
        self.host = int(ffi.cast("uintptr_t", ffi.from_buffer(self.mapping)))
        self.floats = numpy.frombuffer(self.mapping, numpy.float32)
        assert acl.rt.host_register_v2(self.host, 4 * PAGE, flags) == 0
        self.address, ret = acl.rt.host_get_device_pointer(self.host, 0)
        assert ret == 0


@pytest.fixture(params=[MAPPED, MAPPED | PINNED], ids=["mapped", "mapped and pinned"])
def mapped(device, request):
    made = Mapped(request.param)
    yield made
    acl.rt.host_unregister(made.host)  # 507911 where the test did it


def tensor(address, count=4):
    made = ffi.new("int64_t[]", [count])
    strides = ffi.new("int64_t[]", [1])
    return lib.aclCreateTensor(made, 1, 0, strides, 0, 2, made, 1, pointer(address))


def add(stream, one, two, out):
    tensors = [tensor(at) for at in (one, two, out)]
    number = ffi.new("float *", 1)
    alpha = lib.aclCreateScalar(number, 0)
    size, executor, ret = acl.nnop.add_get_workspace_size(
        *(int(ffi.cast("uintptr_t", t)) for t in tensors[:2]),
        int(ffi.cast("uintptr_t", alpha)),
        int(ffi.cast("uintptr_t", tensors[2])),
    )
    assert (size, ret) == (0, 0), acl.get_recent_err_msg()
    ret = acl.nnop.add(0, 0, executor, stream)
    for made in tensors:
        lib.aclDestroyTensor(made)
    lib.aclDestroyScalar(alpha)
    return ret


def custom(stream, address, size):
    @ffi.callback("aclError(void *)")
    def double(_):
        reached = lib.aclsimReach(pointer(address), size)
        assert reached == lib.aclsimTranslate(pointer(address)) != ffi.NULL
        numpy.frombuffer(ffi.buffer(reached, size), numpy.float32)[:] *= 2
        return 0

    ranges = ffi.new("aclsimRange *", {"address": pointer(address), "size": size, "write": 1})
    return double, lib.aclsimLaunchTask(pointer(stream), double, ffi.NULL, ranges, 1, 0)


TASKS = {
    "operator": lambda stream, at: add(stream, at, at, at + 64),
    "reduction": lambda stream, at: acl.rt.reduce_async(at + 64, at, 16, SUM, FLOAT, stream, 0),
    "value write": lambda stream, at: acl.rt.value_write(at + 64, 7, 0, stream),
    "prefetch": lambda stream, at: acl.rt.cmo_async(at, 16, 0, stream),
}


def test_the_device_pointer_is_the_host_pointer(mapped):
    assert mapped.address == mapped.host
    assert acl.rt.host_get_device_pointer(mapped.host + 100, 0) == (mapped.host + 100, 0)


@pytest.mark.parametrize("flags, kind", [(MAPPED, 2), (MAPPED | PINNED, 0)])
def test_its_class_stays(device, flags, kind):
    attributes, made = ffi.new("aclrtPtrAttributes *"), Mapped(flags)
    assert lib.aclrtPointerGetAttributes(pointer(made.address), attributes) == 0
    assert attributes.location.type == kind
    assert acl.rt.host_unregister(made.host) == 0


def test_operators_read_and_write_it(mapped, stream):
    mapped.floats[:4] = [1, 2, 3, 4]
    assert add(stream, mapped.address, mapped.address, mapped.address + 64) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert mapped.floats[16:20].tolist() == [2, 4, 6, 8]


def test_reductions_read_and_write_it(mapped, stream):
    mapped.floats[:4], mapped.floats[16:20] = [1, 2, 3, 4], [10, 20, 30, 40]
    assert TASKS["reduction"](stream, mapped.address) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert mapped.floats[16:20].tolist() == [11, 22, 33, 44]


def test_values_are_written_to_it(mapped, stream):
    assert acl.rt.value_write(mapped.address + 8, 2**40 + 3, 0, stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert mapped.floats[2:4].view(numpy.uint64).tolist() == [2**40 + 3]


def test_values_in_it_cannot_be_waited_for(mapped, stream):
    refused(acl.rt.value_wait(mapped.address, 1, 1, stream), REFUSED, "devAddr", hex(mapped.address), "registered host")


def test_custom_kernels_reach_it(mapped, stream):
    mapped.floats[:4] = [1, 2, 3, 4]
    alive, ret = custom(stream, mapped.address, 16)
    assert ret == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert mapped.floats[:4].tolist() == [2, 4, 6, 8]
    del alive


def test_indirect_copies_find_it(mapped, stream, block):
    addresses = numpy.array([block(64), mapped.address], numpy.uint64)
    table = block(16)
    assert acl.rt.memcpy(table, 16, addresses.ctypes.data, 16, 1) == 0
    mapped.floats[:4] = [1, 2, 3, 4]
    ret = lib.aclrtMemcpyAsyncWithOffset(
        ffi.cast("void **", table), 16, 0, ffi.cast("void **", table + 8), 16, 0, 6, pointer(stream)
    )
    assert ret == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert read(int(addresses[0]), 16).view(numpy.float32).tolist() == [1, 2, 3, 4]


class MappedModel:
    """A loaded model, 2 x + 1, whose input and output lie in mapped memory: at its start, and 64 bytes on."""

    def __init__(self, address):
        initialise()
        content = affine_bytes()
        self.id, ret = load_bytes(content)
        assert ret == 0, acl.get_recent_err_msg()
        self.buffers = [acl.create_data_buffer(at, 8) for at in (address, address + 64)]
        self.datasets = [acl.mdl.create_dataset() for _ in self.buffers]
        for dataset, buffer in zip(self.datasets, self.buffers):
            assert acl.mdl.add_dataset_buffer(dataset, buffer) == (dataset, 0)

    def execute(self, stream):
        """Run it at once, or queued on a stream."""
        if stream is None:
            return acl.mdl.execute(self.id, *self.datasets)
        return acl.mdl.execute_async(self.id, *self.datasets, stream)

    def close(self):
        assert [acl.mdl.destroy_dataset(dataset) for dataset in self.datasets] == [0, 0]
        assert [acl.destroy_data_buffer(buffer) for buffer in self.buffers] == [0, 0]
        assert acl.mdl.unload(self.id) == 0


@pytest.fixture
def affine(mapped):
    acl.sim.model("affine")(lambda x: 2 * x + 1)
    made = MappedModel(mapped.address)
    yield made
    made.close()
    acl.sim.model("affine")(None)


@pytest.mark.parametrize("queued", [False, True], ids=["at once", "queued"])
def test_models_read_and_write_it(mapped, stream, affine, queued):
    mapped.floats[:2] = [3, 4]
    assert affine.execute(stream if queued else None) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert mapped.floats[16:18].tolist() == [7, 9]


@pytest.mark.parametrize("queued", [False, True], ids=["at once", "queued"])
def test_after_unregistering_models_are_refused(mapped, stream, affine, queued):
    assert acl.rt.host_unregister(mapped.host) == 0
    refused(affine.execute(stream if queued else None), REFUSED, hex(mapped.address), "ordinary host memory")


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_unregistering_under_a_queued_model_fails_it(mapped, stream, affine):
    acl.sim.hold(stream)
    assert affine.execute(stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.host_unregister(mapped.host) == 0
    acl.sim.release(stream)
    refused(acl.rt.synchronize_stream(stream), FREED, "were unregistered before it ran")


@pytest.mark.parametrize("task", TASKS)
def test_after_unregistering_submission_is_refused(mapped, stream, task):
    assert acl.rt.host_unregister(mapped.host) == 0
    code = 361001 if task == "operator" else REFUSED  # the second phase of aclnn: a refusal of the runtime's
    refused(TASKS[task](stream, mapped.address), code, "ordinary host memory")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_unregistering_under_a_task_fails_it(mapped, stream, task):
    acl.sim.hold(stream)
    assert TASKS[task](stream, mapped.address) == 0, acl.get_recent_err_msg()
    assert acl.rt.host_unregister(mapped.host) == 0
    acl.sim.release(stream)
    refused(acl.rt.synchronize_stream(stream), FREED, "were unregistered before it ran")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_registering_again_does_not_revive_a_task(mapped, stream, task):
    acl.sim.hold(stream)
    assert TASKS[task](stream, mapped.address) == 0, acl.get_recent_err_msg()
    assert acl.rt.host_unregister(mapped.host) == 0
    assert acl.rt.host_register_v2(mapped.host, 4 * PAGE, MAPPED) == 0
    acl.sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == FREED


def test_a_range_must_end_inside_the_registration(mapped, stream):
    end = mapped.address + 4 * PAGE
    refused(acl.rt.cmo_async(end - 16, 17, 0, stream), REFUSED, "17", "16")


def test_registered_memory_that_is_not_mapped_is_refused(device, stream):
    mapping = mmap.mmap(-1, PAGE)
    host = int(ffi.cast("uintptr_t", ffi.from_buffer(mapping)))
    assert acl.rt.host_register_v2(host, PAGE, PINNED) == 0
    refused(acl.rt.cmo_async(host, 16, 0, stream), REFUSED, hex(host), "pinned host memory")
    assert acl.rt.host_unregister(host) == 0


def test_pinned_memory_can_be_mapped(device, stream):
    """A registration of memory of aclrtMallocHost: freed under it, the memory is gone for tasks too."""
    host, ret = acl.rt.malloc_host(4096)
    assert ret == 0
    base = (host + PAGE - 1) // PAGE * PAGE
    assert base == host, "blocks of a page start at one"
    assert acl.rt.host_register_v2(host, 4096, MAPPED) == 0
    assert acl.rt.value_write(host, 5, 0, stream) == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0
    assert numpy.frombuffer(ffi.buffer(pointer(host), 8), numpy.uint64)[0] == 5
    assert acl.rt.free_host(host) == 0
    assert acl.rt.value_write(host, 5, 0, stream) == REFUSED
    assert acl.rt.host_unregister(host) == 0


# ---- addresses that no process has ----

LOW = [8, 0x1234, 0xFFFF]
NULL = ffi.NULL


def batch(dst, src, function, *more):
    attrs = ffi.new("aclrtMemcpyBatchAttr *")
    attrs.dstLoc.type, attrs.srcLoc.type = (1, 2) if src < 65536 else (2, 1)
    failed = ffi.new("size_t *")
    size = ffi.new("size_t *", 4)
    ret = function(
        ffi.new("void *[]", [pointer(dst)]),
        size,
        ffi.new("void *[]", [pointer(src)]),
        size,
        1,
        attrs,
        ffi.new("size_t *", 0),
        1,
        failed,
        *more,
    )
    assert failed[0] == 0
    return ret


LOW_CALLS = {
    "memset": lambda low, dev, s: acl.rt.memset(low, 8, 1, 8),
    "memset_async": lambda low, dev, s: acl.rt.memset_async(low, 8, 1, 8, s),
    "memset_d32": lambda low, dev, s: lib.aclrtMemsetD32(pointer(low & ~3), 8, 1, 2),
    "memset_d32_async": lambda low, dev, s: lib.aclrtMemsetD32Async(pointer(low & ~3), 8, 1, 2, pointer(s)),
    "memcpy from": lambda low, dev, s: acl.rt.memcpy(dev, 8, low, 8, 1),
    "memcpy to": lambda low, dev, s: acl.rt.memcpy(low, 8, dev, 8, 2),
    "memcpy_async from": lambda low, dev, s: acl.rt.memcpy_async(dev, 8, low, 8, 1, s),
    "memcpy_async to": lambda low, dev, s: acl.rt.memcpy_async(low, 8, dev, 8, 2, s),
    "memcpy_async d2d": lambda low, dev, s: acl.rt.memcpy_async(low, 8, dev, 8, 3, s),
    "memcpy_async staged": lambda low, dev, s: acl.rt.memcpy_async(dev, 8, low, 8, 5, s),
    "memcpy_2d": lambda low, dev, s: lib.aclrtMemcpy2d(pointer(dev), 4, pointer(low), 4, 4, 2, 1),
    "memcpy_2d_async": lambda low, dev, s: lib.aclrtMemcpy2dAsync(
        pointer(low), 4, pointer(dev), 4, 4, 2, 2, pointer(s)
    ),
    "batch from": lambda low, dev, s: batch(dev, low, lib.aclrtMemcpyBatch),
    "batch to": lambda low, dev, s: batch(low, dev, lib.aclrtMemcpyBatch),
    "batch async": lambda low, dev, s: batch(dev, low, lib.aclrtMemcpyBatchAsync, pointer(s)),
}


@pytest.mark.parametrize("low", LOW)
@pytest.mark.parametrize("call", LOW_CALLS)
def test_low_addresses_are_refused(device, stream, block, call, low):
    named = low & ~3 if "d32" in call else low
    refused(LOW_CALLS[call](low, block(64), stream), REFUSED, f" is {hex(named)}", "64 KiB")


@pytest.mark.parametrize("call", ["memset_async", "memcpy_async d2d"])
def test_low_addresses_are_refused_when_captured(device, stream, block, call):
    address = block(64)
    begin(stream)
    refused(LOW_CALLS[call](0x1234, address, stream), REFUSED, " is 0x1234")
    assert acl.mdl.ri_destroy(end(stream)) == 0


@pytest.mark.parametrize(
    "register",
    [
        lambda low: acl.rt.host_register_v2(low, 4096, MAPPED),
        lambda low: acl.rt.host_register(low, 4096, 0)[1],
    ],
)
def test_low_addresses_cannot_be_registered(device, register):
    refused(register(0x1000), REFUSED, "ptr is 0x1000", "64 KiB")


def test_no_bytes_at_a_low_address_succeed(device, stream, block):
    address = block(8)
    assert acl.rt.memset(8, 0, 0, 0) == 0
    assert acl.rt.memset_async(8, 0, 0, 0, stream) == 0
    assert acl.rt.memcpy(8, 0, address, 0, 2) == 0
    assert acl.rt.memcpy_async(address, 0, 8, 0, 1, stream) == 0
    assert lib.aclrtMemcpy2d(pointer(8), 4, pointer(address), 4, 0, 2, 2) == 0
    assert lib.aclrtMemsetD32(pointer(8), 0, 0, 0) == 0
