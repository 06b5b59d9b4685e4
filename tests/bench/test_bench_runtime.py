"""Streams, events and the engine, through the C ABI: the library and the sketch in turn, one program per row."""

import pytest
from report import Row

# Instructions are those that callgrind counts.
CHECKS = "the checks of arguments, handle, context and memory: {} instructions a task, the sketch has {}".format
IDLE = "the sketch is compiled into its program; a call into a library alone takes 2.4 ns of the difference"
CHECKS_OF_NAMES = "the checks of handle and context: 511 instructions a pair, the sketch has 269"
SHARED = "threads that compete for one lock take turns at {mutex} at best; the least sample tells more than the median"
COLD = "each line of memory that is not in the cache takes about 50 ns: the least sample has the lines in the cache"
RUNTIME = (
    Row("enqueue_burst", "submit, in bursts of 50 into an empty queue", times=1.6, limit=CHECKS(264, 188)),
    Row("light_sets", "4-byte sets in a row, final synchronise, each", times=1.3, limit=CHECKS(400, 259)),
    Row("launch_sync", "launch + synchronise", times=1.7),
    Row("launch_sync_tail", "launch + synchronise, p99.9 of 200,000", rounds=11),
    Row("idle_sync", "synchronise an idle stream", times=2, limit=IDLE),
    Row("idle_query", "query an idle stream", times=2),
    Row("record_sync", "event record + synchronise", times=1.8),
    Row("hop", "hop between streams by event, all five calls", times=2),
    Row("chain_hop", "hop in a chain of 100"),
    Row("threads", "4 threads submit to one stream, each task", times=2, limit=SHARED),
    Row("patrol_busy", "CPU of workers beside launch + synchronise", unit="% of a core", rounds=5),
    Row("patrol_sparse", "the same, one launch per millisecond", unit="% of a core", rounds=5),
)
STREAMS = (
    Row("create_destroy", "stream create + destroy, 2,000 alive", times=1.7, limit=CHECKS_OF_NAMES),
    Row("create_use_destroy", "the same with one task"),
    Row("round_robin", "submit, round robin over 2,000 streams", times=2, limit=COLD),
    Row(
        "growth_streams",
        "launch + synchronise: growth from 1 to 2,000 streams",
        unit="x",
        rounds=21,
        times=1.2,
        limit=COLD,
    ),
    Row("idle_cpu", "CPU, 2,000 idle streams", unit="% of a core", rounds=5, most=0.1),
    Row("idle_memory", "memory per idle stream, 2,000 of them", unit="KiB", rounds=5, most=8),
)
CALLBACKS = Row("callbacks", "task + callback that blocks, 1,000 queued, each", rounds=11)
LIGHT = Row("light_tasks", "no-op tasks in a row, final synchronise, each", times=1.3, limit=CHECKS(314, 167))


@pytest.mark.parametrize("row", RUNTIME, ids=lambda row: row.name)
def test_runtime(row, measure_program):
    measure_program("runtime", row)


@pytest.mark.needs_sim
def test_light_tasks(measure_program):
    measure_program("control", LIGHT, libraries=("ascendcl", "acl_sim"))


def test_callbacks(measure_program):
    measure_program("callbacks", CALLBACKS, sketch=False)


@pytest.mark.parametrize("row", STREAMS, ids=lambda row: row.name)
def test_streams(row, measure_program):
    measure_program("streams", row)
