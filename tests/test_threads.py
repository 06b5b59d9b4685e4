"""Many Python threads at once: on one stream, on many, creating and destroying under load."""

import random
import threading

import pytest
from helpers.expect import Task, refused

import acl

THREADS = 4
ROUNDS = 200
DEVICE_TO_HOST = 2


@pytest.fixture
def run(device):
    """Give ``run(work)``: ``work(number)`` on as many threads at once; raises what one of them raised."""

    def start(work):
        ready = threading.Barrier(THREADS)
        raised = []

        def body(number):
            try:
                assert acl.rt.set_device(0) == 0
                ready.wait()
                work(number)
            except BaseException as error:
                raised.append(error)

        threads = [threading.Thread(target=body, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if raised:
            raise raised[0]

    return start


@pytest.mark.needs_sim
def test_one_stream_keeps_the_order_of_each_thread(run, stream):
    order = []
    tasks = [[] for _ in range(THREADS)]

    def work(number):
        for step in range(ROUNDS):
            tasks[number].append(Task(stream, lambda step=step: order.append((number, step))))

    run(work)
    assert acl.rt.synchronize_stream(stream) == 0
    for number in range(THREADS):
        assert [step for other, step in order if other == number] == list(range(ROUNDS))
    assert len(order) == THREADS * ROUNDS


def test_each_thread_its_streams(run):
    """Chains of fills through events end with the last value, whatever the other threads do."""

    def work(number):
        memory, ret = acl.rt.malloc(64, 2)
        assert ret == 0
        host, ret = acl.rt.malloc_host(64)
        assert ret == 0
        streams = [acl.rt.create_stream()[0] for _ in range(3)]
        event, ret = acl.rt.create_event()
        assert ret == 0
        for step in range(ROUNDS):
            first, second = streams[step % 3], streams[(step + 1) % 3]
            assert acl.rt.memset_async(memory, 64, (step + number) % 256, 64, first) == 0
            assert acl.rt.record_event(event, first) == 0
            assert acl.rt.stream_wait_event(second, event) == 0
            assert acl.rt.memcpy_async(host, 64, memory, 64, DEVICE_TO_HOST, second) == 0
            assert acl.rt.synchronize_stream(second) == 0
            assert acl.util.ptr_to_bytes(host, 64) == bytes([(step + number) % 256]) * 64
        for stream in streams:
            assert acl.rt.destroy_stream(stream) == 0
        assert acl.rt.destroy_event(event) == 0
        assert acl.rt.free(memory) == 0
        assert acl.rt.free_host(host) == 0

    run(work)


def test_creating_and_destroying_under_load(run):
    before = acl.rt.get_stream_available_num(), acl.rt.get_event_avail_num()

    def work(number):
        for _ in range(ROUNDS):
            stream, ret = acl.rt.create_stream()
            assert ret == 0
            event, ret = acl.rt.create_event_with_flag(1)
            assert ret == 0
            memory, ret = acl.rt.malloc(4096, 2)
            assert ret == 0
            assert acl.rt.memset_async(memory, 4096, 1, 4096, stream) == 0
            assert acl.rt.record_event(event, stream) == 0
            assert acl.rt.synchronize_event(event) == 0
            assert acl.rt.destroy_event(event) == 0
            assert acl.rt.destroy_stream(stream) == 0
            assert acl.rt.free(memory) == 0

    run(work)
    assert (acl.rt.get_stream_available_num(), acl.rt.get_event_avail_num()) == before


def test_contexts_under_load(run):
    def work(number):
        for _ in range(ROUNDS // 4):
            context, ret = acl.rt.create_context(0)
            assert ret == 0
            stream, ret = acl.rt.create_stream()
            assert ret == 0
            assert acl.rt.synchronize_stream(stream) == 0
            assert acl.rt.get_context() == (context, 0)
            assert acl.rt.destroy_context(context) == 0
            assert acl.rt.get_context()[1] == 107002

    run(work)


def test_devices_are_set_and_reset_under_load(run):
    """The fixture's own set keeps the device open; each thread pairs its calls."""

    def work(number):
        for _ in range(ROUNDS):
            assert acl.rt.set_device(0) == 0
            stream, ret = acl.rt.create_stream()
            assert ret == 0
            assert acl.rt.destroy_stream(stream) == 0
            assert acl.rt.reset_device(0) == 0

    run(work)
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.synchronize_device() == 0


@pytest.mark.strict
def test_handles_that_other_threads_destroy(run):
    """Whatever is dead by the time of the call is refused, and nothing else happens."""
    streams, events = [], []

    def some(handles):
        return random.choice(handles or [1])

    def work(number):
        chance = random.Random(number)
        for _ in range(ROUNDS):
            stream, ret = acl.rt.create_stream()
            assert ret == 0
            streams.append(stream)
            event, ret = acl.rt.create_event()
            assert ret == 0
            events.append(event)
            assert acl.rt.record_event(some(events), some(streams)) in (0, 107017)
            assert acl.rt.stream_wait_event(some(streams), some(events)) in (0, 107017, 107000)
            assert acl.rt.stream_query(some(streams))[1] in (0, 107017)
            assert acl.rt.query_event_status(some(events))[1] in (0, 107017)
            assert acl.rt.synchronize_stream(some(streams)) in (0, 107017)
            if chance.random() < 0.7:
                assert acl.rt.destroy_event(some(events)) in (0, 107017)
                assert acl.rt.destroy_stream(some(streams)) in (0, 107017)

    run(work)
    assert acl.rt.synchronize_device() == 0
    for stream in streams:
        assert acl.rt.destroy_stream(stream) in (0, 107017)
        assert acl.rt.destroy_stream(stream) == 107017
    for event in events:
        assert acl.rt.destroy_event(event) in (0, 107017)
        assert acl.rt.destroy_event(event) == 107017


@pytest.mark.strict
def test_only_one_thread_destroys_a_stream(run):
    stream, _ = acl.rt.create_stream()
    codes = []
    run(lambda number: codes.append(acl.rt.destroy_stream(stream)))
    assert sorted(codes) == [0] + [107017] * (THREADS - 1)
    refused(acl.rt.destroy_stream(stream), 107017, "aclrtDestroyStream", "a destroyed stream")


def test_errors_and_messages_belong_to_their_thread(run):
    def work(number):
        for step in range(ROUNDS):
            wrong = -1 - number - THREADS * step
            assert acl.rt.set_device(wrong) == 107001
            assert acl.rt.get_last_error(0) == 107001
            assert acl.rt.get_last_error(0) == 0
            text = acl.get_recent_err_msg()
            assert not acl.is_simulator or f"deviceId is {wrong}," in text
            assert not acl.is_simulator or text.count("\n") == 0

    run(work)


def test_a_ring_of_threads(run):
    """Each thread's stream waits for its neighbour's record of the round before."""
    events = [[acl.rt.create_event()[0] for _ in range(20)] for _ in range(THREADS)]
    recorded = [[threading.Event() for _ in range(20)] for _ in range(THREADS)]

    def work(number):
        stream, ret = acl.rt.create_stream()
        assert ret == 0
        for step in range(20):
            if step:
                neighbour = (number + 1) % THREADS
                recorded[neighbour][step - 1].wait()
                assert acl.rt.stream_wait_event(stream, events[neighbour][step - 1]) == 0
            assert acl.rt.record_event(events[number][step], stream) == 0
            recorded[number][step].set()
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.destroy_stream(stream) == 0

    run(work)
    for event in (event for line in events for event in line):
        assert acl.rt.query_event_status(event) == (1, 0)
        assert acl.rt.destroy_event(event) == 0
