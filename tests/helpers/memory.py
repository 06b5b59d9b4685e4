"""Device memory and pinned memory of one test, and their contents."""

import numpy

import acl
from acl._lib import ffi

TO_DEVICE, TO_HOST = 1, 2


class Memory:
    """Blocks that are freed at the end."""

    def __init__(self):
        self.blocks, self.hosts = [], []

    def block(self, size, policy=0):
        """Return the address of device memory."""
        address, ret = acl.rt.malloc(size, policy)
        assert ret == 0
        self.blocks.append(address)
        return address

    def free(self, address):
        """Free device memory before the end; return ret."""
        self.blocks.remove(address)
        return acl.rt.free(address)

    def pinned(self, size):
        """Return pinned host memory, as (address, view)."""
        address, ret = acl.rt.malloc_host(size)
        assert ret == 0
        self.hosts.append(address)
        return address, numpy.frombuffer(ffi.buffer(ffi.cast("char *", address), size), dtype=numpy.uint8)

    def close(self):
        """Free everything that the test has not freed."""
        for address in self.blocks:
            acl.rt.free(address)
        for address in self.hosts:
            acl.rt.free_host(address)


def read(address, size):
    """Return the bytes of device memory."""
    out = numpy.empty(size, dtype=numpy.uint8)
    assert acl.rt.memcpy(out.ctypes.data, size, address, size, TO_HOST) == 0
    return out


def write(address, values):
    """Set device memory to the bytes of an array."""
    values = numpy.ascontiguousarray(values)
    assert acl.rt.memcpy(address, values.nbytes, values.ctypes.data, values.nbytes, TO_DEVICE) == 0
