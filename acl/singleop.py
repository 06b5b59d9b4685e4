"""Files of single operators, which ``atc --singleop`` writes for ``aclopSetModelDir`` and ``aclopLoad``.

The simulator finds a single operator by its type and compiles nothing: a file holds the signature of one operator.
"""

import json
import re
import sys
from typing import Any

import acl
from acl import data_types
from acl._lib import ffi, lib
from acl.atc import Refused
from acl.sim import om

FORMATS = {name: code for code, name in data_types.FORMATS.items()}
# Data types that have other names in description files.
SPELLINGS = {
    "float32": ("float", "float32", "fp32"),
    "float16": ("float16", "fp16"),
    "float64": ("double", "float64"),
    "bfloat16": ("bfloat16", "bf16"),
}
TYPES = {name: code for code, kind in om.TYPES.items() for name in SPELLINGS.get(kind.name, (kind.name,))}
ABSENT = "UNDEFINED"  # the type of an optional input that is left out
ATTRIBUTES = {
    "bool": bool, "int": int, "float": float, "string": str, "data_type": str, "list_bool": [bool], "list_int": [int],
    "list_float": [float], "list_string": [str], "list_data_type": [str], "list_list_int": [[int]],
}  # fmt: skip
RANK, UNKNOWN = 8, lib.ACL_UNKNOWN_RANK


def compiled(path: str, soc: str) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files for a description file and a chip.

    Raises
    ------
    Refused
        The file cannot be read, or an entry does not describe an operator; the message has the entry and the reason.
    """
    found: dict[str, bytes] = {}
    types = set()
    for number, entry in enumerate(entries(path)):
        where = f"operator {number} of {path}"
        check_entry(entry, where)
        inputs, outputs = (tensors(entry, side, where) for side in ("input_desc", "output_desc"))
        name = entry.get("name") or file_name(number, entry, inputs + outputs)
        if not re.fullmatch(r"[\w.+-]+", name):
            raise Refused(f'{where} has the name "{name}", expected letters, digits, ".", "-" and "_"')
        if name in found:
            raise Refused(f"{where} has the name {name}, which an earlier operator has")
        dynamic = any(size < 0 for tensor in inputs + outputs for size in tensor.dims)
        found[name] = om.write(name, inputs, outputs, soc=soc, dynamic=dynamic)
        types.add(entry["op"])
    check_types(types)
    return list(found.items())


def check_types(types: set[str]) -> None:
    """Warn on stderr about types without a kernel in the simulator; not an error, as programs can register one."""
    if not acl.is_simulator:
        print("atc: the operator types are not checked, as the library in use is not the simulator", file=sys.stderr)
        return
    for name in sorted(types):
        if not is_known(name):
            print(
                f"atc: the simulator has no kernel for operator {name} by its type and attributes: "
                f'programs must register one with acl.sim.kernel("{name}") or aclsimRegisterKernel',
                file=sys.stderr,
            )


def is_known(name: str) -> bool:
    """Return whether the library knows a type: for a known one, the missing tensors give another status code."""
    handle = ffi.new("aclopHandle **")
    code = lib.aclopCreateHandle(name.encode(), 0, ffi.NULL, 0, ffi.NULL, ffi.NULL, handle)
    if code == 0:
        lib.aclopDestroyHandle(handle[0])
    return code != lib.ACL_ERROR_OP_NOT_FOUND


def entries(path: str) -> list[Any]:
    """Return the operators of a description file."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise Refused(f"cannot read {path} as JSON: {error}") from None
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list) or not content:
        raise Refused(f"{path} describes no operators, expected a list of operators")
    return content


def check_entry(entry: Any, where: str) -> None:
    """Refuse an entry that is not an operator, or whose attributes are not valid."""
    if not isinstance(entry, dict):
        raise Refused(f'{where} is {entry!r}, expected an object with "op"')
    for key in ("op", "name"):
        value = entry.get(key, "" if key == "name" else None)
        if not isinstance(value, str) or (key == "op" and not value):
            raise Refused(f'{where} has "{key}": {value!r}, expected a string')
    attributes = entry.get("attr", [])
    if not isinstance(attributes, list):
        raise Refused(f'{where} has "attr": {attributes!r}, expected a list')
    for attribute in attributes:
        if not isinstance(attribute, dict) or not isinstance(attribute.get("name"), str):
            raise Refused(f"{where} has the attribute {attribute!r}, which has no name")
        kind = attribute.get("type")
        if kind not in ATTRIBUTES:
            raise Refused(
                f"{where} has the attribute {attribute['name']} of type {kind!r}, expected {', '.join(ATTRIBUTES)}"
            )
        if not is_kind(attribute.get("value"), ATTRIBUTES[kind]):
            raise Refused(
                f"{where} has the attribute {attribute['name']} = {attribute.get('value')!r}, expected {kind}"
            )


def is_kind(value: Any, kind: Any) -> bool:
    """Return whether a value is of a type, or a list of such values."""
    if isinstance(kind, list):
        return isinstance(value, list) and all(is_kind(member, kind[0]) for member in value)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def tensors(entry: dict[str, Any], side: str, where: str) -> list[om.Tensor]:
    """Return the inputs or outputs of an operator, without those that are left out."""
    descriptions = entry.get(side)
    if not isinstance(descriptions, list):
        raise Refused(f'{where} has "{side}": {descriptions!r}, expected a list')
    found = []
    for place, description in enumerate(descriptions):
        if not isinstance(description, dict):
            raise Refused(f"{where} has {side}[{place}] = {description!r}, expected an object")
        if description.get("type") != ABSENT:
            found.append(tensor(description, f"{where} has {side}[{place}]", f"{side.partition('_')[0]}{place}"))
    return found


def tensor(description: dict[str, Any], where: str, name: str) -> om.Tensor:
    """Return an input or output of an operator."""
    for key, known in (("type", TYPES), ("format", FORMATS)):
        value = description.get(key)
        if not isinstance(value, str) or value not in known:
            raise Refused(f'{where} with "{key}": {value!r}, expected one of {", ".join(known)}')
    shape: Any = description.get("shape")
    if not is_kind(shape, [int]) or len(shape) > RANK or any(not UNKNOWN <= size < 2**63 for size in shape):
        raise Refused(f'{where} with "shape": {shape!r}, expected at most {RANK} sizes, with -1 for unknown ones')
    ranges: Any = description.get("shape_range", [])
    if not is_kind(ranges, [[int]]) or any(len(pair) != 2 for pair in ranges):
        raise Refused(f'{where} with "shape_range": {ranges!r}, expected pairs of sizes')
    pairs = [(pair[0], pair[1]) for pair in ranges] if len(ranges) == len(shape) else []
    given = description.get("name")
    return om.Tensor(
        given if isinstance(given, str) and given else name,
        shape,
        TYPES[description["type"]],
        FORMATS[description["format"]],
        ranges=pairs,
    )


def file_name(number: int, entry: dict[str, Any], described: list[om.Tensor]) -> str:
    """Return the documented name of a file: number, type, and data type, format and shape of each tensor."""
    parts = [number, entry["op"]]
    for one in described:
        parts += [one.type, one.format, *one.dims]
    return "_".join(map(str, parts))
