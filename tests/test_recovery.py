"""Aborting the work of streams and devices, and reports of faults, of which simulated hardware has none."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.expect import NULL, RunningTask, Task, in_thread, latches, pointer, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

PA2, PA3, P950 = "Ascend910B3", "Ascend910_9392", "Ascend910_95"
P310B, P310P, P910 = "Ascend310B1", "Ascend310P3", "Ascend910A"
PERSISTENT, DEVICE_ONLY = 4, 32
PRE, POST = 0, 1
ABORTS = {"stream": acl.rt.stream_abort, "device": lambda stream: acl.rt.device_task_abort(0, 0)}


@pytest.fixture(params=ABORTS)
def abort(request):
    """Give ``abort(stream)``, which aborts that stream, or the whole device."""
    return ABORTS[request.param]


@pytest.fixture
def on_abort():
    """Give ``on_abort(function)``, which is called with stage and milliseconds; what it returns is the abort's code."""
    kept = []

    def register(function):
        @ffi.callback("aclrtDeviceTaskAbortCallback")
        def call(device, stage, left, data):
            return function(stage, left) or 0

        kept.append(call)
        assert lib.aclrtSetDeviceTaskAbortCallback(b"%d" % len(kept), call, NULL) == 0

    yield register
    for number in range(len(kept)):
        assert lib.aclrtSetDeviceTaskAbortCallback(b"%d" % (number + 1), NULL, NULL) == 0


def fill(words, value, stream):
    return acl.rt.memset_async(words.address, 32, value, 32, stream)


def bytes_of(words):
    data = bytes(32)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 32, words.address, 32, 2) == 0
    return data


# ---- what is discarded ----


def test_what_is_queued_is_discarded_and_later_work_is_done(stream, words, abort):
    assert acl.rt.memset(words.address, 32, 1, 32) == 0
    acl.sim.hold(stream)
    assert fill(words, 2, stream) == 0
    assert abort(stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(words) == bytes([1]) * 32
    assert fill(words, 3, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(words) == bytes([3]) * 32


def test_the_default_stream_is_aborted_as_null(words, device):
    assert bytes_of(words) == bytes(32)
    acl.sim.hold(0)
    assert fill(words, 2, 0) == 0
    assert acl.rt.stream_abort(0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert bytes_of(words) == bytes(32)


def test_an_idle_stream_is_aborted_at_once(stream, abort):
    for _ in range(3):
        assert abort(stream) == 0
    assert acl.rt.stream_query(stream) == (0, 0)


def test_waits_are_given_up(stream, other, event, abort):
    acl.sim.hold(other)
    assert acl.rt.record_event(event, other) == 0
    assert acl.rt.stream_wait_event(stream, event) == 0
    assert abort(stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_callbacks_are_not_waited_for(stream, abort):
    with latches(stream) as held:
        held.hold()
        assert abort(stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0


def test_other_streams_go_on(stream, other, words):
    acl.sim.hold(other)
    assert fill(words, 7, other) == 0
    assert acl.rt.stream_abort(stream) == 0
    acl.sim.release(other)
    assert acl.rt.synchronize_stream(other) == 0
    assert bytes_of(words) == bytes([7]) * 32


def test_a_device_is_aborted_in_all_contexts(stream, words):
    primary, _ = acl.rt.get_context()
    acl.sim.hold(stream)
    assert fill(words, 1, stream) == 0
    context, _ = acl.rt.create_context(0)
    acl.sim.hold(0)
    assert acl.rt.device_task_abort(0, 1000) == 0
    assert acl.rt.synchronize_device() == 0
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_context(primary) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(words) == bytes(32)


def elsewhere(function):
    """Return ``function`` for another thread, where the context of this one is current."""
    context, ret = acl.rt.get_context()
    assert ret == 0

    def call():
        assert acl.rt.set_context(context) == 0
        return function()

    return call


@pytest.mark.parametrize("code", [0, 507015])
def test_a_task_that_runs_is_waited_for_and_its_failure_forgotten(stream, abort, code):
    running = RunningTask(stream)
    with ThreadPoolExecutor(1) as pool:
        aborted = pool.submit(elsewhere(lambda: abort(stream)))
        running.finish(code)
        assert aborted.result() == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_failures_of_before_are_forgotten(stream, abort):
    task = Task(stream, lambda: 507015)
    event, _ = acl.rt.create_event()
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.synchronize_event(event) == 0
    del task
    assert abort(stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_event(event) == 0


# ---- while a device is being aborted ----


def test_callbacks_before_and_after(device, on_abort):
    seen = []
    on_abort(lambda stage, left: seen.append(("first", stage, left)))
    on_abort(lambda stage, left: seen.append(("second", stage, left)))
    assert acl.rt.device_task_abort(0, 0) == 0
    assert seen == [(name, stage, 0) for stage in (PRE, POST) for name in ("first", "second")]
    del seen[:]
    assert acl.rt.device_task_abort(0, 5000) == 0
    assert [stage for _, stage, _ in seen] == [PRE, PRE, POST, POST]
    assert all(0 < left <= 5000 for _, _, left in seen)


@pytest.mark.parametrize("stage", [PRE, POST])
@pytest.mark.finds("race", count=None)
def test_work_is_refused_meanwhile(stream, event, words, on_abort, stage):
    data = ffi.new("char[32]")
    handle, memory = pointer(stream), pointer(words.address)
    calls = {
        "submission": lambda: lib.aclrtMemsetAsync(memory, 32, 0, 32, handle),
        "record": lambda: lib.aclrtRecordEvent(pointer(event), handle),
        "copy": lambda: lib.aclrtMemcpy(data, 32, memory, 32, 2),
        "copy of rows": lambda: lib.aclrtMemcpy2d(data, 8, memory, 8, 8, 4, 2),
        "set": lambda: lib.aclrtMemset(memory, 32, 0, 32),
        "stream": lambda: lib.aclrtSynchronizeStream(handle),
        "event": lambda: lib.aclrtSynchronizeEvent(pointer(event)),
        "device": lambda: lib.aclrtSynchronizeDevice(),
        "abort": lambda: lib.aclrtDeviceTaskAbort(0, 0),
    }
    seen, aborted = {}, []

    def look(now, left):
        if now == stage:
            seen.update({name: call() for name, call in calls.items()})
            aborted.append(lib.aclrtStreamAbort(handle))

    assert acl.rt.record_event(event, stream) == 0
    on_abort(look)
    assert acl.rt.device_task_abort(0, 0) == 0
    assert seen == dict.fromkeys(calls, 107022)
    assert aborted == [0]
    del calls["abort"]
    assert {name: call() for name, call in calls.items()} == dict.fromkeys(calls, 0)


@pytest.mark.parametrize("stage", [PRE, POST])
def test_a_callback_that_fails_is_the_result(stream, words, on_abort, stage):
    on_abort(lambda now, left: 4711 if now == stage else 0)
    assert acl.rt.memset(words.address, 32, 1, 32) == 0
    acl.sim.hold(stream)
    assert fill(words, 2, stream) == 0
    refused(acl.rt.device_task_abort(0, 0), 4711, f"returned 4711 in stage {stage}")
    if stage == PRE:  # nothing was discarded
        acl.sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(words) == bytes([2 if stage == PRE else 1]) * 32


def test_time_runs_out(stream, words):
    running = RunningTask(stream)
    assert fill(words, 9, stream) == 0
    refused(acl.rt.device_task_abort(0, 1), 107019, "aclrtDeviceTaskAbort", "did not end in time")
    assert acl.rt.get_last_error(0) == 107019
    running.finish()
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(words) == bytes(32)
    assert fill(words, 8, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert bytes_of(words) == bytes([8]) * 32


def test_a_context_that_stopped_on_a_failure_stays_so(stream):
    assert acl.rt.set_stream_failure_mode(stream, 1) == 0
    task = Task(stream, lambda: 507015)
    assert acl.rt.synchronize_stream(stream) == 507015
    del task
    assert acl.rt.device_task_abort(0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 507015
    assert acl.rt.stream_abort(stream) == 0
    assert acl.rt.synchronize_stream(stream) == 507015


# ---- faults ----


def test_there_are_no_faults(configure):
    assert acl.rt.get_mem_uce_info(0, 20) == ([], 0)
    assert acl.rt.get_mem_uce_info(0, 0) == ([], 0)
    assert acl.rt.mem_uce_repair(0, []) == 0
    info = ffi.new("aclrtErrorInfo *", {"tryRepair": 9, "hasDetail": 9, "errorType": 65535})
    assert lib.aclrtGetErrorVerbose(0, info) == 0
    assert (info.tryRepair, info.hasDetail, info.errorType) == (0, 0, 0)
    assert lib.aclrtRepairError(0, info) == 0
    configure(soc=P950)
    assert lib.aclRecoverAllHcclTasks(0) == 0
    refused(lib.aclRecoverAllHcclTasks(1), 107001, "deviceId is 1")


# ---- what is refused ----

INFO, COUNT, ERROR = ffi.new("aclrtMemUceInfo[129]"), ffi.new("size_t *"), ffi.new("aclrtErrorInfo *")
USED = ffi.new("aclrtMemUceInfo *")
USED.reserved[13] = 5
FAULT = ffi.new("aclrtErrorInfo *", {"errorType": 1})
ERRORS = [  # call with device 0 set; code; what the message names
    (lambda: lib.aclrtGetMemUceInfo(0, NULL, 1, COUNT), 100000, "memUceInfoArray is NULL"),
    (lambda: lib.aclrtGetMemUceInfo(0, INFO, 1, NULL), 100000, "retSize is NULL"),
    (lambda: lib.aclrtGetMemUceInfo(99, INFO, 1, COUNT), 107001, "deviceId is 99"),
    (lambda: lib.aclrtMemUceRepair(0, NULL, 1), 100000, "memUceInfoArray is NULL"),
    (lambda: lib.aclrtMemUceRepair(0, INFO, 129), 100000, "arraySize is 129, expected at most 128"),
    (lambda: lib.aclrtMemUceRepair(0, USED, 1), 100000, "memUceInfoArray[0].reserved[13] is 5"),
    (lambda: lib.aclrtMemUceRepair(-1, INFO, 0), 107001, "deviceId is -1"),
    (lambda: acl.rt.mem_uce_repair(0, [{"addr": 64, "len": 1}]), 107000, "addr is 0x40"),
    (lambda: lib.aclrtGetErrorVerbose(0, NULL), 100000, "errorInfo is NULL"),
    (lambda: lib.aclrtGetErrorVerbose(-1, ERROR), 107001, "deviceId is -1"),
    (lambda: lib.aclrtRepairError(0, NULL), 100000, "errorInfo is NULL"),
    (lambda: lib.aclrtRepairError(99, ERROR), 107001, "deviceId is 99"),
    (lambda: lib.aclrtRepairError(0, FAULT), 107000, "errorType is 1"),
    (lambda: lib.aclRecoverAllHcclTasks(0), 207000, PA2),
    (lambda: acl.rt.device_task_abort(-1, 0), 107001, "deviceId is -1"),
    (lambda: acl.rt.device_task_abort(99, 0), 107001, "deviceId is 99"),
    (lambda: acl.rt.device_task_abort(0, 2160001), 107000, "timeout is 2160001"),
    (lambda: acl.rt.device_task_abort(0, 2**32 - 1), 107000, "timeout is 4294967295"),
    (lambda: lib.aclrtStreamAbort(pointer(0x1234567)), 107017, "0x1234567"),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(configure, row):
    call, code, words = ERRORS[row]
    configure(soc=PA2)
    assert acl.rt.set_device(0) == 0
    refused(call(), code, words)


def test_streams_of_others_and_dead_ones(device, stream):
    assert in_thread(lambda: lib.aclrtStreamAbort(pointer(stream))) == 107002
    gone, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(gone) == 0
    refused(acl.rt.stream_abort(gone), 107017, "a destroyed stream")
    context, _ = acl.rt.create_context(0)
    refused(acl.rt.stream_abort(stream), 107003, "another context")
    assert acl.rt.destroy_context(context) == acl.rt.set_device(0) == 0


def test_streams_that_an_instance_has(device, stream):
    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    refused(acl.rt.stream_abort(stream), 107027, "being captured")
    assert acl.mdl.ri_capture_end(stream)[1] == 0
    bound, _ = acl.rt.create_stream_with_config(0, PERSISTENT)
    instance, _ = acl.mdl.ri_build_begin(0)
    assert acl.mdl.ri_bind_stream(instance, bound, 0) == 0
    refused(acl.rt.stream_abort(bound), 507000, "belongs to a model running instance")
    assert acl.mdl.ri_unbind_stream(instance, bound) == 0
    assert acl.rt.stream_abort(bound) == 0
    assert acl.mdl.ri_destroy(instance) == 0
    assert acl.rt.destroy_stream(bound) == 0


@pytest.mark.parametrize(
    ("soc", "flag", "words"),
    [
        (PA2, DEVICE_ONLY, "is a device-only stream"),
        (P950, DEVICE_ONLY, "is a device-only stream"),
        (P950, PERSISTENT, "is persistent"),
    ],
)
def test_streams_whose_tasks_cannot_be_aborted(configure, soc, flag, words):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream_with_config(0, flag)
    assert ret == 0
    refused(acl.rt.stream_abort(stream), 207000, "aclrtStreamAbort", words)
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("soc", [P310B, P310P, P910])
def test_chips_without_recovery(configure, soc):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    refused(acl.rt.stream_abort(0), 207000, soc)
    refused(acl.rt.device_task_abort(0, 0), 207000, soc)
    refused(acl.rt.get_mem_uce_info(0, 1)[1], 207000, soc)
    refused(acl.rt.mem_uce_repair(0, []), 207000, soc)
    refused(lib.aclrtGetErrorVerbose(0, ERROR), 207000, soc)
    refused(lib.aclrtRepairError(0, ERROR), 207000, soc)
    refused(lib.aclRecoverAllHcclTasks(0), 207000, soc)


def test_an_abort_inside_a_task_is_refused(stream):
    codes = []
    task = Task(stream, lambda: codes.append(lib.aclrtDeviceTaskAbort(0, 0)))
    assert acl.rt.synchronize_stream(stream) == 0
    del task
    assert codes == [507000]
