"""Compares PyTorch's functions on the NPU with the CPU after set_compile_mode(jit_compile=True).

``python compiled.py [NAME...]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON object
per function. torch_npu then calls operators by their GE type, from a thread that an operator's error ends: so each
function runs in a process of its own, which begins without a device.
"""

import json
import multiprocessing
import sys

import functions
import layers
import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")
from case import BOOL, INT


def compare(case, results):
    """Compare a function; put what is wrong, or None."""
    torch.npu.set_compile_mode(jit_compile=True)
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False
    results.put(case.compare(case.kinds[0] if case.kinds in (INT, BOOL) else torch.float32))


def main(names):
    """Compare the named functions, or all."""
    context = multiprocessing.get_context("fork")
    for case in functions.CASES + layers.CASES:
        if names and case.name not in names:
            continue
        results = context.SimpleQueue()
        child = context.Process(target=compare, args=(case, results))
        child.start()
        child.join(60)
        wrong = "no result" if results.empty() else results.get()
        child.kill()
        print(json.dumps({"name": case.name, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
