"""Tests of tables with hundreds of rows: one test a group of rows, because a test costs more than what it checks."""

import pytest


def each(rows, group):
    """Run the decorated test for each row, as one test a group: ``group(row)`` names it."""
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
