"""The command line."""

import json
import os
import subprocess
import sys
from importlib import metadata

import pytest

import acl
from acl import __main__ as command
from acl import abi, demo


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "acl", *arguments], capture_output=True, text=True, timeout=60, **options
    )


def test_help_lists_the_commands():
    done = run("--help")
    assert done.returncode == 0
    names = "info abi ops config exec explore diff toolkit doctor demo graph report atc bench"
    for name in names.split():
        assert f"\n    {name} " in done.stdout
    assert run("nothing").returncode == 2


def test_info(capsys):
    assert command.main(["info"]) == 0
    out = capsys.readouterr().out
    assert f"backend    {acl.backend}" in out and acl.get_soc_name() in out and "GiB free of" in out


@pytest.mark.parametrize("name", ["info", "doctor", "abi", "ops", "--help"])
def test_a_reader_that_has_enough_ends_a_command_quietly(name):
    """As ``| head -1`` does, which closes the pipe while the command writes."""
    source, target = os.pipe()
    os.close(source)
    done = subprocess.run(
        [sys.executable, "-u", "-m", "acl", name], stdout=target, stderr=subprocess.PIPE, text=True, timeout=60,
        env={**os.environ, "ACL_BACKEND": acl.backend},
    )  # fmt: skip
    os.close(target)
    assert (done.returncode, done.stderr) == (0, "")


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["--version"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said == f"ascendcl {metadata.version('ascendcl')} ({acl.backend}: {acl.library_path})\n"


def test_abi(capsys):
    assert command.main(["abi", "--json"]) == 0
    total = json.loads(capsys.readouterr().out)["total"]
    assert total["declared"] == 735
    assert command.main(["abi", "--missing", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)
    assert set(names) <= set(abi.load().functions)
    assert total["missing"] == len(names)


@pytest.mark.parametrize("what", ["include", "lib", "prefix"])
def test_config_directories(capsys, what):
    assert command.main(["config", f"--{what}"]) == 0
    assert os.path.isdir(capsys.readouterr().out.strip())


def test_config_needs_a_question():
    done = run("config")
    assert done.returncode == 1 and "--cflags" in done.stderr


def test_unknown_arguments_are_refused():
    done = run("info", "--verbose")
    assert done.returncode == 2 and "--verbose" in done.stderr


PROGRAM = """
#include <acl/acl.h>
#include <stdio.h>
int main(void)
{
    uint32_t count = 0;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtGetDeviceCount(&count) != ACL_SUCCESS)
        return 1;
    printf("%u devices\\n", count);
    return aclFinalize();
}
"""


def test_flags_build_a_program(tmp_path):
    (tmp_path / "app.c").write_text(PROGRAM)
    flags = run("config", "--cflags", "--libs").stdout.split()
    subprocess.run(["gcc", "app.c", *flags, "-o", "app"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "app")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{acl.rt.get_device_count()[0]} devices\n")


def test_exec_lets_its_python_run_onnx_models(monkeypatch):
    show = ["exec", "--", "printenv", "ACL_SIM_PYTHON"]
    monkeypatch.delenv("ACL_SIM_PYTHON", raising=False)
    assert run(*show).stdout == f"{sys.executable}\n"
    monkeypatch.setenv("ACL_SIM_PYTHON", "other")
    assert run(*show).stdout == "other\n"


@pytest.mark.parametrize(
    "text, same",
    [
        ("stream 0x7f3a10 ok", "stream 0xffff ok"),
        ("took 0.25 ms", "took 12 ms"),
        ("ok 0.1 s", "ok 3.4 s"),
    ],
)
def test_demo_ignores_addresses_and_times(text, same):
    assert demo.normal(text) == demo.normal(same)
    assert demo.normal("16 bytes") != demo.normal("32 bytes")


def test_demo_titles():
    assert demo.title("p1_resources.py") == "P1 resources (pyACL)"
    assert demo.title("p1_resources_objects.py") == "P1 resources (objects)"
    assert demo.title("p2_memory.c") == "P2 memory (C)"


def test_demo_tells_a_difference(tmp_path, capfd):
    program, expected = tmp_path / "p1_resources.py", tmp_path / "expected.txt"
    program.write_text("print('one'); print('two')")
    expected.write_text("one\ntwo\n")
    assert demo.run_one(str(program), str(expected), str(tmp_path))
    expected.write_text("one\nthree\n")
    assert not demo.run_one(str(program), str(expected), str(tmp_path))
    out = capfd.readouterr().out
    assert "== P1 resources (pyACL)" in out and "-three" in out and "+two" in out
