"""The pytest plugin, in projects outside of this tree that use it from an installed package."""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import programs

import acl
import ascendcl_pytest
from acl._lib import present

HERE = Path(__file__).resolve().parent
# What would change what the runs below print: with CI set, pytest repeats whole messages in its summary.
OURS = dict.fromkeys(("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTHONPATH"))
queues_calls = pytest.mark.skipif(not present("aclrtLaunchHostFunc"), reason="this version queues no calls of Python")
needs_xdist = pytest.mark.skipif(not importlib.util.find_spec("xdist"), reason="pytest-xdist is not installed")

# In place of a checker: `find` makes the simulator report a finding, and a reset or forget_findings forgets it.
FINDER = """
import acl.sim
from acl import _hooks
from acl.sim.findings import Finding, Note

found = []
acl.sim.findings = lambda: list(found)
acl.sim.forget_findings = found.clear
_hooks.simulator_reset.functions.insert(0, found.clear)


def find(rule, check="race", line=12):
    note = Note("write", "aclrtMemsetAsync, task 3 of stream 2", f"train.py:{line} in step", 7)
    found.append(Finding(check, rule, "error", "two writes at once", "Synchronise the streams.", (note,)))
"""
TEXT = """error: write-write: two writes at once
    write: aclrtMemsetAsync, task 3 of stream 2, at train.py:12 in step
    Synchronise the streams."""


class Project:
    """A folder with test files."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "pytest.ini").write_text("[pytest]\n")  # of this project, and of no folder above it
        (folder / "finder.py").write_text(FINDER)

    def write(self, text, name="test_it.py"):
        """Write a test file that can import pytest, acl and find."""
        (self.folder / name).write_text(f"import pytest\n\nimport acl\nfrom finder import find\n{text}")

    def run(self, *options, **changes):
        """Run its tests, and return what pytest said, after its counts were compared with ``result``."""
        result = changes.pop("result", None)
        env = programs.environment({**OURS, **changes})
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rfEs", "--color=no", *options]
        done = subprocess.run(
            command, cwd=self.folder, env=env, text=True, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if result is not None:
            counts = re.findall(r"\d+ (?:passed|failed|errors?|skipped|xfailed)", done.stdout.splitlines()[-1])
            assert ", ".join(counts) == result, done.stdout
        return done.stdout


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def fixtures(project):
    for path in (HERE / "plugin_project").glob("*.py"):
        shutil.copy(path, project.folder)
    return project


# ---- without any use of it


def test_the_package_names_the_plugin():
    points = [point for found in importlib.metadata.distributions() for point in found.entry_points]
    values = {point.value for point in points if (point.group, point.name) == ("pytest11", "ascendcl")}
    assert values == {"ascendcl_pytest"}


def test_a_project_that_does_not_use_it_neither_imports_the_package_nor_hears_of_it(project):
    (project.folder / "test_it.py").write_text("def test_it(): pass\n")
    (project.folder / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_unconfigure():\n"
        "    print('imported', *{'acl', 'cffi', 'numpy'} & set(sys.modules))\n"
    )
    said = project.run("-s", "--strict-markers", ACL_SIM_CHECK=None, result=None)
    assert "imported\n" in said and "1 passed" in said and "acl:" not in said


def test_it_can_be_switched_off(project):
    (project.folder / "test_it.py").write_text("def test_it(acl_device): pass\n")
    said = project.run("-p", "no:ascendcl", result="1 error")
    assert "fixture 'acl_device' not found" in said


def test_another_module_of_the_name_acl_does_no_harm_until_a_test_uses_the_plugin(project):
    (project.folder / "acl.py").write_text("")
    (project.folder / "test_it.py").write_text("def test_it(): pass\n\n\ndef test_device(acl_device): pass\n")
    said = project.run(result="1 passed, 1 error")
    assert f"the module acl is {project.folder / 'acl.py'}, which is not that of ascendcl" in said


# ---- fixtures and markers


@queues_calls
def test_each_fixture(fixtures):
    skipped = 1 if acl.is_simulator else 0
    skipped += 10 if acl.backend == "npu" else 0  # the others use the control interface
    said = fixtures.run(ACL_SIM_CHECK=None)
    assert f"{15 - skipped} passed, {skipped} skipped" in said if skipped else "15 passed" in said
    assert f"\nacl: {'simulator' if acl.is_simulator else 'card'}, {acl.get_soc_name()}" in said


@needs_xdist
def test_workers_share_devices_out(project, toolkit):
    """A toolkit of our own stands for a card here: its workers do not share devices, but it has several."""
    project.write("def test_it(acl_device, worker_id):\n    assert acl_device.id == int(worker_id[2:]) % 2\n")
    for name in ("test_b.py", "test_c.py"):
        shutil.copy(project.folder / "test_it.py", project.folder / name)
    env = {"ACL_BACKEND": "npu", "ACL_TOOLKIT": toolkit, "ACL_SIM_DEVICES": 2, "ACL_SIM_CHECK": None}
    project.run("-n", "3", **env, result="3 passed")


@queues_calls
def test_the_error_of_queued_work_is_that_of_the_teardown(project):
    project.write(
        "def fail():\n    raise OSError('from a callback')\n\n\n"
        "def test_it(acl_stream):\n    acl_stream.call(fail)\n\n\n"
        "def test_next(acl_stream): pass\n"
    )
    assert "OSError: from a callback" in project.run(result="2 passed, 1 error")


@pytest.mark.needs_sim
def test_tests_that_need_a_card_or_the_control_interface_are_skipped_without_it(project, toolkit):
    project.write(
        "@pytest.mark.needs_npu\ndef test_card(): pass\n\n\n@pytest.mark.needs_sim\ndef test_sim(): pass\n\n\n"
        "def test_fixture(acl_sim): pass\n"
    )
    assert "needs_npu: there is no card" in project.run(result="2 passed, 1 skipped")
    said = project.run(ACL_BACKEND="npu", ACL_TOOLKIT=toolkit, result="3 skipped")
    assert "needs_sim: ACL_BACKEND=npu has no control interface" in said


def test_the_device_of_pytorch_is_skipped_without_torch_npu(project):
    project.write("def test_it(npu): pass\n")
    said = project.run(result="1 skipped")
    assert "PyTorch has no NPU: No module named 'torch" in said
    assert "without a card, run: ascendcl exec -- python -m pytest" in said


# ---- the option


@pytest.mark.needs_sim
def test_the_option_names_the_checkers_of_the_simulator(configure):
    for name in (*ascendcl_pytest.CHECKS, "all", "none"):
        configure(check=name)
    listed = str(pytest.raises(ValueError, configure, check="foo").value)
    assert re.findall('"(\\w+)"', listed.partition("some of")[2].partition("(")[0]) == list(ascendcl_pytest.CHECKS)


@pytest.mark.parametrize("option", ["--acl-check=foo", "--acl-check=race,foo", "--acl-check="])
def test_the_option_refuses_unknown_names(project, option):
    project.write("def test_it(): pass\n")
    said = project.run(option)
    assert "ERROR: --acl-check: no checker " in said and "expected all, none, or some of memory, race, init" in said


@pytest.mark.needs_sim
def test_the_option_is_in_force_before_the_first_use_after_resets_and_in_programs(project):
    project.write(
        "import os, subprocess, sys\n\nopened = acl.Device(0).use(); early = acl.sim.get_config('check')\n\n\n"
        "def test_early():\n    assert early == 'race,leak'\n\n\n"
        "def test_reset(acl_sim):\n    assert acl_sim.get_config('check') == 'race,leak'\n\n\n"
        "def test_program():\n    code = 'import acl; print(acl.sim.get_config(\"check\"))'\n"
        "    assert subprocess.check_output([sys.executable, '-c', code]) == b'race,leak\\n'\n"
    )
    project.run("--acl-check=race, leak", result="3 passed")
    project.run(ACL_SIM_CHECK="race,leak", result="3 passed")
    project.run("--acl-check=race,leak", ACL_SIM_CHECK="all", result="3 passed")


@pytest.mark.needs_sim
def test_the_option_is_in_force_if_the_library_was_used_before(project):
    (project.folder / "early.py").write_text("import acl\nassert acl.sim.get_config('check') == 'none'\n")
    project.write("def test_it(acl_device):\n    assert acl.sim.get_config('check') == 'leak'\n")
    project.run("-p", "early", "--acl-check=leak", PYTHONPATH=project.folder, ACL_SIM_CHECK=None, result="1 passed")


# ---- findings


@pytest.mark.needs_sim
def test_a_finding_is_the_failure_of_its_test(project):
    project.write(
        "def test_right(): pass\n\n\ndef test_wrong():\n    find('write-write')\n\n\n"
        "def test_wrong_again(acl_stream):\n    find('write-write', line=13)\n\n\ndef test_next(): pass\n"
    )
    said = project.run("--acl-check=race", result="2 failed, 2 passed")
    assert said.count(f"acl: the checkers report:\n{TEXT}\n") == 1 and "train.py:13 in step" in said
    assert "FAILED test_it.py::test_wrong " in said
    assert "\nacl: simulator, Ascend910B3, checks race: 2 findings\n" in said


@pytest.mark.needs_sim
def test_a_finding_of_the_teardown_is_an_error(project):
    project.write(
        "@pytest.fixture\ndef late():\n    yield\n    find('write-write')\n\n\ndef test_wrong(late): pass\n\n\n"
        "def test_next(): pass\n"
    )
    said = project.run("--acl-check=race", result="2 passed, 1 error")
    assert f"acl: the checkers report:\n{TEXT}\n" in said and "ERROR at teardown of test_wrong" in said


@pytest.mark.needs_sim
def test_findings_of_fixtures_count_too_also_before_a_reset(project):
    project.write(
        "@pytest.fixture\ndef early():\n    find('write-write')\n\n\ndef test_fixture(early): pass\n\n\n"
        "def test_reset():\n    find('write-write')\n    acl.sim.reset()\n"
    )
    said = project.run("--acl-check=race", result="2 failed")
    assert said.count(TEXT) == 2


@pytest.mark.needs_sim
def test_a_test_that_fails_by_itself_shows_its_findings_too(project):
    project.write(
        "def test_wrong():\n    find('write-write')\n    assert 1 == 2\n\n\n"
        "def test_raised():\n    find('write-write')\n    error = acl.sim.FindingError()\n"
        "    error.findings = acl.sim.findings()\n    raise error\n"
    )
    said = project.run("--acl-check=race", result="2 failed")
    assert "assert 1 == 2" in said and re.search(f"-+ acl findings -+\n{TEXT}\n", said)
    assert said.count("- acl findings -") == 1  # the exception shows those of the other test


@pytest.mark.needs_sim
def test_without_checkers_nothing_is_collected(project):
    project.write("def test_it():\n    find('write-write')\n\n\n@pytest.mark.finds('init')\ndef test_other(): pass\n")
    assert "acl:" not in project.run(ACL_SIM_CHECK=None, result="2 passed")
    project.run("--acl-check=none", ACL_SIM_CHECK="all", result="2 passed")


@pytest.mark.needs_sim
def test_announced_findings_must_be_found(project):
    project.write(
        "mark = pytest.mark.finds\n\n\n"
        "@mark('write-write')\ndef test_rule():\n    find('write-write')\n\n\n"
        "@mark('race')\ndef test_checker():\n    find('write-write')\n\n\n"
        "@mark('write-write', 'write-read')\ndef test_two():\n    find('write-write'); find('write-read')\n\n\n"
        "@mark('write-write', count=2)\n@mark('leak')\ndef test_count():\n"
        "    find('write-write'); find('write-write'); find('leaked-memory', 'leak')\n\n\n"
        "@mark('race', count=None)\ndef test_any():\n    find('write-write'); find('write-read')\n"
    )
    project.run("--acl-check=race,leak", result="5 passed")
    said = project.run("--acl-check=race,leak", "-p", "test_it", PYTHONPATH=project.folder)
    assert "5 passed" in said


@pytest.mark.needs_sim
def test_announced_findings_that_are_missing_or_others_fail(project):
    project.write(
        "mark = pytest.mark.finds\n\n\n"
        "@mark('write-write')\ndef test_missing(): pass\n\n\n"
        "@mark('write-write')\ndef test_twice():\n    find('write-write'); find('write-write', line=13)\n\n\n"
        "@mark('race')\ndef test_other():\n    find('write-write'); find('leaked-memory', 'leak')\n\n\n"
        "@mark('init')\ndef test_off(): pass\n\n\n"
        "@mark('write-write')\ndef test_skipped():\n    pytest.skip('x')\n"
    )
    said = project.run("--acl-check=race,leak", result="1 failed, 3 passed, 1 skipped, 2 errors")
    assert "ERROR at teardown of test_missing" in said
    assert "'write-write' is announced 1 times, and was found 0 times" in said
    assert "'write-write' is announced 1 times, and was found 2 times" in said
    assert "FAILED test_it.py::test_other" in said and "error: leaked-memory" in said


@pytest.mark.needs_sim
def test_one_test_can_have_its_own_checkers(project):
    project.write(
        "check = acl.sim.get_config\n\n\n"
        "@pytest.mark.acl_check('race', 'leak')\ndef test_names():\n    assert check('check') == 'race,leak'\n"
        "    find('write-write')\n\n\n"
        "def test_next():\n    assert check('check') == 'none'\n\n\n"
        "@pytest.mark.acl_check\ndef test_all(acl_device):\n    assert check('check') == 'all' and acl_device.is_open\n"
        "\n\n@pytest.mark.acl_check('foo')\ndef test_foo(): pass\n"
    )
    said = project.run(ACL_SIM_CHECK=None, result="1 failed, 2 passed, 1 error")
    assert TEXT in said and "acl_check: no checker 'foo'" in said
    assert "\nacl: simulator, Ascend910B3, checks all: 1 finding\n" in said


@needs_xdist
@pytest.mark.needs_sim
def test_findings_of_several_processes_are_counted(project):
    project.write("@pytest.mark.parametrize('i', range(4))\ndef test_it(i):\n    find('write-write')\n")
    said = project.run("-n", "2", "--acl-check=race", result="4 failed")
    assert "\nacl: simulator, Ascend910B3, checks race: 4 findings\n" in said and said.count(TEXT) == 4


# ---- a checker of the simulator


@pytest.mark.needs_sim
def test_a_leak_fails_its_test_and_shows_the_line(project):
    (project.folder / "test_it.py").write_text(
        "import acl, pytest\n\n\ndef test_wrong(acl_device):\n    acl.rt.malloc(100, 0)\n\n\n"
        "def test_right(acl_device):\n    assert acl.rt.free(acl.rt.malloc(100, 0)[0]) == 0\n\n\n"
        "@pytest.mark.finds('leak')\ndef test_announced(acl_device):\n    acl.rt.malloc(100, 0)\n\n\n"
        "@pytest.mark.acl_check('leak')\n@pytest.mark.finds('leak')\ndef test_alone():\n    acl.rt.set_device(0)\n"
        "    acl.rt.malloc(100, 0)\n"
    )
    said = project.run("--acl-check=leak", result="4 passed, 1 error")
    assert re.search(r"error: leak\S*: .*100 bytes", said) and "test_it.py:5 in test_wrong" in said
    assert "checks leak: 3 findings" in said
    project.run(ACL_SIM_CHECK=None, result="4 passed")


# ---- faults


@pytest.mark.needs_sim
def test_a_fault_that_never_strikes_is_a_failure(project):
    project.write(
        "@pytest.mark.acl_fault('malloc:2')\ndef test_once(acl_device):\n    acl.rt.malloc(64, 0)\n\n\n"
        "@pytest.mark.acl_fault('malloc:p=0')\ndef test_by_chance(acl_device):\n    acl.rt.malloc(64, 0)\n\n\n"
        "@pytest.mark.acl_fault('mallok')\ndef test_wrong(): pass\n\n\n"
        "@pytest.mark.acl_fault('malloc:1')\n@pytest.mark.acl_fault('malloc_host:1')\ndef test_both(acl_device):\n"
        "    assert acl.rt.malloc(64, 0)[1] == acl.rt.malloc_host(64)[1] == 207001\n\n\n"
        "def test_after(acl_device):\n    assert acl.rt.malloc(64, 0)[1] == 0\n"
    )
    said = project.run(result="2 failed, 3 passed")
    assert "acl_fault:\n'malloc:2' has not struck; it has counted 1 calls or tasks\n" in said
    assert '"mallok" is not a function that can fail' in said


@pytest.mark.needs_sim
def test_what_a_failed_call_leaves_behind_is_a_failure(project):
    project.write(
        "@pytest.mark.acl_every_fault('malloc', 'malloc_host')\n@pytest.mark.parametrize('size', [64])\n"
        "def test_leaks(acl_device, size):\n"
        "    first, ret = acl.rt.malloc(size, 0)\n    assert ret == 0\n"
        "    second, ret = acl.rt.malloc_host(size)\n    assert ret == 0\n"
        "    acl.rt.free(first)\n    acl.rt.free_host(second)\n\n\n"
        "@pytest.mark.acl_every_fault\ndef test_wrong_without_faults(): assert 1 == 2\n\n\n"
        "@pytest.mark.acl_every_fault\ndef test_own_failure(acl_device):\n"
        "    if acl.rt.malloc(64, 0)[1] != 0:\n        pytest.fail('no memory')\n\n\n"
        "def test_after(acl_device):\n    assert acl.rt.malloc(64, 0)[1] == 0\n"
    )
    said = project.run(result="3 failed, 1 passed")
    assert "with the fault 'malloc_host:1', 1 handles and blocks of memory more are alive after the test" in said
    assert "AssertionError was raised: assert 207001 == 0" in said
    assert "assert 1 == 2" in said and "no memory" in said
