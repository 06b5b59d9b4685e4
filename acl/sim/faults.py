"""Faults: calls and tasks that fail on purpose, slow streams, hangs and a lost device."""

from dataclasses import dataclass
from types import TracebackType
from typing import Optional

from acl._lib import ffi, lib
from acl.sim.check import check


@dataclass(frozen=True)
class Fault:
    """One fault, and what it has done."""

    text: str  #: as it was written, such as ``"malloc:3"``
    counted: int  #: how many calls or tasks it was about
    struck: int  #: how many of them it made fail or wait


class faults:  # noqa: N801 -- used like a function
    """Set faults for the statements of a ``with``.

    They replace those of the setting ``faults`` and of an outer ``with``, which come back afterwards and begin to count
    anew. Tasks that a fault holds back continue then.

    Parameters
    ----------
    *texts
        Faults in the grammar of ``ACL_SIM_FAULTS``, such as ``"malloc:3"`` or ``"task:aicore@stream2"``; each may be
        a list with semicolons.

    Raises
    ------
    ValueError
        On entry, for a text that is not a list of faults; the message names the word.

    Notes
    -----
    Wraps ``aclsimSetFaults`` and ``aclsimGetFault``.
    """

    _inner: "list[faults]" = []

    def __init__(self, *texts: str) -> None:
        self._text = ";".join(texts)
        self._done: Optional[list[Fault]] = None

    def _set(self) -> None:
        check(lib.aclsimSetFaults(self._text.encode()), f"acl.sim.faults({self._text!r})")

    def __enter__(self) -> "faults":
        self._set()
        self._done = None
        faults._inner.append(self)
        lib.acl_backend_trace()  # calls pass the variants that can fail
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], value: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        self._done = in_force()
        faults._inner.remove(self)
        if faults._inner:
            faults._inner[-1]._set()
        else:
            check(lib.aclsimSetFaults(ffi.NULL), "acl.sim.faults()")

    def counts(self) -> list[Fault]:
        """Return the faults with their counts: those in force, or after the ``with`` those at its end."""
        return in_force() if self._done is None else self._done

    @property
    def struck(self) -> int:
        """How often the faults have struck so far, or until the end of the ``with``."""
        return sum(fault.struck for fault in self.counts())


def in_force() -> list[Fault]:
    """Return the faults in force with their counts."""
    text, counts, found = ffi.new("char[]", 512), ffi.new("uint64_t[2]"), []
    for index in range(lib.aclsimFaultCount()):
        check(lib.aclsimGetFault(index, text, len(text), counts, counts + 1), "acl.sim.faults.counts()")
        found.append(Fault(ffi.string(text).decode(), counts[0], counts[1]))
    return found
