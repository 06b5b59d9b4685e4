"""Programs of other projects: a virtual environment with only their packages, a toolkit, and code run in both."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from acl import layout

SNIPPETS = Path(__file__).resolve().parents[2] / "docs" / "snippets"  # programs that the documentation shows
PYTHON = "python3.11"  # the one version that all clients have wheels for


class Client:
    """Packages from the index in a separate virtual environment, run against a toolkit."""

    def __init__(self, directory, *packages):
        self.directory = directory  # where programs run
        self.toolkit = directory / "cann"
        layout.write(self.toolkit)
        self.python = directory / "venv" / "bin" / "python"
        found = interpreter()
        if found is None:
            pytest.skip(f"not run: no {PYTHON}")
        subprocess.run([found, "-m", "venv", directory / "venv"], check=True)
        install = [self.python, "-m", "pip", "install", "-q", "--only-binary", ":all:", *packages]
        done = subprocess.run(install, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400)
        if "No matching distribution found" in done.stdout:
            pytest.skip(f"not run: the index has no wheels of {' '.join(packages)}")
        assert done.returncode == 0, done.stdout

    def run(self, code, timeout=120, **variables):
        """Run Python code as a user of the client does: of this package, only the toolkit is on its path."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASCEND", "ACL_", "LD_", "PYTHON", "TORCH"))
        }
        script = f'. "{self.toolkit}/set_env.sh" && exec "$0" -X faulthandler -c "$1"'
        done = subprocess.run(
            ["bash", "-euc", script, self.python, code],
            env={**kept, **variables},
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
        return done.stdout


def interpreter():
    """Return the interpreter that clients run in, or None."""
    candidates = [shutil.which(PYTHON), *sorted(Path.home().glob(".pyenv/versions/3.11.*/bin/python"))]
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-V"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.stdout.startswith("Python 3.11."):
            return str(candidate)
    return None
