"""The steps of one execution of a model: bind the datasets, copy the inputs, execute, copy the outputs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy

import acl
from acl import mdl, rt
from acl._lib import ffi
from acl.errors import error_of
from acl.objects.array import DeviceArray
from acl.objects.context_current import relaxed
from acl.objects.memory import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE
from acl.objects.memory_block import Block, refuse
from acl.objects.model_run import Slot
from acl.objects.model_signature import Named, Shape, Signature, bytes_of

if TYPE_CHECKING:
    from acl.objects.model_aipp import Aipp
    from acl.objects.stream import Stream

    HostArray = numpy.ndarray[Any, Any]
    Array = Union[HostArray, DeviceArray]


ADDRESS = ffi.typeof("uintptr_t")


class Steps:
    """The steps of one execution.

    ``stream`` is None for a synchronous execution. If it is ``staged``, host arrays are copied through pinned memory.
    """

    __slots__ = ("signature", "model", "slot", "staged", "stream", "blocks", "late", "shapes", "targets")

    def __init__(self, signature: Signature, model: int, slot: Slot, stream: "Optional[Stream]", staged: bool) -> None:
        self.signature, self.model, self.slot, self.staged = signature, model, slot, staged
        self.stream = None if stream is None else stream.handle
        # Memory with which the caller has to register the stream.
        self.blocks: list[Block] = []
        # Whether an output is copied on the device after the execution.
        self.late = False
        self.shapes = signature.output_shapes
        self.targets: list[Union[Array, Block, None]] = []

    def prepare(
        self, values: "Sequence[Array]", gear: Optional[int], device: bool, outs: "list[Optional[Array]]",
        aipp: "Optional[Aipp]",
    ) -> None:  # fmt: skip
        """Bind the inputs and outputs, and copy the inputs (with a stream, queue the copies)."""
        self.slot.arrays = []
        if gear is not None:
            self.shapes = self._set_gear(gear)
        if aipp is not None or self.signature.aipp_input is not None:
            self._set_aipp(aipp)
        for place, value in enumerate(values):
            self._put(place, value)
        for place, out in enumerate(outs):
            self.targets.append(self._target(place, self.shapes[place], device, out))

    def queue(self) -> None:
        """Queue the execution itself."""
        slot = self.slot
        assert self.stream is not None
        ret = mdl.execute_async(self.model, slot.inputs.dataset, slot.outputs.dataset, self.stream)
        if ret != 0:
            raise error_of(ret, "aclmdlExecuteAsync")

    def _copy(self, to: int, come: int, size: int, kind: int) -> None:
        """Copy, or with a stream queue the copy."""
        if size == 0:
            return
        if self.stream is None:
            ret, function = rt.memcpy(to, size, come, size, kind), "aclrtMemcpy"
        else:
            ret, function = rt.memcpy_async(to, size, come, size, kind, self.stream), "aclrtMemcpyAsync"
        if ret != 0:
            raise error_of(ret, function)

    # --- In

    def _set_gear(self, gear: int) -> tuple[Shape, ...]:
        """Set the gear in the slot's dataset, and return the shapes of the outputs."""
        signature, slot = self.signature, self.slot
        gears, index = signature.gears, signature.gear_input
        assert gears is not None and index is not None
        if slot.gear != gear:
            slot.inputs.own(index, signature.sizes[index])
            with relaxed():  # written at once, also in a capture: no other execution uses the slot
                gears.set(self.model, slot.inputs.dataset, index, gear)
            signature.output_shapes_of(self.model, gear)
            slot.gear = gear
        return gears.outputs[gear]

    def _set_aipp(self, aipp: "Optional[Aipp]") -> None:
        """Set the AIPP parameters in the slot's dataset, if the model takes them."""
        signature, slot = self.signature, self.slot
        index = signature.aipp_input
        if index is None:
            if aipp is not None:
                raise refuse("Model", "aipp was passed, and the model has no dynamic AIPP", "leave it out")
            return
        if aipp is None:
            raise refuse("Model", "aipp is missing, and the model has dynamic AIPP", "pass aipp=acl.Aipp(...)")
        slot.inputs.own(index, signature.sizes[index])
        with relaxed():
            ret = mdl.set_input_aipp(self.model, slot.inputs.dataset, index, aipp.handle)
        if ret != 0:
            raise error_of(ret, "aclmdlSetInputAIPP")

    def _put(self, place: int, value: "Array") -> None:
        """Bind an input to the memory of an array, or to a copy of it."""
        signature, side = self.signature, self.slot.inputs
        index = signature.slots[place]
        if signature.open:
            self._say_shape(place, index, value.shape)
        size = value.nbytes
        if value.__class__ is not numpy.ndarray and isinstance(value, DeviceArray):
            block = value._live()
            self.blocks.append(block)
            if block.kind != "host" and size >= max(signature.sizes[index], 1):
                side.bind(index, value.handle, size)
                return
            kind = HOST_TO_DEVICE if block.kind == "host" else DEVICE_TO_DEVICE
            self._copy(side.own(index, max(signature.sizes[index], size)), value.handle, size, kind)
            return
        address = side.own(index, max(signature.sizes[index], size))
        if self.staged:
            pinned = side.pin(index, size)
            side.pinned(index, value.shape, value.dtype)[...] = value
            self._copy(address, pinned, size, HOST_TO_DEVICE)
        else:
            if not value.flags.c_contiguous:
                value = numpy.ascontiguousarray(value)
            self._copy(address, _address_of(value), size, HOST_TO_DEVICE)

    def _say_shape(self, place: int, index: int, shape: Shape) -> None:
        """Set the shape of an input, which the model leaves open, in the slot's dataset."""
        slot = self.slot
        if slot.shapes[index] == shape:
            return
        code, form = self.signature.codes[place]
        desc = acl.create_tensor_desc(code, list(shape), form)
        ret = mdl.set_dataset_tensor_desc(slot.inputs.dataset, desc, index)[1]
        acl.destroy_tensor_desc(desc)
        if ret != 0:
            raise error_of(ret, "aclmdlSetDatasetTensorDesc")
        slot.shapes[index] = shape

    # --- Out

    def _target(self, place: int, shape: Shape, device: bool, out: "Optional[Array]") -> "Union[Array, Block, None]":
        """Bind an output; return its array, a block for a new device array, or None for a new host array."""
        tensor = self.signature.results[place]
        side, needed = self.slot.outputs, self.signature.output_bytes[place]
        if needed == 0 and self.signature.open:
            advice = "pass it when loading: acl.Model(path, output_bytes=...)"
            raise refuse("Model", f"the size of output {tensor.name} is not known before an execution", advice)
        if out is not None and out.shape != shape:
            raise refuse("Model", f"out for {tensor.name} is of shape {out.shape}, expected {shape}")
        if out is None and device:
            block = Block.allocate(max(needed, 1), "device", "huge_first")
            self.blocks.append(block)
            side.bind(place, block.address, block.size)
            return block
        if isinstance(out, DeviceArray):
            block = out._live()
            self.blocks.append(block)
            if block.kind != "host" and out.nbytes >= max(needed, 1):
                side.bind(place, out.handle, out.nbytes)
                return out
            self.late = True
        side.own(place, needed)
        return out

    def copy_out(self) -> None:
        """Copy the outputs that the execution does not write in place."""
        for place, target in enumerate(self.targets):
            if isinstance(target, Block):
                continue
            side, tensor = self.slot.outputs, self.signature.results[place]
            address = side.bound[place][0]
            if isinstance(target, DeviceArray):
                if address != target.handle:
                    self._copy(target.handle, address, target.nbytes, DEVICE_TO_DEVICE)
            elif self.staged:
                size = self.signature.output_bytes[place]
                if not self.signature.open:
                    size = bytes_of(self.shapes[place], tensor.dtype)
                self._copy(side.pin(place, size), address, size, DEVICE_TO_HOST)
            else:
                if target is None:
                    target = self.targets[place] = numpy.empty(self._shape(place), tensor.dtype)
                self._copy(_address_of(target), address, target.nbytes, DEVICE_TO_HOST)

    def _shape(self, place: int) -> Shape:
        """Return the shape of an output, which may be known only after the execution."""
        if not self.signature.open:
            return self.shapes[place]
        desc = mdl.get_dataset_tensor_desc(self.slot.outputs.dataset, place)
        if desc == 0:
            return self.shapes[place]
        return tuple(acl.get_tensor_desc_dim_v2(desc, axis)[0] for axis in range(acl.get_tensor_desc_num_dims(desc)))

    def results(self) -> Any:
        """Return the outputs. The work must be done, unless they are device arrays of an execution on a stream."""
        found: list[Any] = []
        for place, target in enumerate(self.targets):
            dtype = self.signature.results[place].dtype
            if isinstance(target, Block):
                shape = self._shape(place)
                found.append(DeviceArray._over(target, 0, shape, dtype))
            elif self.staged and not isinstance(target, DeviceArray):
                pinned = self.slot.outputs.pinned(place, self._shape(place), dtype)
                if target is None:
                    target = pinned.copy()
                else:
                    target[...] = pinned
                found.append(target)
            else:
                found.append(target)
        return found[0] if len(found) == 1 else Named.of(self.signature.outputs.names, found)


def _address_of(array: "HostArray") -> int:
    try:  # a quarter of the time
        return int(ffi.cast(ADDRESS, ffi.from_buffer(array)))
    except (BufferError, ValueError):  # types of ml_dtypes have no letter in the buffer protocol
        address: int = array.__array_interface__["data"][0]
        return address
