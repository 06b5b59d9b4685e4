"""Running programs against the simulator or a toolkit: for ``ascendcl exec`` and ``ascendcl explore``."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Optional

import acl
from acl import _lib


def find(command: Sequence[str]) -> tuple[str, list[str]]:
    """Return the path of a program, and its command without a leading ``--``.

    Raises
    ------
    ValueError
        Without a command, or if there is no such program.
    """
    words = list(command[1:] if command[:1] == ["--"] else command)
    if not words:
        raise ValueError("it needs a program, behind --: ./app arguments")
    path = shutil.which(words[0])
    if path is None:
        raise ValueError(f"no program {words[0]!r}")
    return path, words


def environment(settings: Mapping[str, str], backend: str = "sim", record: Optional[str] = None) -> dict[str, str]:
    """Return the environment of a program that uses a backend, the simulator with these settings.

    ``record`` is the file into which its calls are recorded.

    Raises
    ------
    ValueError
        For a wrong setting, which would otherwise be reported from inside the program, or if there is no toolkit.
    """
    if settings and acl.is_simulator:
        acl.sim.configure(**settings)
        acl.sim.configure(**dict.fromkeys(settings))
    result = dict(os.environ, **{f"ACL_SIM_{name.upper()}": value for name, value in settings.items()})
    home = acl.toolkit_path() if backend == "sim" else _lib.find_toolkit()
    if home is None:
        raise ValueError("--backend npu: no toolkit was found; set ACL_TOOLKIT=<toolkit directory>")
    if backend == "npu":
        result["ACL_TOOLKIT"] = home
    first = {"LD_LIBRARY_PATH": os.path.join(home, "lib64"), "PYTHONPATH": os.path.dirname(_lib.HOME)}
    if backend == "sim":
        first["PATH"] = os.path.join(home, "tools", "profiler", "bin")  # msprof, which exports profiles
    for name, path in first.items():
        result[name] = os.pathsep.join(filter(None, (path, os.environ.get(name))))
    if record is not None:
        result["ACL_RECORD_CALLS"] = os.path.abspath(record)
        preloaded = os.environ.get("LD_PRELOAD")  # a sanitizer has to remain the first one
        result["LD_PRELOAD"] = " ".join(filter(None, (preloaded, _lib.RECORDER)))
    result.update(
        ASCEND_HOME_PATH=home,
        ASCEND_TOOLKIT_HOME=home,
        ASCEND_OPP_PATH=os.path.join(home, "opp"),
        ACL_BACKEND=backend,
        ACL_SIM_PYTHON=os.environ.get("ACL_SIM_PYTHON") or sys.executable,
    )
    return result
