"""Launches of custom kernels: every way to pass arguments, blocks, attributes, symbols, chips, and failures."""

import struct

import pytest
from helpers import capture
from helpers.expect import NULL, pointer, refused
from helpers.vectors import COUNT, WAYS, Vectors, in_device_memory, last

import acl
from acl._lib import ffi, lib

rt = acl.rt
SCHEM_MODE, BLOCK_OFFSET, TIMEOUT, TIMEOUT_US = 1, 4, 7, 8

pytestmark = pytest.mark.needs_sim


@pytest.mark.parametrize("launch", WAYS)
def test_every_way_to_launch(vectors, launch):
    assert launch(vectors) == 0, acl.get_recent_err_msg()
    assert vectors.result() == 11


def test_the_function_sees_every_block_in_turn(vectors):
    seen = []
    acl.sim.custom_kernel("vector_add", "vector_add.o")(seen.append)
    assert vectors.launch(blocks=3) == 0
    assert rt.synchronize_stream(vectors.stream) == 0
    assert [(launch.block, launch.blocks) for launch in seen] == [(0, 3), (1, 3), (2, 3)]
    first = seen[0]
    assert (first.kernel, first.binary, first.args) == ("vector_add", "vector_add", vectors.packed)
    assert (first.grid, first.threads) == ((3, 1, 1), (1, 1, 1))


def test_placeholders_of_host_arguments(vectors):
    seen = []

    @acl.sim.custom_kernel("vector_add", parameters="QPI")
    def look(launch, number, place, more):
        seen.append((number, bytes(ffi.buffer(ffi.cast("void *", place), 4)), more))

    acl.sim.custom_kernel("vector_add", "vector_add")(None)
    packed = struct.pack("QPI4x", 1, 0, 2) + b"data"
    place = acl.util.bytes_to_ptr(packed)
    holders = [{"addrOffset": 8, "dataOffset": 24}]
    launch = (vectors.function, 1, vectors.stream, [], place, len(packed))
    assert rt.launch_kernel_with_host_args(*launch, holders, 1) == 0, acl.get_recent_err_msg()
    assert rt.synchronize_stream(vectors.stream) == 0, acl.get_recent_err_msg()
    assert seen == [(1, b"data", 2)]
    for wrong in ({"addrOffset": 21, "dataOffset": 24}, {"addrOffset": 8, "dataOffset": 28}):
        refused(rt.launch_kernel_with_host_args(*launch, [wrong], 1), 107000, "placeHolderArray[0]")


@pytest.mark.parametrize("blocks, code", [(0, 100000), (1, 0), (65535, 0), (65536, 107000)])
def test_numbers_of_blocks(vectors, blocks, code):
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: None)
    assert vectors.launch(blocks) == code
    assert rt.synchronize_stream(vectors.stream) == 0


@pytest.mark.parametrize(
    "cfg, said",
    [
        ([{"id": 0}], "cfg->attrs[0].id is 0"),
        ([{"id": TIMEOUT}, {"id": 10}], "cfg->attrs[1].id is 10"),
        ([{"id": SCHEM_MODE, "value": {"schemMode": 2}}], "schemMode is 2"),
        ([{"id": 3, "value": {"engineType": 2}}], "engineType is 2"),
    ],
)
def test_wrong_attributes(vectors, cfg, said):
    refused(vectors.launch(cfg=cfg), 107000, said)


def test_wrong_launches(vectors):
    packed = vectors.packed
    place = acl.util.bytes_to_ptr(packed)
    function, stream, block = vectors.function, vectors.stream, vectors.blocks[0]
    refused(rt.launch_kernel(function, 1, place, 32, stream), 107000, "argsData")
    refused(rt.launch_kernel(function, 1, block, 4096, stream), 107000, "argsData")
    refused(rt.launch_kernel(function, 1, 0, 8, stream), 100000, "argsData is NULL")
    refused(rt.launch_kernel(0, 1, block, 8, stream), 100000, "funcHandle is NULL")
    refused(rt.launch_kernel(stream, 1, block, 8, stream), 107017, "funcHandle", "a live stream")
    refused(rt.launch_kernel(function, 1, block, 8, function), 107017)
    refused(rt.launch_kernel_with_host_args(function, 1, stream, [], block, 8, [], 0), 107000, "hostArgs")
    refused(rt.launch_kernel_with_host_args(function, 1, stream, [], place, 2**40, [], 0), 107000, "argsSize")
    for func, code in ((NULL, 100000), (pointer(5), 107044), (pointer(stream), 107044)):
        args = ffi.new("void *[1]")
        assert lib.aclrtLaunchKernelWithArgsArray(func, 1, pointer(stream), NULL, args) == code


def test_a_kernel_without_implementation(vectors):
    acl.sim.custom_kernel("vector_add", "vector_add")(None)
    refused(vectors.launch(), 207000, "kernel vector_add", "acl.sim.custom_kernel", "aclsim_kernel_vector_add")


def test_the_nearest_implementation_runs(vectors):
    seen = []
    acl.sim.custom_kernel("vector_add")(lambda launch: seen.append("any"))
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: seen.append("own"))
    assert vectors.launch(1) == 0
    acl.sim.custom_kernel("vector_add", "vector_add.o")(None)
    acl.sim.custom_kernel("vector_add", "vector_add")(None)
    assert vectors.launch(1) == rt.synchronize_stream(vectors.stream) == 0
    assert seen == ["own", "any"]


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_memory_is_checked_before_and_when_the_kernel_runs(vectors):
    vectors.blocks[0] = 0x1000
    refused(vectors.launch(), 107000, "range 0 of kernel vector_add is 0x1000")
    vectors.blocks[0], _ = rt.malloc(4 * COUNT, 0)
    acl.sim.hold(vectors.stream)
    assert vectors.launch() == 0
    assert rt.free(vectors.blocks[0]) == 0
    acl.sim.release(vectors.stream)
    refused(rt.synchronize_stream(vectors.stream), 507053, "vector_add", "freed before it ran")


def test_a_kernel_runs_too_late(vectors):
    acl.sim.hold(vectors.stream)
    assert vectors.launch() == 0
    assert rt.binary_unload(vectors.binary) == 0
    acl.sim.release(vectors.stream)
    refused(rt.synchronize_stream(vectors.stream), 507024, "vector_add", "unloaded before it ran")


def test_a_kernel_that_fails(vectors):
    told = []
    reports = {"args": ffi.new("void **"), "size": ffi.new("uint32_t *"), "function": ffi.new("void **")}

    @ffi.callback("aclrtOpExceptionCallback")
    def on_failure(info, user):
        code = lib.aclrtGetErrorCodeFromExceptionInfo(info)
        ret = lib.aclrtGetFuncHandleFromExceptionInfo(info, reports["function"])
        late = lib.aclrtGetArgsFromExceptionInfo(info, reports["args"], reports["size"])
        told.append((code, ret, late, int(ffi.cast("uintptr_t", user))))

    raw = ffi.callback("aclsimCustomKernelFunc", lambda launch: 507015 if launch.blockIndex == 1 else 0)
    given = ffi.new("aclsimCustomKernel *", {"run": raw})
    assert lib.aclsimRegisterCustomKernel(b"vector_add.o", b"vector_add", given) == 0
    assert lib.aclrtBinarySetExceptionCallback(pointer(vectors.binary), on_failure, pointer(77)) == 0
    assert vectors.launch(3) == 0
    refused(rt.synchronize_stream(vectors.stream), 507015, "vector_add", "block 1 of 3 failed")
    assert told == [(507015, 0, -1, 77)]
    assert int(ffi.cast("uintptr_t", reports["function"][0])) == vectors.function
    block = in_device_memory(vectors)
    assert rt.launch_kernel(vectors.function, 3, block, 32, vectors.stream) == 0
    assert rt.synchronize_stream(vectors.stream) == 507015
    assert told[1:] == [(507015, 0, 0, 77)]
    assert (int(ffi.cast("uintptr_t", reports["args"][0])), reports["size"][0]) == (block, 32)


@pytest.mark.parametrize("code", [-1, -2, -3, -(2**31)])
def test_negative_codes_are_failures(vectors, code):
    raw = ffi.callback("aclsimCustomKernelFunc", lambda launch: code)
    given = ffi.new("aclsimCustomKernel *", {"run": raw})
    assert lib.aclsimRegisterCustomKernel(b"vector_add.o", b"vector_add", given) == 0
    assert vectors.launch() == 0
    refused(rt.synchronize_stream(vectors.stream), 507015, "block 0 of 2 failed")


def test_negative_codes_of_tasks_are_failures(stream):
    task = ffi.callback("aclsimTaskFunc", lambda argument: -1)
    assert lib.aclsimLaunchTask(pointer(stream), task, NULL, NULL, 0, 0) == 0
    assert rt.synchronize_stream(stream) == 507015


# --- time-outs


def in_microseconds(number):
    return {"id": TIMEOUT_US, "value": {"timeoutUs": {"timeoutLow": number % 2**32, "timeoutHigh": number >> 32}}}


@pytest.mark.parametrize(
    "cfg",
    [
        [],
        [{"id": TIMEOUT, "value": {"timeout": 0}}],
        [{"id": TIMEOUT, "value": {"timeout": 60}}],
        [in_microseconds(0)],
        [in_microseconds(2**32)],  # more than an hour
        [in_microseconds(2**64 - 1)],
        [in_microseconds(1), in_microseconds(2**32)],  # the last one counts
    ],
)
def test_a_launch_ends_in_time(vectors, cfg):
    seen = []
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: seen.append(last(10)))
    assert vectors.launch(3, cfg) == rt.synchronize_stream(vectors.stream) == 0, acl.get_recent_err_msg()
    assert len(seen) == 3


@pytest.mark.parametrize("magic, code", [(0x43554245, 507014), (0x41415246, 507034), (0x41494343, 507014)])
def test_a_launch_that_is_late(vectors, magic, code):
    """No other block begins once the time is over, and the task fails with the code of its core."""
    seen = []
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: seen.append(last(200)))
    binary, ret = rt.binary_load_from_file("vector_add.o", [{"type": 2, "value": {"magic": magic}}])
    assert ret == 0, acl.get_recent_err_msg()
    vectors.function, _ = rt.binary_get_function(binary, "vector_add")
    assert vectors.launch(3, [in_microseconds(50)]) == 0
    said = ("vector_add", "block 0 of 3 ended after the launch's time-out of 50 us")
    refused(rt.synchronize_stream(vectors.stream), code, *said)
    assert len(seen) == 1


def test_a_late_kernel_of_the_cpu(vectors):
    content = acl.util.bytes_to_ptr(b"library")
    binary, _ = rt.binary_load_from_data(content, 7, [{"type": 3, "value": {"cpuKernelMode": 2}}])
    vectors.function, _ = rt.register_cpu_func(binary, "run", "sort")
    acl.sim.custom_kernel("run")(lambda launch: last(200))
    assert vectors.launch(1, [in_microseconds(50)]) == 0
    refused(rt.synchronize_stream(vectors.stream), 507017, "sort", "time-out of 50 us")


def test_a_failure_counts_more_than_being_late(vectors, raised):
    @acl.sim.custom_kernel("vector_add", "vector_add.o")
    def fail(launch):
        last(200)
        raise ValueError("lost")

    assert vectors.launch(1, [in_microseconds(50)]) == 0
    refused(rt.synchronize_stream(vectors.stream), 507015, "ValueError: lost")
    assert len(raised) == 1


def test_launches_follow_the_time_out_of_all_operators(configure):
    """They do where it was set before, and where they have none of their own."""
    interval, seen = 268435, []  # microseconds of the chip's shortest time-out
    configure(soc="Ascend910A")
    assert rt.set_device(0) == 0
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: seen.append(last(interval + 1)))
    vectors = Vectors(rt.create_stream()[0])
    acl.sim.hold(vectors.stream)
    assert vectors.launch(1) == 0
    assert rt.set_op_execute_timeout_v2(1) == (interval, 0)
    assert vectors.launch(1, [{"id": TIMEOUT, "value": {"timeout": 60}}]) == 0
    acl.sim.release(vectors.stream)
    assert rt.synchronize_stream(vectors.stream) == 0, acl.get_recent_err_msg()
    assert vectors.launch(3) == 0
    said = ("vector_add", f"block 0 of 3 ended after the launch's time-out of {interval} us")
    refused(rt.synchronize_stream(vectors.stream), 507014, *said)
    assert len(seen) == 3


def test_one_time_out_a_launch(vectors):
    refused(vectors.launch(1, [{"id": TIMEOUT}, in_microseconds(0)]), 107000, "expected one of the two")


# --- symbols, parameters, chips


def test_symbols_stand_for_functions(vectors):
    symbol, found = ffi.new("char *"), ffi.new("void **")
    assert lib.aclrtGetFuncBySymbol(symbol, found) == 107044
    assert lib.aclsimRegisterSymbol(symbol, pointer(vectors.function)) == 0
    assert lib.aclrtGetFuncBySymbol(symbol, found) == 0
    assert int(ffi.cast("uintptr_t", found[0])) == vectors.function
    values = ffi.new("uint64_t[4]", vectors.words)
    args = ffi.new("void *[4]", [values + place for place in range(4)])
    assert lib.aclrtLaunchKernelWithArgsArray(symbol, 1, pointer(vectors.stream), NULL, args) == 0
    assert vectors.result() == 11
    assert lib.aclsimRegisterSymbol(symbol, NULL) == 0
    assert lib.aclrtGetFuncBySymbol(symbol, found) == 107044
    assert lib.aclsimRegisterSymbol(symbol, pointer(5)) == 107017


def test_parameters(vectors):
    acl.sim.custom_kernel("vector_add", "vector_add.o", parameters="BQHI?")(lambda *rest: None)
    function = pointer(vectors.function)
    count, offset, size = (ffi.new("size_t *") for _ in range(3))
    assert lib.aclrtFunctionGetParamCount(function, count) == 0
    found = []
    for place in range(count[0]):
        assert lib.aclrtFunctionGetParamInfo(function, place, offset, size) == 0
        found.append((offset[0], size[0]))
    assert found == [(0, 1), (8, 8), (16, 2), (20, 4), (24, 1)]
    refused(lib.aclrtFunctionGetParamInfo(function, 5, offset, size), 107000, "paramIndex is 5")
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: None)
    refused(lib.aclrtFunctionGetParamCount(function, count), 207000, "parameters")
    args = ffi.new("void *[1]")
    refused(lib.aclrtLaunchKernelWithArgsArray(function, 1, pointer(vectors.stream), NULL, args), 207000, "parameters")


def on_chip(soc):
    """Start anew on another chip; return the vectors and what their kernel sees."""
    seen = []
    acl.sim.reset()
    acl.sim.configure(soc=soc)
    assert rt.set_device(0) == 0
    acl.sim.custom_kernel("vector_add", "vector_add.o", parameters="Q")(lambda launch, word: seen.append(launch))
    return Vectors(0), seen


def test_simt_kernels_are_of_one_chip(vectors):
    size = ffi.new("size_t *")
    one, grid, threads = (ffi.new("dim3 *", sizes)[0] for sizes in ((1, 1, 1), (2, 3, 1), (32, 2, 1)))
    word = ffi.new("uint64_t[1]")
    args = ffi.new("void *[1]", [word])
    launch = lib.aclrtLaunchSIMTKernelWithArgsArray
    function = pointer(vectors.function)
    refused(launch(function, one, one, 0, pointer(vectors.stream), NULL, args), 207000, "SIMT")
    assert lib.aclrtFunctionGetAvailDynUbufPerBlock(function, 0, size) == 207000
    others, seen = on_chip("Ascend910_95")
    function = pointer(others.function)
    assert lib.aclrtFunctionGetAvailDynUbufPerBlock(function, 0, size) == 0
    assert size[0] == 253952
    assert launch(function, grid, threads, 1024, NULL, NULL, args) == 0, acl.get_recent_err_msg()
    more = lib.aclrtLaunchSIMTKernelWithHostArgs
    assert more(function, threads, grid, 0, NULL, NULL, word, 8, NULL, 0) == 0
    assert rt.synchronize_stream(0) == 0
    assert [(seen[0].grid, seen[0].threads, seen[0].blocks), len(seen)] == [((2, 3, 1), (32, 2, 1), 6), 6 + 64]
    huge = ffi.new("dim3 *", (65536, 65536, 65536))[0]
    for sizes in ((huge, one), (one, huge)):
        refused(launch(function, *sizes, 0, NULL, NULL, args), 107000, "65536 x 65536 x 65536")
    refused(launch(function, one, one, size[0] + 1, NULL, NULL, args), 107000, "dynUbufSize")


def test_blocks_are_shared_by_two_engines(vectors):
    others, seen = on_chip("Ascend310P3")
    assert others.launch(2, [{"id": BLOCK_OFFSET, "value": {"blockDimOffset": 8}}]) == 0, acl.get_recent_err_msg()
    assert rt.synchronize_stream(0) == 0
    assert [launch.block for launch in seen] == [8, 9]


def test_a_changed_launch_shares_its_blocks_anew(vectors):
    others, seen = on_chip("Ascend310P3")
    others.stream, _ = rt.create_stream()
    capture.begin(others.stream)
    assert others.launch(2, [{"id": BLOCK_OFFSET, "value": {"blockDimOffset": 8}}]) == 0
    instance = capture.end(others.stream)
    (task,) = acl.mdl.ri_get_tasks_by_stream(acl.mdl.ri_get_streams(instance)[0][0])[0]
    params = ffi.new("aclmdlRITaskParams *")
    assert lib.aclmdlRITaskGetParams(pointer(task), params) == 0
    params.kernelTaskParams.cfg.attrs[0].value.blockDimOffset = 20
    assert lib.aclmdlRITaskSetParams(pointer(task), params) == acl.mdl.ri_update(instance) == 0
    capture.run(instance, others.stream)
    assert rt.synchronize_stream(others.stream) == 0
    assert [launch.block for launch in seen] == [20, 21]


def test_a_changed_launch_keeps_its_grid(vectors):
    others, seen = on_chip("Ascend910_95")
    others.stream, _ = rt.create_stream()
    grid, threads = (ffi.new("dim3 *", sizes)[0] for sizes in ((2, 3, 1), (32, 2, 1)))
    word = ffi.new("uint64_t[1]", [5])
    args = ffi.new("void *[1]", [word])
    function, stream = pointer(others.function), pointer(others.stream)
    capture.begin(others.stream)
    assert lib.aclrtLaunchSIMTKernelWithArgsArray(function, grid, threads, 0, stream, NULL, args) == 0
    instance = capture.end(others.stream)
    (task,) = acl.mdl.ri_get_tasks_by_stream(acl.mdl.ri_get_streams(instance)[0][0])[0]
    params, _ = acl.mdl.ri_task_get_params(task)
    assert (params["args"], params["num_blocks"]) == ([5], 6)
    for count, expected in ((6, (2, 3, 1)), (4, (4, 1, 1))):
        params.update(args=[7], num_blocks=count)
        assert acl.mdl.ri_task_set_params(task, params) == acl.mdl.ri_update(instance) == 0, acl.get_recent_err_msg()
        seen.clear()
        capture.run(instance, others.stream)
        assert rt.synchronize_stream(others.stream) == 0
        assert [(launch.grid, launch.args[0]) for launch in seen] == [(expected, 7)] * count
