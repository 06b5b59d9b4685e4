"""Recorded executions of models: files with the inputs and outputs of executions, which replay the outputs."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from acl.sim import om

MAGIC = b"ACLREC01"
Arrays = Sequence["numpy.ndarray[Any, Any]"]


def pairs_of(pairs: Iterable[tuple[Arrays, Arrays]]) -> bytes:
    """Return the constant block of a file with recorded executions."""
    out, count = bytearray(), 0
    for inputs, outputs in pairs:
        count += 1
        out += struct.pack("<II", len(inputs), len(outputs))
        out += b"".join(struct.pack("<Q", array.nbytes) for array in inputs)
        for array in outputs:
            out += struct.pack(f"<II{array.ndim}qQ", array.ndim, 0, *array.shape, array.nbytes)
        out += b"".join(numpy.ascontiguousarray(array).tobytes() for array in [*inputs, *outputs])
    return MAGIC + struct.pack("<Q", count) + bytes(out)


def recorded(
    name: str,
    inputs: Sequence[om.Tensor],
    outputs: Sequence[om.Tensor],
    pairs: Iterable[tuple[Arrays, Arrays]],
    **options: Any,
) -> bytes:
    """Return a model file that returns recorded outputs for recorded inputs, in any program, also one in C.

    Parameters
    ----------
    name : str
        Name of the model.
    inputs, outputs : sequence of acl.sim.om.Tensor
        The signature.
    pairs : iterable of (arrays, arrays)
        The inputs and outputs of each execution, without the input that carries the gear.
    **options
        Other arguments of :func:`acl.sim.om.write`, such as ``gears``.

    Notes
    -----
    An execution is found by the contents of its inputs. One with other inputs fails with 507011; the message says so.
    """
    return om.write(name, inputs, outputs, weights=pairs_of(pairs), executor="recorded", **options)
