"""Communicators of several devices in one thread, for tests of the objects."""

import contextlib

import numpy

import acl


class Group:
    """The communicators of devices 0 to ``size - 1``, and a stream for each."""

    def __init__(self, size):
        with contextlib.ExitStack() as stack:
            self.devices = [stack.enter_context(acl.Device(number)) for number in range(size)]
            self.comms = acl.Communicator.all(self.devices)
            self.size, self.streams = size, []
            for comm in self:
                stack.callback(comm.close)
                self.streams.append(stack.enter_context(acl.Stream()))
            self._stack = stack.pop_all()

    def __iter__(self):
        """Make the device of each rank current in turn, and give its communicator."""
        for device, comm in zip(self.devices, self.comms):
            with device:
                yield comm

    def arrays(self, values):
        """Return an array per rank."""
        return [acl.DeviceArray.from_numpy(values[comm.rank]) for comm in self]

    def numpy(self, arrays):
        """Return the contents of an array per rank, after its stream; None for a rank without one."""
        found = []
        for comm in self:
            self.streams[comm.rank].synchronize()
            found.append(None if arrays[comm.rank] is None else arrays[comm.rank].to_numpy())
        return found

    def call(self, name, arrays, **options):
        """Call a method on each rank with its array and its stream, and return the results."""
        return [getattr(comm, name)(arrays[comm.rank], stream=self.streams[comm.rank], **options) for comm in self]

    def values(self, kind, *shape, seed=0):
        """Return an array of NumPy per rank."""
        generator = numpy.random.default_rng([seed, self.size])
        return generator.integers(0, 5, (self.size, *shape)).astype(kind)

    def close(self):
        self._stack.close()


@contextlib.contextmanager
def group_of(size):
    """Give a :class:`Group` on a simulator with that many devices."""
    acl.sim.reset()
    acl.sim.configure(devices=size)
    group = Group(size)
    try:
        yield group
    finally:
        group.close()
        acl.sim.reset()
