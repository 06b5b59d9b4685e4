"""Read the declared ABI: the one parser of ``acl/include/acl/abi/*.h``.

The headers are plain C without preprocessor lines other than ``#define NAME integer``. Each function follows a
marker with the first CANN version that has it, and a comment: what it does, then one line for each pyACL call of the
function, the *call shape*::

    /** Allocate device memory on the current device.
     *  rt.malloc(size, policy) -> (devPtr, ret) */
    ACL_API(8, 1) aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

Grammar of a call shape (it may go on over several comment lines; names are those of the C parameters)::

    shape  := namespace "." call "(" [item {", " item}] ")" " -> " result [" @py"] [" @extension"]
    result := "ret" | "None" | "value" | "(" out {", " out} ", ret)"
    item   := name [":" form] ["#" length]      an argument of the call
            | "[" name [":" form] "]"           an argument that may be left out: C gets NULL
            | name "=NULL"                      no argument: C always gets NULL
            | "_"                               an argument that is accepted and ignored
    out    := name [":" form] ["#" length]      an output of C
            | "=" name [":" form]               an argument that is returned too
            | "0"                               always 0
    form   := "str" | "[int]" | "[float]" | "[str]" | "[[int]]"
            | "dict" | "[dict]" | "callable" | "object" | "int|str"          only with @py

* ``ret`` is the status that C returns, ``value`` any other C result (a text is a str, None for NULL), ``None`` is void.
* Without a form the C type decides: float slots take a number, every other slot an int (an address for a pointer).
* ``name:str`` is a text, ``name:str#n`` a text whose length in bytes is passed as parameter ``n``; as an output, a
  buffer of ``n`` bytes. ``name:[…]#n`` is a list of ``n`` elements. ``n`` gets no argument of its own unless it is an
  item too. Lists with the same ``n`` must be equally long. ``[[int]]`` fills a C array ``T name[][k]``: k ints a row.
* Every C parameter is named exactly once, as an item, a length or an output (``=name`` aside). A call with ``@py`` is
  written by hand in ``acl/api``; its shape still names only C parameters, but hidden ones may be missing.
* ``@extension`` marks a call in the style of pyACL that the vendor's pyACL does not have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Union

NAMESPACES = ("acl", "rt", "mdl", "op", "util", "prof", "blas")
CONTROL_GROUP = "sim"  # the control interface of the simulator: exported like the rest, counted separately
OLDEST, NEWEST = (8, 1), (9, 1)  # the known CANN versions; functions that are later than the newest have (9, 2)
FORMS = ("str", "[int]", "[float]", "[str]", "[[int]]")
PYTHON_FORMS = ("dict", "[dict]", "callable", "object", "int|str")
STATUS_TYPES = ("aclError", "aclnnStatus")
NUMBERS = frozenset(
    "bool char float double int size_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t".split()
    + ["unsigned char"]
)
_FIRST = ("base", "errors")


class AbiError(ValueError):
    """A header that this parser does not accept; the text names the file, the place and the rule."""


class Param(NamedTuple):
    """One C parameter or struct member: ``type`` with arrays and function pointers written as in a cast."""

    type: str
    name: str


@dataclass(frozen=True)
class Item:
    """One item or output of a call shape; ``given`` marks ``=name``, ``null`` marks ``name=NULL``."""

    name: str
    form: str = ""
    length: str = ""
    optional: bool = False
    null: bool = False
    given: bool = False


@dataclass(frozen=True)
class Shape:
    """How one pyACL call reaches its C function."""

    namespace: str
    name: str
    items: tuple[Item, ...]
    result: str  # "ret", "None", "value" or "tuple"
    outputs: tuple[Item, ...]  # without the closing ret
    python: bool
    extension: bool
    text: str

    @property
    def path(self) -> str:
        """Full Python name, such as ``acl.rt.malloc``."""
        return f"acl.{self.name}" if self.namespace == "acl" else f"acl.{self.namespace}.{self.name}"

    @property
    def arguments(self) -> tuple[Item, ...]:
        """The items that the caller passes, in order."""
        return tuple(item for item in self.items if not item.null)


def version_text(since: tuple[int, int]) -> str:
    """Return a first CANN version as messages print it."""
    major, minor = min(since, NEWEST)
    return f"{'later than ' if since > NEWEST else ''}{major}.{minor}"


@dataclass(frozen=True)
class Function:
    """One declared C function."""

    name: str
    group: str
    ret: str
    params: tuple[Param, ...]
    since: tuple[int, int]
    doc: str
    shapes: tuple[Shape, ...]
    variadic: bool = False

    @property
    def needs(self) -> str:
        """The first CANN version that has it, as messages print it."""
        return version_text(self.since)

    @property
    def prototype(self) -> str:
        """The C declaration without marker and semicolon."""
        params = [declare(param.type, param.name) for param in self.params] + ["..."] * self.variadic
        return declare(self.ret, f"{self.name}({', '.join(params) or 'void'})")


@dataclass(frozen=True)
class Enum:
    """One enumeration; ``members`` keeps the declared order, ``notes`` the comments beside them."""

    name: str
    group: str
    tag: str
    members: dict[str, int]
    notes: dict[str, str]  # member -> the comment beside it


@dataclass(frozen=True)
class Struct:
    """One struct or union; ``fields`` is None when it is opaque. Members of unnamed unions are listed as its own."""

    name: str
    group: str
    tag: str
    kind: str
    fields: tuple[Param, ...] | None


@dataclass(frozen=True)
class Typedef:
    """A name for another type (handles, numbers, callbacks)."""

    name: str
    group: str
    type: str


@dataclass(frozen=True)
class Constant:
    """One ``#define NAME integer``."""

    name: str
    group: str
    value: int


LARGEST = "GetMaxWorkspaceSize"  # end of the names of functions that take the arguments of an operator's first phase


@dataclass(frozen=True)
class RowParam:
    """One parameter of an operator: ``direction`` is "", "in", "out" or "inout" (tensors and their lists have one)."""

    type: str
    name: str
    direction: str
    optional: bool


@dataclass(frozen=True)
class Row:
    """One operator schema, or (``helper``) a plain function among the operators, which has no phases.

    The directions of a schema that is not ``verified`` follow from names: no public document describes the operator.
    """

    name: str
    family: str
    headers: tuple[str, ...]  # the header that declares it, then those that include that header
    params: tuple[RowParam, ...]
    helper: bool = False
    since: tuple[int, int] = OLDEST
    verified: bool = True

    @property
    def needs(self) -> str:
        """The first CANN version that has it, as messages print it."""
        return version_text(self.since)

    @property
    def prototypes(self) -> list[str]:
        """The C declarations without marker and semicolon: of both phases, or of the one function."""
        own = [declare(param.type, param.name) for param in self.params]
        if self.helper:
            return [f"aclnnStatus {self.name}({', '.join(own)})"]
        plan = [*own, *(declare(param.type, param.name) for param in PLANNED)]
        run = "void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream"
        return [f"aclnnStatus {self.name}GetWorkspaceSize({', '.join(plan)})", f"aclnnStatus {self.name}({run})"]

    @property
    def symbols(self) -> list[str]:
        """The exported names."""
        return [self.name] if self.helper else [f"{self.name}GetWorkspaceSize", self.name]

    @property
    def largest_of(self) -> str:
        """The operator whose greatest workspace this function returns; empty for all others."""
        return self.name[: -len(LARGEST)] if self.name.endswith(LARGEST) else ""


Declaration = Union[Function, Enum, Struct, Typedef, Constant]


@dataclass
class Abi:
    """Everything the headers declare, by name, in declared order."""

    groups: dict[str, str] = field(default_factory=dict)  # group -> its description, one sentence
    functions: dict[str, Function] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    structs: dict[str, Struct] = field(default_factory=dict)
    typedefs: dict[str, Typedef] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)

    def add(self, item: Declaration) -> None:
        """Add one declaration; raise an error for a second one of the same name."""
        table = getattr(self, type(item).__name__.lower() + "s")
        if item.name in table:
            first = table[item.name].group
            raise AbiError(f"abi/{item.group}.h: {item.name} is declared twice, first in abi/{first}.h")
        table[item.name] = item

    def kind(self, ctype: str) -> str:
        """Return what a type is without aliases: void, pointer, enum, struct or a number type such as int32_t."""
        bare = re.sub(r"\bconst\b", "", ctype).strip()
        if bare.endswith(("*", "]", ")")):
            return "pointer"
        if bare in self.typedefs:
            return self.kind(self.typedefs[bare].type)
        if bare in self.enums or bare.startswith("enum "):
            return "enum"
        if bare in self.structs or bare.startswith(("struct ", "union ")):
            return "struct"
        if bare == "void" or bare in NUMBERS:
            return bare
        raise AbiError(f"type {ctype!r} is not declared in any abi header")


def declare(ctype: str, name: str) -> str:
    """Return the C declaration of a name with a type of `Param`."""
    array = ctype.find("[")
    pointer = ctype.find(")(")
    if pointer >= 0:
        return declare(ctype[:pointer], name) + ctype[pointer:]
    if array >= 0:
        return declare(ctype[:array].rstrip(), name) + ctype[array:]
    return f"{ctype}{name}" if ctype.endswith("*") else f"{ctype} {name}"


def split_list(text: str) -> list[str]:
    """Split at the commas outside brackets; an empty text has no parts."""
    parts = [""]
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _param(text: str) -> Param:
    """Parse a C parameter or struct member."""
    text = re.sub(r"\s+", " ", text.strip())
    call = re.fullmatch(r"(.*\(\*\s*(?:const )?)(\w+)(\)\(.*\))", text)
    if call:
        return Param((call[1] + call[3]).replace("const )", "const)"), call[2])
    plain = re.fullmatch(r"(.*?[\s*])(\w+)((?:\[\w*\])*)", text)
    if not plain:
        raise AbiError(f"{text!r} is not 'type name'")
    return Param(plain[1].strip() + plain[3], plain[2])


# A pair of braces, with at most two pairs inside one another.
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"


def _members(body: str) -> Iterator[Param]:
    """Parse the members of a struct; those of unnamed unions are yielded as its own."""
    for text in re.findall(rf"((?:[^;{{]|{_BRACES})+);", body):
        nested = re.fullmatch(r"\s*(?:union|struct)\s*\w*\s*\{(.*)\}\s*(\w*)\s*", text, re.S)
        if not nested:
            yield _param(text)
        elif nested[2]:
            yield Param(re.sub(r"\s+", " ", text[: text.rindex("}") + 1].strip()), nested[2])
        else:
            yield from _members(nested[1])


def _item(text: str, function: str) -> Item:
    """Parse one item of a call shape."""
    optional = re.fullmatch(r"\[(\w.*)\]", text)
    match = re.fullmatch(r"(=?)(\w+)(?::([^#=]+))?(?:#(\w+))?(=NULL)?", optional[1] if optional else text)
    if not match or (match[3] and match[3] not in FORMS + PYTHON_FORMS):
        raise AbiError(f"{function}: {text!r} is not a call shape item; the grammar is at the top of acl/abi.py")
    return Item(match[2], match[3] or "", match[4] or "", bool(optional), bool(match[5]), bool(match[1]))


def parse_shape(text: str, function: str) -> Shape:
    """Parse the call shape on one line; the name of the C function is used in messages."""
    match = re.fullmatch(r"(\w+)\.(\w+)\((.*)\) -> (ret|None|value|\(.*, ret\))( @py)?( @extension)?", text)
    if not match or match[1] not in NAMESPACES:
        raise AbiError(f"{function}: {text!r} is not a call shape; the grammar is at the top of acl/abi.py")
    result = match[4]
    outputs = split_list(result[1:-1])[:-1] if result.startswith("(") else []
    items, outs = (tuple(_item(part, function) for part in parts) for parts in (split_list(match[3]), outputs))
    return Shape(match[1], match[2], items, "tuple" if outputs else result, outs, bool(match[5]), bool(match[6]), text)


def _check_shape(shape: Shape, function: Function) -> None:
    """Raise an error for a call shape that contradicts the declaration of its function."""

    def fail(why: str) -> None:
        raise AbiError(f"abi/{function.group}.h: {function.name}: shape {shape.text!r} {why}")

    returned = [item for item in shape.outputs if not item.given and item.name != "0"]
    named = [item.name for item in (*shape.items, *returned) if item.name != "_"]
    lengths = {item.length for item in (*shape.items, *returned) if item.length}
    covered = [*named, *sorted(lengths - set(named))]
    declared = [param.name for param in function.params]
    unknown = [name for name in covered if name not in declared]
    if unknown:
        fail(f"names {unknown[0]}, which is not a parameter; the parameters are {', '.join(declared)}")
    if len(set(covered)) < len(covered):
        fail("names a parameter twice")
    if not shape.python and len(covered) < len(declared):
        fail(f"leaves out {', '.join(name for name in declared if name not in covered)}")
    given = {item.name for item in shape.outputs if item.given} - {item.name for item in shape.items}
    if given:
        fail(f"returns {given.pop()}, which is not an argument")
    if not shape.python and any(item.form in PYTHON_FORMS for item in (*shape.items, *shape.outputs)):
        fail("uses a form that only @py shapes may use")
    result = "None" if function.ret == "void" else "ret" if function.ret in STATUS_TYPES else "value"
    if result != {"tuple": "ret"}.get(shape.result, shape.result):
        fail(f"ends in {shape.result}, but {function.ret} as the C result wants {result}")


def _comment(text: str, function: str) -> tuple[str, tuple[Shape, ...]]:
    """Return the description and the call shapes in a comment."""
    doc: list[str] = []
    shapes: list[str] = []
    for line in re.sub(r"^/\*+|\*/$", "", text).split("\n"):
        line = re.sub(r"^\s*\*", "", line).strip()
        if re.match(rf"(?:{'|'.join(NAMESPACES)})\.\w+\(", line):
            shapes.append(line)
        elif shapes:
            shapes[-1] += " " + line if line else ""
        elif line:
            doc.append(line)
    return " ".join(doc), tuple(parse_shape(shape, function) for shape in shapes)


_TOKEN = re.compile(rf"(?P<comment>/\*.*?\*/)|(?P<define>#[^\n]*)|(?P<declaration>[^\s/#](?:[^;{{]|{_BRACES})*;)", re.S)


def _declaration(text: str, comment: str, group: str) -> Declaration:
    """Parse one declaration with the comment before it."""
    enum = re.fullmatch(r"typedef enum (\w+) \{(.*)\} (\w+);", text, re.S)
    if enum:
        members, comments = {}, r"/\*\s*(.*?)\s*\*/"
        notes = dict(re.findall(rf"(\w+) = [^,\n]*,?[ ]*{comments}", enum[2]))
        for part in split_list(re.sub(comments, "", enum[2])):
            member, _, value = part.partition("=")
            if not value:
                raise AbiError(f"abi/{group}.h: {enum[3]}: {part!r} needs '= value'")
            members[member.strip()] = int(value, 0)
        return Enum(enum[3], group, enum[1], members, notes)
    struct = re.fullmatch(r"typedef (struct|union) (\w+) (?:\{(.*)\} )?(\w+);", text, re.S)
    if struct:
        fields = None if struct[3] is None else tuple(_members(struct[3]))
        return Struct(struct[4], group, struct[2], struct[1], fields)
    if text.startswith("typedef "):
        alias = _param(text[len("typedef ") : -1])
        return Typedef(alias.name, group, alias.type)
    function = re.fullmatch(r"ACL_API\((\d+), (\d+)\)\s+(.*?[\s*])(\w+)\((.*)\);", text, re.S)
    if not function:
        raise AbiError(
            f"abi/{group}.h: {' '.join(text.split())!r} is neither a typedef nor 'ACL_API(major, minor) type name(…);'"
        )
    doc, shapes = _comment(comment, function[4])
    params = split_list(function[5])
    variadic = params[-1:] == ["..."]
    named = tuple(_param(part) for part in params[: len(params) - variadic] if part != "void")
    since = (int(function[1]), int(function[2]))
    result = Function(function[4], group, function[3].strip(), named, since, doc, shapes, variadic)
    for shape in shapes:
        _check_shape(shape, result)
    return result


def _read(text: str, group: str, abi: Abi) -> None:
    """Parse the text of a header, and add its declarations."""
    comment = ""
    place = 0
    for match in _TOKEN.finditer(text):
        if text[place : match.start()].strip():
            break
        place = match.end()
        if match["comment"]:
            comment = match["comment"]
            abi.groups.setdefault(group, _comment(comment, group)[0])
            continue
        if match["define"]:
            define = re.fullmatch(r"#define (\w+) (-?\w+?)[uUlL]*", match["define"])
            if not define:
                raise AbiError(f"abi/{group}.h: {match['define']!r} is not '#define NAME integer'")
            abi.add(Constant(define[1], group, int(define[2], 0)))
        else:
            abi.add(_declaration(match["declaration"], comment, group))
        comment = ""
    if text[place:].strip():
        line = text[:place].count("\n") + 1
        raise AbiError(f"abi/{group}.h: the text after line {line} is not a comment, #define or declaration")


def headers(include_dir: Path | None = None) -> list[Path]:
    """Return the abi headers in the order in which they depend on one another."""
    folder = Path(include_dir or Path(__file__).parent / "include") / "acl" / "abi"
    found = {path.stem: path for path in sorted(folder.glob("*.h"))}
    absent = [name for name in _FIRST if name not in found]
    if absent:
        raise AbiError(f"no {absent[0]}.h in {folder}; the include folder must hold acl/abi/*.h")
    return [found.pop(name) for name in _FIRST] + list(found.values())


def load(include_dir: Path | None = None) -> Abi:
    """Read every abi header.

    Parameters
    ----------
    include_dir : Path, optional
        The folder that holds ``acl/abi``; by default the one beside this file.

    Returns
    -------
    Abi
    """
    abi = Abi()
    for path in headers(include_dir):
        _read(path.read_text(encoding="utf-8"), path.stem, abi)
    return abi


def load_extra(include_dir: Path | None = None) -> Abi:
    """Read ``acl/abi/extra/*.h``: functions of other libraries that programs link; they are counted separately.

    Each file is the interface of one library, or a part of it. A function without behaviour returns an error, so that a
    program that only links it still loads.
    """
    abi = load(include_dir)
    abi.functions.clear()
    folder = Path(include_dir or Path(__file__).parent / "include") / "acl" / "abi" / "extra"
    for path in sorted(folder.glob("*.h")):
        _read(path.read_text(encoding="utf-8"), path.stem, abi)
    return abi


def _row_param(text: str, row: str) -> RowParam:
    """Parse one parameter of an operator schema."""
    match = re.fullmatch(r"(?:(IN|OUT|INOUT)\s+)?(OPT\s+)?(.*)", text, re.S)
    assert match  # every part of it may be empty
    param = _param(match[3])
    if ("aclTensor" in param.type) != bool(match[1]):
        raise AbiError(f"{row}: {text!r}: only tensors and lists of tensors have IN, OUT or INOUT, and they must")
    return RowParam(param.type, param.name, (match[1] or "").lower(), bool(match[2]))


# What the first phase of an operator returns.
PLANNED = RowParam("uint64_t *", "workspaceSize", "", False), RowParam("aclOpExecutor **", "executor", "", False)
_ROW = re.compile(
    r"\s*(?:/\*(?P<marked>\*?)(?P<comment>.*?)\*/|"
    r"(?P<unverified>UNVERIFIED\s+)?(?P<kind>OP|HELPER)(?:\((?P<major>\d+), (?P<minor>\d+)\))?\s+"
    r"(?P<name>\w+)\((?P<params>[^;]*)\);)",
    re.S,
)


def rows(folder: Path) -> dict[str, Row]:
    """Read the operator schemas of ``simulator/ops/rows``, by name.

    Each file is a family of operators. ``/** aclnnop/aclnn_add.h [level2] */`` names the header of the rows below it;
    with ``level2``, ``aclnnop/level2/`` has a header of the same name. A row is a declaration without the parameters
    that all operators have: ``OP name(parameters);``, or ``HELPER name(parameters);`` for a plain function. Tensors are
    marked IN, OUT or INOUT; a parameter that may be NULL is marked OPT. ``OP(9, 0)`` is of a row that CANN 9.0 is the
    first to have, and (9, 2) stands for all that is later than 9.1. ``UNVERIFIED OP`` is of a row whose directions
    follow from its names. ``HELPER XGetMaxWorkspaceSize();`` has the parameters of the first phase of X, a row above.
    """
    found: dict[str, Row] = {}
    for path in sorted(Path(folder).glob("*.h")):
        headers: tuple[str, ...] = ()
        text = path.read_text(encoding="utf-8")
        place = 0
        for match in re.finditer(_ROW, text):
            if match.start() != place:
                break
            place = match.end()
            if match["marked"]:
                name, *levels = match["comment"].split()
                headers = (name, *(name.replace("/", f"/{level}/", 1) for level in levels))
            elif match["kind"]:
                name = match["name"]
                params = tuple(_row_param(part, name) for part in split_list(match["params"]))
                if name in found or not headers:
                    raise AbiError(f"{path.name}: {name} is declared twice, or not below the name of a header")
                since = (int(match["major"]), int(match["minor"])) if match["major"] else OLDEST
                row = Row(name, path.stem, headers, params, match["kind"] == "HELPER", since, not match["unverified"])
                if row.largest_of:
                    row = replace(row, params=found[row.largest_of].params + PLANNED)
                found[name] = row
        if text[place:].strip():
            line = text[:place].count("\n") + 1
            raise AbiError(f"{path.name}: the text after line {line} is neither a comment nor an operator schema")
    return found


def plain(text: str) -> str:
    """Return declarations in the form for ``ffi.cdef``: without comments and markers."""
    text = re.sub(r"ACL_API\(\d+, \d+\)\s+", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    return re.sub(r"\n\s*\n+", "\n", text).strip() + "\n"


def cdef(include_dir: Path | None = None) -> str:
    """Return the declarations of the abi headers in the form for ``ffi.cdef``."""
    return plain("\n".join(path.read_text(encoding="utf-8") for path in headers(include_dir)))


def report(missing: Set[str], functions: Iterable[Function]) -> dict[str, dict[str, int]]:
    """Count the declared functions and those with behaviour.

    Parameters
    ----------
    missing : set of str
        Declared functions that have no behaviour in the opened library.
    functions : iterable of Function
        The declared functions.

    Returns
    -------
    dict
        Group to ``declared``, ``implemented`` and ``missing``; the control interface is left out.
    """
    counts: dict[str, dict[str, int]] = {}
    for function in sorted(functions, key=lambda function: function.group):
        if function.group != CONTROL_GROUP:
            row = counts.setdefault(function.group, {"declared": 0, "implemented": 0, "missing": 0})
            row["declared"] += 1
            row["missing" if function.name in missing else "implemented"] += 1
    return counts


def abi_command(functions: Iterable[Function], missing: Set[str], names: bool = False, as_json: bool = False) -> str:
    """Return the text of ``python -m acl abi [--missing] [--json]``.

    Either counts by group or, with ``names``, the names of the declared functions that are ``missing``.
    """
    functions = list(functions)
    if names:
        lacking = sorted(function.name for function in functions if function.name in missing)
        return json.dumps(lacking, indent=1) if as_json else "\n".join(lacking)
    counts = report(missing, functions)
    keys = ("declared", "implemented", "missing")
    counts["total"] = {key: sum(row[key] for row in counts.values()) for key in keys}
    if as_json:
        return json.dumps(counts, indent=1)
    lines = [f"{'group':<12}" + "".join(f"{key:>13}" for key in keys)]
    lines += [f"{group:<12}" + "".join(f"{row[key]:>13}" for key in keys) for group, row in counts.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(abi_command(load().functions.values(), frozenset()))
