"""Replays of a graph: the streams on which it was replayed and for which nothing has waited since."""

from typing import Optional

from acl.objects import memory_block
from acl.objects.stream import Stream


class Replays:
    """The streams on which a graph was replayed since somebody waited for them.

    It stands for all of them among the users of each block that the graph works on: so reading such a block waits for
    the replays. A replay on the stream of the last one costs one comparison; waiting makes the next one be told anew.
    """

    __slots__ = ("instance", "last", "_streams", "_told", "_notes")

    def __init__(self, instance: int) -> None:
        self.instance = instance
        self.last: Optional[Stream] = None
        self._streams: dict[int, Stream] = {}
        self._told = False
        self._notes = 0

    def note(self, stream: Stream) -> None:
        """Note a replay on a stream, which was queued."""
        with memory_block.telling:
            self._streams[stream._handle] = stream
            self._notes += 1
            if not self._told:
                for block in memory_block.captured.get(self.instance, ()):
                    block.note(self.instance, self)
            self._told = True
            self.last = stream

    def renew(self) -> None:
        """Let the next replay tell the blocks again: there are others now."""
        self.last, self._told = None, False

    @property
    def closed(self) -> bool:
        """Whether the graph is gone; its end was the end of its replays."""
        return self.instance not in memory_block.captured

    def busy(self) -> bool:
        """Tell whether a replay may not be done."""
        return any(not stream.closed and stream._busy() for stream in list(self._streams.values()))

    def synchronize(self) -> None:
        """Wait for all replays."""
        with memory_block.telling:
            notes = self._notes
            self.renew()  # before the waiting: a replay that is queued meanwhile is noted
        for stream in list(self._streams.values()):
            if not stream.closed:
                stream._settle()
        with memory_block.telling:
            if self._notes == notes:
                self._streams.clear()

    _settle = synchronize

    def _lead(self, stream: Stream) -> None:
        """Let what is queued on a stream from here on come after all replays."""
        for other in list(self._streams.values()):
            if not other.closed:
                other._lead(stream)
