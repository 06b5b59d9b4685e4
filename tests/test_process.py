"""The process around the runtime: exit with work left, forks at bad moments, threads that end, signals.

Ctrl-C and the exit and fork of plain programs are in test_binding.py.
"""

import subprocess
import sys

import pytest
from helpers.programs import environment

OPEN = """
import os, threading, acl
assert acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
event, ret = acl.rt.create_event()
"""
CHILD_IS_FRESH = """
def child_is_fresh():
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert acl.rt.synchronize_stream(stream) == 107017
            assert acl.rt.synchronize_event(event) == 107017
            assert acl.rt.set_context(context) == 107000
            assert acl.rt.get_device()[1] == 107002
            assert acl.rt.reset_device(0) == 507007
            assert acl.rt.set_device(0) == 0
            own, ret = acl.rt.create_stream()
            assert ret == 0
            memory, ret = acl.rt.malloc(4096, 2)
            assert ret == 0
            assert acl.rt.memset_async(memory, 4096, 7, 4096, own) == 0
            assert acl.rt.synchronize_stream(own) == 0
            assert acl.rt.reset_device(0) == 0
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
context, ret = acl.rt.get_context()
"""


def ends_well(run_script, code, **env):
    # Newer Pythons warn of every fork of a process with threads, which is what is tested here.
    done = run_script(code, {"PYTHONWARNINGS": "ignore::DeprecationWarning", **env})
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@pytest.mark.needs_sim
@pytest.mark.parametrize("schedule", ["parallel", "eager"])
def test_exit_with_work_that_never_ends(run_script, schedule):
    code = f"""{OPEN}
other, ret = acl.rt.create_stream()
acl.sim.hold(stream)
assert acl.rt.record_event(event, stream) == 0
assert acl.rt.stream_wait_event(other, event) == 0
"""
    ends_well(run_script, code, ACL_SIM_SCHEDULE=schedule)


@pytest.mark.needs_sim
def test_exit_while_threads_wait(run_script):
    code = f"""{OPEN}
acl.sim.hold(stream)
context, ret = acl.rt.get_context()
ready = threading.Barrier(5)

def wait():
    acl.rt.set_context(context)
    ready.wait()
    acl.rt.synchronize_stream(stream)

for _ in range(4):
    threading.Thread(target=wait, daemon=True).start()
ready.wait()
"""
    ends_well(run_script, code)


@pytest.mark.needs_sim
def test_fork_with_work_queued(run_script):
    code = f"""{OPEN}{CHILD_IS_FRESH}
acl.sim.hold(stream)
assert acl.rt.record_event(event, stream) == 0
assert child_is_fresh()
acl.sim.release(stream)
assert acl.rt.synchronize_event(event) == 0
assert acl.rt.synchronize_stream(stream) == 0
"""
    ends_well(run_script, code)


@pytest.mark.strict
def test_fork_while_other_threads_are_in_the_library(run_script):
    code = f"""{OPEN}{CHILD_IS_FRESH}
stop = threading.Event()

def load():
    acl.rt.set_context(context)
    while not stop.is_set():
        own, ret = acl.rt.create_stream()
        assert acl.rt.record_event(event, own) == 0
        memory, ret = acl.rt.malloc(4096, 2)
        assert acl.rt.memset_async(memory, 4096, 7, 4096, own) == 0
        acl.rt.set_device(-1)
        assert acl.rt.synchronize_stream(own) == 0
        assert acl.rt.free(memory) == 0
        assert acl.rt.destroy_stream(own) == 0

threads = [threading.Thread(target=load) for _ in range(3)]
for thread in threads:
    thread.start()
fresh = [child_is_fresh() for _ in range(20)]
stop.set()
for thread in threads:
    thread.join()
assert all(fresh)
assert acl.rt.synchronize_device() == 0
"""
    ends_well(run_script, code)


@pytest.mark.strict
def test_fork_of_a_fork(run_script):
    code = f"""{OPEN}{CHILD_IS_FRESH}
first = os.fork()
if first == 0:
    acl.rt.set_device(0)
    stream, ret = acl.rt.create_stream()
    event, ret = acl.rt.create_event()
    context, ret = acl.rt.get_context()
    os._exit(0 if child_is_fresh() and acl.rt.synchronize_stream(stream) == 0 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == 0
assert acl.rt.synchronize_stream(stream) == 0
"""
    ends_well(run_script, code)


def test_fork_before_the_first_device(run_script):
    code = """
import acl, os
assert acl.init() == 0
child = os.fork()
assert acl.rt.set_device(0) == 0
assert acl.rt.create_stream()[1] == 0
assert acl.rt.reset_device(0) == 0
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    ends_well(run_script, code)


def test_multiprocessing_spawn(run_script, tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        """
import multiprocessing
import acl

def work(number):
    assert acl.rt.set_device(0) == 0
    memory, ret = acl.rt.malloc(1024, 2)
    assert ret == 0
    assert acl.rt.memset(memory, 1024, number, 1024) == 0
    assert acl.rt.reset_device(0) == 0
    return number

if __name__ == "__main__":
    assert acl.rt.set_device(0) == 0
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(work, range(4)) == [0, 1, 2, 3]
    assert acl.rt.reset_device(0) == 0
"""
    )
    done = subprocess.run([sys.executable, str(script)], env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_threads_that_end_leave_nothing_behind(run_script):
    code = f"""{OPEN}
def work():
    assert acl.rt.set_device(0) == 0
    assert acl.rt.set_device(-1) == 107001
    assert acl.rt.record_event(event, stream) == 0

def resident():
    with open("/proc/self/statm") as text:
        return int(text.read().split()[1]) * 4096

def many():
    for _ in range(1000):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

many()
before = resident()
many()
assert resident() - before < 4 << 20, resident() - before
assert acl.rt.synchronize_stream(stream) == 0
"""
    ends_well(run_script, code)


@pytest.mark.strict
def test_workers_take_no_signals(run_script):
    """A signal to the process reaches Python's handler, not a thread of the library."""
    code = f"""{OPEN}
import signal
seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(threading.current_thread() is threading.main_thread()))
for round in range(200):
    assert acl.rt.record_event(event, stream) == 0
    os.kill(os.getpid(), signal.SIGUSR1)
    assert acl.rt.synchronize_stream(stream) == 0
assert seen == [True] * 200, seen
for task in os.listdir("/proc/self/task"):
    if int(task) != os.getpid():
        with open(f"/proc/self/task/{{task}}/status") as text:
            blocked = next(line for line in text if line.startswith("SigBlk"))
        assert int(blocked.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1, blocked
"""
    ends_well(run_script, code)


@pytest.mark.needs_sim
def test_a_child_that_only_executes_another_program(run_script):
    code = f"""{OPEN}
import subprocess, sys
acl.sim.hold(stream)
assert subprocess.run([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE).stdout == b"1\\n"
acl.sim.release(stream)
assert acl.rt.synchronize_stream(stream) == 0
"""
    ends_well(run_script, code)
