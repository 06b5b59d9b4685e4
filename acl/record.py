"""Recording of model executions: ``ACL_RECORD=dir`` saves the inputs and outputs of each model.

A file ``dir/<model>.om`` is written when a model is unloaded, or at the end of the process. For the recorded inputs the
simulator returns the recorded outputs, so that a test without a device gets the outputs of a device. A model with
dynamic AIPP is executed as usual, but not recorded, and a warning says so.
"""

import atexit
import functools
import os
import sys
import threading
import warnings

import numpy

import acl
from acl import files, mdl, rt
from acl._lib import AIPP_INPUT, GEAR_INPUT, lib
from acl.sim import om, recording
from acl.sim.kernels import TYPES

DEVICE_TO_HOST = lib.ACL_MEMCPY_DEVICE_TO_HOST
LOADS = {"load_from_file": 0, "load_from_file_with_mem": 0, "load_from_mem": None, "load_from_mem_with_mem": None}


class Recorded:
    """A loaded model: its signature, and its executions so far."""

    def __init__(self, number, name, folder):
        self.name, self.path = name, os.path.join(folder, f"{name}.om")
        self.desc = mdl.create_desc()
        if mdl.get_desc(self.desc, number) != 0:
            raise RuntimeError(f"acl: ACL_RECORD cannot describe model {number}")
        self.inputs = [self.port(place, "input") for place in range(mdl.get_num_inputs(self.desc))]
        self.outputs = [self.port(place, "output") for place in range(mdl.get_num_outputs(self.desc))]
        self.gears, self.shapes = self.find_gears(), {}
        self.gear, self.pairs = (), []

    def port(self, place, side):
        """Return the description of one input or output."""
        dims = getattr(mdl, f"get_{side}_dims")(self.desc, place)[0]["dims"]
        ask = [getattr(mdl, f"get_{side}_{what}") for what in ("name_by_index", "data_type", "format", "size_by_index")]
        name, kind, form, size = (function(self.desc, place) for function in ask)
        ranges = mdl.get_input_dims_range(self.desc, place)[0]["range"] if side == "input" else ()
        return om.Tensor(name, tuple(dims), kind, form, size, tuple(map(tuple, ranges)))

    def find_gears(self):
        """Return the gears' kind and values, or None."""
        batches = mdl.get_dynamic_batch(self.desc)[0]["batch"]
        pairs = mdl.get_dynamic_hw(self.desc, -1)[0]["hw"]
        count = mdl.get_input_dynamic_gear_count(self.desc, -1)[0]
        if batches:
            return om.BATCH, [[batch] for batch in batches]
        if pairs:
            return om.HW, pairs
        rows = mdl.get_input_dynamic_dims(self.desc, -1, count)[0] if count else []
        return (om.DIMS, [self.open_dims(row["dims"]) for row in rows]) if rows else None

    def open_dims(self, dims):
        """Return, of the dimensions of all inputs, those that the model leaves open."""
        built = [dim for port in self.inputs if port.name != GEAR_INPUT for dim in port.dims]
        return [dim for dim, known in zip(dims, built) if known < 0]

    def shape_of(self, port, dataset, place, first):
        """Return the actual dimensions of an input or output, and how many values of the gear they used."""
        found = mdl.get_dataset_tensor_desc(dataset, place)
        if -1 in port.dims and self.gears is None and found:
            return [acl.get_tensor_desc_dim_v2(found, i)[0] for i in range(acl.get_tensor_desc_num_dims(found))], 0
        values = iter(self.gear[first:])
        return [next(values, -1) if dim < 0 else dim for dim in port.dims], sum(dim < 0 for dim in port.dims)

    def read(self, dataset, place, port, shape):
        """Return a buffer's contents as an array."""
        array = numpy.empty(shape, TYPES[port.type])
        address = acl.get_data_buffer_addr(mdl.get_dataset_buffer(dataset, place))
        if array.nbytes and rt.memcpy(array.ctypes.data, array.nbytes, address, array.nbytes, DEVICE_TO_HOST) != 0:
            raise RuntimeError(f"acl: ACL_RECORD cannot read {port.name} of {self.name}")
        return array

    def read_inputs(self, dataset):
        """Return the contents of the inputs, without the one that carries the gear."""
        arrays, first = [], 0
        for place, port in enumerate(self.inputs):
            if port.name == GEAR_INPUT:
                continue
            shape, used = self.shape_of(port, dataset, place, first)
            first += used if self.gears is not None and self.gears[0] == om.DIMS else 0
            arrays.append(self.read(dataset, place, port, shape))
        return arrays

    def read_outputs(self, dataset):
        """Return the contents of the outputs, and keep their shapes for the gear."""
        arrays = []
        for place, port in enumerate(self.outputs):
            dims, ret = mdl.get_cur_output_dims(self.desc, place)
            shape = dims["dims"] if ret == 0 else self.shape_of(port, dataset, place, 0)[0]
            if self.gears is not None:
                self.shapes[list(map(list, self.gears[1])).index(list(self.gear)), place] = shape
            arrays.append(self.read(dataset, place, port, shape))
        return arrays

    def write(self):
        """Write the file, if there were executions."""
        if not self.pairs:
            return
        gears = None
        if self.gears is not None:
            outputs = [(gear, place, shape) for (gear, place), shape in self.shapes.items()]
            gears = om.Gears(*self.gears, outputs)
        inputs = [port for port in self.inputs if port.name != GEAR_INPUT]
        dynamic = self.gears is None and any(-1 in port.dims for port in inputs)
        content = recording.recorded(self.name, inputs, self.outputs, self.pairs, gears=gears, dynamic=dynamic)
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            files.write(self.path, content)
        except OSError as error:  # only reported, so that the program continues
            print(f"acl: ACL_RECORD cannot write {error.filename}: {error.strerror}", file=sys.stderr)

    def close(self):
        """Destroy the description."""
        mdl.destroy_desc(self.desc)


def start(folder):
    """Start recording: wrap the calls of :mod:`acl.mdl`. Each recorded execution waits for its stream."""
    models, lock = {}, threading.Lock()

    def wrap(name):
        """Return a decorator that replaces a call of ``acl.mdl``; its function gets the plain call first."""

        def decorate(function):
            plain = getattr(mdl, name)
            setattr(mdl, name, functools.wraps(plain)(lambda *arguments: function(plain, *arguments)))
            return function

        return decorate

    def loads(name, path_at):
        """Wrap a call that loads a model, so that the model is recorded."""

        @wrap(name)
        def load(plain, *arguments):
            number, ret = plain(*arguments)
            if ret == 0:
                path = arguments[path_at] if path_at is not None else f"model{number}.om"
                model = Recorded(number, os.path.splitext(os.path.basename(path))[0], folder)
                if any(port.name == AIPP_INPUT for port in model.inputs):
                    # Its outputs also depend on the AIPP parameters, whose layout in memory is not documented.
                    model.close()
                    warnings.warn(f"ACL_RECORD does not record {model.name}: the model has dynamic AIPP", stacklevel=3)
                else:
                    models[number] = model
            return number, ret

    def run(plain, stream, number, inputs, outputs, *rest):
        """Execute a model, and record its inputs and outputs."""
        model = models.get(number)
        if model is None:
            return plain(number, inputs, outputs, *rest)
        with lock:
            if stream is not None:
                rt.synchronize_stream(stream)
            given = model.read_inputs(inputs)
            ret = plain(number, inputs, outputs, *rest)
            if ret == 0 and (stream is None or rt.synchronize_stream(stream) == 0):
                model.pairs.append((given, model.read_outputs(outputs)))
        return ret

    for name, path_at in LOADS.items():
        loads(name, path_at)

    @wrap("execute")
    def execute(plain, number, inputs, outputs):
        return run(plain, None, number, inputs, outputs)

    @wrap("execute_async")
    def execute_async(plain, number, inputs, outputs, stream):
        return run(plain, stream, number, inputs, outputs, stream)

    @wrap("execute_v2")
    def execute_v2(plain, number, inputs, outputs, stream, handle):
        return run(plain, stream, number, inputs, outputs, stream, handle)

    def chooses(name, values):
        """Wrap a call that sets a gear, so that the gear is known."""

        @wrap(name)
        def choose(plain, number, dataset, index, *sizes):
            ret = plain(number, dataset, index, *sizes)
            if ret == 0 and number in models:
                models[number].gear = values(models[number], *sizes)
            return ret

    chooses("set_dynamic_batch_size", lambda model, batch: [batch])
    chooses("set_dynamic_hw_size", lambda model, height, width: [height, width])
    chooses("set_input_dynamic_dims", lambda model, dims: model.open_dims(dims["dims"]))

    @wrap("unload")
    def unload(plain, number):
        model = models.pop(number, None)
        if model is not None:
            model.write()
            model.close()
        return plain(number)

    @atexit.register
    def finish():
        for model in models.values():
            model.write()
