"""Captures and graphs as objects: what is recorded and replayed, groups, conditions, pictures and files."""

import asyncio
import gc
import threading
import weakref

import numpy
import pytest
from helpers.capture import Words
from helpers.expect import in_thread
from helpers.objects import LARGE, filled, free_memory, fresh_bytes, fresh_stream, raises

import acl
from acl.objects import memory_block

pytestmark = pytest.mark.usefixtures("opened")
stream = other = fresh_stream
array = fresh_bytes


@pytest.fixture
def words(opened):
    words = Words()
    yield words
    words.close()


# --- Captures and replays


def test_captured_work_runs_at_each_replay_and_not_before(stream, other):
    seen = []
    with acl.capture(stream) as graph:
        assert graph.capturing and stream.capturing and not other.capturing
        stream.call(seen.append, 1)
    assert not graph.capturing and not stream.capturing and seen == []
    with graph:
        for target in (stream, other, stream):
            graph.run(target)
    assert seen == [1, 1, 1] and graph.closed


def test_a_replay_is_ordered_with_the_work_of_its_stream(stream, array):
    with filled(stream, array, 1) as graph, acl.DeviceArray(4, "u1") as before, acl.DeviceArray(4, "u1") as after:
        array.fill(7, stream=stream)
        before.copy_from(array, stream=stream)
        graph.replay(stream)
        after.copy_from(array, stream=stream)
        stream.synchronize()
        assert before.to_numpy().tolist() == [7] * 4 and after.to_numpy().tolist() == [1] * 4


def test_streams_come_in_and_go_back_by_waiting(stream, other, array):
    with acl.DeviceArray.zeros(4, "u1") as second:
        with acl.capture(stream) as graph:
            array.fill(3, stream=stream)
            other.wait(stream)
            assert other.capturing
            second.copy_from(array, stream=other)
            stream.wait(other)
        with graph:
            assert not other.capturing and len(graph) == 6
            graph.run(other)
            assert second.to_numpy().tolist() == [3] * 4


def test_a_graph_without_tasks_is_one(stream):
    with acl.capture(stream) as graph:
        pass
    with graph:
        graph.run(stream)
        assert len(graph) == 0 and graph and "0 tasks on 0 streams" in repr(graph)


def test_a_capture_can_be_entered_again(stream, array):
    again = acl.capture(stream)
    graphs = []
    for value in (1, 2):
        with again as graph:
            array.fill(value, stream=stream)
        graphs.append(graph)
    for graph, value in zip(graphs, (1, 2)):
        with graph:
            graph.run(stream)
            assert array.to_numpy().tolist() == [value] * 4


def test_captures_side_by_side(stream, other, array):
    with acl.DeviceArray.zeros(4, "u1") as second:
        with acl.capture(stream) as one, acl.capture(other, "relaxed") as two:
            array.fill(1, stream=stream)
            second.fill(2, stream=other)
        with one, two:
            one.run(stream)
            two.run(stream)
        assert array.to_numpy().tolist() == [1] * 4 and second.to_numpy().tolist() == [2] * 4


def test_a_graph_is_awaited(stream, array):
    async def main():
        with filled(stream, array, 5) as graph:
            await graph.run_async(stream)
            return array.to_numpy().tolist()

    assert asyncio.run(main()) == [5] * 4


def fail_here():
    raise KeyError("replayed")


def test_what_a_captured_callback_raises_surfaces_at_each_replay(stream):
    with acl.capture(stream) as graph:
        stream.call(fail_here)
    with graph:
        for _ in range(2):
            with pytest.raises(KeyError, match="replayed"):
                graph.run(stream)


def test_threads_replay_one_graph_on_streams_of_their_own(stream, words, opened):
    with acl.capture(stream) as graph:
        assert words.count_up(stream.handle, 0) == 0

    def replay():
        opened.use()
        with acl.Stream() as mine:
            for _ in range(50):
                graph.replay(mine)

    opened.use()
    threads = [threading.Thread(target=replay) for _ in range(4)]
    with graph:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert words.read()[0] == 200


# --- Modes

# Whether a synchronous call is allowed while another stream is captured: to the thread that captures, to another.
ALLOWED = (("global", False, False), ("thread_local", False, True), ("relaxed", True, True))


@pytest.mark.parametrize("mode, mine, others", ALLOWED)
def test_modes_say_who_may_call_what_no_capture_takes(mode, mine, others, stream, array, opened):
    def allowed():
        opened.use()
        try:
            array.fill(1)
        except acl.CaptureError as error:
            assert error.code == 107030
            return False
        return True

    with acl.capture(stream, mode) as graph:
        assert (allowed(), in_thread(allowed)) == (mine, others)
        with acl.capture_mode("relaxed"):
            assert allowed()
            with acl.capture_mode("global"):
                assert allowed() == mine
            assert allowed()
        assert allowed() == mine
    graph.close()


def test_the_mode_of_a_thread_comes_back_after_an_error(stream, array):
    with pytest.raises(KeyError), acl.capture_mode("relaxed"):
        raise KeyError
    with acl.capture(stream) as graph, raises(acl.CaptureError, "107030"):
        array.fill(1)
    graph.close()


# --- What goes wrong leaves nothing


def test_an_exception_ends_the_capture(stream, array):
    before = memory_block.captured.copy()
    with pytest.raises(KeyError, match="mine"), acl.capture(stream) as graph:
        array.fill(9, stream=stream)
        raise KeyError("mine")
    assert not stream.capturing and graph.closed and "KeyError left its `with` block" in repr(graph)
    with raises(acl.CaptureError, "KeyError", "capture again"):
        graph.replay(stream)
    stream.synchronize()
    assert array.to_numpy().tolist() == [0] * 4 and memory_block.captured == before
    graph.close()
    filled(stream, array).close()


class Called:
    def __call__(self):
        pass


@pytest.mark.parametrize("how", ["exception", "unjoined"])
def test_a_capture_that_fails_holds_nothing(how, stream, other):
    before = free_memory()
    buffer, function = acl.Buffer(LARGE), Called()
    gone = weakref.ref(function)
    with pytest.raises((KeyError, acl.CaptureError)), acl.capture(stream):
        buffer.fill(1, stream=stream)
        stream.call(function)
        if how == "exception":
            raise KeyError
        other.wait(stream)
    buffer.close()
    del function
    gc.collect()
    assert free_memory() == before and gone() is None


def test_the_error_of_the_block_is_the_one_that_is_seen(stream, other):
    """Its end fails, too: the other stream has not come back."""
    with pytest.raises(ZeroDivisionError), acl.capture(stream):
        other.wait(stream)
        1 / 0  # noqa: B018
    assert not stream.capturing and not other.capturing


# --- Groups of tasks


def test_a_group_takes_other_arguments(stream, other, words):
    with acl.capture(stream) as graph, graph.group() as group:
        assert words.count_up(stream.handle, 0) == 0
        assert words.count_up(stream.handle, 1) == 0
    with graph:
        graph.run(stream)
        with group.update(other):
            assert words.count_up(other.handle, 2) == 0
            assert words.count_up(other.handle, 3) == 0
        assert words.read()[:4] == [1, 1, 0, 0]
        stream.wait(other)
        graph.run(stream)
        assert words.read()[:4] == [1, 1, 1, 1]


def test_an_update_keeps_what_it_names(stream, words):
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    with acl.capture(stream) as graph, graph.group() as group:
        assert words.count_up(stream.handle, 0) == 0
    with group.update(stream):
        assert words.count_up(stream.handle, 1) == 0
    graph.hold(buffer)
    buffer.close()
    assert free_memory() < before
    graph.run(stream)
    assert words.read()[:2] == [0, 1]
    graph.close()
    assert free_memory() == before


def test_an_update_holds_the_arrays_of_its_operators(stream):
    before = free_memory()
    one, two, out = (acl.DeviceArray.from_numpy(numpy.full((1 << 20,), value, "f4")) for value in (1, 2, 0))
    with acl.capture(stream) as graph, graph.group() as group:
        acl.nn.add(one, one, out=out, stream=stream)
    with acl.Stream() as other:
        with group.update(other):
            acl.nn.add(two, two, out=out, stream=other)
        other.synchronize()
    two.close()
    graph.run(stream)
    assert out.to_numpy()[-1] == 4
    graph.close()
    for array in (one, out):
        array.close()
    assert free_memory() == before


def test_an_exception_ends_an_update_and_a_group(stream, words):
    with acl.capture(stream) as graph:
        with pytest.raises(KeyError), graph.group():
            assert words.count_up(stream.handle, 0) == 0
            raise KeyError
        with graph.group() as group:
            assert words.count_up(stream.handle, 1) == 0
    with graph:
        with pytest.raises(KeyError), group.update(stream):
            raise KeyError
        with group.update(stream):
            assert words.count_up(stream.handle, 2) == 0
        graph.run(stream)
        assert words.read()[:3] == [1, 0, 1]


# --- Conditions


@pytest.mark.parametrize("kind, value, expected", [
    ("if", 0, [0, 0]), ("if", 1, [1, 0]), ("if else", 0, [0, 1]), ("if else", 5, [1, 0]),
    ("switch", 0, [1, 0]), ("switch", 1, [0, 1]), ("switch", 2, [0, 0]),
])  # fmt: skip
def test_the_value_of_a_condition_chooses(kind, value, expected, stream, other):
    arrays = [acl.DeviceArray.zeros((), "u1") for _ in range(2)]
    with acl.capture(stream) as graph:
        condition = graph.condition()
        if kind == "if":
            bodies = (graph.if_(condition),)
        else:
            bodies = graph.if_else(condition) if kind == "if else" else graph.switch(condition, 2)
        for body, array in zip(bodies, arrays):
            with body.capture(other):
                array.fill(1, stream=other)
    with graph:
        condition.set(value, stream)
        graph.run(stream)
        assert [int(array.item()) for array in arrays] == expected and condition.array.item() == value


def test_a_loop_runs_until_its_condition_is_zero(stream, other):
    """Its body takes one after the other from a list, whose end is a zero."""
    with acl.DeviceArray.from_numpy(numpy.array([1, 1, 1, 0], "u8")) as steps, acl.capture(stream) as graph:
        turns = []
        condition = graph.condition(1)
        with graph.while_(condition).capture(other) as body:
            assert body.graph is graph
            other.call(turns.append, 1)
            condition.array.copy_from(steps[0], stream=other)
            for place in range(3):
                steps[place].copy_from(steps[place + 1], stream=other)
    with graph:
        graph.run(stream)
    assert turns == [1] * 4


def test_conditions_inside_bodies(stream, other, array):
    before = memory_block.captured.copy()
    with acl.Stream() as third, acl.capture(stream) as graph:
        outer = graph.condition(1)
        with graph.if_(outer).capture(other) as body:
            inner = body.condition(1)
            with body.if_(inner).capture(third):
                array.fill(2, stream=third)
    array.close()
    with acl.DeviceArray.from_handle(array_address := memory_block.captured[graph.handle][0].address, 4, "u1") as seen:
        graph.run(stream)
        assert array_address and seen.to_numpy().tolist() == [2] * 4
    graph.close()
    assert memory_block.captured == before


def test_the_array_of_a_condition_ends_with_its_graph(stream):
    with acl.capture(stream) as graph:
        condition = graph.condition()
    graph.close()
    with raises(acl.InvalidHandleError, "acl.DeviceArray is closed"):
        condition.set(1, stream)


# --- Pictures


@pytest.fixture
def forked(stream, other, array):
    with acl.DeviceArray.zeros(4, "u1") as second:
        with acl.capture(stream) as graph:
            array.fill(3, stream=stream)
            other.wait(stream)
            second.copy_from(array, stream=other)
            stream.wait(other)
        with graph:
            yield graph


def test_nodes_are_the_tasks(forked):
    nodes = forked.nodes
    assert [(node.type, node.kind, node.stream) for node in nodes] == [
        ("MEMCPY_ASYNC_SET", "copy", 0), ("EVENT_RECORD", "event", 0), ("EVENT_WAIT", "event", 0),
        ("EVENT_WAIT", "event", 1), ("MEMCPY_ASYNC", "copy", 1), ("EVENT_RECORD", "event", 1),
    ]  # fmt: skip
    assert nodes[0].details["Task Id"] == 0 and len(forked) == 6


def test_texts_and_pictures(forked, array, tmp_path):
    assert repr(forked).endswith("6 tasks on 2 streams: MEMCPY_ASYNC_SET, EVENT_RECORD_0, 3 more, EVENT_RECORD_1>")
    assert forked.to_json().count('"Task Type"') == 6
    path = tmp_path / "graph.json"
    assert acl.mdl.ri_debug_json_print(forked.handle, str(path), 1) == 0
    assert forked.to_json(verbose=True) == path.read_text()
    svg = forked._repr_svg_()
    assert svg.startswith("<svg") and svg.count("data-task=") == 6 and "6 tasks on 2 streams" in svg
    dot = forked.to_dot()
    edges = [line.split(" [")[0].strip() for line in dot.splitlines() if "->" in line]
    assert {"t0 -> t1", "t1 -> t2", "t1 -> t3", "t3 -> t4", "t4 -> t5", "t5 -> t2"} <= set(edges)
    assert dot.count("subgraph cluster_") == 2 and dot.count("[label=") == 6
    forked.close()
    assert forked._repr_svg_() is None and repr(forked) == "<acl.Graph closed>"


def test_texts_while_it_is_captured(stream, array):
    with acl.capture(stream) as graph:
        array.fill(1, stream=stream)
        assert "being captured on stream" in repr(graph) and graph._repr_svg_() is None
    graph.close()


def test_names_are_quoted_for_graphviz():
    from acl.objects.capture import _quoted

    assert _quoted('a"b\\c\nd') == '"a\\"b\\\\c\ufffdd"'


# --- Files


@pytest.mark.needs_sim
@pytest.mark.parametrize("named", [False, True])
def test_a_saved_graph_is_a_model(named, stream, tmp_path):
    from helpers.models import Model, load

    with acl.DeviceArray.zeros(4, "f4") as given, acl.DeviceArray.zeros((2, 2), "f4") as taken:
        with acl.capture(stream) as graph:
            taken.reshape(4).copy_from(given, stream=stream)
        with graph:
            ports = ({"x": given}, {"y": taken}) if named else ([given], [taken])
            graph.save(tmp_path / "copy.om", *ports)
    model = Model(load(tmp_path / "copy.om"))
    assert model(numpy.arange(4, dtype="f4")).tolist() == [[0, 1], [2, 3]]
    names = acl.mdl.get_input_name_by_index(model.desc, 0), acl.mdl.get_output_name_by_index(model.desc, 0)
    assert names == (("x", "y") if named else ("input0", "output0"))
    model.close()
