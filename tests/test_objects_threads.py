"""The objects in many threads at once, which share arrays, a model and an event."""

import random
import threading

import numpy
import pytest
from helpers.objects import fresh_stream

import acl
from acl.sim import om

pytestmark = [pytest.mark.usefixtures("opened"), pytest.mark.needs_sim]
stream = fresh_stream
THREADS, ROUNDS = 8, 250
NUMBERS = numpy.arange(16, dtype="f4").reshape(4, 4)
ROW = numpy.arange(4, dtype="f4")


class Worker:
    """What one thread does with what all share, and with a stream and an array of its own."""

    def __init__(self, array, model, event):
        self.array, self.model, self.event = array, model, event
        self.stream, self.own = acl.Stream(), acl.DeviceArray((4, 4))

    def make_an_event(self):
        acl.Event().close()

    def compute_at_once(self):
        acl.nn.add(self.array, self.array, out=self.own)
        assert (self.own.to_numpy() == 2 * NUMBERS).all()

    def compute_something_new(self):
        assert (acl.nn.mul(self.array, self.array).to_numpy() == NUMBERS**2).all()

    def compute_on_the_stream(self):
        acl.nn.sub(self.array, self.array, out=self.own, stream=self.stream)
        assert not self.own.to_numpy().any()

    def record(self):
        self.stream.record(self.event)
        with self.stream.record() as event:
            event.synchronize()

    def infer(self):
        assert (self.model(ROW) == ROW).all()

    def infer_later(self):
        assert (self.model.submit(ROW).result() == ROW).all()

    def capture(self):
        with acl.capture(self.stream, "thread_local") as graph:
            acl.nn.add(self.array, self.array, out=self.own, stream=self.stream)
        with graph:
            graph.replay(self.stream)
            assert (self.own.to_numpy() == 2 * NUMBERS).all()

    def drop_what_is_used(self):
        buffer = acl.Buffer(4096)
        buffer.fill(1, stream=self.stream)
        buffer.close()

    def read_a_part(self):
        assert (self.array[1:, ::2].to_numpy() == NUMBERS[1:, ::2]).all()


ACTIONS = [action for name, action in vars(Worker).items() if not name.startswith("_")]


def test_threads_share_objects(opened):
    pair = [ROW], [ROW]
    content = acl.sim.recorded("row", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [pair])
    failed = []

    def work(number, shared):
        try:
            opened.use()
            chosen, worker = random.Random(number), Worker(*shared)
            for _ in range(ROUNDS):
                chosen.choice(ACTIONS)(worker)
            worker.stream.close()
        except BaseException as error:
            failed.append(error)
            raise

    with acl.Model(content) as model, acl.Event() as event, acl.DeviceArray.from_numpy(NUMBERS) as array:
        threads = [threading.Thread(target=work, args=(i, (array, model, event))) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_threads_that_share_a_fresh_buffer_find_one_block():
    together = threading.Barrier(4)

    def use(buffer, found):
        together.wait()
        found.append(buffer._block)

    for _ in range(50):
        found = []
        with acl.Buffer(64) as buffer:
            threads = [threading.Thread(target=use, args=(buffer, found)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(found) == 4 and len(set(map(id, found))) == 1


def test_a_use_that_is_told_of_while_another_thread_waits_is_kept(stream, monkeypatch):
    """The other thread forgets what it has waited for, and no more."""
    array = acl.DeviceArray.zeros(4)
    array.fill(1, stream=stream)
    block, synchronize = array._block, acl.Stream.synchronize

    def meanwhile(self, timeout=None):
        synchronize(self, timeout)
        array.fill(2, stream=self)  # as from another thread

    monkeypatch.setattr(acl.Stream, "synchronize", meanwhile)
    block.settle()
    monkeypatch.undo()
    assert list(block.uses) == [stream.handle]
    assert array.to_numpy().tolist() == [2] * 4
    assert not block.uses


def test_a_replay_that_is_queued_while_another_thread_waits_is_kept(stream, monkeypatch):
    array, synchronize = acl.DeviceArray.zeros(4), acl.Stream.synchronize
    with acl.capture(stream) as graph:
        array.fill(1, stream=stream)
    with graph:
        graph.replay(stream)

        def meanwhile(self, timeout=None):
            synchronize(self, timeout)
            graph.replay(self)

        monkeypatch.setattr(acl.Stream, "synchronize", meanwhile)
        array._block.settle()
        monkeypatch.undo()
        assert list(array._block.uses) == [graph.handle]
        assert list(graph._replays._streams) == [stream.handle]
        array.to_numpy()
        assert not array._block.uses and not graph._replays._streams


def test_work_of_others_comes_after_the_replays_of_a_graph(stream):
    """A consumer of DLPack, and a model that is given an array by which a graph works."""
    pair = [ROW], [ROW]
    content = acl.sim.recorded("row", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [pair])
    source, array = acl.DeviceArray.from_numpy(ROW), acl.DeviceArray.zeros(4)
    with acl.capture(stream) as graph:
        array.copy_from(source, stream=stream)
    with graph, acl.Model(content) as model, acl.Stream() as other:
        graph.replay(stream)
        assert (model.submit(array).result().to_numpy() == ROW).all()
        graph.replay(stream)
        array.__dlpack__(stream=other.handle)
        assert {graph.handle, other.handle} <= set(array._block.uses)
        other.synchronize()
