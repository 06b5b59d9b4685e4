"""What the pages of HTML that commands write have in common: the page itself, and texts of times and sizes."""

from acl.graph import plain

TIMES = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
SIZES = ((1, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB"))
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: clamp(0.8rem, 3vw, 2rem); }
table { border-collapse: collapse; }
th, td { padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid #8886; white-space: nowrap; }
"""


def page(title, style, body, head=""):
    """Return a page of HTML with this title, style and ready body."""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
{head}<title>{plain(title)}</title><style>{STYLE}{style}</style></head>
<body>{body}</body></html>
"""


def duration(seconds):
    """Return three significant digits with a unit, such as ``1.25 µs``."""
    return scaled(seconds, TIMES)


def size(number):
    """Return a number of bytes with three significant digits and a unit, such as ``1.25 MiB``."""
    return f"{number} B" if number < 1 << 10 else scaled(number, SIZES)


def scaled(number, units):
    """Return three significant digits with the largest of the units that is not above the number."""
    unit, name = next((each for each in reversed(units) if abs(number) >= each[0]), units[0])
    value = number / unit
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {name}"
