"""Dump data that is passed to Python."""

from collections.abc import Callable
from typing import Any

from acl._calls import guarded
from acl._lib import _acl, ffi, lib
from acl.api import values

receivers: list[Callable[[dict], Any]] = []


def _receive(chunk, length):
    """Pass one chunk to the function as a dict; the address of its data is valid only during the call."""
    fields = ("fileName", "bufLen", "isLastChunk", "offset", "flag")
    given = {values.snake(name): getattr(chunk, name) for name in fields}
    given["file_name"] = values.text(chunk.fileName)
    given["data_buf"] = values.address(chunk.dataBuf)
    ret = receivers[-1](given)
    return 0 if ret is None else ret


def _report(error):
    _acl.unraisable(error, dump_reg_callback)


# Only a result of a wrong type reaches cffi's error handling.
ffi.def_extern("acl_on_dump", error=-1, onerror=lambda kind, error, trace: _report(error))(
    guarded(_receive, -1, _report)
)


def dump_reg_callback(function, flag):
    """Call ``function(chunk)`` for each chunk of dump data; an exception returns -1 to C."""
    before = receivers.copy()
    receivers[:] = [function]  # before the registration in C, after which a chunk can arrive at once
    ret = lib.acldumpRegCallback(lib.acl_on_dump, flag)
    if ret != 0:
        receivers[:] = before
    return ret
