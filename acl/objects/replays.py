"""Replays of a graph: the streams on which it was replayed, until something waits for them."""

from typing import Optional

from acl.objects import memory_block
from acl.objects.stream import Stream


class Replays:
    """The streams on which a graph was replayed since the last wait for them.

    It is registered, for all of these streams, as one user of each block that the graph uses, so that reading such a
    block waits for the replays. A replay on the same stream as the previous one costs one comparison; after
    a wait the next replay registers again.
    """

    __slots__ = ("instance", "last", "_streams", "_registered", "_notes")

    def __init__(self, instance: int) -> None:
        self.instance = instance
        self.last: Optional[Stream] = None
        self._streams: dict[int, Stream] = {}
        self._registered = False
        self._notes = 0

    def note(self, stream: Stream) -> None:
        """Record that a replay was queued on a stream."""
        with memory_block.telling:
            self._streams[stream._handle] = stream
            self._notes += 1
            if not self._registered:
                memory_block.note(memory_block.captured.get(self.instance, ()), self.instance, self)
            self._registered = True
            self.last = stream

    def renew(self) -> None:
        """Make the next replay register with the blocks again, because the blocks have changed or were waited for."""
        self.last, self._registered = None, False

    @property
    def closed(self) -> bool:
        """Whether the graph was destroyed, which ended its replays."""
        return self.instance not in memory_block.captured

    def busy(self) -> bool:
        """Return whether a replay may still be running."""
        return any(not stream.closed and stream._busy() for stream in list(self._streams.values()))

    def synchronize(self) -> None:
        """Wait for all replays."""
        with memory_block.telling:
            notes = self._notes
            self.renew()  # first, so that a replay that is queued during the wait is recorded
        for stream in list(self._streams.values()):
            if not stream.closed:
                stream._settle()
        with memory_block.telling:
            if self._notes == notes:
                self._streams.clear()

    _settle = synchronize

    def _lead(self, stream: Stream) -> None:
        """Make later work on a stream wait for all replays."""
        for other in list(self._streams.values()):
            if not other.closed:
                other._lead(stream)
