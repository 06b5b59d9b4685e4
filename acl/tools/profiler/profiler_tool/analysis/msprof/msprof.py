"""Export a profile of the simulator: ``msprof --export=on --output=DIR/PROF_...``.

It reads the ``trace.json`` that a session of profiling wrote, and writes into ``mindstudio_profiler_output`` a timeline
and a table of the tasks, in the form that frameworks and viewers read. It needs only Python.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

OUTPUT = "mindstudio_profiler_output"
# What a card runs on its cores, and its name there. Other tasks keep their kind as the type.
COMPUTING = {"KERNEL_AICORE": "AI_CORE", "KERNEL_AIVEC": "AI_VECTOR_CORE", "KERNEL_AICPU": "AI_CPU"}
TABLE = (
    "Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State", "Task Type",
    "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)", "Block Num",
)  # fmt: skip
HARDWARE, OVERLAP, PROGRAM = 1, 2, 3  # processes of the timeline; devices follow each other at intervals of STEP
STEP = 10
LINGER = 1.0  # seconds; torch_npu looks for the table ten times a second, and gives up when this command ends before


class Refused(Exception):
    """A command that the simulator's msprof does not have, or a folder that it cannot export."""


class Clock(NamedTuple):
    """How the monotonic clock of a trace becomes the date: by the raw clock, as frameworks compute it."""

    monotonic: int
    realtime: int
    rate: float  # of the raw clock to the monotonic one

    @classmethod
    def of(cls, clocks: dict[str, Any]) -> Clock:
        """Return the clock of a session, from its readings at begin and end."""
        begin, end = clocks["begin"], clocks["end"]
        passed = end["monotonic"] - begin["monotonic"]
        rate = (end["raw"] - begin["raw"]) / passed if passed > 0 else 1.0
        return cls(begin["monotonic"], begin["realtime"], rate)

    def date(self, microseconds: Decimal) -> int:
        """Return the date of a time of the trace, in nanoseconds."""
        passed = int(microseconds * 1000) - self.monotonic
        return self.realtime + round(passed * self.rate)


class Task(NamedTuple):
    """A task of the trace, with dates in nanoseconds."""

    device: int
    stream: int
    number: int
    name: str
    kind: str
    start: int
    end: int
    submitted: int | None
    thread: int


def micro(nanoseconds: int) -> str:
    """Return nanoseconds as microseconds, exactly."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def process(number: int, name: str, label: str) -> list[dict[str, Any]]:
    """Return the events that name a process of the timeline."""
    values = ("process_name", {"name": name}), ("process_labels", {"labels": label})
    found = [{"name": key, "pid": number, "tid": 0, "ph": "M", "args": value} for key, value in values]
    return [*found, {"name": "process_sort_index", "pid": number, "tid": 0, "ph": "M", "args": {"sort_index": number}}]


def thread(number: int, line: int, name: str) -> dict[str, Any]:
    """Return the event that names a line of a process."""
    return {"name": "thread_name", "pid": number, "tid": line, "ph": "M", "args": {"name": name}}


def slice_of(number: int, line: int, name: str, start: int, end: int, **arguments: Any) -> dict[str, Any]:
    """Return an event with a duration."""
    dates = {"ts": micro(start), "dur": (end - start) / 1000}
    return {"name": name, "pid": number, "tid": line, "ph": "X", **dates, "args": arguments}


def read(folder: Path) -> tuple[list[Task], list[dict[str, Any]], Clock]:
    """Return the tasks and the marks of a session, and its clock."""
    path = folder / "trace.json"
    try:
        trace = json.loads(path.read_text("utf-8"), parse_float=Decimal)
        clock = Clock.of(trace["otherData"])
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}; expected a profile of the simulator") from None
    except (ValueError, KeyError):
        raise Refused(f"{path} is not a complete trace; the program has to end its profiling session") from None
    tasks, marks = [], []
    for event in trace["traceEvents"]:
        if event["ph"] not in "Xi":
            continue
        start = clock.date(Decimal(event["ts"]))
        end = start + int(Decimal(event.get("dur", 0)) * 1000)
        found = event["args"]
        if "task" not in found:
            marks.append({**event, "start": start, "end": end})
            continue
        submitted = clock.date(Decimal(found["submitted"])) if "submitted" in found else None
        place = (event["pid"], event["tid"], found["task"])
        tasks.append(Task(*place, event["name"], event["cat"], start, end, submitted, found["thread"]))
    return sorted(tasks, key=lambda task: task.start), marks, clock


def busy(tasks: list[Task]) -> list[tuple[int, int]]:
    """Return the times in which at least one of the tasks computed."""
    found: list[tuple[int, int]] = []
    for task in tasks:
        if task.kind not in COMPUTING:
            continue
        if found and task.start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], task.end))
        else:
            found.append((task.start, task.end))
    return found


def overlap(number: int, times: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the lines that say when a device computed, and when it was free in between."""
    found = [thread(number, 0, "Computing"), thread(number, 1, "Free")]
    found += [slice_of(number, 0, "Computing", *one) for one in times]
    return found + [slice_of(number, 1, "Free", one[1], other[0]) for one, other in zip(times, times[1:])]


def arrow(task: Task, number: int, identity: int) -> list[dict[str, Any]]:
    """Return the flow from the submission of a task to its start."""
    if task.submitted is None:
        return []
    flow = {"name": f"HostToDevice{identity}", "cat": "HostToDevice", "id": str(identity)}
    begin = {**flow, "ph": "s", "pid": PROGRAM, "tid": task.thread, "ts": micro(task.submitted)}
    return [begin, {**flow, "ph": "f", "bp": "e", "pid": number, "tid": task.stream, "ts": micro(task.start)}]


def timeline(tasks: list[Task], marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of the timeline."""
    found = process(PROGRAM, "CANN", "CPU")
    for device in sorted({task.device for task in tasks}):
        number = HARDWARE + STEP * (device + 1)
        mine = [task for task in tasks if task.device == device]
        found += process(number, "Ascend Hardware", f"NPU {device}")
        found += process(number + OVERLAP - HARDWARE, "Overlap Analysis", f"NPU {device}")
        found += [thread(number, stream, f"Stream {stream}") for stream in sorted({task.stream for task in mine})]
        found += overlap(number + OVERLAP - HARDWARE, busy(mine))
        for task in mine:
            identity = len(found)
            arguments = {"Task Type": COMPUTING.get(task.kind, task.kind), "Stream Id": task.stream}
            arguments.update({"Task Id": task.number, "connection_id": identity})
            found.append(slice_of(number, task.stream, task.name, task.start, task.end, **arguments))
            found += arrow(task, number, identity)
    for mark in marks:
        found.append(slice_of(PROGRAM, mark["tid"], mark["name"], mark["start"], mark["end"]))
    return found


def rows(tasks: list[Task]) -> list[list[Any]]:
    """Return the lines of the table of what computed."""
    found: list[list[Any]] = []
    ended: dict[tuple[int, int], Any] = {}
    for task in tasks:
        place = task.device, task.stream
        wait = max(0, task.start - ended.get(place, task.start))
        ended[place] = task.end
        if task.kind not in COMPUTING:
            continue
        times = [micro(task.start), micro(task.end - task.start), micro(wait)]
        where = [task.device, "N/A", task.number, task.stream]
        name = [task.name, task.name.removeprefix("aclnn"), "dynamic", COMPUTING[task.kind]]
        found.append([*where, *name, *times, "N/A"])
    return found


def export(folder: Path) -> None:
    """Write the timeline and the table of a session."""
    tasks, marks, _ = read(folder)
    output, now = folder / OUTPUT, time.strftime("%Y%m%d%H%M%S")
    output.mkdir(exist_ok=True)
    (output / f"msprof_{now}.json").write_text(json.dumps(timeline(tasks, marks)), "utf-8")
    # Last: frameworks wait for a table, and then read all files.
    temporary = output / f"op_summary_{now}.tmp"
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([TABLE, *rows(tasks)])
    temporary.rename(temporary.with_suffix(".csv"))
    time.sleep(LINGER)


def main(words: list[str]) -> int:
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="msprof", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--output", help="the folder of a session, PROF_...", type=Path)
    parser.add_argument("--export", choices=("on", "off"), default="off", help="write a timeline and a table")
    parser.add_argument("--analyze", choices=("on", "off"), default="off", help="accepted, without effect")
    given, others = parser.parse_known_args(words)
    try:
        if others or given.output is None:
            raise Refused(
                f"{' '.join(others) or 'a command without --output'} is not supported: the simulator's msprof exports "
                "a profile as text, by --export=on --output=PROF_...; torch_npu.profiler and aclprofStart write "
                "profiles"
            )
        if given.export == "on":
            export(given.output)
    except Refused as refused:
        print(f"msprof: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
