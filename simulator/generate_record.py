"""Generate the C source of ``libacl_record.so``: a variant of each public function that records its calls.

The variants have the public names, so that a program calls them when the library is preloaded. Each one passes the
call on to the function of the next library. The tables beside them say how to write arguments and outputs, and which
of them are handles, device addresses and buffers of copies (``record/record.h``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from generate import INCLUDE, ROWS, abi, wrappers

# Functions whose handles and addresses are new, also if the value was in use before.
MAKES = re.compile(r"Create|Malloc|Alloc(?!at)|Load|Reserve|Import|Open|GetWorkspaceSize$|ArgsInit")
# Functions that end the object of their first argument.
ENDS = re.compile(r"(Free|Destroy|Release|Un[Ll]oad)(?!Register|Unregister)")
# Functions without a call shape have outputs by their types, except these, whose pointers are arrays.
ARRAYS = re.compile(r"Memcpy|Launch|Prefetch|Param|Exception|Topo")
IDS = re.compile(r"(model|bundle|stream|event|notify|task|modelRI)Id")
ROLES = (
    (r"aclrtMemcpy(2d)?(Async)?(WithCondition)?", "COPY"),
    (r"aclrtMemcpyBatch(Async)?(V2)?", "COPY_BATCH"),
    (r"aclrtMemcpy(From|To)Symbol(Async)?", "COPY"),
    (r"aclrtSynchronizeStream(WithTimeout)?", "SYNCHRONIZE_STREAM"),
    (r"aclrtSynchronizeDevice(WithTimeout)?", "SYNCHRONIZE_DEVICE"),
    (r"aclrtSynchronizeEvent(WithTimeout)?", "SYNCHRONIZE_EVENT"),
    (r"aclrtRecordEvent(WithFlag)?", "RECORD_EVENT"),
)  # fmt: skip
# The parameters that a role has: the members of struct sim_record_places, by their possible names.
PLACES = {"dst": "pl_to", "dsts": "pl_to", "src": "pl_from", "srcs": "pl_from", "count": "pl_bytes",
          "width": "pl_bytes", "sizes": "pl_bytes", "height": "pl_rows", "numBatches": "pl_rows",
          "dpitch": "pl_to_pitch", "spitch": "pl_from_pitch", "kind": "pl_kind", "stream": "pl_stream",
          "event": "pl_event"}  # fmt: skip
PREFIX = re.compile(r"^acl(rt|mdl|tdt|prof|op)?")


class Kinds:
    """The kinds of objects, by which handles and addresses are numbered."""

    def __init__(self) -> None:
        self.names = ["block", "pinned"]

    def number(self, name: str) -> int:
        """Return the number of a kind."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


def is_handle(declared: abi.Abi, ctype: str) -> bool:
    """Return whether a type is a handle: another name of ``void *``, or a pointer to a struct with hidden members."""
    bare = re.sub(r"\bconst\b", "", ctype).strip()
    if bare in declared.typedefs:
        return re.sub(r"\s", "", declared.typedefs[bare].type) == "void*"
    struct = declared.structs.get(bare[:-1].strip()) if bare.endswith("*") else None
    return struct is not None and struct.fields is None


def form_of(declared: abi.Abi, kinds: Kinds, ctype: str, name: str) -> tuple[str, int]:
    """Return how a value is written, the end of a name of ``enum sim_record_form``, and its kind of object."""
    if is_handle(declared, ctype):
        bare = re.sub(r"\bconst\b|[*\s]", "", ctype)
        short = PREFIX.sub("", bare)
        return "HANDLE", kinds.number(short if short[1:2].isupper() else short[0].lower() + short[1:])
    if re.sub(r"\s", "", ctype) == "constchar*":
        return "TEXT", 0
    kind = declared.kind(ctype)
    if kind in ("uint32_t", "int32_t") and IDS.fullmatch(name):
        return "ID", kinds.number(name)
    forms = {"pointer": "ADDRESS", "float": "FLOAT", "double": "FLOAT", "struct": "NOTHING", "void": "NOTHING"}
    return forms.get(kind) or ("UNSIGNED" if kind.startswith(("uint", "unsigned", "size_t", "bool")) else "SIGNED"), 0


def bits(declared: abi.Abi, value: str, ctype: str) -> str:
    """Return the C expression of a value as 64 bits."""
    kind = declared.kind(ctype)
    if kind in ("float", "double"):
        return f"sim_record_bits({value})"
    if kind in ("struct", "void"):
        return "0"
    return f"(uint64_t)(uintptr_t){value}" if kind == "pointer" else f"(uint64_t){value}"


class Entry:
    """A function with the tables of its parameters."""

    def __init__(self, declared: abi.Abi, kinds: Kinds, function: abi.Function) -> None:
        self.declared, self.kinds, self.function = declared, kinds, function
        self.names = [param.name for param in function.params]
        items = [item for shape in function.shapes for item in (*shape.outputs, *shape.items) if not item.given]
        self.lengths = {item.name: item.length for item in items if item.length}
        self.lists = {item.name for item in items if item.form in ("[int]", "[float]")}
        self.texts = {item.name for item in items if item.form == "str"}
        outputs = [out for shape in function.shapes for out in shape.outputs if not out.given]
        self.outputs = {out.name for out in outputs if not out.form or out.name in self.lists | self.texts}
        if not function.shapes and not ARRAYS.search(function.name):
            self.outputs = {param.name for param in function.params if "const" not in param.type}

    def is_array(self, param: abi.Param) -> bool:
        """Return whether a parameter points to several elements, whose number is another parameter."""
        length = self.lengths.get(param.name)
        types = [other.type for other in self.function.params if other.name == length]
        return param.name in self.lists and any(self.declared.kind(ctype) != "pointer" for ctype in types)

    def parameter(self, param: abi.Param) -> str:
        """Return the entry of a parameter."""
        ctype, size, count = param.type, "0", -1
        behind = re.sub(r"(\*\s*(const)?|\[\])$", "", ctype).strip()
        is_array, is_output = self.is_array(param), param.name in self.outputs and behind != ctype
        is_output = is_output and not is_handle(self.declared, ctype) and (is_array or param.name not in self.lists)
        if param.name in self.texts and behind == "char":
            ctype = "const char *"
        elif (is_array or is_output) and self.declared.kind(behind) not in ("void", "struct", "char"):
            ctype, size = behind, f"sizeof({behind})"
            count = self.names.index(self.lengths[param.name]) if is_array else -1
        else:
            is_output = False
        form, kind = form_of(self.declared, self.kinds, ctype, param.name)
        if is_output and form == "ADDRESS" and "Host" in self.function.name:
            kind = self.kinds.number("pinned")
        flag = "true" if is_output else "false"
        return f'{{"{param.name}", SIM_RECORD_{form}, {size}, {kind}, {count}, {flag}}}'

    def places(self) -> str:
        """Return what the function does with buffers, streams and events, and which parameters say so."""
        role = next((role for pattern, role in ROLES if re.fullmatch(pattern, self.function.name)), None)
        if role is None:
            return ""
        found = {PLACES[name]: i for i, name in enumerate(self.names) if name in PLACES}
        filled = [f".{member} = {found.get(member, -1)}" for member in dict.fromkeys(PLACES.values())]
        name = f"places_{self.function.name}"
        return f"static const struct sim_record_places {name} = {{SIM_RECORD_{role}, {', '.join(filled)}}};"

    def source(self) -> str:
        """Return the C text of its tables and of the variant."""
        function, name = self.function, self.function.name
        form, kind = form_of(self.declared, self.kinds, function.ret, "")
        code = function.ret in abi.STATUS_TYPES
        size = self.names.index("size") if "size" in self.names and MAKES.search(name) else -1
        values = [bits(self.declared, param.name, param.type) for param in function.params]
        table = f"parameters_{name}" if function.params else "NULL"
        entries = ",\n    ".join(map(self.parameter, function.params))
        call = f"record_next({', '.join(self.names)})"
        if function.ret == "void":
            body = [f"    if (record_next != NULL)\n        {call};", "    sim_record_end(&record_call, 0);", "}"]
        else:
            missing = f"({function.ret}){'ACL_ERROR_RT_FEATURE_NOT_SUPPORT' if code else 0}"
            body = [
                f"    {abi.declare(function.ret, 'record_result')} = record_next != NULL ? {call} : {missing};",
                f"    sim_record_end(&record_call, {bits(self.declared, 'record_result', function.ret)});",
                "    return record_result;\n}",
            ]
        flags = ["true" if flag else "false" for flag in (code, MAKES.search(name), ENDS.search(name))]
        places = self.places()
        return "\n".join(
            [
                *([places] if places else []),
                *([f"static const struct sim_record_parameter {table}[] = {{\n    {entries}}};"] if entries else []),
                f"RECORD_API {function.prototype};",
                f"static struct sim_record_function function_{name} = {{",
                f'    "{name}", (void (*)(void)){name}, 0, {table}, {f"&places_{name}" if places else "NULL"},',
                f"    {len(function.params)}, {size}, SIM_RECORD_{form}, {kind}, {', '.join(flags)}}};",
                f"RECORD_API {function.prototype}\n{{",
                "    struct sim_record_call record_call;",
                f"    const uint64_t record_given[{len(values) or 1}] = {{{', '.join(values) or 0}}};",
                f"    __typeof__({name}) *record_next =",
                f"        (__typeof__({name}) *)sim_record_begin(&record_call, &function_{name}, record_given);",
                *body,
                "",
            ]
        )


def operators() -> list[abi.Function]:
    """Return the functions of the operators."""
    found = []
    for row in abi.rows(ROWS).values():
        own = tuple(abi.Param(param.type, param.name) for param in row.params)
        plan = (*own, abi.Param("uint64_t *", "workspaceSize"), abi.Param("aclOpExecutor **", "executor"))
        run = (abi.Param("void *", "workspace"), abi.Param("uint64_t", "workspaceSize"),
               abi.Param("aclOpExecutor *", "executor"), abi.Param("aclrtStream", "stream"))  # fmt: skip
        phases = zip(row.symbols, [own] if row.helper else [plan, run])
        found += [abi.Function(name, "nnop", "aclnnStatus", params, row.since, "", ()) for name, params in phases]
    return found


def source() -> str:
    """Return the C source."""
    declared, kinds = abi.load(INCLUDE), Kinds()
    functions = [f for f in declared.functions.values() if f.group != abi.CONTROL_GROUP and not f.variadic]
    functions += operators()
    parts = [wrappers(), '#include "record.h"\n\n']
    parts += [Entry(declared, kinds, function).source() + "\n" for function in functions]
    names = "".join(f"    &function_{name},\n" for name in sorted(function.name for function in functions))
    parts.append(f"static struct sim_record_function *const functions[] = {{\n{names}}};\n")
    count = "sizeof functions / sizeof *functions"
    parts.append(f"const struct sim_record_functions sim_record_functions = {{functions, {count}}};\n")
    quoted = ", ".join(f'"{name}"' for name in kinds.names)
    parts.append(f"const char *const sim_record_kinds[] = {{{quoted}}};\n")
    assert len(kinds.names) <= 256, "a kind is one byte, and record_names.c counts 256 kinds"
    return "".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source(), encoding="utf-8")
