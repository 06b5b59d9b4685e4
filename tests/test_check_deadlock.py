"""The checker of deadlocks and the watchdog, as Python programs see them; the faulty programs are in the corpus."""

import json
import threading

import pytest
from helpers.programs import run_script

import acl
from acl import rt

pytestmark = pytest.mark.needs_sim
FOREVER = 0


@pytest.fixture
def checked(configure):
    """Switch the checker on, with exceptions for its findings; open device 0."""
    configure(check="deadlock", on_finding="raise", findings="/dev/null")
    assert rt.set_device(0) == 0


@pytest.fixture
def streams(checked):
    """Make two streams, which the reset of the simulator ends."""
    return [rt.create_stream()[0] for _ in range(2)]


@pytest.fixture
def notify(checked):
    """Make a notify."""
    return rt.create_notify(0)[0]


def rules():
    return [finding.rule for finding in acl.sim.findings()]


def test_a_waiting_call_is_ended_by_the_exception_and_the_wait_goes_on(streams, notify):
    assert rt.wait_and_reset_notify(notify, streams[0], FOREVER) == 0
    with pytest.raises(acl.sim.FindingError, match="endless-wait: stream .* waits for a record of notify") as error:
        rt.synchronize_stream(streams[0])
    (finding,) = error.value.findings
    assert (finding.check, finding.level) == ("deadlock", "error")
    host, stream = finding.notes
    assert host.text.startswith("aclrtSynchronizeStream waits for task ")
    assert stream.text.startswith("aclrtWaitAndResetNotify, task ")
    assert stream.text.endswith(" waits for a record of notify 1")
    assert {note.site.partition(":")[0] for note in (host, stream)} == {__file__}
    assert {note.thread for note in (host, stream)} == {threading.get_native_id()}
    assert rt.record_notify(notify, streams[1]) == 0  # the wait is what it was
    assert rt.synchronize_stream(streams[0]) == 0
    assert rules() == ["endless-wait"]


def test_the_same_deadlock_is_reported_once(streams, notify):
    assert rt.wait_and_reset_notify(notify, streams[0], FOREVER) == 0
    with pytest.raises(acl.sim.FindingError):
        rt.synchronize_stream(streams[0])
    done = []

    def wait():
        assert rt.set_device(0) == 0
        done.append(rt.synchronize_stream(streams[0]))

    thread = threading.Thread(target=wait)
    thread.start()
    assert rt.synchronize_stream_with_timeout(streams[0], 120) == 507046
    assert rt.record_notify(notify, streams[1]) == 0
    thread.join()
    assert done == [0] and rules() == ["endless-wait"]


def test_objects_raise_the_exception_too(checked):
    with acl.Device(0), acl.Stream() as stream:
        notify, _ = rt.create_notify(0)
        assert rt.wait_and_reset_notify(notify, stream.handle, FOREVER) == 0
        with pytest.raises(acl.sim.FindingError):
            stream.synchronize()
        assert rt.record_notify(notify, stream.handle) == 0
        assert rt.stream_abort(stream.handle) == 0


def test_another_thread_may_record(streams, notify):
    assert rt.wait_and_reset_notify(notify, streams[0], FOREVER) == 0
    ready, go = threading.Event(), threading.Event()

    def record():
        assert rt.set_device(0) == 0
        ready.set()
        go.wait()
        assert rt.record_notify(notify, streams[1]) == 0

    thread = threading.Thread(target=record)
    thread.start()
    ready.wait()
    assert rt.synchronize_stream_with_timeout(streams[0], 60) == 507046
    go.set()
    assert rt.synchronize_stream(streams[0]) == 0
    thread.join()
    assert rules() == []


def test_a_held_stream_is_none(streams, notify):
    acl.sim.hold(streams[0])
    assert rt.record_notify(notify, streams[0]) == 0
    assert rt.wait_and_reset_notify(notify, streams[1], FOREVER) == 0
    assert rt.synchronize_stream_with_timeout(streams[1], 60) == 507046
    acl.sim.release(streams[0])
    assert rt.synchronize_stream(streams[1]) == 0
    assert rules() == []


def test_a_synchronise_inside_a_callback_of_the_stream_is_refused_and_no_finding(streams):
    codes = []
    stop = threading.Event()

    def serve():
        assert rt.set_device(0) == 0
        while not stop.is_set():
            rt.process_report(1000)

    server = threading.Thread(target=serve)
    server.start()
    assert rt.subscribe_report(server.ident, streams[0]) == 0
    call = lambda data: codes.append(rt.synchronize_stream(streams[0]))  # noqa: E731
    assert rt.launch_callback(call, None, 1, streams[0]) == 0
    assert rt.synchronize_stream(streams[0]) == 0
    assert rt.launch_callback(lambda data: stop.set(), None, 1, streams[0]) == 0
    assert rt.synchronize_stream(streams[0]) == 0
    server.join()
    assert rules() == [] and codes == [507000]


def test_the_watchdog_reports_what_each_waits_for(configure):
    configure(watchdog="30ms", findings="/dev/null")
    assert rt.set_device(0) == 0
    one, two = (rt.create_stream()[0] for _ in range(2))
    notify, _ = rt.create_notify(0)
    assert rt.wait_and_reset_notify(notify, one, FOREVER) == 0

    def wait():
        assert rt.set_device(0) == 0
        assert rt.synchronize_stream(one) == 0

    thread = threading.Thread(target=wait)
    thread.start()
    acl.sim.hold(two)
    while not acl.sim.findings():
        assert rt.synchronize_stream_with_timeout(two, 20) == 507046
    finding = acl.sim.findings()[0]
    assert rt.record_notify(notify, two) == 0
    acl.sim.release(two)
    thread.join()
    assert (finding.check, finding.rule, finding.level) == ("deadlock", "no-progress", "warning")
    assert finding.text.startswith("no task has finished and no call has returned for 0.03 s; waiting: ")
    texts = "\n".join(note.text for note in finding.notes if note.label == "waits")
    assert "waits for a record of notify 1" in texts


def test_a_program_is_aborted_at_a_deadlock():
    program = (
        "from acl import rt\n"
        "rt.set_device(0)\n"
        "stream, _ = rt.create_stream()\n"
        "notify, _ = rt.create_notify(0)\n"
        "rt.wait_and_reset_notify(notify, stream, 0)\n"
        "rt.record_notify(notify, stream)\n"
        "rt.synchronize_stream(stream)\n"
    )
    done = run_script(program, {"ACL_SIM_CHECK": "deadlock", "ACL_SIM_ON_FINDING": "abort"})
    assert done.returncode == -6
    assert "circular-wait" in done.stderr and "queued behind: aclrtRecordNotify, task 2" in done.stderr


@pytest.mark.parametrize("time", ["30", "0s", "1h", "86401s", "-1s", "s"])
def test_a_wrong_time_of_the_watchdog(configure, time):
    with pytest.raises(ValueError, match='expected "none", or a time such as 30s or 500ms, up to a day'):
        configure(watchdog=time)


def test_json_has_the_checker_s_name(configure, tmp_path):
    path = tmp_path / "found.json"
    configure(check="deadlock", findings=str(path), on_finding="raise")
    assert rt.set_device(0) == 0
    stream, _ = rt.create_stream()
    notify, _ = rt.create_notify(0)
    assert rt.wait_and_reset_notify(notify, stream, FOREVER) == 0
    assert rt.record_notify(notify, stream) == 0
    with pytest.raises(acl.sim.FindingError):
        rt.synchronize_stream(stream)
    found = json.loads(path.read_text())
    assert (found["check"], found["rule"]) == ("deadlock", "circular-wait")
    assert [note["label"] for note in found["notes"]] == ["waits", "queued behind"]
