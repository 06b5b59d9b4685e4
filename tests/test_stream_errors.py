"""What streams refuse, and what they say."""

import pytest
from helpers.capture import HEAD, building
from helpers.expect import NULL, Task, in_thread, latches, pointer, refused, registered_once

import acl
from acl._lib import ffi, lib

DEVICE_USE_ONLY = 0x20
SLOT = ffi.new("uint64_t[4]")


def out(c_type):
    return ffi.cast(c_type, SLOT)


# What any live stream may be given to, and what only a stream of the current context may be given to.
ANY = {
    "aclrtSynchronizeStream": lambda stream: acl.rt.synchronize_stream(stream),
    "aclrtSynchronizeStreamWithTimeout": lambda stream: acl.rt.synchronize_stream_with_timeout(stream, 1),
    "aclrtStreamQuery": lambda stream: acl.rt.stream_query(stream)[1],
    "aclrtStreamGetId": lambda stream: acl.rt.stream_get_id(stream)[1],
    "aclrtStreamGetPriority": lambda stream: lib.aclrtStreamGetPriority(pointer(stream), out("uint32_t *")),
    "aclrtStreamGetFlags": lambda stream: lib.aclrtStreamGetFlags(pointer(stream), out("uint32_t *")),
}
OWN = {
    "aclrtDestroyStream": lambda stream: acl.rt.destroy_stream(stream),
    "aclrtDestroyStreamForce": lambda stream: acl.rt.destroy_stream_force(stream),
    "aclrtSetStreamFailureMode": lambda stream: acl.rt.set_stream_failure_mode(stream, 0),
    "aclrtStreamStop": lambda stream: lib.aclrtStreamStop(pointer(stream)),
}
CALLS = sorted({**ANY, **OWN}.items())


@pytest.mark.parametrize(
    ("name", "argument", "call"),
    [
        ("aclrtCreateStream", "stream", lambda: lib.aclrtCreateStream(NULL)),
        ("aclrtCreateStreamWithConfig", "stream", lambda: lib.aclrtCreateStreamWithConfig(NULL, 0, 0)),
        ("aclrtCreateStreamV2", "stream", lambda: lib.aclrtCreateStreamV2(NULL, NULL)),
        ("aclrtDestroyStream", "stream", lambda: lib.aclrtDestroyStream(NULL)),
        ("aclrtDestroyStreamForce", "stream", lambda: lib.aclrtDestroyStreamForce(NULL)),
        ("aclrtStreamQuery", "status", lambda: lib.aclrtStreamQuery(NULL, NULL)),
        ("aclrtStreamGetId", "streamId", lambda: lib.aclrtStreamGetId(NULL, NULL)),
        ("aclrtStreamGetPriority", "priority", lambda: lib.aclrtStreamGetPriority(NULL, NULL)),
        ("aclrtStreamGetFlags", "flags", lambda: lib.aclrtStreamGetFlags(NULL, NULL)),
        ("aclrtGetStreamAvailableNum", "streamCount", lambda: lib.aclrtGetStreamAvailableNum(NULL)),
        ("aclrtRegStreamStateCallback", "regName", lambda: lib.aclrtRegStreamStateCallback(NULL, NULL, NULL)),
    ],
)
def test_null_is_named(device, name, argument, call):
    acl.rt.get_last_error(0)
    refused(call(), 100000, name, f"{argument} is NULL")
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("aclrtCreateStream", lambda: acl.rt.create_stream()[1]),
        ("aclrtCreateStreamWithConfig", lambda: acl.rt.create_stream_with_config(0, 0)[1]),
        ("aclrtGetStreamAvailableNum", lambda: acl.rt.get_stream_available_num()[1]),
        ("aclrtStreamGetPriority", lambda: lib.aclrtStreamGetPriority(NULL, out("uint32_t *"))),
        ("aclrtStreamGetFlags", lambda: lib.aclrtStreamGetFlags(NULL, out("uint32_t *"))),
        ("aclrtSynchronizeStreamWithTimeout", lambda: acl.rt.synchronize_stream_with_timeout(0, 1)),
        ("aclrtSynchronizeStream", lambda: acl.rt.synchronize_stream(0)),
        ("aclrtStreamQuery", lambda: acl.rt.stream_query(0)[1]),
        ("aclrtStreamGetId", lambda: acl.rt.stream_get_id(0)[1]),
        ("aclrtSetStreamFailureMode", lambda: acl.rt.set_stream_failure_mode(0, 1)),
    ],
)
def test_without_a_context(name, call):
    def fresh():
        refused(call(), 107002, name, "no current context", "aclrtSetDevice")
        return acl.rt.peek_at_last_error(0)

    assert in_thread(fresh) == 107002


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_live_stream_without_a_context(stream, name, call):
    def fresh():
        refused(call(stream), 107002, name, "no current context")

    in_thread(fresh)


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["destroyed", "context", "event", "garbage", "one"])
@pytest.mark.parametrize(("name", "call"), CALLS)
def test_dead_and_foreign_handles(device, name, call, kind):
    destroyed, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(destroyed) == 0
    event, _ = acl.rt.create_event()
    context, _ = acl.rt.get_context()
    handle = {
        "destroyed": destroyed,
        "context": context,
        "event": event,
        "garbage": 0xDEADBEEF12345678,
        "one": 1,
    }[kind]
    what = {"destroyed": "a destroyed stream", "context": "a live context", "event": "a live event"}.get(kind, "")
    acl.rt.get_last_error(0)
    refused(call(handle), 107017, name, f"stream is {handle:#x}", what, "expected a live stream")
    assert acl.rt.peek_at_last_error(0) == 107017
    assert acl.rt.destroy_event(event) == 0


@pytest.mark.strict
def test_handles_come_before_contexts(device):
    destroyed, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(destroyed) == 0
    assert in_thread(lambda: acl.rt.synchronize_stream(destroyed)) == 107017


@pytest.mark.parametrize(("name", "call"), sorted(OWN.items()))
def test_streams_of_another_context(stream, name, call):
    context, _ = acl.rt.create_context(0)
    refused(call(stream), 107003, name, f"stream {stream:#x}", "another context", f"{context:#x}")
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.synchronize_stream(stream) == 0


@pytest.mark.strict
@pytest.mark.parametrize("name", ["aclrtDestroyStream", "aclrtDestroyStreamForce"])
def test_the_default_stream_is_not_destroyed(device, name):
    default, _ = acl.rt.ctx_get_current_default_stream()
    refused(OWN[name](default), 107000, name, hex(default), "default stream", "aclrtCreateStream")
    assert acl.rt.synchronize_stream(default) == 0


@pytest.mark.parametrize(("timeout", "last"), [(-2, 0), (-(2**31), 0), (0, 107000)])
def test_timeouts(stream, timeout, last):
    acl.rt.get_last_error(0)
    ret = acl.rt.synchronize_stream_with_timeout(stream, timeout)
    refused(ret, 107000, "aclrtSynchronizeStreamWithTimeout", f"timeout is {timeout}", "-1")
    assert acl.rt.peek_at_last_error(0) == last


def test_time_runs_out(stream):
    with latches(stream) as held:
        held.hold()
        ret = acl.rt.synchronize_stream_with_timeout(stream, 1)
        refused(ret, 507046, "aclrtSynchronizeStreamWithTimeout", "timeout is 1 ms")
        assert acl.rt.get_last_error(0) == 507046


def test_configuration_handles_are_of_other_chips(device):
    config = ffi.new("aclrtStreamConfigHandle *")
    refused(lib.aclrtCreateStreamV2(out("aclrtStream *"), config), 207000, "aclrtCreateStreamV2")
    refused(lib.aclrtCreateStreamV2(out("aclrtStream *"), NULL), 100000, "aclrtCreateStreamV2", "handle is NULL")


def test_a_failed_create_gives_null():
    place = ffi.new("aclrtStream *", pointer(77))
    assert in_thread(lambda: lib.aclrtCreateStream(place)) == 107002
    assert place[0] == NULL


def test_stop_mode_is_for_good(stream):
    assert acl.rt.set_stream_failure_mode(stream, 1) == 0
    acl.rt.get_last_error(0)
    refused(acl.rt.set_stream_failure_mode(stream, 0), 207000, "aclrtSetStreamFailureMode", "mode is 0")
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.parametrize("flag", [1, 2, 4, 8, 0x10])
def test_streams_for_the_device_have_no_other_flag(device, flag):
    ret = acl.rt.create_stream_with_config(0, DEVICE_USE_ONLY | flag)[1]
    refused(ret, 107000, "aclrtCreateStreamWithConfig", f"flag is {DEVICE_USE_ONLY | flag:#x}", "without other flags")


def test_some_streams_cannot_stop(streams):
    (for_device,) = streams(1, flag=DEVICE_USE_ONLY)
    refused(acl.rt.set_stream_failure_mode(for_device, 1), 207000, "aclrtSetStreamFailureMode", "a device-only stream")
    with building(HEAD) as (_, (bound,)):
        refused(acl.rt.set_stream_failure_mode(bound, 1), 207000, "aclrtSetStreamFailureMode", "is bound to a model")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "flag", "words"),
    [
        ("Ascend310P3", 8, "no huge streams"),
        ("Ascend910A", DEVICE_USE_ONLY, "does not support device-only streams"),
        ("Ascend310B1", DEVICE_USE_ONLY, "does not support device-only streams"),
    ],
)
def test_flags_that_chips_lack(configure, soc, flag, words):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    refused(acl.rt.create_stream_with_config(0, flag)[1], 207000, "aclrtCreateStreamWithConfig", soc, words)


def test_stopping_wants_a_stream(device):
    refused(lib.aclrtStreamStop(NULL), 107000, "aclrtStreamStop", "stream is NULL")


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910A"])
def test_older_chips(run_script, soc):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
assert lib.aclrtStreamStop(ffi.cast("void *", stream)) == 207000
assert "aclrtStreamStop" in acl.get_recent_err_msg()
assert acl.rt.set_stream_failure_mode(0, 1) == 107000
assert "aclrtSetStreamFailureMode failed because stream is NULL" in acl.get_recent_err_msg()
assert acl.rt.set_stream_failure_mode(stream, 1) == 0
"""
    done = run_script(code, {"ACL_SIM_SOC": soc})
    assert done.returncode == 0, done.stderr


def test_state_callbacks_are_registered_once():
    registered_once("aclrtRegStreamStateCallback", "aclrtStreamStateCallback")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "call",
    [
        lambda stream: acl.rt.synchronize_stream(stream),
        lambda stream: acl.rt.synchronize_device(),
        lambda stream: acl.rt.destroy_stream(stream),
        lambda stream: acl.rt.synchronize_stream_with_timeout(stream, 1000),
    ],
)
def test_waiting_inside_a_task_is_refused(stream, call):
    codes = []

    def run():
        acl.rt.set_device(0)
        codes.append((call(stream), acl.get_recent_err_msg()))

    task = Task(stream, run)
    assert acl.rt.synchronize_stream(stream) == 0
    ((code, text),) = codes
    assert code == 507000 and "inside a task's function" in text
    del task
