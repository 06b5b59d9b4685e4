"""Find a definition in the simulator's C files by its name, and an expression in that definition.

Texts are compared token by token: comments, line breaks and indentation do not count. A definition is the body of a
function, the value of a macro, or the initialiser of a variable at file scope.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# A comment inside a directive may go over several lines; a directive goes on after a backslash at the end of a line.
TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
    |(?P<word>[A-Za-z_]\w*|\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||\#\#|[^\s\\])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
MACRO = re.compile(r"\s*#\s*define\s+(\w+)(\([^)]*\))?")
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """One token, and where it begins in its file."""

    text: str
    begin: int

    @property
    def end(self) -> int:
        """Position after the token's last character."""
        return self.begin + len(self.text)


class Definition(NamedTuple):
    """The tokens of one definition, and the file that it is in."""

    path: Path
    tokens: list[Token]


class Place(NamedTuple):
    """Position of an expression in a file: its first character, and the one after its last."""

    path: Path
    begin: int
    end: int


def tokens_of(text: str, begin: int = 0, end: int | None = None) -> list[Token]:
    """Tokens of a text; a preprocessor directive is one token, and comments are left out."""
    found = TOKEN.finditer(text, begin, len(text) if end is None else end)
    return [Token(match[0], match.start()) for match in found if match.lastgroup != "comment"]


def opening_of(tokens: list[Token], closing: int) -> int:
    """Index of the bracket that the one at the index ``closing`` closes."""
    depth = 0
    for index in range(closing, -1, -1):
        depth += (tokens[index].text in CLOSING) - (tokens[index].text in OPENING)
        if depth == 0:
            return index
    raise ValueError(f"no bracket opens before position {tokens[closing].begin}")


def end_of(tokens: list[Token], begin: int, last: str) -> int:
    """Index after the first token ``last`` that follows ``begin`` and is not in brackets opened after it.

    A file that is included in the middle of a declaration may end before that; then this is the number of tokens.
    """
    depth = 0
    for index in range(begin, len(tokens)):
        depth += (tokens[index].text in OPENING) - (tokens[index].text in CLOSING)
        if depth == 0 and tokens[index].text == last:
            return index + 1
    return len(tokens)


def definitions(text: str) -> Iterator[tuple[str, list[Token]]]:
    """Names that a C file defines, each with the tokens of its definition."""
    tokens = []
    for token in tokens_of(text):
        if not token.text.lstrip().startswith("#"):
            tokens.append(token)
        elif macro := MACRO.match(token.text):
            yield macro[1], tokens_of(text, token.begin + macro.end(), token.end)
    index = 0
    while index < len(tokens):
        begin, before = index, index - 1
        index += 1
        if tokens[begin].text == "=":
            while before > 0 and tokens[before].text == "]":
                before = opening_of(tokens, before) - 1
            index = end_of(tokens, begin, ";")
            yield tokens[before].text, tokens[begin:index]
        elif tokens[begin].text == "{":
            index = end_of(tokens, begin, "}")
            if before > 0 and tokens[before].text == ")":
                yield tokens[opening_of(tokens, before) - 1].text, tokens[begin:index]


def occurrences(definition: Definition, wanted: list[str]) -> Iterator[Place]:
    """Places in a definition where the wanted tokens occur in sequence."""
    tokens, length = definition.tokens, len(wanted)
    texts = [token.text for token in tokens]
    for at in range(len(texts) - length + 1):
        if texts[at : at + length] == wanted:
            yield Place(definition.path, tokens[at].begin, tokens[at + length - 1].end)


class Sources:
    """All definitions of the simulator's C files, except those of its tests."""

    def __init__(self, folder: Path) -> None:
        self.by_name: dict[str, list[Definition]] = defaultdict(list)
        for path in sorted(folder.rglob("*.[ch]")):
            if path.relative_to(folder).parts[0] == "tests" or path.relative_to(folder).parts[0].startswith("build"):
                continue
            for name, tokens in definitions(path.read_text()):
                self.by_name[name].append(Definition(path, tokens))

    def find(self, name: str, expression: str) -> Place:
        """Place of an expression in the definition of a name.

        Parameters
        ----------
        name
            A function, a macro, or a variable at file scope.
        expression
            Tokens that the definitions of this name have exactly once; static functions of several files may share it.

        Raises
        ------
        LookupError
            The name is not defined, or its definitions do not contain the expression exactly once.
        """
        known = self.by_name.get(name, [])
        wanted = [token.text for token in tokens_of(expression)]
        places = [place for one in known for place in occurrences(one, wanted)]
        if not known:
            raise LookupError(f"{name} is not defined")
        if len(places) != 1:
            files = ", ".join(one.path.name for one in known)
            raise LookupError(f"{name} ({files}) has this {len(places)} times, not once: {expression}")
        return places[0]
