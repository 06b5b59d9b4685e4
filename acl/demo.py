"""Run the examples, each as its own process, and compare what they print with what is expected."""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import acl
from acl import _lib

TIMEOUT = 60
SIMULATED = ("p4_", "p5_", "p6_")  # their model or kernel runs only on the simulator
KERNEL = "vector_add.o"


def examples():
    """Return the directory of the examples: in the source tree, or shipped with the package."""
    places = (os.path.join(os.path.dirname(_lib.HOME), "examples"), os.path.join(_lib.HOME, "examples"))
    return next((place for place in places if os.path.isdir(os.path.join(place, "expected"))), None)


def normal(text):
    """Return text without the parts that differ between executions: hexadecimal addresses and handles, and times."""
    text = re.sub(r"\b0x[0-9a-fA-F]+", "0x", text)
    return re.sub(r"\b\d+(\.\d+)?(?= ?(s|ms|us|ns)\b)", "#", text)


def title(name):
    """Return ``P1 resources (pyACL)`` for ``p1_resources.py``."""
    stem, kind = os.path.splitext(name)
    form = {".py": "pyACL", ".c": "C"}[kind]
    if stem.endswith("_objects"):
        stem, form = stem[: -len("_objects")], "objects"
    number, _, what = stem.partition("_")
    return f"{number.upper()} {what.replace('_', ' ')} ({form})"


def expected_of(place, name):
    """Return the file with the expected output of an example: its own, or that of all forms of the example."""
    stem = os.path.splitext(name)[0]
    own = os.path.join(place, "expected", f"{stem}.txt")
    return own if os.path.exists(own) else os.path.join(place, "expected", f"{stem.replace('_objects', '')}.txt")


def command_of(path, directory):
    """Return the command that runs an example, which is compiled first if it is in C; None without a compiler."""
    if path.endswith(".py"):
        return [sys.executable, path]
    compiler = shutil.which(os.environ.get("CC") or "gcc") or shutil.which("clang")
    if compiler is None:
        return None
    place, name = os.path.split(path)
    program = os.path.join(directory, name[:-2])
    extra = [build_kernel(place, directory, compiler)] if name.startswith("p6_") else []
    subprocess.run([compiler, "-O1", path, *extra, "-o", program, *options()], check=True)
    return [program]


def options():
    """Return the compiler's options for the backend's headers and libraries."""
    libraries = acl.get_lib() if _lib.toolkit is None else os.path.join(_lib.toolkit, "lib64")
    names = ["-lascendcl", "-lnnopbase", "-lopapi", "-ldl", "-pthread"]
    return [f"-I{acl.get_include()}", f"-L{libraries}", f"-Wl,-rpath,{libraries}", *names]


def build_kernel(place, directory, compiler):
    """Build the library that the example of a custom kernel loads; return its path."""
    library = os.path.join(directory, KERNEL)
    source = os.path.join(place, "vector_add.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", source, "-o", library, *options()], check=True)
    return library


def write_model(place, directory):
    """Write the model file that the inference examples in C open."""
    subprocess.run([sys.executable, os.path.join(place, "classifier.py")], cwd=directory)


def run_one(path, expected, directory):
    """Run one example; return whether its output is the expected one."""
    print(f"== {title(os.path.basename(path))}", flush=True)
    try:
        command = command_of(path, directory)
        if command is None:
            print("not run: no C compiler\n")
            return True
        start = time.perf_counter()
        done = subprocess.run(
            command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"failed: {error}\n")
        return False
    print(done.stdout, end="")
    with open(expected, encoding="utf-8") as text:
        wanted = normal(text.read()).splitlines()
    got = normal(done.stdout).splitlines()
    if got != wanted or done.returncode != 0:
        print("\n".join(difflib.unified_diff(wanted, got, "expected", "printed", lineterm="")))
        print(f"differs, exit code {done.returncode}\n")
        return False
    print(f"ok {time.perf_counter() - start:.1f} s\n")
    return True


def run():
    """Run all examples; return 1 when one differs."""
    place = examples()
    if place is None:
        print("acl: this installation has no examples", file=sys.stderr)
        return 1
    os.environ["ACL_BACKEND"] = acl.backend
    good = True
    with tempfile.TemporaryDirectory() as directory:
        write_model(place, directory)
        for name in sorted(os.listdir(place)):
            expected = expected_of(place, name)
            if name.startswith(SIMULATED) and not acl.is_simulator:
                continue
            if name.endswith((".py", ".c")) and os.path.exists(expected):
                good = run_one(os.path.join(place, name), expected, directory) and good
    print(f"backend {acl.backend}, SoC {acl.get_soc_name()}; next: python -m acl info")
    return 0 if good else 1
