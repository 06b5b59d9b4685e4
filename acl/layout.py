"""Write the bundled simulator as a toolkit, in the layout that programs built for ``ASCEND_HOME_PATH`` expect.

The directory of the package is already a toolkit, with headers, libraries and scripts, but without symbolic links,
because a wheel cannot contain them. A toolkit in another directory has copies of these files, and links to them at the
paths that older releases and scripts for one architecture use.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from acl import _lib, files

FOLDERS = ("include", "lib64")
FILES = (
    "version.info",
    "set_env.sh",
    "bin/setenv.bash",
    "share/pkgconfig/ascendcl.pc",
    "share/cmake/ascendcl/ascendcl-config.cmake",
    "tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake",
    "tools/gdb/acl_gdb.py",
    "tools/profiler/bin/msprof",
    "tools/profiler/profiler_tool/analysis/msprof/msprof.py",
)
# The parts of older releases, each with headers and libraries.
PARTS = ("acllib", "atc", "compiler", "fwkacllib", "opp", "runtime")
# A script names the architecture of some host; under each name it finds the libraries of this machine.
ARCHITECTURES = ("aarch64-linux", "arm64-linux", "x86_64-linux")


# Runs the compiler of the package that wrote the toolkit, in its interpreter.
ATC = """\
#!/bin/sh
export PYTHONPATH={path}${{PYTHONPATH:+:$PYTHONPATH}}
exec "${{ACL_SIM_PYTHON:-{python}}}" -m acl atc "$@"
"""


class Refused(ValueError):
    """A directory that a toolkit must not be written to; the text says why."""


def links(libraries: list[str]) -> dict[str, str]:
    """Return the links of a toolkit with these libraries: their paths, and their relative targets."""
    found = {"devlib": "lib64", **{f"lib64/stub/{name}": f"../{name}" for name in libraries}}
    found["tikcpp"] = "tools/tikcpp"
    found["compiler/tikcpp"] = "../tools/tikcpp"
    for part in PARTS:
        found.update({f"{part}/{name}": f"../{name}" for name in (*FOLDERS, "version.info")})
    for architecture in ARCHITECTURES:
        found.update({f"{architecture}/{name}": f"../{name}" for name in (*FOLDERS, "devlib", "tikcpp", *PARTS)})
    return found


def check(target: Path) -> None:
    """Refuse the directory of the package, and one with files other than such a toolkit."""
    home = Path(_lib.HOME).resolve()
    if home == target or home in target.parents:
        raise Refused(f"{target} belongs to the installed package, which is itself a toolkit")
    if target.is_dir() and any(target.iterdir()) and not _lib.is_ours(os.fspath(target)):
        raise Refused(f"{target} is not empty and not a toolkit of the simulator: name a new or empty directory")


def build_for_gdb() -> Path:
    """Build the libraries without optimisation from the source tree; return their folder."""
    root = Path(_lib.HOME).resolve().parent
    if not (root / "simulator" / "Makefile").exists():
        raise Refused(
            f"--debug builds the simulator from its sources, and {root} has none; get the source tree of ascendcl, "
            "install it by pip install -e ., and run this command there"
        )
    build = root / "build" / "debug"
    settings = [f"BUILD={build}", f"PYTHON={sys.executable}", "WERROR="]
    command = ["make", f"-j{os.cpu_count()}", "-C", os.fspath(root / "simulator"), "debug", *settings]
    build.mkdir(parents=True, exist_ok=True)
    try:
        with open(build / "lock", "w") as lock:  # two processes must not write the same files
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise Refused("--debug builds the simulator from its sources; install gcc and make") from None
    if done.returncode != 0:
        raise Refused(f"{shlex.join(command)} failed:\n{done.stdout[-2000:].rstrip()}")
    return build / "lib64"


def write(directory: str | os.PathLike[str], *, debug: bool = False) -> None:
    """Write a toolkit, or update one: its folders of headers and libraries are replaced, and other files are kept.

    Parameters
    ----------
    directory : path
        It is empty, has such a toolkit, or does not exist yet.
    debug : bool
        Build its libraries from the source tree, so that gdb shows arguments and locals.

    Raises
    ------
    Refused
        The directory has other contents or cannot be written, or the libraries for gdb cannot be built. After a
        failed write, each of its files and folders is either the old or the new one.
    """
    target = Path(directory).resolve()
    check(target)
    home = Path(_lib.HOME)
    libraries = build_for_gdb() if debug else home / "lib64"
    try:
        _write(home, libraries, target)
    except OSError as error:
        raise Refused(f"cannot write {error.filename or target}: {error.strerror or error}") from None


def _write(home: Path, libraries: Path, target: Path) -> None:
    """Write the files, the folders, the links and the generated scripts."""
    for name in FILES:  # version.info first: it marks the directory as ours
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        files.write(target / name, (home / name).read_bytes())
        shutil.copymode(home / name, target / name)
    for name, folder in zip(FOLDERS, (home / "include", libraries)):
        with files.beside(target / name) as fresh:
            shutil.copytree(folder, Path(fresh, "new"))
            if (target / name).exists():
                (target / name).rename(Path(fresh, "old"))
            Path(fresh, "new").rename(target / name)
    for name, destination in links(os.listdir(target / "lib64")).items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        place.symlink_to(destination)
    version = dict(line.split("=", 1) for line in (target / "version.info").read_text("utf-8").splitlines())["Version"]
    for architecture in ARCHITECTURES:
        lines = ["package_name=Ascend-cann-toolkit", f"version={version}", f"arch={platform.machine()}", "os=linux"]
        lines.append(f"path={target / architecture}")
        files.write(target / architecture / "ascend_toolkit_install.info", "\n".join(lines) + "\n")
    atc = target / "bin" / "atc"
    files.write(atc, ATC.format(path=shlex.quote(os.fspath(home.parent)), python=sys.executable))
    atc.chmod(0o755)
    for name in ("LICENSE", "NOTICE"):
        source = licence(name)
        if source is not None:
            files.write(target / name, Path(source).read_bytes())


def licence(name: str) -> str | None:
    """Return the path of a licence file: beside the package in a source tree, in its metadata when installed."""
    path = os.path.join(os.path.dirname(_lib.HOME), name)
    if os.path.exists(path):
        return path
    from importlib import metadata

    installed = metadata.files("ascendcl") or []
    return next((os.fspath(file.locate()) for file in installed if file.name == name), None)
