"""Profiles for other tools: when tasks were submitted, the date of the host's raw clock, and the command msprof."""

import csv
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

import acl
from acl import layout

prof, rt = acl.prof, acl.rt
TASK_TIME, MSPROFTX = 2, 0x80
NONE = 255
MSPROF = Path(acl.toolkit_path()) / "tools" / "profiler" / "bin" / "msprof"

pytestmark = pytest.mark.needs_sim


@pytest.fixture
def profiled(device, stream, tmp_path):
    """Give ``profiled(function)``, which profiles what the function does, and returns the folder of the session."""

    def run(function):
        assert prof.init(str(tmp_path)) == 0, acl.get_recent_err_msg()
        config = prof.create_config([0], NONE, 0, TASK_TIME | MSPROFTX)
        assert prof.start(config) == 0, acl.get_recent_err_msg()
        function()
        assert rt.synchronize_stream(stream) == 0
        assert prof.stop(config) == 0 and prof.destroy_config(config) == 0
        return max(tmp_path.glob("PROF_*"), key=lambda path: int(path.name.split("_")[-1]))

    yield run
    prof.finalize()


def tasks(folder):
    return [event for event in json.loads((folder / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]


def msprof(*words, command=MSPROF):
    return subprocess.run([command, *words], capture_output=True, text=True, timeout=60)


def exported(folder):
    """Export a session; return the events of its timeline and the lines of its table."""
    done = msprof("--export=on", f"--output={folder}")
    assert done.returncode == 0, done.stderr
    (timeline,) = (folder / "mindstudio_profiler_output").glob("msprof_*.json")
    (table,) = (folder / "mindstudio_profiler_output").glob("op_summary_*.csv")
    with open(table, newline="") as file:
        return json.loads(timeline.read_text()), list(csv.DictReader(file))


def test_a_task_knows_when_it_was_submitted(profiled, stream, words):
    moments = []

    def three():
        for step in range(3):
            moments.append(time.monotonic_ns() / 1000)
            assert words.set(stream, step, 1) == 0
        moments.append(time.monotonic_ns() / 1000)

    events = tasks(profiled(three))
    submitted = [event["args"]["submitted"] for event in events]
    assert all(begin <= one <= end for begin, one, end in zip(moments, submitted, moments[1:]))
    assert all(one <= event["ts"] for one, event in zip(submitted, events))


def test_a_long_backlog_keeps_its_submissions(profiled, stream, words):
    def many():
        acl.sim.hold(stream)
        for _ in range(100):
            assert words.set(stream, 0, 1) == 0
        acl.sim.release(stream)

    submitted = [event["args"]["submitted"] for event in tasks(profiled(many)) if event["name"] == "aclrtMemsetAsync"]
    assert len(submitted) == 100 and submitted == sorted(submitted)


def test_steps_of_a_replay_have_its_submission(profiled, stream, words):
    acl.mdl.ri_capture_begin(stream, 2)
    assert words.set(stream, 0, 1) == 0
    assert words.set(stream, 1, 2) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    events = tasks(profiled(lambda: acl.mdl.ri_execute_async(instance, stream)))
    assert len({event["args"]["submitted"] for event in events}) == 1 and len(events) == 3
    assert acl.mdl.ri_destroy(instance) == 0


def test_the_raw_clock_has_a_date(profiled, stream, words):
    before = time.time_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    folder = profiled(lambda: words.set(stream, 0, 1))
    after = time.time_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    start = json.loads((folder / "host" / "start_info").read_text())
    assert before[0] // 1000 <= float(start["collectionTimeBegin"]) <= after[0] / 1000
    assert before[1] <= int(start["clockMonotonicRaw"]) <= after[1]
    clocks = json.loads((folder / "trace.json").read_text())["otherData"]
    assert int(start["clockMonotonicRaw"]) == clocks["begin"]["raw"] < clocks["end"]["raw"] <= after[1]


def test_msprof_writes_a_timeline_and_a_table(profiled, stream, words):
    dates = [time.time_ns() / 1000]

    def work():
        assert words.set(stream, 0, 1) == 0
        assert words.count_up(stream, 0) == 0
        assert words.count_up(stream, 0) == 0

    folder = profiled(work)
    dates.append(time.time_ns() / 1000)
    timeline, table = exported(folder)
    names = {event["pid"]: event["args"]["name"] for event in timeline if event["name"] == "process_name"}
    found = [event for event in timeline if event["ph"] == "X" and names[event["pid"]] == "Ascend Hardware"]
    assert [(event["name"], event["args"]["Task Type"]) for event in found] == [
        ("aclrtMemsetAsync", "MEMCPY_ASYNC_SET"),
        ("aclnnInplaceAdds", "AI_VECTOR_CORE"),
        ("aclnnInplaceAdds", "AI_VECTOR_CORE"),
    ]
    assert all(dates[0] - 100 <= float(event["ts"]) <= dates[1] + 100 for event in found)
    for kernel in found:
        begin, end = (event for event in timeline if event.get("id") == str(kernel["args"]["connection_id"]))
        assert (begin["ph"], names[begin["pid"]], end["ph"], end["ts"]) == ("s", "CANN", "f", kernel["ts"])
        assert float(begin["ts"]) <= float(end["ts"])
    busy = [event for event in timeline if event["ph"] == "X" and event["name"] == "Computing"]
    assert [event["ts"] for event in busy] == [event["ts"] for event in found[1:]]
    (free,) = (event for event in timeline if event["ph"] == "X" and event["name"] == "Free")
    assert free["ts"] > busy[0]["ts"]
    assert [(row["Op Name"], row["OP Type"], row["Task Type"], row["Device_id"]) for row in table] == [
        ("aclnnInplaceAdds", "InplaceAdds", "AI_VECTOR_CORE", "0")
    ] * 2
    assert [row["Task Start Time(us)"] for row in table] == [event["ts"] for event in busy]


def test_marks_of_the_program_are_exported(profiled):
    mark = []

    def say():
        mark.append(prof.create_stamp())
        assert prof.set_stamp_trace_message(mark[0], "here", 4) == 0 and prof.mark(mark[0]) == 0

    timeline, table = exported(profiled(say))
    prof.destroy_stamp(mark[0])
    assert [event["name"] for event in timeline if event["ph"] == "X"] == ["here"] and table == []


# Words of the command, words of the message.
REFUSED = {
    "a database": (["--export=on", "--type=db", "--output=."], "--type=db is not supported"),
    "a program": (["--output=.", "./app"], "./app is not supported"),
    "nothing": ([], "a command without --output is not supported"),
    "another folder": (["--export=on", "--output=/nowhere"], "/nowhere/trace.json cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_msprof_refuses(name, tmp_path):
    words, message = REFUSED[name]
    done = msprof(*words)
    assert done.returncode == 1 and message in done.stderr
    assert "--type" not in msprof("--help").stdout  # frameworks take this for an export as a database


def test_msprof_refuses_a_trace_that_has_no_end(tmp_path):
    (tmp_path / "trace.json").write_text('{"traceEvents":[\n')
    done = msprof("--export=on", f"--output={tmp_path}")
    assert done.returncode == 1 and "is not a complete trace" in done.stderr


def test_a_toolkit_has_msprof_on_its_path(tmp_path):
    layout.write(tmp_path / "kit")
    script = f". {tmp_path}/kit/set_env.sh && command -v msprof && msprof --analyze=on --output=."
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [f"{tmp_path}/kit/tools/profiler/bin/msprof"], done.stderr
    assert done.returncode == 0 and os.access(MSPROF, os.X_OK)
