"""Image preprocessing (AIPP) for ``atc``: the configuration file of ``--insert_op_conf``.

The vendor's documents list its parameters. Those that the documents call reserved, such as resizing, are refused.
"""

import re
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from acl._lib import AIPP_INPUT, ffi, lib
from acl.atc_values import Refused
from acl.sim import om

Settings = dict[str, Any]
Inputs = list[om.Tensor]

UINT8, FLOATS = lib.ACL_UINT8, (lib.ACL_FLOAT, lib.ACL_FLOAT16)
NCHW, NHWC = lib.ACL_FORMAT_NCHW, lib.ACL_FORMAT_NHWC
# Bytes of a pixel of each aclAippInputFormat; YUV420SP_U8 has 3 channels in 1.5 bytes.
PIXELS = {"YUV420SP_U8": 1.5, "XRGB8888_U8": 4, "RGB888_U8": 3, "YUV400_U8": 1}
CHANNELS = {"YUV420SP_U8": 3, "XRGB8888_U8": 4, "RGB888_U8": 3, "YUV400_U8": 1}
MATRIX = [298, 516, 0, 298, -100, -208, 298, 0, 409]  # the documented defaults: BT.601, YUV to BGR
SIDE, WIDEST, MOST_PADDING = 4096, 1080, 32
RECORD = struct.Struct("<Iii")
MARK = b"simaipp\0"  # says that the simulator can read a block


def switch(text: str) -> bool:
    """Return the value of ``true`` or ``false``."""
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


def number(least: float, most: float, kind: Callable[[str], Any] = int) -> Callable[[str], Any]:
    """Return a function that reads a number in this range."""

    def read(text: str) -> Any:
        with_range = ValueError(f"a number from {least} to {most}")
        try:
            value = kind(text)
        except ValueError:
            raise with_range from None
        if not least <= value <= most:
            raise with_range
        return value

    return read


def one_of(*names: str) -> Callable[[str], str]:
    """Return a function that accepts one of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return text

    return read


def _keys() -> dict[str, tuple[Callable[[str], Any], Any]]:
    """Return, for each parameter, the function that reads it and its default value."""
    side, byte, off = number(0, SIDE), number(0, 255), (switch, False)
    found: dict[str, tuple[Callable[[str], Any], Any]] = {
        "aipp_mode": (one_of("static", "dynamic"), None),
        "related_input_rank": (number(0, 1023), 0),
        "related_input_name": (str, ""),
        "input_edge_idx": (number(0, 1023), 0),
        "max_src_image_size": (number(1, 2**32 - 1), None),
        "support_rotation": off,
        "rotation_angle": (number(0, 3), 0),
        "input_format": (one_of(*PIXELS), None),
        "cpadding_value": (number(-65504, 65504, float), 0.0),
        "padding_value": (number(-65504, 65504, float), 0.0),
        "resize": off,
        "resize_output_w": (side, 0),
        "resize_output_h": (side, 0),
        "single_line_mode": off,
    }
    found.update(dict.fromkeys(("crop", "padding", "csc_switch", "rbuv_swap_switch", "ax_swap_switch"), off))
    for name in ("src_image_size", "load_start_pos", "crop_size"):
        found.update({f"{name}_w": (side, 0), f"{name}_h": (side, 0)})
    for name in ("left", "right", "top", "bottom"):
        found[f"{name}_padding_size"] = (number(0, MOST_PADDING), 0)
    for place, value in enumerate(MATRIX):
        found[f"matrix_r{place // 3}c{place % 3}"] = (number(-32768, 32767), value)
    for place, value in enumerate((16, 128, 128)):
        found[f"output_bias_{place}"] = found[f"input_bias_{place}"] = (byte, value)
    for place in range(4):
        found[f"mean_chn_{place}"] = (byte, 0)
        found[f"min_chn_{place}"] = (number(0, 255, float), 0.0)
        found[f"var_reci_chn_{place}"] = (number(-65504, 65504, float), 1.0)
    return found


KEYS = _keys()
RESERVED = ("support_rotation", "rotation_angle", "cpadding_value", "padding_value", "resize", "single_line_mode",
            "input_edge_idx")  # fmt: skip


# --- the file


def words(text: str) -> Iterator[str]:
    """Yield the words of a text in protobuf's text format."""
    text = re.sub(r"#[^\n]*", "", text)
    yield from re.findall(r'"[^"\n]*"|[{}:]|[^\s{}:,;"]+|"', text)


def blocks(text: str) -> list[dict[str, str]]:
    """Return the parameters in each ``aipp_op { ... }``; a colon before the brace is optional."""
    found: list[dict[str, str]] = []
    rest = list(words(text))[::-1]

    def take(*expected: str) -> str:
        word = rest.pop() if rest else "the end of the file"
        if expected and word not in expected:
            raise Refused(f"has {word!r} where {' or '.join(map(repr, expected))} is expected")
        return word

    while rest:
        take("aipp_op")
        if take(":", "{") == ":":
            take("{")
        values: dict[str, str] = {}
        while (key := take()) != "}":
            if key in values:
                raise Refused(f"has {key} twice")
            take(":")
            values[key] = take().strip('"')
        found.append(values)
    return found


def settings_of(values: dict[str, str]) -> Settings:
    """Return the checked values of all parameters, with defaults for those that a block leaves out."""
    found: Settings = {}
    for key, text in values.items():
        if key not in KEYS:
            raise Refused(f"has the unknown parameter {key}")
        try:
            found[key] = KEYS[key][0](text)
        except ValueError as error:
            raise Refused(f"has {key}: {text}, expected {error}") from None
    for key, (_, default) in KEYS.items():
        found.setdefault(key, default)
    if found["aipp_mode"] is None:
        raise Refused("has no aipp_mode, expected static or dynamic")
    needed = "input_format" if found["aipp_mode"] == "static" else "max_src_image_size"
    if found[needed] is None:
        raise Refused(f"has no {needed}, which {found['aipp_mode']} AIPP needs")
    for key in RESERVED:
        if found[key]:
            raise Refused(f"has {key}: {values[key]}, which neither the simulator nor the vendor's documents support")
    return found


def read(path: str) -> list[Settings]:
    """Return the settings of a file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    try:
        found = [settings_of(values) for values in blocks(text)]
    except Refused as error:
        raise Refused(f"{path} {error}") from None
    if not found:
        raise Refused(f"{path} has no aipp_op {{ ... }}")
    return found


# --- static AIPP


class Sides(NamedTuple):
    """Width and height."""

    width: int
    height: int


def sides_of(settings: Settings, name: str) -> Sides:
    """Return the width and height of a pair of settings."""
    return Sides(settings[f"{name}_w"], settings[f"{name}_h"])


def check_image(settings: Settings, wanted: Sides) -> tuple[Sides, Sides]:
    """Return the sizes of the source and of its cropped part; refuse them if the result is not of the wanted size."""
    form, crop, padding = settings["input_format"], settings["crop"], settings["padding"]
    source, start, part = (sides_of(settings, name) for name in ("src_image_size", "load_start_pos", "crop_size"))
    if 0 in source:
        if crop or padding:
            raise Refused("has no src_image_size_w and src_image_size_h, which cropping and padding need")
        source = wanted
    if not crop:
        start, part = Sides(0, 0), source
    elif 0 in part:
        if padding:
            raise Refused("has no crop_size_w and crop_size_h, which cropping needs where images are padded")
        part = wanted
    if form == "YUV420SP_U8" and any(side % 2 for side in (*source, *start, *(part if crop else ()))):
        raise Refused(f"has odd sizes or positions of images, expected even ones for {form}")
    if max(source) > SIDE:
        raise Refused(f"is for images of {source.width}x{source.height}, expected sides of at most {SIDE}")
    if start.width + part.width > source.width or start.height + part.height > source.height:
        raise Refused(
            f"crops {part.width}x{part.height} at ({start.width}, {start.height}), expected a part of the source's "
            f"{source.width}x{source.height}"
        )
    result = part
    if padding:
        result = Sides(
            part.width + settings["left_padding_size"] + settings["right_padding_size"],
            part.height + settings["top_padding_size"] + settings["bottom_padding_size"],
        )
        if result.width > WIDEST:
            raise Refused(f"pads images to a width of {result.width}, expected at most {WIDEST}")
    if result != wanted:
        raise Refused(
            f"makes images of {result.width}x{result.height}, expected the {wanted.width}x{wanted.height} (width x "
            "height) of the model's input"
        )
    return source, part


def check_colours(settings: Settings, channels: int) -> None:
    """Refuse a format, or options of it, that do not fit the channels of the model's input."""
    form = settings["input_format"]
    if channels > CHANNELS[form]:
        raise Refused(f"has {form} with {CHANNELS[form]} channels, expected the {channels} of the model's input")
    if settings["csc_switch"] and form == "YUV400_U8":
        raise Refused(f"has csc_switch: true, and {form} has no colours to convert")
    if settings["ax_swap_switch"] and form != "XRGB8888_U8":
        raise Refused(f"has ax_swap_switch: true, which is for XRGB8888_U8, and input_format: {form}")


def bytes_of(images: int) -> int:
    """Return the size of the parameters of so many images."""
    return int(ffi.sizeof("struct sim_aipp_block") + images * ffi.sizeof("struct sim_aipp_image"))


def halves(numbers: list[float]) -> tuple[int, ...]:
    """Return the bits of numbers in half precision."""
    return struct.unpack(f"{len(numbers)}H", struct.pack(f"{len(numbers)}e", *numbers))


def block_of(settings: Settings, source: Sides, part: Sides) -> bytes:
    """Return the parameters in the binary form that the simulator reads."""
    start = sides_of(settings, "load_start_pos")
    if not settings["crop"]:
        start = part = Sides(0, 0)
    image = {
        "im_crop": settings["crop"],
        "im_pad": settings["padding"],
        "im_crop_start": start,
        "im_crop_size": part,
        "im_pad_sizes": [settings[f"{side}_padding_size"] for side in ("top", "bottom", "left", "right")],
        "im_mean": [settings[f"mean_chn_{place}"] for place in range(4)],
        "im_min": halves([settings[f"min_chn_{place}"] for place in range(4)]),
        "im_var_reci": halves([settings[f"var_reci_chn_{place}"] for place in range(4)]),
    }
    block = {
        "bl_format": getattr(lib, f"ACL_{settings['input_format']}"),
        "bl_csc": settings["csc_switch"],
        "bl_swap_rbuv": settings["rbuv_swap_switch"],
        "bl_swap_ax": settings["ax_swap_switch"],
        "bl_count": 1,
        "bl_source": source,
        "bl_matrix": [settings[f"matrix_r{place // 3}c{place % 3}"] for place in range(9)],
        "bl_output_bias": [settings[f"output_bias_{place}"] for place in range(3)],
        "bl_input_bias": [settings[f"input_bias_{place}"] for place in range(3)],
        "bl_mark": MARK,
        "bl_images": [image],
    }
    return bytes(ffi.buffer(ffi.new("struct sim_aipp_block *", block), bytes_of(1)))


def static(settings: Settings, tensor: om.Tensor, batch: int) -> tuple[om.Tensor, bytes]:
    """Return the input for images that replaces a tensor, and the parameters for the model file."""
    last = tensor.format == NHWC
    channels, height, width = (tensor.dims[place] for place in ((3, 1, 2) if last else (1, 2, 3)))
    if -1 in (channels, height, width):
        raise Refused("is static, and the size of the model's input is dynamic, expected aipp_mode: dynamic")
    source, part = check_image(settings, Sides(width, height))
    check_colours(settings, channels)
    per_pixel = PIXELS[settings["input_format"]]
    lines = (source.height * 3 // 2, source.width, 1)
    if per_pixel != 1.5:
        lines = (source.height, source.width, int(per_pixel))
    image = tensor._replace(
        type=UINT8,
        format=NHWC,
        size=int(source.width * source.height * per_pixel) * batch,
        dims_v2=(tensor.dims[0], *lines),
    )
    return image, block_of(settings, source, part)


# --- both


def target_of(settings: Settings, inputs: Inputs) -> int:
    """Return the index of the input that a block is for."""
    names = [tensor.name for tensor in inputs]
    if settings["related_input_name"]:
        if settings["related_input_name"] not in names:
            raise Refused(f"has related_input_name: {settings['related_input_name']}, expected one of "
                          f"{', '.join(names)}")  # fmt: skip
        return names.index(settings["related_input_name"])
    place: int = settings["related_input_rank"]
    if place >= len(inputs):
        raise Refused(f"has related_input_rank: {place}, expected less than {len(inputs)}, the number of inputs")
    return place


def check_target(tensor: om.Tensor) -> None:
    """Refuse an input that cannot take images."""
    if len(tensor.dims) != 4 or tensor.format not in (NCHW, NHWC):
        raise Refused(f"is for the input {tensor.name}, expected one of 4 dims with --input_format=NCHW or NHWC")
    if tensor.type not in FLOATS:
        raise Refused(f"is for the input {tensor.name}, expected one of the type float32 or float16")
    if tensor.ranges:
        raise Refused(f"is for the input {tensor.name}, whose dims have ranges, expected fixed dims or gears")


def apply(path: str, inputs: Inputs, batch: int, kind: int) -> tuple[Inputs, bytes]:
    """Return the inputs of a model with the preprocessing of a file, and the records for the model file.

    ``batch`` is the first dimension in the largest gear; ``kind`` is the kind of the gears, or -1 without gears.
    """
    found, records, seen = list(inputs), b"", set()
    operations = read(path)
    modes = {settings["aipp_mode"] for settings in operations}
    try:
        if len(modes) > 1:
            raise Refused("has static and dynamic AIPP, expected one of them")
        if kind == om.DIMS:
            raise Refused("and --dynamic_dims exclude each other")
        for settings in operations:
            place = target_of(settings, inputs)
            check_target(inputs[place])
            if place in seen:
                raise Refused(f"has two aipp_op for the input {inputs[place].name}")
            seen.add(place)
            images = inputs[place].dims[0] if inputs[place].dims[0] > 0 else batch
            if settings["aipp_mode"] == "static":
                found[place], block = static(settings, inputs[place], images)
                records += RECORD.pack(place, inputs[place].type, inputs[place].format) + block
                continue
            first = next(index for index, tensor in enumerate(inputs) if len(tensor.dims) == 4)
            if place != first or len(operations) > 1:
                raise Refused(f"has dynamic AIPP for the input {inputs[place].name}; the simulator applies it only to "
                              f"the first input with images, {inputs[first].name}")  # fmt: skip
            if images > 127:
                raise Refused(f"is dynamic, and a batch has {images} images, expected at most 127")
            found[place] = inputs[place]._replace(size=settings["max_src_image_size"])
            found.append(om.Tensor(AIPP_INPUT, (bytes_of(images),), UINT8))
    except Refused as error:
        raise Refused(f"{path} {error}") from None
    return found, records
