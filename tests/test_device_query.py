"""What devices say of themselves: counts, attributes, ids, status."""

import pytest

import acl
from acl._lib import ffi, lib

INVALID_PARAM = 100000
RT_PARAM = 107000
INVALID_DEVICE = 107001
CONTEXT_NULL = 107002
NO_DEVICE = 207004
NOT_SUPPORTED = 207000
IDS = {
    "aclrtGetLogicDevIdByUserDevId": ("user", "logical"),
    "aclrtGetUserDevIdByLogicDevId": ("logical", "user"),
    "aclrtGetLogicDevIdByPhyDevId": ("logical", "user"),
    "aclrtGetPhyDevIdByLogicDevId": ("user", "logical"),
    "aclrtGetUserDevIdByPhyDevId": ("logical", "user"),
    "aclrtGetPhyDevIdByUserDevId": ("user", "logical"),
}


def test_run_mode():
    mode, ret = acl.rt.get_run_mode()
    assert ret == 0
    assert mode in (0, 1)
    assert lib.aclrtGetRunMode(ffi.NULL) == INVALID_PARAM


@pytest.mark.needs_sim
def test_run_mode_is_host():
    assert acl.rt.get_run_mode() == (1, 0)


def test_count():
    count, ret = acl.rt.get_device_count()
    assert ret == 0
    assert count >= 1
    assert lib.aclrtGetDeviceCount(ffi.NULL) == INVALID_PARAM


@pytest.mark.needs_sim
@pytest.mark.parametrize("devices", [0, 1, 16])
def test_count_follows_the_configuration(configure, devices):
    configure(devices=devices)
    assert acl.rt.get_device_count() == (devices, 0)
    assert acl.rt.set_device(devices) == INVALID_DEVICE


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("visible", "logical"),
    [
        ("1", [1]),
        ("1,2,3", [1, 2, 3]),
        ("0,3", [0, 3]),
        ("1, 2,3", [1]),
        ("1,2,-1,3", [1, 2]),
        ("1,3,8", [1, 3]),
        ("0,1,", [0, 1]),
        ("2x", [2]),
        ("", None),
        ("x", None),
        ("-1", None),
        ("8", None),
        ("0,0", None),
        ("2,1", None),
    ],
)
def test_visible_devices(run_script, visible, logical):
    code = (
        "import acl\n"
        "count, ret = acl.rt.get_device_count()\n"
        "print(ret, [acl.rt.get_logic_dev_id_by_user_dev_id(user) for user in range(count)])\n"
        "print(acl.rt.set_device(count - 1), acl.rt.set_device(count))\n"
        "acl.get_recent_err_msg() if ret == 0 else print(acl.rt.get_last_error(0), acl.get_recent_err_msg())\n"
    )
    done = run_script(code, env={"ASCEND_RT_VISIBLE_DEVICES": visible, "ACL_SIM_DEVICES": "4"})
    lines = done.stdout.splitlines()
    if logical is None:
        assert lines[0] == f"{NO_DEVICE} []", done.stderr
        assert "ASCEND_RT_VISIBLE_DEVICES" in done.stdout
        assert lines[1] == f"{INVALID_DEVICE} {INVALID_DEVICE}"
    else:
        assert lines[0] == f"0 {[(one, 0) for one in logical]}", done.stderr
        assert lines[1] == f"0 {INVALID_DEVICE}"


@pytest.mark.needs_sim
def test_id_conversions(run_script):
    code = (
        "from acl._lib import ffi, lib\n"
        "value = ffi.new('int32_t *')\n"
        f"for name in {list(IDS)}:\n"
        "    print([(getattr(lib, name)(given, value), value[0]) for given in (0, 1)], end=';')\n"
        "    print([getattr(lib, name)(given, value) for given in (-1, 2, 4)])\n"
    )
    done = run_script(code, env={"ASCEND_RT_VISIBLE_DEVICES": "0,3", "ACL_SIM_DEVICES": "4"})
    for (given, _), line in zip(IDS.values(), done.stdout.splitlines()):
        good, bad = (eval(part) for part in line.split(";"))
        if given == "user":
            assert good == [(0, 0), (0, 3)]
        else:
            assert good[0] == (0, 0)
            assert good[1][0] == RT_PARAM
        assert bad == [RT_PARAM] * 3
    assert len(done.stdout.splitlines()) == len(IDS), done.stderr


@pytest.mark.parametrize("name", IDS)
def test_id_conversions_are_the_identity(name):
    value = ffi.new("int32_t *", -1)
    assert getattr(lib, name)(0, value) == 0
    assert value[0] == 0
    assert getattr(lib, name)(0, ffi.NULL) == INVALID_PARAM


@pytest.mark.strict
def test_id_conversions_name_the_value():
    assert acl.rt.get_logic_dev_id_by_user_dev_id(99)[1] == RT_PARAM
    assert "aclrtGetLogicDevIdByUserDevId failed because userDevid is 99, expected 0 to" in acl.get_recent_err_msg()
    assert acl.rt.get_user_dev_id_by_logic_dev_id(99)[1] == RT_PARAM
    assert "logicDevId is 99" in acl.get_recent_err_msg()


@pytest.mark.needs_sim
def test_attributes(configure):
    known = {1: 4, 101: 20, 102: 20, 201: 40, 301: 64 << 30, 302: 192 << 20, 402: 0, 408: 0, 501: 0, 601: 2201}
    assert {attr: acl.rt.get_device_info(0, attr) for attr in known} == {
        attr: (value, 0) for attr, value in known.items()
    }
    for attr in (*range(202, 213), 401, 403, 404, 405, 406, 407):
        assert acl.rt.get_device_info(0, attr) == (0, 0)
    assert acl.rt.get_device_info(0, 409) == (3, 0)


@pytest.mark.needs_sim
def test_attributes_follow_the_chip(configure):
    configure(soc="Ascend910_95")
    assert acl.rt.get_device_info(0, 201) == (64, 0)
    assert acl.rt.get_device_info(0, 601) == (3510, 0)
    assert acl.rt.get_device_info(0, 202)[1] == NOT_SUPPORTED
    configure(soc="Ascend910A")
    assert acl.rt.get_device_info(0, 102) == (32, 0)
    assert acl.rt.get_device_info(0, 301) == (16 << 30, 0)


def test_attribute_codes():
    assert lib.aclrtGetDeviceInfo(0, 101, ffi.NULL) == INVALID_PARAM
    assert acl.rt.get_device_info(4096, 101)[1] == RT_PARAM
    assert acl.rt.get_device_info(0, 999)[1] == RT_PARAM


@pytest.mark.strict
def test_attribute_messages():
    acl.rt.get_device_info(4096, 101)
    assert "aclrtGetDeviceInfo failed because deviceId is 4096, expected less than" in acl.get_recent_err_msg()
    acl.rt.get_device_info(0, 999)
    assert "attr is 999" in acl.get_recent_err_msg()


def test_status():
    assert acl.rt.query_device_status(0) == (0, 0)
    assert acl.rt.query_device_status(4096)[1] == INVALID_DEVICE
    assert acl.rt.query_device_status(-1)[1] == INVALID_DEVICE
    assert lib.aclrtQueryDeviceStatus(0, ffi.NULL) == INVALID_PARAM


@pytest.mark.needs_sim
def test_utilization(configure):
    keys = ("cube_utilization", "vector_utilization", "aicpu_utilization", "memory_utilization")
    info, ret = acl.rt.get_device_utilization_rate(0)
    assert (ret, [info[key] for key in keys]) == (0, [0, 0, 0, -1])
    info, ret = acl.rt.get_device_utilization_rate(77)
    assert (ret, [info[key] for key in keys]) == (0, [-1] * 4)
    configure(soc="Ascend910A")
    assert acl.rt.get_device_utilization_rate(0)[0]["vector_utilization"] == -1


def test_utilization_codes():
    info = ffi.new("aclrtUtilizationInfo *")
    info.utilizationExtend = ffi.cast("aclrtUtilizationExtendInfo *", 16)
    assert lib.aclrtGetDeviceUtilizationRate(0, info) == INVALID_PARAM
    assert lib.aclrtGetDeviceUtilizationRate(0, ffi.NULL) == INVALID_PARAM


def test_ts_device():
    assert acl.rt.set_ts_device(0) == 0
    assert acl.rt.set_ts_device(1) == 0
    assert acl.rt.set_ts_device(2) == INVALID_PARAM


def test_priority_range():
    least, greatest = ffi.new("int32_t *"), ffi.new("int32_t *")
    assert lib.aclrtDeviceGetStreamPriorityRange(least, greatest) == 0
    assert (least[0], greatest[0]) == (7, 0)
    assert lib.aclrtDeviceGetStreamPriorityRange(ffi.NULL, ffi.NULL) == 0


@pytest.mark.needs_sim
def test_bus_ids(configure):
    configure(devices=2)
    text, device = ffi.new("char[13]"), ffi.new("int32_t *")
    seen = set()
    for expected in (0, 1):
        assert lib.aclrtDeviceGetPCIBusId(expected, text, 13) == 0
        seen.add(ffi.string(text))
        assert lib.aclrtDeviceGetByPCIBusId(text, device) == 0
        assert device[0] == expected
    assert seen == {b"0000:01:00.0", b"0000:02:00.0"}
    assert lib.aclrtDeviceGetPCIBusId(0, ffi.NULL, 13) == INVALID_PARAM
    assert lib.aclrtDeviceGetPCIBusId(2, text, 13) == INVALID_DEVICE
    assert lib.aclrtDeviceGetPCIBusId(0, text, 12) == RT_PARAM
    assert "len is 12, expected at least 13" in acl.get_recent_err_msg()
    assert lib.aclrtDeviceGetByPCIBusId(ffi.NULL, device) == INVALID_PARAM
    assert lib.aclrtDeviceGetByPCIBusId(text, ffi.NULL) == INVALID_PARAM
    assert lib.aclrtDeviceGetByPCIBusId(b"0000:99:00.0", device) == RT_PARAM
    assert '"0000:99:00.0"' in acl.get_recent_err_msg()
    configure(soc="Ascend310P3")
    assert lib.aclrtDeviceGetPCIBusId(0, text, 13) == NOT_SUPPORTED
    assert lib.aclrtDeviceGetByPCIBusId(text, device) == NOT_SUPPORTED


@pytest.mark.needs_sim
def test_identities_differ(configure):
    configure(devices=2)
    seen = [acl.rt.device_get_uuid(device) for device in (0, 1, 0)]
    assert [ret for _, ret in seen] == [0, 0, 0]
    one, other, again = (tuple(uuid["bytes"]) for uuid, _ in seen)
    assert len(one) == 16
    assert one == again
    assert one != other
    assert lib.aclrtDeviceGetUuid(0, ffi.NULL) == INVALID_PARAM
    assert acl.rt.device_get_uuid(2) == ({}, INVALID_DEVICE)
    assert acl.rt.device_get_uuid(-1) == ({}, INVALID_DEVICE)
    configure(devices=2, soc="Ascend910_9392")
    assert tuple(acl.rt.device_get_uuid(0)[0]["bytes"]) not in (one, other)
    configure(soc="Ascend310P3")
    assert acl.rt.device_get_uuid(0) == ({}, NOT_SUPPORTED)
    assert "Ascend310P3 does not report its identity" in acl.get_recent_err_msg()


HCCS, PIX, HCCS_SW = 1, 2, 64


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "same", "other"),
    [
        ("Ascend910B3", HCCS, HCCS),
        ("Ascend910_9392", HCCS, HCCS_SW),
        ("Ascend910A", HCCS, HCCS),
        ("Ascend310P3", PIX, PIX),
    ],
)
def test_links(configure, soc, same, other):
    configure(devices=2, soc=soc)
    assert acl.rt.get_devices_topo(0, 0) == (same, 0)
    assert acl.rt.get_devices_topo(0, 1) == acl.rt.get_devices_topo(1, 0) == (other, 0)
    assert acl.rt.get_devices_topo(0, 2)[1] == INVALID_DEVICE
    assert "deviceId is 2" in acl.get_recent_err_msg()
    assert acl.rt.get_devices_topo(2**32 - 1, 0)[1] == INVALID_DEVICE
    assert lib.aclrtGetDevicesTopo(0, 0, ffi.NULL) == INVALID_PARAM


@pytest.mark.needs_sim
def test_capabilities(configure):
    assert [acl.rt.get_device_capability(0, feature) for feature in (1, 21)] == [(1, 0), (0, 0)]
    configure(soc="Ascend910A")
    assert [acl.rt.get_device_capability(0, feature) for feature in (1, 21)] == [(0, 0), (0, 0)]
    assert acl.rt.get_device_capability(0, 2)[1] == RT_PARAM
    assert "devFeatureType is 2, expected 1 or 21" in acl.get_recent_err_msg()
    assert acl.rt.get_device_capability(1, 1)[1] == INVALID_DEVICE
    assert acl.rt.get_device_capability(-1, 1)[1] == INVALID_DEVICE
    assert lib.aclrtGetDeviceCapability(0, 1, ffi.NULL) == INVALID_PARAM


@pytest.mark.needs_sim
def test_the_older_list_of_properties(configure):
    assert [acl.get_device_capability(0, info) for info in range(3)] == [(20, 0), (40, 0), (192 << 20, 0)]
    configure(soc="Ascend910A")
    assert [acl.get_device_capability(0, info) for info in range(3)] == [(32, 0), (0, 0), (32 << 20, 0)]
    assert acl.get_device_capability(1, 0)[1] == INVALID_PARAM
    assert "deviceId is 1, expected less than 1" in acl.get_recent_err_msg()
    for info in (-1, 3):
        assert acl.get_device_capability(0, info)[1] == INVALID_PARAM
        assert f"deviceInfo is {info}, expected 0 to 2" in acl.get_recent_err_msg()
    assert lib.aclGetDeviceCapability(0, 0, ffi.NULL) == INVALID_PARAM


def test_cache_flush_needs_a_context(device):
    assert lib.aclrtDeviceL2CacheFlush(ffi.NULL) == 0
    assert lib.aclrtDeviceL2CacheFlush(ffi.cast("void *", 1)) == INVALID_PARAM
    assert acl.rt.reset_device(device) == 0
    assert lib.aclrtDeviceL2CacheFlush(ffi.NULL) == CONTEXT_NULL


def test_overflow_status_is_clear_at_first(device, stream):
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    status = ffi.new("unsigned char[64]", [255] * 64)
    host = int(ffi.cast("uintptr_t", status))
    assert acl.rt.memcpy(address, 64, host, 64, 1) == 0
    pointer, handle = ffi.cast("void *", address), ffi.cast("void *", stream)
    assert lib.aclrtNpuGetFloatOverFlowStatus(pointer, 64, 0, handle) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.memcpy(host, 64, address, 64, 2) == 0
    assert bytes(status) == bytes(64)
    assert lib.aclrtNpuGetFloatOverFlowStatus(ffi.NULL, 64, 0, handle) == RT_PARAM
    assert lib.aclrtNpuGetFloatOverFlowStatus(pointer, 63, 0, handle) == RT_PARAM
    assert acl.rt.free(address) == 0


@pytest.mark.strict
@pytest.mark.finds("use-after-free")
def test_overflow_status_on_dead_things(device, stream):
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    pointer = ffi.cast("void *", address)
    assert lib.aclrtNpuGetFloatOverFlowStatus(pointer, 64, 0, ffi.cast("void *", 12345)) == 107017
    assert acl.rt.free(address) == 0
    assert lib.aclrtNpuGetFloatOverFlowStatus(pointer, 64, 0, ffi.cast("void *", stream)) == RT_PARAM
    assert "outputAddr" in acl.get_recent_err_msg()


def test_overflow_status_needs_a_context():
    assert lib.aclrtNpuGetFloatOverFlowStatus(ffi.cast("void *", 64), 64, 0, ffi.NULL) == CONTEXT_NULL
