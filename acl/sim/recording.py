"""Recorded runs of models: files that know the outputs of some inputs, and the recording of such files."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from acl.sim import om

MAGIC = b"ACLREC01"
Arrays = Sequence["numpy.ndarray[Any, Any]"]


def pairs_of(pairs: Iterable[tuple[Arrays, Arrays]]) -> bytes:
    """Return the constant block of a file of recorded runs."""
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
    """Return a model file that answers recorded inputs with recorded outputs, in any program, also one in C.

    Parameters
    ----------
    name : str
        Name of the model.
    inputs, outputs : sequence of acl.sim.om.Tensor
        The signature.
    pairs : iterable of (arrays, arrays)
        What went in and what came out, run by run; without the input that carries a gear.
    **options
        The rest of :func:`acl.sim.om.write`, such as ``gears``.

    Notes
    -----
    Inputs are found by their content. A run with others fails with 507011 and says so.
    """
    return om.write(name, inputs, outputs, weights=pairs_of(pairs), executor="recorded", **options)
