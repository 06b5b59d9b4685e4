"""Models run by Python: a function of NumPy arrays, under the name or the path of a model file."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy

from acl._lib import ffi, lib
from acl.api.closure import closure
from acl.sim import om
from acl.sim.check import check
from acl.sim.kernels import TYPES, array_of

Signature = Sequence[Union[om.Tensor, tuple[Any, ...]]]
CODES = {numpy.dtype(text): code for code, text in TYPES.items() if code != 27}

_kept: list[object] = []  # a model that is loaded goes on using a function that was replaced


def _tensors(signature: Signature, prefix: str) -> list[om.Tensor]:
    """Return descriptions of tensors, each given as one, or as ``(shape, dtype)`` or ``(name, shape, dtype)``."""
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
    """Run a model by a function of NumPy arrays: a decorator.

    Parameters
    ----------
    name : str or path
        Path or name of the model. A load of that path, of a file of that name with or without its ending, or of a file
        that holds a model of that name uses the function.
    inputs, outputs : sequence, optional
        The signature, for a model without a file: ``(shape, dtype)``, ``(name, shape, dtype)`` or
        :class:`acl.sim.om.Tensor` each. Left out, the file has to exist.
    gears : acl.sim.om.Gears, optional
        The sizes that the model is built for; -1 in a shape is what they decide.
    dynamic : bool, optional
        Shapes are known by a run alone.

    Returns
    -------
    callable
        The decorator. Its function gets an array an input, read-only and of the real shape, and returns an array an
        output, or the one array alone; shapes have to be those of the model. None instead of a function takes it back.

    Raises
    ------
    ValueError
        For a wrong signature.

    Notes
    -----
    Stands on ``aclsimRegisterModel``. What the function raises goes to :data:`sys.unraisablehook`; the run fails with
    507011.

    Examples
    --------
    >>> @acl.sim.model("affine.om", inputs=[((4,), "f4")], outputs=[((4,), "f4")])
    ... def affine(x):
    ...     return 2 * x + 1
    """
    key = os.fspath(name)
    stem = os.path.splitext(os.path.basename(key))[0]
    content = b""
    if inputs or outputs:
        content = om.write(
            stem, _tensors(inputs, "input"), _tensors(outputs, "output"), gears=gears, dynamic=dynamic
        )

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(order: Any) -> int:
            results = function(*inputs_of(order))
            store(order, results if isinstance(results, (tuple, list)) else (results,))
            return 0

        runs = ffi.NULL
        if function is not None:
            runs = closure("aclsimModelFunc", run, function, lib.ACL_ERROR_RT_MODEL_EXECUTE)
        what = f"acl.sim.model({key!r})"
        check(lib.aclsimRegisterModel(key.encode(), content or ffi.NULL, len(content), runs, ffi.NULL), what)
        _kept.append(runs)
        return function

    return register


def executor(kind: str) -> Callable[[Callable[[bytes], Callable[..., Any]]], Callable[[bytes], Callable[..., Any]]]:
    """Run all models whose file names an executor of this kind: a decorator.

    Parameters
    ----------
    kind : str
        As it was given to :func:`acl.sim.om.write`, such as ``"onnx"``.

    Returns
    -------
    callable
        The decorator. Its function gets the constant block of a file as bytes, when the model is loaded, and returns
        the function that runs it, as for :func:`model`. What it raises refuses the load with 145000.

    Notes
    -----
    Stands on ``aclsimRegisterExecutor``.
    """

    def register(opener: Callable[[bytes], Callable[..., Any]]) -> Callable[[bytes], Callable[..., Any]]:
        runs = closure("aclsimModelFunc", runner(opener), opener, lib.ACL_ERROR_GE_PARAM_INVALID)
        check(lib.aclsimRegisterExecutor(kind.encode(), runs, ffi.NULL), f"acl.sim.executor({kind!r})")
        _kept.append(runs)
        return opener

    return register


def runner(opener: Callable[[bytes], Callable[..., Any]]) -> Callable[[Any], int]:
    """Return what C calls for the models of a kind: when one is loaded, run, or gone."""
    opened: dict[int, Callable[..., Any]] = {}

    def run(order: Any) -> int:
        if order.moment == lib.ACLSIM_MODEL_OPEN:
            opened[order.modelId] = opener(bytes(ffi.buffer(order.weights, order.weightSize)))
        elif order.moment == lib.ACLSIM_MODEL_CLOSE:
            opened.pop(order.modelId, None)
        else:
            results = opened[order.modelId](*inputs_of(order))
            store(order, results if isinstance(results, (tuple, list)) else (results,))
        return 0

    return run


def inputs_of(order: Any) -> "list[numpy.ndarray[Any, Any]]":
    """Return the inputs of a run as arrays."""
    return [array_of(order.inputs[place], False) for place in range(order.inputCount)]


def store(order: Any, results: Sequence[Any]) -> None:
    """Write the outputs of a run."""
    if len(results) != order.outputCount:
        raise ValueError(f"the model has {order.outputCount} outputs, and its function returned {len(results)}")
    for place, result in enumerate(results):
        _store(order.outputs[place], order.capacities[place], numpy.asarray(result))


def _store(tensor: Any, capacity: int, result: "numpy.ndarray[Any, Any]") -> None:
    """Write an output; where the model leaves its shape open, the result's is the real one."""
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
