"""What type checkers see after ``import acl`` alone: they read the package where it is installed, also editable."""

import re
import subprocess
import sys

import pytest

PROGRAM = """\
import acl

acl.sim.configure(devices=2)
number: int = acl.rt.get_device()[1] + acl.init()
array = acl.DeviceArray((4,), "f4")
with acl.Device(0), acl.Stream() as stream:
    total: acl.DeviceArray = acl.nn.add(array, array, stream=stream)
    with acl.capture(stream) as graph:
        total.fill(0, stream=stream)
    graph.run(stream)
size, executor, ret = acl.nnop.add_get_workspace_size(0, 0, 0, 0)
setting: str = acl.sim.get_config("soc")

one: int = acl.nn.add(array, array)
two: int = acl.sim.get_config("soc")
three: int = acl.Stream.default()
acl.nn.no_such_operator(array)
acl.sim.no_such_function()
acl.no_such_name
acl.rt.get_device(0)
"""
WRONG = set(range(PROGRAM[: PROGRAM.index("one:")].count("\n") + 1, PROGRAM.count("\n") + 1))


CHECKERS = [["mypy", "--cache-dir=mypy"], ["pyright", f"--pythonpath={sys.executable}"]]


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda command: command[0])
def test_a_program_is_checked_after_importing_acl_alone(tmp_path, checker):
    pytest.importorskip(checker[0])
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", *checker, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    found = {int(line) for line in re.findall(r"program\.py:(\d+)(?::\d+)?(?::| -) error", done.stdout)}
    assert found == WRONG, done.stdout + done.stderr
