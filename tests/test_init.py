"""Initialising and finalising: counts, the JSON file, callbacks; versions and the platform."""

import json
import os
import threading

import pytest

import acl
from acl._lib import ffi, lib

INVALID_PARAM = 100000
REPEAT_INIT = 100002
INVALID_FILE = 100003
PARSE_FILE = 100006
DUMP_CONFIG = 100009
PROFILING_CONFIG = 100010
REPEAT_FINALIZE = 100037
OPQUEUE = 148048
FAILURE = 500001
MODEL, OP_EXECUTOR, CBLAS, OP_COMPILER, DVPP, OTHER = 0, 1, 2, 3, 6, 0xFFFF


@pytest.fixture
def fresh():
    """Start from a library that was never initialised."""
    acl.sim.reset()
    yield
    acl.sim.reset()


@pytest.fixture
def config(tmp_path):
    """Give ``config(content)``, which writes a file and returns its path."""

    def write(content):
        path = tmp_path / "acl.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def test_counts(run_script):
    code = (
        "import acl\n"
        "print(acl.init(), acl.init(), acl.init(''), acl.finalize_reference(), acl.finalize(), acl.finalize())\n"
        "print(acl.init(), acl.finalize_reference(), acl.finalize_reference(), acl.finalize())\n"
    )
    done = run_script(code, env={"ACL_BACKEND": acl.backend})
    assert done.stdout.splitlines() == ["0 100002 100002 (2, 0) 0 100037", "0 (0, 0) (0, 100037) 100037"], done.stderr


@pytest.mark.needs_sim
def test_finalize_without_init_succeeds_once(fresh):
    assert acl.finalize() == 0
    assert acl.finalize() == REPEAT_FINALIZE
    assert "aclFinalize" in acl.get_recent_err_msg()
    assert acl.init() == 0
    assert lib.aclFinalizeReference(ffi.NULL) == 0
    assert acl.finalize() == REPEAT_FINALIZE


@pytest.mark.needs_sim
@pytest.mark.finds("leaked-memory")
def test_finalize_leaves_devices_alone(fresh, device):
    assert acl.init() == 0
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    assert acl.finalize() == 0
    assert acl.rt.free(address) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize("content", ["", "{}", '{"unknown": [1, {"a": null}]}', '{"dump": {}, "profiler": {}}'])
def test_good_files(fresh, config, content):
    assert acl.init(config(content)) == 0


@pytest.fixture(params=["fifo", "/dev/zero", "/dev/null", "directory"])
def no_file(request, tmp_path):
    """Return a path that is not a regular file: opening some would block, and reading others would never end."""
    if request.param == "fifo":
        os.mkfifo(tmp_path / "fifo")
        return str(tmp_path / "fifo")
    return str(tmp_path) if request.param == "directory" else request.param


@pytest.mark.needs_sim
def test_pipes_and_devices_are_no_configuration(fresh, no_file):
    assert acl.init(no_file) == INVALID_FILE
    assert f'configPath is "{no_file}", which is not a regular file' in acl.get_recent_err_msg()
    assert acl.init() == 0


@pytest.mark.needs_sim
def test_pipes_and_devices_are_no_dump_settings(fresh, no_file):
    assert [acl.init(), acl.mdl.init_dump()] == [0, 0]
    assert acl.mdl.set_dump(no_file) == INVALID_FILE
    assert f'dumpCfgPath is "{no_file}", which is not a regular file' in acl.get_recent_err_msg()
    assert acl.mdl.finalize_dump() == 0


@pytest.mark.needs_sim
def test_a_file_that_cannot_be_read_whole_is_an_error(fresh):
    # The system says that this file has a page of bytes, and gives fewer.
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    assert acl.init(path) == INVALID_FILE
    assert f'configPath is "{path}", of which only' in acl.get_recent_err_msg()


@pytest.mark.needs_sim
def test_repeated_init_ignores_its_file(fresh):
    assert acl.init() == 0
    assert acl.init("/no/such/file") == REPEAT_INIT
    assert "counted (now 2)" in acl.get_recent_err_msg()


@pytest.mark.needs_sim
def test_a_repeated_init_hides_no_message(fresh):
    assert acl.init() == 0
    assert [acl.init(), acl.init()] == [REPEAT_INIT] * 2
    assert acl.rt.set_device(-1) == 107001
    (line,) = acl.get_recent_err_msg().splitlines()
    assert "aclrtSetDevice" in line
    assert acl.rt.set_device(-1) == 107001
    assert acl.init() == REPEAT_INIT
    assert [line.split()[1] for line in acl.get_recent_err_msg().splitlines()] == ["aclInit", "aclrtSetDevice"]


@pytest.mark.needs_sim
def test_missing_file_and_directory(fresh, tmp_path):
    assert acl.init("/no/such/file") == INVALID_FILE
    assert 'aclInit failed because configPath is "/no/such/file"' in acl.get_recent_err_msg()
    assert acl.init(str(tmp_path)) == INVALID_FILE
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate((10 << 20) + 1)
    assert acl.init(str(big)) == INVALID_FILE
    assert "expected at most 10485760" in acl.get_recent_err_msg()
    assert acl.init() == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        ("{", PARSE_FILE, "byte 1"),
        ('{"a": 1,}', PARSE_FILE, "byte 8"),
        ("[]", PARSE_FILE, "no JSON object"),
        ('{"a": 1} 2', PARSE_FILE, "something follows"),
        ('{"a": ' * 11 + "1" + "}" * 11, PARSE_FILE, "more than 10 deep"),
        ('{"a": ' + "[" * 11 + "]" * 11 + "}", PARSE_FILE, "more than 10 deep"),
        ('{"a": "[[[[[[[[[[["}', PARSE_FILE, "more than 10 deep"),
        ({"err_msg_mode": 1}, INVALID_PARAM, 'err_msg_mode in the file of configPath is 1, expected the string "0"'),
        ({"err_msg_mode": "2"}, INVALID_PARAM, "err_msg_mode"),
        ({"dump": 1}, DUMP_CONFIG, "dump"),
        ({"profiler": "on"}, PROFILING_CONFIG, "profiler"),
        ({"profiler": {"switch": "maybe"}}, PROFILING_CONFIG, "switch"),
        ({"profiler": {"switch": "on", "output": 1}}, PROFILING_CONFIG, "output"),
        ({"profiler": {"switch": "on", "output": "/nonexistent/dir"}}, INVALID_FILE, "/nonexistent/dir"),
        ({"dump": {"dump_list": [{}]}}, DUMP_CONFIG, "dump.dump_path"),
        ({"dump": {"dump_list": [], "dump_mode": "both"}}, DUMP_CONFIG, "dump.dump_mode"),
        ({"max_opqueue_num": "0"}, OPQUEUE, "max_opqueue_num"),
        ({"max_opqueue_num": 5}, OPQUEUE, "max_opqueue_num"),
        ({"defaultDevice": {"default_device": 0}}, FAILURE, "defaultDevice.default_device"),
        ({"defaultDevice": {"default_device": "01"}}, FAILURE, "01"),
        ({"defaultDevice": {"default_device": "-1"}}, FAILURE, "-1"),
        ({"defaultDevice": {"default_device": ""}}, FAILURE, "default_device"),
        ({"defaultDevice": {"default_device": "99999999999999999999"}}, FAILURE, "default_device"),
        ({"defaultDevice": []}, FAILURE, "defaultDevice"),
        ({"StackSize": 1}, FAILURE, "StackSize"),
        ({"StackSize": {"aicore_stack_size": "1"}}, FAILURE, "StackSize.aicore_stack_size"),
        ({"simd_printf_fifo_size_per_core": "1048576"}, FAILURE, "simd_printf_fifo_size_per_core"),
        ({"simd_printf_fifo_size_per_core": 0}, FAILURE, "simd_printf_fifo_size_per_core"),
        ({"simd_printf_fifo_size_per_core": 1.5}, FAILURE, "simd_printf_fifo_size_per_core"),
        ({"simd_printf_fifo_size_per_core": 1023}, 107000, "expected 1024 to 67108864"),
        ({"acl_graph": {"event_mode": "2"}}, INVALID_PARAM, "event_mode"),
    ],
)
def test_bad_files(fresh, config, content, code, told):
    acl.get_recent_err_msg()
    assert acl.init(config(content)) == code
    assert told in acl.get_recent_err_msg()
    assert acl.finalize_reference() == (0, REPEAT_FINALIZE)


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "content",
    [
        {"err_msg_mode": "0", "acl_graph": {"event_mode": "1"}, "max_opqueue_num": "2000"},
        {"StackSize": {"aicore_stack_size": 32768, "simt_stack_size": 1152}},
        {"simd_printf_fifo_size_per_core": 1 << 20, "simt_printf_fifo_size": 1},
    ],
)
def test_accepted_settings(fresh, config, content):
    assert acl.init(config(content)) == 0


@pytest.mark.needs_sim
def test_first_content_is_for_good(fresh, config):
    assert acl.init(config({})) == 0
    assert acl.finalize() == 0
    assert acl.init() == INVALID_PARAM
    assert "differs from that of the first aclInit" in acl.get_recent_err_msg()
    assert acl.init(config({"a": 1})) == INVALID_PARAM
    assert acl.init(config({})) == 0


@pytest.mark.needs_sim
def test_default_device(fresh, config):
    assert acl.init(config({"defaultDevice": {"default_device": "0"}})) == 0
    assert acl.rt.get_device() == (0, 0)
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    assert acl.rt.get_device()[1] == 107002


@pytest.mark.needs_sim
def test_default_device_out_of_range_fails_later(fresh, config):
    assert acl.init(config({"defaultDevice": {"default_device": "9"}})) == 0
    assert acl.rt.create_stream()[1] == 107001


@pytest.mark.needs_sim
def test_messages_of_the_process(fresh, config):
    acl.get_recent_err_msg()
    assert acl.init(config({"err_msg_mode": "1"})) == 0
    thread = threading.Thread(target=acl.rt.set_device, args=(4711,))
    thread.start()
    thread.join()
    assert "deviceId is 4711" in acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None


class Calls:
    """Registered callbacks that note when they are called and with what."""

    def __init__(self):
        self.seen = []
        self.code = 0
        self.kept = []

    def init(self, name):
        @ffi.callback("aclInitCallbackFunc")
        def function(text, size, user):
            self.seen.append((name, ffi.unpack(text, size).decode() if text else None, int(ffi.cast("intptr_t", user))))
            return self.code

        self.kept.append(function)
        return function

    def finalize(self, name):
        @ffi.callback("aclFinalizeCallbackFunc")
        def function(user):
            self.seen.append(name)
            return self.code

        self.kept.append(function)
        return function


@pytest.mark.needs_sim
def test_init_callbacks(fresh, config):
    calls = Calls()
    user = ffi.cast("void *", 7)
    for kind in (OTHER, DVPP, OP_EXECUTOR, MODEL, CBLAS, OTHER):
        assert lib.aclInitCallbackRegister(kind, calls.init(kind), user) == 0
    assert acl.init(config("{ }")) == 0
    assert calls.seen == [(kind, "{ }", 7) for kind in (MODEL, OP_EXECUTOR, DVPP, OTHER, OTHER)]
    calls.seen.clear()
    calls.code = 5
    assert lib.aclInitCallbackRegister(OTHER, calls.init("late"), user) == 0
    assert calls.seen == [("late", "{ }", 7)]


@pytest.mark.needs_sim
def test_init_callbacks_without_a_file(fresh):
    calls = Calls()
    for kind in (OP_EXECUTOR, MODEL):
        assert lib.aclInitCallbackRegister(kind, calls.init(kind), ffi.NULL) == 0
    assert acl.init() == 0
    assert calls.seen == [(MODEL, "", 0)]


@pytest.mark.needs_sim
def test_failing_init_callback_fails_init(fresh):
    calls = Calls()
    calls.code = 4242
    assert lib.aclInitCallbackRegister(MODEL, calls.init(MODEL), ffi.NULL) == 0
    assert acl.init() == 4242
    assert "type 0 returned 4242" in acl.get_recent_err_msg()
    calls.code = 0
    assert acl.init() == 0


@pytest.mark.needs_sim
def test_init_inside_a_callback_is_counted(fresh):
    codes = []

    @ffi.callback("aclInitCallbackFunc")
    def again(text, size, user):
        codes.append(lib.aclInit(ffi.NULL))
        return 0

    assert lib.aclInitCallbackRegister(MODEL, again, ffi.NULL) == 0
    assert acl.init() == 0
    assert codes == [REPEAT_INIT]
    assert acl.finalize_reference() == (1, 0)


@pytest.mark.needs_sim
def test_callback_that_unregisters_itself(fresh):
    count = []

    @ffi.callback("aclInitCallbackFunc")
    def once(text, size, user):
        count.append(lib.aclInitCallbackUnRegister(OTHER, once))
        return 0

    calls = Calls()
    assert lib.aclInitCallbackRegister(OTHER, once, ffi.NULL) == 0
    assert lib.aclInitCallbackRegister(OTHER, calls.init("next"), ffi.NULL) == 0
    assert acl.init() == 0
    assert count == [0]
    assert calls.seen == [("next", "", 0)]


@pytest.mark.needs_sim
def test_finalize_callbacks(fresh):
    calls = Calls()
    for kind in (OTHER, DVPP, MODEL, OP_COMPILER, OP_EXECUTOR):
        assert lib.aclFinalizeCallbackRegister(kind, calls.finalize(kind), ffi.NULL) == 0
    assert acl.init() == 0
    calls.code = 77
    assert acl.finalize() == 77
    assert calls.seen == [OP_COMPILER]
    calls.code = 0
    calls.seen.clear()
    assert acl.finalize() == 0
    assert calls.seen == [OP_COMPILER, MODEL, DVPP, OTHER]


@pytest.mark.needs_sim
@pytest.mark.parametrize("moment", ["Init", "Finalize"])
def test_registration_codes(fresh, moment):
    calls = Calls()
    function = getattr(calls, moment.lower())("x")
    register = getattr(lib, f"acl{moment}CallbackRegister")
    unregister = getattr(lib, f"acl{moment}CallbackUnRegister")
    assert register(MODEL, ffi.NULL, ffi.NULL) == INVALID_PARAM
    assert unregister(MODEL, ffi.NULL) == INVALID_PARAM
    assert register(99, function, ffi.NULL) == INVALID_PARAM
    assert "type is 99" in acl.get_recent_err_msg()
    assert unregister(MODEL, function) == 500000
    assert register(MODEL, function, ffi.NULL) == 0
    assert register(MODEL, function, ffi.NULL) == 500000
    assert "type is 0" in acl.get_recent_err_msg()
    assert unregister(OTHER, function) == 500000
    assert unregister(MODEL, function) == 0
    assert [register(OTHER, function, ffi.NULL) for _ in range(2)] == [0, 0]
    assert [unregister(OTHER, function) for _ in range(3)] == [0, 0, 500000]


@pytest.mark.needs_sim
def test_fork_starts_uninitialised(run_script):
    code = (
        "import acl, os\n"
        "acl.init()\n"
        "acl.rt.set_device(0)\n"
        "desc = acl.create_tensor_desc(0, [2], 2)\n"
        "pid = os.fork()\n"
        "os.write(1, b'%d %d\\n' % (acl.init(), acl.get_tensor_desc_size(desc)))\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    done = run_script(code)
    assert sorted(done.stdout.splitlines()) == ["0 0", "100002 8"], done.stderr


def test_version():
    major, minor, patch, ret = acl.get_version()
    assert (major, patch, ret) == (1, 0, 0)
    assert minor >= 13


@pytest.mark.parametrize("hole", range(3))
def test_version_null(hole):
    numbers = [ffi.NULL if place == hole else ffi.new("int32_t *") for place in range(3)]
    assert lib.aclrtGetVersion(*numbers) == INVALID_PARAM


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("cann", "minor", "number"),
    [("8.1", 13, None), ("8.5", 13, 80500000), ("9.0", 17, 90000000), ("9.1", 17, 90100000)],
)
def test_versions_follow_the_configured_cann(fresh, cann, minor, number):
    acl.sim.configure(cann=cann)
    assert acl.get_version() == (1, minor, 0, 0)
    parts = cann.split(".")
    version, ret = acl.get_cann_version(7)
    assert ret == 0
    assert version == {
        "version": f"{cann}.0",
        "major_version": parts[0],
        "minor_version": parts[1],
        "release_version": "0",
        "patch_version": "0",
        "reserved": "",
    }
    if cann != "8.1":  # which has not got the other two
        assert acl.get_version_str("opp-kernel") == (f"{cann}.0", 0)
        value = ffi.new("int32_t *")
        assert lib.aclsysGetVersionNum(ffi.new("char[]", b"runtime"), value) == 0
        assert value[0] == number


PACKAGES = (
    "ops_math ops_nn ops_cv ops_transformer ops_legacy opbase hcomm ge-compiler ge_executor metadef bisheng-compiler"
)


@pytest.mark.parametrize("package", [*PACKAGES.split(), "ops-math"])
def test_every_package_of_a_toolkit_has_a_version(package):
    version, ret = acl.get_version_str(package)
    assert ret == 0, acl.get_recent_err_msg()
    assert version == acl.get_version_str("runtime")[0]
    number = ffi.new("int32_t *")
    assert lib.aclsysGetVersionNum(ffi.new("char[]", package.encode()), number) == 0
    assert number[0] >= 80000000


@pytest.mark.needs_sim
def test_unknown_packages():
    assert acl.get_cann_version(8)[1] == INVALID_PARAM
    assert "name is 8" in acl.get_recent_err_msg()
    assert acl.get_version_str("nothing")[1] == INVALID_FILE
    assert 'pkgName is "nothing", expected a package of a toolkit, such as cann' in acl.get_recent_err_msg()
    name, text, number = ffi.new("char[]", b"cann"), ffi.new("char[128]"), ffi.new("int32_t *")
    assert lib.aclsysGetVersionStr(ffi.NULL, text) == INVALID_PARAM
    assert lib.aclsysGetVersionStr(name, ffi.NULL) == INVALID_PARAM
    assert lib.aclsysGetVersionNum(ffi.NULL, number) == INVALID_PARAM
    assert lib.aclsysGetVersionNum(name, ffi.NULL) == INVALID_PARAM
    assert lib.aclsysGetVersionNum(ffi.new("char[]", b"nothing"), number) == INVALID_FILE
    assert lib.aclsysGetCANNVersion(0, ffi.NULL) == INVALID_PARAM


def test_soc_name():
    assert acl.get_soc_name().startswith("Ascend")


@pytest.mark.needs_sim
def test_soc_name_follows_the_configuration(fresh):
    acl.sim.configure(soc="Ascend310P3")
    assert acl.get_soc_name() == "Ascend310P3"
    assert acl.rt.get_op_execute_timeout() == (547000, 0)


@pytest.mark.needs_sim
def test_operator_timeout(fresh):
    assert acl.rt.get_op_execute_timeout() == (1091000, 0)
    assert lib.aclrtGetOpExecuteTimeout(ffi.NULL) == INVALID_PARAM


@pytest.mark.needs_sim
def test_platform(fresh):
    value = ffi.new("char[64]")

    def ask(what):
        assert lib.aclplatformGetDeviceInfo(what, value, 64) == 0
        return ffi.string(value).decode()

    known = {0: "20", 1: "196608", 2: "20", 3: "40", 4: "201326592", 5: str(64 << 30), 6: "1800", 15: "2201"}
    assert {what: ask(what) for what in known} == known
    assert (ask(13), ask(14)) == ("Ascend910B3", "AIC-C-220")
    assert lib.aclplatformGetDeviceInfo(9, value, 64) == 207000
    assert lib.aclplatformGetDeviceInfo(0, ffi.NULL, 64) == INVALID_PARAM
    assert lib.aclplatformGetDeviceInfo(99, value, 64) == INVALID_PARAM
    assert "infoType is 99" in acl.get_recent_err_msg()
    assert lib.aclplatformGetDeviceInfo(13, value, 11) == INVALID_PARAM
    assert "maxLen is 11, expected at least 12" in acl.get_recent_err_msg()


@pytest.mark.needs_sim
def test_instructions_are_not_known():
    value = ffi.new("char[64]")
    assert lib.aclplatformGetInstructionInfo(0, b"Add", value, 64) == 207000
    assert lib.aclplatformGetInstructionInfo(0, ffi.NULL, value, 64) == INVALID_PARAM
    assert lib.aclplatformGetInstructionInfo(0, b"Add", ffi.NULL, 64) == INVALID_PARAM
    assert lib.aclplatformGetInstructionInfo(2, b"Add", value, 64) == INVALID_PARAM
    assert lib.aclplatformGetInstructionInfo(0, b"Add", value, 0) == INVALID_PARAM


@pytest.mark.needs_sim
@pytest.mark.parametrize(("soc", "fits"), [("Ascend910B1", 1), ("Ascend910_9391", 1), ("Ascend910A", 0), ("x", 0)])
def test_architecture(fresh, soc, fits):
    value = ffi.new("int32_t *", -1)
    assert lib.aclrtCheckArchCompatibility(soc.encode(), value) == 0
    assert value[0] == fits


def test_architecture_null():
    value = ffi.new("int32_t *")
    assert lib.aclrtCheckArchCompatibility(ffi.NULL, value) == 107000
    assert lib.aclrtCheckArchCompatibility(b"Ascend910B1", ffi.NULL) == 107000


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "attributes"), [("Ascend910B3", [0, 1, 2]), ("Ascend910_95", [0, 1, 2]), ("Ascend310P3", [2])]
)
def test_features_of_software_and_chip(configure, soc, attributes):
    configure(soc=soc)
    assert acl.get_cann_attribute_list() == (attributes, len(attributes), 0)
    assert [acl.get_cann_attribute(one) for one in range(3)] == [(int(one in attributes), 0) for one in range(3)]


def test_features_refuse_what_is_none():
    found, count = ffi.new("const aclCannAttr **"), ffi.new("size_t *")
    assert lib.aclGetCannAttributeList(ffi.NULL, count) == INVALID_PARAM
    assert lib.aclGetCannAttributeList(found, ffi.NULL) == INVALID_PARAM
    assert lib.aclGetCannAttribute(0, ffi.NULL) == INVALID_PARAM
    for one in (-1, 3):
        assert acl.get_cann_attribute(one)[1] == INVALID_PARAM
        assert not acl.is_simulator or f"cannAttr is {one}, expected 0 to 2" in acl.get_recent_err_msg()
