"""The ONNX model that ``atc`` compiles, and the changes that the flags make to its inputs and outputs."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy

from acl.atc_values import Refused
from acl.sim import models, onnx_models

RANK_MAX = 8
DIM_MAX = 2**31 - 1
PROVED_MAX = 2**26  # input elements, up to which a model is run as a check
BYTES_MAX = 2**40  # the most bytes of a tensor, more than any device has
OUTPUT_TYPES = {"FP32": "FLOAT", "FP16": "FLOAT16", "UINT8": "UINT8"}
REAL = ("FLOAT", "FLOAT16", "DOUBLE")
CLIP_BY_INPUTS = 11  # the opset from which Clip has its limits as inputs


class Dim(NamedTuple):
    """The sizes that an axis may have; ``most`` is -1 for an axis without an upper bound."""

    least: int
    most: int

    @property
    def size(self) -> int:
        """The one size, or -1."""
        return self.least if self.least == self.most else -1


OPEN = Dim(0, -1)
Shape = list[Dim]


def own_shape(tensor: Any) -> Optional[Shape]:
    """Return the shape of an input or output of the graph; None if its number of axes is unknown."""
    content = tensor.type.tensor_type
    if not content.HasField("shape"):
        return None
    sizes = [dim.dim_value if dim.HasField("dim_value") else 0 for dim in content.shape.dim]
    return [Dim(size, size) if size > 0 else OPEN for size in sizes]


ORT_TYPES = {
    "float": "FLOAT", "float16": "FLOAT16", "double": "DOUBLE", "int8": "INT8", "uint8": "UINT8", "int16": "INT16",
    "uint16": "UINT16", "int32": "INT32", "uint32": "UINT32", "int64": "INT64", "uint64": "UINT64", "bool": "BOOL",
    "string": "STRING", "bfloat16": "BFLOAT16",
}  # fmt: skip


def nodes_of(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of the graphs inside its nodes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from nodes_of(inner)


def check_dims(what: str, dims: Sequence[int], bytes_each: int) -> None:
    """Refuse a tensor that no device can hold."""
    if len(dims) > RANK_MAX:
        raise Refused(f"{what} has {len(dims)} dims, expected at most {RANK_MAX}")
    if any(dim > DIM_MAX for dim in dims):
        raise Refused(f"{what} has a dim of {max(dims)}, expected at most {DIM_MAX}")
    size = bytes_each * math.prod(abs(dim) for dim in dims)
    if size > BYTES_MAX:
        raise Refused(f"{what} has {size} bytes with its dims {list(dims)}, expected at most {BYTES_MAX}")


def first_line(error: Exception) -> str:
    """Return the first line of an error's text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class Graph:
    """An ONNX model that is changed as the flags say."""

    def __init__(self, path: str) -> None:
        self.onnx = onnx_models.package("onnx")
        try:
            self.model = self.onnx.load(path)
        except OSError as error:
            raise Refused(f"cannot read {path}: {error.strerror or error}") from None
        except Exception as error:  # of protobuf, and of onnx for weights in other files
            raise Refused(f"cannot read {path} as an ONNX model: {first_line(error)}") from None
        graph = self.model.graph
        if not graph.output:
            raise Refused(f"cannot read {path} as an ONNX model: it has no outputs")
        # Older graphs list their weights as inputs; since IR version 4 weights can be constants.
        self.model.ir_version = max(self.model.ir_version, 4)
        weights = {tensor.name for tensor in graph.initializer}
        for tensor in [tensor for tensor in graph.input if tensor.name in weights]:
            graph.input.remove(tensor)
        self.inputs = list(graph.input)
        self.own = {tensor.name: own_shape(tensor) for tensor in self.inputs}
        # Shapes that were inferred for other input shapes would contradict those of the flags.
        del graph.value_info[:]
        for tensor in graph.output:
            if tensor.type.HasField("tensor_type"):
                tensor.type.tensor_type.ClearField("shape")
        self.session: Any = None

    # --- what the flags change

    def outputs_of(self, node: str) -> Sequence[str]:
        """Return the names of a node's outputs; an empty list for an unknown node."""
        return next((found.output for found in self.model.graph.node if found.name == node), ())

    def tensor_at(self, text: str, flag: str) -> str:
        """Return the tensor that a flag names as ``node:index``, or by itself."""
        if any(text in node.output for node in self.model.graph.node):
            return text
        node, colon, index = text.rpartition(":")
        outputs = self.outputs_of(node) if colon and index.isdigit() and index.isascii() else ()
        if not outputs:
            raise Refused(f"--{flag} has {text!r}, expected a node with the index of an output (conv1:0), or a tensor")
        if int(index) >= len(outputs):
            raise Refused(
                f"--{flag} has {text!r}, expected less than {len(outputs)} as the index of an output of {node}"
            )
        return str(outputs[int(index)])

    def choose_outputs(self, texts: Sequence[str]) -> None:
        """Make these the outputs, as ``--out_nodes`` names them."""
        names = [self.tensor_at(text, "out_nodes") for text in texts]
        if len(set(names)) != len(names):
            raise Refused("--out_nodes names an output twice")
        del self.model.graph.output[:]
        for name in names:
            self.model.graph.output.add().name = name
        codes = {f"tensor({kind})": code for kind, code in ORT_TYPES.items()}
        self.open_as_is()
        for tensor, found in zip(self.model.graph.output, self.session.get_outputs()):
            code = codes.get(found.type, "UNDEFINED")
            tensor.type.tensor_type.elem_type = self.onnx.TensorProto.DataType.Value(code)

    def rename(self, old: str, new: str) -> None:
        """Give a tensor another name wherever nodes read or write it."""
        for node in nodes_of(self.model.graph):
            for names in (node.input, node.output):
                for place, name in enumerate(names):
                    if name == old:
                        names[place] = new

    def fresh(self, stem: str) -> str:
        """Return a name that no tensor has."""
        used = {name for node in nodes_of(self.model.graph) for name in (*node.input, *node.output)}
        used |= {tensor.name for tensor in self.model.graph.initializer}
        name = f"{stem}/atc"
        while name in used:
            name += "_"
        return name

    def take_halves(self, names: Sequence[str]) -> None:
        """Change these inputs to half precision, as ``--input_fp16_nodes`` names them."""
        known = {tensor.name: tensor for tensor in self.inputs}
        kinds = self.onnx.TensorProto.DataType
        for name in names:
            if name not in known:
                raise Refused(f"--input_fp16_nodes has {name!r}, expected one of {', '.join(known)}")
            content = known[name].type.tensor_type
            if content.elem_type == kinds.Value("FLOAT16"):
                continue
            if content.elem_type != kinds.Value("FLOAT"):
                kind = kinds.Name(content.elem_type)
                raise Refused(f"--input_fp16_nodes has {name}, whose type is {kind}, expected FLOAT")
            inner = self.fresh(name)
            self.rename(name, inner)
            cast = self.onnx.helper.make_node("Cast", [name], [inner], to=kinds.Value("FLOAT"))
            self.model.graph.node.insert(0, cast)
            content.elem_type = kinds.Value("FLOAT16")

    def give_types(self, text: str) -> None:
        """Change the types of the outputs as ``--output_type`` says: one for all, or one for each named output."""
        if text in OUTPUT_TYPES:
            for tensor in self.model.graph.output:
                self.give_type(tensor, OUTPUT_TYPES[text])
            return
        by_name = {tensor.name: tensor for tensor in self.model.graph.output}
        for part in filter(None, (part.strip() for part in text.split(";"))):
            where, _, kind = part.rpartition(":")
            if kind not in OUTPUT_TYPES:
                raise Refused(f"--output_type={text} is not supported, expected one of {', '.join(OUTPUT_TYPES)}, for "
                              "all outputs or for each: conv1:0:FP16")  # fmt: skip
            name = self.tensor_at(where, "output_type")
            if name not in by_name:
                raise Refused(f"--output_type has {where!r}, expected one of the outputs: {', '.join(by_name)}")
            self.give_type(by_name[name], OUTPUT_TYPES[kind])

    def give_type(self, tensor: Any, kind: str) -> None:
        """Convert an output; for UINT8, numbers outside of 0 to 255 are clipped."""
        kinds, helper = self.onnx.TensorProto.DataType, self.onnx.helper
        content, graph = tensor.type.tensor_type, self.model.graph
        own = kinds.Name(content.elem_type)
        if own == kind:
            return
        if not any(tensor.name in node.output for node in graph.node):
            raise Refused(f"--output_type is for {tensor.name}, which no operator computes")
        inner = self.fresh(tensor.name)
        self.rename(tensor.name, inner)
        if kind == "UINT8" and own in REAL:
            outer, inner = inner, self.fresh(f"{tensor.name}/clip")
            versions = [entry.version for entry in self.model.opset_import if entry.domain in ("", "ai.onnx")]
            opset = max(versions, default=CLIP_BY_INPUTS)
            limits = {"min": 0.0, "max": 255.0}
            if opset < CLIP_BY_INPUTS:
                graph.node.append(helper.make_node("Clip", [outer], [inner], **limits))
            else:
                names = [f"{inner}/{name}" for name in limits]
                for name, value in zip(names, limits.values()):
                    graph.initializer.append(helper.make_tensor(name, content.elem_type, [], [value]))
                graph.node.append(helper.make_node("Clip", [outer, *names], [inner]))
        graph.node.append(helper.make_node("Cast", [inner], [tensor.name], to=kinds.Value(kind)))
        content.elem_type = kinds.Value(kind)

    def drop_indices(self) -> None:
        """Name the inputs as TensorFlow names the nodes: ``x`` for ``x:0``."""
        for tensor in self.inputs:
            plain = tensor.name[:-2]
            if tensor.name.endswith(":0") and plain not in {other.name for other in self.inputs}:
                self.rename(tensor.name, plain)
                self.own[plain] = self.own.pop(tensor.name)
                tensor.name = plain

    # --- types and shapes

    def type_of(self, tensor: Any) -> int:
        """Return the data type of an input or output."""
        code = tensor.type.tensor_type.elem_type
        names = self.onnx.TensorProto.DataType
        if tensor.type.WhichOneof("value") != "tensor_type" or code == names.Value("BFLOAT16"):
            raise Refused(f"{tensor.name} is bfloat16 or not a tensor, which is not supported")
        try:
            return models.CODES[self.onnx.helper.tensor_dtype_to_np_dtype(code)]
        except KeyError:
            raise Refused(f"{tensor.name} has the type {names.Name(code)}, which is not supported") from None

    def shape(self, shapes: list[list[int]]) -> None:
        """Set the dims of the inputs; -1 leaves a dim open."""
        for tensor, dims in zip(self.inputs, shapes):
            shape = tensor.type.tensor_type.shape
            del shape.dim[:]
            for size in dims:
                dim = shape.dim.add()
                if size >= 0:
                    dim.dim_value = size

    def open(self, shapes: list[list[int]]) -> bytes:
        """Return the bytes of the model with these dims of the inputs; refuse it if onnxruntime does not load it."""
        self.shape(shapes)
        return self.open_as_is()

    def open_as_is(self) -> bytes:
        """Return the bytes of the model as it is; refuse it if onnxruntime does not load it."""
        try:
            content = bytes(self.model.SerializeToString())
            self.session = onnx_models.session_of(content)
        except ImportError:
            raise
        except Exception as error:  # onnxruntime has a class of exceptions per error code
            raise Refused(f"onnxruntime cannot load the model: {first_line(error)}") from None
        return content

    def outputs(self, shapes: list[list[int]]) -> list[list[int]]:
        """Return the dims of the outputs for fixed dims of the inputs, -1 where they depend on the data."""
        self.shape(shapes)
        found = self.inferred()
        if not any(shape is None or OPEN in shape for shape in found):
            return [[dim.size for dim in shape or []] for shape in found]
        zeros = ones = [array.shape for array in self.run(shapes, 0)]
        with contextlib.suppress(Refused):  # 1 may be out of range as an index
            ones = [array.shape for array in self.run(shapes, 1)]
        return [[a if a == b else -1 for a, b in zip(*pair)] for pair in zip(zeros, ones)]

    def contradicts(self, tensor: Any, dims: Sequence[int]) -> bool:
        """Return whether dims differ from those that an input has in the file."""
        own = self.own[tensor.name]
        return own is not None and any(dim.size not in (-1, size) for dim, size in zip(own, dims))

    def prove(self, shapes: list[list[int]]) -> None:
        """Run the model once if the flags contradict its file, because the shapes alone do not show whether it runs."""
        pairs = list(zip(self.inputs, shapes))
        size = sum(math.prod(dims) for dims in shapes)
        if size <= PROVED_MAX and any(self.contradicts(*pair) for pair in pairs):
            self.run(shapes, 1)

    def open_outputs(self, shapes: list[list[int]]) -> list[list[int]]:
        """Return the dims of the outputs, -1 where they are open."""
        self.shape(shapes)
        found = self.inferred()
        if None not in found:
            return [[dim.size for dim in shape or []] for shape in found]
        return [[-1] * array.ndim for array in self.run([[abs(size) for size in dims] for dims in shapes], 0)]

    def inferred(self) -> list[Optional[Shape]]:
        """Return the shapes of the outputs, as far as shape inference finds them."""
        try:
            graph = self.onnx.shape_inference.infer_shapes(self.model, data_prop=True).graph
        except Exception:  # a graph that is too large, or that only onnxruntime understands
            graph = self.model.graph
        return [own_shape(tensor) for tensor in graph.output]

    def run(self, shapes: list[list[int]], value: int) -> Any:
        """Return the outputs for inputs of these dims in which every element is ``value``."""
        kinds = [self.onnx.helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type) for tensor in self.inputs]
        try:
            arrays = [numpy.full(dims, value, kind) for dims, kind in zip(shapes, kinds)]
            options = onnx_models.package("onnxruntime").RunOptions()
            options.log_severity_level = 4  # no log: the exception has the reason
            return self.session.run(None, {tensor.name: array for tensor, array in zip(self.inputs, arrays)}, options)
        except Exception as error:  # onnxruntime has a class of exceptions per error code
            raise Refused(f"the model does not run with {shapes}: {first_line(error)}") from None
