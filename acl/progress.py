"""Progress bars of tqdm, where it is installed and stderr is a terminal or a notebook."""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any, Optional


def bar(items: Iterable[Any], what: str, total: Optional[int] = None) -> Iterator[Any]:
    """Yield the items, and show a progress bar on a terminal or in a notebook.

    Parameters
    ----------
    items
        The items, which take time to produce.
    what
        The text before the bar.
    total
        The number of items; None if it is not known.
    """
    in_notebook = type(sys.stderr).__module__.partition(".")[0] == "ipykernel"
    if (sys.stderr.isatty() or in_notebook) and find_spec("tqdm") is not None:
        from tqdm.auto import tqdm

        items = tqdm(items, what, total)
    yield from items
