"""Ends of captures: those that fail, and what several threads do with one capture or with one each."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.capture import (
    ACTIVE,
    GLOBAL,
    INVALIDATED,
    NONE,
    RELAXED,
    THREAD_LOCAL,
    begin,
    check_free,
    check_unharmed,
    end,
    fork,
    give_up,
    relaxed,
    run,
    status,
)
from helpers.expect import in_thread, refused

import acl

mdl, rt = acl.mdl, acl.rt
MODES = [GLOBAL, THREAD_LOCAL, RELAXED]


def states(*several):
    """Return the states of streams."""
    return [status(stream) for stream in several]


def on_device(function):
    """Return what the function returns on a fresh thread that uses device 0."""

    def start():
        assert rt.set_device(0) == 0
        return function()

    return in_thread(start)


# --- ends that fail


def test_two_captures_that_share_an_event(streams, words, ex):
    """Transposes Unit_hipStreamBeginCapture_DetectingInvalidCapture: all streams of both captures are lost, until each
    capture is ended, in any order.
    """
    one, two, joined, free = streams(4)
    event, outside = ex(), ex()
    begin(one, THREAD_LOCAL)
    fork(event, one, joined)
    begin(two, GLOBAL)
    refused(rt.record_event(event, two), 107032, "aclrtRecordEvent", "both captures are invalid")
    assert states(one, two, joined, free) == [INVALIDATED] * 3 + [NONE]
    refused(words.set(joined, 0, 1), 507903, "aclrtMemsetAsync", "made invalid", "aclmdlRICaptureEnd")
    refused(rt.record_event(event, joined), 507903, "aclrtRecordEvent", "made invalid")
    refused(rt.stream_wait_event(free, event), 507903, "aclrtStreamWaitEvent", "made invalid")
    refused(rt.stream_wait_event(joined, outside), 507903, "aclrtStreamWaitEvent", "made invalid")
    assert status(free) == NONE
    refused(mdl.ri_capture_end(joined)[1], 107036, "aclmdlRICaptureEnd", "joined")
    give_up(two, 507903)
    assert states(one, two, joined) == [INVALIDATED, NONE, INVALIDATED]
    with relaxed():
        assert words.read() == [0] * 8
    give_up(one, 507903)
    assert states(one, two, joined) == [NONE] * 3
    check_free(words, one, two, joined, free)


def test_streams_that_do_not_come_back(streams, words, ex):
    """Transposes Unit_hipStreamBeginCapture_EndingCapturewhenCaptureInProgress and
    Unit_hipStreamBeginCapture_Negative_EndingCapwhenCapInProg, cupy_capture_failure3 and cupy_capture_failure4.
    """
    first, second, third = streams(3)

    def fail(*steps, code=107025, told="has not come back"):
        begin(first)
        fork(ex(), first, second, third)
        for step in steps:
            step()
        instance, ret = mdl.ri_capture_end(first)
        refused(ret, code, "aclmdlRICaptureEnd", told)
        assert instance == 0
        check_free(words, first, second, third)

    def back(stream, target, event=None):
        return lambda: fork(event or ex(), stream, target)

    fail()
    fail(lambda: words.set(second, 0, 1), lambda: words.set(third, 0, 1))
    fail(back(second, first))  # the third does not
    fail(back(second, first), back(third, first), lambda: words.set(third, 0, 1))  # a task after the record
    fail(back(second, first), lambda: rt.record_event(ex(), third))  # nobody waits for it
    fail(back(second, third), back(third, second))  # the last task is a wait
    again = ex()
    fail(back(second, first, again), back(third, first), lambda: rt.record_event(again, second))
    fail(back(second, first), lambda: rt.record_event(again, third), lambda: rt.stream_wait_event(third, again))
    begin(first)
    fork(ex(), first, second, third)
    fork(ex(), second, third)
    fork(ex(), third, first)  # the second comes back by way of the third
    instance = end(first)
    run(instance, first)
    assert mdl.ri_destroy(instance) == 0
    check_free(words, first, second, third)


def test_none_comes_back_to_the_origin(streams, words, ex):
    first, second, third = streams(3)
    events = [ex() for _ in range(2)]
    begin(first)
    fork(ex(), first, second, third)
    assert rt.stream_wait_event(second, events[1]) == 0
    assert rt.stream_wait_event(third, events[0]) == 0
    assert rt.record_event(events[0], second) == 0
    assert rt.record_event(events[1], third) == 0
    refused(mdl.ri_capture_end(first)[1], 107025, "aclmdlRICaptureEnd", "no stream that joined")
    check_free(words, first, second, third)


def test_a_wait_without_a_record(stream, words, ex):
    begin(stream)
    assert rt.stream_wait_event(stream, ex()) == 0
    assert words.set(stream, 0, 1) == 0
    refused(mdl.ri_capture_end(stream)[1], 107024, "aclmdlRICaptureEnd", "1 waits", "never recorded")
    assert words.read()[0] == 0
    check_free(words, stream)


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED])
def test_ending_on_another_stream(stream, other, words, ex, mode):
    """Transposes Unit_hipStreamEndCapture_chkError_on_wrongStream, cupy_capture_failure2 and
    Unit_hipStreamEndCapture_Negative: a stream outside, one that joined, and the end once more.
    """
    begin(stream, mode)
    refused(mdl.ri_capture_end(other)[1], 107029, "aclmdlRICaptureEnd", "not being captured")
    fork(ex(), stream, other)
    refused(mdl.ri_capture_end(other)[1], 107036, "aclmdlRICaptureEnd", f"{stream:#x}")
    assert states(stream, other) == [ACTIVE, ACTIVE]
    fork(ex(), other, stream)
    check_unharmed(words, stream)
    refused(mdl.ri_capture_end(stream)[1], 107029, "aclmdlRICaptureEnd", "not being captured")
    assert in_thread(lambda: mdl.ri_capture_get_info(stream)) == (NONE, 0, 0)
    check_free(words, stream, other)


# --- threads


@pytest.mark.parametrize("mode", MODES)
def test_ending_on_another_thread(stream, other, words, ex, mode):
    """Transposes Unit_hipStreamEndCapture_Thread_Negative, Unit_hipStreamEndCapture_Negative_Thread and
    Unit_hipStreamEndCapture_Positive_Thread: only a relaxed capture; the others are given up.
    """
    begin(stream, mode)
    fork(ex(), stream, other)
    assert words.set(other, 0, 8) == 0
    fork(ex(), other, stream)
    doomed = mdl.ri_capture_get_info(stream)[1]

    def elsewhere():
        instance, ret = mdl.ri_capture_end(stream)
        if mode != RELAXED:
            refused(ret, 107038, "aclmdlRICaptureEnd", "discarded")
        return instance, ret

    instance, ret = on_device(elsewhere)
    assert states(stream, other) == [NONE, NONE]
    assert words.read()[0] == 0
    if mode == RELAXED:
        assert (instance, ret) == (doomed, 0)
        run(instance, stream)
        assert words.read()[0] == 8
        assert mdl.ri_destroy(instance) == 0
    else:
        assert (instance, ret) == (0, 107038)
        assert mdl.ri_capture_end(stream) == (0, 107029)
    check_free(words, stream, other)


@pytest.mark.strict
def test_a_capture_given_up_by_another_thread_is_gone(stream):
    begin(stream, GLOBAL)
    doomed = mdl.ri_capture_get_info(stream)[1]
    assert on_device(lambda: mdl.ri_capture_end(stream)) == (0, 107038)
    refused(mdl.ri_execute_async(doomed, stream), 107017, "aclmdlRIExecuteAsync", "expected a live")


@pytest.mark.parametrize("mode", MODES)
def test_states_seen_by_other_threads(stream, other, words, ex, mode):
    """Transposes Unit_hipStreamIsCapturing_CheckCaptureStatus_FromThread and
    Unit_hipStreamGetCaptureInfo_CaptureStatus_InThread: with and without a current context.
    """

    def seen():
        found = [mdl.ri_capture_get_info(each) for each in (stream, other)]
        assert in_thread(lambda: [mdl.ri_capture_get_info(each) for each in (stream, other)]) == found
        assert on_device(lambda: [mdl.ri_capture_get_info(each) for each in (stream, other)]) == found
        return [state for state, _, _ in found]

    assert seen() == [NONE, NONE]
    begin(stream, mode)
    assert seen() == [ACTIVE, NONE]
    fork(ex(), stream, other)
    assert seen() == [ACTIVE, ACTIVE]
    fork(ex(), other, stream)
    instance = end(stream)
    assert seen() == [NONE, NONE]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream, other)


@pytest.mark.parametrize("mode", MODES)
def test_each_thread_its_capture(streams, words, mode):
    """Transposes Unit_hipStreamBeginCapture_Multithreaded_Global,
    Unit_hipStreamBeginCapture_Multithreaded_ThreadLocal, Unit_hipStreamBeginCapture_Multithreaded_Relaxed,
    Unit_hipStreamBeginCapture_Positive_Multithreaded and Unit_hipStreamBeginCaptureToGraph_IndepGraphsThreads: all
    captures are open at the same time; what each thread may do besides follows from the mode.
    """
    several = streams(4)
    together = threading.Barrier(len(several))

    def capture(place):
        assert rt.set_device(0) == 0
        begin(several[place], mode)
        together.wait()
        for _ in range(place + 1):
            assert words.count_up(several[place], place) == 0
        unsafe = rt.memset(words.at(7), 4, 0, 4)
        together.wait()
        return unsafe, end(several[place])

    with ThreadPoolExecutor(len(several)) as pool:
        results = list(pool.map(capture, range(len(several))))
    assert [unsafe for unsafe, _ in results] == [0 if mode == RELAXED else 107030] * len(several)
    assert words.read() == [0] * 8
    for _, instance in results:
        run(instance, several[0], 2)
        assert mdl.ri_destroy(instance) == 0
    assert words.read() == [2, 4, 6, 8, 0, 0, 0, 0]
    check_free(words, *several)


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_add_to_one_capture(stream, words, mode):
    """Transposes Unit_hipStreamBeginCaptureToGraph_CapturePartialInThreads: whoever submits, the stream records."""
    begin(stream, mode)
    assert words.set(stream, 0, 0) == 0
    for times in (2, 3):
        assert on_device(lambda times=times: words.count_up(stream, 0, times)) == 0
    assert words.copy(stream, 1, 0) == 0
    instance = end(stream)
    run(instance, stream, 2)
    assert words.read()[:2] == [5, 5]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, stream)


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_join_streams(streams, words, ex, mode):
    """Transposes Unit_hipStreamEndCapture_streamMerge_in_thread: other threads fork and join, the first one ends."""
    origin, *others = streams(3)
    begin(origin, mode)
    assert words.set(origin, 0, 3) == 0

    def branch(place, stream):
        fork(ex(), origin, stream)
        assert words.copy(stream, place, 0) == 0
        fork(ex(), stream, origin)

    for place, stream in enumerate(others, 1):
        on_device(lambda place=place, stream=stream: branch(place, stream))
    assert states(origin, *others) == [ACTIVE] * 3
    instance = end(origin)
    run(instance, others[0])
    assert words.read()[:3] == [3, 3, 3]
    assert mdl.ri_destroy(instance) == 0
    check_free(words, origin, *others)


def test_many_threads_capture_and_run(streams, words):
    """Captures, runs and ends of several threads do not disturb one another."""
    several = streams(4)

    def work(place):
        assert rt.set_device(0) == 0
        for _ in range(20):
            begin(several[place], THREAD_LOCAL)
            assert words.count_up(several[place], place, 2) == 0
            instance = end(several[place])
            run(instance, several[place], 2)
            assert mdl.ri_destroy(instance) == 0
        return True

    with ThreadPoolExecutor(len(several)) as pool:
        assert list(pool.map(work, range(len(several)))) == [True] * 4
    assert words.read()[:4] == [80] * 4


@pytest.mark.parametrize("mode", MODES)
def test_a_thread_that_ends_with_its_capture_open(stream, words, mode):
    """The thread that began is gone: a relaxed capture is ended by anybody, the others can only be given up."""

    def start():
        begin(stream, mode)
        assert words.set(stream, 0, 2) == 0

    on_device(start)
    assert status(stream) == ACTIVE
    if mode == RELAXED:
        check_unharmed(words, stream, 1)
    else:
        give_up(stream, 107038)
    check_free(words, stream)
