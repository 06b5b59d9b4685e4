"""Check the built pages for what they must contain: ``python docs/_ext/built.py build/docs``.

Sphinx succeeds, too, when a directive adds nothing to its page. So each guide must show the first and the last lines of
its programs and the end of their output, and each page of the reference its functions, objects, operators or codes.
The signature of each pyACL call must show what the call returns.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

from reference import result

ROOT = Path(__file__).resolve().parents[2]


def text_of(page: str) -> str:
    """Return what a reader sees of a page's HTML, with single spaces."""
    article = re.search(r"<article.*?</article>", page, re.DOTALL)
    return shown_text(article[0] if article else "")


def shown_text(markup: str) -> str:
    """Return HTML without its tags, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", markup)).split())


def programs() -> dict[str, list[str]]:
    """Return the lines that the page of each guide must show."""
    wanted: dict[str, list[str]] = {}
    for guide in sorted((ROOT / "docs" / "guides").glob("*.rst")):
        name = guide.stem
        files = [f"{name}_objects.py", f"{name}.py", f"{name}.c", f"expected/{name}.txt"]
        shown = []
        for file in files:
            text = (ROOT / "examples" / file).read_text(encoding="utf-8")
            lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
            shown += lines[-3:] if file.startswith("expected") else [*lines[:3], *lines[-3:]]
        wanted[f"guides/{name}"] = shown
    return wanted


def anchors() -> dict[str, list[str]]:
    """Return the anchors that each page of the reference must have."""
    from acl import abi
    from acl.objects import HOME

    declared = abi.load()
    wanted: dict[str, list[str]] = {f"reference/made/calls/{group}": [] for group in declared.groups}
    for function in declared.functions.values():
        page = wanted[f"reference/made/calls/{function.group}"]
        page += [f"c.{function.name}", *(shape.path for shape in function.shapes)]
    for name, module in HOME.items():
        wanted.setdefault(f"reference/made/objects/{module.rsplit('.', 1)[-1]}", []).append(f"acl.{name}")
    codes = {c.value for c in declared.constants.values() if re.match("ACL(NN)?_ERR", c.name) and c.value}
    wanted["reference/made/codes"] = [f"code-{code}" for code in sorted(codes)]
    return wanted


def results() -> dict[str, dict[str, str]]:
    """Return the result that each page must show in the signature of each pyACL call."""
    from acl import abi

    wanted: dict[str, dict[str, str]] = {}
    for function in abi.load().functions.values():
        page = wanted.setdefault(f"reference/made/calls/{function.group}", {})
        page.update({shape.path: result(shape) for shape in function.shapes})
    return wanted


def operators() -> dict[str, list[str]]:
    """Return the operators that the page of each family must show."""
    from acl import abi

    wanted: dict[str, list[str]] = {}
    for row in abi.rows(ROOT / "simulator" / "ops" / "rows").values():
        wanted.setdefault(f"reference/made/operators/{row.family}", []).append(row.name)
    return wanted


def missing(folder: Path, texts: dict[str, list[str]], ids: dict[str, list[str]]) -> list[str]:
    """Return what is not on the pages of a folder: texts that are not shown, and anchors that no element has."""
    found = []
    for wanted, kind in ((texts, "text"), (ids, "anchor")):
        for name, expected in wanted.items():
            path = folder / f"{name}.html"
            page = path.read_text(encoding="utf-8") if path.exists() else ""
            there = text_of(page) if kind == "text" else set(re.findall(r'\bid="([^"]+)"', page))
            found += [f"{name}: no {kind} {item!r}" for item in expected if item not in there]
    return found


def wrong_results(folder: Path, wanted: dict[str, dict[str, str]]) -> list[str]:
    """Return the calls whose signatures, on the pages of a folder, do not show their results after an arrow."""
    found = []
    for name, calls in wanted.items():
        path = folder / f"{name}.html"
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        signatures = dict(re.findall(r'<dt[^>]*\bid="([^"]+)"[^>]*>(.*?)</dt>', page, re.DOTALL))
        for call, expected in calls.items():
            shown = shown_text(signatures.get(call, "")).partition("→")[2].strip(" ¶")
            if shown != expected:
                found.append(f"{name}: {call} shows the result {shown!r}, expected {expected!r}")
    return found


def main() -> int:
    """Check the pages of the named folder."""
    folder, texts, ids = Path(sys.argv[1]), {**programs(), **operators()}, anchors()
    found = missing(folder, texts, ids) + wrong_results(folder, results())
    print("\n".join([*found, f"{len(texts) + len(ids)} built pages checked, {len(found)} items missing"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
