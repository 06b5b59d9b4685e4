"""What capture and model running instances refuse, in which order, and that a refusal leaves things as they were."""

import pytest
from helpers.capture import (
    ACTIVE,
    HEAD,
    INVALIDATED,
    NONE,
    begin,
    building,
    check_free,
    check_unharmed,
    end,
    fork,
    give_up,
    in_other_context,
    invalidate,
    run,
    status,
)
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

DEAD = 0xDEADBEEF12345678
FAST_LAUNCH, CPU_SCHEDULE, DEVICE_ONLY = 1, 0x10, 0x20
mdl = acl.mdl


def made(flag):
    """Make a stream with a flag."""
    stream, ret = acl.rt.create_stream_with_config(0, flag)
    assert ret == 0
    return stream


@pytest.fixture
def instance(stream, words):
    """Make an instance that sets word 0 to 9."""
    begin(stream)
    assert words.set(stream, 0, 9) == 0
    instance = end(stream)
    yield instance
    mdl.ri_destroy(instance)


@pytest.fixture
def slot():
    """Give a place for whatever a call returns."""
    return ffi.new("uint64_t[32]")


# --- NULL: 100000 from the entry layer, which leaves no last error; 107000 from the runtime, which leaves it

NULLS = [
    ("aclmdlRICaptureBegin", 100000, "stream", lambda ri, s, p: mdl.ri_capture_begin(0, 3)),
    ("aclmdlRICaptureToModelRIBegin", 100000, "stream", lambda ri, s, p: mdl.ri_capture_to_model_ri_begin(0, ri, 3)),
    ("aclmdlRICaptureToModelRIBegin", 100000, "modelRI", lambda ri, s, p: mdl.ri_capture_to_model_ri_begin(s, 0, 3)),
    ("aclmdlRICaptureGetInfo", 100000, "stream", lambda ri, s, p: lib.aclmdlRICaptureGetInfo(NULL, NULL, NULL)),
    ("aclmdlRICaptureGetInfo", 100000, "status and modelRI are both",
     lambda ri, s, p: lib.aclmdlRICaptureGetInfo(pointer(s), NULL, NULL)),
    ("aclmdlRICaptureEnd", 100000, "stream", lambda ri, s, p: lib.aclmdlRICaptureEnd(NULL, NULL)),
    ("aclmdlRICaptureEnd", 107000, "modelRI", lambda ri, s, p: lib.aclmdlRICaptureEnd(pointer(s), NULL)),
    ("aclmdlRICaptureThreadExchangeMode", 100000, "mode",
     lambda ri, s, p: lib.aclmdlRICaptureThreadExchangeMode(NULL)),
    ("aclmdlRICaptureTaskGrpBegin", 100000, "stream", lambda ri, s, p: mdl.ri_capture_task_grp_begin(0)),
    ("aclmdlRICaptureTaskGrpEnd", 100000, "stream", lambda ri, s, p: mdl.ri_capture_task_grp_end(0)[1]),
    ("aclmdlRICaptureTaskGrpEnd", 100000, "handle", lambda ri, s, p: lib.aclmdlRICaptureTaskGrpEnd(pointer(s), NULL)),
    ("aclmdlRICaptureTaskUpdateBegin", 100000, "stream",
     lambda ri, s, p: mdl.ri_capture_task_update_begin(0, DEAD)),
    ("aclmdlRICaptureTaskUpdateBegin", 100000, "handle", lambda ri, s, p: mdl.ri_capture_task_update_begin(s, 0)),
    ("aclmdlRICaptureTaskUpdateEnd", 100000, "stream", lambda ri, s, p: mdl.ri_capture_task_update_end(0)),
    ("aclmdlRIExecuteAsync", 100000, "modelRI", lambda ri, s, p: mdl.ri_execute_async(0, s)),
    ("aclmdlRIExecute", 100000, "modelRI", lambda ri, s, p: mdl.ri_execute(0, 0)),
    ("aclmdlRIAbort", 107000, "modelRI", lambda ri, s, p: mdl.ri_abort(0)),
    ("aclmdlRIDestroy", 100000, "modelRI", lambda ri, s, p: mdl.ri_destroy(0)),
    ("aclmdlRIDestroyRegisterCallback", 107000, "modelRI",
     lambda ri, s, p: lib.aclmdlRIDestroyRegisterCallback(NULL, NULL, NULL)),
    ("aclmdlRIDestroyRegisterCallback", 107000, "func",
     lambda ri, s, p: lib.aclmdlRIDestroyRegisterCallback(pointer(ri), NULL, NULL)),
    ("aclmdlRIDestroyUnregisterCallback", 107000, "modelRI",
     lambda ri, s, p: lib.aclmdlRIDestroyUnregisterCallback(NULL, NULL)),
    ("aclmdlRIDestroyUnregisterCallback", 107000, "func",
     lambda ri, s, p: lib.aclmdlRIDestroyUnregisterCallback(pointer(ri), NULL)),
    ("aclmdlRIBuildBegin", 100000, "modelRI", lambda ri, s, p: lib.aclmdlRIBuildBegin(NULL, 1)),
    ("aclmdlRIBindStream", 100000, "modelRI", lambda ri, s, p: mdl.ri_bind_stream(0, 0, 5)),
    ("aclmdlRIBindStream", 100000, "stream", lambda ri, s, p: mdl.ri_bind_stream(ri, 0, 5)),
    ("aclmdlRIEndTask", 100000, "modelRI", lambda ri, s, p: mdl.ri_end_task(0, 0)),
    ("aclmdlRIEndTask", 100000, "stream", lambda ri, s, p: mdl.ri_end_task(ri, 0)),
    ("aclmdlRIBuildEnd", 100000, "modelRI", lambda ri, s, p: lib.aclmdlRIBuildEnd(NULL, p)),
    ("aclmdlRIUnbindStream", 100000, "modelRI", lambda ri, s, p: mdl.ri_unbind_stream(0, 0)),
    ("aclmdlRIUnbindStream", 100000, "stream", lambda ri, s, p: mdl.ri_unbind_stream(ri, 0)),
    ("aclmdlRISetName", 100000, "modelRI", lambda ri, s, p: mdl.ri_set_name(0, "a")),
    ("aclmdlRISetName", 100000, "name", lambda ri, s, p: lib.aclmdlRISetName(pointer(ri), NULL)),
    ("aclmdlRIGetName", 100000, "modelRI", lambda ri, s, p: mdl.ri_get_name(0, 0)[1]),
    ("aclmdlRIGetName", 100000, "name", lambda ri, s, p: lib.aclmdlRIGetName(pointer(ri), 0, NULL)),
    ("aclmdlRIGetId", 100000, "modelRI", lambda ri, s, p: mdl.ri_get_id(0)[1]),
    ("aclmdlRIGetId", 100000, "modelRIId", lambda ri, s, p: lib.aclmdlRIGetId(pointer(ri), NULL)),
    ("aclmdlRIDebugPrint", 100000, "modelRI", lambda ri, s, p: mdl.ri_debug_print(0)),
    ("aclmdlRIDebugJsonPrint", 100000, "modelRI", lambda ri, s, p: mdl.ri_debug_json_print(0, "", 0)),
    ("aclmdlRIDebugJsonPrint", 100000, "path", lambda ri, s, p: lib.aclmdlRIDebugJsonPrint(pointer(ri), NULL, 0)),
    ("aclmdlRIGetStreams", 107000, "modelRI", lambda ri, s, p: mdl.ri_get_streams(0)[1]),
    ("aclmdlRIGetStreams", 107000, "numStreams", lambda ri, s, p: lib.aclmdlRIGetStreams(pointer(ri), NULL, NULL)),
    ("aclmdlRIGetTasksByStream", 107000, "stream", lambda ri, s, p: mdl.ri_get_tasks_by_stream(0)[1]),
    ("aclmdlRIGetTasksByStream", 107000, "numTasks",
     lambda ri, s, p: lib.aclmdlRIGetTasksByStream(pointer(s), NULL, NULL)),
    ("aclmdlRITaskGetType", 107000, "task", lambda ri, s, p: mdl.ri_task_get_type(0)[1]),
    ("aclmdlRITaskGetType", 107000, "type", lambda ri, s, p: lib.aclmdlRITaskGetType(pointer(DEAD), NULL)),
    ("aclmdlRITaskGetSeqId", 107000, "task", lambda ri, s, p: mdl.ri_task_get_seq_id(0)[1]),
    ("aclmdlRITaskGetSeqId", 107000, "id", lambda ri, s, p: lib.aclmdlRITaskGetSeqId(pointer(DEAD), NULL)),
    ("aclmdlRITaskGetParams", 107000, "task", lambda ri, s, p: mdl.ri_task_get_params(0)[1]),
    ("aclmdlRITaskGetParams", 107000, "params", lambda ri, s, p: lib.aclmdlRITaskGetParams(pointer(DEAD), NULL)),
    ("aclmdlRITaskSetParams", 107000, "task", lambda ri, s, p: mdl.ri_task_set_params(0, {})),
    ("aclmdlRITaskSetParams", 107000, "params", lambda ri, s, p: lib.aclmdlRITaskSetParams(pointer(DEAD), NULL)),
    ("aclmdlRITaskDisable", 107000, "task", lambda ri, s, p: mdl.ri_task_disable(0)),
    ("aclmdlRIUpdate", 107000, "modelRI", lambda ri, s, p: mdl.ri_update(0)),
    ("aclmdlRICondHandleCreate", 100000, "modelRI", lambda ri, s, p: mdl.ri_cond_handle_create(0, 0, 2)[1]),
    ("aclmdlRICondHandleCreate", 100000, "handle",
     lambda ri, s, p: lib.aclmdlRICondHandleCreate(pointer(ri), 0, 2, NULL)),
    ("aclmdlRICondHandleGetCondPtr", 100000, "handle", lambda ri, s, p: mdl.ri_cond_handle_get_cond_ptr(0)[1]),
    ("aclmdlRICondHandleGetCondPtr", 100000, "ptr",
     lambda ri, s, p: lib.aclmdlRICondHandleGetCondPtr(pointer(DEAD), NULL)),
    ("aclmdlRIAddCondTask", 100000, "stream", lambda ri, s, p: mdl.ri_add_cond_task({"type": 3}, 0, 1)[1]),
    ("aclmdlRIAddCondTask", 107000, "params.handle", lambda ri, s, p: mdl.ri_add_cond_task({"size": 1}, s, 0)[1]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code", "argument", "call"), NULLS, ids=[f"{row[0]}-{row[2]}" for row in NULLS])
def test_null(instance, stream, words, slot, name, code, argument, call):
    """Transposes the NULL parameters of Unit_hipStreamBeginCapture_Negative_Parameters,
    Unit_hipStreamBeginCapture_Negative, Unit_hipStreamEndCapture_Negative_Parameters,
    Unit_hipStreamEndCapture_Negative, Unit_hipStreamGetCaptureInfo_Negative_Parameters,
    Unit_hipStreamGetCaptureInfo_ArgValidation, Unit_hipStreamGetCaptureInfo_v2_Negative_Parameters,
    Unit_hipStreamGetCaptureInfo_v2_ParamValidation, Unit_hipThreadExchangeStreamCaptureMode_Negative_Parameters,
    Unit_hipStreamBeginCaptureToGraph_Negative and cupy_null_stream_cannot_capture.
    """
    acl.rt.get_last_error(0)
    verb = "are both NULL" if "both" in argument else "is NULL"
    refused(call(instance, stream, slot), code, name, argument.split(" ")[0], verb)
    assert acl.rt.get_last_error(0) == (code if code == 107000 else 0)
    assert status(stream) == NONE
    run(instance, stream)
    assert words.read()[0] == 9


# --- dead handles

INSTANCE_CALLS = {
    "aclmdlRICaptureToModelRIBegin": lambda ri, s: mdl.ri_capture_to_model_ri_begin(s, ri, 0),
    "aclmdlRIExecuteAsync": lambda ri, s: mdl.ri_execute_async(ri, s),
    "aclmdlRIExecute": lambda ri, s: mdl.ri_execute(ri, -1),
    "aclmdlRIAbort": lambda ri, s: mdl.ri_abort(ri),
    "aclmdlRIDestroyRegisterCallback": lambda ri, s: mdl.ri_destroy_register_callback(ri, print, 0),
    "aclmdlRIDestroyUnregisterCallback": lambda ri, s: mdl.ri_destroy_unregister_callback(ri, print),
    "aclmdlRIBindStream": lambda ri, s: mdl.ri_bind_stream(ri, s, HEAD),
    "aclmdlRIEndTask": lambda ri, s: mdl.ri_end_task(ri, s),
    "aclmdlRIBuildEnd": lambda ri, s: mdl.ri_build_end(ri),
    "aclmdlRIUnbindStream": lambda ri, s: mdl.ri_unbind_stream(ri, s),
    "aclmdlRISetName": lambda ri, s: mdl.ri_set_name(ri, "a"),
    "aclmdlRIGetName": lambda ri, s: mdl.ri_get_name(ri, 8)[1],
    "aclmdlRIGetId": lambda ri, s: mdl.ri_get_id(ri)[1],
    "aclmdlRIDebugPrint": lambda ri, s: mdl.ri_debug_print(ri),
    "aclmdlRIDebugJsonPrint": lambda ri, s: mdl.ri_debug_json_print(ri, "/dev/null", 0),
    "aclmdlRIGetStreams": lambda ri, s: mdl.ri_get_streams(ri)[1],
    "aclmdlRIUpdate": lambda ri, s: mdl.ri_update(ri),
    "aclmdlRICondHandleCreate": lambda ri, s: mdl.ri_cond_handle_create(ri, 0, 0)[1],
}
STREAM_CALLS = {
    "aclmdlRICaptureBegin": lambda s, ri: mdl.ri_capture_begin(s, 3),
    "aclmdlRICaptureToModelRIBegin": lambda s, ri: mdl.ri_capture_to_model_ri_begin(s, ri, 3),
    "aclmdlRICaptureGetInfo": lambda s, ri: mdl.ri_capture_get_info(s)[2],
    "aclmdlRICaptureEnd": lambda s, ri: lib.aclmdlRICaptureEnd(pointer(s), NULL),
    "aclmdlRICaptureTaskGrpBegin": lambda s, ri: mdl.ri_capture_task_grp_begin(s),
    "aclmdlRICaptureTaskGrpEnd": lambda s, ri: mdl.ri_capture_task_grp_end(s)[1],
    "aclmdlRICaptureTaskUpdateBegin": lambda s, ri: mdl.ri_capture_task_update_begin(s, DEAD),
    "aclmdlRICaptureTaskUpdateEnd": lambda s, ri: mdl.ri_capture_task_update_end(s),
    "aclmdlRIExecuteAsync": lambda s, ri: mdl.ri_execute_async(ri, s),
    "aclmdlRIBindStream": lambda s, ri: mdl.ri_bind_stream(ri, s, 1),
    "aclmdlRIEndTask": lambda s, ri: mdl.ri_end_task(ri, s),
    "aclmdlRIUnbindStream": lambda s, ri: mdl.ri_unbind_stream(ri, s),
    "aclmdlRIGetTasksByStream": lambda s, ri: mdl.ri_get_tasks_by_stream(s)[1],
    "aclmdlRIAddCondTask": lambda s, ri: mdl.ri_add_cond_task({"handle": DEAD, "size": 1}, s, 0)[1],
}
OTHER_CALLS = {
    "aclmdlRICaptureTaskUpdateBegin": lambda h, s: mdl.ri_capture_task_update_begin(s, h),
    "aclmdlRITaskGetType": lambda h, s: mdl.ri_task_get_type(h)[1],
    "aclmdlRITaskGetSeqId": lambda h, s: mdl.ri_task_get_seq_id(h)[1],
    "aclmdlRITaskGetParams": lambda h, s: mdl.ri_task_get_params(h)[1],
    "aclmdlRITaskSetParams": lambda h, s: mdl.ri_task_set_params(h, {}),
    "aclmdlRITaskDisable": lambda h, s: mdl.ri_task_disable(h),
    "aclmdlRICondHandleGetCondPtr": lambda h, s: mdl.ri_cond_handle_get_cond_ptr(h)[1],
}
KINDS = ["destroyed", "foreign", "garbage"]


@pytest.mark.strict
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", INSTANCE_CALLS)
def test_dead_instances(instance, stream, name, kind):
    assert mdl.ri_destroy(instance) == 0
    handle = {"destroyed": instance, "foreign": stream, "garbage": DEAD}[kind]
    ret = INSTANCE_CALLS[name](handle, stream)
    refused(ret, 107017, name, f"modelRI is {handle:#x}", "expected a live model running instance")
    assert acl.rt.get_last_error(0) == 107017
    assert status(stream) == NONE


@pytest.mark.strict
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STREAM_CALLS)
def test_dead_streams(instance, stream, words, name, kind):
    dead = made(0)
    assert acl.rt.destroy_stream(dead) == 0
    handle = {"destroyed": dead, "foreign": instance, "garbage": DEAD}[kind]
    refused(STREAM_CALLS[name](handle, instance), 107017, name, f"stream is {handle:#x}", "expected a live stream")
    assert acl.rt.get_last_error(0) == 107017
    run(instance, stream)
    assert words.read()[0] == 9


@pytest.mark.strict
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHER_CALLS)
def test_dead_tasks_groups_and_conditions(stream, words, name, kind):
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    assert words.count_up(stream, 0) == 0
    group, _ = mdl.ri_capture_task_grp_end(stream)
    condition, _ = mdl.ri_cond_handle_create(mdl.ri_capture_get_info(stream)[1], 0, 0)
    instance = end(stream)
    task = mdl.ri_get_tasks_by_stream(mdl.ri_get_streams(instance)[0][0])[0][0]
    assert 0 not in (group, condition, task)
    assert mdl.ri_destroy(instance) == 0
    gone = group if "Update" in name else condition if "Cond" in name else task
    handle = {"destroyed": gone, "foreign": stream, "garbage": DEAD}[kind]
    refused(OTHER_CALLS[name](handle, stream), 107017, name, f"{handle:#x}", "expected a live")
    assert acl.rt.get_last_error(0) == 107017
    check_free(words, stream)


@pytest.mark.parametrize("kind", ["destroyed", "garbage"])
def test_destroying_what_is_not_known_succeeds(instance, kind):
    assert mdl.ri_destroy(instance) == 0
    assert mdl.ri_destroy(instance if kind == "destroyed" else DEAD) == 0


# --- aclmdlRICaptureBegin, aclmdlRICaptureEnd: each check with what later ones would find, too


@pytest.mark.parametrize("call", ["begin", "end"])
@pytest.mark.parametrize("flag", [CPU_SCHEDULE, DEVICE_ONLY])
def test_streams_of_a_kind_that_is_not_captured(device, flag, call):
    stream = made(flag)

    def without_context():
        if call == "begin":
            refused(mdl.ri_capture_begin(stream, 3), 107000, "aclmdlRICaptureBegin", "mode is 3", "expected 0")
            refused(mdl.ri_capture_begin(stream, 0), 507000, "aclmdlRICaptureBegin", f"flag {flag:#x}")
        else:
            refused(lib.aclmdlRICaptureEnd(pointer(stream), NULL), 507000, "aclmdlRICaptureEnd", f"flag {flag:#x}")

    without_context()
    in_thread(without_context)
    assert status(stream) == NONE
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("mode", [3, -1, 2**31 - 1])
def test_modes(stream, words, mode):
    """Transposes the modes of Unit_hipStreamBeginCapture_Negative_Parameters and
    Unit_hipThreadExchangeStreamCaptureMode_Negative_Parameters.
    """
    refused(mdl.ri_capture_begin(stream, mode), 107000, "aclmdlRICaptureBegin", f"mode is {mode}", "2 (RELAXED)")
    slot = ffi.new("aclmdlRICaptureMode *", mode % 2**32)
    refused(lib.aclmdlRICaptureThreadExchangeMode(slot), 107000, "aclmdlRICaptureThreadExchangeMode", f"is {mode}")
    assert mdl.ri_capture_thread_exchange_mode(0) == (0, 0)
    check_free(words, stream)


def test_whose_stream_it_is_comes_before_what_it_does(device, words):
    with building(HEAD) as (_, (bound,)):

        def without_context():
            refused(mdl.ri_capture_begin(bound, 0), 107002, "aclmdlRICaptureBegin", "no current context")
            refused(mdl.ri_capture_end(bound)[1], 107002, "aclmdlRICaptureEnd", "no current context")
            refused(lib.aclmdlRICaptureEnd(pointer(bound), NULL), 107000, "aclmdlRICaptureEnd", "modelRI is NULL")
            refused(mdl.ri_capture_thread_exchange_mode(1)[1], 107002, "ExchangeMode", "no current context")
            refused(mdl.ri_capture_thread_exchange_mode(3)[1], 107000, "ExchangeMode", "mode is 3")
            assert mdl.ri_capture_get_info(bound) == (NONE, 0, 0)

        def elsewhere():
            refused(mdl.ri_capture_begin(bound, 0), 107003, "aclmdlRICaptureBegin", "another context")
            refused(mdl.ri_capture_end(bound)[1], 107003, "aclmdlRICaptureEnd", "another context")

        in_thread(without_context)
        in_other_context(elsewhere)
        refused(mdl.ri_capture_begin(bound, 0), 107005, "aclmdlRICaptureBegin", "belongs to a model running instance")
        refused(mdl.ri_capture_end(bound)[1], 107005, "aclmdlRICaptureEnd", "belongs to a model running instance")
        refused(lib.aclmdlRICaptureEnd(pointer(bound), NULL), 107000, "aclmdlRICaptureEnd", "modelRI is NULL")


def test_the_default_stream_is_not_captured(stream, words):
    """Transposes cupy_null_stream_cannot_capture: the default stream has a handle here, too."""
    default, ret = acl.rt.ctx_get_current_default_stream()
    assert ret == 0
    refused(mdl.ri_capture_begin(default, 2), 207000, "aclmdlRICaptureBegin", "default stream", "aclrtCreateStream")
    refused(mdl.ri_capture_end(default)[1], 207000, "aclmdlRICaptureEnd", "default stream")
    assert status(default) == NONE
    assert words.set(0, 3, 4) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert words.read()[3] == 4


@pytest.mark.parametrize("state", ["active", "joined", "invalidated"])
def test_streams_that_capture_already(stream, other, words, ex, state):
    """Transposes Unit_hipStreamBeginCapture_Negative: a stream is captured once at a time."""
    if state == "invalidated":
        invalidate(stream, other)
    else:
        begin(stream)
        fork(ex(), stream, other)
    target = other if state == "joined" else stream
    before = mdl.ri_capture_get_info(target)
    refused(mdl.ri_capture_begin(target, 0), 107027, "aclmdlRICaptureBegin", "being captured", "aclmdlRICaptureEnd")
    assert mdl.ri_capture_get_info(target) == before
    if state == "invalidated":
        give_up(stream, 507903)
        give_up(other, 507903)
    else:
        fork(ex(), other, stream)
        check_unharmed(words, stream)
    check_free(words, stream, other)


def test_ending_what_was_never_begun(stream, words):
    refused(mdl.ri_capture_end(stream)[1], 107029, "aclmdlRICaptureEnd", "not being captured", "CaptureBegin")
    check_free(words, stream)
    refused(mdl.ri_capture_end(stream)[1], 107029, "aclmdlRICaptureEnd", "not being captured")


def test_an_end_without_a_place_leaves_the_capture(stream, words):
    begin(stream)
    refused(lib.aclmdlRICaptureEnd(pointer(stream), NULL), 107000, "aclmdlRICaptureEnd", "modelRI is NULL")
    check_unharmed(words, stream)


@pytest.mark.parametrize(("place", "value"), [("status", ACTIVE), ("modelRI", 0)])
def test_one_place_is_enough_for_information(stream, place, value):
    begin(stream)
    status_slot, handle_slot = ffi.new("aclmdlRICaptureStatus *"), ffi.new("aclmdlRI *")
    if place == "status":
        assert lib.aclmdlRICaptureGetInfo(pointer(stream), status_slot, NULL) == 0
        assert status_slot[0] == ACTIVE
    else:
        assert lib.aclmdlRICaptureGetInfo(pointer(stream), NULL, handle_slot) == 0
        assert int(ffi.cast("uintptr_t", handle_slot[0])) == mdl.ri_capture_get_info(stream)[1] != 0
    assert mdl.ri_destroy(end(stream)) == 0


# --- the end's own failures, in order, each with the next


def test_failures_of_the_end_in_order(stream, other, words, ex):
    """Each failure is found although the capture has the next one, too; every one gives all streams back."""
    steps = ["wrong thread", "invalid", "group", "unjoined", "dependency"]
    codes = [107038, 507903, 107033, 107025, 107024]
    for at, code in enumerate(codes):
        begin(stream, 0)
        assert acl.rt.stream_wait_event(stream, ex()) == 0  # dependency: it is never recorded
        if at <= 3:
            fork(ex(), stream, other)  # unjoined
        if at <= 2:
            assert mdl.ri_capture_task_grp_begin(stream) == 0
        if at <= 1:
            refused(words.set(other, 0, 3), 107034, "aclrtMemsetAsync", "task group", "invalid now")
            assert (status(stream), status(other)) == (INVALIDATED, INVALIDATED)
        ret = in_thread(lambda: (acl.rt.set_device(0), mdl.ri_capture_end(stream))[1]) if at == 0 else None
        assert (ret or mdl.ri_capture_end(stream)) == (0, code), steps[at]
        check_free(words, stream, other)


# --- task groups


def test_group_orders(stream, other, words):
    begin(stream)
    elsewhere_free, elsewhere_captured = in_other_context(
        lambda: (mdl.ri_capture_task_grp_begin(other), mdl.ri_capture_task_grp_begin(stream))
    )
    assert (elsewhere_free, elsewhere_captured) == (107029, 107003)
    assert in_thread(lambda: mdl.ri_capture_task_grp_begin(other)) == 107002
    refused(mdl.ri_capture_task_grp_begin(other), 107029, "aclmdlRICaptureTaskGrpBegin", "not being captured")
    refused(mdl.ri_capture_task_grp_end(other)[1], 107029, "aclmdlRICaptureTaskGrpEnd", "not being captured")
    refused(mdl.ri_capture_task_grp_end(stream)[1], 107033, "aclmdlRICaptureTaskGrpEnd", "no task group is open")
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    refused(mdl.ri_capture_task_grp_begin(stream), 107033, "aclmdlRICaptureTaskGrpBegin", "open already")
    group, ret = mdl.ri_capture_task_grp_end(stream)
    assert ret == 0 and group != 0
    assert mdl.ri_capture_task_grp_end(stream) == (0, 107033)
    check_unharmed(words, stream)


def test_an_open_group_is_its_streams_alone(stream, other, words, ex):
    begin(stream)
    fork(ex(), stream, other)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    refused(mdl.ri_capture_task_grp_begin(other), 107033, "aclmdlRICaptureTaskGrpBegin", "open already")
    assert mdl.ri_capture_task_grp_end(other) == (0, 107033)
    assert mdl.ri_capture_task_grp_end(stream)[1] == 0
    fork(ex(), other, stream)
    check_unharmed(words, stream)


def test_groups_of_a_capture_that_is_invalid(stream, other, words):
    invalidate(stream, other)
    assert mdl.ri_capture_task_grp_end(stream) == (0, 107033)
    give_up(stream, 507903)
    give_up(other, 507903)
    check_free(words, stream, other)


def test_a_group_whose_capture_becomes_invalid(stream, other, words, ex):
    event = ex()
    begin(stream)
    assert acl.rt.record_event(event, stream) == 0
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    begin(other)
    assert acl.rt.stream_wait_event(other, event) == 107032
    assert mdl.ri_capture_task_grp_end(stream) == (0, 507903)
    give_up(stream, 507903)
    give_up(other, 507903)
    check_free(words, stream, other)


@pytest.fixture
def grouped(stream, words):
    """Make an instance with a group that counts word 0 up; give the two."""
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    assert words.count_up(stream, 0) == 0
    group, ret = mdl.ri_capture_task_grp_end(stream)
    assert ret == 0
    instance = end(stream)
    yield instance, group
    mdl.ri_destroy(instance)


def test_update_orders(stream, other, words, grouped):
    instance, group = grouped
    begin(stream)
    refused(mdl.ri_capture_task_update_begin(stream, group), 107027, "TaskUpdateBegin", "being captured")
    refused(mdl.ri_capture_task_update_end(stream), 107027, "TaskUpdateEnd", "being captured")
    check_unharmed(words, stream, 3)
    with building(HEAD) as (_, (bound,)):
        refused(mdl.ri_capture_task_update_begin(bound, group), 107005, "UpdateBegin", "bound to a model running")
        refused(mdl.ri_capture_task_update_end(bound), 107033, "UpdateEnd", "updates no task group")
    refused(mdl.ri_capture_task_update_end(stream), 107033, "UpdateEnd", "updates no task group")
    assert mdl.ri_capture_task_update_begin(stream, group) == 0
    refused(mdl.ri_capture_task_update_begin(stream, group), 107033, "UpdateBegin", "the stream updates")
    refused(mdl.ri_capture_task_update_begin(other, group), 107033, "UpdateBegin", "another stream updates")
    refused(mdl.ri_capture_task_grp_begin(stream), 107033, "aclmdlRICaptureTaskGrpBegin", "updates captured tasks")
    refused(mdl.ri_capture_begin(stream, 0), 107027, "aclmdlRICaptureBegin", "updates captured tasks")
    assert words.count_up(stream, 1) == 0
    assert mdl.ri_capture_task_update_end(stream) == 0
    run(instance, stream)
    assert words.read()[:2] == [0xB0, 1]
    check_free(words, stream, other)


def test_a_group_of_an_open_capture_is_not_updated(stream, other, words):
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    group, _ = mdl.ri_capture_task_grp_end(stream)
    refused(mdl.ri_capture_task_update_begin(other, group), 107026, "UpdateBegin", "still being captured")
    check_unharmed(words, stream)
    check_free(words, other)
