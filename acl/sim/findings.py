"""Findings of the simulator's checkers: races, reads of uninitialised memory, leaks and the like."""

import json
from dataclasses import dataclass
from typing import Any

from acl._hooks import simulator_reset
from acl._lib import ffi, lib
from acl.sim.check import check


@dataclass(frozen=True)
class Note:
    """A call that has to do with a finding."""

    label: str  #: what it did, such as ``"write"`` or ``"allocated"``
    text: str  #: the call, its task and its stream
    site: str  #: the line of the Python program, or the function in C; empty if it is unknown
    thread: int  #: the kernel's id of the thread that made it; 0 if it is unknown


@dataclass(frozen=True)
class Finding:
    """What a checker found."""

    check: str  #: the checker: ``"memory"``, ``"race"``, ``"init"``, ``"sync"``, ``"leak"`` or ``"deadlock"``
    rule: str  #: the kind of mistake, such as ``"use-after-free"``; suppressions name it
    level: str  #: ``"error"`` or ``"warning"``
    text: str  #: what is wrong
    advice: str  #: what to do about it
    notes: tuple[Note, ...]  #: the calls that have to do with it

    @classmethod
    def of(cls, members: dict[str, Any]) -> "Finding":
        """Return the finding with the members of a JSON object, which the library or a trace has."""
        return cls(**{**members, "notes": tuple(Note(**note) for note in members["notes"])})

    def __str__(self) -> str:
        lines = [f"{self.level}: {self.rule}: {self.text}"]
        lines += [f"    {note.label}: {note.text}" + (f", at {note.site}" if note.site else "") for note in self.notes]
        return "\n".join([*lines, f"    {self.advice}"])


class FindingError(RuntimeError):
    """Raised with ``on_finding="raise"``: the checkers have found something since the last such exception.

    Attributes
    ----------
    findings : list of Finding
        What they have found.
    """

    since = 0  #: how many findings there were before these; set by the library's calls (``acl/line.h``)

    def __init__(self) -> None:
        self.findings = findings()[FindingError.since :]
        super().__init__("\n".join(map(str, self.findings)))


def findings() -> list[Finding]:
    """Return what the checkers have found since the last reset, oldest first; at most the first 4,096.

    Notes
    -----
    Wraps ``aclsimFinding``.
    """
    found: list[Finding] = []
    while text := lib.aclsimFinding(len(found)):
        found.append(Finding.of(json.loads(ffi.string(text).decode(errors="replace"))))
    return found


def forget_findings() -> None:
    """Forget what the checkers have found, so that the same finding is reported again.

    Notes
    -----
    Wraps ``aclsimForgetFindings``.
    """
    check(lib.aclsimForgetFindings(), "acl.sim.forget_findings()")
    count_anew()


@simulator_reset.register
def count_anew() -> None:
    """Raise the next finding, whatever was raised before the findings were forgotten."""
    lib.acl_line_forget()


def name(address: int, text: str) -> None:
    """Give the block of memory that contains an address a name, which the checkers' reports show.

    Parameters
    ----------
    address
        An address in memory of a device, or in pinned host memory.
    text
        The name, such as ``"weights"``; it is cut after 63 bytes. The name ends with the block.

    Raises
    ------
    RuntimeError
        If no block contains the address.

    Notes
    -----
    Wraps ``aclsimNameMemory``. Does nothing while no checker is on.
    """
    check(lib.aclsimNameMemory(ffi.cast("void *", address), text.encode()), f"acl.sim.name({address:#x}, {text!r})")
