"""Cleaning up after a failed task: in a context that a failure has stopped, only new work is refused."""

import threading

import pytest
from helpers import elf, queues
from helpers.capture import HEAD, PERSISTENT
from helpers.expect import BLOCK, NULL, RunningTask, Task, pointer, refused
from helpers.models import Model, affine_bytes, initialise, load_bytes

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

rt, mdl = acl.rt, acl.mdl
STOP, FAILURE = 1, 507015
HUGE = 2 << 20


@pytest.fixture
def failed(stream):
    """Give ``failed()``, which stops the current context by a task that fails, and the stream of that task."""
    kept = []

    def fail():
        assert rt.set_stream_failure_mode(stream, STOP) == 0
        kept.append(Task(stream, lambda: FAILURE))
        assert rt.synchronize_stream(stream) == FAILURE
        return stream

    yield fail


@pytest.mark.parametrize("destroy", [rt.destroy_stream, rt.destroy_stream_force])
def test_streams_are_destroyed_with_what_is_queued_on_them(failed, device, words, destroy):
    other, _ = rt.create_stream()
    available, _ = rt.get_stream_available_num()
    acl.sim.hold(other)
    assert words.set(other, 0, 7) == 0
    broken = failed()
    assert destroy(other) == 0, acl.get_recent_err_msg()
    assert destroy(broken) == 0, acl.get_recent_err_msg()
    assert rt.get_stream_available_num() == (available + 2, 0)
    assert words.read() == [0] * 8
    refused(destroy(other), 107017, "expected a live stream")


def test_a_stream_that_waits_for_its_callback_is_destroyed(failed, device):
    other, _ = rt.create_stream()
    called = []
    assert rt.subscribe_report(threading.get_ident(), other) == 0  # this thread never processes it
    assert rt.launch_callback(called.append, None, BLOCK, other) == 0
    failed()
    assert rt.destroy_stream(other) == 0, acl.get_recent_err_msg()
    assert called == []


def test_streams_are_stopped_and_aborted(failed, device, words):
    other, _ = rt.create_stream()
    acl.sim.hold(other)
    assert words.set(other, 0, 7) == 0
    broken = failed()
    for stream in (other, broken):
        assert lib.aclrtStreamStop(pointer(stream)) == 0, acl.get_recent_err_msg()
        assert rt.stream_abort(stream) == 0, acl.get_recent_err_msg()
        refused(rt.synchronize_stream(stream), FAILURE, "stops on failure")
    assert rt.device_task_abort(0, 0) == 0, acl.get_recent_err_msg()
    assert words.read() == [0] * 8
    refused(rt.synchronize_stream(other), FAILURE, "stops on failure")
    assert rt.destroy_stream(other) == 0


@pytest.mark.parametrize("soc", ["Ascend910A", "Ascend310P3", "Ascend310B1"])
def test_chips_that_cannot_stop_tasks_say_so_and_destroy_streams(configure, soc):
    configure(soc=soc)
    assert rt.set_device(0) == 0
    stream, _ = rt.create_stream()
    other, _ = rt.create_stream()
    acl.sim.hold(other)
    assert rt.set_stream_failure_mode(stream, STOP) == 0
    task = Task(stream, lambda: FAILURE)
    assert rt.synchronize_stream(stream) == FAILURE
    refused(lib.aclrtStreamStop(pointer(stream)), 207000, soc)
    refused(rt.stream_abort(stream), 207000, soc)
    assert rt.destroy_stream(other) == 0
    assert rt.destroy_stream(stream) == 0
    assert rt.reset_device(0) == 0
    del task


@pytest.mark.finds("invalid-free", "leaked-memory", "leaked-object")
def test_new_work_is_refused_until_the_device_is_reset(failed, words, event):
    stream = failed()
    for _ in range(2):
        assert rt.create_stream() == (0, FAILURE)
        assert rt.create_stream_with_config(0, 0) == (0, FAILURE)
        refused(words.set(stream, 0, 1), FAILURE, "stops on failure", "device is reset")
        refused(rt.record_event(event, 0), FAILURE, "stops on failure")
        assert rt.synchronize_device() == FAILURE
    assert rt.reset_device_force(0) == 0
    assert rt.set_device(0) == 0
    fresh, ret = rt.create_stream()
    assert ret == 0
    assert rt.synchronize_stream(fresh) == 0
    assert rt.destroy_stream(fresh) == 0


def test_destroying_waits_for_the_task_that_runs(failed, device):
    """A running task cannot be taken away: its end is waited for, and what is queued behind it is discarded."""
    other, _ = rt.create_stream()
    running, ran = RunningTask(other), []
    behind = Task(other, lambda: ran.append(1))
    failed()
    codes = []
    thread = threading.Thread(target=lambda: (rt.set_device(0), codes.append(rt.destroy_stream(other))))
    thread.start()
    running.finish()
    thread.join()
    assert (codes, ran) == ([0], [])
    del behind


# ---- everything else that ends something ----


def made(kind, function, *arguments):
    """Return what a C function puts into its first argument."""
    place = ffi.new(f"{kind} *")
    assert function(place, *arguments) == 0, acl.get_recent_err_msg()
    return place[0]


def queued_event(stream):
    event, _ = rt.create_event()
    assert rt.record_event(event, stream) == 0
    return [lambda: rt.destroy_event(event)]


def awaited_notify(stream):
    notify = made("aclrtNotify", lib.aclrtCreateNotify, 0)
    assert lib.aclrtWaitAndResetNotify(notify, pointer(stream), 0) == 0
    return [lambda: lib.aclrtDestroyNotify(notify)]


def labels(stream):
    label = made("aclrtLabel", lib.aclrtCreateLabel)
    both = ffi.new("aclrtLabel[1]", [label])
    place = ffi.new("aclrtLabelList *")
    assert lib.aclrtCreateLabelList(both, 1, place) == 0
    return [lambda: lib.aclrtDestroyLabelList(place[0]), lambda: lib.aclrtDestroyLabel(label)]


def device_memory(stream):
    pages, _ = rt.malloc(1024, 0)
    host, _ = rt.malloc_host(1024)
    assert rt.memcpy_async(pages, 1024, host, 1024, 1, stream) == 0
    return [lambda: rt.synchronize_stream(stream) - FAILURE, lambda: rt.free(pages), lambda: rt.free_host(host)]


def registered_memory(stream):
    place = ffi.new("char[]", 8192)
    start = (int(ffi.cast("uintptr_t", place)) + 4095) // 4096 * 4096
    out = ffi.new("void **")
    assert lib.aclrtHostRegister(pointer(start), 4096, 0, out) == 0, acl.get_recent_err_msg()
    return [lambda: lib.aclrtHostUnregister(pointer(start)), lambda: place and 0]


def virtual_memory(stream):
    prop = ffi.new("aclrtPhysicalMemProp *")
    prop.memAttr = lib.ACL_HBM_MEM_HUGE
    prop.location.type = lib.ACL_MEM_LOCATION_TYPE_DEVICE
    handle = made("aclrtDrvMemHandle", lib.aclrtMallocPhysical, HUGE, prop, 0)
    address = made("void *", lib.aclrtReserveMemAddress, HUGE, 0, NULL, 0)
    assert lib.aclrtMapMem(address, HUGE, 0, handle, 0) == 0
    return [
        lambda: lib.aclrtUnmapMem(address),
        lambda: lib.aclrtFreePhysical(handle),
        lambda: lib.aclrtReleaseMemAddress(address),
    ]


def pool_memory(stream):
    prop = ffi.new("aclrtMemPoolProps *")
    prop.allocType = lib.ACL_MEM_ALLOCATION_TYPE_PINNED
    prop.location.type = lib.ACL_MEM_LOCATION_TYPE_DEVICE
    pool = made("aclrtMemPool", lib.aclrtMemPoolCreate, prop)
    blocks = [made("void *", lib.aclrtMemPoolMallocAsync, 1024, pool, pointer(stream)) for _ in range(2)]
    return [
        lambda: lib.aclrtMemPoolFreeAsync(blocks[0], pointer(stream)),
        lambda: rt.free(int(ffi.cast("uintptr_t", blocks[1]))),
        lambda: lib.aclrtMemPoolDestroy(pool),
    ]


def exported_memory(stream):
    address, _ = rt.malloc(HUGE, 0)
    key = ffi.new("char[65]")
    assert lib.aclrtIpcMemGetExportKey(pointer(address), HUGE, key, 65, 0) == 0, acl.get_recent_err_msg()
    return [lambda: lib.aclrtIpcMemClose(key), lambda: rt.free(address)]


def open_capture(stream):
    assert mdl.ri_capture_begin(stream, 2) == 0
    instance = []

    def end():
        handle, ret = mdl.ri_capture_end(stream)
        instance.append(handle)
        return ret

    return [end, lambda: mdl.ri_destroy(instance[0])]


def open_group(stream):
    assert mdl.ri_capture_begin(stream, 2) == 0
    assert lib.aclmdlRICaptureTaskGrpBegin(pointer(stream)) == 0
    group = ffi.new("aclrtTaskGrp *")
    instance = ffi.new("aclmdlRI *")
    return [
        lambda: lib.aclmdlRICaptureTaskGrpEnd(pointer(stream), group),
        lambda: lib.aclmdlRICaptureEnd(pointer(stream), instance),
        lambda: lib.aclmdlRIDestroy(instance[0]),
    ]


def queued_instance(stream):
    origin, _ = rt.create_stream()
    words, _ = rt.malloc(1024, 0)
    assert mdl.ri_capture_begin(origin, 2) == 0
    assert rt.memset_async(words, 1024, 1, 1024, origin) == 0
    instance, ret = mdl.ri_capture_end(origin)
    assert ret == 0
    assert mdl.ri_execute_async(instance, stream) == 0
    return [
        lambda: rt.destroy_stream(stream),  # the run goes with what is queued
        lambda: mdl.ri_destroy(instance),
        lambda: rt.destroy_stream(origin),
        lambda: rt.free(words),
    ]


def bound_stream(stream):
    built, ret = mdl.ri_build_begin(0)
    assert ret == 0
    bound, _ = rt.create_stream_with_config(0, PERSISTENT)
    assert mdl.ri_bind_stream(built, bound, HEAD) == 0
    return [
        lambda: lib.aclrtPersistentTaskClean(pointer(bound)),
        lambda: mdl.ri_unbind_stream(built, bound),
        lambda: mdl.ri_destroy(built),
        lambda: rt.destroy_stream(bound),
    ]


def subscription(stream):
    thread = threading.get_ident()
    assert rt.subscribe_report(thread, stream) == 0
    return [lambda: rt.unsubscribe_report(thread, stream)]


def tensors(stream):
    desc = lib.aclCreateTensorDesc(lib.ACL_FLOAT, 0, NULL, lib.ACL_FORMAT_ND)
    buffer = lib.aclCreateDataBuffer(NULL, 0)
    dataset = lib.aclmdlCreateDataset()
    array = lib.aclCreateIntArray(ffi.new("int64_t[1]"), 1)
    return [
        lambda: lib.aclDestroyTensorDesc(desc) or 0,
        lambda: lib.aclDestroyDataBuffer(buffer),
        lambda: lib.aclmdlDestroyDataset(dataset),
        lambda: lib.aclDestroyIntArray(array),
    ]


def channel(stream):
    made_channel = lib.acltdtCreateChannelWithCapacity(0, b"failed", 2)
    assert made_channel != NULL
    return [lambda: lib.acltdtStopChannel(made_channel), lambda: lib.acltdtDestroyChannel(made_channel)]


def queued_model(stream):
    initialise()
    acl.sim.affine("affine", [((2,), "f4")], scale=2, offset=1)
    number, ret = load_bytes(affine_bytes())
    assert ret == 0, acl.get_recent_err_msg()
    model = Model(number)
    assert model.execute(stream) == 0
    return [
        lambda: mdl.unload(number),  # the run that is queued finds no model
        lambda: mdl.destroy_desc(model.desc),
        lambda: model.inputs.close() or model.outputs.close() or 0,
        lambda: acl.sim.model("affine")(None) or 0,
    ]


def fed_model(stream):
    initialise()
    acl.sim.affine("line.om", [((4,), "f4")], scale=2, offset=1)
    source, target = queues.create(), queues.create()
    model = ffi.new("uint32_t *")
    assert lib.aclmdlLoadFromFileWithQ(b"line.om", model, [source], 1, [target], 1) == 0, acl.get_recent_err_msg()
    return [
        lambda: mdl.unload(model[0]),
        lambda: lib.acltdtDestroyQueue(source),
        lambda: lib.acltdtDestroyQueue(target),
        lambda: acl.sim.model("line.om")(None) or 0,
    ]


def kernel_binary(stream):
    content = elf.object_file(code=[("plain", bytes(16))])
    place = ffi.from_buffer(content)
    binary, ret = rt.binary_load_from_data(int(ffi.cast("uintptr_t", place)), len(content), [])
    assert ret == 0, acl.get_recent_err_msg()
    return [lambda: rt.binary_unload(binary), lambda: place and 0]


def filled_queue(stream):
    queue = queues.create()
    assert queues.put(queue, b"kept") == 0
    return [lambda: 0 if queues.take(queue) == b"kept" else 1, lambda: lib.acltdtDestroyQueue(queue)]


def initialised_process(stream):
    initialise()
    return [acl.finalize, acl.init, acl.finalize]


def other_context(stream):
    current, _ = rt.get_context()
    context, _ = rt.create_context(0)
    assert rt.set_context(current) == 0
    return [lambda: rt.destroy_context(context)]


def whole_context(stream):
    context, _ = rt.get_context()
    return [lambda: rt.set_context(context), lambda: rt.reset_device(0), lambda: rt.set_device(0)]


@pytest.mark.parametrize(
    "make",
    [
        queued_event,
        awaited_notify,
        labels,
        device_memory,
        registered_memory,
        virtual_memory,
        pool_memory,
        exported_memory,
        open_capture,
        open_group,
        queued_instance,
        bound_stream,
        subscription,
        tensors,
        channel,
        queued_model,
        fed_model,
        kernel_binary,
        filled_queue,
        pytest.param(initialised_process, marks=pytest.mark.finds("leaked-object", count=2)),
        other_context,
        pytest.param(whole_context, marks=pytest.mark.finds("leaked-object", count=2)),
    ],
)
def test_everything_is_cleaned_up(failed, device, make):
    other, _ = rt.create_stream()
    if make not in (open_capture, open_group):
        acl.sim.hold(other)
    steps = make(other)
    failed()
    for number, step in enumerate(steps):
        assert step() == 0, (number, acl.get_recent_err_msg())
    rt.destroy_stream(other)


def test_a_context_is_destroyed_with_what_is_queued(device):
    context, _ = rt.create_context(0)
    stream, _ = rt.create_stream()
    other, _ = rt.create_stream()
    acl.sim.hold(other)
    assert rt.set_stream_failure_mode(stream, STOP) == 0
    task = Task(stream, lambda: FAILURE)
    assert rt.synchronize_stream(stream) == FAILURE
    assert rt.destroy_context(context) == 0, acl.get_recent_err_msg()
    del task
