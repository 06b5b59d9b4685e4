"""Last errors, messages and the application log; every code that the contract's error block names for them."""

import ctypes
import os
import re
import threading
from pathlib import Path

import pytest

import acl
from acl._lib import ffi, lib

INVALID_PARAM = 100000
INVALID_DEVICE = 107001
NOT_SUPPORTED = 207000
ABSENT = ["aclnnCalculateConvolutionWeightSize", "aclnnTransSparse4to2Para"]


@pytest.fixture(autouse=True)
def nothing_said():
    acl.get_recent_err_msg()
    acl.rt.get_last_error(0)


def fail():
    """Make a runtime call fail whose code becomes the last error."""
    assert acl.rt.set_device(4096) == INVALID_DEVICE


def test_last_error_is_peeked_and_taken():
    assert acl.rt.peek_at_last_error(0) == 0
    fail()
    assert acl.rt.peek_at_last_error(0) == INVALID_DEVICE
    assert acl.rt.get_last_error(0) == INVALID_DEVICE
    assert acl.rt.get_last_error(0) == 0


def test_last_error_is_the_last_one_and_success_keeps_it():
    fail()
    value, ret = acl.rt.get_device_info(4096, 1)
    assert ret == 107000
    assert acl.rt.get_device_count()[1] == 0
    assert acl.rt.get_last_error(0) == 107000


@pytest.mark.parametrize("level", [1, -1, 2**31 - 1])
def test_unknown_level(level):
    fail()
    assert acl.rt.peek_at_last_error(level) == INVALID_PARAM
    assert acl.rt.get_last_error(level) == INVALID_PARAM
    assert acl.rt.get_last_error(0) == INVALID_DEVICE


@pytest.mark.strict
def test_unknown_level_is_named():
    acl.rt.get_last_error(7)
    assert "aclrtGetLastError failed because level is 7" in acl.get_recent_err_msg()


def test_entry_layer_failures_are_not_recorded():
    assert lib.aclrtGetDeviceCount(ffi.NULL) == INVALID_PARAM
    assert acl.rt.set_ts_device(9) == INVALID_PARAM
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.needs_sim
def test_missing_functions_are_not_recorded_and_named():
    simulator = ctypes.CDLL(os.path.join(acl.get_lib(), "libacl_sim.so"))
    for name in ABSENT:
        assert getattr(simulator, name)(None, None, None) == NOT_SUPPORTED
        message = acl.get_recent_err_msg()
        assert f"{name} failed because this simulator does not provide it yet" in message
        assert f"({NOT_SUPPORTED} " in message
    assert acl.rt.peek_at_last_error(0) == 0


def test_last_error_belongs_to_its_thread():
    fail()
    seen = []
    thread = threading.Thread(target=lambda: seen.append((acl.rt.peek_at_last_error(0), acl.get_recent_err_msg())))
    thread.start()
    thread.join()
    assert seen == [(0, None)]
    assert acl.rt.get_last_error(0) == INVALID_DEVICE


@pytest.mark.strict
def test_message_names_function_argument_value_and_expectation():
    fail()
    message = acl.get_recent_err_msg()
    assert re.fullmatch(
        r"EE1003: aclrtSetDevice failed because deviceId is 4096, expected .*"
        r" \(107001 ACL_ERROR_RT_INVALID_DEVICEID\)",
        message,
    )
    assert acl.get_recent_err_msg() is None


@pytest.mark.strict
def test_messages_are_newest_first_and_bounded():
    for device in range(5000, 5050):
        acl.rt.set_device(device)
    lines = acl.get_recent_err_msg().splitlines()
    assert len(lines) == 32
    assert "5049" in lines[0]
    assert "5018" in lines[-1]


@pytest.mark.strict
def test_null_pointers_are_named():
    assert lib.aclrtGetDeviceCount(ffi.NULL) == INVALID_PARAM
    assert "aclrtGetDeviceCount failed because count is NULL" in acl.get_recent_err_msg()


@pytest.mark.needs_sim
def test_every_declared_code_has_its_name():
    """The names that messages show are those of the headers."""
    header = (Path(acl.get_include()) / "acl" / "abi" / "errors.h").read_text()
    names = {}
    for name, value in re.findall(r"#define (ACL_(?:ERROR_|SUCCESS)\w*) (\d+)$", header, re.MULTILINE):
        names.setdefault(int(value), []).append(name)
    del names[0]
    assert len(names) > 200
    acl.sim.reset()
    wrong = []
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0

    @ffi.callback("aclError(void *)")
    def task(argument):
        return int(ffi.cast("intptr_t", argument))

    for code in names:
        argument = ffi.cast("void *", code)
        assert lib.aclsimLaunchTask(ffi.cast("void *", stream), task, argument, ffi.NULL, 0, 0) == 0
        assert acl.rt.synchronize_stream(stream) == code
        said = re.findall(rf"\({code} (\w+)\)", acl.get_recent_err_msg())
        if not set(said) & set(names[code]):
            wrong.append((code, said))
    assert wrong == []
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.reset_device_force(0) == 0


def run_log(run_script, level, call, **env):
    done = run_script(f"import acl\nacl.app_log({level}, {call!r})", env={"ACL_BACKEND": acl.backend, **env})
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.strict
def test_log_writes_errors_only_unless_told(run_script):
    done = run_log(run_script, 3, "100 % sure: %s %n")
    assert done.stdout == ""
    assert re.fullmatch(r"\[ERROR\] APP\(\d+,\d+\) \[<string>:2\] <module>: 100 % sure: %s %n\n", done.stderr)
    assert run_log(run_script, 2, "quiet").stderr == ""


@pytest.mark.strict
@pytest.mark.parametrize(("least", "shown"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0)])
def test_log_level_and_target(run_script, least, shown):
    env = {"ASCEND_GLOBAL_LOG_LEVEL": least, "ASCEND_SLOG_PRINT_TO_STDOUT": 1, "ACL_BACKEND": acl.backend}
    code = "import acl\nfor level in (0, 1, 2, 3, 4, 2147483647):\n    acl.app_log(level, 'said')"
    done = run_script(code, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("said\n") == shown


@pytest.mark.strict
def test_log_cuts_long_lines_and_takes_null(run_script):
    code = (
        "from acl._lib import ffi, lib\n"
        "lib.aclAppLog(3, ffi.NULL, ffi.NULL, 1, b'x' * 10000)\n"
        "lib.aclAppLog(3, ffi.NULL, ffi.NULL, 1, ffi.NULL)\n"
    )
    done = run_script(code, env={"ACL_BACKEND": acl.backend})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert 1000 < len(done.stderr) < 3000


@pytest.mark.needs_sim
def test_libraries_over_the_simulator_leave_messages():
    acl.rt.get_last_error(0)
    assert lib.aclsimRefuse(b"geBuild", 100000, b"size is 0, expected 1") == 100000
    assert "geBuild failed because size is 0, expected 1 (100000 ACL_ERROR_INVALID_PARAM)" in acl.get_recent_err_msg()
    assert acl.rt.get_last_error(0) == 0
    for function, text, name in ((ffi.NULL, b"", "function"), (b"geBuild", ffi.NULL, "text")):
        assert lib.aclsimRefuse(function, 500000, text) == 100000
        assert f"aclsimRefuse failed because {name} is NULL" in acl.get_recent_err_msg()
