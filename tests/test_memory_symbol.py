"""Variables of kernels by their host symbols: where they lie, copies to and from them, and what is refused."""

import numpy
import pytest
from helpers import elf
from helpers.capture import GLOBAL
from helpers.expect import NULL, in_thread, pointer, refused
from helpers.memory import read

import acl
from acl._lib import ffi, lib

rt = acl.rt

H2H, H2D, D2H, D2D, DEFAULT, STAGED = range(6)
TABLE = bytes(range(1, 33))
BINARY = elf.object_file(code=[("kernel", b"\1" * 16)], data=[("table", TABLE)], zeroed=[("scratch", 100)])
HOST_SYMBOLS = ffi.new("char[4]")  # of which only the addresses count
SYMBOL, SCRATCH, UNKNOWN = HOST_SYMBOLS + 0, HOST_SYMBOLS + 1, HOST_SYMBOLS + 2

pytestmark = pytest.mark.needs_sim


def load():
    """Load the binary and let two host symbols stand for its variables."""
    content = ffi.new("char[]", BINARY)
    binary, ret = rt.binary_load_from_data(int(ffi.cast("uintptr_t", content)), len(BINARY), [])
    assert ret == 0, acl.get_recent_err_msg()
    assert lib.aclsimRegisterVariable(SYMBOL, pointer(binary), b"table") == 0
    assert lib.aclsimRegisterVariable(SCRATCH, pointer(binary), b"scratch") == 0
    return binary


@pytest.fixture
def binary(device):
    """Load the binary; all symbols are forgotten at the end."""
    yield load()
    acl.sim.reset()


def size_of(symbol):
    size = ffi.new("size_t *", 99)
    return lib.aclrtGetSymbolSize(symbol, size), size[0]


def address_of(symbol):
    place = ffi.new("void **")
    return lib.aclrtGetSymbolAddress(symbol, place), int(ffi.cast("uintptr_t", place[0]))


def to_symbol(symbol, src, count, offset=0, kind=H2D, stream=None):
    arguments = symbol, pointer(src), count, offset, kind
    if stream is None:
        return lib.aclrtMemcpyToSymbol(*arguments)
    return lib.aclrtMemcpyToSymbolAsync(*arguments, pointer(stream))


def from_symbol(dst, room, symbol, count, offset=0, kind=D2H, stream=None):
    arguments = pointer(dst), room, symbol, count, offset, kind
    if stream is None:
        return lib.aclrtMemcpyFromSymbol(*arguments)
    return lib.aclrtMemcpyFromSymbolAsync(*arguments, pointer(stream))


def test_where_variables_lie(binary):
    assert (size_of(SYMBOL), size_of(SCRATCH)) == ((0, 32), (0, 100))
    ret, address = address_of(SYMBOL)
    assert (ret, read(address, 32).tobytes()) == (0, TABLE)
    assert read(address_of(SCRATCH)[1], 100).tobytes() == bytes(100)
    assert address_of(SYMBOL) == (0, address), "it is the same every time"


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize("kinds", [(H2D, D2H), (DEFAULT, DEFAULT)])
def test_copies_to_and_from_a_variable(binary, stream, kinds, queued):
    new, out = numpy.arange(100, 108, dtype=numpy.uint8), numpy.zeros(34, numpy.uint8)
    on = stream if queued else None
    assert to_symbol(SYMBOL, new.ctypes.data, 8, 24, kinds[0], on) == 0
    assert from_symbol(out.ctypes.data, 34, SYMBOL, 32, 0, kinds[1], on) == 0
    assert rt.synchronize_stream(stream) == 0
    assert out.tobytes() == TABLE[:24] + new.tobytes() + bytes(2)
    assert from_symbol(out.ctypes.data, 34, SYMBOL, 4, 26, kinds[1], on) == rt.synchronize_stream(stream) == 0
    assert out[:5].tolist() == [102, 103, 104, 105, 5]


@pytest.mark.finds("host-write-before-copy")
def test_pinned_copies_are_queued_and_captured(binary, stream, pinned):
    (source, values), (target, out) = pinned(32), pinned(32)
    out[:] = 0
    acl.sim.hold(stream)
    assert to_symbol(SYMBOL, source, 32, stream=stream) == 0
    assert from_symbol(target, 32, SYMBOL, 32, stream=stream) == 0
    values[:] = 7
    assert (out == 0).all()
    acl.sim.release(stream)
    assert rt.synchronize_stream(stream) == 0
    assert (out == 7).all()
    assert acl.mdl.ri_capture_begin(stream, GLOBAL) == 0
    assert to_symbol(SYMBOL, source, 32, stream=stream) == from_symbol(target, 32, SYMBOL, 32, stream=stream) == 0
    ordinary = numpy.zeros(8, numpy.uint8).ctypes.data
    refused(to_symbol(SYMBOL, ordinary, 8, stream=stream), 107000, "aclrtMemcpyToSymbolAsync", "being captured")
    refused(from_symbol(ordinary, 8, SYMBOL, 8), 107030, "aclrtMemcpyFromSymbol")
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    values[:] = 8
    assert acl.mdl.ri_execute_async(instance, stream) == rt.synchronize_stream(stream) == 0
    assert (out == 8).all()
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("name", ["aclrtMemcpyToSymbolAsync", "aclrtMemcpyFromSymbolAsync"])
@pytest.mark.finds("use-after-free")
def test_binaries_unloaded_under_a_queued_copy(binary, stream, pinned, name):
    place, _ = pinned(32)
    address = address_of(SYMBOL)[1]
    acl.sim.hold(stream)
    if "From" in name:
        assert from_symbol(place, 32, SYMBOL, 32, stream=stream) == 0
    else:
        assert to_symbol(SYMBOL, place, 32, stream=stream) == 0
    assert rt.binary_unload(binary) == 0
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507053, f"{name} failed", f"the 32 bytes at {address:#x}")


def test_nothing_succeeds_before_any_check(device):
    assert to_symbol(NULL, 0, 0, 2**64 - 1, 99) == to_symbol(NULL, 0, 0, 5, 99, 12345) == 0
    assert from_symbol(0, 0, NULL, 0, 5, 99) == from_symbol(0, 0, NULL, 0, 5, 99, 12345) == 0


# ---- what they refuse ----

BYTES = ffi.new("char[256]")
PLACE = int(ffi.cast("uintptr_t", BYTES))
REFUSED = [  # call, which takes a stream or None, code, what is said
    (lambda s: to_symbol(NULL, PLACE, 8, stream=s), 100000, "symbol is NULL"),
    (lambda s: to_symbol(SYMBOL, 0, 8, stream=s), 100000, "src is NULL"),
    (lambda s: from_symbol(0, 8, SYMBOL, 8, stream=s), 100000, "dst is NULL"),
    (lambda s: from_symbol(PLACE, 8, NULL, 8, stream=s), 100000, "symbol is NULL"),
    (lambda s: from_symbol(PLACE, 7, SYMBOL, 8, stream=s), 100000, "count is 8, expected at most dstMax, 7"),
    *(
        (lambda s, k=k: to_symbol(SYMBOL, PLACE, 8, 0, k, s), 100000, f"kind is {k}, expected ACL_MEMCPY_HOST")
        for k in (H2H, D2H, D2D, STAGED, 6, 7, 8)
    ),
    *(
        (lambda s, k=k: from_symbol(PLACE, 8, SYMBOL, 8, 0, k, s), 100000, f"kind is {k}, expected ACL_MEMCPY_DEVICE")
        for k in (H2H, H2D, D2D, STAGED, 6, 7, 8)
    ),
    (lambda s: to_symbol(SYMBOL, PLACE, 33, stream=s), 100000, "offset is 0 and count 33", "at most 32"),
    (lambda s: to_symbol(SYMBOL, PLACE, 1, 32, stream=s), 100000, "offset is 32 and count 1"),
    (lambda s: to_symbol(SYMBOL, PLACE, 8, 2**64 - 4, stream=s), 100000, f"offset is {2**64 - 4} and count 8"),
    (lambda s: from_symbol(PLACE, 256, SYMBOL, 33, stream=s), 100000, "offset is 0 and count 33"),
    (lambda s: from_symbol(PLACE, 256, SYMBOL, 8, 2**64 - 4, stream=s), 100000, f"offset is {2**64 - 4} and count 8"),
    (lambda s: to_symbol(UNKNOWN, PLACE, 8, stream=s), 107043, "symbol is", "aclsimRegisterVariable"),
    (lambda s: from_symbol(PLACE, 8, UNKNOWN, 8, stream=s), 107043, "not registered for a variable"),
]


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_copies(binary, row, queued):
    call, code, *words = REFUSED[row]
    refused(call(0 if queued else None), code, *words)
    assert read(address_of(SYMBOL)[1], 32).tobytes() == TABLE


QUESTIONS = [
    (lambda: lib.aclrtGetSymbolAddress(NULL, ffi.new("void **")), 100000, "symbol is NULL"),
    (lambda: lib.aclrtGetSymbolAddress(SYMBOL, NULL), 100000, "devPtr is NULL"),
    (lambda: address_of(UNKNOWN)[0], 107043, "symbol is"),
    (lambda: lib.aclrtGetSymbolSize(NULL, ffi.new("size_t *")), 100000, "symbol is NULL"),
    (lambda: lib.aclrtGetSymbolSize(SYMBOL, NULL), 100000, "size is NULL"),
    (lambda: size_of(UNKNOWN)[0], 107043, "symbol is"),
    (lambda: lib.aclsimRegisterVariable(NULL, NULL, NULL), 100000, "symbol is NULL"),
    (lambda: lib.aclsimRegisterVariable(SYMBOL, pointer(5), NULL), 100000, "name is NULL"),
    (lambda: lib.aclsimRegisterVariable(SYMBOL, pointer(5), b"table"), 107017, "binary is 0x5"),
]


@pytest.mark.parametrize("row", range(len(QUESTIONS)))
def test_questions(binary, row):
    call, code, said = QUESTIONS[row]
    refused(call(), code, said)


CALLS = {
    "aclrtGetSymbolAddress": lambda: address_of(SYMBOL)[0],
    "aclrtGetSymbolSize": lambda: size_of(SYMBOL)[0],
    "aclrtMemcpyToSymbol": lambda: to_symbol(SYMBOL, PLACE, 8),
    "aclrtMemcpyToSymbolAsync": lambda: to_symbol(SYMBOL, PLACE, 8, stream=0),
    "aclrtMemcpyFromSymbol": lambda: from_symbol(PLACE, 8, SYMBOL, 8),
    "aclrtMemcpyFromSymbolAsync": lambda: from_symbol(PLACE, 8, SYMBOL, 8, stream=0),
}


@pytest.mark.parametrize("name", list(CALLS))
def test_what_symbols_need(configure, name):
    """A context, a binary that was loaded on its device, and that is loaded still."""
    configure(devices=2)
    assert rt.set_device(0) == 0
    binary = load()
    assert CALLS[name]() == 0
    assert in_thread(CALLS[name]) == 107002
    assert rt.set_device(1) == 0
    refused(CALLS[name](), 507000, name, "which was loaded on device 0, expected the current device, 1")
    assert rt.set_device(0) == 0
    assert rt.binary_unload(binary) == 0
    refused(CALLS[name](), 107043, name)


@pytest.mark.parametrize("name", [name for name in CALLS if "Async" in name])
def test_streams(binary, stream, name):
    def call(on):
        return from_symbol(PLACE, 8, SYMBOL, 8, stream=on) if "From" in name else to_symbol(SYMBOL, PLACE, 8, stream=on)

    dead, _ = rt.create_stream()
    assert rt.destroy_stream(dead) == 0
    refused(call(dead), 107017, name, f"stream is {dead:#x}")
    home, _ = rt.get_context()
    context, _ = rt.create_context(0)
    refused(call(stream), 107003, name, "another context")
    assert rt.destroy_context(context) == 0
    assert rt.set_context(home) == 0


def test_a_symbol_stands_for_one_variable_until_it_is_taken_back(binary):
    assert lib.aclsimRegisterVariable(SYMBOL, pointer(binary), b"scratch") == 0
    assert size_of(SYMBOL) == (0, 100)
    refused(lib.aclsimRegisterVariable(SYMBOL, pointer(binary), b"kernel"), 107042, 'name is "kernel"')
    assert size_of(SYMBOL) == (0, 100)
    assert lib.aclsimRegisterVariable(SYMBOL, NULL, NULL) == 0
    assert size_of(SYMBOL)[0] == 107043
    assert size_of(SCRATCH) == (0, 100)
    acl.sim.reset()
    assert rt.set_device(0) == 0
    assert size_of(SCRATCH)[0] == 107043
