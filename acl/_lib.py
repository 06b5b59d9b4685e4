"""The only importer of the compiled module: it chooses the backend, opens its library, and records the reason.

``ACL_BACKEND`` selects it: ``sim`` is the bundled simulator, ``npu`` the vendor's library of a toolkit, ``auto`` (also
when unset) the vendor's library if a toolkit and a device are present, otherwise the simulator.
"""

import importlib
import os
import re
import sys
import threading
from typing import TYPE_CHECKING

from acl.libraries import VENDOR


def in_subinterpreter():
    """Return whether this is a subinterpreter, not the first interpreter of the process."""
    try:
        interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    except ImportError:
        return False
    return interpreters.get_current() != interpreters.get_main()


if in_subinterpreter():
    raise ImportError("acl does not support subinterpreters: import it in the main interpreter of the process")
try:
    from acl import _acl
except ImportError as error:
    message = f"acl is not built for this interpreter ({error}): run pip install -e . in its source tree"
    raise ImportError(message) from None

ffi, lib = _acl.ffi, _acl.lib

if TYPE_CHECKING:  # the generated part of the package installs them here
    from acl._acl import BufferOwner as BufferOwner
    from acl._acl import EventOwner as EventOwner
    from acl._acl import Owner as Owner

HOME = os.path.dirname(os.path.abspath(__file__))
# The names of the model inputs that carry a gear or AIPP parameters: texts of acl_mdl.h, which cffi does not provide.
GEAR_INPUT, AIPP_INPUT = "ascend_mbatch_shape_data", "ascend_dynamic_aipp_data"
RECORDER = os.path.join(HOME, "lib64", "libacl_record.so")
CHOICES = ("sim", "npu", "auto")
VARIABLES = ("ACL_TOOLKIT", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
USUAL = (
    "/usr/local/Ascend/ascend-toolkit/latest",
    "/usr/local/Ascend/cann",
    "/usr/local/Ascend/latest",
    "~/Ascend/ascend-toolkit/latest",
    "~/Ascend/cann",
)
LIBRARIES = tuple(f"lib{name}.so" for name in VENDOR)


def toolkits():
    """Return the directories in which to look for a toolkit, in order."""
    named = [os.environ[name] for name in VARIABLES if os.environ.get(name)]
    return [os.path.expanduser(path) for path in (*named, *USUAL)]


def find_toolkit():
    """Return the directory of the first toolkit with a library, or None."""
    return next((path for path in toolkits() if os.path.exists(os.path.join(path, "lib64", LIBRARIES[0]))), None)


def is_ours(toolkit):
    """Return whether a toolkit is one that this package wrote, with the simulator."""
    try:
        with open(os.path.join(toolkit, "version.info"), encoding="utf-8") as text:
            return any(line.strip() == "simulator=1" for line in text)
    except OSError:
        return False


def version_of(toolkit):
    """Return the CANN version in the files of a toolkit, such as ``8.1.RC1``, or None."""
    import glob

    for name in ("*/ascend_toolkit_install.info", "ascend_toolkit_install.info", "version.info"):
        for path in glob.glob(os.path.join(glob.escape(toolkit), name)):
            with open(path, encoding="utf-8", errors="replace") as text:
                found = re.search(r"^version\s*=\s*(\d+\.\S+)", text.read(), re.IGNORECASE | re.MULTILINE)
            if found:
                return found[1]
    return None


def devices():
    """Return the device files of this host."""
    import glob  # only a process with a toolkit needs it

    return sorted(glob.glob("/dev/davinci[0-9]*"))


def choose():
    """Return the backend's name, the toolkit it comes from (None for the simulator), and the reason."""
    choice = os.environ.get("ACL_BACKEND") or "auto"
    if choice not in CHOICES:
        raise ImportError(f"ACL_BACKEND is {choice!r}, expected one of {', '.join(CHOICES)}")
    if choice == "sim":
        return "sim", None, "ACL_BACKEND=sim"
    toolkit = find_toolkit()
    if choice == "npu":
        if toolkit is None:
            looked = ", ".join(toolkits())
            raise ImportError(
                f"ACL_BACKEND=npu, but no lib64/{LIBRARIES[0]} in {looked}; set ACL_TOOLKIT=<toolkit directory>"
            )
        return "npu", toolkit, "ACL_BACKEND=npu"
    ours = toolkit is not None and is_ours(toolkit)
    if toolkit is not None and not ours and devices():
        return "npu", toolkit, "a toolkit and a device were found"
    if "ACL_BACKEND" not in os.environ:
        print("acl: no NPU found; using the simulator (set ACL_BACKEND=sim to silence this message)", file=sys.stderr)
    return "sim", None, "no toolkit was found" if toolkit is None or ours else "no device was found"


def check_version(toolkit):
    """Raise an error for a toolkit that is newer than the newest known version, unless its headers agree with ours."""
    from acl import abi, headers

    version = version_of(toolkit)
    number = re.match(r"(\d+)\.(\d+)", version or "")
    if number is None or (int(number[1]), int(number[2])) <= abi.NEWEST:
        return
    difference = headers.agreed(abi.load(), ffi, toolkit)
    if difference is not None:
        raise ImportError(
            f"{toolkit} is CANN {version}, newer than this package supports, and its headers do not show that it is "
            f"compatible; set ACL_BACKEND=sim to use the simulator instead: {difference}"
        )


def open_library(path, shared):
    """Open one library to resolve the names that are still missing; return the loader's error, or None."""
    reason = lib.acl_backend_open(os.fsencode(path), shared)
    return ffi.string(reason).decode(errors="replace") if reason else None


def open_backend(toolkit):
    """Open the simulator, or the libraries of a toolkit; return the path of the first.

    If the process has already loaded a simulator from a toolkit, that copy is used instead of the package's: a second
    copy would have separate devices and memory.
    """
    if toolkit is None:
        loaded = lib.acl_backend_loaded()
        first = os.fsdecode(ffi.string(loaded)) if loaded else os.path.join(HOME, "lib64", "libacl_sim.so")
        others = []
    else:
        check_version(toolkit)
        first, *others = (os.path.join(toolkit, "lib64", name) for name in LIBRARIES)
    reason = open_library(first, toolkit is not None)
    if reason is not None:
        advice = "rebuild the package" if toolkit is None else f"run source {toolkit}/set_env.sh first"
        raise ImportError(f"cannot open {first}: {reason}; {advice}")
    for path in filter(os.path.exists, others):
        open_library(path, True)
    return first


def present(name):
    """Return whether the opened library has a declared function."""
    return bool(lib.acl_backend_has(name.encode()))


def for_command(name):
    """Return whether this process is ``python -m acl NAME`` or ``ascendcl NAME``."""
    return sys.argv[1:2] == [name] and os.path.basename(sys.argv[0]) in ("-m", "ascendcl", "ascendcl.py")


def for_stored_results():
    """Return whether this process is ``bench --compare`` with several files, which calls no library."""
    if not for_command("bench") or "--compare" not in sys.argv:
        return False
    files = sys.argv[sys.argv.index("--compare") + 1 :][:2]
    return len(files) == 2 and not any(name.startswith("-") for name in files)


refusal = None
try:
    if for_stored_results():
        backend, toolkit, reason, library_path = "none", None, "stored results are compared", ""
    else:
        backend, toolkit, reason = choose()
        library_path = open_backend(toolkit)
except ImportError as error:
    if not for_command("doctor"):
        raise
    # The doctor starts nevertheless, to report the error.
    refusal = str(error)
    backend, toolkit, reason = "sim", None, "nothing else could be opened"
    library_path = open_backend(None)
if os.environ.get("ACL_RECORD_CALLS"):
    problem = lib.acl_backend_record(os.fsencode(RECORDER))
    if problem:
        print(f"acl: ACL_RECORD_CALLS: {ffi.string(problem).decode(errors='replace')}", file=sys.stderr)
is_simulator = present("aclsimReset")
if present("aclsimWantsLines"):
    lib.acl_line_watch(os.fsencode(os.path.join(HOME, "")))
lib.acl_pycall_main_thread(threading.main_thread().ident)
# In a child, the main thread is the one that called fork.
os.register_at_fork(after_in_child=lambda: lib.acl_pycall_main_thread(threading.get_ident()))
