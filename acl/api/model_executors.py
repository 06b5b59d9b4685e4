"""Executors of model files in Python. The compiled module imports this one when the first such model is loaded."""

import functools
import importlib

from acl._lib import ffi, lib
from acl.api import values
from acl.api.closure import closure

MODULES = {"onnx": "acl.sim.onnx_models", "affine": "acl.sim.stubs"}


@functools.cache
def runner(kind):
    """Return the function that executes the models of a kind; its module, which needs NumPy, is imported first."""
    return importlib.import_module(MODULES[kind]).run


def run(order):
    """Execute a model, or prepare for it; the user data is the kind of its file."""
    return runner(values.text(ffi.cast("char *", order.userData)))(order)


executor = lib.acl_executor = closure("aclsimModelFunc", run, run, lib.ACL_ERROR_GE_PARAM_INVALID)
