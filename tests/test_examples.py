"""The example programs: each runs as its own process, in Python and in C and C++, and prints what it should."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from helpers import programs

import acl
from acl import demo

PLACE = Path(demo.examples())
NAMES = sorted(path.name for path in PLACE.glob("p*.py")) + sorted(path.name for path in PLACE.glob("p*.c"))
CLASSES = {0: ("246", "329.285156"), 1: ("566", "363.917969")}  # of the two images


def run(command, directory):
    checks = programs.environment({"ACL_SIM_CHECK": os.environ.get("ACL_SIM_CHECK")})
    return programs.run(command, cwd=directory, stderr=subprocess.STDOUT, env=checks)


def compare(command, name, tmp_path):
    if name.startswith(demo.SIMULATED) and not acl.is_simulator:
        pytest.skip("its model or kernel is none for a card")
    done = run(command, tmp_path)
    expected = Path(demo.expected_of(PLACE, name)).read_text()
    assert demo.normal(done.stdout).splitlines() == demo.normal(expected).splitlines()
    assert done.returncode == 0


def test_every_expected_output_has_its_programs():
    assert {demo.expected_of(PLACE, name) for name in NAMES} == set(map(str, (PLACE / "expected").glob("*.txt")))


def lines_of(name):
    """Return how many lines a program has, and how many of them are code."""
    lines = [line.strip() for line in (PLACE / name).read_text().splitlines()]
    return numpy.array([len(lines), sum(1 for line in lines if line and not line.startswith("#"))])


@pytest.mark.parametrize("name", [name for name in NAMES if "_objects" in name])
def test_objects_take_fewer_lines(name):
    """A third; a half of P6, where the kernel itself is the same in both forms."""
    most = 1 / 2 if name.startswith("p6_") else 1 / 3
    assert (lines_of(name) <= most * lines_of(name.replace("_objects", ""))).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".py")])
def test_python_example(name, tmp_path):
    compare([sys.executable, str(PLACE / name)], name, tmp_path)


@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".c")])
def test_c_example(name, cxx, compile_c, tmp_path):
    flags = ["-Werror", f"-I{PLACE}"]
    if name.startswith("p6_"):
        flags += ["-Wl,--no-as-needed", demo.build_kernel(str(PLACE), str(tmp_path), shutil.which("gcc") or "clang")]
    elif name.startswith(demo.SIMULATED):
        demo.write_model(PLACE, tmp_path)
    program = compile_c((PLACE / name).read_text(), *flags, cxx=cxx, libraries=("ascendcl", "dl"))
    compare([program], name, tmp_path)


# --- P4 with other callback intervals and pools


@pytest.fixture(scope="module", params=["py", "objects", "c"])
def callback(request, tmp_path_factory):
    """P4 as a function of its options, which returns the completed process."""
    if not acl.is_simulator:
        pytest.skip("its model has no kernels for a card")
    directory = tmp_path_factory.mktemp("callback")
    command = [sys.executable, str(PLACE / f"p4_callback{'_objects' * (request.param == 'objects')}.py")]
    if request.param == "c":
        demo.write_model(PLACE, directory)
        text = (PLACE / "p4_callback.c").read_text()
        command = [programs.Compiler(directory)(text, "-O1", f"-I{PLACE}", libraries=("ascendcl", "dl"))]
    return lambda *options: run([*command, *map(str, options)], directory)


@pytest.mark.parametrize("interval, pool", [(0, 100), (1, 100), (3, 100), (7, 100), (100, 100), (1, 4), (3, 4), (2, 5)])
def test_every_result_comes_once_and_in_order(callback, interval, pool):
    done = callback("--interval", interval, "--pool", pool)
    found = re.findall(r"^result (\d+) class (\d+) score (\S+)$", done.stdout, re.MULTILINE)
    assert found == [(str(i), *CLASSES[i % pool % 2]) for i in range(100)]
    assert f"[INFO] free {pool} inputs and outputs ok" in done.stdout
    assert ("[INFO] join thread ok" in done.stdout) == (interval != 0)
    assert done.returncode == 0


@pytest.mark.parametrize("interval", [0, 7, 100])
def test_a_pool_that_is_too_small_is_refused_at_once(callback, interval):
    done = callback("--interval", interval, "--pool", 4)
    assert re.fullmatch(r"\[ERROR\] a pool of 4 is too small for .* executions( without callbacks)?\n", done.stdout)
    assert done.returncode != 0


# --- P4, whole, 50 times in one process

# The simulator remembers its newest freed blocks, some 60,000: that is a megabyte until the oldest are forgotten.
RESIDENT = 2 << 20

GROWTH_PY = """
import gc, os, sys
import acl, p4_callback
from acl.api import callback

def counts():
    with open("/proc/self/statm") as text:
        resident = int(text.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    threads, files = (len(os.listdir("/proc/self/" + name)) for name in ("task", "fd"))
    gc.collect()
    objects = acl.sim.live(), len(callback.launched)
    return resident, threads, len(gc.get_objects()), (acl.rt.get_mem_info(1)[0], files, *objects)

acl.sim.identity("same.om", [((16384,), "f4")])
acl.rt.set_device(0)
sys.argv[1:] = ["--model", "same.om"]
for number in range(50):
    if number == 10:
        before = counts()
    p4_callback.main()
after = counts()
growth = [new - old for new, old in zip(after[:3], before)]
# The state of a thread that was late to end is freed when a later one calls Python.
print("grown", *growth[:2], int(growth[2] > 1 or after[3] != before[3]), before, after)
"""
# The program's statics are those of one run: the loop sets them back.
GROWTH_C = """
#define main p4
#include "p4_callback.c"
#undef main
#include <dirent.h>
#include <unistd.h>

struct counts {
    long resident, threads, files;
    size_t memory, live;
};

static long entries_of(const char *path)
{
    long count = 0;
    DIR *directory = opendir(path);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static struct counts count(void)
{
    struct counts found;
    size_t total;
    FILE *file = fopen("/proc/self/statm", "r");
    require(fscanf(file, "%*d %ld", &found.resident) == 1 ? 0 : 1, "fscanf");
    fclose(file);
    found.resident *= sysconf(_SC_PAGESIZE);
    found.threads = entries_of("/proc/self/task");
    found.files = entries_of("/proc/self/fd");
    require(aclrtGetMemInfo(ACL_HBM_MEM, &found.memory, &total), "aclrtGetMemInfo");
    found.live = aclsimLiveCount(NULL);
    return found;
}

static aclError copy(const aclsimModelRun *run)
{
    memcpy(run->outputs[0].data, run->inputs[0].data, run->capacities[0]);
    return ACL_SUCCESS;
}

int main(void)
{
    char *arguments[] = {(char *)"p4", (char *)"--model", (char *)"same.om", NULL};
    struct counts before = {0, 0, 0, 0, 0};
    require(aclsimRegisterModel("same.om", NULL, 0, copy, NULL), "aclsimRegisterModel");
    require(aclrtSetDevice(DEVICE), "aclrtSetDevice");
    for (int i = 0; i < 50; i++) {
        if (i == 10)
            before = count();
        stopped = false;
        read_count = 0;
        p4(3, arguments);
    }
    struct counts after = count();
    printf("grown %ld %ld %d\\n", after.resident - before.resident, after.threads - before.threads,
           before.files != after.files || before.memory != after.memory || before.live != after.live);
    return 0;
}
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize("form", ["py", "c"])
def test_nothing_grows_over_50_runs(form, compile_c, tmp_path):
    """Device memory, threads, files, handles and Python objects stay as they are; resident memory nearly so."""
    if form == "py":
        script = tmp_path / "growth.py"
        script.write_text(f"import sys\nsys.path.insert(0, {str(PLACE)!r})\n{GROWTH_PY}")
        command = [sys.executable, str(script)]
    else:
        (tmp_path / "same.om").write_bytes(acl.sim.identity("same.om", [((16384,), "f4")]))
        acl.sim.model("same.om")(None)
        command = [compile_c(GROWTH_C, "-O1", "-Werror", f"-I{PLACE}", libraries=("ascendcl", "dl"))]
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]
    found = re.findall(r"^result (\d+) class (\d+) score (\S+)$", done.stdout, re.MULTILINE)
    classes = ("15005", "5.000000"), ("14997", "3.000000")
    assert found == 50 * [(str(i), *classes[i % 2]) for i in range(100)]
    grown, threads, differ = map(int, re.search(r"^grown (-?\d+) (-?\d+) (\d)", done.stdout, re.MULTILINE).groups())
    # A thread that was joined is on its way out of the kernel for a moment.
    assert not differ and threads <= 1 and grown < RESIDENT, done.stdout[-2000:]
