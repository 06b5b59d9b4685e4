"""Tensors and events of the NPU in other processes: ``python processes.py spawn|forkserver``.

It prints one JSON object for what both processes saw, and one for what a loader with workers gave.
"""

import json
import sys

import torch
import torch.multiprocessing
import torch_npu  # noqa: F401 (gives torch the device "npu")
from torch.utils.data import DataLoader, Dataset


def work(given, back, over):
    """Change a tensor of the parent in place, and give it one of this process and a parameter."""
    shared = given.get()
    seen = shared.device.type, shared.tolist()
    shared.add_(1)
    torch.npu.synchronize()
    parameter = torch.nn.Parameter(torch.full((2, 2), 4.0, device="npu"))
    mine = torch.arange(6.0, device="npu").reshape(2, 3).t()
    back.put((*seen, mine, parameter))
    over.wait()


def share(method):
    """Give a tensor to a process, and take others from it."""
    context = torch.multiprocessing.get_context(method)
    given, back, over = context.Queue(), context.Queue(), context.Event()
    process = context.Process(target=work, args=(given, back, over))
    process.start()
    shared = torch.ones(4, device="npu").share_memory_()
    given.put(shared[1:])
    device, seen, theirs, parameter = back.get(timeout=200)
    found = {"device": device, "seen": seen, "changed": shared.tolist(), "theirs": theirs.tolist()}
    found.update(parameter=parameter.tolist(), trains=parameter.requires_grad)
    del theirs, parameter
    over.set()
    process.join()
    return {**found, "exit": process.exitcode}


class Squares(Dataset):
    """Twelve small tensors on the host."""

    def __len__(self):
        return 12

    def __getitem__(self, at):
        return torch.full((3,), float(at * at))


def load(method):
    """Load pinned tensors by two workers, after the NPU was used."""
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, pin_memory=True, multiprocessing_context=method)
    found = [(batch.is_pinned(), batch.to("npu", non_blocking=True).sum().item()) for batch in loader]
    return {"pinned": [pinned for pinned, _ in found], "sums": [total for _, total in found]}


if __name__ == "__main__":
    print(json.dumps(share(sys.argv[1])), flush=True)
    print(json.dumps(load("fork" if sys.argv[1] == "forkserver" else sys.argv[1])), flush=True)
