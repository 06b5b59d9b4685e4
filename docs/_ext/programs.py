"""``.. example-program:: p1_resources``: the forms of an example side by side, and what they print; nothing is copied.

The plain name ``program`` would not do: Sphinx has a directive of this name, and looks there first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FORMS = (("Objects", "{}_objects.py", "python"), ("pyACL", "{}.py", "python"), ("C", "{}.c", "c"))
SHOWN = 20  # lines of the output


class ExampleProgram(SphinxDirective):
    """The tabs of one example."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the tabs with the programs, and the end of their output."""
        lines = [".. tab-set::", ""]
        for tab, file, language in FORMS:
            path = f"/../examples/{file.format(self.arguments[0])}"
            lines += [f"   .. tab-item:: {tab}", "", f"      .. literalinclude:: {path}"]
            lines += [f"         :language: {language}", ""]
        name = self.arguments[0]
        if (EXAMPLES / "expected" / f"{name}_objects.txt").exists():
            lines += self.printed("The program with objects prints (addresses differ):", f"{name}_objects")
            lines += self.printed("pyACL and C print a line for each call; the last lines are:", name)
        else:
            lines += self.printed("All three programs print the same (addresses differ); the last lines are:", name)
        return self.parse_text_to_nodes("\n".join(lines))

    @staticmethod
    def printed(text: str, name: str) -> list[str]:
        """Return the end of an example's output below an introduction."""
        count = len((EXAMPLES / "expected" / f"{name}.txt").read_text().splitlines())
        lines = [text, "", f".. literalinclude:: /../examples/expected/{name}.txt", "   :language: text"]
        return [*lines, f"   :lines: {max(1, count - SHOWN + 1)}-", ""]


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("example-program", ExampleProgram)
    return {"parallel_read_safe": True}
