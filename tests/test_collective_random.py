"""Random programs of collectives on several communicators, groups and streams leave what a model in NumPy leaves.

No thread synchronises: the work is queued, and the host waits for a callback at the end of each stream. There are 1,000
programs with CI_FULL set.
"""

import contextlib
import functools
import inspect
import os
import random
import threading

import numpy
import pytest
from helpers.collective import OPS, reduced

import acl

pytestmark = pytest.mark.needs_sim
DEVICES, CELLS, LIMIT = 8, 3, 120
SEEDS = 100 if os.environ.get("CI_FULL") else 1  # of each share
LONG, QUEUE = 20, 1000  # each LONG-th program queues that many operators on a device


@pytest.fixture(scope="module")
def devices():
    acl.sim.reset()
    acl.sim.configure(devices=DEVICES)
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(acl.Device(number)) for number in range(DEVICES)]
    acl.sim.reset()


class Cell:
    """An array of a rank on the device, and the streams of the device that have used it."""

    def __init__(self, array):
        self.array, self.streams = array, set()


class Group:
    """The communicators of some devices, and cells of one block per rank: on the devices, and as the model has them.

    ``hosts[cell][rank]`` is an array of the model.
    """

    def __init__(self, program, numbers):
        rng = program.rng
        self.comms, self.numbers, self.size = acl.Communicator.all(numbers), numbers, len(numbers)
        self.kind = rng.choice(["i1", "i4", "f2", "f4"])
        self.width = rng.choice([1, 3, 17, 1500])
        shape = CELLS, self.size, self.size, self.width
        self.hosts = numpy.random.default_rng(program.seed).integers(-4, 5, shape).astype(self.kind)
        self.cells = [
            [self.cell(program, number, host) for number, host in zip(numbers, hosts)] for hosts in self.hosts
        ]

    def cell(self, program, number, host):
        program.use(number)
        return Cell(acl.DeviceArray.from_numpy(host))

    def ranks(self):
        return range(self.size)


class Program:
    """A list of calls per device, and what they compute. Each ``do_`` adds one step to both.

    An operation is the places of the cells that it uses, a function that queues it for a rank on a stream, and one that
    computes it in the model. The calls of each device are in one order, so that no program waits for itself.
    """

    def __init__(self, seed):
        self.seed, self.rng = seed, random.Random(seed)
        self.calls = [[] for _ in range(DEVICES)]
        self.streams, self.graphs, self.contexts = [], [], []
        for number in range(DEVICES):
            acl.Device(number).use()
            self.contexts.append(acl.rt.get_context()[0])
            self.streams.append([acl.Stream() for _ in range(self.rng.randint(1, 3))])
        self.groups = [
            Group(self, self.rng.sample(range(DEVICES), self.rng.randint(1, DEVICES)))
            for _ in range(self.rng.randint(1, 3))
        ]
        self.steps = [step for name, step in inspect.getmembers(self, inspect.ismethod) if name.startswith("do_")]

    def use(self, number):
        assert acl.rt.set_context(self.contexts[number]) == 0

    # --- The parts of a step

    def order(self, stream, cells):
        """Let a stream come after the others that have used some cells, which is a program's to do."""
        for cell in cells:
            for other in cell.streams - {stream}:
                stream.wait(other)
            cell.streams.add(stream)

    def add(self, number, cells, call):
        """Add a call to a device: on one of its streams, after earlier work on some cells."""
        stream = self.rng.choice(self.streams[number])

        def run():
            self.order(stream, cells)
            call(stream)

        self.calls[number].append(run)

    def add_each(self, group, places, call):
        """Add a call of each rank, which uses its cells at these places."""
        for rank, number in enumerate(group.numbers):
            cells = [group.cells[place][rank] for place in places]
            self.add(number, cells, functools.partial(call, rank))

    def collective(self, group):
        """Return a random collective."""
        rng, hosts = self.rng, group.hosts
        one, two = rng.sample(range(CELLS), 2)
        root, op = rng.randrange(group.size), rng.choice(list(OPS))
        name = rng.choice(
            ["all_reduce", "in_place", "reduce", "broadcast", "all_gather", "row", "reduce_scatter", "scatter",
             "all_to_all", "barrier"]
        )  # fmt: skip

        def queue(rank, stream):
            comm, source, target = group.comms[rank], group.cells[one][rank].array, group.cells[two][rank].array
            options = {"stream": stream}
            if name == "all_reduce":
                comm.all_reduce(source, op=op, out=target, **options)
            elif name == "in_place":
                comm.all_reduce(source, op=op, out=source, **options)
            elif name == "reduce":
                comm.reduce(source, op=op, root=root, out=target, **options)
            elif name == "broadcast":
                comm.broadcast(source, root=root, **options)
            elif name == "all_gather":
                comm.all_gather(source[0], out=target, **options)
            elif name == "row":
                comm.all_gather(source[rank], out=source, **options)
            elif name == "reduce_scatter":
                comm.reduce_scatter(source, op=op, out=target[0], **options)
            elif name == "scatter":
                comm.scatter(source if rank == root else None, root=root, out=target[0], **options)
            elif name == "all_to_all":
                comm.all_to_all(source, out=target, **options)
            else:
                comm.barrier(**options)

        def compute():
            source, target = hosts[one].copy(), hosts[two]
            total = reduced(list(source), group.kind, op)
            if name == "all_reduce":
                target[:] = total
            elif name == "in_place":
                hosts[one][:] = total
            elif name == "reduce":
                target[root] = total
            elif name == "broadcast":
                hosts[one][:] = source[root]
            elif name == "all_gather":
                target[:] = source[:, 0]
            elif name == "row":
                hosts[one][:] = source[range(group.size), range(group.size)]
            elif name == "reduce_scatter":
                target[:, 0] = total
            elif name == "scatter":
                target[:, 0] = source[root]
            elif name == "all_to_all":
                target[:] = source.transpose(1, 0, 2)

        return (one, two), queue, compute

    def messages(self, group):
        """Return messages in a circle of some ranks, as one group of calls on each of them."""
        one, two = self.rng.sample(range(CELLS), 2)
        circle = self.rng.sample(group.ranks(), self.rng.randint(1, group.size))
        after = dict(zip(circle, circle[1:] + circle[:1]))
        before = {rank: other for other, rank in after.items()}
        depth = self.rng.randint(1, 3)

        def queue(rank, stream):
            if rank not in after:
                return
            comm = group.comms[rank]
            with contextlib.ExitStack() as stack:
                for _ in range(depth):
                    stack.enter_context(comm.group())
                comm.send(group.cells[one][rank].array, after[rank], stream=stream)
                with comm.group():
                    comm.receive(group.cells[two][rank].array, before[rank], stream=stream)

        def compute():
            for rank, other in before.items():
                group.hosts[two][rank] = group.hosts[one][other]

        return (one, two), queue, compute

    def operation(self, group):
        return self.messages(group) if self.rng.random() < 0.2 else self.collective(group)

    # --- Steps

    def do_operation(self, group):
        places, queue, compute = self.operation(group)
        self.add_each(group, places, queue)
        compute()

    def do_several_in_a_group(self, _group):
        """Collectives of some communicators, then messages: in a group of calls, messages are queued at its end."""
        chosen = [self.rng.choice(self.groups) for _ in range(self.rng.randint(1, 4))]
        parts = [(group, self.collective(group)) for group in chosen]
        if self.rng.random() < 0.5:
            parts.append((chosen[0], self.messages(chosen[0])))
        for number in {number for group in chosen for number in group.numbers}:
            mine = [(group, group.numbers.index(number), part) for group, part in parts if number in group.numbers]
            cells = [group.cells[place][rank] for group, rank, part in mine for place in part[0]]

            def queue(stream, mine=mine):
                with acl.Communicator.group():
                    for _, rank, (_, call, _) in mine:
                        call(rank, stream)

            self.add(number, cells, queue)
        for _, (_, _, compute) in parts:
            compute()

    def do_message(self, group):
        """One rank sends outside of a group, and another one receives."""
        if group.size < 2:
            return
        cells, (source, target) = group.cells[self.rng.randrange(CELLS)], self.rng.sample(group.ranks(), 2)
        sender, receiver = group.comms[source], group.comms[target]
        self.add(
            group.numbers[source], [cells[source]],
            lambda stream: sender.send(cells[source].array, target, stream=stream),
        )  # fmt: skip
        self.add(
            group.numbers[target], [cells[target]],
            lambda stream: receiver.receive(cells[target].array, source, stream=stream),
        )  # fmt: skip
        hosts = group.hosts[group.cells.index(cells)]
        hosts[target] = hosts[source]

    def do_local(self, group):
        """One rank changes a cell without the others."""
        rank, (one, two) = self.rng.choice(group.ranks()), self.rng.sample(range(CELLS), 2)
        target, source = group.cells[one][rank], group.cells[two][rank]
        if self.rng.random() < 0.5:
            self.add(group.numbers[rank], [target], lambda stream: target.array.fill(2, stream=stream))
            group.hosts[one][rank] = 2
        else:
            call = functools.partial(target.array.copy_from, source.array)
            self.add(group.numbers[rank], [target, source], lambda stream: call(stream=stream))
            group.hosts[one][rank] = group.hosts[two][rank]

    def do_capture(self, group):
        operations = [self.operation(group) for _ in range(self.rng.randint(1, 4))]
        places = {place for used, _, _ in operations for place in used}
        graphs = [None] * group.size

        def record(rank, stream):
            with acl.capture(stream, "relaxed") as graph:
                for _, call, _ in operations:
                    call(rank, stream)
            graphs[rank] = graph

        self.add_each(group, [], record)
        self.graphs.append((group, graphs, places, [compute for _, _, compute in operations]))
        self.do_replay(group)

    def do_replay(self, _group):
        if not self.graphs:
            return
        group, graphs, places, computes = self.rng.choice(self.graphs)
        self.add_each(group, places, lambda rank, stream: graphs[rank].replay(stream))
        for compute in computes:
            compute()

    # --- The run

    def build(self):
        length = self.rng.choice([20, 40, 100])
        while length > 0 or (self.seed % LONG == 0 and max(map(len, self.calls)) < QUEUE):
            self.rng.choice(self.steps)(self.rng.choice(self.groups))
            length -= 1

    def run_device(self, number):
        self.use(number)
        for call in self.calls[number]:
            call()

    def queue(self):
        """Queue everything: one device after the other, step by step, or each device in a thread of its own."""
        way = self.rng.choice(["devices", "steps", "threads"])
        if way == "devices":
            for number in self.rng.sample(range(DEVICES), DEVICES):
                self.run_device(number)
        elif way == "steps":
            left = [list(reversed(calls)) for calls in self.calls]
            while any(left):
                number = self.rng.choice([number for number in range(DEVICES) if left[number]])
                self.use(number)
                for _ in range(self.rng.randint(1, 8)):
                    if left[number]:
                        left[number].pop()()
        else:
            errors = []

            def guarded(number):
                try:
                    self.run_device(number)
                except BaseException as error:
                    errors.append(error)

            threads = [threading.Thread(target=guarded, args=[number]) for number in range(DEVICES)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert errors == []

    def wait(self):
        """Wait for a callback at the end of each stream; the library is only asked about events."""
        ended, left, lock, events = threading.Event(), [sum(map(len, self.streams))], threading.Lock(), []

        def end():
            with lock:
                left[0] -= 1
                if left[0] == 0:
                    ended.set()

        for number, streams in enumerate(self.streams):
            self.use(number)
            for stream in streams:
                stream.call(end)
                events.append(stream.record())
        if not ended.wait(LIMIT):
            waiting = [place for place, event in enumerate(events) if not event.query()]
            for number, streams in enumerate(self.streams):
                self.use(number)
                for stream in streams:
                    stream.abort()
            pytest.fail(f"program {self.seed} has not ended after {LIMIT} s: {waiting} of {len(events)} streams wait")
        for event in events:
            event.synchronize()  # the callback before it has ended
            event.close()

    def check(self):
        for group in self.groups:
            for cells, hosts in zip(group.cells, group.hosts):
                for number, cell, host in zip(group.numbers, cells, hosts):
                    self.use(number)
                    numpy.testing.assert_array_equal(cell.array.to_numpy(), host, f"program {self.seed}")

    def close(self):
        for group, graphs, _, _ in self.graphs:
            for number, graph in zip(group.numbers, graphs):
                self.use(number)
                if graph is not None:
                    graph.close()
        for number, streams in enumerate(self.streams):
            self.use(number)
            for stream in streams:
                stream.close()
        for group in self.groups:
            for comm in group.comms:
                comm.close()


@pytest.mark.parametrize("share", range(10))
def test_programs_end_with_what_the_model_has(devices, share):
    for seed in range(share * SEEDS, (share + 1) * SEEDS):
        program = Program(seed)
        try:
            program.build()
            program.queue()
            program.wait()
            program.check()
        finally:
            program.close()
