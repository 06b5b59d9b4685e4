"""Measures rows: the samples come from C or from timeit, pytest-benchmark stores and compares them."""

import contextlib
import ctypes
import functools
import json
import os
import subprocess
import sys
import timeit
from pathlib import Path

import pytest
from helpers import programs
from report import LOOPS, Result, text

import acl

TWINS = Path(__file__).parent / "twins"
SHIPPED = Path(acl.__file__).parent / "bench" / "twins"  # what `ascendcl bench` compiles as well
SKETCH = TWINS.parent / "sketch"
# What one unit is in the seconds (or the plain number) that pytest-benchmark is told.
SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "% of a core": 1e-2}
results = []
load_before = os.getloadavg()[0]


class Stopwatch:
    """The clock of pytest-benchmark: it moves by the samples only, so that what is stored is what was measured."""

    time = 0.0

    def read(self):
        return self.time


stopwatch = Stopwatch()


def pytest_collection_modifyitems(items):
    for item in items:
        if "measure" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.benchmark(timer=stopwatch.read))


def pytest_terminal_summary(terminalreporter):
    if results:
        terminalreporter.section("acl bench")
        terminalreporter.write_line(text(results, load_before))


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Give ``build(name, *flags, libraries=...)``, which compiles a file of twins/ once for the same flags."""
    compiler = programs.Compiler(tmp_path_factory.mktemp("twins"))

    @functools.cache
    def compile_twin(name, *flags, libraries=("ascendcl",)):
        # RUNPATH, not RPATH: a toolkit's LD_LIBRARY_PATH comes first, as for the package.
        options = (*flags, "-O2", f"-I{TWINS}", f"-I{SHIPPED}", "-Wl,--enable-new-dtags")
        source = next(path for path in (TWINS / f"{name}.c", SHIPPED / f"{name}.c") if path.exists())
        return compiler(source.read_text(), *options, libraries=libraries)

    return compile_twin


@pytest.fixture(scope="session")
def build_on_sketch(build):
    """Give ``build_on_sketch(name)``, which compiles a file of twins/ against the sketch instead of the library."""
    flags = (f"-I{SKETCH}", "-D_GNU_SOURCE", "-fvisibility=hidden", *map(str, sorted(SKETCH.glob("*.c"))))
    return lambda name: build(name, *flags, libraries=())


@pytest.fixture
def measure(benchmark):
    """Give ``measure(row, sample, beside=None, partner="C")``: functions that return one sample, called in turn."""

    def run(row, sample, beside=None, partner="C"):
        samples, others = [], []

        def one_round():
            if beside is not None:
                others.append(beside())
            samples.append(sample())
            stopwatch.time += samples[-1] * SCALES.get(row.unit, 1.0)

        benchmark.pedantic(one_round, rounds=row.rounds, iterations=1, warmup_rounds=1)
        # The first round is the warm-up.
        result = Result(row, samples[1:], others[1:], partner if others else "")
        benchmark.extra_info.update(unit=row.unit, bar=result.bar(), met=result.met())
        benchmark.extra_info.update(beside=result.partner, samples_beside=result.beside)
        results.append(result)

    return run


@contextlib.contextmanager
def started(*command, **environment):
    """Start a program, and give the function that lets it take one sample of a row: one line for each that it reads."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env={**os.environ, **environment}, **pipes) as program:

        def sample():
            program.stdin.write("\n")
            program.stdin.flush()
            return json.loads(program.stdout.readline())["value"]

        yield sample
    assert program.returncode == 0


@pytest.fixture
def measure_program(measure, build, build_on_sketch):
    """Give ``measure_program(twin, row, sketch=True)``: a row of a program, and of the same program on the sketch."""

    def run(twin, row, libraries=("ascendcl",), sketch=True):
        with contextlib.ExitStack() as stack:
            ours = stack.enter_context(started(build(twin, libraries=libraries), row.name))
            theirs = None
            if sketch:
                theirs = stack.enter_context(started(build_on_sketch(twin), row.sketch or row.name))
            measure(row, ours, theirs, "sketch")

    return run


@pytest.fixture
def measure_peer(measure):
    """Give ``measure_peer(row, side, beside=None, partner="")``: a row of peer.py, and another side and row of it."""
    program = sys.executable, Path(__file__).parent / "peer.py"
    one_thread = {"ACL_SIM_WORKERS": "1", "OMP_NUM_THREADS": "1"}

    def run(row, side, beside=None, partner=""):
        with contextlib.ExitStack() as stack:
            ours = stack.enter_context(started(*program, side, row.name, **one_thread))
            theirs = stack.enter_context(started(*program, *beside, **one_thread)) if beside else None
            measure(row, ours, theirs, partner)

    return run


@pytest.fixture(scope="session")
def library(build):
    """Build the loops in C; each returns a float, and every argument after the count is an address or a size."""
    return build("calls", "-shared", "-fPIC", libraries=("ascendcl", "nnopbase", "opapi"))


@pytest.fixture
def compare(measure, library):
    """Give ``compare(row, statement, names, *arguments)``: Python text beside ``twin_<row>(loops, *arguments)``."""
    twins = ctypes.CDLL(library)

    def run(row, statement, names, *arguments):
        twin = getattr(twins, f"twin_{row.name}")
        twin.restype = ctypes.c_double
        twin.argtypes = [ctypes.c_int, *[ctypes.c_size_t] * len(arguments)]
        ours = timeit.Timer(statement, globals=names)
        empty = min(timeit.repeat("pass", number=LOOPS, repeat=21))
        measure(row, lambda: (ours.timeit(LOOPS) - empty) * 1e9 / LOOPS, lambda: twin(LOOPS, *arguments))

    return run
