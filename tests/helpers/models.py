"""Helpers for tests of models: model files, datasets of device memory, executions with NumPy arrays."""

import numpy

import acl
from acl.sim import om

TYPES = {0: "f4", 1: "f2", 3: "i4", 4: "u1", 9: "i8"}
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
F4, I4, I8 = 0, 3, 9


def initialise():
    """Initialise the library, unless that was done before."""
    assert acl.init() in (0, 100002)


def load(path):
    """Return the id of a model, which must load."""
    model, ret = acl.mdl.load_from_file(str(path))
    assert ret == 0, acl.get_recent_err_msg()
    return model


def load_bytes(content):
    """Return ``(id, ret)`` of a model in memory."""
    return acl.mdl.load_from_mem(acl.util.bytes_to_ptr(content), len(content))


def describe(model):
    """Return a description of a loaded model."""
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model) == 0, acl.get_recent_err_msg()
    return desc


class Dataset:
    """A dataset with a buffer of device memory for each size."""

    def __init__(self, sizes):
        self.handle = acl.mdl.create_dataset()
        self.sizes = list(sizes)
        self.addresses, self.buffers = [], []
        for size in self.sizes:
            address, ret = acl.rt.malloc(max(size, 1), 0)
            assert ret == 0
            self.addresses.append(address)
            self.buffers.append(acl.create_data_buffer(address, size))
            assert acl.mdl.add_dataset_buffer(self.handle, self.buffers[-1]) == (self.handle, 0)

    def put(self, place, array):
        """Copy an array into a buffer."""
        array = numpy.ascontiguousarray(array)
        assert acl.rt.memcpy(self.addresses[place], array.nbytes, array.ctypes.data, array.nbytes, HOST_TO_DEVICE) == 0

    def get(self, place, shape, kind="f4"):
        """Return the contents of a buffer."""
        array = numpy.empty(shape, kind)
        assert acl.rt.memcpy(array.ctypes.data, array.nbytes, self.addresses[place], array.nbytes, DEVICE_TO_HOST) == 0
        return array

    def free(self, place):
        """Free the memory of a buffer before the end; return ret."""
        address, self.addresses[place] = self.addresses[place], None
        return acl.rt.free(address)

    def close(self):
        """Destroy the dataset, its buffers and their memory."""
        for address, buffer in zip(self.addresses, self.buffers):
            assert acl.destroy_data_buffer(buffer) == 0
            if address is not None:
                acl.rt.free(address)
        assert acl.mdl.destroy_dataset(self.handle) == 0


class Model:
    """A loaded model with datasets for inputs and outputs, of the sizes in its description."""

    def __init__(self, model):
        self.id = model
        self.desc = describe(model)
        mdl = acl.mdl
        self.inputs = Dataset(mdl.get_input_size_by_index(self.desc, i) for i in range(mdl.get_num_inputs(self.desc)))
        for place, size in enumerate(self.inputs.sizes):
            self.inputs.put(place, numpy.zeros(size, "u1"))
        self.outputs = Dataset(
            mdl.get_output_size_by_index(self.desc, i) for i in range(mdl.get_num_outputs(self.desc))
        )

    def execute(self, stream=None):
        """Run it, at once or queued on a stream; return ret."""
        if stream is None:
            return acl.mdl.execute(self.id, self.inputs.handle, self.outputs.handle)
        return acl.mdl.execute_async(self.id, self.inputs.handle, self.outputs.handle, stream)

    def __call__(self, *arrays):
        """Return the first output of an execution, in the shape of the model's description."""
        for place, array in enumerate(arrays):
            self.inputs.put(place, array)
        assert self.execute() == 0, acl.get_recent_err_msg()
        dims, ret = acl.mdl.get_cur_output_dims(self.desc, 0)
        assert ret == 0
        return self.outputs.get(0, dims["dims"], TYPES[acl.mdl.get_output_data_type(self.desc, 0)])

    def close(self):
        """Unload it and free its datasets."""
        self.inputs.close()
        self.outputs.close()
        assert acl.mdl.destroy_desc(self.desc) == 0
        assert acl.mdl.unload(self.id) == 0


def affine_bytes(**options):
    """Return a model file with one input and one output of two floats, executed by a function named ``affine``."""
    return om.write("affine", [om.Tensor("x", (2,))], [om.Tensor("y", (2,))], **options)
