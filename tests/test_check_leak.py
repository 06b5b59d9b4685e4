"""The checker of leaks: faulty programs, each beside the same program without the fault."""

import pytest
from helpers.checked import findings_of
from helpers.programs import environment, run, run_script, sanitized

import acl

pytestmark = pytest.mark.needs_sim

START = """
import acl
acl.sim.configure(check="leak")
acl.rt.set_device(0)
"""
END = "\nacl.rt.reset_device(0)\nacl.finalize()\n"

# Each program makes something in its first line and ends it in the second one: what the report calls it, what comes too
# early for it, and the two lines.
PROGRAMS = [
    ("1 stream", "device 0", "it, _ = acl.rt.create_stream()", "acl.rt.destroy_stream(it)"),
    ("1 stream", "device 0", "it, _ = acl.rt.create_stream_with_config(0, 1)", "acl.rt.destroy_stream_force(it)"),
    ("1 context", "device 0", "it, _ = acl.rt.create_context(0)", "acl.rt.destroy_context(it)"),
    ("1 event", "aclFinalize", "it, _ = acl.rt.create_event()", "acl.rt.destroy_event(it)"),
    ("1 notify", "aclFinalize", "it, _ = acl.rt.create_notify(0)", "acl.rt.destroy_notify(it)"),
    ("1 data buffer", "aclFinalize", "it = acl.create_data_buffer(0, 0)", "acl.destroy_data_buffer(it)"),
    ("1 dataset", "aclFinalize", "it = acl.mdl.create_dataset()", "acl.mdl.destroy_dataset(it)"),
    ("1 model description", "aclFinalize", "it = acl.mdl.create_desc()", "acl.mdl.destroy_desc(it)"),
    ("1 tensor description", "aclFinalize", "it = acl.create_tensor_desc(0, [2], 2)", "acl.destroy_tensor_desc(it)"),
    ("1 set of attributes", "aclFinalize", "it = acl.op.create_attr()", "acl.op.destroy_attr(it)"),
    ("1 load configuration", "aclFinalize", "it = acl.mdl.create_config_handle()", "acl.mdl.destroy_config_handle(it)"),
    ("1 block of memory (100 bytes)", "device 0", "it, _ = acl.rt.malloc(100, 0)", "acl.rt.free(it)"),
    ("1 block of memory (100 bytes)", "device 0", "it, _ = acl.rt.malloc_cached(100, 0)", "acl.rt.free(it)"),
    ("1 block of memory (64 bytes)", "aclFinalize", "it, _ = acl.rt.malloc_host(64)", "acl.rt.free_host(it)"),
]


def found_by(program):
    """Return what the checker found in a program, as lists of rule, text, note and site."""
    found = findings_of(START + program + END)
    return [[each.rule, each.text, each.notes[0].text, each.notes[0].site] for each in found]


@pytest.mark.parametrize(("what", "when", "make", "end"), PROGRAMS, ids=[row[2] for row in PROGRAMS])
def test_what_a_program_does_not_end_is_reported_once_with_its_line(what, when, make, end):
    ((rule, text, _, site),) = found_by(make)
    verb = "was never freed" if "memory" in what else "was never destroyed"
    assert rule == ("leaked-memory" if "memory" in what else "leaked-object")
    reset = when + " was reset" if when == "device 0" else when
    assert text == f"{what} made here {verb} before {reset}"
    assert site.startswith("<string>:5 in")
    assert found_by(make + "\n" + end) == []


def test_leaks_of_one_place_are_one_finding_with_count_and_bytes():
    ((_, text, note, _),) = found_by("for size in range(1, 38): acl.rt.malloc(size, 0)")
    assert text == "37 blocks of memory (703 bytes) made here were never freed before device 0 was reset"
    assert note == "by aclrtMalloc, the first time"


def test_leaks_of_two_places_are_two_findings():
    streams = found_by("acl.rt.create_stream()\nacl.rt.create_stream()")
    assert sorted(site.partition(" ")[0] for *_, site in streams) == ["<string>:5", "<string>:6"]


def test_a_block_is_reported_by_its_name():
    ((_, _, note, _),) = found_by("it, _ = acl.rt.malloc(8, 0); acl.sim.name(it, 'weights')")
    assert note == 'by aclrtMalloc, "weights"'


def test_what_ends_with_another_object_is_no_leak():
    assert found_by("it, _ = acl.rt.create_context(0); acl.rt.create_stream(); acl.rt.destroy_context(it)") == []


def test_the_objects_of_the_library_are_no_leaks():
    assert found_by("acl.rt.synchronize_stream(0)") == []
    assert found_by("acl.Device(0).use(); it = acl.DeviceArray((3,))") == []


def test_leaks_that_are_left_at_exit_are_written_then():
    done = run_script(START + "it, _ = acl.rt.malloc(100, 0)\nother, _ = acl.rt.create_stream()")
    assert done.returncode == 0
    assert "1 stream made here was never destroyed before the process ended" in done.stderr
    assert "1 block of memory (100 bytes) made here was never freed before the process ended" in done.stderr
    assert ":6 in <module>" in done.stderr


def test_handlers_of_the_interpreter_may_still_end_what_is_left():
    ends = "import atexit\nit, _ = acl.rt.create_stream()\natexit.register(acl.rt.destroy_stream, it)"
    assert "leaked" not in run_script(START + ends).stderr


def test_a_reset_of_the_simulator_reports_nothing():
    done = run_script(START + "acl.rt.create_stream()\nacl.sim.reset()")
    assert done.returncode == 0 and "leaked" not in done.stderr


def test_only_the_last_reset_of_a_device_reports_leaks():
    program = "acl.rt.set_device(0); it, _ = acl.rt.create_stream()\nacl.rt.reset_device(0)\n"
    assert found_by(program + "acl.rt.destroy_stream(it)") == []
    assert len(found_by(program)) == 1


def test_a_forced_reset_reports_leaks():
    assert len(found_by("it, _ = acl.rt.create_stream()\nacl.rt.reset_device_force(0)\nacl.rt.set_device(0)")) == 1


def run_with_check(program, *more):
    done = run([program, *more], env=environment({"ACL_SIM_CHECK": "leak"}))
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.skipif(sanitized(), reason="the sanitizer's function stands between the program and the library")
def test_a_leak_in_c_is_reported_with_the_function_that_made_it(compile_c):
    source = """
    #include <acl/acl.h>
    void *make(void) { void *block; return aclrtMalloc(&block, 100, 0) == 0 ? block : 0; }
    int main(int count, char **list) {
        (void)list;
        aclrtSetDevice(0);
        void *block = make();
        if (count > 1)
            aclrtFree(block);
        return aclrtResetDevice(0);
    }
    """
    program = compile_c(source, "-rdynamic", "-O0")
    leaked, right = (run_with_check(program, *more) for more in ([], ["free"]))
    assert "1 block of memory (100 bytes) made here was never freed before device 0 was reset" in leaked
    assert "(make+0x" in leaked
    assert "acl check" not in right


def test_live_counts_memory_and_rejects_unknown_names(configure):
    acl.rt.set_device(0)
    before = acl.sim.live("memory")
    block, _ = acl.rt.malloc(100, 0)
    assert acl.sim.live("memory") == before + 1
    assert acl.rt.free(block) == 0
    assert acl.sim.live("memory") == before
    with pytest.raises(ValueError, match="memory"):
        acl.sim.live("cats")
