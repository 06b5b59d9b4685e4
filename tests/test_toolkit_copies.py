"""Two copies of the simulator in one process, a toolkit's and the package's: they are one, or the second says so."""

import pytest

from acl import layout


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Lay out a toolkit, which has a simulator of its own."""
    place = tmp_path_factory.mktemp("copy") / "toolkit"
    layout.write(place)
    return str(place / "lib64")


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", ["libascendcl.so", "libacl_sim.so"])
def test_the_package_attaches_to_the_simulator_of_a_toolkit(run_script, copy, name):
    code = f"""
import ctypes
first = ctypes.CDLL({copy + "/" + name!r}, ctypes.RTLD_GLOBAL)
assert first.aclrtSetDevice(0) == 0
import acl
assert acl._lib.library_path == {copy + "/libacl_sim.so"!r}, acl._lib.library_path
assert acl.rt.get_device() == (0, 0)
place = ctypes.c_void_p()
assert first.aclrtMalloc(ctypes.byref(place), ctypes.c_size_t(64), 0) == 0
assert acl.rt.free(place.value) == 0, acl.get_recent_err_msg()
"""
    done = run_script(code, {"ACL_BACKEND": "sim"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.needs_sim
def test_a_toolkit_attaches_to_the_simulator_of_the_package(run_script, copy):
    code = f"""
import ctypes
import acl
assert acl.rt.set_device(0) == 0
second = ctypes.CDLL({copy + "/libascendcl.so"!r})
device = ctypes.c_int32(-1)
assert second.aclrtGetDevice(ctypes.byref(device)) == 0 and device.value == 0
"""
    done = run_script(code, {"ACL_BACKEND": "sim"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.needs_sim
def test_a_second_copy_says_so_at_once(run_script, copy):
    code = f"""
import ctypes, sys
import acl
path = {copy + "/libacl_sim.so"!r}
ctypes.CDLL(path)
print(acl._lib.library_path)
"""
    done = run_script(code, {"ACL_BACKEND": "sim"})
    assert done.returncode == 0, done.stderr
    first = done.stdout.strip()
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"acl simulator: {copy}/libacl_sim.so is the second copy in this process, after {first}: ")
    assert "rejects the handles of the other" in line
