"""Tests that run on a laptop, on a CI runner without an NPU, and on a card."""

import pytest
import scale

import acl


@pytest.fixture
def simulator():
    """Give a simulator that starts anew, and does so again afterwards."""
    if acl.backend != "sim":
        pytest.skip("it is configured for this test")
    acl.sim.reset()
    yield acl.sim
    acl.sim.reset()


def test_sum():
    assert scale.fill_twice(10, 3) == 30


def test_without_memory(simulator):
    simulator.configure(memory="2M")
    with pytest.raises(acl.OutOfMemoryError, match="16777216 bytes were requested"):
        scale.fill_twice(1 << 24, 1)


def test_on_a_small_chip(simulator):
    simulator.configure(soc="Ascend310P3")
    assert scale.fill_twice(10, 3) == 30


def test_work_that_has_not_come_yet(simulator):
    with acl.Device(0), acl.Stream() as stream:
        simulator.hold(stream.handle)  # what is queued from here on waits
        event = stream.record()
        assert not event.query()
        simulator.release(stream.handle)
        event.synchronize()
        assert event.query()
