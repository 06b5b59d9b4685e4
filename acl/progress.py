"""Progress bars where work is long: tqdm's, where that is installed and somebody looks."""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any, Optional


def bar(items: Iterable[Any], what: str, total: Optional[int] = None) -> Iterator[Any]:
    """Give the items, with a bar on a terminal or in a notebook meanwhile.

    Parameters
    ----------
    items
        What takes long to give.
    what
        Stands before the bar.
    total
        How many items there are; None when that is not known.
    """
    if (sys.stderr.isatty() or "ipykernel" in sys.modules) and find_spec("tqdm") is not None:
        from tqdm.auto import tqdm

        items = tqdm(items, what, total)
    yield from items
