"""Operators on arrays: ``acl.nn.add(a, b)`` is ``aclnnAdd``, both its phases, and so for each operator by its name.

Inputs are :class:`acl.DeviceArray`, numbers, and lists of these, in the order of the C function; names are its names in
snake case. ``out=`` takes the result: one array, or a tuple where an operator has several. Left out, the result is made
where its shape and type follow from the inputs; an operator without such a rule says that it needs ``out=``. One that
changes its arguments returns these.

With ``stream=`` an operator is queued, or captured while the stream is; without, it waits for the work that its arrays
were told of, runs on the default stream and is done when the call returns.

Functions are made when they are first asked for, from the table of operators. The raw phases are :mod:`acl.nnop`.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    from acl.objects import op_function

    function = op_function.function_of(name)
    if function is None:
        close = op_function.names_like(name)
        advice = f", did you mean {close}?" if close else ""
        raise AttributeError(f"module 'acl.nn' has no operator {name!r}{advice}")
    globals()[name] = function  # the next time is an ordinary one
    return function


def __dir__() -> list[str]:
    from acl import nnop

    return sorted(nnop._operators())
