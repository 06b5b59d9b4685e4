"""Programs that tests start: new Python processes and compiled C."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import acl


def environment(changes=None):
    """Return the current environment with the same backend, and with ``changes`` (None removes a name)."""
    env = {**os.environ, "ACL_BACKEND": acl.backend}
    env.pop("ACL_SIM_CHECK", None)  # tests compare what programs write, which findings would be a part of
    if acl.backend == "npu":
        env.setdefault("ACL_SIM_UNSUPPORTED", "warn")  # report the functions that a program does not find
    for name, value in (changes or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def sanitized():
    """Return whether a sanitizer reserves addresses, in this process and in the programs of a test."""
    return re.search("lib[at]san", Path("/proc/self/maps").read_text()) is not None


said = []  # what the programs of a test wrote to stderr
lacked = []  # the functions that other processes of a test called and the opened library lacks


def run(command, **options):
    """Run a program with the same backend and return the completed process, output as text."""
    options = {"env": environment(), "timeout": 60, "stderr": subprocess.PIPE, **options}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    said.append(done.stderr or done.stdout)
    return done


def run_script(code, env=None, timeout=60):
    """Run Python code in a fresh process and return the completed process, output as text."""
    return run([sys.executable, "-X", "faulthandler", "-c", code], env=environment(env), timeout=timeout)


class Compiler:
    """Compile C or C++ text against the installed headers and libraries."""

    def __init__(self, directory, compiler=None):
        self.directory = directory
        self.compiler = compiler  # by name; None: GCC's, otherwise Clang's
        self.count = 0

    def __call__(self, source, *flags, cxx=False, libraries=("ascendcl",)):
        """Build ``source`` and return the program's path; the test is skipped without a compiler."""
        names = [self.compiler] if self.compiler else ["g++", "clang++"] if cxx else ["gcc", "clang"]
        compiler = next(filter(None, map(shutil.which, names)), None)
        if compiler is None:
            pytest.skip("no C compiler")
        self.count += 1
        text = self.directory / f"program{self.count}.{'cpp' if cxx else 'c'}"
        text.write_text(source)
        program = text.with_suffix("")
        command = [compiler, "-std=c++17" if cxx else "-std=gnu11", "-Wall", "-Wextra", *flags]
        command += [f"-I{acl.get_include()}", str(text), "-o", str(program), "-pthread"]
        command += [f"-L{acl.get_lib()}", f"-Wl,-rpath,{acl.get_lib()}", *(f"-l{name}" for name in libraries)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        return str(program)
