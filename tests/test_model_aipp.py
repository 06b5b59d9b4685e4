"""Parameters of image preprocessing: the block they make, models that take it, what inputs say of it."""

import numpy
import pytest
from helpers.models import Model, affine_bytes, initialise, load_bytes
from helpers.programs import run_script

import acl
from acl._lib import AIPP_INPUT as AIPP
from acl.sim import om

mdl = acl.mdl
WITHOUT, WITH_DYNAMIC, NODE = 0, 2, 3
XRGB8888, RGB888 = 2, 3
NO_INDEX = 0xFFFFFFFF

# The block as the documents of the model converter lay it out.
IMAGE = numpy.dtype(
    [("crop", "i1"), ("scale", "i1"), ("pad", "i1"), ("rotate", "i1"), ("-0", "i1", 4), ("start", "i4", 2),
     ("size", "i4", 2), ("from", "i4", 2), ("to", "i4", 2), ("sizes", "i4", 4), ("mean", "i2", 4), ("min", "f2", 4),
     ("reci", "f2", 4), ("-1", "i1", 16)]
)  # fmt: skip
HEAD = numpy.dtype(
    [("format", "u1"), ("csc", "i1"), ("rbuv", "i1"), ("ax", "i1"), ("count", "i1"), ("-0", "i1", 3),
     ("source", "i4", 2), ("matrix", "i2", 9), ("-1", "i2", 3), ("output", "u1", 3), ("input", "u1", 3),
     ("-2", "u1", 18)]
)  # fmt: skip

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


def size_of(batch):
    size, ret = mdl.get_aipp_data_size(batch)
    assert ret == 0
    return size


def image_model(dims=(2, 3, 480, 640), batch=2, gears=None):
    """Return a model whose images have dynamic AIPP, and room for pixels of four bytes."""
    parameters = om.Tensor(AIPP, (size_of(batch),), 4)
    inputs = [om.Tensor("x", dims, size=2 * 640 * 480 * 4), parameters]
    model, ret = load_bytes(om.write("image", inputs, [om.Tensor("y", (2, 3, 4, 4))], gears=gears))
    assert ret == 0, acl.get_recent_err_msg()
    return Model(model)


@pytest.fixture
def model():
    """Load a model with images at 0 and parameters at 1."""
    made = image_model()
    yield made
    made.close()


@pytest.fixture
def aipp():
    """Make parameters for two images that are not changed."""
    made = mdl.create_aipp(2)
    assert made
    assert mdl.set_aipp_input_format(made, RGB888) == 0
    assert mdl.set_aipp_src_image_size(made, 640, 480) == 0
    yield made
    assert mdl.destroy_aipp(made) == 0


def block_of(model, aipp):
    """Return the header and the images of the block that the set makes in device memory."""
    assert mdl.set_input_aipp(model.id, model.inputs.handle, 1, aipp) == 0, acl.get_recent_err_msg()
    raw = model.inputs.get(1, model.inputs.sizes[1], "u1").tobytes()
    return numpy.frombuffer(raw, HEAD, 1)[0], numpy.frombuffer(raw, IMAGE, offset=HEAD.itemsize)


def test_sizes_grow_with_the_batch():
    assert [size_of(batch) for batch in (1, 2, 3, 127)] == [HEAD.itemsize + n * IMAGE.itemsize for n in (1, 2, 3, 127)]
    assert size_of(1) == 160


def test_what_is_not_set(model, aipp):
    head, images = block_of(model, aipp)
    assert (head["format"], head["count"], *head["source"]) == (RGB888, 2, 640, 480)
    assert [head[name] for name in ("csc", "rbuv", "ax")] == [0, 0, 0]
    assert not images["crop"].any() and not images["scale"].any() and not images["pad"].any()
    assert (images["mean"] == 0).all() and (images["min"] == 0).all() and (images["reci"] == 1).all()


def test_what_images_share(model, aipp):
    matrix = [256, -3, 359, 4, -88, -183, 7, 454, -32768]
    assert mdl.set_aipp_csc_params(aipp, 1, *matrix, 1, 2, 3, 253, 254, 255) == 0
    assert mdl.set_aipp_rbuv_swap_switch(aipp, 1) == 0
    assert mdl.set_aipp_ax_swap_switch(aipp, 1) == 0
    assert mdl.set_aipp_input_format(aipp, XRGB8888) == 0
    head, _ = block_of(model, aipp)
    assert [head[name] for name in ("format", "csc", "rbuv", "ax")] == [XRGB8888, 1, 1, 1]
    assert list(head["matrix"]) == matrix
    assert (list(head["output"]), list(head["input"])) == ([1, 2, 3], [253, 254, 255])
    assert mdl.set_aipp_rbuv_swap_switch(aipp, 0) == 0
    assert block_of(model, aipp)[0]["rbuv"] == 0


def test_what_each_image_has(model, aipp):
    assert mdl.set_aipp_src_image_size(aipp, 650, 490) == 0
    assert mdl.set_aipp_crop_params(aipp, 1, 10, 12, 632, 477, 0) == 0
    assert mdl.set_aipp_padding_params(aipp, 1, 1, 2, 3, 5, 0) == 0
    assert mdl.set_aipp_crop_params(aipp, 1, 4, 5, 640, 480, 1) == 0
    assert mdl.set_aipp_dtc_pixel_mean(aipp, 104, 117, 123, 0, 1) == 0
    assert mdl.set_aipp_dtc_pixel_min(aipp, 0.5, 1, 255, 0, 1) == 0
    assert mdl.set_aipp_pixel_var_reci(aipp, 0.0039, -2, 65504, 1, 0) == 0
    head, (first, second) = block_of(model, aipp)
    assert list(head["source"]) == [650, 490]
    assert [first[name] for name in ("crop", "scale", "pad")] == [1, 0, 1]
    assert [second[name] for name in ("crop", "scale", "pad")] == [1, 0, 0]
    assert (list(first["start"]), list(first["size"])) == ([10, 12], [632, 477])
    assert (list(second["start"]), list(second["size"])) == ([4, 5], [640, 480])
    assert list(first["sizes"]) == [1, 2, 3, 5]
    assert (list(first["mean"]), list(second["mean"])) == ([0] * 4, [104, 117, 123, 0])
    assert list(second["min"]) == [0.5, 1, 255, 0]
    assert list(first["reci"]) == [numpy.float16(0.0039), -2, 65504, 1]
    assert list(second["reci"]) == [1] * 4


def test_a_switch_that_is_off_makes_the_rest_mean_nothing(model, aipp):
    assert mdl.set_aipp_crop_params(aipp, 0, -1, -1, -1, -1, 1) == 0
    assert mdl.set_aipp_scf_params(aipp, 0, -1, -1, -1, -1, 1) == 0
    assert mdl.set_aipp_padding_params(aipp, 0, -1, -1, -1, -1, 1) == 0
    assert mdl.set_aipp_csc_params(aipp, 0, *[9] * 15) == 0
    head, images = block_of(model, aipp)
    assert not head["matrix"].any() and not head["input"].any()
    assert not images["start"].any() and not images["from"].any() and not images["sizes"].any()


def test_a_later_change_waits_for_the_next_call(model, aipp):
    block_of(model, aipp)
    assert mdl.set_aipp_src_image_size(aipp, 700, 500) == 0
    for image in range(2):
        assert mdl.set_aipp_crop_params(aipp, 1, 0, 0, 640, 480, image) == 0
    assert list(model.inputs.get(1, 4, "i4")[2:]) == [640, 480]
    assert list(block_of(model, aipp)[0]["source"]) == [700, 500]


def test_by_the_index_of_the_images(model, aipp):
    assert mdl.set_aipp_by_input_index(model.id, model.inputs.handle, 0, aipp) == 0
    assert list(model.inputs.get(1, 4, "i4")[2:]) == [640, 480]


def test_a_smaller_batch_leaves_the_rest_of_the_buffer(aipp):
    model = image_model((1, 3, 480, 640), 3)
    model.inputs.put(1, numpy.full(size_of(3), 7, "u1"))
    assert mdl.set_input_aipp(model.id, model.inputs.handle, 1, aipp) == 0
    assert (model.inputs.get(1, size_of(3), "u1")[size_of(2) :] == 7).all()
    model.close()


def test_the_batch_of_the_largest_gear():
    model = image_model((-1, 3, 4, 4), 8, om.Gears(om.BATCH, [[2], [8], [4]]))
    for batch, code in [(7, 145014), (8, 0), (9, 145012)]:
        made = mdl.create_aipp(batch)
        assert mdl.set_aipp_input_format(made, RGB888) == 0 and mdl.set_aipp_src_image_size(made, 4, 4) == 0
        assert mdl.set_input_aipp(model.id, model.inputs.handle, 1, made) == code, batch
        assert mdl.destroy_aipp(made) == 0
    model.close()


def test_types_of_inputs(model):
    assert mdl.get_aipp_type(model.id, 0) == (WITH_DYNAMIC, 1, 0)
    assert mdl.get_aipp_type(model.id, 1) == (NODE, NO_INDEX, 0)
    plain, ret = load_bytes(affine_bytes())
    assert ret == 0
    assert mdl.get_aipp_type(plain, 0) == (WITHOUT, NO_INDEX, 0)
    assert mdl.unload(plain) == 0


def test_the_first_images_have_it():
    inputs = [om.Tensor("v", (3,)), om.Tensor("x", (1, 3, 4, 4)), om.Tensor("z", (1, 3, 4, 4)), om.Tensor(AIPP, (160,))]
    number, ret = load_bytes(om.write("images", inputs, [om.Tensor("y", (2,))]))
    assert ret == 0
    assert [mdl.get_aipp_type(number, i)[0] for i in range(4)] == [WITHOUT, WITH_DYNAMIC, WITHOUT, NODE]
    assert mdl.get_aipp_type(number, 1) == (WITH_DYNAMIC, 3, 0)
    assert mdl.unload(number) == 0


def test_the_gear_is_no_image():
    model = image_model((-1, 3, 4, 4), 2, om.Gears(om.BATCH, [[1], [2]]))
    types = [mdl.get_aipp_type(model.id, i) for i in range(3)]
    assert types == [(WITH_DYNAMIC, 1, 0), (NODE, NO_INDEX, 0), (WITHOUT, NO_INDEX, 0)]
    model.close()


RESET = """
import acl
from acl._lib import lib
old = [acl.mdl.create_aipp(127) for _ in range(10)]
lib.aclsimReset()
assert [acl.mdl.destroy_aipp(one) for one in old] == [100000] * 10
new = acl.mdl.create_aipp(1)
assert new not in old and acl.mdl.destroy_aipp(new) == 0
"""

FORK = """
import os
import acl
old = acl.mdl.create_aipp(2)
child = os.fork()
if child == 0:
    new = acl.mdl.create_aipp(1)
    right = acl.mdl.destroy_aipp(old) == 100000 and new != old and acl.mdl.destroy_aipp(new) == 0
    os._exit(0 if right else 1)
assert os.waitpid(child, 0)[1] == 0
assert acl.mdl.destroy_aipp(old) == 0
"""


@pytest.mark.parametrize("code", [RESET, FORK], ids=["reset", "fork"])
def test_the_end_of_sets(code):
    done = run_script(code)
    assert done.returncode == 0, done.stderr
