"""Batches of copies: what they copy, when, and what they refuse."""

import numpy
import pytest
from helpers.capture import GLOBAL, relaxed
from helpers.expect import NULL, pointer, refused
from helpers.memory import read, write

import acl
from acl._lib import ffi, lib

rt = acl.rt

HOST, DEVICE, ORDINARY, MANAGED = range(4)
IN, OUT = (DEVICE, HOST), (HOST, DEVICE)  # types of target and source
SIZE = 64
NOWHERE = 2**64 - 1
CALLS = ["aclrtMemcpyBatch", "aclrtMemcpyBatchV2", "aclrtMemcpyBatchAsync", "aclrtMemcpyBatchAsyncV2"]
QUEUED = [name for name in CALLS if "Async" in name]


class Batch:
    """The arguments of a batch; any of them may be changed before the call."""

    def __init__(self, dsts, srcs, sizes, attrs=(IN,), starts=(0,)):
        self.dsts = ffi.new("void *[]", [pointer(address) for address in dsts])
        self.srcs = ffi.new("void *[]", [pointer(address) for address in srcs])
        self.sizes = ffi.new("size_t[]", sizes)
        self.dst_sizes = ffi.new("size_t[]", sizes)
        self.count = len(sizes)
        self.attrs = ffi.new("aclrtMemcpyBatchAttr[]", len(attrs))
        for attr, (dst, src) in zip(self.attrs, attrs):
            attr.dstLoc.type, attr.srcLoc.type = dst, src
        self.starts = ffi.new("size_t[]", starts)
        self.attr_count = len(attrs)
        self.failed = ffi.new("size_t *", 12345)

    def call(self, name, stream=0):
        """Call the function; where it says which copy failed, that is in ``failed[0]``."""
        arguments = [self.dsts, self.dst_sizes, self.srcs, self.sizes, self.count]
        arguments += [self.attrs, self.starts, self.attr_count]
        arguments += [] if name.endswith("V2") else [self.failed]
        return getattr(lib, name)(*arguments, *([pointer(stream)] if "Async" in name else []))


def numbers(first):
    return (numpy.arange(SIZE) + first).astype(numpy.uint8)


# ---- what they copy ----


@pytest.mark.parametrize("name", CALLS)
def test_all_of_a_batch_is_copied(stream, block, pinned, name):
    (source, view), ordinary = pinned(SIZE), numbers(100)
    view[:] = numbers(0)
    targets = [block(SIZE) for _ in range(4)]
    for target in targets:
        assert rt.memset(target, SIZE, 0xEE, SIZE) == 0
    srcs = [source, source + 10, ordinary.ctypes.data, 0]
    batch = Batch(targets[:3] + [0], srcs, [SIZE, 5, SIZE, 0], [IN, (DEVICE, ORDINARY)], [0, 2])
    assert batch.call(name, stream) == 0
    assert batch.failed[0] == (12345 if name.endswith("V2") else NOWHERE)
    assert rt.synchronize_stream(stream) == 0
    assert (read(targets[0], SIZE) == numbers(0)).all()
    assert (read(targets[1], SIZE) == [*range(10, 15), *[0xEE] * 59]).all()
    assert (read(targets[2], SIZE) == numbers(100)).all()
    assert (read(targets[3], SIZE) == 0xEE).all()
    back, (out, seen) = numpy.zeros(SIZE, numpy.uint8), pinned(SIZE)
    assert Batch([back.ctypes.data, out], targets[:2], [SIZE, SIZE], [OUT]).call(name, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert (back == numbers(0)).all() and (seen[:5] == view[10:15]).all() and (seen[5:] == 0xEE).all()


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_of_nothing_succeeds(device, name):
    batch = Batch([], [], [0, 0])
    batch.dsts = batch.srcs = batch.dst_sizes = batch.attrs = batch.starts = NULL
    batch.attr_count = 0
    assert batch.call(name) == 0
    assert batch.failed[0] == (12345 if name.endswith("V2") else NOWHERE)


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", QUEUED)
@pytest.mark.finds("host-write-before-copy")
def test_pinned_copies_are_queued(stream, block, pinned, name):
    target, (source, view) = block(SIZE), pinned(SIZE)
    view[:] = 1
    acl.sim.hold(stream)
    assert Batch([target], [source], [SIZE]).call(name, stream) == 0
    view[:] = 2
    acl.sim.release(stream)
    assert rt.synchronize_stream(stream) == 0
    assert (read(target, SIZE) == 2).all()


@pytest.mark.parametrize("name", QUEUED)
def test_ordinary_memory_is_copied_on_return_after_the_streams_work(stream, block, name):
    target, ordinary, back = block(SIZE), numbers(3), numpy.zeros(SIZE, numpy.uint8)
    assert rt.memset_async(target, SIZE, 9, SIZE, stream) == 0
    assert Batch([target], [ordinary.ctypes.data], [8]).call(name, stream) == 0
    ordinary[:] = 0
    assert Batch([back.ctypes.data], [target], [SIZE], [OUT]).call(name, stream) == 0
    assert (back[:8] == numbers(3)[:8]).all() and (back[8:] == 9).all()


@pytest.mark.needs_sim
@pytest.mark.finds("race", count=None)
def test_a_synchronous_batch_waits_for_no_stream(stream, block, pinned):
    target, (source, view) = block(SIZE), pinned(SIZE)
    view[:] = 5
    acl.sim.hold(stream)
    assert rt.memset_async(target, SIZE, 9, SIZE, stream) == 0
    assert Batch([target], [source], [SIZE]).call("aclrtMemcpyBatch") == 0
    assert (read(target, SIZE) == 5).all()
    acl.sim.release(stream)
    assert rt.synchronize_stream(stream) == 0


# ---- what they refuse ----


@pytest.fixture
def good(block, pinned):
    """Give a fresh batch of three copies to the device that would succeed."""
    targets, (source, view) = [block(SIZE) for _ in range(3)], pinned(SIZE)
    view[:] = 1

    def make():
        for target in targets:
            write(target, numbers(0))
        return Batch(targets, [source] * 3, [SIZE, 8, 8], [IN, IN], [0, 1])

    return make


def change(**members):
    """Return a function that sets members of a batch."""
    return lambda batch: [setattr(batch, name, value) for name, value in members.items()]


def put(member, index, value):
    """Return a function that sets one element of a batch's array."""

    def alter(batch):
        getattr(batch, member)[index] = pointer(value) if member in ("dsts", "srcs") else value

    return alter


def reserve(batch):
    batch.attrs[1].rsv[7] = 3


def say(index, dst, src):
    """Return a function that sets the types of an attribute."""

    def alter(batch):
        batch.attrs[index].dstLoc.type, batch.attrs[index].srcLoc.type = dst, src

    return alter


REFUSED = [  # what is changed, code, which copy fails, what is said
    (change(sizes=NULL), 100000, NOWHERE, "sizes is NULL"),
    (change(count=0), 100000, NOWHERE, "numBatches is 0"),
    (change(dsts=NULL), 100000, NOWHERE, "dsts is NULL"),
    (change(dst_sizes=NULL), 100000, NOWHERE, "destMaxs is NULL"),
    (change(srcs=NULL), 100000, NOWHERE, "srcs is NULL"),
    (change(attrs=NULL), 100000, NOWHERE, "attrs is NULL"),
    (change(starts=NULL), 100000, NOWHERE, "attrsIndexes is NULL"),
    (put("dst_sizes", 1, 7), 100000, NOWHERE, "sizes[1] is 8, expected at most destMaxs[1], 7"),
    (reserve, 100000, NOWHERE, "attrs[1].rsv[7] is 3, expected 0"),
    (change(count=2**20 + 1), 107000, NOWHERE, "numBatches is 1048577, expected at most 1048576"),
    (change(attr_count=0), 107000, NOWHERE, "numAttrs is 0, expected 1 to numBatches, 3"),
    (change(attr_count=4), 107000, NOWHERE, "numAttrs is 4, expected 1 to numBatches, 3"),
    (put("starts", 0, 1), 107000, NOWHERE, "attrsIndexes[0] is 1, expected 0"),
    (put("starts", 1, 0), 107000, NOWHERE, "attrsIndexes[1] is 0, expected more than the one before, 0"),
    (put("starts", 1, 3), 107000, NOWHERE, "attrsIndexes[1] is 3, expected less than numBatches, 3"),
    (say(1, HOST, HOST), 107000, 1, "dsts[1] is", "device memory, and its attribute says host memory (0)"),
    (say(1, DEVICE, DEVICE), 107000, 1, "srcs[1] is", "pinned host memory, and its attribute says device memory (1)"),
    (say(0, DEVICE, ORDINARY), 107000, 0, "srcs[0] is", "attribute says ordinary host memory (2)"),
    (say(0, MANAGED, HOST), 107000, 0, "dsts[0] is", "attribute says a type that batch copies do not support"),
    (put("dsts", 2, 0), 107000, 2, "dsts[2] is NULL"),
    (put("srcs", 0, 0), 107000, 0, "srcs[0] is NULL"),
]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_nothing_is_copied_of_a_batch_that_is_refused(good, name, row):
    alter, code, failed, *words = REFUSED[row]
    batch = good()
    targets = list(batch.dsts)
    alter(batch)
    refused(batch.call(name), code, name, *words)
    assert batch.failed[0] == (12345 if name.endswith("V2") else failed)
    for target in targets:
        assert (read(int(ffi.cast("uintptr_t", target)), SIZE) == numbers(0)).all()


@pytest.mark.parametrize("name", CALLS)
def test_one_direction_a_batch(stream, block, pinned, name):
    target, (source, _) = block(SIZE), pinned(SIZE)
    write(target, numbers(0))
    batch = Batch([target, source], [source, target], [8, 8], [IN, OUT], [0, 1])
    refused(batch.call(name, stream), 107000, "copy 1 goes from the device", "direction of its first one")
    assert batch.failed[0] == (12345 if name.endswith("V2") else 1)
    for dsts, srcs, types in (([target], [target + 32], (DEVICE, DEVICE)), ([source], [source + 32], (HOST, HOST))):
        batch = Batch(dsts, srcs, [8], [types])
        refused(batch.call(name, stream), 107000, "expected host memory on one side and device memory on the other")
        assert batch.failed[0] == (12345 if name.endswith("V2") else 0)
    assert (read(target, SIZE) == numbers(0)).all()


@pytest.mark.strict
@pytest.mark.parametrize("name", CALLS)
def test_copies_stay_inside_live_blocks(block, pinned, name):
    target, (source, _) = block(32), pinned(4096)
    batch = Batch([target, target], [source, source], [32, 65])
    refused(batch.call(name), 107000, "sizes[1] is 65, expected at most 64: dsts[1]")
    assert batch.failed[0] == (12345 if name.endswith("V2") else NOWHERE)
    gone, _ = rt.malloc(SIZE, 0)
    assert rt.free(gone) == 0
    batch = Batch([target, gone], [source, source], [32, 8])
    refused(batch.call(name), 107000, f"dsts[1] is {gone:#x}", "not allocated (any more)")
    assert batch.failed[0] == (12345 if name.endswith("V2") else 1)


@pytest.mark.parametrize("name", [name for name in CALLS if not name.endswith("V2")])
def test_where_the_failed_copy_is_written(good, name):
    batch = good()
    batch.failed = NULL
    refused(batch.call(name), 100000, name, "failIndex is NULL")


@pytest.mark.parametrize("name", QUEUED)
def test_streams(good, stream, name):
    if acl.is_simulator:
        dead, _ = rt.create_stream()
        assert rt.destroy_stream(dead) == 0
        refused(good().call(name, dead), 107017, name, f"stream is {dead:#x}")
    home, _ = rt.get_context()
    batch = good()
    context, _ = rt.create_context(0)
    refused(batch.call(name, stream), 107003, name, "another context")
    assert rt.destroy_context(context) == 0
    refused(batch.call(name), 107002, name)
    assert rt.set_context(home) == 0


@pytest.mark.parametrize("name", CALLS)
def test_no_context(good, name):
    batch = good()
    home, _ = rt.get_context()
    context, _ = rt.create_context(0)
    assert rt.destroy_context(context) == 0
    refused(batch.call(name), 107002, name)
    assert rt.set_context(home) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", QUEUED)
@pytest.mark.finds("freed-in-use", "use-after-free")
def test_memory_freed_under_a_queued_batch(stream, pinned, name):
    target, (source, _) = rt.malloc(SIZE, 0)[0], pinned(SIZE)
    acl.sim.hold(stream)
    assert Batch([target], [source], [8]).call(name, stream) == 0
    assert rt.free(target) == 0
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507053, f"{name} failed", f"the 8 bytes at {target:#x}")


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("soc, code", [("Ascend910_95", 0), ("Ascend910_9392", 0), ("Ascend310B1", 207000),
                                       ("Ascend310P3", 207000), ("Ascend910A", 207000)])  # fmt: skip
def test_chips(configure, name, soc, code):
    configure(soc=soc)
    assert rt.set_device(0) == 0
    target, _ = rt.malloc(SIZE, 0)
    source, _ = rt.malloc_host(SIZE)
    ret = Batch([target], [source], [8]).call(name)
    if code:
        refused(ret, code, soc, "cannot copy in batches")
    else:
        assert ret == rt.synchronize_stream(0) == 0


# ---- captures ----


@pytest.mark.parametrize("name", QUEUED)
def test_captured_batches_run_again(stream, block, pinned, name):
    targets, (source, view) = [block(SIZE), block(SIZE)], pinned(SIZE)
    assert acl.mdl.ri_capture_begin(stream, GLOBAL) == 0
    assert Batch(targets, [source, source], [SIZE, SIZE]).call(name, stream) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    for value in (1, 2):
        view[:] = value
        assert acl.mdl.ri_execute_async(instance, stream) == rt.synchronize_stream(stream) == 0
        assert all((read(target, SIZE) == value).all() for target in targets)
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("name", QUEUED)
def test_batches_with_ordinary_memory_are_not_captured(stream, other, block, pinned, name):
    targets, (source, view), ordinary = [block(SIZE), block(SIZE)], pinned(SIZE), numbers(0)
    view[:] = 1
    with relaxed():
        for target in targets:
            assert rt.memset(target, SIZE, 0, SIZE) == 0
    assert acl.mdl.ri_capture_begin(stream, GLOBAL) == 0
    batch = Batch(targets, [source, ordinary.ctypes.data], [SIZE, SIZE])
    refused(batch.call(name, stream), 107000, name, "the stream is being captured")
    refused(batch.call(name, other), 107041, name)
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    assert acl.mdl.ri_execute_async(instance, stream) == rt.synchronize_stream(stream) == 0
    assert (read(targets[0], SIZE) == 0).all(), "a part of the refused batch was recorded"
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("name", CALLS[:2])
def test_synchronous_batches_are_unsafe_during_captures(stream, good, name):
    batch = good()
    assert acl.mdl.ri_capture_begin(stream, GLOBAL) == 0
    refused(batch.call(name), 107030, name)
    with relaxed():
        assert batch.call(name) == 0
    instance, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    assert acl.mdl.ri_destroy(instance) == 0
