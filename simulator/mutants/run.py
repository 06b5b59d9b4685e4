"""Test the tests: apply one mutation at a time to a copy of the engine and demand that a C test notices.

``python3 simulator/mutants/run.py [--build DIR] [--jobs N] [NAME ...]`` prints a table and fails when a mutant
survives, or when its text is no longer found in the source exactly once: then the tables have to follow the source.

Left out, because no test can tell them from the original: the waker's futex word stored with relaxed order (the gate's
lock orders it), a ready list without its tail pointer check (only the order changes), a kick that is lost (the patrol
comes a tick later), ``st_habit`` never set (only slower), the spare chunk not used (only slower), a lock not
renewed in the child of a fork (the fork would have to happen while one of a few instructions holds it), letting go
although tasks have arrived (the stream is listed, and somebody goes on).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from table import ENGINE_MUTANTS, Mutant
from table_groups import GROUP_MUTANTS

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = ENGINE_MUTANTS + GROUP_MUTANTS


class Workshop:
    """A copy of the simulator, built twice: plain and with ThreadSanitizer."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder, self.jobs = folder, jobs
        self.limits: dict[tuple[str, bool], float] = {}
        ignore = shutil.ignore_patterns("__pycache__", "build*", "*.so")
        shutil.copytree(ROOT / "simulator", folder / "simulator", ignore=ignore)
        shutil.copytree(ROOT / "acl", folder / "acl", ignore=ignore)

    def source(self, mutant: Mutant) -> Path:
        """Path of the file that the mutant changes."""
        return self.folder / "simulator" / "core" / mutant.file

    def build(self, tests: tuple[str, ...], tsan: bool) -> str:
        """Bring the tests up to date; the compiler's output when that fails, else an empty text."""
        place = self.folder / ("tsan" if tsan else "plain")
        # EXTRA switches the optimisation at link time off; a mutation may leave something unused.
        extra = "-Wno-error" + (" -fsanitize=thread" if tsan else "")
        command = [
            "make",
            "-s",
            f"-j{self.jobs}",
            "-C",
            str(self.folder / "simulator"),
            f"BUILD={place}",
            f"PYTHON={sys.executable}",
            "CFLAGS=-O1 -g",
            f"EXTRA={extra}",
        ]
        command += [f"{place}/tests/{test}" for test in tests]
        done = subprocess.run(command, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def run(self, test: str, tsan: bool) -> str:
        """How the test failed, or an empty text when it passed; it hangs when it takes far longer than before."""
        program = self.folder / ("tsan" if tsan else "plain") / "tests" / test
        environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1")
        try:
            done = subprocess.run(
                [str(program)], capture_output=True, timeout=self.limits.get((test, tsan), 60), env=environment
            )
        except subprocess.TimeoutExpired:
            return "hang"
        if done.returncode == 0:
            return ""
        text = done.stderr.decode(errors="replace")
        if "ThreadSanitizer" in text:
            return "data race"
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[0].split("/")[-1][:60] if lines else f"ended with {done.returncode}"

    def fate(self, mutant: Mutant) -> str:
        """Apply the mutant, see which test notices, and restore the file; how it was noticed, or an empty text.

        Raises
        ------
        LookupError
            The text to change is not there exactly once, or the mutant does not compile.
        """
        path = self.source(mutant)
        text = path.read_text()
        if text.count(mutant.old) != 1:
            raise LookupError(f"{mutant.file} has its text {text.count(mutant.old)} times")
        try:
            path.write_text(text.replace(mutant.old, mutant.new))
            for test in mutant.tests:
                problem = self.build((test,), mutant.tsan)
                if problem:
                    raise LookupError("does not compile: " + problem)
                how = self.run(test, mutant.tsan)
                if how:
                    return f"{test}: {how}"
            return ""
        finally:
            path.write_text(text)


def check_original(workshop: Workshop, mutants: Sequence[Mutant]) -> None:
    """Build the mutants' tests once, and make sure that none of them complains about the engine as it is."""
    for tsan in (False, True):
        tests = tuple(sorted({test for mutant in mutants if mutant.tsan or not tsan for test in mutant.tests}))
        problem = workshop.build(tests, tsan) if tests else ""
        if problem:
            sys.exit(problem)
        for test in tests:
            begin = time.monotonic()
            how = workshop.run(test, tsan)
            workshop.limits[test, tsan] = 3 + 4 * (time.monotonic() - begin)
            if how:
                sys.exit(f"{test} fails without any mutation: {how}")


def main() -> int:
    """Print the table; the number of mutants that nobody noticed is the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", metavar="NAME", nargs="*", help="mutants to run; all when none is named")
    parser.add_argument("--build", type=Path, help="folder to work in (a temporary one)")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant is named {', '.join(sorted(unknown))}")
    chosen = [mutant for mutant in MUTANTS if not arguments.names or mutant.name in arguments.names]
    bad = 0
    with tempfile.TemporaryDirectory(dir=arguments.build) as folder:
        workshop = Workshop(Path(folder), arguments.jobs)
        check_original(workshop, chosen)
        for mutant in chosen:
            begin = time.monotonic()
            try:
                how = workshop.fate(mutant) or "SURVIVED"
                bad += how == "SURVIVED"
            except LookupError as error:
                how = f"OUT OF DATE: {error}"
                bad += 1
            print(f"{mutant.name:45} {mutant.file:14} {time.monotonic() - begin:5.1f} s  {how}", flush=True)
    print(f"{len(chosen)} mutants, {bad} not noticed")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
