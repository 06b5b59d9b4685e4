"""Trains each network with each optimizer on the CPU and on the NPU, and prints how far the losses are apart.

``python train.py [STEPS [NETWORK...]]`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON
object per run.
"""

import contextlib
import json
import sys
import time

import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")
from networks import NETWORKS, OPTIMIZERS


def losses(network, optimizer, device, steps, kind=None):
    """Return the losses of the steps. With a type, the network runs under autocast."""
    torch.manual_seed(1)
    model = NETWORKS[network]()
    batches = [NETWORKS[network].batch() for _ in range(4)]
    model = model.to(device).train()
    chosen = OPTIMIZERS[optimizer](model.parameters(), getattr(model, "rates", {}).get(optimizer, 1.0))
    found = []
    for step in range(steps):
        x, expected = (part.to(device) for part in batches[step % len(batches)])
        with torch.autocast(device, kind) if kind else contextlib.nullcontext():
            loss = torch.nn.functional.cross_entropy(model(x).float(), expected)
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        found.append(loss.item())
    return found


def main(steps):
    """Train them all."""
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False  # the default rounds float32 to 11 bits
    runs = [*((name, None) for name in OPTIMIZERS), ("sgd", torch.float16), ("sgd", torch.bfloat16)]
    for network in sys.argv[2:] or NETWORKS:
        for optimizer, kind in runs:
            begun = time.perf_counter()
            expected = losses(network, optimizer, "cpu", steps)
            middle = time.perf_counter()
            found = losses(network, optimizer, "npu", steps, kind)
            away = max(abs(one - other) for one, other in zip(found, expected))
            said = {"network": network, "optimizer": optimizer, "type": str(kind or torch.float32), "away": away}
            said.update(first=expected[0], last=expected[-1], cpu=middle - begun, npu=time.perf_counter() - middle)
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
