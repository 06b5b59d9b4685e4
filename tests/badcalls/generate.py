"""Write the table of the bad-call driver: for each declared function a C function that calls it with drawn arguments.

    python tests/badcalls/generate.py > table.c

What is drawn for a parameter follows from its type alone, see :func:`draw`; the pools are in driver.c.
"""

import re
import sys
from pathlib import Path

from acl import abi

ROWS = Path(__file__).resolve().parents[2] / "simulator" / "ops" / "rows"
CONTROL = {"aclsimReset", "aclsimConfigure"}  # they would undo what the driver set up
# Calls that wait for work, which is for ever where the run itself has queued what never ends. A run of one function
# cannot have done that; runs that mix functions leave them out.
WAITS = re.compile(
    r"aclrt(Synchronize(Stream|Event|Device)|Destroy(Stream|Context)|ResetDevice(Force)?|Free(Host)?WithDevSync|"
    r"StreamStop|NotifyBatchReset)$|aclmdlRI(Execute|Destroy)$|aclsimWaitSlice$|aclFinalize"
)
SHORT = re.compile(r"timeout|milliseconds", re.I)
PATH = re.compile(r"path|file|dir$", re.I)
# Functions of the C library's kind know nothing of device memory and trust the caller's room up to SECUREC_MEM_MAX_LEN:
# they get host memory, and a room that it has or that is refused. A list of further arguments cannot be drawn.
HOST_ONLY = {"securec"}
ROOM = re.compile(r"destMax")
INCLUDED = re.compile(r'"acl/abi/extra/(\w+)\.h"')
# sprintf_s and snprintf_s call the first two; the last one hands out memory that a caller frees, so that it would seem
# to leak.
UNDRAWN = {"vsprintf_s", "vsnprintf_s", "aclnnTransQuantParam"}
LIST = re.compile(r"dsts|srcs")
PLACE = re.compile(r"dst|src")  # device memory where an address stands
INNER = re.compile(r"param")  # an address may stand there, that the function reads


def members_point(declared, ctype, seen=()):
    """Tell whether a struct type has a pointer somewhere in it."""
    bare = re.sub(r"\b(?:const|struct|union)\b|[\s\[\]\d]", "", ctype)
    if bare in seen:
        return False
    if bare in declared.typedefs:
        return members_point(declared, declared.typedefs[bare].type, (*seen, bare))
    fields = declared.structs[bare].fields if bare in declared.structs else ()
    return any(
        "*" in field.type or "{" in field.type or members_point(declared, field.type, (*seen, bare))
        for field in fields or ()
    )


def is_handle(declared, bare):
    """Tell whether a pointer type names an object of the library."""
    alias = declared.typedefs.get(bare)
    if alias is not None:
        return alias.type == "void *"
    target = bare[:-1].strip() if bare.endswith("*") else ""
    return target in declared.structs and declared.structs[target].fields is None


def draw_host(param):
    """Return the C expression for a parameter of a function that knows host memory alone; None for an ordinary one."""
    if ROOM.fullmatch(param.name):
        return "draw_room()"
    bare = " ".join(re.sub(r"\bconst\b", "", param.type).split())
    # An array of pointers into texts that this function may write to is what an earlier call has left there.
    return {"void *": "draw_words()", "char **": "draw_zeros()"}.get(bare)


def draw(declared, param):
    """Return the C expression that draws an argument for one parameter."""
    bare = " ".join(re.sub(r"\bconst\b", "", param.type).split())
    kind = declared.kind(param.type)
    if kind == "enum":
        values = declared.enums[bare].members.values()
        return f"draw_enum({min(values)}, {max(values)})"
    if kind in ("float", "double"):
        return "draw_float()"
    if kind != "pointer":
        return "draw_milliseconds()" if SHORT.search(param.name) else "draw_number()"
    if "(" in bare or "(" in declared.typedefs.get(bare, abi.Typedef("", "", "")).type:
        return "draw_function()"
    if bare == "char *":
        return "draw_path()" if PATH.search(param.name) else "draw_text()"
    if bare == "void *":
        return "draw_no_handles()" if INNER.fullmatch(param.name) else "draw_memory()"
    if is_handle(declared, bare):
        return "draw_handle()"
    target = re.sub(r"\[\w*\]$|\*$", "", bare).strip()
    if target == "void *" and LIST.fullmatch(param.name):
        return "draw_addresses()"
    if target == "void *" and PLACE.fullmatch(param.name):
        return "draw_memory()"
    if target == "aclrtMemcpyBatchAttr":
        return "draw_locations()"
    if target == "char *":
        return "draw_texts()"
    if target == "int64_t *":
        return "draw_lists()"
    if target.endswith("*") or is_handle(declared, target):
        return "draw_words()"
    return "draw_zeros()" if members_point(declared, target) else "draw_words()"


def caller(declared, function):
    """Return the C text of one entry's function."""
    lines, names = [], []
    for place, param in enumerate(function.params):
        name = f"a{place}"
        names.append(name)
        kind = declared.kind(param.type)
        expression = (function.group in HOST_ONLY and draw_host(param)) or draw(declared, param)
        if function.variadic and expression == "draw_text()":
            expression = "draw_plain_text()"  # a format without conversions, as nothing follows it
        if kind == "struct":
            lines.append(f"{param.type} {name}; draw_bytes(&{name}, sizeof {name});")
        elif kind == "pointer" and expression != "draw_function()":
            lines.append(f"void *{name} = {expression};")
        elif kind == "pointer":
            lines.append(f"{abi.declare(param.type, name)} = ({param.type}){expression};")
        else:
            lines.append(f"{param.type} {name} = ({param.type}){expression};")
    lines.append(f"(void){function.name}({', '.join(names)});")
    body = "\n    ".join(lines)
    return f"static void call_{function.name}(void)\n{{\n    {body}\n}}\n"


def operators():
    """Return the entry points of the operators as functions."""
    found = []
    for row in abi.rows(ROWS).values():
        for prototype in row.prototypes:
            name, params = re.fullmatch(r"aclnnStatus (\w+)\((.*)\)", prototype).groups()
            plain = tuple(abi.Param(*re.fullmatch(r"(.*[ *])(\w+)", part).groups()) for part in params.split(", "))
            found.append(abi.Function(name, "row", "aclnnStatus", plain, (8, 1), "", ()))
    return [function for function in found if function.name not in UNDRAWN]


def table():
    """Return the C text of the whole table."""
    declared = abi.load_extra()  # its types are all types, its functions are those of other libraries
    functions = [function for function in abi.load().functions.values() if function.name not in CONTROL]
    functions += [function for function in declared.functions.values() if function.name not in UNDRAWN]
    functions += operators()
    folder = abi.headers()[0].parents[2]
    users, others = [], []  # headers of interfaces that have none for users come last: they use the others' types
    for path in sorted(folder.rglob("*.h")):
        if path.parent.name == "extra":
            others.append(path)
        elif path.parent.name != "abi":
            users.append(path)
    wrapped = set(INCLUDED.findall("".join(path.read_text() for path in users)))
    wrappers = [path.relative_to(folder).as_posix() for path in users]
    wrappers += [f"acl/abi/extra/{path.name}" for path in others if path.stem not in wrapped]
    rows = "".join(
        f'    {{"{function.name}", call_{function.name}, {int(bool(WAITS.search(function.name)))}}},\n'
        for function in functions
    )
    return "\n".join(
        [
            *(f"#include <{wrapper}>" for wrapper in wrappers),
            '#include "driver.h"\n',
            *(caller(declared, function) for function in functions),
            f"const struct entry entries[] = {{\n{rows}}};",
            "const size_t entry_count = sizeof entries / sizeof *entries;\n",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(table())
