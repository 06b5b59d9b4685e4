"""Programs in whose captures and replays nothing orders two accesses of the same bytes."""

from helpers.capture import begin, end, ex_event
from helpers.condition import ASSIGN, IF, body, queued

from acl import mdl, rt

from . import Table, transparent

TABLE = Table()


# ---- captures and replays ----


@transparent
def captured(p, stream, *actions):
    begin(stream)
    for action in actions:
        action()
    return end(stream)


@TABLE.program("race", "of a replay", "may still")
def branches_of_a_capture(p, right):
    """The second branch waits for a record before the task whose result it reads."""
    fork, middle, join = ex_event(), ex_event(), ex_event()
    begin(p.one)
    p.follow(p.two, p.one, fork)
    p.set(p.one)  # first
    if right:
        p.follow(p.two, p.one, middle)
    p.copy(p.two, p.b, p.a)  # second
    p.follow(p.one, p.two, join)
    instance = end(p.one)
    for _ in range(3):
        assert mdl.ri_execute_async(instance, p.one) == 0
    rt.synchronize_stream(p.one)


@TABLE.program("race", "still read")
def behind_a_replay_of_two_branches(p, right):
    fork, join = ex_event(), ex_event()
    begin(p.one)
    p.follow(p.two, p.one, fork)
    p.set(p.one)
    p.copy(p.two, p.c, p.b)  # first
    p.follow(p.one, p.two, join)
    instance = end(p.one)
    assert mdl.ri_execute_async(instance, p.one) == 0
    if right:
        p.follow(p.three, p.one)
    p.set(p.three, p.b)  # second
    p.copy(p.one, p.c, p.a)
    p.follow(p.two, p.one)


@TABLE.program("race", "still write")
def two_instances_share_a_buffer(p, right):
    first = captured(p, p.one, lambda: p.set(p.one))  # first
    second = captured(p, p.two, lambda: p.copy(p.two, p.b, p.a))  # second
    assert mdl.ri_execute_async(first, p.one) == 0
    if right:
        p.follow(p.two, p.one)
    assert mdl.ri_execute_async(second, p.two) == 0


@TABLE.program("race", "the host")
def inputs_of_a_replay(p, right):
    instance = captured(p, p.one, lambda: p.copy(p.one, p.b, p.a))  # first
    for _ in range(2):
        p.store(p.a)  # second
        assert mdl.ri_execute_async(instance, p.one) == 0
        if right:
            rt.synchronize_stream(p.one)


@TABLE.program("race", "still write")
def replay_beside_a_task(p, right):
    instance = captured(p, p.one, lambda: p.set(p.one), lambda: p.set(p.one, p.b))  # first
    assert mdl.ri_execute_async(instance, p.one) == 0
    if right:
        p.follow(p.two, p.one)
    p.copy(p.two, p.c, p.b)  # second


# ---- bodies of conditional tasks ----


@transparent
def replay(p, instance, stream):
    for _ in range(2):
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.synchronize_stream(stream) == 0


@TABLE.program("race", "of a replay", "may still")
def body_beside_a_branch(p, right):
    fork, middle, join = ex_event(), ex_event(), ex_event()
    begin(p.one)
    p.follow(p.two, p.one, fork)
    condition = queued(p.one, IF, 1, 1, ASSIGN)
    with body(p.three, condition.bodies[0]):
        p.set(p.three)  # first
    if right:
        p.follow(p.two, p.one, middle)
    p.copy(p.two, p.b, p.a)  # second
    p.follow(p.one, p.two, join)
    replay(p, end(p.one), p.one)


@TABLE.program("race", "of a replay", "may still")
def branches_of_a_body(p, right):
    fork, middle, join = ex_event(), ex_event(), ex_event()
    begin(p.one)
    p.set(p.one)
    condition = queued(p.one, IF, 1, 1, ASSIGN)
    p.copy(p.one, p.c, p.a)
    with body(p.three, condition.bodies[0]):
        p.follow(p.two, p.three, fork)
        p.set(p.three)  # first
        if right:
            p.follow(p.two, p.three, middle)
        p.copy(p.two, p.b, p.a)  # second
        p.follow(p.three, p.two, join)
    replay(p, end(p.one), p.one)


@TABLE.program("race", "of a replay", "may still")
def branches_of_a_body_beside_a_branch(p, right):
    """The body has two branches, and its conditional task is in one of two branches."""
    outer, middle, last, fork, join = (ex_event() for _ in range(5))
    inner, _ = rt.create_stream()
    begin(p.one)
    p.follow(p.two, p.one, outer)
    condition = queued(p.one, IF, 1, 1, ASSIGN)
    with body(p.three, condition.bodies[0]):
        p.follow(inner, p.three, fork)
        p.set(p.three, p.c)
        p.set(inner)  # first
        p.follow(p.three, inner, join)
    p.copy(p.one, p.c, p.a)
    if right:
        p.follow(p.two, p.one, middle)
    p.copy(p.two, p.b, p.a)  # second
    p.follow(p.one, p.two, last)
    replay(p, end(p.one), p.one)
    rt.destroy_stream(inner)


@TABLE.program("race", "still write")
def stream_beside_a_body_of_two_branches(p, right):
    fork, join = ex_event(), ex_event()
    inner, _ = rt.create_stream()
    begin(p.one)
    condition = queued(p.one, IF, 1, 1, ASSIGN)
    with body(p.three, condition.bodies[0]):
        p.follow(inner, p.three, fork)
        p.set(inner)  # first
        p.set(p.three, p.c)
        p.follow(p.three, inner, join)
    instance = end(p.one)
    assert mdl.ri_execute_async(instance, p.one) == 0
    if right:
        p.follow(p.two, p.one)
    p.copy(p.two, p.b, p.a)  # second
    p.finish()
    rt.destroy_stream(inner)
