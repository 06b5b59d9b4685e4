"""What labels and switches refuse, and what they say."""

import pytest
from helpers.capture import HEAD, NOT_HEAD, begin, building, in_other_context
from helpers.expect import NULL, in_thread, pointer, refused

import acl
from acl._lib import ffi, lib


def new_label():
    place = ffi.new("aclrtLabel *")
    assert lib.aclrtCreateLabel(place) == 0
    return place[0]


def new_list(*labels):
    place = ffi.new("aclrtLabelList *")
    assert lib.aclrtCreateLabelList(ffi.new("aclrtLabel[]", labels), len(labels), place) == 0
    return place[0]


@pytest.fixture
def label(device):
    """Make a label that is in a list."""
    label = new_label()
    group = new_list(label)
    yield label
    lib.aclrtDestroyLabelList(group)
    lib.aclrtDestroyLabel(label)


@pytest.fixture
def block(device):
    """Give the address of a block of device memory."""
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    yield address
    acl.rt.free(address)


P1 = pointer(1)


def switch(left=P1, cond=0, right=P1, kind=0, to=P1, otherwise=NULL, stream=P1):
    return lib.aclrtSwitchStream(left, cond, right, kind, to, otherwise, stream)


@pytest.mark.parametrize(
    ("name", "said", "call"),
    [
        ("aclrtCreateLabel", "label is NULL", lambda: lib.aclrtCreateLabel(NULL)),
        ("aclrtDestroyLabel", "label is NULL", lambda: lib.aclrtDestroyLabel(NULL)),
        ("aclrtSetLabel", "label is NULL", lambda: lib.aclrtSetLabel(NULL, P1)),
        ("aclrtSetLabel", "stream is NULL", lambda: lib.aclrtSetLabel(P1, NULL)),
        ("aclrtCreateLabelList", "labels is NULL", lambda: lib.aclrtCreateLabelList(NULL, 1, P1)),
        ("aclrtCreateLabelList", "labelList is NULL", lambda: lib.aclrtCreateLabelList(P1, 1, NULL)),
        ("aclrtDestroyLabelList", "labelList is NULL", lambda: lib.aclrtDestroyLabelList(NULL)),
        ("aclrtSwitchLabelByIndex", "ptr is NULL", lambda: lib.aclrtSwitchLabelByIndex(NULL, 1, P1, P1)),
        ("aclrtSwitchLabelByIndex", "labelList is NULL", lambda: lib.aclrtSwitchLabelByIndex(P1, 1, NULL, P1)),
        ("aclrtSwitchLabelByIndex", "stream is NULL", lambda: lib.aclrtSwitchLabelByIndex(P1, 1, P1, NULL)),
        ("aclrtActiveStream", "activeStream is NULL", lambda: lib.aclrtActiveStream(NULL, P1)),
        ("aclrtActiveStream", "stream is NULL", lambda: lib.aclrtActiveStream(P1, NULL)),
        ("aclrtSwitchStream", "leftValue is NULL", lambda: switch(left=NULL)),
        ("aclrtSwitchStream", "rightValue is NULL", lambda: switch(right=NULL)),
        ("aclrtSwitchStream", "trueStream is NULL", lambda: switch(to=NULL)),
        ("aclrtSwitchStream", "stream is NULL", lambda: switch(stream=NULL)),
        ("aclrtSwitchStream", "falseStream is 0x1", lambda: switch(otherwise=P1)),
    ],
)
def test_checks_of_the_entry_layer(device, name, said, call):
    acl.rt.get_last_error(0)
    refused(call(), 100000, name, said)
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["destroyed", "stream", "garbage"])
@pytest.mark.parametrize(
    "name", ["aclrtDestroyLabel", "aclrtSetLabel", "aclrtCreateLabelList", "aclrtDestroyLabelList"]
)
def test_dead_and_foreign_handles(stream, name, kind):
    gone = new_label()
    assert lib.aclrtDestroyLabel(gone) == 0
    dead = {"destroyed": gone, "stream": pointer(stream), "garbage": pointer(0xDEADBEEF12345678)}[kind]
    calls = {
        "aclrtDestroyLabel": lambda: lib.aclrtDestroyLabel(dead),
        "aclrtSetLabel": lambda: lib.aclrtSetLabel(dead, pointer(stream)),
        "aclrtCreateLabelList": lambda: lib.aclrtCreateLabelList(
            ffi.new("aclrtLabel *", dead), 1, ffi.new("aclrtLabelList *")
        ),
        "aclrtDestroyLabelList": lambda: lib.aclrtDestroyLabelList(dead),
    }
    refused(calls[name](), 107017, name, "abel", "expected a live label")


def test_lists_are_checked(label):
    place, loose = ffi.new("aclrtLabelList *"), new_label()
    array = ffi.new("aclrtLabel[3]", [loose, NULL, NULL])

    def create(count):
        return lib.aclrtCreateLabelList(array, count, place)

    refused(create(0), 107000, "aclrtCreateLabelList", "num is 0")
    refused(create(65536), 107000, "aclrtCreateLabelList", "num is 65536")
    refused(create(2), 107000, "aclrtCreateLabelList", "is NULL")
    array[1] = label
    refused(create(2), 507000, "aclrtCreateLabelList", "in a list already")
    array[1] = loose
    refused(create(2), 507000, "aclrtCreateLabelList", "in a list already")
    assert create(1) == 0  # none of these has taken it
    assert lib.aclrtDestroyLabelList(place[0]) == 0
    assert create(1) == 0
    assert lib.aclrtDestroyLabelList(place[0]) == 0
    assert lib.aclrtDestroyLabel(loose) == 0


def test_labels_of_another_context(label, stream):
    refused(in_other_context(lambda: lib.aclrtDestroyLabel(label)), 507031)
    array = ffi.new("aclrtLabel *", label)
    assert in_other_context(lambda: lib.aclrtCreateLabelList(array, 1, ffi.new("aclrtLabelList *"))) == 507031
    assert in_other_context(lambda: lib.aclrtSetLabel(label, pointer(stream))) == 107003


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("aclrtCreateLabel", lambda label: lib.aclrtCreateLabel(ffi.new("aclrtLabel *"))),
        ("aclrtDestroyLabel", lambda label: lib.aclrtDestroyLabel(label)),
        (
            "aclrtCreateLabelList",
            lambda label: lib.aclrtCreateLabelList(ffi.new("aclrtLabel *"), 1, ffi.new("aclrtLabelList *")),
        ),
    ],
)
def test_without_a_context(label, name, call):
    in_thread(lambda: refused(call(label), 107002, name, "no current context"))


def test_bound_streams_belong_to_their_context(label, block):
    """What is queued on them is refused elsewhere, and without a context."""
    place, group = pointer(block), ffi.new("aclrtLabelList *")
    loose = new_label()
    assert lib.aclrtCreateLabelList(ffi.new("aclrtLabel *", loose), 1, group) == 0
    with building(HEAD, NOT_HEAD) as (_, (main, second)):
        stream, to = pointer(main), pointer(second)
        for name, call in {
            "aclrtSetLabel": lambda: lib.aclrtSetLabel(label, stream),
            "aclrtSwitchLabelByIndex": lambda: lib.aclrtSwitchLabelByIndex(place, 1, group[0], stream),
            "aclrtActiveStream": lambda: lib.aclrtActiveStream(to, stream),
            "aclrtSwitchStream": lambda: switch(place, 0, place, 0, to, NULL, stream),
        }.items():
            in_thread(lambda call=call, name=name: refused(call(), 107002, name, "no current context"))
            in_other_context(lambda call=call, name=name: refused(call(), 107003, name, "another context"))
    assert lib.aclrtDestroyLabelList(group[0]) == 0
    assert lib.aclrtDestroyLabel(loose) == 0


def test_a_label_of_another_context_is_not_set(device):
    own, _ = acl.rt.get_context()
    other, ret = acl.rt.create_context(0)
    assert ret == 0
    label = new_label()
    group = new_list(label)
    assert acl.rt.set_context(own) == 0
    with building(HEAD) as (_, (bound,)):
        refused(lib.aclrtSetLabel(label, pointer(bound)), 507031, "aclrtSetLabel", "belongs to another context")
    assert acl.rt.set_context(other) == 0
    assert lib.aclrtDestroyLabelList(group) == 0
    assert lib.aclrtDestroyLabel(label) == 0
    assert acl.rt.destroy_context(other) == 0


def test_one_of_two_streams_is_bound(stream):
    with building(HEAD) as (_, (bound,)):
        refused(acl.rt.active_stream(bound, stream), 107005, "aclrtActiveStream", "stream is not bound")
        refused(acl.rt.active_stream(stream, bound), 107005, "aclrtActiveStream", "is not bound to modelRI")


def test_streams_that_are_not_bound(label, stream, other, block):
    at, name = pointer(block), "expected aclmdlRIBindStream before"
    refused(acl.rt.active_stream(other, stream), 107005, "aclrtActiveStream", name)
    refused(lib.aclrtSetLabel(label, pointer(stream)), 107005, "aclrtSetLabel", name)
    refused(lib.aclrtSwitchLabelByIndex(at, 1, P1, pointer(stream)), 107005, "aclrtSwitchLabelByIndex", name)
    ret = switch(at, 0, at, 0, pointer(other), NULL, pointer(stream))
    refused(ret, 107005, "aclrtSwitchStream", name)
    begin(stream)
    refused(lib.aclrtSetLabel(label, pointer(stream)), 107027, "aclrtSetLabel", "is being captured")
    assert acl.mdl.ri_capture_end(stream)[1] == 0


def test_setting_is_checked(device):
    loose = new_label()
    with building(HEAD, NOT_HEAD) as (_, (bound, second)):
        refused(lib.aclrtSetLabel(loose, pointer(bound)), 507000, "aclrtSetLabel", "is not in a list")
        group = new_list(loose)
        assert lib.aclrtSetLabel(loose, pointer(bound)) == 0
        for stream in (bound, second):
            refused(lib.aclrtSetLabel(loose, pointer(stream)), 507000, "aclrtSetLabel", "is set already")
    assert lib.aclrtDestroyLabelList(group) == 0
    assert lib.aclrtDestroyLabel(loose) == 0


def test_jumps_are_checked(device, block):
    label = new_label()
    group, at = new_list(label), pointer(block)
    with building(HEAD) as (instance, (bound,)):
        stream = pointer(bound)

        def jump(place=at, most=1, labels=group):
            return lib.aclrtSwitchLabelByIndex(place, most, labels, stream)

        refused(jump(most=0), 107000, "aclrtSwitchLabelByIndex", "maxValue is 0")
        refused(jump(most=2), 107000, "aclrtSwitchLabelByIndex", "maxValue is 2")
        refused(jump(place=pointer(64)), 107000, "aclrtSwitchLabelByIndex", "ptr is 0x40")
        refused(jump(labels=label), 107017, "aclrtSwitchLabelByIndex", "labelList is", "a live label")
        assert jump() == 0
        assert acl.mdl.ri_end_task(instance, bound) == 0
        refused(acl.mdl.ri_build_end(instance), 507000, "aclmdlRIBuildEnd", "is not set in the instance")
        assert lib.aclrtSetLabel(label, stream) == 0
        assert lib.aclrtDestroyLabelList(group) == 0
        refused(acl.mdl.ri_build_end(instance), 107017, "aclmdlRIBuildEnd", "labelList is")
    assert lib.aclrtDestroyLabel(label) == 0


def test_switches_are_checked(block, other):
    at = pointer(block)
    with building(HEAD, NOT_HEAD) as (_, (bound, to)):

        def go(**changes):
            good = {"left": at, "right": at, "to": pointer(to), "stream": pointer(bound)}
            return switch(**{**good, **changes})

        refused(go(cond=6), 107000, "aclrtSwitchStream", "cond is 6")
        refused(go(kind=2), 107000, "aclrtSwitchStream", "dataType is 2")
        refused(go(left=pointer(64)), 107000, "aclrtSwitchStream", "leftValue is 0x40")
        refused(go(right=pointer(block + 2**20)), 107000, "aclrtSwitchStream", "rightValue")
        refused(go(to=pointer(bound)), 107005, "aclrtSwitchStream", "starts with modelRI")
        refused(go(to=pointer(other)), 107005, "aclrtSwitchStream", "not bound")
        if acl.is_simulator:
            refused(go(to=P1), 107017, "aclrtSwitchStream", "stream is 0x1")
        assert in_other_context(lambda: go()) == 107003
        assert go() == 0


@pytest.mark.needs_sim
def test_a3_has_no_streams_that_start_one_another(run_script):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
one = ffi.cast("void *", 1)
for call in (
    lambda: lib.aclrtActiveStream(one, one),
    lambda: lib.aclrtSwitchStream(one, 0, one, 0, one, ffi.NULL, one),
):
    assert call() == 207000
    assert "no streams that activate other streams" in acl.get_recent_err_msg()
assert lib.aclrtCreateLabel(ffi.new("aclrtLabel *")) == 0
"""
    done = run_script(code, {"ACL_SIM_SOC": "Ascend910_9391"})
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_sim
def test_labels_run_out(run_script):
    code = """
import acl
from acl._lib import ffi, lib
acl.rt.set_device(0)
place = ffi.new("aclrtLabel *")
assert {lib.aclrtCreateLabel(place) for _ in range(65535)} == {0}
assert lib.aclrtCreateLabel(place) == 507000
assert "65535" in acl.get_recent_err_msg()
assert lib.aclrtDestroyLabel(place[0]) == 0
assert lib.aclrtCreateLabel(place) == 0
"""
    done = run_script(code)
    assert done.returncode == 0, done.stderr
