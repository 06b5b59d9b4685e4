"""A vector addition in C and in NumPy, launched and replayed by programs in C and in Python."""

import ctypes
import subprocess

import numpy
import pytest
from helpers import capture
from helpers.vectors import COUNT, Vectors, register

import acl
from acl import demo

PROGRAM = """
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 6, ROUNDS = 3 };
#define TRY(call) do { aclError code_ = (call); if (code_ != 0) return code_; } while (0)

static aclError add(const char *path, int replayed, float *out)
{
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclmdlRI instance;
    void *x, *y;
    float numbers[2][COUNT];
    for (int i = 0; i < COUNT; i++) {
        numbers[0][i] = (float)i;
        numbers[1][i] = 10 * (float)i;
    }
    TRY(aclrtSetDevice(0));
    TRY(aclrtCreateStream(&stream));
    TRY(aclrtBinaryLoadFromFile(path, NULL, &binary));
    TRY(aclrtBinaryGetFunction(binary, "vector_add", &function));
    TRY(aclrtMalloc(&x, sizeof numbers[0], ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMalloc(&y, sizeof numbers[1], ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMemcpy(x, sizeof numbers[0], numbers[0], sizeof numbers[0], ACL_MEMCPY_HOST_TO_DEVICE));
    TRY(aclrtMemcpy(y, sizeof numbers[1], numbers[1], sizeof numbers[1], ACL_MEMCPY_HOST_TO_DEVICE));
    struct { void *x, *y, *z; uint64_t count; } args = {x, y, y, COUNT};
    if (replayed)
        TRY(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    TRY(aclrtLaunchKernelWithHostArgs(function, 2, stream, NULL, &args, sizeof args, NULL, 0));
    if (replayed) {
        TRY(aclmdlRICaptureEnd(stream, &instance));
        for (int i = 0; i < ROUNDS; i++)
            TRY(aclmdlRIExecuteAsync(instance, stream));
    }
    TRY(aclrtSynchronizeStream(stream));
    TRY(aclrtMemcpy(out, sizeof numbers[1], y, sizeof numbers[1], ACL_MEMCPY_DEVICE_TO_HOST));
    if (replayed)
        TRY(aclmdlRIDestroy(instance));
    TRY(aclrtFree(x));
    TRY(aclrtFree(y));
    TRY(aclrtBinaryUnLoad(binary));
    return aclrtDestroyStream(stream);
}

aclError program(const char *path, int replayed, float *out);
aclError program(const char *path, int replayed, float *out)
{
    aclError code = add(path, replayed, out);
    if (code != 0)
        fprintf(stderr, "%d %s\\n", code, aclGetRecentErrMsg());
    return code;
}

int main(int argc, char **argv)
{
    float out[COUNT];
    int replayed = argc > 2 && strcmp(argv[2], "replayed") == 0;
    if (argc < 3 || program(argv[1], replayed, out) != 0)
        return 1;
    for (int i = 0; i < COUNT; i++)
        printf("%g ", out[i]);
    return 0;
}
"""

pytestmark = pytest.mark.needs_sim


def build(place, *options):
    """Build the program in C."""
    (place / "program.c").write_text(PROGRAM)
    built = place / "program"
    subprocess.run(["gcc", *options, str(place / "program.c"), "-o", str(built), *demo.options()], check=True)
    return built


def in_c(place, path, way):
    """Run the program in C by itself, or, where the kernel is this process's, in it."""
    if path is not None:
        done = subprocess.run([build(place), path, way], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return [float(number) for number in done.stdout.split()]
    program = ctypes.CDLL(str(build(place, "-shared", "-fPIC"))).program
    out = numpy.zeros(COUNT, "f4")
    program.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    assert program(b"vector_add.o", way == "replayed", out.ctypes.data) == 0
    return out.tolist()


def in_python(place, path, way):
    """Do the same in Python."""
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    vectors = Vectors(stream, path or "vector_add.o")
    if way == "replayed":
        capture.begin(stream)
    assert vectors.launch() == 0, acl.get_recent_err_msg()
    if way == "replayed":
        instance = capture.end(stream)
        for _ in range(3):
            assert acl.mdl.ri_execute_async(instance, stream) == 0
    return [vectors.result() * index for index in range(COUNT)]


@pytest.fixture
def kernel(request, tmp_path, device):
    """Give the path of the kernel's library, or None for the kernel in NumPy."""
    if request.param == "NumPy":
        register()
        yield None
    else:
        yield demo.build_kernel(demo.examples(), str(tmp_path), "gcc")
    acl.sim.reset()


@pytest.mark.parametrize("way, times", [("launched", 11), ("replayed", 13)])
@pytest.mark.parametrize("program", [in_c, in_python])
@pytest.mark.parametrize("kernel", ["C", "NumPy"], indirect=True)
def test_every_kernel_in_every_program(tmp_path, kernel, program, way, times):
    assert program(tmp_path, kernel, way) == [times * index for index in range(COUNT)]
