"""A small model with random weights, on the CPU and on the NPU: outputs, gradients, two optimiser steps, tokens."""

import math
import time
import unittest.mock
from dataclasses import dataclass

import torch
from fallback import on_cpu

STEPS, TOKENS = 2, 8
# A gradient that would be zero without rounding, as that of a bias of keys, is compared with the other ones, and does
# not move its weight.
SMALL, EPS = 1e-2, 1e-4

gelu_of_torch = torch.nn.functional.gelu


def gelu(x, approximate="tanh"):
    """Return what a card does, whose GELU is always the form with tanh."""
    return gelu_of_torch(x, approximate="tanh")


class Inputs:
    """Makes random inputs that are the same each time."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def integers(self, end, *shape, low=0):
        """Return integers below `end`."""
        return torch.randint(low, end, shape, generator=self.generator)

    def numbers(self, *shape):
        """Return normally distributed numbers."""
        return torch.randn(shape, generator=self.generator)


@dataclass
class Model:
    """A model and its inputs.

    Called with the inputs, the model returns a dictionary with a "loss". `generate` names the inputs from which it
    generates tokens, if it does.
    """

    name: str
    make: object
    inputs: dict
    generate: tuple = ()

    def run(self, device):
        """Return the tensors of each forward and backward pass, on the CPU, and the tokens."""
        torch.manual_seed(7)
        model = self.make().to(device)
        inputs = {name: value.to(device) if hasattr(value, "to") else value for name, value in self.inputs.items()}
        passes, tokens = {}, None
        if self.generate:
            asked = {name: inputs[name] for name in self.generate}
            tokens = model.generate(**asked, do_sample=False, min_new_tokens=TOKENS, max_new_tokens=TOKENS).tolist()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3, eps=EPS)
        for step in range(STEPS):
            outputs = model(**inputs)
            optimizer.zero_grad()
            outputs["loss"].backward()
            weights = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
            passes[f"outputs {step}"] = dict(tensors(outputs))
            passes[f"gradients {step}"] = {name: gradient.cpu() for name, gradient in weights.items()}
            optimizer.step()
        passes[f"outputs {STEPS}"] = dict(tensors(model(**inputs)))
        return passes, tokens

    def compare(self):
        """Run it on both devices; return what is different, and the operators that were computed on the CPU."""
        begun = time.perf_counter()
        with unittest.mock.patch.object(torch.nn.functional, "gelu", gelu):
            expected, wanted = self.run("cpu")
        middle = time.perf_counter()
        said = {"name": self.name, "expected": wanted, "cpu": middle - begun}
        with on_cpu() as left:
            try:
                found, said["tokens"] = self.run("npu")
                said["away"], *said["where"] = max((*difference(found[key], expected[key]), key) for key in expected)
            except Exception as error:  # noqa: BLE001 (any error of the framework is a result)
                said["error"] = " ".join(str(error).split())
        return {**said, "on_cpu": sorted(left), "npu": time.perf_counter() - middle}


def tensors(outputs, name=""):
    """Yield the names and values, on the CPU, of the tensors of floats in nested outputs."""
    if isinstance(outputs, torch.Tensor):
        if outputs.is_floating_point():
            yield name, outputs.detach().cpu()
    elif isinstance(outputs, (dict, list, tuple)):
        for key, value in outputs.items() if isinstance(outputs, dict) else enumerate(outputs):
            yield from tensors(value, f"{name}.{key}")


def difference(found, expected):
    """Return the largest difference of two dictionaries of tensors, relative to each tensor's numbers, and its name."""
    assert found.keys() == expected.keys()
    sizes = {name: one.abs().max().item() if one.numel() else 0.0 for name, one in expected.items()}
    least = SMALL * max(sizes.values())
    worst = (0.0, "")
    for name, one in expected.items():
        away = (found[name] - one).abs().max().item() / max(sizes[name], least) if one.numel() else 0.0
        worst = max(worst, (math.inf if math.isnan(away) else away, name))
    return worst
