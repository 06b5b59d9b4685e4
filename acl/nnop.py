"""Operators as their two C functions, one per phase (an extension: the vendor's pyACL has no such calls).

For ``aclnnAdd`` there are ``acl.nnop.add_get_workspace_size(self, other, alpha, out)``, which returns
``(workspaceSize, executor, ret)``, and ``acl.nnop.add(workspace, workspaceSize, executor, stream)``, which returns
``ret``. Handles and addresses are ints, as everywhere in pyACL; 0 leaves an optional argument out. Texts are str.

A call is created from its operator schema at its first use, because a program uses only a few of them.
"""

import inspect
import json
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import cffi

from acl import _lib

_ffi = cffi.FFI()
_made: dict[str, Callable[..., Any]] = {}
_functions: dict[str, Any] = {}
PHASE_TWO = [
    ("uintptr_t", "workspace"),
    ("uint64_t", "workspaceSize"),
    ("uintptr_t", "executor"),
    ("uintptr_t", "stream"),
]


@lru_cache(maxsize=1)
def _library() -> Any:
    """Open the library with the operators: the simulator, or libopapi of the toolkit."""
    path = _lib.library_path
    if _lib.toolkit is not None:
        path = os.path.join(_lib.toolkit, "lib64", "libopapi.so")
    return _ffi.dlopen(path)


@lru_cache(maxsize=1)
def _operators() -> Mapping[str, Any]:
    """Read the operator schemas: by Python name, the C name and ``[C type, parameter, role]`` of each parameter.

    ``needs`` is the first CANN version that has the operator; it is absent if all versions have it.
    """
    with open(os.path.join(_lib.HOME, "operators.json"), encoding="utf-8") as text:
        table: Mapping[str, Any] = json.load(text)
    return table


def _slot(ctype: str) -> str:
    """Return the C type with which to declare a parameter so that it takes a plain int or float."""
    if "char" in ctype:
        return "const char *"
    if "*" in ctype:
        return "uintptr_t"
    return {"aclDataType": "int"}.get(ctype, ctype)


def _function(operator: Any, name: str, parameters: list[tuple[str, str]], outputs: str = "") -> Any:
    """Return a C function of an operator, declared with these parameters."""
    if name not in _functions:
        slots = ", ".join(slot for slot, _ in parameters)
        _ffi.cdef(f"int {name}({slots}{outputs});", override=True)  # two threads may declare it at the same time
        try:
            _functions[name] = getattr(_library(), name)
        except AttributeError:
            needs = operator.get("needs", "8.1")
            raise AttributeError(f"{name} needs CANN {needs}: the opened library has no such function") from None
    return _functions[name]


def _finish(call: Any, name: str, symbol: str, parameters: list[tuple[str, str]], gives: str) -> Callable[..., Any]:
    """Give a call its name, docstring and signature."""
    kind = inspect.Parameter.POSITIONAL_ONLY
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Call {symbol}. Returns {gives}."
    call.__signature__ = inspect.Signature([inspect.Parameter(parameter, kind) for _, parameter in parameters])
    return call


def phases(operator: Any) -> tuple[Any, int]:
    """Return the C function of an operator's first phase, and the address of its second phase."""
    parameters = [(_slot(ctype), parameter) for ctype, parameter, _ in operator["parameters"]]
    first = _function(operator, operator["name"] + "GetWorkspaceSize", parameters, ", uint64_t *, uintptr_t *")
    return first, int(_ffi.cast("uintptr_t", _function(operator, operator["name"], PHASE_TWO)))


def _first(name: str, operator: Any) -> Callable[..., Any]:
    """Create the Python call of an operator's first phase."""
    parameters = [(_slot(ctype), parameter) for ctype, parameter, _ in operator["parameters"]]
    symbol = operator["name"] + "GetWorkspaceSize"
    function = phases(operator)[0]
    texts = [place for place, (slot, _) in enumerate(parameters) if "char" in slot]

    def call(*arguments: Any) -> tuple[int, int, int]:
        if len(arguments) != len(parameters):
            raise TypeError(f"acl.nnop.{name}() takes exactly {len(parameters)} arguments ({len(arguments)} given)")
        values = list(arguments)
        for place in texts:
            values[place] = values[place].encode() if isinstance(values[place], str) else _ffi.NULL
        size, executor = _ffi.new("uint64_t *"), _ffi.new("uintptr_t *")
        ret = function(*values, size, executor)
        return size[0], executor[0], ret

    return _finish(call, name, symbol, parameters, "(workspaceSize, executor, ret)")


def _second(name: str, operator: Any) -> Callable[..., Any]:
    """Create the Python call of an operator's second phase."""
    function = phases(operator)[1]

    def call(*arguments: int) -> int:
        if len(arguments) != len(PHASE_TWO):
            raise TypeError(f"acl.nnop.{name}() takes exactly {len(PHASE_TWO)} arguments ({len(arguments)} given)")
        return _lib._acl.phase_two(function, *arguments)

    return _finish(call, name, operator["name"], PHASE_TWO, "ret")


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _made:
        base = name.removesuffix("_get_workspace_size")
        operator = _operators().get(base)
        if operator is None:
            raise AttributeError(f"module 'acl.nnop' has no operator {name!r}")
        _made[name] = _second(name, operator) if base == name else _first(name, operator)
    return _made[name]


def __dir__() -> list[str]:
    names = _operators()
    return sorted([*names, *(f"{name}_get_workspace_size" for name in names)])
