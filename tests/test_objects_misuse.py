"""What devices, contexts, streams and events say when they are misused: one row a mistake."""

import ast
from pathlib import Path

import numpy
import pytest
from helpers.expect import in_thread
from helpers.objects import misuse, raises, things

import acl

pytestmark = pytest.mark.usefixtures("opened")
DEAD = acl.InvalidHandleError
NO_EVENT, NO_STREAM = "is not an acl.Event", "is not an acl.Stream"
CLOSED_TEXT, FIX = "is closed", "make a new one"


@pytest.fixture
def x(opened):
    with things() as made:
        yield made


WRONG_TYPES = (
    ("device of a text", lambda x: acl.Device("0"), TypeError, ("id is '0'", "expected an int")),
    ("device of a fraction", lambda x: acl.Device(0.5), TypeError, ("id is 0.5", "expected an int")),
    ("device of another kind", lambda x: acl.Device(x.stream), TypeError, ("id is <acl.Stream",)),
    (
        "far device",
        lambda x: acl.Device(2**70),
        acl.InvalidArgumentError,
        ("no device 1180591620717411303424: 1 device is available (0)", "acl.Device.count()"),
    ),
    (
        "access to none",
        lambda x: acl.Device(0).can_access(-1),
        acl.InvalidArgumentError,
        ("no device -1: 1 device is available (0)",),
    ),
    ("access to a stream", lambda x: acl.Device(0).can_access(x.stream), TypeError, ("id is <acl.Stream",)),
    ("access to a text", lambda x: acl.Device(0).enable_access("0"), TypeError, ("id is '0'",)),
    ("device attribute of a text", lambda x: acl.Device(0).info("x"), TypeError, ("attribute is 'x'", "an int")),
    ("far device attribute", lambda x: acl.Device(0).info(2**31), ValueError, (f"attribute is {2**31}", "expected")),
    ("memory of a text", lambda x: acl.Device(0).memory_info("HBM"), TypeError, ("attribute is 'HBM'", "an int")),
    ("device attribute", lambda x: acl.Device(0).info(99999), acl.InvalidArgumentError, ("aclrtGetDeviceInfo",)),
    ("context on no device", lambda x: acl.Context(-1), acl.InvalidArgumentError, ("acl.Device.count()",)),
    ("context of a text", lambda x: acl.Context("0"), TypeError, ("id is '0'", "expected an int")),
    ("pool of a text", lambda x: acl.MemoryPool("0"), TypeError, ("id is '0'", "expected an int")),
    ("pool keeps a text", lambda x: acl.MemoryPool(keep="0"), TypeError, ("keep is '0'", "expected an int")),
    ("pool of a far limit", lambda x: acl.MemoryPool(limit=2**64), acl.InvalidArgumentError, (f"limit is {2**64}",)),
    ("context of a list", lambda x: acl.Context.from_handle([1]), TypeError, ("acl.Context: handle is [1]",)),
    ("context of garbage", lambda x: acl.Context.from_handle(12345), acl.ContextError, ("make a new one",)),
    ("stream of a text", lambda x: acl.Stream.from_handle("1"), TypeError, ("acl.Stream: handle is '1'",)),
    ("stream of None", lambda x: acl.Stream.from_handle(None), TypeError, ("handle is None", "expected an int")),
    ("stream of garbage", lambda x: acl.Stream.from_handle(12345), DEAD, ("0x3039", "not a live stream")),
    ("stream of an event", lambda x: acl.Stream.from_handle(x.event.handle), DEAD, ("not a live stream",)),
    ("stream of a negative handle", lambda x: acl.Stream.from_handle(-1), ValueError, ("handle is -1",)),
    ("event of a far handle", lambda x: acl.Event.from_handle(2**64), ValueError, (f"handle is {2**64}",)),
    ("stream positionally", lambda x: acl.Stream(3), TypeError, ("positional",)),
    ("stream of unknown option", lambda x: acl.Stream(color=3), TypeError, ("color",)),
    ("stream priority", lambda x: acl.Stream(priority=-3), ValueError, ("priority is -3", "expected 0")),
    ("stream priority as text", lambda x: acl.Stream(priority="high"), TypeError, ("priority is 'high'",)),
    ("event of a text", lambda x: acl.Event.from_handle("1"), TypeError, ("acl.Event: handle is '1'",)),
    ("event positionally", lambda x: acl.Event(True), TypeError, ("acl.Event", "positional")),
    ("event of unknown option", lambda x: acl.Event(timed=True), TypeError, ("timed",)),
    ("event made twice", lambda x: x.event.__init__(), TypeError, ("already called", "create another event")),
    ("record a number", lambda x: x.stream.record(7), TypeError, ("7 " + NO_EVENT, "acl.Event.from_handle()")),
    ("record a handle", lambda x: x.stream.record(x.event.handle), TypeError, (NO_EVENT, "from_handle()")),
    ("record a stream", lambda x: x.stream.record(x.stream), TypeError, (NO_EVENT,)),
    ("wait for a number", lambda x: x.stream.wait(7), TypeError, ("7 " + NO_EVENT,)),
    ("wait for nothing", lambda x: x.stream.wait(None), TypeError, ("None " + NO_EVENT,)),
    ("wait for a buffer", lambda x: x.stream.wait(x.buffer), TypeError, (NO_EVENT,)),
    ("reset on a number", lambda x: x.gate.reset(7), TypeError, ("7 " + NO_STREAM, "acl.Stream.from_handle()")),
    ("reset of no gate", lambda x: x.event.reset(x.stream), acl.NotSupportedError, ("207000",)),
    ("time to a number", lambda x: x.event.elapsed_time(7), TypeError, ("7 " + NO_EVENT,)),
    ("time minus a number", lambda x: x.event - 7, TypeError, ("unsupported operand",)),
    ("time never recorded", lambda x: x.event - x.event, acl.AclError, ("507000",)),
    ("fill on a number", lambda x: x.buffer.fill(0, stream=7), TypeError, ("7 " + NO_STREAM,)),
    ("fill of nothing", lambda x: x.array[:0].fill(0, stream=7), TypeError, ("7 " + NO_STREAM,)),
    ("copy of nothing", lambda x: x.array[:0].copy_from(x.array[:0], stream=7), TypeError, ("7 " + NO_STREAM,)),
    ("fill on a handle", lambda x: x.array.fill(0, stream=x.stream.handle), TypeError, (NO_STREAM, "from_handle()")),
    ("copy on a text", lambda x: x.buffer.copy_from(x.pinned, stream="s"), TypeError, ("'s' " + NO_STREAM,)),
    ("read on a number", lambda x: x.array.to_numpy(stream=7), TypeError, ("7 " + NO_STREAM,)),
    ("read on an event", lambda x: x.array.to_numpy(stream=x.event), TypeError, (NO_STREAM,)),
    ("used on None", lambda x: x.buffer.used_on(None), TypeError, ("None " + NO_STREAM,)),
    ("array used on None", lambda x: x.array.used_on(None), TypeError, ("None " + NO_STREAM,)),
    ("call of no function", lambda x: x.stream.call(None), TypeError, ("function is None", "expected a callable")),
    ("time-out as text", lambda x: x.stream.synchronize("1"), TypeError, ("timeout is '1'", "seconds")),
    ("time-out of no number", lambda x: x.stream.synchronize(float("nan")), TypeError, ("timeout is nan", "seconds")),
    ("time-out of a device as text", lambda x: acl.Device(0).synchronize("1"), TypeError, ("timeout is '1'",)),
    ("time-out of an event as text", lambda x: x.event.synchronize("1"), TypeError, ("timeout is '1'", "seconds")),
)

CLOSED = (
    ("record on a closed stream", lambda x: x.closed.stream.record(x.event), ("acl.Stream " + CLOSED_TEXT,)),
    ("record a closed event", lambda x: x.stream.record(x.closed.event), ("acl.Event " + CLOSED_TEXT,)),
    ("wait for a closed event", lambda x: x.stream.wait(x.closed.event), ("acl.Event " + CLOSED_TEXT,)),
    ("wait for a closed stream", lambda x: x.stream.wait(x.closed.stream), ("acl.Stream " + CLOSED_TEXT,)),
    ("time to a closed event", lambda x: x.closed.event - x.event, ("acl.Event " + CLOSED_TEXT,)),
    ("with a closed event", lambda x: x.closed.event.__enter__(), ("acl.Event " + CLOSED_TEXT,)),
    ("handle of a closed event", lambda x: x.closed.event.handle, ("acl.Event " + CLOSED_TEXT,)),
    ("pyacl with a closed event", lambda x: acl.rt.query_event_status(x.closed.event.handle), (CLOSED_TEXT,)),
    ("use a closed context", lambda x: x.closed.context.use(), ("acl.Context " + CLOSED_TEXT,)),
    ("synchronise a closed context", lambda x: x.closed.context.synchronize(), ("acl.Context " + CLOSED_TEXT,)),
    ("with a closed context", lambda x: x.closed.context.__enter__(), ("acl.Context " + CLOSED_TEXT,)),
    ("fill on a closed stream", lambda x: x.buffer.fill(0, stream=x.closed.stream), ("acl.Stream " + CLOSED_TEXT,)),
    ("copy on a closed stream", lambda x: x.array.copy(stream=x.closed.stream), ("acl.Stream " + CLOSED_TEXT,)),
    ("read after a closed stream", lambda x: x.array.to_numpy(stream=x.closed.stream), ("acl.Stream " + CLOSED_TEXT,)),
    ("used on a closed stream", lambda x: x.buffer.used_on(x.closed.stream), ("acl.Stream " + CLOSED_TEXT,)),
    ("context of a closed stream", lambda x: x.closed.stream.id, ("acl.Stream " + CLOSED_TEXT,)),
)

OTHER_THREAD = (
    ("record", lambda x: x.stream.record(x.event)),
    ("wait", lambda x: x.stream.wait(x.event)),
    ("call", lambda x: x.stream.call(print)),
    ("queued fill", lambda x: x.buffer.fill(0, stream=x.stream)),
    ("fill", lambda x: x.buffer.fill()),
    ("copy", lambda x: x.buffer.copy_from(bytes(8))),
    ("read", lambda x: x.array.to_numpy()),
    ("assign", lambda x: x.array.__setitem__(0, 1)),
    ("new array", lambda x: acl.DeviceArray(3)),
    ("array from the host", lambda x: acl.DeviceArray.from_numpy([1.0])),
    ("borrowed memory", lambda x: acl.Buffer.from_handle(x.buffer.handle, 8)),
    ("borrowed stream", lambda x: acl.Stream.from_handle(x.stream.handle)),
    ("new event", lambda x: acl.Event()),
    ("new gate", lambda x: acl.Event(gate=True)),
    ("new pool", lambda x: acl.MemoryPool()),
    ("current device", lambda x: acl.Device.current()),
    ("current context", lambda x: acl.Context.current()),
)

CAPTURE = (
    ("synchronise", lambda x: x.stream.synchronize(), ("end the capture first",)),
    ("synchronise with a limit", lambda x: x.stream.synchronize(1), ("end the capture first",)),
    ("query", lambda x: x.stream.query(), ("end the capture first",)),
    ("query an event of it", lambda x: x.stream.record(x.event).query(), ("end the capture first",)),
    ("wait for an event of it", lambda x: x.stream.record(x.event).synchronize(), ("end the capture first",)),
    ("synchronous copy", lambda x: x.buffer.copy_from(bytes(8)), ("107030", "pass stream=")),
    ("synchronous fill", lambda x: x.buffer.fill(), ("107030", "pass stream=")),
    ("bytes", lambda x: bytes(x.buffer), ("107030", "pass stream=")),
    ("read", lambda x: x.array.to_numpy(), ("107030", "pass stream=")),
    ("assign", lambda x: x.array.__setitem__(0, 1), ("107030", "pass stream=")),
    ("synchronise the device", lambda x: acl.Device(0).synchronize(), ("end the capture first",)),
    ("synchronise the context", lambda x: acl.Context.current().synchronize(), ("end the capture first",)),
    ("abort", lambda x: x.stream.abort(), ("end the capture first",)),
    ("close", lambda x: x.stream.close(), ("end the capture first",)),
    ("discard", lambda x: x.stream.discard(), ("end the capture first",)),
)


@misuse(WRONG_TYPES)
def test_wrong_arguments(act, kind, words, x):
    with raises(kind, *words):
        act(x)


@misuse([(name, act, acl.InvalidHandleError, (*words, FIX)) for name, act, words in CLOSED])
def test_closed_objects(act, kind, words, x):
    with raises(kind, *words):
        act(x)


@misuse([(*row, acl.ContextError, ("with acl.Device(0)",)) for row in OTHER_THREAD])
def test_a_thread_without_a_device(act, kind, words, x):
    def work():
        with raises(kind, *words):
            act(x)

    in_thread(work)


@misuse([(name, act, acl.CaptureError, words) for name, act, words in CAPTURE])
def test_what_a_capture_does_not_allow(act, kind, words, x):
    assert acl.mdl.ri_capture_begin(x.stream.handle, 0) == 0
    try:
        with raises(kind, *words):
            act(x)
    finally:
        instance, _ = acl.mdl.ri_capture_end(x.stream.handle)
        acl.mdl.ri_destroy(instance)


def rows_of(path):
    """Count the rows of a file's tables: those that begin with a name and have an action behind it."""
    rows = 0
    for node in ast.parse(path.read_text()).body:
        table = node.value if isinstance(node, ast.Assign) else None
        for item in table.elts if isinstance(table, (ast.Tuple, ast.List)) else ():
            parts = item.elts[:2] if isinstance(item, ast.Tuple) else ()
            kinds = [type(part) for part in parts]
            rows += kinds in ([ast.Constant, ast.Lambda], [ast.Constant, ast.Name])
    return rows


def test_the_objects_have_two_hundred_rows_of_misuse():
    counts = {path.name: rows_of(path) for path in Path(__file__).parent.glob("test_objects_*.py")}
    assert counts["test_objects_misuse.py"] == sum(map(len, (WRONG_TYPES, CLOSED, OTHER_THREAD, CAPTURE)))
    assert sum(counts.values()) >= 200, counts


def test_numpy_integers_are_integers():
    assert acl.Device(numpy.int64(0)) is acl.Device(0)
    assert acl.DeviceArray(numpy.int32(3)).shape == (3,)
