"""What projects find in a toolkit beside headers and libraries: macros, C++, CMake packages, the compiler of models."""

import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import programs
from test_toolkit_build import KERNELS, PROJECT, SUMS, need, run, sourced

import acl

MACROS = r"""
#include <acl/acl.h>
#include <acl/acl_prof.h>
#include <acl/acl_dump.h>
#include <stdio.h>

ACL_FUNC_VISIBILITY int visible(void);
ACL_DUMP_API int dump(void);
MSVP_PROF_API int profile(void);
GE_FUNC_VISIBILITY int ge(void);
ACL_DEPRECATED int old(void);
ACL_DEPRECATED_MESSAGE("use new") int older(void);
int visible(void) { return 1; }
int dump(void) { return 2; }
int profile(void) { return 3; }
int ge(void) { return 4; }

int main(void)
{
    ACL_APP_LOG(ACL_ERROR, "number %d", 7);
    ACL_APP_LOG(ACL_INFO, "plain");
    printf("%d\n", visible() + dump() + profile() + ge());
    return 0;
}
"""


@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
def test_macros_of_the_headers(tmp_path, cxx):
    program = programs.Compiler(tmp_path)(MACROS, "-Werror", "-fvisibility=hidden", "-rdynamic", cxx=cxx)
    assert programs.run([program]).stdout == "10\n"
    listed = run("nm", "-D", "--defined-only", program)
    assert all(name in listed for name in ("visible", "dump", "profile"))


def test_what_is_deprecated_warns(tmp_path):
    need("gcc")
    text = '#include <acl/acl.h>\nACL_DEPRECATED_MESSAGE("use new") int old(void);\nint main(void) { return old(); }\n'
    command = ["gcc", "-xc", f"-I{acl.get_include()}", "-fsyntax-only", "-"]
    said = subprocess.run(command, input=text, capture_output=True, text=True).stderr
    assert "deprecated" in said and "use new" in said


SIZES = r"""
#include <acl/acl_rt.h>
#include <cstdio>

static_assert(sizeof(dim3) == 12, "passed by value as in C");

int main()
{
    dim3 one, row(5), block{2, 3};
    std::printf("%u%u%u %u%u%u %u%u%u\n", one.x, one.y, one.z, row.x, row.y, row.z, block.x, block.y, block.z);
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_sizes_that_are_not_given_are_1(tmp_path, standard):
    program = programs.Compiler(tmp_path)(SIZES, f"-std={standard}", "-Wpedantic", "-Werror", cxx=True)
    assert programs.run([program]).stdout == "111 511 231\n"


OTHER_HEADERS = r"""
#include <acl/ops/acl_dvpp.h>
#include <hccl/hccl.h>
#include <hcomm/hcomm_res.h>
#include <mstx/ms_tools_ext.h>
#include <securec.h>
#include <stdio.h>

int main(void)
{
    void *memory = NULL;
    char text[8];
    int ret = aclInit(NULL) | aclrtSetDevice(0) | acldvppMalloc(&memory, 64) | acldvppFree(memory);
    mstxRangeEnd(mstxRangeStartA("nothing collects", NULL));
    ret |= strcpy_s(text, sizeof text, "done");
    printf("%d %s %d %d\n", ret, text, acldvppDestroyPicDesc(NULL), HcommThreadFree(NULL, 0));
    return aclFinalize();
}
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
def test_headers_of_other_libraries(tmp_path, cxx):
    libraries = ["acl_dvpp", "hccl", "hcomm", "ms_tools_ext", "c_sec", "ascendcl"]
    program = programs.Compiler(tmp_path)(OTHER_HEADERS, "-Werror", cxx=cxx, libraries=libraries)
    assert programs.run([program]).stdout == "0 done 207000 5\n"


PACKAGE = """
cmake_minimum_required(VERSION 3.14)
project(app CXX)
find_package(ascendcl REQUIRED)
add_executable(add %(project)s/add.cpp)
target_link_libraries(add PRIVATE ascendcl::ascendcl ascendcl::nnopbase ascendcl::opapi)
"""


@pytest.mark.parametrize("home", ["toolkit", "package"])
def test_find_package(toolkit, home, tmp_path):
    need("cmake", "make", "g++")
    (tmp_path / "CMakeLists.txt").write_text(PACKAGE % {"project": PROJECT})
    place = toolkit if home == "toolkit" else acl.toolkit_path()
    build = "cmake -S . -B build && cmake --build build && build/add"
    assert sourced(place, build, cwd=tmp_path).endswith(SUMS)
    cache = (tmp_path / "build" / "CMakeCache.txt").read_text()
    assert f"ascendcl_DIR:PATH={place}/share/cmake/ascendcl" in cache


@pytest.mark.parametrize("folder", ["tikcpp", "x86_64-linux/tikcpp", "aarch64-linux/tikcpp", "compiler/tikcpp"])
def test_places_of_ascendc(toolkit, folder):
    expected = toolkit / "tools" / "tikcpp" / "ascendc_kernel_cmake" / "ascendc.cmake"
    assert (toolkit / folder / "ascendc_kernel_cmake" / "ascendc.cmake").samefile(expected)


def test_a_library_of_kernels_brings_ascendcl(toolkit, tmp_path):
    need("cmake", "make")
    text = KERNELS % {"languages": "C", "type": "STATIC", "source": PROJECT / "memory.c"}
    text = text.replace("kernels_npu ascendcl nnopbase opapi)", "kernels_npu)")
    kept = [line for line in text.splitlines() if not line.startswith(("target_include_d", "target_link_d"))]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(kept))
    said = sourced(toolkit, "cmake -S . -B build && cmake --build build && build/app", cwd=tmp_path)
    assert said.endswith("there and back\n")


@pytest.mark.parametrize("tool", ["cmake", "make"])
def test_a_copy_of_the_example_alone(toolkit, tmp_path, tool):
    need("cmake", "make", "gcc", "g++")
    shutil.copytree(PROJECT, tmp_path / "mine")
    build = {
        "cmake": "cmake -S mine -B out && cmake --build out && out/memory && out/add",
        "make": "make -s -C mine BUILD=$PWD/out && out/memory && out/add",
    }[tool]
    assert sourced(toolkit, build, cwd=tmp_path).endswith(f"there and back\n{SUMS}")


@pytest.mark.needs_sim
def test_atc_is_a_program_of_the_toolkit(toolkit, tmp_path):
    onnx = pytest.importorskip("onnx.parser")
    model = onnx.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> net (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }'
    )
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    sourced(toolkit, "atc --framework=5 --model=net.onnx --output=net --soc_version=Ascend910B3", cwd=tmp_path)
    assert Path(tmp_path / "net.om").stat().st_size > 0
    assert sourced(toolkit, "command -v atc", cwd=tmp_path) == f"{toolkit}/bin/atc\n"
