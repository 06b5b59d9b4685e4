"""Image preprocessing that ``atc`` puts into a model, against a twin in NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.images import BT601, CHANNELS, RGB888, TO_YUV, XRGB8888, YUV400, YUV420SP, Settings
from helpers.models import Model, initialise, load, load_bytes
from helpers.networks import FLOAT, INT64, atc, node, save, says
from onnx import TensorProto

import acl
from acl import atc_aipp
from acl.sim import om

mdl = acl.mdl
UINT8, NHWC = 4, 1
STATIC, DYNAMIC, DYNAMIC_NODE, WITHOUT = 1, 2, 3, 0
NOTHING = 2**32 - 1
FULL = {"means": [104, 117, 123, 9], "minima": [0.5, 1.25, 3, 7], "factors": [0.017, -0.5, 1.5, 2]}
CASES = {
    "rgb": Settings(RGB888, (6, 5)),
    "rgb full": Settings(RGB888, (6, 5), rbuv=1, csc=TO_YUV, crop=(1, 2, 3, 2), pads=(1, 0, 2, 3), **FULL),
    "yuv": Settings(YUV420SP, (8, 6), csc=BT601, **FULL),
    "yuv full": Settings(YUV420SP, (8, 6), rbuv=1, csc=BT601, crop=(2, 4, 4, 2), pads=(3, 1, 0, 2), **FULL),
    "xrgb full": Settings(XRGB8888, (5, 4), rbuv=1, ax=1, csc=TO_YUV, crop=(0, 1, 4, 3), pads=(0, 0, 1, 0), **FULL),
    "gray": Settings(YUV400, (7, 3), rbuv=1, **FULL),
}

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


def network(directory, shape, kind=FLOAT):
    """Write a model that gives its images back."""
    return save(directory / "image.onnx", [node("Identity", "x", "y")], {"x": (kind, shape)}, {"y": (kind, shape)})


def configured(directory, *texts):
    """Write a file of preprocessing; return the flag that names it."""
    path = directory / "aipp.cfg"
    path.write_text("# made by a test\n" + "".join(texts))
    return f"--insert_op_conf={path}"


def planes(image):
    """Return an image with its channels first."""
    return image.transpose(2, 0, 1)


# --- static


@pytest.mark.parametrize(("type_", "kind"), [(FLOAT, "f4"), (TensorProto.FLOAT16, "f2")], ids=["float", "half"])
@pytest.mark.parametrize("case", CASES)
def test_static_preprocessing_is_applied(tmp_path, case, type_, kind):
    settings = CASES[case]
    channels = min(3, CHANNELS[settings.form])
    raw = [settings.random(seed) for seed in (1, 2)]
    expected = numpy.stack([planes(settings.apply(image, channels, kind)) for image in raw])
    made = Model(load(atc(network(tmp_path, expected.shape, type_), configured(tmp_path, settings.file()))))
    assert mdl.get_num_inputs(made.desc) == 1
    assert mdl.get_input_size_by_index(made.desc, 0) == 2 * len(raw[0])
    assert (mdl.get_input_data_type(made.desc, 0), mdl.get_input_format(made.desc, 0)) == (UINT8, NHWC)
    assert mdl.get_input_dims(made.desc, 0)[0]["dims"] == list(expected.shape)
    second = mdl.get_input_dims_v2(made.desc, 0)[0]["dims"]
    assert second[0] == 2 and numpy.prod(second) == 2 * len(raw[0])
    made.inputs.put(0, numpy.concatenate(raw))
    assert made.execute() == 0, acl.get_recent_err_msg()
    assert (made.outputs.get(0, expected.shape, kind) == expected).all()
    made.close()


def test_an_image_of_known_colours(tmp_path):
    """By the defaults of the documents: YUV of BT.601 to blue, green, red."""
    text = "aipp_op: { aipp_mode: static; input_format: YUV420SP_U8, csc_switch: true # no size: the model's\n}"
    made = Model(load(atc(network(tmp_path, [1, 3, 2, 2]), configured(tmp_path, text))))
    for colour, expected in [((16, 128, 128), (0, 0, 0)), ((82, 90, 240), (0, 0, 255))]:
        made.inputs.put(0, numpy.array([colour[0]] * 4 + list(colour[1:]), "u1"))
        assert made.execute() == 0, acl.get_recent_err_msg()
        assert made.outputs.get(0, (3, 4)).T.tolist() == [list(expected)] * 4
    made.close()


def test_channels_last(tmp_path):
    settings = Settings(RGB888, (4, 2), means=[1, 2, 3, 0])
    flags = [configured(tmp_path, settings.file()), "--input_format=NHWC"]
    made = Model(load(atc(network(tmp_path, [1, 2, 4, 3]), *flags)))
    raw = settings.random()
    made.inputs.put(0, raw)
    assert made.execute() == 0
    assert (made.outputs.get(0, (2, 4, 3)) == settings.apply(raw, 3)).all()
    made.close()


def test_what_the_model_says_about_its_preprocessing(tmp_path):
    settings = CASES["yuv full"]
    made = Model(load(atc(network(tmp_path, [1, 3, 6, 6]), configured(tmp_path, settings.file()))))
    assert mdl.get_aipp_type(made.id, 0) == (STATIC, NOTHING, 0)
    info, ret = mdl.get_first_aipp_info(made.id, 0)
    assert ret == 0
    wanted = {
        "inputFormat": YUV420SP, "srcImageSizeW": 8, "srcImageSizeH": 6, "cropSwitch": 1, "loadStartPosW": 2,
        "loadStartPosH": 4, "cropSizeW": 4, "cropSizeH": 2, "resizeSwitch": 0, "paddingSwitch": 1,
        "leftPaddingSize": 0, "rightPaddingSize": 2, "topPaddingSize": 3, "bottomPaddingSize": 1, "cscSwitch": 1,
        "rbuvSwapSwitch": 1, "axSwapSwitch": 0, "matrixR0C0": 298, "matrixR1C2": -208, "matrixR2C2": 0,
        "inputBias0": 16, "inputBias2": 128, "meanChn0": 104, "minChn1": 1.25, "varReciChn1": -0.5, "srcFormat": 0,
        "srcDatatype": 0, "srcDimNum": 4, "shapeCount": 1,
    }  # fmt: skip
    assert {key: info[key] for key in wanted} == wanted
    (shape,) = info["outDims"]
    assert (shape["srcDims"]["dims"], shape["srcSize"]) == ([1, 9, 8, 1], 72)
    assert (shape["aippOutdims"]["dims"], shape["aippOutSize"]) == ([1, 3, 6, 6], 432)
    refused(mdl.get_first_aipp_info(made.id, 1)[1], 100000, "index is 1")
    refused(mdl.get_first_aipp_info(made.id + 1, 0)[1], 145003)
    aipp = settings.make()
    refused(mdl.set_aipp_by_input_index(made.id, made.inputs.handle, 0, aipp), 145015)
    assert mdl.destroy_aipp(aipp) == 0
    made.close()


def test_two_inputs_with_images(tmp_path):
    """By their places, and by name; a third input stays as it is."""
    nodes = [node("Add", "a b", "s"), node("Add", "s c", "y")]
    inputs = {"a": (FLOAT, [1, 1, 2, 2]), "c": (FLOAT, [1]), "b": (FLOAT, [1, 1, 2, 2])}
    path = save(tmp_path / "two.onnx", nodes, inputs, {"y": (FLOAT, [1, 1, 2, 2])})
    first = Settings(YUV400, (2, 2)).file()
    second = Settings(YUV400, (2, 2), factors=[10] * 4).file(related_input_name='"b"')
    made = Model(load(atc(path, configured(tmp_path, first, second))))
    assert [mdl.get_aipp_type(made.id, place)[0] for place in range(3)] == [STATIC, WITHOUT, STATIC]
    refused(mdl.get_first_aipp_info(made.id, 1)[1], 100038, "input 1 has no AIPP")
    for place, array in enumerate((numpy.array([1, 2, 3, 4], "u1"), numpy.array([0.5], "f4"), numpy.ones(4, "u1"))):
        made.inputs.put(place, array)
    assert made.execute() == 0, acl.get_recent_err_msg()
    assert made.outputs.get(0, 4).tolist() == [11.5, 12.5, 13.5, 14.5]
    made.close()


def test_batch_gears_share_the_parameters(tmp_path):
    """Buffers as large as the images of the batch that was set."""
    settings = Settings(RGB888, (2, 2), means=[9, 9, 9, 0])
    flags = [configured(tmp_path, settings.file()), "--input_shape=x:-1,3,2,2", "--dynamic_batch_size=1,40"]
    made = Model(load(atc(network(tmp_path, ["n", 3, 2, 2]), *flags)))
    assert mdl.get_input_size_by_index(made.desc, 0) == 40 * 12
    info, ret = mdl.get_first_aipp_info(made.id, 0)
    assert ret == 0
    assert [(each["srcDims"]["dims"], each["srcSize"]) for each in info["outDims"]] == [
        ([1, 2, 2, 3], 12),
        ([40, 2, 2, 3], 480),
    ]
    for batch in (40, 1):
        images = [settings.random(seed) for seed in range(batch)]
        assert mdl.set_dynamic_batch_size(made.id, made.inputs.handle, 1, batch) == 0
        assert acl.update_data_buffer(made.inputs.buffers[0], made.inputs.addresses[0], 12 * batch) == 0
        made.inputs.put(0, numpy.concatenate(images))
        assert made.execute() == 0, acl.get_recent_err_msg()
        expected = [planes(settings.apply(image, 3)) for image in images]
        assert (made.outputs.get(0, (batch, 3, 2, 2)) == expected).all()
    assert mdl.set_dynamic_batch_size(made.id, made.inputs.handle, 1, 40) == 0
    refused(made.execute(), 145000, "input 0 (x) has 12 bytes, expected 480")
    made.close()


def test_objects_take_images(tmp_path):
    settings = Settings(RGB888, (2, 2), means=[1, 2, 3, 0])
    path = atc(network(tmp_path, [1, 3, 2, 2]), configured(tmp_path, settings.file()))
    raw = settings.random()
    with acl.Model(str(path)) as model:
        result = model(raw)
    assert (numpy.asarray(result)[0] == planes(settings.apply(raw, 3))).all()


# --- dynamic


def test_dynamic_preprocessing_is_applied(tmp_path):
    settings = Settings(RGB888, (4, 4), 2, crop=(1, 1, 2, 2), **FULL)
    text = "aipp_op { aipp_mode: dynamic\n max_src_image_size: 4096 }"
    made = Model(load(atc(network(tmp_path, [2, 3, 2, 2]), configured(tmp_path, text))))
    assert mdl.get_input_index_by_name(made.desc, "ascend_dynamic_aipp_data") == (1, 0)
    assert [mdl.get_input_size_by_index(made.desc, place) for place in range(2)] == [4096, 64 + 2 * 96]
    assert mdl.get_aipp_data_size(2) == (64 + 2 * 96, 0)
    assert mdl.get_aipp_type(made.id, 0) == (DYNAMIC, 1, 0) and mdl.get_aipp_type(made.id, 1)[0] == DYNAMIC_NODE
    refused(mdl.get_first_aipp_info(made.id, 0)[1], 100038, "dynamic AIPP")
    settings.put(made)
    raw = [settings.random(seed) for seed in (1, 2)]
    made.inputs.put(0, numpy.concatenate(raw))
    assert made.execute() == 0, acl.get_recent_err_msg()
    expected = [planes(settings.apply(image, 3)) for image in raw]
    assert (made.outputs.get(0, (2, 3, 2, 2)) == expected).all()
    made.close()


# --- what is refused

RGB = Settings(RGB888, (4, 4))
WRONG = [
    ("", "has no aipp_op { ... }"),
    ("aipp_op {", "has 'the end of the file' where ':' is expected"),
    ("aipp { }", "has 'aipp' where 'aipp_op' is expected"),
    ("aipp_op { crop true }", "has 'true' where ':' is expected"),
    ("aipp_op { input_format: RGB888_U8 }", "has no aipp_mode, expected static or dynamic"),
    ("aipp_op { aipp_mode: static }", "has no input_format, which static AIPP needs"),
    ("aipp_op { aipp_mode: dynamic }", "has no max_src_image_size, which dynamic AIPP needs"),
    ("aipp_op { aipp_mode: moving }", "has aipp_mode: moving, expected one of static, dynamic"),
    ("aipp_op { crop: true crop: true }", "has crop twice"),
    (RGB.file(zoom=2), "has the unknown parameter zoom"),
    (RGB.file(mean_chn_0=256), "has mean_chn_0: 256, expected a number from 0 to 255"),
    (RGB.file(min_chn_0="nan"), "has min_chn_0: nan, expected a number from 0 to 255"),
    (RGB.file(crop="yes"), "has crop: yes, expected true or false"),
    (RGB.file(input_format="RAW10"), "expected one of YUV420SP_U8, XRGB8888_U8, RGB888_U8, YUV400_U8"),
    (RGB.file(resize="true"), "has resize: true, which neither the simulator"),
    (RGB.file(padding_value=3), "has padding_value: 3, which"),
    (RGB.file(related_input_rank=1), "has related_input_rank: 1, expected less than 1"),
    (RGB.file(related_input_name="z"), "has related_input_name: z, expected one of x"),
    (RGB.file() * 2, "has two aipp_op for the input x"),
    (RGB.file() + "aipp_op { aipp_mode: dynamic max_src_image_size: 9 }", "has static and dynamic AIPP"),
    (RGB.file(src_image_size_w=6), "makes images of 6x4, expected the 4x4"),
    (RGB.file(src_image_size_w=0, crop="true"), "has no src_image_size_w and src_image_size_h"),
    (RGB.file(crop="true", crop_size_w=4, crop_size_h=4, load_start_pos_w=1), "crops 4x4 at (1, 0), expected a part"),
    (RGB.file(crop="true", padding="true"), "has no crop_size_w and crop_size_h"),
    (RGB.file(padding="true", left_padding_size=33), "has left_padding_size: 33, expected a number from 0 to 32"),
    (RGB.file(input_format="YUV400_U8"), "has YUV400_U8 with 1 channels, expected the 3"),
    (RGB.file(ax_swap_switch="true"), "has ax_swap_switch: true, which is for XRGB8888_U8"),
    (Settings(YUV420SP, (5, 4)).file(), "has odd sizes or positions of images"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[words[:40] for _, words in WRONG])
def test_a_wrong_file_has_a_sentence(tmp_path, capsys, text, words):
    path = network(tmp_path, [1, 3, 4, 4])
    flags = ["--framework=5", f"--model={path}", f"--output={tmp_path / 'm'}", configured(tmp_path, text)]
    assert words in says(capsys, *flags)
    assert not (tmp_path / "m.om").exists()


def test_a_model_that_takes_no_images_has_a_sentence(tmp_path, capsys):
    flags = [configured(tmp_path, RGB.file()), "--framework=5", f"--output={tmp_path / 'm'}"]
    flags.append(f"--model={network(tmp_path, [1, 3, 4, 4])}")
    for more, words in (
        (["--input_format=ND"], "is for the input x, expected one of 4 dims"),
        (["--input_shape=x:1~2,3,4,4"], "whose dims have ranges"),
        (["--input_shape=x:-1,3,4,4", "--dynamic_dims=1;2"], "and --dynamic_dims exclude each other"),
        (["--input_shape=x:1,3,-1,-1", "--dynamic_image_size=4,4;8,8"], "expected aipp_mode: dynamic"),
        (["--input_fp16_nodes=x"], "--insert_op_conf and --input_fp16_nodes exclude each other for the input x"),
    ):
        assert words in says(capsys, *flags, *more), more
    network(tmp_path, [1, 3, 4, 4], INT64)
    assert "expected one of the type float32 or float16" in says(capsys, *flags)


def aipp_of(place=0, type_=0, form=0):
    """Return a record of static preprocessing for images of 2x2 bytes."""
    text = Settings(YUV400, (2, 2)).file()
    settings = atc_aipp.settings_of(atc_aipp.blocks(text)[0])
    block = atc_aipp.block_of(settings, atc_aipp.Sides(2, 2), atc_aipp.Sides(2, 2))
    return atc_aipp.RECORD.pack(place, type_, form) + block


def written(aipp, dims=(1, 1, 2, 2)):
    image = om.Tensor("x", dims, UINT8, NHWC, 4)
    return om.write("image", [image], [om.Tensor("y", (1, 1, 2, 2))], aipp=aipp)


def test_files_with_damaged_preprocessing_are_refused():
    for aipp, words in (
        (aipp_of()[:-1], "ends inside the parameters of an input"),
        (aipp_of() * 17, "for 17 inputs, expected at most 16"),
        (aipp_of() * 2, "AIPP for its input 0"),
        (aipp_of(place=1), "AIPP for its input 1"),
        (aipp_of(type_=3), "AIPP for its input 0, expected AIPP once per input"),
    ):
        refused(load_bytes(written(aipp))[1], 145000, words)
    refused(load_bytes(written(aipp_of(), (1, 4)))[1], 145000, "expected AIPP once per input")


def test_nothing_of_the_parameters_is_trusted():
    acl.sim.model("image")(lambda x: x)
    for at, value, words in (
        (0, 0, "fewer bytes or channels"),  # no format
        (8, 200, "fewer bytes or channels"),  # a wide source
        (11, 0x80, "an impossible image size"),  # one of less than nothing
        (46, 0, "holds no parameters"),  # no mark
        (64, 1, "the size of an image after AIPP"),  # a part without a size
    ):
        aipp = bytearray(aipp_of())
        aipp[atc_aipp.RECORD.size + at] = value
        number, ret = load_bytes(written(bytes(aipp)))
        assert ret == 0
        made = Model(number)
        refused(made.execute(), 507011, words)
        made.close()
    acl.sim.model("image")(None)
