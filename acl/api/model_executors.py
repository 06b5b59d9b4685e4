"""What runs kinds of model files without being asked for: ``onnx``."""

import functools

from acl._lib import ffi, lib
from acl.api.closure import closure


@functools.cache
def onnx_runner():
    """Return what runs ONNX models, which needs NumPy: import acl stays cheap without such a model."""
    from acl.sim import onnx_models

    return onnx_models.run


def run_onnx(order):
    """Load, run or forget an ONNX model."""
    return onnx_runner()(order)


onnx_closure = closure("aclsimModelFunc", run_onnx, run_onnx, lib.ACL_ERROR_GE_PARAM_INVALID)


def install():
    """Register them."""
    lib.aclsimRegisterExecutor(b"onnx", onnx_closure, ffi.NULL)
