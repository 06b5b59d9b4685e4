"""C and C++ projects, written as people write them for CANN, against a toolkit: every header, library and old place."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import acl
from acl import abi, demo

ROOT = Path(__file__).resolve().parent.parent
PROJECT = Path(demo.examples()) / "project"
SUMS = "1 3 5 7 9 11 13 15 \n"  # what add.cpp prints
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STANDARDS = {
    "c99": [("gcc", "-xc"), ("clang", "-xc")],
    "c11": [("gcc", "-xc"), ("clang", "-xc")],
    "c++11": [("g++", "-xc++"), ("clang++", "-xc++")],
    "c++20": [("g++", "-xc++"), ("clang++", "-xc++")],
}
COMPILERS = [("gcc", "g++"), ("clang", "clang++")]
OTHERS = ("acl_sim", "acl_record", "fmk_onnx_parser", "acl_hccl_net")
LIBRARIES = sorted({path.stem[3:] for path in Path(acl.get_lib()).glob("*.so")}.difference(OTHERS))


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, **options)  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def sourced(toolkit, *commands, cwd, **environment):
    """Run shell commands after sourcing a toolkit, in an environment that knows of no other."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASCEND", "ACL_", "LD_LIB"))}
    script = "\n".join([f"source {toolkit}/set_env.sh", *commands])
    return run("bash", "-euo", "pipefail", "-c", script, cwd=cwd, env={**kept, **environment})


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("which", [0, 1], ids=["gcc", "clang"])
def test_every_header_compiles(toolkit, standard, which):
    compiler, language = STANDARDS[standard][which]
    need(compiler)
    names = sorted(path.relative_to(toolkit / "include").as_posix() for path in (toolkit / "include").rglob("*.h"))
    text = "".join(f"#include <{name}>\n" for name in names if not name.startswith("acl/abi/"))
    assert len(names) > 800
    command = [compiler, language, f"-std={standard}", *STRICT, f"-I{toolkit}/include", "-fsyntax-only", "-"]
    run(*command, input=text)


# Header homes that people name, as directories of their own.
SHORT = """
#include "acl.h"
#include "acl_prof.h"
#include "rt_error_codes.h"
#include "acl_cblas.h"
#include "aclnn_base.h"
#include "aclnn_add.h"
#include "level2/aclnn_add.h"
int main(void) { return aclInit(NULL) == ACL_SUCCESS && ACL_ERROR_RT_PARAM_INVALID == 107000 ? aclFinalize() : 1; }
"""


@pytest.mark.parametrize("include", ["include", "runtime/include", "acllib/include", "x86_64-linux/include"])
def test_headers_by_their_short_names(toolkit, include, tmp_path):
    need("gcc")
    homes = [f"-I{toolkit}/{include}/{name}" for name in ("", "acl", "acl/error_codes", "acl/ops", "aclnn", "aclnnop")]
    (tmp_path / "app.c").write_text(SHORT)
    link = [f"-L{toolkit}/lib64", f"-Wl,-rpath,{toolkit}/lib64", "-lascendcl"]
    run("gcc", *homes, *STRICT, "app.c", "-o", "app", *link, cwd=tmp_path)
    run(tmp_path / "app")


# A project of these days: home and libraries by ASCEND_HOME_PATH, each library by a name of its own.
MODERN = """
cmake_minimum_required(VERSION 3.14)
project(modern C CXX)
set(ASCEND_PATH $ENV{ASCEND_HOME_PATH})
include_directories(${ASCEND_PATH}/include ${ASCEND_PATH}/include/aclnn)
add_executable(memory %(examples)s/p2_memory.c)
add_executable(add %(examples)s/project/add.cpp)
foreach(program memory add)
    target_link_directories(${program} PRIVATE ${ASCEND_PATH}/lib64)
    target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic -Werror)
    target_link_options(${program} PRIVATE -Wl,--as-needed -Wl,--no-undefined)
    target_link_libraries(${program} PRIVATE
        ascendcl acl_rt acl_mdl acl_op_compiler acl_cblas nnopbase opapi msprofiler ascend_dump)
endforeach()
find_library(RUNTIME acl_rt NO_DEFAULT_PATH HINTS $ENV{ASCEND_HOME_PATH}/lib64)
add_executable(found %(examples)s/project/add.cpp)
target_link_libraries(found PRIVATE ${RUNTIME} ${ASCEND_PATH}/lib64/libnnopbase.so ${ASCEND_PATH}/lib64/libopapi.so)
"""

# One of years ago: DDK_PATH and NPU_HOST_LIB, with what they are where nobody has set them.
OLD = """
cmake_minimum_required(VERSION 3.5.1)
project(old)
add_compile_options(-std=c++11)
set(CMAKE_CXX_FLAGS_RELEASE "-fPIC -O2 -Wall")
set(CMAKE_SKIP_RPATH TRUE)
set(INC_PATH $ENV{DDK_PATH})
if(NOT DEFINED ENV{DDK_PATH})
    set(INC_PATH "/usr/local/Ascend/ascend-toolkit/latest")
endif()
set(LIB_PATH $ENV{NPU_HOST_LIB})
if(NOT DEFINED ENV{NPU_HOST_LIB})
    set(LIB_PATH "/usr/local/Ascend/ascend-toolkit/latest/runtime/lib64/stub")
endif()
include_directories(%(include)s)
link_directories(${LIB_PATH})
add_executable(add %(examples)s/project/add.cpp)
target_link_libraries(add ascendcl acl_cblas acl_op_compiler nnopbase opapi stdc++ pthread)
"""


def configured(compilers, *options):
    choice = [f"-DCMAKE_C_COMPILER={compilers[0]}", f"-DCMAKE_CXX_COMPILER={compilers[1]}"]
    return " ".join(["cmake -S . -B build -Wno-deprecated", *choice, *options, "&& cmake --build build"])


@pytest.mark.parametrize("compilers, standards", [*zip(COMPILERS, [("99", "11"), ("11", "20")])], ids=["gcc", "clang"])
def test_a_cmake_project(toolkit, tmp_path, compilers, standards):
    need("cmake", "make", *compilers)
    (tmp_path / "CMakeLists.txt").write_text(MODERN % {"examples": PROJECT.parent})
    options = [f"-DCMAKE_C_STANDARD={standards[0]}", f"-DCMAKE_CXX_STANDARD={standards[1]}"]
    programs = ["build/memory >memory.txt", "build/add >add.txt", "build/found >found.txt"]
    sourced(toolkit, configured(compilers, *options), *programs, cwd=tmp_path)
    assert (tmp_path / "add.txt").read_text() == (tmp_path / "found.txt").read_text() == SUMS
    expected = (PROJECT.parent / "expected" / "p2_memory.txt").read_text()
    assert demo.normal((tmp_path / "memory.txt").read_text()) == demo.normal(expected)


@pytest.mark.parametrize(
    "include, exports",
    [
        ("${INC_PATH}/include", []),
        ("${INC_PATH}/runtime/include/ ${INC_PATH}/atc/include",
         ["export DDK_PATH=$ASCEND_TOOLKIT_HOME", "export NPU_HOST_LIB=$DDK_PATH/runtime/lib64/stub"]),
        ("${INC_PATH}/acllib/include",
         ["export DDK_PATH=$ASCEND_TOOLKIT_HOME/x86_64-linux", "export NPU_HOST_LIB=$DDK_PATH/acllib/lib64/stub"]),
    ],
    ids=["set_env", "runtime", "acllib"],
)  # fmt: skip
def test_a_cmake_project_with_old_paths(toolkit, tmp_path, include, exports):
    compilers = COMPILERS[len(exports) > 0]
    need("cmake", "make", *compilers)
    (tmp_path / "CMakeLists.txt").write_text(OLD % {"examples": PROJECT.parent, "include": include})
    assert sourced(toolkit, *exports, configured(compilers), "build/add", cwd=tmp_path).endswith(SUMS)


def test_the_cmake_example(toolkit, tmp_path):
    need("cmake", "make", "gcc", "g++")
    build = f"cmake -S {PROJECT} -B build && cmake --build build && build/memory >memory.txt && build/add"
    assert sourced(toolkit, build, cwd=tmp_path).endswith(SUMS)
    assert (tmp_path / "memory.txt").stat().st_size > 0
    done = subprocess.run(
        ["cmake", "-S", PROJECT, "-B", tmp_path / "other"],
        env={name: value for name, value in os.environ.items() if name != "ASCEND_HOME_PATH"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "source the set_env.sh of a toolkit" in done.stderr


@pytest.mark.parametrize("compilers, linker", [*zip(COMPILERS, ["bfd", "lld"])], ids=["gcc", "clang"])
def test_the_makefile_example(toolkit, tmp_path, compilers, linker):
    need("make", f"ld.{linker}", *compilers)
    tools = " ".join(f"{name}='{tool} -fuse-ld={linker}'" for name, tool in zip(("CC", "CXX"), compilers))
    build = f"make -s -C {PROJECT} BUILD=$PWD {tools} CXXFLAGS='{' '.join(STRICT)}'"
    assert sourced(toolkit, build, "./memory >memory.txt", "./add", cwd=tmp_path) == SUMS
    sourced(toolkit, f"make -s -C {PROJECT} BUILD=$PWD clean", cwd=tmp_path)
    assert not (tmp_path / "add").exists()


def test_the_package_itself_is_enough(tmp_path):
    need("make", "gcc", "g++")
    build = f"make -s -C {PROJECT} BUILD=$PWD"
    assert sourced(acl.toolkit_path(), build, "./add", cwd=tmp_path) == SUMS


# A project with kernels in AscendC beside what runs on the host.
KERNELS = """
cmake_minimum_required(VERSION 3.16)
project(kernels %(languages)s)
set(ASCEND_CANN_PACKAGE_PATH $ENV{ASCEND_HOME_PATH} CACHE PATH "where CANN is")
if(EXISTS ${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake)
    set(ASCENDC_CMAKE_DIR ${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake)
elseif(EXISTS ${ASCEND_CANN_PACKAGE_PATH}/tools/tikcpp/ascendc_kernel_cmake)
    set(ASCENDC_CMAKE_DIR ${ASCEND_CANN_PACKAGE_PATH}/tools/tikcpp/ascendc_kernel_cmake)
else()
    message(FATAL_ERROR "no ascendc_kernel_cmake")
endif()
include(${ASCENDC_CMAKE_DIR}/ascendc.cmake)
ascendc_library(kernels_npu %(type)s kernel.cpp)
ascendc_compile_definitions(kernels_npu PRIVATE -DHAVE_WORKSPACE)
ascendc_include_directories(kernels_npu PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
ascendc_compile_options(kernels_npu PRIVATE -O2)
add_executable(app %(source)s)
target_include_directories(app PRIVATE ${ASCEND_CANN_PACKAGE_PATH}/include)
target_link_directories(app PRIVATE ${ASCEND_CANN_PACKAGE_PATH}/lib64)
target_link_libraries(app PRIVATE kernels_npu ascendcl nnopbase opapi)
install(TARGETS kernels_npu app LIBRARY DESTINATION lib ARCHIVE DESTINATION lib RUNTIME DESTINATION bin)
"""


@pytest.mark.parametrize(
    "languages, type, source", [("CXX", "SHARED", "add.cpp"), ("C", "STATIC", "../p2_memory.c"), ("CXX", "", "add.cpp")]
)
def test_kernels_in_ascendc_stay_out(toolkit, tmp_path, languages, type, source):
    need("cmake", "make")
    values = {"languages": languages, "type": type, "source": PROJECT / source}
    (tmp_path / "CMakeLists.txt").write_text(KERNELS % values)
    said = sourced(toolkit, "cmake -S . -B build && cmake --build build && build/app >out.txt", cwd=tmp_path)
    assert "ascendc_library(kernels_npu): no AscendC compiler was found" in " ".join(said.split())
    assert (tmp_path / "out.txt").stat().st_size > 0


# One whose program loads the kernels' binary, from where it is installed.
FATBIN = """
cmake_minimum_required(VERSION 3.16)
project(kernels C)
include($ENV{ASCEND_HOME_PATH}/compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_fatbin_library(vector_add vector_add.asc)
if(DEFINED KERNELS)
    target_sources(vector_add PRIVATE ${KERNELS})
endif()
include_directories($ENV{ASCEND_HOME_PATH}/include)
link_directories($ENV{ASCEND_HOME_PATH}/lib64)
add_executable(app %(examples)s/p6_kernel.c %(examples)s/vector_add.c)
target_link_libraries(app PRIVATE acl_rt)
install(TARGETS app RUNTIME DESTINATION bin)
"""


def test_a_binary_of_kernels_in_ascendc(toolkit, tmp_path):
    need("cmake", "make")
    examples = PROJECT.parent
    (tmp_path / "CMakeLists.txt").write_text(FATBIN % {"examples": examples})
    build = "cmake -S . -B {0} -DCMAKE_INSTALL_PREFIX={0}/out {1} && cmake --build {0} && cmake --install {0}"
    run_it = "cd {}/out/fatbin/vector_add && ../../bin/app"
    said = sourced(toolkit, build.format("without", ""), run_it.format("without") + " || true", cwd=tmp_path)
    assert "ascendc_fatbin_library(vector_add): no AscendC compiler was found" in " ".join(said.split())
    assert 'binary vector_add has no kernel "vector_add"' in said
    kernels = build.format("with", f"-DKERNELS={examples}/vector_add.c")
    sourced(toolkit, kernels, run_it.format("with") + f" >{tmp_path}/out.txt", cwd=tmp_path)
    expected = (examples / "expected" / "p6_kernel.txt").read_text()
    assert demo.normal((tmp_path / "out.txt").read_text()) == demo.normal(expected)


# Opens each library, finds every name in each, and calls what it found, without a header or a link.
LOADER = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL)
        fprintf(stderr, "%s\n", dlerror());
    return symbol;
}

int main(int argc, char **argv)
{
    char name[256];
    long count = 0;
    FILE *names = fopen(argv[1], "r");
    void *libraries[64];
    for (int i = 2; i < argc; i++) {
        libraries[i] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (libraries[i] == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    while (fgets(name, sizeof name, names)) {
        name[strcspn(name, "\n")] = '\0';
        void *symbol = find(libraries[2], name);
        for (int i = 2; i < argc; i++) {
            if (symbol == NULL || dlsym(libraries[i], name) != symbol) {
                fprintf(stderr, "%s: %s is missing or another\n", argv[i], name);
                return 1;
            }
        }
        count++;
    }
    int (*init)(const char *) = (int (*)(const char *))find(libraries[2], "aclInit");
    int (*set)(int32_t) = (int (*)(int32_t))find(libraries[3], "aclrtSetDevice");
    int (*get)(int32_t *) = (int (*)(int32_t *))find(libraries[argc - 1], "aclrtGetDevice");
    int (*finalize)(void) = (int (*)(void))find(libraries[4], "aclFinalize");
    int32_t device = -1;
    int ret = init(NULL) | set(0) | get(&device) | finalize();
    printf("%ld %d %d\n", count, ret, device);
    return 0;
}
"""


def test_everything_is_found_by_name(toolkit, tmp_path):
    need("gcc")
    operators = abi.rows(ROOT / "simulator" / "ops" / "rows").values()
    names = [*abi.load().functions, *(symbol for row in operators for symbol in row.symbols)]
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in names))
    (tmp_path / "loader.c").write_text(LOADER)
    run("gcc", "-std=c11", "loader.c", "-o", "loader", "-ldl", cwd=tmp_path)
    opened = " ".join(f"lib{name}.so" for name in LIBRARIES)
    for place in ("lib64", "opp/lib64/stub"):
        said = sourced(toolkit, f"LD_LIBRARY_PATH={toolkit}/{place} ./loader names.txt {opened}", cwd=tmp_path)
        assert said == f"{len(names)} 0 0\n" and len(names) > 2000
