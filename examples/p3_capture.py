"""Single-stream capture: the work of a stream is recorded once and replayed eight times (pyACL, with extensions)."""

import json
import sys

import numpy

import acl
from acl import nnop

DEVICE = 0
ROWS, COLUMNS = 4, 2
COUNT = ROWS * COLUMNS
SIZE = COUNT * 4
ROUNDS = 8
JSON = "./modelRI.json"
HUGE_FIRST = 0
HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2
FLOAT, ND = 0, 2
GLOBAL, RELAXED = 0, 2
SUMMARY = 0


def check(ret, function, what):
    """Print that a step succeeded, or exit with the reason why it failed."""
    if ret != 0:
        sys.exit(f"[ERROR] {function} failed {ret} {acl.get_recent_err_msg()}")
    print(f"[INFO] {what} ok")


def take_host(value):
    """Allocate pinned host memory and fill it with one value."""
    host, ret = acl.rt.malloc_host(SIZE)
    check(ret, "aclrtMallocHost", "pinned host memory")
    floats = numpy.full(COUNT, value, "f4").tobytes()
    ret = acl.rt.memcpy(host, SIZE, acl.util.bytes_to_ptr(floats), SIZE, HOST_TO_HOST)
    if ret != 0:
        check(ret, "aclrtMemcpy", "fill host memory")
    return host


def take_device():
    """Allocate device memory."""
    device, ret = acl.rt.malloc(SIZE, HUGE_FIRST)
    check(ret, "aclrtMalloc", "device memory")
    return device


def take_tensor(device):
    """Create a tensor over device memory."""
    return acl.create_tensor([ROWS, COLUMNS], FLOAT, [COLUMNS, 1], 0, ND, [ROWS, COLUMNS], device)


def capture(stream, copies, addition):
    """Capture a copy to the device, the addition and a copy back, and return the instance."""
    self_device, self_host, other_device, other_host, out_device = copies
    workspace, size, executor = addition
    check(acl.mdl.ri_capture_begin(stream, GLOBAL), "aclmdlRICaptureBegin", "begin capture")
    ret = acl.rt.memcpy_async(self_device, SIZE, self_host, SIZE, HOST_TO_DEVICE, stream)
    check(ret, "aclrtMemcpyAsync", "captured copy to the device")

    # In mode GLOBAL a synchronous copy fails.
    mode, ret = acl.mdl.ri_capture_thread_exchange_mode(RELAXED)
    check(ret, "aclmdlRICaptureThreadExchangeMode", "relax capture mode")
    ret = acl.rt.memcpy(other_device, SIZE, other_host, SIZE, HOST_TO_DEVICE)
    check(ret, "aclrtMemcpy", "copy that runs at once")
    mode, ret = acl.mdl.ri_capture_thread_exchange_mode(mode)
    check(ret, "aclmdlRICaptureThreadExchangeMode", "restore capture mode")

    check(nnop.add(workspace, size, executor, stream), "aclnnAdd", "captured addition")
    ret = acl.rt.memcpy_async(self_host, SIZE, out_device, SIZE, DEVICE_TO_HOST, stream)
    check(ret, "aclrtMemcpyAsync", "captured copy to the host")
    instance, ret = acl.mdl.ri_capture_end(stream)
    check(ret, "aclmdlRICaptureEnd", "end capture")
    return instance


def main():
    check(acl.init(), "aclInit", "initialize")
    check(acl.rt.set_device(DEVICE), "aclrtSetDevice", "set device")
    stream, ret = acl.rt.create_stream()
    check(ret, "aclrtCreateStream", "stream")
    self_host, other_host = take_host(0), take_host(1)
    self_device, other_device, out_device = take_device(), take_device(), take_device()
    self, other, out = (take_tensor(device) for device in (self_device, other_device, out_device))
    one_point_one = numpy.array([1.1], "f4").tobytes()
    alpha = acl.create_scalar(acl.util.bytes_to_ptr(one_point_one), FLOAT)
    size, executor, ret = nnop.add_get_workspace_size(self, other, alpha, out)
    check(ret, "aclnnAddGetWorkspaceSize", "workspace of the addition")
    workspace = 0
    if size != 0:
        workspace, ret = acl.rt.malloc(size, HUGE_FIRST)
        check(ret, "aclrtMalloc", "workspace")

    copies = self_device, self_host, other_device, other_host, out_device
    instance = capture(stream, copies, (workspace, size, executor))
    check(acl.mdl.ri_debug_json_print(instance, JSON, SUMMARY), "aclmdlRIDebugJsonPrint", f"print to {JSON}")
    with open(JSON, encoding="utf-8") as text:
        print(f"[INFO] {len(json.load(text))} tasks in {JSON}")

    for _ in range(ROUNDS):  # each round starts from the result of the last one
        ret = acl.mdl.ri_execute_async(instance, stream) or acl.rt.synchronize_stream(stream)
        check(ret, "aclmdlRIExecuteAsync", "replay")
        floats = numpy.frombuffer(acl.util.ptr_to_bytes(self_host, SIZE), "f4")
        print(" ".join(f"{value:f}" for value in floats))

    check(acl.mdl.ri_destroy(instance), "aclmdlRIDestroy", "destroy instance")
    for tensor in (self, other, out):
        acl.destroy_tensor(tensor)
    acl.destroy_scalar(alpha)
    if workspace != 0:
        check(acl.rt.free(workspace), "aclrtFree", "free workspace")
    check(acl.rt.free(self_device), "aclrtFree", "free self")
    check(acl.rt.free(other_device), "aclrtFree", "free other")
    check(acl.rt.free(out_device), "aclrtFree", "free out")
    check(acl.rt.free_host(self_host), "aclrtFreeHost", "free host self")
    check(acl.rt.free_host(other_host), "aclrtFreeHost", "free host other")
    check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", "destroy stream")
    check(acl.rt.reset_device(DEVICE), "aclrtResetDevice", "reset device")
    check(acl.finalize(), "aclFinalize", "finalize")


if __name__ == "__main__":
    main()
