"""Measures rows: the samples come from C or from timeit, pytest-benchmark stores and compares them."""

import ctypes
import json
import os
import subprocess
import timeit
from pathlib import Path

import pytest
from helpers import programs
from report import LOOPS, Result, text

TWINS = Path(__file__).parent / "twins"
# What one unit is in the seconds (or the plain number) that pytest-benchmark is told.
SCALES = {"ns": 1e-9, "ms": 1e-3, "% of a core": 1e-2, "of memcpy": 1.0, "of a submit": 1.0, "of the loop": 1.0}
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
def build_twin(tmp_path_factory):
    """Give ``build_twin(name, *flags, libraries=...)``, which compiles a file of twins/ once."""
    compiler = programs.Compiler(tmp_path_factory.mktemp("twins"))
    built = {}

    def build(name, *flags, libraries=("ascendcl",)):
        if name not in built:
            source = (TWINS / f"{name}.c").read_text()
            # RUNPATH, not RPATH: a toolkit's LD_LIBRARY_PATH comes first, as for the package.
            options = ("-O2", f"-I{TWINS}", "-Wl,--enable-new-dtags", *flags)
            built[name] = compiler(source, *options, libraries=libraries)
        return built[name]

    return build


@pytest.fixture
def measure(benchmark):
    """Give ``measure(row, sample, twin=None)``: functions without arguments, timed in turn, that answer one sample."""

    def run(row, sample, twin=None):
        samples, twins = [], []

        def one_round():
            if twin is not None:
                twins.append(twin())
            samples.append(sample())
            stopwatch.time += samples[-1] * SCALES[row.unit]

        benchmark.pedantic(one_round, rounds=row.rounds, iterations=1, warmup_rounds=1)
        result = Result(row, samples[1:], twins[1:])  # the first is the warm-up
        benchmark.extra_info.update(unit=row.unit, target=row.target, met=result.met(), twin=result.twin)
        results.append(result)

    return run


@pytest.fixture
def measure_program(measure):
    """Give ``measure_program(path, row)``, which lets a twin program measure one of its rows."""

    def run(path, row):
        command = [path, row.name, str(row.rounds + 1)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            measure(row, lambda: json.loads(program.stdout.readline())["value"])
        assert program.returncode == 0

    return run


@pytest.fixture(scope="session")
def library(build_twin):
    """Build the loops in C; a float is their answer, every argument after the count is an address or a size."""
    return build_twin("calls", "-shared", "-fPIC", libraries=("ascendcl", "nnopbase", "opapi"))


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
