"""Argument lists of kernels: what they hold when they are launched, and calls out of order."""

import struct

import pytest
from helpers.expect import pointer, refused

import acl
from acl._lib import ffi, lib

rt = acl.rt

pytestmark = pytest.mark.needs_sim


class Kernel:
    """A kernel that keeps the arguments of its launches, and placeholders' data where these are named."""

    def __init__(self, stream):
        self.stream = stream
        self.seen = []
        self.holders = ()
        acl.sim.custom_kernel("kernel", "args.o")(self.run)
        binary, ret = rt.binary_load_from_file("args.o", [])
        assert ret == 0
        self.handle, ret = rt.binary_get_function(binary, "kernel")
        assert ret == 0

    def run(self, launch):
        data = []
        for place, size in self.holders:
            (address,) = struct.unpack_from("Q", launch.args, place)
            data.append(bytes(ffi.buffer(ffi.cast("void *", address), size)))
        self.seen.append((launch.args, data))

    def launch(self, arguments, code=0):
        ret = rt.launch_kernel_with_config(self.handle, 1, self.stream, [], arguments, 0)
        assert ret == code, acl.get_recent_err_msg()
        if code == 0:
            assert rt.synchronize_stream(self.stream) == 0
        return self.seen[-1] if self.seen else None


@pytest.fixture
def kernel(stream):
    """Make a kernel without a file."""
    yield Kernel(stream)
    acl.sim.reset()


@pytest.fixture(params=["library", "program"])
def make(request, kernel):
    """Give ``make(size)``, which starts a list in memory of the library's or of the program's."""
    kept = []

    def create(size=64):
        if request.param == "library":
            handle, ret = rt.kernel_args_init(kernel.handle)
            assert ret == 0
            return handle
        room, ret = rt.kernel_args_get_mem_size(kernel.handle, size)
        assert ret == 0
        record, ret = rt.kernel_args_get_handle_mem_size(kernel.handle)
        assert ret == 0
        memory, handle = ffi.new("char[]", room), ffi.new("char[]", record)
        kept.extend((memory, handle))
        address = int(ffi.cast("uintptr_t", handle))
        assert rt.kernel_args_init_by_user_mem(kernel.handle, address, int(ffi.cast("uintptr_t", memory)), room) == 0
        return address

    return create


def append(arguments, form, value):
    packed = struct.pack(form, value)
    parameter, ret = rt.kernel_args_append(arguments, acl.util.bytes_to_ptr(packed), len(packed))
    assert ret == 0, acl.get_recent_err_msg()
    return parameter


def test_arguments_lie_as_in_a_struct(kernel, make):
    arguments = make()
    values = [("B", 1), ("Q", 2), ("H", 3), ("I", 4), ("B", 5), ("d", 6.5)]
    for form, value in values:
        append(arguments, form, value)
    assert rt.kernel_args_finalize(arguments) == 0
    assert kernel.launch(arguments)[0] == struct.pack("BQHIBd", 1, 2, 3, 4, 5, 6.5)


def test_arguments_are_changed_between_launches(kernel, make):
    arguments = make()
    first, second = append(arguments, "Q", 1), append(arguments, "I", 2)
    assert rt.kernel_args_finalize(arguments) == 0
    kernel.launch(arguments)
    fresh = struct.pack("I", 9)
    assert rt.kernel_args_para_update(arguments, second, acl.util.bytes_to_ptr(fresh), 4) == 0
    assert kernel.launch(arguments)[0] == struct.pack("QI", 1, 9)
    refused(rt.kernel_args_para_update(arguments, first, acl.util.bytes_to_ptr(fresh), 4), 107000, "paramSize is 4")


def test_placeholders_lead_to_their_data(kernel, make):
    arguments = make(64)
    append(arguments, "I", 7)
    holders = []
    for _ in range(2):
        parameter, ret = rt.kernel_args_append_place_holder(arguments)
        assert ret == 0
        holders.append(parameter)
    contents = [b"twelve bytes", b"and five"]
    for parameter, content in zip(reversed(holders), reversed(contents)):
        place, ret = rt.kernel_args_get_place_holder_buffer(arguments, parameter, len(content))
        assert ret == 0, acl.get_recent_err_msg()
        ffi.memmove(ffi.cast("void *", place), content, len(content))
        assert rt.kernel_args_get_place_holder_buffer(arguments, parameter, 4) == (place, 0)
    assert rt.kernel_args_finalize(arguments) == 0
    kernel.holders = [(8, 12), (16, 8)]
    assert kernel.launch(arguments)[1] == contents


def test_calls_out_of_order(kernel, make):
    arguments = make()
    zeros = bytes(8)
    value = acl.util.bytes_to_ptr(zeros)
    plain = append(arguments, "Q", 1)
    holder, _ = rt.kernel_args_append_place_holder(arguments)
    refused(rt.kernel_args_finalize(arguments), 107000, "parameter 1 is a placeholder without data")
    kernel.launch(arguments, 107000)
    refused(rt.kernel_args_get_place_holder_buffer(arguments, plain, 8)[1], 107000, "not a placeholder")
    refused(rt.kernel_args_para_update(arguments, holder, value, 8), 107000, "is a placeholder")
    assert rt.kernel_args_get_place_holder_buffer(arguments, holder, 8)[1] == 0
    refused(rt.kernel_args_get_place_holder_buffer(arguments, holder, 9)[1], 107000, "already has 8 bytes")
    refused(rt.kernel_args_append(arguments, value, 8)[1], 107000, "the list is complete")
    assert rt.kernel_args_finalize(arguments) == 0
    refused(rt.kernel_args_append_place_holder(arguments)[1], 107000, "the list is complete")


def test_wrong_arguments(kernel, make):
    arguments, other = make(), make()
    zeros = bytes(8)
    value = acl.util.bytes_to_ptr(zeros)
    mine = append(arguments, "Q", 1)
    append(other, "Q", 1)
    block, _ = rt.malloc(64, 0)
    refused(rt.kernel_args_append(arguments, block, 8)[1], 107000, "param is", "device memory")
    refused(rt.kernel_args_append(arguments, value, 0)[1], 100000, "paramSize is 0")
    refused(rt.kernel_args_append(arguments, value, 2**40)[1], 107000, "paramSize is")
    refused(rt.kernel_args_append(0, value, 8)[1], 100000, "argsHandle is NULL")
    refused(rt.kernel_args_append(block, value, 8)[1], 107017, "argsHandle")
    for parameter in (mine, kernel.handle, mine + 1):
        refused(rt.kernel_args_para_update(other, parameter, value, 8), 107017, "paramHandle")
    refused(rt.kernel_args_get_mem_size(kernel.handle, 2**63)[1], 107000)
    refused(rt.kernel_args_init_by_user_mem(kernel.handle, block, value, 8), 107000, "argsHandle", "device memory")
    refused(rt.kernel_args_init_by_user_mem(kernel.handle, value, block, 8), 107000, "userHostMem", "device memory")
    refused(rt.kernel_args_init(mine)[1], 107017, "funcHandle")
    refused(rt.launch_kernel_with_config(kernel.handle, 1, kernel.stream, [], other, 1), 100000, "reserve")
    assert rt.free(block) == 0


def test_memory_of_the_program_has_an_end(kernel):
    memory, record = ffi.new("char[16]"), ffi.new("char[8]")
    handle = int(ffi.cast("uintptr_t", record))
    assert lib.aclrtKernelArgsInitByUserMem(pointer(kernel.handle), pointer(handle), memory, 16) == 0
    append(handle, "Q", 1)
    holder, ret = rt.kernel_args_append_place_holder(handle)
    assert ret == 0
    refused(rt.kernel_args_append_place_holder(handle)[1], 107000, "the 16 of userHostMem")
    refused(rt.kernel_args_get_place_holder_buffer(handle, holder, 1)[1], 107000, "0 are free")


def test_a_record_is_used_for_another_list(kernel):
    live = acl.sim.live("argument list")
    memory, record = ffi.new("char[64]"), ffi.new("char[8]")
    handle = int(ffi.cast("uintptr_t", record))
    for value in (1, 2):
        assert lib.aclrtKernelArgsInitByUserMem(pointer(kernel.handle), pointer(handle), memory, 64) == 0
        append(handle, "Q", value)
        assert rt.kernel_args_finalize(handle) == 0
        assert kernel.launch(handle)[0] == struct.pack("Q", value)
    assert acl.sim.live("argument list") == live + 1


def test_a_kernel_keeps_its_newest_lists(kernel):
    lists = [rt.kernel_args_init(kernel.handle)[0] for _ in range(5000)]
    assert acl.sim.live("argument list") == 4096
    refused(rt.kernel_args_finalize(lists[0]), 107017, "a destroyed argument list")
    assert rt.kernel_args_finalize(lists[-1]) == rt.kernel_args_finalize(lists[1000]) == 0
