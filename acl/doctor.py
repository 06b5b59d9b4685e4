"""The report of ``ascendcl doctor``: the backends of this host, which one is in use and why, and what is wrong.

In a line that begins with ``run``, the rest of the line is a shell command.
"""

import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from acl import _lib, abi

# For a new interpreter, as a program has: ascendcl has changed the module path of this process.
FIND = "import importlib.util; found = importlib.util.find_spec('acl'); print(found and found.origin or '')"


def found_by_import() -> str:
    """Return the file that ``import acl`` loads in a program."""
    done = subprocess.run([sys.executable, "-c", FIND], cwd="/", stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def command_path() -> str:
    """Return the ``ascendcl`` command of this interpreter, quoted for a shell, with its path if it is known."""
    beside = os.path.join(os.path.dirname(sys.executable), "ascendcl")
    return shlex.quote(beside) if os.path.exists(beside) else "ascendcl"


def python() -> Iterator[tuple[str, str]]:
    """Report which module ``import acl`` loads in programs."""
    yield "package", _lib.HOME
    found = found_by_import()
    if os.path.realpath(os.path.dirname(found)) != os.path.realpath(_lib.HOME):
        parent = os.path.dirname(_lib.HOME)
        yield "note", f"`import acl` finds {found or 'nothing'}, not this package"
        yield "note", "to import this package instead, run one of these commands:"
        yield "run", f'export PYTHONPATH={shlex.quote(parent)}"${{PYTHONPATH:+:$PYTHONPATH}}"'
        yield "run", f"{command_path()} exec -- python app.py"


def host() -> Iterator[tuple[str, str]]:
    """Report the toolkits and devices of this host."""
    shown = []
    for path in _lib.toolkits():
        if path in shown or not os.path.exists(os.path.join(path, "lib64", _lib.LIBRARIES[0])):
            continue
        shown.append(path)
        kind = "the simulator" if _lib.is_ours(path) else f"CANN {_lib.version_of(path) or 'of an unknown version'}"
        yield "toolkit", f"{path} ({kind}{'' if len(shown) == 1 else ', not checked'})"
    if not shown:
        yield "toolkit", f"none in {', '.join(_lib.toolkits())}"
    for name in _lib.VARIABLES:
        path = os.environ.get(name)
        if path and os.path.expanduser(path) not in shown:
            yield "note", f"{name}={path} has no lib64/{_lib.LIBRARIES[0]}"
    files = _lib.devices()
    yield "devices", ", ".join(files) or "none"
    for path in files:
        if not os.access(path, os.R_OK | os.W_OK):
            yield "wrong", f"this user has no permission to open {path}"


def answers() -> Iterator[tuple[str, str]]:
    """Report what was opened, why, and which functions it lacks."""
    yield "backend", f"{_lib.backend}, because {_lib.reason}"
    yield "library", _lib.library_path
    if _lib.refusal is not None:
        yield "wrong", _lib.refusal
    functions = [function for function in abi.load().functions.values() if function.group != abi.CONTROL_GROUP]
    counts = Counter(function.needs for function in functions if not _lib.present(function.name))
    kinds = ", ".join(f"{counts[version]} of CANN {version}" for version in sorted(counts))
    yield "missing", f"{sum(counts.values())} of {len(functions)} functions{': ' if kinds else ''}{kinds}"
    if _lib.is_simulator:
        from acl import sim

        connects = os.path.exists(os.path.join(os.path.dirname(_lib.library_path), "libacl_hccl_net.so"))
        yield "hccl", f"{'connects' if connects else 'does not connect'} processes of several hosts"
        if not connects:
            yield "note", "to connect hosts, install Gloo (apt install libgloo-dev), and build the package again"
        if sim.missing():
            yield "simulator", f"{len(sim.missing())} functions have no behaviour yet; this command lists them:"
            yield "run", f"{command_path()} abi --missing"


def headers() -> Iterator[tuple[str, str]]:
    """Compare our declarations with those of the toolkit."""
    from acl import headers

    toolkit = _lib.find_toolkit()
    if toolkit is None:
        yield "wrong", "doctor --headers needs a toolkit; set its path, for example:"
        yield "run", f"ACL_TOOLKIT=/usr/local/Ascend/cann {command_path()} doctor --headers"
        return
    result = headers.compare(abi.load(), _lib.ffi, toolkit, os.path.join(_lib.HOME, "include"))
    if result.difference is not None:
        yield "wrong", f"the headers of {toolkit} differ from ours:\n{result.difference}"
    else:
        yield "headers", f"agree: {result.functions} functions, and {result.operators} of operators"


def run(with_headers: bool) -> int:
    """Print the report; return 1 if something is wrong."""
    code = 0
    for part in (python(), host(), answers(), *([headers()] if with_headers else [])):
        for kind, text in part:
            print(f"{kind:<10} {text}")
            code |= kind == "wrong"
    return int(code)
