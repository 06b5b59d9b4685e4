"""What calls about image preprocessing refuse: values, indices, sets that do not fit together, models without it."""

import pytest
from helpers.expect import refused
from helpers.models import Dataset, affine_bytes, initialise, load_bytes

import acl
from acl._lib import AIPP_INPUT, ffi, lib
from acl.sim import om

mdl = acl.mdl
BAD, NOT_STATIC = 100000, 100038
BAD_ID, TOO_SMALL, BATCH_EMPTY, NOT_THERE, BAD_MODE = 145003, 145012, 145014, 145015, 145016
NOT_APPLIED = 200006
YUV420SP, XRGB8888, RGB888, YUV400 = 1, 2, 3, 4
UNKNOWN = 12345
SIZE = 2 * 640 * 480 * 3

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def aipp():
    """Make parameters for two images."""
    made = mdl.create_aipp(2)
    assert mdl.set_aipp_input_format(made, RGB888) == 0
    assert mdl.set_aipp_src_image_size(made, 640, 480) == 0
    yield made
    assert mdl.destroy_aipp(made) == 0


@pytest.fixture
def model():
    """Load a model with images at 0, parameters at 1 and a gear at 2."""
    inputs = [om.Tensor("x", (-1, 3, 480, 640), size=SIZE), om.Tensor(AIPP_INPUT, (256,), 4)]
    gears = om.Gears(om.BATCH, [[1], [2]])
    number, ret = load_bytes(om.write("image", inputs, [om.Tensor("y", (2,))], gears=gears))
    assert ret == 0
    yield number
    assert mdl.unload(number) == 0


@pytest.fixture
def plain():
    """Load a model without preprocessing."""
    number, ret = load_bytes(affine_bytes())
    assert ret == 0
    yield number
    assert mdl.unload(number) == 0


@pytest.fixture
def dataset():
    """Make the inputs of a run."""
    made = Dataset([SIZE, 256, 8])
    yield made
    made.close()


# Calls whose arguments are valid except the set and, in the second list, the image.
SHARED = [
    (mdl.set_aipp_input_format, (RGB888,)),
    (mdl.set_aipp_csc_params, (1, *[0] * 15)),
    (mdl.set_aipp_rbuv_swap_switch, (1,)),
    (mdl.set_aipp_ax_swap_switch, (1,)),
    (mdl.set_aipp_src_image_size, (640, 480)),
]
EACH = [
    (mdl.set_aipp_scf_params, (1, 640, 480, 320, 240)),
    (mdl.set_aipp_crop_params, (1, 0, 0, 64, 64)),
    (mdl.set_aipp_padding_params, (1, 1, 2, 3, 4)),
    (mdl.set_aipp_dtc_pixel_mean, (1, 2, 3, 4)),
    (mdl.set_aipp_dtc_pixel_min, (1.0, 2.0, 3.0, 4.0)),
    (mdl.set_aipp_pixel_var_reci, (1.0, 2.0, 3.0, 4.0)),
]
CALLS = [*SHARED, *[(call, (*values, 1)) for call, values in EACH]]
NAMES = [call.__name__ for call, _ in CALLS]


@pytest.mark.parametrize(("call", "values"), CALLS, ids=NAMES)
def test_sets_that_are_none(call, values, aipp):
    assert call(aipp, *values) == 0
    refused(call(0, *values), BAD, "aippParmsSet is NULL")
    dead = mdl.create_aipp(2)
    assert mdl.destroy_aipp(dead) == 0
    refused(call(dead, *values), BAD, "aippParmsSet is a destroyed set of AIPP parameters")
    dataset = mdl.create_dataset()
    refused(call(dataset, *values), BAD, "aippParmsSet is a live dataset")
    mdl.destroy_dataset(dataset)


@pytest.mark.parametrize(("call", "values"), EACH, ids=[call.__name__ for call, _ in EACH])
def test_images_outside_the_batch(call, values, aipp):
    for index in (2, 1 << 40, (1 << 64) - 1):
        refused(call(aipp, *values, index), BAD, f"batchIndex is {index}", "less than 2")


def test_creating_and_destroying():
    for batch in (0, 128, (1 << 64) - 1):
        assert mdl.create_aipp(batch) == 0
        assert f"aclmdlCreateAIPP failed because batchSize is {batch}, expected 1 to 127" in acl.get_recent_err_msg()
        refused(mdl.get_aipp_data_size(batch)[1], BAD, f"batchSize is {batch}", "1 to 127")
    refused(lib.aclmdlGetAippDataSize(1, ffi.NULL), BAD, "size is NULL")
    refused(mdl.destroy_aipp(0), BAD, "aippParmsSet is NULL")
    made = mdl.create_aipp(127)
    assert mdl.destroy_aipp(made) == 0
    refused(mdl.destroy_aipp(made), BAD, "destroyed")


NAN = float("nan")
VALUES = [
    (mdl.set_aipp_input_format, (0,), "inputFormat is 0"),
    (mdl.set_aipp_input_format, (5,), "inputFormat is 5"),
    (mdl.set_aipp_input_format, (65535,), "inputFormat is 65535"),
    (mdl.set_aipp_csc_params, (2, *[0] * 15), "cscSwitch is 2"),
    (mdl.set_aipp_rbuv_swap_switch, (-1,), "rbuvSwapSwitch is -1, expected 0 (off) or 1 (on)"),
    (mdl.set_aipp_ax_swap_switch, (2,), "axSwapSwitch is 2"),
    (mdl.set_aipp_src_image_size, (1, 1), "srcImageSizeW is 1, expected 2 to 4096"),
    (mdl.set_aipp_src_image_size, (4097, 1), "srcImageSizeW is 4097"),
    (mdl.set_aipp_src_image_size, (2, 0), "srcImageSizeH is 0, expected 1 to 4096"),
    (mdl.set_aipp_src_image_size, (2, 4097), "srcImageSizeH is 4097"),
    (mdl.set_aipp_scf_params, (3, 16, 16, 16, 16, 0), "scfSwitch is 3"),
    (mdl.set_aipp_scf_params, (1, 15, 16, 16, 16, 0), "scfInputSizeW is 15, expected 16 to 4096"),
    (mdl.set_aipp_scf_params, (1, 16, 4097, 16, 16, 0), "scfInputSizeH is 4097, expected 16 to 4096"),
    (mdl.set_aipp_scf_params, (1, 16, 16, 1921, 16, 0), "scfOutputSizeW is 1921, expected 16 to 1920"),
    (mdl.set_aipp_scf_params, (1, 16, 16, 16, 4097, 0), "scfOutputSizeH is 4097, expected 16 to 4096"),
    (mdl.set_aipp_scf_params, (1, 20, 16, 321, 16, 0), "scfOutputSizeW is 321, expected 2 to 320"),
    (mdl.set_aipp_scf_params, (1, 16, 1601, 16, 100, 0), "scfOutputSizeH is 100, expected 101 to"),
    (mdl.set_aipp_crop_params, (-1, 0, 0, 1, 1, 0), "cropSwitch is -1"),
    (mdl.set_aipp_crop_params, (1, -1, 0, 1, 1, 0), "cropStartPosW is -1, expected 0 to 4095"),
    (mdl.set_aipp_crop_params, (1, 0, 4096, 1, 1, 0), "cropStartPosH is 4096, expected 0 to 4095"),
    (mdl.set_aipp_crop_params, (1, 0, 0, 0, 1, 0), "cropSizeW is 0, expected 1 to 4096"),
    (mdl.set_aipp_crop_params, (1, 0, 0, 1, 4097, 0), "cropSizeH is 4097, expected 1 to 4096"),
    (mdl.set_aipp_padding_params, (4, 0, 0, 0, 0, 0), "paddingSwitch is 4"),
    (mdl.set_aipp_padding_params, (1, 33, 0, 0, 0, 0), "paddingSizeTop is 33, expected 0 to 32"),
    (mdl.set_aipp_padding_params, (1, 0, -1, 0, 0, 0), "paddingSizeBottom is -1"),
    (mdl.set_aipp_padding_params, (1, 0, 0, 33, 0, 0), "paddingSizeLeft is 33"),
    (mdl.set_aipp_padding_params, (1, 0, 0, 0, 33, 0), "paddingSizeRight is 33"),
    (mdl.set_aipp_dtc_pixel_mean, (256, 0, 0, 0, 0), "dtcPixelMeanChn0 is 256, expected 0 to 255"),
    (mdl.set_aipp_dtc_pixel_mean, (0, -1, 0, 0, 0), "dtcPixelMeanChn1 is -1"),
    (mdl.set_aipp_dtc_pixel_min, (0.0, 0.0, -0.5, 0.0, 0), "dtcPixelMinChn2 is -0.5, expected 0 to 255"),
    (mdl.set_aipp_dtc_pixel_min, (0.0, 0.0, 0.0, NAN, 0), "dtcPixelMinChn3 is nan"),
    (mdl.set_aipp_pixel_var_reci, (65505.0, 0.0, 0.0, 0.0, 0), "dtcPixelVarReciChn0 is 65505, expected -65504 to"),
    (mdl.set_aipp_pixel_var_reci, (0.0, -65505.0, 0.0, 0.0, 0), "dtcPixelVarReciChn1 is -65505"),
    (mdl.set_aipp_pixel_var_reci, (0.0, 0.0, float("inf"), 0.0, 0), "dtcPixelVarReciChn2 is inf"),
]


@pytest.mark.parametrize(("call", "values", "text"), VALUES, ids=[text.partition(",")[0] for _, _, text in VALUES])
def test_values(call, values, text, aipp):
    refused(call(aipp, *values), BAD, text)


# --- sets that are used


def put(model, dataset, aipp):
    return mdl.set_input_aipp(model, dataset.handle, 1, aipp)


def test_what_has_to_be_set(model, dataset):
    made = mdl.create_aipp(2)
    refused(put(model, dataset, made), BAD, "no input format", "aclmdlSetAIPPInputFormat")
    assert mdl.set_aipp_input_format(made, RGB888) == 0
    refused(put(model, dataset, made), BAD, "no size of the source image", "aclmdlSetAIPPSrcImageSize")
    assert mdl.set_aipp_src_image_size(made, 640, 480) == 0
    assert put(model, dataset, made) == 0
    assert mdl.destroy_aipp(made) == 0


def test_what_does_not_fit_together(model, dataset, aipp):
    assert mdl.set_aipp_crop_params(aipp, 1, 600, 0, 41, 10, 1) == 0
    refused(put(model, dataset, aipp), BAD, "image 1 is cropped to 41x10 at (600, 0)", "640x480")
    assert mdl.set_aipp_crop_params(aipp, 1, 0, 470, 10, 11, 1) == 0
    refused(put(model, dataset, aipp), BAD, "image 1 is cropped to 10x11 at (0, 470)")
    assert mdl.set_aipp_crop_params(aipp, 1, 1, 0, 10, 11, 1) == 0
    refused(put(model, dataset, aipp), BAD, "image 0 comes out as 640x480 and image 1 as 10x11")
    assert mdl.set_aipp_crop_params(aipp, 0, 0, 0, 0, 0, 1) == 0
    assert mdl.set_aipp_scf_params(aipp, 1, 64, 480, 64, 480, 0) == 0
    refused(put(model, dataset, aipp), BAD, "image 0 is scaled from 64x480", "640x480")
    assert mdl.set_aipp_scf_params(aipp, 0, 0, 0, 0, 0, 0) == 0
    assert mdl.set_aipp_src_image_size(aipp, 1050, 480) == 0
    assert mdl.set_aipp_padding_params(aipp, 1, 0, 0, 15, 16, 0) == 0
    refused(put(model, dataset, aipp), BAD, "image 0 is padded to a width of 1081", "at most 1080")


def test_formats_that_want_something(model, dataset, aipp):
    assert mdl.set_aipp_input_format(aipp, YUV420SP) == 0
    for size in [(639, 480), (640, 479)]:
        assert mdl.set_aipp_src_image_size(aipp, *size) == 0
        refused(put(model, dataset, aipp), BAD, "the source image is {}x{}".format(*size), "even")
    assert mdl.set_aipp_src_image_size(aipp, 640, 480) == 0
    assert mdl.set_aipp_crop_params(aipp, 1, 0, 1, 10, 10, 0) == 0
    refused(put(model, dataset, aipp), BAD, "image 0 is cropped at (0, 1)", "even")
    assert mdl.set_aipp_crop_params(aipp, 0, 0, 0, 0, 0, 0) == 0
    assert mdl.set_aipp_ax_swap_switch(aipp, 1) == 0
    refused(put(model, dataset, aipp), BAD, "axSwapSwitch is 1", "ACL_XRGB8888_U8")
    assert mdl.set_aipp_ax_swap_switch(aipp, 0) == 0
    assert put(model, dataset, aipp) == 0
    assert mdl.set_aipp_input_format(aipp, YUV400) == 0
    refused(put(model, dataset, aipp), BAD, "format 4 have 1 channels", "at least the 3")
    assert mdl.set_aipp_csc_params(aipp, 1, *[0] * 15) == 0
    refused(put(model, dataset, aipp), BAD, "cscSwitch is 1", "ACL_YUV400_U8")


def test_what_the_model_does_not_take(model, dataset, aipp):
    assert mdl.set_aipp_src_image_size(aipp, 642, 480) == 0
    refused(put(model, dataset, aipp), BAD, "image 0 comes out as 642x480", "640x480 that the model takes")
    for image in range(2):
        assert mdl.set_aipp_crop_params(aipp, 1, 1, 0, 640, 480, image) == 0
    refused(put(model, dataset, aipp), BAD, "2 images of 642x480", f"at most {SIZE}", "input x")
    assert mdl.set_aipp_input_format(aipp, YUV420SP) == 0
    for image in range(2):
        assert mdl.set_aipp_crop_params(aipp, 1, 2, 0, 640, 480, image) == 0
    assert put(model, dataset, aipp) == 0
    assert mdl.set_aipp_src_image_size(aipp, 640, 480) == 0
    assert mdl.set_aipp_input_format(aipp, XRGB8888) == 0
    for image in range(2):
        assert mdl.set_aipp_crop_params(aipp, 0, 0, 0, 0, 0, image) == 0
    refused(put(model, dataset, aipp), BAD, f"{SIZE // 3 * 4} bytes", f"at most {SIZE}")


def test_images_are_not_resized(model, dataset, aipp):
    assert mdl.set_aipp_src_image_size(aipp, 320, 240) == 0
    for image in range(2):
        assert mdl.set_aipp_scf_params(aipp, 1, 320, 240, 640, 480, image) == 0
    refused(put(model, dataset, aipp), NOT_APPLIED, "scfSwitch of image 0 is 1")


@pytest.mark.parametrize(
    "image", [om.Tensor("x", (9, 9)), om.Tensor("x", (1, 3, 480, 640), 4), om.Tensor("x", (-1, 3, 4, 4))]
)
def test_models_that_it_is_not_applied_to(image, aipp):
    inputs = [image, om.Tensor(AIPP_INPUT, (256,), 4)]
    content = om.write("image", inputs, [om.Tensor("y", (2,))], dynamic=-1 in image.dims)
    number, ret = load_bytes(content)
    assert ret == 0
    made = Dataset([4096, 256])
    refused(mdl.set_input_aipp(number, made.handle, 1, aipp), NOT_APPLIED, "model image", "which AIPP needs")
    made.close()
    assert mdl.unload(number) == 0


BOTH = [(mdl.set_input_aipp, 1), (mdl.set_aipp_by_input_index, 0)]


@pytest.mark.parametrize(("call", "index"), BOTH)
def test_arguments_of_using(call, index, model, plain, dataset, aipp):
    assert call(model, dataset.handle, index, aipp) == 0
    refused(call(model, 0, index, aipp), BAD, "dataset is NULL")
    refused(call(model, aipp, index, aipp), BAD, "dataset is a live set of AIPP parameters")
    refused(call(model, dataset.handle, index, 0), BAD, "aippParmsSet is NULL")
    refused(call(model, dataset.handle, index, dataset.handle), BAD, "aippParmsSet is a live dataset")
    refused(call(UNKNOWN, dataset.handle, index, aipp), BAD_ID, f"{UNKNOWN}")
    refused(call(plain, dataset.handle, 0, aipp), NOT_THERE, "no dynamic AIPP", "ascend_dynamic_aipp_data")
    refused(call(model, dataset.handle, 3, aipp), BAD, "index is 3", "less than 3")
    refused(call(model, dataset.handle, 2, aipp), NOT_THERE, "index is 2, that of ascend_mbatch_shape_data")


def test_the_index_of_the_other_call(model, dataset, aipp):
    refused(mdl.set_input_aipp(model, dataset.handle, 0, aipp), BAD_MODE, "index is 0, that of x, expected 1")
    refused(mdl.set_aipp_by_input_index(model, dataset.handle, 1, aipp), BAD_MODE, "index is 1, that of ascend_dynamic")


def test_a_batch_that_is_too_small(model, dataset):
    made = mdl.create_aipp(1)
    assert mdl.set_aipp_input_format(made, RGB888) == 0 and mdl.set_aipp_src_image_size(made, 4, 4) == 0
    refused(put(model, dataset, made), BATCH_EMPTY, "a batch of 1", "at least 2")
    assert mdl.destroy_aipp(made) == 0


def test_buffers(model, aipp):
    for sizes, code, words in [
        ([SIZE], BAD, ("index is 1", "less than 1")),
        ([SIZE, 255, 8], TOO_SMALL, ("buffer 1", "255 bytes", "at least 256")),
    ]:
        made = Dataset(sizes)
        refused(put(model, made, aipp), code, *words)
        made.close()
    made = mdl.create_dataset()
    buffers = [acl.create_data_buffer(0, 0) for _ in range(2)]
    for buffer in buffers:
        mdl.add_dataset_buffer(made, buffer)
    refused(mdl.set_input_aipp(model, made, 1, aipp), BAD, "buffer 1 of the dataset has no memory")
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0
    refused(mdl.set_input_aipp(model, made, 1, aipp), BAD, "destroyed")
    assert mdl.destroy_dataset(made) == 0


# --- questions


def test_types(model):
    refused(mdl.get_aipp_type(UNKNOWN, 0)[2], BAD_ID, f"{UNKNOWN}")
    refused(mdl.get_aipp_type(model, 3)[2], BAD, "index is 3", "less than 3")
    kind, index = ffi.new("aclmdlInputAippType *"), ffi.new("size_t *")
    refused(lib.aclmdlGetAippType(model, 0, ffi.NULL, index), BAD, "type is NULL")
    refused(lib.aclmdlGetAippType(model, 0, kind, ffi.NULL), BAD, "dynamicAttachedDataIndex is NULL")


def test_static_aipp(model, plain):
    assert mdl.get_first_aipp_info(model, 0)[0] is None
    refused(mdl.get_first_aipp_info(model, 0)[1], NOT_STATIC, "input 0 has dynamic AIPP")
    refused(mdl.get_first_aipp_info(plain, 0)[1], NOT_STATIC, "input 0 has no AIPP")
    refused(mdl.get_first_aipp_info(plain, 1)[1], BAD, "index is 1")
    refused(mdl.get_first_aipp_info(UNKNOWN, 0)[1], BAD_ID, f"{UNKNOWN}")
    refused(lib.aclmdlGetFirstAippInfo(plain, 0, ffi.NULL), BAD, "aippInfo is NULL")
