"""Models that need no function: copies, and lines of their inputs, under a name or from a file."""

import numpy
import pytest
from helpers.expect import refused
from helpers.models import Dataset, Model, initialise, load, load_bytes

import acl
from acl.sim import om

mdl = acl.mdl

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


def test_an_identity_under_its_name():
    acl.sim.identity("same.om", [((1, 3, 4, 4), "f4"), ("flags", (2,), "?")])
    model = Model(load("nowhere/same.om"))
    image = numpy.arange(48, dtype="f4").reshape(1, 3, 4, 4)
    assert numpy.array_equal(model(image, numpy.array([True, False])), image)
    assert mdl.query_size("same.om") == (64, 16, 0)
    assert model.outputs.get(1, (2,), "?").tolist() == [True, False]
    assert mdl.get_input_dims(model.desc, 0)[0] == {"name": "input0", "dimCount": 4, "dims": [1, 3, 4, 4]}
    assert mdl.get_output_dims(model.desc, 1)[0] == {"name": "flags", "dimCount": 1, "dims": [2]}
    model.close()
    acl.sim.model("same.om")(None)


@pytest.mark.parametrize(("kind", "out"), [("f4", [1, 3.5]), ("i4", [1, 3]), ("i8", [1, 3])])
def test_a_line_of_each_type(kind, out):
    acl.sim.affine("line", [((2,), kind)], scale=2.5, offset=1)
    model = Model(load("line.om"))
    assert model(numpy.array([0, 1], kind)).tolist() == out
    model.close()
    acl.sim.model("line")(None)


def test_a_file_needs_no_name(tmp_path, run_script):
    """What comes back is a file that any program runs, in this process and in others."""
    content = acl.sim.affine("line.om", [((2,), "f4")], scale=2, offset=1)
    acl.sim.model("line.om")(None)
    model = Model(load_bytes(content)[0])
    assert model(numpy.array([1, -2], "f4")).tolist() == [3, -3]
    model.close()
    (tmp_path / "line.om").write_bytes(content)
    done = run_script(f"""
import acl
acl.init(), acl.rt.set_device(0)
model, ret = acl.mdl.load_from_file({str(tmp_path / "line.om")!r})
sides = [acl.mdl.create_dataset() for _ in range(2)]
blocks = [acl.rt.malloc(8, 0)[0] for _ in range(2)]
for side, block in zip(sides, blocks):
    acl.mdl.add_dataset_buffer(side, acl.create_data_buffer(block, 8))
acl.rt.memset(blocks[0], 8, 0, 8)
print(acl.mdl.execute(model, *sides))
out = bytes(8)
acl.rt.memcpy(acl.util.bytes_to_ptr(out), 8, blocks[1], 8, 2)
print(out.hex())
""")
    assert done.stdout == "0\n0000803f0000803f\n", done.stderr


def test_shapes_of_the_run():
    acl.sim.identity("open", [((-1, 2), "f4")])
    model = load("open.om")
    inputs, outputs = Dataset([32]), Dataset([32])
    for rows in (4, 1):
        values = numpy.arange(2 * rows, dtype="f4").reshape(rows, 2)
        inputs.put(0, values)
        shape = acl.create_tensor_desc(0, [rows, 2], 2)
        assert mdl.set_dataset_tensor_desc(inputs.handle, shape, 0)[1] == 0
        acl.destroy_tensor_desc(shape)
        assert mdl.execute(model, inputs.handle, outputs.handle) == 0, acl.get_recent_err_msg()
        assert acl.get_tensor_desc_dim_v2(mdl.get_dataset_tensor_desc(outputs.handle, 0), 0) == (rows, 0)
        assert outputs.get(0, (rows, 2)).tolist() == values.tolist()
    inputs.close()
    outputs.close()
    assert mdl.unload(model) == 0
    acl.sim.model("open")(None)


def test_a_damaged_file(monkeypatch):
    monkeypatch.setattr("sys.unraisablehook", lambda info: None)
    tensors = [om.Tensor("x", (1,))], [om.Tensor("y", (1,))]
    refused(load_bytes(om.write("m", *tensors, weights=b"short", executor="affine"))[1], 145000, "(affine)", "16 bytes")
