"""Generate the parts of the simulator's libraries that follow from the declared ABI.

``since``    a header for the files of api: it renames the symbols of functions that some CANN versions lack
``stubs``    a C file with stubs for these functions, which check ACL_SIM_CANN before the call, and for every declared
             function that no object defines, which return 207000 with a message
``calls``    a C file with a variant of each public function that records its calls in the trace
``map``      the version script, which exports exactly the declared names
``filters``  the C source of the filter library over ``libacl_sim.so``, which is linked for every vendor library name
``headers``  the operators' headers, ``aclnnop/aclnn_<op>.h``, in a folder
``extra``    a C file with stubs for names of other libraries (``acl/abi/extra``) that no object defines; they refuse
             the call
``errors``   the entries of the table of codes and names in core/base/fail.c, sorted by code
``types``    the table of data types, a macro
``rows``     the table of operators and their entry points. An object may define the kernel of an operator as
             ``sim_kernel_<op>``, and a plain function beside the operators as ``sim_helper_<function>``
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "acl" / "include"
ROWS = ROOT / "simulator" / "ops" / "rows"


def _load(name: str) -> ModuleType:
    # Loaded by path, because the package itself may not be built yet.
    spec = importlib.util.spec_from_file_location(f"acl_{name}", ROOT / "acl" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"acl_{name}"] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from acl import abi, facts
else:
    abi, facts = _load("abi"), _load("facts")


# Files of acl/abi/extra that a public header includes.
PUBLIC = {"dvpp", "hccl", "hccl_res", "hccn_rping", "hcomm", "mstx", "securec"}
SINCE = "sim_since_"  # prefix of the symbol under which api defines a function that some versions lack


def defined_names(objects: Sequence[str]) -> set[str]:
    """External names that the object files define, as listed by ``nm`` (or ``$NM``)."""
    if not objects:
        return set()
    command = [os.environ.get("NM", "nm"), "--defined-only", "--extern-only", "--format=posix", *objects]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()
    return {line.split()[0] for line in lines if len(line.split()) > 1}


def wrappers() -> str:
    """Return the lines that include the public headers, as a program does."""
    folders = (".", "acl", "acl/ops", "aclnn", "hccl", "hcomm", "mstx")
    found = sorted(path for folder in folders for path in (INCLUDE / folder).glob("*.h"))
    return "".join(f"#include <{path.relative_to(INCLUDE)}>\n" for path in found)


def _newer(declared: abi.Abi) -> list[abi.Function]:
    """Functions that some versions lack."""
    return [function for function in declared.functions.values() if function.since > abi.OLDEST]


def since(declared: abi.Abi) -> str:
    """C header that renames the symbols of newer functions; the public symbol is a stub that checks the version."""
    lines = [f'extern __typeof__({f.name}) {f.name} __asm__("{SINCE}{f.name}");\n' for f in _newer(declared)]
    return wrappers() + "".join(lines)


def _refusal(declared: abi.Abi, function: abi.Function, answer: str) -> str:
    if function.ret in abi.STATUS_TYPES:
        return f"return {answer};"
    value = {"void": "return;", "pointer": "return NULL;"}.get(declared.kind(function.ret), "return 0;")
    return f"{{ (void){answer}; {value} }}"


def _is_older(since: tuple[int, int]) -> str:
    """C condition: the simulated version is older than ``since``."""
    # What is declared for a later version than the newest simulated one is available in the newest one.
    major, minor = min(since, abi.NEWEST)
    return f"unlikely(sim_config()->cf_cann < {100 * major + minor})"


def _stub(declared: abi.Abi, function: abi.Function, is_defined: bool) -> str:
    lines = []
    if function.since > abi.OLDEST:
        answer = _refusal(declared, function, f'sim_missing_newer("{function.name}", "{function.needs}")')
        lines.append(f"if ({_is_older(function.since)})\n        {answer}")
    names = [param.name for param in function.params]
    if is_defined:
        lines.insert(0, f"extern __typeof__({function.name}) {SINCE}{function.name};")
        lines.append(f"{'' if function.ret == 'void' else 'return '}{SINCE}{function.name}({', '.join(names)});")
    else:
        lines = [f"(void){name};" for name in names] + lines
        lines.append(_refusal(declared, function, f'sim_missing("{function.name}")'))
    body = "".join(f"    {line}\n" for line in lines)
    return f"{function.prototype}\n{{\n{body}}}\n"


def stubs(declared: abi.Abi, objects: Sequence[str]) -> str:
    """C source of the functions that are newer than the oldest version, or that no object defines.

    Raises
    ------
    SystemExit
        No object defines a function of the control interface, which must be complete.
    """
    symbols = defined_names(objects)
    newer = {function.name for function in _newer(declared)}
    defined = {name for name in declared.functions if (f"{SINCE}{name}" if name in newer else name) in symbols}
    missing = [function for function in declared.functions.values() if function.name not in defined]
    lacking = [function.name for function in missing if function.group == abi.CONTROL_GROUP]
    if lacking:
        raise SystemExit(
            f"generate.py stubs: no object defines {', '.join(lacking)}; every function of abi/sim.h needs a "
            "definition in simulator/api"
        )
    parts = [wrappers(), '#include "base/config.h"\n#include "base/missing.h"\n\n']
    parts.append("extern const char *const sim_missing_names[];\nextern const size_t sim_missing_count;\n\n")
    parts += [
        _stub(declared, function, function.name in defined) + "\n"
        for function in declared.functions.values()
        if function.name in newer or function.name not in defined
    ]
    names = "".join(f'    "{name}",\n' for name in sorted(function.name for function in missing))
    parts.append(f"const char *const sim_missing_names[] = {{\n{names}    NULL,\n}};\n")
    parts.append(f"const size_t sim_missing_count = {len(missing)};\n")
    return "".join(parts)


# How the trace shows a value of a type, by its kind; other kinds are integers.
FORMS = {"pointer": "POINTER", "float": "NUMBER", "double": "NUMBER", "struct": "NOTHING", "void": "NOTHING"}


def _form(declared: abi.Abi, ctype: str) -> str:
    """How the trace shows a value of a type, the end of a name of ``enum sim_trace_form``."""
    if re.sub(r"\s", "", ctype) == "constchar*":
        return "TEXT"
    kind = declared.kind(ctype)
    return FORMS.get(kind) or ("UNSIGNED" if kind.startswith(("uint", "unsigned", "size_t", "bool")) else "SIGNED")


def _plain_call(function: abi.Function, result: str) -> list[str]:
    """Return the lines that call a function, unless a fault lets the call fail with a code or with NULL."""
    call = f"{function.name}({', '.join(param.name for param in function.params)})"
    if function.ret == "void":
        return [f"    {call};"]
    if function.ret not in abi.STATUS_TYPES and result != "POINTER":
        return [f"    {abi.declare(function.ret, 'result')} = {call};"]
    failed = "NULL" if result == "POINTER" else f"({function.ret})failed"
    return [
        "    int64_t failed;",
        f"    {abi.declare(function.ret, 'result')} =",
        f"        sim_fault_of_call(&function_{function.name}, given, &failed) ? {failed} : {call};",
    ]


def _call(declared: abi.Abi, function: abi.Function) -> str:
    """C source of the variant of a function that records its calls, and that faults can make fail."""
    outputs = {out.name for shape in function.shapes for out in shape.outputs if not (out.given or out.form)}
    entries, values = [], []
    for param in function.params:
        form, size = _form(declared, param.type), "0"
        behind = re.sub(r"\*\s*$", "", param.type).strip()
        if param.name in outputs and form == "POINTER" and declared.kind(behind) not in ("void", "struct"):
            form, size = _form(declared, behind), f"sizeof({behind})"
            form = "POINTER" if form == "TEXT" else form
            values.append(f"(uint64_t)(uintptr_t){param.name}")
        elif form == "NUMBER":
            values.append(f"sim_trace_bits({param.name})")
        elif form == "NOTHING":
            values.append("0")
        else:
            values.append(f"(uint64_t){'(uintptr_t)' if form in ('POINTER', 'TEXT') else ''}{param.name}")
        entries.append(f'{{"{param.name}", SIM_TRACE_{form}, {size}}}')
    result = _form(declared, function.ret)
    integer = {"NOTHING": "0", "NUMBER": "(int64_t)sim_trace_bits(result)", "POINTER": "(int64_t)(uintptr_t)result",
               "TEXT": "(int64_t)(uintptr_t)result"}.get(result, "(int64_t)result")  # fmt: skip
    is_void = function.ret == "void"
    prototype = f"static {function.prototype.replace(function.name + '(', f'traced_{function.name}(', 1)}"
    code = "true" if function.ret in abi.STATUS_TYPES else "false"
    table = f"parameters_{function.name}" if entries else "NULL"
    lines = [
        f"static const struct sim_trace_parameter {table}[] = {{{', '.join(entries)}}};" if entries else "",
        f"{prototype};",
        f"static const struct sim_trace_function function_{function.name} = {{",
        f'    "{function.name}", (void (*)(void))traced_{function.name}, (void (*)(void)){function.name}, {table},',
        f"    {len(entries)}, SIM_TRACE_{result}, {code}}};",
        f"{prototype}\n{{",
        "    struct sim_trace_call call;",
        f"    const uint64_t given[{len(values) or 1}] = {{{', '.join(values) or 0}}};",
        "    sim_trace_begin(&call, SIM_SITE());",
        *_plain_call(function, result),
        f"    sim_trace_end(&call, &function_{function.name}, {integer}, given);",
        "}" if is_void else "    return result;\n}",
    ]
    return "\n".join(line for line in lines if line) + "\n\n"


def calls(declared: abi.Abi) -> str:
    """C source of the variants of all functions that record their calls, and of their table, sorted by name."""
    traced = [f for f in declared.functions.values() if f.group != abi.CONTROL_GROUP and not f.variadic]
    parts = [wrappers(), '#include "observe/fault.h"\n\n', *(_call(declared, function) for function in traced)]
    names = "".join(f"    &function_{name},\n" for name in sorted(function.name for function in traced))
    parts.append(f"static const struct sim_trace_function *const functions[] = {{\n{names}}};\n")
    parts.append("extern const struct sim_trace_functions sim_calls;\n")
    parts.append("const struct sim_trace_functions sim_calls = {functions, sizeof functions / sizeof *functions};\n")
    return "".join(parts)


# Return value of a function of another library that is not simulated, by its type: 207000 for codes of the runtime.
# Only functions of libhcomm return a plain int32_t; it is a code of HcclResult, as HcommResult is.
REFUSALS = {"aclError": "refused", "rtError_t": "refused", "HcclResult": "HCCL_E_NOT_SUPPORT",
            "HcommResult": "HCCL_E_NOT_SUPPORT", "int32_t": "HCCL_E_NOT_SUPPORT", "HccnResult": "HCCN_E_FAIL",
            "msprofStatus": "-1", "drvError_t": "0xfffe"}  # fmt: skip


def extra(objects: Sequence[str]) -> str:
    """C source of the names of other libraries that no object defines."""
    declared = abi.load_extra(INCLUDE)
    symbols = defined_names(objects)
    names = sorted({function.group for function in declared.functions.values()})
    parts = ["#include <stdarg.h>\n", wrappers(), '#include "base/missing.h"\n']
    parts += [f"#include <acl/abi/extra/{name}.h>\n" for name in names if name not in PUBLIC]
    for function in declared.functions.values():
        if function.name in symbols:
            continue
        lines = [f"(void){param.name};" for param in function.params]
        lines.append(f'aclError refused = sim_missing_linked("{function.name}");\n    (void)refused;')
        empty = {"void": "", "pointer": "return NULL;"}.get(declared.kind(function.ret), "return 0;")
        value = REFUSALS.get(function.ret)
        lines.append(f"return {value};" if value else empty)
        body = "".join(f"    {line}\n" for line in lines)
        parts.append(f"\n{function.prototype}\n{{\n{body}}}\n")
    return "".join(parts)


def exported(declared: abi.Abi) -> list[str]:
    """Every name that the library exports: functions of AscendCL, of the operators and of other libraries."""
    operators = [symbol for row in abi.rows(ROWS).values() for symbol in row.symbols]
    return sorted([*declared.functions, *operators, *abi.load_extra(INCLUDE).functions])


def export_map(declared: abi.Abi) -> str:
    """Version script without a version, because a filter library finds a name in its target only with the same one."""
    names = "".join(f"        {name};\n" for name in exported(declared))
    return f"{{\n    global:\n{names}    local:\n        *;\n}};\n"


def filters(declared: abi.Abi) -> str:
    """C source of a filter library: it defines the exported names, and the loader finds them in ``libacl_sim.so``.

    Link it once for every vendor name with ``-shared -nostdlib -Wl,-soname,NAME -Wl,--filter,libacl_sim.so
    -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags``. Properties of the result:

    * The loader loads libacl_sim.so with the filter, and searches it just before the filter for linked names and for
      dlsym. No code of the filter runs; it traps if that ever fails. Without libacl_sim.so the filter does not load.
    * The filter must define the names, or programs do not link. A stub that only needs libacl_sim.so would be enough
      for dlsym.
    * The loader finds libacl_sim.so by the RUNPATH of the filter, not of the program. A library that is already loaded
      under that SONAME is used instead, whatever its folder. So a process has one state of the simulator, unless it
      opens a second copy by its own path.
    * dladdr returns libacl_sim.so for an address that was found through any of the libraries.
    * nm and LD_DEBUG=bindings show the name in both files; only the binding tells which file the name resolves to.
    """
    lines = [f'void {name}(void) __attribute__((alias("unfiltered")));\n' for name in exported(declared)]
    return "static void unfiltered(void)\n{\n    __builtin_trap();\n}\n\n" + "".join(lines)


GUARD = """\
/* {title}. Made from simulator/ops/rows. */
#ifndef {guard}
#define {guard}

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}

#ifdef __cplusplus
}}
#endif

#endif
"""


def headers() -> dict[str, str]:
    """Text of each operator header, by its path below the include folder."""
    by_header: dict[str, list[abi.Row]] = {}
    files = {}
    for row in abi.rows(ROWS).values():
        first, *others = row.headers
        by_header.setdefault(first, []).append(row)
        files.update({other: f'/* The same as {first}. */\n#include "{first}"\n' for other in others})
    for name, rows in by_header.items():
        declarations = [
            f"ACL_API({row.since[0]}, {row.since[1]}) {prototype};" for row in rows for prototype in row.prototypes
        ]
        files[name] = GUARD.format(
            title=", ".join(row.name for row in rows),
            guard="ACL_INCLUDE_" + re.sub(r"\W", "_", name).upper(),
            declarations="\n\n".join(declarations),
        )
    return files


# Kind of argument for each C type of a parameter of an operator.
POINTERS = {
    "aclTensor": "TENSOR", "aclTensorList": "TENSOR_LIST", "aclScalar": "SCALAR", "aclScalarList": "SCALAR_LIST",
    "aclIntArray": "INTEGERS", "aclFloatArray": "FLOATS", "aclBoolArray": "BOOLEANS", "char": "TEXT",
}  # fmt: skip


def _parameter(param: abi.RowParam) -> tuple[str, str]:
    """Entry of the table of parameters, and the value that the entry point passes for it."""
    base = param.type.replace("const", "").replace("*", "").strip()
    if "*" in param.type:
        kind, value = POINTERS[base], f"{{.va_pointer = {param.name}}}"
    elif base in ("float", "double"):
        kind, value = "NUMBER", f"{{.va_number = {param.name}}}"
    else:
        kind, value = "INTEGER", f"{{.va_integer = (int64_t){param.name}}}"
    bits = {"": "0", "in": "ACLSIM_IN", "out": "ACLSIM_OUT", "inout": "ACLSIM_IN | ACLSIM_OUT"}[param.direction]
    optional = "true" if param.optional else "false"
    return f'{{"{param.name}", ACLSIM_{kind}, {bits}, {optional}}}', value


# Families of operators whose kernels run on the cube cores, which compute matrix products.
CUBE_FAMILIES = {"matmul", "conv", "attention", "sparse", "linalg"}


def _check_version(row: abi.Row, symbol: str) -> str:
    """C statement with which an entry point of a newer operator checks ACL_SIM_CANN; empty for the others."""
    if row.since == abi.OLDEST:
        return ""
    return f'    if ({_is_older(row.since)})\n        return sim_missing_newer("{symbol}", "{row.needs}");\n'


def _first_phase(row: abi.Row, prototype: str, check: str) -> str:
    """C function that plans a call of an operator."""
    values = "".join(f"        {_parameter(param)[1]},\n" for param in row.params)
    call = f"sim_row_plan(&row_{row.name}, (const union sim_value[]){{\n{values}    }}, workspaceSize, executor)"
    return f"{prototype}\n{{\n{check}    SIM_ENTER();\n    return {call};\n}}\n"


def _operator(row: abi.Row, kernels: Set[str]) -> str:
    plan, run = row.prototypes
    kernel = f"sim_kernel_{row.name}"
    builtin = f"&{kernel}" if kernel in kernels else "NULL"
    table = ", ".join(_parameter(param)[0] for param in row.params)
    kind = "SIM_TASK_CUBE" if row.family in CUBE_FAMILIES else "SIM_TASK_VECTOR"
    return "".join(
        [
            f"extern const struct sim_kernel {kernel};\n" if kernel in kernels else "",
            f"static const struct sim_parameter params_{row.name}[] = {{{table}}};\n",
            f"SIM_ROW_FITS(params_{row.name});\n",
            f'static struct sim_row row_{row.name} = SIM_ROW("{row.name}", {kind}, params_{row.name}, {builtin});\n',
            _first_phase(row, plan, _check_version(row, row.symbols[0])),
            f"{run}\n{{\n{_check_version(row, row.symbols[1])}    SIM_ENTER();\n    return sim_executor_launch(",
            f"&row_{row.name}, workspace, workspaceSize, executor, stream, SIM_SITE());\n}}\n\n",
        ]
    )


def _helper(row: abi.Row, symbols: Set[str], found: dict[str, abi.Row]) -> str:
    symbol = f"sim_helper_{row.name}"
    check = _check_version(row, row.name)
    if row.largest_of:  # a workspace here does not depend on lengths: the first phase asks for the greatest one
        return _first_phase(found[row.largest_of], row.prototypes[0], check) + "\n"
    if symbol in symbols:
        names = ", ".join(param.name for param in row.params)
        prototype = row.prototypes[0]
        declared = prototype.replace(row.name, symbol)
        return f"{declared};\n{prototype}\n{{\n{check}    SIM_ENTER();\n    return {symbol}({names});\n}}\n\n"
    unused = "".join(f"    (void){param.name};\n" for param in row.params)
    return f'{row.prototypes[0]}\n{{\n{unused}{check}    return sim_missing("{row.name}");\n}}\n\n'


def table(objects: Sequence[str]) -> str:
    """C source of the table of operators, sorted by name, and of their entry points."""
    found = abi.rows(ROWS)
    kernels = {name for name in defined_names(objects) if name.startswith(("sim_kernel_", "sim_helper_"))}
    unknown = sorted(kernels - {f"sim_{'helper' if row.helper else 'kernel'}_{name}" for name, row in found.items()})
    if unknown:
        raise SystemExit(f"generate.py rows: {', '.join(unknown)}: simulator/ops/rows has no operator of that name")
    names = sorted(name for name, row in found.items() if not row.helper)
    includes = sorted({row.headers[0] for row in found.values()})
    parts = ['#include "base/config.h"\n#include "base/missing.h"\n#include "operator/row.h"\n']
    parts += [*(f"#include <{name}>\n" for name in includes), "\n"]
    parts += [_helper(row, kernels, found) if row.helper else _operator(row, kernels) for row in found.values()]
    parts.append(f"static struct sim_row *const rows[] = {{{', '.join(f'&row_{name}' for name in names)}}};\n")
    parts.append("const struct sim_row_table sim_rows = {rows, sizeof rows / sizeof *rows};\n")
    return "".join(parts)


def main(argv: Sequence[str]) -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "command", choices=("since", "stubs", "calls", "map", "filters", "headers", "rows", "extra", "errors", "types")
    )
    parser.add_argument("--objects", nargs="*", default=[], help="compiled files of api (stubs), ops (rows) or extra")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(argv)
    declared = abi.load(INCLUDE)
    if arguments.command == "headers":
        texts = {arguments.out / name: text for name, text in headers().items()}
    else:
        make = {
            "since": lambda: since(declared),
            "stubs": lambda: stubs(declared, arguments.objects),
            "calls": lambda: calls(declared),
            "errors": lambda: facts.status_table(declared, abi.load_extra(INCLUDE)),
            "types": lambda: facts.data_type_table(declared, facts.numbers(facts.model_file(ROOT))),
            "map": lambda: export_map(declared),
            "filters": lambda: filters(declared),
            "rows": lambda: table(arguments.objects),
            "extra": lambda: extra(arguments.objects),
        }[arguments.command]
        texts = {arguments.out: make()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
