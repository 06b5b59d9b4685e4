"""The example programs: each runs as its own process, in Python and in C and C++, and prints what it should."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import programs

import acl
from acl import demo

PLACE = Path(demo.examples())
NAMES = sorted(path.name for path in PLACE.glob("p*.py")) + sorted(path.name for path in PLACE.glob("p*.c"))
CLASSES = {0: ("246", "329.285156"), 1: ("566", "363.917969")}  # of the two images


def run(command, directory):
    return subprocess.run(
        command,
        cwd=directory,
        env=programs.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )


def compare(command, name, tmp_path):
    if name.startswith(demo.SIMULATED) and not acl.is_simulator:
        pytest.skip("its model has no kernels for a card")
    done = run(command, tmp_path)
    expected = (PLACE / "expected" / name).with_suffix(".txt").read_text()
    assert demo.normal(done.stdout).splitlines() == demo.normal(expected).splitlines()
    assert done.returncode == 0


def test_every_expected_output_has_its_programs():
    stems = {Path(name).stem for name in NAMES}
    assert stems == {path.stem for path in (PLACE / "expected").glob("*.txt")}


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".py")])
def test_python_example(name, tmp_path):
    compare([sys.executable, str(PLACE / name)], name, tmp_path)


@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".c")])
def test_c_example(name, cxx, compile_c, tmp_path):
    if name.startswith(demo.SIMULATED):
        demo.write_model(PLACE, tmp_path)
    program = compile_c((PLACE / name).read_text(), "-Werror", f"-I{PLACE}", cxx=cxx, libraries=("ascendcl", "dl"))
    compare([program], name, tmp_path)


# --- P4 with other callback intervals and pools


@pytest.fixture(scope="module", params=["py", "c"])
def callback(request, tmp_path_factory):
    """P4 as a function of its options, which returns the completed process."""
    if not acl.is_simulator:
        pytest.skip("its model has no kernels for a card")
    directory = tmp_path_factory.mktemp("callback")
    command = [sys.executable, str(PLACE / "p4_callback.py")]
    if request.param == "c":
        demo.write_model(PLACE, directory)
        text = (PLACE / "p4_callback.c").read_text()
        command = [programs.Compiler(directory)(text, "-O1", f"-I{PLACE}", libraries=("ascendcl", "dl"))]
    return lambda *options: run([*command, *map(str, options)], directory)


@pytest.mark.parametrize(
    "interval, pool", [(0, 100), (1, 100), (3, 100), (7, 100), (100, 100), (1, 4), (3, 4), (2, 5)]
)
def test_every_result_comes_once_and_in_order(callback, interval, pool):
    done = callback("--interval", interval, "--pool", pool)
    found = re.findall(r"^result (\d+) class (\d+) score (\S+)$", done.stdout, re.MULTILINE)
    assert found == [(str(i), *CLASSES[i % pool % 2]) for i in range(100)]
    assert f"[INFO] free {pool} inputs and outputs ok" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize("interval", [0, 7, 100])
def test_a_pool_that_is_too_small_is_refused_at_once(callback, interval):
    done = callback("--interval", interval, "--pool", 4)
    assert re.fullmatch(r"\[ERROR\] a pool of 4 is too small for .* executions( without callbacks)?\n", done.stdout)
    assert done.returncode != 0
