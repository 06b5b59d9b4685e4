"""Collective communication between processes of one machine, which meet by the root info alone."""

import pytest
from helpers import collective_checks
from helpers.collective_group import group, singles

pytestmark = pytest.mark.needs_sim


@pytest.mark.parametrize("count", [2, 3, 4, 8] if collective_checks.FULL else [2, 3])
def test_every_operator(count):
    with group(*singles(count)) as all_of:
        all_of.all("checks.everything(ranks)")
        all_of.all("LIBRARY.HcclCommDestroy(DEVICE(ranks.comms[ranks.here[0]]))")


def test_several_ranks_per_process():
    with group([0, 3], [1], [2, 4], ACL_SIM_DEVICES="2") as all_of:
        all_of.all("checks.everything(ranks)")


def test_results_are_the_same_in_every_run_and_in_one_process():
    with group(*singles(3), ACL_SIM_DEVICES="3") as all_of:
        across = all_of.all("checks.repeat(ranks, 4099, 20).tobytes().hex()")
        all_of.all("acl.sim.reset()")
        inside = all_of.members[0]("checks.repeat(Ranks(3), 4099, 1).tobytes().hex()")
        assert across == [inside] * 3


def test_a_mebi_of_elements():
    with group([0], [1]) as all_of:
        all_of.all("checks.all_reduce(ranks, 'f4', 'sum', checks.MEBI).size")


def test_parts_of_a_communicator():
    """Two parts at the same time, and one with the number of an earlier one; the whole works as before."""
    with group([0, 3], [1], [2, 4], ACL_SIM_DEVICES="2") as all_of:
        for members in ([0, 2, 3], [1, 4], [2, 4], [1, 2, 3]):
            all_of.all(f"part = ranks.part({members}, {len(members)})")
            all_of.all("part and (checks.ring(part, 9), checks.tables(part, 2), part.free())")
            all_of.all("part and checks.all_reduce(part, 'f4', 'sum', 5000).size")
            all_of.all("[ranks.call(rank, 'Barrier') for rank in ranks.here]")
        all_of.all("part and [part.destroy(place) for place in part.here]")
        all_of.all("checks.ring(ranks, 9)")
