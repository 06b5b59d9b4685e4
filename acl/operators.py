"""The operators with what is known about each: kernel, data types, first version, formula.

For ``python -m acl ops`` and for the pages of operators in the docs. Prototypes come from the headers of this package,
versions and roles of parameters from the operator schemas, kernels and their types from the opened library.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from acl import abi, nnop
from acl._lib import is_simulator
from acl.operator_formulas import FORMULAS, KIN, PLANNED, PYTORCH, WHY

HEADERS = Path(__file__).parent / "include" / "aclnnop"
FIRST_HALF = "GetWorkspaceSize"
UNLISTED = (
    "checked case by case: if a type is wrong, phase 1 returns 161002, and its message lists those that are right"
)
OLDEST = "{}.{}".format(*abi.OLDEST)
_FUNCTIONS = {
    name: prefix + (function or name)
    for prefix, words in PYTORCH.items()
    for name, _, function in (word.partition("=") for word in words.split())
}


class Parameter(NamedTuple):
    """One parameter: its C declaration, and the direction of a tensor or list of tensors, otherwise ""."""

    declaration: str
    direction: str
    optional: bool


class Operator(NamedTuple):
    """One operator. ``takes`` and ``gives`` are the data types of its first operand and first result, if known.

    ``why`` is a word that says why it has no kernel, "" if it has one. ``outputs`` says whether its function in
    :mod:`acl.nn` has ``out=``, and ``allocates`` whether it may be left out. If it is not ``verified``, the directions
    of its parameters follow from their names: no public document describes it.
    """

    name: str
    python: str
    header: str
    since: str
    prototypes: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    kernel: bool
    why: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    formula: str
    outputs: bool
    allocates: bool
    verified: bool

    @property
    def types(self) -> str:
        """The data types in one line: of the first operand, and of the first result where they differ."""
        takes, gives = " ".join(self.takes), " ".join(self.gives)
        return f"{takes} -> {gives}" if takes and gives and takes != gives else takes or gives

    @property
    def checks(self) -> str:
        """The data types, or how they are checked; "" without a kernel."""
        return self.types or (UNLISTED if self.kernel and is_simulator else "")


def formula_of(name: str) -> str:
    """Return the PyTorch function or the formula of an operator, by its name in :mod:`acl.nn`; "" if there is none."""
    found = FORMULAS.get(name) or _FUNCTIONS.get(name, "")
    for pattern, text in KIN:
        shorter = re.sub(pattern, "", name)
        if not found and shorter != name:
            known = formula_of(shorter)
            found = text.format(known) if known else ""
    return found


def why_missing(name: str) -> str:
    """Return the word that says why an operator has no kernel, by its name in :mod:`acl.nn`."""
    return next((word for word, pattern in WHY if re.search(pattern, name)), PLANNED)


def _declared() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Read the headers: the header and the prototypes of each operator, by its C name."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for path in sorted(HEADERS.rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        halves = re.findall(r"^ACL_API\(\d+, \d+\) (aclnnStatus (\w+)\(.*?\));", text, re.MULTILINE | re.DOTALL)
        texts = {name: prototype for prototype, name in halves}
        for prototype, half in halves:
            name = half.removesuffix(FIRST_HALF)
            if name in texts and name != half:
                found[name] = path.relative_to(HEADERS.parent).as_posix(), (prototype, texts[name])
    return found


def _kernel(name: str) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Return whether the opened library has a kernel of an operator, and the types that the kernel takes."""
    if not is_simulator:
        return nnop.address_of(name) != 0, (), ()
    from acl import sim

    types = sim.kernel_types(name)
    return (False, (), ()) if types is None else (True, *types)


@lru_cache(maxsize=1)
def load() -> Mapping[str, Operator]:
    """Return all operators by their C names, in alphabetical order."""
    from acl.objects.op_signature import shape_of
    from acl.objects.op_table import RULES

    declared = _declared()
    found = {}
    for python, schema in sorted(nnop._operators().items(), key=lambda item: item[1]["name"]):
        name = schema["name"]
        header, prototypes = declared[name]
        since = schema.get("needs", OLDEST)
        given = abi.split_list(prototypes[0][prototypes[0].index("(") + 1 : -1])
        parameters = (
            Parameter(declaration, role.rstrip("?"), role.endswith("?"))
            for declaration, (_, _, role) in zip(given, schema["parameters"])
        )
        kernel, takes, gives = _kernel(name)
        found[name] = Operator(
            name,
            python,
            header,
            since,
            prototypes,
            tuple(parameters),
            kernel,
            "" if kernel else why_missing(python),
            takes,
            gives,
            formula_of(python),
            outputs=bool(shape_of(schema).outputs),
            allocates=python in RULES,
            verified=not schema.get("unverified", False),
        )
    return found


def named(name: str) -> list[Operator]:
    """Return the operators that a name means: the C name with or without ``aclnn``, or the name in :mod:`acl.nn`."""
    wanted = name.removesuffix(FIRST_HALF)
    return [one for one in load().values() if wanted in (one.name, one.name.removeprefix("aclnn"), one.python)]


def _table(found: list[Operator]) -> list[str]:
    """Return a line for each operator: name, kernel, first version, formula and types."""
    lines = [("operator", "kernel", "since", "formula [types]")]
    for one in found:
        text = f"{one.formula} [{one.types}]" if one.types else one.formula
        lines.append((one.name, "yes" if one.kernel else "no", one.since, text))
    widths = [max(map(len, column)) for column in zip(*lines)]
    texts = ["  ".join(f"{cell:<{width}}" for cell, width in zip(line, [*widths[:3], 0])).rstrip() for line in lines]
    return [*texts, f"operators: {len(found)}, with a kernel: {sum(one.kernel for one in found)}"]


def _detail(one: Operator) -> list[str]:
    """Return all that is known about an operator."""
    doubt = "" if one.verified else "(unverified)"
    notes = [
        " ".join(filter(None, (p.direction, doubt if p.direction else "", "optional" * p.optional)))
        for p in one.parameters
    ]
    width = max((len(p.declaration) for p in one.parameters), default=0)
    made = "allocates its outputs" if one.allocates else "needs out=" if one.outputs else "changes its arguments"
    fields = [
        ("header", one.header),
        ("since", f"CANN {one.since}"),
        ("kernel", "yes" if one.kernel else f"no ({one.why})"),
        ("formula", one.formula),
        ("types", one.checks),
        ("acl.nn", f"acl.nn.{one.python} {made}"),
    ]
    lines = [f"{name:<8} {text}" for name, text in fields if text]
    lines += [f"  {p.declaration:<{width}}  {note}".rstrip() for p, note in zip(one.parameters, notes)]
    return [one.name, *lines, *(f"{prototype};" for prototype in one.prototypes)]


def _plain(one: Operator) -> dict[str, Any]:
    """Return an operator as JSON has it."""
    return {**one._asdict(), "parameters": [parameter._asdict() for parameter in one.parameters]}


def ops_command(found: list[Operator], detail: bool = False, missing: bool = False, as_json: bool = False) -> str:
    """Return the text of ``python -m acl ops [NAME] [--missing] [--json]``.

    Parameters
    ----------
    found : list of Operator
        The operators to show.
    detail : bool
        Whether all is shown that is known about each.
    missing : bool
        Whether only those without a kernel are shown, each with one word why.
    as_json : bool
        Whether the text is JSON: a list, with everything known about each operator.
    """
    if missing:
        found = [one for one in found if not one.kernel]
    if as_json:
        return json.dumps([_plain(one) for one in found], indent=1)
    if missing:
        width = max((len(one.name) for one in found), default=0)
        return "\n".join([*(f"{one.name:<{width}}  {one.why}" for one in found), f"without a kernel: {len(found)}"])
    return "\n\n".join("\n".join(_detail(one)) for one in found) if detail else "\n".join(_table(found))
