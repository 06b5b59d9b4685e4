"""Saved instances: captured work as a model file, which any program can execute, also one without Python."""

import math
import os
from collections.abc import Sequence
from typing import Any, Union

import numpy

from acl import files
from acl._lib import ffi, lib
from acl.sim import om
from acl.sim.check import check
from acl.sim.models import CODES, stem_of

Port = Union[tuple[int, Sequence[int], Any], tuple[str, int, Sequence[int], Any]]


def _ports(given: Sequence[Port], prefix: str) -> tuple[list[om.Tensor], Any]:
    """Return the tensors of a signature, and the memory of each."""
    tensors, spans = [], ffi.new("aclsimRange[]", len(given))
    for place, port in enumerate(given):
        name, address, shape, dtype = port if len(port) == 4 else (f"{prefix}{place}", *port)
        code = dtype if isinstance(dtype, int) else CODES[numpy.dtype(dtype)]
        tensors.append(om.Tensor(name, tuple(shape), code))
        spans[place].address = ffi.cast("void *", address)
        spans[place].size = om.TYPES[code].bits // 8 * math.prod(shape)
    return tensors, spans


def save(model_ri: int, path: Union[str, "os.PathLike[str]"], inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """Write captured work as a model file: operators, copies and sets, and the weights that they read.

    Parameters
    ----------
    model_ri : int
        A complete instance from :func:`acl.mdl.ri_capture_end`, which is not running. Its memory must still be
        allocated; the weights are saved with their current values.
    path : str or path
        The file; the model's name is its stem.
    inputs, outputs : sequence
        The inputs and outputs of the model: ``(address, shape, dtype)`` or ``(name, address, shape, dtype)`` each, of
        memory that the instance uses. A dtype that is an int is an ``aclDataType``, such as 27 for bfloat16.

    Raises
    ------
    ValueError
        For a wrong shape or type.
    OSError
        The file cannot be written; a file that existed before is unchanged.
    RuntimeError
        The instance is running, its memory has been freed, or it has a task that cannot be saved, such as a callback.

    Notes
    -----
    Wraps ``aclsimSaveInstance``. The model's own memory keeps its contents from one execution to the next, as the
    instance's does. Operators whose kernel the program registered are looked up by name when the file is loaded.

    Examples
    --------
    ::

        acl.sim.save(model_ri, "classifier.om", inputs=[(image, (1, 64), "f4")], outputs=[(scores, (1, 10), "f4")])
    """
    given, spans = _ports(inputs, "input")
    returned, results = _ports(outputs, "output")
    size, block = ffi.new("size_t *"), ffi.NULL
    for _ in range(2):  # first for the size, then for the block
        handle = ffi.cast("aclmdlRI", model_ri)
        code = lib.aclsimSaveInstance(handle, spans, len(spans), results, len(results), block, size)
        check(code, f"acl.sim.save({model_ri:#x})")
        block = block or ffi.new("char[]", size[0])
    key = os.fspath(path)
    content = om.write(stem_of(key), given, returned, weights=bytes(ffi.buffer(block)), executor="saved")
    files.write(key, content)
