"""Random programs over several streams: run eagerly, and captured and run, they leave what a model leaves."""

import pytest
from helpers.capture import Words, begin, end, ex_event, fork, run
from helpers.operands import SETTINGS
from hypothesis import given
from hypothesis import strategies as st

import acl

WORDS, EVENTS, STREAMS = 6, 3, 6
MASK = 0xFFFFFFFF


class Order:
    """Which tasks are known to come before which: a vector clock a stream, and who touched each word last."""

    def __init__(self, streams):
        self.clocks = [[0] * streams for _ in range(streams)]
        self.touched = [[] for _ in range(WORDS)]

    def wait(self, waiter, recorder):
        """Let one stream wait for another."""
        self.clocks[waiter] = [max(pair) for pair in zip(self.clocks[waiter], self.clocks[recorder])]

    def unordered(self, stream, word, writes):
        """Return a stream with a task that the next one must not overlap, or None."""
        for other, tick, wrote in self.touched[word]:
            if other != stream and (writes or wrote) and self.clocks[stream][other] < tick:
                return other
        return None

    def touch(self, stream, word, writes):
        """Note a task of a stream on a word."""
        self.clocks[stream][stream] += 1
        self.touched[word].append((stream, self.clocks[stream][stream], writes))


def spread(value):
    """Return the word whose four bytes are ``value``."""
    return value * 0x01010101


def expected(steps, times):
    """Return the words after the program has run some times, one task after another."""
    words = [0] * WORDS
    for _ in range(times):
        for kind, _, *rest in steps:
            if kind == "set":
                words[rest[0]] = spread(rest[1])
            elif kind == "copy":
                words[rest[0]] = words[rest[1]]
            elif kind == "count":
                words[rest[0]] = (words[rest[0]] + 1) & MASK
    return words


@st.composite
def programs(draw):
    """Draw a program without races: wherever two tasks would overlap on a word, an event comes between."""
    streams = draw(st.integers(1, STREAMS))
    order, steps = Order(streams), []

    def tie(waiter, recorder):
        steps.append(("edge", waiter, recorder, draw(st.integers(0, EVENTS - 1))))
        order.wait(waiter, recorder)

    for other in range(1, streams):
        tie(other, 0)
    stream, word, byte = (st.integers(0, most) for most in (streams - 1, WORDS - 1, 255))
    tasks = st.one_of(
        st.tuples(st.just("set"), stream, word, byte),
        st.tuples(st.just("copy"), stream, word, word).filter(lambda task: task[2] != task[3]),
        st.tuples(st.just("count"), stream, word),
        st.tuples(st.just("edge"), stream, stream).filter(lambda task: streams == 1 or task[1] != task[2]),
    )
    for task in draw(st.lists(tasks, max_size=25)):
        if task[0] == "edge":
            tie(task[1], task[2])
            continue
        for place, writes in [(task[2], True), *([(task[3], False)] if task[0] == "copy" else [])]:
            while (other := order.unordered(task[1], place, writes)) is not None:
                tie(task[1], other)
            order.touch(task[1], place, writes)
        steps.append(task)
    for other in range(1, streams):
        tie(0, other)
    return streams, steps


def queue(steps, streams, events, words):
    """Submit the program."""
    for kind, stream, *rest in steps:
        if kind == "set":
            assert words.set(streams[stream], *rest) == 0
        elif kind == "copy":
            assert words.copy(streams[stream], *rest) == 0
        elif kind == "count":
            assert words.count_up(streams[stream], *rest) == 0
        else:
            fork(events[rest[1]], streams[rest[0]], streams[stream])


@pytest.fixture(scope="module")
def stage():
    """Make streams and words of device memory, for all programs."""
    assert acl.rt.set_device(0) == 0
    streams = [acl.rt.create_stream()[0] for _ in range(STREAMS)]
    words = Words(WORDS)
    yield streams, words
    words.close()
    for stream in streams:
        acl.rt.destroy_stream(stream)
    acl.rt.reset_device_force(0)


@SETTINGS
@given(program=programs())
def test_captured_programs_do_what_eager_ones_do(stage, program):
    streams, words = stage
    count, steps = program
    events = [ex_event() for _ in range(EVENTS)]
    words.clear()
    queue(steps, streams[:count], events, words)
    assert acl.rt.synchronize_device() == 0
    assert words.numbers() == expected(steps, 1)

    words.clear()
    begin(streams[0])
    queue(steps, streams[:count], events, words)
    instance = end(streams[0])
    assert words.numbers() == [0] * WORDS
    run(instance, streams[0])
    assert words.numbers() == expected(steps, 1)
    run(instance, streams[0], 9)
    assert words.numbers() == expected(steps, 10)
    assert acl.mdl.ri_destroy(instance) == 0
    for event in events:
        assert acl.rt.destroy_event(event) == 0
