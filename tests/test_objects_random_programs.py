"""Random programs on several streams, some of them held, against the same steps in NumPy: nothing is lost or early."""

import gc
import inspect
import random

import numpy
import pytest
from helpers.objects import free_memory

import acl

pytestmark = [pytest.mark.needs_sim, pytest.mark.usefixtures("opened")]
COUNT, STEPS = 64, 400


class Cell:
    """An array, what it should hold, and the streams that have used it."""

    def __init__(self, array, host, *streams):
        self.array, self.host, self.streams = array, host, set(streams)


class Program:
    """The state, and one method a step; each takes a stream and two different cells."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.streams = [acl.Stream() for _ in range(3)]
        self.pool = acl.MemoryPool()
        self.cells, self.graphs, self.held = [], [], set()
        self.steps = [step for name, step in inspect.getmembers(self, inspect.ismethod) if name.startswith("do_")]
        for _ in range(4):
            self.do_make(self.streams[0], None, None)

    def order(self, stream, *cells):
        """Let a stream come after the others that have used some cells, which is a program's to do."""
        for cell in cells:
            for other in cell.streams - {stream}:
                stream.wait(other)
            cell.streams.add(stream)

    def release(self):
        for stream in self.held:
            acl.sim.release(stream.handle)
        self.held.clear()

    def add(self, array, host, stream):
        self.cells.append(Cell(array, host, stream))

    def do_make(self, stream, _one, _other):
        self.release()  # ordinary memory of the host is copied at once
        host = numpy.full(COUNT, self.rng.randrange(100), "f4")
        self.add(acl.DeviceArray.from_numpy(host, stream=stream), host, stream)

    def do_make_in_pool(self, stream, one, _other):
        array = acl.DeviceArray.from_buffer(self.pool.allocate(4 * COUNT, stream=stream), COUNT)
        self.order(stream, one)
        array.copy_from(one.array, stream=stream)
        self.add(array, one.host.copy(), stream)

    def do_hold(self, stream, _one, _other):
        if stream not in self.held:
            acl.sim.hold(stream.handle)
            self.held.add(stream)

    def do_release(self, stream, _one, _other):
        self.release()

    def do_fill(self, stream, one, _other):
        self.order(stream, one)
        one.array.fill(0, stream=stream)
        one.host[:] = 0

    def do_copy(self, stream, one, other):
        self.order(stream, one, other)
        one.array[::2].copy_from(other.array[1::2], stream=stream)
        one.host[::2] = other.host[1::2]

    def do_copy_turned(self, stream, one, _other):
        self.order(stream, one)
        turned = one.array.reshape(8, 8).T.copy(stream=stream)
        self.add(turned.reshape(COUNT), one.host.reshape(8, 8).T.ravel(), stream)

    def do_copy_through_the_host(self, stream, one, _other):
        self.order(stream, one)
        array, host = acl.DeviceArray(COUNT), acl.Buffer(4 * COUNT, kind="host")
        one.array.copy_to(host, stream=stream)
        array.copy_from(host, stream=stream)
        host.close()  # while it is in use
        self.add(array, one.host.copy(), stream)

    def do_operator(self, stream, one, other):
        self.order(stream, one, other)
        self.add(acl.nn.maximum(one.array, other.array, stream=stream), numpy.maximum(one.host, other.host), stream)

    def do_capture(self, stream, one, other):
        with acl.capture(stream, "relaxed") as graph:
            acl.nn.maximum(one.array, other.array, out=one.array, stream=stream)
        self.graphs.append((graph, one, other))

    def do_replay(self, stream, _one, _other):
        if self.graphs:
            graph, one, other = self.rng.choice(self.graphs)
            self.order(stream, one, other)
            graph.replay(stream)
            one.host[:] = numpy.maximum(one.host, other.host)

    def do_drop_graph(self, stream, _one, _other):
        self.release()  # a graph waits for its replays
        if self.graphs:
            self.graphs.pop(self.rng.randrange(len(self.graphs)))[0].close()

    def do_assign(self, stream, one, _other):
        self.release()
        one.array[5:9] = one.host[5:9] = 7

    def do_read(self, stream, one, _other):
        self.release()
        assert numpy.array_equal(one.array[::-3].to_numpy(), one.host[::-3])

    def do_drop(self, stream, one, _other):
        if len(self.cells) > 4:
            self.cells.remove(one)
            if self.rng.random() < 0.5 and all(one not in known for known in self.graphs):
                one.array.close()

    def run(self):
        for _ in range(STEPS):
            one, other = self.rng.sample(self.cells, 2)
            self.rng.choice(self.steps)(self.rng.choice(self.streams), one, other)
        self.release()
        for cell in self.cells:
            assert numpy.array_equal(cell.array.to_numpy(), cell.host)

    def close(self):
        self.release()
        for graph, _, _ in self.graphs:
            graph.close()
        self.graphs.clear()
        self.cells.clear()
        for one in (*self.streams, self.pool):
            one.close()


@pytest.mark.parametrize("seed", range(8))
def test_arrays_hold_what_numpy_says(seed):
    before = free_memory()
    program = Program(seed)
    try:
        program.run()
    finally:
        program.close()
    gc.collect()
    acl.Buffer(1).close()  # takes back what the streams were still using
    assert free_memory() == before
