"""Toolkits that look like those of CANN 8.1, 8.5, 9.0 and 9.1, over the built simulator.

``PYTHONPATH=tests python -m helpers.toolkits 8.5 DIR`` writes one: the libraries and headers of that version, each with
the names that it has there (``abi_facts``), and ``version.info``. Of 8.5 only the new functions are known; its other
functions are in the files of 8.1, and its values and layouts are those of 9.
"""

import csv
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import acl
from acl import abi

from .expect import ABI

TESTS = Path(__file__).resolve().parent.parent
ROWS = TESTS.parent / "simulator" / "ops" / "rows"
NAMES = {(8, 1): "8.1.RC1", (8, 5): "8.5.0", (9, 0): "9.0.0", (9, 1): "9.1.0"}
VERSIONS = tuple(f"{major}.{minor}" for major, minor in NAMES)
MAIN = "libascendcl.so"

# Each header may need those before it. INCLUDES has the includes that a header has without needing them.
ORDER = [
    "acl/error_codes/rt_error_codes.h", "acl/error_codes/ge_error_codes.h", "acl/acl_base_rt.h", "acl/acl_base_mdl.h",
    "acl/acl_base.h", "acl/acl_dump.h", "acl/acl_prof.h", "acl/acl_rt_allocator.h", "acl/acl_tdt_queue.h",
    "acl/acl_platform.h", "acl/acl_rt.h", "acl/acl_rt_memory_soma.h", "acl/acl_op.h", "acl/acl_op_compiler.h",
    "acl/acl_mdl.h", "acl/acl_tdt.h", "acl/acl.h", "acl/ops/acl_cblas.h", "aclnn/acl_meta.h", "aclnn/aclnn_base.h",
]  # fmt: skip
INCLUDES = {
    "acl/acl_base.h": ["acl/error_codes/rt_error_codes.h", "acl/error_codes/ge_error_codes.h", "acl/acl_base_rt.h",
                       "acl/acl_base_mdl.h"],
    "acl/acl_rt.h": ["acl/acl_base.h"],
    "acl/acl.h": ["acl/acl_rt.h", "acl/acl_op.h", "acl/acl_mdl.h"],
    "aclnn/aclnn_base.h": ["aclnn/acl_meta.h"],
}  # fmt: skip
CXX_ONLY = ("acl/acl_tdt.h", "aclnn/acl_meta.h", "aclnn/aclnn_base.h")
MOVED_TYPES = {"acl/acl_base.h": "acl/acl_base_rt.h", "acl/acl.h": "acl/acl_rt.h"}  # from 9.0 on


def facts(name):
    """Read one table of facts, by name."""
    with open(TESTS / "abi_facts" / f"{name}.csv", newline="", encoding="utf-8") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


FUNCTIONS = facts("functions")
VERSIONED = facts("versions")


def parse(version):
    """Return ``(8, 5)`` for ``"8.5"``."""
    major, minor = version.split(".")
    return int(major), int(minor)


def functions(version):
    """Return the functions that a version has, each with the library that exports it."""
    number = parse(version)
    column = "library" if number < (9, 0) else "library_9"
    found = {}
    for name, row in FUNCTIONS.items():
        if ABI.functions[name].since <= number and row[column]:
            found[name] = row[column]
    return found


# ---- headers


def declared_name(text):
    """Return the name that a declaration declares."""
    if text.startswith("typedef"):
        return (re.search(r"(\w+);$", text) or re.search(r"\(\*(\w+)\)\(", text))[1]
    return re.search(r"(\w+)\(" if not text.startswith("#") else r"#define (\w+)", text)[1]


def declarations(version):
    """Return the text of each declaration that a version has, by name, in an order that compiles."""
    number = parse(version)
    has_all = number > abi.OLDEST
    texts = {}
    for text in re.findall(r"#define[^\n]*|[^\s#](?:[^;{]|\{(?:[^{}]|\{[^{}]*\})*\})*;", abi.cdef()):
        name = declared_name(text)
        if name in ABI.functions:
            if name in FUNCTIONS and ABI.functions[name].since <= number:
                texts[name] = text
        elif name in VERSIONED and (has_all or VERSIONED[name]["in_8_1"] == "1"):
            texts[name] = text if has_all else as_in_8_1(name, text)
    return texts


def as_in_8_1(name, text):
    """Return a type or constant with the values of 8.1, and without the members that 8.1 does not have."""
    if name in ABI.constants:
        value = VERSIONED[name]["value_8_1"]
        return f"#define {name} {value}" if value else text
    for member in ABI.enums[name].members if name in ABI.enums else ():
        fact = VERSIONED.get(member)
        if fact is not None:
            value = f"{member} = {fact['value_8_1']}" if fact["value_8_1"] else ""
            text = re.sub(rf"\b{member} = -?\w+(,?)", rf"{value}\1" if value else "", text)
    for key in VERSIONED:
        if key.startswith(f"{name}."):
            text = re.sub(rf"\n[^;\n]*\b{key.partition('.')[2]}(\[\w+\])?;", "", text)
    return text


def places(version, texts):
    """Return the header of each declaration: the one in the facts, or that of its first user if that is earlier."""
    modern = parse(version) >= (9, 0)
    found = {}
    for name in texts:
        if name in FUNCTIONS:
            moved = FUNCTIONS[name]["header_9"] if modern else ""
            found[name] = moved or FUNCTIONS[name]["header"]
        else:
            header = VERSIONED[name]["header"]
            found[name] = MOVED_TYPES.get(header, header) if modern else header
    for name in reversed(texts):
        for used in set(re.findall(r"\w+", texts[name])) & set(texts):
            found[used] = min(found[used], found[name], key=ORDER.index)
    return found


def as_cxx(text):
    """Return a type in a form that only C++ accepts: named only by its tag."""
    return re.sub(r"^typedef (enum|struct) (\w+) (.*)\b\2;$", r"\1 \2 \3;", text, flags=re.S)


def headers(version):
    """Return the text of each header, by its path below the include folder."""
    texts = declarations(version)
    home = places(version, texts)
    files = defaultdict(list)
    includes = defaultdict(set)
    for name, text in texts.items():
        files[home[name]].append(as_cxx(text) if home[name] in CXX_ONLY else text)
        includes[home[name]] |= {home[used] for used in set(re.findall(r"\w+", text)) & set(texts)}
    made = {}
    for header in [header for header in ORDER if header in files or header in INCLUDES]:
        wanted = includes[header] | {other for other in INCLUDES.get(header, ()) if other in files or other in INCLUDES}
        system = "#include <string>\n" if header in CXX_ONLY else "#include <stdbool.h>\n"
        lines = [f'#include "{other}"\n' for other in sorted(wanted - {header}, key=ORDER.index)]
        body = "\n".join(files[header])
        made[header] = (
            f"#pragma once\n#include <stddef.h>\n#include <stdint.h>\n{system}{''.join(lines)}"
            f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{body}\n#ifdef __cplusplus\n}}\n#endif\n'
        )
    return made


# ---- libraries

SHIM = """\
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
%(includes)s
extern const char cann_version[];
%(bodies)s
__attribute__((constructor)) static void find_them(void)
{
    setenv("ACL_SIM_CANN", cann_version, 0);
    void *library = dlopen("%(simulator)s", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%%s\\n", dlerror());
        abort();
    }
%(finds)s
}
"""

# A variadic function cannot pass its arguments on, so this one formats them.
APP_LOG = """\
void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    char text[4096] = "";
    va_list arguments;
    va_start(arguments, fmt);
    if (fmt != NULL)
        vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    to_aclAppLog(logLevel, func, file, line, fmt != NULL ? "%s" : NULL, text);
}
"""


def calls(operators):
    """Yield name, prototype and parameters of each declared function, and of both phases of each operator."""
    for function in ABI.functions.values():
        yield function.name, function.prototype, [param.name for param in function.params]
    for row in abi.rows(ROWS).values() if operators else ():
        for symbol, prototype in zip(row.symbols, row.prototypes):
            yield symbol, prototype, re.findall(r"(\w+)(?=[,)])", prototype)


def compile_shim(directory, operators):
    """Compile functions that pass each call to the simulator; version scripts select the names of a library."""
    bodies, finds = [], []
    for name, prototype, parameters in calls(operators):
        bodies.append(f"static __typeof__({name}) *to_{name};\n")
        finds.append(f'    *(void **)&to_{name} = dlsym(library, "{name}");\n')
        if name == "aclAppLog":
            bodies.append(APP_LOG)
        else:
            back = "" if prototype.startswith("void ") else "return "
            bodies.append(f"{prototype} {{ {back}to_{name}({', '.join(parameters)}); }}\n")
    include = Path(acl.get_include())
    patterns = ["acl/*.h", "acl/ops/*.h", "aclnn/*.h", *(["aclnnop/**/*.h"] if operators else [])]
    found = sorted(path.relative_to(include) for pattern in patterns for path in include.glob(pattern))
    text = SHIM % {
        "includes": "".join(f"#include <{path}>\n" for path in found),
        "bodies": "".join(bodies),
        "finds": "".join(finds),
        "simulator": Path(acl.get_lib(), "libacl_sim.so"),
    }
    shim = Path(directory, "shim.o")
    command = ["gcc", "-c", "-fPIC", "-O1", "-foptimize-sibling-calls", "-w", f"-I{include}", "-o", shim, "-xc", "-"]
    subprocess.run(command, input=text, text=True, check=True)
    return shim


def libraries(version, operators):
    """Return the names that each library of a version exports; the simulator's control interface is in the first."""
    found = {MAIN: [f.name for f in ABI.functions.values() if f.group == abi.CONTROL_GROUP]}
    for name, library in functions(version).items():
        found.setdefault(library, []).append(name)
    if operators:
        rows = [row for row in abi.rows(ROWS).values() if row.since <= parse(version)]
        found["libopapi.so"] = [symbol for row in rows for symbol in row.symbols]
    return found


def write(version, directory, shim, operators=False):
    """Write a toolkit of a version over a compiled shim; libopapi.so and aclnnop only with ``operators``."""
    directory = Path(directory)
    texts = {f"include/{name}": text for name, text in headers(version).items()}
    texts["version.info"] = f"Version={NAMES[parse(version)]}\n"
    for path in Path(acl.get_include()).glob("aclnnop/**/*.h") if operators else ():
        text = re.sub(
            r"ACL_API\((\d+), (\d+)\) (.*;)",
            lambda found: found[3] if (int(found[1]), int(found[2])) <= parse(version) else "",
            path.read_text(encoding="utf-8"),
        )
        texts[f"include/{path.relative_to(acl.get_include())}"] = text
    exported = libraries(version, operators)
    texts.update((f"{name}.map", f"{{ global: {'; '.join(exported[name])}; local: *; }};\n") for name in exported)
    for name, text in texts.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (directory / "lib64").mkdir()
    for name in exported:
        options = [f"-Wl,-soname,{name}", f"-Wl,--version-script={directory / name}.map"]
        command = ["gcc", "-shared", "-fPIC", *options, "-o", directory / "lib64" / name, shim, "-ldl", "-xc", "-"]
        subprocess.run(command, input=f'const char cann_version[] = "{version}";', text=True, check=True)
    return directory


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        write(sys.argv[1], sys.argv[2], compile_shim(place, True), True)
