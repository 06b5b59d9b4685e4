"""The compiler of models: it turns an ONNX model, or one that can be converted to ONNX, into a model file.

The simulator executes the file with onnxruntime. The flags are those of the vendor's Ascend Tensor Compiler.
"""

import argparse
import math
import os
import re
import sys
from typing import Any, Optional

from acl import atc_aipp, atc_convert, atc_values, files
from acl.atc_graph import OPEN, Dim, Graph, Shape, check_dims, own_shape
from acl.atc_values import Refused
from acl.sim import om

FORMATS = {name: code for code, name in om.FORMATS.items()}
IMAGE_AXES = {"NCHW": [2, 3], "NHWC": [1, 2]}
GEAR_FLAGS = {"dynamic_batch_size": om.BATCH, "dynamic_image_size": om.HW, "dynamic_dims": om.DIMS}
GEARS = range(2, 101)

# Flags for tuning, logs and checks, which do not change the results on the simulator.
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
    "is_input_adjust_hw_layout": "the inputs have the layout of the ONNX graph",
    "is_output_adjust_hw_layout": "the outputs have the layout of the ONNX graph",
    "compression_optimize_conf": "weights are not quantised",
    "customize_dtypes": "operators have the types of the ONNX graph",
    "keep_dtype": "operators have the types of the ONNX graph",
    "mode": "only models are compiled",
    "om": "only models are compiled",
    "json": "only models are compiled",
}


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors as :class:`Refused`, for the command to print."""

    def error(self, message: str) -> Any:
        """Refuse the command line."""
        raise Refused(message)


def parser() -> Parser:
    """Return the parser of the flags."""
    flags = Parser(prog="ascendcl atc", description=__doc__, allow_abbrev=False, add_help=False)
    flags.add_argument("--help", "--h", action="help", help="show this text")
    flags.add_argument("--framework", help="5: ONNX, 3: TensorFlow (by tf2onnx)")
    flags.add_argument("--model", metavar="FILE", help="the model's file")
    flags.add_argument("--weight", metavar="FILE", help=argparse.SUPPRESS)  # for Caffe
    flags.add_argument("--output", metavar="FILE", help="the file to write; .om is appended if it is missing")
    flags.add_argument(
        "--singleop", metavar="FILE", help="JSON with single operators, instead of a model; --output is a folder"
    )
    flags.add_argument(
        "--input_shape", metavar='"x:1,3,-1,-1;y:1~8,2"', help="dims of inputs; -1 or a range is dynamic"
    )
    flags.add_argument("--input_shape_range", metavar='"x:[1~8,3,-1]"', help="the same, in the older form")
    flags.add_argument("--dynamic_batch_size", metavar='"1,4,8"', help="sizes of the first axis")
    flags.add_argument("--dynamic_image_size", metavar='"16,16;32,48"', help="heights and widths")
    flags.add_argument("--dynamic_dims", metavar='"1,16;4,32"', help="sizes of all -1 of --input_shape, in their order")
    flags.add_argument("--input_format", help="NCHW (default for ONNX), NHWC (default for TensorFlow) or ND")
    flags.add_argument("--out_nodes", metavar='"conv1:0;y"', help="outputs: operators with an index, or tensors")
    flags.add_argument("--output_type", help="FP32, FP16 or UINT8, for all outputs or for each: y:0:FP16")
    flags.add_argument("--input_fp16_nodes", metavar='"x;y"', help="inputs to take in half precision")
    flags.add_argument("--insert_op_conf", metavar="FILE", help="preprocessing of images (AIPP)")
    flags.add_argument("--soc_version", default="", help="the chip that may load the file (default: any)")
    for name in (*IGNORED, *REFUSED):
        flags.add_argument(f"--{name}", nargs="?", const="", help=argparse.SUPPRESS)
    return flags


def spelled(argument: str) -> str:
    """Return an argument with its flag in the documented spelling: one dash, or dashes inside, are accepted too."""
    found = re.match(r"--?([A-Za-z][\w-]*)(.*)", argument, re.DOTALL)
    return argument if found is None else f"--{found[1].replace('-', '_')}{found[2]}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse and check the flags."""
    flags = parser().parse_args([spelled(argument) for argument in arguments])
    if flags.mode == "0":
        flags.mode = None
    for name, reason in REFUSED.items():
        if getattr(flags, name) not in (None, "false"):
            raise Refused(f"--{name} is not supported: {reason}")
    if flags.singleop is not None:
        return check_singleop(flags)
    atc_convert.check_framework(flags.framework)
    for name in ("model", "output"):
        if not getattr(flags, name):
            raise Refused(f"--{name}=FILE is needed")
    if flags.input_format is None:
        flags.input_format = "NHWC" if flags.framework == atc_convert.TENSORFLOW else "NCHW"
    if flags.input_format not in FORMATS:
        raise Refused(f"--input_format={flags.input_format} is not supported, expected one of {', '.join(FORMATS)}")
    if flags.weight is not None and flags.framework == atc_convert.ONNX:
        raise Refused("--weight is not supported: an ONNX model contains its weights")
    atc_values.check(flags)
    return flags


def check_singleop(flags: argparse.Namespace) -> argparse.Namespace:
    """Return the flags for single operators, or refuse flags for models."""
    for name in ("model", "framework", "input_shape", "input_shape_range", *GEAR_FLAGS):
        if getattr(flags, name) is not None:
            raise Refused(f"--{name} is for models, and --singleop compiles single operators")
    for name in ("singleop", "output"):
        if not getattr(flags, name):
            raise Refused(f"--{name}={'FILE' if name == 'singleop' else 'FOLDER'} is needed")
    atc_values.check(flags)
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
    """Return the shapes that the flags give, by the name of the input."""
    found: dict[str, Shape] = {}
    for flag in ("input_shape", "input_shape_range"):
        for part in filter(None, (getattr(flags, flag) or "").split(";")):
            name, colon, dims = part.strip().rpartition(":")
            dims = re.sub(r"^\[(.*)\]$", r"\1", dims.strip())
            if name in found:
                raise Refused(f"the flags have two shapes for the input {name}")
            try:
                found[name] = [dim_of(text) for text in dims.split(",")] if dims else []
            except ValueError as error:
                raise Refused(f"--{flag} has {part!r}: {str(error)!r} is not a valid size") from None
            if not colon:
                raise Refused(f"--{flag} has {part!r}, expected a name before its dims: x:1,3,224,224")
    return found


def shape_of(tensor: Any, given: dict[str, Shape], gears: bool) -> Shape:
    """Return the shape that the flags give for an input, otherwise the shape in the model."""
    own, name = own_shape(tensor), tensor.name
    shape = given.get(name, own)
    if shape is None or (name not in given and OPEN in shape and not gears):
        dims = "unknown dims" if own is None else f"dims {[dim.size for dim in own]}"
        advice = " or --dynamic_batch_size, --dynamic_image_size, --dynamic_dims" if own else ""
        raise Refused(f'input {name} has {dims}, which must be specified: --input_shape="{name}:..."{advice}')
    if own is not None and len(shape) != len(own):
        raise Refused(f"input {name} has {len(own)} dims in the model, and {len(shape)} in the flags")
    return shape


def rows_of(flags: argparse.Namespace) -> Optional[om.Gears]:
    """Return the gears that the flags give, without their outputs, or None."""
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
    twice = next((row for place, row in enumerate(rows) if row in rows[:place]), None)
    if twice is not None:
        raise Refused(f"--{flag} has the gear {','.join(map(str, twice))} twice")
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
        raise Refused('no input has a dynamic axis for the gears: --input_shape="x:-1,..."')
    if gears.kind == om.DIMS:
        if count != len(gears.values[0]):
            numbers = len(gears.values[0])
            raise Refused(f"--dynamic_dims has {numbers} numbers per gear, expected {count}, one per -1 of the inputs")
        return
    if gears.kind == om.HW and image_format not in IMAGE_AXES:
        raise Refused("--dynamic_image_size needs --input_format=NCHW or NHWC")
    wanted = [0] if gears.kind == om.BATCH else IMAGE_AXES[image_format]
    for name, axes in open_axes.items():
        if axes not in ([], wanted):
            raise Refused(f"input {name} has -1 in the axes {axes}, and the gears are for {wanted}: use --dynamic_dims")


# --- the command


def listed(text: Optional[str]) -> list[str]:
    """Return the parts of a list."""
    return [part.strip() for part in (text or "").split(";") if part.strip()]


def change(graph: Graph, flags: argparse.Namespace) -> None:
    """Change the outputs and the types of a graph as the flags say."""
    if flags.framework == atc_convert.TENSORFLOW:
        graph.drop_indices()  # tf2onnx was given the outputs
    elif flags.out_nodes is not None:
        if not listed(flags.out_nodes):
            raise Refused("--out_nodes is empty, expected a node with the index of an output: conv1:0")
        graph.choose_outputs(listed(flags.out_nodes))
    if flags.input_fp16_nodes is not None:
        graph.take_halves(listed(flags.input_fp16_nodes))
    if flags.output_type is not None:
        graph.give_types(flags.output_type)


def check_sizes(gears: Optional[om.Gears], inputs: list[om.Tensor]) -> None:
    """Refuse inputs that no device can hold."""
    for place, tensor in enumerate(inputs):
        what, size = f"input {tensor.name}", om.TYPES[tensor.type].bits // 8
        check_dims(what, tensor.dims, size)
        if tensor.ranges:
            check_dims(what, [max(bounds) for bounds in tensor.ranges], size)
        if gears is not None:
            for row in gears.values:
                check_dims(what, om.input_shapes(inputs, gears.kind, row)[place], size)


def preprocessed(
    flags: argparse.Namespace, gears: Optional[om.Gears], inputs: list[om.Tensor]
) -> tuple[list[om.Tensor], bytes]:
    """Return the inputs as the program passes them, and the records of their preprocessing for the model file."""
    if flags.insert_op_conf is None:
        return inputs, b""
    batch = max(row[0] for row in gears.values) if gears is not None and gears.kind == om.BATCH else 1
    return atc_aipp.apply(flags.insert_op_conf, inputs, batch, -1 if gears is None else gears.kind)


def compiled(flags: argparse.Namespace, name: str) -> bytes:
    """Return the bytes of the model file."""
    gears, given = rows_of(flags), given_shapes(flags)
    with atc_convert.onnx_file(
        flags.framework, flags.model, flags.weight, list(given), listed(flags.out_nodes)
    ) as path:
        graph = Graph(path)
    change(graph, flags)
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
    check_sizes(gears, inputs)
    halves = set(listed(flags.input_fp16_nodes))
    given_inputs, aipp = preprocessed(flags, gears, inputs)
    both = [old.name for old, new in zip(inputs, given_inputs) if old != new and old.name in halves]
    if both:
        raise Refused(f"--insert_op_conf and --input_fp16_nodes exclude each other for the input {both[0]}")
    types = [graph.type_of(tensor) for tensor in graph.model.graph.output]
    shapes = [list(tensor.dims) for tensor in inputs]
    content = graph.open(shapes)
    dynamic = any(tensor.ranges for tensor in inputs)
    if gears is None:
        if not dynamic:
            graph.prove(shapes)
        dims = graph.open_outputs(shapes) if dynamic else graph.outputs(shapes)
        dynamic = dynamic or any(-1 in shape for shape in dims)
    else:
        by_gear = [graph.outputs(om.input_shapes(inputs, gears.kind, row)) for row in gears.values]
        if any(-1 in shape for found in by_gear for shape in found):
            raise Refused("the model has an output whose dims depend on the data, which gears do not support")
        places = range(len(by_gear[0]))
        gears = gears._replace(
            outputs=[(gear, place, found[place]) for gear, found in enumerate(by_gear) for place in places]
        )
        dims = [max((found[place] for found in by_gear), key=math.prod) for place in places]
    outputs = [
        om.Tensor(tensor.name, shape, code) for tensor, shape, code in zip(graph.model.graph.output, dims, types)
    ]
    for tensor in outputs:
        check_dims(f"output {tensor.name}", tensor.dims, om.TYPES[tensor.type].bits // 8)
    if aipp and dynamic:
        raise Refused(f"{flags.insert_op_conf} has static AIPP, and the shapes of the model depend on the data")
    return om.write(
        name,
        given_inputs,
        outputs,
        gears=gears,
        weights=content,
        executor="onnx",
        soc=flags.soc_version,
        aipp=aipp,
        dynamic=dynamic,
    )


def run(arguments: list[str]) -> None:
    """Compile a model as the arguments say.

    Raises
    ------
    Refused, ImportError
        With a message for the user.
    """
    flags = parse(arguments)
    ignored = [f"--{name}" for name in IGNORED if getattr(flags, name) is not None]
    if ignored:
        print(f"atc: these flags have no effect on the simulator: {', '.join(ignored)}", file=sys.stderr)
    if flags.singleop is not None:
        from acl import singleop

        made = [
            (os.path.join(flags.output, f"{name}.om"), content)
            for name, content in singleop.compiled(flags.singleop, flags.soc_version)
        ]
        make_folder(flags.output)
    else:
        path = flags.output if flags.output.endswith(".om") else f"{flags.output}.om"
        made = [(path, compiled(flags, os.path.splitext(os.path.basename(path))[0]))]
    for path, content in made:
        write(path, content)
    print(f"ATC run success, wrote {', '.join(path for path, _ in made)}")


def make_folder(path: str) -> None:
    """Create a folder unless it exists."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Refused(f"cannot make the folder {path}: {error.strerror}") from None


def write(path: str, content: bytes) -> None:
    """Write a file."""
    try:
        files.write(path, content)
    except OSError as error:
        raise Refused(f"cannot write {path}: {error.strerror}") from None
