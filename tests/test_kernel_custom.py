"""Custom kernels in NumPy: what their functions are given, and what becomes of failures."""

import struct

import numpy
import pytest
from helpers.expect import refused

import acl

rt = acl.rt

pytestmark = [pytest.mark.needs_sim, pytest.mark.usefixtures("clean")]


@pytest.fixture
def launch(stream):
    """Give ``launch(content, blocks=1)``, which launches the kernel "kernel" with bytes of arguments."""

    def run(content, blocks=1):
        binary, ret = rt.binary_load_from_file("custom.o", [])
        function, found = rt.binary_get_function(binary, "kernel")
        assert ret == found == 0, acl.get_recent_err_msg()
        place = acl.util.bytes_to_ptr(content)
        return rt.launch_kernel_with_host_args(function, blocks, stream, [], place, len(content), [], 0)

    return run


def test_parameters_are_numbers_and_addresses(launch, stream):
    seen = []
    form = "PbB?hHiIqQfd"
    values = (2**40, -1, 255, True, -2, 65535, -3, 2**32 - 1, -4, 2**64 - 1, 1.5, 2.25)

    @acl.sim.custom_kernel("kernel", "custom.o", parameters=form)
    def look(launch, *given):
        seen.append(given)

    assert launch(struct.pack(form, *values)) == rt.synchronize_stream(stream) == 0
    assert seen == [values]


def test_arrays_are_device_memory(launch, stream):
    @acl.sim.custom_kernel("kernel", "custom", parameters="P")
    def fill(launch, out):
        launch.array(out, (2, 3), "f4")[launch.block] = launch.block + 1
        assert launch.array(0, (0, 3), "f4").shape == (0, 3)

    block, _ = rt.malloc(24, 0)
    assert launch(struct.pack("P", block), blocks=2) == rt.synchronize_stream(stream) == 0
    host = bytes(24)
    assert rt.memcpy(acl.util.bytes_to_ptr(host), 24, block, 24, 2) == 0
    assert numpy.frombuffer(host, "f4").tolist() == [1, 1, 1, 2, 2, 2]
    assert rt.free(block) == 0


@pytest.mark.parametrize("address, shape", [(0x1000, 1), (None, 1 << 20)])
def test_arrays_lie_in_one_block(launch, stream, raised, address, shape):
    @acl.sim.custom_kernel("kernel", "custom", parameters="P")
    def reach(launch, place):
        launch.array(place, shape, "f4")

    block, _ = rt.malloc(64, 0)
    assert launch(struct.pack("P", address or block)) == 0
    refused(rt.synchronize_stream(stream), 507015, "kernel failed", "does not lie in one live block")
    assert [type(error) for error in raised] == [ValueError]
    assert rt.free(block) == 0


def test_a_function_that_raises(launch, stream, raised):
    @acl.sim.custom_kernel("kernel", "custom.o")
    def fail(launch):
        raise KeyError("lost")

    assert launch(b"1234") == 0
    refused(rt.synchronize_stream(stream), 507015, "kernel failed", "block 0 of 1 failed: KeyError: 'lost'")
    assert [repr(error) for error in raised] == ["KeyError('lost')"]


def test_too_few_arguments(launch, stream, raised):
    acl.sim.custom_kernel("kernel", "custom.o", parameters="PP")(lambda launch, a, b: None)
    assert launch(b"12345678") == 0
    refused(rt.synchronize_stream(stream), 507015, "8 bytes of arguments, expected 16")
    assert len(raised) == 1


def test_what_cannot_be_touched(launch, raised):
    def touches(launch, place):
        raise OSError("no idea")

    acl.sim.custom_kernel("kernel", "custom.o", parameters="P", touches=touches)(lambda launch, place: None)
    refused(launch(bytes(8)), 107000, "expected at most 64: OSError: no idea")
    many = [(0x1000, 4, False)] * 65
    acl.sim.custom_kernel("kernel", "custom.o", touches=lambda launch: many)(lambda launch: None)
    refused(launch(bytes(8)), 107000, "declares 65 memory ranges")


def test_wrong_registrations():
    with pytest.raises(ValueError, match="'s' is not one of"):
        acl.sim.custom_kernel("kernel", parameters="Ps")
    with pytest.raises(ValueError, match='kernel is ""'):
        acl.sim.custom_kernel("")(lambda launch: None)
    with pytest.raises(ValueError, match='binary is ""'):
        acl.sim.custom_kernel("kernel", "")(lambda launch: None)
