"""Write the parts of the simulator's libraries that follow from the declared ABI.

``stubs``    a C file that defines every declared function which no object defines; each answers 207000 and says so
``map``      the version script: exactly the declared names are exported
``filters``  the C source behind every vendor library name, a filter over ``libacl_sim.so``
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "acl" / "include"


def _load_parser() -> ModuleType:
    # By path: the package itself may not be built yet.
    spec = importlib.util.spec_from_file_location("acl_abi", ROOT / "acl" / "abi.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["acl_abi"] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from acl import abi
else:
    abi = _load_parser()


def defined_names(objects: Sequence[str]) -> set[str]:
    """External names that the object files define, asked of ``nm`` (or ``$NM``)."""
    if not objects:
        return set()
    command = [os.environ.get("NM", "nm"), "--defined-only", "--extern-only", "--format=posix", *objects]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()
    return {line.split()[0] for line in lines if len(line.split()) > 1}


def _stub(declared: abi.Abi, function: abi.Function) -> str:
    answer = f'sim_missing("{function.name}")'
    if function.ret in abi.STATUS_TYPES:
        body = f"    return {answer};\n"
    else:
        kind = declared.kind(function.ret)
        value = {"void": "", "pointer": "    return NULL;\n"}.get(kind, "    return 0;\n")
        body = f"    (void){answer};\n{value}"
    unused = "".join(f"    (void){param.name};\n" for param in function.params)
    return f"{function.prototype}\n{{\n{unused}{body}}}\n"


def stubs(declared: abi.Abi, objects: Sequence[str]) -> str:
    """C source of what is declared and not defined; the control interface must be complete."""
    defined = defined_names(objects)
    missing = [function for function in declared.functions.values() if function.name not in defined]
    lacking = [function.name for function in missing if function.group == abi.CONTROL_GROUP]
    if lacking:
        raise SystemExit(
            f"generate.py stubs: no object defines {', '.join(lacking)}; every function of abi/sim.h needs a "
            "definition in simulator/api"
        )
    wrappers = sorted(path for folder in ("acl", "acl/ops", "aclnn") for path in (INCLUDE / folder).glob("*.h"))
    parts = [f"#include <{path.relative_to(INCLUDE)}>\n" for path in wrappers]
    parts.append('#include "fail.h"\n\n')
    parts.append("extern const char *const sim_missing_names[];\nextern const size_t sim_missing_count;\n\n")
    parts += [_stub(declared, function) + "\n" for function in missing]
    names = "".join(f'    "{name}",\n' for name in sorted(function.name for function in missing))
    parts.append(f"const char *const sim_missing_names[] = {{\n{names}    NULL,\n}};\n")
    parts.append(f"const size_t sim_missing_count = {len(missing)};\n")
    return "".join(parts)


def export_map(declared: abi.Abi) -> str:
    """Version script without a version: a filter finds only names of the same version in what it filters."""
    names = "".join(f"        {name};\n" for name in sorted(declared.functions))
    return f"{{\n    global:\n{names}    local:\n        *;\n}};\n"


def filters(declared: abi.Abi) -> str:
    """C source of a library that defines the exported names, each to be found in ``libacl_sim.so`` instead.

    Link it once for every vendor name with ``-shared -nostdlib -Wl,-soname,NAME -Wl,--filter,libacl_sim.so
    -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags``. What there is to know:

    * The loader loads libacl_sim.so with the filter and searches it just before the filter, by link and by dlsym, so no
      code of the filter runs; it traps if that ever fails. If libacl_sim.so cannot be found, the filter does not load.
    * The names must be defined, or nothing links; a stub that only needs libacl_sim.so would do for dlsym alone.
    * RUNPATH of the filter, not of the program, finds libacl_sim.so; one that is loaded already under that SONAME is
      taken instead, whatever its folder. So there is one state, unless somebody opens a second copy by its own path.
    * dladdr on an address found through any name says libacl_sim.so.
    * nm and LD_DEBUG=bindings show the name in both files; only the binding tells which one answers.
    """
    lines = [f'void {name}(void) __attribute__((alias("unfiltered")));\n' for name in sorted(declared.functions)]
    return "static void unfiltered(void)\n{\n    __builtin_trap();\n}\n\n" + "".join(lines)


def main(argv: Sequence[str]) -> None:
    """Run one of the three commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("stubs", "map", "filters"))
    parser.add_argument("--objects", nargs="*", default=[], help="compiled simulator/api files (for stubs)")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(argv)
    declared = abi.load(INCLUDE)
    if arguments.command == "stubs":
        text = stubs(declared, arguments.objects)
    else:
        text = {"map": export_map, "filters": filters}[arguments.command](declared)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
