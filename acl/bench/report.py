"""Tables of results, as text, Markdown or a page of HTML with a plot of the samples of each row."""

from collections.abc import Sequence

import numpy

from acl.bench.collectives import GROUP, NOT_INSTALLED
from acl.bench.compare import TOLERANCE, common, median, p99, ratios
from acl.bench.result import Result
from acl.bench.twin import NOT_BUILT
from acl.graph import element, plain
from acl.markup import duration, page

COLORS = ("#2563eb", "#d97706", "#059669", "#db2777")
WIDTH, BAR = 240, 12  # of a plot and of the bar of a result, in pixels
Table = list[list[str]]


def names_of(results: Sequence[Result]) -> list[str]:
    """Return the titles; those that are the same get the backend, and then a number."""
    titles = [each.title for each in results]
    if len(set(titles)) < len(titles):
        titles = [f"{each.title} ({each.about.get('backend', 'unknown')})" for each in results]
    return [f"{title} {i + 1}" if titles.count(title) > 1 else title for i, title in enumerate(titles)]


# The columns beside the median and the 99th percentile.
IN_C, GLOO, BUS = "in C", "gloo", "bus GB/s"


def columns(result: Result) -> list[str]:
    """Return the further columns of a result: for twins in C, twins in PyTorch, and collectives."""
    kinds = {result.groups[name] == GROUP for name in result.twins}
    return [IN_C] * (False in kinds) + [GLOO] * (True in kinds) + [BUS] * bool(result.bus)


def cell(result: Result, name: str, column: str) -> str:
    """Return the figure of a row in a further column, why it could not be measured, or nothing for a row without it."""
    if column == BUS:
        return f"{result.bus[name] / median(result.samples[name]) / 1e9:.2f}" if name in result.bus else ""
    samples = result.twins.get(name)
    if samples is None or (column == GLOO) != (result.groups[name] == GROUP):
        return ""
    return duration(median(samples)) if samples else NOT_INSTALLED if column == GLOO else NOT_BUILT


def table(results: Sequence[Result]) -> Table:
    """Return the head and the lines: median and 99th percentile of each result, and ratios to the first one.

    A result with twins also has the median in C, and beside collectives that of gloo and the bandwidth of the bus.
    """
    titles = names_of(results)
    head = ["group", "row", "what"]
    for title, each in zip(titles, results):
        head += [f"{title}: median", "p99", *columns(each)]
    for title in titles[1:]:
        head += [f"{title} / {titles[0]}", "95 % interval", "verdict"]
    lines = [head]
    for name in common(list(results)):
        first = results[0]
        line = [first.groups[name], name, first.labels[name]]
        for each in results:
            line += [duration(median(each.samples[name])), duration(p99(each.samples[name]))]
            line += [cell(each, name, column) for column in columns(each)]
        for one in ratios(list(results), name):
            line += [f"{one.value:.2f}", f"{one.low:.2f} to {one.high:.2f}", one.verdict]
        lines.append(line)
    return lines


def notes(results: Sequence[Result]) -> list[str]:
    """Say what each result was measured on, which rows are left out, and what the verdicts mean."""
    lines = []
    for title, each in zip(names_of(results), results):
        about = each.about
        cpu = about.get("cpu", {})
        lines.append(
            f"{title}: {cpu.get('brand_raw', 'unknown CPU')}, {cpu.get('count', '?')} CPUs, "
            f"Python {about.get('python_version', '?')}, backend {about.get('backend', '?')}, "
            f"{about.get('soc', '?')}, CANN {about.get('cann', '?')}, {about.get('library', '?')}"
        )
        if IN_C in columns(each):
            lines.append(f"{title}: the twins in C were {about.get('twins', 'built')}")
        if GLOO in columns(each):
            lines.append(f"{title}: gloo is {about.get('gloo', 'unknown')}")
        lines += [f"{title}: {name} was not measured: {reason}" for name, reason in each.skipped.items()]
        absent = [name for name in each.samples if name not in common(list(results))]
        if absent:
            lines.append(f"{title}: the others lack {', '.join(absent)}")
    if len(results) > 1:
        lines.append(
            f"A ratio above 1 is slower. A row is slower or faster if its whole interval is more than {TOLERANCE:.0%} "
            "away from 1, the same if all of it is closer, and otherwise unclear."
        )
    return lines


def text(results: Sequence[Result]) -> str:
    """Return a table for a terminal."""
    lines = table(results)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    left = {0, 1, 2, *(column for column, title in enumerate(lines[0]) if title == "verdict")}
    rows = (
        "  ".join(
            f"{cell:{'<' if column in left else '>'}{widths[column]}}" for column, cell in enumerate(line)
        ).rstrip()
        for line in lines
    )
    return "\n".join([*rows, "", *notes(results)])


def markdown(results: Sequence[Result]) -> str:
    """Return a table in Markdown."""
    head, *lines = ([cell.replace("|", "\\|") for cell in line] for line in table(results))
    rows = [head, ["---"] * 3 + ["---:"] * (len(head) - 3), *lines]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in rows), "", *(f"- {note}" for note in notes(results))])


def _plot(results: Sequence[Result], name: str) -> str:
    """Draw the samples of a row: a line from the 1st to the 99th percentile, a box of the middle half, the median."""
    every = [numpy.quantile(each.samples[name], [0.01, 0.25, 0.5, 0.75, 0.99]) for each in results]
    floor = 1e-12
    low, high = (numpy.log(max(each, floor)) for each in (min(one[0] for one in every), max(one[-1] for one in every)))
    span = max(high - low, 0.05)

    def place(value: float) -> float:
        return float(4 + (WIDTH - 8) * (numpy.log(max(value, floor)) - low) / span)

    parts = []
    for i, (p1, q1, middle, q3, last) in enumerate(every):
        y, color = (i + 0.5) * BAR + 2, COLORS[i % len(COLORS)]
        parts.append(
            f'<line x1="{place(p1):.1f}" x2="{place(last):.1f}" y1="{y}" y2="{y}" stroke="{color}"/>'
            f'<rect x="{place(q1):.1f}" width="{max(place(q3) - place(q1), 1):.1f}" y="{y - 3}" height="6" '
            f'fill="{color}" fill-opacity="0.4" stroke="{color}"/>'
            f'<line x1="{place(middle):.1f}" x2="{place(middle):.1f}" y1="{y - 5}" y2="{y + 5}" stroke="{color}" '
            'stroke-width="2"/>'
        )
    size = f'width="{WIDTH}" height="{len(every) * BAR + 4}"'
    title = f"from {duration(float(min(one[0] for one in every)))} to {duration(float(max(one[-1] for one in every)))}"
    return f'<svg role="img" {size}><title>{title}, logarithmic</title>{"".join(parts)}</svg>'


STYLE = """
main { overflow-x: auto; }
th:nth-child(-n+3), td:nth-child(-n+3) { text-align: left; }
td:nth-child(3) { white-space: normal; min-width: 14rem; }
ul { list-style: none; padding: 0; }
td.faster { font-weight: bold; color: light-dark(#047857, #34d399); }
td.slower { font-weight: bold; color: light-dark(#b91c1c, #f87171); }
"""


def html(results: Sequence[Result]) -> str:
    """Return a page that needs no other file."""
    head, *lines = table(results)
    keys = "".join(
        f'<li><span style="color: {COLORS[i % len(COLORS)]}">&#9632;</span> {plain(title)}</li>'
        for i, title in enumerate(names_of(results))
    )
    rows = []
    for line in lines:
        cells = "".join(element("td", plain(cell), class_=cell.split(" ")[0]) for cell in line)
        rows.append(f"<tr>{cells}<td>{_plot(results, line[1])}</td></tr>")
    titles = "".join(element("th", plain(cell)) for cell in [*head, "samples"])
    return page(
        "acl bench",
        STYLE,
        f"<h1>acl bench</h1><ul>{keys}</ul><main><table><thead><tr>{titles}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></main>{''.join(element('p', plain(note)) for note in notes(results))}",
    )


FORMS = {".txt": text, ".md": markdown, ".html": html}
