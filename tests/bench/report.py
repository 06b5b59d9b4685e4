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

    A row has at most one bar. ``over`` is the most that the figure may be above that of its twin in C, and ``times``
    the most that it may be as a multiple of the sketch's; ``most`` and ``least`` are for the figure itself. ``sketch``
    names the sketch's row if that is another one.

    ``limit`` is a sentence that says why the bar is not met. The table has it as a note while that is so. ``{mutex}``
    in it stands for the median of the row with this name in the same run, ``{beside_add}`` for that of its twin.
    """

    name: str
    label: str
    over: Optional[float] = None
    unit: str = "ns"
    rounds: int = 41
    times: Optional[float] = None
    most: Optional[float] = None
    least: Optional[float] = None
    sketch: str = ""
    limit: str = ""


@dataclass(frozen=True)
class Result:
    """Samples of a row, and of what is measured beside it: one of each per round."""

    row: Row
    samples: list
    beside: list  # the samples of the twin in C or of the sketch; empty if there is none
    partner: str = ""  # what that is

    def compared(self):
        """Return what the bar holds for, at best and by the median: a difference, a ratio, or the figure itself."""
        best, usual = min(self.samples), statistics.median(self.samples)
        if self.row.least is not None:
            best = max(self.samples)
        elif self.row.over is not None:
            best -= min(self.beside)
            usual = statistics.median(ours - c for ours, c in zip(self.samples, self.beside))
        elif self.row.times is not None:
            best /= min(self.beside)
            usual /= statistics.median(self.beside)
        return best, usual

    def met(self):
        """Tell whether the bar is met by the median, only by the best round (a busy machine), or not at all."""
        best, usual = self.compared()
        if self.row.least is not None:
            return verdict(best >= self.row.least, usual >= self.row.least)
        bar = next((bar for bar in (self.row.over, self.row.times, self.row.most) if bar is not None), None)
        return "" if bar is None else verdict(best <= bar, usual <= bar)

    def bar(self):
        """Return the bar as text."""
        row = self.row
        bars = (row.over, "+{:g}"), (row.times, "{:g} x"), (row.most, "<= {:g}"), (row.least, ">= {:g}")
        return next((form.format(bar) for bar, form in bars if bar is not None), "")

    def ratio(self):
        """Return the quotient of the medians as text, if there are two."""
        if not self.beside or statistics.median(self.beside) <= 0:
            return ""
        return f"{statistics.median(self.samples) / statistics.median(self.beside):.2f}"


def verdict(at_best, usually):
    """Return a cell of the column "met"."""
    return "yes" if usually else "at best" if at_best else "NO"


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


class Medians(dict):
    """The medians of the rows and of what is beside them, as text."""

    def __missing__(self, name):
        return "(not measured)"


def reasons(results):
    """Return a note for each row whose bar is not met: what limits it, with the limits that this run measured."""
    medians = Medians()
    for result in results:
        for name, samples in (result.row.name, result.samples), (f"beside_{result.row.name}", result.beside):
            if samples:
                medians[name] = f"{figure(statistics.median(samples))} {result.row.unit}"
    missed = [result.row for result in results if result.met() in ("NO", "at best") and result.row.limit]
    return [f"{row.label}: {row.limit.format_map(medians)}" for row in missed]


HEAD = ("", "unit", "min", "median", "p90", "beside", "its min", "its median", "ratio", "bar", "met")
LEFT = (0, 1, 5, 10)  # columns of text


def table(results):
    """Return the lines of the table."""
    lines = [HEAD]
    for result in results:
        ours, theirs = spread(result.samples), spread(result.beside)[:2]
        after = result.ratio(), result.bar(), result.met()
        lines.append((result.row.label, result.row.unit, *ours, result.partner, *theirs, *after))
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return [
        "  ".join(f"{cell:{'<' if i in LEFT else '>'}{widths[i]}}" for i, cell in enumerate(line)).rstrip()
        for line in lines
    ]


def text(results, load_before):
    """Return the whole report."""
    notes = [
        "",
        machine(load_before),
        "A bar holds for the median; on a busy machine read the minimum. 1.6 x: at most that multiple of the median of",
        "the sketch, a program of its own. +15: at most that much above the twin in C, in the same process and thread.",
        "Both are timed in turn with the row.",
    ]
    return "\n".join(table(results) + notes + reasons(results))
