"""Write the reference: a page for each group of C functions, family of operators and module of objects, and two tables.

All of it comes from the declarations (:mod:`acl.abi`), the simulator's C (:mod:`codes`) and docstrings of :mod:`acl`.
The pages go to ``docs/reference/made``, which is not versioned, and are written again when their sources are newer.
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import codes
import error_codes

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
MADE = DOCS / "reference" / "made"
ROWS = ROOT / "simulator" / "ops" / "rows"
NEWER = codes.UNSUPPORTED


def plain(text: str) -> str:
    """Return a text in which the markup characters of reStructuredText are escaped."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def title(text: str, line: str = "=") -> list[str]:
    """Return a heading."""
    return [text, line * len(text), ""]


def indented(lines: Iterable[str], by: int = 3) -> list[str]:
    """Return lines under a directive."""
    return [" " * by + line if line else "" for line in lines]


def table(widths: str, head: Iterable[str], rows: Iterable[Iterable[Iterable[str]]]) -> list[str]:
    """Return a table; a cell is a list of lines."""
    lines = [".. list-table::", "   :class: stacked", f"   :widths: {widths}", "   :header-rows: 1", ""]
    for row in [[[cell] for cell in head], *rows]:
        for place, cell in enumerate(row):
            first, *rest = list(cell) or [""]
            lines.append(f"   {'*' if place == 0 else ' '} - {first}")
            lines += indented(rest, 7)
    return [*lines, ""]


def snake(name: str) -> str:
    """Return a C parameter's name as Python has it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def result(shape: Any) -> str:
    """Return what a pyACL call returns: ``ret``, ``None``, ``value`` or a tuple of names."""
    if shape.result != "tuple":
        return str(shape.result)
    outputs = [("0" if out.name == "0" else snake(out.name)) for out in shape.outputs]
    return f"({', '.join([*outputs, 'ret'])})"


class Signatures:
    """The signatures of pyACL calls, as the type stubs of the build have them."""

    def __init__(self) -> None:
        import acl

        self.known: dict[str, str] = {}
        for stub in Path(acl.__file__).parent.glob("*.pyi"):
            prefix = "acl." if stub.stem == "_acl" else f"acl.{stub.stem}."
            for name, arguments in re.findall(r"^def (\w+)\((.*)\) -> .*: \.\.\.$", stub.read_text(), re.MULTILINE):
                self.known[prefix + name] = arguments.removesuffix(", /").removesuffix("/")

    def of(self, shape: Any) -> str:
        """Return a call with its arguments and its result."""
        return f"{shape.path}({self.known.get(shape.path, '')}) -> {result(shape)}"


def _codes_of(function: Any, answers: dict[int, list[str]]) -> list[str]:
    from acl.errors import name_of

    rows = []
    if function.since > (8, 1):
        answers = {**answers, NEWER: [*answers.get(NEWER, []), f"it needs CANN {function.needs}"]}
    for code, texts in sorted(answers.items()):
        texts = [text for text in texts if text != "…"]
        lines = [plain(texts[0])] if len(texts) == 1 else [line for text in texts for line in (f"- {plain(text)}",)]
        rows.append(([f":ref:`{code} <code-{code}>`"], [f"``{name_of(code)}``"], lines))
    return table("10 44 46", ("Code", "Name", "What the simulator reports"), rows) if rows else []


def _group_page(group: str, declared: Any, answers: codes.Codes, signatures: Signatures) -> list[str]:
    lines = [f".. _group-{group}:", "", *title(group), plain(declared.groups[group]), ""]
    lines += [f"Declared in ``acl/abi/{group}.h``.", ""]
    for function in declared.functions.values():
        if function.group != group:
            continue
        lines += [f".. c:function:: {function.prototype}", ""]
        body = [plain(function.doc), "", f"Since CANN {function.needs}.", ""]
        for shape in function.shapes:
            body += [f".. py:function:: {signatures.of(shape)}", ""]
            note = " An extension: the vendor's pyACL does not have this call." if shape.extension else ""
            body += [f"   Calls :c:func:`{function.name}`.{note}", ""]
        body += _codes_of(function, answers.of(function.name))
        lines += indented(body)
    kinds = (("Enumerations", declared.enums), ("Structures", declared.structs))
    for heading, members in kinds:
        found = [item for item in members.values() if item.group == group]
        if found:
            lines += title(heading, "-")
        for item in found:
            if heading == "Enumerations":
                lines += [f".. c:enum:: {item.name}", ""]
                lines += [f"   .. c:enumerator:: {name} = {value}" for name, value in item.members.items()]
            else:
                lines += [f".. c:{item.kind}:: {item.name}", ""]
                if item.fields is None:
                    lines += ["   Opaque: only functions create and read it."]
                else:
                    from acl.abi import declare

                    fields = [f"{declare(field.type, field.name)};" for field in item.fields]
                    lines += ["   .. code-block:: c", "", *indented(fields, 6)]
            lines += [""]
    aliases = [item for item in declared.typedefs.values() if item.group == group]
    if aliases:
        lines += title("Other types", "-")
        for item in aliases:
            lines += [f".. c:type:: {item.name}", "", f"   ``{item.type}``", ""]
    constants = [item for item in declared.constants.values() if item.group == group]
    if constants:
        lines += title("Constants", "-")
        lines += table("70 30", ("Name", "Value"), (([f"``{c.name}``"], [str(c.value)]) for c in constants))
    return lines


def _family(family: str) -> str:
    """Return the summary of a family of operators: the first comment of its file."""
    text = (ROWS / f"{family}.h").read_text(encoding="utf-8")
    summary = re.match(r"/\* (.*?) \*/", text, re.DOTALL)
    assert summary, family
    return " ".join(summary[1].split())


def state(row: Any, answers: codes.Codes) -> str:
    """Return whether the simulator implements an operator or a plain function, by the symbols that its build looks for.

    ``simulator/generate.py`` connects ``sim_kernel_X`` or ``sim_helper_X`` with ``X``, and the first phase of ``X``
    with ``XGetMaxWorkspaceSize``. Any other plain function without such a symbol calls ``sim_missing``.
    """
    if not row.helper:
        unverified = "" if row.verified else "; unverified: its directions follow from the names"
        return ("has a kernel" if row.name in answers.kernels else "no kernel") + unverified
    if row.largest_of or f"sim_helper_{row.name}" in answers.home:
        return "implemented"
    return "returns " + ", ".join(map(str, answers.of("sim_missing")))


def _operator_page(family: str, rows: Iterable[Any], known: Mapping[str, Any], answers: codes.Codes) -> list[str]:
    lines = [f".. _operators-{family}:", "", *title(family)]
    lines += [
        plain(_family(family)),
        "",
        "An operator is called in two phases: ``aclnnXGetWorkspaceSize(parameters, &workspaceSize, &executor)``, then",
        "``aclnnX(workspace, workspaceSize, executor, stream)``. From Python these are",
        "``acl.nnop.x_get_workspace_size(parameters) -> (workspace_size, executor, ret)`` and",
        "``acl.nnop.x(workspace, workspace_size, executor, stream) -> ret``. Pass 0 to omit an optional",
        "parameter. ``acl.nn.x(parameters)`` does both phases, on arrays.",
        "If the simulator has no kernel for an operator, register one with :func:`acl.sim.kernel`.",
        "",
    ]
    cells = []
    for row in rows:
        declared = (f"{param.type} {param.name}".replace("* ", "*") for param in row.params)
        notes = (" ".join([param.direction, "optional" * param.optional]).strip() for param in row.params)
        params = [f"- ``{text}``{' ' + note if note else ''}" for text, note in zip(declared, notes)]
        name, python, simulator = [f"``{row.name}``", "", f"``{row.headers[0]}``"], ["none (a plain function)"], []
        if row.name in known:
            one = known[row.name]
            name += ["", plain(one.formula)] if one.formula else []
            python = [f"``acl.nnop.{one.python}``"]
            simulator = [] if one.kernel else ["", f"({one.why})"]
            simulator += ["", f"types: {one.checks}"] if one.checks else []
            simulator += ["", f"since CANN {one.since}"]
        cells.append((name, python, params, [state(row, answers), *simulator]))
    return [*lines, *table("29 22 34 15", ("Operator, header and formula", "Python", "Parameters", "Simulator"), cells)]


def _objects() -> dict[str, list[str]]:
    """Return the pages of the objects: one for each module that has public names."""
    from acl.objects import HOME

    pages: dict[str, list[str]] = {}
    for module in sorted(set(HOME.values())):
        heading = module.rsplit(".", 1)[-1]
        lines = [f".. _objects-{heading}:", "", *title(heading)]
        lines += [f".. automodule:: {module}", "", ".. currentmodule:: acl", ""]
        for name in sorted(name for name, home in HOME.items() if home == module):
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value):
                lines += [f".. autoclass:: acl.{name}", "   :members:", "   :show-inheritance:", ""]
            elif inspect.isroutine(value):
                lines += [f".. autofunction:: acl.{name}", ""]
            elif not inspect.ismodule(value):
                lines += [f".. autodata:: acl.{name}", ""]
        pages[heading] = lines
    return pages


def _public(module: str) -> list[str]:
    """Return the public functions of a module, wherever they are defined."""
    found = importlib.import_module(module)
    return sorted(
        name
        for name, value in vars(found).items()
        if inspect.isfunction(value) and not name.startswith("_") and (value.__module__ or "").startswith(module)
    )


def _functions_page(heading: str, module: str, names: Iterable[str]) -> list[str]:
    lines = [*title(heading), f".. automodule:: {module}", "", f".. currentmodule:: {module}", ""]
    for name in names:
        lines += [f".. autofunction:: {module}.{name}", ""]
    return lines


def _functions_of_codes(declared: Any, answers: codes.Codes) -> dict[int, list[str]]:
    """Return the declared C functions that return each code."""
    found: dict[int, list[str]] = {}
    for name in declared.functions:
        for code in answers.of(name):
            found.setdefault(code, []).append(name)
    return found


BY_MACHINE = {"workers": "cores"}  # defaults whose values in force differ from machine to machine


def settings() -> list[tuple[str, str, str]]:
    """Return the name, the accepted values and the default of each setting, as the library reports them."""
    import acl

    acl.sim.reset()
    try:
        acl.sim.configure(none_such=1)
    except ValueError as error:
        names = re.search(r"expected one of ([\w, ]+)", str(error))
    assert names
    found = []
    for name in names[1].strip().split(", "):
        for wrong in ("?", ""):  # a path may be anything but nothing
            try:
                acl.sim.configure(**{name: wrong})
            except ValueError as error:
                expected = re.search(r", expected (.*) \(100000 ", str(error))
                assert expected, error
                found.append((name, expected[1], BY_MACHINE.get(name) or acl.sim.get_config(name)))
                break
            acl.sim.configure(**{name: None})
    return found


def _settings_page() -> list[str]:
    rows = []
    for name, expected, default in settings():
        rows.append(([f"``ACL_SIM_{name.upper()}``"], [plain(expected)], [f"``{default}``"]))
    return table("25 60 15", ("Variable", "Accepted values", "Default"), rows)


def _answers() -> codes.Codes:
    """Return what the simulator's functions answer, read from its C and the tables that its build makes."""
    with tempfile.TemporaryDirectory() as build:
        command = ["make", "-s", "-C", str(ROOT / "simulator"), "facts", f"BUILD={build}", f"PYTHON={sys.executable}"]
        subprocess.run(command, check=True)
        return codes.Codes(ROOT, Path(build) / "facts")


def pages() -> dict[str, list[str]]:
    """Return every page by its path below ``made``, without a suffix."""
    from acl import abi, operators, sim

    declared, answers, signatures = abi.load(), _answers(), Signatures()
    assert len(answers.kernels) == sim.operators(implemented=True), "acl was built from other sources: install it again"
    found: dict[str, list[str]] = {}
    for group in declared.groups:
        found[f"calls/{group}"] = _group_page(group, declared, answers, signatures)
    rows = abi.rows(ROWS).values()
    for family in sorted({row.family for row in rows}):
        ours = [row for row in rows if row.family == family]
        found[f"operators/{family}"] = _operator_page(family, ours, operators.load(), answers)
    for name, lines in _objects().items():
        found[f"objects/{name}"] = lines
    found["sim"] = [".. _sim:", "", *_functions_page("acl.sim", "acl.sim", _public("acl.sim"))]
    helpers = [name for name in vars(importlib.import_module("acl.util")) if not name.startswith("_")]
    found["util"] = _functions_page("acl.util", "acl.util", helpers)
    found["codes"] = list(error_codes.page(_functions_of_codes(declared, answers)))
    return found


def summaries() -> dict[str, list[str]]:
    """Return the lists of the index: each generated page with one line that says what is on it."""
    from acl import abi
    from acl.objects import HOME

    modules = {module.rsplit(".", 1)[-1]: module for module in HOME.values()}
    found = {
        "objects": {name: _first_line(module) for name, module in modules.items()},
        "calls": abi.load().groups,
        "operators": {path.stem: _family(path.stem) for path in ROWS.glob("*.h")},
    }
    return {
        kind: [
            f"- :doc:`{name} </reference/made/{kind}/{name}>`: {plain(text)}" for name, text in sorted(texts.items())
        ]
        for kind, texts in found.items()
    }


def _first_line(module: str) -> str:
    text = (importlib.import_module(module).__doc__ or "").split("\n")[0]
    return re.sub(r":[\w:]+:`([^`]+)`", r"\1", text)  # the index escapes the text: a role would show


def write() -> None:
    """Write the pages, unless they are newer than everything that they come from."""
    stamp = MADE / "settings.inc"
    sources = ("simulator/**/*.[ch]", "acl/**/*.py", "acl/include/acl/**/*.h", "docs/_ext/*.py", "docs/codes.txt")
    inputs = [path for pattern in sources for path in ROOT.glob(pattern)]
    if stamp.exists() and stamp.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return
    texts = {MADE / f"{name}.rst": "\n".join(lines) + "\n" for name, lines in pages().items()}
    texts |= {MADE / f"{kind}.inc": "\n".join(lines) + "\n" for kind, lines in summaries().items()}
    for path in set(MADE.rglob("*.rst")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # else Sphinx would read it again
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    stamp.write_text("\n".join(_settings_page()) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("config-inited", lambda app, config: write())
    return {"parallel_read_safe": True}
