"""Tests of tables with hundreds of rows, as one test per group of rows: starting a test costs more than a check."""

import pytest


def each(rows, group):
    """Run the decorated test for each row, with one test per group: ``group(row)`` is its name."""
    groups = {}
    for row in rows:
        groups.setdefault(group(row), []).append(row)

    def decorate(check):
        @pytest.mark.parametrize("rows", groups.values(), ids=groups)
        def test(rows):
            for row in rows:
                check(row)

        test.__doc__ = check.__doc__
        return test

    return decorate
