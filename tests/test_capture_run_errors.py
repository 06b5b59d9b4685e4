"""What running, looking at, naming and destroying instances refuses, and in which order."""

import pytest
from helpers.capture import (
    HEAD,
    NONE,
    Words,
    begin,
    building,
    check_free,
    check_unharmed,
    end,
    in_other_context,
    run,
    status,
)
from helpers.expect import NULL, Task, in_thread, latches, pointer, refused

import acl
from acl._lib import ffi, lib

mdl, rt = acl.mdl, acl.rt


@pytest.fixture
def instance(stream, words):
    """Make an instance that sets word 0 to 9."""
    begin(stream)
    assert words.set(stream, 0, 9) == 0
    instance = end(stream)
    yield instance
    mdl.ri_destroy(instance)


def check_runs(instance, stream, words):
    """Assert that the instance is as it was."""
    assert words.set(stream, 0, 0) == 0
    run(instance, stream)
    assert words.read()[0] == 9
    assert words.read()[1] == 0


# --- aclmdlRIExecuteAsync


def test_where_an_instance_cannot_run(instance, stream, other, words):
    """The checks of the stream come before those of the context, as the ones of the instance come last."""
    begin(other)
    capturing = mdl.ri_capture_get_info(other)[1]
    name = "aclmdlRIExecuteAsync"
    with building(HEAD) as (built, (bound,)):
        own = mdl.ri_get_streams(instance)[0][0]

        def anywhere():
            refused(mdl.ri_execute_async(instance, bound), 107000, name, "belongs to a model running instance")
            refused(mdl.ri_execute_async(instance, own), 107000, name, "belongs to a model running instance")
            refused(mdl.ri_execute_async(instance, other), 107027, name, "being captured")

        def without_context():
            anywhere()
            refused(mdl.ri_execute_async(instance, stream), 107002, name, "no current context")
            refused(mdl.ri_execute_async(instance, 0), 107002, name, "no current context")

        def elsewhere():
            anywhere()
            refused(mdl.ri_execute_async(instance, stream), 107004, name, "another context")
            refused(mdl.ri_execute_async(instance, 0), 107004, name, "another context")

        anywhere()
        in_thread(without_context)
        in_other_context(elsewhere)
        refused(mdl.ri_execute_async(capturing, stream), 107026, name, "still being captured", "CaptureEnd")
        refused(mdl.ri_execute_async(built, stream), 507011, name, "still being built", "aclmdlRIBuildEnd")
    check_runs(instance, stream, words)
    check_unharmed(words, other, 2)


def test_a_stream_of_another_context(instance, stream, words):
    home, _ = acl.rt.get_context()
    context, _ = acl.rt.create_context(0)
    foreign, _ = acl.rt.create_stream()
    assert acl.rt.set_context(home) == 0
    refused(mdl.ri_execute_async(instance, foreign), 107003, "aclmdlRIExecuteAsync", "another context")
    begin(stream)
    capturing = mdl.ri_capture_get_info(stream)[1]
    refused(mdl.ri_execute_async(capturing, foreign), 107003, "aclmdlRIExecuteAsync", "another context")
    check_unharmed(words, stream, 3)
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_context(home) == 0
    check_runs(instance, stream, words)


def test_no_stream_is_the_default_stream(instance, stream, words):
    assert mdl.ri_execute_async(instance, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert words.read()[0] == 9
    check_runs(instance, stream, words)


# --- aclmdlRIExecute, aclmdlRIAbort


@pytest.mark.parametrize("timeout", [0, -2, -(2**31)])
def test_timeouts(instance, stream, words, timeout):
    refused(mdl.ri_execute(instance, timeout), 107000, "aclmdlRIExecute", f"timeout is {timeout}", "-1")
    check_runs(instance, stream, words)


@pytest.mark.needs_sim
def test_captured_instances_are_queued(instance, stream, words):
    """The newest version takes only what was built here; see the older ones below."""
    refused(mdl.ri_execute(instance, -1), 107000, "aclmdlRIExecute", "captured", "aclmdlRIExecuteAsync")
    refused(mdl.ri_abort(instance), 207000, "aclmdlRIAbort", "captured", "built")
    check_runs(instance, stream, words)


@pytest.mark.needs_sim
@pytest.mark.parametrize("cann", ["8.5", "9.0"])
def test_older_versions_wait_for_captured_instances(run_script, cann):
    code = """
import acl
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
word, _ = acl.rt.malloc(4, 0)
acl.rt.memset(word, 4, 0, 4)
assert acl.mdl.ri_capture_begin(stream, 2) == 0
assert acl.rt.memset_async(word, 4, 7, 4, stream) == 0
instance, ret = acl.mdl.ri_capture_end(stream)
assert ret == 0
assert acl.mdl.ri_execute(instance, 10000) == 0, acl.get_recent_err_msg()
host, _ = acl.rt.malloc_host(4)
assert acl.rt.memcpy(host, 4, word, 4, 2) == 0
assert acl.util.ptr_to_bytes(host, 4) == bytes([7] * 4)
"""
    done = run_script(code, {"ACL_SIM_CANN": cann})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["aclmdlRIExecute", "aclmdlRIAbort"])
def test_instances_of_another_context(stream, words, name):
    call = {"aclmdlRIExecute": lambda ri: mdl.ri_execute(ri, -1), "aclmdlRIAbort": mdl.ri_abort}[name]
    with building(HEAD) as (built, (bound,)):
        assert words.set(bound, 0, 9) == 0
        assert mdl.ri_end_task(built, bound) == 0
        assert mdl.ri_build_end(built) == 0
        in_thread(lambda: refused(call(built), 107002, name, "no current context"))
        in_other_context(lambda: refused(call(built), 107004, name, "another context"))
        assert words.read()[0] == 0
        assert mdl.ri_execute(built, -1) == 0
        assert words.read()[0] == 9


# --- the end of an instance


def test_an_open_capture_is_not_destroyed(stream, words):
    begin(stream)
    instance = mdl.ri_capture_get_info(stream)[1]
    refused(mdl.ri_destroy(instance), 107026, "aclmdlRIDestroy", "still being captured", "aclmdlRICaptureEnd")
    check_unharmed(words, stream)


def test_functions_are_registered_once(instance, stream, words):
    seen = []
    for name, ret in [
        ("Unregister", lambda: mdl.ri_destroy_unregister_callback(instance, seen.append)),
        ("", lambda: mdl.ri_destroy_register_callback(instance, seen.append, 1)),
        ("Register", lambda: mdl.ri_destroy_register_callback(instance, seen.append, 2)),
    ]:
        if name:
            refused(ret(), 107000, f"aclmdlRIDestroy{name}Callback", "registered")
        else:
            assert ret() == 0
    check_runs(instance, stream, words)
    assert seen == []
    assert mdl.ri_destroy(instance) == 0
    assert seen == [1]


def test_functions_may_be_taken_back(instance):
    seen = []
    assert mdl.ri_destroy_register_callback(instance, seen.append, 1) == 0
    assert mdl.ri_destroy_unregister_callback(instance, seen.append) == 0
    refused(mdl.ri_destroy_unregister_callback(instance, seen.append), 107000, "Unregister", "not registered")
    assert mdl.ri_destroy_register_callback(instance, seen.append, 3) == 0
    assert mdl.ri_destroy(instance) == 0
    assert seen == [3]


# --- names, numbers and lists


def test_names(instance):
    assert mdl.ri_get_name(instance, 8) == ("", 0)
    assert mdl.ri_set_name(instance, "n" * 512) == 0
    assert mdl.ri_get_name(instance, 1000) == ("n" * 512, 0)
    refused(mdl.ri_set_name(instance, "m" * 513), 107000, "aclmdlRISetName", "512")
    assert mdl.ri_get_name(instance, 4) == ("nnn", 0)
    assert mdl.ri_get_name(instance, 1) == ("", 0)
    refused(lib.aclmdlRIGetName(pointer(instance), 0, ffi.new("char[]", 4)), 107000, "aclmdlRIGetName", "maxLen is 0")
    assert mdl.ri_get_name(instance, 1000) == ("n" * 512, 0)


def test_numbers_tell_instances_apart(instance, stream):
    begin(stream)
    second = end(stream)
    numbers = [mdl.ri_get_id(each) for each in (instance, second)]
    assert {ret for _, ret in numbers} == {0}
    assert numbers[0] != numbers[1]
    assert mdl.ri_destroy(second) == 0


@pytest.mark.parametrize("during", [True, False])
def test_lists_too_short(stream, other, words, ex, during):
    event, back = ex(), ex()
    begin(stream)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.stream_wait_event(other, event) == 0
    assert acl.rt.record_event(back, other) == 0
    assert acl.rt.stream_wait_event(stream, back) == 0
    instance = mdl.ri_capture_get_info(stream)[1] if during else end(stream)
    handles, count = ffi.new("void *[4]"), ffi.new("uint32_t *", 1)
    ret = lib.aclmdlRIGetStreams(pointer(instance), handles, count)
    refused(ret, 107039, "aclmdlRIGetStreams", "room for 1", "at least 2")
    assert (count[0], handles[0]) == (1, NULL)
    assert lib.aclmdlRIGetStreams(pointer(instance), NULL, count) == 0
    assert count[0] == 2
    count[0] = 4
    assert lib.aclmdlRIGetStreams(pointer(instance), handles, count) == 0
    assert count[0] == 2 and NULL not in handles[0:2] and handles[2] == NULL
    assert int(ffi.cast("uintptr_t", handles[0])) not in (stream, other)  # they are the instance's own
    streams = handles[0:2]
    for own in streams:
        count[0] = 1
        ret = lib.aclmdlRIGetTasksByStream(own, handles, count)
        refused(ret, 107039, "aclmdlRIGetTasksByStream", "room for 1", "at least 2")
        assert count[0] == 1
    if during:
        assert mdl.ri_destroy(end(stream)) == 0
    else:
        assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


@pytest.mark.parametrize("kind", ["plain", "default", "updating"])
def test_streams_without_tasks(stream, words, kind):
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    group, _ = mdl.ri_capture_task_grp_end(stream)
    instance = end(stream)
    handle = acl.rt.ctx_get_current_default_stream()[0] if kind == "default" else stream
    if kind == "updating":
        assert mdl.ri_capture_task_update_begin(stream, group) == 0
    refused(mdl.ri_get_tasks_by_stream(handle)[1], 107000, "aclmdlRIGetTasksByStream", "not belong to a model")
    if kind == "updating":
        assert mdl.ri_capture_task_update_end(stream) == 0
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


@pytest.mark.strict
def test_a_stream_in_the_place_of_an_instances_own(stream, words):
    """A stream that takes the place of a destroyed instance's own has none of its tasks."""
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    group, _ = mdl.ri_capture_task_grp_end(stream)
    kept = end(stream)
    begin(stream)
    assert words.set(stream, 0, 1) == 0
    assert mdl.ri_destroy(end(stream)) == 0
    fresh = [acl.rt.create_stream()[0] for _ in range(8)]
    for each in fresh:
        assert mdl.ri_capture_task_update_begin(each, group) == 0
        assert mdl.ri_get_tasks_by_stream(each) == ([], 107000)
        assert mdl.ri_capture_task_update_end(each) == 0
        assert acl.rt.destroy_stream(each) == 0
    assert mdl.ri_destroy(kept) == 0


# --- runs that fail


@pytest.mark.needs_sim
@pytest.mark.parametrize("forked", [False, True])
def test_the_code_of_a_failed_task(stream, other, words, ex, forked):
    """The stream that an instance was queued on keeps the failure; what follows the failed task is left out."""
    event, back = ex(), ex()
    codes = [507015]
    begin(stream)
    assert words.set(stream, 0, 1) == 0
    if forked:
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.stream_wait_event(other, event) == 0
    branch = other if forked else stream
    task = Task(branch, lambda: codes[0])
    assert words.set(branch, 1, 2) == 0
    if forked:
        assert acl.rt.record_event(back, other) == 0
        assert acl.rt.stream_wait_event(stream, back) == 0
    assert words.set(stream, 2, 3) == 0
    instance = end(stream)
    runner, _ = acl.rt.create_stream()
    assert mdl.ri_execute_async(instance, runner) == 0
    assert words.set(runner, 3, 4) == 0
    refused(acl.rt.synchronize_stream(runner), 507015, "aclsimLaunchTask")
    assert words.read()[:4] == [1, 0, 0, 4]
    assert (acl.rt.synchronize_stream(stream), acl.rt.synchronize_stream(other)) == (0, 0)
    codes[0] = 0
    run(instance, runner)
    assert words.read()[:4] == [1, 2, 3, 4]
    assert mdl.ri_destroy(instance) == 0
    assert acl.rt.destroy_stream(runner) == 0
    del task


@pytest.mark.finds("race", count=None)
def test_an_instance_that_runs_is_waited_for(stream, other, words):
    """Destroying waits for what was queued: the latch is opened by another thread."""
    begin(stream)
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    seen = []
    assert mdl.ri_destroy_register_callback(instance, lambda data: seen.append(words.read()[0]), 0) == 0
    with latches(other) as held:
        held.hold()
        assert mdl.ri_execute_async(instance, other) == 0
        assert words.read()[0] == 0
        held.release()
        assert mdl.ri_destroy(instance) == 0
        assert seen == [1]


# --- the end of what an instance belongs to


@pytest.mark.strict
@pytest.mark.parametrize("state", ["ready", "capturing", "invalid", "built"])
def test_instances_go_with_their_context(stream, words, state):
    home, _ = acl.rt.get_context()
    context, _ = acl.rt.create_context(0)
    inner, _ = acl.rt.create_stream()
    second, _ = acl.rt.create_stream()
    its = Words()
    if state == "built":
        instance, ret = mdl.ri_build_begin(0)
        assert ret == 0
    else:
        begin(inner)
        assert its.set(inner, 0, 1) == 0
        instance = end(inner) if state == "ready" else mdl.ri_capture_get_info(inner)[1]
        if state == "invalid":
            event, _ = acl.rt.create_event_ex_with_flag(1)
            assert acl.rt.record_event(event, inner) == 0
            begin(second)
            assert acl.rt.stream_wait_event(second, event) == 107032
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_context(home) == 0
    assert mdl.ri_execute_async(instance, stream) == 107017
    assert mdl.ri_capture_get_info(inner)[2] == 107017
    its.close()
    assert status(stream) == NONE
    check_free(words, stream)


@pytest.mark.needs_sim
def test_streams_run_out(run_script):
    """A capture wants a stream of its own for each that it records: it does not begin, or the stream does not join."""
    code = """
import acl
from acl.mdl import ri_capture_begin, ri_capture_end, ri_capture_get_info, ri_destroy
acl.rt.set_device(0)
event, _ = acl.rt.create_event_ex_with_flag(1)
streams = []
while acl.rt.get_stream_available_num()[0] > 0:
    streams.append(acl.rt.create_stream()[0])
assert ri_capture_begin(streams[0], 0) == 207008
assert "aclmdlRICaptureBegin" in acl.get_recent_err_msg()
assert ri_capture_get_info(streams[0]) == (0, 0, 0)
assert acl.rt.destroy_stream(streams.pop()) == 0
assert ri_capture_begin(streams[0], 0) == 0
assert acl.rt.record_event(event, streams[0]) == 0
assert acl.rt.stream_wait_event(streams[1], event) == 207008
assert [ri_capture_get_info(stream)[0] for stream in streams[:2]] == [1, 0]
instance, ret = ri_capture_end(streams[0])
assert ret == 0
assert acl.rt.get_stream_available_num() == (0, 0)
assert ri_destroy(instance) == 0
assert acl.rt.get_stream_available_num() == (1, 0)
"""
    done = run_script(code, {"ACL_SIM_LIMITS": "documented", "ACL_SIM_SOC": "Ascend310P3"})
    assert done.returncode == 0, done.stderr


# --- chips without the feature

CALLS = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
one = ffi.cast("void *", acl.rt.create_stream()[0])
place = ffi.new("uint64_t[32]")
params = ffi.new("aclmdlRICondTaskParams *", {"handle": one, "size": 1, "modelRIArray": ffi.new("aclmdlRI[1]")})
number = ffi.new("uint32_t *")
calls = {
    "CaptureBegin": (one, 0), "CaptureToModelRIBegin": (one, one, 0), "CaptureGetInfo": (one, ffi.NULL, place),
    "CaptureEnd": (one, place), "CaptureThreadExchangeMode": (place,), "CaptureTaskGrpBegin": (one,),
    "CaptureTaskGrpEnd": (one, place), "CaptureTaskUpdateBegin": (one, one), "CaptureTaskUpdateEnd": (one,),
    "Execute": (one, -1), "ExecuteAsync": (one, one), "Abort": (one,), "Destroy": (one,),
    "DestroyRegisterCallback": (one, lib.acl_on_callback, ffi.NULL),
    "DestroyUnregisterCallback": (one, lib.acl_on_callback), "BuildBegin": (place, 0), "BindStream": (one, one, 0),
    "EndTask": (one, one), "BuildEnd": (one, ffi.NULL), "UnbindStream": (one, one), "SetName": (one, b"a"),
    "GetName": (one, 8, ffi.new("char[8]")), "GetId": (one, number), "DebugPrint": (one,),
    "DebugJsonPrint": (one, b"/dev/null", 0), "GetStreams": (one, ffi.NULL, number),
    "GetTasksByStream": (one, ffi.NULL, number), "TaskGetType": (one, place), "TaskGetSeqId": (one, number),
    "TaskGetParams": (one, ffi.new("aclmdlRITaskParams *")), "TaskSetParams": (one, ffi.new("aclmdlRITaskParams *")),
    "TaskDisable": (one,), "Update": (one,), "CondHandleCreate": (one, 0, 0, place),
    "CondHandleGetCondPtr": (one, place), "AddCondTask": (params[0], one, 0),
}
for name, arguments in calls.items():
    function = getattr(lib, "aclmdlRI" + name)
    types = ffi.typeof(function).args
    ret = function(*(ffi.cast(kind, a) if kind.kind == "pointer" and isinstance(a, ffi.CData) and
                     ffi.typeof(a).kind != "function" and a != ffi.NULL else a for kind, a in zip(types, arguments)))
    text = acl.get_recent_err_msg() or ""
    assert ret == 207000 and "aclmdlRI" + name in text and "has no model running instances" in text, (name, ret, text)
assert len(calls) == 36
assert acl.rt.synchronize_device() == 0
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", ["Ascend310B1", "Ascend910A"])
def test_chips_without_the_feature(run_script, soc):
    done = run_script(CALLS, {"ACL_SIM_SOC": soc})
    assert done.returncode == 0, done.stderr


# --- memory that changed hands


def captured_set(stream, address, size):
    """Return an instance that sets the bytes at an address to 5."""
    begin(stream)
    assert rt.memset_async(address, size, 5, size, stream) == 0
    return end(stream)


def bytes_at(address, size):
    place = ffi.new("char[]", size)
    assert rt.memcpy(int(ffi.cast("uintptr_t", place)), size, address, size, 2) == 0
    return ffi.buffer(place)[:]


@pytest.mark.strict
@pytest.mark.finds("stale-replay", "use-after-free")
def test_memory_that_was_allocated_again_is_written(stream):
    size = 4 << 20
    address, _ = rt.malloc(size, 0)
    instance = captured_set(stream, address, size)
    assert rt.free(address) == 0
    assert rt.malloc(size, 0) == (address, 0)
    assert rt.memset(address, size, 1, size) == 0
    for _ in range(2):
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.synchronize_stream(stream) == 0, acl.get_recent_err_msg()
        assert bytes_at(address + size - 4, 4) == bytes([5] * 4)
    assert rt.free(address) == 0
    assert mdl.ri_execute_async(instance, stream) == 0
    refused(rt.synchronize_stream(stream), 507053, "were freed before it ran")
    assert mdl.ri_destroy(instance) == 0


@pytest.mark.strict
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_tasks_of_streams_still_know_the_memory_they_were_given(stream):
    size = 4 << 20
    address, _ = rt.malloc(size, 0)
    acl.sim.hold(stream)
    assert rt.memset_async(address, size, 5, size, stream) == 0
    assert rt.free(address) == 0
    assert rt.malloc(size, 0) == (address, 0)
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507053, "were freed before it ran", "allocated again since")
    assert rt.free(address) == 0


@pytest.mark.strict
@pytest.mark.finds("stale-replay", "use-after-free")
def test_memory_of_a_pool_that_was_freed_is_not_written(stream):
    prop = ffi.new("aclrtMemPoolProps *")
    prop.allocType = lib.ACL_MEM_ALLOCATION_TYPE_PINNED
    prop.location.type = lib.ACL_MEM_LOCATION_TYPE_DEVICE
    pool, block = ffi.new("aclrtMemPool *"), ffi.new("void **")
    assert lib.aclrtMemPoolCreate(pool, prop) == 0
    assert lib.aclrtMemPoolMallocAsync(block, 4096, pool[0], pointer(stream)) == 0
    assert rt.synchronize_stream(stream) == 0
    address = int(ffi.cast("uintptr_t", block[0]))
    instance = captured_set(stream, address, 4096)
    assert rt.free(address) == 0
    assert mdl.ri_execute_async(instance, stream) == 0
    refused(rt.synchronize_stream(stream), 507053, "were freed before it ran")
    assert lib.aclrtMemPoolMallocAsync(block, 4096, pool[0], pointer(stream)) == 0
    assert int(ffi.cast("uintptr_t", block[0])) == address
    assert mdl.ri_execute_async(instance, stream) == 0
    assert rt.synchronize_stream(stream) == 0, acl.get_recent_err_msg()
    assert bytes_at(address, 4) == bytes([5] * 4)
    assert rt.free(address) == 0
    assert mdl.ri_destroy(instance) == 0
    assert lib.aclrtMemPoolDestroy(pool[0]) == 0
