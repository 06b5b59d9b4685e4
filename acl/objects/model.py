"""Models: loaded from a file or from memory, described, and executed with arrays.

``model(x)`` executes at once, and returns host arrays for host arrays and device arrays for device arrays.
``model(x, stream=stream)`` queues an execution on a stream, which may be captured, and returns device arrays at once.
:meth:`Model.submit` queues an execution and returns its future (:mod:`acl.objects.model_run`).

Device arrays are used as inputs and outputs without a copy. Host memory is copied, and so is a device array with less
memory than the model's largest gear needs. An execution waits for all work that is registered with its memory.

A model can be used in threads whose current context is the one in which it was loaded; threads of any context can wait
for its futures.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy

from acl import mdl, rt
from acl._lib import _acl
from acl.errors import CaptureError, ContextError, InvalidHandleError, codes, error_of
from acl.objects.array import DeviceArray, Layout
from acl.objects.context_current import call_in, current_handle, make_current
from acl.objects.memory import Buffer
from acl.objects.memory_block import Block, refuse, tell
from acl.objects.model_run import ModelRun, Pool, Slot
from acl.objects.model_signature import Named, Signature, Tensor
from acl.objects.model_source import LOADING, content_of, room_of
from acl.objects.model_step import Steps
from acl.objects.resource import INVALID_HANDLE, Opening, Resource, current_opening, integer, stream_handle
from acl.objects.stream import Stream
from acl.progress import bar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from acl.objects.model_aipp import Aipp

    HostArray = numpy.ndarray[Any, Any]
    Array = Union[HostArray, DeviceArray]
    Input = Union[ArrayLike, DeviceArray]
    Output = Union[Array, Sequence[Optional[Array]], Mapping[str, Array], None]

UNKNOWN = codes.ACL_ERROR_GE_EXEC_MODEL_ID_INVALID
OTHER_CONTEXT = codes.ACL_ERROR_RT_STREAM_CONTEXT
SYNCHRONOUS = codes.ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT


class ModelMemory(NamedTuple):
    """Bytes of device memory that a model takes."""

    work: int
    weights: int


class Model(Resource):
    """A model, loaded into the thread's current context.

    Parameters
    ----------
    source
        The path of the file, or its contents: bytes, an array or a :class:`acl.Buffer`.
    work, weights
        Device memory into which to load it, with at least the bytes that :meth:`memory_of` returns; with None the
        library allocates it. Models that never execute at the same time may share work memory, and loads of one file
        may share the memory of the weights.
    depth
        The number of executions that :meth:`submit` can have in progress; the next one waits.
    output_bytes
        For outputs whose shape is known only after an execution: the most bytes, one number for all or one per output.

    Raises
    ------
    ModelError
        The file does not exist, or is not a model file.
    InvalidArgumentError
        The file is for another chip, or the memory is too small.

    Notes
    -----
    Wraps ``aclmdlLoadFromFile``, ``aclmdlLoadFromMem`` and the forms of both with memory.
    """

    __slots__ = ("_context", "_keep", "_layouts", "_place", "_pool", "_signature")
    _released_by = "aclmdlUnload"

    _context: int
    _keep: tuple[Optional[Block], ...]
    # The layouts of inputs and outputs whose memory it can use; empty if equal layouts are not enough.
    _layouts: tuple[Layout, ...]
    _place: Opening
    _pool: Pool
    _signature: Signature

    def __init__(
        self,
        source: Union[str, "os.PathLike[str]", Buffer, Any],
        *,
        work: Union[Buffer, DeviceArray, None] = None,
        weights: Union[Buffer, DeviceArray, None] = None,
        depth: int = 8,
        output_bytes: Union[int, Sequence[int]] = 0,
    ) -> None:
        opening, context = current_opening(), current_handle()
        spans = room_of("work", work), room_of("weights", weights)
        arguments = [number for span in spans for number in ((span.address, span.size) if span else (0, 0))]
        given = "WithMem" if any(spans) else ""
        if isinstance(source, (str, os.PathLike)):
            function, path = f"aclmdlLoadFromFile{given}", os.fspath(source)
            model, ret = mdl.load_from_file_with_mem(path, *arguments) if given else mdl.load_from_file(path)
        else:
            function, content = f"aclmdlLoadFromMem{given}", content_of(source)
            where = content.address, content.size
            model, ret = mdl.load_from_mem_with_mem(*where, *arguments) if given else mdl.load_from_mem(*where)
        if ret != 0:
            raise error_of(ret, function, LOADING.get(ret))
        self._keep = tuple(span.block if span else None for span in spans)
        try:
            self._describe_as(model, depth, output_bytes, opening, context)
        except BaseException:
            mdl.unload(model)
            raise
        self._own(model, opening)

    def _describe_as(
        self, model: int, depth: int, output_bytes: Union[int, Sequence[int]], opening: Opening, context: int
    ) -> None:
        """Read the description of a loaded model, and create its pool of slots."""
        depth = integer(depth, "acl.Model: depth", 1)
        signature = self._signature = Signature(model)
        count = len(signature.outputs)
        given = output_bytes if isinstance(output_bytes, (tuple, list)) else [output_bytes] * count
        each = [integer(size, "acl.Model: output_bytes", 0) for size in given]
        if len(each) != count:
            raise refuse("Model", f"output_bytes is {output_bytes}, expected {count} sizes, one per output")
        signature.output_bytes = tuple(tensor.size or size for tensor, size in zip(signature.outputs, each))
        self._layouts = signature.layouts()
        self._context, self._place = context, opening
        self._pool = Pool(signature, depth, opening, context)

    @classmethod
    def from_handle(cls, handle: int, *, depth: int = 8, output_bytes: Union[int, Sequence[int]] = 0) -> "Model":
        """Return an object for a model of the current context that it does not own: it never unloads it."""
        self = cls.__new__(cls)
        self._keep = ()
        handle = integer(handle, "acl.Model: handle", 0, 2**32 - 1)
        self._describe_as(handle, depth, output_bytes, current_opening(), current_handle())
        self._borrow(handle)
        return self

    @staticmethod
    def memory_of(source: Union[str, "os.PathLike[str]", Buffer, Any]) -> ModelMemory:
        """Return the bytes of work and weight memory that a model needs, by ``aclmdlQuerySize``."""
        if isinstance(source, (str, os.PathLike)):
            work, weights, ret = mdl.query_size(os.fspath(source))
            function = "aclmdlQuerySize"
        else:
            content = content_of(source)
            work, weights, ret = mdl.query_size_from_mem(content.address, content.size)
            function = "aclmdlQuerySizeFromMem"
        if ret != 0:
            raise error_of(ret, function, LOADING.get(ret))
        return ModelMemory(work, weights)

    # --- What it is

    @property
    def inputs(self) -> "Named[Tensor]":
        """The inputs, by index or by name, except those that carry a gear or parameters of AIPP."""
        return self._signature.inputs

    @property
    def outputs(self) -> "Named[Tensor]":
        """The outputs, by index or by name; their shapes are those of the largest gear."""
        return self._signature.outputs

    @property
    def gears(self) -> tuple[Any, ...]:
        """The gears it was built for: batch sizes, (height, width) pairs, or shapes of all inputs; empty without gears.

        An execution uses the gear that matches the shapes of its inputs.
        """
        gears = self._signature.gears
        return () if gears is None else gears.choices

    @property
    def depth(self) -> int:
        """The number of executions that :meth:`submit` can have in progress."""
        return self._pool.depth

    def use_context(self) -> "Model":
        """Make the context in which it was loaded the thread's current one, and return the model."""
        make_current(self._context)
        return self

    def _describe(self) -> str:
        inputs, outputs = (", ".join(map(str, side)) for side in (self.inputs, self.outputs))
        return f"({inputs}) -> ({outputs})"

    def _repr_html_(self) -> str:
        return self._signature.html()

    # --- Running

    def __call__(
        self,
        /,
        *inputs: "Input",
        stream: Optional[Stream] = None,
        out: "Output" = None,
        aipp: "Optional[Aipp]" = None,
        **named: "Input",
    ) -> Any:
        """Execute it and return the output, or several outputs as a tuple whose items also have names.

        Parameters
        ----------
        inputs, named
            An array for each input, by position or by name (an input called ``stream``, ``out`` or ``aipp`` only by
            position): with the input's shape and type, or the shape of a gear.
        stream
            The stream on which to queue the execution, which may be captured. Inputs and outputs have to be device
            arrays; the outputs are written when the stream runs it, and the next synchronise raises its errors.
        out
            Arrays for the outputs, on the host or the device: one array, one per output, or by name.
        aipp
            The preprocessing of images, for a model that takes such parameters.

        Returns
        -------
        numpy.ndarray or DeviceArray, or a tuple of them
            On the device if an input is there or the execution is queued; otherwise on the host.

        Raises
        ------
        InvalidArgumentError
            The inputs are not those of the model.
        TaskError
            The execution fails.

        Notes
        -----
        Wraps ``aclmdlExecute``, or ``aclmdlExecuteAsync`` with a stream.
        """
        if self._layouts and stream is None and aipp is None and not named:
            done = self._run_in_place(inputs, out)
            if done is not None:
                return done
        values, gear, device = self._arrange(inputs, named)
        outs = self._outs(out)
        if stream is not None:
            return self._run_on(stream, values, gear, outs, aipp)
        for value in (*values, *outs):
            if isinstance(value, DeviceArray):
                value._live().settle()
        pool = self._pool
        with pool.lock:
            handle = self._ready()
            slot = pool.take()
            try:
                pool.calm()
                run = Steps(self._signature, handle, slot, None, False)
                run.prepare(values, gear, device, outs, aipp)
                ret = mdl.execute(handle, slot.inputs.dataset, slot.outputs.dataset)
                if ret != 0:
                    raise error_of(ret, "aclmdlExecute")
                run.copy_out()
                return run.results()
            finally:
                pool.idle.append(slot)

    def _run_in_place(self, inputs: "tuple[Any, ...]", out: "Output") -> Any:
        """Execute it if all arrays are on the device and need no copy, and return the outputs; else return None.

        The steps are those of :meth:`__call__`, as far as such arrays need them.
        """
        outs: Any = () if out is None else out if out.__class__ is tuple else (out,)
        arrays, layouts, place = inputs + outs, self._layouts, self._place
        if len(inputs) != self._signature.input_count or (out is not None and len(arrays) != len(layouts)):
            return None
        found = _acl.in_place(DeviceArray, arrays, layouts, place)
        if found is None:
            return None
        handles, _blocks = found  # blocks are kept until the end, also if another thread closes an array meanwhile
        if out is None:
            outs = tuple([DeviceArray(each.shape, each.dtype) for each in layouts[len(inputs) :]])
            arrays += outs
            handles += [each._handle for each in outs]
        pool = self._pool
        with pool.lock:
            handle = self._ready()
            slot = pool.take()
            try:
                pool.calm()
                if slot.arrays != handles:
                    slot.use(arrays)
                ret = mdl.execute(handle, slot.inputs.dataset, slot.outputs.dataset)
                if ret != 0:
                    raise error_of(ret, "aclmdlExecute")
            finally:
                pool.idle.append(slot)
        return outs[0] if len(outs) == 1 else Named.of(self._signature.outputs.names, outs)

    def _run_on(
        self, stream: Stream, values: "Sequence[Array]", gear: Optional[int], outs: "list[Optional[Array]]",
        aipp: "Optional[Aipp]",
    ) -> Any:  # fmt: skip
        """Queue an execution on a stream of the program, which may be captured."""
        if any(not isinstance(value, DeviceArray) for value in values) or any(
            not isinstance(value, DeviceArray) for value in outs if value is not None
        ):
            advice = "copy it first, DeviceArray.from_numpy(x), or use model.submit(x, stream=stream).result()"
            raise refuse("Model", "an execution on a stream needs device arrays as inputs and outputs", advice)
        if self._signature.open:
            advice = "omit stream=, or use model.submit(x, stream=stream).result()"
            raise refuse("Model", "the shapes of this model's outputs are known only after an execution", advice)
        pool = self._pool
        with pool.lock:
            handle = self._ready()
            stream_handle(stream)  # raises if it is not a stream
            captured = stream.capturing
            lease = pool.lend()
            # A block without memory, which owns the lease: the work, or the graph that captures it, holds the slot.
            holder = Block(0, 0, "device", self._place, False, lease)
            if not captured:
                pool.follow(stream)
            run = Steps(self._signature, handle, lease.slot, stream, False)
            del lease
            try:
                run.prepare(values, gear, True, outs, aipp)
                run.queue()
                run.copy_out()
            finally:
                tell((holder, *run.blocks), stream)
            if not captured:
                pool.mark(stream)
            return run.results()

    def submit(
        self,
        /,
        *inputs: "Input",
        stream: Optional[Stream] = None,
        out: "Output" = None,
        aipp: "Optional[Aipp]" = None,
        **named: "Input",
    ) -> ModelRun:
        """Queue an execution and return its future; if ``depth`` executions are in progress, wait for one first.

        Parameters
        ----------
        inputs, named, out, aipp
            As for a call. Host arrays of inputs can be changed at once; those of ``out`` must not be used before the
            execution is done.
        stream
            A stream: the execution waits for the work that is queued on it, and its later work waits for the execution.
            In any case the execution waits for the work that is registered with the memory of its device arrays. It
            cannot be captured.

        Returns
        -------
        ModelRun
            ``result()`` returns the outputs, as a call does. The execution continues if the future is discarded.

        Notes
        -----
        Wraps ``aclmdlExecuteAsync``, on internal streams. Executions of one model never overlap, but their copies do.
        """
        values, gear, device = self._arrange(inputs, named)
        outs = self._outs(out)
        if stream is not None:
            stream_handle(stream)  # raises if it is not a stream
            if stream.capturing:
                text = "acl.Model: an execution with a future cannot be captured"
                raise CaptureError(SYNCHRONOUS, "acl.Model", text, "call model(x, stream=stream) with device arrays")
        pool = self._pool
        with pool.lock:
            handle = self._ready()
            slot = pool.take()
            try:
                run = self._submit(slot, handle, values, gear, device, outs, aipp, stream)
            except BaseException:
                if slot.stream is not None:
                    rt.synchronize_stream(slot.stream.handle)  # work queued before the error uses the slot
                pool.idle.append(slot)
                raise
            return ModelRun(pool, slot, run.results)

    def _submit(
        self, slot: Slot, handle: int, values: "Sequence[Array]", gear: Optional[int], device: bool,
        outs: "list[Optional[Array]]", aipp: "Optional[Aipp]", stream: Optional[Stream],
    ) -> Steps:  # fmt: skip
        """Queue the copies and the execution on the slot's stream, in the order of the program's stream."""
        own, pool = slot.own_stream(), self._pool
        if stream is not None:
            own.wait(stream)
        for value in (*values, *outs):
            if isinstance(value, DeviceArray):
                value._live().lead(own)
        run = Steps(self._signature, handle, slot, own, True)
        try:
            run.prepare(values, gear, device, outs, aipp)
            pool.follow(own)
            run.queue()
            end = pool.mark(own)
            run.copy_out()
        finally:
            if run.blocks:
                tell(run.blocks, own)
        if stream is not None:
            stream.wait(own if run.late else end)
        return run

    def map(self, inputs: Iterable[Any], **options: Any) -> Iterator[Any]:
        """Yield the outputs for each item, in order, with up to ``depth`` executions in progress.

        If tqdm is installed, a bar shows the progress on a terminal or in a notebook.

        Parameters
        ----------
        inputs
            Per execution an array, a tuple of arrays, or a mapping of names to arrays.
        options
            As for :meth:`submit`.
        """
        return bar(self._ahead(inputs, options), "acl.Model", len(inputs) if isinstance(inputs, Sized) else None)

    def _ahead(self, inputs: Iterable[Any], options: "dict[str, Any]") -> Iterator[Any]:
        """Yield the outputs in order; the next executions are queued before the oldest one is waited for."""
        waiting: deque[ModelRun] = deque()
        for item in inputs:
            if len(waiting) == self.depth:
                yield waiting.popleft().result()
            if isinstance(item, Mapping):
                waiting.append(self.submit(**options, **item))
            else:
                waiting.append(self.submit(*(item if isinstance(item, tuple) else (item,)), **options))
        while waiting:
            yield waiting.popleft().result()

    # --- Arguments of an execution

    def _ready(self) -> int:
        """Return the handle, or raise an error if this thread cannot execute the model."""
        handle: int = self._handle
        if handle.__class__ is not int:
            handle.__index__()  # raises if it is closed
        if not self._place.live:
            text = "acl.Model: its device was closed, which unloaded the model"
            raise InvalidHandleError(INVALID_HANDLE, "acl.Model", text, "close models before their device")
        if rt.get_context() != (self._context, 0):
            current_handle()  # raises if the thread has no context
            device = self._place.device_id
            text = f"acl.Model: it was loaded on device {device} in another context than this thread's"
            raise ContextError(OTHER_CONTEXT, "acl.Model", text, "make its context current: model.use_context()")
        return handle

    def _arrange(
        self, given: "tuple[Input, ...]", named: "dict[str, Input]"
    ) -> "tuple[list[Array], Optional[int], bool]":
        """Return the checked array of each input, in order, the index of the gear, and if some are on the device."""
        signature = self._signature
        inputs = signature.inputs
        if named or len(given) != len(inputs):
            given = self._by_name(given, named)
        values: list[Any] = list(given)
        for place, value in enumerate(given):
            if value.__class__ is not numpy.ndarray:
                values[place] = self._array_of(signature.tensors[place], value)
        gear = None if signature.plain else signature.gear_of(values)
        device = False
        for place, value in enumerate(values):
            tensor = signature.tensors[place]
            if value.shape != tensor.shape or value.dtype != tensor.dtype or tensor.raw:
                signature.check(place, value, gear)
            if value.__class__ is not numpy.ndarray and isinstance(value, DeviceArray):
                device = True
                self._check_device(value, f"input {tensor.name}")
        return values, gear, device

    def _by_name(self, given: "tuple[Input, ...]", named: "dict[str, Input]") -> "tuple[Input, ...]":
        """Return the inputs in order, given by position and by name."""
        inputs = self.inputs
        takes = f"{len(inputs)} input{'s' if len(inputs) != 1 else ''}: {', '.join(inputs.names)}"
        if len(given) > len(inputs):
            raise refuse("Model", f"{len(given)} inputs were passed, expected {takes}")
        left = dict(named)
        for name in inputs.names[: len(given)]:
            if name in left:
                raise refuse("Model", f"input {name} was passed by position and by name")
        values = list(given)
        for name in inputs.names[len(given) :]:
            if name not in left:
                raise refuse("Model", f"input {name} is missing; expected {takes}")
            values.append(left.pop(name))
        if left:
            raise refuse("Model", f"no input is named {', '.join(map(repr, left))}; expected {takes}")
        return tuple(values)

    @staticmethod
    def _array_of(tensor: Tensor, value: Any) -> "Array":
        """Return an input as an array; values without a type get the type of the input."""
        if isinstance(value, (DeviceArray, numpy.ndarray)):
            return value
        if isinstance(value, Buffer):
            advice = "give it a shape: acl.DeviceArray.from_buffer(buffer, shape, dtype)"
            raise refuse("Model", f"input {tensor.name} is a Buffer, which has no shape and type", advice)
        try:
            array = numpy.asarray(value)
        except (TypeError, ValueError) as error:
            reason = f"input {tensor.name} is {type(value).__name__}, which is not an array ({error})"
            raise refuse("Model", reason, "pass a NumPy array or a DeviceArray") from None
        if not hasattr(value, "dtype") and numpy.can_cast(array.dtype, tensor.dtype, "same_kind"):
            return array.astype(tensor.dtype)
        return array

    def _check_device(self, array: DeviceArray, what: str) -> None:
        """Raise an error unless an array is contiguous and on the device of the model."""
        block = array._live()  # raises if the array or its device is closed
        if not array.is_contiguous:
            raise refuse("Model", f"{what} is {array!r}, which is not contiguous", "copy it first: array.copy()")
        if block.opening.device_id != self._place.device_id:
            here = self._place.device_id
            reason = f"{what} is on device {block.opening.device_id}, and the model on device {here}"
            raise refuse("Model", reason, f"copy it: acl.DeviceArray.from_numpy(x.to_numpy()) on device {here}")

    def _outs(self, out: "Output") -> "list[Optional[Array]]":
        """Return the array that ``out`` gives for each output, or None."""
        outputs = self.outputs
        if out is None:
            return [None] * len(outputs)
        found: list[Any] = [None] * len(outputs)
        if isinstance(out, Mapping):
            for name, array in out.items():
                if name not in outputs.names:
                    raise refuse("Model", f"no output is named {name!r}, expected one of {', '.join(outputs.names)}")
                found[outputs.place(name)] = array
        elif isinstance(out, (tuple, list)):
            if len(out) != len(outputs):
                raise refuse("Model", f"out has {len(out)} arrays, expected {len(outputs)}, one per output")
            found = list(out)
        elif len(outputs) == 1:
            found = [out]
        else:
            raise refuse("Model", f"out is one array, expected {len(outputs)} arrays", "pass a tuple or a dict")
        for tensor, array in zip(outputs, found):
            if array is not None:
                self._check_out(tensor, array)
        return found

    def _check_out(self, tensor: Tensor, array: "Array") -> None:
        """Raise an error if an array cannot be an output; its shape is checked when the output is bound."""
        if self._signature.open:
            raise refuse("Model", f"the shape of {tensor.name} is known only after an execution", "omit out=")
        if isinstance(array, DeviceArray):
            self._check_device(array, f"out for {tensor.name}")
        elif not isinstance(array, numpy.ndarray):
            reason = f"out for {tensor.name} is {type(array).__name__}, expected a NumPy array or a DeviceArray"
            raise refuse("Model", reason)
        elif not (array.flags.c_contiguous and array.flags.writeable):
            reason = f"out for {tensor.name} is not contiguous or not writable"
            raise refuse("Model", reason, "pass a fresh array: numpy.empty(shape, dtype)")
        if array.dtype != tensor.dtype:
            raise refuse("Model", f"out for {tensor.name} is {array.dtype}, expected {tensor.dtype}")

    # --- The end

    def close(self) -> None:
        """Wait for its executions, complete their futures, and unload it. Closing again does nothing."""
        self._refuse_waiting("close")
        pool = self._pool
        with pool.lock:
            if not self.closed and self._place.live and not pool.ended:
                try:
                    call_in(self._context, pool.drain)
                except ContextError:  # the context was destroyed, and its streams with it
                    pass
            super().close()
            self._keep = ()
        pool.end()

    def _busy(self) -> bool:
        return self._pool.busy()

    def _release(self, handle: int, opening: Opening) -> int:
        try:
            ret = call_in(self._context, mdl.unload, handle)
        except ContextError:
            ret = mdl.unload(handle)
        return 0 if ret == UNKNOWN else ret  # pyACL or C has unloaded it
