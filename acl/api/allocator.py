"""Allocators that the user provides: the functions of an allocator description."""

from typing import Any

from acl._lib import lib
from acl.api import values
from acl.api.closure import closure

# C copies the pointers at the registration and does not report when it stops using them, so they live forever.
hooks: list[Any] = []


def set_function(setter, c_type, desc, function, convert):
    """Set one function of a description; it is called with addresses and sizes as int."""

    def hook(*arguments):
        numbers = [argument if isinstance(argument, int) else values.address(argument) for argument in arguments]
        return convert(function(*numbers))

    empty = None if convert is nothing else values.ffi.NULL
    hooks.append(closure(c_type, hook, function, empty))
    return setter(values.pointer(desc), hooks[-1])


def nothing(result):
    """Ignore the result of a function that returns nothing to C."""


def block(result):
    """Return an address as a pointer; None is NULL."""
    return values.pointer(result or 0)


def allocator_set_alloc_func_to_desc(desc, function):
    """Set ``function(allocator, size) -> block``."""
    return set_function(lib.aclrtAllocatorSetAllocFuncToDesc, "aclrtAllocatorAllocFunc", desc, function, block)


def allocator_set_free_func_to_desc(desc, function):
    """Set ``function(allocator, block)``."""
    return set_function(lib.aclrtAllocatorSetFreeFuncToDesc, "aclrtAllocatorFreeFunc", desc, function, nothing)


def allocator_set_alloc_advise_func_to_desc(desc, function):
    """Set ``function(allocator, size, address) -> block``."""
    return set_function(
        lib.aclrtAllocatorSetAllocAdviseFuncToDesc, "aclrtAllocatorAllocAdviseFunc", desc, function, block
    )


def allocator_set_get_addr_from_block_func_to_desc(desc, function):
    """Set ``function(block) -> address``."""
    return set_function(
        lib.aclrtAllocatorSetGetAddrFromBlockFuncToDesc, "aclrtAllocatorGetAddrFromBlockFunc", desc, function, block
    )
