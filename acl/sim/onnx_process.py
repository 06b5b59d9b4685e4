"""The process that executes ONNX models for programs without Python.

``simulator/core/model/format/onnx.c`` starts it, and describes the protocol between both.
"""

import contextlib
import mmap
import os
import socket
import struct
import sys
from functools import partial
from typing import Any, Optional

from acl._lib import ffi
from acl.sim import models, onnx_models

CHANNEL, MEMORY = 3, 4
DONE, FAILED = 0, 1
REASON = 500  # the most bytes of an error's text


def order_in(memory: mmap.mmap) -> Any:
    """Return the execution in the shared memory, after replacing its offsets by addresses."""
    base = int(ffi.cast("uintptr_t", ffi.from_buffer(memory)))
    order = ffi.cast("aclsimModelRun *", base)

    def address(kind: str, offset: Any) -> Any:
        return ffi.cast(kind, base + int(ffi.cast("uintptr_t", offset)))

    order.weights = address("void *", order.weights)
    order.capacities = address("uint64_t *", order.capacities)
    order.inputs = address("aclsimTensor *", order.inputs)
    order.outputs = address("aclsimTensor *", order.outputs)
    for tensors, count in ((order.inputs, order.inputCount), (order.outputs, order.outputCount)):
        for place in range(count):
            tensors[place].data = address("void *", tensors[place].data)
    return order


def serve() -> None:
    """Serve the program's requests until the program ends."""
    # Close inherited descriptors: another process may be waiting for the end of a pipe of the program.
    os.closerange(MEMORY + 1, 1 + max(map(int, os.listdir("/proc/self/fd"))))
    channel = socket.socket(fileno=CHANNEL)
    memory: Optional[mmap.mmap] = None
    run = models.runner(onnx_models.open_model, lambda function: partial(models.call, function))
    with contextlib.suppress(ConnectionError):
        while request := channel.recv(8):
            size = int.from_bytes(request, sys.byteorder)
            code, reason = DONE, ""
            try:
                if memory is None or len(memory) < size:
                    memory = mmap.mmap(MEMORY, size)
                run(order_in(memory))
            except Exception as error:
                code, reason = FAILED, " ".join(f"{type(error).__name__}: {error}".split())
            channel.send(struct.pack("=i", code) + reason.encode(errors="replace")[:REASON])
    os._exit(0)
