"""The flags of the command ``atc``: what they change in a model, and what they refuse."""

import sys

import numpy
import onnx
import onnxruntime
import pytest
from helpers.expect import refused
from helpers.models import Model, initialise, load
from helpers.networks import FLOAT, INT64, atc, node, numbers, save, save_classifier, says
from onnx import TensorProto

import acl
from acl import atc_convert, atc_values
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
SHAPE = "--input_shape=x:1,3,8,8"
HALF, UINT8 = 1, 4
pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def classifier(tmp_path):
    return save_classifier(tmp_path)


def tensor_of(path, name, x):
    """Return what onnxruntime computes for a tensor inside a model."""
    model = onnx.load(str(path))
    del model.graph.output[:]
    model.graph.output.add().name = name
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


# --- sizes


def test_sizes_that_programs_allocate(classifier):
    """No allocation has 0 bytes, so both sizes are above; a load with memory of these sizes runs."""
    path = atc(classifier, SHAPE)
    work, weight, ret = mdl.query_size(str(path))
    assert ret == 0 and work >= 3 * 8 * 8 * 4 + 10 * 4 and weight >= classifier.stat().st_size // 2
    memory = [rt.malloc(size, 0) for size in (work, weight)]
    assert [ret for _, ret in memory] == [0, 0]
    number, ret = mdl.load_from_file_with_mem(str(path), memory[0][0], work, memory[1][0], weight)
    assert ret == 0, acl.get_recent_err_msg()
    refused(mdl.load_from_file_with_mem(str(path), memory[0][0], work - 1, 0, 0)[1], 145000, f"at least {work}")
    model = Model(number)
    x = numbers(1, 3, 8, 8)
    numpy.testing.assert_allclose(model(x), tensor_of(classifier, "y", x), rtol=1e-5)
    model.close()
    for address, _ in memory:
        assert rt.free(address) == 0


def test_a_model_for_another_chip_says_how_to_run_it(classifier):
    path = atc(classifier, SHAPE, "--soc_version=Ascend310")
    number, ret = mdl.load_from_file(str(path))
    refused(ret, 145000, "built for Ascend310", "run with ACL_SIM_SOC=Ascend310")


# --- outputs and types


@pytest.mark.parametrize("text", ["relu_node:0;sum", "relu;sum"], ids=["nodes", "tensors"])
def test_outputs_inside_the_model(classifier, text):
    """As nodes with the index of an output, or as tensors, in the order of the flag."""
    model = onnx.load(str(classifier))
    model.graph.node[1].name = "relu_node"
    onnx.save(model, str(classifier))
    made = Model(load(atc(classifier, SHAPE, f"--out_nodes={text}")))
    assert [mdl.get_output_name_by_index(made.desc, place) for place in range(2)] == ["relu", "sum"]
    x = numbers(1, 3, 8, 8)
    numpy.testing.assert_allclose(made(x), tensor_of(classifier, "relu", x), rtol=1e-4, atol=1e-6)
    numpy.testing.assert_allclose(made.outputs.get(1, (1, 10)), tensor_of(classifier, "sum", x), rtol=1e-5, atol=1e-6)
    made.close()


def test_inputs_in_half_precision(classifier):
    made = Model(load(atc(classifier, SHAPE, "--input_fp16_nodes=x")))
    assert mdl.get_input_data_type(made.desc, 0) == HALF
    assert mdl.get_input_size_by_index(made.desc, 0) == 2 * 3 * 8 * 8
    x = numbers(1, 3, 8, 8).astype("f2")
    numpy.testing.assert_allclose(made(x), tensor_of(classifier, "y", x.astype("f4")), rtol=1e-5)
    made.close()


@pytest.mark.parametrize("opset", [9, 17])
def test_outputs_as_bytes(tmp_path, opset):
    """Fractions are cut; what no byte holds becomes 0 or 255."""
    path = save(tmp_path / "s.onnx", [node("Neg", "x", "y")], {"x": (FLOAT, [6])}, {"y": (FLOAT, [6])}, opset=opset)
    made = Model(load(atc(path, "--output_type=UINT8")))
    assert mdl.get_output_data_type(made.desc, 0) == UINT8 and mdl.get_output_size_by_index(made.desc, 0) == 6
    assert made(numpy.array([-1.9, -254.5, -300, 5, -1e30, 0], "f4")).tolist() == [1, 254, 255, 0, 255, 0]
    made.close()


def test_a_type_for_one_output(tmp_path):
    """Also of an output that another operator reads."""
    nodes = [node("Neg", "x", "y", name="first"), node("Abs", "y", "z", name="second")]
    path = save(tmp_path / "two.onnx", nodes, {"x": (FLOAT, [3])}, {"y": (FLOAT, [3]), "z": (FLOAT, [3])})
    made = Model(load(atc(path, "--output_type=first:0:FP16")))
    assert [mdl.get_output_data_type(made.desc, place) for place in range(2)] == [HALF, 0]
    assert made(numpy.array([1, 2, 3], "f4")).tolist() == [-1, -2, -3]
    assert made.outputs.get(1, 3).tolist() == [1, 2, 3]
    made.close()


def test_outputs_and_types_together(classifier):
    flags = ["--out_nodes=relu", "--output_type=FP16", "--input_fp16_nodes=x", "--input_shape=x:-1,3,8,8",
             "--dynamic_batch_size=1,2"]  # fmt: skip
    made = Model(load(atc(classifier, *flags)))
    assert mdl.set_dynamic_batch_size(made.id, made.inputs.handle, 1, 2) == 0
    x = numbers(2, 3, 8, 8).astype("f2")
    expected = tensor_of(classifier, "relu", x.astype("f4")).astype("f2")
    numpy.testing.assert_allclose(made(x), expected, rtol=1e-3)
    made.close()


# --- what is refused

WRONG = [
    (["--out_nodes=nowhere:0"], "--out_nodes has 'nowhere:0', expected a node with the index of an output"),
    (["--out_nodes=;"], "--out_nodes is empty"),
    (["--out_nodes=relu;relu"], "names an output twice"),
    (["--input_fp16_nodes=w"], "--input_fp16_nodes has 'w', expected one of x"),
    (["--output_type=FP64"], "--output_type=FP64 is not supported, expected one of FP32, FP16, UINT8"),
    (["--output_type=conv:FP16"], "--output_type has 'conv', expected one of the outputs: y"),
    (["--soc_version=Ascend999"], "--soc_version=Ascend999 is not supported, expected one of Ascend310, "),
    (["--precision_mode=fast"], "--precision_mode=fast is not supported, expected one of force_fp16, force_fp32, "),
    (["--precision_mode_v2=fast"], "expected one of fp16, origin, "),
    (["--log=loud"], "--log=loud is not supported, expected one of debug, info, warning, error, null"),
    (["--deterministic=2"], "--deterministic=2 is not supported, expected one of 0, 1"),
    (["--deterministic"], "--deterministic= is not supported, expected one of 0, 1"),
    (["--op_select_implmode=x"], "expected one of high_performance, high_precision, "),
    (["--aicore_num=-1"], "--aicore_num=-1 is not supported, expected a number above 0"),
    (["--fusion_switch_file=none.cfg"], "--fusion_switch_file=none.cfg is not an existing file"),
    (["--insert_op_conf=none.cfg"], "--insert_op_conf=none.cfg is not an existing file"),
    (["--weight=w.caffemodel"], "--weight is not supported: an ONNX model contains its weights"),
    (["--framework=7"], "--framework=7 is not supported, expected one of 0 (Caffe), 1 (MindSpore), 3 (TensorFlow), 5"),
    (["--framework=1"], 'file_format="ONNX")'),
    (["--framework=0", "--model=net.prototxt", "--weight=n.caffemodel"], "caffe2onnx net.prototxt n.caffemodel net ."),
    (["--input_shape=x:99999999999,3,8,8"], "input x has a dim of 99999999999, expected at most 2147483647"),
    (["--input_shape=x:2147483647,3,8,8"], "bytes with its dims [2147483647, 3, 8, 8], expected at most 1099511627776"),
    (["--input_shape=x:1~2147483647,3,80,80"], "expected at most 1099511627776"),
    ([f"--input_shape=x:{'9' * 5000}"], "is not a valid size"),
    (["--input_shape=x:1,3,8,8;x:2,3,8,8"], "two shapes for the input x"),
    (["--input_shape=x:-1,3,8,8", "--dynamic_batch_size=4,1,4"], "--dynamic_batch_size has the gear 4 twice"),
    (["--input_shape=x:1,3,-1,-1", "--dynamic_image_size=8,8;8,8"], "has the gear 8,8 twice"),
    (["--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,99999999999"], "has a dim of 99999999999"),
    (["--input_shape=x:1,4,8,8"], "the model does not run with [[1, 4, 8, 8]]"),
]


@pytest.mark.parametrize(("flags", "text"), WRONG, ids=[flags[-1][:40] for flags, _ in WRONG])
def test_a_wrong_value_has_a_sentence(classifier, capsys, monkeypatch, flags, text):
    """With the values that are known."""
    monkeypatch.chdir(classifier.parent)
    flags = flags if any("input_shape" in flag for flag in flags) else [SHAPE, *flags]
    assert text in says(capsys, "--framework=5", "--model=classifier.onnx", "--output=m", *flags)
    assert not (classifier.parent / "m.om").exists()


def test_too_many_dims_have_a_sentence(tmp_path, capsys):
    path = save(tmp_path / "deep.onnx", [node("Neg", "x", "y")], {"x": (FLOAT, [1] * 9)}, {"y": (FLOAT, None)})
    flags = ["--framework=5", f"--model={path}", f"--output={tmp_path / 'deep'}"]
    assert "input x has 9 dims, expected at most 8" in says(capsys, *flags)
    nodes = [node("Unsqueeze", "x axes", "y")]
    path = save(path, nodes, {"x": (FLOAT, [1] * 8)}, {"y": (FLOAT, None)}, {"axes": numpy.array([0])})
    assert "output y has 9 dims, expected at most 8" in says(capsys, *flags)


def test_an_output_larger_than_any_device_has_a_sentence(tmp_path, capsys):
    nodes = [node("Expand", "x shape", "y")]
    shape = {"shape": numpy.array([2**20, 2**20, 2**20])}
    path = save(tmp_path / "wide.onnx", nodes, {"x": (FLOAT, [1])}, {"y": (FLOAT, None)}, shape)
    assert "output y has" in says(capsys, "--framework=5", f"--model={path}", f"--output={tmp_path / 'wide'}")


def test_an_integer_input_is_not_a_half(tmp_path, capsys):
    path = save(tmp_path / "i.onnx", [node("Neg", "x", "y")], {"x": (INT64, [1])}, {"y": (INT64, [1])})
    flags = ["--framework=5", f"--model={path}", f"--output={tmp_path / 'i'}", "--input_fp16_nodes=x"]
    assert "--input_fp16_nodes has x, whose type is INT64, expected FLOAT" in says(capsys, *flags)


def test_the_chips_are_those_of_the_simulator():
    acl.sim.reset()
    with pytest.raises(ValueError) as failure:
        acl.sim.configure(soc="none")
    assert rt.set_device(0) == 0
    known = str(failure.value).split("expected ")[1].split(" (100000")[0].split(", ")
    assert list(atc_values.CHIPS) == known


def test_known_values_are_accepted(classifier):
    """The first and the last of each flag."""
    names = sorted(set(atc_values.KNOWN) - {"soc_version", "is_input_adjust_hw_layout", "is_output_adjust_hw_layout"})
    for place in (0, -1):
        atc(classifier, SHAPE, *(f"--{name}={atc_values.KNOWN[name][place]}" for name in names))


# --- other frameworks


FAKE = """
import argparse, shutil, sys
flags = argparse.ArgumentParser()
for name in ("graphdef", "output", "opset", "inputs", "outputs"):
    flags.add_argument(f"--{name}", required=True)
args = flags.parse_args()
if "bad" in args.inputs:
    sys.exit("ValueError: graph has no bad")
assert (args.inputs, args.outputs) == ("x:0", "y:0"), args
shutil.copy(args.graphdef, args.output)
"""


@pytest.fixture
def tf2onnx(tmp_path, monkeypatch):
    """A converter that takes the flags of tf2onnx, and gives an ONNX file as it would."""
    package = tmp_path / "packages" / "tf2onnx"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "convert.py").write_text(FAKE)
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    inputs, outputs = {"x:0": (FLOAT, ["n", 2])}, {"y:0": (FLOAT, ["n", 2])}
    yield save(tmp_path / "net.pb", [node("Neg", "x:0", "y:0")], inputs, outputs)
    sys.modules.pop("tf2onnx", None)


def test_graphs_of_tensorflow_go_through_tf2onnx(tf2onnx):
    """Inputs keep the names of their nodes; images are NHWC by default."""
    made = Model(load(atc(tf2onnx, "--framework=3", "--input_shape=x:1,2", "--out_nodes=y:0")))
    assert mdl.get_input_name_by_index(made.desc, 0) == "x"
    assert made(numpy.array([[1, 2]], "f4")).tolist() == [[-1, -2]]
    made.close()


def test_what_tf2onnx_refuses_has_a_sentence(tf2onnx, capsys):
    flags = ["--framework=3", f"--model={tf2onnx}", "--output=m"]
    assert '--input_shape="x:1,224,224,3" --out_nodes="y:0"' in says(capsys, *flags)
    assert "--out_nodes" in says(capsys, *flags, "--input_shape=x:1,2")
    text = says(capsys, *flags, "--input_shape=bad:1,2", "--out_nodes=y")
    assert "tf2onnx cannot convert" in text and "ValueError: graph has no bad" in text
    flags[1] = "--model=nowhere.pb"
    assert "cannot read nowhere.pb" in says(capsys, *flags, "--input_shape=x:1,2", "--out_nodes=y")


def test_without_tf2onnx_the_command_is_told(capsys, monkeypatch):
    monkeypatch.setattr(atc_convert.importlib.util, "find_spec", lambda name: None)
    text = says(capsys, "--framework=3", "--model=net.pb", "--output=m")
    assert "pip install tf2onnx" in text and "python -m tf2onnx.convert --graphdef" in text


def test_bytes_of_halves(tmp_path):
    kind = TensorProto.FLOAT16
    path = save(tmp_path / "h.onnx", [node("Neg", "x", "y")], {"x": (kind, [2])}, {"y": (kind, [2])})
    made = Model(load(atc(path, "--output_type=UINT8")))
    assert made(numpy.array([-7.5, 3], "f2")).tolist() == [7, 0]
    made.close()


def test_layouts_that_are_left_alone(classifier, capsys):
    """The default of a flag that is refused otherwise."""
    atc(classifier, SHAPE, "--is_input_adjust_hw_layout=false")
    flags = ["--framework=5", f"--model={classifier}", "--output=m", SHAPE]
    assert "have the layout of the ONNX graph" in says(capsys, *flags, "--is_input_adjust_hw_layout=true")


def test_files_of_other_tools_have_sizes_as_well():
    content = om.write("m", [om.Tensor("x", (1,))], [om.Tensor("y", (200,))])
    assert mdl.query_size_from_mem(acl.util.bytes_to_ptr(content), len(content)) == (512 + 1024, 0, 0)
