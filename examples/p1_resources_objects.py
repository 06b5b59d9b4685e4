"""Devices, contexts and streams: acquired in one order, and released in the opposite order (objects)."""

from concurrent.futures import ThreadPoolExecutor

import acl


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


def submit(stream, memory, context):
    """Queue tasks that record their order in memory: each sets a cell and copies it to a row of its own."""
    context.use()  # a new thread has no current context
    for step in range(1, 5):
        memory[0].fill(step, stream=stream)
        memory[step].copy_from(memory[0], stream=stream)


def run(streams, context, each=map):
    """Run the tasks on parallel streams, submitted by this thread or, with an executor's ``map``, by other threads."""
    arrays = [acl.DeviceArray((5, 64), "u1") for _ in streams]
    list(each(submit, streams, arrays, [context] * len(streams)))
    for number, (stream, array) in enumerate(zip(streams, arrays)):
        order = " ".join(map(str, array.to_numpy()[1:, 0]))  # waits for the stream
        name = f"stream {number} {stream.handle:#x}" if stream.owned else "the default stream"
        say(f"{name} ran its tasks in the order {order}")
        stream.close()


with acl.Device(0) as device:
    default = acl.Context.current()
    say(f"device count {device.count()}", f"current device {acl.Device().id}", f"run mode {device.run_mode}")
    say(f"the device's default context {default.handle:#x}")
    run([acl.Stream.default()], default)
    run([acl.Stream() for _ in range(3)], default)
    with acl.Context(device) as context, ThreadPoolExecutor() as threads:
        say(f"create context {context.handle:#x}", f"the context's device {context.device.id}")
        run([acl.Stream() for _ in range(3)], context, threads.map)
    say(f"destroying the default stream is refused with {acl.rt.destroy_stream(0)}")
    say(f"destroying the default context is refused with {acl.rt.destroy_context(default.handle)}")
    stream = acl.Stream()
say(f"destroying a stream after its device is refused with {acl.rt.destroy_stream(stream.handle)}")
say(f"resetting a device twice is refused with {acl.rt.reset_device(0)}")
