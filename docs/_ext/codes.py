"""The status codes that each C function can return, with their messages: read from the simulator's C.

A function can return a code if it passes the code to a failing check (``SIM_CHECK`` and similar macros), or returns or
assigns the code, or calls a function that returns a status (and uses it) or writes one (``aclError *code``). The
compiler's preprocessor expands the macros. Codes of work that failed earlier (``TaskError``, ``AbortedError``) are left
out, because they do not belong to the function.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import acl
from acl import abi

# The statuses that the headers declare as enumerators, which the preprocessor leaves as names.
OPERATOR_STATUS = {
    name: str(code) for name, code in abi.load(acl.get_include()).enums["aclsimOperatorStatus"].members.items()
}
CONVERTS = ("aclop", "aclblas")  # functions that return codes of their own for those of operators (operator/op.c)
STATUS = {"aclError", "aclnnStatus"}
REFUSE = {"sim_fail": 0, "sim_refuse": 0}  # with the place of the code among their arguments
UNSUPPORTED = 207000
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d\w*|[=!<>]=|->|&&|\|\||\S')
WRITES = re.compile(r"(?<!const )\b(?:aclError|aclnnStatus) \* ")
CODE = re.compile(r"[1-5]\d{5}$")
FORMAT = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?([a-zA-Z%])")
DROPPED = (";", "{", "}", ")", "else", "do")  # tokens before a call whose result is not used
CLOSING = {"(": ")", "{": "}", "[": "]"}


@dataclass
class Body:
    """One C function: its own codes with their messages, and the functions that it calls for a status."""

    says: dict[int, list[str]] = field(default_factory=dict)
    asks: list[str] = field(default_factory=list)


@dataclass
class Unit:
    """One C file after preprocessing: its functions by name, and the names of those that are not static."""

    bodies: dict[str, Body] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)


def _preprocess(path: Path, root: Path, facts: Path) -> list[str]:
    """Return the tokens of a C file, without those of files outside of the simulator's folders.

    The headers are those of the installed package: some of them are generated, so a fresh clone does not have them.
    """
    compiler = shutil.which(os.environ.get("CC") or "gcc") or "clang"
    command = [compiler, "-E", "-std=c11", "-D_GNU_SOURCE"]
    command += [f"-I{folder}" for folder in (acl.get_include(), root / "simulator" / "core", facts)]
    text = subprocess.run([*command, str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout
    ours = str(root / "simulator")
    kept, inside = [], False
    for line in text.split("\n"):
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            inside = marker[1].startswith(ours)
        elif inside:
            kept.append(line)
    return [OPERATOR_STATUS.get(token, token) for token in TOKEN.findall("\n".join(kept))]


def _end(tokens: list[str], place: int) -> int:
    """Return the place of the bracket that closes the one at a place."""
    close, depth = CLOSING[tokens[place]], 0
    for here in range(place, len(tokens)):
        depth += (tokens[here] == tokens[place]) - (tokens[here] == close)
        if depth == 0:
            return here
    return len(tokens)


def _functions(tokens: list[str]) -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """Yield the name, the words before it, the parameters and the body of each function definition."""
    begin = place = 0
    while place < len(tokens):
        token = tokens[place]
        if token == ";":
            begin = place + 1
        elif token == "{":
            head, end = tokens[begin:place], _end(tokens, place)
            while "__attribute__" in head:
                at = head.index("__attribute__")
                del head[at : _end(head, at + 1) + 1]
            if "(" in head and head[-1] == ")" and "=" not in head:
                at = head.index("(")
                yield head[at - 1], head[: at - 1], head[at:], tokens[place + 1 : end]
                begin = end + 1
            place = end
        elif token == "(":
            place = _end(tokens, place)
        place += 1


def _arguments(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in CLOSING) - (token in CLOSING.values())
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _text(tokens: list[str], arguments: list[list[str]]) -> str:
    """Return a message for readers: literal arguments are filled in, other arguments become an ellipsis."""
    text = "".join(token[1:-1] for token in tokens if token.startswith('"'))
    values = iter(arguments)

    def value(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        words = next(values, [])
        return words[0][1:-1] if len(words) == 1 and words[0].startswith('"') else "…"

    text = FORMAT.sub(value, text).replace('\\"', '"').replace("\\\\", "\\").replace("\\n", " ")
    return re.sub(r"\s+", " ", re.sub(r"…x\b", "…", text)).strip()


def _read(body: list[str], statuses: set[str], writers: set[str]) -> Body:
    found = Body()
    callers: list[str] = []  # functions whose brackets are open
    for place, token in enumerate(body):
        before = body[place - 1] if place else ";"
        after = body[place + 1] if place + 1 < len(body) else ""
        if token == "(":
            callers.append(before if re.match(r"[A-Za-z_]\w*$", before) else callers[-1] if callers else "")
        elif token == ")" and callers:
            callers.pop()
        elif token in REFUSE and after == "(":
            arguments = _arguments(body[place + 2 : _end(body, place + 1)])
            text = _text(arguments[REFUSE[token] + 1], arguments[REFUSE[token] + 2 :])
            for word in arguments[REFUSE[token]]:
                if CODE.match(word):
                    found.says.setdefault(int(word), []).append(text)
        elif CODE.match(token) and before not in ("==", "!=", "<", ">", "<=", ">=", "case", "+", "-", "*", "/", "%"):
            caller = callers[-1] if callers else ""
            if caller not in REFUSE and (caller in statuses or caller in ("", "return", "if", "while")):
                found.says.setdefault(int(token), [])
        elif after == "(" and (token in writers or (token in statuses and before not in DROPPED)):
            found.asks.append(token)
    return found


class Codes:
    """The answers of all functions.

    Parameters
    ----------
    root
        The project's folder.
    facts
        The folder with the tables that ``make facts`` writes.
    """

    def __init__(self, root: Path, facts: Path) -> None:
        folders = ("api", "core", "ops")
        paths = sorted(path for folder in folders for path in root.glob(f"simulator/{folder}/**/*.c"))
        with ThreadPoolExecutor(2) as pool:
            texts = list(pool.map(lambda path: _preprocess(path, root, facts), paths))
        heads = [list(_functions(tokens)) for tokens in texts]
        kernels = (re.findall(r" sim_kernel_(acl\w+) =", " ".join(tokens)) for tokens in texts)
        self.kernels = {name for found in kernels for name in found}  # the operators that have one
        every = [head for found in heads for head in found]
        statuses = {name for name, words, _, _ in every if STATUS & set(words) and "*" not in words}
        writers = {name for name, _, params, _ in every if WRITES.search(" ".join(params))}
        self.units = []
        self.home: dict[str, Unit] = {}
        for found in heads:
            unit = Unit({name: _read(body, statuses, writers) for name, _, _, body in found})
            unit.public = {name for name, words, _, _ in found if "static" not in words}
            self.units.append(unit)
            self.home.update(dict.fromkeys(unit.public, unit))

    def of(self, name: str) -> dict[int, list[str]]:
        """Return the codes of one function with their messages; empty if the simulator lacks the function."""
        found: dict[int, list[str]] = {}
        seen: set[tuple[int, str]] = set()
        todo = [(self.home[name], name)] if name in self.home else []
        while todo:
            unit, here = todo.pop(0)
            unit = unit if here in unit.bodies else self.home.get(here, unit)
            if (id(unit), here) in seen or here not in unit.bodies:
                continue
            seen.add((id(unit), here))
            for code, texts in unit.bodies[here].says.items():
                known = found.setdefault(code, [])
                known += [text for text in texts if text not in known]
            todo += [(unit, other) for other in unit.bodies[here].asks]
        left_out = OPERATOR_STATUS.values() if name.startswith(CONVERTS) else ()
        return {code: texts for code, texts in sorted(found.items()) if str(code) not in left_out}
