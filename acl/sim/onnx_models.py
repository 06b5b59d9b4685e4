"""ONNX models: files whose constant block is an ONNX model, which onnxruntime executes in this process."""

import importlib
from collections.abc import Callable
from typing import Any

from acl.sim import models


def package(name: str) -> Any:
    """Return an imported package of the extra ``onnx``.

    Raises
    ------
    ImportError
        With the command that installs it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"ONNX models need the package {name} ({error}): pip install 'ascendcl[onnx]'", name=name
        ) from None


def session_of(content: bytes) -> Any:
    """Return an inference session over the bytes of an ONNX model.

    It uses one thread: different streams already execute in parallel, and sums are always added in the same order.
    """
    runtime = package("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def open_model(content: bytes) -> Callable[..., Any]:
    """Return the function that executes an ONNX model; inputs and outputs are in the order of its graph."""
    session = session_of(content)
    for tensor in [*session.get_inputs(), *session.get_outputs()]:
        if tensor.type == "tensor(bfloat16)":
            raise TypeError(f"the tensor {tensor.name} of the ONNX model is bfloat16, which NumPy does not have")
    names = [tensor.name for tensor in session.get_inputs()]

    def run(*arrays: Any) -> Any:
        if len(arrays) != len(names):
            raise ValueError(f"the ONNX model has {len(names)} inputs, and the model file {len(arrays)}")
        return session.run(None, dict(zip(names, arrays)))

    return run


run = models.runner(open_model)
