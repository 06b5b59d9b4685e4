"""Helpers for tests of the objects: errors with their advice, streams that are held."""

import contextlib
import types

import pytest

import acl
from helpers.expect import latches

LARGE = 4 << 20  # large enough to show in the amount of free memory


@contextlib.contextmanager
def raises(kind, *words):
    """Expect an error of a family that has all the words in its text."""
    with pytest.raises(kind) as caught:
        yield caught
    text = str(caught.value)
    assert [word for word in words if word not in text] == [], text


@contextlib.contextmanager
def held(stream):
    """Hold later work on a stream until ``release()``, or until the end of the block."""
    with latches(stream.handle) as latch:
        latch.hold()
        yield latch


@pytest.fixture
def fresh_stream(opened):
    """Yield a new stream; test files name the fixture: ``stream = fresh_stream``."""
    with acl.Stream() as stream:
        yield stream


@pytest.fixture
def fresh_bytes(opened):
    """Yield an array of four zero bytes; test files name the fixture, as with :func:`fresh_stream`."""
    with acl.DeviceArray.zeros(4, "u1") as array:
        yield array


def filled(stream, array, value=1):
    """Return a graph that fills an array with a value."""
    with acl.capture(stream) as graph:
        array.fill(value, stream=stream)
    return graph


def misuse(rows):
    """Run a test once per row: (name, action, error class, words that the message must contain)."""
    return pytest.mark.parametrize("act, kind, words", [row[1:] for row in rows], ids=[row[0] for row in rows])


@contextlib.contextmanager
def things():
    """Yield one open object of each class for tests of misuse, and closed ones as ``closed``."""
    with acl.Stream() as stream, acl.Event() as event, acl.Event(gate=True) as gate:
        with acl.Buffer(8) as buffer, acl.Buffer(8, kind="host") as pinned:
            array, dead = acl.DeviceArray.from_numpy([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), types.SimpleNamespace()
            for name, make in (("stream", acl.Stream), ("event", acl.Event), ("context", acl.Context)):
                setattr(dead, name, make())
                getattr(dead, name).close()
            dead.buffer, dead.array = acl.Buffer(8), acl.DeviceArray(3)
            dead.buffer.close()
            dead.array.close()
            yield types.SimpleNamespace(
                stream=stream, event=event, gate=gate, buffer=buffer, pinned=pinned, array=array, closed=dead
            )


def free_memory():
    """Return the free bytes of the thread's device."""
    return acl.Device.current().memory_info().free
