"""Collective communication between processes of one machine, which meet by the root info alone."""

import json

import pytest
from helpers import collective_checks
from helpers.collective_group import OPEN, group, singles
from helpers.processes import processes

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


# ---- rank tables ----


def write_table(path, ranks, **members):
    """Write a rank table with one server, and return its path."""
    devices = [{"device_id": str(rank), "device_ip": f"10.0.0.{rank}", "rank_id": str(rank)} for rank in ranks]
    servers = [{"server_id": "10.0.0.9", "device": devices}]
    whole = {"version": "1.0", "status": "completed", "server_count": "1", "server_list": servers, **members}
    path.write_text(json.dumps(whole))
    return str(path)


def test_ranks_of_a_table(tmp_path):
    table = write_table(tmp_path / "table.json", range(5))
    with group([0, 3], [1], [2, 4], table=table, ACL_SIM_DEVICES="2") as all_of:
        all_of.all("checks.ring(ranks, 9)")
        again = f"(LIBRARY.HcclCommInitClusterInfo({table!r}.encode(), 1, root_info()), acl.get_recent_err_msg())"
        code, text = all_of.members[1](again)
        assert code == 1 and "rank is 1, for which this process has a communicator of this clusterInfo" in text
        all_of.all("[ranks.destroy(rank) for rank in ranks.here]")
        all_of.all(f"ranks.comms = ranks.join({table!r})")  # the table can be used again
        all_of.all("checks.all_reduce(ranks, 'f4', 'sum', 5000).size")


WRONG_TABLES = [
    (1, "EI0014: clusterInfo is not JSON", "{"),
    (1, "EI0014: status in clusterInfo is initializing, expected completed", {"status": "initializing"}),
    (1, "EI0014: a server of clusterInfo has no list named device", {"server_list": [{}]}),
    (1, "EI0014: a device of clusterInfo has no rank_id", {"server_list": [{"device": [{}]}]}),
    (
        1,
        "EI0014: rank_id in clusterInfo is one, expected a number",
        {"server_list": [{"device": [{"rank_id": "one"}]}]},
    ),
    (
        5,
        "EI0014: rank_id in clusterInfo is 64, expected less than 64",
        {"server_list": [{"device": [{"rank_id": 64}]}]},
    ),
    (1, "EI0014: the 1 numbers of rank_id in clusterInfo have gaps", {"server_list": [{"device": [{"rank_id": "1"}]}]}),
    (1, "EI0014: rank is 0, expected a rank_id", {"server_list": [{"device": []}]}),
    (1, "EI0014: rank_id 1 is twice in clusterInfo", {"server_list": [{"device": [{"rank_id": "1"}] * 2}]}),
    (1, "EI0014: the server of rank 0 in clusterInfo has no address", {"server_list": [{"device": []}] * 2}),
    (5, "EI0014: clusterInfo has no server_list", {"server_list": None}),
    (10, "EI0004: clusterInfo is ", None),
]


def test_wrong_tables(tmp_path):
    with processes(1) as (process,):
        process(OPEN + "comm = ctypes.c_void_p()")
        for number, (code, words, content) in enumerate(WRONG_TABLES):
            path = tmp_path / str(number)
            if isinstance(content, str):
                path.write_text(content)
            elif content is not None:
                write_table(path, range(2), **content)
            call = f"LIBRARY.HcclCommInitClusterInfo({str(path)!r}.encode(), 0, ctypes.byref(comm))"
            found, text = process(f"({call}, acl.get_recent_err_msg())")
            assert found == code and words in text.split("\n")[0], (words, found, text)


def test_memory_that_is_mapped_to_reserved_addresses():
    with group([0, 1], [2], ACL_SIM_DEVICES="2") as all_of:
        all_of.all("from helpers import vmm")
        before = all_of.all("vmm.free_bytes()")
        for size in (5, 50000):
            all_of.all(f"checks.in_mapped_memory(ranks, {size})")
        assert all_of.all("vmm.free_bytes()") == before


@pytest.mark.skipif(not collective_checks.FULL, reason="not run: 64 MiB for each operator (CI_FULL=1 runs it)")
def test_sixteen_mebis_of_elements():
    with group([0], [1]) as all_of:
        all_of.all("(checks.all_reduce(ranks, 'f4', 'sum', 16 * checks.MEBI).size, ranks.free())")
        all_of.all("(checks.reduce_and_reduce_scatter(ranks, 'f4', 'sum', 8 * checks.MEBI), ranks.free())")
        all_of.all("(checks.moves(ranks, 'f4', 8 * checks.MEBI), ranks.free())")
        all_of.all("(checks.tables(ranks, 5 * checks.MEBI), ranks.free())")
        all_of.all("(checks.ring(ranks, 16 * checks.MEBI), ranks.free())")
