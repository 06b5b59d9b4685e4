"""Two vectors in device memory, a custom kernel that adds one to the other, and every way to launch it."""

import struct
import time

import numpy

import acl
from acl._lib import ffi, lib

from .expect import NULL, pointer

rt = acl.rt
COUNT = 6


def touches(launch, x, y, z, count):
    return [(x, 4 * count, False), (y, 4 * count, False), (z, 4 * count, True)]


def add(launch, x, y, z, count):
    part = slice(launch.block, count, launch.blocks)
    x, y, z = (launch.array(address, count, "f4") for address in (x, y, z))
    z[part] = x[part] + y[part]


def last(microseconds):
    """Keep a block busy for some microseconds."""
    end = time.perf_counter_ns() + 1000 * microseconds
    while time.perf_counter_ns() < end:
        pass


def register():
    """Register the function of the kernel."""
    acl.sim.custom_kernel("vector_add", "vector_add", parameters="PPPQ", touches=touches)(add)


class Vectors:
    """Vectors x and y in device memory, and a kernel for y += x from a binary."""

    def __init__(self, stream, binary="vector_add.o"):
        self.stream = stream
        self.count = COUNT
        self.blocks = [rt.malloc(4 * COUNT, 0)[0] for _ in range(2)]
        self.fill()
        binary, ret = rt.binary_load_from_file(binary, [])
        assert ret == 0, acl.get_recent_err_msg()
        self.binary = binary
        self.function, ret = rt.binary_get_function(binary, "vector_add")
        assert ret == 0, acl.get_recent_err_msg()

    @property
    def words(self):
        return (self.blocks[0], self.blocks[1], self.blocks[1], self.count)

    @property
    def packed(self):
        return struct.pack("4Q", *self.words)

    def fill(self):
        for block, first in zip(self.blocks, (1, 10)):
            self.put(block, first * numpy.arange(COUNT, dtype="f4"))

    def put(self, block, array):
        content = array.tobytes()
        assert rt.memcpy(block, len(content), acl.util.bytes_to_ptr(content), len(content), 1) == 0

    def launch(self, blocks=2, cfg=(), stream=None):
        packed = self.packed
        place = acl.util.bytes_to_ptr(packed)
        stream = self.stream if stream is None else stream
        return rt.launch_kernel_with_host_args(self.function, blocks, stream, list(cfg), place, len(packed), [], 0)

    def result(self):
        """Return the factor of y, which is 10 at first; each launch of y += x adds 1."""
        host = bytes(4 * COUNT)
        assert rt.synchronize_stream(self.stream) == 0, acl.get_recent_err_msg()
        assert rt.memcpy(acl.util.bytes_to_ptr(host), len(host), self.blocks[1], len(host), 2) == 0
        values = numpy.frombuffer(host, "f4")
        assert (values == values[1] * numpy.arange(COUNT)).all()
        return values[1]


def in_device_memory(vectors):
    block, ret = rt.malloc(32, 0)
    assert ret == 0
    vectors.put(block, numpy.frombuffer(vectors.packed, "u1"))
    return block


def launch_plain(vectors):
    return rt.launch_kernel(vectors.function, 2, in_device_memory(vectors), 32, vectors.stream)


def launch_v2(vectors):
    cfg = ffi.new("aclrtLaunchKernelCfg *")
    block = pointer(in_device_memory(vectors))
    return lib.aclrtLaunchKernelV2(pointer(vectors.function), 2, block, 32, cfg, pointer(vectors.stream))


def launch_list(vectors):
    arguments, ret = rt.kernel_args_init(vectors.function)
    assert ret == 0
    for word in vectors.words:
        packed = struct.pack("Q", word)
        assert rt.kernel_args_append(arguments, acl.util.bytes_to_ptr(packed), 8)[1] == 0
    assert rt.kernel_args_finalize(arguments) == 0
    return rt.launch_kernel_with_config(vectors.function, 2, vectors.stream, [], arguments, 0)


def launch_array(vectors):
    values = ffi.new("uint64_t[4]", vectors.words)
    args = ffi.new("void *[4]", [values + place for place in range(4)])
    function, stream = pointer(vectors.function), pointer(vectors.stream)
    return lib.aclrtLaunchKernelWithArgsArray(function, 2, stream, NULL, args)


WAYS = [launch_plain, launch_v2, launch_list, launch_array, Vectors.launch]
