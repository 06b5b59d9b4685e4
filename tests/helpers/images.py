"""Image preprocessing (AIPP), computed with NumPy."""

import numpy

import acl

mdl = acl.mdl
YUV420SP, XRGB8888, RGB888, YUV400 = 1, 2, 3, 4
CHANNELS = {YUV420SP: 3, XRGB8888: 4, RGB888: 3, YUV400: 1}
FORMATS = {YUV420SP: "YUV420SP_U8", XRGB8888: "XRGB8888_U8", RGB888: "RGB888_U8", YUV400: "YUV400_U8"}
BT601 = [298, 0, 409, 298, -100, -208, 298, 516, 0]
TO_YUV = [77, 150, 29, -43, -85, 128, 128, -107, -21]
NONE = [0] * 4


class Settings:
    """Parameters of the preprocessing, to be set or applied with NumPy; ``pads`` are top, bottom, left and right."""

    def __init__(self, form, size, batch=1, rbuv=0, ax=0, csc=None, crop=None, pads=None, means=NONE, minima=NONE,
                 factors=(1,) * 4):  # fmt: skip
        self.form, self.size, self.batch, self.rbuv, self.ax = form, size, batch, rbuv, ax
        self.csc, self.crop, self.pads = csc, crop, pads
        self.means, self.minima, self.factors = means, minima, factors

    def make(self):
        """Return a handle with the parameters."""
        made = mdl.create_aipp(self.batch)
        calls = [
            mdl.set_aipp_input_format(made, self.form),
            mdl.set_aipp_src_image_size(made, *self.size),
            mdl.set_aipp_rbuv_swap_switch(made, self.rbuv),
            mdl.set_aipp_ax_swap_switch(made, self.ax),
        ]
        if self.csc:
            calls.append(mdl.set_aipp_csc_params(made, 1, *self.csc, 1, 128, 128, 16, 128, 128))
        for image in range(self.batch):
            if self.crop:
                calls.append(mdl.set_aipp_crop_params(made, 1, *self.crop, image))
            if self.pads:
                calls.append(mdl.set_aipp_padding_params(made, 1, *self.pads, image))
            calls.append(mdl.set_aipp_dtc_pixel_mean(made, *self.means, image))
            calls.append(mdl.set_aipp_dtc_pixel_min(made, *self.minima, image))
            calls.append(mdl.set_aipp_pixel_var_reci(made, *self.factors, image))
        assert calls == [0] * len(calls)
        return made

    def put(self, model):
        """Set the parameters in the model's input for them."""
        made = self.make()
        assert mdl.set_input_aipp(model.id, model.inputs.handle, 1, made) == 0, acl.get_recent_err_msg()
        assert mdl.destroy_aipp(made) == 0

    def random(self, seed=1):
        """Return the bytes of one image."""
        width, height = self.size
        count = width * height * 3 // 2 if self.form == YUV420SP else width * height * CHANNELS[self.form]
        return numpy.random.default_rng(seed).integers(0, 256, count, "u1")

    def pixels(self, raw):
        """Return the pixels of an image, channels last."""
        width, height = self.size
        if self.form != YUV420SP:
            return raw.reshape(height, width, CHANNELS[self.form]).astype("i4")
        luma, pairs = raw[: width * height].reshape(height, width, 1), raw[width * height :]
        pairs = pairs.reshape(height // 2, width // 2, 2).repeat(2, 0).repeat(2, 1)
        return numpy.concatenate([luma, pairs], 2).astype("i4")

    def apply(self, raw, channels, kind="f4"):
        """Return the preprocessed image, which is the model's input, channels last."""
        image = self.pixels(raw)
        if self.rbuv:
            order = {YUV420SP: [0, 2, 1], XRGB8888: [0, 3, 2, 1], RGB888: [2, 1, 0], YUV400: [0]}[self.form]
            image = image[:, :, order]
        if self.ax:
            image = numpy.roll(image, -1, 2)
        if self.crop:
            left, top, width, height = self.crop
            image = image[top : top + height, left : left + width]
        if self.csc:
            from_yuv = self.form == YUV420SP
            before, after = ([16, 128, 128], [0, 0, 0]) if from_yuv else ([0, 0, 0], [1, 128, 128])
            matrix = numpy.array(self.csc).reshape(3, 3)
            colours = numpy.floor_divide((image[:, :, :3] - before) @ matrix.T, 256) + after
            image = numpy.concatenate([colours.clip(0, 255), image[:, :, 3:]], 2)
        count = image.shape[2]
        minima, factors = (numpy.array(each[:count], "f2").astype("f4") for each in (self.minima, self.factors))
        image = ((image - numpy.array(self.means[:count])).astype("f4") - minima) * factors
        if self.pads:
            top, bottom, left, right = self.pads
            image = numpy.pad(image, [(top, bottom), (left, right), (0, 0)])
        return image[:, :, :channels].astype(kind)

    def file(self, **more):
        """Return the parameters as the configuration file of a model compiler."""
        values = {
            "aipp_mode": "static",
            "input_format": FORMATS[self.form],
            "src_image_size_w": self.size[0],
            "src_image_size_h": self.size[1],
            "rbuv_swap_switch": "true" if self.rbuv else "false",
            "ax_swap_switch": "true" if self.ax else "false",
        }
        for names, numbers in (
            (("load_start_pos_w", "load_start_pos_h", "crop_size_w", "crop_size_h"), self.crop),
            ([f"{side}_padding_size" for side in ("top", "bottom", "left", "right")], self.pads),
            ([f"matrix_r{place // 3}c{place % 3}" for place in range(9)], self.csc),
            ([f"output_bias_{place}" for place in range(3)], self.csc and [1, 128, 128]),
            ([f"input_bias_{place}" for place in range(3)], self.csc and [16, 128, 128]),
            ([f"mean_chn_{place}" for place in range(4)], self.means),
            ([f"min_chn_{place}" for place in range(4)], self.minima),
            ([f"var_reci_chn_{place}" for place in range(4)], self.factors),
        ):
            values.update(zip(names, numbers or ()))
        values.update({"crop": "true"} if self.crop else {}, **{"padding": "true"} if self.pads else {})
        values.update({"csc_switch": "true"} if self.csc else {}, **more)
        return "aipp_op {\n" + "".join(f"    {key}: {value}\n" for key, value in values.items()) + "}\n"
