"""Groups of calls: what a thread calls in ``with acl.Communicator.group():`` is one unit.

Inside a group the library may only note its calls, and queue them when the outermost group ends. Until then the group
holds their memory, because nothing is registered with it yet, and puts off what would wait: calls without a stream, and
the creation of communicators.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Callable

from acl._lib import lib
from acl.objects.context_current import call_in_thread, current_handle
from acl.objects.hccl_library import failure, open_library
from acl.objects.memory_block import Block, tell
from acl.objects.stream import Stream


class Calls(threading.local):
    """What the thread has called in its open groups, and how many groups are open."""

    def __init__(self) -> None:
        self.depth = 0
        self.used: list[tuple[tuple[Block, ...], Stream]] = []
        self.awaited: list[Stream] = []
        self.created: list[Callable[[], None]] = []


calls = Calls()


def done(blocks: tuple[Block, ...], stream: Stream, wait: bool) -> None:
    """Register an operation that was just called with its memory, and wait for it; in a group, at its end."""
    if calls.depth:
        calls.used.append((blocks, stream))
        calls.awaited += [stream] if wait and stream not in calls.awaited else []
        return
    tell(blocks, stream)
    if wait:
        stream.synchronize()


def created(finish: Callable[[], None]) -> None:
    """Finish the creation of a communicator; in a group, at its end."""
    if calls.depth:
        calls.created.append(finish)
    else:
        finish()


def await_ranks(create: Callable[[], None], destroy: Callable[[], None]) -> None:
    """Call a function that waits for other ranks; Ctrl-C ends the wait, and the communicator if it still comes."""
    if calls.depth or threading.current_thread() is not threading.main_thread():
        create()
        return
    interrupted: list[bool] = []

    def run() -> None:
        create()
        if interrupted:
            destroy()

    try:
        call_in_thread(current_handle(), run)
    except KeyboardInterrupt:
        interrupted.append(True)
        destroy()
        raise


@contextlib.contextmanager
def group() -> Iterator[None]:
    """Open a group for a ``with`` block."""
    open_library()
    result = lib.HcclGroupStart()
    if result != 0:
        raise failure(result, "HcclGroupStart")
    calls.depth += 1
    complete = False
    try:
        yield
        complete = True
    finally:
        _end(complete)


def _end(complete: bool) -> None:
    """End a group. If an exception has left its block, nothing is awaited: a rank may be missing."""
    result = lib.HcclGroupEnd()
    failed = failure(result, "HcclGroupEnd") if result != 0 else None
    calls.depth -= 1
    if calls.depth == 0:
        used, awaited, finishing = calls.used, calls.awaited, calls.created
        calls.used, calls.awaited, calls.created = [], [], []
        for blocks, stream in used:
            if not stream.closed:
                tell(blocks, stream)
        for finish in finishing:
            finish()
        for stream in awaited if complete and failed is None else ():
            stream.synchronize()
    if failed is not None and complete:
        raise failed
