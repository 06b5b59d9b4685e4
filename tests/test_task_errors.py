"""What single tasks refuse, and what they say."""

import pytest
from helpers.capture import begin, end
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib

SIZE = 256
SUM, EQUAL_KIND = 10, 13
FLOAT, INT4, UINT32, DOUBLE = 0, 29, 8, 11


@pytest.fixture
def block(device):
    """Give the address of a block of device memory."""
    address, ret = acl.rt.malloc(SIZE, 0)
    assert ret == 0
    yield address
    acl.rt.free(address)


def barrier(count=1, kind=2, number=1):
    return ffi.new("aclrtBarrierTaskInfo *", {"barrierNum": count, "cmoInfo": [{"cmoType": kind, "barrierId": number}]})


# Every call that queues a task, with valid arguments except the stream.
QUEUED = {
    "aclrtValueWrite": lambda block, stream: acl.rt.value_write(block, 1, 0, stream),
    "aclrtValueWait": lambda block, stream: acl.rt.value_wait(block, 0, 1, stream),
    "aclrtReduceAsync": lambda block, stream: acl.rt.reduce_async(block, block + 64, 8, SUM, FLOAT, stream, 0),
    "aclrtCmoAsync": lambda block, stream: acl.rt.cmo_async(block, SIZE, 0, stream),
    "aclrtCmoAsyncWithDesc": lambda block, stream: lib.aclrtCmoAsyncWithDesc(pointer(block), 0, pointer(stream), NULL),
}


@pytest.mark.strict
@pytest.mark.parametrize("name", list(QUEUED))
def test_dead_streams(block, name):
    dead, _ = acl.rt.create_stream()
    assert acl.rt.destroy_stream(dead) == 0
    refused(QUEUED[name](block, dead), 107017, name, f"stream is {dead:#x}", "a destroyed stream")


@pytest.mark.parametrize("name", list(QUEUED))
def test_streams_of_another_context(block, stream, name):
    context, _ = acl.rt.create_context(0)
    refused(QUEUED[name](block, stream), 107003, name, f"stream {stream:#x}", "another context")
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0


@pytest.mark.parametrize("name", list(QUEUED))
def test_without_a_context(block, name):
    in_thread(lambda: refused(QUEUED[name](block, 0), 107002, name, "no current context"))


@pytest.mark.parametrize(
    ("name", "said", "call"),
    [
        ("aclrtValueWrite", "devAddr is NULL", lambda block: acl.rt.value_write(0, 1, 0, 0)),
        ("aclrtValueWait", "devAddr is NULL", lambda block: acl.rt.value_wait(0, 1, 0, 0)),
        ("aclrtReduceAsync", "dst is NULL", lambda block: acl.rt.reduce_async(0, block, 8, SUM, FLOAT, 0, 0)),
        ("aclrtReduceAsync", "src is NULL", lambda block: acl.rt.reduce_async(block, 0, 8, SUM, FLOAT, 0, 0)),
        ("aclrtReduceAsync", "reserve is 0x1", lambda block: acl.rt.reduce_async(block, block, 8, SUM, FLOAT, 0, 1)),
        ("aclrtReduceAsync", "type is 11", lambda block: acl.rt.reduce_async(block, block, 8, SUM, DOUBLE, 0, 0)),
        ("aclrtCmoAsync", "src is NULL", lambda block: acl.rt.cmo_async(0, SIZE, 0, 0)),
        ("aclrtCmoAsync", "size is 0", lambda block: acl.rt.cmo_async(block, 0, 0, 0)),
        ("aclrtCmoGetDescSize", "size is NULL", lambda block: lib.aclrtCmoGetDescSize(NULL)),
        ("aclrtCmoSetDesc", "cmoDesc is NULL", lambda block: lib.aclrtCmoSetDesc(NULL, pointer(block), 8)),
        ("aclrtCmoSetDesc", "src is NULL", lambda block: lib.aclrtCmoSetDesc(pointer(block), NULL, 8)),
        ("aclrtCmoSetDesc", "size is 0", lambda block: lib.aclrtCmoSetDesc(pointer(block), pointer(block), 0)),
        ("aclrtCmoAsyncWithDesc", "cmoDesc is NULL", lambda block: lib.aclrtCmoAsyncWithDesc(NULL, 0, NULL, NULL)),
        ("aclrtCmoAsyncWithDesc", "reserve is", lambda block: lib.aclrtCmoAsyncWithDesc(pointer(block), 0, NULL, b"x")),
        ("aclrtCmoAsyncWithBarrier", "src is NULL", lambda block: lib.aclrtCmoAsyncWithBarrier(NULL, 8, 2, 1, NULL)),
        (
            "aclrtCmoAsyncWithBarrier",
            "size is 0",
            lambda block: lib.aclrtCmoAsyncWithBarrier(pointer(block), 0, 2, 1, NULL),
        ),
        ("aclrtCmoWaitBarrier", "taskInfo is NULL", lambda block: lib.aclrtCmoWaitBarrier(NULL, NULL, 0)),
        ("aclrtCacheLastTaskOpInfo", "infoPtr is NULL", lambda block: lib.aclrtCacheLastTaskOpInfo(NULL, 1)),
        ("aclrtCacheLastTaskExtendInfo", "extendInfoPtr", lambda block: lib.aclrtCacheLastTaskExtendInfo(NULL, 1)),
    ],
)
def test_checks_of_the_entry_layer(block, name, said, call):
    acl.rt.get_last_error(0)
    refused(call(block), 100000, name, said)
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.parametrize(
    ("code", "name", "said", "call"),
    [
        (107000, "aclrtValueWrite", "flag is 1", lambda block: acl.rt.value_write(block, 1, 1, 0)),
        (107000, "aclrtValueWait", "flag is 4", lambda block: acl.rt.value_wait(block, 1, 4, 0)),
        (107008, "aclrtValueWrite", "multiple of 8", lambda block: acl.rt.value_write(block + 4, 1, 0, 0)),
        (107008, "aclrtValueWait", "multiple of 8", lambda block: acl.rt.value_wait(block + 4, 1, 0, 0)),
        (107000, "aclrtValueWrite", "devAddr is 0x40", lambda block: acl.rt.value_write(64, 1, 0, 0)),
        (107000, "aclrtValueWait", "devAddr is 0x40", lambda block: acl.rt.value_wait(64, 1, 0, 0)),
        (
            107000,
            "aclrtReduceAsync",
            "count is 0",
            lambda block: acl.rt.reduce_async(block, block, 0, SUM, FLOAT, 0, 0),
        ),
        (
            107000,
            "aclrtReduceAsync",
            "count is 6",
            lambda block: acl.rt.reduce_async(block, block, 6, SUM, FLOAT, 0, 0),
        ),
        (107000, "aclrtReduceAsync", "kind is 9", lambda block: acl.rt.reduce_async(block, block, 8, 9, FLOAT, 0, 0)),
        (107000, "aclrtReduceAsync", "kind is 14", lambda block: acl.rt.reduce_async(block, block, 8, 14, FLOAT, 0, 0)),
        (
            107000,
            "aclrtReduceAsync",
            "expected at most 4294967296",
            lambda block: acl.rt.reduce_async(block, block, 2**32 + 4, SUM, FLOAT, 0, 0),
        ),
        (
            107000,
            "aclrtReduceAsync",
            "dst 0x",
            lambda block: acl.rt.reduce_async(block, block, 2**20, SUM, FLOAT, 0, 0),
        ),
        (107000, "aclrtReduceAsync", "src is 0x40", lambda block: acl.rt.reduce_async(block, 64, 8, SUM, FLOAT, 0, 0)),
        (
            107008,
            "aclrtReduceAsync",
            "dst is",
            lambda block: acl.rt.reduce_async(block + 2, block, 8, SUM, FLOAT, 0, 0),
        ),
        (107008, "aclrtReduceAsync", "src is", lambda block: acl.rt.reduce_async(block, block + 1, 8, SUM, 1, 0, 0)),
        (207000, "aclrtReduceAsync", "type 29", lambda block: acl.rt.reduce_async(block, block, 8, SUM, INT4, 0, 0)),
        (207000, "aclrtReduceAsync", "type 8", lambda block: acl.rt.reduce_async(block, block, 8, SUM, UINT32, 0, 0)),
        (207000, "aclrtReduceAsync", "kind 13", lambda block: acl.rt.reduce_async(block, block, 8, 13, FLOAT, 0, 0)),
        (107000, "aclrtCmoAsync", "cmoType is 4", lambda block: acl.rt.cmo_async(block, 8, 4, 0)),
        (207000, "aclrtCmoAsync", "cmoType is 1", lambda block: acl.rt.cmo_async(block, 8, 1, 0)),
        (107000, "aclrtCmoAsync", "src 0x", lambda block: acl.rt.cmo_async(block, 2**20, 0, 0)),
        (
            107000,
            "aclrtCmoSetDesc",
            "cmoDesc is 0x40",
            lambda block: lib.aclrtCmoSetDesc(pointer(64), pointer(block), 8),
        ),
        (107000, "aclrtCmoSetDesc", "src is 0x40", lambda block: lib.aclrtCmoSetDesc(pointer(block), pointer(64), 8)),
        (
            207000,
            "aclrtCmoAsyncWithDesc",
            "cmoType is 3",
            lambda block: lib.aclrtCmoAsyncWithDesc(pointer(block), 3, NULL, NULL),
        ),
        (
            107000,
            "aclrtCmoAsyncWithBarrier",
            "barrierId is 0",
            lambda block: lib.aclrtCmoAsyncWithBarrier(pointer(block), 8, 2, 0, NULL),
        ),
        (
            107000,
            "aclrtCmoAsyncWithBarrier",
            "barrierId is 1",
            lambda block: lib.aclrtCmoAsyncWithBarrier(pointer(block), 8, 0, 1, NULL),
        ),
        (
            207000,
            "aclrtCmoAsyncWithBarrier",
            "no barriers",
            lambda block: lib.aclrtCmoAsyncWithBarrier(pointer(block), 8, 2, 1, NULL),
        ),
        (107000, "aclrtCmoWaitBarrier", "flag is 1", lambda block: lib.aclrtCmoWaitBarrier(barrier(), NULL, 1)),
        (107000, "aclrtCmoWaitBarrier", "barrierNum is 0", lambda block: lib.aclrtCmoWaitBarrier(barrier(0), NULL, 0)),
        (107000, "aclrtCmoWaitBarrier", "barrierNum is 7", lambda block: lib.aclrtCmoWaitBarrier(barrier(7), NULL, 0)),
        (
            107000,
            "aclrtCmoWaitBarrier",
            "cmoInfo[0] has cmoType 0",
            lambda block: lib.aclrtCmoWaitBarrier(barrier(kind=0), NULL, 0),
        ),
        (
            107000,
            "aclrtCmoWaitBarrier",
            "barrierId 0",
            lambda block: lib.aclrtCmoWaitBarrier(barrier(number=0), NULL, 0),
        ),
        (207000, "aclrtCmoWaitBarrier", "no barriers", lambda block: lib.aclrtCmoWaitBarrier(barrier(), NULL, 0)),
        (100000, "aclrtCacheLastTaskOpInfo", "infoSize is 0", lambda block: lib.aclrtCacheLastTaskOpInfo(b"x", 0)),
        (
            107000,
            "aclrtCacheLastTaskOpInfo",
            "infoSize is 65537",
            lambda block: lib.aclrtCacheLastTaskOpInfo(b"x", 65537),
        ),
        (
            107000,
            "aclrtCacheLastTaskOpInfo",
            "expected host memory",
            lambda block: lib.aclrtCacheLastTaskOpInfo(pointer(block), 8),
        ),
        (
            107000,
            "aclrtCacheLastTaskExtendInfo",
            "expected host memory",
            lambda block: lib.aclrtCacheLastTaskExtendInfo(ffi.cast("char *", block), 8),
        ),
        (
            100000,
            "aclrtCacheLastTaskExtendInfo",
            "infoSize is 0",
            lambda block: lib.aclrtCacheLastTaskExtendInfo(b"x", 0),
        ),
    ],
)
def test_checks_of_values(block, code, name, said, call):
    refused(call(block), code, name, said)


def test_information_is_for_tasks_that_are_recorded(block, stream):
    assert acl.rt.value_write(block, 1, 0, stream) == 0
    for name in ("aclrtCacheLastTaskOpInfo", "aclrtCacheLastTaskExtendInfo"):
        refused(getattr(lib, name)(b"x", 1), 107029, name, "was not recorded")
    begin(stream)
    assert acl.rt.value_write(block, 1, 0, stream) == 0
    instance = end(stream)
    assert lib.aclrtCacheLastTaskOpInfo(b"x", 1) == 0  # it is kept as long as the instance is there
    assert acl.mdl.ri_destroy(instance) == 0
    refused(lib.aclrtCacheLastTaskOpInfo(b"x", 1), 107029, "aclrtCacheLastTaskOpInfo", "was not recorded")


UPDATE = ffi.new("aclrtTaskUpdateInfo *")


def random_numbers(block):
    """Describe random numbers for a block."""
    made = ffi.new("aclrtRandomNumTaskInfo *")
    made.randomResultAddr = made.randomCounterAddr = pointer(block)
    return made


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("soc", "code", "call"),
    [
        ("Ascend310P3", 207000, lambda block, stream: acl.rt.value_write(block, 1, 0, 0)),
        ("Ascend910A", 207000, lambda block, stream: acl.rt.value_wait(block, 1, 0, 0)),
        ("Ascend310P3", 207000, lambda block, stream: acl.rt.reduce_async(block, block, 8, 11, 0, 0, 0)),
        ("Ascend310P3", 207000, lambda block, stream: acl.rt.reduce_async(block, block, 8, 10, 2, 0, 0)),
        ("Ascend910A", 207000, lambda block, stream: acl.rt.reduce_async(block, block, 8, 10, 1, 0, 0)),
        ("Ascend910A", 0, lambda block, stream: acl.rt.reduce_async(block, block, 8, 10, 0, 0, 0)),
        ("Ascend310B1", 207000, lambda block, stream: acl.rt.reduce_async(block, block, 8, 10, 27, 0, 0)),
        ("Ascend910_95", 0, lambda block, stream: acl.rt.reduce_async(block, block, 8, 12, 8, 0, 0)),
        ("Ascend310P3", 207000, lambda block, stream: acl.rt.cmo_async(block, 8, 0, 0)),
        ("Ascend310P3", 207000, lambda block, stream: lib.aclrtCmoGetDescSize(ffi.new("size_t *"))),
        ("Ascend310B1", 107005, lambda block, stream: lib.aclrtCmoAsyncWithBarrier(pointer(block), 8, 2, 1, NULL)),
        ("Ascend310B1", 207000, lambda block, stream: lib.aclrtCacheLastTaskOpInfo(b"x", 1)),
        ("Ascend910A", 207000, lambda block, stream: lib.aclrtCacheLastTaskExtendInfo(b"x", 1)),
        ("Ascend910_95", 207000, lambda block, stream: lib.aclrtRandomNumAsync(random_numbers(block), NULL, NULL)),
        ("Ascend910A", 207000, lambda block, stream: lib.aclrtTaskUpdateAsync(stream, 0, UPDATE, NULL)),
    ],
)
def test_chips(configure, soc, code, call):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    (block, _), (stream, _) = acl.rt.malloc(256, 0), acl.rt.create_stream()
    refused(call(block, pointer(stream)), code, *[soc] * (code == 207000))
