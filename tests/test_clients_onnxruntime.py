"""onnxruntime with its CANN provider, unmodified from the package index, on a toolkit of the simulator."""

import json
import sys

import numpy
import onnx
import pytest
from helpers.clients import SNIPPETS, Client
from onnx import TensorProto, helper, numpy_helper

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]

# Prints what each provider computes, and where the nodes of the first session ran.
RUN = """
import json
import numpy, onnxruntime
model, feeds = MODEL, FEEDS
feeds = {name: numpy.asarray(value, numpy.float32) for name, value in feeds.items()}
found = {}
for provider in ("CANNExecutionProvider", "CPUExecutionProvider"):
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    session = onnxruntime.InferenceSession(model, options, providers=[(provider, OPTIONS)
        if provider.startswith("CANN") else provider])
    outputs = [session.run(None, feeds) for _ in range(3)]
    with open(session.end_profiling()) as file:
        events = json.load(file)
    nodes = {event["args"]["provider"] for event in events if event.get("args", {}).get("provider")}
    found[provider] = {"providers": session.get_providers(), "ran": sorted(nodes),
                       "outputs": [[output.tolist() for output in run] for run in outputs]}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def onnxruntime(tmp_path_factory):
    return Client(tmp_path_factory.mktemp("onnxruntime"), "onnxruntime-cann==1.24.4", "numpy<2")


def tensor(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def save(path, nodes, inputs, outputs, weights=()):
    """Write an ONNX model."""
    constants = [numpy_helper.from_array(value, name) for name, value in weights]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def add(path):
    return save(path, [helper.make_node("Add", ["a", "b"], ["c"])], [tensor("a", 2, 3), tensor("b", 2, 3)],
                [tensor("c", 2, 3)])  # fmt: skip


def perceptron(path):
    """Write two layers with a Relu between them and a Softmax behind them."""
    random = numpy.random.default_rng(3)
    sizes = {"w1": (8, 16), "b1": (16,), "w2": (16, 4), "b2": (4,)}
    weights = [(name, random.standard_normal(size).astype("f4")) for name, size in sizes.items()]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h1"]),
        helper.make_node("Relu", ["h1"], ["h2"]),
        helper.make_node("Gemm", ["h2", "w2", "b2"], ["h3"]),
        helper.make_node("Softmax", ["h3"], ["y"], axis=-1),
    ]
    return save(path, nodes, [tensor("x", 5, 8)], [tensor("y", 5, 4)], weights)


def compare(client, model, feeds, **options):
    """Run a model on both providers and compare the numbers; return what the CANN provider gave first."""
    values = {name: value.tolist() for name, value in feeds.items()}
    code = f"MODEL, FEEDS, OPTIONS = {model!r}, {values!r}, {options!r}\n" + RUN
    found = json.loads(client.run(code, ACL_SIM_PYTHON=sys.executable).splitlines()[-1])
    cann, cpu = found["CANNExecutionProvider"], found["CPUExecutionProvider"]
    assert cann["providers"][0] == "CANNExecutionProvider"
    assert cann["ran"] == ["CANNExecutionProvider"] and cpu["ran"] == ["CPUExecutionProvider"]
    for ours, theirs in zip(cann["outputs"], cpu["outputs"]):
        for mine, other in zip(ours, theirs):
            numpy.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
    assert len(cann["outputs"]) == len(cpu["outputs"]) == 3
    return numpy.asarray(cann["outputs"][0][0])


# As compiled models, and as single operators.
@pytest.mark.parametrize("graph", ["1", "0"])
def test_add(onnxruntime, tmp_path, graph):
    a, b = numpy.arange(6, dtype="f4").reshape(2, 3), numpy.full((2, 3), 0.5, "f4")
    got = compare(onnxruntime, add(tmp_path / "add.onnx"), {"a": a, "b": b}, enable_cann_graph=graph)
    numpy.testing.assert_array_equal(got, a + b)


def test_multilayer_perceptron(onnxruntime, tmp_path):
    x = numpy.random.default_rng(4).standard_normal((5, 8)).astype("f4")
    got = compare(onnxruntime, perceptron(tmp_path / "mlp.onnx"), {"x": x}, enable_cann_graph="1")
    numpy.testing.assert_allclose(got.sum(axis=1), numpy.ones(5), rtol=1e-6)


def test_the_program_of_the_documentation(onnxruntime):
    add(onnxruntime.directory / "add.onnx")
    said = onnxruntime.run((SNIPPETS / "cann_provider.py").read_text(), ACL_SIM_PYTHON=sys.executable)
    assert said.splitlines()[-1] == "CANNExecutionProvider [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]"
