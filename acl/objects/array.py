"""Arrays in device memory: shape, type and strides over a block that views share.

An array need not be closed: when it is garbage-collected, its memory is released by the rule of
:mod:`acl.objects.memory_block`, without a warning. The device is never read implicitly: ``numpy.asarray(array)`` raises
an error, and :meth:`DeviceArray.to_numpy` copies after the work that is registered with the memory.
``acl.DeviceArray.reads_silently = True`` allows NumPy to copy implicitly.

Slicing and transposing return views of the same memory. NumPy computes their shape and strides, on an array of the same
shape and strides that is never read.
"""

import math
import sys
from collections.abc import Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar, Optional, SupportsIndex, Union

import numpy
from numpy.lib.stride_tricks import as_strided

import acl
from acl._calls import in_call
from acl.errors import AclError
from acl.objects.context_current import relaxed
from acl.objects.memory import BlockHolder, Buffer, Memory, Shape, Span, copy, extents_of, fill, span_of, transfer
from acl.objects.memory_block import Block, refuse
from acl.objects.resource import MOST, check_stream, html_table, integer, stream_handle

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from acl.objects.stream import Stream

LAYOUTS = 4096  # the most that are cached


def _strides_of(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of an array in C order."""
    strides = []
    for extent in reversed(shape):
        strides.append(itemsize)
        itemsize *= extent
    return tuple(strides[::-1])


def _type_of(dtype: "DTypeLike") -> "numpy.dtype[Any]":
    """Return the NumPy type of an argument, or raise an error if device arrays cannot have it."""
    kind = numpy.dtype(dtype)
    if kind.hasobject:
        raise refuse("DeviceArray", f"dtype is {kind}, expected a type of numbers")
    if not kind.isnative:
        raise refuse("DeviceArray", f"dtype {kind} is not in native byte order", f"use {kind.newbyteorder('=')}")
    return kind


def _short(value: Any) -> str:
    """Return a value as a short text for a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


class Layout:
    """Shape, type and strides, and what follows from them.

    Arrays in which all are equal share one, so that operators and models compare by identity.
    """

    __slots__ = ("shape", "dtype", "strides", "size", "nbytes", "is_contiguous")

    def __init__(self, shape: tuple[int, ...], dtype: "numpy.dtype[Any]", strides: tuple[int, ...]) -> None:
        self.shape, self.dtype, self.strides = shape, dtype, strides
        self.size = math.prod(shape)
        self.nbytes = self.size * dtype.itemsize
        wanted = _strides_of(shape, dtype.itemsize)
        self.is_contiguous = self.size == 0 or all(
            extent == 1 or stride == want for extent, stride, want in zip(shape, strides, wanted)
        )


_layouts: dict[tuple[object, ...], Layout] = {}


def layout_of(shape: tuple[int, ...], dtype: "numpy.dtype[Any]", strides: Optional[tuple[int, ...]] = None) -> Layout:
    """Return the layout of this shape, type and strides in bytes; without strides, the layout in C order."""
    found = _layouts.get((shape, dtype, strides))
    if found is None:
        if len(_layouts) >= LAYOUTS:
            _layouts.clear()  # layouts in use stay valid; new arrays like theirs get new ones
        if strides is None:
            made = layout_of(shape, dtype, _strides_of(shape, dtype.itemsize))
        else:
            made = Layout(shape, dtype, strides)
        found = _layouts.setdefault((shape, dtype, strides), made)
    return found


class DeviceArray(BlockHolder):
    """An array in the memory of the thread's device, with undefined contents.

    Parameters
    ----------
    shape
        Its dimensions.
    dtype
        Its type, as for NumPy; also ``ml_dtypes.bfloat16``.

    Raises
    ------
    InvalidArgumentError
        A dimension is negative, or the type is not a type of numbers.
    OutOfMemoryError
        The device does not have enough memory.

    Notes
    -----
    Wraps ``aclrtMalloc``, and for copies ``aclrtMemcpy`` and ``aclrtMemcpyAsync``.
    """

    __slots__ = ("_block", "_layout")

    reads_silently: ClassVar[bool] = False

    _block: Optional[Block]
    _layout: Layout

    def __init__(self, shape: Shape, dtype: "DTypeLike" = "f4") -> None:
        kind = _type_of(dtype)
        if shape.__class__ not in (int, tuple) and (
            isinstance(shape, list) or getattr(shape, "ndim", 0) != 0 or not isinstance(shape, (tuple, SupportsIndex))
        ):
            raise TypeError(
                f"acl.DeviceArray takes a shape: shape is {_short(shape)}, expected an int or a tuple of ints; to copy "
                "values, use acl.DeviceArray.from_numpy(values)"
            )
        extents = extents_of(shape, "DeviceArray")
        self._layout = layout_of(extents, kind)
        self._set(Block.allocate(max(self.nbytes, 1), "device", "huge_first"), 0)

    def _set(self, block: Block, offset: int) -> None:
        """Refer to memory in a block."""
        self._block = block
        # The block is the owner: an array that is not closed is not a leak.
        self._handle, self._opening = block.address + offset, None

    # --- Other constructors

    @classmethod
    def _over(
        cls, block: Block, offset: int, shape: tuple[int, ...], dtype: "numpy.dtype[Any]",
        strides: Optional[tuple[int, ...]] = None,
    ) -> "DeviceArray":  # fmt: skip
        """Return an array over part of a block, without checking that it fits; without strides it is in C order."""
        self = cls.__new__(cls)
        self._layout = layout_of(shape, dtype, strides)
        self._set(block, offset)
        return self

    @classmethod
    def zeros(cls, shape: Shape, dtype: "DTypeLike" = "f4", *, stream: "Optional[Stream]" = None) -> "DeviceArray":
        """Return an array of zeros."""
        self = cls(shape, dtype)
        self.fill(0, stream=stream)
        return self

    @classmethod
    def from_numpy(cls, array: "ArrayLike", *, stream: "Optional[Stream]" = None) -> "DeviceArray":
        """Return a copy of host memory on the thread's device, in the byte order of the machine."""
        host = numpy.asarray(array)
        self = cls(host.shape, host.dtype if host.dtype.isnative else host.dtype.newbyteorder("="))
        self.copy_from(host, stream=stream)
        return self

    @classmethod
    def from_buffer(cls, buffer: Buffer, shape: Shape, dtype: "DTypeLike" = "f4", *, offset: int = 0) -> "DeviceArray":
        """Return an array over part of a buffer, whose memory it keeps alive."""
        kind = _type_of(dtype)
        extents = extents_of(shape, "DeviceArray")
        size = math.prod(extents) * kind.itemsize
        offset = integer(offset, "acl.DeviceArray.from_buffer: offset")
        if not isinstance(buffer, Buffer):
            raise TypeError(f"acl.DeviceArray.from_buffer: {buffer!r} is not an acl.Buffer")
        if offset < 0 or offset + size > buffer.nbytes:
            reason = f"{extents} of {kind} takes bytes {offset} to {offset + size}, and the buffer has {buffer.nbytes}"
            raise refuse("DeviceArray.from_buffer", reason)
        block = buffer.share()
        return cls._over(block, buffer.handle - block.address + offset, extents, kind)

    @classmethod
    def from_handle(cls, address: int, shape: Shape, dtype: "DTypeLike" = "f4", *, keep: Any = None) -> "DeviceArray":
        """Return an array over memory that it does not own; it keeps ``keep`` alive."""
        extents = extents_of(shape, "DeviceArray")
        size = math.prod(extents) * _type_of(dtype).itemsize
        return cls.from_buffer(Buffer.from_handle(address, size, keep=keep), extents, dtype)

    @classmethod
    def from_dlpack(cls, source: Any) -> "DeviceArray":
        """Return an array over another library's device memory, or a copy of its host memory."""
        from acl.objects import dlpack

        return dlpack.take(cls, source)

    # --- Properties

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        return self._layout.shape

    @property
    def dtype(self) -> "numpy.dtype[Any]":
        """Its type."""
        return self._layout.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next, for each dimension."""
        return self._layout.strides

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self._layout.size

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._layout.nbytes

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements are contiguous in C order."""
        return self._layout.is_contiguous

    def _live(self) -> Block:
        """Return the block, or raise an error if the array or its device is closed."""
        block = self._block or super()._live()
        if not block.opening.live:
            block.check()
        return block

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("acl.DeviceArray: len() of an array without dimensions")
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is on the device and has no truth value: use array.item() or array.to_numpy()")

    def _compare(self, other: Any, operator: str) -> "DeviceArray":
        """Return the result of a comparison with another array, or with a number, for each element."""
        number = isinstance(other, (Number, numpy.generic))
        if not number and not isinstance(other, DeviceArray):
            reason = f"{type(other).__name__} is neither an acl.DeviceArray nor a number"
            raise TypeError(f"acl.DeviceArray: {reason}; copy it first: acl.DeviceArray.from_numpy(x)")
        result: DeviceArray = getattr(acl.nn, f"{operator}_{'scalar' if number else 'tensor'}")(self, other)
        return result

    def __eq__(self, other: Any) -> "DeviceArray":  # type: ignore[override]
        """Return an array of bool: where the elements are equal (``aclnnEqTensor``, ``aclnnEqScalar``)."""
        return self._compare(other, "eq")

    def __ne__(self, other: Any) -> "DeviceArray":  # type: ignore[override]
        """Return an array of bool: where the elements differ (``aclnnNeTensor``, ``aclnnNeScalar``)."""
        return self._compare(other, "ne")

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """Return the values as NumPy prints them, or the repr in a callback and for a closed array."""
        if self.closed or in_call():
            return repr(self)
        try:
            with relaxed():
                return str(self.to_numpy())
        except AclError:
            return repr(self)

    def _describe(self) -> str:
        block = self._block
        where = "" if block is None else f" on device {block.opening.device_id}"
        return f"{self.shape} {self.dtype}{'' if self.is_contiguous else f' strides {self.strides}'}{where}"

    def _repr_html_(self) -> str:
        """Return the table for notebooks, with the contents only if they may be read implicitly."""
        if self.closed:
            return html_table("acl.DeviceArray, closed", {})
        block = self._live()
        rows: dict[str, object] = {
            "shape": self.shape, "dtype": self.dtype, "bytes": f"{self.nbytes:,}", "address": f"{self.handle:#x}",
            "where": f"device {block.opening.device_id}" if block.kind == "device" else f"{block.kind} memory",
        }  # fmt: skip
        if not self.is_contiguous:
            rows["strides"] = self.strides
        if self.reads_silently:
            rows["contents"] = self.to_numpy()
        return html_table("acl.DeviceArray", rows)

    # --- Views

    def _geometry(self) -> "numpy.ndarray[Any, Any]":
        """Return a NumPy array of the same shape, type and strides, whose elements must not be read."""
        return as_strided(numpy.empty(1, self.dtype), self.shape, self.strides)

    def _view(self, before: "numpy.ndarray[Any, Any]", after: "numpy.ndarray[Any, Any]") -> "DeviceArray":
        """Return the view of the array that ``after`` is of ``before``, the result of :meth:`_geometry`."""
        block = self._live()
        moved = after.__array_interface__["data"][0] - before.__array_interface__["data"][0] if after.size else 0
        return self._over(block, self.handle - block.address + moved, after.shape, self.dtype, after.strides)

    def __getitem__(self, key: Any) -> "DeviceArray":
        """Return a view for integers, slices, ``...`` and None; one element is an array without dimensions."""
        keys = key if isinstance(key, tuple) else (key,)
        for item in keys:
            whole = isinstance(item, (int, numpy.integer)) and not isinstance(item, bool)
            if whole and abs(int(item)) > MOST:  # NumPy's error would say that it is not an integer
                raise IndexError(f"acl.DeviceArray: index {item} is out of bounds for {self.shape}")
            if not (whole or item is None or item is Ellipsis or isinstance(item, slice)):
                advice = "use integers, slices, ... and None, or an operator such as acl.nn.index"
                raise refuse("DeviceArray", f"an index of type {type(item).__name__} is not supported", advice)
        before = self._geometry()
        if Ellipsis not in keys:
            keys = (*keys, Ellipsis)  # NumPy would read an element instead of returning a view
        return self._view(before, before[keys])

    def __setitem__(self, key: Any, value: Any) -> None:
        target = self[key]
        if not isinstance(value, (DeviceArray, Buffer)):
            value = numpy.broadcast_to(self._converted(value, "DeviceArray"), target.shape)
        target.copy_from(value)

    def __iter__(self) -> "Iterator[DeviceArray]":
        return (self[place] for place in range(len(self)))

    def transpose(self, *axes: int) -> "DeviceArray":
        """Return a view with the dimensions in another order, by default reversed."""
        before = self._geometry()
        return self._view(before, before.transpose(*axes))

    @property
    def T(self) -> "DeviceArray":
        """The view with the dimensions reversed."""
        return self.transpose()

    def reshape(self, *shape: Shape) -> "DeviceArray":
        """Return a view of another shape, given as numbers or as one tuple; a dimension of -1 is computed.

        The array has to be contiguous.
        """
        if not self.is_contiguous:
            raise refuse("DeviceArray.reshape", f"{self!r} is not contiguous", "copy it first: array.copy()")
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        extents = tuple(integer(extent, "acl.DeviceArray.reshape: a dimension") for extent in given)
        known = math.prod(extent for extent in extents if extent != -1)
        if extents.count(-1) == 1 and known:
            extents = tuple(self.size // known if extent == -1 else extent for extent in extents)
        if math.prod(extents) != self.size or min(extents, default=0) < 0:
            raise refuse("DeviceArray.reshape", f"cannot reshape an array of {self.size} elements into shape {extents}")
        block = self._live()
        return self._over(block, self.handle - block.address, extents, self.dtype)

    # --- Contents

    def _converted(self, value: Any, function: str) -> "numpy.ndarray[Any, Any]":
        """Return host values converted to the type of the array."""
        try:
            return numpy.asarray(value, self.dtype)
        except OverflowError as error:
            raise refuse(function, f"value is {_short(value)}, which does not fit {self.dtype}: {error}") from None

    def fill(self, value: Any = 0, *, stream: "Optional[Stream]" = None) -> None:
        """Set every element to a value.

        Parameters
        ----------
        value
            A number, which is converted to the array's type.
        stream
            The stream on which to queue it. Without one, the call waits for the work that is registered with the
            memory, and for the fill.

        Raises
        ------
        InvalidArgumentError
            If the value has more than one element, or does not fit the type.

        Notes
        -----
        Wraps ``aclrtMemset`` and ``aclrtMemsetAsync`` if the array is contiguous and all bytes of the value are equal,
        as for 0; otherwise ``aclnnInplaceFillScalar``.
        """
        element = self._converted(value, "DeviceArray.fill")
        if element.ndim:
            reason = f"value has the shape {element.shape}, expected one number"
            raise refuse("DeviceArray.fill", reason, "use array[...] = value")
        block, raw = self._live(), element.tobytes()
        if not self.size:
            check_stream(stream)
            return
        if self.is_contiguous and len(set(raw)) == 1:
            fill(self, block, raw[0], stream, "DeviceArray.fill")
        elif block.kind == "host" and stream is None:
            self[...] = element
        elif block.kind == "host":
            fill(self, block, raw[0], stream, "DeviceArray.fill")  # raises the error
        else:
            self._fill_words(block, raw, stream)

    def _fill_words(self, block: Block, raw: bytes, stream: "Optional[Stream]") -> None:
        """Set every element to these bytes, as integers: operators support fewer types than NumPy."""
        width = math.gcd(len(raw), 8)
        for place in range(0, len(raw), width):
            first = self.handle - block.address + place
            words = self._over(block, first, self.shape, numpy.dtype(f"i{width}"), self.strides)
            word = int.from_bytes(raw[place : place + width], sys.byteorder, signed=True)
            acl.nn.inplace_fill_scalar(words, word, stream=stream)

    def copy_from(self, source: "Union[Memory, ArrayLike]", *, stream: "Optional[Stream]" = None) -> None:
        """Copy from an array of the same shape, on the device or the host, or from the bytes of a buffer."""
        if isinstance(source, Buffer):
            copy(self, source, self.nbytes, stream, "DeviceArray.copy_from")
        elif isinstance(source, DeviceArray):
            self._check_like(source.shape, source.dtype, "DeviceArray.copy_from")
            _copy_arrays(self, source, source, stream)
        else:
            host = numpy.asarray(source)
            if not numpy.can_cast(host.dtype, self.dtype, "same_kind"):
                advice = "convert it first: array.astype()"
                raise refuse("DeviceArray.copy_from", f"cannot cast {host.dtype} to {self.dtype}", advice)
            self._check_like(host.shape, self.dtype, "DeviceArray.copy_from")
            host = numpy.ascontiguousarray(host, self.dtype)
            _copy_arrays(self, host, host, stream)

    def copy_to(self, target: "Union[Memory, numpy.ndarray[Any, Any]]", *, stream: "Optional[Stream]" = None) -> None:
        """Copy to an array of the same shape and type, on the device or the host, or to the bytes of a buffer.

        With a stream, host memory has the contents after synchronising, and pinned memory is copied without waiting.
        """
        if isinstance(target, DeviceArray):
            target.copy_from(self, stream=stream)
            return
        if isinstance(target, numpy.ndarray):
            self._check_like(target.shape, target.dtype, "DeviceArray.copy_to")
        source = self if self.is_contiguous else self.copy(stream=stream)
        copy(target, source, self.nbytes, stream, "DeviceArray.copy_to")

    def _check_like(self, shape: tuple[int, ...], dtype: "numpy.dtype[Any]", function: str) -> None:
        """Raise an error for another shape or type than the array's own."""
        if shape != self.shape or dtype != self.dtype:
            reason = f"the other array is {shape} {dtype}, this array is {self.shape} {self.dtype}"
            raise refuse(function, reason, "use arrays of one shape and type")

    def copy(self, *, stream: "Optional[Stream]" = None) -> "DeviceArray":
        """Return a contiguous copy."""
        fresh = DeviceArray(self.shape, self.dtype)
        fresh.copy_from(self, stream=stream)
        return fresh

    def to_numpy(self, *, stream: "Optional[Stream]" = None) -> "numpy.ndarray[Any, Any]":
        """Return a copy on the host, after the work that is registered with the memory.

        With a stream, it also waits for the work that is queued on it.
        """
        block = self._live()
        if stream is not None:
            stream_handle(stream)  # raises if it is not a stream
            stream.synchronize()
        if self.size == 0:
            return numpy.empty(self.shape, self.dtype)
        ends = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        low = sum(end for end in ends if end < 0)
        size = sum(end for end in ends if end > 0) - low + self.itemsize
        host = numpy.empty(size, "u1")
        come = Span(self.handle + low, size, block.kind, block, self)
        transfer(span_of(host, "DeviceArray.to_numpy", True), come, [(0, 0)], size, None)
        flat = numpy.ndarray(self.shape, self.dtype, host.data, -low, self.strides)
        result: numpy.ndarray[Any, Any] = flat if self.is_contiguous else flat.copy()
        return result

    def item(self) -> Any:
        """Return the only element."""
        return self.to_numpy().item()

    # --- Interchange

    def __array__(self, dtype: "Optional[DTypeLike]" = None, copy: Optional[bool] = None) -> "numpy.ndarray[Any, Any]":
        if not self.reads_silently:
            raise TypeError(
                f"{self!r} is on the device: copy it with array.to_numpy(), or allow implicit copies with "
                "acl.DeviceArray.reads_silently = True"
            )
        if copy is False:
            raise ValueError("acl.DeviceArray: NumPy cannot use device memory without a copy")
        return numpy.asarray(self.to_numpy(), self.dtype if dtype is None else dtype)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """Return a capsule over the memory, versioned if the consumer asks for it; for the host (``dl_device``) a copy.

        ``stream`` is the stream that the consumer will use, as an object or a handle: it waits for the work that is
        registered with the memory. With None the call itself waits for that work; with -1 nothing waits.
        """
        from acl.objects import dlpack

        return dlpack.give(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's number for the device type (12: an accelerator that it does not list), and the id."""
        from acl.objects import dlpack

        return dlpack.device_of(self)


def _copy_arrays(target: DeviceArray, source: Any, like: Any, stream: "Optional[Stream]") -> None:
    """Copy element by element between arrays of one shape and type, in pieces that are contiguous on both sides."""
    if not target.size:
        target.handle.__index__()
        check_stream(stream)
        return
    depth = min(_contiguous_depth(target), _contiguous_depth(like))
    outer = target.ndim - depth
    size = math.prod(target.shape[outer:]) * target.itemsize
    block = target._live()
    to = Span(target.handle, 0, block.kind, block, target)
    if isinstance(source, DeviceArray):
        block = source._live()
        come = Span(source.handle, 0, block.kind, block, source)
    else:
        come = span_of(source, "DeviceArray.copy_from")
    offsets = (_offsets(target.shape[:outer], array.strides[:outer]) for array in (target, like))
    transfer(to, come, zip(*offsets), size, stream)


def _contiguous_depth(array: Any) -> int:
    """Return the number of trailing dimensions that are contiguous."""
    depth, want = 0, array.itemsize
    for extent, stride in zip(reversed(array.shape), reversed(array.strides)):
        if extent != 1 and stride != want:
            break
        depth, want = depth + 1, want * extent
    return depth


def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Return the offset of each element of the outer dimensions."""
    total = numpy.zeros((), "i8")
    for extent, stride in zip(shape, strides):
        total = total[..., None] + numpy.arange(extent) * stride
    offsets: list[int] = total.ravel().tolist()
    return offsets
