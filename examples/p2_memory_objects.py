"""Host and device memory: allocating, setting, copying, and how much is left (objects)."""

import acl

KINDS = ("DDR", "HBM", "DDR huge pages", "DDR normal pages", "HBM huge pages", "HBM normal pages")


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


def memory(when):
    found = [device.memory_info(attribute) for attribute in range(len(KINDS))]
    say(*(f"{name} {when}: free {free:#x} of {total:#x} bytes" for name, (free, total) in zip(KINDS, found)))
    return [free for free, _ in found]


def first(buffer):
    return bytes(buffer)[:4].hex(" ")


with acl.Device(0) as device, acl.Stream() as stream:
    say("initialize", f"initializing again is refused with {acl.init()}", f"set device {device.id}")
    say(f"run mode {('ACL_DEVICE', 'ACL_HOST')[acl.rt.get_run_mode()[0]]}", f"create stream {stream.handle:#x}")
    before = memory("before")
    source, target = (acl.Buffer(256, kind="host") for _ in range(2))
    say(*(f"host memory {buffer.handle:#x}, {len(buffer)} bytes" for buffer in (source, target)))
    policies = [(256, "huge_first"), (256, "huge_only"), (256, "normal_only"), ((4 << 20) - 64, "huge_only")]
    blocks = [acl.Buffer(size, policy=policy) for size, policy in policies]
    for block, (size, policy) in zip(blocks, policies):
        say(f"device memory {block.handle:#x}, {size} bytes, {policy.upper()}")
    for name, was, free in zip(KINDS, before, memory("after")):
        say(f"{name} {'fell' if free < was else 'did not fall'}")
    say(f"all in all {device.memory_info().total:#x} bytes")
    try:
        acl.Buffer(device.memory_info().total, policy="huge_only")
    except acl.OutOfMemoryError as error:
        say(f"taking more huge pages than there are is refused with {error.code}")
    source.fill(1)
    blocks[0].fill(0)
    blocks[1].fill(0)
    say("set host memory to 1", "set device memory to 0", "set device memory to 0")
    say(f"copy device to host: {first(blocks[0])}")
    blocks[0].copy_from(source)
    blocks[1].copy_from(blocks[0], size=256)
    say("copy host to device", "copy device to device", f"copy device to host: {first(blocks[1])}")
    target.fill(2)
    source.copy_from(target)
    say("set host memory to 2", f"copy host to host: {first(source)}")
    blocks[2].fill(3, stream=stream)
    blocks[2].copy_to(target, stream=stream)
    stream.synchronize()
    say("set device memory to 3, queued", "copy device to host, queued", "synchronize stream")
    say(f"copied in order: {first(target)}")
    for what, buffer in [("device", block) for block in blocks] + [("host", source), ("host", target)]:
        say(f"free {what} memory {buffer.handle:#x}")
        buffer.close()
    say(f"free memory is {'as before' if memory('at the end') == before else 'less than before'}")
say("destroy stream", "reset device 0", "finalize", f"finalizing again is refused with {acl.finalize()}")
