"""Routes: what is put into one queue comes out of others."""

import contextlib

import pytest
from helpers.expect import refused
from helpers.queues import create, put, take, waiter

from acl._lib import ffi, lib

UNBOUND, BOUND, ABNORMAL = 0, 1, 2
EMPTY, FULL, GONE = 207013, 207014, 100032


@pytest.fixture
def queues(device):
    """Give ``queues(count, depth=8)``; they are destroyed at the end."""
    made = []

    def several(count, depth=8):
        fresh = [create(depth) for _ in range(count)]
        made.extend(fresh)
        return fresh

    yield several
    for queue in made:
        lib.acltdtDestroyQueue(queue)


@contextlib.contextmanager
def listed(*pairs):
    """Give a list of routes."""
    routes = lib.acltdtCreateQueueRouteList()
    for source, target in pairs:
        route = lib.acltdtCreateQueueRoute(source, target)
        assert lib.acltdtAddQueueRoute(routes, route) == 0
        assert lib.acltdtDestroyQueueRoute(route) == 0
    yield routes
    assert lib.acltdtDestroyQueueRouteList(routes) == 0


def contents(routes):
    """Return (source, target, status) of each route of a list."""
    place, size, number, found = lib.acltdtCreateQueueRoute(0, 0), ffi.new("size_t *"), ffi.new("int32_t *"), []
    for index in range(lib.acltdtGetQueueRouteNum(routes)):
        assert lib.acltdtGetQueueRoute(routes, index, place) == 0
        values = []
        for kind in range(3):
            assert lib.acltdtGetQueueRouteParam(place, kind, 4, size, number) == 0
            assert size[0] == 4
            values.append(number[0])
        found.append(tuple(values))
    assert lib.acltdtDestroyQueueRoute(place) == 0
    return found


def bind(*pairs):
    """Put routes in force; return the code and the statuses."""
    with listed(*pairs) as routes:
        ret = lib.acltdtBindQueueRoutes(routes)
        return ret, [status for _, _, status in contents(routes)]


def unbind(*pairs):
    """Put routes out of force; return the code and the statuses."""
    with listed(*pairs) as routes:
        ret = lib.acltdtUnbindQueueRoutes(routes)
        return ret, [status for _, _, status in contents(routes)]


def ask(mode, source=None, target=None):
    """Return the routes in force that match."""
    question = lib.acltdtCreateQueueRouteQueryInfo()
    for kind, value in ((0, mode), (1, source), (2, target)):
        if value is not None:
            assert lib.acltdtSetQueueRouteQueryInfo(question, kind, 4, ffi.new("uint32_t *", value)) == 0
    with listed((1, 1)) as routes:  # what a list held before is replaced
        assert lib.acltdtQueryQueueRoutes(question, routes) == 0
        found = contents(routes)
    assert lib.acltdtDestroyQueueRouteQueryInfo(question) == 0
    return found


def test_lists_keep_routes_in_order():
    with listed((1, 2), (3, 4), (1, 2)) as routes:
        assert contents(routes) == [(1, 2, UNBOUND), (3, 4, UNBOUND), (1, 2, UNBOUND)]


def test_one_source_feeds_all_targets(queues):
    source, left, right = queues(3)
    assert bind((source, left), (source, right)) == (0, [BOUND, BOUND])
    for data in (b"1", b"2"):
        assert put(source, data, user=b"u" + data) == 0
    for target in (left, right):
        assert [take(target, user=2), take(target, user=2)] == [(b"1", b"u1"), (b"2", b"u2")]
    assert [take(queue) for queue in (source, left, right)] == [EMPTY] * 3


def test_what_waits_goes_when_the_route_is_bound(queues):
    source, target = queues(2)
    assert put(source, b"early") == 0
    assert bind((source, target)) == (0, [BOUND])
    assert [take(source), take(target)] == [EMPTY, b"early"]


def test_routes_go_on(queues):
    first, second, third = queues(3)
    assert bind((first, second), (second, third)) == (0, [BOUND, BOUND])
    assert put(first, b"far") == 0
    assert take(third) == b"far"


def test_a_full_target_holds_all_up(queues):
    source, narrow, wide = *queues(2, depth=2), *queues(1)
    assert bind((source, narrow), (source, wide)) == (0, [BOUND, BOUND])
    assert [put(source, b"%d" % number) for number in range(5)] == [0, 0, 0, 0, FULL]
    assert [take(wide), take(wide), take(wide)] == [b"0", b"1", EMPTY]
    assert take(narrow) == b"0"
    assert [take(wide), take(wide)] == [b"2", EMPTY]
    assert unbind((source, narrow)) == (0, [UNBOUND])
    assert [take(wide), take(wide)] == [b"3", EMPTY]
    assert [take(narrow), take(narrow), take(narrow)] == [b"1", b"2", EMPTY]


def test_who_waits_at_a_target_is_woken(queues):
    source, target = queues(2)
    assert bind((source, target)) == (0, [BOUND])
    taken = waiter(lambda: take(target, -1))
    assert put(source, b"x") == 0
    assert taken.result() == b"x"


def test_an_unbound_source_keeps_what_it_has(queues):
    source, target = queues(2)
    assert bind((source, target)) == (0, [BOUND])
    assert unbind((source, target)) == (0, [UNBOUND])
    assert put(source, b"x") == 0
    assert [take(target), take(source)] == [EMPTY, b"x"]


def test_binding_twice_changes_nothing(queues):
    source, target = queues(2)
    assert bind((source, target), (source, target)) == (0, [BOUND, BOUND])
    assert bind((source, target)) == (0, [BOUND])
    assert put(source, b"x") == 0
    assert [take(target), take(target)] == [b"x", EMPTY]


@pytest.mark.strict
def test_each_route_of_a_list_has_its_own_status(queues):
    source, target = queues(2)
    with listed((source, 7), (source, target), (8, target)) as routes:
        refused(lib.acltdtBindQueueRoutes(routes), GONE, "acltdtBindQueueRoutes", "srcId is 8")
        assert contents(routes) == [(source, 7, UNBOUND), (source, target, BOUND), (8, target, UNBOUND)]
    assert put(source, b"x") == 0
    assert take(target) == b"x"


@pytest.mark.strict
def test_routes_never_lead_in_a_circle(queues):
    first, second, third = queues(3)
    assert bind((first, first)) == (100000, [UNBOUND])
    assert bind((first, second), (second, third)) == (0, [BOUND, BOUND])
    with listed((third, first)) as routes:
        refused(lib.acltdtBindQueueRoutes(routes), 100000, f"from queue {third} to queue {first}", "cycle")
    assert bind((first, third)) == (0, [BOUND])
    assert put(first, b"x") == 0
    assert [take(third), take(third), take(third)] == [b"x", b"x", EMPTY]


@pytest.mark.strict
def test_only_routes_in_force_are_unbound(queues):
    source, target = queues(2)
    with listed((source, target)) as routes:
        refused(lib.acltdtUnbindQueueRoutes(routes), 100000, f"no route from queue {source} to queue {target}")


def test_questions(queues):
    a, b, c, d = queues(4)
    assert bind((a, b), (a, c), (b, d), (c, d))[0] == 0
    assert ask(0, source=a) == [(a, b, BOUND), (a, c, BOUND)]
    assert ask(1, target=d) == [(b, d, BOUND), (c, d, BOUND)]
    assert ask(2, source=a, target=c) == [(a, c, BOUND)]
    assert ask(2, source=a, target=d) == []
    assert ask(100) == []


@pytest.mark.strict
def test_routes_of_destroyed_queues_are_abnormal(queues):
    a, b, c = queues(3)
    assert bind((a, b), (a, c))[0] == 0
    assert lib.acltdtDestroyQueue(b) == 0
    assert ask(100) == [(a, b, ABNORMAL)]
    assert ask(0, source=a) == [(a, b, ABNORMAL), (a, c, BOUND)]
    assert put(a, b"x") == 0
    assert take(c) == b"x"
    assert unbind((a, b)) == (0, [UNBOUND])
    assert ask(100) == []
    assert lib.acltdtDestroyQueue(c) == 0
    assert ask(100) == [(a, c, ABNORMAL)]
    assert put(a, b"stays") == 0
    assert take(a) == b"stays"
    assert lib.acltdtDestroyQueue(a) == 0
    assert ask(100) == []
