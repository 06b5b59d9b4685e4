"""Attributes of streams, clearing persistent ones, and configuration handles, which no simulated chip has."""

import pytest
from helpers.capture import PERSISTENT, begin, end
from helpers.expect import NULL, Task, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

FAILURE_MODE, OVERFLOW_CHECK, TAG, CACHE_OP_INFO, PRIORITY = range(1, 6)
CPU_SCHEDULE = 0x10
VALUE = ffi.new("aclrtStreamAttrValue *")


def put(stream, attribute, **member):
    """Set an attribute through C; return ret."""
    return lib.aclrtSetStreamAttribute(pointer(stream), attribute, ffi.new("aclrtStreamAttrValue *", member))


def get(stream, attribute, member):
    """Return an attribute, read through C."""
    value = ffi.new("aclrtStreamAttrValue *", {"reserve": [77] * 4})
    assert lib.aclrtGetStreamAttribute(pointer(stream), attribute, value) == 0
    return getattr(value, member)


def test_attributes_are_zero_at_first(stream):
    for attribute, member in enumerate(
        ("failureMode", "overflowSwitch", "userCustomTag", "cacheOpInfoSwitch", "streamPriority"), 1
    ):
        assert get(stream, attribute, member) == 0


def test_switches_and_tags_are_kept_by_stream(stream, other):
    assert acl.rt.set_stream_attribute(stream, OVERFLOW_CHECK, {"overflowSwitch": 1}) == 0
    assert acl.rt.set_stream_attribute(stream, TAG, {"userCustomTag": 0xFFFFFFFF}) == 0
    assert acl.rt.get_stream_attribute(stream, OVERFLOW_CHECK) == ({"overflowSwitch": 1}, 0)
    assert acl.rt.get_stream_attribute(stream, TAG) == ({"userCustomTag": 0xFFFFFFFF}, 0)
    assert acl.rt.get_stream_attribute(other, TAG) == ({"userCustomTag": 0}, 0)
    assert acl.rt.set_stream_attribute(0, TAG, {"userCustomTag": 5}) == 0
    default, _ = acl.rt.ctx_get_current_default_stream()
    assert acl.rt.get_stream_attribute(default, TAG) == ({"userCustomTag": 5}, 0)


def test_a_new_stream_has_none_of_its_slots_former_attributes(device):
    stream, _ = acl.rt.create_stream()
    assert put(stream, TAG, userCustomTag=9) == 0
    assert acl.rt.destroy_stream(stream) == 0
    stream, _ = acl.rt.create_stream()
    assert get(stream, TAG, "userCustomTag") == 0
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize(("given", "kept"), [(3, 3), (7, 7), (8, 7), (2**32 - 1, 0)])
def test_priorities_are_clamped(stream, given, kept):
    assert put(stream, PRIORITY, streamPriority=given) == 0
    assert get(stream, PRIORITY, "streamPriority") == kept
    number = ffi.new("uint32_t *")
    assert lib.aclrtStreamGetPriority(pointer(stream), number) == 0
    assert number[0] == kept


@pytest.mark.needs_sim
def test_the_failure_mode_is_that_of_its_own_call(stream):
    assert put(stream, FAILURE_MODE, failureMode=1) == 0
    assert get(stream, FAILURE_MODE, "failureMode") == 1
    task = Task(stream, lambda: 507015)
    assert acl.rt.synchronize_stream(stream) == 507015
    assert acl.rt.synchronize_stream(0) == 507015  # the context has stopped
    refused(put(stream, FAILURE_MODE, failureMode=0), 507015, "aclrtSetStreamAttribute")
    del task


def test_operator_information_is_a_switch_of_captures(stream):
    begin(stream)
    assert put(stream, CACHE_OP_INFO, cacheOpInfoSwitch=1) == 0
    assert get(stream, CACHE_OP_INFO, "cacheOpInfoSwitch") == 1
    for attribute, member in ((OVERFLOW_CHECK, "overflowSwitch"), (TAG, "userCustomTag")):
        refused(put(stream, attribute, **{member: 1}), 107027, "aclrtSetStreamAttribute", "is being captured")
    instance = end(stream)
    assert get(stream, CACHE_OP_INFO, "cacheOpInfoSwitch") == 0
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("name", ["aclrtSetStreamAttribute", "aclrtGetStreamAttribute"])
def test_attributes_are_checked(stream, name):
    call = getattr(lib, name)
    refused(call(pointer(stream), TAG, NULL), 100000, name, "value is NULL")
    for attribute in (0, 6):
        refused(call(pointer(stream), attribute, VALUE), 107000, name, f"stmAttrType is {attribute}")
    in_thread(lambda: refused(call(NULL, TAG, VALUE), 107002, name, "no current context"))
    if acl.is_simulator:
        refused(call(pointer(1), TAG, VALUE), 107017, name, "stream is 0x1")


def test_values_are_checked(stream, streams):
    name = "aclrtSetStreamAttribute"
    refused(put(stream, OVERFLOW_CHECK, overflowSwitch=2), 107000, name, "value->overflowSwitch is 2")
    refused(put(stream, CACHE_OP_INFO, cacheOpInfoSwitch=2), 107000, name, "value->cacheOpInfoSwitch is 2")
    refused(put(0, PRIORITY, streamPriority=1), 107000, name, "stream is NULL")
    (scheduled,) = streams(1, flag=CPU_SCHEDULE)
    refused(put(scheduled, PRIORITY, streamPriority=1), 207000, name, "ACL_STREAM_CPU_SCHEDULE")
    assert acl.rt.set_stream_failure_mode(stream, 1) == 0
    refused(put(stream, FAILURE_MODE, failureMode=0), 207000, name, "mode is 0")
    context, _ = acl.rt.create_context(0)
    refused(put(stream, TAG, userCustomTag=1), 107003, name, "another context")
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0


@pytest.mark.needs_sim
def test_older_chips_take_switches_and_keep_none(run_script):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
assert acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 5}) == 0
assert acl.rt.get_stream_attribute(stream, 3) == ({"userCustomTag": 0}, 0)
assert lib.aclrtPersistentTaskClean(ffi.cast("void *", stream)) == 207000
assert "aclrtPersistentTaskClean" in acl.get_recent_err_msg()
"""
    done = run_script(code, {"ACL_SIM_SOC": "Ascend310P3"})
    assert done.returncode == 0, done.stderr


def test_only_persistent_streams_are_cleared(stream, streams):
    (persistent,) = streams(1, flag=PERSISTENT)
    assert lib.aclrtPersistentTaskClean(pointer(persistent)) == 0
    for plain in (stream, 0):
        refused(
            lib.aclrtPersistentTaskClean(pointer(plain)), 107000, "aclrtPersistentTaskClean", "ACL_STREAM_PERSISTENT"
        )
    if acl.is_simulator:
        refused(lib.aclrtPersistentTaskClean(pointer(1)), 107017, "aclrtPersistentTaskClean", "stream is 0x1")
    context, _ = acl.rt.create_context(0)
    refused(lib.aclrtPersistentTaskClean(pointer(persistent)), 107003, "aclrtPersistentTaskClean", "another context")
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0


def test_no_chip_has_configuration_handles(device):
    assert lib.aclrtCreateStreamConfigHandle() == NULL
    if acl.is_simulator:
        assert "aclrtCreateStreamConfigHandle" in acl.get_recent_err_msg()
    handle, flag = ffi.new("aclrtStreamConfigHandle *"), ffi.new("size_t *")
    refused(lib.aclrtSetStreamConfigOpt(handle, 2, flag, 8), 207000, "aclrtSetStreamConfigOpt")
    refused(lib.aclrtSetStreamConfigOpt(NULL, 2, flag, 8), 100000, "aclrtSetStreamConfigOpt", "handle is NULL")
    refused(lib.aclrtSetStreamConfigOpt(handle, 2, NULL, 8), 100000, "aclrtSetStreamConfigOpt", "attrValue is NULL")
    refused(lib.aclrtDestroyStreamConfigHandle(handle), 207000, "aclrtDestroyStreamConfigHandle")
    refused(lib.aclrtDestroyStreamConfigHandle(NULL), 100000, "aclrtDestroyStreamConfigHandle", "handle is NULL")
