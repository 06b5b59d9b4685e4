"""The checker of uninitialised reads: programs that read what nothing has written, and their corrected twins."""

import re

import pytest
from corpus import init as init_programs
from corpus.init import fresh, full, nn
from helpers import object_models

import acl

pytestmark = pytest.mark.needs_sim


@pytest.fixture
def stream(configure):
    """Open device 0 with the checker, and give a stream."""
    configure(check="init", findings="/dev/null")
    object_models.register()
    with acl.Device(0), acl.Stream() as stream:
        yield stream
    object_models.forget()


def test_the_finding_counts_bytes_and_names_the_first(stream):
    array = fresh(8, 4)
    array[:, 1:].fill(1, stream=stream)
    array[2].fill(1, stream=stream)
    nn.neg(array[1:4], stream=stream)
    stream.synchronize()
    (finding,) = acl.sim.findings()
    assert "reads 8 bytes of self" in finding.text and finding.text.endswith("the first is byte 16 of the block")
    assert re.match(r"self of aclnnNeg, task \d+ of stream \d+$", finding.notes[0].text)


def test_a_mistake_is_reported_once(stream):
    array = fresh(4)
    nn.neg(array, stream=stream)
    nn.exp(array, stream=stream)
    stream.synchronize()
    assert len(acl.sim.findings()) == 1


# --- Right programs


def test_an_index_leaves_elements_unread(stream):
    """A cache that is half full."""
    cache = fresh(8, 4)
    cache[:3].fill(1, stream=stream)
    index = acl.DeviceArray.from_numpy(init_programs.numpy.array([2, 0]))
    nn.index_select(cache, 0, index, stream=stream)
    nn.index_copy(cache, 0, index, full(2, 4), stream=stream)
    nn.inplace_index_copy(cache, 0, index, full(2, 4), stream=stream)
    stream.synchronize()
    assert acl.sim.findings() == []


def test_a_matrix_times_zero_is_not_read(stream):
    nn.addmm(fresh(2, 2), full(2, 3), full(3, 2), 0, 1, stream=stream)
    stream.synchronize()
    assert acl.sim.findings() == []


def test_host_and_managed_memory_counts_as_written(stream):
    with acl.Buffer(64, kind="host") as host, acl.Buffer(64) as device:
        device.copy_from(host, stream=stream)
        bytes(device)
    assert acl.sim.findings() == []


def test_an_unknown_kernel_may_have_written_everything(stream):
    array = fresh(4)
    init_programs.launch(stream)
    nn.neg(array, stream=stream)
    stream.synchronize()
    assert acl.sim.findings() == []


def test_outputs_whose_size_is_found_are_written(stream):
    found = nn.nonzero(full(3, 3), stream=stream)
    nn.unique(full(5), True, False, stream=stream)
    stream.synchronize()
    assert found.to_numpy().shape == (9, 2)
    assert acl.sim.findings() == []


def test_an_output_of_no_elements_needs_nothing(stream):
    nn.neg(fresh(0, 4), stream=stream)
    stream.synchronize()
    assert acl.sim.findings() == []
