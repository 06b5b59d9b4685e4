"""The vendor's library names as filters over one library: they link, load and resolve into it, with one state."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acl import _lib, libraries

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "acl" / "include"

STAND_IN = r"""
#include <acl/acl.h>
static int32_t calls;
aclError aclInit(const char *configPath) { (void)configPath; return ++calls; }
aclError aclrtGetDevice(int32_t *deviceId) { *deviceId = calls; return ACL_SUCCESS; }
const char *aclrtGetSocName(void) { return "stand-in"; }
"""

PROGRAM = r"""
#define _GNU_SOURCE
#include <acl/acl.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int32_t calls = 0;
    aclInit(NULL);
    printf("{\"linked\": \"%s\", \"opened\": [", aclrtGetSocName());
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "aclInit") : NULL;
        Dl_info found = {0};
        if (symbol == NULL || dladdr(symbol, &found) == 0) {
            fprintf(stderr, "%s: %s\n", argv[i], dlerror());
            return 1;
        }
        ((aclError (*)(const char *))symbol)(NULL);
        printf("%s[\"%p\", \"%s\"]", i > 1 ? ", " : "", symbol, found.dli_fname);
    }
    aclrtGetDevice(&calls);
    printf("], \"calls\": %d}\n", calls);
    return 0;
}
"""


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build_libraries(folder, linker):
    """Lay out a stand-in libacl_sim.so and a filter for every vendor name, linked as the Makefile does."""
    folder.mkdir()
    for command, out in (("map", "exports.map"), ("filters", "filter.c")):
        run(sys.executable, ROOT / "simulator" / "generate.py", command, "--out", folder / out)
    (folder / "sim.c").write_text(STAND_IN)
    gcc = ["gcc", "-shared", "-fPIC", f"-fuse-ld={linker}"]
    undefined = ["-Wl,--undefined-version"] if linker == "lld" else []
    script = [f"-Wl,--version-script={folder / 'exports.map'}", *undefined]
    run(*gcc, f"-I{INCLUDE}", folder / "sim.c", "-o", folder / "libacl_sim.so", "-Wl,-soname,libacl_sim.so", *script)
    for name in libraries.VENDOR:
        run(
            *[*gcc, "-nostdlib", folder / "filter.c", "-o", folder / f"lib{name}.so", f"-Wl,-soname,lib{name}.so"],
            *["-Wl,--filter,libacl_sim.so", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags"],
        )


def build_program(tmp_path, libraries, *flags, linker="bfd"):
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    program = tmp_path / "program"
    run("gcc", "-std=c11", f"-I{INCLUDE}", source, "-o", program, f"-fuse-ld={linker}", *flags, *libraries, "-ldl")
    return program


@pytest.fixture(scope="module", params=["bfd", "lld"])
def linker(request):
    if shutil.which(f"ld.{request.param}") is None or shutil.which("gcc") is None:
        pytest.skip(f"no gcc with ld.{request.param}")
    return request.param


@pytest.fixture(scope="module")
def lib64(tmp_path_factory, linker):
    folder = tmp_path_factory.mktemp("toolkit") / "lib64"
    build_libraries(folder, linker)
    return folder


# What functions are said to be in, by any release; then what programs link or open for the same functions.
VENDOR = (
    "ascendcl acl_rt acl_mdl acl_op_executor acl_op_compiler acl_cblas acl_tdt_channel acl_tdt_queue msprofiler "
    "ascend_dump nnopbase opapi platform "
    "acl_prof profapi opapi_math opapi_nn opapi_cv opapi_transformer"
).split()


def test_the_names_that_python_opens_are_those_of_releases():
    assert sorted(libraries.VENDOR) == sorted(VENDOR) and libraries.VENDOR[0] == "ascendcl"
    assert [f"lib{name}.so" for name in libraries.VENDOR] == list(_lib.LIBRARIES)


@pytest.mark.parametrize("name", libraries.VENDOR)
def test_a_program_links_with_each_name(tmp_path, lib64, linker, name):
    flags = [f"-L{lib64}", f"-l{name}", f"-Wl,-rpath,{lib64}", "-Wl,--no-undefined"]
    program = build_program(tmp_path, flags, linker=linker)
    assert json.loads(run(program)) == {"linked": "stand-in", "opened": [], "calls": 1}


@pytest.mark.parametrize("first", ["ascendcl", "opapi"])
def test_as_needed_keeps_one_name(tmp_path, lib64, linker, first):
    names = [first, *(name for name in libraries.VENDOR if name != first)]
    flags = ["-Wl,--as-needed", "-Wl,--no-undefined", f"-L{lib64}", *(f"-l{name}" for name in names)]
    program = build_program(tmp_path, flags, linker=linker)
    needed = re.findall(r"NEEDED.*\[lib(\w+)\.so\]", run("readelf", "-d", program))
    assert needed == [first]
    assert json.loads(run(program, env={"LD_LIBRARY_PATH": str(lib64)}))["calls"] == 1


@pytest.mark.parametrize("flags", [["-pie", "-fPIE"], ["-no-pie", "-fno-PIE"], ["-Wl,-z,now"]], ids=" ".join)
def test_every_way_in_reaches_one_library(tmp_path, lib64, linker, flags):
    program = build_program(tmp_path, [f"-L{lib64}", "-lascendcl", f"-Wl,-rpath,{lib64}"], *flags, linker=linker)
    opened = [lib64 / f"lib{name}.so" for name in ("acl_sim", *libraries.VENDOR)]
    answer = json.loads(run(program, *opened))
    assert answer["linked"] == "stand-in"
    assert answer["calls"] == 1 + len(opened), "one state behind all names"
    assert len({address for address, _ in answer["opened"]}) == 1
    assert {Path(file).name for _, file in answer["opened"]} == {"libacl_sim.so"}


def test_names_found_through_the_environment(tmp_path, lib64):
    program = build_program(tmp_path, [f"-L{lib64}", "-lnnopbase"])
    answer = json.loads(run(program, "libascendcl.so", "libacl_sim.so", env={"LD_LIBRARY_PATH": str(lib64)}))
    assert answer["calls"] == 3
    assert len({address for address, _ in answer["opened"]}) == 1


def test_opening_alone_and_in_any_order(lib64):
    code = """
import ctypes, sys
opened = [ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL) for path in sys.argv[1:]]
print([library.aclInit(None) for library in opened])
"""
    paths = [lib64 / f"lib{name}.so" for name in ("nnopbase", "acl_sim", "ascendcl")]
    for order in (paths, paths[::-1]):
        assert run(sys.executable, "-c", code, *order).strip() == "[1, 2, 3]"


def test_a_second_folder_joins_the_loaded_library(tmp_path, lib64):
    shutil.copytree(lib64, tmp_path / "copy")
    code = "import ctypes, sys; print([ctypes.CDLL(path).aclInit(None) for path in sys.argv[1:]])"
    paths = [lib64 / "libascendcl.so", tmp_path / "copy" / "libnnopbase.so"]
    assert run(sys.executable, "-c", code, *paths).strip() == "[1, 2]"


def test_a_filter_alone_does_not_load(tmp_path, lib64):
    shutil.copy(lib64 / "libascendcl.so", tmp_path)
    code = f"import ctypes; ctypes.CDLL({str(tmp_path / 'libascendcl.so')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0
    assert "libacl_sim.so: cannot open shared object file" in done.stderr
