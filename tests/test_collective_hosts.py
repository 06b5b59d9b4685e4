"""Collective communication between hosts: two network namespaces with a link."""

import json
import time

import pytest
from helpers import hosts
from helpers.collective_group import OPEN, group
from helpers.processes import processes

pytestmark = pytest.mark.needs_sim
on_hosts = pytest.mark.hosts
GONE, LATE = 507901, 107020
SCALED = {"ACL_SIM_HCCL_TIME_SCALE": "0.001", "HCCL_EXEC_TIMEOUT": "1000"}  # 1 second
SUM = "a := checks.put_all(ranks, checks.inputs(ranks, 'f4', 5000)), "
SUM += "ranks.call(ranks.here[0], 'AllReduce', a[ranks.here[0]], a[ranks.here[0]], checks.size_of(5000), 4, 0)"


def test_a_root_on_another_host_needs_the_plugin():
    """The message says what to install. A root info has the machine at byte 8, and an address from 48 on."""
    with processes(1) as (process,):
        process(OPEN + "info, comm = bytearray(root_info().ljust(4108, b'\\0')), ctypes.c_void_p()")
        process("info[8] ^= 1\ninfo[48:56] = bytes(8)")
        call = "LIBRARY.HcclCommInitRootInfo(1, bytes(info), 0, ctypes.byref(comm))"
        code, text = process(f"({call}, acl.get_recent_err_msg())")
        assert code == 5
        assert "libacl_hccl_net.so" in text and "apt install libgloo-dev" in text
        here = "the ranks are on several hosts, for which the simulator needs libacl_hccl_net.so"
        assert (here in text) != hosts.PLUGIN.exists()


def test_a_table_of_two_servers_needs_the_plugin(tmp_path):
    """Or an address of this host, for which the table is tried."""
    table = tmp_path / "table.json"
    servers = [{"server_id": "192.0.2.1", "device": [{"rank_id": str(rank)}]} for rank in (0, 1)]
    table.write_text(json.dumps({"server_list": servers}))
    with processes(1) as (process,):
        process(OPEN + "comm = ctypes.c_void_p()")
        call = f"LIBRARY.HcclCommInitClusterInfo({str(table)!r}.encode(), 0, ctypes.byref(comm))"
        code, text = process(f"({call}, acl.get_recent_err_msg())")
        if hosts.PLUGIN.exists():
            assert code == 11 and "EI0019: no port" in text and "is free at 192.0.2.1" in text
        else:
            assert code == 5 and "apt install libgloo-dev" in text


@pytest.fixture(scope="module")
def two():
    """Give two hosts."""
    why = hosts.lacking()
    if why:
        pytest.skip(why)
    with hosts.hosts() as made:
        yield made


def spread(two, *places, **options):
    """Start a process for each pair of a host and a list of ranks."""
    return group(*(ranks for _, ranks in places), inside=[two.inside(host) for host, _ in places], **options)


@on_hosts
@pytest.mark.parametrize(
    "places",
    [[(0, [0]), (1, [1])], [(1, [2, 0]), (0, [1]), (0, [3])], [(0, [1]), (1, [0]), (0, [2])]],
    ids=["2", "2 + 1 + 1", "1 + 1 + 1"],
)
def test_every_operator(two, places):
    with spread(two, *places, ACL_SIM_DEVICES="2") as all_of:
        all_of.all("checks.everything(ranks)")
        all_of.all("[ranks.destroy(rank) for rank in ranks.here]")


@on_hosts
@pytest.mark.parametrize(
    "servers, places",
    [([(0, [0, 1]), (1, [2])], [(1, [2]), (0, [0]), (0, [1])]), ([(1, [0]), (0, [1, 2])], [(0, [1, 2]), (1, [0])])],
    ids=["2 + 1", "1 + 2"],
)
def test_a_table_of_two_servers(two, tmp_path, servers, places):
    """The ranks meet at the server of rank 0; the table can be used again."""
    table = tmp_path / "table.json"
    devices = {host: [{"rank_id": str(rank)} for rank in ranks] for host, ranks in servers}
    made = [{"server_id": two.address(host), "device": each} for host, each in devices.items()]
    table.write_text(json.dumps({"version": "1.0", "status": "completed", "server_list": made}))
    with spread(two, *places, table=str(table), ACL_SIM_DEVICES="2") as all_of:
        all_of.all("checks.ring(ranks, 9)")
        all_of.all("[ranks.destroy(rank) for rank in ranks.here]")
        all_of.all(f"ranks.comms = ranks.join({str(table)!r})")
        all_of.all("checks.all_reduce(ranks, 'f4', 'sum', 5000).size")


@on_hosts
def test_parts_of_a_communicator(two):
    with spread(two, (0, [0, 3]), (1, [1]), (1, [2, 4]), ACL_SIM_DEVICES="2") as all_of:
        for members in ([0, 2, 3], [1, 4], [2, 4], [0, 3]):
            all_of.all(f"part = ranks.part({members}, {len(members)})")
            all_of.all("part and (checks.ring(part, 9), checks.tables(part, 2), part.free())")
            all_of.all("part and [part.destroy(place) for place in part.here]")
        all_of.all("checks.ring(ranks, 9)")


def expect(member, code, words):
    """Wait for a stream, which fails."""
    start = time.monotonic()
    ret, text = member("ranks.wait(ranks.here[0])")
    assert ret == code and words in text, text
    assert time.monotonic() - start < 5


@on_hosts
def test_a_host_without_an_address(two):
    """Its processes connect to each other."""
    with group([0], [1], inside=[two.alone()] * 2) as all_of:
        all_of.all("checks.ring(ranks, 9)")


@on_hosts
def test_a_process_that_ends(two):
    with spread(two, (0, [0]), (1, [1])) as all_of:
        first, second = all_of.members
        first(SUM)
        second.kill()
        expect(first, GONE, "the process of rank 1 has ended")


@on_hosts
def test_a_link_that_is_cut(two):
    with spread(two, (0, [0]), (1, [1]), **SCALED) as all_of:
        all_of.all("checks.ring(ranks, 9)")
        two.link("down")
        try:
            for member in all_of.members:
                member(SUM)
            for member, rank in zip(all_of.members, (0, 1)):
                expect(member, LATE, f"rank {rank} has waited for rank {1 - rank} until its time-out")
        finally:
            two.link("up")
