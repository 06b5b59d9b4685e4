"""What memory pools refuse, and what they say."""

import pytest
from helpers.expect import NULL, in_thread, pointer, refused
from test_pool import SIZE, create, free_taken, give, properties, take

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

PLACE, HANDLE, NUMBER = ffi.new("void **"), ffi.new("aclrtMemPool *"), ffi.new("uint64_t *")


@pytest.fixture
def pool(stream):
    """Make a pool."""
    pool = create()
    yield pool
    free_taken()
    lib.aclrtMemPoolDestroy(pool)


def made(**changed):
    """Return the code of a creation with other properties."""
    given = properties()
    for name, value in changed.items():
        if name == "kind":
            given.location.type = value
        elif name == "device":
            given.location.id = value
        elif name == "reserved":
            given.reserved[31] = value
        else:
            setattr(given, name, value)
    return lib.aclrtMemPoolCreate(HANDLE, given)


def put(pool, attribute, number):
    kind = "uint32_t *" if attribute <= 3 else "uint64_t *"
    return lib.aclrtMemPoolSetAttr(pool, attribute, ffi.new(kind, number))


def put_from(pool, address):
    return lib.aclrtMemPoolSetAttr(pool, 4, pointer(address))


def get_to(pool, address):
    return lib.aclrtMemPoolGetAttr(pool, 4, pointer(address))


def call(pool, stream, size=1):
    return lib.aclrtMemPoolMallocAsync(PLACE, size, pool, pointer(stream))


ERRORS = [  # call with a pool and a stream; code; words, None where another thread has the message
    (lambda pool, stream: lib.aclrtMemPoolCreate(NULL, properties()), 100000, "memPool is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolCreate(HANDLE, NULL), 100000, "poolProps is NULL"),
    (lambda pool, stream: made(allocType=1), 100000, "poolProps->allocType is 1"),
    (lambda pool, stream: made(handleType=1), 100000, "poolProps->handleType is 1"),
    (lambda pool, stream: made(kind=0), 100000, "poolProps->location.type is 0"),
    (lambda pool, stream: made(reserved=1), 100000, "poolProps->reserved[31] is 1"),
    (lambda pool, stream: made(device=64), 107001, "deviceId is 64"),
    (lambda pool, stream: made(device=2**32 - 1), 107001, "deviceId is -1"),
    (lambda pool, stream: lib.aclrtMemPoolDestroy(NULL), 100000, "memPool is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolSetAttr(NULL, 4, NUMBER), 100000, "memPool is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolSetAttr(pool, 4, NULL), 100000, "value is NULL"),
    (lambda pool, stream: put_from(pool, take(pool, stream)), 100000, "not host memory"),
    (lambda pool, stream: get_to(pool, take(pool, stream)), 100000, "not host memory"),
    (lambda pool, stream: put(pool, 9, 0), 107000, "attr is 9"),
    (lambda pool, stream: put(pool, 0, 0), 107000, "attr is 0"),
    (lambda pool, stream: put(pool, 1, 2), 107000, "*value is 2 with attr 1"),
    (lambda pool, stream: put(pool, 5, 0), 107000, "can only be read"),
    (lambda pool, stream: put(pool, 7, 0), 107000, "can only be read"),
    (lambda pool, stream: put(pool, 6, 5), 107000, "*value is 5 with attr 6"),
    (lambda pool, stream: put(pool, 8, 5), 107000, "*value is 5 with attr 8"),
    (lambda pool, stream: lib.aclrtMemPoolGetAttr(NULL, 4, NUMBER), 100000, "memPool is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolGetAttr(pool, 4, NULL), 100000, "value is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolGetAttr(pool, 0, NUMBER), 107000, "attr is 0"),
    (lambda pool, stream: lib.aclrtMemPoolTrimTo(NULL, 0), 100000, "memPool is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolMallocAsync(NULL, 1, pool, pointer(stream)), 100000, "ptr is NULL"),
    (lambda pool, stream: call(NULL, stream), 100000, "memPool is NULL"),
    (lambda pool, stream: call(pool, 0), 100000, "stream is NULL"),
    (lambda pool, stream: call(pool, 4097), 107017, "stream is 0x1001"),
    (lambda pool, stream: call(pool, stream, 2**64 - 1), 207001, "size is 18446744073709551615"),
    (lambda pool, stream: call(pool, stream, 2**62), 207001, "nor its device has enough free memory"),
    (lambda pool, stream: in_thread(lambda: call(pool, stream)), 107002, None),
    (lambda pool, stream: lib.aclrtMemPoolFreeAsync(NULL, pointer(stream)), 100000, "ptr is NULL"),
    (lambda pool, stream: lib.aclrtMemPoolFreeAsync(NUMBER, pointer(stream)), 107000, "the address of a block"),
    (lambda pool, stream: lib.aclrtMemPoolFreeAsync(NUMBER, pointer(4097)), 107017, "stream is 0x1001"),
    (lambda pool, stream: in_thread(lambda: lib.aclrtMemPoolFreeAsync(NUMBER, NULL)), 107002, None),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(pool, stream, row):
    wrong, code, words = ERRORS[row]
    ret = wrong(pool, stream)
    if words is None:
        assert ret == code
    else:
        refused(ret, code, words)


def test_no_bytes_are_no_call(pool, stream):
    place = ffi.new("void **", pointer(77))
    assert lib.aclrtMemPoolMallocAsync(place, 0, pool, pointer(stream)) == 0
    assert place[0] == pointer(77)


@pytest.mark.finds("use-after-free")
def test_memory_is_freed_in_the_default_stream_too(pool, stream):
    address = take(pool, stream)
    assert acl.rt.synchronize_stream(stream) == 0
    assert give(address, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    refused(acl.rt.memset(address, SIZE, 0, 1), 107000, "not allocated (any more)")


@pytest.mark.parametrize("kind", ["destroyed", "stream", "garbage"])
@pytest.mark.parametrize(
    "use",
    [
        lambda pool, stream: lib.aclrtMemPoolDestroy(pool),
        lambda pool, stream: lib.aclrtMemPoolSetAttr(pool, 4, NUMBER),
        lambda pool, stream: lib.aclrtMemPoolGetAttr(pool, 4, NUMBER),
        lambda pool, stream: lib.aclrtMemPoolTrimTo(pool, 0),
        lambda pool, stream: call(pool, stream),
    ],
)
def test_dead_and_foreign_handles(stream, kind, use):
    destroyed = create()
    assert lib.aclrtMemPoolDestroy(destroyed) == 0
    handle = {"destroyed": destroyed, "stream": pointer(stream), "garbage": pointer(0xDEADBEEF12345678)}[kind]
    refused(use(handle, stream), 107017, "memPool is", "expected a live memory pool")


def test_streams_of_other_contexts_and_devices(configure):
    configure(devices=2)
    assert acl.rt.set_device(0) == 0
    pool = create()
    elsewhere, _ = acl.rt.create_stream()
    assert acl.rt.set_device(1) == 0
    refused(call(pool, elsewhere), 107003, "another context")
    here, _ = acl.rt.create_stream()
    refused(call(pool, here), 107000, "of device 0", "the stream's device, 1")


@pytest.mark.parametrize("soc", ["Ascend910_9392", "Ascend910_95", "Ascend310P3"])
def test_products_without_pools(configure, soc):
    configure(soc=soc)
    assert acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    refused(lib.aclrtMemPoolCreate(HANDLE, properties()), 207000, soc)
    refused(call(pointer(4097), stream), 207000, soc)
    refused(lib.aclrtMemPoolFreeAsync(NUMBER, NULL), 207000, soc)
