"""Counts the instructions of the hot paths, and compares them with the committed figures.

``PYTHONPATH=tests python tests/bench/instructions.py`` counts with callgrind what the calling thread executes for one
pass of each path of ``instructions/paths.c``: in the program, in the library and in libc. Times differ by a tenth from
run to run; these counts do not, so a change of 3 % is a change of the code. ``--renew`` writes what was counted into
``instructions/figures.json``.

The figures hold for a compiler, a libc and an architecture; with others, the counts are only printed. Code that is
chosen for the processor at run time is the same on all of them, because the environment tells the simulator's operators
(``ACL_SIM_VECTORS``) and libc (``GLIBC_TUNABLES``) to use the baseline of the architecture. Each path is counted in a
few short rounds, of which the least counts: the first one links functions and touches new memory.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers import programs

import acl

HERE = Path(__file__).parent / "instructions"
FIGURES = HERE / "figures.json"
SHIPPED = Path(acl.__file__).parent / "bench" / "twins"
TOLERANCE = 0.03
ROUNDS = 5
LIBRARIES = ("ascendcl", "acl_sim", "nnopbase", "opapi")
# glibc chooses memcpy and its kin by these features; before 2.33 some names end in "_Usable".
FEATURES = ("AVX512F", "AVX2", "AVX", "AVX_Fast_Unaligned_Load", "ERMS", "FSRM")
TUNABLES = ",".join(f"-{feature}{end}" for feature in FEATURES for end in ("", "_Usable"))
ENVIRONMENT = {"ACL_SIM_WORKERS": "1", "ACL_SIM_VECTORS": "16", "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={TUNABLES}"}


def key():
    """Return what the figures depend on: the compiler of the library, the libc, the architecture."""
    content = (Path(acl.get_lib()) / "libacl_sim.so").read_bytes()
    found = re.search(rb"GCC: \([^)]*\) ([\d.]+)|clang version ([\d.]+)", content)
    compiler = "unknown" if found is None else f"gcc {found[1].decode()}" if found[1] else f"clang {found[2].decode()}"
    return f"{compiler}, {' '.join(platform.libc_ver())}, {platform.machine()}"


def count(directory):
    """Return the instructions of a pass of each path."""
    flags = "-O2", f"-I{HERE}", f"-I{SHIPPED}"
    program = programs.Compiler(directory)((HERE / "paths.c").read_text(), *flags, libraries=LIBRARIES)
    paths = [line.split() for line in programs.run([program]).stdout.splitlines()]
    command = ["valgrind", "-q", "--tool=callgrind", "--toggle-collect=counted", "--dump-after=counted"]
    command += [f"--callgrind-out-file={directory}/out", program, str(ROUNDS)]
    subprocess.run(command, env=programs.environment(ENVIRONMENT), check=True)
    counts = {}
    for number, (name, passes) in enumerate(paths):
        files = (directory / f"out.{number * ROUNDS + index + 1}" for index in range(ROUNDS))
        least = min(int(re.search(r"^summary: (\d+)$", file.read_text(), re.MULTILINE)[1]) for file in files)
        counts[name] = round(least / int(passes), 1)
    return counts


def main():
    """Count, print, and return whether a path is beyond the tolerance."""
    parser = argparse.ArgumentParser(description="Count the instructions of the hot paths.")
    parser.add_argument("--renew", action="store_true", help="write the figures of this compiler and architecture")
    renew = parser.parse_args().renew
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is missing: apt install valgrind")
    with tempfile.TemporaryDirectory() as directory:
        counted = count(Path(directory))
    figures = json.loads(FIGURES.read_text())
    committed = figures.get(key(), {})
    wrong = []
    print(f"instructions of a pass, {key()}, {os.path.relpath(acl.library_path)}")
    for name, now in counted.items():
        before = committed.get(name)
        change = "" if before is None else f"{before:10.1f}  {now / before - 1:+7.2%}"
        print(f"{name:20} {now:10.1f} {change}".rstrip())
        if before is not None and abs(now / before - 1) > TOLERANCE:
            wrong.append(name)
    if renew:
        FIGURES.write_text(json.dumps({**figures, key(): counted}, indent=2) + "\n")
        print(f"wrote {FIGURES.name}")
    elif not committed:
        print("no figures are committed for this compiler, libc and architecture: --renew adds them")
    elif wrong or counted.keys() != committed.keys():
        left = ", ".join(wrong) or "the paths themselves"
        sys.exit(f"not within {TOLERANCE:.0%}: {left}. If that is meant, also a gain: --renew, and commit the figures")


if __name__ == "__main__":
    main()
