"""Small ELF files, such as a compiler writes for kernels: code, variables and zeroed variables, with symbols."""

import struct

FUNC, OBJECT = 2, 1
NOTHING, BITS, SYMBOLS, STRINGS, ZEROED = 0, 1, 2, 3, 8
CODE, DATA, BSS = 1, 2, 3  # numbers of sections


def section(kind, flags=0, offset=0, size=0, link=0, entry=0):
    """Return one section header."""
    return struct.pack("<IIQQQQIIQQ", 0, kind, flags, 0, offset, size, link, 0, 8, entry)


def object_file(code=(), data=(), zeroed=(), machine=0x1029):
    """Return the bytes of an object file.

    Parameters
    ----------
    code, data : sequence of (str, bytes)
        Functions and variables.
    zeroed : sequence of (str, int)
        Variables without bytes in the file, with their sizes.
    machine : int
        Number of the processor.
    """
    names, symbols, parts, places = b"\0", [struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)], [], {}
    at = 64
    for number, kind, items in ((CODE, FUNC, code), (DATA, OBJECT, data)):
        begin = at
        for name, content in items:
            symbols.append(struct.pack("<IBBHQQ", len(names), 0x10 | kind, 0, number, at - begin, len(content)))
            names += name.encode() + b"\0"
            parts.append(content)
            at += len(content)
        places[number] = (begin, at - begin)
    end = 0
    for name, size in zeroed:
        symbols.append(struct.pack("<IBBHQQ", len(names), 0x10 | OBJECT, 0, BSS, end, size))
        names += name.encode() + b"\0"
        end += size
    table = b"".join(symbols)
    headers = [
        section(NOTHING),
        section(BITS, 6, *places[CODE]),
        section(BITS, 3, *places[DATA]),
        section(ZEROED, 3, at, end),
        section(SYMBOLS, 0, at, len(table), 5, 24),
        section(STRINGS, 0, at + len(table), len(names)),
    ]
    header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 1, machine, 1, 0, 0, at + len(table) + len(names), 0, 64, 0, 0, 64, len(headers), 0
    )
    return header + b"".join(parts) + table + names + b"".join(headers)
