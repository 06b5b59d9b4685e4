"""The checker of host memory that changes while queued copies use it."""

import contextlib

import numpy
import pytest

import acl

pytestmark = pytest.mark.needs_sim
SIZE = 1 << 16
H2D, D2H = 1, 2


@pytest.fixture
def stream(configure):
    """Open device 0 with the checker, and give a stream."""
    configure(check="sync", findings="/dev/null")
    with acl.Device(0), acl.Stream() as stream:
        yield stream


@pytest.fixture
def buffers(stream):
    """Give pinned memory as an array of bytes, and device memory."""
    with acl.Buffer(SIZE, kind="host") as host, acl.Buffer(SIZE) as device:
        yield host.numpy(), device
        stream.synchronize()


@contextlib.contextmanager
def held(stream):
    """Let the work of a stream begin at the end of the block. A latch of the simulator runs no code of the program."""
    acl.sim.hold(stream.handle)
    yield
    acl.sim.release(stream.handle)


def upload(host, device, stream, size=SIZE):
    assert acl.rt.memcpy_async(device.handle, size, host.ctypes.data, size, H2D, stream.handle) == 0


def download(host, device, stream, size=SIZE):
    assert acl.rt.memcpy_async(host.ctypes.data, size, device.handle, size, D2H, stream.handle) == 0


def rules():
    return [finding.rule for finding in acl.sim.findings()]


@pytest.mark.parametrize("place", [0, 1, 7, 8, 4095, SIZE - 1])
def test_a_source_that_changes_before_the_copy(stream, buffers, place):
    host, device = buffers
    with held(stream):
        upload(host, device, stream)
        host[place] += 1
    stream.synchronize()
    (finding,) = acl.sim.findings()
    assert (finding.check, finding.rule, finding.level) == ("sync", "host-write-before-copy", "error")
    assert f"the source of aclrtMemcpyAsync ({SIZE} bytes at " in finding.text
    read, allocated = finding.notes
    assert (read.label, allocated.label) == ("read", "allocated")
    assert "test_check_sync.py:" in read.site and "in upload" in read.site


def test_a_destination_that_changes_before_the_copy(stream, buffers):
    host, device = buffers
    device.fill(5)
    with held(stream):
        download(host, device, stream)
        host[100] = 77
    stream.synchronize()
    assert rules() == ["host-write-to-destination"] and host[100] == 5


def test_the_host_may_write_after_synchronising(stream, buffers):
    host, device = buffers
    for value in range(5):
        host[:] = value
        upload(host, device, stream)
        stream.synchronize()
        download(host, device, stream)
        stream.synchronize()
        assert (host == value).all()
    assert rules() == []


def test_the_host_may_write_after_an_event(stream, buffers):
    host, device = buffers
    for value in range(5):
        host[:] = value
        upload(host, device, stream)
        with stream.record() as event:
            event.synchronize()
    assert rules() == []


def test_the_host_may_write_beside_the_copied_bytes(stream, buffers):
    host, device = buffers
    with held(stream):
        upload(host[100:], device, stream, 1000)
        host[:100] = 1
        host[1100:] = 1
    assert rules() == []


def test_two_halves_of_a_buffer_take_turns(stream, buffers):
    host, device = buffers
    half = SIZE // 2
    for turn in range(6):
        part = host[:half] if turn % 2 else host[half:]
        stream.synchronize()
        part[:] = turn
        upload(part, device, stream, half)
    assert rules() == []


def test_copies_may_change_what_later_copies_read(stream, buffers):
    host, device = buffers
    device.fill(3)
    with held(stream):
        download(host, device, stream)
        upload(host, device, stream)
        download(host, device, stream)
    stream.synchronize()
    assert rules() == []


def test_a_callback_may_change_what_later_copies_read(stream, buffers):
    host, device = buffers
    with held(stream):
        stream.call(lambda: host.fill(9))
        upload(host, device, stream)
    stream.synchronize()
    assert rules() == [] and bytes(device)[:3] == b"\t\t\t"


def test_another_stream_may_change_it_in_order(stream, buffers):
    host, device = buffers
    device.fill(3)
    with acl.Stream() as other, held(other):
        download(host, device, other)
        with other.record() as event:
            stream.wait(event)
        upload(host, device, stream)
    stream.synchronize()
    assert rules() == []


def test_a_replay_is_not_compared(stream, buffers):
    host, device = buffers
    with acl.capture(stream) as graph:
        upload(host, device, stream)
    for value in range(3):
        host[:] = value
        graph.replay(stream)
        stream.synchronize()
    graph.close()
    assert rules() == []


def test_pageable_memory_is_copied_before_the_call_returns(stream, buffers):
    _, device = buffers
    pageable = numpy.zeros(SIZE, "u1")
    upload(pageable, device, stream)
    pageable[:] = 1
    stream.synchronize()
    assert rules() == []
