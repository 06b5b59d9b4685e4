"""One row of the benchmark table, and the table."""

import os
import platform
import statistics
from dataclasses import dataclass
from typing import Optional

import acl

LOOPS = 10000  # calls a sample, where Python is beside C in one process


@dataclass(frozen=True)
class Row:
    """What is measured: a row of a C program, or a pyACL call when ``name`` has a twin in calls.c.

    ``target`` is the most that the figure may be; with a twin, the most that it may be above the twin's.
    """

    name: str
    label: str
    target: Optional[float] = None
    unit: str = "ns"
    rounds: int = 41


@dataclass(frozen=True)
class Result:
    """Samples of a row, and of its twin when it has one: one of each a round."""

    row: Row
    samples: list
    twin: list

    def met(self):
        """Tell whether the target is met by the median, only by the best round (a busy machine), or not at all."""
        if self.row.target is None:
            return ""
        best, usual = min(self.samples), statistics.median(self.samples)
        if self.twin:
            best -= min(self.twin)
            usual = statistics.median(ours - c for ours, c in zip(self.samples, self.twin))
        return "yes" if usual <= self.row.target else "at best" if best <= self.row.target else "NO"


def figure(value):
    """Return three significant digits, at most two of them behind the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(samples):
    """Return minimum, median and 90th percentile as text; three blanks without samples."""
    if not samples:
        return "", "", ""
    ordered = sorted(samples)
    return tuple(figure(value) for value in (ordered[0], statistics.median(ordered), ordered[len(ordered) * 9 // 10]))


def cpu_model():
    """Return the processor's name as Linux gives it."""
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        names = [line.split(":", 1)[1].strip() for line in text if line.startswith("model name")]
    return names[0] if names else platform.machine()


def machine(load_before):
    """Return what the figures were measured on, and how busy it was."""
    load = "/".join(f"{value:.1f}" for value in (load_before, os.getloadavg()[0]))
    return (
        f"{cpu_model()}, {len(os.sched_getaffinity(0))} CPUs, load before/after {load}, Linux {platform.release()}\n"
        f"Python {platform.python_version()}, backend {acl.backend}, {acl.library_path}"
    )


def table(results):
    """Return the lines of the table."""
    head = ("", "unit", "min", "median", "p90", "C twin min", "its median", "target", "met")
    lines = [head]
    for result in results:
        row = result.row
        target = "" if row.target is None else f"{'+' if result.twin else ''}{row.target:g}"
        lines.append((row.label, row.unit, *spread(result.samples), *spread(result.twin)[:2], target, result.met()))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  ".join(f"{cell:{'<' if i in (0, 1, 8) else '>'}{widths[i]}}" for i, cell in enumerate(line)).rstrip()
        for line in lines
    ]


def text(results, load_before):
    """Return the whole report."""
    notes = [
        "",
        machine(load_before),
        "A target holds for the median; on a busy machine read the minimum. +60: at most that much above the C twin,",
        "which is timed in turn with it, in the same process and thread.",
    ]
    return "\n".join(table(results) + notes)
