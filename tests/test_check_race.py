"""Races: programs without an order between two accesses, each beside the corrected program, which has no finding."""

import os

import pytest
from corpus.race import Setting as Program
from corpus.race import write_then_read
from helpers.capture import Words, begin, end

import acl
from acl import mdl, rt

pytestmark = pytest.mark.needs_sim


@pytest.fixture(params=["parallel", "eager"])
def program(configure, request):
    configure(check="race", findings=os.devnull, schedule=request.param)
    program = Program()
    yield program
    rt.synchronize_device()
    rt.reset_device_force(0)


def test_the_finding_names_both_calls_and_the_block(program):
    assert acl.sim.name(program.a, "weights") is None
    write_then_read(program, False)
    program.finish()
    (finding,) = acl.sim.findings()
    one, two = (rt.stream_get_id(stream)[0] for stream in (program.one, program.two))
    notes = {note.label: note for note in finding.notes}
    if acl.sim.get_config("schedule") == "eager":
        assert list(notes) == ["write", "read", "allocated"]
        assert finding.text.startswith(f'stream {two} reads bytes 0 to 4095 of "weights" (')
        assert finding.text.endswith(f"while stream {one} may still write them")
    assert notes["write"].text.startswith("aclrtMemsetAsync, task ")
    assert notes["write"].text.endswith(f" of stream {one}")
    assert "in write_then_read" in notes["write"].site and "in write_then_read" in notes["read"].site
    assert "aclrtStreamWaitEvent" in finding.advice


def test_one_mistake_in_a_loop_is_one_finding(program):
    for _ in range(50):
        write_then_read(program, False)
        program.finish()
    found = acl.sim.findings()
    assert 1 <= len(found) <= 2  # which of the two ran first may differ
    assert len(found) == 1 or acl.sim.get_config("schedule") == "parallel"


def test_right_results_do_not_hide_a_race(configure):
    """Each task runs when it is queued, so that all results are right; one run is enough all the same."""
    configure(check="race", findings=os.devnull, schedule="eager")
    program = Program()
    for _ in range(1000):
        program.set(program.one)
        program.fetch(program.a)
        assert (program.plain == 7).all()
    (finding,) = acl.sim.findings()
    assert finding.text.startswith("the host reads bytes 0 to 4095")
    rt.reset_device_force(0)


def test_off_finds_nothing(configure):
    configure(check="memory", findings=os.devnull)
    program = Program()
    write_then_read(program, False)
    program.finish()
    assert acl.sim.findings() == []
    rt.reset_device_force(0)


def test_words_of_captures_are_right(program):
    words = Words()
    begin(program.one)
    assert words.count_up(program.one, 0, 3) == 0
    instance = end(program.one)
    for _ in range(10):
        assert mdl.ri_execute_async(instance, program.one) == 0
    rt.synchronize_stream(program.one)
    assert words.read()[0] == 30
    words.close()
    assert acl.sim.findings() == []
