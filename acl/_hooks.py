"""Hooks: functions that upper modules register with lower ones, which call them without knowing the upper modules.

A module registers when it is imported, so a module that the program never uses is never called. Nothing is imported
here: every other module may import this one.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Hook:
    """Functions that are called together, in the order in which they were registered."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., Any]] = []

    def register(self, function: Function) -> Function:
        """Add a function, and return it: this is a decorator."""
        self.functions.append(function)
        return function

    def __call__(self, *arguments: Any) -> None:
        for function in self.functions:
            function(*arguments)


# A call has closed a device, which freed its memory: an address may be another allocation's from now on. Called with
# the number of the device.
device_closed = Hook()
# A model running instance was destroyed: release what is kept alive for it. Called with its handle.
instance_destroyed = Hook()
# What is alive is about to be counted: release what waits for its release and can be released.
counting_live = Hook()
# The simulator is about to be reset: what it knows is still there.
simulator_resetting = Hook()
# The simulator was reset: no handle, address or device that existed before is valid.
simulator_reset = Hook()
# The kernel of an operator was replaced: executors that were prepared before would still run the old one.
kernel_replaced = Hook()
