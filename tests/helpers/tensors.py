"""Arrays in device memory with tensors over them, and calls of operators on the tensors."""

from collections import namedtuple

import numpy

import acl
from acl import nnop
from helpers import edges

ND = 2
# Data types by NumPy's name; "b2" is bfloat16, whose arrays hold bit patterns.
CODES = {
    "?": 12, "u1": 4, "i1": 2, "i2": 6, "i4": 3, "i8": 9, "f2": 1, "b2": 27, "f4": 0, "f8": 11, "c8": 16, "c16": 17,
    "u2": 7, "u4": 8, "u8": 10,
}  # fmt: skip

# held: which bytes of the base are in memory, if they are not all. The address is that of the base.
Tensor = namedtuple("Tensor", "handle address base view kind held", defaults=[None])


def to_bfloat(values):
    """Return floats as bfloat16 bits, rounded once to nearest, ties to even: rounding to float32 first creates ties."""
    values = numpy.asarray(values, "f8")
    step = numpy.maximum(numpy.frexp(values)[1] - 8, -133)
    with numpy.errstate(over="ignore", invalid="ignore"):
        whole = numpy.ldexp(numpy.rint(numpy.ldexp(values, -step)), step)
        return numpy.asarray(numpy.asarray(whole, "f4").view("u4") >> 16, "u2")


def from_bfloat(bits):
    """Return bfloat16 bits as floats."""
    return (numpy.asarray(bits, "u2").astype("u4") << 16).view("f4")


def storage(kind):
    """Return the NumPy type that is stored in memory."""
    return numpy.dtype("u2" if kind == "b2" else kind)


class Device:
    """Device 0 with a stream; :meth:`close` frees all that it has created."""

    def __init__(self):
        assert acl.rt.set_device(0) == 0
        self.stream, ret = acl.rt.create_stream()
        assert ret == 0
        self.ends = []

    def close(self):
        """Destroy and free everything."""
        self.release()
        acl.rt.destroy_stream(self.stream)
        acl.rt.reset_device_force(0)

    def release(self, kept=0):
        """Destroy and free what was created after the first ``kept`` objects."""
        acl.rt.synchronize_stream(self.stream)
        for end, handle in self.ends[kept:]:
            end(handle)
        del self.ends[kept:]

    def put(self, array):
        """Copy an array to new memory and return the address."""
        size = max(array.nbytes, array.itemsize)
        if edges.EDGE:
            address, end = edges.allocate(size, edges.EDGE)
        else:
            address, ret = acl.rt.malloc(size, 0)
            assert ret == 0
            end = acl.rt.free
        self.ends.append((end, address))
        if array.nbytes:
            assert acl.rt.memcpy(address, array.nbytes, array.ctypes.data, array.nbytes, 1) == 0
        return address

    def view(self, base, view, kind):
        """Return a tensor over a view of a contiguous array; the whole array is copied to the device."""
        size = max(base.itemsize, 1)
        first = (view.ctypes.data - base.ctypes.data) // size if view.size else 0
        strides = [stride // size for stride in view.strides]
        start, held = 0, None
        if edges.EDGE and view.size:  # only the bytes of the view: its last or first one is beside the page
            start, end = edges.bounds(base, view)
            address = self.put(base.reshape(-1).view("u1")[start:end]) - start
            held = start, end
        else:
            address = self.put(base)
        shape = list(view.shape)
        first -= start // size
        handle = acl.create_tensor(shape, CODES[kind], strides, first, ND, list(base.shape), address + start)
        assert handle != 0
        self.ends.append((acl.destroy_tensor, handle))
        return Tensor(handle, address, base, view, kind, held)

    def tensor(self, array, kind=None):
        """Return a tensor over a copy of an array."""
        array = numpy.ascontiguousarray(array).reshape(numpy.shape(array))
        return self.view(array, array, kind or array.dtype.str[1:].replace("b1", "?"))

    def scalar(self, value, kind="f4"):
        """Return a scalar."""
        bits = (to_bfloat(value) if kind == "b2" else numpy.array(value, kind)).tobytes()
        handle = acl.create_scalar(acl.util.bytes_to_ptr(bits), CODES[kind])
        assert handle != 0
        self.ends.append((acl.destroy_scalar, handle))
        return handle

    def integers(self, values):
        """Return an array of integers."""
        handle = acl.create_int_array(list(values))
        assert handle != 0
        self.ends.append((acl.destroy_int_array, handle))
        return handle

    def list(self, tensors):
        """Return a list of tensors."""
        handle = acl.create_tensor_list([tensor.handle for tensor in tensors])
        assert handle != 0
        self.ends.append((acl.destroy_tensor_list, handle))
        return handle

    def get(self, tensor):
        """Wait for the stream and return the current contents of the tensor's view."""
        ret = acl.rt.synchronize_stream(self.stream)
        assert ret == 0, acl.get_recent_err_msg()
        base = tensor.base
        fresh = numpy.empty_like(base)
        start, end = tensor.held or (0, base.nbytes)
        if end - start < base.nbytes:
            fresh[...] = base
        if base.nbytes:
            place, size = fresh.ctypes.data + start, end - start
            assert acl.rt.memcpy(place, size, tensor.address + start, size, 2) == 0
        view = tensor.view
        first = view.ctypes.data - base.ctypes.data if view.size else 0
        return numpy.ndarray(view.shape, base.dtype, fresh.data if base.nbytes else None, first, view.strides)

    def call(self, name, *arguments, workspace=0):
        """Run both phases of an operator; tensors are passed as such. Returns the first code that is not 0."""
        plain = [argument.handle if isinstance(argument, Tensor) else argument for argument in arguments]
        size, executor, ret = getattr(nnop, f"{name}_get_workspace_size")(*plain)
        if ret == 0:
            edges.called.add(name)
            ret = getattr(nnop, name)(workspace, size, executor, self.stream)
        return ret
