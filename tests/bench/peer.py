"""An operator on one thread: ``peer.py acl|torch|memory ROW`` takes a sample for each line that it reads.

It prints ``{"value": milliseconds}``, as a twin in C does.
"""

import functools
import json
import math
import mmap
import os
import statistics
import sys
import time

import numpy

CALLS = 5  # a sample is their median
WIDE = 4 << 20
ROWS = (WIDE // 1024, 1024)
MATRIX = (4096, 4096)


def acl_side(name, arrays, kind):
    """Return the call by the simulator."""
    import acl

    acl.Device(0).use()
    nn = acl.nn
    inputs = [acl.DeviceArray.from_numpy(array) for array in arrays]

    def ready(call, *arguments):
        out = call(*arguments)
        return functools.partial(call, *arguments, out=out)

    if name == "cast":
        return ready(nn.cast, *inputs, "float16")
    if name == "softmax":
        return ready(nn.softmax, *inputs, -1)
    if name == "convolution":
        return ready(nn.convolution, *inputs, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1, 0)
    if name == "vector" and kind == "int8":
        row, weights, scales = inputs
        return ready(nn.weight_quant_batch_matmul_v2, row, weights.T, scales, None, None, None, None, 0)
    if name == "vector":
        return ready(nn.mv, *inputs, 0)
    if name == "matmul":
        return ready(nn.mm, *inputs, 0)
    return ready(getattr(nn, name), *inputs)


def torch_side(name, arrays, kind):
    """Return the call by PyTorch."""
    import torch

    torch.set_num_threads(1)
    inputs = [torch.from_numpy(array) for array in arrays]
    aten = torch.ops.aten
    if name == "cast":
        return functools.partial(torch.empty(WIDE, dtype=torch.float16).copy_, *inputs)
    if name == "softmax":
        return functools.partial(torch.softmax, *inputs, -1, out=torch.empty(ROWS))
    if name == "convolution":
        return functools.partial(torch.conv2d, *inputs, padding=1)
    if name == "vector" and kind == "int8":
        return functools.partial(torch._weight_int8pack_mm, *inputs)
    call = {"vector": torch.mv, "matmul": torch.mm, "silu": aten.silu.out, "gelu": aten.gelu.out}.get(name)
    call = call or getattr(torch, name)
    return functools.partial(call, *inputs, out=call(*inputs) if name not in ("silu", "gelu") else inputs[0].clone())


def shared(*shape):
    """Return an array in shared memory, which is what the simulator's device memory is."""
    file = os.memfd_create("bench")
    os.ftruncate(file, math.prod(shape) * 4)
    return numpy.frombuffer(mmap.mmap(file, 0), "float32").reshape(shape)


def memory_side(name):
    """Return a call on shared memory: a sum by NumPy, or PyTorch's product of a matrix and a vector."""
    if name == "sum":
        memory = shared(3, WIDE)
        memory[:] = 1
        return functools.partial(numpy.add, memory[0], memory[1], out=memory[2])
    matrix, vector = operands("vector", "float32")
    memory = shared(*MATRIX)
    memory[:] = matrix
    return torch_side("vector", [memory, vector], "float32")


def operands(name, kind):
    """Return what both sides compute with."""
    draw = numpy.random.default_rng(1).standard_normal
    if name == "vector" and kind == "int8":
        weights = numpy.random.default_rng(2).integers(-127, 128, MATRIX, "int8")
        return [draw((1, 4096)).astype("float16"), weights, numpy.full(4096, 0.01, "float16")]
    size = int(kind) if kind.isdigit() else 1024
    shapes = {
        "vector": [MATRIX, (4096,)],
        "matmul": [(size, size)] * 2,
        "convolution": [(1, 64, 56, 56), (64, 64, 3, 3)],
        "softmax": [ROWS],
        "add": [(WIDE,)] * 2,
    }
    dtype = "float16" if kind == "float16" else "float32"
    if kind == "bfloat16":
        from ml_dtypes import bfloat16 as dtype
    return [draw(shape).astype(dtype) for shape in shapes.get(name, [(WIDE,)])]


def main():
    side, row = sys.argv[1:]
    name, _, kind = row.partition("_")
    if side == "memory":
        call = memory_side(name)
    else:
        call = {"acl": acl_side, "torch": torch_side}[side](name, operands(name, kind), kind)
    call()
    for _ in sys.stdin:
        times = []
        for _ in range(CALLS):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        print(json.dumps({"value": statistics.median(times) * 1e3}), flush=True)


if __name__ == "__main__":
    main()
