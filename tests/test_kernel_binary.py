"""Binaries of kernels and their functions: loading, names, symbols, addresses, and what is refused."""

import os
import subprocess

import pytest
from helpers import elf
from helpers.expect import NULL, pointer, refused

import acl
from acl._lib import ffi, lib

rt = acl.rt
AICORE, CUBE, VECTOR, MIX, CPU = 0, 1, 2, 3, 100
VECTOR_MAGIC, CUBE_MAGIC = 0x41415246, 0x41494343
MAGIC, CPU_MODE = 2, 3
BINARY = elf.object_file(
    code=[
        ("plain", b"\1" * 16),
        ("mixed_mix_aic", b"\2" * 24),
        ("mixed_mix_aiv", b"\3" * 40),
        ("half_7_mix_aiv", b"\4" * 8),
    ],
    data=[("table", b"\5\6\7\0")],
    zeroed=[("scratch", 100), ("more", 28)],
)

pytestmark = [pytest.mark.needs_sim, pytest.mark.usefixtures("clean")]


@pytest.fixture
def load(device, tmp_path):
    """Give ``load(content, options=[])``, which loads bytes from a file."""

    def load_file(content=BINARY, options=()):
        path = tmp_path / "kernels.o"
        path.write_bytes(content)
        binary, ret = rt.binary_load_from_file(str(path), list(options))
        assert ret == 0, acl.get_recent_err_msg()
        return binary

    return load_file


def find(binary, name):
    function, ret = rt.binary_get_function(binary, name)
    assert ret == 0, acl.get_recent_err_msg()
    return function


def type_of(function):
    value = ffi.new("int64_t *")
    assert lib.aclrtGetFunctionAttribute(pointer(function), 1, value) == 0
    return value[0]


def sizes_of(function):
    sizes = ffi.new("size_t[2]")
    ret = lib.aclrtGetFunctionSize(pointer(function), sizes, sizes + 1)
    return list(sizes), ret


def bytes_at(address, size):
    host = bytes(size)
    assert rt.memcpy(acl.util.bytes_to_ptr(host), size, address, size, 2) == 0
    return host


def test_functions_are_those_of_the_symbols(load):
    binary = load()
    assert sizes_of(find(binary, "plain")) == ([16, 0], 0)
    assert sizes_of(find(binary, "mixed")) == ([24, 40], 0)
    assert sizes_of(find(binary, "half_7")) == ([0, 8], 0)
    assert rt.get_function_name(find(binary, "mixed"), 64) == ("mixed", 0)
    assert rt.get_function_name(find(binary, "mixed"), 4) == ("mix", 0)
    for name in ("nothing", "table", "mixed_mix", ""):
        _, ret = rt.binary_get_function(binary, name)
        refused(ret, 507027 if name else 100000, "aclrtBinaryGetFunction", f'"{name}"')


def test_a_function_is_the_same_every_time(load):
    binary = load()
    function = find(binary, "plain")
    assert find(binary, "plain") == function
    owner = ffi.new("void **")
    assert lib.aclrtFunctionGetBinary(pointer(function), owner) == 0
    assert int(ffi.cast("uintptr_t", owner[0])) == binary


def test_functions_by_entry(load):
    binary = load()
    found = ffi.new("void **")
    assert lib.aclrtBinaryGetFunctionByEntry(pointer(binary), 7, found) == 0
    assert int(ffi.cast("uintptr_t", found[0])) == find(binary, "half_7")
    assert lib.aclrtBinaryGetFunctionByEntry(pointer(binary), 8, found) == 507027


@pytest.mark.parametrize(
    "magic, plain, sizes", [(None, AICORE, [16, 0]), (VECTOR_MAGIC, VECTOR, [0, 16]), (CUBE_MAGIC, CUBE, [16, 0])]
)
def test_the_magic_says_the_core(load, magic, plain, sizes):
    binary = load(options=[] if magic is None else [{"type": MAGIC, "value": {"magic": magic}}])
    assert type_of(find(binary, "plain")) == plain
    assert sizes_of(find(binary, "plain")) == (sizes, 0)
    assert type_of(find(binary, "mixed")) == MIX


def test_code_and_variables_lie_in_device_memory(load):
    binary = load()
    cube, vector, ret = rt.get_function_addr(find(binary, "mixed"))
    assert ret == 0
    assert (bytes_at(cube, 24), bytes_at(vector, 40)) == (b"\2" * 24, b"\3" * 40)
    cube, vector, ret = rt.get_function_addr(find(binary, "plain"))
    assert (bytes_at(cube, 16), vector, ret) == (b"\1" * 16, 0, 0)
    place, size = ffi.new("void **"), ffi.new("size_t *")
    assert lib.aclrtBinaryGetDevAddress(pointer(binary), place, size) == 0
    assert bytes_at(int(ffi.cast("uintptr_t", place[0])), size[0]) == BINARY
    addresses = []
    for name, expected in (("table", b"\5\6\7\0"), ("scratch", bytes(100)), ("more", bytes(28))):
        assert lib.aclrtBinaryGetGlobal(pointer(binary), name.encode(), place, size) == 0
        addresses.append(int(ffi.cast("uintptr_t", place[0])))
        assert (size[0], bytes_at(addresses[-1], size[0])) == (len(expected), expected)
    assert addresses[2] == addresses[1] + 100
    for name in (b"plain", b"nothing"):
        assert lib.aclrtBinaryGetGlobal(pointer(binary), name, place, size) == 107042


def test_unloading_ends_functions_lists_and_memory(load):
    before = acl.sim.live()
    free, _, _ = rt.get_mem_info(1)
    binary = load()
    function = find(binary, "plain")
    arguments, ret = rt.kernel_args_init(function)
    assert rt.get_function_addr(function)[2] == ret == 0
    assert rt.get_mem_info(1)[0] < free
    assert rt.binary_unload(binary) == 0
    assert (acl.sim.live(), rt.get_mem_info(1)[0]) == (before, free)
    refused(rt.binary_unload(binary), 107017, "a destroyed kernel binary")
    refused(rt.get_function_addr(function)[2], 107017, "a destroyed kernel")
    refused(rt.kernel_args_finalize(arguments), 107017, "a destroyed argument list")


def test_a_device_that_was_reset_gets_a_new_copy(load):
    binary = load()
    function = find(binary, "plain")
    assert rt.get_function_addr(function)[2] == 0
    assert rt.reset_device_force(0) == 0
    assert rt.set_device(0) == 0
    other, _ = rt.malloc(4096, 0)
    cube, _, ret = rt.get_function_addr(function)
    assert (ret, bytes_at(cube, 16)) == (0, b"\1" * 16)
    assert rt.binary_unload(binary) == 0
    assert rt.free(other) == 0  # unloading left it alone


def test_bytes_in_memory(device):
    content = acl.util.bytes_to_ptr(BINARY)
    description = rt.create_binary(content, len(BINARY))
    loaded, ret = rt.binary_load(description)
    assert ret == rt.destroy_binary(description) == 0
    assert sizes_of(find(loaded, "plain")) == ([16, 0], 0)
    refused(rt.destroy_binary(description), 107017, "a destroyed binary description")
    refused(rt.binary_load(description)[1], 107017)
    loaded, ret = rt.binary_load_from_data(content, len(BINARY), [])
    assert (ret, sizes_of(find(loaded, "mixed"))) == (0, ([24, 40], 0))
    assert rt.create_binary(0, 4) == rt.create_binary(content, 0) == 0


def test_cpu_functions_are_registered(device):
    content = acl.util.bytes_to_ptr(b"library")
    binary, ret = rt.binary_load_from_data(content, 7, [{"type": CPU_MODE, "value": {"cpuKernelMode": 2}}])
    assert ret == 0
    function, ret = rt.register_cpu_func(binary, "RunIt", "Sorted")
    assert (ret, type_of(function)) == (0, CPU)
    assert rt.get_function_name(function, 64) == ("Sorted", 0)
    assert rt.register_cpu_func(binary, "RunIt", "Sorted") == (function, 0)
    refused(sizes_of(function)[1], 207000, "no code of kernel Sorted")
    plain, _ = rt.binary_load_from_data(content, 7, [])
    refused(rt.register_cpu_func(plain, "RunIt", "Sorted")[1], 107000, "CPU_KERNEL_MODE")


def test_a_named_binary_need_not_exist(device, tmp_path):
    path = str(tmp_path / "nowhere.o")
    refused(rt.binary_load_from_file(path, [])[1], 107009, path, "cannot be opened")
    for name in (path, "nowhere.o", "nowhere"):
        acl.sim.custom_kernel("kernel", name)(lambda launch: None)
        binary, ret = rt.binary_load_from_file(path, [])
        assert ret == 0
        function = find(binary, "kernel")
        refused(rt.binary_get_function(binary, "other")[1], 507027, "not an ELF file")
        refused(rt.get_function_addr(function)[2], 207000)
        acl.sim.custom_kernel("kernel", name)(None)
    refused(rt.binary_load_from_file(path, [])[1], 107009)


@pytest.mark.parametrize(
    "option, said",
    [
        ({"type": 9}, "options[0].type is 9"),
        ({"type": 1, "value": {"isLazyLoad": 2}}, "isLazyLoad is 2"),
        ({"type": MAGIC, "value": {"magic": 5}}, "magic is 0x5"),
        ({"type": CPU_MODE, "value": {"cpuKernelMode": 3}}, "cpuKernelMode is 3"),
    ],
)
def test_wrong_options(device, option, said):
    refused(rt.binary_load_from_file("any", [option])[1], 107000, said)


def test_what_is_no_binary(device, tmp_path):
    empty = tmp_path / "empty.o"
    empty.write_bytes(b"")
    refused(rt.binary_load_from_file(str(empty), [])[1], 107000, "which is empty")
    refused(rt.binary_load_from_file(str(tmp_path), [])[1], 107009, "which is not a regular file")
    block, _ = rt.malloc(64, 0)
    refused(rt.binary_load_from_data(block, 64, [])[1], 107000, "device memory")
    refused(rt.binary_unload(0), 100000, "binHandle is NULL")
    refused(rt.binary_unload(0x123456), 107017, "not a handle")
    refused(rt.binary_get_function(block, "x")[1], 107017)
    assert rt.free(block) == 0
    assert rt.reset_device_force(0) == 0
    refused(rt.binary_load_from_file("any", [])[1], 107002)


def test_cut_and_bent_files_are_read_safely(load):
    """Every prefix of a file, and every file with one byte changed, gives answers, whatever they are."""
    name = ffi.new("void **")
    for cut in range(1, len(BINARY), 7):
        binary = load(BINARY[:cut])
        lib.aclrtBinaryGetFunction(pointer(binary), b"mixed", name)
        assert rt.binary_unload(binary) == 0
    for place in range(0, len(BINARY), 3):
        binary = load(BINARY[:place] + bytes([BINARY[place] ^ 0xFF]) + BINARY[place + 1 :])
        size = ffi.new("size_t *")
        if lib.aclrtBinaryGetFunction(pointer(binary), b"mixed", name) == 0:
            assert lib.aclrtGetFunctionSize(name[0], size, size) == 0
        lib.aclrtBinaryGetGlobal(pointer(binary), b"scratch", name, size)
        assert rt.binary_unload(binary) == 0


def test_attributes(load):
    function = find(load(), "plain")
    value = ffi.new("int64_t *")
    for kind, code in ((0, 107000), (4, 107000), (2, 207000), (3, 207000)):
        assert lib.aclrtGetFunctionAttribute(pointer(function), kind, value) == code
    assert lib.aclrtGetFunctionAttribute(pointer(function), 1, NULL) == 100000
    assert lib.aclrtGetFunctionAttribute(pointer(5), 1, value) == 107017


def test_a_host_library_without_kernels_is_not_opened(load, tmp_path):
    """Code of a file runs only when it says by a symbol's name that it is meant to."""
    mark = tmp_path / "mark"
    source = tmp_path / "lib.c"
    source.write_text(
        "#include <stdio.h>\nvoid plain(void) {}\n"
        f'__attribute__((constructor)) static void begin(void) {{ fopen("{mark}", "w"); }}\n'
    )
    library = tmp_path / "lib.so"
    done = subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", str(source), "-o", str(library)])
    assert done.returncode == 0
    binary = load(library.read_bytes())
    assert find(binary, "plain")
    assert not mark.exists()
