"""Gears: buffers as large as the gear that was set, and which index asks for the gears."""

import numpy
import pytest
from helpers.expect import refused
from helpers.models import Dataset, Model, initialise, load

import acl
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
GEARS = {
    "batch": (om.Gears(om.BATCH, [[1], [40]], [(0, 0, (1, 30)), (1, 0, (40, 30))]), (-1, 30), (40, 30)),
    "image": (om.Gears(om.HW, [[1, 30], [40, 30]], [(0, 0, (1, 30)), (1, 0, (40, 30))]), (-1, -1), (40, 30)),
    "dims": (om.Gears(om.DIMS, [[1, 30], [40, 30]], [(0, 0, (1, 30)), (1, 0, (40, 30))]), (-1, -1), (40, 30)),
}
SMALL, LARGE = 1 * 30 * 4, 40 * 30 * 4

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()
    yield
    acl.sim.model("geared")(None)


@pytest.fixture(params=GEARS)
def geared(request):
    """A model with two gears, of 120 and 4,800 bytes on both sides, which adds 1."""
    gears, shape, most = GEARS[request.param]
    acl.sim.model("geared", [("x", shape, "f4")], [("y", most, "f4")], gears=gears)(lambda x: x + 1)
    model = Model(load("geared.om"))
    model.kind = request.param
    yield model
    model.close()


class Sides:
    """The datasets of a run with buffers of these sizes; memory lies before and behind them."""

    def __init__(self, model, given, returned):
        self.model = model
        self.inputs, self.outputs = Dataset([given + 256, model.inputs.sizes[1]]), Dataset([returned + 256])
        for side, size in ((self.inputs, given), (self.outputs, returned)):
            assert acl.update_data_buffer(side.buffers[0], side.addresses[0], size) == 0

    def choose(self, rows):
        model, handle = self.model, self.inputs.handle
        if model.kind == "batch":
            ret = mdl.set_dynamic_batch_size(model.id, handle, 1, rows)
        elif model.kind == "image":
            ret = mdl.set_dynamic_hw_size(model.id, handle, 1, rows, 30)
        else:
            ret = mdl.set_input_dynamic_dims(model.id, handle, 1, {"name": "", "dimCount": 2, "dims": [rows, 30]})
        assert ret == 0, acl.get_recent_err_msg()

    def execute(self, stream=None):
        if stream is None:
            return mdl.execute(self.model.id, self.inputs.handle, self.outputs.handle)
        return mdl.execute_async(self.model.id, self.inputs.handle, self.outputs.handle, stream)

    def close(self):
        self.inputs.close()
        self.outputs.close()


def result_of(sides, count, behind):
    """Run with counting numbers, and return the ``count`` floats of the output and the bytes behind its buffer."""
    sides.inputs.put(0, numpy.arange(count, dtype="f4"))
    sides.outputs.put(0, numpy.full(behind + 100, 0x5A, "u1"))
    assert sides.execute() == 0, acl.get_recent_err_msg()
    everything = sides.outputs.get(0, behind + 100, "u1")
    return everything[: count * 4].view("f4"), everything[behind:]


@pytest.mark.parametrize("more", [0, 200])
def test_buffers_of_the_gear_that_was_set_are_enough(geared, more):
    """Larger ones, too."""
    sides = Sides(geared, SMALL + more, SMALL + more)
    sides.choose(1)
    result, behind = result_of(sides, 30, SMALL)
    assert result.tolist() == list(range(1, 31)) and set(behind) == {0x5A}
    sides.close()


def test_a_queued_run_takes_them_as_well(geared, stream):
    sides = Sides(geared, SMALL, SMALL)
    sides.choose(1)
    sides.inputs.put(0, numpy.arange(30, dtype="f4"))
    assert sides.execute(stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert sides.outputs.get(0, 30).tolist() == list(range(1, 31))
    sides.close()


def test_smaller_buffers_are_refused_with_both_sizes(geared, stream):
    for given, returned, text in (
        (SMALL - 65, SMALL, "input 0 (x) has 55 bytes, expected 120"),
        (SMALL, SMALL - 65, "output 0 (y) has 55 bytes, expected 120"),
    ):
        sides = Sides(geared, given, returned)
        sides.choose(1)
        refused(sides.execute(), 145000, text)
        refused(sides.execute(stream), 145000, text)
        sides.close()


def test_without_a_gear_the_largest_one_is_expected(geared):
    sides = Sides(geared, SMALL, LARGE)
    refused(sides.execute(), 145000, "input 0 (x) has 120 bytes, expected 4800")
    sides.close()


def test_each_dataset_has_its_own_gear(geared):
    """Two runs are prepared, then both are executed."""
    small, large = Sides(geared, SMALL, SMALL), Sides(geared, LARGE, LARGE)
    small.choose(1)
    large.choose(40)
    assert result_of(small, 30, SMALL)[0].tolist() == list(range(1, 31))
    assert result_of(large, 1200, LARGE)[0].tolist() == list(range(1, 1201))
    small.choose(40)
    refused(small.execute(), 145000, "has 120 bytes, expected 4800")
    small.close()
    large.close()


@pytest.mark.finds("buffer-size", count=2)
def test_only_the_bytes_of_short_buffers_are_touched(geared):
    """A tensor may be cut by up to 64 bytes: what is missing reads as 0, and is not written."""
    for missing in (1, 4, 63, 64):
        sides = Sides(geared, SMALL - missing, SMALL - missing)
        sides.choose(1)
        result, behind = result_of(sides, 30, SMALL - missing)
        whole = (SMALL - missing) // 4
        assert result[:whole].tolist() == list(range(1, whole + 1)) and set(behind) == {0x5A}
        sides.close()


@pytest.mark.finds("buffer-size", count=2)
def test_a_short_buffer_at_the_end_of_its_memory():
    """A model without gears reads and writes no byte that its buffers do not have."""
    acl.sim.model("geared", [("x", (100,), "f8")], [("y", (100,), "f8")])(lambda x: x + 1)
    model = Model(load("geared.om"))
    memory = rt.malloc(736, 0)[0]
    for side in (model.inputs, model.outputs):
        assert acl.update_data_buffer(side.buffers[0], memory, 736) == 0
    numbers = numpy.arange(92, dtype="f8")
    assert rt.memcpy(memory, 736, numbers.ctypes.data, 736, 1) == 0
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert rt.memcpy(numbers.ctypes.data, 736, memory, 736, 2) == 0
    assert numbers.tolist() == list(range(1, 93))
    assert rt.free(memory) == 0
    model.close()


@pytest.mark.finds("race", count=None)
def test_a_gear_that_is_set_between_submission_and_run(geared, stream):
    sides = Sides(geared, SMALL, SMALL)
    sides.choose(1)
    acl.sim.hold(stream)
    assert sides.execute(stream) == 0
    sides.choose(40)
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507011, "input 0 (x) has 120 bytes, expected 4800 for the gear")
    sides.close()


@pytest.mark.finds("buffer-size")
def test_a_gear_input_too_short_for_a_gear(geared):
    sides = Sides(geared, LARGE, LARGE)
    sides.choose(40)
    assert acl.update_data_buffer(sides.inputs.buffers[1], sides.inputs.addresses[1], 3) == 0
    refused(sides.execute(), 507011, "does not select a gear")
    sides.close()


@pytest.mark.parametrize("index", [-1, 0, 1])
def test_any_input_asks_for_the_gears(geared, index):
    """So does the index of the gear input, by which programs ask."""
    desc = geared.desc
    assert mdl.get_input_index_by_name(desc, "ascend_mbatch_shape_data") == (1, 0)
    image = {"hwCount": 2, "hw": [[1, 30], [40, 30]]} if geared.kind == "image" else {"hwCount": 0, "hw": []}
    assert mdl.get_dynamic_hw(desc, index) == (image, 0)
    count = 2 if geared.kind == "dims" else 0
    assert mdl.get_input_dynamic_gear_count(desc, index) == (count, 0)
    dims, ret = mdl.get_input_dynamic_dims(desc, index, 2)
    assert ret == 0
    assert [row["dims"] for row in dims][:count] == [[1, 30], [40, 30]][:count]


def test_an_index_beyond_the_inputs_asks_for_nothing(geared):
    refused(mdl.get_dynamic_hw(geared.desc, 2)[1], 100000, "index is 2", "less than 2")
    refused(mdl.get_input_dynamic_gear_count(geared.desc, 2)[1], 100000, "index is 2")
    refused(mdl.get_input_dynamic_dims(geared.desc, 2, 2)[1], 100000, "index is 2")
