"""Compare two recordings of calls (``ACL_RECORD_CALLS``): ``ascendcl diff A B``.

Calls are compared thread by thread, in the order of the lines. Names of handles and blocks need not have the same
number: two names correspond if they were at the same place first, and from then on each stands for the other.
"""

from __future__ import annotations

import collections
import fnmatch
import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

FORMAT, VERSION = "ascendcl calls", 1
EQUAL, DIFFERENT, WRONG = 0, 1, 2  # exit codes
CONTEXT = 3  # calls that are shown before the first difference
WINDOW = 200  # after a call that only one recording has, equal ones are looked for in so many calls
NAME = re.compile(r"([A-Za-z]+)#(\d+)(\+\d+)?")
# Values that depend on the library or on the time even if both libraries do the same.
NEVER = ("aclGetRecentErrMsg.result", "aclrtEventElapsedTime.ms", "*.timestamp", "aclrtGetMemInfo.free",
         "*.workspaceSize")  # fmt: skip

Call = dict[str, Any]  # a line of a recording


class WrongInput(ValueError):
    """A file that is not a recording; the text says where."""


class Step(NamedTuple):
    """Two calls that are compared, or one that the other recording does not have, and the values that differ."""

    calls: tuple[Call | None, Call | None]
    values: list[tuple[str, Any, Any]]

    @property
    def differs(self) -> bool:
        """Whether one recording lacks the call, or has other values in it."""
        return bool(self.values) or None in self.calls


def read(path: str) -> dict[int, list[Call]]:
    """Return the calls of each thread of a recording, each with the number of its line."""
    threads: dict[int, list[Call]] = collections.defaultdict(list)
    number = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text, strict=False)
                if number > 1:
                    threads[line["thread"]].append({**line, "call": str(line["call"]), "line": number})
                    continue
                version = line["version"] if line["format"] == FORMAT else None
            except (ValueError, KeyError, TypeError):
                what = "the first line of a recording" if number == 1 else "a recorded call"
                raise WrongInput(f"{path}, line {number} is not {what}") from None
            if version != VERSION:
                raise WrongInput(f"{path} is not a recording in version {VERSION} of the format")
    if number == 0:
        raise WrongInput(f"{path} is empty")
    return threads


class Names:
    """Which name of the first recording stands for which one of the second."""

    def __init__(self) -> None:
        self.forward: dict[str, str] = {}
        self.backward: dict[str, str] = {}

    def equal(self, one: Any, other: Any) -> bool:
        """Return whether two values are the same, and remember names that correspond from now on."""
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self.equal, one, other))
        left, right = (NAME.fullmatch(value) if isinstance(value, str) else None for value in (one, other))
        if left is None or right is None:
            return bool(one == other)
        if (left[1], left[3]) != (right[1], right[3]):
            return False
        mine, its = f"{left[1]}#{left[2]}", f"{right[1]}#{right[2]}"
        if mine not in self.forward and its not in self.backward:
            self.forward[mine], self.backward[its] = its, mine
        return self.forward.get(mine) == its


def values(call: Call) -> Iterator[tuple[str, Any]]:
    """Yield what is compared of a call, by name."""
    yield from call.get("args", {}).items()
    for name in ("code", "result"):
        if name in call:
            yield name, call[name]
    yield from call.get("out", {}).items()
    for name in ("read", "filled"):
        if name in call:
            # The number of a call that filled a buffer changes with each call that one recording has in addition.
            yield name, [{key: value for key, value in area.items() if key != "copy"} for area in call[name]]


def skip(first: Sequence[Call], second: Sequence[Call], i: int, j: int) -> tuple[int, int]:
    """Return how many calls to skip on each side so that the next two have the same functions again."""

    def function(calls: Sequence[Call], at: int) -> str | None:
        return calls[at]["call"] if at < len(calls) else None

    for total in range(1, WINDOW + 1):
        for left in range(total + 1):
            a, b = i + left, j + total - left
            if a < len(first) and b < len(second):
                if all(function(first, a + k) == function(second, b + k) for k in range(2)):
                    return left, total - left
    return len(first) - i, len(second) - j


def compare(first: Sequence[Call], second: Sequence[Call], names: Names, ignored: Sequence[str]) -> Iterator[Step]:
    """Yield the calls of a thread in pairs, and those that one recording has alone."""

    def is_ignored(call: Call, name: str) -> bool:
        return any(fnmatch.fnmatchcase(f"{call['call']}.{name}", pattern) for pattern in ignored)

    i = j = 0
    while i < len(first) or j < len(second):
        if i < len(first) and j < len(second) and first[i]["call"] == second[j]["call"]:
            one, other = dict(values(first[i])), dict(values(second[j]))
            found = [name for name in {**one, **other} if not is_ignored(first[i], name)]
            wrong = [name for name in found if not names.equal(one.get(name), other.get(name))]
            yield Step((first[i], second[j]), [(name, one.get(name), other.get(name)) for name in wrong])
            i, j = i + 1, j + 1
            continue
        left, right = skip(first, second, i, j)
        for call in first[i : i + left]:
            yield Step((call, None), [])
        for call in second[j : j + right]:
            yield Step((None, call), [])
        i, j = i + left, j + right


def show(call: Call) -> str:
    """Return a call on one line, as a program would write it."""
    given = ", ".join(f"{name}={write(value)}" for name, value in call.get("args", {}).items())
    given_back = [write(call[name]) for name in ("code", "result") if name in call]
    given_back += [f"{name}={write(value)}" for name, value in call.get("out", {}).items()]
    for name in ("read", "filled"):
        given_back += [f"{name} {area['bytes']} bytes {area.get('crc32', 'unreadable')}" for area in call.get(name, ())]
    return f"{call['line']:>6}  {call['call']}({given})" + (f" -> {', '.join(given_back)}" if given_back else "")


def write(value: Any) -> str:
    """Return a value without the quotes of names."""
    return value if isinstance(value, str) and NAME.fullmatch(value) else json.dumps(value)


def describe(steps: Sequence[Step], at: int, paths: Sequence[str]) -> str:
    """Return the first difference of a thread, with the calls before it in both recordings."""
    lines = []
    for side, path in enumerate(paths):
        before = [call for step in steps[:at] if (call := step.calls[side]) is not None][-CONTEXT:]
        lines.append(f"{path}:")
        lines += [f"  {show(call)}" for call in before]
        here = steps[at].calls[side]
        lines.append(f"> {show(here)}" if here is not None else ">         no such call")
    for name, one, other in steps[at].values:
        lines += [f"{name} differs:", f"  {json.dumps(one)}", f"  {json.dumps(other)}"]
    return "\n".join(lines)


def summary(steps: Sequence[Step], threads: int, paths: Sequence[str]) -> str:
    """Return the counts of all threads, and the codes that differ by function."""
    pairs = [step for step in steps if None not in step.calls]
    alone = [sum(step.calls[1 - side] is None for step in steps) for side in (0, 1)]
    same = sum(not step.differs for step in pairs)
    lines = [f"{same} calls are equal, in {threads} thread{'s' * (threads > 1)}"]
    lines += [f"{len(pairs) - same} differ"] if same < len(pairs) else []
    lines += [f"{count} only in {path}" for count, path in zip(alone, paths) if count]
    codes = collections.Counter(
        (step.calls[0]["call"], one, other)
        for step in pairs
        for name, one, other in step.values
        if name == "code" and step.calls[0] is not None
    )
    lines += [f"code of {name}: {one} and {other}, {count} times" for (name, one, other), count in codes.items()]
    return "\n".join(lines)


def run(first: str, second: str, ignore: Sequence[str], ignore_values: bool) -> int:
    """Print the first difference and the summary of two files; return the exit code."""
    paths = (first, second)
    try:
        recordings = [read(path) for path in paths]
    except OSError as error:
        print(f"acl: diff: cannot read {error.filename}: {error.strerror}", file=sys.stderr)
        return WRONG
    except WrongInput as error:
        print(f"acl: diff: {error}", file=sys.stderr)
        return WRONG
    ignored = [*NEVER, *ignore, *(("*.read", "*.filled") if ignore_values else ())]
    names, found = Names(), []
    threads = sorted({*recordings[0], *recordings[1]})
    for thread in threads:
        one, other = (
            [call for call in calls.get(thread, []) if not any(fnmatch.fnmatchcase(call["call"], p) for p in ignore)]
            for calls in recordings
        )
        found.append(list(compare(one, other, names, ignored)))
    # The first of all threads: the one with the lowest line.
    wrong = [
        (min(call["line"] for call in step.calls if call is not None), thread, steps, at)
        for thread, steps in zip(threads, found)
        for at, step in enumerate(steps)
        if step.differs
    ]
    if wrong:
        _, thread, steps, at = min(wrong, key=lambda place: place[0])
        print(f"first difference, in thread {thread}:", describe(steps, at, paths), sep="\n", end="\n\n")
    print(summary([step for steps in found for step in steps], len(threads), paths))
    return DIFFERENT if wrong else EQUAL
