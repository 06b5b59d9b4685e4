"""Communicators of the objects: what each operation returns, groups, threads, captures."""

import contextlib
import gc
import pickle
import threading

import ml_dtypes
import numpy
import pytest
from helpers.communicators import group_of
from helpers.objects import raises

import acl

pytestmark = pytest.mark.needs_sim
OPS = {"sum": numpy.add, "prod": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum}
KINDS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", ml_dtypes.bfloat16)


@pytest.fixture(scope="module", params=[1, 3])
def group(request):
    with group_of(request.param) as made:
        yield made


@pytest.fixture
def pair():
    with group_of(2) as made:
        yield made


def equal(found, expected):
    assert [each is None for each in found] == [each is None for each in expected]
    for one, other in zip(found, expected):
        if one is not None:
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            numpy.testing.assert_array_equal(one, other)


# --- Values


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("kind", ["i4", "f2", "f4", "?"])
def test_reductions(group, kind, op):
    values = group.values(kind, 2, 3)
    total = OPS[op].reduce(values, dtype=kind)
    arrays = group.arrays(values)
    equal(group.numpy(group.call("all_reduce", arrays, op=op)), [total] * group.size)
    root = group.size - 1
    equal(group.numpy(group.call("reduce", arrays, op=op, root=root)), [None] * root + [total])
    blocks = group.values(kind, group.size, 5)
    found = group.call("reduce_scatter", group.arrays(blocks), op=op)
    equal(group.numpy(found), OPS[op].reduce(blocks, dtype=kind))
    equal(group.numpy(arrays), values)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_moves(group, kind):
    values, root = group.values(kind, 2, 3), group.size - 1
    equal(group.numpy(group.call("all_gather", group.arrays(values))), [values] * group.size)
    equal(group.numpy(group.call("broadcast", group.arrays(values), root=root)), [values[root]] * group.size)
    blocks = group.values(kind, group.size, 2)
    equal(group.numpy(group.call("scatter", group.arrays(blocks), root=root)), blocks[root])
    equal(group.numpy(group.call("all_to_all", group.arrays(blocks))), blocks.transpose(1, 0, 2))


def test_results_go_into_given_arrays(group):
    values = group.values("f4", group.size, 2)
    arrays, blocks, rows = group.arrays(values), group.arrays(values[0]), group.arrays(0 * values)
    for comm in group:
        rank, stream = comm.rank, group.streams[comm.rank]
        array, out = arrays[rank], rows[rank]
        assert comm.all_reduce(array, out=out, stream=stream) is out
        assert comm.all_to_all(out, out=array, stream=stream) is array
        assert comm.reduce(array, out=out, op="max", stream=stream) is (out if rank == 0 else None)
        assert comm.reduce_scatter(array, out=out[rank], stream=stream).shape == (2,)
        assert comm.scatter(array if rank == 0 else None, out=blocks[rank], stream=stream) is blocks[rank]
        assert comm.all_gather(blocks[rank], out=array, stream=stream) is array
        assert comm.broadcast(array, stream=stream) is array
        assert comm.all_reduce(array, out=array, op="min", stream=stream) is array
    total = values.sum(0)
    moved = numpy.array([[total[rank]] * group.size for rank in range(group.size)])
    equal(group.numpy(arrays), [moved[0]] * group.size)


def test_a_row_of_the_result_can_be_gathered(group):
    values = group.values("i4", 3)
    rows = group.arrays(numpy.zeros((group.size, group.size, 3), "i4"))
    for comm in group:
        stream, out = group.streams[comm.rank], rows[comm.rank]
        out[comm.rank].copy_from(values[comm.rank], stream=stream)
        comm.all_gather(out[comm.rank], out=out, stream=stream)
    equal(group.numpy(rows), [values] * group.size)


def test_arrays_without_elements_or_dimensions(group):
    values = group.values("f4")
    equal(group.numpy(group.call("all_reduce", group.arrays(values))), [values.sum(dtype="f4")] * group.size)
    equal(group.numpy(group.call("all_gather", group.arrays(values))), [values] * group.size)
    empty = group.values("f4", group.size, 0)
    equal(group.numpy(group.call("all_to_all", group.arrays(empty))), empty)
    equal(group.numpy(group.call("reduce_scatter", group.arrays(empty))), empty[0])


def test_messages(group):
    values = group.values("i2", 7)
    outs = group.arrays(0 * values)
    arrays = group.arrays(values)
    for comm in group:
        with comm.group():
            comm.send(arrays[comm.rank], (comm.rank + 1) % comm.size, stream=group.streams[comm.rank])
            found = comm.receive(outs[comm.rank], (comm.rank - 1) % comm.size, stream=group.streams[comm.rank])
            assert found is outs[comm.rank]
    equal(group.numpy(outs), numpy.roll(values, 1, 0))


# --- What a communicator is


def test_a_communicator_knows_its_place(group):
    names = {comm.name for comm in group}
    assert len(names) == 1 and names != {""}
    for number, comm in enumerate(group):
        assert (comm.rank, comm.size, comm.device) == (number, group.size, acl.Device(number))
        assert repr(comm) == f"<acl.Communicator {comm.handle:#x} rank {number} of {group.size} on device {number}>"
        comm.check()
        borrowed = acl.Communicator.from_handle(comm.handle)
        assert (borrowed.rank, borrowed.size, borrowed.name, borrowed.owned) == (number, group.size, comm.name, False)
        borrowed.close()
        assert borrowed.closed and not comm.closed


def test_all_takes_numbers_in_any_order(pair):
    for one, comm in enumerate(acl.Communicator.all(iter([1, 0]))):
        assert (comm.rank, comm.size, comm.device.id) == (one, 2, 1 - one)
        comm.close()
    alone = acl.Communicator.all([acl.Device(1)])
    assert [(comm.size, comm.device.id) for comm in alone] == [(1, 1)]
    alone[0].close()
    every = acl.Communicator.all()
    assert [comm.device.id for comm in every] == [0, 1]
    for comm in every:
        comm.close()
        comm.close()
        assert repr(comm) == "<acl.Communicator closed>"


def test_a_dropped_communicator_is_destroyed_with_a_warning(pair):
    before = acl.sim.live()
    with pytest.warns(ResourceWarning, match="unclosed <acl.Communicator"):
        acl.Communicator.all()
        gc.collect()
    assert acl.sim.live() == before


def test_communicators_are_not_pickled(pair):
    with pytest.raises(TypeError):
        pickle.dumps(pair.comms[0])


# --- Threads, and calls without a stream


def in_threads(size, run):
    """Run a function per rank, each in a thread, and raise the first exception."""
    errors = []

    def guarded(rank):
        try:
            run(rank)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_a_thread_per_rank_needs_no_streams(pair):
    info = acl.Communicator.root_info()
    assert isinstance(info, bytes) and len(info) == 4108
    found = {}

    def run(rank):
        with acl.Device(rank), acl.Communicator(rank, 2, memoryview(info)) as comm:
            assert (comm.rank, comm.size, comm.device.id) == (rank, 2, rank)
            array = acl.DeviceArray.from_numpy(numpy.arange(4) + rank)
            total = comm.all_reduce(array)
            if rank == 0:
                comm.send(total, 1)
            else:
                total.fill(0)
                comm.receive(total, 0)
            comm.barrier()
            found[rank] = total.to_numpy()

    in_threads(2, run)
    equal([found[0], found[1]], [2 * numpy.arange(4) + 1] * 2)


def test_a_call_without_a_stream_comes_after_earlier_work(pair):
    """The host has called for both ranks when the work before it ends."""
    values = pair.values("f4", 64)
    arrays = pair.arrays(0 * values)
    with acl.Device(0):
        acl.sim.hold(pair.streams[0].handle)
    for comm in pair:
        arrays[comm.rank].copy_from(acl.DeviceArray.from_numpy(values[comm.rank]), stream=pair.streams[comm.rank])
    with acl.Communicator.group():
        outs = [comm.all_reduce(arrays[comm.rank]) for comm in pair]
        with acl.Device(0):
            acl.sim.release(pair.streams[0].handle)
    equal([out.to_numpy() for _, out in zip(pair, outs)], [values.sum(0)] * 2)


# --- Groups


def test_groups_nest_and_wait_at_the_outermost_end(pair):
    values = pair.values("i4", 3)
    arrays, outs = pair.arrays(values), pair.arrays(0 * values)
    with acl.Communicator.group():
        for comm in pair:
            with comm.group():
                comm.send(arrays[comm.rank], 1 - comm.rank)
            comm.receive(outs[comm.rank], 1 - comm.rank)
        assert [out.to_numpy().any() for _, out in zip(pair, outs)] == [False, False]
    equal([out.to_numpy() for _, out in zip(pair, outs)], values[::-1])


def test_a_group_creates_communicators_at_its_end(pair):
    info = acl.Communicator.root_info()
    with acl.Communicator.group():
        made = [acl.Communicator(comm.rank, 2, info) for comm in pair]
        assert repr(made[0]) == "<acl.Communicator closed>" and not made[0].owned
        with raises(acl.InvalidHandleError, "its group has not ended", "leave the `with` block"):
            made[0].barrier()
    assert [(comm.rank, comm.size, comm.owned) for comm in made] == [(0, 2, True), (1, 2, True)]
    with acl.Communicator.group():
        for _, comm in zip(pair, made):
            comm.barrier()
    for comm in made:
        comm.close()


def test_an_exception_in_a_group_is_raised_without_waiting(pair):
    """The other rank has not called: waiting for the first one would never end."""
    arrays = pair.arrays(pair.values("f4", 3))
    with pytest.raises(ZeroDivisionError), acl.Communicator.group():
        for comm in pair:
            comm.all_reduce(arrays[comm.rank], out=arrays[comm.rank])
            raise ZeroDivisionError
    with acl.Device(1):
        pair.comms[1].all_reduce(arrays[1], out=arrays[1])
    with acl.Communicator.group():  # the group has ended
        for comm in pair:
            comm.barrier()


def test_a_group_holds_memory_until_it_ends(pair):
    values = pair.values("f4", 1000)
    outs = pair.arrays(0 * values)
    with acl.Communicator.group():
        for comm in pair:
            mine = acl.DeviceArray.from_numpy(values[comm.rank])
            comm.send(mine, 1 - comm.rank, stream=pair.streams[comm.rank])
            comm.receive(outs[comm.rank], 1 - comm.rank, stream=pair.streams[comm.rank])
            mine.close()
    equal(pair.numpy(outs), values[::-1])


def test_memory_is_held_until_the_operation_has_run(pair):
    before = [acl.Device.current().memory_info().free for _ in pair]
    values = pair.values("f4", 1 << 20)
    for comm, stream in zip(pair, pair.streams):
        array = acl.DeviceArray.from_numpy(values[comm.rank])
        comm.all_reduce(array, out=array, stream=stream)
        array.close()
    for comm, stream in zip(pair, pair.streams):
        stream.synchronize()
        assert acl.Device.current().memory_info().free == before[comm.rank]


# --- Captures


def test_captured_operations_are_replayed(pair):
    values = pair.values("i4", 2, 3)
    arrays, outs, graphs = pair.arrays(values), pair.arrays(0 * values), []
    for comm, stream in zip(pair, pair.streams):
        with acl.capture(stream) as graph:
            comm.all_reduce(arrays[comm.rank], out=outs[comm.rank], stream=stream)
            comm.all_to_all(outs[comm.rank], out=arrays[comm.rank], stream=stream)
            comm.barrier(stream=stream)
        graphs.append(graph)
        assert len(graph) == 3
    for _ in range(3):
        for _, graph, stream in zip(pair, graphs, pair.streams):
            graph.replay(stream)
        total = values.sum(0, dtype=values.dtype)
        values = numpy.array([[total[rank]] * 2 for rank in range(2)])
    equal(pair.numpy(outs), [total] * 2)
    equal(pair.numpy(arrays), values)
    for graph in graphs:
        graph.close()


def test_a_replay_after_the_communicator_was_closed_fails(pair):
    arrays, graphs = pair.arrays(pair.values("f4", 3)), []
    for comm, stream in zip(pair, pair.streams):
        with acl.capture(stream) as graph:
            comm.broadcast(arrays[comm.rank], stream=stream)
        graphs.append(graph)
    pair.comms[1].close()
    for _, graph, stream in zip(pair, graphs, pair.streams):
        with raises(acl.AclError, "507901", "destroyed"):
            graph.run(stream)
        graph.close()


# --- Failures that another rank causes


def test_arguments_that_differ_fail_on_all_ranks(pair):
    for comm, stream in zip(pair, pair.streams):
        comm.all_reduce(acl.DeviceArray.zeros(3 + comm.rank), stream=stream)
    for comm, stream in zip(pair, pair.streams):
        with raises(acl.InvalidArgumentError, "EI0005: count is 4 on rank 1 and 3 on rank 0"):
            stream.synchronize()
        comm.check()


def test_a_rank_that_leaves_fails_the_others(pair):
    with acl.Device(0):
        pair.comms[0].barrier(stream=pair.streams[0])
    pair.comms[1].close()
    with acl.Device(0):
        with raises(acl.AclError, "507901", "the communicator of rank 1 was destroyed"):
            pair.streams[0].synchronize()
        with raises(acl.AclError, "because of another rank", "create a new group") as caught:
            pair.comms[0].check()
        assert (caught.value.code, caught.value.name) == (21, "HCCL_E_REMOTE")


def test_a_rank_that_does_not_come_times_out(monkeypatch):
    monkeypatch.setenv("HCCL_EXEC_TIMEOUT", "68")
    acl.sim.reset()
    acl.sim.configure(devices=2, hccl_time_scale=0.0001)
    with contextlib.ExitStack() as stack:
        for number in (1, 0):
            stack.enter_context(acl.Device(number))
        first, second = (stack.enter_context(comm) for comm in acl.Communicator.all())
        with raises(acl.TimedOutError, "EI0002", "rank 0 has waited for rank 1"):
            first.all_reduce(acl.DeviceArray.zeros(3))
        with raises(acl.TimedOutError, "1 of 2 ranks have joined", "every rank has to create"):
            acl.Communicator(0, 2, acl.Communicator.root_info())
    acl.sim.reset()


def test_ctrl_c_ends_the_creation(run_script):
    """The rank is destroyed when the other one comes, which is told at once."""
    code = """
import acl, signal
acl.sim.configure(devices=2, memory="1Gi")
with acl.Device(0), acl.Device(1):
    info = acl.Communicator.root_info()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        acl.Communicator(1, 2, info)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not interrupted")
    with acl.Device(0), acl.Communicator(0, 2, info) as comm:
        try:
            comm.barrier()
        except acl.AclError as error:
            print(error.code, error)
"""
    done = run_script(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("507901 ") and "the communicator of rank 1 was destroyed" in done.stdout
