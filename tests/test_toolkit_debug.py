"""gdb: the toolkit with ``--debug`` shows arguments and locals of the simulator, and a command shows device memory."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import programs

import acl
from acl import __main__ as command
from acl import _lib, layout

pytestmark = [
    pytest.mark.needs_sim,
    pytest.mark.skipif(programs.sanitized(), reason="gdb does not start a sanitized library in a plain program"),
]
needs_gdb = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")

PROGRAM = r"""
#include <acl/acl.h>

void stop(void *block) { (void)block; }

int main(void)
{
    float numbers[6] = {1, 2.5, -3, 1e30f, 0, 6};
    void *block;
    if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
        return 1;
    if (aclrtMemcpy(block, 64, numbers, sizeof numbers, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
        return 2;
    stop(block);
    return aclrtMemset(block, 64, 7, 48) == ACL_SUCCESS ? aclrtResetDevice(0) : 3;
}
"""

LIBRARIES = acl.get_lib()
SCRIPT = Path(acl.toolkit_path()) / "tools" / "gdb" / "acl_gdb.py"


@pytest.fixture
def gdb(compile_c):
    """Give ``gdb(*commands)``, which runs them in batch mode on the program and returns what it printed."""
    program = compile_c(PROGRAM, "-g")

    def run(*commands, libraries=LIBRARIES):
        options = [part for text in ("set debuginfod enabled off", *commands) for part in ("-ex", text)]
        env = programs.environment({"ACL_BACKEND": "sim", "LD_LIBRARY_PATH": libraries})
        done = programs.run(
            ["gdb", "-nx", "-q", "-batch", "-x", SCRIPT, *options, program],
            env=env, timeout=300, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if UNABLE in done.stdout:
            pytest.skip("this gdb cannot call functions of a program on this processor")
        return done.stdout

    return run


STOP = ("break stop", "run")
UNABLE = "Couldn't write extended state status"  # gdb 13 and older, on processors with AMX


@needs_gdb
@pytest.mark.parametrize(
    "arguments, lines",
    [
        ("block 6 f4", ["1 2.5 -3 1.00000002e+30", "0 6"]),
        ("(char*)block+4 1 f4", ["2.5"]),
        ("block 4", ["0 0 128 63"]),
        ("block 2 u4", ["1065353216 1075838976"]),
        ("block 2*2 bf16", ["0 1 0 2.5"]),
    ],
)
def test_device_memory_is_shown(gdb, arguments, lines):
    shown = re.findall(r"^(0x\w+): (.*)$", gdb(*STOP, f"acl-device-memory {arguments}"), re.MULTILINE)
    assert [values for _, values in shown] == lines
    addresses = [int(address, 16) for address, _ in shown]
    assert addresses == list(range(addresses[0], addresses[0] + 16 * len(lines), 16))


@needs_gdb
@pytest.mark.parametrize(
    "arguments, message",
    [
        ("", "usage: acl-device-memory ADDRESS [COUNT] [TYPE]"),
        ("block 1 f4 more", "usage: acl-device-memory ADDRESS [COUNT] [TYPE]"),
        ("block 1 float", "acl-device-memory failed: TYPE is float, expected one of i1 i2 i4 i8 u1 u2"),
        ("no_such_block", "ADDRESS is no_such_block, expected an expression: No symbol"),
        ("block nothing", "COUNT is nothing, expected an expression: No symbol"),
        ("block 0", "acl-device-memory failed: COUNT is 0, expected 1 or more"),
        ("8 2 f4", "acl-device-memory failed: ADDRESS is 0x8, expected the address of 8 bytes in one block"),
        ("block 1000", "expected the address of 1000 bytes in one block"),
    ],
)
def test_what_is_no_device_memory_is_refused(gdb, arguments, message):
    assert message in gdb(*STOP, f"acl-device-memory {arguments}")


@needs_gdb
def test_the_command_needs_a_live_program(gdb):
    assert "libacl_sim.so is not loaded; stop the program after its first call" in gdb("acl-device-memory 8")
    ended = gdb("run", "acl-device-memory 8")
    assert "acl-device-memory failed: gdb cannot call the library in the program: " in ended
    assert "Traceback" not in ended


@pytest.fixture(scope="module")
def debug_toolkit(tmp_path_factory):
    place = tmp_path_factory.mktemp("debug") / "kit"
    layout.write(place, debug=True)
    return place


@needs_gdb
def test_the_debug_toolkit_has_arguments_and_locals(gdb, debug_toolkit):
    """A break inside of the simulator, below an entry point: each frame has what its function was given, and holds."""
    shown = gdb(
        "set breakpoint pending on", *STOP, "break sim_memory_locate", "continue", "info args", "up", "info args",
        "info locals", "bt", libraries=str(debug_toolkit / "lib64"),
    )  # fmt: skip
    assert re.search(r"^address = 0x\w+$", shown, re.MULTILINE), shown
    assert re.search(r"^place = 0x\w+$", shown, re.MULTILINE)
    call = r"aclrtMemset \(devPtr=0x\w+, maxCount=64, value=7, count=48\)"
    assert re.search(rf"{call} at .*/simulator/api/memory_copy.c:", shown)
    assert "<optimized out>" not in shown


@needs_gdb
def test_the_command_works_with_the_debug_toolkit(gdb, debug_toolkit):
    shown = gdb(*STOP, "acl-device-memory block 2 f4", libraries=str(debug_toolkit / "lib64"))
    assert re.search(r"^0x\w+: 1 2.5$", shown, re.MULTILINE), shown


def test_without_sources_the_command_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_lib, "HOME", str(tmp_path / "site-packages" / "acl"))
    assert command.main(["toolkit", "--debug", str(tmp_path / "kit")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("acl: toolkit: --debug builds the simulator from its sources, and ")
    assert "site-packages has none; get the source tree of ascendcl, install it by pip install -e ." in said
    assert said.count("\n") == 1
    assert not (tmp_path / "kit").exists()


def test_a_build_that_fails_is_reported(tmp_path, monkeypatch, capsys):
    (tmp_path / "simulator").mkdir()
    (tmp_path / "simulator" / "Makefile").write_text("debug:\n\t@echo no compiler here; exit 1\n")
    monkeypatch.setattr(_lib, "HOME", str(tmp_path / "acl"))
    assert command.main(["toolkit", "--debug", str(tmp_path / "kit")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("acl: toolkit: make -j") and "\nno compiler here\n" in said
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command.main(["toolkit", "--debug", str(tmp_path / "kit")]) == 1
    assert "--debug builds the simulator from its sources; install gcc and make" in capsys.readouterr().err
    assert not (tmp_path / "kit").exists()
