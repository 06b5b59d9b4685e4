"""The picture of a model running instance: what its tasks, streams, events and bytes become."""

import json
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from acl import __main__ as command
from acl import graph, trace

SVG = "{http://www.w3.org/2000/svg}"


def written(streams, pid="7 aclGraph"):
    """The text that aclmdlRIDebugJsonPrint writes for ``{stream: [task]}``; a task is its name, type and other args."""
    entries = []
    for stream, tasks in streams.items():
        for number, (name, kind, *others) in enumerate(tasks):
            args = {"Model Id": 3, "Stream Id": stream, "Task Id": number, "Task Type": kind}
            args.update(others[0] if others else {})
            entry = {"name": name, "pid": pid, "tid": f"stream{stream}", "ts": number * 10, "dur": 9.5, "ph": "X"}
            entries.append(json.dumps({**entry, "args": args}, separators=(",", ":")))
    return "[\n" + ",\n".join(entries) + "]"


def kernel(name, ranges=None):
    return (name, "KERNEL_AIVEC", {"ExtendInfo": ranges} if ranges else {})


def record(number, kind="EVENT"):
    return (f"{kind}_RECORD_{number}", f"{kind}_RECORD")


def wait(number, kind="EVENT"):
    return (f"{kind}_WAIT_{number}", f"{kind}_WAIT")


def parts(text):
    """Tasks, rows and edges of a trace; an edge is its kind and its ends as ``stream.position``."""
    tasks, streams = trace.read(text)
    order = trace.replay(tasks)
    seen, names = Counter(), {None: "out"}
    for task in tasks:
        names[task.index] = f"{streams[task.lane].replace('stream', '')}.{seen[task.lane]}"
        seen[task.lane] += 1
    edges = order.edges + trace.data(tasks, order.rows, order.before)
    rows = {names[task.index]: order.rows[task.index] for task in tasks}
    return rows, Counter((edge.kind, names[edge.source], names[edge.target]) for edge in edges)


def of_kind(text, kind):
    """The edges of one kind, each of which is there once."""
    edges = parts(text)[1]
    assert set(edges.values()) <= {1}
    return {ends for found, *ends in edges for ends in [tuple(ends)] if found == kind}


def drawn(text):
    """The picture as XML."""
    tasks, streams = trace.read(text)
    order = trace.replay(tasks)
    edges = order.edges + trace.data(tasks, order.rows, order.before)
    return ElementTree.fromstring(graph.draw(tasks, streams, order.rows, edges))


def boxes(root):
    """The boxes of the tasks by name from their tooltip: ``(left, top, right, bottom)``."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        if "data-task" in group.attrib:
            x, y, width, height = (float(group.find(f"{SVG}rect").get(key)) for key in ("x", "y", "width", "height"))
            found[int(group.get("data-task"))] = (x, y, x + width, y + height)
    return found


def edges_drawn(root):
    return [path for path in root.iter(f"{SVG}path") if "data-source" in path.attrib or "data-target" in path.attrib]


FORK = {
    5: [kernel("first"), record(0), kernel("left"), wait(1), kernel("last")],
    6: [wait(0), kernel("right"), kernel("longer"), record(1)],
}


def test_rows_follow_streams_and_events():
    rows, edges = parts(written(FORK))
    assert rows == {
        "5.0": 0, "5.1": 1, "5.2": 2, "5.3": 6, "5.4": 7,
        "6.0": 2, "6.1": 3, "6.2": 4, "6.3": 5,
    }  # fmt: skip
    assert Counter(kind for kind, *_ in edges.elements()) == {"order": 7, "event": 2}
    assert of_kind(written(FORK), "event") == {("5.1", "6.0"), ("6.3", "5.3")}


@pytest.mark.parametrize(
    "streams, expected",
    [
        # one record, many waits
        ({1: [record(9)], 2: [wait(9)], 3: [wait(9), wait(9)]}, {("1.0", "2.0"), ("1.0", "3.0"), ("1.0", "3.1")}),
        # recorded again: the first wait refers to the first record, the second wait to the second
        ({1: [record(9), record(9)], 2: [wait(9), wait(9)]}, {("1.0", "2.0"), ("1.1", "2.1")}),
        # each record waited for by all other streams
        (
            {1: [record(9), record(9)], 2: [wait(9), wait(9)], 3: [wait(9), wait(9)]},
            {("1.0", "2.0"), ("1.1", "2.1"), ("1.0", "3.0"), ("1.1", "3.1")},
        ),
        # each record waited for by another stream
        ({1: [record(9), record(9)], 2: [wait(9)], 3: [wait(9)]}, {("1.0", "2.0"), ("1.1", "3.0")}),
        # there and back with one event
        ({1: [record(9), wait(9)], 2: [wait(9), record(9)]}, {("1.0", "2.0"), ("2.1", "1.1")}),
        # a stream that waits for itself, again and again
        ({1: [record(9), wait(9), record(9), wait(9)]}, {("1.0", "1.1"), ("1.2", "1.3")}),
        # more waits than records: the newest one stays
        ({1: [record(9)], 2: [wait(9), wait(9)]}, {("1.0", "2.0"), ("1.0", "2.1")}),
        # the waiting stream comes first in the file
        ({1: [wait(9)], 2: [record(9)]}, {("2.0", "1.0")}),
        # another event of the same number
        ({1: [record(9), record(9, "NOTIFY")], 2: [wait(9, "NOTIFY"), wait(9)]}, {("1.1", "2.0"), ("1.0", "2.1")}),
        # a placeholder is named so and stands for the event
        (
            {1: [("EVENT_RECORD_PLACEHOLDER_4", "EVENT_RECORD_PLACEHOLDER")], 2: [wait(4)]},
            {("1.0", "2.0")},
        ),
        # a kernel that is called like a record
        ({1: [kernel("EVENT_RECORD_9")], 2: [wait(9)]}, set()),
        # streams that wait for each other: a capture cannot make this, yet it gets a picture
        ({1: [wait(1), record(2)], 2: [wait(2), record(1)]}, {("1.1", "2.0")}),
        # a stream that another one starts
        ({1: [kernel("a"), ("STREAM_ACTIVE", "STREAM_ACTIVE", {"Active Stream Id": 2})], 2: [kernel("b")]},
         {("1.1", "2.0")}),
        # streams that start each other, as a loop does
        ({1: [("STREAM_ACTIVE", "STREAM_ACTIVE", {"Active Stream Id": 2})],
          2: [("STREAM_ACTIVE", "STREAM_ACTIVE", {"Active Stream Id": 1})]}, {("1.0", "2.0")}),
    ],
)  # fmt: skip
def test_events_are_matched_by_occurrence(streams, expected):
    assert of_kind(written(streams), "event") == expected


def test_what_has_its_partner_outside_gets_a_stub():
    text = written({
        1: [("CAPTURE_RECORD_EXTERNAL_4", "CAPTURE_RECORD_EXTERNAL"), ("EXTERNAL_EVENT_WAIT_5", "EXTERNAL_EVENT_WAIT")],
        2: [("CAPTURE_WAIT_EXTERNAL_4", "CAPTURE_WAIT_EXTERNAL"), record(1, "NOTIFY"), wait(2, "NOTIFY")],
        3: [record(3), wait(4), ("EVENT_RESET_5", "EVENT_RESET"), ("EVENT_WAIT", "EVENT_WAIT")],
    })  # fmt: skip
    assert of_kind(text, "event") == set()
    assert of_kind(text, "stub") == {
        ("1.0", "out"), ("out", "1.1"), ("out", "2.0"), ("2.1", "out"), ("out", "2.2"), ("out", "3.1"), ("out", "3.3")
    }  # fmt: skip


def test_data_goes_from_the_last_writer_to_the_reader():
    text = written({
        1: [kernel("a", "W0x1000+64"), kernel("b", "W0x1000+32"), kernel("c", "R0x1000+64 W0x2000+4"), record(1)],
        2: [wait(1), kernel("d", "R0x1ff0+32 R0x1010+1"), kernel("e", "R0x1040+8 R0x1000+0")],
    })  # fmt: skip
    assert of_kind(text, "data") == {("1.0", "1.2"), ("1.1", "1.2"), ("1.2", "2.1"), ("1.1", "2.1")}
    assert of_kind(text, "race") == set()


def test_data_skips_a_writer_that_another_stream_has_overwritten():
    text = written({
        1: [kernel("a", "W0x1000+8"), record(1), wait(2), kernel("c", "R0x1000+8 W0x1000+8"), kernel("d", "R0x1000+4")],
        2: [wait(1), kernel("b", "W0x1000+8"), record(2)],
    })  # fmt: skip
    assert of_kind(text, "data") == {("2.1", "1.3"), ("1.3", "1.4")}
    assert of_kind(text, "race") == set()


@pytest.mark.parametrize(
    "left, right, race",
    [
        ("W0x1000+8", "R0x1004+8", True),
        ("R0x1000+8", "W0x1007+1", True),
        ("W0x1000+8", "W0x1000+8", True),
        ("R0x1000+8", "R0x1000+8", False),
        ("W0x1000+8", "R0x1008+8", False),
        ("W0x1000+8", "R0x1000+8 cube", False),  # another tool's text
        ("W0x1000+8", "0x1000", False),
    ],
)
def test_bytes_touched_in_no_order_are_a_possible_race(left, right, race):
    text = written({1: [kernel("a", left)], 2: [kernel("b", right)]})
    assert of_kind(text, "race") == ({("1.0", "2.0")} if race else set())
    assert of_kind(text, "data") == set()
    ordered = written({1: [kernel("a", left), record(1)], 2: [wait(1), kernel("b", right)]})
    assert of_kind(ordered, "race") == set()


def test_a_race_leaves_the_data_of_the_ordered_writer():
    text = written({
        1: [kernel("a", "W0x1000+8"), record(1), kernel("late", "W0x1000+8")],
        2: [wait(1), kernel("b", "R0x1000+8")],
    })  # fmt: skip
    assert of_kind(text, "data") == {("1.0", "2.1")}
    assert of_kind(text, "race") == {("1.2", "2.1")}


def test_races_of_two_streams_join_the_nearest_tasks_only():
    tasks = [kernel(f"k{number}", "W0x1000+8") for number in range(20)]
    assert len(of_kind(written({1: tasks, 2: tasks}), "race")) == 39


def test_the_picture_has_lanes_boxes_and_lines():
    root = drawn(written(FORK))
    lanes = [group for group in root.iter(f"{SVG}g") if group.get("class") == "lane"]
    assert [lane.get("data-stream") for lane in lanes] == ["stream5", "stream6"]
    places = boxes(root)
    assert len(places) == 9
    for lane, members in zip(lanes, (range(5), range(5, 9))):
        around = {key: float(lane.find(f"{SVG}rect").get(key)) for key in ("x", "y", "width", "height")}
        for index in members:
            left, top, right, bottom = places[index]
            assert around["x"] <= left and right <= around["x"] + around["width"]
            assert around["y"] <= top and bottom <= around["y"] + around["height"]
    assert Counter(path.get("class") for path in edges_drawn(root)) == {"edge order": 7, "edge event": 2}
    for path in edges_drawn(root):  # downwards
        assert places[int(path.get("data-source"))][3] < places[int(path.get("data-target"))][1]
    text = "".join(root.itertext())
    for word in ("model 3: 9 tasks on 2 streams", "kernel", "callback", "stream order", "possible race", "outside"):
        assert word in text


@pytest.mark.parametrize(
    "kind, colour",
    [
        ("KERNEL_AICORE", "kernel"),
        ("KERNEL_MIX_AIC", "kernel"),
        ("MEMCPY_ASYNC_WITHOUT_SDMA", "copy"),
        ("MEMSET_ASYNC", "copy"),
        ("EVENT_RESET", "event"),
        ("NOTIFY_WAIT", "event"),
        ("CAPTURE_WAIT_EXTERNAL_PLACEHOLDER", "event"),
        ("EXTERNAL_EVENT_WAIT", "event"),
        ("HOSTFUNC_CALLBACK", "callback"),
        ("NOP", "other"),
        ("MEM_WRITE_VALUE", "other"),
        ("CONDITION_OP", "other"),
    ],
)
def test_boxes_are_coloured_by_task_type(kind, colour):
    root = drawn(written({1: [(kind, kind)]}))
    assert [group.get("class") for group in root.iter(f"{SVG}g") if "data-task" in group.attrib] == [f"task {colour}"]


def many(streams=6, tasks=100):
    """A trace that forks, exchanges bytes between streams all the time, lacks some waits, and joins."""
    chains = {number: [wait(0)] for number in range(1, streams)}
    chains[0] = [kernel("fill", "W0x1000+4096"), record(0)]
    number = 1
    while sum(map(len, chains.values())) < tasks - 2:
        here, there = number % streams, (number + 1 + number // 3 % (streams - 1)) % streams
        chains[here] += [kernel(f"make_{number}", f"R0x1000+16 W{number * 0x10000:#x}+512"), record(number)]
        if number % 5:
            chains[there].append(wait(number))
        chains[there].append(kernel(f"use_{number}", f"R{number * 0x10000:#x}+512 W{number * 0x10000 + 512:#x}+8"))
        number += 1
    return written(dict(sorted(chains.items())))


def segments(path):
    """The straight pieces of a line; its rounded corners are cut off."""
    points = []
    for piece in path.get("d")[1:].split("L"):
        points.append(tuple(map(float, piece.split("Q")[0].split())))
        if "Q" in piece:
            points.append(tuple(map(float, piece.split("Q")[1].split()[2:])))
    return list(zip(points, points[1:]))


def test_no_line_crosses_a_box():
    root = drawn(many())
    places = boxes(root)
    lines = edges_drawn(root)
    assert len(places) >= 97
    assert {path.get("class") for path in lines} == {f"edge {kind}" for kind in ("order", "event", "data", "race")}
    for path in lines:
        for (x, y), (to_x, to_y) in segments(path):
            for left, top, right, bottom in places.values():
                apart = max(x, to_x) <= left or min(x, to_x) >= right or max(y, to_y) <= top or min(y, to_y) >= bottom
                assert apart, (path.attrib, places)
    width, height = float(root.get("width")), float(root.get("height"))
    for path in lines:
        assert all(0 < x < width and 0 < y < height for ends in segments(path) for x, y in ends)


def test_lines_of_different_sources_do_not_share_a_gutter_track():
    root = drawn(many())
    down = {}
    for path in edges_drawn(root):
        for (x, y), (to_x, to_y) in segments(path)[1:-1]:
            if x == to_x and path.get("class") != "edge order":
                down.setdefault(x, []).append((min(y, to_y), max(y, to_y), path.get("class"), path.get("data-source")))
    places = boxes(root).values()
    for x, spans in down.items():
        if any(left < x < right for left, _, right, _ in places):
            continue  # the way down to a box, which all lines to it share
        for start, end, *owner in spans:
            assert all(owner == other or end <= first or last <= start for first, last, *other in spans)


def test_names_are_escaped_and_shortened():
    name = 'a<b> & "c" \x01 \ud800 \u00e9 ]]> &#1;' + "x" * 300 + "_17"
    text = written({1: [(name, "KERNEL_AIVEC", {"ExtendInfo": "<&>", "Kernel Args": "0x01 0x02", "Numblocks": 8})]})
    tasks, streams = trace.read(text)
    svg = graph.draw(tasks, streams, [0], [])
    assert svg.isascii()
    group = next(group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if "data-task" in group.attrib)
    shown, tip = group.find(f"{SVG}text").text, group.find(f"{SVG}title").text
    assert len(shown) == graph.CHARACTERS and "\u2026" in shown and shown.startswith("a<b> &") and shown.endswith("_17")
    assert tip.splitlines()[0] == name.replace("\x01", "\ufffd").replace("\ud800", "\ufffd")
    for line in (
        "ExtendInfo: <&>",
        "Kernel Args: 0x01 0x02",
        "Numblocks: 8",
        "Stream Id: 1",
        "Task Type: KERNEL_AIVEC",
    ):
        assert line in tip.splitlines()


def test_the_flaws_of_vendor_files_are_read():
    text = written(FORK)
    assert len(trace.read(text[:-1] + ",\n]")[0]) == 9
    assert trace.read(text.replace("first", "fir\tst"))[0][0].name == "fir\tst"


@pytest.mark.parametrize("text", ["[]", "[\n]", "[,]"])
def test_an_empty_trace_says_so(text):
    root = drawn(text)
    assert boxes(root) == {} and "no tasks" in "".join(root.itertext())


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "is not JSON"),
        ("[{]", "is not JSON"),
        ("[" * 100000, "is not JSON"),
        ('{"traceEvents": []}', "expected an array"),
        ("[1]", 'entry 1 has no valid "name"'),
        ('[{"name": "a", "tid": []}]', 'entry 1 has no valid "tid"'),
        ('[{"name": "a", "tid": "b", "args": 1}]', 'entry 1 has no valid "args"'),
        ('[{"name": "a", "tid": 1, "args": {}}]', 'entry 1 has no valid "Task Type"'),
    ],
)
def test_other_texts_are_refused(tmp_path, capsys, text, why):
    (tmp_path / "run.json").write_text(text)
    assert command.main(["graph", str(tmp_path / "run.json"), "-o", str(tmp_path / "run.svg")]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"acl: graph: {tmp_path}/run.json ") and why in error and error.count("\n") == 1
    assert not (tmp_path / "run.svg").exists()


def test_the_command(tmp_path, capsys):
    source, target = tmp_path / "run.json", tmp_path / "run.svg"
    source.write_text(many())
    assert command.main(["graph", str(source), "-o", str(target)]) == 0
    assert ElementTree.parse(target).getroot().tag == f"{SVG}svg"
    assert command.main(["graph", str(source)]) == 0
    assert capsys.readouterr().out == target.read_text()
    assert command.main(["graph", str(tmp_path / "none.json")]) == 1
    assert f"cannot read {tmp_path}/none.json: No such file" in capsys.readouterr().err
    assert command.main(["graph", str(source), "-o", str(tmp_path / "none" / "run.svg")]) == 1
    assert f"cannot write {tmp_path}/none/run.svg: No such file" in capsys.readouterr().err
    source.write_bytes(b"\x7fELF\xff\x00")
    assert command.main(["graph", str(source)]) == 1
    assert "is not JSON" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        command.main(["graph"])
    assert stopped.value.code == 2


def test_a_png_is_written_by_a_package(tmp_path, capsys, monkeypatch):
    """It gets the picture that the command writes as SVG."""
    source, target, given = tmp_path / "run.json", tmp_path / "run.PNG", []
    source.write_text(many())
    fake = types.ModuleType("cairosvg")
    fake.svg2png = lambda bytestring: given.append(bytestring) or b"\x89PNG"
    monkeypatch.setitem(sys.modules, "cairosvg", fake)
    assert command.main(["graph", str(source), "-o", str(target)]) == 0
    assert target.read_bytes() == b"\x89PNG"
    assert command.main(["graph", str(source)]) == 0
    assert given == [capsys.readouterr().out.encode()]


def test_without_the_package_a_png_is_refused(tmp_path, capsys, monkeypatch):
    source, target = tmp_path / "run.json", tmp_path / "run.png"
    source.write_text(many())
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    assert command.main(["graph", str(source), "-o", str(target)]) == 1
    error = capsys.readouterr().err
    assert f"cannot write {target}: PNG needs the package cairosvg" in error and "name an .svg file" in error
    assert error.count("\n") == 1 and not target.exists()


@pytest.mark.parametrize("ending", graph.OTHER_FORMATS)
def test_other_pictures_are_refused(tmp_path, capsys, ending):
    source, target = tmp_path / "run.json", tmp_path / f"run{ending}"
    source.write_text(many())
    assert command.main(["graph", str(source), "-o", str(target)]) == 1
    assert "the formats are SVG, and PNG with the package cairosvg" in capsys.readouterr().err and not target.exists()


ALONE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("alone", sys.argv[1])
sys.modules["alone"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["alone"])
assert not any(name.partition(".")[0] == "acl" for name in sys.modules)
"""


@pytest.mark.parametrize("module", [trace, graph])
def test_reading_and_drawing_work_without_the_package(module):
    """They are loaded by path where nothing is built."""
    subprocess.run([sys.executable, "-S", "-c", ALONE, str(Path(module.__file__))], check=True, timeout=60)
