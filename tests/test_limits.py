"""Switches, time-outs, sizes and shares of cores: kept, told, and put in order."""

import json

import pytest
from helpers.expect import NULL, in_thread, latches, pointer, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

KIB, MIB = 1 << 10, 1 << 20
CUBE, VECTOR = 0, 1
DETERMINISTIC, DEBUG, CONSISTENT, EARLY = range(4)
SIMT_STACK, SIMT_DIVERGENCE, SIMD_STACK, SIMD_FIFO, SIMT_FIFO = range(5)
PA2, PA3, P950 = "Ascend910B3", "Ascend910_9392", "Ascend910_95"
P310B, P310P, P910 = "Ascend310B1", "Ascend310P3", "Ascend910A"


@pytest.fixture
def opened(configure):
    """Open device 0 of a library that has nothing set."""
    assert acl.rt.set_device(0) == 0


# ---- switches ----


@pytest.mark.parametrize("option", [DETERMINISTIC, DEBUG, CONSISTENT, EARLY])
def test_process_switches_start_at_zero_and_are_kept(configure, option):
    assert acl.rt.get_sys_param_opt(option) == (0, 0)
    assert acl.rt.set_sys_param_opt(option, 1) == 0
    assert in_thread(lambda: acl.rt.get_sys_param_opt(option)) == (1, 0)
    assert [acl.rt.get_sys_param_opt(other)[0] for other in range(4) if other != option] == [0] * 3


@pytest.mark.parametrize("option", [DETERMINISTIC, DEBUG, CONSISTENT])
def test_context_switches_are_of_one_context(opened, option):
    refused(acl.rt.ctx_get_sys_param_opt(option)[1], 107021, f"opt is {option}", "aclrtCtxSetSysParamOpt")
    assert acl.rt.ctx_set_sys_param_opt(option, 0) == 0
    assert acl.rt.ctx_get_sys_param_opt(option) == (0, 0)
    assert acl.rt.ctx_set_sys_param_opt(option, 1) == 0
    assert acl.rt.ctx_get_sys_param_opt(option) == (1, 0)
    assert acl.rt.get_sys_param_opt(option) == (0, 0)
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    assert acl.rt.ctx_get_sys_param_opt(option)[1] == 107021
    assert acl.rt.destroy_context(context) == 0


def test_deterministic_has_four_levels(configure):
    for value in range(4):
        assert acl.rt.set_sys_param_opt(DETERMINISTIC, value) == 0
        assert acl.rt.get_sys_param_opt(DETERMINISTIC) == (value, 0)


# ---- time-outs ----


@pytest.mark.parametrize("wait", ["aclrtStreamWaitEvent", "aclrtStreamWaitEventWithFlag"])
def test_waits_for_events_follow_the_process(opened, wait):
    (stream, _), (other, _) = acl.rt.create_stream(), acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    more = (2**32 - 1, 0) if wait.endswith("Flag") else ()
    with latches(stream) as held:
        held.hold()
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.set_op_wait_timeout(1) == 0
        assert getattr(lib, wait)(pointer(other), pointer(event), *more) == 0
        assert acl.rt.set_op_wait_timeout(0) == 0
        refused(acl.rt.synchronize_stream_with_timeout(other, 10000), 107020, "aclrtStreamWaitEvent")
        assert getattr(lib, wait)(pointer(other), pointer(event), *more) == 0
        assert acl.rt.synchronize_stream_with_timeout(other, 1) == 507046
    assert acl.rt.synchronize_stream(other) == 0


def test_a_chip_takes_the_time_out_of_waits_and_ignores_it(configure):
    configure(soc=P910)
    assert acl.rt.set_device(0) == 0
    (stream, _), (other, _) = acl.rt.create_stream(), acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    acl.sim.hold(stream)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.set_op_wait_timeout(1) == 0
    assert acl.rt.stream_wait_event(other, event) == 0
    assert acl.rt.synchronize_stream_with_timeout(other, 1200) == 507046
    acl.sim.release(stream)
    assert acl.rt.synchronize_stream(other) == 0


@pytest.mark.parametrize(
    ("soc", "interval", "default"),
    [(PA2, 4294967, 1091000), (P310P, 2147483, 547000), (P910, 268435, 68000)],
)
def test_operators_may_take_whole_intervals(configure, soc, interval, default):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_op_timeout_interval() == (interval, 0)
    assert acl.rt.get_op_execute_timeout() == (default, 0)
    for wanted, steps in [(1, 1), (interval, 1), (interval + 1, 2), (0, 254), (255 * interval, 254), (2**64 - 1, 254)]:
        assert acl.rt.set_op_execute_timeout_v2(wanted) == (steps * interval, 0)
        assert acl.rt.get_op_execute_timeout() == (steps * interval // 1000, 0)
    assert acl.rt.set_op_execute_time_out(1) == 0
    assert acl.rt.get_op_execute_timeout() == (-(-1000000 // interval) * interval // 1000, 0)
    assert acl.rt.set_op_execute_time_out(0) == 0
    assert acl.rt.get_op_execute_timeout() == (254 * interval // 1000, 0)


# ---- sizes on the device ----


@pytest.mark.parametrize(
    ("soc", "limit", "default", "kept"),
    [
        (PA2, SIMD_STACK, 32 * KIB, {0: 32, 1: 32, 32 * KIB + 1: 48, 192 * KIB: 192}),
        (P950, SIMD_STACK, 32 * KIB, {128 * KIB: 128, 127 * KIB: 128}),
        (PA3, SIMD_FIFO, 32 * KIB, {KIB: 1, 2 * KIB - 7: 2, 64 * MIB: 64 * KIB}),
        (P950, SIMT_FIFO, 2 * MIB, {MIB: KIB, 64 * MIB - 1: 64 * KIB}),
        (P950, SIMT_STACK, 1152 * 32, {0: 0, 1: 4, 128: 4, 129: 8}),
    ],
)
def test_sizes_are_rounded_up(configure, soc, limit, default, kept):
    configure(soc=soc)
    assert acl.rt.device_get_limit(limit) == (default, 0)
    for value, kib in kept.items():
        assert acl.rt.device_set_limit(limit, value) == 0
        assert acl.rt.device_get_limit(limit) == (kib * KIB, 0)


def test_one_simt_stack_is_above_zero(configure):
    configure(soc=P950)
    assert acl.rt.device_get_limit(SIMT_DIVERGENCE) == (1024, 0)
    assert acl.rt.device_set_limit(SIMT_STACK, 0) == 0
    refused(acl.rt.device_set_limit(SIMT_DIVERGENCE, 0), 107000, "value is 0", "one above 0")
    assert acl.rt.device_get_limit(SIMT_DIVERGENCE) == (1024, 0)
    assert acl.rt.device_set_limit(SIMT_STACK, 1) == 0
    assert acl.rt.device_set_limit(SIMT_DIVERGENCE, 0) == 0


def test_sizes_go_through_device_zero(run_script):
    code = "import acl\nprint(acl.rt.device_get_limit(2)[1], acl.rt.device_set_limit(2, 9), acl.get_recent_err_msg())"
    done = run_script(code, {"ASCEND_RT_VISIBLE_DEVICES": "1", "ACL_SIM_DEVICES": "2", "ACL_SIM_SOC": None})
    assert done.stdout.startswith("107001 107001") and "hides device 0" in done.stdout, done.stderr


def test_the_file_of_init_sets_sizes(configure, tmp_path):
    file = tmp_path / "acl.json"
    stacks = {"aicore_stack_size": 65536, "simt_stack_size": 0, "simt_divergence_stack_size": 0}
    file.write_text(
        json.dumps({"StackSize": stacks, "simd_printf_fifo_size_per_core": 2048, "simt_printf_fifo_size": MIB})
    )
    configure(soc=P950)
    assert acl.init(str(file)) == 0
    assert acl.rt.device_get_limit(SIMD_STACK) == (65536, 0)
    assert acl.rt.device_get_limit(SIMT_STACK) == (0, 0)
    assert acl.rt.device_get_limit(SIMT_DIVERGENCE) == (1024, 0)  # what is refused is told and left
    assert acl.rt.device_get_limit(SIMD_FIFO) == (2048, 0)
    assert acl.rt.device_get_limit(SIMT_FIFO) == (MIB, 0)
    assert "simt_divergence_stack_size is 0" in acl.get_recent_err_msg()


# ---- cores ----


def test_cores_start_at_the_chips(opened):
    for kind, cores in ((CUBE, 20), (VECTOR, 40)):
        assert acl.rt.get_device_res_limit(0, kind) == (cores, 0)
        assert acl.rt.get_stream_res_limit(0, kind) == (cores, 0)
        assert acl.rt.get_res_in_current_thread(kind) == (cores, 0)


def test_a_stream_in_use_goes_before_the_device(opened):
    stream, _ = acl.rt.create_stream()
    assert acl.rt.set_device_res_limit(0, VECTOR, 10) == 0
    assert acl.rt.get_stream_res_limit(stream, VECTOR) == (10, 0)
    assert acl.rt.set_stream_res_limit(stream, VECTOR, 4) == 0
    assert acl.rt.get_res_in_current_thread(VECTOR) == (10, 0)
    assert acl.rt.use_stream_res_in_current_thread(stream) == 0
    assert acl.rt.get_res_in_current_thread(VECTOR) == (4, 0)
    assert acl.rt.get_res_in_current_thread(CUBE) == (20, 0)

    def elsewhere():
        assert acl.rt.set_device(0) == 0
        return acl.rt.get_res_in_current_thread(VECTOR)

    assert in_thread(elsewhere) == (10, 0)
    assert acl.rt.reset_stream_res_limit(stream) == 0
    assert acl.rt.get_res_in_current_thread(VECTOR) == (10, 0)
    assert acl.rt.reset_device_res_limit(0) == 0
    assert acl.rt.get_res_in_current_thread(VECTOR) == (40, 0)


def test_the_last_stream_in_use_counts(opened):
    (one, _), (other, _) = acl.rt.create_stream(), acl.rt.create_stream()
    for stream, cores in ((one, 1), (other, 2), (0, 3)):
        assert acl.rt.set_stream_res_limit(stream, CUBE, cores) == 0
        assert acl.rt.use_stream_res_in_current_thread(stream) == 0
        assert acl.rt.get_res_in_current_thread(CUBE) == (cores, 0)
    assert acl.rt.unuse_stream_res_in_current_thread(one) == 0
    assert acl.rt.get_res_in_current_thread(CUBE) == (3, 0)
    assert acl.rt.unuse_stream_res_in_current_thread(0) == 0
    assert acl.rt.get_res_in_current_thread(CUBE) == (20, 0)


def test_a_destroyed_stream_is_not_in_use(opened):
    stream, _ = acl.rt.create_stream()
    assert acl.rt.set_stream_res_limit(stream, CUBE, 1) == 0
    assert acl.rt.use_stream_res_in_current_thread(stream) == 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.get_res_in_current_thread(CUBE) == (20, 0)
    fresh, _ = acl.rt.create_stream()
    assert acl.rt.get_stream_res_limit(fresh, CUBE) == (20, 0)


def test_devices_have_limits_of_their_own(configure):
    configure(devices=2)
    assert acl.rt.set_device_res_limit(1, CUBE, 5) == 0
    assert [acl.rt.get_device_res_limit(device, CUBE) for device in (0, 1)] == [(20, 0), (5, 0)]
    assert acl.rt.set_device(1) == 0
    assert acl.rt.get_res_in_current_thread(CUBE) == (5, 0)


# ---- what is refused ----

WORD = ffi.new("uint32_t *")
GARBAGE = pointer(0x1234567)
ERRORS = [  # call with device 0 set; code; what the message names
    (lambda: acl.rt.set_sys_param_opt(4, 0), 100000, "opt is 4"),
    (lambda: acl.rt.set_sys_param_opt(-1, 0), 100000, "opt is -1"),
    (lambda: acl.rt.set_sys_param_opt(DETERMINISTIC, 4), 107000, "value is 4, expected 0 to 3"),
    (lambda: acl.rt.set_sys_param_opt(DEBUG, 2), 107000, "value is 2, expected 0 to 1"),
    (lambda: acl.rt.set_sys_param_opt(EARLY, -1), 107000, "value is -1"),
    (lambda: acl.rt.get_sys_param_opt(4)[1], 100000, "opt is 4"),
    (lambda: lib.aclrtGetSysParamOpt(0, NULL), 100000, "value is NULL"),
    (lambda: acl.rt.ctx_set_sys_param_opt(EARLY, 0), 100000, "opt is 3"),
    (lambda: acl.rt.ctx_set_sys_param_opt(CONSISTENT, 2), 107000, "value is 2"),
    (lambda: acl.rt.ctx_get_sys_param_opt(EARLY)[1], 100000, "opt is 3"),
    (lambda: lib.aclrtCtxGetSysParamOpt(0, NULL), 100000, "value is NULL"),
    (lambda: lib.aclrtSetOpExecuteTimeOutWithMs(10), 207000, "aclrtSetOpExecuteTimeOutV2"),
    (lambda: lib.aclrtSetOpExecuteTimeOutV2(1, NULL), 100000, "actualTimeout is NULL"),
    (lambda: lib.aclrtGetOpTimeOutInterval(NULL), 100000, "interval is NULL"),
    (lambda: acl.rt.device_set_limit(5, 0), 100000, "limit is 5"),
    (lambda: acl.rt.device_set_limit(SIMD_STACK, 2**32), 100000, "value is 4294967296"),
    (lambda: acl.rt.device_set_limit(SIMT_STACK, 1024), 207000, "limit is 0"),
    (lambda: acl.rt.device_set_limit(SIMT_FIFO, MIB), 207000, "limit is 4"),
    (lambda: acl.rt.device_set_limit(SIMD_STACK, 192 * KIB + 1), 107000, "expected 32768 to 196608"),
    (lambda: acl.rt.device_set_limit(SIMD_FIFO, 1023), 107000, "expected 1024 to 67108864"),
    (lambda: acl.rt.device_set_limit(SIMD_FIFO, 64 * MIB + 1), 107000, "expected 1024 to 67108864"),
    (lambda: acl.rt.device_get_limit(5)[1], 100000, "limit is 5"),
    (lambda: lib.aclrtDeviceGetLimit(SIMD_STACK, NULL), 100000, "value is NULL"),
    (lambda: acl.rt.device_get_limit(SIMT_DIVERGENCE)[1], 207000, "limit is 1"),
    (lambda: acl.rt.set_device_res_limit(-1, CUBE, 1), 107001, "deviceId is -1"),
    (lambda: acl.rt.set_device_res_limit(99, CUBE, 1), 107001, "deviceId is 99"),
    (lambda: acl.rt.set_device_res_limit(0, 2, 1), 107000, "type is 2"),
    (lambda: acl.rt.set_device_res_limit(0, CUBE, 0), 107000, "value is 0, expected 1 to 20"),
    (lambda: acl.rt.set_device_res_limit(0, VECTOR, 41), 107000, "value is 41, expected 1 to 40"),
    (lambda: acl.rt.get_device_res_limit(-1, CUBE)[1], 107001, "deviceId is -1"),
    (lambda: acl.rt.get_device_res_limit(0, -1)[1], 107000, "type is -1"),
    (lambda: lib.aclrtGetDeviceResLimit(0, CUBE, NULL), 100000, "value is NULL"),
    (lambda: acl.rt.reset_device_res_limit(99), 107001, "deviceId is 99"),
    (lambda: lib.aclrtSetStreamResLimit(GARBAGE, CUBE, 1), 107017, "0x1234567"),
    (lambda: acl.rt.set_stream_res_limit(0, 2, 1), 107000, "type is 2"),
    (lambda: acl.rt.set_stream_res_limit(0, CUBE, 21), 107000, "value is 21"),
    (lambda: lib.aclrtGetStreamResLimit(GARBAGE, CUBE, WORD), 107017, "0x1234567"),
    (lambda: lib.aclrtGetStreamResLimit(NULL, CUBE, NULL), 100000, "value is NULL"),
    (lambda: acl.rt.get_stream_res_limit(0, 2)[1], 107000, "type is 2"),
    (lambda: lib.aclrtResetStreamResLimit(GARBAGE), 107017, "0x1234567"),
    (lambda: lib.aclrtUseStreamResInCurrentThread(GARBAGE), 107017, "0x1234567"),
    (lambda: lib.aclrtUnuseStreamResInCurrentThread(GARBAGE), 107017, "0x1234567"),
    (lambda: acl.rt.get_res_in_current_thread(2)[1], 107000, "type is 2"),
    (lambda: lib.aclrtGetResInCurrentThread(CUBE, NULL), 100000, "value is NULL"),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(opened, row):
    call, code, words = ERRORS[row]
    refused(call(), code, words)


@pytest.mark.parametrize(
    "call",
    [
        lambda: acl.rt.ctx_set_sys_param_opt(0, 1),
        lambda: acl.rt.ctx_get_sys_param_opt(0)[1],
        lambda: acl.rt.set_op_execute_timeout_v2(1)[1],
        lambda: acl.rt.set_stream_res_limit(0, CUBE, 1),
        lambda: acl.rt.get_stream_res_limit(0, CUBE)[1],
        lambda: acl.rt.reset_stream_res_limit(0),
        lambda: acl.rt.use_stream_res_in_current_thread(0),
        lambda: acl.rt.unuse_stream_res_in_current_thread(0),
        lambda: acl.rt.get_res_in_current_thread(CUBE)[1],
    ],
)
def test_calls_that_want_a_context(configure, call):
    assert in_thread(call) == 107002


@pytest.mark.parametrize("soc", [P310B, P310P, P910])
def test_chips_without_limits_of_sizes(configure, soc):
    configure(soc=soc)
    for limit in range(5):
        refused(acl.rt.device_set_limit(limit, MIB), 207000, soc)
        refused(acl.rt.device_get_limit(limit)[1], 207000, soc)


def test_chip_without_a_time_out_of_waits(configure):
    configure(soc=P310P)
    refused(acl.rt.set_op_wait_timeout(1), 207000, P310P)


def test_chip_without_vector_cores(configure):
    configure(soc=P910)
    refused(acl.rt.set_device_res_limit(0, VECTOR, 1), 107000, "value is 1", "has no cores")
    assert acl.rt.get_device_res_limit(0, VECTOR) == (0, 0)
