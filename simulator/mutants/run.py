"""Test the tests: change one expression at a time in a copy of the simulator, and demand that a C test fails.

``python3 simulator/mutants/run.py [--build DIR] [--jobs N] [NAME ...]`` prints a table and fails if the tests pass
with a mutant. It tests N mutants at the same time, each in a copy of its own: many make a test hang, which costs no
CPU. ``--check`` only looks up every mutant in the source, without building anything. If the function or the expression
of a mutant is not found exactly once, all such mutants are listed before anything is built, and the tables must follow
the source. After each mutant its copy gets back the files of the first build, so that nothing is compiled for that.

These mutants are left out because no test can tell them from the original: the waker's futex word stored with relaxed
order (the gate's lock orders it), a ready list without its tail pointer check (only the order changes), a lost kick
(the patrol comes a tick later), ``st_habit`` never set (only slower), the spare chunk not used (only slower), a lock
not renewed in the child of a fork (the fork would have to happen within a few instructions that hold the lock), a
stream released although tasks have arrived (it is listed, and another thread runs it).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue

from source import Place, Sources
from table import ENGINE_MUTANTS, Mutant
from table_collective import COLLECTIVE_MUTANTS
from table_groups import GROUP_MUTANTS

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = ENGINE_MUTANTS + GROUP_MUTANTS + COLLECTIVE_MUTANTS


BUILDS = "plain", "tsan"


class Workshop:
    """A copy of the simulator, built twice: plain and with ThreadSanitizer.

    Another one may be copied from it with all that is built, and ``kept`` is where both find their files again.
    """

    def __init__(self, folder: Path, other: Workshop | None = None) -> None:
        self.folder = folder
        self.kept = other.kept if other else folder.with_name("kept")
        self.limits: dict[tuple[str, bool], float] = other.limits if other else {}
        if other:
            shutil.copytree(other.kept, folder)
            for path in folder.rglob("*.d"):
                self.take_back(path)
            return
        ignore = shutil.ignore_patterns("__pycache__", "build*", "*.so")
        shutil.copytree(ROOT / "simulator", folder / "simulator", ignore=ignore)
        shutil.copytree(ROOT / "acl", folder / "acl", ignore=ignore)

    def keep(self) -> None:
        """Copy everything, as it is without a mutation, with the times of change by which make decides."""
        shutil.copytree(self.folder, self.kept)
        for path in self.kept.rglob("*.d"):
            path.write_text(path.read_text().replace(f"{self.folder}/", f"{self.kept}/"))

    def take_back(self, path: Path) -> None:
        """Restore a file, or remove it if it is a new one."""
        kept = self.kept / path.relative_to(self.folder)
        if not kept.exists():
            path.unlink()
            return
        path.unlink(missing_ok=True)  # a program may still be running
        shutil.copy2(kept, path)
        if path.suffix == ".d":
            path.write_text(path.read_text().replace(f"{self.kept}/", f"{self.folder}/"))

    def restore(self, since: float) -> None:
        """Restore what was written since that time; the clock of a file system may be some milliseconds behind."""
        for folder in ("simulator", *BUILDS):
            for path in (self.folder / folder).rglob("*"):
                if path.suffix != ".d" and path.is_file() and path.stat().st_mtime >= since - 0.1:
                    self.take_back(path)

    def build(self, tests: tuple[str, ...], tsan: bool, jobs: int = 1) -> str:
        """Build the tests; return the compiler's output if that fails, else an empty text."""
        build = self.folder / BUILDS[tsan]
        # EXTRA also turns off link-time optimisation in the Makefile. A mutation may leave a variable unused.
        extra = "-Wno-error" + (" -fsanitize=thread" if tsan else "")
        command = [
            "make",
            "-s",
            f"-j{jobs}",
            "-C",
            str(self.folder / "simulator"),
            f"BUILD={build}",
            f"PYTHON={sys.executable}",
            "CFLAGS=-O1 -g",
            f"EXTRA={extra}",
        ]
        command += [f"{build}/tests/{test}" for test in tests]
        done = subprocess.run(command, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def run(self, test: str, tsan: bool) -> str:
        """Run the test; return how it failed, or an empty text if it passed.

        A test that takes far longer than it did without a mutation counts as hanging.
        """
        program = self.folder / BUILDS[tsan] / "tests" / test
        environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1")
        outputs = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        with subprocess.Popen([str(program)], env=environment, start_new_session=True, **outputs) as process:
            try:
                _, said = process.communicate(timeout=self.limits.get((test, tsan), 60))
            except subprocess.TimeoutExpired:
                return "hang"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # also those that it has started
        if process.returncode == 0:
            return ""
        text = said.decode(errors="replace")
        if "ThreadSanitizer" in text:
            return "data race"
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[0].split("/")[-1][:60] if lines else f"ended with {process.returncode}"

    def fate(self, mutant: Mutant, place: Place) -> str:
        """Apply the mutant at its place in the copy, run its tests until one fails, and restore the file.

        Returns
        -------
        str
            The test that failed and how, or an empty text if all of them passed.

        Raises
        ------
        LookupError
            The mutant does not compile.
        """
        path = self.folder / place.path.relative_to(ROOT)
        text, begin = path.read_text(), time.time()
        try:
            path.write_text(text[: place.begin] + mutant.new + text[place.end :])
            for test in mutant.tests:
                problem = self.build((test,), mutant.tsan)
                if problem:
                    raise LookupError("does not compile: " + problem)
                how = self.run(test, mutant.tsan)
                if how:
                    return f"{test}: {how}"
            return ""
        finally:
            self.restore(begin)


def look_up(mutants: Sequence[Mutant]) -> tuple[list[Place], list[str]]:
    """Find every mutant in the source; return the places of those that were found, and a line for each other one."""
    sources, places, lost = Sources(ROOT / "simulator"), [], []
    for mutant in mutants:
        try:
            places.append(sources.find(mutant.function, mutant.old))
        except LookupError as error:
            lost.append(f"{mutant.name}: {error}")
    return places, lost


def check_original(workshop: Workshop, mutants: Sequence[Mutant]) -> None:
    """Build the mutants' tests once; raise RuntimeError unless all of them pass without a mutation."""
    for tsan in (False, True):
        tests = tuple(sorted({test for mutant in mutants if mutant.tsan or not tsan for test in mutant.tests}))
        problem = workshop.build(tests, tsan, os.cpu_count() or 1) if tests else ""
        if problem:
            raise RuntimeError(problem)
        for test in tests:
            begin = time.monotonic()
            how = workshop.run(test, tsan)
            workshop.limits[test, tsan] = 5 + 6 * (time.monotonic() - begin)
            if how:
                raise RuntimeError(f"{test} fails without any mutation: {how}")


def work(workshop: Workshop, left: SimpleQueue[tuple[Mutant, Place]]) -> int:
    """Test mutants until none are left; return how many no test detected."""
    bad = 0
    while True:
        try:
            mutant, place = left.get_nowait()
        except Empty:
            return bad
        begin = time.monotonic()
        try:
            how = workshop.fate(mutant, place) or "SURVIVED"
            bad += how == "SURVIVED"
        except LookupError as error:
            how = f"OUT OF DATE: {error}"
            bad += 1
        line = f"{mutant.name:56} {place.path.name:19} {time.monotonic() - begin:5.1f} s  {how}\n"
        print(line, end="", flush=True)


def test_all(folder: Path, chosen: Sequence[Mutant], places: Sequence[Place], jobs: int) -> int:
    """Test mutants in copies below the folder; return how many no test detected."""
    left: SimpleQueue[tuple[Mutant, Place]] = SimpleQueue()
    for item in zip(chosen, places):
        left.put(item)
    first = Workshop(folder / "0")
    check_original(first, chosen)
    first.keep()
    workshops = [first, *(Workshop(folder / str(number), first) for number in range(1, jobs))]
    with ThreadPoolExecutor(jobs) as pool:
        return sum(pool.map(lambda workshop: work(workshop, left), workshops))


def main() -> int:
    """Print the table; the exit status is the number of mutants that no test detected, or that were not found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", metavar="NAME", nargs="*", help="mutants to run (all by default)")
    parser.add_argument("--build", type=Path, help="folder in which the temporary copies are made")
    parser.add_argument("--jobs", type=int, default=4, help="number of mutants that are tested at the same time")
    parser.add_argument("--check", action="store_true", help="only look up the mutants in the source")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant is named {', '.join(sorted(unknown))}")
    chosen = [mutant for mutant in MUTANTS if not arguments.names or mutant.name in arguments.names]
    places, lost = look_up(chosen)
    if lost or arguments.check:
        print(*lost, f"{len(chosen)} mutants, {len(lost)} not found in the source", sep="\n")
        return min(len(lost), 100)
    with tempfile.TemporaryDirectory(dir=arguments.build) as folder:
        try:
            bad = test_all(Path(folder), chosen, places, arguments.jobs)
        except RuntimeError as error:
            sys.exit(str(error))
    print(f"{len(chosen)} mutants, {bad} not noticed")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
