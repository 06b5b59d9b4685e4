"""The shape of the house: one name, one room; calls go one way; small files; exports are the declared names."""

import ast
import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import programs, rooms

import acl
from acl import abi, layout

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = Path(acl.get_include())
PARSER = "libfmk_onnx_parser.so"  # C++ names, in a library of its own (test_model_parser.py)
RECORDER = "libacl_record.so"  # functions of AscendCL alone, in a library that is preloaded (test_record_calls.py)
NET = "libacl_hccl_net.so"  # one function, in a library that the simulator opens (test_collective_hosts.py)
LIBRARIES = sorted(path for path in Path(acl.get_lib()).glob("*.so") if path.name not in (PARSER, RECORDER, NET))
LINES = 600
WIDTH = 120
needs_nm = pytest.mark.skipif(shutil.which("nm") is None, reason="nm is part of binutils, which comes with gcc")


@pytest.fixture(scope="module")
def declared():
    return abi.load(INCLUDE).functions


@pytest.fixture(scope="module")
def groups():
    return {path.stem for path in (INCLUDE / "acl" / "abi").glob("*.h")}


def room_of(path, groups):
    """The group a file belongs to, by its name up to a suffix; None when it names none."""
    parts = path.stem.split("_")
    names = ("_".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in names if name in groups), None)


def sources(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def definitions(path):
    """The public functions that a C file defines, by themselves or by a macro whose first argument is the name."""
    text = path.read_text()
    written = re.findall(r"^[a-zA-Z_][\w *]*?\b([aA]cl\w+)\([^;{]*\)\s*\{", text, re.MULTILINE)
    return written + re.findall(r"^[A-Z_]+\(([aA]cl\w+), .*\)$", text, re.MULTILINE)


def test_every_entry_point_stands_in_the_room_of_its_group(declared, groups):
    for path in sources("simulator/api/*.c"):
        names = definitions(path)
        assert names, f"{path.name} defines no public function"
        for name in names:
            assert room_of(path, groups) == room_of(Path(declared[name].group), groups), f"{name} stands in {path.name}"


def test_hand_written_calls_are_named_after_groups(groups):
    for path in sources("acl/api/*.py"):
        if path.stem not in ("__init__", "closure", "util", "values"):  # helpers, which stand on no C function
            assert room_of(path, groups), f"acl/api/{path.name} is not a group"


def test_objects_are_named_after_groups(groups):
    others = {path.stem for path in (INCLUDE / "acl" / "abi" / "extra").glob("*.h")}
    for path in sources("acl/objects/*.py"):
        # Base classes, arrays with their interchange, and the parts of a graph, which are all of group capture.
        if path.stem not in ("__init__", "array", "condition", "dlpack", "replays", "resource"):
            assert room_of(path, groups | others), f"acl/objects/{path.name} is not a group"


def test_objects_reach_the_library_through_lib_only():
    for path in sources("acl/objects/*.py"):
        below = [name for name in imported(path) if name.startswith(("acl.api", "acl._acl", "acl.abi"))]
        assert not below, f"acl/objects/{path.name} imports {below}"


def test_every_implemented_group_has_tests(declared, groups):
    lib, ffi = acl._lib.lib, acl._lib.ffi
    missing = {ffi.string(lib.aclsimMissingName(i)).decode() for i in range(lib.aclsimMissingCount())}
    tested = {room_of(path, groups) for path in sources("tests/test_*.py")} | {
        room_of(Path(path.stem.replace("test_", "")), groups) for path in sources("tests/test_*.py")
    }
    for name, function in declared.items():
        if name not in missing and function.group != "sim":
            assert function.group in tested, f"{name} is implemented, but there is no tests/test_{function.group}*.py"


@pytest.fixture(scope="module")
def link():
    """Give what the objects define and need, from a build whose inline functions are still calls."""
    if programs.sanitized() or not (INCLUDE.parent.parent / "simulator" / "Makefile").exists():
        pytest.skip("the objects are those of a plain build in the source tree")
    return rooms.link(layout.build_for_gdb().parent, ROOT / "simulator")


@pytest.fixture(scope="module")
def found(link):
    return rooms.references(link)


def test_every_source_stands_in_a_room():
    folders = ("core/**", "ops", "api", "extra", "record")
    for path in sources(*(f"simulator/{folder}/*.c" for folder in folders)):
        unit = str(path.relative_to(ROOT / "simulator").with_suffix(""))
        assert unit == rooms.TABLES or rooms.room_of(unit) in rooms.ROOMS, f"{unit} stands in no room"


@needs_nm
@pytest.mark.needs_sim
def test_no_room_refers_to_a_room_above(found):
    wrong = rooms.upward(found)
    assert not wrong, "\n".join(["rooms that a room refers to:", rooms.matrix(found), *map(str, wrong)])


@needs_nm
@pytest.mark.needs_sim
@pytest.mark.parametrize("room", rooms.ROOMS)
def test_few_units_of_a_room_refer_to_each_other_in_a_circle(found, room):
    for group in rooms.cycles(found, room):
        inside = [str(one) for one in found if one.user in group and one.owner in group]
        assert len(group) <= rooms.CYCLE, "\n".join([f"{len(group)} units, at most {rooms.CYCLE}:", *inside])


@needs_nm
@pytest.mark.needs_sim
def test_external_names_of_the_core_begin_with_those_of_their_units(link):
    wrong = rooms.misnamed(link)
    assert not wrong, "\n".join(wrong)


def test_no_file_includes_a_header_of_a_room_above():
    wrong = rooms.includes_upward(ROOT / "simulator")
    assert not wrong, "\n".join(wrong)


def test_products_of_sizes_are_checked_by_one_helper():
    """sim_size_multiply and sim_length_multiply, so that no place forgets to look at the overflow."""
    places = "simulator/core/**/*.[ch]", "simulator/ops/**/*.[ch]", "simulator/api/*.[ch]", "simulator/extra/*.[ch]"
    own = [path.relative_to(ROOT).as_posix() for path in sources(*places) if "mul_overflow" in path.read_text()]
    assert own == ["simulator/core/base/bytes.h"]


@pytest.mark.parametrize("path", sources("tests/fuzz/*.c"), ids=lambda path: path.stem)
def test_fuzzers_compile(path):
    """Only .ci/full runs them."""
    command = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    done = programs.run([*command, f"-I{INCLUDE}", f"-I{ROOT / 'simulator' / 'core'}", path])
    assert done.returncode == 0, done.stderr


def test_entry_points_keep_no_state():
    for path in sources("simulator/api/*.c"):
        held = re.findall(r"^static (?!const\b|inline\b)[^(\n]*[=;]$", path.read_text(), re.MULTILINE)
        assert not held, f"api/{path.name} holds {held}"


def imported(path):
    """The modules that a file imports, and the names it takes from them, with their modules."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_only_lib_imports_the_compiled_module():
    importers = {path.name for path in sources("acl/**/*.py") if "acl._acl" in imported(path)}
    assert importers == {"_lib.py", "__init__.py"}  # the latter for type checkers only
    text = (ROOT / "acl" / "__init__.py").read_text()
    assert re.search(r"^if TYPE_CHECKING:\n(    .*\n)*    from acl\._acl import \*", text, re.MULTILINE)


def test_no_file_is_long():
    for path in sources("*.py", "acl/**/*.py", "acl/**/*.h", "simulator/**/*.[ch]", "simulator/*.py", "tests/**/*.py",
                        "tests/**/*.c", "examples/*"):  # fmt: skip
        if path.is_file() and "build" not in path.parts:
            count = len(path.read_text().splitlines())
            assert count <= LINES, f"{path.relative_to(ROOT)} has {count} lines"


def test_no_line_of_c_is_wide():
    for path in sources("acl/**/*.h", *(f"{room}/**/*.[ch]" for room in ("simulator", "tests", "examples", "docs"))):
        if not {"build", "aclnnop"} & set(path.parts):  # which the build makes
            for number, line in enumerate(path.read_text().splitlines(), 1):
                assert len(line) <= WIDTH, f"{path.relative_to(ROOT)}:{number} has {len(line)} characters"


@needs_nm
@pytest.mark.needs_sim
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name)
def test_exported_symbols_are_the_declared_names(library, declared):
    assert exported(library) == set(declared) | operators() | others()


@needs_nm
@pytest.mark.needs_sim
def test_the_library_that_records_has_a_variant_of_each_function(declared):
    fixed = {name for name, function in declared.items() if function.group != "sim" and not function.variadic}
    assert exported(Path(acl.get_lib(), RECORDER)) == fixed | operators() | {"acl_record_wrap"}


@needs_nm
@pytest.mark.needs_sim
def test_the_library_that_connects_hosts_has_one_symbol():
    path = Path(acl.get_lib(), NET)
    assert not path.exists() or exported(path) == {"acl_hccl_net"}


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listing.splitlines()}


@functools.cache
def others():
    return set(abi.load_extra(INCLUDE).functions)


@functools.cache
def operators():
    return {symbol for row in abi.rows(ROOT / "simulator" / "ops" / "rows").values() for symbol in row.symbols}


@pytest.mark.needs_sim
def test_what_counts_as_missing_is_not_defined(declared):
    lib, ffi = acl._lib.lib, acl._lib.ffi
    missing = {ffi.string(lib.aclsimMissingName(i)).decode() for i in range(lib.aclsimMissingCount())}
    defined = {name for path in sources("simulator/api/*.c") for name in definitions(path)}
    assert missing == set(declared) - defined
