"""``python -m acl bench``: measure, save, compare."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import acl
from acl.bench import report, result
from acl.bench.compare import common
from acl.bench.measure import QUICK, USUAL, Effort, Measured, against, measure, serve, tell_on_terminal
from acl.bench.result import Result, Unreadable
from acl.bench.rows import GROUPS, LIMITS, ROWS, Row

EPILOG = """
Without --compare, the rows are measured now. With --compare and one file, they are measured now and compared with that
file; with more files, these are compared with the first one. "simulator" stands for a result of the simulator that
comes with the package. The rows of the group limits are part of every measurement.
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    found = argparse.ArgumentParser(prog="ascendcl bench", description="Measure calls and operators.", epilog=EPILOG)
    add = found.add_argument
    add("rows", nargs="*", metavar="ROW", help="names of rows or groups (default: all)")
    add("--group", action="append", choices=GROUPS, help="only the rows of this group; may be repeated")
    add("--list", action="store_true", help="list the rows and end")
    add("--quick", action="store_true", help="fewer and shorter samples, in less than 30 s")
    add("--save", metavar="FILE", type=Path, help="store the samples as JSON, which pytest-benchmark reads, too")
    add("--compare", nargs="+", metavar="FILE", help="compare stored results")
    add("--against", choices=("sim", "npu"), help="measure this backend as well, in turn with the opened one")
    add("-o", dest="output", metavar="FILE", type=Path, help="write the table to an .html, .md or .txt file")
    add("--serve", action="store_true", help=argparse.SUPPRESS)
    return found


def selected(options: argparse.Namespace) -> list[Row]:
    """Return the rows that the arguments select; raise :class:`Unreadable` for a name that is none."""
    known = {*GROUPS, *(row.name for row in ROWS)}
    wrong = [name for name in options.rows if name not in known]
    if wrong:
        raise Unreadable(f"no row is called {', '.join(wrong)}; --list shows all")
    return [
        row
        for row in ROWS
        if (not options.rows or row.name in options.rows or row.group in options.rows)
        and (not options.group or row.group in options.group)
    ]


def with_limits(rows: list[Row]) -> list[Row]:
    """Return rows with those of the machine's limits after them."""
    return [*(row for row in rows if row.group != LIMITS), *(row for row in ROWS if row.group == LIMITS)]


def _result(title: str, found: Measured, pairs: Optional[str] = None) -> Result:
    groups = {row.name: row.group for row in ROWS}
    labels = {row.name: row.label for row in ROWS}
    bus = {row.name: row.bus for row in ROWS if row.bus and row.name in found.samples}
    return Result(title, found.about, found.samples, groups, labels, found.skipped, pairs, found.twins, bus)


def _measured(options: argparse.Namespace, rows: list[Row], effort: Effort) -> list[Result]:
    """Measure here, or on two backends in turn."""
    tell = tell_on_terminal()
    if not options.against:
        return [_result("now", measure(rows, effort, tell))]
    pairs = result.new_pairs()
    names = [*(row.name for row in rows), *(["--quick"] if options.quick else [])]
    backends = acl.backend, options.against
    found = against(backends, names, effort.rounds, tell)
    titles = backends if backends[0] != backends[1] else ("first", "second")
    return [_result(title, one, pairs) for title, one in zip(titles, found)]


def _save(results: list[Result], path: Path) -> list[Path]:
    """Store results; those of two backends get their titles before the ending of the file."""
    paths = [path if len(results) == 1 else path.with_suffix(f".{each.title}{path.suffix}") for each in results]
    for each, place in zip(results, paths):
        result.save(each, place)
    return paths


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments
        The arguments after ``bench``.
    """
    options = parser().parse_args(arguments)
    effort = QUICK if options.quick else USUAL
    try:
        if options.output and options.output.suffix not in report.FORMS:
            raise Unreadable(f"-o is {options.output}, expected a file that ends with {', '.join(report.FORMS)}")
        rows = selected(options)
        if options.serve:
            serve(rows, effort)
            return 0
        if options.list:
            for row in rows:
                print(f"{row.group:<11} {row.name:<26} {row.label}")
            return 0
        stored = [result.load(name) for name in options.compare or []]
        if options.save and len(stored) > 1:
            raise Unreadable("--save has nothing to store, because --compare with several files measures nothing")
        fresh = _measured(options, with_limits(rows), effort) if len(stored) < 2 else []
    except (Unreadable, RuntimeError) as error:
        print(f"acl: bench: {error}", file=sys.stderr)
        return 1
    results = [*stored, *fresh]
    if not common(results):
        print("acl: bench: no row was measured in all results", *report.notes(results), sep="\n", file=sys.stderr)
        return 1
    print(report.text(results))
    if options.save:
        for path in _save(fresh, options.save):
            print(f"saved {path}")
    if options.output:
        options.output.write_text(report.FORMS[options.output.suffix](results) + "\n", encoding="utf-8")
        print(f"wrote {options.output}")
    return 0
