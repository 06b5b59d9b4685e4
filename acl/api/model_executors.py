"""Executors of model files that are registered when the package is imported."""

import functools
import importlib

from acl._lib import ffi, lib
from acl.api.closure import closure

MODULES = {"onnx": "acl.sim.onnx_models", "affine": "acl.sim.stubs"}


def closure_of(kind):
    """Return the C callback for the models of a kind; it imports their module, which needs NumPy, at the first call."""

    @functools.cache
    def runner():
        return importlib.import_module(MODULES[kind]).run

    def run(order):
        return runner()(order)

    return closure("aclsimModelFunc", run, run, lib.ACL_ERROR_GE_PARAM_INVALID)


closures = {kind: closure_of(kind) for kind in MODULES}


def install():
    """Register the executors."""
    for kind, runs in closures.items():
        lib.aclsimRegisterExecutor(kind.encode(), runs, ffi.NULL)
