"""The tables of facts in ``abi_facts``, and the compiler's view of the public headers to compare them with."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

from acl import abi

TESTS = Path(__file__).resolve().parent.parent
INCLUDE = TESTS.parent / "acl" / "include"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LANGUAGES = {
    "gcc": ["gcc", "-xc", "-std=c11"],
    "clang": ["clang", "-xc", "-std=c11"],
    "g++": ["g++", "-xc++", "-std=c++17"],
    "clang++": ["clang++", "-xc++", "-std=c++17"],
}


def facts(name):
    """Return the rows of a table."""
    with open(TESTS / "abi_facts" / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def check_c(language, text, *flags):
    """Compile a text against the public headers; the test fails with the compiler's messages."""
    command = LANGUAGES[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    done = subprocess.run(
        [*command, *STRICT, f"-I{INCLUDE}", *flags, "-fsyntax-only", "-"],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[:4000]


def includes(names):
    """Return the lines that include headers."""
    return "".join(f"#include <{name}>\n" for name in names)


def declarations(types, functions, language):
    """Return declarations of types and functions, which do not compile after different ones."""
    text = "".join(f"typedef {abi.declare(row['type'], row['name'])};\n" for row in types)
    text += "".join(f"{row['returns']} {row['name']}({row['params']});\n" for row in functions)
    return f'extern "C" {{\n{text}}}\n' if "++" in language else text


def claims(values, structs, language):
    """Return assertions about the values of constants, and the places, sizes and types of the fields of structs."""
    claim = "static_assert" if "++" in language else "_Static_assert"
    lines = [f'{claim}({row["name"]} == {row["value"]}, "{row["name"]}");' for row in values]
    for row in structs:
        place = f"{row['struct']}.{row['field']}"
        lines.append(f'{claim}(offsetof({row["struct"]}, {row["field"]}) == {row["offset"]}, "{place}");')
        lines.append(f'{claim}(sizeof({row["struct"]}) == {row["size"]}, "{row["struct"]}");')
        if row["type"] and row["array"] != "0" and "++" not in language:
            dims = "".join(f"[{size}]" for size in row["array"].split("x")) if row["array"] else ""
            field = f"__typeof__((({row['struct']} *)0)->{row['field']})"
            lines.append(f'{claim}(__builtin_types_compatible_p({field}, {row["type"]}{dims}), "type of {place}");')
    return "\n".join(lines) + "\n"
