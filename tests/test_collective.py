"""Collective communication in one process: every operator, type and reduction against NumPy."""

import ctypes

import numpy
import pytest
from helpers.collective import OPS, TYPES, Ranks, reduced, stored

import acl

pytestmark = pytest.mark.needs_sim

NO_PRODUCT = "sum", "max", "min"
REDUCED = {"i1": OPS, "i4": OPS, "i8": OPS, "f2": OPS, "f4": OPS, "i2": NO_PRODUCT, "b2": NO_PRODUCT}
SIZES = 0, 1, 7, 4099
MEBI = 1 << 20


@pytest.fixture(scope="module", params=[1, 2, 3, 8])
def ranks(request):
    acl.sim.reset()
    acl.sim.configure(devices=8)
    yield Ranks(request.param)
    acl.sim.reset()


@pytest.fixture(autouse=True)
def freed(ranks):
    yield
    ranks.free()


def inputs(ranks, kind, size, seed=0):
    """Return an array per rank."""
    generator = numpy.random.default_rng([seed, ranks.count, size])
    shape = ranks.count, size
    values = generator.integers(-9, 10, shape) if kind[0] == "i" else generator.normal(0, 2, shape)
    if kind == "b2":
        return list((values.astype("f4").view("u4") >> 16).astype("u2"))
    with numpy.errstate(over="ignore"):
        return list(abs(values).astype(kind) if kind[0] == "u" else values.astype(kind))


def size_of(count):
    return ctypes.c_uint64(count)


def all_reduce(ranks, kind, op, size, in_place=False, seed=0):
    parts = inputs(ranks, kind, size, seed)
    sent = [ranks.put(rank, part) for rank, part in enumerate(parts)]
    results = sent if in_place else [ranks.put(rank, numpy.zeros_like(part)) for rank, part in enumerate(parts)]
    for rank in range(ranks.count):
        ranks.call(rank, "AllReduce", sent[rank], results[rank], size_of(size), TYPES[kind], OPS[op])
    expected = reduced(parts, kind, op)
    for rank in range(ranks.count):
        assert numpy.array_equal(ranks.get(rank, results[rank], expected).view("u1"), expected.view("u1"))
    return expected


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("kind, op", [(kind, op) for kind, ops in REDUCED.items() for op in ops])
def test_all_reduce(ranks, kind, op, in_place):
    for size in SIZES:
        all_reduce(ranks, kind, op, size, in_place)


def test_a_mebi_of_elements(ranks):
    all_reduce(ranks, "f4", "sum", MEBI)


@pytest.mark.parametrize("kind, op", [(kind, op) for kind, ops in REDUCED.items() for op in ops])
def test_reduce_and_reduce_scatter(ranks, kind, op):
    for size in SIZES:
        parts = inputs(ranks, kind, size * ranks.count)
        expected = reduced(parts, kind, op)
        sent = [ranks.put(rank, part) for rank, part in enumerate(parts)]
        blocks = [ranks.put(rank, numpy.zeros(size, stored(kind))) for rank in range(ranks.count)]
        last = ranks.count - 1
        whole = ranks.put(last, numpy.zeros_like(expected))
        for rank in range(ranks.count):
            ranks.call(rank, "ReduceScatter", sent[rank], blocks[rank], size_of(size), TYPES[kind], OPS[op])
            result = whole if rank == last else None
            ranks.call(rank, "Reduce", sent[rank], result, size_of(expected.size), TYPES[kind], OPS[op], last)
        for rank in range(ranks.count):
            mine = expected[rank * size : (rank + 1) * size]
            assert numpy.array_equal(ranks.get(rank, blocks[rank], mine).view("u1"), mine.view("u1"))
        found = ranks.get(last, whole, expected)
        assert numpy.array_equal(found.view("u1"), expected.view("u1"))


@pytest.mark.parametrize("kind", TYPES)
def test_moves(ranks, kind):
    for size in SIZES:
        parts = inputs(ranks, kind, size * ranks.count)
        sent = [ranks.put(rank, part) for rank, part in enumerate(parts)]
        names = "Broadcast", "AllGather", "Scatter", "AlltoAll"
        results = {name: [ranks.put(rank, numpy.zeros_like(part)) for rank, part in enumerate(parts)] for name in names}
        root, kinds = ranks.count // 2, TYPES[kind]
        for rank in range(ranks.count):
            shared = sent[rank] if rank == root else results["Broadcast"][rank]
            ranks.call(rank, "Broadcast", shared, size_of(size * ranks.count), kinds, root)
            ranks.call(rank, "AllGather", sent[rank], results["AllGather"][rank], size_of(size), kinds)
            source = sent[rank] if rank == root else None
            ranks.call(rank, "Scatter", source, results["Scatter"][rank], size_of(size), kinds, root)
            block, to = (size_of(size), kinds), results["AlltoAll"][rank]
            ranks.call(rank, "AlltoAll", sent[rank], *block, to, *block)
        table = numpy.array(parts).reshape(ranks.count, ranks.count, size)
        zeros = numpy.zeros_like(parts[0])
        for rank in range(ranks.count):
            found = {name: ranks.get(rank, results[name][rank], zeros) for name in names}
            assert numpy.array_equal(found["Broadcast"], zeros if rank == root else parts[root], equal_nan=kind != "b2")
            assert numpy.array_equal(found["AllGather"], table[:, 0].reshape(-1))
            assert numpy.array_equal(found["Scatter"][:size], table[root, rank])
            assert not found["Scatter"][size:].any()
            assert numpy.array_equal(found["AlltoAll"], table[:, rank].reshape(-1))


def test_results_are_the_same_in_every_run(ranks):
    """Whoever computes a share, the order of the sum is that of the ranks."""
    first = all_reduce(ranks, "f2", "sum", 4099, seed=1)
    for _ in range(100):
        assert numpy.array_equal(all_reduce(ranks, "f2", "sum", 4099, seed=1), first)
        ranks.free()


def test_not_a_number_is_the_greatest_and_the_least(ranks):
    if ranks.count == 1:
        return
    for kind in ("f2", "f4"):
        parts = inputs(ranks, kind, 16)
        parts[-1][3] = parts[0][5] = numpy.nan
        for op in ("max", "min"):
            sent = [ranks.put(rank, part) for rank, part in enumerate(parts)]
            for rank in range(ranks.count):
                ranks.call(rank, "AllReduce", sent[rank], sent[rank], size_of(16), TYPES[kind], OPS[op])
            for rank in range(ranks.count):
                found = ranks.get(rank, sent[rank], parts[0])
                assert numpy.array_equal(numpy.isnan(found), [place in (3, 5) for place in range(16)])
