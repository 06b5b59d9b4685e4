"""Conditions in captures, with their tasks and bodies."""

import contextlib

import numpy

import acl
from acl import nnop

from .capture import ACTIVE, NONE, RELAXED, status

mdl, rt = acl.mdl, acl.rt
IF, WHILE, SWITCH = 0, 1, 2
ASSIGN = 1


class Condition:
    """A condition of the capture of a stream, with its conditional task and the bodies of the task."""

    def __init__(self, stream, kind, size, default=0, flag=0):
        owner = mdl.ri_capture_get_info(stream)[1]
        self.handle, ret = mdl.ri_cond_handle_create(owner, default, flag)
        assert ret == 0, acl.get_recent_err_msg()
        self.address, ret = mdl.ri_cond_handle_get_cond_ptr(self.handle)
        assert ret == 0
        self.params = {"handle": self.handle, "type": kind, "size": size}
        self.bodies = []

    def queue(self, stream):
        """Queue the conditional task."""
        params, ret = mdl.ri_add_cond_task(self.params, stream, 0)
        assert ret == 0, acl.get_recent_err_msg()
        self.bodies = params["model_ri_array"]
        assert len(set(self.bodies)) == self.params["size"] and 0 not in self.bodies

    def write(self, stream, value):
        """Queue writing a value below 256."""
        assert rt.memset_async(self.address, 8, 0, 8, stream) == 0
        assert rt.memset_async(self.address, 8, value, 1, stream) == 0

    def count_down(self, stream):
        """Queue a kernel that subtracts 1 from the value."""
        tensor = acl.create_tensor([1], 3, [1], 0, 2, [1], self.address)
        values = numpy.array([-1, 1], "i4")
        minus, one = (acl.create_scalar(values.ctypes.data + at, 3) for at in (0, 4))
        size, executor, ret = nnop.inplace_adds_get_workspace_size(tensor, minus, one)
        assert ret == 0
        assert nnop.inplace_adds(0, size, executor, stream) == 0
        acl.destroy_tensor(tensor)
        assert (acl.destroy_scalar(minus), acl.destroy_scalar(one)) == (0, 0)


def queued(stream, kind, size, default=0, flag=0):
    """Return a condition whose task is queued on the stream."""
    condition = Condition(stream, kind, size, default, flag)
    condition.queue(stream)
    return condition


@contextlib.contextmanager
def body(stream, instance, mode=RELAXED):
    """Capture a body on a stream."""
    assert mdl.ri_capture_to_model_ri_begin(stream, instance, mode) == 0, acl.get_recent_err_msg()
    assert mdl.ri_capture_get_info(stream) == (ACTIVE, instance, 0)
    yield
    assert mdl.ri_capture_end(stream) == (instance, 0), acl.get_recent_err_msg()
    assert status(stream) == NONE
