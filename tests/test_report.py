"""The report: what of a trace its page has, escaping, wrong files, and the timeline in a browser."""

import base64
import copy
import hashlib
import html.parser
import json
import re
import shutil

import numpy
import pytest
from helpers import programs

import acl
from acl import __main__ as command
from acl import rt
from acl.report import page, read

BAD = "</script><img src=x onerror=alert(1)>&'\"\x07\ud800"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOST, DEVICE = {"pid": 7, "tid": 7}, {"pid": 5000000, "tid": 6000002}


def slice_of(name, start, length, place=HOST, cat="api", **args):
    """An event of a call or task; times in microseconds."""
    failed = {"cname": "terrible"} if args.get("ret", args.get("code")) else {}
    return {"name": name, "cat": cat, "ph": "X", **place, "ts": start, "dur": length, **failed, "args": args}


def named(kind, name, **place):
    return {"name": f"{kind}_name", "ph": "M", "tid": 0, **place, "args": {"name": name}}


def document(*events, dropped=0):
    names = [named("process", "program (process 7)", pid=7), named("process", "device 0", pid=5000000)]
    names += [named("thread", "main: app (thread 7)", **HOST), named("thread", "stream 2 (device 0)", **DEVICE)]
    about = {"producer": "acl simulator", "soc": "Ascend910B3", "dropped": dropped}
    return {"displayTimeUnit": "ns", "otherData": about, "traceEvents": [*names, *events]}


FINDING = {"check": "race", "rule": "race", "level": "error", "text": "two writes", "advice": "wait", "notes": [
    {"label": "write", "text": "aclrtMemset", "site": "app.py:3 in main", "thread": 7}]}  # fmt: skip
EVENTS = [
    slice_of("aclrtMalloc", 100.5, 10, ret=0, size=64, at="app.py:1 in main"),
    {"name": "device memory", "cat": "memory", "ph": "C", "pid": 5000000, "ts": 105, "args": {"bytes": 3 << 20}},
    slice_of("aclrtFree", 120, 1, ret=107000, error="ACL_ERROR_RT_PARAM_INVALID", at="app.py:2 in main"),
    {
        "name": "capture begins",
        "cat": "capture",
        "ph": "i",
        **HOST,
        "ts": 122,
        "args": {"instance": "0x1", "stream": 2},
    },
    {"name": "capture ends", "cat": "capture", "ph": "i", **HOST, "ts": 125, "args": {"instance": "0x1"}},
    {"name": "submission", "cat": "flow", "ph": "s", **HOST, "ts": 121, "id": 1},
    slice_of("aclmdlRIExecuteAsync", 130, 20, DEVICE, "replay", task=1, code=0),
    slice_of("aclrtMemsetAsync", 131, 4, DEVICE, "MEMSET_ASYNC", task=1, code=0, replayed=True),
    {"name": "submission", "cat": "flow", "ph": "f", **DEVICE, "ts": 130, "id": 1},
    slice_of("aclnnAdd", 160, 5, DEVICE, "KERNEL_AIVEC", task=2, code=507015),
    {"name": "race", "cat": "finding", "ph": "i", **HOST, "ts": 170, "args": {"finding": FINDING}},
    {"name": "device memory", "cat": "memory", "ph": "C", "pid": 5000000, "ts": 180, "args": {"bytes": 0}},
]


def html_of(events, name="t.json", **options):
    return page.html(read.read(json.dumps(document(*copy.deepcopy(events), **options))), name)


def data_of(text):
    """What the script of a page draws."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


class Texts(html.parser.HTMLParser):
    """The elements of a page, and the rows of its tables under the titles of their sections."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.title, self.inside = {}, set(), "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag in ("h2", "td", "li", "dd", "dt"):
            self.inside = tag
            self.title = "" if tag == "h2" else self.title
        if tag == "tr":
            self.rows.setdefault(self.title, []).append([])
        if tag == "td":
            self.rows[self.title][-1].append("")

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, text):
        if self.inside == "h2":
            self.title += text
        elif self.inside == "td":
            self.rows[self.title][-1][-1] += text


def report(path, *options):
    return command.main(["report", str(path), *options])


# --- what the page has


def test_the_tables_have_calls_tasks_memory_and_failures():
    rows = Texts(html_of(EVENTS)).rows
    assert rows["Calls by total time"][1:] == [
        ["aclrtMalloc", "1", "10.0 µs", "10.0 µs", "10.0 µs", "0"],
        ["aclrtFree", "1", "1.00 µs", "1.00 µs", "1.00 µs", "19.5 µs"],
    ]
    assert [row[:3] for row in rows["Tasks by total time"][1:]] == [
        ["aclmdlRIExecuteAsync", "1", "20.0 µs"], ["aclnnAdd", "1", "5.00 µs"], ["aclrtMemsetAsync", "1", "4.00 µs"],
    ]  # fmt: skip
    assert rows["Failed calls and tasks"][1:] == [
        ["aclrtFree107000 ACL_ERROR_RT_PARAM_INVALID", "app.py:2 in main", "main: app (thread 7)", "1", "19.5 µs"],
        ["aclnnAdd507015", "", "stream 2 (device 0)", "1", "59.5 µs"],
    ]
    assert rows["Device memory"][1:] == [["device 0", "3.00 MiB", "4.50 µs", "0 B"]]
    assert rows["Captures"][1:] == [["0x1", "2", "", "3.00 µs", "21.5 µs"]]
    assert rows["Replays"][1] == [
        "aclmdlRIExecuteAsync",
        "stream 2 (device 0)",
        "",
        "1",
        "1",
        *["20.0 µs"] * 3,
        "29.5 µs",
    ]


def test_the_summary_and_the_findings():
    text = html_of(EVENTS)
    figures = re.findall("<dd>(.*?)</dd><dt>(.*?)</dt>", text)
    assert figures == [
        ("79.5 µs", "duration"), ("2", "calls, 1 failed"), ("3", "tasks on 1 stream"), ("1", "device, Ascend910B3"),
        ("3.00 MiB", "peak of device memory"), ("1", "findings of checkers"),
    ]  # fmt: skip
    assert "<b>write</b>: aclrtMemset, by thread 7<br><code>app.py:3 in main</code>" in text
    assert 'class="notice"' not in text.split("<noscript>")[0]


def test_the_timeline_has_lanes_slices_and_arrows():
    data = data_of(html_of(EVENTS))
    lanes = {lane["title"]: lane for lane in data["lanes"]}
    assert list(lanes) == ["captures", "main: app (thread 7)", "device 0: memory in use", "stream 2 (device 0)"]
    stream = lanes["stream 2 (device 0)"]
    assert stream["start"] == [29500, 30500, 59500] and stream["length"] == [20000, 4000, 5000]
    assert stream["depth"] == [0, 1, 0]
    assert [data["texts"][kind] for kind in stream["kind"]] == ["replay", "copy", "failed"]
    assert [data["texts"][text] for text in stream["args"][2]] == ["task", "2", "code", "507015"]
    assert lanes["device 0: memory in use"]["bytes"] == [3 << 20, 0]
    ((_, *about),) = lanes["main: app (thread 7)"]["marks"]
    assert [data["texts"][text] for text in (about[0], *about[1])] == ["race", "text", "two writes"]
    assert data["arrows"] == [[1, 20500, 3, 29500]] and data["end"] == 79500


def test_slices_that_overlap_are_drawn_below_each_other():
    events = [slice_of("a", 0, 10), slice_of("b", 5, 20), slice_of("c", 12, 1), slice_of("d", 30, 1)]
    assert data_of(html_of(events))["lanes"][0]["depth"] == [0, 1, 2, 0]


def test_a_capture_without_an_end_lasts_to_the_end():
    text = html_of([event for event in EVENTS if event["name"] != "capture ends"])
    assert Texts(text).rows["Captures"][1] == ["0x1", "2", "", "not ended", "21.5 µs"]
    assert data_of(text)["lanes"][0]["length"] == [58000]


def test_a_trace_without_events_has_a_page():
    text = html_of([])
    assert data_of(text)["lanes"] == [] and "<dd>0</dd><dt>duration</dt>" in text and "<table" not in text


def test_dropped_events_are_mentioned():
    assert "12 older events were dropped, because trace_limit was reached." in html_of(EVENTS, dropped=12)


def test_a_large_trace_is_drawn_in_part_and_counted_whole(monkeypatch):
    monkeypatch.setattr(page, "DRAWN", 4)
    monkeypatch.setattr(page, "ROWS", 2)
    events = [slice_of(f"call {i % 3}", 10 * i, i % 7, ret=int(i == 21)) for i in range(40)]
    text = html_of(events)
    (lane,) = data_of(text)["lanes"]
    # Five calls are equally the longest, and one that failed comes before them.
    assert sorted(lane["length"]) == [0, 6000, 6000, 6000]
    assert "The timeline has the 4 longest of 40 calls and tasks" in text
    rows = Texts(text).rows["Calls by total time"]
    assert [row[:2] for row in rows[1:]] == [["call 0", "14"], ["call 1", "13"]] and "1 more are left out." in text


# --- escaping


def spoil(value):
    """The same with bad characters in each text that a program may choose."""
    if isinstance(value, dict):
        fixed = ("ph", "cat", "producer", "cname", "level")
        return {key: content if key in fixed else spoil(content) for key, content in value.items()}
    if isinstance(value, list):
        return [spoil(each) for each in value]
    return value + BAD if isinstance(value, str) else value


def test_texts_of_the_trace_are_escaped():
    whole = document(*EVENTS)
    spoilt = spoil(whole)
    for event, right in zip(spoilt["traceEvents"], whole["traceEvents"]):
        if right["ph"] in "Mi":  # these names say what the event is about
            event["name"] = right["name"]
    text = page.html(read.read(json.dumps(spoilt)), f"t{BAD}.json")
    plain = html_of(EVENTS)
    assert Texts(text).tags == Texts(plain).tags and "img" not in Texts(text).tags
    assert text.count("<script") == plain.count("<script") == 2 and "\x07" not in text and text.encode()
    assert f"aclrtMalloc{BAD}" in data_of(text)["texts"]
    assert text.count("&lt;/script&gt;&lt;img src=x") > 20


def test_the_page_loads_nothing():
    text = html_of(EVENTS)
    script = re.findall("<script>(.*?)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in text
    assert "http:" not in text and "https:" not in text and " src=" not in text


# --- the command, and wrong files


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document(*EVENTS)))
    return path


def test_the_command_writes_the_page(stored, tmp_path, monkeypatch, capsys):
    assert report(stored, "-o", str(tmp_path / "page.html")) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'page.html'}\n"
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == html_of(EVENTS) and "<title>t.json: trace</title>" in text
    monkeypatch.chdir(tmp_path)
    assert report(stored) == 0 and (tmp_path / "report.html").read_text(encoding="utf-8") == text


LINES = ",\n".join(map(json.dumps, EVENTS))
WHOLE = '{"displayTimeUnit":"ns","otherData":{"producer":"acl simulator"},"traceEvents":[\n' + LINES + "\n]}\n"


WRONG = {
    "empty": ("", "is empty"),
    "blank": (" \n", "is empty"),
    "text": ("a trace", "is not JSON: Expecting value: line 1 column 1 (char 0)"),
    "deep": ("[" * 100000, "is not JSON: "),
    "no comma": ('{"displayTimeUnit":"ns" "otherData":1}\n\n{}', "is not JSON: Expecting ',' delimiter: line 1"),
    "no end": (WHOLE[:-3], "ends in the middle of line 13: the trace was not written whole"),
    "cut off": (WHOLE[:700], "ends in the middle of line 6: the trace was not written whole"),
    "array": ("[]", "is not a trace of the simulator: draw the output of aclmdlRIDebugJsonPrint with graph"),
    "object": ("{}", "is not a trace of the simulator (ACL_SIM_TRACE)"),
    "of others": ('{"traceEvents": []}', "is not a trace of the simulator (ACL_SIM_TRACE)"),
    "no events": ('{"otherData": {"producer": "acl simulator"}}', 'no valid "traceEvents"'),
    "negative": (WHOLE.replace('"dur": 10', '"dur": -1'), 'no valid "dur" in {"name": "aclrtMalloc"'),
    "too large": (WHOLE.replace('"dur": 10', '"dur": 1e999'), 'no valid "dur" in '),
    "NaN": (WHOLE.replace('"ts": 105', '"ts": NaN'), 'no valid "ts" in {"name": "device memory"'),
    "bytes": (WHOLE.replace(f'"bytes": {3 << 20}', '"bytes": "3"'), 'no valid "bytes" in '),
    "finding": (WHOLE.replace('"rule"', '"rules"'), 'no valid "finding" in '),
}


@pytest.mark.parametrize(("text", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused(tmp_path, capsys, text, reason):
    path = tmp_path / "wrong.json"
    path.write_text(text)
    assert report(path, "-o", str(tmp_path / "page.html")) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"acl: report: {path} ") and reason in said and said.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_files_that_cannot_be_read_or_written_are_refused(stored, tmp_path, capsys):
    assert report(tmp_path / "none.json") == 1
    assert capsys.readouterr().err == f"acl: report: cannot read {tmp_path}/none.json: No such file or directory\n"
    assert report(tmp_path) == 1
    assert capsys.readouterr().err == f"acl: report: cannot read {tmp_path}: Is a directory\n"
    assert report(stored, "-o", f"{tmp_path}/none/page.html") == 1
    assert "cannot write " in capsys.readouterr().err


def places(value, path=()):
    """The paths of everything in a document."""
    yield path
    for key, content in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(content, (*path, key))


def test_any_value_in_any_place_gives_a_page_or_a_refusal():
    whole = document(*EVENTS)
    refused = 0
    for path in places(whole):
        for other in (None, -1, 1e300, "text", [{}]):
            holder = {"top": copy.deepcopy(whole)}
            inner = holder
            *way, last = ("top", *path)
            for key in way:
                inner = inner[key]
            inner[last] = other
            try:
                page.html(read.read(json.dumps(holder["top"])), "t.json")
            except ValueError as error:
                refused += 1
                assert "\n" not in str(error)
    assert refused > 200


# --- a real trace, and a browser


@pytest.fixture
def real(configure, tmp_path):
    """The file of a trace with a race, a failed call, a capture and replays."""
    path = tmp_path / "real.json"
    configure(trace=path, check="race", findings="/dev/null")
    assert rt.set_device(0) == 0
    one, two = rt.create_stream()[0], rt.create_stream()[0]
    block = rt.malloc(1 << 20, 0)[0]
    assert acl.sim.hold(one) is None
    for stream in (one, two):
        assert rt.memset_async(block, 64, 7, 64, stream) == 0
    acl.sim.release(one)
    assert rt.synchronize_stream(one) == 0 and rt.synchronize_stream(two) == 0 and rt.free(123) != 0
    with acl.Stream() as stream:
        x = acl.DeviceArray.from_numpy(numpy.arange(4, dtype="f4"))
        with acl.capture(stream) as graph:
            acl.nn.add(x, x, out=x, stream=stream)
        with graph:
            for _ in range(3):
                graph.replay(stream)
            stream.synchronize()
    for stream in (one, two):
        assert rt.destroy_stream(stream) == 0
    assert rt.free(block) == 0
    acl.sim.write_trace()
    return path


@pytest.mark.needs_sim
def test_the_page_of_a_real_trace(real, tmp_path):
    assert report(real, "-o", str(tmp_path / "page.html")) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    rows = Texts(text).rows
    assert [row[0] for row in rows["Failed calls and tasks"][1:]] == ["aclrtFree107000 ACL_ERROR_RT_PARAM_INVALID"]
    assert "test_report.py:" in rows["Failed calls and tasks"][1][1]
    assert [row[3:5] for row in rows["Replays"][1:]] == [["3", "3"]] and len(rows["Captures"]) == 2
    assert float(rows["Device memory"][1][1].split()[0]) >= 1 and "MiB" in rows["Device memory"][1][1]
    assert "<b>race</b>" in text and "test_report.py:" in text.split("<article")[1].split("</article>")[0]
    assert len(data_of(text)["arrows"]) >= 2


# Draws at once: how many frames the browser shows before it writes the page out depends on the load of the machine.
FRAMES = "window.requestAnimationFrame = (draw) => draw();"
# Moves the pointer to the middle of the first task of the first stream, zooms, and writes what it sees into the page.
ACTIONS = """
const canvas = document.querySelector("canvas"), data = JSON.parse(document.getElementById("data").textContent);
const corner = canvas.getBoundingClientRect();
const at = (x, y) => ({clientX: corner.left + x, clientY: corner.top + y, pointerId: 1, bubbles: true});
const said = () => document.getElementById("tip").hidden ? "" : document.getElementById("tip").innerText;
const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
const colours = new Set();
for (let i = 0; i < pixels.data.length; i += 4) colours.add(pixels.data.slice(i, i + 3).join());
const found = {colours: [...colours], drawn: Number(canvas.dataset.drawn), tips: []};
for (let y = 30; y < canvas.clientHeight; y += 6)
  for (let x = 0; x < canvas.clientWidth; x += 8) {
    canvas.dispatchEvent(new PointerEvent("pointermove", at(x, y)));
    if (said() && !found.tips.includes(said())) found.tips.push(said());
  }
document.querySelector("[data-start]").click();
document.getElementById("closer").click();
found.closer = Number(canvas.dataset.drawn);
found.fits = document.documentElement.scrollWidth <= innerWidth;
const result = document.createElement("pre");
result.id = "result";
result.textContent = JSON.stringify(found);
document.body.append(result);
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [1280, 420])
def test_the_timeline_is_drawn_in_a_browser(tmp_path, width):
    text = html_of(EVENTS)
    for script in (FRAMES, ACTIONS):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        text = text.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    text = text.replace("<body>", f"<body><script>{FRAMES}</script>", 1)
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{ACTIONS}</script></body>"), encoding="utf-8")
    options = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    options += f" --disable-sync --no-first-run --disable-quic --window-size={width},900"
    place = f"--user-data-dir={tmp_path / 'profile'}"
    command = [BROWSER, *options.split(), place, "--dump-dom", (tmp_path / "page.html").as_uri()]
    done = programs.run(command, env=programs.environment({"LD_PRELOAD": None}))  # of a sanitizer
    result = re.search('<pre id="result">(.*?)</pre>', done.stdout, re.S)
    assert result, f"Chromium ended with {done.returncode}: {done.stderr}\n{done.stdout}"
    found = json.loads(html.unescape(result[1]))
    # Boxes and memory: a capture, two calls, two changes of the memory, and three tasks.
    assert found["drawn"] == 8 and 0 < found["closer"] < 8 and found["fits"]
    assert {"211,236,208", "212,32,32", "246,208,192"} <= set(found["colours"])  # a copy, a failure, a replay
    tips = [tip.split("\n") for tip in found["tips"]]
    (failed,) = [tip for tip in tips if tip[0] == "aclnnAdd"]
    assert failed == ["aclnnAdd", "at: 59.5 µs, took 5 µs", "task: 2", "code: 507015"]
    assert ["aclrtMalloc", "at: 0 ns, took 10 µs", "ret: 0", "size: 64", "at: app.py:1 in main"] in tips
    assert ["device 0: memory in use", "at: 4.5 µs", "in use: 3 MiB"] in tips
