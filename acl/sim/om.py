"""Writing model files (``.om``): the container, the description of inputs and outputs, a definition of the model.

The files have no kernels, so a device cannot execute them. The simulator executes the data that they have for an
executor.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional, Union

from acl import data_types
from acl._lib import GEAR_INPUT, lib

MODEL_DEF, WEIGHTS, INOUT = lib.SIM_PART_MODEL_DEF, lib.SIM_PART_WEIGHTS, lib.SIM_PART_INOUT
BUNDLE, BUNDLE_VARIABLES = lib.SIM_PART_BUNDLE, lib.SIM_PART_BUNDLE_VARIABLES
INPUTS, OUTPUTS, GEAR_OUTPUTS = lib.SIM_OM_TAG_INPUTS, lib.SIM_OM_TAG_OUTPUTS, lib.SIM_OM_TAG_GEAR_OUTPUTS
BATCH, HW, DIMS = lib.SIM_OM_TAG_BATCH, lib.SIM_OM_TAG_HW, lib.SIM_OM_TAG_DIMS
ND = lib.ACL_FORMAT_ND
ALIGNMENT = 512  # bytes: the alignment of each tensor in the work memory

# Data types that the inputs and outputs of a model may have.
TYPES = {
    code: kind
    for code, kind in data_types.DATA_TYPES.items()
    if kind.number and (kind.numpy or code == data_types.BFLOAT16)
}
FORMATS = {code: data_types.FORMATS[code] for code in (lib.ACL_FORMAT_NCHW, lib.ACL_FORMAT_NHWC, ND)}


class Tensor(NamedTuple):
    """An input or output; -1 in ``dims`` depends on the gear or the execution.

    ``ranges`` are the minimum and maximum of each dimension, -1 for no maximum. ``dims_v2`` are the dims of the images
    that the program passes, for an input with static AIPP.
    """

    name: str
    dims: Sequence[int]
    type: int = lib.ACL_FLOAT
    format: int = ND
    size: int = 0
    ranges: Sequence[tuple[int, int]] = ()
    dims_v2: Sequence[int] = ()


class Gears(NamedTuple):
    """The sizes that a model was built for: ``kind`` is BATCH, HW or DIMS, ``values`` has one row per gear."""

    kind: int
    values: Sequence[Sequence[int]]
    outputs: Sequence[tuple[int, int, Sequence[int]]] = ()  # gear, output, dims


# --- protobuf, as far as a definition needs it


def _varint(value: int) -> bytes:
    """Encode a number as protobuf does: 7 bits per byte, the lowest first."""
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    """Encode a field with a number."""
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    """Encode a field with bytes, a text or a message."""
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _attribute(field: int, name: str, value: Union[str, bytes, int]) -> bytes:
    """Encode an entry of a map of attributes."""
    if isinstance(value, int):
        content = _number(lib.SIM_OM_ATTRIBUTE_NUMBER, value)
    else:
        content = _bytes(lib.SIM_OM_ATTRIBUTE_TEXT, value if isinstance(value, bytes) else value.encode())
    return _bytes(field, _bytes(lib.SIM_OM_MAP_KEY, name.encode()) + _bytes(lib.SIM_OM_MAP_VALUE, content))


def _tensor(tensor: Tensor) -> bytes:
    """Encode the description of a tensor."""
    shape = b"".join(_number(lib.SIM_OM_SHAPE_DIM, dim) for dim in tensor.dims)
    return (
        _bytes(lib.SIM_OM_TENSOR_NAME, tensor.name.encode())
        + _number(lib.SIM_OM_TENSOR_TYPE, TYPES[tensor.type].number)
        + _bytes(lib.SIM_OM_TENSOR_SHAPE, shape)
        + _bytes(lib.SIM_OM_TENSOR_LAYOUT, FORMATS.get(tensor.format, "ND").encode())
        + _number(lib.SIM_OM_TENSOR_SIZE, tensor.size)
    )


def _operator(name: str, kind: bytes) -> bytes:
    """Encode the name and the type of an operator."""
    return _bytes(lib.SIM_OM_OP_NAME, name.encode()) + _bytes(lib.SIM_OM_OP_TYPE, kind)


def _definition(
    name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attributes: dict[str, Union[str, bytes, int]]
) -> bytes:
    """Encode a graph whose operators are only the inputs and the output."""
    graph = _bytes(lib.SIM_OM_GRAPH_NAME, name.encode())
    for index, tensor in enumerate(inputs):
        operator = _operator(tensor.name, b"Data") + _attribute(lib.SIM_OM_OP_ATTRIBUTES, "index", index)
        graph += _bytes(lib.SIM_OM_GRAPH_OPERATOR, operator + _bytes(lib.SIM_OM_OP_OUTPUT_DESC, _tensor(tensor)))
    operator = _operator("Node_Output", b"NetOutput")
    for tensor in outputs:
        operator += _bytes(lib.SIM_OM_OP_SOURCE, tensor.name.encode())
        operator += _bytes(lib.SIM_OM_OP_INPUT_DESC, _tensor(tensor))
    graph += _bytes(lib.SIM_OM_GRAPH_OPERATOR, operator)
    return (
        _bytes(lib.SIM_OM_MODEL_NAME, name.encode())
        + _bytes(lib.SIM_OM_MODEL_GRAPH, graph)
        + b"".join(_attribute(lib.SIM_OM_MODEL_ATTRIBUTES, key, value) for key, value in attributes.items())
    )


# --- the description of inputs and outputs


def _piece(tag: int, content: bytes) -> bytes:
    """Return content with its tag and length."""
    return struct.pack("<II", tag, len(content)) + content


def _ports(tensors: Sequence[Tensor]) -> bytes:
    """Return the descriptions of inputs or outputs."""
    out = struct.pack("<I", len(tensors))
    for tensor in tensors:
        name = tensor.name.encode()
        dims = struct.pack(f"<{len(tensor.dims)}q", *tensor.dims)
        ranges = b"".join(struct.pack("<qq", *pair) for pair in tensor.ranges)
        second = struct.pack(f"<{len(tensor.dims_v2)}q", *tensor.dims_v2) or dims
        head = (tensor.size, tensor.format, tensor.type, len(name), len(dims), len(second), len(ranges))
        out += struct.pack("<QiiIIII", *head) + name + dims + second + ranges
    return out


def _gears(gears: Gears) -> bytes:
    """Return the list of the gears; rows other than batches have their lengths."""
    out = struct.pack("<I", len(gears.values))
    if gears.kind != BATCH:
        out += b"".join(struct.pack("<I", len(row)) for row in gears.values)
    return out + b"".join(struct.pack(f"<{len(row)}Q", *row) for row in gears.values)


def _gear_outputs(gears: Gears) -> bytes:
    """Return the dims of the outputs in each gear, as texts."""
    texts = [",".join(map(str, (gear, output, *dims))).encode() for gear, output, dims in gears.outputs]
    return struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(text)) for text in texts) + b"".join(texts)


# --- sizes


def _bytes_of(tensor: Tensor, dims: Iterable[int]) -> int:
    """Return the size of a tensor with these dims; 0 if one of them is open."""
    size = TYPES[tensor.type].bits // 8
    for dim in dims:
        if dim < 0:
            return 0
        size *= dim
    return size


def input_shapes(tensors: Sequence[Tensor], kind: int, row: Sequence[int]) -> list[list[int]]:
    """Return the dims of the inputs in one gear."""
    found, values = [], iter(row)
    for tensor in tensors:
        if kind != DIMS:  # a batch, or a height and width, applies to each input
            values = iter(row)
        found.append([next(values) if dim < 0 else dim for dim in tensor.dims])
    return found


def _filled(tensors: Sequence[Tensor], gears: Optional[Gears]) -> list[Tensor]:
    """Return the inputs with their sizes in the largest gear, followed by the input that carries the gear."""
    if gears is None:
        return [tensor._replace(size=tensor.size or _bytes_of(tensor, tensor.dims)) for tensor in tensors]
    rows = [input_shapes(tensors, gears.kind, row) for row in gears.values]
    found = [
        tensor._replace(size=tensor.size or max(_bytes_of(tensor, shapes[place]) for shapes in rows))
        for place, tensor in enumerate(tensors)
    ]
    width = len(gears.values[0])
    return [*found, Tensor(GEAR_INPUT, (width,), lib.ACL_INT64, ND, 8 * width)]


# --- the container


def container(
    parts: Sequence[tuple[int, bytes]],
    name: str = "",
    *,
    kind: int = lib.SIM_FILE_GRAPH,
    wide: bool = True,
    dynamic: bool = False,
) -> bytes:
    """Return the bytes of a file with these partitions, given as type and bytes.

    Parameters
    ----------
    parts : sequence of (int, bytes)
        Type and content of each partition.
    name : str, optional
        Name of the model; the first 32 bytes are kept.
    kind : int, optional
        The content of the file: 0 for a graph, 5 for a bundle.
    wide : bool, optional
        Use the newer layout with 64-bit numbers, not the older one.
    dynamic : bool, optional
        Shapes are known only at the execution.
    """
    table = struct.pack("<II", len(parts), 0) if wide else struct.pack("<I", len(parts))
    offset = 0
    for type_, content in parts:
        entry = ("<IIQQ", type_, 0, offset, len(content)) if wide else ("<III", type_, offset, len(content))
        table += struct.pack(*entry)
        offset += len(content)
    payload = table + b"".join(content for _, content in parts)
    version = lib.SIM_FILE_VERSION_WIDE if wide else lib.SIM_FILE_VERSION_NARROW
    header = bytearray(lib.SIM_FILE_HEADER)
    struct.pack_into("<III", header, lib.SIM_FILE_AT_MAGIC, lib.SIM_FILE_MAGIC, lib.SIM_FILE_HEADER, version)
    struct.pack_into("<IBB", header, lib.SIM_FILE_AT_LENGTH_32, len(payload) & 0xFFFFFFFF, 0, 1)
    header[lib.SIM_FILE_AT_KIND] = kind
    struct.pack_into(f"<{lib.SIM_FILE_NAME_BYTES}s", header, lib.SIM_FILE_AT_NAME, name.encode())
    struct.pack_into("<I", header, lib.SIM_FILE_AT_MODELS, 1)
    struct.pack_into("<Q", header, lib.SIM_FILE_AT_LENGTH_64, len(payload) if wide else 0)
    header[lib.SIM_FILE_AT_DYNAMIC] = dynamic
    return bytes(header) + payload


def write(
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    *,
    gears: Optional[Gears] = None,
    weights: bytes = b"",
    executor: str = "",
    soc: str = "",
    aipp: bytes = b"",
    work: Optional[int] = None,
    dynamic: bool = False,
    wide: bool = True,
    described: bool = True,
) -> bytes:
    """Return the bytes of a model file.

    Parameters
    ----------
    name : str
        Name of the model, by which a registered function finds it.
    inputs, outputs : sequence of Tensor
        The signature; outputs of a model with gears have the dims of the largest gear.
    gears : Gears, optional
        The gears; the model gets one more input, which carries the gear.
    weights : bytes, optional
        The constant block, which the executor reads.
    executor : str, optional
        The kind of executor that executes the model on the simulator.
    soc : str, optional
        The chip that may load the file; any by default.
    aipp : bytes, optional
        Static AIPP: a record for each input that has it (:mod:`acl.atc_aipp`).
    work : int, optional
        Bytes of work memory that a program has to allocate, not 0, because an allocation of 0 bytes fails; by default
        those of all inputs and outputs.
    dynamic : bool, optional
        Shapes are known only at the execution: dims have -1, and inputs may have ranges.
    wide, described : bool, optional
        Use the newer layout; write the partition that describes inputs and outputs, which older files lack.
    """
    ports = _filled(inputs, gears)
    results = _filled(outputs, None)
    if work is None:
        work = sum(-(-tensor.size // ALIGNMENT) * ALIGNMENT for tensor in (*ports, *results)) or ALIGNMENT
    attributes: dict[str, Union[str, bytes, int]] = {"memory_size": work, "weight_size": len(weights)}
    texts = (("soc_version", soc), ("ascendcl.executor", executor), ("ascendcl.aipp", aipp))
    attributes.update({key: text for key, text in texts if text})
    parts = [(MODEL_DEF, _definition(name, ports, results, attributes)), (WEIGHTS, weights)]
    if described:
        content = _piece(INPUTS, _ports(ports)) + _piece(OUTPUTS, _ports(results))
        if gears is not None:
            content += _piece(gears.kind, _gears(gears)) + _piece(GEAR_OUTPUTS, _gear_outputs(gears))
        parts.append((INOUT, content))
    return container(parts, name, wide=wide, dynamic=dynamic)


def bundle(models: Sequence[bytes], *, variables: int = 0, wide: bool = True) -> bytes:
    """Return the bytes of a file with several models.

    Parameters
    ----------
    models : sequence of bytes
        The files of the models.
    variables : int, optional
        Bytes of variable weights that they share.
    wide : bool, optional
        Use the newer layout.
    """
    parts = [(BUNDLE, model) for model in models] + [(BUNDLE_VARIABLES, struct.pack("<q", variables))]
    return container(parts, kind=lib.SIM_FILE_BUNDLE, wide=wide)
