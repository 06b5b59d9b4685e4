"""Copies inside a device whose addresses stand in device memory: described ones, and ones with offsets."""

import numpy
import pytest
from helpers.capture import GLOBAL
from helpers.expect import NULL, pointer, refused
from helpers.memory import read, write

import acl
from acl._lib import ffi, lib

rt = acl.rt

INNER = 6
SIZE = 64
NUMBERS = numpy.arange(SIZE, dtype=numpy.uint8)
GIB = 1 << 30


def with_offset(dst, room, dst_offset, src, count, src_offset, stream=0, kind=INNER):
    places = ffi.cast("void **", dst), ffi.cast("const void **", src)
    return lib.aclrtMemcpyAsyncWithOffset(
        places[0], room, dst_offset, places[1], count, src_offset, kind, pointer(stream)
    )


class Copy:
    """Two blocks and where their addresses, or their description, stand in device memory."""

    def __init__(self, block):
        self.source, self.target = block(SIZE), block(SIZE)
        self.words, self.description = block(16), block(rt.get_memcpy_desc_size(INNER)[0])
        write(self.source, NUMBERS)
        write(self.target, NUMBERS * 0)
        self.point(self.target, self.source)

    def point(self, target, source):
        """Write the addresses."""
        write(self.words, numpy.array([target, source], numpy.uint64))

    def describe(self, target, source, size):
        """Write the description; return ret."""
        described, ret = rt.set_memcpy_desc(self.description, INNER, source, target, size, 0)
        assert described == self.description
        return ret

    def queue(self, stream, count=8, dst_offset=0, src_offset=0):
        """Queue a copy with offsets."""
        return with_offset(self.words, SIZE, dst_offset, self.words + 8, count, src_offset, stream)


@pytest.fixture
def copy(block):
    """Make a copy."""
    return Copy(block)


def test_described_copies(stream, copy):
    assert rt.get_memcpy_desc_size(INNER)[1] == 0
    assert copy.describe(copy.target, copy.source, 16) == 0
    assert rt.memcpy_async_with_desc(copy.description, INNER, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert read(copy.target, SIZE).tolist() == [*range(16), *[0] * 48]


@pytest.mark.strict
def test_a_description_takes_64_bytes(device):
    assert rt.get_memcpy_desc_size(INNER) == (64, 0)


def test_copies_with_offsets(stream, copy):
    assert copy.queue(stream, 8, 32, 4) == 0
    assert rt.synchronize_stream(stream) == 0
    assert read(copy.target, SIZE).tolist() == [*[0] * 32, *range(4, 12), *[0] * 24]


def test_nothing_with_offsets_succeeds_before_any_check(device):
    assert with_offset(0, 0, 5, 0, 0, 5, 12345, 99) == 0


@pytest.mark.needs_sim
@pytest.mark.finds("race", count=None)
def test_addresses_are_read_when_the_task_runs(stream, copy, block):
    late, other = block(SIZE), block(SIZE)
    for target in (late, other):
        write(target, NUMBERS * 0)
    assert copy.describe(copy.target, copy.source, 8) == 0
    acl.sim.hold(stream)
    assert copy.queue(stream) == rt.memcpy_async_with_desc(copy.description, INNER, stream) == 0
    copy.point(late, copy.source)
    assert copy.describe(other, copy.source + 1, 4) == 0
    acl.sim.release(stream)
    assert rt.synchronize_stream(stream) == 0
    assert (read(copy.target, SIZE) == 0).all()
    assert read(late, 9).tolist() == [*range(8), 0]
    assert read(other, 5).tolist() == [1, 2, 3, 4, 0]


def test_captured_copies_read_them_in_each_run(stream, copy, block):
    other = block(SIZE)
    assert copy.describe(copy.target, copy.source, 8) == 0
    assert acl.mdl.ri_capture_begin(stream, GLOBAL) == 0
    assert copy.queue(stream, 4, 8, 0) == rt.memcpy_async_with_desc(copy.description, INNER, stream) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    assert (read(copy.target, SIZE) == 0).all()
    assert acl.mdl.ri_execute_async(instance, stream) == rt.synchronize_stream(stream) == 0
    assert read(copy.target, 13).tolist() == [*range(8), 0, 1, 2, 3, 0]
    write(other, NUMBERS + 100)
    copy.point(copy.target, other)
    assert copy.describe(copy.target, other + 50, 8) == 0
    assert acl.mdl.ri_execute_async(instance, stream) == rt.synchronize_stream(stream) == 0
    assert read(copy.target, 13).tolist() == [*range(150, 158), 100, 101, 102, 103, 0]
    assert acl.mdl.ri_destroy(instance) == 0


def test_descriptions_are_written_synchronously(stream, copy):
    """Like any synchronous copy, which captures of mode GLOBAL do not allow."""
    assert acl.mdl.ri_capture_begin(stream, GLOBAL) == 0
    refused(copy.describe(copy.target, copy.source, 8), 107030, "aclrtSetMemcpyDesc")
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    assert acl.mdl.ri_destroy(instance) == 0


# ---- what they refuse ----

OTHER_KINDS = [*range(INNER), 7]

REFUSED = [  # call with a Copy, code, what is said
    (lambda c: lib.aclrtGetMemcpyDescSize(INNER, NULL), 100000, "descSize is NULL"),
    (lambda c: rt.get_memcpy_desc_size(8)[1], 100000, "kind is 8"),
    *((lambda c, k=k: rt.get_memcpy_desc_size(k)[1], 107000, f"kind is {k}") for k in OTHER_KINDS),
    (lambda c: rt.set_memcpy_desc(0, INNER, 1, 1, 1, 0)[1], 100000, "desc is NULL"),
    (lambda c: rt.set_memcpy_desc(c.description, INNER, 0, c.target, 1, 0)[1], 100000, "srcAddr is NULL"),
    (lambda c: rt.set_memcpy_desc(c.description, INNER, c.source, 0, 1, 0)[1], 100000, "dstAddr is NULL"),
    (lambda c: c.describe(c.target, c.source, 0), 100000, "count is 0"),
    (lambda c: rt.set_memcpy_desc(c.description, INNER, c.source, c.target, 1, 5)[1], 100000, "config is 0x5"),
    (lambda c: rt.set_memcpy_desc(c.description, 8, c.source, c.target, 1, 0)[1], 100000, "kind is 8"),
    *(
        (lambda c, k=k: rt.set_memcpy_desc(c.description, k, c.source, c.target, 1, 0)[1], 107000, f"kind is {k}")
        for k in OTHER_KINDS
    ),
    (lambda c: c.describe(c.target, c.source, 4 * GIB + 1), 107000, f"count is {4 * GIB + 1}, expected at most 4 GiB"),
    (lambda c: rt.memcpy_async_with_desc(0, INNER, 1), 100000, "desc is NULL"),
    (lambda c: rt.memcpy_async_with_desc(c.description, INNER, 0), 100000, "stream is NULL"),
    (lambda c: rt.memcpy_async_with_desc(c.description, 8, 1), 100000, "kind is 8"),
    (lambda c: with_offset(0, 8, 0, c.words, 8, 0), 100000, "dst is NULL"),
    (lambda c: with_offset(c.words, 8, 0, 0, 8, 0), 100000, "src is NULL"),
    (lambda c: with_offset(c.words, 8, 0, c.words, 8, 0, kind=8), 100000, "kind is 8"),
    *((lambda c, k=k: with_offset(c.words, 8, 0, c.words, 8, 0, kind=k), 107000, f"kind is {k}") for k in OTHER_KINDS),
    (lambda c: with_offset(c.words, 8, 0, c.words, 9, 0), 107000, "count is 9 and dstDataOffset 0", "destMax, 8"),
    (lambda c: with_offset(c.words, 8, 4, c.words, 5, 0), 107000, "count is 5 and dstDataOffset 4", "destMax, 8"),
    (lambda c: with_offset(c.words, 8, 2**64 - 1, c.words, 2, 0), 107000, f"dstDataOffset {2**64 - 1}"),
    (lambda c: with_offset(c.words, 5 * GIB, 0, c.words, 4 * GIB + 1, 0), 107000, "expected at most 4 GiB"),
]
HOST_WORDS = ffi.new("uint64_t[8]")
HOST = int(ffi.cast("uintptr_t", HOST_WORDS))
STRICT = [
    (lambda c: c.describe(c.target, c.source, 97), 107000, "srcAddr"),
    (lambda c: c.describe(HOST, c.source, 8), 107000, "dstAddr is", "expected an address inside a block"),
    (lambda c: c.describe(c.target, HOST, 8), 107000, "srcAddr is", "ordinary host memory"),
    (lambda c: rt.set_memcpy_desc(HOST, INNER, c.source, c.target, 8, 0)[1], 107000, "desc is", "ordinary host memory"),
    (lambda c: with_offset(HOST, 8, 0, c.words, 8, 0), 107000, "dst is", "ordinary host memory"),
    (lambda c: with_offset(c.words, 8, 0, HOST, 8, 0), 107000, "src is", "ordinary host memory"),
]


@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_arguments(copy, row):
    call, code, *words = REFUSED[row]
    refused(call(copy), code, *words)


@pytest.mark.strict
@pytest.mark.parametrize("row", range(len(STRICT)))
def test_addresses(copy, row):
    call, code, *words = STRICT[row]
    refused(call(copy), code, *words)


QUEUED = {
    "aclrtMemcpyAsyncWithDesc": lambda c, stream: rt.memcpy_async_with_desc(c.description, INNER, stream),
    "aclrtMemcpyAsyncWithOffset": lambda c, stream: c.queue(stream),
}


@pytest.mark.parametrize("name", list(QUEUED))
def test_streams(copy, stream, name):
    if acl.is_simulator:
        dead, _ = rt.create_stream()
        assert rt.destroy_stream(dead) == 0
        refused(QUEUED[name](copy, dead), 107017, name, f"stream is {dead:#x}")
    home, _ = rt.get_context()
    context, _ = rt.create_context(0)
    refused(QUEUED[name](copy, stream), 107003, name, "another context")
    assert rt.destroy_context(context) == 0
    refused(QUEUED[name](copy, stream), 107002, name)
    refused(copy.describe(copy.target, copy.source, 8), 107002, "aclrtSetMemcpyDesc")
    assert rt.set_context(home) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "soc, described, offsets",
    [
        ("Ascend910B3", 0, 0),
        ("Ascend910_9392", 0, 0),
        ("Ascend910_95", 0, 0),
        ("Ascend310B1", 0, 0),
        ("Ascend310P3", 207000, 207000),
        ("Ascend910A", 207000, 0),
    ],
)
def test_chips(configure, soc, described, offsets):
    configure(soc=soc)
    assert rt.set_device(0) == 0
    words, _ = rt.malloc(256, 0)
    write(words, numpy.array([words + 64, words + 128], numpy.uint64))
    stream, _ = rt.create_stream()
    assert rt.get_memcpy_desc_size(INNER)[1] == described
    assert rt.set_memcpy_desc(words + 192, INNER, words + 64, words + 128, 8, 0)[1] == described
    assert rt.memcpy_async_with_desc(words + 192, INNER, stream) == described
    assert with_offset(words, 8, 0, words + 8, 8, 0, stream) == offsets
    assert rt.synchronize_stream(stream) == 0


# ---- tasks that fail ----

NOWHERE = {
    "no memory": lambda c: (12345, c.source),
    "host memory": lambda c: (c.target, HOST),
    "the end of a block": lambda c: (c.target + 2 * SIZE - 36, c.source),
    "NULL": lambda c: (c.target, 0),
}


@pytest.mark.strict
@pytest.mark.parametrize("place", list(NOWHERE))
@pytest.mark.parametrize("name", list(QUEUED))
def test_addresses_that_are_none_when_the_task_runs(stream, copy, name, place):
    target, source = NOWHERE[place](copy)
    copy.point(target, source)
    assert copy.describe(copy.target, copy.source, 8) == 0
    words = read(copy.description, 64).view(numpy.uint64).tolist()  # an address in it shows by itself
    there = {copy.target: target, copy.source: source}
    write(copy.description, numpy.array([there.get(word, word) for word in words], numpy.uint64))
    assert QUEUED[name](copy, stream) == 0
    refused(rt.synchronize_stream(stream), 507053, f"{name} failed", "is not device memory")
    assert (read(copy.target, SIZE) == 0).all()


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", list(QUEUED))
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_where_addresses_stand_is_freed_under_a_queued_copy(stream, memory, copy, name):
    assert copy.describe(copy.target, copy.source, 8) == 0
    acl.sim.hold(stream)
    assert QUEUED[name](copy, stream) == 0
    gone = copy.description if "Desc" in name else copy.words
    assert memory.free(gone) == 0
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507053, f"{name} failed", f"at {gone:#x}, which it reads, were freed")


@pytest.mark.needs_sim
def test_never_between_devices(configure):
    configure(devices=2, soc="Ascend910_9392")  # whose devices reach one another
    blocks = []
    for device in (0, 1):
        assert rt.set_device(device) == 0
        blocks.append(rt.malloc(256, 0)[0])
    there, here = blocks
    refused(rt.set_memcpy_desc(here + 64, INNER, there, here, 8, 0)[1], 107000, "device 0", "device 1")
    write(here, numpy.array([here + 128, there], numpy.uint64))
    stream, _ = rt.create_stream()
    assert with_offset(here, 8, 0, here + 8, 8, 0, stream) == 0
    refused(rt.synchronize_stream(stream), 507053, "from one device to another")
