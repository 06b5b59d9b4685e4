"""The page of a trace: a summary, the timeline with its data, tables, findings."""

from __future__ import annotations

import base64
import collections
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from acl.graph import KIND_TEXTS, KINDS, LINES, count, element, plain
from acl.markup import duration, page, size
from acl.report.read import Slice, Trace, Track

DRAWN = 200 * 1000  # slices, marks and arrows that a page has at most
ROWS = 30  # of a table
COLOURS = {"call": "#dcdcdc", **KINDS, "replay": "#f6d0c0", "capture": "#bfe6e0", "failed": LINES["race"]}
COLOURS["other"] = "#efefef"


def seconds(nanoseconds: float) -> str:
    """Return a time with a unit."""
    return duration(nanoseconds / 1e9) if nanoseconds else "0"


# ---- the data of the timeline ----


class Texts(dict[str, int]):
    """The numbers of texts, each of which the page has once."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def numbers(args: dict[str, Any], texts: Texts) -> list[int]:
    """Return arguments as the numbers of their names and values, in turn."""
    return [
        texts[text]
        for name, value in args.items()
        for text in (name, value if isinstance(value, str) else json.dumps(value))
    ]


def lane(track: Track, texts: Texts, chosen: set[int]) -> dict[str, Any]:
    """Return a track as the script reads it: a list per property of the chosen slices, which refer to texts."""
    shown = [each for each in track.slices if id(each) in chosen]
    return {
        "title": track.title,
        "start": [each.start for each in shown],
        "length": [each.length for each in shown],
        "depth": [each.depth for each in shown],
        "name": [texts[each.name] for each in shown],
        "kind": [texts["failed" if each.failed else each.kind] for each in shown],
        "args": [numbers(each.args, texts) for each in shown],
        "marks": [[time, texts[name], numbers(args, texts)] for time, name, args in track.marks[:DRAWN]],
    }


def choose(slices: list[Slice]) -> set[int]:
    """Return the identities of the slices that are drawn: failures, and then the longest."""
    return {id(each) for each in sorted(slices, key=lambda each: (each.failed, each.length))[-DRAWN:]}


def timeline(trace: Trace) -> dict[str, Any]:
    """Return what the script draws."""
    texts = Texts()
    captures = Track("captures", 0)
    for each in trace.captures:
        end = trace.end if each.end is None else each.end
        args = {"instance": each.instance, "stream": each.stream, "at": each.line}
        captures.slices.append(Slice("capture", "capture", each.start, end - each.start, args))
    captures.nest()
    tracks = [*trace.host.values(), *trace.streams.values()]
    chosen = choose([each for track in tracks for each in track.slices])
    lanes = [lane(captures, texts, choose(captures.slices))] if captures.slices else []
    places = {}
    for key, track in trace.host.items():
        places[key] = len(lanes)
        lanes.append(lane(track, texts, chosen))
    for device, points in trace.memory.items():
        if points:
            times, used = zip(*points)
            lanes.append({"title": f"{device}: memory in use", "times": times, "bytes": used})
    for key, track in trace.streams.items():
        places[key] = len(lanes)
        lanes.append(lane(track, texts, chosen))
    arrows = [
        [places[start], begin, places[target], end]
        for start, begin, target, end in trace.arrows[:DRAWN]
        if start in places and target in places
    ]
    about = {"end": trace.end, "drawn": len(chosen), "colours": COLOURS}
    return {**about, "lanes": lanes, "arrows": arrows, "texts": list(texts)}


# ---- tables ----


def moment(start: int, length: int = 0) -> str:
    """Return a time since the beginning, as a button that shows it in the timeline."""
    return element("button", seconds(start), type="button", data_start=start, data_length=length)


def table(head: dict[str, str], rows: Sequence[Sequence[str]], hidden: int = 0) -> str:
    """Return a table whose cells are ready; ``head`` has the titles with the classes of their columns.

    ``hidden``: how many rows were left out.
    """
    lines = [[element("th", title, class_=kind) for title, kind in head.items()]]
    lines += [[element("td", cell, class_=kind) for cell, kind in zip(row, head.values())] for row in rows]
    texts = [element("tr", "".join(line)) for line in lines]
    body = element("table", f"<thead>{texts[0]}</thead><tbody>{''.join(texts[1:])}</tbody>")
    return element("div", body, class_="table") + more(hidden)


def more(hidden: int) -> str:
    """Say how many rows were left out."""
    return element("p", f"{hidden} more are left out.", class_="quiet") if hidden > 0 else ""


def times(slices: Sequence[Slice]) -> list[str]:
    """Return the cells for the time that slices took: together, on average, and the longest of them."""
    longest = max(slices, key=lambda each: each.length)
    together = sum(each.length for each in slices)
    figures = [seconds(each) for each in (together, together / len(slices), longest.length)]
    return [str(len(slices)), *figures, moment(longest.start, longest.length)]


TIMES = {"count": "", "total": "", "mean": "less", "longest": "less", "at": ""}


def top(slices: list[Slice]) -> str:
    """Return the table of slices by name, with the most time first."""
    names: dict[str, list[Slice]] = collections.defaultdict(list)
    for each in slices:
        names[each.name].append(each)
    found = sorted(names.items(), key=lambda item: (-sum(each.length for each in item[1]), item[0]))
    rows = [[element("span", plain(name), class_=f"chip {each[0].kind}"), *times(each)] for name, each in found[:ROWS]]
    return table({"name": "name", **TIMES}, rows, len(found) - ROWS)


def memory(trace: Trace) -> str:
    """Return the table of the memory in use of each device."""
    rows = []
    for device, points in trace.memory.items():
        if points:
            time, peak = max(points, key=lambda point: point[1])
            rows.append([plain(device), size(peak), moment(time), size(points[-1][1])])
    return table({"device": "name", "peak": "", "at": "", "at the end": ""}, rows)


def failures(trace: Trace) -> str:
    """Return the table of failed calls and tasks; those with the same code and line are one row."""
    found: dict[tuple[str, str, str], list[tuple[Track, Slice]]] = collections.defaultdict(list)
    for track in (*trace.host.values(), *trace.streams.values()):
        for each in track.slices:
            if each.failed:
                found[each.name, each.code, each.line].append((track, each))
    rows = []
    for (name, code, line), places in sorted(found.items(), key=lambda item: item[1][0][1].start)[:ROWS]:
        track, first = places[0]
        what = f"{plain(name)}<br>{element('span', plain(code), class_='quiet')}"
        times_of = [str(len(places)), moment(first.start, first.length)]
        rows.append([what, plain(line), plain(track.title), *times_of])
    head = {"call or task, code": "text", "line": "text", "thread or stream": "text less", "count": "", "first": ""}
    return table(head, rows, len(found) - ROWS)


def replays(trace: Trace) -> str:
    """Return the table of the replays, by stream and line."""
    found: dict[tuple[str, str, str], list[Slice]] = collections.defaultdict(list)
    steps: collections.Counter[Any] = collections.Counter()
    for track in trace.streams.values():
        for each in track.slices:
            if each.kind == "replay":
                found[track.title, each.name, each.line].append(each)
            elif each.args.get("replayed"):
                steps[track.title, str(each.args.get("task"))] += 1
    rows = []
    for (title, name, line), slices in list(found.items())[:ROWS]:
        done = sum(steps[title, str(each.args.get("task"))] for each in slices)
        rows.append([plain(name), plain(title), plain(line), str(done), *times(slices)])
    head = {"replay": "name less", "stream": "text", "line": "text", "steps": "less", **TIMES}
    return table(head, rows, len(found) - ROWS)


def captures(trace: Trace) -> str:
    """Return the table of the captures."""
    rows = []
    for each in trace.captures[:ROWS]:
        took = "not ended" if each.end is None else seconds(each.end - each.start)
        length = (trace.end if each.end is None else each.end) - each.start
        rows.append([plain(each.instance), plain(each.stream), plain(each.line), took, moment(each.start, length)])
    head = {"instance": "name less", "stream": "", "line": "text", "duration": "", "at": ""}
    return table(head, rows, len(trace.captures) - ROWS)


def findings(trace: Trace) -> str:
    """Return what the checkers have found, with its lines."""
    parts = []
    for time, found in trace.findings[:ROWS]:
        notes = []
        for note in found.notes:
            thread = f", by thread {plain(note.thread)}" if note.thread else ""
            line = f"<br>{element('code', plain(note.site))}" if note.site else ""
            notes.append(element("li", f"<b>{plain(note.label)}</b>: {plain(note.text)}{thread}{line}"))
        lines = [
            element("p", f"{plain(found.level)}: <b>{plain(found.rule)}</b> {moment(time)}"),
            element("p", plain(found.text)),
            element("ul", "".join(notes)),
            element("p", plain(found.advice), class_="quiet"),
        ]
        parts.append(element("article", "".join(lines), class_="error" if found.level == "error" else "mild"))
    return "".join(parts) + more(len(trace.findings) - ROWS)


# ---- the page ----


def section(title: str, body: str) -> str:
    """Return a section of the page."""
    return element("section", f"<h2>{title}</h2>{body}")


def summary(trace: Trace) -> str:
    """Return the figures at the head of the page."""
    calls, tasks = trace.calls, trace.tasks
    failed = sum(each.failed for each in calls)
    peak = max((used for points in trace.memory.values() for _, used in points), default=0)
    figures = [
        (seconds(trace.end), "duration"),
        (str(len(calls)), "calls" + (f", {failed} failed" if failed else "")),
        (str(len(tasks)), f"tasks on {count(len(trace.streams), 'stream')}"),
        (str(len(trace.memory)), f"device{'' if len(trace.memory) == 1 else 's'}, {trace.soc}"),
        (size(peak), "peak of device memory"),
        (str(len(trace.findings)), "findings of checkers"),
    ]
    return element(
        "dl",
        "".join(f"<div><dd>{plain(figure)}</dd><dt>{plain(text)}</dt></div>" for figure, text in figures),
        class_="summary",
    )


def left_out(trace: Trace, drawn: int) -> str:
    """Say what the page or the trace does not have."""
    every = sum(len(track.slices) for tracks in (trace.host, trace.streams) for track in tracks.values())
    notes = []
    if trace.dropped:
        notes.append(f"{trace.dropped} older events were dropped, because trace_limit was reached.")
    if drawn < every:
        notes.append(f"The timeline has the {drawn} longest of {every} calls and tasks; the tables count all of them.")
    return "".join(element("p", note, class_="notice") for note in notes)


def html(trace: Trace, name: str) -> str:
    """Return the page of a trace; ``name`` is the name of its file."""
    data = timeline(trace)
    # The characters that could end the element, which JSON has in texts only.
    escapes = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
    content = json.dumps(data, separators=(",", ":")).translate(escapes)
    here = resources.files("acl.report")
    script = here.joinpath("timeline.js").read_text(encoding="utf-8")
    style = here.joinpath("page.css").read_text(encoding="utf-8")
    style += "".join(f".{kind} {{ background: {colour}; }}\n" for kind, colour in COLOURS.items())
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{checksum}'"
    head = element("meta", http_equiv="Content-Security-Policy", content=policy)
    kinds = {data["texts"][number] for each in data["lanes"] for number in each.get("kind", [])}
    legend = "".join(
        element("li", KIND_TEXTS.get(kind, kind), class_=f"chip {kind}") for kind in COLOURS if kind in kinds
    )

    failed = any(each.failed for each in (*trace.calls, *trace.tasks))
    is_replayed = any(each.kind == "replay" for each in trace.tasks)
    parts = [
        element("h1", plain(name)),
        element("p", plain(trace.program), class_="quiet"),
        summary(trace),
        left_out(trace, data["drawn"]),
        section("Timeline", TIMELINE.format(legend=legend)),
        section("Findings", findings(trace)) if trace.findings else "",
        section("Failed calls and tasks", failures(trace)) if failed else "",
        section("Captures", captures(trace)) if trace.captures else "",
        section("Replays", replays(trace)) if is_replayed else "",
        '<div class="pair">',
        section("Tasks by total time", top(trace.tasks)) if trace.tasks else "",
        section("Device memory", memory(trace)) if any(trace.memory.values()) else "",
        section("Calls by total time", top(trace.calls)) if trace.calls else "",
        "</div>",
        f'<script type="application/json" id="data">{content}</script><script>{script}</script>',
    ]
    return page(f"{name}: trace", style, "\n".join(parts), head)


TIMELINE = """<div class="bar">
<button type="button" id="closer" title="Zoom in (+)">+</button>
<button type="button" id="farther" title="Zoom out (-)">&minus;</button>
<button type="button" id="all" title="Show everything (0)">all</button>
<ul class="legend">{legend}</ul></div>
<div id="timeline" tabindex="0" aria-label="timeline"><div><canvas></canvas></div></div>
<div id="tip" hidden></div>
<p class="quiet">Drag to move. Zoom with the buttons, a double click, two fingers, the keys + and &minus;, or the wheel
while you hold Ctrl. Point at a box for its arguments, its code and its times; a click keeps them open.</p>
<noscript><p class="notice">The timeline needs JavaScript; the tables below do not.</p></noscript>"""
