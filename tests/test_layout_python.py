"""The import graph of the package: imports go one way, and no module looks for another in ``sys.modules``.

Everything is read from the syntax trees. An import counts wherever it is written, also inside a function; only the
block of ``if TYPE_CHECKING:`` does not. The name of a module of the objects in a string counts as an import of it, and
``acl.Stream`` or ``acl.nn`` counts as an import of the module that ``acl`` loads then.
"""

import ast
from pathlib import Path

import pytest

from acl.objects import HOME

ROOT = Path(__file__).resolve().parent.parent
LOWER = ("acl.api", "acl.sim")
NAMESPACES = {name: f"acl.{name}" for name in ("nn", "nnop", "sim")}
FACE = {**NAMESPACES, **HOME}

# Objects that return an object of a class above them. They ask for it by its public name, which `acl` resolves at the
# call: an import there would close a cycle, and a registered class might not be loaded yet.
LATE = {
    ("acl.objects.array", "acl.nn"),  # comparing and filling are operators
    ("acl.objects.device", "acl.objects.stream"),  # Device.default_stream
    ("acl.objects.event", "acl.objects.stream"),  # `await event` needs one
    ("acl.objects.resource", "acl.objects.stream"),  # stream_handle tells whether an argument is one
}


class Module:
    """A module of the package, with what it refers to."""

    def __init__(self, name, text, is_package=False):
        self.name, self.is_package = name, is_package
        self.tree = ast.parse(text)
        self.shown = f"{name.replace('.', '/')}{'/__init__' if is_package else ''}.py"

    def nodes(self):
        """The nodes that run: not those for type checkers alone."""
        queue = [self.tree]
        while queue:
            node = queue.pop()
            yield node
            if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                queue += node.orelse
            else:
                queue += ast.iter_child_nodes(node)

    def base_of(self, node):
        """The module that an ``import from`` names, with leading dots resolved."""
        if not node.level:
            return node.module
        parts = self.name.split(".")
        parts = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def names(self):
        """``(dotted name, line, whether it is resolved late)`` of everything that may be a module."""
        for node in self.nodes():
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno, False) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self.base_of(node)
                yield from ((f"{base}.{alias.name}", node.lineno, False) for alias in node.names)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
                yield from (
                    (text.value, node.lineno, False) for text in node.args[:1] if isinstance(text, ast.Constant)
                )
            elif isinstance(node, ast.Constant) and str(node.value).startswith("acl.objects."):
                yield node.value, node.lineno, False
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "acl":
                if node.attr in FACE:
                    yield FACE[node.attr], node.lineno, True

    def module_look_ups(self):
        """The lines with ``sys.modules``, also under another name of ``sys``."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr == "modules" and isinstance(node.value, ast.Name):
                yield node.lineno
            elif isinstance(node, ast.ImportFrom) and node.module == "sys":
                yield from (node.lineno for alias in node.names if alias.name == "modules")


def graph_of(modules):
    """``{(from, to): (line, late)}`` among modules, the first line of each; a name of a module's part is the module."""
    graph = {}
    for module in modules.values():
        for name, line, late in module.names():
            if name not in modules and name.rpartition(".")[0] in modules:
                name = name.rpartition(".")[0]
            if name in modules and name != module.name and (module.name, name) not in graph:
                graph[module.name, name] = line, late
    return graph


def path_between(graph, start, is_end):
    """The shortest path from a module to one that ``is_end`` accepts, as a list of pairs; empty if there is none."""
    came, queue = {}, [start]
    for here in queue:
        for source, target in graph:
            if source == here and target not in came and (target != start or is_end(start)):
                came[target] = here
                queue.append(target)
                if is_end(target):
                    path = [(here, target)]
                    while path[0][0] != start:
                        path.insert(0, (came[path[0][0]], path[0][0]))
                    return path
    return []


def told(modules, graph, path):
    """A path as text: each step with its file, its line and the module that it names."""
    return "; ".join(f"{modules[source].shown}:{graph[source, to][0]} imports {to}" for source, to in path)


def upward_imports(modules):
    """Messages for modules of the lower packages from which `acl.objects` is reached.

    The package `acl` itself is above all: it loads objects when a program asks for them.
    """
    graph = {edge: found for edge, found in graph_of(modules).items() if edge[0] != "acl"}
    for name in modules:
        if name.startswith(LOWER):
            path = path_between(graph, name, lambda target: target.startswith("acl.objects"))
            if path:
                yield told(modules, graph, path)


def cycles(modules, allowed=()):
    """Messages for cycles among the modules of `acl.objects`, also through modules outside; the shortest of each."""
    graph = {edge: found for edge, found in graph_of(modules).items() if edge[0] != "acl" and edge not in allowed}
    seen = set()
    for name in modules:
        if name.startswith("acl.objects") and name not in seen:
            path = path_between(graph, name, lambda target, start=name: target == start)
            if path:
                seen.update(source for source, _ in path)
                yield told(modules, graph, path)


def look_ups(modules):
    """Messages for look-ups in `sys.modules`."""
    found = ((module.shown, line) for module in modules.values() for line in module.module_look_ups())
    return [f"{shown}:{line} uses sys.modules" for shown, line in found]


@pytest.fixture(scope="module")
def package():
    modules = {}
    for path in sorted((ROOT / "acl").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] in ("include", "lib64", "tools"):
            continue
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = Module(name, path.read_text(), is_package)
    return modules


def test_the_graph_has_the_imports_that_everybody_sees(package):
    graph = graph_of(package)
    for edge in (
        ("acl.objects.stream", "acl.objects.resource"),
        ("acl.objects.array", "acl.objects.dlpack"),  # inside a function
        ("acl.objects", "acl.objects.stream"),  # by a string
        ("acl.nn", "acl.objects.op_function"),
    ):
        assert edge in graph
    assert ("acl.objects.memory", "acl.objects.array") not in graph  # for type checkers alone


def test_api_and_sim_do_not_reach_the_objects(package):
    found = list(upward_imports(package))
    assert not found, "\n".join(found)


def test_the_objects_have_no_import_cycle(package):
    found = list(cycles(package, LATE))
    assert not found, "\n".join(found)


def test_classes_from_above_are_asked_for_by_their_public_name_only_where_listed(package):
    graph = graph_of(package)
    found = {edge for edge, (_, late) in graph.items() if late and edge[0].startswith("acl.objects")}
    upward = {edge for edge in found if path_between(graph, edge[1], lambda target, start=edge[0]: target == start)}
    assert upward == LATE, told(package, graph, sorted(upward ^ LATE & set(graph)))


def test_no_module_looks_for_another_in_sys_modules(package):
    found = look_ups(package)
    assert not found, "\n".join(found)


# --- The checks themselves, on packages with one breach each

SOUND = {
    "acl": "def __getattr__(name): import acl.objects.upper",
    "acl.api": "",
    "acl.sim": "",
    "acl.objects": "",
    "acl.nn": "",
    "acl.api.call": "import sys",
    "acl.sim.kernels": "from acl.api import call",
    "acl.objects.lower": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from acl.objects.upper import Upper",
    "acl.objects.upper": "from acl.objects.lower import Lower",
}
PACKAGES = ("acl", "acl.api", "acl.sim", "acl.objects")


def changed(**texts):
    """The sound package with the text of some modules replaced; a dot of a name is written as two underscores."""
    sources = {**SOUND, **{name.replace("__", "."): text for name, text in texts.items()}}
    return {name: Module(name, text, name in PACKAGES) for name, text in sources.items()}


def test_a_sound_package_passes_all_checks():
    modules = changed()
    assert [*upward_imports(modules), *cycles(modules), *look_ups(modules)] == []


@pytest.mark.parametrize(
    "text",
    [
        "\nfrom acl.objects.lower import Lower",
        "\ndef call(): from acl.objects import lower",
        "\nimport acl.objects.lower",
        "\nfrom ..objects import lower",
        "\nimport_module('acl.objects.lower')",
        "\nfor name in ('acl.objects.lower',): pass",
    ],
)
@pytest.mark.parametrize("name", ["acl.api.call", "acl.sim.kernels"])
def test_an_upward_import_is_found_however_it_is_written(name, text):
    modules = changed(**{name.replace(".", "__"): text})
    assert f"{name.replace('.', '/')}.py:2 imports acl.objects.lower" in list(upward_imports(modules))


def test_an_upward_import_by_a_public_name_is_found():
    modules = changed(acl__sim__kernels="import acl\nacl.Stream()", acl__objects__stream="")
    assert list(upward_imports(modules)) == ["acl/sim/kernels.py:2 imports acl.objects.stream"]


def test_an_upward_import_through_a_third_module_is_found_with_its_path():
    modules = changed(acl__api__call="from acl import nn", acl__nn="\n\nfrom acl.objects import upper")
    assert "acl/api/call.py:1 imports acl.nn; acl/nn.py:3 imports acl.objects.upper" in list(upward_imports(modules))


@pytest.mark.parametrize("text", ["import acl.objects.upper", "def use():\n    from acl.objects.upper import Upper"])
def test_a_cycle_is_found_with_its_modules_and_lines(text):
    (found,) = cycles(changed(acl__objects__lower=text))
    line = text.count("\n") + 1
    assert found == (
        f"acl/objects/lower.py:{line} imports acl.objects.upper; acl/objects/upper.py:1 imports acl.objects.lower"
    )


def test_a_cycle_through_a_module_outside_the_objects_is_found():
    modules = changed(acl__objects__lower="from acl import nn", acl__nn="from acl.objects.upper import Upper")
    (found,) = cycles(modules)
    assert found.count(" imports ") == 3 and "acl/nn.py:1 imports acl.objects.upper" in found
    assert list(cycles(modules, {("acl.objects.lower", "acl.nn")})) == []


@pytest.mark.parametrize(
    "text", ["import sys\nsys.modules['a']", "import sys as s\ns.modules", "\nfrom sys import modules"]
)
def test_a_look_up_in_sys_modules_is_found(text):
    assert look_ups(changed(acl__api__call=text)) == ["acl/api/call.py:2 uses sys.modules"]
