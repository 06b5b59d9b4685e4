"""Programs whose streams and host threads wait for what nothing can bring."""

import threading

from helpers.capture import begin, end, ex_event
from helpers.expect import BLOCK

from acl import rt
from acl._lib import ffi, lib

from . import Table

TABLE = Table()
FOREVER = 0
FLAG_EVENT = 1  # ACL_EVENT_SYNC
CIRCLE = "wait for each other in a circle"
NOTHING = "which nothing can bring"
DO_NOTHING = ffi.callback("void (void *)", lambda data: None)


class Setting:
    """Streams, notifies and events that a program uses; the reset of the simulator ends them."""

    def __init__(self):
        assert rt.set_device(0) == 0
        self.one, self.two, self.three = (rt.create_stream()[0] for _ in range(3))
        self.n, self.m = (rt.create_notify(0)[0] for _ in range(2))
        self.flag, self.other = (rt.create_event_with_flag(FLAG_EVENT)[0] for _ in range(2))
        self.event = ex_event()
        self.value, _ = rt.malloc(64, 0)
        assert rt.memset(self.value, 64, 0, 64) == 0

    def finish(self):
        """End everything, after a right program."""
        for stream in self.one, self.two, self.three:
            assert rt.synchronize_stream(stream) == 0
            assert rt.destroy_stream(stream) == 0
        for notify in self.n, self.m:
            assert rt.destroy_notify(notify) == 0
        for event in self.flag, self.other, self.event:
            assert rt.destroy_event(event) == 0
        assert rt.free(self.value) == 0


@TABLE.program("circular-wait", CIRCLE)
def notifies_of_two_streams(s, right):
    if right:
        rt.record_notify(s.m, s.one)
    rt.wait_and_reset_notify(s.n, s.one, FOREVER)  # first
    if not right:
        rt.record_notify(s.m, s.one)
    rt.wait_and_reset_notify(s.m, s.two, FOREVER)  # second
    rt.record_notify(s.n, s.two)
    rt.synchronize_stream(s.one)


@TABLE.program("circular-wait", CIRCLE)
def flag_events_of_two_streams(s, right):
    if right:
        rt.record_event(s.other, s.one)
    rt.stream_wait_event(s.one, s.flag)  # first
    if not right:
        rt.record_event(s.other, s.one)
    rt.stream_wait_event(s.two, s.other)  # second
    rt.record_event(s.flag, s.two)
    rt.synchronize_stream(s.two)


@TABLE.program("circular-wait", CIRCLE)
def notifies_and_a_flag_event_of_three_streams(s, right):
    rt.stream_wait_event(s.one, s.flag)  # first
    rt.record_notify(s.n, s.one)
    rt.wait_and_reset_notify(s.n, s.two, FOREVER)
    rt.record_notify(s.m, s.two)
    if right:
        rt.record_event(s.flag, s.three)
    rt.wait_and_reset_notify(s.m, s.three, FOREVER)  # second
    rt.record_event(s.flag, s.three)
    rt.synchronize_stream(s.two)


@TABLE.program("circular-wait", "waits for aclrtRecordNotify, which is queued behind the wait")
def its_own_notify(s, right):
    if right:
        rt.record_notify(s.n, s.one)
    rt.wait_and_reset_notify(s.n, s.one, FOREVER)  # first
    if not right:
        rt.record_notify(s.n, s.one)  # second
    rt.synchronize_stream(s.one)


@TABLE.program("circular-wait", "waits for aclrtRecordEvent, which is queued behind the wait")
def its_own_flag_event(s, right):
    if right:
        rt.record_event(s.flag, s.one)
    rt.stream_wait_event(s.one, s.flag)  # first
    if not right:
        rt.record_event(s.flag, s.one)  # second
    rt.synchronize_stream(s.one)


@TABLE.program("circular-wait", CIRCLE)
def a_record_behind_the_wait_of_another_stream(s, right):
    rt.wait_and_reset_notify(s.n, s.one, FOREVER)  # first
    rt.record_event(s.event, s.one)
    if right:
        rt.record_notify(s.n, s.two)
    rt.stream_wait_event(s.two, s.event)  # second
    if not right:
        rt.record_notify(s.n, s.two)
    rt.synchronize_stream(s.two)


@TABLE.program("circular-wait", CIRCLE)
def values_of_two_streams(s, right):
    if right:
        rt.value_write(s.value + 8, 1, 0, s.one)
    rt.value_wait(s.value, 1, 1, s.one)  # first
    if not right:
        rt.value_write(s.value + 8, 1, 0, s.one)
    rt.value_wait(s.value + 8, 1, 1, s.two)  # second
    rt.value_write(s.value, 1, 0, s.two)
    rt.synchronize_stream(s.one)


@TABLE.program("circular-wait", "waits for aclrtRecordNotify, which is queued behind the wait")
def a_graph_that_waits_for_what_follows_it(s, right):
    begin(s.one)
    rt.wait_and_reset_notify(s.n, s.one, FOREVER)  # first
    graph = end(s.one)
    lib.aclmdlRIExecuteAsync(ffi.cast("aclmdlRI", graph), ffi.cast("aclrtStream", s.two))
    rt.record_notify(s.n, s.one if right else s.two)  # second
    rt.synchronize_stream(s.two)
    assert lib.aclmdlRIDestroy(ffi.cast("aclmdlRI", graph)) == 0


@TABLE.program("endless-wait", "a record of notify", NOTHING)
def a_notify_that_nobody_records(s, right):
    rt.wait_and_reset_notify(s.n, s.one, FOREVER)  # first
    if right:
        rt.record_notify(s.n, s.two)
    rt.synchronize_stream(s.one)  # second


@TABLE.program("endless-wait", "a record of its event", NOTHING)
def a_flag_event_that_nobody_records(s, right):
    rt.stream_wait_event(s.one, s.flag)  # first
    if right:
        rt.record_event(s.flag, s.two)
    rt.synchronize_stream(s.one)  # second


@TABLE.program("endless-wait", "the value at 0x", NOTHING)
def a_value_that_nobody_writes(s, right):
    rt.value_wait(s.value, 1, 1, s.one)  # first
    if right:
        rt.value_write(s.value, 1, 0, s.two)
    rt.synchronize_stream(s.one)  # second


@TABLE.program("endless-wait", "a record of its event", NOTHING)
def an_event_behind_an_endless_wait(s, right):
    rt.stream_wait_event(s.one, s.flag)  # first
    rt.record_event(s.event, s.one)
    if right:
        rt.record_event(s.flag, s.three)
    rt.stream_wait_event(s.two, s.event)
    rt.synchronize_event(s.event)  # second


@TABLE.program("endless-wait", "a record of notify", NOTHING)
def a_notify_whose_only_record_is_used_up(s, right):
    rt.record_notify(s.n, s.three)
    rt.wait_and_reset_notify(s.n, s.one, FOREVER)
    rt.synchronize_stream(s.one)
    if right:
        rt.record_notify(s.n, s.three)
    rt.wait_and_reset_notify(s.n, s.two, FOREVER)  # first
    rt.synchronize_device()  # second


@TABLE.program("unserved-callback", "waits in aclrtSynchronizeStream")
def a_callback_that_no_thread_makes(s, right):
    subscribed = threading.Event()

    def serve():
        assert subscribed.wait() and rt.set_device(0) == 0 and rt.process_report(10000) == 0

    server = threading.Thread(target=serve)
    if right:
        server.start()
    thread = server.ident if right else threading.get_ident()
    rt.subscribe_report(thread, s.one)
    subscribed.set()
    lib.aclrtLaunchCallback(DO_NOTHING, ffi.NULL, BLOCK, ffi.cast("aclrtStream", s.one))  # first
    rt.synchronize_stream(s.one)  # second
    if right:
        server.join()
        rt.unsubscribe_report(thread, s.one)
