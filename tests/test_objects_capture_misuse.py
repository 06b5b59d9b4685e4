"""What captures and graphs refuse: each case says what happened and what to do, and leaves nothing behind."""

import contextlib

import numpy
import pytest
from helpers.capture import Words
from helpers.expect import in_thread
from helpers.objects import raises

import acl
from acl.objects import memory_block


class World:
    """Three streams, a graph of two operators in a group, memory of each kind."""

    def __init__(self, stack):
        made = stack.enter_context
        self.stream, self.other, self.third = (made(acl.Stream()) for _ in range(3))
        self.array = made(acl.DeviceArray.zeros(4, "u1"))
        self.pinned, self.target = (made(acl.Buffer(4, kind="host")) for _ in range(2))
        self.plain = numpy.zeros(4, "u1")
        self.words = Words()
        stack.callback(self.words.close)
        with acl.capture(self.stream) as graph, graph.group() as self.group:
            self.count(self.stream, 0)
            self.count(self.stream, 1)
        self.graph = made(graph)
        self.kept = []

    def count(self, stream, place):
        """Queue an operator."""
        self.words.count_up(stream.handle, place)

    def keep(self, thing):
        """Keep what must not be dropped before the end, and return it."""
        self.kept.append(thing)
        return thing

    def check(self):
        """Assert that streams and graph are as at first."""
        for stream in (self.stream, self.other, self.third):
            assert not stream.capturing
            stream.synchronize()
        with acl.capture(self.stream) as fresh:
            self.array.fill(7, stream=self.stream)
        with fresh:
            fresh.run(self.other)
        assert self.array.to_numpy().tolist() == [7] * 4


@pytest.fixture
def world(opened):
    before = set(memory_block.captured)
    with contextlib.ExitStack() as stack:
        world = World(stack)
        yield world
        world.check()
    assert set(memory_block.captured) == before


def left_open(world, block):
    """Enter a block that nobody leaves."""
    world.keep(block).__enter__()


def grouped(world, graph, call):
    with graph.group():
        world.count(world.stream, 0)
        call()


def swallow(call):
    with contextlib.suppress(acl.CaptureError):
        call()


def crossed(world):
    """Let a stream of this capture wait for an event of another one."""
    with acl.capture(world.other) as second, acl.Event() as event:
        world.kept.append(second)
        world.other.record(event)
        world.stream.wait(event)


def recorded(world):
    return world.keep(world.stream.record(world.keep(acl.Event())))


def filled_body(world, graph):
    body = graph.if_(graph.condition())
    with body.capture(world.other):
        pass
    return body


def twice(graph, condition):
    graph.if_(condition)
    graph.if_(condition)


def updated_early(world, graph):
    with graph.group() as group, group.update(world.third):
        pass


def updated_inside(world, graph):
    with graph.group() as group:
        world.count(world.stream, 2)
    with group.update(world.third):
        pass


def worked_after(world):
    world.other.wait(world.stream)
    world.stream.wait(world.other)
    world.array.fill(1, stream=world.other)


# In a capture of the first stream in mode "global": what is called, and what it raises, there or at the end.
INSIDE = (
    ("synchronise", lambda w, g: w.stream.synchronize(), "107027", "end the capture first"),
    ("synchronise in time", lambda w, g: w.stream.synchronize(timeout=1), "107027", "end the capture first"),
    ("query", lambda w, g: w.stream.query(), "107027", "cannot be synchronised, queried or closed"),
    ("close the stream", lambda w, g: w.stream.close(), "107027", "or closed while it is captured"),
    ("discard the stream", lambda w, g: w.stream.discard(), "107027", "end the capture first"),
    ("synchronise the device", lambda w, g: acl.Device().synchronize(), "107027", "end the capture first"),
    ("synchronise the context", lambda w, g: acl.Context.current().synchronize(), "107027", "end the capture first"),
    ("synchronise an event", lambda w, g: recorded(w).synchronize(), "107028", "cannot be synchronised or queried"),
    ("query an event", lambda w, g: recorded(w).query(), "107028", "end the capture first"),
    ("time between events", lambda w, g: recorded(w) - recorded(w), "107028", "end the capture first"),
    ("set at once", lambda w, g: w.array.fill(1), "107030", "pass stream="),
    ("copy at once", lambda w, g: w.array.copy_from(w.plain), "107030", "pass stream="),
    ("read at once", lambda w, g: w.array.to_numpy(), "107030", "make the call before the capture"),
    ("read one element", lambda w, g: w.array[0].item(), "107030", "make the call before the capture"),
    ("assign at once", lambda w, g: w.array.__setitem__(0, 1), "107030", "pass stream="),
    ("read pinned memory", lambda w, g: bytes(w.pinned), "107030", "make the call before the capture"),
    ("pageable copy elsewhere", lambda w, g: w.array.copy_from(w.plain, stream=w.third), "107041", "kind='host'"),
    ("capture it again", lambda w, g: acl.capture(w.stream).__enter__(), "107027", "needs a stream of its own"),
    ("capture a stream that came in", lambda w, g: (w.other.wait(w.stream), acl.capture(w.other).__enter__()),
     "107027", "other.wait(stream)"),
    ("default stream", lambda w, g: acl.Stream.default().wait(recorded(w)), "107031", "pass an explicit stream"),
    ("event from outside", lambda w, g: w.stream.wait(w.keep(w.third.record())), "107024", "a stream of the capture"),
    ("event that is never recorded", lambda w, g: w.stream.wait(w.keep(acl.Event())), "107024", "never recorded"),
    ("event of another capture", lambda w, g: crossed(w), "107032", "both captures failed", "repeat them"),
    ("error that was passed over", lambda w, g: swallow(lambda: crossed(w)), "507903", "fix that error"),
    ("not come back", lambda w, g: w.other.wait(w.stream), "107025", "let the first stream of the capture wait"),
    ("work after coming back", lambda w, g: worked_after(w), "107025", "let the first stream of the capture wait"),
    ("replay it", lambda w, g: g.replay(w.third), "107026", "leave the `with acl.capture(...)` block first"),
    ("run it", lambda w, g: g.run(w.third), "107026", "leave the `with"),
    ("close it", lambda w, g: g.close(), "107026", "the graph is being captured", "leave the `with"),
    ("save it", lambda w, g: g.save("never.om", [], []), "107026", "the graph is being captured", "leave the `with"),
    ("replay another", lambda w, g: w.graph.replay(w.stream), "107027", "cannot be part of another capture"),
    ("run another", lambda w, g: w.graph.run(w.stream), "107027", "before, or on another stream"),
    ("group in a group", lambda w, g: grouped(w, g, g.group().__enter__), "107033", "groups cannot overlap"),
    ("group left open", lambda w, g: left_open(w, g.group()), "107033", "leave `with graph.group():` first"),
    ("work beside a group", lambda w, g: (w.other.wait(w.stream),
     grouped(w, g, lambda: w.array.fill(1, stream=w.other))), "107034", "only its own stream accepts work"),
    ("group interrupted", lambda w, g: (w.other.wait(w.stream),
     grouped(w, g, lambda: swallow(lambda: w.array.fill(1, stream=w.other)))), "107034", "capture again"),
    ("group elsewhere", lambda w, g: g.group(w.other).__enter__(), "107029", "or one that waits for it"),
    ("update on it", lambda w, g: w.group.update(w.stream).__enter__(), "107027", "captured"),
    ("update too early", lambda w, g: updated_early(w, g), "107033", "block is still open"),
    ("update in its capture", lambda w, g: updated_inside(w, g), "107026", "leave the `with"),
    ("body twice", lambda w, g: filled_body(w, g).capture(w.other).__enter__(), "107026",
     "a body can be captured only once"),
    ("body on its stream", lambda w, g: g.if_(g.condition()).capture(w.stream).__enter__(), "107027", "captured"),
    ("body left open", lambda w, g: left_open(w, g.if_(g.condition()).capture(w.other)), "107045",
     "leave the `with body.capture(...)` block before"),
    ("condition elsewhere", lambda w, g: g.if_(g.condition(), w.other), "107029", "or one that waits for it"),
    ("ended by others", lambda w, g: acl.mdl.ri_destroy(acl.mdl.ri_capture_end(w.stream.handle)[0]), "107029",
     "that stream"),
)  # fmt: skip


@pytest.mark.parametrize("action, words", [(row[1], row[2:]) for row in INSIDE], ids=[row[0] for row in INSIDE])
def test_in_a_capture(action, words, world):
    with raises(acl.CaptureError, *words), acl.capture(world.stream) as graph:
        action(world, graph)
    assert graph.closed and not world.stream.capturing
    with raises(acl.CaptureError, "its capture failed", "capture again"):
        graph.replay(world.stream)
    for thing in world.kept:  # events, graphs, and blocks that were left open
        swallow(lambda thing=thing: thing.__exit__(None, None, None))


# The same, of other families: what is wrong is not that there is a capture.
INSIDE_OTHERS = (
    ("pageable memory", lambda w, g: w.array.copy_from(w.plain, stream=w.stream), acl.InvalidArgumentError, "107000"),
    ("between pinned blocks", lambda w, g: w.pinned.copy_from(w.target, stream=w.stream), acl.NotSupportedError,
     "207000"),
    ("record a gate", lambda w, g: w.stream.record(w.keep(acl.Event(gate=True))), acl.NotSupportedError, "207000"),
    ("reset a gate", lambda w, g: w.keep(acl.Event(gate=True)).reset(w.stream), acl.NotSupportedError, "207000"),
    ("copy in a group", lambda w, g: grouped(w, g, lambda: w.array.fill(1, stream=w.stream)), acl.AclError, "507009"),
    ("callback in a group", lambda w, g: grouped(w, g, lambda: w.stream.call(print)), acl.AclError, "507009"),
    ("condition twice", lambda w, g: twice(g, g.condition()), acl.InvalidArgumentError, "by one task only"),
    ("no condition", lambda w, g: g.while_(1), TypeError, "condition is int", "graph.condition()"),
    ("condition too big", lambda w, g: g.condition().set(1 << 64, w.stream), acl.InvalidArgumentError, "0 to 1844"),
    ("condition of a half", lambda w, g: g.condition().set(0.5, w.stream), TypeError, "0.5, expected an int"),
    ("condition below zero", lambda w, g: g.condition().set(-1, w.stream), acl.InvalidArgumentError, "value is -1"),
    ("default of a text", lambda w, g: g.condition("1"), TypeError, "default is '1'", "expected an int"),
    ("default below zero", lambda w, g: g.condition(-1), acl.InvalidArgumentError, "default is -1", "expected 0 to"),
    ("bodies of a text", lambda w, g: g.switch(g.condition(), "2"), TypeError, "count is '2'", "expected an int"),
    ("no bodies", lambda w, g: g.switch(g.condition(), 0), acl.InvalidArgumentError, "count is 0", "expected 1 to"),
    ("body on no stream", lambda w, g: g.if_(g.condition()).capture(None).__enter__(), TypeError,
     "is not an acl.Stream"),
    ("mode of a body", lambda w, g: g.if_(g.condition()).capture(w.other, "x").__enter__(), acl.InvalidArgumentError,
     "mode is 'x'", "thread_local"),
)  # fmt: skip


@pytest.mark.parametrize(
    "action, kind, words",
    [(row[1], row[2], row[3:]) for row in INSIDE_OTHERS],
    ids=[row[0] for row in INSIDE_OTHERS],
)
def test_in_a_capture_of_other_families(action, kind, words, world):
    with raises(kind, *words), acl.capture(world.stream) as graph:
        action(world, graph)
    assert graph.closed
    for event in world.kept:
        event.close()


def closed(world):
    world.graph.close()
    return world.graph


def failed(world):
    with contextlib.suppress(KeyError), acl.capture(world.stream) as graph:
        raise KeyError
    return graph


def closed_stream():
    stream = acl.Stream()
    stream.close()
    return stream


def update(world, *places, call=None):
    with world.group.update(world.stream):
        for place in places:
            world.count(world.stream, place)
        if call:
            call()


def elsewhere(call):
    with acl.Context():
        call()


def begun_elsewhere(call):
    with acl.Context(), acl.Stream() as stream:
        call(stream)


def end_twice(world):
    capture = acl.capture(world.stream)
    with capture as graph:
        pass
    graph.close()
    capture.__exit__(None, None, None)


def with_callback(world):
    with acl.capture(world.stream) as graph:
        world.stream.call(print)
    with graph:
        graph.save("never.om", [world.array], [world.array])


HANDLE, ARGUMENT, CAPTURE, CONTEXT = (
    acl.InvalidHandleError,
    acl.InvalidArgumentError,
    acl.CaptureError,
    acl.ContextError,
)
OUTSIDE = (
    ("replay after close", lambda w: closed(w).replay(w.stream), HANDLE, "acl.Graph is closed"),
    ("run after close", lambda w: closed(w).run(w.stream), HANDLE, "acl.Graph is closed", "make a new one"),
    ("wait after close", lambda w: closed(w).synchronize(), HANDLE, "acl.Graph is closed"),
    ("nodes after close", lambda w: closed(w).nodes, HANDLE, "acl.Graph is closed"),
    ("length after close", lambda w: len(closed(w)), HANDLE, "acl.Graph is closed"),
    ("picture after close", lambda w: closed(w).to_dot(), HANDLE, "acl.Graph is closed"),
    ("trace after close", lambda w: closed(w).to_json(), HANDLE, "acl.Graph is closed"),
    ("save after close", lambda w: closed(w).save("never.om", [], []), HANDLE, "acl.Graph is closed"),
    ("hold after close", lambda w: closed(w).hold(w.array), HANDLE, "acl.Graph is closed"),
    ("update after close", lambda w: closed(w) and update(w), HANDLE, "acl.Graph is closed"),
    ("group after close", lambda w: closed(w).group().__enter__(), HANDLE, "acl.Graph is closed"),
    ("condition after close", lambda w: closed(w).condition(), HANDLE, "acl.Graph is closed"),
    ("with after close", lambda w: closed(w).__enter__(), HANDLE, "acl.Graph is closed"),
    ("replay after a failure", lambda w: failed(w).replay(w.stream), CAPTURE, "KeyError left its `with`"),
    ("nodes after a failure", lambda w: failed(w).nodes, CAPTURE, "capture failed", "capture again"),
    ("group after a failure", lambda w: failed(w).group().__enter__(), CAPTURE, "capture again"),
    ("on a closed stream", lambda w: w.graph.replay(closed_stream()), HANDLE, "acl.Stream is closed"),
    ("on no stream", lambda w: w.graph.replay(None), TypeError, "None is not an acl.Stream", "from_handle()"),
    ("on a number", lambda w: w.graph.run(0), TypeError, "0 is not an acl.Stream"),
    ("in another context", lambda w: elsewhere(lambda: w.graph.replay(w.stream)), CONTEXT, "10700"),
    ("on another context's stream", lambda w: begun_elsewhere(w.graph.replay), CONTEXT, "10700"),
    ("group after the end", lambda w: w.graph.group().__enter__(), CAPTURE, "has ended", "inside the `with"),
    ("condition after the end", lambda w: w.graph.condition(), ARGUMENT, "while the graph or body is being captured"),
    ("too few in an update", lambda w: update(w, 2), CAPTURE, "507000", "the same operators as in the group"),
    ("none in an update", lambda w: update(w), CAPTURE, "507000", "same number, order, types and shapes"),
    ("copy in an update", lambda w: update(w, call=lambda: w.array.fill(1, stream=w.stream)), acl.AclError, "507009"),
    ("update in an update", lambda w: update(w, call=lambda: update(w)), CAPTURE, "107033"),
    ("update on no stream", lambda w: w.group.update(7).__enter__(), TypeError, "7 is not an acl.Stream"),
    ("capture of no stream", lambda w: acl.capture(5), TypeError, "5 is not an acl.Stream", "from_handle()"),
    ("capture of an event", lambda w: acl.capture(acl.Event), TypeError, "is not an acl.Stream", "from_handle()"),
    ("capture of a closed stream", lambda w: acl.capture(closed_stream()).__enter__(), HANDLE, "Stream is closed"),
    ("capture of the default stream", lambda w: acl.capture(acl.Stream.default()).__enter__(), acl.NotSupportedError,
     "207000", "use acl.Stream()"),
    ("capture in another context", lambda w: elsewhere(acl.capture(w.stream).__enter__), CONTEXT, "107003"),
    ("capture's mode", lambda w: acl.capture(w.stream, "fast"), ARGUMENT, "mode is 'fast'", "global, thread_local"),
    ("capture's mode as bytes", lambda w: acl.capture(w.stream, bytearray(1)), ARGUMENT, "mode is bytearray"),
    ("thread's mode", lambda w: acl.capture_mode(2).__enter__(), ARGUMENT, "mode is 2", "relaxed"),
    ("end twice", end_twice, CAPTURE, "or has ended"),
    ("end before", lambda w: acl.capture(w.stream).__exit__(None, None, None), CAPTURE, "has not begun"),
    ("made by hand", lambda w: acl.Graph(), TypeError, "with acl.capture(stream) as graph"),
    ("hold a number", lambda w: w.graph.hold(5), ARGUMENT, "int is not contiguous memory"),
    ("hold bytes", lambda w: w.graph.hold(b"1"), ARGUMENT, "ordinary host memory", "kind='host'"),
)  # fmt: skip


@pytest.mark.parametrize(
    "action, kind, words", [(row[1], row[2], row[3:]) for row in OUTSIDE], ids=[row[0] for row in OUTSIDE]
)
def test_outside_of_a_capture(action, kind, words, world):
    with raises(kind, *words):
        action(world)


SAVING = (
    ("host memory", lambda w: w.graph.save("never.om", [w.plain], [w.array]), ARGUMENT, "input 'input0' is ndarray"),
    (
        "with gaps",
        lambda w: w.graph.save("never.om", [w.array], {"y": w.array[::2]}),
        ARGUMENT,
        "'y' is not contiguous",
    ),
    ("outputs is an int", lambda w: w.graph.save("never.om", [w.array], 3), TypeError, "outputs is int", "arrays"),
    ("no input", lambda w: w.graph.save("never.om", [], [w.array]), ARGUMENT, "inputs is empty, expected 1 array"),
    ("a callback", with_callback, RuntimeError, "a task of aclrtLaunchHostFunc"),
)


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "action, kind, words", [(row[1], row[2], row[3:]) for row in SAVING], ids=[row[0] for row in SAVING]
)
def test_what_no_file_takes(action, kind, words, world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with raises(kind, *words):
        action(world)
    assert not list(tmp_path.iterdir())


def test_only_the_simulator_writes_files(world, monkeypatch):
    monkeypatch.setattr(acl, "backend", "npu")
    with raises(acl.NotSupportedError, "cannot save graphs", "ACL_BACKEND=sim"):
        world.graph.save("never.om", [world.array], [world.array])


def test_the_thread_that_began_ends_it(world):
    capture = acl.capture(world.stream)
    graph = capture.__enter__()
    world.array.fill(1, stream=world.stream)

    def end():
        acl.Device(0).use()
        capture.__exit__(None, None, None)

    with raises(acl.CaptureError, "107038", "in the thread that began it", "mode='relaxed'"):
        in_thread(end)
    assert graph.closed


def test_a_relaxed_capture_is_ended_by_any_thread(world):
    capture = acl.capture(world.stream, "relaxed")
    graph = capture.__enter__()

    def end():
        acl.Device(0).use()
        capture.__exit__(None, None, None)

    in_thread(end)
    with graph:
        graph.run(world.stream)


def test_a_capture_ends_where_another_context_is_current(world):
    with acl.capture(world.stream) as graph:
        context = acl.Context()
    with graph:
        context.close()
        graph.run(world.stream)


@pytest.mark.strict
@pytest.mark.parametrize("error", [None, KeyError])
def test_a_device_that_is_reset_in_a_capture(error, opened):
    with pytest.raises(error or acl.AclError), acl.capture(acl.Stream()) as graph:
        opened.reset()
        if error:
            raise error
    assert graph.closed
