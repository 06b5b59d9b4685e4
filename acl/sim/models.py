"""Models that are executed by a Python function on NumPy arrays, under the name or path of a model file."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional, Union

import numpy

from acl._lib import ffi, lib
from acl.api.closure import closure
from acl.data_types import NUMPY
from acl.sim import om
from acl.sim.check import check
from acl.sim.kernels import TYPES, array_of

Signature = Sequence[Union[om.Tensor, tuple[Any, ...]]]
CODES = {numpy.dtype(name): code for code, name in NUMPY.items()}
WORK = 64  # bytes: programs allocate what a model needs, and an allocation of 0 bytes fails

_kept: list[object] = []  # a loaded model still uses a function that was replaced


def tensors_of(signature: Signature, prefix: str) -> list[om.Tensor]:
    """Return the tensors of a signature, whose items are tensors, ``(shape, dtype)`` or ``(name, shape, dtype)``."""
    found = []
    for place, item in enumerate(signature):
        if not isinstance(item, om.Tensor):
            name, shape, kind = item if len(item) == 3 else (f"{prefix}{place}", *item)
            item = om.Tensor(name, tuple(shape), CODES[numpy.dtype(kind)])
        found.append(item)
    return found


def model(
    name: Union[str, "os.PathLike[str]"],
    inputs: Signature = (),
    outputs: Signature = (),
    *,
    gears: Optional[om.Gears] = None,
    dynamic: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Implement a model by a function on NumPy arrays: a decorator.

    Parameters
    ----------
    name : str or path
        Path or name of the model. The function is used for a load of that path, of a file of that name with or without
        its extension, or of a file that contains a model of that name.
    inputs, outputs : sequence, optional
        The signature, for a model without a file: ``(shape, dtype)``, ``(name, shape, dtype)`` or
        :class:`acl.sim.om.Tensor` each. Without a signature the file has to exist.
    gears : acl.sim.om.Gears, optional
        The sizes that the model is built for, which replace each -1 in a shape.
    dynamic : bool, optional
        Shapes are known only at the execution.

    Returns
    -------
    callable
        The decorator. Its function is called with one read-only array per input, in the actual shape, and returns one
        array per output (or the array itself for a single output), in the shapes of the model. Pass None instead of a
        function to remove the registration.

    Raises
    ------
    ValueError
        For a wrong signature.

    Notes
    -----
    Wraps ``aclsimRegisterModel``. If the function raises, the exception is passed to :data:`sys.unraisablehook` and
    quoted in the message of the execution, which fails with 507011.

    Examples
    --------
    >>> @acl.sim.model("affine.om", inputs=[((4,), "f4")], outputs=[((4,), "f4")])
    ... def affine(x):
    ...     return 2 * x + 1
    """
    key = os.fspath(name)
    content = b""
    if inputs or outputs:
        given = tensors_of(inputs, "input"), tensors_of(outputs, "output")
        content = om.write(stem_of(key), *given, gears=gears, weights=bytes(WORK), work=WORK, dynamic=dynamic)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        register(key, content, function)
        return function

    return decorate


def stem_of(path: str) -> str:
    """Return the name of the model with a path."""
    return os.path.splitext(os.path.basename(path))[0]


def _runs_of(function: Callable[..., Any]) -> Any:
    """Return the C callback for the executions of a model."""
    return closure("aclsimModelFunc", partial(call, function), function, lib.ACL_ERROR_RT_MODEL_EXECUTE)


def register(key: str, content: bytes, function: Optional[Callable[..., Any]]) -> None:
    """Register a function for the model of a name or path, and the bytes of a file in its place; None removes it."""
    runs = ffi.NULL if function is None else _runs_of(function)
    what = f"acl.sim.model({key!r})"
    check(lib.aclsimRegisterModel(key.encode(), content or ffi.NULL, len(content), runs, ffi.NULL), what)
    _kept.append(runs)


def executor(kind: str) -> Callable[[Callable[[bytes], Callable[..., Any]]], Callable[[bytes], Callable[..., Any]]]:
    """Implement all models whose file names an executor of this kind: a decorator.

    Parameters
    ----------
    kind : str
        The executor that was given to :func:`acl.sim.om.write`, such as ``"onnx"``.

    Returns
    -------
    callable
        The decorator. Its function gets the constant block of a file as bytes, when the model is loaded, and returns
        the function that executes the model, as for :func:`model`. If it raises, the load fails with 145000, and the
        message quotes the exception.

    Notes
    -----
    Wraps ``aclsimRegisterExecutor``.
    """

    def register(opener: Callable[[bytes], Callable[..., Any]]) -> Callable[[bytes], Callable[..., Any]]:
        runs = closure("aclsimModelFunc", runner(opener), opener, lib.ACL_ERROR_GE_PARAM_INVALID)
        check(lib.aclsimRegisterExecutor(kind.encode(), runs, ffi.NULL), f"acl.sim.executor({kind!r})")
        _kept.append(runs)
        return opener

    return register


def runner(
    opener: Callable[[bytes], Callable[..., Any]], wrap: Callable[[Callable[..., Any]], Callable[[Any], int]] = _runs_of
) -> Callable[[Any], int]:
    """Return the C callback for the models of a kind, which is called when one is loaded, executed or unloaded.

    ``wrap`` turns a model's function into a callback for executions, which may return a status code for exceptions.
    """
    opened: dict[int, Any] = {}

    def run(order: Any) -> int:
        if order.moment == lib.ACLSIM_MODEL_RUN:
            return int(opened[order.modelId](order))  # the status code of the execution
        if order.moment == lib.ACLSIM_MODEL_OPEN:
            opened[order.modelId] = wrap(opener(bytes(ffi.buffer(order.weights, order.weightSize))))
        else:
            opened.pop(order.modelId, None)
        return 0

    return run


def call(function: Callable[..., Any], order: Any) -> int:
    """Execute a model by a function that gets one array per input, and returns one per output, or the only one.

    Returns 0.
    """
    results = function(*(array_of(order.inputs[place], False) for place in range(order.inputCount)))
    if not isinstance(results, (tuple, list)):
        results = (results,)
    if len(results) != order.outputCount:
        raise ValueError(f"the model has {order.outputCount} outputs, and its function returned {len(results)}")
    for place, result in enumerate(results):
        _store(order.outputs[place], order.capacities[place], numpy.asarray(result))
    return 0


def _store(tensor: Any, capacity: int, result: "numpy.ndarray[Any, Any]") -> None:
    """Write an output; if the model leaves its shape open, the result determines the shape."""
    dims = list(tensor.dims[0 : tensor.rank])
    if any(dim < 0 for dim in dims):
        kind = numpy.dtype(TYPES[tensor.type])
        if result.size * kind.itemsize > capacity:
            raise ValueError(f"an output of shape {result.shape} needs more than the {capacity} bytes of its buffer")
        tensor.rank = result.ndim
        for axis, stride in enumerate(numpy.cumprod((1, *result.shape[:0:-1]))[::-1]):
            tensor.dims[axis], tensor.strides[axis] = result.shape[axis], int(stride)
    elif result.size == 1 or list(result.shape) != dims:
        result = result.reshape(dims)
    array_of(tensor, True)[...] = result
