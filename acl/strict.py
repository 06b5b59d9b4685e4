"""Codes that a program ignores: a pyACL call failed, and its code was dropped before anybody looked at it.

While this is on, a call that fails returns a :class:`Code` in place of a plain int. It is told when it is compared,
tested, printed or calculated with; when it ends without that, it reports itself. Calls that succeed are not touched.
"""

import atexit
import importlib
import os
import sys
from typing import Any, NamedTuple, NoReturn

from acl import _lib, codes
from acl._hooks import simulator_reset
from acl._lib import ffi, lib

# Codes by which a call says that nothing happened: programs that wait in a loop do not look at them.
USUAL = {("acl.rt.process_report", codes.ACL_ERROR_RT_REPORT_TIMEOUT)}
LOOKS = (
    "eq ne lt le gt ge bool hash repr str format int index float add radd sub rsub mul rmul floordiv rfloordiv "
    "truediv rtruediv mod rmod divmod rdivmod pow rpow and rand or ror xor rxor lshift rlshift rshift rrshift neg pos "
    "abs invert round trunc floor ceil reduce_ex"
)


class Failure(NamedTuple):
    """A failed call whose code the program has not looked at."""

    code: int
    function: str
    line: str


unseen: dict[int, Failure] = {}  # by the id of the code, which is alive as long as it is in here
set_strict = importlib.import_module("acl._acl").strict
leave_program = sys.exit
lines: dict[str, Any] = {}  # the simulator refers to these texts for ever


class Code(int):
    """The code of a failed call, which knows whether the program has looked at it."""

    def __del__(self) -> None:
        failure = unseen.pop(id(self), None)
        if failure is not None:
            report(failure)


def looking(name: str) -> Any:
    """Return a method of int that marks the code as seen."""
    method = getattr(int, name)

    def look(self: Code, *arguments: Any) -> Any:
        unseen.pop(id(self), None)
        return method(self, *arguments)

    return look


for name in LOOKS.split():
    setattr(Code, f"__{name}__", looking(f"__{name}__"))


def line_of_call() -> str:
    """Return the line of the program that makes the call in progress."""
    frame = sys._getframe(2)
    own = os.path.join(_lib.HOME, ""), "<acl."
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def failed(code: int, function: str) -> int:
    """Return the code of a failed call; called by the builtins of pyACL."""
    if (function, code) in USUAL:
        return code
    made = Code(code)
    unseen[id(made)] = Failure(code, function, line_of_call())
    return made


def report(failure: Failure) -> None:
    """Report a code that was not looked at: to the simulator's findings, or on stderr without its control interface."""
    code, function, line = failure
    if not _lib.is_simulator:
        print(f"acl strict: {function} failed with {code}, and the program did not look at this code, at {line}",
              file=sys.stderr)  # fmt: skip
        return
    text = lines.setdefault(line, ffi.new("char[]", line.encode(errors="replace")))
    lib.aclsimReportIgnored(function.encode(), code, text)


def leave(code: Any = None) -> NoReturn:
    """Look at the code with which the program ends, and do what ``sys.exit`` does."""
    unseen.pop(id(code), None)
    leave_program(code)


def strict(on: bool = True) -> None:
    """Report each code of a failed pyACL call that the program does not look at before it is gone.

    A program looks at a code by comparing, testing, printing or calculating with it, and by ``sys.exit``. The report is
    a finding of the check ``"strict"`` and the rule ``"ignored-code"``; it names the line of the call that failed. The
    setting ``strict`` does the same from the start.

    Parameters
    ----------
    on
        False ends it.

    Notes
    -----
    Wraps ``aclsimReportIgnored``. With a vendor's library, the reports are lines on stderr. A failed call returns a
    subclass of int. The time-out of ``acl.rt.process_report`` does not count as a
    failure.
    """
    global leave_program
    set_strict(failed if on else None)
    if on and sys.exit is not leave:
        leave_program, sys.exit = sys.exit, leave
    elif not on and sys.exit is leave:  # else another module has replaced it since
        sys.exit = leave_program


def follow() -> None:
    """Switch it on or off as the settings say."""
    if _lib.is_simulator:
        from acl.sim import get_config

        strict(get_config("strict") == "1")
    else:
        strict(os.environ.get("ACL_SIM_STRICT") == "1")


simulator_reset.register(follow)


@atexit.register
def at_exit() -> None:
    """Report the codes that are still kept and were not looked at."""
    while unseen:
        report(unseen.popitem()[1])
