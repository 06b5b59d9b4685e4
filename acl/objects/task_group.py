"""Task groups: operators of a graph whose arguments can be changed after the capture."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from acl import mdl
from acl.objects import memory_block
from acl.objects.capture_error import IN_CAPTURE, MISMATCH, STATUS, Missing, check
from acl.objects.resource import stream_handle
from acl.objects.stream import Stream

if TYPE_CHECKING:
    from acl.objects.capture import Graph

AS_CAPTURED = "launch the same operators as in the group: same number, order, types and shapes"


class TaskGroup:
    """Operators of a graph whose arguments can be changed, from :meth:`acl.Graph.group`."""

    __slots__ = ("graph", "_handle")

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph
        self._handle: Any = Missing("TaskGroup", STATUS, "its `with graph.group():` block is still open", IN_CAPTURE)

    @contextlib.contextmanager
    def update(self, stream: Stream) -> Iterator[None]:
        """Change the arguments of the group to those of the operators that are launched in the ``with`` block.

        The graph holds the arrays and buffers of launches of the objects, as it does for captured ones. For launches of
        pyACL and C, call :meth:`acl.Graph.hold`.

        Parameters
        ----------
        stream
            A stream that is not being captured. The change is queued on it, and applies to replays that run after it.

        Raises
        ------
        CaptureError
            If the graph is still being captured, or if the operators differ from those of the group in kind, number or
            order.

        Notes
        -----
        Wraps ``aclmdlRICaptureTaskUpdateBegin`` and ``aclmdlRICaptureTaskUpdateEnd``.
        """
        graph, handle = self.graph, stream_handle(stream)
        graph.handle  # noqa: B018  # raises if it is closed
        group = self._handle.__index__()
        check(mdl.ri_capture_task_update_begin(handle, group), "aclmdlRICaptureTaskUpdateBegin")
        memory_block.updating[handle] = -handle
        try:
            yield
        except BaseException:
            mdl.ri_capture_task_update_end(handle)
            raise
        else:
            ret = mdl.ri_capture_task_update_end(handle)
            check(ret, "aclmdlRICaptureTaskUpdateEnd", AS_CAPTURED if ret == MISMATCH else None)
        finally:
            del memory_block.updating[handle]
            graph._take(memory_block.captured.pop(-handle, []))
