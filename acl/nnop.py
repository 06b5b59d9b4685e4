"""Operators as their two C functions, one per phase (an extension: the vendor's pyACL has no such calls).

For ``aclnnAdd`` there are ``acl.nnop.add_get_workspace_size(self, other, alpha, out)``, which returns
``(workspaceSize, executor, ret)``, and ``acl.nnop.add(workspace, workspaceSize, executor, stream)``, which returns
``ret``. Handles and addresses are ints, as everywhere in pyACL; 0 leaves an optional argument out. Texts are str.

A call is created from its operator schema at its first use, because a program uses only a few of them.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from acl import _lib
from acl._lib import _acl, ffi, lib
from acl.phases import kinds_of, prototype_of

_made: dict[str, Callable[..., Any]] = {}
PHASE_TWO = ("workspace", "workspaceSize", "executor", "stream")


@lru_cache(maxsize=1)
def _library() -> str:
    """Return the path of the library with the operators, which is open: the simulator, or libopapi of the toolkit."""
    if _lib.toolkit is None:
        return str(_lib.library_path)
    path = os.path.join(_lib.toolkit, "lib64", "libopapi.so")
    reason = _lib.open_library(path, False)
    if reason is not None:
        raise OSError(f"cannot load library {path!r}: {reason}")
    return path


@lru_cache(maxsize=1)
def _operators() -> Mapping[str, Any]:
    """Read the operator schemas: by Python name, the C name and ``[C type, parameter, role]`` of each parameter.

    ``needs`` is the first CANN version that has the operator; it is absent if all versions have it.
    """
    with open(os.path.join(_lib.HOME, "operators.json"), encoding="utf-8") as text:
        table: Mapping[str, Any] = json.load(text)
    return table


def address_of(symbol: str) -> int:
    """Return the address of a C function of an operator; 0 if the opened library does not have it."""
    return int(ffi.cast("uintptr_t", lib.acl_backend_symbol(os.fsencode(_library()), symbol.encode())))


def _present(operator: Any, symbol: str) -> int:
    """Return the address of a C function of an operator, or raise an error."""
    found = address_of(symbol)
    if found == 0:
        needs = operator.get("needs", "8.1")
        raise AttributeError(f"{symbol} needs CANN {needs}: the opened library has no such function")
    return found


def _document(name: str, parameters: Iterable[str], symbol: str, gives: str) -> str:
    """Return the docstring of a call, which begins with the text signature that inspect reads."""
    names = ", ".join(["$module", *parameters])
    return f"{name}({names}, /)\n--\n\nCall {symbol}. Returns {gives}."


def _first(name: str, operator: Any) -> Callable[..., Any]:
    """Create the Python call of an operator's first phase."""
    symbol = operator["name"] + "GetWorkspaceSize"
    kinds = kinds_of(ctype for ctype, _, _ in operator["parameters"])
    names = (parameter for _, parameter, _ in operator["parameters"])
    document = _document(name, names, symbol, "(workspaceSize, executor, ret)")
    return _acl.phase(f"acl.nnop.{name}", document, kinds, prototype_of(kinds), _present(operator, symbol))


def _second(name: str, operator: Any) -> Callable[..., Any]:
    """Create the Python call of an operator's second phase."""
    document = _document(name, PHASE_TWO, operator["name"], "ret")
    return _acl.phase(f"acl.nnop.{name}", document, "", None, _present(operator, operator["name"]))


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _made:
        base = name.removesuffix("_get_workspace_size")
        operator = _operators().get(base)
        if operator is None:
            raise AttributeError(f"module 'acl.nnop' has no operator {name!r}")
        made = _second(name, operator) if base == name else _first(name, operator)
        _made.setdefault(name, made)  # two threads may create it at the same time
    return _made[name]


def __dir__() -> list[str]:
    names = _operators()
    return sorted([*names, *(f"{name}_get_workspace_size" for name in names)])
