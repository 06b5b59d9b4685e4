"""Run the commands of the pages as they stand there, and compare what they print: ``python docs/_ext/commands.py``.

A page's commands run one after another in a copy of ``docs/snippets``, with the Python that runs this as ``python``.
What sets an environment up (``venv``, ``pip``) is left to the README's own check. Commands of debuggers are left out
where the debugger is not installed.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
SETS_UP = re.compile(r"python3 -m venv|\S*/pip ")
DEBUGGERS = ("gdb", "valgrind")
TIMEOUT = 600


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Give each command of a page with what is shown below it."""
    for block in re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", page.read_text(), re.MULTILINE):
        lines = [line[3:] for line in block.rstrip().split("\n")]
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown.strip("\n")


def run(page: Path, folder: Path) -> list[str]:
    """Run a page's commands; return what went wrong."""
    wrong = []
    (folder / "bin").mkdir()
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    places = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)}
    environment = {**os.environ, **places, "ACL_BACKEND": "sim", "COLUMNS": "80"}
    for command, shown in blocks(page):
        if SETS_UP.search(command):
            continue
        program = command.split()[0]
        if program in DEBUGGERS and shutil.which(program) is None:
            print(f"+ {command}: not run, no {program} is installed")
            continue
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, timeout=TIMEOUT, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        good = doctest.OutputChecker().check_output(f"{shown}\n", done.stdout, flags) or not shown
        print(f"+ {command}: {'ok' if good and done.returncode == 0 else 'differs'}")
        if not good or done.returncode != 0:
            wrong.append(f"{page.name}: {command}: exit code {done.returncode}\n{done.stdout}")
    return wrong


def main() -> int:
    """Run the commands of all pages."""
    wrong = []
    for page in sorted(DOCS.glob("*.rst")):
        if any(not SETS_UP.search(command) for command, _ in blocks(page)):
            with tempfile.TemporaryDirectory() as directory:
                folder = Path(shutil.copytree(DOCS / "snippets", Path(directory) / "work"))
                wrong += run(page, folder)
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
