"""The application log."""

import sys

from acl._lib import ffi, lib


def app_log(level, message):
    """Write a message, which is not a format, with the caller's file and line."""
    place = sys._getframe(1)
    name, file = place.f_code.co_name.encode(), place.f_code.co_filename.encode()
    lib.aclAppLog(level, name, file, place.f_lineno, b"%s", ffi.new("char[]", message.encode()))
