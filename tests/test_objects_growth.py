"""Rounds of making and dropping: nothing grows, whether it was closed or not."""

import gc
import os
import sys
import warnings

import pytest

import acl

pytestmark = pytest.mark.usefixtures("opened")
ROUNDS = int(os.environ.get("ACL_ROUNDS", 100_000))
PAGE = os.sysconf("SC_PAGESIZE")
COSTLY = {"communicator": 10}  # to create: so many times fewer rounds
MAKE = {
    "stream": acl.Stream,
    "event": acl.Event,
    "gate": lambda: acl.Event(gate=True),
    "buffer": lambda: acl.Buffer(64),
    "pinned": lambda: acl.Buffer(64, kind="host"),
    "array": lambda: acl.DeviceArray(4),
    "context": acl.Context,
    "communicator": lambda: acl.Communicator.all([0])[0],
    "device": lambda: acl.Device(0),
}


def resident():
    with open("/proc/self/statm", encoding="ascii") as text:
        return int(text.read().split()[1]) * PAGE


def handles():
    return acl.rt.get_stream_available_num(), acl.rt.get_event_avail_num(), acl.Device().memory_info()


@pytest.mark.parametrize("end", ["close", "drop"])
@pytest.mark.parametrize("name", MAKE)
def test_nothing_grows(name, end, opened):
    make, most = MAKE[name], ROUNDS // COSTLY.get(name, 1)

    def rounds(count):
        for _ in range(count):
            thing = make()
            if end == "close" and not isinstance(thing, acl.Device):
                thing.close()
            else:
                del thing
        opened.use()  # a context that was dropped leaves none

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        rounds(most // 20)
        gc.collect()
        before, blocks, memory = handles(), sys.getallocatedblocks(), resident()
        rounds(most)
        gc.collect()
    assert handles() == before
    assert sys.getallocatedblocks() - blocks < 500
    assert resident() - memory < 4 << 20


def test_views_do_not_grow():
    array = acl.DeviceArray((4, 4))
    before = None
    for count in (ROUNDS // 20, ROUNDS // 4):
        for _ in range(count):
            array.T  # noqa: B018
        gc.collect()
        before, blocks = sys.getallocatedblocks(), before
    assert before - blocks < 500


def test_references_in_a_circle_are_found():
    """The types in C take part in the collection of garbage."""

    class Owner(acl.Event):
        pass

    before = acl.rt.get_event_avail_num()
    with pytest.warns(ResourceWarning, match="unclosed <acl.Owner"):
        event = Owner()
        event.itself = event
        del event
        gc.collect()
    assert acl.rt.get_event_avail_num() == before
