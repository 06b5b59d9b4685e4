"""The inputs and outputs of a model: names, shapes, types, and the gears for which it was built.

All of it is read when the model is loaded; the library's description (``aclmdlDesc``) is destroyed at once.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, TypeVar, Union, overload

import numpy

from acl import mdl
from acl._lib import AIPP_INPUT, GEAR_INPUT, lib
from acl.data_types import BFLOAT16, FORMATS, NUMPY
from acl.errors import error_of
from acl.objects.array import Layout, layout_of
from acl.objects.memory_block import refuse

if TYPE_CHECKING:
    from acl.objects.array import DeviceArray

T = TypeVar("T")
Shape = tuple[int, ...]

EVERY = -1  # the index for queries about the gears of all inputs
WITHOUT_AIPP = lib.ACL_DATA_WITHOUT_AIPP


class Named(tuple[T, ...]):
    """A tuple whose items also have names: ``outputs[0]``, ``outputs["scores"]``, ``dict(outputs)``."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str], items: Iterable[T]) -> "Named[T]":
        """Return items with their names."""
        self = cls(items)
        self.names = tuple(names)
        return self

    def keys(self) -> tuple[str, ...]:
        """Return the names."""
        return self.names

    def items(self) -> "zip[tuple[str, T]]":
        """Return pairs of a name and an item."""
        return zip(self.names, self)

    def place(self, name: str) -> int:
        """Return the index of the item with a name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"no tensor is named {name!r}, expected one of {', '.join(self.names)}") from None

    @overload  # type: ignore[override]
    def __getitem__(self, key: Union[str, int]) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[T, ...]: ...
    def __getitem__(self, key: Union[str, int, slice]) -> Any:
        """Return the item at an index or with a name."""
        return tuple.__getitem__(self, self.place(key) if isinstance(key, str) else key)


class Tensor(NamedTuple):
    """One input or output of a model.

    ``shape`` has -1 for a dimension that depends on the gear or the execution. ``size`` is in bytes, for the largest
    gear, and 0 if it is known only after the execution. ``ranges`` are the minimum and maximum of each dimension where
    they are known (-1: no maximum). ``raw`` inputs take the bytes of images, which AIPP converts to the model's input.
    """

    name: str
    shape: Shape
    dtype: "numpy.dtype[Any]"
    format: str
    size: int
    ranges: tuple[tuple[int, int], ...] = ()
    raw: bool = False

    @property
    def dynamic(self) -> bool:
        """Whether its shape depends on the gear or the execution."""
        return -1 in self.shape

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {self.shape}"


def dtype_of(code: int, what: str) -> "numpy.dtype[Any]":
    """Return the NumPy type for an ``aclDataType``."""
    if code == BFLOAT16:
        try:
            import ml_dtypes
        except ImportError:
            raise refuse("Model", f"{what} is bfloat16, which NumPy does not have", "pip install ml_dtypes") from None
        found: numpy.dtype[Any] = numpy.dtype(ml_dtypes.bfloat16)
        return found
    if code not in NUMPY:
        reason = f"{what} has aclDataType {code}, for which NumPy has no type"
        raise refuse("Model", reason, "use acl.mdl for this model")
    return numpy.dtype(NUMPY[code])


class Gears:
    """The gears that a model was built for.

    ``choices`` are the gears as the program sees them; ``shapes`` has, for each of them, the shapes of all inputs.
    """

    def __init__(self, kind: str, choices: Sequence[Any], shapes: Sequence[tuple[Shape, ...]]) -> None:
        self.kind = kind
        self.choices = tuple(choices)
        self.shapes = tuple(shapes)
        self._places = {each: place for place, each in enumerate(self.shapes)}
        # The shapes of the outputs, by the index of the gear, as far as they have been read.
        self.outputs: dict[int, tuple[Shape, ...]] = {}

    def place(self, shapes: tuple[Shape, ...]) -> int:
        """Return the index of the gear for the shapes of all inputs."""
        found = self._places.get(shapes)
        if found is None:
            known = "; ".join(
                f"{choice}: {', '.join(map(str, each))}" for choice, each in zip(self.choices, self.shapes)
            )
            reason = f"no gear has inputs of shape {', '.join(map(str, shapes))}"
            raise refuse("Model", reason, f"the gears of {self.kind} are {known}")
        return found

    def set(self, model: int, dataset: int, index: int, place: int) -> None:
        """Write a gear into the input at ``index``, which carries it."""
        choice = self.choices[place]
        if self.kind == "batch":
            ret, function = mdl.set_dynamic_batch_size(model, dataset, index, choice), "aclmdlSetDynamicBatchSize"
        elif self.kind == "size":
            ret, function = mdl.set_dynamic_hw_size(model, dataset, index, *choice), "aclmdlSetDynamicHWSize"
        else:
            dims = [extent for shape in self.shapes[place] for extent in shape]
            named = {"name": "", "dimCount": len(dims), "dims": dims}
            ret, function = mdl.set_input_dynamic_dims(model, dataset, index, named), "aclmdlSetInputDynamicDims"
        if ret != 0:
            raise error_of(ret, function)


class Signature:
    """The description of a loaded model.

    A *place* is an index of ``inputs``, which omits the inputs that carry a gear or parameters of AIPP; ``slots`` has
    the library's index for each place.
    """

    def __init__(self, model: int) -> None:
        desc = mdl.create_desc()
        try:
            ret = mdl.get_desc(desc, model)
            if ret != 0:
                raise error_of(ret, "aclmdlGetDesc")
            self._read(model, desc)
        finally:
            mdl.destroy_desc(desc)

    def _read(self, model: int, desc: int) -> None:
        """Read everything from the library's description."""
        self.input_count = mdl.get_num_inputs(desc)
        names = [mdl.get_input_name_by_index(desc, index) or "" for index in range(self.input_count)]
        self.gear_input = names.index(GEAR_INPUT) if GEAR_INPUT in names else None
        self.aipp_input = names.index(AIPP_INPUT) if AIPP_INPUT in names else None
        self.slots = [index for index in range(self.input_count) if index not in (self.gear_input, self.aipp_input)]
        self.sizes = [mdl.get_input_size_by_index(desc, index) for index in range(self.input_count)]
        self.codes = [(mdl.get_input_data_type(desc, index), mdl.get_input_format(desc, index)) for index in self.slots]
        inputs = []
        for index, (code, form) in zip(self.slots, self.codes):
            dims, ret = mdl.get_input_dims(desc, index)
            limits = mdl.get_input_dims_range(desc, index)[0] if ret == 0 else {}
            inputs.append(
                Tensor(
                    names[index],
                    self._shape_of(dims, ret, "aclmdlGetInputDims"),
                    dtype_of(code, f"input {names[index]}"),
                    FORMATS.get(form, str(form)),
                    self.sizes[index],
                    tuple((low, high) for low, high in limits.get("range", ())),
                    self._is_raw(model, index),
                )
            )
        self.inputs = Named.of((each.name for each in inputs), inputs)
        outputs = []
        for index in range(mdl.get_num_outputs(desc)):
            name = mdl.get_output_name_by_index(desc, index) or ""
            form = mdl.get_output_format(desc, index)
            outputs.append(
                Tensor(
                    name,
                    self._shape_of(*mdl.get_output_dims(desc, index), "aclmdlGetOutputDims"),
                    dtype_of(mdl.get_output_data_type(desc, index), f"output {name}"),
                    FORMATS.get(form, str(form)),
                    mdl.get_output_size_by_index(desc, index),
                )
            )
        self.outputs = Named.of((each.name for each in outputs), outputs)
        self.gears = None if self.gear_input is None else self._gears(desc)
        # Whether some shapes are known only when the model is executed.
        self.open = self.gears is None and any(each.dynamic for each in (*inputs, *outputs))
        # Whether comparing shapes and types is all that inputs need.
        self.plain = self.gears is None and not self.open and not any(each.raw for each in inputs)
        self.shapes = tuple(each.shape for each in inputs)
        self.output_shapes = tuple(each.shape for each in outputs)
        # The inputs and outputs as plain tuples, because an index into a Named is slower.
        self.tensors, self.results = tuple(inputs), tuple(outputs)
        # The bytes for each output; acl.Model replaces sizes that are known only after an execution.
        self.output_bytes = tuple(each.size for each in outputs)

    def layouts(self) -> tuple[Layout, ...]:
        """Return the layouts of device arrays that an execution can use as they are; empty if it needs to know more."""
        if not self.plain or not self.slots or self.aipp_input is not None:
            return ()
        tensors = (*self.inputs, *self.outputs)
        found = tuple([layout_of(each.shape, each.dtype) for each in tensors])
        return found if all(max(each.size, 1) <= layout.nbytes for each, layout in zip(tensors, found)) else ()

    @staticmethod
    def _shape_of(dims: dict[str, Any], ret: int, function: str) -> Shape:
        """Return the shape in the result of a query, or raise the error of its status code."""
        if ret != 0:
            raise error_of(ret, function)
        return tuple(dims["dims"])

    @staticmethod
    def _is_raw(model: int, index: int) -> bool:
        """Return whether an input takes the bytes of images, which AIPP converts."""
        kind, _, ret = mdl.get_aipp_type(model, index)
        return ret == 0 and kind != WITHOUT_AIPP

    def _gears(self, desc: int) -> Gears:
        """Read the gears: batch sizes, sizes of images, or the dimensions of all inputs."""
        shapes = [each.shape for each in self.inputs]
        batches, ret = mdl.get_dynamic_batch(desc)
        if ret == 0 and batches["batch"]:
            found = batches["batch"]
            return Gears("batch", found, [tuple(_filled(shape, [batch]) for shape in shapes) for batch in found])
        sides, ret = mdl.get_dynamic_hw(desc, EVERY)
        if ret == 0 and sides["hw"]:
            pairs = [tuple(pair) for pair in sides["hw"]]
            return Gears("size", pairs, [tuple(_filled(shape, pair) for shape in shapes) for pair in pairs])
        count, ret = mdl.get_input_dynamic_gear_count(desc, EVERY)
        if ret != 0:
            raise error_of(ret, "aclmdlGetInputDynamicGearCount")
        rows, ret = mdl.get_input_dynamic_dims(desc, EVERY, count)
        if ret != 0:
            raise error_of(ret, "aclmdlGetInputDynamicDims")
        split = [_split(row["dims"], shapes) for row in rows]
        return Gears("dims", split, split)

    def output_shapes_of(self, model: int, gear: int) -> tuple[Shape, ...]:
        """Return the shapes of the outputs for a gear, which must be the one that was set last."""
        gears = self.gears
        assert gears is not None
        if gear not in gears.outputs:
            desc = mdl.create_desc()
            try:
                ret = mdl.get_desc(desc, model)
                found = [mdl.get_cur_output_dims(desc, index) for index in range(len(self.outputs))] if ret == 0 else []
                if len(found) != len(self.outputs) or any(each[1] for each in found):
                    raise error_of(found[-1][1] if found else ret, "aclmdlGetCurOutputDims")
                gears.outputs[gear] = tuple(tuple(dims["dims"]) for dims, _ in found)
            finally:
                mdl.destroy_desc(desc)
        return gears.outputs[gear]

    # --- Checks of inputs

    def check(self, place: int, value: "Union[numpy.ndarray[Any, Any], DeviceArray]", gear: Optional[int]) -> None:
        """Raise an error for a wrong type or shape of an input; with a gear, only for a wrong type."""
        tensor = self.tensors[place]
        if tensor.raw:
            if value.dtype.itemsize != 1:
                reason = f"input {tensor.name} is {value.dtype}, and AIPP takes the bytes of an image"
                raise refuse("Model", reason, "give it an array of uint8")
            if value.nbytes > tensor.size:
                reason = f"input {tensor.name} has {value.nbytes} bytes, and the model takes at most {tensor.size}"
                raise refuse("Model", reason)
            return
        if value.dtype != tensor.dtype:
            advice = f"convert it: array.astype({tensor.dtype.name!r})"
            raise refuse("Model", f"input {tensor.name} is {value.dtype}, expected {tensor.dtype}", advice)
        if gear is not None or value.shape == tensor.shape:
            return
        if not self.open or len(value.shape) != len(tensor.shape):
            raise refuse("Model", f"input {tensor.name} is of shape {value.shape}, expected {tensor.shape}")
        for axis, (extent, want) in enumerate(zip(value.shape, tensor.shape)):
            low, high = (want, want) if want >= 0 else (0, -1)
            if want < 0 and axis < len(tensor.ranges):
                low, high = tensor.ranges[axis]
            if extent < low or (high >= 0 and extent > high):
                limits = f"{low}" if low == high else f"{low} to {high}" if high >= 0 else f"{low} or more"
                reason = f"input {tensor.name} is of shape {value.shape}, expected {tensor.shape}"
                raise refuse("Model", f"{reason}: dimension {axis} is {extent}, expected {limits}")

    def gear_of(self, values: "Sequence[Union[numpy.ndarray[Any, Any], DeviceArray]]") -> Optional[int]:
        """Return the index of the gear for the shapes of the inputs, or None for a model without gears."""
        gears = self.gears
        if gears is None:
            return None
        shapes = []
        for tensor, value in zip(self.inputs, values):
            shape: Shape = value.shape
            if tensor.raw and gears.kind == "batch":
                batch = value.nbytes * max(gears.choices) // max(tensor.size, 1)
                shape = _filled(tensor.shape, [batch])
            shapes.append(shape)
        return gears.place(tuple(shapes))

    def html(self) -> str:
        """Return a table of inputs and outputs."""
        rows = [("input", each) for each in self.inputs] + [("output", each) for each in self.outputs]
        lines = "".join(
            f"<tr><td>{side}</td><td>{escape(each.name)}</td><td>{escape(str(each.shape))}</td><td>{each.dtype}</td>"
            f"<td>{each.format}</td><td>{each.size}</td></tr>"
            for side, each in rows
        )
        heads = "".join(f"<th>{head}</th>" for head in ("", "name", "shape", "type", "format", "bytes"))
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _filled(shape: Shape, values: Sequence[int]) -> Shape:
    """Return a shape in which each dimension of -1 is replaced by the next of the values."""
    left = iter(values)
    return tuple(next(left, -1) if extent < 0 else extent for extent in shape)


def _split(dims: Sequence[int], shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """Split the dimensions of all inputs, listed one after the other, into the shape of each input."""
    left = iter(dims)
    return tuple(tuple(next(left) for _ in shape) for shape in shapes)


def bytes_of(shape: Shape, dtype: "numpy.dtype[Any]") -> int:
    """Return the size of an array in bytes."""
    return math.prod(shape) * dtype.itemsize
