"""Compares PyTorch's functions on the NPU with the CPU.

``python compare.py [NAME...]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON object per
function and type, and one with the operators that torch_npu left to the CPU.
"""

import json
import os
import re
import sys
import tempfile

import functions
import layers
import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")
from case import BOOL, INT


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
    """Compare, and read the warnings, which torch_npu writes to stderr once per operator."""
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False  # the default rounds float32 to 11 bits
    with tempfile.TemporaryFile() as heard:
        before = os.dup(2)
        os.dup2(heard.fileno(), 2)
        try:
            compare(names)
        finally:
            os.dup2(before, 2)
        heard.seek(0)
        left = re.findall(rb"operator '([^']+)' is not currently supported on the NPU", heard.read())
    print(json.dumps({"on_cpu": sorted({name.decode() for name in left})}))


if __name__ == "__main__":
    main(sys.argv[1:])
