"""Runs of a model that answers at once: the call beside its C twin, and queued runs with callbacks beside copies."""

import threading
import time

import numpy
import pytest
from helpers.models import Model, initialise, load_bytes
from report import Row

import acl
from acl.sim import om

RUNS = 1000
BLOCK = 1
EXECUTE = Row("execute", "acl.mdl.execute of an identity of 16 bytes")
WAKES = "each callback blocks its stream, and two threads wake each other in {futex_round}"
CALLBACKS = Row(
    "callbacks",
    f"{RUNS:,} runs with a callback each, beside as many copies, each",
    rounds=11,
    most=3000,
    limit=WAKES,
)


@pytest.fixture
def identity(device):
    """Load a model that answers four zeros with four zeros."""
    initialise()
    zeros = numpy.zeros(4, "f4")
    content = acl.sim.recorded("identity", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [([zeros], [zeros])])
    model = Model(load_bytes(content)[0])
    model.inputs.put(0, zeros)
    yield model
    model.close()


def test_execute(identity, compare):  # noqa: F811
    arguments = identity.id, identity.inputs.handle, identity.outputs.handle
    names = {"execute": acl.mdl.execute, "m": arguments[0], "i": arguments[1], "o": arguments[2]}
    compare(EXECUTE, "execute(m, i, o)", names, *arguments)


def test_runs_with_callbacks(identity, stream, measure):
    sides = identity.inputs.addresses[0], identity.outputs.addresses[0]
    arguments = identity.id, identity.inputs.handle, identity.outputs.handle, stream
    context = acl.rt.get_context()[0]
    served, going = [], True

    def serve():
        acl.rt.set_context(context)
        while going:
            acl.rt.process_report(100)

    thread = threading.Thread(target=serve)
    thread.start()
    assert acl.rt.subscribe_report(thread.ident, stream) == 0

    def runs():
        served.clear()
        start = time.perf_counter()
        for number in range(RUNS):
            acl.mdl.execute_async(*arguments)
            acl.rt.launch_callback(served.append, number, BLOCK, stream)
        acl.rt.synchronize_stream(stream)
        elapsed = time.perf_counter() - start
        assert served == list(range(RUNS))
        return elapsed * 1e9 / RUNS

    def copies():
        start = time.perf_counter()
        for _ in range(RUNS):
            acl.rt.memcpy_async(sides[1], 16, sides[0], 16, 3, stream)
        acl.rt.synchronize_stream(stream)
        return (time.perf_counter() - start) * 1e9 / RUNS

    measure(CALLBACKS, runs, copies, "copies")
    going = False
    acl.rt.unsubscribe_report(thread.ident, stream)
    thread.join()
