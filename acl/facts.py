"""Tables for C and Python, generated from the declared headers: status codes, data types, model files.

The build and ``simulator/generate.py`` load this file by its path: it imports nothing from ``acl``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from acl.abi import Abi

MODEL_FILE = "model_om.h"  # somewhere below simulator/core
LETTERS = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bool": "b"}  # kinds, as NumPy abbreviates them


class DataType(NamedTuple):
    """One ``aclDataType``: its constant, its name and the package with that name, bits, number in model files."""

    constant: str
    name: str
    package: str  # "NumPy", "ml_dtypes" or ""
    bits: int  # 0: the size of an element is not fixed
    number: int  # 0: model files cannot have this type

    @property
    def numpy(self) -> str:
        """Its name in NumPy's files, such as ``<f4``; empty if NumPy does not have it."""
        if self.package != "NumPy":
            return ""
        kind = LETTERS[re.sub(r"\d+", "", self.name)]
        return f"{'<' if self.bits > 8 else '|'}{kind}{self.bits // 8}"


def status_codes(abi: Abi) -> dict[str, int]:
    """Return every status code that calls return, by name."""
    codes = {name: constant.value for name, constant in abi.constants.items() if name.startswith("ACL_ERROR_")}
    return {**codes, **abi.enums["aclsimOperatorStatus"].members}


def status_stub(abi: Abi) -> str:
    """Return the type stub of ``acl.codes``."""
    names = "".join(f"{name}: int\n" for name in status_codes(abi))
    return f"# Made from the headers by build_acl.py.\nNAMES: dict[int, str]\n{names}"


def status_table(abi: Abi, extra: Abi) -> str:
    """Return the entries of the table in ``core/base/fail.c``, ordered by value; ``extra`` has the codes of HCCL."""
    results = extra.enums["HcclResult"].members.items()
    entries = {code: f'{{{code}, "{name}"}}' for name, code in results if not name.endswith("_RESERVED")}
    entries.update({code: f"CODE({name})" for name, code in {**status_codes(abi), "ACL_SUCCESS": 0}.items()})
    return "".join(f"{entries[code]},\n" for code in sorted(entries))


def model_file(root: Path) -> str:
    """Return the text of the header with the numbers of model files; ``root`` is the project's folder."""
    return next((root / "simulator" / "core").rglob(MODEL_FILE)).read_text(encoding="utf-8")


def numbers(text: str) -> dict[str, int]:
    """Return the numbers of data types in that text, by the name of the ``aclDataType``."""
    return {f"ACL_{name}": int(number) for name, number in re.findall(r"\bSIM_OM_TYPE_(\w+) = (\d+)", text)}


def data_types(abi: Abi, saved: Mapping[str, int]) -> list[DataType]:
    """Return the data types that the header describes, in its order; ``saved`` has their numbers in model files."""
    declared = abi.enums["aclDataType"]
    found = []
    for constant, note in declared.notes.items():
        described = re.fullmatch(r"(\w+)(?: of (\w+))?(?:, (\d+) bits?)?", note)
        if described is None:
            raise ValueError(f"{constant}: {note!r} is not 'name[ of NumPy][, n bits]'")
        name, package, bits = described.groups()
        found.append(DataType(constant, name, package or "", int(bits or 0), saved.get(constant, 0)))
    lacking = [name for name, code in declared.members.items() if code >= 0 and name not in declared.notes]
    if lacking:
        raise ValueError(f"{lacking[0]} has no comment with its name and bits beside it")
    return found


def data_type_table(abi: Abi, saved: Mapping[str, int]) -> str:
    """Return the table of data types as a C macro."""
    rows = "".join(
        f' \\\n    X({row.constant}, "{row.name}", {row.bits}, "{row.numpy}", "{row.package}", {row.number})'
        for row in data_types(abi, saved)
    )
    head = "/* Made from acl/abi/base.h: X(constant, name, bits, NumPy's text, package, number in model files). */"
    return f"{head}\n#define SIM_DATA_TYPES(X){rows}\n"
