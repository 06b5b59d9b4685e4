"""What profiling refuses, and what it says."""

import contextlib
import os

import pytest
from helpers.expect import NULL, pointer, refused

import acl
from acl._lib import ffi, lib

prof, rt = acl.prof, acl.rt
TASK_TIME, MSPROFTX = 2, 0x80
NONE = 255
INVALID_PARAM, REPEAT_INIT, INVALID_FILE = 100000, 100002, 100003
INVALID_CONFIG, INVALID_MODEL = 100010, 100011
ALREADY_RUN, NOT_RUN, FAILURE = 100042, 100043, 500005


@pytest.fixture
def initialised(device, tmp_path):
    """Begin a session of the program."""
    assert prof.init(str(tmp_path)) == 0
    yield tmp_path
    prof.finalize()


@pytest.fixture
def collecting(initialised):
    """Collect marks."""
    config = prof.create_config([0], NONE, 0, MSPROFTX)
    assert prof.start(config) == 0
    yield config
    prof.stop(config)
    prof.destroy_config(config)


@contextlib.contextmanager
def cann(version):
    """Simulate another version; no device is open."""
    acl.sim.reset()
    acl.sim.configure(cann=version)
    yield
    acl.sim.reset()


@pytest.mark.parametrize(
    ("path", "length", "words"),
    [
        (NULL, 1, "profilerResultPath is NULL"),
        (b"", 0, "length is 0"),
        (b"a" * 4096, 4096, "length is 4096"),
        (b"ab", 3, "length is 3"),
        (b"abc", 2, "length is 2"),
    ],
)
def test_paths_of_init(path, length, words):
    refused(lib.aclprofInit(path, length), INVALID_PARAM, "aclprofInit", words)


@pytest.mark.parametrize("path", ["a|b", "a;b", "a\nb", "$HOME", "a'b"])
def test_odd_paths_of_init(path):
    refused(prof.init(path), INVALID_FILE, "aclprofInit", "profilerResultPath has the character")


def test_states_of_the_session(tmp_path):
    refused(prof.finalize(), NOT_RUN, "aclprofFinalize", "aclprofInit was not called")
    assert prof.init(str(tmp_path)) == 0
    refused(prof.init(str(tmp_path)), REPEAT_INIT, "aclprofInit", "called before")
    assert prof.finalize() == 0
    refused(prof.finalize(), NOT_RUN, "aclprofFinalize")


@pytest.mark.parametrize(
    ("devices", "metrics", "events", "bits", "words"),
    [
        (None, NONE, 0, TASK_TIME, "deviceIdList is"),
        ([0] * 64, NONE, 0, TASK_TIME, "deviceNums is 64"),
        ([99], NONE, 0, TASK_TIME, "deviceIdList[0] is 99"),
        ([0], 77, 0, TASK_TIME, "aicoreMetrics is 77"),
        ([0], NONE, 64, TASK_TIME, "aicoreEvents is"),
        ([0], NONE, 0, 1 << 60, "dataTypeConfig is"),
    ],
)
def test_configurations_that_are_refused(device, devices, metrics, events, bits, words):
    if devices is None:
        made = lib.aclprofCreateConfig(NULL, 1, metrics, NULL, bits)
    else:
        events = ffi.cast("aclprofAicoreEvents *", events)
        made = lib.aclprofCreateConfig(devices, len(devices), metrics, events, bits)
    assert made == NULL
    refused(0, 0, "aclprofCreateConfig", words)


@pytest.mark.needs_sim
def test_a_device_stands_in_a_list_once():
    acl.sim.reset()
    acl.sim.configure(devices=2)
    assert prof.create_config([1, 1], NONE, 0, TASK_TIME) == 0
    refused(0, 0, "aclprofCreateConfig", "deviceIdList[1] is 1", "already")
    acl.sim.reset()


def test_the_list_of_devices_needs_its_length(device):
    assert lib.aclprofCreateConfig([0], 0, NONE, NULL, TASK_TIME) == NULL
    refused(0, 0, "aclprofCreateConfig", "deviceNums 0")


def test_null_configurations():
    refused(lib.aclprofDestroyConfig(NULL), INVALID_PARAM, "aclprofDestroyConfig", "profilerConfig is NULL")
    refused(lib.aclprofDestroySubscribeConfig(NULL), INVALID_PARAM, "aclprofDestroySubscribeConfig", "is NULL")


@pytest.mark.strict
@pytest.mark.parametrize("name", ["start", "stop", "destroy_config", "destroy_subscribe_config"])
def test_dead_configurations(device, name):
    dead = prof.create_config([0], NONE, 0, TASK_TIME)
    assert prof.destroy_config(dead) == 0
    refused(getattr(prof, name)(dead), INVALID_PARAM, "aclprof", hex(dead))


@pytest.mark.strict
def test_a_directory_that_cannot_be_made(device, tmp_path):
    (tmp_path / "file").write_text("")
    config = prof.create_config([0], NONE, 0, MSPROFTX)
    assert prof.init(str(tmp_path / "file" / "below")) == 0
    try:
        refused(prof.start(config), INVALID_FILE, "aclprofStart", "cannot be written")
    finally:
        assert prof.finalize() == 0
    assert prof.destroy_config(config) == 0


@pytest.mark.needs_sim
def test_start_and_stop_want_the_same_data(initialised):
    one, other = (prof.create_config([0], NONE, 0, bits) for bits in (TASK_TIME, MSPROFTX))
    assert prof.stop(one) == 0
    assert prof.start(one) == 0
    assert prof.start(one) == 0
    refused(prof.start(other), INVALID_CONFIG, "aclprofStart", "data 0x80", "0x2")
    refused(prof.stop(other), INVALID_CONFIG, "aclprofStop", "data 0x80", "0x2")
    assert prof.stop(one) == 0
    assert prof.stop(0) == 0
    for config in (one, other):
        assert prof.destroy_config(config) == 0


@pytest.mark.needs_sim
def test_versions_8_want_init_first(tmp_path):
    with cann("8.5"):
        assert rt.set_device(0) == 0
        config = prof.create_config([0], NONE, 0, TASK_TIME)
        refused(prof.start(0), INVALID_PARAM, "aclprofStart", "profilerConfig is NULL")
        refused(prof.stop(0), INVALID_PARAM, "aclprofStop", "profilerConfig is NULL")
        refused(prof.start(config), NOT_RUN, "aclprofStart", "aclprofInit was not called")
        refused(prof.stop(config), NOT_RUN, "aclprofStop", "not started")
        refused(prof.set_config(5, "50"), NOT_RUN, "aclprofSetConfig", "aclprofInit was not called")
        refused(prof.set_config(11, "50"), INVALID_PARAM, "aclprofSetConfig", "configType is 11")
        assert prof.init(str(tmp_path)) == 0
        assert prof.start(config) == 0
        refused(prof.start(config), ALREADY_RUN, "aclprofStart", "started before")
        assert prof.finalize() == 0
        assert prof.destroy_config(config) == 0


@pytest.mark.needs_sim  # the options differ by version
@pytest.mark.parametrize(
    ("kind", "value", "length", "code", "words"),
    [
        (0, b"1", 1, INVALID_PARAM, "configType is 0"),
        (2, b"1", 1, INVALID_PARAM, "configType is 2"),
        (17, b"1", 1, INVALID_PARAM, "configType is 17"),
        (-1, b"1", 1, INVALID_PARAM, "configType is -1"),
        (5, b"1" * 257, 257, INVALID_PARAM, "configLength is 257"),
        (5, NULL, 1, INVALID_PARAM, "config is NULL"),
        (5, b"11", 1, INVALID_PARAM, "configLength is 1"),
        (1, b"199", 3, INVALID_CONFIG, "from 200"),
        (1, b"4294967296", 10, INVALID_CONFIG, "config is"),
        (3, b"0", 1, INVALID_PARAM, "1 to 100"),
        (4, b"both", 4, INVALID_CONFIG, 'config is "both"'),
        (5, b"101", 3, INVALID_CONFIG, "1 to 100"),
        (6, b"51", 2, INVALID_CONFIG, "1 to 50"),
        (7, b"-1", 2, INVALID_CONFIG, "1 to 100"),
        (8, b"cpu,gpu", 7, INVALID_CONFIG, "cpu mem"),
        (9, b"cpu,", 4, INVALID_CONFIG, "cpu mem"),
        (10, b"fast", 4, INVALID_CONFIG, "1 to 50"),
        (11, b"0", 1, INVALID_CONFIG, "1 to 100"),
        (13, b"51", 2, INVALID_CONFIG, "1 to 50"),
        (14, b"", 0, INVALID_CONFIG, "config is empty"),
        (16, b"a|b", 3, INVALID_CONFIG, "path of a directory"),
    ],
)
def test_options(initialised, kind, value, length, code, words):
    refused(lib.aclprofSetConfig(kind & 0xFFFFFFFF, value, length), code, "aclprofSetConfig", words)


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("kind", "value"), [(1, "200"), (3, "100"), (4, "read"), (8, "cpu,mem"), (9, "mem"), (13, "1")]
)
def test_options_that_are_taken(initialised, kind, value):
    assert prof.set_config(kind, value) == 0, acl.get_recent_err_msg()


NULLS = [
    ("aclprofSetStampTraceMessage", "stamp", lambda: lib.aclprofSetStampTraceMessage(NULL, b"a", 1)),
    ("aclprofMark", "stamp", lambda: lib.aclprofMark(NULL)),
    ("aclprofPush", "stamp", lambda: lib.aclprofPush(NULL)),
    ("aclprofRangeStart", "stamp", lambda: lib.aclprofRangeStart(NULL, NULL)),
    ("aclprofMarkEx", "msg", lambda: lib.aclprofMarkEx(NULL, 1, NULL)),
    ("aclprofMarkEx", "stream", lambda: lib.aclprofMarkEx(b"a", 1, NULL)),
    ("aclrtProfTrace", "userdata", lambda: lib.aclrtProfTrace(NULL, 1, NULL)),
    ("aclprofGetStepTimestamp", "stepInfo", lambda: lib.aclprofGetStepTimestamp(NULL, 0, NULL)),
    ("aclprofRangePushEx", "attr", lambda: lib.aclprofRangePushEx(NULL)),
    ("aclprofModelSubscribe", "profSubscribeConfig", lambda: lib.aclprofModelSubscribe(1, NULL)),
    ("aclprofGetOpDescSize", "opDescSize", lambda: lib.aclprofGetOpDescSize(NULL)),
]


@pytest.mark.parametrize(("name", "argument", "call"), NULLS, ids=[f"{name}-{argument}" for name, argument, _ in NULLS])
def test_null_is_named(device, name, argument, call):
    refused(call(), INVALID_PARAM, name, f"{argument} is NULL")


def test_null_texts_and_objects_that_are_void():
    assert lib.aclprofStr2Id(NULL) == 2**64 - 1
    refused(0, 0, "aclprofStr2Id", "message is NULL")
    prof.destroy_stamp(0)
    prof.destroy_step_info(0)


@pytest.mark.strict
def test_marks_need_a_session_that_collects_them(initialised, stream):
    assert prof.create_stamp() == 0
    refused(0, 0, "aclprofCreateStamp", "ACL_PROF_MSPROFTX")
    for call in (prof.pop, lambda: prof.range_stop(1), lambda: prof.mark_ex("text", stream), lib.aclprofRangePop):
        refused(call(), FAILURE, "aclprof", "no marks are being collected")


@pytest.mark.strict
def test_ends_without_a_beginning(collecting):
    refused(prof.pop(), FAILURE, "aclprofPop", "aclprofPush")
    refused(prof.range_stop(12345), FAILURE, "aclprofRangeStop", "rangeId is 12345")
    stamp = prof.create_stamp()
    number, ret = prof.range_start(stamp)
    assert (prof.range_stop(number), ret) == (0, 0)
    refused(prof.range_stop(number), FAILURE, "aclprofRangeStop", f"rangeId is {number}")
    prof.destroy_stamp(stamp)


def test_texts_are_short(collecting, stream):
    stamp = prof.create_stamp()
    assert prof.set_stamp_trace_message(stamp, "a" * 127, 127) == 0
    refused(prof.set_stamp_trace_message(stamp, "a" * 128, 128), INVALID_PARAM, "msgLen is 128", "at most 127")
    refused(prof.mark_ex("a" * 128, stream), INVALID_PARAM, "aclprofMarkEx", "msgLen is 128")
    refused(lib.aclprofSetStampTraceMessage(pointer(stamp), NULL, 1), INVALID_PARAM, "msg is NULL")
    refused(lib.aclprofRangeStart(pointer(stamp), NULL), INVALID_PARAM, "rangeId is NULL")
    prof.destroy_stamp(stamp)


@pytest.mark.strict
def test_dead_stamps(collecting):
    dead = prof.create_stamp()
    prof.destroy_stamp(dead)
    for call in (prof.mark, prof.push, lambda stamp: prof.range_start(stamp)[1]):
        refused(call(dead), INVALID_PARAM, f"stamp is a destroyed stamp ({dead:#x})")
    refused(prof.set_stamp_trace_message(dead, "a", 1), INVALID_PARAM, "a destroyed stamp")


@pytest.mark.strict
def test_steps_are_tagged_in_order(device, stream):
    info = prof.create_step_info()
    refused(prof.get_step_timestamp(info, 2, stream), INVALID_PARAM, "aclprofGetStepTimestamp", "tag is 2")
    refused(prof.get_step_timestamp(info, 1, stream), INVALID_PARAM, "aclprofGetStepTimestamp", "tag is 1", "START")
    prof.destroy_step_info(info)
    refused(prof.get_step_timestamp(info, 0, stream), INVALID_PARAM, "aclprofGetStepTimestamp", "destroyed step info")


@pytest.mark.strict
@pytest.mark.parametrize(("length", "words"), [(0, "length is 0"), (19, "length is 19"), (-1, "length is -1")])
def test_lengths_of_traces(stream, length, words):
    data = ffi.new("char[32]")
    refused(lib.aclrtProfTrace(data, length, pointer(stream)), 107000, "aclrtProfTrace", words)
    assert rt.get_last_error(0) == 107000


@pytest.mark.strict
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("version", 2, "version of attr is 2"),
        ("size", 8, "size of attr is 8"),
        ("messageType", 1, "messageType of attr is 1"),
        ("tensorInfo", None, "tensorInfo of attr is NULL"),
        ("tensors", None, "tensors of attr is NULL with tensorNum 1"),
        ("shapeDim", 9, "tensor 0 has 9 dimensions"),
    ],
)
def test_attributes_of_ranges(collecting, field, value, words):
    tensors = ffi.new("aclprofTensor[1]", [{"shapeDim": value if field == "shapeDim" else 1}])
    info = ffi.new("aclprofTensorInfo *", {"tensorNum": 1, "tensors": NULL if field == "tensors" else tensors})
    attr = ffi.new("aclprofEventAttributes *", {"version": 1, "size": 16, "messageType": 0})
    if field in ("version", "size", "messageType"):
        setattr(attr, field, value)
    attr.message.tensorInfo = NULL if field == "tensorInfo" else info
    refused(lib.aclprofRangePushEx(attr), INVALID_PARAM, "aclprofRangePushEx", words)


# ---- subscriptions ----


@pytest.mark.parametrize(("switch", "metrics", "fd"), [(2, NONE, True), (1, 77, True), (1, NONE, False)])
def test_subscription_configurations_that_are_refused(switch, metrics, fd):
    slot = ffi.new("int32_t *", 1) if fd else NULL
    assert lib.aclprofCreateSubscribeConfig(switch, metrics, slot) == NULL
    refused(0, 0, "aclprofCreateSubscribeConfig", f"timeInfoSwitch is {switch}, aicoreMetrics {metrics}")


@pytest.fixture
def subscription():
    """Make a configuration that names a pipe."""
    reader, writer = os.pipe()
    config = prof.create_subscribe_config(1, NONE, writer)
    assert config != 0
    yield config
    assert prof.destroy_subscribe_config(config) == 0
    os.close(reader)
    os.close(writer)


def test_models_that_are_not_loaded(device, subscription):
    for call in (lambda: prof.model_subscribe(4000000, subscription), lambda: prof.model_unsubscribe(4000000)):
        refused(call(), INVALID_MODEL, "modelId is 4000000", "loaded")


READERS = {
    "aclprofGetOpTypeLen": lambda *args: prof.get_op_type_len(*args)[1],
    "aclprofGetOpNameLen": lambda *args: prof.get_op_name_len(*args)[1],
    "aclprofGetOpType": lambda *args: prof.get_op_type(*args, 65)[1],
    "aclprofGetOpName": lambda *args: prof.get_op_name(*args, 257)[1],
    "aclprofGetOpStart": lambda *args: INVALID_PARAM + prof.get_op_start(*args),
    "aclprofGetOpEnd": lambda *args: INVALID_PARAM + prof.get_op_end(*args),
    "aclprofGetOpDuration": lambda *args: INVALID_PARAM + prof.get_op_duration(*args),
    "aclprofGetModelId": lambda *args: INVALID_PARAM + prof.get_model_id(*args),
    "aclprofGetOpFlag": lambda buffer, size, index: (
        INVALID_PARAM + lib.aclprofGetOpFlag(pointer(buffer), size, index) - NONE
    ),
    "aclprofGetOpAttriValue": lambda buffer, size, index: (
        INVALID_PARAM + (lib.aclprofGetOpAttriValue(pointer(buffer), size, index, 0) != NULL)
    ),
}


@pytest.mark.strict
@pytest.mark.parametrize("name", READERS)
def test_buffers_without_records(device, name):
    size, ret = prof.get_op_desc_size()
    assert ret == 0
    buffer = ffi.new(f"char[{2 * size}]")
    address = int(ffi.cast("uintptr_t", buffer))
    block, _ = rt.malloc(2 * size, 0)
    for arguments, words in [
        ((0, size, 0), "opInfo is NULL"),
        ((block, size, 0), "device memory"),
        ((address, 0, 0), "opInfoLen is 0"),
        ((address, size + 1, 0), f"opInfoLen is {size + 1}"),
        ((address, 2 * size, 2), "index is 2, expected less than 2"),
        ((address, 2 * size, 1), "no record at index 1"),
    ]:
        refused(READERS[name](*arguments), INVALID_PARAM, name, words)
    rt.free(block)


@pytest.mark.strict
def test_numbers_of_records(device):
    size, _ = prof.get_op_desc_size()
    buffer = ffi.new(f"char[{2 * size}]")
    address = int(ffi.cast("uintptr_t", buffer))
    assert prof.get_op_num(address, 2 * size) == (2, 0)
    refused(prof.get_op_num(0, size)[1], INVALID_PARAM, "aclprofGetOpNum", "opInfo is NULL")
    refused(prof.get_op_num(address, size - 1)[1], INVALID_PARAM, "aclprofGetOpNum", f"opInfoLen is {size - 1}")
    assert prof.get_op_type_v2(address, size, 0) == (None, INVALID_PARAM)
    assert prof.get_op_name(address, size, 0, 4097) == ("", INVALID_PARAM)
