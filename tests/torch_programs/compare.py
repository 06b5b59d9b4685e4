"""Compares PyTorch's functions on the NPU with the CPU.

``python compare.py [NAME...]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON object per
function and type, and one with the operators that torch_npu left to the CPU.
"""

import json
import sys

import functions
import layers
import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")
from case import BOOL, INT
from fallback import on_cpu


def compare(names):
    """Compare the named functions, or all."""
    for case in functions.CASES + layers.CASES:
        if names and case.name not in names:
            continue
        exact = case.kinds in (INT, BOOL)
        for kind in [case.kinds[0]] if exact else case.types():
            said = case.compare(kind)
            print(json.dumps({"name": case.name, "type": str(kind).removeprefix("torch."), "wrong": said}), flush=True)


def main(names):
    """Compare, and tell which operators were left to the CPU."""
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False  # the default rounds float32 to 11 bits
    with on_cpu() as left:
        compare(names)
    print(json.dumps({"on_cpu": sorted(left)}))


if __name__ == "__main__":
    main(sys.argv[1:])
