"""What the other ranks learn when a rank of another process fails, in each of its states."""

import os
import signal
import time

import pytest
from helpers.collective_checks import FULL
from helpers.collective_group import (
    OPEN,
    begin_join,
    begin_joins,
    expect_that_one_is_lost,
    expect_that_rank_2_is_late,
    group,
    singles,
)
from helpers.processes import processes

pytestmark = pytest.mark.needs_sim

GONE, LATE, WRONG = 507901, 107020, 107000
SHORT, LONG = 4, 100000  # elements: sent with the arrival, and read where they are
SIZES = [SHORT, LONG] if FULL else [LONG]
ENDS = ["kill", "exit", "reset"] if FULL else ["kill"]
SUM = "a := checks.put_all(ranks, checks.inputs(ranks, 'f4', {0})), ranks.call(ranks.here[0], 'AllReduce', "
SUM += "a[ranks.here[0]], a[ranks.here[0]], checks.size_of({0}), 4, 0)"
WAIT = "ranks.wait(ranks.here[0])"
ERROR = "ranks.error(ranks.here[0])"
SCALED = {"ACL_SIM_HCCL_TIME_SCALE": "0.001", "HCCL_EXEC_TIMEOUT": "1000"}  # 1 second


def queue_sum(member, size):
    """Queue an all-reduce in a process."""
    member(SUM.format(size))


@pytest.fixture
def trio():
    """Start three processes with a rank each."""
    with group(*singles(3)) as three:
        yield three


def expect(members, code, *words):
    """Wait for the streams of processes that wait already; all fail, long before the usual time-out."""
    start = time.monotonic()
    for member in members:
        ret, text = member.end()
        assert ret == code, text
        assert [word for word in words if word not in text] == [], text
    assert not FULL or time.monotonic() - start < (2 if code == LATE else 1)


def end(member, how):
    """End a process, or all that the library does in it."""
    if how == "kill":
        member.kill()
    else:
        member.begin("__import__('os')._exit(0)" if how == "exit" else "acl.sim.reset()")
    return "the communicator of rank 2 was destroyed" if how == "reset" else "the process of rank 2 has ended"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("how", ENDS)
def test_a_process_that_ends_before_it_calls(trio, how, size):
    first, second, last = trio.members
    for member in (first, second):
        queue_sum(member, size)
        member.begin(WAIT)
    text = end(last, how)
    expect([first, second], GONE, text)
    assert [member(ERROR) for member in (first, second)] == [21, 21]
    queue_sum(first, size)  # and so does each later operator
    first.begin(WAIT)
    expect([first], GONE, text)
    assert first("ranks.destroy(0)") == second("ranks.destroy(1)") == 0


@pytest.mark.parametrize("how", ENDS[:2])
def test_a_process_that_ends_while_it_waits(trio, how):
    first, second, last = trio.members
    queue_sum(first, LONG)
    first.begin(WAIT)
    queue_sum(last, LONG)
    assert last("acl.rt.synchronize_stream_with_timeout(ranks.streams[2], 20)") != 0
    text = end(last, how)
    queue_sum(second, LONG)
    second.begin(WAIT)
    expect([first, second], GONE, text)


def test_a_process_that_ends_after_it_has_sent_its_input(trio):
    """A short input is sent when the rank arrives: the others have it, and only the next operator fails."""
    first, second, last = trio.members
    queue_sum(last, SHORT)
    assert last("acl.rt.synchronize_stream_with_timeout(ranks.streams[2], 20)") != 0
    last.kill()
    for code in (0, GONE):
        for member in (first, second):
            queue_sum(member, SHORT)
            member.begin(WAIT)
        expect([first, second], code)


def test_a_process_that_ends_during_messages(trio):
    first, second, last = trio.members
    first("b := checks.put_all(ranks, checks.inputs(ranks, 'f4', 9))")
    first("ranks.call(0, 'Recv', b[0], checks.size_of(9), 4, 2)")
    first.begin(WAIT)
    for size in (9, 9000):
        second(f"b := checks.put_all(ranks, checks.inputs(ranks, 'f4', {size}))")
        second(f"ranks.call(1, 'Send', b[1], checks.size_of({size}), 4, 2)")
    second.begin(WAIT)
    last.kill()
    expect([first, second], GONE, "the process of rank 2 has ended")


@pytest.mark.parametrize("size", SIZES)
def test_a_rank_that_destroys_its_communicator(trio, size):
    first, second, last = trio.members
    for member in (first, second):
        queue_sum(member, size)
        member.begin(WAIT)
    assert last("ranks.destroy(2)") == 0
    expect([first, second], GONE, "the communicator of rank 2 was destroyed")


def test_ranks_that_are_done_may_end_at_once():
    """The last operator of each rank succeeds, though the others leave as soon as theirs has."""
    with group(*singles(4)) as all_of:
        for size in (SHORT, LONG):
            for member in all_of.members:
                queue_sum(member, size)
        found = all_of.all(f"({WAIT}, ranks.destroy(ranks.here[0]))")
        assert [each[0][0] for each in found] == [0] * 4, found
        assert [each[1] for each in found] == [0] * 4


@pytest.mark.parametrize("size", SIZES)
def test_an_operator_that_is_discarded(trio, size):
    first, second, last = trio.members
    for member in (first, second):
        queue_sum(member, size)
        member.begin(WAIT)
    last("acl.sim.hold(ranks.streams[2])")
    queue_sum(last, size)
    assert last("acl.rt.stream_abort(ranks.streams[2])") == 0
    expect([first, second], GONE, "the operator of rank 2 was discarded")
    trio.all(SUM.format(size))  # the communicator can be used further
    assert [ret for ret, _ in trio.all(WAIT)] == [0, 0, 0]


@pytest.mark.parametrize("size", SIZES)
def test_what_differs_between_ranks(trio, size):
    for place, member in enumerate(trio.members):
        queue_sum(member, size + (place == 1))
    for ret, text in trio.all(WAIT):
        assert ret == WRONG, text
        assert "EI0005: count is " in text and f" {size + 1} on rank 1" in text and f" {size} on rank " in text, text
    assert trio.all(ERROR) == [0, 0, 0]
    trio.all("ranks.call(ranks.here[0], 'Barrier')")
    assert [ret for ret, _ in trio.all(WAIT)] == [0, 0, 0]


def test_messages_that_differ():
    with group(*singles(2)) as two:
        sender, receiver = two.members
        two.all("b := checks.put_all(ranks, checks.inputs(ranks, 'f4', 5000))")
        for size in (3, 5000):
            sender(f"ranks.call(0, 'Send', b[0], checks.size_of({size}), 4, 1)")
            receiver(f"ranks.call(1, 'Recv', b[1], checks.size_of({size - 1}), 4, 0)")
            for ret, text in two.all(WAIT):
                assert ret == WRONG
                assert f"EI0005: rank 0 sends {size} elements of dataType 4 to rank 1, which expects {size - 1}" in text


# ---- time-outs ----


@pytest.mark.parametrize("stops, size", [(False, SHORT), (True, LONG)])
def test_a_rank_that_does_not_come(stops, size):
    """It has not called the operator, or its process is stopped."""
    with group(*singles(3), **SCALED) as trio:
        first, second, last = trio.members
        if stops:
            last.program.send_signal(signal.SIGSTOP)
        for member in (first, second):
            queue_sum(member, size)
            member.begin(WAIT)
        expect([first, second], LATE, "EI0002: rank ", "has waited for rank 2 until its time-out (HCCL_EXEC_TIMEOUT)")
        if stops:
            last.program.send_signal(signal.SIGCONT)
        queue_sum(last, size)
        last.begin(WAIT)
        expect([last], LATE, "has waited for rank 2")
        assert trio.all(ERROR) == [21, 21, 21]


def test_a_process_that_is_stopped_while_it_waits():
    """Its rank has arrived, so the others do their shares, and then wait for it to be done."""
    with group(*singles(2), **SCALED) as two:
        first, last = two.members
        queue_sum(last, LONG)
        assert last("acl.rt.synchronize_stream_with_timeout(ranks.streams[1], 20)") != 0
        last.program.send_signal(signal.SIGSTOP)
        queue_sum(first, LONG)
        first.begin(WAIT)
        expect([first], LATE, "EI0002: rank 0 has waited for rank 1 until its time-out")
        last.program.send_signal(signal.SIGCONT)
        assert last(WAIT)[0] == LATE


def test_ranks_that_resume():
    """One rank is aborted, and all of them resume, after different numbers of calls."""
    with group(*singles(3)) as trio:
        first, second, last = trio.members
        for member in (first, second):
            queue_sum(member, LONG)
        assert last("acl.rt.device_task_abort(0, 0)") == 0
        assert last("LIBRARY.HcclBarrier(DEVICE(ranks.comms[2]), DEVICE(ranks.streams[2]))") == 22
        for member in (first, second):
            assert member("acl.rt.device_task_abort(0, 0)") == 0
        trio.all("LIBRARY.HcclCommResume(DEVICE(ranks.comms[ranks.here[0]]))")
        trio.all("checks.all_reduce(ranks, 'f4', 'sum', 5000).size")
        trio.all("checks.ring(ranks, 9)")
        assert trio.all(ERROR) == [0, 0, 0]


def test_a_message_that_is_not_received():
    with group(*singles(2), **SCALED) as two:
        sender, receiver = two.members
        two.all("b := checks.put_all(ranks, checks.inputs(ranks, 'f4', 9))")
        sender("ranks.call(0, 'Send', b[0], checks.size_of(9), 4, 1)")
        sender.begin(WAIT)
        expect([sender], LATE, "EI0002: rank 0 has waited for rank 1, which has not received")
        receiver("ranks.call(1, 'Recv', b[1], checks.size_of(9), 4, 0)")
        receiver.begin(WAIT)
        expect([receiver], LATE, "which has not received")


# ---- the creation ----


def test_a_rank_that_does_not_join():
    with processes(2, ACL_SIM_HCCL_TIME_SCALE="0.002") as members:
        begin_joins(members, 3)
        expect_that_rank_2_is_late(members)


@pytest.mark.parametrize("gone", [0, 1])
def test_a_process_that_ends_before_all_have_joined(gone):
    with processes(3) as members:
        begin_joins(members, 4)
        members[gone].kill()
        expect_that_one_is_lost(member for place, member in enumerate(members) if place != gone)


@pytest.mark.skipif(not FULL, reason="not run: it takes 10 seconds, the patience with an answer (CI_FULL=1 runs it)")
def test_a_process_that_is_stopped_after_it_has_joined():
    with processes(3) as members:
        info = begin_joins(members[:2], 3)
        members[1].program.send_signal(signal.SIGSTOP)
        members[2](OPEN)
        begin_join(members[2], 2, 3, info)
        for member in (members[0], members[2]):
            ret, text = member.end()
            assert ret == 9
            assert "EI0006: the process of rank 1 does not answer" in text
        members[1].program.send_signal(signal.SIGCONT)
        assert members[1].end()[0] == 0
        members[1]("stream = DEVICE(acl.rt.create_stream()[0])")
        assert members[1]("LIBRARY.HcclBarrier(comm, stream)") == 0
        assert members[1]("acl.rt.synchronize_stream(stream.value)") == GONE


def test_nothing_is_left_in_shared_memory(trio):
    before = set(os.listdir("/dev/shm"))
    queue_sum(trio.members[0], LONG)
    trio.members[1].kill()
    trio.members[2].kill()
    ret, _ = trio.members[0](WAIT)
    assert ret == GONE
    assert not {name for name in set(os.listdir("/dev/shm")) - before if "ascend" in name}
