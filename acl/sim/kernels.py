"""Kernels written with NumPy, for operators without a kernel in the simulator or in place of its kernels."""

import json
from collections.abc import Callable
from typing import Any, Optional

import numpy

from acl._hooks import kernel_replaced
from acl._lib import ffi, lib
from acl.api.closure import closure
from acl.data_types import BFLOAT16, NUMPY
from acl.sim.check import check

# The NumPy type for each data type; bfloat16 is passed as bit patterns.
TYPES = {**NUMPY, BFLOAT16: "uint16"}

_kept: list[object] = []  # calls that are queued may still use a kernel that was replaced


def _type_of(code: int) -> "numpy.dtype[Any]":
    """Return the NumPy type for a data type, or raise an error."""
    if code not in TYPES:
        raise TypeError(f"NumPy has no type for data type {code}")
    return numpy.dtype(TYPES[code])


def array_of(tensor: Any, writable: bool) -> "numpy.ndarray[Any, Any]":
    """Return a view of a tensor; in the first phase, which has no data, a view of one zero."""
    kind = _type_of(tensor.type)
    shape = tuple(tensor.dims[0 : tensor.rank])
    if not tensor.data:
        return numpy.broadcast_to(numpy.zeros((), kind), shape)
    first = numpy.frombuffer(ffi.buffer(tensor.data, kind.itemsize), kind)
    strides = tuple(stride * kind.itemsize for stride in tensor.strides[0 : tensor.rank])
    return numpy.lib.stride_tricks.as_strided(first, shape, strides, writeable=writable)


def _number(scalar: Any) -> Any:
    """Return the value of a scalar."""
    kind = _type_of(scalar.type)
    bits = numpy.frombuffer(ffi.buffer(scalar.value), kind, 1)
    if scalar.type == BFLOAT16:
        return (bits.astype("u4") << 16).view("f4")[0].item()
    return bits[0].item()


def _argument(argument: Any) -> Any:
    """Return the Python value of one argument; None for an omitted optional one."""
    kind, count = argument.kind, argument.count
    if not argument.present:
        return None
    writable = bool(argument.direction & lib.ACLSIM_OUT)
    if kind == lib.ACLSIM_TENSOR:
        return array_of(argument.tensors[0], writable)
    if kind == lib.ACLSIM_TENSOR_LIST:
        return [array_of(argument.tensors[place], writable) for place in range(count)]
    if kind == lib.ACLSIM_SCALAR:
        return _number(argument.scalars[0])
    if kind == lib.ACLSIM_SCALAR_LIST:
        return [_number(argument.scalars[place]) for place in range(count)]
    if kind == lib.ACLSIM_INTEGERS:
        return list(argument.integers[0:count])
    if kind == lib.ACLSIM_FLOATS:
        return list(argument.floats[0:count])
    if kind == lib.ACLSIM_BOOLEANS:
        return list(argument.booleans[0:count])
    if kind == lib.ACLSIM_TEXT:
        return ffi.string(argument.text).decode(errors="replace")
    return argument.integer if kind == lib.ACLSIM_INTEGER else argument.number


def _arguments(call: Any, is_row: bool) -> list[Any]:
    """Return the arguments of a call; those of a single operator end with a dict, passed as JSON."""
    values = [_argument(call.arguments[place]) for place in range(call.argumentCount)]
    return values if is_row else [*values[:-1], json.loads(values[-1])]


def kernel(
    name: str, plan: Optional[Callable[..., Optional[int]]] = None
) -> Callable[[Optional[Callable[..., Any]]], Optional[Callable[..., Any]]]:
    """Implement the kernel of an operator by a function on NumPy arrays: a decorator.

    Parameters
    ----------
    name : str
        Name of the operator, such as ``"aclnnAdd"``; or a type of single operators (``acl.op.execute_v2``) without an
        operator in the simulator, such as ``"AddCustom"``.
    plan : callable, optional
        Called in the first phase with the same arguments, whose arrays have shape and type but no data. It returns the
        bytes of workspace that the program has to provide (None: 0), and raises ValueError to refuse the call.

    Returns
    -------
    callable
        The decorator. Its function gets the operator's arguments in their order: a tensor as an array (a view of device
        memory with the tensor's strides, read-only unless the operator writes it; bfloat16 as uint16 bits), a list of
        tensors as a list of arrays, a scalar as a number, an array as a list, a text as a str, and None for an omitted
        argument. It writes its results into the arrays, which are valid until it returns. Pass None instead of a
        function to restore the built-in kernel. For a type of single operators the arguments are the list of the inputs
        (without omitted ones), the list of the outputs, and a dict of the attributes.

    Raises
    ------
    ValueError
        The name begins with ``aclnn``, but there is no such operator.

    Notes
    -----
    Wraps ``aclsimRegisterKernel``. An exception of the function is passed to :data:`sys.unraisablehook`, and the task
    fails with 507015; a call that ``plan`` refuses returns 161002.

    Examples
    --------
    >>> @acl.sim.kernel("aclnnAdd")
    ... def add(self, other, alpha, out):
    ...     out[...] = self + alpha * other
    """
    is_row = name.startswith("aclnn")

    def register(function: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
        def run(call: Any) -> int:
            assert function is not None
            function(*_arguments(call, is_row))
            return 0

        def prepare(call: Any, size: Any) -> int:
            size[0] = (plan(*_arguments(call, is_row)) if plan is not None else None) or 0
            return 0

        runs = plans = ffi.NULL
        if function is not None:
            runs = closure("aclsimKernelFunc", run, function, lib.ACL_ERROR_RT_AICORE_EXCEPTION)
        if function is not None and plan is not None:
            plans = closure("aclsimPlanFunc", prepare, plan, lib.ACLNN_ERR_PARAM_INVALID)
        check(lib.aclsimRegisterKernel(name.encode(), plans, runs, ffi.NULL), f"acl.sim.kernel({name!r})")
        _kept.extend((runs, plans))
        kernel_replaced()
        return function

    return register
