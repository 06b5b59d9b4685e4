"""What callbacks, host functions, exception callbacks and registries refuse, and what they say."""

import threading

import pytest

import acl
from acl._lib import ffi, lib

BLOCK = 1
NULL = ffi.NULL


@pytest.fixture
def thread():
    return threading.get_ident()


@ffi.callback("void (void *)")
def nothing(data):
    pass


@ffi.callback("int32_t (int32_t, aclrtDeviceTaskAbortStage, uint32_t, void *)")
def on_abort(device, stage, timeout, data):
    return 0


@ffi.callback("uint32_t (int32_t, void *)")
def on_snapshot(device, data):
    return 0


@ffi.callback("void (aclrtExceptionInfo *, void *)")
def on_kernel_exception(info, data):
    pass


def pointer(handle):
    return ffi.cast("void *", handle)


def said(*words):
    """Tell whether the message of the last failure holds all words, where the simulator answers."""
    text = acl.get_recent_err_msg()
    return not acl.is_simulator or all(word in text for word in words)


@pytest.mark.parametrize("timeout", [0, -2, -(2**31)])
def test_process_report_wants_a_time_limit_or_minus_one(timeout):
    assert acl.rt.process_report(timeout) == 100000
    assert said("aclrtProcessReport", f"timeout is {timeout}", "-1")


def test_process_report_without_subscription_does_not_wait(device, thread):
    assert acl.rt.process_report(-1) == 107012
    assert said("aclrtProcessReport", str(thread), "aclrtSubscribeReport")
    assert acl.rt.get_last_error(0) == 107012


def test_process_report_runs_out_of_time(stream, thread):
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.process_report(1) == 507012
    assert said("aclrtProcessReport", "timeout is 1 ms")
    assert acl.rt.get_last_error(0) == 507012


def test_stream_is_subscribed_once(stream, thread):
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.subscribe_report(thread, stream) == 107011
    assert acl.rt.subscribe_report(thread + 1, stream) == 107011
    assert said("aclrtSubscribeReport", f"{stream:#x}", str(thread))


def test_unbound_stream_cannot_be_unsubscribed(stream, thread):
    assert acl.rt.unsubscribe_report(thread, stream) == 107011
    assert said("aclrtUnSubscribeReport", f"{stream:#x}")


def test_unsubscribing_names_the_right_thread(stream, thread):
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.unsubscribe_report(thread + 1, stream) == 107012
    assert said("aclrtUnSubscribeReport", f"threadId is {thread + 1}", str(thread))
    assert acl.rt.unsubscribe_report(thread, stream) == 0


@pytest.mark.needs_sim
def test_thread_serves_one_device(run_script):
    done = run_script(
        "import threading, acl\n"
        "thread = threading.get_ident()\n"
        "streams = []\n"
        "for device in (0, 1):\n"
        "    assert acl.rt.set_device(device) == 0\n"
        "    stream, _ = acl.rt.create_stream()\n"
        "    streams.append(stream)\n"
        "    print(acl.rt.subscribe_report(thread, stream))\n"
        "print('device 0' in acl.get_recent_err_msg())\n"
        "print(acl.rt.set_device(0), acl.rt.unsubscribe_report(thread, streams[0]))\n"
        "print(acl.rt.set_device(1), acl.rt.subscribe_report(thread, streams[1]))\n",
        {"ACL_SIM_DEVICES": "2"},
    )
    assert done.stdout.split() == ["0", "107012", "True", "0", "0", "0", "0"], done.stderr


@pytest.mark.strict
def test_serving_threads_are_limited(device):
    limit = 1024
    streams = [acl.rt.create_stream()[0] for _ in range(limit + 1)]
    codes = [acl.rt.subscribe_report(number + 1, stream) for number, stream in enumerate(streams)]
    assert codes == [0] * limit + [507000]
    assert said("aclrtSubscribeReport", f"threadId {limit + 1}", str(limit))
    assert acl.rt.subscribe_report(1, streams[-1]) == 0
    for stream in streams:
        assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("block", [-1, 2])
def test_launch_callback_wants_a_known_block_type(stream, block):
    assert lib.aclrtLaunchCallback(nothing, NULL, ffi.cast("aclrtCallbackBlockType", block), pointer(stream)) == 100000
    assert said("aclrtLaunchCallback", f"blockType is {block}")


def test_launch_callback_wants_a_function(stream):
    assert lib.aclrtLaunchCallback(NULL, NULL, BLOCK, pointer(stream)) == 107000
    assert said("aclrtLaunchCallback", "fn is NULL")
    assert acl.rt.get_last_error(0) == 107000


def test_launch_callback_wants_a_subscribed_stream(stream):
    assert acl.rt.launch_callback(print, None, BLOCK, stream) == 107015
    assert said("aclrtLaunchCallback", f"{stream:#x}", "aclrtSubscribeReport")


@pytest.mark.parametrize("stale", [True, False])
def test_stream_calls_refuse_other_streams(device, thread, stale):
    stream, _ = acl.rt.create_stream()
    if stale:
        assert acl.rt.destroy_stream(stream) == 0
        codes = [107017] * 4
    else:
        assert acl.rt.subscribe_report(thread, stream) == 0
        context, _ = acl.rt.create_context(device)
        codes = [107011, 0, 107003, 107003]
    assert [
        acl.rt.subscribe_report(thread, stream),
        acl.rt.unsubscribe_report(thread, stream),
        acl.rt.launch_callback(print, None, BLOCK, stream),
        lib.aclrtLaunchHostFunc(pointer(stream), nothing, NULL),
    ] == codes
    if not stale:
        assert acl.rt.destroy_context(context) == 0
        assert acl.rt.set_device(device) == acl.rt.destroy_stream(stream) == 0


def test_stream_calls_want_a_context(run_script):
    done = run_script(
        "import acl\n"
        "from acl._lib import ffi, lib\n"
        "nothing = ffi.callback('void (void *)', lambda data: None)\n"
        "print(acl.rt.subscribe_report(1, 0), acl.rt.unsubscribe_report(1, 0))\n"
        "print(acl.rt.launch_callback(print, None, 1, 0), lib.aclrtLaunchHostFunc(ffi.NULL, nothing, ffi.NULL))\n"
    )
    assert done.stdout.split() == ["107002"] * 4, done.stderr


def test_host_function_wants_a_function(stream):
    assert lib.aclrtLaunchHostFunc(pointer(stream), NULL, NULL) == 107000
    assert said("aclrtLaunchHostFunc", "fn is NULL")


def test_stream_uses_one_of_both_manners(stream, thread):
    other, _ = acl.rt.create_stream()
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert lib.aclrtLaunchHostFunc(pointer(stream), nothing, NULL) == 107011
    assert said("aclrtLaunchHostFunc", f"{stream:#x}", "aclrtSubscribeReport")
    assert lib.aclrtLaunchHostFunc(pointer(other), nothing, NULL) == 0
    assert acl.rt.subscribe_report(thread, other) == 107011
    assert said("aclrtSubscribeReport", f"{other:#x}", "aclrtLaunchHostFunc")
    assert acl.rt.unsubscribe_report(thread, other) == 107011
    assert acl.rt.launch_callback(print, None, BLOCK, other) == 107011
    assert said("aclrtLaunchCallback", f"{other:#x}")
    assert acl.rt.destroy_stream(other) == 0


def test_host_functions_of_compact_chips_are_not_supported(stream, thread):
    assert lib.aclrtSubscribeHostFunc(thread, pointer(stream)) == 207000
    assert said("aclrtSubscribeHostFunc", "aclrtLaunchHostFunc")
    assert lib.aclrtProcessHostFunc(-1) == 207000
    assert lib.aclrtUnSubscribeHostFunc(thread, pointer(stream)) == 207000


def test_last_task_wants_a_place():
    assert lib.aclrtGetThreadLastTaskId(NULL) == 100000
    assert said("aclrtGetThreadLastTaskId", "taskId is NULL")


def test_exception_callbacks_want_a_function():
    assert lib.aclrtExceptionInfoCallbackRegister(NULL) == 107000
    assert said("aclrtExceptionInfoCallbackRegister", "callback is NULL")
    assert lib.aclrtExceptionInfoCallbackUnregister(NULL) == 107000
    assert said("aclrtExceptionInfoCallbackUnregister", "callback is NULL")


@pytest.mark.parametrize("info", [0, pytest.param(0x1234, marks=pytest.mark.strict)])
def test_exception_getters_want_a_live_report(info):
    assert acl.rt.get_task_id_from_exception_info(info) == 0xFFFFFFFF
    assert acl.rt.get_stream_id_from_exception_info(info) == 0xFFFFFFFF
    assert acl.rt.get_thread_id_from_exception_info(info) == 0xFFFFFFFF
    assert acl.rt.get_device_id_from_exception_info(info) == 0xFFFFFFFF
    assert acl.rt.get_error_code_from_exception_info(info) == 0xFFFFFFFF
    assert said("aclrtGetErrorCodeFromExceptionInfo", "info")
    place, length = ffi.new("void **"), ffi.new("uint32_t *")
    report = ffi.cast("aclrtExceptionInfo *", info)
    assert lib.aclrtGetArgsFromExceptionInfo(report, place, length) == -1
    assert lib.aclrtGetFuncHandleFromExceptionInfo(report, NULL) == 100000
    assert said("aclrtGetFuncHandleFromExceptionInfo", "func is NULL")


@pytest.mark.needs_sim
def test_exception_of_a_plain_task_has_no_arguments(stream):
    place, length, function = ffi.new("void **"), ffi.new("uint32_t *"), ffi.new("aclrtFuncHandle *")
    codes = []

    @ffi.callback("aclrtExceptionInfoCallback")
    def look(info):
        codes.append(lib.aclrtGetArgsFromExceptionInfo(info, NULL, length))
        codes.append(lib.aclrtGetArgsFromExceptionInfo(info, place, NULL))
        codes.append(lib.aclrtGetArgsFromExceptionInfo(info, place, length))
        codes.append(lib.aclrtGetFuncHandleFromExceptionInfo(info, function))

    failing = ffi.callback("aclError (void *)", lambda data: 507015)
    assert lib.aclrtExceptionInfoCallbackRegister(look) == 0
    assert lib.aclsimLaunchTask(pointer(stream), failing, NULL, NULL, 0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 507015
    assert lib.aclrtExceptionInfoCallbackUnregister(look) == 0
    assert codes == [100000, 100000, -1, -1]


def test_binary_exception_callback_wants_a_binary():
    assert lib.aclrtBinarySetExceptionCallback(NULL, on_kernel_exception, NULL) == 100000
    assert said("aclrtBinarySetExceptionCallback", "binHandle is NULL")
    assert lib.aclrtBinarySetExceptionCallback(pointer(16), NULL, NULL) == 100000
    assert said("aclrtBinarySetExceptionCallback", "callback is NULL")


@pytest.mark.strict
def test_binary_exception_callback_refuses_what_is_no_binary():
    assert lib.aclrtBinarySetExceptionCallback(pointer(16), on_kernel_exception, NULL) == 107017
    assert said("aclrtBinarySetExceptionCallback", "binHandle is 0x10")


def test_abort_callbacks_have_names():
    assert lib.aclrtSetDeviceTaskAbortCallback(NULL, on_abort, NULL) == 100000
    assert said("aclrtSetDeviceTaskAbortCallback", "regName is NULL")
    assert lib.aclrtSetDeviceTaskAbortCallback(b"mine", on_abort, NULL) == 0
    assert lib.aclrtSetDeviceTaskAbortCallback(b"mine", on_abort, NULL) == 107000
    assert said("aclrtSetDeviceTaskAbortCallback", '"mine"')
    assert lib.aclrtSetDeviceTaskAbortCallback(b"mine", NULL, NULL) == 0
    assert lib.aclrtSetDeviceTaskAbortCallback(b"mine", on_abort, NULL) == 0
    assert lib.aclrtSetDeviceTaskAbortCallback(b"mine", NULL, NULL) == 0


def test_snapshot_callbacks_have_stages():
    for stage in (-1, 6):
        place = ffi.cast("aclrtSnapShotStage", stage)
        assert lib.aclrtSnapShotCallbackRegister(place, on_snapshot, NULL) == 107000
        assert said("aclrtSnapShotCallbackRegister", f"stage is {stage}")
        assert lib.aclrtSnapShotCallbackUnregister(place, on_snapshot) == 107000
    assert lib.aclrtSnapShotCallbackRegister(0, NULL, NULL) == 107000
    assert said("aclrtSnapShotCallbackRegister", "callback is NULL")
    assert lib.aclrtSnapShotCallbackRegister(0, on_snapshot, NULL) == 0
    assert lib.aclrtSnapShotCallbackRegister(0, on_snapshot, NULL) == 507913
    assert said("aclrtSnapShotCallbackRegister", "stage 0")
    assert lib.aclrtSnapShotCallbackUnregister(1, on_snapshot) == 107000
    assert lib.aclrtSnapShotCallbackUnregister(0, on_snapshot) == 0
    assert lib.aclrtSnapShotCallbackUnregister(0, on_snapshot) == 107000
    assert said("aclrtSnapShotCallbackUnregister", "stage 0")


@pytest.mark.needs_sim
def test_registries_belong_to_chips_that_recover(run_script):
    done = run_script(
        "from acl._lib import ffi, lib\n"
        "on_snapshot = ffi.callback('uint32_t (int32_t, void *)', lambda device, data: 0)\n"
        "print(lib.aclrtSetDeviceTaskAbortCallback(b'mine', ffi.NULL, ffi.NULL))\n"
        "print(lib.aclrtSnapShotCallbackRegister(0, on_snapshot, ffi.NULL))\n"
        "print(lib.aclrtSnapShotCallbackUnregister(0, on_snapshot))\n",
        {"ACL_SIM_SOC": "Ascend310P3"},
    )
    assert done.stdout.split() == ["207000"] * 3, done.stderr
