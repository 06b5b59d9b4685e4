"""What instances look like in print: the trace, byte for byte, and the lines of the log."""

import ast
import json
import os
import re
from pathlib import Path

import pytest
from helpers.capture import begin, check_unharmed, end, in_other_context, run
from helpers.expect import refused

import acl

mdl, rt = acl.mdl, acl.rt
SUMMARY, VERBOSE = 0, 1

# Prints what a captured instance and a built one look like, with the numbers that the trace quotes.
PROGRAM = """
import os, sys, numpy
import acl
from acl import mdl, nnop, rt
from acl._lib import ffi, lib
from helpers.capture import Words, begin, building, end, ex_event, fork

@acl.sim.kernel("aclnnMatmul")
def multiply(self, mat2, out, cubeMathType):
    out[...] = self @ mat2

def pointer(handle):
    return ffi.cast("void *", handle)

rt.set_device(0)
words = Words()
first, second, third = (rt.create_stream()[0] for _ in range(3))
flag, recorded, waited = rt.create_event_with_flag(0x20)[0], ex_event(), ex_event()
begin(first)
assert words.count_up(first, 0) == 0
fork(ex_event(), first, second)
assert words.set(second, 1, 3) == 0
assert words.copy(second, 2, 1) == 0
assert rt.launch_host_func(second, print, 0) == 0
fork(ex_event(), second, first)
assert rt.stream_wait_event(first, flag) == 0
assert rt.reset_event(flag, first) == 0
assert lib.aclrtRecordEventWithFlag(pointer(recorded), pointer(first), 1) == 0
assert lib.aclrtStreamWaitEventWithFlag(pointer(first), pointer(waited), 0, 1) == 0
tensors = [acl.create_tensor([1, 1], 0, [1, 1], place, 2, [words.count], words.address) for place in (3, 4, 5)]
size, executor, ret = nnop.matmul_get_workspace_size(*tensors, 0)
assert ret == 0 and nnop.matmul(0, size, executor, first) == 0
condition, _ = mdl.ri_cond_handle_create(mdl.ri_capture_get_info(first)[1], 0, 0)
assert mdl.ri_add_cond_task({"handle": condition, "type": 0, "size": 1}, first, 0)[1] == 0
captured = end(first)
with building(0, 0x7FFFFFFF) as (built, (head, late)):
    assert rt.active_stream(late, head) == 0
    assert lib.aclrtNpuGetFloatOverFlowStatus(pointer(rt.malloc(64, 0)[0]), 64, 0, pointer(head)) == 0
    assert words.set(head, 6, 1) == 0
    assert words.count_up(late, 7) == 0
    assert mdl.ri_end_task(built, head) == 0 and mdl.ri_build_end(built) == 0
    found = {"pid": os.getpid(), "flag": rt.get_event_id(flag)[0], "at": [words.at(place) for place in range(8)]}
    for name, instance in (("captured", captured), ("built", built)):
        own = [rt.stream_get_id(stream)[0] for stream in mdl.ri_get_streams(instance)[0]]
        texts = []
        for flags in (0, 1):
            assert mdl.ri_debug_json_print(instance, sys.argv[1], flags) == 0
            with open(sys.argv[1]) as text:
                texts.append(text.read())
        found[name] = {"model": mdl.ri_get_id(instance)[0], "streams": own, "texts": texts}
    print(found)
"""

CLASSIC = {"NOP": (0.5, 1), "RECORD": (4.5, 5), "WAIT": (14.5, 15)}


def traced(found, model, branches, times, verbose):
    """Return the trace of branches, lists of (type, name, what a verbose trace adds to args, kernel or Active id)."""
    objects = []
    for stream, tasks in zip(model["streams"], branches):
        at = 0
        for number, (kind, name, ranges, rest) in enumerate(tasks):
            duration, step = next((value for word, value in times.items() if word in kind), (9.5, 10))
            extend = f',"ExtendInfo":"{" ".join(ranges)}"' if verbose and ranges else ""
            if rest == "kernel":
                words = [f"0x{int(each[1:].split('+')[0], 16):016x}" for each in ranges]
                rest = ',"Numblocks":1'
                if verbose:
                    rest += f',"Kernel Args":"{" ".join(words)}","Kernel Args Size":{8 * len(words)}'
            objects.append(
                f'{{"name":"{name}","pid":"{found["pid"]} aclGraph","tid":"stream{stream}","ts":{at},"dur":{duration},'
                f'"ph":"X","args":{{"Model Id":{model["model"]},"Stream Id":{stream},"Task Id":{number},'
                f'"Task Type":"{kind}"{extend}{rest}}}}}'
            )
            at += step
    return "[\n" + ",\n".join(objects) + "\n]"


def plain(kind, suffix="", ranges=(), rest=""):
    """Return a task that is named by its type."""
    return kind, kind + (f"_{suffix}" if suffix != "" else ""), list(ranges), rest


@pytest.mark.needs_sim
@pytest.mark.parametrize(("soc", "times"), [("Ascend910B3", CLASSIC), ("Ascend310P3", CLASSIC), ("Ascend910_95", {})])
def test_traces(run_script, tmp_path, soc, times):
    """Transposes cupy_debug_dot: every type of task there is, in both chip families, in summary and verbose."""
    helpers = str(Path(__file__).parent)
    script = f"import sys; sys.argv[1:] = [{str(tmp_path / 'trace.json')!r}]\n{PROGRAM}"
    done = run_script(script, {"ACL_SIM_SOC": soc, "PYTHONPATH": helpers})
    assert done.returncode == 0, done.stderr
    found = ast.literal_eval(done.stdout)
    at = found["at"]

    def spot(place, letter, size=4):
        return f"{letter}{at[place]:#x}+{size}"

    captured = [
        [
            ("KERNEL_AIVEC", "aclnnInplaceAdds", [spot(0, "W")], "kernel"),
            plain("EVENT_RECORD", 0),
            plain("EVENT_WAIT", 1),
            plain("EXTERNAL_EVENT_WAIT", found["flag"]),
            plain("EVENT_RESET", found["flag"]),
            plain("CAPTURE_RECORD_EXTERNAL", 2),
            plain("CAPTURE_WAIT_EXTERNAL", 3),
            ("KERNEL_AICORE", "aclnnMatmul", [spot(3, "R"), spot(4, "R"), spot(5, "W")], "kernel"),
            plain("CONDITION_OP"),
        ],
        [
            plain("EVENT_WAIT", 0),
            plain("MEMCPY_ASYNC_SET", ranges=[spot(1, "W")]),
            plain("MEMCPY_ASYNC", ranges=[spot(1, "R"), spot(2, "W")]),
            plain("HOSTFUNC_CALLBACK"),
            plain("EVENT_RECORD", 1),
        ],
    ]
    model = found["captured"]
    assert model["texts"][SUMMARY] == traced(found, model, captured, times, False)
    assert model["texts"][VERBOSE] == traced(found, model, captured, times, True)
    model = found["built"]
    active = f',"Active Stream Id":{model["streams"][1]}'
    status_range = re.search(r'"Task Type":"NOP","ExtendInfo":"(W0x[0-9a-f]+\+64)"', model["texts"][VERBOSE])
    built = [
        [
            plain("STREAM_ACTIVE", rest=active),
            plain("NOP", ranges=[status_range.group(1)]),
            plain("MEMCPY_ASYNC_SET", ranges=[spot(6, "W")]),
        ],
        [("KERNEL_AIVEC", "aclnnInplaceAdds", [spot(7, "W")], "kernel")],
    ]
    assert model["texts"][SUMMARY] == traced(found, model, built, times, False)
    assert model["texts"][VERBOSE] == traced(found, model, built, times, True)
    assert json.loads(model["texts"][VERBOSE])[0]["args"]["Active Stream Id"] == model["streams"][1]


def test_an_empty_trace(stream, other, words, ex, tmp_path):
    """A list without members is one, too, and so is one whose last stream has none."""
    path = tmp_path / "trace.json"
    path.write_text("what was there before, and longer than what comes")
    begin(stream)
    instance = mdl.ri_capture_get_info(stream)[1]
    assert mdl.ri_debug_json_print(instance, str(path), SUMMARY) == 0
    assert path.read_text() == "[\n]"
    assert words.count_up(stream, 0) == 0
    assert mdl.ri_debug_json_print(instance, str(path), SUMMARY) == 0  # the capture so far
    assert [task["name"] for task in json.loads(path.read_text())] == ["aclnnInplaceAdds"]
    check_unharmed(words, stream, 1)


@pytest.mark.parametrize(("flags", "verbose"), [(0, False), (1, True), (2, False), (3, True)])
def test_flags_are_bits(stream, words, tmp_path, flags, verbose):
    path = tmp_path / "trace.json"
    begin(stream)
    assert words.count_up(stream, 0) == 0
    instance = end(stream)
    assert mdl.ri_debug_json_print(instance, str(path), flags) == 0
    (task,) = json.loads(path.read_text())
    assert ("Kernel Args" in task["args"]) == verbose
    assert task["pid"] == f"{os.getpid()} aclGraph"
    assert mdl.ri_destroy(instance) == 0


def test_a_trace_shows_what_a_run_would_do(stream, words, tmp_path):
    """After an update the trace has the new arguments; the name of the instance does not appear in it."""
    path = tmp_path / "trace.json"
    begin(stream)
    assert mdl.ri_capture_task_grp_begin(stream) == 0
    assert words.count_up(stream, 0) == 0
    group, _ = mdl.ri_capture_task_grp_end(stream)
    instance = end(stream)
    assert mdl.ri_set_name(instance, 'a "name"') == 0
    for place in (0, 3):
        if place:
            assert mdl.ri_capture_task_update_begin(stream, group) == 0
            assert words.count_up(stream, place) == 0
            assert mdl.ri_capture_task_update_end(stream) == 0
            assert rt.synchronize_stream(stream) == 0
        assert mdl.ri_debug_json_print(instance, str(path), VERBOSE) == 0
        (task,) = json.loads(path.read_text())
        assert task["args"]["Kernel Args"] == f"0x{words.at(place):016x}"
    assert mdl.ri_destroy(instance) == 0


def test_traces_that_are_not_written(stream, words, tmp_path):
    name = "aclmdlRIDebugJsonPrint"
    begin(stream)
    assert words.set(stream, 0, 1) == 0
    instance = end(stream)
    path = tmp_path / "trace.json"
    for wrong in (str(tmp_path), str(tmp_path / "none" / "trace.json"), ""):
        refused(mdl.ri_debug_json_print(instance, wrong, 0), 107000, name, f'path "{wrong}"', "cannot be opened")
    in_other_context(
        lambda: refused(mdl.ri_debug_json_print(instance, str(tmp_path), 0), 107004, name, "another context")
    )
    assert not path.exists()
    if os.path.exists("/dev/full"):
        refused(mdl.ri_debug_json_print(instance, "/dev/full", 0), 107000, name, "could not be written completely")
    run(instance, stream)
    assert words.read()[0] == 1
    assert mdl.ri_destroy(instance) == 0


LOG = """
import acl
from helpers.capture import Words, begin, end, ex_event, fork
acl.rt.set_device(0)
words = Words()
first, second = (acl.rt.create_stream()[0] for _ in range(2))
begin(first)
assert words.set(first, 0, 1) == 0
groups = []
for times in (1, 2):
    assert acl.mdl.ri_capture_task_grp_begin(first) == 0
    assert words.count_up(first, 1, times) == 0
    groups.append(acl.mdl.ri_capture_task_grp_end(first)[0])
fork(ex_event(), first, second)
fork(ex_event(), second, first)
instance = end(first)
print(acl.mdl.ri_get_id(instance)[0], *(acl.rt.stream_get_id(each)[0] for each in acl.mdl.ri_get_streams(instance)[0]),
      flush=True)
assert acl.mdl.ri_debug_print(instance) == 0
assert acl.mdl.ri_debug_json_print(instance, "/dev/null", 0) == 0
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize("level", ["1", "3", None])
def test_the_log(run_script, level):
    """Both prints write it, where the log takes such lines."""
    helpers = str(Path(__file__).parent)
    env = {"ASCEND_GLOBAL_LOG_LEVEL": level, "ASCEND_SLOG_PRINT_TO_STDOUT": "1", "PYTHONPATH": helpers}
    done = run_script(LOG, env)
    assert done.returncode == 0, done.stderr
    numbers, *lines = done.stdout.splitlines()
    if level != "1":
        assert lines == []
        return
    model, one, two = numbers.split()
    head = f"device_id=0, model_id={model}"
    tasks = [
        *((one, number, kind, extra) for number, (kind, extra) in enumerate([
            ("MEMCPY_ASYNC_SET", ""), ("KERNEL_AIVEC", ", mix_type=NO_MIX"), ("KERNEL_AIVEC", ", mix_type=NO_MIX"),
            ("KERNEL_AIVEC", ", mix_type=NO_MIX"), ("EVENT_RECORD", ", event_id=0"), ("EVENT_WAIT", ", event_id=1"),
        ])),
        (two, 0, "EVENT_WAIT", ", event_id=0"),
        (two, 1, "EVENT_RECORD", ", event_id=1"),
    ]  # fmt: skip
    expected = [
        f"model running instance begins: {head}",
        *(
            f"{head}, stream_id={stream}, task_id={number}, task_type={kind}{extra}"
            for stream, number, kind, extra in tasks
        ),
        *(
            f"task group: stream_id={one}, first_task_id={first}, last_task_id={last}"
            for first, last in ((1, 1), (2, 3))
        ),
        f"model running instance ends: {head}",
    ]
    pattern = r"\[INFO\] APP\(\d+,\d+\) \[capture_print\.c:\d+\] (\w+): (.*)"
    found = [re.fullmatch(pattern, line).groups() for line in lines]
    assert found == [(f"aclmdlRIDebug{name}", line) for name in ("Print", "JsonPrint") for line in expected]
