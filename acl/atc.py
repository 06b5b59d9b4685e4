"""The compiler of models: what it makes of an ONNX file, the simulator runs by onnxruntime.

Its flags are those of the vendor's Ascend Tensor Compiler.
"""

import argparse
import contextlib
import math
import os
import re
import sys
from typing import Any, NamedTuple, Optional

import numpy

from acl import files
from acl.sim import models, om, onnx_models

FRAMEWORKS = {"0": "Caffe", "1": "MindSpore", "3": "TensorFlow"}
FORMATS = {name: code for code, name in om.FORMATS.items()}
IMAGE_AXES = {"NCHW": [2, 3], "NHWC": [1, 2]}
OUTPUT_TYPES = {"FP32": 0, "FP16": 1}
GEAR_FLAGS = {"dynamic_batch_size": om.BATCH, "dynamic_image_size": om.HW, "dynamic_dims": om.DIMS}
GEARS = range(2, 101)

# What is tuned for a chip, logged or checked does not change what the simulator computes.
IGNORED = (
    "ac_parallel_enable", "aicore_num", "atomic_clean_policy", "auto_tune_mode", "buffer_optimize", "check_report",
    "compress_weight_conf", "core_type", "debug_dir", "deterministic", "disable_reuse_memory",
    "enable_compress_weight", "enable_scope_fusion_passes", "enable_single_stream", "enable_small_channel",
    "external_weight", "fusion_switch_file", "host_env_cpu", "host_env_os", "log", "mdl_bank_path", "op_bank_path",
    "op_compiler_cache_dir", "op_compiler_cache_mode", "op_debug_config", "op_debug_level", "op_precision_mode",
    "op_select_implmode", "optypelist_for_implmode", "precision_mode", "precision_mode_v2", "quant_dumpable",
    "save_original_model", "sparsity", "status_check", "tiling_schedule_optimize", "virtual_type",
)  # fmt: skip
REFUSED = {
    "insert_op_conf": "preprocessing of images (AIPP) is not simulated",
    "out_nodes": "the outputs are those of the ONNX graph",
    "input_fp16_nodes": "the inputs have the types of the ONNX graph",
    "is_input_adjust_hw_layout": "the inputs have the layout of the ONNX graph",
    "is_output_adjust_hw_layout": "the outputs have the layout of the ONNX graph",
    "compression_optimize_conf": "weights are not quantised",
    "customize_dtypes": "operators have the types of the ONNX graph",
    "keep_dtype": "operators have the types of the ONNX graph",
    "weight": "an ONNX model brings its weights",
    "singleop": "only models are compiled",
    "mode": "only models are compiled",
    "om": "only models are compiled",
    "json": "only models are compiled",
}


class Refused(ValueError):
    """A sentence that says why there is no model file."""


class Dim(NamedTuple):
    """The sizes that an axis may have; ``most`` is -1 where there is no bound."""

    least: int
    most: int

    @property
    def size(self) -> int:
        """The one size, or -1."""
        return self.least if self.least == self.most else -1


OPEN = Dim(0, -1)
Shape = list[Dim]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences for the command to print."""

    def error(self, message: str) -> Any:
        """Refuse the command line."""
        raise Refused(message)


def parser() -> Parser:
    """Return the parser of the flags."""
    flags = Parser(prog="ascendcl atc", description=__doc__, allow_abbrev=False, add_help=False)
    flags.add_argument("--help", "--h", action="help", help="show this text")
    flags.add_argument("--framework", help="5: ONNX")
    flags.add_argument("--model", metavar="FILE", help="the ONNX file")
    flags.add_argument("--output", metavar="FILE", help="the file to write; .om is added where it lacks")
    flags.add_argument("--input_shape", metavar='"x:1,3,-1,-1;y:1~8,2"', help="dims of inputs; -1 and ranges are open")
    flags.add_argument("--input_shape_range", metavar='"x:[1~8,3,-1]"', help="the same, in the older form")
    flags.add_argument("--dynamic_batch_size", metavar='"1,4,8"', help="sizes of the first axis")
    flags.add_argument("--dynamic_image_size", metavar='"16,16;32,48"', help="heights and widths")
    flags.add_argument("--dynamic_dims", metavar='"1,16;4,32"', help="sizes of all -1 of --input_shape, in their order")
    flags.add_argument("--input_format", default="NCHW", help="NCHW (default), NHWC or ND")
    flags.add_argument("--output_type", help="type of all outputs: FP32 or FP16 (default: the model's)")
    flags.add_argument("--soc_version", default="", help="the chip that may load the file (default: any)")
    for name in (*IGNORED, *REFUSED):
        flags.add_argument(f"--{name}", nargs="?", const="", help=argparse.SUPPRESS)
    return flags


def spelled(argument: str) -> str:
    """Return an argument with its flag as it is documented: one dash, or dashes inside, are taken as well."""
    found = re.match(r"--?([A-Za-z][\w-]*)(.*)", argument, re.DOTALL)
    return argument if found is None else f"--{found[1].replace('-', '_')}{found[2]}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the flags, or refuse them."""
    flags = parser().parse_args([spelled(argument) for argument in arguments])
    if flags.mode == "0":
        flags.mode = None
    for name, reason in REFUSED.items():
        if getattr(flags, name) is not None:
            raise Refused(f"--{name} is not supported: {reason}")
    if flags.framework != "5":
        what = FRAMEWORKS.get(flags.framework)
        reason = "only ONNX models are compiled" if what is None else f"{what} models are not supported, only ONNX"
        raise Refused(f"{reason}: --framework=5")
    for name in ("model", "output"):
        if not getattr(flags, name):
            raise Refused(f"--{name}=FILE is needed")
    for name, known in (("input_format", FORMATS), ("output_type", OUTPUT_TYPES)):
        value = getattr(flags, name)
        if value is not None and value not in known:
            raise Refused(f"--{name}={value} is not supported, expected one of {', '.join(known)}")
    return flags


# --- shapes and gears


def dim_of(text: str) -> Dim:
    """Return a size, a range, or -1, as given in a shape."""
    least, tilde, most = text.strip().partition("~")
    if not tilde:
        return OPEN if least == "-1" else Dim(positive(least), positive(least))
    dim = Dim(positive(least), -1 if most == "-1" else positive(most))
    if 0 < dim.most < dim.least:
        raise ValueError(text)
    return dim


def positive(text: str) -> int:
    """Return a number above 0."""
    if not re.fullmatch(r"\s*[0-9]+\s*", text) or int(text) == 0:
        raise ValueError(text)
    return int(text)


def given_shapes(flags: argparse.Namespace) -> dict[str, Shape]:
    """Return the shapes of the flags by the names of inputs."""
    found: dict[str, Shape] = {}
    for flag in ("input_shape", "input_shape_range"):
        for part in filter(None, (getattr(flags, flag) or "").split(";")):
            name, colon, dims = part.strip().rpartition(":")
            dims = re.sub(r"^\[(.*)\]$", r"\1", dims.strip())
            try:
                found[name] = [dim_of(text) for text in dims.split(",")] if dims else []
            except ValueError as error:
                raise Refused(f"--{flag} has {part!r}, of which {str(error)!r} is no size") from None
            if not colon:
                raise Refused(f"--{flag} has {part!r}, expected a name before its dims: x:1,3,224,224")
    return found


def own_shape(tensor: Any) -> Optional[Shape]:
    """Return the shape of an input or output of the graph; None if its number of axes is unknown."""
    content = tensor.type.tensor_type
    if not content.HasField("shape"):
        return None
    sizes = [dim.dim_value if dim.HasField("dim_value") else 0 for dim in content.shape.dim]
    return [Dim(size, size) if size > 0 else OPEN for size in sizes]


def shape_of(tensor: Any, given: dict[str, Shape], gears: bool) -> Shape:
    """Return the shape of an input: what is given, else its own."""
    own, name = own_shape(tensor), tensor.name
    shape = given.get(name, own)
    if shape is None or (name not in given and OPEN in shape and not gears):
        dims = "unknown dims" if own is None else f"dims {[dim.size for dim in own]}"
        advice = " or --dynamic_batch_size, --dynamic_image_size, --dynamic_dims" if own else ""
        raise Refused(f'input {name} has {dims}, which have to be given: --input_shape="{name}:..."{advice}')
    if own is not None and len(shape) != len(own):
        raise Refused(f"input {name} has {len(own)} dims in the model, and {len(shape)} in the flags")
    return shape


def rows_of(flags: argparse.Namespace) -> Optional[om.Gears]:
    """Return the gears of the flags, if any; the outputs are not known yet."""
    chosen = [flag for flag in GEAR_FLAGS if getattr(flags, flag)]
    if len(chosen) > 1:
        raise Refused(f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if not chosen:
        return None
    flag, text = chosen[0], getattr(flags, chosen[0])
    kind = GEAR_FLAGS[flag]
    try:
        rows = [
            [positive(value) for value in row.split(",")]
            for row in filter(None, text.split("," if kind == om.BATCH else ";"))
        ]
    except ValueError as error:
        raise Refused(f"--{flag} has {str(error)!r}, expected numbers above 0") from None
    if len(rows) not in GEARS:
        raise Refused(f"--{flag} has {len(rows)} gears, expected {GEARS[0]} to {GEARS[-1]}")
    width = 2 if kind == om.HW else len(rows[0])
    if any(len(row) != width for row in rows):
        raise Refused(f"--{flag} has gears of different lengths, expected {width} numbers each")
    return om.Gears(kind, rows)


def check_gears(gears: om.Gears, inputs: list[om.Tensor], image_format: str) -> None:
    """Refuse gears that do not fit the open axes of the inputs."""
    if any(tensor.ranges for tensor in inputs):
        raise Refused("ranges of dims and gears exclude each other")
    open_axes = {tensor.name: [axis for axis, dim in enumerate(tensor.dims) if dim < 0] for tensor in inputs}
    count = sum(map(len, open_axes.values()))
    if count == 0:
        raise Refused('no input has an axis for the gears: --input_shape="x:-1,..."')
    if gears.kind == om.DIMS:
        if count != len(gears.values[0]):
            raise Refused(f"the inputs have {count} open dims, and a gear of --dynamic_dims {len(gears.values[0])}")
        return
    if gears.kind == om.HW and image_format not in IMAGE_AXES:
        raise Refused("--dynamic_image_size needs --input_format=NCHW or NHWC")
    wanted = [0] if gears.kind == om.BATCH else IMAGE_AXES[image_format]
    for name, axes in open_axes.items():
        if axes not in ([], wanted):
            raise Refused(f"input {name} has -1 in the axes {axes}, and the gears are for {wanted}: --dynamic_dims?")


# --- the graph


def first_line(error: Exception) -> str:
    """Return what an error says, without its details."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class Graph:
    """An ONNX model whose inputs get shapes."""

    def __init__(self, path: str) -> None:
        self.onnx = onnx_models.package("onnx")
        try:
            self.model = self.onnx.load(path)
        except OSError as error:
            raise Refused(f"cannot read {path}: {error.strerror or error}") from None
        except Exception as error:  # protobuf's, and onnx's own for weights in other files
            raise Refused(f"cannot read {path} as an ONNX model: {first_line(error)}") from None
        graph = self.model.graph
        if not graph.output:
            raise Refused(f"cannot read {path} as an ONNX model: it has no outputs")
        # Older graphs list their weights as inputs; the first version that need not do so lets them be constants.
        self.model.ir_version = max(self.model.ir_version, 4)
        weights = {tensor.name for tensor in graph.initializer}
        for tensor in [tensor for tensor in graph.input if tensor.name in weights]:
            graph.input.remove(tensor)
        self.inputs = list(graph.input)
        # Shapes that were found for others than those to come would contradict them.
        del graph.value_info[:]
        for tensor in graph.output:
            if tensor.type.HasField("tensor_type"):
                tensor.type.tensor_type.ClearField("shape")
        self.session: Any = None

    def type_of(self, tensor: Any) -> int:
        """Return the data type of an input or output."""
        code = tensor.type.tensor_type.elem_type
        names = self.onnx.TensorProto.DataType
        if tensor.type.WhichOneof("value") != "tensor_type" or code == names.Value("BFLOAT16"):
            raise Refused(f"{tensor.name} is bfloat16 or no tensor, which is not supported")
        try:
            return models.CODES[self.onnx.helper.tensor_dtype_to_np_dtype(code)]
        except KeyError:
            raise Refused(f"{tensor.name} has the type {names.Name(code)}, which is not supported") from None

    def shape(self, shapes: list[list[int]]) -> None:
        """Give the inputs these dims; -1 is open."""
        for tensor, dims in zip(self.inputs, shapes):
            shape = tensor.type.tensor_type.shape
            del shape.dim[:]
            for size in dims:
                dim = shape.dim.add()
                if size >= 0:
                    dim.dim_value = size

    def open(self, shapes: list[list[int]]) -> bytes:
        """Return the bytes of the model for inputs of these dims, which onnxruntime takes."""
        self.shape(shapes)
        try:
            content = bytes(self.model.SerializeToString())
            self.session = onnx_models.session_of(content)
        except ImportError:
            raise
        except Exception as error:  # onnxruntime has one for each of its codes
            raise Refused(f"onnxruntime does not take the model: {first_line(error)}") from None
        return content

    def outputs(self, shapes: list[list[int]]) -> list[list[int]]:
        """Return the dims of the outputs for fixed dims of the inputs, -1 where they depend on the data."""
        self.shape(shapes)
        found = self.inferred()
        if not any(shape is None or OPEN in shape for shape in found):
            return [[dim.size for dim in shape or []] for shape in found]
        zeros = ones = [array.shape for array in self.run(shapes, 0)]
        with contextlib.suppress(Refused):  # indices may be beyond an end
            ones = [array.shape for array in self.run(shapes, 1)]
        return [[a if a == b else -1 for a, b in zip(*pair)] for pair in zip(zeros, ones)]

    def open_outputs(self, shapes: list[list[int]]) -> list[list[int]]:
        """Return the dims of the outputs, -1 where they are open."""
        self.shape(shapes)
        found = self.inferred()
        if None not in found:
            return [[dim.size for dim in shape or []] for shape in found]
        return [[-1] * array.ndim for array in self.run([[abs(size) for size in dims] for dims in shapes], 0)]

    def inferred(self) -> list[Optional[Shape]]:
        """Return the shapes of the outputs as far as they follow from the graph."""
        try:
            graph = self.onnx.shape_inference.infer_shapes(self.model, data_prop=True).graph
        except Exception:  # a graph that is too large, or that only onnxruntime understands
            graph = self.model.graph
        return [own_shape(tensor) for tensor in graph.output]

    def run(self, shapes: list[list[int]], value: int) -> Any:
        """Return the outputs for inputs of these dims that are full of a value."""
        kinds = [self.onnx.helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type) for tensor in self.inputs]
        arrays = [numpy.full(dims, value, kind) for dims, kind in zip(shapes, kinds)]
        try:
            return self.session.run(None, {tensor.name: array for tensor, array in zip(self.inputs, arrays)})
        except Exception as error:  # onnxruntime has one for each of its codes
            raise Refused(f"the model does not run with {shapes}: {first_line(error)}") from None


# --- the command


def compiled(flags: argparse.Namespace, name: str) -> bytes:
    """Return the bytes of the model file."""
    gears, given = rows_of(flags), given_shapes(flags)
    graph = Graph(flags.model)
    unknown = given.keys() - {tensor.name for tensor in graph.inputs}
    if unknown:
        names = ", ".join(tensor.name for tensor in graph.inputs)
        raise Refused(f"the model has no input {sorted(unknown)[0]}, its inputs are {names}")
    inputs = []
    for tensor in graph.inputs:
        shape = shape_of(tensor, given, gears is not None)
        ranges = shape if any(dim.size < 0 and (gears is None or dim != OPEN) for dim in shape) else []
        code = FORMATS[flags.input_format] if len(shape) == 4 else om.ND
        inputs.append(om.Tensor(tensor.name, [dim.size for dim in shape], graph.type_of(tensor), code, ranges=ranges))
    if gears is not None:
        check_gears(gears, inputs, flags.input_format)
    forced = OUTPUT_TYPES.get(flags.output_type)
    types = [forced if forced is not None else own for own in map(graph.type_of, graph.model.graph.output)]
    shapes = [list(tensor.dims) for tensor in inputs]
    content = graph.open(shapes)
    dynamic = any(tensor.ranges for tensor in inputs)
    if gears is None:
        dims = graph.open_outputs(shapes) if dynamic else graph.outputs(shapes)
        dynamic = dynamic or any(-1 in shape for shape in dims)
    else:
        by_gear = [graph.outputs(om.input_shapes(inputs, gears.kind, row)) for row in gears.values]
        if any(-1 in shape for found in by_gear for shape in found):
            raise Refused("the model has an output whose dims depend on the data, which excludes gears")
        places = range(len(by_gear[0]))
        gears = gears._replace(
            outputs=[(gear, place, found[place]) for gear, found in enumerate(by_gear) for place in places]
        )
        dims = [max((found[place] for found in by_gear), key=math.prod) for place in places]
    outputs = [
        om.Tensor(tensor.name, shape, code) for tensor, shape, code in zip(graph.model.graph.output, dims, types)
    ]
    return om.write(
        name, inputs, outputs, gears=gears, weights=content, executor="onnx", soc=flags.soc_version, dynamic=dynamic
    )


def run(arguments: list[str]) -> None:
    """Compile a model as the arguments say.

    Raises
    ------
    Refused, ImportError
        With the sentence for the user.
    """
    flags = parse(arguments)
    ignored = [f"--{name}" for name in IGNORED if getattr(flags, name) is not None]
    if ignored:
        print(f"atc: without effect on the simulator: {', '.join(ignored)}", file=sys.stderr)
    path = flags.output if flags.output.endswith(".om") else f"{flags.output}.om"
    content = compiled(flags, os.path.splitext(os.path.basename(path))[0])
    try:
        files.write(path, content)
    except OSError as error:
        raise Refused(f"cannot write {path}: {error.strerror}") from None
    print(f"ATC run success, wrote {path}")
