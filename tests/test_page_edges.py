"""Memory of tensors beside inaccessible pages, which .ci/full gives to all tests of operators (ACL_TEST_EDGE)."""

import os
from pathlib import Path

import numpy
import pytest
from helpers import edges, tensors
from helpers.memory import read, write

import acl

pytestmark = pytest.mark.needs_sim

HERE = str(Path(__file__).parent)
PROGRAM = """
import ctypes, acl
from helpers import edges
assert acl.rt.set_device(0) == 0
address, release = edges.allocate(24, {edge!r})
print(ctypes.string_at(address, 24) == bytes(24), flush=True)
ctypes.string_at(address + {offset}, 1)
release(address)
print("after", flush=True)
"""


@pytest.mark.parametrize(
    "edge, offset, ends",
    [("last", 24, True), ("last", -1, False), ("first", -1, True), ("first", 24, False)],
)
def test_a_byte_beyond_the_edge_ends_the_process(run_script, edge, offset, ends):
    path = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))
    done = run_script(PROGRAM.format(edge=edge, offset=offset), env={"PYTHONPATH": path})
    assert done.stdout.splitlines() == ["True"] + ["after"] * (not ends), done.stderr
    assert (done.returncode != 0) is ends


@pytest.mark.parametrize("edge", ["last", "first"])
def test_devices_use_the_memory_until_it_is_released(device, edge):
    address, release = edges.allocate(10000, edge)
    values = numpy.arange(10000, dtype="u4").astype("u1")
    write(address, values)
    assert numpy.array_equal(read(address, 10000), values)
    release(address)
    start = address - address % 4096
    assert acl.rt.host_get_device_pointer(start, 0)[1] == 107000


@pytest.mark.parametrize("edge", ["last", "first"])
def test_tensors_touch_the_page(npu, monkeypatch, edge):
    monkeypatch.setattr(tensors.edges, "EDGE", edge)
    count = len(npu.ends)
    self, out = npu.tensor(numpy.array([-1, 2, -3], "f4")), npu.tensor(numpy.zeros(3, "f4"))
    assert {tensor.address % 4096 for tensor in (self, out)} == {4084 if edge == "last" else 0}
    assert npu.call("relu", self, out) == 0
    assert npu.get(out).tolist() == [0, 2, 0]
    base = numpy.arange(-12, 0, dtype="f4").reshape(3, 4)
    view = npu.view(base, base[1:, 2:0:-1], "f4")  # 6 of the 12 elements, from the sixth on
    first, last = view.address + 5 * 4, view.address + 11 * 4
    assert (last if edge == "last" else first) % 4096 == 0
    assert npu.call("neg", view, view) == 0
    assert npu.get(view).tolist() == [[6, 7], [2, 3]]
    assert npu.get(view._replace(view=base))[0].tolist() == [-12, -11, -10, -9]
    npu.release(count)
    assert len(npu.ends) == count
