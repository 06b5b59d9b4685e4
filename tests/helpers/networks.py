"""ONNX networks that tests compile and run."""

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from acl import __main__ as command

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).normal(0, 0.3, shape).astype("f4")


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs.split(), output.split(), **attributes)


def save(path, nodes, inputs, outputs, weights=(), opset=17):
    """Write a model; inputs and outputs are ``name: (type, dims)``, weights ``name: array``."""
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info(name, *what) for name, what in inputs.items()],
        [helper.make_tensor_value_info(name, *what) for name, what in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in dict(weights).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


def save_classifier(directory):
    """Write a small classifier of images; its first weights are listed as an input."""
    nodes = [
        node("Conv", "x w", "conv", pads=[1] * 4),
        node("Relu", "conv", "relu"),
        node("MaxPool", "relu", "pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", "pool", "flat"),
        node("MatMul", "flat f", "product"),
        node("Add", "product b", "sum"),
        node("Softmax", "sum", "y", axis=1),
    ]
    weights = {"w": numbers(4, 3, 3, 3), "f": numbers(64, 10, seed=1), "b": numbers(10, seed=2)}
    inputs = {"x": (FLOAT, ["n", 3, 8, 8]), "w": (FLOAT, [4, 3, 3, 3])}
    return save(directory / "classifier.onnx", nodes, inputs, {"y": (FLOAT, ["n", 10])}, weights)


def atc(path, *flags):
    """Compile a model in this process; return the path of the file."""
    output = path.with_suffix(".om")
    assert command.main(["atc", "--framework=5", f"--model={path}", f"--output={output}", *flags]) == 0
    return output


def says(capsys, *flags):
    """Return the error message of a command that must fail."""
    capsys.readouterr()
    assert command.main(["atc", *flags]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("acl: atc: ") and err.count("\n") == 1
    return err


def same(result, path, *arrays, output=0):
    """Compare an output with onnxruntime's for the same inputs."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [tensor.name for tensor in session.get_inputs()]
    expected = session.run(None, dict(zip(names, arrays)))[output]
    assert result.shape == expected.shape and result.dtype == expected.dtype
    numpy.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
