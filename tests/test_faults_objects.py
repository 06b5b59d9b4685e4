"""Objects leave nothing behind, whichever of their calls fails: each test runs once per call that can."""

import numpy
import pytest

import acl

pytestmark = [pytest.mark.needs_sim, pytest.mark.acl_every_fault]


def test_buffers_of_each_kind(device):
    with acl.Buffer(64) as buffer, acl.Buffer(64, kind="managed") as managed, acl.Buffer(64, kind="host") as host:
        buffer.fill(3)
        managed.fill(4)
        buffer.copy_from(managed)
        host.copy_from(buffer)


def test_streams_events_and_callbacks(device):
    with acl.Stream() as stream, acl.Stream(priority=1, stop_on_failure=True) as other, acl.Event() as event:
        stream.record(event)
        other.wait(event)
        with stream.record() as mark:
            other.wait(mark)
        other.call(int)
        other.synchronize()
        stream.synchronize()


def test_a_captured_graph(device):
    with acl.Stream() as stream, acl.Stream() as other, acl.Buffer(64) as buffer:
        with acl.capture(stream) as graph:
            buffer.fill(0, stream=stream)
            other.wait(stream)
            buffer.fill(1, stream=other)
            stream.wait(other)
        with graph:
            graph.run(stream)
            graph.replay(other)


def test_a_memory_pool(device):
    with acl.Stream() as stream, acl.MemoryPool() as pool, pool.allocate(64, stream=stream) as buffer:
        buffer.fill(0, stream=stream)


def test_arrays_and_operators(device):
    array = acl.DeviceArray.from_numpy(numpy.arange(6, dtype="f4").reshape(2, 3))
    with array, acl.nn.mul(array, array) as square, acl.nn.softmax(square, 0) as soft:
        soft.to_numpy()
        array[1:].to_numpy()


def test_a_context(device):
    with acl.Context(), acl.Buffer(64) as buffer:
        buffer.fill(1)
