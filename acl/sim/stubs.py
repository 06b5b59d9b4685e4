"""Stub models for programs that need only the shapes: the outputs are the inputs, or a linear function of them."""

import os
import struct
from collections.abc import Callable
from typing import Any, Union

from acl.sim import models, om

FORM = struct.Struct("<dd")


def open_model(content: bytes) -> Callable[..., Any]:
    """Return the function for a constant block; with a factor of 1 and an offset of 0 it returns its inputs."""
    scale, offset = (int(value) if value == int(value) else value for value in FORM.unpack(content))
    if (scale, offset) == (1, 0):
        return lambda *arrays: arrays
    return lambda *arrays: [scale * array + offset for array in arrays]


run = models.runner(open_model)


def affine(
    name: Union[str, "os.PathLike[str]"], tensors: models.Signature, *, scale: float = 1, offset: float = 0
) -> bytes:
    """Register a model whose outputs are its inputs times ``scale`` plus ``offset``.

    Parameters
    ----------
    name : str or path
        Path or name of the model, as for :func:`acl.sim.model`; a file is not necessary.
    tensors : sequence
        Its inputs, as for :func:`acl.sim.model`; the outputs are like them. -1 in a shape is set at the execution.
    scale, offset : float, optional
        The factor and the summand, applied by NumPy to the type of the tensor.

    Returns
    -------
    bytes
        The model file, which other pyACL programs can execute on the simulator without this call.

    Raises
    ------
    ValueError
        For a wrong signature.

    Examples
    --------
    >>> content = acl.sim.affine("line.om", [((4,), "f4")], scale=2, offset=1)
    """
    key, constants = os.fspath(name), FORM.pack(scale, offset)
    inputs, outputs = models.tensors_of(tensors, "input"), models.tensors_of(tensors, "output")
    dynamic = any(dim < 0 for tensor in inputs for dim in tensor.dims)
    content = om.write(
        models.stem_of(key),
        inputs,
        outputs,
        weights=constants,
        executor="affine",
        work=models.WORK,
        dynamic=dynamic,
    )
    models.register(key, content, open_model(constants))
    return content


def identity(name: Union[str, "os.PathLike[str]"], tensors: models.Signature) -> bytes:
    """Register a model whose outputs are its inputs: :func:`affine` with a factor of 1 and an offset of 0.

    Examples
    --------
    >>> content = acl.sim.identity("same.om", [((1, 3, 224, 224), "f4")])
    """
    return affine(name, tensors)
