"""HCCL, the library of collective communication: it is opened at the first use, and its codes become errors.

The simulator is one library, which has the functions of HCCL. A toolkit has them in libraries of their own, which are
opened when a program uses :class:`acl.Communicator`; without them, that raises :class:`acl.NotSupportedError`.
"""

import os
from functools import lru_cache
from typing import Any

import numpy

import acl
from acl import _lib, rt
from acl._lib import lib
from acl.errors import (
    AclError,
    InvalidArgumentError,
    InvalidHandleError,
    NotSupportedError,
    OutOfMemoryError,
    ResourceError,
    TimedOutError,
    codes,
    error_of,
)
from acl.objects.memory_block import one_of, refuse

LIBRARIES = ("libhccl.so", "libhcomm.so")  # the second has a part of the functions in newer versions
OPS: dict[str, int] = {
    "sum": lib.HCCL_REDUCE_SUM,
    "prod": lib.HCCL_REDUCE_PROD,
    "max": lib.HCCL_REDUCE_MAX,
    "min": lib.HCCL_REDUCE_MIN,
}
TYPES: dict[str, int] = {
    "int8": lib.HCCL_DATA_TYPE_INT8,
    "int16": lib.HCCL_DATA_TYPE_INT16,
    "int32": lib.HCCL_DATA_TYPE_INT32,
    "int64": lib.HCCL_DATA_TYPE_INT64,
    "uint8": lib.HCCL_DATA_TYPE_UINT8,
    "uint16": lib.HCCL_DATA_TYPE_UINT16,
    "uint32": lib.HCCL_DATA_TYPE_UINT32,
    "uint64": lib.HCCL_DATA_TYPE_UINT64,
    "float16": lib.HCCL_DATA_TYPE_FP16,
    "float32": lib.HCCL_DATA_TYPE_FP32,
    "float64": lib.HCCL_DATA_TYPE_FP64,
    "bfloat16": lib.HCCL_DATA_TYPE_BFP16,
    "float8_e4m3fn": lib.HCCL_DATA_TYPE_FP8E4M3,
    "float8_e5m2": lib.HCCL_DATA_TYPE_FP8E5M2,
    "float8_e8m0fnu": lib.HCCL_DATA_TYPE_FP8E8M0,
    "bool": lib.HCCL_DATA_TYPE_UINT8,
}
# The types of arrays so far: NumPy composes the name of a type whenever it is asked.
known: "dict[numpy.dtype[Any], int]" = {}
# HCCL reduces no bool: these are the same on bytes of 0 and 1.
TRUTHS = {"sum": "max", "prod": "min", "max": "max", "min": "min"}
FAMILIES: dict[int, type[AclError]] = {
    lib.HCCL_E_PARA: InvalidArgumentError,
    lib.HCCL_E_PTR: InvalidArgumentError,
    lib.HCCL_E_MEMORY: OutOfMemoryError,
    lib.HCCL_E_OOM: OutOfMemoryError,
    lib.HCCL_E_NOT_SUPPORT: NotSupportedError,
    lib.HCCL_E_NOT_FOUND: InvalidHandleError,
    lib.HCCL_E_UNAVAIL: InvalidArgumentError,
    lib.HCCL_E_TIMEOUT: TimedOutError,
    lib.HCCL_E_AGAIN: ResourceError,
}
ADVICE: dict[int, str] = {
    lib.HCCL_E_UNAVAIL: "a root info makes one communicator: call acl.Communicator.root_info() again",
    lib.HCCL_E_TIMEOUT: "every rank has to create its communicator with the same size and root info",
    lib.HCCL_E_AGAIN: "synchronise the streams of its operations first",
}


@lru_cache(maxsize=1)
def open_library() -> None:
    """Open the libraries of a toolkit; raise an error if they are not there."""
    reasons = []
    if _lib.toolkit is not None:
        paths = (os.path.join(_lib.toolkit, "lib64", name) for name in LIBRARIES)
        reasons = [_lib.open_library(path, True) for path in paths]
    if not _lib.present("HcclCommInitRootInfo"):
        reason = reasons[0] if reasons else f"{_lib.library_path} has no HcclCommInitRootInfo"
        text = f"acl.Communicator: HCCL cannot be used: {reason}"
        advice = "install the part of the CANN toolkit that has lib64/libhccl.so"
        raise NotSupportedError(codes.ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "acl.Communicator", text, advice)


def failure(result: int, function: str) -> AclError:
    """Return the error for an ``HcclResult``; if the runtime failed, with the runtime's code."""
    inner = rt.peek_at_last_error(lib.ACL_RT_THREAD_LEVEL) if result == lib.HCCL_E_RUNTIME else 0
    if inner:
        return error_of(inner, function)
    message = acl.get_recent_err_msg() or ""
    return FAMILIES.get(result, AclError)(result, function, message.strip(), ADVICE.get(result))


def check(result: int, function: str) -> None:
    """Raise the error for an ``HcclResult`` that is not 0."""
    if result != 0:
        raise failure(result, function)


def type_of(dtype: "numpy.dtype[Any]", function: str, name: str) -> int:
    """Return the ``HcclDataType`` of an array, or raise an error if HCCL has none for it."""
    found = known.get(dtype)
    if found is None:
        found = TYPES.get(dtype.name)
        if found is None:
            raise refuse(function, f"{name} is of {dtype}, which HCCL does not have", "convert it first: acl.nn.cast()")
        known[dtype] = found
    return found


def reduction_of(dtype: "numpy.dtype[Any]", op: Any, function: str) -> tuple[int, int]:
    """Return the ``HcclDataType`` and the ``HcclReduceOp`` of a reduction."""
    op = one_of(op, OPS, function, "op")
    if dtype.kind == "b":
        return TYPES["int8"], OPS[TRUTHS[op]]
    return type_of(dtype, function, "array"), OPS[op]
