"""The example programs: each runs as its own process, in Python and in C and C++, and prints what it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acl import demo

PLACE = Path(demo.examples())
NAMES = sorted(path.name for path in PLACE.glob("*.py")) + sorted(path.name for path in PLACE.glob("*.c"))


def compare(command, name, tmp_path):
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
    )
    expected = (PLACE / "expected" / name).with_suffix(".txt").read_text()
    assert demo.normal(done.stdout).splitlines() == demo.normal(expected).splitlines()
    assert done.returncode == 0


def test_every_expected_output_has_its_programs():
    stems = {Path(name).stem for name in NAMES}
    assert stems == {path.stem for path in (PLACE / "expected").glob("*.txt")}


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".py")])
def test_python_example(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ACL_BACKEND", os.environ.get("ACL_BACKEND", "sim"))
    compare([sys.executable, str(PLACE / name)], name, tmp_path)


@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".c")])
def test_c_example(name, cxx, compile_c, tmp_path):
    program = compile_c((PLACE / name).read_text(), "-Werror", cxx=cxx)
    compare([program], name, tmp_path)
