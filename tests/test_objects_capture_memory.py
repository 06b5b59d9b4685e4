"""Graphs and memory: what a graph holds, what waits for its replays, what a capture has no part in."""

import gc
import threading

import pytest
from helpers.expect import in_thread
from helpers.objects import LARGE, filled, free_memory, fresh_bytes, fresh_stream, held, raises

import acl
from acl.objects import memory_block
from acl.objects.resource import retired

pytestmark = pytest.mark.usefixtures("opened")
stream = other = fresh_stream
array = fresh_bytes


class Gate:
    """Holds a stream by a callback until :meth:`open`, which comes from another thread soon."""

    def __init__(self, stream):
        self.event = threading.Event()
        stream.call(self.event.wait)

    def open_soon(self):
        threading.Timer(0, self.event.set).start()


# --- What a graph holds, what waits for its replays


def test_a_graph_holds_what_it_works_on(stream):
    before = free_memory()
    array = acl.DeviceArray(LARGE, "u1")
    with acl.DeviceArray(4, "u1") as seen:
        with acl.capture(stream) as graph:
            array.fill(6, stream=stream)
            seen.copy_from(array[:4], stream=stream)
        del array
        gc.collect()
        assert free_memory() < before
        graph.run(stream)
        assert seen.to_numpy().tolist() == [6] * 4
        graph.close()
    assert free_memory() == before and not retired


@pytest.mark.parametrize("where", ["here", "a thread", "another context"])
def test_a_graph_is_closed_anywhere(where, stream):
    before = free_memory()
    array = acl.DeviceArray(LARGE, "u1")
    graph = filled(stream, array)
    array.close()
    if where == "here":
        graph.close()
    elif where == "a thread":
        in_thread(graph.close)
    else:
        with acl.Context():
            graph.close()
    graph.close()
    assert free_memory() == before


@pytest.mark.parametrize("streams", [1, 2])
def test_reading_waits_for_replays(streams, stream, other, array):
    """Also when a part of them was waited for before, and after another replay."""
    with filled(stream, array, 1) as graph, acl.DeviceArray.zeros(4, "u1") as second:
        with acl.capture(stream) as copy:
            second.copy_from(array, stream=stream)
        for value in (2, 3, 4):
            array.fill(value)
            gates = [Gate(each) for each in (stream, other)[:streams]]
            if streams == 2:
                copy.replay(stream)
                other.wait(stream)
                graph.replay(other)
            else:
                graph.replay(stream)
                copy.replay(stream)
            for gate in gates:
                gate.open_soon()
            assert array.to_numpy().tolist() == [1] * 4
            assert second.to_numpy().tolist() == [value if streams == 2 else 1] * 4
        copy.close()


def test_closing_waits_for_replays(stream, array):
    graph = filled(stream, array, 8)
    gate = Gate(stream)
    graph.replay(stream)
    gate.open_soon()
    graph.close()
    stream.synchronize()
    assert array.to_numpy().tolist() == [8] * 4 and array._block.uses == {}


def test_synchronize_waits_for_replays_alone(stream, other, array):
    with filled(stream, array, 8) as graph:
        graph.synchronize()
        gate = Gate(stream)
        graph.replay(other)
        graph.synchronize()
        assert other.query() and not stream.query()
        gate.open_soon()
        graph.run(stream, timeout=60)


def test_a_dropped_graph_is_closed_with_a_warning(stream):
    before = free_memory()
    array = acl.DeviceArray(LARGE, "u1")
    graph = filled(stream, array)
    array.close()
    with pytest.warns(ResourceWarning, match="unclosed <acl.Graph 0x.* 1 task on 1 stream: MEMCPY_ASYNC_SET>"):
        del graph
        gc.collect()
    assert free_memory() == before


def test_a_borrowed_graph_is_not_destroyed(stream, array):
    with filled(stream, array, 4) as graph:
        with acl.Graph.from_handle(graph.handle) as borrowed:
            borrowed.run(stream)
            assert not borrowed.owned and "borrowed" in repr(borrowed)
        assert array.to_numpy().tolist() == [4] * 4
        graph.run(stream)


def test_a_graph_ends_with_its_context(opened):
    with acl.Context(), acl.DeviceArray(4, "u1") as array:
        with acl.Stream() as stream:
            graph = filled(stream, array)
    graph.close()
    assert graph.closed and not memory_block.captured


# --- What was queued before a capture


def test_memory_is_read_while_another_thread_captures_a_stream_that_used_it(stream, array):
    """What was queued before the capture is waited for, and nothing else."""
    found = []
    reader = threading.Thread(target=lambda: (acl.Device(0).use(), found.append(array.to_numpy().tolist())))
    with held(stream) as latch:
        array.fill(1, stream=stream)
        with acl.capture(stream, "thread_local") as graph:
            array.fill(2, stream=stream)
            reader.start()
            latch.release()
            reader.join()
    assert found == [[1, 1, 1, 1]]
    graph.close()


def test_others_come_after_what_was_queued_before_a_capture(stream, other, array):
    """A consumer of DLPack waits for that, and does not join the capture."""

    def consume():
        acl.Device(0).use()
        array.__dlpack__(stream=other.handle)
        return other.query()

    with held(stream) as latch:
        array.fill(1, stream=stream)
        with acl.capture(stream, "thread_local") as graph:
            array.fill(2, stream=stream)
            assert in_thread(consume) is False and not other.capturing
            latch.release()
    with graph:
        other.synchronize()
        assert array.to_numpy().tolist() == [1, 1, 1, 1]


def test_memory_of_a_stream_that_pyacl_captures_is_not_read(stream, array):
    """Nobody knows then what was queued before."""

    def read():
        acl.Device(0).use()
        with raises(acl.CaptureError, "107027", "is being captured", "end the capture first"):
            array.to_numpy()

    array.fill(1, stream=stream)
    assert acl.mdl.ri_capture_begin(stream.handle, 1) == 0
    in_thread(read)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert (ret, acl.mdl.ri_destroy(instance)) == (0, 0)
    assert array.to_numpy().tolist() == [1, 1, 1, 1]
