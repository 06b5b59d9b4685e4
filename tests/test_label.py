"""Streams of a built instance that start one another."""

from helpers.capture import Words, run
from helpers.expect import refused

import acl

PERSISTENT, HEAD, DEFAULT = 4, 0, 0x7FFFFFFF


def test_an_activated_stream_runs_after_what_activates_it(stream):
    words = Words()
    first, ret = acl.rt.create_stream_with_config(0, PERSISTENT)
    second, ret = acl.rt.create_stream_with_config(0, PERSISTENT)
    assert ret == 0
    instance, ret = acl.mdl.ri_build_begin(0)
    assert ret == 0
    assert acl.mdl.ri_bind_stream(instance, first, HEAD) == 0
    assert acl.mdl.ri_bind_stream(instance, second, DEFAULT) == 0
    assert words.copy(second, 1, 0) == 0
    assert words.set(first, 0, 3) == 0
    assert acl.rt.active_stream(second, first) == 0
    assert words.set(first, 2, 4) == 0
    assert acl.mdl.ri_end_task(instance, first) == 0
    assert acl.mdl.ri_build_end(instance) == 0
    assert words.read()[:3] == [0, 0, 0]
    run(instance, stream)
    assert words.read()[:3] == [3, 3, 4]
    for one in (first, second):
        assert acl.mdl.ri_unbind_stream(instance, one) == 0
    assert acl.mdl.ri_destroy(instance) == 0
    for one in (first, second):
        assert acl.rt.destroy_stream(one) == 0
    words.close()


def test_streams_that_are_not_bound(stream, other):
    refused(acl.rt.active_stream(0, stream), 100000, "activeStream is NULL")
    refused(acl.rt.active_stream(stream, 0), 100000, "stream is NULL")
    refused(acl.rt.active_stream(other, stream), 107005, "not bound")
