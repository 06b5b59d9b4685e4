"""Recording of model runs, and their replay."""

from pathlib import Path

from helpers.programs import run_script

import acl
from acl import layout

# Runs a model of each kind; the functions are those of the recorded process alone.
PROGRAM = """
import sys

sys.path.insert(0, {tests!r})
import numpy
from helpers.models import Dataset, Model, initialise, load

import acl
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
folder = {folder!r}
initialise()
assert rt.set_device(0) == 0
stream = rt.create_stream()[0]
PLAIN = [om.Tensor("x", (2,)), om.Tensor("k", (1,), 9)], [om.Tensor("y", (2,))]
BATCHES = om.Gears(om.BATCH, [[1], [4]], [(0, 0, (1, 2)), (1, 0, (4, 2))])
GEARED = [om.Tensor("x", (-1, 2))], [om.Tensor("y", (4, 2))]
FREE = om.Gears(om.DIMS, [[1, 2], [3, 4]], [(0, 0, (1,)), (1, 0, (3,))])
DIMS = [om.Tensor("x", (-1, 2)), om.Tensor("z", (-1,))], [om.Tensor("y", (3,))]
OPEN = [om.Tensor("x", (-1,), ranges=((1, 9),))], [om.Tensor("y", (-1,))]
if {record}:
    acl.sim.model(folder + "/plain.om", *PLAIN)(lambda x, k: x * k)
    acl.sim.model(folder + "/geared.om", *GEARED, gears=BATCHES)(lambda x: x + len(x))
    acl.sim.model(folder + "/dims.om", *DIMS, gears=FREE)(lambda x, z: x.sum(1) + z.sum())
    acl.sim.model(folder + "/open.om", *OPEN, dynamic=True)(lambda x: x[::-1])

plain = Model(load(folder + "/plain.om"))
for n in range(5):
    plain.inputs.put(1, numpy.array([n], "i8"))
    print(plain(numpy.array([n, 3], "f4")).tolist())
    assert plain.execute(stream) == 0 and rt.synchronize_stream(stream) == 0
    print(plain.outputs.get(0, (2,)).tolist())
plain.inputs.put(0, numpy.array([{unknown}, 3], "f4"))
print(plain.execute())
plain.close()

geared = Model(load(folder + "/geared.om"))
for n in (4, 1):
    assert mdl.set_dynamic_batch_size(geared.id, geared.inputs.handle, 1, n) == 0
    print(geared(numpy.ones((n, 2), "f4")).tolist())

dims = Model(load(folder + "/dims.om"))
for row in mdl.get_input_dynamic_dims(dims.desc, -1, 2)[0]:
    assert mdl.set_input_dynamic_dims(dims.id, dims.inputs.handle, 2, row) == 0
    print(dims(numpy.ones((row["dims"][0], 2), "f4"), numpy.ones(row["dims"][2], "f4")).tolist())
dims.close()

model, inputs, outputs = load(folder + "/open.om"), Dataset([36]), Dataset([36])
for n in (3, 9):
    inputs.put(0, numpy.arange(n, dtype="f4"))
    shape = acl.create_tensor_desc(0, [n], 2)
    mdl.set_dataset_tensor_desc(inputs.handle, shape, 0)
    assert mdl.execute(model, inputs.handle, outputs.handle) == 0, acl.get_recent_err_msg()
    print(outputs.get(0, (n,)).tolist())
"""


def test_a_recording_answers_as_the_models_did(tmp_path):
    """Recorded from functions; replayed; and recorded again from the replay, through the vendor's path."""
    tests = str(Path(__file__).parent)
    real, again, toolkit = (str(tmp_path / name) for name in ("real", "again", "toolkit"))

    def run(env, **values):
        done = run_script(PROGRAM.format(tests=tests, folder=real, **values), env)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first = run({"ACL_BACKEND": "sim", "ACL_RECORD": real}, record=True, unknown=50)
    assert first[0:2] == ["[0.0, 0.0]"] * 2 and first[8] == "[16.0, 12.0]" and first[10] == "0"
    assert first[-1] == str([float(n) for n in range(8, -1, -1)]) and len(first) == 17
    assert run({"ACL_BACKEND": "sim"}, record=False, unknown=50) == first
    assert run({"ACL_BACKEND": "sim"}, record=False, unknown=51) == [*first[:10], "507011", *first[11:]]
    layout.write(toolkit)
    env = {"ACL_BACKEND": "npu", "ACL_TOOLKIT": toolkit, "ACL_RECORD": again}
    assert run(env, record=False, unknown=50) == first
    for name in ("plain", "geared", "dims", "open"):
        assert (tmp_path / "again" / f"{name}.om").read_bytes() == (tmp_path / "real" / f"{name}.om").read_bytes()


# Preprocesses an image of 2 by 2 pixels, beside a model that is recorded.
IMAGES = """
import sys

sys.path.insert(0, {tests!r})
import numpy
from helpers.models import Model, initialise, load

import acl
from acl._lib import AIPP_INPUT
from acl.sim import om

mdl = acl.mdl
described, ended = [], []
mdl.create_desc = lambda create=mdl.create_desc: described.append(create()) or described[-1]
mdl.destroy_desc = lambda desc, destroy=mdl.destroy_desc: ended.append(desc) or destroy(desc)
initialise()
assert acl.rt.set_device(0) == 0
image = [om.Tensor("x", (1, 2, 2, 3), format=1, size=12), om.Tensor(AIPP_INPUT, (160,), 4)]
acl.sim.model({folder!r} + "/image.om", image, [om.Tensor("y", (1, 2, 2, 3))])(lambda x: x)
acl.sim.model({folder!r} + "/plain.om", [om.Tensor("x", (2,))], [om.Tensor("y", (2,))])(lambda x: -x)
models = [Model(load({folder!r} + name)) for name in ("/image.om", "/plain.om")]
made = mdl.create_aipp(1)
assert (mdl.set_aipp_input_format(made, 3), mdl.set_aipp_src_image_size(made, 2, 2)) == (0, 0)
assert mdl.set_input_aipp(models[0].id, models[0].inputs.handle, 1, made) == 0, acl.get_recent_err_msg()
print(models[0](numpy.arange(12, dtype="u1")).ravel().tolist(), models[1](numpy.ones(2, "f4")).tolist())
for model in models:
    model.close()
print(len(described), sorted(described) == sorted(ended))
"""


def test_a_model_with_aipp_runs_and_is_not_recorded(tmp_path):
    """The image takes fewer bytes than the floats that the model is described with; no description is left."""
    code = IMAGES.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    done = run_script(code, {"ACL_BACKEND": "sim", "ACL_RECORD": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout == str([float(n) for n in range(12)]) + " [-1.0, -1.0]\n4 True\n"
    assert done.stderr.count("Warning") == done.stderr.count("helpers/models.py:") == 1  # what loads the model
    assert "UserWarning: ACL_RECORD does not record image: the model has dynamic AIPP" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain.om"]


def test_nothing_is_wrapped_without_the_variable():
    assert type(acl.mdl.execute).__name__ == "builtin_function_or_method"
