"""Little address space (``ulimit -v``), and valgrind: reservations shrink, say so once, and what fits works."""

import shutil

import pytest
from helpers import programs

pytestmark = pytest.mark.needs_sim

LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({gigabytes} << 30, {gigabytes} << 30))
import acl
from acl._lib import ffi, lib
"""

MEMORY = """
for turn in range(2):
    assert acl.rt.set_device(0) == 0, acl.get_recent_err_msg()
    address, ret = acl.rt.malloc(64 << 20, 0)
    assert ret == 0 and acl.rt.memset(address, 64 << 20, 1, 64 << 20) == 0
    assert acl.rt.malloc(32 << 30, 0)[1] == 207001
    assert acl.rt.malloc_host(1 << 20)[1] == 0
    assert acl.rt.reset_device(0) == 0
print("works")
"""

VIRTUAL_MEMORY = """
SIZE = 2 << 20
prop = ffi.new("aclrtPhysicalMemProp *", {"memAttr": lib.ACL_HBM_MEM_HUGE, "location": {"type": 1, "id": 0}})
access = ffi.new("aclrtMemAccessDesc *", {"flags": 3, "location": {"type": 1, "id": 0}})
for turn in range(2):
    assert acl.rt.set_device(0) == 0
    address, memory, back = ffi.new("void **"), ffi.new("aclrtDrvMemHandle *"), ffi.new("uint32_t *")
    assert lib.aclrtReserveMemAddress(address, 64 << 20, 0, ffi.NULL, 0) == 0, acl.get_recent_err_msg()
    assert lib.aclrtMallocPhysical(memory, SIZE, prop, 0) == 0
    assert lib.aclrtMapMem(address[0], SIZE, 0, memory[0], 0) == 0
    assert lib.aclrtMemSetAccess(address[0], SIZE, access, 1) == 0
    assert lib.aclrtMemset(address[0], SIZE, 0x5a, SIZE) == 0, acl.get_recent_err_msg()
    assert lib.aclrtMemcpy(back, 4, address[0] + SIZE - 4, 4, 2) == 0 and back[0] == 0x5a5a5a5a
    assert lib.aclrtReserveMemAddress(ffi.new("void **"), 32 << 30, 0, ffi.NULL, 0) == 207001
    assert "expected at most" in acl.get_recent_err_msg()
    assert lib.aclrtUnmapMem(address[0]) == lib.aclrtFreePhysical(memory[0]) == 0
    assert lib.aclrtReleaseMemAddress(address[0]) == 0
    assert acl.rt.reset_device(0) == 0
print("works")
"""

PROGRAM = r"""
#include <acl/acl.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    void *block;
    char there[64] = "seen by valgrind", back[64] = "";
    aclError ret = aclInit(NULL);
    ret = ret == 0 ? aclrtSetDevice(0) : ret;
    ret = ret == 0 ? aclrtMalloc(&block, sizeof there, ACL_MEM_MALLOC_HUGE_FIRST) : ret;
    ret = ret == 0 ? aclrtMemcpy(block, sizeof there, there, sizeof there, ACL_MEMCPY_HOST_TO_DEVICE) : ret;
    ret = ret == 0 ? aclrtMemcpy(back, sizeof back, block, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST) : ret;
    ret = ret == 0 ? aclrtFree(block) : ret;
    ret = ret == 0 ? aclrtResetDevice(0) : ret;
    ret = ret == 0 ? aclFinalize() : ret;
    printf("%d %s\n", ret, back);
    return ret != 0;
}
"""

CANNOT_LIMIT = pytest.mark.skipif(programs.sanitized(), reason="a sanitizer reserves more address space than the limit")


def said(done):
    return [line for line in done.stderr.splitlines() if "address space" in line]


@CANNOT_LIMIT
@pytest.mark.parametrize("gigabytes", [4, 6, 16])
def test_device_memory_shrinks(run_script, gigabytes):
    done = run_script(LIMITED.format(gigabytes=gigabytes) + MEMORY, env={"ACL_BACKEND": "sim"})
    assert done.stdout.split() == ["works"], done.stderr
    (line,) = said(done)
    assert "for the memory of a device" in line and "ulimit -v" in line and "207001" in line


@CANNOT_LIMIT
@pytest.mark.parametrize("gigabytes", [4, 6, 16])
def test_reserved_addresses_shrink(run_script, gigabytes):
    done = run_script(LIMITED.format(gigabytes=gigabytes) + VIRTUAL_MEMORY, env={"ACL_BACKEND": "sim"})
    assert done.stdout.split() == ["works"], done.stderr
    of_devices, of_reserved = said(done)
    assert "for the memory of a device" in of_devices
    assert "for reserved addresses (aclrtReserveMemAddress)" in of_reserved
    assert "ulimit -v" in of_reserved and "207001" in of_reserved


@CANNOT_LIMIT
def test_enough_address_space_is_silent(run_script):
    done = run_script("import acl; assert acl.rt.set_device(0) == 0", env={"ACL_BACKEND": "sim"})
    assert (done.returncode, said(done)) == (0, [])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(programs.sanitized(), reason="a sanitized library does not start under valgrind")
def test_programs_run_under_valgrind(compile_c):
    program = compile_c(PROGRAM)
    # Without a search for leaks: it reads the tables of gigabytes of addresses, which takes minutes.
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=no", program]
    done = programs.run(command, timeout=300)
    assert (done.returncode, done.stdout) == (0, "0 seen by valgrind\n"), done.stderr
    assert len(said(done)) <= 1, "a valgrind that grants the reservation leaves nothing to say"
