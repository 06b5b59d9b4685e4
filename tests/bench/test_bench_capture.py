"""Captures and replays in C, beside the sketch; and a replay beside the same tasks submitted from Python."""

import time

import pytest
from report import Row

import acl

TASKS = 1000
ROWS = [
    Row("replay_single", "replay of 1,000 light tasks, each", times=2),
    Row("replay_multi", "replay over 4 streams, an edge every 5 tasks, each", times=3, sketch="replay_single"),
    Row("replay_empty", "replay of an empty instance, and synchronize", most=200),
    Row("capture", "recording a task", unit="of a submit", most=2),
]
LOADED = "the replay is compared with a loop of Python, and both vary with what else the machine does"
PYTHON = Row(
    "replay_python",
    "replay of 1,000 light tasks, beside Python's loop",
    unit="of the loop",
    most=0.05,
    limit=LOADED,
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_capture(row, measure_program):
    measure_program("capture", row)


def test_run_beside_python(stream, measure):
    address, ret = acl.rt.malloc(4 * TASKS, 0)
    assert ret == 0
    memset_async, synchronize, execute = acl.rt.memset_async, acl.rt.synchronize_stream, acl.mdl.ri_execute_async

    def submit():
        for place in range(address, address + 4 * TASKS, 4):
            memset_async(place, 4, 1, 4, stream)

    assert acl.mdl.ri_capture_begin(stream, 2) == 0
    submit()
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0

    def sample():
        start = time.perf_counter()
        submit()
        synchronize(stream)
        middle = time.perf_counter()
        execute(instance, stream)
        synchronize(stream)
        return (time.perf_counter() - middle) / (middle - start)

    measure(PYTHON, sample)
    assert acl.mdl.ri_destroy(instance) == 0
    assert acl.rt.free(address) == 0
