"""Ways into a toolkit: ``set_env.sh`` in each shell, ``exec``, ``config``, pkg-config."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import acl

SHELLS = {
    "sh": ["sh"],
    "bash": ["bash"],
    "bash --posix": ["bash", "--posix"],
    "zsh": ["zsh", "-f"],
    "dash": ["dash"],
    "busybox": ["busybox", "sh"],
}
# Where the shell stands, and how it names the file from there.
NAMES = {
    "whole": ("/", "{kit}/set_env.sh"),
    "relative": (".", "./cann  kit/../cann  kit/set_env.sh"),
    "plain": ("cann  kit", "./set_env.sh"),
}


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "acl", *arguments], capture_output=True, text=True, timeout=60, **options
    )


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """The scripts of a toolkit, in a directory whose name has blanks."""
    place = tmp_path_factory.mktemp("scripts") / "cann  kit"
    leave = shutil.ignore_patterns("lib64", "aclnnop", "*.py", "*.so", "examples")
    shutil.copytree(acl.toolkit_path(), place, ignore=leave)
    return place


def variables(shell, script, cwd, **environment):
    """Run a script with ``set -eu`` in a shell that knows next to nothing; return its environment at the end."""
    command = SHELLS[shell]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    known = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LOGNAME": "nobody", "CDPATH": "/:.", **environment}
    done = subprocess.run(
        [*command, "-euc", f"{script}\nset | grep -c '^_acl' || true\nenv -0"],
        env=known, cwd=cwd, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    left, _, pairs = done.stdout.partition("\n")
    assert left == "0", "no name of its own is left"
    found = dict(pair.split("=", 1) for pair in pairs.split("\0") if pair)
    return {name: value for name, value in found.items() if name not in ("_", "PWD", "OLDPWD", "SHLVL", *known)}, found


def expected(home):
    return {
        "ASCEND_HOME_PATH": f"{home}",
        "ASCEND_TOOLKIT_HOME": f"{home}",
        "ASCEND_AICPU_PATH": f"{home}",
        "ASCEND_OPP_PATH": f"{home}/opp",
        "DDK_PATH": f"{home}",
        "NPU_HOST_LIB": f"{home}/lib64",
        "LD_LIBRARY_PATH": f"{home}/lib64",
        "CMAKE_PREFIX_PATH": f"{home}",
        "PKG_CONFIG_PATH": f"{home}/share/pkgconfig",
    }


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("how", NAMES)
def test_set_env_finds_itself(shell, how, kit):
    cwd, name = NAMES[how]
    new, _ = variables(shell, f'. "{name.format(kit=kit)}"', kit.parent / cwd)
    assert new == expected(kit)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_directory_exists(shell, toolkit):
    for home in (acl.toolkit_path(), str(toolkit)):
        found = variables(shell, f'. "{home}/set_env.sh"', "/")[1]
        places = [place for name in expected(home) for place in found[name].split(":")] + [found["PATH"].split(":")[0]]
        assert f"{home}/opp" in places and f"{home}/bin" in places
        assert [place for place in places if not os.path.isdir(place)] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_in_a_subshell(shell, kit):
    new, _ = variables(shell, f'(. "{kit}/set_env.sh"; test "$ASCEND_HOME_PATH" = "{kit}")', "/")
    assert new == {}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_setenv_bash_is_the_same(shell, kit):
    for cwd, name in (("/", f"{kit}/bin/setenv.bash"), (kit / "bin", "./setenv.bash"), (kit, "bin/setenv.bash")):
        new, _ = variables(shell, f'source "{name}"', cwd)
        assert new == expected(kit)


@pytest.mark.parametrize("shell", SHELLS)
def test_set_env_comes_first_and_once(shell, kit):
    script = f'. "{kit}/set_env.sh"'
    _, found = variables(shell, f"{script}\n{script}", "/", LD_LIBRARY_PATH="/other/lib64", PKG_CONFIG_PATH="/a:/b")
    assert found["LD_LIBRARY_PATH"] == f"{kit}/lib64:/other/lib64"
    assert found["PKG_CONFIG_PATH"] == f"{kit}/share/pkgconfig:/a:/b"
    _, found = variables(shell, script, "/", LD_LIBRARY_PATH=f"/other/lib64:{kit}/lib64", DDK_PATH="/other")
    assert found["LD_LIBRARY_PATH"] == f"{kit}/lib64:/other/lib64:{kit}/lib64"
    assert found["DDK_PATH"] == f"{kit}"


PROGRAM = r"""
#include <acl/acl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    uint32_t count = 0;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtGetDeviceCount(&count) != ACL_SUCCESS)
        return 1;
    printf("%s %u %d %s\n", aclrtGetSocName(), count, argc, argv[argc - 1]);
    return aclFinalize();
}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """A program that was linked against a toolkit, and does not say where that was."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    place = tmp_path_factory.mktemp("app")
    (place / "app.c").write_text(PROGRAM)
    build = ["gcc", f"-I{acl.get_include()}", "app.c", "-o", "app", f"-L{acl.get_lib()}", "-lascendcl"]
    subprocess.run(build, cwd=place, check=True)
    return place / "app"


@pytest.fixture
def bare(monkeypatch):
    for name in ("ACL_SIM_SOC", "ACL_SIM_DEVICES", "ACL_SIM_CONFIG", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_exec_finds_the_libraries(app, bare):
    done = run("exec", "--", "./app", cwd=app.parent)
    assert (done.returncode, done.stdout) == (0, "Ascend910B3 1 1 ./app\n"), done.stderr


def test_exec_chooses_soc_and_devices(app, bare):
    done = run("exec", "--soc", "Ascend310P3", "--devices=3", "--", app, "--devices", "5")
    assert done.stdout == "Ascend310P3 3 3 5\n", done.stderr
    done = run("exec", "--devices", "2", app, "--soc", "nothing")
    assert done.stdout == "Ascend910B3 2 3 nothing\n", done.stderr


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "setting, right",
    [(("--soc", "Ascend1"), "Ascend910B3"), (("--devices", "none"), "16"), (("--devices", "17"), "16")],
)
def test_exec_refuses_settings_before_it_starts(app, bare, setting, right):
    done = run("exec", *setting, "--", app)
    assert (done.returncode, done.stdout) == (1, "")
    assert "\nacl: exec: " in f"\n{done.stderr}" and setting[1] in done.stderr and right in done.stderr


def test_exec_comes_before_another_toolkit(tmp_path, app, bare, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (tmp_path / "libascendcl.so").write_text("no library")
    assert run("exec", app).returncode == 0


def test_exec_names_the_toolkit(bare):
    shown = run("exec", "env").stdout.splitlines()
    sourced = expected(acl.toolkit_path())
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH"):
        assert f"{name}={sourced[name]}" in shown


def test_exec_needs_a_program():
    assert "no program 'no-such-app'" in run("exec", "--", "no-such-app").stderr
    assert "needs a program" in run("exec", "--soc", "Ascend310P3").stderr


def resolved(text):
    return re.sub(r"/[^,\s]+", lambda path: os.path.realpath(path[0]), text).split()


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")
@pytest.mark.parametrize("home", ["toolkit", "package"])
def test_pkg_config_agrees_with_config(toolkit, home, app, tmp_path):
    place = str(toolkit) if home == "toolkit" else run("config", "--prefix").stdout.strip()
    environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(place, "share", "pkgconfig")}
    asked = ["pkg-config", "--cflags", "--libs", "ascendcl"]
    said = subprocess.run(asked, env=environment, capture_output=True, text=True).stdout
    assert resolved(said) == resolved(run("config", "--cflags", "--libs").stdout.replace(acl.toolkit_path(), place))
    program = tmp_path / "app"
    subprocess.run(["gcc", app.with_suffix(".c"), "-o", program, *said.split()], check=True)
    assert subprocess.run([program], capture_output=True, text=True).stdout.endswith(f" 1 {program}\n")
