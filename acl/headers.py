"""Compare our declarations with those of a toolkit, by a C++ file that does not compile if they differ.

Used by the build (which loads this file by its path), by ``python -m acl doctor --headers``, and before the use of a
toolkit of a CANN version that is newer than the known ones.
"""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from typing import NamedTuple, Optional

# Values that grow with each version: the numbers of the interface, and the end mark of an enumeration.
GROWING = ("ACL_MINOR_VERSION", "ACL_PATCH_VERSION", "ACL_PROF_ARGS_MAX")
SKIPPED = ("acl_dvpp.h", "acl_fv.h")  # they need special macros, and declare nothing that we declare

# A field must have the same offset if the toolkit has it; newer versions add fields to unions.
DETECT = """
#define ACL_PLACE(type, field, place) \\
    template <typename T, typename = void> struct place_##type##_##field : std::true_type {}; \\
    template <typename T> struct place_##type##_##field<T, std::void_t<decltype(static_cast<T *>(nullptr)->field)>> \\
        : std::bool_constant<offsetof(T, field) == place> {}; \\
    static_assert(place_##type##_##field<type>::value, "place of " #type "." #field);
"""


class Comparison(NamedTuple):
    """The compiler's messages (None: no difference), and how many functions and phases of operators were compared."""

    difference: Optional[str]
    functions: int
    operators: int


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
    """Return our declarations of the names that the toolkit has, and assertions about constants and structs."""
    lines = [DETECT, 'extern "C" {']
    lines += [f"{function.prototype};" for function in abi.functions.values() if function.name in known]
    lines += ["}"]
    values = [(constant.name, constant.value) for constant in abi.constants.values()]
    values += [member for enum in abi.enums.values() for member in enum.members.items()]
    lines += [
        f'static_assert(static_cast<long long>({name}) == {value}LL, "{name} is {value} here");'
        for name, value in values
        if name in known and name not in GROWING
    ]
    for struct in abi.structs.values():
        if struct.fields is None or struct.name not in known:
            continue
        kind = ffi.typeof(struct.name)
        lines.append(f'static_assert(sizeof({struct.name}) == {ffi.sizeof(kind)}, "size of {struct.name}");')
        lines += [f"ACL_PLACE({struct.name}, {name}, {field.offset})" for name, field in kind.fields if name]
    return "\n".join(lines) + "\n"


def operators(include, toolkit):
    """Return the prototypes of our operators by name, and the toolkit's headers that may declare them."""
    prototypes, headers = {}, []
    for path in sorted(glob.glob(f"{include}/aclnnop/**/*.h", recursive=True)):
        with open(path, encoding="utf-8") as text:
            found = re.findall(r"ACL_API\(.*?\) (\w+ (\w+)\(.*\);)", text.read())
        prototypes.update((name, prototype) for prototype, name in found)
        header = os.path.relpath(path, include)
        if os.path.exists(os.path.join(toolkit, "include", header)):
            headers.append(header)
    return prototypes, headers


def compare(abi, ffi, toolkit, include=None):
    """Compile our declarations after the toolkit's; names that the toolkit lacks are not compared.

    Parameters
    ----------
    abi, ffi
        What our headers declare, parsed and compiled.
    toolkit : str
        The toolkit's directory.
    include : str, optional
        Our include folder, to compare the headers of operators as well.

    Returns
    -------
    Comparison
    """
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return Comparison("no C++ compiler (g++ or clang++) to compare the headers with", 0, 0)
    names = vendor_headers(toolkit)
    if not names:
        return Comparison(f"there are no headers in {os.path.join(toolkit, 'include', 'acl')}", 0, 0)
    prototypes, more = operators(include, toolkit) if include is not None else ({}, [])
    theirs = "".join(f"#include <{name}>\n" for name in ["cstddef", "type_traits", *names, *more])
    known = set()
    with tempfile.TemporaryDirectory() as directory:
        done = run(compiler, toolkit, directory, theirs, "-E", "-dD")
        if done.returncode == 0:
            known = set(re.findall(r"\w+", done.stdout))
            ours = ['extern "C" {', *(prototype for name, prototype in prototypes.items() if name in known), "}\n"]
            text = theirs + assertions(abi, ffi, known) + "\n".join(ours)
            done = run(compiler, toolkit, directory, text, "-fsyntax-only")
    difference = None if done.returncode == 0 else done.stdout
    return Comparison(difference, len(known & set(abi.functions)), len(known & set(prototypes)))


def agreed(abi, ffi, toolkit):
    """Compare once for each state of a toolkit's headers; return None if they agree, otherwise the difference.

    Agreement is recorded in the user's cache folder, so that only the first import takes the time.
    """
    paths = [os.path.join(toolkit, "include", name) for name in vendor_headers(toolkit)]
    state = repr([__file__, *((path, os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in paths)])
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ascendcl")
    note = os.path.join(folder, hashlib.sha256(state.encode()).hexdigest())
    if os.path.exists(note):
        return None
    difference = compare(abi, ffi, toolkit).difference
    if difference is None:
        with contextlib.suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            with open(note, "w", encoding="utf-8") as out:
                out.write(toolkit + "\n")
    return difference
