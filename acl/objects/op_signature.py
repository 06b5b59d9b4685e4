"""The signatures of the functions of :mod:`acl.nn`, from the operator schemas; the build generates their stubs.

This module imports nothing of the package, because the build uses it before the package is complete.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

# Default values by the name of the parameter, as Python text; the default of optional parameters is None.
DEFAULTS = {
    "accumulate": "False", "alpha": "1", "beta": "1", "correction": "1", "cube_math_type": "0", "descending": "False",
    "diagonal": "0", "dtype": "None", "eps": "1e-05", "epsilon": "1e-06", "exclusive": "False", "impl_mode": "0",
    "keep_dim": "False", "keep_dims": "False", "keepdim": "False", "largest": "True",
    "noop_with_empty_axes": "False", "noop_with_empty_dims": "False", "return_counts": "False",
    "return_inverse": "False", "reverse": "False", "sorted": "True",
    "stable": "False", "unbiased": "True", "value": "1",
}  # fmt: skip
# Lists of dimensions have the default None, for all; a parameter for a single dimension has no default.
DIMS = ("axes", "dim", "dims")
# The Python type of each C type, for the stubs.
HINTS = {
    "aclTensor *": "DeviceArray", "aclTensorList *": "Sequence[DeviceArray]", "aclScalar *": "Number",
    "aclScalarList *": "Sequence[Number]", "aclIntArray *": "Union[int, Sequence[int]]", "char *": "str",
    "aclBoolArray *": "Sequence[bool]", "aclFloatArray *": "Sequence[float]", "aclDataType": "DTypeLike",
    "bool": "bool", "double": "float", "float": "float",
}  # fmt: skip
STUB = """# Made from the table of operators by build_acl.py.
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy
from numpy.typing import DTypeLike

from acl.objects.array import DeviceArray
from acl.objects.stream import Stream

Number = Union[bool, int, float, complex, numpy.generic]

"""


class Parameter(NamedTuple):
    """A parameter: ``role`` is in, out, inout or "", ``default`` is Python text, or "" for no default."""

    ctype: str
    name: str
    role: str
    optional: bool
    default: str

    @property
    def hint(self) -> str:
        """Its type, as stubs print it."""
        found = HINTS.get(self.ctype, "int")
        return f"Optional[{found}]" if self.default == "None" else found


class Shape(NamedTuple):
    """The signature of a function: parameters in the order of C, and the indices of its inputs and outputs."""

    parameters: tuple[Parameter, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    # The indices of what the function returns: the outputs, or the inputs that it changes.
    results: tuple[int, ...]

    def names(self, hints: bool) -> str:
        """Return the text between the parentheses of a definition, with or without type hints."""
        given = [self.parameters[place] for place in self.inputs]
        # In Python every parameter after one with a default needs a default.
        last = max((place for place, parameter in enumerate(given) if not parameter.default), default=-1)
        texts = []
        for place, parameter in enumerate(given):
            text = parameter.name + (f": {parameter.hint}" if hints else "")
            texts.append(text + (f"{' = ' if hints else '='}{parameter.default}" if place > last else ""))
        options = ["out", "stream"] if self.outputs else ["stream"]
        kinds = {"out": f"Optional[{self.returns(True)}]", "stream": "Optional[Stream]"}
        texts.append("*")
        texts += [f"{name}: {kinds[name]} = None" if hints else f"{name}=None" for name in options]
        return ", ".join(texts)

    def returns(self, given: bool = False) -> str:
        """Return the type of the result, or (``given``) of ``out``."""
        found = [self.parameters[place] for place in self.results]
        if not found:
            return "None"
        kinds = ["Sequence[DeviceArray]" if "List" in result.ctype else "DeviceArray" for result in found]
        if len(found) == 1:
            return kinds[0]
        some = any(result.optional for result in found)
        if given:
            inner = ", ".join(f"Optional[{k}]" if r.optional else k for k, r in zip(kinds, found))
            return f"tuple[{inner}]"
        return "Any" if some else f"tuple[{', '.join(kinds)}]"


def table_of(rows: Iterable[Any], oldest: tuple[int, int], snake: Callable[[str], str]) -> dict[str, Any]:
    """Return operators.json: by the name for ``acl.nnop`` and ``acl.nn``, C name and type, name and role of parameters.

    A role is the direction of a tensor, or an empty string; a question mark after it means that NULL may be passed. An
    operator that some versions lack has ``needs``, its first version; ``unverified`` is as in :class:`acl.abi.Row`.
    """

    def name_of(param: Any) -> str:
        name = snake(param.name)
        # The function has an argument out of its own, for the outputs.
        return "out_" if name == "out" and param.direction != "out" else name

    return {
        snake(re.sub("^acl(nn)?", "", row.name)): {
            "name": row.name,
            "parameters": [
                (param.type, name_of(param), param.direction + "?" * param.optional) for param in row.params
            ],
            **({"needs": row.needs} if row.since > oldest else {}),
            **({} if row.verified else {"unverified": True}),
        }
        for row in rows
        if not row.helper
    }


def shape_of(operator: Any) -> Shape:
    """Return the signature for an operator schema."""
    parameters = []
    for ctype, name, role in operator["parameters"]:
        kind = ctype.removeprefix("const ")
        default = "" if kind.startswith("aclTensor") else DEFAULTS.get(name, "")
        if role.endswith("?") or (name in DIMS and "IntArray" in kind):
            default = "None"
        parameters.append(Parameter(kind, name, role.rstrip("?"), role.endswith("?"), default))
    places = range(len(parameters))
    outputs = tuple(place for place in places if parameters[place].role == "out")
    changed = tuple(place for place in places if parameters[place].role == "inout")
    if "Inplace" in operator["name"] and not changed:  # some schemas declare the changed array as an output
        outputs, changed = (), outputs
    inputs = tuple(place for place in places if place not in outputs)
    return Shape(tuple(parameters), inputs, outputs, outputs or changed)


def stub_of(operators: Any) -> str:
    """Return the text of ``nn.pyi``."""
    lines = []
    for name, operator in sorted(operators.items()):
        shape = shape_of(operator)
        lines.append(f"def {name}({shape.names(True)}) -> {shape.returns()}: ...")
    return STUB + "\n".join(lines) + "\n"
