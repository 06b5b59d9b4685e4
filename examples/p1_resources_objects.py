"""Devices, contexts and streams: what is acquired in which order, and given back in the opposite one (objects)."""

from threading import Thread

import acl

STREAMS = [f"stream {number}" for number in range(3)]


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


def submit(stream, memory, steps, context=None):
    """Queue tasks whose order shows in memory: each sets a cell and copies it to a place of its own."""
    if context:  # a new thread has none
        context.use()
    for step in steps:
        memory[0].fill(step, stream=stream)
        memory[step].copy_from(memory[0], stream=stream)


def run(names, context=None):
    work = []
    for name in names:
        work.append((acl.Stream() if name in STREAMS else acl.Stream.default(), acl.DeviceArray((5, 64), "u1")))
        say(*[f"create {name} {work[-1][0].handle:#x}"] * work[-1][0].owned, f"device memory {work[-1][1].handle:#x}")
    if context:
        threads = [Thread(target=submit, args=(*item, range(1, 5), context)) for item in work]
        for number, thread in enumerate(threads):
            thread.start()
            say(f"start thread {number}")
        for number, thread in enumerate(threads):
            thread.join()
            say(f"join thread {number}", f"thread {number}")
    for step in () if context else range(1, 5):
        for name, item in zip(names, work):
            submit(*item, [step])
            say(f"submit task {step} to {name}")
    for name, (stream, memory) in zip(names, work):
        order = " ".join(map(str, memory.to_numpy()[1:, 0]))  # waits for the stream
        memory.close()
        say(f"synchronize {name}", f"{name} ran its tasks in the order {order}", f"free {name}'s memory")
        if stream.owned:
            stream.close()
            say(f"destroy {name}")


with acl.Device(0) as device:
    default, mode = acl.Context.current(), ("ACL_DEVICE", "ACL_HOST")[acl.rt.get_run_mode()[0]]
    say("initialize", f"device count {device.count()}", f"set device {device.id}", f"current device {acl.Device().id}")
    need = "not needed" if mode == "ACL_DEVICE" else "needed"
    say(f"run mode {mode}, host buffers are {need}", f"the device's default context {default.handle:#x}")
    run(["the default stream"])
    run(STREAMS)
    with acl.Context(device) as context:
        say(f"create context {context.handle:#x}", f"the context's device {context.device.id}")
        run(STREAMS, context)
    say("destroy context", "back to the default context")
    say(f"destroying the default stream is refused with {acl.rt.destroy_stream(0)}")
    say(f"destroying the default context is refused with {acl.rt.destroy_context(default.handle)}")
    stream = acl.Stream()
    say(f"create stream {stream.handle:#x}")
say("reset device 0, which ends its streams")
say(f"destroying a stream after its device is refused with {acl.rt.destroy_stream(stream.handle)}")
say(f"resetting a device twice is refused with {acl.rt.reset_device(0)}", "finalize")
