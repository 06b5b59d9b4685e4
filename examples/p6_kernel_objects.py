"""A custom kernel in NumPy: load, launch, capture and replay it, and launch it another way (objects)."""

import numpy

import acl

COUNT, BLOCKS, ROUNDS = 8, 4, 3


def touches(launch, x, y, z, count):
    return [(x, count * 4, False), (y, count * 4, False), (z, count * 4, True)]


@acl.sim.custom_kernel("vector_add", "vector_add.o", parameters="PPPQ", touches=touches)
def vector_add(launch, x, y, z, count):
    part = slice(launch.block, count, launch.blocks)
    x, y, z = (launch.array(address, count, "f4") for address in (x, y, z))
    z[part] = x[part] + y[part]


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


def show(stream, array):
    print(*(f"{value:g}" for value in array.to_numpy(stream=stream)))


with acl.Device(0), acl.Stream() as stream:
    say("initialise", "set device 0", "create stream")
    binary = acl.Binary("vector_add.o")
    kernel = binary.kernel("vector_add", parameters="PPPQ")
    say("load vector_add.o", "find vector_add")
    x, y = (acl.DeviceArray.from_numpy(step * numpy.arange(1, COUNT + 1, dtype="f4")) for step in (1, 10))
    arguments = x, y, y, COUNT
    say("argument list", "arguments x, y, y, count")
    kernel(BLOCKS, *arguments, stream=stream)
    say("launch 4 blocks")
    show(stream, y)
    with acl.capture(stream) as graph:
        kernel(BLOCKS, *arguments, stream=stream)
    say("begin capture", "captured launch", "end capture")
    for _ in range(ROUNDS):
        graph.replay(stream)
        say("replay")
        show(stream, y)
    acl.Kernel(binary, "vector_add")(BLOCKS, x, y, y, numpy.uint64(COUNT))  # sized arguments, at once
    say("launch another way")
    show(stream, y)
    for what, resource in (("destroy instance", graph), ("unload vector_add.o", binary), ("free x", x), ("free y", y)):
        resource.close()
        say(what)
say("destroy stream", "reset device 0", "finalise")
