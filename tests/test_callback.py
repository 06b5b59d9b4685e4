"""Stream callbacks, host functions and exception callbacks: order, blocking, and what may be called inside."""

import threading

import pytest

import acl
from acl._lib import ffi, lib

NO_BLOCK, BLOCK = 0, 1
COMPLETE, NOT_READY = 0, 1
DEVICE_TO_HOST = 2
NULL = ffi.NULL


class Server:
    """A thread that serves callbacks from its first subscription until it is closed."""

    def __init__(self):
        self.context, ret = acl.rt.get_context()
        assert ret == 0
        self.bound = threading.Event()
        self.open = True
        self.streams = []
        self.thread, ret = acl.util.start_thread(self.serve, None)
        assert ret == 0

    def serve(self):
        assert acl.rt.set_context(self.context) == 0
        self.ident = threading.get_ident()
        self.bound.wait()
        while self.open:
            acl.rt.process_report(1000)

    def subscribe(self, stream):
        assert acl.rt.subscribe_report(self.thread, stream) == 0
        self.streams.append(stream)
        self.bound.set()

    def leave(self, data):
        self.open = False

    def close(self):
        if self.streams:
            assert acl.rt.launch_callback(self.leave, None, BLOCK, self.streams[0]) == 0
            assert acl.rt.synchronize_stream(self.streams[0]) == 0
        else:
            self.leave(None)
            self.bound.set()
        assert acl.util.stop_thread(self.thread) == 0
        for stream in self.streams:
            assert acl.rt.unsubscribe_report(self.thread, stream) == 0


@pytest.fixture
def server(stream):
    server = Server()
    server.subscribe(stream)
    yield server
    server.close()


@pytest.fixture
def own(stream):
    """A stream whose callbacks this thread makes."""
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    return stream


@pytest.fixture
def cell(device):
    """One byte of device memory."""
    cell, ret = acl.rt.malloc(1, 0)
    assert ret == 0
    yield cell
    assert acl.rt.free(cell) == 0


def read(cell):
    data = bytes(1)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 1, cell, 1, DEVICE_TO_HOST) == 0
    return data[0]


def pointer(handle):
    return ffi.cast("void *", handle)


def host_function(function):
    """Return a C function over a Python one; keep it until it was called."""
    return ffi.callback("void (void *)", lambda data: function(int(ffi.cast("uintptr_t", data))))


def test_callback_runs_between_its_neighbours(server, stream, cell):
    seen = []
    for step in range(1, 30):
        assert acl.rt.memset_async(cell, 1, step, 1, stream) == 0
        assert acl.rt.launch_callback(lambda step: seen.append((step, read(cell))), step, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [(step, step) for step in range(1, 30)]


def test_callback_gets_its_object_on_the_subscribed_thread(server, stream):
    seen = []
    objects = [None, 7, [1], object()]
    for data in objects:
        assert acl.rt.launch_callback(lambda data: seen.append((data, threading.get_ident())), data, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert [data for data, _ in seen] == objects
    assert seen[-1][0] is objects[-1]
    assert {ident for _, ident in seen} == {server.ident}


def test_blocking_callback_holds_back_what_follows(server, stream, cell):
    entered, go = threading.Event(), threading.Event()

    def wait(data):
        entered.set()
        go.wait()

    event, ret = acl.rt.create_event()
    assert ret == 0
    assert acl.rt.memset_async(cell, 1, 1, 1, stream) == 0
    assert acl.rt.launch_callback(wait, None, BLOCK, stream) == 0
    assert acl.rt.memset_async(cell, 1, 2, 1, stream) == 0
    assert acl.rt.record_event(event, stream) == 0
    entered.wait()
    assert acl.rt.stream_query(stream) == (NOT_READY, 0)
    assert acl.rt.query_event_status(event) == (0, 0)
    assert read(cell) == 1
    go.set()
    assert acl.rt.synchronize_stream(stream) == 0
    assert read(cell) == 2
    assert acl.rt.destroy_event(event) == 0


def test_callback_without_blocking_lets_the_stream_go_on(server, stream, cell):
    entered, go = threading.Event(), threading.Event()

    def wait(data):
        entered.set()
        go.wait()

    assert acl.rt.launch_callback(wait, None, NO_BLOCK, stream) == 0
    assert acl.rt.memset_async(cell, 1, 5, 1, stream) == 0
    entered.wait()
    assert acl.rt.synchronize_stream(stream) == 0
    assert read(cell) == 5
    go.set()


def test_one_report_makes_all_pending_calls_in_order(own):
    seen = []
    for number in range(5):
        assert acl.rt.launch_callback(seen.append, number, NO_BLOCK, own) == 0
    assert acl.rt.synchronize_stream(own) == 0
    assert seen == []
    assert acl.rt.process_report(-1) == 0
    assert seen == [0, 1, 2, 3, 4]
    assert acl.rt.process_report(1) == 507012


def test_call_launched_inside_a_call_is_for_the_next_report(own):
    seen = []

    def first(data):
        seen.append(1)
        assert acl.rt.launch_callback(seen.append, 2, NO_BLOCK, own) == 0
        assert acl.rt.synchronize_stream(own) == 0

    assert acl.rt.launch_callback(first, None, NO_BLOCK, own) == 0
    assert acl.rt.process_report(-1) == 0
    assert seen == [1]
    assert acl.rt.process_report(-1) == 0
    assert seen == [1, 2]


def test_one_thread_serves_many_streams(server, stream):
    streams = [acl.rt.create_stream()[0] for _ in range(20)]
    seen = {each: [] for each in streams}
    for each in streams:
        server.subscribe(each)
    for number in range(10):
        for each in streams:
            assert acl.rt.launch_callback(seen[each].append, number, number % 2, each) == 0
    for each in streams:
        assert acl.rt.synchronize_stream(each) == 0
    assert all(numbers == list(range(10)) for numbers in seen.values())
    for each in streams:
        assert acl.rt.unsubscribe_report(server.thread, each) == 0
        assert acl.rt.destroy_stream(each) == 0
    server.streams = [stream]


def test_default_stream_has_callbacks_too(device, server):
    seen = []
    server.subscribe(0)
    assert acl.rt.launch_callback(seen.append, 1, BLOCK, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert seen == [1]


def test_every_call_works_inside_a_callback(server, stream):
    seen = []

    def work(data):
        block, ret = acl.rt.malloc(64, 0)
        other, created = acl.rt.create_stream()
        codes = [ret, created, acl.rt.memset_async(block, 64, 9, 64, other), acl.rt.synchronize_stream(other)]
        seen.append(read(block))
        codes += [acl.rt.destroy_stream(other), acl.rt.free(block)]
        seen.append(codes)

    assert acl.rt.launch_callback(work, None, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [9, [0] * 6]


@pytest.mark.strict
def test_waiting_for_oneself_inside_a_callback_is_refused(server, stream):
    seen = []

    def wait(data):
        seen.append((acl.rt.synchronize_stream(stream), acl.get_recent_err_msg()))

    assert acl.rt.launch_callback(wait, None, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    (code, text) = seen[0]
    assert code == 507000
    assert "aclrtSynchronizeStream" in text and "deadlock" in text


@pytest.mark.strict
def test_waiting_for_a_sibling_of_the_same_thread_is_refused(other, server, stream):
    server.subscribe(other)
    seen = []

    def wait(data):
        assert acl.rt.launch_callback(seen.append, "other", BLOCK, other) == 0
        seen.append(acl.rt.synchronize_stream(other))

    assert acl.rt.launch_callback(wait, None, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.synchronize_stream(other) == 0
    assert seen == [507000, "other"]


def test_unsubscribed_stream_may_be_subscribed_anew(own):
    seen = []
    assert acl.rt.unsubscribe_report(threading.get_ident(), own) == 0
    assert acl.rt.process_report(1) == 107012
    assert acl.rt.subscribe_report(threading.get_ident(), own) == 0
    assert acl.rt.launch_callback(seen.append, 1, NO_BLOCK, own) == 0
    assert acl.rt.process_report(-1) == 0
    assert seen == [1]


@pytest.mark.strict
def test_calls_handed_over_survive_their_subscription(own):
    seen = []
    assert acl.rt.launch_callback(seen.append, 1, NO_BLOCK, own) == 0
    assert acl.rt.synchronize_stream(own) == 0
    assert acl.rt.unsubscribe_report(threading.get_ident(), own) == 0
    assert acl.rt.process_report(-1) == 0
    assert seen == [1]
    assert acl.rt.process_report(-1) == 107012


@pytest.mark.needs_sim
def test_calls_not_handed_over_fail_with_their_subscription(own):
    seen = []
    acl.sim.hold(own)
    assert acl.rt.launch_callback(seen.append, 1, BLOCK, own) == 0
    assert acl.rt.unsubscribe_report(threading.get_ident(), own) == 0
    acl.sim.release(own)
    assert acl.rt.synchronize_stream(own) == 107015
    assert "aclrtLaunchCallback" in acl.get_recent_err_msg()
    assert seen == []


@pytest.mark.strict
def test_forced_destruction_discards_a_call_that_waits(device):
    seen = []
    stream, _ = acl.rt.create_stream()
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    assert acl.rt.launch_callback(seen.append, 1, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
    assert acl.rt.destroy_stream_force(stream) == 0
    assert acl.rt.process_report(-1) == 107012
    assert seen == []


@pytest.mark.strict
def test_end_of_the_device_ends_the_subscription(run_script):
    done = run_script(
        "import threading, acl\n"
        "acl.rt.set_device(0)\n"
        "stream, _ = acl.rt.create_stream()\n"
        "print(acl.rt.subscribe_report(threading.get_ident(), stream), acl.rt.process_report(1))\n"
        "print(acl.rt.reset_device(0), acl.rt.process_report(-1))\n"
    )
    assert done.stdout.split() == ["0", "507012", "0", "107012"], done.stderr


@pytest.mark.strict
def test_child_of_a_fork_starts_without_subscriptions(run_script):
    done = run_script(
        "import os, threading, acl\n"
        "from acl._lib import ffi, lib\n"
        "seen = []\n"
        "note = ffi.callback('void (void *)', lambda data: seen.append(os.getpid()))\n"
        "def run():\n"
        "    assert acl.rt.set_device(0) == 0\n"
        "    stream, ret = acl.rt.create_stream()\n"
        "    assert lib.aclrtLaunchHostFunc(ffi.NULL, note, ffi.NULL) == 0\n"
        "    assert acl.rt.synchronize_stream(0) == 0\n"
        "    assert seen[-1] == os.getpid()\n"
        "    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0\n"
        "    assert acl.rt.set_exception_info_callback(print) == 0\n"
        "run()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert acl.rt.process_report(-1) == 107012\n"
        "    run()\n"
        "    os._exit(7)\n"
        "print(os.WEXITSTATUS(os.waitpid(child, 0)[1]), acl.rt.process_report(1))\n"
    )
    assert done.stdout.split() == ["7", "507012"], done.stderr


def test_host_functions_of_a_context_share_a_thread_of_their_own(context):
    streams = [acl.rt.create_stream()[0] for _ in range(4)]
    seen = []
    function = host_function(lambda number: seen.append((number, threading.get_ident())))
    for number in range(20):
        stream = streams[number % 4]
        assert lib.aclrtLaunchHostFunc(pointer(stream), function, pointer(number)) == 0
    for number, stream in enumerate(streams):
        assert acl.rt.synchronize_stream(stream) == 0
        assert [each for each, _ in seen if each % 4 == number] == list(range(number, 20, 4))
    threads = {ident for _, ident in seen}
    assert len(threads) == 1 and threading.get_ident() not in threads
    for stream in streams:
        assert acl.rt.destroy_stream(stream) == 0


def test_host_function_runs_between_its_neighbours(context, stream, cell):
    seen = []
    current, _ = acl.rt.get_context()

    def note(step):
        seen.append((acl.rt.get_context()[1], acl.rt.set_context(current), step, read(cell)))

    function = host_function(note)
    own, ret = acl.rt.create_stream()
    assert ret == 0
    for step in (1, 2):
        assert acl.rt.memset_async(cell, 1, step, 1, own) == 0
        assert lib.aclrtLaunchHostFunc(pointer(own), function, pointer(step)) == 0
    assert acl.rt.memset_async(cell, 1, 3, 1, own) == 0
    assert acl.rt.synchronize_stream(own) == 0
    assert seen[0] == (107002, 0, 1, 1)
    assert seen[1][2:] == (2, 2)
    assert read(cell) == 3
    assert acl.rt.destroy_stream(own) == 0


@pytest.mark.strict
def test_waiting_for_oneself_inside_a_host_function_is_refused(context):
    current, _ = acl.rt.get_context()
    stream, _ = acl.rt.create_stream()
    seen = []
    function = host_function(lambda data: seen.append((acl.rt.set_context(current), acl.rt.synchronize_stream(stream))))
    assert lib.aclrtLaunchHostFunc(pointer(stream), function, NULL) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [(0, 507000)]
    assert acl.rt.destroy_stream(stream) == 0


def test_destroying_a_context_waits_for_its_host_functions(device):
    context, _ = acl.rt.create_context(device)
    stream, _ = acl.rt.create_stream()
    seen, entered = [], threading.Event()

    def work(data):
        entered.set()
        seen.append(data)

    function = host_function(work)
    for number in range(3):
        assert lib.aclrtLaunchHostFunc(pointer(stream), function, pointer(number)) == 0
    entered.wait()
    assert acl.rt.destroy_context(context) == 0
    assert seen == [0, 1, 2]


def fail_with(code):
    return ffi.callback("aclError (void *)", lambda data: code)


@pytest.mark.needs_sim
def test_exception_callback_comes_before_the_synchronising_call_returns(stream):
    seen = []

    def note(info):
        seen.append(
            (
                acl.rt.get_error_code_from_exception_info(info),
                acl.rt.get_device_id_from_exception_info(info),
                acl.rt.get_stream_id_from_exception_info(info),
                acl.rt.get_task_id_from_exception_info(info),
                acl.rt.get_thread_id_from_exception_info(info),
            )
        )

    failing = fail_with(507015)
    assert acl.rt.set_exception_info_callback(note) == 0
    assert lib.aclsimLaunchTask(pointer(stream), failing, NULL, NULL, 0, 0) == 0
    task, _ = acl.rt.get_thread_last_task_id()
    assert acl.rt.synchronize_stream(stream) == 507015
    ident, _ = acl.rt.stream_get_id(stream)
    assert seen == [(507015, 0, ident, task, threading.get_native_id())]
    assert acl.rt.set_exception_info_callback(None) == 0
    assert lib.aclsimLaunchTask(pointer(stream), failing, NULL, NULL, 0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 507015
    assert len(seen) == 1


@pytest.mark.needs_sim
def test_synchronising_lets_an_exception_callback_run(run_script):
    """The failure is there before the call, which keeps the interpreter to itself where nothing is to be waited for."""
    done = run_script(
        """
import sys
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
assert acl.rt.set_exception_info_callback(lambda info: print("called", flush=True)) == 0
sys.setswitchinterval(60)
failing = ffi.cast("aclsimTaskFunc", ffi.addressof(lib, "aclrtFree"))  # of NULL: no Python runs in this task
for _ in range(20):
    assert lib.aclsimLaunchTask(ffi.cast("aclrtStream", stream), failing, ffi.NULL, ffi.NULL, 0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 100000
""",
        env={"ACL_SIM_SCHEDULE": "eager"},
    )
    assert (done.returncode, done.stdout) == (0, "called\n" * 20), done.stderr


@pytest.mark.needs_sim
def test_registered_exception_callbacks_are_called_once_each(stream):
    seen = []
    first = ffi.callback("aclrtExceptionInfoCallback", lambda info: seen.append(1))
    second = ffi.callback("aclrtExceptionInfoCallback", lambda info: seen.append(2))
    failing = fail_with(507015)
    for callback in (first, first, second):
        assert lib.aclrtExceptionInfoCallbackRegister(callback) == 0
    assert lib.aclrtSetExceptionInfoCallback(first) == 0
    assert lib.aclsimLaunchTask(pointer(stream), failing, NULL, NULL, 0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 507015
    assert sorted(seen) == [1, 1, 2]
    assert lib.aclrtSetExceptionInfoCallback(NULL) == 0
    for callback in (first, second, second):
        assert lib.aclrtExceptionInfoCallbackUnregister(callback) == 0
    assert lib.aclsimLaunchTask(pointer(stream), failing, NULL, NULL, 0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 507015
    assert len(seen) == 3


def test_last_task_of_a_thread_grows_with_its_submissions(stream, cell):
    assert acl.rt.memset_async(cell, 1, 1, 1, stream) == 0
    first, ret = acl.rt.get_thread_last_task_id()
    assert ret == 0
    assert acl.rt.memset_async(cell, 1, 2, 1, stream) == 0
    second, ret = acl.rt.get_thread_last_task_id()
    assert ret == 0 and second != first
    elsewhere = []
    thread = threading.Thread(target=lambda: elsewhere.append(acl.rt.get_thread_last_task_id()))
    thread.start()
    thread.join()
    assert elsewhere == [(0xFFFFFFFF, 0)]
    assert acl.rt.synchronize_stream(stream) == 0
