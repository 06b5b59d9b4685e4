"""What the tests of the objects need: refusals that say what to do, streams that are held."""

import contextlib

import pytest

import acl
from helpers.expect import latches


@contextlib.contextmanager
def raises(kind, *words):
    """Expect an error of a family that has all the words in its text."""
    with pytest.raises(kind) as caught:
        yield caught
    text = str(caught.value)
    assert [word for word in words if word not in text] == [], text


@contextlib.contextmanager
def held(stream):
    """Hold what is queued on a stream from here on until ``release()``, or until the end."""
    with latches(stream.handle) as latch:
        latch.hold()
        yield latch


def free_memory():
    """Return the free bytes of the thread's device."""
    return acl.Device.current().memory_info().free
