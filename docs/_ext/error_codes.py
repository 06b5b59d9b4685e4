"""The page of all error codes: name and number from the headers, cause and cure from ``docs/codes.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

CODES = Path(__file__).resolve().parents[1] / "codes.txt"
FEW = 8  # a code that more functions return is too general for a list of them
RANGES = {
    "1": "Wrong calls (1xxxxx)",
    "2": "Resources and support (2xxxxx)",
    "3": "Limits of the service (3xxxxx)",
    "5": "Internal errors and device failures (5xxxxx)",
}


def texts() -> dict[int, tuple[str, str]]:
    """Return the cause and the cure of each code."""
    found = {}
    for code, cause, cure in re.findall(r"^(\d{6}) (.+)\n    (.+)$", CODES.read_text(encoding="utf-8"), re.MULTILINE):
        found[int(code)] = (cause, cure)
    return found


def _linked(text: str) -> str:
    """Return a text in which functions and other codes are links."""
    text = re.sub(r"\b((?:acl|acltdt)[a-z]*[A-Z]\w+)(?<!Attr)(?<!Policy)(?<!Format)\b", r":c:func:`\1`", text)
    text = re.sub(r"\b(ACL_[A-Z_]+|ASCEND_[A-Z_]+)\b", r"``\1``", text)
    return re.sub(r"\b([1-5]\d{5})\b", r":ref:`\1 <code-\1>`", text)


def page(functions: dict[int, list[str]]) -> Iterable[str]:
    """Give the lines of the page.

    Parameters
    ----------
    functions
        The C functions that return each code.
    """
    from acl import errors

    families = {code: family for family, members in errors.FAMILIES.items() for code in members}
    yield from (".. _status-codes:", "", "Error codes", "===========", "")
    yield "Look up the code that a call returned: its cause, its cure, and the class that the objects raise for it."
    yield "A code that only a few functions of the simulator return lists them; the page of a function lists its codes."
    section = ""
    for code, (cause, cure) in sorted(texts().items()):
        if str(code)[0] != section:
            section = str(code)[0]
            yield from ("", RANGES[section], "-" * len(RANGES[section]), "")
        family = families.get(code, errors.AclError)
        yield from (f".. _code-{code}:", "", f".. describe:: {code} {errors.name_of(code)}", "")
        yield from (f"   :Cause: {_linked(cause)}", f"   :Cure: {_linked(cure)}")
        advice = errors.ADVICE.get(code, family.usual_advice)
        yield f"   :Objects: :class:`acl.{family.__name__}`" + (f": {_literal(advice)}" if advice else "")
        callers = functions.get(code, [])
        if 0 < len(callers) <= FEW:
            yield "   :Functions: " + ", ".join(f":c:func:`{name}`" for name in callers)
        yield ""


def _literal(advice: str) -> str:
    """Return an advice with its code in the literals of reStructuredText."""
    return re.sub(r"`([^`]*)`", r"``\1``", advice).replace("*", r"\*")
