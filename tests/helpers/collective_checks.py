"""What each collective operator computes, against NumPy, for the ranks that are in this process.

Every process computes the inputs of all ranks, so that it knows what its own ranks have to receive.
"""

import ctypes
import os

import numpy

import acl
from helpers.collective import LIBRARY, OPS, TYPES, reduced, stored

NO_PRODUCT = "sum", "max", "min"
REDUCED = {"i1": OPS, "i4": OPS, "i8": OPS, "f2": OPS, "f4": OPS, "i2": NO_PRODUCT, "b2": NO_PRODUCT}
REDUCTIONS = [(kind, op) for kind, ops in REDUCED.items() for op in ops]
SIZES = 0, 1, 7, 4099
MEBI = 1 << 20
FULL = bool(os.environ.get("CI_FULL"))


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
    """Return a count as the library takes it."""
    return ctypes.c_uint64(count)


def put_all(ranks, parts):
    """Copy each rank's array to its device."""
    return {rank: ranks.put(rank, parts[rank]) for rank in ranks.here}


def put_zeros(ranks, like):
    """Make an array of zeros for each rank."""
    return put_all(ranks, [numpy.zeros_like(like)] * ranks.count)


def assert_bits(ranks, rank, address, expected):
    """Assert that the memory of a rank has these bits, once its stream has run."""
    assert numpy.array_equal(ranks.get(rank, address, expected).view("u1"), expected.view("u1"))


def all_reduce(ranks, kind, op, size, in_place=False, seed=0):
    """Check HcclAllReduce and return what it computes."""
    parts = inputs(ranks, kind, size, seed)
    sent = put_all(ranks, parts)
    results = sent if in_place else put_zeros(ranks, parts[0])
    for rank in ranks.here:
        ranks.call(rank, "AllReduce", sent[rank], results[rank], size_of(size), TYPES[kind], OPS[op])
    expected = reduced(parts, kind, op)
    for rank in ranks.here:
        assert_bits(ranks, rank, results[rank], expected)
    return expected


def reduce_and_reduce_scatter(ranks, kind, op, size):
    """Check both, with the last rank as the root."""
    parts = inputs(ranks, kind, size * ranks.count)
    expected = reduced(parts, kind, op)
    sent = put_all(ranks, parts)
    blocks = put_zeros(ranks, numpy.zeros(size, stored(kind)))
    last = ranks.count - 1
    whole = ranks.put(last, numpy.zeros_like(expected)) if last in ranks.here else None
    for rank in ranks.here:
        ranks.call(rank, "ReduceScatter", sent[rank], blocks[rank], size_of(size), TYPES[kind], OPS[op])
        result = whole if rank == last else None
        ranks.call(rank, "Reduce", sent[rank], result, size_of(expected.size), TYPES[kind], OPS[op], last)
    for rank in ranks.here:
        assert_bits(ranks, rank, blocks[rank], expected[rank * size : (rank + 1) * size])
    if whole is not None:
        assert_bits(ranks, last, whole, expected)


def moves(ranks, kind, size):
    """Check HcclBroadcast, HcclAllGather, HcclScatter and HcclAlltoAll."""
    parts = inputs(ranks, kind, size * ranks.count)
    sent = put_all(ranks, parts)
    names = "Broadcast", "AllGather", "Scatter", "AlltoAll"
    results = {name: put_zeros(ranks, parts[0]) for name in names}
    root, kinds = ranks.count // 2, TYPES[kind]
    for rank in ranks.here:
        shared = sent[rank] if rank == root else results["Broadcast"][rank]
        ranks.call(rank, "Broadcast", shared, size_of(size * ranks.count), kinds, root)
        ranks.call(rank, "AllGather", sent[rank], results["AllGather"][rank], size_of(size), kinds)
        source = sent[rank] if rank == root else None
        ranks.call(rank, "Scatter", source, results["Scatter"][rank], size_of(size), kinds, root)
        block, to = (size_of(size), kinds), results["AlltoAll"][rank]
        ranks.call(rank, "AlltoAll", sent[rank], *block, to, *block)
    table = numpy.array(parts).reshape(ranks.count, ranks.count, size)
    zeros = numpy.zeros_like(parts[0])
    for rank in ranks.here:
        found = {name: ranks.get(rank, results[name][rank], zeros) for name in names}
        assert numpy.array_equal(found["Broadcast"], zeros if rank == root else parts[root], equal_nan=kind != "b2")
        assert numpy.array_equal(found["AllGather"], table[:, 0].reshape(-1))
        assert numpy.array_equal(found["Scatter"][:size], table[root, rank])
        assert not found["Scatter"][size:].any()
        assert numpy.array_equal(found["AlltoAll"], table[:, rank].reshape(-1))


# ---- tables: rank r sends (r + other + 1) * unit elements to another ----


def table(*numbers):
    """Return counts or displacements as the library takes them."""
    return (ctypes.c_uint64 * len(numbers))(*numbers)


def starts(counts):
    """Return where blocks begin that lie one behind the other."""
    return [sum(counts[:place]) for place in range(len(counts))]


def tables(ranks, unit):
    """Check the operators with tables, and HcclAlltoAllVC."""
    lengths = [[(sender + receiver + 1) * unit for receiver in range(ranks.count)] for sender in range(ranks.count)]
    room = max(map(sum, lengths))
    parts = inputs(ranks, "f4", room)
    sent = put_all(ranks, parts)
    names = "AlltoAllV", "AlltoAllVC", "AllGatherV", "ReduceScatterV"
    results = {name: put_zeros(ranks, parts[0]) for name in names}
    gathered = [lengths[rank][0] for rank in range(ranks.count)]
    for rank in ranks.here:
        out, into = lengths[rank], [row[rank] for row in lengths]
        sides = [(table(*counts), table(*starts(counts)), 4) for counts in (out, into)]
        ranks.call(rank, "AlltoAllV", sent[rank], *sides[0], results["AlltoAllV"][rank], *sides[1])
        matrix = table(*sum(lengths, []))
        ranks.call(rank, "AlltoAllVC", sent[rank], matrix, 4, results["AlltoAllVC"][rank], 4)
        blocks = table(*gathered), table(*starts(gathered))
        result = results["AllGatherV"][rank]
        ranks.call(rank, "AllGatherV", sent[rank], size_of(gathered[rank]), result, *blocks, 4)
        result = results["ReduceScatterV"][rank]
        ranks.call(rank, "ReduceScatterV", sent[rank], *blocks, result, size_of(gathered[rank]), 4, OPS["max"])
    for rank in ranks.here:
        found = {name: ranks.get(rank, results[name][rank], parts[0]) for name in names}
        pieces = [parts[other][sum(row[:rank]) : sum(row[: rank + 1])] for other, row in enumerate(lengths)]
        whole = numpy.concatenate(pieces)
        assert numpy.array_equal(found["AlltoAllV"][: whole.size], whole)
        assert numpy.array_equal(found["AlltoAllVC"], found["AlltoAllV"])
        whole = numpy.concatenate([part[:length] for part, length in zip(parts, gathered)])
        assert numpy.array_equal(found["AllGatherV"][: whole.size], whole)
        start = starts(gathered)[rank]
        whole = numpy.max(parts, axis=0)[start : start + gathered[rank]]
        assert numpy.array_equal(found["ReduceScatterV"][: whole.size], whole)


# ---- messages ----


class Item(ctypes.Structure):
    """HcclSendRecvItem."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
        ("type", ctypes.c_int),
        ("peer", ctypes.c_uint32),
    )


def ring(ranks, size):
    """Each rank sends to the next one: in pairs of calls, in a group, and in a batch."""
    parts = inputs(ranks, "f4", size)
    sent = put_all(ranks, parts)
    results = {name: put_zeros(ranks, parts[0]) for name in ("pairs", "group", "batch")}
    count = size_of(size)
    if ranks.count % 2 == 0:  # even ranks send first
        for rank in ranks.here:
            for step in range(2):
                sends = (rank + step) % 2 == 0
                peer = (rank + (1 if sends else -1)) % ranks.count
                buffer = sent[rank] if sends else results["pairs"][rank]
                ranks.call(rank, "Send" if sends else "Recv", buffer, count, 4, peer)
    LIBRARY.HcclGroupStart()
    for rank in ranks.here:
        ranks.call(rank, "Send", sent[rank], count, 4, (rank + 1) % ranks.count)
        ranks.call(rank, "Recv", results["group"][rank], count, 4, (rank - 1) % ranks.count)
    assert LIBRARY.HcclGroupEnd() == 0
    for rank in ranks.here:
        items = (Item * 2)(
            (0, sent[rank], size, 4, (rank + 1) % ranks.count),
            (1, results["batch"][rank], size, 4, (rank - 1) % ranks.count),
        )
        ranks.call(rank, "BatchSendRecv", items, 2)
    for rank in ranks.here:
        for name, addresses in results.items():
            if name != "pairs" or ranks.count % 2 == 0:
                assert_bits(ranks, rank, addresses[rank], parts[(rank - 1) % ranks.count])


# ---- memory that is not in blocks ----


def in_mapped_memory(ranks, size):
    """Compute a sum, gather and pass a message in memory that is mapped to reserved addresses."""
    from helpers import vmm  # it imports pytest, which the processes of other checks do without

    parts = inputs(ranks, "f4", size)
    with vmm.memory() as memory:
        places = {}
        for number, rank in enumerate(ranks.here):
            ranks.use(rank)
            places[rank] = [memory.mapped(number=number)[1] for _ in range(3)]
            assert vmm.put(places[rank][0], parts[rank].tobytes()) == 0
        for rank, (sent, total, gathered) in places.items():
            ranks.call(rank, "AllReduce", sent, total, size_of(size), TYPES["f4"], OPS["sum"])
            ranks.call(rank, "AllGather", sent, gathered, size_of(size), TYPES["f4"])
            LIBRARY.HcclGroupStart()
            ranks.call(rank, "Send", gathered, size_of(size), 4, (rank + 1) % ranks.count)
            ranks.call(rank, "Recv", sent, size_of(size), 4, (rank - 1) % ranks.count)
            assert LIBRARY.HcclGroupEnd() == 0
        for rank, (sent, total, gathered) in places.items():
            assert_bits(ranks, rank, sent, parts[0])
            assert_bits(ranks, rank, total, reduced(parts, "f4", "sum"))
            assert_bits(ranks, rank, gathered, numpy.concatenate(parts))


# ---- captures ----


def replays(ranks, size, count):
    """Capture a sum, a barrier and a ring of messages, and replay them while each result is the next input."""
    parts = inputs(ranks, "i4", size)
    sent, results = put_all(ranks, parts), put_zeros(ranks, parts[0])
    instances = {}
    for rank in ranks.here:
        ranks.use(rank)
        assert acl.mdl.ri_capture_begin(ranks.streams[rank], 1) == 0
        ranks.call(rank, "AllReduce", sent[rank], results[rank], size_of(size), TYPES["i4"], OPS["sum"])
        ranks.call(rank, "Barrier")
        LIBRARY.HcclGroupStart()
        ranks.call(rank, "Send", results[rank], size_of(size), TYPES["i4"], (rank + 1) % ranks.count)
        ranks.call(rank, "Recv", sent[rank], size_of(size), TYPES["i4"], (rank - 1) % ranks.count)
        assert LIBRARY.HcclGroupEnd() == 0
        instances[rank], ret = acl.mdl.ri_capture_end(ranks.streams[rank])
        assert ret == 0, acl.get_recent_err_msg()
    for _ in range(count):
        for rank in ranks.here:
            ranks.use(rank)
            assert acl.mdl.ri_execute_async(instances[rank], ranks.streams[rank]) == 0
    total = numpy.sum(parts, axis=0, dtype="i4")
    with numpy.errstate(over="ignore"):
        for _ in range(count - 1):
            total = total * numpy.int32(ranks.count)
    for rank in ranks.here:
        assert_bits(ranks, rank, sent[rank], total)
        ranks.use(rank)
        assert acl.mdl.ri_destroy(instances[rank]) == 0


# ---- all of it ----


def everything(ranks, full=FULL):
    """Check every operator, type and reduction; without ``full``, a selection of them."""
    sizes = SIZES if full else (7, 4099)
    reductions = REDUCTIONS if full else [("f4", "sum"), ("b2", "max"), ("i8", "prod")]
    for kind, op in reductions:
        for size in sizes:
            all_reduce(ranks, kind, op, size, in_place=True)
            all_reduce(ranks, kind, op, size)
            reduce_and_reduce_scatter(ranks, kind, op, size)
            ranks.free()
    for kind in TYPES if full else ("u1", "f8"):
        for size in sizes:
            moves(ranks, kind, size)
            ranks.free()
    for unit in (1, 800):
        tables(ranks, unit)
        ring(ranks, unit)
        replays(ranks, unit, 5)
        ranks.free()


def repeat(ranks, size, count):
    """Check that a sum has the same bits in every run, and return them."""
    first = all_reduce(ranks, "f2", "sum", size, seed=1)
    for _ in range(count):
        assert numpy.array_equal(all_reduce(ranks, "f2", "sum", size, seed=1), first)
        ranks.free()
    return first
