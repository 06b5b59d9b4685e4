"""Collective communication between hosts: two network namespaces with a link."""

import json
import time

import pytest
from helpers import hosts
from helpers.collective_group import OPEN, begin_joins, expect_that_one_is_lost, expect_that_rank_2_is_late, group
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


def write_table(path, servers):
    """Write a rank table of servers, each of them its names and the ranks of its devices, and return its path."""
    made = [{**names, "device": [{"rank_id": str(rank), **more} for rank, more in ranks]} for names, ranks in servers]
    path.write_text(json.dumps({"version": "1.0", "status": "completed", "server_list": made}))
    return str(path)


@on_hosts
@pytest.mark.parametrize(
    "servers, places",
    [([(0, [0, 1]), (1, [2])], [(1, [2]), (0, [0]), (0, [1])]), ([(1, [0]), (0, [1, 2])], [(0, [1, 2]), (1, [0])])],
    ids=["2 + 1", "1 + 2"],
)
def test_a_table_of_two_servers(two, tmp_path, servers, places):
    """The ranks meet at the server of rank 0; the table can be used again."""
    made = [({"server_id": two.address(host)}, [(rank, {}) for rank in ranks]) for host, ranks in servers]
    table = write_table(tmp_path / "table.json", made)
    with spread(two, *places, table=table, ACL_SIM_DEVICES="2") as all_of:
        all_of.all("checks.ring(ranks, 9)")
        all_of.all("[ranks.destroy(rank) for rank in ranks.here]")
        all_of.all(f"ranks.comms = ranks.join({table!r})")
        all_of.all("checks.all_reduce(ranks, 'f4', 'sum', 5000).size")


@on_hosts
@pytest.mark.parametrize("name", ["host_ip", "device_ip"])
def test_other_addresses_in_a_table(two, tmp_path, name):
    """The address of the server of rank 0 is its host_ip, else its server_id, else that of the device of rank 0."""
    at = {name: two.address(0)}
    names = {"server_id": "192.0.2.1", **at} if name == "host_ip" else {"server_id": "the first"}
    first = names, [(0, at if name == "device_ip" else {"device_ip": "192.0.2.2"})]
    table = write_table(tmp_path / "table.json", [first, ({"server_id": "the second"}, [(1, {})])])
    with spread(two, (0, [0]), (1, [1]), table=table) as all_of:
        all_of.all("checks.ring(ranks, 9)")


@on_hosts
def test_a_server_that_does_not_come(two, tmp_path):
    servers = [({"server_id": two.address(host)}, [(host, {})]) for host in (0, 1)]
    table = write_table(tmp_path / "table.json", servers)
    with processes(1, inside=[two.inside(1)], ACL_SIM_HCCL_TIME_SCALE="0.002") as (process,):
        process(OPEN + "comm = ctypes.c_void_p()")
        call = f"LIBRARY.HcclCommInitClusterInfo({table!r}.encode(), 1, ctypes.byref(comm))"
        process.refused(call, 9, f"EI0015: no process of the server of rank 0 has joined at {two.address(0)} in time")


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
def test_addresses_of_version_6(two):
    with spread(two, (0, [0]), (1, [1]), HCCL_SOCKET_FAMILY="AF_INET6") as all_of:
        all_of.all("checks.ring(ranks, 9)")


@on_hosts
def test_what_differs_while_ranks_join(two):
    """Whoever is refused can try again."""
    with processes(2, inside=[two.inside(0), two.inside(1)]) as (first, second):
        info = begin_joins([first], 2)
        second(OPEN + f"comm, info = ctypes.c_void_p(), bytes.fromhex({info!r}).ljust(ROOT_INFO, b'\\0')")
        join = "LIBRARY.HcclCommInitRootInfo({}, info, {}, ctypes.byref(comm))"
        second.refused(join.format(3, 1), 1, "EI0015: nRanks is 3, and another rank has called with 2")
        second.refused(join.format(2, 0), 1, "EI0015: rank is 0, which has joined already")
        assert second(join.format(2, 1)) == first.end()[0] == 0


@on_hosts
def test_a_rank_that_does_not_join(two):
    with processes(2, inside=[two.inside(0), two.inside(1)], ACL_SIM_HCCL_TIME_SCALE="0.002") as members:
        begin_joins(members, 3)
        expect_that_rank_2_is_late(members)


@on_hosts
@pytest.mark.parametrize("gone", [0, 1])
def test_a_process_that_ends_before_all_have_joined(two, gone):
    with processes(2, inside=[two.inside(0), two.inside(1)]) as members:
        begin_joins(members, 3)
        members[gone].kill()
        expect_that_one_is_lost([members[1 - gone]])


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
