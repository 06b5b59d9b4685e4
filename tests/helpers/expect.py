"""Helpers for most tests of the runtime: errors with their messages, threads with results, latches, Python tasks."""

import contextlib
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import pytest

import acl
from acl import abi
from acl._lib import ffi, lib

ABI = abi.load()
NULL = ffi.NULL
BLOCK = 1
TASK_WORKER = 4


def refused(ret, code, *words):
    """Assert a status code, and on the simulator that the newest message has all the words."""
    text = acl.get_recent_err_msg()
    assert ret == code, text
    if acl.is_simulator:
        newest = (text or "no message").split("\n")[0]
        assert [word for word in words if word not in newest] == [], newest


def pointer(handle):
    """Return a handle as C takes it."""
    return ffi.cast("void *", handle)


def handle_of(create, destroy):
    """Return a fixture: a handle that is created before a test and destroyed after it."""

    @pytest.fixture
    def handle():
        made = create()
        yield made
        destroy(made)

    return handle


def zero(kind):
    """Return the zero value of a C type: NULL, 0, or a struct of zeros."""
    if kind.kind in ("pointer", "function"):
        return NULL
    return ffi.new(ffi.getctype(kind, "*"))[0]


def call_with_nothing(name):
    """Call a C function with the zero value of each argument; return its result and the newest message or ``""``."""
    acl.get_recent_err_msg()
    function = getattr(lib, name)
    result = function(*(zero(kind) for kind in ffi.typeof(function).args))
    return result, (acl.get_recent_err_msg() or "").split("\n")[0]


def message_of_absent(name):
    """Call a declared function that the library lacks: assert its result, and return the message."""
    result, message = call_with_nothing(name)
    has_status = ABI.functions[name].ret in abi.STATUS_TYPES
    assert result == 207000 if has_status else result in (None, 0, NULL), name
    return message


def registered_once(register, kind):
    """Assert that a call registers a callback under a new name only, and that NULL as the callback removes it."""

    @ffi.callback(kind)
    def nothing(*data):
        pass

    function = getattr(lib, register)
    try:
        assert function(b"once", nothing, NULL) == 0
        refused(function(b"once", nothing, NULL), 107000, register, 'regName "once"', "expected a new name")
    finally:  # otherwise the library would call it after Python has freed it
        assert function(b"once", NULL, NULL) == 0
    assert function(b"once", NULL, NULL) == 0


def in_thread(function):
    """Return the result of ``function`` in a new thread, or raise its exception."""
    with ThreadPoolExecutor(1) as fresh:
        return fresh.submit(function).result()


class Latches:
    """Latches of one stream: blocking callbacks, which a separate thread serves."""

    def __init__(self, stream):
        self.stream = stream
        self.closed = deque()
        self.open = True
        context, ret = acl.rt.get_context()
        assert ret == 0
        bound = threading.Event()

        def serve():
            acl.rt.set_context(context)
            bound.wait()
            while self.open:
                acl.rt.process_report(10000)

        self.thread = threading.Thread(target=serve)
        self.thread.start()
        assert acl.rt.subscribe_report(self.thread.ident, stream) == 0
        bound.set()

    def hold(self):
        """Queue a latch: later work on the stream waits for :meth:`release`."""
        latch = threading.Event()
        assert acl.rt.launch_callback(lambda data: latch.wait(), None, BLOCK, self.stream) == 0
        self.closed.append(latch)

    def release(self):
        """Open the oldest closed latch."""
        self.closed.popleft().set()

    def close(self):
        """Open every latch, wait for the stream and end the thread."""
        while self.closed:
            self.release()

        def leave(data):
            self.open = False

        assert acl.rt.launch_callback(leave, None, BLOCK, self.stream) == 0
        self.thread.join()
        acl.rt.unsubscribe_report(self.thread.ident, self.stream)


@contextlib.contextmanager
def latches(stream):
    """Yield the latches of a stream; all are opened at the end."""
    made = Latches(stream)
    try:
        yield made
    finally:
        made.close()


def codes_of_waiters(held, wait, count=4):
    """Return the results of ``wait()`` in threads that all begin to wait before the latch is released."""
    ready = threading.Barrier(count + 1)

    def start():
        assert acl.rt.set_device(0) == 0
        ready.wait()
        return wait()

    with ThreadPoolExecutor(count) as pool:
        waiters = [pool.submit(start) for _ in range(count)]
        ready.wait()
        held.release()
        return [waiter.result() for waiter in waiters]


class Task:
    """A task that runs a Python function, whose result is the task's status code. Keep it until it has run."""

    def __init__(self, stream, function, flags=0):
        self.function = ffi.callback("aclError (void *)", lambda argument: function() or 0)
        assert lib.aclsimLaunchTask(pointer(stream), self.function, NULL, NULL, 0, flags) == 0


def needs_workers():
    """Skip a test whose task runs until the test ends it, if tasks run inside the call that submits them."""
    if acl.sim.get_config("schedule") != "parallel":
        pytest.skip("without workers a task runs inside the call that submits it")


class RunningTask:
    """A task that is running on a worker, and ends with the code given to :meth:`finish`."""

    def __init__(self, stream):
        needs_workers()
        self.started, self.end = threading.Event(), threading.Event()
        self.code = 0

        def run():
            self.started.set()
            self.end.wait()
            return self.code

        self.task = Task(stream, run, TASK_WORKER)
        self.started.wait()

    def finish(self, code=0):
        """Let the task end with this code."""
        self.code = code
        self.end.set()
