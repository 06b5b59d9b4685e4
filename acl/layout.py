"""Lay the bundled simulator out as a toolkit: what programs built for ``ASCEND_HOME_PATH`` expect to find."""

import os
import shutil

from acl import _lib

VERSION = "9.1.0"
ENVIRONMENT = """\
# Source this file: it points programs and builds at this toolkit.
export ASCEND_TOOLKIT_HOME="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")%s" && pwd)"
export ASCEND_HOME_PATH="$ASCEND_TOOLKIT_HOME"
export LD_LIBRARY_PATH="$ASCEND_TOOLKIT_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"""


def write(directory):
    """Write ``include``, ``lib64``, the environment scripts and ``version.info`` below a directory."""
    for name in ("include", "lib64"):
        target = os.path.join(directory, name)
        if os.path.lexists(target):
            shutil.rmtree(target)
        shutil.copytree(os.path.join(_lib.HOME, name), target, symlinks=True)
    os.makedirs(os.path.join(directory, "bin"), exist_ok=True)
    texts = {
        "set_env.sh": ENVIRONMENT % "",
        "bin/setenv.bash": ENVIRONMENT % "/..",
        "version.info": f"Version={VERSION}\nsimulator=1\n",
    }
    for name, text in texts.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
            out.write(text)
    for name in ("LICENSE", "NOTICE"):
        source = licence(name)
        if source is not None:
            shutil.copy(source, directory)


def licence(name):
    """Return the path of a licence file: beside the package in a source tree, in its metadata when installed."""
    path = os.path.join(os.path.dirname(_lib.HOME), name)
    if os.path.exists(path):
        return path
    from importlib import metadata

    files = metadata.files("ascendcl") or []
    return next((os.fspath(file.locate()) for file in files if file.name == name), None)
