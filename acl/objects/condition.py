"""Conditions of a graph: numbers on the device, the tasks that branch on them, and the bodies of those tasks.

Conditions and bodies belong to a graph and end with it. Using one after that, or too early, raises the error of the
object that stands in the place of its handle (:class:`acl.objects.capture_error.Missing`), as for closed objects.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from acl import mdl, rt
from acl.errors import CaptureError
from acl.objects import memory_block
from acl.objects.capture_error import CAPTURING, NOT_CAPTURED, STATUS, Missing, check, failure
from acl.objects.memory_block import one_of
from acl.objects.resource import INVALID, LONGEST, integer, object_of
from acl.objects.stream import Stream
from acl.objects.task_group import TaskGroup

if TYPE_CHECKING:
    from acl.objects.array import DeviceArray
    from acl.objects.capture import Graph

MODES = {"global": 0, "thread_local": 1, "relaxed": 2}
IF, WHILE, SWITCH = 0, 1, 2
ASSIGN_DEFAULT = 1
ONE_TASK = "a condition is for one task of the graph, or the body, that made it"


def mode_of(mode: str, function: str) -> int:
    """Return the number of a capture mode."""
    return MODES[one_of(mode, MODES, function, "mode")]


class Recording:
    """What can be put into a capture, and into the bodies of its conditions, beside tasks."""

    __slots__ = ()

    _handle: Any
    _stream: Optional[Stream]

    def _whole(self) -> "Graph":
        """Return the graph that it belongs to."""
        raise NotImplementedError

    def _on(self, stream: Optional[Stream], function: str) -> Stream:
        """Return the stream to put it on: the one that the capture began on, when none is given."""
        if stream is not None:
            return object_of(stream, Stream)
        if self._stream is None:
            self._handle.__index__()  # says what is wrong with it, if there is no more to say
            text = f"acl.{function}: the capture has ended"
            advice = "call it inside the `with acl.capture(...)` block"
            raise CaptureError(NOT_CAPTURED, f"acl.{function}", text, advice)
        return self._stream

    @contextlib.contextmanager
    def group(self, stream: Optional[Stream] = None) -> Iterator[TaskGroup]:
        """Make the operators that are launched in the ``with`` a group, which can be given other arguments later.

        Parameters
        ----------
        stream
            The stream of the capture that they are launched on; None takes the one that it began on.

        Yields
        ------
        TaskGroup
            To be updated when the capture has ended: ``with group.update(stream):``.

        Raises
        ------
        CaptureError
            When a group is open already, or a task of another stream of the capture came in between.

        Notes
        -----
        Stands on ``aclmdlRICaptureTaskGrpBegin`` and ``aclmdlRICaptureTaskGrpEnd``. Operators alone are taken: no
        copies, sets, events or callbacks.
        """
        handle = self._on(stream, "Graph.group").handle
        check(mdl.ri_capture_task_grp_begin(handle), "aclmdlRICaptureTaskGrpBegin")
        group = TaskGroup(self._whole())
        try:
            yield group
        except BaseException:
            mdl.ri_capture_task_grp_end(handle)
            raise
        group._handle, ret = mdl.ri_capture_task_grp_end(handle)
        if ret != 0:
            group._handle = Missing("TaskGroup", STATUS, "its capture went wrong", "capture again")
            raise failure(ret, "aclmdlRICaptureTaskGrpEnd")

    def condition(self, default: Optional[int] = None) -> "Condition":
        """Return a number on the device that says how a conditional task goes on.

        Parameters
        ----------
        default
            What every replay begins with; None lets it as it is, 0 at first.

        Notes
        -----
        Stands on ``aclmdlRICondHandleCreate``.
        """
        number = 0 if default is None else integer(default, "acl.Graph.condition: default", 0, LONGEST)
        handle, ret = mdl.ri_cond_handle_create(self._handle, number, 0 if default is None else ASSIGN_DEFAULT)
        check(ret, "aclmdlRICondHandleCreate", "make conditions while the graph, or the body, is captured")
        return Condition(self._whole(), handle)

    def if_(self, condition: "Condition", stream: Optional[Stream] = None) -> "Body":
        """Put a task here whose body runs when the condition is not 0 then; return the body, to be captured."""
        return self._branch(condition, IF, 1, stream)[0]

    def if_else(self, condition: "Condition", stream: Optional[Stream] = None) -> "tuple[Body, Body]":
        """Put a task here with two bodies: the first runs when the condition is not 0, the second when it is."""
        bodies = self._branch(condition, IF, 2, stream)
        return bodies[0], bodies[1]

    def while_(self, condition: "Condition", stream: Optional[Stream] = None) -> "Body":
        """Put a task here whose body runs again and again while the condition is not 0; return the body."""
        return self._branch(condition, WHILE, 1, stream)[0]

    def switch(self, condition: "Condition", count: int, stream: Optional[Stream] = None) -> "tuple[Body, ...]":
        """Put a task here with ``count`` bodies: body n runs when the condition is n, none when it is more."""
        return self._branch(condition, SWITCH, integer(count, "acl.Graph.switch: count", 1, 2**32 - 1), stream)

    def _branch(self, condition: "Condition", kind: int, count: int, stream: Optional[Stream]) -> "tuple[Body, ...]":
        """Put a conditional task on a stream (``aclmdlRIAddCondTask``)."""
        if not isinstance(condition, Condition):
            found = type(condition).__name__
            raise TypeError(f"acl.Graph: condition is {found}, expected one that graph.condition() made")
        given = {"handle": condition._handle, "type": kind, "size": count}
        params, ret = mdl.ri_add_cond_task(given, self._on(stream, "Graph").handle, 0)
        check(ret, "aclmdlRIAddCondTask", ONE_TASK if ret == INVALID else None)
        whole = self._whole()
        whole._bodies += params["model_ri_array"]
        return tuple(Body(whole, handle) for handle in params["model_ri_array"])


class Condition:
    """A number of 64 bits on the device, made by :meth:`acl.Graph.condition`.

    Attributes
    ----------
    graph
        The graph that it belongs to.
    array
        The number as an array without dimensions, of type ``u8``: operators and copies write it. It ends with the
        graph.
    """

    __slots__ = ("graph", "array", "_handle")

    graph: "Graph"
    array: "DeviceArray"

    def __init__(self, graph: "Graph", handle: int) -> None:
        from acl.objects.array import DeviceArray

        address, ret = mdl.ri_cond_handle_get_cond_ptr(handle)
        check(ret, "aclmdlRICondHandleGetCondPtr")
        self.graph, self._handle = graph, handle
        self.array = DeviceArray.from_handle(address, (), "u8")
        graph._arrays.append(self.array)

    def set(self, value: int, stream: Stream) -> None:
        """Queue writing it (``aclrtValueWrite``), in a capture or outside."""
        value = integer(value, "acl.Condition.set: value", 0, LONGEST)
        ret = rt.value_write(self.array.handle, value, 0, memory_block.stream_handle(stream))
        check(ret, "aclrtValueWrite")
        self.array.used_on(stream)


class Body(Recording):
    """Work that a conditional task runs; captured while its graph is, on a stream of its own.

    It takes groups and conditions as a graph does.
    """

    __slots__ = ("graph", "_handle", "_stream")

    graph: "Graph"

    def __init__(self, graph: "Graph", handle: int) -> None:
        self.graph, self._handle, self._stream = graph, handle, None

    def _whole(self) -> "Graph":
        return self.graph

    @contextlib.contextmanager
    def capture(self, stream: Stream, mode: str = "global") -> "Iterator[Body]":
        """Capture the body: what is queued on the stream in the ``with``.

        Parameters
        ----------
        stream
            A stream that is not being captured.
        mode
            As for :class:`acl.capture`.

        Raises
        ------
        CaptureError
            When the body was captured before, or the capture went wrong.

        Notes
        -----
        Stands on ``aclmdlRICaptureToModelRIBegin`` and ``aclmdlRICaptureEnd``.
        """
        handle, number = memory_block.stream_handle(stream), mode_of(mode, "Body.capture")
        self.graph.handle  # noqa: B018  # raises when it is closed
        ret = mdl.ri_capture_to_model_ri_begin(handle, self._handle, number)
        advice = "a body is captured once: put another conditional task" if ret == CAPTURING else None
        check(ret, "aclmdlRICaptureToModelRIBegin", advice)
        self._stream = stream
        try:
            yield self
        except BaseException:
            mdl.ri_capture_end(handle)
            raise
        else:
            check(mdl.ri_capture_end(handle)[1], "aclmdlRICaptureEnd")
        finally:
            self._stream = None
            self.graph._take(memory_block.captured.pop(self._handle, []))
