"""The trace: a timeline of calls, tasks, flows and memory in the format of Chrome's trace events."""

import collections
import json
import sys

import pytest
from helpers import programs

import acl
from acl import rt
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

FIELDS = {
    "X": {"ts", "dur", "tid", "cat", "args"},
    "i": {"ts", "s", "tid", "args"},
    "C": {"ts", "args"},
    "s": {"ts", "tid", "id"},
    "f": {"ts", "tid", "id", "bp"},
    "b": {"ts", "tid", "id", "cat"},
    "e": {"ts", "tid", "id", "cat"},
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


def check(events, is_whole=True):
    """Check what the format requires: fields, named tracks, flows between slices, and slices that nest on their track.

    If events were dropped, the slice at an end of a flow may be missing.
    """
    flows, tracks, spans = (collections.defaultdict(list) for _ in range(3))
    names = {(event["name"], event["pid"], event.get("tid")) for event in events if event["ph"] == "M"}
    for event in events:
        assert FIELDS[event["ph"]] <= event.keys(), event
        assert isinstance(event["name"], str) and type(event["pid"]) is int and event.get("ts", 0) >= 0, event
        assert isinstance(event.get("args", {}), dict), event
        if event["ph"] == "M":
            continue
        assert ("process_name", event["pid"], 0) in names, event
        if event["ph"] != "C":
            assert ("thread_name", event["pid"], event["tid"]) in names, event
        if event["ph"] in "sf":
            flows[event["id"]].append(event)
        if event["ph"] in "be":
            spans[event["id"]].append(event["ph"])
        if event["ph"] == "X":
            start = round(1000 * event["ts"])
            tracks[event["pid"], event["tid"]].append((start, start + round(1000 * event["dur"])))
    for ends in flows.values():
        assert [end["ph"] for end in ends] == ["s", "f"] and ends[0]["ts"] <= ends[1]["ts"], ends
        for end in ends:
            at = round(1000 * end["ts"])
            inside = any(start <= at <= last for start, last in tracks[end["pid"], end["tid"]])
            assert inside or not is_whole, end
    assert all(span == ["b", "e"] * (len(span) // 2) for span in spans.values())
    for track in tracks.values():
        assert [start for start, _ in track] == sorted(start for start, _ in track)
        outer = []
        for start, last in track:
            while outer and outer[-1] <= start:
                outer.pop()
            assert start <= last and (not outer or last <= outer[-1]), track
            outer.append(last)


def read(path):
    """The events of a file."""
    return json.loads(path.read_text())["traceEvents"]


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
    return read(file)


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
    events = read(tmp_path / "c.json")
    check(events)
    names = [event["name"] for event in events if event.get("cat") == "api"]
    assert names[:5] == ["aclInit", "aclrtSetDevice", "aclrtCreateStream", "aclrtMalloc", "aclrtMemsetAsync"]
    (malloc,) = named(events, "aclrtMalloc", "api")
    assert "main" in malloc["args"]["at"] or "+0x" in malloc["args"]["at"]


@pytest.fixture
def events(configure, tmp_path):
    """Give a function that writes the trace of this process and returns its events."""
    path = tmp_path / "trace.json"
    configure(trace=path)

    def write():
        acl.sim.write_trace()
        return read(path)

    return write


def test_captures_and_replays_keep_the_format(events):
    with acl.Device(0), acl.Stream() as stream:
        array = acl.DeviceArray.zeros(4, "f4")
        with acl.capture(stream) as graph:
            acl.nn.add(array, array, out=array, stream=stream)
        with graph:
            for _ in range(3):
                graph.replay(stream)
            stream.synchronize()
        array.close()
    found = events()
    check(found)
    replays = [event for event in found if event.get("cat") == "replay"]
    steps = [event for event in found if event.get("args", {}).get("replayed")]
    assert len(replays) == len(steps) == 3
    assert all(outer["ts"] <= step["ts"] < outer["ts"] + outer["dur"] for outer, step in zip(replays, steps))
    (first,) = [event for event in found if event["ph"] == "b"]
    (begin,) = [event for event in found if event["name"] == "capture begins"]
    assert first["id"] == begin["args"]["instance"] and "in test_captures" in begin["args"]["at"]


def test_a_failed_write_loses_nothing(configure, tmp_path):
    path = tmp_path / "late" / "t.json"
    configure(trace=path)
    assert rt.set_device(0) == 0 and rt.malloc(77, 0)[1] == 0
    with pytest.raises(RuntimeError, match=f"the trace {path} cannot be written: No such file or directory"):
        acl.sim.write_trace()
    path.parent.mkdir()
    acl.sim.write_trace()
    assert rt.malloc(78, 0)[1] == 0
    acl.sim.write_trace()
    check(read(path))
    assert [event["args"]["size"] for event in named(read(path), "aclrtMalloc", "api")] == [77, 78]


def test_a_full_disk_is_reported(configure):
    configure(trace="/dev/full")
    assert rt.set_device(0) == 0
    with pytest.raises(RuntimeError, match="the trace /dev/full cannot be written: No space left on device"):
        acl.sim.write_trace()


def test_beyond_the_limit_the_oldest_events_are_dropped(configure, tmp_path):
    path = tmp_path / "t.json"
    configure(trace=path, trace_limit="64K")
    assert rt.set_device(0) == 0
    stream, block = rt.create_stream()[0], rt.malloc(64, 0)[0]
    for value in range(2000):
        assert rt.memset_async(block, 64, value % 100, 64, stream) == 0
    assert rt.synchronize_stream(stream) == 0 and rt.free(block) == 0
    acl.sim.write_trace()
    dropped = json.loads(path.read_text())["otherData"]["dropped"]
    found = read(path)
    check(found, is_whole=False)
    (told,) = [event for event in found if event["name"] == "older events were dropped"]
    assert told["args"]["events"] == dropped > 2000
    assert told["ts"] == min(event["ts"] for event in found if "ts" in event)
    assert not named(found, "aclrtMalloc", "api") and len(named(found, "aclrtFree", "api")) == 1


def test_functions_without_a_variant(configure, tmp_path):
    names = (b"", b"acl", b"aclrtMallo", b"aclrtMallocc", b"malloc", b"aclsimReset", b"a" * 5000, b"\xff\n")
    configure(trace=tmp_path / "t.json")
    assert [lib.aclsimTraced(name) for name in (*names, ffi.NULL)] == [ffi.NULL] * (len(names) + 1)
    assert lib.aclsimTraced(b"aclrtMalloc") != ffi.NULL
    acl.sim.configure(trace="none")
    assert lib.aclsimTraced(b"aclrtMalloc") == ffi.NULL


FORK = """
import os, acl
rt = acl.rt
assert rt.set_device(0) == 0
child = os.fork()
assert acl.init() in (0, 100002) and rt.set_device(0) == 0
assert rt.malloc(1000 if child else 2000, 0)[1] == 0
dataset = acl.mdl.create_dataset()  # a leak that is found at exit
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("name", ["t.json", "%p.json"])
def test_the_child_of_a_fork_has_its_own_file_or_none(run_script, tmp_path, name):
    trace = {"ACL_SIM_TRACE": str(tmp_path / name), "ACL_SIM_CHECK": "leak", "ACL_SIM_FINDINGS": "/dev/null"}
    done = run_script(FORK, env=trace)
    assert done.returncode == 0, done.stderr
    files = [read(path) for path in tmp_path.iterdir()]
    for found in files:
        check(found)
        assert len({event["pid"] for event in found} - {5000000}) == 1
    sizes = [[event["args"]["size"] for event in named(found, "aclrtMalloc", "api")] for found in files]
    assert sorted(sizes) == ([[1000]] if name == "t.json" else [[1000], [2000]])
    assert all(
        "leaked-object" in [event["name"] for event in found if event.get("cat") == "finding"] for found in files
    )


def test_without_a_trace_nothing_is_written():
    assert acl.sim.get_config("trace") == "none"
    with pytest.raises(RuntimeError, match="nothing is traced"):
        acl.sim.write_trace()
