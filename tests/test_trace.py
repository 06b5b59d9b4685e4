"""The trace: a timeline of calls, tasks, flows and memory in the format of Chrome's trace events."""

import collections
import json
import sys

import pytest
from helpers import programs

import acl

pytestmark = pytest.mark.needs_sim

FIELDS = {
    "X": {"ts", "dur", "tid", "cat", "args"},
    "i": {"ts", "s", "tid", "args"},
    "C": {"ts", "args"},
    "s": {"ts", "tid", "id"},
    "f": {"ts", "tid", "id", "bp"},
    "b": {"ts", "id", "cat"},
    "e": {"ts", "id", "cat"},
    "M": {"args"},
}
PROGRAM = """
import acl
rt = acl.rt
assert acl.init() == 0 and rt.set_device(0) == 0
one, two = rt.create_stream()[0], rt.create_stream()[0]
event = rt.create_event()[0]
block = rt.malloc(1 << 20, 0)[0]
for _ in range(3):
    assert rt.memset_async(block, 64, 7, 64, one) == 0
assert rt.record_event(event, one) == 0 and rt.stream_wait_event(two, event) == 0
assert rt.memset_async(block, 64, 8, 64, two) == 0
assert rt.synchronize_stream(two) == 0
assert rt.synchronize_stream(99) == 107017
assert rt.free(block) == 0 and rt.reset_device(0) == 0 and acl.finalize() == 0
"""
C_PROGRAM = """
#include <acl/acl.h>
int main(void)
{
    void *block;
    aclrtStream stream;
    int wrong = aclInit(NULL) | aclrtSetDevice(0) | aclrtCreateStream(&stream);
    wrong |= aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) | aclrtMemsetAsync(block, 64, 1, 64, stream);
    wrong |= aclrtSynchronizeStream(stream) | aclrtFree(block) | aclrtResetDevice(0) | aclFinalize();
    return wrong != 0;
}
"""


def check(events):
    """Check what the format requires: fields, pairs of flows, and slices that nest on their track."""
    flows = collections.defaultdict(list)
    tracks = collections.defaultdict(list)
    for event in events:
        assert FIELDS[event["ph"]] <= event.keys(), event
        assert {"name", "pid"} <= event.keys() and event.get("ts", 0) >= 0, event
        if event["ph"] in "sf":
            flows[event["id"]].append(event)
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((round(1000 * event["ts"]), round(1000 * event["dur"])))
    for ends in flows.values():
        assert [end["ph"] for end in ends] == ["s", "f"] and ends[0]["ts"] <= ends[1]["ts"], ends
    for track in tracks.values():
        assert track == sorted(track, key=lambda slice: slice[0])
        outer = []
        for start, duration in track:
            while outer and outer[-1] <= start:
                outer.pop()
            assert duration >= 0 and (not outer or start + duration <= outer[-1]), track
            outer.append(start + duration)


def named(events, name, category):
    return [event for event in events if event["name"] == name and event.get("cat") == category]


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """Give the events of a Python program."""
    path = tmp_path_factory.mktemp("trace")
    (path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "acl", "exec", "--trace", str(path / "%p.json"), "--", sys.executable]
    programs.run([*command, str(path / "program.py")])
    (file,) = path.glob("*.json")
    assert file.stem.isdigit()
    return json.loads(file.read_text())["traceEvents"]


def test_the_format_is_kept(traced):
    check(traced)


def test_calls_have_arguments_codes_and_lines(traced):
    (malloc,) = named(traced, "aclrtMalloc", "api")
    assert malloc["args"]["size"] == 1 << 20 and malloc["args"]["ret"] == 0
    assert malloc["args"]["at"].endswith("program.py:7 in <module>")
    wrong = named(traced, "aclrtSynchronizeStream", "api")[1]
    assert wrong["args"]["ret"] == 107017 and wrong["args"]["error"].startswith("ACL_ERROR_")


def test_each_task_has_its_slice_and_its_submission(traced):
    tasks = [event for event in traced if event["ph"] == "X" and event["cat"] != "api"]
    sets = [event for event in tasks if event["name"] == "aclrtMemsetAsync"]
    assert len(sets) == 4 and all(event["args"]["bytes"] == 64 for event in sets)
    tracks = {event["tid"]: event["args"]["name"] for event in traced if event["name"] == "thread_name"}
    assert len({tracks[event["tid"]] for event in sets}) == 2
    assert all(tracks[event["tid"]] == f"stream {event['args']['stream']} (device 0)" for event in sets)
    assert len([flow for flow in traced if flow["name"] == "submission" and flow["ph"] == "s"]) == len(tasks)


def test_memory_rises_and_falls(traced):
    bytes_used = [event["args"]["bytes"] for event in traced if event["ph"] == "C"]
    assert max(bytes_used) >= 1 << 20 and bytes_used[-1] == 0


def test_calls_of_a_c_program_are_recorded(tmp_path):
    program = programs.Compiler(tmp_path)(C_PROGRAM, libraries=("ascendcl",))
    programs.run([program], env=programs.environment({"ACL_SIM_TRACE": str(tmp_path / "c.json")}))
    events = json.loads((tmp_path / "c.json").read_text())["traceEvents"]
    check(events)
    names = [event["name"] for event in events if event.get("cat") == "api"]
    assert names[:5] == ["aclInit", "aclrtSetDevice", "aclrtCreateStream", "aclrtMalloc", "aclrtMemsetAsync"]
    (malloc,) = named(events, "aclrtMalloc", "api")
    assert "main" in malloc["args"]["at"] or "+0x" in malloc["args"]["at"]


def test_without_a_trace_nothing_is_written():
    assert acl.sim.get_config("trace") == "none"
    with pytest.raises(RuntimeError, match="nothing is traced"):
        acl.sim.write_trace()
