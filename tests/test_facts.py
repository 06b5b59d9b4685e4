"""One place per fact: what the headers say is written nowhere else."""

import ast
import dataclasses
import re
from pathlib import Path

import ml_dtypes
import numpy
import pytest

import acl
from acl import abi, atc_aipp, data_types, errors, facts, libraries
from acl._lib import lib
from acl.sim import om, recording

ROOT = Path(__file__).resolve().parent.parent
HEADERS = abi.load()
CODES = {code: name for name, code in facts.status_codes(HEADERS).items() if code != 0}


def python_files():
    return [path for path in sorted((ROOT / "acl").rglob("*.py")) if "examples" not in path.parts]


def c_files():
    """What C the project is made of, without the headers that state the facts, and without tests."""
    folders = [path for path in (ROOT / "simulator").iterdir() if path.is_dir() and path.name not in ("tests", "ops")]
    found = [path for folder in folders for path in folder.rglob("*.[ch]")]
    return sorted([*found, *(ROOT / "acl").glob("*.h"), *(ROOT / "simulator" / "ops").glob("*.[ch]")])


def code_of(path):
    """Return the text of a C file without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', " ", path.read_text(), flags=re.S)


# --- Status codes


def numbers_in(path):
    """Return the numbers that a Python file is written with."""
    tree = ast.parse(path.read_text())
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int}


def test_python_has_no_status_by_its_number():
    found = {path.relative_to(ROOT).as_posix(): CODES.keys() & numbers_in(path) for path in python_files()}
    assert {path: {CODES[code] for code in codes} for path, codes in found.items() if codes} == {}


def test_c_has_no_status_by_its_number():
    # Classes of codes, for the kind of a message and for what becomes a thread's last error; a factor of versions.
    allowed = {"fail.c": {100000, 500000}, "init.c": {100000}}
    found = {}
    for path in c_files():
        numbers = set(map(int, re.findall(r"\b[1-9]\d{5}\b", code_of(path)))) - allowed.get(path.name, set())
        if CODES.keys() & numbers:
            found[path.name] = {CODES[code] for code in CODES.keys() & numbers}
    assert found == {}


def test_python_spells_each_status_as_the_headers_do():
    assert errors.codes.NAMES == {0: "ACL_ERROR_NONE", **CODES}
    for code, name in CODES.items():
        assert getattr(errors.codes, name) == code
    declared = re.findall(r"^(ACL\w+): int$", (ROOT / "acl" / "codes.pyi").read_text(), re.MULTILINE)
    assert sorted(declared) == sorted(errors.codes.NAMES.values())


def test_c_names_codes_from_the_headers_alone():
    """The table behind messages and reports is made of the headers: no name of a code is a text in C."""
    for path in c_files():
        assert re.findall(r'"ACL(?:NN)?_ERR(?:OR)?_\w+"', path.read_text()) == [], path


# --- Enumerations

# Limits, numbers of NumPy and DLPack, and an index: the headers have no names for them.
OWN_NUMBERS = {
    "array.py": {"LAYOUTS"}, "dlpack.py": {"CPU", "ACCELERATOR", "KINDS", "READ_ONLY", "IS_COPY", "VERSION"},
    "kernel.py": {"PLACE", "MOST_SHARED", "LONGEST_SHARED"}, "memory_block.py": {"MANY"},
    "model_signature.py": {"EVERY"}, "op.py": {"SIGNATURES"},
    "op_call.py": {"BITS"},
    "op_rules_attention.py": {"COPIES"}, "op_rules_quant.py": {"_INT8", "_INT32_PACKED", "_FLOAT16", "_BFLOAT16"},
    "op_rules_sized.py": {"FLAT"}, "op_types.py": {"ORDER"},
    "values.py": {"LONGEST", "KEY_LIMIT"},
}  # fmt: skip


def enum_parameters():
    """Which arguments are enumerators, by the last two names of a call: ``rt.malloc``, ``lib.aclrtMalloc``."""
    found = {}
    for function in HEADERS.functions.values():
        types = {param.name: param.type for param in function.params}
        found[f"lib.{function.name}"] = [param.type in HEADERS.enums for param in function.params]
        for shape in function.shapes:
            call = ".".join(shape.path.split(".")[-2:])
            found[call] = [types.get(item.name) in HEADERS.enums for item in shape.arguments]
    return found


def states_numbers(node):
    """Tell whether an expression is, or is built of, numbers that are written out."""
    if isinstance(node, ast.Dict):
        return any(map(states_numbers, [key for key in node.keys if key is not None] + node.values))
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(map(states_numbers, node.elts))
    if isinstance(node, ast.UnaryOp):
        return states_numbers(node.operand)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "range" and any(map(states_numbers, node.args))
    return is_number(node)


def test_python_passes_no_enumerator_by_its_number():
    enumerators, seen, wrong = enum_parameters(), 0, []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                call = ".".join(ast.unparse(node.func).split(".")[-2:])
                pairs = list(zip(node.args, enumerators.get(call, ())))
                seen += sum(is_enum for _, is_enum in pairs)
                if any(is_enum and is_number(given) for given, is_enum in pairs):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert seen > 20 and wrong == []


def test_constants_of_the_objects_and_of_pyacl_are_those_of_the_headers():
    for path in sorted([*(ROOT / "acl" / "objects").glob("*.py"), *(ROOT / "acl" / "api").glob("*.py")]):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and states_numbers(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = set(re.findall(r"\w+", " ".join(map(ast.unparse, targets))))
                assert names <= OWN_NUMBERS.get(path.name, set()), f"{path.relative_to(ROOT)}:{node.lineno}"


# --- Data types and formats

PLAIN = re.compile(r"[<|]?(?:b1|\?|[iufc]\d+)|(?:bool|u?int\d+|b?float\d+\w*|complex\d+|double|fp\d+|bf16)")


def is_type(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and PLAIN.fullmatch(node.value) is not None


def is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


def test_the_table_of_data_types_is_that_of_the_header():
    declared = {name: code for name, code in HEADERS.enums["aclDataType"].members.items() if code >= 0}
    rows = facts.data_types(HEADERS, facts.numbers(facts.model_file(ROOT)))
    assert {row.constant for row in rows} == declared.keys()
    expected = [(declared[row.constant], row.name, row.bits, row.numpy, row.package, row.number) for row in rows]
    assert [tuple(kind) for kind in data_types.DATA_TYPES.values()] == expected


def test_a_data_type_without_a_description_stops_the_build():
    enum = HEADERS.enums["aclDataType"]
    for notes in ({**enum.notes, "ACL_FLOAT": "of 4 bytes"}, {k: v for k, v in enum.notes.items() if k != "ACL_FLOAT"}):
        changed = dataclasses.replace(HEADERS, enums={"aclDataType": dataclasses.replace(enum, notes=notes)})
        with pytest.raises(ValueError, match="ACL_FLOAT"):
            facts.data_types(changed, {})


def test_numpy_and_the_library_measure_each_data_type_alike():
    for code, kind in data_types.DATA_TYPES.items():
        assert acl.data_type_size(code) == -(-kind.bits // 8), kind.name
        if kind.package == "NumPy":
            dtype = numpy.dtype(kind.name)
            assert (dtype.str, dtype.itemsize * 8) == (kind.numpy, kind.bits)
        elif kind.package:
            assert kind.numpy == "" and numpy.dtype(getattr(ml_dtypes, kind.name)).itemsize * 8 == kind.bits
    assert data_types.DATA_TYPES[data_types.BFLOAT16].name == "bfloat16"


def test_only_the_header_pairs_data_types_with_numbers():
    """A table of our own would be a dict between names of types and numbers."""
    names = "|".join(HEADERS.enums["aclDataType"].members)
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict) and path.name != "acl_gdb.py":  # which has digits to print by type
                pairs = list(zip(node.keys, node.values))
                typed = [a for a, b in pairs if (is_type(a) and is_number(b)) or (is_number(a) and is_type(b))]
                assert len(typed) < 3, f"{path.relative_to(ROOT)}:{node.lineno} has a table of data types"
    for path in c_files():
        found = re.findall(rf'\[(?:{names})\] = \{{?(?:"|\d)|case (?:{names}):\s*return "', path.read_text())
        assert found == [], f"{path.relative_to(ROOT)} has a table of data types: {found}"


def test_formats_have_the_names_of_the_header():
    members = HEADERS.enums["aclFormat"].members
    assert data_types.FORMATS[members["ACL_FORMAT_NC1HWC0"]] == "NC1HWC0"
    assert data_types.FORMATS[members["ACL_FRACTAL_Z_3D"]] == "FRACTAL_Z_3D"
    assert len(data_types.FORMATS) == len(members) - 1 and -1 not in data_types.FORMATS


# --- Model files


def test_python_has_the_numbers_of_model_files_from_the_simulators_header():
    text = facts.model_file(ROOT)
    numbers = dict(re.findall(r"\b(SIM_\w+)(?: =)? (0x[0-9A-F]+|\d+)\b", text))
    assert len(numbers) > 70
    for name, value in numbers.items():
        assert getattr(lib, name) == int(value, 0), name


def test_model_files_are_written_and_read_without_numbers_of_their_own():
    """Tags, parts, offsets and fields have names in one header; what is left are sizes, shifts and places in lists."""
    written = numbers_in(ROOT / "acl" / "sim" / "om.py")
    assert written <= {0, 1, 2, 3, 8, 7, 0x7F, 0x80, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 512}
    for path in c_files():
        if path.name != facts.MODEL_FILE:
            assert not re.search(r"\bSIM_(?:OM|PART)_\w+ = |0x444F4D49|0x20000000", code_of(path), re.I), path


def test_the_texts_of_model_files_are_those_that_the_simulator_reads():
    read = "".join(path.read_text() for path in c_files())
    written = om.write("name", [], [], soc="chip", executor="saved", aipp=b"image")
    keys = (b"memory_size", b"weight_size", b"soc_version", b"ascendcl.executor", b"ascendcl.aipp")
    for key in (*keys, b"index", b"Data", b"NetOutput", recording.MAGIC, atc_aipp.MARK.rstrip(b"\0")):
        assert f'"{key.decode()}"' in read, key
    assert all(key in written for key in keys)


def test_the_parameters_of_aipp_have_the_layout_of_the_simulators_header():
    assert atc_aipp.bytes_of(2) == 64 + 2 * 96
    text = (ROOT / "acl" / "atc_aipp.py").read_text()
    assert re.findall(r'Struct\("([^"]*)"\)', text) == ["<Iii"]  # what a model file has before a block


# --- Libraries


def test_the_libraries_that_are_built_are_those_of_the_list():
    built = {path.stem[3:] for path in Path(acl.get_lib()).glob("lib*.so")}
    expected = {*libraries.VENDOR, *libraries.OTHERS}
    assert expected <= built and built - expected <= {"acl_sim", "acl_record", "fmk_onnx_parser", "acl_hccl_net"}
    assert len(expected) == len(libraries.VENDOR) + len(libraries.OTHERS) == 31


def test_no_other_file_lists_libraries():
    """Two names beside each other may be what somebody links; a list has names that nobody links by hand."""
    rare = {"acl_tdt_queue", "acl_op_executor", "opapi_transformer", "acl_rt_impl", "ascend_hal", "ge_runner"}
    others = ("simulator/Makefile", "simulator/generate.py", "build_acl.py")
    for path in [*(ROOT / name for name in others), *python_files()]:
        if path.name != "libraries.py":
            assert rare & set(re.findall(r"\w+", path.read_text().replace("lib", ""))) == set(), path
