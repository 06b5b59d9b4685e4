"""Tests of tables with hundreds of rows, as one test per group of rows: starting a test costs more than a check."""

import functools
import inspect
import itertools

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


def every(**values):
    """Run the decorated test for every combination of the values of some of its parameters, as one test."""

    def decorate(check):
        @functools.wraps(check)
        def test(**given):
            assert all(values.values()), "a parameter without values would check nothing"
            for chosen in itertools.product(*values.values()):
                case = dict(zip(values, chosen))
                try:
                    check(**given, **case)
                except BaseException:
                    print("failed with", case)
                    raise

        signature = inspect.signature(check)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in values]
        test.__signature__ = signature.replace(parameters=rest)
        return test

    return decorate
