"""Fixtures and the three classes of tests: portable (unmarked), ``strict``, ``needs_sim``."""

import contextlib
import functools
import gc
import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest
from helpers import edges, programs
from helpers.capture import SYNC, Words
from helpers.memory import Memory
from helpers.tensors import Device
from helpers.torch_client import torch  # noqa: F401 (a fixture)
from helpers.vectors import Vectors, register

import acl
from acl import layout
from acl._lib import ffi, lib

# Without PyTorch its tests cannot even be imported.
collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_torch_*.py"]
LACKING = r"^acl: (\w+) failed because (?:.* has no such function|it needs CANN .*)$"  # as programs are told
NEWER = r"^(\w+) needs CANN [\w .]+: the opened library has no such function$"  # as users of acl.nn are told
NO_HCCL = r"^[\w.]+: HCCL cannot be used: .*/(libhccl\.so): cannot open"  # as users of acl.Communicator are told


def pytest_report_header():
    """Say where the memory of tensors ends, if ACL_TEST_EDGE puts it beside inaccessible pages."""
    return f"the {edges.EDGE} byte of each tensor touches an inaccessible page" if edges.EDGE else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Run one process more than there are processors: many tests wait, for other processes or a time-out.

    NumPy's products use one thread in each, since threads that wait for work would take the processors.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Let each process of several begin with other modules, so that not all rewrite the assertions of each module."""
    gc.disable()  # nothing that is collected becomes garbage
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    modules = sorted(Path(__file__).parent.glob("test_*.py"))
    for module in modules[int(worker["workerid"][2:]) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # collection will tell
            importlib.import_module(module.stem)


def pytest_collection_modifyitems(items):
    """Skip what the opened library cannot answer for."""
    for item in items:
        if "needs_sim" in item.keywords and acl.backend != "sim":
            item.add_marker(pytest.mark.skip(reason="needs_sim: ACL_BACKEND=npu has no control interface"))
        elif "strict" in item.keywords and not acl.is_simulator:
            item.add_marker(pytest.mark.skip(reason="strict: left undefined by the vendor"))


def pytest_collection_finish():
    """Let collections of garbage pass over the thousands of tests: some tests ask for one."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip a test that failed after it had called what the opened library lacks; without that, nothing is skipped."""
    outcome = yield
    report = outcome.get_result()
    name = lib.acl_backend_absent()
    lacking = [] if name == ffi.NULL else [ffi.string(name).decode()]
    lacking += re.findall(LACKING, "\n".join(programs.said), re.M) + programs.lacked
    for said in (NEWER, NO_HCCL):
        lacking += re.findall(said, str(call.excinfo.value)) if call.excinfo else []
    programs.said.clear()
    programs.lacked.clear()
    if lacking:
        acl.get_recent_err_msg()  # nothing of it is left for the next test
    item.lacking = getattr(item, "lacking", []) + lacking
    if report.failed and item.lacking and acl.backend == "npu":
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"Skipped: this version has no {item.lacking[0]}")


def pytest_sessionfinish():
    """Record which operators the tests of this process called."""
    edges.write_called()


def pytest_terminal_summary(terminalreporter):
    """Count the tests that ran by class."""
    counts = {"portable": 0, "strict": 0, "needs_sim": 0}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            kind = next((name for name in ("needs_sim", "strict") if name in report.keywords), "portable")
            counts[kind] += 1
    terminalreporter.write_line(
        f"backend {acl.backend}: " + ", ".join(f"{count} {name}" for name, count in counts.items())
    )


@pytest.fixture(scope="session")
def toolkit(tmp_path_factory):
    """Lay a toolkit out, once: tests read it only."""
    place = tmp_path_factory.mktemp("toolkit") / "cann"
    layout.write(place)
    return place


@pytest.fixture
def configure():
    """Give ``acl.sim.configure`` on a library that starts anew, and does so again afterwards."""
    acl.sim.reset()
    yield acl.sim.configure
    acl.sim.reset()


@pytest.fixture
def device():
    """Open device 0 for this thread; it is closed at the end, however many references the test took."""
    assert acl.rt.set_device(0) == 0
    yield 0
    acl.rt.reset_device_force(0)


@pytest.fixture
def context(device):
    """Make a context that is current in this thread, beside the default one."""
    context, ret = acl.rt.create_context(device)
    assert ret == 0
    yield context
    acl.rt.destroy_context(context)


@pytest.fixture
def stream(device):
    """Make a stream of the default context of device 0."""
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    yield stream
    acl.rt.destroy_stream_force(stream)


@pytest.fixture(scope="module")
def npu():
    """Open device 0 for the operators of one module: a :class:`helpers.tensors.Device`."""
    device = Device()
    yield device
    device.close()


@pytest.fixture(scope="module")
def peer():
    """Open device 0 for comparisons with PyTorch: a :class:`helpers.torch_peer.Peer`."""
    from helpers.torch_peer import Peer

    device = Device()
    yield Peer(device.stream)
    device.close()


@pytest.fixture
def event(device):
    """Make an event of the plain kind."""
    event, ret = acl.rt.create_event()
    assert ret == 0
    yield event
    acl.rt.destroy_event(event)


@pytest.fixture
def other(stream):
    """Make a second stream of the same context."""
    other, ret = acl.rt.create_stream()
    assert ret == 0
    yield other
    acl.rt.destroy_stream_force(other)


@pytest.fixture
def memory(device):
    """Make blocks that are freed at the end: a :class:`helpers.memory.Memory`."""
    memory = Memory()
    yield memory
    memory.close()


@pytest.fixture
def block(memory):
    """Give ``block(size, policy=0)``, which allocates device memory until the end of the test."""
    return memory.block


@pytest.fixture
def pinned(memory):
    """Give ``pinned(size)``, which allocates pinned host memory until the end of the test, as (address, view)."""
    return memory.pinned


@pytest.fixture
def words(device):
    """Make eight words of device memory."""
    words = Words()
    yield words
    words.close()


@pytest.fixture
def make_event(device):
    """Give ``make_event(kind, flag=0)``, kind ``default``, ``flag`` or ``ex``; the events are destroyed at the end."""
    made = []

    def create(kind, flag=0):
        if kind == "default":
            event, ret = acl.rt.create_event()
        else:
            event, ret = (acl.rt.create_event_with_flag if kind == "flag" else acl.rt.create_event_ex_with_flag)(flag)
        assert ret == 0
        made.append(event)
        return event

    yield create
    for event in made:
        acl.rt.destroy_event(event)


@pytest.fixture
def ex(make_event):
    """Give ``ex()``, which makes events that tie streams together."""
    return functools.partial(make_event, "ex", SYNC)


@pytest.fixture
def streams(device):
    """Give ``streams(count, priority=0, flag=0)``; they are destroyed at the end."""
    made = []

    def create(count, priority=0, flag=0):
        fresh = [acl.rt.create_stream_with_config(priority, flag) for _ in range(count)]
        assert {ret for _, ret in fresh} == {0}
        made.extend(stream for stream, _ in fresh)
        return [stream for stream, _ in fresh]

    yield create
    for stream in made:
        acl.rt.destroy_stream_force(stream)


@pytest.fixture
def clean():
    """Forget kernels, models, memory and what else there is, when the test has ended."""
    yield
    acl.sim.reset()


@pytest.fixture
def raised(monkeypatch):
    """Collect what is raised where nobody can catch it."""
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda failure: seen.append(failure.exc_value))
    return seen


@pytest.fixture
def run_script():
    """Give ``run_script(code, env=None, timeout=60)``, which runs Python code in a fresh process.

    The result is a :class:`subprocess.CompletedProcess` with text output. ``env`` is added to the present environment;
    a value of None removes the name.
    """
    return programs.run_script


@pytest.fixture
def compile_c(tmp_path):
    """Give ``compile_c(source, *flags, cxx=False, libraries=("ascendcl",))``, which returns the built program's path.

    The program finds the backend's headers and libraries by itself; run it with ``subprocess.run([path])``.
    """
    return programs.Compiler(tmp_path)


@pytest.fixture
def vectors(stream):
    """Make the vectors with their kernel in NumPy."""
    register()
    yield Vectors(stream)
    acl.sim.reset()


@pytest.fixture
def opened():
    """Open device 0 by the objects, and close it after a collection of what the test has made.

    The reports of the tests before stay out of that collection: over all of them it would take longer than the test.
    """
    gc.freeze()
    with acl.Device(0) as device:
        yield device
        gc.collect()


@pytest.fixture(autouse=bool(edges.EDGE))
def tensors_end_with_their_test(request):
    """Release the memory beside inaccessible pages after each test: a process may have few such pages."""
    npu = request.getfixturevalue("npu") if "npu" in request.fixturenames else None
    kept = len(npu.ends) if npu else 0
    yield
    if npu:
        npu.release(kept)
