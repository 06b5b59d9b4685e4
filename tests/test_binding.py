"""The compiled module and its backend: choice, absent functions, exit, fork, Ctrl-C, callbacks that raise."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from helpers.expect import Task, refused
from helpers.programs import environment

import acl
from acl import _acl, _lib, abi, headers

HELD = """
import signal, acl
from acl import sim
acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
event, ret = acl.rt.create_event()
sim.hold(stream)
acl.rt.record_event(event, stream)
"""


@pytest.fixture
def partial_toolkit(tmp_path, compile_c):
    """Make a toolkit whose library has three of the declared functions."""
    source = """
        int aclrtGetDevice(int *device) { *device = 3; return 0; }
        int aclInit(const char *path) { (void)path; return 0; }
        const char *aclGetRecentErrMsg(void) { return "from the library"; }
    """
    library = compile_c(source, "-shared", "-fPIC", libraries=())
    (tmp_path / "toolkit" / "lib64").mkdir(parents=True)
    shutil.copy(library, tmp_path / "toolkit" / "lib64" / "libascendcl.so")
    return str(tmp_path / "toolkit")


def test_what_answers():
    assert acl.backend in ("sim", "npu")
    assert os.path.exists(acl.library_path)
    assert os.path.exists(os.path.join(acl.get_include(), "acl", "acl.h"))
    assert os.path.exists(os.path.join(acl.get_lib(), "libascendcl.so"))


def test_wrong_backend(run_script):
    done = run_script("import acl", {"ACL_BACKEND": "gpu"})
    assert done.returncode == 1
    assert "ACL_BACKEND is 'gpu', expected one of sim, npu, auto" in done.stderr


def test_no_toolkit(run_script):
    none = {name: None for name in _lib.VARIABLES}
    done = run_script("import acl", {"ACL_BACKEND": "npu", **none, "HOME": "/nowhere"})
    if "/usr/local/Ascend" in done.stderr or done.returncode:
        assert "set ACL_TOOLKIT=<toolkit directory>" in done.stderr


def test_a_subinterpreter_is_refused(run_script):
    done = run_script(
        """
try:
    import _interpreters as interpreters  # since Python 3.13
except ImportError:
    import _xxsubinterpreters as interpreters
code = "try:\\n import acl\\nexcept ImportError as error:\\n print(error)"
interpreters.run_string(interpreters.create(), code)
import acl
print(acl.rt.get_device_count()[1])
"""
    )
    assert done.returncode == 0, done.stderr
    text = "acl does not support subinterpreters: import it in the main interpreter of the process"
    assert done.stdout == f"{text}\n0\n"


def test_choice_is_said_once_when_it_was_not_made(run_script):
    unset = {"ACL_BACKEND": None, **{name: None for name in _lib.VARIABLES}, "HOME": "/nowhere"}
    code = "import acl, acl.rt; assert acl.backend == 'sim'"
    assert run_script(code, unset).stderr.count("using the simulator") == 1
    assert run_script(code, {**unset, "ACL_BACKEND": "auto"}).stderr == ""


def test_absent_functions(run_script, partial_toolkit):
    code = """
import acl
assert not acl.is_simulator and acl.backend == "npu"
assert acl.rt.get_device() == (3, 0)
assert acl.rt.set_device(0) == 207000
text = acl.get_recent_err_msg()
assert "aclrtSetDevice failed because it needs CANN 8.1" in text and "libascendcl.so" in text, text
assert acl.get_recent_err_msg() == "from the library"
assert acl.rt.malloc(1, 0) == (0, 207000)
assert acl.create_data_buffer(0, 0) == 0
assert acl.get_soc_name() is None
assert acl.float16_to_float(1) == 0.0
assert acl.destroy_tensor_desc(0) is None
assert acl.rt.get_stream_attribute(0, 1) == ({}, 207000)
assert acl.rt.synchronize_stream(0) == 207000
from acl import sim
try:
    sim.reset()
except RuntimeError as error:
    assert "needs the simulator" in str(error)
else:
    raise AssertionError("reset passed")
"""
    done = run_script(code, {"ACL_BACKEND": "npu", "ACL_TOOLKIT": partial_toolkit, "ACL_SIM_UNSUPPORTED": None})
    assert (done.returncode, done.stderr) == (0, "")


def test_broken_library(run_script, tmp_path):
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libascendcl.so").write_text("no library")
    done = run_script("import acl", {"ACL_BACKEND": "npu", "ACL_TOOLKIT": str(tmp_path)})
    assert "cannot open" in done.stderr and "set_env.sh" in done.stderr


def test_every_declared_function_and_constant_is_in_the_module():
    declared = abi.load()
    assert set(declared.functions) <= set(dir(_acl.lib))
    for constant in declared.constants.values():
        assert getattr(_acl.lib, constant.name) == constant.value
    for enum in declared.enums.values():
        for name, value in enum.members.items():
            assert getattr(_acl.lib, name) == value


@pytest.mark.strict
@pytest.mark.skipif(
    _lib.toolkit is not None and not _lib.is_ours(_lib.toolkit), reason="a version has not all that is declared"
)
def test_every_declared_function_is_in_the_simulator():
    assert [name for name in abi.load().functions if not _lib.present(name)] == []


def test_headers_are_compared(tmp_path):
    include = tmp_path / "include"
    shutil.copytree(acl.get_include(), include)
    assert headers.compare(abi.load(), _acl.ffi, str(tmp_path)).difference is None
    changes = (
        ("abi/base.h", "ACL_FLOAT16 = 1", "ACL_FLOAT16 = 77", "ACL_FLOAT16 is 1 here"),
        ("abi/stream.h", "aclrtDestroyStream(aclrtStream ", "aclrtDestroyStream(int *", "aclrtDestroyStream"),
        ("abi/memory.h", "uint32_t pageSize;", "uint64_t pageSize;", "size of aclrtPtrAttributes"),
    )
    for name, ours, theirs, said in changes:
        path = include / "acl" / name
        text = path.read_text()
        assert ours in text
        path.write_text(text.replace(ours, theirs))
        assert said in headers.compare(abi.load(), _acl.ffi, str(tmp_path)).difference
        path.write_text(text)


def test_import_is_quick(run_script):
    code = """
import numpy, time
start = time.perf_counter()
import acl
assert time.perf_counter() - start < 0.3
"""
    assert run_script(code).returncode == 0
    later = {"numpy", "cffi", "acl.api.model_executors"}
    if acl.backend == "sim":
        later.add("glob")  # finds the version of a toolkit
    assert run_script(f"import sys, acl; assert not sys.modules.keys() & {later}").returncode == 0
    assert run_script("import sys, acl; acl.nnop.add; assert 'cffi' not in sys.modules").returncode == 0


def test_another_acl_comes_first(tmp_path):
    (tmp_path / "acl").mkdir()
    (tmp_path / "acl" / "__init__.py").write_text("raise SystemExit('the wrong acl')")
    code = f"""
import sys
import threading
import time
sys.path.insert(0, {str(tmp_path)!r})
sys.argv[1:] = ["config", "--include"]
import ascendcl
ascendcl.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, acl.get_include()), done.stderr


def test_exit_without_finalize(run_script):
    done = run_script(
        "import acl; acl.init(); acl.rt.set_device(0); stream, ret = acl.rt.create_stream(); acl.rt.malloc(4096, 0)"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_exit_with_a_report_thread_that_never_stops(run_script):
    code = """
import acl, threading
acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
context, ret = acl.rt.get_context()
running = threading.Event()
called = threading.Event()

def loop(context):
    acl.rt.set_context(context)
    running.set()
    while True:
        acl.rt.process_report(100)

thread, ret = acl.util.start_thread(loop, context)
running.wait()
assert acl.rt.subscribe_report(thread, stream) == 0
assert acl.rt.launch_callback(lambda data: called.set(), None, 1, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert called.is_set()
"""
    for _ in range(5):
        done = run_script(code)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.strict
def test_fork_sees_a_fresh_library(run_script):
    code = """
import acl, os
acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
child = os.fork()
if child == 0:
    dead = acl.rt.synchronize_stream(stream)
    fresh = acl.rt.set_device(0), acl.rt.create_stream()[1]
    os._exit(0 if dead != 0 and fresh == (0, 0) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert acl.rt.synchronize_stream(stream) == 0
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_a_host_that_unloads_the_library_goes_on(run_script):
    code = """
import _ctypes, ctypes, importlib.util, os
path = os.path.join(os.path.dirname(importlib.util.find_spec("acl").origin), "lib64", "libacl_sim.so")
library = ctypes.CDLL(path)
stream = ctypes.c_void_p()
assert library.aclInit(None) == library.aclrtSetDevice(0) == library.aclrtCreateStream(ctypes.byref(stream)) == 0
assert library.aclrtDestroyStream(stream) == library.aclrtResetDevice(0) == library.aclFinalize() == 0
_ctypes.dlclose(library._handle)
assert path in open("/proc/self/maps").read()
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "wait",
    [
        "synchronize_stream(stream)",
        "synchronize_stream_with_timeout(stream, -1)",
        "synchronize_stream_with_timeout(stream, 1000000)",
        "synchronize_event(event)",
        "synchronize_event_with_timeout(event, 1000000)",
        "synchronize_device()",
        "synchronize_device_with_timeout(1000000)",
    ],
)
def test_interrupt(run_script, wait):
    code = f"""{HELD}
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    acl.rt.{wait}
except KeyboardInterrupt:
    assert acl.get_recent_err_msg() is None
    assert acl.rt.peek_at_last_error(0) == 0
    sim.release(stream)
    assert acl.rt.synchronize_stream(stream) == 0
else:
    raise AssertionError("not interrupted")
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_interrupt_of_process_report(run_script):
    code = """
import acl, signal, threading
acl.rt.set_device(0)
stream, ret = acl.rt.create_stream()
assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    acl.rt.process_report(-1)
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("not interrupted")
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_sigint_ends_a_waiting_program():
    own_handler = "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job of a script starts without
    code = HELD + own_handler + "print('waiting', flush=True)\nacl.rt.synchronize_stream(stream)"
    program = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout.readline() == "waiting\n"
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors and program.returncode != 0


@pytest.mark.needs_sim
def test_finite_timeouts_keep_their_code(device, stream):
    from acl import sim

    sim.hold(stream)
    for milliseconds in (1, 120):
        assert acl.rt.synchronize_stream_with_timeout(stream, milliseconds) == 507046
    sim.release(stream)
    assert acl.rt.synchronize_stream_with_timeout(stream, 1000) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("wait", "code"),
    [
        (lambda stream, event: acl.rt.synchronize_stream_with_timeout(stream, 120), 507046),
        (lambda stream, event: acl.rt.synchronize_event_with_timeout(event, 120), 507047),
        (lambda stream, event: acl.rt.synchronize_device_with_timeout(120), 507046),
        (lambda stream, event: acl.rt.process_report(120), 507012),
    ],
    ids=["stream", "event", "device", "report"],
)
def test_a_timeout_is_named_as_the_caller_gave_it(device, stream, event, wait, code):
    acl.sim.hold(stream)
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    start = time.monotonic()
    refused(wait(stream, event), code, "timeout is 120 ms")
    assert time.monotonic() - start >= 0.12
    assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0
    acl.sim.release(stream)


@pytest.mark.needs_sim
@pytest.mark.parametrize("wait", [acl.rt.synchronize_stream_with_timeout, None], ids=["stream", "device"])
def test_a_wait_with_a_timeout_runs_no_long_task_itself(device, stream, wait):
    """The caller's thread would be busy when its time is over; the task here ends only after the call has returned."""
    end, runners = threading.Event(), []

    def run():
        runners.append(threading.get_ident())
        end.wait()

    acl.sim.hold(stream)
    task = Task(stream, run)
    acl.sim.release(stream)
    try:
        code = wait(stream, 120) if wait else acl.rt.synchronize_device_with_timeout(120)
        refused(code, 507046, "timeout is 120 ms")
    finally:
        end.set()
    assert acl.rt.synchronize_stream(stream) == 0
    assert runners != [threading.get_ident()]
    del task


@pytest.mark.needs_sim
def test_an_interrupted_wait_leaves_the_next_one_its_time(run_script):
    code = f"""{HELD}
import time
from acl._lib import ffi, lib
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.07)
try:
    acl.rt.synchronize_stream_with_timeout(stream, 1000000)
except KeyboardInterrupt:
    start = time.monotonic()
    assert lib.aclrtSynchronizeStreamWithTimeout(ffi.cast("void *", stream), 60) == 507046
    assert time.monotonic() - start >= 0.06
else:
    raise AssertionError("not interrupted")
sim.release(stream)
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def report_stream(device, stream):
    """Serve a stream's callbacks on a thread of its own."""

    context, _ = acl.rt.get_context()
    go_on = threading.Event()
    go_on.set()
    codes = []

    def loop(_):
        acl.rt.set_context(context)
        while go_on.is_set():
            codes.append(acl.rt.process_report(20))

    thread, ret = acl.util.start_thread(loop, [])
    assert ret == 0
    assert acl.rt.subscribe_report(thread, stream) == 0
    yield stream, codes
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.unsubscribe_report(thread, stream) == 0
    go_on.clear()
    assert acl.util.stop_thread(thread) == 0


def test_callback_gets_its_object(report_stream):
    stream, _ = report_stream
    data, seen = object(), []
    assert acl.rt.launch_callback(seen.append, data, 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert len(seen) == 1 and seen[0] is data


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt])
def test_callback_that_raises(report_stream, monkeypatch, kind):
    stream, codes = report_stream
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reported.append((args.exc_type, args.object)))

    def broken(data):
        raise kind(data)

    assert acl.rt.launch_callback(broken, "data", 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert reported == [(kind, broken)]
    done = []
    assert acl.rt.launch_callback(done.append, 1, 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert done == [1] and set(codes) <= {0, 107012, 507012}


def test_refused_callback_is_forgotten(device, stream):
    from acl.api import callback

    before = len(callback.launched)
    assert acl.rt.launch_callback(print, 1, 1, stream) == 107015
    assert len(callback.launched) == before


def test_sources_are_named_alike():
    """The body of each hand-written call stands in the room of its C function."""
    rooms = Path(acl.__file__).parent / "api"
    for function in abi.load().functions.values():
        for shape in function.shapes:
            if shape.python:
                assert f"def {shape.name}(" in (rooms / f"{function.group}.py").read_text(), shape.path
