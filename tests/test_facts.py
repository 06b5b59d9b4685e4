"""One place per fact: what the headers say is written nowhere else."""

import ast
import re
from pathlib import Path

from acl import abi, errors

ROOT = Path(__file__).resolve().parent.parent
HEADERS = abi.load()
CODES = {code: name for name, code in abi.status_codes(HEADERS).items() if code != 0}


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
