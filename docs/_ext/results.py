"""Signatures whose result is a tuple of names: ``acl.rt.get_device() -> (device, ret)``, as pyACL calls have.

Sphinx would take everything up to the last bracket for the argument list, and show neither arrow nor result.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx import addnodes
from sphinx.domains.python import PyFunction


class Function(PyFunction):
    """The directive ``py:function``, which also shows a tuple of names as the result."""

    def handle_signature(self, sig: str, signode: addnodes.desc_signature) -> tuple[str, str]:
        """Add the nodes of a signature, and return the names that Sphinx indexes."""
        found = re.fullmatch(r"(.*\)) -> (\(.*\))", sig)
        if not found:
            return super().handle_signature(sig, signode)
        call, result = found.groups()
        names = super().handle_signature(call, signode)
        signode += addnodes.desc_returns(result, result)
        return names


def setup(app: Any) -> dict[str, bool]:
    """Replace the directive."""
    app.add_directive_to_domain("py", "function", Function, override=True)
    return {"parallel_read_safe": True}
