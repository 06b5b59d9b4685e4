"""What runs kinds of model files without being asked for."""

import functools
import importlib

from acl._lib import ffi, lib
from acl.api.closure import closure

MODULES = {"onnx": "acl.sim.onnx_models", "affine": "acl.sim.stubs"}


def closure_of(kind):
    """Return what C calls for the models of a kind. Its module needs NumPy: without such a model, it stays out."""

    @functools.cache
    def runner():
        return importlib.import_module(MODULES[kind]).run

    def run(order):
        return runner()(order)

    return closure("aclsimModelFunc", run, run, lib.ACL_ERROR_GE_PARAM_INVALID)


closures = {kind: closure_of(kind) for kind in MODULES}


def install():
    """Register them."""
    for kind, runs in closures.items():
        lib.aclsimRegisterExecutor(kind.encode(), runs, ffi.NULL)
