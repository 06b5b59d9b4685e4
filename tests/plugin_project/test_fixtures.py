"""A project that uses the plugin of an installed package. Tests run a copy of it outside of this tree."""

import os
import sys

import pytest

before = "acl" in sys.modules


def test_the_package_is_not_imported_before_it_is_used():
    assert not before


def test_the_device_is_current(acl_device):
    import acl

    assert acl.rt.get_device() == (0, 0)
    assert acl_device == acl.Device(0) and acl_device.is_open
    stream, ret = acl.rt.create_stream()
    assert ret == 0 and acl.rt.destroy_stream(stream) == 0


def test_the_device_is_reset_after_the_test():
    import acl

    assert not acl.Device(0).is_open


def test_the_stream_does_work(acl_stream):
    import numpy

    import acl

    array = acl.DeviceArray.zeros((2, 3), "f4", stream=acl_stream)
    assert (array.to_numpy() == numpy.zeros((2, 3))).all()


@pytest.mark.needs_sim
def test_a_stream_is_synchronised_after_the_test(acl_stream):
    import acl

    acl.sim.hold(acl_stream.handle)
    acl_stream.call(lambda: acl_stream_ended.append(True))
    acl.sim.release(acl_stream.handle)


acl_stream_ended = []


@pytest.mark.needs_sim
def test_its_work_has_ended_before_the_next_test():
    assert acl_stream_ended == [True]


@pytest.mark.needs_sim
def test_the_simulator_is_fresh(acl_sim):
    import acl

    acl_sim.configure(devices=3)
    assert acl.Device.count() == 3


@pytest.mark.needs_sim
def test_the_configuration_ends_with_its_test():
    import acl

    assert acl.sim.get_config("devices") == os.environ.get("ACL_SIM_DEVICES", "1")


@pytest.mark.needs_sim
def test_the_device_opens_after_the_reset(acl_device, acl_sim):
    assert acl_device.is_open


@pytest.mark.acl_fault("malloc:2", "create_stream")
def test_calls_fail(acl_device):
    import acl

    blocks = [acl.rt.malloc(64, 0) for _ in range(3)]
    assert [ret for _, ret in blocks] == [0, 207001, 0]
    assert [acl.rt.free(block) for block, ret in blocks if ret == 0] == [0, 0]
    assert acl.rt.create_stream()[1] == 207008


@pytest.mark.acl_every_fault
def test_each_call_fails_once(acl_device):
    import acl

    struck.append(acl.rt.get_device()[1])
    with acl.Buffer(64) as buffer:
        buffer.fill(1)


struck = []


@pytest.mark.needs_sim
def test_each_call_has_failed_once():
    failed = [code != 0 for code in struck]
    assert failed[:2] == [False, True] and not any(failed[2:])  # the first call; later ones are of the buffer
    assert len(failed) > 3


@pytest.mark.acl_check("race", "leak")
def test_one_test_has_checkers(acl_device):
    import acl

    assert acl.sim.get_config("check") == "race,leak"


@pytest.mark.needs_sim
def test_and_the_next_test_has_none():
    import acl

    assert acl.sim.get_config("check") == os.environ.get("ACL_SIM_CHECK", "none")


@pytest.mark.needs_npu
def test_only_a_card_runs_this():
    import acl

    assert not acl.is_simulator
