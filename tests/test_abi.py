"""The declared ABI against the tables of facts in ``abi_facts``, its parser, and what is generated from it."""

import importlib.util
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from helpers.headers import INCLUDE, LANGUAGES, check_c, claims, declarations, facts, includes
from helpers.tables import each

from acl._lib import AIPP_INPUT, GEAR_INPUT

ROOT = Path(__file__).resolve().parent.parent
WRAPPERS = sorted(  # the operators' headers have tests of their own
    str(path.relative_to(INCLUDE))
    for path in INCLUDE.rglob("*.h")
    if "abi" not in path.parts and "aclnnop" not in path.parts
)


def load_by_path(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


generate = load_by_path("simulator_generate", ROOT / "simulator" / "generate.py")
abi = generate.abi
ABI = abi.load(INCLUDE)
VENDOR = [function for function in ABI.functions.values() if function.group != abi.CONTROL_GROUP]
SHAPES = {shape.path: (function, shape) for function in VENDOR for shape in function.shapes}


FUNCTIONS = facts("functions")
VALUES = facts("values")
STRUCTS = facts("structs")
PYACL = [row for row in facts("pyacl") if row["c_function"]]


@pytest.fixture(params=LANGUAGES)
def language(request):
    return request.param


# --- facts


def test_the_declared_functions_are_those_of_the_table():
    assert [row["name"] for row in FUNCTIONS] == list(dict.fromkeys(row["name"] for row in FUNCTIONS))
    assert {function.name for function in VENDOR} == {row["name"] for row in FUNCTIONS}
    assert len(VENDOR) == 735


@each(FUNCTIONS, lambda row: row["group"])
def test_function(row):
    function = ABI.functions[row["name"]]
    expected = abi.declare(row["returns"], f"{row['name']}({row['params']})")
    assert re.sub(r"\s", "", function.prototype) == re.sub(r"\s", "", expected)
    assert ".".join(map(str, function.since)) == row["since"]
    assert function.group.split("_")[0] == row["group"]
    assert function.doc.endswith(".") and function.doc[0].isupper() and len(function.doc) < 150


def test_prototypes_and_types_agree_with_the_compiler(language):
    check_c(language, includes(WRAPPERS) + declarations(facts("types"), FUNCTIONS, language))


def test_the_declared_values_are_those_of_the_table():
    declared = [("", name) for name in ABI.constants]
    declared += [
        (enum.name, name) for enum in ABI.enums.values() if enum.group != abi.CONTROL_GROUP for name in enum.members
    ]
    assert sorted(declared) == sorted((row["enum"], row["name"]) for row in VALUES)
    for row in VALUES:
        declared = ABI.enums[row["enum"]].members if row["enum"] else {c.name: c.value for c in ABI.constants.values()}
        assert declared[row["name"]] == int(row["value"]), row["name"]


def test_values_and_layouts_agree_with_the_compiler(language):
    check_c(language, includes(WRAPPERS) + claims(VALUES, STRUCTS, language))


def test_the_declared_structs_are_those_of_the_table():
    fields = defaultdict(list)
    for row in STRUCTS:
        if "." not in row["field"]:
            fields[row["struct"]].append(row["field"])
    declared = {
        struct.name: [field.name for field in struct.fields]
        for struct in ABI.structs.values()
        if struct.fields is not None and struct.group != abi.CONTROL_GROUP
    }
    assert declared == fields


# --- wrappers


@pytest.mark.parametrize("header", [name for name in WRAPPERS if name != "acl/acl_api.h"])
def test_header_alone(header, language):
    check_c(language, includes([header]))


def test_headers_together_in_either_order(language):
    check_c(language, includes([*WRAPPERS, *WRAPPERS]))
    check_c(language, includes(reversed(WRAPPERS)))


@pytest.mark.parametrize("header", sorted({row[key] for row in FUNCTIONS for key in ("header", "header_9")} - {""}))
def test_header_declares_what_the_vendor_declares_there(header, language):
    names = [row["name"] for row in FUNCTIONS if header in (row["header"], row["header_9"])]
    uses = "".join(f"    (void)&{name};\n" for name in names)
    check_c(language, f"{includes([header])}void use(void);\nvoid use(void)\n{{\n{uses}}}\n")


def test_string_constants(language):
    check_c(
        language,
        "#include <acl/acl.h>\n#include <aclnn/acl_meta.h>\nextern const char *const texts[];\n"
        "const char *const texts[] = {ACL_DYNAMIC_TENSOR_NAME, ACL_DYNAMIC_AIPP_NAME,"
        " ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES};\n"
        "aclnnStatus ok(void);\naclnnStatus ok(void)\n{\n    return OK;\n}\n",
    )


def test_string_constants_that_python_has():
    text = (INCLUDE / "acl" / "acl_mdl.h").read_text()
    for name, value in [("TENSOR", GEAR_INPUT), ("AIPP", AIPP_INPUT)]:
        assert f'#define ACL_DYNAMIC_{name}_NAME "{value}"\n' in text


def test_each_room_is_included_by_one_header():
    homes = defaultdict(list)
    for name in WRAPPERS:
        for room in re.findall(r'#include "(?:acl/)?abi/(\w+)\.h"', (INCLUDE / name).read_text()):
            homes[room].append(name)
    assert {room: len(names) for room, names in homes.items()} == {path.stem: 1 for path in abi.headers(INCLUDE)}


# --- call shapes


def test_every_pyacl_call_has_one_shape():
    shapes = [path for path, (_, shape) in SHAPES.items() if not shape.extension]
    assert sorted(shapes) == sorted(row["python"] for row in PYACL)


FORMS = {
    "int": "",
    "float": "",
    "str": "str",
    "list[int]": "[int]",
    "list[float]": "[float]",
    "list[str]": "[str]",
    "list[list[int]]": "[[int]]",
    "dict": "dict",
    "list[dict]": "[dict]",
    "callable": "callable",
    "object": "object",
    "int or str": "int|str",
}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def named(text):
    return [tuple(part.split(": ", 1)) for part in abi.split_list(text)]


def is_float(function, name):
    ctype = next(param.type for param in function.params if param.name == name)
    return ABI.kind(ctype.rstrip("*").rstrip()) in ("float", "double")


@each(PYACL, lambda row: row["python"].rpartition(".")[0])
def test_shape(row):
    function, shape = SHAPES[row["python"]]
    assert function.name == row["c_function"]
    params = [param.name for param in function.params]
    arguments = named(row["args"])
    assert len(shape.arguments) == len(arguments)
    for item, (_, kind) in zip(shape.arguments, arguments):
        kind, optional = re.fullmatch(r"(.*?)( \(optional\))?", kind).groups()
        assert item.form == FORMS[kind], item.name
        assert item.optional == bool(optional)
        if item.name != "_" and not item.form:
            assert is_float(function, item.name) == (kind == "float"), item.name
    order = [params.index(item.name) for item in shape.arguments if item.name != "_"]
    assert order == sorted(order), "arguments are in the order of the C parameters"
    for place, (name, _) in enumerate(arguments):
        twins = [item.name for item in shape.arguments if snake(item.name) == name]
        assert twins in ([], [shape.arguments[place].name]), f"{name} is argument {place}"

    returns = row["returns"]
    if returns == "None":
        assert (shape.result, function.ret) == ("None", "void")
    elif returns == "ret: int":
        assert shape.result == "ret"
    elif returns.startswith("("):
        outputs = named(returns[1:-1])
        assert shape.result == "tuple"
        assert outputs.pop() == ("ret", "int")
        assert [output.form for output in shape.outputs] == [FORMS[kind] for _, kind in outputs]
        for output, (_, kind) in zip(shape.outputs, outputs):
            if not output.form and output.name != "0":
                assert is_float(function, output.name) == (kind == "float"), output.name
    else:
        kind = returns.split(": ")[1]
        assert shape.result == "value"
        assert {"str": function.ret == "const char *", "float": ABI.kind(function.ret) == "float"}.get(kind, True)
        assert kind != "int" or ABI.kind(function.ret) != "float"


def test_few_calls_are_written_by_hand():
    assert 50 <= sum(shape.python and not shape.extension for _, shape in SHAPES.values()) <= 62


# --- parser


def test_what_is_read_can_be_written_and_read_again(tmp_path):
    folder = tmp_path / "acl" / "abi"
    folder.mkdir(parents=True)
    for path in abi.headers(INCLUDE):
        text = ABI.groups[path.stem] + " */\n"
        for function in ABI.functions.values():
            if function.group == path.stem:
                lines = "\n *  ".join([function.doc, *(shape.text for shape in function.shapes)])
                text += f"/** {lines} */\nACL_API({function.since[0]}, {function.since[1]}) {function.prototype};\n"
        (folder / path.name).write_text("/* " + text)
    again = abi.load(tmp_path)
    assert again.functions == ABI.functions
    assert again.groups == ABI.groups


def test_kinds():
    kinds = {ABI.kind(param.type) for function in ABI.functions.values() for param in function.params}
    assert {"pointer", "enum", "struct", "int32_t", "uint32_t", "size_t", "float"} <= kinds
    assert ABI.kind("aclrtStream") == "pointer"
    assert ABI.kind("aclFloat16") == "uint16_t"
    assert ABI.kind("const aclrtMemcpyKind") == "enum"
    assert ABI.kind("aclrtCallback") == "pointer"
    assert ABI.kind("dim3") == "struct"
    with pytest.raises(abi.AbiError, match="'rtStream' is not declared"):
        ABI.kind("rtStream")


def test_arrays_and_function_pointers_as_parameters():
    declared = ABI.functions["acldumpRegCallback"]
    assert declared.params[0] == ("int32_t (*const)(const acldumpChunk *, int32_t)", "messageCallback")
    assert ABI.functions["aclSetTensorShapeRange"].params[2] == ("int64_t[][2]", "dimsRange")
    assert ABI.functions["aclAppLog"].variadic


MALLOC = "ACL_API(8, 1) aclError aclrtMalloc(void **devPtr, size_t size, int policy);"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aclError aclrtMalloc(void);", "neither a typedef nor 'ACL_API"),
        ("#ifdef X", "'#ifdef X' is not '#define NAME integer'"),
        ("#define X (5)", "is not '#define NAME integer'"),
        ("typedef enum E { A, B = 2 } E;", "'A' needs '= value'"),
        ("#define X 1\n#define X 2", "X is declared twice"),
        ("typedef int x;\n}", "the text after line 1"),
        (f"/** D.\n *  rt.malloc(size, policy) */\n{MALLOC}", "is not a call shape"),
        (f"/** D.\n *  rt.malloc(size) -> (devPtr, ret) */\n{MALLOC}", "leaves out policy"),
        (f"/** D.\n *  rt.malloc(size, kind) -> (devPtr, ret) */\n{MALLOC}", "names kind, which is not a parameter"),
        (f"/** D.\n *  rt.malloc(size, size, policy) -> (devPtr, ret) */\n{MALLOC}", "names a parameter twice"),
        (f"/** D.\n *  rt.malloc(size, policy:dict) -> (devPtr, ret) */\n{MALLOC}", "only @py shapes may use"),
        (f"/** D.\n *  rt.malloc(size, policy:text) -> (devPtr, ret) */\n{MALLOC}", "is not a call shape item"),
        (f"/** D.\n *  rt.malloc(devPtr, size, policy) -> value */\n{MALLOC}", "ends in value"),
        (f"/** D.\n *  rt.malloc(size, policy) -> (=devPtr, ret) @py */\n{MALLOC}", "returns devPtr, which is"),
    ],
)
def test_a_bad_header_is_refused(tmp_path, text, message):
    folder = tmp_path / "acl" / "abi"
    folder.mkdir(parents=True)
    (folder / "base.h").write_text("typedef int aclError;\n")
    (folder / "errors.h").write_text(text + "\n")
    with pytest.raises(abi.AbiError, match=re.escape(message)):
        abi.load(tmp_path)


def test_a_folder_without_headers_is_refused(tmp_path):
    with pytest.raises(abi.AbiError, match="must hold acl/abi"):
        abi.load(tmp_path)


def test_cffi_accepts_the_declarations():
    ffi = pytest.importorskip("cffi").FFI()
    ffi.cdef(abi.cdef(INCLUDE))
    assert ffi.typeof("aclmdlIODims *").item.fields[1][0] == "dimCount"
    assert ffi.sizeof("aclAippInfo") == 299216


# --- report


def test_report():
    counts = abi.report({"aclInit", "aclrtMalloc", "aclsimReset"}, ABI.functions.values())
    assert counts["init"] == {"declared": 14, "implemented": 13, "missing": 1}
    assert counts["event"] == {"declared": 19, "implemented": 19, "missing": 0}
    assert sum(row["declared"] for row in counts.values()) == 735


def test_report_as_text_and_json():
    missing = {"aclrtMalloc", "aclInit"}
    table = abi.abi_command(ABI.functions.values(), missing)
    assert table.split("\n")[-1].split() == ["total", "735", "733", "2"]
    assert abi.abi_command(ABI.functions.values(), missing, names=True) == "aclInit\naclrtMalloc"
    assert json.loads(abi.abi_command(ABI.functions.values(), missing, names=True, as_json=True)) == sorted(missing)
    assert json.loads(abi.abi_command(ABI.functions.values(), missing, as_json=True))["total"]["missing"] == 2


def test_the_parser_runs_by_itself():
    text = subprocess.check_output([sys.executable, ROOT / "acl" / "abi.py"], encoding="utf-8")
    assert re.search(r"^total +735 ", text, re.M)


# --- generated sources


def control_object(tmp_path, without="", more=()):
    """Compile an object that defines the control interface and aclInit."""
    names = [function.name for function in ABI.functions.values() if function.group == abi.CONTROL_GROUP]
    source = tmp_path / "control.c"
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in [*names, "aclInit", *more] if name != without))
    subprocess.run(["gcc", "-c", source, "-o", tmp_path / "control.o"], check=True)
    return str(tmp_path / "control.o")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_stubs_define_what_no_object_defines(tmp_path, compiler):
    text = generate.stubs(ABI, [control_object(tmp_path)])
    check_c(compiler, text, "-D_GNU_SOURCE", f"-I{ROOT / 'simulator' / 'core'}")
    defined = re.findall(r"^\w[^;\n]*?(\w+)\([^;]*\)\n\{", text, re.M)
    assert sorted(defined) == sorted({function.name for function in VENDOR} - {"aclInit"})
    assert "const size_t sim_missing_count = 734;" in text
    assert 'return sim_missing("aclrtMalloc");' in text


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_newer_functions_ask_for_their_version(tmp_path, compiler):
    text = generate.stubs(ABI, [control_object(tmp_path, more=["sim_since_aclrtGetEventId"])])
    check_c(compiler, text, "-D_GNU_SOURCE", f"-I{ROOT / 'simulator' / 'core'}")
    assert set(re.findall(r"cf_cann < (\d+)", text)) == {"805", "900", "901"}
    newer = {function.name for function in VENDOR if function.since > (8, 1)}
    assert set(re.findall(r'sim_missing_newer\("(\w+)"', text)) == newer
    body = text[text.index("aclError aclrtGetEventId(") :].split("\n}\n")[0]
    assert 'return sim_missing_newer("aclrtGetEventId", "8.5");' in body
    assert body.endswith("return sim_since_aclrtGetEventId(event, eventId);")
    assert f"sim_missing_count = {len(VENDOR) - 2};" in text
    assert set(re.findall(r'__asm__\("sim_since_(\w+)"\)', generate.since(ABI))) == newer
    check_c(compiler, generate.since(ABI))


def test_an_undefined_control_function_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no object defines aclsimReset;"):
        generate.stubs(ABI, [control_object(tmp_path, without="aclsimReset")])


def test_the_map_exports_the_declared_names():
    text = generate.export_map(ABI)
    operators = {symbol for row in abi.rows(ROOT / "simulator" / "ops" / "rows").values() for symbol in row.symbols}
    others = set(abi.load_extra(INCLUDE).functions)
    assert set(re.findall(r"^ +(\w+);", text, re.M)) == set(ABI.functions) | operators | others
    assert text.startswith("{")
