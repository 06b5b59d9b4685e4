"""Task groups: operators of a graph whose arguments can be changed after the capture."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from acl import mdl
from acl.objects import memory_block
from acl.objects.capture_error import IN_CAPTURE, MISMATCH, STATUS, Missing, check
from acl.objects.stream import Stream

if TYPE_CHECKING:
    from acl.objects.capture import Graph

AS_CAPTURED = "launch in the update the operators of the group: as many, in their order, with the same types and shapes"


class TaskGroup:
    """Operators of a graph whose arguments can be changed, made by :meth:`acl.Graph.group`."""

    __slots__ = ("graph", "_handle")

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph
        self._handle: Any = Missing("TaskGroup", STATUS, "its `with graph.group():` block is still open", IN_CAPTURE)

    @contextlib.contextmanager
    def update(self, stream: Stream) -> Iterator[None]:
        """Give the group other arguments: what is launched on the stream in the ``with`` takes the place of its tasks.

        The graph holds the arrays and buffers of the objects' launches as it holds what was captured; what launches of
        pyACL and C name it holds by :meth:`acl.Graph.hold`.

        Parameters
        ----------
        stream
            A stream that is not being captured. The change is queued on it: replays that come after it have it.

        Raises
        ------
        CaptureError
            When the graph is still being captured, when the operators are not those of the group, or when others are
            launched than there are in the group.

        Notes
        -----
        Stands on ``aclmdlRICaptureTaskUpdateBegin`` and ``aclmdlRICaptureTaskUpdateEnd``.
        """
        graph, handle = self.graph, memory_block.stream_handle(stream)
        graph.handle  # noqa: B018  # raises when it is closed
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
