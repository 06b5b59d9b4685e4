"""Read the output of ``aclmdlRIDebugJsonPrint``: the tasks of a model running instance, their order, and their data.

:func:`read` returns the tasks, :func:`replay` the order that streams and events establish, :func:`data` the flow of
data between tasks. :mod:`acl.graph` draws them. Needs the standard library only.
"""

import bisect
import collections
import json
import re
from dataclasses import dataclass, field

RANGE = re.compile(r"([RW])0x([0-9a-fA-F]{1,16})\+([0-9]{1,20})")


@dataclass
class Task:
    """One task of the trace; ``index`` is its position in the file, ``lane`` the index of its stream."""

    index: int
    lane: int
    name: str
    args: dict
    kind: str = field(init=False)
    role: str = field(init=False)
    event: tuple = field(init=False)

    def __post_init__(self):
        """Derive the kind and role of the task from its type, and its event from the end of its name."""
        text = self.args["Task Type"].replace("_PLACEHOLDER", "")
        number = re.search(r"_(\d+)$", self.name)
        self.kind = kind_of(text)
        self.event = ("notify" if text.startswith("NOTIFY") else "event", number.group(1) if number else None)
        self.role = ""
        if self.kind == "event" and not text.endswith("RESET"):
            self.role = ("external " if "EXTERNAL" in text else "") + ("wait" if "WAIT" in text else "record")


Edge = collections.namedtuple("Edge", "kind source target text")
Edge.__doc__ = "A line between two tasks, given by their indices, or with None, between a task and the outside."


def kind_of(text):
    """Return the kind of a task of this type, which determines the colour of its box."""
    if "KERNEL" in text or text == "MODEL_EXECUTE":
        return "kernel"
    if "MEMCPY" in text or "MEMSET" in text:
        return "copy"
    if re.match("(EXTERNAL_)?EVENT_|CAPTURE_|NOTIFY_", text):
        return "event"
    return "callback" if "CALLBACK" in text or "HOSTFUNC" in text else "other"


def read(text):
    """Return the tasks of a trace and the names of its streams; raise a ValueError if the text is not a trace."""
    try:
        # A comma before the last bracket is a known flaw of vendor libraries; names may hold raw control characters.
        entries = json.loads(re.sub(r",\s*\]\s*$", "]", text), strict=False)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from None
    if not isinstance(entries, list):
        raise ValueError("is not a trace of aclmdlRIDebugJsonPrint: expected an array of tasks")
    streams = {}
    tasks = []
    for index, entry in enumerate(entries):
        form = {"name": str, "tid": (str, int), "args": dict}
        wrong = [key for key in form if not isinstance(entry, dict) or not isinstance(entry.get(key), form[key])]
        if wrong or not isinstance(entry["args"].get("Task Type"), str):
            what = wrong[0] if wrong else "Task Type"
            raise ValueError(f'is not a trace of aclmdlRIDebugJsonPrint: entry {index + 1} has no valid "{what}"')
        lane = streams.setdefault(str(entry["tid"]), len(streams))
        tasks.append(Task(index, lane, entry["name"], entry["args"]))
    return tasks, list(streams)


class Replay:
    """The order that streams and events establish, found by running the tasks as a device would.

    The trace does not say which of several records of one event a wait refers to. The records are numbered as they
    run. Each stream keeps the number of the newest record that it made or waited for, and waits for the next one.
    If an event has as many waits as records, each record serves one wait; otherwise the waits are counted per
    stream.
    """

    def __init__(self, tasks):
        self.edges = []
        self.rows = [0] * len(tasks)
        self.before = [0] * len(tasks)  # for each task the set of tasks that end before it starts, as bits
        self.total = collections.Counter((task.event, task.role) for task in tasks)
        self.records = collections.defaultdict(list)
        self.known = collections.Counter()  # (lane, event): number of the newest record that the stream knows
        self.served = collections.defaultdict(set)
        self.last = {}  # lane: its newest task
        ids = {str(task.args.get("Stream Id")): task.lane for task in tasks}
        self.starts = {}  # task: the lane whose stream it starts
        for task in tasks:
            lane = ids.get(str(task.args["Active Stream Id"])) if "Active Stream Id" in task.args else None
            if lane not in (None, task.lane):
                self.starts[task.index] = lane
        self.starter = {lane: None for lane in self.starts.values()}  # streams that do not run until a task starts them

    def record_of(self, task, force):
        """Return the number of the record that a wait refers to; 0 if outside the trace, None if it has not run."""
        total, ran = self.total[task.event, "record"], len(self.records[task.event])
        if not total or task.event[1] is None:
            return 0
        known, served = self.known[task.lane, task.event], self.served[task.event]
        if total == self.total[task.event, "wait"]:
            number = next((number for number in range(known + 1, total + 1) if number not in served), ran)
        else:
            number = min(known + 1, total)
        if 0 < number <= ran:
            return number
        return ran if (force and ran) or force > 1 else None

    def try_run(self, task, force):
        """Run a task if everything that it waits for has run; return whether it was run."""
        previous = self.last.get(task.lane)
        starter = self.starter.get(task.lane, task.index) if previous is None else task.index
        number = self.record_of(task, force) if task.role == "wait" else 0
        if number is None or (starter is None and force < 2):
            return False
        if previous is not None:
            self.join("order", previous, task.index, "stream order")
        if starter not in (None, task.index):
            self.join("event", starter, task.index, "starts the stream")
        if number:
            self.join("event", self.records[task.event][number - 1], task.index, " ".join(task.event))
            self.known[task.lane, task.event] = max(self.known[task.lane, task.event], number)
            self.served[task.event].add(number)
        elif task.role == "record":
            self.records[task.event].append(task.index)
            self.known[task.lane, task.event] = len(self.records[task.event])
        if task.role.endswith("wait") and not number:
            self.edges.append(Edge("stub", None, task.index, "waits for the outside"))
        alone = task.event[0] == "notify" and not self.total[task.event, "wait"]
        if task.role == "external record" or (task.role == "record" and alone):
            self.edges.append(Edge("stub", task.index, None, "the outside may wait"))
        self.last[task.lane] = task.index
        if self.starter.get(self.starts.get(task.index), 0) is None:
            self.starter[self.starts[task.index]] = task.index
        return True

    def join(self, kind, source, target, text):
        """Add an edge, and update the row and the predecessors of its target."""
        self.edges.append(Edge(kind, source, target, text))
        self.rows[target] = max(self.rows[target], self.rows[source] + 1)
        self.before[target] |= self.before[source] | 1 << source


def replay(tasks):
    """Run all tasks, one of each stream in turn, and return the finished :class:`Replay`.

    If no stream can continue, one task is forced: a wait takes the newest record, or if there is none, no record.
    """
    waiting, force = collections.defaultdict(collections.deque), 0
    for task in tasks:
        waiting[task.lane].append(task)
    order = Replay(tasks)
    while any(waiting.values()):
        moved = False
        for queue in waiting.values():
            if queue and order.try_run(queue[0], force):
                queue.popleft()
                moved, force = True, 0
        force = 0 if moved else force + 1
    return order


def ranges(task):
    """Return ``(writes, first, end)`` for each byte range of a task whose "ExtendInfo" has the simulator's format."""
    words = str(task.args.get("ExtendInfo", "")).split()
    found = [RANGE.fullmatch(word) for word in words]
    if not all(found):
        return []  # written by another tool
    spans = [(match[1] == "W", int(match[2], 16), int(match[3])) for match in found if match]
    return [(writes, first, first + size) for writes, first, size in spans if size]


def data(tasks, rows, before):
    """Return the edges from last writers to readers, and between unordered tasks that touch the same bytes.

    In each stream only the nearest such task gets an edge: otherwise two streams that share a buffer without any event
    would fill the picture with lines of the same meaning.
    """
    touched = {task.index: ranges(task) for task in tasks}
    points = sorted({point for spans in touched.values() for _, *ends in spans for point in ends})
    past = collections.defaultdict(lambda: collections.defaultdict(list))
    found = collections.defaultdict(set)
    for task in sorted(tasks, key=lambda task: (rows[task.index], task.lane)):
        pieces = collections.defaultdict(set)
        for writes, first, end in touched[task.index]:
            for piece in range(bisect.bisect_left(points, first), bisect.bisect_left(points, end)):
                pieces[piece].add(writes)
        for piece, ways in pieces.items():
            writes = True in ways
            # A writer is compared with all accesses, a reader only with writers, to skip thousands of other readers.
            for kind, other in partners(past[piece, writes].values(), ways, before, before[task.index]):
                found[kind, other, task.index].add(piece)
            past[piece, True][task.lane].append((task.index, writes))
            if writes:
                past[piece, False][task.lane].append((task.index, writes))
    edges = []
    for (kind, source, target), parts in found.items():
        size = sum(points[piece + 1] - points[piece] for piece in parts)
        edges.append(Edge(kind, source, target, f"{size} bytes from {points[min(parts)]:#x}"))
    return edges


def partners(lanes, ways, before, mine):
    """Return the tasks related to a task by one piece of memory: ``("data", writer)`` and ``("race", other)``."""
    met, writers = [], []
    for accesses in lanes:
        raced = False
        for other, wrote in reversed(accesses):
            if mine >> other & 1:
                if wrote and False in ways:
                    writers.append(other)
                if wrote or False not in ways:
                    break
            elif not raced and (wrote or True in ways):
                raced = True
                met.append(("race", other))
                if False not in ways:
                    break
    late = [writer for writer in writers if not any(before[other] >> writer & 1 for other in writers)]
    return met + [("data", writer) for writer in late]
