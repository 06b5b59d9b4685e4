"""Whole programs on ``acl.nn`` against PyTorch: each runs directly, and as a captured graph that is replayed."""

import contextlib

import pytest
import torch
from helpers.torch_programs import Experts, F, Llama, LlamaOnDevice, Ops, ResNet18, close, device

import acl

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
STEPS = 100


@pytest.fixture
def stream():
    with acl.Device(0), acl.Stream() as stream:
        yield stream


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(3)


@contextlib.contextmanager
def repeated(stream, captured, step):
    """Give a function that runs a step and returns its result; captured: that replays a graph of the step."""
    if not captured:
        yield lambda: step(stream)
        return
    with acl.capture(stream) as graph:
        result = step(stream)

    def replay():
        graph.replay(stream)
        return result

    with graph:
        yield replay


@pytest.mark.parametrize(("network", "shape"), [(ResNet18, (3, 2, 3, 64, 64)), (Experts, (STEPS, 12, Experts.DIM))])
@pytest.mark.parametrize("captured", [False, True])
def test_inference(stream, generator, captured, network, shape):
    network = network(generator)
    forward = network.on_device()
    batches = torch.randn(shape, generator=generator)
    x = device(batches[0])
    with repeated(stream, captured, lambda stream: forward(x, stream)) as run:
        for batch in batches:
            x.copy_from(batch.numpy(), stream=stream)
            y = run()
            stream.synchronize()
            close(y, network.by_torch(batch))


@pytest.mark.parametrize("quantised", [False, True])
@pytest.mark.parametrize("captured", [False, True])
def test_llama_decodes(stream, generator, captured, quantised):
    model = Llama(generator, quantised)
    tokens = torch.randint(Llama.WORDS, (STEPS,), generator=generator)
    expected = model.by_torch(tokens)
    with repeated(stream, captured, LlamaOnDevice(model, tokens).step) as run:
        for row in expected:
            logits = run()
            stream.synchronize()
            close(logits, row[None], 1e-2 if quantised else 1e-4)


class Trained:
    """A network of two layers with one batch of data, trained by one step at a time."""

    SIZES, CLASSES, BATCH = (20, 32), 7, 16

    def __init__(self, generator):
        sizes = [*self.SIZES, self.CLASSES]
        random = torch.randn
        self.start = [part for one, other in zip(sizes, sizes[1:])
                      for part in (random(other, one, generator=generator) / one**0.5, torch.zeros(other))]  # fmt: skip
        self.x = random(self.BATCH, sizes[0], generator=generator)
        self.target = torch.randint(self.CLASSES, (self.BATCH,), generator=generator)

    def by_torch(self, make):
        """Train for all steps; return the losses and the parameters at the end."""
        parameters = [part.clone().requires_grad_() for part in self.start]
        optimizer, losses = make(parameters), []
        for _ in range(STEPS):
            optimizer.zero_grad()
            weight, bias, last, shift = parameters
            loss = F.cross_entropy(F.linear(F.relu(F.linear(self.x, weight, bias)), last, shift), self.target)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses, parameters

    def on_device(self):
        """Return the parameters, and a function that computes the loss and the gradients of one step."""
        parameters = [device(part) for part in self.start]
        x, target = device(self.x), device(self.target)
        ones, one = device(torch.ones(self.CLASSES)), device(torch.ones(()))

        def gradients(ops):
            weight, bias, last, shift = parameters
            hidden = ops.relu(ops.addmm(bias, x, weight.T))
            logs = ops.log_softmax(ops.addmm(shift, hidden, last.T), 1)
            loss, total = ops.nll_loss(logs, target, ones, 1, -100)
            grad = ops.nll_loss_backward(one, logs, target, ones, 1, -100, total)
            grad = ops.log_softmax_backward(grad, logs, 1)
            inner = ops.threshold_backward(ops.mm(grad, last), hidden, 0)
            return loss, [ops.mm(inner.T, x), ops.reduce_sum(inner, [0]), ops.mm(grad.T, hidden),
                          ops.reduce_sum(grad, [0])]  # fmt: skip

        return parameters, gradients


def sgd(parameters):
    """Return PyTorch's optimiser with momentum, and a function that does the same on a device."""
    kept = [acl.DeviceArray.zeros(each.shape) for each in parameters]

    def update(ops, each, grad, number):
        ops.inplace_muls(kept[number], 0.9)
        ops.inplace_add(kept[number], grad)
        ops.inplace_add(each, kept[number], -0.1)

    return lambda values: torch.optim.SGD(values, lr=0.1, momentum=0.9), update


def adam(parameters):
    """The same for AdamW."""
    kept = [[acl.DeviceArray.zeros(each.shape) for _ in range(2)] for each in parameters]
    step, last = acl.DeviceArray.zeros(1), len(parameters) - 1

    def update(ops, each, grad, number):
        ops.apply_adam_wv2(each, *kept[number], None, grad, step, 0.01, 0.9, 0.999, 0.01, 1e-8, False, False)
        if number == last:
            ops.inplace_adds(step, 1.0)

    return lambda values: torch.optim.AdamW(values, lr=0.01, weight_decay=0.01), update


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize("captured", [False, True])
def test_training(stream, generator, captured, optimizer):
    network = Trained(generator)
    parameters, gradients = network.on_device()
    make, update = optimizer(parameters)

    def step(stream):
        ops = Ops(stream)
        loss, grads = gradients(ops)
        for number, pair in enumerate(zip(parameters, grads)):
            update(ops, *pair, number)
        return loss

    losses, trained = network.by_torch(make)
    with repeated(stream, captured, step) as run:
        for expected in losses:
            loss = run()
            stream.synchronize()
            close(loss, expected, 1e-3)
    for found, expected in zip(parameters, trained):
        close(found, expected, 1e-3)
    assert losses[-1] < losses[0] / 4
