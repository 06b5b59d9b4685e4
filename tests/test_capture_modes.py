"""What may be called while streams capture: the table of unsafe calls, and what is illegal or allowed in every mode.

A refused call changes nothing: no byte moves, and the capture goes on.
"""

import numpy
import pytest
from helpers.capture import (
    ACTIVE,
    GLOBAL,
    INVALIDATED,
    NONE,
    RELAXED,
    THREAD_LOCAL,
    begin,
    building,
    check_free,
    check_unharmed,
    end,
    fork,
    give_up,
    in_other_context,
    invalidate,
    relaxed,
    run,
    status,
)
from helpers.expect import in_thread, pointer, refused

import acl
from acl._lib import lib

MODES = {"global": GLOBAL, "thread-local": THREAD_LOCAL, "relaxed": RELAXED}
HOST_TO_HOST, TO_DEVICE, TO_HOST, ON_DEVICE, STAGED = 0, 1, 2, 3, 5
FILL = 0x5A
mdl, rt = acl.mdl, acl.rt


class Memory:
    """A source and a target on the device, words 0 and 1, and in ordinary memory; targets are 0, sources FILL."""

    def __init__(self, words):
        self.words = words
        with relaxed():
            assert rt.memset(words.address, 4, FILL, 4) == 0
        self.source, self.target = words.at(0), words.at(1)
        self.arrays = numpy.full(4, FILL, "u1"), numpy.zeros(4, "u1")
        self.host_source, self.host_target = (array.ctypes.data for array in self.arrays)

    def moved(self, place):
        """Return whether the target was written, all of it or nothing."""
        value = self.words.read()[1] if place == "device" else int(self.arrays[1][0])
        assert value in (0, FILL)
        assert place == "device" or set(self.arrays[1]) == {value}
        return value == FILL


# name: where the target lies, code of the refusal, call with the stream that asynchronous ones use
UNSAFE = {
    "copy host to host": ("host", 107030, lambda m, s: rt.memcpy(m.host_target, 4, m.host_source, 4, HOST_TO_HOST)),
    "copy to device": ("device", 107030, lambda m, s: rt.memcpy(m.target, 4, m.host_source, 4, TO_DEVICE)),
    "copy to host": ("host", 107030, lambda m, s: rt.memcpy(m.host_target, 4, m.source, 4, TO_HOST)),
    "copy on device": ("device", 107030, lambda m, s: rt.memcpy(m.target, 4, m.source, 4, ON_DEVICE)),
    "set": ("device", 107030, lambda m, s: rt.memset(m.target, 4, FILL, 4)),
    "2-D copy to device": ("device", 107030, lambda m, s: rt.memcpy2d(m.target, 2, m.host_source, 2, 2, 2, TO_DEVICE)),
    "2-D copy to host": ("host", 107030, lambda m, s: rt.memcpy2d(m.host_target, 2, m.source, 2, 2, 2, TO_HOST)),
    "pageable to device": ("device", 107041, lambda m, s: rt.memcpy_async(m.target, 4, m.host_source, 4, TO_DEVICE, s)),
    "pageable to host": ("host", 107041, lambda m, s: rt.memcpy_async(m.host_target, 4, m.source, 4, TO_HOST, s)),
    "pageable 2-D to device": (
        "device", 107041, lambda m, s: rt.memcpy2d_async(m.target, 2, m.host_source, 2, 2, 2, TO_DEVICE, s)),
    "pageable 2-D to host": (
        "host", 107041, lambda m, s: rt.memcpy2d_async(m.host_target, 2, m.source, 2, 2, 2, TO_HOST, s)),
}  # fmt: skip

# (mode of the capture, exchange mode of the thread): allowed on the thread that began it, on another thread
ALLOWED = {
    ("global", "global"): (False, False),
    ("global", "thread-local"): (False, True),
    ("global", "relaxed"): (True, True),
    ("thread-local", "global"): (False, True),
    ("thread-local", "thread-local"): (False, True),
    ("thread-local", "relaxed"): (True, True),
    ("relaxed", "global"): (True, True),
    ("relaxed", "thread-local"): (True, True),
    ("relaxed", "relaxed"): (True, True),
}


def allowed(call, memory, stream, exchange="global"):
    """Make an unsafe call in an exchange mode of the thread; return whether it was allowed, as code and data say."""
    place, code, function = UNSAFE[call]
    before, ret = mdl.ri_capture_thread_exchange_mode(MODES[exchange])
    assert ret == 0
    ret = function(memory, stream)
    assert mdl.ri_capture_thread_exchange_mode(before) == (MODES[exchange], 0)
    if ret != 0:
        refused(ret, code, "a stream of the current context is being captured in mode", "aclmdlRICaptureEnd")
    assert memory.moved(place) == (ret == 0)
    return ret == 0


@pytest.mark.parametrize("call", UNSAFE)
@pytest.mark.parametrize("thread", ["same", "other"])
@pytest.mark.parametrize(("mode", "exchange"), ALLOWED)
def test_unsafe_calls(stream, other, words, mode, exchange, thread, call):
    """Transposes Unit_hipStreamBeginCapture_Negative_UnsafeCallsDuringCapture,
    Unit_hipThreadExchangeStreamCaptureMode_Positive_Functional and
    Unit_hipStreamEndCapture_mode_hipStreamCaptureModeRelaxed: capture modes x exchange modes x threads x calls.
    """
    memory = Memory(words)
    begin(stream, MODES[mode])
    assert words.set(stream, 2, 7) == 0
    if thread == "same":
        found = allowed(call, memory, other, exchange)
    else:
        found = in_thread(lambda: rt.set_device(0) or allowed(call, memory, other, exchange))
    assert found == ALLOWED[mode, exchange][thread == "other"]
    assert words.read()[2] == 0
    check_unharmed(words, stream, 2)
    assert allowed(call, Memory(words), other)


@pytest.mark.parametrize("call", UNSAFE)
def test_without_a_capture_everything_is_allowed(stream, words, call):
    for exchange in MODES:
        assert allowed(call, Memory(words), stream, exchange)


@pytest.mark.parametrize(
    ("open_modes", "exchange", "expected"),
    [
        (("relaxed", "thread-local"), "global", (False, True)),
        (("relaxed", "global"), "global", (False, False)),
        (("thread-local", "global"), "global", (False, False)),
        (("thread-local", "global"), "thread-local", (False, True)),
        (("thread-local", "relaxed"), "relaxed", (True, True)),
        (("relaxed", "relaxed"), "global", (True, True)),
    ],
)
def test_the_strictest_open_capture_governs(stream, other, words, open_modes, exchange, expected):
    """Two captures of one thread; each is ended in turn, and then what is left governs."""
    third, _ = rt.create_stream()
    begin(stream, MODES[open_modes[0]])
    begin(other, MODES[open_modes[1]])

    def found():
        memory = Memory(words)
        here = allowed("set", memory, third, exchange)
        there = in_thread(lambda: rt.set_device(0) or allowed("copy to host", Memory(words), third, exchange))
        return here, there

    assert found() == expected
    with relaxed():
        assert rt.memset(words.at(1), 4, 0, 4) == 0
    assert mdl.ri_destroy(end(stream)) == 0
    assert found() == ALLOWED[open_modes[1], exchange]
    assert mdl.ri_destroy(end(other)) == 0
    check_free(words, stream, other)
    assert rt.destroy_stream(third) == 0


def test_the_threads_own_capture_counts_for_its_own_mode(stream, other, words):
    """A thread-local capture of one thread, a global one of another; thread-local looks at the own one."""
    third, _ = rt.create_stream()
    begin(stream, GLOBAL)

    def elsewhere():
        assert rt.set_device(0) == 0
        assert not allowed("set", Memory(words), third, "global")
        begin(other, RELAXED)
        assert allowed("copy to host", Memory(words), third, "thread-local")
        assert mdl.ri_destroy(end(other)) == 0
        begin(other, THREAD_LOCAL)
        assert not allowed("copy to host", Memory(words), third, "thread-local")
        assert allowed("copy to host", Memory(words), third, "relaxed")
        return end(other)

    instance = in_thread(elsewhere)
    run(instance, third)
    assert mdl.ri_destroy(instance) == 0
    check_unharmed(words, stream)
    assert rt.destroy_stream(third) == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_capture_of_one_context_leaves_others_alone(stream, words, mode):
    """The checks look at the caller's current context."""
    begin(stream, MODES[mode])
    array = numpy.zeros(4, "u1")

    def elsewhere():
        address, ret = rt.malloc(4, 0)
        assert ret == 0
        assert rt.memset(address, 4, FILL, 4) == 0
        assert rt.memcpy(array.ctypes.data, 4, address, 4, TO_HOST) == 0
        assert rt.synchronize_device() == 0
        assert rt.free(address) == 0

    in_other_context(elsewhere)
    assert set(array) == {FILL}
    check_unharmed(words, stream)


@pytest.mark.parametrize("mode", ["global", "thread-local"])
def test_an_invalid_capture_refuses_on(stream, other, words, mode):
    """Transposes Unit_hipStreamBeginCapture_Negative_DetectingInvalidCapture: it counts until it is ended."""
    third, _ = rt.create_stream()
    event, _ = rt.create_event_ex_with_flag(1)
    begin(stream, MODES[mode])
    begin(other, RELAXED)
    assert rt.record_event(event, stream) == 0
    assert rt.stream_wait_event(other, event) == 107032
    assert (status(stream), status(other)) == (INVALIDATED, INVALIDATED)
    assert not allowed("set", Memory(words), third)
    give_up(stream, 507903)
    assert allowed("set", Memory(words), third)
    give_up(other, 507903)
    check_free(words, stream, other)
    assert (rt.destroy_event(event), rt.destroy_stream(third)) == (0, 0)


def test_the_exchange_mode_stays_and_is_the_threads_own(stream, words):
    """Transposes Unit_hipThreadExchangeStreamCaptureMode_Positive_Functional: each call gives the mode before."""
    order = [THREAD_LOCAL, RELAXED, GLOBAL, GLOBAL, RELAXED]
    assert [mdl.ri_capture_thread_exchange_mode(mode) for mode in order] == [
        (GLOBAL, 0), (THREAD_LOCAL, 0), (RELAXED, 0), (GLOBAL, 0), (GLOBAL, 0),
    ]  # fmt: skip
    begin(stream, GLOBAL)
    assert mdl.ri_destroy(end(stream)) == 0
    fresh = in_thread(lambda: rt.set_device(0) or mdl.ri_capture_thread_exchange_mode(GLOBAL))
    assert fresh == (GLOBAL, 0)
    assert mdl.ri_capture_thread_exchange_mode(GLOBAL) == (RELAXED, 0)


# --- illegal in every mode

ON_STREAM = {
    "aclrtSynchronizeStream": lambda s, ri, g: rt.synchronize_stream(s),
    "aclrtSynchronizeStreamWithTimeout": lambda s, ri, g: rt.synchronize_stream_with_timeout(s, 1000),
    "aclrtStreamQuery": lambda s, ri, g: rt.stream_query(s)[1],
    "aclrtDestroyStream": lambda s, ri, g: rt.destroy_stream(s),
    "aclrtDestroyStreamForce": lambda s, ri, g: rt.destroy_stream_force(s),
    "aclmdlRIExecuteAsync": lambda s, ri, g: mdl.ri_execute_async(ri, s),
    "aclmdlRICaptureBegin": lambda s, ri, g: mdl.ri_capture_begin(s, RELAXED),
    "aclmdlRICaptureTaskUpdateBegin": lambda s, ri, g: mdl.ri_capture_task_update_begin(s, g),
    "aclmdlRICaptureTaskUpdateEnd": lambda s, ri, g: mdl.ri_capture_task_update_end(s),
    "aclrtNpuGetFloatOverFlowStatus": lambda s, ri, g: lib.aclrtNpuGetFloatOverFlowStatus(
        pointer(g), 64, 0, pointer(s)
    ),
    "aclrtSynchronizeDevice": lambda s, ri, g: rt.synchronize_device(),
    "aclrtSynchronizeDeviceWithTimeout": lambda s, ri, g: rt.synchronize_device_with_timeout(1000),
}


@pytest.fixture
def prepared(device, words):
    """Make an instance that counts word 7 up, in a group, on a stream that is gone."""
    stream, _ = rt.create_stream()
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    assert words.count_up(stream, 7) == 0
    group, _ = mdl.ri_capture_task_grp_end(stream)
    instance = end(stream)
    assert rt.destroy_stream(stream) == 0
    yield instance, group
    mdl.ri_destroy(instance)


@pytest.mark.parametrize("name", ON_STREAM)
@pytest.mark.parametrize("place", ["global", "thread-local", "relaxed", "joined", "invalid"])
def test_calls_that_a_capturing_stream_refuses(stream, other, words, ex, prepared, place, name):
    """Transposes Unit_hipStreamBeginCapture_CheckingSyncDuringCapture,
    Unit_hipStreamBeginCapture_Negative_CheckingSyncDuringCapture, Unit_hipStreamBeginCapture_StreamSync_OngoingCapture
    and cupy_capture_failure1: none of these calls ends or harms the capture.
    """
    instance, group = prepared
    if place == "invalid":
        invalidate(stream, other)
    else:
        begin(stream, MODES.get(place, GLOBAL))
        fork(ex(), stream, other)
    target = other if place == "joined" else stream
    before = mdl.ri_capture_get_info(target)
    with relaxed():
        refused(ON_STREAM[name](target, instance, group), 107027, name, "capture", "aclmdlRICapture")
    assert rt.peek_at_last_error(0) == 107027
    assert mdl.ri_capture_get_info(target) == before
    if place == "invalid":
        give_up(stream, 507903)
        give_up(other, 507903)
    else:
        fork(ex(), other, stream)
        check_unharmed(words, stream)
    check_free(words, stream, other)
    assert words.read()[7] == 0
    run(instance, stream)
    assert words.read()[7] == 1


@pytest.mark.parametrize("name", ["aclrtSynchronizeStream", "aclrtSynchronizeDevice", "aclrtStreamQuery"])
def test_other_threads_are_refused_as_well(stream, words, prepared, name):
    """Transposes Unit_hipStreamBeginCapture_StreamSync_OngoingCapture_MThread."""
    begin(stream, RELAXED)
    in_thread(lambda: rt.set_device(0) or refused(ON_STREAM[name](stream, *prepared), 107027, name, "capture"))
    check_unharmed(words, stream)


@pytest.mark.parametrize("mode", MODES)
def test_building_leaves_capturing_streams_alone(stream, words, mode):
    begin(stream, MODES[mode])
    with building() as (built, _):
        refused(mdl.ri_bind_stream(built, stream, 0), 107027, "aclmdlRIBindStream", "being captured")
        refused(mdl.ri_unbind_stream(built, stream), 107027, "aclmdlRIUnbindStream", "being captured")
        refused(mdl.ri_end_task(built, stream), 107027, "aclmdlRIEndTask", "being captured")
    check_unharmed(words, stream)


@pytest.mark.parametrize("mode", MODES)
def test_freeing_that_waits_for_the_context(stream, words, mode):
    """Nothing is freed: the memory is read and freed afterwards."""
    address, _ = rt.malloc(4, 0)
    assert rt.memset(address, 4, FILL, 4) == 0
    begin(stream, MODES[mode])
    refused(lib.aclrtFreeWithDevSync(pointer(address)), 107027, "aclrtFreeWithDevSync", "captures are open")
    check_unharmed(words, stream)
    array = numpy.zeros(4, "u1")
    assert rt.memcpy(array.ctypes.data, 4, address, 4, TO_HOST) == 0
    assert set(array) == {FILL}
    assert lib.aclrtFreeWithDevSync(pointer(address)) == 0


@pytest.mark.parametrize("call", [call for call in UNSAFE if call.startswith("pageable")])
@pytest.mark.parametrize("mode", MODES)
def test_ordinary_memory_is_not_captured(stream, words, mode, call):
    """Transposes cupy_library_call_fails: what cannot be captured is refused, whatever the thread's exchange mode."""
    memory = Memory(words)
    begin(stream, MODES[mode])
    for exchange in MODES.values():
        mdl.ri_capture_thread_exchange_mode(exchange)
        refused(UNSAFE[call][2](memory, stream), 107000, "ordinary host memory", "aclrtMallocHost")
    mdl.ri_capture_thread_exchange_mode(GLOBAL)
    assert not memory.moved(UNSAFE[call][0])
    check_unharmed(words, stream)


@pytest.mark.parametrize("mode", MODES)
def test_copies_from_host_to_host_are_not_captured(stream, words, mode):
    memory = Memory(words)
    host, _ = rt.malloc_host(8)
    begin(stream, MODES[mode])
    ret = rt.memcpy_async(host, 4, host + 4, 4, HOST_TO_HOST, stream)
    refused(ret, 207000, "aclrtMemcpyAsync", "host to host")
    ret = rt.memcpy_async(memory.target, 4, memory.host_source, 4, STAGED, stream)
    refused(ret, 107000, "aclrtMemcpyAsync", "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE", "bound to a model running instance")
    assert not memory.moved("device")
    check_unharmed(words, stream)
    assert rt.free_host(host) == 0


# --- allowed in every mode


@pytest.mark.parametrize("mode", MODES)
def test_what_no_mode_restricts(stream, other, words, mode):
    """Memory, streams, events and devices, and any work on streams that do not capture, with its synchronisation."""
    begin(stream, MODES[mode])
    address, ret = rt.malloc(64, 0)
    assert ret == 0
    host, ret = rt.malloc_host(64)
    assert ret == 0
    fresh, ret = rt.create_stream()
    assert ret == 0
    event, ret = rt.create_event()
    assert ret == 0
    assert rt.set_device(0) == 0
    assert words.set(other, 0, 3) == 0
    assert rt.memcpy_async(host, 4, words.at(0), 4, TO_HOST, other) == 0
    assert words.count_up(other, 1) == 0
    assert rt.record_event(event, other) == 0
    assert rt.stream_wait_event(fresh, event) == 0
    assert words.copy(fresh, 2, 1) == 0
    assert words.set(0, 3, 5) == 0
    for each in (other, fresh, 0):
        assert rt.synchronize_stream(each) == 0
    assert rt.stream_query(other) == (0, 0)
    assert rt.synchronize_event(event) == 0
    assert words.read()[:4] == [3, 1, 1, 5]
    assert acl.util.ptr_to_bytes(host, 4) == bytes([3] * 4)
    assert (rt.destroy_event(event), rt.destroy_stream(fresh)) == (0, 0)
    assert (rt.free(address), rt.free_host(host)) == (0, 0)
    check_unharmed(words, stream)


@pytest.mark.parametrize("mode", MODES)
def test_pinned_memory_is_read_and_written_by_each_run(stream, words, mode):
    host, _ = rt.malloc_host(8)

    def write(value):
        array = numpy.full(4, value, "u1")
        with relaxed():
            assert rt.memcpy(host, 4, array.ctypes.data, 4, HOST_TO_HOST) == 0

    write(1)
    begin(stream, MODES[mode])
    assert rt.memcpy_async(words.at(0), 4, host, 4, TO_DEVICE, stream) == 0
    assert rt.memcpy_async(host + 4, 4, words.at(0), 4, TO_HOST, stream) == 0
    assert rt.memcpy2d_async(words.at(1), 2, host, 2, 2, 2, TO_DEVICE, stream) == 0
    instance = end(stream)
    for value in (2, 3):
        write(value)
        assert words.read()[0] != value
        run(instance, stream)
        assert words.read()[:2] == [value, value]
        assert acl.util.ptr_to_bytes(host + 4, 4) == bytes([value] * 4)
    assert mdl.ri_destroy(instance) == 0
    assert rt.free_host(host) == 0


def test_states_of_the_modes(stream, words):
    """Every mode captures and runs the same."""
    for value, mode in enumerate(MODES.values(), 1):
        begin(stream, mode)
        assert words.set(stream, 0, value) == 0
        assert status(stream) == ACTIVE
        instance = end(stream)
        assert status(stream) == NONE
        run(instance, stream)
        assert words.read()[0] == value
        assert mdl.ri_destroy(instance) == 0
