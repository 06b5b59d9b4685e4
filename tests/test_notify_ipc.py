"""Notifies of several processes: recorded in one, waited for in another."""

import pytest
from helpers.processes import processes

LATCH = 507046  # a stream that does not get on
RECORD = "acl.rt.record_notify(notify, stream)"
WAIT = "acl.rt.wait_and_reset_notify(notify, stream, 0)"
WAITS = "acl.rt.synchronize_stream_with_timeout(stream, 1)"
DONE = "acl.rt.synchronize_stream(stream)"


def share(maker, *others, flags=2):
    """Have a process make a notify that others open, as ``notify`` in each."""
    maker("notify, ret = acl.rt.create_notify(0)")
    key, ret = maker(f"acl.rt.notify_get_export_key(notify, 65, {flags})")
    assert ret == 0
    for other in others:
        other(f"notify, ret = acl.rt.notify_import_by_key({key!r}, 0)")
        assert other("ret") == 0
    return key


@pytest.fixture
def pair():
    """Start two processes."""
    with processes(2) as two:
        yield two


def test_a_record_of_another_process_lets_one_wait_pass(pair):
    maker, other = pair
    share(maker, other)
    maker("passed, ret = acl.rt.create_event()")
    assert maker(WAIT) == maker("acl.rt.record_event(passed, stream)") == maker(WAIT) == 0
    assert maker(WAITS) == LATCH
    assert other(RECORD) == 0
    assert other(DONE) == 0
    assert maker("acl.rt.synchronize_event(passed)") == 0  # before that, a second record would set what is set
    assert maker(WAITS) == LATCH  # the second one
    assert other(RECORD) == 0
    assert maker(DONE) == 0


def test_both_directions(pair):
    one, other = pair
    share(one, other)
    assert other("theirs := acl.rt.create_notify(0)")[1] == 0
    key, ret = other("acl.rt.notify_get_export_key(theirs[0], 65, 2)")
    assert one(f"back := acl.rt.notify_import_by_key({key!r}, 0)")[1] == 0
    for _ in range(20):
        assert one(WAIT) == 0
        assert one("acl.rt.record_notify(back[0], stream)") == 0
        assert other(RECORD) == 0
        assert other("acl.rt.wait_and_reset_notify(theirs[0], stream, 0)") == 0
        assert other(DONE) == one(DONE) == 0


def test_what_was_recorded_before_the_export_is_remembered(pair):
    maker, other = pair
    maker("notify, ret = acl.rt.create_notify(0)")
    assert maker(RECORD) == 0
    assert maker(DONE) == 0
    key = maker("acl.rt.notify_get_export_key(notify, 65, 2)")[0]
    other(f"notify, ret = acl.rt.notify_import_by_key({key!r}, 0)")
    assert other(WAIT) == 0  # both are on device 0
    assert other(DONE) == 0
    assert maker(WAIT) == 0
    assert maker(WAITS) == LATCH
    assert maker(RECORD.replace("stream)", "acl.rt.create_stream()[0])")) == 0
    assert maker(DONE) == 0


def test_a_wait_from_before_the_export_goes_on(pair):
    maker, other = pair
    maker("notify, ret = acl.rt.create_notify(0)")
    assert maker(WAIT) == 0
    assert maker(WAITS) == LATCH
    key = maker("acl.rt.notify_get_export_key(notify, 65, 2)")[0]
    other(f"notify, ret = acl.rt.notify_import_by_key({key!r}, 0)")
    assert other(RECORD) == 0
    assert maker(DONE) == 0


@pytest.mark.strict
def test_a_wait_has_a_limit(pair):
    maker, other = pair
    share(maker, other)
    assert maker("acl.rt.wait_and_reset_notify(notify, stream, 1)") == 0
    maker.refused(DONE, 107020, "timed out")
    assert other(RECORD) == 0
    assert other(DONE) == 0
    assert maker(WAIT) == 0
    assert maker(DONE) == 0


def test_three_processes_record_for_one():
    with processes(4) as four:
        share(*four)
        for process in four[1:]:
            assert four[0](WAIT) == 0
            assert four[0](WAITS) == LATCH
            assert process(RECORD) == 0
            assert four[0](DONE) == 0


@pytest.mark.strict
def test_a_batch_reset_clears_the_flag_for_all(pair):
    maker, other = pair
    share(maker, other)
    assert other(RECORD) == 0
    assert other(DONE) == 0
    assert maker("acl.rt.notify_batch_reset([notify])") == 0
    assert maker(WAIT) == 0
    assert maker(WAITS) == LATCH
    assert other(RECORD) == 0
    assert maker(DONE) == 0


@pytest.mark.needs_sim
def test_a_maker_that_is_gone_is_told_of(pair):
    maker, other = pair
    key = share(maker, other)
    assert other(WAIT) == 0
    other.begin(DONE)
    maker.kill()
    assert other.end() == 507901
    other("acl.get_recent_err_msg()")
    assert other(RECORD) == 0
    other.refused(DONE, 507901, "the process that created the notify has exited")
    other.refused(f"acl.rt.notify_import_by_key({key!r}, 0)", 107000, "has exited or belongs to another user")
    assert other("acl.rt.destroy_notify(notify)") == 0


def test_only_listed_processes_open_a_notify(pair):
    maker, other = pair
    key = share(maker, flags=0)
    other.refused(f"acl.rt.notify_import_by_key({key!r}, 0)", 207006)
    assert maker(f"acl.rt.notify_set_import_pid(notify, [{other.pid}])") == 0
    assert other(f"acl.rt.notify_import_by_key({key!r}, 0)")[1] == 0


@pytest.mark.strict
def test_each_side_destroys_its_own_notify(pair):
    maker, other = pair
    key = share(maker, other)
    assert maker("acl.rt.destroy_notify(notify)") == 0
    other.refused(f"acl.rt.notify_import_by_key({key!r}, 0)", 107000, "closed it")
    assert other(RECORD) == 0
    assert other(DONE) == 0
    assert other("acl.rt.destroy_notify(notify)") == 0
    share(maker, other)  # a page that was given back, or a new one, begins with nothing set
    assert maker(WAIT) == 0
    assert maker(WAITS) == LATCH
    assert other(RECORD) == 0
    assert maker(DONE) == 0


@pytest.mark.needs_sim
@pytest.mark.parametrize("flags", [0, 2])
def test_a_notify_of_another_device_is_recorded_with_peer_access(flags):
    with processes(1, ACL_SIM_DEVICES=2) as makers, processes(1, device=1, ACL_SIM_DEVICES=2) as others:
        maker, other = makers[0], others[0]
        key = share(maker)
        other(f"notify, ret = acl.rt.notify_import_by_key({key!r}, {flags})")
        assert other(RECORD) == 0
        if flags == 0:
            other.refused(DONE, 507053, "has no access to")
            assert other("acl.rt.device_enable_peer_access(0, 0)") == 0
            assert other(RECORD) == 0
        assert other(DONE) == 0
        assert maker(WAIT) == 0
        assert maker(DONE) == 0
        other.refused(WAIT, 107000, "expected a stream of the device that it was made on")
