"""The functions of :mod:`acl.nn`: each runs one operator, with the operator's own parameters and a docstring."""

import difflib
from typing import Any

from acl import nnop
from acl.objects.op import Operator
from acl.objects.op_table import RULES, SIZED

# How the types of parameters end that take several values.
GATHERED = ("List *", "Array *")
# Of operators whose outputs have a size that is known only when they have run.
UNKNOWN_SIZE = (
    "The size of the result is known only when the operator has run. Without ``out``, the call waits",
    "for that, also with a stream, and returns views of the memory that was allocated for the largest",
    "size. While the stream is being captured, ``out`` is required. With ``out``, the result is at the",
    "beginning of the outputs, which keep their shapes. To learn its size then, call both phases of",
    "``acl.nnop`` with a tensor of your own for each output, synchronise the stream, and call",
    "``acl.get_view_shape(tensor)``, which returns the new shape, also after a replay.",
)


def _needs(name: str) -> str:
    """Return the sentence with the first version that has an operator; empty if all versions have it."""
    needs = nnop._operators()[name].get("needs")
    return f" Needs CANN {needs}." if needs else ""


def _document(operator: Operator) -> str:
    """Return the docstring of an operator's function."""
    kinds = {"in": "read", "inout": "read and written", "out": "written", "": ""}
    lines = []
    for place in operator.shape.inputs:
        parameter = operator.parameters[place]
        lines.append(f"{parameter.name} : {parameter.hint}")
        note = "; ".join(filter(None, [kinds[parameter.role], "may be None" * parameter.optional]))
        lines += [f"    {note}"] * bool(note)
    shape = operator.shape
    if shape.outputs:
        names = ", ".join(operator.parameters[place].name for place in shape.outputs)
        made = "allocated when it is None" if operator.name in RULES else "required"
        lines += [f"out : {shape.returns(True)}", f"    The outputs, {names} in C; {made}."]
        lines += [f"    {line}" for line in UNKNOWN_SIZE] if operator.name in SIZED else []
    lines += ["stream : Stream, optional", "    The stream to queue it on; without one, the call waits for the result."]
    parameters = "\n".join(lines)
    results = "out" if shape.outputs else "The arguments that it changed." if shape.results else "Nothing."
    return (
        f"Run {operator.symbol}.\n\nParameters\n----------\n{parameters}\n\n"
        f"Returns\n-------\n{shape.returns()}\n    {results}\n\n"
        "Raises\n------\nInvalidArgumentError\n    For an argument of the wrong type, or on another device.\n"
        "OperatorError\n    When the operator refuses shapes, types or values, or has no kernel.\n\n"
        f"Notes\n-----\nWraps {operator.symbol}GetWorkspaceSize and {operator.symbol}."
        f"{_needs(operator.name)}\n"
    )


def _source(operator: Operator) -> str:
    """Return the text of an operator's function.

    Where each array has a parameter of its own, the text itself collects what ``_repeat`` takes, because a loop over
    the arguments would cost as much as the rest of the call. ``_run`` does all that an argument may need. The names in
    the text begin with an underscore, because parameters have names such as ``key``.
    """
    parameters, shape = operator.parameters, operator.shape
    given = "".join(f"{parameters[place].name}, " for place in shape.inputs)
    head, out = f"def {operator.name}({shape.names(False)}):", "out" if shape.outputs else "None"
    run = f"return _run(({given}), {out}, stream)"
    if len(shape.outputs) > 1 or any(each.optional or each.ctype.endswith(GATHERED) for each in parameters):
        return f"{head}\n    {run}"
    key, places, blocks = "", "", ""
    for place, parameter in enumerate(parameters):
        name = "out" if place in shape.outputs else parameter.name
        if parameter.role:
            key, places, blocks = f"{key}{name}._layout, ", f"{places}{name}._handle, ", f"{blocks}{name}._block, "
        else:
            key += f"{name}.__class__, {name} or repr({name}), "  # as _look() does
    result = out if shape.outputs else ", ".join(parameters[place].name for place in shape.results) or "None"
    return f"""{head}
    try:
        _key, _places, _blocks = ({key}), ({places}), ({blocks})
    except (AttributeError, TypeError, ValueError):
        {run}
    if _repeat(_key, _places, _blocks, stream):
        return {result}
    {run}"""


def function_of(name: str) -> Any:
    """Return the function of an operator, or None."""
    if name not in nnop._operators():
        return None
    made = Operator(name)
    scope: dict[str, Any] = {"__name__": "acl.nn", "_run": made.run, "_repeat": made.repeat}
    exec(compile(_source(made), f"<acl.nn.{name}>", "exec"), scope)
    function = scope[name]
    function.__doc__ = _document(made)
    return function


def names_like(name: str) -> str:
    """Return the names of operators that resemble an unknown name."""
    return ", ".join(difflib.get_close_matches(name, nnop._operators(), 3))
