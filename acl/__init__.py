"""AscendCL for Python: the pyACL calls over the vendor's library or over a simulator with the same C interface.

Names in lower case here and in ``rt``, ``mdl``, ``op``, ``util``, ``prof`` and ``blas`` are pyACL: positional
arguments, addresses and handles as int, status codes returned and never raised.
"""

import os
from typing import TYPE_CHECKING

from acl import _lib, blas, mdl, op, prof, rt, util

if TYPE_CHECKING:
    from acl._acl import *  # noqa: F403

backend: str = _lib.backend
is_simulator: bool = _lib.is_simulator
library_path: str = _lib.library_path


def get_include() -> str:
    """Return the directory with ``acl/acl.h`` for C and C++ programs."""
    return os.path.join(_lib.HOME, "include")


def get_lib() -> str:
    """Return the directory with the simulator under the vendor's library names."""
    return os.path.join(_lib.HOME, "lib64")


def toolkit_path() -> str:
    """Return the toolkit that comes with the package: what ``ASCEND_HOME_PATH`` may point at, with ``set_env.sh``.

    It holds plain files only. ``python -m acl toolkit DIR`` writes one that also has the directories of older releases.
    """
    return _lib.HOME


def __getattr__(name):
    """Import :mod:`acl.sim` and :mod:`acl.nnop` when they are first asked for."""
    if name in ("sim", "nnop"):
        import importlib

        return importlib.import_module(f"acl.{name}")
    raise AttributeError(f"module 'acl' has no attribute {name!r}")


# Puts the generated builtins into the namespaces and into this module.
if not _lib.lib.acl_pycall_install():
    raise ImportError("acl: the call tables could not be installed, the reason is above")

if is_simulator:
    from acl.api import model_executors

    model_executors.install()

if os.environ.get("ACL_RECORD"):
    from acl import record

    record.start(os.environ["ACL_RECORD"])
