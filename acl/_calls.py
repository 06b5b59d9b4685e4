"""Python functions that C calls: whether this thread is in one, and what they have raised.

Such a function runs inside a task or a callback of a stream. Nothing may be called there that waits for the stream, and
finalizers of objects run there as anywhere: they ask :func:`in_call` and leave the closing to a thread that may wait.
So the function, its arguments and its exception are released while :data:`calls` still counts the call.
"""

import threading
from collections import deque
from typing import Any, Callable, Optional


class Calls(threading.local):
    """How many such functions this thread is in."""

    depth = 0


calls = Calls()
# The last exceptions of functions that are the implementation of a task, with the text that C was given of each.
raised: "deque[tuple[str, BaseException]]" = deque(maxlen=8)


def in_call() -> bool:
    """Tell whether this thread is in a Python function that C called."""
    return calls.depth > 0


def text_of(error: BaseException) -> str:
    """Return the text of an exception that becomes part of a task's failure message, which has room for 400 letters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]


def cause_of(message: str) -> Optional[BaseException]:
    """Return the newest exception whose text is in a failure message, and forget it; None if there is none."""
    for item in reversed(tuple(raised)):
        if item[0] in message:
            try:
                raised.remove(item)
            except ValueError:  # another thread has taken it
                continue
            return item[1]
    return None


def guarded(function: Callable[..., Any], failed: Any, report: Callable[[BaseException], None]) -> Callable[..., Any]:
    """Return the function as C calls it: counted, and returning ``failed`` where it raises."""

    def run(*arguments: Any) -> Any:
        calls.depth += 1
        try:
            return function(*arguments)
        except BaseException as error:
            report(error)
            return failed
        finally:
            calls.depth -= 1

    return run
