"""What queues and their routes refuse, and what they say."""

import pytest
from helpers.expect import NULL, handle_of, in_thread, pointer, refused
from helpers.queues import attributes, create, put

import acl
from acl._lib import ffi, lib

INVALID, PARAM, GONE, UNSUPPORTED = 100000, 107000, 100032, 200006

WORD, SIZE, TEXT, BYTES = ffi.new("uint32_t *", 2), ffi.new("size_t *"), ffi.new("char[128]"), ffi.new("char[64]")
NAME = ffi.new("char **", TEXT)
NO_NAME = ffi.new("char **")
LONG = ffi.new("char[]", b"n" * 128)
LONG_NAME = ffi.new("char **", LONG)

# Calls with the id of a queue, which is 7 here.
WITH_ID = {
    "acltdtDestroyQueue": lambda: lib.acltdtDestroyQueue(7),
    "acltdtEnqueueData": lambda: put(7, b"x"),
    "acltdtDequeueData": lambda: lib.acltdtDequeueData(7, BYTES, 64, SIZE, NULL, 0, 0),
}


@pytest.fixture
def queue(device):
    """Make a queue that holds two elements."""
    queue = create(2)
    yield queue
    lib.acltdtDestroyQueue(queue)


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("acltdtCreateQueue", (NULL, NULL), "qid"),
        ("acltdtDestroyQueueAttr", (NULL,), "attr"),
        ("acltdtSetQueueAttr", (NULL, 1, 4, WORD), "attr"),
        ("acltdtGetQueueAttr", (NULL, 1, 4, SIZE, WORD), "attr"),
        ("acltdtEnqueueData", (7, NULL, 1, NULL, 0, 0, 0), "data"),
        ("acltdtDequeueData", (7, NULL, 1, SIZE, NULL, 0, 0), "data"),
        ("acltdtDequeueData", (7, BYTES, 1, NULL, NULL, 0, 0), "retDataSize"),
        ("acltdtAttachQueue", (7, 0, NULL), "permission"),
        ("acltdtDestroyQueueRoute", (NULL,), "route"),
        ("acltdtGetQueueRouteParam", (NULL, 0, 4, SIZE, WORD), "route"),
        ("acltdtDestroyQueueRouteList", (NULL,), "routeList"),
        ("acltdtAddQueueRoute", (NULL, NULL), "routeList"),
        ("acltdtGetQueueRoute", (NULL, 0, NULL), "route"),
        ("acltdtBindQueueRoutes", (NULL,), "qRouteList"),
        ("acltdtUnbindQueueRoutes", (NULL,), "qRouteList"),
        ("acltdtQueryQueueRoutes", (NULL, NULL), "qRouteList"),
        ("acltdtDestroyQueueRouteQueryInfo", (NULL,), "info"),
        ("acltdtSetQueueRouteQueryInfo", (NULL, 0, 4, WORD), "param"),
    ],
)
def test_null_is_named(device, name, arguments, argument):
    refused(getattr(lib, name)(*arguments), INVALID, name, f"{argument} is NULL")


def test_null_lists_are_empty():
    assert lib.acltdtGetQueueRouteNum(NULL) == 0


@pytest.mark.strict
@pytest.mark.parametrize("name", WITH_ID)
def test_unknown_queues(device, name):
    refused(WITH_ID[name](), GONE, name, "qid is 7", "acltdtCreateQueue")


@pytest.mark.parametrize("name", WITH_ID)
def test_calls_need_a_device(name):
    in_thread(lambda: refused(WITH_ID[name](), 107002, name, "no current context"))


@pytest.mark.strict
def test_queues_are_destroyed_once(queue):
    assert lib.acltdtDestroyQueue(queue) == 0
    refused(lib.acltdtDestroyQueue(queue), GONE, "acltdtDestroyQueue", f"qid is {queue}")


@pytest.mark.parametrize(
    ("kind", "size", "value", "text"),
    [
        (1, 4, NULL, "param is NULL"),
        (2, 4, WORD, "type is 2"),
        (-1, 4, WORD, "type is -1"),
        (1, 5, WORD, "len is 5, expected 4"),
        (1, 8, WORD, "len is 8, expected 4"),
        (0, 9, NAME, "len is 9, expected 8"),
        (0, 8, NO_NAME, "expected the address of a string"),
        (0, 8, LONG_NAME, "more than 127 characters"),
    ],
)
def test_setting_attributes(kind, size, value, text):
    with attributes() as attr:
        refused(lib.acltdtSetQueueAttr(attr, ffi.cast("acltdtQueueAttrType", kind), size, value), INVALID, text)


@pytest.mark.parametrize(
    ("kind", "size", "place", "value", "text"),
    [
        (1, 4, NULL, WORD, "paramRetSize is NULL"),
        (1, 4, SIZE, NULL, "param is NULL"),
        (2, 4, SIZE, WORD, "type is 2"),
        (1, 3, SIZE, WORD, "len is 3, expected 4"),
        (0, 7, SIZE, NAME, "len is 7, expected 8"),
    ],
)
def test_reading_attributes(kind, size, place, value, text):
    with attributes() as attr:
        refused(lib.acltdtGetQueueAttr(attr, kind, size, place, value), INVALID, text)


@pytest.mark.strict
@pytest.mark.parametrize("depth", [0, 1])
def test_depths(device, depth):
    with attributes(depth) as attr:
        refused(
            lib.acltdtCreateQueue(attr, WORD), PARAM, "acltdtCreateQueue", f"depth of attr is {depth}", "at least 2"
        )


@pytest.mark.strict
def test_dead_attributes(device):
    with attributes() as attr:
        pass
    refused(lib.acltdtCreateQueue(attr, WORD), INVALID, "a destroyed set of queue attributes")
    refused(lib.acltdtDestroyQueueAttr(attr), INVALID, "attr is a destroyed set of queue attributes")
    refused(lib.acltdtSetQueueAttr(attr, 1, 4, WORD), INVALID, "expected a live set of queue attributes")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((BYTES, 0, NULL, 0, 0, 0), "dataSize is 0"),
        ((BYTES, (4 << 30) + 1, NULL, 0, 0, 0), "4 GiB"),
        ((BYTES, 64, BYTES, 97, 0, 0), "userDataSize is 97, expected at most 96"),
        ((BYTES, 64, NULL, 1, 0, 0), "userData is NULL with userDataSize 1"),
        ((BYTES, 64, NULL, 0, 0, 1), "rsv is 1, expected 0"),
    ],
)
def test_putting(queue, arguments, text):
    refused(lib.acltdtEnqueueData(queue, *arguments), INVALID, "acltdtEnqueueData", text)
    refused(lib.acltdtDequeueData(queue, BYTES, 64, SIZE, NULL, 0, 0), 207013, "acltdtDequeueData")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((BYTES, 0, SIZE, NULL, 0, 0), "dataSize is 0"),
        ((BYTES, 64, SIZE, BYTES, 97, 0), "userDataSize is 97, expected at most 96"),
        ((BYTES, 64, SIZE, NULL, 1, 0), "userData is NULL with userDataSize 1"),
        ((BYTES, 2, SIZE, NULL, 0, 0), "dataSize is 2, expected at least 3"),
    ],
)
def test_taking(queue, arguments, text):
    assert put(queue, b"abc") == 0
    refused(lib.acltdtDequeueData(queue, *arguments), INVALID, "acltdtDequeueData", text)
    assert lib.acltdtDequeueData(queue, BYTES, 64, SIZE, NULL, 0, 0) == 0


@pytest.mark.finds("use-after-free")
def test_memory_of_the_device_is_checked(queue):
    block, _ = acl.rt.malloc(64, 0)
    refused(lib.acltdtEnqueueData(queue, pointer(block), 97, NULL, 0, 0, 0), PARAM, "dataSize is 97")
    refused(lib.acltdtEnqueueData(queue, BYTES, 64, pointer(block), 8, 0, 0), INVALID, "userData", "device memory")
    assert put(queue, b"x") == 0
    refused(lib.acltdtDequeueData(queue, pointer(block), 97, SIZE, NULL, 0, 0), PARAM, "dataSize is 97")
    assert acl.rt.free(block) == 0
    refused(lib.acltdtDequeueData(queue, pointer(block), 64, SIZE, NULL, 0, 0), PARAM, "data is")


@pytest.mark.parametrize("timeout", [0, 1])
def test_time_runs_out(queue, timeout):
    acl.rt.get_last_error(0)
    refused(lib.acltdtDequeueData(queue, BYTES, 64, SIZE, NULL, 0, timeout), 207013, "is empty", f"{timeout} ms")
    assert acl.rt.get_last_error(0) == 207013
    assert [put(queue, b"1"), put(queue, b"2")] == [0, 0]
    refused(put(queue, b"3", timeout), 207014, "is full", f"{timeout} ms")
    assert acl.rt.get_last_error(0) == 207014


def test_no_product_shares_queues_between_processes(queue):
    for qid in (queue, 7):  # it is not looked up, so one that does not exist gets the same answer
        refused(lib.acltdtGrantQueue(qid, 1, 4, 0), UNSUPPORTED, "acltdtGrantQueue", f"qid is {qid}", "not supported")
        refused(lib.acltdtAttachQueue(qid, 0, WORD), UNSUPPORTED, "acltdtAttachQueue", f"qid is {qid}", "not supported")


@pytest.mark.needs_sim
def test_there_are_4095_queues(device):
    made = [create() for _ in range(4095)]
    refused(lib.acltdtCreateQueue(NULL, WORD), 200000, "acltdtCreateQueue", "4095 queues and channels")
    assert lib.acltdtDestroyQueue(made.pop()) == 0
    made.append(create())
    assert [lib.acltdtDestroyQueue(queue) for queue in made] == [0] * 4095


# --- routes


route = handle_of(lambda: lib.acltdtCreateQueueRoute(7, 8), lib.acltdtDestroyQueueRoute)  # which nobody has
question = handle_of(lib.acltdtCreateQueueRouteQueryInfo, lib.acltdtDestroyQueueRouteQueryInfo)
routes = handle_of(lib.acltdtCreateQueueRouteList, lib.acltdtDestroyQueueRouteList)


@pytest.mark.parametrize(
    ("kind", "size", "place", "value", "text"),
    [
        (0, 4, NULL, WORD, "paramRetSize is NULL"),
        (0, 4, SIZE, NULL, "param is NULL"),
        (3, 4, SIZE, WORD, "type is 3"),
        (0, 3, SIZE, WORD, "len is 3, expected 4"),
    ],
)
def test_reading_routes(route, kind, size, place, value, text):
    refused(lib.acltdtGetQueueRouteParam(route, kind, size, place, value), INVALID, text)


def test_places_in_lists(routes, route):
    refused(lib.acltdtAddQueueRoute(routes, NULL), INVALID, "acltdtAddQueueRoute", "route is NULL")
    refused(lib.acltdtGetQueueRoute(routes, 0, route), INVALID, "index is 0, expected less than 0")
    assert lib.acltdtAddQueueRoute(routes, route) == 0
    refused(lib.acltdtGetQueueRoute(routes, 1, route), INVALID, "index is 1, expected less than 1")


@pytest.mark.parametrize(
    ("kind", "size", "value", "text"),
    [
        (0, 4, NULL, "value is NULL"),
        (3, 4, WORD, "type is 3"),
        (1, 8, WORD, "len is 8, expected 4"),
        (0, 4, ffi.new("uint32_t *", 3), "the mode is 3"),
        (0, 4, ffi.new("uint32_t *", 99), "the mode is 99"),
    ],
)
def test_asking(question, kind, size, value, text):
    refused(lib.acltdtSetQueueRouteQueryInfo(question, kind, size, value), INVALID, text)


@pytest.mark.parametrize(("mode", "other"), [(0, 2), (1, 1), (2, 1), (2, 2)])
def test_questions_are_whole(device, question, routes, mode, other):
    refused(lib.acltdtQueryQueueRoutes(NULL, routes), INVALID, "acltdtQueryQueueRoutes", "queryInfo is NULL")
    assert lib.acltdtSetQueueRouteQueryInfo(question, other, 4, WORD) == 0
    refused(lib.acltdtQueryQueueRoutes(question, routes), INVALID, "queryInfo has no mode")
    assert lib.acltdtSetQueueRouteQueryInfo(question, 0, 4, ffi.new("uint32_t *", mode)) == 0
    refused(lib.acltdtQueryQueueRoutes(question, routes), INVALID, f"queryInfo has mode {mode}", "to be set")


@pytest.mark.strict
def test_dead_descriptions(device):
    route, routes, question = (
        lib.acltdtCreateQueueRoute(7, 8),
        lib.acltdtCreateQueueRouteList(),
        lib.acltdtCreateQueueRouteQueryInfo(),
    )
    assert lib.acltdtDestroyQueueRoute(route) == 0
    refused(lib.acltdtAddQueueRoute(routes, route), INVALID, "route is a destroyed queue route")
    assert lib.acltdtDestroyQueueRouteList(routes) == 0
    refused(lib.acltdtBindQueueRoutes(routes), INVALID, "qRouteList is a destroyed list of queue routes")
    assert lib.acltdtGetQueueRouteNum(routes) == 0
    assert lib.acltdtDestroyQueueRouteQueryInfo(question) == 0
    refused(lib.acltdtQueryQueueRoutes(question, routes), INVALID, "queryInfo is a destroyed queue route query")
    other = ffi.cast("acltdtQueueRouteQueryInfo *", routes)
    refused(lib.acltdtDestroyQueueRouteQueryInfo(other), INVALID, "a destroyed list of queue routes")
