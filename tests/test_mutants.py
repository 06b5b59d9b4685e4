"""The mutants of the simulator are found by name in its source, wherever the code lies."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SIMULATOR = Path(__file__).resolve().parent.parent / "simulator"


def load(name):
    spec = importlib.util.spec_from_file_location(f"mutants_{name}", SIMULATOR / "mutants" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(simulator, *names):
    command = [sys.executable, str(simulator / "mutants" / "run.py"), "--check", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines() + done.stderr.splitlines()


@pytest.fixture
def copy(tmp_path):
    ignore = shutil.ignore_patterns("tests", "build*", "__pycache__")
    return Path(shutil.copytree(SIMULATOR, tmp_path / "simulator", ignore=ignore))


@pytest.fixture
def find(tmp_path):
    """Return what an expression in a definition of the given files looks like in its file."""
    source = load("source")

    def found(files, name, expression):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        place = source.Sources(tmp_path).find(name, expression)
        return place.path.read_text()[place.begin : place.end]

    return found


def test_every_mutant_is_in_the_source():
    code, lines = check(SIMULATOR)
    assert (code, lines[:-1]) == (0, [])
    assert re.fullmatch(r"(1[3-9]|2\d)\d mutants, 0 not found in the source", lines[-1])


def test_mutants_have_names_of_their_own_and_tests_that_exist(monkeypatch):
    monkeypatch.setitem(sys.modules, "table", load("table"))
    mutants = sys.modules["table"].ENGINE_MUTANTS + load("table_groups").GROUP_MUTANTS
    mutants += load("table_collective").COLLECTIVE_MUTANTS
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert all(mutant.tests and mutant.old.split() != mutant.new.split() for mutant in mutants)
    tests = {test for mutant in mutants for test in mutant.tests}
    assert [test for test in sorted(tests) if not (SIMULATOR / "tests" / f"{test}.c").is_file()] == []


def test_moved_and_reindented_code_keeps_its_mutants(copy):
    for path in list(copy.rglob("*.[ch]")):
        room = copy / "rooms" / path.relative_to(copy).parent
        room.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines()
        (room / path.name).write_text("/* moved */\n\n" + "\n".join(line.strip() for line in lines) + "\n")
        path.unlink()
    assert check(copy)[0] == 0


def test_all_lost_mutants_are_listed_by_name(copy):
    for path in copy.rglob("*.[ch]"):
        text = path.read_text()
        path.write_text(re.sub(r"\bsim_unlock\b", "sim_release", text).replace("backlog >= limit", "limit <= backlog"))
    code, lines = check(copy, "unlock without waking", "no limit of the backlog", "raise lowers the level")
    assert code == 2
    assert lines == [
        "unlock without waking: sim_unlock is not defined",
        "no limit of the backlog: after_submit (engine.c) has this 0 times, not once: backlog >= limit",
        "3 mutants, 2 not found in the source",
    ]


def test_unknown_mutants_are_refused():
    code, lines = check(SIMULATOR, "no such mutant")
    assert code == 2
    assert "no mutant is named no such mutant" in lines[-1]


def test_functions_are_found_across_lines_and_comments(find):
    text = """
static int other(void) { return a == 1; }
int
f(int a, int (*g)(int))
{
    if (a /* the "count" */ ==
        1) // f(a) { a == 1 }
        return g(a) + '"' + ';';
    return (int)sizeof "a == 1 }";
}
int f(int a, int (*g)(int));
"""
    assert find({"core/room/x.c": text}, "f", "a==1") == 'a /* the "count" */ ==\n        1'
    assert find({}, "f", "g(a) + '\"'") == "g(a) + '\"'"


def test_macros_and_initialisers_are_found(find):
    text = """
#define TWICE(x) ((x) + \\
                  (x)) /* not
    (x) - */
#define LIMIT 64 /* tasks */
static const struct op wait_op = {.op_run = run, .op_flags = LIGHT};
static const char *const names[4][2] = {[0] = {"a", "b"}};
"""
    assert find({"x.h": text}, "TWICE", "+(x)") == "+ \\\n                  (x)"
    assert find({}, "LIMIT", "64") == "64"
    assert find({}, "wait_op", ".op_flags=LIGHT") == ".op_flags = LIGHT"
    assert find({}, "names", '"b"') == '"b"'


def test_an_expression_is_there_exactly_once_in_all_definitions_of_a_name(find):
    same = {"a/x.c": "static int f(void) { return one; }", "b/y.c": "static int f(void) { return two + two; }"}
    assert find(same, "f", "one") == "one"
    with pytest.raises(LookupError, match=r"^f \(x.c, y.c\) has this 2 times, not once: two$"):
        find({}, "f", "two")
    with pytest.raises(LookupError, match=r"^f \(x.c, y.c\) has this 0 times, not once: three$"):
        find({}, "f", "three")
    with pytest.raises(LookupError, match="^g is not defined$"):
        find({}, "g", "one")


def test_tests_and_builds_are_not_searched(find):
    text = "int f(void) { return one; }"
    assert find({"core/x.c": text, "tests/x.c": text, "build-tsan/x.c": text}, "f", "one") == "one"
