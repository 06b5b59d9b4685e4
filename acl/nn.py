"""Operators on arrays: ``acl.nn.add(a, b)`` runs both phases of ``aclnnAdd``, and so on for each operator.

Inputs are :class:`acl.DeviceArray`, numbers, and lists of these, in the order of the C function; names are its names in
snake case. ``out=`` takes the output: one array, or a tuple if an operator has several. Without it the output is
allocated if its shape and type follow from the inputs; otherwise the error says that the operator needs ``out=``. An
operator that changes its arguments returns them. An operator that finds the size of its output when it runs, such as
``acl.nn.nonzero``, always waits if it allocates the output.

With ``stream=`` an operator is queued, or captured if the stream is being captured. Without it, the call waits for the
work that is registered with its arrays, runs the operator on the default stream, and returns when it is done.

A function is created from its operator schema at its first use. The two phases alone are in :mod:`acl.nnop`.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    from acl.objects import op_function

    function = op_function.function_of(name)
    if function is None:
        close = op_function.names_like(name)
        advice = f", did you mean {close}?" if close else ""
        raise AttributeError(f"module 'acl.nn' has no operator {name!r}{advice}")
    globals()[name] = function  # the next access does not call __getattr__
    return function


def __dir__() -> list[str]:
    from acl import nnop

    return sorted(nnop._operators())
