"""Read a trace that the simulator wrote: tracks with their slices, marks, arrows, memory, captures and findings.

All times are nanoseconds since the first event.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, NoReturn

from acl.sim.findings import Finding
from acl.trace import kind_of

Event = dict[str, Any]
HEAD = '{"displayTimeUnit"'  # how the simulator begins a trace
EXACT = 2**53 / 1000  # microseconds; nanoseconds above it are not exact in JavaScript
CALLS, REPLAYS = "api", "replay"  # categories of slices; the others are types of tasks
DISCARDED = -2  # code of a task that was not run
SUBMIT = "submit"  # the slice of a submission that is not inside a recorded call


@dataclass
class Slice:
    """A call, a task or a capture; ``depth`` counts the slices that it lies in."""

    name: str
    kind: str
    start: int
    length: int
    args: Event
    failed: bool = False
    depth: int = 0

    @property
    def end(self) -> int:
        """Return the time at which it ends."""
        return self.start + self.length

    @property
    def code(self) -> str:
        """Return the code of a failure with its name, as far as it is known."""
        code = self.args.get("code", self.args.get("ret", ""))
        return "discarded" if code == DISCARDED else f"{code} {self.args.get('error', '')}".strip()

    @property
    def line(self) -> str:
        """Return the line of the program that made the call or submitted the task; empty if it is unknown."""
        return str(self.args.get("at", ""))


@dataclass
class Track:
    """The track of a host thread, of a stream, or of the captures of the program."""

    title: str
    process: int
    slices: list[Slice] = field(default_factory=list)
    marks: list[tuple[int, str, Event]] = field(default_factory=list)  # time, name, arguments

    def nest(self) -> None:
        """Sort the slices, and find their depths."""
        self.slices.sort(key=lambda each: (each.start, -each.length))
        outer: list[int] = []
        for each in self.slices:
            while outer and outer[-1] <= each.start:
                outer.pop()
            each.depth = len(outer)
            outer.append(each.end)


@dataclass
class Capture:
    """A capture; ``end`` is None if the trace does not have its end."""

    instance: str
    stream: Any
    start: int
    line: str
    end: int | None = None


Key = tuple[int, int]  # process and thread of a track


@dataclass
class Trace:
    """What a trace holds."""

    soc: str
    dropped: int
    program: str = "program"
    end: int = 0
    host: dict[Key, Track] = field(default_factory=dict)
    streams: dict[Key, Track] = field(default_factory=dict)
    arrows: list[tuple[Key, int, Key, int]] = field(default_factory=list)  # track and time of both ends
    memory: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # device: times and bytes in use
    captures: list[Capture] = field(default_factory=list)
    findings: list[tuple[int, Finding]] = field(default_factory=list)

    @property
    def calls(self) -> list[Slice]:
        """Return the calls of all host threads."""
        return [each for track in self.host.values() for each in track.slices if each.name != SUBMIT]

    @property
    def tasks(self) -> list[Slice]:
        """Return the tasks of all streams."""
        return [each for track in self.streams.values() for each in track.slices]


class Reader:
    """Builds a trace from its events."""

    def __init__(self, events: list[Any], about: Event):
        self.trace = Trace(str(about.get("soc", "unknown")), self._whole(about.get("dropped", 0), "dropped"))
        self.events = events
        self.names: dict[tuple[str, Key], str] = {}
        self.devices: set[int] = set()  # processes that stand for a device
        self.open: dict[str, Capture] = {}
        self.tails: dict[Any, tuple[Key, int]] = {}
        times = [self._number(event, "ts") for event in events if self._checked(event)["ph"] != "M"]
        self.first = min(times, default=0.0)

    @staticmethod
    def _wrong(name: str, where: Any) -> NoReturn:
        shown = json.dumps(where)
        raise ValueError(f'is not a trace of the simulator: no valid "{name}" in {shown[:80]}')

    @classmethod
    def _whole(cls, value: Any, name: str) -> int:
        if type(value) is not int or value < 0:
            cls._wrong(name, value)
        return value

    @classmethod
    def _number(cls, event: Event, name: str) -> float:
        value = event.get(name)
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not (math.isfinite(value) and 0 <= value < EXACT)
        ):
            cls._wrong(name, event)
        return value

    @classmethod
    def _checked(cls, event: Any) -> Event:
        """Return an event whose members have the right types."""
        forms = {"name": str, "ph": str, "pid": int}
        if not isinstance(event, dict):
            cls._wrong("ph", event)
        for name, form in forms.items():
            if not isinstance(event.get(name), form):
                cls._wrong(name, event)
        for name, form in {"tid": int, "cat": str, "args": dict}.items():
            if not isinstance(event.setdefault(name, form()), form):
                cls._wrong(name, event)
        return event

    def _time(self, event: Event) -> int:
        time = round(1000 * (event["ts"] - self.first))
        self.trace.end = max(self.trace.end, time)
        return time

    def _track(self, event: Event) -> Track:
        key = event["pid"], event["tid"]
        tracks = self.trace.streams if event["pid"] in self.devices else self.trace.host
        if key not in tracks:
            tracks[key] = Track(self.names.get(("thread_name", key), f"thread {event['tid']}"), event["pid"])
        return tracks[key]

    def read(self) -> Trace:
        """Read all events."""
        readers = {"X": self._slice, "i": self._mark, "C": self._count, "s": self._tail, "f": self._head}
        for event in self.events:
            if event["ph"] == "M":
                self._name(event)
        for event in self.events:
            if event["ph"] in readers:
                readers[event["ph"]](event)
        for tracks in (self.trace.host, self.trace.streams):
            for track in tracks.values():
                track.nest()
        # The main thread has the number of the process.
        self.trace.host = dict(sorted(self.trace.host.items(), key=lambda item: (item[0][0] != item[0][1], item[0])))
        self.trace.streams = dict(sorted(self.trace.streams.items()))
        self.trace.captures.extend(self.open.values())
        self.trace.captures.sort(key=lambda each: each.start)
        return self.trace

    def _name(self, event: Event) -> None:
        name = str(event["args"].get("name", ""))
        self.names[event["name"], (event["pid"], event["tid"])] = name
        if event["name"] == "process_name" and name.startswith("device "):
            self.devices.add(event["pid"])
            self.trace.memory[name] = []
        elif event["name"] == "process_name":
            self.trace.program = name

    def _slice(self, event: Event) -> None:
        category, start = event["cat"], self._time(event)
        length = round(1000 * self._number(event, "dur"))
        kind = {CALLS: "call", REPLAYS: "replay"}.get(category) or kind_of(category)
        failed = event.get("cname") == "terrible"
        self._track(event).slices.append(Slice(event["name"], kind, start, length, event["args"], failed))
        self.trace.end = max(self.trace.end, start + length)

    def _mark(self, event: Event) -> None:
        args, time = event["args"], self._time(event)
        if event["cat"] == "finding":
            try:
                found = Finding.of(args["finding"])
            except (KeyError, TypeError):
                self._wrong("finding", event)
            self.trace.findings.append((time, found))
            args = {"text": found.text}
        if event["cat"] != "capture":  # captures are slices of their own track
            self._track(event).marks.append((time, event["name"], args))
        elif event["name"] == "capture begins":
            instance = str(args.get("instance"))
            self.open[instance] = Capture(instance, args.get("stream", ""), time, str(args.get("at", "")))
        elif event["name"] == "capture ends":
            capture = self.open.pop(str(args.get("instance")), None)
            if capture is not None:
                capture.end = time
                self.trace.captures.append(capture)

    def _count(self, event: Event) -> None:
        device = self.names.get(("process_name", (event["pid"], 0)), f"device {event['pid']}")
        used = self._whole(event["args"].get("bytes"), "bytes")
        self.trace.memory.setdefault(device, []).append((self._time(event), used))

    def _tail(self, event: Event) -> None:
        self.tails[str(event.get("id"))] = (event["pid"], event["tid"]), self._time(event)

    def _head(self, event: Event) -> None:
        tail = self.tails.pop(str(event.get("id")), None)
        if tail is not None:
            self.trace.arrows.append((*tail, (event["pid"], event["tid"]), self._time(event)))


def read(text: str) -> Trace:
    """Return the trace that a text holds; raise a ValueError that says what is wrong if there is none."""
    if not text.strip():
        raise ValueError("is empty")
    try:
        document = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        lines = text.rstrip().count("\n") + 1
        if text.startswith(HEAD) and error.lineno >= lines:  # one event per line: the error is where the text ends
            raise ValueError(f"ends in the middle of line {lines}: the trace was not written whole") from None
        raise ValueError(f"is not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from None
    if isinstance(document, list):
        raise ValueError("is not a trace of the simulator: draw the output of aclmdlRIDebugJsonPrint with graph")
    about = document.get("otherData") if isinstance(document, dict) else None
    if not isinstance(about, dict) or about.get("producer") != "acl simulator":
        raise ValueError("is not a trace of the simulator (ACL_SIM_TRACE)")
    events = document.get("traceEvents")
    if not isinstance(events, list):
        raise ValueError('is not a trace of the simulator: no valid "traceEvents"')
    return Reader(events, about).read()
