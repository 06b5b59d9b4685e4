"""The corpus of faulty programs: each fault is found with its kind and its lines, and its correction has no finding.

All checkers are on. A finding must name the lines that are marked in the program; see ``corpus/__init__.py``.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from corpus import MARK, deadlock, init, leak, memory, race, race_replay, sync
from helpers import object_models
from helpers.programs import Compiler, run, sanitized

import acl

pytestmark = pytest.mark.needs_sim
SOURCE = Path(__file__).parent / "corpus" / "programs.c"
LEAST = 150  # programs, of which so many are in C:
LEAST_IN_C = 40


@pytest.fixture
def checked(configure):
    """Switch all checkers on."""
    configure(check="all", findings=os.devnull)


def lines_of(finding, path):
    """Return the numbers of the lines of a file that the notes of a finding name."""
    places = [note.site.rpartition(" in ")[0].rpartition(":") for note in finding.notes]
    return {int(line) for file, _, line in places if file == path}


def judge(fault, right):
    """Check what was found in a program."""
    found = acl.sim.findings()
    texts = "\n".join(map(str, found))
    if right:
        assert found == [], texts
        return
    rules = {finding.rule for finding in found}
    assert fault.rule in rules and rules <= {fault.rule, *fault.also}, texts
    expected = [finding for finding in found if finding.rule == fault.rule]
    assert {finding.level for finding in expected} == {fault.level}, texts
    path = fault.function.__code__.co_filename
    assert any(fault.marked() <= lines_of(finding, path) for finding in expected), (sorted(fault.marked()), texts)
    assert all(finding.advice.endswith(".") for finding in found)
    if fault.rule != "race" or acl.sim.get_config("schedule") == "eager":  # otherwise either access may be the first
        assert [word for word in fault.words if word not in texts] == [], texts


FAULTY_AND_RIGHT = pytest.mark.parametrize("right", [False, True], ids=["faulty", "right"])


def programs_of(module):
    return pytest.mark.parametrize("name", sorted(module.TABLE))


@FAULTY_AND_RIGHT
@programs_of(memory)
def test_memory(checked, name, right):
    setting = memory.Setting()
    memory.TABLE[name].function(setting, right)
    judge(memory.TABLE[name], right)
    acl.sim.model("corpus")(None)


# The free of the faulty program must come after the task that it races with, or that task fails.
EAGER_ONLY = {"freed_beside_its_use"}
RACES = {**race.TABLE, **race_replay.TABLE}
IN_PARALLEL = sorted(set(RACES) - EAGER_ONLY) if "ACL_EXAMPLES" in os.environ else []


@pytest.mark.parametrize(
    "schedule, name", [("eager", name) for name in sorted(RACES)] + [("parallel", name) for name in IN_PARALLEL]
)
@FAULTY_AND_RIGHT
def test_race(configure, name, right, schedule):
    configure(check="all", findings=os.devnull, schedule=schedule)
    setting = race.Setting()
    RACES[name].function(setting, right)
    setting.finish()
    judge(RACES[name], right)


@FAULTY_AND_RIGHT
@programs_of(init)
def test_init(checked, name, right):
    object_models.register()
    with acl.Device(0), acl.Stream() as stream:
        init.TABLE[name].function(stream, right)
        with contextlib.suppress(acl.errors.TaskError):  # unwritten bytes are a wrong index, for example
            stream.synchronize()
        judge(init.TABLE[name], right)
    object_models.forget()


@FAULTY_AND_RIGHT
@programs_of(deadlock)
def test_deadlock(configure, name, right):
    configure(check="all", findings=os.devnull, on_finding="raise")
    setting = deadlock.Setting()
    with contextlib.nullcontext() if right else pytest.raises(acl.sim.FindingError):  # it ends the wait of the program
        deadlock.TABLE[name].function(setting, right)
    if right:
        setting.finish()
    judge(deadlock.TABLE[name], right)


@FAULTY_AND_RIGHT
@programs_of(sync)
def test_sync(checked, name, right):
    setting = sync.Setting()
    sync.TABLE[name].function(setting, right)
    judge(sync.TABLE[name], right)
    setting.close()


@FAULTY_AND_RIGHT
@programs_of(leak)
def test_leak(checked, name, right):
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    leak.TABLE[name].function(right)
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    judge(leak.TABLE[name], right)


# ---- programs in C


def marked_in_c():
    """Return the numbers of the marked lines, by the name of the function or of the leak."""
    marked, name = {}, ""
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        started = re.match(r"static void (\w+)\(bool right\)$|LEAK\((\w+),", line)
        name = (started[1] or started[2]) if started else name
        if MARK.search(line):
            marked.setdefault(name, set()).add(number)
    return marked


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run the programs in C: (check, rule, also, findings of the right program, and of the faulty one) by name."""
    if shutil.which("addr2line") is None:
        pytest.skip("no addr2line")
    compiler = Compiler(tmp_path_factory.mktemp("corpus"))
    flags = "-g", "-O0", f"-I{SOURCE.parent}"
    program = compiler(SOURCE.read_text(), *flags, libraries=("ascendcl", "nnopbase", "opapi", "acl_sim"))
    done = run([program])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    offset = re.compile(re.escape(Path(program).name) + r"\+(0x[0-9a-f]+)")
    places = sorted(set(offset.findall(done.stdout)))
    before = [hex(int(place, 16) - 1) for place in places]  # a site is where its call returns to
    command = ["addr2line", "-e", program, *before]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    lines = {place: int(re.search(r":(\d+)", text)[1]) for place, text in zip(places, found) if re.search(r":\d", text)}
    results = {}
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            name, which, check, rule, *also = line.split()
            findings = []
            results.setdefault(name, {})[which] = (check, rule, also, findings)
            continue
        finding = json.loads(line)
        sites = [offset.search(note["site"]) for note in finding["notes"]]
        finding["lines"] = {lines[site[1]] for site in sites if site and site[1] in lines}
        findings.append(finding)
    return results


# With a sanitizer, its functions stand between the programs and the library.
needs_lines = pytest.mark.skipif(sanitized(), reason="the sanitizer's functions hide the lines of the program")
NAMES_IN_C = re.findall(r"^    ROW\((\w+),", SOURCE.read_text(), re.M)


@needs_lines
@pytest.mark.parametrize("name", NAMES_IN_C)
def test_in_c(results, name):
    assert results[name]["right"][3] == []
    check, rule, also, findings = results[name]["faulty"]
    assert {finding["rule"] for finding in findings} <= {rule, *also} and findings, findings
    expected = [finding for finding in findings if finding["rule"] == rule]
    assert {finding["check"] for finding in expected} == {check}
    assert any(marked_in_c()[name] <= finding["lines"] for finding in expected), (marked_in_c()[name], expected)


def test_the_corpus_is_large_enough_and_each_program_has_its_lines():
    tables = [module.TABLE for module in (memory, race, race_replay, init, sync, leak, deadlock)]
    assert len(NAMES_IN_C) >= LEAST_IN_C
    assert sum(map(len, tables)) + len(NAMES_IN_C) >= LEAST
    assert [name for table in tables for name, fault in table.items() if not fault.marked()] == []
    assert set(NAMES_IN_C) == set(marked_in_c())
