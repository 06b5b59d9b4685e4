"""Shared buffers, in both families: bytes, private areas, references, chains, and the way through queues."""

import pytest
from helpers.expect import NULL, pointer, refused
from helpers.queues import create, put, take, waiter

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

INVALID = 100000
PLACE, SIZE, WORD = ffi.new("void **"), ffi.new("size_t *"), ffi.new("uint32_t *")
FUNCTIONS = {
    "AllocBuf": {"acltdt": lib.acltdtAllocBuf, "aclrt": lib.aclrtAllocBuf},
    "FreeBuf": {"acltdt": lib.acltdtFreeBuf, "aclrt": lib.aclrtFreeBuf},
    "GetBufData": {"acltdt": lib.acltdtGetBufData, "aclrt": lib.aclrtGetBufData},
    "SetBufDataLen": {"acltdt": lib.acltdtSetBufDataLen, "aclrt": lib.aclrtSetBufDataLen},
    "GetBufDataLen": {"acltdt": lib.acltdtGetBufDataLen, "aclrt": lib.aclrtGetBufDataLen},
    "GetBufUserData": {"acltdt": lib.acltdtGetBufUserData, "aclrt": lib.aclrtGetBufUserData},
    "SetBufUserData": {"acltdt": lib.acltdtSetBufUserData, "aclrt": lib.aclrtSetBufUserData},
    "CopyBufRef": {"acltdt": lib.acltdtCopyBufRef, "aclrt": lib.aclrtCopyBufRef},
    "AppendBufChain": {"acltdt": lib.acltdtAppendBufChain, "aclrt": lib.aclrtAppendBufChain},
    "GetBufChainNum": {"acltdt": lib.acltdtGetBufChainNum, "aclrt": lib.aclrtGetBufChainNum},
    "GetBufFromChain": {"acltdt": lib.acltdtGetBufFromChain, "aclrt": lib.aclrtGetBufFromChain},
}


class Family:
    """The calls of one family, by what they are named after the prefix."""

    def __init__(self, prefix):
        self.prefix = prefix

    def __getattr__(self, name):
        return FUNCTIONS[name][self.prefix]

    def allocate(self, size):
        """Return the code; the buffer is in PLACE."""
        return self.AllocBuf(PLACE, size) if self.prefix == "aclrt" else self.AllocBuf(size, 0, PLACE)

    def new(self, size=16):
        """Return a new buffer."""
        assert self.allocate(size) == 0
        return PLACE[0]


FAMILIES = {"acltdt": Family("acltdt"), "aclrt": Family("aclrt")}


@pytest.fixture(scope="module", autouse=True)
def chip():
    """Run on a chip that is its own host."""
    acl.sim.reset()
    acl.sim.configure(soc="Ascend310B1")
    assert acl.rt.set_device(0) == 0
    yield
    acl.sim.reset()


@pytest.fixture(params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture
def queue():
    """Make a queue that holds two elements."""
    queue = create(2)
    yield queue
    lib.acltdtDestroyQueue(queue)


def memory(family, buffer):
    """Return the bytes of a buffer, to be read and written."""
    assert family.GetBufData(buffer, PLACE, SIZE) == 0
    return ffi.buffer(PLACE[0], SIZE[0])


def length(family, buffer):
    """Return how many bytes of a buffer are valid."""
    assert family.GetBufDataLen(buffer, SIZE) == 0
    return SIZE[0]


def private(family, buffer, size=96, offset=0):
    """Return bytes of a buffer's private area."""
    data = ffi.new("char[]", size)
    assert family.GetBufUserData(buffer, data, size, offset) == 0
    return ffi.buffer(data)[:]


def count(family, buffer):
    """Return the number of buffers in a chain."""
    assert family.GetBufChainNum(buffer, WORD) == 0
    return WORD[0]


def member(family, buffer, index):
    """Return the buffer at an index of a chain."""
    assert family.GetBufFromChain(buffer, index, PLACE) == 0
    return PLACE[0]


def test_bytes_and_lengths(family):
    buffer = family.new(1000)
    data = memory(family, buffer)
    assert len(data) == 1000 and length(family, buffer) == 0
    data[:] = bytes(range(250)) * 4
    assert family.SetBufDataLen(buffer, 1000) == 0
    assert length(family, buffer) == 1000
    assert family.SetBufDataLen(buffer, 3) == 0
    assert length(family, buffer) == 3
    assert memory(family, buffer)[:] == bytes(range(250)) * 4
    assert family.FreeBuf(buffer) == 0


def test_private_areas(family):
    buffer = family.new()
    assert private(family, buffer) == bytes(96)
    assert family.SetBufUserData(buffer, b"abc", 3, 93) == 0
    assert family.SetBufUserData(buffer, b"xy", 2, 0) == 0
    assert private(family, buffer) == b"xy" + bytes(91) + b"abc"
    assert private(family, buffer, 2, 94) == b"bc"
    assert family.FreeBuf(buffer) == 0


def test_references_share_the_bytes_alone(family):
    buffer = family.new()
    assert family.SetBufDataLen(buffer, 5) == 0
    assert family.SetBufUserData(buffer, b"abc", 3, 0) == 0
    assert family.CopyBufRef(buffer, PLACE) == 0
    other = PLACE[0]
    assert other != buffer
    assert (length(family, other), private(family, other, 3)) == (5, b"abc")
    memory(family, buffer)[:5] = b"hello"
    assert family.SetBufDataLen(buffer, 2) == 0
    assert family.FreeBuf(buffer) == 0
    assert memory(family, other)[:5] == b"hello"
    assert length(family, other) == 5
    assert family.FreeBuf(other) == 0


def test_chains(family):
    head, second, third = family.new(), family.new(), family.new()
    assert count(family, head) == 1
    assert [family.AppendBufChain(head, each) for each in (second, third)] == [0, 0]
    assert count(family, head) == 3
    assert [member(family, head, index) for index in range(3)] == [head, second, third]
    live = acl.sim.live("shared buffer")
    assert family.FreeBuf(head) == 0
    assert acl.sim.live("shared buffer") == live - 3
    refused(family.GetBufDataLen(third, SIZE), INVALID, "a destroyed shared buffer")


def test_chains_have_128_buffers(family):
    head = family.new()
    for _ in range(127):
        assert family.AppendBufChain(head, family.new()) == 0
    last = family.new()
    refused(family.AppendBufChain(head, last), INVALID, f"{family.prefix}AppendBufChain", "128 buffers")
    assert count(family, head) == 128
    assert [family.FreeBuf(each) for each in (head, last)] == [0, 0]


def test_what_chains_refuse(family):
    head, second, other = family.new(), family.new(), family.new()
    assert family.AppendBufChain(head, second) == 0
    refused(family.AppendBufChain(head, head), INVALID, "which is headBuf, too")
    refused(family.AppendBufChain(other, head), INVALID, "the first buffer of a chain")
    refused(family.AppendBufChain(other, second), INVALID, "buf is", "appended to a chain")
    refused(family.AppendBufChain(second, other), INVALID, "headBuf is", "appended to a chain")
    refused(family.FreeBuf(second), INVALID, "appended to a chain")
    refused(family.GetBufChainNum(second, WORD), INVALID, "headBuf is", "appended to a chain")
    refused(family.GetBufFromChain(head, 2, PLACE), INVALID, "index is 2, expected less than 2")
    assert [family.FreeBuf(each) for each in (head, other)] == [0, 0]


def test_a_buffer_goes_through_a_queue(queue):
    family = FAMILIES["acltdt"]
    buffer = family.new()
    memory(family, buffer)[:4] = b"data"
    assert family.SetBufDataLen(buffer, 4) == 0
    assert family.SetBufUserData(buffer, b"me", 2, 0) == 0
    assert lib.acltdtEnqueue(queue, buffer, 0) == 0
    refused(family.FreeBuf(buffer), INVALID, "a destroyed shared buffer")
    assert lib.acltdtDequeue(queue, PLACE, 0) == 0
    taken = PLACE[0]
    assert (length(family, taken), private(family, taken, 2)) == (4, b"me")
    assert memory(family, taken)[:4] == b"data"
    assert family.FreeBuf(taken) == 0


def test_chains_go_through_queues_whole(queue):
    family = FAMILIES["acltdt"]
    parts = [family.new() for _ in range(3)]
    for part, text in zip(parts, (b"one", b"two", b"three")):
        memory(family, part)[: len(text)] = text
        assert family.SetBufDataLen(part, len(text)) == 0
    assert [family.AppendBufChain(parts[0], part) for part in parts[1:]] == [0, 0]
    assert lib.acltdtEnqueue(queue, parts[0], 0) == 0
    assert acl.sim.live("shared buffer") == 0
    assert lib.acltdtDequeue(queue, PLACE, 0) == 0
    head = PLACE[0]
    assert count(family, head) == 3
    members = [member(family, head, index) for index in range(3)]
    assert members == [member(family, head, index) for index in range(3)]
    assert [bytes(memory(family, part)[: length(family, part)]) for part in members] == [b"one", b"two", b"three"]
    assert lib.acltdtEnqueue(queue, head, 0) == 0
    assert take(queue) == b"onetwothree"


def test_bytes_become_buffers(queue):
    family = FAMILIES["acltdt"]
    assert put(queue, b"bytes", user=b"u") == 0
    assert lib.acltdtDequeue(queue, PLACE, 0) == 0
    buffer = PLACE[0]
    assert memory(family, buffer)[:] == b"bytes"
    assert (length(family, buffer), private(family, buffer, 2)) == (5, b"u\0")
    assert family.FreeBuf(buffer) == 0


def test_a_buffer_that_is_not_taken_stays(queue):
    family = FAMILIES["acltdt"]
    head, second = family.new(), family.new()
    assert family.AppendBufChain(head, second) == 0
    assert [put(queue, b"1"), put(queue, b"2")] == [0, 0]
    refused(lib.acltdtEnqueue(queue, head, 1), 207014, "acltdtEnqueue", f"qid is {queue}", "is full")
    assert member(family, head, 1) == second
    memory(family, second)[:1] = b"!"
    assert family.FreeBuf(head) == 0


def test_taking_a_buffer_waits(queue):
    taken = waiter(lambda: lib.acltdtDequeue(queue, PLACE, -1))
    assert put(queue, b"x") == 0
    assert taken.result() == 0
    assert FAMILIES["acltdt"].FreeBuf(PLACE[0]) == 0
    refused(lib.acltdtDequeue(queue, PLACE, 1), 207013, "acltdtDequeue", "is empty")


def test_routed_buffers_share_their_bytes():
    family = FAMILIES["acltdt"]
    queues = [create() for _ in range(3)]
    routes = lib.acltdtCreateQueueRouteList()
    for target in queues[1:]:
        route = lib.acltdtCreateQueueRoute(queues[0], target)
        assert lib.acltdtAddQueueRoute(routes, route) == 0
        assert lib.acltdtDestroyQueueRoute(route) == 0
    assert lib.acltdtBindQueueRoutes(routes) == 0
    assert lib.acltdtDestroyQueueRouteList(routes) == 0
    assert put(queues[0], b"old") == 0
    buffers = []
    for target in queues[1:]:
        assert lib.acltdtDequeue(target, PLACE, 0) == 0
        buffers.append(PLACE[0])
    memory(family, buffers[0])[:3] = b"new"
    assert memory(family, buffers[1])[:] == b"new"
    assert [family.FreeBuf(buffer) for buffer in buffers] == [0, 0]
    assert [lib.acltdtDestroyQueue(queue) for queue in queues] == [0, 0, 0]


CALLS = {
    "FreeBuf": lambda family, buffer: family.FreeBuf(buffer),
    "GetBufData": lambda family, buffer: family.GetBufData(buffer, PLACE, SIZE),
    "SetBufDataLen": lambda family, buffer: family.SetBufDataLen(buffer, 1),
    "GetBufDataLen": lambda family, buffer: family.GetBufDataLen(buffer, SIZE),
    "GetBufUserData": lambda family, buffer: family.GetBufUserData(buffer, ffi.new("char[1]"), 1, 0),
    "SetBufUserData": lambda family, buffer: family.SetBufUserData(buffer, b"x", 1, 0),
    "CopyBufRef": lambda family, buffer: family.CopyBufRef(buffer, PLACE),
    "AppendBufChain": lambda family, buffer: family.AppendBufChain(buffer, buffer or pointer(1)),
    "GetBufChainNum": lambda family, buffer: family.GetBufChainNum(buffer, WORD),
    "GetBufFromChain": lambda family, buffer: family.GetBufFromChain(buffer, 0, PLACE),
}


@pytest.mark.parametrize("name", CALLS)
def test_null_and_dead_buffers(family, name):
    refused(CALLS[name](family, NULL), INVALID, family.prefix + name, "uf is NULL")
    buffer = family.new()
    assert family.FreeBuf(buffer) == 0
    refused(CALLS[name](family, buffer), INVALID, "uf is a destroyed shared buffer", "expected a live shared buffer")
    refused(CALLS[name](family, pointer(0x123456789)), INVALID, "expected a live shared buffer")


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("GetBufData", (NULL, SIZE), "dataPtr is NULL"),
        ("GetBufData", (PLACE, NULL), "size is NULL"),
        ("SetBufDataLen", (17,), "len is 17, expected at most 16"),
        ("GetBufDataLen", (NULL,), "len is NULL"),
        ("GetBufUserData", (NULL, 1, 0), "dataPtr is NULL"),
        ("SetBufUserData", (NULL, 1, 0), "dataPtr is NULL"),
        ("SetBufUserData", (b"x", 97, 0), "size is 97 and offset 0, expected a sum of at most 96"),
        ("SetBufUserData", (b"x", 1, 96), "size is 1 and offset 96"),
        ("GetBufUserData", (b"x", 1, 2**64 - 1), "offset 18446744073709551615"),
        ("CopyBufRef", (NULL,), "newBuf is NULL"),
        ("AppendBufChain", (NULL,), "buf is NULL"),
        ("GetBufChainNum", (NULL,), "num is NULL"),
        ("GetBufFromChain", (0, NULL), "buf is NULL"),
    ],
)
def test_arguments(family, name, arguments, text):
    buffer = family.new(16)
    refused(getattr(family, name)(buffer, *arguments), INVALID, family.prefix + name, text)
    assert family.FreeBuf(buffer) == 0


@pytest.mark.parametrize("size", [0, (4 << 30) + 1, 2**64 - 1])
def test_sizes(family, size):
    refused(family.allocate(size), INVALID, f"{family.prefix}AllocBuf", f"size is {size}", "4 GiB")


def test_types():
    refused(lib.acltdtAllocBuf(16, 2, PLACE), INVALID, "type is 2", "ACL_TDT_DVPP_MEM (1)")
    assert lib.acltdtAllocBuf(16, 1, PLACE) == 0
    assert lib.acltdtFreeBuf(PLACE[0]) == 0
    refused(lib.acltdtAllocBuf(16, 0, NULL), INVALID, "buf is NULL")
    refused(lib.aclrtAllocBuf(NULL, 16), INVALID, "buf is NULL")


def test_what_queues_of_buffers_refuse(queue):
    refused(lib.acltdtEnqueue(queue, NULL, 0), INVALID, "acltdtEnqueue", "buf is NULL")
    refused(lib.acltdtDequeue(queue, NULL, 0), INVALID, "acltdtDequeue", "buf is NULL")
    refused(lib.acltdtEnqueue(queue, pointer(5), 0), INVALID, "acltdtEnqueue", "not a handle")
    refused(lib.acltdtEnqueue(7, pointer(5), 0), 100032, "acltdtEnqueue", "qid is 7")
    refused(lib.acltdtDequeue(7, PLACE, 0), 100032, "acltdtDequeue", "qid is 7")


def test_cards_in_a_host_have_no_buffers(run_script):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
some, place, size, word = ffi.cast("void *", 5), ffi.new("void **"), ffi.new("size_t *"), ffi.new("uint32_t *")
calls = {
    "AllocBuf": None, "FreeBuf": (some,), "GetBufData": (some, place, size), "SetBufDataLen": (some, 1),
    "GetBufDataLen": (some, size), "GetBufUserData": (some, some, 1, 0), "SetBufUserData": (some, some, 1, 0),
    "CopyBufRef": (some, place), "AppendBufChain": (some, some), "GetBufChainNum": (some, word),
    "GetBufFromChain": (some, 0, place),
}
for prefix, code in (("acltdt", 200006), ("aclrt", 207000)):
    for name, arguments in calls.items():
        if arguments is None:
            arguments = (16, 0, place) if prefix == "acltdt" else (place, 16)
        assert getattr(lib, prefix + name)(*arguments) == code, name
        text = acl.get_recent_err_msg()
        assert prefix + name in text and "Ascend910B3 is a card in a host" in text, text
def wrong(words, call, *arguments):
    assert call(*arguments) == 100000, acl.get_recent_err_msg()
    assert words in acl.get_recent_err_msg()
wrong("type is 2", lib.acltdtAllocBuf, 16, 2, place)
wrong("size is 0", lib.acltdtAllocBuf, 0, 0, place)
wrong("size is 4294967297", lib.aclrtAllocBuf, place, (1 << 32) + 1)
wrong("buf is NULL", lib.aclrtAllocBuf, ffi.NULL, 16)
for name in ("acltdtGetBufUserData", "acltdtSetBufUserData", "aclrtGetBufUserData", "aclrtSetBufUserData"):
    wrong("size is 90 and offset 7", getattr(lib, name), some, place, 90, 7)
assert lib.acltdtEnqueue(1, some, 0) == lib.acltdtDequeue(1, place, 0) == 200006
"""
    done = run_script(code, {"ACL_SIM_SOC": "Ascend910B3"})
    assert done.returncode == 0, done.stderr
