"""Allocators that the program supplies: their descriptions, and the workspace they give to single operators."""

import numpy
import pytest
from helpers.expect import NULL, pointer, refused
from helpers.single import Single
from helpers.tensors import Device

import acl
from acl._lib import ffi, lib

P310B = "Ascend310B1"
OBJECT = 0x1234
SIZE = 1 << 20
OUTPUTS = ("aclrtAllocatorDesc *", "aclrtAllocator *", "aclrtAllocatorAllocFunc *", "aclrtAllocatorFreeFunc *",
           "aclrtAllocatorAllocAdviseFunc *", "aclrtAllocatorGetAddrFromBlockFunc *")  # fmt: skip
SETTERS = {
    "al": acl.rt.allocator_set_alloc_func_to_desc,
    "fr": acl.rt.allocator_set_free_func_to_desc,
    "ad": acl.rt.allocator_set_get_addr_from_block_func_to_desc,
}


class Allocator:
    """An allocator of the test's: one block of device memory, and what was asked of it."""

    def __init__(self, size=SIZE):
        self.asked = []
        self.address, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        self.block = 0x77
        self.desc = acl.rt.allocator_create_desc()
        assert self.desc != 0
        assert acl.rt.allocator_set_obj_to_desc(self.desc, OBJECT) == 0
        assert acl.rt.allocator_set_alloc_func_to_desc(self.desc, self.allocate) == 0
        assert acl.rt.allocator_set_free_func_to_desc(self.desc, self.free) == 0
        assert acl.rt.allocator_set_get_addr_from_block_func_to_desc(self.desc, self.find) == 0

    def allocate(self, obj, size):
        self.asked.append(("allocate", obj, size))
        return self.block

    def free(self, obj, block):
        self.asked.append(("free", obj, block))

    def find(self, block):
        self.asked.append(("find", block))
        return self.address

    def close(self):
        """Free the block; the description may be gone already."""
        acl.rt.allocator_destroy_desc(self.desc)
        acl.rt.free(self.address)


@pytest.fixture
def allocator(device):
    """Make an allocator with a complete description."""
    made = Allocator()
    yield made
    made.close()


@pytest.fixture
def single(device):
    """Give operands of single operators."""
    npu = Device()
    made = Single(npu)
    yield made
    made.close()
    npu.close()


def registered(stream):
    """Return what aclrtAllocatorGetByStream writes, and its code."""
    outputs = [ffi.new(kind) for kind in OUTPUTS]
    ret = lib.aclrtAllocatorGetByStream(pointer(stream), *outputs)
    return [int(ffi.cast("uintptr_t", output[0])) for output in outputs], ret


def test_a_registered_allocator_is_told(stream, other, allocator):
    assert acl.rt.allocator_register(stream, allocator.desc) == 0
    found, ret = registered(stream)
    assert ret == 0
    assert found[:2] == [allocator.desc, OBJECT]
    assert [bool(function) for function in found[2:]] == [True, True, False, True]
    refused(registered(other)[1], 107000, "no allocator is registered", "aclrtAllocatorRegister")


def test_an_advising_function_is_told_too(stream, allocator):
    assert acl.rt.allocator_set_alloc_advise_func_to_desc(allocator.desc, lambda obj, size, address: 0) == 0
    assert acl.rt.allocator_register(stream, allocator.desc) == 0
    assert registered(stream)[0][4] != 0


def test_the_last_registration_counts_and_outlives_its_description(stream, allocator):
    second = Allocator()
    assert acl.rt.allocator_register(stream, allocator.desc) == 0
    assert acl.rt.allocator_register(stream, second.desc) == 0
    assert acl.rt.allocator_destroy_desc(second.desc) == 0
    assert registered(stream)[0][0] == second.desc
    second.close()


def test_changing_a_description_does_not_change_what_was_registered(stream, allocator):
    assert acl.rt.allocator_register(stream, allocator.desc) == 0
    assert acl.rt.allocator_set_obj_to_desc(allocator.desc, OBJECT + 1) == 0
    assert registered(stream)[0][1] == OBJECT


def test_unregistering_may_be_repeated(stream, allocator):
    assert acl.rt.allocator_register(stream, allocator.desc) == 0
    for _ in range(2):
        assert acl.rt.allocator_unregister(stream) == 0
        assert registered(stream)[1] == 107000


@pytest.mark.needs_sim
class TestUse:
    """What single operators do with it."""

    @pytest.fixture
    def run(self, single):
        """Give a call of an operator that wants workspace and writes its first byte to its output."""

        @acl.sim.kernel("AddCustom", plan=lambda inputs, outputs, attributes: SIZE)
        def run(inputs, outputs, attributes):
            outputs[0][...] = 3

        yield lambda: single.run("AddCustom", [], (2,), "f4").tolist()
        acl.rt.allocator_unregister(single.npu.stream)

    def test_workspace_is_asked_for_once_a_call_and_given_back(self, run, single, allocator):
        assert acl.rt.allocator_register(single.npu.stream, allocator.desc) == 0
        free = acl.rt.get_mem_info(1)[0]
        for _ in range(2):
            assert run() == [3, 3]
        call = [("allocate", OBJECT, SIZE), ("find", allocator.block), ("free", OBJECT, allocator.block)]
        assert allocator.asked == call * 2
        assert free - acl.rt.get_mem_info(1)[0] < SIZE

    def test_other_streams_and_operators_do_not_ask(self, run, single, stream, allocator):
        assert acl.rt.allocator_register(stream, allocator.desc) == 0
        assert run() == [3, 3]
        assert acl.rt.allocator_register(single.npu.stream, allocator.desc) == 0
        ones = numpy.ones(2, "f4")
        assert single.run("Add", [single.give(ones), single.give(ones)], (2,), "f4").tolist() == [2, 2]
        assert allocator.asked == []

    def test_after_unregistering_it_is_not_asked(self, run, single, allocator):
        assert acl.rt.allocator_register(single.npu.stream, allocator.desc) == 0
        assert acl.rt.allocator_unregister(single.npu.stream) == 0
        assert run() == [3, 3]
        assert allocator.asked == []

    @pytest.mark.parametrize(
        ("change", "code", "words"),
        [
            ({"block": 0}, 207001, ["returned NULL", str(SIZE)]),
            ({"address": 0}, 207001, ["returned NULL as the address", "0x77"]),
        ],
    )
    def test_an_allocator_without_memory(self, run, single, allocator, change, code, words):
        kept = allocator.address
        vars(allocator).update(change)
        assert acl.rt.allocator_register(single.npu.stream, allocator.desc) == 0
        refused(single.call("AddCustom", [], [single.take((2,), "f4")]), code, "aclopExecuteV2", *words)
        assert ("free" in [row[0] for row in allocator.asked]) == ("address" in change)
        allocator.address = kept

    def test_memory_that_is_too_small_is_refused(self, run, single):
        small = Allocator(64)
        assert acl.rt.allocator_register(single.npu.stream, small.desc) == 0
        ret = single.call("AddCustom", [], [single.take((2,), "f4")])
        refused(ret, 107000, "workspace", "expected at most")
        assert small.asked[-1] == ("free", OBJECT, small.block)
        small.close()


def empty(skipped):
    """Return a description without one of its functions, or without its object (None)."""
    desc = acl.rt.allocator_create_desc()
    if skipped is not None:
        assert acl.rt.allocator_set_obj_to_desc(desc, OBJECT) == 0
    for name, setter in SETTERS.items():
        if name != skipped:
            assert setter(desc, lambda *arguments: 0) == 0
    return desc


@pytest.mark.parametrize(
    ("skipped", "expected"),
    [(None, "SetObj"), ("al", "SetAllocFunc"), ("fr", "SetFreeFunc"), ("ad", "SetGetAddrFromBlockFunc")],
)
def test_incomplete_descriptions_are_refused(stream, skipped, expected):
    desc = empty(skipped)
    refused(acl.rt.allocator_register(stream, desc), 100000, f"aclrtAllocator{expected}ToDesc")
    assert acl.rt.allocator_destroy_desc(desc) == 0


FUNCTION = ffi.callback("void *(void *)", lambda argument: NULL)
NULLS = [  # call with a live stream and description; the argument that is NULL
    (lambda stream, desc: acl.rt.allocator_destroy_desc(0), "allocatorDesc"),
    (lambda stream, desc: acl.rt.allocator_set_obj_to_desc(0, 1), "allocatorDesc"),
    (lambda stream, desc: acl.rt.allocator_set_obj_to_desc(desc, 0), "allocator"),
    (lambda stream, desc: acl.rt.allocator_register(0, desc), "stream"),
    (lambda stream, desc: acl.rt.allocator_register(stream, 0), "allocatorDesc"),
    (lambda stream, desc: acl.rt.allocator_unregister(0), "stream"),
    *(
        (lambda stream, desc, name=name: getattr(lib, name)(pointer(desc), NULL), "func")
        for name in (
            "aclrtAllocatorSetAllocFuncToDesc",
            "aclrtAllocatorSetFreeFuncToDesc",
            "aclrtAllocatorSetAllocAdviseFuncToDesc",
            "aclrtAllocatorSetGetAddrFromBlockFuncToDesc",
        )
    ),
    *(
        (
            lambda stream, desc, place=place: lib.aclrtAllocatorGetByStream(
                pointer(stream), *(NULL if i == place else ffi.new(kind) for i, kind in enumerate(OUTPUTS))
            ),
            name,
        )
        for place, name in enumerate(
            ["allocatorDesc", "allocator", "allocFunc", "freeFunc", "allocAdviseFunc", "getAddrFromBlockFunc"]
        )
    ),
]


@pytest.mark.parametrize(("call", "argument"), NULLS)
def test_null_is_named(stream, allocator, call, argument):
    acl.rt.get_last_error(0)
    refused(call(stream, allocator.desc), 100000, f"{argument} is NULL")
    assert acl.rt.peek_at_last_error(0) == 0


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["destroyed", "stream", "garbage"])
@pytest.mark.parametrize(
    "call",
    [
        lambda stream, desc: acl.rt.allocator_destroy_desc(desc),
        lambda stream, desc: acl.rt.allocator_set_obj_to_desc(desc, 1),
        lambda stream, desc: acl.rt.allocator_set_alloc_func_to_desc(desc, lambda *arguments: 0),
        lambda stream, desc: acl.rt.allocator_register(stream, desc),
    ],
)
def test_dead_and_foreign_descriptions(stream, kind, call):
    destroyed = acl.rt.allocator_create_desc()
    assert acl.rt.allocator_destroy_desc(destroyed) == 0
    desc = {"destroyed": destroyed, "stream": stream, "garbage": 0xDEADBEEF12345678}[kind]
    refused(call(stream, desc), 107017, "allocatorDesc is", f"{desc:#x}", "expected a live description of an allocator")


@pytest.mark.strict
def test_dead_streams(stream, allocator, device):
    gone, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.allocator_register(gone, allocator.desc) == 0
    assert acl.rt.destroy_stream(gone) == 0
    refused(acl.rt.allocator_register(gone, allocator.desc), 107017, "a destroyed stream")
    refused(acl.rt.allocator_unregister(gone), 107017, "a destroyed stream")
    refused(registered(gone)[1], 107017, "a destroyed stream")


@pytest.mark.needs_sim
def test_chips_without_allocators(configure):
    configure(soc=P310B)
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    desc = acl.rt.allocator_create_desc()
    refused(acl.rt.allocator_register(stream, desc), 207000, P310B)
    refused(acl.rt.allocator_unregister(stream), 207000, P310B)
    refused(registered(stream)[1], 207000, P310B)
