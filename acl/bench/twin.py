"""The C twins of the rows: the same calls from C, compiled at the run if there is a compiler."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

SOURCE = Path(__file__).with_name("twins") / "calls.c"
NOT_BUILT = "not built"


class Twin(NamedTuple):
    """A function of ``twins/calls.c`` without its prefix, and its arguments after the count: addresses and sizes."""

    name: str
    arguments: Sequence[int] = ()


class Twins(NamedTuple):
    """The library of the twins, or None, and the compiler's name or the reason."""

    library: Optional[ctypes.CDLL]
    about: str

    def sampler(self, twin: Twin, number: int, calls: int) -> Optional[Callable[[], float]]:
        """Return a function that runs a twin ``number`` times and returns the seconds per call; None if not built."""
        if self.library is None:
            return None
        # PyDLL would keep the GIL, which threads of a row may need.
        function = self.library[f"twin_{twin.name}"]
        function.restype = ctypes.c_double
        function.argtypes = [ctypes.c_int, *[ctypes.c_size_t] * len(twin.arguments)]
        return lambda: function(number, *twin.arguments) / 1e9 / calls


def compiler() -> Optional[str]:
    """Return the path of the C compiler: ``$CC``, or the first of gcc, clang and cc; None without one."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["gcc", "clang", "cc"]
    return next(filter(None, map(shutil.which, names)), None)


def build() -> Twins:
    """Compile the twins against the opened library, and load them."""
    from acl import demo

    found = compiler()
    if found is None:
        return Twins(None, f"{NOT_BUILT}: no C compiler was found")
    with tempfile.TemporaryDirectory(prefix="acl-bench-") as directory:
        library = os.path.join(directory, "twins.so")
        # An RPATH comes before LD_LIBRARY_PATH, so that the twins call the library that this process has opened.
        options = [*demo.options(), "-Wl,--disable-new-dtags"]
        command = [found, "-std=gnu11", "-O2", "-shared", "-fPIC", str(SOURCE), "-o", library, *options]
        try:
            subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
            return Twins(ctypes.CDLL(library), f"built with {os.path.basename(found)}")
        except subprocess.CalledProcessError as error:
            reason = (error.output.strip() or str(error)).splitlines()[0]
        except OSError as error:
            reason = str(error)
    return Twins(None, f"{NOT_BUILT}: {reason}")
