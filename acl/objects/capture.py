"""Captures and graphs: work of streams that is recorded once and replayed as a whole.

``with acl.capture(stream) as graph:`` records the work that is queued on the stream instead of running it. Work of
other streams is recorded too: ``other.wait(stream)`` makes a stream join the capture, and ``stream.wait(other)`` joins
it back, which is required for each of them before the block ends. :meth:`Graph.replay` queues all recorded work on any
stream of the context.

A graph owns its instance and holds the memory that its work uses: arrays and buffers can be closed, and their blocks
are released with the graph. Reading a block waits for the replays that were queued before, as for any other work. An
exception in the block ends the capture and discards it. A capture that fails raises :class:`acl.CaptureError`; every
later call of its graph raises an error with the same reason.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import acl
from acl import mdl
from acl._hooks import instance_destroyed
from acl.errors import AclError, CaptureError, ContextError, NotSupportedError, codes, error_of, name_of
from acl.mdl import ri_execute_async
from acl.objects import memory_block
from acl.objects.capture_error import CAPTURING, IN_CAPTURE, NOT_CAPTURED, Missing, check, failure
from acl.objects.condition import Recording, mode_of
from acl.objects.context_current import call_in, current_handle, opening_of_context
from acl.objects.memory import Memory, span_of
from acl.objects.memory_block import refuse
from acl.objects.replays import Replays
from acl.objects.resource import INVALID_HANDLE, Closed, Opening, Resource, stream_handle
from acl.objects.stream import Stream

if TYPE_CHECKING:
    from acl.objects.array import DeviceArray

    Ports = Union[Sequence[DeviceArray], Mapping[str, DeviceArray]]

RUNNING = codes.ACL_ERROR_RT_MODEL_RUNNING
CAPTURED = codes.ACL_ERROR_RT_STREAM_CAPTURED
NOT_SUPPORTED = codes.ACL_ERROR_RT_FEATURE_NOT_SUPPORT
BEGIN_ADVICE = {
    CAPTURED: "a nested capture needs a stream of its own; other.wait(stream) adds a stream to this capture",
    NOT_SUPPORTED: "the default stream cannot be captured, and old chips do not support capture: use acl.Stream()",
}
REPLAY_ADVICE = {CAPTURED: "a graph cannot be part of another capture: replay it before, or on another stream"}


class Node(NamedTuple):
    """One task of a graph."""

    name: str
    # The runtime's name for it, such as KERNEL_AIVEC or MEMCPY_ASYNC.
    type: str
    # One of kernel, copy, event, callback and other.
    kind: str
    # The number of the instance's own stream that runs it; 0 is the stream on which the capture began.
    stream: int
    # Everything else that the runtime reports.
    details: dict[str, Any]


class capture:  # noqa: N801  # a context manager that reads as a verb, as contextlib.suppress does
    """Record the work that is queued on a stream in the ``with`` block, instead of running it.

    Parameters
    ----------
    stream
        The stream; the default stream cannot be captured.
    mode
        Which threads may make calls that cannot be captured, such as synchronous copies, while the capture is open:
        with ``"global"`` no thread of the context, with ``"thread_local"`` all threads except the capturing one, with
        ``"relaxed"`` all threads. :func:`capture_mode` changes the mode of one thread for a block.

    Raises
    ------
    CaptureError
        At the start, if the stream is being captured already; at the end, if the capture failed.

    Notes
    -----
    Wraps ``aclmdlRICaptureBegin`` and ``aclmdlRICaptureEnd``.

    Examples
    --------
    >>> with acl.Device(0), acl.Stream() as stream:
    ...     array = acl.DeviceArray((4,), "u1")
    ...     with acl.capture(stream) as graph:
    ...         array.fill(1, stream=stream)
    ...     graph.run(stream)
    ...     array.to_numpy()
    array([1, 1, 1, 1], dtype=uint8)
    """

    __slots__ = ("_stream", "_mode", "_graphs")

    def __init__(self, stream: Stream, mode: str = "global") -> None:
        stream_handle(stream)  # raises if it is not a stream
        self._stream = stream
        self._mode = mode_of(mode, "capture")
        self._graphs: list[Graph] = []

    def __enter__(self) -> "Graph":
        graph = Graph._begin(self._stream, self._mode)
        self._graphs.append(graph)
        return graph

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if not self._graphs:
            raise CaptureError(NOT_CAPTURED, "acl.capture", "acl.capture: the capture has not begun, or has ended")
        self._graphs.pop()._end(error)


@contextlib.contextmanager
def capture_mode(mode: str) -> Iterator[None]:
    """Change which calls the thread may make while streams of its context are captured, for a ``with`` block.

    Parameters
    ----------
    mode
        ``"relaxed"`` allows all calls that are not themselves captured, such as synchronous copies, which run at once;
        ``"thread_local"`` allows them while only other threads capture; ``"global"`` is the mode of a new thread.

    Notes
    -----
    Wraps ``aclmdlRICaptureThreadExchangeMode``.
    """
    before, ret = mdl.ri_capture_thread_exchange_mode(mode_of(mode, "capture_mode"))
    check(ret, "aclmdlRICaptureThreadExchangeMode")
    try:
        yield
    finally:
        mdl.ri_capture_thread_exchange_mode(before)


class Graph(Recording, Resource):
    """Captured work, returned by :class:`acl.capture`.

    Closing it waits for its replays.
    """

    __slots__ = ("_context", "_stream", "_replays", "_arrays", "_bodies")
    _released_by = "aclmdlRIDestroy"

    _context: int
    _stream: Optional[Stream]
    _replays: Replays
    _arrays: "list[DeviceArray]"
    _bodies: list[int]

    def __init__(self) -> None:
        raise TypeError("acl.Graph: graphs are captured: `with acl.capture(stream) as graph:`")

    @classmethod
    def _over(cls, handle: int, stream: Optional[Stream]) -> "Graph":
        """Return a graph for an instance; :meth:`_end` makes it the owner."""
        self = cls.__new__(cls)
        self._context, self._stream = current_handle(), stream
        self._arrays, self._bodies, self._replays = [], [], Replays(handle)
        self._borrow(handle)
        return self

    @classmethod
    def from_handle(cls, handle: int) -> "Graph":
        """Return an object for an instance of the current context that it does not own: it never destroys it."""
        return cls._over(handle, None)

    # --- Its capture

    @classmethod
    def _begin(cls, stream: Stream, mode: int) -> "Graph":
        """Begin a capture on a stream, and return its graph."""
        stream._before_capture()
        ret = mdl.ri_capture_begin(stream._handle, mode)
        check(ret, "aclmdlRICaptureBegin", BEGIN_ADVICE.get(ret))
        try:
            _, handle, ret = mdl.ri_capture_get_info(stream._handle)
            check(ret, "aclmdlRICaptureGetInfo")
            return cls._over(handle, stream)
        except AclError:
            unwanted, ret = mdl.ri_capture_end(stream._handle)
            if ret == 0:
                mdl.ri_destroy(unwanted)
            raise

    def _end(self, error: Optional[BaseException]) -> None:
        """End the capture; own the instance unless an exception has left the block."""
        stream, instance = self._stream, self._handle
        assert stream is not None
        self._stream = None
        opening = None
        failed: Optional[AclError] = None
        try:
            if error is None:
                opening = call_in(self._context, opening_of_context, self._context)
        except AclError as unknown:  # the capture ends all the same
            failed = unknown
        try:
            ret = call_in(self._context, mdl.ri_capture_end, stream._handle)[1]
            if ret != 0:
                failed, opening = failure(ret, "aclmdlRICaptureEnd"), None
            elif opening is None:
                call_in(self._context, mdl.ri_destroy, instance)
        except AclError as gone:  # the context or the stream was destroyed, and the capture with it
            failed, opening = gone, None
        if opening is not None:
            self._own(instance, opening)
            return
        code = failed.code if failed is not None else NOT_CAPTURED
        said = f"{type(error).__name__} left its `with` block" if error is not None else f"{code} {name_of(code)}"
        self._handle = Missing("Graph", code, f"its capture failed: {said}", "capture again")
        self._forget(instance)
        if error is None and failed is not None:
            raise failed

    def _whole(self) -> "Graph":
        return self

    def _forget(self, instance: int) -> None:
        """Close the arrays of the conditions, and release what the instance and its bodies held."""
        for array in self._arrays:
            array.close()
        for gone in (instance, *self._bodies):
            instance_destroyed(gone)

    def _take(self, taken: Iterable[memory_block.Block]) -> None:
        """Hold blocks as if captured work used them."""
        if self.closed:
            return
        held = memory_block.captured.setdefault(self._handle, [])
        held += [block for block in taken if block not in held]
        self._replays.renew()

    def hold(self, *items: Memory) -> None:
        """Hold buffers and arrays as long as the graph exists.

        The memory of captured calls of the objects, and of launches in a :meth:`TaskGroup.update`, is held already;
        this method is for work that pyACL or C captures.
        """
        self.handle  # noqa: B018  # raises if it is closed
        self._take(_blocks_of(items))

    @property
    def capturing(self) -> bool:
        """Whether its capture is still open."""
        return self._stream is not None

    @property
    def closed(self) -> bool:
        """Whether there is nothing to replay: it was closed, or its capture failed."""
        return isinstance(self._handle, Closed)

    # --- Replays

    def replay(self, stream: Stream) -> None:
        """Queue all of its work on a stream.

        Parameters
        ----------
        stream
            Any stream of the context. The replay runs after the work that is queued on it already, and later work
            waits for the whole graph. The streams of the capture are not used.

        Raises
        ------
        CaptureError
            If the graph, or the stream, is being captured.
        ContextError
            If the stream belongs to another context or device.

        Notes
        -----
        Wraps ``aclmdlRIExecuteAsync``. The next synchronise raises the errors of its work. Replays that were queued on
        two streams run one after the other.
        """
        if stream.__class__ is not Stream:
            stream_handle(stream)  # raises if it is not a stream
        ret = ri_execute_async(self._handle, stream._handle)
        if ret != 0:
            raise failure(ret, "aclmdlRIExecuteAsync", REPLAY_ADVICE.get(ret))
        replays = self._replays
        if stream is not replays.last:
            replays.note(stream)

    def run(self, stream: Stream, timeout: Optional[float] = None) -> None:
        """Replay it on a stream, wait until all work of the stream is done, and raise the error of work that failed.

        Parameters
        ----------
        stream
            As for :meth:`replay`.
        timeout
            The longest wait in seconds; after that :class:`acl.TimedOutError` is raised, and the work continues.
        """
        self.replay(stream)
        stream.synchronize(timeout)

    async def run_async(self, stream: Stream) -> None:
        """Replay it on a stream and wait in an asyncio task, as :meth:`acl.Stream.synchronize_async` does."""
        self.replay(stream)
        await stream.synchronize_async()

    def synchronize(self) -> None:
        """Wait for all its replays on all streams, and raise the error of work that failed."""
        self.handle  # noqa: B018  # raises if it is closed
        self._replays.synchronize()

    # --- What it is

    def to_json(self, *, verbose: bool = False) -> str:
        """Return its tasks as the text of a Chrome trace (``aclmdlRIDebugJsonPrint``).

        Parameters
        ----------
        verbose
            Include the arguments of the kernels.
        """
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "graph.json")
            ret = call_in(self._context, mdl.ri_debug_json_print, self.handle, path, int(bool(verbose)))
            if ret != 0:
                raise error_of(ret, "aclmdlRIDebugJsonPrint")
            with open(path, encoding="utf-8", errors="replace") as text:
                return text.read()

    def _tasks(self) -> tuple[list[Any], list[str]]:
        """Return the tasks and the names of the streams."""
        from acl import trace

        tasks: tuple[list[Any], list[str]] = trace.read(self.to_json())
        return tasks

    @property
    def nodes(self) -> list[Node]:
        """Its tasks, stream by stream, in the order of each stream."""
        return [Node(task.name, task.args["Task Type"], task.kind, task.lane, task.args) for task in self._tasks()[0]]

    def __len__(self) -> int:
        """Return the number of its tasks."""
        return len(self._tasks()[0])

    def __bool__(self) -> bool:
        """Return True, also for a graph without tasks."""
        return True

    def _edges(self, tasks: list[Any]) -> tuple[list[int], list[Any]]:
        """Return the row of each task in the picture, and the edges for order, events and data."""
        from acl import trace

        order = trace.replay(tasks)
        return order.rows, order.edges + trace.data(tasks, order.rows, order.before)

    def to_svg(self) -> str:
        """Return a picture: streams are columns, time runs downwards, and arrows show order, events and data."""
        from acl import graph

        tasks, streams = self._tasks()
        rows, edges = self._edges(tasks)
        svg: str = graph.draw(tasks, streams, rows, edges)
        return svg

    def _repr_svg_(self) -> Optional[str]:
        """Return the picture for notebooks, or None if there is nothing to draw, so that they show the text."""
        return None if self.closed or self.capturing else self.to_svg()

    def to_dot(self) -> str:
        """Return it in the language of Graphviz: a cluster per stream, and edges for order, events and data."""
        from acl.graph import KINDS, LINES

        tasks, streams = self._tasks()
        lines = ["digraph graph_ {", "  node [shape=box, style=filled];"]
        for lane, name in enumerate(streams):
            lines.append(f"  subgraph cluster_{lane} {{ label={_quoted(name)};")
            for task in tasks:
                if task.lane == lane:
                    look = f'label={_quoted(task.name)}, fillcolor="{KINDS[task.kind]}"'
                    lines.append(f"    t{task.index} [{look}];")
            lines.append("  }")
        for edge in self._edges(tasks)[1]:
            if None not in (edge.source, edge.target):
                look = f'color="{LINES[edge.kind]}", tooltip={_quoted(edge.text)}'
                look += ", dir=none, style=dashed" if edge.kind == "race" else ""
                lines.append(f"  t{edge.source} -> t{edge.target} [{look}];")
        return "\n".join([*lines, "}"]) + "\n"

    def save(self, path: "Union[str, os.PathLike[str]]", inputs: "Ports", outputs: "Ports") -> None:
        """Write it as a model file, which any program can load and execute; needs the simulator.

        Parameters
        ----------
        path
            The file; the model's name is its stem.
        inputs, outputs
            The inputs and outputs of the model: contiguous arrays that the graph uses, at least one each, or a dict of
            such arrays by name.

        Raises
        ------
        RuntimeError
            If it has a task that cannot be saved, such as a callback.
        ValueError
            If it does not use one of the arrays.
        NotSupportedError
            If the backend is not the simulator.

        Notes
        -----
        Wraps :func:`acl.sim.save`, after waiting for the queued replays.
        """
        handle = self.handle
        if self._stream is not None:
            raise CaptureError(CAPTURING, "acl.Graph.save", "acl.Graph.save: the graph is being captured", IN_CAPTURE)
        if acl.backend != "sim":
            text = "acl.Graph.save: the vendor's runtime cannot save graphs"
            raise NotSupportedError(NOT_SUPPORTED, "acl.Graph.save", text, "start the program with ACL_BACKEND=sim")
        from acl.sim import save

        ports = _ports(inputs, "input"), _ports(outputs, "output")
        self._replays.synchronize()
        call_in(self._context, save, handle, path, *ports)

    def _describe(self) -> str:
        try:
            tasks, streams = self._tasks()
        except AclError as error:
            return f"which cannot be read: {error.name}"
        names = [task.name for task in tasks]
        shown = ", ".join(names if len(names) <= 4 else [*names[:2], f"{len(names) - 3} more", names[-1]])
        return f"{_count(len(tasks), 'task')} on {_count(len(streams), 'stream')}{': ' + shown if shown else ''}"

    def __repr__(self) -> str:
        if isinstance(self._handle, Missing):
            return f"<acl.Graph {self._handle.message}>"
        if self._stream is not None:
            return f"<acl.Graph {self._handle:#x} being captured on stream {self._stream._handle:#x}>"
        return super().__repr__()

    # --- The end

    def close(self) -> None:
        """Wait for its replays, destroy it and release its memory; closing again does nothing."""
        if self._stream is not None:
            raise CaptureError(CAPTURING, self._released_by, "acl.Graph.close: the graph is being captured", IN_CAPTURE)
        instance, owned = self._handle, self.owned
        super().close()
        if owned:
            self._forget(instance)

    def _busy(self) -> bool:
        return self._replays.busy()

    def _release(self, handle: int, opening: Opening) -> int:
        try:
            ret = call_in(self._context, mdl.ri_destroy, handle)
            if ret == RUNNING:  # the library has waited some seconds itself
                with contextlib.suppress(AclError):
                    self._replays.synchronize()
                ret = call_in(self._context, mdl.ri_destroy, handle)
            return ret
        except ContextError:  # the context was destroyed, and the graph with it
            return INVALID_HANDLE


def _blocks_of(items: Iterable[Memory]) -> list[memory_block.Block]:
    """Return the blocks of buffers, arrays and pinned host memory."""
    found = []
    for item in items:
        live = getattr(item, "_live", None)
        block = live() if live is not None else span_of(item, "Graph.hold").block
        if block is None:
            advice = "use a Buffer (kind='host' for the host) or a DeviceArray"
            reason = f"{type(item).__name__} is ordinary host memory, which a graph cannot hold"
            raise refuse("Graph.hold", reason, advice)
        found.append(block)
    return found


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _quoted(text: str) -> str:
    """Return a text as a quoted string of Graphviz."""
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _ports(given: "Ports", what: str) -> list[tuple[str, int, tuple[int, ...], Any]]:
    """Return the ports of :func:`acl.sim.save` for arrays."""
    from acl.objects.array import DeviceArray

    if not isinstance(given, Iterable):
        raise TypeError(f"acl.Graph.save: {what}s is {type(given).__name__}, expected arrays")
    named = given.items() if isinstance(given, Mapping) else [(f"{what}{i}", array) for i, array in enumerate(given)]
    if not named:
        raise refuse("Graph.save", f"{what}s is empty, expected 1 array or more")
    ports = []
    for name, array in named:
        if not isinstance(array, DeviceArray):
            raise refuse("Graph.save", f"{what} {name!r} is {type(array).__name__}, expected an acl.DeviceArray")
        if not array.is_contiguous:
            raise refuse("Graph.save", f"{what} {name!r} is not contiguous: {array!r}", "capture with array.copy()")
        ports.append((name, array.handle, array.shape, array.dtype))
    return ports
