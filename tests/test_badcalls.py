"""Random bad calls of every declared function: no crash, no hang, no leak, and good programs still run.

``ACL_BADCALLS=<calls>`` sets the number of calls per function (200), ``ACL_BADCALLS_SEED`` the seed (1).
"""

import os
import subprocess
from pathlib import Path

import pytest
from badcalls import generate
from helpers import programs

FOLDER = Path(generate.__file__).parent
CALLS = int(os.environ.get("ACL_BADCALLS", "200"))

# Functions that do what the driver has to notice.
BROKEN = """
#include "driver.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <acl/acl.h>
static void call_fine(void) { draw_number(); }
static void call_crash(void) { if (draw_number() == 3) abort(); }
static void call_hang(void) { for (;;) pause(); }
void *leaked;
static void call_leak(void) { leaked = memset(malloc(1 << 20), 1, 1 << 20); }
static void call_exit(void) { _exit(3); }
const struct entry entries[] = {
    {"fine", call_fine, 0}, {"crash", call_crash, 1}, {"hang", call_hang, 1}, {"leak", call_leak, 1},
    {"exit", call_exit, 1},
};
const size_t entry_count = sizeof entries / sizeof *entries;
"""

pytestmark = pytest.mark.needs_sim


def build(folder, table, *flags):
    """Return the driver's path, built over the text of a table."""
    compiler = programs.Compiler(folder)
    binary = compiler("char variable[65536];", "-shared", "-fPIC", "-nostdlib", libraries=())
    text = f'#define BINARY "{binary}"\n{table}\n#include "driver.c"\n'
    return compiler(text, "-O1", f"-I{FOLDER}", *flags, libraries=("acl_sim",))


def run(driver, *arguments):
    """Run it in its own folder: some functions write where the program runs."""
    command = [driver, *arguments]
    return subprocess.run(command, cwd=Path(driver).parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_bad_calls(tmp_path):
    driver = build(tmp_path, generate.table())
    done = run(driver, "-n", str(CALLS), "-s", os.environ.get("ACL_BADCALLS_SEED", "1"))
    assert done.returncode == 0, done.stdout
    assert f"{CALLS} calls each: 0 bad" in done.stdout


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Build the driver over functions that do what none may do."""
    return build(tmp_path_factory.mktemp("broken"), BROKEN, "-DSECONDS=3")


@pytest.mark.parametrize(
    "name, said",
    [
        ("crash", "crash: Aborted during call, call "),
        ("hang", "hang: hangs during call, call 0 of seed 1: hang()"),
        ("leak", "leak: resident memory grew by "),
        ("exit", "exit: fails during call, call 0"),
    ],
    ids=["crash", "hang", "leak", "exit"],
)
def test_the_driver_notices(broken, name, said):
    done = run(broken, name)
    assert done.returncode == 1
    assert done.stdout.startswith(said)
    assert name != "crash" or "crash(0x3)" in done.stdout


def test_the_driver_lets_good_functions_pass(broken):
    assert run(broken, "fine", "(mixed)").stdout == "2 functions, 200 calls each: 0 bad\n"
