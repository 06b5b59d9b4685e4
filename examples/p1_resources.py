"""Devices, contexts and streams: acquired in one order, and released in the opposite order (pyACL)."""

import sys

import acl

DEVICE = 0
STREAMS = 3
STEPS = 4
CELL = 64  # bytes
DEFAULT_STREAM = 0
MALLOC_HUGE_FIRST = 0
DEVICE_TO_HOST, DEVICE_TO_DEVICE = 2, 3
RUN_MODES = {0: "ACL_DEVICE, host buffers are not needed", 1: "ACL_HOST, host buffers are needed"}


def check(ret, function, what):
    """Print that a step succeeded, or exit with the reason why it failed."""
    if ret != 0:
        sys.exit(f"[ERROR] {function} failed {ret} {acl.get_recent_err_msg()}")
    print(f"[INFO] {what} ok")


def refused(ret, code, what):
    """Print that a step in the wrong order was refused as expected, or exit."""
    if ret != code:
        sys.exit(f"[ERROR] {what} returned {ret}, expected {code}")
    print(f"[INFO] {what} is refused with {ret} ok")


class Steps:
    """Tasks that record their order in memory: each sets a cell and copies it to an address of its own."""

    def __init__(self):
        self.cell, ret = acl.rt.malloc(CELL * (1 + STEPS), MALLOC_HUGE_FIRST)
        check(ret, "aclrtMalloc", f"device memory {self.cell:#x}")

    def submit(self, step, stream):
        target = self.cell + CELL * step
        ret = acl.rt.memset_async(self.cell, CELL, step, CELL, stream)
        return ret or acl.rt.memcpy_async(target, CELL, self.cell, CELL, DEVICE_TO_DEVICE, stream)

    def finish(self, stream, name):
        check(acl.rt.synchronize_stream(stream), "aclrtSynchronizeStream", f"synchronize {name}")
        seen = bytes(CELL * STEPS)
        ret = acl.rt.memcpy(acl.util.bytes_to_ptr(seen), len(seen), self.cell + CELL, len(seen), DEVICE_TO_HOST)
        check(ret, "aclrtMemcpy", f"{name} ran its tasks in the order {' '.join(str(value) for value in seen[::CELL])}")
        check(acl.rt.free(self.cell), "aclrtFree", f"free {name}'s memory")


def one_thread(stream, name):
    """Run the steps on one stream."""
    steps = Steps()
    for step in range(1, STEPS + 1):
        check(steps.submit(step, stream), "aclrtMemcpyAsync", f"submit task {step} to {name}")
    steps.finish(stream, name)


def several_streams():
    """Run the steps on several streams in parallel: only the order within each stream is defined."""
    streams = []
    for number in range(STREAMS):
        stream, ret = acl.rt.create_stream()
        check(ret, "aclrtCreateStream", f"create stream {number} {stream:#x}")
        streams.append((stream, f"stream {number}", Steps()))
    for step in range(1, STEPS + 1):
        for stream, name, steps in streams:
            check(steps.submit(step, stream), "aclrtMemcpyAsync", f"submit task {step} to {name}")
    for stream, name, steps in streams:
        steps.finish(stream, name)
        check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", f"destroy {name}")


def work(task):
    """Run the steps on a new thread, which has no current context and so sets one first."""
    context, streams, codes, number = task
    steps, stream = streams[number][1], streams[number][0]
    codes[number] = acl.rt.set_context(context)
    for step in range(1, STEPS + 1):
        codes[number] = codes[number] or steps.submit(step, stream)
    codes[number] = codes[number] or acl.rt.synchronize_stream(stream)


def several_threads():
    """Run the steps on several threads, each with its own stream, in one context that they share."""
    context, ret = acl.rt.create_context(DEVICE)
    check(ret, "aclrtCreateContext", f"create context {context:#x}")
    device, ret = acl.rt.get_device()
    check(ret, "aclrtGetDevice", f"the context's device {device}")
    streams, codes, threads = [], [None] * STREAMS, []
    for number in range(STREAMS):
        stream, ret = acl.rt.create_stream()
        check(ret, "aclrtCreateStream", f"create stream {number} {stream:#x}")
        streams.append((stream, Steps()))
    for number in range(STREAMS):
        thread, ret = acl.util.start_thread(work, (context, streams, codes, number))
        check(ret, "acl.util.start_thread", f"start thread {number}")
        threads.append(thread)
    for number, thread in enumerate(threads):
        check(acl.util.stop_thread(thread), "acl.util.stop_thread", f"join thread {number}")
        check(codes[number], "a call of the thread", f"thread {number}")
    for number, (stream, steps) in enumerate(streams):
        steps.finish(stream, f"stream {number}")
        check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", f"destroy stream {number}")
    check(acl.rt.destroy_context(context), "aclrtDestroyContext", "destroy context")


def main():
    check(acl.init(), "aclInit", "initialize")
    count, ret = acl.rt.get_device_count()
    check(ret, "aclrtGetDeviceCount", f"device count {count}")
    check(acl.rt.set_device(DEVICE), "aclrtSetDevice", f"set device {DEVICE}")
    device, ret = acl.rt.get_device()
    check(ret, "aclrtGetDevice", f"current device {device}")
    mode, ret = acl.rt.get_run_mode()
    check(ret, "aclrtGetRunMode", f"run mode {RUN_MODES[mode]}")
    default_context, ret = acl.rt.get_context()
    check(ret, "aclrtGetCurrentContext", f"the device's default context {default_context:#x}")

    one_thread(DEFAULT_STREAM, "the default stream")
    several_streams()
    several_threads()
    check(acl.rt.set_context(default_context), "aclrtSetCurrentContext", "back to the default context")

    refused(acl.rt.destroy_stream(DEFAULT_STREAM), 100000, "destroying the default stream")
    refused(acl.rt.destroy_context(default_context), 107002, "destroying the default context")
    stream, ret = acl.rt.create_stream()
    check(ret, "aclrtCreateStream", f"create stream {stream:#x}")
    check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", "destroy the stream")
    check(acl.rt.reset_device(DEVICE), "aclrtResetDevice", f"reset device {DEVICE}")
    refused(acl.rt.destroy_stream(stream), 107017, "destroying a stream twice")
    refused(acl.rt.reset_device(DEVICE), 507007, "resetting a device twice")
    check(acl.finalize(), "aclFinalize", "finalize")


if __name__ == "__main__":
    main()
