"""Dumping: what models and operators read and write, as files and through a function."""

import json
import re

import numpy
import pytest
from helpers.expect import RunningTask, pointer, refused
from helpers.models import Model, affine_bytes, initialise, load_bytes

import acl
from acl._lib import ffi, lib

mdl, rt, nnop = acl.mdl, acl.rt, acl.nnop
FLOAT, ND = 0, 2
BRIEF, NORM, DETAIL, DATA, OVERFLOW = 1, 2, 3, 4, 5

pytestmark = pytest.mark.needs_sim


@pytest.fixture
def dump(device, tmp_path):
    """Give ``dump(**members)``, which puts a configuration in force; files go below ``tmp_path / "out"``."""
    initialise()
    assert mdl.init_dump() == 0, acl.get_recent_err_msg()
    out = tmp_path / "out"
    out.mkdir()

    def configure(path=True, **members):
        if path:
            members["dump_path"] = str(out)
        file = tmp_path / "dump.json"
        file.write_text(json.dumps({"dump": members}))
        assert mdl.set_dump(str(file)) == 0, acl.get_recent_err_msg()
        return out

    yield configure
    mdl.finalize_dump()


@pytest.fixture
def affine():
    """Give ``affine()``, which loads a model; all are unloaded at the end."""
    acl.sim.model("affine")(lambda x: 2 * x + 1)
    made = []

    def load():
        model, ret = load_bytes(affine_bytes())
        assert ret == 0, acl.get_recent_err_msg()
        made.append(Model(model))
        return made[-1]

    yield load
    for model in made:
        model.close()


def arrays(folder):
    """Return the dumped arrays by what their files are called behind the time: ``<kind>.<index>``, in order."""
    found = sorted(folder.rglob("*.npy"), key=lambda path: (path.parts[:-1], path.name.split(".")[-3:]))
    return [(".".join(path.name.split(".")[-3:-1]), numpy.load(path)) for path in found]


class Add:
    """Two floats that are added to two others, by a kernel."""

    def __init__(self):
        self.block, ret = rt.malloc(96, 0)
        assert ret == 0
        for place, numbers in enumerate(numpy.array([[1, 2], [10, 20], [0, 0]], "f4")):
            assert rt.memcpy(self.block + 32 * place, 8, numbers.ctypes.data, 8, 1) == 0
        one = numpy.float32(1).tobytes()
        self.alpha = acl.create_scalar(acl.util.bytes_to_ptr(one), FLOAT)
        self.tensors = [acl.create_tensor([2], FLOAT, [1], 0, ND, [2], self.block + 32 * i) for i in range(3)]

    def run(self, stream):
        size, executor, ret = nnop.add_get_workspace_size(*self.tensors[:2], self.alpha, self.tensors[2])
        assert (size, ret) == (0, 0), acl.get_recent_err_msg()
        assert nnop.add(0, 0, executor, stream) == 0, acl.get_recent_err_msg()

    def close(self):
        for tensor in self.tensors:
            acl.destroy_tensor(tensor)
        acl.destroy_scalar(self.alpha)
        rt.free(self.block)


@pytest.fixture
def add(device):
    made = Add()
    yield made
    made.close()


def test_models_are_dumped_with_inputs_and_outputs(dump, affine):
    out = dump(dump_list=[{"model_name": "affine"}], dump_mode="all")
    model = affine()
    model(numpy.array([1, 2], "f4"))
    assert [(name, array.tolist()) for name, array in arrays(out)] == [("input.0", [1, 2]), ("output.0", [3, 5])]
    (path, _) = out.rglob("*.npy")
    time, device, name, number, step = path.relative_to(out).parts[:-1]
    assert (len(time), device, name, number, step) == (14, "0", "affine", str(model.id), "0")
    kind, name, task, stream, stamp, _, _, _ = path.name.split(".")
    assert (kind, name) == ("Model", "affine") and all(part.isdigit() for part in (task, stream, stamp))


@pytest.mark.parametrize(("mode", "names"), [("input", ["input.0"]), ("output", ["output.0"]), (None, ["output.0"])])
def test_the_mode_says_what_is_dumped(dump, affine, mode, names):
    out = dump(dump_list=[{}], **({} if mode is None else {"dump_mode": mode}))
    affine()(numpy.array([1, 2], "f4"))
    assert [name for name, _ in arrays(out)] == names


@pytest.mark.parametrize(("names", "dumped"), [(["affine"], 1), (["other"], 0), (["other", "affine"], 1), ([None], 1)])
def test_models_are_chosen_by_name(dump, affine, names, dumped):
    entries = [{} if name is None else {"model_name": name, "layer": ["conv1"]} for name in names]
    out = dump(dump_list=entries)
    affine()(numpy.array([1, 2], "f4"))
    assert len(arrays(out)) == dumped


def test_steps_are_chosen_by_number(dump, affine):
    out = dump(dump_list=[{}], dump_step="0|2-3|5")
    model = affine()
    for number in range(7):
        model(numpy.array([number, 0], "f4"))
    assert [array.tolist()[0] for _, array in arrays(out)] == [1, 5, 7, 11]
    assert sorted(path.parent.name for path in out.rglob("*.npy")) == ["0", "2", "3", "5"]


def test_models_keep_the_configuration_they_were_loaded_under(dump, affine):
    before = affine()
    out = dump(dump_list=[{}], dump_mode="input")
    under = affine()
    dump(dump_list=[{"model_name": "other"}])
    behind = affine()
    for number, model in enumerate((before, under, behind)):
        model(numpy.array([number, 0], "f4"))
    assert [array.tolist() for _, array in arrays(out)] == [[1, 0]]
    assert mdl.finalize_dump() == 0
    under(numpy.array([1, 1], "f4"))
    assert len(arrays(out)) == 1


def test_operators_are_dumped_when_they_are_switched_on(dump, stream, add):
    out = dump(dump_list=[], dump_op_switch="on", dump_mode="all")
    add.run(stream)
    assert rt.synchronize_stream(stream) == 0
    dumped = [(name, array.tolist()) for name, array in arrays(out)]
    assert dumped == [("input.0", [1, 2]), ("input.1", [10, 20]), ("output.0", [11, 22])]
    dump(dump_list=[], dump_op_switch="off")
    add.run(stream)
    assert rt.synchronize_stream(stream) == 0
    assert len(arrays(out)) == 3


def test_views_are_dumped_in_the_order_of_their_elements(dump, stream, add):
    block, _ = rt.malloc(64, 0)
    numbers = numpy.arange(6, dtype="f4").reshape(2, 3)
    assert rt.memcpy(block, 24, numbers.ctypes.data, 24, 1) == 0
    turned = acl.create_tensor([3, 2], FLOAT, [1, 3], 0, ND, [2, 3], block)
    out = dump(dump_list=[], dump_mode="all")
    tensors = ffi.new("aclTensor *[]", [ffi.cast("aclTensor *", turned), ffi.cast("aclTensor *", add.tensors[0])])
    assert lib.aclDumpOpTensors(b"My/Op", b"a.b c", tensors, 1, 1, pointer(stream)) == 0, acl.get_recent_err_msg()
    assert rt.synchronize_stream(stream) == 0
    (first, one), (second, two) = arrays(out)
    assert (first, one.tolist()) == ("input.0", numbers.T.tolist())
    assert (second, two.tolist()) == ("output.0", [1, 2])
    assert {path.name.split(".")[:2][0] for path in out.rglob("*.npy")} == {"My_Op"}
    assert {path.name.split(".")[1] for path in out.rglob("*.npy")} == {"a_b_c"}
    acl.destroy_tensor(turned)
    rt.free(block)


@pytest.mark.parametrize(
    ("kind", "code", "values", "line"),
    [
        ("f4", 0, [3, -4, 0, numpy.nan, numpy.inf, numpy.inf, -numpy.inf], "3,-4,-0.333333333,1,1,2,5"),
        ("f2", 1, [1, 2, 2], "2,1,1.66666667,0,0,0,3"),
        ("i1", 2, [-128, 127], "127,-128,-0.5,0,0,0,180.313616"),
        ("u8", 10, [2**40, 0], "1.09951163e+12,0,5.49755814e+11,0,0,0,1.09951163e+12"),
        ("c8", 16, [1 + 2j], ",,,,,,"),
    ],
)
def test_statistics_stand_for_the_elements(dump, stream, kind, code, values, line):
    array = numpy.array(values, kind)
    block, _ = rt.malloc(64, 0)
    assert rt.memcpy(block, array.nbytes, array.ctypes.data, array.nbytes, 1) == 0
    tensor = acl.create_tensor([len(values)], code, [1], 0, ND, [len(values)], block)
    tensors = ffi.new("aclTensor *[]", [ffi.cast("aclTensor *", tensor)])
    wanted = ["Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf", "L2norm"]
    out = dump(dump_list=[], dump_data="stats")
    assert lib.aclDumpOpTensors(b"Add", b"add", tensors, 0, 1, pointer(stream)) == 0
    assert rt.synchronize_stream(stream) == 0
    (path,) = out.rglob("*.csv")
    assert path.read_text() == f"Data Type,Shape,{','.join(wanted)}\n{code},{len(values)},{line}\n"
    path.unlink()
    dump(dump_list=[], dump_data="stats", dump_stats=["L2norm", "Max"])
    assert lib.aclDumpOpTensors(b"Add", b"add", tensors, 0, 1, pointer(stream)) == 0
    assert rt.synchronize_stream(stream) == 0
    (path,) = out.rglob("*.csv")
    assert path.read_text().splitlines()[0] == "Data Type,Shape,Max,L2norm"
    acl.destroy_tensor(tensor)
    rt.free(block)


def test_named_tensors_are_left_alone_without_a_configuration(device, stream, add, tmp_path):
    initialise()
    tensors = ffi.new("aclTensor *[]", [ffi.cast("aclTensor *", add.tensors[0])])
    assert lib.aclDumpOpTensors(b"Add", b"add", tensors, 1, 0, pointer(stream)) == 0
    assert rt.synchronize_stream(stream) == 0


def test_a_function_gets_the_data_instead_of_files(dump, affine, tmp_path):
    chunks = []

    def keep(chunk):
        chunks.append((chunk, acl.util.ptr_to_bytes(chunk["data_buf"], chunk["buf_len"])))

    out = dump(dump_list=[{}])
    assert mdl.dump_reg_callback(keep, 0) == 0
    model = affine()
    model(numpy.array([1, 2], "f4"))
    assert mdl.dump_unreg_callback() is None
    assert arrays(out) == []
    ((chunk, content),) = chunks
    assert chunk["file_name"].startswith(str(out)) and chunk["file_name"].endswith(".output.0.npy")
    assert (chunk["is_last_chunk"], chunk["offset"], chunk["flag"]) == (1, 0, 0)
    file = tmp_path / "array.npy"
    file.write_bytes(content)
    assert numpy.load(file).tolist() == [3, 5]
    model(numpy.array([3, 4], "f4"))
    assert [array.tolist() for _, array in arrays(out)] == [[7, 9]]


def test_a_function_needs_no_configuration(device, affine):
    initialise()
    names = []
    assert mdl.init_dump() == 0
    assert mdl.dump_reg_callback(lambda chunk: names.append(chunk["file_name"]), 0) == 0
    model = affine()
    model(numpy.array([1, 2], "f4"))
    mdl.dump_unreg_callback()
    assert mdl.finalize_dump() == 0
    assert [name.split(".")[-3] for name in names] == ["output"]


def test_large_data_comes_in_chunks_until_one_is_refused(dump, stream):
    block, _ = rt.malloc(3 << 20, 0)
    assert rt.memset(block, 3 << 20, 0, 3 << 20) == 0
    tensor = acl.create_tensor([3 << 20], 4, [1], 0, ND, [3 << 20], block)
    tensors = ffi.new("aclTensor *[]", [ffi.cast("aclTensor *", tensor)])
    seen = []

    def take(limit):
        def keep(chunk):
            seen.append((chunk["offset"], chunk["is_last_chunk"]))
            return int(len(seen) == limit)

        return keep

    dump(dump_list=[])
    for limit, expected in [(0, [0, 1, 2, 3]), (2, [0, 1])]:
        seen.clear()
        assert mdl.dump_reg_callback(take(limit), 0) == 0
        assert lib.aclDumpOpTensors(b"Add", b"add", tensors, 0, 1, pointer(stream)) == 0
        assert rt.synchronize_stream(stream) == 0
        assert [offset >> 20 for offset, _ in seen] == expected
        assert [last for _, last in seen] == [int(place == 3) for place in expected]
    mdl.dump_unreg_callback()
    acl.destroy_tensor(tensor)
    rt.free(block)


def test_paths_are_those_of_the_configuration(dump):
    def path(kind):
        found = lib.acldumpGetPath(kind)
        return None if found == ffi.NULL else ffi.string(found).decode()

    assert [path(kind) for kind in range(1, 6)] == [None] * 5
    out = str(dump(dump_list=[{}]))
    assert [path(kind) for kind in range(1, 6)] == [None, None, None, out, None]
    dump(dump_debug="on")
    assert [path(kind) for kind in range(1, 6)] == [None, None, None, None, out]
    dump(dump_scene="aic_err_detail_dump")
    assert [path(kind) for kind in range(1, 6)] == [None, None, out, None, None]
    dump(dump_scene="lite_exception")
    assert [path(kind) for kind in range(1, 6)] == [out, None, None, None, None]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_operators_that_fail_are_dumped(dump, stream, add):
    out = dump(dump_scene="aic_err_brief_dump")
    acl.sim.kernel("aclnnAdd")(failing)
    add.run(stream)
    assert rt.synchronize_stream(stream) == 507015
    lib.aclsimRegisterKernel(b"aclnnAdd", ffi.NULL, ffi.NULL, ffi.NULL)
    dumped = [(name, array.tolist()) for name, array in arrays(out / "extra-info" / "data-dump" / "0")]
    assert dumped == [("input.0", [1, 2]), ("input.1", [10, 20]), ("output.0", [0, 0])]
    add.run(stream)
    assert rt.synchronize_stream(stream) == 0
    assert len(arrays(out)) == 3


def failing(self, other, alpha, out):
    raise ValueError("it fails")


@pytest.fixture
def infos(device):
    """Describe a tensor on the device and bytes of the host, as programs do for acldumpSaveExceptionInfo."""
    block, _ = rt.malloc(64, 0)
    numbers = numpy.arange(4, dtype="f4")
    assert rt.memcpy(block, 16, numbers.ctypes.data, 16, 1) == 0
    infos = ffi.new("acldumpTensorInfo[2]", [{"addrType": 2}, {"addrType": 2}])
    infos[0].tensorAddr, infos[0].tensorSize, infos[0].shapeNum = ffi.cast("int64_t *", block), 16, 2
    infos[0].shape[0:2] = [2, 2]
    infos[1].type, infos[1].placement, infos[1].tensorSize = 2, 1, 4
    infos[1].tensorAddr = ffi.cast("int64_t *", numbers.ctypes.data)
    yield infos
    rt.free(block)


def saved(folder):
    """List the names of saved files without their times, with what is in them."""
    return {re.sub(r"\.custom\.\d{17}\b", "", path.name): numpy.load(path) for path in folder.glob("*.custom.*.npy")}


def test_tensors_of_a_failure_are_saved(dump, infos):
    out = dump(dump_scene="aic_err_norm_dump")
    place = ffi.new("char[]", 4096)
    assert lib.acldumpGetExceptionInfoPath(place, 4096) == 0
    assert ffi.string(place).decode() == f"{out}/extra-info/data-dump/0/"
    refused(lib.acldumpGetExceptionInfoPath(place, 8), 100000, "acldumpGetExceptionInfoPath", "maxLen is 8")
    folder = out / "extra-info" / "data-dump" / "0"
    assert lib.acldumpSaveExceptionInfo(b"my_op", b"run/1", infos, 2) == 0, acl.get_recent_err_msg()
    files = saved(folder)
    assert sorted(files) == ["my_op.run_1.input.0.npy", "my_op.run_1.workspace.0.npy"]
    assert files["my_op.run_1.input.0.npy"].tolist() == [[0, 1], [2, 3]]
    assert files["my_op.run_1.workspace.0.npy"].tobytes() == bytes(4)


def test_tensors_of_a_failure_are_saved_below_a_relative_path_without_a_tag(dump, infos):
    out = dump(dump_scene="aic_err_brief_dump")
    assert lib.acldumpSaveExceptionInfo(b"mine/deep/my_op", ffi.NULL, infos, 1) == 0, acl.get_recent_err_msg()
    files = saved(out / "extra-info" / "data-dump" / "0" / "mine" / "deep")
    assert list(files) == ["my_op.input.0.npy"]
    assert files["my_op.input.0.npy"].tolist() == [[0, 1], [2, 3]]


@pytest.mark.needs_sim
def test_an_exception_callback_saves_for_the_device_that_failed(run_script, tmp_path):
    code = f"""
import json, acl
from acl._lib import ffi, lib
(config := __import__("pathlib").Path({str(tmp_path)!r}) / "acl.json").write_text(
    json.dumps({{"dump": {{"dump_path": {str(tmp_path)!r}, "dump_scene": "aic_err_brief_dump"}}}}))
assert acl.init(str(config)) == 0
place = ffi.new("char[]", 4096)
assert lib.acldumpGetExceptionInfoPath(place, 4096) == 107002
assert acl.rt.set_device(1) == 0
seen = []
@ffi.callback("void(aclrtExceptionInfo *)")
def failed(info):
    seen.append((lib.acldumpGetExceptionInfoPath(place, 4096), ffi.string(place).decode()))
assert lib.aclrtSetExceptionInfoCallback(failed) == 0
stream, _ = acl.rt.create_stream()
@ffi.callback("aclsimTaskFunc")
def failing(user):
    return 507015
assert lib.aclsimLaunchTask(ffi.cast("void *", stream), failing, ffi.NULL, ffi.NULL, 0, 0) == 0
assert acl.rt.synchronize_stream(stream) == 507015
assert seen == [(0, {str(tmp_path)!r} + "/extra-info/data-dump/1/")], seen
"""
    done = run_script(code, {"ACL_SIM_DEVICES": "2"})
    assert done.returncode == 0, done.stderr


def test_arguments_of_operators_are_written_once_for_each_shape(stream, add, tmp_path):
    out = tmp_path / "args"
    assert acl.op.start_dump_args(1, str(out)) == 0, acl.get_recent_err_msg()
    add.run(stream)
    add.run(stream)
    assert rt.synchronize_stream(stream) == 0
    assert acl.op.stop_dump_args(1) == 0
    (path,) = out.glob("Add_*.json")
    described = json.loads(path.read_text())
    assert described["op_type"] == "Add"
    assert [tensor["shape"] for tensor in described["inputs"]] == [[2], [2]]
    assert described["outputs"] == [{"name": "out", "data_type": 0, "shape": [2]}]
    assert described["attributes"] == [{"name": "alpha", "value": "data_type 0"}]
    path.unlink()
    add.run(stream)
    assert rt.synchronize_stream(stream) == 0
    assert list(out.glob("*")) == []


def test_attributes_are_written_as_texts(stream, add, tmp_path):
    assert acl.op.start_dump_args(1, str(tmp_path)) == 0
    axes = acl.create_int_array([0])
    whole = acl.create_tensor([], FLOAT, [], 0, ND, [], add.block + 64)
    size, executor, ret = nnop.mean_get_workspace_size(add.tensors[0], axes, False, FLOAT, whole)
    assert ret == 0, acl.get_recent_err_msg()
    assert nnop.mean(0, size, executor, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert acl.op.stop_dump_args(1) == 0
    (path,) = tmp_path.glob("Mean_*.json")
    values = {attribute["name"]: attribute["value"] for attribute in json.loads(path.read_text())["attributes"]}
    assert values == {"dim": "0", "keepDim": "0", "dtype": "0"}
    acl.destroy_tensor(whole)
    acl.destroy_int_array(axes)


def test_a_graph_is_written_as_text(device, tmp_path):
    desc = acl.create_tensor_desc(FLOAT, [2, 3], ND)
    buffer = acl.create_data_buffer(0, 0)
    descs = ffi.new("const aclTensorDesc *[]", [ffi.cast("aclTensorDesc *", desc)])
    buffers = ffi.new("aclDataBuffer *[]", [ffi.cast("aclDataBuffer *", buffer)])
    option, attr = lib.aclCreateGraphDumpOpt(), acl.op.create_attr()
    assert acl.op.set_attr_int(attr, "axis", 2) == 0
    assert acl.op.set_attr_string(attr, "mode", 'a"b') == 0
    for path, given in ((tmp_path, ffi.NULL), (tmp_path / "graph.txt", ffi.cast("aclopAttr *", attr))):
        ret = lib.aclGenGraphAndDumpForOp(
            b"Relu", 1, descs, buffers, 1, descs, buffers, given, 0, str(path).encode(), option
        )
        assert ret == 0, acl.get_recent_err_msg()
    expected = (
        'node "Relu"\n'
        '  input 0: name "", data_type 0, format 2, shape [2, 3]\n'
        '  output 0: name "", data_type 0, format 2, shape [2, 3]\n'
    )
    assert (tmp_path / "Relu.txt").read_text() == expected
    assert (tmp_path / "graph.txt").read_text() == expected + '  attributes {"axis": 2, "mode": "a\\"b"}\n'
    assert lib.aclDestroyGraphDumpOpt(option) == 0
    acl.op.destroy_attr(attr)
    acl.destroy_data_buffer(buffer)
    acl.destroy_tensor_desc(desc)


def test_the_file_of_init_configures_dumping(run_script, tmp_path):
    (tmp_path / "net.om").write_bytes(affine_bytes())
    config = tmp_path / "acl.json"
    config.write_text(json.dumps({"dump": {"dump_list": [{}], "dump_path": str(tmp_path), "dump_mode": "input"}}))
    code = (
        "import acl, numpy\n"
        "from acl.sim import model\n"
        "model('affine')(lambda x: x)\n"
        f"print(acl.init({str(config)!r}), acl.rt.set_device(0), acl.mdl.init_dump(), acl.mdl.finalize_dump())\n"
        f"net, ret = acl.mdl.load_from_file({str(tmp_path / 'net.om')!r})\n"
        "sides = [acl.mdl.create_dataset() for _ in range(2)]\n"
        "for side in sides:\n"
        "    acl.mdl.add_dataset_buffer(side, acl.create_data_buffer(acl.rt.malloc(8, 0)[0], 8))\n"
        "print(ret, acl.mdl.execute(net, *sides), acl.mdl.unload(net), acl.finalize())\n"
    )
    done = run_script(code)
    assert done.stdout.splitlines() == ["0 0 100044 100045", "0 0 0 0"], done.stderr
    assert [(name, array.shape) for name, array in arrays(tmp_path)] == [("input.0", (2,))]


def test_finalizing_while_an_operator_runs_is_safe(dump, stream, add):
    out = dump(dump_list=[], dump_op_switch="on")
    running = RunningTask(stream)
    add.run(stream)
    assert mdl.finalize_dump() == 0
    running.finish()
    assert rt.synchronize_stream(stream) == 0
    assert arrays(out) == []
    assert mdl.init_dump() == 0
