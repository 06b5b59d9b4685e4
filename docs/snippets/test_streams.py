"""Tests with the fixtures of the plugin."""

import numpy
import pytest

import acl


def test_copy(acl_stream):
    array = acl.DeviceArray.zeros((2, 3), "f4", stream=acl_stream)
    assert not array.to_numpy().any()


def test_on_a_small_chip(acl_sim, acl_device):
    pytest.raises(RuntimeError, acl_sim.configure, soc="Ascend310P3")  # a device is open
    assert acl_device.name == "Ascend910B3"


@pytest.mark.acl_check("race", "leak")
def test_with_checkers(acl_stream):
    ones = acl.DeviceArray.from_numpy(numpy.ones(4, "f4"), stream=acl_stream)
    assert (ones.to_numpy() == 1).all()


@pytest.mark.needs_npu
def test_on_a_card(acl_device):
    assert acl_device.memory_info().free > 0
