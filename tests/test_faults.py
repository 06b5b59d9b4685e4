"""Faults: calls and tasks that fail on purpose, slow streams, hangs, and a device that is lost."""

import os
import time

import numpy
import pytest
from helpers import programs

import acl

pytestmark = pytest.mark.needs_sim

C_PROGRAM = """
#include <acl/acl.h>
#include <stdio.h>
int main(void)
{
    void *block;
    int failed = 0;
    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0)
        return 2;
    for (int i = 0; i < 5; i++)
        failed = failed * 10 + (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == 207001);
    printf("%05d %s\\n", failed, aclGetRecentErrMsg());
    return aclrtResetDevice(0) | aclFinalize();
}
"""


def mallocs(count, size=64):
    """The codes of several allocations."""
    return [acl.rt.malloc(size, 0)[1] for _ in range(count)]


def memsets(stream, memory, count):
    """The codes of several tasks."""
    return [acl.rt.memset_async(memory, 64, 1, 64, stream) for _ in range(count)]


@pytest.fixture
def area(memory):
    """64 bytes of device memory."""
    return memory.block(64)


def memory_bytes(address, size):
    """The bytes of device memory."""
    host = numpy.zeros(size, "u1")
    assert acl.rt.memcpy(host.ctypes.data, size, address, size, 2) == 0
    return host.tobytes()


# ---- calls


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        ("malloc:3", [0, 0, 1, 0, 0]),
        ("malloc", [1, 1, 1, 1, 1]),
        ("malloc:4+", [0, 0, 0, 1, 1]),
        ("malloc:2-3", [0, 1, 1, 0, 0]),
        ("aclrtMalloc#1", [1, 0, 0, 0, 0]),
        ("any:2", [0, 1, 0, 0, 0]),
        ("malloc_host:1", [0, 0, 0, 0, 0]),
        ("malloc:1; malloc:3", [1, 0, 1, 0, 0]),
        (" malloc : 5 ;", [0, 0, 0, 0, 1]),
        ("none", [0, 0, 0, 0, 0]),
    ],
)
def test_the_named_calls_fail_with_the_code_for_no_memory(device, fault, codes):
    with acl.sim.faults(fault) as faults:
        assert mallocs(5) == [207001 * failed for failed in codes]
    assert faults.struck == sum(codes)
    assert mallocs(1) == [0]


@pytest.mark.parametrize(
    ("fault", "call", "code"),
    [
        ("create_stream", lambda: acl.rt.create_stream()[1], 207008),
        ("create_event", lambda: acl.rt.create_event()[1], 207007),
        ("malloc_host", lambda: acl.rt.malloc_host(64)[1], 207001),
        ("memcpy", lambda: acl.rt.memcpy(0, 0, 0, 0, 0), 507899),
        ("get_mem_info", lambda: acl.rt.get_mem_info(0)[2], 507899),
        ("mdl_load_from_file", lambda: acl.mdl.load_from_file("none.om")[1], 500001),
        ("free:code=507000", lambda: acl.rt.free(0), 507000),
    ],
)
def test_each_function_has_a_code_of_its_kind(device, fault, call, code):
    with acl.sim.faults(fault) as faults:
        assert call() == code
        assert f'the fault "{fault}" struck (it has counted 1 call)' in acl.get_recent_err_msg()
    assert faults.counts() == [acl.sim.Fault(fault, 1, 1)]


def test_a_handle_that_is_not_made_is_none(device):
    with acl.sim.faults("create_data_buffer"):
        assert acl.create_data_buffer(0, 0) in (None, 0)
    with acl.sim.faults("mdl_create_desc"):
        assert acl.mdl.create_desc() in (None, 0)


def test_an_operator_fails_in_its_phase(device, npu):
    left = acl.DeviceArray.from_numpy(numpy.ones(3, "f4"))
    with acl.sim.faults("aclnnAdd"), pytest.raises(acl.AclError) as caught:
        acl.nn.add(left, left, out=left)
    assert caught.value.code == 507899 and "aclnnAdd failed because the fault" in str(caught.value)
    with acl.sim.faults("aclnnAddGetWorkspaceSize:code=561000"), pytest.raises(acl.AclError) as caught:
        acl.nn.add(left, left, alpha=2, out=left)
    assert caught.value.code == 561000 and "aclnnAddGetWorkspaceSize" in str(caught.value)
    acl.nn.add(left, left, out=left)
    assert (left.to_numpy() == 2).all()
    left.close()


def test_only_large_calls_fail(device):
    with acl.sim.faults("malloc:size>4K") as faults:
        assert [mallocs(1, size)[0] for size in (4096, 4097, 64, 1 << 20)] == [0, 207001, 0, 207001]
    assert faults.counts()[0].counted == 2


def test_a_probability_depends_on_the_seed_only(device):
    def draw(seed):
        with acl.sim.faults(f"malloc:p=0.25,seed={seed}"):
            return [code != 0 for code in mallocs(400)]

    first = draw(7)
    assert first == draw(7) != draw(8)
    assert 60 < sum(first) < 140
    with acl.sim.faults("malloc:p=0"):
        assert mallocs(3) == [0, 0, 0]
    with acl.sim.faults("malloc:p=1"):
        assert mallocs(3) == [207001] * 3


def test_only_calls_of_one_stream_fail(device, stream, other, area):
    number = acl.rt.stream_get_id(stream)[0]
    with acl.sim.faults(f"memset_async@stream{number}"):
        assert memsets(stream, area, 1) == [507899]
        assert memsets(other, area, 1) == [0]
    assert acl.rt.synchronize_stream(other) == 0


def test_any_call_spares_those_that_release(device):
    block, stream = acl.rt.malloc(64, 0)[0], acl.rt.create_stream()[0]
    with acl.sim.faults("any"):
        assert mallocs(1) == [207001]
        assert acl.rt.free(block) == 0
        assert acl.rt.destroy_stream(stream) == 0


def test_a_failed_call_has_done_nothing(device, area):
    assert acl.rt.memset(area, 64, 3, 64) == 0
    with acl.sim.faults("memset:1"):
        assert acl.rt.memset(area, 64, 9, 64) == 507899
    assert memory_bytes(area, 64) == b"\3" * 64
    before = acl.sim.live()
    with acl.sim.faults("malloc"):
        mallocs(3)
    assert acl.sim.live() == before


def test_objects_raise_the_error(device):
    with acl.sim.faults("malloc:1"), pytest.raises(acl.AclError) as caught:
        acl.Buffer(64)
    assert caught.value.code == 207001


def test_c_programs_have_faults_too(compile_c):
    program = compile_c(C_PROGRAM)
    out = programs.run([program], env=programs.environment({"ACL_SIM_FAULTS": "malloc:2; malloc:4+"})).stdout
    assert out.split()[0] == "01011"
    assert 'the fault "malloc:4+" struck (it has counted 5 calls)' in out


# ---- tasks


@pytest.mark.parametrize(
    ("family", "code"),
    [("copy", 507013), ("memory", 507053), ("ecc", 507054), ("any", 507015), ("any code=507011", 507011)],
)
def test_a_task_fails_at_the_next_synchronisation(stream, area, family, code):
    fault = f"task:{family}#2"
    with acl.sim.faults(fault) as faults:
        assert memsets(stream, area, 3) == [0, 0, 0]
        assert acl.rt.synchronize_stream(stream) == code
        assert f'the fault "{fault}" struck' in acl.get_recent_err_msg()
        assert acl.rt.synchronize_stream(stream) == 0
    assert faults.counts() == [acl.sim.Fault(fault, 3, 1)]


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("aicore", 507015),
        ("aicore_timeout", 507014),
        ("vector", 507035),
        ("vector_timeout", 507034),
        ("aicpu", 507018),
        ("aicpu_timeout", 507017),
    ],
)
def test_kernels_fail_and_copies_do_not(stream, area, family, code):
    with acl.sim.faults(f"task:{family}") as faults:
        assert memsets(stream, area, 2) == [0, 0]
        assert acl.rt.synchronize_stream(stream) == 0
        with acl.DeviceArray.from_numpy(numpy.ones(3, "f4")) as array, pytest.raises(acl.AclError) as caught:
            acl.nn.add(array, array, out=array)
        assert caught.value.code == code
    assert faults.counts() == [acl.sim.Fault(f"task:{family}", 1, 1)]


def test_a_failed_task_has_not_run(stream, words):
    with acl.sim.faults("task:any#1"):
        words.set(stream, 0, 5)
        assert acl.rt.synchronize_stream(stream) == 507015
    assert words.numbers()[0] == 0
    words.set(stream, 0, 6)
    assert acl.rt.synchronize_stream(stream) == 0
    assert words.numbers()[0] == 0x06060606


def test_only_tasks_of_one_stream_fail(stream, other, area):
    with acl.sim.faults(f"task:any@stream{acl.rt.stream_get_id(stream)[0]}"):
        assert memsets(stream, area, 1) + memsets(other, area, 1) == [0, 0]
        assert acl.rt.synchronize_stream(other) == 0
        assert acl.rt.synchronize_stream(stream) == 507015


@pytest.mark.parametrize("schedule", ["parallel", "eager"])
def test_slow_tasks_take_their_time_one_by_one(configure, schedule):
    configure(schedule=schedule)
    assert acl.rt.set_device(0) == 0
    stream, block = acl.rt.create_stream()[0], acl.rt.malloc(64, 0)[0]
    with acl.sim.faults("slow:20ms") as faults:
        begin = time.monotonic()
        assert memsets(stream, block, 3) == [0, 0, 0]
        assert acl.rt.synchronize_stream(stream) == 0
        assert time.monotonic() - begin >= 0.06
    assert faults.struck == 3


def test_a_slow_wait_keeps_its_own_time_out(stream, other):
    """The delay is over before the task begins; then its own wait begins."""
    event = acl.rt.create_event_ex_with_flag(1)[0]
    acl.sim.hold(other)
    assert acl.rt.record_event(event, other) == 0
    with acl.sim.faults(f"slow:5ms@stream{acl.rt.stream_get_id(stream)[0]}"):
        assert acl.rt.stream_wait_event(stream, event) == 0
        assert acl.rt.synchronize_stream_with_timeout(stream, 50) == 507046
        acl.sim.release(other)
        assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_event(event) == 0


def test_a_stream_hangs_until_the_faults_end(stream, area):
    with acl.sim.faults("hang:2") as faults:
        assert memsets(stream, area, 3) == [0, 0, 0]
        assert acl.rt.synchronize_stream_with_timeout(stream, 30) == 507046
        assert acl.rt.stream_query(stream)[0] == 1
    assert acl.rt.synchronize_stream(stream) == 0
    assert faults.struck == 1


def test_a_hanging_stream_can_be_aborted(stream, area):
    with acl.sim.faults("hang"):
        assert memsets(stream, area, 2) == [0, 0]
        assert acl.rt.stream_abort(stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_a_reset_ends_a_hang(configure):
    configure(faults="hang")
    assert acl.rt.set_device(0) == 0
    stream, block = acl.rt.create_stream()[0], acl.rt.malloc(64, 0)[0]
    assert memsets(stream, block, 2) == [0, 0]
    acl.sim.reset()
    assert acl.rt.set_device(0) == 0
    assert acl.rt.memset(acl.rt.malloc(64, 0)[0], 64, 1, 64) == 0


def test_steps_of_a_replay_fail(stream, words):
    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    words.set(stream, 0, 5)
    words.set(stream, 1, 6)
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    with acl.sim.faults("task:any#2"):
        assert acl.mdl.ri_execute_async(instance, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 507015
    assert acl.mdl.ri_execute_async(instance, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert words.numbers()[:2] == [0x05050505, 0x06060606]
    assert acl.mdl.ri_destroy(instance) == 0


# ---- a lost device


def test_a_lost_device_refuses_work_until_it_comes_back(stream, area):
    with acl.sim.faults("device_lost:2@for=80ms") as faults:
        assert memsets(stream, area, 3) == [0, 507010, 507010]
        assert acl.rt.synchronize_stream(stream) == 507010
        time.sleep(0.1)
        assert mallocs(1) == [0]
        acl.rt.synchronize_stream(stream)  # tasks of that time have failed
        assert memsets(stream, area, 1) == [0]
        assert acl.rt.synchronize_stream(stream) == 0
    assert faults.struck == 1


def test_a_reset_of_the_device_brings_it_back(device):
    with acl.sim.faults("device_lost"):
        assert mallocs(2) == [507010, 507010]
        assert acl.rt.reset_device(0) == 0
        assert acl.rt.set_device(0) == 0
        assert mallocs(2) == [0, 0]


def test_a_device_is_lost_after_a_time(device):
    with acl.sim.faults("device_lost@t=50ms"):
        assert mallocs(1) == [0]
        time.sleep(0.06)
        assert mallocs(1) == [507010]


def test_faults_begin_and_end_with_their_times(device):
    with acl.sim.faults("malloc:t=40ms for=40ms"):
        assert mallocs(1) == [0]
        time.sleep(0.05)
        assert mallocs(1) == [207001]
        time.sleep(0.05)
        assert mallocs(1) == [0]


# ---- the text and the setting


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mallok", ['"mallok" is not a function that can fail', "device_lost"]),
        ("malloc:0", ['"0" is not a number N above 0']),
        ("malloc:3-2", ['"3-2" is not a number']),
        ("malloc:3x", ['"3x" is not a number']),
        ("malloc:p=2", ['"p=2" is not a probability from 0 to 1']),
        ("malloc:seed=x", ['"seed=x" is not a seed']),
        ("malloc:size>1Q", ['"size>1Q" is not a number of bytes', "size>64M"]),
        ("task:any size>1", ['"size>1" is only for calls']),
        ("malloc:code=0", ['"code=0" is not the code of an error']),
        ("hang:code=5", ['"code=5" is not for slow and hang']),
        ("malloc:t=5", ['"t=5" is not a time with ns, us, ms or s']),
        ("malloc:for=x", ['"for=x" is not a time']),
        ("slow", ['"" is not a time behind slow', "slow:2ms"]),
        ("task", ['"" is not a family of tasks', "aicore_timeout"]),
        ("task:gpu", ['"gpu" is not a family of tasks']),
        ("malloc@streamx", ['"streamx" is not understood', "streamN"]),
        ("malloc:3; x", ['"x" is not a function']),
        ("m" * 80, ["is longer than 63 characters"]),
        ("malloc;" * 33, ["more than 32 faults"]),
        ("malloc" + " " * 600, ["expected at most 511"]),
    ],
)
def test_a_text_that_is_no_fault_is_refused_with_its_word(text, words):
    with pytest.raises(ValueError) as caught, acl.sim.faults(text):
        pass
    for word in words:
        assert word in str(caught.value)
    assert acl.sim.faults().counts() == []


def test_the_setting_counts_from_the_first_device(configure):
    configure(faults="malloc:2")
    assert acl.rt.set_device(0) == 0
    assert mallocs(3) == [0, 207001, 0]
    with acl.sim.faults("malloc:1"):
        assert mallocs(2) == [207001, 0]
    assert mallocs(3) == [0, 207001, 0]  # the setting is in force again
    acl.sim.reset()
    assert acl.sim.get_config("faults") == os.environ.get("ACL_SIM_FAULTS", "none")
    assert acl.rt.set_device(0) == 0
    assert mallocs(3) == [0, 0, 0]


def test_inner_faults_replace_outer_ones(device):
    with acl.sim.faults("malloc") as outer:
        with acl.sim.faults("malloc:2") as inner:
            assert mallocs(2) == [0, 207001]
        assert mallocs(1) == [207001]
    assert (inner.struck, outer.struck) == (1, 1)


def test_a_wrong_variable_is_reported_when_a_device_opens():
    code = "import acl; print(acl.rt.set_device(0), acl.get_recent_err_msg())"
    out = programs.run_script(code, {"ACL_SIM_FAULTS": "mallok"}).stdout
    assert "100000" in out and 'ACL_SIM_FAULTS is "mallok"' in out and "such as malloc:3" in out


def test_a_child_of_a_fork_has_the_faults(device):
    with acl.sim.faults("malloc:3"):
        assert mallocs(2) == [0, 0]
        child = os.fork()
        if child == 0:
            os._exit(acl.rt.malloc(64, 0)[1] != 207001)
        assert os.waitpid(child, 0)[1] == 0
        assert mallocs(1) == [207001]
