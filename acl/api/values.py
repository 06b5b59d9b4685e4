"""Conversions between C records and the dicts, lists and texts of pyACL."""

import re

from acl._lib import ffi, lib

INVALID_PARAM = lib.ACL_ERROR_INVALID_PARAM
LONGEST = 4096  # the most items or bytes that a call fills; larger requests return INVALID_PARAM
KEY_LIMIT = 1024
VOID, ADDRESS = ffi.typeof("void *"), ffi.typeof("uintptr_t")  # casts are frequent


def pointer(value):
    """Return an address as ``void *``."""
    return ffi.cast(VOID, value)


def address(cdata):
    """Return the address of a pointer as an int."""
    return int(ffi.cast(ADDRESS, cdata))


def text(buffer):
    """Return a C text as str."""
    return ffi.string(buffer).decode("utf-8", "replace")


def snake(name):
    """Return a C field name in snake case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def value_of(kind, cdata):
    """Return a C value of type ``kind`` as int, float, str, list or dict."""
    if kind.kind == "array":
        if kind.item.cname == "char":
            return text(cdata)
        return [value_of(kind.item, item) for item in cdata]
    if kind.kind in ("struct", "union"):
        return record(cdata)
    if kind.kind in ("pointer", "function"):
        return address(cdata)
    return float(cdata) if kind.cname in ("float", "double") else int(cdata)


def record(struct, rename=str):
    """Return the fields of a struct as a dict; ``rename`` returns the key for a field name."""
    fields = ffi.typeof(struct).fields if ffi.typeof(struct).kind != "pointer" else ffi.typeof(struct).item.fields
    return {rename(name): value_of(field.type, getattr(struct, name)) for name, field in fields}


def fill(struct, values):
    """Set the fields of a struct or union from a dict.

    A missing key or a value of a wrong type leaves its field zero, as pyACL does.
    """
    kind = ffi.typeof(struct)
    for name, field in (kind.item if kind.kind == "pointer" else kind).fields:
        value = values.get(name)
        if value is None:
            continue
        if field.type.kind in ("struct", "union"):
            fill_nested(getattr(struct, name), value)
        elif field.type.kind == "array":
            for place, item in enumerate(value[: field.type.length] if isinstance(value, list) else ()):
                if isinstance(item, int):
                    getattr(struct, name)[place] = ffi.cast(field.type.item, item)
        elif hasattr(value, "__index__"):
            setattr(struct, name, ffi.cast(field.type, value.__index__()))


def fill_nested(member, value):
    """Set a struct or union inside another; an int sets the 32-bit number at its start."""
    if isinstance(value, dict):
        fill(member, value)
    elif hasattr(value, "__index__"):
        ffi.cast("uint32_t *", ffi.addressof(member))[0] = value.__index__() & 0xFFFFFFFF


def fill_array(c_type, values, call, position):
    """Return a C array of structs made from a list of dicts."""
    array = ffi.new(f"{c_type}[]", max(len(values), 1))
    for place, item in enumerate(values):
        if not isinstance(item, dict):
            raise TypeError(
                f"{call}() argument {position} must be a list of dict, item {place} is '{type(item).__name__}'"
            )
        fill(array[place], item)
    return array


def out_pointer(function, *arguments):
    """Call a C function whose output, one handle, replaces the argument ``None``; return ``(handle, ret)``."""
    slot = ffi.new("void **")
    ret = function(*(slot if argument is None else argument for argument in arguments))
    return address(slot[0]), ret


def out_text(length, function, *arguments):
    """Call a C function that fills a buffer, which replaces the argument ``None``; return ``(text or None, ret)``."""
    buffer = ffi.new("char[]", length + 1)
    ret = function(*(buffer if argument is None else argument for argument in arguments))
    return (text(buffer) if ret == 0 else None), ret


def out_record(c_type, function, *arguments, rename=str):
    """Call a C function whose last parameter is a struct to fill; return ``(dict, ret)``, the dict empty on failure."""
    struct = ffi.new(f"{c_type} *")
    ret = function(*arguments, struct)
    return (record(struct, rename) if ret == 0 else {}), ret
