"""Measures what each checker of the simulator costs, for the table in ``docs/checks.rst``.

``PYTHONPATH=tests python tests/bench/checkers.py`` prints nanoseconds without a checker, and with each of them how many
times as long the same calls from C (``checkers/costs.c``) take. ``--suite`` prints the processor time of some tests of
operators instead. Programs and checkers take turns, and the least time of all rounds counts.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers import programs

import acl

HERE = Path(__file__).parent
SHIPPED = Path(acl.__file__).parent / "bench" / "twins"
CHECKS = ("none", "memory", "leak", "race", "init", "sync", "deadlock", "all")
OPERATORS = ("attention", "conv", "linalg", "norm", "reduce", "scatter")


def calls(program, check):
    """Return the nanoseconds of each row with a checker."""
    done = programs.run([program], env=programs.environment({"ACL_SIM_CHECK": check}))
    assert done.returncode == 0, done.stderr
    return {name: float(time) for name, _, time in (line.rpartition(": ") for line in done.stdout.splitlines())}


def suite(check):
    """Return the seconds of processor time of the tests of operators with a checker."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tests = [str(HERE.parent / f"test_operators_{name}.py") for name in OPERATORS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--acl-check={check}", *tests]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"tests of operators": (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--suite", action="store_true", help="measure tests of operators")
    options = parser.parse_args()
    least = {}
    with tempfile.TemporaryDirectory() as place:
        source, flags = (HERE / "checkers" / "costs.c").read_text(), ("-O2", f"-I{SHIPPED}")
        program = programs.Compiler(Path(place))(source, *flags, libraries=("ascendcl", "nnopbase", "opapi"))
        for _ in range(options.rounds):
            for check in CHECKS:
                for name, time in (suite(check) if options.suite else calls(program, check)).items():
                    times = least.setdefault(name, {})
                    times[check] = min(time, times.get(check, time))
    print(f"{'':30}{'none':>12}", *(f"{check:>9}" for check in CHECKS[1:]))
    for name, times in least.items():
        print(f"{name:30}{times['none']:9.0f} ns", *(f"{times[check] / times['none']:9.2f}" for check in CHECKS[1:]))


if __name__ == "__main__":
    main()
