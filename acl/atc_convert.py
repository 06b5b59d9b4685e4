"""Conversion of models of other frameworks to ONNX, for ``atc``.

TensorFlow's frozen graphs are converted by tf2onnx, the converter of the ONNX project, if it is installed. Caffe has no
maintained converter: its models are refused, and the error has the command of the newest converter.
"""

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Optional

from acl.atc_values import Refused

CAFFE, MINDSPORE, TENSORFLOW, ONNX = "0", "1", "3", "5"
FRAMEWORKS = {CAFFE: "Caffe", MINDSPORE: "MindSpore", TENSORFLOW: "TensorFlow", ONNX: "ONNX"}
OPSET = "17"


def converter() -> str:
    """Return the name of the module that converts TensorFlow graphs.

    Raises
    ------
    Refused
        It is not installed; the message has the commands that install and run it.
    """
    if importlib.util.find_spec("tf2onnx") is None:
        raise Refused(
            "TensorFlow models need the package tf2onnx: pip install tf2onnx tensorflow, or convert the model "
            "elsewhere: python -m tf2onnx.convert --graphdef net.pb --inputs x:0 --outputs y:0 --output net.onnx, "
            "then atc --framework=5 --model=net.onnx"
        )
    return "tf2onnx.convert"


def refuse_caffe(model: str, weight: Optional[str]) -> None:
    """Refuse a Caffe model with the command that converts it."""
    stem = os.path.splitext(os.path.basename(model))[0]
    weight = weight or f"{stem}.caffemodel"
    raise Refused(
        "Caffe models are not supported, as there is no maintained converter to ONNX. In a separate environment: "
        f"pip install caffe-onnx, caffe2onnx {model} {weight} {stem} . and then atc --framework=5 --model={stem}.onnx"
    )


def tensors(names: Sequence[str]) -> str:
    """Return node names as tf2onnx expects them: with the index of an output."""
    return ",".join(name if ":" in name else f"{name}:0" for name in names)


def check_framework(framework: Optional[str]) -> None:
    """Refuse an unknown framework, or one whose models cannot be converted to ONNX."""
    if framework not in FRAMEWORKS:
        known = ", ".join(f"{number} ({name})" for number, name in FRAMEWORKS.items())
        raise Refused(f"--framework={'' if framework is None else framework} is not supported, expected one of {known}")
    if framework == MINDSPORE:
        raise Refused(
            "MindSpore models are not supported: write the model as ONNX with mindspore.export(network, inputs, "
            'file_name="net", file_format="ONNX"), then atc --framework=5 --model=net.onnx'
        )


@contextlib.contextmanager
def onnx_file(
    framework: str, model: str, weight: Optional[str], inputs: Sequence[str], outputs: Sequence[str]
) -> Iterator[str]:
    """Yield the path of an ONNX file for a model, which is converted if necessary.

    ``inputs`` and ``outputs`` are names of nodes, which the graphs of TensorFlow do not contain.
    """
    if framework == ONNX:
        yield model
        return
    if framework == CAFFE:
        refuse_caffe(model, weight)
    module = converter()
    if not inputs or not outputs:
        raise Refused('TensorFlow models need the names of their inputs and outputs: --input_shape="x:1,224,224,3" '
                      '--out_nodes="y:0"')  # fmt: skip
    if not os.path.isfile(model):
        raise Refused(f"cannot read {model}: No such file or directory")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "model.onnx")
        command = [sys.executable, "-m", module, "--graphdef", model, "--output", path, "--opset", OPSET,
                   "--inputs", tensors(inputs), "--outputs", tensors(outputs)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0 or not os.path.exists(path):
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise Refused(f"tf2onnx cannot convert {model}: {lines[-1] if lines else 'it printed nothing'}")
        yield path
