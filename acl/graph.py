"""Draw a model running instance as one SVG: streams are columns, time flows downwards.

:mod:`acl.trace` returns the tasks and edges. Needs the standard library only; for PNG, the package cairosvg.
"""

import collections
import re
from xml.sax.saxutils import escape, quoteattr

OTHER_FORMATS = (".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".pdf", ".ps", ".eps")
BOX_WIDTH, BOX_HEIGHT, CHARACTERS = 188, 28, 24
TRACK, MARGIN, GAP, HEAD, EDGE_OF_PAGE, PAGE = 7, 22, 18, 118, 16, 740
KINDS = {"kernel": "#cfe2f7", "copy": "#d3ecd0", "event": "#fbe7b2", "callback": "#e5d5f2", "other": "#e4e4e4"}
KIND_TEXTS = {"kernel": "kernel", "copy": "copy, set", "event": "event, notify", "callback": "callback"}
LINES = {"order": "#555555", "event": "#c47f00", "data": "#8ba3c7", "race": "#d42020", "stub": "#0b8f7a"}
LINE_TEXTS = {"order": "stream order", "event": "event", "race": "possible race", "stub": "outside"}
# Where lines meet a box, so that those of different kinds stay apart: the distance from the top of the box of a line
# that arrives at a side, and of one that leaves, and the distance from the middle of a line that arrives from above.
PORTS = {"event": (10, 18, 24), "data": (5, 23, 46), "race": (14, 14, 66)}
STYLE = """
text { font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #222222 }
.head { font-size: 14px; font-weight: bold }
.quiet { fill: #777777 }
.lane rect { fill: #f7f7f7 }
.task rect { stroke: #777777; stroke-width: 1 }
.edge { fill: none }
.edge:hover { stroke-width: 3 }
"""
STYLE += "".join(f".task.{kind} rect {{ fill: {colour} }}\n" for kind, colour in KINDS.items())
WIDTHS = {"order": "1.3", "event": "1.6", "data": "0.9", "race": "1.3; stroke-dasharray: 5 3", "stub": "1.6"}
STYLE += "".join(f".edge.{kind} {{ stroke: {LINES[kind]}; stroke-width: {WIDTHS[kind]} }}\n" for kind in LINES)

UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML does not allow


def pack(spans):
    """Assign each span the first free track of its corridor; return the tracks, and how many each corridor has.

    ``spans`` maps ``(corridor, owner)`` to the places that the owner's line reaches in it.
    """
    tracks, ends = {}, collections.defaultdict(list)
    for key in sorted(spans, key=lambda key: (min(spans[key]), max(spans[key]), key)):
        used = ends[key[0]]
        track = next((track for track, end in enumerate(used) if end < min(spans[key])), len(used))
        used[track : track + 1] = [max(spans[key])]
        tracks[key] = track
    return tracks, {corridor: len(used) for corridor, used in ends.items()}


class Layout:
    """The positions of boxes and lines.

    Gutter ``n`` is left of lane ``n``, channel ``n`` above row ``n``. Lines run only in these: down the gutter beside
    their source and, if their target is not beside that gutter, along the channel above the target. Lines of one kind
    from one source share a path as long as possible.
    """

    def __init__(self, tasks, rows, edges):
        self.tasks, self.rows = tasks, rows
        neighbours = {edge[1:3] for edge in edges if edge.kind == "order"}
        # Data for the next task of the same stream is drawn beside the line of the stream order.
        self.straight = {edge for edge in edges if edge.kind == "order" or edge[1:3] in neighbours}
        gutters, channels = collections.defaultdict(set), collections.defaultdict(set)
        for edge in edges:
            if edge.kind == "stub" or edge in self.straight:
                continue
            gutter, far, _ = self.way(edge)
            row = rows[edge.target]
            gutters[gutter, edge[:2]] |= {2 * rows[edge.source] + 1, 2 * row + (not far)}
            if far:
                channels[row, edge[:2]] |= {2 * gutter, 2 * tasks[edge.target].lane + 1}
        self.gutter_tracks, widths = pack(gutters)
        self.channel_tracks, heights = pack(channels)
        lanes = len({task.lane for task in tasks})
        self.left, self.top = [], []
        x = EDGE_OF_PAGE
        for lane in range(lanes):
            x += 2 * MARGIN + TRACK * widths.get(lane, 0)
            self.left.append(x)
            x += BOX_WIDTH
        self.width = x + 2 * MARGIN + TRACK * widths.get(lanes, 0) + EDGE_OF_PAGE
        y = HEAD
        for row in range(1 + max(rows, default=-1)):
            y += GAP + TRACK * heights.get(row, 0)
            self.top.append(y)
            y += BOX_HEIGHT
        self.height = y + GAP + EDGE_OF_PAGE

    def way(self, edge):
        """Return an edge's gutter, whether it needs a channel as well, and whether it leaves its source to the left."""
        start, end = self.tasks[edge.source].lane, self.tasks[edge.target].lane
        leftward = end < start
        gutter = start if leftward else start + 1
        return gutter, gutter != (end + 1 if end <= start else end), leftward

    def corner(self, index):
        """Return the upper left corner of a task's box."""
        return self.left[self.tasks[index].lane], self.top[self.rows[index]]

    def points(self, edge):
        """Return the corners of an edge's line."""
        if edge.kind == "stub":
            x, y = self.corner(edge.target if edge.source is None else edge.source)
            middle = y + BOX_HEIGHT // 2
            if edge.source is None:
                return [(x - MARGIN + 4, middle), (x, middle)]
            return [(x + BOX_WIDTH, middle), (x + BOX_WIDTH + MARGIN - 4, middle)]
        (x, y), (to_x, to_y) = self.corner(edge.source), self.corner(edge.target)
        if edge in self.straight:
            middle = x + BOX_WIDTH // 2 + (edge.kind != "order") * 12
            return [(middle, y + BOX_HEIGHT), (middle, to_y)]
        arrive, leave, aside = PORTS[edge.kind]
        gutter, far, leftward = self.way(edge)
        before = self.left[gutter - 1] + BOX_WIDTH if gutter else EDGE_OF_PAGE
        track = before + MARGIN + TRACK * (self.gutter_tracks[gutter, edge[:2]] + 0.5)
        points = [(x + (0 if leftward else BOX_WIDTH), y + leave), (track, y + leave)]
        if not far:
            side = to_x + (BOX_WIDTH if to_x < track else 0)
            return points + [(track, to_y + arrive), (side, to_y + arrive)]
        row = self.rows[edge.target]
        channel = to_y - GAP + 4 - TRACK * self.channel_tracks[row, edge[:2]]
        drop = to_x + BOX_WIDTH // 2 + (aside if leftward else -aside)
        return points + [(track, channel), (drop, channel), (drop, to_y)]


def shorten(name):
    """Return a name that fits into a box; the middle is cut out, because the end often has the number."""
    return name if len(name) <= CHARACTERS else f"{name[: CHARACTERS - 9]}\u2026{name[-8:]}"


def line(points, radius=6):
    """Return the path through points, its corners rounded."""
    path = [f"M{points[0][0]:.10g} {points[0][1]:.10g}"]
    for before, at, after in zip(points, points[1:], points[2:]):
        ends = []
        for other in (before, after):
            length = abs(other[0] - at[0]) + abs(other[1] - at[1])
            share = min(radius, length / 2) / length if length else 0
            ends.append(f"{at[0] + (other[0] - at[0]) * share:.10g} {at[1] + (other[1] - at[1]) * share:.10g}")
        path.append(f"L{ends[0]}Q{at[0]:.10g} {at[1]:.10g} {ends[1]}")
    return "".join(path) + f"L{points[-1][0]:.10g} {points[-1][1]:.10g}"


def element(name, content=None, /, **attributes):
    """Return an element of SVG or HTML with attributes (``class_`` for ``class``, ``_`` for ``-``) and ready content.

    Without content it closes itself, as elements of SVG may.
    """
    texts = "".join(f" {key.strip('_').replace('_', '-')}={quoted(value)}" for key, value in attributes.items())
    return f"<{name}{texts}/>" if content is None else f"<{name}{texts}>{content}</{name}>"


def plain(value):
    """Return a value as text that an XML element may hold."""
    return escape(UNPRINTABLE.sub("\ufffd", str(value)))


def quoted(value):
    """Return a value as a quoted attribute."""
    return quoteattr(UNPRINTABLE.sub("\ufffd", str(value)))


def arrow(kind):
    """Return the arrow head that lines of a kind end in; a race has no direction."""
    head = element("path", d="M0 0L6 3L0 6z", fill=LINES[kind])
    return element("marker", head, id=f"arrow-{kind}", markerUnits="userSpaceOnUse", markerWidth=6, markerHeight=6,
                   refX=6, refY=3, orient="auto")  # fmt: skip


def box(task, row, x, y):
    """Return a task's box; its tooltip has all fields of the trace."""
    tip = "\n".join([task.name, *(f"{key}: {value}" for key, value in task.args.items())])
    parts = [
        element("title", plain(tip)),
        element("rect", x=x, y=y, width=BOX_WIDTH, height=BOX_HEIGHT, rx=4),
        element("text", plain(shorten(task.name)), x=x + BOX_WIDTH // 2, y=y + 18, text_anchor="middle"),
    ]
    return element("g", "".join(parts), class_=f"task {task.kind}", data_task=task.index, data_row=row)


def connector(edge, tasks, points):
    """Return an edge's line."""
    ends = [plain(tasks[end].name) if end is not None else "the outside" for end in (edge.source, edge.target)]
    tip = element("title", f"{ends[0]} {'and' if edge.kind == 'race' else 'to'} {ends[1]}: {plain(edge.text)}")
    marker = {} if edge.kind == "race" else {"marker_end": f"url(#arrow-{edge.kind})"}
    places = {f"data_{end}": getattr(edge, end) for end in ("source", "target") if getattr(edge, end) is not None}
    return element("path", tip, class_=f"edge {edge.kind}", d=line(points), **places, **marker)


def legend():
    """Return the legend of the colours and lines."""
    parts = []
    for place, kind in enumerate(KINDS):
        x = EDGE_OF_PAGE + 140 * place
        swatch = element("rect", x=x, y=48, width=24, height=14, rx=3)
        parts.append(element("g", swatch, class_=f"task {kind}"))
        parts.append(element("text", KIND_TEXTS.get(kind, kind), x=x + 30, y=59))
    for place, kind in enumerate(LINES):
        x = EDGE_OF_PAGE + 140 * place
        marker = {} if kind == "race" else {"marker_end": f"url(#arrow-{kind})"}
        parts.append(element("path", class_=f"edge {kind}", d=f"M{x} 79L{x + 24} 79", **marker))
        parts.append(element("text", LINE_TEXTS.get(kind, kind), x=x + 30, y=83))
    return element("g", "".join(parts), class_="legend")


def draw(tasks, streams, rows, edges):
    """Return the SVG of tasks with these rows and edges."""
    layout = Layout(tasks, rows, edges)
    width, height = max(layout.width, PAGE), layout.height
    models = sorted({str(task.args["Model Id"]) for task in tasks if "Model Id" in task.args})
    races = sum(edge.kind == "race" for edge in edges)
    head = f"{count(len(tasks), 'task')} on {count(len(streams), 'stream')}" if tasks else "no tasks"
    head = f"model {', '.join(models)}: {head}" if models else head
    head += f", {count(races, 'possible race')}" if races else ""
    parts = [element("style", STYLE), element("defs", "".join(arrow(kind) for kind in LINES if kind != "race"))]
    parts.append(element("rect", width=width, height=height, fill="#ffffff"))
    parts.append(element("text", plain(head), x=EDGE_OF_PAGE, y=30, class_="head"))
    parts.append(legend())
    for lane, (x, name) in enumerate(zip(layout.left, streams)):
        members = sum(task.lane == lane for task in tasks)
        place = {"x": x - 6, "y": HEAD - 18, "width": BOX_WIDTH + 12, "height": height - HEAD + 18 - EDGE_OF_PAGE}
        text = f"{plain(shorten(name))}: {count(members, 'task')}"
        label = element("text", text, x=x + BOX_WIDTH // 2, y=HEAD - 3, text_anchor="middle", class_="quiet")
        parts.append(element("g", element("rect", rx=6, **place) + label, class_="lane", data_stream=name))
    for kind in ("data", "order", "event", "stub", "race"):  # later kinds are drawn above earlier ones
        parts += [connector(edge, tasks, layout.points(edge)) for edge in edges if edge.kind == kind]
    parts += [box(task, rows[task.index], *layout.corner(task.index)) for task in tasks]
    size = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    text = element("svg", "\n".join(parts), xmlns="http://www.w3.org/2000/svg", **size) + "\n"
    return text.encode("ascii", "xmlcharrefreplace").decode()  # independent of the encoding of a file or terminal


def count(number, what):
    """Return a number with its noun, in the plural if necessary."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def png_of(svg):
    """Return a picture as PNG.

    Raises
    ------
    ImportError, OSError
        The package cairosvg, or a library that it needs, is missing.
    """
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # OSError: the package is installed, but libcairo is not
        reason = str(error).strip().splitlines()[0]
        advice = "pip install cairosvg, or name an .svg file"
        raise ImportError(f"PNG needs the package cairosvg ({reason}): {advice}") from None
    return cairosvg.svg2png(bytestring=svg.encode())
