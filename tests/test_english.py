"""Prose, docstrings, comments and messages avoid phrases that are hard to read.

The phrases show a habit; the whole text counts. A phrase is found across the end of a line too. ``there is no`` and
``is no longer`` are plain English, and are not counted. What may stay is in ``ALLOWED``.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCOPE = (
    "*.md", "docs/**/*.rst", "docs/**/*.py", "acl/**/*.py", "acl/include/**/*.h", "simulator/**/*.[ch]",
    "simulator/**/*.py", "simulator/**/*.md", "tests/**/*.py", "examples/**/*.*",
)  # fmt: skip
GENERATED = {"made", "aclnnop", "build", "__pycache__"}
GAP = r"""(?:[ \t]*["']?[ \t]*\\?\n[ \t]*(?:\*|\#|//|[frb]*["'])?[ \t]*|[ \t]+)"""  # a space, or the end of a line
FINE = ("there is no", "is no longer")
PHRASES = ("is no", "are none", "one a", "once a", "told of", "but for", "who waits", "what is given", "stands on")


def pattern(phrases):
    """Return a pattern that matches one of the phrases."""
    return "|".join(rf"\b{phrase.replace(' ', GAP)}\b" for phrase in phrases)


HARD = re.compile(f"{pattern(FINE)}|({pattern(PHRASES)})", re.IGNORECASE)

# "<file>: <phrase>", each for a place where the phrase says what it should: a quotation, or a name.
ALLOWED: set[str] = set()


def files():
    """Return the files in which people read."""
    found = {path for pattern in SCOPE for path in ROOT.glob(pattern)}
    return sorted(path for path in found if path != Path(__file__) and not GENERATED & {*path.relative_to(ROOT).parts})


def hits(text):
    """Yield each phrase of a text with the number of its line."""
    for match in HARD.finditer(text):
        if match[1]:
            yield text.count("\n", 0, match.start()) + 1, re.sub(GAP, " ", match[1]).lower()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a stream that is no stream", [(1, "is no")]),
        ("there is no stream; it is no longer there", []),
        ("the gate\n * who\n * waits", [(2, "who waits")]),
        ('f"work that it was told "\n    f"of here"', [(1, "told of")]),
        ("# all but\n# for one", [(1, "but for")]),
        ("none are one, and once is enough", []),
    ],
)
def test_phrases_are_found_in_text_and_comments(text, expected):
    assert list(hits(text)) == expected


def test_no_phrase_is_hard_to_read():
    found = {}
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        for line, phrase in hits(path.read_text(encoding="utf-8")):
            found.setdefault(f"{name}: {phrase}", []).append(f"{name}:{line}: {phrase}")
    wrong = [place for entry, places in found.items() if entry not in ALLOWED for place in places]
    assert not wrong, "\n" + "\n".join(wrong)
    assert sorted(ALLOWED - set(found)) == [], "allowed, but found no more"
    assert len(ALLOWED) <= 30
