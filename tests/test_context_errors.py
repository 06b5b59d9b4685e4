"""What contexts refuse, and what they say."""

import threading

import pytest
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

DESTROY_PRE = 2


@pytest.mark.parametrize("number", [-1, -(2**31), 2**31 - 1, "count"])
def test_create_wants_a_device(number):
    count, _ = acl.rt.get_device_count()
    number = count if number == "count" else number
    refused(acl.rt.create_context(number)[1], 107001, "aclrtCreateContext", f"deviceId is {number}", "expected 0 to")


def test_null_is_named(device):
    refused(lib.aclrtCreateContext(NULL, 0), 100000, "aclrtCreateContext", "context is NULL")
    refused(lib.aclrtDestroyContext(NULL), 100000, "aclrtDestroyContext", "context is NULL")
    refused(lib.aclrtSetCurrentContext(NULL), 100000, "aclrtSetCurrentContext", "context is NULL")
    refused(lib.aclrtGetCurrentContext(NULL), 100000, "aclrtGetCurrentContext", "context is NULL")
    refused(lib.aclrtGetPrimaryCtxState(0, NULL, NULL), 100000, "aclrtGetPrimaryCtxState", "active is NULL")
    refused(lib.aclrtCtxGetCurrentDefaultStream(NULL), 100000, "aclrtCtxGetCurrentDefaultStream", "stream is NULL")


def test_set_null_does_not_unbind(context):
    assert acl.rt.set_context(0) == 100000
    assert acl.rt.get_context() == (context, 0)


@pytest.mark.needs_sim
def test_create_without_streams_left(run_script):
    code = """
import acl
assert acl.rt.set_device(0) == 0
left, _ = acl.rt.get_stream_available_num()
while left:
    assert acl.rt.create_stream()[1] == 0
    left -= 1
assert acl.rt.create_context(0)[1] == 207008
text = acl.get_recent_err_msg()
assert "aclrtCreateContext" in text and "1984" in text, text
stream, _ = acl.rt.ctx_get_current_default_stream()
assert acl.rt.synchronize_device() == 0
"""
    done = run_script(code, {"ACL_SIM_LIMITS": "documented", "ACL_SIM_SOC": None})
    assert done.returncode == 0, done.stderr


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["destroyed", "stream", "event", "garbage"])
def test_dead_and_foreign_handles(device, stream, kind):
    event, _ = acl.rt.create_event()
    destroyed, _ = acl.rt.create_context(0)
    assert acl.rt.destroy_context(destroyed) == 0
    assert acl.rt.set_device(0) == 0
    handle = {"destroyed": destroyed, "stream": stream, "event": event, "garbage": 0xDEADBEEF12345678}[kind]
    said = hex(handle), "expected a live context"
    refused(acl.rt.set_context(handle), 107000, "aclrtSetCurrentContext", "context is", *said)
    refused(acl.rt.destroy_context(handle), 107002, "aclrtDestroyContext", "context is", *said)
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_event(event) == 0


def test_the_primary_context_is_not_destroyed(device):
    primary, _ = acl.rt.get_context()
    refused(acl.rt.destroy_context(primary), 107002, "aclrtDestroyContext", hex(primary), "aclrtResetDevice")
    assert acl.rt.get_context() == (primary, 0)
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.destroy_stream(stream) == 0


def test_none_is_no_last_error_and_leaves_the_place_alone():
    place = ffi.new("aclrtContext *", pointer(77))

    def fresh():
        refused(lib.aclrtGetCurrentContext(place), 107002, "aclrtGetCurrentContext", "no current context")
        return acl.rt.peek_at_last_error(0)

    assert in_thread(fresh) == 0
    assert place[0] == pointer(77)


def test_default_stream_wants_a_context():
    def fresh():
        ret = acl.rt.ctx_get_current_default_stream()[1]
        refused(ret, 107002, "aclrtCtxGetCurrentDefaultStream", "no current context", "aclrtSetDevice")
        return acl.rt.peek_at_last_error(0)

    assert in_thread(fresh) == 107002


@pytest.mark.strict
def test_messages_tell_a_context_that_died_from_none(device):
    context, _ = acl.rt.create_context(0)
    assert in_thread(lambda: acl.rt.destroy_context(context)) == 0
    refused(acl.rt.create_stream()[1], 107002, "aclrtCreateStream", "was destroyed")
    refused(acl.rt.create_stream()[1], 107002, "aclrtCreateStream", "no current context")


@pytest.mark.parametrize("number", [-1, 64, 2**31 - 1])
def test_primary_state_ids(number):
    ret = acl.rt.get_primary_ctx_state(number)[2]
    refused(ret, 107001, "aclrtGetPrimaryCtxState", f"deviceId is {number}", "expected 0 to 63")


def test_primary_state_flags_are_reserved():
    flags, active = ffi.new("uint32_t *"), ffi.new("int32_t *")
    ret = lib.aclrtGetPrimaryCtxState(0, flags, active)
    refused(ret, 100000, "aclrtGetPrimaryCtxState", "flags is 0x", "expected NULL")


@pytest.mark.strict
def test_two_threads_destroy_one_context(device):
    context, _ = acl.rt.create_context(0)
    destroying, go_on = threading.Event(), threading.Event()

    @ffi.callback("aclrtStreamStateCallback")
    def on_state(stream, state, data):
        if state == DESTROY_PRE:
            destroying.set()
            go_on.wait()

    assert lib.aclrtRegStreamStateCallback(b"destroying", on_state, NULL) == 0
    codes = []
    thread = threading.Thread(target=lambda: codes.append(acl.rt.destroy_context(context)))
    thread.start()
    destroying.wait()
    ret = acl.rt.destroy_context(context)
    go_on.set()
    thread.join()
    assert lib.aclrtRegStreamStateCallback(b"destroying", NULL, NULL) == 0
    refused(ret, 507007, "aclrtDestroyContext", hex(context), "another thread")
    assert codes == [0]
