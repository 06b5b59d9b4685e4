"""A function and its inputs, called on the CPU and on the NPU, with every type and with gradients."""

import math
from dataclasses import dataclass

import torch

HALVES = (torch.float16, torch.bfloat16)
FLOAT16 = (torch.float16,)  # for operators that a card does not have for bfloat16
INT = (torch.int64,)
BOOL = (torch.bool,)
# Relative to the largest number. Halves are rounded after each of the operators that torch_npu makes of a function.
ERRORS = {torch.float32: 2e-5, torch.float16: 2**-8, torch.bfloat16: 2**-5}


def floats(*shape, low=-1.0, ordered=False):
    """Return a maker of floats from `low` to 2 above it, that float16 and bfloat16 have exactly."""

    def make(generator):
        values = torch.randint(0, 65, shape, generator=generator) / 32 + low
        return values.sort().values if ordered else values

    return make


def positive(*shape):
    """Return a maker of floats from a quarter to two and a quarter."""
    return floats(*shape, low=0.25)


def unit(*shape):
    """Return a maker of floats strictly between -1 and 1."""
    return lambda generator: (torch.randint(1, 64, shape, generator=generator) - 32) / 33


def distinct(*shape):
    """Return a maker of floats that all differ, where a function returns the place of one of them."""
    return lambda generator: torch.randperm(math.prod(shape), generator=generator).reshape(shape) / 16 - 1


def integers(*shape):
    """Return a maker of integers from -5 to 5."""
    return lambda generator: torch.randint(-5, 6, shape, generator=generator)


def index(end, *shape, low=0):
    """Return a maker of indices below `end`."""
    return lambda generator: torch.randint(low, end, shape, generator=generator)


def bools(*shape, diagonal=False):
    """Return a maker of truth values, which are true on the diagonal if so asked."""

    def make(generator):
        values = torch.randint(0, 2, shape, generator=generator).bool()
        return values | torch.eye(*shape).bool() if diagonal else values

    return make


@dataclass
class Case:
    """A function with the makers of its inputs.

    `kinds` are the types besides float32 that it is called with; those of a case without floats are its only ones.
    `fixed` are the numbers of inputs without gradients. `arguments` follow the inputs.
    """

    name: str
    function: object
    inputs: list
    grad: bool = True
    kinds: tuple = HALVES
    fixed: tuple = ()
    arguments: tuple = ()
    first: bool = False  # compare the first output only: the others are not determined

    @staticmethod
    def signs(count):
        """Return a maker of -1.0 and 1.0."""
        return lambda generator: torch.randint(0, 2, (count,), generator=generator) * 2.0 - 1.0

    def types(self):
        """Return the types of floats that it is called with."""
        return (torch.float32, *(kind for kind in self.kinds if kind in HALVES))

    def values(self, kind, seed=0):
        """Return the inputs on the CPU."""
        generator = torch.Generator().manual_seed(seed)
        made = [make(generator) for make in self.inputs]
        return [value.to(kind) if value.is_floating_point() else value for value in made]

    def call(self, values, device, grad):
        """Return its outputs, and the gradients of the inputs, as tensors on the CPU."""
        inputs = [value.detach().clone().to(device) for value in values]
        wanted = []
        for at, value in enumerate(inputs):
            if grad and value.is_floating_point() and at not in self.fixed:
                wanted.append(value.requires_grad_())
        found = self.function(*inputs, *self.arguments)
        found = [found] if isinstance(found, torch.Tensor) else list(found)
        found = found[:1] if self.first else found
        gradients = []
        outputs = [one for one in found if one.requires_grad]
        if outputs and wanted:
            # Weights that differ, so that a gradient in the wrong place shows.
            total = sum(
                (one * torch.linspace(0.5, 1.5, one.numel()).reshape(one.shape).to(one)).sum() for one in outputs
            )
            gradients = [one for one in torch.autograd.grad(total, wanted, allow_unused=True) if one is not None]
        return [one.detach().cpu() for one in [*found, *gradients]]

    def compare(self, kind):
        """Call it on both devices; return what is wrong as text, or None."""
        values = self.values(kind)
        # On the CPU, halves are calculated in float32, as the kernels of a card do.
        exact = [value.float() if value.dtype in HALVES else value for value in values]
        expected = self.call(exact, "cpu", self.grad)
        try:
            found = self.call(values, "npu", self.grad)
        except Exception as error:  # noqa: BLE001 (any error of the framework is a result)
            return "error: " + " ".join(str(error).split())
        if len(found) != len(expected):
            return f"wrong: {len(found)} results, expected {len(expected)}"
        for at, (one, other) in enumerate(zip(found, expected)):
            wrong = differs(one, other, ERRORS.get(kind, 0.0))
            if wrong:
                return f"wrong: result {at}: {wrong}"
        return None


def differs(one, other, error):
    """Return how a result differs, or None."""
    if one.shape != other.shape:
        return f"shape {tuple(one.shape)}, expected {tuple(other.shape)}"
    if one.is_floating_point() != other.is_floating_point():
        return f"type {one.dtype}, expected {other.dtype}"
    if not one.is_floating_point():
        same = torch.equal(one.to(other.dtype), other)
        return None if same else f"{one.flatten()[:8]}, expected {other.flatten()[:8]}"
    one, other = one.double(), other.double()
    same = (one == other) | (one.isnan() & other.isnan())
    finite = other[other.isfinite()]
    scale = max(1.0, finite.abs().max().item() if finite.numel() else 1.0)
    away = torch.where(same, 0.0, (one - other).abs())
    worst = away.max().item() if away.numel() else 0.0
    return f"off by {worst:.3g} of {scale:.3g}" if math.isnan(worst) or worst > error * scale else None
