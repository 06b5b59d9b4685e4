"""Run the commands and programs of the pages, and compare what they print: ``python docs/_ext/commands.py [PAGE ...]``.

A page's blocks run one after another in a copy of ``docs/snippets`` that also has ``examples``, with the Python that
runs this as ``python``. What a command of a ``console`` block prints is shown below it. A ``python`` block is a program
and a ``sh`` block a script; those of their lines that begin with ``# `` are what they print.

Blocks that set up an environment (``venv``, ``pip``, ``apt``) are left to the README's own check. Scripts that need
another environment are run by ``tests/test_clients*.py``. Commands of debuggers are left out where the debugger is not
installed, or cannot call functions of a program on this processor.
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
SETS_UP = re.compile(r"^(?:python3 -m venv|\S*/pip |apt )", re.MULTILINE)
ELSEWHERE = {"pytorch": ("sh", "python"), "onnxruntime": ("sh",)}  # page: languages
DEBUGGERS = ("gdb", "valgrind")
UNABLE = "Couldn't write extended state status"  # gdb 13 and older, on processors with AMX
TIMEOUT = 600


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Give each command of a page with what it has to print; an empty text stands for anything."""
    written = re.findall(r"^\.\. code-block:: (console|sh|python)\n\n((?:   .*\n|\n)+)", page.read_text(), re.MULTILINE)
    for language, block in written:
        lines = [line[3:] for line in block.rstrip().split("\n")]
        if language == "console":
            for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, shown.strip("\n")
        elif language not in ELSEWHERE.get(page.stem, ()):
            shown = "\n".join(line[2:] for line in lines if line.startswith("# "))
            text = "\n".join(line for line in lines if not line.startswith("# "))
            program = f"python - <<'END'\n{text}\nEND" if language == "python" else f"set -euo pipefail\n{text}"
            yield program, shown


def run(page: Path, folder: Path) -> list[str]:
    """Run a page's commands; return what went wrong."""
    wrong = []
    (folder / "bin").mkdir()
    for name, words in (("python", ""), ("ascendcl", " -m ascendcl")):
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    shutil.copytree(DOCS.parent / "examples", folder / "examples")
    places = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)}
    environment = {**os.environ, **places, "ACL_BACKEND": "sim", "COLUMNS": "80"}
    for command, shown in blocks(page):
        if SETS_UP.search(command):
            continue
        program, shortly = command.split()[0], command.replace("\n", "\n  ")
        if program in DEBUGGERS and shutil.which(program) is None:
            print(f"+ {shortly}: not run, no {program} is installed")
            continue
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, timeout=TIMEOUT, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if program == "gdb" and UNABLE in done.stdout:
            print(f"+ {shortly}: not run, this gdb cannot call functions of a program on this processor")
            continue
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        good = doctest.OutputChecker().check_output(f"{shown}\n", done.stdout, flags) or not shown
        print(f"+ {shortly}: {'ok' if good and done.returncode == 0 else 'differs'}")
        if not good or done.returncode != 0:
            wrong.append(f"{page.name}: {command}: exit code {done.returncode}\n{done.stdout}")
    return wrong


def main() -> int:
    """Run the commands of the named pages, or of all."""
    wrong = []
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(DOCS.glob("*.rst")):
        if any(not SETS_UP.search(command) for command, _ in blocks(page)):
            with tempfile.TemporaryDirectory() as directory:
                folder = Path(shutil.copytree(DOCS / "snippets", Path(directory) / "work"))
                wrong += run(page, folder)
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
