"""Memory pools as objects: stream-ordered allocation, waits between streams, statistics, closing."""

import gc

import pytest
from helpers.objects import free_memory, fresh_stream, held, misuse, raises

import acl
from acl.objects.resource import retired

pytestmark = [pytest.mark.usefixtures("opened"), pytest.mark.strict]
stream = fresh_stream
SIZE = 4 << 20


@pytest.fixture
def pool(stream):
    with acl.MemoryPool(keep=1 << 40) as pool:
        yield pool


def test_memory_is_used_and_given_back_in_the_order_of_a_stream(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    with held(stream):
        buffer.fill(5, stream=stream)
        with acl.Buffer(SIZE) as kept:
            kept.copy_from(buffer, stream=stream)
            address = buffer.handle
            buffer.close()
            again = pool.allocate(SIZE, stream=stream)
            assert again.handle == address and not stream.query()  # before the work has run
            again.fill(6, stream=stream)
            stream_done = stream.record()
            again.close()
            assert not stream_done.query()
            stream_done.close()
            kept.used_on(stream)
    stream.synchronize()
    assert not retired


def test_a_synchronous_read_comes_after_the_allocation(pool, stream):
    with pool.allocate(8, stream=stream) as buffer:
        buffer.fill(7, stream=stream)
        assert bytes(buffer) == b"\7" * 8 and len(buffer) == 8 and buffer.kind == "device"


def test_an_array_over_pool_memory_gives_it_back(pool, stream):
    array = acl.DeviceArray.from_buffer(pool.allocate(SIZE, stream=stream), SIZE, "u1")
    array.fill(1, stream=stream)
    assert pool.statistics().used == SIZE
    del array
    stream.synchronize()
    assert pool.statistics().used == 0 and not retired


@pytest.mark.parametrize("end", ["close", "drop", "free"])
def test_the_release_waits_for_the_other_streams(end, pool, stream):
    with acl.Stream() as other, held(other) as latch:
        array = acl.DeviceArray.from_buffer(pool.allocate(SIZE, stream=stream), SIZE, "u1")
        other.wait(stream)
        array.fill(1, stream=other)
        if end == "free":
            array.close()
            array = pool.allocate(SIZE, stream=stream)
            other.wait(stream)
            array.fill(1, stream=other)
            pool.free(array)
        elif end == "close":
            array.close()
        else:
            del array
            gc.collect()
        assert not stream.query() and pool.statistics().used == SIZE and not retired
        latch.release()
        stream.synchronize()
        assert pool.statistics().used == 0


def test_free_takes_another_stream(pool, stream):
    with acl.Stream() as other, held(other) as latch:
        buffer = pool.allocate(SIZE, stream=stream)
        pool.free(buffer, stream=other)
        assert buffer.closed
        stream.synchronize()
        assert pool.statistics().used == SIZE
        latch.release()
        other.synchronize()
        assert pool.statistics().used == 0


def test_memory_outlives_its_stream(pool):
    with acl.Stream() as stream:
        buffer = pool.allocate(SIZE, stream=stream)
    assert pool.statistics().used == SIZE
    buffer.close()
    assert pool.statistics().used == 0


def test_memory_given_back_during_a_capture_waits_for_its_end(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    assert acl.mdl.ri_capture_begin(stream.handle, 2) == 0
    buffer.close()
    assert len(retired) == 1
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0 and acl.mdl.ri_destroy(instance) == 0
    stream.synchronize()
    assert not retired and pool.statistics().used == 0


def test_statistics_and_trimming(stream):
    before = free_memory()
    with acl.MemoryPool(acl.Device(0), keep=SIZE) as pool:
        assert pool.statistics() == (0, 0, 0, 0) and pool.keep == SIZE and pool.device is acl.Device(0)
        buffers = [pool.allocate(SIZE, stream=stream) for _ in range(3)]
        for buffer in buffers:
            buffer.close()
        assert pool.statistics().used_high == pool.statistics().reserved_high == 3 * SIZE
        stream.synchronize()
        assert pool.statistics()[:3] == (SIZE, 3 * SIZE, 0)
        pool.reset_statistics()
        assert pool.statistics() == (SIZE, SIZE, 0, 0)
        pool.trim(SIZE)
        assert pool.statistics().reserved == SIZE
        pool.trim()
        assert pool.statistics().reserved == 0
        pool.keep = 0
        assert pool.keep == 0
    assert free_memory() == before


def test_a_limit_is_an_error_that_says_what_to_do(stream):
    with acl.MemoryPool(limit=SIZE) as pool, pool.allocate(SIZE, stream=stream):
        with raises(acl.OutOfMemoryError, f"{SIZE} bytes were requested", "raise the limit"):
            pool.allocate(SIZE, stream=stream)


def test_a_pool_that_is_closed_lives_on_in_what_is_used(stream):
    before = free_memory()
    with acl.MemoryPool() as pool:
        buffer = pool.allocate(SIZE, stream=stream)
    assert pool.closed and "closed" in repr(pool)
    buffer.fill(1)
    buffer.close()
    stream.synchronize()
    assert free_memory() == before


def test_reuse_can_be_switched_off(stream):
    never = {"follow_events": False, "opportunistic": False, "wait": False}
    with acl.MemoryPool(keep=1 << 40, **never) as pool, acl.Stream() as other:
        pool.allocate(SIZE, stream=stream).close()
        stream.synchronize()
        with pool.allocate(SIZE, stream=other):
            assert pool.statistics().reserved == 2 * SIZE


def test_a_borrowed_pool_is_not_destroyed(pool, stream):
    with acl.MemoryPool.from_handle(pool.handle) as borrowed:
        assert not borrowed.owned and "borrowed" in repr(borrowed)
        borrowed.allocate(8, stream=stream).close()
    assert pool.statistics().reserved > 0


MISUSE = (
    ("limit", lambda p, s: acl.MemoryPool(limit=-1), acl.InvalidArgumentError, ("limit is -1", "0 or more")),
    ("keep", lambda p, s: acl.MemoryPool(keep=-1), acl.InvalidArgumentError, ("keep is -1",)),
    ("device", lambda p, s: acl.MemoryPool(4096), acl.InvalidArgumentError, ("107001", "acl.Device.count()")),
    ("nothing", lambda p, s: p.allocate(0, stream=s), acl.InvalidArgumentError, ("size is 0", "1 or more")),
    ("text", lambda p, s: p.allocate("8", stream=s), TypeError, ("size is '8'", "expected an int")),
    ("too much", lambda p, s: p.allocate(1 << 60, stream=s), acl.OutOfMemoryError, ("raise the limit",)),
    ("no stream", lambda p, s: p.allocate(8), TypeError, ("stream",)),
    ("a number", lambda p, s: p.allocate(8, stream=1), TypeError, ("1 is not an acl.Stream", "from_handle()")),
    ("trim", lambda p, s: p.trim(-1), acl.InvalidArgumentError, ("keep is -1",)),
    ("set keep", lambda p, s: setattr(p, "keep", -1), acl.InvalidArgumentError, ("keep is -1",)),
    ("free a number", lambda p, s: p.free(5), TypeError, ("5 is not an acl.Buffer",)),
    ("free another's", lambda p, s: p.free(acl.Buffer.from_handle(4096, 8)), acl.InvalidArgumentError,
     ("was not allocated from a pool", "buffer.close()")),
    ("free twice", lambda p, s: [p.free(b) for b in [p.allocate(8, stream=s)] * 2], acl.InvalidHandleError,
     ("acl.Buffer is closed",)),
)  # fmt: skip
CLOSED = (
    ("allocate", lambda p, s: p.allocate(8, stream=s)), ("statistics", lambda p, s: p.statistics()),
    ("trim", lambda p, s: p.trim()), ("keep", lambda p, s: p.keep), ("handle", lambda p, s: p.handle),
)  # fmt: skip


@misuse(MISUSE)
def test_misuse(act, kind, words, pool, stream):
    with raises(kind, *words):
        act(pool, stream)


@misuse([(*row, acl.InvalidHandleError, ("acl.MemoryPool is closed", "make a new one")) for row in CLOSED])
def test_a_closed_pool_is_refused(act, kind, words, stream):
    pool = acl.MemoryPool()
    pool.close()
    pool.close()
    with raises(kind, *words):
        act(pool, stream)


@pytest.mark.needs_sim
def test_chips_without_pools_say_so(configure):
    configure(soc="Ascend310P3")
    with acl.Device(0), raises(acl.NotSupportedError, "aclrtMemPoolCreate"):
        acl.MemoryPool()
