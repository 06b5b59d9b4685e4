"""Implementations of custom kernels in C: libraries in the place of binaries, host functions, registrations."""

import struct
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers import programs
from helpers.expect import NULL, pointer, refused
from helpers.vectors import Vectors, launch_array, launch_list, launch_plain

import acl
from acl import demo
from acl._lib import ffi, lib

rt = acl.rt
PLACE = Path(demo.examples())

pytestmark = pytest.mark.needs_sim


@pytest.fixture
def library(tmp_path):
    """Build the example's library."""
    return demo.build_kernel(str(PLACE), str(tmp_path), "gcc")


@pytest.mark.parametrize("way", ["file", "data"])
def test_a_library_takes_the_place_of_a_binary(stream, library, way):
    vectors = Vectors(stream, library)
    if way == "data":
        content = Path(library).read_bytes()
        binary, ret = rt.binary_load_from_data(acl.util.bytes_to_ptr(content), len(content), [])
        assert ret == 0, acl.get_recent_err_msg()
        vectors.function, ret = rt.binary_get_function(binary, "vector_add")
        assert ret == 0
    for launch in (launch_plain, launch_list, launch_array, Vectors.launch):
        vectors.fill()
        assert launch(vectors) == 0, acl.get_recent_err_msg()
        assert vectors.result() == 11
    refused(rt.binary_get_function(vectors.binary, "vector")[1], 507027)
    vectors.blocks[0] = 0x1000
    refused(vectors.launch(), 107000, "range 0 of kernel vector_add")
    assert rt.binary_unload(vectors.binary) == 0
    acl.sim.reset()


def test_a_library_stays_open_while_its_kernel_runs(stream, tmp_path):
    """Unloading does not take the code away under a kernel that runs."""
    source = tmp_path / "wait.c"
    source.write_text("""
        #include <acl/acl_sim.h>
        #include <string.h>
        static aclError wait(const aclsimKernelLaunch *launch)
        {
            int (*functions[2])(void);
            memcpy(functions, launch->args, sizeof functions);
            return functions[0]() == 0 && functions[1]() == 1 ? 507018 : 507015;
        }
        const aclsimCustomKernel aclsim_kernel_wait = {.run = wait};
    """)
    library = tmp_path / "wait.o"
    command = ["gcc", "-shared", "-fPIC", str(source), "-o", str(library), *demo.options()]
    subprocess.run(command, check=True)
    binary, ret = rt.binary_load_from_file(str(library), [])
    assert ret == 0, acl.get_recent_err_msg()
    function, ret = rt.binary_get_function(binary, "wait")
    assert ret == 0
    begun, unloaded = threading.Event(), threading.Event()
    calls = [ffi.callback("int (void)", event) for event in (lambda: begun.set() or 0, unloaded.wait)]
    packed = struct.pack("2Q", *(int(ffi.cast("uintptr_t", call)) for call in calls))
    place = acl.util.bytes_to_ptr(packed)
    assert rt.launch_kernel_with_host_args(function, 1, stream, [], place, 16, [], 0) == 0
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(lambda: rt.set_device(0) or rt.synchronize_stream(stream))
        begun.wait()
        assert rt.binary_unload(binary) == 0
        unloaded.set()
        assert waiter.result() == 507018


def test_a_library_that_cannot_be_opened(device, tmp_path):
    source = tmp_path / "lost.c"
    source.write_text("extern int nowhere; const int *aclsim_kernel_lost[5] = {&nowhere};")
    library = tmp_path / "lost.o"
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    refused(rt.binary_load_from_file(str(library), [])[1], 107000, "cannot be opened", "nowhere")


def test_a_host_function_launches_without_a_binary(stream, library):
    text = """
        import ctypes, sys, numpy, acl
        acl.rt.set_device(0)
        library = ctypes.CDLL(sys.argv[1])
        block, ret = acl.rt.malloc(16, 0)
        ones = numpy.ones(4, "f4").tobytes()
        acl.rt.memcpy(block, 16, acl.util.bytes_to_ptr(ones), 16, 1)
        stream, ret = acl.rt.create_stream()
        acl.mdl.ri_capture_begin(stream, 0)
        address = ctypes.c_void_p(block)
        print(library.aclrtlaunch_vector_add(2, ctypes.c_void_p(stream), address, address, address, ctypes.c_uint64(4)))
        instance, ret = acl.mdl.ri_capture_end(stream)
        for _ in range(3):
            acl.mdl.ri_execute_async(instance, stream)
        print(acl.rt.synchronize_stream(stream))
        out = bytes(16)
        acl.rt.memcpy(acl.util.bytes_to_ptr(out), 16, block, 16, 2)
        print(numpy.frombuffer(out, "f4").tolist())
    """
    command = [sys.executable, "-c", textwrap.dedent(text), library]
    done = subprocess.run(command, env=programs.environment(), capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n0\n[8.0, 8.0, 8.0, 8.0]\n", "")


def test_wrong_implementations(device):
    name, run = b"kernel", ffi.callback("aclsimCustomKernelFunc", lambda launch: 0)
    sizes = ffi.new("size_t[100]")
    for fields, said in (
        ({}, "run is NULL"),
        ({"run": run, "parameterCount": 1}, "parameters is NULL"),
        ({"run": run, "parameterCount": 65, "parameters": sizes}, "parameterCount is 65"),
        ({"run": run, "parameterCount": 2, "parameters": sizes}, "parameters[0] is 0"),
    ):
        given = ffi.new("aclsimCustomKernel *", fields)
        refused(lib.aclsimRegisterCustomKernel(NULL, name, given), 100000, said)
        refused(lib.aclsimLaunchKernel(name, given, 1, NULL, 0, NULL), 100000, said)
    given = ffi.new("aclsimCustomKernel *", {"run": run})
    for names in ((NULL, b""), (b"", name), (NULL, NULL)):
        assert lib.aclsimRegisterCustomKernel(*names, given) == 100000
    assert lib.aclsimRegisterSymbol(NULL, NULL) == 100000
    assert lib.aclsimLaunchKernel(name, given, 1, run, 0, NULL) == 100000
    assert lib.aclsimLaunchKernel(name, given, 0, NULL, 0, NULL) == 100000
    assert lib.aclsimLaunchKernel(name, given, 1, NULL, 0, NULL) == rt.synchronize_stream(0) == 0


def test_reach_is_translate_with_an_end(device):
    block, _ = rt.malloc(64, 0)
    place = lib.aclsimReach(pointer(block), 64)
    assert place == lib.aclsimTranslate(pointer(block)) != NULL
    assert lib.aclsimReach(pointer(block + 60), 4) == place + 60
    for address, size in ((block, 4096), (block + 60, 64), (0, 1), (block, 2**64 - 1)):
        assert lib.aclsimReach(pointer(address), size) == NULL
    assert rt.free(block) == 0
    assert lib.aclsimReach(pointer(block), 1) == NULL
