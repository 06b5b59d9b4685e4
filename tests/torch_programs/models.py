"""Compares small models with random weights on the NPU with the CPU: outputs, gradients, steps, generated tokens.

``python models.py [NAME...]`` needs torch, torch_npu and transformers, and a toolkit of the simulator. It prints one
JSON object per model, with the operators that torch_npu left to the CPU there for the first time.
"""

import json
import sys

import families
import modules
import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")


def main(names):
    """Compare all, or the named ones."""
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False  # the default rounds float32 to 11 bits
    for model in modules.cases() + families.cases():
        if not names or model.name in names:
            print(json.dumps(model.compare()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
