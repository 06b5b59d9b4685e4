"""What dumping refuses, and what it says."""

import json

import pytest
from helpers.expect import NULL, pointer, refused
from helpers.models import initialise

import acl
from acl._lib import ffi, lib

mdl = acl.mdl
INVALID_PARAM, UNINITIALIZE, REPEAT_INIT, INVALID_FILE, PARSE_FILE = 100000, 100001, 100002, 100003, 100006
INVALID_CONFIG, NOT_RUN, UNSUPPORTED = 100009, 100045, 200006
NULLPTR, INVALID, RUNTIME = 161001, 161002, 361001


@pytest.fixture
def begun():
    """Begin to dump."""
    initialise()
    assert mdl.init_dump() == 0, acl.get_recent_err_msg()
    yield
    mdl.finalize_dump()


@pytest.fixture
def configure(begun, tmp_path):
    """Give ``configure(members)``, which returns ret."""

    def write(members):
        path = tmp_path / "dump.json"
        path.write_text(json.dumps({"dump": members}))
        return mdl.set_dump(str(path))

    return write


@pytest.mark.needs_sim
def test_everything_needs_init():
    acl.sim.reset()
    for call in (mdl.init_dump, lambda: mdl.set_dump("dump.json"), mdl.finalize_dump):
        refused(call(), UNINITIALIZE, "aclmdl", "aclInit was not called")


def test_states():
    initialise()
    for call in (lambda: mdl.set_dump("dump.json"), mdl.finalize_dump):
        refused(call(), NOT_RUN, "aclmdl", "aclmdlInitDump was not called")
    assert mdl.init_dump() == 0
    refused(mdl.init_dump(), REPEAT_INIT, "aclmdlInitDump", "called before")
    assert mdl.finalize_dump() == 0
    refused(mdl.finalize_dump(), NOT_RUN, "aclmdlFinalizeDump")


def test_files(begun, tmp_path):
    refused(mdl.set_dump(), INVALID_PARAM, "aclmdlSetDump", "path is NULL")
    refused(mdl.set_dump(str(tmp_path / "none.json")), INVALID_FILE, "aclmdlSetDump", "cannot be opened")
    for content, code, words in [
        ("{", PARSE_FILE, "not JSON"),
        ("[]", PARSE_FILE, "no JSON object"),
        ("{}", INVALID_CONFIG, 'no object "dump"'),
        ('{"dump": 1}', INVALID_CONFIG, 'no object "dump"'),
    ]:
        path = tmp_path / "dump.json"
        path.write_text(content)
        refused(mdl.set_dump(str(path)), code, "aclmdlSetDump", words)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"dump_mode": "both"}, "dump.dump_mode"),
        ({"dump_mode": 1}, "dump.dump_mode"),
        ({"dump_op_switch": "yes"}, "dump.dump_op_switch"),
        ({"dump_debug": True}, "dump.dump_debug"),
        ({"dump_level": "layer"}, "dump.dump_level"),
        ({"dump_data": "bytes"}, "dump.dump_data"),
        ({"dump_scene": "other"}, "dump.dump_scene"),
        ({"dump_stats": ["Max"]}, "dump.dump_stats"),
        ({"dump_data": "stats", "dump_stats": "Max"}, "dump.dump_stats"),
        ({"dump_data": "stats", "dump_stats": ["Most"]}, "dump.dump_stats"),
        ({"dump_data": "stats", "dump_stats": []}, "dump.dump_stats"),
        ({"dump_list": {}}, "dump.dump_list"),
        ({"dump_list": ["model"]}, "dump.dump_list"),
        ({"dump_list": [{"model_name": 1}]}, "dump.dump_list"),
        ({"dump_list": [{"layer": "conv1"}]}, "dump.dump_list"),
        ({"dump_list": [{"layer": [1]}]}, "dump.dump_list"),
        ({"dump_step": "a"}, "dump.dump_step"),
        ({"dump_step": "5-2"}, "dump.dump_step"),
        ({"dump_step": "1|"}, "dump.dump_step"),
        ({"dump_step": "|".join("1" * 101)}, "dump.dump_step"),
        ({"dump_path": "/nonexistent/dump"}, "dump.dump_path"),
        ({"dump_path": "a" * 5000}, "dump.dump_path"),
        ({"dump_path": 1}, "dump.dump_path"),
        ({"dump_path": None, "dump_debug": "on", "dump_op_switch": "on"}, "dump.dump_debug"),
        ({"dump_path": None, "dump_scene": "lite_exception", "dump_list": [{}]}, "dump.dump_scene"),
        ({"dump_path": None, "dump_scene": "lite_exception", "dump_debug": "on"}, "dump.dump_debug"),
    ],
)
def test_contents(configure, tmp_path, members, words):
    given = {"dump_path": str(tmp_path), "dump_list": [{}], **members}
    if members.get("dump_path", "") is None:
        given = {**members, "dump_path": str(tmp_path)}
    refused(configure(given), INVALID_CONFIG, "aclmdlSetDump", words, "dumpCfgPath")


@pytest.mark.strict
def test_data_of_models_needs_a_place(configure):
    refused(configure({"dump_list": [{}]}), INVALID_CONFIG, "dump.dump_path", "the path of a directory")


@pytest.mark.needs_sim
def test_the_simulator_has_no_watch_mode(configure, tmp_path):
    ret = configure({"dump_path": str(tmp_path), "dump_scene": "watcher"})
    refused(ret, UNSUPPORTED, "aclmdlSetDump", "watcher", "not part of the simulator")


def test_a_configuration_that_is_refused_changes_nothing(configure, tmp_path):
    assert configure({"dump_path": str(tmp_path), "dump_list": [{}]}) == 0
    assert configure({"dump_path": str(tmp_path), "dump_list": [{}], "dump_mode": "both"}) == INVALID_CONFIG
    assert ffi.string(lib.acldumpGetPath(4)).decode() == str(tmp_path)


def test_callbacks():
    refused(lib.acldumpRegCallback(NULL, 0), INVALID_PARAM, "acldumpRegCallback", "messageCallback is NULL")
    refused(mdl.dump_reg_callback(print, 1), INVALID_PARAM, "acldumpRegCallback", "flag is 1")


@pytest.mark.strict
@pytest.mark.parametrize("kind", [0, 6])
def test_kinds_of_paths(kind):
    assert lib.acldumpGetPath(kind) == NULL
    refused(0, 0, "acldumpGetPath", f"dumpType is {kind}")


@pytest.mark.needs_sim
def test_chips_without_the_calls(tmp_path):
    acl.sim.reset()
    acl.sim.configure(soc="Ascend310P3")
    assert lib.acldumpGetPath(4) == NULL
    refused(0, 0, "acldumpGetPath", "Ascend310P3")
    refused(acl.op.start_dump_args(1, str(tmp_path)), 207000, "aclopStartDumpArgs", "Ascend310P3")
    refused(acl.op.stop_dump_args(1), 207000, "aclopStopDumpArgs", "Ascend310P3")
    acl.sim.reset()


def test_arguments_of_operators(tmp_path):
    (tmp_path / "file").write_text("")
    refused(lib.aclopStartDumpArgs(1, NULL), INVALID_PARAM, "aclopStartDumpArgs", "path is NULL")
    refused(acl.op.start_dump_args(2, str(tmp_path)), INVALID_PARAM, "aclopStartDumpArgs", "dumpType is 2")
    refused(acl.op.start_dump_args(1, str(tmp_path / "file" / "a")), INVALID_FILE, "aclopStartDumpArgs", "path is")
    refused(acl.op.stop_dump_args(2), INVALID_PARAM, "aclopStopDumpArgs", "dumpType is 2")
    assert acl.op.stop_dump_args(1) == 0


# ---- failures ----

INFO = ffi.new("acldumpTensorInfo[1]")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lib.acldumpGetExceptionInfoPath(NULL, 1), "path is NULL"),
        (lambda: lib.acldumpGetExceptionInfoPath(ffi.new("char[8]"), 0), "maxLen is 0"),
        (lambda: lib.acldumpSaveExceptionInfo(NULL, b"a", NULL, 1), "fileName is NULL"),
        (lambda: lib.acldumpGetExceptionInfoPath(ffi.new("char[8]"), 1), "maxLen is 1"),
        (lambda: lib.acldumpSaveExceptionInfo(b"a", b"b", NULL, 1), "tensors is NULL"),
        (lambda: lib.acldumpSaveExceptionInfo(b"", b"b", INFO, 1), "fileName has 0 bytes"),
        (lambda: lib.acldumpSaveExceptionInfo(b"a" * 768, b"b", INFO, 1), "fileName has 768 bytes"),
        (lambda: lib.acldumpSaveExceptionInfo(b"/a/b", b"b", INFO, 1), 'fileName is "/a/b", expected'),
        (lambda: lib.acldumpSaveExceptionInfo(b"..", b"b", INFO, 1), 'fileName is "..", expected'),
        (lambda: lib.acldumpSaveExceptionInfo(b"a/../b", b"b", INFO, 1), 'fileName is "a/../b", expected'),
        (lambda: lib.acldumpSaveExceptionInfo(b"a/", b"b", INFO, 1), 'fileName is "a/", expected'),
        (lambda: lib.acldumpSaveExceptionInfo(b"a", b"b", ffi.new("acldumpTensorInfo[1]"), 0), "tensorCount is 0"),
    ],
)
def test_arguments_of_failures(call, words):
    refused(call(), INVALID_PARAM, "acldump", words)


@pytest.mark.strict
def test_failures_need_a_configuration():
    place, info = ffi.new("char[4096]"), ffi.new("acldumpTensorInfo[1]")
    refused(lib.acldumpGetExceptionInfoPath(place, 4096), 500001, "acldumpGetExceptionInfoPath", "dump_scene")
    refused(lib.acldumpSaveExceptionInfo(b"a", b"b", info, 1), 500001, "acldumpSaveExceptionInfo", "dump_scene")


@pytest.mark.strict
@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"type": 3}, INVALID_PARAM, "type of tensors[0] is 3"),
        ({"placement": 2}, INVALID_PARAM, "placement of tensors[0] is 2"),
        ({"addrType": 3}, INVALID_PARAM, "addrType of tensors[0] is 3"),
        ({"addrType": 0}, 207000, "addrType of tensors[0] is 0, expected ACL_DUMP_ADDR_RAW (2)"),
        ({"addrType": 1}, 207000, "addrType of tensors[0] is 1"),
        ({"shapeNum": 26}, INVALID_PARAM, "shapeNum of tensors[0] is 26"),
        ({"tensorSize": 0}, INVALID_PARAM, "with tensorSize 0"),
        ({"tensorSize": 1 << 40}, INVALID_PARAM, "not inside a live block"),
        ({"placement": 1}, INVALID_PARAM, "memory of the host"),
    ],
)
def test_tensors_of_failures(device, configure, tmp_path, fields, code, words):
    assert configure({"dump_path": str(tmp_path), "dump_scene": "lite_exception"}) == 0
    block, _ = acl.rt.malloc(64, 0)
    usual = {"tensorAddr": ffi.cast("int64_t *", block), "tensorSize": 64, "addrType": 2}
    info = ffi.new("acldumpTensorInfo[1]", [{**usual, **fields}])
    refused(lib.acldumpSaveExceptionInfo(b"a", b"b", info, 1), code, "acldumpSaveExceptionInfo", words)
    acl.rt.free(block)


# ---- operators and graphs ----


@pytest.mark.strict
@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"kind": NULL}, NULLPTR, "opType is NULL"),
        ({"name": NULL}, NULLPTR, "opName is NULL"),
        ({"tensors": NULL}, NULLPTR, "tensors is NULL"),
        ({"inputs": 0}, INVALID, "are 0 together"),
        ({"inputs": 2000}, INVALID, "are 2000 together"),
        ({"inputs": 2**64 - 1}, INVALID, "expected fewer"),
        ({"tensor": 0}, NULLPTR, "tensors[0] is NULL"),
        ({"tensor": 0xDEADBEEF}, INVALID, "tensors[0] is not a handle"),
        ({"stream": 0xDEADBEEF}, RUNTIME, "stream is"),
        ({"data": 64}, RUNTIME, "tensors[0]"),
    ],
)
def test_tensors_that_are_named(device, stream, change, code, words):
    block, _ = acl.rt.malloc(64, 0)
    tensor = acl.create_tensor([2], 0, [1], 0, 2, [2], change.get("data", block))
    tensors = ffi.new("aclTensor *[1]", [ffi.cast("aclTensor *", change.get("tensor", tensor))])
    ret = lib.aclDumpOpTensors(
        change.get("kind", b"Add"),
        change.get("name", b"add"),
        change.get("tensors", tensors),
        change.get("inputs", 1),
        0,
        pointer(change.get("stream", stream)),
    )
    refused(ret, code, "aclDumpOpTensors", words)
    acl.destroy_tensor(tensor)
    acl.rt.free(block)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"kind": NULL}, INVALID_PARAM, "opType is NULL"),
        ({"path": NULL}, INVALID_PARAM, "graphDumpPath is NULL"),
        ({"kind": b"a/b"}, INVALID_PARAM, 'opType is "a/b"'),
        ({"engine": 7}, INVALID_PARAM, "engineType is 7"),
        ({"count": -1}, INVALID_PARAM, "the number of inputs is -1"),
        ({"descs": NULL}, INVALID_PARAM, "inputDesc is"),
        ({"buffer": 0xDEADBEEF}, INVALID_PARAM, "0xdeadbeef"),
        ({"desc": 0xDEADBEEF}, INVALID_PARAM, "0xdeadbeef"),
        ({"option": 0xDEADBEEF}, INVALID_PARAM, "graphDumpOpt is"),
        ({"attr": 0xDEADBEEF}, INVALID_PARAM, "attr is"),
        ({"path": b"/nonexistent/dir/graph.txt"}, INVALID_FILE, "graphDumpPath is"),
    ],
)
def test_graphs(device, tmp_path, change, code, words):
    desc, buffer = acl.create_tensor_desc(0, [2], 2), acl.create_data_buffer(0, 0)
    descs = ffi.new("const aclTensorDesc *[]", [ffi.cast("aclTensorDesc *", change.get("desc", desc))])
    buffers = ffi.new("aclDataBuffer *[]", [ffi.cast("aclDataBuffer *", change.get("buffer", buffer))])
    ret = lib.aclGenGraphAndDumpForOp(
        change.get("kind", b"Relu"),
        change.get("count", 1),
        change.get("descs", descs),
        buffers,
        0,
        NULL,
        NULL,
        ffi.cast("aclopAttr *", change.get("attr", 0)),
        change.get("engine", 0),
        change.get("path", str(tmp_path).encode()),
        ffi.cast("aclGraphDumpOption *", change.get("option", 0)),
    )
    refused(ret, code, "aclGenGraphAndDumpForOp", words)
    acl.destroy_data_buffer(buffer)
    acl.destroy_tensor_desc(desc)


@pytest.mark.strict
def test_options_of_graphs():
    refused(lib.aclDestroyGraphDumpOpt(NULL), INVALID_PARAM, "aclDestroyGraphDumpOpt", "graphDumpOpt is NULL")
    option = lib.aclCreateGraphDumpOpt()
    assert lib.aclDestroyGraphDumpOpt(option) == 0
    refused(lib.aclDestroyGraphDumpOpt(option), INVALID_PARAM, "aclDestroyGraphDumpOpt", "destroyed graph dump option")
