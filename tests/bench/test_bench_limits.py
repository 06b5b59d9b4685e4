"""The limits of the machine: what no library can be faster than."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import sysconfig
import time
import timeit

import pytest
from report import LOOPS, Row

ROWS = (
    Row("clock", "limit: clock_gettime"),
    Row("exchange", "limit: atomic exchange"),
    Row("mutex", "limit: pthread mutex, lock + unlock"),
    Row("futex_wake", "limit: futex wake without a sleeper"),
    Row("futex_round", "limit: two threads wake each other, a round", unit="us"),
    Row("host_copy", "limit: memcpy of 64 MiB", unit="ms", rounds=21),
)
CALLS = {
    "status": ("limit: call of an extension, 2 arguments, status", "status(1099511627776, 2)"),
    "output": ("limit: the same with an output", "value, ret = output(1099511627776, 2)"),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_machine(row, measure_program):
    measure_program("limits", row, libraries=(), sketch=False)


def test_interpreter_alone(measure):
    def sample():
        start = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
        return (time.perf_counter() - start) * 1e3

    measure(Row("interpreter", "limit: start and end of the interpreter", unit="ms", rounds=21), sample)


@pytest.fixture(scope="module")
def extension(build):
    path = build("extension", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", libraries=())
    loader = importlib.machinery.ExtensionFileLoader("extension", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("extension", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CALLS)
def test_extension(name, extension, measure):
    label, statement = CALLS[name]
    calls = timeit.Timer(statement, globals=vars(extension))
    empty = min(timeit.repeat("pass", number=LOOPS, repeat=21))
    measure(Row(name, label), lambda: (calls.timeit(LOOPS) - empty) * 1e9 / LOOPS)
