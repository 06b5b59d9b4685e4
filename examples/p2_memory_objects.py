"""Host and device memory: allocate, set and copy it, and query how much is free (objects)."""

import acl


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


with acl.Device(0) as device, acl.Stream() as stream:
    say(f"initializing again is refused with {acl.init()}", f"run mode {device.run_mode}")
    before = device.memory()
    buffers = [acl.Buffer(256, policy=policy) for policy in ("huge_first", "huge_only", "normal_only")]
    buffers += [acl.Buffer(256, kind="host") for _ in range(2)]
    say(*map(repr, buffers))
    taken = device.memory()
    try:
        acl.Buffer(taken["HBM"].total, policy="huge_only")
    except acl.OutOfMemoryError as error:
        say(f"allocating more huge pages than available is refused with {error.code}")
    for value, (source, target) in enumerate(zip(buffers, buffers[1:] + buffers[:1])):
        source.fill(value)
        target.copy_from(source)
        say(f"set {source.kind} memory, copy {source.kind} to {target.kind}: {bytes(target)[:4].hex(' ')}")
    buffers[0].fill(9, stream=stream)
    buffers[0].copy_to(buffers[-1], stream=stream)
    say(f"set and copied in order, queued: {bytes(buffers[-1])[:4].hex(' ')}")  # waits for the stream
    for buffer in buffers:
        buffer.close()
    for kind, (free, total) in before.items():
        fell = "fell" if taken[kind].free < free else "did not fall"
        back = "rose again" if device.memory()[kind].free == free else "did not rise again"
        say(f"{kind}: free {free:#x} of {total:#x} bytes, {fell} to {taken[kind].free:#x}, {back}")
say(f"finalizing again is refused with {acl.finalize()}")
