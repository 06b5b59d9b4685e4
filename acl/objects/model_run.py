"""Executions of models in progress: their datasets, and their futures.

A model has one :class:`Pool` of slots. Each execution uses one :class:`Slot`: two datasets, device memory for host
arrays and for device arrays that are too small, and, if the execution has a future (:class:`ModelRun`), a separate
stream. Because of that stream, waiting for an execution waits for no other work, and an error of the stream is an error
of the execution. A model must not execute on two streams at once, so each execution waits on its stream for the
previous one (``Pool._tail``); only the copies of one execution overlap with another execution.

``Pool.lock`` is held while an execution is queued, and by a thread that waits for a free slot. ``ModelRun._lock`` is
held by the thread that waits for the execution. That thread never takes the pool's lock: it returns the slot by a
single append.

The reader, one thread per pool, waits for the executions that have callbacks, one after the other, and calls the
callbacks. It is started for the first callback, and ended with the model.
"""

import math
import threading
from collections import deque
from collections.abc import Generator
from queue import SimpleQueue
from sys import is_finalizing
from typing import TYPE_CHECKING, Any, Callable, Optional

import acl
from acl import mdl
from acl._calls import in_call, running
from acl.errors import AclError, ContextError, InvalidHandleError, TimedOutError, codes, error_of
from acl.objects.context_current import call_in, make_current
from acl.objects.event import Event
from acl.objects.memory import Buffer
from acl.objects.memory_block import Block
from acl.objects.resource import INVALID_HANDLE, Opening, future_of_loop, refuse_in_call, seconds
from acl.objects.stream import Stream

if TYPE_CHECKING:
    import numpy as np

    from acl.objects.array import DeviceArray
    from acl.objects.model_signature import Signature

TIMED_OUT = codes.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT


class Side:
    """A dataset with its data buffers, and memory for buffers that do not refer to an array of the program."""

    def __init__(self, count: int) -> None:
        self.bound = [(0, 0)] * count
        # Pinned memory: its address, its bytes, and its start as the array that was asked for last.
        self._pinned: list[tuple[int, Any]] = [(0, None)] * count
        self._views: list[Optional[np.ndarray[Any, Any]]] = [None] * count
        self._blocks: list[Optional[Block]] = [None] * count
        self._buffers: list[int] = []
        self.dataset = mdl.create_dataset()
        for _ in range(count):
            self._buffers.append(acl.create_data_buffer(0, 0))
            ret = mdl.add_dataset_buffer(self.dataset, self._buffers[-1])[1]
            if ret != 0:
                raise error_of(ret, "aclmdlAddDatasetBuffer")

    def bind(self, index: int, address: int, size: int) -> None:
        """Make a data buffer refer to this memory."""
        if self.bound[index] != (address, size):
            ret = acl.update_data_buffer(self._buffers[index], address, size)
            if ret != 0:
                raise error_of(ret, "aclUpdateDataBuffer")
            self.bound[index] = address, size

    def own(self, index: int, size: int) -> int:
        """Make a data buffer refer to memory of the slot, of this size or more, and return its address."""
        block = self._blocks[index]
        if block is None or block.size < size:
            block = self._blocks[index] = Block.allocate(max(size, 1), "device", "huge_first")
        self.bind(index, block.address, block.size)
        return block.address

    def pin(self, index: int, size: int) -> int:
        """Return the address of pinned memory for a buffer, of this size or more."""
        address, pinned = self._pinned[index]
        if pinned is None or pinned.size < size:
            buffer = Buffer(max(size, 1), kind="host")
            address = buffer.handle
            self._pinned[index], self._views[index] = (address, buffer.numpy()), None
        return address

    def pinned(self, index: int, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
        """Return the start of that memory as an array."""
        view = self._views[index]
        if view is None or view.shape != shape or view.dtype != dtype:
            size = math.prod(shape) * dtype.itemsize
            view = self._views[index] = self._pinned[index][1][:size].view(dtype).reshape(shape)
        return view

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:  # a default: at exit the module may be cleared
        if not is_finalizing():
            mdl.destroy_dataset(self.dataset)
            for buffer in self._buffers:
                acl.destroy_data_buffer(buffer)


class Lane(Stream):
    """The stream of a slot, closed by the garbage collector together with the slot."""

    __slots__ = ()
    _is_value = True


class Slot:
    """The datasets, memory and stream that one execution at a time uses."""

    __slots__ = ("inputs", "outputs", "arrays", "gear", "shapes", "stream")

    def __init__(self, signature: "Signature") -> None:
        self.inputs = Side(signature.input_count)
        self.outputs = Side(len(signature.outputs))
        # The addresses to which use() has bound all buffers; empty if others have bound them since.
        self.arrays: list[int] = []
        # The gear that is set in the dataset, and the shapes that are set for inputs whose shape the model leaves open.
        self.gear: Optional[int] = None
        self.shapes: list[Optional[tuple[int, ...]]] = [None] * signature.input_count
        self.stream: Optional[Stream] = None

    def use(self, arrays: "tuple[DeviceArray, ...]") -> None:
        """Make the data buffers refer to arrays for all inputs and outputs."""
        places = [array._handle for array in arrays]
        if places != self.arrays:
            self.arrays, count = [], len(self.inputs.bound)
            for index, array in enumerate(arrays):
                side, at = (self.inputs, index) if index < count else (self.outputs, index - count)
                side.bind(at, array.handle, array.nbytes)
            self.arrays = places

    def own_stream(self) -> Stream:
        """Return the slot's stream."""
        if self.stream is None:
            self.stream = Lane()
        return self.stream


class Lease:
    """A slot that returns to its pool when the work that holds this object is done."""

    __slots__ = ("pool", "slot")

    def __init__(self, pool: "Pool", slot: Slot) -> None:
        self.pool = pool
        self.slot = slot

    def __del__(self) -> None:
        if not self.pool.ended:
            self.pool.returned.append(self.slot)


class Pool:
    """The slots of a model: at most ``depth`` for executions with a future."""

    def __init__(self, signature: "Signature", depth: int, opening: Opening, context: int) -> None:
        self.signature = signature
        self.depth = depth
        self.opening = opening
        self.context = context
        self.lock = threading.RLock()
        self.idle: deque[Slot] = deque()
        self.returned: deque[Slot] = deque()
        self.flying: dict[int, ModelRun] = {}
        self.ended = False
        self._made = 0
        self._tail: Optional[Event] = None
        self._tail_stream = 0
        self._reader: Optional[tuple[SimpleQueue[Optional[ModelRun]], threading.Thread]] = None

    # --- Slots, with the lock held

    def take(self) -> Slot:
        """Return a free slot, after waiting for an execution if all slots are in use."""
        if self.returned:
            self._collect()
        while True:
            try:
                return self.idle.pop()
            except IndexError:
                pass
            if self._made < self.depth:
                slot = Slot(self.signature)
                self._made += 1
                return slot
            for run in list(self.flying.values())[:1]:  # `idle` has its slot before it leaves `flying`
                run._settle(None)

    def lend(self) -> Lease:
        """Return a slot for an execution without a future, without waiting."""
        self._collect()
        try:
            slot = self.idle.pop()
            self._made -= 1
        except IndexError:
            slot = Slot(self.signature)
        return Lease(self, slot)

    def _collect(self) -> None:
        """Keep the slots that were returned, up to ``depth`` slots in total."""
        while self.returned:
            slot = self.returned.pop()
            if self._made < self.depth:
                self._made += 1
                self.idle.append(slot)

    # --- The order of executions, with the lock held

    def follow(self, stream: Stream) -> None:
        """Make later work on a stream wait for the executions that are queued already."""
        if self._tail is not None and self._tail_stream != stream.handle:
            stream.wait(self._tail)

    def mark(self, stream: Stream) -> Event:
        """Record the end of an execution that was just queued on a stream, and return the event."""
        if self._tail is None:
            self._tail = Event(timing=False)
        stream.record(self._tail)
        self._tail_stream = stream.handle
        return self._tail

    def calm(self) -> None:
        """Wait until no execution is in progress."""
        if self._tail is not None:
            self._tail.synchronize()

    # --- Callbacks of futures

    def watch(self, run: "ModelRun") -> bool:
        """Let the reader wait for a run and call its callbacks; return False if the pool has ended."""
        with self.lock:
            if self.ended:
                return False
            if self._reader is None:
                runs: SimpleQueue[Optional[ModelRun]] = SimpleQueue()
                thread = threading.Thread(target=_read, args=(runs, self.context), name="acl.Model", daemon=True)
                self._reader = runs, thread
                thread.start()
            self._reader[0].put(run)
            return True

    # --- The end

    def busy(self) -> bool:
        """Return whether an execution is in progress, as far as that is known without waiting."""
        tail = self._tail
        return any(not run.done() for run in list(self.flying.values())) or (tail is not None and not tail.query())

    def drain(self) -> None:
        """Wait for all executions and complete their futures, with the lock held."""
        for run in list(self.flying.values()):
            run._settle(None)
        self.calm()

    def end(self) -> None:
        """Complete the futures, release the slots and join the reader; the caller does not hold the lock.

        A callback that the reader is calling may need the lock.
        """
        with self.lock:
            self.ended = True
            for run in list(self.flying.values()):
                run._settle(None)
            reader, self._reader = self._reader, None
            if self._tail is not None:
                self._tail.close()
                self._tail = None
            for slot in (*self.idle, *self.returned):
                if slot.stream is not None:
                    slot.stream.close()
            self.idle.clear()
            self.returned.clear()
        if reader is not None:
            reader[0].put(None)
            if reader[1] is not threading.current_thread():
                reader[1].join()


def _read(runs: "SimpleQueue[Optional[ModelRun]]", context: int) -> None:
    """Wait for runs and call their callbacks: the function of the reader thread."""
    try:
        make_current(context)
    except ContextError:  # the context was destroyed: _settle() reports that for each run
        pass
    while True:
        run = runs.get()
        if run is None:
            return
        run._settle(None)
        run._announce()
        del run


class ModelRun:
    """A queued execution of a model: a future like those of :mod:`concurrent.futures`, which can also be awaited.

    :meth:`acl.Model.submit` returns it. The execution continues if the program discards the future. Later executions do
    not overwrite its outputs.
    """

    __slots__ = (
        "_pool", "_slot", "_finish", "_lock", "_value", "_error", "_settled", "_callbacks", "_watched", "_announced",
        "__weakref__",
    )  # fmt: skip

    def __init__(self, pool: Pool, slot: Slot, finish: Callable[[], Any]) -> None:
        self._pool = pool
        self._slot: Optional[Slot] = slot
        # Returns the outputs when the work is done.
        self._finish: Optional[Callable[[], Any]] = finish
        self._lock = threading.Lock()
        self._value: Any = None
        self._error: Optional[AclError] = None
        self._settled = self._watched = self._announced = False
        self._callbacks: deque[Callable[[ModelRun], Any]] = deque()
        pool.flying[id(self)] = self

    # --- Settling

    def _settle(self, timeout: Optional[float]) -> None:
        """Wait for the work, keep its outputs or its error, and return the slot to the pool."""
        if self._settled:
            return
        if running:
            refuse_in_call("ModelRun", "use run.add_done_callback(), or wait in another thread")
        if not self._lock.acquire(timeout=-1 if timeout is None else seconds(timeout)):
            raise TimedOutError(TIMED_OUT, "acl.ModelRun", f"acl.ModelRun: not done after {timeout} s")
        try:
            if not self._settled:
                self._take(timeout)
        finally:
            self._lock.release()

    def _take(self, timeout: Optional[float]) -> None:
        """Do the work of :meth:`_settle`, with the lock held."""
        slot, finish = self._slot, self._finish
        assert slot is not None and slot.stream is not None and finish is not None
        try:
            if not self._pool.opening.live:
                text = "acl.ModelRun: its device was closed before the result was read"
                raise InvalidHandleError(INVALID_HANDLE, "acl.ModelRun", text, "close models before their device")
            self._value = call_in(self._pool.context, _complete, slot.stream, timeout, finish)
        except TimedOutError:
            raise  # the execution continues
        except AclError as error:
            self._error = error
        self._settled = True
        self._slot = self._finish = None
        self._pool.idle.append(slot)
        self._pool.flying.pop(id(self), None)

    def done(self) -> bool:
        """Return whether the execution is done, successfully or not."""
        if self._settled:
            return True
        if in_call() or not self._lock.acquire(blocking=False):  # held: another thread is waiting for it
            return False
        try:
            slot = self._slot
            if slot is None or slot.stream is None:
                return self._settled
            if self._pool.opening.live:
                try:
                    if not call_in(self._pool.context, slot.stream.query):
                        return False
                except AclError:  # _take() gets the same error and keeps it
                    pass
            self._take(None)
            return True
        finally:
            self._lock.release()

    # --- Results

    def result(self, timeout: Optional[float] = None) -> Any:
        """Wait for the execution and return its outputs, as :meth:`acl.Model.__call__` does.

        Parameters
        ----------
        timeout
            The longest wait in seconds; after that :class:`acl.TimedOutError` is raised, and the execution continues.

        Raises
        ------
        AclError
            The execution failed.
        """
        self._settle(timeout)
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self, timeout: Optional[float] = None) -> Optional[AclError]:
        """Wait for the execution and return its error, or None if it succeeded."""
        self._settle(timeout)
        return self._error

    def add_done_callback(self, function: "Callable[[ModelRun], Any]") -> None:
        """Call a function with this future when the execution is done; at once if it is done already.

        A thread of the model calls the functions of all its futures, one future after the other. The functions may use
        the runtime and the model. Their exceptions are passed to :func:`threading.excepthook`.
        """
        self._callbacks.append(function)
        if self._watched:
            if self._announced:
                self._call_back()
        elif self._settled:
            self._call_back()
        else:
            self._watched = True
            if not self._pool.watch(self):  # the model was closed meanwhile, which settled its runs
                self._announce()

    def _announce(self) -> None:
        """Call the callbacks; functions that are added later are called at once."""
        self._announced = True
        self._call_back()

    def _call_back(self) -> None:
        """Call and remove the callbacks; two threads may do so at the same time."""
        while True:
            try:
                function = self._callbacks.popleft()
            except IndexError:
                return
            try:
                function(self)
            except BaseException as error:
                arguments = type(error), error, error.__traceback__, threading.current_thread()
                threading.excepthook(threading.ExceptHookArgs(arguments))

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait in an asyncio task, without blocking the event loop, and return the outputs."""
        return self._wait_async().__await__()

    async def _wait_async(self) -> Any:
        if not self.done():
            future, call = future_of_loop()
            self.add_done_callback(call)
            await future
        return self.result()

    def __repr__(self) -> str:
        state = "queued" if not self._settled else "done" if self._error is None else f"failed: {self._error}"
        return f"<acl.ModelRun {state}>"


def _complete(stream: Stream, timeout: Optional[float], finish: Callable[[], Any]) -> Any:
    """Wait for the stream of an execution and return the outputs."""
    stream.synchronize(timeout)
    return finish()
