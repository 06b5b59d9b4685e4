"""Prototypes of the first phases of operators, as texts with a letter for each parameter.

The build makes a C function for each prototype, which calls any first phase that has it (``acl/phases.h``);
:mod:`acl.nnop` looks it up by the letters. This file imports nothing of the package, because the build loads it by its
path.
"""

from collections.abc import Iterable

# How the argument of a parameter is converted, by its C type. Pointers are "q", and texts "t".
KINDS = {
    "bool": "b", "int8_t": "c", "int": "i", "int32_t": "i", "aclDataType": "i", "uint32_t": "u", "int64_t": "l",
    "uint64_t": "q", "float": "f", "double": "d",
}  # fmt: skip
# The C types of the prototypes; integers and pointers of one width are passed alike.
TYPES = {"b": "bool", "c": "int8_t", "i": "int32_t", "q": "uint64_t", "f": "float", "d": "double"}
ALIKE = str.maketrans("ltu", "qqi")


def kinds_of(types: Iterable[str]) -> str:
    """Return how the arguments of parameters with these C types are converted, a letter for each."""
    return "".join("t" if "char" in ctype else "q" if "*" in ctype else KINDS[ctype] for ctype in types)


def prototype_of(kinds: str) -> str:
    """Return the prototype for arguments of these kinds."""
    return kinds.translate(ALIKE)


def table(prototypes: Iterable[str]) -> str:
    """Return the table of prototypes as a C macro: letters, C types, and the values of ``given`` to pass."""
    found = sorted(set(prototypes))
    rows = [f"#define PHASE_MOST {max(map(len, found))}\n#define PHASE_PROTOTYPES(X)"]
    for prototype in found:
        types = "".join(f"{TYPES[letter]}, " for letter in prototype)
        values = "".join(f"given[{place}].{letter}, " for place, letter in enumerate(prototype))
        rows.append(f"    X({prototype}, ({types}uint64_t *, void **), ({values}size, executor))")
    return " \\\n".join(rows) + "\n"
