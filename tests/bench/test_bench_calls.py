"""Calls from Python beside the same calls from C, in turn, in one process and thread."""

import ctypes
import subprocess
import sys
import timeit

from report import LOOPS, Row

import acl

BLOCK = 4096
PLAIN, OUTPUT = 15, 35  # what a call may cost above its twin: with a status only, with an output
# Why such a call may be above its bar; these are notes under the table.
STATUS = "a builtin of an extension that only converts two integers takes {status}"
VALUE = "a builtin of an extension that only converts two integers and returns an output takes {output}"

START = "the interpreter alone, without site-packages, starts and ends in {interpreter}"
IMPORT = Row("import", "import acl, NumPy imported before", unit="ms", rounds=21, most=12, limit=START)


def test_interpreter(measure, library):
    row = Row("release", "interpreter: releasing the GIL, its scale")
    calls = [timeit.Timer("f()", globals={"f": load(library).twin_nothing}) for load in (ctypes.CDLL, ctypes.PyDLL)]

    def sample():
        releasing, keeping = (min(call.repeat(10, LOOPS // 10)) for call in calls)
        return (releasing - keeping) * 1e10 / LOOPS

    measure(row, sample)


def test_get_device(device, compare):
    row = Row("get_device", "acl.rt.get_device() -> 2", OUTPUT, limit=VALUE)
    compare(row, "get_device()", {"get_device": acl.rt.get_device})


def test_malloc_free(device, compare):
    row = Row("malloc_free", "acl.rt.malloc(4096, 0) -> 2, acl.rt.free(p)", OUTPUT + PLAIN, limit=f"{VALUE}; {STATUS}")
    names = {"malloc": acl.rt.malloc, "free": acl.rt.free}
    compare(row, f"p, ret = malloc({BLOCK}, 0); free(p)", names, BLOCK)


def test_memcpy(device, compare):
    row = Row("memcpy", "acl.rt.memcpy, 4 bytes to the device", PLAIN, limit=f"it has five arguments; {STATUS}")
    target, ret = acl.rt.malloc(BLOCK, 0)
    assert ret == 0
    source, ret = acl.rt.malloc_host(BLOCK)
    assert ret == 0
    names = {"memcpy": acl.rt.memcpy, "d": target, "s": source}
    compare(row, "memcpy(d, 4, s, 4, 1)", names, target, source, 4, 1)
    acl.rt.free(target)
    acl.rt.free_host(source)


def test_record_event(stream, compare):
    row = Row("record_event", "acl.rt.record_event(event, stream)", PLAIN, limit=STATUS)
    event, ret = acl.rt.create_event()
    assert ret == 0
    compare(row, "record(e, s)", {"record": acl.rt.record_event, "e": event, "s": stream}, event, stream)
    assert acl.rt.synchronize_stream(stream) == 0
    acl.rt.destroy_event(event)


def test_synchronize_stream(stream, compare):
    row = Row("synchronize_stream", "acl.rt.synchronize_stream(stream), idle", PLAIN, limit=STATUS)
    compare(row, "synchronize(s)", {"synchronize": acl.rt.synchronize_stream, "s": stream}, stream)


def test_import(measure):
    code = "import time, numpy; start = time.perf_counter(); import acl; print(time.perf_counter() - start)"

    def sample():
        return float(subprocess.check_output([sys.executable, "-c", code])) * 1e3

    measure(IMPORT, sample)
