"""The code under test: it knows nothing of a simulator."""

import acl


def fill_twice(count, value):
    """Return the sum of an array that two streams have worked on."""
    with acl.Device(0), acl.Stream() as first, acl.Stream() as second:
        array = acl.DeviceArray.zeros(count, "u1", stream=first)
        second.wait(first)
        array.fill(value, stream=second)
        return int(array.to_numpy().sum())
