"""Data types and formats as the headers describe them: numbers, names, bits, and the names in NumPy."""

from typing import NamedTuple

from acl._lib import ffi, lib


class DataType(NamedTuple):
    """One ``aclDataType``; ``numpy`` is its name in NumPy's files, empty if NumPy does not have it."""

    code: int
    name: str
    bits: int  # 0: the size of an element is not fixed
    numpy: str
    package: str  # the package that has the type under this name: "NumPy", "ml_dtypes" or ""
    number: int  # in model files; 0: they cannot have this type


def _declared() -> dict[int, DataType]:
    """Read the data types from the compiled module."""
    found: dict[int, DataType] = {}
    while row := lib.acl_data_type(len(found)):
        name, numpy, package = (ffi.string(text).decode() for text in (row.name, row.numpy, row.package))
        found[row.code] = DataType(row.code, name, row.bits, numpy, package, row.number)
    return found


DATA_TYPES = _declared()
BFLOAT16: int = lib.ACL_BF16
# The argument for numpy.dtype, by the number of the data type.
NUMPY = {code: kind.name for code, kind in DATA_TYPES.items() if kind.numpy}
FORMATS = {
    code: name.replace("ACL_FORMAT_", "").replace("ACL_", "")
    for code, name in sorted(ffi.typeof("aclFormat").elements.items())
    if code != lib.ACL_FORMAT_UNDEFINED
}
