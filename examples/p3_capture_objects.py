"""Single-stream capture: the work of a stream is recorded once and replayed eight times (objects)."""

from pathlib import Path

import acl


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


with acl.Device(0), acl.Stream() as stream:
    hosts = [acl.Buffer(32, kind="host") for _ in range(2)]
    for value, host in enumerate(hosts):
        host.numpy("f4")[:] = value
    mine, other, out = arrays = [acl.DeviceArray((4, 2)) for _ in range(3)]
    say("initialize", "set device", "stream", *["pinned host memory"] * 2, *["device memory"] * 3)
    say("workspace of the addition")
    with acl.capture(stream) as graph:
        say("begin capture")
        mine.copy_from(hosts[0], stream=stream)
        with acl.capture_mode("relaxed"):
            other.copy_from(hosts[1])
        say("captured copy to the device", "relax capture mode", "copy that runs at once", "restore capture mode")
        acl.nn.add(mine, other, alpha=1.1, out=out, stream=stream)
        out.copy_to(hosts[0], stream=stream)
        say("captured addition", "captured copy to the host")
    Path("modelRI.json").write_text(graph.to_json())
    say("end capture", "print to ./modelRI.json")
    print(f"[INFO] {len(graph)} tasks in ./modelRI.json")
    for _ in range(8):
        graph.run(stream)  # each round starts from the result of the last one
        say("replay")
        print(" ".join(f"{value:f}" for value in hosts[0].numpy("f4")))
    for resource in (graph, *arrays, *hosts):
        resource.close()
    say("destroy instance", *[f"free {name}" for name in ("self", "other", "out", "host self", "host other")])
say("destroy stream", "reset device", "finalize")
