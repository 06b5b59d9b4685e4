"""Single operators by type: calls of aclop* with NumPy arrays."""

import numpy

import acl
from helpers.tensors import CODES, ND, storage

HOST = 1
UNDEFINED = -1
NCHW, NHWC, HWCN = 0, 1, 16
SETTERS = {bool: "bool", int: "int", float: "float", str: "string"}


def attributes(values):
    """Return a set of attributes; the Python type of each value determines the setter."""
    attr = acl.op.create_attr()
    for name, value in values.items():
        if isinstance(value, list):
            kind = f"list_{SETTERS[type(value[0])]}" if not isinstance(value[0], list) else "list_list_int"
        else:
            kind = SETTERS[type(value)]
        assert getattr(acl.op, f"set_attr_{kind}")(attr, name, value) == 0, acl.get_recent_err_msg()
    return attr


def operands(single, inputs):
    """Return operands for arrays, and constants for lists."""
    return [single.constant(one) if isinstance(one, list) else single.give(one) for one in inputs]


def kind_of(result):
    """Return the data type of a result; every float is float32."""
    return {"b": "?", "i": result.dtype.str[1:]}.get(result.dtype.kind, "f4")


def image(single, array, layout):
    """Return description and buffer of an NCHW array that lies in another layout."""
    order = {NCHW: (0, 1, 2, 3), NHWC: (0, 2, 3, 1), HWCN: (2, 3, 1, 0)}[layout]
    moved = numpy.ascontiguousarray(array.transpose(order))
    return single.desc(moved.shape, "f4", layout), single.give(moved)[1]


def convolved(x, weights, stride=1, pads=(0, 0, 0, 0), apart=1, groups=1):
    """Return the convolution of NCHW arrays."""
    x = numpy.pad(x, ((0, 0), (0, 0), pads[:2], pads[2:]))
    rows, columns = ((size - 1) * apart + 1 for size in weights.shape[2:])
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (rows, columns), (2, 3))
    windows = windows[:, :, ::stride, ::stride, ::apart, ::apart]
    parts = zip(numpy.split(windows, groups, 1), numpy.split(weights, groups, 0))
    return numpy.concatenate([numpy.einsum("nchwij,ocij->nohw", *part) for part in parts], 1)


class Single:
    """Operands of single operators on a :class:`helpers.tensors.Device`; :meth:`close` destroys their descriptions."""

    def __init__(self, npu):
        self.npu = npu
        self.ends = []

    def close(self):
        """Destroy every description, buffer and set of attributes."""
        for end, handle in self.ends:
            end(handle)

    def desc(self, shape, kind, layout=ND):
        """Return a description."""
        handle = acl.create_tensor_desc(CODES[kind], list(shape), layout)
        self.ends.append((acl.destroy_tensor_desc, handle))
        return handle

    def host(self, shape, kind, place=HOST):
        """Return a description of host memory."""
        handle = self.desc(shape, kind)
        assert acl.set_tensor_place_ment(handle, place) == 0
        return handle

    def buffer(self, address, size):
        """Return a data buffer."""
        handle = acl.create_data_buffer(address, size)
        self.ends.append((acl.destroy_data_buffer, handle))
        return handle

    def attr(self, **values):
        """Return a set of attributes."""
        handle = attributes(values)
        self.ends.append((acl.op.destroy_attr, handle))
        return handle

    def give(self, array, kind=None):
        """Return description and buffer of a copy in device memory."""
        array = numpy.asarray(array)
        kind = kind or array.dtype.str[1:].replace("b1", "?")
        return self.desc(array.shape, kind), self.buffer(self.npu.put(numpy.ascontiguousarray(array)), array.nbytes)

    def constant(self, values, kind="i8", place=HOST):
        """Return description and buffer of numbers, integers by default, in host memory."""
        array = numpy.array(values, kind)
        desc = self.host(array.shape, kind, place)
        self.ends.append((lambda kept: None, array))
        return desc, self.buffer(array.ctypes.data, array.nbytes)

    def take(self, shape, kind):
        """Return description and buffer of zeros, and a function that reads them after synchronising the stream."""
        array = numpy.zeros(shape, storage(kind))
        address = self.npu.put(array)

        def read():
            assert acl.rt.synchronize_stream(self.npu.stream) == 0, acl.get_recent_err_msg()
            found = numpy.empty(shape, storage(kind))
            if found.nbytes:
                assert acl.rt.memcpy(found.ctypes.data, found.nbytes, address, found.nbytes, 2) == 0
            return found

        return self.desc(shape, kind), self.buffer(address, array.nbytes), read

    def call(self, op_type, inputs, outputs, **values):
        """Queue an operator, with operands that the methods above return; return its code."""
        return acl.op.execute_v2(
            op_type,
            [operand[0] for operand in inputs],
            [operand[1] for operand in inputs],
            [operand[0] for operand in outputs],
            [operand[1] for operand in outputs],
            self.attr(**values),
            self.npu.stream,
        )

    def run(self, op_type, inputs, shape, kind, /, **values):
        """Run an operator with one output and return it."""
        out = self.take(shape, kind)
        assert self.call(op_type, inputs, [out], **values) == 0, acl.get_recent_err_msg()
        return out[2]()

    def run_all(self, op_type, inputs, shapes, kinds, **values):
        """Run an operator with several outputs and return them."""
        outs = [self.take(shape, kind) for shape, kind in zip(shapes, kinds)]
        assert self.call(op_type, inputs, outs, **values) == 0, acl.get_recent_err_msg()
        return [out[2]() for out in outs]

    def shapes(self, op_type, inputs, kinds, **values):
        """Return the shapes that the library derives for outputs of these data types."""
        outs, attr = [self.desc([-2], kind) for kind in kinds], self.attr(**values)
        descs, buffers = [one[0] for one in inputs], [one[1] for one in inputs]
        ret = acl.op.infer_shape(op_type, descs, buffers, len(outs), outs, attr)
        assert ret == 0, acl.get_recent_err_msg()
        return [
            tuple(acl.get_tensor_desc_dim_v2(out, place)[0] for place in range(acl.get_tensor_desc_num_dims(out)))
            for out in outs
        ]

    def omitted(self):
        """Return description and buffer of an optional input that is omitted."""
        handle = acl.create_tensor_desc(UNDEFINED, [], UNDEFINED)
        self.ends.append((acl.destroy_tensor_desc, handle))
        return handle, self.buffer(0, 0)
