"""Compare our declarations with those of a toolkit: one C++ unit that does not compile where they differ.

Used by the build (which loads this file by its path) and by ``python -m acl doctor --headers``.
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile

SKIPPED = ("acl_dvpp.h", "acl_fv.h")  # want macros of their own, and declare nothing that we do


def vendor_headers(toolkit):
    """Return the toolkit's headers under the names that programs include."""
    include = os.path.join(toolkit, "include")
    found = [path for part in ("acl", "acl/ops", "aclnn") for path in glob.glob(f"{include}/{part}/*.h")]
    return sorted(os.path.relpath(path, include) for path in found if os.path.basename(path) not in SKIPPED)


def run(compiler, toolkit, directory, text, *options):
    """Compile a unit against the toolkit; return the completed process."""
    unit = os.path.join(directory, "compare.cpp")
    with open(unit, "w", encoding="utf-8") as out:
        out.write(text)
    include = os.path.join(toolkit, "include")
    command = [compiler, f"-I{include}", "-std=c++17", "-w", "-Wno-invalid-offsetof", *options, unit]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def assertions(abi, ffi, known):
    """Return our declarations again, as far as the toolkit knows the names, and what constants and structs must be."""
    lines = ['extern "C" {']
    lines += [f"{function.prototype};" for function in abi.functions.values() if function.name in known]
    lines += ["}"]
    values = [(constant.name, constant.value) for constant in abi.constants.values()]
    values += [member for enum in abi.enums.values() for member in enum.members.items()]
    lines += [
        f'static_assert(static_cast<long long>({name}) == {value}LL, "{name} is {value} here");'
        for name, value in values
        if name in known
    ]
    for struct in abi.structs.values():
        if struct.fields is None or struct.name not in known:
            continue
        kind = ffi.typeof(struct.name)
        lines.append(f'static_assert(sizeof({struct.name}) == {ffi.sizeof(kind)}, "size of {struct.name}");')
        lines += [
            f'static_assert(offsetof({struct.name}, {name}) == {field.offset}, "place of {struct.name}.{name}");'
            for name, field in kind.fields
            if name and name in known
        ]
    return "\n".join(lines) + "\n"


def compare(abi, ffi, toolkit):
    """Compile our declarations after the toolkit's; return None when all agree, else the compiler's message."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return "no C++ compiler (g++ or clang++) to compare the headers with"
    theirs = "".join(f"#include <{name}>\n" for name in ["cstddef", *vendor_headers(toolkit)])
    with tempfile.TemporaryDirectory() as directory:
        done = run(compiler, toolkit, directory, theirs, "-E", "-dD")
        if done.returncode == 0:
            known = set(re.findall(r"\w+", done.stdout))
            done = run(compiler, toolkit, directory, theirs + assertions(abi, ffi, known), "-fsyntax-only")
    return None if done.returncode == 0 else done.stdout
