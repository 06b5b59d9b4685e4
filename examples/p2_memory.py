"""Host and device memory: allocate, set and copy it, and query how much is free (pyACL)."""

import sys

import acl

DEVICE = 0
SIZE = 256
LARGE = 4 * 1024 * 1024 - 64  # two huge pages
REPEAT_INITIALIZE, REPEAT_FINALIZE, OUT_OF_MEMORY = 100002, 100037, 207001
HUGE_ONLY = 1
POLICIES = {0: "HUGE_FIRST", HUGE_ONLY: "HUGE_ONLY", 2: "NORMAL_ONLY"}
ATTRIBUTES = ("DDR", "HBM", "DDR huge pages", "DDR normal pages", "HBM huge pages", "HBM normal pages")
HBM = 1
HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = range(4)


def check(ret, function, what):
    """Print that a step succeeded, or exit with the reason why it failed."""
    if ret != 0:
        sys.exit(f"[ERROR] {function} failed {ret} {acl.get_recent_err_msg()}")
    print(f"[INFO] {what} ok")


def refused(ret, code, what):
    """Print that a step was refused as expected, or exit."""
    if ret != code:
        sys.exit(f"[ERROR] {what} returned {ret}, expected {code}")
    print(f"[INFO] {what} is refused with {ret} ok")


def memory(when):
    """Return the free bytes of each memory type."""
    left = []
    for attribute, name in enumerate(ATTRIBUTES):
        free, total, ret = acl.rt.get_mem_info(attribute)
        check(ret, "aclrtGetMemInfo", f"{name} {when}: free {free:#x} of {total:#x} bytes")
        left.append(free)
    return left


def first_bytes(host):
    """Return the first bytes of host memory as text."""
    return acl.util.ptr_to_bytes(host, 4).hex(" ")


def take(policy, size):
    """Allocate device memory."""
    device, ret = acl.rt.malloc(size, policy)
    check(ret, "aclrtMalloc", f"device memory {device:#x}, {size} bytes, {POLICIES[policy]}")
    return device


def main():
    check(acl.init(), "aclInit", "initialize")
    refused(acl.init(), REPEAT_INITIALIZE, "initializing again")
    check(acl.rt.set_device(DEVICE), "aclrtSetDevice", f"set device {DEVICE}")
    mode, ret = acl.rt.get_run_mode()
    check(ret, "aclrtGetRunMode", f"run mode {('ACL_DEVICE', 'ACL_HOST')[mode]}")
    stream, ret = acl.rt.create_stream()
    check(ret, "aclrtCreateStream", f"create stream {stream:#x}")
    before = memory("before")

    source, ret = acl.rt.malloc_host(SIZE)
    check(ret, "aclrtMallocHost", f"host memory {source:#x}, {SIZE} bytes")
    target, ret = acl.rt.malloc_host(SIZE)
    check(ret, "aclrtMallocHost", f"host memory {target:#x}, {SIZE} bytes")
    blocks = [take(policy, SIZE) for policy in POLICIES]
    blocks.append(take(HUGE_ONLY, LARGE))
    after = memory("after")
    for name, was, free in zip(ATTRIBUTES, before, after):
        print(f"[INFO] {name} {'fell' if free < was else 'did not fall'} ok")
    _, total, ret = acl.rt.get_mem_info(HBM)
    check(ret, "aclrtGetMemInfo", f"total {total:#x} bytes")
    _, ret = acl.rt.malloc(total, HUGE_ONLY)
    refused(ret, OUT_OF_MEMORY, "allocating more huge pages than available")

    check(acl.rt.memset(source, SIZE, 1, SIZE), "aclrtMemset", "set host memory to 1")
    for device in blocks[:2]:
        check(acl.rt.memset(device, SIZE, 0, SIZE), "aclrtMemset", "set device memory to 0")
    ret = acl.rt.memcpy(target, SIZE, blocks[0], SIZE, DEVICE_TO_HOST)
    check(ret, "aclrtMemcpy", f"copy device to host: {first_bytes(target)}")
    check(acl.rt.memcpy(blocks[0], SIZE, source, SIZE, HOST_TO_DEVICE), "aclrtMemcpy", "copy host to device")
    check(acl.rt.memcpy(blocks[1], SIZE, blocks[0], SIZE, DEVICE_TO_DEVICE), "aclrtMemcpy", "copy device to device")
    ret = acl.rt.memcpy(target, SIZE, blocks[1], SIZE, DEVICE_TO_HOST)
    check(ret, "aclrtMemcpy", f"copy device to host: {first_bytes(target)}")
    check(acl.rt.memset(target, SIZE, 2, SIZE), "aclrtMemset", "set host memory to 2")
    ret = acl.rt.memcpy(source, SIZE, target, SIZE, HOST_TO_HOST)
    check(ret, "aclrtMemcpy", f"copy host to host: {first_bytes(source)}")

    check(acl.rt.memset_async(blocks[2], SIZE, 3, SIZE, stream), "aclrtMemsetAsync", "set device memory to 3, queued")
    ret = acl.rt.memcpy_async(target, SIZE, blocks[2], SIZE, DEVICE_TO_HOST, stream)
    check(ret, "aclrtMemcpyAsync", "copy device to host, queued")
    check(acl.rt.synchronize_stream(stream), "aclrtSynchronizeStream", "synchronize stream")
    print(f"[INFO] copied in order: {first_bytes(target)} ok")

    for device in blocks:
        check(acl.rt.free(device), "aclrtFree", f"free device memory {device:#x}")
    check(acl.rt.free_host(source), "aclrtFreeHost", f"free host memory {source:#x}")
    check(acl.rt.free_host(target), "aclrtFreeHost", f"free host memory {target:#x}")
    print(f"[INFO] free memory is {'as before' if memory('at the end') == before else 'less than before'} ok")
    check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", "destroy stream")
    check(acl.rt.reset_device(DEVICE), "aclrtResetDevice", f"reset device {DEVICE}")
    check(acl.finalize(), "aclFinalize", "finalize")
    refused(acl.finalize(), REPEAT_FINALIZE, "finalizing again")


if __name__ == "__main__":
    main()
