"""Build the compiled module ``acl._acl``, the type stubs and the simulator from the declared headers.

:mod:`acl.abi` reads the headers. This file generates C code from them: the table of backend pointers, and one builtin
for every call shape. Hand-written C code is in ``acl/pycall.h`` (conversions), ``acl/backend.h`` (loading of the
library), ``acl/owner.h`` (base class of the objects), ``acl/launch.h`` (launches of kernels), ``acl/capsule.h``
(DLPack capsules) and ``acl/phases.h`` (operators).
"""

import importlib.util
import json
import keyword
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
INCLUDE = ROOT / "acl" / "include"
ROWS = ROOT / "simulator" / "ops" / "rows"
PACKAGES = "apt install python3-venv python3-dev gcc g++ make"
NAMESPACES = ("acl", "rt", "mdl", "op", "util", "prof", "blas")
# The file of acl/abi/extra whose functions the objects call, too; they have no pyACL calls.
COLLECTIVE = "hccl"

CDEF = """
const char *acl_backend_open(const char *path, int global);
int acl_backend_has(const char *name);
void acl_backend_trace(void);
const char *acl_backend_record(const char *path);
void *acl_backend_symbol(const char *path, const char *name);
const char *acl_backend_name(size_t index);
const char *acl_backend_absent(void), *acl_backend_loaded(void);
int acl_pycall_install(void);
void acl_line_watch(const char *home);
void acl_line_forget(void);
extern aclsimModelFunc acl_executor;
void acl_register_executors(void);
void acl_pycall_main_thread(unsigned long thread), acl_pycall_exit(void);
struct acl_data_type { int code, bits, number; const char *name, *numpy, *package; };
const struct acl_data_type *acl_data_type(size_t index);
extern "Python" void acl_on_callback(void *userData);
extern "Python" void acl_on_exception(aclrtExceptionInfo *exceptionInfo);
extern "Python" int32_t acl_on_dump(const acldumpChunk *chunk, int32_t length);
"""

# The stub's lines for names that acl/pycall.h, acl/capsule.h, acl/owner.h and acl/launch.h define.
OWN = """
ffi: Any
lib: Any
def unraisable(exception: BaseException, origin: object, /) -> None: ...
def capsule(address: int, versioned: bool, advice: str | None, /) -> Any: ...
def phase(title: str, document: str, kinds: str, prototype: str | None, function: int, /) -> Any: ...
def capturing_into(stream: int, /) -> int: ...
def launch(number: int, stream: int, block_type: int = ..., /) -> int: ...
def tell(blocks: Any, stream: Any, /) -> None: ...
def pack_arguments(form: Any, opening: Any, arguments: Any, /) -> tuple[bytes, list[Any]] | None: ...
def in_place(kind: type[Any], arrays: Any, layouts: Any, opening: Any, /) -> tuple[list[int], Any] | None: ...
def launch_kernel(form: Any, blocks: Any, opening: Any, stream: Any, arguments: Any, /) -> int | None: ...
class Owner:
    _handle: Any
    _opening: Any
class EventOwner(Owner):
    def __init__(self, *, timing: bool = ..., gate: bool = ..., interprocess: bool = ...) -> None: ...
    def close(self) -> None: ...
class BufferOwner(Owner):
    _shared: Any
    nbytes: int
    def __init__(self, size: int, *, kind: str = ..., policy: str = ...) -> None: ...
    def close(self) -> None: ...
""".splitlines()

LIBRARY = """
static void acl_pycall_main_thread(unsigned long thread) { pycall_main_thread = thread; }
static void acl_pycall_exit(void) { pycall_exiting = 1; }
static void acl_register_executors(void) { pycall_register_executors(); }
"""

SLOTS = {
    **dict.fromkeys(("enum", "int"), ("signed", 4)),
    **dict.fromkeys(("bool", "unsigned char"), ("unsigned", 1)),
    "char": ("signed", 1),
    **{name: ("float", size) for name, size in (("float", 4), ("double", 8))},
    "size_t": ("unsigned", 8),
    **{f"int{8 * size}_t": ("signed", size) for size in (1, 2, 4, 8)},
    **{f"uint{8 * size}_t": ("unsigned", size) for size in (1, 2, 4, 8)},
}
RANGES = {1: ("INT8_MIN", "INT8_MAX"), 2: ("INT16_MIN", "INT16_MAX"), 4: ("INT32_MIN", "INT32_MAX")}


class BuildError(SystemExit):
    """Stops the build with a message of one sentence."""


def load(name):
    """Load a module of the package by its path: the package itself cannot be imported before it is built."""
    spec = importlib.util.spec_from_file_location(f"acl_{name}", ROOT / "acl" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module here
    spec.loader.exec_module(module)
    return module


gil = load("gil")


def snake(name):
    """Convert the name of a C parameter to the name that Python shows."""
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()
    return name + "_" if keyword.iskeyword(name) else name


def target(c_type):
    """Return the type that an output parameter points to."""
    return re.sub(r"\*\s*(const\s*)?$", "", c_type).strip()


def c_text(text):
    """Quote text as a C string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Slots:
    """Maps C types to the kinds of slots that the conversions support."""

    def __init__(self, abi):
        self.abi = abi

    def kind(self, c_type):
        """Return ``pointer``, ``unsigned``, ``signed``, ``float``, ``text`` or ``void``, and the size in bytes."""
        if re.sub(r"\s", "", c_type) == "constchar*":
            return "text", 8
        found = self.abi.kind(c_type)
        if found in ("void", "pointer"):
            return found, 8
        if found not in SLOTS:
            raise BuildError(f"build_acl.py: a call shape cannot pass {c_type} ({found}) by value, mark it @py")
        return SLOTS[found]

    def is_unsigned_enum(self, c_type):
        """Return whether a type is an enumeration without negative members."""
        return c_type in self.abi.enums and min(self.abi.enums[c_type].members.values()) >= 0

    def read(self, c_type, value, function, position, name):
        """Return the lines that declare the slot of an argument and the C expression that reads it."""
        kind, size = self.kind(c_type)
        place = f"{value}, {c_text(function)}, {position}, &i_{name}"
        if kind == "float":
            return f"double i_{name} = 0;", f"pycall_double({place})"
        if kind in ("pointer", "text") or size == 8 or (kind == "unsigned" and size == 4):
            return f"uint64_t i_{name} = 0;", f"pycall_u64({place})"
        low, high = RANGES[size] if kind == "signed" else ("0", f"UINT{8 * size}_MAX")
        return (
            f"int64_t i_{name} = 0;",
            f"pycall_signed({value}, {c_text(function)}, {position}, {low}, {high}, &i_{name})",
        )

    def give(self, c_type, value):
        """Return the C expression that converts a C value to a Python object."""
        kind, size = self.kind(c_type)
        if kind == "text":
            return f"pycall_from_text({value})"
        if kind == "pointer":
            return f"PyLong_FromVoidPtr((void *){value})"
        if kind == "float":
            return f"PyFloat_FromDouble({value})"
        if kind == "signed":
            return f"pycall_from_int({value})"
        return f"PyLong_FromUnsignedLongLong({value})"


class Call:
    """One builtin: a declared function, its call shape, and the C code generated from both."""

    def __init__(self, function, shape, slots):
        self.function = function
        self.shape = shape
        self.slots = slots
        self.types = {param.name: param.type for param in function.params}
        self.title = shape.path
        self.symbol = f"pyacl_{shape.namespace}_{shape.name}"
        self.items = shape.arguments
        self.least = sum(not item.optional for item in self.items)

    def annotation(self, item, output=False):
        """Return the Python type of an argument or output, as the stubs print it."""
        kind = item.form
        if kind.startswith("["):
            inner = kind[1:-1]
            if inner.startswith("["):
                return "list[list[int]]"
            return f"list[{'dict[str, Any]' if inner == 'dict' else inner}]"
        named = {"dict": "dict[str, Any]", "callable": "Callable[..., Any]", "object": "Any", "int|str": "int | str"}
        if kind:
            return named.get(kind, kind)
        c_type = self.types.get(item.name, "int")
        if output and not item.given:
            c_type = target(c_type)
        return "float" if self.slots.abi.kind(c_type) in ("float", "double") else "int"

    def parameters(self):
        """Return ``(name, annotation, optional)`` of each Python argument."""
        seen = []
        for place, item in enumerate(self.items, 1):
            name = f"unused{place}" if item.name == "_" else snake(item.name)
            seen.append((name, self.annotation(item), item.optional))
        return seen

    def result(self):
        """Return the annotation of the return value."""
        if self.shape.result == "None":
            return "None"
        if self.shape.result == "ret":
            return "int"
        if self.shape.result == "value":
            kind = self.slots.kind(self.function.ret)[0]
            return {"text": "str | None", "float": "float"}.get(kind, "int")
        outs = [self.annotation(out, True) + (" | None" if out.form == "str" else "") for out in self.shape.outputs]
        return f"tuple[{', '.join(outs + ['int'])}]"

    def signature(self):
        """Return the line of the type stub."""
        names = [f"{name}: {kind}{' = ...' if optional else ''}" for name, kind, optional in self.parameters()]
        return f"def {self.shape.name}({', '.join(names + ['/'] if names else [])}) -> {self.result()}: ..."

    def doc(self):
        """Return the docstring, which begins with the text signature that inspect reads."""
        names = ["$module"] + [name + ("=None" if optional else "") for name, _, optional in self.parameters()]
        if self.shape.result == "tuple":
            gives = "(" + ", ".join([snake(out.name) for out in self.shape.outputs] + ["ret"]) + ")"
        else:
            gives = {"None": "None", "ret": "ret", "value": "the value"}[self.shape.result]
        extension = " An extension: the vendor's pyACL has no such call." if self.shape.extension else ""
        return (
            f"{self.shape.name}({', '.join(names)}, /)\n--\n\n{self.function.doc}\n\n"
            f"Calls {self.function.name} (CANN {self.function.needs}). Returns {gives}.{extension}"
        )

    def method(self):
        """Return the entry of the method table."""
        flags = "METH_FASTCALL"
        function = f"(PyCFunction)(void (*)(void)){self.symbol}"
        return f"    {{{c_text(self.shape.name)}, {function}, {flags}, {c_text(self.doc())}}},"

    def source(self):
        """Return the C function."""
        lines = [f"static PyObject *{self.symbol}(PyObject *self, PyObject *const *args, Py_ssize_t count)", "{"]
        lines += ["    (void)self; (void)args; (void)count;"]
        body = self.by_hand() if self.shape.python else self.direct()
        return "\n".join(lines + ["    " + line if line else line for line in body] + ["}", ""])

    def arguments(self, read):
        """Return the declarations of the slots, and the checks that fill them; ``read`` makes both for an argument."""
        most = len(self.items)
        declared, checks = [], []
        for place, item in enumerate(self.items):
            if item.name == "_":
                checks.append(f"pycall_u64(args[{place}], {c_text(self.title)}, {place + 1}, &i_unused)")
                declared.append("uint64_t i_unused = 0;")
                continue
            lines, check = read(item, f"args[{place}]", place + 1)
            declared += lines
            if check and item.optional:
                check = f"(count > {place} && {check})"
            checks += [check] if check else []
        if most:
            wrong = f"count != {most}" if self.least == most else f"(count < {self.least} || count > {most})"
            counted = f"{wrong} && pycall_count({c_text(self.title)}, count, {self.least}, {most})"
            declared.append(f"if ({counted}) return NULL;")
        return declared, checks

    def direct(self):
        """Return the body of a builtin that is entirely in C."""
        lists = [item for item in self.items if item.form.startswith("[")]

        def read(item, value, position):
            place = f"{value}, {c_text(self.title)}, {position}"
            if item.form == "str":
                return (
                    [f"const char *i_{item.name} = NULL; uint64_t n_{item.name} = 0; (void)n_{item.name};"],
                    f"pycall_text({place}, &i_{item.name}, &n_{item.name})",
                )
            if item.form.startswith("["):
                width = 2 if item.form == "[[int]]" else 1
                element, size = self.element(item)
                return (
                    [f"void *i_{item.name} = NULL; uint64_t n_{item.name} = 0;"],
                    f"pycall_list({place}, {element}, {size}, {width}, &i_{item.name}, &n_{item.name})",
                )
            declared, check = self.slots.read(self.types[item.name], value, self.title, position, item.name)
            return [declared], check

        lines, checks = self.arguments(read)
        leave = "goto done;" if lists else "return NULL;"
        if lists:
            lines.insert(0, "PyObject *result = NULL;")
        if checks:
            lines.append(f"if ({' || '.join(checks)}) {leave}")
        lengths = {}
        for item in self.items:
            if item.length:
                first = lengths.setdefault(item.length, item)
                if first is not item:
                    lines.append(
                        f"if (n_{item.name} != n_{first.name}) {{ PyErr_SetString(PyExc_ValueError, "
                        + c_text(f"{self.title}() needs {snake(first.name)} and {snake(item.name)} of the same length")
                        + f"); {leave} }}"
                    )
        outs = [out for out in self.shape.outputs if out.name in self.types and not out.given]
        lines += [f"{target(self.types[out.name])} o_{out.name} = 0;" for out in outs]
        lines += self.call({out.name for out in outs}, lengths)
        give = self.returned()
        if lists:
            lines += [f"result = {give}", "done:"] + [f"PyMem_Free(i_{item.name});" for item in lists]
            return lines + ["return result;"]
        return lines + ([f"return {give}"] if give != "Py_None;" else ["Py_RETURN_NONE;"])

    def element(self, item):
        """Return the kind and size of the C numbers that a list argument is converted to."""
        if item.form == "[str]":
            return "PYCALL_TEXT", "sizeof(char *)"
        c_type = re.sub(r"(\s*\*|(\[\d*\])+)$", "", self.types[item.name]).replace("const ", "").strip()
        kind, size = self.slots.kind(c_type)
        element = {"float": "PYCALL_FLOAT", "signed": "PYCALL_SIGNED"}.get(kind, "PYCALL_UNSIGNED")
        return ("PYCALL_UNSIGNED" if size == 8 and kind == "signed" else element), size

    def call(self, outs, lengths):
        """Return the lines that make the call; the GIL is released during it except as ``acl/gil.py`` says."""
        hidden = {item.name for item in self.shape.items if item.null}
        plain = {item.name for item in self.items if not item.form}
        passed = []
        for c_type, name in self.function.params:
            if name in outs:
                passed.append(f"&o_{name}")
            elif name in lengths:
                passed.append(f"({c_type})n_{lengths[name].name}")
            elif name in hidden:
                passed.append("NULL")
            elif name in plain and self.slots.kind(c_type)[0] in ("pointer", "text"):
                passed.append(f"(void *)(uintptr_t)i_{name}")
            elif name in plain:
                passed.append(f"({c_type})i_{name}")
            else:
                passed.append(f"i_{name}")
        call = f"{self.function.name}({', '.join(passed)});"
        kept = []
        if self.function.ret != "void":
            kept, call = [f"{self.function.ret} ret = 0;"], f"ret = {call}"
        if self.function.name in gil.PURE:
            return kept + [call]
        if self.function.name not in gil.WAITS:
            away = ["Py_BEGIN_ALLOW_THREADS", call, "Py_END_ALLOW_THREADS"]
            quick = gil.condition(self.function)
            return kept + ([f"if (acl_backend_waits && {quick}) {call}", "else {", *away, "}"] if quick else away)
        kind, handle, timeout = gil.WAITS[self.function.name]
        limit = f"i_{timeout}" if timeout else "-1"
        place = f"(void *)(uintptr_t)i_{handle}" if handle else "NULL"
        return [
            *kept,
            f"int ready = acl_backend_waits && aclsimIsReady(ACLSIM_WAIT_{kind}, {place});",
            f"if (ready) {call}",
            "while (!ready) {",
            "    if (pycall_interrupted() != 0) { pycall_waited(); return NULL; }",
            "    Py_BEGIN_ALLOW_THREADS",
            f"    ready = pycall_ready(ACLSIM_WAIT_{kind}, {place}, {limit});",
            f"    if (ready) {{ {call} pycall_waited(); }}",
            "    Py_END_ALLOW_THREADS",
            "}",
        ]

    def returned(self):
        """Return the C expression of the Python return value."""
        if self.shape.result == "None":
            return "Py_None;" if not any(i.form.startswith("[") for i in self.items) else "Py_NewRef(Py_None);"
        if self.shape.result == "ret":
            return f"pycall_status(ret, {c_text(self.title)});"
        if self.shape.result != "tuple":
            return self.slots.give(self.function.ret, "ret") + ";"
        given = []
        for out in self.shape.outputs:
            if out.given:
                given.append(f"PyLong_FromUnsignedLongLong(i_{out.name})")
            elif out.name in self.types:
                given.append(self.slots.give(target(self.types[out.name]), f"o_{out.name}"))
            else:
                given.append("pycall_from_int(0)")
        given.append(f"pycall_status(ret, {c_text(self.title)})")
        return f"pycall_tuple((PyObject *[]){{{', '.join(given)}}}, {len(given)});"

    def by_hand(self):
        """Return the body of a builtin that calls a Python function of acl/api."""
        objects = []

        def read(item, value, position):
            if not item.form and item.name in self.types:
                c_type = self.types[item.name]
                objects.append(self.slots.give("uint64_t", f"i_{item.name}"))
                if self.slots.kind(c_type)[0] == "pointer":
                    c_type = "uint64_t"
                declared, check = self.slots.read(c_type, value, self.title, position, item.name)
                if self.slots.is_unsigned_enum(c_type):  # C and cffi treat such a type as unsigned
                    objects[-1] = self.slots.give("uint64_t", f"(uint32_t)i_{item.name}")
                elif declared.startswith("int64_t"):
                    objects[-1] = self.slots.give("int64_t", f"i_{item.name}")
                return [declared], check
            missing = f"count > {position - 1} ? {value} : Py_None" if item.optional else value
            objects.append(f"pycall_new({missing})")
            right = {
                "str": f"PyUnicode_Check({value})",
                "dict": f"PyDict_Check({value})",
                "callable": f"PyCallable_Check({value})" + (f" || {value} == Py_None" if item.optional else ""),
            }.get(item.form)
            if item.form.startswith("[") and not self.shape.name.startswith("set_attr_list_"):
                right = f"PyList_Check({value})"
            expected = "list" if item.form.startswith("[") else item.form
            check = f"pycall_object({value}, {c_text(self.title)}, {position}, {c_text(expected)}, {right})"
            return [], check if right else None

        lines, checks = self.arguments(read)
        if checks:
            lines.append(f"if ({' || '.join(checks)}) return NULL;")
        place = f"{c_text('acl.api.' + self.function.group)}, {c_text(self.shape.name)}"
        given = f"(PyObject *[]){{{', '.join(objects)}}}" if objects else "NULL"
        call = f"pycall_body(&body, {place}, {given}, {len(objects)})"
        if self.shape.result in ("ret", "tuple"):
            call = f"pycall_checked({call}, {c_text(self.title)})"
        return [*lines, "static PyObject *body;", f"return {call};"]


def absent_kind(function):
    """Return the kind of value that the stub of an absent function returns."""
    kinds = {"void": "nothing", "HcclResult": "result", **dict.fromkeys(("aclError", "aclnnStatus"), "status")}
    return kinds.get(function.ret, "value")


def wrappers():
    """Return the public headers, as a program includes them."""
    found = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))
    return [name for name in found if not name.startswith("acl/abi/")]


def preamble(functions, calls, facts, prototypes):
    """Return the C text in front of cffi's own: backend table, redirections, builtins."""
    rows = []
    for function in functions:
        rows.append(f"    X({absent_kind(function)}, {function.name}, {function.ret}, {c_text(function.needs)}) \\")
    tables, installs = [], []
    for space in NAMESPACES:
        methods = [call.method() for call in calls if call.shape.namespace == space]
        if methods:
            module = "acl" if space == "acl" else f"acl.{space}"
            tables += [f"static PyMethodDef pyacl_methods_{space}[] = {{", *methods, "    {NULL, NULL, 0, NULL}", "};"]
            installs.append(f"    done = done && pycall_install({c_text(module)}, pyacl_methods_{space});")
    return "\n".join(
        [f"#include <{name}>" for name in wrappers()]
        + ["#define ACL_FUNCTIONS(X) \\", *rows, "", '#include "backend.h"', '#include "line.h"']
        + [f"#define {each.name} (*(acl_line_note(), acl_backend.{each.name}))" for each in functions]
        + [prototypes, '#include "pycall.h"', LIBRARY, facts, '#include "data_types.h"']
        + [call.source() for call in calls]
        + ['#include "owner.h"', '#include "launch.h"']
        + tables
        + ["static int acl_pycall_install(void)", "{", "    PyGILState_STATE state = PyGILState_Ensure();"]
        + ['    int done = pycall_install("acl._acl", pycall_own_methods) &&']
        + ['        pycall_install("acl._acl", launch_methods) && owner_install("acl._lib");', *installs]
        + ["    if (!done) PyErr_Print();", "    PyGILState_Release(state);", "    return done;", "}", ""]
    )


def stub(space, calls):
    """Return the type stub of a namespace; functions written in Python are imported from its module."""
    lines = ["from collections.abc import Callable", "from typing import Any", *(OWN if space == "_acl" else [""])]
    if space != "_acl":
        text = (ROOT / "acl" / f"{space}.py").read_text(encoding="utf-8")
        for source, names in re.findall(r"^from (acl\.api\.\w+) import \(?([\w,\s]+)\)?$", text, re.M):
            lines += [f"from {source} import {name} as {name}" for name in re.findall(r"\w+", names)]
    return "\n".join(["# Made from the call shapes by build_acl.py.", *lines, *(c.signature() for c in calls), ""])


def calls_of(abi):
    """Return every builtin of the declared headers."""
    slots = Slots(abi)
    return [Call(function, shape, slots) for function in abi.functions.values() for shape in function.shapes]


def generate(directory):
    """Write the C source; return its path, and the type stubs by file name."""
    from cffi import FFI

    parser, facts, phases = load("abi"), load("facts"), load("phases")
    abi = parser.load(INCLUDE)
    calls = calls_of(abi)
    others = parser.load_extra(INCLUDE).functions.values()
    functions = [*abi.functions.values(), *(each for each in others if each.group == COLLECTIVE)]
    ffi = FFI()
    model_file = parser.plain(facts.model_file(ROOT))
    collective = parser.plain((INCLUDE / "acl" / "abi" / "extra" / f"{COLLECTIVE}.h").read_text(encoding="utf-8"))
    ffi.cdef(parser.cdef(INCLUDE) + collective + model_file + CDEF)
    check_toolkit(abi, ffi)
    tables = model_file + facts.data_type_table(abi, facts.numbers(model_file))
    rows = parser.rows(ROWS).values()
    kinds = [phases.kinds_of(param.type for param in row.params) for row in rows if not row.helper]
    ffi.set_source("acl._acl", preamble(functions, calls, tables, phases.table(map(phases.prototype_of, kinds))))
    source = Path(directory) / "_acl.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(str(source))
    return source, {**stubs(calls), "codes.pyi": facts.status_stub(abi)}


def stubs(calls):
    """Return the type stubs by file name."""
    names = {space: "_acl" if space == "acl" else space for space in NAMESPACES}
    return {
        f"{name}.pyi": stub(name, [call for call in calls if call.shape.namespace == space])
        for space, name in names.items()
    }


def check_machine():
    """Stop with a message of one sentence if this machine cannot build the package."""
    if not sys.platform.startswith("linux"):
        raise BuildError("ascendcl builds on Linux only: use WSL2 or a Linux container.")
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        raise BuildError(f"{header} is missing: {PACKAGES}")
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "gcc").split()[0]
    for tool, what in ((compiler, "the C compiler"), ("make", "make")):
        if shutil.which(tool) is None:
            raise BuildError(f"{what} ({tool}) is missing: {PACKAGES}")


def check_toolkit(abi, ffi):
    """Stop if the headers of an installed toolkit differ from ours."""
    named = [os.environ.get(name) for name in ("ACL_TOOLKIT", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")]
    toolkit = next((path for path in named if path and Path(path, "include/acl/acl.h").exists()), None)
    if toolkit is None:
        return
    version = Path(toolkit, "version.info")
    if version.exists() and "simulator=1" in version.read_text(encoding="utf-8").split():
        return
    difference = load("headers").compare(abi, ffi, toolkit).difference
    if difference is not None:
        raise BuildError(f"the headers of {toolkit} differ from ours:\n{difference}")


class BuildExt(build_ext):
    """Generates and compiles ``acl._acl``, and builds the simulator at the same time."""

    def run(self):
        """Build everything, or stop with a message of one sentence."""
        check_machine()
        source, stubs = generate(self.build_temp)
        extension = self.extensions[0]
        extension.sources = [str(source)]
        extension.include_dirs = [str(INCLUDE), str(ROOT / "acl")]
        extension.libraries = ["dl"]
        extension.define_macros = [("_CFFI_NO_LIMITED_API", None)]
        extension.py_limited_api = False
        extension.extra_compile_args = ["-O1", "-g0", "-std=gnu11", "-pthread"]
        simulator = self.start_simulator()
        try:
            super().run()
        finally:
            made = simulator.wait()
        if made != 0:
            raise BuildError("make -C simulator failed, its messages are above.")
        # An editable build restores its in-place flag only now, so the path of the extension is not known earlier.
        package = Path(self.get_ext_fullpath(extension.name)).parent
        made = Path(self.build_temp).resolve() / "simulator"
        for folder in ("lib64", "include/aclnnop"):
            shutil.rmtree(package / folder, ignore_errors=True)
            shutil.copytree(made / folder, package / folder)
        abi, signatures = load("abi"), load("objects/op_signature")
        rows = signatures.table_of(abi.rows(ROWS).values(), abi.OLDEST, snake)
        (package / "operators.json").write_text(json.dumps(rows, separators=(",", ":")), encoding="utf-8")
        stubs["nn.pyi"] = signatures.stub_of(rows)
        if package != ROOT / "acl" and (ROOT / "examples").is_dir():
            leave = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / "examples", package / "examples", ignore=leave, dirs_exist_ok=True)
        for name, text in stubs.items():
            (package / name).write_text(text, encoding="utf-8")

    def start_simulator(self):
        """Start make for the simulator, which uses the second core while the extension compiles."""
        build = Path(self.build_temp).resolve() / "simulator"
        settings = [f"BUILD={build}", f"PYTHON={sys.executable}", "WERROR="]
        return subprocess.Popen(["make", "-j2", "-C", str(ROOT / "simulator"), *settings, "lib"])
