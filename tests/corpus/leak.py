"""Programs that do not end what they made."""

import numpy

import acl
from acl import mdl, rt
from acl._lib import ffi, lib

from . import Table

TABLE = Table()


def program(what, when):
    """Add a program: what the report calls it, and what comes too early for it."""
    memory = "memory" in what
    verb = "freed" if memory else "unloaded" if "model" == what.split()[-1] else "destroyed"
    text = f"{what} made here was never {verb} before {when}"
    return TABLE.program("leaked-memory" if memory else "leaked-object", text)


RESET, END = "device 0 was reset", "aclFinalize"


@program("1 stream", RESET)
def a_stream(right):
    stream, _ = rt.create_stream()  # first
    if right:
        rt.destroy_stream(stream)


@program("1 stream", RESET)
def a_stream_with_a_priority(right):
    stream, _ = rt.create_stream_with_config(0, 1)  # first
    if right:
        rt.destroy_stream_force(stream)


@program("1 context", RESET)
def a_context(right):
    context, _ = rt.create_context(0)  # first
    if right:
        rt.destroy_context(context)


@program("1 event", END)
def an_event(right):
    event, _ = rt.create_event()  # first
    if right:
        rt.destroy_event(event)


@program("1 event", END)
def an_event_with_a_flag(right):
    event, _ = rt.create_event_with_flag(1)  # first
    if right:
        rt.destroy_event(event)


@program("1 event", END)
def an_event_for_captures(right):
    event, _ = rt.create_event_ex_with_flag(1)  # first
    if right:
        rt.destroy_event(event)


@program("1 notify", END)
def a_notify(right):
    notify, _ = rt.create_notify(0)  # first
    if right:
        rt.destroy_notify(notify)


@program("1 data buffer", END)
def a_data_buffer(right):
    buffer = acl.create_data_buffer(0, 0)  # first
    if right:
        acl.destroy_data_buffer(buffer)


@program("1 dataset", END)
def a_dataset(right):
    dataset = mdl.create_dataset()  # first
    if right:
        mdl.destroy_dataset(dataset)


@program("1 model description", END)
def a_description_of_a_model(right):
    description = mdl.create_desc()  # first
    if right:
        mdl.destroy_desc(description)


@program("1 tensor description", END)
def a_description_of_a_tensor(right):
    description = acl.create_tensor_desc(0, [2], 2)  # first
    if right:
        acl.destroy_tensor_desc(description)


@program("1 tensor", END)
def a_tensor(right):
    tensor = acl.create_tensor([2], 0, [1], 0, 2, [2], 0)  # first
    if right:
        acl.destroy_tensor(tensor)


@program("1 scalar", END)
def a_scalar(right):
    one = numpy.ones(1, "f4")
    scalar = acl.create_scalar(one.ctypes.data, 0)  # first
    if right:
        acl.destroy_scalar(scalar)


@program("1 set of attributes", END)
def a_set_of_attributes(right):
    attributes = acl.op.create_attr()  # first
    if right:
        acl.op.destroy_attr(attributes)


@program("1 load configuration", END)
def a_configuration_of_a_load(right):
    config = mdl.create_config_handle()  # first
    if right:
        mdl.destroy_config_handle(config)


@program("1 block of memory (100 bytes)", RESET)
def memory(right):
    block, _ = rt.malloc(100, 0)  # first
    if right:
        rt.free(block)


@program("1 block of memory (100 bytes)", RESET)
def cached_memory(right):
    block, _ = rt.malloc_cached(100, 0)  # first
    if right:
        rt.free(block)


@program("1 block of memory (64 bytes)", END)
def pinned_memory(right):
    host, _ = rt.malloc_host(64)  # first
    if right:
        rt.free_host(host)


@program("1 block of memory (2097152 bytes)", END)
def managed_memory(right):
    """It belongs to all devices: a reset of one does not end it."""
    place = ffi.new("void **")
    lib.aclrtMemAllocManaged(place, 1 << 21, 1)  # first
    if right:
        lib.aclrtFree(place[0])
