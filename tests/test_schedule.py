"""Schedules that hold tasks back, ``ascendcl explore``, and the marker ``acl_schedule``.

With CI_FULL set, each program of ``schedule/order_bugs.c`` is explored, what is found is replayed 20 times, and seeds
are repeated 100 times.
"""

import os
import re
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest
from helpers import programs

import acl
import ascendcl_pytest
from acl import __main__ as command
from acl import explore

pytestmark = pytest.mark.needs_sim

FULL = bool(os.environ.get("CI_FULL"))
SOURCE = Path(__file__).parent / "schedule" / "order_bugs.c"
BUGS = re.findall(r"PROGRAM\((\w+)\)", SOURCE.read_text().split("programs[] = {")[1])
REPLAYS = 20 if FULL else 1


@pytest.fixture(scope="module")
def bugs(tmp_path_factory):
    """The program with one mistake per argument."""
    return programs.Compiler(tmp_path_factory.mktemp("bugs"))(SOURCE.read_text(), "-g")


@pytest.fixture
def exploring(tmp_path, monkeypatch, capsys):
    """Give ``exploring(*arguments)``, which runs the command in an empty folder and returns its code and its output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACL_SIM_CHECK", raising=False)
    acl.sim.reset()

    def run(*arguments):
        code = command.main(["explore", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out + said.err

    yield run
    acl.sim.reset()


def output(program, name, schedule, **settings):
    """What a program prints under a schedule."""
    changes = {f"ACL_SIM_{key.upper()}": value for key, value in settings.items()}
    done = programs.run([program, name], env=programs.environment({"ACL_SIM_SCHEDULE": schedule, **changes}))
    return done.stdout


# ---- exploring


def test_there_are_ten_mistakes_and_one_right_program():
    assert len(BUGS) == 11 and BUGS[-1] == "right"


@pytest.mark.parametrize("name", BUGS[:-1] if FULL else ["missing_wait", "lost_update", "captured_branches"])
def test_a_mistake_is_found_and_replayed(exploring, bugs, name):
    code, said = exploring("--", bugs, name)
    assert code == 1
    assert re.match(r"Schedule (lazy|random:\d+), number \d+ of 200, differs from eager:\n  stdout, line 1: ", said)
    lines = Path("schedule.txt").read_text().splitlines()
    assert lines[0] == "# acl schedule 1: replay" and len(lines) == 2, lines  # one choice is enough for each of them
    assert f"\n  {lines[1]}\n" in said
    replay = said.splitlines()[-1].split(maxsplit=1)
    assert replay[0] == "ACL_SIM_SCHEDULE=replay:schedule.txt" and replay[1].endswith(f"exec -- {bugs} {name}")
    right = output(bugs, name, "eager")
    argv = [sys.executable, "-m", "acl", *shlex.split(replay[1])[1:]] if not FULL else shlex.split(replay[1])
    env = programs.environment({"ACL_SIM_SCHEDULE": "replay:schedule.txt"})
    wrong = {programs.run(argv, env=env).stdout for _ in range(REPLAYS)}
    assert len(wrong) == 1 and wrong != {right}


def test_a_right_program_does_not_differ(exploring, bugs):
    runs = 200 if FULL else 12
    code, said = exploring("--runs", runs, "--reference", "eager", "--", bugs, "right")
    assert (code, said) == (0, f"No difference between eager and {runs} other schedules.\n")
    assert list(Path().iterdir()) == []


def test_failed_calls_are_compared(exploring, bugs):
    code, said = exploring("--output", "found.txt", "--", bugs, "early_free")
    assert code == 1 and "  stdout, line 1: '507053', expected '0'\n" in said
    assert "  failed call: aclrtSynchronizeStream 507053, only here\n" in said
    assert "hold 1#1\n      stream 1 stops before its task 1 until the host waits for it\n" in said
    assert Path("found.txt").read_text() == "# acl schedule 1: replay\nhold 1#1\n"


def test_findings_of_checkers_are_compared(exploring, bugs):
    """The race is found under the reference already; another finding appears where the block is freed early."""
    code, said = exploring("--check", "race", "--runs", "2", "--", bugs, "missing_synchronize")
    assert code == 1 and re.match(r"Found under eager already: race, \w+\+0x\w+ and ", said), said
    code, said = exploring("--check", "memory", "--runs", "1", "--", bugs, "early_free")
    assert code == 1 and re.search(r"\n  finding: [\w-]+, .*\w+\+0x\w+.*, only here\n", said), said


def test_what_cannot_be_explored(exploring, bugs, tmp_path):
    assert exploring("--") == (2, "acl: explore: it needs a program, behind --: ./app arguments\n")
    assert exploring("--", "no-such-program") == (2, "acl: explore: no program 'no-such-program'\n")
    code, said = exploring("--check", "races", "--", bugs, "right")
    assert code == 2 and '"memory", "race"' in said
    code, said = exploring("--", "true")
    assert (code, said) == (2, "acl: explore: the program has opened no device, so that it has no schedule\n")
    counter = tmp_path / "count.sh"
    counter.write_text(f"echo x >>count; wc -l <count\n{shlex.quote(bugs)} right\n")
    code, said = exploring("--", "sh", counter)
    assert code == 2 and "two runs under eager differ already (stdout, line 1: '2', expected '1')" in said
    with pytest.raises(SystemExit):
        exploring("--runs", "0", "--", bugs, "right")


def test_a_program_that_does_not_end_is_killed(configure, tmp_path):
    explorer = explore.Explorer("/bin/sh", ["sh", "-c", "echo begun; sleep 1000 & wait"], {}, 0.2, str(tmp_path))
    run = explorer.run("eager").outcome
    assert run.code is None
    told = explore.differences(run, outcome(run.stdout))
    assert told == {"code": ["exit code: it did not end, expected 0"]}


def outcome(stdout="", code=0, failed=(), findings=()):
    return explore.Outcome(stdout, code, Counter(failed), Counter(findings))


@pytest.mark.parametrize(
    "ours, theirs, lines",
    [
        (outcome(), outcome(), []),
        (outcome("a\nc\n"), outcome("a\nb\n"), ["stdout, line 2: 'c', expected 'b'"]),
        (outcome("a\n"), outcome("a\nb\n"), ["stdout, line 2: no such line, expected 'b'"]),
        (outcome("a"), outcome("a\n"), ["stdout, line 2: no such line, expected no such line"]),
        (outcome(code=-11), outcome(), ["exit code: -11, expected 0"]),
        (outcome(failed=["f 1", "g 2"]), outcome(failed=["g 2"]), ["failed call: f 1, only here"]),
        (outcome(), outcome(failed=["g 2"]), ["failed call: g 2, missing here"]),
        (outcome(findings=["race"] * 2), outcome(findings=["race"]), ["finding: race, only here"]),
    ],
)  # fmt: skip
def test_differences_are_told(ours, theirs, lines):
    assert [line for kind in explore.differences(ours, theirs).values() for line in kind] == lines


def test_addresses_have_names():
    text = "0x7f00aa at 0x7f00bb and 0x7f00aa, 0x10"
    assert explore.with_names(text) == "address 1 at address 2 and address 1, 0x10"


def test_a_list_is_made_as_short_as_possible():
    needed, tried = {"hold 3#7 until 1#9", "pick 4 0"}, []

    def differs(lines):
        tried.append(lines)
        return {line.split(" until ")[0] for line in needed} <= {line.split(" until ")[0] for line in lines}

    lines = [f"hold {stream}#{task} until 1#9" for stream in range(1, 5) for task in range(1, 20)]
    lines += ["pick 4 0", "pick 5 1"]
    assert explore.shrink(lines, differs) == ["hold 3#7", "pick 4 0"] and len(tried) < 80
    assert explore.shrink(lines, lambda lines: True) == []
    log = ["hold 1#2", "run 1#1 aclrtMemsetAsync", "pick 3 0", "hold 1#2 until 2#4", "hold 3#1", "hash 0"]
    assert explore.choices(log) == ["hold 1#2 until 2#4", "pick 3 0", "hold 3#1"]
    told = list(explore.explain(["hold 1#1 until 2#4", "pick 3 0"], log))
    assert told[1].split(" until ") == [
        "      stream 1 stops before its task 1 (aclrtMemsetAsync)",
        "task 4 of stream 2 is queued or the host waits for it",
    ]
    assert "of several ready segments of a replay" in told[3]


# ---- the schedules


def test_a_seed_has_one_hash(bugs, tmp_path):
    hashes = set()
    for number in range(100 if FULL else 5):
        log = tmp_path / f"log{number}"
        output(bugs, "two_buffers", "random:13", schedule_log=log)
        lines = log.read_text().splitlines()
        assert lines[0] == "# acl schedule 1: random:13" and re.fullmatch(r"hash [0-9a-f]{16}", lines[-1])
        hashes.add(lines[-1])
    assert len(hashes) == 1


def test_seeds_have_different_orders_in_one_process(configure, tmp_path):
    orders = []
    for seed in (*range(12), *range(12)):
        log = tmp_path / "log"
        configure(schedule=f"random:{seed}", schedule_log=log)
        with acl.Device(0), acl.Stream() as one, acl.Stream() as two, acl.Buffer(8) as buffer:
            for value in range(3):
                buffer.fill(value, stream=one)
                buffer.fill(value, stream=two)
            one.synchronize()
            two.synchronize()
        acl.sim.reset()
        orders.append([line for line in log.read_text().splitlines() if line.startswith(("run", "hash"))])
    assert orders[:12] == orders[12:] and len({tuple(order) for order in orders}) > 3
    assert all(len(order) >= 7 for order in orders)


def test_a_missing_synchronise_is_found_by_race_and_by_lazy(configure):
    """Where the host happens to be late, the result is right again and again."""

    def result(late):
        stream, ret = acl.rt.create_stream()
        block, ret = acl.rt.malloc(4, 0)
        host, ret = acl.rt.malloc_host(4)
        acl.rt.memset(host, 4, 0, 4)
        acl.rt.memset_async(block, 4, 7, 4, stream)
        acl.rt.memcpy_async(host, 4, block, 4, 2, stream)
        while late and acl.util.ptr_to_bytes(host, 4)[0] != 7:
            pass  # stands for other work of the host, which takes longer than the tasks
        acl.rt.memcpy(host, 4, block, 4, 2)
        value = acl.util.ptr_to_bytes(host, 4)[0]
        acl.rt.synchronize_stream(stream)
        acl.rt.destroy_stream(stream)
        acl.rt.free(block)
        acl.rt.free_host(host)
        return value

    acl.rt.set_device(0)
    assert {result(True) for _ in range(1000 if FULL else 100)} == {7}
    acl.sim.reset()
    configure(schedule="lazy")
    acl.rt.set_device(0)
    assert result(False) == 0
    acl.sim.reset()
    configure(check="race", schedule="eager")
    acl.rt.set_device(0)
    assert result(False) == 7 and {found.rule for found in acl.sim.findings()} == {"race"}


def test_lazy_runs_nothing_before_a_wait_and_polls_make_progress(configure):
    configure(schedule="lazy")
    acl.rt.set_device(0)
    stream, ret = acl.rt.create_stream()
    block, ret = acl.rt.malloc(4, 0)
    assert acl.rt.memset_async(block, 4, 7, 4, stream) == 0
    answers = [acl.rt.stream_query(stream)[0] for _ in range(10)]
    assert answers[:8] == [1] * 8 and answers[-1] == 0
    with_timeout = acl.rt.memset_async(block, 4, 7, 4, stream), acl.rt.synchronize_stream_with_timeout(stream, 1000)
    assert with_timeout == (0, 0) and acl.rt.stream_query(stream) == (0, 0)


def test_callbacks_and_models_work_under_lazy(configure):
    """Functions of Python are called on their threads, while the host waits."""
    configure(schedule="lazy")
    called = []
    with acl.Device(0), acl.Stream() as stream:
        stream.call(called.append, 1)
        stream.call(called.append, 2)
        assert called == []
        stream.synchronize()
        assert called == [1, 2]


def test_a_child_of_a_fork_leaves_the_log_alone(configure, tmp_path):
    log = tmp_path / "log"
    configure(schedule="random:1", schedule_log=log)
    acl.rt.set_device(0)
    stream, ret = acl.rt.create_stream()
    assert acl.rt.memset_async(0, 4, 7, 4, stream) != 0
    child = os.fork()
    if child == 0:
        opened = acl.rt.set_device(0) == 0 and acl.rt.memset(0, 4, 7, 4) != 0
        os._exit(0 if opened else 1)
    assert os.waitpid(child, 0)[1] == 0
    acl.sim.reset()
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["#", "failed", "hash"]


def test_a_log_that_cannot_be_written_is_reported(tmp_path):
    done = programs.run_script(
        "import acl; print(acl.rt.set_device(0))", env={"ACL_SIM_SCHEDULE_LOG": str(tmp_path / "none" / "log")}
    )
    assert done.stdout == "0\n" and "log could not be written: No such file or directory" in done.stderr


# ---- the marker


def test_a_test_runs_once_per_schedule(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "import unittest\n\nimport pytest\n\nimport acl\n\nseen = []\n\n\n"
        "@pytest.mark.acl_schedule('lazy', 'random', 'eager', seeds=2)\n@pytest.mark.parametrize('size', [1, 2])\n"
        "def test_it(acl_stream, size):\n    seen.append((size, acl.sim.get_config('schedule')))\n\n\n"
        "@pytest.mark.acl_schedule('lazy')\ndef test_wrong(acl_stream):\n"
        "    with acl.Buffer(4) as buffer:\n        buffer.fill(1, stream=acl_stream)\n"
        "        assert acl_stream.query()\n\n\n"
        "def test_all():\n    assert sorted(seen) == sorted((size, name) for size in (1, 2)\n"
        "        for name in ('lazy', 'random:0', 'random:1', 'eager'))\n"
        "    assert acl.sim.get_config('schedule') == 'parallel'\n\n\n"
        "class Case(unittest.TestCase):\n    @pytest.mark.acl_schedule('lazy')\n    def test_case(self): pass\n"
    )
    show = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_it.py"]
    env = programs.environment({"ACL_SIM_SCHEDULE": None, "CI": None, "PYTEST_ADDOPTS": None})
    done = programs.run(show, cwd=tmp_path, env=env)
    assert "9 passed, 1 error" in done.stdout and "1 failed" in done.stdout, done.stdout
    assert "test_it.py::test_it[random:1-2] PASSED" in done.stdout.replace("test_it[2-random:1]", "test_it[random:1-2]")
    assert "test_it.py::test_wrong[lazy] FAILED" in done.stdout and "acl_schedule needs a test function" in done.stdout


@pytest.mark.parametrize("names, told", [(["late"], "no schedule 'late': expected some of lazy"), ([], "expected")])
def test_a_wrong_schedule_is_refused(names, told):
    assert ascendcl_pytest._schedules("random", "lazy", seeds=2) == ["random:0", "random:1", "lazy"]
    with pytest.raises(ValueError, match=told):
        ascendcl_pytest._schedules(*names)
