"""Codes of failed pyACL calls that a program does not look at."""

import sys
import threading

import pytest
from helpers import programs

import acl
from acl import _lib, codes

pytestmark = pytest.mark.needs_sim
WRONG = codes.ACL_ERROR_RT_PARAM_INVALID


@pytest.fixture(autouse=True)
def strict(configure):
    configure(strict=1, findings="/dev/null")
    assert acl.rt.set_device(0) == 0


def found():
    """Return the functions whose code was reported, and forget them."""
    findings = acl.sim.findings()
    acl.sim.forget_findings()
    assert all((found.check, found.rule, found.level) == ("strict", "ignored-code", "error") for found in findings)
    return [finding.notes[0].text for finding in findings]


def test_a_code_that_is_dropped_is_reported_with_the_line_of_its_call():
    acl.rt.free(1)
    (finding,) = acl.sim.findings()
    assert finding.text == f"acl.rt.free failed with {WRONG}, and the program did not look at this code"
    assert (finding.notes[0].label, finding.notes[0].text) == ("failed", "acl.rt.free")
    assert finding.notes[0].site.startswith(f"{__file__}:") and "test_a_code_that_is_dropped" in finding.notes[0].site


def test_a_code_is_reported_when_the_name_gets_another_value():
    ret = acl.rt.free(1)
    assert found() == []
    ret = acl.rt.free(2)
    assert found() == ["acl.rt.free"]
    assert ret != 0
    del ret
    assert found() == []


@pytest.mark.parametrize(
    "look",
    [
        lambda ret: ret == 0, lambda ret: 0 != ret, lambda ret: ret in (0, WRONG), bool, str, repr, int, hash,
        lambda ret: f"{ret}", lambda ret: ret - 1, lambda ret: 1 | ret,
    ],
)  # fmt: skip
def test_a_look_is_enough(look):
    ret = acl.rt.free(1)
    assert look(ret) == look(int(WRONG))
    del ret
    assert found() == []


def test_the_shapes_of_the_calls_stay():
    assert type(acl.rt.get_device()[1]) is int
    ret = acl.rt.free(1)
    assert isinstance(ret, int) and ret == WRONG and {ret: 1}[WRONG] == 1


def test_codes_at_the_end_of_a_tuple_count():
    _, ret = acl.rt.malloc(0, 0)
    del ret
    assert found() == ["acl.rt.malloc"]


def test_codes_of_calls_that_are_written_in_python_count():
    acl.rt.launch_callback(print, 1, 7, 0)
    acl.rt.get_mem_info(99)
    assert found() == ["acl.rt.launch_callback", "acl.rt.get_mem_info"]


def test_codes_of_both_phases_of_an_operator_count():
    acl.nnop.add_get_workspace_size(0, 0, 0, 0)
    acl.nnop.add(0, 0, 0, 0)
    assert found() == ["acl.nnop.add_get_workspace_size", "acl.nnop.add"]


def test_the_same_line_is_reported_once():
    for _ in range(3):
        acl.rt.free(1)
    assert found() == ["acl.rt.free"]


def test_objects_look_at_their_codes():
    with pytest.raises(acl.AclError):
        acl.Buffer(1 << 60)
    assert found() == []


def test_a_finding_can_be_raised(configure):
    for _ in range(2):  # the findings of one configuration are not counted in the next one
        acl.sim.reset()
        configure(strict=1, on_finding="raise", findings="/dev/null")
        acl.rt.free(1)
        with pytest.raises(acl.sim.FindingError, match="acl.rt.free failed"):
            acl.rt.get_device()
    assert acl.rt.get_device()[1] != 0  # no device is open, and the finding was raised


def test_a_report_that_waits_in_vain_is_no_failure():
    stream, ret = acl.rt.create_stream()
    assert (ret, acl.rt.subscribe_report(threading.get_ident(), stream)) == (0, 0)
    acl.rt.process_report(1)
    assert found() == []
    assert (acl.rt.unsubscribe_report(threading.get_ident(), stream), acl.rt.destroy_stream(stream)) == (0, 0)


def test_it_can_be_switched_off():
    acl.sim.strict(False)
    acl.rt.free(1)
    assert type(acl.rt.free(1)) is int and found() == []
    acl.sim.strict()
    acl.rt.free(1)
    assert found() == ["acl.rt.free"]


def test_a_reset_restores_the_setting():
    acl.sim.reset()
    assert type(acl.rt.free(1)) is int


def test_without_the_control_interface_it_is_a_line_on_stderr(monkeypatch, capsys):
    monkeypatch.setattr(_lib, "is_simulator", False)
    acl.rt.free(1)
    said = capsys.readouterr().err
    assert said.startswith(f"acl strict: acl.rt.free failed with {WRONG}, and the program did not look at this code, ")
    assert f", at {__file__}:" in said


def test_an_exit_function_of_another_module_is_left_alone(monkeypatch):
    acl.sim.strict(False)
    monkeypatch.setattr("sys.exit", print)
    acl.sim.reset()
    assert sys.exit is print


@pytest.mark.parametrize("function, line", [(b"", _lib.ffi.NULL), (_lib.ffi.NULL, b"")])
def test_a_report_needs_a_function_and_a_line(function, line):
    assert _lib.lib.aclsimReportIgnored(function, 1, line) == codes.ACL_ERROR_INVALID_PARAM
    assert "NULL" in acl.get_recent_err_msg() and found() == []


KEEPS = """
import sys
import acl
kept = [acl.rt.free(1)]
ret = acl.rt.free(2)
sys.exit(ret)
"""


def test_codes_that_are_kept_to_the_end_are_reported_but_for_the_exit_code():
    done = programs.run_script(KEEPS, {"ACL_SIM_STRICT": 1})
    assert done.stderr.count("ignored-code") == 1 and ":4 in <module>" in done.stderr
