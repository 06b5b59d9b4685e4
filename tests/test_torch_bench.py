"""The benchmark of collectives beside gloo of PyTorch."""

import pytest

from acl.bench import collectives, report
from acl.bench.command import _result
from acl.bench.measure import Effort, measure
from acl.bench.rows import ROWS

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]


def test_gloo_takes_samples_of_every_operation():
    cases = [case for case in collectives.CASES if case.way == "streams" and case.size == collectives.MIB]
    ranks = collectives.MOST_PROCESSES
    cases = {case.name: case for case in cases if case.ranks == ranks and case.kind != "bfloat16"}  # it needs ml_dtypes
    assert {case.operation for case in cases.values()} == set(collectives.BUS)
    found = measure([row for row in ROWS if row.name in cases], Effort(1, 0.0), lambda text: None)
    assert found.skipped == {} and set(found.twins) == set(cases)
    assert all(len(each) == 1 and each[0] > 0 for each in found.twins.values())
    text = report.text([_result("now", found)])
    assert "gloo is that of torch " in text and collectives.NOT_INSTALLED not in text
