"""Findings of the checkers: what happens after one, and the names that reports show."""

import threading

import pytest
from helpers import programs

import acl

pytestmark = pytest.mark.needs_sim

FREE_TWICE = """
import acl
acl.init()
acl.rt.set_device(0)
block, ret = acl.rt.malloc(64, 0)
for _ in range(2):
    acl.rt.free(block)
print("went on")
"""


def free_twice():
    block, ret = acl.rt.malloc(64, 0)
    assert (ret, acl.rt.free(block)) == (0, 0)
    assert acl.rt.free(block) != 0


@pytest.fixture
def device(configure):
    def start(**settings):
        configure(check="memory", findings="/dev/null", **settings)
        assert acl.rt.set_device(0) == 0

    return start


def test_a_program_goes_on_after_a_finding(device):
    device()
    free_twice()
    (finding,) = acl.sim.findings()
    assert (finding.check, finding.rule, finding.level) == ("memory", "invalid-free", "error")
    assert f"{__file__}:" in finding.notes[0].site and "free_twice" in finding.notes[0].site
    assert finding.notes[0].thread == threading.get_native_id()
    free_twice()
    assert len(acl.sim.findings()) == 1  # the same lines
    acl.sim.forget_findings()
    assert acl.sim.findings() == []
    free_twice()
    assert len(acl.sim.findings()) == 1


def test_a_finding_can_be_raised_at_the_next_call(device):
    device(on_finding="raise")
    free_twice()
    with pytest.raises(acl.sim.FindingError, match="invalid-free") as caught:
        acl.rt.get_device()
    assert [finding.rule for finding in caught.value.findings] == ["invalid-free"]
    assert "test_check.py:" in str(caught.value)
    assert acl.rt.get_device() == (0, 0)  # once


def test_a_finding_is_raised_in_the_thread_that_calls_next(device):
    device(on_finding="raise")
    raised = []

    def work():
        try:
            acl.rt.get_device()
        except acl.sim.FindingError as error:
            raised.append(error.findings[0].rule)

    free_twice()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert raised == ["invalid-free"]
    assert acl.rt.get_device() == (0, 0)


def test_a_finding_can_abort_the_program():
    settings = {"ACL_BACKEND": "sim", "ACL_SIM_CHECK": "memory", "ACL_SIM_ON_FINDING": "abort"}
    done = programs.run_script(FREE_TWICE, settings)
    assert done.returncode == -6 and "went on" not in done.stdout
    assert "acl check: error: invalid-free: " in done.stderr
    done = programs.run_script(FREE_TWICE, {**settings, "ACL_SIM_ON_FINDING": "continue"})
    assert done.returncode == 0 and "went on" in done.stdout


def test_reports_show_the_names_of_memory(device):
    device()
    block, ret = acl.rt.malloc(100, 0)
    acl.sim.name(block + 10, "weights")
    acl.rt.memset(block, 101, 0, 101)
    (finding,) = acl.sim.findings()
    assert finding.rule == "beyond-requested-size" and finding.level == "warning"
    assert any('"weights", 100 bytes at 0x' in note.text for note in finding.notes)
    acl.rt.free(block)
    with pytest.raises(RuntimeError, match="expected memory of the simulator"):
        acl.sim.name(block, "gone")
    with pytest.raises(ValueError, match="address is NULL, expected a valid pointer"):
        acl.sim.name(0, "nothing")
