"""``ascendcl explore``: runs a program under many schedules, and shrinks the first one under which it differs.

A schedule is a list of lines, ``hold 1#2 until 2#5`` or ``pick 3 0``, which ``ACL_SIM_SCHEDULE=replay:<file>`` repeats
(``docs/schedules.rst``). Each line may be left out, so that a list is made shorter by leaving lines out as long as the
program still differs.
"""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional

from acl import doctor, files, program

HEADER = "# acl schedule 1: replay\n"
SHRINKING = 300  #: runs at most, to make one list shorter
CHOICE = re.compile(r"(hold (\d+)#(\d+)|pick \d+)(?: (.*))?$")


class Refused(Exception):
    """The program cannot be explored."""


class Outcome(NamedTuple):
    """What a run of the program has shown."""

    stdout: str
    code: Optional[int]  #: None: it did not end
    failed: Counter[str]  #: failed calls, as function and code
    findings: Counter[str]


class Run(NamedTuple):
    """A run of the program, and the log of its schedule."""

    outcome: Outcome
    log: list[str]


class Explorer:
    """Runs one program under schedules, and compares its outcomes."""

    def __init__(self, path: str, command: list[str], settings: dict[str, str], timeout: float, folder: str):
        self.path, self.command, self.timeout, self.folder = path, command, timeout, folder
        self.log, self.found = os.path.join(folder, "log"), os.path.join(folder, "findings.json")
        self.environment = program.environment({**settings, "schedule_log": self.log, "findings": self.found})

    def run(self, schedule: str) -> Run:
        """Run the program under a schedule."""
        for path in (self.log, self.found):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        process = subprocess.Popen(
            self.command,
            executable=self.path,
            env={**self.environment, "ACL_SIM_SCHEDULE": schedule},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        code: Optional[int] = None
        try:
            stdout, _ = process.communicate(timeout=self.timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # also what it has started
            stdout, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        log = read_lines(self.log)
        failed = Counter(line[len("failed ") :] for line in log if line.startswith("failed "))
        findings = Counter(map(finding, read_lines(self.found)))
        return Run(Outcome(with_names(stdout.decode(errors="replace")), code, failed, findings), log)

    def replay(self, lines: list[str]) -> Outcome:
        """Run the program under the schedule of a list."""
        path = os.path.join(self.folder, "schedule")
        files.write(path, text(lines))
        return self.run(f"replay:{path}").outcome


def with_names(output: str) -> str:
    """Return a text with names instead of addresses and handles, which differ from run to run."""
    names: dict[str, str] = {}
    return re.sub(r"\b0x[0-9a-f]{6,}\b", lambda match: names.setdefault(match[0], f"address {len(names) + 1}"), output)


def read_lines(path: str) -> list[str]:
    """Return the lines of a file, which may be missing."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def text(lines: list[str]) -> bytes:
    """Return the file of a schedule."""
    return (HEADER + "".join(f"{line}\n" for line in lines)).encode()


def finding(line: str) -> str:
    """Return a finding as one line that is the same in each run: the rule, and the places of its calls."""
    found = json.loads(line)
    places = [re.sub(r"^0x[0-9a-f]+ \((.*)\)$", r"\1", note["site"]) for note in found["notes"]]
    return f"{found['rule']}, {' and '.join(filter(None, places)) or found['text']}"


def choices(log: list[str]) -> list[str]:
    """Return the holds and picks of a log; a later line about the same hold has its end."""
    found: dict[str, str] = {}
    for line in log:
        match = CHOICE.match(line)
        if match:
            found[match[1]] = line
    return list(found.values())


def differences(outcome: Outcome, reference: Outcome) -> dict[str, list[str]]:
    """Return what is different, as lines, by its kind."""
    found: dict[str, list[str]] = {}
    if outcome.stdout != reference.stdout:
        ours, theirs = outcome.stdout.splitlines(), reference.stdout.splitlines()
        same = (at for at, (one, other) in enumerate(zip(ours, theirs)) if one != other)
        at = next(same, min(len(ours), len(theirs)))
        one, other = (repr(lines[at]) if at < len(lines) else "no such line" for lines in (ours, theirs))
        found["stdout"] = [f"stdout, line {at + 1}: {one}, expected {other}"]
    if outcome.code != reference.code:
        ended = "it did not end" if outcome.code is None else f"{outcome.code}"
        found["code"] = [f"exit code: {ended}, expected {reference.code}"]
    for kind, ours_, theirs_ in (
        ("failed call", outcome.failed, reference.failed),
        ("finding", outcome.findings, reference.findings),
    ):
        lines = [f"{kind}: {what}, only here" for what in (ours_ - theirs_)]
        lines += [f"{kind}: {what}, missing here" for what in (theirs_ - ours_)]
        if lines:
            found[kind] = lines
    return found


def shrink(lines: list[str], differs: Callable[[list[str]], bool]) -> list[str]:
    """Leave out as many lines, and ends of holds, as possible while ``differs`` is true (delta debugging)."""
    parts = 2
    while lines:
        size = -(-len(lines) // parts)
        for start in range(0, len(lines), size):
            shorter = lines[:start] + lines[start + size :]
            if differs(shorter):
                lines, parts = shorter, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(lines))
    for at, line in enumerate(lines):
        simpler = [*lines[:at], line.split(" until ")[0], *lines[at + 1 :]]
        if simpler != lines and differs(simpler):
            lines = simpler
    return lines


def explain(lines: list[str], log: list[str]) -> Iterator[str]:
    """Say in words what the lines of a schedule do; the log has the names of the tasks."""
    names = dict(line.split()[1:3] for line in log if line.startswith("run "))
    for line in lines:
        yield f"  {line}"
        match = re.match(r"hold ((\d+)#(\d+))(?: until (\d+)#(\d+))?$", line)
        if not match:
            yield "      of several ready segments of a replay, another one runs first"
            continue
        name = f" ({names[match[1]]})" if match[1] in names else ""
        until = f"task {match[5]} of stream {match[4]} is queued or " if match[4] else ""
        yield f"      stream {match[2]} stops before its task {match[3]}{name} until {until}the host waits for it"


def report(explorer: Explorer, schedule: str, run: Run, reference: Outcome, path: str) -> Iterator[str]:
    """Shrink the schedule of a run that differs, write it, and say how to replay it."""
    kinds = set(differences(run.outcome, reference))
    runs = 0

    def differs(lines: list[str]) -> bool:
        nonlocal runs
        runs += 1
        return runs <= SHRINKING and bool(kinds & set(differences(explorer.replay(lines), reference)))

    lines = choices(run.log)
    ascendcl, command = doctor.command_path(), shlex.join(explorer.command)
    if not differs(lines):
        yield "The replay of this schedule does not differ: the order of the program's own threads matters, too."
        yield "Run it again with:"
        yield f"  ACL_SIM_SCHEDULE={schedule} {ascendcl} exec -- {command}"
        return
    shorter = shrink(lines, differs)
    files.write(path, text(shorter))
    made = "1 choice" if len(lines) == 1 else f"{len(lines)} choices"
    yield f"It is made of {made}. {runs} more runs found that these suffice for a difference:"
    yield from explain(shorter, run.log)
    yield f"They are in {path}. Replay them with:"
    yield f"  ACL_SIM_SCHEDULE={shlex.quote('replay:' + path)} {ascendcl} exec -- {command}"


def explore(explorer: Explorer, runs: int, base: str, path: str) -> tuple[bool, list[str]]:
    """Run the program under the reference and the schedules. Returns whether one differs, and the lines to print."""
    first = explorer.run(base)
    again = differences(explorer.run(base).outcome, first.outcome)
    if not first.log:
        raise Refused("the program has opened no device, so that it has no schedule")
    if again:
        lines = "; ".join(line for kind in again.values() for line in kind)
        raise Refused(f"two runs under {base} differ already ({lines}), expected equal output and calls in each run")
    told = [f"Found under {base} already: {what}" for what in first.outcome.findings]
    for number in range(runs):
        schedule = f"random:{number}" if number else "lazy"
        run = explorer.run(schedule)
        found = differences(run.outcome, first.outcome)
        if found:
            told += [f"Schedule {schedule}, number {number + 1} of {runs}, differs from {base}:"]
            told += [f"  {line}" for kind in found.values() for line in kind]
            return True, told + list(report(explorer, schedule, run, first.outcome, path))
    return False, [*told, f"No difference between {base} and {runs} other schedules."]


def command(words: list[str], settings: dict[str, str], runs: int, base: str, timeout: float, path: str) -> int:
    """Explore a program, print the result, and return the exit code: 1 if a schedule differs.

    Raises
    ------
    Refused
        If the program cannot be explored.
    """
    try:
        executable, words = program.find(words)
        with tempfile.TemporaryDirectory(prefix="acl-explore-") as folder:
            explorer = Explorer(executable, words, settings, timeout, folder)
            differs, lines = explore(explorer, runs, base, path)
    except ValueError as error:
        raise Refused(str(error)) from None
    print(*lines, sep="\n")
    return int(differs)
