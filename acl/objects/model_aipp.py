"""AIPP: preprocessing of images on the device, for models that take its parameters with each execution.

Static AIPP is part of a model and needs nothing here: such an input takes the bytes of an image unchanged.
"""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Optional

from acl import mdl
from acl._lib import lib
from acl.errors import codes, error_of
from acl.objects.memory_block import one_of, refuse
from acl.objects.resource import Opening, Resource, integer

FORMATS = {
    "yuv420sp": lib.ACL_YUV420SP_U8,
    "xrgb8888": lib.ACL_XRGB8888_U8,
    "rgb888": lib.ACL_RGB888_U8,
    "yuv400": lib.ACL_YUV400_U8,
}
UNKNOWN = codes.ACL_ERROR_INVALID_PARAM
# Parameters are host memory, so closing a device does not end them.
ALWAYS = Opening(-1)


class Aipp(Resource):
    """Parameters of the preprocessing of images, for ``model(images, aipp=aipp)``.

    Parameters
    ----------
    format
        ``"yuv420sp"``, ``"xrgb8888"``, ``"rgb888"`` or ``"yuv400"``, of 8 bits each.
    size
        Width and height of the images in pixels.
    batch
        The number of images.
    swap_rb
        Swap red and blue, or U and V.
    swap_ax
        Move the first of four channels to the end.
    csc
        The matrix of the colour conversion: nine numbers, in units of 1/256, row by row.
    csc_in, csc_out
        The values that are subtracted before the conversion, and added after it.
    crop, padding, resize, mean, minimum, factor
        The values for all images, as in :meth:`image`.

    Notes
    -----
    Wraps ``aclmdlCreateAIPP`` and the ``aclmdlSetAIPP`` calls. It need not be closed: the garbage collector does that.
    """

    __slots__ = ("batch", "format", "size")
    _released_by = "aclmdlDestroyAIPP"
    _is_value = True

    def __init__(
        self,
        format: str,
        size: tuple[int, int],
        *,
        batch: int = 1,
        swap_rb: bool = False,
        swap_ax: bool = False,
        csc: Optional[Sequence[int]] = None,
        csc_in: Sequence[int] = (16, 128, 128),
        csc_out: Sequence[int] = (16, 128, 128),
        crop: Optional[Sequence[int]] = None,
        padding: Optional[Sequence[int]] = None,
        resize: Optional[Sequence[int]] = None,
        mean: Optional[Sequence[int]] = None,
        minimum: Optional[Sequence[float]] = None,
        factor: Optional[Sequence[float]] = None,
    ) -> None:
        format = one_of(format, FORMATS, "Aipp", "format")
        batch = integer(batch, "acl.Aipp: batch", 1)
        self.batch, self.format, self.size = batch, format, size
        self._own(mdl.create_aipp(batch), ALWAYS)
        handle = self.handle
        _check(mdl.set_aipp_input_format(handle, FORMATS[format]), "aclmdlSetAIPPInputFormat")
        _check(mdl.set_aipp_src_image_size(handle, *_numbers("size", size, 2)), "aclmdlSetAIPPSrcImageSize")
        _check(mdl.set_aipp_rbuv_swap_switch(handle, int(swap_rb)), "aclmdlSetAIPPRbuvSwapSwitch")
        _check(mdl.set_aipp_ax_swap_switch(handle, int(swap_ax)), "aclmdlSetAIPPAxSwapSwitch")
        if csc is not None:
            after, before = _numbers("csc_out", csc_out, 3), _numbers("csc_in", csc_in, 3)
            ret = mdl.set_aipp_csc_params(handle, 1, *(_numbers("csc", csc, 9) + after + before))
            _check(ret, "aclmdlSetAIPPCscParams")
        for index in range(batch):
            self.image(index, crop=crop, padding=padding, resize=resize, mean=mean, minimum=minimum, factor=factor)

    def image(
        self,
        index: int,
        *,
        crop: Optional[Sequence[int]] = None,
        padding: Optional[Sequence[int]] = None,
        resize: Optional[Sequence[int]] = None,
        mean: Optional[Sequence[int]] = None,
        minimum: Optional[Sequence[float]] = None,
        factor: Optional[Sequence[float]] = None,
    ) -> "Aipp":
        """Set parameters of one image of the batch, and return the object; None leaves a parameter as it is.

        Parameters
        ----------
        index
            The index of the image.
        crop
            Left, top, width and height of the part that is used, in pixels.
        padding
            Pixels added at the top, the bottom, the left and the right.
        resize
            Width and height before the resize, then width and height after it.
        mean, minimum, factor
            For each of four channels: ``(pixel - mean - minimum) * factor``.
        """
        handle = self.handle
        if crop is not None:
            ret = mdl.set_aipp_crop_params(handle, 1, *(_numbers("crop", crop, 4) + [index]))
            _check(ret, "aclmdlSetAIPPCropParams")
        if padding is not None:
            ret = mdl.set_aipp_padding_params(handle, 1, *(_numbers("padding", padding, 4) + [index]))
            _check(ret, "aclmdlSetAIPPPaddingParams")
        if resize is not None:
            ret = mdl.set_aipp_scf_params(handle, 1, *(_numbers("resize", resize, 4) + [index]))
            _check(ret, "aclmdlSetAIPPScfParams")
        if mean is not None:
            ret = mdl.set_aipp_dtc_pixel_mean(handle, *(_numbers("mean", mean, 4) + [index]))
            _check(ret, "aclmdlSetAIPPDtcPixelMean")
        if minimum is not None:
            ret = mdl.set_aipp_dtc_pixel_min(handle, *(_reals("minimum", minimum) + [index]))
            _check(ret, "aclmdlSetAIPPDtcPixelMin")
        if factor is not None:
            ret = mdl.set_aipp_pixel_var_reci(handle, *(_reals("factor", factor) + [index]))
            _check(ret, "aclmdlSetAIPPPixelVarReci")
        return self

    def _describe(self) -> str:
        return f"{self.batch} x {self.size[0]}x{self.size[1]} {self.format}"

    def _release(self, handle: int, opening: Opening) -> int:
        ret = mdl.destroy_aipp(handle)
        return 0 if ret == UNKNOWN else ret  # destroyed with the library's state, or created before a fork


def _numbers(name: str, given: Sequence[int], count: int) -> Any:
    """Return an argument as a list of this many 32-bit integers, or raise an error."""
    numbers = [integer(number, f"acl.Aipp: {name}", -(2**31), 2**31 - 1) for number in _listed(name, given)]
    if len(numbers) != count:
        raise refuse("Aipp", f"{name} has {len(numbers)} numbers, expected {count}")
    return numbers


def _reals(name: str, given: Sequence[float]) -> Any:
    """Return an argument as a list of four numbers, one per channel, or raise an error."""
    numbers = _listed(name, given)
    for number in numbers:
        if not isinstance(number, Real):
            raise TypeError(f"acl.Aipp: {name} is {number!r}, expected a number")
    if len(numbers) != 4:
        raise refuse("Aipp", f"{name} has {len(numbers)} numbers, expected 4, one per channel")
    return [float(number) for number in numbers]


def _listed(name: str, given: Any) -> list[Any]:
    """Return an argument as a list, or raise an error if it is not iterable."""
    if not isinstance(given, Iterable):
        raise TypeError(f"acl.Aipp: {name} is {given!r}, expected numbers")
    return list(given)


def _check(ret: int, function: str) -> None:
    if ret != 0:
        raise error_of(ret, function)
