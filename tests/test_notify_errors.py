"""What notifies refuse, and what they say."""

import pytest
from helpers.capture import in_other_context
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

NUMBER = ffi.new("uint32_t *")
QUEUED = {
    "aclrtRecordNotify": lambda notify, stream: acl.rt.record_notify(notify, stream),
    "aclrtWaitAndResetNotify": lambda notify, stream: acl.rt.wait_and_reset_notify(notify, stream, 0),
}
CALLS = {
    **{name: lambda notify, call=call: call(notify, 0) for name, call in QUEUED.items()},
    "aclrtDestroyNotify": lambda notify: acl.rt.destroy_notify(notify),
    "aclrtGetNotifyId": lambda notify: acl.rt.get_notify_id(notify)[1],
}


@pytest.fixture
def notify(device):
    """Make a notify."""
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    yield notify
    acl.rt.destroy_notify(notify)


@pytest.mark.parametrize(
    ("name", "argument", "call"),
    [
        *((name, "notify", lambda call=call: call(0)) for name, call in CALLS.items()),
        ("aclrtCreateNotify", "notify", lambda: lib.aclrtCreateNotify(NULL, 0)),
        ("aclrtNotifyBatchReset", "notifies", lambda: lib.aclrtNotifyBatchReset(NULL, 1)),
        ("aclrtGetHardwareSyncAddr", "addr", lambda: lib.aclrtGetHardwareSyncAddr(NULL)),
        ("aclrtCntNotifyRecord", "info", lambda: lib.aclrtCntNotifyRecord(NULL, NULL, NULL)),
        ("aclrtCntNotifyWaitWithTimeout", "info", lambda: lib.aclrtCntNotifyWaitWithTimeout(NULL, NULL, NULL)),
    ],
)
def test_null_is_named(device, name, argument, call):
    acl.rt.get_last_error(0)
    refused(call(), 100000, name, f"{argument} is NULL")
    assert acl.rt.peek_at_last_error(0) == 0


def test_null_places_are_named(notify):
    refused(lib.aclrtGetNotifyId(pointer(notify), NULL), 100000, "aclrtGetNotifyId", "notifyId is NULL")


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["destroyed", "event", "garbage"])
@pytest.mark.parametrize("name", list(CALLS))
def test_dead_and_foreign_handles(event, name, kind):
    destroyed, _ = acl.rt.create_notify(0)
    assert acl.rt.destroy_notify(destroyed) == 0
    handle = {"destroyed": destroyed, "event": event, "garbage": 0xDEADBEEF12345678}[kind]
    what = {"destroyed": "a destroyed notify", "event": "a live event"}.get(kind, "")
    acl.rt.get_last_error(0)
    refused(CALLS[name](handle), 107017, name, f"notify is {handle:#x}", what, "expected a live notify")
    assert acl.rt.peek_at_last_error(0) == 107017


@pytest.mark.parametrize("name", list(QUEUED))
def test_streams(notify, stream, name):
    dead, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(dead) == 0
    if acl.is_simulator:
        refused(QUEUED[name](notify, dead), 107017, name, f"stream is {dead:#x}")
    context, _ = acl.rt.create_context(0)
    refused(QUEUED[name](notify, stream), 107003, name, f"stream {stream:#x}", "another context")
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("aclrtCreateNotify", lambda notify: acl.rt.create_notify(0)[1]),
        ("aclrtDestroyNotify", lambda notify: acl.rt.destroy_notify(notify)),
        ("aclrtRecordNotify", lambda notify: acl.rt.record_notify(notify, 0)),
        ("aclrtWaitAndResetNotify", lambda notify: acl.rt.wait_and_reset_notify(notify, 0, 0)),
        ("aclrtNotifyBatchReset", lambda notify: acl.rt.notify_batch_reset([notify])),
        ("aclrtGetHardwareSyncAddr", lambda notify: lib.aclrtGetHardwareSyncAddr(ffi.new("void **"))),
    ],
)
def test_without_a_context(notify, name, call):
    in_thread(lambda: refused(call(notify), 107002, name, "no current context"))


@pytest.mark.parametrize("flag", [2, 3, 2**32])
def test_flags(device, flag):
    refused(acl.rt.create_notify(flag)[1], 107000, "aclrtCreateNotify", f"flag is {flag:#x}", "ACL_NOTIFY_DEFAULT")


def test_batches(notify):
    refused(acl.rt.notify_batch_reset([]), 107000, "aclrtNotifyBatchReset", "num is 0")
    refused(acl.rt.notify_batch_reset([notify, 0]), 107000, "aclrtNotifyBatchReset", "notifies[1] is NULL")
    if acl.is_simulator:
        refused(acl.rt.notify_batch_reset([notify, 8]), 107017, "aclrtNotifyBatchReset", "notify is 0x8")


def counter():
    """Make a counting notify."""
    place = ffi.new("aclrtCntNotify *")
    assert lib.aclrtCntNotifyCreate(place, 0) == 0
    return place[0]


def change(mode):
    return ffi.new("aclrtCntNotifyRecordInfo *", [mode, 1])


def until(mode):
    return ffi.new("aclrtCntNotifyWaitInfo *", [mode, 1, 0, 0, [0, 0, 0]])


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "code", "call"),
    [
        ("Ascend910A", 207000, lambda: acl.rt.create_notify(1)[1]),
        ("Ascend310B1", 207000, lambda: acl.rt.create_notify(1)[1]),
        ("Ascend310P3", 0, lambda: acl.rt.create_notify(1)[1]),
        ("Ascend310P3", 207000, lambda: acl.rt.notify_batch_reset([8])),
        ("Ascend910_95", 207000, lambda: lib.aclrtGetHardwareSyncAddr(ffi.new("void **"))),
        ("Ascend910B3", 207000, lambda: lib.aclrtCntNotifyCreate(ffi.new("aclrtCntNotify *"), 0)),
        ("Ascend910B3", 207000, lambda: lib.aclrtCntNotifyDestroy(ffi.NULL)),
        ("Ascend910B3", 207000, lambda: lib.aclrtCntNotifyReset(ffi.NULL, ffi.NULL)),
        ("Ascend910B3", 207000, lambda: lib.aclrtCntNotifyGetId(ffi.NULL, ffi.NULL)),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyCreate(ffi.NULL, 0)),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyCreate(ffi.new("aclrtCntNotify *"), 1)),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyDestroy(ffi.NULL)),
        ("Ascend910_95", 107017, lambda: lib.aclrtCntNotifyDestroy(ffi.cast("void *", 8))),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyReset(ffi.NULL, ffi.NULL)),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyGetId(ffi.NULL, ffi.NULL)),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyGetId(counter(), ffi.NULL)),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyRecord(ffi.NULL, ffi.NULL, change(0))),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyRecord(counter(), ffi.NULL, change(3))),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyRecord(counter(), ffi.NULL, change(5))),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyWaitWithTimeout(ffi.NULL, ffi.NULL, until(0))),
        ("Ascend910_95", 107000, lambda: lib.aclrtCntNotifyWaitWithTimeout(counter(), ffi.NULL, until(5))),
        ("Ascend910_95", 107017, lambda: lib.aclrtCntNotifyReset(ffi.cast("void *", 8), ffi.NULL)),
        ("Ascend910_95", 107017, lambda: lib.aclrtCntNotifyGetId(ffi.cast("void *", 8), ffi.new("uint32_t *"))),
        ("Ascend910_95", 107017, lambda: lib.aclrtCntNotifyRecord(ffi.cast("void *", 8), ffi.NULL, change(0))),
        ("Ascend910_95", 107017, lambda: lib.aclrtCntNotifyWaitWithTimeout(ffi.cast("void *", 8), ffi.NULL, until(0))),
        ("Ascend910_95", 107017, lambda: acl.rt.record_notify(int(ffi.cast("uintptr_t", counter())), 0)),
    ],
)
def test_chips(configure, soc, code, call):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    refused(call(), code, *[soc] * (code == 207000))


@pytest.mark.needs_sim
def test_where_counters_are_used(configure):
    configure(soc="Ascend910_95")
    assert acl.rt.set_device(0) == 0
    place, stream = ffi.new("aclrtCntNotify *"), pointer(acl.rt.create_stream()[0])
    assert lib.aclrtCntNotifyCreate(place, 0) == 0
    record, wait = ffi.new("aclrtCntNotifyRecordInfo *"), ffi.new("aclrtCntNotifyWaitInfo *")
    calls = {
        "aclrtCntNotifyRecord": lambda: lib.aclrtCntNotifyRecord(place[0], stream, record),
        "aclrtCntNotifyWaitWithTimeout": lambda: lib.aclrtCntNotifyWaitWithTimeout(place[0], stream, wait),
        "aclrtCntNotifyReset": lambda: lib.aclrtCntNotifyReset(place[0], stream),
    }
    for name, call in calls.items():
        in_thread(lambda call=call, name=name: refused(call(), 107002, name, "no current context"))
        in_other_context(lambda call=call, name=name: refused(call(), 107003, name, "another context"))
    in_thread(lambda: refused(lib.aclrtCntNotifyCreate(place, 0), 107002, "aclrtCntNotifyCreate", "no current context"))
    in_thread(lambda: refused(lib.aclrtCntNotifyDestroy(place[0]), 107002, "aclrtCntNotifyDestroy"))
    assert lib.aclrtCntNotifyDestroy(place[0]) == 0


@pytest.mark.needs_sim
def test_notifies_run_out(run_script):
    code = """
import acl
acl.rt.set_device(0)
made = [acl.rt.create_notify(0) for _ in range(1024)]
assert {ret for _, ret in made} == {0}
assert acl.rt.create_notify(0) == (0, 207009)
assert "1024" in acl.get_recent_err_msg()
assert acl.rt.destroy_notify(made[0][0]) == 0
assert acl.rt.create_notify(0)[1] == 0
"""
    done = run_script(code, {"ACL_SIM_SOC": "Ascend310P3", "ACL_SIM_LIMITS": "documented"})
    assert done.returncode == 0, done.stderr
