"""Every function that has behaviour is named by a test that looks at what it does, in Python or in C.

A name counts in a test that asserts something, and in what such a test refers to: helpers, fixtures, tables. It may be
put together from pieces (``f"aclGet{kind}ArraySize"``) when the pieces stand there as well. It does not count as a
statement that drops what the function returns, nor in the tests that walk over all functions without knowing what any
of them does. In C, it counts inside a check or at the beginning of a table's row.
"""

import ast
import functools
import re
from pathlib import Path

import pytest
from helpers.expect import ABI

import acl
from acl import abi

ROOT = Path(__file__).resolve().parent.parent
WALKS = {"test_abi", "test_badcalls", "test_coverage", "test_layout", "test_pyacl", "test_versions"}
VENDOR = {name: function for name, function in ABI.functions.items() if function.group != abi.CONTROL_GROUP}
SHAPES = {shape.path: name for name, function in VENDOR.items() for shape in function.shapes}
PLACES = {**{name: name for name in VENDOR}, **{path[len("acl.") :]: name for path, name in SHAPES.items()}}


@functools.cache
def names_in(text):
    """Return the C functions that a text names, by their own names or by those of pyACL."""
    found = set()
    for word in re.findall(r"\b\w+(?:\.\w+)*\b", text):
        parts = word.split(".")
        found.update(part for part in parts if part in VENDOR)
        found.update(SHAPES[path] for path in (word, "acl." + ".".join(parts[-2:])) if path in SHAPES)
    return found


def functions_in(node):
    """Return the C functions named below a node, except those whose status is ignored there."""
    if isinstance(node, (ast.Attribute, ast.Name)):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            return names_in(".".join([node.id, *reversed(parts)]))
        return names_in(".".join(reversed(parts))) | functions_in(node)
    if isinstance(node, ast.Constant):
        return names_in(node.value) if isinstance(node.value, str) else set()
    found = set().union(*map(functions_in, ast.iter_child_nodes(node)))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = names_in(ast.unparse(node.value.func))
        found -= {name for name in called if VENDOR[name].ret != "void"}
    return found


def pattern_of(node):
    """Return the names that a text with places to fill may become, as a pattern, or None for other nodes."""
    if isinstance(node, ast.JoinedStr):
        return "".join(re.escape(part.value) if isinstance(part, ast.Constant) else r"(\w*)" for part in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{}" in node.value:
        return re.escape(node.value).replace(r"\{\}", r"(\w*)")
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and isinstance(node.args[1], ast.JoinedStr):
        return re.escape(ast.unparse(node.args[0]).rpartition(".")[2] + ".") + pattern_of(node.args[1])
    return None


@functools.cache
def matches_of(pattern):
    """Return the C functions that a pattern may become, each with the pieces that it takes."""
    if not re.fullmatch(r"[\w.()*\\]*[a-z]{3}[\w.()*\\]*", pattern):
        return []
    found = ((name, re.fullmatch(pattern, place)) for place, name in PLACES.items())
    return [(name, match.groups()) for name, match in found if match]


def composed(units):
    """Return the C functions whose names the units put together from pieces that they hold."""
    texts = set().union(*(unit.texts for unit in units))
    patterns = set().union(*(unit.patterns for unit in units))
    return {name for each in patterns for name, pieces in matches_of(each) if texts.issuperset(pieces)}


class Unit:
    """A function, class or table at the top of a file: what it names, and whether it asserts anything."""

    def __init__(self, node):
        self.names, self.texts, self.patterns, self.asserts = set(), set(), set(), False
        for each in ast.walk(node):
            if isinstance(each, ast.arg):
                self.names.add(each.arg)  # a fixture
            elif isinstance(each, ast.Name):
                self.names.add(each.id)
            elif isinstance(each, ast.Attribute):
                self.names.add(each.attr)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                self.texts.add(each.value)
            self.asserts |= isinstance(each, ast.Assert)
            self.patterns.add(pattern_of(each))
        self.names |= self.texts  # of usefixtures
        self.asserts |= "raises" in self.names
        self.patterns.discard(None)
        self.functions = functions_in(node)


def units_of(path):
    """Return what a file defines at its top, by name."""
    units = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            units[node.name] = Unit(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            units.update({each.id: Unit(node) for each in ast.walk(ast.Tuple(targets)) if isinstance(each, ast.Name)})
    return units


def proven(units):
    """Return the C functions that the tests among the units look at."""
    found = set()
    for name in units:
        if name.lower().startswith("test"):
            reached, new = set(), {name}
            while new:
                reached |= new
                new = set().union(*(units[each].names & units.keys() for each in new)) - reached
            used = [units[each] for each in reached]
            if any(unit.asserts for unit in used):
                found |= composed(used).union(*(unit.functions for unit in used))
    return found


def checked_in_c(text):
    """Return the C functions inside the checks of a text."""
    found = names_in(" ".join(re.findall(r"\{\s*(\w+),", text)))
    for match in re.finditer(r"\bCHECK(?:_CODE)?\(", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found |= names_in(text[match.end() : end])
    return found


@pytest.mark.needs_sim
def test_every_function_that_has_behaviour_has_a_test():
    shared = {}
    for path in [ROOT / "tests" / "conftest.py", *(ROOT / "tests" / "helpers").glob("*.py")]:
        shared.update(units_of(path))
    found = set()
    for path in (ROOT / "tests").glob("test_*.py"):
        if path.stem not in WALKS:
            found |= proven({**shared, **units_of(path)})
    for path in (ROOT / "simulator" / "tests").glob("*.[ch]"):
        found |= checked_in_c(path.read_text(encoding="utf-8"))
    assert sorted(set(VENDOR) - set(acl.sim.missing()) - found) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def test_it():\n    assert acl.rt.get_device() == 0", {"aclrtGetDevice"}),
        ("def test_it():\n    assert rt.get_device() == 0", {"aclrtGetDevice"}),
        ("def test_it():\n    assert lib.aclrtGetDevice(PLACE) == 0", {"aclrtGetDevice"}),
        ("def test_it():\n    program('aclrtGetDevice(&device);')\n    assert program.done", {"aclrtGetDevice"}),
        ("def test_it():\n    acl.rt.get_device()\n    assert True", set()),
        ("def test_it():\n    value = acl.rt.get_device()", set()),
        ("def test_it():\n    acl.prof.destroy_stamp(0)\n    assert said()", {"aclprofDestroyStamp"}),
        ("CALLS = [acl.rt.get_device]\ndef test_it():\n    assert CALLS[0]() == 0", {"aclrtGetDevice"}),
        ("CALLS = [acl.rt.get_device]\ndef test_it():\n    assert True", set()),
        ("def test_it(kind='Device'):\n    assert getattr(lib, f'aclrtGet{kind}')(PLACE) == 0", {"aclrtGetDevice"}),
        ("def test_it(kind='device'):\n    assert getattr(acl.rt, f'get_{kind}')() == 0", {"aclrtGetDevice"}),
        ("def test_it(kind):\n    assert getattr(acl.rt, f'get_{kind}')() == 0", set()),
        ("def at():\n    return acl.rt.get_device()\ndef test_it(at):\n    assert at == 0", {"aclrtGetDevice"}),
        ("def ask():\n    assert acl.rt.get_device() == 0", set()),
    ],
)
def test_what_counts(tmp_path, text, names):
    path = tmp_path / "test_text.py"
    path.write_text(text)
    assert proven(units_of(path)) == names


def test_what_counts_in_c():
    text = "aclrtSetDevice(0); CHECK_CODE(f(aclrtGetDevice(&a)), 0); CHECK(aclrtResetDevice(0) == 0); aclInit(NULL);"
    text += "x[] = {{aclFinalize, 1}};"
    assert checked_in_c(text) == {"aclrtGetDevice", "aclrtResetDevice", "aclFinalize"}
