"""Custom kernels in NumPy, which programs launch with ``aclrtLaunchKernel`` and similar calls."""

import os
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy

from acl._lib import ffi, lib
from acl.api.closure import closure
from acl.sim.check import check

CODES = "PQqIiHhBbfd?"  # the types of parameters, as in the struct module
REFUSED = 2**32  # more ranges than a launch may touch: the result of a function that raises

_kept: list[object] = []  # launches that are queued or captured may still use a kernel that was replaced


@dataclass(frozen=True)
class Launch:
    """One block of a launch, as the function of a custom kernel sees it.

    Attributes
    ----------
    kernel, binary : str
        The name of the kernel, and the name of the binary's file without folder and extension.
    block, blocks : int
        The index of the block, and the number of blocks.
    grid, threads : tuple of int
        The three sizes of a SIMT kernel's grid and block; for other kernels ``(blocks, 1, 1)`` and ``(1, 1, 1)``.
    args : bytes
        The arguments as the program gave them.
    """

    kernel: str
    binary: str
    block: int
    blocks: int
    grid: tuple[int, int, int]
    threads: tuple[int, int, int]
    args: bytes

    def array(self, address: int, shape: Union[int, tuple[int, ...]], dtype: Any) -> "numpy.ndarray[Any, Any]":
        """Return the array at a device address, as a view that is valid until the function returns.

        Parameters
        ----------
        address : int
            The address that the program passed.
        shape : int or tuple of int
            Its shape.
        dtype : dtype
            The NumPy type of its elements.

        Raises
        ------
        ValueError
            The array is not inside one allocated block of device memory.
        """
        count = int(numpy.prod(shape, dtype="i8"))
        size = count * numpy.dtype(dtype).itemsize
        if size == 0:
            return numpy.zeros(shape, dtype)
        place = lib.aclsimReach(ffi.cast("void *", address), size)
        if not place:
            raise ValueError(f"{address:#x} with {size} bytes does not lie in one live block of device memory")
        return numpy.frombuffer(ffi.buffer(place, size), dtype).reshape(shape)


def _launch_of(order: Any) -> Launch:
    """Return the launch that C passes to the kernel."""
    return Launch(
        kernel=ffi.string(order.kernel).decode(errors="replace"),
        binary=ffi.string(order.binary).decode(errors="replace"),
        block=order.blockIndex,
        blocks=order.numBlocks,
        grid=(order.gridDim.x, order.gridDim.y, order.gridDim.z),
        threads=(order.blockDim.x, order.blockDim.y, order.blockDim.z),
        args=bytes(ffi.buffer(order.args, order.argsSize)),
    )


def _sizes_of(parameters: Optional[str]) -> Any:
    """Return the sizes of the parameters as a C array; NULL without parameters."""
    if parameters is None:
        return ffi.NULL
    wrong = [code for code in parameters if code not in CODES]
    if wrong:
        raise ValueError(f"acl.sim.custom_kernel(parameters={parameters!r}): {wrong[0]!r} is not one of {CODES}")
    return ffi.new("size_t[]", [struct.calcsize(code) for code in parameters] or 1)


def custom_kernel(
    kernel: str,
    binary: Optional[Union[str, "os.PathLike[str]"]] = None,
    *,
    parameters: Optional[str] = None,
    touches: Optional[Callable[..., Iterable[tuple[int, int, bool]]]] = None,
) -> Callable[[Optional[Callable[..., Any]]], Optional[Callable[..., Any]]]:
    """Implement a custom kernel by a function on NumPy arrays: a decorator.

    Parameters
    ----------
    kernel : str
        Name of the kernel, as the program gives it to ``acl.rt.binary_get_function``.
    binary : str or path, optional
        Path of its binary, or the file's name with or without extension; the file need not exist. None: the kernel of
        any binary.
    parameters : str, optional
        A letter of the :mod:`struct` module for each parameter, such as ``"PPPI"``: ``P`` is an address, ``I`` a 32-bit
        number. None: the function unpacks the bytes of ``launch.args`` itself.
    touches : callable, optional
        Called with the same arguments when the kernel is launched; it returns the memory that the launch will touch, as
        ``(address, bytes, writes)`` each. The ranges are checked then, and again when the kernel runs.

    Returns
    -------
    callable
        The decorator. It registers the function, which is called with a :class:`Launch` and the parameters once per
        block, one block after another. ``launch.array(address, shape, dtype)`` returns an array in device memory.
        Pass None instead of a function to remove the registration.

    Raises
    ------
    ValueError
        For an empty name or an unknown letter.

    Notes
    -----
    Wraps ``aclsimRegisterCustomKernel``. If the function raises, the exception is passed to :data:`sys.unraisablehook`
    and quoted in the message of the task, which fails with 507015.

    Examples
    --------
    >>> @acl.sim.custom_kernel("vector_add", parameters="PPPI")
    ... def vector_add(launch, x, y, z, count):
    ...     part = slice(launch.block, count, launch.blocks)
    ...     x, y, z = (launch.array(address, count, "f4") for address in (x, y, z))
    ...     z[part] = x[part] + y[part]
    """
    sizes = _sizes_of(parameters)
    form = struct.Struct(parameters or "")

    def decode(launch: Launch) -> tuple[Any, ...]:
        if len(launch.args) < form.size:
            raise ValueError(f"it was launched with {len(launch.args)} bytes of arguments, expected {form.size}")
        return form.unpack_from(launch.args)

    def register(function: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
        def run(order: Any) -> int:
            assert function is not None
            launch = _launch_of(order)
            function(launch, *decode(launch))
            return 0

        def touch(order: Any, ranges: Any, room: int) -> int:
            assert touches is not None
            launch = _launch_of(order)
            found = list(touches(launch, *decode(launch)))
            for place, (address, size, writes) in enumerate(found[:room]):
                ranges[place] = (ffi.cast("void *", address), size, bool(writes))
            return len(found)

        given = ffi.NULL
        if function is not None:
            runs = closure("aclsimCustomKernelFunc", run, function, lib.ACL_ERROR_RT_AICORE_EXCEPTION)
            asks = ffi.NULL if touches is None else closure("aclsimTouchFunc", touch, touches, REFUSED)
            _kept.extend((runs, asks))
            fields = {"run": runs, "touch": asks, "parameters": sizes, "parameterCount": len(parameters or "")}
            given = ffi.new("aclsimCustomKernel *", fields)
        name = ffi.NULL if binary is None else os.fspath(binary).encode()
        what = f"acl.sim.custom_kernel({kernel!r})"
        check(lib.aclsimRegisterCustomKernel(name, kernel.encode(), given), what)
        return function

    return register
