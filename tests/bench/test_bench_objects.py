"""Calls of the objects beside the same calls from C, and the pyACL calls beside these, in one process and thread."""

import timeit

import pytest
from report import LOOPS, Row

import acl

pytestmark = pytest.mark.usefixtures("opened")
RECORD = 250  # what a record may cost above its twin
EVENT = Row("event", "acl.Event().close()", 500)


@pytest.fixture
def stream(opened):
    with acl.Stream() as stream:
        yield stream


def test_event(measure):
    """The target is absolute: what the objects make of it is Python's own."""
    calls = timeit.Timer("Event().close()", globals={"Event": acl.Event})
    measure(EVENT, lambda: calls.timeit(LOOPS) * 1e9 / LOOPS)


def test_create_event(opened, compare):
    names = {"create": acl.rt.create_event_ex_with_flag, "destroy": acl.rt.destroy_event}
    compare(Row("create_event", "the same by pyACL"), "e, ret = create(9); destroy(e)", names, 9)


def test_record(stream, compare):
    with acl.Event() as event:
        names = {"record": stream.record, "e": event}
        compare(Row("record_event", "stream.record(event)", RECORD), "record(e)", names, event.handle, stream.handle)
        stream.synchronize()


def test_synchronize(stream, compare):
    row = Row("synchronize_stream", "stream.synchronize(), idle", RECORD)
    compare(row, "synchronize()", {"synchronize": stream.synchronize}, stream.handle)


def test_fill(stream, compare):
    with acl.Buffer(64) as buffer:
        names = {"fill": buffer.fill, "s": stream}
        row = Row("memset_async", "buffer.fill(0, stream=stream)")
        compare(row, "fill(0, stream=s)", names, buffer.handle, len(buffer), stream.handle)


def test_malloc_free(opened, compare):
    row = Row("malloc_free", "acl.Buffer(4096).close()")
    compare(row, "Buffer(4096).close()", {"Buffer": acl.Buffer}, 4096)
