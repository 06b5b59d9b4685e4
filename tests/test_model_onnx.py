"""ONNX models: compiled by the command ``atc``, loaded and run like any other, to what onnxruntime computes."""

import subprocess
import sys

import numpy
import onnx
import pytest
from helpers.expect import refused
from helpers.models import Dataset, Model, describe, initialise, load, load_bytes
from helpers.networks import FLOAT, INT64, atc, node, numbers, same, save, save_classifier, says
from onnx import TensorProto, helper

import acl
from acl._lib import ffi, lib
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def classifier(tmp_path):
    return save_classifier(tmp_path)


@pytest.fixture(params=["inside", "beside"])
def way(request):
    """Run models in this process, or in the one that the simulator starts for programs without Python."""
    if request.param == "beside":
        acl.sim.reset()
        acl.sim.configure(python=sys.executable)
        lib.aclsimRegisterExecutor(b"onnx", ffi.NULL, ffi.NULL)
        assert acl.rt.set_device(0) == 0
        initialise()
    yield request.param
    lib.acl_register_executors()


both = pytest.mark.usefixtures("way")


def test_a_command_compiles_what_a_program_runs(classifier):
    """Both ways to write a flag, and what has no effect here."""
    flags = "--framework 5 --model classifier.onnx --output=made -input-shape=x:2,3,8,8 --soc_version Ascend910B3"
    done = subprocess.run(
        [sys.executable, "-m", "acl", "atc", *flags.split(), "--log=error", "--enable_small_channel"],
        cwd=classifier.parent,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "ATC run success, wrote made.om\n"), done.stderr
    assert "these flags have no effect on the simulator: --enable_small_channel, --log\n" in done.stderr
    model = Model(load(classifier.parent / "made.om"))
    assert mdl.get_num_inputs(model.desc) == 1
    assert mdl.get_input_dims(model.desc, 0) == ({"name": "x", "dimCount": 4, "dims": [2, 3, 8, 8]}, 0)
    assert mdl.get_output_dims(model.desc, 0) == ({"name": "y", "dimCount": 2, "dims": [2, 10]}, 0)
    assert mdl.get_input_format(model.desc, 0) == 0
    for seed in range(3):
        x = numbers(2, 3, 8, 8, seed=seed)
        same(model(x), classifier, x)
    model.close()


@both
def test_batch_gears(classifier):
    model = Model(load(atc(classifier, "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,4,8")))
    assert mdl.get_dynamic_batch(model.desc) == ({"batchCount": 3, "batch": [1, 4, 8]}, 0)
    assert mdl.get_output_size_by_index(model.desc, 0) == 8 * 10 * 4
    for batch in (1, 4, 8, 1):
        assert mdl.set_dynamic_batch_size(model.id, model.inputs.handle, 1, batch) == 0
        x = numbers(batch, 3, 8, 8)
        same(model(x), classifier, x)
    model.close()


@both
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_image_gears(tmp_path, layout):
    """Of a network of convolutions, one output as large as the image and one that is not."""
    inside, dims = "x", ["n", 3, "h", "w"]
    nodes = []
    if layout == "NHWC":
        inside, dims = "t", ["n", "h", "w", 3]
        nodes.append(node("Transpose", "x", inside, perm=[0, 3, 1, 2]))
    nodes.append(node("Conv", f"{inside} w", "mask", pads=[1] * 4))
    nodes.append(node("GlobalAveragePool", "mask", "mean"))
    path = save(
        tmp_path / "image.onnx",
        nodes,
        {"x": (FLOAT, dims)},
        {"mean": (FLOAT, None), "mask": (FLOAT, None)},
        {"w": numbers(2, 3, 3, 3)},
    )
    shape = "2,3,-1,-1" if layout == "NCHW" else "2,-1,-1,3"
    flags = [f"--input_shape=x:{shape}", "--dynamic_image_size", "16,16;12,20;8,4", f"--input_format={layout}"]
    model = Model(load(atc(path, *flags)))
    assert mdl.get_output_dims(model.desc, 1)[0]["dims"] == [2, 2, 16, 16]
    assert mdl.get_input_format(model.desc, 0) == ["NCHW", "NHWC"].index(layout)
    for height, width in ((8, 4), (12, 20), (16, 16)):
        assert mdl.set_dynamic_hw_size(model.id, model.inputs.handle, 1, height, width) == 0
        x = numbers(*[{"N": 2, "C": 3, "H": height, "W": width}[axis] for axis in layout])
        same(model(x), path, x)
        same(model.outputs.get(1, (2, 2, height, width)), path, x, output=1)
    model.close()


@pytest.fixture
def gathered(tmp_path):
    """Write a model with two inputs, one of integers, and two outputs: rows of a table and where they are largest."""
    nodes = [
        node("Gather", "table ids", "rows"),
        node("Add", "rows x", "y"),
        node("ArgMax", "y", "at", axis=-1, keepdims=0),
    ]
    return save(
        tmp_path / "gathered.onnx",
        nodes,
        {"ids": (INT64, ["n", "t"]), "x": (FLOAT, ["n", "t", 6])},
        {"y": (FLOAT, None), "at": (INT64, None)},
        {"table": numbers(9, 6)},
    )


@both
def test_dims_gears(gathered):
    """Two inputs, two outputs, integers."""
    flags = ["--input_shape=ids:-1,-1;x:-1,-1,6", "--dynamic_dims=1,3,1,3;2,5,2,5", "--input_format=ND"]
    model = Model(load(atc(gathered, *flags)))
    dims, ret = mdl.get_input_dynamic_dims(model.desc, -1, 2)
    assert ret == 0 and [each["dims"] for each in dims] == [[1, 3, 1, 3, 6], [2, 5, 2, 5, 6]]
    for row in dims:
        assert mdl.set_input_dynamic_dims(model.id, model.inputs.handle, 2, row) == 0
        shape = row["dims"][:2]
        ids, x = numpy.arange(shape[0] * shape[1]).reshape(shape) % 9, numbers(*shape, 6)
        same(model(ids, x), gathered, ids, x)
        same(model.outputs.get(1, shape, "i8"), gathered, ids, x, output=1)
    model.close()


@both
def test_shapes_that_only_a_run_tells(tmp_path):
    """Inference does not know an operator of onnxruntime's own."""
    nodes = [helper.make_node("Gelu", ["x"], ["g"], domain="com.microsoft"), node("Transpose", "g", "y")]
    path = save(tmp_path / "own.onnx", nodes, {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, None)})
    model = onnx.load(str(path))
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, str(path))
    model = Model(load(atc(path, "--input_shape=x:-1,3", "--dynamic_batch_size=2,4")))
    assert mdl.get_output_dims(model.desc, 0)[0]["dims"] == [3, 4]
    for batch in (2, 4):
        assert mdl.set_dynamic_batch_size(model.id, model.inputs.handle, 1, batch) == 0
        x = numbers(batch, 3)
        same(model(x), path, x)
    model.close()


@both
@pytest.mark.parametrize("flag", ["--input_shape=ids:1~4,5;x:1~4,5,6", "--input_shape_range=ids:[1~4,5];x:[1~-1,5,6]"])
def test_open_shapes(gathered, flag):
    model = load(atc(gathered, flag))
    desc = describe(model)
    assert mdl.get_input_dims_range(desc, 0) == ({"rangeCount": 2, "range": [[1, 4], [5, 5]]}, 0)
    assert mdl.get_output_dims(desc, 0)[0]["dims"] == [-1, 5, 6]
    inputs, outputs = Dataset([160, 480]), Dataset([480, 160])
    for batch in (1, 4, 2):
        ids, x = numpy.arange(5 * batch).reshape(batch, 5) % 9, numbers(batch, 5, 6)
        for place, array in enumerate((ids, x)):
            inputs.put(place, array)
            shape = acl.create_tensor_desc(9 if place == 0 else 0, list(array.shape), 2)
            assert mdl.set_dataset_tensor_desc(inputs.handle, shape, place)[1] == 0
            acl.destroy_tensor_desc(shape)
        assert mdl.execute(model, inputs.handle, outputs.handle) == 0, acl.get_recent_err_msg()
        found = mdl.get_dataset_tensor_desc(outputs.handle, 0)
        assert [acl.get_tensor_desc_dim_v2(found, axis)[0] for axis in range(3)] == [batch, 5, 6]
        same(outputs.get(0, (batch, 5, 6)), gathered, ids, x)
    inputs.close()
    outputs.close()
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)


@both
def test_an_output_whose_size_depends_on_the_data(tmp_path, capsys):
    path = save(tmp_path / "d.onnx", [node("NonZero", "x", "y")], {"x": (FLOAT, ["n"])}, {"y": (INT64, None)})
    model = load(atc(path, "--input_shape=x:4"))
    desc = describe(model)
    assert mdl.get_output_dims(desc, 0)[0]["dims"] == [1, -1]
    inputs, outputs = Dataset([16]), Dataset([32])
    for x in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 1, 1, 1]):
        inputs.put(0, numpy.array(x, "f4"))
        assert mdl.execute(model, inputs.handle, outputs.handle) == 0, acl.get_recent_err_msg()
        found = mdl.get_dataset_tensor_desc(outputs.handle, 0)
        assert [acl.get_tensor_desc_dim_v2(found, axis)[0] for axis in range(2)] == [1, numpy.count_nonzero(x)]
        assert outputs.get(0, (numpy.count_nonzero(x),), "i8").tolist() == numpy.flatnonzero(x).tolist()
    inputs.close()
    outputs.close()
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)
    flags = ["--framework=5", f"--model={path}", "--output=m", "--input_shape=x:-1", "--dynamic_batch_size=2,4"]
    assert "dims depend on the data" in says(capsys, *flags)


@both
def test_a_type_for_the_outputs(classifier):
    model = Model(load(atc(classifier, "--input_shape=x:1,3,8,8", "--output_type=FP16")))
    assert mdl.get_output_data_type(model.desc, 0) == 1 and mdl.get_output_size_by_index(model.desc, 0) == 20
    x = numbers(1, 3, 8, 8)
    model.inputs.put(0, x)
    assert model.execute() == 0
    wide = model.outputs.get(0, (1, 10), "f2").astype("f4")
    assert abs(wide.sum() - 1) < 0.01 and (wide > 0).all()
    model.close()


@both
def test_two_models_queued_on_streams(classifier, gathered, stream, other):
    first = Model(load(atc(classifier, "--input_shape=x:1,3,8,8")))
    second = Model(load(atc(gathered, "--input_shape=ids:1,4;x:1,4,6")))
    x, ids, more = numbers(1, 3, 8, 8), numpy.array([[8, 0, 3, 3]]), numbers(1, 4, 6)
    first.inputs.put(0, x)
    second.inputs.put(0, ids)
    second.inputs.put(1, more)
    for _ in range(20):
        assert (first.execute(stream), second.execute(other)) == (0, 0)
    assert (rt.synchronize_stream(stream), rt.synchronize_stream(other)) == (0, 0)
    same(first.outputs.get(0, (1, 10)), classifier, x)
    same(second.outputs.get(0, (1, 4, 6)), gathered, ids, more)
    first.close()
    second.close()


# --- what is refused


@pytest.mark.parametrize("way", ["beside"], indirect=True)
def test_what_a_run_raises_is_its_reason(classifier, way):
    shapes = [om.Tensor("x", (1, 3, 8, 9))], [om.Tensor("y", (1, 10))]
    content = om.write("m", *shapes, weights=classifier.read_bytes(), executor="onnx")
    model = Model(load_bytes(content)[0])
    for _ in range(2):
        refused(model.execute(), 507011, "aclmdlExecute", "Expected: 8")
    model.close()


SHAPE = "--input_shape=x:-1,3,8,8"
WRONG = [
    (["--model="], "--model=FILE is needed"),
    (["--output="], "--output=FILE is needed"),
    (["--model=nowhere.onnx"], "cannot read nowhere.onnx: No such file"),
    (["--output=nowhere/m", "--input_shape=x:1,3,8,8"], "cannot write nowhere/m.om: No such file"),
    (["--frobnicate=1"], "unrecognized arguments: --frobnicate=1"),
    (["--mode=1"], "--mode is not supported"),
    (["--input_format=NC1HWC0"], "expected one of NCHW, NHWC, ND"),
    ([], 'input x has dims [-1, 3, 8, 8], which must be specified: --input_shape="x:..."'),
    (["--input_shape=image:1,3,8,8"], "the model has no input image, its inputs are x"),
    (["--input_shape=1,3,8,8"], "expected a name before its dims"),
    (["--input_shape=x:1,three"], "'three' is not a valid size"),
    (["--input_shape=x:4~1,3,8,8"], "'4~1' is not a valid size"),
    (["--input_shape=x:1,3"], "input x has 4 dims in the model, and 2 in the flags"),
    (["--input_shape=x:1,3,10,10"], "onnxruntime cannot load the model"),
    ([SHAPE, "--dynamic_batch_size=1,b"], "'b', expected numbers above 0"),
    ([SHAPE, "--dynamic_batch_size=1"], "has 1 gears, expected 2 to 100"),
    ([SHAPE, "--dynamic_batch_size=1,2", "--dynamic_dims=1;2"], "exclude each other"),
    (["--input_shape=x:1~4,3,8,8", "--dynamic_batch_size=1,2"], "ranges of dims and gears exclude each other"),
    (["--input_shape=x:1,3,8,8", "--dynamic_batch_size=1,2"], "no input has a dynamic axis for the gears"),
    (["--input_shape=x:1,3,-1,8", "--dynamic_batch_size=1,2"], "-1 in the axes [2], and the gears are for [0]"),
    ([SHAPE, "--dynamic_image_size=8,8;9,9"], "the gears are for [2, 3]"),
    ([SHAPE, "--dynamic_image_size=8,8;9,9", "--input_format=ND"], "needs --input_format=NCHW or NHWC"),
    ([SHAPE, "--dynamic_dims=1,2;3,4"], "--dynamic_dims has 2 numbers per gear, expected 1"),
    ([SHAPE, "--dynamic_dims=1,2;3"], "gears of different lengths"),
]


def test_wrong_flags_have_a_sentence(classifier, capsys, monkeypatch):
    monkeypatch.chdir(classifier.parent)
    for flags, text in WRONG:
        assert text in says(capsys, "--framework=5", "--model=classifier.onnx", "--output=m", *flags), flags
    assert not (classifier.parent / "m.om").exists()


def test_wrong_files_have_a_sentence(tmp_path, capsys):
    bad = tmp_path / "bad.onnx"
    flags = ["--framework=5", f"--model={bad}", f"--output={tmp_path / 'bad'}"]
    for content in (b"", b"no model", bytes(100)):
        bad.write_bytes(content)
        assert "as an ONNX model" in says(capsys, *flags)
    save(bad, [node("Neg", "x", "y")], {"x": (TensorProto.BFLOAT16, [1])}, {"y": (TensorProto.BFLOAT16, [1])})
    assert "x is bfloat16" in says(capsys, *flags)
    save(bad, [node("Identity", "x", "y")], {"x": (TensorProto.STRING, [1])}, {"y": (TensorProto.STRING, [1])})
    assert "x has the type STRING" in says(capsys, *flags)
    save(bad, [node("SequenceConstruct", "x", "y")], {"x": (FLOAT, [1])}, {"y": (FLOAT, [1])})
    model = onnx.load(str(bad))
    model.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("y", FLOAT, None))
    onnx.save(model, str(bad))
    assert "y is bfloat16 or not a tensor" in says(capsys, *flags)


def test_a_file_that_onnxruntime_refuses(monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: seen.append(str(info.exc_value)))
    content = om.write("m", [om.Tensor("x", (1,))], [om.Tensor("y", (1,))], weights=b"no model", executor="onnx")
    refused(load_bytes(content)[1], 145000, "onnx", "InvalidProtobuf")
    assert len(seen) == 1 and "INVALID_PROTOBUF" in seen[0]


def test_bfloat16_is_refused(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: seen.append(str(info.exc_value)))
    tensors = [{name: (TensorProto.BFLOAT16, [4])} for name in "xy"]
    weights = save(tmp_path / "b.onnx", [node("Identity", "x", "y")], *tensors).read_bytes()
    content = om.write("b", [om.Tensor("x", (4,), 27)], [om.Tensor("y", (4,), 27)], weights=weights, executor="onnx")
    refused(load_bytes(content)[1], 145000, "onnx", "TypeError: the tensor x of the ONNX model is bfloat16")
    assert seen == ["the tensor x of the ONNX model is bfloat16, which NumPy does not have"]


def test_without_the_packages(classifier, run_script):
    """The load says what to install, and so does the command."""
    path = atc(classifier, "--input_shape=x:1,3,8,8")
    done = run_script(f"""
import sys
sys.modules["onnxruntime"] = sys.modules["onnx"] = None
import acl
from acl import __main__ as command
from acl._lib import ffi, lib
from acl.api import model_executors
acl.init(), acl.rt.set_device(0)
assert "numpy" not in sys.modules
print(acl.mdl.load_from_file({str(path)!r})[1])
print(command.main(["atc", "--framework=5", "--model=m", "--output=m"]))
""")
    assert done.stdout == "145000\n1\n", done.stderr
    assert "ONNX models need the package onnxruntime" in done.stderr
    assert "acl: atc: ONNX models need the package onnx" in done.stderr
    assert done.stderr.count("pip install 'ascendcl[onnx]'") == 2
