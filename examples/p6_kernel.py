"""A custom kernel in NumPy: load, launch, capture and replay it, and launch it another way (pyACL, with extensions).

The simulator calls the function below for each kernel of that name; the binary need not exist.
"""

import struct
import sys

import numpy

import acl

COUNT = 8
SIZE = COUNT * 4
BLOCKS = 4
ROUNDS = 3
HUGE_FIRST = 0
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
GLOBAL = 0


def touches(launch, x, y, z, count):
    """Return the memory that a launch uses, so that memory that is freed too early is detected."""
    return [(x, count * 4, False), (y, count * 4, False), (z, count * 4, True)]


@acl.sim.custom_kernel("vector_add", "vector_add.o", parameters="PPPQ", touches=touches)
def vector_add(launch, x, y, z, count):
    """Add the part of two vectors that belongs to one block."""
    part = slice(launch.block, count, launch.blocks)
    x, y, z = (launch.array(address, count, "f4") for address in (x, y, z))
    z[part] = x[part] + y[part]


def check(ret, function, what):
    """Print that a step succeeded, or exit with the reason why it failed."""
    if ret != 0:
        sys.exit(f"[ERROR] {function} failed {ret} {acl.get_recent_err_msg()}")
    print(f"[INFO] {what} ok")


def take(first, step):
    """Allocate device memory and fill it with equally spaced numbers."""
    device, ret = acl.rt.malloc(SIZE, HUGE_FIRST)
    floats = (first + step * numpy.arange(COUNT, dtype="f4")).tobytes()
    ret = ret or acl.rt.memcpy(device, SIZE, acl.util.bytes_to_ptr(floats), SIZE, HOST_TO_DEVICE)
    if ret != 0:
        check(ret, "acl.rt.malloc", "")
    return device


def show(stream, device):
    """Wait for the stream, and print the numbers in device memory."""
    floats = bytes(SIZE)
    ret = acl.rt.synchronize_stream(stream)
    ret = ret or acl.rt.memcpy(acl.util.bytes_to_ptr(floats), SIZE, device, SIZE, DEVICE_TO_HOST)
    if ret != 0:
        check(ret, "acl.rt.synchronize_stream", "")
    print(*(f"{value:g}" for value in numpy.frombuffer(floats, "f4")))


def arguments(function, x, y):
    """Return the argument list of the kernel."""
    handle, ret = acl.rt.kernel_args_init(function)
    check(ret, "acl.rt.kernel_args_init", "argument list")
    for number in (x, y, y, COUNT):
        value = struct.pack("Q", number)
        _, ret = acl.rt.kernel_args_append(handle, acl.util.bytes_to_ptr(value), len(value))
        if ret != 0:
            check(ret, "acl.rt.kernel_args_append", "")
    check(acl.rt.kernel_args_finalize(handle), "acl.rt.kernel_args_finalize", "arguments x, y, y, count")
    return handle


def main():
    """Run the program."""
    check(acl.init(), "acl.init", "initialise")
    check(acl.rt.set_device(0), "acl.rt.set_device", "set device 0")
    stream, ret = acl.rt.create_stream()
    check(ret, "acl.rt.create_stream", "create stream")
    binary, ret = acl.rt.binary_load_from_file("vector_add.o", [])
    check(ret, "acl.rt.binary_load_from_file", "load vector_add.o")
    function, ret = acl.rt.binary_get_function(binary, "vector_add")
    check(ret, "acl.rt.binary_get_function", "find vector_add")
    x, y = take(1, 1), take(10, 10)
    handle = arguments(function, x, y)
    launch = (function, BLOCKS, stream, [], handle, 0)
    check(acl.rt.launch_kernel_with_config(*launch), "acl.rt.launch_kernel_with_config", "launch 4 blocks")
    show(stream, y)
    check(acl.mdl.ri_capture_begin(stream, GLOBAL), "acl.mdl.ri_capture_begin", "begin capture")
    check(acl.rt.launch_kernel_with_config(*launch), "acl.rt.launch_kernel_with_config", "captured launch")
    instance, ret = acl.mdl.ri_capture_end(stream)
    check(ret, "acl.mdl.ri_capture_end", "end capture")
    for _ in range(ROUNDS):
        check(acl.mdl.ri_execute_async(instance, stream), "acl.mdl.ri_execute_async", "replay")
        show(stream, y)
    packed = struct.pack("4Q", x, y, y, COUNT)
    place = acl.util.bytes_to_ptr(packed)
    ret = acl.rt.launch_kernel_with_host_args(function, BLOCKS, stream, [], place, len(packed), [], 0)
    check(ret, "acl.rt.launch_kernel_with_host_args", "launch another way")
    show(stream, y)
    check(acl.mdl.ri_destroy(instance), "acl.mdl.ri_destroy", "destroy instance")
    check(acl.rt.binary_unload(binary), "acl.rt.binary_unload", "unload vector_add.o")
    check(acl.rt.free(x), "acl.rt.free", "free x")
    check(acl.rt.free(y), "acl.rt.free", "free y")
    check(acl.rt.destroy_stream(stream), "acl.rt.destroy_stream", "destroy stream")
    check(acl.rt.reset_device(0), "acl.rt.reset_device", "reset device 0")
    check(acl.finalize(), "acl.finalize", "finalise")


if __name__ == "__main__":
    main()
