"""Executions of models in progress, here called runs: their datasets, and their futures.

A model has one :class:`Pool`. Each run has a :class:`Slot`: two datasets, the memory that stands in for arrays of the
host or that are too small, and, for a run that a :class:`ModelRun` stands for, a stream of its own. So waiting for a
run waits for nothing else, and a failure is known to be its own. As a model is not to run on two streams at once, each
run waits on its stream for the one before (the pool's ``tail``); copies of the next one overlap with it.

``Pool.lock`` is held while a run is queued, and by a thread that waits for a slot to queue one. ``ModelRun._lock`` is
held by the thread that waits for the run, which never takes the pool's lock: returning a slot is an append.

Callbacks of futures are made by a thread of the pool's, which waits for the runs in the order in which they were
queued. It is started by the first callback, and ended with the model.
"""

import threading
from collections import deque
from collections.abc import Generator
from queue import SimpleQueue
from sys import is_finalizing
from typing import TYPE_CHECKING, Any, Callable, Optional

import acl
from acl import mdl
from acl._calls import in_call
from acl.errors import AclError, ContextError, InvalidHandleError, TimedOutError, codes, error_of
from acl.objects.context_current import call_in, make_current
from acl.objects.event import Event
from acl.objects.memory import Buffer
from acl.objects.memory_block import Block
from acl.objects.resource import INVALID_HANDLE, Opening, refuse_in_call, seconds
from acl.objects.stream import Stream

if TYPE_CHECKING:
    import numpy as np

    from acl.objects.model_signature import Signature

TIMED_OUT = codes.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT


class Side:
    """A dataset, its data buffers, and memory for those that have none of the program's."""

    def __init__(self, count: int) -> None:
        self.bound = [(0, 0)] * count
        self.hosts: list[Optional[np.ndarray[Any, Any]]] = [None] * count
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

    def host(self, index: int, size: int) -> "np.ndarray[Any, Any]":
        """Return pinned bytes for a buffer, of this size or more."""
        pinned = self.hosts[index]
        if pinned is None or pinned.size < size:
            pinned = self.hosts[index] = Buffer(max(size, 1), kind="host").numpy()
        return pinned

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:  # the module may be gone by then
        if not is_finalizing():
            mdl.destroy_dataset(self.dataset)
            for buffer in self._buffers:
                acl.destroy_data_buffer(buffer)


class Lane(Stream):
    """The stream of a slot, which goes with it."""

    __slots__ = ()
    _is_value = True


class Slot:
    """What one run at a time needs."""

    __slots__ = ("inputs", "outputs", "gear", "shapes", "stream")

    def __init__(self, signature: "Signature") -> None:
        self.inputs = Side(signature.input_count)
        self.outputs = Side(len(signature.outputs))
        # The gear that its input for that has, and the shapes that were said where the model leaves them open.
        self.gear: Optional[int] = None
        self.shapes: list[Optional[tuple[int, ...]]] = [None] * signature.input_count
        self.stream: Optional[Stream] = None

    def own_stream(self) -> Stream:
        """Return the slot's stream."""
        if self.stream is None:
            self.stream = Lane()
        return self.stream


class Lease:
    """Gives a slot back when the work that holds this is done."""

    __slots__ = ("pool", "slot")

    def __init__(self, pool: "Pool", slot: Slot) -> None:
        self.pool = pool
        self.slot = slot

    def __del__(self) -> None:
        if not self.pool.ended:
            self.pool.returned.append(self.slot)


class Pool:
    """The slots of a model: at most ``depth`` for runs with a future."""

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
        """Return a slot, once there is one."""
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
            for run in list(self.flying.values())[:1]:  # it gives its slot back before it leaves
                run._settle(None)

    def lend(self) -> Lease:
        """Return a slot for a run without a future, without waiting."""
        self._collect()
        try:
            slot = self.idle.pop()
            self._made -= 1
        except IndexError:
            slot = Slot(self.signature)
        return Lease(self, slot)

    def _collect(self) -> None:
        """Keep what came back, as far as there is room."""
        while self.returned:
            slot = self.returned.pop()
            if self._made < self.depth:
                self._made += 1
                self.idle.append(slot)

    # --- The order of runs, with the lock held

    def follow(self, stream: Stream) -> None:
        """Let what is queued on a stream from here on come after the runs so far."""
        if self._tail is not None and self._tail_stream != stream.handle:
            stream.wait(self._tail)

    def mark(self, stream: Stream) -> Event:
        """Note that a run was queued on a stream, and return the event of its end."""
        if self._tail is None:
            self._tail = Event(timing=False)
        stream.record(self._tail)
        self._tail_stream = stream.handle
        return self._tail

    def calm(self) -> None:
        """Wait until no run is under way."""
        if self._tail is not None:
            self._tail.synchronize()

    # --- Callbacks of futures

    def watch(self, run: "ModelRun") -> bool:
        """Have the reader announce a run; tell whether there is still one to do so."""
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
        """Tell whether a run is under way, as far as can be seen without waiting."""
        tail = self._tail
        return any(not run.done() for run in list(self.flying.values())) or (tail is not None and not tail.query())

    def drain(self) -> None:
        """Settle what is under way, with the lock held."""
        for run in list(self.flying.values()):
            run._settle(None)
        self.calm()

    def end(self) -> None:
        """Let go of everything, without the lock: callbacks that ask for it are waited for."""
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
    """Wait for runs and make their callbacks: what the reader's thread does."""
    try:
        make_current(context)
    except ContextError:  # it has ended, which each run finds out for itself
        pass
    while True:
        run = runs.get()
        if run is None:
            return
        run._settle(None)
        run._announce()
        del run


class ModelRun:
    """A run that is queued: a future, as those of :mod:`concurrent.futures`, and awaitable.

    :meth:`acl.Model.submit` returns it. The run continues if the program discards it. The program owns the results.
    """

    __slots__ = (
        "_pool", "_slot", "_finish", "_lock", "_value", "_error", "_settled", "_callbacks", "_watched", "_announced",
        "__weakref__",
    )  # fmt: skip

    def __init__(self, pool: Pool, slot: Slot, finish: Callable[[], Any]) -> None:
        self._pool = pool
        self._slot: Optional[Slot] = slot
        # Makes the results, once the work is done.
        self._finish: Optional[Callable[[], Any]] = finish
        self._lock = threading.Lock()
        self._value: Any = None
        self._error: Optional[AclError] = None
        self._settled = self._watched = self._announced = False
        self._callbacks: deque[Callable[[ModelRun], Any]] = deque()
        pool.flying[id(self)] = self

    # --- Settling

    def _settle(self, timeout: Optional[float]) -> None:
        """Wait for the work and take its results or its failure; the slot goes back."""
        if self._settled:
            return
        refuse_in_call("ModelRun", "use run.add_done_callback(), or wait in another thread")
        if not self._lock.acquire(timeout=-1 if timeout is None else seconds(timeout)):
            raise TimedOutError(TIMED_OUT, "acl.ModelRun", f"acl.ModelRun: not done after {timeout} s")
        try:
            if not self._settled:
                self._take(timeout)
        finally:
            self._lock.release()

    def _take(self, timeout: Optional[float]) -> None:
        slot, finish = self._slot, self._finish
        assert slot is not None and slot.stream is not None and finish is not None
        try:
            if not self._pool.opening.live:
                text = "acl.ModelRun: its device was closed before the run was waited for"
                raise InvalidHandleError(INVALID_HANDLE, "acl.ModelRun", text, "close models before their device")
            self._value = call_in(self._pool.context, _complete, slot.stream, timeout, finish)
        except TimedOutError:
            raise  # it goes on
        except AclError as error:
            self._error = error
        self._settled = True
        self._slot = self._finish = None
        self._pool.idle.append(slot)
        self._pool.flying.pop(id(self), None)

    def done(self) -> bool:
        """Return whether the run is done, successfully or not."""
        if self._settled:
            return True
        if in_call() or not self._lock.acquire(blocking=False):  # else another thread waits for it now
            return False
        try:
            slot = self._slot
            if slot is None or slot.stream is None:
                return self._settled
            if self._pool.opening.live:
                try:
                    if not call_in(self._pool.context, slot.stream.query):
                        return False
                except AclError:  # what it is, settling finds out
                    pass
            self._take(None)
            return True
        finally:
            self._lock.release()

    # --- Results

    def result(self, timeout: Optional[float] = None) -> Any:
        """Wait for the run and return its outputs, as :meth:`acl.Model.__call__` does.

        Parameters
        ----------
        timeout
            The longest wait in seconds; after that :class:`acl.TimedOutError` is raised, and the run continues.

        Raises
        ------
        AclError
            The run failed.
        """
        self._settle(timeout)
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self, timeout: Optional[float] = None) -> Optional[AclError]:
        """Wait for the run and return its error, or None if it succeeded."""
        self._settle(timeout)
        return self._error

    def add_done_callback(self, function: "Callable[[ModelRun], Any]") -> None:
        """Call a function with the run when the run is done; at once if it is done already.

        A thread of the model calls the functions, in the order in which the runs were submitted. They may use the
        runtime, also the model. Their exceptions are passed to :func:`threading.excepthook`.
        """
        self._callbacks.append(function)
        if self._watched:
            if self._announced:
                self._call_back()
        elif self._settled:
            self._call_back()
        else:
            self._watched = True
            if not self._pool.watch(self):  # the model was closed meanwhile, and has settled its runs
                self._announce()

    def _announce(self) -> None:
        self._announced = True
        self._call_back()

    def _call_back(self) -> None:
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
            import asyncio

            loop = asyncio.get_running_loop()
            future = loop.create_future()

            def settle() -> None:
                if not future.done():  # it may have been cancelled
                    future.set_result(None)

            def tell(_run: ModelRun) -> None:
                try:
                    loop.call_soon_threadsafe(settle)
                except RuntimeError:  # the loop was closed, and nothing waits for the future
                    pass

            self.add_done_callback(tell)
            await future
        return self.result()

    def __repr__(self) -> str:
        state = "queued" if not self._settled else "done" if self._error is None else f"failed: {self._error}"
        return f"<acl.ModelRun {state}>"


def _complete(stream: Stream, timeout: Optional[float], finish: Callable[[], Any]) -> Any:
    stream.synchronize(timeout)
    return finish()
