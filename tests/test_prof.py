"""Profiling: the trace of a session, with tasks, marks, ranges and steps."""

import ctypes
import json
import threading

import pytest
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

prof, rt = acl.prof, acl.rt
TASK_TIME, TRAINING_TRACE, MSPROFTX = 2, 0x40, 0x80
NONE = 255
START, END = 0, 1

pytestmark = pytest.mark.needs_sim


@pytest.fixture
def trace(device, tmp_path):
    """Give ``trace(bits)``, which begins a session; what it returns ends it and gives the events of its trace."""
    assert prof.init(str(tmp_path)) == 0, acl.get_recent_err_msg()

    def begin(bits, devices=(0,)):
        made = lib.aclprofCreateConfig(list(devices) or NULL, len(devices), NONE, NULL, bits)
        config = int(ffi.cast("uintptr_t", made))
        assert config != 0, acl.get_recent_err_msg()
        assert prof.start(config) == 0, acl.get_recent_err_msg()

        def end():
            assert prof.stop(config) == 0, acl.get_recent_err_msg()
            assert prof.destroy_config(config) == 0
            newest = max(tmp_path.glob("PROF_*/trace.json"), key=lambda path: int(path.parent.name.split("_")[-1]))
            return [event for event in json.loads(newest.read_text())["traceEvents"] if event["ph"] != "M"]

        return end

    yield begin
    prof.finalize()


def stamp(text):
    """Return a mark with a text."""
    made = prof.create_stamp()
    assert made != 0, acl.get_recent_err_msg()
    assert prof.set_stamp_trace_message(made, text, len(text.encode())) == 0, acl.get_recent_err_msg()
    return made


def test_tasks_have_their_times_and_places(trace, stream, words):
    end = trace(TASK_TIME)
    assert words.set(stream, 0, 1) == 0
    assert words.copy(stream, 1, 0) == 0
    assert words.count_up(stream, 2) == 0
    assert rt.synchronize_stream(stream) == 0
    events = end()
    number, ret = rt.stream_get_id(stream)
    assert ret == 0
    assert [(event["name"], event["cat"]) for event in events] == [
        ("aclrtMemsetAsync", "MEMCPY_ASYNC_SET"),
        ("aclrtMemcpyAsync", "MEMCPY_ASYNC"),
        ("aclnnInplaceAdds", "KERNEL_AIVEC"),
    ]
    assert {(event["ph"], event["pid"], event["tid"]) for event in events} == {("X", 0, number)}
    assert all(event["dur"] > 0 for event in events)
    assert all(one["ts"] + one["dur"] <= next["ts"] + 1e-3 for one, next in zip(events, events[1:]))
    first = events[0]["args"]["task"]
    assert [event["args"]["task"] for event in events] == [first, first + 1, first + 2]


def test_nothing_is_collected_before_start_and_after_stop(trace, stream, words):
    assert words.set(stream, 0, 1) == 0
    assert rt.synchronize_stream(stream) == 0
    end = trace(TASK_TIME)
    assert end() == []
    assert words.set(stream, 0, 2) == 0
    assert rt.synchronize_stream(stream) == 0
    end = trace(MSPROFTX)
    assert words.set(stream, 0, 3) == 0
    assert rt.synchronize_stream(stream) == 0
    assert end() == []


def test_a_device_that_was_not_named_is_left_out(trace, stream, words):
    end = trace(TASK_TIME | MSPROFTX, devices=())
    assert words.set(stream, 0, 1) == 0
    assert rt.synchronize_stream(stream) == 0
    mark = stamp("on the host")
    assert prof.mark(mark) == 0
    prof.destroy_stamp(mark)
    # Without a device nothing is left when the configuration is taken back.
    assert [event["name"] for event in end()] == ["on the host"]


def test_steps_of_an_instance_are_tasks(trace, stream, words):
    acl.mdl.ri_capture_begin(stream, 2)
    assert words.set(stream, 0, 1) == 0
    assert words.set(stream, 1, 2) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    end = trace(TASK_TIME)
    assert acl.mdl.ri_execute_async(instance, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    names = [event["name"] for event in end()]
    assert names.count("aclrtMemsetAsync") == 2
    assert names[-1] == "aclmdlRIExecuteAsync"
    assert acl.mdl.ri_destroy(instance) == 0


def test_custom_kernels_have_their_names(trace, vectors):
    acl.mdl.ri_capture_begin(vectors.stream, 2)
    assert vectors.launch() == 0
    instance, ret = acl.mdl.ri_capture_end(vectors.stream)
    assert ret == 0
    end = trace(TASK_TIME)
    assert vectors.launch() == acl.mdl.ri_execute_async(instance, vectors.stream) == 0
    assert rt.synchronize_stream(vectors.stream) == 0
    kernels = [event["cat"] for event in end() if event["name"] == "vector_add"]
    assert kernels == ["KERNEL_AICORE", "KERNEL_AICORE"]
    assert acl.mdl.ri_destroy(instance) == 0


def test_marks_and_spans_of_the_program(trace):
    end = trace(MSPROFTX)
    outer, inner, far = stamp('outer "1"'), stamp("inner\n"), stamp("far")
    assert prof.push(outer) == 0
    assert prof.push(inner) == 0
    assert prof.mark(inner) == 0
    assert prof.pop() == 0
    number, ret = prof.range_start(far)
    assert ret == 0
    assert prof.pop() == 0
    assert in_thread(lambda: prof.range_stop(number)) == 0
    for made in (outer, inner, far):
        prof.destroy_stamp(made)
    events = end()
    assert [(event["name"], event["cat"], event["ph"]) for event in events] == [
        ("inner\n", "mark", "i"),
        ("inner\n", "push", "X"),
        ('outer "1"', "push", "X"),
        ("far", "range", "X"),
    ]
    assert {event["tid"] for event in events} == {threading.get_native_id()}
    mark, inside, outside, _ = events
    assert outside["ts"] <= inside["ts"] <= mark["ts"] <= inside["ts"] + inside["dur"] <= outside["ts"] + outside["dur"]


def test_pushes_belong_to_their_thread(trace):
    end = trace(MSPROFTX)
    mine = stamp("mine")
    assert prof.push(mine) == 0
    assert in_thread(prof.pop) == 500005
    assert prof.pop() == 0
    assert prof.pop() == 500005
    prof.destroy_stamp(mine)
    assert len(end()) == 1


def test_spans_that_are_open_are_forgotten_with_the_session(trace):
    end = trace(MSPROFTX)
    left = stamp("left")
    assert prof.push(left) == 0
    assert end() == []
    end = trace(MSPROFTX)
    assert prof.pop() == 500005
    assert prof.mark(left) == 0
    prof.destroy_stamp(left)
    assert [event["name"] for event in end()] == ["left"]


def test_marks_of_a_stream_stand_where_they_were_queued(trace, stream, words):
    end = trace(TASK_TIME | MSPROFTX)
    acl.sim.hold(stream)
    assert words.set(stream, 0, 1) == 0
    assert prof.mark_ex("between", stream) == 0
    assert words.set(stream, 0, 2) == 0
    acl.sim.release(stream)
    assert rt.synchronize_stream(stream) == 0
    names = [event["name"] for event in end() if event["cat"] in ("mark", "MEMCPY_ASYNC_SET")]
    assert names == ["aclrtMemsetAsync", "between", "aclrtMemsetAsync"]


def test_a_mark_that_runs_after_the_session_is_not_written(trace, stream):
    end = trace(MSPROFTX)
    acl.sim.hold(stream)
    assert prof.mark_ex("late", stream) == 0
    assert end() == []
    acl.sim.release(stream)
    assert rt.synchronize_stream(stream) == 0


def test_traces_of_the_program_are_digits(trace, stream):
    end = trace(MSPROFTX)
    data = ffi.from_buffer(b"\x01\xab" + bytes(16))
    assert lib.aclrtProfTrace(data, 2, pointer(stream)) == 0
    assert lib.aclrtProfTrace(data, 18, pointer(stream)) == 0
    assert rt.synchronize_stream(stream) == 0
    assert [(event["name"], event["cat"]) for event in end()] == [("01ab", "trace"), ("01ab" + 32 * "0", "trace")]


def test_steps_are_counted(trace, stream):
    end = trace(TRAINING_TRACE)
    info = prof.create_step_info()
    for tag in (START, END, START):
        assert prof.get_step_timestamp(info, tag, stream) == 0
    refused(prof.get_step_timestamp(info, START, stream), 100000, "aclprofGetStepTimestamp", "tag is 0", "END")
    assert rt.synchronize_stream(stream) == 0
    prof.destroy_step_info(info)
    assert [event["name"] for event in end()] == ["step 1 start", "step 1 end", "step 2 start"]


def test_tensors_of_an_operator_are_described(trace):
    end = trace(MSPROFTX)
    name, kind = lib.aclprofStr2Id(b"add_1"), lib.aclprofStr2Id(b"Add")
    assert lib.aclprofStr2Id(b"add_1") == name != kind
    tensors = ffi.new("aclprofTensor[2]")
    tensors[0].dataType, tensors[0].format, tensors[0].shapeDim = 1, 2, 2
    tensors[0].shape[0:2] = [3, 4]
    tensors[1].type = 1
    info = ffi.new("aclprofTensorInfo *", {"opNameId": name, "opTypeId": kind, "tensorNum": 2, "tensors": tensors})
    attr = ffi.new("aclprofEventAttributes *", {"version": 1, "size": 16, "messageType": 0})
    attr.message.tensorInfo = info
    assert lib.aclprofRangePushEx(attr) == 0, acl.get_recent_err_msg()
    assert lib.aclprofRangePop() == 0
    refused(lib.aclprofRangePop(), 500005, "aclprofRangePop", "aclprofRangePushEx")
    (event,) = end()
    assert (event["name"], event["cat"], event["args"]["op_type"]) == ("add_1", "tensors", "Add")
    assert event["args"]["tensors"] == [
        {"type": 0, "format": 2, "data_type": 1, "shape": [3, 4]},
        {"type": 1, "format": 0, "data_type": 0, "shape": []},
    ]


def test_options_name_the_size_and_the_place(device, tmp_path):
    assert prof.init(str(tmp_path)) == 0
    assert prof.set_config(1, "200MB") == 0
    assert prof.set_config(16, str(tmp_path / "elsewhere")) == 0
    assert prof.start(0) == 0, acl.get_recent_err_msg()
    assert prof.stop(0) == 0
    assert prof.finalize() == 0
    assert len(list((tmp_path / "elsewhere").glob("PROF_*/trace.json"))) == 1


def test_finalize_completes_the_trace(device, tmp_path):
    assert prof.init(str(tmp_path)) == 0
    assert prof.start(0) == 0
    assert prof.finalize() == 0
    (path,) = tmp_path.glob("PROF_*/trace.json")
    assert [event["args"]["name"] for event in json.loads(path.read_text())["traceEvents"]] == ["program", "device 0"]


def test_the_file_of_init_profiles_the_whole_program(run_script, tmp_path):
    config = tmp_path / "acl.json"
    config.write_text(json.dumps({"profiler": {"switch": "on", "output": str(tmp_path / "out"), "msproftx": "on"}}))
    code = (
        "import acl\n"
        f"print(acl.init({str(config)!r}), acl.rt.set_device(0))\n"
        "stamp = acl.prof.create_stamp()\n"
        "print(acl.prof.mark(stamp), acl.prof.init('.'), acl.prof.start(0), acl.prof.stop(0), acl.prof.finalize())\n"
        "block, _ = acl.rt.malloc(64, 0)\n"
        "print(acl.rt.memset_async(block, 64, 1, 64, 0), acl.rt.synchronize_stream(0), acl.finalize())\n"
    )
    done = run_script(code)
    assert done.stdout.splitlines() == ["0 0", "0 100042 100042 100042 100042", "0 0 0"], done.stderr
    (path,) = (tmp_path / "out").glob("PROF_*/trace.json")
    events = json.loads(path.read_text())["traceEvents"]
    assert [event["cat"] for event in events if event["ph"] != "M"] == ["mark", "MEMCPY_ASYNC_SET"]


def test_an_empty_output_is_the_directory_of_the_program(run_script, tmp_path):
    config = tmp_path / "acl.json"
    config.write_text(json.dumps({"profiler": {"switch": "on", "output": ""}}))
    code = f"import os; os.chdir({str(tmp_path)!r})\nimport acl\nprint(acl.init({str(config)!r}), acl.finalize())\n"
    done = run_script(code)
    assert done.stdout == "0 0\n", done.stderr
    assert len(list(tmp_path.glob("PROF_*/trace.json"))) == 1


def test_a_program_that_just_ends_leaves_a_whole_trace(run_script, tmp_path):
    run_script(f"import acl\nprint(acl.prof.init({str(tmp_path)!r}), acl.prof.start(0))\n")
    (path,) = tmp_path.glob("PROF_*/trace.json")
    assert len(json.loads(path.read_text())["traceEvents"]) == 2


def test_a_child_has_no_session(run_script, tmp_path):
    code = (
        "import os, acl\n"
        f"acl.prof.init({str(tmp_path)!r}), acl.prof.start(0)\n"
        "acl.prof.mark(acl.prof.create_stamp())\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(acl.prof.create_stamp() != 0)\n"
        "print(os.waitpid(child, 0)[1], acl.prof.finalize())\n"
    )
    done = run_script(code)
    assert done.stdout == "0 0\n", done.stderr
    (path,) = tmp_path.glob("PROF_*/trace.json")
    assert [event["ph"] for event in json.loads(path.read_text())["traceEvents"]] == ["M", "M", "i"]


# ---- marks of other libraries than AscendCL ----


@pytest.fixture
def tools():
    library = ctypes.CDLL(f"{acl.get_lib()}/libms_tools_ext.so")
    for name in ("mstxRangeStartA", "mstxDomainRangeStartA", "MsprofGetHashId", "MsprofSysCycleTime"):
        library[name].restype = ctypes.c_uint64
    library.mstxDomainCreateA.restype = ctypes.c_void_p
    return library


def tool(library):
    found = ctypes.c_uint64(1)
    library.mstxGetToolId(ctypes.byref(found))
    return found.value


def test_tools_mark_and_measure(trace, stream, tools):
    assert tool(tools) == 0
    assert tools.mstxRangeStartA(b"too early", None) == 0
    end = trace(MSPROFTX)
    assert tool(tools) == 0x1000
    domain = ctypes.c_void_p(tools.mstxDomainCreateA(b"layers"))
    assert domain.value == tools.mstxDomainCreateA(b"layers") != tools.mstxDomainCreateA(b"others")
    outer = ctypes.c_uint64(tools.mstxRangeStartA(b"epoch", None))
    inner = ctypes.c_uint64(tools.mstxDomainRangeStartA(domain, b"conv", None))
    assert 0 != outer.value != inner.value != 0
    tools.mstxMarkA(b"here", ctypes.c_void_p(stream))
    tools.mstxDomainMarkA(domain, b"there", None)
    tools.mstxRangeEnd(outer)
    tools.mstxDomainRangeEnd(domain, inner)
    tools.mstxDomainDestroy(domain)
    assert rt.synchronize_stream(stream) == 0
    events = end()
    assert sorted((event["name"], event["ph"]) for event in events) == [
        ("epoch", "X"), ("here", "i"), ("here", "i"), ("layers: conv", "X"), ("layers: there", "i"),
    ]  # fmt: skip
    first, second = (next(event for event in events if event["name"] == name) for name in ("epoch", "layers: conv"))
    assert first["ts"] <= second["ts"] and first["ts"] + first["dur"] <= second["ts"] + second["dur"]


def test_tools_that_mark_nothing_are_told(trace, tools):
    trace(MSPROFTX)
    for call, arguments, why in (
        (tools.mstxMarkA, (None, None), "mstxMarkA failed because message is NULL"),
        (tools.mstxRangeStartA, (None, None), "mstxRangeStartA failed because message is NULL"),
        (tools.mstxRangeEnd, (ctypes.c_uint64(1 << 40),), "mstxRangeEnd failed because rangeId is 0"),
        (tools.mstxDomainCreateA, (None,), "mstxDomainCreateA failed because name is NULL"),
        (tools.mstxGetToolId, (None,), "mstxGetToolId failed because id is NULL"),
    ):
        acl.get_recent_err_msg()
        call(*arguments)
        assert why in acl.get_recent_err_msg()


class Api(ctypes.Structure):
    _fields_ = [("magic", ctypes.c_uint16), ("level", ctypes.c_uint16)]
    _fields_ += [(name, ctypes.c_uint32) for name in ("type", "thread", "reserve")]
    _fields_ += [(name, ctypes.c_uint64) for name in ("begin", "end", "item")]


def test_a_framework_reports_what_it_did(trace, tools):
    now = tools.MsprofSysCycleTime()
    did = Api(0x5A5A, 10000, 5, 77, 0, now, now + 3000, tools.MsprofGetHashId(b"aten::add", ctypes.c_size_t(9)))
    assert tools.MsprofReportApi(1, ctypes.byref(did)) == 0
    end = trace(1)
    assert tools.MsprofReportApi(1, ctypes.byref(did)) == 0
    found = [event for event in end() if event["cat"] == "framework"]
    assert [(event["name"], event["tid"], event["dur"]) for event in found] == [("aten::add", 77, 3)]
    assert (found[0]["args"]["level"], found[0]["args"]["type"]) == (10000, 5)
