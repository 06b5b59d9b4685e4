"""Image preprocessing in front of runs, against a twin in NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.images import BT601, CHANNELS, RGB888, TO_YUV, XRGB8888, YUV400, YUV420SP, Settings
from helpers.models import Model, initialise, load_bytes

import acl
from acl._lib import AIPP_INPUT as AIPP
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
FLOAT, HALF, NCHW, NHWC = 0, 1, 0, 1
NAMES = {YUV420SP: "yuv420", XRGB8888: "xrgb", RGB888: "rgb", YUV400: "gray"}

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()
    acl.sim.model("image")(lambda x: x)
    yield
    acl.sim.model("image")(None)


def load(shape, size, type_=FLOAT, form=NCHW, gears=None):
    """Return a model that gives its images back: ``shape`` is batch, height, width and channels."""
    dims = shape if form == NHWC else (shape[0], shape[3], shape[1], shape[2])
    most = tuple(4 if dim < 0 else dim for dim in dims)
    parameters = om.Tensor(AIPP, (64 + 96 * most[0],), 4)
    inputs = [om.Tensor("x", dims, type_, form, size), parameters]
    number, ret = load_bytes(om.write("image", inputs, [om.Tensor("y", most, type_, form)], gears=gears))
    assert ret == 0, acl.get_recent_err_msg()
    return Model(number)


def run(model, *images):
    """Return the code of a run on these images."""
    model.inputs.put(0, numpy.concatenate(images))
    return model.execute()


FULL = {"means": [104, 117, 123, 9], "minima": [0.5, 1.25, 3, 7], "factors": [0.017, -0.5, 1.5, 2]}
CASES = [
    Settings(RGB888, (6, 5)),
    Settings(RGB888, (6, 5), rbuv=1, **FULL),
    Settings(RGB888, (6, 5), csc=TO_YUV, crop=(1, 2, 3, 2), **FULL),
    Settings(RGB888, (6, 5), rbuv=1, csc=TO_YUV, pads=(1, 0, 2, 3), **FULL),
    Settings(YUV420SP, (8, 6)),
    Settings(YUV420SP, (8, 6), rbuv=1),
    Settings(YUV420SP, (8, 6), csc=BT601, **FULL),
    Settings(YUV420SP, (8, 6), rbuv=1, csc=BT601, crop=(2, 4, 5, 2), pads=(3, 1, 0, 2), **FULL),
    Settings(XRGB8888, (5, 4)),
    Settings(XRGB8888, (5, 4), ax=1),
    Settings(XRGB8888, (5, 4), rbuv=1, ax=1, csc=TO_YUV, crop=(0, 1, 4, 3), pads=(0, 0, 1, 0), **FULL),
    Settings(YUV400, (7, 3), rbuv=1, **FULL),
]


@pytest.mark.parametrize("form", [NCHW, NHWC], ids=["NCHW", "NHWC"])
@pytest.mark.parametrize(("type_", "kind"), [(FLOAT, "f4"), (HALF, "f2")])
@pytest.mark.parametrize("settings", CASES, ids=[NAMES[each.form] for each in CASES])
def test_steps(settings, type_, kind, form):
    raw = settings.random()
    for channels in {1, min(3, CHANNELS[settings.form]), CHANNELS[settings.form]}:
        expected = settings.apply(raw, channels, kind)
        model = load((1, *expected.shape), len(raw), type_, form)
        settings.put(model)
        assert run(model, raw) == 0, acl.get_recent_err_msg()
        if form == NCHW:
            expected = expected.transpose(2, 0, 1)
        assert (model.outputs.get(0, expected.shape, kind) == expected).all()
        model.close()


def test_colours_that_everybody_knows():
    """BT.601: black, nearly white, red."""
    settings = Settings(YUV420SP, (2, 2), csc=BT601)
    model = load((1, 2, 2, 3), 6, form=NHWC)
    settings.put(model)
    for colour, expected in [
        ((16, 128, 128), (0, 0, 0)),
        ((235, 128, 128), (254, 254, 254)),
        ((82, 90, 240), (255, 0, 0)),
    ]:
        assert run(model, numpy.array([colour[0]] * 4 + list(colour[1:]), "u1")) == 0
        assert model.outputs.get(0, (4, 3)).tolist() == [list(expected)] * 4
    model.close()


def test_each_image_has_its_own_parameters():
    settings = Settings(RGB888, (4, 4), 2, crop=(0, 0, 2, 2))
    other = Settings(RGB888, (4, 4), crop=(1, 2, 2, 2), means=[1, 2, 3, 0])
    images = settings.random(1), settings.random(2)
    model = load((2, 2, 2, 3), 96, form=NHWC)
    made = settings.make()
    assert mdl.set_aipp_crop_params(made, 1, *other.crop, 1) == 0
    assert mdl.set_aipp_dtc_pixel_mean(made, *other.means, 1) == 0
    assert mdl.set_aipp_by_input_index(model.id, model.inputs.handle, 0, made) == 0
    assert mdl.destroy_aipp(made) == 0
    assert run(model, *images) == 0
    first, second = model.outputs.get(0, (2, 2, 2, 3))
    assert (first == settings.apply(images[0], 3)).all() and (second == other.apply(images[1], 3)).all()
    model.close()


def test_a_gear_takes_as_many_images_as_it_has():
    model = load((-1, 2, 2, 3), 48, form=NHWC, gears=om.Gears(om.BATCH, [[1], [4]], [(0, 0, (1, 2, 2, 3))]))
    settings = Settings(RGB888, (2, 2), 4, means=[9, 9, 9, 0])
    settings.put(model)
    images = [settings.random(seed) for seed in range(4)]
    for batch in (4, 1):
        assert mdl.set_dynamic_batch_size(model.id, model.inputs.handle, 2, batch) == 0
        assert run(model, *images[:batch]) == 0, acl.get_recent_err_msg()
        expected = [settings.apply(image, 3) for image in images[:batch]]
        assert (model.outputs.get(0, (batch, 2, 2, 3)) == expected).all()
    model.close()


def test_the_size_that_a_gear_takes(stream):
    model = load((1, -1, -1, 3), 48, form=NHWC, gears=om.Gears(om.HW, [[2, 2], [4, 4]], [(0, 0, (1, 2, 2, 3))]))
    settings = Settings(RGB888, (2, 2))
    settings.put(model)
    assert mdl.set_dynamic_hw_size(model.id, model.inputs.handle, 2, 2, 2) == 0
    assert run(model, settings.random()) == 0
    assert mdl.set_dynamic_hw_size(model.id, model.inputs.handle, 2, 4, 4) == 0
    refused(run(model, settings.random()), 507011, "the size of an image after AIPP")
    model.close()


def test_other_inputs_stay_as_they_are():
    acl.sim.model("image")(lambda v, x: x + v[1])
    inputs = [om.Tensor("v", (2,)), om.Tensor(AIPP, (160,), 4), om.Tensor("x", (1, 2, 2, 1), 0, NHWC, 4)]
    number, ret = load_bytes(om.write("image", inputs, [om.Tensor("y", (1, 2, 2, 1))]))
    assert ret == 0
    model = Model(number)
    made = Settings(YUV400, (2, 2), means=[1, 0, 0, 0]).make()
    assert mdl.set_aipp_by_input_index(model.id, model.inputs.handle, 2, made) == 0
    model.inputs.put(0, numpy.array([0.5, 0.25], "f4"))
    model.inputs.put(2, numpy.array([0, 1, 2, 255], "u1"))
    assert model.execute() == 0
    assert model.outputs.get(0, 4).tolist() == [-0.75, 0.25, 1.25, 254.25]
    assert mdl.destroy_aipp(made) == 0
    model.close()


def test_parameters_are_read_in_stream_order(stream):
    """A run that was queued or captured takes those that are there when it runs."""
    model = load((1, 1, 2, 1), 4, form=NHWC)
    model.inputs.put(0, numpy.array([10, 20], "u1"))
    assert mdl.ri_capture_begin(stream, 0) == 0
    assert model.execute(stream) == 0
    instance, ret = mdl.ri_capture_end(stream)
    assert ret == 0
    for mean in (1, 2):
        Settings(YUV400, (2, 1), means=[mean, 0, 0, 0]).put(model)
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.synchronize_stream(stream) == 0
        assert model.outputs.get(0, 2).tolist() == [10 - mean, 20 - mean]
    assert mdl.ri_destroy(instance) == 0
    model.close()


def test_a_run_without_parameters(stream):
    model = load((1, 2, 2, 3), 12)
    model.inputs.put(1, numpy.zeros(160, "u1"))
    refused(model.execute(), 507011, "holds no parameters", "aclmdlSetInputAIPP")
    assert model.execute(stream) == 0
    refused(rt.synchronize_stream(stream), 507011, "holds no parameters")
    model.close()


def test_parameters_of_another_model():
    source, target = load((1, 2, 2, 3), 12), load((2, 2, 2, 3), 24)
    Settings(RGB888, (2, 2)).put(source)
    block = source.inputs.get(1, 160, "u1")
    target.inputs.put(1, block)
    refused(target.execute(), 507011, "parameters for fewer images")
    source.close()
    source = load((2, 2, 2, 1), 24)
    Settings(YUV400, (2, 2), 2).put(source)
    target.inputs.put(1, source.inputs.get(1, 256, "u1"))
    refused(target.execute(), 507011, "fewer bytes or channels")
    damaged = source.inputs.get(1, 256, "u1")
    damaged[64] = 1  # a part, which has no size
    source.inputs.put(1, damaged)
    refused(source.execute(), 507011, "the size of an image after AIPP")
    source.close()
    target.close()
