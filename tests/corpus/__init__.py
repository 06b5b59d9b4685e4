"""The corpus: small faulty programs, each of which is also the corrected program, for the checkers of the simulator.

A program is a function of what it uses and of ``right``. Comments mark the lines that a finding must name: ``# first``
and ``# second``, in the order in which the program runs them. The programs in C are in ``programs.c``.
"""

import inspect
import os
import re
from dataclasses import dataclass
from typing import Callable

import acl

MARK = re.compile(r"# (first|second)$|/\* (first|second) \*/$")


@dataclass(frozen=True)
class Fault:
    """A program, and what the checkers find in it if it is not right."""

    function: Callable
    rule: str
    also: tuple  # further rules: a free that is too early may be found twice
    level: str
    words: tuple  # parts of the finding's text

    def marked(self):
        """Return the numbers of the marked lines."""
        lines, start = inspect.getsourcelines(self.function)
        return {start + at for at, line in enumerate(lines) if MARK.search(line.rstrip())}


class Table(dict):
    """Programs by name."""

    def program(self, rule, *words, also=(), level="error"):
        """Return a decorator that adds a program."""

        def add(function):
            assert function.__name__ not in self
            self[function.__name__] = Fault(function, rule, also, level, words)
            return function

        return add


def transparent(function):
    """Let reports name the caller of a helper instead of the helper, as if it were a function of the package."""
    function.__code__ = function.__code__.replace(co_filename=os.path.join(os.path.dirname(acl.__file__), "corpus"))
    return function
