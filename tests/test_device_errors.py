"""What devices refuse, and what they say."""

import threading

import pytest
from helpers.expect import NULL, in_thread, latches, refused, registered_once

import acl
from acl._lib import ffi, lib

CALLS = [
    (acl.rt.set_device, "aclrtSetDevice"),
    (acl.rt.reset_device, "aclrtResetDevice"),
    (acl.rt.reset_device_force, "aclrtResetDeviceForce"),
]


@pytest.mark.parametrize(("call", "name"), CALLS)
@pytest.mark.parametrize("number", [-1, -(2**31), 2**31 - 1, "count"])
def test_device_ids(call, name, number):
    count, _ = acl.rt.get_device_count()
    number = count if number == "count" else number
    refused(call(number), 107001, name, f"deviceId is {number}", f"expected 0 to {count - 1}")


def test_bad_ids_are_the_last_error():
    acl.rt.get_last_error(0)
    assert acl.rt.set_device(-1) == 107001
    assert acl.rt.get_last_error(0) == 107001


def test_reset_without_set():
    acl.rt.get_last_error(0)
    refused(acl.rt.reset_device(0), 507007, "aclrtResetDevice", "device 0 is not set", "aclrtSetDevice")
    assert acl.rt.get_last_error(0) == 507007


def test_forced_reset_without_set_is_no_last_error():
    acl.rt.get_last_error(0)
    refused(acl.rt.reset_device_force(0), 507007, "aclrtResetDeviceForce", "device 0 is not set")
    assert acl.rt.get_last_error(0) == 0


def test_get_wants_a_place(device):
    refused(lib.aclrtGetDevice(NULL), 100000, "aclrtGetDevice", "deviceId is NULL")


def test_get_without_a_context_is_no_last_error():
    number = ffi.new("int32_t *", 77)

    def fresh():
        refused(lib.aclrtGetDevice(number), 107002, "aclrtGetDevice", "no current context", "aclrtSetDevice")
        return acl.rt.peek_at_last_error(0)

    assert in_thread(fresh) == 0
    assert number[0] == 77


def test_synchronize_without_a_context():
    def fresh():
        refused(acl.rt.synchronize_device(), 107002, "aclrtSynchronizeDevice", "no current context")
        refused(
            acl.rt.synchronize_device_with_timeout(1), 107002, "aclrtSynchronizeDeviceWithTimeout", "no current context"
        )
        return acl.rt.peek_at_last_error(0)

    assert in_thread(fresh) == 107002


@pytest.mark.parametrize(("timeout", "last"), [(-2, 0), (-(2**31), 0), (0, 107000)])
def test_synchronize_timeouts(device, timeout, last):
    acl.rt.get_last_error(0)
    ret = acl.rt.synchronize_device_with_timeout(timeout)
    refused(ret, 107000, "aclrtSynchronizeDeviceWithTimeout", f"timeout is {timeout}", "-1")
    assert acl.rt.peek_at_last_error(0) == last


def test_timeouts_are_checked_before_the_context():
    refused(in_thread(lambda: acl.rt.synchronize_device_with_timeout(-2)), 107000)


def test_synchronize_runs_out_of_time(stream):
    with latches(stream) as held:
        held.hold()
        ret = acl.rt.synchronize_device_with_timeout(1)
        refused(ret, 507046, "aclrtSynchronizeDeviceWithTimeout", "timeout is 1 ms")
        assert acl.rt.get_last_error(0) == 507046


def test_state_callbacks_have_names():
    refused(lib.aclrtRegDeviceStateCallback(NULL, NULL, NULL), 100000, "aclrtRegDeviceStateCallback", "regName is NULL")
    assert lib.aclrtRegDeviceStateCallback(b"nobody", NULL, NULL) == 0


def test_state_callbacks_are_registered_once():
    registered_once("aclrtRegDeviceStateCallback", "aclrtDeviceStateCallback")


def test_other_threads_lose_a_device_that_was_reset():
    """A thread that was bound to the primary context learns of its end."""
    bound, reset = threading.Event(), threading.Event()
    seen = []
    assert acl.rt.set_device(0) == 0

    def second():
        assert acl.rt.set_device(0) == 0
        bound.set()
        reset.wait()
        seen.append(acl.rt.get_device()[1])
        seen.append(acl.rt.create_stream()[1])
        seen.append(acl.rt.set_device(0))

    thread = threading.Thread(target=second)
    thread.start()
    bound.wait()
    assert acl.rt.reset_device_force(0) == 0
    reset.set()
    thread.join()
    assert seen == [107002, 107002, 0]
    assert acl.rt.reset_device(0) == 0
