"""Collective communication in one process: every operator, type and reduction against NumPy."""

import numpy
import pytest
from helpers import collective_checks as checks
from helpers.collective import OPS, TYPES, Ranks

import acl

pytestmark = pytest.mark.needs_sim


@pytest.fixture(scope="module", params=[1, 2, 3, 8])
def ranks(request):
    acl.sim.reset()
    acl.sim.configure(devices=8)
    yield Ranks(request.param)
    acl.sim.reset()


@pytest.fixture(autouse=True)
def freed(ranks):
    yield
    ranks.free()


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("kind, op", checks.REDUCTIONS)
def test_all_reduce(ranks, kind, op, in_place):
    for size in checks.SIZES:
        checks.all_reduce(ranks, kind, op, size, in_place)


def test_a_mebi_of_elements(ranks):
    checks.all_reduce(ranks, "f4", "sum", checks.MEBI)


@pytest.mark.parametrize("kind, op", checks.REDUCTIONS)
def test_reduce_and_reduce_scatter(ranks, kind, op):
    for size in checks.SIZES:
        checks.reduce_and_reduce_scatter(ranks, kind, op, size)


@pytest.mark.parametrize("kind", TYPES)
def test_moves(ranks, kind):
    for size in checks.SIZES:
        checks.moves(ranks, kind, size)


def test_tables_messages_and_replays(ranks):
    checks.tables(ranks, 3)
    checks.ring(ranks, 9)
    checks.replays(ranks, 9, 5)


def test_results_are_the_same_in_every_run(ranks):
    """Whoever computes a share, the order of the sum is that of the ranks."""
    checks.repeat(ranks, 4099, 100)


def test_not_a_number_is_the_greatest_and_the_least(ranks):
    if ranks.count == 1:
        return
    for kind in ("f2", "f4"):
        parts = checks.inputs(ranks, kind, 16)
        parts[-1][3] = parts[0][5] = numpy.nan
        for op in ("max", "min"):
            sent = checks.put_all(ranks, parts)
            for rank in ranks.here:
                ranks.call(rank, "AllReduce", sent[rank], sent[rank], checks.size_of(16), TYPES[kind], OPS[op])
            for rank in ranks.here:
                found = ranks.get(rank, sent[rank], parts[0])
                assert numpy.array_equal(numpy.isnan(found), [place in (3, 5) for place in range(16)])
