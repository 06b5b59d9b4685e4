"""CANN versions: the simulator as each of them, and toolkits that look like each of them behind ACL_BACKEND=npu."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import toolkits
from helpers.expect import ABI, call_with_nothing, message_of_absent, refused
from helpers.toolkits import VERSIONS

import acl
from acl import abi, headers, nnop
from acl._lib import ffi

ROOT = Path(__file__).resolve().parent.parent
NOT_SUPPORTED = 207000


# ---- the simulator as a version


@pytest.fixture
def fresh():
    acl.sim.reset()
    yield
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_newer_functions_are_refused(fresh, version):
    acl.sim.configure(cann=version)
    newer = [function for function in ABI.functions.values() if function.since > toolkits.parse(version)]
    assert len(newer) == {"8.1": 251, "8.5": 100, "9.0": 66}[version]
    for function in newer:
        reason = f"{function.name} failed because it needs CANN {function.needs}, and ACL_SIM_CANN is {version}"
        assert reason in message_of_absent(function.name)


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("name", "before", "version"),
    [
        ("aclsysGetVersionNum", "8.1", "8.5"),
        ("aclmdlRIDestroyRegisterCallback", "8.5", "9.0"),
        ("aclplatformGetDeviceInfo", "9.0", "9.1"),
        ("aclrtStreamWaitEventWithFlag", "9.0", "9.1"),  # of what is later than the newest
    ],
)
def test_a_version_brings_its_functions(fresh, name, before, version):
    acl.sim.configure(cann=before)
    assert "needs CANN" in call_with_nothing(name)[1]
    acl.sim.configure(cann=version)
    code, message = call_with_nothing(name)
    assert code != 0 and f"{name} failed because" in message and "needs CANN" not in message


@pytest.mark.needs_sim
@pytest.mark.parametrize("version, count", [("8.1", 383), ("8.5", 218), ("9.0", 158), ("9.1", 0)])
def test_newer_operators_are_refused(fresh, version, count):
    acl.sim.configure(cann=version)
    newer = {
        name: operator
        for name, operator in nnop._operators().items()
        if version < "9.1" and toolkits.parse(operator.get("needs", "8.1").split()[-1]) > toolkits.parse(version)
    }
    assert len(newer) == count
    for name, operator in newer.items():
        reason = f"it needs CANN {operator['needs']}, and ACL_SIM_CANN is {version}"
        nothing = ["" if "char" in ctype else 0 for ctype, _, _ in operator["parameters"]]
        ret = getattr(nnop, f"{name}_get_workspace_size")(*nothing)[2]
        refused(ret, NOT_SUPPORTED, f"{operator['name']}GetWorkspaceSize failed because {reason}")
        refused(getattr(nnop, name)(0, 0, 0, 0), NOT_SUPPORTED, f"{operator['name']} failed because {reason}")


@pytest.mark.needs_sim
def test_an_operator_on_arrays_names_the_version_that_it_needs(run_script):
    code = """
import numpy
import acl
with acl.Device(0):
    array = acl.DeviceArray.from_numpy(numpy.ones(2, "f4"))
    try:
        acl.nn.square(array, out=array)
    except acl.NotSupportedError as error:
        print(error)
"""
    done = run_script(code, {"ACL_SIM_CANN": "8.1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "aclnnSquareGetWorkspaceSize" in done.stdout
    assert "it needs CANN 8.5, and ACL_SIM_CANN is 8.1" in done.stdout


@pytest.mark.needs_sim
def test_unsupported_calls_are_told_once_a_function(run_script):
    names = ["aclnnCalculateConvolutionWeightSize", "aclsysGetVersionNum"]
    code = f"""
import ctypes, os
import acl
from helpers.expect import message_of_absent
absent = ctypes.CDLL(os.path.join(acl.get_lib(), "libacl_sim.so")).{names[0]}
for _ in range(3):
    assert absent(None, None) == 207000
    print(acl.get_recent_err_msg(), message_of_absent("{names[1]}"))
"""
    told = [
        f"acl: {names[0]} failed because this simulator does not provide it yet; "
        "`python -m acl abi --missing` lists the functions of AscendCL without behaviour",
        f"acl: {names[1]} failed because it needs CANN 8.5, and ACL_SIM_CANN is 8.1",
    ]
    environment = {"ACL_SIM_CANN": "8.1", "PYTHONPATH": ROOT / "tests"}
    for value, lines in (("warn", told), ("error", []), (None, [])):
        done = run_script(code, {**environment, "ACL_SIM_UNSUPPORTED": value})
        assert (done.returncode, done.stderr.splitlines()) == (0, lines)
        assert all(name in done.stdout for name in names)


# ---- toolkits


@pytest.fixture(scope="module", params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    return toolkits.compile_shim(tmp_path_factory.mktemp("shim"), False)


@pytest.fixture(scope="module")
def toolkit(version, shim, tmp_path_factory):
    return toolkits.write(version, tmp_path_factory.mktemp("cann") / version, shim)


@pytest.fixture
def cxx():
    if shutil.which("g++") is None:
        pytest.skip("no g++")


ABSENT = """
import json
import acl
from acl import _lib
from helpers.expect import ABI, message_of_absent
found = [name for name in ABI.functions if _lib.present(name)]
said = {name: message_of_absent(name) for name in ABI.functions if not _lib.present(name)}
said = {name: message_of_absent(name) for name in said}
print(json.dumps([acl.is_simulator, acl.library_path, acl.rt.set_device(0), acl.get_version(), found, said]))
"""


def test_a_toolkit_has_what_its_version_has(run_script, version, toolkit):
    """All else is refused with the version that has it, whatever it returns, and told once where that is asked for."""
    environment = {"ACL_BACKEND": "npu", "ACL_TOOLKIT": toolkit, "PYTHONPATH": ROOT / "tests", "ACL_SIM_CANN": None}
    done = run_script(ABSENT, {**environment, "ACL_SIM_UNSUPPORTED": "warn"})
    assert done.returncode == 0, done.stderr
    is_simulator, path, ret, interface, found, said = json.loads(done.stdout)
    assert (is_simulator, path, ret) == (True, str(toolkit / "lib64" / toolkits.MAIN), 0)
    assert interface == [1, 13 if version < "9" else 17, 0, 0]
    control = {function.name for function in ABI.functions.values() if function.group == abi.CONTROL_GROUP}
    assert set(found) == set(toolkits.functions(version)) | control
    assert len(said) == {"8.1": 251, "8.5": 100, "9.0": 77, "9.1": 27}[version]
    assert done.stderr.splitlines() == [f"acl: {message}" for message in said.values()]
    for name, message in said.items():
        assert message.startswith(f"{name} failed because it needs CANN {ABI.functions[name].needs}: ")


def test_the_doctor_counts_what_a_version_lacks(run_script, version, toolkit):
    code = "import sys; sys.argv = ['ascendcl', 'doctor']; import ascendcl; ascendcl.main()"
    done = run_script(code, {"ACL_BACKEND": "npu", "ACL_TOOLKIT": toolkit})
    assert (done.returncode, done.stderr) == (0, "")
    lacking = {
        "8.1": "251 of 735 functions: 151 of CANN 8.5, 34 of CANN 9.0, 51 of CANN 9.1, 15 of CANN later than 9.1",
        "8.5": "100 of 735 functions: 34 of CANN 9.0, 51 of CANN 9.1, 15 of CANN later than 9.1",
        "9.0": "77 of 735 functions: 11 of CANN 8.1, 51 of CANN 9.1, 15 of CANN later than 9.1",
        "9.1": "27 of 735 functions: 11 of CANN 8.1, 1 of CANN 9.1, 15 of CANN later than 9.1",
    }[version]
    report = done.stdout.splitlines()
    assert f"missing    {lacking}" in report
    assert f"toolkit    {toolkit} (CANN {toolkits.NAMES[toolkits.parse(version)]})" in report
    assert "backend    npu, because ACL_BACKEND=npu" in report


def test_headers_of_a_version_agree_with_ours(version, toolkit, cxx):
    result = headers.compare(ABI, ffi, str(toolkit))
    assert result.difference is None
    assert result[1:] == ({"8.1": 484, "8.5": 635, "9.0": 669, "9.1": 720}[version], 0)


def syntax(language, toolkit, text):
    """Compile text against a toolkit and return the exit code."""
    return subprocess.run(
        ["gcc", f"-x{language}", f"-I{toolkit}/include", "-fsyntax-only", "-"],
        input=text, text=True, stderr=subprocess.DEVNULL,
    ).returncode  # fmt: skip


def test_the_layout_is_that_of_the_version(version, toolkit, cxx):
    assert syntax("c", toolkit, "#include <acl/acl.h>\nint main(void) { return aclInit(NULL); }") == 0
    for header in toolkits.CXX_ONLY:
        assert (toolkit / "include" / header).exists()
        assert syntax("c", toolkit, f"#include <{header}>") != 0
        assert syntax("c++", toolkit, f"#include <{header}>") == 0
    moved = (toolkit / "include" / "acl" / "acl_base_mdl.h").exists()
    assert moved == (version >= "9")
    text = (toolkit / "include" / "acl" / "acl.h").read_text()
    assert ("aclInit(" in text) != moved


STRUCT = ("uint32_t pageSize;", "uint64_t pageSize;")
VALUE = ("ACL_MEMCPY_HOST_TO_DEVICE = 1,", "ACL_MEMCPY_HOST_TO_DEVICE = 4,")


def changed(toolkit, place, old, new):
    """Copy a toolkit and change a struct or a value of its headers."""
    copy = Path(shutil.copytree(toolkit, place))
    header = copy / "include" / "acl" / "acl_rt.h"
    text = header.read_text()
    assert text.count(old) == 1
    header.write_text(text.replace(old, new))
    return copy


BUILD = """
import build_acl
from cffi import FFI
parser = build_acl.load("abi")
ffi = FFI()
ffi.cdef(parser.cdef(build_acl.INCLUDE))
build_acl.check_toolkit(parser.load(build_acl.INCLUDE), ffi)
"""


def build(run_script, toolkit):
    pytest.importorskip("setuptools")
    return run_script(BUILD, {"ACL_TOOLKIT": toolkit, "PYTHONPATH": ROOT})


@pytest.mark.parametrize("version", ["8.1"], indirect=True)
def test_the_build_takes_an_older_version_and_no_changed_one(run_script, tmp_path, toolkit, cxx):
    done = build(run_script, toolkit)
    assert done.returncode == 0, done.stderr
    for change, said in ((STRUCT, "size of aclrtPtrAttributes"), (VALUE, "ACL_MEMCPY_HOST_TO_DEVICE is 1 here")):
        done = build(run_script, changed(toolkit, tmp_path / said, *change))
        assert done.returncode == 1
        assert "differ from ours" in done.stderr and said in done.stderr


@pytest.mark.parametrize("version", ["9.1"], indirect=True)
def test_a_version_nobody_knows_is_compared_when_it_is_opened(run_script, tmp_path, toolkit, cxx):
    same = shutil.copytree(toolkit, tmp_path / "same")
    other = changed(toolkit, tmp_path / "changed", *STRUCT)
    environment = {"ACL_BACKEND": "npu", "XDG_CACHE_HOME": tmp_path / "cache"}
    for future in (same, other):
        (future / "version.info").write_text("Version=10.0.0\n")
    done = run_script("import acl", {**environment, "ACL_TOOLKIT": other})
    assert done.returncode == 1
    assert "is CANN 10.0.0, newer than this package supports" in done.stderr
    assert "size of aclrtPtrAttributes" in done.stderr
    environment["ACL_TOOLKIT"] = same
    blind = {**environment, "PATH": "/nowhere"}
    done = run_script("import acl", blind)
    assert done.returncode == 1 and "no C++ compiler" in done.stderr
    # What agreed once is not compared again.
    for once in (environment, blind):
        done = run_script("import acl", once)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("version", ["8.1"], indirect=True)
def test_operators_are_compared_where_the_toolkit_has_their_headers(tmp_path, toolkit, cxx):
    place = Path(shutil.copytree(toolkit, tmp_path / "toolkit"))
    header = place / "include" / "aclnnop" / "aclnn_add.h"
    header.parent.mkdir()
    text = (Path(acl.get_include()) / "aclnnop" / "aclnn_add.h").read_text().replace("ACL_API(8, 1) ", "")
    header.write_text(text)
    assert headers.compare(ABI, ffi, str(place), acl.get_include()) == (None, 484, 8)
    header.write_text(text.replace("const aclScalar *alpha", "float alpha", 1))
    result = headers.compare(ABI, ffi, str(place), acl.get_include())
    assert "aclnnAddGetWorkspaceSize" in result.difference


COLLECTIVE = """
import numpy
import acl
from acl._lib import ffi, lib
with acl.Device(0):
    try:
        with acl.Communicator.all([0])[0] as comm:
            print(comm.all_reduce(acl.DeviceArray.from_numpy(numpy.ones(2, "f4"))))
    except acl.NotSupportedError as error:
        print(error)
        print(lib.HcclBarrier(ffi.NULL, ffi.NULL), acl.get_recent_err_msg())
"""


@pytest.mark.parametrize("version", ["8.1"], indirect=True)
def test_communicators_need_the_library_of_the_toolkit(run_script, tmp_path, toolkit):
    place = Path(shutil.copytree(toolkit, tmp_path / "toolkit"))
    environment = {"ACL_BACKEND": "npu", "ACL_TOOLKIT": place, "ACL_SIM_CANN": None}
    done = run_script(COLLECTIVE, environment)
    assert (done.returncode, done.stderr) == (0, "")
    refused, absent = done.stdout.splitlines()
    assert f"acl.Communicator: HCCL cannot be used: {place}/lib64/libhccl.so: cannot open shared object" in refused
    assert refused.endswith("; install the part of the CANN toolkit that has lib64/libhccl.so")
    assert absent.startswith("5 HcclBarrier failed because it needs CANN 8.1: ")
    for name in ("libhccl.so", "libacl_sim.so"):
        (place / "lib64" / name).symlink_to(Path(acl.get_lib(), name))
    done = run_script(COLLECTIVE, environment)
    assert (done.returncode, done.stdout) == (0, "[1. 1.]\n"), done.stderr
