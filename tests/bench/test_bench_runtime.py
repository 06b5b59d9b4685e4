"""Streams, events and the engine, through the C ABI: one program a row."""

import pytest
from report import Row

ROWS = (
    Row("mutex", "pthread mutex, the machine's scale"),
    Row("enqueue", "host enqueue: 4-byte set, 20,000 in a row", 40),
    Row("enqueue_burst", "host enqueue, bursts of 50 into an empty queue", 40),
    Row("launch_sync", "launch + synchronise", 120),
    Row("launch_sync_tail", "launch + synchronise, p99.9 of 200,000", rounds=11),
    Row("idle_sync", "synchronise an idle stream", 10),
    Row("record_sync", "event record + synchronise", 120),
    Row("hop", "hop between streams by event, all five calls", 350),
    Row("chain_hop", "hop in a chain of 100"),
    Row("create_destroy", "stream create + destroy, 2,000 alive", 250),
    Row("create_use_destroy", "the same with one task"),
    Row("idle_cpu", "CPU, 66 idle streams", 0.1, "% of a core", rounds=5),
    Row("patrol_busy", "CPU of workers beside launch + synchronise", None, "% of a core", rounds=5),
    Row("patrol_sparse", "the same, one launch per millisecond", None, "% of a core", rounds=5),
)
LIGHT = Row("light_tasks", "no-op task, then one synchronise (20 M/s)", 50)


@pytest.mark.needs_sim
def test_light_tasks(build_twin, measure_program):
    measure_program(build_twin("control", libraries=("ascendcl", "acl_sim")), LIGHT)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_runtime(row, build_twin, measure_program):
    measure_program(build_twin("runtime"), row)
