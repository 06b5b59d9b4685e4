"""AscendCL for Python: the pyACL calls over the vendor's library or over a simulator with the same C interface.

Names in lower case here and in ``rt``, ``mdl``, ``op``, ``util``, ``prof`` and ``blas`` are pyACL: positional
arguments, addresses and handles as int, status codes returned and never raised. Names with a capital are objects, such
as :class:`acl.Stream`, which raise :class:`acl.AclError`; they are loaded at their first use.
"""

import os
from typing import TYPE_CHECKING

from acl import _lib
from acl import blas as blas
from acl import mdl as mdl
from acl import op as op
from acl import prof as prof
from acl import rt as rt
from acl import util as util

if TYPE_CHECKING:
    from acl import nn as nn
    from acl import nnop as nnop
    from acl import sim as sim
    from acl._acl import *  # noqa: F403
    from acl.errors import AbortedError as AbortedError
    from acl.errors import AclError as AclError
    from acl.errors import CaptureError as CaptureError
    from acl.errors import ContextError as ContextError
    from acl.errors import InvalidArgumentError as InvalidArgumentError
    from acl.errors import InvalidHandleError as InvalidHandleError
    from acl.errors import ModelError as ModelError
    from acl.errors import NotSupportedError as NotSupportedError
    from acl.errors import OperatorError as OperatorError
    from acl.errors import OutOfMemoryError as OutOfMemoryError
    from acl.errors import ResourceError as ResourceError
    from acl.errors import TaskError as TaskError
    from acl.errors import TimedOutError as TimedOutError
    from acl.objects.array import DeviceArray as DeviceArray
    from acl.objects.capture import Graph as Graph
    from acl.objects.capture import capture as capture
    from acl.objects.capture import capture_mode as capture_mode
    from acl.objects.context import Context as Context
    from acl.objects.device import Device as Device
    from acl.objects.event import Event as Event
    from acl.objects.hccl import Communicator as Communicator
    from acl.objects.kernel import Binary as Binary
    from acl.objects.kernel import Kernel as Kernel
    from acl.objects.memory import Buffer as Buffer
    from acl.objects.model import Model as Model
    from acl.objects.model_aipp import Aipp as Aipp
    from acl.objects.model_run import ModelRun as ModelRun
    from acl.objects.pool import MemoryPool as MemoryPool
    from acl.objects.stream import Stream as Stream

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
    """Return the directory of the package's toolkit, for ``ASCEND_HOME_PATH``; it contains ``set_env.sh``.

    It has no symbolic links. ``python -m acl toolkit DIR`` writes a toolkit with the directories of older releases too.
    """
    return _lib.HOME


if not TYPE_CHECKING:  # type checkers use the declarations above, and report other names

    def __getattr__(name):
        """Import :mod:`acl.sim`, :mod:`acl.nn`, :mod:`acl.nnop` and the objects when they are first used."""
        import importlib

        if name in ("nn", "nnop", "sim"):
            return importlib.import_module(f"acl.{name}")
        home = importlib.import_module("acl.objects").HOME.get(name)
        if home is None:
            raise AttributeError(f"module 'acl' has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value  # the next access does not call __getattr__
        return value


def __dir__():
    """Return the names of the module, loaded or not."""
    from acl.objects import HOME

    return sorted({*globals(), *HOME, "nn", "nnop", "sim"})


# Puts the generated builtins into the namespaces and into this module.
if not _lib.lib.acl_pycall_install():
    raise ImportError("acl: the call tables could not be installed (see the error above)")

if is_simulator:
    _lib.lib.acl_register_executors()

if os.environ.get("ACL_SIM_STRICT") or os.environ.get("ACL_SIM_CONFIG"):
    from acl.strict import follow

    follow()

if os.environ.get("ACL_RECORD"):
    from acl import record

    record.start(os.environ["ACL_RECORD"])
