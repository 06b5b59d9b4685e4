"""Conditions of a graph: numbers on the device, the tasks that branch on them, and the bodies of those tasks.

Conditions and bodies belong to a graph and end with it. Using one after that, or too early, raises the error of its
placeholder handle (:class:`acl.objects.capture_error.Missing`), as closed objects do.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from acl import mdl, rt
from acl._lib import lib
from acl.errors import CaptureError
from acl.objects import memory_block
from acl.objects.capture_error import CAPTURING, NOT_CAPTURED, STATUS, Missing, check, failure
from acl.objects.memory_block import one_of
from acl.objects.resource import INVALID, LONGEST, integer, stream_handle
from acl.objects.stream import Stream
from acl.objects.task_group import TaskGroup

if TYPE_CHECKING:
    from acl.objects.array import DeviceArray
    from acl.objects.capture import Graph

MODES: dict[str, int] = {
    "global": lib.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
    "thread_local": lib.ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": lib.ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
}
IF, WHILE = lib.ACL_MODEL_RI_COND_TYPE_IF, lib.ACL_MODEL_RI_COND_TYPE_WHILE
SWITCH = lib.ACL_MODEL_RI_COND_TYPE_SWITCH
ASSIGN_DEFAULT = lib.ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT
ONE_TASK = "a condition can be used by one task only, in the graph or body that created it"


def mode_of(mode: str, function: str) -> int:
    """Return the number of a capture mode."""
    return MODES[one_of(mode, MODES, function, "mode")]


class Recording:
    """The methods of graphs and bodies that add task groups, conditions and conditional tasks to a capture."""

    __slots__ = ()

    _handle: Any
    _stream: Optional[Stream]

    def _whole(self) -> "Graph":
        """Return the graph that it belongs to."""
        raise NotImplementedError

    def _on(self, stream: Optional[Stream], function: str) -> Stream:
        """Return the given stream, or the one on which the capture began."""
        if stream is not None:
            stream_handle(stream)  # raises if it is not a stream
            return stream
        if self._stream is None:
            self._handle.__index__()  # raises the error of a closed or failed graph
            text = f"acl.{function}: the capture has ended"
            advice = "call it inside the `with acl.capture(...)` block"
            raise CaptureError(NOT_CAPTURED, f"acl.{function}", text, advice)
        return self._stream

    @contextlib.contextmanager
    def group(self, stream: Optional[Stream] = None) -> Iterator[TaskGroup]:
        """Make the operators that are launched in the ``with`` block a group, whose arguments can be changed later.

        Parameters
        ----------
        stream
            The stream of the capture on which they are launched; None takes the one on which it began.

        Yields
        ------
        TaskGroup
            The group; update it after the capture with ``with group.update(stream):``.

        Raises
        ------
        CaptureError
            If a group is open already, or a task was captured on another stream in between.

        Notes
        -----
        Wraps ``aclmdlRICaptureTaskGrpBegin`` and ``aclmdlRICaptureTaskGrpEnd``. Only operators are allowed in a group:
        no copies, sets, events or callbacks.
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
            group._handle = Missing("TaskGroup", STATUS, "its capture failed", "capture again")
            raise failure(ret, "aclmdlRICaptureTaskGrpEnd")

    def condition(self, default: Optional[int] = None) -> "Condition":
        """Return a number on the device, on which conditional tasks branch.

        Parameters
        ----------
        default
            The value at the start of each replay; None keeps the last value, which is 0 at first.

        Notes
        -----
        Wraps ``aclmdlRICondHandleCreate``.
        """
        number = 0 if default is None else integer(default, "acl.Graph.condition: default", 0, LONGEST)
        handle, ret = mdl.ri_cond_handle_create(self._handle, number, 0 if default is None else ASSIGN_DEFAULT)
        check(ret, "aclmdlRICondHandleCreate", "create conditions while the graph or body is being captured")
        return Condition(self._whole(), handle)

    def if_(self, condition: "Condition", stream: Optional[Stream] = None) -> "Body":
        """Add a task whose body runs if the condition is not 0 at that point; return the body, to be captured."""
        return self._branch(condition, IF, 1, stream)[0]

    def if_else(self, condition: "Condition", stream: Optional[Stream] = None) -> "tuple[Body, Body]":
        """Add a task with two bodies: the first runs if the condition is not 0, the second if it is 0."""
        bodies = self._branch(condition, IF, 2, stream)
        return bodies[0], bodies[1]

    def while_(self, condition: "Condition", stream: Optional[Stream] = None) -> "Body":
        """Add a task whose body runs repeatedly while the condition is not 0; return the body, to be captured."""
        return self._branch(condition, WHILE, 1, stream)[0]

    def switch(self, condition: "Condition", count: int, stream: Optional[Stream] = None) -> "tuple[Body, ...]":
        """Add a task with ``count`` bodies: body n runs if the condition is n, none if it is ``count`` or more."""
        return self._branch(condition, SWITCH, integer(count, "acl.Graph.switch: count", 1, 2**32 - 1), stream)

    def _branch(self, condition: "Condition", kind: int, count: int, stream: Optional[Stream]) -> "tuple[Body, ...]":
        """Add a conditional task on a stream (``aclmdlRIAddCondTask``)."""
        if not isinstance(condition, Condition):
            found = type(condition).__name__
            raise TypeError(f"acl.Graph: condition is {found}, expected the result of graph.condition()")
        given = {"handle": condition._handle, "type": kind, "size": count}
        params, ret = mdl.ri_add_cond_task(given, self._on(stream, "Graph").handle, 0)
        check(ret, "aclmdlRIAddCondTask", ONE_TASK if ret == INVALID else None)
        whole = self._whole()
        whole._bodies += params["model_ri_array"]
        return tuple(Body(whole, handle) for handle in params["model_ri_array"])


class Condition:
    """A number of 64 bits on the device, returned by :meth:`acl.Graph.condition`.

    Attributes
    ----------
    graph
        The graph that it belongs to.
    array
        The number as an array without dimensions, of type ``u8``, which operators and copies can write. It is closed
        with the graph.
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
        """Queue a write of the number (``aclrtValueWrite``), inside or outside a capture."""
        value = integer(value, "acl.Condition.set: value", 0, LONGEST)
        ret = rt.value_write(self.array.handle, value, 0, stream_handle(stream))
        check(ret, "aclrtValueWrite")
        self.array.used_on(stream)


class Body(Recording):
    """The work of a conditional task, captured on a separate stream while its graph is being captured.

    It has the methods of a graph for groups, conditions and conditional tasks.
    """

    __slots__ = ("graph", "_handle", "_stream")

    graph: "Graph"

    def __init__(self, graph: "Graph", handle: int) -> None:
        self.graph, self._handle, self._stream = graph, handle, None

    def _whole(self) -> "Graph":
        return self.graph

    @contextlib.contextmanager
    def capture(self, stream: Stream, mode: str = "global") -> "Iterator[Body]":
        """Capture the body: the work that is queued on the stream in the ``with`` block.

        Parameters
        ----------
        stream
            A stream that is not being captured.
        mode
            As for :class:`acl.capture`.

        Raises
        ------
        CaptureError
            If the body was captured before, or the capture failed.

        Notes
        -----
        Wraps ``aclmdlRICaptureToModelRIBegin`` and ``aclmdlRICaptureEnd``.
        """
        handle, number = stream_handle(stream), mode_of(mode, "Body.capture")
        self.graph.handle  # noqa: B018  # raises if it is closed
        ret = mdl.ri_capture_to_model_ri_begin(handle, self._handle, number)
        advice = "a body can be captured only once: add another conditional task" if ret == CAPTURING else None
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
