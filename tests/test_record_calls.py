"""Recordings of calls (ACL_RECORD_CALLS), of Python and C programs on both backends, and their comparison."""

import fcntl
import json
import os
import re
import signal
import sys
import zlib

import numpy
import pytest
from helpers import programs

import acl
from acl import __main__ as command
from acl import _lib
from acl.errors import codes

pytestmark = pytest.mark.needs_sim  # both backends are started here

PYACL = """
import acl, numpy
rt = acl.rt
assert acl.init() == 0 and rt.set_device(0) == 0
stream, block = rt.create_stream()[0], rt.malloc(256, 0)[0]
host = numpy.arange(64, dtype="f4")
back = numpy.zeros(64, "f4")
assert rt.memcpy(block, 256, host.ctypes.data, 256, 1) == 0
assert rt.memcpy_async(back.ctypes.data, 256, block + 4, 128, 2, stream) == 0
assert rt.synchronize_stream(stream) == 0
assert rt.memset(block, 64, 0, 100) == 107000
assert rt.free(block) == 0 and rt.destroy_stream(stream) == 0
assert rt.reset_device(0) == 0 and acl.finalize() == 0
"""
OBJECTS = """
import acl, numpy
with acl.Device(0), acl.Stream() as stream:
    x = acl.DeviceArray.from_numpy(numpy.arange(4, dtype="f4"))
    y = acl.DeviceArray(4, "f4")
    with acl.capture(stream) as graph:
        acl.nn.add(x, x, alpha=2, out=y, stream=stream)
    with graph:
        graph.replay(stream)
        assert y.to_numpy().tolist() == [0, 3, 6, 9]
"""
C = r"""
#include <acl/acl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t begun;
static void *work(void *number)
{
    aclrtContext context;
    aclrtSetDevice(0);
    pthread_barrier_wait(&begun);
    for (int i = 0; i < 100; i++)
        aclrtGetCurrentContext(&context);
    return number;
}
/* A copy that is captured, and two batches of two copies. */
static void more(void *block, char *out, aclrtStream stream)
{
    aclmdlRI graph;
    void *to[] = {out, out + 8}, *from[] = {block, (char *)block + 100};
    size_t sizes[] = {8, 16}, first = 0, failed;
    aclrtMemcpyBatchAttr way = {.dstLoc = {.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED},
                                .srcLoc = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    aclrtMemcpyAsync(out, 300, block, 200, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    aclmdlRICaptureEnd(stream, &graph);
    aclrtSynchronizeStream(stream);
    aclrtMemcpyBatch(to, sizes, from, sizes, 2, &way, &first, 1, &failed);
    aclrtMemcpyBatchAsync(to, sizes, from, sizes, 2, &way, &first, 1, &failed, stream);
    aclrtSynchronizeDevice();
    aclmdlRIDestroy(graph);
}
int main(int argc, char **argv)
{
    char in[300], out[300], mode = argc > 1 ? *argv[1] : ' ';
    void *block = NULL, *pinned;
    aclrtStream stream;
    aclrtEvent event;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (char)i;
    aclInit(NULL);
    if (mode == 'f') {
        int status = 1;
        if (fork() == 0) {
            aclInit(NULL);
            _exit(0);
        }
        wait(&status);
    }
    aclrtSetDevice(0);
    if (mode == 't') {
        pthread_t threads[3];
        pthread_barrier_init(&begun, NULL, 3);
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    aclrtCreateStream(&stream);
    aclrtCreateEvent(&event);
    aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMallocHost(&pinned, 64);
    aclrtMemcpy(block, 300, in, 300, ACL_MEMCPY_HOST_TO_DEVICE);
    if (mode == 'c')
        abort();
    if (mode == 'm')
        more(block, out, stream);
    aclrtMemcpy2d(out, 20, (char *)block + 8, 30, 10, 4, ACL_MEMCPY_DEVICE_TO_HOST);
    aclrtMemcpyAsync((char *)pinned + 8, 8, block, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    aclrtRecordEvent(event, stream);
    aclrtMemcpyAsync(out, 300, block, 200, ACL_MEMCPY_DEVICE_TO_HOST, stream);
    aclrtSynchronizeEvent(event);
    aclrtSynchronizeStream(stream);
    aclrtFree(NULL);
    aclrtFree(block);
    aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtDestroyEvent(event);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    return aclFinalize();
}
"""
CALLS = 20  # of the C program without an argument
BYTES = bytes(i % 256 for i in range(300))


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Give a function that runs one of the programs with its calls recorded, and returns the process and the file."""
    folder = tmp_path_factory.mktemp("record")
    for name, text in (("pyacl", PYACL), ("objects", OBJECTS)):
        (folder / f"{name}.py").write_text(text)
    compiled = []

    def run(program, *arguments, backend="sim", to=None, exec=False, changes=None):
        if program == "c":
            compiled[:] = compiled or [programs.Compiler(folder)(C)]
            line = [compiled[0], *arguments]
        else:
            line = [sys.executable, str(folder / f"{program}.py")]
        to = str(to or folder / f"{program}-{backend}-{len(list(folder.iterdir()))}.jsonl")
        changes = {"ACL_BACKEND": backend, "ACL_TOOLKIT": acl.toolkit_path(), **(changes or {})}
        if exec:
            line = [sys.executable, "-m", "acl", "exec", "--backend", backend, "--record", to, "--", *line]
        else:
            changes["ACL_RECORD_CALLS"] = to
            if program == "c":
                changes["LD_PRELOAD"] = preloaded()
        return programs.run(line, env=programs.environment(changes)), to

    return run


def preloaded():
    return " ".join(filter(None, (os.environ.get("LD_PRELOAD"), _lib.RECORDER)))


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def c_calls(record):
    return lines(record("c")[1])


def diff(*arguments):
    return command.main(["diff", *map(str, arguments)])


@pytest.mark.parametrize("program", ["pyacl", "objects", "c"])
def test_both_backends_record_the_same(record, capsys, program):
    recordings = []
    for backend in ("sim", "npu"):
        done, path = record(program, backend=backend, exec=backend == "npu")
        assert done.returncode == 0, done.stderr
        recordings.append(path)
    assert diff(*recordings) == 0
    count = len(lines(recordings[0])) - 1
    assert capsys.readouterr().out == f"{count} calls are equal, in 1 thread\n" and count >= 10


def test_two_runs_are_equal_although_addresses_differ(record, c_calls, capsys):
    done, path = record("c")
    assert done.returncode == 0 and diff(path, record("c")[1]) == 0
    assert capsys.readouterr().out == f"{CALLS} calls are equal, in 1 thread\n"
    assert lines(path)[0].items() >= {"format": "ascendcl calls", "version": 1}.items()
    assert lines(path)[0]["process"] != c_calls[0]["process"]


def test_a_line_has_arguments_code_and_outputs(c_calls):
    calls = {call["call"]: call for call in c_calls[1:]}
    assert [call["number"] for call in c_calls[1:]] == list(range(1, CALLS + 1))
    assert calls["aclrtCreateStream"]["out"] == {"stream": "stream#1"} and calls["aclrtCreateStream"]["code"] == 0
    assert calls["aclrtSynchronizeStream"]["args"] == {"stream": "stream#1"}
    assert calls["aclrtMallocHost"]["out"] == {"hostPtr": "pinned#1"}
    assert calls["aclrtMemcpy"]["args"] == {
        "dst": "block#1", "destMax": 300, "src": "host", "count": 300, "kind": 1
    }  # fmt: skip
    assert calls["aclrtMemcpy2d"]["args"]["src"] == "block#1+8"
    assert [call["args"]["devPtr"] for call in c_calls[1:] if call["call"] == "aclrtFree"] == [None, "block#1"]
    failed = next(call for call in c_calls[1:] if call["call"] == "aclrtFree")
    assert failed["code"] == codes.ACL_ERROR_INVALID_PARAM and "out" not in failed
    assert calls["aclrtMalloc"]["out"] == {"devPtr": "block#2"}, "memory that is allocated again has a new name"


def area(name, content, **more):
    checksum = f"{zlib.crc32(content):08x}"
    return [{"name": name, **more, "bytes": len(content), "crc32": checksum, "head": content[:64].hex()}]


def test_buffers_of_the_host_have_checksums_once_they_are_filled(c_calls):
    calls = {call["call"]: call for call in c_calls[1:]}
    assert calls["aclrtMemcpy"]["read"] == area("src", BYTES)
    rows = b"".join(BYTES[8 + 30 * row :][:10] for row in range(4))
    assert calls["aclrtMemcpy2d"]["filled"] == area("dst", rows)
    first, second = (call["number"] for call in c_calls[1:] if call["call"] == "aclrtMemcpyAsync")
    assert "filled" not in calls["aclrtMemcpyAsync"]
    assert calls["aclrtSynchronizeEvent"]["filled"] == area("dst", BYTES[:8], copy=[1, first])
    assert calls["aclrtSynchronizeStream"]["filled"] == area("dst", BYTES[:200], copy=[1, second])


def test_captured_copies_fill_nothing_and_batches_several_buffers(record):
    done, path = record("c", "more")
    assert done.returncode == 0
    calls = lines(path)[1:]
    filled = [(call["call"], call["filled"]) for call in calls if "filled" in call][:2]
    number = next(call["number"] for call in calls if call["call"] == "aclrtMemcpyBatchAsync")
    assert filled == [
        ("aclrtMemcpyBatch", area("dst", BYTES[:8]) + area("dst", BYTES[100:116])),
        ("aclrtSynchronizeDevice", [
            one for part in (BYTES[:8], BYTES[100:116]) for one in area("dst", part, copy=[1, number])
        ]),
    ]  # fmt: skip
    assert next(call for call in calls if call["call"] == "aclmdlRICaptureEnd")["out"] == {"modelRI": "RI#1"}


def test_python_calls_are_recorded_without_a_preloaded_library(record):
    calls = lines(record("pyacl")[1])[1:]
    copy = next(call for call in calls if call["call"] == "aclrtMemcpyAsync")
    assert copy["args"]["src"] == "block#1+4" and copy["args"]["stream"] == "stream#1"
    content = numpy.arange(1, 33, dtype="f4").tobytes()
    waited = next(call for call in calls if call["call"] == "aclrtSynchronizeStream")
    assert waited["filled"] == area("dst", content, copy=[1, copy["number"]])
    assert [call["code"] for call in calls if call["call"] == "aclrtMemset"] == [107000]


def test_operators_show_shapes(record):
    calls = lines(record("objects")[1])[1:]
    tensor = next(call for call in calls if call["call"] == "aclCreateTensor")
    assert tensor["args"]["viewDims"] == [4] and tensor["result"] == "tensor#1"
    plan = next(call for call in calls if call["call"] == "aclnnAddGetWorkspaceSize")
    assert plan["args"]["self"].startswith("tensor#") and plan["out"]["executor"] == "opExecutor#1"


def test_threads_keep_their_order_and_whole_lines(record):
    done, path = record("c", "threads")
    assert done.returncode == 0
    calls = lines(path)[1:]
    assert len(calls) == CALLS + 3 * 101
    for thread in range(1, 5):
        mine = [call["number"] for call in calls if call["thread"] == thread]
        assert mine == list(range(1, (CALLS if thread == 1 else 101) + 1))


def test_faults_and_a_trace_are_recorded_too(record, tmp_path):
    """The simulator does not put its traced functions before those that record."""
    changes = {"ACL_SIM_FAULTS": "malloc:1", "ACL_SIM_TRACE": str(tmp_path / "t.json")}
    done, path = record("c", changes=changes)
    assert done.returncode == 0
    failed = next(call for call in lines(path) if call.get("call") == "aclrtMalloc")
    assert failed["code"] == codes.ACL_ERROR_RT_MEMORY_ALLOCATION and len(lines(path)) == CALLS + 1
    traced = [event["name"] for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]]
    assert traced.count("aclrtMalloc") == 2


def test_a_crash_leaves_whole_lines(record):
    done, path = record("c", "crash")
    assert done.returncode == -signal.SIGABRT
    assert lines(path)[-1]["call"] == "aclrtMemcpy" and len(lines(path)) == 8


def test_the_child_of_a_fork_writes_a_file_of_its_own_with_its_number_in_the_name(record, tmp_path):
    assert record("c", "fork", to=tmp_path / "%p.jsonl")[0].returncode == 0
    sizes = {len(lines(path)): lines(path)[0]["process"] for path in tmp_path.iterdir()}
    assert sorted(sizes) == [2, CALLS + 1]
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(map(str, sizes.values()))


def test_the_child_of_a_fork_writes_nothing_without_it(record):
    done, path = record("c", "fork")
    assert done.returncode == 0 and len(lines(path)) == CALLS + 1


def test_a_file_that_cannot_be_written_is_reported_once(record, tmp_path):
    done, _ = record("c", to=tmp_path / "none" / "f")
    said = f"acl: ACL_RECORD_CALLS: cannot write {tmp_path}/none/f: No such file or directory; calls are not recorded\n"
    assert (done.returncode, done.stderr) == (0, said)


def test_exec_needs_a_toolkit_for_the_other_backend(monkeypatch, capsys):
    monkeypatch.setattr(_lib, "find_toolkit", lambda: None)
    assert command.main(["exec", "--backend", "npu", "--", "true"]) == 1
    assert capsys.readouterr().err.startswith("acl: exec: --backend npu: no toolkit was found; set ACL_TOOLKIT=")


def test_a_file_that_another_process_writes_is_left_alone(record, tmp_path):
    taken = tmp_path / "taken"
    with open(taken, "w") as file:
        file.write("mine")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        done, _ = record("c", to=taken)
    assert done.returncode == 0 and "another process writes it; put %p" in done.stderr
    assert taken.read_text() == "mine"


# ---- comparison ----


@pytest.fixture
def pair(c_calls, tmp_path):
    """Give a function that changes a copy of the C program's calls, and returns the names of both files."""

    def write(change):
        calls = json.loads(json.dumps(c_calls))
        change(calls)
        for name, content in (("a", c_calls), ("b", calls)):
            (tmp_path / name).write_text("".join(json.dumps(call) + "\n" for call in content))
        return tmp_path / "a", tmp_path / "b"

    return write


def call_of(calls, name):
    return next(call for call in calls[1:] if call["call"] == name)


DIFFERENCES = {
    "argument": (
        lambda calls: call_of(calls, "aclrtMemcpy")["args"].update(count=299),
        ["> .* aclrtMemcpy.*count=300", "> .* aclrtMemcpy.*count=299", "count differs:\n  300\n  299\n"],
    ),
    "handle": (
        lambda calls: call_of(calls, "aclrtSynchronizeStream")["args"].update(stream="stream#2"),
        ['stream differs:\n  "stream#1"\n  "stream#2"\n'],
    ),
    "offset": (
        lambda calls: call_of(calls, "aclrtMemcpy2d")["args"].update(src="block#1+12"),
        [r'src differs:\n  "block#1\+8"\n  "block#1\+12"\n'],
    ),
    "code": (
        lambda calls: call_of(calls, "aclrtRecordEvent").update(code=507000),
        ["code differs:\n  0\n  507000\n", "code of aclrtRecordEvent: 0 and 507000, 1 times\n"],
    ),
    "output": (
        lambda calls: call_of(calls, "aclrtMemcpy2d")["filled"][0].update(crc32="00000000"),
        ["filled differs:\n.*\n.*00000000"],
    ),
}


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_the_first_difference_is_shown_in_context(pair, capsys, kind):
    change, expected = DIFFERENCES[kind]
    assert diff(*pair(change)) == 1
    text = capsys.readouterr().out
    for pattern in expected:
        assert re.search(pattern, text), text
    assert text.startswith("first difference, in thread 1:\n") and "\n1 differ\n" in text
    assert f"{CALLS - 1} calls are equal, in 1 thread\n" in text


def test_a_call_that_only_one_recording_has_does_not_shift_the_names_after_it(pair, capsys):
    def change(calls):
        text = json.dumps(calls).replace("block#2", "block#3").replace("block#1", "block#2")
        more = {**call_of(calls, "aclrtMalloc"), "args": {"size": 512, "policy": 0}, "out": {"devPtr": "block#1"}}
        calls[:] = json.loads(text)
        calls.insert(2, more)

    assert diff(*pair(change)) == 1
    text = capsys.readouterr().out
    assert f"{CALLS} calls are equal, in 1 thread\n1 only in" in text and " differs" not in text
    assert ">         no such call" in text and "aclrtMalloc(size=512, policy=0) -> 0, devPtr=block#1" in text


def test_times_numbers_and_messages_are_not_compared(pair, capsys):
    def change(calls):
        calls[0].update(process=1, time=2)
        for number, call in enumerate(calls[1:]):
            call.update(microseconds=number, number=number + 100)

    assert diff(*pair(change)) == 0


def test_values_and_calls_can_be_ignored(pair, capsys):
    output = pair(DIFFERENCES["output"][0])
    assert (diff(*output), diff(*output, "--ignore-values")) == (1, 0)
    argument = pair(DIFFERENCES["argument"][0])
    for name, result in (("aclrtMemcpy.count", 0), ("*.count", 0), ("aclrtMemcpy", 0), ("aclrtMalloc*", 1)):
        assert diff(*argument, "--ignore", name) == result, name


def test_threads_are_compared_one_by_one(pair, capsys):
    def change(calls):
        calls[1:] = [{**call, "thread": 2} for call in calls[1:4]] + calls[1:]

    assert diff(*pair(change)) == 1
    text = capsys.readouterr().out
    assert "first difference, in thread 2:" in text and f"{CALLS} calls are equal, in 2 threads\n3 only in" in text


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "is empty"),
        ("x\n", "line 1 is not the first line of a recording"),
        ('{"format": "ascendcl calls", "version": 2}\n', "is not a recording in version 1"),
        ('{"format": "ascendcl calls", "version": 1}\n{"thread": 1', "line 2 is not a recorded call"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, capsys, text, words):
    (tmp_path / "a").write_text(text)
    assert diff(tmp_path / "a", tmp_path / "a") == 2
    assert words in capsys.readouterr().err


def test_a_missing_file_is_refused(tmp_path, capsys):
    assert diff(tmp_path / "none", tmp_path / "none") == 2
    assert capsys.readouterr().err == f"acl: diff: cannot read {tmp_path}/none: No such file or directory\n"
