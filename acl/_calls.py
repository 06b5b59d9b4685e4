"""Python functions that C calls: whether this thread is in one, and what they have raised.

Such a function runs inside a task or a callback of a stream, so it must not wait for the stream. Finalizers of objects
can run there too: they check :func:`in_call` and leave the closing to a thread that may wait. Therefore the function,
its arguments and its exception are released while :data:`calls` still counts the call.
"""

import threading
from collections import deque
from typing import Any, Callable, Optional


class Calls(threading.local):
    """How many Python functions called from C are running in this thread, one inside another."""

    depth = 0


calls = Calls()
# One item per such function that runs in any thread. A finalizer looks here first: it costs a tenth of `calls`.
running: list[None] = []
# The newest exceptions of Python functions that implement tasks, each with the text that was passed to C.
raised: "deque[tuple[str, BaseException]]" = deque(maxlen=8)


def in_call() -> bool:
    """Return whether this thread is in a Python function that C called."""
    return bool(running) and calls.depth > 0


def enter() -> None:
    """Count a call that begins in this thread."""
    calls.depth += 1
    running.append(None)


def leave() -> None:
    """Count a call that ends in this thread."""
    running.pop()
    calls.depth -= 1


def text_of(error: BaseException) -> str:
    """Return the text of an exception for a task's failure message, which has room for 400 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]


def cause_of(message: str) -> Optional[BaseException]:
    """Return the newest exception whose text is in a failure message, and remove it from the list; or None."""
    for item in reversed(tuple(raised)):
        if item[0] in message:
            try:
                raised.remove(item)
            except ValueError:  # another thread has removed it
                continue
            return item[1]
    return None


def guarded(function: Callable[..., Any], failed: Any, report: Callable[[BaseException], None]) -> Callable[..., Any]:
    """Return the function for calls from C: calls are counted, and an exception makes it return ``failed``."""

    def run(*arguments: Any) -> Any:
        enter()
        try:
            return function(*arguments)
        except BaseException as error:
            report(error)
            return failed
        finally:
            leave()

    return run
