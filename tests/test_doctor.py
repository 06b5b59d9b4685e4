"""What ``ascendcl doctor`` finds, and which ``acl`` programs get where another module of that name comes first."""

import os
import re
import shlex
import subprocess
import sys

import pytest

import acl
import ascendcl
from acl import _lib

PARENT = os.path.dirname(os.path.dirname(acl.__file__))
FILE = "import acl; print(acl.__file__)"


def run(*command, start=("-m", "acl"), **changes):
    """Run a command of the package, without a toolkit unless ``changes`` name one."""
    environment = {name: value for name, value in os.environ.items() if name not in _lib.VARIABLES}
    environment.update({"ACL_BACKEND": "sim", "HOME": "/nowhere"}, **changes)
    return subprocess.run(
        [sys.executable, *start, *command], env=environment, cwd="/", capture_output=True, text=True, timeout=60
    )


def findings(done):
    """Return the lines of a report by kind."""
    found = {}
    for line in done.stdout.splitlines():
        kind, _, text = line.partition(" ")
        found.setdefault(kind, []).append(text.strip())
    return found


@pytest.fixture
def empty_toolkit(tmp_path):
    """Make a directory that looks like a toolkit, with a library that does not load."""
    (tmp_path / "cann" / "lib64").mkdir(parents=True)
    (tmp_path / "cann" / "lib64" / "libascendcl.so").write_text("no library")
    return tmp_path / "cann"


def test_what_is_found_and_why():
    done = run("doctor")
    found = findings(done)
    assert (done.returncode, done.stderr) == (0, "")
    assert found["package"] == [os.path.dirname(acl.__file__)]
    assert found["backend"] == ["sim, because ACL_BACKEND=sim"]
    assert found["library"] == [os.path.join(acl.get_lib(), "libacl_sim.so")]
    assert found["devices"] == [", ".join(_lib.devices()) or "none"]
    assert found["missing"] == ["0 of 735 functions"]
    assert ("simulator" in found) == bool(acl.sim.missing())
    assert "wrong" not in found


def test_the_choice_is_explained(empty_toolkit):
    if _lib.devices():
        pytest.skip("this host has a device")
    done = run("doctor", ACL_BACKEND="auto", ASCEND_HOME_PATH=str(empty_toolkit))
    assert findings(done)["backend"] == ["sim, because no device was found"]


def test_a_variable_that_leads_nowhere():
    done = run("doctor", ASCEND_HOME_PATH="/no/such/toolkit")
    assert findings(done)["note"] == ["ASCEND_HOME_PATH=/no/such/toolkit has no lib64/libascendcl.so"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Version=8.5.0\n", "8.5.0"),
        ("# a toolkit\nversion = 9.0.0\n", "9.0.0"),
        ("timestamp=20250101\n", None),
        (None, None),
    ],
)
def test_version_of_a_toolkit(empty_toolkit, text, version):
    if text is not None:
        (empty_toolkit / "version.info").write_text(text)
    assert _lib.version_of(str(empty_toolkit)) == version
    done = run("doctor", ACL_TOOLKIT=str(empty_toolkit))
    assert findings(done)["toolkit"][0] == f"{empty_toolkit} (CANN {version or 'of an unknown version'})"


def test_version_that_the_installer_noted_comes_first(empty_toolkit):
    (empty_toolkit / "version.info").write_text("Version=7.7.0.1.238\n")
    (empty_toolkit / "x86_64-linux").mkdir()
    note = "package_name=Ascend-cann-toolkit\nversion=8.1.RC1\narch=x86_64\n"
    (empty_toolkit / "x86_64-linux" / "ascend_toolkit_install.info").write_text(note)
    assert _lib.version_of(str(empty_toolkit)) == "8.1.RC1"


@pytest.mark.parametrize("start", [("-m", "acl"), (ascendcl.__file__,)], ids=["module", "script"])
def test_the_doctor_starts_where_nothing_else_does(start, empty_toolkit):
    broken = {"ACL_BACKEND": "npu", "ACL_TOOLKIT": str(empty_toolkit)}
    other = run("info", start=start, **broken)
    assert other.returncode == 1 and "ImportError" in other.stderr
    done = run("doctor", start=start, **broken)
    found = findings(done)
    assert done.returncode == 1
    assert "cannot open" in found["wrong"][0] and "set_env.sh" in found["wrong"][0]
    assert found["backend"] == ["sim, because nothing else could be opened"]
    assert "ACL_BACKEND is 'gpu'" in findings(run("doctor", start=start, ACL_BACKEND="gpu"))["wrong"][0]


def test_headers_need_a_toolkit():
    if any(os.path.isdir(path) for path in _lib.USUAL):
        pytest.skip("this host has a toolkit in a usual place")
    done = run("doctor", "--headers")
    assert done.returncode == 1
    assert findings(done)["wrong"] == ["doctor --headers needs a toolkit; set its path, for example:"]
    assert re.fullmatch(r"ACL_TOOLKIT=\S+ \S*ascendcl doctor --headers", *findings(done)["run"])


@pytest.fixture(params=["acl.so", "acl.py", "acl/__init__.py"])
def vendor(request, tmp_path):
    """Put another module of the name first on the path, as CANN's set_env.sh does."""
    path = tmp_path / "python" / request.param
    path.parent.mkdir(parents=True)
    path.write_text("raise SystemExit('the wrong acl')")
    return path


def test_another_acl_is_seen_and_the_advice_helps(vendor):
    first = str(vendor.parent if vendor.parent.name == "python" else vendor.parent.parent)
    assert run("-c", FILE, start=(), PYTHONPATH=first).returncode != 0
    done = run("doctor", start=(ascendcl.__file__,), PYTHONPATH=first)
    assert done.returncode == 0, done.stderr
    assert findings(done)["note"] == [
        f"`import acl` finds {vendor}, not this package",
        "to import this package instead, run one of these commands:",
    ]
    export, command = findings(done)["run"]
    program = f"{shlex.quote(sys.executable)} -c {shlex.quote(FILE)}"
    assert command.endswith(" exec -- python app.py")
    for pasted in (f"{export}; {program}", command.replace("python app.py", program)):
        chosen = subprocess.run(
            ["sh", "-c", pasted], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": first}
        )
        assert chosen.stdout == f"{acl.__file__}\n", chosen.stderr
