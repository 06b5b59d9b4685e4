"""Commands of gdb for programs that run on the simulator: ``gdb -x acl_gdb.py --args ./app``.

``acl-device-memory ADDRESS [COUNT] [TYPE]`` shows device memory. As on a real device, gdb
cannot read its addresses; the command reads the simulator's second mapping of the same pages.
"""

from __future__ import annotations

import os
import struct

import gdb

LIBRARY = "libacl_sim.so"
FORMATS = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
FORMATS.update({"f2": "e", "f4": "f", "f8": "d", "bf16": "H"})
DIGITS = {"f2": 5, "bf16": 4, "f4": 9, "f8": 17}  # enough to distinguish any two values
LINE = 16  # bytes


def number(text: str, name: str) -> int:
    """Return the value of an expression in the program."""
    try:
        return int(gdb.parse_and_eval(text))
    except gdb.error as error:
        raise gdb.GdbError(f"acl-device-memory failed: {name} is {text}, expected an expression: {error}") from None


def reach(address: int, size: int) -> int:
    """Return the readable address of ``size`` bytes in one allocated block of device memory."""
    library = next((file for file in gdb.objfiles() if os.path.basename(file.filename or "") == LIBRARY), None)
    if library is None:
        raise gdb.GdbError(f"acl-device-memory failed: {LIBRARY} is not loaded; stop the program after its first call")
    function = library.lookup_global_symbol("aclsimReach")
    if function is None:
        raise gdb.GdbError(f"acl-device-memory failed: {library.filename} has no line tables (it was stripped)")
    call = f"((void *(*)(void *, unsigned long)) {int(function.value().address)})((void *) {address}, {size})"
    locking = gdb.parameter("scheduler-locking")
    try:
        gdb.execute("set scheduler-locking on")  # the other threads do not run during the call
        try:
            found = int(gdb.parse_and_eval(call))
        finally:
            gdb.execute(f"set scheduler-locking {locking}")
    except gdb.error as error:
        raise gdb.GdbError(f"acl-device-memory failed: gdb cannot call the library in the program: {error}") from None
    if found == 0:
        raise gdb.GdbError(
            f"acl-device-memory failed: ADDRESS is {address:#x}, expected the address of {size} bytes in one block "
            "that is allocated"
        )
    return found


def text_of(value: float, kind: str) -> str:
    """Return a value as the command prints it."""
    if kind == "bf16":
        (value,) = struct.unpack("<f", struct.pack("<I", int(value) << 16))
    return f"{value:.{DIGITS[kind]}g}" if kind in DIGITS else str(value)


class DeviceMemory(gdb.Command):
    """Show device memory: acl-device-memory ADDRESS [COUNT] [TYPE].

    ADDRESS and COUNT (16) are expressions, TYPE (u1) is one of i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 bf16. The program must
    be live and stopped; the command does not work with a core file.
    """

    def __init__(self) -> None:
        super().__init__("acl-device-memory", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Read the arguments, find the memory, and print it."""
        words = gdb.string_to_argv(argument)
        if not 1 <= len(words) <= 3:
            raise gdb.GdbError("usage: acl-device-memory ADDRESS [COUNT] [TYPE]")
        kind = words[2] if len(words) > 2 else "u1"
        if kind not in FORMATS:
            raise gdb.GdbError(f"acl-device-memory failed: TYPE is {kind}, expected one of {' '.join(FORMATS)}")
        address = number(words[0], "ADDRESS")
        count = number(words[1], "COUNT") if len(words) > 1 else 16
        if count <= 0:
            raise gdb.GdbError(f"acl-device-memory failed: COUNT is {count}, expected 1 or more")
        item = struct.calcsize(f"={FORMATS[kind]}")
        content = bytes(gdb.selected_inferior().read_memory(reach(address, count * item), count * item))
        for start in range(0, len(content), LINE):
            values = struct.iter_unpack(f"={FORMATS[kind]}", content[start : start + LINE])
            print(f"{address + start:#x}: {' '.join(text_of(value, kind) for (value,) in values)}")


DeviceMemory()
